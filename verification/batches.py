"""Does a monitor notice that newer batches differ, and only then? Years of daily batches.

Two models of the same accuracy, whose errors go together, are watched for a year of batches. In
some years nothing changes, so every alarm is false. In others A becomes worse at once in the middle
of the year, or by little each day, or positives become rarer. The numbers per item are those of
accuracy, as ``op.Monitor`` watches them, and the alarm is the package's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from outperform._typing import FloatArray
from outperform.monitor.drift import (
    BUDGET,
    SCREEN,
    Statistic,
    cuts_at,
    find_change,
    spent_at,
)
from verification import markdown
from verification.chance import share_is_off
from verification.influence import share_of

SEED = 20_261_120
REPETITIONS = 200
BATCHES, MIDDLE, AFTER = 365, 183, 90
DROP = 0.06
POSITIVE, SHIFTED = 0.3, 0.2
# Within so many batches most drops must be noticed, and by the end of the year most drifts.
SOON, MOST = 3, 0.90
SIZES = (50, 200, 1_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Year:
    """How many items a batch has, how often models are right, and what happens."""

    kind: Literal["nothing", "drop", "drift", "shares"]
    size: int
    accuracy: float = 0.85

    @property
    def gated(self) -> bool:
        """Whether the change must be noticed in most years; if nothing happens, in few."""
        if self.kind == "drop":
            return self.size == 1_000
        return self.kind in ("nothing", "drift") and (self.kind == "nothing" or self.size >= 200)


WORLDS = (
    *(Year(kind="nothing", size=size, accuracy=right) for right in (0.85, 0.98) for size in SIZES),
    *(Year(kind="drop", size=size, accuracy=right) for right in (0.85, 0.95) for size in SIZES),
    *(Year(kind="drift", size=size) for size in SIZES),
    *(Year(kind="shares", size=size) for size in SIZES),
)


@dataclass(frozen=True, slots=True)
class Alarm:
    """When an alarm was raised, and how many batches after a sudden change; None if never."""

    look: int | None

    def within(self, batches: int) -> bool:
        """Return whether it came within so many batches after the middle of the year."""
        return self.look is not None and self.look <= MIDDLE + batches


def repeat(world: Year, first: int, last: int) -> list[Alarm]:
    """Run years ``first`` to ``last`` (not included)."""
    place = WORLDS.index(world)
    return [
        Alarm(_first_alarm(world, np.random.default_rng([SEED, place, number])))
        for number in range(first, last)
    ]


def simulate(world: Year, generator: np.random.Generator) -> FloatArray:
    """Draw how many items of each batch are positive or not, right by A or not, by B or not."""
    day = np.arange(BATCHES)
    right, share = np.full(BATCHES, world.accuracy), np.full(BATCHES, POSITIVE)
    if world.kind == "drop":
        right = right - DROP * (day >= MIDDLE)
    if world.kind == "drift":
        right = right - DROP * day / (BATCHES - 1)
    if world.kind == "shares":
        share = np.where(day >= MIDDLE, SHIFTED, POSITIVE)
    # B is right where A was, before the change, except for half of the errors of each.
    both = world.accuracy - (1 - world.accuracy) / 2
    of_a = both * right / world.accuracy
    cells = np.stack([of_a, right - of_a, world.accuracy - of_a], axis=1)
    cells = np.concatenate([cells, 1 - cells.sum(axis=1, keepdims=True)], axis=1)
    every = np.concatenate([share[:, None] * cells, (1 - share)[:, None] * cells], axis=1)
    return generator.multinomial(world.size, every).astype(np.float64)


RIGHT_A, RIGHT_B = np.array([1.0, 1, 0, 0] * 2), np.array([1.0, 0, 1, 0] * 2)
NUMBERS = {
    "a": RIGHT_A,
    "b": RIGHT_B,
    "difference": RIGHT_A - RIGHT_B,
    "share": np.repeat([1.0, 0.0], 4),
}


def statistics(counts: FloatArray) -> list[Statistic]:
    """Return what a monitor of accuracy watches."""
    looks = len(counts)
    owner = np.repeat(np.arange(looks), 8)
    return [
        Statistic(name=name, values=np.tile(one, looks), repeats=counts.ravel(), owner=owner)
        for name, one in NUMBERS.items()
    ]


def suspects(counts: FloatArray, looks: range) -> list[int]:
    """Return the looks at which some z is so large that the package works out a bound.

    At all others it raises no alarm, so a study need not ask. This only saves time.
    """
    values = np.stack(list(NUMBERS.values()), axis=1)
    sums = np.cumsum(counts @ values, axis=0)
    squares = np.cumsum(counts @ np.square(values), axis=0)
    size, found = counts[0].sum(), []
    for look in looks:
        cuts, n = np.array(cuts_at(look))[:, None], look * size
        variance = squares[look - 1] / n - np.square(sums[look - 1] / n)
        apart = sums[cuts[:, 0] - 1] - cuts / look * sums[look - 1]
        z = apart / np.sqrt(np.maximum(variance, 1e-300) * size * cuts * (look - cuts) / look)
        allowed = BUDGET * spent_at(look) / (2 * len(cuts) * len(NUMBERS))
        if np.abs(z).max() > 0.99 * SCREEN * np.sqrt(-2 * np.log(allowed)):
            found.append(look)
    return found


def _first_alarm(world: Year, generator: np.random.Generator) -> int | None:
    counts = simulate(world, generator)
    sudden = world.kind in ("drop", "shares")
    looks = range(MIDDLE + 1, MIDDLE + AFTER + 1) if sudden else range(2, BATCHES + 1)
    some = suspects(counts, looks)
    return next((look for look in some if find_change(statistics(counts[:look]), look)), None)


Found = Mapping[Year, Sequence[Alarm]]
_WORDS = {
    "nothing": "nothing changes",
    "drop": f"A loses {DROP:g} at once",
    "drift": f"A loses {DROP:g} in a year",
    "shares": f"positives from {POSITIVE:.0%} to {SHIFTED:.0%}",
}


def table(found: Found) -> str:
    """Return one row a world; shares in per cent with their standard errors."""
    rows = []
    for world, alarms in found.items():
        looks = [np.inf if one.look is None else one.look for one in alarms]
        sudden = world.kind in ("drop", "shares")
        median = float(np.median(looks)) - (MIDDLE if sudden else 0)
        soon = [share_of([one.within(days) for one in alarms]) for days in (1, SOON, 14, 30)]
        rows.append(
            [
                _WORDS[world.kind],
                f"{world.accuracy:g}",
                f"{world.size:,}",
                share_of([one.look is not None for one in alarms]),
                *(soon if sudden else ["–"] * len(soon)),
                f"{median:.0f}" if np.isfinite(median) else "–",
            ]
        )
    n = max(len(alarms) for alarms in found.values())
    header = (
        *("what happens", "accuracy", "items a batch", "alarm"),
        *(f"within {days}" for days in (1, SOON, 14, 30)),
        "median",
    )
    return markdown.table(header, rows, numbers_from=1) + (
        f"\n{n:,} years of {BATCHES} batches a row; shares in per cent; the median is in batches, "
        f"from the change or from the first batch. Sudden changes come after {MIDDLE} batches and "
        f"are watched for {AFTER} more. False alarms must be within the budget of {BUDGET:.0%}; a "
        f"drop of {DROP:g} in batches of 1,000 must be noticed within {SOON} batches in "
        f"{MOST:.0%} of the years, and a drift in batches of 200 or more within the year in as "
        "many.\n"
    )


def failures(found: Found) -> list[str]:
    """Return false alarms beyond the budget, and changes that are noticed too late."""
    said = []
    for world, alarms in found.items():
        n = len(alarms)
        share = float(np.mean([one.look is not None for one in alarms]))
        if world.kind == "nothing" and share_is_off(share, n, high=BUDGET):
            said.append(f"batches: {world}: alarms in {share:.3f} of the years")
        if world.kind == "drop" and world.gated:
            soon = float(np.mean([one.within(SOON) for one in alarms]))
            if share_is_off(soon, n, low=MOST):
                said.append(f"batches: {world}: noticed within {SOON} in {soon:.3f}")
        if world.kind == "drift" and world.gated and share_is_off(share, n, low=MOST):
            said.append(f"batches: {world}: noticed in {share:.3f} of the years")
    return said
