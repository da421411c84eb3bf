"""Built-in metrics, and functions that create parametrised ones."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Literal, cast

import numpy as np

from outperform._missing import is_missing, unmasked
from outperform._typing import ColumnLike, CostsLike, Label
from outperform.errors import DataError, UsageError, unknown_name
from outperform.metrics import curves
from outperform.metrics import item_statistics as of_items
from outperform.metrics import sums as of_sums
from outperform.metrics import votes as of_votes
from outperform.metrics.confusion import AVERAGES, Average, Samples, miss_weight
from outperform.metrics.custom import (
    ConfusionFunction,
    Costs,
    Ordinal,
    ScoreFunction,
    as_bounds,
    name_of,
)
from outperform.metrics.metric import (
    CLASS_MARGINS,
    Averaged,
    Basis,
    Combine,
    Metric,
    Order,
    Reads,
    Share,
    Sums,
    Terms,
    Whole,
)
from outperform.metrics.weighted import Prepared, brier_losses, log_losses

_ADJECTIVES: dict[Average | Samples, str] = {
    "binary": "",
    "micro": "micro-averaged ",
    "macro": "macro-averaged ",
    "weighted": "prevalence-weighted ",
    "samples": "samples-averaged ",
}

_ACCURACY = Share("correct", (("wrong", 1.0),))


@dataclass(frozen=True, slots=True)
class _Family:
    """Common fields of the four averages of a score."""

    word: str
    of_class: Share | None
    pooled: Share | None
    bounds: tuple[float, float] = (0.0, 1.0)


_FAMILIES: dict[str, _Family] = {
    "precision": _Family("precision", Share("tp", (("fp", 1.0),)), _ACCURACY),
    "recall": _Family("recall", Share("tp", (("fn", 1.0),)), _ACCURACY),
    "specificity": _Family("specificity", Share("tn", (("fp", 1.0),)), None),
    "jaccard": _Family(
        "Jaccard index",
        Share("tp", (("fn", 1.0), ("fp", 1.0))),
        Share("correct", (("wrong", 2.0),)),
    ),
    "informedness": _Family("informedness", None, None, (-1.0, 1.0)),
}

AVERAGED = (*AVERAGES[1:], "samples")

# Other names of metrics. The average may also come first, as in macro_f1, and case and hyphens are
# ignored.
ALIASES: dict[str, tuple[str, ...]] = {
    "accuracy": ("acc", "accuracy_score"),
    "balanced_accuracy": ("balanced_acc", "balanced_accuracy_score", "bacc", "uar"),
    "precision": ("ppv", "precision_score", "positive_predictive_value"),
    "recall": ("recall_score", "sensitivity", "tpr", "true_positive_rate"),
    "specificity": ("tnr", "true_negative_rate", "selectivity"),
    "f1": ("f1_score", "f_score", "f_measure"),
    "jaccard": ("jaccard_score", "jaccard_index"),
    "informedness": ("youden", "youden_j"),
    "matthews_corrcoef": ("matthews", "mcc", "phi"),
    "cohen_kappa": ("cohen_kappa_score", "cohens_kappa", "kappa"),
    "cohen_kappa_quadratic": ("quadratic_kappa", "qwk"),
    "hamming_loss": ("hamming",),
    "roc_auc": ("auc", "auc_roc", "auroc", "roc_auc_score"),
    "average_precision": ("ap", "aupr", "auprc", "average_precision_score", "pr_auc"),
    "log_loss": ("cross_entropy", "logloss", "nll"),
    "neg_log_loss": ("neg_logloss",),
    "brier_score": ("brier", "brier_loss", "brier_score_loss"),
    "neg_brier_score": ("neg_brier",),
    "ece": ("calibration_error", "expected_calibration_error"),
    "mae": ("mean_absolute_error",),
    "neg_mean_absolute_error": ("neg_mae",),
    "mse": ("mean_squared_error",),
    "neg_mean_squared_error": ("neg_mse",),
    "rmse": ("root_mean_squared_error",),
    "neg_root_mean_squared_error": ("neg_rmse",),
    "poisson_deviance": ("mean_poisson_deviance",),
    "neg_mean_poisson_deviance": ("neg_poisson_deviance",),
    "r2": ("r2_score", "r_squared"),
    "explained_variance": ("explained_variance_score",),
    "pearson": ("pearson_r", "pearsonr"),
    "wer": ("word_error_rate",),
    "cer": ("character_error_rate",),
    "win_rate": ("winrate",),
}


def fbeta(beta: float, *, average: Average | Samples = "binary") -> Metric:
    """Return F-beta, (1+β²) tp / ((1+β²) tp + β² fn + fp).

    Parameters
    ----------
    beta
        Weight of recall relative to precision.
    average
        Average over the classes.

    Examples
    --------
    >>> fbeta(2, average="macro").name
    'f2_macro'
    >>> fbeta(1) == METRICS["f1"]
    True
    """
    if isinstance(beta, bool) or not isinstance(beta, Real) or not 0.0 < beta < math.inf:
        raise UsageError(
            f"beta must be a positive number; got {beta!r}; for 0 use precision, for infinity "
            "recall"
        )
    beta = float(beta)
    word = f"F{int(beta) if beta.is_integer() else beta}"
    share = Share("tp", (("fn", miss_weight(beta)), ("fp", miss_weight(1.0 / beta))))
    return _averaged("fbeta", word.lower(), average, _Family(word, share, _ACCURACY), beta=beta)


def cohen_kappa(*, weights: Literal["linear", "quadratic"] | None = None) -> Metric:
    """Return Cohen's kappa, optionally weighted by distance for ordered levels.

    The levels are in the order of ``labels``. Without it, numbers are sorted and text raises an
    error.

    Parameters
    ----------
    weights
        None, ``"linear"`` or ``"quadratic"``, as in scikit-learn's ``cohen_kappa_score``.

    Examples
    --------
    >>> cohen_kappa(weights="quadratic").name, cohen_kappa() == METRICS["cohen_kappa"]
    ('cohen_kappa_quadratic', True)
    """
    if weights is None:
        return METRICS["cohen_kappa"]
    if weights not in ("linear", "quadratic"):
        raise UsageError(unknown_name("weights", weights, ("linear", "quadratic")))
    return METRICS[f"cohen_kappa_{weights}"]


def from_function(
    function: ConfusionFunction,
    *,
    name: str | None = None,
    vectorized: bool = False,
    bounds: tuple[float, float] | None = None,
    greater_is_better: bool = True,
) -> Metric:
    """Create a metric from a function of a confusion array.

    The function takes one array of shape (n_classes, n_classes), with true classes in rows, and
    returns one number. For posterior draws the entries are proportions that sum to 1; for the
    observed value they are counts. So a metric must not depend on the scale.

    Parameters
    ----------
    function
        The function. To pickle the metric, use a function defined in a module, not a lambda.
    name
        Name of the metric. Default: the name of the function.
    vectorized
        Whether the function takes (n_classes, n_classes, n) and returns (n,), which is much faster.
    bounds
        Smallest and largest possible value. Default: unbounded.
    greater_is_better
        Whether larger values are better.

    Examples
    --------
    >>> def error_rate(confusion):
    ...     return 1 - confusion.trace() / confusion.sum()
    >>> metric = from_function(error_rate, bounds=(0, 1), greater_is_better=False)
    >>> metric.evaluate([[8, 2], [1, 5]])
    array(0.1875)
    """
    if not callable(function):
        raise UsageError(
            f"function must be a function of a confusion array; got {type(function).__name__}"
        )
    if str(getattr(function, "__module__", "")).partition(".")[0] == "sklearn":
        raise UsageError(
            f"{name_of(function)} takes labels, not a confusion array; pass the name of the "
            f"metric, one of {', '.join(LABELS)}"
        )
    name = name or name_of(function)
    return Metric(
        name=name,
        label=name,
        how=Whole(function=function, of="confusion", vectorized=vectorized),
        merge="terms",
        greater_is_better=greater_is_better,
        bounds=as_bounds(bounds),
    )


def cost(
    costs: CostsLike,
    *,
    labels: Sequence[Label] | None = None,
    unit: str | None = None,
    name: str = "cost",
) -> Metric:
    """Return the cost per item, Σ_jk p_jk · cost_jk; lower is better.

    Parameters
    ----------
    costs
        A square matrix with true classes in rows and predictions in columns, or costs by (truth,
        prediction), with a cost of 0 for all other pairs.
    labels
        Class of each row and column of a matrix. Default: the sorted classes of the data.
    unit
        Unit of the costs, such as ``"EUR"``.
    name
        Name of the metric.

    Examples
    --------
    >>> metric = cost({("fraud", "ok"): 100, ("ok", "fraud"): 5}, unit="EUR")
    >>> metric.label, metric.bounds, metric.greater_is_better
    ('cost (EUR per item)', (0.0, 100.0), False)
    """
    return _priced(Costs.from_param(costs, labels=labels, unit=unit), name, greater=False)


def utility(
    utilities: CostsLike,
    *,
    labels: Sequence[Label] | None = None,
    unit: str | None = None,
    name: str = "utility",
) -> Metric:
    """Return the utility per item, Σ_jk p_jk · utility_jk; higher is better.

    Parameters
    ----------
    utilities
        Like the costs of :func:`cost`; negative for harmful predictions.
    labels
        Class of each row and column of a matrix.
    unit
        Unit of the utilities.
    name
        Name of the metric.

    Examples
    --------
    >>> utility([[0, -5], [-100, 20]], unit="EUR").bounds
    (-100.0, 20.0)
    """
    return _priced(Costs.from_param(utilities, labels=labels, unit=unit), name, greater=True)


def _priced(costs: Costs, name: str, *, greater: bool) -> Metric:
    return Metric(
        name=name,
        label=f"{name} {costs.per_item if costs.unit is None else f'({costs.per_item})'}",
        how=Whole(function=costs, of="confusion", vectorized=True),
        merge="terms",
        greater_is_better=greater,
        bounds=costs.bounds,
    )


def roc_auc(*, max_fpr: float | None = None) -> Metric:
    """Return ROC AUC, or partial AUC up to a false positive rate.

    Partial AUC is standardised as in scikit-learn's ``roc_auc_score``: ½ for no skill, 1 at best.

    Parameters
    ----------
    max_fpr
        Maximum false positive rate, between 0 and 1 (exclusive). None means the full area.

    Examples
    --------
    >>> roc_auc(max_fpr=0.1).name
    'roc_auc_max_fpr_0.1'
    >>> roc_auc().name
    'roc_auc'
    """
    if max_fpr is None or max_fpr == 1:
        return _ordered("roc_auc", "ROC AUC", "ranking", curves.area_under_curve)
    level = _rate("max_fpr", max_fpr)
    return _ordered(
        f"roc_auc_max_fpr_{level:g}",
        f"ROC AUC to FPR {level:g}",
        "ranking",
        curves.partial_area,
        level,
    )


def sensitivity_at(*, specificity: float) -> Metric:
    """Return the highest sensitivity over thresholds with at least this specificity.

    Thresholds are the scores themselves: an item is positive if its score is at least the
    threshold. There is no interpolation. Every draw chooses its own threshold, so the interval
    includes the uncertainty of this choice.

    Parameters
    ----------
    specificity
        Minimum share of negatives below the threshold, between 0 and 1 (exclusive).

    Examples
    --------
    >>> sensitivity_at(specificity=0.95).name
    'sensitivity_at_specificity_0.95'
    """
    return _rate_at("sensitivity", "specificity", specificity)


def specificity_at(*, sensitivity: float) -> Metric:
    """Return the highest specificity over thresholds with at least this sensitivity.

    Like :func:`sensitivity_at`, with the two rates swapped.

    Parameters
    ----------
    sensitivity
        Minimum share of positives at or above the threshold, between 0 and 1 (exclusive).

    Examples
    --------
    >>> specificity_at(sensitivity=0.9).label
    'specificity at sensitivity 0.9'
    """
    return _rate_at("specificity", "sensitivity", sensitivity)


def _rate_at(rate: curves.Rate, other: str, value: float) -> Metric:
    level = _rate(other, value)
    return _ordered(
        f"{rate}_at_{other}_{level:g}",
        f"{rate} at {other} {level:g}",
        "ranking",
        curves.rate_at,
        level,
        rate,
    )


def _ordered(
    name: str, label: str, reads: Reads, prepare: Callable[..., Prepared], *settings: float | str
) -> Metric:
    how = Order(basis=Basis(reads=reads), prepare=prepare, settings=settings)
    return Metric(name=name, label=label, how=how, merge="rows")


def _rate(name: str, value: float) -> float:
    if not isinstance(value, bool) and isinstance(value, Real):
        level = float(f"{float(value):g}")  # as in the metric's name
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


def ece(*, bins: int = BINS, debiased: bool = False) -> Metric:
    """Return the expected calibration error: the mean over bins of ``|frequency − probability|``.

    Bins have equal width and include their upper end, as in scikit-learn's ``calibration_curve``.
    With two classes, the probability of the positive class is used; with several, the probability
    of the most probable label and whether that label is right.

    Parameters
    ----------
    bins
        Number of bins.
    debiased
        Whether to subtract the bias from noise within bins (Kumar et al., 2019). The result may
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
) -> Metric:
    """Return one part of the binned Brier score: reliability − resolution + uncertainty.

    Classes and bins are as in :func:`ece`. If all items of a bin have the same probability, the
    parts add up to the Brier score.

    Parameters
    ----------
    part
        Reliability (the mean squared calibration error), resolution or uncertainty.
    bins
        Number of bins.
    debiased
        Whether to correct for noise within bins (Ferro and Fricker, 2012). For the reliability, the
        result is the debiased squared calibration error of Kumar et al. (2019).

    Examples
    --------
    >>> brier_part("reliability", debiased=True).greater_is_better
    False
    """
    known = [name.removeprefix("brier_") for name in PARTS if name != "ece"]
    if part not in known:
        raise UsageError(unknown_name("part", part, known))
    return of_bins(f"brier_{part}", bins, debiased=debiased)


def of_bins(name: str, bins: int, *, debiased: bool) -> Metric:
    """Return a binned calibration metric."""
    if isinstance(bins, bool) or not isinstance(bins, int) or not 1 <= bins <= _MOST_BINS:
        raise UsageError(f"bins must be an integer from 1 to {_MOST_BINS:,}; got {bins!r}")
    word, greater = PARTS[name]
    settings = (name.removeprefix("brier_"), bins, debiased)
    name += "_debiased" if debiased else ""
    return Metric(
        name=name if bins == BINS else f"{name}_{bins}",
        label=f"debiased {word}" if debiased else word,
        how=Order(basis=Basis(reads="probability"), prepare=curves.Binned.of, settings=settings),
        merge="never" if debiased else "rows",  # the noise depends on sums of squared weights
        greater_is_better=greater,
        bounds=(-1.0, 1.0) if debiased else (0.0, 1.0),
    )


_MOST_BINS = 10_000


def _of_sums(
    name: str,
    label: str,
    sums: Sums,
    bounds: tuple[float, float] = (0.0, 1.0),
    *,
    greater_is_better: bool = True,
) -> Metric:
    return Metric(
        name=name,
        label=label,
        how=sums,
        merge="terms",
        bounds=bounds,
        greater_is_better=greater_is_better,
    )


def _of_errors(name: str, label: str, sums: Sums) -> Metric:
    return _of_sums(name, label, sums, (0.0, math.inf), greater_is_better=False)


UNBOUNDED = (-math.inf, math.inf)


def _quantile(name: str, label: str, level: float, *, greater_is_better: bool) -> Metric:
    how = Order(
        basis=Basis(reads="grade"),
        prepare=of_sums.weighted_quantile,
        settings=(level,),
        level=level,
    )
    return Metric(
        name=name,
        label=label,
        how=how,
        merge="rows",
        bounds=UNBOUNDED,
        greater_is_better=greater_is_better,
    )


def from_score_function(
    function: ScoreFunction,
    *,
    name: str | None = None,
    bounds: tuple[float, float] | None = None,
    greater_is_better: bool = True,
) -> Metric:
    """Create a metric from a function of truth, score and weight.

    The function takes the truth (None if there is none), the scores of one model and one weight per
    item, and returns one number. It is called once per draw and model. The weights sum to the
    number of items; for the observed value all are 1.

    Parameters
    ----------
    function
        The function. To pickle the metric, use a function defined in a module, not a lambda.
    name
        Name of the metric. Default: the name of the function.
    bounds
        Smallest and largest possible value. Default: unbounded.
    greater_is_better
        Whether larger values are better.

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
    return Metric(
        name=name,
        label=name,
        how=Whole(function=function, of="rows"),
        merge="never",
        greater_is_better=greater_is_better,
        bounds=as_bounds(bounds),
    )


def from_statistics_function(
    function: Combine,
    *,
    name: str | None = None,
    bounds: tuple[float, float] | None = None,
    greater_is_better: bool = True,
) -> Metric:
    """Create a metric from a function of weighted means of statistics.

    The function takes an array ``(n_statistics, n_draws)`` and returns one number per draw. The
    observed value uses a single draw with equal weights.

    Parameters
    ----------
    function
        The function. To pickle the metric, use a function defined in a module, not a lambda.
    name
        Name of the metric. Default: the name of the function.
    bounds
        Smallest and largest possible value. Default: unbounded.
    greater_is_better
        Whether larger values are better.

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
    sums = Sums(basis=Basis(), combine=function, own=True)
    return _of_sums(name, name, sums, as_bounds(bounds), greater_is_better=greater_is_better)


def pinball(alpha: float) -> Metric:
    """Return the mean pinball loss of quantile predictions.

    Parameters
    ----------
    alpha
        Level of the quantile, between 0 and 1.

    Examples
    --------
    >>> pinball(0.9).name
    'pinball_0.9'
    """
    sums = of_sums.regression(of_sums.Pinball(_rate("alpha", alpha)))
    return _of_errors(f"pinball_{alpha:g}", f"pinball loss at {alpha:g}", sums)


def quantile(level: float, *, greater_is_better: bool = False) -> Metric:
    """Return a quantile of grades or costs: the smallest value not exceeded by a given share.

    Parameters
    ----------
    level
        The share, between 0 and 1.
    greater_is_better
        Whether larger values are better; False for latencies and costs.

    Examples
    --------
    >>> quantile(0.75).name
    'quantile_0.75'
    """
    level = _rate("level", level)
    return _quantile(
        f"quantile_{level:g}",
        f"{level:g} quantile",
        level,
        greater_is_better=greater_is_better,
    )


def gap(rate: str, by: ColumnLike, *, pos_label: Label = 1) -> Metric:
    """Return the largest difference of a rate between groups of items; lower is better.

    Parameters
    ----------
    rate
        ``"accuracy"``, ``"recall"``, ``"precision"``, ``"f1"``, ``"selection_rate"`` or ``"mae"``.
    by
        Group of each item, such as its language, in the order of the items.
    pos_label
        Positive class, if the rate has one.

    Examples
    --------
    >>> metric = gap("accuracy", ["de", "de", "fr", "fr"])
    >>> metric.label
    'gap of accuracy between 2 groups'
    """
    if rate not in of_items.RATES:
        raise UsageError(unknown_name("rate", rate, of_items.RATES))
    if any(is_missing(group) for group in unmasked(by)):
        raise DataError("every item must have a group; by contains missing values")
    names, codes = np.unique(np.asarray(by), return_inverse=True)
    if len(names) < 2:
        raise UsageError("a gap needs at least two groups")
    read = of_items.OfGroups(rate, tuple(codes.ravel().tolist()), len(names), pos_label)
    columns = tuple(f"{part} of {name}" for name in names for part in ("top", "bottom"))
    return _of_sums(
        f"{rate}_gap",
        f"gap of {rate} between {len(names)} groups",
        Sums(basis=Basis(names=columns, read=read), combine=of_items.gap_between),
        (0.0, math.inf if rate == "mae" else 1.0),
        greater_is_better=False,
    )


def _averaged(
    score: str,
    name: str,
    average: Average | Samples,
    family: _Family,
    *,
    beta: float | None = None,
) -> Metric:
    if average not in _ADJECTIVES:
        raise UsageError(unknown_name("average", average, _ADJECTIVES))
    # The weights of weighted recall equal its denominators, so it reduces to accuracy.
    pooled = average == "micro" or (score, average) == ("recall", "weighted")
    return _of_margins(
        name if average == "binary" else f"{name}_{average}",
        _ADJECTIVES[average] + family.word,
        Averaged(score, average, beta),
        family.bounds,
        share=family.of_class if average == "binary" else family.pooled if pooled else None,
    )


def _of_margins(
    name: str,
    label: str,
    combine: Averaged,
    bounds: tuple[float, float] = (0.0, 1.0),
    *,
    share: Share | None = None,
    greater_is_better: bool = True,
) -> Metric:
    sums = Sums(basis=CLASS_MARGINS, combine=combine, parts=share)
    return _of_sums(name, label, sums, bounds, greater_is_better=greater_is_better)


def _of_labels() -> Iterator[Metric]:
    yield _of_margins("accuracy", "accuracy", Averaged("accuracy"), share=_ACCURACY)
    yield _of_margins("balanced_accuracy", "balanced accuracy", Averaged("balanced_accuracy"))
    for average in AVERAGES:
        yield fbeta(1.0, average=average)
    for score, family in _FAMILIES.items():
        for average in AVERAGES:
            yield _averaged(score, score, average, family)
    for score, label in (
        ("matthews_corrcoef", "Matthews correlation"),
        ("cohen_kappa", "Cohen's kappa"),
    ):
        yield _of_margins(score, label, Averaged(score), (-1.0, 1.0))
    yield fbeta(1.0, average="samples")
    for score in ("precision", "recall", "jaccard"):
        yield _averaged(score, score, "samples", _FAMILIES[score])
    hamming = Averaged("hamming_loss", "samples")
    yield _of_margins("hamming_loss", "Hamming loss", hamming, greater_is_better=False)
    weights: tuple[Literal["linear", "quadratic"], ...] = ("linear", "quadratic")
    for weighting in weights:
        yield Metric(
            name=f"cohen_kappa_{weighting}",
            label=f"Cohen's kappa, {weighting} weights",
            how=Whole(function=Ordinal(weighting), of="confusion", vectorized=True),
            merge="terms",
            bounds=(-1.0, 1.0),
        )
    yield Metric(
        name="ordinal_mae",
        label="mean absolute error of levels",
        how=Whole(function=Ordinal("mae"), of="confusion", vectorized=True),
        merge="terms",
        greater_is_better=False,
        bounds=(0.0, math.inf),
    )


def _loss(
    name: str, label: str, sums: Sums, most: float = math.inf, *, negative: str | None = None
) -> tuple[Metric, Metric]:
    """Return a loss, under its own name and under scikit-learn's name of its negative."""
    return (
        _of_sums(
            f"neg_{negative or name}", f"negative {label}", replace(sums, sign=-1), (-most, 0.0)
        ),
        _of_sums(name, label, sums, (0.0, most), greater_is_better=False),
    )


def _mean_of(reads: Reads, terms: Terms | None = None) -> Sums:
    return Sums(basis=Basis(reads=reads, terms=terms), combine=of_sums.only)


_MEAN = _mean_of("grade")
_BUILT_IN: tuple[Metric, ...] = (
    *_of_labels(),
    roc_auc(),
    _ordered("average_precision", "average precision", "ranking", curves.average_precision),
    *(
        _ordered(name, label, "classes", curves.ClassAreas.of, name)
        for name, label in (
            ("roc_auc_ovr", "ROC AUC, one class against the rest"),
            ("roc_auc_ovo", "ROC AUC, one class against another"),
            ("roc_auc_ovr_weighted", "prevalence-weighted ROC AUC, one class against the rest"),
            ("roc_auc_ovo_weighted", "prevalence-weighted ROC AUC, one class against another"),
        )
    ),
    *_loss("log_loss", "log loss", _mean_of("probability", log_losses)),
    *_loss("brier_score", "Brier score", _mean_of("probability", brier_losses), 1.0),
    ece(),
    ece(debiased=True),
    *(of_bins(name, BINS, debiased=False) for name in PARTS if name != "ece"),
    _of_sums("mean", "mean score", _MEAN, UNBOUNDED),
    _of_sums("mean_cost", "mean cost", _MEAN, UNBOUNDED, greater_is_better=False),
    _of_sums("neg_mean", "negative mean", replace(_MEAN, sign=-1), UNBOUNDED),
    _quantile("median", "median score", 0.5, greater_is_better=True),
    *(
        _quantile(f"p{n}", f"{n}th percentile", n / 100, greater_is_better=False)
        for n in (50, 90, 95, 99)
    ),
    *_loss("mae", "mean absolute error", of_sums.MAE, negative="mean_absolute_error"),
    *_loss("mse", "mean squared error", of_sums.MSE, negative="mean_squared_error"),
    *_loss(
        "rmse",
        "root mean squared error",
        of_sums.RMSE,
        negative="root_mean_squared_error",
    ),
    *_loss(
        "poisson_deviance",
        "mean Poisson deviance",
        of_sums.POISSON,
        negative="mean_poisson_deviance",
    ),
    _of_sums("r2", "R²", of_sums.R2, (-math.inf, 1.0)),
    _of_sums(
        "explained_variance",
        "explained variance",
        of_sums.EXPLAINED_VARIANCE,
        (-math.inf, 1.0),
    ),
    _of_sums("pearson", "Pearson correlation", of_sums.CORRELATION, (-1.0, 1.0)),
    _of_errors("wer", "word error rate", of_items.WER),
    _of_errors("cer", "character error rate", of_items.CER),
    _of_errors("ter", "TER", of_items.TER),
    _of_sums("bleu", "BLEU", of_items.BLEU, (0.0, 100.0)),
    _of_sums("chrf", "chrF", of_items.CHRF, (0.0, 100.0)),
    _of_sums("dice", "Dice over all pixels", of_sums.DICE),
    _of_sums("iou", "IoU over all pixels", of_sums.IOU),
    _of_sums("dice_mean", "mean Dice", of_sums.MEAN_DICE),
    _of_sums("iou_mean", "mean IoU", of_sums.MEAN_IOU),
    _of_sums("win_rate", "win rate", of_votes.WIN_RATE),
    _of_sums("elo", "Elo rating", of_votes.ELO, UNBOUNDED),
    _of_sums("first_place", "win rate of the model shown first", of_votes.FIRST_PLACE),
    _of_sums("judged_mean", "mean grade", of_sums.JUDGED_MEAN, UNBOUNDED),
    _of_sums("people_mean", "mean human grade", of_sums.PEOPLE_MEAN, UNBOUNDED),
    _of_sums("judge_mean", "mean judge grade", of_sums.JUDGE_MEAN, UNBOUNDED),
)
METRICS = {
    metric.name: replace(metric, aliases=ALIASES.get(metric.name, ())) for metric in _BUILT_IN
}
LABELS = [
    name
    for name, metric in METRICS.items()
    if metric.reads == "labels" and metric.needs == "margins" and not metric.per_item
]
NAMES = {alias: name for name, aliases in ALIASES.items() for alias in aliases}

_LABELS = {
    "ndcg": "nDCG",
    "map": "mean average precision",
    "mrr": "mean reciprocal rank",
    "hit": "hit rate",
}


def _of_query(name: str, kind: str, k: str | None) -> Metric:
    ranked = of_items.Ranked(kind, None if k is None else int(k))
    label = _LABELS.get(kind, kind) + ("" if k is None else f"@{k}")
    sums = Sums(basis=Basis(names=(name,), read=ranked), combine=of_sums.only)
    return _of_sums(name, label, sums)


def _of_answers(name: str, kind: str, k: str) -> Metric:
    repeated = of_items.Repeated(kind, int(k))
    sums = Sums(basis=Basis(names=(name,), read=repeated), combine=of_sums.only)
    return _of_sums(name, name, sums)


_NUMBER, _K = r"(\d*\.?\d+(?:e-?\d+)?)", r"([1-9]\d*)"


def _fbeta_of(match: re.Match[str]) -> Metric | None:
    beta, average = float(match[1]), cast(Average | Samples, match[2] or "binary")
    return fbeta(beta, average=average) if 0.0 < beta < math.inf else None


PATTERNS: tuple[tuple[str, Callable[[re.Match[str]], Metric | None]], ...] = (
    (rf"f(\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?:_({'|'.join(AVERAGED)}))?", _fbeta_of),
    (
        rf"(ndcg|map|mrr|recall|precision|hit)@{_K}",
        lambda match: _of_query(match[0], match[1], match[2]),
    ),
    ("ndcg|map|mrr", lambda match: _of_query(match[0], match[0], None)),
    (rf"(pass@|pass\^|maj@){_K}", lambda match: _of_answers(match[0], match[1], match[2])),
    (f"pinball_{_NUMBER}", lambda match: pinball(float(match[1]))),
    (f"quantile_{_NUMBER}", lambda match: quantile(float(match[1]))),
    (f"roc_auc_max_fpr_{_NUMBER}", lambda match: roc_auc(max_fpr=float(match[1]))),
    (
        f"sensitivity_at_specificity_{_NUMBER}",
        lambda match: sensitivity_at(specificity=float(match[1])),
    ),
    (
        f"specificity_at_sensitivity_{_NUMBER}",
        lambda match: specificity_at(sensitivity=float(match[1])),
    ),
    (
        rf"({'|'.join(PARTS)})(_debiased)?(?:_(\d+))?",
        lambda match: of_bins(match[1], int(match[3] or BINS), debiased=bool(match[2])),
    ),
)
