"""Tail of the units' influence: the largest share, a Pareto shape and skewness."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from outperform._typing import BoolArray, FloatArray

# Minimum number of tail values needed to estimate a shape.
_LEAST_IN_TAIL = 5
# Relative to the largest influence; smaller differences are due to rounding.
_TIE = 1e-9


def pareto_shape(excesses: FloatArray) -> float:
    """Return the shape k of a generalised Pareto distribution, by Zhang and Stephens (2009).

    The moments of order 1/k and above are infinite; k = 0 gives the exponential distribution, and
    for k < 0 the distribution is bounded. The estimate is the posterior mean under a prior that
    adapts to the data. It needs no iteration.

    Parameters
    ----------
    excesses
        Excesses of values over a threshold; positive.

    Examples
    --------
    >>> u = (np.arange(2_000) + 0.5) / 2_000
    >>> round(pareto_shape((u**-0.5 - 1) / 0.5), 2)
    0.5
    """
    x = np.sort(excesses)
    n = len(x)
    m = 30 + int(np.sqrt(n))
    quartile = x[int(n / 4 + 0.5) - 1]
    b = 1 / x[-1] + (1 - np.sqrt(m / (np.arange(1, m + 1) - 0.5))) / (3 * quartile)
    k = np.log1p(-b[:, None] * x).mean(axis=1)
    # If b is 0, so is k, and the distribution is exponential.
    scale = np.divide(-b, k, out=np.full_like(b, 1 / x.mean()), where=k != 0)
    likelihood = n * (np.log(scale) - k - 1)
    weights = np.exp(likelihood - likelihood.max())
    b_mean = float(b @ weights / weights.sum())
    return float(np.log1p(-b_mean * x).mean())


class Tail(NamedTuple):
    """Largest share of one unit in a sum of squares, and the tail's weight and asymmetry.

    Parameters
    ----------
    share
        Share of the most influential unit in the sum of squared influences.
    k
        Shape of a generalised Pareto distribution of the largest influences; NaN if there are too
        few.
    skewness
        ``|Σ u³| / (Σ u²)^1.5``, the skewness of the sum of influences: 0 if large influences have
        both signs, share^1.5 if one unit dominates.
    balance
        Ratio of the smaller to the larger sum of cubed influences of either sign: near 1 if both
        models have the same tail, near 0 if only one has.
    """

    share: float
    k: float
    skewness: float
    balance: float


def tail_of(moved: FloatArray, repeats: FloatArray, listed: BoolArray | None = None) -> Tail:
    """Return the tail of the influence of units that may occur several times.

    The tail is the largest fifth of the values or, if there are many, the largest 3√n. If only some
    units are ``listed`` one by one, it is at most a quarter of these: they are the largest by some
    mean or difference, so the largest quarter by this one are nearly certain to be among them.

    Examples
    --------
    >>> tail = tail_of(np.array([3.0, -1.0, -1.0, -1.0]), np.ones(4))
    >>> tail.share, round(tail.skewness, 3), round(tail.balance, 3)
    (0.75, 0.577, 0.111)
    """
    most = float(np.abs(moved[repeats > 0]).max(initial=0.0))
    if most == 0:
        return Tail(0.0, np.nan, 0.0, 1.0)
    moved = moved / most  # so that no cube underflows to 0
    size, times = np.abs(moved), np.rint(repeats).astype(np.int64)
    total = float(np.square(size) @ repeats)
    share = 1 / total
    cubes = [float(np.maximum(side, 0.0) ** 3 @ repeats) for side in (moved, -moved)]
    skewness, balance = abs(cubes[0] - cubes[1]) / total**1.5, min(cubes) / max(cubes)
    n = int(times.sum())
    n_tail = int(min(0.2 * n, 3 * np.sqrt(n)))
    if listed is not None:
        size, times = size[listed], times[listed]
        n_tail = min(n_tail, len(size) // 4)
    if n_tail < _LEAST_IN_TAIL:
        return Tail(share, np.nan, skewness, balance)
    order, times = np.argsort(size)[::-1], np.minimum(times, n_tail + 1)
    last = int(np.searchsorted(np.cumsum(times[order]), n_tail + 1)) + 1
    largest = np.repeat(size[order[:last]], times[order[:last]])
    excesses = largest[:n_tail] - largest[n_tail]
    above = excesses[excesses > _TIE]
    k = pareto_shape(above) if len(above) >= _LEAST_IN_TAIL else np.nan
    return Tail(share, k, skewness, balance)
