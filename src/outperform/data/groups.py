"""Groups of items that share one weight, and importance weights as groups."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from outperform._json import written
from outperform._missing import is_missing, unmasked
from outperform._typing import AnyArray, ColumnLike, FloatArray, IntArray
from outperform.data.table import as_counts, count_rows, distinct_rows, total
from outperform.errors import DataError, param

if TYPE_CHECKING:
    from outperform.data.outcomes import Outcomes


def effective_size(sizes: FloatArray, repeats: FloatArray | float = 1.0) -> float:
    """Return ``(Σ size)² / Σ size²``: how many of equal size these are worth.

    Examples
    --------
    >>> effective_size(np.array([1.0, 1.0, 2.0]))
    2.6666666666666665
    """
    most = float(sizes.max(initial=0.0))
    if most == 0.0:
        return 0.0
    shares = sizes / most  # so that no square is lost or too large
    return float((repeats * shares).sum()) ** 2 / float((repeats * np.square(shares)).sum())


@written("pattern cell times?=_whole_times repeats weights?=_weights")
@dataclass(frozen=True, eq=False, kw_only=True)
class Groups:
    """Patterns of cells, and how many groups show each.

    A sentence brings all its spans, an author all items. Groups with the
    same cells are one pattern, so that outcomes stay small and add up. Entries
    come sorted by pattern and cell; a pattern without entries is a group in
    which nothing was counted.

    Parameters
    ----------
    pattern
        The pattern of each entry.
    cell
        The place of each entry's cell in the table.
    times
        How often one group of the pattern holds the cell; or, where items carry
        importance weights, how much weight of it, as float64.
    repeats
        How many groups show each pattern.
    """

    pattern: IntArray  # (n_entries,)
    cell: IntArray  # (n_entries,)
    times: AnyArray  # (n_entries,)
    repeats: AnyArray  # (n_patterns,)

    def __post_init__(self) -> None:
        for array in (self.pattern, self.cell, self.times, self.repeats):
            array.setflags(write=False)

    @cached_property
    def n(self) -> int:
        """The number of groups."""
        return total(self.repeats)

    @property
    def _whole_times(self) -> IntArray | None:
        """How often one group of the pattern holds the cell."""
        return None if self.weighted else self.times

    @property
    def _weights(self) -> FloatArray | None:
        """How much importance weight of the cell one group of the pattern holds."""
        return self.times if self.weighted else None

    @property
    def weighted(self) -> bool:
        """Whether the cells hold importance weights instead of numbers of items."""
        return self.times.dtype.kind == "f"

    @cached_property
    def n_even(self) -> float:
        """How many groups of equal size they are worth: ``(Σ size)² / Σ size²``.

        Where every item is a group and its size an importance weight, this is the
        effective sample size.

        The weight of a group in which nothing was counted changes nothing.
        """
        sizes = np.zeros(len(self.repeats))
        np.add.at(sizes, self.pattern, self.times.astype(np.float64))
        return effective_size(sizes, self.repeats.astype(np.float64))

    def moved(self, places: IntArray, *, n_cells: int) -> Groups:
        """Follow the cells to their new places; −1 drops a cell."""
        places = places[self.cell]
        kept = places >= 0
        return _joined(
            self.pattern[kept], places[kept], self.times[kept], self.repeats, n_cells=n_cells
        )

    def plus(self, other: Groups, *, n_cells: int) -> Groups:
        """Put the groups of two tables with the same cells side by side."""
        return _joined(
            np.concatenate([self.pattern, other.pattern + len(self.repeats)]),
            np.concatenate([self.cell, other.cell]),
            np.concatenate([self.times, other.times]),
            as_counts(np.concatenate([self.repeats.astype(object), other.repeats.astype(object)])),
            n_cells=n_cells,
        )

    def occurring(self) -> Groups:
        """Leave out groups in which nothing was counted."""
        kept = np.unique(self.pattern)
        pattern = np.searchsorted(kept, self.pattern)
        return replace(self, pattern=pattern, repeats=self.repeats[kept])

    def held(self, *, n_cells: int) -> AnyArray:
        """Return how much of each cell all groups hold together, as float64."""
        sums = np.zeros(n_cells)
        repeats = self.repeats.astype(np.float64)
        np.add.at(sums, self.cell, self.times.astype(np.float64) * repeats[self.pattern])
        return sums

    def with_any(self, selected: AnyArray) -> int:
        """Count the groups that hold at least one of the selected cells."""
        patterns = np.unique(self.pattern[selected[self.cell]])
        return total(self.repeats[patterns])


def group_codes(groups: ColumnLike | None, n_items: int) -> tuple[IntArray, int]:
    """Return a code for the group of each item, and how many groups there are.

    Examples
    --------
    >>> codes, n_groups = group_codes(["ann", "bob", "ann"], 3)
    >>> codes.tolist(), n_groups
    ([0, 1, 0], 2)
    """
    groups = unmasked(groups)
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Sized):
        raise DataError(f"{param('groups')} must be a list with the group of each item")
    if len(groups) != n_items:
        raise DataError(
            f"{param('groups')} must name one group per item: {n_items} items, {len(groups)} groups"
        )
    if isinstance(groups, np.ndarray) and groups.dtype.kind in "iu" and groups.ndim == 1:
        names, places = np.unique(groups, return_inverse=True)
        return places.astype(np.int64), len(names)
    # What numpy and Arrow hold are scalars of their own, which hide what is missing.
    listed = getattr(groups, "tolist", None) or getattr(groups, "to_pylist", None)
    values: Any = groups if listed is None else listed()
    codes: dict[Any, int] = {}
    try:
        found = [codes.setdefault(group, len(codes)) for group in values]
    except TypeError as error:
        raise DataError(f"{param('groups')} must be names or numbers, one for each item") from error
    missing = [code for group, code in codes.items() if is_missing(group)]
    if missing:
        rows = [row for row, code in enumerate(found) if code in missing]
        raise DataError(
            f"{len(rows)} items have no group, the first in row {rows[0]} (counted from 0); "
            "one that belongs to no other is a group of its own"
        )
    return np.array(found, dtype=np.int64), len(codes)


def group_rows(
    group: IntArray,
    cell: IntArray,
    *,
    n_groups: int,
    n_cells: int,
    times: AnyArray | None = None,
    repeats: AnyArray | None = None,
) -> Groups:
    """Collect rows that each know their group and their cell.

    ``times`` says how often each row counts, or how much; ``repeats`` how many groups each group
    stands for.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([0, 1, 1, 2]), np.array([5, 5, 6, 5])
    >>> groups = group_rows(*rows, n_groups=4, n_cells=7)
    >>> groups.repeats.tolist()  # nothing, one of cell 5, one of 5 and one of 6
    [1, 2, 1]
    """
    times = np.ones(len(group), dtype=np.int64) if times is None else times
    repeats = np.ones(n_groups, dtype=np.int64) if repeats is None else repeats
    return _joined(group, cell, times, repeats, n_cells=n_cells)


def _joined(
    group: IntArray, cell: IntArray, times: AnyArray, repeats: AnyArray, *, n_cells: int
) -> Groups:
    """Add up equal cells of a group, then make groups that look alike one pattern."""
    n_codes = max(len(repeats), n_cells, 1)
    rows, times = count_rows([group, cell], n_labels=n_codes, weights=times)
    sizes = np.bincount(rows[:, 0], minlength=len(repeats))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    patterns, cells, counts = [], [], []
    shown: list[Any] = []
    for size, members in _by_size(sizes):
        entries = starts[members][:, None] + np.arange(size)  # (n_members, size)
        looks = np.concatenate([rows[entries, 1], times[entries]], axis=1)
        # Beside importance weights the cells are floats too; there are not 2⁵³ of them.
        numbers = looks if looks.dtype.kind == "f" else looks.astype(np.int64)
        first, inverse = distinct_rows(numbers)
        distinct = numbers[first]
        patterns.append(np.repeat(len(shown) + np.arange(len(distinct)), size))
        cells.append(distinct[:, :size].ravel().astype(np.int64))
        counts.append(distinct[:, size:].ravel())
        sums = np.zeros(len(distinct), dtype=repeats.dtype)
        np.add.at(sums, inverse, repeats[members])
        shown.extend(sums)
    return Groups(
        pattern=np.concatenate([np.zeros(0, dtype=np.int64), *patterns]),
        cell=np.concatenate([np.zeros(0, dtype=np.int64), *cells]),
        times=np.concatenate([times[:0], *counts]),
        repeats=np.array(shown, dtype=repeats.dtype),
    )


def _by_size(sizes: IntArray) -> Iterator[tuple[int, IntArray]]:
    for size in np.unique(sizes):
        yield int(size), np.flatnonzero(sizes == size)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RepeatedId:
    """A column whose values repeat, and the outcomes with these as groups.

    No posterior looks at it; it is there so that a finding can say what groups would change.

    Parameters
    ----------
    column
        Its name.
    n_values
        How many different values it has.
    n_rows
        In how many rows.
    outcomes
        The same outcomes, with one group for each value.
    """

    column: str
    n_values: int
    n_rows: int
    outcomes: Outcomes
