"""One sparse table: cells of codes and how often each occurred; confusion matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from outperform._typing import AnyArray, BoolArray, IntArray
from outperform.data.groups import Groups, as_counts, count_rows, total
from outperform.errors import DataError
from outperform.findings import Finding, finding

_INT64_MAX = np.iinfo(np.int64).max
Part = Literal["tp", "fn", "fp", "tn", "correct", "wrong"]


class ClassCounts(NamedTuple):
    """Exact counts for each class."""

    hits: AnyArray  # (n_classes,) truth and prediction are the class
    actual: AnyArray  # (n_classes,) the truth is the class
    predicted: AnyArray  # (n_classes,) the prediction is the class


@dataclass(frozen=True, eq=False)
class Table:
    """Counts of (truth, prediction of each model), only for what occurred.

    Parameters
    ----------
    cells
        Codes of shape ``(n_cells, 1 + n_models)``: the truth, then each model's
        prediction; in lexicographic order.
    counts
        How many documents each cell holds; int64, or Python integers where
        the sum needs more. Effective counts, of :meth:`scaled`, are float64.
    groups
        Which of them were seen together, if that is known, or how much each matters.
    """

    cells: IntArray
    counts: AnyArray
    groups: Groups | None = None

    def __post_init__(self) -> None:
        self.cells.setflags(write=False)
        self.counts.setflags(write=False)

    @cached_property
    def n(self) -> int:
        """The number of documents."""
        return total(self.counts)

    # The same counts, in other cells

    def columns(self, kept: Sequence[int], *, n_labels: int) -> Table:
        """Sum out every column but the truth and the kept models."""
        codes = [self.cells[:, 0]] + [self.cells[:, 1 + model] for model in kept]
        return self._moved(codes, n_labels=n_labels)

    def recode(self, codes: IntArray, *, n_labels: int) -> Table:
        """Give every label a new code; labels that share one are added up."""
        return self._moved(list(codes[self.cells].T), n_labels=n_labels)

    def matched(self) -> Table:
        """Keep only whether each prediction is the truth: codes 1 and 0, the truth always 1."""
        truth = self.cells[:, 0]
        right = (self.cells[:, 1:] == truth[:, None]).astype(np.int64)
        return self._moved([np.ones_like(truth), *right.T], n_labels=2)

    def without(self, dropped: AnyArray) -> Table:
        """Leave out some cells."""
        kept = ~dropped
        groups = self.groups
        if groups is not None:
            places = np.where(kept, np.cumsum(kept) - 1, -1)
            groups = groups.moved(places, n_cells=int(kept.sum()))
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
        one, two = (
            table.groups.moved(place_rows(table.cells, cells), n_cells=len(cells))
            for table in (self, other)
            if table.groups is not None
        )
        return Table(cells, counts, one.plus(two, n_cells=len(cells)))

    def scaled(self, factor: float) -> Table:
        """Return effective counts, each this many times what was counted."""
        groups = self.groups
        if groups is not None:
            groups = Groups(
                pattern=groups.pattern,
                cell=groups.cell,
                times=groups.times,
                repeats=groups.repeats.astype(np.float64) * factor,
            )
        return Table(self.cells, self.counts.astype(np.float64) * factor, groups)

    def in_weights(self) -> Table:
        """Return the importance weight of each cell instead of its documents, if it has any."""
        if self.groups is None or not self.groups.weighted:
            return self
        return Table(self.cells, self.groups.held(n_cells=len(self.cells)))

    def emptied(self) -> Table:
        """Return a table of the same columns in which nothing was counted."""
        return Table(self.cells[:0], self.counts[:0])

    def _moved(self, columns: Sequence[IntArray], *, n_labels: int) -> Table:
        cells, counts = count_rows(columns, n_labels=n_labels, weights=self.counts)
        if self.groups is None:
            return Table(cells, counts)
        places = place_rows(np.stack(columns, axis=1), cells)
        return Table(cells, counts, self.groups.moved(places, n_cells=len(cells)))

    # Sums

    def sum_where(self, selected: AnyArray) -> int:
        """Return the exact count over the selected cells."""
        return total(self.counts[selected])

    def sum_by(self, codes: IntArray, *, n_labels: int) -> AnyArray:
        """Return the exact count for each code, zero where none occurred."""
        sums = np.zeros(n_labels, dtype=self.counts.dtype)
        np.add.at(sums, codes, self.counts)
        return sums

    def confusion(self, *, n_labels: int) -> AnyArray:
        """Return one model's table as a square array, rows the truth."""
        matrix = np.zeros((n_labels, n_labels), dtype=self.counts.dtype)
        matrix[tuple(self.cells.T)] = self.counts
        return matrix

    def margins(self, *, n_labels: int) -> ClassCounts:
        """Return hits, actual and predicted counts of every code, of one model's table."""
        truth, predicted = self.cells[:, 0], self.cells[:, 1]
        hits = np.zeros(n_labels, dtype=self.counts.dtype)
        right: BoolArray = truth == predicted
        hits[truth[right]] = self.counts[right]
        return ClassCounts(
            hits=hits,
            actual=self.sum_by(truth, n_labels=n_labels),
            predicted=self.sum_by(predicted, n_labels=n_labels),
        )

    def part(self, part: Part, *, positive: int | None) -> int:
        """Return tp, fn, fp or tn of a class, or correct or wrong, of one model's table."""
        truth, predicted = self.cells[:, 0], self.cells[:, 1]
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
        """Return how many documents both, only A, only B and neither of two models got right."""
        actual = self.cells[:, 0]
        inside: BoolArray = np.ones(len(actual), dtype=bool) if truth is None else actual == truth
        right_a: BoolArray = self.cells[:, 1] == actual
        right_b: BoolArray = self.cells[:, 2] == actual
        both = self.sum_where(inside & right_a & right_b)
        only_a = self.sum_where(inside & right_a & ~right_b)
        only_b = self.sum_where(inside & ~right_a & right_b)
        return both, only_a, only_b, self.sum_where(inside & ~right_a & ~right_b)


def place_rows(rows: IntArray, cells: IntArray) -> IntArray:
    """Return where each row stands among the cells, all of which are distinct."""
    n_codes = 1 + int(max(rows.max(initial=0), cells.max(initial=0)))
    if n_codes ** cells.shape[1] >= 2**62:
        place = {tuple(cell): number for number, cell in enumerate(cells.tolist())}
        return np.array([place[tuple(row)] for row in rows.tolist()], dtype=np.int64)
    powers = n_codes ** np.arange(cells.shape[1], dtype=np.int64)
    wanted, known = rows @ powers, cells @ powers
    order = np.argsort(known)
    found = np.searchsorted(known, wanted, sorter=order)
    if (found == len(known)).any() or (known[order[found]] != wanted).any():
        raise KeyError("a row is not among the cells")
    places: IntArray = order[found]
    return places


def read_confusions(matrices: Mapping[str, object]) -> dict[str, AnyArray]:
    """Return the counts of each model, all of one size, or say what is wrong with them."""
    _refuse_other_orders(matrices)
    arrays = {name: _square(value, name) for name, value in matrices.items()}
    sizes = {name: array.shape[0] for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        raise DataError(f"confusion matrices must have one size; got {sizes}")
    return arrays


def truth_findings(arrays: Mapping[str, AnyArray]) -> tuple[Finding, ...]:
    """Name matrices that would fit the others if they were transposed or in another order."""
    found = []
    for (one, first), (other, second) in pairwise(arrays.items()):
        truth, rows, columns = first.sum(axis=1), second.sum(axis=1), second.sum(axis=0)
        if (rows == truth).all():
            continue
        if (columns == truth).all():
            found.append(finding("tables_disagree_on_truth/transposed", one=one, other=other))
        elif sorted(rows) == sorted(truth):
            found.append(finding("tables_disagree_on_truth/order", one=one, other=other))
    return tuple(found)


def _square(value: object, name: str) -> AnyArray:
    array = as_counts(value, name=f"confusion matrix of {name!r}")
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 2:
        raise DataError(
            f"the confusion matrix of {name!r} must be square with at least two classes, rows "
            f"truth and columns predictions; got shape {array.shape}"
        )
    if not array.any():
        raise DataError(f"the confusion matrix of {name!r} has no documents")
    return array


def _refuse_other_orders(matrices: Mapping[str, object]) -> None:
    """Refuse frames whose axes differ: a crosstab leaves out what never occurred."""
    axes = {}
    for name, value in matrices.items():
        if hasattr(value, "index") and hasattr(value, "columns"):
            axes[f"rows of {name!r}"] = list(value.index)
            axes[f"columns of {name!r}"] = list(value.columns)
    for (one, first), (other, second) in pairwise(axes.items()):
        if first != second:
            raise DataError(
                f"the {one} and the {other} must be the same classes in the same order; got "
                f"{first} and {second}; reindex them, e.g. "
                "table.reindex(index=classes, columns=classes, fill_value=0)"
            )
