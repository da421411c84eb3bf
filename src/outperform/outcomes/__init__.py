"""WHAT WAS SEEN: frozen tables of outcomes that add up."""

from outperform.outcomes.groups import Groups
from outperform.outcomes.outcomes import Outcomes
from outperform.outcomes.pool import Pool
from outperform.outcomes.scores import Scores
from outperform.outcomes.slices import Slices
from outperform.outcomes.table import ClassCounts, Table

__all__ = ["ClassCounts", "Groups", "Outcomes", "Pool", "Scores", "Slices", "Table"]
