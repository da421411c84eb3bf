"""The study of annotators: true values by hand, and intervals that hold or do not."""

from __future__ import annotations

import pytest

from verification import annotators


def test_true_values_follow_from_the_shares():
    """Three annotators who are right in 80%: against one of them, and against all three."""
    by_one, by_three, by_truth = (annotators.truth_of(one) for one in annotators.WORLDS[:3])
    assert by_truth == pytest.approx(0.06, abs=0.002)
    assert by_one == pytest.approx(0.06 * (2 * 0.8 - 1), abs=0.002)
    majority = 0.8**3 + 3 * 0.8**2 * 0.2
    assert by_three == pytest.approx(0.06 * (2 * majority - 1), abs=0.002)


def test_a_world_that_does_not_hold_is_named():
    world = annotators.WORLDS[0]
    held = annotators.Held(covered=True, low=0.0, high=0.1)
    missed = annotators.Held(covered=False, low=0.0, high=0.1)
    assert annotators.failures({world: [held] * 95 + [missed] * 5}) == []
    assert "80.0% covered" in annotators.failures({world: [held] * 80 + [missed] * 20})[0]
    assert "| 100.0% | 0.100 | yes |" in annotators.table({world: [held]})
    assert annotators.failures({annotators.WORLDS[-1]: [missed] * 20}) == []


@pytest.mark.parametrize("place", [0, 1, 5])
def test_a_few_repetitions(place):
    found = annotators.repeat(annotators.WORLDS[place], 0, 10)
    assert sum(one.covered for one in found) >= 7
