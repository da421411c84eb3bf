"""How often do 95% intervals hold the truth where few groups carry the metric?

A hundred groups say little about F1 if six of them hold all positive items. In these worlds
each group has a chance of its own to be answered rightly, as in ``clusters``; positive items, or
the items of the last class, are only in some of the groups, which carry the metric. The truth is
that of infinitely many groups of both kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

import outperform as op
from outperform._typing import AnyArray
from outperform.decision.hdi import narrowest
from outperform.inference.spec import counted, measure
from outperform.posterior.base import build_posterior, draw_values
from outperform.posterior.rng import seed_sequence
from verification import markdown
from verification.chance import share_error, share_is_off
from verification.clusters import CORRELATION

SEED = 20_261_117
# In every world one of the two must hold.
LEAST_COVERED, LEAST_WARNED = 0.90, 0.95
REPETITIONS = 300
_SIZE = 20
_N_DRAWS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWorld:
    """How many groups there are, how many of them carry the metric, and how good the models.

    Parameters
    ----------
    n_groups
        Groups of twenty items, or of twenty on average.
    n_carrying
        How many of them have items of the last class.
    sizes
        ``even``, ``uneven`` (geometric), or ``giant``: one group has a third of all items.
    shares
        Of the classes in a group that carries; elsewhere those of the last go to the first.
    right
        How often A and B are right.
    alarms
        The share of their errors on the first class that is made.
    metric
        The metric.
    """

    n_groups: int = 100
    n_carrying: int = 100
    sizes: str = "even"
    shares: tuple[float, ...] = (0.5, 0.5)
    right: tuple[float, float] = (0.72, 0.72)
    alarms: float = 0.1
    metric: str = "f1"


_F1 = GroupWorld()
_ACCURACY = GroupWorld(metric="accuracy", alarms=1.0, shares=(0.7, 0.3))
WORLDS = (
    *(replace(_F1, n_carrying=n) for n in (3, 6, 10, 20, 50, 100)),
    replace(_F1, n_carrying=6, right=(0.8, 0.65)),
    replace(_F1, n_carrying=8, metric="recall"),
    GroupWorld(n_groups=60, n_carrying=5, shares=(0.5, 0.3, 0.2), alarms=1.0, metric="f1_macro"),
    replace(_ACCURACY, n_groups=10, n_carrying=10, right=(0.75, 0.70)),
    replace(_ACCURACY, n_groups=20, n_carrying=20, sizes="uneven", right=(0.75, 0.70)),
    replace(_ACCURACY, n_groups=60, n_carrying=60, sizes="giant"),
)


@dataclass(frozen=True, slots=True)
class Hit:
    """One repetition: was the truth held, with and without regard to influence; what was said?"""

    held: bool
    held_plain: bool
    decided: bool
    warned: bool
    n_carrying: float


def truth_of(world: GroupWorld) -> float:
    """Return the true difference of the metric, A − B."""
    if world.right[0] == world.right[1]:
        return 0.0
    a, b = (_level(world, right) for right in world.right)
    return a - b


def _level(world: GroupWorld, right: float) -> float:
    """Return the true value of a model in a world of two classes."""
    positive = world.shares[1] * world.n_carrying / world.n_groups
    hits, alarms = positive * right, (1 - positive) * world.alarms * (1 - right)
    if world.metric == "accuracy":
        return hits + 1 - positive - alarms
    return 2 * hits / (2 * hits + positive * (1 - right) + alarms)


def simulate(world: GroupWorld, generator: np.random.Generator) -> tuple[AnyArray, ...]:
    """Draw truth, predictions of A and of B, and the group of each item."""
    n, last = world.n_groups, len(world.shares) - 1
    sizes = np.full(n, _SIZE)
    if world.sizes == "uneven":
        sizes = generator.geometric(1 / _SIZE, n)
    elif world.sizes == "giant":
        sizes[0] = _SIZE * n // 2
    group = np.repeat(np.arange(n), sizes)
    truth = generator.choice(last + 1, len(group), p=world.shares)
    truth[(truth == last) & (group < n - world.n_carrying)] = 0
    luck, own = generator.random((2, len(group)))
    lucks = luck, np.where(generator.random(len(group)) < 0.5, luck, own)
    mass, found = 1 / CORRELATION - 1, []
    for p, lucky in zip(world.right, lucks, strict=True):
        wrong = lucky >= generator.beta(p * mass, (1 - p) * mass, n)[group]
        wrong &= (truth > 0) | (generator.random(len(group)) < world.alarms)
        other = (truth + generator.integers(1, last + 1, len(truth))) % (last + 1)
        found.append(np.where(wrong, other, truth))
    return truth, *found, group


def repeat(world: GroupWorld, first: int, last: int) -> list[Hit]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    place = WORLDS.index(world)
    # A stream per repetition, so that chunks can be run in any order.
    return [
        _hit(world, np.random.default_rng([SEED, place, repetition]))
        for repetition in range(first, last)
    ]


def _hit(world: GroupWorld, generator: np.random.Generator) -> Hit:
    truth, a, b, group = simulate(world, generator)
    c = op.compare(
        *(truth, a, b),
        metric=world.metric,
        rope=0.01,
        groups=group,
        n_draws=_N_DRAWS,
        random_state=generator,
        n_jobs=1,
    )
    true = truth_of(world)
    return Hit(
        held=true in c.hdi,
        held_plain=true in plain_hdi(c, generator),
        decided=c.decision.symbol in ("≫", "≪"),
        warned=any(one.name == "few_groups" for one in c.findings),
        n_carrying=c.spec.n_carrying() or 0.0,
    )


def plain_hdi(c: op.results.Comparison, generator: np.random.Generator) -> op.results.Interval:
    """Return the interval with the same weights for every unit, whatever it carries."""
    spec = counted(c.spec)
    values = draw_values(
        build_posterior(spec.view, spec.prior),
        lambda drawn, out: measure(drawn, [spec], out),
        needs="margins",
        n_values=2,
        n_draws=_N_DRAWS,
        seed=seed_sequence(generator),
        n_jobs=1,
    )
    return narrowest(np.sort(values[0] - values[1]), c.hdi.prob)


Found = Mapping[GroupWorld, Sequence[Hit]]


def table(found: Found) -> str:
    """Return one row a world; coverage in per cent with its standard error."""
    header = (
        *("metric", "groups", "that carry it", "sizes", "true difference", "effective number"),
        *("covered", "with plain weights", "false ≫ or ≪", "few_groups raised"),
    )
    rows = [
        [
            world.metric,
            str(world.n_groups),
            str(world.n_carrying),
            world.sizes,
            f"{truth_of(world):+.4f}",
            _middle([hit.n_carrying for hit in hits]),
            share_of([hit.held for hit in hits]),
            share_of([hit.held_plain for hit in hits]),
            "" if truth_of(world) else share_of([hit.decided for hit in hits]),
            markdown.percent(mean_of([hit.warned for hit in hits])),
        ]
        for world, hits in found.items()
    ]
    n = max(len(hits) for hits in found.values())
    return markdown.table(header, rows, numbers_from=1) + (
        f"\nHow often the 95% interval of A − B held the truth in {n:,} test sets, by "
        f"{_N_DRAWS:,} draws; shares in per cent. Effective number: (Σu²)² / Σu⁴ of the groups' "
        "influences u on the difference, its median and in brackets its 5% and 95% quantiles. "
        f"Every world must be covered in {LEAST_COVERED:.0%} of the test sets, or "
        f"warned of in {LEAST_WARNED:.0%}.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the worlds that are neither covered nor warned of."""
    said = []
    for world, hits in found.items():
        held, warned = mean_of([hit.held for hit in hits]), mean_of([hit.warned for hit in hits])
        missed = share_is_off(held, len(hits), LEAST_COVERED)
        if missed and share_is_off(warned, len(hits), LEAST_WARNED):
            said.append(
                f"influence: {world.metric}, {world.n_carrying} of {world.n_groups} groups: "
                f"{held:.1%} covered, {warned:.1%} warned of"
            )
    return said


def mean_of(hits: Sequence[bool]) -> float:
    """Return the share of hits."""
    return float(np.mean(hits))


def share_of(hits: Sequence[bool]) -> str:
    """Return the share of hits in per cent with its standard error."""
    share = mean_of(hits)
    return markdown.percent(share, share_error(share, len(hits)))


def _middle(numbers: Sequence[float]) -> str:
    low, middle, high = np.quantile(numbers, (0.05, 0.5, 0.95))
    return f"{middle:.1f} ({low:.1f}, {high:.1f})"
