"""The command: ``python -m papers``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from papers.__main__ import main
from papers.layout import SUMMARY_MARK

GENERATED = Path(__file__).parents[2] / "docs" / "explanation" / "_generated"
QUICK = ["--draws", "200", "--simulations", "100"]


def lasting(page):
    """Return the lines that depend on neither draws nor clocks."""
    return [
        line
        for line in page.splitlines()
        if line.startswith(("#", "<!--")) or re.search(r"\| published \|", line)
    ]


def test_module_runs():
    done = subprocess.run(
        [sys.executable, "-m", "papers", "icdm", "--table", "3"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.count("published") == 6
    assert "p-values 9 of 12" in done.stdout.splitlines()[-1]
    assert done.stderr == ""


def test_same_seed_same_figures(capsys):
    pages = []
    for seed in ("1", "1", "2"):
        assert main(["sigir", "--table", "6", "--seed", seed, *QUICK]) == 0
        page = capsys.readouterr().out
        pages.append([line for line in page.splitlines() if " ours " in line])
    assert pages[0] == pages[1] != pages[2]


@pytest.mark.parametrize("paper", ["sigir", "icdm", "acl"])
def test_the_documented_tables_are_the_ones_that_the_command_writes(paper, capsys):
    assert main([paper, "--format", "markdown", *QUICK]) == 0
    made = capsys.readouterr().out
    kept = (GENERATED / f"{paper}.md").read_text(encoding="utf-8")
    assert lasting(made) == lasting(kept)
    assert SUMMARY_MARK in kept


def test_a_table_that_is_not_there(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["icdm", "--table", "7"])
    assert "icdm has no table 7 to reproduce; known: 2, 3, 4" in capsys.readouterr().err


def test_too_few_draws(capsys):
    assert main(["sigir", "--table", "4", "--draws", "5"]) == 2
    assert "n_draws must be a whole number of at least 100; got 5" in capsys.readouterr().err
