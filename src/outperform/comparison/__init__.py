"""WHERE THE ROOMS MEET: compare, estimate, tables of comparisons, power."""

from outperform.comparison.blocked import (
    BlockedComparison,
    BlockedEstimate,
    BlockedTwoFold,
    Correlation,
    CrossComparison,
    bcv_compare,
    bcv_estimate,
    cross_compare,
)
from outperform.comparison.comparing import compare
from outperform.comparison.estimating import Estimate, estimate
from outperform.comparison.gating import Gate, Guard, gate
from outperform.comparison.judging import Judgement
from outperform.comparison.planning.asking import plan
from outperform.comparison.planning.result import Plan
from outperform.comparison.power_analysis import Power, power
from outperform.comparison.proposing import Proposal, propose
from outperform.comparison.ranks import Pair, RankedModel, Ranking, rank
from outperform.comparison.result import Comparison
from outperform.comparison.runs import (
    PooledRuns,
    RunComparison,
    RunEstimate,
    VarianceFrom,
    compare_runs,
)
from outperform.comparison.sensitivity import Sensitivity
from outperform.comparison.tables import ComparisonTable, scorecard
from outperform.comparison.trees import from_datatree

__all__ = [
    "BlockedComparison",
    "BlockedEstimate",
    "BlockedTwoFold",
    "Comparison",
    "ComparisonTable",
    "Correlation",
    "CrossComparison",
    "Estimate",
    "Gate",
    "Guard",
    "Judgement",
    "Pair",
    "Plan",
    "PooledRuns",
    "Power",
    "Proposal",
    "RankedModel",
    "Ranking",
    "RunComparison",
    "RunEstimate",
    "Sensitivity",
    "VarianceFrom",
    "bcv_compare",
    "bcv_estimate",
    "compare",
    "compare_runs",
    "cross_compare",
    "estimate",
    "from_datatree",
    "gate",
    "plan",
    "power",
    "propose",
    "rank",
    "scorecard",
]
