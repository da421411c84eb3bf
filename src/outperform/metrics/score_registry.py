"""The registry of score metrics, by scikit-learn's scorer names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from outperform.errors import UsageError, unknown_name
from outperform.metrics.custom import ConfusionFunction, ScoreFunction
from outperform.metrics.metric import Metric

Reads: TypeAlias = Literal["ranking", "probability", "grade", "anything"]


MetricLike: TypeAlias = "str | Metric | ScoreMetric | ConfusionFunction | ScoreFunction"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreMetric:
    """One metric of scores; equal, hashable and picklable like any value.

    Get one by name from :func:`get_score`, or make one with :func:`from_score_function`.

    Parameters
    ----------
    name
        The name by which :func:`get_score` knows it, scikit-learn's where it has one.
    label
        The name in words for people.
    reads
        What it takes scores for: a ``"ranking"`` of two classes, a ``"probability"``, a
        ``"grade"`` without any truth, or ``"anything"``.
    score
        What is computed; the same for a loss and its negative.
    sign
        1, or −1 for the negative of a loss.
    function
        A user's function of truth, score and weight.
    greater_is_better
        Whether the larger of two values is the better one.
    bounds
        The least and the greatest value it can take.

    Examples
    --------
    >>> get_score("log_loss").greater_is_better, get_score("neg_log_loss").greater_is_better
    (False, True)
    """

    name: str
    label: str
    reads: Reads
    score: str | None = None
    sign: int = 1
    function: ScoreFunction | None = None
    greater_is_better: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)


def _loss(score: str, label: str, most: float) -> tuple[ScoreMetric, ScoreMetric]:
    """Return a loss under scikit-learn's name of its negative, and under its own."""
    return (
        ScoreMetric(
            name=f"neg_{score}",
            label=f"negative {label}",
            reads="probability",
            score=score,
            sign=-1,
            bounds=(-most, 0.0),
        ),
        ScoreMetric(
            name=score,
            label=label,
            reads="probability",
            score=score,
            greater_is_better=False,
            bounds=(0.0, most),
        ),
    )


_UNBOUNDED = (-math.inf, math.inf)
SCORE_METRICS = {
    metric.name: metric
    for metric in (
        ScoreMetric(name="roc_auc", label="ROC AUC", reads="ranking", score="roc_auc"),
        ScoreMetric(
            name="average_precision",
            label="average precision",
            reads="ranking",
            score="average_precision",
        ),
        *_loss("log_loss", "log loss", math.inf),
        *_loss("brier_score", "Brier score", 1.0),
        ScoreMetric(
            name="mean",
            label="mean score",
            reads="grade",
            score="mean",
            bounds=_UNBOUNDED,
        ),
        ScoreMetric(
            name="mean_cost",
            label="mean cost",
            reads="grade",
            score="mean",
            greater_is_better=False,
            bounds=_UNBOUNDED,
        ),
        ScoreMetric(
            name="neg_mean",
            label="negative mean",
            reads="grade",
            score="mean",
            sign=-1,
            bounds=_UNBOUNDED,
        ),
    )
}


def score_names(*, graded: bool | None = None) -> list[str]:
    """Return the names of all metrics of scores.

    Parameters
    ----------
    graded
        True for those of grades, which have no truth, False for those that need a truth.

    Examples
    --------
    >>> score_names()[:2]
    ['roc_auc', 'average_precision']
    >>> score_names(graded=True)
    ['mean', 'mean_cost', 'neg_mean']
    """
    return [
        name
        for name, metric in SCORE_METRICS.items()
        if graded is None or graded is (metric.reads == "grade")
    ]


def get_score(metric: MetricLike) -> ScoreMetric:
    """Return a metric of scores by its name, as itself, or made of a function.

    Parameters
    ----------
    metric
        A name such as ``"roc_auc"``, a :class:`ScoreMetric`, or a function of truth, score and
        weight, see :func:`from_score_function`.

    Examples
    --------
    >>> get_score("roc_auc").label
    'ROC AUC'
    """
    if isinstance(metric, ScoreMetric):
        return metric
    if isinstance(metric, str):
        if metric not in SCORE_METRICS:
            raise UsageError(unknown_name("metric of scores", metric, SCORE_METRICS))
        return SCORE_METRICS[metric]
    if callable(metric):
        return from_score_function(cast(ScoreFunction, metric))
    raise UsageError(
        "a metric of scores must be a name, a ScoreMetric or a function of y_true, score and "
        f"weight; got {type(metric).__name__}"
    )


def from_score_function(
    function: ScoreFunction,
    *,
    name: str | None = None,
    bounds: tuple[float, float] | None = None,
    greater_is_better: bool = True,
) -> ScoreMetric:
    """Make a metric of a function of truth, score and weight.

    The function gets the truth (None if there is none), the scores of one model and one
    weight for each item, and returns one number. It is called once for each draw and
    model. The weights add up to the number of items; for the observed value all are 1.

    Parameters
    ----------
    function
        The function; one defined in a module, not a lambda, if the metric is to be pickled.
    name
        What to call it; the function's own name by default.
    bounds
        The least and the greatest value; unbounded by default.
    greater_is_better
        Whether the larger of two values is the better one.

    Examples
    --------
    >>> import numpy as np
    >>> def absolute_error(y_true, score, weight):
    ...     return np.average(abs(y_true - score), weights=weight)
    >>> metric = from_score_function(absolute_error, bounds=(0, 1), greater_is_better=False)
    >>> metric.name
    'absolute_error'
    """
    if not callable(function):
        raise UsageError(
            "function must be a function of y_true, score and weight; got "
            f"{type(function).__name__}"
        )
    own = str(getattr(function, "__name__", type(function).__name__))
    name = name or own.replace("<lambda>", "custom")
    return ScoreMetric(
        name=name,
        label=name,
        reads="anything",
        function=function,
        greater_is_better=greater_is_better,
        bounds=_bounds(bounds),
    )


def _bounds(bounds: tuple[float, float] | None) -> tuple[float, float]:
    if bounds is None:
        return (-math.inf, math.inf)
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError) as error:
        raise UsageError(f"bounds must be two numbers, (low, high); got {bounds!r}") from error
    if not low < high:
        raise UsageError(f"bounds must be a lower and a greater upper value; got {bounds!r}")
    return low, high
