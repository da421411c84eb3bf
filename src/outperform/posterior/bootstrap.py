"""Model bootstrap: weights on what was seen and no prior (Rubin's Bayesian bootstrap)."""

from __future__ import annotations

import numpy as np

from outperform.outcomes import Outcomes
from outperform.posterior.linear import LinearWeights, grouped


def bootstrap(outcomes: Outcomes) -> LinearWeights:
    """Return the posterior that gives weight only to what occurred.

    Every document has an Exp(1) weight; where groups are known, every group has
    one. There is no proper prior, so no Bayes factor, and cells that never
    occurred stay impossible.
    """
    table = outcomes.tables[0]
    if table.groups is not None:
        return grouped(outcomes, table.groups)
    return LinearWeights(outcomes, cells=table.cells, shapes=table.counts.astype(np.float64))
