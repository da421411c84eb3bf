"""The rule, its edges, and the decision for every other width of the ROPE."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from outperform import Decision, Rope
from outperform.decision.intervals import Interval
from outperform.decision.rope import decide, margin, rope_curve

ROPE = Rope.from_param(0.01)


def interval(low, high, error=0.0):
    return Interval(low=low, high=high, prob=0.95, mcse_low=error, mcse_high=error)


@pytest.mark.parametrize(
    ("low", "high", "symbol"),
    [
        (0.02, 0.05, "≫"),
        (-0.05, -0.02, "≪"),
        (-0.005, 0.005, "≈"),
        (-0.01, 0.01, "≈"),  # both ends on the edges are inside
        (0.01, 0.05, ">"),  # an end on the edge is not beyond it
        (-0.05, -0.01, "<"),
        (0.0100001, 0.05, "≫"),
        (-0.05, -0.0100001, "≪"),
        (-0.005, 0.02, ">"),
        (-0.02, 0.005, "<"),
        (-0.03, 0.03, "?"),
        (-0.03, 0.04, ">"),
        (-0.04, 0.03, "<"),
        (0.0, 0.0, "≈"),
        (0.005, 0.0100001, ">"),
    ],
)
def test_the_rule(low, high, symbol):
    found = decide(interval(low, high), ROPE)
    assert found.symbol == symbol
    mirrored = decide(interval(-high, -low), ROPE)
    assert mirrored is found.mirrored
    assert decide(interval(low, high), ROPE, greater_is_better=False) is found.mirrored


def test_midpoints_equal_within_monte_carlo_error_are_undecided():
    assert decide(interval(-0.03, 0.031), ROPE).symbol == ">"
    assert decide(interval(-0.03, 0.031, error=0.001), ROPE).symbol == "?"
    # It blurs the leaning only, never a firm answer.
    assert decide(interval(0.011, 0.05, error=0.1), ROPE).symbol == "≫"
    assert decide(interval(-0.009, 0.009, error=0.1), ROPE).symbol == "≈"


def test_a_rope_that_is_not_symmetric_leans_about_its_own_midpoint():
    rope = Rope.from_param((-0.02, 0.0))
    assert decide(interval(-0.03, 0.02), rope).symbol == ">"
    assert decide(interval(-0.04, 0.02), rope).symbol == "?"
    assert decide(interval(-0.05, 0.02), rope).symbol == "<"
    assert decide(interval(-0.015, -0.001), rope).symbol == "≈"
    assert decide(interval(0.001, 0.002), rope).symbol == "≫"


def test_a_rope_without_width_is_never_left_by_touching_it():
    point = Rope.from_param(0)
    assert decide(interval(0.001, 0.002), point).symbol == "≫"
    assert decide(interval(-0.001, 0.002), point).symbol == ">"
    assert decide(interval(-0.002, 0.002), point).symbol == "?"


def test_decisions_have_signs_and_words():
    assert [one.symbol for one in Decision] == ["≫", ">", "≈", "<", "≪", "?"]
    assert [one for one in Decision if one.decided] == [
        Decision.BETTER,
        Decision.EQUIVALENT,
        Decision.WORSE,
    ]
    for one in Decision:
        assert one.mirrored.mirrored is one
        assert one.words
    assert Decision.EQUIVALENT.mirrored is Decision.EQUIVALENT
    assert Decision.UNDECIDED.mirrored is Decision.UNDECIDED


def test_the_margin_is_the_gap_that_the_draws_must_not_cross():
    gap, error = margin(interval(0.013, 0.05, error=0.001), ROPE)
    assert (gap, error) == (pytest.approx(0.003), 0.001)
    hdi = Interval(low=-0.02, high=0.008, prob=0.95, mcse_low=0.001, mcse_high=0.0001)
    gap, error = margin(hdi, ROPE)  # the high end may pass 0.01: undecided it stays
    assert (gap, error) == (pytest.approx(0.01), 0.001)
    assert margin(interval(0.1, 0.2), ROPE)[1] == 0.0


def steps(curve):
    return [(one.decision.symbol, one.start, one.stop) for one in curve]


def test_the_curve_of_an_interval_above_zero():
    curve = steps(rope_curve(interval(0.006, 0.038), ROPE))
    assert curve == [("≫", 0.0, 0.006), (">", 0.006, 0.038), ("≈", 0.038, None)]


def test_the_curve_of_an_interval_about_zero():
    assert steps(rope_curve(interval(-0.01, 0.03), ROPE)) == [(">", 0.0, 0.03), ("≈", 0.03, None)]
    assert steps(rope_curve(interval(-0.03, 0.01), ROPE)) == [("<", 0.0, 0.03), ("≈", 0.03, None)]
    assert steps(rope_curve(interval(-0.02, 0.02), ROPE)) == [("?", 0.0, 0.02), ("≈", 0.02, None)]
    assert steps(rope_curve(interval(0.0, 0.0), ROPE)) == [("≈", 0.0, None)]


def test_the_curve_follows_the_metric():
    curve = rope_curve(interval(0.006, 0.038), ROPE, greater_is_better=False)
    assert [one.decision.symbol for one in curve] == ["≪", "<", "≈"]


def test_the_curve_of_a_rope_that_is_not_symmetric_scales_both_ends():
    rope = Rope.from_param((-0.02, 0.01))
    curve = rope_curve(interval(-0.05, 0.03), rope)
    # The midpoints −0.01 and −0.005·w meet at w = 2; 0.03 is inside from 0.01·w with w = 3 on.
    assert [one.decision.symbol for one in curve] == ["<", ">", "≈"]
    assert [one.start for one in curve] == pytest.approx([0.0, 2.0, 3.0])


@pytest.mark.parametrize("rope", [0.01, (-0.02, 0.01), (0.0, 0.03), (-0.01, 0.0), (0.005, 0.02)])
def test_the_curve_says_what_the_rule_says_at_every_width(rope):
    rng = np.random.default_rng(1)
    base = Rope.from_param(rope)
    for _ in range(200):
        hdi = interval(*np.sort(rng.normal(scale=0.03, size=2)))
        curve = rope_curve(hdi, base)
        assert curve[0].start == 0.0
        assert curve[-1].stop is None
        for one, two in pairwise(curve):
            assert one.stop == two.start
            assert one.decision is not two.decision
        for width in rng.uniform(0, 8, size=5):
            unit = (-0.01, 0.01) if base.symmetric else (base.low, base.high)
            scaled = Rope(low=unit[0] * width, high=unit[1] * width)
            place = 0.01 * width if base.symmetric else width
            step = next(s for s in curve if s.stop is None or place < s.stop)
            assert step.decision is decide(hdi, scaled)
