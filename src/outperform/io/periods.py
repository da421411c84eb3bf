"""Days, weeks and months of a store's parts, and the part of the store that is asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from outperform.errors import DataError, UsageError, param

PERIODS = ("day", "week", "month")
"""Columns that every part with a date has, for ``by=``."""

_DATE = re.compile(r"(?<!\d)(\d{4})-?(\d\d)-?(\d\d)(?!\d)")
_LAST = re.compile(r"(\d+) *(d|w|m|days?|weeks?|months?)")
_DAYS = {"d": 1, "w": 7, "m": 30}


def day_of(name: str) -> date | None:
    """Return the date in the name of a part, or None if there is not exactly one.

    Examples
    --------
    >>> day_of("day=2026-09-27"), day_of("preds-20260927.parquet"), day_of("monday.csv")
    (datetime.date(2026, 9, 27), datetime.date(2026, 9, 27), None)
    """
    dates = set()
    for match in _DATE.finditer(name):
        try:
            dates.add(date(*map(int, match.groups())))
        except ValueError:  # such as 2026-13-01
            continue
    return dates.pop() if len(dates) == 1 else None


def period(day: date, unit: str) -> str:
    """Return the day, week or month that contains a day, as text that sorts by time.

    Examples
    --------
    >>> [period(date(2026, 9, 27), unit) for unit in PERIODS]
    ['2026-09-27', '2026-W39', '2026-09']
    """
    if unit == "week":
        year, week, _ = day.isocalendar()
        return f"{year}-W{week:02}"
    return day.isoformat() if unit == "day" else f"{day:%Y-%m}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Days to read: the last ones of a store, or those since a date.

    Parameters
    ----------
    last
        Number of days, counted back from the newest day of the store: ``"7d"``, ``"4w"``, or
        ``"1m"`` for 30 days.
    since
        First day, as a date or as text such as ``"2026-09-01"``.

    Examples
    --------
    >>> Window(last="7d").first(date(2026, 9, 30)), Window(since="2026-09-01").first(date.max)
    (datetime.date(2026, 9, 24), datetime.date(2026, 9, 1))
    """

    last: str | None = None
    since: str | date | None = None

    def __post_init__(self) -> None:
        if self.last is not None and self.since is not None:
            raise UsageError(f"{param('last')} and {param('since')} exclude each other; pass one")
        self.first(date.max)

    def first(self, newest: date) -> date:
        """Return the first day to read, given the newest day of a store."""
        if self.last is not None:
            match = _LAST.fullmatch(self.last.strip()) if isinstance(self.last, str) else None
            days = 0 if match is None else int(match[1]) * _DAYS[match[2][0]]
            if not 1 <= days <= 36_500:
                raise UsageError(
                    f"{param('last')} must be a number of days, weeks or months, such as '7d', "
                    f"'4w' or '1m'; got {self.last!r}"
                )
            return newest - timedelta(days=days - 1)
        if self.since is None:
            return date.min
        try:
            return date.fromisoformat(str(self.since))
        except ValueError:
            raise UsageError(
                f"{param('since')} must be a date such as 2026-09-01; got {self.since!r}"
            ) from None

    def days(self, names: Sequence[str]) -> dict[str, date]:
        """Return the date of each part to read; a part without a date raises an error."""
        known = {name: day_of(name) for name in names}
        dated = {name: day for name, day in known.items() if day is not None}
        if len(dated) < len(known):
            other = next(name for name, day in known.items() if day is None)
            raise DataError(
                f"the part {other!r} has no date in its name, such as day=2026-09-27; count days "
                "as partitions, with count --update"
            )
        first = self.first(max(dated.values()))
        chosen = {name: day for name, day in dated.items() if day >= first}
        if not chosen:
            raise DataError(
                f"no day of the store is on or after {first}; the newest is {max(dated.values())}"
            )
        return chosen
