"""How often do intervals hold the truth where each data set has one score?

The differences of two models over data sets are normal, have the tails of Student's t with three
degrees of freedom, or are normal but for one data set, which is ten standard deviations off to
either side. All are symmetric around their centre, so the pseudo-median is known. The centre is
zero, where ≫ and ≪ are false, or 2.5 standard deviations, toward which no prior may pull.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import outperform as op
from outperform._typing import FloatArray
from verification import markdown
from verification.chance import share_is_off
from verification.influence import mean_of, share_of

SEED = 20_261_119
LEAST_COVERED, LEAST_NEXT, MOST_CALLED = 0.925, 0.90, 0.05
FEW = 10  # data sets; fewer must be warned of
REPETITIONS = 1_000
_N_DRAWS = 1_000
_ROPE, _SD, _OFF = 0.002, 0.02, 10.0
SIZES = (5, 6, 8, 10, 20)
KINDS = ("normal", "t₃", "one outlier")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreWorld:
    """The differences over data sets, their number, and their centre."""

    kind: str
    n: int
    centre: float = 0.0


WORLDS = tuple(ScoreWorld(kind=kind, n=n) for kind in KINDS for n in SIZES) + tuple(
    ScoreWorld(kind=kind, n=5, centre=0.05) for kind in KINDS
)


@dataclass(frozen=True, slots=True)
class Hit:
    """One repetition: were the centre and the next data set held, what was decided and said."""

    held: bool
    held_next: bool
    called: bool
    warned: bool
    width: float


def simulate(world: ScoreWorld, generator: np.random.Generator) -> FloatArray:
    """Draw the differences on so many data sets, and on one more."""
    n = world.n + 1
    off = generator.standard_t(3, n) if world.kind == "t₃" else generator.standard_normal(n)
    if world.kind == "one outlier":
        off[0] += _OFF * generator.choice([-1.0, 1.0])
    differences: FloatArray = world.centre + _SD * off
    return differences


def repeat(world: ScoreWorld, first: int, last: int) -> list[Hit]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    place = WORLDS.index(world)
    return [
        _hit(world, np.random.default_rng([SEED, place, repetition]), repetition)
        for repetition in range(first, last)
    ]


def _hit(world: ScoreWorld, generator: np.random.Generator, repetition: int) -> Hit:
    *differences, following = simulate(world, generator).tolist()
    b = 0.8 + 0.05 * generator.standard_normal(world.n)
    c = op.compare_cv_scores(
        b + np.array(differences),
        b,
        datasets=world.n,
        rope=_ROPE,
        n_draws=_N_DRAWS,
        random_state=repetition,
    )
    assert isinstance(c.details, op.results.ScoreDetails)
    assert c.details.next_dataset is not None
    return Hit(
        held=world.centre in c.hdi,
        held_next=following in c.details.next_dataset.hdi,
        called=c.decision.symbol in ("≫", "≪"),
        warned=any(finding.name == "few_datasets" for finding in c.findings),
        width=c.hdi.width,
    )


Found = Mapping[ScoreWorld, Sequence[Hit]]


def table(found: Found) -> str:
    """Return one row a world; shares in per cent with their standard errors."""
    header = (
        *("differences", "data sets", "true centre", "covered", "next data set covered"),
        *("≫ or ≪", "warned", "width"),
    )
    rows = [
        [
            world.kind,
            str(world.n),
            f"{world.centre:g}",
            share_of([hit.held for hit in hits]),
            share_of([hit.held_next for hit in hits]),
            share_of([hit.called for hit in hits]),
            markdown.percent(mean_of([hit.warned for hit in hits])),
            f"{np.mean([hit.width for hit in hits]):.3f}",
        ]
        for world, hits in found.items()
    ]
    n = max(len(hits) for hits in found.values())
    return markdown.table(header, rows, numbers_from=1) + (
        f"\n{n:,} repetitions of each, {_N_DRAWS:,} draws, sd {_SD:g}, ROPE ±{_ROPE:g}; shares in "
        f"per cent. The interval must hold the centre in {LEAST_COVERED:.1%} at least and the next "
        f"data set in {LEAST_NEXT:.0%}, ≫ or ≪ must be given in {MOST_CALLED:.0%} at most if the "
        f"centre is zero, and fewer than {FEW} data sets must be warned of.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the worlds that do not keep to what the table says."""
    failed = []
    for world, hits in found.items():
        n, name = len(hits), f"dataset scores: {world.kind}, {world.n}, centre {world.centre:g}"
        for what, shares, least in (
            ("covered", [hit.held for hit in hits], LEAST_COVERED),
            ("of next data sets covered", [hit.held_next for hit in hits], LEAST_NEXT),
        ):
            if share_is_off(mean_of(shares), n, least):
                failed.append(f"{name}: {mean_of(shares):.1%} {what}")
        called = mean_of([hit.called for hit in hits])
        if world.centre == 0 and share_is_off(called, n, high=MOST_CALLED):
            failed.append(f"{name}: {called:.1%} false decisions")
        if any(hit.warned != (world.n < FEW) for hit in hits):
            failed.append(f"{name}: warned of in {mean_of([hit.warned for hit in hits]):.1%}")
    return failed
