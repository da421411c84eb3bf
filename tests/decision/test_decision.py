"""The rule, its edges, and the decision for every other width of the ROPE."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

from outperform import Decision, Rope
from outperform.decision.hdi import narrowest
from outperform.decision.intervals import Interval
from outperform.decision.ranks import masses_rows
from outperform.decision.rope import (
    Masses,
    decide,
    firm_decision,
    leaning,
    margin,
    masses_from_draws,
    masses_of,
    rope_curve,
)
from outperform.errors import UsageError
from outperform.planning.goals import any_decision
from tests.lazily import lazily
from tests.loops import each

norm = lazily("scipy.stats.norm")

ROPE = Rope.from_param(0.01)


def interval(low, high, error=0.0):
    return Interval(low=low, high=high, prob=0.95, mcse_low=error, mcse_high=error)


def masses(below, inside, above):
    return Masses(below=below, inside=inside, above=above, greater=0.5)


EVEN = masses(0.3, 0.4, 0.3)


@each(
    ("low", "high", "symbol"),
    [
        (0.02, 0.05, "≫"),
        (-0.05, -0.02, "≪"),
        (-0.005, 0.005, "≈"),
        (-0.01, 0.01, "≈"),  # both ends on the edges are inside
        (0.01, 0.05, "?"),  # an end on the edge is not beyond it
        (-0.05, -0.01, "?"),
        (0.0100001, 0.05, "≫"),
        (-0.05, -0.0100001, "≪"),
        (-0.03, 0.03, "?"),
        (0.0, 0.0, "≈"),
        (0.005, 0.0100001, "?"),
    ],
)
def test_firm_decisions_depend_on_the_interval_alone(low, high, symbol):
    found = decide(interval(low, high), ROPE, EVEN)
    assert found.symbol == symbol
    assert found is (firm_decision(interval(low, high), ROPE) or Decision.UNDECIDED)
    mirrored = decide(interval(-high, -low), ROPE, EVEN)
    assert mirrored is found.mirrored
    assert decide(interval(low, high), ROPE, EVEN, greater_is_better=False) is found.mirrored
    if found.decided:
        for other in (masses(1, 0, 0), masses(0, 1, 0), masses(0, 0, 1)):
            assert decide(interval(low, high), ROPE, other) is found


@each(
    ("below", "inside", "above", "symbol"),
    [
        (0.0, 0.3, 0.7, ">"),
        (0.7, 0.3, 0.0, "<"),
        (0.1, 0.8, 0.1, "~"),
        (0.269, 0.315, 0.416, "?"),
        (0.02, 0.32, 0.66, "?"),
        (0.5, 0.0, 0.5, "?"),
        (1 / 3, 0.0, 2 / 3, ">"),  # two thirds are enough
        (0.0, 2 / 3, 1 / 3, "~"),
        (2 / 3, 0.0, 1 / 3, "<"),
        (0.0, 1 / 3, np.nextafter(2 / 3, 0), "?"),
    ],
)
def test_an_open_decision_leans_where_two_thirds_of_the_mass_lie(below, inside, above, symbol):
    wide, found = interval(-0.03, 0.03), masses(below, inside, above)
    assert decide(wide, ROPE, found).symbol == symbol == leaning(found).symbol
    turned = masses(above, inside, below)
    assert decide(wide, ROPE, turned) is leaning(found).mirrored
    assert decide(wide, ROPE, found, greater_is_better=False) is leaning(found).mirrored


def test_two_thirds_of_the_draws_are_two_thirds():
    for n in (3, 300, 30_000):
        draws = np.repeat([0.0, 0.5], [n // 3, 2 * n // 3])
        assert leaning(masses_from_draws(draws, ROPE)).symbol == ">"
        assert leaning(masses_from_draws(np.sort(-draws), ROPE)).symbol == "<"


@each("rope", [0.01, 0.0, (-0.02, 0.0), (0.005, 0.03)])
@each("better", [True, False])
def test_the_rule_agrees_with_counting_draws_one_by_one(rope, better):
    rng = np.random.default_rng(7)
    region = Rope.from_param(rope)
    rows = rng.normal(rng.normal(0, 0.015, (300, 1)), rng.uniform(0.001, 0.03, (300, 1)), (300, 99))
    rows.sort(axis=1)
    for place, row in enumerate(rows):
        hdi = narrowest(row, 0.95)
        found = decide(hdi, region, masses_from_draws(row, region), greater_is_better=better)
        by_rows = masses_rows(rows, region).row(place)
        assert decide(hdi, region, by_rows, greater_is_better=better) is found
        assert found.symbol == by_counting(row.tolist(), hdi, region, better)


def by_counting(draws, hdi, rope, better):
    if rope.low <= hdi.low and hdi.high <= rope.high:
        return "≈"
    if hdi.low > rope.high:
        return "≫" if better else "≪"
    if hdi.high < rope.low:
        return "≪" if better else "≫"
    for sign, n in (
        (">" if better else "<", sum(one > rope.high for one in draws)),
        ("<" if better else ">", sum(one < rope.low for one in draws)),
        ("~", sum(rope.low <= one <= rope.high for one in draws)),
    ):
        if 3 * n >= 2 * len(draws):
            return sign
    return "?"


@each("goal", ["≫", "≈", "≪", "decided"])
@each("better", [True, False])
def test_goals_of_many_intervals_agree_with_the_rule(goal, better):
    rng = np.random.default_rng(3)
    ends = np.sort(rng.normal(scale=0.02, size=(2, 400)), axis=0)
    reached = any_decision(goal, ROPE, greater_is_better=better).reached(ends)
    for (low, high), one in zip(ends.T, reached, strict=True):
        found = decide(interval(low, high), ROPE, EVEN, greater_is_better=better)
        assert one == (found.decided if goal == "decided" else found.symbol == goal)


@each("goal", [">", "<", "~", "?", "leaning_equivalent"])
def test_no_number_of_items_is_planned_for_an_open_decision(goal):
    with pytest.raises(UsageError, match="must be a firm decision: decided, ≫, ≈, ≪; got"):
        any_decision(goal, ROPE, greater_is_better=True)


def test_a_rope_without_width_is_never_left_by_touching_it():
    point, above = Rope.from_param(0), masses(0.1, 0.0, 0.9)
    assert decide(interval(0.001, 0.002), point, above).symbol == "≫"
    assert decide(interval(-0.001, 0.002), point, above).symbol == ">"
    assert decide(interval(-0.002, 0.002), point, masses(0.5, 0.0, 0.5)).symbol == "?"


def test_decisions_have_signs_and_words():
    assert [one.symbol for one in Decision] == ["≫", ">", "≈", "~", "<", "≪", "?"]
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
    assert Decision.LEANING_EQUIVALENT.mirrored is Decision.LEANING_EQUIVALENT


def test_the_margin_is_the_gap_that_the_draws_must_not_cross():
    gap, error = margin(interval(0.013, 0.05, error=0.001), ROPE)
    assert (gap, error) == (pytest.approx(0.003), 0.001)
    hdi = Interval(low=-0.02, high=0.008, prob=0.95, mcse_low=0.001, mcse_high=0.0001)
    gap, error = margin(hdi, ROPE)  # the high end may pass 0.01: undecided it stays
    assert (gap, error) == (pytest.approx(0.01), 0.001)
    assert margin(interval(0.1, 0.2), ROPE)[1] == 0.0


def steps(curve):
    return [(one.decision.symbol, round(one.start, 6)) for one in curve]


class Normal(NamedTuple):
    mean: float
    sd: float

    def cdf(self, value):
        return float(norm.cdf(value, self.mean, self.sd))

    def sf(self, value):
        return float(norm.sf(value, self.mean, self.sd))

    def quantile(self, p):
        return float(norm.ppf(p, self.mean, self.sd))


def posterior(mean, sd):
    """Return the closed form of a normal posterior and its HDI."""
    law = Normal(mean, sd)
    return interval(law.quantile(0.025), law.quantile(0.975)), law


THIRD = 0.4307273  # sds from the mean of a normal to its outer third


def test_the_curve_of_an_interval_above_zero():
    hdi, law = posterior(0.05, 0.01)
    inside = law.quantile(2 / 3)  # nothing lies below −0.05
    assert steps(rope_curve(hdi, ROPE, law)) == [
        ("≫", 0.0),
        (">", round(hdi.low, 6)),
        ("?", round(0.05 - THIRD * 0.01, 6)),
        ("~", round(inside, 6)),
        ("≈", round(hdi.high, 6)),
    ]


def test_the_curve_of_an_interval_about_zero():
    hdi, law = posterior(0.0, 0.01)
    # Half of the mass lies on either side; ±0.967 sds hold two thirds.
    assert [one for one, _ in steps(rope_curve(hdi, ROPE, law))] == ["?", "~", "≈"]
    assert rope_curve(hdi, ROPE, law)[1].start == pytest.approx(0.00967422, abs=1e-7)
    assert steps(rope_curve(interval(0.0, 0.0), ROPE, np.zeros(9))) == [("≈", 0.0)]


def test_the_curve_follows_the_metric():
    hdi, law = posterior(0.05, 0.01)
    curve = rope_curve(hdi, ROPE, law, greater_is_better=False)
    assert [one.decision.symbol for one in curve] == ["≪", "<", "?", "~", "≈"]


@each("rope", [0.01, (-0.02, 0.01), (0.0, 0.03), (-0.01, 0.0), (0.005, 0.02)])
@each("sampled", [True, False])
def test_the_curve_says_what_the_rule_says_at_every_width(rope, sampled):
    rng = np.random.default_rng(1)
    base = Rope.from_param(rope)
    for _ in range(60):
        hdi, form = posterior(rng.normal(scale=0.02), rng.uniform(0.002, 0.03))
        if sampled:
            form = np.sort(rng.normal(form.mean, form.sd, 500))
            hdi = narrowest(form, 0.95)
        curve = rope_curve(hdi, base, form)
        assert curve[0].start == 0.0
        assert curve[-1].stop is None
        for one, two in pairwise(curve):
            assert one.stop == two.start
            assert one.decision is not two.decision
        for width in rng.uniform(0, 8, size=40):
            unit = (-0.01, 0.01) if base.symmetric else (base.low, base.high)
            scaled = Rope(low=unit[0] * width, high=unit[1] * width)
            place = 0.01 * width if base.symmetric else width
            step = next(s for s in curve if s.stop is None or place < s.stop)
            assert step.decision is decide(hdi, scaled, masses_of(form, scaled))
