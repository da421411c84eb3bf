"""The registry of score metrics, by scikit-learn's scorer names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from outperform._typing import FloatArray
from outperform.errors import UsageError, unknown_name
from outperform.metrics import item_statistics as of_items
from outperform.metrics import sums as of_sums
from outperform.metrics import votes as of_votes
from outperform.metrics.custom import ScoreFunction
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
}

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
_PATTERNS: tuple[tuple[str, Callable[[re.Match[str]], ScoreMetric]], ...] = (
    (
        rf"(ndcg|map|mrr|recall|precision|hit)@{_K}",
        lambda found: _of_query(found[0], found[1], found[2]),
    ),
    ("ndcg|map|mrr", lambda found: _of_query(found[0], found[0], None)),
    (rf"(pass@|pass\^|maj@){_K}", lambda found: _of_answers(found[0], found[1], found[2])),
    (f"pinball_{_NUMBER}", lambda found: pinball(float(found[1]))),
    (f"quantile_{_NUMBER}", lambda found: quantile(float(found[1]))),
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
        rf"({'|'.join(PARTS)})(_debiased)?(?:_(\d+))?",
        lambda found: of_bins(found[1], int(found[3] or BINS), debiased=bool(found[2])),
    ),
)
NUMBERED = re.compile("|".join(f"(?:{pattern})" for pattern, _ in _PATTERNS))
"""The names with a number in them."""


def score_named(name: str) -> ScoreMetric | None:
    """Return a metric of scores by its name, also one with a number in it; None if unknown.

    Examples
    --------
    >>> score_named("ndcg@10").label, score_named("sensitivity_at_specificity_0.95").level
    ('nDCG@10', 0.95)
    """
    if name in SCORE_METRICS:
        return SCORE_METRICS[name]
    for pattern, make in _PATTERNS:
        found = re.fullmatch(pattern, name)
        if found is not None:
            return make(found)
    return None


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
