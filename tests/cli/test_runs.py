"""``runs`` from every kind of source, and what it refuses."""

from __future__ import annotations

import json

import pytest

import outperform as op
from outperform.cli.main import main

A = ["--a", "bert-1", "--a", "bert-2", "--a", "bert-3"]
B = ["--b", "gpt-1", "--b", "gpt-2", "--b", "gpt-3"]
ASKED = ["--metric", "f1_macro", "--rope", "0.02", "--seed", "1", "--draws", "500", "-f", "json"]


def facts_of(capsys, *arguments):
    assert main(["runs", *arguments, *ASKED]) == 0
    written = capsys.readouterr()
    assert written.err == ""
    return json.loads(written.out)


def test_the_json_is_what_the_library_says(folder, capsys):
    facts = facts_of(capsys, "all.csv", "--truth", "label", *A, *B)
    seen = op.read("all.csv", truth="label", models=[*A[1::2], *B[1::2]])
    same = op.compare_runs(
        seen, A[1::2], B[1::2], metric="f1_macro", rope=0.02, random_state=1, n_draws=500
    )
    assert facts == json.loads(json.dumps(same.to_dict()))
    assert facts["names"] == ["bert", "gpt"]


def test_files_joined_on_an_id_and_counted_outcomes(folder, capsys):
    named = ["--a", "bert", "--a", "old", "--b", "gpt"]
    columns = ["--truth", "label", "--model", "bert", "--model", "old", "--model", "gpt"]
    one = facts_of(capsys, "preds.csv", "--truth", "label", *named)
    assert main(["count", "preds.csv", *columns, "-o", "counts.json"]) == 0
    assert facts_of(capsys, "counts.json", *named) == one
    joined = ["gold.csv", "bert.csv", "gpt.csv", "gpt.csv", "--id", "id", "--label", "label"]
    assert facts_of(capsys, *joined, *named)["mean"] == one["mean"]


def test_scores_have_runs_too(folder, capsys):
    rows = ["label,a1,a2,b1"] + [f"{k % 2},{k % 7},{k % 5},{(k % 2) + k % 3}" for k in range(60)]
    (folder / "scores.csv").write_text("\n".join(rows) + "\n", "utf-8")
    named = ["--a", "a1", "--a", "a2", "--b", "b1", "--metric", "roc_auc", "--pos-label", "1"]
    asked = ["--truth", "label", "--draws", "300", "--seed", "1", "-f", "json"]
    assert main(["runs", "scores.csv", *named, *asked]) == 0
    assert json.loads(capsys.readouterr().out)["metric"] == "roc_auc"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["all.csv", "--truth", "label", *A], "--b"),
        (["all.csv", *A, *B], "--truth"),
        (["all.csv", "--truth", "label", *A[:2], *B[:2]], "one run of each"),
        (["all.csv", "--truth", "label", *A, "--b", "bert-1"], "bert-1"),
    ],
)
def test_what_is_missing_is_named(folder, capsys, arguments, said):
    assert main(["runs", *arguments, *ASKED]) == 2
    assert said in capsys.readouterr().err
