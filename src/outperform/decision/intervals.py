"""Credible intervals, and the HDI of draws with its Monte Carlo error."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import floor, log10
from typing import Literal

import numpy as np

from outperform._typing import FloatArray
from outperform.errors import UsageError, param

# The fit looks at a quarter of the possible positions to each side of the minimum:
# wide enough to average noise away, narrow enough for a quartic to follow the curve.
_HALF_WINDOW = 0.25
_KNOTS = 64
_DEGREE = 4

# An end of the plain shortest interval is this much noisier than a quantile.
SHORTEST_NOISE = 2.4


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Interval:
    """A credible interval.

    Parameters
    ----------
    low, high
        The ends.
    prob
        The posterior mass between them.
    mcse_low, mcse_high
        The Monte Carlo errors of the ends; 0 where they are exact.
    kind
        How it prints: ``"HDI"`` for the narrowest, ``"ETI"`` for the equal-tailed one.
    signed
        Whether it prints signs, as an interval of differences does.

    Examples
    --------
    >>> interval = Interval(low=-0.02, high=0.01, prob=0.95)
    >>> round(interval.midpoint, 3), 0.0 in interval
    (-0.005, True)
    >>> print(interval)
    95% interval -0.0200 to 0.0100
    """

    low: float
    high: float
    prob: float
    mcse_low: float = 0.0
    mcse_high: float = 0.0
    kind: Literal["HDI", "ETI", "interval"] = field(default="interval", compare=False)
    signed: bool = field(default=False, compare=False)

    @property
    def midpoint(self) -> float:
        """Half-way between the ends."""
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        """From end to end."""
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        low, high = (self._shown(end) for end in (self.low, self.high))
        return f"{100 * self.prob:.6g}% {self.kind} {low} to {high}"

    def _shown(self, end: float) -> str:
        """Write an end with as many decimals as the width needs; zero has no sign."""
        narrow = 0 < self.width < 1
        digits = min(max(4, 2 - floor(log10(self.width))), 12) if narrow else 4
        rounded = round(end, digits) or 0.0
        return f"{rounded:{'+' if self.signed and rounded else ''}.{digits}f}"

    def __repr__(self) -> str:
        return f"Interval({self})"


def check_prob(prob: float) -> float:
    """Return a probability strictly between 0 and 1, or say how to mend it."""
    number = isinstance(prob, (int, float, np.floating)) and not isinstance(prob, bool)
    if number and 1 < prob < 100:
        raise UsageError(
            f"{param('hdi_prob')} must lie between 0 and 1; got {prob}; did you mean "
            f"{prob / 100:g}?"
        )
    if not number or not 0 < prob < 1:
        raise UsageError(f"{param('hdi_prob')} must lie strictly between 0 and 1; got {prob!r}")
    return float(prob)


def equal_tailed(ordered: FloatArray, prob: float, n_effective: float | None = None) -> Interval:
    """Return the interval between two quantiles of sorted draws.

    Its errors are those of ``n_effective`` independent draws; by default all are.

    Examples
    --------
    >>> eti = equal_tailed(np.linspace(0, 1, 1001), 0.9)
    >>> round(eti.low, 3), round(eti.high, 3)
    (0.05, 0.95)
    """
    tail = (1 - prob) / 2
    found = Interval(
        low=_quantile(ordered, tail),
        high=_quantile(ordered, 1 - tail),
        prob=prob,
        mcse_low=_quantile_error(ordered, tail),
        mcse_high=_quantile_error(ordered, 1 - tail),
    )
    return _less_sure(found, ordered.size, n_effective)


def _less_sure(interval: Interval, n_draws: int, n_effective: float | None) -> Interval:
    """Widen the errors of independent draws to those of draws that are worth fewer."""
    if n_effective is None or n_effective == n_draws:
        return interval
    factor = (n_draws / n_effective) ** 0.5
    low, high = factor * interval.mcse_low, factor * interval.mcse_high
    return replace(interval, mcse_low=low, mcse_high=high)


def _quantile(ordered: FloatArray, level: float) -> float:
    """Return a quantile of sorted draws without sorting them again."""
    rank = level * (ordered.size - 1)
    below = int(rank)
    above = min(below + 1, ordered.size - 1)
    return float(ordered[below] + (rank - below) * (ordered[above] - ordered[below]))


def _quantile_error(ordered: FloatArray, level: float) -> float:
    """Return the standard error of a quantile: half of what one sd of its rank spans."""
    spread = float(np.sqrt(level * (1 - level) / ordered.size))
    low = _quantile(ordered, max(level - spread, 0.0))
    return (_quantile(ordered, min(level + spread, 1.0)) - low) / 2


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
        return _less_sure(_plain(ordered, prob), n, n_effective)
    widths = ordered[span:] - ordered[: n - span]
    centre = float(widths.argmin())
    for _ in range(2):
        fit = _fit(ordered, span, centre, room)
        centre = fit.centre + fit.scale * fit.place
    return _less_sure(fit.interval(prob, n, span), n, n_effective)


def narrowest_ends(ordered: FloatArray, prob: float) -> tuple[float, float]:
    """Return the ends of the narrowest interval that holds ``prob`` of the sorted draws.

    The plain sample version, for simulations that need millions of them.

    Examples
    --------
    >>> narrowest_ends(np.array([0.0, 5.0, 5.1, 5.2]), 0.75)
    (5.0, 5.2)
    """
    start, span = _shortest(ordered, prob)
    return float(ordered[start]), float(ordered[start + span])


def _shortest(ordered: FloatArray, prob: float) -> tuple[int, int]:
    n = ordered.size
    span = min(int(np.ceil(prob * n)), n) - 1
    return int((ordered[span:] - ordered[: n - span]).argmin()), span


def _plain(ordered: FloatArray, prob: float) -> Interval:
    """Return the narrowest interval of few draws, with the error of its quantiles."""
    n = ordered.size
    start, span = _shortest(ordered, prob)
    error_low = _quantile_error(ordered, start / n)
    error_high = _quantile_error(ordered, (start + span) / n)
    return Interval(
        low=float(ordered[start]),
        high=float(ordered[start + span]),
        prob=prob,
        mcse_low=SHORTEST_NOISE * error_low,
        mcse_high=SHORTEST_NOISE * error_high,
    )


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
