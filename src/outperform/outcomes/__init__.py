"""WHAT WAS SEEN: frozen tables of outcomes that add up."""

from outperform.outcomes.outcomes import ClassCounts, Outcomes
from outperform.outcomes.table import Table

__all__ = ["ClassCounts", "Outcomes", "Table"]
