"""ROC AUC and average precision: the order is the same in all draws, so it is found once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from outperform._typing import AnyArray, FloatArray, IntArray
from outperform.metrics.of_scores.prepared import Evaluate
from outperform.metrics.of_scores.units import Buffer, Units


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranking:
    """Positive and negative documents, each from the highest score to the lowest.

    Parameters
    ----------
    positives, negatives
        The documents, by number.
    above, level
        How many negatives have a higher score than each positive, and how many have a score
        as high or higher.
    peers
        How many positives have a score as high as each positive's or higher.
    units
        The weight of each document.

    Examples
    --------
    >>> ranking = Ranking.of(np.array([0, 0, 1, 1]) == 1, np.array([0.1, 0.4, 0.35, 0.8]), Units(4))
    >>> AreaUnderCurve(ranking).worker()(np.ones((1, 4)))
    array([0.75])
    """

    positives: IntArray
    negatives: IntArray
    above: IntArray
    level: IntArray
    peers: IntArray
    units: Units

    @classmethod
    def of(cls, positive: AnyArray, score: FloatArray, units: Units) -> Ranking:
        """Sort once."""
        order = np.argsort(-score, kind="stable")
        is_positive = positive[order]
        positives, negatives = order[is_positive], order[~is_positive]
        up, down = -score[positives], -score[negatives]
        return cls(
            positives=positives,
            negatives=negatives,
            above=np.searchsorted(down, up, side="left"),
            level=np.searchsorted(down, up, side="right"),
            peers=np.searchsorted(up, up, side="right"),
            units=units,
        )


@dataclass(frozen=True, slots=True)
class AreaUnderCurve:
    """ROC AUC: P(positive above negative) + ½ P(equal), by weight.

    With D(k) the weight of the k highest negatives, AUC is
    1 − Σ_positives w · ½ (D(above) + D(level)) / (W₊ W₋): one cumulative sum a draw.
    """

    ranking: Ranking

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        ranking = self.ranking
        positives = ranking.units.picker(ranking.positives)
        negatives = _accumulator(ranking)
        beaten, other = Buffer(len(ranking.positives)), Buffer(len(ranking.positives))
        ties = bool((ranking.level != ranking.above).any())

        def evaluate(weights: FloatArray) -> FloatArray:
            weight, total = positives(weights), negatives(weights)
            lost = beaten.rows(len(weights))
            np.take(total, ranking.above, axis=1, out=lost, mode="clip")
            if ties:
                more = other.rows(len(weights))
                np.take(total, ranking.level, axis=1, out=more, mode="clip")
                lost += more
                lost *= 0.5
            share: FloatArray = np.einsum("ij,ij->i", weight, lost)
            share /= weight.sum(axis=1)
            share /= total[:, -1]
            return np.subtract(1.0, share, out=share)

        return evaluate


@dataclass(frozen=True, slots=True)
class AveragePrecision:
    """Average precision: Σ over thresholds of (gain in recall) · precision, by weight.

    Recall rises at positives only, so it is Σ_positives w · precision at their score / W₊,
    where equal scores are one threshold, as in scikit-learn.
    """

    ranking: Ranking

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        ranking = self.ranking
        positives = ranking.units.picker(ranking.positives)
        negatives = _accumulator(ranking)
        width = len(ranking.positives)
        found, false, right = Buffer(width + 1), Buffer(width), Buffer(width)

        def evaluate(weights: FloatArray) -> FloatArray:
            weight, passed = positives(weights), negatives(weights)
            hits = found.rows(len(weights))
            hits[:, 0] = 0.0
            np.cumsum(weight, axis=1, out=hits[:, 1:])
            precision, wrong = right.rows(len(weights)), false.rows(len(weights))
            np.take(hits, ranking.peers, axis=1, out=precision, mode="clip")
            np.take(passed, ranking.level, axis=1, out=wrong, mode="clip")
            wrong += precision
            precision /= wrong
            total: FloatArray = np.einsum("ij,ij->i", weight, precision)
            total /= hits[:, -1]
            return total

        return evaluate


def _accumulator(ranking: Ranking) -> Evaluate:
    """Return a function to the weight of the k highest negatives, k = 0, 1, …"""
    negatives = ranking.units.picker(ranking.negatives)
    buffer = Buffer(len(ranking.negatives) + 1)

    def accumulate(weights: FloatArray) -> FloatArray:
        total = buffer.rows(len(weights))
        total[:, 0] = 0.0
        np.cumsum(negatives(weights), axis=1, out=total[:, 1:])
        return total

    return accumulate
