"""Do the answers of a suite hold, on these tasks and on tasks like these?

A world is a population of tasks. Each has its own difficulty and its own true difference between
two models, which is drawn around a mean; items are right or wrong, and hard items are hard for
both. From each a suite is drawn. The interval of the mean over these tasks is held against the
true mean of the tasks that were drawn, that over tasks like these against the mean of the
population.

The gate is held against what it says of itself: how often it passes a candidate that is worse by
the margin on one task, and how often it fails one that is equal on all, beside Holm's procedure on
McNemar's test and on the paired t.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special, stats

import outperform as op
from outperform._typing import BoolArray, FloatArray
from outperform.comparison.result import summarize_comparison
from outperform.decision.intervals import Interval
from outperform.gates.result import Check, Gate
from outperform.inference import engine
from outperform.inference.question import Sampling
from outperform.inference.spec import make_spec
from outperform.inference.suite import average, questions
from outperform.suite.api import new_tasks, of_draws
from verification import markdown
from verification.chance import share_is_off

SEED = 20_261_117
ROPE = 0.01
LEAST, MOST = 0.925, 0.98
MOST_WRONG = 0.025
_N_DRAWS, _GATE_DRAWS = 2_000, 10_000
_HARD = 0.7  # correlation of the two models' latent ability over items

Shape = Literal["normal", "heavy", "skewed", "one apart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A population of tasks.

    Parameters
    ----------
    n_tasks
        How many a suite has.
    mean, spread
        Of the true differences of tasks.
    shape
        Of their distribution.
    sizes
        The least and the most items of a task.
    """

    n_tasks: int
    mean: float
    spread: float
    shape: Shape = "normal"
    sizes: tuple[int, int] = (200, 2_000)

    @property
    def name(self) -> str:
        """What to call it in a table."""
        return f"{self.n_tasks} tasks, {self.mean:+g} ± {self.spread:g}, {self.shape}"


WORLDS = (
    World(n_tasks=5, mean=0.02, spread=0.0),
    World(n_tasks=5, mean=0.02, spread=0.03),
    World(n_tasks=10, mean=0.0, spread=0.0),
    World(n_tasks=10, mean=0.02, spread=0.01),
    World(n_tasks=10, mean=0.02, spread=0.03),
    World(n_tasks=10, mean=0.02, spread=0.06),
    World(n_tasks=10, mean=0.02, spread=0.03, shape="heavy"),
    World(n_tasks=10, mean=0.02, spread=0.03, shape="skewed"),
    World(n_tasks=10, mean=0.0, spread=0.03, shape="one apart"),
    World(n_tasks=20, mean=0.0, spread=0.0),
    World(n_tasks=20, mean=0.01, spread=0.02),
    World(n_tasks=20, mean=0.02, spread=0.05, sizes=(50, 300)),
)


def effects(world: World, rng: np.random.Generator) -> FloatArray:
    """Draw the true differences of the tasks of one suite."""
    n = world.n_tasks
    if world.shape == "heavy":
        unit = rng.standard_t(3, size=n) / np.sqrt(3)
    elif world.shape == "skewed":
        unit = rng.exponential(size=n) - 1
    elif world.shape == "one apart":
        unit = np.where(rng.random(n) < 0.1, 3.0, -1 / 3)
    else:
        unit = rng.normal(size=n)
    return np.asarray(world.mean + world.spread * unit, dtype=np.float64)


def draw_task(
    n: int, share: float, difference: float, rng: np.random.Generator
) -> tuple[BoolArray, BoolArray]:
    """Draw who is right on each item: shares ``share ± difference / 2``."""
    hard = rng.normal(size=n)
    own = rng.normal(size=(2, n))
    latent = np.sqrt(_HARD) * hard + np.sqrt(1 - _HARD) * own
    shares = np.clip([share + difference / 2, share - difference / 2], 0.02, 0.98)
    bits = latent < special.ndtri(shares)[:, None]
    return bits[0], bits[1]


def draw_suite(
    true: FloatArray, sizes: tuple[int, int], rng: np.random.Generator
) -> dict[str, op.Outcomes]:
    """Draw the outcomes of every task."""
    low, high = np.log(sizes)
    tasks = {}
    for place, difference in enumerate(true):
        n = round(float(np.exp(rng.uniform(low, high))))
        a, b = draw_task(n, rng.uniform(0.4, 0.85), float(difference), rng)
        tasks[f"task {place}"] = op.Outcomes.from_correct({"a": a, "b": b})
    return tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Whether one suite's intervals held the truth, and how wide they were."""

    fixed: bool
    random: bool
    fixed_width: float
    random_width: float


def repeat(world: World, first: int, last: int) -> list[Held]:
    """Repeat the suites ``first`` to ``last``, not included, of a world."""
    return [_repeat(world, number) for number in range(first, last)]


def _repeat(world: World, number: int) -> Held:
    """Draw one suite, compare the models on it, and look whether the intervals held."""
    rng = np.random.default_rng([SEED, WORLDS.index(world), number])
    true = effects(world, rng)
    suite = op.Suite(draw_suite(true, world.sizes, rng), metrics="accuracy", ropes=ROPE)
    fixed, random = intervals(suite, seed=number)
    return Held(
        fixed=bool(fixed.low <= true.mean() <= fixed.high),
        random=bool(random.low <= world.mean <= random.high),
        fixed_width=fixed.high - fixed.low,
        random_width=random.high - random.low,
    )


def intervals(suite: op.Suite, *, seed: int) -> tuple[Interval, Interval]:
    """Return both intervals as ``op.compare`` has them, without those of each task, which cost."""
    asked = questions(suite, make_spec, prior=None, paired=True, labels=None, pos_label=None)
    how, draws, means, sds = average(suite, asked), [], [], []
    for place, one in enumerate(asked):
        stream = np.random.SeedSequence([seed, place])
        (answer,) = engine.answer([one.spec], Sampling(_N_DRAWS, stream))
        draws.append(answer.values[0] - answer.values[1])
        means.append(draws[-1].mean())
        sds.append(draws[-1].std(ddof=1))
    new = new_tasks(np.array(means), np.array(sds), how, 0.95)
    assert new is not None
    return of_draws(how.mean(draws), how, 0.95).hdi, new.hdi


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How often the intervals of a world held."""

    world: World
    n: int
    fixed: float
    random: float
    fixed_width: float
    random_width: float


def summarize(world: World, found: Sequence[Held]) -> Coverage:
    """Count what held."""

    def mean(name: str) -> float:
        return float(np.mean([getattr(one, name) for one in found]))

    return Coverage(
        world=world,
        n=len(found),
        fixed=mean("fixed"),
        random=mean("random"),
        fixed_width=mean("fixed_width"),
        random_width=mean("random_width"),
    )


def coverage_table(rows: Sequence[Coverage]) -> str:
    """Write one row a world."""
    head = [
        "tasks and their true differences", "repetitions", "these tasks", "tasks like these",
        "width", "width",
    ]  # fmt: skip
    cells = [
        [
            row.world.name,
            f"{row.n:,}",
            f"{row.fixed:.1%}",
            f"{row.random:.1%}",
            f"{row.fixed_width:.3f}",
            f"{row.random_width:.3f}",
        ]
        for row in rows
    ]
    return markdown.table(head, cells)


def coverage_failures(rows: Sequence[Coverage]) -> list[str]:
    """Say where coverage leaves 92.5 to 98%."""
    found = []
    for row in rows:
        for name in ("fixed", "random"):
            share = getattr(row, name)
            if share_is_off(share, row.n, LEAST, MOST):
                found.append(f"suites, {row.world.name}: {name} covers {share:.1%}")
    return found


# The gate over many tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the gate and the two tests said of one suite."""

    gate: str
    holm_mcnemar: bool
    holm_t: bool


GATE_TASKS = 20
GATE_SIZES = (3_000, 10_000)
CASES = {"equal on all": 0.0, "worse by the margin on one": -1.0}


def judge(case: str, first: int, last: int) -> list[Judged]:
    """Gate the suites ``first`` to ``last``, not included, of a case."""
    return [_judge(case, number) for number in range(first, last)]


def _judge(case: str, number: int, *, rope: float = 0.03) -> Judged:
    """Gate one suite of twenty tasks; a test blocks if Holm rejects equality on some task."""
    rng = np.random.default_rng([SEED, 1_000 + list(CASES).index(case), number])
    true = np.zeros(GATE_TASKS)
    true[0] = CASES[case] * rope
    low, high = np.log(GATE_SIZES)
    tasks, mcnemar, paired_t = {}, [], []
    for place, difference in enumerate(true):
        n = round(float(np.exp(rng.uniform(low, high))))
        a, b = draw_task(n, rng.uniform(0.6, 0.85), float(difference), rng)
        tasks[f"task {place}"] = op.Outcomes.from_correct({"new": a, "old": b})
        only = int((a & ~b).sum()), int((b & ~a).sum())
        # One-sided, as a gate asks: is the candidate worse?
        mcnemar.append(stats.binomtest(only[0], sum(only), alternative="less").pvalue)
        paired_t.append(
            stats.ttest_rel(a.astype(float), b.astype(float), alternative="less").pvalue
        )
    found = gated(op.Suite(tasks, metrics="accuracy", ropes=rope), seed=number)
    level = MOST_WRONG / GATE_TASKS  # Holm's first step, which is what some rejection takes
    return Judged(
        gate=found.status.value,
        holm_mcnemar=min(mcnemar) <= level,
        holm_t=min(paired_t) <= level,
    )


def gated(suite: op.Suite, *, seed: int) -> Gate:
    """Judge every task as ``op.gate`` does, by draws instead of closed forms, which cost."""
    asked = questions(suite, make_spec, prior=None, paired=True, labels=None, pos_label=None)
    checks = []
    for place, one in enumerate(asked):
        stream = np.random.SeedSequence([seed, place])
        (answer,) = engine.answer([one.spec], Sampling(_GATE_DRAWS, stream))
        sampled = replace(answer, of_models=(None, None), of_difference=None)
        found = summarize_comparison(one.spec, sampled, rope=one.rope, prob=0.95, seed=stream)
        checks.append(
            Check(comparison=found, require="not_worse", task=one.task, n_checks=len(asked))
        )
    return Gate(checks=tuple(checks))


def gate_table(found: Mapping[str, Sequence[Judged]]) -> str:
    """Write one row a case."""
    rows = []
    for case, some in found.items():
        shares = [np.mean([one.gate == word for one in some]) for word in _WORDS]
        tests = [np.mean([getattr(one, name) for one in some]) for name in _TESTS]
        rows.append([case, f"{len(some):,}", *(f"{share:.1%}" for share in (*shares, *tests))])
    head = ["candidate", "repetitions", *_WORDS, "blocked by Holm, McNemar", "by Holm, paired t"]
    return markdown.table(head, rows)


_WORDS = ("pass", "undecided", "fail")
_TESTS = ("holm_mcnemar", "holm_t")


def gate_failures(found: Mapping[str, Sequence[Judged]]) -> list[str]:
    """Say where the gate is wrong more often than it says."""
    wrong = {"equal on all": "fail", "worse by the margin on one": "pass"}
    told = []
    for case, some in found.items():
        share = float(np.mean([one.gate == wrong[case] for one in some]))
        if share_is_off(share, len(some), high=MOST_WRONG):
            told.append(f"suites, {case}: {wrong[case]} in {share:.1%}")
    return told
