"""Metrics of scores: what a draw of weights makes of scores that were sorted once."""

from __future__ import annotations

from outperform.metrics.of_scores.prepared import Evaluate, Prepared
from outperform.metrics.of_scores.ranking import Ranking
from outperform.metrics.of_scores.table import (
    ScoreMetric,
    from_score_function,
    get_score,
    is_of_scores,
    score_names,
)
from outperform.metrics.of_scores.units import Units

__all__ = [
    "Evaluate",
    "Prepared",
    "Ranking",
    "ScoreMetric",
    "Units",
    "from_score_function",
    "get_score",
    "is_of_scores",
    "score_names",
]
