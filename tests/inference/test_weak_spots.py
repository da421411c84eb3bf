"""Where intervals hold less often than they say: wider ones, warnings and withheld decisions."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.decision.ranks import expected_ranks, loss_errors, losses, regret_from_draws

ASKED = {"rope": 0.02, "n_draws": 2_000, "random_state": 0}


def found(result, name):
    return next((one for one in result.findings if one.name == name), None)


def right(generator, truth, share):
    return np.where(generator.random(truth.size) < share, truth, 1 - truth)


# Importance weights


def weighted(sd, n=1_000):
    generator = np.random.default_rng(3)
    truth = generator.integers(0, 2, n)
    a, b = right(generator, truth, 0.9), right(generator, truth, 0.8)
    return truth, a, b, np.exp(sd * generator.normal(size=n))


def by_hand(truth, a, b, weights):
    """Return the width of the 95% interval of weights Exp(1) · w, and (Σ u²)² / Σ u⁴."""
    apart = (a == truth) * 1.0 - (b == truth)
    drawn = np.random.default_rng(4).exponential(size=(4_000, truth.size)) * weights
    low, high = np.quantile(drawn @ apart / drawn.sum(axis=1), [0.025, 0.975])
    moved = weights * (apart - weights @ apart / weights.sum())
    return high - low, (moved**2).sum() ** 2 / (moved**4).sum()


@pytest.mark.parametrize(("sd", "wider"), [(2.0, True), (0.1, False)])
def test_weights_with_a_heavy_tail_widen_the_interval(sd, wider):
    truth, a, b, weights = weighted(sd)
    c = op.compare(truth, a, b, metric="accuracy", sample_weight=weights, **ASKED)
    plain, carrying = by_hand(truth, a, b, weights)
    assert (carrying < 30) == wider
    # Two quantiles of 2,000 draws stray by about 3% of the width.
    assert c.eti.width > 1.15 * plain if wider else c.eti.width == pytest.approx(plain, rel=0.1)


def test_uneven_weights_warn_below_a_hundred_effective_items():
    truth, a, b, weights = weighted(2.0)
    c = op.compare(truth, a, b, metric="accuracy", sample_weight=weights, **ASKED)
    assert 30 < c.spec.n_effective < 100
    assert found(c, "few_effective_items").level == "warning"
    even = op.compare(truth[:90], a[:90], b[:90], sample_weight=np.ones(90), **ASKED)
    assert found(even, "few_effective_items") is None


# Ratios of rare errors


@pytest.mark.parametrize(
    ("errors", "level"), [((40, 2), "serious"), ((40, 12), "warning"), ((120, 40), None)]
)
def test_a_ratio_of_few_errors_is_warned_of_or_withheld(errors, level):
    n = 2_000
    a, b = np.zeros(n), np.zeros(n)
    a[: errors[0]], b[-errors[1] :] = 1.0, 1.0
    c = op.compare(None, a, b, metric="mean_cost", **ASKED)
    ratio = c.ratio(rope=0.05)
    finding = found(ratio, "uncertain_ratio")
    assert (None if finding is None else finding.level) == level
    assert ratio.decision.decided == (level != "serious")


# Stated label errors


def test_one_rate_for_all_classes_is_warned_of_where_unequal_ones_would_decide_otherwise():
    generator = np.random.default_rng(1)
    n = 1_500
    truth = generator.integers(0, 2, n)
    luck = generator.random((2, n))
    a = np.where(luck[0] < np.where(truth == 1, 0.75, 0.97), truth, 1 - truth)
    b = np.where(luck[1] < np.where(truth == 1, 0.95, 0.65), truth, 1 - truth)
    c = op.compare(truth, a, b, metric="accuracy", **ASKED)
    low = c.with_label_errors(0.02).hdi.low
    near = c.with_rope(low - 0.001).with_label_errors(0.02)
    assert near.decision.symbol == "≫"
    finding = found(near, "label_errors_matter")
    assert finding.level == "warning"
    assert finding.parameter == "label_errors"
    # Of even classes, twice the rate in one is none in the other.
    assert "4.0% for" in finding.message
    assert found(c.with_rope(low - 0.03).with_label_errors(0.02), "label_errors_matter") is None
    stated = c.with_rope(low - 0.001).with_label_errors({0: 0.02, 1: 0.02})
    assert found(stated, "label_errors_matter") is None


# Ordered levels


def graded(levels):
    generator = np.random.default_rng(2)
    truth, other = generator.choice(levels, (2, 300))
    return truth, *(np.where(generator.random(300) < share, truth, other) for share in (0.7, 0.6))


@pytest.mark.parametrize(
    ("levels", "noted"), [([1, 2, 4, 5], True), ([1, 2, 10], True), ([10, 20, 30], False)]
)
def test_levels_with_gaps_are_noted(levels, noted):
    metric = op.metrics.cohen_kappa(weights="quadratic")
    c = op.compare(*graded(levels), metric=metric, **ASKED)
    assert (found(c, "levels_by_rank") is not None) == noted


def test_levels_that_are_named_have_no_gaps():
    metric = op.metrics.cohen_kappa(weights="quadratic")
    c = op.compare(*graded([1, 2, 4, 5]), metric=metric, labels=[1, 2, 3, 4, 5], **ASKED)
    assert found(c, "levels_by_rank") is None
    plain = op.compare(*graded([1, 2, 10]), metric="cohen_kappa", **ASKED)
    assert found(plain, "levels_by_rank") is None


# Few labels of a pool


@pytest.mark.parametrize(("budget", "warned"), [(50, True), (100, False)])
def test_few_labels_of_a_pool_are_warned_of(budget, warned):
    generator = np.random.default_rng(5)
    truth = generator.integers(0, 2, 1_000)
    a, b = right(generator, truth, 0.9), right(generator, truth, 0.8)
    proposal = op.propose(a, b, budget=budget, metric="accuracy", random_state=0)
    c = op.compare(proposal.outcomes(truth[proposal.items]), "A", "B", metric="accuracy", **ASKED)
    assert (found(c, "few_items") is not None) == warned


# Drawn numbers that are the same in every draw


def test_a_regret_of_zero_has_an_error():
    lead = np.random.default_rng(0).normal(10.0, 1.0, 1_000)
    regret = regret_from_draws(lead)
    assert regret.a == 0
    # Half a draw in a thousand, of about the size of the sd.
    assert regret.mcse_a == pytest.approx(np.sqrt(0.5) / 1_000, rel=0.1)


@pytest.mark.parametrize("greater_is_better", [True, False])
def test_errors_of_losses_are_those_of_their_draws_or_of_none(greater_is_better):
    values = np.random.default_rng(0).normal([[9.0], [0.1], [0.0]], 1.0, (3, 1_000))
    values = values if greater_is_better else -values
    errors = loss_errors(values, greater_is_better=greater_is_better)
    lost = losses(values, greater_is_better=greater_is_better)
    assert errors[1:] == pytest.approx(lost[1:].std(axis=1, ddof=1) / np.sqrt(1_000))
    assert lost[0].max() == 0 < errors[0] < 0.01


def test_a_certain_rank_has_an_error():
    ranks = expected_ranks(np.eye(3), 1_000)
    assert ranks.mcse == pytest.approx(np.full(3, np.sqrt(0.5) / 1_000), rel=0.01)


def test_a_ranking_states_no_error_of_zero():
    generator = np.random.default_rng(0)
    seen = op.Outcomes.from_correct(
        {name: generator.random(500) < p for name, p in (("a", 0.95), ("b", 0.6), ("c", 0.3))}
    )
    ranking = op.rank(seen, metric="accuracy", rope=0.01, n_draws=1_000, random_state=0)
    rows = ranking.to_dict()["models"]
    assert all(error > 0 for row in rows for error in row["mc_errors"].values())


# Classes that are named


def test_the_positive_class_alone_is_the_question_without_labels():
    truth, a, b, _ = weighted(0.0, n=200)
    alone = op.compare(truth, a, b, metric="f1", labels=[1], **ASKED)
    assert alone.observed == op.compare(truth, a, b, metric="f1", **ASKED).observed
