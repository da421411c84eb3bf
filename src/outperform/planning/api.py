"""``plan``: number of test items needed for a decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NotRequired, TypedDict

import numpy as np

from outperform._typing import Label, Seed
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.decision.intervals import check_prob
from outperform.decision.rope import Decision, Rope, RopeLike
from outperform.errors import CallError, UsageError, either, param, unknown_name
from outperform.findings import Finding, finding
from outperform.inference import engine
from outperform.inference.engine import check_draws
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import (
    LabelSpec,
    make_spec,
    refuse_prevalence,
    rope_for,
    selected,
)
from outperform.inference.suite import (
    Suite,
    average,
    measure,
    questions,
    shared_question,
)
from outperform.metrics.metric import MetricLike
from outperform.metrics.registry import get_labels
from outperform.planning.goals import (
    World,
    binary_metric,
    check_probability,
    check_theta,
    firm_goal,
)
from outperform.planning.result import Plan, summarize_plan
from outperform.planning.sample_size import (
    DOUBT,
    LITTLE_DOUBT,
    PRECISION,
    PRECISION_OF_RANGE,
    Search,
    check_max_items,
    check_target,
)
from outperform.planning.suite_world import SuiteWorld
from outperform.planning.worlds import (
    RatesWorld,
    ScoreWorld,
    TableWorld,
    posterior_world,
)
from outperform.posterior.predictive import certain
from outperform.posterior.registry import PriorLike, dirichlet_shapes
from outperform.posterior.rng import seed_sequence
from outperform.progress import in_steps
from outperform.wrong_calls import explained, usage

_RATES_DRAWS = 4_000
_TABLE_DRAWS = 1_000
_SCORE_DRAWS, _SCORE_SEED = 4_000, 20_160_718  # Used for the one posterior of a pilot's scores.
# Enough items that the prior does not matter.
_MANY = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """User's settings for the comparison of the new items."""

    metric: MetricLike | None
    rope: RopeLike | None
    paired: bool
    hdi_prob: float
    prior: PriorLike | None
    labels: Sequence[Label] | None
    pos_label: Label | None
    n_draws: int | None
    verb: str = "plan"

    @property
    def prob(self) -> float:
        """Probability mass of the HDI."""
        return check_prob(self.hdi_prob)

    def draws(self, default: int) -> int:
        """Return the number of draws, or the default."""
        return default if self.n_draws is None else check_draws(self.n_draws)

    def ask(self, data: Outcomes, metric: str | None = None) -> LabelSpec:
        """Return the spec of outcomes."""
        return make_spec(
            data,
            metric=metric if self.metric is None else self.metric,
            prior=self.prior,
            paired=self.paired,
            labels=self.labels,
            pos_label=self.pos_label,
        )

    def ask_scores(self, data: Scores) -> ScoreSpec:
        """Return the spec of scores."""
        if self.metric is None:
            raise UsageError(f"scores need a metric; name it with {param('metric=')}")
        return make_spec(
            data,
            metric=self.metric,
            prior=self.prior,
            paired=self.paired,
            labels=self.labels,
            pos_label=self.pos_label,
        )

    def refuse(self, *names: str, what: str) -> None:
        """Raise an error if an argument that applies only to a pilot was passed."""
        for name in names:
            if getattr(self, name) is not None:
                raise UsageError(
                    f"{param(f'{name}=')} applies only to a pilot, not to {what}; remove it"
                )


def _check_pilot(pilot: object, verb: str) -> Outcomes | Scores:
    """Return the pilot if new items can be drawn from it; otherwise raise an error."""
    if not isinstance(pilot, (Outcomes, Scores)):
        raise UsageError(
            f"pilot must be op.Outcomes, op.Scores or op.Suite; got {type(pilot).__name__}. For a "
            f"frame or file, type {param('pilot=')}op.{usage('read')}; for a comparison, use "
            f"{usage('more_data')}"
        )
    refuse_prevalence(pilot, verb)
    if isinstance(pilot, Outcomes) and pilot.pool is not None:
        raise UsageError(
            "a pilot must be sampled in the same way as the new items, but these "
            f"{pilot.pool.CHOSEN}; "
            "pass a random sample of items"
        )
    return pilot


def _check_two(pilot: Outcomes | Scores | Suite, a: str | None, b: str | None) -> list[str]:
    """Return the names of the two pilot models to compare."""
    if (a is None or b is None) and len(pilot.models) != 2:
        raise UsageError(
            f"the pilot has the models {pilot.models}; select two with {param('a=')} and "
            f"{param('b=')}"
        )
    return [pilot.models[0] if a is None else a, pilot.models[1] if b is None else b]


def pilot_world(
    pilot: object, a: str | None, b: str | None, analysis: Analysis
) -> tuple[World, Rope]:
    """Return a pilot's scenario, redrawn from its posterior for every test set."""
    if isinstance(pilot, Suite):
        return suite_world(pilot, _check_two(pilot, a, b), analysis)
    checked = _check_pilot(pilot, analysis.verb)
    data = selected(checked, _check_two(checked, a, b), verb=analysis.verb)
    if isinstance(data, Scores):
        score_spec = analysis.ask_scores(data)
        return _score_world(score_spec, analysis), rope_for(score_spec, analysis.rope)
    spec = analysis.ask(data)
    rope = rope_for(spec, analysis.rope)
    world = posterior_world(
        spec,
        rope=rope,
        items="new",
        prob=analysis.prob,
        n_draws=analysis.draws(_TABLE_DRAWS),
        origin=f"pilot={data.n}",
    )
    return world, rope


def suite_world(pilot: Suite, names: Sequence[str], analysis: Analysis) -> tuple[SuiteWorld, Rope]:
    """Return a suite's scenario, with each task drawn from its own posterior."""

    def ask(data: object, **kwargs: Any) -> LabelSpec:
        outcomes = _check_pilot(data, analysis.verb)
        if isinstance(outcomes, Scores):
            raise UsageError("a suite with score tasks cannot be planned; plan these separately")
        spec: LabelSpec = make_spec(outcomes, **kwargs)
        return spec

    settings = {name: getattr(analysis, name) for name in _OF_SUITES}
    task_questions = questions(pilot.select(names), ask, **shared_question(settings))
    how = average(pilot, task_questions)
    tasks = {}
    for question in task_questions:
        assert isinstance(question.spec, LabelSpec)
        tasks[question.task] = posterior_world(
            question.spec,
            rope=question.rope,
            items="new",
            prob=analysis.prob,
            n_draws=analysis.draws(_TABLE_DRAWS),
            origin=f"pilot={question.spec.n}",
        )
    metric_names = {question.spec.metric.name for question in task_questions}
    label = measure(
        how.scale, {question.spec.metric.label for question in task_questions}, len(task_questions)
    )
    metric = replace(
        next(iter(tasks.values())).metric,
        name=metric_names.pop() if len(metric_names) == 1 else "mean",
        label=label,
        greater_is_better=how.greater_is_better,
    )
    return SuiteWorld(tasks=tasks, how=how, metric=metric), how.rope


_OF_SUITES = ("metric", "rope", "labels", "prior", "paired", "pos_label")


def _score_world(spec: ScoreSpec, analysis: Analysis) -> ScoreWorld:
    """Return the scenario of a pilot's scores."""
    stream = np.random.SeedSequence(_SCORE_SEED)
    (drawn,) = engine.answer([spec], Sampling(analysis.draws(_SCORE_DRAWS), stream))
    a, b = drawn.values
    return ScoreWorld(
        spec=spec,
        items="new",
        prob=analysis.prob,
        origin=f"pilot={spec.n}",
        difference=np.sort(a - b),
    )


def accuracies_world(
    accuracies: Any, agreement: Any, analysis: Analysis
) -> tuple[TableWorld, Rope]:
    """Return the scenario of two accuracies and an agreement rate."""
    p, q = _check_accuracies(accuracies)
    assumed: tuple[Finding, ...] = ()
    if agreement is None:
        agreement = p * q + (1 - p) * (1 - q)
        assumed = (finding("agreement_assumed", agreement=agreement),)
    shares = _right_and_wrong(p, q, check_probability(agreement))
    analysis.refuse("labels", "pos_label", what="accuracies")
    if analysis.metric is not None and get_labels(analysis.metric).name != "accuracy":
        raise UsageError(
            f"accuracies need {param('metric=', 'accuracy')} or no metric; got {analysis.metric!r}"
        )
    example = Outcomes.from_correct({"A": [1, 1, 0, 0], "B": [1, 0, 1, 0]})
    (table,) = example.tables
    # Cells are ordered by A, then B: neither, only B, only A, both.
    probabilities = np.array(shares[::-1])
    counts = np.rint(_MANY * probabilities).astype(np.int64)
    spec = analysis.ask(replace(example, tables=(replace(table, counts=counts),)), "accuracy")
    rope = rope_for(spec, analysis.rope)
    stated = f"{p:g}/{q:g}"
    world = TableWorld(
        spec=spec,
        make_predict=lambda: certain(example, probabilities),
        items="certain",
        rope=rope,
        n_draws=analysis.draws(_TABLE_DRAWS),
        prob=analysis.prob,
        origin=f"accuracies={stated} | agreement={agreement:g}",
        assumed=assumed,
    )
    return world, rope


def _part(name: str) -> str:
    """Return the name of a part of a scenario for a message."""
    return param(name) + either(" in scenario", "")


def _check_accuracies(accuracies: object) -> tuple[float, float]:
    if accuracies is None:
        raise UsageError(f"agreement also needs {_part('accuracies')} of A and B; add them")
    if not isinstance(accuracies, Sequence | np.ndarray) or len(accuracies) != 2:
        raise UsageError(
            f"{param('accuracies')} must be two numbers, for A and B; got {accuracies!r}"
        )
    p, q = (check_probability(accuracy) for accuracy in accuracies)
    return p, q


def _right_and_wrong(p: float, q: float, g: float) -> tuple[float, float, float, float]:
    """Return the shares of items that both, only A, only B and neither get right.

    ``both + neither = g``, ``both + only A = p`` and ``both + only B = q`` give
    ``both = (g + p + q − 1) / 2``.
    """
    lowest, highest = abs(p + q - 1), 1 - abs(p - q)
    if not lowest - 1e-12 <= g <= highest + 1e-12:
        raise UsageError(
            f"the agreement of models with accuracies {p:g} and {q:g} must be between {lowest:g} "
            f"and {highest:g}; got {g:g}"
        )
    both = (g + p + q - 1) / 2
    shares = both, p - both, q - both, 1 - p - q + both
    both, only_a, only_b, neither = (max(share, 0.0) for share in shares)
    return both, only_a, only_b, neither


def rates_world(
    theta_pos: Mapping[str, float] | None,
    theta_neg: Mapping[str, float] | None,
    prevalence: float | None,
    analysis: Analysis,
) -> tuple[RatesWorld, Rope]:
    """Return the scenario of outcome probabilities, as in the papers."""
    analysis.refuse("labels", "pos_label", what="outcome probabilities")
    measured = binary_metric("f1" if analysis.metric is None else analysis.metric)
    if theta_pos is None or theta_neg is None or prevalence is None:
        raise UsageError(
            f"{param('theta_pos')}, {param('theta_neg')} and {param('prevalence')} go together; "
            "pass all three"
        )
    prior = "unit" if analysis.prior is None else analysis.prior
    dirichlet_shapes(prior)  # An unsuitable prior raises an error here, before any simulation.
    world = RatesWorld(
        theta=check_theta(theta_pos, theta_neg),
        prevalence=check_probability(prevalence),
        prior=prior,
        paired=analysis.paired,
        metric=measured,
        n_draws=analysis.draws(_RATES_DRAWS),
        prob=analysis.prob,
    )
    return world, Rope.from_param(analysis.rope, bounds=measured.bounds)


MOST = 1_000_000
_SIMULATIONS, _OF_PILOT, _OF_LEARNED = 4_000, 400, 100


class Accuracies(TypedDict):
    """Scenario with two accuracies and an agreement rate."""

    accuracies: tuple[float, float]
    agreement: NotRequired[float]


class Rates(TypedDict):
    """Scenario with two classes and the probabilities of each pair of predictions."""

    theta_pos: Mapping[str, float]
    theta_neg: Mapping[str, float]
    prevalence: float


_ACCURACIES = tuple(Accuracies.__annotations__)
_RATES = tuple(Rates.__annotations__)


@explained
def plan(
    *accuracies: float,
    pilot: Outcomes | Scores | Suite | None = None,
    a: str | None = None,
    b: str | None = None,
    scenario: Accuracies | Rates | None = None,
    goal: str | Decision = "decided",
    metric: MetricLike | None = None,
    rope: RopeLike | None = None,
    target: float = 0.8,
    max_items: int = MOST,
    paired: bool = True,
    hdi_prob: float = 0.95,
    prior: PriorLike | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    n_simulations: int | None = None,
    n_draws: int | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
) -> Plan:
    """Find the number of test items that reaches a decision with a given probability.

    The scenario is what you know: a pilot's outcomes, two accuracies and an agreement rate, or
    outcome probabilities as in the papers. ``plan`` simulates test sets from it and compares the
    models on each. With a pilot, each simulated test set first draws true values from the pilot's
    posterior, so the plan includes the pilot's uncertainty. Other scenarios are taken as certain.

    Parameters
    ----------
    *accuracies
        Expected accuracies of A and of B: the shortest scenario, with independent errors. For any
        other agreement, use ``scenario``.
    pilot
        Outcomes or scores of items like the new ones, which will be analysed without the pilot.
        With a :class:`Suite` the plan is for the mean over its tasks, and all tasks grow by the
        same factor: n is their total, and ``tasks`` of the plan has the number for each.
    a, b
        Names of two models in the pilot. Not needed if it has two.
    scenario
        Expected results, instead of a pilot. Either ``accuracies`` (of A and of B) and
        ``agreement``, the share of items that both get right or both get wrong (default: as for
        independent errors); or ``theta_pos``, ``theta_neg`` and ``prevalence``, the outcome
        probabilities of two classes, as for :func:`power`.
    goal
        Decision to reach: ``"decided"`` for any firm one, ``"≫"``, ``"≈"``, ``"≪"`` or their
        names, or ``"not_worse"`` for a gate that passes.
    metric
        As for :func:`compare`. With ``accuracies`` it must be accuracy.
    rope
        Region of practical equivalence.
    target
        Target probability of reaching the goal.
    max_items
        Largest number of items considered.
    paired
        Whether the models will be compared item by item.
    hdi_prob
        Probability mass of the HDI.
    prior, labels, pos_label
        As for :func:`compare`, for the pilot and for the new items.
    n_simulations
        Largest number of simulated test sets; the search stops earlier if n is precise. Default:
        4,000. With a pilot, whose range is wider than the simulation error, 400, or 100 if it has
        three classes or more, because the prior is learned from every test set.
    n_draws
        Number of draws per test set.
    random_state
        Integer, SeedSequence, Generator or RandomState. None chooses a random seed.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.

    Examples
    --------
    >>> import outperform as op
    >>> plan = op.plan(scenario={"accuracies": (0.90, 0.86), "agreement": 0.9}, rope=0.01,
    ...                goal="better", n_simulations=1_000, random_state=0)
    >>> plan.reachable, 700 < plan.n < 1_000
    (True, True)
    """
    analysis = Analysis(
        metric=metric,
        rope=rope,
        paired=paired,
        hdi_prob=hdi_prob,
        prior=prior,
        labels=labels,
        pos_label=pos_label,
        n_draws=n_draws,
    )
    parts = _scenario_parts(scenario)
    if accuracies:
        if scenario is not None or not all(isinstance(share, (int, float)) for share in accuracies):
            raise CallError(f"by position, plan takes two accuracies; type {usage('plan')}")
        parts = {"accuracies": accuracies}
    of_accuracies, rates = (
        {name: parts.get(name) for name in names} for names in (_ACCURACIES, _RATES)
    )
    world, region = the_world({"pilot": pilot, "a": a, "b": b}, of_accuracies, rates, analysis)
    of_pilot, learned = pilot is not None, "prior=learned" in world.parts()
    default = _OF_LEARNED if learned else _OF_PILOT if of_pilot else _SIMULATIONS
    most_simulated = check_draws(
        default if n_simulations is None else n_simulations, name="n_simulations"
    )
    search = Search(
        goal=firm_goal(goal, region, greater_is_better=world.metric.greater_is_better),
        target=check_target(target),
        max_items=check_max_items(max_items),
        n_simulations=most_simulated,
        doubt=LITTLE_DOUBT if of_pilot and most_simulated < _OF_PILOT else DOUBT,
        precision=PRECISION_OF_RANGE if of_pilot else PRECISION,
        n_jobs=n_jobs,
    )
    seed = seed_sequence(random_state)
    with in_steps() as progress:
        curve, points = search.run(world, seed, progress)
    result = summarize_plan(search, curve, points, world=world, rope=region, seed=seed)
    size = result.least if result.n is None else result.n
    if isinstance(world, SuiteWorld) and size is not None:
        return replace(result, tasks=world.sizes(size))
    return result


def _scenario_parts(scenario: Accuracies | Rates | None) -> dict[str, Any]:
    """Return the parts of a scenario that are not None; unknown parts raise an error."""
    if scenario is None:
        return {}
    if not isinstance(scenario, Mapping):
        raise UsageError(
            "scenario must be a mapping such as {'accuracies': (0.9, 0.86), 'agreement': 0.9}; "
            f"got {scenario!r}"
        )
    for name in scenario:
        if name not in (*_ACCURACIES, *_RATES):
            raise UsageError(unknown_name("part of a scenario", name, (*_ACCURACIES, *_RATES)))
    return {name: value for name, value in scenario.items() if value is not None}


def the_world(
    pilot: dict[str, Any],
    accuracies: dict[str, Any] | None,
    rates: dict[str, Any],
    analysis: Analysis,
) -> tuple[World, Rope]:
    """Return the scenario described by the arguments; ``accuracies`` is None for ``power``."""
    parts = {"a pilot": pilot, "accuracies": accuracies or {}, "theta": rates}
    sources = [
        name for name, part in parts.items() if any(value is not None for value in part.values())
    ]
    if len(sources) != 1:
        ways = either("pilot=, or ", "a pilot's file, or ")
        if accuracies is not None:
            ways += (
                either("scenario= with ", "") + f"{param('accuracies')} and {param('agreement')}"
            )
            ways += either(", or with ", ", or ")
        raise UsageError(
            f"pass exactly one scenario: {ways}{param('theta_pos')}, {param('theta_neg')} and "
            f"{param('prevalence')}; got {' and '.join(sources) or 'none'}"
            + (
                either(
                    "; e.g. op.plan(0.90, 0.86, rope=0.01) with two accuracies",
                    "; e.g. outperform plan --accuracies .90,.86 --agreement .9 --rope 0.01",
                )
                if not sources
                else ""
            )
        )
    if accuracies is not None and sources == ["accuracies"]:
        return accuracies_world(**accuracies, analysis=analysis)
    if sources == ["theta"]:
        return rates_world(**rates, analysis=analysis)
    return pilot_world(**pilot, analysis=analysis)
