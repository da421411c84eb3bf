"""The posterior of the difference of two independent shares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from outperform._typing import FloatArray
from outperform.errors import UsageError
from outperform.posterior.closed.flat_f_score import FlatFScore
from outperform.posterior.closed.inversion import invert
from outperform.posterior.closed.many_counts import many_counts
from outperform.posterior.closed.quadrature import log_integral
from outperform.posterior.closed.share import Share
from outperform.posterior.closed.table import tabulate
from outperform.posterior.closed.tails import density, log_expected, one_tail, plus_tail
from outperform.posterior.closed.unit_interval import UnitInterval
from outperform.posterior.closed.weighted_share import WeightedShare

Part: TypeAlias = Share | WeightedShare | FlatFScore

_ALMOST_ONE = 1.0 - 1e-13  # from here on the density is a power of what is left
_SLOW = 0.55  # below this power the ends hold mass of their own
_NOTHING = 1e-30  # a difference smaller than this is zero for every purpose


@dataclass(frozen=True, slots=True)
class IndependentDifference:
    """``X - Y`` of two independent distributions on (0, 1): unpaired classifiers.

    ``P(X - Y > d)`` is the mean of ``P(X > y + d)`` over ``Y``, or of ``P(Y < x - d)``
    over ``X``; the narrower of the two is integrated over. The density at zero is the
    integral of the product of both densities.

    Parameters
    ----------
    x, y
        The two distributions.

    Examples
    --------
    >>> from outperform.posterior.closed.share import Share
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
        d = 0.0 if value < _NOTHING else value
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
        d = 0.0 if value < _NOTHING else value
        x, y = self._parts
        if d == 0.0 and min(*x.ends, *y.ends) < _SLOW:
            return _greater(x, y) if upper else _greater(y, x)
        return self._over_y(d, upper) if y.spread < x.spread else self._over_x(d, upper)

    def _over_y(self, d: float, upper: bool) -> float:
        """Integrate over ``Y`` from 0 to ``1 - d`` the tail of ``X`` at ``Y + d``."""
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
        """Integrate over ``X`` from ``d`` to 1 the tail of ``Y`` at ``X - d``."""
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
    """Integrate ``P(X > Y)`` apart below and above 1/2, so that both ends are pure powers."""
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
