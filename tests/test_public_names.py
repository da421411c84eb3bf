"""The public names, the reference page and the version agree."""

from __future__ import annotations

import re
from pathlib import Path

import outperform
from outperform import __version__

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference" / "index.md"
RESULTS = ROOT / "docs" / "reference" / "results.md"


def listed(page: str) -> list[str]:
    """Return the names under every ``autosummary`` of a page."""
    return [
        name
        for block in re.findall(r"\.\. autosummary::\n(.*?)```", page, flags=re.DOTALL)
        for name in re.findall(r"^ +([A-Za-z_][\w.]*)$", block, flags=re.MULTILINE)
    ]


def test_the_reference_page_lists_every_public_name_once():
    names = sorted(getattr(outperform, "__all__", ()))
    assert sorted(listed(REFERENCE.read_text(encoding="utf-8"))) == names


def test_the_page_of_results_lists_every_kind_once():
    assert listed(RESULTS.read_text(encoding="utf-8")) == outperform.results.__all__
    assert [one for one in outperform.results.__all__ if not hasattr(outperform.results, one)] == []
    assert not set(outperform.results.__all__) & set(outperform.__all__)


def test_every_public_name_can_be_had():
    assert [
        name for name in getattr(outperform, "__all__", ()) if not hasattr(outperform, name)
    ] == []


def test_a_page_is_read_as_it_is_written():
    page = (
        "```{eval-rst}\n.. autosummary::\n   :toctree: generated\n\n   compare\n   Outcomes\n```\n"
    )
    assert listed(page) == ["compare", "Outcomes"]


def test_the_version_is_written_once():
    assert getattr(outperform, "__version__", __version__) == __version__
