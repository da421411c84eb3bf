"""Do intervals of a pool contain the difference where the classes have other shares?

Pools are drawn from the worlds of ``disagreement``. Some items are labelled, chosen by the
predictions of both models; or a judge rates all of them and people label some at random. The
models are used where the true classes have other shares, and the true difference there is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

import outperform as op
from outperform import metrics
from outperform._typing import FloatArray
from verification import disagreement, markdown
from verification.chance import share_error, share_is_off
from verification.disagreement import PoolWorld, joint, simulate

SEED = 20_261_124
LEAST, MOST = 0.925, 0.98
REPETITIONS = 200
_BUDGET = 600
_N_DRAWS = 2_000
# How often the judge gives the true class; otherwise any other, each as often.
_JUDGE = 0.9

Labelled = Literal["as proposed", "at random, and a judge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A pool, who labelled it, and the shares of the classes where the models are used."""

    pool: PoolWorld
    there: tuple[float, ...]
    labelled: Labelled = "as proposed"


_EVEN = World(pool=disagreement._BETTER, there=(0.8, 0.2))
_RARE = World(pool=disagreement._RARE_BETTER, there=(0.8, 0.2))
_FIVE = World(pool=disagreement._FIVE_BETTER, there=(0.3, 0.2, 0.2, 0.2, 0.1))


def _in(world: World, metric: str, labelled: Labelled = "as proposed") -> World:
    return replace(world, pool=replace(world.pool, metric=metric), labelled=labelled)


WORLDS = (
    *(_in(_EVEN, metric) for metric in ("accuracy", "f1")),
    *(_in(_RARE, metric) for metric in ("accuracy", "f1")),
    *(_in(_FIVE, metric) for metric in ("accuracy", "f1_macro")),
    *(_in(_EVEN, metric, "at random, and a judge") for metric in ("accuracy", "f1")),
    _in(_FIVE, "f1_macro", "at random, and a judge"),
)


def true_difference(world: World) -> float:
    """Return the true A − B where the models are used."""
    metric, table = metrics.get(world.pool.metric), joint(world.pool)
    table *= (np.array(world.there) / np.array(world.pool.shares))[:, None, None]
    classes = None if world.pool.positive is None else (world.pool.positive,)
    a, b = (
        float(metric.evaluate(metrics.Margins.from_confusion(table.sum(axis=axis)), classes))
        for axis in (2, 1)
    )
    return a - b


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Whether the interval contained the truth, with the shares replaced and without."""

    covered: bool
    width: float
    covered_at_home: bool


def _labels(world: World, rng: np.random.Generator) -> op.Outcomes:
    truth, a, b = simulate(world.pool, rng)
    n, k = len(truth), world.pool.n_classes
    options: dict[str, Any] = {"metric": world.pool.metric, "pos_label": world.pool.positive}
    if world.labelled == "as proposed":
        proposal = op.propose(a, b, budget=_BUDGET, labels=range(k), random_state=rng, **options)
        return proposal.outcomes(truth[proposal.items])
    wrong = (truth + rng.integers(1, k, n)) % k
    judge = np.where(rng.random(n) < _JUDGE, truth, wrong)
    people = [*truth[:_BUDGET].tolist(), *[None] * (n - _BUDGET)]
    return op.Outcomes.from_judged({"A": a, "B": b}, human=people, judge=judge, drawn="random")


def repeat(world: World, first: int, last: int) -> list[Held]:
    """Repeat the test sets ``first`` to ``last``, not included, of a world."""
    return [_repeat(world, number) for number in range(first, last)]


def _repeat(world: World, number: int) -> Held:
    rng = np.random.default_rng([SEED, WORLDS.index(world), number])
    seen, true = _labels(world, rng), true_difference(world)
    there = seen.at_prevalence(dict(enumerate(world.there)))
    ends = [
        op.compare(
            one,
            "A",
            "B",
            metric=world.pool.metric,
            pos_label=world.pool.positive,
            rope=0.01,
            n_draws=_N_DRAWS,
            random_state=number,
        ).hdi
        for one in (there, seen)
    ]
    return Held(covered=true in ends[0], width=ends[0].width, covered_at_home=true in ends[1])


Found = Mapping[World, Sequence[Held]]


def _covered(held: Sequence[Held]) -> FloatArray:
    shares: FloatArray = np.mean([(one.covered, one.covered_at_home) for one in held], axis=0)
    return shares


def table(found: Found) -> str:
    """Return one row a world."""
    head = ["pool", "there", "labelled", "metric", "true difference", "test sets", "covered"]
    head += ["width", "at the pool's own shares: covered"]
    rows = []
    for world, held in found.items():
        there, home = (
            markdown.percent(share, share_error(share, len(held))) for share in _covered(held)
        )
        rows.append(
            [
                world.pool.name,
                " / ".join(f"{share:.0%}" for share in world.there),
                world.labelled,
                world.pool.metric,
                f"{true_difference(world):+.4f}",
                f"{len(held):,}",
                there,
                f"{np.mean([one.width for one in held]):.3f}",
                home,
            ]
        )
    return markdown.table(head, rows, numbers_from=4) + (
        "\nCoverage in per cent, with its standard error, of 95% intervals of A − B by "
        f"{_N_DRAWS:,} draws, from {_BUDGET} labelled items of pools of 10,000, of the true "
        "difference where the classes have the shares in the second column. The judge is right in "
        f"{_JUDGE:.0%}. "
        "Coverage must lie between 92.5 and 98%.\n"
    )


def failures(found: Found) -> list[str]:
    """Say where coverage leaves 92.5 to 98%."""
    return [
        f"pool shares, {world.pool.name}, {world.pool.metric}, {world.labelled}: {share:.1%}"
        for world, held in found.items()
        if share_is_off(share := float(_covered(held)[0]), len(held), LEAST, MOST)
    ]
