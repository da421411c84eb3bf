"""Groups of items: one weight each in compare, estimate, scorecard and gate; coverage."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform import Outcomes
from outperform.errors import DataError, UsageError
from tests.loops import each

OPTIONS = {"rope": 0.01, "n_draws": 4_000, "random_state": 1}


def clustered(rng, sizes, *, p_a=0.75, p_b=0.7, correlation=0.3):
    """Right and wrong answers of two models; those of one group are correlated."""
    mass = 1 / correlation - 1
    group = np.repeat(np.arange(len(sizes)), sizes)
    own_a = rng.beta(p_a * mass, (1 - p_a) * mass, len(sizes))[group]
    own_b = rng.beta(p_b * mass, (1 - p_b) * mass, len(sizes))[group]
    luck = rng.random(len(group))
    other = np.where(rng.random(len(group)) < 0.5, luck, rng.random(len(group)))
    return group, luck < own_a, other < own_b


def labelled(rng, n=600, n_groups=40):
    """Three classes, two models, groups of about fifteen items."""
    truth = rng.choice(list("xyz"), n)
    models = {
        name: np.where(rng.random(n) < right, truth, rng.choice(list("xyz"), n))
        for name, right in (("a", 0.8), ("b", 0.6))
    }
    return truth, models, rng.integers(0, n_groups, n)


@pytest.fixture(scope="module")
def correct():
    group, a, b = clustered(np.random.default_rng(3), np.full(50, 20))
    return Outcomes.from_correct({"a": a, "b": b}, groups=group)


@pytest.fixture(scope="module")
def classes():
    truth, models, group = labelled(np.random.default_rng(4))
    return Outcomes.from_labels(truth, models, groups=group)


# What groups are


def test_items_are_counted_and_groups_kept(correct, classes):
    assert (correct.n, correct.groups.n) == (1_000, 50)
    assert (classes.n, classes.groups.n) == (600, 40)
    assert repr(correct).endswith("kind='correct', groups=50)")
    assert correct.ungroup().groups is None


@pytest.mark.parametrize("kind", ["correct", "classes"])
def test_they_add_up_and_come_back_from_json(kind, request):
    seen = request.getfixturevalue(kind)
    assert Outcomes.from_json(seen.to_json()) == seen
    twice = seen + seen
    assert (twice.n, twice.groups.n) == (2 * seen.n, 2 * seen.groups.n)
    assert Outcomes.from_json(twice.to_json()) == twice
    with pytest.raises(UsageError, match="with and without groups cannot be added"):
        seen + seen.ungroup()


def test_counts_count_a_row_as_often():
    truth, models, group = labelled(np.random.default_rng(5), n=60, n_groups=8)
    weights = np.random.default_rng(6).integers(0, 4, 60)
    often = {name: np.repeat(values, weights) for name, values in models.items()}
    repeated = Outcomes.from_labels(
        np.repeat(truth, weights), often, groups=np.repeat(group, weights)
    )
    assert Outcomes.from_counts(truth, models, weights, groups=group) == repeated


def test_a_group_of_nothing_is_no_group():
    groups = ["x", "x", "y"]
    seen = Outcomes.from_labels([1, 0, 1], {"m": [1, 0, 0]}, sample_weight=[1, 2, 0], groups=groups)
    assert seen.groups.n == 1


@each(
    ("groups", "message"),
    [
        ([1, 2], "one group per item; got 2 groups for 3 items"),
        ("abc", "must be a list with the group of each item"),
        (["a", None, "a"], r"1 items have no group, the first in row 1"),
        (np.array([1.0, 1.0, np.nan]), r"1 items have no group, the first in row 2"),
        ([["a"], ["b"], ["c"]], "groups must be names or numbers"),
    ],
)
def test_bad_groups_are_refused(groups, message):
    with pytest.raises(DataError, match=message):
        Outcomes.from_correct({"m": [1, 0, 1]}, groups=groups)


# What they do


def test_the_bootstrap_over_groups_is_the_default(correct, classes):
    for seen, metric in ((correct, "accuracy"), (classes, "f1_macro"), (classes, "accuracy")):
        assert op.compare(seen, "a", "b", metric=metric, **OPTIONS).spec.prior.name == ("bootstrap")
    card = op.scorecard(classes, "a", "b", metrics=["accuracy", "f1_macro"], **OPTIONS)
    assert {one.spec.prior.name for one in card} == {"bootstrap"}
    alone = op.estimate(correct, "a", metric="accuracy", n_draws=1_000, random_state=0)
    assert alone.spec.prior.name == "bootstrap"
    found = op.gate(correct, "a", "b", metric="accuracy", **OPTIONS)
    assert found.main.spec.prior.name == "bootstrap"


def test_without_groups_everything_is_as_before(classes):
    truth, models, _ = labelled(np.random.default_rng(4))
    plain = Outcomes.from_labels(truth, models)
    assert classes.ungroup() == plain
    one = op.compare(classes.ungroup(), "a", "b", metric="f1_macro", **OPTIONS)
    two = op.compare(plain, "a", "b", metric="f1_macro", **OPTIONS)
    assert one.spec.prior.name == "learned"
    assert np.array_equal(one.draws, two.draws)


@pytest.mark.usefixtures("plain_weights")
def test_the_spread_is_that_of_group_means():
    """With equal sizes the Bayesian bootstrap has variance Σ (d_g − d̄)² / (G (G + 1))."""
    group, a, b = clustered(np.random.default_rng(7), np.full(60, 12))
    means = (a.astype(float) - b).reshape(60, 12).mean(axis=1)
    c = op.compare(
        Outcomes.from_correct({"a": a, "b": b}, groups=group),
        "a", "b", metric="accuracy", rope=0.01, n_draws=40_000, random_state=2,
    )  # fmt: skip
    sd = np.sqrt(np.square(means - means.mean()).sum() / (60 * 61))
    assert c.observed == pytest.approx(means.mean())
    assert c.mean == pytest.approx(means.mean(), abs=5 * sd / 200)
    assert c.sd == pytest.approx(sd, rel=5 / np.sqrt(2 * 40_000))


@pytest.mark.usefixtures("plain_weights")
@pytest.mark.parametrize("metric", ["accuracy", "f1_macro", "matthews_corrcoef"])
def test_items_that_are_copied_say_nothing_new(metric):
    truth, models, _ = labelled(np.random.default_rng(8), n=200)
    copies = {name: np.repeat(values, 5) for name, values in models.items()}
    grouped = Outcomes.from_labels(np.repeat(truth, 5), copies, groups=np.repeat(range(200), 5))
    once = Outcomes.from_labels(truth, models)
    c = op.compare(grouped, "a", "b", metric=metric, **OPTIONS)
    d = op.compare(once, "a", "b", metric=metric, prior="bootstrap", **OPTIONS)
    assert np.allclose(c.draws, d.draws, atol=1e-12)
    naive = op.compare(grouped.ungroup(), "a", "b", metric=metric, prior="bootstrap", **OPTIONS)
    assert naive.sd < 0.6 * c.sd


def test_which_answers_of_a_group_meet_makes_no_difference():
    group, a, b = clustered(np.random.default_rng(10), np.full(50, 8))
    order = np.random.default_rng(11).permuted(np.arange(400).reshape(50, 8), axis=1).ravel()
    one, two = (
        op.compare(
            Outcomes.from_correct({"a": a, "b": other}, groups=group),
            "a", "b", metric="accuracy", rope=0.01, n_draws=40_000, random_state=3,
        )
        for other in (b, b[order])
    )  # fmt: skip
    assert one.observed == two.observed
    assert one.mean == pytest.approx(two.mean, abs=7 * one.sd / 200)
    assert one.sd == pytest.approx(two.sd, rel=7 / np.sqrt(2 * 40_000))


def test_one_class_against_the_rest_keeps_the_groups(classes):
    c = op.compare(classes, "a", "b", metric="f1", pos_label="x", **OPTIONS)
    assert c.spec.view.groups.n == 40
    assert c.spec.prior.name == "bootstrap"
    rows = op.compare(classes, "a", "b", metric="f1_macro", **OPTIONS).by_class()
    assert all(one.spec.n_groups == 40 for one in rows)


def test_the_verbs_take_groups(classes):
    truth, models, group = labelled(np.random.default_rng(4))
    given = (truth, models["a"], models["b"])
    expected = op.compare(classes, "a", "b", metric="f1_macro", **OPTIONS).draws
    own = {"names": ("a", "b"), "groups": group, **OPTIONS}
    assert np.array_equal(op.compare(*given, metric="f1_macro", **own).draws, expected)
    card = op.scorecard(*given, metrics=["f1_macro"], **own)
    assert np.array_equal(card["f1_macro"].draws, expected)
    gate = op.gate(classes, "a", "b", metric="f1_macro", **OPTIONS)
    assert np.array_equal(gate.main.draws, expected)
    alone = op.estimate(truth, models["a"], metric="f1_macro", groups=group, random_state=0)
    assert alone.spec.n_groups == 40


def test_counted_outcomes_have_their_groups(correct):
    with pytest.raises(UsageError, match="already counted; remove groups"):
        op.compare(correct, "a", "b", metric="accuracy", groups=[1])
    with pytest.raises(UsageError, match="already counted; remove groups"):
        op.estimate(correct, "a", metric="accuracy", groups=[1])


# What is said of them


def test_few_groups(names):
    group, a, b = clustered(np.random.default_rng(9), np.full(29, 20))
    few = Outcomes.from_correct({"a": a, "b": b}, groups=group)
    assert "few_groups" in names(op.compare(few, "a", "b", metric="accuracy", **OPTIONS))
    assert "few_groups" not in names(
        op.compare(few.ungroup(), "a", "b", metric="accuracy", **OPTIONS)
    )
    group, a, b = clustered(np.random.default_rng(9), np.full(30, 20))
    enough = Outcomes.from_correct({"a": a, "b": b}, groups=group)
    assert "few_groups" not in names(op.compare(enough, "a", "b", metric="accuracy", **OPTIONS))


def test_a_model_that_ignores_groups_is_told(correct, names):
    c = op.compare(correct, "a", "b", metric="accuracy", prior="uniform", **OPTIONS)
    assert "groups_ignored" in names(c)
    assert c.spec.n_groups is None
    assert "groups_ignored" in names(op.estimate(correct, "a", metric="accuracy", prior="uniform"))
    assert "groups_ignored" not in names(op.compare(correct, "a", "b", metric="accuracy"))
    plain = op.compare(correct.ungroup(), "a", "b", metric="accuracy", prior="uniform", **OPTIONS)
    assert "groups_ignored" not in names(plain)
    assert plain.mean == c.mean


def test_disagreement_is_counted_in_groups(names):
    a = np.ones((40, 10), dtype=int)
    b = a.copy()
    b[:3] = 0  # thirty items, but three groups
    seen = Outcomes.from_correct({"a": a.ravel(), "b": b.ravel()}, groups=np.repeat(range(40), 10))
    c = op.compare(seen, "a", "b", metric="accuracy", **OPTIONS)
    (found,) = [one for one in c.findings if one.name == "few_disagreements"]
    assert "disagree on only 3 groups" in found.message


def test_words_facts_and_signature(correct):
    c = op.compare(correct, "a", "b", metric="accuracy", **OPTIONS)
    assert "1,000 items from 50 groups" in str(c)
    assert "1,000 items from 50 groups" in c.report()
    assert c.to_dict()["n_groups"] == 50
    assert "n=1000 | groups=50" in c.signature
    assert "groups" not in op.compare(correct.ungroup(), "a", "b", metric="accuracy").signature


# Coverage


def coverage(n_repetitions, sizes, seed):
    """How often intervals hold the true difference: with groups, and ignoring them."""
    rng = np.random.default_rng(seed)
    held = np.zeros(2)
    for _ in range(n_repetitions):
        group, a, b = clustered(rng, sizes)
        seen = Outcomes.from_correct({"a": a, "b": b}, groups=group)
        for place, one in enumerate((seen, seen.ungroup())):
            c = op.compare(
                one, "a", "b", metric="accuracy", rope=0.01, n_draws=2_000, n_jobs=1,
                random_state=int(rng.integers(2**31)),
            )  # fmt: skip
            held[place] += c.hdi.low <= 0.05 <= c.hdi.high
    return held / n_repetitions


def test_intervals_over_groups_cover():
    with_groups, ignoring = coverage(60, np.full(50, 20), seed=11)
    assert with_groups > 0.81  # 0.94 less four standard errors
    assert ignoring < 0.75


@pytest.mark.slow
def test_intervals_over_groups_cover_at_length():
    with_groups, ignoring = coverage(1_500, np.full(50, 20), seed=12)
    assert with_groups > 0.92
    assert ignoring < 0.60
