"""Do intervals hold the truth where few items have huge errors, and is that said?

The errors of A, or its grades, have tails from light to very heavy; those of B are normal, or
have the same tail. Sums of squares feel tails most, sums of absolute values less. The
truth of each metric is known in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import outperform as op
from outperform._typing import FloatArray
from outperform.inference.score_spec import ScoreSpec
from verification import markdown
from verification.chance import share_is_off
from verification.influence import mean_of, share_of

SEED = 20_261_119
REPETITIONS = 200
# Settings whose intervals hold less often than the first are warned of, above the second not.
POOR, GOOD = 0.90, 0.93
LEAST_WARNED, MOST_WARNED = 0.90, 0.10
_N_DRAWS = 1_000
_TARGET_SD, _B_SD = 2.0, 0.5
_OUTLIER_SD = 15.0
ERRORS = (
    *("normal", "t5", "t4", "t3", "outlier"),
    *("lognormal 0.5", "lognormal 1", "lognormal 1.5", "lognormal 2"),
)
SIZES = (50, 100, 300, 1_000)
METRICS = ("mean", "mean_cost", "mae", "rmse", "r2")


@dataclass(frozen=True, slots=True, kw_only=True)
class TailWorld:
    """A metric, how errors or grades are distributed, and how many items there are."""

    metric: str
    errors: str
    n: int


WORLDS = tuple(
    TailWorld(metric=metric, errors=errors, n=n)
    for metric in METRICS
    for errors in ERRORS
    for n in SIZES
)


def moments(errors: str, n: int) -> tuple[float, float, float]:
    """Return the mean, the mean of the absolute values and of the squares of errors."""
    kind, _, number = errors.partition(" ")
    if kind == "lognormal":
        s = float(number)
        return math.exp(s * s / 2), math.exp(s * s / 2), math.exp(2 * s * s)
    normal = math.sqrt(2 / math.pi)
    if kind == "normal":
        return 0.0, normal, 1.0
    if kind == "outlier":
        p = _outliers(n)
        return 0.0, (1 - p + p * _OUTLIER_SD) * normal, 1 - p + p * _OUTLIER_SD**2
    df = int(kind[1:])
    gammas = math.gamma((df + 1) / 2) / math.gamma(df / 2)
    return 0.0, 2 * math.sqrt(df / math.pi) * gammas / (df - 1), df / (df - 2)


def _outliers(n: int) -> float:
    """Return the share of outliers: two in a test set, on average."""
    return 2 / n


def draw(errors: str, n: int, generator: np.random.Generator) -> FloatArray:
    """Draw errors."""
    kind, _, number = errors.partition(" ")
    if kind == "lognormal":
        return np.exp(float(number) * generator.normal(size=n))
    if kind == "normal":
        return generator.normal(size=n)
    if kind == "outlier":
        sd = np.where(generator.random(n) < _outliers(n), _OUTLIER_SD, 1.0)
        return sd * generator.normal(size=n)
    return generator.standard_t(int(kind[1:]), n)


def truth_of(world: TailWorld) -> tuple[float, float]:
    """Return the true values of A and of B."""
    of_a = moments(world.errors, world.n)
    if world.metric in ("mean", "mean_cost"):  # a mean against a lighter one, costs alike
        return of_a[0], of_a[0] if world.metric == "mean_cost" else 0.0
    normal = moments("normal", world.n)
    if world.metric == "mae":
        return of_a[1], _B_SD * normal[1]
    squares = of_a[2], _B_SD**2
    if world.metric == "rmse":
        return math.sqrt(squares[0]), math.sqrt(squares[1])
    return 1 - squares[0] / _TARGET_SD**2, 1 - squares[1] / _TARGET_SD**2


def simulate(
    world: TailWorld, generator: np.random.Generator
) -> tuple[FloatArray | None, FloatArray, FloatArray]:
    """Draw the targets, if there are any, and what A and B say."""
    a = draw(world.errors, world.n, generator)
    if world.metric in ("mean", "mean_cost"):
        other = world.errors if world.metric == "mean_cost" else "normal"
        return None, a, draw(other, world.n, generator)
    target = _TARGET_SD * generator.normal(size=world.n)
    return target, target + a, target + _B_SD * generator.normal(size=world.n)


@dataclass(frozen=True, slots=True)
class Hit:
    """One repetition: were the truths held, was it warned of, how heavy is the tail?"""

    held: bool
    held_a: bool
    warned: bool
    withheld: bool
    share: float
    k: float
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
    levels = [one.level for one in c.findings if one.name == "heavy_tails" and one.level != "note"]
    tail = c.spec.tail((0, 1))
    assert tail is not None
    return Hit(
        held=a - b in c.hdi,
        held_a=a in c.a.hdi,
        warned=bool(levels),
        withheld="serious" in levels,
        share=tail.share,
        k=tail.k,
        skewness=tail.skewness,
    )


Found = Mapping[TailWorld, Sequence[Hit]]


def table(found: Found) -> str:
    """Return one row a world; shares in per cent with their standard errors."""
    header = (
        *("metric", "errors", "items", "A − B covered", "A covered"),
        *("largest share", "k̂", "skewness", "warned", "withheld"),
    )
    rows = [
        [
            f"`{world.metric}`",
            world.errors,
            f"{world.n:,}",
            share_of([hit.held for hit in hits]),
            share_of([hit.held_a for hit in hits]),
            *(
                f"{np.nanmedian([getattr(hit, name) for hit in hits]):.2f}"
                for name in ("share", "k", "skewness")
            ),
            markdown.percent(mean_of([hit.warned for hit in hits])),
            markdown.percent(mean_of([hit.withheld for hit in hits])),
        ]
        for world, hits in found.items()
    ]
    n = max(len(hits) for hits in found.values())
    low, high = _warned(found)
    return markdown.table(header, rows, numbers_from=2) + (
        f"\nHow often 95% intervals held the truth in {n:,} test sets, by {_N_DRAWS:,} draws; "
        "shares in per cent; the largest share of one item in the sum of squared influences on "
        "A − B, the Pareto shape of their tail and the skewness of their sum are medians. Of "
        f"{len(low)} settings covered in less than {POOR:.0%}, {sum(low)} are warned of in most "
        f"test sets, and of {len(high)} covered in more than {GOOD:.0%}, {sum(high)}; it must be "
        f"{LEAST_WARNED:.0%} at least and {MOST_WARNED:.0%} at most.\n"
    )


def _warned(found: Found) -> tuple[list[bool], list[bool]]:
    """Return whether settings that cover poorly, and those that do well, are mostly warned of."""
    low, high = [], []
    for hits in found.values():
        held, mostly = mean_of([hit.held for hit in hits]), mean_of([hit.warned for hit in hits])
        if held < POOR:
            low.append(mostly > 0.5)
        elif held > GOOD:
            high.append(mostly > 0.5)
    return low, high


def failures(found: Found) -> list[str]:
    """Return whether warnings miss poor settings, or are raised where intervals hold."""
    low, high = _warned(found)
    said = []
    if low and share_is_off(mean_of(low), len(low), LEAST_WARNED):
        said.append(f"tails: {sum(low)} of {len(low)} poor settings are warned of")
    if high and share_is_off(mean_of(high), len(high), high=MOST_WARNED):
        said.append(f"tails: {sum(high)} of {len(high)} good settings are warned of")
    return said
