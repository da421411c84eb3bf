"""outperform: does one classifier really outperform another, by how much, and how sure is that?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from outperform._version import __version__

if TYPE_CHECKING:
    from outperform import datasets, metrics, nhst, schemes, testing
    from outperform.comparison import (
        BlockedComparison,
        BlockedEstimate,
        BlockedTwoFold,
        Comparison,
        ComparisonTable,
        Correlation,
        CrossComparison,
        Estimate,
        Gate,
        Guard,
        Judgement,
        Pair,
        Plan,
        PooledRuns,
        Power,
        Proposal,
        RankedModel,
        Ranking,
        RunComparison,
        RunEstimate,
        Sensitivity,
        VarianceFrom,
        bcv_compare,
        bcv_estimate,
        compare,
        compare_runs,
        cross_compare,
        estimate,
        from_datatree,
        gate,
        plan,
        power,
        propose,
        rank,
        scorecard,
    )
    from outperform.decision import BayesFactor, Decision, Interval, Rope
    from outperform.findings import Finding
    from outperform.ingest import read, read_conll, read_scores
    from outperform.monitor import Look, Monitor, Stop
    from outperform.outcomes import Outcomes, Scores
    from outperform.posterior import Prior, Sampler
    from outperform.report import write_report
    from outperform.slices import SliceComparison, SliceRow, compare_slices

_HOMES = {
    "BayesFactor": "decision",
    "BlockedComparison": "comparison",
    "BlockedEstimate": "comparison",
    "BlockedTwoFold": "comparison",
    "Comparison": "comparison",
    "ComparisonTable": "comparison",
    "Correlation": "comparison",
    "CrossComparison": "comparison",
    "Decision": "decision",
    "Estimate": "comparison",
    "Finding": "findings",
    "Gate": "comparison",
    "Guard": "comparison",
    "Interval": "decision",
    "Judgement": "comparison",
    "Look": "monitor",
    "Monitor": "monitor",
    "Outcomes": "outcomes",
    "Pair": "comparison",
    "Plan": "comparison",
    "PooledRuns": "comparison",
    "Power": "comparison",
    "Prior": "posterior",
    "Proposal": "comparison",
    "RankedModel": "comparison",
    "Ranking": "comparison",
    "Rope": "decision",
    "RunComparison": "comparison",
    "RunEstimate": "comparison",
    "Sampler": "posterior",
    "Scores": "outcomes",
    "Sensitivity": "comparison",
    "SliceComparison": "slices",
    "SliceRow": "slices",
    "Stop": "monitor",
    "VarianceFrom": "comparison",
    "bcv_compare": "comparison",
    "bcv_estimate": "comparison",
    "compare": "comparison",
    "compare_runs": "comparison",
    "compare_slices": "slices",
    "cross_compare": "comparison",
    "datasets": "",
    "estimate": "comparison",
    "from_datatree": "comparison",
    "gate": "comparison",
    "metrics": "",
    "nhst": "",
    "plan": "comparison",
    "power": "comparison",
    "propose": "comparison",
    "rank": "comparison",
    "read": "ingest",
    "read_conll": "ingest",
    "read_scores": "ingest",
    "schemes": "",
    "scorecard": "comparison",
    "testing": "",
    "write_report": "report",
}

__all__ = [
    "BayesFactor",
    "BlockedComparison",
    "BlockedEstimate",
    "BlockedTwoFold",
    "Comparison",
    "ComparisonTable",
    "Correlation",
    "CrossComparison",
    "Decision",
    "Estimate",
    "Finding",
    "Gate",
    "Guard",
    "Interval",
    "Judgement",
    "Look",
    "Monitor",
    "Outcomes",
    "Pair",
    "Plan",
    "PooledRuns",
    "Power",
    "Prior",
    "Proposal",
    "RankedModel",
    "Ranking",
    "Rope",
    "RunComparison",
    "RunEstimate",
    "Sampler",
    "Scores",
    "Sensitivity",
    "SliceComparison",
    "SliceRow",
    "Stop",
    "VarianceFrom",
    "__version__",
    "bcv_compare",
    "bcv_estimate",
    "compare",
    "compare_runs",
    "compare_slices",
    "cross_compare",
    "datasets",
    "estimate",
    "from_datatree",
    "gate",
    "metrics",
    "nhst",
    "plan",
    "power",
    "propose",
    "rank",
    "read",
    "read_conll",
    "read_scores",
    "schemes",
    "scorecard",
    "testing",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'outperform' has no attribute {name!r}")
    home = _HOMES[name]
    if not home:
        return import_module(f"outperform.{name}")
    return getattr(import_module(f"outperform.{home}"), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
