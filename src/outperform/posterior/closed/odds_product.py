"""False positives per positive document, when prevalence and rate are independent."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.closed.quadrature import log_integrals
from outperform.posterior.closed.share import Share
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
        """About the mean, quickly."""
        ratio = self.rate.mean * self.prevalence.b / self.prevalence.a
        return ratio / (1.0 + ratio)

    @property
    def log_odds_spread(self) -> float:
        """About the standard deviation of the log odds."""
        rate, prevalence = self.rate, self.prevalence
        variance = rate.b / (rate.a + rate.b) / rate.a + 1.0 / prevalence.a + 1.0 / prevalence.b
        return math.sqrt(variance)

    @property
    def precision(self) -> float:
        """Relative error that rounding alone can cause."""
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
