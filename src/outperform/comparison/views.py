"""Which table answers a metric: the classes, one against the rest, right or wrong, or spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from outperform import metrics
from outperform._typing import Label
from outperform.errors import DataError, UsageError
from outperform.metrics import Metric
from outperform.outcomes import Outcomes


class View(NamedTuple):
    """Outcomes lumped to what a metric tells apart, and how it reads them."""

    seen: Outcomes  # as they were given, with every class that could occur
    table: Outcomes
    measured: Metric
    positive: int | None
    pos_label: Label | None
    classes: tuple[int, ...] | None


def look(
    outcomes: Outcomes,
    metric: Metric,
    *,
    labels: Sequence[Label] | None,
    pos_label: Label | None,
) -> View:
    """Choose the table that a metric needs."""
    if outcomes.kind == "spans":
        return _spans(outcomes, metric, labels=labels, pos_label=pos_label)
    if labels is not None:
        outcomes = outcomes.with_labels(labels)
    if outcomes.kind == "correct":
        measured = _right_or_wrong(metric)
        return View(outcomes, outcomes, measured, 1, pos_label, (1,))
    if metric.average == "binary":
        outcomes = _zero_and_one(outcomes)
        label = _positive(outcomes, metric, pos_label)
        return View(outcomes, outcomes.binarize(label), metric, 1, label, (1,))
    classes = _averaged(outcomes, metric, labels)
    _refuse_one_class(outcomes)
    return View(outcomes, outcomes, metric, None, None, classes)


# Spans: true positives, false positives and false negatives only

_WITHOUT_NEGATIVES = ("precision", "recall", "fbeta", "jaccard")


def _spans(
    outcomes: Outcomes,
    metric: Metric,
    *,
    labels: Sequence[Label] | None,
    pos_label: Label | None,
) -> View:
    if metric.score not in _WITHOUT_NEGATIVES:
        raise UsageError(
            f"spans have no true negatives, so {metric.name!r} cannot be computed; use precision, "
            "recall, f1, jaccard or another F-beta, overall or with _macro over the types"
        )
    kept = outcomes.labels if labels is None else labels
    together = outcomes.only(kept)  # says so if these are no types
    codes = tuple(outcomes.code(label) for label in kept)
    if metric.average == "binary" and pos_label is not None:
        label = outcomes.labels[outcomes.code(pos_label)]
        return View(outcomes, outcomes.only([label]), metric, 0, label, (0,))
    pooled = metric.average in ("binary", "micro") or (metric.score, metric.average) == (
        "recall",
        "weighted",
    )
    if pooled:
        return View(outcomes, together, of_one_class(metric), 0, None, (0,))
    chosen = None if len(codes) == outcomes.n_classes else codes
    return View(outcomes, outcomes, metric, None, None, chosen)


def of_one_class(metric: Metric) -> Metric:
    """Return the one-class form of a metric; F1 for metrics that have none."""
    if metric.beta is not None:
        return metrics.fbeta(metric.beta)
    binary = [name for name in metrics.names() if metrics.get(name).average == "binary"]
    return metrics.get(metric.score if metric.score in binary else "f1")


# Classes


def _right_or_wrong(metric: Metric) -> Metric:
    if metric.name not in ("accuracy", "f1_micro", "precision_micro", "recall_micro"):
        raise UsageError(
            f"only right or wrong is known of these outcomes, so {metric.name!r} cannot be "
            "computed; use metric='accuracy'"
        )
    return metrics.get("recall")


def _zero_and_one(outcomes: Outcomes) -> Outcomes:
    """Add the other one where only 0 or only 1 occurred."""
    return outcomes.with_labels([0, 1]) if outcomes.labels in ((0,), (1,)) else outcomes


def _positive(outcomes: Outcomes, metric: Metric, pos_label: Label | None) -> Label:
    labels = outcomes.labels
    if pos_label is not None:
        return labels[outcomes.code(pos_label)]
    if all(isinstance(label, bool) for label in labels):
        return True
    if set(labels) == {0, 1}:
        return 1
    if len(labels) > 2:
        raise UsageError(
            f"metric {metric.name!r} is for one class and there are {len(labels)}; use "
            f"{metric.name + '_macro'!r}, {metric.name + '_micro'!r} or "
            f"{metric.name + '_weighted'!r}, or name the class with pos_label="
        )
    names = " or ".join(repr(label) for label in labels)
    raise UsageError(f"name the positive class of {metric.name!r} with pos_label={names}")


def _averaged(
    outcomes: Outcomes, metric: Metric, labels: Sequence[Label] | None
) -> tuple[int, ...] | None:
    if labels is None or metric.average is None:
        return None
    codes = tuple(outcomes.code(label) for label in labels)
    return None if len(codes) == outcomes.n_classes else codes


def _refuse_one_class(outcomes: Outcomes) -> None:
    if outcomes.n_classes < 2:
        raise DataError(
            f"only the class {outcomes.labels[0]!r} occurs; "
            "give labels= with all classes that could have occurred"
        )
