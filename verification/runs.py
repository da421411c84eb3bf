"""Is a lucky seed sold as a better model? Comparisons of several training runs of each.

A run gets a share of right answers of its own, normal around its model's; items are
hard for all models, for all runs of one model, or for one run. Everything about a run
follows from its share, so the mean over all runs is known. The runs are spread so far that
they make up a chosen share of the variance of A − B, all runs and test sets considered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

import outperform as op
from outperform._typing import AnyArray, FloatArray
from outperform.decision.hdi import narrowest
from outperform.decision.rope import Decision, decide, masses_from_draws
from outperform.ranking.result import make_joint_spec
from verification import markdown
from verification.chance import share_is_off

SEED = 20_261_116
MOST_FALSE = 0.06
LEAST_COVERED = 0.93
WAYS = ("runs", "pooled", "best", "bootstrap")
_N_DRAWS = 1_000
_PILOTS = 400
_FOR_ALL, _FOR_MODEL = 0.4, 0.3  # how often an item is as hard as for all, as for the model


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How good two models are, how far their runs spread, and what is asked.

    Parameters
    ----------
    metric
        The metric; of two classes, or of three where it is an average over classes.
    n
        Items in a test set.
    share
        The share of the variance of A − B that comes from the runs.
    n_runs
        Runs of each model.
    apart
        By how much more often A is right than B.
    wider
        How many times as far the runs of A spread as those of B.
    rope
        Half-width of the ROPE.
    """

    metric: str
    n: int
    share: float
    n_runs: int = 5
    apart: float = 0.0
    wider: float = 1.0
    rope: float = 0.001

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return 2 if op.metrics.get(self.metric).average == "binary" else 3

    @property
    def stream(self) -> list[int]:
        """The seed of everything random in it, its own if it has a place among the worlds."""
        place = WORLDS.index(self) if self in WORLDS else len(WORLDS)
        return [SEED, self.n, self.n_runs, place]

    @property
    def name(self) -> str:
        """What to call it in a table."""
        equal = "equal" if self.apart == 0 else f"{self.apart:g} apart"
        wider = "" if self.wider == 1 else f", spread {self.wider:g} times as far"
        return f"{equal}, {self.n_runs} runs{wider}"


WORLDS = (
    World(metric="accuracy", n=500, share=0.5),
    World(metric="accuracy", n=2_000, share=0.8),
    World(metric="accuracy", n=500, share=0.8, rope=0.01),
    World(metric="f1", n=500, share=0.8),
    World(metric="f1", n=2_000, share=0.5),
    World(metric="f1_macro", n=500, share=0.5),
    World(metric="f1_macro", n=2_000, share=0.8),
    World(metric="f1", n=500, share=0.8, wider=5.0),
    World(metric="f1", n=500, share=0.0),
    World(metric="f1", n=500, share=0.5, n_runs=3),
    World(metric="f1", n=500, share=0.5, n_runs=10),
    World(metric="f1", n=500, share=0.5, apart=0.04, rope=0.01),
    World(metric="accuracy", n=500, share=0.8, apart=0.08, rope=0.01),
)
_RIGHT = 0.82
_CLASSES = {2: (0.7, 0.3), 3: (0.5, 0.3, 0.2)}


class Said(NamedTuple):
    """What one way of treating the runs said: its interval and its decision."""

    covered: bool
    called: bool  # better or worse
    width: float


class Shares(NamedTuple):
    """How far the shares of right answers of runs of A and of B spread."""

    a: float
    b: float


@lru_cache(maxsize=16)
def spreads(world: World) -> Shares:
    """Return the standard deviations of the runs that give them their share of the variance."""
    if world.share == 0:
        return Shares(0.0, 0.0)
    still = replace(world, share=0.0, apart=0.0)
    pilots = [
        _observed(still, np.random.default_rng([*still.stream, 1, pilot]))
        for pilot in range(_PILOTS)
    ]
    items = float(np.var(pilots, ddof=1))
    slope = (_level(world, _RIGHT + 0.01) - _level(world, _RIGHT - 0.01)) / 0.02
    runs = items * world.share / (1 - world.share) / slope**2  # of the mean of A − that of B
    b = np.sqrt(runs * world.n_runs / (1 + world.wider**2))
    return Shares(world.wider * float(b), float(b))


def truth_of(world: World) -> float:
    """Return A − B of the means over all runs."""
    nodes, weights = hermegauss(21)
    shares = spreads(world)
    means = [
        sum(w * _level(world, right + sd * z) for z, w in zip(nodes, weights, strict=True))
        / weights.sum()
        for right, sd in ((_RIGHT + world.apart, shares.a), (_RIGHT, shares.b))
    ]
    return float(means[0] - means[1])


def _level(world: World, right: float) -> float:
    """Return the metric of a run that is right so often, on all items there could be."""
    k = world.n_classes
    confusion = np.full((k, k), (1 - right) / (k - 1))
    np.fill_diagonal(confusion, right)
    confusion *= np.reshape(_CLASSES[k], (k, 1))
    metric = op.metrics.get(world.metric)
    margins = op.metrics.Margins.from_confusion(confusion)
    return float(metric.evaluate(margins, (1,) if k == 2 else None))


def sample(
    world: World, generator: np.random.Generator
) -> tuple[AnyArray, list[AnyArray], list[AnyArray]]:
    """Train all runs and draw one test set: the truth, and what the runs of A and of B say."""
    truth = generator.choice(world.n_classes, size=world.n, p=_CLASSES[world.n_classes])
    hard = generator.random(world.n)
    sides: list[list[AnyArray]] = []
    for right, sd in zip((_RIGHT + world.apart, _RIGHT), spreads(world), strict=True):
        own = generator.random(world.n)
        levels = right + sd * generator.standard_normal(world.n_runs)
        sides.append([_answers(world, truth, hard, own, level, generator) for level in levels])
    return truth, sides[0], sides[1]


def _answers(
    world: World,
    truth: AnyArray,
    hard: FloatArray,
    own: FloatArray,
    right: float,
    generator: np.random.Generator,
) -> AnyArray:
    kind = generator.random(world.n)
    alone = generator.random(world.n)
    mixed = np.where(kind < _FOR_ALL, hard, np.where(kind < _FOR_ALL + _FOR_MODEL, own, alone))
    wrong = (truth + generator.integers(1, world.n_classes, size=world.n)) % world.n_classes
    return np.where(mixed < right, truth, wrong)


def _observed(world: World, generator: np.random.Generator) -> float:
    truth, *sides = sample(world, generator)
    runs = {f"{side}-{k}": one for side, own in enumerate(sides) for k, one in enumerate(own)}
    spec = make_joint_spec(
        op.Outcomes.from_labels(truth, runs),
        metric=world.metric,
        prior="bootstrap",
        paired=True,
        labels=None,
        pos_label=None,
    )
    a, b = np.reshape(spec.observed, (2, -1)).mean(axis=1)
    return float(a - b)


def repeat(world: World, first: int, last: int) -> list[dict[str, Said]]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    truth = truth_of(world)
    found = []
    for repetition in range(first, last):
        # A stream per repetition, so that chunks can be run in any order.
        generator = np.random.default_rng([*world.stream, 2, repetition])
        seen = op.compare_runs(
            *sample(world, generator),
            metric=world.metric,
            rope=world.rope,
            n_draws=_N_DRAWS,
            random_state=generator,
            n_jobs=1,
        )
        found.append(_said(seen, truth, generator))
    return found


def _said(seen: op.Comparison, truth: float, generator: np.random.Generator) -> dict[str, Said]:
    assert isinstance(seen.details, op.results.RunDetails)
    pooled = seen.details.pooled
    intervals = {
        "runs": (seen.hdi, seen.decision),
        "pooled": (pooled.hdi, pooled.decision),
        "best": _judged(seen, _best(seen)),
        "bootstrap": _judged(seen, _bootstrapped(seen.details, generator)),
    }
    return {
        way: Said(
            covered=truth in hdi,
            called=decision in (Decision.BETTER, Decision.WORSE),
            width=hdi.width,
        )
        for way, (hdi, decision) in intervals.items()
    }


def _judged(seen: op.Comparison, draws: FloatArray) -> tuple[op.results.Interval, Decision]:
    ordered = np.sort(draws)
    hdi = narrowest(ordered, seen.hdi.prob)
    return hdi, decide(hdi, seen.rope, masses_from_draws(ordered, seen.rope))


def _best(seen: op.Comparison) -> FloatArray:
    """Return draws of the best run of A minus the best run of B."""
    details = seen.details
    assert isinstance(details, op.results.RunDetails)
    best = []
    for side, one in zip(details.sides, (seen.a, seen.b), strict=True):
        assert isinstance(one.details, op.results.ModelRuns)
        best.append(details.drawn.values[side.places[int(np.argmax(one.details.run_values))]])
    a, b = best
    return np.asarray(a - b)


def _bootstrapped(details: op.results.RunDetails, generator: np.random.Generator) -> FloatArray:
    """Return draws of A − B in which the runs too are drawn again, with replacement."""
    n_draws = details.drawn.values.shape[1]
    means = []
    for side in details.sides:
        again = generator.integers(side.n, size=(side.n, n_draws))
        places = np.asarray(side.places)[again]
        means.append(details.drawn.values[places, np.arange(n_draws)].mean(axis=0))
    return np.asarray(means[0] - means[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What many comparisons of one world said, each way of treating the runs by its name."""

    world: World
    repetitions: int
    covered: dict[str, float]
    called: dict[str, float]
    width: dict[str, float]


def summarise(world: World, said: Iterable[dict[str, Said]]) -> Found:
    """Count over all comparisons of one world."""
    every = list(said)
    counts = {way: np.mean([one[way] for one in every], axis=0) for way in WAYS}
    covered, called, width = (
        {way: float(one[place]) for way, one in counts.items()} for place in range(3)
    )
    return Found(world=world, repetitions=len(every), covered=covered, called=called, width=width)


def table(found: Sequence[Found]) -> str:
    """Return decisions and coverage of every world as a table."""
    header = (
        "models", "metric", "items", "runs' share", "ROPE ±",
        "**≫ or ≪**", "pooled", "best run", "bootstrap",
        "**coverage**", "pooled", "bootstrap", "width",
    )  # fmt: skip
    rows = [
        [
            one.world.name,
            one.world.metric,
            f"{one.world.n:,}",
            f"{one.world.share:.0%}",
            f"{one.world.rope:g}",
            *(markdown.percent(one.called[way]) for way in WAYS),
            *(markdown.percent(one.covered[way]) for way in ("runs", "pooled", "bootstrap")),
            f"{one.width['runs']:.3f}",
        ]
        for one in found
    ]
    repetitions = found[0].repetitions
    error = np.sqrt(0.95 * 0.05 / repetitions)
    return markdown.table(header, rows, numbers_from=2) + (
        f"\n{len(found)} of {len(WORLDS)} worlds, {repetitions:,} times all runs and a test set "
        f"each, so that 5% has a standard error of {100 * error:.1f} points. Of equal models at "
        f"most {100 * MOST_FALSE:g}% may be called better or worse, and the interval must hold the "
        f"true difference at least {100 * LEAST_COVERED:g} times in a hundred.\n"
    )


def failures(found: Sequence[Found]) -> list[str]:
    """Return what did not hold."""
    said = []
    for one in found:
        where = f"{one.world.name}, {one.world.metric}, {one.world.n:,} items"
        called, covered = one.called["runs"], one.covered["runs"]
        if one.world.apart == 0 and share_is_off(called, one.repetitions, high=MOST_FALSE):
            said.append(f"runs: {called:.3f} false decisions in {where}")
        if share_is_off(covered, one.repetitions, LEAST_COVERED):
            said.append(f"runs: coverage {covered:.3f} in {where}")
    return said
