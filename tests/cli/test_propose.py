"""propose, and --pool: which rows to label, and what is made of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import outperform as op
from outperform.cli.main import main

ASKED = ["--a", "bert", "--b", "gpt", "--metric", "f1_macro"]


def rows_of(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def propose(*more):
    return main(["propose", "preds.csv", *ASKED, "--budget", "40", "--seed", "1", *more])


def test_the_rows_to_label_are_those_that_the_library_proposes(folder, capsys):
    assert propose("-o", "next.csv") == 0
    written = capsys.readouterr()
    assert "40 of 90 items" in written.out
    assert written.err == ""
    pool, chosen = rows_of("preds.csv"), rows_of("next.csv")
    columns = [[row[name] for row in pool] for name in ("bert", "gpt")]
    same = op.propose(*columns, budget=40, metric="f1_macro", random_state=1)
    assert chosen == [pool[place] for place in same.items.tolist()]


def test_without_a_file_the_rows_go_to_stdout(folder, capsys):
    assert propose("-o", "next.csv") == 0
    capsys.readouterr()
    assert propose() == 0
    assert capsys.readouterr().out == Path("next.csv").read_text("utf-8")


def test_the_labelled_rows_are_compared_with_their_pool(folder, capsys):
    assert propose("-o", "next.csv") == 0
    capsys.readouterr()
    given = ["next.csv", "--truth", "label", *ASKED, "--rope", "0.02", "--seed", "1"]
    assert main(["compare", *given, "--pool", "preds.csv", "--format", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["prior"], facts["n"], facts["n_pool"]) == ("strata", 40, 90)
    read = op.read("next.csv", truth="label", models=["bert", "gpt"])
    seen = read.in_pool(op.read("preds.csv", truth="bert", models=["gpt"]))
    same = op.compare(seen, "bert", "gpt", metric="f1_macro", rope=0.02, random_state=1)
    assert facts["mean"] == same.mean
    by_class = [{"--metric": "--metrics"}.get(one, one) for one in given]
    assert main(["scorecard", "--by-class", *by_class, "--pool", "preds.csv"]) == 0
    assert "pool of 90" in capsys.readouterr().out


def test_a_condition_holds_for_the_pool_too(folder, capsys):
    asked = ["propose", "log.csv", *ASKED, "--budget", "60", "--seed", "1", "-o", "next.csv"]
    assert main(asked) == 0
    capsys.readouterr()
    given = ["next.csv", "--truth", "label", *ASKED, "--pool", "log.csv", "--where", "country=DE"]
    assert main(["compare", *given, "--draws", "1000", "--format", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    here = [row for row in rows_of("log.csv") if row["country"] == "DE"]
    assert facts["n_pool"] == len(here) < 300


def test_rows_come_back_as_they_were_read(folder, capsys):
    rows = ["a\tb\ttext", "--5\tx\té", "x\t--5\tü", "", "x\tx\tö", ""]
    Path("pool.tsv").write_text("\n".join(rows), "latin-1")
    asked = ["pool.tsv", "--a", "a", "--b", "b", "--budget", "3", "--metric", "accuracy"]
    assert main(["propose", *asked, "--encoding", "latin-1", "-o", "next.tsv"]) == 0
    written = Path("next.tsv").read_text("latin-1").splitlines()
    assert written[0] == rows[0]
    assert sorted(written[1:]) == sorted([*rows[1:3], rows[4]])
    Path("mark.csv").write_text("\ufeffa,b\nx,y\ny,y\n", "utf-8")
    asked = ["mark.csv", "--a", "a", "--b", "b", "--budget", "1", "--metric", "accuracy"]
    assert main(["propose", *asked]) == 0


def test_whole_numbers_are_whole_numbers(folder, capsys):
    lines = ["a,b"] + [f"{k % 2},{k % 3 % 2}" for k in range(60)]
    Path("numbers.csv").write_text("\n".join(lines) + "\n", "utf-8")
    asked = ["numbers.csv", "--a", "a", "--b", "b", "--budget", "10", "-o", "next.csv"]
    assert main(["propose", *asked]) == 0
    assert main(["propose", *asked, "--pos-label", "0"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["preds.parquet", *ASKED, "--budget", "4"], "end in .csv or .tsv"),
        (["none.csv", *ASKED, "--budget", "4"], "cannot be read"),
        (["preds.csv", "--a", "bart", "--b", "gpt", "--budget", "4"], "did you mean 'bert'"),
        (["preds.csv", *ASKED, "--budget", "91"], "budget must be"),
        (["preds.csv", *ASKED, "--budget", "4", "--pos-label", "spm"], "did you mean 'spam'"),
        (["ragged.csv", "--a", "a", "--b", "b", "--budget", "1"], "line 3 has 1 values"),
        (["gaps.csv", "--a", "a", "--b", "b", "--budget", "1"], "no prediction in row 3"),
        (["empty.csv", "--a", "a", "--b", "b", "--budget", "1"], "needs a header and rows"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(folder, capsys, arguments, message):
    Path("ragged.csv").write_text("a,b\nx,y\nx\n", "utf-8")
    Path("gaps.csv").write_text("a,b\nx,y\nx,\n", "utf-8")
    Path("empty.csv").write_text("", "utf-8")
    assert main(["propose", *arguments]) in (2, 3)
    written = capsys.readouterr()
    assert message in written.err
    assert written.err.count("\n") == 1


def test_a_pool_is_for_two_models(folder, capsys):
    one = ["estimate", "preds.csv", "--truth", "label", "--of", "bert", "--pool", "preds.csv"]
    assert main(one) == 2
    assert "no such option: --pool" in capsys.readouterr().err
