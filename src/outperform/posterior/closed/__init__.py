"""Exact marginal posteriors: no draws, no Monte Carlo error."""

from outperform.posterior.closed.dirichlet_difference import DirichletDifference
from outperform.posterior.closed.flat_f_score import FlatFScore
from outperform.posterior.closed.independent_difference import IndependentDifference
from outperform.posterior.closed.mixture import Mixture
from outperform.posterior.closed.share import Share
from outperform.posterior.closed.weighted_share import WeightedShare

__all__ = [
    "DirichletDifference",
    "FlatFScore",
    "IndependentDifference",
    "Mixture",
    "Share",
    "WeightedShare",
]
