"""A metric of scores, and the ones that are made to measure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Literal, TypeAlias

import numpy as np

from outperform._missing import is_missing, unmasked
from outperform._typing import ColumnLike, Label
from outperform.errors import DataError, UsageError, unknown_name
from outperform.metrics import item_statistics as of_items
from outperform.metrics import sums as of_sums
from outperform.metrics.custom import ConfusionFunction, ScoreFunction, as_bounds, name_of
from outperform.metrics.metric import Metric
from outperform.metrics.sums import Combine, OfSums

Reads: TypeAlias = Literal["ranking", "classes", "probability", "grade", "statistics", "anything"]


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
        ``"classes"``, a ``"probability"``, a ``"grade"`` without any truth, ``"statistics"`` that
        are added up, or ``"anything"``.
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
    sums
        How it is made of sums over items, where it is.
    level
        The rate at which or up to which a curve is read, or the share below a quantile.
    bins
        The number of bins of probabilities; None elsewhere.

    Examples
    --------
    >>> pinball(0.9).greater_is_better, roc_auc().greater_is_better
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
    sums: OfSums | None = None
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
    >>> roc_auc().name
    'roc_auc'
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
    if not isinstance(value, bool) and isinstance(value, Real):
        level = float(f"{float(value):g}")  # as the metric's name has it
        if 0.0 < level < 1.0:
            return level
    raise UsageError(f"{name} must be a number above 0 and below 1; got {value!r}")


BINS = 15
PARTS = {
    "ece": ("expected calibration error", False),
    "brier_reliability": ("reliability of the Brier score", False),
    "brier_resolution": ("resolution of the Brier score", True),
    "brier_uncertainty": ("uncertainty of the Brier score", True),
}


def ece(*, bins: int = BINS, debiased: bool = False) -> ScoreMetric:
    """Return the expected calibration error, the mean over bins of how far frequencies are off.

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
    >>> ece(bins=10, debiased=True).name
    'ece_debiased_10'
    """
    return of_bins("ece", bins, debiased=debiased)


def brier_part(
    part: Literal["reliability", "resolution", "uncertainty"],
    *,
    bins: int = BINS,
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
    known = [name.removeprefix("brier_") for name in PARTS if name != "ece"]
    if part not in known:
        raise UsageError(unknown_name("part", part, known))
    return of_bins(f"brier_{part}", bins, debiased=debiased)


def of_bins(score: str, bins: int, *, debiased: bool) -> ScoreMetric:
    """Return a metric of calibration by bins."""
    if isinstance(bins, bool) or not isinstance(bins, int) or not 1 <= bins <= _MOST_BINS:
        raise UsageError(f"bins must be a whole number from 1 to {_MOST_BINS:,}; got {bins!r}")
    word, greater = PARTS[score]
    score += "_debiased" if debiased else ""
    return ScoreMetric(
        name=score if bins == BINS else f"{score}_{bins}",
        label=f"debiased {word}" if debiased else word,
        reads="probability",
        score=score,
        greater_is_better=greater,
        bounds=(-1.0, 1.0) if debiased else (0.0, 1.0),
        bins=bins,
    )


_MOST_BINS = 10_000


def of_statistics(
    name: str,
    label: str,
    sums: OfSums,
    bounds: tuple[float, float] = (0.0, 1.0),
    *,
    greater_is_better: bool = True,
) -> ScoreMetric:
    """Return a metric of sums over items."""
    return ScoreMetric(
        name=name,
        label=label,
        reads="statistics",
        score=name,
        bounds=bounds,
        sums=sums,
        greater_is_better=greater_is_better,
    )


def of_errors(name: str, label: str, sums: OfSums) -> ScoreMetric:
    """Return a rate of errors, from 0 up."""
    return of_statistics(name, label, sums, (0.0, math.inf), greater_is_better=False)


UNBOUNDED = (-math.inf, math.inf)


def quantile_of(name: str, label: str, level: float, *, greater_is_better: bool) -> ScoreMetric:
    """Return a quantile of grades under some name."""
    return ScoreMetric(
        name=name,
        label=label,
        reads="grade",
        score="quantile",
        level=level,
        greater_is_better=greater_is_better,
        bounds=UNBOUNDED,
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
    name = name or name_of(function)
    return ScoreMetric(
        name=name,
        label=name,
        reads="anything",
        function=function,
        greater_is_better=greater_is_better,
        bounds=as_bounds(bounds),
    )


def from_statistics_function(
    function: Combine,
    *,
    name: str | None = None,
    bounds: tuple[float, float] | None = None,
    greater_is_better: bool = True,
) -> ScoreMetric:
    """Make a metric of a function of the weighted means of statistics.

    The function gets an array ``(n_statistics, n_draws)`` and returns one number a draw. For the
    observed value there is one draw, in which all weights are equal.

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
    >>> def words_per_answer(means):
    ...     return means[0] / means[1]
    >>> from_statistics_function(words_per_answer, greater_is_better=False).name
    'words_per_answer'
    """
    if not callable(function):
        raise UsageError(
            f"function must be a function of means of statistics; got {type(function).__name__}"
        )
    name = name or name_of(function)
    return ScoreMetric(
        name=name,
        label=name,
        reads="statistics",
        sums=OfSums(columns=(), combine=function, own=True),
        greater_is_better=greater_is_better,
        bounds=as_bounds(bounds),
    )


def pinball(alpha: float) -> ScoreMetric:
    """Return the mean pinball loss of predictions of a quantile.

    Parameters
    ----------
    alpha
        Which quantile, between 0 and 1.

    Examples
    --------
    >>> pinball(0.9).name
    'pinball_0.9'
    """
    sums = of_sums.regression(of_sums.Pinball(_rate("alpha", alpha)))
    return of_errors(f"pinball_{alpha:g}", f"pinball loss at {alpha:g}", sums)


def quantile(level: float, *, greater_is_better: bool = False) -> ScoreMetric:
    """Return a quantile of grades or costs: the least value that so many do not exceed.

    Parameters
    ----------
    level
        Their share, between 0 and 1.
    greater_is_better
        Whether the larger of two values is the better one; it is not for latencies and costs.

    Examples
    --------
    >>> quantile(0.75).name
    'quantile_0.75'
    """
    level = _rate("level", level)
    return quantile_of(
        f"quantile_{level:g}",
        f"{level:g} quantile",
        level,
        greater_is_better=greater_is_better,
    )


def gap(rate: str, by: ColumnLike, *, pos_label: Label = 1) -> ScoreMetric:
    """Return how far apart a rate is between groups of items; less is better.

    Parameters
    ----------
    rate
        ``"accuracy"``, ``"recall"``, ``"precision"``, ``"f1"``, ``"selection_rate"`` or ``"mae"``.
    by
        The group of each item, such as its language, in the order of the items.
    pos_label
        The positive class, where the rate has one.

    Examples
    --------
    >>> metric = gap("accuracy", ["de", "de", "fr", "fr"])
    >>> metric.label
    'gap of accuracy between 2 groups'
    """
    if rate not in of_items.RATES:
        raise UsageError(unknown_name("rate", rate, of_items.RATES))
    if any(is_missing(one) for one in unmasked(by)):
        raise DataError("every item must have a group; some of by are missing")
    names, codes = np.unique(np.asarray(by), return_inverse=True)
    if len(names) < 2:
        raise UsageError("a gap is between groups, and there are fewer than two")
    read = of_items.OfGroups(rate, tuple(codes.ravel().tolist()), len(names), pos_label)
    columns = tuple(f"{part} of {name}" for name in names for part in ("top", "bottom"))
    return of_statistics(
        f"{rate}_gap",
        f"gap of {rate} between {len(names)} groups",
        OfSums(columns=columns, combine=of_items.gap_between, read=read),
        (0.0, math.inf if rate == "mae" else 1.0),
        greater_is_better=False,
    )
