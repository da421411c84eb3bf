"""Metrics of classifiers, for any number of draws at once."""

from __future__ import annotations

from outperform import wrong_calls
from outperform.metrics.catalogue import (
    brier_part,
    cohen_kappa,
    cost,
    ece,
    fbeta,
    from_function,
    from_score_function,
    from_statistics_function,
    gap,
    pinball,
    quantile,
    roc_auc,
    sensitivity_at,
    specificity_at,
    utility,
)
from outperform.metrics.confusion import Margins
from outperform.metrics.custom import Costs
from outperform.metrics.metric import Basis, Metric, Order, Share, Sums, Whole
from outperform.metrics.registry import (
    check_name,
    get,
    get_score,
    is_of_scores,
    names,
    score_names,
    set_names,
    statistics,
)

__all__ = [
    "Basis",
    "Costs",
    "Margins",
    "Metric",
    "Order",
    "Share",
    "Sums",
    "Whole",
    "brier_part",
    "check_name",
    "cohen_kappa",
    "cost",
    "ece",
    "fbeta",
    "from_function",
    "from_score_function",
    "from_statistics_function",
    "gap",
    "get",
    "get_score",
    "is_of_scores",
    "names",
    "pinball",
    "quantile",
    "roc_auc",
    "score_names",
    "sensitivity_at",
    "set_names",
    "specificity_at",
    "statistics",
    "utility",
]


def __getattr__(name: str) -> object:
    """Explain, for an unknown attribute, what to use instead."""
    raise AttributeError(wrong_calls.unknown_metric(name, (*names(), *score_names()), __all__))
