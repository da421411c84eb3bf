"""``power``: how often the wanted verdict would come, for given outcome probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from outperform import present
from outperform._typing import FloatArray, Progress, Seed
from outperform._version import __version__
from outperform.comparison.engine import check_draws
from outperform.comparison.planning.goals import any_verdict
from outperform.comparison.planning.rates import (
    RatesWorld,
    binary_metric,
    check_probability,
    check_theta,
)
from outperform.comparison.summary import SCHEMA, seed_name
from outperform.comparison.tabular import Tabular
from outperform.decision import Decision, Rope, check_prob, probability_error
from outperform.errors import UsageError
from outperform.posterior import Prior, child, seed_sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Power(Tabular):
    """How often the goal was reached at each size.

    Parameters
    ----------
    sizes
        Numbers of documents.
    power
        The share of simulated data sets that reached the goal, one a size.
    mcse
        Its simulation error, one a size.
    goal
        The wanted verdict, or ``"decided"``.
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

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, with a schema version."""
        return {
            "schema": SCHEMA,
            "kind": "power",
            "goal": self.goal,
            "sizes": list(self.sizes),
            "power": self.power.tolist(),
            "mcse": self.mcse.tolist(),
            "n_simulations": self.n_simulations,
            "signature": self.signature,
        }

    def table(self) -> present.Table:
        """Return one row a size."""
        rows = [
            {"n": size, "power": float(power), "mcse": float(error)}
            for size, power, error in zip(self.sizes, self.power, self.mcse, strict=True)
        ]
        columns = (
            present.count_column("n", "documents"),
            present.number_column("power", f"P({self.goal})", 3),
            present.number_column("mcse", "simulation error", 3),
        )
        return present.Table(columns, tuple(rows), title=f"Power to reach {self.goal}")

    def plot(self, ax: Any = None, *, label: str | None = None) -> Any:
        """Draw the power curve; with the axes of another one, beside it.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        label
            What the curve is called in the legend.
        """
        return present.plot_power(
            self.sizes, self.power, self.mcse, goal=self.goal, label=label, ax=ax
        )

    def __str__(self) -> str:
        return self.table().to_text()


def power(
    *,
    theta_pos: Mapping[str, float],
    theta_neg: Mapping[str, float],
    prevalence: float,
    sizes: Sequence[int],
    goal: str | Decision = "decided",
    metric: Any = "f1",
    rope: Any = None,
    paired: bool = True,
    hdi_prob: float = 0.95,
    prior: Any = None,
    n_simulations: int = 2_000,
    n_draws: int = 4_000,
    random_state: Seed = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Power:
    """Simulate test sets and count how often the verdict is the wanted one.

    Each data set draws the number of positive documents, then the outcome
    pairs of either class; the same data are compared by the paired or the
    unpaired model.

    Parameters
    ----------
    theta_pos, theta_neg
        In positive and in negative documents, the probability that A and B
        predict positive: keys ``"11"``, ``"10"``, ``"01"``, ``"00"`` are (A, B).
    prevalence
        The probability that a document is positive.
    sizes
        Numbers of documents.
    goal
        The wanted verdict: ``"≫"``, ``"≈"``, ``"≪"``, any other sign or name of
        a :class:`Decision`, or ``"decided"`` for any of the three firm ones.
    metric
        A binary metric.
    rope
        The region of practical equivalence.
    paired
        Whether the comparison uses that the documents are the same.
    hdi_prob
        The mass of the interval.
    prior
        The prior of the flat model.
    n_simulations
        Data sets a size.
    n_draws
        Draws a data set.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        Threads; the result does not depend on it.
    progress
        Called with how many sizes are done and how many there are.

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
    measured = binary_metric(metric, "power")
    region = Rope.from_param(rope, bounds=measured.bounds)
    wanted = any_verdict(goal, region, greater_is_better=measured.greater_is_better)
    world = RatesWorld(
        theta=check_theta(theta_pos, theta_neg),
        prevalence=check_probability(prevalence),
        prior=Prior.from_param(prior),
        paired=paired,
        metric=measured,
        n_draws=check_draws(n_draws),
        prob=check_prob(hdi_prob),
    )
    if not hasattr(sizes, "__len__") or isinstance(sizes, str) or not len(sizes):
        raise UsageError(f"sizes must be a list of numbers of documents; got {sizes!r}")
    n_simulations = check_draws(n_simulations, name="n_simulations")
    seed = seed_sequence(random_state)
    reached = []
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
    world: RatesWorld,
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
        raise UsageError(f"sizes must be positive whole numbers; got {size!r}")
    return int(size)
