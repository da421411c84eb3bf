"""Sparse table of counts per cell, and the groups of its items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from outperform._json import written
from outperform._missing import is_missing, unmasked
from outperform._rows import count_rows, distinct_rows, place_rows, sum_by
from outperform._typing import AnyArray, ColumnLike, FloatArray, IntArray, IntRows
from outperform.errors import DataError, param
from outperform.findings import Finding, finding

_INT64_MAX = 2**63 - 1
# Equal counts are reported as a copy if their probability by chance is below this.
CHANCE = 1e-6
Part = Literal["tp", "fn", "fp", "tn", "correct", "wrong"]


def as_counts(values: Any, *, name: str = "counts") -> AnyArray:
    """Return counts as int64, or as Python integers if their sum needs more.

    Examples
    --------
    >>> as_counts([3, 2.0]).tolist()
    [3, 2]
    """
    array = _as_array(values, name=name)
    if array.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(array) | (array != np.floor(array)))
        if bad.size:
            raise DataError(f"{name} must be integers; got {array.flat[bad[0]].item()!r}")
        array = np.array([int(value) for value in array.flat], dtype=object).reshape(array.shape)
    if array.dtype.kind == "O":
        array = _as_python_integers(array, name=name)
    elif array.dtype.kind not in "iu":
        raise DataError(f"{name} must be integers; got values of type {array.dtype}")
    if array.size and array.min() < 0:
        raise DataError(f"{name} must not be negative; got {array.min()}")
    if total(array) > _INT64_MAX:
        return array.astype(object)
    return array.astype(np.int64)


def _as_array(values: Any, *, name: str) -> AnyArray:
    try:
        values = unmasked(values)
        array = np.asarray(values)
        if array.dtype.kind == "f" and not isinstance(values, np.ndarray):
            # If the list contained a float, NumPy would round integers above 2⁵³.
            array = np.array(values, dtype=object)
    except ValueError as error:
        raise DataError(f"{name} must be a table of numbers with rows of equal length") from error
    return array


def _as_python_integers(array: AnyArray, *, name: str) -> AnyArray:
    out = np.empty(array.shape, dtype=object)
    for index, value in enumerate(array.flat):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole and not (isinstance(value, float) and value.is_integer()):
            raise DataError(f"{name} must be integers; got {value!r}")
        out.flat[index] = int(value)
    return out


def total(counts: AnyArray) -> int:
    """Return the exact sum, however large; effective counts are summed as floats."""
    if counts.dtype.kind == "f":
        return counts.sum()  # type: ignore[no-any-return]
    if counts.dtype == object or (counts.size and int(counts.max()) > _INT64_MAX // counts.size):
        return sum(int(value) for value in counts.flat)
    return int(counts.sum(dtype=np.uint64 if counts.dtype.kind == "u" else np.int64))


def read_weights(weights: ColumnLike | None, n_rows: int) -> FloatArray | None:
    """Return the weight of each row's item, ``(n_rows,)``; None if all are equal.

    Integers are read as weights too; if rows represent several items, use counts instead.

    Examples
    --------
    >>> read_weights([2, 0, 1], 3).tolist()
    [2.0, 0.0, 1.0]
    """
    return None if weights is None else _numbers(weights, n_rows)


def _numbers(weights: ColumnLike | None, n_rows: int) -> FloatArray:
    """Return one weight per row; weights must be finite, non-negative and not all zero."""
    try:
        array = np.asarray(unmasked(weights))
        numbers = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"sample_weight must be one number per row: {error}") from error
    words = array.flat if array.dtype.kind == "O" else ()
    if array.dtype.kind not in "iufO" or any(isinstance(word, (str, bool)) for word in words):
        raise DataError("sample_weight must be numbers; got text or booleans")
    if numbers.shape != (n_rows,):
        raise DataError(f"sample_weight must have {n_rows} values; got shape {numbers.shape}")
    bad = np.flatnonzero(~np.isfinite(numbers) | (numbers < 0))
    if bad.size:
        what = "not be negative" if np.isfinite(numbers[bad[0]]) else "be finite"
        raise DataError(f"sample_weight must {what}; got {array[bad[0]]} in row {bad[0]}")
    if not numbers.any():
        raise DataError("sample_weight is zero for all rows; at least one must be positive")
    with np.errstate(over="ignore"):
        sum_of_all = numbers.sum()
    if not np.isfinite(sum_of_all):
        raise DataError(
            "sample_weight sums to more than a float can represent; divide it by its mean"
        )
    return numbers


class ClassCounts(NamedTuple):
    """Exact counts by class."""

    hits: AnyArray  # (n_classes,) both truth and prediction are the class
    actual: AnyArray  # (n_classes,) the truth is the class
    predicted: AnyArray  # (n_classes,) the prediction is the class


@written("cells counts groups?")
@dataclass(frozen=True, eq=False)
class Table:
    """Sparse counts of (truth, prediction of each model).

    Parameters
    ----------
    cells
        Codes of the truth and each model's prediction, ``(n_cells, 1 + n_models)``, in
        lexicographic order.
    counts
        Number of items in each cell, as int64, or as Python integers if the sum is too large.
        Effective counts from :meth:`scaled` are float64.
    groups
        Groups of the items, if known, or their importance weights.
    """

    cells: IntRows
    counts: AnyArray
    groups: Groups | None = None

    def __post_init__(self) -> None:
        self.cells.setflags(write=False)
        self.counts.setflags(write=False)

    @cached_property
    def n(self) -> int:
        """Number of items."""
        return total(self.counts)

    # The same counts in other cells

    def columns(self, kept: Sequence[int], *, n_labels: int) -> Table:
        """Sum over all columns except the truth and the kept models."""
        codes = [self.cells[:, 0]] + [self.cells[:, 1 + model] for model in kept]
        return self._moved(codes, n_labels=n_labels)

    def recode(self, codes: IntArray, *, n_labels: int) -> Table:
        """Recode every label; labels with the same new code are added up."""
        return self._moved(list(codes[self.cells].T), n_labels=n_labels)

    def matched(self) -> Table:
        """Reduce predictions to right or wrong: codes 1 and 0, with the truth always 1."""
        truth = self.cells[:, 0]
        right = (self.cells[:, 1:] == truth[:, None]).astype(np.int64)
        return self._moved([np.ones_like(truth), *right.T], n_labels=2)

    def without(self, dropped: AnyArray) -> Table:
        """Drop some cells."""
        kept = ~dropped
        groups = self.groups
        if groups is not None:
            new_cells = np.where(kept, np.cumsum(kept) - 1, -1)
            groups = groups.moved(new_cells, n_cells=int(kept.sum()))
        return Table(self.cells[kept], self.counts[kept], groups)

    def plus(self, other: Table, *, n_labels: int) -> Table:
        """Add two tables with the same columns and codes."""
        columns = list(np.concatenate([self.cells, other.cells]).T)
        wide = self.n + other.n > _INT64_MAX
        counts = np.concatenate(
            [table.counts.astype(object) if wide else table.counts for table in (self, other)]
        )
        cells, counts = count_rows(columns, n_labels=n_labels, weights=as_counts(counts))
        if self.groups is None or other.groups is None:
            return Table(cells, counts)
        first, second = (
            table.groups.moved(place_rows(table.cells.T, cells), n_cells=len(cells))
            for table in (self, other)
            if table.groups is not None
        )
        return Table(cells, counts, first.plus(second, n_cells=len(cells)))

    def scaled(self, factor: float) -> Table:
        """Return effective counts: all counts times a factor."""
        groups = self.groups
        if groups is not None:
            groups = replace(groups, repeats=groups.repeats.astype(np.float64) * factor)
        return Table(self.cells, self.counts.astype(np.float64) * factor, groups)

    def in_weights(self) -> Table:
        """Return the cells' importance weights in place of counts, if there are any."""
        if self.groups is None or not self.groups.weighted:
            return self
        return Table(self.cells, self.groups.amounts(n_cells=len(self.cells)))

    def emptied(self) -> Table:
        """Return an empty table with the same columns."""
        return Table(self.cells[:0], self.counts[:0])

    def _moved(self, columns: Sequence[IntArray], *, n_labels: int) -> Table:
        cells, counts = count_rows(columns, n_labels=n_labels, weights=self.counts)
        if self.groups is None:
            return Table(cells, counts)
        new_cells = place_rows(columns, cells)
        return Table(cells, counts, self.groups.moved(new_cells, n_cells=len(cells)))

    # Sums

    def sum_where(self, selected: AnyArray) -> int:
        """Return the exact count over the selected cells."""
        return total(self.counts[selected])

    def sum_by(self, codes: IntArray, *, n_labels: int) -> AnyArray:
        """Return the exact count for each code, including zeros."""
        return sum_by(codes, self.counts, size=n_labels)

    def confusion(self, *, n_labels: int) -> AnyArray:
        """Return one model's table as a square array with true classes in rows."""
        matrix = np.zeros((n_labels, n_labels), dtype=self.counts.dtype)
        matrix[tuple(self.cells.T)] = self.counts
        return matrix

    def _split(self) -> list[IntArray]:
        """Return the truth and each model's prediction, one code per cell."""
        return list(self.cells.T)

    def margins(self, *, n_labels: int, model: int = 0) -> ClassCounts:
        """Return hits, true counts and predicted counts of every code for one model."""
        truth, predicted = self.cells[:, 0], self.cells[:, 1 + model]
        right = truth == predicted
        return ClassCounts(
            hits=sum_by(truth[right], self.counts[right], size=n_labels),
            actual=self.sum_by(truth, n_labels=n_labels),
            predicted=self.sum_by(predicted, n_labels=n_labels),
        )

    def part(self, part: Part, *, positive: int | None) -> int:
        """Return tp, fn, fp or tn of a class, or correct or wrong, from one model's table."""
        truth, predicted = self._split()
        selected = {
            "tp": (truth == positive) & (predicted == positive),
            "fn": (truth == positive) & (predicted != positive),
            "fp": (truth != positive) & (predicted == positive),
            "tn": (truth != positive) & (predicted != positive),
            "correct": truth == predicted,
            "wrong": truth != predicted,
        }[part]
        return self.sum_where(selected)

    def agreement(self, truth: int | None) -> tuple[int, int, int, int]:
        """Return the numbers of items that both, only A, only B and neither model got right."""
        actual, a, b = self._split()
        inside = np.ones(len(actual), dtype=bool) if truth is None else actual == truth
        right_a, right_b = a == actual, b == actual
        both = self.sum_where(inside & right_a & right_b)
        only_a = self.sum_where(inside & right_a & ~right_b)
        only_b = self.sum_where(inside & ~right_a & right_b)
        return both, only_a, only_b, self.sum_where(inside & ~right_a & ~right_b)


def row_findings(table: Table, *, kind: str) -> tuple[Finding, ...]:
    """Report that rows may be repeated if every count is a multiple of some number g ≥ 2.

    The probability of this by chance is about g to the power of minus the number of cells. One cell
    per true class is not counted, because a balanced design fixes it. Groups already account for
    repeated rows. For spans, rows are sentences.

    Examples
    --------
    >>> import outperform as op
    >>> truth, new, old = [1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 1], [1, 0, 0, 0, 1, 1]
    >>> seen = op.Outcomes.from_labels(truth * 100, {"new": new * 100, "old": old * 100})
    >>> [one.name for one in seen.findings]
    ['repeated_rows']
    """
    if kind == "spans" and table.groups is not None:
        counts, fixed = table.groups.repeats, 1
    elif table.groups is None or table.groups.weighted:
        counts, fixed = table.counts, len(np.unique(table.cells[:, 0]))
    else:
        return ()
    times = math.gcd(*counts.tolist())
    if times < 2 or (len(counts) - fixed) * math.log(times) < -math.log(CHANCE) - 1e-9:
        return ()
    what = "set of spans" if kind == "spans" else "combination of truth and predictions"
    return (finding("repeated_rows", what=what, times=times),)


def read_confusions(matrices: Mapping[str, Any]) -> dict[str, AnyArray]:
    """Return each model's counts after checking that they have the same size."""
    _refuse_other_orders(matrices)
    arrays = {name: _square(value, name) for name, value in matrices.items()}
    sizes = {name: array.shape[0] for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        raise DataError(f"confusion matrices must have the same size; got {sizes}")
    return arrays


def truth_findings(arrays: Mapping[str, AnyArray]) -> tuple[Finding, ...]:
    """Report matrices that would match the others if transposed or reordered."""
    findings = []
    for (name, first), (other, second) in pairwise(arrays.items()):
        truth, rows, columns = first.sum(axis=1), second.sum(axis=1), second.sum(axis=0)
        if (rows == truth).all():
            continue
        if (columns == truth).all():
            findings.append(finding("tables_disagree_on_truth/transposed", one=name, other=other))
        elif sorted(rows) == sorted(truth):
            findings.append(finding("tables_disagree_on_truth/order", one=name, other=other))
    return tuple(findings)


def _square(value: Any, name: str) -> AnyArray:
    array = as_counts(value, name=f"confusion matrix of {name!r}")
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 2:
        raise DataError(
            f"the confusion matrix of {name!r} must be square with at least two classes, rows "
            f"truth and columns predictions; got shape {array.shape}"
        )
    if not array.any():
        raise DataError(f"the confusion matrix of {name!r} has no items")
    return array


def _refuse_other_orders(matrices: Mapping[str, Any]) -> None:
    """Check that both axes have the same classes: a crosstab omits classes that never occur."""
    axes = {}
    for name, value in matrices.items():
        if hasattr(value, "index") and hasattr(value, "columns"):
            axes[f"rows of {name!r}"] = list(value.index)
            axes[f"columns of {name!r}"] = list(value.columns)
    for (matrix, first), (other, second) in pairwise(axes.items()):
        if first != second:
            raise DataError(
                f"the {matrix} and the {other} must be the same classes in the same order; got "
                f"{first} and {second}; reindex them, e.g. "
                "table.reindex(index=classes, columns=classes, fill_value=0)"
            )


def effective_size(sizes: FloatArray, repeats: FloatArray | float = 1.0) -> float:
    """Return ``(Σ size)² / Σ size²``: the equivalent number of equal sizes.

    Examples
    --------
    >>> effective_size(np.array([1.0, 1.0, 2.0]))
    2.6666666666666665
    """
    most = float(sizes.max(initial=0.0))
    if most == 0.0:
        return 0.0
    shares = sizes / most  # avoids underflow and overflow of the squares
    return float((repeats * shares).sum()) ** 2 / float((repeats * np.square(shares)).sum())


@written("pattern cell times?=_whole_times repeats weights?=_weights")
@dataclass(frozen=True, eq=False, kw_only=True)
class Groups:
    """Patterns of cells, and the number of groups with each pattern.

    A group is, for example, all spans of a sentence or all items of an author. Groups with the same
    cells form one pattern, which keeps outcomes small and additive. Entries are sorted by pattern
    and cell; a pattern without entries represents empty groups.

    Parameters
    ----------
    pattern
        The pattern of each entry.
    cell
        Index of each entry's cell in the table.
    times
        Number of the cell's items in each group with the pattern, or their total importance weight
        as float64.
    repeats
        Number of groups with each pattern.
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
        """Number of groups."""
        return total(self.repeats)

    @property
    def _whole_times(self) -> IntArray | None:
        """Number of the cell's items in each group with the pattern."""
        return None if self.weighted else self.times

    @property
    def _weights(self) -> FloatArray | None:
        """Importance weight of the cell in each group with the pattern."""
        return self.times if self.weighted else None

    @property
    def weighted(self) -> bool:
        """Whether the cells contain importance weights rather than numbers of items."""
        return self.times.dtype.kind == "f"

    @cached_property
    def n_even(self) -> float:
        """Equivalent number of groups of equal size: ``(Σ size)² / Σ size²``.

        If every item is a group whose size is an importance weight, this is the effective sample
        size.

        Empty groups have no effect.
        """
        sizes = sum_by(self.pattern, self.times.astype(np.float64), size=len(self.repeats))
        return effective_size(sizes, self.repeats.astype(np.float64))

    def moved(self, new_cells: IntArray, *, n_cells: int) -> Groups:
        """Renumber the cells; −1 drops a cell."""
        new_cells = new_cells[self.cell]
        kept = new_cells >= 0
        return _joined(
            self.pattern[kept], new_cells[kept], self.times[kept], self.repeats, n_cells=n_cells
        )

    def plus(self, other: Groups, *, n_cells: int) -> Groups:
        """Concatenate the groups of two tables with the same cells."""
        return _joined(
            np.concatenate([self.pattern, other.pattern + len(self.repeats)]),
            np.concatenate([self.cell, other.cell]),
            np.concatenate([self.times, other.times]),
            as_counts(np.concatenate([self.repeats.astype(object), other.repeats.astype(object)])),
            n_cells=n_cells,
        )

    def occurring(self) -> Groups:
        """Drop empty groups."""
        kept = np.unique(self.pattern)
        pattern = np.searchsorted(kept, self.pattern)
        return replace(self, pattern=pattern, repeats=self.repeats[kept])

    def amounts(self, *, n_cells: int) -> AnyArray:
        """Return the total of each cell over all groups, as float64."""
        repeats = self.repeats.astype(np.float64)
        amounts = self.times.astype(np.float64) * repeats[self.pattern]
        return sum_by(self.cell, amounts, size=n_cells)

    def with_any(self, selected: AnyArray) -> int:
        """Count the groups with at least one of the selected cells."""
        patterns = np.unique(self.pattern[selected[self.cell]])
        return total(self.repeats[patterns])


def group_codes(groups: ColumnLike | None, n_items: int) -> tuple[IntArray, int]:
    """Return the group code of each item, and the number of groups.

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
            f"{param('groups')} must have one group per item; got {len(groups)} groups for "
            f"{n_items} items"
        )
    if isinstance(groups, np.ndarray) and groups.dtype.kind in "iu" and groups.ndim == 1:
        names, inverse = np.unique(groups, return_inverse=True)
        return inverse.astype(np.int64), len(names)
    # NumPy and Arrow have their own scalar types, which would hide missing values.
    listed = getattr(groups, "tolist", None) or getattr(groups, "to_pylist", None)
    values: Any = groups if listed is None else listed()
    codes: dict[Any, int] = {}
    try:
        numbers = [codes.setdefault(group, len(codes)) for group in values]
    except TypeError as error:
        raise DataError(f"{param('groups')} must be names or numbers, one per item") from error
    missing = [code for group, code in codes.items() if is_missing(group)]
    if missing:
        rows = [row for row, code in enumerate(numbers) if code in missing]
        raise DataError(
            f"{len(rows)} items have no group, the first in row {rows[0]} (counted from 0); give "
            "each unrelated item its own group"
        )
    return np.array(numbers, dtype=np.int64), len(codes)


def group_rows(
    group: IntArray,
    cell: IntArray,
    *,
    n_groups: int,
    n_cells: int,
    times: AnyArray | None = None,
    repeats: AnyArray | None = None,
) -> Groups:
    """Collect rows with known groups and cells into groups.

    ``times`` is the count or weight of each row, and ``repeats`` the number of groups that each
    group represents.

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
    """Add up equal cells of a group, then merge equal groups into one pattern."""
    n_codes = max(len(repeats), n_cells, 1)
    rows, times = count_rows([group, cell], n_labels=n_codes, weights=times)
    sizes = np.bincount(rows[:, 0], minlength=len(repeats))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    patterns, cells, counts = [], [], []
    shown: list[Any] = []
    for size, members in _by_size(sizes):
        entries = starts[members][:, None] + np.arange(size)  # (n_members, size)
        looks = np.concatenate([rows[entries, 1], times[entries]], axis=1)
        # With importance weights, the cells are floats too; this is exact because there are fewer
        # than 2⁵³.
        numbers = looks if looks.dtype.kind == "f" else looks.astype(np.int64)
        first, inverse = distinct_rows(numbers)
        distinct = numbers[first]
        patterns.append(np.repeat(len(shown) + np.arange(len(distinct)), size))
        cells.append(distinct[:, :size].ravel().astype(np.int64))
        counts.append(distinct[:, size:].ravel())
        shown.extend(sum_by(inverse, repeats[members], size=len(distinct)))
    return Groups(
        pattern=np.concatenate([np.zeros(0, dtype=np.int64), *patterns]),
        cell=np.concatenate([np.zeros(0, dtype=np.int64), *cells]),
        times=np.concatenate([times[:0], *counts]),
        repeats=np.array(shown, dtype=repeats.dtype),
    )


def _by_size(sizes: IntArray) -> Iterator[tuple[int, IntArray]]:
    for size in np.unique(sizes):
        yield int(size), np.flatnonzero(sizes == size)
