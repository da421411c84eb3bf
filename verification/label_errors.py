"""Do intervals hold where some gold labels are wrong?

Gold labels err by class. In one kind of world their errors have nothing to do with the models; in
the other A learned many of them. Three answers are held against the true difference: the gold
labels as they are, the same with the true error rates stated, and 200 labels given again, at
random. Stated rates assume errors that have nothing to do with the models, and must hold there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple, Self

import numpy as np

import outperform as op
from outperform._typing import IntArray
from outperform.data.prevalence import LabelErrors
from verification import markdown
from verification.chance import share_is_off
from verification.judges import N_DRAWS, Ends, interval

SEED = 20_261_119
LEAST, MOST = 0.925, 0.98
REPETITIONS = 1_000
N_ITEMS, N_AGAIN = 1_000, 200
_TRUE_ITEMS = 2_000_000
_RIGHT = (0.90, 0.86)
_LEARNED = 0.6

Kind = Literal["independent", "learned by A"]
Task = Literal["accuracy", "f1", "f1_macro"]
# Shares of the classes, and how often the gold label of each is wrong.
_CLASSES = {
    "accuracy": ((0.7, 0.3), (0.05, 0.15)),
    "f1": ((0.7, 0.3), (0.05, 0.15)),
    "f1_macro": ((0.5, 0.3, 0.2), (0.03, 0.06, 0.12)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Whether a model learned the errors of gold labels, and the metric."""

    kind: Kind
    task: Task

    @property
    def name(self) -> str:
        """What to call it in a failure."""
        return f"errors {self.kind}, {self.task}"


KINDS: tuple[Kind, ...] = ("independent", "learned by A")
TASKS: tuple[Task, ...] = ("accuracy", "f1", "f1_macro")
WORLDS = tuple(World(kind=kind, task=task) for task in TASKS for kind in KINDS)
METHODS = ("gold", "stated", "again")


class Items(NamedTuple):
    """True classes, gold labels, and both models' predictions."""

    truth: IntArray
    gold: IntArray
    a: IntArray
    b: IntArray


def draw_items(world: World, n: int, rng: np.random.Generator) -> Items:
    """Draw items of a world."""
    shares, rates = (np.array(one) for one in _CLASSES[world.task])
    k = len(shares)

    def another(classes: IntArray) -> IntArray:
        found: IntArray = (classes + rng.integers(1, k, size=n)) % k
        return found

    truth: IntArray = np.asarray(rng.choice(k, size=n, p=shares))
    gold = np.where(rng.random(n) < rates[truth], another(truth), truth)
    a, b = (np.where(rng.random(n) < right, truth, another(truth)) for right in _RIGHT)
    if world.kind == "learned by A":
        a = np.where((gold != truth) & (rng.random(n) < _LEARNED), gold, a)
    return Items(truth, gold, a, b)


@lru_cache(maxsize=8)
def true_difference(world: World) -> float:
    """Return the true difference, by many items."""
    truth, _, a, b = draw_items(world, _TRUE_ITEMS, np.random.default_rng([SEED, 7]))
    if world.task == "accuracy":
        return float((a == truth).mean() - (b == truth).mean())
    classes = [1] if world.task == "f1" else range(len(_CLASSES[world.task][0]))
    of_a, of_b = (
        np.mean([2 * ((truth == k) & (one == k)).sum() / ((truth == k).sum() + (one == k).sum())
                 for k in classes])
        for one in (a, b)
    )  # fmt: skip
    return float(of_a - of_b)


def _asked(items: Items, world: World) -> dict[str, op.Outcomes]:
    models = {"a": items.a, "b": items.b}
    rates = _CLASSES[world.task][1]
    gold = op.Outcomes.from_labels(items.gold, models, labels=[*range(len(rates))])
    stated = LabelErrors.from_param(dict(enumerate(rates)), gold, gold.labels)
    again = [*items.truth[:N_AGAIN].tolist(), *[None] * (len(items.truth) - N_AGAIN)]
    return {
        "gold": gold,
        "stated": replace(gold, _label_errors=stated),
        "again": op.Outcomes.from_judged(models, human=again, judge=items.gold),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Whether the interval of each method contained the truth, and its width."""

    covered: tuple[bool, ...]
    width: tuple[float, ...]

    @classmethod
    def of(cls, ends: Sequence[Ends], truth: float) -> Self:
        """Return this of the methods' intervals."""
        return cls(
            covered=tuple(one.low <= truth <= one.high for one in ends),
            width=tuple(one.high - one.low for one in ends),
        )


def repeat(world: World, first: int, last: int) -> list[Held]:
    """Repeat the test sets ``first`` to ``last``, not included, of a world."""
    return [_repeat(world, number) for number in range(first, last)]


def _repeat(world: World, number: int) -> Held:
    place, true = WORLDS.index(world), true_difference(world)
    items = draw_items(world, N_ITEMS, np.random.default_rng([SEED, place, number]))
    ends = [
        interval(one, world.task, [SEED, place, number, which])
        for which, one in enumerate(_asked(items, world).values())
    ]
    return Held.of(ends, true)


Found = Mapping[World, Sequence[Held]]


def _shares(held: Sequence[Held]) -> list[float]:
    return [float(np.mean([one.covered[place] for one in held])) for place in range(len(METHODS))]


def table(found: Found) -> str:
    """Return one row a world."""
    head = [
        "errors of gold labels", "metric", "repetitions", "gold labels: covered", "stated rates",
        f"{N_AGAIN} given again", "width", "stated rates", f"{N_AGAIN} given again",
    ]  # fmt: skip
    rows = []
    for world, held in found.items():
        widths = [np.mean([one.width[place] for one in held]) for place in range(len(METHODS))]
        covered = [f"{share:.1%}" for share in _shares(held)]
        wide = [f"{one:.3f}" for one in widths]
        rows.append([world.kind, world.task, f"{len(held):,}", *covered, *wide])
    rates = " and ".join(
        " / ".join(f"{rate:.0%}" for rate in _CLASSES[task][1]) for task in ("f1", "f1_macro")
    )
    return markdown.table(head, rows, numbers_from=2) + (
        f"\n95% intervals of A − B by {N_DRAWS:,} draws, {N_ITEMS:,} items, of whose gold labels "
        f"{rates} of each class are wrong. Labels given again must hold from 92.5 to 98%, and "
        "stated rates where errors are independent of the models.\n"
    )


def failures(found: Found) -> list[str]:
    """Say where coverage leaves 92.5 to 98%."""
    told = []
    for world, held in found.items():
        _, stated, again = _shares(held)
        asked = {"given again": again}
        if world.kind == "independent":
            asked["stated"] = stated
        told += [
            f"label errors, {world.name}: {share:.1%} covered by labels {method}"
            for method, share in asked.items()
            if share_is_off(share, len(held), LEAST, MOST)
        ]
    return told
