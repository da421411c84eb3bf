"""The tests that judge ranks, judged themselves."""

from __future__ import annotations

import numpy as np
import pytest

from verification.uniformity import N_RANKS, _stays_inside, holm, judge, rank


def test_uniform_ranks_get_uniform_p_values():
    generator = np.random.default_rng(1)
    found = np.array([judge(generator.integers(0, N_RANKS, 500), generator) for _ in range(1_000)])
    for level in (0.05, 0.5):
        # A binomial count of 1,000: four standard errors.
        error = np.sqrt(level * (1 - level) / 1_000)
        assert np.all(np.abs((found <= level).mean(axis=0) - level) < 4 * error)


@pytest.mark.parametrize(
    ("spoil", "test"),
    [
        (lambda u: np.where(u < 0.1, u / 2, u), "chi_square"),
        (lambda u: u**1.15, "ecdf_band"),
        (lambda u: u**1.15, "mean_score"),
        (lambda u: 0.5 + 0.93 * (u - 0.5), "variance_score"),
    ],
)
def test_each_test_sees_its_fault(spoil, test):
    generator = np.random.default_rng(2)
    ranks = (spoil(generator.random(5_000)) * N_RANKS).astype(np.int64)
    assert getattr(judge(ranks, generator), test) < 1e-6


def test_the_band_is_kept_as_often_as_it_says():
    generator = np.random.default_rng(3)
    n, level = 40, 0.02
    points = np.arange(1, 32) / 32
    from scipy.stats import binom

    below = (generator.random((20_000, n, 1)) < points).sum(axis=1)
    tails = np.minimum(binom.cdf(below, n, points), binom.sf(below - 1, n, points))
    kept = (2 * tails > level).all(axis=1).mean()
    expected = _stays_inside(n, level)
    assert kept == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 20_000))


def test_ties_are_broken_evenly():
    generator = np.random.default_rng(4)
    ranks = rank(np.zeros((4_000, 4)), generator)
    seen = np.bincount(ranks, minlength=4)
    assert seen.size == 4
    assert np.all(np.abs(seen - 1_000) < 4 * np.sqrt(750))


def test_rank_counts_the_draws_below():
    values = np.array([[0.5, 0.1, 0.2, 0.9], [2.0, 0.1, 0.2, 0.9]])
    assert rank(values, np.random.default_rng(0)).tolist() == [2, 3]


def test_holm_by_hand():
    adjusted = holm(np.array([0.01, 0.04, 0.03]))
    assert adjusted == pytest.approx([0.03, 0.06, 0.06])
