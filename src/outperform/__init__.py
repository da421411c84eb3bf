"""outperform: does one classifier really outperform another, by how much, and how sure is that?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from outperform._version import __version__

if TYPE_CHECKING:
    from outperform import datasets, metrics, nhst
    from outperform.comparison import (
        Comparison,
        ComparisonTable,
        Estimate,
        Power,
        compare,
        estimate,
        power,
        scorecard,
    )
    from outperform.decision import BayesFactor, Decision, Interval, Rope
    from outperform.findings import Finding
    from outperform.outcomes import Outcomes
    from outperform.posterior import Prior

_HOMES = {
    "BayesFactor": "decision",
    "Comparison": "comparison",
    "ComparisonTable": "comparison",
    "Decision": "decision",
    "Estimate": "comparison",
    "Finding": "findings",
    "Interval": "decision",
    "Outcomes": "outcomes",
    "Power": "comparison",
    "Prior": "posterior",
    "Rope": "decision",
    "compare": "comparison",
    "datasets": "",
    "estimate": "comparison",
    "metrics": "",
    "nhst": "",
    "power": "comparison",
    "scorecard": "comparison",
}

__all__ = [
    "BayesFactor",
    "Comparison",
    "ComparisonTable",
    "Decision",
    "Estimate",
    "Finding",
    "Interval",
    "Outcomes",
    "Power",
    "Prior",
    "Rope",
    "__version__",
    "compare",
    "datasets",
    "estimate",
    "metrics",
    "nhst",
    "power",
    "scorecard",
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
