"""Do intervals hold the truth where few items have huge errors, and is that said?

The errors of A, or its grades, have tails from light to very heavy; those of B are light, or have
the same tail. Sums of squares feel tails most, sums of absolute values less. The truth of each
metric is known in closed form.

The lines from which ``heavy_tails`` is said were settled on one half of the settings, with other
seeds. The other half, of other tails and sizes, was not looked at before, and confirms them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import outperform as op
from outperform._typing import FloatArray
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.thresholds import VERY_SKEWED
from verification import markdown
from verification.chance import share_is_off
from verification.influence import mean_of, share_of

SEED = 20_261_119
REPETITIONS = 200
# Settings whose intervals hold less often than the first are warned of, above the second not.
POOR, GOOD = 0.90, 0.93
LEAST_WARNED, MOST_WARNED = 0.90, 0.10
# Where decisions are withheld in most test sets, intervals must in fact be poor on average.
MOST_COVERED = 0.90
_N_DRAWS = 1_000
_TARGET_SD, _B_SD = 2.0, 0.5
METRICS = ("mean", "mae", "rmse", "r2")
SETTLED = ("normal", "t 4", "t 3", "outliers", "lognormal 0.5", "lognormal 1.5", "gamma 1")
CONFIRMED = (
    *("laplace", "t 5", "t 2.5", "mixed 0.02", "lognormal 1", "lognormal 2", "gamma 0.25"),
    "pareto 3",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TailWorld:
    """A metric, how errors or grades are distributed, and how many items there are.

    Parameters
    ----------
    metric
        The metric.
    errors
        The distribution of A's errors and its parameter.
    n
        The number of items.
    alike
        Whether the errors of B have the same tail; else they are normal and smaller.
    """

    metric: str
    errors: str
    n: int
    alike: bool

    @property
    def settled(self) -> bool:
        """Whether the lines were settled here."""
        return self.errors in SETTLED


WORLDS = tuple(
    TailWorld(metric=metric, errors=errors, n=n, alike=alike)
    for half, sizes in ((SETTLED, (50, 300)), (CONFIRMED, (40, 100, 400)))
    for errors in half
    for n in sizes
    for alike in (False, True)
    for metric in METRICS
)


class Moments(NamedTuple):
    """The mean of errors, of their absolute values and of their squares."""

    mean: float
    size: float
    square: float


def moments(errors: str, n: int) -> Moments:
    """Return the moments of errors."""
    kind, _, number = errors.partition(" ")
    p, normal = float(number or 0), math.sqrt(2 / math.pi)
    if kind == "normal":
        return Moments(0.0, normal, 1.0)
    if kind == "laplace":
        return Moments(0.0, 1.0, 2.0)
    if kind == "t":
        gammas = math.gamma((p + 1) / 2) / math.gamma(p / 2)
        return Moments(0.0, 2 * math.sqrt(p / math.pi) * gammas / (p - 1), p / (p - 2))
    if kind == "lognormal":
        return Moments(math.exp(p * p / 2), math.exp(p * p / 2), math.exp(2 * p * p))
    if kind == "gamma":
        return Moments(1.0, 1.0, 1 + 1 / p)
    if kind == "pareto":
        return Moments(1 / (p - 1), 1 / (p - 1), 2 / ((p - 1) * (p - 2)))
    share, sd = _contaminated(errors, n)
    return Moments(0.0, (1 - share + share * sd) * normal, 1 - share + share * sd * sd)


def _contaminated(errors: str, n: int) -> tuple[float, float]:
    """Return the share of outliers and their sd; two in a test set, or a share of it."""
    kind, _, number = errors.partition(" ")
    return (2 / n, 15.0) if kind == "outliers" else (float(number), 10.0)


def draw(errors: str, n: int, generator: np.random.Generator) -> FloatArray:
    """Draw errors."""
    kind, _, number = errors.partition(" ")
    p = float(number or 0)
    if kind == "normal":
        return generator.normal(size=n)
    if kind == "laplace":
        return generator.laplace(size=n)
    if kind == "t":
        return generator.standard_t(p, n)
    if kind == "lognormal":
        return np.exp(p * generator.normal(size=n))
    if kind == "gamma":
        return generator.gamma(p, size=n) / p
    if kind == "pareto":
        return generator.pareto(p, n)
    share, sd = _contaminated(errors, n)
    return np.where(generator.random(n) < share, sd, 1.0) * generator.normal(size=n)


def truth_of(world: TailWorld) -> tuple[float, float]:
    """Return the true values of A and of B."""
    of_a = moments(world.errors, world.n)
    light = Moments(0.0, _B_SD * math.sqrt(2 / math.pi), _B_SD**2)
    return _value(world, of_a), _value(world, of_a if world.alike else light)


def _value(world: TailWorld, own: Moments) -> float:
    if world.metric == "mean":
        return own.mean
    if world.metric == "mae":
        return own.size
    return math.sqrt(own.square) if world.metric == "rmse" else 1 - own.square / _TARGET_SD**2


def simulate(
    world: TailWorld, generator: np.random.Generator
) -> tuple[FloatArray | None, FloatArray, FloatArray]:
    """Draw the targets, if there are any, and what A and B say."""
    a = draw(world.errors, world.n, generator)
    light = _B_SD * generator.normal(size=world.n)
    b = draw(world.errors, world.n, generator) if world.alike else light
    if world.metric == "mean":
        return None, a, b
    target = _TARGET_SD * generator.normal(size=world.n)
    return target, target + a, target + b


@dataclass(frozen=True, slots=True)
class Hit:
    """One repetition: were the truths held, was it warned of, how heavy is the tail?"""

    held: bool
    held_a: bool
    warned: bool
    withheld: bool
    share: float
    skewness: float


def repeat(world: TailWorld, first: int, last: int) -> list[Hit]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    place = WORLDS.index(world)
    return [
        _hit(world, np.random.default_rng([SEED, place, repetition]), repetition)
        for repetition in range(first, last)
    ]


def _hit(world: TailWorld, generator: np.random.Generator, repetition: int) -> Hit:
    a, b = truth_of(world)
    c = op.compare(
        *simulate(world, generator),
        metric=world.metric,
        rope=0.05,
        n_draws=_N_DRAWS,
        random_state=repetition,
        n_jobs=1,
    )
    assert isinstance(c.spec, ScoreSpec)
    named = [each for each in c.findings if each.name == "heavy_tails" and each.level != "note"]
    tail = c.spec.tail((0, 1))
    assert tail is not None
    return Hit(
        held=a - b in c.hdi,
        held_a=a in c.a.hdi,
        warned=bool(named),
        withheld=any(each.level == "serious" for each in named),
        share=tail.share,
        skewness=tail.skewness,
    )


Found = Mapping[TailWorld, Sequence[Hit]]


def table(found: Found) -> str:
    """Return one row a world; shares in per cent with their standard errors."""
    header = (
        *("metric", "errors", "of B", "items", "A − B covered", "A covered"),
        *("largest share", "skewness", "warned", "withheld"),
    )
    rows = [
        [
            f"`{world.metric}`",
            world.errors,
            "the same" if world.alike else "light",
            f"{world.n:,}",
            share_of([hit.held for hit in hits]),
            share_of([hit.held_a for hit in hits]),
            f"{np.median([hit.share for hit in hits]):.2f}",
            f"{np.median([hit.skewness for hit in hits]):.2f}",
            markdown.percent(mean_of([hit.warned for hit in hits])),
            markdown.percent(mean_of([hit.withheld for hit in hits])),
        ]
        for world, hits in found.items()
    ]
    n = max(len(hits) for hits in found.values())
    said = [
        f"Where the lines were {'settled' if settled else 'confirmed, by other tails and sizes'}, "
        f"{sum(part.low)} of {len(part.low)} settings that are covered in less than {POOR:.0%} are "
        f"warned of in most test sets, and {sum(part.high)} of {len(part.high)} that are covered "
        f"in more than {GOOD:.0%}; decisions are withheld in most test sets of "
        f"{len(part.withheld)}, which are covered in {_mean_text(part.withheld)} on average."
        for settled in (True, False)
        for part in [_part(found, settled=settled)]
    ]
    return markdown.table(header, rows, numbers_from=3) + (
        f"\nHow often 95% intervals held the truth in {n:,} test sets, by {_N_DRAWS:,} draws; "
        "shares in per cent; the largest share of one item in the sum of squared influences on "
        f"A − B and the skewness of their sum are medians. {' '.join(said)} It must be "
        f"{LEAST_WARNED:.0%} of the former at least, {MOST_WARNED:.0%} of the latter at most, and "
        f"less than {MOST_COVERED:.0%} where decisions are withheld.\n"
    )


def _mean_text(shares: Sequence[float]) -> str:
    return f"{np.mean(shares):.1%}" if shares else "none"


class Part(NamedTuple):
    """Whether settings that cover poorly, and well, are mostly warned of; coverage if withheld."""

    low: list[bool]
    high: list[bool]
    withheld: list[float]


def _part(found: Found, *, settled: bool) -> Part:
    part = Part([], [], [])
    for world, hits in found.items():
        if world.settled != settled:
            continue
        covered, mostly = mean_of([hit.held for hit in hits]), mean_of([hit.warned for hit in hits])
        if covered < POOR:
            part.low.append(mostly > 0.5)
        elif covered > GOOD:
            part.high.append(mostly > 0.5)
        if mean_of([_beyond(hit) for hit in hits]) > 0.5:
            part.withheld.append(covered)
    return part


def _beyond(hit: Hit) -> bool:
    """Return whether a decision is withheld, or would be if there were any."""
    return hit.withheld or (hit.warned and hit.skewness >= VERY_SKEWED)


def failures(found: Found) -> list[str]:
    """Return whether warnings miss poor settings, or are raised where intervals hold."""
    said = []
    for settled in (True, False):
        part, name = _part(found, settled=settled), "settled" if settled else "confirmed"
        low, high = part.low, part.high
        if low and share_is_off(mean_of(low), len(low), LEAST_WARNED):
            said.append(f"tails, {name}: {sum(low)} of {len(low)} poor settings are warned of")
        if high and share_is_off(mean_of(high), len(high), high=MOST_WARNED):
            said.append(f"tails, {name}: {sum(high)} of {len(high)} good settings are warned of")
        if part.withheld and float(np.mean(part.withheld)) > MOST_COVERED:
            said.append(f"tails, {name}: {np.mean(part.withheld):.1%} covered where withheld")
    return said
