"""Many classes paired, and many models ranked: what is calibrated at length, and its bugs.

The models that the package draws for them differ from those of two classes: the prior of a
class is a product over models, and with many cells it is drawn by sticks.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from outperform._typing import FloatArray
from outperform.decision.ranks import rank_probabilities
from verification.calibration import Setting
from verification.plants import (
    Counts,
    Plant,
    lose_a_row,
    return_the_prior,
    stretch,
)
from verification.posteriors import Draws, sample
from verification.worlds import World

THREE = World(prior="unit", n_classes=3, n_models=2)
TEN = World(prior="unit", n_classes=10, n_models=2, sticks=True)
FOUR_MODELS = World(prior="unit", n_classes=3, n_models=4, sticks=True)
WORLDS = (THREE, TEN, FOUR_MODELS)
ITEMS = (5, 50, 500)


def settings(simulations: int) -> list[Setting]:
    """Return every world at every number of items."""
    return [
        Setting(
            world=world, n=n, simulations=simulations, seed=50_000 + 1_000 * place + n, joint=True
        )
        for place, world in enumerate(WORLDS)
        for n in ITEMS
    ]


def fill_every_cell(
    world: World, counts: Counts, generator: np.random.Generator, n_draws: int
) -> Draws:
    """Give every pair of answers a pseudo-item of its own, not one to all of a class."""
    flat = replace(world, prior="uniform", sticks=False)
    return sample(flat, counts, generator, n_draws)


def draw_all_models_apart(
    world: World, counts: Counts, generator: np.random.Generator, n_draws: int
) -> Draws:
    """Read every model off weights of its own although the items are the same."""
    drawn = [sample(world, counts, generator, n_draws) for _ in range(world.n_models)]
    own = tuple(one.sums[model] for model, one in enumerate(drawn))
    return replace(drawn[0], sums=own)


def swap_two_models_in_one_class(
    world: World, counts: Counts, generator: np.random.Generator, n_draws: int
) -> Draws:
    """In one true class, book the answers of A to B and those of B to A."""
    (table,) = counts
    swapped = table.copy()
    swapped[1] = np.swapaxes(table[1], 0, 1)
    return sample(world, [swapped], generator, n_draws)


def rank_by_means(values: FloatArray) -> FloatArray:
    """Claim the order of the means as if it were certain."""
    return rank_probabilities(values.mean(axis=1, keepdims=True))


def rank_from_the_worst(values: FloatArray) -> FloatArray:
    """Give the first rank to the least."""
    return rank_probabilities(values, greater_is_better=False)


def rank_off_by_one(values: FloatArray) -> FloatArray:
    """Count ranks from 0 and read them as if counted from 1."""
    return np.roll(rank_probabilities(values), 1, axis=1)


_COARSE, _SUBTLE = 100, 1_000  # simulations
_SAMPLERS = (
    ("independent draws, same items", 500, _SUBTLE, draw_all_models_apart),
    ("swap A and B in one class", 50, _COARSE, swap_two_models_in_one_class),
    ("a pseudo-item for every cell", 50, _COARSE, fill_every_cell),
    ("lose one row", 5, _COARSE, lose_a_row),
    ("return the prior", 5, _COARSE, return_the_prior),
)
_CLAIMS = (
    ("the order of the means as if certain", rank_by_means),
    ("the least ranked first", rank_from_the_worst),
    ("ranks off by one", rank_off_by_one),
)

PLANTS = (
    *(
        Plant(name=name, world=world, n=n, sampler=sampler, joint=True, needs=needs)
        for world in WORLDS
        for name, n, needs, sampler in _SAMPLERS
    ),
    Plant(name="3% too wide", world=THREE, n=50, reading=stretch, joint=True, needs=_COARSE),
    *(
        Plant(name=name, world=FOUR_MODELS, n=50, claim=claim, needs=_COARSE)
        for name, claim in _CLAIMS
    ),
)
