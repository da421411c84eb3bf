"""From weights to numbers: metrics of classifiers, over any number of draws at once."""

from __future__ import annotations

from outperform.metrics.costs import Costs
from outperform.metrics.margins import Margins
from outperform.metrics.metric import Metric
from outperform.metrics.of_scores import (
    ScoreMetric,
    from_score_function,
    get_score,
    is_of_scores,
    score_names,
)
from outperform.metrics.share import Share
from outperform.metrics.table import (
    check_name,
    cost,
    fbeta,
    from_function,
    get,
    names,
    set_names,
    utility,
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
    "get",
    "get_score",
    "is_of_scores",
    "names",
    "score_names",
    "set_names",
    "utility",
]
