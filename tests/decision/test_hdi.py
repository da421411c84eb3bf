"""The HDI of draws: the right ends, and errors that are honest about them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from outperform.decision.hdi import narrowest, narrowest_ends, narrowest_rows
from outperform.decision.intervals import equal_tailed
from tests.lazily import lazily
from tests.loops import each

beta = lazily("scipy.stats.beta")
norm = lazily("scipy.stats.norm")


def skewed():
    return beta(80, 8)


def shortest(distribution, prob):
    """Return the ends of the narrowest interval of a distribution, by minimisation."""
    found = minimize_scalar(
        lambda p: distribution.ppf(p + prob) - distribution.ppf(p),
        bounds=(1e-9, 1 - prob - 1e-9),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return distribution.ppf(found.x), distribution.ppf(found.x + prob)


def repeat(distribution, n_draws, n_seeds, interval):
    """Return (n_seeds, 4): both ends and the errors reported for them."""
    found = []
    for seed in range(n_seeds):
        ordered = np.sort(distribution.rvs(n_draws, random_state=seed))
        one = interval(ordered, 0.95)
        found.append((one.low, one.high, one.mcse_low, one.mcse_high))
    return np.array(found)


@pytest.mark.parametrize("make", [norm, skewed], ids=["normal", "skewed"])
def test_the_error_of_the_narrowest_interval_is_honest(make):
    distribution = make()
    found = repeat(distribution, 20_000, 200, narrowest)
    ratio = found[:, :2].std(axis=0, ddof=1) / found[:, 2:].mean(axis=0)
    assert ((ratio > 0.8) & (ratio < 1.25)).all()
    bias = found[:, :2].mean(axis=0) - shortest(distribution, 0.95)
    assert (np.abs(bias) < 0.4 * found[:, 2:].mean(axis=0)).all()


def test_the_fit_takes_a_third_or_more_off_the_plain_error():
    exact = np.array(shortest(norm(), 0.95))
    squares = {"fitted": 0.0, "plain": 0.0}
    for seed in range(120):
        ordered = np.sort(norm.rvs(size=50_000, random_state=seed))
        fitted = narrowest(ordered, 0.95)
        squares["fitted"] += ((np.array([fitted.low, fitted.high]) - exact) ** 2).sum()
        squares["plain"] += ((np.array(narrowest_ends(ordered, 0.95)) - exact) ** 2).sum()
    # 40% in the long run; 120 seeds know the ratio to about 6%.
    assert np.sqrt(squares["fitted"] / squares["plain"]) < 0.7


@each("prob", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_the_narrowest_interval_of_many_draws_is_the_exact_one(prob):
    ordered = np.sort(skewed().rvs(200_000, random_state=1))
    found = narrowest(ordered, prob)
    low, high = shortest(skewed(), prob)
    assert abs(found.low - low) < 5 * found.mcse_low
    assert abs(found.high - high) < 5 * found.mcse_high
    inside = np.mean((ordered >= found.low) & (ordered <= found.high))
    assert inside == pytest.approx(prob, abs=0.002)


def test_a_monotone_density_has_an_end_at_its_edge():
    ordered = np.sort(np.random.default_rng(1).exponential(size=50_000))
    found = narrowest(ordered, 0.95)
    assert 0.0 <= found.low < 0.01
    assert found.high == pytest.approx(-np.log(0.05), abs=0.05)


def test_few_draws_get_the_plain_interval_with_a_wide_error():
    ordered = np.sort(np.random.default_rng(1).normal(size=400))
    found = narrowest(ordered, 0.95)
    assert (found.low, found.high) == narrowest_ends(ordered, 0.95)
    exact = equal_tailed(ordered, 0.95)
    assert found.mcse_low > exact.mcse_low


def test_the_plain_interval_of_a_small_table():
    ordered = np.array([0.0, 5.0, 5.1, 5.2, 9.0])
    assert narrowest_ends(ordered, 0.6) == (5.0, 5.2)
    assert narrowest_ends(ordered, 0.99) == (0.0, 9.0)
    assert narrowest_ends(np.array([3.0]), 0.5) == (3.0, 3.0)


@pytest.mark.parametrize("n_draws", [100, 20_000])
def test_draws_that_are_all_equal_give_a_point(n_draws):
    found = narrowest(np.full(n_draws, 0.25), 0.95)
    assert (found.low, found.high, found.mcse_low, found.mcse_high) == (0.25, 0.25, 0.0, 0.0)
    tails = equal_tailed(np.full(n_draws, 0.25), 0.95)
    assert (tails.low, tails.high, tails.mcse_low) == (0.25, 0.25, 0.0)


def test_many_ties_do_no_harm():
    draws = np.zeros(20_000)
    draws[:1_500] = np.random.default_rng(1).normal(size=1_500)
    found = narrowest(np.sort(draws), 0.95)
    assert np.isfinite([found.low, found.high, found.mcse_low, found.mcse_high]).all()
    assert found.low <= 0.0 <= found.high


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e6])
def test_intervals_move_and_stretch_with_the_draws(scale):
    ordered = np.sort(skewed().rvs(20_000, random_state=2))
    found, moved = narrowest(ordered, 0.95), narrowest(ordered * scale + 3 * scale, 0.95)
    assert moved.low == pytest.approx(found.low * scale + 3 * scale, rel=1e-6)
    assert moved.mcse_high == pytest.approx(found.mcse_high * scale, rel=1e-3)


def test_mirrored_draws_give_the_mirrored_interval():
    ordered = np.sort(skewed().rvs(20_000, random_state=2))
    found, mirrored = narrowest(ordered, 0.95), narrowest(-ordered[::-1], 0.95)
    tolerance = 0.2 * found.mcse_low  # ranks of either end are rounded to whole draws
    assert mirrored.low == pytest.approx(-found.high, abs=tolerance)
    assert mirrored.high == pytest.approx(-found.low, abs=tolerance)


def test_the_error_of_few_draws_is_not_below_what_other_draws_show():
    """Skewed draws are the worst: an end scatters twice as far as a quantile."""
    generator = np.random.default_rng(1)
    for distribution in (
        lambda size: generator.normal(size=size),
        lambda size: generator.beta(80, 8, size=size),
    ):
        ends = narrowest_rows(np.sort(distribution((400, 5_000)), axis=1), 0.95)
        for values, errors in ((ends.low, ends.mcse_low), (ends.high, ends.mcse_high)):
            ratio = values.std(ddof=1) / errors.mean()  # known to 3.5% with so many rows
            assert 0.55 < ratio < 1.0
    assert ratio > 0.75
