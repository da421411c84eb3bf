"""Common parts of exact distributions: tails, and quantiles by root finding."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np
from scipy.special import ndtri

from outperform._typing import Distribution, FloatArray
from outperform.errors import UsageError
from outperform.posterior.exact.quadrature import LogFunction, log_integral


class UnitInterval(ABC):
    """A distribution on (0, 1) that can be evaluated at many points at once.

    Points are passed as ``x`` and ``y = 1 - x``, because close to 1 only ``y`` keeps full
    precision.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def ends(self) -> tuple[float, float]:
        """Powers ``s`` of the density ``distance^(s - 1)`` at 0 and at 1."""

    @property
    @abstractmethod
    def centre(self) -> float:
        """Fast approximation of the mean."""

    @property
    @abstractmethod
    def spread(self) -> float:
        """Fast approximation of the standard deviation."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """Expected value."""

    @property
    @abstractmethod
    def sd(self) -> float:
        """Standard deviation."""

    @abstractmethod
    def cdf(self, value: float) -> float:
        """Return the probability of at most ``value``."""

    @abstractmethod
    def sf(self, value: float) -> float:
        """Return the probability of more than ``value``."""

    @abstractmethod
    def log_density(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the density."""

    @abstractmethod
    def log_lower(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the probability below."""

    @abstractmethod
    def log_upper(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the probability above."""

    @abstractmethod
    def guide_density(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return a fast approximation of the log density."""

    @abstractmethod
    def guide_lower(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return a fast approximation of the log probability below."""

    @abstractmethod
    def guide_upper(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return a fast approximation of the log probability above."""

    @property
    def support(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return 0.0, 1.0


class PointWise(ABC):
    """A distribution on (0, 1) whose every value needs an integral."""

    __slots__ = ()

    @property
    @abstractmethod
    def ends(self) -> tuple[float, float]:
        """Powers ``s`` of the density ``distance^(s - 1)`` at 0 and at 1."""

    @property
    @abstractmethod
    def centre(self) -> float:
        """Approximate mean."""

    @property
    @abstractmethod
    def log_odds_spread(self) -> float:
        """Approximate standard deviation of the log odds."""

    @property
    @abstractmethod
    def precision(self) -> float:
        """Relative error from rounding."""

    @abstractmethod
    def log_densities(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the density at each ``x``, where ``y`` is ``1 - x``."""


def positive(**values: float) -> None:
    """Reject parameters that are not positive finite numbers.

    Examples
    --------
    >>> positive(a=1.0, b=0.5)
    """
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0.0):
            raise UsageError(
                f"{name} must be a positive finite number, got {value!r}; add prior mass to cells "
                "that did not occur"
            )


def one_point(value: float) -> tuple[FloatArray, FloatArray]:
    """Return a point and its distance to 1 as arrays of length 1."""
    return np.array([value]), np.array([1.0 - value])


def check_probability(probability: float) -> float:
    """Return the probability, checked to be between 0 and 1.

    Examples
    --------
    >>> check_probability(0.5)
    0.5
    """
    if not 0.0 <= probability <= 1.0:
        raise UsageError(f"probability must lie between 0 and 1, got {probability!r}")
    return probability


Place: TypeAlias = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
"""Distances from the ends of an interval to a point ``x`` and ``1 - x``."""


def log_expected(
    outer: UnitInterval,
    outer_place: Place,
    inner: LogFunction,
    guide: LogFunction,
    inner_place: Place,
    width: float,
    slopes: tuple[float, float],
    scale: float = 1.0,
) -> float:
    """Return the log of the mean of ``exp(inner)`` over the part of ``outer`` in an interval.

    Parameters
    ----------
    outer
        Distribution over which the mean is taken.
    outer_place
        Its points, given the distances from the ends of the interval.
    inner
        Log of a tail of another distribution.
    guide
        Fast approximation of ``inner``.
    inner_place
        Points at which ``inner`` is evaluated.
    width
        Length of the interval.
    slopes
        Powers of the integrand at the two ends of the interval.
    scale
        Shortest relative distance from an end at which the integrand changes.
    """

    def log_function(left: FloatArray, right: FloatArray) -> FloatArray:
        point = outer_place(left, right)
        return outer.log_density(*point) + inner(*inner_place(left, right))

    def log_guide(left: FloatArray, right: FloatArray) -> FloatArray:
        point = outer_place(left, right)
        return outer.guide_density(*point) + guide(*inner_place(left, right))

    return log_integral(log_function, width, slopes=slopes, guide=log_guide, scale=scale)


def one_tail(
    direct: Callable[[float, bool], float], value: float, centre: float, *, upper: bool
) -> float:
    """Return one tail, computed from the smaller side.

    The smaller tail is integrated; the larger one is its complement.

    Parameters
    ----------
    direct
        Integrates the upper (True) or the lower (False) tail at a value.
    value
        Start of the tail.
    centre
        Approximate mean.
    upper
        Whether to return the upper tail.
    """
    if (value >= centre) == upper:
        return direct(value, upper)
    other = direct(value, not upper)
    return 1.0 - other if other <= 0.75 else direct(value, upper)


def density(log_density: float) -> float:
    """Return a density from its logarithm, infinite on overflow.

    Examples
    --------
    >>> density(0.0)
    1.0
    """
    return math.exp(log_density) if log_density < 709.0 else math.inf


def plus_tail(log_part: float, closed: UnitInterval, x: float, y: float, *, upper: bool) -> float:
    """Return ``exp(log_part)`` plus a tail, skipped if it is negligible.

    Parameters
    ----------
    log_part
        Log of the integrated part.
    closed
        Distribution whose tail is added.
    x, y
        Start of the tail, and its distance to 1.
    upper
        Whether to add the upper tail.
    """
    point = np.array([x]), np.array([y])
    with np.errstate(divide="ignore"):
        about = closed.guide_upper(*point) if upper else closed.guide_lower(*point)
        if float(about[0]) < log_part - 50.0:
            return math.exp(log_part)
        log_tail = closed.log_upper(*point) if upper else closed.log_lower(*point)
    return math.exp(log_part) + math.exp(float(log_tail[0]))


_ENOUGH = 1e-8  # each Newton step doubles the digits, so the next one changes nothing
_COLLAPSED = 1e-14
_LIMIT = 640.0  # points closer to an end than exp(-640) count as the end


class LogDensity(Distribution, Protocol):
    """A distribution that also provides its log density."""

    def log_pdf(self, value: float) -> float:
        """Return the log of the density at ``value``."""


def invert(distribution: LogDensity, probability: float) -> float:
    """Return the quantile of a distribution with finite support.

    Newton's method is applied to the logarithm of the smaller tail as a function of ``z = log[(t -
    lo) / (hi - t)]``, and kept inside a bracket.

    Parameters
    ----------
    distribution
        Any distribution with relatively accurate tails.
    probability
        Between 0 and 1.

    Examples
    --------
    >>> from outperform.posterior.exact.share import Share
    >>> round(invert(Share(2.0, 1.0), 0.25), 12)
    0.5
    """
    lowest, highest = distribution.support
    if check_probability(probability) in (0.0, 1.0):
        return highest if probability else lowest
    sign, target = (1.0, probability) if probability <= 0.5 else (-1.0, 1.0 - probability)
    tail_of = distribution.cdf if sign > 0.0 else distribution.sf
    scale = distribution.sd
    z, low, high = _start(distribution, probability), -_LIMIT, _LIMIT
    value = _value(z, lowest, highest)
    for _ in range(200):
        tail = tail_of(value)
        gap = sign * (math.log(target) - math.log(tail)) if tail > 0.0 else sign * math.inf
        low, high = (z, high) if gap > 0.0 else (low, z)
        if high - low < _COLLAPSED or abs(z) > _LIMIT - 1.0:
            return _value(high, lowest, highest) if z > 0.0 else _value(low, lowest, highest)
        stretch = (value - lowest) * (highest - value) / (highest - lowest)  # dt/dz
        rate = density(distribution.log_pdf(value) + _log(stretch))
        usable = 0.0 < rate < math.inf and math.isfinite(gap)
        step = gap * tail / rate if usable else math.inf
        trusted = low <= z + step <= high
        z += step if trusted else 0.5 * (low + high) - z
        value = _value(z, lowest, highest)
        if trusted and abs(step) * stretch < _ENOUGH * min(stretch, scale):
            break
    return value


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf


def _start(distribution: LogDensity, probability: float) -> float:
    lowest, highest = distribution.support
    mean = distribution.mean
    guess = mean + distribution.sd * float(ndtri(probability))
    guess = max(guess, lowest + 0.02 * (mean - lowest))
    guess = min(guess, highest - 0.02 * (highest - mean))
    below, above = max(guess - lowest, 1e-300), max(highest - guess, 1e-300)
    return math.log(below / above)


def _value(z: float, lowest: float, highest: float) -> float:
    if lowest == -highest:
        return highest * math.tanh(0.5 * z)
    odds = math.exp(-abs(z))
    share = odds / (1.0 + odds)
    return lowest + (highest - lowest) * share if z < 0.0 else highest - (highest - lowest) * share
