"""``power``: how often a comparison reaches its goal at each number of items."""

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
