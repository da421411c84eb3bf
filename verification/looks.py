"""Very many posteriors of a paired difference at once: mean, HDI and mass inside a ROPE.

A got b items right that B did not, B got c right that A did not, of n. Under the flat
prior the shares (p1, p2, rest) are Dirichlet(1 + b, 1 + c, 2 + n - b - c), and the density of
p1 - p2 at d >= 0 is, but for a constant,

    ∫ (y + d)^b  y^c  (1 - d - 2 y)^(n + 1 - b - c) dy,

with b and c changed round for d < 0. It is summed over y by Gauss–Legendre nodes for every
point of a grid of d. The package gets the same numbers one by one from its closed form; this
shares no code with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss

from outperform._typing import FloatArray, IntArray

_REACH = 7.0  # standard deviations of the difference that the grid covers to either side
_POINTS = 97
_NODES, _WEIGHTS = leggauss(32)
_CHUNK = 250
_TINY = 1e-300
_STEPS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Posteriors:
    """One value for each posterior."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    inside: FloatArray


def posteriors(n: IntArray, b: IntArray, c: IntArray, *, rope: float, prob: float) -> Posteriors:
    """Return what is needed of each posterior; equal counts are worked out once."""
    counts = np.stack([np.broadcast_to(n, b.shape), b, c], axis=-1).reshape(-1, 3)
    distinct, places = np.unique(counts, axis=0, return_inverse=True)
    found = np.empty((len(distinct), 4))
    for first in range(0, len(distinct), _CHUNK):
        part = distinct[first : first + _CHUNK].astype(np.float64)
        found[first : first + _CHUNK] = _chunk(part, rope, prob)
    every = found[places.reshape(b.shape)]
    return Posteriors(
        mean=every[..., 0], low=every[..., 1], high=every[..., 2], inside=every[..., 3]
    )


def _chunk(counts: FloatArray, rope: float, prob: float) -> FloatArray:
    n, b, c = counts.T
    total = n + 4
    p, q = (1 + b) / total, (1 + c) / total
    mean = p - q
    sd = np.sqrt((p + q - mean**2) / (total + 1))
    low, high = np.maximum(mean - _REACH * sd, -1), np.minimum(mean + _REACH * sd, 1)
    grid = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _POINTS)
    density = _density(grid, n, b, c)
    curve = _Curve(grid, density)
    ends = curve.hdi(sd, prob)
    inside = curve.mass(np.full_like(mean, rope)) - curve.mass(np.full_like(mean, -rope))
    return np.stack([mean, *ends, inside], axis=1)


def _density(grid: FloatArray, n: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """Return the density on the grid ``(n_posteriors, n_points)``, but for a constant factor."""
    d = np.abs(grid)
    more = np.where(grid >= 0, b[:, None], c[:, None])  # of what exceeds the other by d
    less = np.where(grid >= 0, c[:, None], b[:, None])
    rest = (n + 1 - b - c)[:, None]
    bottom, top = _window(grid, n, b, c, less)
    y = bottom[..., None] + (top - bottom)[..., None] * (1 + _NODES) / 2
    logs = (
        more[..., None] * np.log(y + d[..., None] + _TINY)
        + less[..., None] * np.log(y + _TINY)
        + rest[..., None] * np.log(np.maximum(1 - d[..., None] - 2 * y, 0) + _TINY)
    )
    peak = logs.max(axis=(1, 2), keepdims=True)
    density: FloatArray = (np.exp(logs - peak) @ _WEIGHTS) * (top - bottom)
    return density


def _window(
    grid: FloatArray, n: FloatArray, b: FloatArray, c: FloatArray, less: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return where the smaller share has its mass, given the difference, by its first moments."""
    p, q = ((1 + one) / (n + 4) for one in (b, c))
    mean, both = p - q, p + q - (p - q) ** 2  # the variance is both / (n + 5)
    upper = grid >= 0
    share = np.where(upper, q[:, None], p[:, None])
    slope = np.where(upper, (-q * (1 + mean) / both)[:, None], (p * (1 - mean) / both)[:, None])
    centre = np.maximum(share + slope * (grid - mean[:, None]), 0)
    # Rounding must not make it negative where nearly all items are disagreements.
    left = np.maximum(share * (1 - share) - slope**2 * both[:, None], 1e-3 * share * (1 - share))
    spread = np.sqrt(left / (n + 5)[:, None])
    top = np.minimum((1 - np.abs(grid)) / 2, centre + (8 + 6 / np.sqrt(1 + less)) * spread)
    return np.clip(centre - 8 * spread, 0, 0.99 * top), top


class _Curve:
    """A density on grids that step evenly, and its integral as a piecewise cubic."""

    def __init__(self, grid: FloatArray, density: FloatArray) -> None:
        self.start, self.end, self.step = grid[:, 0], grid[:, -1], grid[:, 1] - grid[:, 0]
        step = self.step[:, None]
        slope = np.gradient(density, axis=1) / step
        pieces = (density[:, 1:] + density[:, :-1]) / 2 * step
        pieces -= np.diff(slope, axis=1) * step**2 / 12
        whole = np.concatenate([np.zeros((len(grid), 1)), np.cumsum(pieces, axis=1)], axis=1)
        self.density = density / whole[:, -1:]
        self.below = whole / whole[:, -1:]

    def mass(self, at: FloatArray) -> FloatArray:
        """Return the mass below a value for each row."""
        return self._around(at)[0]

    def hdi(self, sd: FloatArray, prob: float) -> tuple[FloatArray, FloatArray]:
        """Solve mass = prob and equal densities at both ends, by Newton's steps."""
        low, high = (self._quantile(tail) for tail in ((1 - prob) / 2, (1 + prob) / 2))
        for _ in range(_STEPS):
            below, f_low, s_low = self._around(low)
            above, f_high, s_high = self._around(high)
            lacks, apart = above - below - prob, f_high - f_low
            det = f_high * s_low - f_low * s_high
            det = np.where(np.abs(det) < 1e-12, 1e-12, det)
            move_low = (apart * f_high - lacks * s_high) / det
            move_high = (apart * f_low - lacks * s_low) / det
            low = np.maximum(low + np.clip(move_low, -0.2 * sd, 0.2 * sd), self.start)
            high = np.minimum(high + np.clip(move_high, -0.2 * sd, 0.2 * sd), self.end)
        return low, high

    def _quantile(self, probability: float) -> FloatArray:
        """Return where so much mass lies below, to a part of a step."""
        cell = (self.below < probability).sum(axis=1) - 1
        rows = np.arange(len(cell))
        left, right = self.below[rows, cell], self.below[rows, cell + 1]
        place: FloatArray = cell + (probability - left) / (right - left)
        return self.start + self.step * place

    def _around(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the mass below, the density and its slope at a value for each row."""
        place = (at - self.start) / self.step
        cell = np.clip(np.floor(place), 0, self.below.shape[1] - 2).astype(np.int64)
        t, rows = np.clip(place - cell, 0.0, 1.0), np.arange(len(at))
        left, right = self.below[rows, cell], self.below[rows, cell + 1]
        f_left, f_right = self.density[rows, cell], self.density[rows, cell + 1]
        rise = right - left - self.step * f_left
        turn = self.step * (f_right - f_left)
        two, three = 3 * rise - turn, turn - 2 * rise
        mass = left + self.step * f_left * t + two * t**2 + three * t**3
        density = f_left + (2 * two * t + 3 * three * t**2) / self.step
        slope = (2 * two + 6 * three * t) / self.step**2
        return mass, density, slope
