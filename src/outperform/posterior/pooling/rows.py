"""Counts of many slices in the same Dirichlet rows, only for what occurred."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from outperform._typing import FloatArray, IntArray


def sum_by(codes: IntArray, values: FloatArray, *, size: int) -> FloatArray:
    """Return the sum of the values of each code.

    Examples
    --------
    >>> sum_by(np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0]), size=3).tolist()
    [1.0, 0.0, 5.0]
    """
    return np.asarray(np.bincount(codes, values, minlength=size), dtype=np.float64)


def add_up(
    place: IntArray, cell: IntArray, count: FloatArray, *, n_cells: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return slices, cells and counts in order, what is the same cell of a slice added up."""
    keys, inverse = np.unique(place * n_cells + cell, return_inverse=True)
    return keys // n_cells, keys % n_cells, sum_by(inverse.ravel(), count, size=len(keys))


@dataclass(frozen=True, eq=False, kw_only=True)
class SlicedRows:
    """One or more Dirichlet rows, each counted in every slice.

    The class proportions of all slices are one row whose cells are the classes;
    what two models answer is one row for each true class, whose cells are pairs
    of answers.

    Parameters
    ----------
    n_slices
        How many slices there are.
    row
        The row that each cell belongs to, ``(n_cells,)``, in order; every row from 0 on has a cell.
    prior
        The base model's prior shape of each cell, ``(n_cells,)``.
    place, cell, count
        Slice, cell and number of documents of everything that occurred.
    """

    n_slices: int
    row: IntArray
    prior: FloatArray
    place: IntArray
    cell: IntArray
    count: FloatArray

    @property
    def n_cells(self) -> int:
        """How many cells all rows have together."""
        return len(self.row)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.row.max()) + 1

    @cached_property
    def row_starts(self) -> IntArray:
        """The first cell of each row; cells come in the order of their rows."""
        return np.searchsorted(self.row, np.arange(self.n_rows))

    @cached_property
    def row_prior(self) -> FloatArray:
        """The prior mass of each row."""
        return sum_by(self.row, self.prior, size=self.n_rows)

    @cached_property
    def _row_keys(self) -> tuple[IntArray, IntArray]:
        keys = self.place * self.n_rows + self.row[self.cell]
        found, inverse = np.unique(keys, return_inverse=True)
        return found, inverse.ravel()

    @property
    def entry_row(self) -> IntArray:
        """For everything that occurred, which of the rows that occurred it is in."""
        return self._row_keys[1]

    @cached_property
    def row_place(self) -> IntArray:
        """The slice of each row that occurred."""
        return self._row_keys[0] // self.n_rows

    @cached_property
    def row_row(self) -> IntArray:
        """The row of each row that occurred."""
        return self._row_keys[0] % self.n_rows

    @cached_property
    def row_count(self) -> FloatArray:
        """The number of documents of each row that occurred."""
        return sum_by(self.entry_row, self.count, size=len(self.row_place))

    def dense(self, places: slice) -> FloatArray:
        """Return the counts of neighbouring slices in full, ``(n_slices, n_cells)``."""
        first, stop = np.searchsorted(self.place, [places.start, places.stop])
        counts = np.zeros((places.stop - places.start, self.n_cells))
        inside = slice(first, stop)
        counts[self.place[inside] - places.start, self.cell[inside]] = self.count[inside]
        return counts
