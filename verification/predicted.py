"""Is what a comparison predicts of more items right where the world follows its prior?

A world is drawn from a prior, a quarter of a test set from the world, and the quarter is compared.
Where it is undecided, normal theory predicts how probably the other three quarters decide, as
every comparison prints it; then they are drawn from the same world. With the world's own prior
every forecast must come true as often as it says, up to what is not normal. Beside it: the same
worlds compared with a uniform prior, as 20 Newsgroups are in :mod:`verification.more_data`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

import outperform as op
from outperform.planning.goals import firm_goal
from outperform.planning.more_data import outlook_of
from verification import markdown
from verification.chance import share_is_off
from verification.more_data import ROPE, Bin, bins
from verification.plans import UNIFORM, draw_world, items

SEED = 20_261_123
# Bins may be off by so many of their errors, and by this much, since metrics are not normal.
SLACK = 0.03
_N_DRAWS = 2_000
# What two of the classifiers do in a newsgroup and outside it, (truth, A, B): means and spreads
# over all groups and pairs, as Dirichlet shapes.
NEWSGROUP = np.array([[[194.0, 2.5], [2.5, 1.0]], [[5.5, 2.0], [2.0, 10.5]]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Futures:
    """Where worlds come from, what the comparison believes, and how many items there are."""

    name: str
    drawn: str
    prevalence: tuple[float, float]
    quarter: int
    believed: str | None = None  # None: what the worlds are drawn from

    @property
    def gated(self) -> bool:
        """Whether forecasts must come true."""
        return self.believed is None

    @property
    def prior(self) -> op.Prior:
        """What the comparison believes."""
        if self.believed is not None:
            return op.Prior.from_param(self.believed)
        return op.Prior(rows=_SHAPES[self.drawn], prevalence=list(self.prevalence))


_SHAPES = {"uniform": UNIFORM, "newsgroup": NEWSGROUP}
_LIKE = Futures(
    name="like 20 Newsgroups, and the prior knows",
    drawn="newsgroup",
    prevalence=(1_805.0, 95.0),
    quarter=1_883,
)
WORLDS = (
    Futures(name="uniform, as the prior is", drawn="uniform", prevalence=(1.0, 1.0), quarter=200),
    _LIKE,
    replace(_LIKE, name="like 20 Newsgroups, uniform prior", believed="uniform"),
)

Future = tuple[float, bool]
"""What was predicted of an undecided quarter, and whether the rest decided it."""


def repeat(world: Futures, first: int, last: int) -> list[Future]:
    """Predict and check the worlds ``first`` to ``last`` (not included)."""
    seeds = ([SEED, WORLDS.index(world), repetition] for repetition in range(first, last))
    found = (predicted_and_came(world, np.random.default_rng(seed)) for seed in seeds)
    return [one for one in found if one is not None]


def predicted_and_came(world: Futures, generator: np.random.Generator) -> Future | None:
    """Draw a world and a quarter, predict and check; None if the quarter is decided."""
    truth = draw_world(_SHAPES[world.drawn], generator, prevalence=world.prevalence)
    seen = items(truth, world.quarter, generator)
    now = _compared(world, seen, generator)
    if now.decision.decided:
        return None
    more = items(truth, 3 * world.quarter, generator)
    then = _compared(world, seen + more, generator)
    return _predicted(now, 3 * world.quarter), then.decision.decided


def _predicted(now: op.Comparison, more: int) -> float:
    goal = firm_goal("decided", now.rope, greater_is_better=True)
    return float(outlook_of(now).probability(goal, more))


def _compared(world: Futures, seen: op.Outcomes, generator: np.random.Generator) -> op.Comparison:
    return op.compare(
        seen,
        "A",
        "B",
        metric="f1",
        rope=ROPE,
        prior=world.prior,
        n_draws=_N_DRAWS,
        random_state=generator,
        n_jobs=1,
    )


Found = Mapping[Futures, Sequence[Future]]


def by_world(found: Found) -> dict[Futures, list[Bin]]:
    """Return the bins of each world."""
    return {
        world: bins([one for one, _ in futures], [came for _, came in futures])
        for world, futures in found.items()
    }


def table(found: Found) -> str:
    """Return what was predicted beside what came, world by world."""
    rows = [
        [
            world.name,
            f"{one.n:,}",
            f"{100 * one.predicted:.0f}%",
            markdown.percent(one.realised, one.error),
        ]
        for world, group in by_world(found).items()
        for one in group
    ]
    header = ("worlds", "comparisons", "predicted", "decided, %")
    return markdown.table(header, rows) + (
        f"\nUndecided comparisons of simulated quarters: two classes, F1, ROPE ±{ROPE}, 200 "
        "items in the first rows and 1,883 in the others; then three times as many more.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the forecasts that did not come true where the prior is right."""
    return [
        f"more-data: {world.name}: {one.predicted:.3f} predicted, {one.realised:.3f} came"
        for world, group in by_world(found).items()
        if world.gated
        for one in group
        if share_is_off(one.realised, one.n, one.predicted - SLACK, one.predicted + SLACK)
    ]
