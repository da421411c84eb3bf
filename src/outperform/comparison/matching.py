"""Models that never predict a class that is true: another spelling, or another column."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from outperform._typing import IntArray, Label
from outperform.comparison.question import Question
from outperform.comparison.scored import Asked, ScoreQuestion
from outperform.findings import Finding
from outperform.outcomes.occurring import predicted_codes, true_codes

_MOST_NAMED = 3


def never_match(question: Asked, place: int) -> bool:
    """Return whether a model predicts classes, and none of them is ever true.

    A model that predicts one of the classes in ``labels`` is believed: whoever named them
    said that they are spelled so.

    Parameters
    ----------
    question
        What was asked.
    place
        Which of its models.
    """
    if isinstance(question, ScoreQuestion) or question.seen.kind == "correct":
        return False
    true, predicted = true_codes(question.seen), predicted_codes(question.seen, place)
    if not predicted.size or np.isin(predicted, true).any():
        return False
    named = () if question.given.labels is None else question.given.labels
    return not any(question.seen.labels[code] in named for code in predicted)


def matching_findings(question: Question) -> Iterator[Finding]:
    """Yield ``predictions_never_match`` for every model that never predicts a true class."""
    noun = _NOUNS.get(question.seen.kind, "class")
    for place, model in enumerate(question.seen.models):
        if never_match(question, place):
            true, predicted = true_codes(question.seen), predicted_codes(question.seen, place)
            yield Finding(
                "predictions_never_match",
                "serious",
                f"{model} never predicts a {noun} that is true: it predicts "
                f"{_named(question.seen.labels, predicted)}, and the truth holds "
                f"{_named(question.seen.labels, true)}. Spell the labels alike, or name the right "
                "column; until then no verdict is given.",
            )


_NOUNS = {"spans": "type", "label_sets": "label"}


def _named(labels: tuple[Label, ...], codes: IntArray) -> str:
    shown = ", ".join(ascii(labels[code]) for code in codes[:_MOST_NAMED])
    left = codes.size - _MOST_NAMED
    return shown if left <= 0 else f"{shown} and {left:,} more"
