"""Curve metrics: partial ROC AUC, rates at a threshold, ROC AUC of several classes, calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from typing import Literal, TypeAlias

import numpy as np

from outperform._rows import distinct_rows
from outperform._typing import FloatArray, IntArray
from outperform.metrics.weighted import (
    AreaUnderCurve,
    AveragePrecision,
    Buffer,
    Evaluate,
    ItemData,
    Prepared,
    Ranking,
    Units,
    accumulator,
)


@dataclass(frozen=True, slots=True)
class PartialArea:
    """ROC AUC up to a false positive rate, standardised by McClish: ½ for no skill, 1 at best.

    Let F be the weight of negatives that may rank above. A positive item then contributes the part
    of [0, F] below it. Ties with negatives are interpolated linearly.

    Examples
    --------
    >>> ranking = Ranking.of(np.array([0, 0, 1, 1]) == 1, np.array([0.1, 0.4, 0.35, 0.8]), Units(4))
    >>> PartialArea(ranking, 0.5).worker()(np.ones((1, 4))).round(4)
    array([0.6667])
    """

    ranking: Ranking
    max_fpr: float

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        ranking, most = self.ranking, self.max_fpr
        positives, negatives = ranking.units.picker(ranking.positives), accumulator(ranking)
        level = np.flatnonzero(ranking.level != ranking.above)

        def evaluate(weights: FloatArray) -> FloatArray:
            weight, total = positives(weights), negatives(weights)
            end = most * total[:, -1:]
            start = np.minimum(total[:, ranking.above], end)
            passed = end - start
            if len(level):
                first, last = start[:, level], total[:, ranking.level[level]]
                inside = np.minimum(last, end) - first
                passed[:, level] -= inside * (1 - 0.5 * _divided(inside, last - first))
            area = np.einsum("ij,ij->i", weight, passed) / (weight.sum(axis=1) * total[:, -1])
            least = 0.5 * most * most
            return np.asarray(0.5 * (1 + (area - least) / (most - least)))

        return evaluate


_REACHED = 1e-12  # tolerance for a rate that is missed only by rounding


Rate: TypeAlias = Literal["sensitivity", "specificity"]


@dataclass(frozen=True, slots=True)
class RateAt:
    """Best sensitivity at a given specificity, or vice versa, over all thresholds.

    Thresholds are scores, without interpolation: the result is the largest sensitivity among
    thresholds with a specificity of at least ``level``.

    Examples
    --------
    >>> ranking = Ranking.of(np.array([0, 0, 1, 1]) == 1, np.array([0.1, 0.4, 0.35, 0.8]), Units(4))
    >>> RateAt(ranking, 0.9, "sensitivity").worker()(np.ones((1, 4)))
    array([0.5])
    """

    ranking: Ranking
    level: float
    of: Rate

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        ranking, level, negatives = self.ranking, self.level, accumulator(self.ranking)
        positives = ranking.units.picker(ranking.positives)
        buffer = Buffer(len(ranking.positives) + 1)
        # Positives above each number of negatives, and negatives down to each number of positives.
        above = np.searchsorted(ranking.level, np.arange(len(ranking.negatives) + 1), side="right")
        down = np.concatenate([[0], ranking.level])

        def evaluate(weights: FloatArray) -> FloatArray:
            false, hits = negatives(weights), buffer.rows(len(weights))
            hits[:, 0] = 0.0
            np.cumsum(positives(weights), axis=1, out=hits[:, 1:])
            if self.of == "sensitivity":
                most = (1 - level + _REACHED) * false[:, -1:]
                columns = above[np.count_nonzero(false <= most, axis=1) - 1]
                return np.asarray(_at(hits, columns) / hits[:, -1])
            least = (level - _REACHED) * hits[:, -1:]
            columns = down[np.count_nonzero(hits < least, axis=1)]
            return np.asarray(1 - _at(false, columns) / false[:, -1])

        return evaluate


def _at(values: FloatArray, columns: IntArray) -> FloatArray:
    return np.asarray(np.take_along_axis(values, columns[:, None], axis=1)[:, 0])


def _divided(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Divide, with 0 for a denominator of 0."""
    return np.divide(top, bottom, out=np.zeros_like(bottom), where=bottom > 0)


_MOST_KEPT = 64  # with up to this many areas, their memory is kept between blocks


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassAreas:
    """Mean ROC AUC of several classes: one against the rest, or one against another."""

    parts: tuple[AreaUnderCurve, ...]
    shares: (
        tuple[tuple[int, ...], ...] | None
    )  # weighting class of each part; None for a plain mean
    codes: IntArray  # (n_items,) the true classes

    @classmethod
    def of(cls, items: ItemData, name: str) -> ClassAreas:
        """Sort once per class, or once per ordered pair of classes, depending on the name."""
        score, truth, units = items
        assert truth is not None
        classes, every = range(score.shape[1]), np.arange(len(truth))
        pairs = (
            list(permutations(classes, 2)) if "ovo" in name else [(single,) for single in classes]
        )
        parts = []
        for first, *other in pairs:
            both = every if not other else np.flatnonzero(np.isin(truth, [first, *other]))
            own = Ranking.of(truth[both] == first, score[both, first], units)
            whole = replace(own, positives=both[own.positives], negatives=both[own.negatives])
            parts.append(AreaUnderCurve(whole))
        shares = tuple(pairs) if name.endswith("weighted") else None
        return cls(parts=tuple(parts), shares=shares, codes=truth)

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        units = self.parts[0].ranking.units
        sums = np.stack(
            [units.sums(indicator) for indicator in np.eye(self.codes.max() + 1)[self.codes].T]
        )
        kept = [part.worker() for part in self.parts] if len(self.parts) <= _MOST_KEPT else None

        def evaluate(weights: FloatArray) -> FloatArray:
            workers = kept or (part.worker() for part in self.parts)
            areas = np.stack([worker(weights) for worker in workers])
            if self.shares is None:
                return np.asarray(areas.mean(axis=0))
            shares = np.stack([weights @ sums[list(codes)].sum(axis=0) for codes in self.shares])
            return np.asarray((areas * shares).sum(axis=0) / shares.sum(axis=0))

        return evaluate


Part: TypeAlias = Literal["ece", "reliability", "resolution", "uncertainty"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Binned:
    """Calibration in bins of equal width: predicted probabilities against true frequencies.

    Let a bin have share s, mean probability p and frequency f, and let f̄ be the frequency in all
    bins. Then ECE is Σ s |f − p|, reliability Σ s (f − p)², resolution Σ s (f − f̄)² and
    uncertainty f̄ (1 − f̄). Noise in f makes each of the first three too large. Debiasing subtracts
    its variance v from the squares (Ferro and Fricker, 2012; Kumar et al., 2019), and the
    normal-theory bias of |f − p| from the ECE (Kumar's second estimator, with its expectation in
    closed form). v is computed from the weights. It is f (1 − f) / (n − 1) if all weights are 1,
    and twice as much in a draw, because random weights double the noise.

    Examples
    --------
    >>> given = {"probability": np.array([0.1, 0.2, 0.8, 0.9]), "hit": np.array([0.0, 1, 1, 1])}
    >>> Binned(part="ece", bins=2, units=Units(4), **given).worker()(np.ones((1, 4))).round(4)
    array([0.25])
    """

    part: Part
    bins: int
    probability: FloatArray
    hit: FloatArray
    units: Units
    debiased: bool = False

    @classmethod
    def of(cls, items: ItemData, part: Part, bins: int, debiased: bool) -> Binned:
        """Use the second of two columns, or the most probable of several labels."""
        scores, truth, units = items
        assert truth is not None
        several = scores.shape[1] > 2
        column = scores.argmax(axis=1) if several else np.ones(len(truth), dtype=np.int64)
        return cls(
            part=part,
            bins=bins,
            probability=scores[np.arange(len(truth)), column],
            hit=(truth == column).astype(np.float64),
            units=units,
            debiased=debiased,
        )

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        n = len(self.hit)
        edges = np.linspace(0, 1, self.bins + 1)[1:-1]
        unit = np.arange(n) if self.units.unit is None else self.units.unit
        times = np.ones(n) if self.units.times is None else self.units.times
        # Items of the same unit in the same bin share its weight, so they share their noise.
        of_bin = np.searchsorted(edges, self.probability)
        first, index = distinct_rows(np.stack([of_bin, unit], axis=1))
        of_items = (np.ones(n), self.hit, self.probability)
        weighed, hit, predicted = (
            np.bincount(index, times * values).astype(np.float64) for values in of_items
        )
        once = np.stack([weighed, hit, predicted], axis=1)
        twice = np.stack([weighed * weighed, weighed * hit, hit * hit], axis=1)
        bins, units = of_bin[first], unit[first]
        starts = np.flatnonzero(np.diff(bins, prepend=-1))  # empty bins contribute 0
        runs = [slice(*ends) for ends in pairwise([*starts.tolist(), len(bins)])]

        def add_up(weights: FloatArray, values: FloatArray) -> FloatArray:
            """Return the three sums of each bin, ``(3, n_bins, n_draws)``."""
            return np.stack([(weights[:, run] @ values[run]).T for run in runs], axis=1)

        def evaluate(weights: FloatArray) -> FloatArray:
            picked = weights[:, units]
            weight, right, predicted = add_up(picked, once)
            total = weight.sum(axis=0)
            rate, mean = _divided(right, weight), _divided(predicted, weight)
            overall = right.sum(axis=0) / total
            noise, spread = np.zeros_like(rate), np.zeros_like(overall)
            if self.debiased:
                squares = add_up(np.square(picked), twice)
                noise = _noise(weight, rate, squares)
                spread = _noise(total, overall, squares.sum(axis=1))
            share = weight / total
            if self.part == "ece":
                return np.asarray((share * _distance(rate - mean, noise)).sum(axis=0))
            if self.part == "uncertainty":
                return np.asarray(overall * (1 - overall) + spread)
            gap = rate - mean if self.part == "reliability" else rate - overall
            value = (share * (np.square(gap) - noise)).sum(axis=0)
            return np.asarray(value if self.part == "reliability" else value + spread)

        return evaluate


def _noise(weight: FloatArray, rate: FloatArray, squares: FloatArray) -> FloatArray:
    """Return the variance of a weighted rate; 0 for a single unit, which cannot show it."""
    weighed, both, hit = squares
    moved = np.maximum(hit - 2 * rate * both + rate * rate * weighed, 0.0)
    left = np.square(weight) - weighed  # n/(n − 1), with n = (Σw)²/Σw²
    return _divided(moved, np.where(left > _REACHED * np.square(weight), left, 0.0))


_erf = np.vectorize(math.erf, otypes=[np.float64])


def _distance(gap: FloatArray, noise: FloatArray) -> FloatArray:
    """Return |gap| minus its bias from normal noise."""
    distance, sd = np.abs(gap), np.sqrt(noise)
    steps = _divided(distance, sd)
    folded = sd * np.sqrt(2 / np.pi) * np.exp(-0.5 * steps * steps)
    folded += distance * np.where(sd > 0, _erf(steps / np.sqrt(2)), 1.0)
    return np.asarray(2 * distance - folded)


def _ranking(items: ItemData) -> Ranking:
    assert items.truth is not None
    return Ranking.of(items.truth, items.values, items.units)


def area_under_curve(items: ItemData) -> AreaUnderCurve:
    """Return ROC AUC of a ranking."""
    return AreaUnderCurve(_ranking(items))


def average_precision(items: ItemData) -> AveragePrecision:
    """Return the average precision of a ranking."""
    return AveragePrecision(_ranking(items))


def partial_area(items: ItemData, max_fpr: float) -> PartialArea:
    """Return ROC AUC up to a false positive rate."""
    return PartialArea(_ranking(items), max_fpr)


def rate_at(items: ItemData, level: float, rate: Rate) -> RateAt:
    """Return the sensitivity or specificity at a rate of the other."""
    return RateAt(_ranking(items), level, rate)


def rankings_of(prepared: Prepared) -> tuple[Ranking, ...]:
    """Return the rankings used by a metric: a single one, one per class or pair, or none."""
    if isinstance(prepared, ClassAreas):
        return tuple(part.ranking for part in prepared.parts)
    one_ranking = (AreaUnderCurve, AveragePrecision, PartialArea, RateAt)
    return (prepared.ranking,) if isinstance(prepared, one_ranking) else ()
