"""The skill says what is true, and is written without overwriting anything."""

from __future__ import annotations

import re
import shlex

import pytest

import outperform as op
from outperform.agents.pages import first_sentence, llms_text, pages, rules, skill, title_of
from outperform.agents.skill import AGENTS, SKILLS, advice, agents_page, write_skill
from outperform.cli.app import COMMANDS, OPTIONS
from outperform.cli.main import main
from outperform.display.cards import findings_explained
from outperform.errors import UsageError

COMMAND_LINES = [line[2:] for line in skill().splitlines() if line.startswith("$ ")]


def test_every_command_runs_in_an_empty_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert len(COMMAND_LINES) == 9
    codes = {line: main(shlex.split(line)[1:]) for line in COMMAND_LINES}
    assert {line: code for line, code in codes.items() if code} == {}
    assert (tmp_path / "report.html").exists()
    assert "svm_l2" in capsys.readouterr().out


def test_commands_options_and_functions_exist():
    text = skill()
    commands = set(re.findall(r"`outperform ([a-z-]+)", text))
    assert commands <= COMMANDS.keys()
    assert {"compare", "rank", "gate", "slices", "plan", "explain"} <= commands
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    assert options <= set(OPTIONS.values())
    functions = set(re.findall(r"`op\.(\w+)`", text))
    assert len(functions) == 9
    assert all(hasattr(op, name) for name in functions)
    assert "sparse_cells" in findings_explained()


def test_head_is_what_agents_look_for():
    head, name, description = re.match(
        r"(---\nname: (\S+)\ndescription: (.+)\n---\n)", skill()
    ).groups()
    assert name == "outperform"
    assert ": " not in description  # it is YAML
    assert len(description) <= 1024
    assert "Use it" in head
    assert len(skill().splitlines()) < 120


def test_rules_are_the_short_sections():
    text = rules()
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["In short", "Never"]
    assert agents_page().count("\n") < 30


def test_written_where_agents_look(tmp_path):
    assert [written.state for written in write_skill(tmp_path)] == ["written"] * 3
    for name in SKILLS:
        assert (tmp_path / name).read_text(encoding="utf-8") == skill()
    assert (tmp_path / AGENTS).read_text(encoding="utf-8") == agents_page()
    assert [written.state for written in write_skill(tmp_path)] == ["unchanged"] * 3


def test_nothing_is_overwritten_without_being_asked(tmp_path):
    for name in (SKILLS[0], AGENTS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("mine\n")
    written = write_skill(tmp_path)
    assert [one.state for one in written] == ["kept", "written", "kept"]
    assert "--force" in advice(written[0])
    assert "add this line" in advice(written[2])
    assert (tmp_path / SKILLS[0]).read_text() == "mine\n"
    written = write_skill(tmp_path, overwrite=True)
    assert [one.state for one in written] == ["written", "unchanged", "kept"]
    assert (tmp_path / AGENTS).read_text() == "mine\n"


def test_links_are_not_written_through(tmp_path):
    place = tmp_path / SKILLS[0]
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / "elsewhere")
    assert write_skill(tmp_path, overwrite=True)[0].state == "kept"
    assert not (tmp_path / "elsewhere").exists()


def test_command_prints_or_writes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["skill"]) == 0
    assert capsys.readouterr().out == skill()
    assert main(["skill", "--write"]) == 0
    assert (tmp_path / SKILLS[0]).exists()
    (tmp_path / "project").mkdir()
    assert main(["skill", "--write", "project"]) == 0
    assert (tmp_path / "project" / AGENTS).exists()
    assert main(["skill", "project"]) == 2
    assert main(["skill", "--write", "nowhere"]) == 2
    with pytest.raises(UsageError, match="not a folder"):
        write_skill(tmp_path / "nowhere")


def test_server_is_not_started_for_the_whole_disk(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir("/")
    assert main(["mcp"]) == 2
    assert "pass --root" in capsys.readouterr().err
    assert main(["mcp", "--root", str(tmp_path / "none")]) == 2


def test_index_lists_every_page():
    text = llms_text()
    assert all(page.uri in text for page in pages().values() if not page.uri.endswith("llms.txt"))
    assert all(page.read() for page in pages().values())
    assert title_of("(label)=\n# Weigh items\n") == "Weigh items"
    assert first_sentence("# T\n\n```text\nx\n```\n\nSee [all](x.md) of it. More.") == (
        "See all of it."
    )
