"""Commands on columns that list several labels."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outperform as op
from outperform.cli.main import main

TWO = ["labels.csv", "--truth", "truth", "--a", "bert", "--b", "rules", "--seed", "1"]
TWO += ["--empty-is-label"]  # an item without labels


@pytest.fixture
def matrices(tmp_path, monkeypatch):
    """Return truth and two models' labels, and write them down with | between labels."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = rng.random((80, 3)) < 0.5
    found = [truth, *(truth ^ (rng.random((80, 3)) < rate) for rate in (0.1, 0.2))]
    names = np.array(["law", "money", "sport"])
    rows = [",".join("|".join(names[m[row]]) for m in found) for row in range(80)]
    (tmp_path / "labels.csv").write_text("\n".join(["truth,bert,rules", *rows]), encoding="utf-8")
    return found


@pytest.mark.parametrize("metric", ["f1_samples", "accuracy", "f1_macro"])
def test_labels_are_split(matrices, capsys, metric):
    asked = [*TWO, "--label-separator", "|", "--metric", metric, "--format", "json"]
    assert main(["compare", *asked, "--draws", "1000"]) == 0
    found = json.loads(capsys.readouterr().out)
    wanted = op.compare(*matrices, metric=metric, n_draws=1_000, random_state=1)
    assert found["observed"] == pytest.approx(wanted.observed)
    assert found["hdi"]["low"] == pytest.approx(wanted.hdi.low)
    assert found["n_labels"] == 3


def test_without_a_separator_a_text_is_a_class(matrices, capsys):
    assert main(["compare", *TWO, "--metric", "f1_samples"]) != 0
    assert "several labels each" in capsys.readouterr().err


def test_each_label_has_a_row(matrices, capsys):
    assert main(["scorecard", "--by-class", *TWO, "--label-separator", "|"]) == 0
    written = capsys.readouterr().out
    assert all(label in written for label in ("law", "money", "sport"))
