"""``power`` and ``more_data``: how often the decision comes, how many more items decide."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import NamedTuple, TypeGuard

import numpy as np

from outperform import __version__
from outperform._json import written
from outperform._typing import Axes, FigureSize, FloatArray, Label, Seed
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.decision.rope import Decision, Rope, RopeLike, probability_error
from outperform.display.document import Chances, Document, Rows
from outperform.display.formats import count_column, number_column
from outperform.display.table import Table
from outperform.errors import UsageError, param
from outperform.findings import is_serious
from outperform.inference.engine import check_draws
from outperform.inference.items import left_in_pool
from outperform.inference.question import ONCE
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import LabelSpec, Spec
from outperform.inference.suite import Suite
from outperform.inference.summary import seed_name
from outperform.metrics.metric import MetricLike
from outperform.planning.api import Analysis, the_world
from outperform.planning.goals import (
    Goal,
    Outlook,
    World,
    any_decision,
    firm_goal,
    first_size,
    prior_worth,
)
from outperform.planning.result import Plan, summarize_plan
from outperform.planning.sample_size import (
    LITTLE_DOUBT,
    PRECISION_OF_RANGE,
    Curve,
    Search,
    check_most,
    check_target,
)
from outperform.planning.text import plot_power
from outperform.planning.worlds import ScoreWorld, TableWorld, posterior_world
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import child, seed_sequence
from outperform.progress import in_steps
from outperform.results.base import Tabular
from outperform.results.compared import Compared


@written("goal sizes power mcse n_simulations signature", kind="power")
@dataclass(frozen=True, slots=True, kw_only=True)
class Power(Tabular):
    """How often the goal was reached at each size.

    Parameters
    ----------
    sizes
        Numbers of items.
    power
        The share of simulated data sets that reached the goal, one a size.
    mcse
        Its simulation error, one a size.
    goal
        The wanted decision, or ``"decided"``.
    n_simulations
        How many data sets were simulated at each size.
    signature
        What makes the result repeatable.
    """

    sizes: tuple[int, ...]
    power: FloatArray
    mcse: FloatArray
    goal: str
    n_simulations: int
    signature: str

    def table(self) -> Table:
        """Return one row a size."""
        rows = [
            {"n": size, "power": float(power), "mcse": float(error)}
            for size, power, error in zip(self.sizes, self.power, self.mcse, strict=True)
        ]
        columns = (
            count_column("n", "items"),
            number_column("power", f"P({self.goal})", 3),
            number_column("mcse", "simulation error", 3),
        )
        goal = "a decision" if self.goal == "decided" else self.goal
        return Table(columns, tuple(rows), title=f"Probability of {goal}")

    def plot(
        self, ax: Axes | None = None, *, label: str | None = None, size: FigureSize = "text"
    ) -> Axes:
        """Draw the power curve; with the axes of another one, beside it.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        label
            What to write at the end of the curve.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return plot_power(
            self.sizes, self.power, self.mcse, goal=self.goal, label=label, ax=ax, size=size
        )

    def _document(self) -> Document:
        points = list(zip(self.sizes, self.power.tolist(), self.mcse.tolist(), strict=True))
        n, share, _ = points[-1]
        said = (
            f"With {n:,} items the goal, {self.goal}, is reached with a probability of {share:.0%}."
        )
        table = self.table()
        return Document(
            headline=said,
            short=table.title or "",
            picture=Chances(
                line=(self.sizes, self.power),
                points=points,
                label=f"Power by the number of items. {said}",
                axis="items",
            ),
            screen=[Rows(table=table)],
            table=table,
            method=f"{self.n_simulations:,} simulated test sets a size",
            signature=self.signature,
        )


def power(
    pilot: Outcomes | Scores | Suite | None = None,
    a: str | None = None,
    b: str | None = None,
    *,
    theta_pos: Mapping[str, float] | None = None,
    theta_neg: Mapping[str, float] | None = None,
    prevalence: float | None = None,
    sizes: Sequence[int],
    goal: str | Decision = "decided",
    metric: MetricLike | None = None,
    rope: RopeLike | None = None,
    paired: bool = True,
    hdi_prob: float = 0.95,
    prior: PriorLike | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    n_simulations: int = 2_000,
    n_draws: int | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
) -> Power:
    """Simulate test sets and count how often the decision is the wanted one.

    The world is a pilot's, or outcome probabilities of two classes. With a pilot every data set
    draws its world from the pilot's posterior first, as for :func:`plan`; probabilities are taken
    as they are: each data set draws the number of positive items, then the outcome pairs of
    either class.

    Parameters
    ----------
    pilot
        Outcomes or scores of items like those to come, or a :class:`Suite`, as for :func:`plan`.
    a, b
        The names of two models in the pilot; may be left out if it has two.
    theta_pos, theta_neg
        Instead of a pilot: in positive and in negative items, the probability that A and B
        predict positive: keys ``"11"``, ``"10"``, ``"01"``, ``"00"`` are (A, B).
    prevalence
        With them, the probability that an item is positive.
    sizes
        Numbers of items.
    goal
        The wanted decision: ``"≫"``, ``"≈"``, ``"≪"``, any other sign or name of
        a :class:`Decision`, or ``"decided"`` for any of the three firm ones.
    metric
        As for :func:`compare`; of outcome probabilities one of one class, F1 by default.
    rope
        The region of practical equivalence.
    paired
        Whether the comparison uses that the items are the same.
    hdi_prob
        Probability mass of the HDI.
    prior, labels, pos_label
        As for :func:`compare`: how the pilot is read, and how the new items will be. Of outcome
        probabilities the prior is ``"unit"``, the default, ``"uniform"``, ``"jeffreys"``, an
        array or a :class:`Prior`.
    n_simulations
        Data sets a size.
    n_draws
        Draws a data set: 4,000 by default, of the outcomes of a pilot 1,000.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.

    Examples
    --------
    >>> import outperform as op
    >>> world = {"11": 0.6, "10": 0.3, "01": 0.0, "00": 0.1}
    >>> found = op.power(theta_pos=world, theta_neg={"11": 0.1, "10": 0.0, "01": 0.0, "00": 0.9},
    ...                  prevalence=0.5, sizes=[500], goal="≫", rope=0.05, n_simulations=100,
    ...                  random_state=0)
    >>> print(found.power)
    [1.]
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
        verb="power",
    )
    rates = {"theta_pos": theta_pos, "theta_neg": theta_neg, "prevalence": prevalence}
    world, region = the_world({"pilot": pilot, "a": a, "b": b}, None, rates, analysis)
    wanted = any_decision(goal, region, greater_is_better=world.metric.greater_is_better)
    if not hasattr(sizes, "__len__") or isinstance(sizes, str) or not len(sizes):
        raise UsageError(f"{param('sizes')} must be a list of numbers of items; got {sizes!r}")
    n_simulations = check_draws(n_simulations, name="n_simulations")
    seed = seed_sequence(random_state)
    reached = []
    with in_steps() as progress:
        for place, size in enumerate(sizes):
            ends = world.simulate(_size(size), n_simulations, child(seed, place), n_jobs=n_jobs)
            reached.append(wanted.reached(ends).mean())
            if progress is not None:
                progress(place + 1, len(sizes))
    share = np.array(reached)
    errors = np.array([probability_error(float(value), n_simulations) for value in share])
    return Power(
        sizes=tuple(int(size) for size in sizes),
        power=share,
        mcse=errors,
        goal=goal if isinstance(goal, str) else goal.symbol,
        n_simulations=n_simulations,
        signature=_signature(world, sizes, goal, region, n_simulations, seed),
    )


def _signature(
    world: World,
    sizes: Sequence[int],
    goal: str | Decision,
    rope: Rope,
    n_simulations: int,
    seed: np.random.SeedSequence,
) -> str:
    parts = [
        f"outperform {__version__}",
        "power",
        f"metric={world.metric.name}",
        f"goal={goal if isinstance(goal, str) else goal.symbol}",
        f"rope={rope}",
        *world.parts(),
        f"sizes={'/'.join(map(str, sizes))}",
        f"hdi={world.prob:g}",
        f"simulations={n_simulations}",
        f"draws={world.n_draws}",
        f"seed={seed_name(seed)}",
        f"numpy={np.__version__}",
    ]
    return " | ".join(parts)


def _size(size: int) -> int:
    if not isinstance(size, Real) or not 1 <= size < math.inf or size != int(size):
        raise UsageError(f"{param('sizes')} must be positive whole numbers; got {size!r}")
    return int(size)


TARGET = 0.8
# So many times the items that there are is the most that is worth naming.
_MOST_TIMES = 100
_DRAWS = 400


@written()
class Needed(NamedTuple):
    """About how many more items reach a goal: from the data at face value to the safe number.

    Parameters
    ----------
    n
        How many more are enough however little such models differ; None where even ``most``
        may not be.
    least
        How many more are enough if the data are taken at face value; None where even ``most``
        are not.
    probability
        How probably n reach the goal at least, or the most.
    most
        Largest number of items considered.
    """

    n: int | None
    least: int | None
    probability: float
    most: int


def outlook_of(comparison: Compared, *, stays: float = 0.0) -> Outlook:
    """Return what normal theory says of a comparison with more items.

    The posterior is that of the items and of the prior, so both are behind it.
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
    """Return about how many more items reach a goal with a probability, by normal theory.

    None where theory says nothing: where a serious finding withholds the decision, where items
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
    if is_serious(comparison.findings) or not _is_of_items(comparison):
        return None
    if comparison.spec.metric.name == "judged_mean":  # by people or by the judge?
        return None
    most, stays = _MOST_TIMES * max(comparison.n, 1), 0.0
    if _is_chosen(comparison.spec):
        left = left_in_pool(comparison.spec, comparison.sd)
        if left is None:
            return None
        most, stays = left
    outlook = outlook_of(comparison, stays=stays)
    return needed_by(outlook, goal, target=target, most=most)


def needed_by(outlook: Outlook, goal: Goal, *, target: float = TARGET, most: int) -> Needed:
    """Return about how many more items reach a goal, at face value and safely.

    Parameters
    ----------
    outlook
        What is known now.
    goal
        What is hoped for.
    target
        The wanted probability.
    most
        No larger number is considered.

    Examples
    --------
    >>> from outperform.decision.rope import Rope
    >>> now = Outlook(n=1_000, mean=0.012, sd=0.004, below=0.0078, above=0.0078, items="more")
    >>> goal = firm_goal("decided", Rope.from_param(0.01), greater_is_better=True)
    >>> found = needed_by(now, goal, most=1_000_000)
    >>> print(found.least, found.n)
    45926 73025
    """
    least = first_size(lambda sizes: outlook.probability(goal, sizes), target, most=most)
    n = first_size(lambda sizes: outlook.least_probability(goal, sizes), target, most=most)
    probability = outlook.least_probability(goal, most if n is None else n)
    return Needed(n=n, least=least, probability=float(probability), most=most)


def needed_to_decide(comparison: Compared) -> Needed | None:
    """Return about how many more items would decide; None if it is, or theory says nothing.

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
    most: int | None,
    n_simulations: int,
    n_draws: int | None,
    random_state: Seed,
    n_jobs: int | None,
) -> Plan:
    """Simulate how many more items a comparison needs; see :meth:`Comparison.more_data`."""
    spec = comparison.spec
    if not _is_of_items(comparison):
        raise UsageError(
            "more_data() draws items from the posterior of a comparison of two models on one test "
            "set; folds and training runs are not drawn"
        )
    if _is_chosen(spec):
        raise UsageError(
            f"more_data() draws items as they come, and these {_chosen(spec)}; print the "
            "comparison to see about how many more labels would decide it"
        )
    goals = firm_goal(goal, comparison.rope, greater_is_better=spec.metric.greater_is_better)
    search = Search(
        goal=goals,
        target=check_target(target),
        most=_MOST_TIMES * max(comparison.n, 1) if most is None else check_most(most),
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
    """Return the world of the posterior of what was seen."""
    spec, prob, origin = comparison.spec, comparison.hdi.prob, f"seen={comparison.n}"
    if isinstance(spec, ScoreSpec):
        return ScoreWorld(
            spec=spec, items="more", prob=prob, origin=origin, difference=np.sort(comparison.draws)
        )
    drawn = posterior_world(
        spec, rope=comparison.rope, items="more", prob=prob, n_draws=n_draws, origin=origin
    )
    return replace(drawn, known=outlook_of(comparison))  # as it is printed


def _is_reached(comparison: Compared, goal: Goal) -> bool:
    ends = np.array([[comparison.hdi.low], [comparison.hdi.high]])
    return bool(goal.reached(ends)[0]) and not is_serious(comparison.findings)


def _decided(
    comparison: Compared,
    search: Search,
    world: TableWorld | ScoreWorld,
    seed: np.random.SeedSequence,
) -> Plan:
    """Return the plan that asks for nothing."""
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
