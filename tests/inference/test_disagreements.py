"""On how many items two models differ, and what is said where they never do."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.decision.rope import Decision

FAST = {"n_draws": 200, "random_state": 0, "rope": 0.01}
GOLD = [["B-PER", "O"]] * 20 + [["O", "O"]] * 20
MATRIX = np.stack([np.arange(40) % 2 == 0, np.arange(40) % 3 == 0], axis=1).astype(int)


def _few(result):
    return [one for one in result.findings if one.name == "few_disagreements"]


@pytest.mark.parametrize("metric", ["precision", "recall", "f1"])
def test_a_tagger_that_predicts_nothing_differs_from_one_that_finds_all(metric):
    seen = op.Outcomes.from_tags(GOLD, {"a": [["O", "O"]] * 40, "b": GOLD}, scheme="IOB2")
    found = op.compare(seen, "a", "b", metric=metric, **FAST)
    assert found.hdi.width == 0
    assert found.decision is Decision.WORSE  # they differ in 20 sentences
    assert not _few(found)


@pytest.mark.parametrize("metric", ["f1_macro", "f1_micro", "recall_macro", "precision_macro"])
def test_a_matrix_and_its_inverse_differ_in_every_row(metric):
    found = op.compare(MATRIX, MATRIX, 1 - MATRIX, metric=metric, **FAST)
    assert found.decision is Decision.BETTER
    assert not _few(found)


def test_few_rows_that_differ_are_counted_though_the_interval_has_no_width():
    seen = op.Outcomes.from_tags(GOLD[15:], {"a": [["O", "O"]] * 25, "b": GOLD[15:]}, scheme="IOB2")
    (few,) = _few(op.compare(seen, "a", "b", metric="precision", **FAST))
    assert few.level == "serious"
    assert few.message.startswith("The models disagree on only 5 sentences or documents")


def test_equal_values_without_width_are_withheld_however_often_they_disagree():
    gold, half = [["B-PER", "B-PER"]] * 30, [["B-PER", "O"]] * 30
    other = [["O", "B-PER"]] * 30
    seen = op.Outcomes.from_tags(gold, {"a": half, "b": other}, scheme="IOB2")
    found = op.compare(seen, "a", "b", metric="recall", **FAST)
    assert found.hdi.width == 0
    assert found.decision is Decision.UNDECIDED
    (few,) = _few(found)
    assert (few.level, "zero width" in few.message) == ("serious", True)


@pytest.mark.parametrize("prior", ["bootstrap", "uniform", "unit"])
def test_identical_columns_are_called_identical(prior):
    truth, same = [0, 1] * 50, [0, 1, 1, 1] * 25
    found = op.compare(truth, same, same, metric="accuracy", prior=prior, **FAST)
    assert found.decision.symbol in "?~≈"
    (few,) = _few(found)
    assert few.message.startswith(
        "A and B are identical on every item; did you pass the same column twice?"
    )
    assert "too narrow" not in few.message


def test_models_that_differ_where_the_metric_does_not_look_are_not_identical():
    truth = ["a", "b", "c"] * 20
    one, two = ["a", "b", "a"] * 20, ["a", "b", "b"] * 20  # wrong on the same items
    (few,) = _few(op.compare(truth, one, two, metric="accuracy", prior="bootstrap", **FAST))
    assert "identical" not in few.message
    assert few.message.startswith("The models disagree on only 0 items")


def test_identical_scores_and_identical_models_of_a_ranking():
    truth, scores = [0, 1] * 50, np.linspace(0, 1, 100)
    (few,) = _few(op.compare(truth, scores, scores, metric="roc_auc", **FAST))
    assert "did you pass the same column twice?" in few.message
    models = {"one": truth, "again": truth, "other": [0, 0] * 50}
    (few,) = _few(op.rank(truth, models, metric="accuracy", **FAST))
    assert "1 of 3 pairs are identical on every item" in few.message
    assert "one" in few.message
    assert "again" in few.message
