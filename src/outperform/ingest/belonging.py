"""Which columns nobody asked for may name what documents belong to, and whether they repeat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from outperform.errors import DataError, OutperformError
from outperform.ingest.asked import Asked
from outperform.ingest.owners import names_an_owner
from outperform.outcomes import Outcomes
from outperform.outcomes.repeated import RepeatedId

# A look costs another pass, so large data are not looked at.
MOST_ROWS = 250_000
MOST_BYTES = 128 << 20
_LEAST_VALUES = 10  # fewer are a category
_LEAST_SIZE = 1.05  # documents a value, on average
_MOST_COLUMNS = 3


class Repeats(NamedTuple):
    """How many rows a column has, and how many different values."""

    n_rows: int
    n_values: int

    @property
    def looks_like_groups(self) -> bool:
        """Whether values repeat and are more than a few categories."""
        often = self.n_rows >= _LEAST_SIZE * self.n_values
        return self.n_values >= _LEAST_VALUES and often


def candidates(families: Mapping[str, str], asked: Asked) -> list[str]:
    """Return the columns to look at: called like an owner, of ids, and without another role."""
    taken = {*asked.keys, asked.id, asked.count}
    return [
        name
        for name, family in families.items()
        if family in ("text", "whole numbers", "json")
        and name not in taken
        and names_an_owner(name)
    ]


def beside(
    seen: Outcomes,
    asked: Asked,
    *,
    repeats: Callable[[], Mapping[str, Repeats]],
    count: Callable[[Asked], Outcomes],
) -> Outcomes:
    """Return outcomes that remember the columns that repeat, the coarsest first.

    What nobody asked for must not stop the reading: a column in which something is missing, or
    that cannot be read, names no groups.
    """
    found = []
    with suppress(OutperformError):
        known = {name: one for name, one in repeats().items() if one.looks_like_groups}
        coarsest = sorted(known, key=lambda name: known[name].n_values)[:_MOST_COLUMNS]
        for name in coarsest:
            with suppress(DataError):
                together = count(replace(asked, groups=name, id=None, by=()))
                numbers = known[name]._asdict()
                found.append(RepeatedId(column=name, outcomes=together, **numbers))
    return replace(seen, repeated=tuple(found)) if found else seen
