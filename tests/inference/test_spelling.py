"""Predictions that are never true: whether labels spelled otherwise could decide."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outperform as op
from outperform.data.labels import Spellings, spelling
from outperform.data.respelled import taken_as_right
from outperform.decision.rope import Decision
from outperform.errors import DataError, UsageError
from outperform.testing import assert_not_worse
from tests.loops import each

N = 1000
ROWS = np.arange(N)
TRUTH = np.array(["y", "n"] * (N // 2))
BASELINE = np.where(ROWS % 20 < 1, np.roll(TRUTH, 1), TRUTH)  # 95% right
CANDIDATE = np.where(ROWS % 10 < 2, np.roll(TRUTH, 1), TRUTH)  # 80% right
FAST = {"metric": "accuracy", "n_draws": 400, "random_state": 0, "rope": 0.01}
ALIKE = {
    "upper case": np.where(BASELINE == "y", "Y", BASELINE),
    "a blank": np.where(BASELINE == "y", "y ", BASELINE),
    "another word": np.where(BASELINE == "y", "yes", BASELINE),
    "half in capitals": np.where(ROWS % 2 == 0, np.char.upper(BASELINE), BASELINE),
    "a quarter in capitals": np.where(ROWS % 4 == 0, np.char.upper(BASELINE), BASELINE),
    "a wide letter": np.where(BASELINE == "y", "\uff59", BASELINE),
    "marks around it": np.where(BASELINE == "y", "(y).", BASELINE),
    "a character that is not seen": np.where(BASELINE == "y", "y\u200b", BASELINE),
}
REFUSING = np.where((BASELINE == "y") & (ROWS % 3 > 0), "refusal", BASELINE)


def names(result, level="serious"):
    return [one.name for one in result.findings if one.level == level]


@each("written", ALIKE.values(), ids=ALIKE)
def test_no_spelling_of_a_part_of_the_baseline_opens_a_gate(written):
    found = op.compare(TRUTH, CANDIDATE, written, names=("new", "old"), **FAST)
    assert found.observed > 0.01, "read as it is, the worse model looks better"
    assert found.decision is Decision.UNDECIDED
    assert names(found) == ["spelled_otherwise"]
    assert {step.decision for step in found.rope_curve()} == {Decision.UNDECIDED}
    assert found.with_rope(0.02).decision is Decision.UNDECIDED
    gate = op.gate(TRUTH, CANDIDATE, written, **FAST)
    assert gate.status.value == "undecided"
    assert not gate.can_allow


def test_the_sentence_names_model_label_count_and_what_to_do():
    found = op.compare(TRUTH, CANDIDATE, ALIKE["upper case"], names=("new", "old"), **FAST)
    (said,) = (one for one in found.findings if one.level == "serious")
    n = int((BASELINE == "y").sum())
    assert said.message == (
        f"old predicts 'Y' for {n} items (similar to 'y'). Such a class never occurs in the truth "
        "but looks like another spelling of one that does. If these predictions were right, the "
        "decision would be ≪ (worse) instead of ≫ (better). Use the same spelling, or declare the "
        "labels that are intentionally never true. The decision is withheld."
    )
    assert said.parameter == "never_true"


def test_other_classes_that_are_never_true_are_doubted_and_withhold_a_gate():
    found = op.compare(TRUTH, CANDIDATE, REFUSING, **FAST)
    assert found.decision is Decision.BETTER
    assert not names(found)
    assert "never_true_predictions" in names(found, "warning")
    gate = op.gate(TRUTH, CANDIDATE, REFUSING, **FAST)
    assert gate.status.value == "undecided"
    assert names(gate) == ["never_true_predictions"]
    assert "never_true_predictions" not in names(gate, "warning")


@pytest.mark.parametrize("written", [REFUSING, ALIKE["upper case"]], ids=["refusal", "Y"])
def test_what_is_declared_is_believed(written):
    (label,) = set(written) - {"y", "n"}
    declared = op.Outcomes.from_labels(
        TRUTH, {"new": CANDIDATE, "old": written}, never_true=[label]
    )
    for found in (
        op.compare(TRUTH, CANDIDATE, written, never_true=[label], **FAST),
        op.compare(declared, "new", "old", **FAST),
        op.compare(op.Outcomes.from_json(declared.to_json()), "new", "old", **FAST),
        op.compare(declared + declared, "new", "old", **FAST),
    ):
        assert found.decision is Decision.BETTER
        mine = {"spelled_otherwise", "never_true_predictions"}
        assert mine.isdisjoint(one.name for one in found.findings)
    assert op.gate(declared, "new", "old", **FAST).passed
    assert op.gate(TRUTH, CANDIDATE, written, never_true=[label], **FAST).passed
    assert assert_not_worse(TRUTH, CANDIDATE, written, never_true=[label], **FAST).passed
    with pytest.raises(AssertionError, match="withheld"):
        assert_not_worse(TRUTH, CANDIDATE, written, **FAST)


def test_a_model_that_only_gives_what_is_declared_is_that_bad():
    silent = np.full(N, "refusal")
    assert names(op.compare(TRUTH, CANDIDATE, silent, **FAST)) == ["predictions_never_match"]
    found = op.compare(TRUTH, CANDIDATE, silent, never_true=["refusal"], **FAST)
    assert found.decision is Decision.BETTER


def test_classes_named_by_the_question_are_spelled_as_they_are_meant():
    labels = ["n", "refusal", "y"]
    assert op.gate(TRUTH, CANDIDATE, REFUSING, labels=labels, **FAST).passed
    sure = op.metrics.cost({("y", "n"): 1, ("n", "y"): 1, ("y", "refusal"): 3}, name="cost")
    asked = {**FAST, "metric": sure}
    assert not names(op.gate(TRUTH, CANDIDATE, REFUSING, labels=labels, **asked))


def test_what_would_change_nothing_is_no_finding():
    few = np.where(ROWS == 0, "refusal", BASELINE)
    found = op.gate(TRUTH, CANDIDATE, few, **FAST)
    assert found.status.value == "fail"
    mine = {"spelled_otherwise", "never_true_predictions"}
    assert mine.isdisjoint(one.name for one in found.findings)


@pytest.mark.parametrize("metric", ["f1_macro", "balanced_accuracy", "f1_weighted", "cohen_kappa"])
def test_every_metric_asks(metric):
    asked = {**FAST, "metric": metric}
    assert op.gate(TRUTH, CANDIDATE, ALIKE["upper case"], **asked).status.value == "undecided"


def test_a_guard_asks_for_itself():
    seen = op.Outcomes.from_labels(TRUTH, {"new": CANDIDATE, "old": ALIKE["upper case"]})
    found = op.gate(
        seen, "new", "old", metric="specificity", pos_label="y", rope=0.3, n_draws=400,
        guards=[("recall", "y", 0.01)],
    )  # fmt: skip
    assert found.checks[1].withheld == ("spelled_otherwise",)
    assert not found.passed


# Other doors, other kinds of data, other verbs


def spans(right, kind):
    gold = [[(0, 1, "PER"), (2, 3, "LOC")] for _ in range(300)]
    return gold, [
        [
            (start, end, kind if label == "PER" else label)
            for start, end, label in document
            if (3 * number + start) % 20 < right
        ]
        for number, document in enumerate(gold)
    ]


def of_spans():
    gold, old = spans(19, "Per")
    return op.Outcomes.from_spans(gold, {"new": spans(14, "PER")[1], "old": old})


def of_sets():
    truth = [{"a"} if row % 2 else {"a", "b"} for row in range(400)]
    old = [{"A", *(one - {"a"})} if row % 20 else set() for row, one in enumerate(truth)]
    new = [one if row % 5 else set() for row, one in enumerate(truth)]
    return op.Outcomes.from_label_sets(truth, {"new": new, "old": old})


def of_pool():
    which = ROWS[::3]
    models = {"new": CANDIDATE, "old": ALIKE["upper case"]}
    return op.Outcomes.from_pool(TRUTH[which], models, which=which)


def of_counts():
    return op.Outcomes.from_counts(
        ["y", "n", "n", "y"], {"new": ["y", "n", "y", "n"], "old": ["Y", "n", "n", "Y"]},
        [400, 400, 90, 100],
    )  # fmt: skip


def of_matrices():
    new, old = [[0, 0, 0], [0, 160, 40], [0, 40, 160]], [[0, 0, 0], [10, 190, 0], [190, 0, 10]]
    return op.Outcomes.from_confusion({"new": new, "old": old}, labels=["Y", "n", "y"])


def of_groups():
    models = {"new": CANDIDATE, "old": ALIKE["upper case"]}
    return op.Outcomes.from_labels(TRUTH, models, groups=ROWS // 2)


def of_weights():
    models = {"new": CANDIDATE, "old": ALIKE["upper case"]}
    return op.Outcomes.from_labels(TRUTH, models, sample_weight=1 + ROWS % 3)


DOORS = {
    "spans": (of_spans, "f1"),
    "spans, macro": (of_spans, "f1_macro"),
    "spans one by one": (lambda: of_spans().ungroup(), "f1"),
    "label sets": (of_sets, "f1_micro"),
    "label sets, whole": (of_sets, "accuracy"),
    "a pool": (of_pool, "accuracy"),
    "counts": (of_counts, "accuracy"),
    "matrices": (of_matrices, "accuracy"),
    "groups": (of_groups, "accuracy"),
    "weights": (of_weights, "accuracy"),
}


@each(("made", "metric"), DOORS.values(), ids=DOORS)
def test_every_kind_of_outcomes_asks(made, metric):
    found = op.gate(made(), "new", "old", **{**FAST, "metric": metric})
    assert found.main.observed > 0.01
    assert found.status.value == "undecided"
    assert "spelled_otherwise" in names(found)


@each(
    ("truth", "written"),
    [
        (["1", "0"], {"1": "1.0"}),
        (["1", "0"], {"1": "LABEL_1"}),
        (["1", "0"], {"0": "-1"}),
        ([1, 0], {0: -1}),
        (["True", "False"], {"True": "true"}),
        (["positive", "negative"], {"positive": "pos"}),
        (["hate speech", "none"], {"hate speech": "Hate_Speech"}),
        (["caf\u00e9", "bar"], {"caf\u00e9": "cafe\u0301"}),
    ],
)
def test_known_spellings(truth, written):
    true = np.array(truth * 300, dtype=object)
    old = [written.get(one, one) for one in true]
    new = [truth[(place + (place % 10 < 3)) % 2] for place in range(len(true))]
    found = op.gate(true, new, old, **FAST)
    assert found.status.value == "undecided"
    assert names(found) == ["spelled_otherwise"]


def test_numbers_and_truth_values_of_other_types_are_one_class_or_refused():
    true, old = [1, 0] * 300, ["1", "0"] * 300
    assert op.gate(true, [1, 1] * 300, old, **FAST).status.value == "fail"
    assert op.gate(true, [1, 1] * 300, [1.0, 0.0] * 300, **FAST).status.value == "fail"
    assert op.gate(true, [1, 1] * 300, [True, False] * 300, **FAST).status.value == "fail"
    for other in (["1.0", "0.0"] * 300, ["yes", "no"] * 300):
        with pytest.raises(DataError):
            op.gate(true, [1, 1] * 300, other, **FAST)
    with pytest.raises(DataError, match="True/False"):
        op.gate([True, False] * 300, [True, True] * 300, ["True", "False"] * 300, **FAST)


def test_tasks_runs_slices_and_looks_ask(tmp_path):
    old = ALIKE["a quarter in capitals"]
    seen = op.Outcomes.from_labels(TRUTH, {"new": CANDIDATE, "old": old})
    plain = op.Outcomes.from_labels(TRUTH, {"new": BASELINE, "old": CANDIDATE})
    suite = op.Suite({"one": seen, "two": plain}, metrics="accuracy", ropes=0.01)
    gate = op.gate(suite, "new", "old", n_draws=400)
    assert [check.status.value for check in gate.checks] == ["undecided", "pass"]
    gate = op.gate(suite, "new", "old", policy={"one": 0.02, "two": "advisory"}, n_draws=400)
    assert gate.status.value == "undecided"
    whole = op.compare(suite, "new", "old", n_draws=400, random_state=0)
    assert whole.decision is Decision.UNDECIDED
    runs = op.compare_runs(TRUTH, {"a": CANDIDATE}, {"b": old, "c": BASELINE}, **FAST)
    assert "spelled_otherwise" in names(runs)
    assert runs.with_rope(0.02).decision is Decision.UNDECIDED
    by = {"part": np.where(ROWS % 4 == 0, "spelled", "plain")}
    divided = op.Outcomes.from_labels(TRUTH, {"new": CANDIDATE, "old": old}, by=by)
    slices = op.compare_slices(divided, "new", "old", **FAST)
    decisions = {row.key[0]: row.decision for row in slices.rows}
    assert decisions == {"plain": Decision.WORSE, "spelled": Decision.UNDECIDED}
    assert "spelled_otherwise" in names(slices)
    asked = {"metric": "accuracy", "rope": 0.01, "n_draws": 400}
    monitor = op.Monitor(tmp_path, "new", "old", **asked)
    monitor.add(seen, key="Mon")
    assert monitor.looks[0].decision is Decision.UNDECIDED
    assert monitor.looks[0].status.value == "undecided"
    declared = op.Monitor(tmp_path, "new", "old", never_true=["N", "Y"], **asked)
    assert declared.looks[0].decision is Decision.BETTER
    assert "spelled_otherwise" not in {one.name for one in declared.findings}


def test_a_ratio_and_two_metrics_at_once_are_withheld_too():
    seen = op.Outcomes.from_labels(TRUTH, {"new": CANDIDATE, "old": ALIKE["upper case"]})
    card = op.scorecard(
        seen, "new", "old", metrics=["accuracy", "f1_macro"], rope=0.01, n_draws=400,
        random_state=0,
    )  # fmt: skip
    assert card["accuracy"].ratio(rope=0.01).decision is Decision.UNDECIDED
    assert card.joint("accuracy", "f1_macro").decision == "undecided"


def test_a_ranking_withholds_pairs_and_an_estimate_warns():
    models = {"new": CANDIDATE, "old": ALIKE["another word"], "other": BASELINE}
    seen = op.Outcomes.from_labels(TRUTH, models)
    ranking = op.rank(seen, **FAST)
    assert "spelled_otherwise" in names(ranking, "serious")
    assert ranking.pair("new", "old").decision.symbol == "?"
    asked = {"metric": "accuracy", "n_draws": 400, "random_state": 0}
    assert "spelled_otherwise" in names(op.estimate(seen, "old", **asked), "warning")


# The parts


def test_as_right_is_the_truth_in_place_of_the_prediction():
    generator = np.random.default_rng(1)
    for _ in range(20):
        truth = generator.choice(["a", "b"], 60)
        one, two = generator.choice(["a", "b", "X", "Z"], (2, 60))
        seen = op.Outcomes.from_labels(truth, {"one": one, "two": two}, groups=np.arange(60) // 3)
        places = {label: code for code, label in enumerate(seen.labels)}
        right = taken_as_right(seen, {1: {places["X"]: None, places["Z"]: None}})
        expected = np.where(np.isin(two, ["X", "Z"]), truth, two)
        again = op.Outcomes.from_labels(
            truth, {"one": one, "two": expected}, groups=np.arange(60) // 3, labels=seen.labels
        )
        assert right == again


def test_as_right_spans_are_matched_within_their_document():
    gold = [[(0, 1, "PER")], [(0, 1, "PER")], []]
    model = [[(0, 1, "per")], [], [(0, 1, "per")]]
    seen = op.Outcomes.from_spans(gold, {"m": model})
    right = taken_as_right(seen, {0: {seen.labels.index("per"): seen.labels.index("PER")}})
    margins = right.margins("m")
    assert margins.hits.tolist() == [1, 0]
    assert margins.actual.tolist() == [2, 0]
    assert margins.predicted.tolist() == [1, 1], "the one of the third document stays"
    assert json.loads(right.to_json()), "what is stored is checked"


@each(
    ("one", "other"),
    [("A", "a"), (" a", "a"), ("(b)", "B"), ("hate-speech", "hate speech"), ("1.0", "01"),
     ("LABEL_2", "2"), ("\u2460", "1"), ("cafe\u0301", "CAF\u00c9")],
)  # fmt: skip
def test_spellings_of_one_class(one, other):
    assert spelling(one) == spelling(other)


@each(
    ("one", "other"),
    [("C", "C++"), ("C", "C#"), ("1", "-1"), ("1", "11"), ("1 1", "11"), ("1-2", "12"), ("a", "ab"),
     (".", ","), ("''", "``"), ("PRP", "PRP$")],
)  # fmt: skip
def test_other_classes(one, other):
    assert spelling(one) != spelling(other)
    assert Spellings([other]).like(one) is None or {one, other} <= {"1", "-1"}


def test_a_true_class_cannot_be_declared():
    with pytest.raises(DataError, match="never_true contains 'y', which is the true class"):
        op.gate(TRUTH, CANDIDATE, BASELINE, never_true=["y"], **FAST)
    seen = op.Outcomes.from_labels(TRUTH, {"m": REFUSING}, never_true=["refusal"])
    with pytest.raises(DataError, match="refusal"):
        seen + op.Outcomes.from_labels(["refusal"], {"m": ["y"]})
    with pytest.raises(UsageError, match="must be a list of classes"):
        seen.with_never_true("refusal")
    with pytest.raises(DataError, match="never_true must have the type of the labels"):
        seen.with_never_true([1])
    with pytest.raises(UsageError, match="with_never_true before building the suite"):
        op.gate(op.Suite({"t": seen}), "m", "m", never_true=["refusal"])
    scores = op.Scores.from_values({"a": [0.5, 1.0], "b": [0.2, 0.1]})
    with pytest.raises(UsageError, match="applies to labels, but these are scores"):
        op.compare(scores, "a", "b", metric="mean", never_true=["x"])
