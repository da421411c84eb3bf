"""Posterior of F-beta."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.exact.distribution import (
    PointWise,
    density,
    invert,
    log_expected,
    one_point,
    one_tail,
    plus_tail,
    positive,
)
from outperform.posterior.exact.quadrature import log_integrals, ratio_moments
from outperform.posterior.exact.share import Share
from outperform.posterior.exact.tabulated import Table, tabulate


@dataclass(frozen=True, slots=True)
class OddsProduct(PointWise):
    """``C / (1 + C)`` with ``C = theta (1 - mu) / mu`` and independent ``theta`` and ``mu``.

    ``C`` is the ratio of false positives to positives.

    Parameters
    ----------
    rate
        Distribution of the false positive rate ``theta``.
    prevalence
        Distribution of the prevalence ``mu``.

    Examples
    --------
    >>> flat = OddsProduct(Share(1.0, 1.0), Share(1.0, 1.0))
    >>> log_density = flat.log_densities(np.array([0.5]), np.array([0.5]))
    >>> round(float(np.exp(log_density)[0]), 12)  # 4 log(2) - 2
    0.772588722240
    """

    rate: Share
    prevalence: Share

    @property
    def ends(self) -> tuple[float, float]:
        """Powers ``s`` of the density ``distance^(s - 1)`` at 0 and at 1."""
        return min(self.rate.a, self.prevalence.b), self.prevalence.a

    @property
    def centre(self) -> float:
        """Fast approximation of the mean."""
        ratio = self.rate.mean * self.prevalence.b / self.prevalence.a
        return ratio / (1.0 + ratio)

    @property
    def log_odds_spread(self) -> float:
        """Approximate standard deviation of the log odds."""
        rate, prevalence = self.rate, self.prevalence
        variance = rate.b / (rate.a + rate.b) / rate.a + 1.0 / prevalence.a + 1.0 / prevalence.b
        return math.sqrt(variance)

    @property
    def precision(self) -> float:
        """Relative error from rounding."""
        rate, prevalence = self.rate, self.prevalence
        return 1e-13 + 1e-15 * math.sqrt(rate.a + rate.b + prevalence.a + prevalence.b)

    def log_densities(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the density at each ``x``, where ``y`` is ``1 - x``."""
        rate, prevalence, ratio = self.rate, self.prevalence, x / y
        column = ratio[:, None]

        def log_function(left: FloatArray, right: FloatArray) -> FloatArray:
            share, rest = left / (left + column), column / (left + column)
            log_odds = prevalence.log_density(share, rest) + np.log(share * rest)
            return rate.log_density(left, right) + log_odds

        def guide(left: FloatArray, right: FloatArray) -> FloatArray:
            share, rest = left / (left + column), column / (left + column)
            log_odds = prevalence.guide_density(share, rest) + np.log(share * rest)
            return rate.guide_density(left, right) + log_odds

        ones, slopes = np.ones(len(x)), (rate.a + prevalence.a, rate.b)
        rows = log_integrals(log_function, ones, slopes=slopes, guide=guide, scale=ratio)
        return rows - np.log(x) - np.log(y)


_Number = TypeVar("_Number", float, FloatArray)


@dataclass(frozen=True, slots=True)
class FlatFScore(PointWise):
    """F-beta of ``tp = mu theta_pos``, ``fp = (1 - mu) theta_neg``, ``fn = mu (1 - theta_pos)``.

    Prevalence ``mu`` and the two rates are independent Beta variables. Unless the shapes of ``mu``
    equal the masses of the two rows, this is not a ratio of gamma sums. ``F > t`` is ``C <
    theta_pos ((1 + beta^2)/t - 1) - beta^2`` with ``C = theta_neg (1 - mu)/mu``; the distribution
    of ``C`` is tabulated once, and a single integral over ``theta_pos`` or ``C`` completes the
    calculation.

    Parameters
    ----------
    pos
        Shapes of true positives and false negatives.
    neg
        Shapes of false positives and true negatives.
    prevalence
        Shapes of positives and negatives.
    beta
        Weight of recall relative to precision.

    Examples
    --------
    >>> prior = FlatFScore((1.0, 1.0), (1.0, 1.0), (1.0, 1.0))
    >>> round(prior.sf(0.5), 12)
    0.420541357294
    """

    pos: tuple[float, float]
    neg: tuple[float, float]
    prevalence: tuple[float, float]
    beta: float = 1.0

    def __post_init__(self) -> None:
        shapes = {"pos": self.pos, "neg": self.neg, "prevalence": self.prevalence}
        for name, pair in shapes.items():
            positive(**{f"{name}[{i}]": shape for i, shape in enumerate(pair)})
        positive(beta=self.beta)

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest possible value."""
        return 0.0, 1.0

    @property
    def mean(self) -> float:
        """The expected value."""
        return tabulate(self).mean

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return tabulate(self).sd

    @property
    def ends(self) -> tuple[float, float]:
        """Powers ``s`` of the density ``distance^(s - 1)`` at 0 and at 1."""
        return (
            min(self.pos[0], self.prevalence[0]),
            self.pos[1] + min(self.neg[0], self.prevalence[1]),
        )

    @property
    def centre(self) -> float:
        """Fast approximation of the mean."""
        recall, square = self._recall.mean, self.beta * self.beta
        ratio = self.prevalence[1] / self.prevalence[0] * self.neg[0] / sum(self.neg)
        return (1.0 + square) * recall / (recall + square + ratio)

    @property
    def log_odds_spread(self) -> float:
        """Approximate standard deviation of the log odds."""
        tp, fn = self.pos
        p0, p1 = self.prevalence
        ratio = p1 / p0 * self.neg[0] / sum(self.neg)
        rest = self.beta * self.beta * fn / (tp + fn) + ratio
        share = ratio / rest
        variance = self.neg[1] / sum(self.neg) / self.neg[0] + 1.0 / p0 + 1.0 / p1
        return math.sqrt(1.0 / tp + (1.0 - share) ** 2 / fn + share * share * variance)

    @property
    def precision(self) -> float:
        """Relative error from rounding."""
        return 2e-13 + 2e-15 * math.sqrt(sum(self.pos) + sum(self.neg) + sum(self.prevalence))

    def cdf(self, value: float) -> float:
        """Return the probability of at most ``value``."""
        if not 0.0 < value < 1.0:
            return 1.0 if value >= 1.0 else 0.0
        return one_tail(self._direct, value, self.centre, upper=False)

    def sf(self, value: float) -> float:
        """Return the probability of more than ``value``."""
        if not 0.0 < value < 1.0:
            return 0.0 if value >= 1.0 else 1.0
        return one_tail(self._direct, value, self.centre, upper=True)

    def pdf(self, value: float) -> float:
        """Return the density at ``value``."""
        return density(self.log_pdf(value))

    def log_pdf(self, value: float) -> float:
        """Return the log of the density at ``value``."""
        if not 0.0 <= value <= 1.0:
            return -math.inf
        # at an end, the limit is needed; it is evaluated where the density has converged to it
        x, y = np.array([max(value, 1e-300)]), np.array([max(1.0 - value, 1e-300)])
        return float(self.log_densities(x, y)[0])

    def quantile(self, probability: float) -> float:
        """Return the value that is not exceeded with the given probability."""
        return invert(self, probability)

    @property
    def _recall(self) -> Share:
        return Share(*self.pos)

    @property
    def _ratio(self) -> Table:
        """The distribution of ``C / (1 + C)``."""
        return tabulate(OddsProduct(Share(*self.neg), Share(*self.prevalence)))

    def _direct(self, value: float, upper: bool) -> float:
        """Integrate over recall or ``C``, whichever affects F less."""
        recall, ratio = self._recall, self._ratio
        weight = ratio.centre / (1.0 - ratio.centre)
        by_recall = recall.spread / recall.centre * (self.beta * self.beta + weight)
        by_ratio = weight * ratio.source.log_odds_spread
        integrate = self._over_recall if by_recall < by_ratio else self._over_ratio
        return integrate(value, 1.0 - value, upper)

    def log_densities(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the density at each ``x``, where ``y`` is ``1 - x``."""
        recall, ratio = self._recall, self._ratio
        least, width, grow = self._recall_interval(x[:, None], y[:, None])

        def log_function(left: FloatArray, right: FloatArray) -> FloatArray:
            point = least + left
            share, rest = _share(grow * left)
            log_ratio = ratio.log_density(share, rest) + 2.0 * np.log(rest)
            return recall.log_density(point, right) + log_ratio + np.log(point)

        slopes, scale = (ratio.ends[0], recall.b), np.minimum(x, y)
        rows = log_integrals(log_function, width[:, 0], slopes=slopes, scale=scale)
        # the rest of dC/dF, without the theta_pos above
        return rows + math.log(1.0 + self.beta * self.beta) - 2.0 * np.log(x)

    def _recall_interval(self, x: _Number, y: _Number) -> tuple[_Number, _Number, _Number]:
        """Smallest ``theta_pos`` for an F of ``x``, its distance to 1, and ``C`` per unit of it."""
        square = self.beta * self.beta
        return square * x / (square + y), (1.0 + square) * y / (square + y), (square + y) / x

    def _over_recall(self, x: float, y: float, upper: bool) -> float:
        recall, ratio = self._recall, self._ratio
        least, width, grow = self._recall_interval(x, y)
        log_part = log_expected(
            recall,
            lambda left, right: (least + left, right),
            ratio.log_lower if upper else ratio.log_upper,
            ratio.guide_lower if upper else ratio.guide_upper,
            lambda left, right: _share(grow * left),
            width,
            (1.0 + ratio.ends[0] if upper else 1.0, recall.b),
            min(x, y),
        )
        if upper:
            return math.exp(log_part)
        return plus_tail(log_part, recall, least, width, upper=False)

    def _over_ratio(self, x: float, y: float, upper: bool) -> float:
        recall, ratio = self._recall, self._ratio
        square = self.beta * self.beta
        most, beyond = (1.0 + square) * y, x
        most, beyond = most / (most + beyond), beyond / (most + beyond)

        def where(left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
            rest = beyond + right
            point = (square + left / rest) * x / (square + y)
            return point, x * right / (beyond * rest * (square + y))

        log_part = log_expected(
            ratio,
            lambda left, right: (left, beyond + right),
            recall.log_upper if upper else recall.log_lower,
            recall.guide_upper if upper else recall.guide_lower,
            where,
            most,
            (ratio.ends[0], 1.0 + recall.b if upper else 1.0),
            min(x, y),
        )
        if upper:
            return math.exp(log_part)
        return plus_tail(log_part, ratio, most, beyond, upper=True)


def _share(ratio: FloatArray) -> tuple[FloatArray, FloatArray]:
    return ratio / (1.0 + ratio), 1.0 / (1.0 + ratio)


@dataclass(frozen=True, slots=True)
class WeightedShare(PointWise):
    """``T / (T + w1 R1 + w2 R2)`` with independent gammas: F-beta.

    ``R1 = U N`` and ``R2 = (1 - U) N`` with ``U ~ Beta(b1, b2)`` and ``N ~ Gamma(b1 + b2)``
    independent. Given ``U`` it is a :class:`Share` of weight ``w1 U + w2 (1 - U)``, and a single
    integral over ``U`` completes the calculation. For F-beta the weights are ``1 / (1 + beta^2)``
    of false positives and ``beta^2 / (1 + beta^2)`` of false negatives.

    Parameters
    ----------
    a
        Shape of the part in favour: count plus prior.
    b1, w1
        Shape and weight of the first part against.
    b2, w2
        Shape and weight of the second part against.

    Examples
    --------
    F2 for 80 true positives, 10 false positives and 20 false negatives, flat prior:

    >>> f2 = WeightedShare(81.0, 11.0, 0.2, 21.0, 0.8)
    >>> round(f2.cdf(f2.quantile(0.3)), 12)
    0.3
    """

    a: float
    b1: float
    w1: float
    b2: float
    w2: float

    def __post_init__(self) -> None:
        positive(a=self.a, b1=self.b1, w1=self.w1, b2=self.b2, w2=self.w2)

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest possible value."""
        return 0.0, 1.0

    @property
    def mean(self) -> float:
        """The expected value."""
        return ratio_moments(self.a, ((self.b1, self.w1), (self.b2, self.w2)))[0]

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return ratio_moments(self.a, ((self.b1, self.w1), (self.b2, self.w2)))[1]

    @property
    def ends(self) -> tuple[float, float]:
        """Powers ``s`` of the density ``distance^(s - 1)`` at 0 and at 1."""
        return self.a, self.b1 + self.b2

    @property
    def centre(self) -> float:
        """Fast approximation of the mean."""
        return self.a / (self.a + self.w1 * self.b1 + self.w2 * self.b2)

    @property
    def log_odds_spread(self) -> float:
        """Approximate standard deviation of the log odds."""
        rest = self.w1 * self.b1 + self.w2 * self.b2
        squares = self.w1 * (self.w1 * self.b1 / rest) + self.w2 * (self.w2 * self.b2 / rest)
        return math.sqrt(1.0 / self.a + squares / rest)

    @property
    def precision(self) -> float:
        """Relative error from rounding."""
        return 1e-13 + 1e-15 * math.sqrt(self.a + self.b1 + self.b2)

    def cdf(self, value: float) -> float:
        """Return the probability of at most ``value``."""
        return self._tail(value, upper=False)

    def sf(self, value: float) -> float:
        """Return the probability of more than ``value``."""
        return self._tail(value, upper=True)

    def pdf(self, value: float) -> float:
        """Return the density at ``value``."""
        return density(self.log_pdf(value))

    def log_pdf(self, value: float) -> float:
        """Return the log of the density at ``value``."""
        if not 0.0 < value < 1.0:
            return self._log_pdf_at_end(value)
        return float(self.log_densities(*one_point(value))[0])

    def quantile(self, probability: float) -> float:
        """Return the value that is not exceeded with the given probability."""
        if self.w1 == self.w2:
            return self._given(self.w1).quantile(probability)
        return invert(self, probability)

    def log_densities(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the density at each ``x``, where ``y`` is ``1 - x``."""
        if self.w1 == self.w2:
            return self._given(self.w1).log_density(x, y)
        core, split = self._given(1.0), Share(self.b1, self.b2)
        column, rest = x[:, None], y[:, None]

        def log_function(left: FloatArray, right: FloatArray) -> FloatArray:
            share, other = self._place(column, rest, left, right)
            log_power = core.log_density(share, other) + np.log(share * other)
            return split.log_density(left, right) + log_power

        def guide(left: FloatArray, right: FloatArray) -> FloatArray:
            share, other = self._place(column, rest, left, right)
            log_power = core.guide_density(share, other) + np.log(share * other)
            return split.guide_density(left, right) + log_power

        ones, slopes = np.ones(len(x)), (self.b1, self.b2)
        rows = log_integrals(log_function, ones, slopes=slopes, guide=guide, scale=ones)
        return rows - np.log(x) - np.log(y)

    def _tail(self, value: float, *, upper: bool) -> float:
        if self.w1 == self.w2 or not 0.0 < value < 1.0:
            conditional = self._given(self.w1)
            return conditional.sf(value) if upper else conditional.cdf(value)
        return one_tail(self._direct, value, self.centre, upper=upper)

    def _direct(self, value: float, upper: bool) -> float:
        core = self._given(1.0)
        log_tail = log_expected(
            Share(self.b1, self.b2),
            lambda left, right: (left, right),
            core.log_upper if upper else core.log_lower,
            core.guide_upper if upper else core.guide_lower,
            lambda left, right: self._place(value, 1.0 - value, left, right),
            1.0,
            (self.b1, self.b2),
        )
        return math.exp(log_tail)

    def _given(self, weight: float) -> Share:
        return Share(self.a, self.b1 + self.b2, weight)

    def _place(
        self, x: FloatArray | float, y: FloatArray | float, left: FloatArray, right: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Value of ``T / (T + N)`` at which the share is ``x``, given ``U``."""
        weighted = (self.w1 * left + self.w2 * right) * x
        return weighted / (weighted + y), y / (weighted + y)

    def _log_pdf_at_end(self, value: float) -> float:
        if value not in (0.0, 1.0):
            return -math.inf
        shape = self.ends[int(value)]
        if shape != 1.0:
            return -math.inf if shape > 1.0 else math.inf
        if value == 0.0:
            return math.log(self.b1 * self.w1 + self.b2 * self.w2)
        # the mean of 1/weight over both parts, most easily computed from the density near 1
        return float(self.log_densities(np.array([1.0]), np.array([1e-17]))[0])
