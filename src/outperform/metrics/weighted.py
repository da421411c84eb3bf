"""Score metrics: ROC AUC, average precision, losses and means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from outperform._typing import AnyArray, FloatArray, IntArray

Pick = Callable[[FloatArray], FloatArray]
"""From weights ``(n_draws, n_units)`` to those of some items ``(n_draws, n_picked)``."""


class Units(NamedTuple):
    """What is weighed, and the weight that each item gets from it."""

    n: int
    unit: IntArray | None = None  # (n_items,) the unit of each; None if it is its own
    times: FloatArray | None = None  # (n_items,) how often a group holds it; None for once
    repeats: FloatArray | None = None  # (n,) how many units look like this one; None for one each

    @property
    def counts(self) -> FloatArray:
        """How many units there are of each kind, ``(n,)``."""
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
        """Return a function, with a buffer of its own, that reads off items' weights.

        Examples
        --------
        >>> pick = Units(2, unit=np.array([0, 1, 0])).picker(np.array([2, 1]))
        >>> pick(np.array([[0.5, 2.0]]))
        array([[0.5, 2. ]])
        """
        places = items if self.unit is None else self.unit[items]
        times = None if self.times is None else self.times[items]
        run = _as_slice(places)
        if run is not None and times is None:
            return lambda weights: weights[:, run]
        buffer = Buffer(len(places))

        def pick(weights: FloatArray) -> FloatArray:
            found = buffer.rows(len(weights))
            # The places are right; "clip" only spares the copy that "raise" would make.
            np.take(weights, places, axis=1, out=found, mode="clip")
            if times is not None:
                found *= times
            return found

        return pick


class Added(NamedTuple):
    """What is added to the sums in every draw, so that what never occurred is not impossible.

    A weight adds its ``amount`` to the ``column`` of the statistics, or of the weights, which are
    last; the two and ``weight`` are of equal length.
    """

    shapes: FloatArray  # (n_added,) of the gammas that are drawn
    weight: IntArray
    column: IntArray
    amount: FloatArray
    left: FloatArray  # (n_units,) what each unit's own weight has its shape multiplied by


class Buffer:
    """Memory for blocks of draws that is taken once and used again."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._memory = np.zeros((0, width))

    def rows(self, length: int) -> FloatArray:
        """Return ``(length, width)`` with anything in it."""
        if len(self._memory) < length:
            self._memory = np.zeros((length, self.width))
        return self._memory[:length]


def _as_slice(places: IntArray) -> slice | None:
    """Return neighbouring places as a slice: reading these costs nothing."""
    if not len(places) or int(places[-1]) - int(places[0]) != len(places) - 1:
        return None
    return slice(int(places[0]), int(places[-1]) + 1) if (np.diff(places) == 1).all() else None


Evaluate: TypeAlias = Callable[[FloatArray], FloatArray]
"""From weights ``(n_draws, n_units)`` to one value a draw."""


class Prepared(Protocol):
    """Truth and scores of one model, made ready for a metric."""

    def worker(self) -> Evaluate:
        """Return a function with buffers of its own; one for each thread."""


class ItemData(NamedTuple):
    """What a metric gets of the items of one model.

    Of a ranking, values are the scores and truth says which items are positive. Of classes and
    probabilities there is a column for each class, and truth is the column that is true. Of grades
    and statistics there is no truth.
    """

    values: FloatArray  # (n_items,) or (n_items, n_columns)
    truth: AnyArray | None
    units: Units


LEAST_PROBABILITY = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class WeightedMean:
    """Σ w · value / Σ w, as two sums over what is weighed.

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
    """Return −log of the probability given to what is true, clipped as in scikit-learn.

    Parameters
    ----------
    truth
        The column that is true of each item.
    probability
        ``(n_items, n_classes)``; a row need not add up to more than rounding to 1.

    Examples
    --------
    >>> log_losses(np.array([1, 0]), np.array([[0.5, 0.5], [1.0, 0.0]])).round(3)
    array([0.693, 0.   ])
    """
    given = probability[np.arange(len(truth)), truth]
    losses: FloatArray = -np.log(np.clip(given, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))
    return losses


def brier_losses(truth: IntArray, probability: FloatArray) -> FloatArray:
    """Return the squared distance from the truth; half of it for two classes.

    Parameters
    ----------
    truth
        The column that is true of each item.
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
    """Positive and negative items, each from the highest score to the lowest.

    Parameters
    ----------
    positives, negatives
        The items, by number.
    above, level
        How many negatives have a higher score than each positive, and how many have a score
        as high or higher.
    peers
        How many positives have a score as high as each positive's or higher.
    units
        The weight of each item.

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

    Recall rises at positives only, so it is Σ_positives w · precision at their score / W₊,
    where equal scores are one threshold, as in scikit-learn.
    """

    ranking: Ranking

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        ranking = self.ranking
        positives = ranking.units.picker(ranking.positives)
        negatives = accumulator(ranking)
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


def accumulator(ranking: Ranking) -> Evaluate:
    """Return a function to the weight of the k highest negatives, k = 0, 1, …"""
    negatives = ranking.units.picker(ranking.negatives)
    buffer = Buffer(len(ranking.negatives) + 1)

    def accumulate(weights: FloatArray) -> FloatArray:
        total = buffer.rows(len(weights))
        total[:, 0] = 0.0
        np.cumsum(negatives(weights), axis=1, out=total[:, 1:])
        return total

    return accumulate
