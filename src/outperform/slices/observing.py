"""The plug-in values of every slice, as scikit-learn would give them for it alone."""

from __future__ import annotations

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.comparison.question import Question
from outperform.metrics import Margins
from outperform.outcomes import Slices

_AT_ONCE = 1 << 22


def observe(question: Question, slices: Slices) -> FloatArray:
    """Return what was observed of A and of B in each slice, ``(2, n_slices)``."""
    n_classes = question.view.n_classes
    step = max(1, _AT_ONCE // n_classes**2)
    found = np.empty((2, len(slices)))
    for start in range(0, len(slices), step):
        stop = min(start + step, len(slices))
        inside = slice(*np.searchsorted(slices.table.cells[:, 0], [start, stop]))
        cells = slices.table.cells[inside]
        counts = slices.table.counts[inside].astype(np.float64)
        for model in range(2):
            codes = (cells[:, 1], cells[:, 2 + model], cells[:, 0] - start)
            confusion = _add_up(codes, counts, (n_classes, n_classes, stop - start))
            found[model, start:stop] = _value(question, confusion)
    return found


def _add_up(
    codes: tuple[IntArray, IntArray, IntArray], counts: FloatArray, shape: tuple[int, int, int]
) -> FloatArray:
    places = np.ravel_multi_index(codes, shape)
    sums = np.bincount(places, counts, minlength=int(np.prod(shape)))
    return np.asarray(sums, dtype=np.float64).reshape(shape)


def _value(question: Question, confusion: FloatArray) -> FloatArray:
    metric = question.measured
    if metric.needs == "confusion":
        return metric.evaluate(confusion, question.classes)
    margins = Margins.from_confusion(confusion)
    if metric.average not in ("macro", "weighted") or question.given.labels is not None:
        return metric.evaluate(margins, question.classes)
    # Of a class that a slice lacks nothing is observed; slices with the same classes go together.
    occurs = margins.actual > 0  # (n_classes, n_slices)
    patterns, which = np.unique(occurs, axis=1, return_inverse=True)
    values = np.empty(confusion.shape[2])
    for place, pattern in enumerate(patterns.T):
        here = which.ravel() == place
        part = Margins.from_confusion(confusion[:, :, here])
        values[here] = metric.evaluate(part, tuple(np.flatnonzero(pattern).tolist()))
    return values
