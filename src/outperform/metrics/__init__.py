"""Metrics of classifiers, over any number of draws at once."""

from __future__ import annotations

from outperform.metrics.confusion import Margins
from outperform.metrics.custom import Costs
from outperform.metrics.metric import Metric, Share
from outperform.metrics.registry import (
    check_name,
    cohen_kappa,
    cost,
    fbeta,
    from_function,
    get,
    get_score,
    is_of_scores,
    names,
    score_names,
    set_names,
    statistics,
    utility,
)
from outperform.metrics.score_metric import (
    ScoreMetric,
    brier_part,
    ece,
    from_score_function,
    from_statistics_function,
    gap,
    pinball,
    quantile,
    roc_auc,
    sensitivity_at,
    specificity_at,
)

__all__ = [
    "Costs",
    "Margins",
    "Metric",
    "ScoreMetric",
    "Share",
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
