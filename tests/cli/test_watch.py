"""``watch``: real folders, real processes, and their exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

import outperform as op
from outperform.cli.main import main
from tests.loops import each

TRUTH = [0, 1] * 50
ASKED = ["--a", "new", "--b", "old", "--metric", "accuracy", "--rope", "0.02", "--draws", "1000"]


def monitor(folder):
    return op.Monitor(folder, "new", "old")


def add(folder, key, *, new=0, old=0):
    """Add a hundred items of which so many are wrong."""

    def wrong(first, n):
        return [1 - y if first <= k < first + n else y for k, y in enumerate(TRUTH)]

    monitor(folder).add(TRUTH, {"new": wrong(0, new), "old": wrong(50, old)}, key=key)


@pytest.mark.parametrize(
    ("new", "old", "code"), [(2, 40, 0), (40, 2, 1), (9, 10, 4)], ids=["better", "worse", "open"]
)
def test_once_exits_as_the_gate_does(tmp_path, capsys, new, old, code):
    for key in ("mon", "tue"):
        add(tmp_path, key, new=new, old=old)
    assert main(["watch", str(tmp_path), *ASKED, "--once"]) == code
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["look 1 (mon)", "look 2 (tue)"]
    assert "200 items" in lines[1]
    gate = ["gate", str(tmp_path), "--candidate", "new", "--baseline", "old", *ASKED[4:]]
    assert main(gate) == code


def test_it_stops_where_the_rule_holds(tmp_path, capsys):
    for key in range(4):
        add(tmp_path, key, new=2, old=14)
    looks = op.Monitor(tmp_path, "new", "old", metric="accuracy", rope=0.02, n_draws=1_000).looks
    at = (looks[1].hdi.width + looks[2].hdi.width) / 2
    assert main(["watch", str(tmp_path), *ASKED, "--stop", f"width={at}", "-f", "json"]) == 0
    written = capsys.readouterr()
    facts = [json.loads(line) for line in written.out.splitlines()]
    assert [one["n"] for one in facts] == [100, 200, 300]
    assert [one["holds"] for one in facts] == [False, False, True]
    assert [one["mean"] for one in facts] == [look.mean for look in looks[:3]]
    assert "stopped at look 3 of 4" in written.err


def test_files_of_count_can_be_watched(folder, capsys):
    os.makedirs("batches", exist_ok=True)
    asked = ["--a", "bert", "--b", "gpt", "--metric", "f1_macro", "--once"]
    for number, name in enumerate(("a", "b"), start=1):
        counted = [
            "--truth",
            "label",
            "--model",
            "bert",
            "--model",
            "gpt",
            "-o",
            f"batches/{name}.json",
        ]
        assert main(["count", "preds.csv", *counted]) == 0
        # Were the second one no copy, the items would suffice.
        assert main(["watch", "batches", *asked]) == 4
        written = capsys.readouterr()
        assert written.out.count("items") == number
        assert ("a.json and b.json have exactly the same counts" in written.err) is (number == 2)


def test_damaged_files_are_said(tmp_path, capsys):
    add(tmp_path, "mon", new=9, old=10)
    (tmp_path / "half.json").write_text("{", encoding="utf-8")
    assert main(["watch", str(tmp_path), *ASKED, "--once"]) == 4
    assert "1 file is in the folder but not counted: half.json" in capsys.readouterr().err


@each(
    ("arguments", "code", "words"),
    [
        (["none", *ASKED, "--once"], 2, "folder 'none' does not exist"),
        ([".", *ASKED, "--once"], 3, "no batch of 'new' and 'old' has arrived"),
        ([".", *ASKED[2:], "--once"], 2, "pass --a"),
        ([".", *ASKED, "--every", "0"], 2, "--every must be above 0"),
        (["full", *ASKED, "--once", "--stop", "widht"], 2, "did you mean 'width'?"),
        (["full", *ASKED, "--once", "--stop", "width=x"], 2, "--stop must be a rule"),
        ([".", *ASKED, "--stop", "widht"], 2, "did you mean 'width'?"),
        (["full", *ASKED, "--once", "--stop", "width", "--rope", "0"], 2, "--stop width=0.02"),
        (["full", "--a", "new", "--b", "odl", "--once"], 3, "did you mean 'old'?"),
        (["full", *ASKED, "--once", "--pos-label", "two"], 2, "unknown class 'two'"),
    ],
)
def test_refusals(tmp_path, monkeypatch, capsys, arguments, code, words):
    monkeypatch.chdir(tmp_path)
    add(tmp_path / "full", "mon")
    assert main(["watch", *arguments]) == code
    assert words in capsys.readouterr().err


def test_a_class_may_be_named_before_it_occurs(tmp_path, capsys):
    rare = ["watch", str(tmp_path), *ASKED[:4], "--metric", "recall", "--once", "-f", "json"]
    zeros, watched = ["ok"] * 30, op.Monitor(tmp_path, "new", "old")
    watched.add(zeros, {"new": zeros, "old": zeros}, key="mon")
    assert main([*rare, "--pos-label", "fraud"]) == 4
    first = capsys.readouterr()
    assert "unknown class 'fraud'" in first.err
    watched.add(["ok", "fraud"], {"new": ["ok", "fraud"], "old": ["ok", "ok"]}, key="tue")
    assert main([*rare, "--pos-label", "fraud"]) == 4
    second = capsys.readouterr()
    assert second.out.splitlines()[0] == first.out.strip()
    assert "unknown class" not in second.err


def test_stopping_by_decision_says_what_it_does(tmp_path, capsys):
    for key in range(4):
        add(tmp_path, key, new=3, old=10)
    assert main(["watch", str(tmp_path), *ASKED, "--stop", "decision"]) == 0
    assert "[stopped_by_decision]" in capsys.readouterr().err


def start(folder, *more):
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "outperform",
            "watch",
            str(folder),
            *ASKED,
            "--every",
            "0.05",
            *more,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )


def test_a_process_prints_each_batch_as_it_comes_and_stops(tmp_path):
    watching = start(tmp_path, "--stop", "decision")
    try:
        assert watching.stderr.readline().endswith("yet; waiting\n")
        add(tmp_path, "mon", new=4, old=11)
        assert watching.stdout.readline().startswith("look 1 (mon): 100 items")
        add(tmp_path, "tue", new=4, old=11)
        assert watching.stdout.readline().startswith("look 2 (tue): 200 items")
        add(tmp_path, "wed", new=4, old=11)
        assert "≫" in watching.stdout.readline()
        assert watching.wait(timeout=60) == 0
        assert "stopped at look 3 of 3" in watching.stderr.read()
    finally:
        watching.kill()
        watching.communicate()


def test_ctrl_c_ends_it(tmp_path):
    add(tmp_path, "mon", new=9, old=10)
    watching = start(tmp_path)
    try:
        assert watching.stdout.readline().startswith("look 1")
        watching.send_signal(signal.SIGINT)
        assert watching.wait(timeout=60) == 130
        assert watching.stderr.read().endswith("outperform: interrupted\n")
    finally:
        watching.kill()
        watching.communicate()


def test_a_pass_waits_for_files_that_are_not_counted(tmp_path, capsys):
    add(tmp_path, "mon", new=2, old=40)
    assert main(["watch", str(tmp_path), *ASKED, "--once"]) == 0
    (tmp_path / "half.json").write_text("{", encoding="utf-8")
    assert main(["watch", str(tmp_path), *ASKED, "--once"]) == 4
    assert "[batches_not_counted]" in capsys.readouterr().err
    (tmp_path / "half.json").unlink()
    assert main(["watch", str(tmp_path), *ASKED, "--once"]) == 0


def test_a_failure_is_one_whatever_is_not_counted(tmp_path, capsys):
    add(tmp_path, "mon", new=40, old=2)
    (tmp_path / "half.json").write_text("{", encoding="utf-8")
    assert main(["watch", str(tmp_path), *ASKED, "--once"]) == 1


def test_scores_are_watched_too(tmp_path, capsys):
    monitor = op.Monitor(tmp_path, "new", "old", metric="mean", rope=0.1)
    monitor.add(None, {"new": [5, 4, 5, 5] * 10, "old": [4, 4, 4, 3] * 10}, key="Monday")
    assert main(["watch", str(tmp_path), "--a", "new", "--b", "old", "--metric", "mean",
                 "--rope", "0.1", "--once"]) == 0  # fmt: skip
    assert "≫ better" in capsys.readouterr().out
