"""outperform: does a classifier really outperform another, by how much, and how sure are we?"""

from __future__ import annotations

__version__ = "0.1.0"

# Nothing is imported here, because a failing import would exit with 1, the code of a failed gate.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from outperform import datasets, metrics, nhst, results, sklearn, testing
    from outperform import mlflow as mlflow
    from outperform.comparison.api import compare, estimate, from_datatree
    from outperform.comparison.result import Comparison
    from outperform.comparison.scorecard import scorecard
    from outperform.crossval.api import compare_cv_counts, estimate_cv_counts
    from outperform.crossval.cross import cross_compare
    from outperform.crossval.scores import compare_cv_scores
    from outperform.crossval.splitter import BlockedTwoFold
    from outperform.data.outcomes import Outcomes
    from outperform.data.scores import Scores
    from outperform.decision.rope import Decision, Rope
    from outperform.diagnosis.api import doctor
    from outperform.findings import Finding
    from outperform.gates.api import gate
    from outperform.gates.ledger import Ledger
    from outperform.inference.suite import Suite
    from outperform.io.conll import read_conll
    from outperform.io.read import read, read_scores
    from outperform.labelling import propose
    from outperform.monitor.api import Monitor
    from outperform.noise.api import noise_floor
    from outperform.planning.api import plan
    from outperform.planning.power import power
    from outperform.posterior.base import Prior
    from outperform.posterior.pymc.sampling import PyMC
    from outperform.ranking.api import rank
    from outperform.report.api import write_report
    from outperform.runs import compare_runs
    from outperform.slices.api import compare_slices


_HOMES = {
    "BlockedTwoFold": "crossval.splitter",
    "Comparison": "comparison.result",
    "Decision": "decision.rope",
    "Finding": "findings",
    "Ledger": "gates.ledger",
    "Monitor": "monitor.api",
    "Outcomes": "data.outcomes",
    "Prior": "posterior.base",
    "PyMC": "posterior.pymc.sampling",
    "Rope": "decision.rope",
    "Scores": "data.scores",
    "Suite": "inference.suite",
    "compare_cv_counts": "crossval.api",
    "estimate_cv_counts": "crossval.api",
    "compare": "comparison.api",
    "compare_runs": "runs",
    "compare_cv_scores": "crossval.scores",
    "compare_slices": "slices.api",
    "cross_compare": "crossval.cross",
    "datasets": "",
    "doctor": "diagnosis.api",
    "estimate": "comparison.api",
    "from_datatree": "comparison.api",
    "gate": "gates.api",
    "metrics": "",
    "mlflow": "",  # available but not public, because most users do not need it
    "nhst": "",
    "sklearn": "",
    "noise_floor": "noise.api",
    "plan": "planning.api",
    "power": "planning.power",
    "propose": "labelling",
    "rank": "ranking.api",
    "read": "io.read",
    "read_conll": "io.conll",
    "read_scores": "io.read",
    "results": "",
    "scorecard": "comparison.scorecard",
    "testing": "",
    "write_report": "report.api",
}

__all__ = [
    "BlockedTwoFold",
    "Comparison",
    "Decision",
    "Finding",
    "Ledger",
    "Monitor",
    "Outcomes",
    "Prior",
    "PyMC",
    "Rope",
    "Scores",
    "Suite",
    "__version__",
    "compare",
    "compare_cv_counts",
    "compare_cv_scores",
    "compare_runs",
    "compare_slices",
    "cross_compare",
    "datasets",
    "doctor",
    "estimate",
    "estimate_cv_counts",
    "from_datatree",
    "gate",
    "metrics",
    "nhst",
    "noise_floor",
    "plan",
    "power",
    "propose",
    "rank",
    "read",
    "read_conll",
    "read_scores",
    "results",
    "scorecard",
    "sklearn",
    "testing",
    "write_report",
]


def __getattr__(name: str) -> object:
    """Load a public name on first use, so importing the package takes almost no time."""
    if name not in _HOMES:
        if name.startswith("__"):
            raise AttributeError(f"module 'outperform' has no attribute {name!r}")
        from outperform.wrong_calls import unknown_export

        raise AttributeError(unknown_export("outperform", name, __all__))
    from importlib import import_module

    home = _HOMES[name]
    module = import_module(f"outperform.{home or name}")
    globals()[name] = getattr(module, name) if home else module
    return globals()[name]


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
