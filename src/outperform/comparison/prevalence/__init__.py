"""Other class proportions than the test set's: where they are put, and what they assume."""

from outperform.comparison.prevalence.placing import Placed, place, refuse_unseen

__all__ = ["Placed", "place", "refuse_unseen"]
