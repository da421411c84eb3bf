"""One bad slice among equal ones, of two to fifty classes: does its pooled interval hold?

In the bad slice A loses a share of its right answers, in every class alike. Wrong answers go to
all other classes alike, so with even classes macro-F1 is the accuracy. The gate was written
before the first run: the bad slice's interval holds in 85% or more, one equal slice in 500 at most
is called, and a finding names every slice whose own interval leaves out the pooled mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

import outperform as op
from outperform._typing import IntArray
from outperform.decision.rope import Decision
from verification import markdown
from verification.chance import share_is_off

LEAST_HELD = 0.85
MOST_FALSE = 0.002
REPETITIONS = 200

_ACCURACY, _SHARED, _LOSS = 0.85, 0.6, 0.15
_ROPE, _N_DRAWS = 0.01, 1_000
_SEED = 20_261_118


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassWorld:
    """Slices of so many classes; ``zipf`` if the k-th is as frequent as 1/k."""

    classes: int
    slices: int = 20
    items: int = 200
    zipf: bool = False
    metric: str = "accuracy"


_TWENTY = ClassWorld(classes=20)
WORLDS = (
    ClassWorld(classes=2, slices=50, items=100),
    ClassWorld(classes=2, slices=20),
    _TWENTY,
    ClassWorld(classes=50),
    replace(_TWENTY, zipf=True),
    replace(_TWENTY, metric="f1_macro"),
    replace(_TWENTY, metric="matthews_corrcoef"),
)


class Noted(NamedTuple):
    """What a test set said of its bad slice and of the others."""

    held: bool
    own_held: bool
    called: bool
    equivalent: bool
    named: bool
    mean: float
    observed: float
    false: int
    unnamed: int  # slices whose own interval leaves out the pooled mean, and no finding says so


def truth(world: ClassWorld) -> float:
    """Return A − B in the bad slice."""
    lost = -_ACCURACY * _LOSS
    return (
        lost * world.classes / (world.classes - 1) if world.metric == "matthews_corrcoef" else lost
    )


def simulate(world: ClassWorld, generator: np.random.Generator) -> op.Outcomes:
    """Return outcomes of which the first slice is the bad one."""
    n = world.slices * world.items
    place = np.repeat(np.arange(world.slices), world.items)
    weights = 1 / np.arange(1, world.classes + 1) if world.zipf else np.ones(world.classes)
    y: IntArray = generator.choice(world.classes, n, p=weights / weights.sum())
    ease = generator.random(n)
    right_b = np.where(generator.random(n) < _SHARED, ease, generator.random(n)) < _ACCURACY
    right_a = (ease < _ACCURACY) & ~((place == 0) & (generator.random(n) < _LOSS))
    answers = {
        name: np.where(
            right, y, (y + 1 + generator.integers(0, world.classes - 1, n)) % world.classes
        )
        for name, right in (("a", right_a), ("b", right_b))
    }
    return op.Outcomes.from_labels(y, answers, by={"slice": [f"{one:03d}" for one in place]})


def note(world: ClassWorld, repetition: int) -> Noted:
    """Compare the slices of one test set."""
    seed = [_SEED, WORLDS.index(world), repetition]
    found = op.compare_slices(
        simulate(world, np.random.default_rng(seed)),
        "a",
        "b",
        metric=world.metric,
        rope=_ROPE,
        n_draws=_N_DRAWS,
        random_state=repetition,
    )
    bad = next(row for row in found.rows if row.key == ("000",))
    others = [row for row in found.rows if row is not bad]
    named = any(one.name == "own_data_disagree" for one in found.findings)
    return Noted(
        held=truth(world) in bad.hdi,
        own_held=truth(world) in bad.unpooled_hdi,
        called=bad.decision is Decision.WORSE,
        equivalent=bad.decision is Decision.EQUIVALENT,
        named=bad.disagrees,
        mean=bad.mean,
        observed=bad.observed,
        false=sum(row.flagged for row in others),
        unnamed=sum(
            row.mean not in row.unpooled_hdi and not (named and row.disagrees) for row in found.rows
        ),
    )


def repeat(world: ClassWorld, first: int, last: int) -> list[Noted]:
    """Draw test sets, the same whatever else is run."""
    return [note(world, repetition) for repetition in range(first, last)]


Found = Mapping[ClassWorld, Sequence[Noted]]

_HEADER = (
    *("classes", "metric", "slices", "items each", "difference", "mean", "observed"),
    *("covered", "covered, alone", "≪", "≪ or named", "≈", "others called", "test sets"),
)


def table(found: Found) -> str:
    """Return one row a world, shares in per cent with their errors."""
    rows = []
    for world, noted in found.items():
        shares = [
            [one.held for one in noted],
            [one.own_held for one in noted],
            [one.called for one in noted],
            [one.called or one.named for one in noted],
            [one.equivalent for one in noted],
        ]
        n_others = len(noted) * (world.slices - 1)
        means = [float(np.mean([getattr(one, of) for one in noted])) for of in ("mean", "observed")]
        rows.append(
            [
                f"{world.classes}, Zipf" if world.zipf else str(world.classes),
                world.metric,
                str(world.slices),
                str(world.items),
                f"{truth(world):.3f}".replace("-", "−"),
                *(f"{mean:.3f}".replace("-", "−") for mean in means),
                *(_with_error(float(np.mean(one)), len(noted)) for one in shares),
                f"{100 * sum(one.false for one in noted) / n_others:.2f}",
                str(len(noted)),
            ]
        )
    return markdown.table(_HEADER, rows) + "\nShares in per cent.\n"


def _with_error(share: float, n: int) -> str:
    return f"{100 * share:.1f} ± {100 * float(np.sqrt(share * (1 - share) / n)):.1f}"


def failures(found: Found) -> list[str]:
    """Return the worlds whose bad slice is hidden, or whose equal slices are called."""
    failed = []
    for world, noted in found.items():
        what = f"slices, one bad of {world.slices}, {world.classes} classes, {world.metric}"
        what += ", Zipf" if world.zipf else ""
        held = float(np.mean([one.held for one in noted]))
        if share_is_off(held, len(noted), low=LEAST_HELD):
            failed.append(f"{what}: the interval of the bad slice held in {held:.1%}")
        n_others = len(noted) * (world.slices - 1)
        false = sum(one.false for one in noted) / n_others
        if share_is_off(false, n_others, high=MOST_FALSE):
            failed.append(f"{what}: {false:.2%} of the equal slices were called")
        unnamed = sum(one.unnamed for one in noted)
        if unnamed:
            failed.append(f"{what}: {unnamed} slices disagree and no finding names them")
    return failed
