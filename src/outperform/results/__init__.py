"""Result classes, and the smaller classes they contain.

``Comparison``, ``Decision`` and ``Finding`` are in ``outperform``; all others are here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outperform.comparison.coverage import Coverage, ExpectedCoverage, Setting, Traits
    from outperform.comparison.curves import Band, Curve
    from outperform.comparison.estimators import ComparisonDisplay
    from outperform.comparison.items import ItemRow, ItemTable
    from outperform.comparison.joint import Joint
    from outperform.comparison.ratio import Ratio
    from outperform.comparison.result import ComparisonTable
    from outperform.crossval.cross import CrossDetails
    from outperform.decision.bayes_factor import BayesFactor
    from outperform.decision.intervals import Interval
    from outperform.decision.ranks import Regret
    from outperform.decision.rope import CurveStep, Masses
    from outperform.diagnosis.result import ClassCount, ColumnFacts, Diagnosis, Suggestion
    from outperform.gates.ledger import Entry
    from outperform.gates.levels import Level
    from outperform.gates.result import AnchorCheck, Check, Contrast, Gate, Guard, LevelCheck
    from outperform.gates.rule import GateStatus
    from outperform.inference.folds import Correlation
    from outperform.inference.processes import AnyLook, Selection
    from outperform.inference.suite import Difference
    from outperform.inference.summary import Summary
    from outperform.monitor.result import Look, Stop
    from outperform.noise.design import Design, TrialsOrItems
    from outperform.noise.result import FlakyItem, NoiseFloor
    from outperform.planning.power import Power
    from outperform.planning.result import Plan, Proposal, Stratum
    from outperform.posterior.pymc.sampling import Chain
    from outperform.ranking.front import Front, FrontModel
    from outperform.ranking.pairs import Pair
    from outperform.ranking.result import RankedModel, Ranking
    from outperform.results.details import (
        DatasetDifference,
        FoldDetails,
        ModelRuns,
        NextDataset,
        PooledRuns,
        RunDetails,
        ScoreDetails,
        VarianceFrom,
    )
    from outperform.results.estimate import Estimate
    from outperform.results.schemas import json_schema
    from outperform.sensitivity.fragility import Fragility, LabelChange
    from outperform.sensitivity.result import Sensitivity
    from outperform.slices.result import SliceComparison
    from outperform.slices.summary import SliceRow
    from outperform.suite.result import SuiteComparison, SuiteModel, SuiteRanking


_HOMES = {
    "AnchorCheck": "gates.result",
    "Contrast": "gates.result",
    "Entry": "gates.ledger",
    "AnyLook": "inference.processes",
    "Band": "comparison.curves",
    "BayesFactor": "decision.bayes_factor",
    "Chain": "posterior.pymc.sampling",
    "Check": "gates.result",
    "ComparisonDisplay": "comparison.estimators",
    "ComparisonTable": "comparison.result",
    "Correlation": "inference.folds",
    "ClassCount": "diagnosis.result",
    "ColumnFacts": "diagnosis.result",
    "Coverage": "comparison.coverage",
    "CrossDetails": "crossval.cross",
    "Curve": "comparison.curves",
    "CurveStep": "decision.rope",
    "DatasetDifference": "results.details",
    "Design": "noise.design",
    "Diagnosis": "diagnosis.result",
    "Difference": "inference.suite",
    "Estimate": "results.estimate",
    "ExpectedCoverage": "comparison.coverage",
    "FlakyItem": "noise.result",
    "FoldDetails": "results.details",
    "Fragility": "sensitivity.fragility",
    "Front": "ranking.front",
    "FrontModel": "ranking.front",
    "Gate": "gates.result",
    "Guard": "gates.result",
    "Level": "gates.levels",
    "LevelCheck": "gates.result",
    "Interval": "decision.intervals",
    "ItemRow": "comparison.items",
    "ItemTable": "comparison.items",
    "Joint": "comparison.joint",
    "GateStatus": "gates.rule",
    "LabelChange": "sensitivity.fragility",
    "Look": "monitor.result",
    "Masses": "decision.rope",
    "NextDataset": "results.details",
    "NoiseFloor": "noise.result",
    "Pair": "ranking.pairs",
    "Plan": "planning.result",
    "PooledRuns": "results.details",
    "Power": "planning.power",
    "Proposal": "planning.result",
    "RankedModel": "ranking.result",
    "Ranking": "ranking.result",
    "Ratio": "comparison.ratio",
    "Regret": "decision.ranks",
    "RunDetails": "results.details",
    "ModelRuns": "results.details",
    "ScoreDetails": "results.details",
    "Selection": "inference.processes",
    "Sensitivity": "sensitivity.result",
    "Setting": "comparison.coverage",
    "SliceComparison": "slices.result",
    "SliceRow": "slices.summary",
    "Stop": "monitor.result",
    "Stratum": "planning.result",
    "Suggestion": "diagnosis.result",
    "Summary": "inference.summary",
    "SuiteComparison": "suite.result",
    "SuiteModel": "suite.result",
    "SuiteRanking": "suite.result",
    "Traits": "comparison.coverage",
    "TrialsOrItems": "noise.design",
    "VarianceFrom": "results.details",
    "json_schema": "results.schemas",
}

__all__ = [
    "AnchorCheck",
    "AnyLook",
    "Band",
    "BayesFactor",
    "Chain",
    "Check",
    "ClassCount",
    "ColumnFacts",
    "ComparisonDisplay",
    "ComparisonTable",
    "Contrast",
    "Correlation",
    "Coverage",
    "CrossDetails",
    "Curve",
    "CurveStep",
    "DatasetDifference",
    "Design",
    "Diagnosis",
    "Difference",
    "Entry",
    "Estimate",
    "ExpectedCoverage",
    "FlakyItem",
    "FoldDetails",
    "Fragility",
    "Front",
    "FrontModel",
    "Gate",
    "GateStatus",
    "Guard",
    "Interval",
    "ItemRow",
    "ItemTable",
    "Joint",
    "LabelChange",
    "Level",
    "LevelCheck",
    "Look",
    "Masses",
    "ModelRuns",
    "NextDataset",
    "NoiseFloor",
    "Pair",
    "Plan",
    "PooledRuns",
    "Power",
    "Proposal",
    "RankedModel",
    "Ranking",
    "Ratio",
    "Regret",
    "RunDetails",
    "ScoreDetails",
    "Selection",
    "Sensitivity",
    "Setting",
    "SliceComparison",
    "SliceRow",
    "Stop",
    "Stratum",
    "Suggestion",
    "SuiteComparison",
    "SuiteModel",
    "SuiteRanking",
    "Summary",
    "Traits",
    "TrialsOrItems",
    "VarianceFrom",
    "json_schema",
]


def __getattr__(name: str) -> Any:
    """Load a result class on first use, as the package does."""
    if name not in _HOMES:
        raise AttributeError(f"module 'outperform.results' has no attribute {name!r}")
    return getattr(import_module(f"outperform.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
