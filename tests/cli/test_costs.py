"""``--cost`` and ``--unit``: what mistakes cost, from the command line."""

from __future__ import annotations

import json

import pytest

import outperform as op
from outperform.cli.main import main

COST = "spam:ham=10,ham:spam=3"
ASKED = ["--seed", "1", "--draws", "500", "--rope", "0.2", "-f", "json"]
COLUMNS = ["preds.csv", "--truth", "label"]


def test_compare_says_what_the_library_says(folder, capsys):
    two = ["--a", "bert", "--b", "gpt"]
    assert main(["compare", *COLUMNS, *two, "--cost", COST, "--unit", "EUR", *ASKED]) == 0
    facts = json.loads(capsys.readouterr().out)
    seen = op.read("preds.csv", truth="label", models=["bert", "gpt"])
    metric = op.metrics.cost({("spam", "ham"): 10, ("ham", "spam"): 3}, unit="EUR")
    same = op.compare(seen, "bert", "gpt", metric=metric, rope=0.2, random_state=1, n_draws=500)
    assert facts == json.loads(json.dumps(same.to_dict()))


def test_rank_and_gate_take_costs(folder, capsys):
    assert main(["rank", *COLUMNS, "--id", "id", "--cost", COST, *ASKED]) == 0
    assert json.loads(capsys.readouterr().out)["metric_label"] == "cost per item"
    two = ["--candidate", "bert", "--baseline", "gpt"]
    code = main(["gate", *COLUMNS, *two, "--cost", COST, "--unit", "EUR", *ASKED])
    assert code in (0, 1, 4)
    assert "EUR per item" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--cost", "spam=3"], "truth:prediction=cost"),
        (["--cost", "spam:ham"], "truth:prediction=cost"),
        (["--cost", "spam:ham=dear"], "truth:prediction=cost"),
        (["--cost", "spma:ham=3"], "unknown class 'spma'; did you mean 'spam'"),
        (["--cost", COST, "--metric", "accuracy"], "--metric or --cost, not both"),
        (["--unit", "EUR"], "--unit needs --cost"),
    ],
)
def test_what_cannot_be_read_is_refused(folder, capsys, given, words):
    code = main(["compare", *COLUMNS, "--a", "bert", "--b", "gpt", "--rope", "0.2", *given])
    assert code == 2
    assert words in capsys.readouterr().err


def test_a_cost_needs_a_rope(folder, capsys):
    assert main(["compare", *COLUMNS, "--a", "bert", "--b", "gpt", "--cost", COST]) == 2
    assert "--rope" in capsys.readouterr().err
