"""Score metrics: ROC AUC, average precision, losses and means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from outperform._typing import AnyArray, FloatArray, IntArray

Pick = Callable[[FloatArray], FloatArray]
"""Function from weights ``(n_draws, n_units)`` to weights of some items ``(n_draws, n_picked)``."""


class Units(NamedTuple):
    """Weighted units, and the weight of each item derived from them."""

    n: int
    unit: IntArray | None = None  # (n_items,) unit of each item; None if items are units
    times: FloatArray | None = None  # (n_items,) multiplicity of each item in its group; None for 1
    repeats: FloatArray | None = None  # (n,) number of equal units of each kind; None for one each

    @property
    def counts(self) -> FloatArray:
        """Number of units of each kind, ``(n,)``."""
        return np.ones(self.n) if self.repeats is None else self.repeats

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sum of the items' values in each unit, ``(n_units,)``.

        Examples
        --------
        >>> Units(2, unit=np.array([0, 1, 0])).sums(np.array([1.0, 2.0, 3.0]))
        array([4., 2.])
        """
        times = values if self.times is None else values * self.times
        if self.unit is None:
            return times
        return np.asarray(np.bincount(self.unit, times, minlength=self.n), dtype=np.float64)

    def picker(self, items: IntArray) -> Pick:
        """Return a function with its own buffer that computes item weights.

        Examples
        --------
        >>> pick = Units(2, unit=np.array([0, 1, 0])).picker(np.array([2, 1]))
        >>> pick(np.array([[0.5, 2.0]]))
        array([[0.5, 2. ]])
        """
        columns = items if self.unit is None else self.unit[items]
        times = None if self.times is None else self.times[items]
        run = _as_slice(columns)
        if run is not None and times is None:
            return lambda weights: weights[:, run]
        buffer = Buffer(len(columns))

        def pick(weights: FloatArray) -> FloatArray:
            picked = buffer.rows(len(weights))
            # The indices are valid; "clip" only avoids the copy that "raise" would make.
            np.take(weights, columns, axis=1, out=picked, mode="clip")
            if times is not None:
                picked *= times
            return picked

        return pick


class Added(NamedTuple):
    """Weights added to the sums in every draw, so unobserved outcomes remain possible.

    A weight adds its ``amount`` to the ``column`` of the statistics or, if it is the last column,
    of the weights. Both have the same length as ``weight``.
    """

    shapes: FloatArray  # (n_added,) shapes of the gammas
    weight: IntArray
    column: IntArray
    amount: FloatArray
    left: FloatArray  # (n_units,) factor for the shape of each unit's weight


class Buffer:
    """Reusable memory for blocks of draws."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._memory = np.zeros((0, width))

    def rows(self, length: int) -> FloatArray:
        """Return an uninitialised array ``(length, width)``."""
        if len(self._memory) < length:
            self._memory = np.zeros((length, self.width))
        return self._memory[:length]


def _as_slice(columns: IntArray) -> slice | None:
    """Return consecutive indices as a slice, which avoids a copy."""
    if not len(columns) or int(columns[-1]) - int(columns[0]) != len(columns) - 1:
        return None
    return slice(int(columns[0]), int(columns[-1]) + 1) if (np.diff(columns) == 1).all() else None


Evaluate: TypeAlias = Callable[[FloatArray], FloatArray]
"""Function from weights ``(n_draws, n_units)`` to one value per draw."""


class Prepared(Protocol):
    """Truth and scores of one model, prepared for a metric."""

    def worker(self) -> Evaluate:
        """Return a function with its own buffers, one per thread."""


class ItemData(NamedTuple):
    """Item data of one model for a metric.

    For a ranking, values are the scores and truth marks the positive items. For classes and
    probabilities, there is one column per class, and truth is the index of the true class. Grades
    and statistics have no truth.
    """

    values: FloatArray  # (n_items,) or (n_items, n_columns)
    truth: AnyArray | None
    units: Units


LEAST_PROBABILITY = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class WeightedMean:
    """Σ w · value / Σ w, as two sums over units.

    Examples
    --------
    >>> WeightedMean(np.array([1.0, 0.0, 4.0]), Units(3)).worker()(np.array([[1.0, 2.0, 1.0]]))
    array([1.25])
    """

    values: FloatArray  # (n_items,)
    units: Units

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        top = self.units.sums(self.values)
        bottom = self.units.sums(np.ones(len(self.values)))

        def evaluate(weights: FloatArray) -> FloatArray:
            total: FloatArray = np.einsum("ij,j->i", weights, top)
            total /= np.einsum("ij,j->i", weights, bottom)
            return total

        return evaluate


def log_losses(truth: IntArray, probability: FloatArray) -> FloatArray:
    """Return −log of the true class's probability, clipped as in scikit-learn.

    Parameters
    ----------
    truth
        Index of the true class of each item.
    probability
        ``(n_items, n_classes)``; rows sum to 1 up to rounding.

    Examples
    --------
    >>> log_losses(np.array([1, 0]), np.array([[0.5, 0.5], [1.0, 0.0]])).round(3)
    array([0.693, 0.   ])
    """
    of_truth = probability[np.arange(len(truth)), truth]
    losses: FloatArray = -np.log(np.clip(of_truth, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))
    return losses


def brier_losses(truth: IntArray, probability: FloatArray) -> FloatArray:
    """Return the squared distance from the truth; half of it for two classes.

    Parameters
    ----------
    truth
        Index of the true class of each item.
    probability
        ``(n_items, n_classes)``.

    Examples
    --------
    >>> brier_losses(np.array([1]), np.array([[0.4, 0.6]])).round(3)
    array([0.16])
    """
    wanted = np.zeros_like(probability)
    wanted[np.arange(len(truth)), truth] = 1.0
    squares: FloatArray = np.square(probability - wanted).sum(axis=1)
    return squares / 2 if probability.shape[1] == 2 else squares


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranking:
    """Positive and negative items, each sorted by descending score.

    Parameters
    ----------
    positives, negatives
        Indices of the items.
    above, level
        For each positive, the number of negatives with a higher score, and with at least its score.
    peers
        For each positive, the number of positives with at least its score.
    units
        Weights of the items.

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

    If D(k) is the weight of the k highest negatives, AUC is 1 − Σ_positives w · ½ (D(above) +
    D(level)) / (W₊ W₋). This takes one cumulative sum per draw.
    """

    ranking: Ranking

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        ranking = self.ranking
        positives = ranking.units.picker(ranking.positives)
        negatives = accumulator(ranking)
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

    Recall increases only at positives, so this is Σ_positives w · precision at their score / W₊,
    with one threshold for equal scores, as in scikit-learn.
    """

    ranking: Ranking

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        ranking = self.ranking
        positives = ranking.units.picker(ranking.positives)
        negatives = accumulator(ranking)
        width = len(ranking.positives)
        buffer, false, right = Buffer(width + 1), Buffer(width), Buffer(width)

        def evaluate(weights: FloatArray) -> FloatArray:
            weight, passed = positives(weights), negatives(weights)
            hits = buffer.rows(len(weights))
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


def accumulator(ranking: Ranking) -> Evaluate:
    """Return a function that computes the weight of the k highest negatives, k = 0, 1, …"""
    negatives = ranking.units.picker(ranking.negatives)
    buffer = Buffer(len(ranking.negatives) + 1)

    def accumulate(weights: FloatArray) -> FloatArray:
        total = buffer.rows(len(weights))
        total[:, 0] = 0.0
        np.cumsum(negatives(weights), axis=1, out=total[:, 1:])
        return total

    return accumulate
