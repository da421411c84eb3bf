"""A pool of documents of which some were labelled, chosen by the models' predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from outperform._typing import AnyArray, FloatArray, IntArray
from outperform.errors import DataError
from outperform.outcomes.counting import as_counts, count_rows, total
from outperform.outcomes.table import Table, place_rows


@dataclass(frozen=True, eq=False, kw_only=True)
class Pool:
    """How many documents of a pool have each pair of predictions, labelled or not.

    Such a pair is a stratum. Within one the labelled documents are a random sample, but how
    many were labelled differs from one stratum to the next, so that the pool's counts, not the
    labelled ones, say how much each matters.

    Parameters
    ----------
    cells
        Codes of shape ``(n_strata, n_models)``: each model's prediction; in lexicographic order.
    counts
        How many documents of the pool each stratum holds, the labelled ones included.
    """

    cells: IntArray
    counts: AnyArray

    def __post_init__(self) -> None:
        self.cells.setflags(write=False)
        self.counts.setflags(write=False)

    @cached_property
    def n(self) -> int:
        """The number of documents, labelled or not."""
        return total(self.counts)

    @property
    def apart(self) -> AnyArray:
        """In which strata the two models disagree."""
        found: AnyArray = self.cells[:, 0] != self.cells[:, 1]
        return found

    def columns(self, kept: Sequence[int], *, n_labels: int) -> Pool:
        """Put the models in another order."""
        return _counted([self.cells[:, model] for model in kept], self.counts, n_labels=n_labels)

    def recode(self, codes: IntArray, *, n_labels: int) -> Pool:
        """Give every label a new code."""
        return _counted(list(codes[self.cells].T), self.counts, n_labels=n_labels)

    def plus(self, other: Pool, *, n_labels: int) -> Pool:
        """Put two pools with the same models and codes together."""
        cells = np.concatenate([self.cells, other.cells])
        counts = np.concatenate([self.counts.astype(object), other.counts.astype(object)])
        return _counted(list(cells.T), as_counts(counts), n_labels=n_labels)

    def labelled(self, table: Table, *, n_labels: int) -> FloatArray:
        """Return how many labelled documents of each stratum are of each class.

        Returns an array ``(n_strata, n_labels)`` of float64.
        """
        counts = np.zeros((len(self.cells), n_labels))
        if len(table.cells):
            strata = self.strata_of(table.cells[:, 1:])
            counts[strata, table.cells[:, 0]] = table.counts.astype(np.float64)
        return counts

    def strata_of(self, predictions: IntArray) -> IntArray:
        """Return the stratum of every row of predictions, of shape ``(n, n_models)``."""
        return place_rows(predictions, self.cells)

    def weigh(self, table: Table, *, n_labels: int) -> Table:
        """Let the labelled documents of every stratum stand for all of it.

        A stratum without a label has nothing to stand for it and is left out.
        """
        counted = self.labelled(table, n_labels=n_labels).sum(axis=1)
        strata = self.strata_of(table.cells[:, 1:])
        worth = self.counts.astype(np.float64)[strata] / counted[strata]
        return Table(table.cells, table.counts.astype(np.float64) * worth)

    def to_dict(self) -> dict[str, Any]:
        """Return the pool as JSON-able values."""
        return {"cells": self.cells.tolist(), "counts": self.counts.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], table: Table, *, n_labels: int) -> Pool:
        """Put together what :meth:`to_dict` gave, its cells and counts as arrays, checked."""
        cells, counts = data["cells"], as_counts(data["counts"])
        if cells.ndim != 2 or cells.shape[1] != table.cells.shape[1] - 1:
            raise DataError("a stratum of the pool needs a prediction of each model")
        if len(cells) != len(counts) or not counts.all():
            raise DataError("every stratum of the pool needs a count")
        if cells.size and (cells.min() < 0 or cells.max() >= n_labels):
            raise DataError("a stratum of the pool names a class that is not in labels")
        pool = _counted(list(cells.T), counts, n_labels=n_labels)
        if len(pool.cells) != len(cells):
            raise DataError("a stratum of the pool occurs twice")
        pool.check(table, n_labels=n_labels)
        return pool

    def check(self, table: Table, *, n_labels: int) -> None:
        """Refuse more labelled documents than a stratum holds."""
        try:
            labelled = self.labelled(table, n_labels=n_labels).sum(axis=1)
        except KeyError as error:
            raise DataError(
                "a labelled document has a pair of predictions that no document of the pool has; "
                f"{_WHOLE}"
            ) from error
        over = np.flatnonzero(labelled > self.counts.astype(np.float64))
        if over.size:
            raise DataError(
                f"{labelled[over[0]]:,.0f} documents with the same two predictions are labelled "
                f"and the pool holds {self.counts[over[0]]:,} of them; {_WHOLE}, and every "
                "document can be labelled once"
            )


_WHOLE = "the pool must hold all documents that were open to choice, the labelled ones too"


def _counted(codes: Sequence[IntArray], counts: AnyArray, *, n_labels: int) -> Pool:
    cells, sums = count_rows(codes, n_labels=n_labels, weights=counts)
    return Pool(cells=cells, counts=sums)


def count_pool(
    truth: IntArray, predictions: Sequence[IntArray], which: IntArray, *, n_labels: int
) -> tuple[Table, Pool]:
    """Count the labelled documents, and the pool that they were chosen from.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0])
    >>> table, pool = count_pool(np.array([0, 1]), [a, b], np.array([1, 3]), n_labels=2)
    >>> table.cells.tolist(), pool.cells.tolist(), pool.counts.tolist()
    ([[0, 0, 0], [1, 1, 0]], [[0, 0], [1, 0], [1, 1]], [2, 1, 1])
    """
    chosen = [truth, *(one[which] for one in predictions)]
    table = Table(*count_rows(chosen, n_labels=n_labels))
    ones = np.ones(len(predictions[0]), dtype=np.int64)
    return table, _counted(predictions, ones, n_labels=n_labels)


def labelled_rows(y_true: Any, which: Any, n_pool: int) -> tuple[Any, IntArray]:
    """Return the labels that are there, and the places of their documents in the pool.

    Without ``which`` there is a value for every document, None or NaN where it has no label.

    Examples
    --------
    >>> values, which = labelled_rows(["x", None, float("nan"), "y"], None, 4)
    >>> values, which.tolist()
    (['x', 'y'], [0, 3])
    """
    if isinstance(y_true, (str, bytes)) or not hasattr(y_true, "__len__"):
        raise DataError(f"y_true must be a sequence of labels; got {type(y_true).__name__}")
    if which is None:
        values = y_true.tolist() if hasattr(y_true, "tolist") else list(y_true)
        if len(values) != n_pool:
            raise DataError(
                f"y_true has {len(values)} values and the pool {n_pool} documents; give which=, "
                "the place of each labelled document in the pool, or None where there is no label"
            )
        there = [place for place, value in enumerate(values) if not _is_missing(value)]
        return [values[place] for place in there], np.array(there, dtype=np.int64)
    places = np.asarray(which)
    if places.shape != (len(y_true),) or (places.size and places.dtype.kind not in "iu"):
        raise DataError(
            f"which must give the place of each of the {len(y_true)} labelled documents in the "
            f"pool, as whole numbers; got shape {places.shape} of type {places.dtype}"
        )
    places = places.astype(np.int64)
    if places.size and (places.min() < 0 or places.max() >= n_pool):
        raise DataError(f"which must lie between 0 and {n_pool - 1}, the last of the pool")
    if len(np.unique(places)) != len(places):
        raise DataError("which names a document twice; every document can be labelled once")
    return y_true, places


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value
