"""What the sd would be if documents with the same id had one weight, without any draws.

With one Exp(1) weight a group, a metric that does not depend on the scale of the weights
has, to first order, the variance Σ_g (Σ_c t_gc ∂m/∂n_c)², where t_gc says how often group g
holds cell c and n_c is the count of the cell: the sandwich. Without groups every document
is its own group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.comparison.question import Question
from outperform.comparison.scored import Asked
from outperform.comparison.slopes import cell_slopes, table_margins
from outperform.findings import Finding
from outperform.outcomes import Groups, Outcomes, Table
from outperform.outcomes.repeated import RepeatedId

_MUCH = 1.2  # times the sd


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
    slopes = [cell_slopes(question, table, place) for place in models]
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
        same = zip(table_margins(found, place, view.n_classes), view.margins(model), strict=True)
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
