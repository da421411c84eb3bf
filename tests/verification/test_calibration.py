"""A short run of what ``python -m verification`` does at full size."""

from __future__ import annotations

import numpy as np
import pytest

from verification.calibration import Setting, calibrate
from verification.learned_worlds import LearnedWorld
from verification.plants import PLANTS
from verification.worlds import World, as_outcomes, dirichlet

# One false alarm in a thousand for each configuration.
LEVEL = 1e-3

WORLDS = {
    "single": World(prior="uniform", n_classes=2),
    "paired": World(prior="jeffreys", n_classes=2, n_models=2),
    "hierarchical": World(prior="hierarchical", n_classes=3),
    "learned": LearnedWorld(n_classes=3),
}
MORE_WORLDS = [name for name in WORLDS if name != "paired"]


@pytest.mark.parametrize(
    "name",
    [
        "paired",
        *(pytest.param(name, marks=pytest.mark.slow) for name in WORLDS if name != "paired"),
    ],
)
def test_the_truth_ranks_anywhere_among_the_draws(name):
    setting = Setting(world=WORLDS[name], n=5, simulations=250, seed=2_016)
    assert calibrate(setting).adjusted > LEVEL


@pytest.mark.parametrize(
    "plant",
    [
        plant
        for plant in PLANTS
        if plant.name in ("return the prior", "prior ½ for 1", "independent draws, same items")
    ],
    ids=lambda plant: plant.name,
)
def test_a_planted_bug_is_found(plant):
    assert plant.calibrate(simulations=250, seed=2_016).adjusted < LEVEL


def test_ten_classic_bugs_and_seven_more_are_planted():
    assert len({plant.name for plant in PLANTS}) == len(PLANTS) == 17


@pytest.mark.parametrize("listed", [False, True])
def test_data_sets_of_the_learned_prior_are_those_asked_for(listed):
    world, generator = LearnedWorld(n_classes=4, listed=listed), np.random.default_rng(1)
    for _ in range(20):
        truth, (counts,) = world.draw(30, generator)
        assert counts.sum() == 30
        assert (counts.sum(axis=1) > 0).all() == listed
        assert truth.tables[0].sum() == pytest.approx(1.0)
        assert truth.hyper["s A"] >= 1
        assert truth.hyper["t A"] >= 0.05
    assert not LearnedWorld(n_classes=4, listed=True).serves(3)


def test_dirichlet_has_the_textbook_moments():
    generator = np.random.default_rng(0)
    shapes = np.array([0.02, 0.5, 3.0])
    drawn = dirichlet(generator, np.broadcast_to(shapes, (40_000, 3)))
    mean = shapes / shapes.sum()
    variance = mean * (1 - mean) / (shapes.sum() + 1)
    assert np.all(np.abs(drawn.mean(axis=0) - mean) < 4 * np.sqrt(variance / 40_000))


def test_a_world_without_items_can_be_asked():
    outcomes = as_outcomes([np.zeros((3, 3, 3), dtype=np.int64)])
    assert outcomes.n == 0
    assert outcomes.models == ("A", "B")
