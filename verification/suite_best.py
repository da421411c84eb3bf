"""Does P(best) over a suite come true, on these tasks and on tasks like these?

Every model has a true mean over the population of tasks, and every task moves every model up or
down by an amount of its own. Neither is drawn as the ranking supposes: means are spread evenly or
skewed, moves have heavy tails. Items are hard for all models. Of these tasks the best model is
the one of the greatest true mean over the tasks that were drawn, of tasks like these the one of
the greatest mean over the population.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy import special

import outperform as op
from outperform._typing import AnyArray, FloatArray
from outperform.decision.ranks import rank_probabilities
from outperform.inference import engine
from outperform.inference.question import Sampling
from outperform.inference.suite import average, questions
from outperform.posterior.rng import child
from outperform.ranking.result import make_joint_spec
from outperform.suite.api import p_best_elsewhere, pool_suite
from verification import markdown
from verification.best import BINS, Bin, reliability_of
from verification.chance import share_error, share_is_off

SEED = 20_261_118
REPETITIONS = 400
QUESTIONS = ("these tasks", "tasks like these")
N_TASKS, SIZES = 10, (200, 1_000)
_LEVELS = (0.5, 0.8)  # of a task, the average model
_SHARED = 0.7  # of the variance of an item's ease
_N_DRAWS = 1_000

Shape = Literal["even", "skewed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How many models there are, how far their means spread, and how far tasks move them."""

    n_models: int
    spread: float
    shape: Shape = "even"
    moved: float = 0.03

    @property
    def name(self) -> str:
        """What to call it in a table."""
        how = f", {self.shape}" if self.spread else ""
        return f"{self.n_models} models ± {self.spread:g}{how}; tasks ± {self.moved:g}"

    def differs(self, question: int) -> bool:
        """Return whether one model is truly the best, on these tasks or on tasks like these."""
        return self.spread > 0 or (QUESTIONS[question] == "these tasks" and self.moved > 0)


WORLDS = (
    World(n_models=3, spread=0.0, moved=0.0),
    World(n_models=8, spread=0.0, moved=0.0),
    World(n_models=3, spread=0.0),
    World(n_models=8, spread=0.0),
    World(n_models=3, spread=0.01, shape="skewed"),
    World(n_models=8, spread=0.01),
    World(n_models=3, spread=0.03),
    World(n_models=8, spread=0.03, shape="skewed"),
)


class Noted(NamedTuple):
    """What was claimed of every model in one suite, and which was the best, by question."""

    claims: tuple[FloatArray, FloatArray]
    best: tuple[int, int]


Found = Mapping[World, Sequence[Noted]]


def repeat(world: World, first: int, last: int) -> list[Noted]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    return [_note(world, repetition) for repetition in range(first, last)]


def _note(world: World, repetition: int) -> Noted:
    rng = np.random.default_rng([SEED, WORLDS.index(world), repetition])
    means = world.spread * _unit(world, rng)
    moves = world.moved * rng.standard_t(3, size=(N_TASKS, world.n_models)) / np.sqrt(3)
    levels = rng.uniform(*_LEVELS, size=(N_TASKS, 1))
    true = np.clip(levels + means + moves, 0.02, 0.98)
    low, high = np.log(SIZES)
    sizes = np.exp(rng.uniform(low, high, size=N_TASKS)).astype(int)
    tasks = {
        f"task {place}": _draw(int(n), shares, rng)
        for place, (n, shares) in enumerate(zip(sizes, true, strict=True))
    }
    suite = op.Suite(tasks, metrics="accuracy", ropes=0.01)
    # The first where all are equal, which none of them knows.
    best = int(true.mean(axis=0).argmax()) if world.moved or world.spread else 0
    return Noted(claimed(suite, seed=repetition), (best, int(means.argmax())))


def _unit(world: World, rng: np.random.Generator) -> FloatArray:
    """Draw values of sd 1, none of them normal."""
    if world.shape == "skewed":
        return np.asarray(rng.exponential(size=world.n_models) - 1)
    return np.asarray(rng.uniform(-np.sqrt(3), np.sqrt(3), size=world.n_models))


def _draw(n: int, shares: FloatArray, rng: np.random.Generator) -> op.Outcomes:
    ease = np.sqrt(_SHARED) * rng.normal(size=n)
    ease = ease + np.sqrt(1 - _SHARED) * rng.normal(size=(len(shares), n))
    right = ease < special.ndtri(shares)[:, None]
    return op.Outcomes.from_correct({f"m{place}": one for place, one in enumerate(right)})


def claimed(suite: op.Suite, *, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return both P(best) as ``op.rank`` has them, without the rankings of tasks, which cost."""
    asked = questions(suite, make_joint_spec, prior=None, paired=True, labels=None, pos_label=None)
    how, raw, root = average(suite, asked), [], np.random.SeedSequence(seed)
    for place, one in enumerate(asked):
        (answer,) = engine.answer([one.spec], Sampling(_N_DRAWS, child(root, place)))
        raw.append(answer.values)
    pooled = pool_suite(how.mean(raw), how, suite.n, child(root, len(raw)))
    means = np.stack([one.mean(axis=1) for one in raw])
    elsewhere = p_best_elsewhere(means, how, suite.n, _N_DRAWS, child(root, len(raw) + 1))
    assert elsewhere is not None
    return rank_probabilities(pooled)[:, 0], elsewhere


def reliability(found: Found, question: int, *, equal: bool = True) -> list[Bin]:
    """Return what became of the claims of every model, with or without worlds of equal models."""
    worlds = [world for world in found if equal or world.differs(question)]
    noted = [one for world in worlds for one in found[world]]
    if not noted:
        return []
    claims = np.concatenate([one.claims[question] for one in noted])
    places = [np.arange(len(one.claims[question])) for one in noted]
    true: AnyArray = np.concatenate(
        [place == one.best[question] for place, one in zip(places, noted, strict=True)]
    )
    return reliability_of(claims, true)


def table(found: Found) -> str:
    """Return what is said of the leader in every world, and what is true."""
    head = ["models and tasks"]
    for name in QUESTIONS:
        head += [f"{name}: P(best)", "is best"]
    rows = []
    for world, noted in found.items():
        row = [world.name]
        for question in range(len(QUESTIONS)):
            leaders = [int(one.claims[question].argmax()) for one in noted]
            claims = [
                one.claims[question][leader] for one, leader in zip(noted, leaders, strict=True)
            ]
            true = [
                leader == one.best[question] for one, leader in zip(noted, leaders, strict=True)
            ]
            share = float(np.mean(true))
            error = share_error(share, len(true))
            row += [f"{100 * np.mean(claims):.0f}", f"{100 * share:.0f} ± {100 * error:.0f}"]
        rows.append(row)
    each = len(next(iter(found.values())))
    return markdown.table(head, rows) + (
        f"\n{each:,} suites each of {N_TASKS} tasks with {SIZES[0]:,} to {SIZES[1]:,} items; what "
        "is said of the leader, in per cent, and how often it is the best. Where all models are "
        "equal one of them counts as the best.\n"
    )


def claims_table(found: Found) -> str:
    """Return how often the claims of all models came true."""
    head = ["P(best) on", "claims"]
    for name in ("models differ", "with worlds of equal models"):
        head += [f"{name}: claimed", "came true", "claims"]
    rows = []
    for question, name in enumerate(QUESTIONS):
        by_worlds = [reliability(found, question, equal=equal) for equal in (False, True)]
        for place, (low, high) in enumerate(BINS):
            row = [name, f"{low:g} to {high:g}"]
            for bins in by_worlds:
                one = bins[place]
                row += [f"{one.claimed:.3f}", f"{one.true:.3f} ± {one.error:.3f}", f"{one.n:,}"]
            rows.append(row)
    return markdown.table(head, rows, numbers_from=2) + (
        f"\nEvery model of every ranking in all {len(found)} worlds. Where models differ, claims "
        "must not exceed what came true by more than chance.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the claims that were too bold where one model is truly the best."""
    return [
        f"suites, {name}: claims of {one.claimed:.3f} came true in {one.true:.3f}"
        for question, name in enumerate(QUESTIONS)
        for one in reliability(found, question, equal=False)
        if share_is_off(one.true, one.n, one.claimed)
    ]
