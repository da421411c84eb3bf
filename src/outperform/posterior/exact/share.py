"""Posterior of a share: recall, precision, accuracy, Jaccard, F1; and mixtures."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from outperform._typing import AnyArray, Distribution, FloatArray
from outperform.errors import UsageError
from outperform.posterior.exact.beta import (
    beta_quantile,
    log_power,
    lower_tail,
    rough_deviance,
    upper_tail,
)
from outperform.posterior.exact.distribution import (
    LogDensity,
    UnitInterval,
    check_probability,
    density,
    invert,
    one_point,
    positive,
)
from outperform.posterior.exact.quadrature import ratio_moments


@dataclass(frozen=True, slots=True)
class Share(UnitInterval):
    """``T / (T + weight R)`` with ``T ~ Gamma(a)`` and ``R ~ Gamma(b)`` independent.

    With weight 1 it is ``Beta(a, b)``. With weight 1/2 it is F1, which is
    ``2 / (2 + X)`` with ``X ~ BetaPrime(b, a)``. On the log-odds scale the weight only
    shifts a Beta distribution.

    Parameters
    ----------
    a
        Shape of the part in favour: count plus prior.
    b
        Shape of the part against.
    weight
        Weight of the part against.

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
        """Fast approximation of the mean."""
        return self.a / (self.a + self.weight * self.b)

    @property
    def spread(self) -> float:
        """Fast approximation of the standard deviation."""
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
        """Return a fast approximation of the log density."""
        return rough_deviance(self.a, self.b, *self._beta(x, y)) - np.log(x * y)

    def guide_lower(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return a fast approximation of the log probability below."""
        share, rest = self._beta(x, y)
        below = self.b * share < self.a * rest
        return np.where(below, rough_deviance(self.a, self.b, share, rest), 0.0)

    def guide_upper(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return a fast approximation of the log probability above."""
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


_MANY = 50.0  # counts in favour and against above which the log odds are nearly normal
_STEP = 1.0 / 3.0  # in standard deviations; the rule's error is exp(-(2π / step)² / 4)
_REACH = 14.0
_FAR = 0.5  # beyond this, a node and its distance to 1 lose digits when shifted
_NEAR = 5.0  # standard deviations from the centre; beyond this, skewed shares need closer nodes
_EVEN = 2.0  # weights further from 1 skew the share too much


class Nodes(NamedTuple):
    """Nodes of the narrower share, their distance to 1, and their weights, which sum to 1."""

    left: FloatArray
    right: FloatArray
    weights: FloatArray


class ManyCounts(NamedTuple):
    """The wider share, evaluated at the nodes of the narrower one."""

    nodes: Nodes
    wide: Share
    sign: float  # the difference is sign * (wide - narrow)
    centre: float
    spread: float

    def reaches(self, value: float) -> bool:
        """Return whether the nodes are accurate for this difference."""
        return abs(value) < _FAR and abs(value - self.centre) < _NEAR * self.spread

    def tail(self, value: float, *, upper: bool) -> float:
        """Return the probability of more (or less) than ``value``."""
        above = upper == (self.sign > 0)
        inside, x, y = self._places(value)
        log_tail = self.wide.log_upper if above else self.wide.log_lower
        # For points beyond 0 or 1, all of the wide share is on one side.
        tails = np.where(x <= 0.0, float(above), float(not above))
        tails[inside] = np.exp(log_tail(x[inside], y[inside]))
        return float(self.nodes.weights @ tails)

    def log_pdf(self, value: float) -> float:
        """Return the log of the density at ``value``."""
        inside, x, y = self._places(value)
        heights = np.exp(self.wide.log_density(x[inside], y[inside]))
        return math.log(float(self.nodes.weights[inside] @ heights))

    def _places(self, value: float) -> tuple[AnyArray, FloatArray, FloatArray]:
        x, y = self.nodes.left + self.sign * value, self.nodes.right - self.sign * value
        return (x > 0.0) & (y > 0.0), x, y


@lru_cache(maxsize=256)
def many_counts(x: object, y: object) -> ManyCounts | None:
    """Return a fast evaluation of ``X - Y``, or None for small counts.

    Examples
    --------
    >>> quick = many_counts(Share(901.0, 101.0), Share(881.0, 121.0))
    >>> round(quick.tail(0.0, upper=True), 10)
    0.923183439
    """
    if not (isinstance(x, Share) and isinstance(y, Share)):
        return None
    if min(x.a, x.b, y.a, y.b) < _MANY:
        return None
    if not all(1.0 / _EVEN <= share.weight <= _EVEN for share in (x, y)):
        return None
    narrow, wide, sign = (y, x, 1.0) if y.spread <= x.spread else (x, y, -1.0)
    return ManyCounts(
        _nodes(narrow), wide, sign, x.centre - y.centre, math.hypot(x.spread, y.spread)
    )


def _nodes(share: Share) -> Nodes:
    step = _STEP * math.sqrt(1.0 / share.a + 1.0 / share.b)
    middle = math.log(share.a) - math.log(share.weight * share.b)
    z = middle + step * np.arange(-_REACH / _STEP, _REACH / _STEP + 0.5)
    left, right = expit(z), expit(-z)
    weights = step * np.exp(share.log_density(left, right) + np.log(left * right))
    return Nodes(left, right, weights)


@dataclass(frozen=True, slots=True)
class Mixture:
    """Mixture of distributions of one quantity.

    Parameters
    ----------
    parts
        Distributions on the same support.
    shares
        Probability of each part; they sum to 1.

    Examples
    --------
    >>> from outperform.posterior.exact.share import Share
    >>> either = Mixture((Share(1.0, 1.0), Share(3.0, 1.0)), (0.5, 0.5))
    >>> either.cdf(0.5), either.mean
    (0.3125, 0.625)
    """

    parts: tuple[LogDensity, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.parts) != len(self.shares) or abs(sum(self.shares) - 1.0) > 1e-9:
            raise UsageError("every part of a mixture needs a share, and the shares must sum to 1")

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest possible value."""
        return self.parts[0].support

    @property
    def mean(self) -> float:
        """The expected value."""
        return self._averaged(part.mean for part in self.parts)

    @property
    def sd(self) -> float:
        """The standard deviation, within the parts and between them."""
        mean = self.mean
        squares = (part.sd**2 + (part.mean - mean) ** 2 for part in self.parts)
        return math.sqrt(self._averaged(squares))

    def _averaged(self, values: Iterable[float]) -> float:
        return math.fsum(s * v for s, v in zip(self.shares, values, strict=True))

    def cdf(self, value: float) -> float:
        """Return the probability of at most ``value``."""
        return self._averaged(part.cdf(value) for part in self.parts)

    def sf(self, value: float) -> float:
        """Return the probability of more than ``value``."""
        return self._averaged(part.sf(value) for part in self.parts)

    def pdf(self, value: float) -> float:
        """Return the density at ``value``."""
        return density(self.log_pdf(value))

    def log_pdf(self, value: float) -> float:
        """Return the log of the density at ``value``."""
        logs = [part.log_pdf(value) for part in self.parts]
        with np.errstate(divide="ignore"):  # a share may be 0
            return float(np.logaddexp.reduce(np.log(self.shares) + logs))

    def quantile(self, probability: float) -> float:
        """Return the value that is not exceeded with the given probability."""
        return invert(self, probability)


def mix(parts: list[Distribution | None], shares: tuple[float, ...]) -> Distribution | None:
    """Return the mixture of distributions, or None if one of them has no closed form."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return known[0] if len(known) == 1 else Mixture(tuple(known), shares)  # type: ignore[arg-type]
