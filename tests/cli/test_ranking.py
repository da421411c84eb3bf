"""``rank`` from every kind of source, and what it refuses."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import outperform as op
from outperform.cli.main import main

ASKED = shlex.split("--metric f1_macro --rope 0.02 --seed 1 --draws 500 -f json")


def facts_of(capsys, *arguments):
    assert main(["rank", *arguments, *ASKED]) == 0
    written = capsys.readouterr()
    assert written.err == ""
    return json.loads(written.out)


def test_the_json_is_what_the_library_says(folder, capsys):
    named = ["--model", "bert", "--model", "gpt", "--model", "old"]
    facts = facts_of(capsys, "preds.csv", "--truth", "label", *named)
    seen = op.read("preds.csv", truth="label", models=["bert", "gpt", "old"])
    same = op.rank(seen, metric="f1_macro", rope=0.02, random_state=1, n_draws=500)
    assert facts == json.loads(json.dumps(same.to_dict()))
    assert sorted(facts["names"]) == ["bert", "gpt", "old"]


def test_all_other_columns_by_default(folder, capsys):
    facts = facts_of(capsys, "preds.csv", "--truth", "label", "--id", "id")
    assert sorted(facts["names"]) == ["bert", "gpt", "new", "old"]


def test_files_joined_on_an_id_and_counted_outcomes(folder, capsys):
    columns = ["--truth", "label", "--model", "bert", "--model", "gpt"]
    one = facts_of(capsys, "preds.csv", *columns)
    joined = ["gold.csv", "bert.csv", "gpt.csv", "--id", "id", "--label", "label"]
    assert main(["count", "preds.csv", *columns, "-o", "counts.json"]) == 0
    for arguments in (joined, ["counts.json"]):
        two = facts_of(capsys, *arguments)
        assert two["models"] == one["models"]


def test_confusion_matrices_are_unpaired(folder, capsys):
    facts = facts_of(capsys, "old.csv", "new.csv", "--confusion")
    assert facts["paired"] is False
    assert "unpaired_outcomes" in [finding["name"] for finding in facts["findings"]]


def test_text_shows_every_model(folder, capsys):
    lines = Path("preds.csv").read_text("utf-8").splitlines()
    names = [f"m{k}" for k in range(25)]
    header = ",".join(["label", *names])
    rows = [",".join([row.split(",")[1], *[row.split(",")[2]] * 25]) for row in lines[1:]]
    Path("many.csv").write_text("\n".join([header, *rows]) + "\n", "utf-8")
    asked = ["--truth", "label", "--metric", "accuracy", "--draws", "200", "--seed", "1"]
    assert main(["rank", "many.csv", *asked]) == 0
    shown = capsys.readouterr().out
    assert all(f" {name} " in shown for name in names)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["preds.csv", "--model", "bert", "--model", "gpt"], "--truth"),
        (["preds.csv", "--truth", "label", "--model", "bert"], "at least two models"),
        (["gold.csv", "bert.csv"], "--id"),
    ],
)
def test_what_is_missing_is_named(folder, capsys, arguments, said):
    assert main(["rank", *arguments, *ASKED]) == 2
    assert said in capsys.readouterr().err
