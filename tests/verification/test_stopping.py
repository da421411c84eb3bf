"""The study of stopping: its posteriors are the package's, and what is wrong is noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from tests.loops import each
from verification import looks, stopping
from verification.stopping import NULL, OTHER, PRIOR_INSIDE, PROB, ROPE, WORLDS

FEW = 300


def compared(n, only_a, only_b):
    """Compare on items of which so many only A, and only B, got right."""
    rest = n - only_a - only_b
    a, b = [1] * only_a + [0] * only_b, [0] * only_a + [1] * only_b
    seen = op.Outcomes.from_correct({"a": a + [1] * rest, "b": b + [1] * rest})
    asked = {"metric": "accuracy", "rope": ROPE, "n_draws": 100, "random_state": 0}
    return op.compare(seen, "a", "b", prior="uniform", **asked)


@each(
    ("n", "only_a", "only_b"),
    [(100, 0, 0), (100, 12, 0), (200, 1, 7), (500, 30, 26), (2_000, 3, 90), (1_000, 350, 380)],
)
def test_every_posterior_is_that_of_compare(n, only_a, only_b):
    counts = (np.array([value]) for value in (n, only_a, only_b))
    found = looks.posteriors(*counts, rope=ROPE, prob=PROB)
    same = compared(n, only_a, only_b)
    assert found.mean[0] == pytest.approx(same.mean, abs=1e-12)
    # A cusp of the density at zero costs digits where the models hardly disagree.
    assert found.low[0] == pytest.approx(same.hdi.low, abs=0.004 * same.sd)
    assert found.high[0] == pytest.approx(same.hdi.high, abs=0.004 * same.sd)
    assert found.inside[0] == pytest.approx(same.p_equivalent, rel=0.005, abs=1e-6)
    odds = (1 - found.inside[0]) / found.inside[0] * PRIOR_INSIDE / (1 - PRIOR_INSIDE)
    if same.p_equivalent > 1e-6:
        assert odds == pytest.approx(same.bayes_factor.bf10, rel=0.01)


def test_decisions_are_those_of_compare():
    seen = stopping.watch(WORLDS[3], 4)
    generator = np.random.default_rng([stopping.SEED, 3])
    shares = np.tile([0.05, 0.05, 0.9], (4, 1))
    steps = generator.multinomial(100, shares[:, None, :], size=(4, 20)).cumsum(axis=1)
    firm, _ = stopping.decided(seen)
    for experiment, look in ((0, 0), (1, 5), (2, 12), (3, 19)):
        only_a, only_b, _ = steps[experiment, look].tolist()
        same = compared(100 * (look + 1), only_a, only_b)
        assert firm[experiment, look] == same.decision.decided
        assert seen.bf10[experiment, look] == pytest.approx(same.bayes_factor.bf10, rel=0.01)


def test_truths_are_drawn_where_they_should_be():
    inside = stopping._shares(NULL, 1_000, np.random.default_rng(0))
    outside = stopping._shares(OTHER, 1_000, np.random.default_rng(0))
    assert (np.abs(inside[:, 0] - inside[:, 1]) <= ROPE).all()
    assert (np.abs(outside[:, 0] - outside[:, 1]) > ROPE).all()
    fixed = stopping._shares(WORLDS[-1], 2, np.random.default_rng(0))
    np.testing.assert_allclose(fixed, [[0.17, 0.13, 0.7]] * 2)


@pytest.fixture(scope="module")
def watched():
    return {world: stopping.watch(world, FEW) for world in (NULL, OTHER)}


def test_a_small_run_holds_and_is_written(watched):
    found = {world: stopping.summarise(seen) for world, seen in watched.items()}
    found[WORLDS[3]] = stopping.run((WORLDS[3], FEW))
    assert stopping.failures(found) == []
    assert "the null's own prior" in stopping.factor_table(found)
    for table in (stopping.rule_table(found), stopping.bias_table(found)):
        assert table.count("\n| ") == 4


def test_a_bayes_factor_turned_round_is_found(watched):
    wrong = {
        world: stopping.summarise(replace(seen, bf10=1 / seen.bf10))
        for world, seen in watched.items()
    }
    assert any("BF10 reaches 3" in failure for failure in stopping.failures(wrong))


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_wrong_prior_mass_of_the_rope_is_found(watched, factor):
    wrong = {
        world: stopping.summarise(replace(seen, bf10=factor * seen.bf10))
        for world, seen in watched.items()
    }
    assert any("on average, not 1" in failure for failure in stopping.failures(wrong))


def test_an_interval_too_narrow_is_found(watched):
    seen = watched[NULL]
    half = (seen.high - seen.low) / 4
    middle = (seen.high + seen.low) / 2
    wrong = stopping.summarise(replace(seen, low=middle - half, high=middle + half))
    assert any("coverage by width" in failure for failure in stopping.failures({NULL: wrong}))


def test_a_plan_of_looks_stops_at_the_first_decision():
    plan = stopping.PLANS[0]
    looked = stopping.look((plan, FEW))
    assert looked == stopping.look((plan, FEW))
    assert looked.false_last <= looked.false_stopped
    # The same rule as in the worlds above, whose equal models are called different in 4%.
    assert looked.false_stopped < 0.04 + 3 * np.sqrt(0.04 * 0.96 / FEW)


def test_more_looks_at_a_narrower_rope_err_more_often():
    found = {plan: stopping.look((plan, 200)) for plan in stopping.PLANS[:3]}
    assert found[stopping.PLANS[2]].false_stopped > found[stopping.PLANS[0]].false_stopped + 0.05
    table = stopping.plan_table(found)
    assert "| ±0.01 | 50 | 20 |" in table
