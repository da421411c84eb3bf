"""Model unit: prior mass 1 in each true class, half of it on the diagonal.

Paired, the prior of a class is the product of the models' rows, so summing one
model out leaves exactly the other model's own unit prior. It needs no
quadrature and serves any number of models. At two classes it is Jeffreys' prior.
"""

from __future__ import annotations

import numpy as np

from outperform._typing import FloatArray
from outperform.outcomes import Outcomes
from outperform.posterior.dense import DenseRows, dense_counts
from outperform.posterior.label_sets import LabelByLabel
from outperform.posterior.linear import DirichletCells
from outperform.posterior.priors import product_rows
from outperform.posterior.spans import unit_spans
from outperform.posterior.sparse import SparseWeights

RIGHT = 0.5

# With so few cells every one of them can be drawn, and the draws are Dirichlet to the letter.
_FEW_CELLS = 128


def unit_rows(n_classes: int, right: float = RIGHT) -> FloatArray:
    """Return rows of mass 1: ``η`` on the diagonal, the rest shared evenly.

    Examples
    --------
    >>> unit_rows(3)[0].tolist()
    [0.5, 0.25, 0.25]
    """
    rows = np.full((n_classes, n_classes), (1 - right) / (n_classes - 1))
    np.fill_diagonal(rows, right)
    return rows


def unit(outcomes: Outcomes) -> DenseRows | SparseWeights | DirichletCells | LabelByLabel:
    """Return the posterior under the unit prior, for one model or several paired ones."""
    if outcomes.kind == "spans":
        return unit_spans(outcomes)
    if outcomes.kind == "label_sets":
        return LabelByLabel(outcomes, unit)
    n_classes, n_models = outcomes.n_classes, len(outcomes.models)
    if n_classes ** (1 + n_models) <= _FEW_CELLS:
        rows = product_rows(unit_rows(n_classes), n_models)
        return DenseRows(dense_counts(outcomes), rows=rows, prevalence=np.ones(n_classes))
    return sparse_unit(outcomes)


def sparse_unit(outcomes: Outcomes) -> SparseWeights:
    """Return the unit posterior drawn from the cells that occurred only."""
    rates = [RIGHT] * len(outcomes.models)
    return SparseWeights(outcomes, right_rates=lambda generator, length: rates, fixed_rate=RIGHT)
