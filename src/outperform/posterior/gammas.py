"""Gamma draws: one call per run of equal shapes, tiny shapes in log space."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from outperform._typing import FloatArray

# So many gammas stay in a processor's own cache while every model's sums read them.
_IN_CACHE = 1 << 18

# Below this shape a gamma may underflow to zero often enough to matter.
_TINY_SHAPE = 0.1


def runs(shapes: FloatArray) -> list[tuple[int, int, float]]:
    """Return (start, stop, shape) for each run of equal neighbouring shapes.

    A scalar shape lets numpy draw a whole run without looking up each one.

    Examples
    --------
    >>> [(start, stop) for start, stop, _ in runs(np.array([1.0, 1.0, 2.5]))]
    [(0, 2), (2, 3)]
    """
    if not shapes.size:
        return []
    edges = np.flatnonzero(np.diff(shapes)) + 1
    starts = [0, *edges.tolist()]
    stops = [*edges.tolist(), shapes.size]
    return [(start, stop, float(shapes[start])) for start, stop in zip(starts, stops, strict=True)]


def fill_gammas(
    generator: np.random.Generator, pieces: list[tuple[int, int, float]], out: FloatArray
) -> None:
    """Fill ``out`` of shape ``(n_cells, n_draws)`` with standard gammas of each run's shape."""
    for start, stop, shape in pieces:
        if shape == 1:  # the same numbers, faster
            generator.standard_exponential(out=out[start:stop])
        elif shape > 0:
            generator.standard_gamma(shape, out=out[start:stop])
        else:
            out[start:stop] = 0.0


def gamma_sums(
    shapes: FloatArray, add_up: Callable[[FloatArray], FloatArray], *, n_models: int
) -> Callable[[np.random.Generator, int], FloatArray]:
    """Return a function that draws gammas ``(n_cells, n_draws)`` and adds them up.

    With many models every gamma is read many times, so they are drawn a few
    draws at a time. The shapes should be sorted, so that equal ones are neighbours.
    """
    pieces, n_cells = runs(shapes), shapes.size
    few = max(8, _IN_CACHE // max(n_cells, 1) // 8 * 8)
    buffers: dict[int, FloatArray] = {}

    def draw(generator: np.random.Generator, length: int) -> FloatArray:
        step = length if n_models <= 2 else min(few, length)
        sums = []
        for start in range(0, length, step):
            size = min(step, length - start)
            if size not in buffers:
                buffers[size] = np.empty((n_cells, size))
            fill_gammas(generator, pieces, buffers[size])
            sums.append(add_up(buffers[size]))
        return sums[0] if len(sums) == 1 else np.concatenate(sums, axis=1)

    return draw


def log_gammas(
    generator: np.random.Generator, shapes: FloatArray, size: tuple[int, ...]
) -> FloatArray:
    """Return logarithms of gammas; right for shapes down to 1e-300.

    ``log G(a) = log G(a + 1) + log(U) / a`` keeps what ``G(a)`` itself would
    lose to underflow.
    """
    logs = np.log(generator.standard_gamma(shapes + 1.0, size=size))
    logs -= generator.standard_exponential(size=size) / shapes
    return logs


def fill_proportions(
    generator: np.random.Generator,
    shapes: FloatArray,
    pieces: list[tuple[int, int, float]],
    out: FloatArray,
    total: FloatArray | float = 1.0,
) -> None:
    """Fill ``out`` of shape ``(n_cells, n_draws)`` with Dirichlet shares of a total."""
    if shapes.max() >= _TINY_SHAPE:
        fill_gammas(generator, pieces, out)
    else:
        logs = log_gammas(generator, shapes[:, None], out.shape)
        np.exp(logs - logs.max(axis=0), out=out)
    out *= total / out.sum(axis=0)
