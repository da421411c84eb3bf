"""Which table answers a metric: classes, one against the rest, right or wrong, spans or sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from outperform import metrics
from outperform._typing import Label
from outperform.errors import DataError, UsageError
from outperform.metrics import Metric
from outperform.outcomes import Outcomes, Scores
from outperform.outcomes.occurring import true_codes


class View(NamedTuple):
    """Outcomes lumped to what a metric tells apart, and how it reads them."""

    seen: Outcomes  # as they were given, with every class that could occur
    table: Outcomes
    measured: Metric
    positive: int | None
    pos_label: Label | None
    classes: tuple[int, ...] | None


def chosen_metric(
    seen: Outcomes | Scores,
    metric: Any,
    *,
    labels: Sequence[Label] | None,
    pos_label: Label | None,
) -> Any:
    """Return the metric that was asked for, or the one that goes without saying.

    That is F1 where the positive class is clear and macro-F1 where it is not; accuracy where
    only right or wrong is known, and the mean of grades.
    """
    if metric is not None:
        return metric
    if isinstance(seen, Scores):
        if seen.truth is None:
            return "mean"
        raise UsageError(
            f"name the metric of these scores with metric=, one of {', '.join(_OF_TRUTH)}"
        )
    if seen.kind == "correct":
        return "accuracy"
    if seen.kind == "spans" or pos_label is not None:
        return "f1"
    if seen.kind == "label_sets":
        return "f1" if seen.n_classes == 1 else "f1_macro"
    known = seen if labels is None else seen.with_labels(labels)
    return "f1_macro" if known_positive(_zero_and_one(known), None) is None else "f1"


_OF_TRUTH = tuple(name for name in metrics.score_names() if name != "mean")


def look(
    outcomes: Outcomes,
    metric: Metric,
    *,
    labels: Sequence[Label] | None,
    pos_label: Label | None,
) -> View:
    """Choose the table that a metric needs."""
    if outcomes.kind == "label_sets":
        return _label_sets(outcomes, metric, labels=labels, pos_label=pos_label)
    _refuse_documents(metric)
    if outcomes.kind == "spans":
        return _spans(outcomes, metric, labels=labels, pos_label=pos_label)
    if labels is not None:
        outcomes = outcomes.with_labels(labels)
    if outcomes.kind == "correct":
        measured = _right_or_wrong(metric)
        return View(outcomes, outcomes, measured, 1, pos_label, (1,))
    if metric.costs is not None:
        return _priced(outcomes, metric, metric.costs)
    if metric.average == "binary":
        outcomes = _zero_and_one(outcomes)
        label = _positive(outcomes, metric, pos_label)
        if outcomes.pool is not None:  # strata were sampled at rates of their own: none is lumped
            code = outcomes.code(label)
            return View(outcomes, outcomes, metric, code, label, (code,))
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
    if metric.average == "binary" and pos_label is not None:
        label = outcomes.labels[outcomes.code(pos_label)]
        return View(outcomes, outcomes.only([label]), metric, 0, label, (0,))
    pooled = metric.average in ("binary", "micro") or (metric.score, metric.average) == (
        "recall",
        "weighted",
    )
    if pooled:
        return View(outcomes, together, of_one_class(metric), 0, None, (0,))
    chosen = _averaged(outcomes, metric, labels)
    return View(outcomes, outcomes, metric, None, None, chosen)


def of_one_class(metric: Metric) -> Metric:
    """Return the one-class form of a metric; F1 for metrics that have none."""
    if metric.costs is not None:
        raise UsageError(
            f"{metric.name!r} is of the whole table and has no value for one class; ask for "
            "another metric, e.g. with_metric('f1_macro').by_class()"
        )
    if metric.beta is not None:
        return metrics.fbeta(metric.beta)
    binary = [name for name in metrics.names() if metrics.get(name).average == "binary"]
    return metrics.get(metric.score if metric.score in binary else "f1")


# Label sets: one label against the rest, all of a document's labels, or documents themselves


def called(metric: Metric, outcomes: Outcomes) -> Metric:
    """Return the metric under the name that it has for such outcomes."""
    if outcomes.kind == "label_sets" and metric.name == "accuracy":
        return replace(metric, label="subset accuracy")
    return metric


def _label_sets(
    outcomes: Outcomes,
    metric: Metric,
    *,
    labels: Sequence[Label] | None,
    pos_label: Label | None,
) -> View:
    if metric.average == "binary":
        label = _one_label(outcomes, metric, pos_label)
        return View(outcomes, outcomes.binarize(label), metric, 1, label, (1,))
    table = outcomes if labels is None else outcomes.only(labels)
    if metric.name == "accuracy":
        return View(outcomes, table.matches(), metrics.get("recall"), 1, None, (1,))
    if metric.average is None or metric.score not in (*_WITHOUT_NEGATIVES, "hamming_loss"):
        raise UsageError(
            f"{metric.name!r} needs one class for each document, and these have several labels; "
            "use accuracy (of the whole set), hamming_loss, or precision, recall, jaccard or "
            "F-beta with _samples, _micro, _macro or _weighted; or look at one label with "
            "binarize(label)"
        )
    named = None if labels is None else tuple(range(table.n_classes))
    classes = _averaged(outcomes, metric, None) if named is None else named
    return View(outcomes, table, metric, None, None, classes)


def _one_label(outcomes: Outcomes, metric: Metric, pos_label: Label | None) -> Label:
    if pos_label is None and outcomes.n_classes > 1:
        averages = [f"{metric.name}_{average}" for average in ("samples", "micro", "macro")]
        use = f"use {', '.join(map(repr, averages))}, or "
        raise UsageError(
            f"metric {metric.name!r} is for one label and there are {outcomes.n_classes}; "
            f"{use if metric.score in _WITHOUT_NEGATIVES else ''}name the label with pos_label="
        )
    return outcomes.labels[0 if pos_label is None else outcomes.code(pos_label)]


def _refuse_documents(metric: Metric) -> None:
    if metric.per_document:
        raise UsageError(
            f"{metric.name!r} is a mean over documents with several labels each; give indicator "
            "matrices or sets of labels, e.g. Outcomes.from_label_sets(y_true, {'bert': …})"
        )


# Classes


def _priced(outcomes: Outcomes, metric: Metric, costs: metrics.Costs) -> View:
    """Put the costs in the order of the classes; a class that only they name could occur."""
    outcomes = _zero_and_one(outcomes)
    if costs.labels is not None:
        outcomes = outcomes.with_labels(costs.labels)
    _refuse_one_class(outcomes)
    measured = replace(metric, function=costs.aligned(outcomes.labels))
    return View(outcomes, outcomes, measured, None, None, None)


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


def known_positive(outcomes: Outcomes, pos_label: Label | None) -> Label | None:
    """Return the class that was named as positive, or that is called True or 1; else None."""
    labels = outcomes.labels
    if pos_label is not None:
        return labels[outcomes.code(pos_label)]
    if all(isinstance(label, bool) for label in labels):
        return True
    return 1 if set(labels) == {0, 1} else None


def _positive(outcomes: Outcomes, metric: Metric, pos_label: Label | None) -> Label:
    labels, positive = outcomes.labels, known_positive(outcomes, pos_label)
    if positive is not None:
        return positive
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
    """Return the classes averaged over: those in ``labels``, or those that are ever true.

    A class that is only predicted is an error and no class of its own. None means all classes.
    """
    if labels is not None and metric.average is not None:
        codes = tuple(outcomes.code(label) for label in labels)
    elif metric.over_classes and metric.share is None:  # a share counts every document
        codes = tuple(true_codes(outcomes).tolist())
    else:
        return None
    return None if len(codes) in (0, outcomes.n_classes) else codes


def _refuse_one_class(outcomes: Outcomes) -> None:
    if outcomes.n_classes < 2:
        raise DataError(
            f"only the class {outcomes.labels[0]!r} occurs; "
            "give labels= with all classes that could have occurred"
        )
