"""Weights of documents, or of groups of them: Rubin's Bayesian bootstrap, draw by draw."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.streams import Fill, run_blocks

# So many weights stay in the cache while a block of draws is evaluated.
_NEAR = 1 << 17


def block_of_documents(n_units: int) -> int:
    """Return how many draws make a block; it depends on the number of units only.

    Examples
    --------
    >>> block_of_documents(200), block_of_documents(1_000_000)
    (655, 1)
    """
    return max(1, min(4096, _NEAR // max(n_units, 1)))


def draw_documents(
    make_evaluate: Callable[[], Callable[[FloatArray, FloatArray], None]],
    *,
    n_units: int,
    shapes: FloatArray | None,
    n_values: int,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> FloatArray:
    """Draw a weight for every unit and evaluate, block by block; ``(n_values, n_draws)``.

    A unit that stands for r equal documents has a Gamma(r) weight, the sum of r that are
    Exp(1). The weights are not divided by their sum, and they are never kept.

    Parameters
    ----------
    make_evaluate
        Called once for each thread; returns ``evaluate(weights, out)`` from weights
        ``(length, n_units)`` to ``out  # (n_values, length)``.
    n_units
        How many weights a draw takes.
    shapes
        What each unit stands for; None for one document each.
    n_values
        How many numbers a draw gives.
    n_draws
        How many draws.
    seed
        Of the draws.
    n_jobs
        Threads; the draws do not depend on it.
    """
    length = block_of_documents(n_units)

    def make_fill() -> Fill:
        evaluate, weights = make_evaluate(), np.empty((min(length, n_draws), n_units))

        def fill(generator: np.random.Generator, out: FloatArray) -> None:
            block = weights[: out.shape[1]]
            if shapes is None:
                generator.standard_exponential(out=block)
            else:
                generator.standard_gamma(np.broadcast_to(shapes, block.shape), out=block)
            evaluate(block, out)

        return fill

    return run_blocks(
        make_fill,
        n_values=n_values,
        n_draws=n_draws,
        n_gammas=n_units,
        seed=seed,
        n_jobs=n_jobs,
        length=length,
    )
