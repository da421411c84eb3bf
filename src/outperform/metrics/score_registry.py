"""The registry of score metrics, by scikit-learn's scorer names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Literal, TypeAlias, cast

from outperform.errors import UsageError, unknown_name
from outperform.metrics.custom import ConfusionFunction, ScoreFunction
from outperform.metrics.metric import Metric

Reads: TypeAlias = Literal["ranking", "classes", "probability", "grade", "anything"]


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
        What it takes scores for: a ``"ranking"`` of two classes, one of each of several
        ``"classes"``, a ``"probability"``, a ``"grade"`` without any truth, or ``"anything"``.
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
    level
        The rate up to which, or at which, a curve is read; None elsewhere.
    bins
        The number of bins of probabilities; None elsewhere.

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
    level: float | None = None
    bins: int | None = None


def roc_auc(*, max_fpr: float | None = None) -> ScoreMetric:
    """Return ROC AUC, or the part of it up to a false positive rate.

    The part is standardized as in scikit-learn's ``roc_auc_score``: ½ without skill, 1 at best.

    Parameters
    ----------
    max_fpr
        The false positive rate, above 0 and below 1; None for the whole area.

    Examples
    --------
    >>> roc_auc(max_fpr=0.1).name
    'roc_auc_max_fpr_0.1'
    >>> roc_auc() == get_score("roc_auc")
    True
    """
    if max_fpr is None or max_fpr == 1:
        return ScoreMetric(name="roc_auc", label="ROC AUC", reads="ranking", score="roc_auc")
    level = _rate("max_fpr", max_fpr)
    return ScoreMetric(
        name=f"roc_auc_max_fpr_{level:g}",
        label=f"ROC AUC to FPR {level:g}",
        reads="ranking",
        score="partial_roc_auc",
        level=level,
    )


def sensitivity_at(*, specificity: float) -> ScoreMetric:
    """Return the largest sensitivity of the thresholds with at least this specificity.

    Thresholds are the scores themselves: an item is positive if its score is as high or higher.
    Nothing is interpolated between them. Every draw chooses its threshold anew, so that the
    interval holds the uncertainty of the choice.

    Parameters
    ----------
    specificity
        The least share of negatives below the threshold, above 0 and below 1.

    Examples
    --------
    >>> sensitivity_at(specificity=0.95).name
    'sensitivity_at_specificity_0.95'
    """
    return _rate_at("sensitivity", "specificity", specificity)


def specificity_at(*, sensitivity: float) -> ScoreMetric:
    """Return the largest specificity of the thresholds with at least this sensitivity.

    As :func:`sensitivity_at`, the other way round.

    Parameters
    ----------
    sensitivity
        The least share of positives at the threshold or above it, above 0 and below 1.

    Examples
    --------
    >>> specificity_at(sensitivity=0.9).label
    'specificity at sensitivity 0.9'
    """
    return _rate_at("specificity", "sensitivity", sensitivity)


def _rate_at(score: str, other: str, value: float) -> ScoreMetric:
    level = _rate(other, value)
    return ScoreMetric(
        name=f"{score}_at_{other}_{level:g}",
        label=f"{score} at {other} {level:g}",
        reads="ranking",
        score=score,
        level=level,
    )


def _rate(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < value < 1.0:
        raise UsageError(f"{name} must be a number above 0 and below 1; got {value!r}")
    return float(f"{float(value):g}")


_BINS = 15
_PARTS = {
    "ece": ("expected calibration error", False),
    "brier_reliability": ("reliability of the Brier score", False),
    "brier_resolution": ("resolution of the Brier score", True),
    "brier_uncertainty": ("uncertainty of the Brier score", True),
}


def ece(*, bins: int = _BINS, debiased: bool = False) -> ScoreMetric:
    """Return the expected calibration error, Σ share · |frequency − mean probability| over bins.

    Bins have the same width and hold their upper end, as in scikit-learn's ``calibration_curve``.
    Two classes are read by the probability of the positive one; of several, it is the label with
    the highest probability and whether it is right.

    Parameters
    ----------
    bins
        How many.
    debiased
        Whether to take off what noise within the bins adds (Kumar and others, 2019). It may
        then be negative.

    Examples
    --------
    >>> ece() == get_score("ece"), ece(bins=10, debiased=True).name
    (True, 'ece_debiased_10')
    """
    return _of_bins("ece", bins, debiased=debiased)


def brier_part(
    part: Literal["reliability", "resolution", "uncertainty"],
    *,
    bins: int = _BINS,
    debiased: bool = False,
) -> ScoreMetric:
    """Return a part of the Brier score: reliability − resolution + uncertainty, by bins.

    Classes and bins are those of :func:`ece`. Where all items of a bin have the same probability,
    the parts add up to the Brier score.

    Parameters
    ----------
    part
        Reliability (the mean squared calibration error), resolution or uncertainty.
    bins
        How many.
    debiased
        Whether to correct for noise within the bins (Ferro and Fricker, 2012); of the
        reliability this is the debiased squared calibration error of Kumar and others (2019).

    Examples
    --------
    >>> brier_part("reliability", debiased=True).greater_is_better
    False
    """
    known = [name.removeprefix("brier_") for name in _PARTS if name != "ece"]
    if part not in known:
        raise UsageError(unknown_name("part", part, known))
    return _of_bins(f"brier_{part}", bins, debiased=debiased)


def _of_bins(score: str, bins: int, *, debiased: bool) -> ScoreMetric:
    if isinstance(bins, bool) or not isinstance(bins, int) or not 1 <= bins <= _MOST_BINS:
        raise UsageError(f"bins must be a whole number from 1 to {_MOST_BINS:,}; got {bins!r}")
    word, greater = _PARTS[score]
    score += "_debiased" if debiased else ""
    return ScoreMetric(
        name=score if bins == _BINS else f"{score}_{bins}",
        label=f"debiased {word}" if debiased else word,
        reads="probability",
        score=score,
        greater_is_better=greater,
        bounds=(-1.0, 1.0) if debiased else (0.0, 1.0),
        bins=bins,
    )


_MOST_BINS = 10_000
_NUMBER = r"(\d*\.?\d+(?:e-?\d+)?)"
_PATTERNS: tuple[tuple[str, Callable[[re.Match[str]], ScoreMetric]], ...] = (
    (f"roc_auc_max_fpr_{_NUMBER}", lambda found: roc_auc(max_fpr=float(found[1]))),
    (
        f"sensitivity_at_specificity_{_NUMBER}",
        lambda found: sensitivity_at(specificity=float(found[1])),
    ),
    (
        f"specificity_at_sensitivity_{_NUMBER}",
        lambda found: specificity_at(sensitivity=float(found[1])),
    ),
    (
        rf"({'|'.join(_PARTS)})(_debiased)?(?:_(\d+))?",
        lambda found: _of_bins(found[1], int(found[3] or _BINS), debiased=bool(found[2])),
    ),
)


def known_score(name: str) -> ScoreMetric | None:
    """Return a metric of scores by its name, also one with a number in it; None if unknown.

    Examples
    --------
    >>> known_score("sensitivity_at_specificity_0.95").level
    0.95
    """
    if name in SCORE_METRICS:
        return SCORE_METRICS[name]
    for pattern, make in _PATTERNS:
        found = re.fullmatch(pattern, name)
        if found is not None:
            return make(found)
    return None


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
        roc_auc(),
        ScoreMetric(
            name="average_precision",
            label="average precision",
            reads="ranking",
            score="average_precision",
        ),
        *(
            ScoreMetric(name=name, label=label, reads="classes", score=name)
            for name, label in (
                ("roc_auc_ovr", "ROC AUC, one class against the rest"),
                ("roc_auc_ovo", "ROC AUC, one class against another"),
                ("roc_auc_ovr_weighted", "prevalence-weighted ROC AUC, one class against the rest"),
                ("roc_auc_ovo_weighted", "prevalence-weighted ROC AUC, one class against another"),
            )
        ),
        *_loss("log_loss", "log loss", math.inf),
        *_loss("brier_score", "Brier score", 1.0),
        ece(),
        ece(debiased=True),
        *(_of_bins(name, _BINS, debiased=False) for name in _PARTS if name != "ece"),
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
        known = known_score(metric)
        if known is None:
            raise UsageError(unknown_name("metric of scores", metric, SCORE_METRICS))
        return known
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
