"""The study of noise: its worlds, its truth, and its gate."""

from __future__ import annotations

import numpy as np
import pytest

from verification import noise


def test_thirty_worlds_none_of_them_twice():
    assert len(set(noise.WORLDS)) == len(noise.WORLDS) == 30
    assert {world.n_trials for world in noise.WORLDS} == {1, 3, 4, 5}


@pytest.mark.parametrize("ease", [*noise.EASE, *noise.GRADED])
def test_true_components_are_those_of_many_items(ease):
    world = noise.World(ease=ease, n=200_000, rope=0.01)
    rng = np.random.default_rng(1)
    items = noise._items(world, rng)
    one, two = items.run(rng)[:, 0], items.run(rng)[:, 0]
    flips, icc = noise.true_components(ease)
    assert (one != two).mean() == pytest.approx(flips, abs=0.004)
    # Two answers to an item correlate by the ICC; it is 0 if all items are alike.
    assert np.corrcoef(one, two)[0, 1] == pytest.approx(icc, abs=0.01)


def noted(predicted, flipped, held=True):
    gates = np.arange(noise.GATES) < flipped * noise.GATES
    return [noise.Noted(predicted, held, held, gates, True)] * 100


@pytest.mark.parametrize(("flipped", "n_faults"), [(0.30, 0), (0.31, 0), (0.35, 1), (0.25, 1)])
def test_predictions_may_be_off_by_two_points(flipped, n_faults):
    held = [noise.Noted(0.3, k < 95, k < 95, each.flipped, True)
            for k, each in enumerate(noted(0.3, flipped))]  # fmt: skip
    assert len(noise.failures({noise.WORLDS[0]: held})) == n_faults


def test_intervals_that_miss_are_a_failure():
    faults = noise.failures({noise.WORLDS[0]: noted(0.3, 0.3, held=False)})
    assert len(faults) == 2


def test_repetitions_do_not_depend_on_chunks(monkeypatch):
    monkeypatch.setattr(noise, "GATES", 10)
    world = noise.WORLDS[0]
    whole = noise.repeat(world, 0, 2)
    parts = noise.repeat(world, 0, 1) + noise.repeat(world, 1, 2)
    assert [one.predicted for one in whole] == [one.predicted for one in parts]
    assert "| beta(4, 0.8) | 100 |" in noise.table({world: whole})
