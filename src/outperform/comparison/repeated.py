"""What the sd would be if documents with the same id had one weight, without any draws.

With one Exp(1) weight a group, a metric that does not depend on the scale of the weights
has, to first order, the variance Σ_g (Σ_c t_gc ∂m/∂n_c)², where t_gc says how often group g
holds cell c and n_c is the count of the cell: the sandwich. Without groups every document
is its own group. The derivatives are finite differences, each a small share of its class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.comparison.question import Question
from outperform.comparison.scored import Asked
from outperform.findings import Finding
from outperform.metrics import Margins
from outperform.outcomes import ClassCounts, Groups, Outcomes, Table
from outperform.outcomes.repeated import RepeatedId

_MUCH = 1.2  # times the sd
_STEP = 1e-6
_AT_ONCE = 1 << 20
# More classes, or cells of a user's function, would take longer than the comparison itself.
_MOST_CLASSES = 2_000
_MOST_CELLS = 1_000


def repeated_findings(
    question: Asked, sd: float, *, models: Sequence[int] = (0, 1)
) -> Iterator[Finding]:
    """Yield ``repeated_ids`` for the column that would change the sd most.

    Parameters
    ----------
    question
        What was asked.
    sd
        Of the posterior, of what is said of the models.
    models
        The places of A and B in the question, or of one model.
    """
    if not isinstance(question, Question) or question.view.groups is not None:
        return
    found = [
        (spread, column)
        for column in question.seen.repeated
        if (spread := spreads(question, column, models)) is not None
    ]
    if not found:
        return
    (grouped, apart), column = max(found, key=lambda one: one[0].ratio)
    names = " − ".join(question.view.models[place] for place in models)
    text = (
        f"Column {column.column!r} repeats: {column.n_values:,} values in {column.n_rows:,} rows. "
        f"If documents of one value go wrong together, read with groups={column.column!r}, which "
        "gives them one weight"
    )
    if np.isnan(grouped):
        yield Finding("repeated_ids", "note", f"{text}.")
        return
    text = f"{text}: the sd of {names} would be {grouped:.4f} instead of {sd:.4f}."
    if grouped > _MUCH * apart:
        yield Finding("repeated_ids", "warning", text)
    else:
        yield Finding("repeated_ids", "note", text)


class Spreads(NamedTuple):
    """The sd with one weight for each id, and with one for each document; NaN if unknown."""

    grouped: float
    apart: float

    @property
    def ratio(self) -> float:
        """How many times as large the sd is with groups."""
        return 0.0 if np.isnan(self.grouped) else self.grouped / self.apart


def spreads(question: Question, column: RepeatedId, models: Sequence[int]) -> Spreads | None:
    """Return the sd with groups and without.

    None where the outcomes are no longer those that were read, or nothing sets models apart.
    """
    recoded = _recoded(question, column.outcomes)
    if recoded is None:
        return None
    if question.placed is not None:  # the slopes are those of the test set's own proportions
        return Spreads(np.nan, np.nan)
    table, groups = recoded
    slopes = [_slopes(question, table, place) for place in models]
    known = [one for one in slopes if one is not None and np.isfinite(one).all()]
    if len(known) < len(slopes):
        return Spreads(np.nan, np.nan)
    if question.paired and len(known) == 2:
        known = [known[0] - known[1]]
    grouped = sum(_by_group(one, groups) for one in known)
    apart = sum(_apart(one, table) for one in known)
    return Spreads(float(np.sqrt(grouped)), float(np.sqrt(apart))) if apart > 0 else None


def _by_group(slopes: FloatArray, groups: Groups) -> float:
    sums = np.bincount(
        groups.pattern,
        groups.times.astype(np.float64) * slopes[groups.cell],
        minlength=len(groups.repeats),
    )
    return float(groups.repeats.astype(np.float64) @ np.square(sums))


def _apart(slopes: FloatArray, table: Table) -> float:
    return float(table.counts.astype(np.float64) @ np.square(slopes))


def _recoded(question: Question, read: Outcomes) -> tuple[Table, Groups] | None:
    """Return what was read with the classes of the view, in its cells as they were.

    The cells stay apart, because groups would have to be sorted anew if they were added up.
    """
    table, groups, view = read.tables[0], read.groups, question.view
    if groups is None or not {*view.models} <= {*read.models}:
        return None
    if not {*map(repr, read.labels)} <= {*map(repr, question.seen.labels)}:  # True is not 1
        return None
    places = [0, *(1 + read.models.index(model) for model in view.models)]
    found = Table(_codes(question, read)[table.cells[:, places]], table.counts)
    for place, model in enumerate(view.models):
        same = zip(_margins(found, place, view.n_classes), view.margins(model), strict=True)
        if not all(np.array_equal(one, two) for one, two in same):
            return None
    return found, groups


def _codes(question: Question, read: Outcomes) -> IntArray:
    """Return the code that each label that was read has in the view."""
    if question.positive is None:
        place = {repr(label): code for code, label in enumerate(question.view.labels)}
    else:
        place = {repr(label): 0 for label in question.seen.labels}
        place[repr(question.pos_label)] = 1
    return np.array([place[repr(label)] for label in read.labels], dtype=np.int64)


def _margins(table: Table, model: int, n_classes: int) -> ClassCounts:
    truth, predicted = table.cells[:, 0], table.cells[:, 1 + model]
    sums = np.zeros((3, n_classes), dtype=table.counts.dtype)
    right = truth == predicted
    np.add.at(sums[0], truth[right], table.counts[right])
    np.add.at(sums[1], truth, table.counts)
    np.add.at(sums[2], predicted, table.counts)
    return ClassCounts(*sums)


def _slopes(question: Question, table: Table, model: int) -> FloatArray | None:
    """Return the derivative of one model's metric by the count of each cell."""
    truth, predicted = table.cells[:, 0], table.cells[:, 1 + model]
    n_classes = question.view.n_classes
    if question.measured.needs == "confusion":
        return _of_function(question, table, truth, predicted)
    if n_classes > _MOST_CLASSES:
        return None
    counts = [one.astype(np.float64) for one in _margins(table, model, n_classes)]
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
