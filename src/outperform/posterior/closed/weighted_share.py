"""The posterior of a share with two kinds of rest: F-beta."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.closed.gamma_ratio import ratio_moments
from outperform.posterior.closed.inversion import invert
from outperform.posterior.closed.quadrature import log_integrals
from outperform.posterior.closed.share import Share
from outperform.posterior.closed.tails import density, log_expected, one_tail
from outperform.posterior.closed.unit_interval import PointWise, one_point, positive


@dataclass(frozen=True, slots=True)
class WeightedShare(PointWise):
    """``T / (T + w1 R1 + w2 R2)`` with independent gammas: F-beta.

    ``R1 = U N`` and ``R2 = (1 - U) N`` with ``U ~ Beta(b1, b2)`` and
    ``N ~ Gamma(b1 + b2)`` independent. Given ``U`` it is a :class:`Share` of weight
    ``w1 U + w2 (1 - U)``, and one integral over ``U`` does the rest. For F-beta the
    weights are ``1 / (1 + beta^2)`` of false positives and ``beta^2 / (1 + beta^2)`` of
    false negatives.

    Parameters
    ----------
    a
        Shape of what counts for the share: count plus prior.
    b1, w1
        Shape and weight of the first kind of what counts against it.
    b2, w2
        Shape and weight of the second kind.

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
        """About the mean, quickly."""
        return self.a / (self.a + self.w1 * self.b1 + self.w2 * self.b2)

    @property
    def log_odds_spread(self) -> float:
        """About the standard deviation of the log odds."""
        rest = self.w1 * self.b1 + self.w2 * self.b2
        squares = self.w1 * (self.w1 * self.b1 / rest) + self.w2 * (self.w2 * self.b2 / rest)
        return math.sqrt(1.0 / self.a + squares / rest)

    @property
    def precision(self) -> float:
        """Relative error that rounding alone can cause."""
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
            given = self._given(self.w1)
            return given.sf(value) if upper else given.cdf(value)
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
        """Where ``T / (T + N)`` must be for the share to be ``x``, given ``U``."""
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
        # the mean of 1/weight over the kinds, for which there is no shorter form than
        # the density next to 1
        return float(self.log_densities(np.array([1.0]), np.array([1e-17]))[0])
