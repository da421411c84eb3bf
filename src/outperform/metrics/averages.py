"""From one value per class to one value: binary, micro, macro and weighted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.errors import UsageError
from outperform.metrics.margins import Margins
from outperform.metrics.scores import CLASS_SCORES

Average: TypeAlias = Literal["binary", "micro", "macro", "weighted"]
AVERAGES: tuple[Average, ...] = get_args(Average)

Samples: TypeAlias = Literal["samples"]
"""The mean over documents, of what the sets of labels of each are worth."""

Rows: TypeAlias = slice | IntArray


def score_classes(
    margins: Margins, score: str, *, average: Average, rows: Rows, beta: float | None = None
) -> FloatArray:
    """Return the average of a per-class score over the chosen classes.

    ``"micro"`` adds up the chosen classes' sums before the score is taken;
    ``"macro"`` is the mean of their scores; ``"weighted"`` weighs the scores
    with the classes' true weight, and is the mean where that is 0 for all of
    them; ``"binary"`` is the value of the one class chosen.

    Examples
    --------
    >>> margins = Margins.from_confusion([[8, 2], [1, 5]])
    >>> print(score_classes(margins, "recall", average="micro", rows=slice(None)))
    0.8125
    """
    row = CLASS_SCORES[score]
    extra = {} if beta is None else {"beta": beta}
    sums = [getattr(margins, name)[rows] for name in row.sums]
    if average == "micro":
        return row.function(*(values.sum(axis=0) for values in sums), **extra)
    values = row.function(*sums, **extra)
    if average == "weighted":
        return _weighted_mean(values, margins.actual[rows])
    value: FloatArray = values[0] if average == "binary" else values.sum(axis=0) / len(values)
    return value


def choose_rows(classes: IntArray | Sequence[int] | None, n_classes: int) -> Rows:
    """Return the rows of the chosen classes, all of them for None."""
    if classes is None:
        return slice(None)
    chosen = np.asarray(classes)
    if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
        raise UsageError(
            "classes must be a list of class numbers, at least one; "
            f"got {chosen.dtype} of shape {chosen.shape}"
        )
    if chosen.min() < 0 or chosen.max() >= n_classes:
        raise UsageError(
            f"classes must lie between 0 and {n_classes - 1} in a table of {n_classes} classes; "
            f"got {chosen.tolist()}"
        )
    if len(set(chosen.tolist())) < len(chosen):
        raise UsageError(f"classes must be distinct; got {chosen.tolist()}")
    if len(chosen) == n_classes:
        return slice(None)
    if len(chosen) == 1:
        return slice(int(chosen[0]), int(chosen[0]) + 1)
    return chosen


def _weighted_mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    total = weights.sum(axis=0)
    if np.any(total == 0.0):
        weights = np.where(total == 0.0, 1.0, weights)
        total = weights.sum(axis=0)
    value: FloatArray = (values * weights).sum(axis=0) / total
    return value
