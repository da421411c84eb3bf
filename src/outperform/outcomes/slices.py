"""Slices: the same counts, divided by the values of some columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from outperform._typing import AnyArray, IntArray
from outperform.errors import DataError, UsageError, unknown_name
from outperform.outcomes.counting import as_counts, count_rows
from outperform.outcomes.labels import Column, read_column
from outperform.outcomes.table import Table

Key = tuple[str, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Slices:
    """Counts of (slice, truth, prediction of each model), only for what occurred.

    Parameters
    ----------
    by
        The names of the columns that divide the documents.
    keys
        The value of each of these columns, as text, for each slice; in lexicographic order.
    table
        The counts. Its cells have the place of the slice before the codes of the labels.
    """

    by: tuple[str, ...]
    keys: tuple[Key, ...]
    table: Table

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Key]:
        return iter(self.keys)

    @cached_property
    def n(self) -> AnyArray:
        """The number of documents in each slice."""
        return self.table.sum_by(self.table.cells[:, 0], n_labels=len(self.keys))

    def place(self, *key: object) -> int:
        """Return the place of a slice, or say which ones there are."""
        wanted = tuple(map(str, key))
        if len(wanted) != len(self.by):
            raise UsageError(f"a slice has a value for each of {self.by}; got {wanted}")
        if wanted not in self._places:
            known = [", ".join(one) for one in self.keys]
            raise UsageError(unknown_name("slice", ", ".join(wanted), known))
        return self._places[wanted]

    @cached_property
    def _places(self) -> dict[Key, int]:
        return {key: place for place, key in enumerate(self.keys)}

    def at(self, place: int) -> Table:
        """Return the table of one slice."""
        start, stop = np.searchsorted(self.table.cells[:, 0], [place, place + 1])
        return Table(self.table.cells[start:stop, 1:].copy(), self.table.counts[start:stop].copy())

    def whole(self, *, n_labels: int) -> Table:
        """Return the table of all slices together."""
        columns = list(self.table.cells[:, 1:].T)
        return Table(*count_rows(columns, n_labels=n_labels, weights=self.table.counts))

    def recode(self, codes: IntArray, *, n_labels: int) -> Slices:
        """Give every label a new code; labels that share one are added up."""
        return self._moved(list(codes[self.table.cells[:, 1:]].T), n_labels=n_labels)

    def columns(self, kept: Sequence[int], *, n_labels: int) -> Slices:
        """Sum out every column but the truth and the kept models."""
        cells = self.table.cells
        return self._moved([cells[:, 1], *(cells[:, 2 + one] for one in kept)], n_labels=n_labels)

    def _moved(self, columns: Sequence[IntArray], *, n_labels: int) -> Slices:
        cells, counts = count_rows(
            [self.table.cells[:, 0], *columns],
            n_labels=max(n_labels, len(self.keys)),
            weights=self.table.counts,
        )
        return replace(self, table=Table(cells, counts))

    def plus(self, other: Slices, *, n_labels: int) -> Slices:
        """Add slices of the same columns and codes."""
        if self.by != other.by:
            raise UsageError(f"slices by {self.by} and by {other.by} do not add up")
        keys = tuple(sorted({*self.keys, *other.keys}))
        place = {key: code for code, key in enumerate(keys)}
        tables = []
        for one in (self, other):
            codes = np.array([place[key] for key in one.keys], dtype=np.int64)
            cells = one.table.cells
            tables.append(
                Table(np.column_stack([codes[cells[:, 0]], cells[:, 1:]]), one.table.counts)
            )
        table = tables[0].plus(tables[1], n_labels=max(n_labels, len(keys)))
        return replace(self, keys=keys, table=table)

    def to_dict(self) -> dict[str, Any]:
        """Return the slices as plain JSON-able values."""
        return {
            "by": list(self.by),
            "keys": [list(key) for key in self.keys],
            "cells": self.table.cells.tolist(),
            "counts": self.table.counts.tolist(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, n_labels: int, width: int) -> Slices:
        """Put together what :meth:`to_dict` gave, its cells and counts as arrays, checked."""
        by, keys = tuple(data["by"]), tuple(map(tuple, data["keys"]))
        cells, counts = data["cells"], as_counts(data["counts"])
        if cells.shape != (len(counts), 1 + width):
            raise DataError("every cell of a slice needs one count")
        if not by or len(set(by)) != len(by):
            raise DataError("the columns that divide the items must have names of their own")
        if list(keys) != sorted(set(keys)) or any(len(key) != len(by) for key in keys):
            raise DataError("the slices are not in their order")
        top = np.array([len(keys)] + [n_labels] * width)
        if (cells < 0).any() or (cells >= top).any():
            raise DataError("a cell names a slice or a class that is not there")
        columns, n_codes = list(cells.T), max(n_labels, len(keys))
        table = Table(*count_rows(columns, n_labels=n_codes, weights=counts))
        if len(table.cells) != len(cells):
            raise DataError("a cell of a slice occurs twice, or its count is zero")
        return cls(by=by, keys=keys, table=table)


def slice_column(values: Any, *, name: str) -> Column:
    """Read a column that divides the documents; its values become text in their order.

    Examples
    --------
    >>> slice_column([10, 9, 10], name="hour").values
    ('10', '9')
    """
    column = read_column(values, name=name)
    texts = [str(value) for value in column.values]
    ordered = sorted(set(texts))
    place = {text: code for code, text in enumerate(ordered)}
    places = np.array([place[text] for text in texts], dtype=np.int64)
    return Column(name=name, kind="text", values=tuple(ordered), codes=places[column.codes])


def count_slices(
    by: Mapping[str, Column],
    codes: Sequence[IntArray],
    *,
    n_labels: int,
    weights: AnyArray | None,
) -> Slices:
    """Count equal rows of slice, truth and predictions."""
    n_by = len(by)
    cells, counts = count_rows(
        [*(column.codes for column in by.values()), *codes],
        n_labels=max(n_labels, *(len(column.values) for column in by.values())),
        weights=weights,
    )
    rows, places = np.unique(cells[:, :n_by], axis=0, return_inverse=True)
    values = [column.values for column in by.values()]
    keys = tuple(
        tuple(values[place][code] for place, code in enumerate(row)) for row in rows.tolist()
    )
    table = Table(np.column_stack([places.ravel(), cells[:, n_by:]]), counts)
    return Slices(by=tuple(by), keys=keys, table=table)
