"""The HDI: the narrowest interval of a closed form, of draws or of many rows of draws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.special import ndtri

from outperform._typing import Distribution, FloatArray, IntArray
from outperform.decision.intervals import Ends, Interval, check_prob, less_sure, quantile_errors

# The fit uses a quarter of the possible positions on each side of the minimum. This is enough to
# average out the noise and few enough for a quartic to follow the curve.
_HALF_WINDOW = 0.25
_KNOTS = 64
_DEGREE = 4

# An end of the plain shortest interval has this many times the error of a quantile.
_SHORTEST_NOISE = 2.4


def narrowest(ordered: FloatArray, prob: float, n_effective: float | None = None) -> Interval:
    """Return the narrowest interval (HDI) of sorted draws.

    A quartic in ``p`` is fitted to the width ``q(p + prob) − q(p)`` near its minimum, and the
    quartic is minimised. This reduces the error of the plain sample minimum by about 40%. The ends
    are then smooth functionals of the quantile process, whose covariance gives their errors for
    ``n_effective`` independent draws. Default: all draws.

    Examples
    --------
    >>> draws = np.sort(np.random.default_rng(0).normal(size=50_000))
    >>> hdi = narrowest(draws, 0.95)
    >>> abs(hdi.low + 1.96) < 4 * hdi.mcse_low < 0.15
    True
    """
    n = ordered.size
    span = int(prob * n)
    last_start = n - 1 - span
    if last_start < 4 * _KNOTS or ordered[0] == ordered[-1]:
        return less_sure(narrowest_rows(ordered[None], prob).interval(0, prob), n, n_effective)
    widths = ordered[span:] - ordered[: n - span]
    centre = float(widths.argmin())
    for _ in range(2):
        fit = _fit(ordered, span, centre, last_start)
        centre = fit.centre + fit.scale * fit.position
    return less_sure(fit.interval(prob, n, span), n, n_effective)


def narrowest_ends(ordered: FloatArray, prob: float) -> tuple[float, float]:
    """Return the ends of the narrowest interval that contains ``prob`` of the sorted draws.

    This is the plain sample version, for simulations that need millions of intervals.

    Examples
    --------
    >>> narrowest_ends(np.array([0.0, 5.0, 5.1, 5.2]), 0.75)
    (5.0, 5.2)
    """
    (start,), span = _shortest(ordered[None], prob)
    return float(ordered[start]), float(ordered[start + span])


def narrowest_rows(ordered: FloatArray, prob: float) -> Ends:
    """Return the narrowest interval of each row of sorted draws ``(n_rows, n_draws)``.

    This is the plain sample version, which is also used for comparisons with few draws.

    Examples
    --------
    >>> narrowest_rows(np.array([[0.0, 5.0, 5.1, 5.2]]), 0.75).low
    array([5.])
    """
    n, rows = ordered.shape[1], np.arange(len(ordered))
    start, span = _shortest(ordered, prob)
    return Ends(
        low=ordered[rows, start],
        high=ordered[rows, start + span],
        mcse_low=_SHORTEST_NOISE * quantile_errors(ordered, start / n),
        mcse_high=_SHORTEST_NOISE * quantile_errors(ordered, (start + span) / n),
    )


def _shortest(ordered: FloatArray, prob: float) -> tuple[IntArray, int]:
    """Return the index at which each row's shortest interval begins, and the number of indices."""
    n = ordered.shape[1]
    span = min(int(np.ceil(prob * n)), n) - 1
    return (ordered[:, span:] - ordered[:, : n - span]).argmin(axis=1), span


@lru_cache(maxsize=8)
def _design(n_knots: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return knots in [-1, 1], the matrix from values to coefficients, and slopes at the knots."""
    knots = np.linspace(-1.0, 1.0, n_knots)
    powers = np.vander(knots, _DEGREE + 1, increasing=True)
    slopes = powers[:, :-1] * np.arange(1, _DEGREE + 1)
    return knots, np.asarray(np.linalg.pinv(powers), dtype=np.float64), slopes


@dataclass(frozen=True, slots=True)
class _Fit:
    """Quartics fitted to the lower and upper quantiles as functions of the position."""

    ranks: FloatArray  # (n_knots,), for the lower end
    centre: float
    scale: float
    low: FloatArray  # (5,) coefficients
    high: FloatArray
    position: float  # position of the minimum width, in [-1, 1]

    def interval(self, prob: float, n: int, span: int) -> Interval:
        powers = _powers(self.position)
        error_low, error_high = self._errors(powers, n, span)
        return Interval(
            low=float(powers @ self.low),
            high=float(powers @ self.high),
            prob=prob,
            mcse_low=error_low,
            mcse_high=error_high,
            kind="HDI",
        )

    def _errors(self, powers: FloatArray, n: int, span: int) -> tuple[float, float]:
        _, solve, slopes = _design(self.ranks.size)
        derivative = np.arange(_DEGREE + 1) * np.concatenate([[0.0], powers[:-1]])
        curvature = _second_derivative(self.high - self.low, self.position)
        value, shift = powers @ solve, np.zeros(self.ranks.size)
        if abs(self.position) < 1 and curvature > 0:
            shift = derivative @ solve / curvature
        slope_low, slope_high = derivative @ self.low, derivative @ self.high
        on_low = np.concatenate([value + slope_low * shift, -slope_low * shift])
        on_high = np.concatenate([slope_high * shift, value - slope_high * shift])
        # δq(p) = −q′(p)·δF, and Cov(δF(p), δF(p′)) = (min(p, p′) − p·p′) / n.
        spacing = np.concatenate([slopes @ self.low[1:], slopes @ self.high[1:]]) * n / self.scale
        levels = np.concatenate([self.ranks + 0.5, self.ranks + span + 0.5]) / n
        covariance = (np.minimum.outer(levels, levels) - np.outer(levels, levels)) / n
        errors = []
        for weights in (on_low, on_high):
            scaled = weights * spacing
            variance = float(scaled @ covariance @ scaled)
            errors.append(max(variance, 0.0) ** 0.5)
        return errors[0], errors[1]


def _fit(ordered: FloatArray, span: int, centre: float, last_start: int) -> _Fit:
    half = _HALF_WINDOW * last_start
    # The extremes are avoided because the tails bend faster there than a quartic.
    first = max(centre - half, 0.25 * centre)
    last = min(centre + half, last_start - 0.25 * (last_start - centre))
    ranks = np.round(np.linspace(first, last, _KNOTS))
    _, solve, _ = _design(_KNOTS)
    indices = ranks.astype(np.int64)
    low, high = solve @ ordered[indices], solve @ ordered[indices + span]
    return _Fit(
        ranks=ranks,
        centre=(first + last) / 2,
        scale=(last - first) / 2,
        low=low,
        high=high,
        position=_minimum(high - low),
    )


@lru_cache(maxsize=1)
def _grid() -> tuple[FloatArray, FloatArray]:
    grid = np.linspace(-1.0, 1.0, 201)
    return grid, np.vander(grid, _DEGREE + 1, increasing=True)


def _minimum(coefficients: FloatArray) -> float:
    """Return the position of the minimum of a quartic on [-1, 1]."""
    grid, powers = _grid()
    position = float(grid[(powers @ coefficients).argmin()])
    for _ in range(4):
        curvature = _second_derivative(coefficients, position)
        if abs(position) == 1 or curvature <= 0:
            break
        slope = (np.arange(1, _DEGREE + 1) * coefficients[1:]) @ position ** np.arange(_DEGREE)
        position = float(np.clip(position - slope / curvature, -1.0, 1.0))
    return position


def _powers(position: float) -> FloatArray:
    powers: FloatArray = np.float64(position) ** np.arange(_DEGREE + 1)
    return powers


def _second_derivative(coefficients: FloatArray, position: float) -> float:
    orders = np.arange(2, _DEGREE + 1)
    return float((orders * (orders - 1) * coefficients[2:]) @ position ** (orders - 2))


_MASS_ERROR = 1e-11
_DENSITY_ERROR = 1e-9
_NUDGE = 1e-4  # as a share of the width, to compute the slope of the log density
_TIE = 1e-9
_SHARES = (
    0.02,
    0.1,
    0.25,
    0.4,
    0.55,
    0.7,
    0.85,
    0.98,
)  # number of positions in an interval at which its shape is checked


def exact_hdi(
    distribution: Distribution, prob: float, *, equal_tailed: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Return the ends of the narrowest interval that contains ``prob``.

    This is the narrowest of all intervals ``[q(p), q(p + prob)]``. Inside the support, its ends
    have equal density. If the density is highest at an end of the support, the interval lies there.
    A U-shaped density has two candidates, one at each end, and the narrower one is returned. If
    they are equally wide, as for a uniform or a symmetric U, the equal-tailed interval is returned,
    because it is mirrored if the distribution is.

    Parameters
    ----------
    distribution
        Any distribution with finite support, or a symmetric one.
    prob
        Mass between the ends.
    equal_tailed
        Equal-tailed interval to start from, if known.

    Examples
    --------
    >>> from math import sqrt
    >>> class Rising:
    ...     mean, sd, support = 2 / 3, sqrt(1 / 18), (0.0, 1.0)
    ...     def cdf(self, value): return value**2
    ...     def sf(self, value): return 1 - value**2
    ...     def pdf(self, value): return 2 * value
    ...     def quantile(self, probability): return sqrt(probability)
    >>> low, high = exact_hdi(Rising(), 0.75)
    >>> round(low, 12), high
    (0.5, 1.0)
    """
    prob = check_prob(prob)
    if math.isinf(distribution.support[0]):  # Student's t distribution, which is symmetric
        return _between(distribution, prob, 0.5 * (1.0 - prob))
    candidates = _at_the_ends(distribution, prob)
    if not candidates:
        start = _start(distribution, prob, equal_tailed)
        return _inside(distribution, prob, start) or _search(distribution, prob)
    if len(candidates) == 2:
        return _narrower(distribution, prob, candidates)
    return candidates[0] if _one_mode(distribution, *candidates[0]) else _search(distribution, prob)


def _at_the_ends(distribution: Distribution, prob: float) -> list[tuple[float, float]]:
    """Return the intervals at an end of the support that moving inwards does not make narrower."""
    lowest, highest = distribution.support
    intervals = []
    density = distribution.pdf(lowest)
    if density > 0.0:
        inner = distribution.quantile(prob)
        if density >= distribution.pdf(inner):
            intervals.append((lowest, inner))
    density = distribution.pdf(highest)
    if density > 0.0:
        inner = distribution.quantile(1.0 - prob)
        if density >= distribution.pdf(inner):
            intervals.append((inner, highest))
    return intervals


def _narrower(
    distribution: Distribution, prob: float, candidates: list[tuple[float, float]]
) -> tuple[float, float]:
    first, second = (high - low for low, high in candidates)
    if abs(first - second) <= _TIE * max(first, second):
        tail = 0.5 * (1.0 - prob)
        return distribution.quantile(tail), distribution.quantile(1.0 - tail)
    return candidates[0] if first < second else candidates[1]


def _one_mode(distribution: Distribution, low: float, high: float) -> bool:
    """Return whether the density, from one end to the other, never rises again after it falls."""
    heights = [distribution.pdf(low + share * (high - low)) for share in _SHARES]
    if high == distribution.support[1]:
        heights.reverse()
    rises = [after > before for before, after in pairwise(heights)]
    return all(before or not after for before, after in pairwise(rises))


@dataclass(frozen=True, slots=True)
class _End:
    """Interval end on the scale ``z = log[(t - lowest) / (highest - t)]``."""

    z: float
    value: float
    log_density: float
    stretch: float  # dt/dz

    @property
    def mass_slope(self) -> float:
        return math.exp(self.log_density) * self.stretch


def _inside(
    distribution: Distribution, prob: float, start: tuple[float, float]
) -> tuple[float, float] | None:
    """Find ends with equal densities and the right mass between them by Newton's method."""
    low = _end(distribution, _position(distribution, start[0]))
    high = _end(distribution, _position(distribution, start[1]))
    if low.z == high.z:  # all mass lies between two neighbouring floats
        return _on_the_edge(distribution, prob, low, high)
    nudge = _NUDGE * (high.z - low.z)
    up = _slope(low, _end(distribution, low.z + nudge))
    down = _slope(high, _end(distribution, high.z - nudge))
    for _ in range(60):
        if not (math.isfinite(low.log_density) and math.isfinite(high.log_density)):
            return _on_the_edge(distribution, prob, low, high)
        excess = (1.0 - prob) - (distribution.cdf(low.value) + distribution.sf(high.value))
        gap = low.log_density - high.log_density
        if abs(excess) < _MASS_ERROR and abs(gap) < _DENSITY_ERROR:
            return low.value, high.value
        left, right = _step(low, high, up, down, excess, gap)
        new_low, new_high = _end(distribution, low.z + left), _end(distribution, high.z + right)
        if (new_low.value, new_high.value) == (low.value, high.value):
            return low.value, high.value
        up, down = _secant(low, new_low, up), _secant(high, new_high, down)
        low, high = new_low, new_high
    return None


def _on_the_edge(
    distribution: Distribution, prob: float, low: _End, high: _End
) -> tuple[float, float] | None:
    """Return the interval at an end of the support if floats cannot distinguish it from the end."""
    lowest, highest = distribution.support
    if high.value >= highest:
        return distribution.quantile(1.0 - prob), highest
    return (lowest, distribution.quantile(prob)) if low.value <= lowest else None


def _step(
    low: _End, high: _End, up: float, down: float, excess: float, gap: float
) -> tuple[float, float]:
    """Solve the two linear equations; an end beyond the mode moves outwards."""
    limit = 0.4 * (high.z - low.z)
    if up <= 0.0 or down >= 0.0:
        return (-limit if up <= 0.0 else 0.0), (limit if down >= 0.0 else 0.0)
    determinant = low.mass_slope * down - high.mass_slope * up
    left = (excess * down + high.mass_slope * gap) / determinant
    right = (low.mass_slope * gap + up * excess) / determinant
    return min(max(left, -limit), limit), min(max(right, -limit), limit)


def _slope(first: _End, second: _End) -> float:
    return (second.log_density - first.log_density) / (second.z - first.z)


def _secant(before: _End, after: _End, slope: float) -> float:
    """Return the slope of the log density between two points, or the old slope if too close."""
    if abs(after.z - before.z) < 1e-6 * (1.0 + abs(after.z)) * min(1.0, 1.0 / abs(slope or 1.0)):
        return slope
    secant = _slope(before, after)
    return secant if math.isfinite(secant) else slope


def _end(distribution: Distribution, z: float) -> _End:
    lowest, highest = distribution.support
    width = highest - lowest
    odds = math.exp(-abs(z))
    near = width * odds / (1.0 + odds)
    value = lowest + near if z < 0.0 else highest - near
    if lowest == -highest:
        value = highest * math.tanh(0.5 * z)  # exact around 0
    density = distribution.pdf(value)
    log_density = math.log(density) if 0.0 < density < math.inf else -math.inf
    return _End(z, value, log_density, near / (1.0 + odds))


def _position(distribution: Distribution, value: float) -> float:
    lowest, highest = distribution.support
    tiny = 1e-300
    return math.log(max(value - lowest, tiny)) - math.log(max(highest - value, tiny))


def _start(
    distribution: Distribution, prob: float, equal_tailed: tuple[float, float] | None
) -> tuple[float, float]:
    lowest, highest = distribution.support
    mean, z = distribution.mean, float(ndtri(0.5 + 0.5 * prob))
    reach = z * distribution.sd
    if equal_tailed is not None and z > 1.5:
        # To first order in the skewness γ, the equal tails are shifted from ±z by γ/6 (z² − 1)
        # standard deviations, and the narrowest interval by γ/6 (z² − 3).
        low, high = equal_tailed
        shift = (low + high - 2.0 * mean) / (z * z - 1.0)
        if lowest < low - shift < high - shift < highest:
            return low - shift, high - shift
    if min(mean - lowest, highest - mean) > 1.5 * reach:
        return mean - reach, mean + reach
    tail = 0.5 * (1.0 - prob)
    return distribution.quantile(tail), distribution.quantile(1.0 - tail)


def _search(distribution: Distribution, prob: float) -> tuple[float, float]:
    """Search all intervals for the narrowest one, for densities without a simple shape."""
    low, high = 0.0, 1.0 - prob
    best = 0.0
    for round_ in range(7):  # each round reduces the range to one third
        starts = [float(p) for p in np.linspace(low, high, 7)]
        ends = [_between(distribution, prob, p) for p in starts]
        widths = [end - start for start, end in ends]
        k = int(np.argmin(widths))
        if round_ == 1 and 0.0 < starts[k] < 1.0 - prob:
            solution = _inside(distribution, prob, ends[k])
            if solution and solution[1] - solution[0] <= widths[k]:
                return solution
        best, step = starts[k], starts[1] - starts[0]
        low, high = max(best - step, 0.0), min(best + step, 1.0 - prob)
    return _between(distribution, prob, best)


def _between(distribution: Distribution, prob: float, p: float) -> tuple[float, float]:
    return distribution.quantile(p), distribution.quantile(min(p + prob, 1.0))
