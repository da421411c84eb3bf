"""Now: how many more documents would probably decide a comparison that is not decided?

The one line that every undecided comparison prints is the closed form of :mod:`outlook`, which
costs microseconds; :func:`more_data` simulates what it says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import numpy as np

from outperform._typing import Seed
from outperform.comparison.engine import check_draws
from outperform.comparison.planning.goals import Goal, firm_goal
from outperform.comparison.planning.outlook import Outlook, first_size
from outperform.comparison.planning.result import Plan, conclude_plan
from outperform.comparison.planning.searching import Curve, Search, check_most, check_target
from outperform.comparison.planning.worlds import TableWorld, posterior_world, prior_worth
from outperform.comparison.proposing.remaining import left_in_pool
from outperform.comparison.question import ONCE, Question
from outperform.comparison.scored import Asked
from outperform.decision import Decision
from outperform.errors import UsageError
from outperform.posterior import seed_sequence

if TYPE_CHECKING:
    from outperform.comparison.result import Comparison

TARGET = 0.8
# So many times the documents that there are is the most that is worth naming.
_MOST_TIMES = 100
_DRAWS = 1_000
_PRECISION = 0.05


class Needed(NamedTuple):
    """How many more documents, and how probably they reach a goal.

    Parameters
    ----------
    n
        How many more; None where even ``most`` are not enough.
    probability
        How probably n reach the goal, or the most.
    most
        No larger number was considered.
    """

    n: int | None
    probability: float
    most: int


def outlook_of(comparison: Comparison, *, stays: float = 0.0) -> Outlook:
    """Return what normal theory says of a comparison with more documents.

    The posterior is that of the documents and of the prior, so both are behind it.
    """
    hdi, mean, question = comparison.hdi, comparison.mean, comparison.question
    worth = prior_worth(question) if isinstance(question, Question) else 0.0
    return Outlook(
        n=comparison.n + worth,
        mean=mean,
        sd=comparison.sd,
        below=mean - hdi.low,
        above=hdi.high - mean,
        documents="more",
        stays=stays,
    )


def documents_needed(
    comparison: Comparison, goal: Goal, *, target: float = TARGET
) -> Needed | None:
    """Return about how many more documents reach a goal with a probability, by normal theory.

    None where theory says nothing: where a serious finding withholds the verdict, where documents
    are not all that it waits for, as of folds and training runs, and where a pool has no more to
    tell.

    Parameters
    ----------
    comparison
        A comparison that does not reach it yet.
    goal
        What is hoped for.
    target
        The wanted probability.
    """
    if _is_withheld(comparison) or not _is_of_documents(comparison):
        return None
    most, stays = _MOST_TIMES * max(comparison.n, 1), 0.0
    if _is_chosen(comparison.question):
        left = left_in_pool(comparison.question, comparison.sd)
        if left is None:
            return None
        most, stays = left
    outlook = outlook_of(comparison, stays=stays)
    n = first_size(lambda sizes: outlook.probability(goal, sizes), target, most=most)
    probability = outlook.probability(goal, most if n is None else n)
    return Needed(n=n, probability=float(probability), most=most)


def needed_to_decide(comparison: Comparison) -> Needed | None:
    """Return about how many more documents would decide; None if it is, or theory says nothing.

    Parameters
    ----------
    comparison
        Any comparison.
    """
    if comparison.decision.decided:
        return None
    better = comparison.question.metric.greater_is_better
    goal = firm_goal("decided", comparison.rope, greater_is_better=better)
    return documents_needed(comparison, goal)


def _is_withheld(comparison: Comparison) -> bool:
    return any(one.level == "serious" for one in comparison.findings)


def _is_of_documents(comparison: Comparison) -> bool:
    return comparison.verb == "compare" and comparison.question.counting == ONCE


def _is_chosen(question: Asked) -> TypeGuard[Question]:
    return isinstance(question, Question) and question.view.pool is not None


def more_data(
    comparison: Comparison,
    *,
    goal: str | Decision,
    target: float,
    most: int | None,
    n_simulations: int,
    n_draws: int | None,
    random_state: Seed,
    n_jobs: int | None,
) -> Plan:
    """Simulate how many more documents a comparison needs; see :meth:`Comparison.more_data`."""
    question = comparison.question
    if not isinstance(question, Question) or not _is_of_documents(comparison):
        raise UsageError(
            "more_data() draws documents with labels from the posterior of a comparison of two "
            "models on one test set; scores, folds and training runs are not drawn"
        )
    if _is_chosen(question):
        raise UsageError(
            "more_data() draws documents as they come, and these were chosen from a pool by their "
            "predictions; print the comparison to see about how many more labels would decide it"
        )
    goals = firm_goal(goal, comparison.rope, greater_is_better=question.metric.greater_is_better)
    search = Search(
        goal=goals,
        target=check_target(target),
        most=_MOST_TIMES * max(comparison.n, 1) if most is None else check_most(most),
        n_simulations=check_draws(n_simulations, name="n_simulations"),
        precision=_PRECISION,
        n_jobs=n_jobs,
    )
    world = posterior_world(
        question,
        rope=comparison.rope,
        documents="more",
        prob=comparison.hdi.prob,
        n_draws=_DRAWS if n_draws is None else check_draws(n_draws),
        origin=f"seen={comparison.n}",
    )
    seed = seed_sequence(random_state)
    if _is_reached(comparison, goals):
        return _decided(comparison, search, world, seed)
    curve, points = search.run(world, seed)
    return conclude_plan(
        search,
        curve,
        points,
        world=world,
        rope=comparison.rope,
        seed=seed,
        verb="more_data",
        seen=comparison.n,
    )


def _is_reached(comparison: Comparison, goal: Goal) -> bool:
    ends = np.array([[comparison.hdi.low], [comparison.hdi.high]])
    return bool(goal.reached(ends)[0]) and not _is_withheld(comparison)


def _decided(
    comparison: Comparison, search: Search, world: TableWorld, seed: np.random.SeedSequence
) -> Plan:
    """Return the plan that asks for nothing."""
    curve = Curve(
        outlook=outlook_of(comparison),
        goal=search.goal,
        target=search.target,
        covariance=np.zeros((2, 2)),
    )
    return conclude_plan(
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
