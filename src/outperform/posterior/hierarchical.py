"""Model hierarchical: the ICDM model, its η integrated by quadrature.

Each row of a confusion matrix has prior mass 1, ``η`` of it on the diagonal,
and ``η ~ Beta(1, 1)`` is shared by all classes and learned. Given ``η`` all
cells are one Dirichlet, so no Markov chain is needed. Paired, the prior is the
product of the models' rows and ``(η_A, η_B)`` has a two-dimensional posterior.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from outperform._typing import FloatArray
from outperform.errors import UsageError
from outperform.outcomes import Outcomes
from outperform.posterior.grid import (
    GridPosterior,
    LogAlpha,
    RisingFactorial,
    Term,
    grid_posterior,
    log_logistic,
    logistic,
)
from outperform.posterior.sparse import SparseWeights


def hierarchical(outcomes: Outcomes) -> SparseWeights:
    """Return the posterior with learned ``η``, for one model or a pair.

    Zhang, Wang, Zhao and Wang, ICDM 2015.
    """
    grid = eta_posterior(outcomes)

    def right_rates(generator: np.random.Generator, length: int) -> list[FloatArray]:
        return [logistic(logits) for logits in grid.draw(generator, length)]

    return SparseWeights(outcomes, right_rates=right_rates)


def eta_posterior(outcomes: Outcomes) -> GridPosterior:
    """Return the posterior of ``logit η`` of each model.

    ``log p(η | C) = Σ log Γ(c + α) − log Γ(α)`` over the cells that occurred,
    where ``α`` is the product over models of ``η`` for a right prediction and
    ``(1 − η) / (M − 1)`` for a wrong one.
    """
    n_models = len(outcomes.models)
    if n_models > 2:
        raise UsageError(
            "model 'hierarchical' serves one model or a pair; use model='unit', "
            "which needs no quadrature, for more"
        )
    table = outcomes.tables[0]
    right = table.cells[:, 1:] == table.cells[:, :1]  # (n_cells, n_models)
    terms = []
    for pattern in product((True, False), repeat=n_models):
        inside = (right == np.array(pattern)).all(axis=1)
        terms.append(
            Term(
                function=RisingFactorial(table.counts[inside]),
                log_alpha=_log_prior_cell(pattern, outcomes.n_classes),
            )
        )
    return grid_posterior(terms, n_models)


def _log_prior_cell(pattern: Sequence[bool], n_classes: int) -> LogAlpha:
    def log_alpha(logits: Sequence[FloatArray]) -> FloatArray:
        total: FloatArray = np.zeros(())
        for is_right, logit in zip(pattern, logits, strict=True):
            share = (
                log_logistic(logit) if is_right else log_logistic(-logit) - np.log(n_classes - 1)
            )
            total = total + share
        return total

    return log_alpha
