"""Weighted metrics of scores against scikit-learn, and against repeated items."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outperform.metrics.weighted import (
    AreaUnderCurve,
    AveragePrecision,
    Ranking,
    Units,
    WeightedMean,
    brier_losses,
    log_losses,
)
from tests.lazily import lazily
from tests.loops import each

average_precision_score = lazily("sklearn.metrics.average_precision_score")
brier_score_loss = lazily("sklearn.metrics.brier_score_loss")
log_loss = lazily("sklearn.metrics.log_loss")
roc_auc_score = lazily("sklearn.metrics.roc_auc_score")

METRICS = {
    "roc_auc": (AreaUnderCurve, roc_auc_score),
    "average_precision": (AveragePrecision, average_precision_score),
}


def drawn(n, *, levels=None, seed=0):
    """Return truth, scores (rounded to few levels if asked) and whole weights."""
    generator = np.random.default_rng(seed)
    truth = generator.random(n) < 0.4
    truth[:2] = True, False
    score = generator.normal(size=n) + truth
    if levels is not None:
        score = np.round(score * levels) / levels
    return truth, score, generator.integers(1, 5, n).astype(np.float64)


def value(kind, truth, score, weights, units=None):
    ranking = Ranking.of(truth, score, units or Units(len(truth)))
    return float(kind(ranking).worker()(weights[None])[0])


@each("name", METRICS)
@each("levels", [None, 20, 1])
def test_rankings_are_scikit_learns_with_and_without_weights(name, levels):
    kind, reference = METRICS[name]
    truth, score, weights = drawn(500, levels=levels)
    for weight in (np.ones(500), weights, np.random.default_rng(1).exponential(size=500)):
        expected = reference(truth, score, sample_weight=weight)
        assert value(kind, truth, score, weight) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", METRICS)
def test_a_weight_is_a_repeated_item(name):
    kind, _ = METRICS[name]
    truth, score, weights = drawn(80, levels=3)
    times = weights.astype(int)
    repeated = value(kind, np.repeat(truth, times), np.repeat(score, times), np.ones(times.sum()))
    assert value(kind, truth, score, weights) == pytest.approx(repeated, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.integers(1, 3)), min_size=2))
def test_any_small_table_agrees_with_scikit_learn(rows):
    truth, score, weight = (np.array(column) for column in zip(*rows, strict=True))
    if truth.all() or not truth.any():
        return
    for kind, reference in METRICS.values():
        expected = reference(truth, score, sample_weight=weight)
        found = value(kind, truth, score.astype(float), weight.astype(float))
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", METRICS)
def test_only_the_order_matters_and_rows_may_come_in_any(name):
    kind, _ = METRICS[name]
    truth, score, weights = drawn(200, levels=5)
    first = value(kind, truth, score, weights)
    assert value(kind, truth, np.exp(3 * score), weights) == pytest.approx(first, abs=1e-13)
    order = np.random.default_rng(3).permutation(200)
    again = value(kind, truth[order], score[order], weights[order])
    assert again == pytest.approx(first, abs=1e-13)


def test_turned_scores_give_one_minus_auc():
    truth, score, weights = drawn(200, levels=5)
    turned = value(AreaUnderCurve, truth, -score, weights)
    assert turned == pytest.approx(1 - value(AreaUnderCurve, truth, score, weights), abs=1e-13)


@pytest.mark.parametrize("name", METRICS)
def test_a_group_gives_its_weight_to_all_its_items(name):
    kind, _ = METRICS[name]
    truth, score, times = drawn(90, levels=4)
    unit = np.arange(90) // 3
    groups = np.random.default_rng(5).exponential(size=30)
    found = value(kind, truth, score, groups, Units(30, unit, times))
    assert found == pytest.approx(value(kind, truth, score, groups[unit] * times), abs=1e-13)


@pytest.mark.parametrize("name", METRICS)
def test_blocks_of_draws_do_not_disturb_one_another(name):
    kind, _ = METRICS[name]
    truth, score, _ = drawn(60, levels=4)
    weights = np.random.default_rng(2).exponential(size=(7, 60))
    worker = kind(Ranking.of(truth, score, Units(60))).worker()
    together = worker(weights).copy()
    apart = [worker(weights[place : place + 1])[0] for place in range(7)]
    assert together == pytest.approx(apart, abs=1e-15)


def test_a_bug_in_the_ties_would_be_seen():
    truth, score, weights = drawn(300, levels=1)
    ranking = Ranking.of(truth, score, Units(300))
    planted = Ranking(
        positives=ranking.positives,
        negatives=ranking.negatives,
        above=ranking.above,
        level=ranking.above,
        peers=ranking.peers,
        units=ranking.units,
    )
    expected = roc_auc_score(truth, score, sample_weight=weights)
    wrong = float(AreaUnderCurve(planted).worker()(weights[None])[0])
    assert abs(wrong - expected) > 0.01


def two_columns(probability):
    return np.stack([1 - probability, probability], axis=1)


def test_losses_are_scikit_learns():
    truth, score, weights = drawn(400)
    probability = 1 / (1 + np.exp(-score))
    probability[:3] = 0.0, 1.0, 0.5
    for losses, reference in ((log_losses, log_loss), (brier_losses, brier_score_loss)):
        values = losses(truth.astype(int), two_columns(probability))
        found = float(WeightedMean(values, Units(400)).worker()(weights[None])[0])
        expected = reference(truth, probability, sample_weight=weights)
        assert found == pytest.approx(expected, abs=1e-12)


def test_losses_of_several_classes_are_scikit_learns():
    generator = np.random.default_rng(8)
    truth = generator.integers(0, 4, 300)
    probability = generator.dirichlet(np.ones(4), 300)
    for losses, reference in ((log_losses, log_loss), (brier_losses, brier_score_loss)):
        expected = reference(truth, probability, labels=[0, 1, 2, 3])
        assert losses(truth, probability).mean() == pytest.approx(expected, abs=1e-12)


def test_a_mean_over_groups_is_the_mean_over_their_items():
    values, unit = np.arange(6.0), np.array([0, 1, 1, 2, 2, 2])
    times = np.array([1.0, 2.0, 1.0, 1.0, 1.0, 3.0])
    weights = np.array([0.5, 2.0, 1.0])
    found = WeightedMean(values, Units(3, unit, times)).worker()(weights[None])[0]
    assert found == pytest.approx(np.average(values, weights=weights[unit] * times), abs=1e-15)
