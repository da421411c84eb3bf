"""How many labels are saved where they go to items on which two models disagree?

A pool of 10,000 items is drawn from a known world in which both models say the same nine
times out of ten. 400 items are proposed, labelled and compared; the interval is held against
the true difference of the world, and its width against that of three times as many items
labelled at random. Naive: the same 400, taken as if they had come at random.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import outperform as op
from outperform import metrics
from outperform._typing import FloatArray, IntArray

SEED = 20_261_117
BOUNDS = (0.925, 0.975)
TIMES = 3  # so many times the budget is labelled at random
_POOL = 10_000
_BUDGET = 400
# Enough for the fitted HDI that users get; a plain sample minimum would be too narrow.
_N_DRAWS = 5_200
# Width, and what the naive interval misses, show in fewer repetitions.
_BESIDE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolWorld:
    """The shares of the classes, and how often only A, only B or neither is right in each."""

    name: str
    shares: tuple[float, ...]
    only_a: tuple[float, ...]
    only_b: tuple[float, ...]
    neither: tuple[float, ...]
    same: float = 0.67  # of what neither gets right, how often they say the same
    metric: str = "accuracy"
    budget: int = _BUDGET
    gated: bool = True

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.shares)

    @property
    def positive(self) -> int | None:
        """The class of a metric of one class: the last, which is the rarest."""
        return self.n_classes - 1 if metrics.get(self.metric).average == "binary" else None


_TWO = PoolWorld(
    name="two classes, even, equal models",
    shares=(0.5, 0.5),
    only_a=(0.05, 0.05),
    only_b=(0.05, 0.05),
    neither=(0.05, 0.05),
)
_BETTER = replace(
    _TWO, name="two classes, even, A better", only_a=(0.07, 0.07), only_b=(0.03, 0.03)
)
_RARE = PoolWorld(
    name="5% positive, equal models",
    shares=(0.95, 0.05),
    only_a=(0.042, 0.2),
    only_b=(0.042, 0.2),
    neither=(0.01, 0.15),
)
_RARE_BETTER = replace(_RARE, name="5% positive, A better", only_a=(0.055, 0.3), only_b=(0.03, 0.1))
_FIVE = PoolWorld(
    name="five classes, even, equal models",
    shares=(0.2,) * 5,
    only_a=(0.04,) * 5,
    only_b=(0.04,) * 5,
    neither=(0.06,) * 5,
)
_FIVE_BETTER = PoolWorld(
    name="five classes, 60% to 4%, A better",
    shares=(0.6, 0.2, 0.1, 0.06, 0.04),
    only_a=(0.04, 0.05, 0.06, 0.08, 0.1),
    only_b=(0.025, 0.04, 0.04, 0.04, 0.05),
    neither=(0.03, 0.05, 0.08, 0.1, 0.15),
)
WORLDS = (
    _TWO,
    *(replace(_BETTER, metric=metric) for metric in ("accuracy", "f1", "recall")),
    *(replace(_RARE, metric=metric) for metric in ("f1", "recall")),
    *(replace(_RARE_BETTER, metric=metric) for metric in ("f1", "recall")),
    *(replace(_FIVE, metric=metric) for metric in ("accuracy", "f1_macro")),
    *(replace(_FIVE_BETTER, metric=metric) for metric in ("f1_macro", "recall")),
)


@dataclass(frozen=True, slots=True)
class Held:
    """One repetition: did each interval hold the truth, and how wide was it?"""

    covered: bool
    width: float
    random_covered: bool | None
    random_width: float | None
    naive_covered: bool | None


def joint(world: PoolWorld) -> FloatArray:
    """Return P(truth, prediction of A, prediction of B); errors fall evenly on other classes."""
    n = world.n_classes
    table = np.zeros((n, n, n))
    for truth in range(n):
        others = np.delete(np.arange(n), truth)
        only_a, only_b, neither = (
            of_class[truth] for of_class in (world.only_a, world.only_b, world.neither)
        )
        same = 1.0 if n == 2 else world.same
        table[truth, truth, truth] = 1 - only_a - only_b - neither
        table[truth, truth, others] = only_a / (n - 1)
        table[truth, others, truth] = only_b / (n - 1)
        apart = neither * (1 - same) / max((n - 1) * (n - 2), 1)
        table[truth][np.ix_(others, others)] = apart
        table[truth, others, others] = neither * same / (n - 1)
    whole: FloatArray = table * np.array(world.shares)[:, None, None]
    return whole


def truth_of(world: PoolWorld) -> float:
    """Return the true difference of the metric, A − B."""
    metric, table = metrics.get(world.metric), joint(world)
    classes = None if world.positive is None else (world.positive,)
    a, b = (
        float(metric.evaluate(metrics.Margins.from_confusion(table.sum(axis=axis)), classes))
        for axis in (2, 1)
    )
    return a - b


def simulate(
    world: PoolWorld, generator: np.random.Generator
) -> tuple[IntArray, IntArray, IntArray]:
    """Draw a pool: the truth, which nobody knows yet, and the predictions of both models."""
    table = joint(world)
    drawn = generator.choice(table.size, size=_POOL, p=table.ravel())
    truth, a, b = np.unravel_index(drawn, table.shape)
    return truth, a, b


def repeat(world: PoolWorld, first: int, last: int) -> list[Held]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    truth, place = truth_of(world), WORLDS.index(world)
    # A stream per repetition, so that chunks can be run in any order.
    return [
        _held(
            world,
            truth,
            np.random.default_rng([SEED, place, repetition]),
            beside=repetition < _BESIDE,
        )
        for repetition in range(first, last)
    ]


def _held(
    world: PoolWorld, difference: float, generator: np.random.Generator, *, beside: bool
) -> Held:
    truth, a, b = simulate(world, generator)
    options: dict[str, Any] = {"metric": world.metric, "pos_label": world.positive}
    labels = range(world.n_classes)
    proposal = op.propose(
        a, b, budget=world.budget, labels=labels, random_state=generator, **options
    )
    chosen = proposal.items

    def compare(seen: op.Outcomes) -> op.Comparison:
        seed = int(generator.integers(2**63))
        return op.compare(
            seen, "A", "B", rope=0.01, n_draws=_N_DRAWS, random_state=seed, n_jobs=1, **options
        )

    def plain(which: IntArray) -> op.Comparison:
        columns = {"A": a[which], "B": b[which]}
        return compare(op.Outcomes.from_labels(truth[which], columns, labels=labels))

    found = compare(proposal.outcomes(truth[chosen])).hdi
    held = difference in found, found.width
    if not beside:
        return Held(*held, None, None, None)
    some = generator.choice(_POOL, TIMES * world.budget, replace=False)
    random, naive = plain(some).hdi, plain(chosen).hdi
    return Held(*held, difference in random, random.width, difference in naive)
