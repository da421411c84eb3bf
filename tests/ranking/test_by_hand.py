"""Every number of a ranking, counted again draw by draw with plain Python."""

from __future__ import annotations

import math
from statistics import fmean, stdev

import numpy as np
import pytest

import outperform as op
from outperform import metrics
from outperform.decision.rope import probability_error
from outperform.ranking.pairs import above_diagonal

ROPE = (-0.06, 0.01)  # A model may lose 0.06 and still be as good; gaining 0.01 is better.
LOSS = metrics.from_function(
    lambda table: 1 - np.trace(table) / table.sum(axis=(0, 1)),
    name="loss",
    greater_is_better=False,
    vectorized=True,
)


def ranked(metric, *, rope=ROPE, n_draws=700, seed=8, n=150, **asked):
    generator = np.random.default_rng(seed)
    y = generator.integers(3, size=n)
    models = {
        name: np.where(generator.random(n) < right, y, generator.integers(3, size=n))
        for name, right in (("a", 0.75), ("b", 0.7), ("c", 0.72), ("d", 0.4))
    }
    return op.rank(
        y, models, metric=metric, rope=rope, n_draws=n_draws, random_state=1, n_jobs=1, **asked
    )


def columns(ranking, *, raw=False):
    """Return one dictionary a draw, from the name of a model to its value, pooled or before."""
    draws = ranking.unpooled_draws if raw else ranking.draws
    return [dict(zip(ranking.names, values, strict=True)) for values in draws.T.tolist()]


def rank_of(name, draw, better):
    """Return the rank of a model in a draw without ties, the best having 1."""
    return 1 + sorted(draw, key=draw.get, reverse=better).index(name)


def shortest(values, prob):
    """Return the shortest interval that holds this share of the values, trying them all."""
    ordered = sorted(values)
    inside = math.ceil(prob * len(ordered))
    starts = range(len(ordered) - inside + 1)
    best = min(starts, key=lambda start: ordered[start + inside - 1] - ordered[start])
    return ordered[best], ordered[best + inside - 1]


@pytest.fixture(scope="module", params=["f1_macro", LOSS], ids=["f1_macro", "loss"])
def ranking(request):
    return ranked(request.param)


def test_ranks_regret_and_practical_ties_of_every_draw(ranking):
    better = ranking.spec.metric.greater_is_better
    allowed = 0.06 if better else 0.01  # what is lost to the best, in the metric's direction
    draws = columns(ranking)
    best = max if better else min
    for row in ranking:
        ranks = [rank_of(row.name, draw, better) for draw in draws]
        lost = [abs(best(draw.values()) - draw[row.name]) for draw in draws]
        n = len(draws)
        assert row.p_best == pytest.approx(ranks.count(1) / n)
        assert row.p_rank.tolist() == pytest.approx([ranks.count(k) / n for k in (1, 2, 3, 4)])
        assert row.expected_rank == pytest.approx(fmean(ranks))
        never = probability_error(0.0, n)  # what happens in no draw may happen in the next
        error = max(stdev(ranks) / math.sqrt(n), never)
        assert row.expected_rank_mcse == pytest.approx(error, rel=2e-3)
        assert row.regret == pytest.approx(fmean(lost))
        others = [[value for name, value in draw.items() if name != row.name] for draw in draws]
        lead = [draw[row.name] - best(rest) for draw, rest in zip(draws, others, strict=True)]
        error = max(stdev(lost) / math.sqrt(n), stdev(lead) * never)
        assert row.regret_mcse == pytest.approx(error)
        near = sum(loss <= allowed for loss in lost) / n
        assert row.p_practically_best == pytest.approx(near)
        assert row.mc_errors["p_best"] == pytest.approx(probability_error(row.p_best, n))
        assert row.mc_errors["p_practically_best"] == pytest.approx(probability_error(near, n))
        assert row.mc_errors["expected_rank"] == row.expected_rank_mcse
        assert row.mc_errors["regret"] == row.regret_mcse
    # The numbers are far enough from 0, 1 and each other for a mistake to show.
    assert 0.05 < ranking.rows[2].p_practically_best < 0.98
    means = [row.mean for row in ranking]
    assert means == sorted(means, reverse=better)


def test_every_difference_of_every_draw(ranking):
    better = ranking.spec.metric.greater_is_better
    draws, (low, high) = columns(ranking, raw=True), ROPE
    n = len(draws)
    for a in ranking.names:
        for b in ranking.names:
            if a == b:
                continue
            pair, values = ranking.pair(a, b), [draw[a] - draw[b] for draw in draws]
            assert pair.names == (a, b)
            assert pair.observed == pytest.approx(ranking[a].observed - ranking[b].observed)
            assert pair.mean == pytest.approx(fmean(values))
            assert pair.sd == pytest.approx(stdev(values))
            assert pair.mcse == pytest.approx(stdev(values) / math.sqrt(n))
            below, above = (
                sum(value < low for value in values) / n,
                sum(value > high for value in values) / n,
            )
            assert pair.p_worse == pytest.approx(below if better else above)
            assert pair.p_better == pytest.approx(above if better else below)
            assert pair.p_equivalent == pytest.approx(1 - below - above)
            assert pair.p_greater == pytest.approx(sum(value > 0 for value in values) / n)
            assert (pair.hdi.low, pair.hdi.high) == pytest.approx(shortest(values, 0.95))
            wholly_below, wholly_above = pair.hdi.high < low, pair.hdi.low > high
            if wholly_below or wholly_above:
                assert pair.decision.symbol == ("≫" if wholly_above == better else "≪")
            else:
                assert pair.decision.symbol not in "≫≪"


def test_a_decision_turned_round_has_its_errors_turned_round(ranking):
    for pair in above_diagonal(ranking.pairs):
        back = ranking.pair(*reversed(pair.names))
        assert (back.hdi.mcse_low, back.hdi.mcse_high) == (pair.hdi.mcse_high, pair.hdi.mcse_low)


def test_the_tied_are_those_whose_interval_reaches_into_the_rope(ranking):
    better = ranking.spec.metric.greater_is_better
    leader, tied, missed = ranking.leader.name, [ranking.leader.name], 0.0
    for row in ranking.rows[1:]:
        worse = []
        for raw in (False, True):
            differences = [draw[row.name] - draw[leader] for draw in columns(ranking, raw=raw)]
            low, high = shortest(differences, 0.95)
            worse.append((high < ROPE[0]) if better else (low > ROPE[1]))
        if all(worse):
            missed += row.p_best
        else:
            tied.append(row.name)
    assert ranking.tied == tuple(tied)
    assert 1 < len(tied) < 4
    assert ranking.p_best_not_tied == pytest.approx(missed, abs=1e-12)
    assert ranking.leader.decision is None


def test_which_comes_first_is_open_within_six_errors_of_the_means():
    seen = []
    for seed in range(12):
        ranking = ranked("accuracy", rope=0.4, seed=seed, n_draws=200)
        pooled = ranking.draws[0] - ranking.draws[1]
        apart = abs(pooled.mean()) / (pooled.std(ddof=1) / math.sqrt(pooled.size))
        findings = [one.message for one in ranking.findings if "Which of them comes" in one.message]
        assert len(findings) == (apart < 6)
        seen.append(apart)
    assert min(seen) < 5 < 6 < max(seen)


def test_a_decision_within_six_errors_of_an_edge_is_coarse():
    ranking = ranked("accuracy", n_draws=400)
    pair = ranking.pair("a", "b")
    # The ROPE's upper edge just so many errors above the upper end, its lower edge far away.
    for errors, coarse in ((5.5, True), (6.5, False)):
        rope = (-10.0, pair.hdi.high + errors * pair.hdi.mcse_high)
        moved = ranked("accuracy", rope=(-0.99, rope[1]), n_draws=400).pair("a", "b")
        assert moved.coarse == coarse


def test_withheld_decisions_are_counted():
    y = np.arange(200) % 2
    nearly, weak = y.copy(), y.copy()
    nearly[:2], weak[:60] = 1 - y[:2], 1 - y[:60]
    ranking = op.rank(
        y, {"x": y, "y": nearly, "z": weak}, metric="accuracy", rope=0.05,
        prior="bootstrap", n_draws=400, random_state=1,
    )  # fmt: skip
    assert [pair.withheld for pair in above_diagonal(ranking.pairs)] == [True, False, False]
    (finding,) = [one for one in ranking.findings if one.name == "few_disagreements"]
    assert finding.level == "serious"
    assert finding.message.startswith("1 of 3 pairs")
    assert "(x and y)" in finding.message
