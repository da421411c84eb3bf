"""Weights of items: exponential, or gammas where a row stands for several."""

from __future__ import annotations

import numpy as np
import pytest

from outperform.posterior.bootstrap import block_of_items, draw_items
from outperform.posterior.rng import seed_sequence


def weights_of(n_units, n_draws, *, shapes=None, n_jobs=1):
    """Return the weights themselves, ``(n_units, n_draws)``."""

    def make():
        def evaluate(weights, out):
            out[:] = weights.T

        return evaluate

    return draw_items(
        make,
        n_units=n_units,
        shapes=shapes,
        n_values=n_units,
        n_draws=n_draws,
        seed=seed_sequence(4),
        n_jobs=n_jobs,
    )


def test_every_item_has_an_exponential_weight():
    weights = weights_of(50, 4_000)
    # 200,000 independent draws: five standard errors.
    assert weights.mean() == pytest.approx(1, abs=5 / np.sqrt(weights.size))
    assert weights.var() == pytest.approx(1, abs=5 * np.sqrt(8 / weights.size))
    assert np.abs(np.corrcoef(weights) - np.eye(50)).max() < 5.5 / np.sqrt(4_000)


def test_a_row_of_several_items_has_a_gamma_weight():
    shapes = np.array([1.0, 7.0, 40.0])
    weights = weights_of(3, 20_000, shapes=shapes)
    assert weights.mean(axis=1) == pytest.approx(shapes, abs=5 * np.sqrt(40 / 20_000))
    assert weights.var(axis=1) == pytest.approx(shapes, rel=0.06)


@pytest.mark.parametrize("shapes", [None, np.full(3_000, 2.0)])
def test_threads_change_nothing(shapes):
    one, four = (weights_of(3_000, 100, shapes=shapes, n_jobs=jobs) for jobs in (1, 4))
    assert np.array_equal(one, four)


def test_a_block_of_draws_never_needs_more_than_a_few_megabytes_or_one_draw():
    for n in (1, 10, 1_000, 100_000, 10_000_000):
        length = block_of_items(n)
        assert 1 <= length <= 4_096
        assert length == 1 or length * n <= 1 << 17
