"""MANY COMPARISONS AT ONCE: one for each slice of the documents, pulled toward the whole."""

from outperform.slices.comparing import compare_slices
from outperform.slices.result import SliceComparison
from outperform.slices.row import SliceRow

__all__ = ["SliceComparison", "SliceRow", "compare_slices"]
