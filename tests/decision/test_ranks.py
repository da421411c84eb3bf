"""Ranks and losses of joint draws against counting by hand."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

from outperform.decision import ranks
from outperform.decision.ranks import expected_ranks, losses, rank_probabilities
from tests.loops import each


def counted(values, greater_is_better=True):
    """Average the ranks over every way to break the ties of every draw."""
    n_models, n_draws = values.shape
    shares = np.zeros((n_models, n_models))
    for draw in values.T:
        signed = draw if greater_is_better else -draw
        orders = [
            order
            for order in permutations(range(n_models))
            if all(signed[a] >= signed[b] for a, b in pairwise(order))
        ]
        for order in orders:
            for rank, model in enumerate(order):
                shares[model, rank] += 1 / len(orders)
    return shares / n_draws


@each("better", [True, False])
@each("levels", [2, 3, 1000])
def test_ranks_are_those_of_all_ways_to_break_ties(better, levels):
    values = np.random.default_rng(levels).integers(levels, size=(4, 30)) / levels
    found = rank_probabilities(values, greater_is_better=better)
    np.testing.assert_allclose(found, counted(values, better), atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=0), 1)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_blocks_of_draws_add_up(monkeypatch):
    values = np.random.default_rng(3).integers(5, size=(4, 101)) / 5
    whole = rank_probabilities(values)
    monkeypatch.setattr(ranks, "_AT_ONCE", 40)
    np.testing.assert_allclose(rank_probabilities(values), whole, atol=1e-12)


def test_the_best_has_rank_one():
    values = np.array([[0.1, 0.2], [0.9, 0.8], [0.5, 0.5]])
    assert rank_probabilities(values).argmax(axis=1).tolist() == [2, 0, 1]
    assert rank_probabilities(values, greater_is_better=False).argmax(axis=1).tolist() == [0, 2, 1]
    assert expected_ranks(rank_probabilities(values), 2).mean.tolist() == [3, 1, 2]


def test_the_error_of_an_expected_rank_is_that_of_a_mean():
    values = np.random.default_rng(1).normal(size=(5, 4000))
    values[0] += 0.5
    ranks = 1 + (values[None] > values[:, None]).sum(axis=1)
    found = expected_ranks(rank_probabilities(values), 4000)
    np.testing.assert_allclose(found.mean, ranks.mean(axis=1))
    np.testing.assert_allclose(found.mcse, ranks.std(axis=1) / np.sqrt(4000))


def test_losses_are_against_the_best_of_the_same_draw():
    values = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    assert losses(values).mean(axis=1).tolist() == [1 / 3, 1 / 3]
    # Against the model with the best mean nothing would be lost by either.
    assert (values.mean(axis=1).max() - values.mean(axis=1)).tolist() == [0, 0]
    assert losses(values, greater_is_better=False).mean(axis=1).tolist() == [1 / 3, 1 / 3]
    assert losses(np.array([[0.2], [0.3]]), greater_is_better=False).ravel().tolist() == [
        0.0,
        pytest.approx(0.1),
    ]
