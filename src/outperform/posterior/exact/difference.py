"""The difference of two shares, from the same Dirichlet or independent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from outperform._typing import FloatArray
from outperform.errors import UsageError
from outperform.posterior.exact.distribution import (
    UnitInterval,
    density,
    invert,
    log_expected,
    one_tail,
    plus_tail,
    positive,
)
from outperform.posterior.exact.f_score import FlatFScore, WeightedShare
from outperform.posterior.exact.quadrature import log_integral
from outperform.posterior.exact.share import Share, many_counts
from outperform.posterior.exact.tabulated import tabulate

_NOTHING = 1e-30  # a smaller difference is treated as zero


@dataclass(frozen=True, slots=True)
class DirichletDifference:
    """``p1 - p2`` for ``(p1, p2, p3) ~ Dirichlet(a1, a2, a3)``.

    This is paired recall, specificity or accuracy: ``p1`` is the probability that only A is right,
    ``p2`` that only B is, and ``p3`` that both or neither are. ``p1 - p2 = S (2U - 1)`` with ``S ~
    Beta(a1 + a2, a3)`` and ``U ~ Beta(a1, a2)`` independent, so ``P(p1 > p2) = 1 - I_1/2(a1, a2)``,
    and the density at zero is ``Gamma(n) / (Gamma(a1) Gamma(a2) Gamma(a3)) 2^-(a1+a2-1) B(a1+a2-1,
    a3)``.

    Parameters
    ----------
    a1, a2
        Shapes of the two shares: count plus prior.
    a3
        Shape of the rest; 0 if there is none.

    Examples
    --------
    Only A is right on 12 items, only B on 5, and both or neither on 83; flat prior:

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
        """``U``: the first share as a fraction of both."""
        return Share(self.a1, self.a2)

    @property
    def _sum(self) -> Share:
        """``S``: the sum of both shares."""
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
        """Integrate the tail of ``S`` at ``d / (2U - 1)`` over ``U`` from ``(1 + d)/2`` to 1."""
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
        """Integrate the tail of ``U`` at ``(1 + d/S)/2`` over ``S`` from ``d`` to 1."""
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


Part: TypeAlias = Share | WeightedShare | FlatFScore

_ALMOST_ONE = 1.0 - 1e-13  # beyond this, the density is a power of the remainder
_SLOW = 0.55  # below this power, the ends have non-negligible mass
_EMPTY = 1e-30  # a smaller difference is treated as zero


@dataclass(frozen=True, slots=True)
class IndependentDifference:
    """``X - Y`` of two independent distributions on (0, 1): unpaired classifiers.

    ``P(X - Y > d)`` is the mean of ``P(X > y + d)`` over ``Y``, or of ``P(Y < x - d)`` over ``X``;
    the integral is over the narrower of the two. The density at zero is the integral of the product
    of both densities.

    Parameters
    ----------
    x, y
        The two distributions.

    Examples
    --------
    >>> from outperform.posterior.exact.share import Share
    >>> difference = IndependentDifference(Share(81.0, 32.0, 0.5), Share(71.0, 47.0, 0.5))
    >>> round(difference.sf(0.0), 12)
    0.968396861404
    """

    x: Part
    y: Part

    def __post_init__(self) -> None:
        for name, part in (("x", self.x), ("y", self.y)):
            if not isinstance(part, Part):
                raise UsageError(
                    f"{name} must be a Share, WeightedShare or FlatFScore, got "
                    f"{type(part).__name__}; only distributions on (0, 1) can be subtracted"
                )

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest possible value."""
        return -1.0, 1.0

    @property
    def mean(self) -> float:
        """The expected value."""
        return self.x.mean - self.y.mean

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return math.hypot(self.x.sd, self.y.sd)

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
        quick = many_counts(self.x, self.y)
        if quick is not None and quick.reaches(value):
            return quick.log_pdf(value)
        if value < 0.0:
            return self._swapped.log_pdf(-value)
        if value > _ALMOST_ONE:
            return self._log_pdf_at_one()
        d = 0.0 if value < _EMPTY else value
        slopes = self._pdf_slopes(d)
        if min(slopes) <= 0.0:
            return math.inf
        x, y = self._parts

        def log_function(left: FloatArray, right: FloatArray) -> FloatArray:
            return y.log_density(left, d + right) + x.log_density(d + left, right)

        def guide(left: FloatArray, right: FloatArray) -> FloatArray:
            return y.guide_density(left, d + right) + x.guide_density(d + left, right)

        return log_integral(log_function, 1.0 - d, slopes=slopes, guide=guide, scale=d or 1.0)

    def quantile(self, probability: float) -> float:
        """Return the value that is not exceeded with the given probability."""
        return invert(self, probability)

    @property
    def _parts(self) -> tuple[UnitInterval, UnitInterval]:
        x, y = self.x, self.y
        return (
            x if isinstance(x, Share) else tabulate(x),
            y if isinstance(y, Share) else tabulate(y),
        )

    @property
    def _swapped(self) -> IndependentDifference:
        return IndependentDifference(self.y, self.x)

    def _log_pdf_at_one(self) -> float:
        power = self.y.ends[0] + self.x.ends[1]
        if power == 1.0:
            return self.log_pdf(_ALMOST_ONE)
        return -math.inf if power > 1.0 else math.inf

    def _pdf_slopes(self, d: float) -> tuple[float, float]:
        if d > 0.0:
            return self.y.ends[0], self.x.ends[1]
        return self.x.ends[0] + self.y.ends[0] - 1.0, self.x.ends[1] + self.y.ends[1] - 1.0

    def _tail(self, value: float, *, upper: bool) -> float:
        if not -1.0 < value < 1.0:
            return float((value >= 1.0) != upper)
        quick = many_counts(self.x, self.y)
        if quick is not None and quick.reaches(value):
            return quick.tail(value, upper=upper)
        centre = self.x.centre - self.y.centre
        return one_tail(self._direct, value, centre, upper=upper)

    def _direct(self, value: float, upper: bool) -> float:
        if value < 0.0:
            return self._swapped._direct(-value, not upper)
        d = 0.0 if value < _EMPTY else value
        x, y = self._parts
        if d == 0.0 and min(*x.ends, *y.ends) < _SLOW:
            return _greater(x, y) if upper else _greater(y, x)
        return self._over_y(d, upper) if y.spread < x.spread else self._over_x(d, upper)

    def _over_y(self, d: float, upper: bool) -> float:
        """Integrate the tail of ``X`` at ``Y + d`` over ``Y`` from 0 to ``1 - d``."""
        x, y = self._parts
        low = y.ends[0] if upper or d > 0.0 else x.ends[0] + y.ends[0]
        high = (y.ends[1] if d == 0.0 else 1.0) + (x.ends[1] if upper else 0.0)
        log_part = log_expected(
            y,
            lambda left, right: (left, d + right),
            x.log_upper if upper else x.log_lower,
            x.guide_upper if upper else x.guide_lower,
            lambda left, right: (d + left, right),
            1.0 - d,
            (low, high),
            d or 1.0,
        )
        return math.exp(log_part) if upper else plus_tail(log_part, y, 1.0 - d, d, upper=True)

    def _over_x(self, d: float, upper: bool) -> float:
        """Integrate the tail of ``Y`` at ``X - d`` over ``X`` from ``d`` to 1."""
        x, y = self._parts
        low = (x.ends[0] if d == 0.0 else 1.0) + (y.ends[0] if upper else 0.0)
        high = x.ends[1] if upper or d > 0.0 else x.ends[1] + y.ends[1]
        log_part = log_expected(
            x,
            lambda left, right: (d + left, right),
            y.log_lower if upper else y.log_upper,
            y.guide_lower if upper else y.guide_upper,
            lambda left, right: (left, d + right),
            1.0 - d,
            (low, high),
            d or 1.0,
        )
        return math.exp(log_part) if upper else plus_tail(log_part, x, d, 1.0 - d, upper=False)


def _greater(x: UnitInterval, y: UnitInterval) -> float:
    """Integrate ``P(X > Y)`` separately below and above 1/2, so both ends are pure powers."""
    (x_low, x_high), (y_low, y_high) = x.ends, y.ends
    below = log_expected(
        x,
        lambda left, right: (left, 0.5 + right),
        y.log_lower,
        y.guide_lower,
        lambda left, right: (left, 0.5 + right),
        0.5,
        (x_low + y_low, 1.0),
    )
    above = log_expected(
        y,
        lambda left, right: (0.5 + left, right),
        x.log_upper,
        x.guide_upper,
        lambda left, right: (0.5 + left, right),
        0.5,
        (1.0, x_high + y_high),
    )
    return math.exp(below) + math.exp(above) + x.sf(0.5) * y.cdf(0.5)
