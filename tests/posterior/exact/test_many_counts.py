"""Differences of shares with many counts: the quick way must be the general one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from outperform.posterior.exact import difference as room
from outperform.posterior.exact.difference import IndependentDifference
from outperform.posterior.exact.f_score import WeightedShare
from outperform.posterior.exact.share import Share, many_counts
from tests.loops import each

Z = (-4.99, -3.5, -2.0, -0.5, 0.0, 1.3, 3.0, 4.99)


def pairs(least, most, n_pairs, seed):
    """Return pairs of shares with counts spread evenly on the log scale."""
    rng = np.random.default_rng(seed)
    for _ in range(n_pairs):
        shapes = np.exp(rng.uniform(math.log(least), math.log(most), 4))
        weights = rng.choice([0.5, 1.0], 2)
        yield Share(*shapes[:2], weights[0]), Share(*shapes[2:], weights[1])


def questions(x, y):
    """Yield values near the middle and in the tails, zero among them where it is near."""
    quick = many_counts(x, y)
    for value in (0.0, *(quick.centre + z * quick.spread for z in Z)):
        if quick.reaches(value):
            yield value


def answers(difference, value):
    return difference.cdf(value), difference.sf(value), difference.log_pdf(value)


def general(monkeypatch, difference, value):
    with monkeypatch.context() as patch:
        patch.setattr(room, "many_counts", lambda x, y: None)
        return answers(difference, value)


@pytest.mark.parametrize(
    ("least", "most", "n_pairs", "tolerance"),
    [(50.0, 1e3, 12, 1e-12), (50.0, 1e5, 12, 1e-12), (1e4, 1e9, 12, 1e-10)],
)
def test_it_is_the_general_way(monkeypatch, least, most, n_pairs, tolerance):
    n_asked = 0
    for x, y in pairs(least, most, n_pairs, seed=15):
        difference = IndependentDifference(x, y)
        for value in questions(x, y):
            quick, slow = answers(difference, value), general(monkeypatch, difference, value)
            for ours, theirs in zip(quick[:2], slow[:2], strict=True):
                # relative to the tail, with what one rounding of the value itself changes
                shake = abs(value) * 2.3e-16 * math.exp(slow[2])
                assert abs(ours - theirs) <= tolerance * theirs + 4 * shake, (x, y, value)
            assert quick[2] == pytest.approx(slow[2], abs=max(100 * tolerance, 1e-11)), (x, y)
            n_asked += 1
    assert n_asked > 4 * n_pairs


@each("swap", [False, True])
@each(
    ("x", "y"),
    [
        (Share(60.0, 55.0), Share(4e6, 2e6, 0.5)),
        (Share(60.0, 5e4), Share(70.0, 5e4)),
        (Share(5e4, 60.0), Share(5e4, 55.0)),
        (Share(50.0, 1e6), Share(50.0, 1e6)),
        (Share(1e4, 50.0, 0.5), Share(1e4, 50.0, 0.5)),
    ],
)
def test_whichever_share_is_narrower(monkeypatch, x, y, swap):
    x, y = (y, x) if swap else (x, y)
    difference = IndependentDifference(x, y)
    for value in questions(x, y):
        quick, slow = answers(difference, value), general(monkeypatch, difference, value)
        assert quick == pytest.approx(slow, rel=2e-12, abs=1e-300)


def test_golden_values_with_many_counts(golden, demanded, same_numbers):
    asked = 0
    for row in golden["share_differences"]:
        x, y = Share(*row["x"]), Share(*row["y"])
        quick = many_counts(x, y)
        if quick is not None and quick.reaches(row["value"]):
            same_numbers(IndependentDifference(x, y), row, demanded(sum(row["x"]) + sum(row["y"])))
            asked += 1
    assert asked > 0


def test_bayes_factors_are_the_golden_ones(golden):
    for row in golden["bayes_factors"]["unpaired"]:
        x, y = (Share(tp + 1.0, errors + 2.0, 0.5) for tp, errors in row["counts"])
        quick = many_counts(x, y)
        if quick is not None and quick.reaches(0.0):
            found = quick.log_pdf(0.0) - math.log(16 / 15)
            assert found == pytest.approx(math.log(float(row["bf01"])), abs=1e-11)


def test_the_weights_sum_to_one():
    for x, y in pairs(50.0, 1e8, 20, seed=16):
        assert many_counts(x, y).nodes.weights.sum() == pytest.approx(1.0, abs=2e-12)


def test_both_tails_are_one():
    for x, y in pairs(50.0, 1e6, 20, seed=17):
        quick = many_counts(x, y)
        for value in questions(x, y):
            both = quick.tail(value, upper=True) + quick.tail(value, upper=False)
            assert both == pytest.approx(1.0, abs=2e-12)


def test_places_beyond_the_ends_of_the_wide_share():
    # Nodes shifted below 0 have all of the wide share above them.
    x, y = Share(55.0, 5e4), Share(60.0, 6e4)
    quick = many_counts(x, y)
    low = quick.centre - 4.99 * quick.spread
    assert (quick.nodes.left + quick.sign * low <= 0).any()
    assert quick.tail(low, upper=True) == pytest.approx(1.0, abs=1e-6)


def test_few_counts_and_other_distributions_go_the_general_way():
    assert many_counts(Share(49.0, 500.0), Share(500.0, 500.0)) is None
    assert many_counts(Share(50.0, 500.0), Share(500.0, 50.0)) is not None
    assert many_counts(Share(50.0, 50.0, 0.05), Share(50.0, 50.0)) is None
    weighted = WeightedShare(100.0, 100.0, 0.5, 100.0, 0.25)
    assert many_counts(Share(100.0, 100.0), weighted) is None


def test_far_tails_go_the_general_way():
    x, y = Share(4e5, 6e5), Share(6e5, 4e5)
    assert not many_counts(x, y).reaches(0.0)
    assert IndependentDifference(x, y).pdf(0.0) == 0.0


def test_at_the_seam_both_ways_agree(monkeypatch):
    x, y = Share(901.0, 101.0), Share(881.0, 121.0)
    quick = many_counts(x, y)
    difference = IndependentDifference(x, y)
    for side in (-1.0, 1.0):
        inside = quick.centre + side * 4.999999 * quick.spread
        outside = quick.centre + side * 5.000001 * quick.spread
        assert quick.reaches(inside)
        assert not quick.reaches(outside)
        slow = general(monkeypatch, difference, inside)
        assert answers(difference, inside) == pytest.approx(slow, rel=1e-11)


def test_draws_follow_it(follows):
    rng = np.random.default_rng(18)
    x, y = Share(81.0, 61.0, 0.5), Share(300.0, 90.0)
    draws = []
    for one in (x, y):
        top, rest = rng.standard_gamma(one.a, 20_000), rng.standard_gamma(one.b, 20_000)
        draws.append(top / (top + one.weight * rest))
    follows(draws[0] - draws[1], np.vectorize(IndependentDifference(x, y).cdf))


def test_a_planted_fault_is_caught(monkeypatch):
    # With nodes a whole standard deviation apart the rule is not good enough any more.
    from outperform.posterior.exact import share as module

    x, y = Share(70.0, 90.0), Share(75.0, 80.0)
    difference = IndependentDifference(x, y)
    slow = general(monkeypatch, difference, 0.0)
    module.many_counts.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(module, "_STEP", 2.0)
        coarse = answers(difference, 0.0)
    module.many_counts.cache_clear()
    assert abs(coarse[1] - slow[1]) > 1e-9
