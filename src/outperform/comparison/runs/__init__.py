"""Several training runs of each of two models: is it the model, or the seed?"""

from outperform.comparison.runs.comparing import compare_runs
from outperform.comparison.runs.result import PooledRuns, RunComparison, RunEstimate, VarianceFrom

__all__ = ["PooledRuns", "RunComparison", "RunEstimate", "VarianceFrom", "compare_runs"]
