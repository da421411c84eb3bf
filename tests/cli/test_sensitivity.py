"""``sensitivity`` says what the library says, and names what it cannot read."""

from __future__ import annotations

import json

import pytest

import outperform as op
from outperform.cli.main import main

TWO = ["preds.csv", "--truth", "label", "--a", "bert", "--b", "gpt", "--metric", "f1_macro"]
ASKED = ["--rope", "0.02", "--seed", "1", "--draws", "500", "-f", "json"]


def test_the_json_is_what_the_library_says(folder, capsys):
    more = ["--priors", "0.25,learned", "--ropes", "0.005,0.3"]
    assert main(["sensitivity", *TWO, *ASKED, *more]) == 0
    written = capsys.readouterr()
    assert written.err == ""
    seen = op.read("preds.csv", truth="label", models=["bert", "gpt"])
    own = op.compare(seen, *seen.models, metric="f1_macro", rope=0.02, random_state=1, n_draws=500)
    same = own.sensitivity(priors={"shape 0.25": 0.25, "learned": "learned"}, ropes=[0.005, 0.3])
    assert json.loads(written.out) == json.loads(json.dumps(same.to_dict()))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--ropes", "0.01,wide"], "--ropes must be comma-separated numbers"),
        (["--ropes", "5"], "wider than any difference"),
        (["--priors", "unti"], "did you mean 'unit'"),
        (["--priors", "2,2.0"], "are the same"),
    ],
)
def test_what_is_wrong_is_named(folder, capsys, more, said):
    assert main(["sensitivity", *TWO, *ASKED, *more]) == 2
    assert said in capsys.readouterr().err
