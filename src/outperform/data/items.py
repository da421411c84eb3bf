"""The rows behind a table of counts: the cell and id of each item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from outperform._missing import is_missing
from outperform._rows import place_rows
from outperform._typing import AnyArray, FloatArray, IntArray
from outperform.errors import DataError, UsageError, param

# Each row takes four bytes plus its id, so above this limit rows are counted but not stored.
MOST_ITEMS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpanRows:
    """Document and boundaries of each span.

    Parameters
    ----------
    document
        Index of the document or sentence that contains each span.
    start, end
        Boundaries as passed by the caller.
    n
        Number of documents, including those without any span.
    """

    document: IntArray  # (n_spans,)
    start: IntArray
    end: IntArray
    n: int

    def plus(self, other: SpanRows) -> SpanRows:
        """Append the documents of another table."""
        return SpanRows(
            document=np.concatenate([self.document, other.document + self.n]),
            start=np.concatenate([self.start, other.start]),
            end=np.concatenate([self.end, other.end]),
            n=self.n + other.n,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Items:
    """One cell and one id per item; for spans, one cell per span of each document.

    The cells have their own codes, so changes to the labels, models or order of a table do not
    affect them.

    Parameters
    ----------
    models
        Models, in the order of the columns of ``cells``.
    values
        Meaning of the codes: labels, or label sets; None means no span.
    cells
        Codes of shape ``(n_cells, 1 + n_models)``, the truth first; cells may repeat.
    cell
        Index of each item's cell, or of each span's.
    ids
        Id of each item. None means its row number, counted from 0.
    weights
        Weight of each item; None if all are equal.
    spans
        Document and boundaries of each cell; None for other kinds of items.
    """

    models: tuple[str, ...]
    values: tuple[Any, ...]
    cells: IntArray
    cell: AnyArray  # (n_items,) int32
    ids: AnyArray | None = None  # (n_items,)
    weights: FloatArray | None = None  # (n_items,)
    spans: SpanRows | None = None

    @property
    def n(self) -> int:
        """The number of items."""
        return len(self.cell) if self.spans is None else self.spans.n

    @property
    def names(self) -> list[Any]:
        """The id of each item, or its number."""
        return list(range(self.n)) if self.ids is None else self.ids.tolist()

    def renamed(self, meaning: Mapping[Any, Any]) -> Items:
        """Return the same items with other labels for the codes."""
        return replace(self, values=tuple(meaning[code] for code in self.values))

    def plus(self, other: Items) -> Items:
        """Append the items of another table.

        Examples
        --------
        >>> one, two = np.array([[0, 0]]), np.array([0, 0], dtype=np.int32)
        >>> items = Items(models=("m",), values=("a",), cells=one, cell=two)
        >>> items.plus(items).names
        [0, 1, 2, 3]
        """
        columns = [0, *(1 + other.models.index(model) for model in self.models)]
        theirs = other.cells[:, columns] + len(self.values)
        named = self.ids is not None or other.ids is not None
        weighted = self.weights is not None and other.weights is not None
        return Items(
            models=self.models,
            values=self.values + other.values,
            cells=np.concatenate([self.cells, theirs]),
            cell=np.concatenate([self.cell, other.cell + np.int32(len(self.cells))]),
            ids=_as_ids([*self.names, *other.names]) if named else None,
            weights=np.concatenate([self.weights, other.weights]) if weighted else None,
            spans=None
            if self.spans is None or other.spans is None
            else self.spans.plus(other.spans),
        )


def keep_spans(
    models: tuple[str, ...],
    values: Sequence[Any],
    codes: Sequence[IntArray],
    cells: IntArray,
    spans: SpanRows,
    *,
    ids: object = None,
) -> Items | None:
    """Return the documents behind cells of spans, or None if there are too many to store."""
    names = None if ids is None else read_ids(ids, spans.n)
    if max(spans.n, len(codes[0])) > MOST_ITEMS:
        return None
    cell = place_rows(codes, cells).astype(np.int32)
    for array in (cell, names, spans.document, spans.start, spans.end):
        if array is not None:
            array.setflags(write=False)
    return Items(
        models=models, values=tuple(values), cells=cells, cell=cell, ids=names, spans=spans
    )


def keep_items(
    models: tuple[str, ...],
    values: Sequence[Any],
    codes: Sequence[IntArray],
    cells: IntArray,
    *,
    ids: object = None,
    weights: FloatArray | None = None,
) -> Items | None:
    """Return the items behind cells, or None if there are too many to store.

    Parameters
    ----------
    models
        The models.
    values
        Meaning of the codes.
    codes
        Codes of each row: the truth, then each model.
    cells
        The cells that were counted.
    ids
        Id of each row.
    weights
        Weight of each row; rows of weight 0 are dropped.
    """
    n_rows = len(codes[0])
    names = None if ids is None else read_ids(ids, n_rows)
    if n_rows > MOST_ITEMS:
        return None
    if weights is not None:
        kept = np.flatnonzero(weights)
        codes, weights = [column[kept] for column in codes], weights[kept]
        names = names if kept.size == n_rows else (kept if names is None else names[kept])
    cell = place_rows(codes, cells).astype(np.int32)
    for array in (cell, names, weights):
        if array is not None:
            array.setflags(write=False)
    return Items(
        models=models, values=tuple(values), cells=cells, cell=cell, ids=names, weights=weights
    )


def read_ids(ids: Any, n_rows: int) -> AnyArray:
    """Return the item ids after checking that they are unique.

    Examples
    --------
    >>> read_ids(["q1", "q2"], 2).tolist()
    ['q1', 'q2']
    """
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__len__"):
        raise UsageError(f"{param('ids')} must be a list with the id of each item; got {ids!r}")
    if len(ids) != n_rows:
        raise DataError(
            f"{param('ids')} must have one entry per item; got {len(ids)} for {n_rows} items"
        )
    listed = getattr(ids, "tolist", None) or getattr(ids, "to_pylist", None)
    values = list(ids) if listed is None else listed()
    first: dict[Any, int] = {}
    for row, item_id in enumerate(values):
        if is_missing(item_id) or not isinstance(item_id, (str, int)):
            raise DataError(
                f"every id must be text or an integer; got {item_id!r} in row {row} (counted from "
                "0)"
            )
        if first.setdefault(item_id, row) != row:
            raise DataError(
                f"every id must be unique; {item_id!r} is in rows {first[item_id]} and {row} "
                "(counted from 0)"
            )
    return _as_ids(values)


def _as_ids(values: Sequence[Any]) -> AnyArray:
    if all(type(value) is int and abs(value) < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    ids = np.empty(len(values), dtype=object)
    ids[:] = values
    return ids
