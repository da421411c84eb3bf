"""How often do intervals hold the metric of a population that was sampled unevenly?

Items have a difficulty between 0 and 1. The sample has equally many of every difficulty;
the population has more of the easy ones, with density ``∝ exp(−slant · difficulty)``, which is
the importance weight of an item. Both models err more on hard items, A more than B.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

import outperform as op
from outperform._typing import AnyArray, FloatArray
from verification import markdown
from verification.chance import share_error, share_is_off

SEED = 20_261_116
BOUNDS = (0.92, 0.975)
MOST_AS_FREQUENCIES = 0.90
ROADS = ("importance", "frequency", "none")
_N_DRAWS = 1_000
_GRID = 20_001
_SHARED = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightWorld:
    """A sample of one kind: how many items, how uneven their weights, in which groups."""

    metric: str = "f1"
    n: int = 1_000
    slant: float = 2.0
    group: int = 1
    gated: bool = True


_WORLD = WeightWorld()
WORLDS = (
    _WORLD,
    replace(_WORLD, slant=6.0),
    replace(_WORLD, slant=4.0, metric="accuracy"),
    replace(_WORLD, n=800, group=4),
    # Where it ends: a hundred effective items, on a tenth of which the models differ.
    replace(_WORLD, slant=6.0, n=300, gated=False),
)


@dataclass(frozen=True, slots=True)
class Held:
    """One repetition: the effective sample size, and for each road the interval's doings."""

    effective: float
    covered: tuple[bool, ...]
    width: tuple[float, ...]


def density(difficulty: FloatArray, slant: float) -> FloatArray:
    """Return the population's density of difficulties over the sample's."""
    found: FloatArray = slant * np.exp(-slant * difficulty) / -np.expm1(-slant)
    return found


def prevalence(difficulty: FloatArray) -> FloatArray:
    """Return the probability of the positive class."""
    return 0.3 + 0.4 * difficulty


def right(difficulty: FloatArray) -> FloatArray:
    """Return the probabilities that A and B are right, ``(2, n)``."""
    return np.stack([0.95 - 0.35 * difficulty, 0.90 - 0.15 * difficulty])


def truth_of(world: WeightWorld) -> float:
    """Return the difference of the metric in the population, A − B."""
    difficulty = (np.arange(_GRID) + 0.5) / _GRID
    weight = density(difficulty, world.slant) / _GRID
    positive, is_right = weight * prevalence(difficulty), right(difficulty)
    if world.metric == "accuracy":
        levels = is_right @ weight
    else:
        hits, spurious = is_right @ positive, (1 - is_right) @ (weight - positive)
        levels = 2 * hits / (hits + spurious + positive.sum())
    return float(levels[0] - levels[1])


def simulate(
    world: WeightWorld, generator: np.random.Generator
) -> tuple[AnyArray, AnyArray, FloatArray, AnyArray | None]:
    """Draw truth, predictions ``(2, n)``, weights and, where there are any, groups.

    Items of a group have one difficulty, and one luck in what the models share.
    """
    n_groups = world.n // world.group
    own = np.repeat(np.arange(n_groups), world.group)
    difficulty = generator.random(n_groups)[own]
    truth = generator.random(world.n) < prevalence(difficulty)
    luck = generator.random((3, world.n))
    shared = generator.random(n_groups)[own] if world.group > 1 else luck[2]
    luck = np.where(generator.random(world.n) < _SHARED, shared, luck[:2])
    predicted = np.where(luck < right(difficulty), truth, ~truth)
    groups = own if world.group > 1 else None
    return truth, predicted, density(difficulty, world.slant), groups


def repeat(world: WeightWorld, first: int, last: int) -> list[Held]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    true, place = truth_of(world), WORLDS.index(world)
    # A stream per repetition, so that chunks can be run in any order.
    return [
        _held(world, true, np.random.default_rng([SEED, place, repetition]))
        for repetition in range(first, last)
    ]


def _held(world: WeightWorld, true: float, generator: np.random.Generator) -> Held:
    truth, (a, b), weights, groups = simulate(world, generator)
    # As somebody would make whole numbers of them: the least is one item.
    whole = np.rint(weights / weights.min()).astype(np.int64)
    models = {"A": a, "B": b}
    roads = (
        op.Outcomes.from_labels(truth, models, sample_weight=weights, groups=groups),
        op.Outcomes.from_counts(truth, models, whole, groups=groups),
        op.Outcomes.from_labels(truth, models, groups=groups),
    )
    found = [
        op.compare(
            seen,
            "A",
            "B",
            metric=world.metric,
            rope=0.01,
            prior="bootstrap",
            n_draws=_N_DRAWS,
            random_state=generator,
            n_jobs=1,
        )
        for seen in roads
    ]
    return Held(
        effective=float(found[0].spec.n_effective or 0.0),
        # So few draws make a narrowest interval too narrow; equal tails have no such bias.
        covered=tuple(true in one.eti for one in found),
        width=tuple(one.eti.width for one in found),
    )


Found = Mapping[WeightWorld, Sequence[Held]]


def table(found: Found) -> str:
    """Return one row a world; coverage in per cent with its standard error."""
    header = (
        *("metric", "items", "slant", "effective", "true difference", "repetitions"),
        *("importance", "as frequencies", "without weights", "width", "as frequencies", "without"),
        "must hold",
    )
    return markdown.table(header, [_row(*one) for one in found.items()]) + (
        f"\n95% equal-tailed intervals of A − B by {_N_DRAWS:,} draws of prior `bootstrap`; shares "
        "in per cent.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the worlds where importance does not hold, or frequencies would do as well."""
    failed = []
    for world, held in found.items():
        covered = _covered(held)
        if world.gated and share_is_off(covered[0], len(held), *BOUNDS):
            failed.append(f"weights, {world}: {covered[0]:.1%} covered by importance")
        as_well = share_is_off(covered[1], len(held), high=MOST_AS_FREQUENCIES)
        if as_well and world.group == 1:
            failed.append(f"weights, {world}: {covered[1]:.1%} covered as frequencies")
    return failed


def _covered(held: Sequence[Held]) -> FloatArray:
    return np.asarray(np.mean([one.covered for one in held], axis=0))


def _row(world: WeightWorld, held: Sequence[Held]) -> list[str]:
    n = len(held)
    covered, width = _covered(held), np.mean([one.width for one in held], axis=0)
    items = f"{world.n:,}" + (f" in groups of {world.group}" if world.group > 1 else "")
    return [
        world.metric,
        items,
        f"{world.slant:g}",
        f"{np.mean([one.effective for one in held]):.0f}",
        f"{truth_of(world):+.4f}",
        f"{n:,}",
        *(markdown.percent(one, share_error(one, n)) for one in covered),
        *(f"{one:.3f}" for one in width),
        "yes" if world.gated else "no",
    ]
