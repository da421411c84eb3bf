"""Do the intervals of a ranking hold the truth, and is the best model among those tied?

A world is a large population of items whose answers by several models go wrong
together where items are hard. Test sets are drawn from it, the models are ranked, and
every interval of a difference A − B is held against that of the whole population.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

import numpy as np

import outperform as op
from outperform._typing import FloatArray
from outperform.data.table import Table
from outperform.data.views import count_of
from verification import markdown
from verification.chance import share_error, share_is_off

SEED = 20_261_115
ROPE = 0.02
POPULATION = 200_000
LEAST = 10.0  # expected true positives, false positives, false negatives, disagreements
COVERAGE = (0.925, 0.98)
MOST_LEFT_OUT = 0.05
# The narrowest interval of so few draws holds 94.6%, not 95%: coverage comes out 0.4 points low.
_N_DRAWS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How many classes and models there are, how good they are, and what is asked.

    Parameters
    ----------
    n_classes, n_models
        Of the table.
    right
        The share of right answers of the best model; 0 steps make all models alike.
    step
        How much worse each next model is.
    n
        Items in a test set.
    metric
        The metric.
    rare
        The share of the first class; the others are equally frequent.
    """

    n_classes: int
    n_models: int
    right: float
    step: float
    n: int
    metric: str
    rare: float | None = None

    @property
    def name(self) -> str:
        """What to call it in a table."""
        alike = "alike" if self.step == 0 else f"{self.step:g} apart"
        rare = "" if self.rare is None else f", one class {self.rare:.0%}"
        return (
            f"{self.n_models} models, {self.n_classes} classes{rare}, {self.right:.0%} right, "
            f"{alike}"
        )


WORLDS = (
    *(
        World(n_classes=2, n_models=4, right=right, step=0.01, n=n, metric="f1")
        for right in (0.75, 0.9)
        for n in (300, 1_000, 5_000)
    ),
    *(
        World(n_classes=3, n_models=4, right=right, step=0.01, n=n, metric="f1_macro")
        for right in (0.75, 0.9)
        for n in (400, 1_000, 5_000)
    ),
    World(n_classes=2, n_models=4, right=0.85, step=0.0, n=1_000, metric="accuracy"),
    World(n_classes=2, n_models=4, right=0.85, step=0.02, n=1_000, metric="f1", rare=0.2),
    World(n_classes=3, n_models=10, right=0.8, step=0.0, n=1_000, metric="f1_macro"),
    World(n_classes=5, n_models=5, right=0.8, step=0.01, n=1_000, metric="f1_macro"),
)
# Tabulated pair by pair: a mean over pairs, or twenty test sets, would hide the worst one.
BY_PAIR = WORLDS[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """What one ranking said of the truth."""

    covered: tuple[bool, ...]  # one a pair
    best_left_out: bool
    n_tied: int
    p_best: float  # what the truly best model was given


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What many rankings of one world said."""

    world: World
    repetitions: int
    coverage: tuple[float, ...]
    sparse: bool
    best_left_out: float
    n_tied: float
    p_best: float


@lru_cache(maxsize=4)
def population(world: World) -> op.Outcomes:
    """Return the outcomes of all items of a world."""
    settled = [SEED, world.n_classes, world.n_models, round(1000 * world.right)]
    generator = np.random.default_rng([*settled, round(1000 * world.step)])
    shares = np.full(world.n_classes, 1.0)
    if world.rare is not None:
        shares[:] = (1 - world.rare) / (world.n_classes - 1)
        shares[-1] = world.rare  # the positive class of two
    truth = generator.choice(world.n_classes, size=POPULATION, p=shares / shares.sum())
    hard = generator.random(POPULATION)
    predictions = {}
    for model in range(world.n_models):
        noise = generator.random(POPULATION)
        mixed = np.where(generator.random(POPULATION) < 0.6, hard, noise)
        wrong = (truth + generator.integers(1, world.n_classes, size=POPULATION)) % world.n_classes
        right = mixed < world.right - world.step * model
        predictions[f"m{model}"] = np.where(right, truth, wrong)
    return op.Outcomes.from_labels(truth, predictions)


def resample(whole: op.Outcomes, n: int, generator: np.random.Generator) -> op.Outcomes:
    """Draw a test set of ``n`` items; classes that got none stay in the table."""
    table = whole.tables[0]
    counts = generator.multinomial(n, table.counts / table.n)
    seen = counts > 0
    return replace(whole, tables=(Table(table.cells[seen], counts[seen]),))


def true_values(world: World) -> FloatArray:
    """Return each model's metric in the population."""
    whole = population(world)
    chosen = op.metrics.get(world.metric)
    classes = [1] if chosen.average == "binary" else None
    values = [
        chosen.evaluate(op.metrics.Margins(**whole.margins(name)._asdict()), classes)
        for name in whole.models
    ]
    return np.array(values, dtype=np.float64)


def is_sparse(world: World) -> bool:
    """Return whether some part of some model, or some disagreement, is expected too seldom."""
    whole = population(world)
    share = world.n / whole.n
    classes = [1] if op.metrics.get(world.metric).average == "binary" else range(world.n_classes)
    parts = [
        count_of(whole, name, part, positive=code)
        for name in whole.models
        for part in ("tp", "fp", "fn")
        for code in classes
    ]
    table = whole.tables[0]
    for a, b in combinations(range(1, 1 + world.n_models), 2):
        parts.append(table.sum_where(table.cells[:, a] != table.cells[:, b]))
    return min(parts) * share < LEAST


def repeat(world: World, first: int, last: int) -> list[Hits]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    whole, values = population(world), true_values(world)
    found = []
    for repetition in range(first, last):
        # A stream per repetition, so that chunks can be run in any order.
        generator = np.random.default_rng([SEED, world.n, repetition])
        seen = resample(whole, world.n, generator)
        ranking = op.rank(
            seen,
            metric=world.metric,
            rope=ROPE,
            n_draws=_N_DRAWS,
            random_state=generator,
            n_jobs=1,
        )
        found.append(_held_against(ranking, dict(zip(whole.models, values, strict=True))))
    return found


def _held_against(ranking: op.results.Ranking, truth: dict[str, float]) -> Hits:
    best = max(truth, key=lambda name: truth[name])
    return Hits(
        covered=tuple(
            truth[a] - truth[b] in ranking.pair(a, b).hdi for a, b in combinations(truth, 2)
        ),
        best_left_out=best not in ranking.tied,
        n_tied=len(ranking.tied),
        p_best=ranking[best].p_best,
    )


def summarise(world: World, hits: Iterable[Hits]) -> Found:
    """Count over all rankings of one world."""
    every = list(hits)
    covered = np.mean([hit.covered for hit in every], axis=0)
    return Found(
        world=world,
        repetitions=len(every),
        coverage=tuple(covered.tolist()),
        sparse=is_sparse(world),
        best_left_out=float(np.mean([hit.best_left_out for hit in every])),
        n_tied=float(np.mean([hit.n_tied for hit in every])),
        p_best=float(np.mean([hit.p_best for hit in every])),
    )


def table(found: Sequence[Found]) -> str:
    """Return the coverage of every world as a table."""
    header = (
        "world", "metric", "items", "pairs", "coverage, least", "mean", "greatest",
        "best left out", "tied, mean",
    )  # fmt: skip
    rows = [
        [
            one.world.name + (" (sparse)" if one.sparse else ""),
            one.world.metric,
            f"{one.world.n:,}",
            str(len(one.coverage)),
            *(markdown.percent(f(one.coverage)) for f in (min, _mean, max)),
            markdown.percent(one.best_left_out),
            f"{one.n_tied:.1f}",
        ]
        for one in found
    ]
    repetitions = min(one.repetitions for one in found)
    error = np.sqrt(0.95 * 0.05 / repetitions)
    return markdown.table(header, rows, numbers_from=2) + (
        f"\n{len(found)} of {len(WORLDS)} worlds, {repetitions:,} test sets each, so that a "
        f"coverage of 95% has a standard error of {100 * error:.1f} points. Where every "
        "class's true positives, false positives and false negatives and the disagreements of "
        f"every pair are expected at least {LEAST:g} times, the coverage of every pair must lie "
        f"between {100 * COVERAGE[0]:g}% and {100 * COVERAGE[1]:g}%, and the best model may be "
        f"left out in at most {100 * MOST_LEFT_OUT:g}% of the test sets.\n"
    )


def pair_table(found: Found) -> str:
    """Return the coverage of every pair of one world, the best model first, as a table."""
    rows = [
        [
            f"{a + 1} − {b + 1}",
            f"{found.world.step * (b - a):.2f}",
            markdown.percent(covered, share_error(covered, found.repetitions)),
        ]
        for (a, b), covered in zip(
            combinations(range(found.world.n_models), 2), found.coverage, strict=True
        )
    ]
    header = ("models, by their true place", "apart by", "the interval held")
    return markdown.table(header, rows, numbers_from=1) + (
        f"\n{found.world.name}, {found.world.metric}, {found.world.n:,} items, "
        f"{found.repetitions:,} test sets. Each must hold in {100 * COVERAGE[0]:g} to "
        f"{100 * COVERAGE[1]:g}%.\n"
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def failures(found: Sequence[Found]) -> list[str]:
    """Return what did not hold where enough is expected of everything."""
    said = []
    for one in found:
        if one.sparse:
            continue
        where = f"{one.world.name}, {one.world.metric}, {one.world.n:,} items"
        if any(share_is_off(pair, one.repetitions, *COVERAGE) for pair in one.coverage):
            ends = f"{min(one.coverage):.3f} to {max(one.coverage):.3f}"
            said.append(f"rank: coverage {ends} in {where}")
        if share_is_off(one.best_left_out, one.repetitions, high=MOST_LEFT_OUT):
            said.append(f"rank: the best model left out in {one.best_left_out:.3f} of {where}")
    return said
