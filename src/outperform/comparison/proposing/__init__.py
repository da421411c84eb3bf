"""Which documents to label next: chosen by the predictions of both models."""

from outperform.comparison.proposing.proposal import Proposal, Stratum
from outperform.comparison.proposing.proposing import propose

__all__ = ["Proposal", "Stratum", "propose"]
