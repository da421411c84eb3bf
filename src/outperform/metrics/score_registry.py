"""The registry of score metrics, by scikit-learn's scorer names."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast

import numpy as np

from outperform._typing import ColumnLike, FloatArray, Label
from outperform.errors import UsageError, unknown_name
from outperform.metrics import item_statistics as of_items
from outperform.metrics import sums as of_sums
from outperform.metrics.custom import ConfusionFunction, ScoreFunction
from outperform.metrics.metric import Metric
from outperform.metrics.sums import Combine, OfSums

Reads: TypeAlias = Literal["ranking", "probability", "grade", "statistics", "anything"]


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
        ``"grade"`` without any truth, ``"statistics"`` that are added up, or ``"anything"``.
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
        The share of items below a quantile.

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
    sums: OfSums | None = None
    level: float | None = None


def _loss(
    score: str,
    label: str,
    most: float = math.inf,
    *,
    sums: OfSums | None = None,
    named: str | None = None,
) -> tuple[ScoreMetric, ScoreMetric]:
    """Return a loss under scikit-learn's name of its negative, and under its own."""
    reads: Reads = "probability" if sums is None else "statistics"
    return (
        ScoreMetric(
            name=f"neg_{named or score}",
            label=f"negative {label}",
            reads=reads,
            score=score,
            sign=-1,
            bounds=(-most, 0.0),
            sums=sums,
        ),
        ScoreMetric(
            name=score,
            label=label,
            reads=reads,
            score=score,
            greater_is_better=False,
            bounds=(0.0, most),
            sums=sums,
        ),
    )


def _of_sums(
    name: str,
    label: str,
    sums: OfSums,
    bounds: tuple[float, float] = (0.0, 1.0),
    *,
    greater_is_better: bool = True,
) -> ScoreMetric:
    return ScoreMetric(
        name=name,
        label=label,
        reads="statistics",
        score=name,
        bounds=bounds,
        sums=sums,
        greater_is_better=greater_is_better,
    )


def _of_errors(name: str, label: str, sums: OfSums) -> ScoreMetric:
    return _of_sums(name, label, sums, (0.0, math.inf), greater_is_better=False)


def _quantile(name: str, label: str, level: float, *, greater_is_better: bool) -> ScoreMetric:
    return ScoreMetric(
        name=name,
        label=label,
        reads="grade",
        score="quantile",
        level=level,
        greater_is_better=greater_is_better,
        bounds=_UNBOUNDED,
    )


_UNBOUNDED = (-math.inf, math.inf)
_MEAN = ScoreMetric(name="", label="", reads="grade", score="mean", bounds=_UNBOUNDED)
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
        replace(_MEAN, name="mean", label="mean score"),
        replace(_MEAN, name="mean_cost", label="mean cost", greater_is_better=False),
        replace(_MEAN, name="neg_mean", label="negative mean", sign=-1),
        _quantile("median", "median score", 0.5, greater_is_better=True),
        *(
            _quantile(f"p{n}", f"{n}th percentile", n / 100, greater_is_better=False)
            for n in (50, 90, 95, 99)
        ),
        *_loss("mae", "mean absolute error", sums=of_sums.MAE, named="mean_absolute_error"),
        *_loss("mse", "mean squared error", sums=of_sums.MSE, named="mean_squared_error"),
        *_loss(
            "rmse",
            "root mean squared error",
            sums=of_sums.RMSE,
            named="root_mean_squared_error",
        ),
        *_loss(
            "poisson_deviance",
            "mean Poisson deviance",
            sums=of_sums.POISSON,
            named="mean_poisson_deviance",
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
        _of_sums("dice", "Dice of all pixels", of_sums.DICE),
        _of_sums("iou", "IoU of all pixels", of_sums.IOU),
        _of_sums("dice_mean", "mean Dice", of_sums.MEAN_DICE),
        _of_sums("iou_mean", "mean IoU", of_sums.MEAN_IOU),
    )
}

AT_K = re.compile(
    r"(ndcg|map|mrr|recall|precision|hit|pass|maj)@([1-9]\d*)|pass\^([1-9]\d*)|ndcg|map|mrr"
)
_LABELS = {
    "ndcg": "nDCG",
    "map": "mean average precision",
    "mrr": "mean reciprocal rank",
    "hit": "hit rate",
}


def score_named(name: str) -> ScoreMetric | None:
    """Return the metric of scores of that name, such as ``"ndcg@10"``; None if there is none.

    Examples
    --------
    >>> score_named("ndcg@10").label, score_named("f1")
    ('nDCG@10', None)
    """
    if name in SCORE_METRICS:
        return SCORE_METRICS[name]
    match = AT_K.fullmatch(name)
    if match is None:
        return None
    kind, at, power = match.groups()
    if kind is None and power is None:
        kind = name
    if power is not None or kind in ("pass", "maj"):
        repeated = of_items.Repeated("pass^" if power else f"{kind}@", int(power or at))
        sums = of_sums.OfSums(columns=(name,), combine=of_sums.only, read=repeated)
        return _of_sums(name, name, sums)
    assert kind is not None
    ranked = of_items.Ranked(kind, None if at is None else int(at))
    label = _LABELS.get(kind, kind) + ("" if at is None else f"@{at}")
    return _of_sums(name, label, of_sums.OfSums(columns=(name,), combine=of_sums.only, read=ranked))


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
    >>> score_names(graded=True)[:3]
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
        found = score_named(metric)
        if found is None:
            raise UsageError(unknown_name("metric of scores", metric, SCORE_METRICS))
        return found
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
    own = str(getattr(function, "__name__", type(function).__name__))
    name = name or own.replace("<lambda>", "custom")
    return ScoreMetric(
        name=name,
        label=name,
        reads="statistics",
        sums=OfSums(columns=(), combine=function, own=True),
        greater_is_better=greater_is_better,
        bounds=_bounds(bounds),
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
    sums = of_sums.regression(of_sums.Pinball(_between(alpha, "alpha")))
    return _of_errors(f"pinball_{alpha:g}", f"pinball loss at {alpha:g}", sums)


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
    level = _between(level, "level")
    return _quantile(
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
    names, codes = np.unique(np.asarray(by), return_inverse=True)
    if len(names) < 2:
        raise UsageError("a gap is between groups, and there are fewer than two")
    read = of_items.OfGroups(rate, tuple(codes.ravel().tolist()), len(names), pos_label)
    columns = tuple(f"{part} of {name}" for name in names for part in ("top", "bottom"))
    return _of_sums(
        f"{rate}_gap",
        f"gap of {rate} between {len(names)} groups",
        OfSums(columns=columns, combine=of_items.gap_between, read=read),
        (0.0, math.inf if rate == "mae" else 1.0),
        greater_is_better=False,
    )


def _between(share: float, name: str) -> float:
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share < 1:
        raise UsageError(f"{name} must be a number between 0 and 1; got {share!r}")
    return float(share)


def statistics(metric: MetricLike, y_true: object, prediction: object) -> FloatArray:
    """Return the statistics of items that a metric adds up, ``(n_items, n_statistics)``.

    Parameters
    ----------
    metric
        Such as ``"bleu"``, ``"wer"`` or ``"ndcg@10"``.
    y_true
        What is true of each item; None where the metric needs no truth.
    prediction
        What one model said.

    Examples
    --------
    >>> statistics("wer", ["the cat sat", "hello"], ["the cat", "yellow"])  # errors and words
    array([[1., 3.],
           [1., 1.]])
    """
    found = get_score(metric)
    if found.sums is None or found.sums.read is None:
        raise UsageError(f"metric {found.name!r} has no statistics of its own to make")
    return found.sums.read(y_true, prediction)
