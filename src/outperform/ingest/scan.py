"""What a reader hands on: how the engine reaches one file, and what its columns are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

from outperform.errors import DataError, UsageError
from outperform.findings import Finding
from outperform.ingest.dialect import Dialect
from outperform.ingest.engine import Engine, EngineFault
from outperform.ingest.files import File

Family = Literal["text", "whole numbers", "booleans", "fractions", "json", "other"]
_SHOWN = 20  # columns named in a message


class Column(NamedTuple):
    """One column: its expression in SQL, what it holds, and what the engine calls that."""

    expression: str
    family: Family
    type: str = "VARCHAR"

    @property
    def as_text(self) -> str:
        """The expression of its values as plain text, for ids and conditions."""
        if self.family == "json":
            return f"(CAST({self.expression} AS JSON) ->> '$')"
        return self.expression if self.family == "text" else f"CAST({self.expression} AS VARCHAR)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """One file as the engine sees it; its columns go by place, never by name."""

    file: File
    relation: str
    parameters: tuple[Any, ...]
    columns: dict[str, Column]
    findings: tuple[Finding, ...] = field(default=())
    hint: str = ""

    def column(self, name: str) -> Column:
        """Return a column, or say which ones there are."""
        if name not in self.columns:
            raise UsageError(no_column(name, tuple(self.columns), self.file.name, self.hint))
        return self.columns[name]


class Reader(NamedTuple):
    """One kind of file: the quick way to read it, and the slow one that says what is wrong."""

    scan: Callable[[File, Sequence[str], Dialect, Engine], Scan]
    rescue: Callable[[File, Sequence[str], Dialect, Engine, str], Scan]


def no_column(name: str, known: Sequence[str], file: str, hint: str = "") -> str:
    """Return the sentence for a column that is not there.

    Examples
    --------
    >>> no_column("lable", ["id", "label"], "preds.csv")
    "no column 'lable' in preds.csv; did you mean 'label'? Columns: 'id', 'label'"
    """
    by_lower = {one.lower(): one for one in known}
    close = get_close_matches(str(name).lower(), by_lower, n=1)
    guess = f"; did you mean {by_lower[close[0]]!r}?" if close else "."
    shown = ", ".join(repr(one[:60]) for one in known[:_SHOWN])
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return f"no column {name!r} in {file}{guess} Columns: {shown}{more}{'' if close else hint}"


def refuse_twins(names: Sequence[str], file: str, hint: str = "") -> None:
    """Refuse column names that occur twice."""
    twins = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twins:
        raise DataError(
            f"{file} has {names.count(twins[0])} columns named {twins[0]!r}; "
            f"every column needs a name of its own{hint}"
        )


def refuse_unreadable(scan: Scan, engine: Engine, message: Callable[[File, str], str]) -> None:
    """Read all values of one file, and refuse it if that fails."""
    values = ", ".join(f"count({column.expression})" for column in scan.columns.values())
    try:
        engine.fetch(f"SELECT {values} FROM {scan.relation}", scan.parameters)
    except EngineFault as fault:
        raise DataError(message(scan.file, str(fault))) from fault


def places(count: int) -> str:
    """Return the names by which the engine knows the columns of a file.

    Examples
    --------
    >>> places(3)
    'c0, c1, c2'
    """
    return ", ".join(f"c{place}" for place in range(count))
