"""One sparse table: cells of codes and how often each occurred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from outperform._typing import AnyArray, IntArray
from outperform.outcomes.counting import as_counts, count_rows, total


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
        the sum needs more.
    """

    cells: IntArray
    counts: AnyArray

    def __post_init__(self) -> None:
        self.cells.setflags(write=False)
        self.counts.setflags(write=False)

    @cached_property
    def n(self) -> int:
        """The number of documents."""
        return total(self.counts)

    def columns(self, kept: Sequence[int], *, n_labels: int) -> Table:
        """Sum out every column but the truth and the kept models."""
        codes = [self.cells[:, 0]] + [self.cells[:, 1 + model] for model in kept]
        return Table(*count_rows(codes, n_labels=n_labels, weights=self.counts))

    def recode(self, codes: IntArray, *, n_labels: int) -> Table:
        """Give every label a new code; labels that share one are added up."""
        recoded = list(codes[self.cells].T)
        return Table(*count_rows(recoded, n_labels=n_labels, weights=self.counts))

    def plus(self, other: Table, *, n_labels: int) -> Table:
        """Add two tables with the same columns and codes."""
        cells = np.concatenate([self.cells, other.cells])
        counts = np.concatenate([self.counts.astype(object), other.counts.astype(object)])
        return Table(*count_rows(list(cells.T), n_labels=n_labels, weights=as_counts(counts)))

    def sum_where(self, selected: AnyArray) -> int:
        """Return the exact count over the selected cells."""
        return total(self.counts[selected])

    def sum_by(self, codes: IntArray, *, n_labels: int) -> AnyArray:
        """Return the exact count for each code, zero where none occurred."""
        sums = np.zeros(n_labels, dtype=self.counts.dtype)
        np.add.at(sums, codes, self.counts)
        return sums
