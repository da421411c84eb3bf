"""Random weights. Only this module draws gammas, exponentials and Dirichlet shares.

All weights are gammas. For a Dirichlet, they are divided by their sum within each stratum and
multiplied by the stratum's total. With few units, their shapes share a χ² factor in each draw.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from outperform._typing import FloatArray

# This many gammas stay in a core's cache while they are summed for every model.
_IN_CACHE = 1 << 18

# Below this shape, a gamma underflows to zero often enough to matter.
_TINY_SHAPE = 0.1
# With shapes below this, a single unit already has all the weight in each bootstrap draw.
_LEAST_FACTOR = 0.05


def draw_gammas(
    generator: np.random.Generator,
    shapes: FloatArray | float,
    size: int | tuple[int, ...] | None = None,
) -> FloatArray:
    """Return standard gammas, or exponentials if the shape is the single number 1.

    Parameters
    ----------
    generator
        Random stream of the block.
    shapes
        One shape or an array, broadcast to ``size``.
    size
        Shape of the returned array. Default: that of ``shapes``.

    Examples
    --------
    >>> draw_gammas(np.random.default_rng(0), np.array([[2.0], [0.0]]), (2, 3)).round(2).tolist()
    [[1.83, 2.64, 1.07], [0.0, 0.0, 0.0]]
    """
    drawn: FloatArray
    if np.ndim(shapes) == 0 and shapes == 1:  # the same numbers, faster
        drawn = generator.standard_exponential(size)
    else:
        drawn = generator.standard_gamma(shapes, size)
    return drawn


def fill_gammas(
    generator: np.random.Generator, shapes: FloatArray | float, out: FloatArray
) -> None:
    """Fill ``out`` like :func:`draw_gammas`."""
    if np.ndim(shapes):
        generator.standard_gamma(np.broadcast_to(shapes, out.shape), out=out)
    elif shapes == 1:
        generator.standard_exponential(out=out)
    elif shapes > 0:
        generator.standard_gamma(shapes, out=out)
    else:
        out[...] = 0.0


def fill_rows(
    generator: np.random.Generator,
    shapes: FloatArray,
    out: FloatArray,
    factors: FloatArray | None = None,
) -> None:
    """Fill ``out`` of shape ``(n_rows, n_draws)`` with gammas of one shape per row.

    Rows with equal shapes are drawn faster if they are adjacent. ``factors`` multiply the shapes in
    each draw.

    Examples
    --------
    >>> out = np.empty((2, 3))
    >>> fill_rows(np.random.default_rng(0), np.array([2.0, 0.0]), out)
    >>> out.round(2).tolist()
    [[1.83, 2.64, 1.07], [0.0, 0.0, 0.0]]
    """
    if factors is not None:
        fill_gammas(generator, shapes[:, None] * factors, out)
        return
    # NumPy is faster with one shape for an entire run than with an array of shapes.
    edges = [0, *(np.flatnonzero(np.diff(shapes)) + 1).tolist(), shapes.size]
    for start, stop in pairwise(edges if shapes.size else ()):
        fill_gammas(generator, float(shapes[start]), out[start:stop])


def spread_factors(generator: np.random.Generator, df: float, n_draws: int) -> FloatArray:
    """Return the factor for the gamma shapes in each draw: χ²(df) / df.

    A few units give a poor estimate of their spread. With these factors a bootstrap has the tails
    of a t distribution, and its values stay within the bounds of the metric.

    Examples
    --------
    >>> factors = spread_factors(np.random.default_rng(0), 10.0, 100_000)
    >>> bool(abs(factors.var() - 0.2) < 0.01)
    True
    """
    factors: FloatArray = generator.chisquare(df, n_draws) / df
    return np.maximum(factors, _LEAST_FACTOR, out=factors)


def gamma_sums(
    shapes: FloatArray,
    add_up: Callable[[FloatArray], FloatArray],
    *,
    n_models: int,
    df: float | None = None,
) -> Callable[[np.random.Generator, int], FloatArray]:
    """Return a function that draws gammas ``(n_cells, n_draws)`` and adds them up.

    With many models, every gamma is read many times, so only a few draws are made at a time. Sort
    the shapes so that equal ones are adjacent.
    """
    n_cells = shapes.size
    few = max(8, _IN_CACHE // max(n_cells, 1) // 8 * 8)
    buffers: dict[int, FloatArray] = {}

    def draw(generator: np.random.Generator, length: int) -> FloatArray:
        step = length if n_models <= 2 else min(few, length)
        sums = []
        for start in range(0, length, step):
            size = min(step, length - start)
            if size not in buffers:
                buffers[size] = np.empty((n_cells, size))
            factors = None if df is None else spread_factors(generator, df, size)
            fill_rows(generator, shapes, buffers[size], factors)
            sums.append(add_up(buffers[size]))
        return sums[0] if len(sums) == 1 else np.concatenate(sums, axis=1)

    return draw


def log_gammas(
    generator: np.random.Generator, shapes: FloatArray, size: tuple[int, ...]
) -> FloatArray:
    """Return logarithms of gammas; accurate for shapes down to 1e-300.

    ``log G(a) = log G(a + 1) + log(U) / a`` avoids the underflow of ``G(a)``.
    """
    logs: FloatArray = np.log(draw_gammas(generator, shapes + 1.0, size))
    logs -= draw_gammas(generator, 1.0, size) / shapes
    return logs


def fill_proportions(
    generator: np.random.Generator,
    shapes: FloatArray,
    out: FloatArray,
    total: FloatArray | float = 1.0,
) -> None:
    """Fill ``out`` of shape ``(n_cells, n_draws)`` with Dirichlet shares of a total."""
    if shapes.max() >= _TINY_SHAPE:
        fill_rows(generator, shapes, out)
    else:
        logs = log_gammas(generator, shapes[:, None], out.shape)
        np.exp(logs - logs.max(axis=0), out=out)
    normalise(out, total, axis=0)


def normalise(weights: FloatArray, totals: FloatArray | float, *, axis: int) -> None:
    """Scale weights to the totals of their strata along an axis, in place.

    Examples
    --------
    >>> weights = np.array([[1.0, 3.0], [2.0, 2.0]])  # two strata of two rows
    >>> normalise(weights, np.array([8.0, 1.0]), axis=1)
    >>> weights.tolist()
    [[2.0, 6.0], [0.5, 0.5]]
    """
    weights *= np.expand_dims(totals / weights.sum(axis=axis), axis)
