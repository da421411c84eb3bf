"""The tables of the reference pages hold what the package holds."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import outperform
from outperform import metrics
from outperform.posterior.models import MODELS

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"


def rows(page: str) -> list[list[str]]:
    """Return the cells of every table row of a page that begins with one name in backticks."""
    found = re.findall(r"^\| `([^`]+)` \|(.*)\|$", page, flags=re.MULTILINE)
    return [[name, *(cell.strip() for cell in rest.split(" | "))] for name, rest in found]


def read(name: str) -> list[list[str]]:
    return rows((REFERENCE / name).read_text(encoding="utf-8"))


def raised_findings() -> dict[str, set[str]]:
    """Return the names and levels of every finding that the source makes."""
    found = defaultdict(set)
    for path in Path(outperform.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding":
                names, levels = (texts(one, tree) for one in node.args[:2])
                for name in names:
                    found[name] |= levels
    return found


def texts(node: ast.expr, tree: ast.Module) -> set[str]:
    """Return what an argument may be: a text, a choice of two, or a constant of the module."""
    if isinstance(node, ast.IfExp):
        return texts(node.body, tree) | texts(node.orelse, tree)
    if isinstance(node, ast.Name):
        given = [one for one in tree.body if isinstance(one, ast.Assign)]
        constants = {one.targets[0].id: one.value for one in given if hasattr(one.targets[0], "id")}
        return texts(constants[node.id], tree) if node.id in constants else set()
    value = getattr(node, "value", None)
    return {value} if isinstance(value, str) else set()


def bounds(metric: metrics.Metric | metrics.ScoreMetric) -> str:
    return " to ".join(f"{end:g}".replace("-", "−") for end in metric.bounds)


def test_every_metric_is_on_the_page_with_its_label_and_bounds():
    page = {name: (cells[0], cells[-1]) for name, *cells in read("metrics.md")}
    known = {name: metrics.get(name) for name in metrics.names() + metrics.set_names()}
    known |= {name: metrics.get_score(name) for name in metrics.score_names()}
    assert page == {name: (metric.label, bounds(metric)) for name, metric in known.items()}


def test_every_finding_is_on_the_page_with_its_levels():
    page = {name: set(re.split(", | or ", cells[0])) for name, *cells in read("findings.md")}
    assert page == raised_findings()


def test_every_model_is_on_the_page():
    page = {name: cells for name, *cells in read("models.md")}
    for name, model in MODELS.items():
        pairs, takes_prior, factor = page[name][2:]
        assert pairs.startswith("yes") == model.pairs
        assert (takes_prior == "yes") == model.takes_prior
        assert (factor != "none") == model.proper


@pytest.mark.parametrize("decision", outperform.Decision)
def test_every_verdict_is_on_the_page(decision):
    page = {name: cells for name, *cells in read("results.md")}
    assert page[f"Decision.{decision.name}"] == [decision.symbol, decision.words]


def test_a_row_is_read_as_it_is_written():
    assert rows("| `f1` | F1 | 0 to 1 |\n| plain | row |\n") == [["f1", "F1", "0 to 1"]]
