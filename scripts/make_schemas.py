"""Write the JSON Schemas of results, ``results/json_schemas``, from their classes."""

from __future__ import annotations

import json
from pathlib import Path

from outperform import Comparison, Ledger, Monitor, __version__, results
from outperform._json import json_schema_of
from outperform.data.serialization import StoredOutcomes
from outperform.results.schemas import Kind

FOLDER = Path(__file__).parents[1] / "src" / "outperform" / "results" / "json_schemas"
CLASSES: dict[Kind, type] = {
    "comparison": Comparison,
    "comparisons": results.ComparisonTable,
    "coverage": results.ExpectedCoverage,
    "curve": results.Curve,
    "design": results.TrialsOrItems,
    "diagnosis": results.Diagnosis,
    "estimate": results.Estimate,
    "fragility": results.Fragility,
    "front": results.Front,
    "gate": results.Gate,
    "items": results.ItemTable,
    "joint": results.Joint,
    "ledger": Ledger,
    "monitor": Monitor,
    "noise": results.NoiseFloor,
    "outcomes": StoredOutcomes,
    "plan": results.Plan,
    "power": results.Power,
    "proposal": results.Proposal,
    "ranking": results.Ranking,
    "ratio": results.Ratio,
    "sensitivity": results.Sensitivity,
    "slices": results.SliceComparison,
    "suite": results.SuiteComparison,
    "suite_ranking": results.SuiteRanking,
}


def text_of(kind: Kind) -> str:
    """Return the file of one kind."""
    return json.dumps(json_schema_of(CLASSES[kind]), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for kind in CLASSES:
        (FOLDER / f"{kind}.json").write_text(text_of(kind), encoding="utf-8")
    print(f"wrote {len(CLASSES)} schemas of outperform {__version__}")
