"""A published table and ours, cell by cell, and how well they agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter, process_time
from typing import TypeAlias

Value: TypeAlias = float | str
"""A figure or, for decisions, a sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much to draw, and from which seed.

    Parameters
    ----------
    seed
        The seed of everything drawn.
    draws
        Draws of a posterior; None for as many as the table is made with.
    simulations
        Data sets simulated for each cell of a power table.
    """

    seed: int = 0
    draws: int | None = None
    simulations: int = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One quantity of a table.

    Parameters
    ----------
    key
        Where its values are found in the rows.
    heading
        What people read above it.
    part
        What the summary calls it, together with others of its kind.
    digits
        Decimals in print; None for signs.
    printed
        Whether the paper has it; False for what only we say.
    """

    key: str
    heading: str
    part: str
    digits: int | None = 3
    printed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a table as it was published and as it comes out here."""

    label: str
    published: Mapping[str, Value]
    ours: Mapping[str, Value]
    flag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How well one part of a table agrees with print.

    Parameters
    ----------
    part
        Which quantity.
    equal
        How many cells are equal to the printed digits.
    cells
        How many cells there are.
    largest, mean
        Of the absolute differences; None for signs.
    digits
        Decimals that the differences are worth.

    Examples
    --------
    >>> print(Agreement(part="sd", equal=18, cells=20, largest=0.0008, mean=0.0003, digits=4))
    sd 18 of 20, differences 0.0003 on average and at most 0.0008
    """

    part: str
    equal: int
    cells: int
    largest: float | None
    mean: float | None
    digits: int

    def __str__(self) -> str:
        counted = f"{self.part} {self.equal} of {self.cells}"
        if self.equal == self.cells or self.largest is None or self.mean is None:
            return counted
        mean, largest = f"{self.mean:.{self.digits}f}", f"{self.largest:.{self.digits}f}"
        return f"{counted}, differences {mean} on average and at most {largest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A published table with ours beside it.

    Parameters
    ----------
    name
        The paper and the table's number in it.
    title
        What it shows, and how ours was made.
    stub
        What the rows are.
    columns
        The quantities.
    rows
        The rows in the order of print.
    seconds, cpu_seconds
        What making it took.
    """

    name: str
    title: str
    stub: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def differences(self, part: str) -> list[float]:
        """Return ours − published for each cell of one part, row by row."""
        return [
            found
            for row in self.rows
            for column in self.columns
            if column.part == part
            and column.printed
            and (found := difference(column, row)) is not None
        ]

    def agreement(self) -> tuple[Agreement, ...]:
        """Return how well each part agrees, in the order of the columns."""
        parts = dict.fromkeys(column.part for column in self.columns if column.printed)
        return tuple(self._agreement_of(part) for part in parts)

    def _agreement_of(self, part: str) -> Agreement:
        columns = [column for column in self.columns if column.part == part and column.printed]
        equal = [as_printed(column, row) for row in self.rows for column in columns]
        sizes = [abs(found) for found in self.differences(part)]
        return Agreement(
            part=part,
            equal=sum(equal),
            cells=len(equal),
            largest=max(sizes, default=None),
            mean=sum(sizes) / len(sizes) if sizes else None,
            digits=1 + (columns[0].digits or 0),
        )


def difference(column: Column, row: Row) -> float | None:
    """Return ours − published; None for signs."""
    published, ours = row.published[column.key], row.ours[column.key]
    if isinstance(published, str) or isinstance(ours, str):
        return None
    return ours - published


def as_printed(column: Column, row: Row) -> bool:
    """Return whether our value, rounded as in print, is the printed one.

    Examples
    --------
    >>> mean = Column(key="mean", heading="mean", part="mean")
    >>> as_printed(mean, Row(label="0", published={"mean": 0.022}, ours={"mean": 0.02216}))
    True
    """
    published, ours = row.published[column.key], row.ours[column.key]
    if isinstance(published, str) or isinstance(ours, str) or column.digits is None:
        return published == ours
    return abs(round(ours, column.digits) - published) < 0.5 * 10.0**-column.digits


def timed(make: Callable[[Effort], Table], effort: Effort) -> Table:
    """Make a table and note how long that took, on the clock and on all cores."""
    clock, processor = perf_counter(), process_time()
    table = make(effort)
    return replace(table, seconds=perf_counter() - clock, cpu_seconds=process_time() - processor)
