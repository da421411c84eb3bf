"""The tables of the reference pages hold what the package holds."""

from __future__ import annotations

import re
from pathlib import Path

import outperform
from outperform import metrics
from outperform.findings import TEMPLATES
from outperform.posterior.registry import PRIORS
from tests.loops import each

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"


def rows(page: str) -> list[list[str]]:
    """Return the cells of every table row of a page that begins with one name in backticks."""
    found = re.findall(r"^\| `([^`]+)` \|(.*)\|$", page, flags=re.MULTILINE)
    return [[name, *(cell.strip() for cell in rest.split(" | "))] for name, rest in found]


def read(name: str) -> list[list[str]]:
    return rows((REFERENCE / name).read_text(encoding="utf-8"))


def bounds(metric: metrics.Metric) -> str:
    return " to ".join(f"{end:g}".replace("-", "−") for end in metric.bounds)


def test_every_metric_is_on_the_page_with_its_label_and_bounds():
    page = {name: (cells[0], cells[-1]) for name, *cells in read("metrics.md")}
    known = {name: metrics.get(name) for name in metrics.names() + metrics.set_names()}
    known |= {name: metrics.get_score(name) for name in metrics.score_names()}
    assert page == {name: (metric.label, bounds(metric)) for name, metric in known.items()}


def test_the_page_of_findings_is_the_table():
    rows_of = read("findings.md")
    page = {name: (set(re.split(", | or ", cells[0])), cells[1]) for name, *cells in rows_of}
    table: dict[str, tuple[set[str], str]] = {}
    for one in TEMPLATES.values():
        parameter = "–" if one.parameter is None else f"`{one.parameter}`"
        table.setdefault(one.name, (set(), parameter))[0].update(one.levels)
    assert page == table
    assert len(rows_of) == len(table)


def test_every_prior_is_on_the_page():
    page = {name: cells for name, *cells in read("models.md")}
    for name, prior in PRIORS.items():
        pairs, factor = page[name][2:]
        assert pairs.startswith("yes")
        assert (factor != "none") == prior.proper


@each("decision", outperform.Decision)
def test_every_decision_is_on_the_page(decision):
    page = {name: cells for name, *cells in read("results.md")}
    assert page[f"Decision.{decision.name}"] == [decision.symbol, decision.words]


def test_a_row_is_read_as_it_is_written():
    assert rows("| `f1` | F1 | 0 to 1 |\n| plain | row |\n") == [["f1", "F1", "0 to 1"]]
