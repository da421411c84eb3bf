"""Bad input: the exit code, and one line on stderr that names what is wrong."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from outperform.cli.main import main

METRIC = ["--metric", "accuracy"]
COLUMNS = ["--truth", "label", "--a", "bert", "--b", "gpt"]
TWO = ["preds.csv", *COLUMNS, *METRIC]
FOLDS = ["cv-counts", "folds.csv"]
JOIN = ["--id", "id", "--label", "label", *METRIC]
POWER = ["power", "--theta-pos", ".3,.3,.2,.2", "--theta-neg", ".2,.2,.3,.3"]
HEAD = "id,label,bert,gpt\n"


def refused(capsys, arguments, code, *words):
    """Run a command that must fail, and return its one line."""
    assert main(arguments) == code
    written = capsys.readouterr()
    assert written.out == ""
    assert re.fullmatch(r"outperform: \S.*\n", written.err), written.err
    for word in words:
        assert word in written.err
    return written.err


# Usage: exit code 2

SUSPECTED = ["--accuracies", ".9,.8", "--agreement", ".85"]
USAGE = {
    "unknown column of the truth": (["compare", "preds.csv", "--truth", "lable", *COLUMNS[2:]],
        "no column 'lable' in preds.csv; did you mean 'label'? Columns: 'id', 'label'"),
    "unknown column of a model": (["compare", *TWO, "--a", "brt"], "did you mean 'bert'?"),
    "unknown column to estimate": (["estimate", *TWO[:3], "--model", "gtp"], "did you mean 'gpt'?"),
    "nothing named": (["compare", "preds.csv"], "pass --truth, --a, --b, the names of columns",
        "--correct", "Columns of preds.csv: 'id', 'label', 'bert', 'gpt', 'old', 'new'"),
    "no truth": (["compare", "preds.csv", *COLUMNS[2:]], "pass --truth, the name of a column"),
    "no model": (["compare", *TWO[:5]], "pass --b", "'gpt', 'old'"),
    "no model to estimate": (["estimate", *TWO[:3]], "pass --model"),
    "one column twice": (["compare", *TWO, "--b", "bert"],
        "every column has one role; got 'label', 'bert', 'bert'"),
    "the truth as a model": (["compare", *TWO, "--b", "label"], "every column has one role"),
    "a gate's models": (["gate", *TWO],
        "no such option: --a; did you mean --candidate? Type: outperform gate preds.csv",
        "--truth label --candidate bert --baseline gpt --metric accuracy"),
    "an option misspelt": (["compare", "preds.csv", "--metrc", "f1"],
        "no such option: --metrc; did you mean --metric? Type: outperform compare preds.csv "
        "--metric f1"),
    "a page of tasks": (["report", *TWO, "--by", "task"],
        "no such option: --by; for a page about several tasks, use compare --by or rank --by"),
    "an option of nothing": (["compare", "preds.csv", "--frobnicate"],
        "no such option: --frobnicate. See"),
    "no file named": (["compare"],
        "missing argument 'FILE'. Example: outperform compare preds.csv --truth label"),
    "no such file": (["compare", "prds.csv", *COLUMNS], "did you mean 'preds.csv'?"),
    "no file with such a name": (["compare", "nofile.csv", *COLUMNS], "no file 'nofile.csv'\n"),
    "two files": (["compare", "gold.csv", "bert.csv", *JOIN],
        "a gold file and one for each of 2 models; got gold.csv, bert.csv"),
    "no id": (["compare", "gold.csv", "bert.csv", "gpt.csv"], "pass --id"),
    "no label": (["compare", "gold.csv", "bert.csv", "gpt.csv", "--id", "id"], "pass --label"),
    "unknown id": (["compare", "gold.csv", "bert.csv", "gpt.csv", *JOIN, "--id", "idd"],
        "no column 'idd' in gold.csv; did you mean 'id'?"),
    "one name for two": (["compare", "gold.csv", "gpt.csv", "gpt.csv", *JOIN], "--a and --b"),
    "one matrix": (["compare", "old.csv", "--confusion"],
        "one confusion matrix for each of 2 models; got old.csv"),
    "unknown metric": (["compare", *TWO[:7], "--metric", "f1macro"],
        "unknown metric 'f1macro'; did you mean 'f1_macro'? Known: f1_macro"),
    "unknown metric in a list": (["scorecard", *TWO[:7], "--metrics", "accuracy,rcall"],
        "did you mean 'recall'?"),
    "a metric of one class": (["compare", *TWO[:7], "--metric", "f1"],
        "there are 3 classes; use 'f1_macro', 'f1_micro' or 'f1_weighted', or pass the class"),
    "unknown positive class": (["compare", *TWO, "--pos-label", "sapm"], "did you mean 'spam'?"),
    "unknown class": (["compare", *TWO, "--labels", "ham,spm"], "did you mean 'spam'?"),
    "rope upside down": (["compare", *TWO, "--rope", "0.02,0.01"], "got (0.02, 0.01)"),
    "rope nan": (["compare", *TWO, "--rope", "nan"], "--rope must be finite"),
    "rope beyond": (["compare", *TWO, "--rope", "5"], "--rope 5.0 is wider than any difference"),
    "rope negative": (["compare", *TWO, "--rope", "-0.01"], "not be negative if it is a half-w"),
    "rope of three": (["compare", *TWO, "--rope", "1,2,3"], "got '1,2,3'"),
    "rope in words": (["compare", *TWO, "--rope", "small"], "two such as -0.02,0.01; got 'small'"),
    "per cent": (["compare", *TWO, "--hdi-prob", "95"],
        "--hdi-prob must lie between 0 and 1; got 95.0; did you mean 0.95?"),
    "no mass": (["compare", *TWO, "--hdi-prob", "0"], "--hdi-prob must lie strictly between"),
    "all mass": (["compare", *TWO, "--hdi-prob", "1"], "--hdi-prob must lie strictly between"),
    "negative mass": (["compare", *TWO, "--hdi-prob", "-0.1"], "got -0.1"),
    "mass in words": (["compare", *TWO, "--hdi-prob", "most"], "'--hdi-prob'", "got 'most'"),
    "no draws": (["compare", *TWO, "--draws", "0"], "--draws must be a whole number of at least"),
    "one draw": (["compare", *TWO, "--draws", "1"], "got 1"),
    "draws in words": (["compare", *TWO, "--draws", "many"], "'--draws'", "got 'many'"),
    "negative seed": (["compare", *TWO, "--seed", "-1"], "from 0 to 2**64 - 1; got '-1'"),
    "large seed": (["compare", *TWO, "--seed", str(2**64)], f"got '{2**64}'"),
    "seed with a fraction": (["compare", *TWO, "--seed", "1.5"], "got '1.5'"),
    "negative prior": (["compare", *TWO[:7], "--metric", "recall", "--pos-label",
        "ham", "--prior", "-1"], "got -1.0"),
    "prior nan": (["compare", *TWO[:7], "--metric", "recall", "--pos-label", "ham",
        "--prior", "nan"], "got nan"),
    "unknown prior": (["compare", *TWO[:7], "--metric", "recall", "--pos-label",
        "ham", "--prior", "jefreys"], "did you mean 'jeffreys'?"),
    "unknown format": (["compare", *TWO, "--format", "txt"], "'txt' is not one of 'text'"),
    "unknown option": (["compare", *TWO, "--formt", "x"], "--formt", "--format"),
    "unknown command": (["comapre"], "no such command 'comapre'", "'compare'"),
    "unknown encoding": (["compare", *TWO, "--encoding", "utf9"], "unknown encoding 'utf9'"),
    "unknown kind of file": (["compare", *TWO, "--read-as", "xlsx"], "'xlsx'", "'parquet'"),
    "unknown model of folds": ([*FOLDS, "--a", "crf", "--b", "lstn"], "mean 'lstm'?"),
    "unknown correlation": ([*FOLDS, "--correlation", "averagd"], "mean 'averaged'?"),
    "a metric of all classes": ([*FOLDS, *METRIC], "got 'accuracy'"),
    "three probabilities": ([*POWER, "--theta-pos", ".3,.3,.4"], "--theta-pos", "got '.3,.3,.4'"),
    "more than certain": ([*POWER, "--theta-neg", ".3,.3,.4,.1"], "in --theta-neg must sum to 1"),
    "no such share": ([*POWER, "--prevalence", "2"], "'--prevalence'", "got '2'"),
    "sizes in words": ([*POWER, "--sizes", "100,few"], "--sizes", "got '100,few'"),
    "no size": ([*POWER, "--sizes", "0"], "--sizes must be positive whole numbers; got 0"),
    "unknown goal": ([*POWER, "--goal", "bettr"], "unknown goal 'bettr'"),
    "few simulations": ([*POWER, "--simulations", "5"], "--simulations must be", "got 5"),
    "nothing to plan from": (["plan"], "a pilot's file, or --accuracies and --agreement, or",
        "--theta-pos, --theta-neg and --prevalence; got none"),
    "two worlds": (["plan", *TWO, *SUSPECTED], "one scenario", "got a pilot and accuracies"),
    "agreement alone": (["plan", *SUSPECTED[2:]], "agreement also needs --accuracies"),
    "a class without a pilot": (["plan", *SUSPECTED, "--pos-label", "a"],
        "--pos-label applies only to a pilot"),
    "classes without a pilot": (["plan", *SUSPECTED, "--labels", "a,b"],
        "--labels applies only to a pilot"),
    "a model without a pilot": (["plan", *SUSPECTED, "--a", "bert"], "apply to a pilot file"),
    "a column without a pilot": (["plan", *SUSPECTED, "--truth", "label"], "apply to a pilot file"),
    "certain plan": (["plan", *SUSPECTED, "--target", "1"], "--target must lie strictly between"),
    "plan for no items": (["plan", *SUSPECTED, "--max-items", "0"], "--max-items must be a whole"),
    "plan to lean": (["plan", *SUSPECTED, "--goal", ">"], "firm decision", "not_worse"),
    "nothing simulated": (["power"], "missing option '--theta-"),
    "unknown example": (["example", "news2"], "did you mean 'news20'?"),
    "no such folder": (["compare", *TWO, "-o", "none/a.txt"], "none/a.txt"),
    "a folder for a file": (["compare", *TWO, "-o", "."], "not a regular file"),
}  # fmt: skip


@pytest.mark.parametrize("case", USAGE)
def test_usage(folder, capsys, case):
    arguments, *words = USAGE[case]
    before = sorted(os.listdir())
    refused(capsys, arguments, 2, *words)
    assert sorted(os.listdir()) == before


# Data: exit code 3

ROWS = "1,ham,ham,spam\n2,spam,spam,spam\n"
FILES = {
    "empty": (b"", "is empty (0 bytes)"),
    "only a header": (HEAD.encode(), "has no rows"),
    "no header": (b"1,ham,ham,ham\n2,ham,spam,ham\n", "--no-header"),
    "a name twice": (b"id,label,bert,bert,gpt\n1,a,a,a,a\n", "2 columns named 'bert'"),
    "ragged": (f"{HEAD}{ROWS}3,ham\n".encode(), "line 4 has 2: '3,ham'"),
    "an open quote": (f'{HEAD}{ROWS}3,"ham,ham,ham\n'.encode(), "line 4", "unclosed quote"),
    "a zero byte": (f"{HEAD}1,ham,h\0m,ham\n".encode(), "zero byte in line 2"),
    "latin-1": (f"{HEAD}1,thé,thé,thé\n".encode("latin-1"), "line 2", "--encoding latin-1"),
    "utf-16": (f"{HEAD}{ROWS}".encode("utf-16"), "--encoding utf-16"),
    "one class": (f"{HEAD}1,a,a,a\n2,a,a,a\n".encode(), "only the class 'a' occurs, but a metric"),
    "scores": (f"{HEAD}1,a,0.73,a\n2,b,0.2,b\n".encode(), "column 'bert'", "scores"),
    "an empty field": (
        f"{HEAD}1,a,,a\n2,b,b,b\n".encode(),
        "column 'bert'",
        "line 2",
        "--on-null drop",
    ),
    "a zip file": (b"PK\x03\x04" + bytes(50), "zip"),
    "a Parquet file": (b"PAR1" + bytes(50), "--read-as parquet"),
}


@pytest.mark.parametrize("case", FILES)
def test_data(folder, capsys, case):
    data, *words = FILES[case]
    Path("bad.csv").write_bytes(data)
    line = refused(capsys, ["compare", "bad.csv", *COLUMNS, *METRIC], 3, *words)
    assert "bad.csv" in line or "column" in line or "class" in line


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("a", None, "a"), ("b", "b", "b")], ["column 'bert'", "row 1", "--on-null drop"]),
        ([(None, "a", "a"), ("b", "b", "b")], ["column 'label'", "row 1", "--on-null drop"]),
        ([("a", 1, "a"), ("b", "b", "b")], ["'bert'", "int"]),
        ([("a", [1], "a"), ("b", [2], "b")], ["bert"]),
    ],
)
def test_typed_data(folder, capsys, rows, words):
    lines = (json.dumps(dict(zip(("label", "bert", "gpt"), row, strict=True))) for row in rows)
    Path("bad.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    refused(capsys, ["compare", "bad.jsonl", *COLUMNS, *METRIC], 3, *words)


def test_places_without_data(folder, capsys):
    refused(capsys, ["compare", ".", *COLUMNS, *METRIC], 3, "must have the same columns")
    refused(capsys, ["compare", "/dev/zero", *COLUMNS, *METRIC], 3, "not a regular file")
    os.symlink("loop", "loop")
    refused(capsys, ["compare", "loop", *COLUMNS, *METRIC], 3, "'loop'")


def test_items_that_do_not_match(folder, capsys):
    rows = Path("gpt.csv").read_text(encoding="utf-8").splitlines()
    Path("few.csv").write_text("\n".join(rows[:-7]) + "\n", encoding="utf-8")
    Path("twice.csv").write_text("\n".join([*rows, rows[3]]) + "\n", encoding="utf-8")
    few = ["compare", "gold.csv", "bert.csv", "few.csv", *JOIN]
    refused(capsys, few, 3, "few.csv lacks 7 ids", "'d83'", "--on-missing drop")
    refused(capsys, ["compare", "gold.csv", "bert.csv", "twice.csv", *JOIN], 3, "'d2' (2 times)")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (",ham,spam\nham,-5,3\nspam,7,40\n", "'-5' for the true class 'ham'"),
        (",ham,spam\nham,5.5,3\nspam,7,40\n", "'5.5' for the true class 'ham'"),
        (",ham,spam\nham,5,3\nspam,7,nan\n", "'nan' for the true class 'spam'"),
        (",ham,spam\nham,5,3\nspam,7,inf\n", "'inf' for the true class 'spam'"),
        (",ham,spam\nham,5,3\n", "square"),
        (",ham,eggs\nham,5,3\neggs,7,4\n", "'eggs', 'spam'"),
    ],
)
def test_matrices(folder, capsys, text, word):
    Path("bad.csv").write_text(text, encoding="utf-8")
    refused(capsys, ["compare", "old.csv", "bad.csv", "--confusion", *METRIC], 3, word)


def test_folds(folder, capsys):
    rows = Path("folds.csv").read_text(encoding="utf-8").splitlines()
    Path("five.csv").write_text("\n".join(rows[:6] + rows[7:12]) + "\n", encoding="utf-8")
    refused(capsys, ["cv-counts", "five.csv"], 3, "two rows per repetition", "got 5")
    Path("unequal.csv").write_text(
        "\n".join(rows).replace("81,9,19", "81,9,20") + "\n", encoding="utf-8"
    )
    refused(capsys, ["cv-counts", "unequal.csv"], 3, "rows 3 and 4")
    refused(capsys, ["cv-counts", "preds.csv"], 3, "got id, label, bert, gpt")


def test_an_improper_prior(folder, capsys):
    one = ["--metric", "f1", "--pos-label", "ham", "--prior", "0"]
    refused(capsys, ["compare", *TWO[:7], *one], 3, "improper", "--prior jeffreys")


# Resources: exit code 5


def test_more_draws_than_fit(folder, capsys):
    refused(capsys, ["compare", *TWO, "--draws", str(10**12)], 5, "1,000,000,000,000 draws")
    refused(capsys, [*POWER, "--draws", str(10**12)], 5, "1,000,000,000,000 draws")


def test_unexpected_error_prints_no_traceback(folder, capsys, monkeypatch):
    import outperform as op

    def broken(*_arguments, **_options):
        raise KeyError("a fault\nin two lines")

    monkeypatch.setattr(op, "read", broken, raising=False)
    monkeypatch.delenv("OUTPERFORM_DEBUG", raising=False)
    refused(capsys, ["compare", *TWO], 5, "unexpected KeyError", "OUTPERFORM_DEBUG=1")
    monkeypatch.setenv("OUTPERFORM_DEBUG", "1")
    # Raised, it would end with Python's own exit code, which means that a gate failed.
    assert main(["compare", *TWO]) == 5
    assert "Traceback" in capsys.readouterr().err


# What looks like bad input and is none


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (f"\ufeff{HEAD}{ROWS}", None),
        (f"{HEAD}{ROWS}".replace("\n", "\r\n"), None),
        (f"{HEAD}{ROWS}".rstrip("\n"), None),
        (f"{HEAD}{ROWS}".replace(",", ";"), None),
        (f"{HEAD}1,NA,NA,null\n2,null,NA,None\n3,nan,nan,nan\n", "looks_missing"),
        (f"{HEAD}1,01,1,01\n2,1,1,1\n", "near"),
        (f"{HEAD}1,a,a,b\n", "few_items"),
        (f"{HEAD}1,a,a,a\n2,b,b,b\n", None),
    ],
)
def test_defined_results(folder, capsys, text, finding):
    Path("odd.csv").write_bytes(text.encode("utf-8"))
    assert main(["compare", "odd.csv", *COLUMNS, *METRIC, "--seed", "0", "-f", "json"]) == 0
    written = capsys.readouterr()
    assert written.err == ""
    facts = json.loads(written.out)
    codes = " ".join(one["name"] for one in facts["findings"])
    assert finding is None or finding in codes
    assert facts["hdi"]["low"] <= facts["mean"] <= facts["hdi"]["high"]


def test_labels_and_names_cannot_speak_to_the_terminal(folder, capsys):
    Path("odd.csv").write_text(f"{HEAD}1,a\x1b[31m,a\x1b[31m,b\n2,b,b,b\n", encoding="utf-8")
    one = ["odd.csv", "--truth", "label", "--a", "bert", "--b", "gpt", "--seed", "1"]
    assert main(["scorecard", "--by-class", *one]) == 0
    assert "\x1b" not in capsys.readouterr().out
    line = refused(capsys, ["compare", *TWO, "--truth", "\x1b[2J::set-output"], 2)
    assert "\x1b" not in line
    line = refused(capsys, ["compare", *TWO, "--\x1b[2Jx"], 2)
    assert "\x1b" not in line
