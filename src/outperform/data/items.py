"""The rows behind a table of counts: which cell each item is in, and what it is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from outperform._missing import is_missing
from outperform._rows import place_rows
from outperform._typing import AnyArray, FloatArray, IntArray
from outperform.errors import DataError, UsageError, param

# Four bytes an item, and what its id takes; more rows than this are counted and not kept.
MOST_ITEMS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpanRows:
    """The document and the boundaries of each span.

    Parameters
    ----------
    document
        The number of the document, or sentence, that each span belongs to.
    start, end
        The boundaries as they were given.
    n
        The number of documents, those without any span included.
    """

    document: IntArray  # (n_spans,)
    start: IntArray
    end: IntArray
    n: int

    def plus(self, other: SpanRows) -> SpanRows:
        """Put the documents of another table after these."""
        return SpanRows(
            document=np.concatenate([self.document, other.document + self.n]),
            start=np.concatenate([self.start, other.start]),
            end=np.concatenate([self.end, other.end]),
            n=self.n + other.n,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Items:
    """One cell for each item, and its id; of spans, a cell for each span of each document.

    The cells have their own codes, so that what is done to the labels, the models and the order
    of a table changes nothing here.

    Parameters
    ----------
    models
        The models, in the order of the columns of ``cells``.
    values
        What the codes mean: labels, or label sets; None is no span.
    cells
        Codes of shape ``(n_cells, 1 + n_models)``, the truth first; the same may be there twice.
    cell
        The place of each item's cell, or of each span's.
    ids
        What each item is called; None for its number in the order of the rows, from 0.
    weights
        How much each item matters; None where all matter alike.
    spans
        Which document each cell belongs to, and where it is; None for other kinds of items.
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
        """Return the same items where labels mean something else."""
        return replace(self, values=tuple(meaning[one] for one in self.values))

    def plus(self, other: Items) -> Items:
        """Put the items of another table after these.

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
    """Return the documents behind cells of spans, or None where there are too many to keep."""
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
    """Return the items behind cells, or None where there are too many to keep.

    Parameters
    ----------
    models
        The models.
    values
        What the codes mean.
    codes
        The codes of each row: the truth, then each model.
    cells
        The cells that were counted.
    ids
        What each row is called.
    weights
        How much it matters; one that does not is no item.
    """
    n_rows = len(codes[0])
    names = None if ids is None else read_ids(ids, n_rows)
    if n_rows > MOST_ITEMS:
        return None
    if weights is not None:
        kept = np.flatnonzero(weights)
        codes, weights = [one[kept] for one in codes], weights[kept]
        names = names if kept.size == n_rows else (kept if names is None else names[kept])
    cell = place_rows(codes, cells).astype(np.int32)
    for array in (cell, names, weights):
        if array is not None:
            array.setflags(write=False)
    return Items(
        models=models, values=tuple(values), cells=cells, cell=cell, ids=names, weights=weights
    )


def read_ids(ids: Any, n_rows: int) -> AnyArray:
    """Return the id of each item, each of them once.

    Examples
    --------
    >>> read_ids(["q1", "q2"], 2).tolist()
    ['q1', 'q2']
    """
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__len__"):
        raise UsageError(f"{param('ids')} must be a list with the id of each item; got {ids!r}")
    if len(ids) != n_rows:
        raise DataError(
            f"{param('ids')} must name every item: {n_rows} items, {len(ids)} {param('ids')}"
        )
    listed = getattr(ids, "tolist", None) or getattr(ids, "to_pylist", None)
    values = list(ids) if listed is None else listed()
    first: dict[Any, int] = {}
    for row, one in enumerate(values):
        if is_missing(one) or not isinstance(one, (str, int)):
            raise DataError(
                f"every id must be a text or a whole number; got {one!r} in row {row} (counted "
                "from 0)"
            )
        if first.setdefault(one, row) != row:
            raise DataError(
                f"every id must be there once; {one!r} is in rows {first[one]} and {row} (counted "
                "from 0)"
            )
    return _as_ids(values)


def _as_ids(values: Sequence[Any]) -> AnyArray:
    if all(type(one) is int and abs(one) < 2**63 for one in values):
        return np.array(values, dtype=np.int64)
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
