"""Write the coverage map as one page; `docs/conf.py` calls it when the pages are done."""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "verification" / "results" / "coverage_map.json"
TEMPLATE = Path(__file__).parent / "_templates" / "coverage-map.html"
METRICS = (
    *("accuracy", "balanced accuracy", "macro-precision", "macro-F1", "macro-Jaccard"),
    *("weighted precision", "weighted F1", "Matthews correlation", "Cohen's kappa"),
    *("precision of one class", "recall of one class", "F1 of one class"),
)


def write_map(path: Path) -> None:
    """Fill the template with the results and the names of the metrics."""
    page = TEMPLATE.read_text(encoding="utf-8")
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    for mark, value in (("RESULTS", results), ("METRICS", METRICS)):
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        page = page.replace(f'"{mark}"', text.replace("</", "<\\/"))
    path.write_text(page, encoding="utf-8")
