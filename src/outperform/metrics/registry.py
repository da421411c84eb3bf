"""Registry of metrics by name and alias."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, cast

from outperform._catalogue import Catalogue
from outperform._typing import FloatArray
from outperform.errors import UsageError, either, unknown_name
from outperform.metrics.catalogue import (
    AVERAGED,
    LABELS,
    METRICS,
    NAMES,
    PATTERNS,
    from_function,
    from_score_function,
)
from outperform.metrics.custom import ConfusionFunction, ScoreFunction
from outperform.metrics.metric import Metric, MetricLike


def taken_names(metric: Metric) -> list[str]:
    """Return the names and aliases of a metric that are already taken by built-in metrics.

    Examples
    --------
    >>> taken_names(get("f1_macro"))
    ['f1_macro']
    """
    return [name for name in (metric.name, *metric.aliases) if _built_in(name) is not None]


ADDED: Catalogue[Metric] = Catalogue(
    "outperform.metrics",
    noun="metric",
    kind="outperform.metrics.metric:Metric",
    built_in={},
    reserved=taken_names,
)
"""Metrics from plug-ins, which cannot override names or aliases of built-in metrics."""


def find(name: str) -> Metric | None:
    """Return the metric with a name or alias, including names that contain a number; else None.

    Plug-ins are consulted for names that are not built in.

    Examples
    --------
    >>> find("AUC").name, find("macro F1").name, find("ndcg@10").label
    ('roc_auc', 'f1_macro', 'nDCG@10')
    """
    metric = _built_in(name)
    if metric is None and name in ADDED:
        return ADDED.get(name)
    spelled = (name, _folded(name))
    if metric is None:
        aliased = (added for added in ADDED.added() if {*added.aliases, added.name} & {*spelled})
        metric = next(aliased, None)
    return metric


def _folded(name: str) -> str:
    return re.sub(r"[-\s]+", "_", name.lower())


def _built_in(name: str) -> Metric | None:
    folded = _folded(name)
    last = re.sub(rf"({'|'.join(AVERAGED)})_(.+)", r"\2_\1", folded)  # macro_f1 is f1_macro
    stem, _, average = last.rpartition("_")
    averaged = f"{NAMES.get(stem, stem)}_{average}"  # sensitivity_macro is recall_macro
    for spelling in (name, name.lower(), NAMES.get(folded, folded), last, averaged):
        if spelling in METRICS:
            return METRICS[spelling]
        for pattern, make in PATTERNS:
            match = re.fullmatch(pattern, spelling)
            if match is not None:
                return make(match)
    return None


def get(metric: MetricLike) -> Metric:
    """Return a metric from its name, a metric object or a function.

    Parameters
    ----------
    metric
        A name such as ``"f1_macro"``, ``"f2_macro"`` or ``"roc_auc"``, an alias such as ``"mcc"``,
        a :class:`Metric` or a function. The function takes a confusion array (see
        :func:`from_function`) or truth, score and weight (see :func:`from_score_function`).

    Examples
    --------
    >>> get("balanced_accuracy").bounds
    (0.0, 1.0)
    >>> get("F1").name, get("mcc").name, get("AUC").name
    ('f1', 'matthews_corrcoef', 'roc_auc')
    >>> get("f1macro")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    outperform.errors.UsageError: unknown metric 'f1macro'; did you mean 'f1_macro'? ...
    """
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        check_name(metric)
        return cast(Metric, find(metric))
    if callable(metric):
        reads_rows = _n_required(metric) == 3
        if reads_rows:
            return from_score_function(cast(ScoreFunction, metric))
        return from_function(cast(ConfusionFunction, metric))
    raise UsageError(
        "a metric must be a name, a Metric or a function of a confusion array; for several, use "
        f"scorecard; got {type(metric).__name__}"
    )


def get_labels(metric: MetricLike) -> Metric:
    """Return a metric of labels, as :func:`get` does."""
    chosen = get(metric)
    if chosen.reads != "labels":
        raise UsageError(
            f"{chosen.name!r} is computed from scores; compare, estimate, scorecard and gate "
            "accept such metrics, but this function needs one computed from labels"
        )
    return chosen


def get_score(metric: MetricLike) -> Metric:
    """Return a metric of scores, as :func:`get` does.

    Parameters
    ----------
    metric
        A name such as ``"roc_auc"`` or an alias such as ``"auc"``, a :class:`Metric`, or a function
        of truth, score and weight (see :func:`from_score_function`).

    Examples
    --------
    >>> get_score("roc_auc").label, get_score("AUC").name
    ('ROC AUC', 'roc_auc')
    """
    if callable(metric):
        return from_score_function(cast(ScoreFunction, metric))
    chosen = find(metric) if isinstance(metric, str) else get(metric)
    if chosen is None or chosen.reads == "labels":
        raise UsageError(unknown_name("metric of scores", metric, score_names()))
    return chosen


def names() -> list[str]:
    """Return the names of all label metrics.

    Examples
    --------
    >>> names()[:3]
    ['accuracy', 'balanced_accuracy', 'f1']
    """
    added = [
        metric.name for metric in ADDED.added() if metric.reads == "labels" and not metric.per_item
    ]
    return [*LABELS, *added]


def set_names() -> list[str]:
    """Return the names of metrics for items with several labels.

    Examples
    --------
    >>> set_names()[0]
    'f1_samples'
    """
    return [metric.name for metric in (*METRICS.values(), *ADDED.added()) if metric.per_item]


def score_names(*, graded: bool | None = None) -> list[str]:
    """Return the names of all metrics of scores.

    Parameters
    ----------
    graded
        True for metrics of grades, which have no truth; False for metrics that need a truth.

    Examples
    --------
    >>> score_names()[:2]
    ['roc_auc', 'average_precision']
    >>> score_names(graded=True)[:3]
    ['mean', 'mean_cost', 'neg_mean']
    """
    return [
        metric.name
        for metric in (*METRICS.values(), *ADDED.added())
        if metric.reads != "labels" and graded in (None, metric.reads == "grade")
    ]


def is_of_scores(metric: MetricLike | None) -> bool:
    """Return whether a metric uses scores: known by its name, or by a function's three arguments.

    Parameters
    ----------
    metric
        Any value passed as a metric.

    Examples
    --------
    >>> is_of_scores("roc_auc"), is_of_scores("f1"), is_of_scores(lambda y, s, w: 0.0)
    (True, False, True)
    """
    chosen = find(metric) if isinstance(metric, str) else metric
    if isinstance(chosen, Metric):
        return chosen.reads != "labels"
    return callable(chosen) and _n_required(chosen) == 3


def _n_required(function: Callable[..., Any]) -> int | None:
    """Return the number of required positional arguments; None if unknown."""
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
    known: Callable[[], Sequence[str]] | None = None,
    *,
    graded: bool | None = None,
) -> None:
    """Reject an unknown metric name before any data are read or models trained.

    Parameters
    ----------
    metric
        Requested metric; anything other than a name is accepted.
    known
        Function that returns the names to list. Default: the names of label and score metrics.
    graded
        Which names of score metrics to list, as in :func:`score_names`.

    Examples
    --------
    >>> check_name("f0.5_macro")
    >>> check_name("acuracy", lambda: ["accuracy"])
    Traceback (most recent call last):
    outperform.errors.UsageError: unknown metric 'acuracy'; did you mean 'accuracy'? Known: accuracy
    """
    if isinstance(metric, str) and find(metric) is None:
        every = names() + set_names() + score_names(graded=graded) if known is None else known()
        raise _unknown(metric, every)


def _unknown(name: str, known: Sequence[str]) -> UsageError:
    every = either(
        "op.metrics.names(), set_names() and score_names()", "`outperform explain metrics`"
    )
    return UsageError(unknown_name("metric", name, known, everything=every))


def statistics(metric: MetricLike, y_true: object, prediction: object) -> FloatArray:
    """Return the item statistics that a metric sums, ``(n_items, n_statistics)``.

    Parameters
    ----------
    metric
        Metric, such as ``"bleu"``, ``"wer"`` or ``"ndcg@10"``.
    y_true
        Truth of each item; None if the metric needs no truth.
    prediction
        Output of one model.

    Examples
    --------
    >>> statistics("wer", ["the cat sat", "hello"], ["the cat", "yellow"])  # errors and words
    array([[1., 3.],
           [1., 1.]])
    """
    return get_score(metric).read_items(y_true, prediction)
