"""The study of votes: what endless voters say, and intervals that hold or do not."""

from __future__ import annotations

import numpy as np
import pytest

from verification import votes


def test_the_truth_of_a_world_without_tastes_is_in_its_strengths():
    beats = 1 / (1 + np.exp(votes._STRENGTHS[None] - votes._STRENGTHS[:, None]))
    rates = (beats.sum(axis=1) - 0.5) / 3
    assert votes.truth_of(votes.WORLDS[0]) == pytest.approx(rates[0] - rates[1], abs=0.002)


def test_a_world_that_does_not_hold_is_named():
    world = votes.WORLDS[0]
    held = votes.Held(covered=(True, True), width=(0.2, 0.1))
    missed = votes.Held(covered=(False, False), width=(0.2, 0.1))
    assert votes.failures({world: [held] * 95 + [missed] * 5}) == []
    assert "80.0% covered" in votes.failures({world: [held] * 80 + [missed] * 20})[0]
    assert "| 100.0% | 0.200 | 0.100 |" in votes.table({world: [held]})


def test_few_voters_with_many_votes_and_tastes_need_groups():
    """Ten intervals hold the truth, and are wider than those of votes one by one."""
    found = votes.repeat(votes.VOTERS[1], 0, 10)
    assert sum(one.covered[0] for one in found) >= 7
    assert np.mean([one.width[0] / one.width[1] for one in found]) > 1.1


def test_the_truth_of_a_contest_is_the_mean_of_its_shares():
    circle, *_ = votes.CONTESTS
    assert circle.truth == pytest.approx((0.8 + 0.05) / 2 - (0.2 + 0.95) / 2)
    (placed,) = [one for one in votes.CONTESTS if one.place]
    assert abs(votes.truth_of_contest(placed)) < abs(placed.truth)


def test_a_contest_must_hold_or_be_withheld():
    tree = next(one for one in votes.CONTESTS if not one.votes[0])
    missed = votes.Judged(mean=0.0, wrong=True)
    unchecked = votes.Judged(mean=0.0, wrong=True, unchecked=True)
    assert votes.failures({tree: [unchecked] * 50}) == []
    said = votes.failures({tree: [missed] * 50})
    assert "0.0% covered or withheld" in said[0]
    assert "100.0% wrong decisions" in said[1]
    assert "| 100.0% |" in votes.table({tree: [unchecked]})
