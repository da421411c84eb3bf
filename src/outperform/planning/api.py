"""``plan``: how many items does a decision take?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np

from outperform._typing import Label, Seed
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.decision.intervals import check_prob
from outperform.decision.rope import Decision, Rope, RopeLike
from outperform.errors import UsageError, either, param, unknown_name
from outperform.inference import engine
from outperform.inference.engine import check_draws
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import (
    LabelSpec,
    make_label_spec,
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
    check_most,
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

_RATES_DRAWS = 4_000
_TABLE_DRAWS = 1_000
_SCORE_DRAWS, _SCORE_SEED = 4_000, 20_160_718  # of the one posterior of a pilot's scores
# So many items that the prior does not show.
_MANY = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """How the new items will be compared, as the user said it."""

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

    def ask(self, seen: Outcomes, metric: str | None = None) -> LabelSpec:
        """Ask outcomes."""
        return make_label_spec(
            seen,
            metric=metric if self.metric is None else self.metric,
            prior=self.prior,
            paired=self.paired,
            labels=self.labels,
            pos_label=self.pos_label,
        )

    def ask_scores(self, seen: Scores) -> ScoreSpec:
        """Ask scores."""
        if self.metric is None:
            raise UsageError(f"name the metric of these scores with {param('metric=')}")
        return make_spec(
            seen,
            metric=self.metric,
            prior=self.prior,
            paired=self.paired,
            labels=self.labels,
            pos_label=self.pos_label,
        )

    def refuse(self, *names: str, what: str) -> None:
        """Say which arguments mean nothing for a world."""
        for name in names:
            if getattr(self, name) is not None:
                raise UsageError(
                    f"{param(f'{name}=')} applies only to a pilot, not to {what}; remove it"
                )


def _check_pilot(pilot: object, verb: str) -> Outcomes | Scores:
    """Return data from which new ones can be drawn, or say how to mend them."""
    if not isinstance(pilot, (Outcomes, Scores)):
        raise UsageError(
            f"pilot must be op.Outcomes, op.Scores or op.Suite; got {type(pilot).__name__}"
        )
    refuse_prevalence(pilot, verb)
    if isinstance(pilot, Outcomes) and pilot.pool is not None:
        raise UsageError(
            f"a pilot must be drawn as the new items will be, and these {pilot.pool.CHOSEN}; give "
            "items that were drawn blindly"
        )
    return pilot


def _check_two(pilot: Outcomes | Scores | Suite, a: str | None, b: str | None) -> list[str]:
    """Return the names of two models of a pilot."""
    if (a is None or b is None) and len(pilot.models) != 2:
        raise UsageError(
            f"name two models of the pilot with {param('a=')} and {param('b=')}; it has "
            f"{pilot.models}"
        )
    return [pilot.models[0] if a is None else a, pilot.models[1] if b is None else b]


def pilot_world(
    pilot: object, a: str | None, b: str | None, analysis: Analysis
) -> tuple[World, Rope]:
    """Return the world that a pilot's posterior draws anew for every project."""
    if isinstance(pilot, Suite):
        return suite_world(pilot, _check_two(pilot, a, b), analysis)
    checked = _check_pilot(pilot, analysis.verb)
    seen = selected(checked, _check_two(checked, a, b), verb=analysis.verb)
    if isinstance(seen, Scores):
        asked = analysis.ask_scores(seen)
        return _score_world(asked, analysis), rope_for(asked, analysis.rope)
    spec = analysis.ask(seen)
    rope = rope_for(spec, analysis.rope)
    world = posterior_world(
        spec,
        rope=rope,
        items="new",
        prob=analysis.prob,
        n_draws=analysis.draws(_TABLE_DRAWS),
        origin=f"pilot={seen.n}",
    )
    return world, rope


def suite_world(pilot: Suite, names: Sequence[str], analysis: Analysis) -> tuple[SuiteWorld, Rope]:
    """Return the world of a suite's tasks, each drawn from its own posterior."""

    def ask(data: object, **asked: Any) -> LabelSpec:
        seen = _check_pilot(data, analysis.verb)
        if isinstance(seen, Scores):
            raise UsageError("a suite with tasks of scores cannot be planned; plan them one by one")
        return make_label_spec(seen, **asked)

    given = {name: getattr(analysis, name) for name in _OF_SUITES}
    asked = questions(pilot.select(names), ask, **shared_question(given))
    how = average(pilot, asked)
    tasks = {}
    for one in asked:
        assert isinstance(one.spec, LabelSpec)
        tasks[one.task] = posterior_world(
            one.spec,
            rope=one.rope,
            items="new",
            prob=analysis.prob,
            n_draws=analysis.draws(_TABLE_DRAWS),
            origin=f"pilot={one.spec.n}",
        )
    called = {one.spec.metric.name for one in asked}
    label = measure(how.scale, {one.spec.metric.label for one in asked}, len(asked))
    metric = replace(
        next(iter(tasks.values())).metric,
        name=called.pop() if len(called) == 1 else "mean",
        label=label,
        greater_is_better=how.greater_is_better,
    )
    return SuiteWorld(tasks=tasks, how=how, metric=metric), how.rope


_OF_SUITES = ("metric", "rope", "labels", "prior", "paired", "pos_label")


def _score_world(spec: ScoreSpec, analysis: Analysis) -> ScoreWorld:
    """Return the world of a pilot's scores."""
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
    """Return the world of two accuracies and the share of items on which they agree."""
    shares = _right_and_wrong(accuracies, agreement)
    analysis.refuse("labels", "pos_label", what="accuracies")
    if analysis.metric is not None and get_labels(analysis.metric).name != "accuracy":
        raise UsageError(
            f"accuracies are about {param('metric=', 'accuracy')}; got {analysis.metric!r}"
        )
    example = Outcomes.from_correct({"A": [1, 1, 0, 0], "B": [1, 0, 1, 0]})
    (table,) = example.tables
    # Cells come in the order of A, then B: neither, only B, only A, both.
    probabilities = np.array(shares[::-1])
    counts = np.rint(_MANY * probabilities).astype(np.int64)
    spec = analysis.ask(replace(example, tables=(replace(table, counts=counts),)), "accuracy")
    rope = rope_for(spec, analysis.rope)
    world = TableWorld(
        spec=spec,
        make_predict=lambda: certain(example, probabilities),
        items="certain",
        rope=rope,
        n_draws=analysis.draws(_TABLE_DRAWS),
        prob=analysis.prob,
        origin=f"accuracies={'/'.join(f'{one:g}' for one in accuracies)} | agreement={agreement:g}",
    )
    return world, rope


def _part(name: str) -> str:
    """Return what to call a part of the world."""
    return param(name) + either(" in world", "")


def _right_and_wrong(accuracies: object, agreement: object) -> tuple[float, float, float, float]:
    """Return the shares that both, only A, only B and neither get right.

    ``both + neither = g``, ``both + only A = p`` and ``both + only B = q`` give
    ``both = (g + p + q − 1) / 2``.
    """
    if accuracies is None:
        raise UsageError(
            f"agreement is of two models; give {_part('accuracies')}, of A and of B, too"
        )
    if not isinstance(accuracies, Sequence | np.ndarray) or len(accuracies) != 2:
        raise UsageError(f"{param('accuracies')} must be two, of A and of B; got {accuracies!r}")
    p, q = (check_probability(one) for one in accuracies)
    lowest, highest = abs(p + q - 1), 1 - abs(p - q)
    if agreement is None:
        raise UsageError(
            f"give {_part('agreement')}, the share of items that both get right or both wrong: "
            f"from {lowest:g} to {highest:g} for these accuracies"
        )
    g = check_probability(agreement)
    if not lowest - 1e-12 <= g <= highest + 1e-12:
        raise UsageError(
            f"models with accuracies {p:g} and {q:g} are both right or both wrong on {lowest:g} "
            f"to {highest:g} of the items; got agreement {g:g}"
        )
    both = (g + p + q - 1) / 2
    found = both, p - both, q - both, 1 - p - q + both
    both, only_a, only_b, neither = (max(share, 0.0) for share in found)
    return both, only_a, only_b, neither


def rates_world(
    theta_pos: Mapping[str, float] | None,
    theta_neg: Mapping[str, float] | None,
    prevalence: float | None,
    analysis: Analysis,
) -> tuple[RatesWorld, Rope]:
    """Return the world of the papers' outcome probabilities."""
    analysis.refuse("labels", "pos_label", what="outcome probabilities")
    measured = binary_metric("f1" if analysis.metric is None else analysis.metric)
    if theta_pos is None or theta_neg is None or prevalence is None:
        raise UsageError(
            f"give all three of {param('theta_pos')}, {param('theta_neg')} and "
            f"{param('prevalence')}"
        )
    prior = "unit" if analysis.prior is None else analysis.prior
    dirichlet_shapes(prior)  # refused here, before anything is simulated
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
    """A world of which only the accuracies are known."""

    accuracies: tuple[float, float]
    agreement: float


class Rates(TypedDict):
    """A world of two classes, by the probabilities of each pair of answers."""

    theta_pos: Mapping[str, float]
    theta_neg: Mapping[str, float]
    prevalence: float


_ACCURACIES = tuple(Accuracies.__annotations__)
_RATES = tuple(Rates.__annotations__)


def plan(
    *,
    pilot: Outcomes | Scores | Suite | None = None,
    a: str | None = None,
    b: str | None = None,
    world: Accuracies | Rates | None = None,
    goal: str | Decision = "decided",
    metric: MetricLike | None = None,
    rope: RopeLike | None = None,
    target: float = 0.8,
    most: int = MOST,
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
    """Find the number of test items at which the wanted decision probably comes.

    The world is what you have: a pilot's outcomes, two accuracies and how often the two agree, or
    the outcome probabilities of the papers. Test sets are drawn from it and compared. With a
    pilot every simulated project draws its world from the pilot's posterior first, so the plan
    carries what the pilot does not know; the other worlds are taken as they are.

    Parameters
    ----------
    pilot
        Outcomes or scores of items like those to come; the new test set will be analysed alone. Of
        a :class:`Suite` the mean over its tasks is planned for, and all tasks grow by one factor:
        n is their sum, and ``tasks`` of the plan has the items of each.
    a, b
        The names of two models in the pilot; may be left out if it has two.
    world
        Instead of a pilot a mapping: ``accuracies``, that of A and that of B, and ``agreement``,
        the share of items that both get right or both wrong; or ``theta_pos``, ``theta_neg``
        and ``prevalence``, the outcome probabilities of two classes, as for :func:`power`.
    goal
        The wanted decision: ``"decided"`` for any firm one, ``"≫"``, ``"≈"``, ``"≪"`` or their
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
        Whether the comparison will use that the items are the same.
    hdi_prob
        Probability mass of the HDI.
    prior, labels, pos_label
        As for :func:`compare`: how the pilot is read, and how the new items will be.
    n_simulations
        The most test sets that are simulated; fewer where the answer is precise before. Default:
        4,000, and 400 with a pilot, whose range is wider than their error; 100 with a pilot of
        three classes or more, whose prior is learned again from each.
    n_draws
        Draws a test set.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.

    Examples
    --------
    >>> import outperform as op
    >>> found = op.plan(world={"accuracies": (0.90, 0.86), "agreement": 0.9}, rope=0.01,
    ...                 goal="better", n_simulations=1_000, random_state=0)
    >>> found.reachable, 700 < found.n < 1_000
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
    said = _given(world)
    accuracies, rates = ({name: said.get(name) for name in part} for part in (_ACCURACIES, _RATES))
    there, region = the_world({"pilot": pilot, "a": a, "b": b}, accuracies, rates, analysis)
    of_pilot, learned = pilot is not None, "prior=learned" in there.parts()
    default = _OF_LEARNED if learned else _OF_PILOT if of_pilot else _SIMULATIONS
    most_simulated = check_draws(
        default if n_simulations is None else n_simulations, name="n_simulations"
    )
    search = Search(
        goal=firm_goal(goal, region, greater_is_better=there.metric.greater_is_better),
        target=check_target(target),
        most=check_most(most),
        n_simulations=most_simulated,
        doubt=LITTLE_DOUBT if of_pilot and most_simulated < _OF_PILOT else DOUBT,
        precision=PRECISION_OF_RANGE if of_pilot else PRECISION,
        n_jobs=n_jobs,
    )
    seed = seed_sequence(random_state)
    with in_steps() as progress:
        curve, points = search.run(there, seed, progress)
    found = summarize_plan(search, curve, points, world=there, rope=region, seed=seed)
    size = found.least if found.n is None else found.n
    if isinstance(there, SuiteWorld) and size is not None:
        return replace(found, tasks=there.sizes(size))
    return found


def _given(world: Accuracies | Rates | None) -> dict[str, Any]:
    """Return what was said of a world, or say what may be said."""
    if world is None:
        return {}
    if not isinstance(world, Mapping):
        raise UsageError(
            "world must be a mapping such as {'accuracies': (0.9, 0.86), 'agreement': 0.9}; "
            f"got {world!r}"
        )
    for name in world:
        if name not in (*_ACCURACIES, *_RATES):
            raise UsageError(unknown_name("part of a world", name, (*_ACCURACIES, *_RATES)))
    return {name: value for name, value in world.items() if value is not None}


def the_world(
    pilot: dict[str, Any],
    accuracies: dict[str, Any] | None,
    rates: dict[str, Any],
    analysis: Analysis,
) -> tuple[World, Rope]:
    """Return the one world that was given; accuracies are None where a verb takes none."""
    parts = {"a pilot": pilot, "accuracies": accuracies or {}, "theta": rates}
    given = [name for name, part in parts.items() if any(one is not None for one in part.values())]
    if len(given) != 1:
        ways = either("pilot=, or ", "the file of a pilot, or ")
        if accuracies is not None:
            ways += either("world= with ", "") + f"{param('accuracies')} and {param('agreement')}"
            ways += either(", or with ", ", or ")
        raise UsageError(
            f"give exactly one world: {ways}{param('theta_pos')}, {param('theta_neg')} and "
            f"{param('prevalence')}; got {' and '.join(given) or 'none'}"
        )
    if accuracies is not None and given == ["accuracies"]:
        return accuracies_world(**accuracies, analysis=analysis)
    if given == ["theta"]:
        return rates_world(**rates, analysis=analysis)
    return pilot_world(**pilot, analysis=analysis)
