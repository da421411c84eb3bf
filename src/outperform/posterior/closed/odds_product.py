"""False positives per positive document, when prevalence and rate are independent."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.closed.quadrature import log_integrals
from outperform.posterior.closed.share import Share
from outperform.posterior.closed.tails import log_expected, one_tail
from outperform.posterior.closed.unit_interval import PointWise


@dataclass(frozen=True, slots=True)
class OddsProduct(PointWise):
    """``C / (1 + C)`` with ``C = theta (1 - mu) / mu``, ``theta`` and ``mu`` independent.

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
    >>> round(flat.tail(0.5, 0.5, upper=False), 12) == round(math.log(2.0), 12)
    True
    """

    rate: Share
    prevalence: Share

    @property
    def ends(self) -> tuple[float, float]:
        """Powers ``s`` of the density ``distance^(s - 1)`` at 0 and at 1."""
        return min(self.rate.a, self.prevalence.b), self.prevalence.a

    @property
    def centre(self) -> float:
        """About the mean, quickly."""
        ratio = self.rate.mean * self.prevalence.b / self.prevalence.a
        return ratio / (1.0 + ratio)

    @property
    def log_odds_spread(self) -> float:
        """About the standard deviation of the log odds."""
        rate, prevalence = self.rate, self.prevalence
        variance = rate.b / (rate.a * (rate.a + rate.b)) + 1.0 / prevalence.a + 1.0 / prevalence.b
        return math.sqrt(variance)

    @property
    def precision(self) -> float:
        """Relative error that rounding alone can cause."""
        rate, prevalence = self.rate, self.prevalence
        return 1e-13 + 1e-15 * math.sqrt(rate.a + rate.b + prevalence.a + prevalence.b)

    def tail(self, x: float, y: float, *, upper: bool) -> float:
        """Return one tail at ``x``, where ``y`` is ``1 - x``."""
        rate, prevalence = self.rate, self.prevalence
        rate_variance = rate.b / (rate.a * (rate.a + rate.b))
        narrow_rate = rate_variance < 1.0 / prevalence.a + 1.0 / prevalence.b
        integrate = self._over_rate if narrow_rate else self._over_prevalence
        return one_tail(lambda value, upper: integrate(x, y, upper), x, self.centre, upper=upper)

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

    def _over_rate(self, x: float, y: float, upper: bool) -> float:
        """Integrate over ``theta`` the tail of ``mu`` at ``theta / (theta + C)``."""
        prevalence, ratio = self.prevalence, x / y
        return math.exp(
            log_expected(
                self.rate,
                lambda left, right: (left, right),
                prevalence.log_lower if upper else prevalence.log_upper,
                prevalence.guide_lower if upper else prevalence.guide_upper,
                lambda left, right: (left / (left + ratio), ratio / (left + ratio)),
                1.0,
                (self.rate.a + (prevalence.a if upper else 0.0), self.rate.b),
                ratio,
            )
        )

    def _over_prevalence(self, x: float, y: float, upper: bool) -> float:
        """Integrate over ``mu`` up to ``1/(1 + C)`` the tail of ``theta`` at ``C mu/(1 - mu)``."""
        rate, prevalence = self.rate, self.prevalence
        log_part = log_expected(
            prevalence,
            lambda left, right: (left, x + right),
            rate.log_upper if upper else rate.log_lower,
            rate.guide_upper if upper else rate.guide_lower,
            lambda left, right: (x / y * left / (x + right), right / (y * (x + right))),
            y,
            (
                prevalence.a if upper else prevalence.a + rate.a,
                1.0 + rate.b if upper else 1.0,
            ),
            min(x, y),
        )
        if upper:
            return math.exp(log_part)
        beyond = prevalence.log_upper(np.array([y]), np.array([x]))
        return math.exp(log_part) + math.exp(float(beyond[0]))
