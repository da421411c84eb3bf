"""Planted bugs: wrong roads from data to draws that calibration must reject.

A test that never fails proves nothing. Each of these is a mistake that is easy
to make in a sampler of this kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from outperform import Prior
from outperform._typing import FloatArray, IntArray
from outperform.decision.ranks import rank_probabilities
from outperform.posterior.base import margins_of
from outperform.posterior.class_priors import LearnedPrevalence
from outperform.posterior.hierarchical import GridPosterior
from outperform.posterior.learned import Learned
from verification.calibration import Calibration, Reading, Setting, calibrate
from verification.claims import RankClaim
from verification.learned_worlds import LearnedWorld
from verification.posteriors import Draws, Sampler, draws_of, hyper_of, sample
from verification.quantities import confusions
from verification.worlds import World, as_outcomes

Counts = Sequence[IntArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """A bug, the world it lives in, and how many items and simulations show it."""

    name: str
    world: World
    n: int
    sampler: Sampler = sample
    reading: Reading | None = None
    claim: RankClaim = rank_probabilities
    joint: bool = False
    needs: int = 2_000

    def calibrate(self, simulations: int, seed: int) -> Calibration:
        """Calibrate with the bug in place."""
        setting = Setting(
            world=self.world, n=self.n, simulations=simulations, seed=seed, joint=self.joint
        )
        return calibrate(setting, self.sampler, self.reading, self.claim)


# What the posterior is told


def return_the_prior(
    world: World, counts: Counts, generator: np.random.Generator, n_draws: int
) -> Draws:
    """Ignore the data."""
    return sample(world, [np.zeros_like(table) for table in counts], generator, n_draws)


def jeffreys_for_uniform(
    world: World, counts: Counts, generator: np.random.Generator, n_draws: int
) -> Draws:
    """Add ½ where 1 was meant."""
    wrong = replace(world, prior=Prior.from_param("jeffreys"))
    return sample(wrong, counts, generator, n_draws)


def swap_errors(
    world: World, counts: Counts, generator: np.random.Generator, n_draws: int
) -> Draws:
    """Take false positives for false negatives."""
    return sample(world, [table.T for table in counts], generator, n_draws)


def swap_models_in_one_cell(
    world: World, counts: Counts, generator: np.random.Generator, n_draws: int
) -> Draws:
    """Among the positives, book what only A found to B."""
    (table,) = counts
    swapped = table.copy()
    swapped[1] = table[1].T
    return sample(world, [swapped], generator, n_draws)


def lose_a_row(world: World, counts: Counts, generator: np.random.Generator, n_draws: int) -> Draws:
    """Leave the last item out."""
    (table,) = counts
    last = generator.choice(table.size, p=table.ravel() / table.sum())
    shorter = table.ravel().copy()
    shorter[last] -= 1
    return sample(world, [shorter.reshape(table.shape)], generator, n_draws)


# How the weights are drawn


def draw_models_apart(
    world: World, counts: Counts, generator: np.random.Generator, n_draws: int
) -> Draws:
    """Read A and B off different weights although the items are the same."""
    first, second = (sample(world, counts, generator, n_draws) for _ in range(2))
    return replace(first, sums=(first.sums[0], second.sums[1]))


def draw_models_together(
    world: World, counts: Counts, generator: np.random.Generator, n_draws: int
) -> Draws:
    """Use the same stream for both models although the items differ."""
    seed = int(generator.integers(2**63))
    alone = replace(world, n_models=1, paired=True)
    a, b = (sample(alone, [table], np.random.default_rng(seed), n_draws) for table in counts)
    return Draws(tables=a.tables + b.tables, sums=a.sums + b.sums, hyper={})


def freeze_prevalence(
    world: World, counts: Counts, generator: np.random.Generator, n_draws: int
) -> Draws:
    """Take the class proportions as known."""
    drawn = sample(world, counts, generator, n_draws)
    (table,) = drawn.tables
    prevalence = table.sum(axis=1, keepdims=True)
    return _with_table(table / prevalence * prevalence.mean(axis=-1, keepdims=True))


def clip_support(
    world: World, counts: Counts, generator: np.random.Generator, n_draws: int
) -> Draws:
    """Keep prevalence and rates away from 0 and 1."""
    (table,) = sample(world, counts, generator, n_draws).tables
    prevalence = table.sum(axis=1)
    positive = np.clip(prevalence[1], 0.01, 0.99)
    rates = np.clip(table[:, 1] / prevalence, 0.01, 0.99)
    prevalence = np.stack([1 - positive, positive])
    return _with_table(prevalence[:, None] * np.stack([1 - rates, rates], axis=1))


def _with_table(table: FloatArray) -> Draws:
    sums = tuple(margins_of(matrix) for matrix in confusions([table]))
    return Draws(tables=(table,), sums=sums, hyper={})


def stretch(values: FloatArray) -> FloatArray:
    """Make every posterior 3% too wide."""
    centre = values.mean(axis=1, keepdims=True)
    stretched: FloatArray = centre + 1.03 * (values - centre)
    return stretched


# Another model's prior


def fix_the_rate(
    world: World, counts: Counts, generator: np.random.Generator, n_draws: int
) -> Draws:
    """Answer for the hierarchical model with its η fixed at ½."""
    return _weights_of("unit", world, counts, generator, n_draws)


@dataclass(frozen=True, slots=True)
class Bent:
    """A sampler of the learned prior that is changed after it has learned."""

    change: Callable[[Learned], None]

    def __call__(
        self, world: World, counts: Counts, generator: np.random.Generator, n_draws: int
    ) -> Draws:
        """Draw from the changed posterior."""
        posterior = Learned(as_outcomes(counts))
        hyper = hyper_of(posterior, world, generator, n_draws)  # right, so that it tells nothing
        self.change(posterior)
        return replace(draws_of(posterior, world, generator, n_draws), hyper=hyper)


def fix_the_mass(posterior: Learned) -> None:
    """Weigh every recall's prior as one item."""
    rows = posterior.rows[0]
    rows.recall = replace(rows.recall, grid=_at(rows.recall.grid, 1, 0.0))


def fix_the_spread(posterior: Learned) -> None:
    """Weigh every split of errors as one item."""
    rows = posterior.rows[0]
    nodes = np.linspace(0.0, 1e-9, rows.spread.log_masses.size)
    rows.spread = replace(rows.spread, log_masses=nodes)


def even_errors(posterior: Learned) -> None:
    """Let errors fall on all classes alike."""
    rows = posterior.rows[0]
    bases = np.full_like(rows.spread.bases, 1 / rows.spread.bases.shape[1])
    rows.spread = replace(rows.spread, bases=bases)


def flip_the_slope(posterior: Learned) -> None:
    """Let recalls fall with the size of a class where they rose."""
    posterior.rows[0].sizes = -posterior.rows[0].sizes


def drop_the_slope(posterior: Learned) -> None:
    """Let classes of any size have one mean recall."""
    posterior.rows[0].sizes = 0 * posterior.rows[0].sizes


class _EvenPrevalence(LearnedPrevalence):
    """What a uniform prior of the proportions gives."""

    def draw(self, generator: np.random.Generator, length: int) -> FloatArray:
        return np.ascontiguousarray(generator.dirichlet(self.counts + 1.0, length).T)


def even_prevalence(posterior: Learned) -> None:
    """Learn nothing of the frequencies of classes."""
    posterior.prevalence = _EvenPrevalence(posterior.prevalence.counts)


def _at(grid: GridPosterior, place: int, value: float) -> GridPosterior:
    """Return the grid with one coordinate fixed."""
    axes = list(grid.axes)
    axes[place] = np.linspace(value, value + 1e-9, axes[place].size)
    return replace(grid, axes=tuple(axes))


def _weights_of(
    prior: str, world: World, counts: Counts, generator: np.random.Generator, n_draws: int
) -> Draws:
    """Draw weights under another prior; the hyper-parameters stay right, so they tell nothing."""
    right = sample(world, counts, generator, n_draws)
    wrong = sample(replace(world, prior=prior), counts, generator, n_draws)
    return replace(wrong, hyper=right.hyper)


_SINGLE = World(prior="uniform", n_classes=2)
_PAIRED = replace(_SINGLE, n_models=2)
_UNPAIRED = replace(_PAIRED, paired=False)
_LISTED, _TEN = LearnedWorld(n_classes=3, listed=True), LearnedWorld(n_classes=10)

PLANTS = (
    Plant(name="return the prior", world=_SINGLE, n=5, sampler=return_the_prior),
    Plant(name="prior ½ for 1", world=_SINGLE, n=5, sampler=jeffreys_for_uniform),
    Plant(name="swap false positives and negatives", world=_SINGLE, n=5, sampler=swap_errors),
    Plant(name="swap A and B in one cell", world=_PAIRED, n=50, sampler=swap_models_in_one_cell),
    Plant(name="independent draws, same items", world=_PAIRED, n=50, sampler=draw_models_apart),
    Plant(name="shared draws, other items", world=_UNPAIRED, n=50, sampler=draw_models_together),
    Plant(name="3% too wide", world=_SINGLE, n=50, reading=stretch, needs=20_000),
    Plant(name="prevalence taken as known", world=_SINGLE, n=50, sampler=freeze_prevalence),
    Plant(name="lose one row", world=_SINGLE, n=5, sampler=lose_a_row),
    Plant(name="support clipped to [.01, .99]", world=_SINGLE, n=50, sampler=clip_support),
    Plant(
        name="η fixed at ½",
        world=World(prior="hierarchical", n_classes=3),
        n=50,
        needs=250,
        sampler=fix_the_rate,
    ),
    Plant(name="mass fixed at 1", world=_LISTED, n=50, sampler=Bent(fix_the_mass)),
    Plant(name="spread fixed at 1", world=_LISTED, n=50, needs=500, sampler=Bent(fix_the_spread)),
    Plant(name="errors spread evenly", world=_LISTED, n=50, sampler=Bent(even_errors)),
    Plant(name="slope dropped", world=_LISTED, n=50, sampler=Bent(drop_the_slope)),
    Plant(name="slope flipped", world=_LISTED, n=50, sampler=Bent(flip_the_slope)),
    Plant(
        name="prevalence not learned", world=_TEN, n=50, needs=250, sampler=Bent(even_prevalence)
    ),
)
