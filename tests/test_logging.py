"""The log under ``outperform``: what it tells, to whom, and what it never tells."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys

import pytest

import outperform as op
from outperform.cli.main import main
from outperform.errors import OutperformError

ROWS = "label,old,new\n" + "spam,ham,spam\nham,ham,ham\nspam,spam,spam\n" * 20


@pytest.fixture
def preds(tmp_path):
    path = tmp_path / "preds.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def test_what_was_read_and_drawn_is_told(preds, caplog):
    caplog.set_level(logging.DEBUG, logger="outperform")
    seen = op.read(preds, truth="label", models=["new", "old"])
    op.compare(seen, "new", "old", metric="accuracy", rope=0.01, n_draws=500, random_state=0)
    engine, read, drew = caplog.messages
    assert engine.startswith("counting 1 files with DuckDB ")
    assert read.startswith(f"read {preds}: 60 items in 3 cells, 2 models in ")
    assert drew.startswith("drew 500 of accuracy for 2 models and 60 items (prior unit, engine d")
    assert {record.name for record in caplog.records} == {"outperform"}
    assert {record.levelname for record in caplog.records} == {"DEBUG", "INFO"}


def test_scores_are_told(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="outperform")
    path = tmp_path / "grades.csv"
    path.write_text("a,b\n" + "1,2\n2,2\n" * 20, encoding="utf-8")
    seen = op.read_scores(path, models=["a", "b"])
    op.compare(seen, "a", "b", metric="mean", rope=0.1, n_draws=500, random_state=0)
    assert caplog.messages[0].startswith(f"read {path}: 40 items, 2 models in ")
    assert "prior bootstrap" in caplog.messages[1]


def test_a_database_is_named_without_its_secrets(tmp_path, caplog):
    caplog.set_level(logging.DEBUG, logger="outperform")
    path = tmp_path / "preds.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table p (label, old, new)")
        rows = [("a", "a", "b"), ("b", "b", "b")] * 10
        connection.executemany("insert into p values (?, ?, ?)", rows)
    connection.close()
    op.read(path, table="p", truth="label", models=["new", "old"])
    assert any("preds.db" in one for one in caplog.messages)
    caplog.clear()
    with pytest.raises(OutperformError):  # nobody listens there
        op.read(
            "postgresql://me:hunter2@127.0.0.1:9/db?sslpassword=hunter3",
            table="p", truth="label", models=["new", "old"],
        )  # fmt: skip
    assert "hunter" not in caplog.text


def test_the_library_is_silent(preds):
    code = (
        f"import outperform as op; seen = op.read({str(preds)!r}, truth='label', models=['new', "
        "'old']); op.compare(seen, 'new', 'old', metric='accuracy', rope=0.01)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == found.stderr == ""


@pytest.mark.parametrize("wanted", [False, True])
def test_the_command_line_tells_it_where_it_is_wanted(preds, monkeypatch, capsys, wanted):
    monkeypatch.setenv("OUTPERFORM_DEBUG", "1" if wanted else "")
    asked = ["--truth", "label", "--a", "new", "--b", "old", "--metric", "accuracy"]
    before = list(logging.getLogger("outperform").handlers)
    assert main(["compare", str(preds), *asked]) == 0
    said = capsys.readouterr().err
    assert ("outperform: read " in said) is wanted
    assert ("outperform: drew 20000 of accuracy" in said) is wanted
    assert logging.getLogger("outperform").handlers == before
