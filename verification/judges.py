"""Do intervals hold where a judge looked at all items and people at some?

A world is two models, the truth, and a judge: a fair one, one that is lenient to the first model,
one whose errors grow with a covariate that it likes (longer answers, say), and one that is next to
random. It says right or wrong, one of two classes or of five, or a grade from 1 to 10. Of 2,000
judged items people label some at random. The interval of A − B is held against the true
difference, and beside it stand the labels of people alone, the judge alone and, where the metric is
a mean, PPI++ with its tuned weight and a normal interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from scipy import special

import outperform as op
from outperform._typing import BoolArray, FloatArray, IntArray
from outperform.decision.hdi import narrowest
from outperform.inference import engine
from outperform.inference.items import draw_scores
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import counted, make_spec
from verification import markdown
from verification.chance import share_is_off

SEED = 20_261_117
LEAST, MOST = 0.925, 0.98
N_ITEMS = 2_000
N_DRAWS = 2_000
REPETITIONS = 1_000
# What stands beside shows in fewer repetitions.
_BESIDE = 60
_TRUE_ITEMS = 2_000_000
_HARD = 0.64  # correlation of the two models' latent ability over items
_TWICE = 1.959964
# Right as often as this; and the share of the positive class where there are classes.
_SHARES, _RARE = (0.80, 0.76), 0.05
_CLASSES = np.array([0.35, 0.25, 0.20, 0.12, 0.08])
_FEW = 10

Kind = Literal["fair", "lenient to A", "likes length", "near random"]
Task = Literal["accuracy", "f1", "f1_macro", "mean grade"]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A judge, a metric, and how many items people label."""

    kind: Kind
    task: Task
    n_labels: int

    @property
    def name(self) -> str:
        """What to call it in a table."""
        return f"{self.kind}, {self.task}, {self.n_labels:,} labels"

    @property
    def gated(self) -> bool:
        """Whether people are expected to label ten items of every class."""
        rarest = {"f1": _RARE, "f1_macro": float(_CLASSES.min())}.get(self.task, 1.0)
        return rarest * self.n_labels >= _FEW


KINDS: tuple[Kind, ...] = ("fair", "lenient to A", "likes length", "near random")
TASKS: tuple[Task, ...] = ("accuracy", "f1", "f1_macro", "mean grade")
LABELS = (50, 100, 300, 1_000)
WORLDS = tuple(
    World(kind=kind, task=task, n_labels=n) for task in TASKS for kind in KINDS for n in LABELS
)


class Items(NamedTuple):
    """What each model said, or whether it was right; by people, and by the judge."""

    models: tuple[IntArray, IntArray]  # predictions; else the people's verdicts or grades
    truth: IntArray | None
    judged: tuple[IntArray, IntArray]  # of classes the same predictions
    judge: IntArray | None


def draw_items(kind: Kind, task: Task, n: int, rng: np.random.Generator) -> Items:
    """Draw items of a world."""
    hard, length = rng.normal(size=n), rng.normal(size=n)
    own = rng.normal(size=(2, n))
    latent = np.sqrt(_HARD) * hard + np.sqrt(1 - _HARD) * own
    right = latent < special.ndtri(np.array(_SHARES))[:, None]
    if task == "accuracy":
        verdicts = [_verdicts(kind, place, right[place], length, rng) for place in range(2)]
        a, b = right.astype(np.int64)
        return Items((a, b), None, (verdicts[0], verdicts[1]), None)
    if task == "mean grade":
        people = [_grade(6.2 - 1.6 * latent[place] + 0.2 * (1 - place)) for place in range(2)]
        grades = [_grades(kind, place, people[place], length, rng) for place in range(2)]
        return Items((people[0], people[1]), None, (grades[0], grades[1]), None)
    if task == "f1_macro":
        return _of_classes(kind, right, length, rng)
    truth = (rng.random(n) < _RARE).astype(np.int64)
    # Errors on as many of the others would drown a rare class.
    limit = np.where(truth == 1, special.ndtri(0.75), special.ndtri(0.985))
    right = latent + np.array([[-0.1], [0.1]]) < limit
    a, b = np.where(right, truth, 1 - truth)
    judge = np.where(_agrees(kind, length, truth, rng), truth, 1 - truth)
    if kind == "lenient to A":  # it follows the model that it likes
        judge = np.where(rng.random(n) < 0.3, a, judge)
    return Items((a, b), truth, (a, b), judge)


def _of_classes(
    kind: Kind, right: BoolArray, length: FloatArray, rng: np.random.Generator
) -> Items:
    """Draw predictions and the judge's classes among five; errors go to classes nearby."""
    n, n_classes = right.shape[1], len(_CLASSES)
    truth: IntArray = np.asarray(rng.choice(n_classes, size=n, p=_CLASSES))
    # Rarer classes are harder, for the models and for the judge.
    spoilt = rng.random((2, n)) < 0.15 * (truth >= 3)
    a, b = np.where(right & ~spoilt, truth, _another(truth, rng.choice([1, 2, 4], size=(2, n))))
    found = _agrees(kind, length, truth, rng) & (rng.random(n) > 0.1 * (truth >= 3))
    judge = np.where(found, truth, _another(truth, rng.choice([1, 4], size=n)))
    if kind == "lenient to A":
        judge = np.where(rng.random(n) < 0.3, a, judge)
    return Items((a, b), truth, (a, b), judge)


def _another(truth: IntArray, steps: IntArray) -> IntArray:
    found: IntArray = (truth + steps) % len(_CLASSES)
    return found


def _grade(value: FloatArray) -> IntArray:
    """Return a grade from 1 to 10."""
    found: IntArray = np.clip(np.round(value), 1, 10).astype(np.int64)
    return found


def _grades(
    kind: Kind, place: int, people: IntArray, length: FloatArray, rng: np.random.Generator
) -> IntArray:
    """Draw the grades that the judge gives a model's answers."""
    noise = rng.normal(size=len(people))
    if kind == "fair":
        return _grade(people + noise)
    if kind == "lenient to A":  # and the more so, the worse an answer is
        return _grade(people + (1 - place) * 0.3 * (10 - people) + noise)
    if kind == "likes length":
        return _grade(people + 1.5 * length - 0.5 * place + 0.7 * noise)
    return _grade(5.5 + 0.1 * people + 2.0 * noise)


def _verdicts(
    kind: Kind, place: int, right: BoolArray, length: FloatArray, rng: np.random.Generator
) -> IntArray:
    """Draw what the judge says of a model's answers."""
    if kind == "fair":
        yes, no = np.full(len(right), 0.93), np.full(len(right), 0.15)
    elif kind == "lenient to A":
        yes, no = np.full(len(right), (0.98, 0.9)[place]), np.full(len(right), (0.5, 0.1)[place])
    elif kind == "likes length":
        yes = special.expit(2.5 + length)
        no = special.expit(1.5 * length - 1.5) * (1.0, 0.6)[place]
    else:
        yes, no = np.full(len(right), 0.55), np.full(len(right), 0.5)
    said: IntArray = (rng.random(len(right)) < np.where(right, yes, no)).astype(np.int64)
    return said


def _agrees(kind: Kind, length: FloatArray, truth: IntArray, rng: np.random.Generator) -> BoolArray:
    """Draw on which items the judge finds the true class."""
    if kind == "likes length":
        chance = special.expit(2.5 + 1.5 * length)
    else:
        chance = np.full(len(truth), {"fair": 0.95, "lenient to A": 0.95}.get(kind, 0.55))
    found: BoolArray = rng.random(len(truth)) < chance
    return found


@lru_cache(maxsize=32)
def truth_of(kind: Kind, task: Task) -> float:
    """Return the true difference, by many items of which the truth is known."""
    items = draw_items(kind, task, _TRUE_ITEMS, np.random.default_rng([SEED, 7]))
    if items.truth is None:
        return float(items.models[0].mean() - items.models[1].mean())
    classes = [1] if task == "f1" else range(len(_CLASSES))
    a, b = (np.mean([_f1(items.truth, one, code) for code in classes]) for one in items.models)
    return float(a - b)


def _f1(truth: IntArray, predicted: IntArray, code: int) -> float:
    true, said = truth == code, predicted == code
    return float(2 * (true & said).sum() / (true.sum() + said.sum()))


def _people(items: Items, n: int, task: Task) -> op.Outcomes | op.Scores:
    """Return what people say of the first items, without a judge."""
    models = {"a": items.models[0][:n], "b": items.models[1][:n]}
    if task == "mean grade":
        return op.Scores.from_values(models)
    if items.truth is None:
        return op.Outcomes.from_correct(models)
    labels = range(2 if task == "f1" else len(_CLASSES))
    return op.Outcomes.from_labels(items.truth[:n], models, labels=[*labels])


def _judge_alone(items: Items, task: Task) -> op.Outcomes | op.Scores:
    models = {"a": items.judged[0], "b": items.judged[1]}
    if task == "mean grade":
        return op.Scores.from_values(models)
    if items.judge is None:
        return op.Outcomes.from_correct(models)
    return op.Outcomes.from_labels(items.judge, models)


def judged(items: Items, n: int, task: Task) -> op.Outcomes | op.Scores:
    """Return the judge's verdicts on all items beside people's on the first ones."""
    models = {"a": items.judged[0], "b": items.judged[1]}
    if items.truth is None:
        human = {name: _known(one, n) for name, one in zip("ab", items.models, strict=True)}
        kind = op.Scores if task == "mean grade" else op.Outcomes
        return kind.from_judged(models, human=human)
    return op.Outcomes.from_judged(models, human=_known(items.truth, n), judge=items.judge)


def _known(values: IntArray, n: int) -> list[int | None]:
    return [*values[:n].tolist(), *[None] * (len(values) - n)]


class Ends(NamedTuple):
    """The ends of an interval."""

    low: float
    high: float


def interval(seen: op.Outcomes | op.Scores, task: Task, seed: Sequence[int]) -> Ends:
    """Return the 95% HDI of A − B as ``op.compare`` has it, from fewer draws."""
    metric = None if task == "mean grade" else task
    positive = 1 if task == "f1" else None
    spec = make_spec(seen, metric=metric, prior=None, paired=True, labels=None, pos_label=positive)
    stream = np.random.SeedSequence(seed)
    if isinstance(spec, ScoreSpec):
        a, b = draw_scores([spec], Sampling(N_DRAWS, stream))[0]
    else:
        spec = counted(spec)
        a, b = engine.draw_view(spec, spec.view, Sampling(N_DRAWS, stream))
    hdi = narrowest(np.sort(a - b), 0.95)
    return Ends(hdi.low, hdi.high)


def ppi(items: Items, n: int) -> Ends:
    """Return the PPI++ interval of the difference of two means, with the tuned weight."""
    (a, b), (ja, jb) = items.models, items.judged
    gold = (a - b)[:n].astype(np.float64)
    near, far = (ja - jb)[:n].astype(np.float64), (ja - jb)[n:].astype(np.float64)
    n_far = len(far)
    spread = np.concatenate([near, far]).var()
    weight = np.cov(gold, near, bias=True)[0, 1] / ((1 + n / n_far) * spread) if spread else 0.0
    weight = float(np.clip(weight, 0.0, 1.0))
    mean = weight * far.mean() + (gold - weight * near).mean()
    error = np.sqrt(weight**2 * far.var() / n_far + (gold - weight * near).var() / n)
    return Ends(float(mean - _TWICE * error), float(mean + _TWICE * error))


METHODS = ("ours", "people", "judge", "ppi")


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Whether each method's interval held the truth, and its width; NaN where there is none."""

    covered: tuple[float, ...]
    width: tuple[float, ...]


def repeat(world: World, first: int, last: int) -> list[Held]:
    """Repeat the test sets ``first`` to ``last``, not included, of a world."""
    return [_repeat(world, number) for number in range(first, last)]


def _repeat(world: World, number: int) -> Held:
    place, n = WORLDS.index(world), world.n_labels
    items = draw_items(
        world.kind, world.task, N_ITEMS, np.random.default_rng([SEED, place, number])
    )
    true = truth_of(world.kind, world.task)
    seen = [judged(items, n, world.task)]
    if number < _BESIDE:
        seen += [_people(items, n, world.task), _judge_alone(items, world.task)]
    ends: list[Ends | None] = [
        interval(one, world.task, [SEED, place, number, which]) for which, one in enumerate(seen)
    ]
    ends += [None] * (3 - len(ends))
    ends.append(ppi(items, n) if items.truth is None else None)
    return Held(
        covered=tuple(np.nan if one is None else one.low <= true <= one.high for one in ends),
        width=tuple(np.nan if one is None else one.high - one.low for one in ends),
    )


Found = Mapping[World, Sequence[Held]]


def table(found: Found) -> str:
    """Return one row a world."""
    head = [
        "judge", "metric", "human labels", "repetitions", "covered", "people alone",
        "judge alone", "PPI++", "width", "people alone", "judge alone", "PPI++", "worth",
        "must hold",
    ]  # fmt: skip
    rows = [_row(*one) for one in found.items()]
    return markdown.table(head, rows, numbers_from=2) + (
        f"\n95% intervals of A − B by {N_DRAWS:,} draws, from {N_ITEMS:,} judged items; people "
        f"label some at random. People alone and the judge alone: the first {_BESIDE} repetitions. "
        "Worth: so many labels without a judge would give an interval as narrow. Must hold: "
        f"where people are expected to label {_FEW} positive items, from 92.5 to 98%.\n"
    )


def _row(world: World, held: Sequence[Held]) -> list[str]:
    covered, width = (_means([getattr(one, name) for one in held]) for name in ("covered", "width"))
    beside = np.array([one.width[:2] for one in held])
    worth = float(np.nanmean((beside[:, 1] / beside[:, 0]) ** 2))
    return [
        world.kind,
        world.task,
        f"{world.n_labels:,}",
        f"{len(held):,}",
        *("–" if np.isnan(one) else f"{one:.1%}" for one in covered),
        *("–" if np.isnan(one) else f"{one:.3f}" for one in width),
        f"{worth * world.n_labels:,.0f}",
        "yes" if world.gated else "no",
    ]


def _means(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean of every column over the rows that have it; NaN if none has."""
    table = np.array(rows, dtype=np.float64)
    there = ~np.isnan(table)
    sums = np.where(there, table, 0.0).sum(axis=0)
    return [float(s / n) if n else np.nan for s, n in zip(sums, there.sum(axis=0), strict=True)]


def failures(found: Found) -> list[str]:
    """Say where coverage leaves 92.5 to 98%."""
    told = []
    for world, held in found.items():
        share = float(np.mean([one.covered[0] for one in held]))
        if world.gated and share_is_off(share, len(held), LEAST, MOST):
            told.append(f"judges, {world.name}: {share:.1%} covered")
    return told
