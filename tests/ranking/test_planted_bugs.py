"""Bugs planted on purpose: what holds of every ranking must catch each of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import outperform as op
from outperform.decision.ranks import RankMoments, expected_ranks, rank_probabilities
from outperform.ranking import api, pairs, result


def ranked():
    generator = np.random.default_rng(8)
    y = generator.integers(3, size=200)
    models = {
        name: np.where(generator.random(200) < right, y, generator.integers(3, size=200))
        for name, right in (("a", 0.75), ("b", 0.7), ("c", 0.72), ("d", 0.4))
    }
    return op.rank(y, models, metric="f1_macro", rope=0.02, n_draws=2_000, random_state=1)


def check(ranking):
    """Fail unless everything follows from the draws, worked out in another way."""
    draws = dict(zip(ranking.names, ranking.draws, strict=True))
    raw = dict(zip(ranking.names, ranking.unpooled_draws, strict=True))
    best = ranking.draws.max(axis=0)
    for row in ranking:
        own = draws[row.name]
        rank = 1 + sum(other > own for other in draws.values())
        assert row.mean == pytest.approx(own.mean())
        assert row.expected_rank == pytest.approx(rank.mean())
        assert row.p_rank == pytest.approx([(rank == 1 + place).mean() for place in range(4)])
        assert row.p_best == pytest.approx((own == best).mean())
        assert row.regret == pytest.approx((best - own).mean())
        against = own - draws[ranking.leader.name]
        alone = raw[row.name] - raw[ranking.leader.name]
        assert row.tied or max(against.mean(), alone.mean()) < -0.02
        assert not row.tied or max(np.quantile(one, 0.99) for one in (against, alone)) > -0.02
    for a, b in combinations(draws, 2):
        difference = raw[a] - raw[b]
        for one, two, values in ((a, b, difference), (b, a, -difference)):
            pair = ranking.pair(one, two)
            assert pair.mean == pytest.approx(values.mean())
            assert pair.p_greater == pytest.approx((values > 0).mean())
            assert pair.p_better == pytest.approx((values > 0.02).mean())
            assert pair.p_worse == pytest.approx((values < -0.02).mean())
            assert pair.hdi.low < values.mean() < pair.hdi.high


def caught():
    with pytest.raises(AssertionError):
        check(ranked())


def test_a_ranking_without_a_bug_passes():
    check(ranked())


def test_regret_against_the_best_mean_is_caught(monkeypatch):
    def wrong(values, *, greater_is_better=True):
        return values.mean(axis=1).max() - values

    monkeypatch.setattr(result, "losses", wrong)
    caught()


def test_ranks_off_by_one_are_caught(monkeypatch):
    def wrong(values, *, greater_is_better=True):
        return np.roll(rank_probabilities(values), 1, axis=1)

    monkeypatch.setattr(result, "rank_probabilities", wrong)
    caught()


def test_ranks_counted_from_zero_are_caught(monkeypatch):
    def wrong(probabilities, n_draws):
        mean, mcse = expected_ranks(probabilities, n_draws)
        return RankMoments(mean=mean - 1, mcse=mcse)

    monkeypatch.setattr(result, "expected_ranks", wrong)
    caught()


def test_the_worst_for_the_best_is_caught(monkeypatch):
    def wrong(values, *, greater_is_better=True):
        return rank_probabilities(values, greater_is_better=not greater_is_better)

    monkeypatch.setattr(result, "rank_probabilities", wrong)
    caught()


def test_b_minus_a_is_caught(monkeypatch):
    right = result.compare_pairs

    def wrong(spec, values, observed, indices, **more):
        return right(spec, -values, observed, indices, **more)

    monkeypatch.setattr(result, "compare_pairs", wrong)
    caught()


def test_decisions_by_pooled_draws_are_caught(monkeypatch):
    right = api.summarize_ranking

    def wrong(spec, values, raw, **more):
        pooled = right(spec, values, values, **more)
        return replace(
            pooled, unpooled_draws=raw[[spec.view.models.index(n) for n in pooled.names]]
        )

    monkeypatch.setattr(api, "summarize_ranking", wrong)
    caught()


def test_masses_that_do_not_turn_with_the_difference_are_caught(monkeypatch):
    monkeypatch.setattr(pairs, "_turned", lambda masses: masses)
    caught()


def test_pairs_left_in_the_order_of_names_are_caught(monkeypatch):
    monkeypatch.setattr(result, "in_order", lambda matrix, order: matrix)
    caught()
