"""Plans from closed forms: normal theory written out, small tables, a z-test's own numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from outperform.decision.rope import Decision, Rope
from outperform.planning.api import _right_and_wrong
from outperform.planning.goals import Outlook, check_theta, firm_goal, judged_goal, prior_worth
from outperform.planning.more_data import TARGET, needed_to_decide
from outperform.planning.worlds import RatesWorld, interval_of
from outperform.posterior.base import Prior
from tests.lazily import lazily
from tests.loops import each

norm = lazily("scipy.stats.norm")

ROPE = Rope(low=-0.02, high=0.01)


def outlook(items, stays=0.0):
    """Return an outlook whose interval reaches further down than up."""
    return Outlook(n=400.0, mean=0.03, sd=0.02, below=0.05, above=0.03, items=items, stays=stays)


@each("m", [100, 1_000, 50_000])
@each(("items", "stays"), [("more", 0), ("more", 0.3), ("new", 0), ("certain", 0)])
def test_probabilities_of_every_decision_written_out(items, stays, m):
    total = 400 + m if items == "more" else m
    narrow = np.sqrt(stays + (1 - stays) * 400 / total)
    variance = {
        "more": 0.02**2 * (1 - stays) * m / total,
        "new": 0.02**2 + 0.02**2 * 400 / m,
        "certain": 0.02**2 * 400 / m,
    }[items]
    middle = norm(0.03, np.sqrt(variance))
    better = middle.sf(0.01 + narrow * 0.05)  # the lower end must come to lie above 0.01
    worse = middle.cdf(-0.02 - narrow * 0.03)
    equal = max(0.0, middle.cdf(0.01 - narrow * 0.03) - middle.cdf(-0.02 + narrow * 0.05))
    now = outlook(items, stays)
    for goal, expected in (
        ("≫", better), ("≪", worse), ("≈", equal), ("decided", better + worse + equal),
        ("not_worse", middle.sf(-0.02 + narrow * 0.05)),
    ):  # fmt: skip
        found = now.probability(firm_goal(goal, ROPE, greater_is_better=True), [m])
        assert found[0] == pytest.approx(expected, abs=1e-12)
    # Where lower is better, the same intervals mean the opposite.
    for goal, expected in (
        ("≫", worse), ("≪", better), ("not_worse", middle.cdf(0.01 - narrow * 0.03)),
    ):  # fmt: skip
        found = now.probability(firm_goal(goal, ROPE, greater_is_better=False), [m])
        assert found[0] == pytest.approx(expected, abs=1e-12)
    assert now.width([m])[0] == pytest.approx(0.08 * narrow)
    edge = now.probability(judged_goal(-0.02, greater_is_better=True), [m])
    passes, fails = middle.sf(-0.02 + narrow * 0.05), middle.cdf(-0.02 - narrow * 0.03)
    assert edge[0] == pytest.approx(passes + fails, abs=1e-12)


def test_intervals_that_just_touch_an_edge():
    ends = np.array([[-0.02, -0.02, 0.01, 0.0101, -0.05], [0.01, 0.0101, 0.05, 0.05, -0.0201]])

    def reached(goal, better=True):
        return firm_goal(goal, ROPE, greater_is_better=better).reached(ends).tolist()

    assert reached("≈") == [True, False, False, False, False]
    assert reached("≫") == [False, False, False, True, False]
    assert reached("≪") == [False, False, False, False, True]
    assert reached("decided") == [True, False, False, True, True]
    assert reached("≫", better=False) == reached("≪")
    assert reached("not_worse") == [False, False, True, True, False]


def test_shares_of_right_and_wrong():
    """Of 100: A right in 80, B in 70, both right or both wrong in 60: 55, 25, 15 and 5."""
    assert _right_and_wrong(0.8, 0.7, 0.6) == pytest.approx((0.55, 0.25, 0.15, 0.05))


@each(("prior", "n_classes", "paired", "worth"), [
    ("uniform", 2, True, 8.0), ("uniform", 2, False, 4.0), ("unit", 2, True, 2.0),
    ("unit", 3, True, 3.0), ("bootstrap", 3, True, 0.0),
])  # fmt: skip
def test_what_a_prior_is_worth(prior, n_classes, paired, worth):
    y = np.arange(60) % n_classes
    a, b = np.roll(y, 1), np.where(np.arange(60) < 50, y, 0)
    asked = {"metric": "accuracy", "rope": 0.01, "n_draws": 100, "random_state": 1}
    c = op.compare(y, a, b, prior=prior, paired=paired, **asked)
    assert prior_worth(c.spec) == worth


def test_intervals_of_few_draws_are_as_wide_as_those_of_many():
    """The plain narrowest interval of a thousand normal draws is 1.7% too narrow."""
    draws = np.sort(np.random.default_rng(2).normal(size=(400, 1_000)), axis=1)
    widths = np.diff([interval_of(row, 0.95) for row in draws], axis=1)
    assert widths.mean() == pytest.approx(2 * norm.ppf(0.975), abs=4 * widths.std() / 20)


@pytest.fixture(scope="module")
def undecided():
    right = np.arange(1_000) % 10 != 0
    other = np.arange(1_000) % 11 != 0
    seen = op.Outcomes.from_correct({"a": right, "b": other})
    return op.compare(seen, "a", "b", metric="accuracy", rope=0.012, random_state=1)


def test_the_smaller_number_is_the_first_that_reaches_four_fifths_at_face_value(undecided):
    needed = needed_to_decide(undecided)
    hdi, n = undecided.hdi, undecided.n + prior_worth(undecided.spec)
    assert TARGET == 0.8

    def decided(m):
        narrow, total = np.sqrt(n / (n + m)), n + m
        middle = norm(undecided.mean, undecided.sd * np.sqrt(m / total))
        below, above = undecided.mean - hdi.low, hdi.high - undecided.mean
        inside = middle.cdf(0.012 - narrow * above) - middle.cdf(-0.012 + narrow * below)
        return (
            middle.sf(0.012 + narrow * below) + middle.cdf(-0.012 - narrow * above) + max(inside, 0)
        )

    assert needed.max_items == 100 * undecided.n
    assert decided(needed.least) >= 0.8 > decided(needed.least - 1)


@pytest.fixture(scope="module")
def plan():
    return op.plan(
        scenario={"accuracies": (0.9, 0.8), "agreement": 0.8},
        rope=0.02,
        goal="≫",
        target=0.8,
        random_state=2,
        n_simulations=600,
    )


@pytest.mark.parametrize(("better", "edge", "reach"), [(True, 0.01, 0.05), (False, 0.02, 0.03)])
def test_what_is_detectable_written_out(plan, better, edge, reach):
    """The interval must clear the ROPE with so much room that 80% of all test sets do."""
    goal = firm_goal("≫", ROPE, greater_is_better=better)
    curve = replace(plan.curve, outlook=outlook("certain"), widening=1.1, goal=goal)
    found = replace(plan, rope=ROPE, curve=curve).detectable(1_600)
    assert found == pytest.approx(edge + 1.1 * reach / 2 + norm.ppf(0.8) * 0.02 / 2)


def test_the_size_of_a_plan_is_that_of_a_z_test_and_reaches_its_power(plan):
    """Accuracies 0.9 and 0.8 that agree in 0.8: each item has the variance 0.2 − 0.1²."""
    sd, lift = np.sqrt(0.2 - 0.1**2), 0.1 - 0.02
    theory = ((norm.ppf(0.975) + norm.ppf(0.8)) * sd / lift) ** 2
    assert plan.n == pytest.approx(theory, rel=0.12)
    # Test sets of that size, drawn and compared by hand.
    generator = np.random.default_rng(3)
    n, n_sets = plan.n, 1_500
    only_a, only_b = generator.multinomial(n, [0.15, 0.05, 0.8], size=n_sets)[:, :2].T
    difference = (only_a - only_b) / n
    error = np.sqrt(((only_a + only_b) / n - difference**2) / n)
    power = np.mean(difference - norm.ppf(0.975) * error > 0.02)
    assert power == pytest.approx(0.8, abs=0.05)
    assert plan.detectable(plan.n) == pytest.approx(0.1, abs=0.01)
    assert plan.detectable(4 * plan.n) == pytest.approx(
        0.02 + (norm.ppf(0.975) + norm.ppf(0.8)) * sd / np.sqrt(4 * plan.n), rel=0.06
    )
    assert plan.width(plan.n) == pytest.approx(2 * norm.ppf(0.975) * sd / np.sqrt(plan.n), rel=0.06)
    assert plan.rope == Rope.from_param(0.02)
    assert Decision.BETTER.symbol == plan.goal


def test_outcome_probabilities_are_read_the_right_way_round():
    """Of positives A finds 0.5 + 0.3 and B 0.5 + 0.1; of negatives they call 0.15 and 0.2."""
    positive = {"11": 0.5, "10": 0.3, "01": 0.1, "00": 0.1}
    negative = {"11": 0.1, "10": 0.05, "01": 0.1, "00": 0.75}
    world = RatesWorld(
        theta=check_theta(positive, negative), prevalence=0.2, prior=Prior.from_param(None),
        paired=True, metric=op.metrics.get("precision"), n_draws=1_000, prob=0.95,
    )  # fmt: skip
    a, b = 0.2 * 0.8 / (0.2 * 0.8 + 0.8 * 0.15), 0.2 * 0.6 / (0.2 * 0.6 + 0.8 * 0.2)
    seed = np.random.SeedSequence(1)
    assert world.outlook(seed).mean == pytest.approx(a - b, abs=1e-3)
    middles = world.simulate(20_000, 40, seed, n_jobs=1).mean(axis=0)
    assert middles.mean() == pytest.approx(a - b, abs=5 * middles.std() / np.sqrt(40))
