"""Two metrics at once: counts by hand, normal theory, calibration, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from tests.lazily import lazily
from tests.loops import each

multivariate_normal = lazily("scipy.stats.multivariate_normal")
norm = lazily("scipy.stats.norm")

RANDOM = np.random.default_rng(41)
N = 300
METRICS = ["mean:right", "mean_cost:seconds", "p95:seconds"]
ROPES = {"mean:right": 0.04, "mean_cost:seconds": 0.15, "p95:seconds": 0.5}


def models(n=N, random=RANDOM):
    """Return right or wrong and seconds of two models; hard items take longer."""
    hard = random.random(n)
    return {
        name: {"right": random.random(n) < p - 0.4 * hard, "seconds": random.gamma(2 + hard, s)}
        for name, p, s in (("small", 0.95, 0.8), ("large", 0.98, 1.0))
    }


DATA = models()
SEEN = op.Outcomes.from_statistics(DATA)


@pytest.fixture(scope="module")
def card():
    return op.scorecard(SEEN, "small", "large", metrics=METRICS, rope=ROPES, random_state=3)


def by_hand(one, other):
    """Count the draws of two comparisons; the second is a cost."""
    a = np.select([one.draws > one.rope.high, one.draws >= one.rope.low], [0, 1], 2)
    b = np.select([other.draws < other.rope.low, other.draws <= other.rope.high], [0, 1], 2)
    return np.array([[((a == i) & (b == j)).mean() for j in range(3)] for i in range(3)])


def test_the_nine_probabilities_are_counts_of_the_draws(card):
    found = card.joint("mean:right", "mean_cost:seconds")
    table = by_hand(card["mean:right"], card["mean_cost:seconds"])
    assert found.probabilities.tolist() == table.tolist()
    assert found.probabilities.sum() == pytest.approx(1.0)
    assert found.p("equivalent", "better") == table[1, 0]
    assert found.p_better_in_both == table[0, 0]
    assert found.p_dominates == pytest.approx(table[0, 0] + table[0, 1] + table[1, 0])
    assert found.p_dominated == pytest.approx(table[2, 2] + table[2, 1] + table[1, 2])
    assert found.p_trade_off == pytest.approx(table[0, 2] + table[2, 0])
    assert found.p_not_worse == pytest.approx(table[:2, :2].sum())
    four = found.p_dominates + found.p_dominated + found.p_trade_off + found.p_equivalent
    assert four == pytest.approx(1.0)
    # The margins are those of the comparisons themselves.
    right, cost = card["mean:right"], card["mean_cost:seconds"]
    assert found.probabilities[0].sum() == pytest.approx(right.p_better)
    assert found.probabilities[:, 0].sum() == pytest.approx(cost.p_better)


def test_swapping_the_models_mirrors_the_table(card):
    swapped = op.scorecard(SEEN, "large", "small", metrics=METRICS, rope=ROPES, random_state=3)
    found = card.joint("mean:right", "mean_cost:seconds")
    mirror = swapped.joint("mean:right", "mean_cost:seconds")
    assert mirror.probabilities[::-1, ::-1].tolist() == found.probabilities.tolist()
    assert mirror.p_dominated == pytest.approx(found.p_dominates)


def test_the_weights_are_the_same_for_both_metrics():
    """Draw weights of our own: the correlation of both differences must come out."""
    c = op.scorecard(SEEN, "small", "large", metrics=METRICS, rope=ROPES, random_state=5)
    weights = np.random.default_rng(6).exponential(size=(20_000, N))
    weights /= weights.sum(axis=1, keepdims=True)
    own = [
        weights @ (DATA["small"][key].astype(float) - DATA["large"][key])
        for key in ("right", "seconds")
    ]
    expected = np.corrcoef(own)[0, 1]
    drawn = np.corrcoef(c["mean:right"].draws, c["mean_cost:seconds"].draws)[0, 1]
    assert drawn == pytest.approx(expected, abs=4 * np.sqrt(2 / 20_000))
    # A third metric that is no sum changes the way of drawing, not the weights of items.
    assert c.joint("p95:seconds", "mean_cost:seconds").draws.shape == (2, 20_000)


@pytest.mark.parametrize("correlation", [-0.6, 0.0, 0.7])
def test_normal_items_give_a_bivariate_normal(correlation):
    n, n_draws = 1_500, 50_000
    random = np.random.default_rng(int(10 * correlation) + 50)
    spread = [[1.0, 2 * correlation], [2 * correlation, 4.0]]
    moved = random.multivariate_normal([0.03, -0.05], spread, size=n)
    seen = op.Outcomes.from_statistics({"a": moved, "b": np.zeros((n, 2))}, columns=["q", "c"])
    ropes = {"mean:q": 0.02, "mean_cost:c": 0.03}
    c = op.scorecard(
        seen, "a", "b", metrics=list(ropes), rope=ropes, n_draws=n_draws, random_state=2
    )
    found = c.joint("mean:q", "mean_cost:c")
    # Under the Bayesian bootstrap the mean of x has variance s² / (n + 1), with s² over n.
    law = multivariate_normal(moved.mean(axis=0), np.cov(moved.T, bias=True) / (n + 1))
    edges = [[-1.0, -0.02, 0.02, 1.0], [-1.0, -0.03, 0.03, 1.0]]
    for i, q in enumerate((2, 1, 0)):
        for j in range(3):
            low, high = (edges[0][q], edges[1][j]), (edges[0][q + 1], edges[1][j + 1])
            expected = law.cdf(high, lower_limit=low)
            # What Monte Carlo leaves open, and what n items differ from a normal law by.
            error = 4 * np.sqrt(expected * (1 - expected) / n_draws) + 2 / n
            assert found.probabilities[i, j] == pytest.approx(expected, abs=error)


def test_labels_and_scores_have_joints_too():
    truth, a, b = (RANDOM.integers(2, size=200) for _ in range(3))
    card = op.scorecard(truth, a, b, metrics=["recall", "precision"], rope=0.05, random_state=1)
    found = card.joint("recall", "precision")
    one, two = (card[key].draws for key in ("recall", "precision"))
    assert found.p_better_in_both == ((one > 0.05) & (two > 0.05)).mean()
    scores = [RANDOM.random(200) / 2 + truth * share for share in (0.3, 0.2)]
    card = op.scorecard(truth, *scores, metrics=["roc_auc", "ece"], rope=0.01, random_state=1)
    one, two = card["roc_auc"].draws, card["ece"].draws
    expected = ((one > 0.01) & (two < -0.01)).mean()
    assert card.joint("roc_auc", "ece").p_better_in_both == expected


def test_metrics_that_sort_and_metrics_that_do_not_share_their_weights():
    truth = RANDOM.integers(2, size=400)
    a, b = (np.clip(RANDOM.normal(0.5 + 0.2 * truth, 0.2), 0.01, 1) for _ in range(2))
    binned = op.metrics.ece(bins=10)
    card = op.scorecard(truth, a, b, metrics=["brier_score", binned], rope=0.01, random_state=1)
    brier, ece = card
    weights = np.random.default_rng(7).exponential(size=(10_000, 400))
    within = np.ceil(a * 10).astype(int)[:, None] == np.arange(1, 11)

    def errors(weights):
        off = np.abs((weights * (truth - a)) @ within).sum(axis=1)
        return off / weights.sum(axis=1)

    assert ece.a.observed == pytest.approx(errors(np.ones((1, 400)))[0])
    losses = weights @ np.square(a - truth) / weights.sum(axis=1)
    expected = np.corrcoef(losses, errors(weights))[0, 1]
    assert abs(expected) > 0.2
    drawn = np.corrcoef(brier.a.draws, ece.a.draws)[0, 1]
    assert drawn == pytest.approx(expected, abs=4 * np.sqrt(1 / 10_000 + 1 / 20_000))


def test_groups_are_drawn_together():
    groups = np.repeat(np.arange(N // 10), 10)
    seen = op.Outcomes.from_statistics(DATA, groups=groups)
    ropes = {key: ROPES[key] for key in METRICS[:2]}
    card = op.scorecard(seen, "small", "large", metrics=list(ropes), rope=ropes, random_state=3)
    found = card.joint(*METRICS[:2])
    assert found.draws.shape == (2, 20_000)
    right, cost = found.draws
    weights = np.random.default_rng(8).exponential(size=(20_000, N // 10))
    sums = {
        key: weights @ np.add.reduceat(DATA["small"][key] * 1.0 - DATA["large"][key],
                                       np.arange(0, N, 10))
        for key in ("right", "seconds")
    }  # fmt: skip
    total = 10 * weights.sum(axis=1)
    expected = np.corrcoef(sums["right"] / total, sums["seconds"] / total)[0, 1]
    assert np.corrcoef(right, cost)[0, 1] == pytest.approx(expected, abs=0.04)


def test_a_ratio_of_the_card_may_take_part(card):
    ratio = card["mean_cost:seconds"].ratio(rope=(0.9, 1 / 0.9))
    found = card.joint("mean:right", ratio)
    cheaper = ratio.draws < 0.9
    close = np.abs(card["mean:right"].draws) <= 0.04
    assert found.p("equivalent", "better") == (close & cheaper).mean()
    other = op.scorecard(SEEN, "small", "large", metrics=METRICS, rope=ROPES, random_state=3)
    with pytest.raises(UsageError, match="does not belong to this scorecard"):
        other.joint("mean:right", ratio)


@each(
    ("moved", "decision"),
    [
        ((0.5, -0.5), "dominates"),
        ((-0.5, 0.5), "dominated"),
        ((0.5, 0.5), "trade_off"),
        ((0.0, 0.0), "equivalent"),
        ((0.1, 0.0), "undecided"),
    ],
)
def test_each_decision_is_made_and_said(moved, decision):
    moved = np.random.default_rng(9).normal(moved, 0.1, size=(200, 2))
    moved += np.array([0.1, 0.0]) - moved.mean(axis=0) if decision == "undecided" else 0
    seen = op.Outcomes.from_statistics({"a": moved, "b": np.zeros((200, 2))}, columns=["q", "c"])
    card = op.scorecard(seen, "a", "b", metrics=["mean:q", "mean_cost:c"], rope=0.1, random_state=1)
    found = card.joint("mean:q", "mean_cost:c")
    assert found.decision == decision
    said = {"dominates": "a dominates b", "dominated": "b dominates a", "trade_off": "trades"}
    assert said.get(decision, decision) in str(found).lower() + found.report()


def test_few_differing_items_withhold_the_decision():
    moved = np.zeros((100, 2))
    moved[:3] = 5.0, -5.0
    seen = op.Outcomes.from_statistics({"a": moved, "b": np.zeros((100, 2))}, columns=["q", "c"])
    card = op.scorecard(seen, "a", "b", metrics=["mean:q", "mean_cost:c"], rope=0.0,
                        random_state=1)  # fmt: skip
    found = card.joint("mean:q", "mean_cost:c")
    assert found.p_dominates == 1.0
    assert found.decision == "undecided"


def test_what_cannot_be_asked_is_refused(card):
    with pytest.raises(UsageError, match="two different metrics"):
        card.joint("mean:right", "mean:right")
    with pytest.raises(UsageError, match="metric"):
        card.joint("mean:right", "mean:rihgt")
    with pytest.raises(UsageError, match="better, equivalent, worse"):
        card.joint("mean:right", "p95:seconds").p("better", "cheaper")
    truth = RANDOM.integers(3, size=90)
    mixed = op.scorecard(truth, truth, RANDOM.permutation(truth), metrics=["accuracy", "f1_macro"],
                         labels=[0, 1, 2], rope=0.05)  # fmt: skip
    classes = mixed["f1_macro"].by_class()
    with pytest.raises(UsageError, match="no joint draws"):
        classes.joint(0, 1)
    with pytest.raises(UsageError, match="unknown column"):
        op.compare(SEEN, "small", "large", metric="mean:hours", rope=0.1)
    with pytest.raises(UsageError, match="metric of a column"):
        op.compare(SEEN, "small", "large", metric="roc_auc:seconds", rope=0.1)
    with pytest.raises(UsageError, match="unknown metric"):
        op.scorecard(SEEN, "small", "large", metrics=METRICS, rope={"mean": 0.1})
    uneven = {"a": {"x": [1.0]}, "b": {"y": [1.0]}}
    with pytest.raises(DataError, match="same statistics"):
        op.Outcomes.from_statistics(uneven)


def test_a_column_is_read_as_if_it_were_alone():
    seconds = {name: own["seconds"] for name, own in DATA.items()}
    for name in ("mean_cost", "neg_mean", "p95", "median"):
        alone = op.compare(op.Scores.from_values(seconds), "small", "large", metric=name, rope=0.1,
                           random_state=4)  # fmt: skip
        column = op.compare(SEEN, "small", "large", metric=f"{name}:seconds", rope=0.1,
                            random_state=4)  # fmt: skip
        assert column.observed == pytest.approx(alone.observed)
        assert column.spec.metric.greater_is_better is alone.spec.metric.greater_is_better
        assert column.mean == pytest.approx(alone.mean, abs=5 * alone.mcse)
    assert op.compare(SEEN, "small", "large", metric="mean:right").rope.default


def test_a_gate_reads_columns():
    gate = op.gate(SEEN, "small", "large", metric="mean_cost:seconds", rope=0.05, require="better",
                   guards=[("mean:right", None, 0.2)])  # fmt: skip
    assert gate.passed
    with pytest.raises(UsageError, match="twice"):
        op.gate(SEEN, "small", "large", metric="mean:right", guards=[("mean:right", None, 0.1)])


def test_the_table_and_the_facts(card):
    found = card.joint("mean:right", "mean_cost:seconds")
    facts = found.to_dict()
    assert facts["probabilities"] == found.probabilities.tolist()
    assert facts["metrics"][1]["contrast"] == "difference"
    assert np.shape(facts["mcse"]) == (3, 3)
    assert found.to_frame()["better"].tolist() == found.probabilities[:, 0].tolist()
    expected = np.sqrt(found.p_dominates * (1 - found.p_dominates) / 20_000)
    assert found.mc_errors["p_dominates"] == pytest.approx(expected, rel=0.01)


def world(random, effect):
    """Return items whose quality and cost are far from normal, and the true means."""
    n = 150
    hard = random.beta(0.5, 0.5, size=n)
    right = random.random((2, n)) < 0.75 + effect[0] - 0.5 * hard
    cost = random.lognormal(0.3 * hard, 0.7, size=(2, n))
    cost[0] += effect[1]
    right[1] = random.random(n) < 0.75 - 0.5 * hard
    return {name: {"right": right[k], "cost": cost[k]} for k, name in enumerate(("new", "old"))}


@pytest.mark.slow
def test_claims_of_dominance_come_true_as_often_as_they_say():
    random, claimed, true = np.random.default_rng(70), [], []
    ropes = {"mean:right": 0.02, "mean_cost:cost": 0.1}
    for seed in range(300):
        effect = random.uniform(-0.25, 0.25), random.uniform(-0.6, 0.6)
        seen = op.Outcomes.from_statistics(world(random, effect))
        card = op.scorecard(seen, "new", "old", metrics=list(ropes), rope=ropes, n_draws=2_000,
                            random_state=seed)  # fmt: skip
        claimed.append(card.joint(*ropes).p_dominates)
        events = (effect[0] > 0.02, effect[1] < -0.1)
        worse = effect[0] < -0.02 or effect[1] > 0.1
        true.append(any(events) and not worse)
    claimed, true = np.array(claimed), np.array(true)
    for low, high in ((0.0, 1.01), (0.0, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1.01)):
        some = (claimed >= low) & (claimed < high)
        expected, spread = claimed[some].sum(), np.sqrt((claimed * (1 - claimed))[some].sum())
        assert abs(true[some].sum() - expected) < norm.ppf(0.9995) * spread + 0.5, (low, high)
