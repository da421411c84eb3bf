"""The search for the sample size: normal theory, corrected by simulations near the target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, rel_entr

from outperform._typing import FloatArray, Progress
from outperform.errors import UsageError, param
from outperform.planning.goals import Goal, Outlook, World, first_size, grid_of_sizes
from outperform.posterior.rng import child

LARGEST = 1_000_000_000
# How far theory may be off, as standard deviations of shift and tilt: by almost any amount, or, if
# few test sets are simulated, by about five percentage points.
DOUBT = np.array([1.0, 0.5])
LITTLE_DOUBT = np.array([0.2, 0.2])
# The sd of the weights, in units of the score.
_BANDWIDTH = 1.0
_FLATTEST = -0.8
_LEAST_WEIGHT = 1e-6
_MOST_STEPS = 50
_SURE = 1e-9
# Factors of n over which the slope of the curve is measured. If the curve is flat between jumps, a
# wider factor is used.
_SECANTS = (1.05, 2.0, 8.0)
# The search ends when the simulation error of n is below this share of n.
PRECISION = 0.02
# The same with a pilot, for which the range from face value to the safe number is wider anyway.
PRECISION_OF_RANGE = 0.1
_COARSE = (0.25, 0.5, 1.0, 2.0)
_FINE = (0.8, 1.25)
# No size is tried that exceeds all earlier ones by more than this factor.
_LEAP = 8
_SHARE_OF_COARSE = 0.04
_SHARE_OF_FINE = 0.06
# Shares below this value, or equally close to 1, show only that the size lies elsewhere.
_RARE = 0.02
# Theory is contradicted if its mean log-likelihood is lower than that of the observed shares by
# more than this. Then its n is multiplied by one of these factors.
_CONTRADICTED = 0.1
_MOVES = np.exp(np.linspace(-12, 12, 241))


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Simulated test sets of one size."""

    n: int
    simulated: int
    reached: int
    width: float  # Mean width of the intervals.

    @property
    def share(self) -> float:
        """Share that reached the goal."""
        return self.reached / self.simulated


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Normal theory, corrected by simulations."""

    outlook: Outlook
    goal: Goal
    target: float
    shift: float = 0.0
    tilt: float = 0.0
    covariance: FloatArray  # (2, 2) of shift and tilt
    widening: float = 1.0

    def at(self, sizes: ArrayLike) -> FloatArray:
        """Return the probability of the goal, taking the data at face value."""
        return self._probability(self.outlook.probability(self.goal, sizes))

    def least_at(self, sizes: ArrayLike) -> FloatArray:
        """Return the least probability of the goal, over all plausible scatters."""
        return self._probability(self.outlook.least_probability(self.goal, sizes))

    def most_at(self, sizes: ArrayLike) -> FloatArray:
        """Return the greatest probability of the goal, over all plausible scatters."""
        return self._probability(self.outlook.most_probability(self.goal, sizes))

    def _probability(self, theory: FloatArray) -> FloatArray:
        probability: FloatArray = ndtr(self._score(_probit(theory)))
        return probability

    def error(self, size: float) -> float:
        """Return the simulation error of the least probability at a size."""
        score = _probit(self.outlook.least_probability(self.goal, [size]))
        density = np.exp(-(self._score(score) ** 2) / 2) / np.sqrt(2 * np.pi)
        return float(density[0] * self._score_error(score[0]))

    def relative_error(self, size: float, *, least: bool = False) -> float:
        """Return the simulation error of log n where the curve reaches the target; at most 1."""
        theory = self.outlook.least_probability if least else self.outlook.probability
        for step in _SECANTS:
            around = _probit(theory(self.goal, [size / step, size, size * step]))
            slope = (1 + self.tilt) * (around[2] - around[0]) / (2 * np.log(step))
            if slope > 0:
                return min(float(self._score_error(around[1]) / slope), 1.0)
        return 1.0

    def width(self, sizes: ArrayLike) -> FloatArray:
        """Return the expected width of the interval."""
        return self.widening * self.outlook.width(sizes)

    def _score(self, theory: FloatArray) -> FloatArray:
        score: FloatArray = theory + self.shift + self.tilt * (theory - float(ndtri(self.target)))
        return score

    def _score_error(self, theory: float) -> float:
        direction = np.array([1.0, theory - ndtri(self.target)])
        return float(np.sqrt(direction @ self.covariance @ direction))


def _probit(probability: FloatArray) -> FloatArray:
    score: FloatArray = ndtri(np.clip(probability, _SURE, 1 - _SURE))
    return score


def fit(
    outlook: Outlook,
    goal: Goal,
    target: float,
    points: Sequence[Point],
    *,
    doubt: FloatArray = DOUBT,
) -> Curve:
    """Correct normal theory with simulations.

    Parameters
    ----------
    outlook
        Normal theory.
    goal
        Goal to reach.
    target
        Probability to reach.
    points
        Simulated test sets by size.
    doubt
        Prior sds of shift and tilt, the error of the theory.
    """
    sizes = np.array([point.n for point in points], dtype=np.float64)
    outlook = _moved(outlook, goal, points)
    theory = _probit(outlook.probability(goal, sizes))
    away = theory - float(ndtri(target))
    weight = np.exp(-0.5 * (away / _BANDWIDTH) ** 2) + _LEAST_WEIGHT
    beta, covariance = _corrected(theory, away, weight, points, doubt)
    known = np.array([np.isfinite(point.width) for point in points])
    observed = np.array([point.simulated * point.width for point in points])[known]
    expected = np.array([point.simulated for point in points]) * outlook.width(sizes)
    widening = weight[known] @ observed / (weight[known] @ expected[known]) if known.any() else 1.0
    return Curve(
        outlook=outlook,
        goal=goal,
        target=target,
        shift=float(beta[0]),
        tilt=float(beta[1]),
        covariance=covariance,
        widening=float(widening),
    )


def _moved(outlook: Outlook, goal: Goal, points: Sequence[Point]) -> Outlook:
    """Return the theory unchanged, or with a different n if the simulations contradict it.

    Doubling the n of an outlook means that every item carries half the information.
    """
    if _surprise(outlook, goal, points) <= _CONTRADICTED:
        return outlook
    near = [replace(outlook, n=outlook.n * factor) for factor in _MOVES]
    # Among equally good moves the shortest wins, because each step of 0.1 has a small penalty.
    costs = [
        _surprise(moved, goal, points) + 1e-4 * abs(index - _MOVES.size // 2)
        for index, moved in enumerate(near)
    ]
    return near[int(np.argmin(costs))]


def _surprise(outlook: Outlook, goal: Goal, points: Sequence[Point]) -> float:
    """Return the mean loss in log-likelihood of theory against the observed share at each size."""
    simulated = np.array([point.simulated for point in points], dtype=np.float64)
    share = np.array([point.share for point in points])
    chance = np.clip(outlook.probability(goal, [point.n for point in points]), _RARE, 1 - _RARE)
    lost = rel_entr(share, chance) + rel_entr(1 - share, 1 - chance)
    return float(simulated @ lost / simulated.sum())


def _corrected(
    theory: FloatArray,
    away: FloatArray,
    weight: FloatArray,
    points: Sequence[Point],
    doubt: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return shift and tilt by Fisher scoring, and their covariance given the weights."""
    design = np.stack([np.ones_like(away), away], axis=1)
    simulated = np.array([point.simulated for point in points], dtype=np.float64)
    share = np.array([point.share for point in points])
    beta, prior = np.zeros(2), np.diag(doubt**-2)
    for _ in range(_MOST_STEPS):
        information, slope = _likelihood(theory + design @ beta, share, simulated)
        bread = (design * (weight * information)[:, None]).T @ design + prior
        step = np.linalg.solve(bread, design.T @ (weight * slope) - prior @ beta)
        # A shorter step keeps the score from diverging.
        beta = beta + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        beta[1] = max(beta[1], _FLATTEST)
        if np.abs(step).max() < 1e-9:
            break
    meat = (design * (weight**2 * information)[:, None]).T @ design + prior
    inverse = np.linalg.inv(bread)
    covariance: FloatArray = inverse @ meat @ inverse
    return beta, covariance


def _likelihood(
    score: FloatArray, share: FloatArray, simulated: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the Fisher information of each score, and the slope of the log-likelihood."""
    p = np.clip(ndtr(score), _SURE, 1 - _SURE)
    density = np.exp(-(score**2) / 2) / np.sqrt(2 * np.pi)
    per_one = density / (p * (1 - p))
    return simulated * density * per_one, simulated * (share - p) * per_one


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Settings of the search for a sample size."""

    goal: Goal
    target: float
    max_items: int
    n_simulations: int
    precision: float = PRECISION  # simulation error at which the search ends, as a share of n
    doubt: FloatArray = field(default_factory=DOUBT.copy)
    n_jobs: int | None = None

    def run(
        self,
        world: World,
        seed: np.random.SeedSequence,
        progress: Progress | None = None,
    ) -> tuple[Curve, list[Point]]:
        """Simulate coarsely around the size that theory predicts, then close to the target.

        Parameters
        ----------
        world
            Scenario that test sets are simulated from.
        seed
            Seed of all simulations.
        progress
            Function called with the number of simulations done and the maximum.
        """
        outlook = world.outlook(child(seed, 0))
        theory = Curve(
            outlook=outlook, goal=self.goal, target=self.target, covariance=np.zeros((2, 2))
        )
        points: list[Point] = []
        curve, spent, turn = theory, 0, 0
        while spent < self.n_simulations:
            share = _SHARE_OF_FINE if points else _SHARE_OF_COARSE
            each = max(min(20, self.n_simulations // 5), round(share * self.n_simulations), 1)
            for size in self._next(curve, points):
                turn += 1
                each = min(each, self.n_simulations - spent)
                if not each:
                    break
                ends = world.simulate(size, each, child(seed, turn), n_jobs=self.n_jobs)
                points.append(self._point(size, ends))
                spent += each
            curve = fit(outlook, self.goal, self.target, points, doubt=self.doubt)
            if progress is not None:
                progress(min(spent, self.n_simulations), self.n_simulations)
            if self._is_precise(curve, points):
                break
        return curve, points

    def _next(self, curve: Curve, points: list[Point]) -> list[int]:
        """Return the sizes to simulate next."""
        centre = self.size(curve) or self._best(curve)
        factors = _FINE if points else _COARSE
        if points:
            highest, lowest = max(point.n for point in points), min(point.n for point in points)
            if all(point.share < _RARE for point in points):
                centre = max(centre, _LEAP * highest)
            if all(point.share > 1 - _RARE for point in points):
                centre = min(centre, lowest // _LEAP)
            centre = max(min(centre, _LEAP * highest), lowest // _LEAP)
        sizes = [min(max(1, _rounded(centre * factor)), self.max_items) for factor in factors]
        return list(dict.fromkeys(sizes))

    def size(self, curve: Curve) -> int | None:
        """Return the number of items at which a curve reaches the target; None if it never does."""
        return first_size(curve.at, self.target, max_items=self.max_items)

    def safe_size(self, curve: Curve) -> int | None:
        """Return the number of items that is enough under every plausible scatter."""
        return first_size(curve.least_at, self.target, max_items=self.max_items)

    def _best(self, curve: Curve) -> int:
        """Return the first size at which a curve is almost at its maximum."""
        sizes = grid_of_sizes(self.max_items)
        probabilities = curve.at(sizes)
        return int(sizes[np.flatnonzero(probabilities >= probabilities.max() - 0.01)[0]])

    def _is_precise(self, curve: Curve, points: list[Point]) -> bool:
        size = self.size(curve)
        if size is None:
            return False
        near = sum(point.simulated for point in points if size / 2 <= point.n <= 2 * size)
        return (
            near >= min(200, self.n_simulations // 2)
            and curve.relative_error(size) <= self.precision
        )

    def _point(self, size: int, ends: FloatArray) -> Point:
        known = ends[:, ~np.isnan(ends[0])]
        return Point(
            n=size,
            simulated=ends.shape[1],
            reached=int(self.goal.reached(ends).sum()),
            width=float((known[1] - known[0]).mean()) if known.size else np.nan,
        )


def _rounded(size: float) -> int:
    """Return the nearest size on a grid with steps of about 20%, so nearly equal sizes coincide."""
    return round(math.pow(2, round(4 * math.log2(max(size, 1.0))) / 4))


def check_target(target: object) -> float:
    """Return a valid target probability; anything else raises an error."""
    if not isinstance(target, Real) or not 0 < float(target) < 1:
        raise UsageError(
            f"{param('target')} must lie strictly between 0 and 1, such as 0.8; got {target!r}"
        )
    return float(target)


def check_max_items(max_items: object) -> int:
    """Return the largest number of items to consider; invalid values raise an error."""
    number = float(max_items) if isinstance(max_items, Real) else math.nan
    if not 2 <= number <= LARGEST or number != int(number):
        raise UsageError(
            f"{param('max_items')} must be a whole number from 2 to {LARGEST:,}; got {max_items!r}"
        )
    return int(number)
