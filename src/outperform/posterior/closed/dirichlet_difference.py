"""The posterior of the difference of two shares of one Dirichlet."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.closed.inversion import invert
from outperform.posterior.closed.quadrature import log_integral
from outperform.posterior.closed.share import Share
from outperform.posterior.closed.tails import density, log_expected, one_tail, plus_tail
from outperform.posterior.closed.unit_interval import positive

_NOTHING = 1e-30  # a difference smaller than this is zero for every purpose


@dataclass(frozen=True, slots=True)
class DirichletDifference:
    """``p1 - p2`` for ``(p1, p2, p3) ~ Dirichlet(a1, a2, a3)``.

    This is paired recall, specificity or accuracy: ``p1`` is what only A gets right,
    ``p2`` what only B gets right, ``p3`` the rest. ``p1 - p2 = S (2U - 1)`` with
    ``S ~ Beta(a1 + a2, a3)`` and ``U ~ Beta(a1, a2)`` independent, so that
    ``P(p1 > p2) = 1 - I_1/2(a1, a2)``, and the density at zero is
    ``Gamma(n) / (Gamma(a1) Gamma(a2) Gamma(a3)) 2^-(a1+a2-1) B(a1+a2-1, a3)``.

    Parameters
    ----------
    a1, a2
        Shapes of the two shares: count plus prior.
    a3
        Shape of the rest; 0 if there is none.

    Examples
    --------
    Twelve documents only A got right, five only B, 83 both or neither; flat prior:

    >>> recall = DirichletDifference(13.0, 6.0, 85.0)
    >>> round(recall.sf(0.0), 12)
    0.951873779297
    """

    a1: float
    a2: float
    a3: float

    def __post_init__(self) -> None:
        positive(a1=self.a1, a2=self.a2)
        if self.a3 != 0.0:
            positive(a3=self.a3)

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest possible value."""
        return -1.0, 1.0

    @property
    def mean(self) -> float:
        """The expected value."""
        return (self.a1 - self.a2) / (self.a1 + self.a2 + self.a3)

    @property
    def sd(self) -> float:
        """The standard deviation."""
        n = self.a1 + self.a2 + self.a3
        p1, p2, p3 = self.a1 / n, self.a2 / n, self.a3 / n
        return math.sqrt((4.0 * p1 * p2 + p3 * (p1 + p2)) / (n + 1.0))

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
        if not -1.0 <= value <= 1.0:
            return -math.inf
        if self.a3 == 0.0:
            return self._split.log_pdf(0.5 + 0.5 * value) - math.log(2.0)
        if value < 0.0:
            return self._swapped.log_pdf(-value)
        if value < _NOTHING:
            return self._log_pdf_at_zero()
        return self._log_pdf_at_one() if value == 1.0 else self._log_pdf_above(value)

    def quantile(self, probability: float) -> float:
        """Return the value that is not exceeded with the given probability."""
        return invert(self, probability)

    @property
    def _swapped(self) -> DirichletDifference:
        return DirichletDifference(self.a2, self.a1, self.a3)

    @property
    def _split(self) -> Share:
        """``U``: the part of the two shares that is the first."""
        return Share(self.a1, self.a2)

    @property
    def _sum(self) -> Share:
        """``S``: the two shares together."""
        return Share(self.a1 + self.a2, self.a3)

    def _tail(self, value: float, *, upper: bool) -> float:
        if not -1.0 < value < 1.0:
            return float((value >= 1.0) != upper)
        if self.a3 == 0.0 or abs(value) < _NOTHING:
            point = 0.5 + 0.5 * value
            return self._split.sf(point) if upper else self._split.cdf(point)
        return one_tail(self._direct, value, self.mean, upper=upper)

    def _direct(self, value: float, upper: bool) -> float:
        if value < 0.0:
            return self._swapped._direct(-value, not upper)
        split, total = self._split, self._sum
        if split.spread * total.centre < total.spread * abs(split.centre - 0.5):
            return self._over_split(value, upper)
        return self._over_sum(value, upper)

    def _over_split(self, d: float, upper: bool) -> float:
        """Integrate over ``U`` from ``(1 + d)/2`` to 1 the tail of ``S`` at ``d / (2U - 1)``."""
        total = self._sum
        log_part = log_expected(
            self._split,
            lambda left, right: (0.5 * (1.0 + d) + left, right),
            total.log_upper if upper else total.log_lower,
            total.guide_upper if upper else total.guide_lower,
            lambda left, right: (d / (d + 2.0 * left), 2.0 * left / (d + 2.0 * left)),
            0.5 * (1.0 - d),
            (1.0 + self.a3 if upper else 1.0, self.a2),
            d,
        )
        if upper:
            return math.exp(log_part)
        return plus_tail(log_part, self._split, 0.5 * (1.0 + d), 0.5 * (1.0 - d), upper=False)

    def _over_sum(self, d: float, upper: bool) -> float:
        """Integrate over ``S`` from ``d`` to 1 the tail of ``U`` at ``(1 + d/S)/2``."""
        split = self._split

        def where(left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
            double = 2.0 * (d + left)
            return (2.0 * d + left) / double, left / double

        log_part = log_expected(
            self._sum,
            lambda left, right: (d + left, right),
            split.log_upper if upper else split.log_lower,
            split.guide_upper if upper else split.guide_lower,
            where,
            1.0 - d,
            (1.0 + self.a2 if upper else 1.0, self.a3),
            d,
        )
        if upper:
            return math.exp(log_part)
        return plus_tail(log_part, self._sum, d, 1.0 - d, upper=False)

    def _log_pdf_at_zero(self) -> float:
        # the density of 2U - 1 there, times the mean of 1/S
        both = self.a1 + self.a2
        if both <= 1.0:
            return math.inf
        return self._split.log_pdf(0.5) + math.log((both - 1.0 + self.a3) / (2.0 * (both - 1.0)))

    def _log_pdf_at_one(self) -> float:
        power = self.a2 + self.a3
        if power == 1.0:
            return math.log(self.a1) + (self.a3 - 1.0) * math.log(2.0)
        return -math.inf if power > 1.0 else math.inf

    def _log_pdf_above(self, d: float) -> float:
        """Integrate the Dirichlet density over ``p2`` along ``p1 = p2 + d``."""
        split, total = self._split, self._sum

        def log_function(left: FloatArray, right: FloatArray) -> FloatArray:
            both = d + 2.0 * left
            log_split = split.log_density((d + left) / both, left / both)
            return total.log_density(both, 2.0 * right) + log_split - np.log(both)

        def guide(left: FloatArray, right: FloatArray) -> FloatArray:
            both = d + 2.0 * left
            log_split = split.guide_density((d + left) / both, left / both)
            return total.guide_density(both, 2.0 * right) + log_split - np.log(both)

        width, slopes = 0.5 * (1.0 - d), (self.a2, self.a3)
        return log_integral(log_function, width, slopes=slopes, guide=guide, scale=d)
