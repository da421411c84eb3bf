"""Findings: what a careful reader would doubt where the class proportions were replaced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from outperform._typing import FloatArray
from outperform.comparison import engine
from outperform.comparison.question import Question
from outperform.findings import Finding

FEW_ERRORS = 10
# So many times the weight of another class an error must have before it is spoken of.
_MUCH_MORE = 2.0
_MOST_NAMED = 4
# Averages of rates within the classes, which no prevalence changes.
_WITHIN_CLASSES = ("recall", "balanced_accuracy")


def prevalence_findings(question: Question) -> Iterator[Finding]:
    """Yield what replaced class proportions assume, and where they rest on few errors."""
    if question.placed is None:
        return
    yield Finding(
        "other_prevalence",
        "note",
        "The class proportions are not the test set's but those given "
        f"({question.placed.prevalence}); this assumes that P(prediction | class) is the same "
        f"there. At the test set's own proportions {question.metric.name} is {_at_home(question)}.",
    )
    heavy = [text for model in question.view.models for text in _few_errors(question, model)]
    if heavy and not _within_classes(question):
        left = len(heavy) - _MOST_NAMED
        more = f"; and {left:,} more" if left > 0 else ""
        yield Finding(
            "few_errors_weigh_more",
            "warning",
            f"{'; '.join(heavy[:_MOST_NAMED])}{more}. What is said of this prevalence rests on "
            "these few.",
        )


def _within_classes(question: Question) -> bool:
    metric = question.measured
    if metric.average in ("micro", "weighted"):
        return False
    two = question.positive is not None and question.view.n_classes == 2
    return metric.score in (*_WITHIN_CLASSES, *(("specificity", "informedness") if two else ()))


def _at_home(question: Question) -> str:
    """Write each model's plug-in value in the test set, equal to scikit-learn's."""
    values = engine.observed(replace(question, placed=None))
    shown = [
        f"{value:.4f} for {name}" for name, value in zip(question.view.models, values, strict=True)
    ]
    left = len(shown) - _MOST_NAMED
    return ", ".join(shown[:_MOST_NAMED]) + (f" and so on for {left} more" if left > 0 else "")


def _few_errors(question: Question, model: str) -> Iterator[str]:
    """Yield the classes whose share grows and in which a model erred seldom."""
    assert question.placed is not None
    view, times = question.view, question.counting.times
    actual = view.margins(model).actual.astype(np.float64)
    shares = question.placed.mean_shares(view, model)
    weights = {code: shares[code] / actual[code] for code in shares if actual[code]}
    least = min((weight for weight in weights.values() if weight > 0), default=1.0)
    errors = _errors(question, model) / times
    for code, weight in weights.items():
        grows = weight * actual.sum() > 1.0
        if grows and weight >= _MUCH_MORE * least and errors[code] < FEW_ERRORS:
            count = round(errors[code])
            yield (
                f"{model} has {count} {'error' if count == 1 else 'errors'} in "
                f"{_class(question, code)}, where a document counts {weight / least:.3g} times "
                "as much as one of another class"
            )


def _errors(question: Question, model: str) -> FloatArray:
    """Count the documents of each class that the metric sees go wrong."""
    table, positive = question.view.select([model]).tables[0], question.positive
    truth, predicted = table.cells.T
    # Against the rest, what one of the others is taken for matters only if it is the class.
    wrong = (
        truth != predicted if positive is None else (truth == positive) != (predicted == positive)
    )
    kept = table.without(~wrong)
    counts = kept.sum_by(kept.cells[:, 0], n_labels=question.view.n_classes)
    return counts.astype(np.float64)


def _class(question: Question, code: int) -> str:
    """Name a class as the user does; the rest has no name where it is several."""
    if question.positive is None or question.view.n_classes > 2:
        return f"class {question.view.labels[code]!r}"
    if code == question.positive:
        return f"class {question.pos_label!r}"
    others = [label for label in question.seen.labels if label != question.pos_label]
    return f"class {others[0]!r}" if len(others) == 1 else "the other classes"
