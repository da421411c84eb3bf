"""The study of scores of folds: its worlds, its truth and its gate."""

from __future__ import annotations

import numpy as np
import pytest

from verification import fold_scores
from verification.fold_scores import FoldWorld, Held


def test_folds_correlate_by_their_share():
    world = FoldWorld(datasets=4_000, folds=5)
    noise = fold_scores.correlated(world, np.random.default_rng(1))
    assert noise.shape == (4_000, 5)
    assert np.cov(noise.T)[np.triu_indices(5, 1)].mean() == pytest.approx(0.2, abs=0.02)
    assert noise.var() == pytest.approx(1, abs=0.04)


def test_the_trained_classifier_with_more_features_is_better(monkeypatch):
    monkeypatch.setattr(fold_scores, "_TRAINING_SETS", 200)
    fold_scores.true_difference.cache_clear()
    truth = fold_scores.true_difference(10)
    fold_scores.true_difference.cache_clear()
    assert 0 < truth < 0.2
    a, b = fold_scores.cross_validate(FoldWorld(trained=True, runs=20), np.random.default_rng(2))
    assert a.size == b.size == 200
    assert (a - b).mean() == pytest.approx(truth, abs=0.08)


def test_repetitions_do_not_depend_on_chunks():
    for world in (FoldWorld(), FoldWorld(datasets=3, spread=1.0)):
        parts = fold_scores.repeat(world, 0, 1) + fold_scores.repeat(world, 1, 2)
        assert repr(fold_scores.repeat(world, 0, 2)) == repr(parts)


@pytest.mark.parametrize(("covered", "held"), [(0.95, True), (0.80, False)])
def test_the_gate_wants_intervals_that_hold(covered, held):
    noted = [Held(one < 1_000 * covered, 1.0) for one in range(1_000)]
    found = {FoldWorld(): noted}
    assert (fold_scores.failures(found) == []) == held
    assert "95.0" in fold_scores.tables(found)["fold_scores.md"] or not held
