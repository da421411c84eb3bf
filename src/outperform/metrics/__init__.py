"""Metrics of classifiers, over any number of draws at once."""

from __future__ import annotations

from outperform.metrics.confusion import Margins
from outperform.metrics.custom import Costs
from outperform.metrics.metric import Metric, Share
from outperform.metrics.registry import (
    check_name,
    cost,
    fbeta,
    from_function,
    get,
    is_of_scores,
    names,
    set_names,
    utility,
)
from outperform.metrics.score_registry import (
    ScoreMetric,
    from_score_function,
    from_statistics_function,
    gap,
    get_score,
    pinball,
    quantile,
    score_names,
    statistics,
)

__all__ = [
    "Costs",
    "Margins",
    "Metric",
    "ScoreMetric",
    "Share",
    "check_name",
    "cost",
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
    "score_names",
    "set_names",
    "statistics",
    "utility",
]
