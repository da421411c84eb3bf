"""``more_data``: number of additional items that would probably decide a comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, TypeGuard

import numpy as np

from outperform._json import written
from outperform._typing import Seed
from outperform.decision.rope import Decision
from outperform.errors import UsageError
from outperform.findings import is_serious
from outperform.inference.engine import check_draws
from outperform.inference.items import left_in_pool
from outperform.inference.question import ONCE
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import LabelSpec, Spec
from outperform.planning.goals import Goal, Outlook, firm_goal, first_size, prior_worth
from outperform.planning.result import Plan, summarize_plan
from outperform.planning.sample_size import (
    LITTLE_DOUBT,
    PRECISION_OF_RANGE,
    Curve,
    Search,
    check_max_items,
    check_target,
)
from outperform.planning.worlds import ScoreWorld, TableWorld, posterior_world
from outperform.posterior.rng import seed_sequence
from outperform.progress import in_steps
from outperform.results.compared import Compared

TARGET = 0.8
# Larger multiples of the existing number of items are not worth reporting.
_MOST_TIMES = 100
_DRAWS = 400


@written()
class Needed(NamedTuple):
    """Approximate number of additional items that reach a goal: at face value, and a safe number.

    Parameters
    ----------
    n
        Number of items that is enough even if such models differ little; None if ``max_items`` may
        not be enough.
    least
        Number of items that is enough if the data are taken at face value; None if ``max_items`` is
        not enough.
    probability
        Lowest probability that n items reach the goal; for ``max_items`` if n is None.
    max_items
        Largest number of items considered.
    """

    n: int | None
    least: int | None
    probability: float
    max_items: int


def outlook_of(comparison: Compared, *, stays: float = 0.0) -> Outlook:
    """Return the normal-theory prediction of a comparison with more items.

    The posterior comes from the items and the prior, so its n counts both.
    """
    hdi, mean, spec = comparison.hdi, comparison.mean, comparison.spec
    return Outlook(
        n=comparison.n + prior_worth(spec),
        mean=mean,
        sd=comparison.sd,
        below=mean - hdi.low,
        above=hdi.high - mean,
        items="more",
        stays=stays,
    )


def items_needed(comparison: Compared, goal: Goal, *, target: float = TARGET) -> Needed | None:
    """Return approximately how many more items are needed for a goal, by normal theory.

    Returns None if theory does not apply: a serious finding withholds the decision, items alone do
    not decide (folds, training runs), or labelling more of a pool does not help.

    Parameters
    ----------
    comparison
        A comparison that does not reach the goal yet.
    goal
        Goal to reach.
    target
        Probability to reach.
    """
    if is_serious(comparison.findings) or not _is_of_items(comparison):
        return None
    # Either more human labels or more verdicts could be needed.
    if comparison.spec.metric.name == "judged_mean":
        return None
    max_items, stays = _MOST_TIMES * max(comparison.n, 1), 0.0
    if _is_chosen(comparison.spec):
        left = left_in_pool(comparison.spec, comparison.sd)
        if left is None:
            return None
        max_items, stays = left
    outlook = outlook_of(comparison, stays=stays)
    return needed_by(outlook, goal, target=target, max_items=max_items)


def needed_by(outlook: Outlook, goal: Goal, *, target: float = TARGET, max_items: int) -> Needed:
    """Return approximately how many more items are needed for a goal, at face value and safely.

    Parameters
    ----------
    outlook
        Current posterior of A − B.
    goal
        Goal to reach.
    target
        Probability to reach.
    max_items
        Largest number of items considered.

    Examples
    --------
    >>> from outperform.decision.rope import Rope
    >>> now = Outlook(n=1_000, mean=0.012, sd=0.004, below=0.0078, above=0.0078, items="more")
    >>> goal = firm_goal("decided", Rope.from_param(0.01), greater_is_better=True)
    >>> needed = needed_by(now, goal, max_items=1_000_000)
    >>> print(needed.least, needed.n)
    45926 73025
    """
    least = first_size(lambda sizes: outlook.probability(goal, sizes), target, max_items=max_items)
    n = first_size(
        lambda sizes: outlook.least_probability(goal, sizes), target, max_items=max_items
    )
    probability = outlook.least_probability(goal, max_items if n is None else n)
    return Needed(n=n, least=least, probability=float(probability), max_items=max_items)


def needed_to_decide(comparison: Compared) -> Needed | None:
    """Return approximately how many more items are needed to decide a comparison.

    Returns None if it is already decided or theory does not apply.

    Parameters
    ----------
    comparison
        Any comparison.
    """
    if comparison.decision.decided:
        return None
    better = comparison.spec.metric.greater_is_better
    goal = firm_goal("decided", comparison.rope, greater_is_better=better)
    return items_needed(comparison, goal)


def _is_of_items(comparison: Compared) -> bool:
    return comparison.details is None and comparison.spec.counting == ONCE


def _is_chosen(spec: Spec) -> TypeGuard[LabelSpec]:
    return spec.pool is not None


def _chosen(spec: LabelSpec) -> str:
    return "" if spec.view.pool is None else spec.view.pool.CHOSEN


def more_data(
    comparison: Compared,
    *,
    goal: str | Decision,
    target: float,
    max_items: int | None,
    n_simulations: int,
    n_draws: int | None,
    random_state: Seed,
    n_jobs: int | None,
) -> Plan:
    """Simulate how many more items a comparison needs; see :meth:`Comparison.more_data`."""
    spec = comparison.spec
    if not _is_of_items(comparison):
        raise UsageError(
            "more_data() simulates additional items for one test set; it has no model for folds "
            "or training runs"
        )
    if _is_chosen(spec):
        raise UsageError(
            f"more_data() simulates randomly sampled items, but these {_chosen(spec)}; print the "
            "comparison for an estimate of how many more labels would decide it"
        )
    goals = firm_goal(goal, comparison.rope, greater_is_better=spec.metric.greater_is_better)
    search = Search(
        goal=goals,
        target=check_target(target),
        max_items=_MOST_TIMES * max(comparison.n, 1)
        if max_items is None
        else check_max_items(max_items),
        n_simulations=check_draws(n_simulations, name="n_simulations"),
        precision=PRECISION_OF_RANGE,
        doubt=LITTLE_DOUBT,
        n_jobs=n_jobs,
    )
    world = _world(comparison, _DRAWS if n_draws is None else check_draws(n_draws))
    seed = seed_sequence(random_state)
    if _is_reached(comparison, goals):
        return _decided(comparison, search, world, seed)
    with in_steps() as progress:
        curve, points = search.run(world, seed, progress)
    return summarize_plan(
        search,
        curve,
        points,
        world=world,
        rope=comparison.rope,
        seed=seed,
        verb="more_data",
        seen=comparison.n,
    )


def _world(comparison: Compared, n_draws: int) -> TableWorld | ScoreWorld:
    """Return the scenario of the comparison's posterior."""
    spec, prob, origin = comparison.spec, comparison.hdi.prob, f"seen={comparison.n}"
    if isinstance(spec, ScoreSpec):
        return ScoreWorld(
            spec=spec, items="more", prob=prob, origin=origin, difference=np.sort(comparison.draws)
        )
    drawn = posterior_world(
        spec, rope=comparison.rope, items="more", prob=prob, n_draws=n_draws, origin=origin
    )
    # This outlook is the one that the comparison prints.
    return replace(drawn, known=outlook_of(comparison))


def _is_reached(comparison: Compared, goal: Goal) -> bool:
    ends = np.array([[comparison.hdi.low], [comparison.hdi.high]])
    return bool(goal.reached(ends)[0]) and not is_serious(comparison.findings)


def _decided(
    comparison: Compared,
    search: Search,
    world: TableWorld | ScoreWorld,
    seed: np.random.SeedSequence,
) -> Plan:
    """Return the plan of a comparison that has reached its goal: no items are needed."""
    curve = Curve(
        outlook=outlook_of(comparison),
        goal=search.goal,
        target=search.target,
        covariance=np.zeros((2, 2)),
    )
    return summarize_plan(
        search,
        curve,
        [],
        world=world,
        rope=comparison.rope,
        seed=seed,
        verb="more_data",
        seen=comparison.n,
        reached=True,
    )
