"""Are training runs that collapse named, and normal runs left in peace?

Every run has an accuracy of its own, normal around that of its model, or collapses to a half; an
item is as hard for all runs by a part of its difficulty. The mean over all runs is known. No
interval can allow for collapses that the runs at hand do not show, so its coverage is shown and
not gated; a run that has collapsed must be named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

import outperform as op
from outperform._typing import BoolArray
from verification import markdown
from verification.chance import share_is_off
from verification.influence import mean_of, share_of

SEED = 20_261_120
MOST_NAMED, LEAST_NAMED, MOST_WRONG = 0.02, 0.90, 0.05
LEAST_SEVERAL = 0.75  # of several collapsed runs, fewer than half of all
REPETITIONS = 1_000
_N_DRAWS = 1_000
_ITEMS, _ALIKE, _ROPE = 1_000, 0.6, 0.01
_COLLAPSED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class CollapseWorld:
    """Runs of each model, their accuracy and spread, and how often those of A collapse."""

    n_runs: int = 5
    right: float = 0.84
    sd: float = 0.01
    sd_b: float | None = None  # as that of A if None
    share: float = 0.0

    @property
    def name(self) -> str:
        """What to call it in a table."""
        if self.share:
            return f"{self.share:.0%} of the runs of A collapse"
        spread = "" if self.sd_b is None else f" and {self.sd_b:g}"
        return f"normal runs, accuracy {self.right:g}, sd {self.sd:g}{spread}"

    @property
    def truth(self) -> float:
        """A − B of the means over all runs."""
        return self.share * (_COLLAPSED - self.right)


WORLDS = (
    CollapseWorld(share=0.1),
    CollapseWorld(share=0.1, n_runs=10),
    CollapseWorld(share=0.2),
    CollapseWorld(),
    CollapseWorld(n_runs=10),
    CollapseWorld(n_runs=4),
    CollapseWorld(sd=0.05, sd_b=0.005),
    CollapseWorld(right=0.98, sd=0.003),
)


@dataclass(frozen=True, slots=True)
class Hit:
    """One repetition: what was held, decided and named, and how many runs had collapsed."""

    held: bool
    wrong: bool
    named: bool
    collapsed: int


def simulate(
    world: CollapseWorld, generator: np.random.Generator
) -> tuple[BoolArray, BoolArray, int]:
    """Return which items the runs of A and of B get right, and how many of A have collapsed."""
    hard = generator.standard_normal(_ITEMS)
    collapsed = generator.random(world.n_runs) < world.share
    sides = []
    for sd, fallen in ((world.sd, collapsed), (world.sd_b or world.sd, np.zeros_like(collapsed))):
        right = np.clip(world.right + sd * generator.standard_normal(world.n_runs), 0.01, 0.999)
        right = np.where(fallen, _COLLAPSED, right)
        own = generator.standard_normal((world.n_runs, _ITEMS))
        difficulty = np.sqrt(_ALIKE) * hard + np.sqrt(1 - _ALIKE) * own
        sides.append(difficulty < ndtri(right)[:, None])
    return sides[0], sides[1], int(collapsed.sum())


def repeat(world: CollapseWorld, first: int, last: int) -> list[Hit]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    place = WORLDS.index(world)
    return [
        _hit(world, np.random.default_rng([SEED, place, repetition]), repetition)
        for repetition in range(first, last)
    ]


def _hit(world: CollapseWorld, generator: np.random.Generator, repetition: int) -> Hit:
    *sides, collapsed = simulate(world, generator)
    names = [[f"{side}{k}" for k in range(world.n_runs)] for side in "ab"]
    correct = {
        name: run
        for own, runs in zip(names, sides, strict=True)
        for name, run in zip(own, runs, strict=True)
    }
    c = op.compare_runs(
        op.Outcomes.from_correct(correct),
        *names,
        metric="accuracy",
        rope=_ROPE,
        n_draws=_N_DRAWS,
        random_state=repetition,
        n_jobs=1,
    )
    inside = abs(world.truth) <= _ROPE
    true = "≈" if inside else "≫" if world.truth > 0 else "≪"
    return Hit(
        held=world.truth in c.hdi,
        wrong=c.decision.decided and c.decision.symbol != true,
        named=any(finding.name == "run_stands_apart" for finding in c.findings),
        collapsed=collapsed,
    )


Found = Mapping[CollapseWorld, Sequence[Hit]]


def table(found: Found) -> str:
    """Return one row a world; shares in per cent with their standard errors."""
    header = (
        *("runs", "runs per model", "covered", "wrong decision", "no run collapsed", "named then"),
        *("one collapsed", "named then", "several, fewer than half", "named then"),
    )
    rows = []
    for world, hits in found.items():
        row = [
            world.name,
            str(world.n_runs),
            share_of([hit.held for hit in hits]),
            share_of([hit.wrong for hit in hits]),
        ]
        for named in _by_collapsed(world, hits):
            row += [markdown.percent(len(named) / len(hits)), share_of(named) if named else ""]
        rows.append(row)
    n = max(len(hits) for hits in found.values())
    return markdown.table(header, rows, numbers_from=1) + (
        f"\n{n:,} times all runs and a test set of {_ITEMS:,} items each, {_N_DRAWS:,} draws, ROPE "
        f"±{_ROPE:g}; shares in per cent. A run may be named in {MOST_NAMED:.0%} of the normal "
        f"sets at most, one collapsed run must be named in {LEAST_NAMED:.0%} at least, "
        f"several in {LEAST_SEVERAL:.0%}, and "
        f"decisions may be wrong in {MOST_WRONG:.0%} at most. How often the interval covers the "
        "mean over all runs is shown, "
        "not gated: runs that did not collapse do not show that others do.\n"
    )


def _by_collapsed(
    world: CollapseWorld, hits: Sequence[Hit]
) -> tuple[list[bool], list[bool], list[bool]]:
    """Return whether runs were named where none, one and several had collapsed."""
    return (
        [hit.named for hit in hits if hit.collapsed == 0],
        [hit.named for hit in hits if hit.collapsed == 1],
        [hit.named for hit in hits if 1 < hit.collapsed < world.n_runs / 2],
    )


def failures(found: Found) -> list[str]:
    """Return the worlds that do not keep to what the table says."""
    failed = []
    for world, hits in found.items():
        name = f"collapses: {world.name}, {world.n_runs} runs"
        none, one, several = _by_collapsed(world, hits)
        if none and share_is_off(mean_of(none), len(none), high=MOST_NAMED):
            failed.append(f"{name}: {mean_of(none):.1%} named without a collapse")
        if one and share_is_off(mean_of(one), len(one), LEAST_NAMED):
            failed.append(f"{name}: {mean_of(one):.1%} of collapsed runs named")
        if several and share_is_off(mean_of(several), len(several), LEAST_SEVERAL):
            failed.append(f"{name}: {mean_of(several):.1%} of several collapsed runs named")
        wrong = mean_of([hit.wrong for hit in hits])
        if share_is_off(wrong, len(hits), high=MOST_WRONG):
            failed.append(f"{name}: {wrong:.1%} wrong decisions")
    return failed
