"""Do plans keep what they promise?

A world is drawn from a prior, a pilot from the world, and a plan is made from the pilot with the
same prior. Then the project is carried out: as many items as the plan says are drawn from
that world and compared; the number is that of the pilot at face value, ``least``. If the
posterior predictive is right, projects planned for a probability
of 0.8 reach their goal in 80% of all cases, though not in each world. Beside it: worlds that are
not like the planner's prior, and plans that take a pilot's rates for the truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import outperform as op
from outperform._typing import FloatArray
from verification import markdown
from verification.chance import share_error, share_is_off

SEED = 20_261_121
TARGET = 0.8
BOUNDS = (0.77, 0.83)
_N_SIMULATIONS = 150
_N_DRAWS = 500
_PROJECT_DRAWS = 5_200

# Shapes of what two classifiers do in items of either class, (truth, A, B): both are right in
# two items out of three, and each alone in one of twelve.
ALIKE = np.array([[[16.0, 2.0], [2.0, 4.0]], [[4.0, 2.0], [2.0, 16.0]]])
# A alone is right in one of four or five, B alone in one of twenty-two.
APART = np.array([[[14.0, 5.0], [1.0, 2.0]], [[2.0, 1.0], [5.0, 14.0]]])
UNIFORM = np.ones((2, 2, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanWorld:
    """Where worlds come from, what the planner believes, and what is planned for."""

    name: str
    goal: str = "decided"
    drawn: str = "alike"
    believed: str = "alike"
    pilot: int = 200
    certain: bool = False
    rope: float = 0.05
    gated: bool = True


_PLAN = PlanWorld(name="any decision")
WORLDS = (
    _PLAN,
    replace(_PLAN, name="≫, where A is better", goal="≫", drawn="apart", believed="apart"),
    replace(_PLAN, name="uniform prior for models that are alike", believed="uniform", gated=False),
    replace(_PLAN, name="the pilot's rates taken for the truth", certain=True, gated=False),
)
_SHAPES = {"alike": ALIKE, "apart": APART, "uniform": UNIFORM}


@dataclass(frozen=True, slots=True)
class Project:
    """One project: how many items the plan asked for, and whether they reached the goal."""

    n: int | None
    reached: bool
    foreseen: float  # the probability that the plan gives it


def draw_world(
    shapes: FloatArray,
    generator: np.random.Generator,
    *,
    prevalence: Sequence[float] = (10.0, 10.0),
) -> FloatArray:
    """Draw the probability of each cell (truth, A, B) from the prior."""
    classes = generator.dirichlet(prevalence)
    rows = [generator.dirichlet(row.ravel()).reshape(2, 2) for row in shapes]
    return np.stack([share * row for share, row in zip(classes, rows, strict=True)])


def items(world: FloatArray, n: int, generator: np.random.Generator) -> op.Outcomes:
    """Draw items from a world."""
    counts = generator.multinomial(n, world.ravel())
    truth, a, b = np.indices((2, 2, 2)).reshape(3, -1)
    return op.Outcomes.from_counts(truth, {"A": a, "B": b}, counts, labels=[0, 1])


def planned(world: PlanWorld, pilot: op.Outcomes, seed: int) -> op.results.Plan:
    """Plan from a pilot, or from its rates as if they were the truth."""
    shared: dict[str, Any] = {
        "goal": world.goal,
        "target": TARGET,
        "metric": "f1",
        "rope": world.rope,
        "n_simulations": _N_SIMULATIONS,
        "n_draws": _N_DRAWS,
        "random_state": seed,
        "n_jobs": 1,
    }
    prior = op.Prior(rows=_SHAPES[world.believed], prevalence=10.0)
    if not world.certain:
        return op.plan(pilot=pilot, prior=prior, **shared)
    both, only_a, only_b, neither = pilot.agreement(1)
    correct, only_a_wrong = pilot.agreement(0)[0], pilot.agreement(0)[2]
    only_b_wrong, wrong = pilot.agreement(0)[1], pilot.agreement(0)[3]
    return op.plan(
        scenario={
            "theta_pos": _rates(both, only_a, only_b, neither),
            "theta_neg": _rates(wrong, only_a_wrong, only_b_wrong, correct),
            "prevalence": sum(pilot.agreement(1)) / pilot.n,
        },
        prior=prior,
        **shared,
    )


def _rates(*counts: int) -> dict[str, float]:
    total = sum(counts)
    return {key: count / total for key, count in zip(("11", "10", "01", "00"), counts, strict=True)}


def repeat(world: PlanWorld, first: int, last: int) -> list[Project]:
    """Carry out projects ``first`` to ``last`` (not included)."""
    found = []
    for repetition in range(first, last):
        generator = np.random.default_rng([SEED, WORLDS.index(world), repetition])
        truth = draw_world(_SHAPES[world.drawn], generator)
        pilot = items(truth, world.pilot, generator)
        plan = planned(world, pilot, repetition)
        found.append(_carried_out(world, truth, plan, generator))
    return found


def _carried_out(
    world: PlanWorld, truth: FloatArray, plan: op.results.Plan, generator: np.random.Generator
) -> Project:
    if plan.least is None:
        return Project(n=None, reached=False, foreseen=plan.reached)
    result = op.compare(
        items(truth, plan.least, generator),
        "A",
        "B",
        metric="f1",
        rope=world.rope,
        prior=op.Prior(rows=_SHAPES[world.believed], prevalence=10.0),
        n_draws=_PROJECT_DRAWS,
        random_state=generator,
        n_jobs=1,
    )
    symbol = result.decision.symbol
    reached = result.decision.decided if world.goal == "decided" else symbol == world.goal
    return Project(n=plan.least, reached=reached, foreseen=plan.probability(plan.least))


Found = Mapping[PlanWorld, Sequence[Project]]


def _share(projects: Sequence[Project]) -> tuple[float, float]:
    made = [one.reached for one in projects if one.n is not None]
    share = float(np.mean(made)) if made else float("nan")
    return share, share_error(share, max(len(made), 1))


def table(found: Found) -> str:
    """Return how often planned projects reached their goal."""
    header = ("plan for", "projects", "not reachable", "median n", "reached", "wanted")
    rows = []
    for world, projects in found.items():
        sizes = [one.n for one in projects if one.n is not None]
        none = 1 - len(sizes) / len(projects)
        wanted = " to ".join(f"{100 * one:.0f}" for one in BOUNDS) if world.gated else ""
        reached = markdown.percent(*_share(projects))
        rows.append(
            [
                world.name,
                f"{len(projects):,}",
                f"{100 * none:.0f}%",
                f"{np.median(sizes):,.0f}",
                reached,
                wanted,
            ]
        )
    return markdown.table(header, rows) + (
        "\nOf the projects that a plan for 80% was made for, the per cent that reached their goal. "
        "Two classes, F1, ROPE ±0.05, pilots of 200 items; prior `uniform`.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the plans that do not keep what they promise."""
    missed = []
    for world, projects in found.items():
        share, _ = _share(projects)
        made = sum(one.n is not None for one in projects)
        if world.gated and share_is_off(share, made, *BOUNDS):
            missed.append(f"plans: {world.name}: {share:.3f} reached")
    return missed
