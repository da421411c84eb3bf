"""The posterior of a share: recall, precision, accuracy, Jaccard and F1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.closed.beta_density import log_power, rough_deviance
from outperform.posterior.closed.beta_tail import beta_quantile, lower_tail, upper_tail
from outperform.posterior.closed.gamma_ratio import ratio_moments
from outperform.posterior.closed.tails import density
from outperform.posterior.closed.unit_interval import (
    UnitInterval,
    check_probability,
    one_point,
    positive,
)


@dataclass(frozen=True, slots=True)
class Share(UnitInterval):
    """``T / (T + weight R)`` with ``T ~ Gamma(a)`` and ``R ~ Gamma(b)`` independent.

    With weight 1 it is ``Beta(a, b)``. With weight 1/2 it is F1, which is
    ``2 / (2 + X)`` with ``X ~ BetaPrime(b, a)``. On the log-odds scale the weight only
    shifts a Beta distribution.

    Parameters
    ----------
    a
        Shape of what counts for the share: count plus prior.
    b
        Shape of what counts against it.
    weight
        How much a unit of the latter counts.

    Examples
    --------
    F1 for 80 true positives, 10 false positives and 20 false negatives, flat prior:

    >>> f1 = Share(81.0, 32.0, 0.5)
    >>> [round(f1.quantile(p), 12) for p in (0.025, 0.5, 0.975)]
    [0.773525271619, 0.835921487725, 0.886209772436]
    """

    a: float
    b: float
    weight: float = 1.0

    def __post_init__(self) -> None:
        positive(a=self.a, b=self.b, weight=self.weight)

    @property
    def ends(self) -> tuple[float, float]:
        """Powers ``s`` of the density ``distance^(s - 1)`` at 0 and at 1."""
        return self.a, self.b

    @property
    def centre(self) -> float:
        """About the mean, quickly."""
        return self.a / (self.a + self.weight * self.b)

    @property
    def spread(self) -> float:
        """About the standard deviation, quickly."""
        centre = self.centre
        return centre * (1.0 - centre) * math.sqrt(1.0 / self.a + 1.0 / self.b)

    @property
    def mean(self) -> float:
        """The expected value."""
        if self.weight == 1.0:
            return self.a / (self.a + self.b)
        return ratio_moments(self.a, ((self.b, self.weight),))[0]

    @property
    def sd(self) -> float:
        """The standard deviation."""
        n = self.a + self.b
        if self.weight == 1.0:
            return math.sqrt(self.a / n * (self.b / n) / (n + 1.0))
        return ratio_moments(self.a, ((self.b, self.weight),))[1]

    def cdf(self, value: float) -> float:
        """Return the probability of at most ``value``."""
        if not 0.0 < value < 1.0:
            return 1.0 if value >= 1.0 else 0.0
        return float(lower_tail(self.a, self.b, *self._beta(*one_point(value)))[0])

    def sf(self, value: float) -> float:
        """Return the probability of more than ``value``."""
        if not 0.0 < value < 1.0:
            return 0.0 if value >= 1.0 else 1.0
        return float(upper_tail(self.a, self.b, *self._beta(*one_point(value)))[0])

    def pdf(self, value: float) -> float:
        """Return the density at ``value``."""
        return density(self.log_pdf(value))

    def log_pdf(self, value: float) -> float:
        """Return the log of the density at ``value``."""
        if value == 0.0:
            return _log_at_end(self.a, math.log(self.b) + math.log(self.weight))
        if value == 1.0:
            return _log_at_end(self.b, math.log(self.a) - math.log(self.weight))
        if not 0.0 < value < 1.0:
            return -math.inf
        return float(self.log_density(*one_point(value))[0])

    def quantile(self, probability: float) -> float:
        """Return the value that is not exceeded with the given probability."""
        if check_probability(probability) in (0.0, 1.0):
            return probability
        if probability <= 0.5:
            x, y = beta_quantile(self.a, self.b, probability)
        else:
            y, x = beta_quantile(self.b, self.a, 1.0 - probability)
        return x / (x + self.weight * y)

    def log_density(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the density."""
        return log_power(self.a, self.b, *self._beta(x, y)) - np.log(x * y)

    def log_lower(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the probability below."""
        with np.errstate(divide="ignore"):
            return np.log(lower_tail(self.a, self.b, *self._beta(x, y)))

    def log_upper(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the probability above."""
        with np.errstate(divide="ignore"):
            return np.log(upper_tail(self.a, self.b, *self._beta(x, y)))

    def guide_density(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return about the log of the density, quickly."""
        return rough_deviance(self.a, self.b, *self._beta(x, y)) - np.log(x * y)

    def guide_lower(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return about the log of the probability below, quickly."""
        share, rest = self._beta(x, y)
        below = self.b * share < self.a * rest
        return np.where(below, rough_deviance(self.a, self.b, share, rest), 0.0)

    def guide_upper(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return about the log of the probability above, quickly."""
        share, rest = self._beta(x, y)
        above = self.b * share > self.a * rest
        return np.where(above, rough_deviance(self.a, self.b, share, rest), 0.0)

    def _beta(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Map values of the share to those of the Beta variable ``T / (T + R)``."""
        if self.weight == 1.0:
            return x, y
        total = self.weight * x + y
        return self.weight * x / total, y / total


def _log_at_end(shape: float, log_limit: float) -> float:
    if shape == 1.0:
        return log_limit
    return -math.inf if shape > 1.0 else math.inf
