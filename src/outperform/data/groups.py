"""Counting rows into sparse cells; groups of items that share one weight; importance weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from outperform._typing import AnyArray, ColumnLike, FloatArray, IntArray
from outperform.errors import DataError

if TYPE_CHECKING:
    from outperform.data.outcomes import Outcomes


_INT64_MAX = 2**63 - 1


def as_counts(values: object, *, name: str = "counts") -> AnyArray:
    """Return counts as int64, or as Python integers where their sum needs more.

    Examples
    --------
    >>> as_counts([3, 2.0]).tolist()
    [3, 2]
    """
    array = _as_array(values, name=name)
    if array.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(array) | (array != np.floor(array)))
        if bad.size:
            raise DataError(f"{name} must be whole numbers; got {array.flat[bad[0]].item()!r}")
        array = np.array([int(value) for value in array.flat], dtype=object).reshape(array.shape)
    if array.dtype.kind == "O":
        array = _as_python_integers(array, name=name)
    elif array.dtype.kind not in "iu":
        raise DataError(f"{name} must be whole numbers; got values of type {array.dtype}")
    if array.size and array.min() < 0:
        raise DataError(f"{name} must not be negative; got {array.min()}")
    if total(array) > _INT64_MAX:
        return array.astype(object)
    return array.astype(np.int64)


def _as_array(values: object, *, name: str) -> AnyArray:
    try:
        array = np.asarray(values)
        if array.dtype.kind == "f" and not isinstance(values, np.ndarray):
            # Beside one float numpy rounds a list's whole numbers from 2⁵³ on.
            array = np.array(values, dtype=object)
    except ValueError as error:
        raise DataError(f"{name} must be a table of numbers with rows of one length") from error
    return array


def _as_python_integers(array: AnyArray, *, name: str) -> AnyArray:
    out = np.empty(array.shape, dtype=object)
    for place, value in enumerate(array.flat):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole and not (isinstance(value, float) and value.is_integer()):
            raise DataError(f"{name} must be whole numbers; got {value!r}")
        out.flat[place] = int(value)
    return out


def total(counts: AnyArray) -> int:
    """Return the exact sum, whatever its size; effective counts, which are floats, add as such."""
    if counts.dtype.kind == "f":
        return counts.sum()  # type: ignore[no-any-return]
    if counts.dtype == object or (counts.size and int(counts.max()) > _INT64_MAX // counts.size):
        return sum(int(value) for value in counts.flat)
    return int(counts.sum(dtype=np.uint64 if counts.dtype.kind == "u" else np.int64))


def count_rows(
    codes: Sequence[IntArray], *, n_labels: int, weights: AnyArray | None = None
) -> tuple[IntArray, AnyArray]:
    """Count equal rows of codes; cells come out in lexicographic order.

    Returns ``cells`` of shape ``(n_cells, n_columns)`` and their counts.
    """
    n_rows, n_columns = len(codes[0]), len(codes)
    if n_labels**n_columns < 2**62:
        keys = np.zeros(n_rows, dtype=np.int64)
        for column in codes:
            keys *= n_labels
            keys += column
        distinct, counts = _count_keys(keys, n_labels**n_columns, weights)
        powers = n_labels ** np.arange(n_columns - 1, -1, -1, dtype=np.int64)
        return distinct[:, None] // powers % n_labels, counts
    rows = np.stack(codes, axis=1)
    cells, inverse = np.unique(rows, axis=0, return_inverse=True)
    counts = _sum_by(inverse, len(cells), weights)
    return _nonzero(cells, counts)


def _count_keys(keys: IntArray, n_keys: int, weights: AnyArray | None) -> tuple[IntArray, AnyArray]:
    # A dense count is faster than sorting while the table is no larger than the data.
    if weights is None and n_keys <= max(4 * keys.size, 1 << 16):
        dense = np.bincount(keys, minlength=0)
        distinct = np.flatnonzero(dense)
        return distinct, dense[distinct]
    distinct, inverse = np.unique(keys, return_inverse=True)
    return _nonzero(distinct, _sum_by(inverse, distinct.size, weights))


def _sum_by(inverse: IntArray, size: int, weights: AnyArray | None) -> AnyArray:
    if weights is None:
        return np.bincount(inverse, minlength=size)
    counts = np.zeros(size, dtype=weights.dtype)
    np.add.at(counts, inverse, weights)
    return counts


def _nonzero(cells: IntArray, counts: AnyArray) -> tuple[IntArray, AnyArray]:
    kept = np.flatnonzero(counts != 0)
    return cells[kept], counts[kept]


def read_weights(weights: ColumnLike | None, n_rows: int) -> FloatArray | None:
    """Return how much the item of each row matters, ``(n_rows,)``; None where all matter alike.

    Whole numbers are read like any others; rows that stand for several items are counts.

    Examples
    --------
    >>> read_weights([2, 0, 1], 3).tolist()
    [2.0, 0.0, 1.0]
    """
    return None if weights is None else _numbers(weights, n_rows)


def _numbers(weights: ColumnLike | None, n_rows: int) -> FloatArray:
    """Return weights as finite numbers, one a row, none below and not all of them zero."""
    try:
        given = np.asarray(weights)
        numbers = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"sample_weight must be numbers, one for each row: {error}") from error
    words = given.flat if given.dtype.kind == "O" else ()
    if given.dtype.kind not in "iufO" or any(isinstance(one, (str, bool)) for one in words):
        raise DataError("sample_weight must be numbers; got text or truth values")
    if numbers.shape != (n_rows,):
        raise DataError(f"sample_weight must have {n_rows} values; got shape {numbers.shape}")
    bad = np.flatnonzero(~np.isfinite(numbers) | (numbers < 0))
    if bad.size:
        what = "not be negative" if np.isfinite(numbers[bad[0]]) else "be finite"
        raise DataError(f"sample_weight must {what}; got {given[bad[0]]} in row {bad[0]}")
    if not numbers.any():
        raise DataError("sample_weight is zero everywhere; at least one item must count")
    with np.errstate(over="ignore"):
        sum_of_all = numbers.sum()
    if not np.isfinite(sum_of_all):
        raise DataError("sample_weight adds up to more than a float holds; divide it by its mean")
    return numbers


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Groups:
    """Patterns of cells, and how many groups show each.

    A sentence brings all its spans, an author all documents. Groups with the
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
        How often one group of the pattern holds the cell; or, where documents carry
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
    def weighted(self) -> bool:
        """Whether the cells hold importance weights instead of numbers of documents."""
        return self.times.dtype.kind == "f"

    @cached_property
    def n_even(self) -> float:
        """How many groups of equal size they are worth: ``(Σ size)² / Σ size²``.

        Where every document is a group and its size an importance weight, this is the
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


def group_codes(groups: ColumnLike | None, n_documents: int) -> tuple[IntArray, int]:
    """Return a code for the group of each document, and how many groups there are.

    Examples
    --------
    >>> codes, n_groups = group_codes(["ann", "bob", "ann"], 3)
    >>> codes.tolist(), n_groups
    ([0, 1, 0], 2)
    """
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Sized):
        raise DataError("groups must be a list with the group of each document")
    if len(groups) != n_documents:
        raise DataError(
            f"groups must name one group per document: {n_documents} documents, "
            f"{len(groups)} groups"
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
        raise DataError("groups must be names or numbers, one for each document") from error
    missing = [code for group, code in codes.items() if _is_missing(group)]
    if missing:
        rows = [row for row, code in enumerate(found) if code in missing]
        raise DataError(
            f"{len(rows)} documents have no group, the first in row {rows[0]} (counted from 0); "
            "one that belongs to no other is a group of its own"
        )
    return np.array(found, dtype=np.int64), len(codes)


def _is_missing(group: object) -> bool:
    if group is None or type(group).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(group, (float, np.floating)) and bool(np.isnan(group))


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
        distinct, inverse = _distinct(looks)
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


def _distinct(rows: AnyArray) -> tuple[AnyArray, IntArray]:
    if rows.shape[1] == 0:
        return rows[:1], np.zeros(len(rows), dtype=np.int64)
    # Beside importance weights the cells are floats too; there are not 2⁵³ of them.
    numbers = rows if rows.dtype.kind == "f" else rows.astype(np.int64)
    distinct, inverse = np.unique(numbers, axis=0, return_inverse=True)
    return distinct, inverse.ravel()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RepeatedId:
    """A column whose values repeat, and the outcomes with these as groups.

    No posterior looks at it; it is there so that a doubt can say what groups would change.

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
