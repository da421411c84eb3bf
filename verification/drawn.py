"""Do intervals hold if people look at items as complaints come in, and how is that noticed?

The judges and models are those of ``judges``. People look four times as often at answers of A that
are wrong, at items on which the models differ, at long answers, which are wrong more often, or at
items on which the judge tells the models apart. Each item is labelled with its probability and
independently of the others. The probabilities, or the design, are declared, and the intervals of
A − B and of A are held against the truth. The same labels without a declaration show how often a
decision is wrong, warned of, and let through a gate; declared as random they must be contradicted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

import outperform as op
from outperform._typing import AnyArray, BoolArray, FloatArray
from outperform.data.drawn import DrawnLike
from outperform.decision.hdi import narrowest
from outperform.gates.rule import GateStatus, judge
from outperform.inference import engine
from outperform.inference.items import draw_scores
from outperform.inference.judges import drawing_findings
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import Spec, counted, make_spec
from verification import markdown
from verification.chance import share_is_off
from verification.judges import N_DRAWS, N_ITEMS, Items, Kind, Task, draw_items

SEED = 20_261_118
REPETITIONS = 300
LEAST, LEAST_LEVEL, LEAST_NOTICED, MOST_UNNOTICED = 0.925, 0.90, 0.95, 0.05
_BESIDE = 40  # test sets that are compared without a declaration too
_TRUE_ITEMS = 1_000_000
_TIMES = 4.0
_ROPE = {"mean grade": 0.1}

Looks = Literal["complaints", "disagreements", "long answers", "the judge's disagreements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A judge, a metric, how many labels are expected, and where people look."""

    kind: Kind
    task: Task
    n_labels: int
    looks: Looks

    @property
    def name(self) -> str:
        """What to call it in a table."""
        return f"{self.looks}, {self.kind}, {self.task}, {self.n_labels} labels"

    @property
    def few(self) -> bool:
        """Whether the labels are so few that a warning is due instead of an interval that holds."""
        return self.n_labels < 100

    @property
    def shown(self) -> bool:
        """Whether the judge's ratings show where people looked."""
        return self.kind != "near random" and self.looks == "complaints" and not self.few


_WORLDS: tuple[tuple[Looks, Kind, Task, int], ...] = (
    ("complaints", "fair", "accuracy", 200),
    ("complaints", "near random", "accuracy", 200),
    ("complaints", "fair", "f1", 500),
    ("complaints", "fair", "f1_macro", 200),
    ("complaints", "fair", "mean grade", 200),
    ("complaints", "fair", "accuracy", 40),
    ("disagreements", "fair", "accuracy", 200),
    ("disagreements", "fair", "mean grade", 200),
    ("long answers", "fair", "accuracy", 200),
    ("long answers", "fair", "f1_macro", 200),
    ("the judge's disagreements", "fair", "accuracy", 200),
)
WORLDS = tuple(
    World(kind=kind, task=task, n_labels=n, looks=looks) for looks, kind, task, n in _WORLDS
)


def probabilities(world: World, items: Items, rng: np.random.Generator) -> FloatArray:
    """Return every item's probability of being labelled."""
    wrong, apart = _wrong(items), _apart(items)
    if world.looks == "complaints":
        often = np.where(wrong, _TIMES, 1.0)
    elif world.looks == "disagreements":
        often = np.where(apart, _TIMES, 1.0)
    elif world.looks == "long answers":
        often = np.exp(0.7 * (wrong + rng.normal(size=len(wrong))))
    else:
        often = np.where(items.judged[0] != items.judged[1], _TIMES, 1.0)
    found: FloatArray = np.minimum(often * world.n_labels / often.sum(), 1.0)
    return found


def _wrong(items: Items) -> BoolArray:
    """Return which answers of A are wrong, or graded below six."""
    a = items.models[0]
    if items.truth is not None:
        return np.asarray(a != items.truth)
    return np.asarray(a == 0) if a.max() <= 1 else np.asarray(a < 6)


def _apart(items: Items) -> BoolArray:
    a, b = items.models
    return np.asarray(a != b) if max(a.max(), b.max()) <= 4 else np.asarray(abs(a - b) > 1)


@lru_cache(maxsize=16)
def truth_of(kind: Kind, task: Task) -> tuple[float, float]:
    """Return the true metric of each model, by many items of which the truth is known."""
    items = draw_items(kind, task, _TRUE_ITEMS, np.random.default_rng([SEED, 7]))
    if items.truth is None:
        return float(items.models[0].mean()), float(items.models[1].mean())
    seen = op.Outcomes.from_labels(items.truth, {"a": items.models[0], "b": items.models[1]})
    positive = 1 if task == "f1" else None
    a, b = (op.estimate(seen, name, metric=task, pos_label=positive).observed for name in "ab")
    return a, b


def declared(items: Items, labelled: BoolArray, task: Task, drawn: DrawnLike | None) -> Spec:
    """Return the question about both models, with a design that is declared, or is not."""
    judged = {"a": items.judged[0], "b": items.judged[1]}
    seen: op.Outcomes | op.Scores
    if items.truth is None:
        human = {name: _known(one, labelled) for name, one in zip("ab", items.models, strict=True)}
        kind = op.Scores if task == "mean grade" else op.Outcomes
        seen = kind.from_judged(judged, human=human, drawn=drawn)
    else:
        seen = op.Outcomes.from_judged(
            judged, human=_known(items.truth, labelled), judge=items.judge, drawn=drawn
        )
    metric = None if task == "mean grade" else task
    positive = 1 if task == "f1" else None
    return make_spec(seen, metric=metric, prior=None, paired=True, labels=None, pos_label=positive)


def _known(values: AnyArray, labelled: BoolArray) -> FloatArray:
    return np.where(labelled, values, np.nan)


def _draws(spec: Spec, seed: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    stream = np.random.SeedSequence(seed)
    if isinstance(spec, ScoreSpec):
        a, b = draw_scores([spec], Sampling(N_DRAWS, stream))[0]
    else:
        spec = counted(spec)
        a, b = engine.draw_view(spec, spec.view, Sampling(N_DRAWS, stream))
    return a, b


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Whether intervals held the truth, and what was noticed; the last three are None if unasked.

    ``contradicted`` is of the same labels, declared as random; ``wrong``, ``unnoticed`` and
    ``through`` are of a comparison without a declaration: a firm decision that is false, one
    without a warning, and a gate that does not stay undecided.
    """

    difference: bool
    level: bool
    width: float
    warned: bool
    contradicted: bool
    wrong: bool | None
    unnoticed: bool | None
    through: bool | None


def repeat(world: World, first: int, last: int) -> list[Held]:
    """Repeat the test sets ``first`` to ``last``, not included, of a world."""
    return [_repeat(world, number) for number in range(first, last)]


def _repeat(world: World, number: int) -> Held:
    place = WORLDS.index(world)
    rng = np.random.default_rng([SEED, place, number])
    items = draw_items(world.kind, world.task, N_ITEMS, rng)
    chances = probabilities(world, items, rng)
    labelled = rng.random(N_ITEMS) < chances
    by_ratings = world.looks == "the judge's disagreements"
    spec = declared(items, labelled, world.task, "by_ratings" if by_ratings else chances)
    a, b = _draws(spec, [SEED, place, number])
    true_a, true_b = truth_of(world.kind, world.task)
    apart, level = narrowest(np.sort(a - b), 0.95), narrowest(np.sort(a), 0.95)
    names = {one.name for one in drawing_findings(spec)}
    bare = declared(items, labelled, world.task, None)
    random = declared(items, labelled, world.task, "random")
    wrong = unnoticed = through = None
    if number < _BESIDE:
        rope = _ROPE.get(world.task, 0.02)
        c = op.compare(
            bare.data,
            "a",
            "b",
            metric=spec.metric.name,
            pos_label=1 if world.task == "f1" else None,
            rope=rope,
            n_draws=N_DRAWS,
            random_state=number,
            n_jobs=1,
        )
        wrong = _is_false(c.decision.symbol, true_a - true_b, rope)
        unnoticed = wrong and all(one.level == "note" for one in c.findings)
        through = judge(c) is not GateStatus.UNDECIDED
    return Held(
        difference=apart.low <= true_a - true_b <= apart.high,
        level=level.low <= true_a <= level.high,
        width=apart.high - apart.low,
        warned=bool(names),
        contradicted=any(one.level == "serious" for one in drawing_findings(random)),
        wrong=wrong,
        unnoticed=unnoticed,
        through=through,
    )


def _is_false(symbol: str, true: float, rope: float) -> bool:
    """Return whether a firm decision is false."""
    return {"≫": true <= rope, "≪": true >= -rope, "≈": abs(true) > rope}.get(symbol, False)


Found = Mapping[World, Sequence[Held]]


def table(found: Found) -> str:
    """Return one row per world."""
    head = [
        "people look at", "judge", "metric", "human labels", "repetitions", "A − B covered",
        "A covered", "width", "warned", "as random: contradicted", "undeclared: false decisions",
        "unwarned", "gate decides",
    ]  # fmt: skip
    rows = [
        [
            world.looks,
            world.kind,
            world.task,
            f"{world.n_labels}",
            f"{len(held):,}",
            f"{np.mean([one.difference for one in held]):.1%}",
            f"{np.mean([one.level for one in held]):.1%}",
            f"{np.mean([one.width for one in held]):.3f}",
            *(f"{_share(held, name):.0%}" for name in ("warned", "contradicted")),
            *(f"{_share(held, name):.0%}" for name in ("wrong", "unnoticed", "through")),
        ]
        for world, held in found.items()
    ]
    return markdown.table(head, rows, numbers_from=3) + (
        f"\n95% intervals by {N_DRAWS:,} draws from {N_ITEMS:,} judged items, with the "
        "probabilities of being labelled declared; of the judge's disagreements, with "
        f'`drawn="by_ratings"`. The last three columns are of the first {_BESIDE} test sets '
        f"without a declaration. From 100 labels on, A − B must be covered in {LEAST:.1%} or more "
        f"and A in {LEAST_LEVEL:.0%}; fewer must be warned of in {LEAST_NOTICED:.0%}. If the "
        f"judge's ratings show complaints, random must be contradicted in {LEAST_NOTICED:.0%} and "
        f"false decisions without a warning given in {MOST_UNNOTICED:.0%} at most. Without a "
        "declaration no gate may decide.\n"
    )


def _share(held: Sequence[Held], name: str) -> float:
    known = [getattr(one, name) for one in held]
    return float(np.mean([one for one in known if one is not None]))


def failures(found: Found) -> list[str]:
    """Return the worlds that do not keep to what the table states."""
    broken = []
    for world, held in found.items():
        n = len(held)
        bounds = [("through", 0.0, 0.0)]
        if world.few:
            bounds.append(("warned", LEAST_NOTICED, 1.0))
        else:
            bounds += [("difference", LEAST, 1.0), ("level", LEAST_LEVEL, 1.0)]
        if world.shown:
            bounds += [("contradicted", LEAST_NOTICED, 1.0), ("unnoticed", 0.0, MOST_UNNOTICED)]
        for name, low, high in bounds:
            share = _share(held, name)
            size = min(n, _BESIDE) if name in ("through", "unnoticed") else n
            off = share > 0 if name == "through" else share_is_off(share, size, low, high)
            if off:
                broken.append(f"drawn, {world.name}: {share:.1%} {name}")
    return broken
