"""A model that never predicts a true class: no decision, whoever asks."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.decision.rope import Decision
from outperform.planning.worlds import TableWorld
from tests.loops import each

N = 200
TRUTH = np.array(["a", "b"] * (N // 2))
BASELINE = np.where(np.arange(N) % 20 == 0, np.roll(TRUTH, 1), TRUTH)  # 95% right
CANDIDATE = np.where(np.arange(N) % 5 == 0, np.roll(TRUTH, 1), TRUTH)  # 80% right
OTHERWISE = {
    "upper case": np.char.upper(BASELINE),
    "a blank": np.char.add(BASELINE, " "),
    "empty": np.full(N, ""),
    "numbers": np.where(BASELINE == "a", "1", "2"),
}
FAST = {"n_draws": 200, "random_state": 0, "rope": 0.01}


def _names(result):
    return {one.name for one in result.findings if one.level == "serious"}


def _comparison(written):
    return op.compare(TRUTH, CANDIDATE, written, metric="accuracy", names=("new", "old"), **FAST)


def test_the_same_column_spelled_as_the_truth_decides():
    assert _comparison(BASELINE).decision is Decision.WORSE
    assert not _names(_comparison(BASELINE))


@pytest.mark.parametrize("written", OTHERWISE.values(), ids=OTHERWISE)
def test_no_spelling_of_the_baseline_lets_the_candidate_pass(written):
    found = _comparison(written)
    assert found.decision is Decision.UNDECIDED
    assert {step.decision for step in found.rope_curve()} == {Decision.UNDECIDED}
    assert _names(found) == {"predictions_never_match"}
    gate = op.gate(TRUTH, CANDIDATE, written, metric="accuracy", **FAST)
    assert gate.status.value == "undecided"


def test_the_sentence_names_both_spellings():
    (said,) = (
        one for one in _comparison(OTHERWISE["upper case"]).findings if one.level == "serious"
    )
    assert said.message == (
        "old never predicts a class that occurs in the truth: it predicts 'A' and 'B', but the "
        "true values are 'a' and 'b'. Use the same spelling in both columns, or select the right "
        "column. The decision is withheld."
    )


@pytest.mark.parametrize("metric", ["f1_macro", "balanced_accuracy", "matthews_corrcoef"])
def test_every_metric_withholds(metric):
    found = op.compare(TRUTH, CANDIDATE, OTHERWISE["upper case"], metric=metric, **FAST)
    assert found.decision is Decision.UNDECIDED


def test_one_class_against_the_rest_withholds_too():
    found = op.compare(TRUTH, CANDIDATE, OTHERWISE["upper case"], pos_label="a", **FAST)
    assert found.decision is Decision.UNDECIDED
    assert all(row.decision is Decision.UNDECIDED for row in found.by_class())


def test_a_ranking_withholds_the_pairs_of_that_model_only():
    models = {"new": CANDIDATE, "old": OTHERWISE["upper case"], "good": BASELINE}
    ranking = op.rank(TRUTH, models, metric="accuracy", **FAST)
    decisions = {row.name: row.decision for row in ranking.rows}
    assert decisions == {"good": None, "new": Decision.WORSE, "old": Decision.UNDECIDED}
    assert _names(ranking) == {"predictions_never_match"}


def test_estimate_scorecard_runs_and_slices_say_so():
    written = OTHERWISE["upper case"]
    assert _names(op.estimate(TRUTH, written, metric="accuracy", n_draws=200))
    card = op.scorecard(TRUTH, CANDIDATE, written, metrics=["accuracy", "f1_macro"], **FAST)
    assert [one.decision for one in card] == [Decision.UNDECIDED] * 2
    assert "never predicts a class that occurs in the truth" in str(card)
    runs = op.compare_runs(
        TRUTH, [CANDIDATE, BASELINE], [BASELINE, written], metric="accuracy", **FAST
    )
    assert runs.decision is Decision.UNDECIDED
    day = {"day": ["Mon", "Tue"] * (N // 2)}
    seen = op.Outcomes.from_labels(TRUTH, {"new": CANDIDATE, "old": written}, by=day)
    slices = op.compare_slices(seen, "new", "old", metric="accuracy", **FAST)
    assert {row.decision for row in slices.rows} == {Decision.UNDECIDED}
    assert _names(slices) == {"predictions_never_match"}


def test_whoever_names_the_class_in_labels_is_believed():
    never = np.full(N, "c")
    assert _comparison(never).decision is Decision.UNDECIDED
    named = op.compare(TRUTH, CANDIDATE, never, metric="accuracy", labels=["a", "b", "c"], **FAST)
    assert named.decision is Decision.BETTER
    still = op.compare(
        TRUTH, CANDIDATE, OTHERWISE["upper case"], metric="accuracy", labels=["a", "b"], **FAST
    )
    assert still.decision is Decision.UNDECIDED


def test_spans_and_label_sets_of_another_spelling():
    gold = [["B-PER", "O"], ["O", "B-ORG"]] * 20
    lower = [[tag[:2] + tag[2:].lower() for tag in tags] for tags in gold]
    seen = op.Outcomes.from_tags(gold, {"a": gold, "b": lower}, scheme="IOB2")
    assert op.compare(seen, "a", "b", metric="f1", **FAST).decision is Decision.UNDECIDED
    sets, other = [{"x"}, {"x", "y"}] * 20, [{"X"}, {"X", "Y"}] * 20
    found = op.compare(sets, sets, other, metric="f1_micro", **FAST)
    assert _names(found) == {"predictions_never_match"}


def test_who_predicts_nothing_at_all_is_no_slip_of_spelling():
    gold = [["B-PER", "O"], ["O", "B-ORG"]] * 20
    seen = op.Outcomes.from_tags(gold, {"a": gold, "b": [["O", "O"]] * 40}, scheme="IOB2")
    assert "predictions_never_match" not in _names(op.compare(seen, "a", "b", metric="f1", **FAST))


@each(
    ("one", "two", "alike"),
    [
        ("1", "1.0", True),
        ("01", "1.00", True),
        ("-2", "-2.0", True),
        ("1.5", "1.50", True),
        ("1", "-1", False),
        ("1", "10", False),
        ("1.0", "10", False),
        ("1.05", "1.5", False),
    ],
)
def test_numbers_that_are_written_differently_look_alike(one, two, alike):
    seen = op.Outcomes.from_labels([one, two], {"m": [one, two]})
    assert ("near_duplicate_labels" in {f.name for f in seen.findings}) is alike


def test_a_plan_from_such_a_pilot_has_a_serious_finding():
    found = _comparison(OTHERWISE["upper case"])
    world = TableWorld(
        spec=found.spec,
        make_predict=lambda: None,
        items="new",
        rope=found.rope,
        n_draws=100,
        prob=0.95,
        origin="pilot",
    )
    assert _names(world) == {"predictions_never_match"}
