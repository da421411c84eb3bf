"""How a metric changes with the count of every cell: finite differences, all cells at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.comparison.question import Question
from outperform.metrics import Margins
from outperform.outcomes import ClassCounts, Table

# Each step is a small share of its class.
_STEP = 1e-6
_AT_ONCE = 1 << 20
# More classes, or cells of a user's function, would take longer than the comparison itself.
_MOST_CLASSES = 2_000
_MOST_CELLS = 1_000


def table_margins(table: Table, model: int, n_classes: int) -> ClassCounts:
    """Return the margins of one of the models of a table whose cells may repeat."""
    truth, predicted = table.cells[:, 0], table.cells[:, 1 + model]
    sums = np.zeros((3, n_classes), dtype=table.counts.dtype)
    right = truth == predicted
    np.add.at(sums[0], truth[right], table.counts[right])
    np.add.at(sums[1], truth, table.counts)
    np.add.at(sums[2], predicted, table.counts)
    return ClassCounts(*sums)


def cell_slopes(question: Question, table: Table, model: int) -> FloatArray | None:
    """Return the derivative of one model's metric by the count of each cell.

    None where there are so many classes that it would take longer than the comparison itself.
    """
    truth, predicted = table.cells[:, 0], table.cells[:, 1 + model]
    n_classes = question.view.n_classes
    if question.measured.needs == "confusion":
        return _of_function(question, table, truth, predicted)
    if n_classes > _MOST_CLASSES:
        return None
    counts = [one.astype(np.float64) for one in table_margins(table, model, n_classes)]
    right, of_truth, of_prediction = _of_margins(question, counts)
    apart: FloatArray = of_truth[truth] + of_prediction[predicted]
    return np.where(truth == predicted, right[truth], apart)


def _of_margins(question: Question, counts: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the derivatives by what is right in a class, by its truth, by its predictions."""
    hits, actual, predicted = counts
    n_classes, steps = len(hits), _STEP * np.maximum(actual + predicted, 1)
    base = float(_evaluated(question, counts))
    moved = ((True, True, True), (False, True, False), (False, False, True))
    slopes = [np.empty(n_classes) for _ in moved]
    length = max(1, _AT_ONCE // n_classes)
    for first in range(0, n_classes, length):
        some = np.arange(first, min(first + length, n_classes))
        for slope, sums in zip(slopes, moved, strict=True):
            ahead = [np.repeat(one[:, None], some.size, axis=1) for one in counts]
            for one, is_moved in zip(ahead, sums, strict=True):
                one[some, np.arange(some.size)] += steps[some] * is_moved
            slope[some] = (_evaluated(question, ahead) - base) / steps[some]
    return slopes


def _evaluated(question: Question, counts: Sequence[FloatArray]) -> FloatArray:
    hits, actual, predicted = counts
    margins = Margins(hits=hits, actual=actual, predicted=predicted)
    return question.measured.evaluate(margins, question.classes)


def _of_function(
    question: Question, table: Table, truth: IntArray, predicted: IntArray
) -> FloatArray | None:
    """Return the derivative of a user's function, which sees shares that add up to 1."""
    n_classes = question.view.n_classes
    entries, which = np.unique(truth * n_classes + predicted, return_inverse=True)
    if entries.size > _MOST_CELLS or entries.size * n_classes**2 > 32 * _AT_ONCE:
        return None
    confusion = np.zeros(n_classes**2)
    np.add.at(confusion, entries[which], table.counts.astype(np.float64))
    steps = _STEP * confusion[entries]
    ahead = np.repeat(confusion[:, None], 1 + entries.size, axis=1)
    ahead[entries, 1 + np.arange(entries.size)] += steps
    ahead /= ahead.sum(axis=0)
    values = question.measured.evaluate(ahead.reshape(n_classes, n_classes, -1), question.classes)
    slopes: FloatArray = (values[1:] - values[0]) / steps
    return np.asarray(slopes[which.ravel()])
