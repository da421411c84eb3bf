"""Lumping: sums of Dirichlet cells are Dirichlet, so draw only what the metric tells apart.

Accuracy, recall and specificity of two paired models need four cells (both,
only A, only B, neither right), whatever the number of classes. One model's share
of one Dirichlet needs two: what counts for it and what counts against it.
"""

from __future__ import annotations

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.closed import Share
from outperform.posterior.exact import ShareForm, exact_value, share_of_right
from outperform.posterior.gammas import fill_proportions, runs
from outperform.posterior.protocol import Posterior
from outperform.posterior.streams import run_blocks


def draw_lumped(
    posterior: Posterior,
    form: ShareForm | None,
    *,
    positive: int | None,
    paired: bool,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> FloatArray | None:
    """Draw ``(n_models, n_draws)`` values of a share; None if lumping is not possible."""
    if form is None:
        return None
    shapes = (_pair_shapes if paired else _own_shapes)(posterior, form, positive)
    if shapes is None:
        return None
    pieces = [runs(one) for one in shapes]
    weight = form.rest[0][1]

    def fill(generator: np.random.Generator, out: FloatArray) -> None:
        tops = []
        for one, piece in zip(shapes, pieces, strict=True):
            cells = np.empty((one.size, out.shape[1]))
            fill_proportions(generator, one, piece, cells)
            # Cells are (for, against), or (both, only A, only B, neither).
            tops += [cells[0]] if one.size == 2 else [cells[0] + cells[1], cells[0] + cells[2]]
        for model, top in enumerate(tops):
            out[model] = top / (top + weight * (1.0 - top))

    return run_blocks(
        lambda: fill,
        n_values=posterior.n_models,
        n_draws=n_draws,
        n_gammas=sum(one.size for one in shapes),
        seed=seed,
        n_jobs=n_jobs,
    )


def _pair_shapes(
    posterior: Posterior, form: ShareForm, positive: int | None
) -> list[FloatArray] | None:
    within = share_of_right(form, positive)
    if within is None or posterior.n_models != 2:
        return None
    agreement = posterior.agreement_shapes(within.row)
    return None if agreement is None else [np.array(agreement)]


def _own_shapes(
    posterior: Posterior, form: ShareForm, positive: int | None
) -> list[FloatArray] | None:
    shares = [
        exact_value(posterior, form, model=model, positive=positive)
        for model in range(posterior.n_models)
    ]
    shapes = [np.array([one.a, one.b]) for one in shares if isinstance(one, Share)]
    return shapes if len(shapes) == len(shares) else None
