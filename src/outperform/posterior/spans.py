"""Bare counts of spans: one Dirichlet over what can happen to a span.

A true span is found or missed by each model, a spurious one is predicted by at
least one of them. For one model that is tp, fn and fp; for two models the seven
cells found by both, by A only, by B only, by neither, spurious by both, by A
only, by B only. Independent Poisson counts with gamma priors normalise to the
same posterior. There are no true negatives, so no prevalence either.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from outperform.errors import UsageError
from outperform.outcomes import Outcomes
from outperform.posterior.linear import DirichletCells
from outperform.posterior.priors import Prior


def span_cells(outcomes: Outcomes, *, shape: float) -> DirichletCells:
    """Return the posterior with the same prior shape on every cell of every type."""
    n_models, outside = len(outcomes.models), outcomes.n_classes
    cells = np.array(
        [
            cell
            for kind in range(outcomes.n_classes)
            for cell in product((kind, outside), repeat=1 + n_models)
            if kind in cell
        ]
    )
    table = outcomes.tables[0]
    counted = dict(zip(map(tuple, table.cells.tolist()), table.counts.tolist(), strict=True))
    counts = np.array([float(counted.get(tuple(cell), 0)) for cell in cells.tolist()])
    return DirichletCells(outcomes, cells=cells, shapes=counts + shape)


def flat_spans(outcomes: Outcomes, prior: Prior) -> DirichletCells:
    """Return the posterior under the same explicit prior on every cell."""
    if prior.rows.ndim or prior.rows <= 0:
        raise UsageError(
            "the prior of spans is one positive number for every cell: true positives, false "
            "positives, false negatives; e.g. prior=1.0"
        )
    return span_cells(outcomes, shape=float(prior.rows))


def unit_spans(outcomes: Outcomes) -> DirichletCells:
    """Return the posterior that gives tp, fp and fn of each model and type one half."""
    return span_cells(outcomes, shape=0.5 ** len(outcomes.models))
