"""Bugs planted on purpose: the checks of this folder must catch each of them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from outperform import Decision, Rope
from outperform.decision import hdi
from outperform.decision.bayes_factor import Inside, interval_null
from outperform.decision.hdi import narrowest, narrowest_ends
from outperform.decision.intervals import Interval, equal_tailed
from outperform.decision.rope import Masses, decide, masses_from_draws, rope_curve
from tests.lazily import lazily
from tests.loops import each

beta = lazily("scipy.stats.beta")

ROPE = Rope.from_param(0.01)


def caught(check, *arguments):
    with pytest.raises(AssertionError):
        check(*arguments)


@pytest.fixture(scope="module")
def samples():
    return [np.sort(beta(80, 8).rvs(20_000, random_state=seed)) for seed in range(150)]


def check_honest(interval, samples):
    """Fail unless the spread over samples is what the interval reports."""
    found = [interval(ordered, 0.95) for ordered in samples]
    ends = np.array([(one.low, one.high) for one in found])
    errors = np.array([(one.mcse_low, one.mcse_high) for one in found])
    ratio = ends.std(axis=0, ddof=1) / errors.mean(axis=0)
    assert ((ratio > 0.8) & (ratio < 1.25)).all()


def test_the_error_of_a_quantile_for_that_of_an_hdi_end_is_caught(samples):
    check_honest(narrowest, samples)

    def plain(ordered, prob):
        low, high = narrowest_ends(ordered, prob)
        return replace(equal_tailed(ordered, prob), low=low, high=high)

    caught(check_honest, plain, samples)


def test_an_error_that_forgets_the_moving_minimum_is_caught(samples, monkeypatch):
    monkeypatch.setattr(hdi, "_second_derivative", lambda coefficients, place: 1e9)
    caught(check_honest, narrowest, samples)


def test_an_error_too_small_by_a_third_is_caught(samples):
    def bold(ordered, prob):
        found = narrowest(ordered, prob)
        return replace(found, mcse_low=found.mcse_low * 0.66, mcse_high=found.mcse_high * 0.66)

    caught(check_honest, bold, samples)


def check_rule(rule):
    """Fail unless the decisions of intervals on the edges, and of shares of the mass, are ours."""
    for low, high, above, symbol in (
        (-0.01, 0.01, 0.02, "≈"),
        (0.01, 0.05, 0.7, ">"),
        (0.01, 0.05, 0.6, "?"),
        (0.02, 0.05, 0.99, "≫"),
        (-0.05, -0.01, 0.02, "<"),
        (-0.05, -0.02, 0.0, "≪"),
        (-0.03, 0.03, 0.4, "?"),
        (-0.03, 0.04, 2 / 3, ">"),
    ):
        below = 0.75 * (1 - above) if low + high < 0 else 0.0
        found = Masses(below=below, inside=1 - below - above, above=above, greater=0.5)
        inside = Interval(low=low, high=high, prob=0.95)
        if symbol == "?":  # as much mass below as above, and no more inside
            found = Masses(below=0.3, inside=0.1, above=above, greater=0.5)
        assert rule(inside, ROPE, found).symbol == symbol


def mirror(hdi, rope, masses):
    return decide(hdi, rope, masses).mirrored


def closed_edges(hdi, rope, masses):
    return Decision.BETTER if hdi.low >= rope.high else decide(hdi, rope, masses)


def open_rope(hdi, rope, masses):
    found = decide(hdi, rope, masses)
    edge = hdi.low == rope.low or hdi.high == rope.high
    return Decision.UNDECIDED if found is Decision.EQUIVALENT and edge else found


def more_than_two_thirds(hdi, rope, masses):
    return decide(hdi, rope, replace(masses, above=masses.above - 1e-9))


def half_is_enough(hdi, rope, masses):
    found = decide(hdi, rope, masses)
    return Decision.LEANING_BETTER if not found.decided and masses.above > 0.5 else found


def by_the_midpoint(hdi, rope, masses):
    found = decide(hdi, rope, masses)
    if found.decided:
        return found
    return Decision.LEANING_BETTER if hdi.midpoint > 0 else Decision.LEANING_WORSE


WRONG = [mirror, closed_edges, open_rope, more_than_two_thirds, half_is_enough, by_the_midpoint]


@each("rule", WRONG)
def test_a_wrong_rule_is_caught(rule):
    check_rule(decide)
    caught(check_rule, rule)


def check_masses(masses):
    found = masses(np.array([-0.02, -0.01, 0.0, 0.004, 0.01, 0.03, 0.05]), ROPE)
    assert math.isclose(found.below, 1 / 7)
    assert math.isclose(found.inside, 4 / 7)
    assert math.isclose(found.above, 2 / 7)
    assert math.isclose(found.greater, 4.5 / 7)


def test_wrong_masses_are_caught():
    check_masses(masses_from_draws)
    caught(check_masses, lambda ordered, rope: masses_from_draws(-ordered[::-1], rope))
    caught(check_masses, lambda ordered, rope: masses_from_draws(ordered[1:], rope))
    inner = Rope(low=-0.0099, high=0.0099)
    caught(check_masses, lambda ordered, rope: masses_from_draws(ordered, inner))


def check_factor(factor):
    found = factor(Inside(inside=0.9, outside=0.1), Inside(inside=0.25, outside=0.75))
    assert math.isclose(found.bf01, 27.0)


def test_wrong_factors_are_caught():
    check_factor(interval_null)
    caught(check_factor, lambda posterior, prior: interval_null(prior, posterior))
    even = Inside(inside=0.5, outside=0.5)
    caught(check_factor, lambda posterior, prior: interval_null(posterior, even))


def test_a_curve_that_scales_one_end_only_is_caught():
    draws = np.linspace(-0.05, 0.03, 801)

    def check(curve):
        hdi = Interval(low=-0.05, high=0.03, prob=0.95)
        steps = curve(hdi, Rope.from_param((-0.02, 0.01)), draws)
        # Two thirds, 534 of 801 draws 0.0001 apart, lie inside from 0.0533 / 0.03 on; 0.03 is
        # inside from 0.01·w with w = 3 on.
        assert [step.decision.symbol for step in steps] == ["?", "~", "≈"]
        assert [step.start for step in steps] == pytest.approx([0.0, 0.0533 / 0.03, 3.0], rel=0.01)

    check(rope_curve)
    caught(check, lambda hdi, rope, draws: rope_curve(hdi, Rope.from_param(rope.high), draws))
