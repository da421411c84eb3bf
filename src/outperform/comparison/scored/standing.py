"""Where documents stand: which of them set two models apart as far as a metric can see."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from outperform._typing import AnyArray, FloatArray
from outperform.comparison.scored.preparing import values_of
from outperform.metrics import ScoreMetric
from outperform.metrics.of_scores import Ranking
from outperform.outcomes import Scores


def documents_of(view: Scores) -> FloatArray:
    """Return how many documents each row stands for."""
    return np.ones(view.n_rows) if view.counts is None else view.counts.astype(np.float64)


def count_apart(
    metric: ScoreMetric,
    view: Scores,
    pair: tuple[int, int],
    *,
    positive: int | None,
    rankings: Sequence[Ranking],
) -> int:
    """Count the documents, or groups, on which two models differ."""
    apart = _apart(metric, view, pair, positive, rankings)
    if view.group is None:
        return int(documents_of(view)[apart].sum())
    return len(np.unique(view.group[apart]))


def _apart(
    metric: ScoreMetric,
    view: Scores,
    pair: tuple[int, int],
    positive: int | None,
    rankings: Sequence[Ranking],
) -> AnyArray:
    if rankings:
        a, b = (_standing(rankings[place], view.n_rows) for place in pair)
        return np.asarray((a != b).any(axis=0))
    if metric.function is not None:
        differs = view.values[pair[0]] != view.values[pair[1]]
        return differs if differs.ndim == 1 else np.asarray(differs.any(axis=1))
    a, b = (values_of(metric, view, place, positive) for place in pair)
    return np.asarray(a != b)


def _standing(ranking: Ranking, n_rows: int) -> AnyArray:
    """Return how many of the other class are above each document, and how many as high."""
    found = np.zeros((2, n_rows), dtype=np.int64)
    found[0, ranking.positives], found[1, ranking.positives] = ranking.above, ranking.level
    ranks = np.arange(len(ranking.negatives))
    # A positive is above a negative if it leaves it out of those at its level or above.
    found[0, ranking.negatives] = np.searchsorted(ranking.level, ranks, side="right")
    found[1, ranking.negatives] = np.searchsorted(ranking.above, ranks, side="right")
    return found


def tied_share(ranking: Ranking, view: Scores) -> float:
    """Return the share of pairs of a positive and a negative document with the same score."""
    counts = documents_of(view)
    positive, negative = counts[ranking.positives], counts[ranking.negatives]
    total = np.concatenate([[0.0], np.cumsum(negative)])
    level = total[ranking.level] - total[ranking.above]
    return float(positive @ level / (positive.sum() * negative.sum()))
