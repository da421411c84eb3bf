"""Slices of items that are not independent: do intervals hold, and are equal slices called?

Prompts of which each lies in one slice, authors who write in all slices, and items with
importance weights. What a group adds to a model's share of right answers is drawn for each model
apart, so that equal models differ on a group and not on the whole. In some worlds A loses a
share of its right answers in the first slice. The gates were written before the first run; after a
trial of 20 test sets larger slices were added, since a slice 2.7 of its own sds away is no
exception among thirty, and the gate of the bad slice is theirs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import outperform as op
from outperform._typing import FloatArray
from outperform.decision.rope import Decision
from verification import markdown
from verification.chance import share_is_off

REPETITIONS = 300
LEAST, LEAST_BAD, MOST_CALLED, CLEAR = 0.925, 0.85, 0.025, 4.0
_ACCURACY, _SPREAD, _LOSS = 0.8, 0.1, 0.15
_ROPE, _N_DRAWS = 0.01, 1_000
_SEED = 20_261_121


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How items are held together: ``within`` a slice, ``across`` all slices, or by ``weights``."""

    holding: str
    slices: int
    groups: int  # in each slice; across: in all
    items: int  # of a group, in a slice
    bad: bool = False

    @property
    def name(self) -> str:
        """What to call it in a table."""
        return f"{self.holding}{', one bad' if self.bad else ''}"

    @property
    def sds(self) -> float:
        """How many of its own sds the bad slice lies from the others."""
        of_items = 2 * _ACCURACY * (1 - _ACCURACY) * 0.75 / (self.groups * self.items)
        of_groups = 2 * _SPREAD**2 / self.groups if self.holding == "within" else 0.0
        even = math.exp(0.8**2) if self.holding == "weights" else 1.0  # what weights cost
        return _ACCURACY * _LOSS / math.sqrt(even * of_items + of_groups)


WORLDS = tuple(
    World(holding=holding, slices=slices, groups=groups, items=items, bad=bad)
    for holding, slices, groups, items, bad in (
        ("within", 30, 20, 10, False), ("within", 30, 20, 10, True), ("within", 30, 60, 10, True),
        ("across", 20, 40, 5, False), ("across", 20, 40, 5, True), ("across", 20, 40, 10, True),
        ("weights", 20, 200, 1, False), ("weights", 20, 200, 1, True),
        ("weights", 20, 600, 1, True),
    )
)  # fmt: skip


class Noted(NamedTuple):
    """What one test set said: shares over its equal slices, and the bad slice, if there is one."""

    covered: float
    own_covered: float
    called: float
    bad_covered: bool
    bad_called: bool


def simulate(world: World, rng: np.random.Generator) -> tuple[op.Outcomes, list[float]]:
    """Return the outcomes of one test set, and the true difference in each slice."""
    place = np.repeat(np.arange(world.slices), world.groups * world.items)
    unit = np.tile(np.repeat(np.arange(world.groups), world.items), world.slices)
    if world.holding != "across":
        unit = place * world.groups + unit
    ease = rng.random(len(place))

    def right() -> FloatArray:
        own = rng.normal(0.0, _SPREAD, unit.max() + 1)[unit]
        level = _ACCURACY + np.clip(own, _ACCURACY - 1, 1 - _ACCURACY)  # its mean stays
        shared = np.where(rng.random(len(place)) < 0.5, ease, rng.random(len(place)))
        return np.asarray(shared < level, dtype=np.float64)

    a, b = right(), right()
    if world.bad:
        a[(place == 0) & (rng.random(len(place)) < _LOSS)] = 0.0
    beside = (
        {"sample_weight": rng.lognormal(0.0, 0.8, len(place))}
        if world.holding == "weights"
        else {"groups": unit}
    )
    by = {"slice": [f"{number:03d}" for number in place]}
    outcomes = op.Outcomes.from_correct({"a": a.astype(bool), "b": b.astype(bool)}, by=by, **beside)
    return outcomes, [-_ACCURACY * _LOSS * world.bad] + [0.0] * (world.slices - 1)


def repeat(world: World, first: int, last: int) -> list[Noted]:
    """Repeat the test sets ``first`` to ``last``, not included, of a world."""
    return [_repeat(world, number) for number in range(first, last)]


def _repeat(world: World, number: int) -> Noted:
    rng = np.random.default_rng([_SEED, WORLDS.index(world), number])
    outcomes, truths = simulate(world, rng)
    found = op.compare_slices(
        outcomes,
        "a",
        "b",
        metric="accuracy",
        rope=_ROPE,
        n_draws=_N_DRAWS,
        random_state=number,
    )
    return note_slices(found, truths[0], bad=world.bad)


def note_slices(compared: op.results.SliceComparison, loss: float, *, bad: bool) -> Noted:
    """Return what one test set shows: slices 0, 1, …, of which only the first may be bad."""
    first, *others = sorted(compared.rows, key=lambda row: int(row.key[0]))
    equal = others if bad else [first, *others]
    return Noted(
        covered=float(np.mean([0.0 in row.hdi for row in equal])),
        own_covered=float(np.mean([0.0 in row.unpooled_hdi for row in equal])),
        called=float(np.mean([row.flagged for row in equal])),
        bad_covered=loss in first.hdi,
        bad_called=first.decision is Decision.WORSE,
    )


Found = Mapping[World, Sequence[Noted]]


def _mean(noted: Sequence[Noted], name: str) -> tuple[float, float]:
    """Return the mean over test sets, whose slices hang together, and its error."""
    values = np.array([getattr(one, name) for one in noted], dtype=np.float64)
    return float(values.mean()), float(values.std() / np.sqrt(len(values)))


def table(found: Found) -> str:
    """Return one row per world."""
    head = [
        "groups", "slices", "groups each", "items each", "covered", "covered, alone", "called",
        "bad slice, sds away", "covered", "≪", "test sets",
    ]  # fmt: skip
    rows = []
    for world, noted in found.items():
        names = ["covered", "own_covered", "called"]
        shares = [_mean(noted, name) for name in names]
        texts = [f"{100 * share:.1f} ± {100 * error:.1f}" for share, error in shares]
        bad = ["–", "–", "–"]
        if world.bad:
            bad = [f"{world.sds:.1f}"]
            bad += [f"{100 * _mean(noted, name)[0]:.1f}" for name in ("bad_covered", "bad_called")]
        sizes = [str(one) for one in (world.slices, world.groups, world.items)]
        rows.append([world.name, *sizes, *texts, *bad, f"{len(noted):,}"])
    return markdown.table(head, rows, numbers_from=1) + (
        f"\nIn per cent; accuracy, ROPE ±{_ROPE}, {_N_DRAWS:,} draws. Pooled 95% intervals of "
        f"equal slices must hold in {LEAST:.1%} or more and at most {MOST_CALLED:.1%} of them be "
        f"called; the interval of a bad slice that lies {CLEAR:.0f} of its own sds away must hold "
        f"in {LEAST_BAD:.0%}.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the worlds that do not keep to what the table states."""
    broken = []
    for world, noted in found.items():
        covered, error = _mean(noted, "covered")
        called, called_error = _mean(noted, "called")
        if covered + 3 * error < LEAST:
            broken.append(f"slices with groups, {world.name}: {covered:.1%} covered")
        if called - 3 * called_error > MOST_CALLED:
            broken.append(f"slices with groups, {world.name}: {called:.1%} called")
        held = _mean(noted, "bad_covered")[0]
        if world.bad and world.sds >= CLEAR and share_is_off(held, len(noted), low=LEAST_BAD):
            broken.append(f"slices with groups, {world.name}: the bad slice held in {held:.1%}")
    return broken
