"""Comparing what models cost: numbers in the units of the cost, and what a choice would lose."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError

EUR = op.metrics.cost({("fraud", "ok"): 100, ("ok", "fraud"): 5}, unit="EUR")
FEW = {"n_draws": 4_000, "random_state": 3}


def items(n=300, classes=("fraud", "ok"), seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.choice(classes, n)
    a, b = (np.where(rng.random(n) < share, truth, rng.choice(classes, n)) for share in (0.85, 0.6))
    return truth, a, b


def mean_cost(truth, predicted, matrix, classes):
    place = {label: code for code, label in enumerate(classes)}
    return np.mean([matrix[place[t]][place[p]] for t, p in zip(truth, predicted, strict=True)])


def test_observed_is_the_mean_cost():
    classes = ("a", "b", "c", "d")
    truth, a, b = items(classes=classes)
    matrix = np.random.default_rng(1).normal(size=(4, 4))
    for order in (classes, ("c", "a", "d", "b")):
        places = [classes.index(label) for label in order]
        metric = op.metrics.cost(matrix[np.ix_(places, places)], labels=order)
        c = op.compare(truth, a, b, metric=metric, rope=0.1, **FEW)
        expected = [mean_cost(truth, one, matrix, classes) for one in (a, b)]
        assert [c.a.observed, c.b.observed] == pytest.approx(expected, abs=1e-12)


def test_the_posterior_is_that_of_the_shares():
    # One gamma an item and the cost of each: a plain Bayesian bootstrap.
    truth, a, b = items(80)
    matrix = [[0, 100], [5, 0]]
    c = op.compare(truth, a, b, metric=EUR, rope=1, prior="bootstrap", **FEW)
    costs = [
        [matrix[t == "ok"][p == "ok"] for t, p in zip(truth, one, strict=True)] for one in (a, b)
    ]
    weights = np.random.default_rng(5).dirichlet(np.ones(80), 4_000)
    by_hand = weights @ np.subtract(*map(np.array, costs))
    assert c.mean == pytest.approx(by_hand.mean(), abs=5 * np.hypot(c.mcse, c.mcse))
    assert c.sd == pytest.approx(by_hand.std(), rel=5 / np.sqrt(2 * 4_000))


@pytest.mark.parametrize("prior", ["uniform", "unit", "hierarchical", "bootstrap"])
def test_one_a_mistake_is_accuracy_mirrored(prior):
    truth, a, b = items()
    wrong = op.metrics.cost(1 - np.eye(2), name="error rate")
    cost = op.compare(truth, a, b, metric=wrong, rope=0.01, prior=prior, **FEW)
    # A confusion is needed for both, or the draws would be lumped for accuracy.
    right = op.metrics.from_function(
        lambda c: (c[0, 0] + c[1, 1]) / c.sum(axis=(0, 1)), bounds=(0, 1), vectorized=True
    )
    accuracy = op.compare(truth, a, b, metric=right, rope=0.01, prior=prior, **FEW)
    assert np.allclose(cost.draws, -accuracy.draws, atol=1e-12)
    assert np.allclose(cost.a.draws, 1 - accuracy.a.draws, atol=1e-12)
    assert cost.decision is accuracy.decision
    assert (cost.p_better, cost.p_worse) == pytest.approx((accuracy.p_better, accuracy.p_worse))
    assert cost.regret.a == pytest.approx(accuracy.regret.a, abs=1e-12)
    exact = op.compare(truth, a, b, metric="accuracy", rope=0.01, prior=prior, **FEW)
    assert cost.mean == pytest.approx(-exact.mean, abs=5 * np.hypot(cost.mcse, exact.mcse))


def test_cheaper_is_better():
    truth, a, b = items()
    c = op.compare(truth, a, b, metric=EUR, rope=1, **FEW)
    assert (c.mean < 0, c.decision) == (True, op.Decision.BETTER)
    assert op.compare(truth, b, a, metric=EUR, rope=1, **FEW).decision is op.Decision.WORSE
    worth = op.metrics.utility({("fraud", "ok"): -100, ("ok", "fraud"): -5}, unit="EUR")
    u = op.compare(truth, a, b, metric=worth, rope=1, **FEW)
    assert (u.mean, u.decision) == (pytest.approx(-c.mean, abs=1e-12), c.decision)


def test_the_unit_is_beside_the_numbers():
    truth, a, b = items()
    c = op.compare(truth, a, b, metric=EUR, rope=1, names=("new", "old"), **FEW)
    for text in (str(c), c.report(), c.report(length="short"), c.to_latex(), c.to_html(), repr(c)):
        assert "(EUR per item)" in text
    assert "EUR per item" in c.plot().get_xlabel()
    assert "EUR per item" in c.plot_models().get_xlabel()
    assert "If the other model is better, choosing new loses " in c.report()
    assert f" EUR per item on average, choosing old {c.regret.b:.1f}" in c.report()
    assert "regret        choosing new loses " in str(c)
    facts = json.loads(json.dumps(c.to_dict()))
    assert facts["costs"] == {
        "labels": ["fraud", "ok"],
        "matrix": [[0.0, 100.0], [5.0, 0.0]],
        "unit": "EUR",
    }
    assert facts["regret"] == {"a": c.regret.a, "b": c.regret.b}
    assert facts["mc_errors"]["regret_b"] == c.regret.mcse_b > 0


def test_the_rope_must_be_given_in_the_units():
    truth, a, b = items()
    errors = op.metrics.cost(1 - np.eye(2))  # within [0, 1], and yet nobody knows what matters
    for metric, unit in ((EUR, "EUR"), (errors, "the units of the costs")):
        with pytest.raises(UsageError, match=f"'cost' has no default ROPE.*in {unit} an item"):
            op.compare(truth, a, b, metric=metric)
        with pytest.raises(UsageError, match="'cost' has no default ROPE"):
            op.rank(truth, {"a": a, "b": b}, metric=metric)
    with pytest.raises(UsageError, match="wider than any difference"):
        op.compare(truth, a, b, metric=EUR, rope=200)


def test_a_rope_in_euro_is_not_kept_for_another_metric():
    truth, a, b = items()
    c = op.compare(truth, a, b, metric=EUR, rope=2, **FEW)
    assert c.with_metric("accuracy").rope.default
    assert c.with_metric("accuracy", rope=0.02).rope.high == 0.02
    accuracy = op.compare(truth, a, b, metric="accuracy", rope=0.02, **FEW)
    with pytest.raises(UsageError, match="no default ROPE"):
        accuracy.with_metric(EUR)
    assert accuracy.with_metric(EUR, rope=2).rope.high == 2
    assert accuracy.with_metric("f1_macro").rope.high == 0.02
    with pytest.raises(UsageError, match="no value per class"):
        c.by_class()


def test_classes_are_those_that_the_matrix_names():
    truth, a, b = items()
    wide = op.metrics.cost(1 - np.eye(3), labels=["fraud", "ok", "unsure"])
    c = op.compare(truth, a, b, metric=wide, rope=0.1, **FEW)
    assert c.spec.data.labels == ("fraud", "ok", "unsure")
    with pytest.raises(UsageError, match="did you mean 'fraud'"):
        op.compare(truth, a, b, metric=op.metrics.cost({("farud", "ok"): 1}), rope=0.1)
    ones = op.compare([1] * 5, [1] * 5, [1, 0, 1, 1, 1], metric=op.metrics.cost([[0, 1], [2, 0]]),
                      rope=0.1, **FEW)  # fmt: skip
    assert ones.b.observed == pytest.approx(0.4)
    with pytest.raises(UsageError, match="record only correctness"):
        op.compare(op.Outcomes.from_correct({"a": [1], "b": [0]}), "a", "b", metric=EUR, rope=1)


def test_only_what_costs_something_sets_models_apart():
    truth = np.repeat(["fraud", "ok"], 100)
    a = truth.copy()
    b = np.where(np.arange(200) % 100 < 20, np.repeat(["ok", "fraud"], 100), truth)
    free = op.metrics.cost({("fraud", "ok"): 1.0})
    c = op.compare(truth, a, b, metric=free, rope=0.001, prior="bootstrap", **FEW)
    assert "few_disagreements" not in {one.name for one in c.findings}
    b[:100] = "fraud"  # now they differ only where it costs nothing
    c = op.compare(truth, a, b, metric=free, rope=0.001, prior="bootstrap", **FEW)
    few = next(one for one in c.findings if one.name == "few_disagreements")
    assert (few.level, c.decision.decided) == ("serious", False)


def test_weights_cost_too():
    truth, a, b = items()
    weights = np.random.default_rng(2).lognormal(size=300)
    c = op.compare(truth, a, b, metric=EUR, rope=1, sample_weight=weights, **FEW)
    costs = [100 * (t == "fraud") * (p == "ok") + 5 * (t == "ok") * (p == "fraud")
             for t, p in zip(truth, a, strict=True)]  # fmt: skip
    assert c.a.observed == pytest.approx(np.average(costs, weights=weights), rel=1e-12)


def test_ranks_and_gates_take_costs():
    truth, a, b = items()
    ranking = op.rank(truth, {"a": a, "b": b, "c": b}, metric=EUR, rope=1, **FEW)
    assert ranking.names[0] == "a"
    assert "cost (EUR per item)" in str(ranking)
    pair = ranking.compare("a", "b")
    assert pair.regret.a == pytest.approx(np.maximum(pair.draws, 0).mean(), abs=1e-15)
    gate = op.gate(truth, a, b, metric=EUR, rope=1, guards=[("recall", "fraud", 0.1)], **FEW)
    assert gate.passed
    assert "cost (EUR per item)" in str(gate)
    assert not op.gate(truth, b, a, metric=EUR, rope=1, **FEW).passed
    card = op.scorecard(truth, a, b, metrics=[EUR, op.metrics.cost([[0, 4], [4, 0]], name="n")],
                        rope=1, **FEW)  # fmt: skip
    assert card.keys == ("cost", "n")


# The expected loss of a choice, of every metric


def test_the_regret_of_paired_recall_is_exact():
    counts = [26, 21, 182]
    seen = op.Outcomes.from_counts([1, 1, 1], {"a": [1, 0, 1], "b": [0, 1, 1]}, counts)
    c = op.compare(seen, "a", "b", metric="recall", pos_label=1, rope=0.01, random_state=1)
    assert c.exact
    lost = np.maximum(-c.draws, 0)
    assert c.regret.a == pytest.approx(lost.mean(), abs=5 * lost.std() / np.sqrt(lost.size))
    assert c.regret.b - c.regret.a == pytest.approx(c.mean, abs=1e-12)
    assert c.mc_errors["regret_a"] == 0.0
    # And near the normal of the same mean and sd, E[(−δ)₊] = sd φ(m) − mean Φ(−m).
    from scipy.stats import norm

    m = c.mean / c.sd
    assert c.regret.a == pytest.approx(c.sd * norm.pdf(m) - c.mean * norm.cdf(-m), rel=0.02)


@pytest.mark.parametrize("metric", ["f1", "accuracy", "matthews_corrcoef"])
def test_sampled_regret_is_that_of_two_ranked_models(metric):
    truth, a, b = items(classes=(0, 1))
    c = op.compare(truth, a, b, metric=metric, rope=0.01, **FEW)
    gains = c.a.draws - c.b.draws
    if not c.exact:
        assert c.regret.a == pytest.approx(np.maximum(-gains, 0).mean(), abs=1e-15)
    assert c.to_dict()["regret"]["b"] == c.regret.b > c.regret.a
    assert "regret" not in str(c)
