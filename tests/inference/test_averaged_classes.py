"""Averages over classes: over those that are ever true, or named; the same in every number."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import outperform as op
from outperform.inference import views
from outperform.inference.spec import make_spec
from tests.lazily import lazily
from tests.loops import each

sk = lazily("sklearn.metrics")

FAST = {"n_draws": 400, "random_state": 0, "rope": 0.01}
CLASSES = np.array(["a", "b", "c", "d"])
OF_CLASSES = {
    "f1_macro": lambda y, p, labels: sk.f1_score(
        y, p, labels=labels, average="macro", zero_division=0
    ),
    "f2_macro": lambda y, p, labels: sk.fbeta_score(
        y, p, beta=2, labels=labels, average="macro", zero_division=0
    ),
    "precision_macro": lambda y, p, labels: sk.precision_score(
        y, p, labels=labels, average="macro", zero_division=0
    ),
    "recall_macro": lambda y, p, labels: sk.recall_score(
        y, p, labels=labels, average="macro", zero_division=0
    ),
    "jaccard_macro": lambda y, p, labels: sk.jaccard_score(
        y, p, labels=labels, average="macro", zero_division=0
    ),
    "f1_weighted": lambda y, p, labels: sk.f1_score(
        y, p, labels=labels, average="weighted", zero_division=0
    ),
    "f1_micro": lambda y, p, labels: sk.accuracy_score(y, p),
    "balanced_accuracy": lambda y, p, labels: sk.balanced_accuracy_score(y, p),
}


def _noisy(truth, right, generator, others=CLASSES):
    wrong = generator.choice(others, truth.size)
    return np.where(generator.random(truth.size) < right, truth, wrong)


def _observed(seen, metric, labels=None):
    given = {"prior": None, "paired": True}
    return make_spec(seen, metric=metric, labels=labels, **given).observed


def _random_table(seed):
    """Return a truth without some classes, and two models of which one invents others."""
    generator = np.random.default_rng(seed)
    some = generator.choice(CLASSES, generator.integers(1, 4), replace=False)
    truth = generator.choice(some, 60)
    others = np.append(CLASSES, ["none of these"])
    return truth, _noisy(truth, 0.6, generator, others), _noisy(truth, 0.7, generator)


def _invents(n=1_000):
    """Return a truth, a model, the same with 1% refusals, and an untouched one."""
    generator = np.random.default_rng(0)
    truth = generator.choice(CLASSES[:3], n)
    new, old = (
        _noisy(truth, 0.93, generator, CLASSES[:3]),
        _noisy(truth, 0.86, generator, CLASSES[:3]),
    )
    refusing = np.where(generator.random(n) < 0.01, "I cannot answer", new)
    return truth, new, refusing, old


@each("metric", OF_CLASSES)
def test_what_is_observed_is_scikit_learns_over_the_true_classes(metric):
    for seed in range(25):
        truth, a, b = _random_table(seed)
        seen = op.Outcomes.from_labels(truth, {"a": a, "b": b})
        if seen.n_classes < 2:
            continue
        target = np.unique(truth)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = [OF_CLASSES[metric](truth, one, target) for one in (a, b)]
        assert _observed(seen, metric) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", ["f1_macro", "precision_macro", "jaccard_macro"])
def test_labels_decide_and_then_it_is_scikit_learns_over_these(metric):
    for seed in range(10):
        truth, a, b = _random_table(seed)
        labels = [*CLASSES, "none of these"]
        seen = op.Outcomes.from_labels(truth, {"a": a, "b": b})
        expected = [OF_CLASSES[metric](truth, one, labels) for one in (a, b)]
        assert _observed(seen, metric, labels) == pytest.approx(expected, abs=1e-12)
    found = op.compare(truth, a, b, metric=metric, labels=labels, **FAST)
    assert found.a.observed == pytest.approx(expected[0], abs=1e-12)
    assert "predicted_never_true" not in {one.name for one in found.findings}


def test_a_class_that_one_model_invents_does_not_come_back_into_the_average():
    truth, a = ["x"] * 9 + ["y"] * 9, ["x"] * 8 + ["z"] + ["y"] * 9
    found = op.compare(truth, a, truth, metric="f1_macro", **FAST)
    assert found.a.observed == pytest.approx((16 / 17 + 1) / 2)
    assert found.b.observed == 1.0


def test_the_oracle_sees_predicted_classes_that_come_back(monkeypatch):
    truth, _, refusing, old = _invents(300)
    expected = OF_CLASSES["f1_macro"](truth, refusing, ["a", "b", "c"])
    monkeypatch.setattr(views, "true_codes", lambda seen: np.arange(seen.n_classes))
    found = op.compare(truth, refusing, old, metric="f1_macro", **FAST)
    assert expected - found.a.observed > 0.2


@each("prior", ["unit", "bootstrap", "hierarchical"])
@each("metric", ["f1_macro", "balanced_accuracy", "recall_macro", "f1_weighted"])
def test_the_untouched_model_stays_where_it_was(metric, prior):
    truth, new, refusing, old = _invents()
    shared = {"metric": metric, "prior": prior, **FAST, "n_draws": 4_000}
    before = op.compare(truth, new, old, **shared)
    after = op.compare(truth, refusing, old, **shared)
    assert after.b.observed == before.b.observed
    assert abs(after.b.mean - before.b.mean) < 0.1 * before.b.sd
    assert after.b.sd == pytest.approx(before.b.sd, rel=0.1)
    assert abs(after.a.mean - after.a.observed) < 0.5 * after.a.sd
    assert abs(after.mean - after.observed) < 0.25 * after.sd


def test_one_percent_of_refusals_costs_about_one_percent():
    truth, new, refusing, old = _invents()
    before = op.compare(truth, new, old, metric="f1_macro", **FAST)
    after = op.compare(truth, refusing, old, metric="f1_macro", **FAST)
    assert 0 < before.a.observed - after.a.observed < 0.011
    assert after.p_better > 0.9


def test_without_labels_and_with_the_true_ones_is_the_same_question():
    truth, _, refusing, old = _invents(300)
    free = op.compare(truth, refusing, old, metric="f1_macro", **FAST)
    named = op.compare(truth, refusing, old, metric="f1_macro", labels=["a", "b", "c"], **FAST)
    assert np.array_equal(free.draws, named.draws)
    assert (free.observed, free.mean) == (named.observed, named.mean)


def test_a_finding_gives_what_scikit_learn_prints_without_labels():
    truth, _, refusing, old = _invents(300)
    found = op.compare(truth, refusing, old, metric="f1_macro", names=("new", "old"), **FAST)
    (said,) = (one for one in found.findings if one.name == "predicted_never_true")
    assert said.level == "warning"
    for name, predicted in (("new", refusing), ("old", old)):
        assert f"{sk.f1_score(truth, predicted, average='macro'):.4f} for {name}" in said.message
    assert "'I cannot answer'" in said.message
    assert said.parameter == "labels"


def test_where_scikit_learn_agrees_the_class_is_named_as_never_true():
    truth, _, refusing, old = _invents(300)
    found = op.compare(truth, refusing, old, metric="balanced_accuracy", **FAST)
    about = {one.name: one.level for one in found.findings}
    assert "predicted_never_true" not in about
    assert about["class_without_truth"] == "warning"


def test_estimate_rank_scorecard_and_runs_average_over_the_same_classes():
    truth, new, refusing, old = _invents(300)
    expected = OF_CLASSES["f1_macro"](truth, refusing, ["a", "b", "c"])
    alone = op.estimate(truth, refusing, metric="f1_macro", n_draws=400, random_state=0)
    assert alone.observed == pytest.approx(expected)
    assert abs(alone.mean - expected) < 0.5 * alone.sd
    ranking = op.rank(truth, {"new": refusing, "old": old}, metric="f1_macro", **FAST)
    assert {row.name: row.observed for row in ranking.rows}["new"] == pytest.approx(expected)
    (card,) = op.scorecard(truth, refusing, old, metrics=["f1_macro"], **FAST)
    assert card.a.observed == pytest.approx(expected)
    runs = op.compare_runs(truth, [refusing, new], [old, old], metric="f1_macro", **FAST)
    assert runs.a.details.run_values[0] == pytest.approx(expected)
    assert abs(runs.b.mean - runs.b.observed) < 0.5 * runs.b.sd


def test_by_class_has_a_row_for_every_class_that_is_true_or_named():
    truth, _, refusing, old = _invents(300)
    found = op.compare(truth, refusing, old, metric="f1_macro", **FAST)
    assert found.by_class().keys == ("a", "b", "c")
    labels = ["a", "b", "c", "I cannot answer"]
    named = op.compare(truth, refusing, old, metric="f1_macro", labels=labels, **FAST)
    assert named.by_class().keys == ("I cannot answer", "a", "b", "c")


def test_slices_observe_the_classes_that_are_true_in_them():
    truth, _, refusing, old = _invents(300)
    where = np.where(truth == "c", "one", np.where(np.arange(300) % 2 == 0, "one", "two"))
    seen = op.Outcomes.from_labels(truth, {"new": refusing, "old": old}, by={"where": where})
    slices = op.compare_slices(seen, "new", "old", metric="f1_macro", **FAST)
    for row in slices.rows:
        here = where == row.key[0]
        target = np.unique(truth[here])
        assert row.observed_a == pytest.approx(
            OF_CLASSES["f1_macro"](truth[here], refusing[here], target)
        )
    assert slices.whole.a.observed == pytest.approx(
        OF_CLASSES["f1_macro"](truth, refusing, ["a", "b", "c"])
    )


def test_a_class_that_has_a_share_elsewhere_is_averaged_over():
    truth, a, b = ["x", "y"] * 30, ["x", "y"] * 28 + ["z"] * 4, ["x", "y"] * 25 + ["y"] * 10
    plain = op.compare(truth, a, b, metric="f1_macro", **FAST)
    assert plain.spec.classes == (0, 1)
    shares = {"x": 0.4, "y": 0.4, "z": 0.2}
    there = plain.at_prevalence(shares)
    assert there.spec.classes is None
    same = plain.at_prevalence({"x": 0.4, "y": 0.6})
    assert same.spec.classes == (0, 1)
    assert np.isfinite(same.observed)


# Spans and label sets

GOLD = [["B-PER", "O"]] * 200
MISSING = [["O", "O"]] * 40 + [["B-PER", "O"]] * 160
INVENTING = [["B-PER", "O"]] * 199 + [["B-PER", "B-FOO"]]


@pytest.mark.parametrize("labels", [None, ["PER"]])
def test_spans_of_an_invented_type_leave_one_target_for_all_numbers(labels):
    seen = op.Outcomes.from_tags(GOLD, {"a": MISSING, "b": INVENTING}, scheme="IOB2")
    found = op.compare(seen, "a", "b", metric="f1_macro", labels=labels, **FAST)
    assert found.observed == pytest.approx(2 * 160 / (160 + 200) - 1)
    assert found.mean == pytest.approx(found.observed, abs=0.01)
    assert found.decision.symbol == "≪"
    assert "prior_pull" not in {one.name for one in found.findings}


def test_an_invented_type_that_is_named_counts():
    seen = op.Outcomes.from_tags(GOLD, {"a": MISSING, "b": INVENTING}, scheme="IOB2")
    found = op.compare(seen, "a", "b", metric="f1_macro", labels=["PER", "FOO"], **FAST)
    assert found.b.observed == pytest.approx(0.5)
    assert found.a.observed == pytest.approx(160 / 360)


@pytest.mark.parametrize("metric", ["f1_macro", "precision_macro", "jaccard_macro", "f1_weighted"])
def test_label_sets_average_over_the_labels_that_are_ever_true(metric):
    for seed in range(10):
        generator = np.random.default_rng(seed)
        truth = (generator.random((60, 4)) < 0.3).astype(int)
        truth[:, generator.integers(4)] = 0
        a, b = ((truth ^ (generator.random((60, 4)) < 0.1)).astype(int) for _ in range(2))
        seen = op.Outcomes.from_label_sets(truth, {"a": a, "b": b})
        target = np.flatnonzero(truth.any(axis=0))
        expected = [OF_CLASSES[metric](truth, one, target) for one in (a, b)]
        assert _observed(seen, metric) == pytest.approx(expected, abs=1e-12)
        expected = [OF_CLASSES[metric](truth, one, None) for one in (a, b)]
        assert _observed(seen, metric, [0, 1, 2, 3]) == pytest.approx(expected, abs=1e-12)
    found = op.compare(seen, "a", "b", metric=metric, **FAST)
    assert abs(found.mean - found.observed) < 0.5 * found.sd


def test_sets_with_an_invented_label():
    truth = [{"x"}, {"y"}, {"x", "y"}] * 20
    inventing = [{"x"}, {"y", "z"}, {"x", "y"}] * 20
    found = op.compare(truth, inventing, truth, metric="f1_macro", **FAST)
    assert found.observed == 0.0
    assert found.b.observed == 1.0
    assert "predicted_never_true" in {one.name for one in found.findings}


def test_a_truth_without_any_span_averages_over_all_types():
    seen = op.Outcomes.from_tags(
        [["O"]] * 30, {"a": [["B-X"]] * 30, "b": [["O"]] * 30}, scheme="IOB2"
    )
    found = op.compare(seen, "a", "b", metric="f1_macro", **FAST)
    assert found.observed == 0.0
