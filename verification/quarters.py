"""Is a drop in one of twenty slices noticed in days, and is a quarter without changes left alone?

Two models of the same accuracy, whose errors go together, are watched for quarters of 91 daily
batches in 20 slices. In some quarters nothing changes, so every alarm is false. In others A becomes
worse in one slice from some day on. The numbers per item are those of accuracy, as ``op.Monitor``
watches them in a folder with slices, and the alarm, with its one budget over slices and days, is
the package's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from outperform._typing import FloatArray
from outperform.monitor.drift import (
    BUDGET,
    SCREEN,
    Change,
    Statistic,
    among_slices,
    cuts_at,
    find_change,
    spent_at,
)
from verification import markdown
from verification.batches import NUMBERS, RIGHT_A, RIGHT_B
from verification.chance import share_is_off
from verification.influence import share_of

SEED = 20_261_119
REPETITIONS = 200
DAYS, SLICES = 91, 20
DROP, PLANTED = 0.065, "07"
# Within so many days most drops must be noticed, if a slice has 500 items a day.
SOON, MOST = 3, 0.80
POSITIVE = 0.3
OF_SLICES = {"a": RIGHT_A, "b": RIGHT_B, "difference": RIGHT_A - RIGHT_B}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarter:
    """Items of a slice a day, how often models are right, and the days before the drop, if any."""

    size: int
    accuracy: float
    before: int | None = None


WORLDS = (
    *(Quarter(size=size, accuracy=right) for right in (0.85, 0.98) for size in (50, 500)),
    *(Quarter(size=size, accuracy=0.85, before=before) for before in (28, 60)
      for size in (250, 500, 1_000)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Alarm:
    """Day and slice of the first alarm; None if there is none, or if it is not of a slice."""

    day: int | None
    slice: str | None


def repeat(world: Quarter, first: int, last: int) -> list[Alarm]:
    """Run quarters ``first`` to ``last`` (not included)."""
    place = WORLDS.index(world)
    return [
        _first_alarm(world, np.random.default_rng([SEED, place, number]))
        for number in range(first, last)
    ]


def simulate(world: Quarter, generator: np.random.Generator) -> FloatArray:
    """Draw the items of each day and slice: positive or not, right by A or not, by B or not."""
    right = np.full((DAYS, SLICES), world.accuracy)
    if world.before is not None:
        right[world.before :, int(PLANTED)] -= DROP
    both = world.accuracy - (1 - world.accuracy) / 2
    of_a = both * right / world.accuracy
    cells = np.stack([of_a, right - of_a, world.accuracy - of_a], axis=2)
    cells = np.concatenate([cells, 1 - cells.sum(axis=2, keepdims=True)], axis=2)
    every = np.concatenate([POSITIVE * cells, (1 - POSITIVE) * cells], axis=2)
    return generator.multinomial(world.size, every).astype(np.float64)


def statistics(counts: FloatArray) -> list[Statistic]:
    """Return what a monitor of accuracy watches in a folder with slices."""
    days = len(counts)
    owner = np.repeat(np.arange(days), 8)

    def of(cells: FloatArray, numbers: Mapping[str, FloatArray]) -> list[Statistic]:
        return [
            Statistic(name=name, values=np.tile(one, days), repeats=cells.ravel(), owner=owner)
            for name, one in numbers.items()
        ]

    return among_slices(
        of(counts.sum(axis=1), NUMBERS),
        [
            replace(one, slice=(f"{number:02}",))
            for number in range(SLICES)
            for one in of(counts[:, number], OF_SLICES)
        ],
    )


def suspects(counts: FloatArray) -> list[int]:
    """Return the looks at which some z is so large that the package works out a bound.

    At all others it raises no alarm, so a study need not ask. This only saves time.
    """
    values = np.stack(list(NUMBERS.values()), axis=1)
    every = np.concatenate([counts, counts.sum(axis=1, keepdims=True)], axis=1)
    sums = np.cumsum(every @ values, axis=0)
    squares = np.cumsum(every @ np.square(values), axis=0)
    sizes = every[0].sum(axis=1)[:, None]
    found = []
    for look in range(2, DAYS + 1):
        cuts, n = np.array(cuts_at(look))[:, None, None], look * sizes
        variance = squares[look - 1] / n - np.square(sums[look - 1] / n)
        apart = sums[cuts[:, 0, 0] - 1] - cuts / look * sums[look - 1]
        z = apart / np.sqrt(np.maximum(variance, 1e-300) * sizes * cuts * (look - cuts) / look)
        allowed = BUDGET * spent_at(look) / (2 * len(cuts) * len(NUMBERS) * (SLICES + 1))
        if np.abs(z).max() > 0.99 * SCREEN * np.sqrt(-2 * np.log(allowed)):
            found.append(look)
    return found


def change_at(counts: FloatArray, look: int) -> Change | None:
    """Return the change that the package finds at a look."""
    return find_change(statistics(counts[:look]), look)


def _first_alarm(world: Quarter, generator: np.random.Generator) -> Alarm:
    counts = simulate(world, generator)
    for look in suspects(counts):
        change = change_at(counts, look)
        if change is not None:
            return Alarm(look, None if change.slice is None else change.slice[0])
    return Alarm(None, None)


Found = Mapping[Quarter, Sequence[Alarm]]


def _within(world: Quarter, alarm: Alarm, days: int) -> bool:
    """Return whether the drop, and not something else before it, was noticed within some days."""
    assert world.before is not None
    is_there = alarm.day is not None and world.before < alarm.day <= world.before + days
    return is_there and alarm.slice == PLANTED


def table(found: Found) -> str:
    """Return one row a world; shares in per cent with their standard errors."""
    rows = []
    for world, alarms in found.items():
        before = world.before
        early = [one.day is not None and one.day <= (before or DAYS) for one in alarms]
        soon = (
            ["–"] * 3
            if before is None
            else [share_of([_within(world, one, days) for one in alarms]) for days in (1, SOON, 7)]
        )
        what = "nothing changes" if before is None else f"A loses {DROP:g} after {before} days"
        rows.append([what, f"{world.accuracy:g}", f"{world.size:,}", share_of(early), *soon])
    n = max(len(alarms) for alarms in found.values())
    header = (
        *("what happens", "accuracy", "items a slice and day", "false alarm"),
        *(f"noticed within {days}" for days in (1, SOON, 7)),
    )
    return markdown.table(header, rows, numbers_from=1) + (
        f"\n{n:,} quarters of {DAYS} days and {SLICES} slices a row; shares in per cent. A drop is "
        "noticed if the first alarm names its slice. False alarms must be within the budget of "
        f"{BUDGET:.0%}; with 500 items or more, a drop must be noticed within {SOON} days in "
        f"{MOST:.0%} of the quarters.\n"
    )


def failures(found: Found) -> list[str]:
    """Return false alarms beyond the budget, and drops that are noticed too late."""
    said = []
    for world, alarms in found.items():
        n, before = len(alarms), world.before
        early = [one.day is not None and one.day <= (before or DAYS) for one in alarms]
        share = float(np.mean(early))
        if share_is_off(share, n, high=BUDGET):
            said.append(f"quarters: {world}: false alarms in {share:.3f} of the quarters")
        if before is not None and world.size >= 500:
            soon = float(np.mean([_within(world, one, SOON) for one in alarms]))
            if share_is_off(soon, n, low=MOST):
                said.append(f"quarters: {world}: noticed within {SOON} days in {soon:.3f}")
    return said
