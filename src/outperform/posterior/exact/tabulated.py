"""A distribution tabulated once, for use inside other integrals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import expit

from outperform._typing import FloatArray
from outperform.posterior.exact.distribution import PointWise, UnitInterval, one_point
from outperform.posterior.exact.quadrature import log_integral

_NODES = 24
_CHEBYSHEV = -np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)  # ascending
_TO_SERIES = np.cos(np.arccos(_CHEBYSHEV)[:, None] * np.arange(_NODES)) * 2.0 / _NODES
_TO_SERIES[:, 0] /= 2.0
_GAUSS, _GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(12)
_DROP = 120.0  # the table ends where the density is exp(-120) of its peak
_FARTHEST = 250.0  # beyond this, a power law takes over
_VISIBLE = 45.0  # below exp(-45) of the peak, fewer digits are needed
_TAIL_PIECE = 2.5  # in standard deviations of the log odds


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """A function of one variable as a piecewise Chebyshev series, linear beyond the pieces.

    Parameters
    ----------
    edges
        Boundaries of the pieces.
    coefficients
        One row per piece.
    slopes
        Slopes below the first and above the last piece.
    """

    edges: FloatArray  # (n_pieces + 1,)
    coefficients: FloatArray  # (n_pieces, n_nodes)
    slopes: tuple[float, float]

    def __call__(self, z: FloatArray) -> FloatArray:
        """Return the function at each ``z``."""
        edges = self.edges
        inside = np.clip(z, edges[0], edges[-1])
        piece = np.clip(np.searchsorted(edges, inside) - 1, 0, len(edges) - 2)
        low, high = edges[piece], edges[piece + 1]
        local = np.clip((2.0 * inside - low - high) / (high - low), -1.0, 1.0)
        waves = np.cos(np.arccos(local)[..., None] * np.arange(_NODES))
        beyond = z - inside
        result = np.einsum("...j,...j->...", self.coefficients[piece], waves)
        return np.asarray(result + np.where(beyond < 0.0, *self.slopes) * beyond)


@dataclass(frozen=True, slots=True, eq=False)
class Table(UnitInterval):
    """Tabulated logs of the log-odds density and of both tails.

    Parameters
    ----------
    source
        The tabulated distribution.
    density, lower, upper
        Three functions of the log odds.
    """

    source: PointWise
    density: Series
    lower: Series
    upper: Series

    @property
    def ends(self) -> tuple[float, float]:
        """Powers ``s`` of the density ``distance^(s - 1)`` at 0 and at 1."""
        return self.source.ends

    @property
    def centre(self) -> float:
        """Fast approximation of the mean."""
        return self.source.centre

    @property
    def spread(self) -> float:
        """Fast approximation of the standard deviation."""
        return self.centre * (1.0 - self.centre) * self.source.log_odds_spread

    @property
    def mean(self) -> float:
        """The expected value."""
        slopes = (self.ends[0] + 1.0, self.ends[1])
        return math.exp(
            log_integral(lambda x, y: self.log_density(x, y) + np.log(x), 1.0, slopes=slopes)
        )

    @property
    def sd(self) -> float:
        """The standard deviation."""
        mean = self.mean

        def log_square(x: FloatArray, y: FloatArray) -> FloatArray:
            with np.errstate(divide="ignore"):
                return self.log_density(x, y) + 2.0 * np.log(np.abs(x - mean))

        log_variance = log_integral(log_square, 1.0, slopes=self.ends, guide=self.log_density)
        return math.exp(0.5 * log_variance)

    def cdf(self, value: float) -> float:
        """Return the probability of at most ``value``."""
        if not 0.0 < value < 1.0:
            return 1.0 if value >= 1.0 else 0.0
        return math.exp(float(self.log_lower(*one_point(value))[0]))

    def sf(self, value: float) -> float:
        """Return the probability of more than ``value``."""
        if not 0.0 < value < 1.0:
            return 0.0 if value >= 1.0 else 1.0
        return math.exp(float(self.log_upper(*one_point(value))[0]))

    def log_density(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the density."""
        return self.density(np.log(x) - np.log(y)) - np.log(x * y)

    def log_lower(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the probability below."""
        return np.minimum(self.lower(np.log(x) - np.log(y)), 0.0)

    def log_upper(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the probability above."""
        return np.minimum(self.upper(np.log(x) - np.log(y)), 0.0)

    guide_density = log_density
    guide_lower = log_lower
    guide_upper = log_upper


@lru_cache(maxsize=64)
def tabulate(distribution: PointWise) -> Table:
    """Tabulate a distribution.

    Only the density is integrated at every point; the tails are sums of integrals of its series
    between adjacent nodes.

    Parameters
    ----------
    distribution
        Any distribution whose density needs an integral at every point.

    Examples
    --------
    >>> from outperform.posterior.exact.f_score import WeightedShare
    >>> f2 = WeightedShare(81.0, 11.0, 0.2, 21.0, 0.8)
    >>> abs(tabulate(f2).cdf(0.8) - f2.cdf(0.8)) < 1e-13
    True
    """
    low, high, peak = _range(distribution)
    pieces = _pieces(distribution, low, high, peak)
    edges = np.array([low] + [edge for edge, _ in pieces])
    below, above = distribution.ends
    density = Series(edges, np.stack([series for _, series in pieces]), (below, -above))
    return Table(distribution, density, *_tails(density, distribution))


def _tails(density: Series, distribution: PointWise) -> tuple[Series, Series]:
    low, high = float(density.edges[0]), float(density.edges[-1])
    width = _TAIL_PIECE * min(distribution.log_odds_spread, 1.0)
    edges = np.linspace(low, high, math.ceil((high - low) / width) + 1)
    half = 0.5 * np.diff(edges)[:, None]
    nodes = (0.5 * (edges[1:] + edges[:-1])[:, None] + half * _CHEBYSHEV).ravel()
    stops = np.concatenate([[low], nodes, [high]])
    gaps = 0.5 * np.diff(stops)
    points = 0.5 * (stops[1:] + stops[:-1])[:, None] + gaps[:, None] * _GAUSS
    log_heights = density(points.ravel()).reshape(points.shape)
    masses = np.exp(log_heights) @ _GAUSS_WEIGHTS * gaps
    (before, below), (after, above) = _end_masses(density, distribution)
    rising = np.cumsum(np.concatenate([[before], masses]))[1:-1]
    falling = np.cumsum(np.concatenate([[after], masses[::-1]]))[1:-1][::-1]
    shape = (len(edges) - 1, _NODES)
    return (
        Series(edges, _series(np.log(rising).reshape(shape)), (below, 0.0)),
        Series(edges, _series(np.log(falling).reshape(shape)), (0.0, -above)),
    )


def _end_masses(density: Series, distribution: PointWise) -> list[tuple[float, float]]:
    """Return the mass beyond the table on each side, where the density is a power."""
    outermost = density(density.edges[[0, -1]])
    return [
        (math.exp(float(height)) / power, power)
        for height, power in zip(outermost, distribution.ends, strict=True)
    ]


def _series(values: FloatArray) -> FloatArray:
    """Return Chebyshev coefficients from values at the nodes in ascending order."""
    return np.asarray(values @ _TO_SERIES)


def _pieces(
    distribution: PointWise, low: float, high: float, peak: float
) -> list[tuple[float, FloatArray]]:
    """Halve a piece until its series has converged within the number of nodes.

    Far out in the tails fewer digits suffice, because the density is negligible and the table may
    end there.
    """
    nodes = 0.5 * (low + high) + 0.5 * (high - low) * _CHEBYSHEV
    heights = _heights(distribution, nodes)
    series = _series(heights)
    hidden = min(max(peak - float(heights.max()) - _VISIBLE, 0.0), 700.0)
    smooth = high - low <= 2.0 * min(distribution.log_odds_spread, 1.0)  # minimal width
    if smooth or float(np.abs(series[-2:]).max()) < distribution.precision * math.exp(hidden):
        return [(high, series)]
    middle = 0.5 * (low + high)
    lower = _pieces(distribution, low, middle, peak)
    return lower + _pieces(distribution, middle, high, peak)


def _heights(distribution: PointWise, z: FloatArray) -> FloatArray:
    """Return the log of the density of the log odds."""
    x: FloatArray = expit(z)
    y: FloatArray = expit(-z)
    return distribution.log_densities(x, y) + np.log(x) + np.log(y)


def _range(distribution: PointWise) -> tuple[float, float, float]:
    """Walk outwards until the density of the log odds has fallen far enough from its centre."""
    centre = math.log(distribution.centre) - math.log1p(-distribution.centre)
    peak = float(_heights(distribution, np.array([centre]))[0])
    least = peak - _DROP
    low = _walk(distribution, centre, least, -1.0)
    return low, _walk(distribution, centre, least, 1.0), peak


def _walk(distribution: PointWise, start: float, least: float, sign: float) -> float:
    stride, position = min(6.0 * distribution.log_odds_spread, _FARTHEST), start
    while abs(position) < _FARTHEST:
        nodes = position + sign * stride * np.array([1.0, 2.0, 3.0])
        nodes = np.minimum(np.maximum(nodes, -_FARTHEST), _FARTHEST)
        out = _heights(distribution, nodes) < least
        if out.any():
            k = int(np.argmax(out))
            inside = float(nodes[k - 1]) if k else position
            return _close_in(distribution, inside, float(nodes[k]), least)
        position, stride = float(nodes[-1]), 2.0 * stride
    return sign * _FARTHEST


def _close_in(distribution: PointWise, inside: float, outside: float, least: float) -> float:
    """Keep a steep end within the range of floats."""
    for _ in range(60):
        nodes = np.linspace(inside, outside, 6)[1:]
        heights = _heights(distribution, nodes)
        k = int(np.argmax(heights < least))
        outside = float(nodes[k])
        if heights[k] > least - _DROP:
            break
        inside = float(nodes[k - 1]) if k else inside
    return outside
