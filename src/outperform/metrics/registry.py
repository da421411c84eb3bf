"""The registry of metrics: one mapping from names, with the usual aliases."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, TypeAlias, cast

from outperform._typing import CostsLike, FloatArray, Label
from outperform.errors import UsageError, either, unknown_name
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
from outperform.metrics.metric import Metric, Share
from outperform.metrics.score_metric import (
    BINS,
    PARTS,
    UNBOUNDED,
    MetricLike,
    Reads,
    ScoreMetric,
    ece,
    from_score_function,
    of_bins,
    of_errors,
    of_statistics,
    pinball,
    quantile,
    quantile_of,
    roc_auc,
    sensitivity_at,
    specificity_at,
)
from outperform.metrics.sums import OfSums

AnyMetric: TypeAlias = Metric | ScoreMetric

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

# What people also call a metric. Averages may also come first, as in macro_f1, and spelling
# ignores case and hyphens.
_ALIASES: dict[str, tuple[str, ...]] = {
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


def find(name: str) -> AnyMetric | None:
    """Return the metric of a name or an alias, also of a name with a number in it; else None.

    Examples
    --------
    >>> find("AUC").name, find("macro-F1").name, find("ndcg@10").label
    ('roc_auc', 'f1_macro', 'nDCG@10')
    """
    folded = name.lower().replace("-", "_")
    last = re.sub(rf"({'|'.join(_AVERAGED)})_(.+)", r"\2_\1", folded)  # macro_f1 is f1_macro
    stem, _, average = last.rpartition("_")
    averaged = f"{_NAMES.get(stem, stem)}_{average}"  # sensitivity_macro is recall_macro
    for spelling in (name, name.lower(), _NAMES.get(folded, folded), last, averaged):
        if spelling in METRICS:
            return METRICS[spelling]
        for pattern, make in _PATTERNS:
            match = re.fullmatch(pattern, spelling)
            if match is not None:
                return make(match)
    return None


def get(metric: MetricLike) -> Metric:
    """Return a metric by its name, as itself, or made of a function.

    Parameters
    ----------
    metric
        A name such as ``"f1_macro"`` or ``"f2_macro"`` or an alias such as ``"mcc"``, a
        :class:`Metric`, or a function of one confusion array, see :func:`from_function`.

    Examples
    --------
    >>> get("balanced_accuracy").bounds
    (0.0, 1.0)
    >>> get("F1").name, get("mcc").name
    ('f1', 'matthews_corrcoef')
    >>> get("f1macro")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    outperform.errors.UsageError: unknown metric 'f1macro'; did you mean 'f1_macro'? ...
    """
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        named = find(metric)
        if isinstance(named, Metric):
            return named
        if named is None:
            raise _unknown(metric, names() + set_names() + score_names())
        raise UsageError(
            f"{metric!r} is a metric of scores, which compare, estimate, scorecard and gate take; "
            "what was asked needs a metric of labels"
        )
    if callable(metric):
        return from_function(cast(ConfusionFunction, metric))
    raise UsageError(
        "a metric must be a name, a Metric or a function of a confusion array; "
        f"got {type(metric).__name__}"
    )


def get_score(metric: MetricLike) -> ScoreMetric:
    """Return a metric of scores by its name, as itself, or made of a function.

    Parameters
    ----------
    metric
        A name such as ``"roc_auc"`` or an alias such as ``"auc"``, a :class:`ScoreMetric`, or a
        function of truth, score and weight, see :func:`from_score_function`.

    Examples
    --------
    >>> get_score("roc_auc").label, get_score("AUC").name
    ('ROC AUC', 'roc_auc')
    """
    if isinstance(metric, ScoreMetric):
        return metric
    if isinstance(metric, str):
        named = find(metric)
        if not isinstance(named, ScoreMetric):
            raise UsageError(unknown_name("metric of scores", metric, score_names()))
        return named
    if callable(metric):
        return from_score_function(cast(ScoreFunction, metric))
    raise UsageError(
        "a metric of scores must be a name, a ScoreMetric or a function of y_true, score and "
        f"weight; got {type(metric).__name__}"
    )


def names() -> list[str]:
    """Return the names of all metrics of the table.

    Examples
    --------
    >>> names()[:3]
    ['accuracy', 'balanced_accuracy', 'f1']
    """
    return [
        name
        for name, metric in METRICS.items()
        if isinstance(metric, Metric) and not metric.per_item and metric.function is None
    ]


def set_names() -> list[str]:
    """Return the names of metrics that only items with several labels have.

    Examples
    --------
    >>> set_names()[0]
    'f1_samples'
    """
    return [
        name for name, metric in METRICS.items() if isinstance(metric, Metric) and metric.per_item
    ]


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
        for name, metric in METRICS.items()
        if isinstance(metric, ScoreMetric)
        and (graded is None or graded is (metric.reads == "grade"))
    ]


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
        return isinstance(find(metric), ScoreMetric)
    return isinstance(metric, ScoreMetric) or (callable(metric) and _n_required(metric) == 3)


def _n_required(function: Callable[..., Any]) -> int | None:
    """Return the number of required positional arguments; None if that cannot be known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(
        parameter.kind in by_position and parameter.default is parameter.empty
        for parameter in parameters
    )


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
    if isinstance(metric, str) and find(metric) is None:
        every = names() + set_names() + score_names(graded=graded)
        raise _unknown(metric, every if known is None else known)


def _unknown(name: str, known: Sequence[str]) -> UsageError:
    every = either(
        "op.metrics.names(), set_names() and score_names()", "`outperform explain metrics`"
    )
    return UsageError(unknown_name("metric", name, known, everything=every))


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
    asked = get_score(metric)
    if asked.sums is None or asked.sums.read is None:
        raise UsageError(f"metric {asked.name!r} has no statistics of its own to make")
    return asked.sums.read(y_true, prediction)


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
        return cast(Metric, METRICS["cohen_kappa"])
    if weights not in ("linear", "quadratic"):
        raise UsageError(unknown_name("weights", weights, ("linear", "quadratic")))
    return cast(Metric, METRICS[f"cohen_kappa_{weights}"])


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


def _of_labels() -> Iterator[Metric]:
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
    weights: tuple[Literal["linear", "quadratic"], ...] = ("linear", "quadratic")
    for weighting in weights:
        yield Metric(
            name=f"cohen_kappa_{weighting}",
            label=f"Cohen's kappa, {weighting} weights",
            function=Ordinal(weighting),
            vectorized=True,
            bounds=(-1.0, 1.0),
        )
    yield Metric(
        name="ordinal_mae",
        label="mean absolute error of levels",
        function=Ordinal("mae"),
        vectorized=True,
        greater_is_better=False,
        bounds=(0.0, math.inf),
    )


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


_MEAN = ScoreMetric(name="", label="", reads="grade", score="mean", bounds=UNBOUNDED)
_BUILT_IN: tuple[AnyMetric, ...] = (
    *_of_labels(),
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
    *(of_bins(name, BINS, debiased=False) for name in PARTS if name != "ece"),
    replace(_MEAN, name="mean", label="mean score"),
    replace(_MEAN, name="mean_cost", label="mean cost", greater_is_better=False),
    replace(_MEAN, name="neg_mean", label="negative mean", sign=-1),
    quantile_of("median", "median score", 0.5, greater_is_better=True),
    *(
        quantile_of(f"p{n}", f"{n}th percentile", n / 100, greater_is_better=False)
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
    of_statistics("r2", "R²", of_sums.R2, (-math.inf, 1.0)),
    of_statistics(
        "explained_variance",
        "explained variance",
        of_sums.EXPLAINED_VARIANCE,
        (-math.inf, 1.0),
    ),
    of_statistics("pearson", "Pearson correlation", of_sums.CORRELATION, (-1.0, 1.0)),
    of_errors("wer", "word error rate", of_items.WER),
    of_errors("cer", "character error rate", of_items.CER),
    of_errors("ter", "TER", of_items.TER),
    of_statistics("bleu", "BLEU", of_items.BLEU, (0.0, 100.0)),
    of_statistics("chrf", "chrF", of_items.CHRF, (0.0, 100.0)),
    of_statistics("dice", "Dice of all pixels", of_sums.DICE),
    of_statistics("iou", "IoU of all pixels", of_sums.IOU),
    of_statistics("dice_mean", "mean Dice", of_sums.MEAN_DICE),
    of_statistics("iou_mean", "mean IoU", of_sums.MEAN_IOU),
    of_statistics("win_rate", "win rate", of_votes.WIN_RATE),
    of_statistics("elo", "Elo rating", of_votes.ELO, UNBOUNDED),
    of_statistics("first_place", "win rate of the first place", of_votes.FIRST_PLACE),
    of_statistics("judged_mean", "mean grade", of_sums.JUDGED_MEAN, UNBOUNDED),
    of_statistics("people_mean", "mean grade by people", of_sums.PEOPLE_MEAN, UNBOUNDED),
    of_statistics("judge_mean", "mean grade by the judge", of_sums.JUDGE_MEAN, UNBOUNDED),
)
METRICS = {metric.name: metric for metric in _BUILT_IN}
_NAMES = {alias: name for name, aliases in _ALIASES.items() for alias in aliases}

_LABELS = {
    "ndcg": "nDCG",
    "map": "mean average precision",
    "mrr": "mean reciprocal rank",
    "hit": "hit rate",
}


def _of_query(name: str, kind: str, k: str | None) -> ScoreMetric:
    ranked = of_items.Ranked(kind, None if k is None else int(k))
    label = _LABELS.get(kind, kind) + ("" if k is None else f"@{k}")
    sums = OfSums(columns=(name,), combine=of_sums.only, read=ranked)
    return of_statistics(name, label, sums)


def _of_answers(name: str, kind: str, k: str) -> ScoreMetric:
    repeated = of_items.Repeated(kind, int(k))
    sums = OfSums(columns=(name,), combine=of_sums.only, read=repeated)
    return of_statistics(name, name, sums)


_NUMBER, _K = r"(\d*\.?\d+(?:e-?\d+)?)", r"([1-9]\d*)"


def _fbeta_of(match: re.Match[str]) -> Metric | None:
    beta, average = float(match[1]), cast(Average | Samples, match[2] or "binary")
    return fbeta(beta, average=average) if 0.0 < beta < math.inf else None


_PATTERNS: tuple[tuple[str, Callable[[re.Match[str]], AnyMetric | None]], ...] = (
    (rf"f(\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?:_({'|'.join(_AVERAGED)}))?", _fbeta_of),
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
