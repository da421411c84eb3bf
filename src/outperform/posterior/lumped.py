"""Lumping: sums of Dirichlet cells are Dirichlet, so draw only what the metric tells apart.

Accuracy, recall and specificity of two paired models need four cells (both,
only A, only B, neither right), of one model two, whatever the number of classes.
"""

from __future__ import annotations

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.exact import ShareForm, share_of_right
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
    """Draw ``(n_models, n_draws)`` values of a share of right answers; None if it is not one."""
    within = share_of_right(form, positive)
    if form is None or within is None:
        return None
    shapes = _shapes(posterior, within.row, paired=paired)
    if shapes is None:
        return None
    pieces = [runs(one) for one in shapes]
    weight = form.rest[0][1]

    def fill(generator: np.random.Generator, out: FloatArray) -> None:
        rights = []
        for one, piece in zip(shapes, pieces, strict=True):
            cells = np.empty((one.size, out.shape[1]))
            fill_proportions(generator, one, piece, cells)
            # Cells are (right, wrong), or (both, only A, only B, neither).
            rights += [cells[0]] if one.size == 2 else [cells[0] + cells[1], cells[0] + cells[2]]
        for model, right in enumerate(rights):
            out[model] = right / (right + weight * (1.0 - right))

    return run_blocks(
        lambda: fill,
        n_values=posterior.n_models,
        n_draws=n_draws,
        n_gammas=sum(one.size for one in shapes),
        seed=seed,
        n_jobs=n_jobs,
    )


def _shapes(posterior: Posterior, row: int | None, *, paired: bool) -> list[FloatArray] | None:
    if paired:
        agreement = posterior.agreement_shapes(row) if posterior.n_models == 2 else None
        return None if agreement is None else [np.array(agreement)]
    found = []
    for model in range(posterior.n_models):
        if row is not None:
            shapes = posterior.row_shapes(model, row)
        else:
            parts = [posterior.part_shape(model, part, None) for part in ("correct", "wrong")]
            shapes = None if parts[0] is None or parts[1] is None else (parts[0], parts[1])
        if shapes is None:
            return None
        found.append(np.array(shapes))
    return found
