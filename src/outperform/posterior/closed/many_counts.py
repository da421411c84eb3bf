"""Differences of shares with many counts: fixed nodes instead of a search for the peak.

With many counts both shares are nearly normal on the log-odds scale. Nodes a
third of a standard deviation apart over fourteen of them on either side then are
all that the trapezoidal rule needs, whatever the difference asked about, and they
are laid once.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from outperform._typing import AnyArray, FloatArray
from outperform.posterior.closed.share import Share

_MANY = 50.0  # counts in favour and against from which the log odds are nearly normal
_STEP = 1.0 / 3.0  # of a standard deviation: the rule's error is exp(-(2π / step)² / 4)
_REACH = 14.0
_FAR = 0.5  # beyond, a node and its distance to 1 lose digits when shifted
_NEAR = 5.0  # standard deviations from the centre; beyond, skewed shares need closer nodes
_EVEN = 2.0  # weights further from 1 skew the share too much


class Nodes(NamedTuple):
    """Points of the narrower share, their distance to 1, and their weights, which sum to 1."""

    left: FloatArray
    right: FloatArray
    weights: FloatArray


class ManyCounts(NamedTuple):
    """The wider share, asked at the nodes of the narrower one."""

    nodes: Nodes
    wide: Share
    sign: float  # the difference is sign * (wide - narrow)
    centre: float
    spread: float

    def reaches(self, value: float) -> bool:
        """Say whether the nodes answer for this difference."""
        return abs(value) < _FAR and abs(value - self.centre) < _NEAR * self.spread

    def tail(self, value: float, *, upper: bool) -> float:
        """Return the probability of more (or less) than ``value``."""
        above = upper == (self.sign > 0)
        inside, x, y = self._places(value)
        log_tail = self.wide.log_upper if above else self.wide.log_lower
        # Places beyond 0 or 1 have all of the wide share on one side.
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
    """Return the quick way to ``X - Y``, or None where counts are few.

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
