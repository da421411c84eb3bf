"""Rows of slices: their order, their numbers and their limits, worked out in other ways."""

from __future__ import annotations

import math

import numpy as np
import pytest

import outperform as op
from outperform import metrics
from outperform.decision.rope import Decision, Rope
from outperform.inference.thresholds import FEW_ITEMS
from outperform.slices.api import FEW_SLICES
from outperform.slices.summary import Numbers, SliceNumbers, summarize_rows

LOSS = metrics.from_function(
    lambda table: 1 - np.trace(table) / table.sum(axis=(0, 1)),
    name="loss",
    greater_is_better=False,
    vectorized=True,
)
BETTER = (0.80, 0.78, 0.85, 0.75, 0.9, 0.7, 0.82, 0.79, 0.76, 0.88, 0.74)


def sliced(lifts, n=400, seed=2, base=0.6):
    """Return outcomes in which A is so often right in each slice, and B as often everywhere."""
    generator = np.random.default_rng(seed)
    part = np.repeat(np.arange(len(lifts)), n)
    y = generator.integers(2, size=part.size)
    a = np.where(generator.random(part.size) < np.asarray(lifts)[part], y, 1 - y)
    b = np.where(generator.random(part.size) < base, y, 1 - y)
    by = {"part": [f"{k:02d}" for k in part]}
    return op.Outcomes.from_labels(y, {"a": a, "b": b}, by=by)


def asked(seen, a="a", b="b", **more):
    given = {"metric": "accuracy", "rope": 0.02, "n_draws": 500, "random_state": 1}
    return op.compare_slices(seen, a, b, **given | more)


# The order of concern


def test_among_slices_that_are_surely_better_the_least_better_comes_first():
    slices = asked(sliced(BETTER, n=1_500))
    assert [row.p_worse for row in slices] == [0.0] * len(BETTER)
    means = [row.mean for row in slices]
    assert means == sorted(means)
    assert len(set(means)) == len(means)
    assert slices.rows[0].key == (f"{BETTER.index(min(BETTER)):02d}",)
    assert slices.rows[-1].key == (f"{BETTER.index(max(BETTER)):02d}",)


def test_among_slices_that_are_surely_worse_the_worst_comes_first():
    slices = asked(sliced(BETTER, n=1_500), "b", "a")
    assert [row.p_worse for row in slices] == [1.0] * len(BETTER)
    assert slices.rows[0].key == (f"{BETTER.index(max(BETTER)):02d}",)
    means = [row.mean for row in slices]
    assert means == sorted(means)


def test_where_lower_is_better_the_greatest_difference_comes_first():
    slices = asked(sliced(BETTER, n=1_500), metric=LOSS)
    assert {row.p_worse for row in slices} == {0.0}
    means = [row.mean for row in slices]
    assert means == sorted(means, reverse=True)
    assert slices.rows[0].key == (f"{BETTER.index(min(BETTER)):02d}",)


# The numbers of made-up draws


def numbers_of(draws, region, prob):
    return Numbers.of(np.sort(draws, axis=1), region, prob)


def concluded(draws, *, own=None, p_wrong=None, metric="accuracy", rope=(-0.05, 0.02), prob=0.9):
    """Return the rows of made-up draws ``(n_slices, n_draws)`` in the order of the slices."""
    seen = sliced([0.7] * len(draws), n=30)
    whole = asked(seen, metric=metric, n_draws=100)
    region = Rope.from_param(rope)
    rows = summarize_rows(
        whole.whole.spec,
        seen.slices,
        SliceNumbers(
            numbers_of(draws, region, prob),
            numbers_of(draws if own is None else own, region, prob),
            np.zeros(len(draws)) if p_wrong is None else p_wrong,
        ),
        observed=np.arange(2.0 * len(draws)).reshape(2, -1) / 100,
        p_like_overall=np.linspace(0.1, 0.9, len(draws)),
        rope=region,
        prob=prob,
        n_draws=draws.shape[1],
    )
    return sorted(rows, key=lambda row: row.key)


@pytest.mark.parametrize("metric", ["accuracy", LOSS], ids=["accuracy", "loss"])
def test_rows_hold_what_the_draws_of_their_slice_say(metric):
    generator = np.random.default_rng(4)
    draws = generator.normal([[-0.2], [-0.04], [0.0], [0.015], [0.2]], 0.02, size=(5, 300))
    better = metric == "accuracy"
    for place, row in enumerate(concluded(draws, metric=metric)):
        values = draws[place]
        below, above = np.mean(values < -0.05), np.mean(values > 0.02)
        assert row.key == (f"{place:02d}",)
        assert row.n == 30
        assert (row.mean, row.sd) == pytest.approx((values.mean(), values.std(ddof=1)))
        assert row.p_worse == pytest.approx(below if better else above)
        assert row.p_better == pytest.approx(above if better else below)
        assert row.p_equivalent == pytest.approx(1 - below - above)
        assert row.p_greater == pytest.approx(np.mean(values > 0))
        inside = np.mean((values >= row.hdi.low) & (values <= row.hdi.high))
        assert inside == pytest.approx(0.9, abs=0.5 / 300)
        seen = (row.observed_a, row.observed_b, row.observed)
        assert seen == pytest.approx((place / 100, (place + 5) / 100, -0.05))
        assert row.p_like_overall == pytest.approx(0.1 + 0.2 * place)
        assert row.n_draws == 300
        assert row.mcse == pytest.approx(values.std(ddof=1) / math.sqrt(300))
    firm = [row.decision for row in concluded(draws, metric=metric)]
    ends = (Decision.WORSE, Decision.BETTER)
    assert (firm[0], firm[-1]) == (ends if better else ends[::-1])


OWN = {  # pooled at 0: what the slice says on its own, the decision, and whether they disagree
    "alike": (0.0, Decision.EQUIVALENT, False),
    "apart, but not beyond the ROPE": (0.03, Decision.UNDECIDED, True),
    "beyond the ROPE": (-0.4, Decision.UNDECIDED, True),
}


@pytest.mark.parametrize("case", OWN)
def test_no_equivalence_where_the_own_interval_leaves_out_the_pooled_mean(case):
    centre, decision, disagrees = OWN[case]
    generator = np.random.default_rng(4)
    draws = generator.normal(0, 0.005, size=(1, 1_000))
    own = generator.normal(centre, 0.01, size=(1, 1_000))
    (row,) = concluded(draws, own=own)
    assert (row.decision, row.disagrees) == (decision, disagrees)
    assert (row.mean in row.unpooled_hdi) == (decision is Decision.EQUIVALENT)
    # A call that both make is no disagreement.
    (row,) = concluded(own, own=own)
    assert not row.disagrees


def test_a_call_whose_size_the_own_items_contradict_is_named():
    generator = np.random.default_rng(4)
    draws = generator.normal(-0.1, 0.005, size=(1, 1_000))
    (row,) = concluded(draws, own=draws - 0.06)
    assert row.decision is row.unpooled_decision is Decision.WORSE
    assert row.disagrees


@pytest.mark.parametrize(
    ("own", "decision"),
    [(0.0, Decision.LEANING_WORSE), (-0.08, Decision.WORSE), (-0.4, Decision.WORSE)],
)
def test_a_firm_decision_needs_the_own_items_to_lean_the_same_way(own, decision):
    generator = np.random.default_rng(4)
    draws = generator.normal(-0.09, 0.005, size=(1, 1_000))
    (row,) = concluded(draws, own=generator.normal(own, 0.03, size=(1, 1_000)))
    assert row.decision is decision


def test_how_probably_a_call_is_wrong_is_what_the_others_teach():
    """Of 60 slices of 60 items one is bad; with the others' word it is called less surely."""
    generator = np.random.default_rng(1)
    counts = generator.multinomial(60, [0.80, 0.05, 0.05, 0.10], size=60)
    counts[0] = [40, 2, 12, 6]
    place, cell = np.nonzero(counts)
    a, b = np.isin(cell, (0, 1)).astype(int), np.isin(cell, (0, 2)).astype(int)
    by = {"part": [f"{k:02d}" for k in place]}
    seen = op.Outcomes.from_counts(
        np.ones_like(place), {"a": a, "b": b}, counts[place, cell], labels=[0, 1], by=by
    )
    row = asked(seen, rope=0.01, n_draws=4_000)["00"]
    assert row.decision is row.unpooled_decision is Decision.WORSE
    assert row.p_wrong > 1 - row.p_worse + 5 * np.sqrt(0.25 / 4_000)
    assert row.mean > row.unpooled_hdi.midpoint


@pytest.mark.parametrize(("errors", "coarse"), [(5.5, True), (6.5, False)])
@pytest.mark.parametrize("side", ["low", "high"])
def test_a_decision_within_six_errors_of_an_edge_is_coarse(errors, coarse, side):
    draws = np.random.default_rng(6).normal(0.0, 0.02, size=(1, 400))
    hdi = concluded(draws, rope=0.4)[0].hdi
    if side == "high":  # the upper edge of the ROPE so many errors above the upper end
        rope = (-0.9, hdi.high + errors * hdi.mcse_high)
    else:
        rope = (hdi.low - errors * hdi.mcse_low, 0.9)
    (row,) = concluded(draws, rope=rope)
    assert row.coarse == coarse
    assert row.decision is Decision.EQUIVALENT


# Limits


def test_a_slice_of_very_many_items_is_what_it_is_alone():
    seen = sliced([0.9] + [0.6] * 11, n=4_000)
    row = asked(seen, n_draws=2_000)["00"]
    alone = op.compare(seen.slice("00"), "a", "b", metric="accuracy", rope=0.02, random_state=3)
    assert row.observed == pytest.approx(alone.observed)
    assert abs(row.mean - alone.mean) < 0.5 * alone.sd
    assert row.sd == pytest.approx(alone.sd, rel=0.15)
    assert row.p_like_overall < 0.05
    assert row.decision is Decision.BETTER


def test_a_slice_of_few_items_is_what_the_others_are():
    """Eleven slices alike and one of ten items that look quite different."""
    generator = np.random.default_rng(3)
    part = np.concatenate([np.repeat(np.arange(11), 1_000), np.full(10, 11)])
    y = generator.integers(2, size=part.size)
    a = np.where(generator.random(part.size) < np.where(part == 11, 0.4, 0.8), y, 1 - y)
    b = np.where(generator.random(part.size) < 0.7, y, 1 - y)
    seen = op.Outcomes.from_labels(y, {"a": a, "b": b}, by={"part": [f"{k:02d}" for k in part]})
    slices = asked(seen, n_draws=2_000)
    small = slices["11"]
    assert small.n == 10
    assert small.observed < -0.1
    assert abs(small.mean - slices.whole.mean) < 0.5 * abs(small.observed - slices.whole.mean)
    assert small.p_like_overall > 0.5


def test_the_whole_is_the_comparison_of_all_slices_together():
    seen = sliced(BETTER)
    slices = asked(seen)
    assert slices.whole.n == len(BETTER) * 400
    assert slices.whole.observed == pytest.approx(
        np.average([row.observed for row in slices], weights=[row.n for row in slices])
    )


# Findings


def test_few_and_small_are_what_the_page_says():
    assert (FEW_SLICES, FEW_ITEMS) == (10, 10)

    def names(n_slices, n):
        found = asked(sliced([0.7] * n_slices, n=n), n_draws=100)
        return {one.name: one.message for one in found.findings}

    assert "few_slices" in names(9, 10)
    assert "few_slices" not in names(10, 10)
    assert "small_slices" not in names(10, 10)
    assert names(10, 9)["small_slices"].startswith("10 of 10 slices")


def test_a_third_of_the_calls_are_counted_by_their_decisions():
    slices = asked(sliced((0.9, 0.3, 0.6) * 4, n=1_500))
    assert slices.counts[Decision.BETTER] == slices.counts[Decision.WORSE] == 4
    assert sum(slices.counts.values()) == 12
    assert {row.key for row in slices.flagged} == {
        row.key for row in slices if row.decision in (Decision.BETTER, Decision.WORSE)
    }
    assert slices.expected_false_alarms == pytest.approx(sum(row.p_wrong for row in slices))
