"""What a terminal shows: by its width, in its colours, in its encoding; and the words explained."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import outperform as op
from outperform.cli.app import COMMANDS, app
from outperform.cli.main import main
from outperform.cli.options import FIRST
from outperform.display.cards import glossary
from outperform.display.formats import display_width
from outperform.explanations import SITE
from outperform.findings import TEMPLATES
from tests.loops import each

WIDTHS = (80, 100, 120, 200)
CODES = re.compile(r"\x1b\[[\d;]*m")
ASKED = {
    "compare": "compare preds.csv --truth label --a bert --b gpt --rope 0.02 --draws 500",
    "verbose": "compare preds.csv --truth label --a bert --b gpt --rope 0.02 --draws 500 -v",
    "estimate": "estimate preds.csv --truth label --model bert --metric accuracy --draws 500",
    "scorecard": "scorecard preds.csv --truth label --a bert --b gpt --rope 0.02 --draws 500",
    "by class": "scorecard many.csv --truth label --a m0 --b m1 --by-class --rope 0.1 --draws 200",
    "rank": "rank many.csv --truth label --metric accuracy --rope 0.02 --draws 200",
    "slices": "slices log.csv --truth label --a bert --b gpt --by country --metric accuracy "
    "--rope 0.02 --draws 200",
    "gate": "gate preds.csv --truth label --candidate new --baseline old --metric accuracy "
    "--guard recall:spam:0.02 --draws 500",
    "cv-counts": "cv-counts folds.csv --rope 0.005 --draws 200",
    "runs": "runs all.csv --truth label --a bert-1 --a bert-2 --b gpt-1 --b gpt-2 "
    "--metric accuracy --draws 200",
    "plan": "plan --accuracies .9,.8 --agreement .85 --rope 0.01 --simulations 100",
    "power": "power --theta-pos .3,.3,.2,.2 --theta-neg .2,.2,.3,.3 --rope 0.05 --sizes 100,200 "
    "--simulations 100 --draws 200",
    "explain": "explain rope hdi decision few_disagreements",
}


@pytest.fixture
def many(folder):
    """Add a table of 20 classes with long names and ten models."""
    classes = [f"comp.{'long-' * 5}name.of.class.{k}" for k in range(20)]
    models = ",".join(["label", *(f"m{k}" for k in range(10))])
    rows = [models]
    for k in range(200):
        said = [classes[(k + (k % (3 + m) == 0)) % 20] for m in range(10)]
        rows.append(",".join([classes[k % 20], *said]))
    (folder / "many.csv").write_text("\n".join(rows) + "\n", "utf-8")
    return folder


def shown(capsys, command):
    code = main(shlex.split(ASKED[command]))
    assert code in (0, 4)
    return capsys.readouterr().out


@pytest.mark.parametrize("command", ASKED)
def test_no_line_is_wider_than_the_terminal(many, capsys, monkeypatch, command):
    tables = set()
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        lines = shown(capsys, command).splitlines()
        assert max(map(display_width, lines)) <= width
        assert not any(CODES.search(line) for line in lines)  # it is piped
        tables.add(sum(bool(re.match(r"comp\.| ?\d+  m\d", line)) for line in lines))
    # One line a row at every width: a model has one in the table and one in the matrix.
    assert tables == {{"by class": 20, "rank": 20}.get(command, 0)}


def test_ascii_where_the_encoding_has_no_more(many, capsys):
    for command in ("compare", "by class", "gate", "explain"):
        done = subprocess.run(
            [sys.executable, "-m", "outperform", *shlex.split(ASKED[command])],
            capture_output=True,
            check=False,
            env={**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"},
        )
        assert done.returncode in (0, 4), done.stderr
        text = done.stdout.decode("ascii")
        assert max(map(len, text.splitlines())) <= 80
        assert r"\u" not in text
        assert r"\x" not in text


def on_a_terminal(command, width=80, **environment):
    """Run a command with a terminal as its stdout, and return what it wrote there."""
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    drop = ("NO_COLOR", "COLUMNS", "COLORFGBG", "FORCE_COLOR", "CI", "GITHUB_ACTIONS")
    kept = {key: value for key, value in os.environ.items() if key not in drop}
    told = {"TERM": "xterm-256color", "COLORTERM": "truecolor", **environment}
    with subprocess.Popen(
        [sys.executable, "-m", "outperform", *shlex.split(command)],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=kept | told,
    ):
        os.close(theirs)
        written = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            written += more
    os.close(ours)
    return written.decode("utf-8").replace("\r\n", "\n")


DECIDED = (
    "compare good.csv --truth label --a good --b bad --metric accuracy --rope 0.01 --draws 500"
)


@pytest.fixture
def good(folder):
    lines = ["label,good,bad", *(f"x,x,{'x' if k % 3 else 'y'}" for k in range(300)), "y,y,y"]
    (folder / "good.csv").write_text("\n".join(lines) + "\n", "utf-8")


def test_colour_has_a_meaning(good):
    text = on_a_terminal(DECIDED, 100)
    assert "\x1b[38;2;0;114;178m≫" in text  # better is blue
    assert "\x1b[38;2;213;94;0mworse" in text
    assert "\x1b[38;2;140;140;140mequivalent" in text
    assert "\x1b[38;2;90;180;240m≫" in on_a_terminal(DECIDED, COLORFGBG="15;0")
    plain = CODES.sub("", text)
    assert max(map(len, plain.splitlines())) <= 100
    assert "What is a ROPE? outperform explain rope hdi" in plain


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_where_none_is_wanted(good, environment):
    text = on_a_terminal(DECIDED, **environment)
    assert "\x1b" not in text
    assert "≫" in text


def test_colour_can_be_forced_into_a_pipe(good):
    told = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "FORCE_COLOR": "1"}
    kept = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    # In a process of its own, because rich remembers how it first wrote a style.
    done = subprocess.run(
        [sys.executable, "-m", "outperform", *shlex.split(DECIDED)],
        env=kept | told,
        stdout=subprocess.PIPE,
        check=True,
    )
    assert "\x1b[38;2;0;114;178m≫" in done.stdout.decode("utf-8")


def test_a_pipe_and_a_file_get_no_colour_and_no_hint(good, capsys, monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert main(shlex.split(DECIDED)) == 0
    text = capsys.readouterr().out
    assert "explain" not in text
    assert main([*shlex.split(DECIDED), "-o", "out.txt"]) == 0
    assert Path("out.txt").read_text("utf-8") == text


def test_the_same_command_prints_the_same_digits(folder, capsys):
    first = shown(capsys, "compare")
    assert first == shown(capsys, "compare")
    assert "seed 0" in first


GLOSSARY = glossary()


@each("word", [*GLOSSARY, "≫", "Bayes factor", "macro-F1", "default_rope"])
def test_words_are_explained_in_a_few_lines(capsys, monkeypatch, word):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["explain", word]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert 3 <= len(lines) <= 8


def test_every_metric_is_listed(capsys):
    assert main(["explain", "metrics"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in (*op.metrics.names(), *op.metrics.score_names()))


DOCS = Path(__file__).parents[2] / "docs"


def sentences(capsys, word):
    """Return the text about a word without its name and its link, which leads to a page."""
    assert main(["explain", word]) == 0
    name, *text, link = capsys.readouterr().out.splitlines()
    assert link.startswith(SITE)
    assert (DOCS / f"{link.removeprefix(SITE).removesuffix('.html')}.md").is_file(), link
    return name, " ".join(text)


@each("name", [*dict.fromkeys(one.name for one in TEMPLATES.values())])
def test_a_finding_is_explained_without_holes(capsys, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "300")
    title, text = sentences(capsys, name)
    assert title.startswith(name)
    assert text[0].isupper() or not text[0].isalpha()
    assert text.endswith(".")
    assert not {"…", "{", "`"} & set(text.replace("(…)", ""))
    assert len(text.split()) >= 6
    assert "Nothing" not in text


def test_every_metric_is_explained(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    families = ("f2_macro", "ece_10", "ndcg@10", "pass@3", "brier_reliability_debiased")
    named = {*op.metrics.names(), *op.metrics.set_names(), *op.metrics.score_names(), *families}
    for name in sorted(named - {*GLOSSARY}):
        _, text = sentences(capsys, name)
        assert text.endswith((" higher is better.", " lower is better."))
        assert len(text.split()) >= 12, name


@each("word", ["mcnemar", "McNemar", "p-value", "t-test", "significance"])
def test_tests_of_others_are_known(capsys, word):
    assert sentences(capsys, word)[0] == "p-value"


def test_the_explanations_are_those_of_the_reference():
    path = Path(__file__).parents[2] / "scripts" / "make_explained.py"
    made = runpy.run_path(str(path))
    assert made["TARGET"].read_text(encoding="utf-8") == made["written"](), f"run {path.name}"


def test_every_finding_is_explained(capsys):
    assert main(["explain", *dict.fromkeys(one.name for one in TEMPLATES.values())]) == 0
    text = capsys.readouterr().out
    assert "{" not in text
    assert all(one.name in text for one in TEMPLATES.values())


@each("word", [*GLOSSARY, "metrics"])
def test_every_link_leads_to_a_page(capsys, monkeypatch, word):
    monkeypatch.setenv("COLUMNS", "300")
    assert sentences(capsys, word)


def test_an_unknown_word_gets_a_suggestion(capsys):
    assert main(["explain", "roppe"]) == 2
    assert "did you mean 'rope'?" in capsys.readouterr().err


@each("command", COMMANDS)
def test_help_fits_a_screen_and_help_all_lists_every_option(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 80)  # read from the environment once
    shown = {}
    for option in ("-h", "--help", "--help-all"):
        assert main([command, option]) == 0
        shown[option] = capsys.readouterr().out
    assert shown["-h"] == shown["--help"]
    assert len(shown["--help"].splitlines()) <= 40
    assert "<" not in re.sub(r"[<>]\d|P\(> 0\)", "", shown["--help-all"])  # no types of Python
    every = {name for param in made(command).params for name in param.opts if name[:2] == "--"}
    listed = {
        option: set(re.findall(r"^│ [* ]*(--[a-z-]+)", text, re.MULTILINE))
        for option, text in shown.items()
    }
    assert listed["--help-all"] == every | {"--help"}
    assert listed["--help"] == (every & FIRST) | {"--help"}


def made(command):
    return typer.main.get_command(app).commands[command]


def test_help_all_needs_no_other_argument(capsys):
    assert main(["compare", "--help-all", "preds.csv", "--seed", "0"]) == 0
    assert "--seed" in capsys.readouterr().out
