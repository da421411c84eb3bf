"""Do intervals contain the difference elsewhere, where some gold labels are wrong?

A balanced test set has gold labels that err by class, and the models are used where the true
classes have other shares. Both are known. Three answers are compared with the true difference
there: the shares replaced and errors undone, the shares replaced only, and errors undone only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

import outperform as op
from outperform import metrics
from outperform._typing import FloatArray, IntArray
from outperform.data.prevalence import LabelErrors
from verification import markdown
from verification.chance import share_error, share_is_off
from verification.judges import N_DRAWS, interval
from verification.label_errors import Held

SEED = 20_261_123
LEAST, MOST = 0.925, 0.98
REPETITIONS = 1_000
N_ITEMS = 1_000
# On so many items of the test set both models have the same luck.
_SHARED = 0.5

Task = Literal["accuracy", "f1", "f1_macro"]
Level = Literal["few", "some", "many"]
_TWO = np.array([[[0.95, 0.05], [0.15, 0.85]], [[0.91, 0.09], [0.10, 0.90]]])
_THREE = np.array(
    [
        [[0.92, 0.05, 0.03], [0.06, 0.86, 0.08], [0.06, 0.10, 0.84]],
        [[0.88, 0.06, 0.06], [0.05, 0.88, 0.07], [0.04, 0.06, 0.90]],
    ]
)
# P(prediction | true class) of A and of B.
_RATES: Mapping[Task, FloatArray] = {"accuracy": _TWO, "f1": _TWO, "f1_macro": _THREE}
# How often the gold label of each class is wrong.
_ERRORS: Mapping[int, Mapping[Level, tuple[float, ...]]] = {
    2: {"few": (0.01, 0.02), "some": (0.03, 0.08), "many": (0.06, 0.15)},
    3: {"few": (0.01, 0.02, 0.02), "some": (0.03, 0.06, 0.08), "many": (0.05, 0.10, 0.15)},
}
_THERE = {2: (0.9, 0.1), 3: (0.7, 0.2, 0.1)}
METHODS = ("both", "shares only", "errors only")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A metric, and how many gold labels are wrong."""

    task: Task
    level: Level

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(_RATES[self.task][0])

    @property
    def errors(self) -> tuple[float, ...]:
        """How often the gold label of each class is wrong."""
        return _ERRORS[self.n_classes][self.level]

    @property
    def shares(self) -> tuple[float, ...]:
        """The shares of the true classes where the models are used."""
        return _THERE[self.n_classes]


TASKS: tuple[Task, ...] = ("accuracy", "f1", "f1_macro")
LEVELS: tuple[Level, ...] = ("few", "some", "many")
WORLDS = tuple(World(task=task, level=level) for task in TASKS for level in LEVELS)


def true_difference(world: World) -> float:
    """Return the true A − B where the models are used, from their rates."""
    metric = metrics.get(world.task)
    classes = (1,) if metric.average == "binary" else None
    shares = np.array(world.shares)[:, None]
    a, b = (
        float(metric.evaluate(metrics.Margins.from_confusion(shares * rates), classes))
        for rates in _RATES[world.task]
    )
    return a - b


def draw_items(world: World, n: int, rng: np.random.Generator) -> tuple[IntArray, ...]:
    """Draw gold labels of a balanced test set and the predictions of A and of B."""
    k = world.n_classes
    truth = rng.integers(0, k, n)
    wrong = rng.random(n) < np.array(world.errors)[truth]
    gold = np.where(wrong, (truth + rng.integers(1, k, n)) % k, truth)
    luck, own = rng.random((2, n))
    lucks = luck, np.where(rng.random(n) < _SHARED, luck, own)
    predictions = [
        (lucky[:, None] > rates[truth].cumsum(axis=1)[:, :-1]).sum(axis=1)
        for rates, lucky in zip(_RATES[world.task], lucks, strict=True)
    ]
    return gold, *predictions


def _asked(world: World, items: Sequence[IntArray]) -> list[op.Outcomes]:
    gold, a, b = items
    classes = [*range(world.n_classes)]
    seen = op.Outcomes.from_labels(gold, {"a": a, "b": b}, labels=classes)
    rates = dict(enumerate(world.errors))
    errors = LabelErrors.from_param(rates, seen, seen.labels)
    there = seen.at_prevalence(dict(enumerate(world.shares)))
    return [replace(there, _label_errors=errors), there, replace(seen, _label_errors=errors)]


def repeat(world: World, first: int, last: int) -> list[Held]:
    """Repeat the test sets ``first`` to ``last``, not included, of a world."""
    return [_repeat(world, number) for number in range(first, last)]


def _repeat(world: World, number: int) -> Held:
    place, true = WORLDS.index(world), true_difference(world)
    items = draw_items(world, N_ITEMS, np.random.default_rng([SEED, place, number]))
    ends = [
        interval(one, world.task, [SEED, place, number, which])
        for which, one in enumerate(_asked(world, items))
    ]
    return Held.of(ends, true)


Found = Mapping[World, Sequence[Held]]


def _covered(held: Sequence[Held]) -> FloatArray:
    shares: FloatArray = np.mean([one.covered for one in held], axis=0)
    return shares


def table(found: Found) -> str:
    """Return one row a world."""
    head = ["metric", "wrong gold labels", "true difference", "test sets", "covered", "width"]
    head += ["shares only: covered", "errors only: covered"]
    rows = []
    for world, held in found.items():
        shown = [markdown.percent(share, share_error(share, len(held))) for share in _covered(held)]
        rows.append(
            [
                world.task,
                " / ".join(f"{rate:.0%}" for rate in world.errors),
                f"{true_difference(world):+.4f}",
                f"{len(held):,}",
                shown[0],
                f"{np.mean([one.width[0] for one in held]):.3f}",
                *shown[1:],
            ]
        )
    there = " and ".join(" / ".join(f"{share:.0%}" for share in one) for one in _THERE.values())
    return markdown.table(head, rows, numbers_from=1) + (
        "\nCoverage in per cent, with its standard error, of 95% intervals of A − B by "
        f"{N_DRAWS:,} draws, from balanced test sets of {N_ITEMS:,} items. Gold labels err at the "
        f"stated rates, by true class, and the true classes have shares of {there} where the "
        "models are used. "
        "Shares only takes all gold labels as right; errors only keeps the shares of the test set. "
        "With both known, coverage must lie between 92.5 and 98%.\n"
    )


def failures(found: Found) -> list[str]:
    """Say where coverage leaves 92.5 to 98%."""
    return [
        f"true shares, {world.task}, {world.level} wrong: {share:.1%} covered"
        for world, held in found.items()
        if share_is_off(share := float(_covered(held)[0]), len(held), LEAST, MOST)
    ]
