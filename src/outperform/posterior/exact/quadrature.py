"""Quadrature of positive, peaked functions known by their logarithms."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from scipy.special import expit

from outperform._typing import AnyArray, FloatArray

LogFunction: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
"""The log of a function, given the distances of its points from both ends."""

_OnTheLine: TypeAlias = Callable[[FloatArray], FloatArray]

_EDGE = 90.0  # closer to an end than exp(-90), only the power law remains
_DROP = 43.0  # values below exp(-43) of the peak add nothing
_GRID = np.linspace(0.0, 1.0, 65)
_AROUND = np.arange(-1, 2)
_FIRST = 56
_LONGEST = 0.5  # longest step; short enough to miss no part, however small
_LEVELS = 8
_AGREEMENT = 1e-11  # of two rules; the error of the finer one is then about its square
_REACHES = np.exp2(np.arange(-4, 150) / 3.0)


def log_integral(
    log_function: LogFunction,
    width: float,
    *,
    slopes: tuple[float, float] = (1.0, 1.0),
    guide: LogFunction | None = None,
    scale: float = 1.0,
) -> float:
    """Return the log of the integral of ``exp(log_function)`` over one interval.

    Parameters
    ----------
    log_function
        Function of the distances from the lower and the upper end; it may return ``-inf``.
    width
        Length of the interval.
    slopes
        Powers ``s`` such that the function behaves like ``distance^(s - 1)`` at the lower and the
        upper end. They matter only below 1/2, when the ends have mass that no node reaches.
    guide
        A cheaper function with nearly the same peak, used to find the peak.
    scale
        Shortest distance from an end, relative to the width, at which the function still changes
        from one power law to another.

    Examples
    --------
    >>> round(log_integral(lambda left, right: np.log(left), 2.0), 12)
    0.69314718056
    """
    rows = log_integrals(
        log_function, np.array([width]), slopes=slopes, guide=guide, scale=np.array([scale])
    )
    return float(rows[0])


def log_integrals(
    log_function: LogFunction,
    width: FloatArray,
    *,
    slopes: tuple[float, float] = (1.0, 1.0),
    guide: LogFunction | None = None,
    scale: FloatArray,
) -> FloatArray:
    """Return the logs of several integrals of the same kind.

    Parameters
    ----------
    log_function, guide
        As in :func:`log_integral`, but with one row of distances per integral.
    width, scale
        One number per integral.
    slopes
        As in :func:`log_integral`; the same for all integrals.

    Examples
    --------
    >>> both = log_integrals(lambda x, y: np.log(x), np.array([1.0, 2.0]), scale=np.ones(2))
    >>> [round(float(value), 12) for value in np.exp(both)]
    [0.5, 2.0]
    """
    column = width[:, None]
    farthest = (_EDGE - np.log(np.clip(scale, 1e-280, 1.0)))[:, None]
    with np.errstate(all="ignore"):  # zeros and infinities at the ends are intended
        low, high = _bracket(_on_the_line(guide or log_function, column), farthest)
        cut = (
            np.where(low <= -farthest, slopes[0], 0.0),
            np.where(high >= farthest, slopes[1], 0.0),
        )
        return _trapezoid(_on_the_line(log_function, column), low, high, cut)


def _on_the_line(log_function: LogFunction, width: FloatArray) -> _OnTheLine:
    def log_density(z: FloatArray) -> FloatArray:
        left: FloatArray = expit(z) * width
        right: FloatArray = expit(-z) * width
        # fmax ignores NaN
        return np.fmax(log_function(left, right) + np.log(left * (right / width)), -np.inf)

    return log_density


def _bracket(log_density: _OnTheLine, farthest: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Find where the function rises above and falls below the negligible level."""
    peak, top, curvature = _peak(log_density, farthest)
    reach = np.sqrt(2.0 * _DROP / np.fmax(curvature, 1e-2))
    enough = int(np.searchsorted(_REACHES, 2.0 * float((farthest / reach).max()))) + 1
    offsets = reach * _REACHES[:enough]
    n = offsets.shape[1]
    low, high = np.maximum(peak - offsets, -farthest), np.minimum(peak + offsets, farthest)
    counts = log_density(np.concatenate([low, high], axis=1)) > top - _DROP
    row = np.arange(len(low))
    first, last = _first_beyond(counts[:, :n]), _first_beyond(counts[:, n:])
    return low[row, first][:, None], high[row, last][:, None]


def _first_beyond(counts: AnyArray) -> AnyArray:
    """Return the index after the last non-negligible value."""
    n = counts.shape[1]
    after = np.where(counts.any(axis=1), n - np.argmax(counts[:, ::-1], axis=1), 0)
    return np.asarray(np.minimum(after, n - 1))


def _peak(
    log_density: _OnTheLine, farthest: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Zoom in until the neighbours of the highest point are nearly as high."""
    low, high = -farthest, farthest
    row = np.arange(len(low))[:, None]
    for _ in range(14):
        z = low + (high - low) * _GRID
        values = log_density(z)
        highest = np.minimum(np.maximum(values.argmax(axis=1), 1), len(_GRID) - 2)
        k = highest[:, None] + _AROUND
        near, nodes = values[row, k], z[row, k]
        top = near.max(axis=1, keepdims=True)
        bend = 2.0 * near[:, 1:2] - near[:, :1] - near[:, 2:]
        curvature = bend / (0.5 * (nodes[:, 2:] - nodes[:, :1])) ** 2
        done = ((bend >= 0.0) & (bend < 1.0)) | np.isneginf(top)
        if done.all():
            break
        low, high = np.where(done, low, nodes[:, :1]), np.where(done, high, nodes[:, 2:])
    return nodes[:, 1:2], top, curvature


def _trapezoid(
    log_density: _OnTheLine,
    low: FloatArray,
    high: FloatArray,
    cut: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Sum over increasingly fine nodes; ``cut`` has the slopes of the ends that were cut off."""
    n = max(_FIRST, 2 * math.ceil(float((high - low).max()) / (2.0 * _LONGEST)))
    step = (high - low) / n
    values = log_density(low + step * np.arange(n + 1))
    top: FloatArray = values.max(axis=1, keepdims=True)
    top = np.where(np.isneginf(top), 0.0, top)
    heights = np.exp(values - top)
    ends = heights[:, :1], heights[:, -1:]
    inner: FloatArray = heights.sum(axis=1, keepdims=True)
    coarse = heights[:, ::2].sum(axis=1, keepdims=True) + _beyond(ends, cut, 2.0 * step)
    coarse, fine = 2.0 * step * coarse, step * (inner + _beyond(ends, cut, step))
    for level in range(_LEVELS):
        # rounding limits the accuracy, so the tolerance grows with every level
        if (np.abs(fine - coarse) <= _AGREEMENT * 10.0**level * fine).all():
            break
        halfway = log_density(low + step * (np.arange(n) + 0.5))
        # a value far above all previous ones means that the previous ones were out of range
        heights = np.exp(np.minimum(halfway - top, 700.0))
        inner = inner + heights.sum(axis=1, keepdims=True)
        step, n, coarse = step / 2.0, 2 * n, fine
        fine = step * (inner + _beyond(ends, cut, step))
    return np.asarray((top + np.log(fine))[:, 0])


def _beyond(
    ends: tuple[FloatArray, FloatArray], cut: tuple[FloatArray, FloatArray], step: FloatArray
) -> FloatArray:
    """Return the sum beyond the outermost nodes, a geometric series on each side."""
    total = np.zeros_like(step)
    for end, slope in zip(ends, cut, strict=True):
        if slope.any():
            total += np.where(slope > 0.0, end / np.expm1(slope * step), 0.0)
    return total


@lru_cache(maxsize=1024)
def ratio_moments(a: float, rest: tuple[tuple[float, float], ...]) -> tuple[float, float]:
    """Return mean and sd of ``T / (T + Z)``, where ``Z`` is the sum of ``w R`` over ``rest``.

    With ``M(s) = E exp(-s (T + Z))`` the mean is the integral of ``E_s[T] M(s)`` and the variance
    that of ``s E_s[((1 - m) T - m Z)^2] M(s)``, where ``E_s`` has every gamma shrunk by ``1 + w
    s``. All integrands are positive, so nothing cancels.

    Parameters
    ----------
    a
        Shape of ``T``.
    rest
        One pair per ``R``: its shape and its weight ``w``.

    Examples
    --------
    >>> mean, sd = ratio_moments(1.0, ((1.0, 1.0),))
    >>> round(mean, 12), round(sd ** 2, 12)
    (0.5, 0.083333333333)
    """
    parts = ((a, 1.0), *rest)
    total = math.fsum(shape for shape, _ in parts)

    def log_mean(left: FloatArray, right: FloatArray) -> FloatArray:
        s = left / right
        return _log_tilt(parts, s) + math.log(a) - np.log1p(s) - 2.0 * np.log(right)

    mean = math.exp(log_integral(log_mean, 1.0, slopes=(1.0, total)))
    signs = (1.0 - mean, *(-mean * weight for _, weight in rest))

    def log_spread(left: FloatArray, right: FloatArray) -> FloatArray:
        s = left / right
        first, second = np.zeros_like(s), np.zeros_like(s)
        for (shape, weight), sign in zip(parts, signs, strict=True):
            # multiplied by 1 + s, which avoids underflow far out
            shrunk = sign * (1.0 + s) / (1.0 + weight * s)
            first += shape * shrunk
            second += shape * shrunk * shrunk
        log_square = np.log(first * first + second) - 2.0 * np.log1p(s)
        return _log_tilt(parts, s) + log_square + np.log(s / (right * right))

    variance = math.exp(log_integral(log_spread, 1.0, slopes=(2.0, total)))
    return mean, math.sqrt(variance)


def _log_tilt(parts: tuple[tuple[float, float], ...], s: FloatArray) -> FloatArray:
    result = np.zeros_like(s)
    for shape, weight in parts:
        result -= shape * np.log1p(weight * s)
    return result
