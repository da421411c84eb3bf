"""From scores and a metric to what a draw of weights needs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.metrics import ScoreMetric
from outperform.metrics.of_scores import Prepared, Ranking, Units
from outperform.metrics.of_scores.functions import Called
from outperform.metrics.of_scores.losses import WeightedMean, brier_losses, log_losses
from outperform.metrics.of_scores.ranking import AreaUnderCurve, AveragePrecision
from outperform.outcomes import Scores

_RANKINGS: dict[str, Callable[[Ranking], Prepared]] = {
    "roc_auc": AreaUnderCurve,
    "average_precision": AveragePrecision,
}
_LOSSES = {"log_loss": log_losses, "brier_score": brier_losses}


def prepare(
    metric: ScoreMetric, view: Scores, place: int, *, positive: int | None, units: Units
) -> Prepared:
    """Sort the scores of a model, or turn them into one number a document."""
    if metric.function is not None:
        return Called(
            name=metric.name,
            function=metric.function,
            truth=None if view.truth is None else np.array(view.labels)[view.truth],
            score=view.values[place],
            units=units,
            bounds=metric.bounds,
        )
    if metric.reads == "ranking":
        assert positive is not None
        return _RANKINGS[str(metric.score)](ranking_of(view, place, positive, units))
    return WeightedMean(values_of(metric, view, place, positive), units)


def ranking_of(view: Scores, place: int, positive: int, units: Units) -> Ranking:
    """Return positives and negatives in the order of a model's scores."""
    assert view.truth is not None
    score = view.values[place]
    column = score if score.ndim == 1 else score[:, positive]
    return Ranking.of(view.truth == positive, column, units)


def values_of(metric: ScoreMetric, view: Scores, place: int, positive: int | None) -> FloatArray:
    """Return what each document adds to a mean."""
    if metric.score == "mean":
        return metric.sign * view.values[place]
    truth, probability = probabilities(view, place, positive)
    return metric.sign * _LOSSES[str(metric.score)](truth, probability)


def probabilities(view: Scores, place: int, positive: int | None) -> tuple[IntArray, FloatArray]:
    """Return the column that is true and the probabilities, of two classes or of all."""
    assert view.truth is not None
    score = view.values[place]
    if positive is None:
        return view.truth, score
    column = score if score.ndim == 1 else score[:, positive]
    return (view.truth == positive).astype(np.int64), np.stack([1 - column, column], axis=1)
