"""``--groups``: one weight for what belongs together, on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outperform as op
from outperform.cli.main import main

SEEDED = ["--seed", "1", "--draws", "1000", "--rope", "0.02"]
TWO = ["preds.csv", "--truth", "label", "--a", "bert", "--b", "gpt", "--metric", "accuracy"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with predictions, scores and the author of 400 items."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    author = np.repeat(np.arange(40), 10)
    truth = rng.integers(0, 2, 400)
    good = rng.normal(size=(2, 40))[:, author] + rng.normal(size=(2, 400)) + 0.8
    lines = ["doc,author,label,bert,gpt,bert_score,gpt_score"]
    for k in range(400):
        bert, gpt = (truth[k] if one > 0 else 1 - truth[k] for one in good[:, k])
        shown = [f"{one if truth[k] else -one:.4f}" for one in good[:, k]]
        lines.append(f"{k},w{author[k]},{truth[k]},{bert},{gpt},{','.join(shown)}")
    (tmp_path / "preds.csv").write_text("\n".join(lines) + "\n", "utf-8")
    for name, places in {"gold": (0, 1, 2), "bert": (0, 3), "gpt": (0, 4)}.items():
        header = ["doc,author,label" if name == "gold" else "doc,label"]
        rows = [",".join(line.split(",")[place] for place in places) for line in lines[1:]]
        (tmp_path / f"{name}.csv").write_text("\n".join(header + rows) + "\n", "utf-8")
    return tmp_path


def facts(capsys, *arguments):
    """Return what a command writes as JSON."""
    assert main([*arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments):
    """Return what a command says of wrong arguments."""
    assert main([*arguments]) == 2
    return capsys.readouterr().err


def test_compare_weighs_groups(folder, capsys):
    found = facts(capsys, "compare", *TWO, *SEEDED, "--groups", "author")
    seen = op.read("preds.csv", truth="label", models=["bert", "gpt"], groups="author")
    c = op.compare(seen, "bert", "gpt", metric="accuracy", rope=0.02, n_draws=1_000, random_state=1)
    assert found["n_groups"] == 40
    assert found["sd"] == c.sd


def test_ids_that_repeat_are_told(folder, capsys):
    found = facts(capsys, "compare", *TWO, *SEEDED)
    (told,) = [one for one in found["findings"] if one["name"] == "repeated_ids"]
    assert told["message"].startswith("Column 'author' repeats: 40 values in 400 rows.")
    assert main(["compare", *TWO, *SEEDED]) == 0
    assert "Column 'author' repeats" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", ["scorecard", "scorecard --by-class", "rank"])
def test_other_questions_take_groups(folder, capsys, command):
    two = (
        ["--model", "bert", "--model", "gpt"]
        if command == "rank"
        else ["--a", "bert", "--b", "gpt"]
    )
    found = facts(
        capsys, *command.split(), "preds.csv", "--truth", "label", *two, *SEEDED,
        "--groups", "author",
        *(["--metric", "f1_macro"] if command == "rank" else ["--metrics", "f1_macro"]),
    )  # fmt: skip
    assert '"n_groups": 40' in json.dumps(found)


def test_estimate_gate_and_count_take_groups(folder, capsys):
    one = ["preds.csv", "--truth", "label", "--model", "bert"]
    asked = [*one, "--metric", "accuracy", "--seed", "1", "--groups", "author"]
    assert facts(capsys, "estimate", *asked)["n_groups"] == 40
    two = ["--candidate", "bert", "--baseline", "gpt", "--metric", "accuracy"]
    code = main(["gate", "preds.csv", "--truth", "label", *two, *SEEDED, "--groups", "author"])
    assert code in (0, 1, 4)
    assert "from 40 groups" in capsys.readouterr().out
    assert main(["count", *one, "--model", "gpt", "--groups", "author", "-o", "seen.json"]) == 0
    capsys.readouterr()
    counted = facts(capsys, "compare", "seen.json", "--metric", "accuracy", *SEEDED)
    assert counted["n_groups"] == 40


def test_files_that_are_joined_have_groups_in_the_gold_file(folder, capsys):
    found = facts(
        capsys, "compare", "gold.csv", "bert.csv", "gpt.csv", "--id", "doc", "--label", "label",
        "--metric", "accuracy", *SEEDED, "--groups", "author",
    )  # fmt: skip
    assert found["sd"] == facts(capsys, "compare", *TWO, *SEEDED, "--groups", "author")["sd"]


def test_scores_have_groups(folder, capsys):
    asked = ["preds.csv", "--truth", "label", "--a", "bert_score", "--b", "gpt_score", *SEEDED]
    metric = ["--metric", "roc_auc", "--pos-label", "1"]
    assert facts(capsys, "compare", *asked, *metric, "--groups", "author")["n_groups"] == 40


def test_slices_have_groups(capsys, tmp_path):
    rows = [
        ("spam" if i % 3 else "ham", i % 7 > 1, i % 5 > 1, "fr" if i % 2 else "it", i % 40)
        for i in range(400)
    ]
    lines = [
        f"{label},{label if a else 'eggs'},{label if b else 'eggs'},{country},{author}"
        for label, a, b, country, author in rows
    ]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["label,a,b,country,author", *lines]) + "\n")
    words = ["slices", str(path), "--truth", "label", "--a", "a", "--b", "b", "--by", "country"]
    words += ["--metric", "accuracy", "--format", "json", *SEEDED]
    typed = []
    for options in ([], ["--groups", "author"]):
        assert main([*words, *options]) == 0
        typed.append(json.loads(capsys.readouterr().out))
    expected = op.compare_slices(
        str(path), "a", "b", truth="label", by="country", groups="author", metric="accuracy",
        rope=0.02, n_draws=1_000, random_state=1,
    )  # fmt: skip
    assert typed[1]["rows"] == json.loads(json.dumps(expected.to_dict()["rows"]))
    assert typed[0]["rows"] != typed[1]["rows"]


def test_what_knows_no_groups_says_so(folder, capsys):
    (folder / "m.csv").write_text(",0,1\n0,5,1\n1,2,9\n")
    matrix = ["estimate", "m.csv", "--confusion", "--groups", "author"]
    assert "confusion matrices do not contain groups" in refused(capsys, *matrix)


def test_counts_of_two_models_both_have_groups(folder, capsys):
    for name in ("bert", "gpt"):
        one = ["count", "preds.csv", "--truth", "label", "--model", name, "--groups", "author"]
        assert main([*one, "-o", f"{name}.json"]) == 0
    asked = ["--candidate", "bert", "--baseline", "gpt", "--metric", "accuracy", *SEEDED]
    assert main(["gate", "bert.json", "gpt.json", *asked]) in (0, 1, 4)
    assert "groups" in capsys.readouterr().out
