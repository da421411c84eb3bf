"""The study of probabilities: who draws the truths, how claims are binned, what fails."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.loops import each
from verification import reliability
from verification.reliability import ROPE, WORLDS, ClaimWorld

PRIOR, HYPOTHESES, *MODELS = WORLDS


def test_hypotheses_are_even_and_each_has_its_part_of_the_prior():
    rng = np.random.default_rng(1)
    drawn = np.array([reliability.draw_shares("hypotheses", rng) for _ in range(2_000)])
    inside = np.abs(drawn[:, 0] - drawn[:, 1]) <= ROPE
    assert inside.mean() == pytest.approx(0.5, abs=4 * np.sqrt(0.25 / 2_000))
    drawn = np.array([reliability.draw_shares("prior", rng) for _ in range(4_000)])
    inside = np.abs(drawn[:, 0] - drawn[:, 1]) <= ROPE
    expected = 1 - (1 - ROPE) ** 3  # |p1 − p2| under Dirichlet(1, 1, 2)
    assert inside.mean() == pytest.approx(expected, abs=4 * np.sqrt(expected / 4_000))


@each("world", WORLDS, ids=lambda world: world.name)
def test_claims_are_probabilities_of_what_is_so_or_not(world):
    first, second = reliability.repeat(world, 0, 2)
    assert reliability.repeat(world, 1, 2) == [second]
    names = {"P(null)"} if world.truths == "hypotheses" else {"P(A is better)", "P(equivalent)"}
    assert {name for name, _, _ in first} == names
    assert all(0 <= claimed <= 1 for _, claimed, _ in first + second)


def made(world, claimed, happened, claim="P(A is better)"):
    return {world: [[(claim, p, so)] for p, so in zip(claimed, happened, strict=True)]}


@pytest.mark.parametrize("world", [PRIOR, MODELS[0]], ids=["own prior", "other truths"])
def test_claims_that_are_too_bold_fail(world):
    rng = np.random.default_rng(2)
    p = rng.beta(0.5, 0.5, 2_000)
    happened = rng.random(2_000) < p
    assert reliability.failures(made(world, p, happened)) == []
    bold = p**3 / (p**3 + (1 - p) ** 3)
    (failed,) = reliability.failures(made(world, bold, happened))
    assert failed.startswith(f"P(A is better), {world.name}")


def test_timid_claims_fail_only_where_the_prior_is_the_own():
    rng = np.random.default_rng(3)
    p = rng.beta(0.5, 0.5, 2_000)
    timid = 0.5 + 0.7 * (p - 0.5)
    happened = rng.random(2_000) < p
    assert reliability.failures(made(MODELS[0], timid, happened)) == []
    assert len(reliability.failures(made(PRIOR, timid, happened))) == 1


def test_bins_by_hand():
    claimed, happened = np.array([0.0, 0.04, 0.5, 0.55, 1.0]), np.array([0.0, 1, 1, 0, 1])
    found = reliability.curve(claimed, happened)
    low, middle, high = found[0], found[3], found[-1]
    assert (low.claimed, low.came_true, low.n) == (0.02, 0.5, 2)
    assert (middle.claimed, middle.came_true, middle.n) == (0.525, 0.5, 2)
    assert middle.error == pytest.approx(np.sqrt(0.525 * 0.475 / 2))
    assert (high.claimed, high.came_true, high.n) == (1.0, 1.0, 1)
    assert found[1] is found[2] is None


def test_the_table_and_what_the_figure_draws():
    world = ClaimWorld(truths="models", metric="f1", n=200)
    found = made(world, [0.3, 0.97, 0.99], [False, True, True])
    assert "| P(A is better) | similar models | f1 | 200 |" in reliability.table(found)
    assert "30.0: 0.0 ± 45.8" in reliability.table(found)  # √(0.3 · 0.7), of one claim
    (row,) = json.loads(reliability.stored(found))
    assert row["bins"][1][:2] == [0.98, 1.0]
