"""How many labels of people are saved where ``propose`` says which of the judged items they see?

A judge that is right in 85% looked at 2,000 items, and people look at those that are proposed. The
interval of A − B is held against the true difference. Beside it stand twice as many labels, drawn
at random, with the judge and without it, and as many that are proposed by the predictions alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from scipy import special

import outperform as op
from outperform._typing import FloatArray, IntArray
from verification import markdown
from verification.chance import share_is_off
from verification.judges import N_DRAWS, interval

SEED = 20_261_118
LEAST, MOST = 0.925, 0.98
N_ITEMS = 2_000
REPETITIONS = 1_000
# What stands beside shows in fewer repetitions.
_BESIDE = 100
_TRUE_ITEMS = 2_000_000
_RIGHT = 0.85
# Correlation of the two models' latent ability over items, and how often verdicts call them right.
_HARD, _SHARES = 0.64, (0.80, 0.76)

Says = Literal["verdicts, errors apart", "verdicts, errors shared", "classes"]
Task = Literal["accuracy", "f1"]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What the judge says, the metric, the share of positives, and how many labels there are."""

    says: Says
    task: Task
    prevalence: float | None
    budget: int

    @property
    def name(self) -> str:
        """What to call it in a failure."""
        rare = "" if self.prevalence is None else f", {self.prevalence:.0%} positive"
        return f"{self.says}, {self.task}{rare}, {self.budget} labels"


BUDGETS = (100, 200)
_VERDICTS: tuple[Says, ...] = ("verdicts, errors apart", "verdicts, errors shared")
_TASKS: tuple[Task, ...] = ("accuracy", "f1")
WORLDS = (
    *(
        World(says=says, task="accuracy", prevalence=None, budget=n)
        for says in _VERDICTS
        for n in BUDGETS
    ),
    *(
        World(says="classes", task=task, prevalence=share, budget=n)
        for task in _TASKS
        for share in (0.05, 0.3)
        for n in BUDGETS
    ),
)


class Items(NamedTuple):
    """Predictions, or whether they are right; the truth; and what the judge says of either."""

    models: IntArray  # (2, n)
    truth: IntArray | None
    judge: IntArray  # of verdicts (2, n), of classes (n,)


def draw_items(world: World, n: int, rng: np.random.Generator) -> Items:
    """Draw items of a world."""
    latent = np.sqrt(_HARD) * rng.normal(size=n) + np.sqrt(1 - _HARD) * rng.normal(size=(2, n))
    if world.prevalence is None:
        right = latent < special.ndtri(np.array(_SHARES))[:, None]
        wrong = rng.random((2, n)) < 1 - _RIGHT
        if world.says == "verdicts, errors shared":  # the judge stumbles, over each answer or not
            wrong = (rng.random(n) < 2 * (1 - _RIGHT)) & (rng.random((2, n)) < 0.5)
        return Items(right.astype(np.int64), None, (right ^ wrong).astype(np.int64))
    truth = (rng.random(n) < world.prevalence).astype(np.int64)
    limit = np.full(n, special.ndtri(0.88))
    if world.prevalence < 0.1:  # errors on as many of the others would drown a rare class
        limit = special.ndtri(np.where(truth == 1, 0.75, 0.985))
    models = np.where(latent + np.array([[-0.1], [0.1]]) < limit, truth, 1 - truth)
    judge = np.where(rng.random(n) < _RIGHT, truth, 1 - truth)
    return Items(models, truth, judge)


@lru_cache(maxsize=32)
def truth_of(world: World) -> float:
    """Return the true difference, by many items of which the truth is known."""
    items = draw_items(world, _TRUE_ITEMS, np.random.default_rng([SEED, 7]))
    a, b = items.models
    if items.truth is None:
        return float(a.mean() - b.mean())
    if world.task == "accuracy":
        return float((a == items.truth).mean() - (b == items.truth).mean())
    values = [2 * (one & items.truth).sum() / (one.sum() + items.truth.sum()) for one in (a, b)]
    return float(values[0] - values[1])


def proposed(world: World, items: Items, seed: int, *, judge: bool = True) -> op.Outcomes:
    """Let people label what is proposed, with the judge or by the predictions alone."""
    if items.truth is None:
        a, b = items.judge
        found = op.propose(a, b, budget=world.budget, verdicts=True, random_state=seed)
        return found.outcomes(dict(zip("AB", items.models[:, found.items], strict=True)))
    a, b = items.models
    found = op.propose(
        a,
        b,
        budget=world.budget,
        metric=world.task,
        judge=items.judge if judge else None,
        pos_label=_positive(world),
        random_state=seed,
    )
    return found.outcomes(items.truth[found.items])


def at_random(items: Items, n: int, *, judge: bool) -> op.Outcomes:
    """Let people label the first items, with the judge or without."""
    models = dict(zip("AB", items.models[:, :n], strict=True))
    if items.truth is None and not judge:
        return op.Outcomes.from_correct(models)
    if items.truth is None:
        said = dict(zip("AB", items.judge, strict=True))
        human = {name: _known(one, items.models.shape[1]) for name, one in models.items()}
        return op.Outcomes.from_judged(said, human=human)
    if not judge:
        return op.Outcomes.from_labels(items.truth[:n], models, labels=[0, 1])
    everything = dict(zip("AB", items.models, strict=True))
    known = _known(items.truth[:n], len(items.truth))
    return op.Outcomes.from_judged(everything, human=known, judge=items.judge)


def _known(values: IntArray, n: int) -> list[int | None]:
    return [*values.tolist(), *[None] * (n - len(values))]


def _positive(world: World) -> int | None:
    return 1 if world.task == "f1" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Whether the interval held the truth, and widths.

    With the proposed labels, with twice as many at random without the judge and with it, and with
    as many proposed by the predictions alone; NaN where there are none.
    """

    covered: bool
    width: tuple[float, float, float, float]


def repeat(world: World, first: int, last: int) -> list[Held]:
    """Repeat the test sets ``first`` to ``last``, not included, of a world."""
    return [_repeat(world, number) for number in range(first, last)]


def _repeat(world: World, number: int) -> Held:
    place, twice = WORLDS.index(world), 2 * world.budget
    items = draw_items(world, N_ITEMS, np.random.default_rng([SEED, place, number]))
    seen = [proposed(world, items, number)]
    if number < _BESIDE:
        seen += [at_random(items, twice, judge=False), at_random(items, twice, judge=True)]
        if items.truth is not None:
            seen.append(proposed(world, items, number, judge=False))
    ends = [
        interval(one, world.task, [SEED, place, number, which]) for which, one in enumerate(seen)
    ]
    widths = [one.high - one.low for one in ends] + [np.nan] * (4 - len(ends))
    return Held(
        covered=ends[0].low <= truth_of(world) <= ends[0].high,
        width=(widths[0], widths[1], widths[2], widths[3]),
    )


Found = Mapping[World, Sequence[Held]]


def table(found: Found) -> str:
    """Return one row a world."""
    head = [
        "the judge gives", "metric", "positive", "labels", "repetitions", "covered", "width",
        "twice, people alone", "twice, with the judge", "as many, no judge", "worth",
    ]  # fmt: skip
    rows = [_row(*one) for one in found.items()]
    return markdown.table(head, rows, numbers_from=2) + (
        f"\n95% intervals of A − B by {N_DRAWS:,} draws, from {N_ITEMS:,} items that a judge "
        "looked at, right in 85%; people look at those that are proposed. Median widths; beside "
        "them those of twice as many labels, drawn at random, without the judge and with it, and "
        "of as many labels that are proposed by the predictions alone, from the first "
        f"{_BESIDE} repetitions. Worth: so many labels at random without a judge would give an "
        "interval as narrow.\n"
    )


def _row(world: World, held: Sequence[Held]) -> list[str]:
    widths = median_widths(held)
    worth = 2 * world.budget * (widths[1] / widths[0]) ** 2
    return [
        world.says,
        world.task,
        "–" if world.prevalence is None else f"{world.prevalence:.0%}",
        f"{world.budget:,}",
        f"{len(held):,}",
        f"{np.mean([one.covered for one in held]):.1%}",
        *("–" if np.isnan(one) else f"{one:.3f}" for one in widths),
        f"{worth:,.0f}",
    ]


def median_widths(held: Sequence[Held]) -> FloatArray:
    """Return the median of every width over the repetitions that have it; NaN if none has."""
    widths = np.array([one.width for one in held]).T
    kept = [one[~np.isnan(one)] for one in widths]
    return np.array([np.median(one) if one.size else np.nan for one in kept])


def failures(found: Found) -> list[str]:
    """Say where coverage leaves 92.5 to 98%, or half of the labels are not enough for classes."""
    told = []
    for world, held in found.items():
        share = float(np.mean([one.covered for one in held]))
        if share_is_off(share, len(held), LEAST, MOST):
            told.append(f"proposed, {world.name}: {share:.1%} covered")
        ours, people = median_widths(held)[:2]
        if world.says == "classes" and ours > people:
            told.append(
                f"proposed, {world.name}: {ours / people:.2f} times as wide as twice as many"
            )
    return told
