"""``AGENTS.md`` and ``llms.txt`` say what is true: links, paths, verbs and commands."""

from __future__ import annotations

import doctest
import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from outperform.cli.main import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
AGENTS = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
COMMANDS = [line[2:] for line in AGENTS.splitlines() if line.startswith("$ ")]

SPEC = importlib.util.spec_from_file_location("llms", DOCS / "llms.py")
LLMS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(LLMS)


def test_the_example_runs():
    found = doctest.testfile(str(ROOT / "AGENTS.md"), module_relative=False, encoding="utf-8")
    assert found.attempted > 4
    assert found.failed == 0


def test_the_commands_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ours = [shlex.split(line)[1:] for line in COMMANDS if line.startswith("outperform ")]
    assert len(ours) == 3
    assert [main(one) for one in ours] == [0, 0, 0]


def test_verbs_and_paths_exist():
    verbs = re.findall(
        r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    asked = [verb for line in COMMANDS if line.startswith("make ") for verb in line.split()[1:]]
    assert asked
    assert set(asked) <= set(verbs)
    paths = re.findall(r"\b(?:tests/[\w/.]+|[A-Z]+\.md)\b", AGENTS)
    assert len(paths) > 6
    assert [one for one in paths if not (ROOT / one).exists()] == []


def test_every_page_is_listed_once_and_every_link_leads_somewhere():
    text = LLMS.llms_text(DOCS)
    links = re.findall(r"^- \[[^]]+\]\(([^)]+)\)", text, flags=re.MULTILINE)
    pages = {
        page.relative_to(DOCS).with_suffix(".html").as_posix()
        for folder in ("", "tutorial", "how-to", "reference", "explanation")
        for page in DOCS.joinpath(folder).glob("*.md")
        if page.name not in ("404.md", "index.md")
    }
    assert sorted(links) == sorted(pages)
    assert text.startswith("# outperform\n\n> ")


def test_what_a_page_is_about(tmp_path):
    for folder in ("tutorial", "how-to", "reference", "explanation"):
        (tmp_path / folder).mkdir()
    page = "# Weigh items\n\n```text\nx\n```\n\nSee [all](x.md) of it. More.\n"
    (tmp_path / "how-to" / "weights.md").write_text(page, encoding="utf-8")
    assert "- [Weigh items](how-to/weights.html): See all of it.\n" in LLMS.llms_text(tmp_path)


@pytest.mark.parametrize("name", ["metric", "rope", "truth", "candidate", "baseline"])
def test_options_named_in_the_head_exist(name, capsys):
    main(["gate", "--help"])
    assert f"--{name}" in capsys.readouterr().out
