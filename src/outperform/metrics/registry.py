"""The registry of confusion metrics, by scikit-learn's scorer names."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, cast

from outperform._typing import CostsLike, Label
from outperform.errors import UsageError, either, unknown_name
from outperform.metrics.confusion import AVERAGES, Average, Samples, miss_weight
from outperform.metrics.custom import ConfusionFunction, Costs, Ordinal, as_bounds, name_of
from outperform.metrics.metric import Metric, Share
from outperform.metrics.score_metric import MetricLike, ScoreMetric
from outperform.metrics.score_registry import NUMBERED, SCORE_METRICS, score_names

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
    """What the four averages of one score have in common."""

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

_AVERAGED = (*AVERAGES[1:], "samples")
_FBETA_NAME = re.compile(
    rf"f(?P<beta>\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?:_(?P<average>{'|'.join(_AVERAGED)}))?"
)


def get(metric: MetricLike) -> Metric:
    """Return a metric by its name, as itself, or made of a function.

    Parameters
    ----------
    metric
        A name such as ``"f1_macro"`` or ``"f2_macro"``, a :class:`Metric`, or
        a function of one confusion array, see :func:`from_function`.

    Examples
    --------
    >>> get("balanced_accuracy").bounds
    (0.0, 1.0)
    >>> get("f1macro")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    outperform.errors.UsageError: unknown metric 'f1macro'; did you mean 'f1_macro'? ...
    """
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        return _by_name(metric)
    if callable(metric):
        return from_function(cast(ConfusionFunction, metric))
    raise UsageError(
        "a metric must be a name, a Metric or a function of a confusion array; "
        f"got {type(metric).__name__}"
    )


def names() -> list[str]:
    """Return the names of all metrics of the table.

    Examples
    --------
    >>> names()[:3]
    ['accuracy', 'balanced_accuracy', 'f1']
    """
    return list(_METRICS)


def is_of_scores(metric: MetricLike | None) -> bool:
    """Return whether a metric reads scores: by its name, or as a function of three arguments.

    Parameters
    ----------
    metric
        Whatever was given as a metric.

    Examples
    --------
    >>> is_of_scores("roc_auc"), is_of_scores("f1"), is_of_scores(lambda y, s, w: 0.0)
    (True, False, True)
    """
    if isinstance(metric, str):
        return metric in SCORE_METRICS or NUMBERED.fullmatch(metric) is not None
    return isinstance(metric, ScoreMetric) or (callable(metric) and _n_required(metric) == 3)


def _n_required(function: Callable[..., Any]) -> int | None:
    """Return how many arguments must be given by place; None if that cannot be known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(one.kind in by_place and one.default is one.empty for one in parameters)


def check_name(
    metric: MetricLike | None,
    known: Sequence[str] | None = None,
    *,
    graded: bool | None = None,
) -> None:
    """Refuse a name that no metric has, before anything is read or trained.

    Parameters
    ----------
    metric
        What was asked for; anything but a name passes.
    known
        The names to list; by default those of labels and of scores.
    graded
        Which names of scores to list, as in :func:`score_names`.

    Examples
    --------
    >>> check_name("f0.5_macro")
    >>> check_name("acuracy", ["accuracy"])
    Traceback (most recent call last):
    outperform.errors.UsageError: unknown metric 'acuracy'; did you mean 'accuracy'? Known: accuracy
    """
    if not isinstance(metric, str) or is_of_scores(metric) or metric in _NAMED:
        return
    if _as_fbeta(metric) is None:
        every = names() + set_names() + score_names(graded=graded)
        raise _unknown(metric, every if known is None else known)


def _unknown(name: str, known: Sequence[str]) -> UsageError:
    every = either(
        "op.metrics.names(), set_names() and score_names()", "`outperform explain metrics`"
    )
    return UsageError(unknown_name("metric", name, known, everything=every, synonyms=_SYNONYMS))


# What people also call a metric; it is proposed, not taken.
_SYNONYMS = {
    "mcc": "matthews_corrcoef",
    "matthews": "matthews_corrcoef",
    "phi": "matthews_corrcoef",
    "kappa": "cohen_kappa",
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "auprc": "average_precision",
    "pr_auc": "average_precision",
    "uar": "balanced_accuracy",
    "sensitivity": "recall",
    "tpr": "recall",
    "tnr": "specificity",
    "ppv": "precision",
    "nll": "log_loss",
    "cross_entropy": "log_loss",
    "macro_f1": "f1_macro",
    "micro_f1": "f1_micro",
    "weighted_f1": "f1_weighted",
}


def set_names() -> list[str]:
    """Return the names of metrics that only items with several labels have.

    Examples
    --------
    >>> set_names()[0]
    'f1_samples'
    """
    return list(_OF_SETS)


def fbeta(beta: float, *, average: Average | Samples = "binary") -> Metric:
    """Return F-beta, (1+β²) tp / ((1+β²) tp + β² fn + fp).

    Parameters
    ----------
    beta
        How many times as much recall counts as precision.
    average
        How the classes' values become one.

    Examples
    --------
    >>> fbeta(2, average="macro").name
    'f2_macro'
    >>> fbeta(1) == get("f1")
    True
    """
    if isinstance(beta, bool) or not isinstance(beta, Real) or not 0.0 < beta < math.inf:
        raise UsageError(
            f"beta must be a positive number; got {beta!r}; "
            "for 0 take precision, for infinity recall"
        )
    beta = float(beta)
    word = f"F{int(beta) if beta.is_integer() else beta}"
    share = Share("tp", (("fn", miss_weight(beta)), ("fp", miss_weight(1.0 / beta))))
    return _averaged("fbeta", word.lower(), average, _Family(word, share, _ACCURACY), beta=beta)


def cohen_kappa(*, weights: Literal["linear", "quadratic"] | None = None) -> Metric:
    """Return Cohen's kappa, for levels in order also weighted by how far apart they are.

    The order of the levels is that of ``labels``; without it numbers are in theirs, and text is
    refused.

    Parameters
    ----------
    weights
        None, ``"linear"`` or ``"quadratic"``, as in scikit-learn's ``cohen_kappa_score``.

    Examples
    --------
    >>> cohen_kappa(weights="quadratic").name, cohen_kappa() == get("cohen_kappa")
    ('cohen_kappa_quadratic', True)
    """
    if weights is None:
        return _METRICS["cohen_kappa"]
    if weights not in ("linear", "quadratic"):
        raise UsageError(unknown_name("weights", weights, ("linear", "quadratic")))
    return _ORDINAL[f"cohen_kappa_{weights}"]


def from_function(
    function: ConfusionFunction,
    *,
    name: str | None = None,
    vectorized: bool = False,
    bounds: tuple[float, float] | None = None,
    greater_is_better: bool = True,
) -> Metric:
    """Make a metric of a function of a confusion array.

    The function gets one array of shape (n_classes, n_classes), rows the
    truth, and returns one number. For posterior draws the entries are
    proportions that sum to 1, for the observed value they are counts, so a
    metric must not depend on the scale.

    Parameters
    ----------
    function
        The function; one defined in a module, not a lambda, if the metric is
        to be pickled.
    name
        What to call it; the function's own name by default.
    vectorized
        Whether the function takes (n_classes, n_classes, n) and returns (n,),
        which is faster by far.
    bounds
        The least and the greatest value; unbounded by default.
    greater_is_better
        Whether the larger of two values is the better one.

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
            f"{name_of(function)} takes labels, not a confusion array; give the metric by its "
            f"name, one of {', '.join(names())}"
        )
    name = name or name_of(function)
    return Metric(
        name=name,
        label=name,
        function=function,
        vectorized=vectorized,
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
    """Return the cost per item, Σ_jk p_jk · cost_jk; less is better.

    Parameters
    ----------
    costs
        A square matrix, rows the truth and columns the predictions; or costs by
        (truth, prediction), where every pair that is left out costs nothing.
    labels
        The class of each row and column of a matrix; by default the classes of the data in
        their order, which is sorted.
    unit
        What the costs are counted in, such as ``"EUR"``.
    name
        What to call it.

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
    """Return what the answers are worth per item, Σ_jk p_jk · utility_jk; more is better.

    Parameters
    ----------
    utilities
        As the costs of :func:`cost`; negative where an answer does harm.
    labels
        The class of each row and column of a matrix.
    unit
        What the utilities are counted in.
    name
        What to call it.

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
        function=costs,
        vectorized=True,
        greater_is_better=greater,
        bounds=costs.bounds,
    )


def _by_name(name: str) -> Metric:
    if name in _NAMED:
        return _NAMED[name]
    if is_of_scores(name):
        raise UsageError(
            f"{name!r} is a metric of scores, which compare, estimate, scorecard and gate take; "
            "what was asked needs a metric of labels"
        )
    match = _as_fbeta(name)
    if match is None:
        raise _unknown(name, names() + set_names() + score_names())
    average = cast(Average | Samples, match["average"] or "binary")
    return fbeta(float(match["beta"]), average=average)


def _as_fbeta(name: str) -> re.Match[str] | None:
    match = _FBETA_NAME.fullmatch(name)
    return match if match is not None and 0.0 < float(match["beta"]) < math.inf else None


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
    # The weights of the weighted recall are its denominators: what is left is accuracy.
    pooled = average == "micro" or (score, average) == ("recall", "weighted")
    return Metric(
        name=name if average == "binary" else f"{name}_{average}",
        label=_ADJECTIVES[average] + family.word,
        score=score,
        average=average,
        beta=beta,
        bounds=family.bounds,
        share=family.of_class if average == "binary" else family.pooled if pooled else None,
    )


_KAPPAS: tuple[Literal["linear", "quadratic"], ...] = ("linear", "quadratic")
_ORDINAL: dict[str, Metric] = {
    **{
        f"cohen_kappa_{of}": Metric(
            name=f"cohen_kappa_{of}",
            label=f"Cohen's kappa, {of} weights",
            function=Ordinal(of),
            vectorized=True,
            bounds=(-1.0, 1.0),
        )
        for of in _KAPPAS
    },
    "ordinal_mae": Metric(
        name="ordinal_mae",
        label="mean absolute error of levels",
        function=Ordinal("mae"),
        vectorized=True,
        greater_is_better=False,
        bounds=(0.0, math.inf),
    ),
}


def _all_metrics() -> Iterator[Metric]:
    yield Metric(name="accuracy", label="accuracy", score="accuracy", share=_ACCURACY)
    yield Metric(name="balanced_accuracy", label="balanced accuracy", score="balanced_accuracy")
    for average in AVERAGES:
        yield fbeta(1.0, average=average)
    for score, family in _FAMILIES.items():
        for average in AVERAGES:
            yield _averaged(score, score, average, family)
    for score, label in (
        ("matthews_corrcoef", "Matthews correlation"),
        ("cohen_kappa", "Cohen's kappa"),
    ):
        yield Metric(name=score, label=label, score=score, bounds=(-1.0, 1.0))


_METRICS: dict[str, Metric] = {metric.name: metric for metric in _all_metrics()}


def _metrics_of_sets() -> Iterator[Metric]:
    yield fbeta(1.0, average="samples")
    for score in ("precision", "recall", "jaccard"):
        yield _averaged(score, score, "samples", _FAMILIES[score])
    yield Metric(
        name="hamming_loss",
        label="Hamming loss",
        score="hamming_loss",
        average="samples",
        greater_is_better=False,
    )


_OF_SETS: dict[str, Metric] = {metric.name: metric for metric in _metrics_of_sets()}
_NAMED: dict[str, Metric] = _METRICS | _OF_SETS | _ORDINAL
