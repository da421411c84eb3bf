"""Quantiles by root finding on the smaller tail."""

from __future__ import annotations

import math
from typing import Protocol

from scipy.special import ndtri

from outperform._typing import Distribution
from outperform.posterior.closed.tails import density
from outperform.posterior.closed.unit_interval import check_probability

_ENOUGH = 1e-8  # Newton doubles the digits, so that the step after this one changes nothing
_COLLAPSED = 1e-14
_LIMIT = 640.0  # closer to an end than exp(-640) is the end


class LogDensity(Distribution, Protocol):
    """A distribution that gives the log of its density too."""

    def log_pdf(self, value: float) -> float:
        """Return the log of the density at ``value``."""


def invert(distribution: LogDensity, probability: float) -> float:
    """Return the quantile of a distribution with finite support.

    Newton's method for the logarithm of the smaller tail over
    ``z = log[(t - lo) / (hi - t)]``, kept inside a bracket.

    Parameters
    ----------
    distribution
        Any distribution whose tails keep their relative accuracy.
    probability
        Between 0 and 1.

    Examples
    --------
    >>> from outperform.posterior.closed.share import Share
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
