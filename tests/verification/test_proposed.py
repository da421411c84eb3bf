"""The study of proposed labels: intervals that hold, and half of the labels of people alone."""

from __future__ import annotations

import numpy as np
import pytest

from verification import proposed

VERDICTS = proposed.WORLDS[0]
RARE, FREQUENT = (
    next(
        one
        for one in proposed.WORLDS
        if (one.task, one.prevalence, one.budget) == ("f1", share, 100)
    )
    for share in (0.05, 0.3)
)


def test_the_judge_is_right_in_85_of_100():
    for world in proposed.WORLDS[::2]:
        items = proposed.draw_items(world, 200_000, np.random.default_rng(0))
        held = items.models if items.truth is None else items.truth
        assert (items.judge == held).mean(axis=-1) == pytest.approx(0.85, abs=0.004)


def test_errors_that_are_shared_have_a_correlation():
    """Wrong on each in 15%; of 30% of the items on either by half, so that 7.5% are on both."""
    items = proposed.draw_items(proposed.WORLDS[2], 200_000, np.random.default_rng(0))
    wrong = items.judge != items.models
    assert wrong.all(axis=0).mean() == pytest.approx(0.075, abs=0.003)


def test_the_true_difference_is_that_of_the_worlds():
    assert proposed.truth_of(VERDICTS) == pytest.approx(0.04, abs=0.002)
    items = proposed.draw_items(RARE, 500_000, np.random.default_rng(1))
    f1 = []
    for one in items.models:
        hits = ((one == 1) & (items.truth == 1)).sum()
        f1.append(hits / (hits + (one != items.truth).sum() / 2))
    assert proposed.truth_of(RARE) == pytest.approx(f1[0] - f1[1], abs=0.005)


@pytest.mark.parametrize(
    "world",
    [VERDICTS, RARE, pytest.param(FREQUENT, marks=pytest.mark.slow)],
    ids=lambda world: world.name,
)
def test_intervals_hold_the_truth(world):
    """Of 150 test sets, beyond those that have others beside them."""
    covered = [one.covered for one in proposed.repeat(world, 1_000, 1_150)]
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 150)


def test_items_that_are_not_random_must_not_be_counted_as_such():
    """The middles of 20 intervals: without the strata they are twice too far from 0."""
    middles = []
    for number in range(20):
        items = proposed.draw_items(FREQUENT, proposed.N_ITEMS, np.random.default_rng(number))
        seen = proposed.proposed(FREQUENT, items, number)
        taken = type(seen)(models=seen.models, labels=seen.labels, tables=seen.tables)
        ends = [proposed.interval(one, FREQUENT.task, [number]) for one in (seen, taken)]
        middles.append([(low + high) / 2 for low, high in ends])
    true = proposed.truth_of(FREQUENT)
    (ours, naive), errors = np.mean(middles, axis=0), np.std(middles, axis=0) / np.sqrt(20)
    assert ours == pytest.approx(true, abs=4 * errors[0])
    assert naive > 2 * true + 3 * errors[1]


@pytest.mark.parametrize("world", [RARE, FREQUENT], ids=lambda world: world.name)
def test_half_of_the_labels_are_enough_for_classes(world):
    """Half as wide as twice as many labels of people alone, and narrower than those of a judge."""
    ours, people, judge, alone = proposed.median_widths(proposed.repeat(world, 0, 30))
    assert ours < 0.6 * people
    assert ours < 0.85 * judge
    assert ours < 1.02 * alone


def test_verdicts_are_worth_more_than_as_many_labels_of_people_alone():
    """Twice as many labels are narrower: a judge that errs on each answer apart tells less."""
    ours, people, judge, _ = proposed.median_widths(proposed.repeat(VERDICTS, 0, 30))
    assert ours < 0.9 * np.sqrt(2) * people
    assert ours < 0.97 * np.sqrt(2) * judge


def test_a_world_that_does_not_hold_is_named():
    held = proposed.Held(covered=True, width=(0.1, 0.2, 0.15, 0.12))
    missed = proposed.Held(covered=False, width=(0.1, 0.2, 0.15, np.nan))
    wide = proposed.Held(covered=True, width=(0.3, 0.2, 0.15, 0.12))
    assert proposed.failures({RARE: [held] * 95 + [missed] * 5}) == []
    assert "80.0% covered" in proposed.failures({RARE: [held] * 80 + [missed] * 20})[0]
    assert "1.50 times as wide" in proposed.failures({RARE: [wide] * 95 + [missed] * 5})[0]
    assert proposed.failures({VERDICTS: [wide] * 95 + [missed] * 5}) == []
    row = "| classes | f1 | 5% | 100 | 1 | 100.0% | 0.100 | 0.200 | 0.150 | 0.120 | 800 |"
    assert row in proposed.table({RARE: [held]})
