"""Model bootstrap: weights on what was seen and no prior (Rubin's Bayesian bootstrap)."""

from __future__ import annotations

from outperform.outcomes import Outcomes
from outperform.posterior.sparse import SparseWeights


def bootstrap(outcomes: Outcomes) -> SparseWeights:
    """Return the posterior that gives weight only to cells that occurred.

    It has no proper prior, so it knows no Bayes factor, and cells that never
    occurred stay impossible.
    """
    return SparseWeights(outcomes, right_rates=None)
