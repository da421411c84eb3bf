"""The gates of the studies close on what is off, and hardly ever on chance."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lazily import lazily
from tests.loops import each
from verification import chance
from verification.chance import LEVEL, mean_is_off, share_is_off, spread_is_off

binomtest = lazily("scipy.stats.binomtest")


def off(hits, n, low, high):
    """Judge each number of hits once."""
    judged = np.zeros(n + 1, dtype=bool)
    for one in np.unique(hits):
        judged[one] = share_is_off(one / n, n, low, high)
    return judged[hits]


def first_alarm(judge, low=1.0, high=3.0):
    """Return the least number that is off."""
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if judge(middle) else (middle, high)
    return high


@each("n", [20, 300, 1_000, 2_000])
@each("true", [0.925, 0.98])
def test_a_truth_on_the_bound_raises_an_alarm_no_more_often_than_the_level(n, true):
    hits = np.random.default_rng(n).binomial(n, true, 1_000_000)
    alarms = int(off(hits, n, 0.925, 0.98).sum())
    assert binomtest(alarms, hits.size, LEVEL, alternative="greater").pvalue > 1e-6


def test_a_faultless_full_run_hardly_ever_raises_an_alarm():
    generator = np.random.default_rng(3)
    inside = generator.binomial(1_000, 0.95, (1_000, 6_000))
    assert off(inside, 1_000, 0.925, 0.98).any(axis=1).mean() < 0.01


@pytest.mark.parametrize(("true", "n", "found"), [(0.85, 1_000, 0.999), (0.60, 20, 0.5)])
def test_a_planted_deviation_is_found(true, n, found):
    hits = np.random.default_rng(4).binomial(n, true, 20_000)
    assert off(hits, n, 0.925, 0.98).mean() > found
    assert share_is_off(true, n, 0.925, 0.98)
    assert share_is_off(1.0, 1_000, 0.925, 0.98)


def test_the_tails_are_those_of_an_exact_test():
    for hits in range(21):
        p = binomtest(hits, 20, 0.925, alternative="less").pvalue
        assert share_is_off(hits / 20, 20, 0.925) == (p < LEVEL)
        p = binomtest(hits, 20, 0.3, alternative="greater").pvalue
        assert share_is_off(hits / 20, 20, high=0.3) == (p < LEVEL)


def test_bounds_beyond_0_and_1_nothing_and_halves():
    assert not share_is_off(0.0, 1_000, -0.1, 0.1)
    assert share_is_off(0.5, 1_000, 0.9, 1.1)
    assert not share_is_off(float("nan"), 0, 0.9, 1.0)
    assert share_is_off(13.0 / 20, 20, 0.925)
    assert not share_is_off(13.5 / 20, 20, 0.925)
    assert share_is_off(0.9249, chance.MANY, 0.925)
    assert not share_is_off(0.9249, chance.MANY - 1, 0.925)


@pytest.mark.parametrize("n", [50, 1_000])
def test_spreads_and_means_raise_an_alarm_as_often_as_the_level_says(n):
    generator = np.random.default_rng(n)
    ratios = np.sqrt(generator.chisquare(n - 1, 1_000_000) / (n - 1))
    least = first_alarm(lambda ratio: spread_is_off(ratio, n, 0.9, 1.1))
    most = -first_alarm(lambda ratio: spread_is_off(-ratio, n, 0.9, 1.1), -1.0, 0.0)
    beyond = first_alarm(lambda mean: mean_is_off(mean, 1.0, n, 0.0, 1.0), 1.0, 10.0) - 1
    means = generator.standard_normal(ratios.size) / ratios
    for alarms in (1.1 * ratios >= least, 0.9 * ratios <= most, means >= beyond):
        p = binomtest(int(alarms.sum()), ratios.size, LEVEL, alternative="two-sided").pvalue
        assert p > 1e-6


def test_spreads_and_means_that_are_off_are_found():
    assert spread_is_off(2.0, 50, 0.9, 1.1)
    assert spread_is_off(0.5, 50, 0.9, 1.1)
    assert spread_is_off(1.25, 1_000, 0.9, 1.1)
    assert not spread_is_off(1.1, 50, 0.9, 1.1)
    assert mean_is_off(0.5, 0.1, 1_000, 1.0, 2.0)
    assert not mean_is_off(0.9, 0.1, 1_000, 1.0, 2.0)
    assert mean_is_off(0.9, 0.0, 1_000, 1.0, 2.0)
    assert not mean_is_off(0.9, 0.0, 1, 1.0, 2.0)  # of one value nothing is said
    assert not spread_is_off(float("nan"), 1, 0.9, 1.1)
