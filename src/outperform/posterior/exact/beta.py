"""The Beta distribution: density and tails to full relative accuracy."""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache

import numpy as np
from scipy.special import betainc, betaincc, betaincinv, gammaln, ndtri

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
    # Gamma(1 + z) / z is used because log Gamma itself loses digits near a pole.
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
    """Return ``log(1 + value) - value`` for one number, without the cost of arrays."""
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
        Shares in (0, 1) that sum to 1; both are passed to keep full precision near 0.

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
    """Return the deviance by the textbook formula, accurate enough to find a peak.

    Examples
    --------
    >>> float(rough_deviance(1.0, 1.0, np.array([0.5]), np.array([0.5]))[0])
    0.0
    """
    at_mean = a * log_shape_share(a, b) + b * log_shape_share(b, a)
    return a * np.log(x) + b * np.log(y) - at_mean


def _log_share(part: FloatArray, rest: FloatArray) -> FloatArray:
    # Close to 1, only the other share gives the distance from 1 to full precision, so its logarithm
    # is used.
    return np.where(part > rest, np.log1p(-np.minimum(rest, 0.5)), np.log(part))


def log_shape_share(part: float, rest: float) -> float:
    """Return ``log[part / (part + rest)]`` without loss of precision near 0.

    Examples
    --------
    >>> log_shape_share(1e20, 1.0)
    -1e-20
    """
    total = part + rest
    return math.log1p(-rest / total) if part > rest else math.log(part) - math.log(total)


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_NODES, _WEIGHTS = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS
_POWERS = np.arange(1, 10)
_NODE_POWERS = _NODES ** _POWERS[:, None]
# cumulants over factorials as polynomials in the variance: the 2nd, 4th, 6th and 8th,
# and the 3rd, 5th, 7th and 9th without their factor 1 - 2 mean
_EVEN = np.array(
    [[1, 1, 1, 1], [0, -6, -30, -126], [0, 0, 120, 1680], [0, 0, 0, -5040]]
) / np.array([2, 24, 720, 40320])
_ODD = np.array(
    [[1, 1, 1, 1], [0, -12, -60, -252], [0, 0, 360, 5040], [0, 0, 0, -20160]]
) / np.array([6, 120, 5040, 362880])
_SCIPY_ENOUGH = 1e3
_SCIPY_GOOD = 1e4
_SMALL = 0.1
_NOTHING = 1e-100
_DROP = 40.0
_TINY = 1e-280


def lower_tail(a: float, b: float, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return ``P(B <= x)`` for ``B ~ Beta(a, b)``, where ``y`` is ``1 - x``.

    Examples
    --------
    >>> float(lower_tail(1.0, 1.0, np.array([0.25]), np.array([0.75]))[0])
    0.25
    """
    if a + b <= _SCIPY_ENOUGH:
        return _scipy_tail(a, b, x, y)
    if x.ndim > 1:
        return lower_tail(a, b, x.ravel(), y.ravel()).reshape(x.shape)
    below = b * x <= a * y
    if below.all():
        return _near_tail(a, b, x, y)
    if not below.any():
        return 1.0 - _near_tail(b, a, y, x)
    result = np.empty_like(x)
    result[below] = _near_tail(a, b, x[below], y[below])
    above = ~below
    result[above] = 1.0 - _near_tail(b, a, y[above], x[above])
    return result


def _scipy_tail(a: float, b: float, x: FloatArray, y: FloatArray) -> FloatArray:
    if max(a, b) < _NOTHING:  # all mass is at the two ends, and scipy underflows
        return np.full_like(x, b / (a + b))
    tail: FloatArray = betainc(a, b, x)
    steep = x > y
    if b >= 1.0 or not steep.any():
        return tail
    # close to 1 the density is so high that x is not precise enough, but y is
    other: FloatArray = betainc(b, a, y)
    tail = np.where(steep, 1.0 - other, tail)
    small = steep & (other > 0.9)
    return np.where(small, betaincc(b, a, y), tail) if small.any() else tail


def upper_tail(a: float, b: float, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return ``P(B > x)`` for ``B ~ Beta(a, b)``, where ``y`` is ``1 - x``.

    Examples
    --------
    >>> float(upper_tail(1.0, 1.0, np.array([0.25]), np.array([0.75]))[0])
    0.75
    """
    return lower_tail(b, a, y, x)


def _near_tail(a: float, b: float, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the lower tail at points below the mean, where it is the smaller tail."""
    if min(a, b) >= _SCIPY_GOOD:
        return _edge_times_ratio(a, b, x, y)
    if b < _SMALL:
        return np.asarray(betaincc(b, a, y), dtype=np.float64)
    natural = x <= y
    if natural.all():
        return np.asarray(betainc(a, b, x), dtype=np.float64)
    if not natural.any():
        return _edge_times_ratio(a, b, x, y)
    result = np.empty_like(x)
    result[natural] = betainc(a, b, x[natural])
    far = ~natural
    result[far] = _edge_times_ratio(a, b, x[far], y[far])
    return result


def _edge_times_ratio(a: float, b: float, x: FloatArray, y: FloatArray) -> FloatArray:
    """Integrate the density from ``x`` downwards on the log-odds scale.

    Let ``t`` be the point whose log odds are lower than those of ``x`` by ``s``. The density of the
    log odds at ``t`` is that at ``x`` times ``exp(b s - n log(1 + y (exp(s) - 1)))``.
    """
    edge = np.exp(log_power(a, b, x, y))
    if min(a, b) >= _SCIPY_ENOUGH:
        return edge * _short_ratio(a, b, x, y)
    return edge * _long_ratio(a, b, x, y)


def _first_reach(a: float, b: float, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the distance below ``x`` at which a parabola is so low that the rest is negligible."""
    slope = a * y - b * x
    curvature = (a + b) * x * y
    return 2.0 * _DROP / (slope + np.sqrt(slope * slope + 2.0 * _DROP * curvature))


def _long_ratio(a: float, b: float, x: FloatArray, y: FloatArray) -> FloatArray:
    n = a + b
    reach = _first_reach(a, b, x, y)
    for _ in range(4):  # concave, so every Newton step ends on the far side
        growth = y * np.expm1(reach)
        fall = n * np.log1p(growth) - b * reach
        reach = reach + (_DROP - fall) / (n * (y + growth) / (1.0 + growth) - b)
        reach = np.minimum(reach, 700.0)
    steps = reach[:, None] * _NODES  # (n_points, n_nodes)
    exponent = b * steps - n * np.log1p(y[:, None] * np.expm1(steps))
    return np.asarray(np.exp(exponent) @ _WEIGHTS * reach)


def _short_ratio(a: float, b: float, x: FloatArray, y: FloatArray) -> FloatArray:
    """Integrate using the cumulants of a Bernoulli variable, which avoids cancellation."""
    reach = 1.1 * _first_reach(a, b, x, y)
    variance = x * y
    powers = -(a + b) * (variance[:, None] ** np.arange(1, 5))
    series = np.empty((len(x), 9))  # (n_points, n_powers of the step)
    series[:, 0] = b * x - a * y
    series[:, 1::2] = powers @ _EVEN
    series[:, 2::2] = (powers @ _ODD) * (x - y)[:, None]
    series *= reach[:, None] ** _POWERS
    # einsum stays on one thread; BLAS would wake all threads for such a small product.
    exponent = np.einsum("ij,jk->ik", series, _NODE_POWERS)
    return np.asarray(np.exp(exponent) @ _WEIGHTS * reach)


def beta_quantile(a: float, b: float, probability: float) -> tuple[float, float]:
    """Return ``x`` and ``1 - x`` for the lower-tail quantile of ``Beta(a, b)``.

    Newton's method is applied to the logarithm of the tail as a function of the log odds. This
    function is concave, so the steps converge from any start.

    Parameters
    ----------
    a, b
        Positive shapes.
    probability
        Strictly between 0 and 1. For an upper tail, exchange ``a`` and ``b``.

    Examples
    --------
    >>> beta_quantile(1.0, 1.0, 0.25)
    (0.25, 0.75)
    """
    log_probability = math.log(probability)
    first_term = _first_term_quantile(a, b, log_probability)
    if first_term < _TINY:
        return first_term, 1.0
    spread = 1.0 / math.sqrt(a) + 1.0 / math.sqrt(b) + 1.0 / a + 1.0 / b
    x, y = _start(a, b, probability)
    z, low, high = 0.0, -math.inf, math.inf  # log odds relative to the start
    enough = 1e-8 * min(1.0, math.sqrt(1.0 / a + 1.0 / b))  # Newton doubles the digits
    for _ in range(400):
        tail, slope = _tail_and_slope(a, b, x, y)
        gap = log_probability - math.log(tail) if tail > 0.0 else math.inf
        low, high = (z, high) if gap > 0.0 else (low, z)
        step = gap / slope if slope > 0.0 and tail < 1.0 else math.copysign(math.inf, gap)
        step = _inside(step, z, low, high, spread)
        x, y = _shift(x, y, step)
        z += step
        if y == 0.0 or abs(step) < enough:
            break
    return x, y


def _inside(step: float, z: float, low: float, high: float, spread: float) -> float:
    """Keep a Newton step inside the bracket, or limit it if there is no bracket."""
    if low <= z + step <= high:
        return min(max(step, -10.0 * spread), 10.0 * spread)
    if math.isinf(low) or math.isinf(high):
        return math.copysign(spread, step)
    return 0.5 * (low + high) - z


def _tail_and_slope(a: float, b: float, x: float, y: float) -> tuple[float, float]:
    """Return the lower tail and the slope of its logarithm in the log odds."""
    point, rest = np.array([x]), np.array([y])
    tail = float(lower_tail(a, b, point, rest)[0])
    if tail <= 0.0:
        return 0.0, 0.0
    return tail, math.exp(float(log_power(a, b, point, rest)[0])) / tail


def _first_term_quantile(a: float, b: float, log_probability: float) -> float:
    """Return the quantile from ``x^a / (a B(a, b))``, the leading term near 0."""
    if a >= 1.0:
        return 1.0
    # log(a B(a, b)) is computed from the peak because log Gamma(a) has no digits left for tiny a
    log_beta = a * log_shape_share(a, b) + b * log_shape_share(b, a) - log_peak(a, b)
    exponent = (log_probability + math.log(a) + log_beta) / a
    return math.exp(max(exponent, -1e4)) if exponent < 0.0 else 1.0


def _start(a: float, b: float, probability: float) -> tuple[float, float]:
    n = a + b
    if n <= _SCIPY_ENOUGH:
        x = float(betaincinv(a, b, probability))
        if _TINY < x < 1.0:
            return x, 1.0 - x
    # beyond that, betaincinv can be wrong in the first digit, so a normal is used, with a
    # correction for skewness if the log odds are nearly normal
    width = math.sqrt(1.0 / max(a, 0.1) + 1.0 / max(b, 0.1))
    normal = float(ndtri(probability))
    step = normal * width
    if min(a, b) > 10.0:
        skewness = (1.0 / b**2 - 1.0 / a**2) / width**3
        step += 0.5 / b - 0.5 / a + width * skewness * (normal * normal - 1.0) / 6.0
    return _shift(a / n, b / n, min(max(step, -30.0), 30.0))


def _shift(x: float, y: float, step: float) -> tuple[float, float]:
    """Move a share by ``step`` on the log-odds scale."""
    if step > 0.0:
        weight = math.exp(-min(step, 700.0))
        return x / (x + y * weight), y * weight / (x + y * weight)
    weight = math.exp(max(step, -700.0))
    return x * weight / (x * weight + y), y / (x * weight + y)
