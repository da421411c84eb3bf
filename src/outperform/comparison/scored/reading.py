"""What a metric of scores may be asked of: truth or none, one class or all, probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from outperform import metrics
from outperform._typing import Label
from outperform.errors import DataError, UsageError
from outperform.metrics import ScoreMetric
from outperform.outcomes import Scores

_ROUNDING = 1e-6


def check_kind(scores: Scores, metric: ScoreMetric) -> None:
    """Refuse scores that a metric cannot read."""
    if metric.reads == "grade" and scores.truth is not None:
        raise UsageError(
            f"metric {metric.name!r} is for grades, which have no truth: give None instead of "
            "y_true, or make Scores.from_values"
        )
    if metric.reads in ("ranking", "probability") and scores.truth is None:
        raise UsageError(
            f"metric {metric.name!r} needs the true labels; without them use one of "
            f"{', '.join(metrics.score_names(graded=True))}"
        )
    if metric.reads == "probability":
        _check_probabilities(scores, metric)


def _check_probabilities(scores: Scores, metric: ScoreMetric) -> None:
    for name, array in zip(scores.models, scores.values, strict=True):
        if array.min() < 0 or array.max() > 1:
            value = array.min() if array.min() < 0 else array.max()
            raise DataError(
                f"{metric.name} needs probabilities from 0 to 1; scores of {name!r} hold "
                f"{value:g}; turn margins into probabilities, or use roc_auc"
            )
        if array.ndim == 2 and np.abs(array.sum(axis=1) - 1).max() > _ROUNDING:
            row = int(np.abs(array.sum(axis=1) - 1).argmax())
            raise DataError(
                f"the probabilities of {name!r} must add up to 1 for every document; in row {row} "
                f"they add up to {array[row].sum():g}"
            )


def positive_code(scores: Scores, metric: ScoreMetric, pos_label: Label | None) -> int | None:
    """Return the positive class: named, or True, or 1; None where all classes count alike."""
    if scores.truth is None or metric.reads == "anything":
        if pos_label is not None:
            raise UsageError(f"metric {metric.name!r} has no positive class; leave pos_label out")
        return None
    if metric.reads == "probability" and scores.values[0].ndim == 2 and len(scores.labels) > 2:
        _refuse_positive(metric, pos_label)
        return None
    code = _chosen(scores, metric, pos_label)
    if metric.reads == "ranking":
        _check_both(scores, metric, code)
    return code


def _refuse_positive(metric: ScoreMetric, pos_label: Label | None) -> None:
    if pos_label is not None:
        raise UsageError(
            f"{metric.name} over several classes has no positive class; leave pos_label out, or "
            "give the probability of that class alone"
        )


def _chosen(scores: Scores, metric: ScoreMetric, pos_label: Label | None) -> int:
    labels = scores.labels
    if pos_label is not None:
        return scores.code(pos_label)
    if all(isinstance(label, bool) for label in labels):
        return scores.code(True)
    if set(labels) == {0, 1}:
        return scores.code(1)
    if len(labels) > 2:
        raise UsageError(
            f"metric {metric.name!r} is for one class against the rest and there are "
            f"{len(labels)}; name the one that the scores are for with pos_label="
            + (", or give one probability a class" if metric.reads == "probability" else "")
        )
    shown = " or ".join(repr(label) for label in labels)
    raise UsageError(f"name the positive class of {metric.name!r} with pos_label={shown}")


def _check_both(scores: Scores, metric: ScoreMetric, code: int) -> None:
    assert scores.truth is not None
    is_positive = np.asarray(scores.truth == code)
    if not is_positive.any() or is_positive.all():
        lacking = "positive" if not is_positive.any() else "negative"
        raise DataError(
            f"{metric.name} compares positive and negative documents, and no document is "
            f"{lacking}; check pos_label={scores.labels[code]!r} and y_true"
        )
    for name, array in zip(scores.models, scores.values, strict=True):
        if array.ndim == 2 and array.shape[1] > 2:
            raise UsageError(
                f"{metric.name} reads one score a document; scores of {name!r} have shape "
                f"{array.shape}: give the column of the positive class"
            )


def refuse_labels_metric(metric: Any, *, graded: bool) -> UsageError:
    """Return what to say where scores, or grades without a truth, meet another metric."""
    if callable(metric):
        return UsageError(
            "a function of scores must take y_true, score and weight; e.g. "
            "lambda y, s, w: roc_auc_score(y, s, sample_weight=w)"
        )
    name = metric if isinstance(metric, str) else getattr(metric, "name", repr(metric))
    known = metrics.score_names(graded=graded)
    try:
        metrics.check_name(metric, known)
    except UsageError as error:
        return UsageError(f"{error}; or a function of y_true, score and weight")
    these = "grades without a truth (y_true is None)" if graded else "scores"
    return UsageError(
        f"{name!r} is a metric of labels, and these are {these}; use one of {', '.join(known)}, or "
        "a function of y_true, score and weight"
    )
