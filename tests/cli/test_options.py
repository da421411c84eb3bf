"""One option means one thing at every command, and stands in one panel of the help."""

from __future__ import annotations

import inspect
from contextlib import suppress

import typer

import outperform as op
from outperform.cli.app import _PANELS, COMMANDS, OPTIONS, app
from outperform.cli.main import main

# The panel of every option, and what stands for its value; None for a flag.
TABLE = {
    "Models": {
        "--a": "NAME",
        "--b": "NAME",
        "--baseline": "NAME",
        "--candidate": "NAME",
        "--model": "NAME",
    },
    "Data": {
        "--by": "COLUMN",
        "--correct": "COLUMN",
        "--count": "COLUMN",
        "--empty-is-label": None,
        "--every": "NUMBER",
        "--groups": "COLUMN",
        "--id": "COLUMN",
        "--judge": "COLUMN",
        "--label": "COLUMN",
        "--label-separator": "TEXT",
        "--last": "DAYS",
        "--latest": None,
        "--model-column": "COLUMN",
        "--na": "TEXT",
        "--no-na": None,
        "--never-true": "CLASS",
        "--on-missing": "CHOICE",
        "--on-null": "CHOICE",
        "--once": None,
        "--pool": "FILE",
        "--human": "FILE",
        "--drawn": "DESIGN",
        "--score": "NAME",
        "--since": "DATE",
        "--skip-failed": None,
        "--truth": "COLUMN",
        "--verdicts": None,
        "--weight": "COLUMN",
        "--where": "COLUMN=VALUE",
    },
    "Files": {
        "--confusion": None,
        "--encoding": "NAME",
        "--no-header": None,
        "--query": "SQL",
        "--read-as": "KIND",
        "--root": "FOLDER",
        "--storage-options": "FILE",
        "--table": "NAME",
    },
    "Scenario": {
        "--accuracies": "NUMBERS",
        "--agreement": "SHARE",
        "--theta-neg": "NUMBERS",
        "--theta-pos": "NUMBERS",
    },
    "Analysis": {
        "--allow": "CHOICE",
        "--budget": "NUMBER",
        "--by-class": None,
        "--correlation": "KIND",
        "--at-least": "NUMBER",
        "--at-most": "NUMBER",
        "--cost": "COSTS",
        "--goal": "GOAL",
        "--guard": "GUARD",
        "--labels": "CLASSES",
        "--ledger": "FILE",
        "--metric": "NAME",
        "--metrics": "NAMES",
        "--max-items": "NUMBER",
        "--policy": "FILE",
        "--pos-label": "CLASS",
        "--prevalence": "SHARE",
        "--prior": "PRIOR",
        "--priors": "PRIORS",
        "--require": "CHOICE",
        "--rope": "ROPE",
        "--ropes": "WIDTHS",
        "--sizes": "NUMBERS",
        "--stop": "RULE",
        "--target": "SHARE",
        "--trials": "NUMBER",
        "--unit": "TEXT",
        "--unpaired": None,
        "--weights": "WEIGHTS",
    },
    "Computation": {
        "--draws": "NUMBER",
        "--hdi-prob": "NUMBER",
        "--max-rows": "NUMBER",
        "--seed": "NUMBER",
        "--simulations": "NUMBER",
        "--timeout": "SECONDS",
    },
    "Output": {
        "--force": None,
        "--verbose": None,
        "--format": "FORMAT",
        "--junit": "FILE",
        "--output": "FILE",
        "--model-version": "MODEL=VERSION",
        "--items": "FILE",
        "--recount": "PART",
        "--verify": None,
        "--p-value": None,
        "--report": "FILE",
        "--title": "TEXT",
        "--top": "NUMBER",
        "--update": "FOLDER",
        "--write": None,
    },
}


def options():
    """Yield every option of every command."""
    for command, made in typer.main.get_command(app).commands.items():
        for one in made.params:
            name = max(one.opts, key=len)
            if one.param_type_name == "option" and name not in {"--help", "--help-all"}:
                yield command, name, one


def test_every_option_is_in_the_table():
    told = {(panel, *one) for panel, some in TABLE.items() for one in some.items()}
    assert {(one.rich_help_panel, name, one.metavar) for _, name, one in options()} == told


# Options that become no keyword of a function: how an answer is written, what the words of two
# options make of one argument, and what a file or a folder is for.
NO_KEYWORDS = {
    "agreement", "allow", "by_class", "confusion", "cost", "every", "items", "junit",
    "label_separator", "max_rows", "model_version", "no_header", "no_na", "once", "output",
    "p_value", "priors", "recount", "report", "root", "style", "timeout", "top", "unit", "unpaired",
    "update", "verbose", "verify", "write",
}  # fmt: skip


def test_messages_spell_options_as_they_are_typed():
    typed = {one.name: name for _, name, one in options()}
    assert typed == OPTIONS


def test_other_options_have_the_name_of_a_keyword():
    functions = [getattr(op, name) for name in op.__all__]
    keywords = {
        name
        for function in functions
        if callable(function)
        for name in inspect.signature(function).parameters
    }
    assert set(OPTIONS) - keywords == NO_KEYWORDS


def test_an_option_says_the_same_everywhere():
    """What follows the first sentence is what one command has more than the others."""
    said = {}
    for _, name, one in options():
        # --format says the formats that a command has, and --by whether it means slices or tasks.
        if name not in ("--format", "--by"):
            said.setdefault(name, set()).add(one.help.split(". ")[0].rstrip("."))
    assert {name: texts for name, texts in said.items() if len(texts) > 1} == {}


def test_help_fits_eighty_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 80)  # read from the environment once
    for command in ([], *([name] for name in COMMANDS)):
        assert main([*command, "--help-all" if command else "--help"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= 80
        for name in _PANELS if not command else ():
            assert any(line.startswith(f"╭─ {name} ") for line in lines)


def test_a_summary_is_one_line(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    assert main(["--help"]) == 0
    lines = [line.strip("│ ") for line in capsys.readouterr().out.splitlines()]
    for name, command in COMMANDS.items():
        (line,) = [one for one in lines if one.split(" ")[0] == name]
        assert line.endswith(command.__doc__.splitlines()[0])


def words_of(text):
    """Return the words of a help text, without the frames around it."""
    return " ".join(text.replace("│", " ").split())


def test_full_help_loses_no_word(capsys, monkeypatch):
    """What stands in brackets could be taken for markup and left out."""
    monkeypatch.setenv("COLUMNS", "2000")
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 2000)
    for name, made in typer.main.get_group(app).commands.items():  # new ones, which show all
        with suppress(typer.Exit, SystemExit):
            made.main(["--help-all"], prog_name=name, standalone_mode=False)
        shown = words_of(capsys.readouterr().out)
        for text in (made.help, *(one.help for one in made.params if one.help)):
            for line in text.split("\n\n"):
                assert words_of(line) in shown, (name, line)
        assert " . " not in shown
