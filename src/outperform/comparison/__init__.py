"""WHERE THE ROOMS MEET: compare, estimate, tables of comparisons, power."""

from outperform.comparison.comparing import compare
from outperform.comparison.estimating import Estimate, estimate
from outperform.comparison.power_analysis import Power, power
from outperform.comparison.result import Comparison
from outperform.comparison.tables import ComparisonTable, scorecard

__all__ = [
    "Comparison",
    "ComparisonTable",
    "Estimate",
    "Power",
    "compare",
    "estimate",
    "power",
    "scorecard",
]
