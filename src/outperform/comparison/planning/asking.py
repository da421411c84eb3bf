"""``plan``: how many documents does a verdict take?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outperform._typing import Label, Progress, Seed
from outperform.comparison.engine import check_draws
from outperform.comparison.planning.given import (
    Analysis,
    accuracies_world,
    pilot_world,
    rates_world,
)
from outperform.comparison.planning.goals import firm_goal
from outperform.comparison.planning.result import Plan, conclude_plan
from outperform.comparison.planning.searching import Search, check_most, check_target
from outperform.comparison.planning.worlds import World
from outperform.decision import Decision, Rope
from outperform.errors import UsageError
from outperform.outcomes import Outcomes
from outperform.posterior import seed_sequence

MOST = 1_000_000


def plan(
    *,
    pilot: Outcomes | None = None,
    a: str | None = None,
    b: str | None = None,
    accuracies: tuple[float, float] | None = None,
    agreement: float | None = None,
    theta_pos: Mapping[str, float] | None = None,
    theta_neg: Mapping[str, float] | None = None,
    prevalence: float | None = None,
    goal: str | Decision = "decided",
    metric: Any = None,
    rope: Any = None,
    target: float = 0.8,
    most: int = MOST,
    paired: bool = True,
    hdi_prob: float = 0.95,
    prior: Any = None,
    model: str | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    n_simulations: int = 4_000,
    n_draws: int | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Find the number of test documents at which the wanted verdict probably comes.

    The world is what you have: a pilot's outcomes, two accuracies and how often the two agree, or
    the outcome probabilities of the papers. Test sets are drawn from it and compared. With a
    pilot every simulated project draws its world from the pilot's posterior first, so the plan
    carries what the pilot does not know; the other worlds are taken as they are.

    Parameters
    ----------
    pilot
        Outcomes of documents like those to come; the new test set will be analysed alone.
    a, b
        The names of two models in the pilot; may be left out if it has two.
    accuracies, agreement
        The accuracy of A and of B, and the share of documents that both get right or both wrong.
    theta_pos, theta_neg, prevalence
        Outcome probabilities of two classes, as for :func:`power`.
    goal
        The wanted verdict: ``"decided"`` for any firm one, ``"≫"``, ``"≈"``, ``"≪"`` or their
        names, or ``"not_worse"`` for a gate that passes.
    metric
        As for :func:`compare`. Accuracies are about accuracy.
    rope
        The region of practical equivalence.
    target
        The wanted probability of the goal.
    most
        No test set larger than this is considered.
    paired
        Whether the comparison will use that the documents are the same.
    hdi_prob
        The mass of the interval.
    prior, model, labels, pos_label
        As for :func:`compare`: how the pilot is read, and how the new documents will be.
    n_simulations
        The most test sets that are simulated; fewer where the answer is precise before.
    n_draws
        Draws a test set.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        Threads; the result does not depend on it.
    progress
        Called with how many test sets are simulated and how many there may be.

    Examples
    --------
    >>> import outperform as op
    >>> found = op.plan(accuracies=(0.90, 0.86), agreement=0.9, rope=0.01, goal="better",
    ...                 n_simulations=1_000, random_state=0)
    >>> found.reachable, 700 < found.n < 1_000
    (True, True)
    """
    analysis = Analysis(
        metric=metric,
        rope=rope,
        paired=paired,
        hdi_prob=hdi_prob,
        prior=prior,
        model=model,
        labels=labels,
        pos_label=pos_label,
        n_draws=n_draws,
    )
    world, region = _the_world(
        {"pilot": pilot, "a": a, "b": b},
        {"accuracies": accuracies, "agreement": agreement},
        {"theta_pos": theta_pos, "theta_neg": theta_neg, "prevalence": prevalence},
        analysis,
    )
    search = Search(
        goal=firm_goal(goal, region, greater_is_better=world.metric.greater_is_better),
        target=check_target(target),
        most=check_most(most),
        n_simulations=check_draws(n_simulations, name="n_simulations"),
        n_jobs=n_jobs,
    )
    seed = seed_sequence(random_state)
    curve, points = search.run(world, seed, progress)
    return conclude_plan(search, curve, points, world=world, rope=region, seed=seed)


def _the_world(
    pilot: dict[str, Any], accuracies: dict[str, Any], rates: dict[str, Any], analysis: Analysis
) -> tuple[World, Rope]:
    """Return the one world that was given."""
    given = [any(one is not None for one in part.values()) for part in (pilot, accuracies, rates)]
    if sum(given) != 1:
        parts = [
            word
            for word, there in zip(("a pilot", "accuracies", "theta"), given, strict=True)
            if there
        ]
        raise UsageError(
            "give exactly one world: pilot=, or accuracies= and agreement=, or theta_pos=, "
            f"theta_neg= and prevalence=; got {' and '.join(parts) or 'none'}"
        )
    if given[0]:
        return pilot_world(**pilot, analysis=analysis)
    if given[1]:
        return accuracies_world(**accuracies, analysis=analysis)
    return rates_world(**rates, analysis=analysis)
