"""Classes that are never true: what ``labels`` means to every metric, and what a gate may say."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError
from tests.lazily import lazily
from tests.loops import each

sk = lazily("sklearn.metrics")

GENERATOR = np.random.default_rng(0)
N = 300
TWO, THREE = (GENERATOR.integers(0, n, N) for n in (2, 3))
FAST = {"n_draws": 200, "random_state": 0, "rope": 0.01}


def noisy(truth, right, n):
    return np.where(GENERATOR.random(N) < right, truth, GENERATOR.integers(0, n, N))


A2, B2, A3, B3 = noisy(TWO, 0.9, 2), noisy(TWO, 0.8, 2), noisy(THREE, 0.9, 3), noisy(THREE, 0.8, 3)
CHOICES = [[0, 1, 2], [0, 1], [1], [0, 1, 2, 3]]
SCORES = {"precision": sk.precision_score, "recall": sk.recall_score, "f1": sk.f1_score,
          "jaccard": sk.jaccard_score}  # fmt: skip


def value(metric, labels, truth=THREE, a=A3, b=B3):
    return op.compare(truth, a, b, metric=metric, labels=labels, **FAST).a.observed


@each("labels", CHOICES, ids=str)
@each("average", ["macro", "micro", "weighted"])
@each("score", SCORES)
def test_averages_run_over_labels_as_in_scikit_learn(score, average, labels):
    asked = {"labels": labels, "average": average, "zero_division": 0}
    expected = SCORES[score](THREE, A3, **asked)
    assert value(f"{score}_{average}", labels) == pytest.approx(expected, abs=1e-12)


@each("labels", [*CHOICES, None], ids=str)
def test_balanced_accuracy_is_the_macro_recall_of_the_same_labels(labels):
    one, two = (
        op.compare(THREE, A3, B3, metric=metric, labels=labels, **FAST)
        for metric in ("balanced_accuracy", "recall_macro")
    )
    assert np.array_equal(one.draws, two.draws)
    assert np.array_equal(one.a.draws, two.a.draws)
    assert (one.hdi, one.mean, one.observed) == (two.hdi, two.mean, two.observed)
    assert one.findings == two.findings
    assert ("class_without_truth" in {f.name for f in one.findings}) is (labels == [0, 1, 2, 3])


@pytest.mark.parametrize("labels", CHOICES, ids=str)
def test_metrics_of_the_whole_table_average_over_no_classes(labels):
    assert value("accuracy", labels) == sk.accuracy_score(THREE, A3)
    for metric, own in (
        ("matthews_corrcoef", sk.matthews_corrcoef),
        ("cohen_kappa", sk.cohen_kappa_score),
    ):
        assert value(metric, labels) == pytest.approx(own(THREE, A3), abs=1e-12)
    cost = op.metrics.cost({(0, 1): 1, (1, 0): 2}, name="cost")
    assert value(cost, labels) == value(cost, None)


def test_levels_are_in_the_order_of_labels_which_name_them_all():
    for metric in ("cohen_kappa_linear", "cohen_kappa_quadratic", "ordinal_mae"):
        assert value(metric, [0, 1, 2]) == value(metric, None)
        assert value(metric, [0, 2, 1]) != value(metric, None)
        with pytest.raises(UsageError, match="must include every level"):
            value(metric, [1])


@each("metric", ["f1", "precision", "recall", "jaccard", "informedness"])
def test_a_metric_of_one_class_refuses_labels_without_it(metric):
    two = {"truth": TWO, "a": A2, "b": B2}
    assert value(metric, [1], **two) == value(metric, [0, 1], **two) == value(metric, None, **two)
    with pytest.raises(UsageError, match=r"is for one class, 1, which labels omits; .*pos_lab"):
        value(metric, [0], **two)
    # Over one class the average is the value of that class.
    assert value(f"{metric}_macro", [1], **two) == pytest.approx(value(metric, None, **two))


def test_label_sets_are_cut_to_labels():
    truth = [{0, 2} if one else {1} for one in TWO]
    a = [{0, 2} if one else {1, 2} for one in A2]
    b = [{0} if one else {1} for one in B2]
    cut = [[one & {0, 1} for one in column] for column in (truth, a, b)]
    for metric in ("f1_macro", "f1_micro", "f1_weighted", "f1_samples", "hamming_loss", "accuracy"):
        over = op.compare(truth, a, b, metric=metric, labels=[0, 1], **FAST).observed
        own = op.compare(*cut, metric=metric, **FAST).observed
        assert over == pytest.approx(own, abs=1e-12), metric


# Gates

NONE = np.zeros(2000, dtype=int)
FALSE_ALARMS = (
    np.where(np.arange(2000) < 10, 1, NONE),
    np.where(np.arange(2000) % 200 == 7, 1, NONE),
)
ASKED = {"rope": 0.01, "n_draws": 400}
DEPEND = ("balanced_accuracy", "recall_macro", "f1_macro", "precision_macro", "jaccard_macro",
          "informedness_macro", "specificity_macro", "f1", "precision", "recall", "informedness",
          "matthews_corrcoef", "cohen_kappa", "cohen_kappa_linear")  # fmt: skip


@each("labels", [None, [0, 1]], ids=str)
@each("metric", DEPEND)
def test_no_gate_opens_without_a_single_positive(metric, labels):
    found = op.gate(NONE, *FALSE_ALARMS, metric=metric, labels=labels, **ASKED)
    assert found.status.value == "undecided"
    assert not found.can_allow
    serious = {one.name for one in found.findings if one.level == "serious"}
    assert serious & {"class_without_truth", "nothing_observed"}


@pytest.mark.parametrize("metric", ["accuracy", "specificity"])
def test_what_needs_no_positives_is_judged(metric):
    assert op.gate(NONE, *FALSE_ALARMS, metric=metric, labels=[0, 1], **ASKED).passed


def test_a_named_class_that_is_never_true_withholds_the_averages_over_it():
    for metric, judged in (("f1_macro", False), ("balanced_accuracy", False), ("accuracy", True)):
        found = op.gate(TWO, A2, B2, metric=metric, labels=[0, 1, 2], **ASKED)
        serious = [one.name for one in found.findings if one.level == "serious"]
        assert serious == ([] if judged else ["class_without_truth"])
    assert not any(
        one.level == "serious" for one in op.gate(TWO, A2, B2, metric="f1_macro", **ASKED).findings
    )


def test_without_a_single_negative_precision_says_nothing():
    every = 1 - NONE
    models = [1 - one for one in FALSE_ALARMS]
    for metric in ("precision", "specificity", "informedness"):
        assert not op.gate(every, *models, metric=metric, **ASKED).passed
    assert op.gate(every, *models, metric="recall", **ASKED).passed


def test_a_share_of_a_class_that_nobody_saw_withholds_every_metric():
    models = {"new": FALSE_ALARMS[0], "old": FALSE_ALARMS[1]}
    seen = op.Outcomes.from_labels(NONE, models, labels=[0, 1])
    there = seen.at_prevalence({1: 0.02, 0: 0.98})
    for metric in ("accuracy", "precision", "balanced_accuracy"):
        found = op.gate(there, "new", "old", metric=metric, **ASKED)
        assert found.status.value == "undecided"
        assert any(one.level == "serious" for one in found.findings)


def test_a_guard_and_a_task_and_a_look_without_the_class(tmp_path):
    seen = op.Outcomes.from_labels(NONE, dict(zip(("new", "old"), FALSE_ALARMS, strict=True)))
    guarded = op.gate(seen, "new", "old", metric="accuracy", guards=[("f1", 1, 0.1)], **ASKED)
    assert [check.status.value for check in guarded.checks] == ["pass", "undecided"]
    suite = op.Suite({"t": seen}, metrics="balanced_accuracy", ropes=0.01)
    assert not op.gate(suite, "new", "old", n_draws=400).passed
    monitor = op.Monitor(tmp_path, "new", "old", metric="balanced_accuracy", rope=0.01, n_draws=400)
    monitor.add(seen, key=1)
    assert monitor.looks[0].status.value == "undecided"


def test_a_rare_class_passes_no_gate_by_its_absence():
    generator, passed = np.random.default_rng(3), 0
    for number in range(40):
        truth = (generator.random(1500) < 0.001).astype(int)
        a, b = (
            np.where(truth == 1, generator.random(1500) < recall, generator.random(1500) < 0.01)
            for recall in (0.6, 0.8)
        )
        if truth.any():
            continue
        found = op.gate(
            truth, a.astype(int), b.astype(int), metric="balanced_accuracy", rope=0.01,
            n_draws=200, random_state=number,
        )  # fmt: skip
        passed += found.passed
        assert "class_without_truth" in {one.name for one in found.findings}
    assert passed == 0


def test_a_comparison_and_a_scorecard_warn():
    found = op.compare(NONE, *FALSE_ALARMS, metric="balanced_accuracy", labels=[0, 1], **FAST)
    levels = {one.name: one.level for one in found.findings}
    assert levels["class_without_truth"] == "warning"
    card = op.scorecard(NONE, *FALSE_ALARMS, metrics=["balanced_accuracy", "recall"], **FAST)
    for row in card.to_markdown().splitlines()[-2:]:
        assert "class" in row
        assert "without" in row


def test_one_class_and_not_one_error_leave_no_weight_behind():
    models = dict.fromkeys(("x", "y"), ["a"] * 20)
    seen = op.Outcomes.from_labels(["a"] * 20, models, labels=["a", "b", "c"])
    found = op.compare(seen, "x", "y", metric=lambda table: table.sum(), n_draws=200, rope=0.01)
    assert found.a.draws == pytest.approx(np.ones(200))
