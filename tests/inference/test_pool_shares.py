"""Other class proportions of a pool of which some items were labelled."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError
from tests.loops import each

THERE = {"x": 0.2, "y": 0.2, "z": 0.6}


def drawn(n=3_000, n_classes=3, seed=0):
    """Return true classes and two models that agree often."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(n_classes, n, p=[0.6, 0.3, 0.1][:n_classes] if n_classes == 3 else None)
    luck = rng.random(n)
    columns = [truth]
    for wrong in (0.1, 0.16):
        lucky = np.where(rng.random(n) < 0.6, luck, rng.random(n))
        columns.append(np.where(lucky < wrong, (truth + 1) % n_classes, truth))
    return tuple(np.array(list("xyz"))[one] for one in columns)


def pooled(truth, a, b, every=7):
    """Label every so many items, all of those on which the models disagree."""
    which = np.flatnonzero((np.arange(len(truth)) % every == 0) | (a != b))
    return op.Outcomes.from_pool(truth[which], {"A": a, "B": b}, which=which)


def compared(seen, metric, **asked):
    return op.compare(seen, "A", "B", metric=metric, rope=0.02, random_state=1, **asked)


@each(
    ("metric", "asked"),
    [
        ("accuracy", {}),
        ("f1_macro", {}),
        ("f1", {"pos_label": "x"}),
        ("f1", {"pos_label": "z"}),
        ("recall", {"pos_label": "y"}),
        ("cohen_kappa", {}),
    ],
)
@pytest.mark.parametrize("shares", [THERE, {"z": 0.6}])
def test_a_pool_with_every_item_labelled_is_a_test_set(metric, asked, shares):
    truth, a, b = drawn()
    whole = op.Outcomes.from_pool(truth, {"A": a, "B": b}, which=np.arange(len(truth)))
    plain = op.Outcomes.from_labels(truth, {"A": a, "B": b})
    found = compared(whole.at_prevalence(shares), metric, **asked)
    expected = compared(plain.at_prevalence(shares), metric, prior="bootstrap", **asked)
    assert found.a.observed == pytest.approx(expected.a.observed)
    assert found.observed == pytest.approx(expected.observed)
    assert found.mean == pytest.approx(expected.mean, abs=0.25 * expected.sd)
    # The sizes of the strata vary with those of the classes in a plain test set too.
    assert found.sd == pytest.approx(expected.sd, rel=0.1)
    assert compared(whole, metric, **asked).at_prevalence(shares).observed == found.observed


@pytest.mark.parametrize("positive", ["x", "z"])
def test_two_classes_either_of_which_is_positive(positive):
    truth, a, b = (np.where(one == "z", "z", "x") for one in drawn())
    seen, shares = pooled(truth, a, b), {"x": 0.3, "z": 0.7}
    plain = op.Outcomes.from_labels(truth, {"A": a, "B": b})
    found, expected = (
        compared(one.at_prevalence(shares), "f1", pos_label=positive) for one in (seen, plain)
    )
    assert found.observed == pytest.approx(expected.observed, abs=3 * expected.sd)
    assert found.observed in found.hdi
    assert abs(compared(seen, "f1", pos_label=positive).a.observed - found.a.observed) > 0.01
    one = compared(seen.at_prevalence({positive: shares[positive]}), "f1", pos_label=positive)
    assert one.observed == pytest.approx(found.observed)


def test_draws_are_those_of_an_independent_implementation():
    """Strata are drawn one by one, with the prior that agreeing items have, and reweighted."""
    truth, a, b = (np.where(one == "z", 1, 0) for one in drawn(2_000))
    seen = pooled(truth, a, b, every=9)
    c = compared(seen.at_prevalence({0: 0.3, 1: 0.7}), "f1", n_draws=40_000)
    at_home = compared(seen, "f1", n_draws=40_000)
    posterior = op.inference.engine.build_posterior(at_home.spec.view, at_home.spec.prior)
    worker, rng = posterior.worker("confusion"), np.random.default_rng(5)
    values = []
    for confusion in worker(rng, 30_000):
        rates = confusion / confusion.sum(axis=1, keepdims=True)
        tp, fn, fp = 0.7 * rates[1, 1], 0.7 * rates[1, 0], 0.3 * rates[0, 1]
        values.append(2 * tp / (2 * tp + fn + fp))
    difference = values[0] - values[1]
    error = 4 * difference.std() * np.sqrt(1 / 30_000 + 1 / 40_000)
    assert c.mean == pytest.approx(difference.mean(), abs=error)
    assert c.sd == pytest.approx(difference.std(), rel=0.03)


def test_judged_classes_keep_what_people_teach():
    truth, a, b = (np.where(one == "z", 1, 0) for one in drawn(4_000))
    rng = np.random.default_rng(2)
    judge = np.where(rng.random(4_000) < 0.1, 1 - truth, truth)
    human = [*truth[:800].tolist(), *[None] * 3_200]
    seen = op.Outcomes.from_judged({"A": a, "B": b}, human=human, judge=judge, drawn="random")
    there = seen.at_prevalence({0: 0.4, 1: 0.6})
    found = compared(there, "f1")
    known = compared(
        op.Outcomes.from_labels(truth, {"A": a, "B": b}).at_prevalence({0: 0.4, 1: 0.6}), "f1"
    )
    assert found.mean == pytest.approx(known.observed, abs=2.5 * found.sd)
    people = compared(
        op.Outcomes.from_labels(truth[:800], {"A": a[:800], "B": b[:800]}).at_prevalence(
            {0: 0.4, 1: 0.6}
        ),
        "f1",
    )
    assert found.sd < people.sd
    (bias,) = (one for one in found.findings if one.name == "judge_bias")
    assert bias.message != next(
        one for one in compared(seen, "f1").findings if one.name == "judge_bias"
    ).message  # fmt: skip
    assert op.Outcomes.from_json(there.to_json()) == there
    assert op.rank(there, metric="f1", rope=0.02, n_draws=500).to_frame()["model"][0] == "A"


def test_label_sets_of_a_pool_are_refused_for_good():
    truth, a, b = drawn(300)
    seen = pooled(truth, a, b)
    with pytest.raises(UsageError, match="would represent no others") as refused:
        seen.split_labels("|")
    assert " yet" not in str(refused.value)
