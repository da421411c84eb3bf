"""Do intervals hold against each of the three truths that several annotators leave open?

A world is two models and annotators with error rates of their own for each of two classes. The
interval of A − B is held against the difference by an annotator drawn at random, by the majority
with ties shared, and by the class that nobody saw. In the last world items that are hard for one
are hard for all, annotators and models, so that the model behind a latent truth is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

import outperform as op
from outperform._typing import FloatArray, IntArray
from outperform.data.annotators import Truth
from outperform.decision.hdi import narrowest
from outperform.inference import engine
from outperform.inference.question import Sampling
from outperform.inference.spec import counted, make_spec
from verification import markdown
from verification.chance import share_is_off

SEED = 20_261_119
LEAST, MOST = 0.925, 0.98
REPETITIONS = 300
N_ITEMS = 400
_N_DRAWS = 2_000
_TRUE_ITEMS = 1_000_000
_SHARES = (0.90, 0.84)
_POSITIVE = 0.4
_HARD = 0.15  # of the items, where there are hard ones


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How often annotators are right about each class, who labels, and the truth that is meant."""

    kind: str
    right: tuple[tuple[float, float], ...]  # of each annotator, about negatives and positives
    asked: float  # the share of items that each annotator labels
    hard: bool
    truth: Truth

    @property
    def gated(self) -> bool:
        """Whether what is assumed is so."""
        return not (self.hard and self.truth == "latent")


TRUTHS: tuple[Truth, ...] = ("random", "majority", "latent")
_EVEN = ((0.8, 0.8),) * 3
_UNEVEN = ((0.95, 0.7), (0.9, 0.6), (0.85, 0.75), (0.7, 0.8), (0.8, 0.8))
WORLDS = tuple(
    World(kind=kind, right=right, asked=asked, hard=hard, truth=truth)
    for kind, right, asked, hard in (
        ("3, all alike", _EVEN, 1.0, False),
        ("5, errors by class", _UNEVEN, 0.8, False),
        ("5, hard items", _UNEVEN, 0.8, True),
    )
    for truth in TRUTHS
)


class Items(NamedTuple):
    """The class of each item, what annotators said, −1 for nothing, and the models."""

    true: IntArray
    given: IntArray  # (n_items, n_annotators)
    models: tuple[IntArray, IntArray]


def draw_items(world: World, n: int, rng: np.random.Generator) -> Items:
    """Draw items of a world."""
    true = (rng.random(n) < _POSITIVE).astype(np.int64)
    hard = (rng.random(n) < _HARD) & world.hard

    def labels(share: FloatArray) -> IntArray:
        right = rng.random(n) < np.where(hard, 0.5, share)
        return np.asarray(np.where(right, true, 1 - true), dtype=np.int64)

    given = np.stack([labels(np.array(right)[true]) for right in world.right], axis=1)
    left_out = rng.random(given.shape) >= world.asked
    left_out[np.arange(n), rng.integers(0, given.shape[1], n)] = False
    given[left_out] = -1
    a, b = (labels(np.full(n, share)) for share in _SHARES)
    return Items(true, given, (a, b))


@lru_cache(maxsize=32)
def truth_of(world: World) -> float:
    """Return the true difference by the truth that is meant, from very many items."""
    items = draw_items(world, _TRUE_ITEMS, np.random.default_rng([SEED, 7]))
    if world.truth == "latent":
        positive = items.true.astype(np.float64)
    else:
        ones, n = (items.given == 1).sum(axis=1), (items.given >= 0).sum(axis=1)
        positive = ones / n
        if world.truth == "majority":
            positive = (np.sign(2 * ones - n) + 1) / 2
    a, b = (np.where(one == 1, positive, 1 - positive).mean() for one in items.models)
    return float(a - b)


def interval(items: Items, truth: Truth, seed: Sequence[int]) -> tuple[float, float]:
    """Return the 95% HDI of A − B as ``op.compare`` has it, from fewer draws."""
    given = np.where(items.given < 0, np.nan, items.given)
    models = {"a": items.models[0], "b": items.models[1]}
    seen = op.Outcomes.from_annotators(given, models, truth=truth)
    spec = counted(
        make_spec(seen, metric="accuracy", prior=None, paired=True, labels=None, pos_label=None)
    )
    stream = np.random.SeedSequence(seed)
    a, b = engine.draw_view(spec, spec.view, Sampling(_N_DRAWS, stream))
    hdi = narrowest(np.sort(a - b), 0.95)
    return hdi.low, hdi.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Whether the interval held the truth, and its ends."""

    covered: bool
    low: float
    high: float


def repeat(world: World, first: int, last: int) -> list[Held]:
    """Repeat the test sets ``first`` to ``last``, not included, of a world."""
    place, true = WORLDS.index(world), truth_of(world)
    found = []
    for number in range(first, last):
        # The three truths of a kind share their items.
        rng = np.random.default_rng([SEED, place // len(TRUTHS), number])
        items = draw_items(world, N_ITEMS, rng)
        low, high = interval(items, world.truth, [SEED, place, number])
        found.append(Held(covered=low <= true <= high, low=low, high=high))
    return found


Found = Mapping[World, Sequence[Held]]


def table(found: Found) -> str:
    """Return one row a world."""
    head = [
        "annotators", "truth", "repetitions", "true A − B", "mean middle", "covered", "width",
        "must hold",
    ]  # fmt: skip
    rows = [
        [
            world.kind,
            world.truth,
            f"{len(held):,}",
            f"{truth_of(world):.3f}",
            f"{np.mean([(one.low + one.high) / 2 for one in held]):.3f}",
            f"{np.mean([one.covered for one in held]):.1%}",
            f"{np.mean([one.high - one.low for one in held]):.3f}",
            "yes" if world.gated else "no",
        ]
        for world, held in found.items()
    ]
    return markdown.table(head, rows, numbers_from=2) + (
        f"\n95% intervals of the difference of accuracies by {_N_DRAWS:,} draws, from {N_ITEMS} "
        f"items. Hard items: everybody guesses on {_HARD:.0%} of them. Must hold: from 92.5 to "
        "98%.\n"
    )


def failures(found: Found) -> list[str]:
    """Say where coverage leaves 92.5 to 98%."""
    told = []
    for world, held in found.items():
        share = float(np.mean([one.covered for one in held]))
        if world.gated and share_is_off(share, len(held), LEAST, MOST):
            told.append(f"annotators, {world.kind}, {world.truth}: {share:.1%} covered")
    return told
