"""Model bootstrap: weights on what was seen and no prior (Rubin's Bayesian bootstrap)."""

from __future__ import annotations

import numpy as np

from outperform.outcomes import Outcomes
from outperform.posterior.label_sets import DocumentWeights
from outperform.posterior.linear import LinearWeights, held_by


def bootstrap(outcomes: Outcomes) -> LinearWeights:
    """Return the posterior that gives weight only to what occurred.

    Every document has an Exp(1) weight; where groups are known, every group has
    one. There is no proper prior, so no Bayes factor, and cells that never
    occurred stay impossible.
    """
    weights = DocumentWeights if outcomes.kind == "label_sets" else LinearWeights
    table = outcomes.tables[0]
    groups = table.groups
    if groups is None:
        return weights(outcomes, cells=table.cells, shapes=table.counts.astype(np.float64))
    shapes = groups.repeats.astype(np.float64)
    return weights(outcomes, cells=table.cells, shapes=shapes, held=held_by(outcomes, groups))
