"""The logarithm of a Beta density, right to the last digits at any count.

The schoolbook form ``(a-1) log x + (b-1) log(1-x) - log B(a, b)`` subtracts numbers of
the size of the counts from each other. Here the density is written around its own
peak instead, with Stirling errors and deviances, so that what is computed is small
wherever the density is not.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from outperform._typing import FloatArray

_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_STIRLING = (
    1 / 12,
    -1 / 360,
    1 / 1260,
    -1 / 1680,
    1 / 1188,
    -691 / 360360,
    1 / 156,
    -3617 / 122400,
)
_ATANH_TERMS = 16
_SQUARES = 2.0 ** (-52.0 / np.arange(1, _ATANH_TERMS + 1))  # largest square for k terms
_SQUARES_LISTED = _SQUARES.tolist()
_NEAR = 0.4


def stirling_error(shape: float) -> float:
    """Return log Gamma(shape) minus Stirling's first approximation to it.

    That is ``log Gamma(z) - (z - 1/2) log z + z - log(2 pi)/2``.

    Examples
    --------
    >>> round(stirling_error(1.0), 12)
    0.081061466795
    """
    if shape >= 10.0:
        inverse = 1.0 / shape
        square = inverse * inverse
        total = 0.0
        for coefficient in reversed(_STIRLING):
            total = total * square + coefficient
        return total * inverse
    log_shape = math.log(shape)
    # Gamma(1 + z) / z, because log Gamma itself has no digits to spare near a pole.
    return float(gammaln(1.0 + shape)) - (shape + 0.5) * log_shape + shape - _HALF_LOG_TWO_PI


@lru_cache(maxsize=4096)
def log_peak(*shapes: float) -> float:
    """Return the log of a Dirichlet density times the product of its shares, at its mean.

    For shapes ``a_i`` with sum ``n`` and ``m_i = a_i / n`` this is
    ``log[Gamma(n) prod(m_i^a_i / Gamma(a_i))]``.

    Examples
    --------
    >>> round(math.exp(log_peak(1.0, 1.0)), 12)
    0.25
    """
    total = math.fsum(shapes)
    result = stirling_error(total) - 0.5 * math.log(total)
    for shape in shapes:
        result += 0.5 * math.log(shape) - stirling_error(shape)
    return result - (len(shapes) - 1) * _HALF_LOG_TWO_PI


def log1p_minus(value: FloatArray) -> FloatArray:
    """Return ``log(1 + value) - value`` for ``|value| <= 0.4`` without cancellation.

    Examples
    --------
    >>> float(log1p_minus(np.array([1e-9]))[0])
    -4.999999996666667e-19
    """
    if value.size == 1:
        return np.full_like(value, _log1p_minus_one(float(value.item())))
    ratio = value / (2.0 + value)
    square = ratio * ratio
    terms = int(np.searchsorted(_SQUARES, float(square.max()))) + 1
    series = np.full_like(square, 1.0 / (2 * terms + 1))
    for term in range(terms - 1, 0, -1):
        series *= square
        series += 1.0 / (2 * term + 1)
    series *= 2.0 * square
    series -= value
    series *= ratio
    return series


def _log1p_minus_one(value: float) -> float:
    """Return the same for one number, without the cost of arrays."""
    ratio = value / (2.0 + value)
    square = ratio * ratio
    terms = bisect_left(_SQUARES_LISTED, square) + 1
    series = 1.0 / (2 * terms + 1)
    for term in range(terms - 1, 0, -1):
        series = series * square + 1.0 / (2 * term + 1)
    return (2.0 * square * series - value) * ratio


def deviance(a: float, b: float, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return ``a log(x/p) + b log(y/q)`` with ``p = a/(a+b)``, ``q = 1-p``; never above 0.

    Parameters
    ----------
    a, b
        Positive shapes.
    x, y
        Shares in (0, 1) that add up to 1, both given so that neither loses digits
        next to 0.

    Examples
    --------
    >>> float(deviance(2.0, 2.0, np.array([0.5]), np.array([0.5]))[0])
    0.0
    """
    gap = b * x - a * y
    near = np.abs(gap) < _NEAR * min(a, b)
    if near.all():
        return a * log1p_minus(gap / a) + b * log1p_minus(-gap / b)
    result = a * (_log_share(x, y) - log_shape_share(a, b))
    result += b * (_log_share(y, x) - log_shape_share(b, a))
    if near.any():
        close = gap[near]
        result[near] = a * log1p_minus(close / a) + b * log1p_minus(-close / b)
    return result


def log_power(a: float, b: float, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return ``log[x^a y^b / B(a, b)]``: the Beta density on the log-odds scale.

    Examples
    --------
    >>> float(np.exp(log_power(1.0, 1.0, np.array([0.5]), np.array([0.5])))[0])
    0.25
    """
    return deviance(a, b, x, y) + log_peak(a, b)


def rough_deviance(a: float, b: float, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the deviance as the schoolbook has it, good enough to look for a peak with.

    Examples
    --------
    >>> float(rough_deviance(1.0, 1.0, np.array([0.5]), np.array([0.5]))[0])
    0.0
    """
    at_mean = a * log_shape_share(a, b) + b * log_shape_share(b, a)
    return a * np.log(x) + b * np.log(y) - at_mean


def _log_share(part: FloatArray, rest: FloatArray) -> FloatArray:
    # Next to 1 only the other share knows the distance, so the logarithm is taken there.
    return np.where(part > rest, np.log1p(-np.minimum(rest, 0.5)), np.log(part))


def log_shape_share(part: float, rest: float) -> float:
    """Return ``log[part / (part + rest)]`` without loss next to 0.

    Examples
    --------
    >>> log_shape_share(1e20, 1.0)
    -1e-20
    """
    total = part + rest
    return math.log1p(-rest / total) if part > rest else math.log(part) - math.log(total)
