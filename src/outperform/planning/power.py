"""``power``: probability that a comparison reaches its goal, by number of items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

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
from outperform.inference.engine import check_draws
from outperform.inference.suite import Suite
from outperform.inference.summary import seed_name
from outperform.metrics.metric import MetricLike
from outperform.planning.api import Analysis, the_world
from outperform.planning.goals import World, any_decision
from outperform.planning.text import plot_power
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import child, seed_sequence
from outperform.progress import in_steps
from outperform.results.base import Tabular
from outperform.wrong_calls import explained


@written("goal sizes power mcse n_simulations signature", kind="power")
@dataclass(frozen=True, slots=True, kw_only=True)
class Power(Tabular):
    """Power of a comparison at each number of items.

    Parameters
    ----------
    sizes
        Numbers of items.
    power
        Share of simulated data sets that reached the goal, at each size.
    mcse
        Simulation error of the power, at each size.
    goal
        Decision to reach, or ``"decided"``.
    n_simulations
        Number of simulated data sets at each size.
    signature
        One line with everything needed to repeat the computation.
    """

    sizes: tuple[int, ...]
    power: FloatArray
    mcse: FloatArray
    goal: str
    n_simulations: int
    signature: str

    def table(self) -> Table:
        """Return one row per size."""
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
        """Draw the power curve, or add it to existing axes.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        label
            Text next to the curve.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return plot_power(
            self.sizes, self.power, self.mcse, goal=self.goal, label=label, ax=ax, size=size
        )

    def _document(self) -> Document:
        points = list(zip(self.sizes, self.power.tolist(), self.mcse.tolist(), strict=True))
        n, share, _ = points[-1]
        headline = (
            f"With {n:,} items, the goal ({self.goal}) is reached with {share:.0%} probability."
        )
        table = self.table()
        return Document(
            headline=headline,
            short=table.title or "",
            picture=Chances(
                line=(self.sizes, self.power),
                points=points,
                label=f"Power by number of items. {headline}",
                axis="items",
            ),
            screen=[Rows(table=table)],
            table=table,
            method=f"{self.n_simulations:,} simulated test sets per size",
            signature=self.signature,
        )


@explained
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
    """Simulate test sets of each size and return the share that reaches a decision.

    The scenario is a pilot, or outcome probabilities of two classes. With a pilot, each simulated
    data set first draws true values from the pilot's posterior, as for :func:`plan`. Probabilities
    are taken as certain: each data set draws the number of positive items, then the predictions for
    each class.

    Parameters
    ----------
    pilot
        Outcomes or scores of items like the new ones, or a :class:`Suite`, as for :func:`plan`.
    a, b
        Names of two models in the pilot. Not needed if it has two.
    theta_pos, theta_neg
        Instead of a pilot: outcome probabilities in the positive and in the negative class. Keys
        ``"11"``, ``"10"``, ``"01"``, ``"00"`` show whether (A, B) predict positive.
    prevalence
        With outcome probabilities: probability that an item is positive.
    sizes
        Numbers of items.
    goal
        Decision to reach: ``"≫"``, ``"≈"``, ``"≪"`` or its name, or ``"decided"`` for any of the
        three.
    metric
        As for :func:`compare`. With outcome probabilities, a single-class metric. Default: F1.
    rope
        Region of practical equivalence.
    paired
        Whether to compare the models item by item.
    hdi_prob
        Probability mass of the HDI.
    prior, labels, pos_label
        As for :func:`compare`, for the pilot and for the new items. With outcome probabilities the
        prior is ``"unit"`` (default), ``"uniform"``, ``"jeffreys"``, an array or a :class:`Prior`.
    n_simulations
        Number of simulated data sets at each size.
    n_draws
        Number of draws per data set. Default: 4,000, or 1,000 with outcomes of a pilot.
    random_state
        Integer, SeedSequence, Generator or RandomState. None chooses a random seed.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.

    Examples
    --------
    >>> import outperform as op
    >>> positive = {"11": 0.6, "10": 0.3, "01": 0.0, "00": 0.1}
    >>> negative = {"11": 0.1, "10": 0.0, "01": 0.0, "00": 0.9}
    >>> power = op.power(theta_pos=positive, theta_neg=negative, prevalence=0.5, sizes=[500],
    ...                  goal="≫", rope=0.05, n_simulations=100, random_state=0)
    >>> print(power.power)
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
    condition = any_decision(goal, region, greater_is_better=world.metric.greater_is_better)
    if not hasattr(sizes, "__len__") or isinstance(sizes, str) or not len(sizes):
        raise UsageError(f"{param('sizes')} must be a list of numbers of items; got {sizes!r}")
    n_simulations = check_draws(n_simulations, name="n_simulations")
    seed = seed_sequence(random_state)
    reached = []
    with in_steps() as progress:
        for i, size in enumerate(sizes):
            ends = world.simulate(_size(size), n_simulations, child(seed, i), n_jobs=n_jobs)
            reached.append(condition.reached(ends).mean())
            if progress is not None:
                progress(i + 1, len(sizes))
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
