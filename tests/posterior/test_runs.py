"""The mean over all runs: t intervals, nothing counted twice, bounds, and planted bugs."""

from __future__ import annotations

import numpy as np
import pytest

from outperform.posterior.predictive import Spread, draw_mean, draw_mean_difference, spread_of
from tests.lazily import lazily
from tests.loops import each

stats = lazily("scipy.stats")

SEED = np.random.SeedSequence(5)
UNIT = (0.0, 1.0)
WIDE = (-1e6, 1e6)
N = 100_000
A = np.array([0.80, 0.83, 0.81, 0.86, 0.84])
B = np.array([0.79, 0.80, 0.795, 0.805, 0.79])


def still(values, n_draws=N):
    """Return draws of runs on endless items, which all say the same."""
    return np.repeat(np.asarray(values)[:, None], n_draws, axis=1)


def assert_quantiles(draws, exact):
    """Hold quantiles against a distribution, within five Monte Carlo errors."""
    for level in (0.025, 0.25, 0.5, 0.75, 0.975):
        value = exact.ppf(level)
        error = np.sqrt(level * (1 - level) / draws.size) / exact.pdf(value)
        assert np.quantile(draws, level) == pytest.approx(value, abs=5 * error)


def test_with_endless_items_a_mean_is_students_t():
    found = draw_mean(still(A), bounds=WIDE, seed=SEED)
    assert_quantiles(found.means, stats.t(4, A.mean(), A.std(ddof=1) / np.sqrt(5)))


@each(("a", "b"), [(A, B), (B, A), (A, A[:2]), (A[:3], B), (A, B[:2])])
def test_with_endless_items_a_difference_is_welchs_t(a, b):
    found = draw_mean_difference(still(a), still(b), bounds=WIDE, seed=SEED)
    welch = stats.ttest_ind(a, b, equal_var=False)
    scale = np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    assert_quantiles(found.means, stats.t(welch.df, a.mean() - b.mean(), scale))


def test_a_single_run_is_itself():
    drawn = np.random.default_rng(1).random((1, 50))
    found = draw_mean(drawn, bounds=UNIT, seed=SEED)
    assert np.array_equal(found.means, drawn[0])
    assert not found.variances.any()
    against = draw_mean_difference(still(A, 50), drawn, bounds=UNIT, seed=SEED)
    assert against.variances.all()


def test_runs_that_are_all_the_same_add_nothing():
    drawn = np.repeat(np.random.default_rng(1).random((1, 50)), 5, axis=0)
    assert draw_mean(drawn, bounds=UNIT, seed=SEED).means == pytest.approx(drawn[0], abs=1e-12)
    found = draw_mean_difference(drawn, drawn[:3], bounds=UNIT, seed=SEED)
    assert found.means == pytest.approx(np.zeros(50), abs=1e-12)


def noisy(levels, *, shared, own, n_draws=N, seed=3):
    """Return draws of runs with luck that they share and luck of their own."""
    generator = np.random.default_rng(seed)
    centre = np.asarray(levels)[:, None]
    luck = shared * generator.standard_normal(n_draws)
    return centre + luck + own * generator.standard_normal((len(levels), n_draws))


def test_noise_is_what_sets_the_runs_apart():
    spread = spread_of(noisy(A, shared=0.3, own=0.01))
    assert spread.noise == pytest.approx(0.01**2 / 5, rel=0.01)
    assert spread.between == pytest.approx(A.var(ddof=1) / 5, rel=0.01)
    assert spread.degrees == 4


def test_nothing_is_counted_twice():
    levels = np.random.default_rng(2).normal(0.8, 0.02, size=60)
    drawn = noisy(levels, shared=0.004, own=0.015)
    found = draw_mean(drawn, bounds=WIDE, seed=SEED)
    # The items' share and s² / R, which holds the runs' noise once: t has ν / (ν − 2).
    total = 0.004**2 + levels.var(ddof=1) / 60 * 59 / 57
    assert found.means.var() == pytest.approx(total, rel=0.02)
    twice = total + 0.015**2 / 60
    assert found.means.var() < 0.5 * (total + twice)


def test_runs_closer_than_their_noise_add_little():
    drawn = noisy(np.full(5, 0.8) + 1e-5 * np.arange(5), shared=0.0, own=0.02)
    found = draw_mean(drawn, bounds=UNIT, seed=SEED)
    assert np.median(found.variances) < 0.02**2 / 5
    many = noisy(np.full(400, 0.8), shared=0.0, own=0.02, n_draws=2_000)
    assert not draw_mean(many, bounds=UNIT, seed=SEED).variances.any()


@pytest.mark.parametrize("levels", [[0.2, 0.8], [0.97, 0.999, 1.0], [0.0, 0.001]])
def test_means_stay_within_the_bounds(levels):
    found = draw_mean(still(levels, 20_000), bounds=UNIT, seed=SEED)
    assert found.means.min() >= 0
    assert found.means.max() <= 1
    assert found.variances.max() <= 0.25 / len(levels)


def test_a_metric_may_have_no_upper_bound():
    found = draw_mean(still([0.4, 0.5, 0.45], 20_000), bounds=(0.0, np.inf), seed=SEED)
    assert np.isfinite(found.means).all()
    assert found.means.min() >= 0


def test_a_turned_difference_is_the_difference_turned():
    one = draw_mean_difference(still(A), still(B), bounds=UNIT, seed=SEED)
    two = draw_mean_difference(still(B), still(A), bounds=UNIT, seed=np.random.SeedSequence(6))
    # Five joint errors of these quantiles of N draws are 0.0009.
    assert np.quantile(one.means, 0.025) == pytest.approx(-np.quantile(two.means, 0.975), abs=1e-3)


# How often equal models are called different, with 5 runs of each


def false_calls(draw, *, spread_b=1.0, n_runs=5, repetitions=1_200):
    generator = np.random.default_rng(8)
    called = 0
    for repetition in range(repetitions):
        a = still(generator.normal(0, 1, n_runs), 400)
        b = still(generator.normal(0, spread_b, n_runs), 400)
        means = draw(a, b, np.random.SeedSequence(repetition))
        called += not 0.025 < np.mean(means > 0) < 0.975
    return called / repetitions


def ours(a, b, seed):
    return draw_mean_difference(a, b, bounds=WIDE, seed=seed).means


def bootstrapped(a, b, seed):
    generator = np.random.default_rng(seed)
    again = [generator.integers(len(one), size=one.shape) for one in (a, b)]
    places = np.arange(a.shape[1])
    return a[again[0], places].mean(axis=0) - b[again[1], places].mean(axis=0)


def not_divided(a, b, seed):
    means = ours(a, b, seed)
    centre = (a.mean(axis=0) - b.mean(axis=0))[0]
    return centre + np.sqrt(len(a)) * (means - centre)


def normal_instead_of_t(a, b, seed):
    scale = np.sqrt(sum(one[:, 0].var(ddof=1) / len(one) for one in (a, b)))
    centre = (a.mean(axis=0) - b.mean(axis=0))[0]
    return centre + scale * np.random.default_rng(seed).standard_normal(a.shape[1])


# Three standard errors of 5% in 1,200 are 1.9 points; 400 draws add a little.
@pytest.mark.parametrize("spread_b", [1.0, 3.0, 0.1])
def test_false_calls_are_as_many_as_said(spread_b):
    assert 0.03 < false_calls(ours, spread_b=spread_b) < 0.07


@pytest.mark.parametrize("planted", [bootstrapped, not_divided, normal_instead_of_t])
def test_planted_bugs_show(planted):
    assert not 0.03 < false_calls(planted) < 0.07


def test_spreads_are_plain_numbers():
    assert isinstance(spread_of(still(A, 10)), Spread)
