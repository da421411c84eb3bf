"""Twenty releases in a row: how much is lost with and without a ledger, and how many pass?

Every candidate differs from the release before it on 6% of the items, and is truly worse by a step,
equal, or better. Paired accuracy needs only the counts of items that one of two models got right,
which are multinomial. The comparison is their normal approximation; what is tested, the ledger, is
the package's own: its entries, its course with the anchor and the links, and its check.

Items are new at every release and the anchor's answers to them are known; or they are new and its
answers unknown; or all releases are tested on the same items. The last two differ only in the
reason for which differences are added up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from outperform.gates.ledger import (
    BUDGET,
    Entry,
    Position,
    contrast_of,
    course_of,
    cut_of,
)
from verification import markdown
from verification.chance import share_is_off

SEED = 20_261_120
CHAINS = 2_000
RELEASES = 20
APART, MARGIN, PROB = 0.06, 0.01, 0.95
MOST_LOST = 0.05  # probability that more than two ROPEs are lost
LEAST_PASSED = 0.75  # of the equal candidates that pass without a ledger, from 5,000 items on
SIZES = (1_000, 5_000, 20_000)
STEPS = ("equal", "−0.003", "mixed")
ITEMS = ("no ledger", "new, anchor known", "new, anchor unknown", "always the same")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseWorld:
    """Steps of the candidates, the items of the releases, and how many items there are."""

    steps: str
    items: str
    n: int


WORLDS = tuple(
    ReleaseWorld(steps=steps, items=items, n=n) for steps in STEPS for n in SIZES for items in ITEMS
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """Totals of the chains: releases, chains that lost two ROPEs, and the sum of the losses."""

    world: ReleaseWorld
    chains: int
    passed: int
    lost: int
    loss: float


def run(world: ReleaseWorld, chains: int) -> Released:
    """Run chains of candidates."""
    generator = np.random.default_rng([SEED, WORLDS.index(world)])
    found = [_chain(world, generator) for _ in range(chains)]
    losses = [loss for _, loss in found]
    return Released(
        world=world,
        chains=chains,
        passed=sum(passed for passed, _ in found),
        lost=sum(loss > 2 * MARGIN + 1e-9 for loss in losses),
        loss=float(sum(losses)),
    )


def _chain(world: ReleaseWorld, generator: np.random.Generator) -> tuple[int, float]:
    """Return the number of releases, and the true loss since the best of them."""
    entries: list[Entry] = []
    truth, current, passed = {"v0": 0.0}, "v0", 0
    apart = {"v0": 0}  # releases since the anchor, by model
    for number in range(1, RELEASES + 1):
        step = {"equal": 0.0, "−0.003": -0.003}.get(world.steps)
        if step is None:
            step = float(generator.choice([-0.003, 0.0, 0.003]))
        name = f"v{number}"
        truth[name] = truth[current] + step
        mean, sd = _difference(world.n, APART, step, generator)
        own = -MARGIN + float(ndtri((1 + PROB) / 2)) * sd
        course = course_of(entries)
        anchor = "v0" if course is None else course.anchor
        position = Position(0.0, 0.0) if course is None else course.positions[current]
        direct = anchor == current or world.items == "new, anchor known"
        known: tuple[float, float] | None = None
        if anchor == current:
            contrast = contrast_of(Position(0.0, 0.0), mean, sd, PROB)
        elif direct:
            # The baseline's difference from the anchor on these items is independent of the step.
            q = min(APART * apart[current], 0.15)
            more, sd_more = _difference(world.n, q, truth[current] - truth[anchor], generator)
            known = mean + more, math.hypot(sd, sd_more)
            contrast = contrast_of(Position(0.0, 0.0), *known, PROB)
        else:
            contrast = contrast_of(position, mean, sd, PROB)
        cut = cut_of(own, None if direct else position, contrast, -BUDGET * MARGIN)
        passes = mean > own
        if world.items != "no ledger":
            passes = passes and contrast.hdi.low > -BUDGET * MARGIN
            entries.append(
                Entry(
                    time=f"{number:02d}", items="same", n=world.n, metric="accuracy",
                    candidate=name, baseline=current, status="pass" if passes else "fail",
                    mean=mean, sd=sd, cut=cut, margin=MARGIN, hdi_prob=PROB,
                    anchor=None if known is None else anchor,
                    anchor_mean=None if known is None else known[0],
                    anchor_sd=None if known is None else known[1],
                )
            )  # fmt: skip
        if passes:
            apart[name] = apart[current] + 1
            current, passed = name, passed + 1
            after = course_of(entries)
            if after is not None and after.anchor == name:
                apart = {name: 0}
    released = [truth["v0"], *(truth[entry.candidate] for entry in entries if entry.released)]
    best = max([*released, truth[current]])
    return passed, best - truth[current]


def _difference(
    n: int, apart: float, truth: float, generator: np.random.Generator
) -> tuple[float, float]:
    """Return posterior mean and sd of a paired difference of accuracies, from drawn counts."""
    shares = [(apart + truth) / 2, (apart - truth) / 2, 1 - apart]
    better, worse, _ = generator.multinomial(n, shares).tolist()
    mean = (better - worse) / (n + 2)
    return mean, math.sqrt(((better + worse + 1) / (n + 2) - mean**2) / (n + 3))


def failures(found: Sequence[Released]) -> list[str]:
    """Return the worlds with a ledger that lose too often, or pass too few equal candidates."""
    without = {
        (one.world.steps, one.world.n): one.passed / one.chains
        for one in found
        if one.world.items == "no ledger"
    }
    wrong = []
    for one in found:
        world, share = one.world, one.lost / one.chains
        if world.items == "no ledger":
            continue
        if share_is_off(share, one.chains, 0.0, MOST_LOST):
            wrong.append(f"releases: {world} lost two ROPEs in {share:.1%} of chains")
        bare = without[world.steps, world.n]
        few = world.n >= 5_000 and one.passed / one.chains < LEAST_PASSED * bare
        if world.items == "new, anchor known" and world.steps == "equal" and few:
            wrong.append(f"releases: {world} released {one.passed / one.chains:.1f} of {bare:.1f}")
    return wrong


def table(found: Sequence[Released]) -> str:
    """Return what was lost and released, as Markdown."""
    header = ("candidates", "items", "tested on", "released of 20", "mean loss", "lost > 2 ROPEs")
    rows = [
        [
            one.world.steps,
            f"{one.world.n:,}",
            one.world.items,
            f"{one.passed / one.chains:.1f}",
            f"{one.loss / one.chains:.4f}",
            f"{100 * one.lost / one.chains:.1f}%",
        ]
        for one in found
    ]
    return markdown.table(header, rows) + (
        f"\n{found[0].chains:,} chains of {RELEASES} candidates each, which differ from the latest "
        f"release on {APART:.0%} of the items; ROPE ±{MARGIN:g}. With a ledger, at most "
        f"{MOST_LOST:.0%} of the chains may lose more than two ROPEs.\n"
    )
