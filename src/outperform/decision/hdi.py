"""The HDI: the narrowest interval of a closed form, of draws, and of many rows of draws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.special import ndtri

from outperform._typing import Distribution, FloatArray, IntArray
from outperform.decision.intervals import Ends, Interval, check_prob, less_sure, quantile_errors

# The fit looks at a quarter of the possible positions to each side of the minimum:
# wide enough to average noise away, narrow enough for a quartic to follow the curve.
_HALF_WINDOW = 0.25
_KNOTS = 64
_DEGREE = 4

# An end of the plain shortest interval is this much noisier than a quantile.
_SHORTEST_NOISE = 2.4


def narrowest(ordered: FloatArray, prob: float, n_effective: float | None = None) -> Interval:
    """Return the narrowest interval (HDI) of sorted draws.

    The width ``q(p + prob) − q(p)`` is fitted with a quartic in ``p`` near its
    minimum and that is minimised, which takes about 40% off the error of the
    plain sample minimum. The ends then are smooth functionals of the quantile
    process, whose covariance gives their error: that of ``n_effective`` independent draws,
    by default all.

    Examples
    --------
    >>> draws = np.sort(np.random.default_rng(0).normal(size=50_000))
    >>> hdi = narrowest(draws, 0.95)
    >>> abs(hdi.low + 1.96) < 4 * hdi.mcse_low < 0.15
    True
    """
    n = ordered.size
    span = int(prob * n)
    room = n - 1 - span
    if room < 4 * _KNOTS or ordered[0] == ordered[-1]:
        return less_sure(narrowest_rows(ordered[None], prob).interval(0, prob), n, n_effective)
    widths = ordered[span:] - ordered[: n - span]
    centre = float(widths.argmin())
    for _ in range(2):
        fit = _fit(ordered, span, centre, room)
        centre = fit.centre + fit.scale * fit.place
    return less_sure(fit.interval(prob, n, span), n, n_effective)


def narrowest_ends(ordered: FloatArray, prob: float) -> tuple[float, float]:
    """Return the ends of the narrowest interval that holds ``prob`` of the sorted draws.

    The plain sample version, for simulations that need millions of them.

    Examples
    --------
    >>> narrowest_ends(np.array([0.0, 5.0, 5.1, 5.2]), 0.75)
    (5.0, 5.2)
    """
    (start,), span = _shortest(ordered[None], prob)
    return float(ordered[start]), float(ordered[start + span])


def narrowest_rows(ordered: FloatArray, prob: float) -> Ends:
    """Return the narrowest interval of each row of sorted draws ``(n_rows, n_draws)``.

    The plain sample version, as one comparison of so few draws takes it.

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
    """Return the place where each row's shortest interval begins, and how many places it spans."""
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
    """Quartics through the lower and upper quantiles as functions of the position."""

    ranks: FloatArray  # (n_knots,) of the lower end
    centre: float
    scale: float
    low: FloatArray  # (5,) coefficients
    high: FloatArray
    place: float  # of the minimum width, in [-1, 1]

    def interval(self, prob: float, n: int, span: int) -> Interval:
        powers = _powers(self.place)
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
        curvature = _second_derivative(self.high - self.low, self.place)
        value, shift = powers @ solve, np.zeros(self.ranks.size)
        if abs(self.place) < 1 and curvature > 0:
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


def _fit(ordered: FloatArray, span: int, centre: float, room: int) -> _Fit:
    half = _HALF_WINDOW * room
    # Keep clear of the extremes, where the tails bend faster than a quartic.
    first = max(centre - half, 0.25 * centre)
    last = min(centre + half, room - 0.25 * (room - centre))
    ranks = np.round(np.linspace(first, last, _KNOTS))
    _, solve, _ = _design(_KNOTS)
    places = ranks.astype(np.int64)
    low, high = solve @ ordered[places], solve @ ordered[places + span]
    return _Fit(
        ranks=ranks,
        centre=(first + last) / 2,
        scale=(last - first) / 2,
        low=low,
        high=high,
        place=_minimum(high - low),
    )


@lru_cache(maxsize=1)
def _grid() -> tuple[FloatArray, FloatArray]:
    grid = np.linspace(-1.0, 1.0, 201)
    return grid, np.vander(grid, _DEGREE + 1, increasing=True)


def _minimum(coefficients: FloatArray) -> float:
    """Return where on [-1, 1] a quartic is smallest."""
    grid, powers = _grid()
    place = float(grid[(powers @ coefficients).argmin()])
    for _ in range(4):
        curvature = _second_derivative(coefficients, place)
        if abs(place) == 1 or curvature <= 0:
            break
        slope = (np.arange(1, _DEGREE + 1) * coefficients[1:]) @ place ** np.arange(_DEGREE)
        place = float(np.clip(place - slope / curvature, -1.0, 1.0))
    return place


def _powers(place: float) -> FloatArray:
    powers: FloatArray = np.float64(place) ** np.arange(_DEGREE + 1)
    return powers


def _second_derivative(coefficients: FloatArray, place: float) -> float:
    orders = np.arange(2, _DEGREE + 1)
    return float((orders * (orders - 1) * coefficients[2:]) @ place ** (orders - 2))


_MASS_ERROR = 1e-11
_DENSITY_ERROR = 1e-9
_NUDGE = 1e-4  # of the width, for the slope of the log density
_TIE = 1e-9
_SHARES = (0.02, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 0.98)  # of an interval, to see its shape


def exact_hdi(
    distribution: Distribution, prob: float, *, equal_tailed: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Return the ends of the narrowest interval that holds ``prob``.

    Of all intervals ``[q(p), q(p + prob)]`` it is the one of least width. Inside the
    support its ends have equal density. A density that is highest at one end of the
    support has its interval there. A U-shaped density has two candidates, one at each
    end, and the narrower of them is returned; where neither is narrower, as for a
    uniform or a symmetric U, it is the equal-tailed interval, which mirrors with the
    distribution.

    Parameters
    ----------
    distribution
        Any distribution with finite support, or a symmetric one.
    prob
        The mass between the ends.
    equal_tailed
        The equal-tailed interval, if it is known, to start from.

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
    if math.isinf(distribution.support[0]):  # Student's t, which is symmetric
        return _between(distribution, prob, 0.5 * (1.0 - prob))
    candidates = _at_the_ends(distribution, prob)
    if not candidates:
        start = _start(distribution, prob, equal_tailed)
        return _inside(distribution, prob, start) or _search(distribution, prob)
    if len(candidates) == 2:
        return _narrower(distribution, prob, candidates)
    return candidates[0] if _one_mode(distribution, *candidates[0]) else _search(distribution, prob)


def _at_the_ends(distribution: Distribution, prob: float) -> list[tuple[float, float]]:
    """Return the intervals at an end of the support that gain nothing by moving inwards."""
    lowest, highest = distribution.support
    found = []
    density = distribution.pdf(lowest)
    if density > 0.0:
        inner = distribution.quantile(prob)
        if density >= distribution.pdf(inner):
            found.append((lowest, inner))
    density = distribution.pdf(highest)
    if density > 0.0:
        inner = distribution.quantile(1.0 - prob)
        if density >= distribution.pdf(inner):
            found.append((inner, highest))
    return found


def _narrower(
    distribution: Distribution, prob: float, candidates: list[tuple[float, float]]
) -> tuple[float, float]:
    first, second = (high - low for low, high in candidates)
    if abs(first - second) <= _TIE * max(first, second):
        tail = 0.5 * (1.0 - prob)
        return distribution.quantile(tail), distribution.quantile(1.0 - tail)
    return candidates[0] if first < second else candidates[1]


def _one_mode(distribution: Distribution, low: float, high: float) -> bool:
    """Say whether the density, once it falls from one end to the other, never rises again."""
    heights = [distribution.pdf(low + share * (high - low)) for share in _SHARES]
    if high == distribution.support[1]:
        heights.reverse()
    rises = [after > before for before, after in pairwise(heights)]
    return all(before or not after for before, after in pairwise(rises))


@dataclass(frozen=True, slots=True)
class _End:
    """One end of the interval, on the scale ``z = log[(t - lowest) / (highest - t)]``."""

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
    """Newton's method for equal densities at both ends and the right mass between them."""
    low = _end(distribution, _place(distribution, start[0]))
    high = _end(distribution, _place(distribution, start[1]))
    if low.z == high.z:  # all mass is where no float tells two values apart
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
    """Return the interval at an end of the support that no float separates from the place."""
    lowest, highest = distribution.support
    if high.value >= highest:
        return distribution.quantile(1.0 - prob), highest
    return (lowest, distribution.quantile(prob)) if low.value <= lowest else None


def _step(
    low: _End, high: _End, up: float, down: float, excess: float, gap: float
) -> tuple[float, float]:
    """Solve the two linear equations; where an end is past the mode, walk it outwards."""
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
    """Return the slope of the log density between two places, or the old one if too close."""
    if abs(after.z - before.z) < 1e-6 * (1.0 + abs(after.z)) * min(1.0, 1.0 / abs(slope or 1.0)):
        return slope
    found = _slope(before, after)
    return found if math.isfinite(found) else slope


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


def _place(distribution: Distribution, value: float) -> float:
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
        # To first order in the skewness γ the equal tails lie γ/6 (z² − 1) standard
        # deviations off ±z, and the narrowest interval lies γ/6 (z² − 3) off.
        low, high = equal_tailed
        shift = (low + high - 2.0 * mean) / (z * z - 1.0)
        if lowest < low - shift < high - shift < highest:
            return low - shift, high - shift
    if min(mean - lowest, highest - mean) > 1.5 * reach:
        return mean - reach, mean + reach
    tail = 0.5 * (1.0 - prob)
    return distribution.quantile(tail), distribution.quantile(1.0 - tail)


def _search(distribution: Distribution, prob: float) -> tuple[float, float]:
    """Look at the width of every interval, for densities of no simple shape."""
    low, high = 0.0, 1.0 - prob
    best = 0.0
    for round_ in range(7):  # each narrows the places left to a third
        places = [float(place) for place in np.linspace(low, high, 7)]
        ends = [_between(distribution, prob, place) for place in places]
        widths = [end - start for start, end in ends]
        k = int(np.argmin(widths))
        if round_ == 1 and 0.0 < places[k] < 1.0 - prob:
            found = _inside(distribution, prob, ends[k])
            if found and found[1] - found[0] <= widths[k]:
                return found
        best, step = places[k], places[1] - places[0]
        low, high = max(best - step, 0.0), min(best + step, 1.0 - prob)
    return _between(distribution, prob, best)


def _between(distribution: Distribution, prob: float, p: float) -> tuple[float, float]:
    return distribution.quantile(p), distribution.quantile(min(p + prob, 1.0))
