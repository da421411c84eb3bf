"""``Plan``: the sample size and its power curve. ``Proposal``: items to label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtri

from outperform import __version__
from outperform._json import MaybeNaN, written
from outperform._missing import is_missing, unmasked
from outperform._typing import (
    Axes,
    ColumnLike,
    FigureSize,
    FloatArray,
    IntArray,
    Label,
    ModelsLike,
)
from outperform.data.checks import named
from outperform.data.outcomes import Outcomes
from outperform.decision.rope import Rope, probability_error
from outperform.display.document import Document
from outperform.display.table import Table
from outperform.errors import DataError, UsageError
from outperform.findings import Finding, finding
from outperform.inference.diagnostics import rope_findings
from outperform.inference.summary import seed_name
from outperform.planning.goals import Outlook, World, grid_of_sizes
from outperform.planning.sample_size import Curve, Point, Search
from outperform.planning.text import (
    plan_document,
    plan_headline,
    plan_paragraph,
    plan_table,
    plot_plan,
    proposal_document,
    proposal_headline,
    proposal_table,
)
from outperform.results.base import Tabular

# A simulation error of n above this share of n adds a finding. With a pilot the limit is higher,
# because the range from the face-value number to the safe number is wide.
_COARSE, _COARSE_OF_RANGE = 0.1, 0.5


@written(
    "names metric metric_label goal target rope n n_error least least_error tasks reached "
    "error highest seen items=curve.outlook.items max_items width=_width detectable=_detectable "
    "sizes shares mc_errors widths=_widths n_simulations findings signature",
    kind="plan",
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Plan(Tabular):
    """Number of items needed to reach a decision with a given probability.

    Parameters
    ----------
    n
        Number of items that is enough even if such models differ little; None if no number up to
        ``max_items`` is. For an existing comparison, the number of additional items; 0 if it is
        decided.
    n_error
        Simulation error of n.
    least, least_error
        Number of items that is enough if the pilot's data are taken at face value, and its
        simulation error; None if no number up to ``max_items`` is. Equal to n in a certain
        scenario.
    reached, error
        Lowest probability of the goal at n, and its simulation error; if n is None, the largest
        over all sizes.
    highest
        Highest probability of the goal at n, over all scatters of true differences that the data do
        not rule out; if n is None, the largest over all sizes.
    target
        Probability to reach.
    goal
        Decision to reach.
    rope
        Region of practical equivalence.
    seen
        Number of existing items, analysed together with the new ones.
    max_items
        Largest number of items considered.
    sizes, shares, mc_errors, widths
        Simulated numbers of items, share of test sets that reached the goal, its simulation
        error, and mean width of the intervals.
    n_simulations
        Total number of simulated test sets.
    names
        Names of A and of B.
    metric, metric_label
        Name of the metric, and its display name.
    curve
        Probability at any size, by normal theory corrected by the simulations.
    findings
        Findings.
    signature
        One line with everything needed to repeat the computation.
    tasks
        For a suite, number of items of each task; their total is n, or ``least`` if n is None.
    """

    n: int | None
    n_error: float
    least: int | None
    least_error: float
    reached: float
    error: float
    highest: float
    target: float
    goal: str
    rope: Rope
    seen: int
    max_items: int
    sizes: tuple[int, ...]
    shares: FloatArray
    mc_errors: FloatArray
    widths: FloatArray
    n_simulations: int
    names: tuple[str, str]
    metric: str
    metric_label: str
    curve: Curve = field(repr=False)
    findings: tuple[Finding, ...]
    signature: str
    tasks: Mapping[str, int] = field(default_factory=dict)

    @property
    def reachable(self) -> bool:
        """Whether the goal can be reached with at most ``max_items`` items."""
        return self.n is not None

    def probability(self, n: int) -> float:
        """Return the probability that n items reach the goal, taking the data at face value.

        Parameters
        ----------
        n
            Number of items, in addition to existing ones.
        """
        return float(self.curve.at([_check_size(n)])[0])

    def least_probability(self, n: int) -> float:
        """Return the lowest probability that n items reach the goal.

        Unlike :meth:`probability`, it allows for models that differ less than observed.

        Parameters
        ----------
        n
            Number of items, in addition to existing ones.
        """
        return float(self.curve.least_at([_check_size(n)])[0])

    def width(self, n: int) -> float:
        """Return the expected width of the interval.

        Parameters
        ----------
        n
            Number of items, in addition to existing ones.
        """
        return float(self.curve.width([_check_size(n)])[0])

    def detectable(self, n: int) -> float:
        """Return the smallest true difference that is declared better with the target probability.

        The whole interval must lie outside the ROPE. Its half-width is taken from this scenario,
        and its midpoint varies with the sd: ``edge + half-width + Φ⁻¹(target) · sd``. This assumes
        models that disagree as often as these.

        Parameters
        ----------
        n
            Number of items, in addition to existing ones.
        """
        outlook = self.curve.outlook
        shrunk = outlook.narrowing(_check_size(n))
        up = self.curve.goal.greater_is_better
        edge, reach = (self.rope.high, outlook.below) if up else (-self.rope.low, outlook.above)
        sd = outlook.sd * shrunk
        return float(edge + self.curve.widening * reach * shrunk + ndtri(self.target) * sd)

    @property
    def _size(self) -> int | None:
        return (self.least if self.n is None else self.n) or None

    @property
    def _width(self) -> float | None:
        """Expected width of the interval at ``n``, or at ``least`` if ``n`` is None."""
        return None if self._size is None else self.width(self._size)

    @property
    def _detectable(self) -> float | None:
        """Smallest difference that would be declared better at that size."""
        return None if self._size is None else self.detectable(self._size)

    @property
    def _widths(self) -> tuple[MaybeNaN, ...]:
        """Mean width of the intervals at each simulated size."""
        return tuple(self.widths.tolist())

    def report(self) -> str:
        """Return a paragraph for a paper or a grant proposal: number of items and method."""
        return plan_paragraph(self.to_dict())

    def table(self) -> Table:
        """Return one row per simulated size."""
        return plan_table(self.to_dict())

    def plot(
        self, ax: Axes | None = None, *, label: str | None = None, size: FigureSize = "text"
    ) -> Axes:
        """Draw the curve, the simulated sizes, and the size that reaches the target.

        With a pilot, the shaded area reaches down to the least probability, which allows for
        models that differ less than observed.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        label
            Text at the end of the curve.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        sizes = self._shown_sizes()
        certain = self.curve.outlook.items == "certain"
        return plot_plan(
            sizes,
            self.curve.at(sizes),
            facts=self.to_dict(),
            least=None if certain else self.curve.least_at(sizes),
            label=label,
            ax=ax,
            size=size,
        )

    def _shown_sizes(self) -> FloatArray:
        near = max(self.sizes, default=4) if self.n is None else max(2 * self.n, 4)
        near = max(near, 2 * (self.least or 0))
        return np.linspace(0, min(near, self.max_items), 201)[1:]

    def _document(self) -> Document:
        sizes = self._shown_sizes()
        return plan_document(sizes, self.curve.at(sizes), self.to_dict())

    def __repr__(self) -> str:
        return f"Plan({plan_headline(self.to_dict())})"


def summarize_plan(
    search: Search,
    curve: Curve,
    points: Sequence[Point],
    *,
    world: World,
    rope: Rope,
    seed: np.random.SeedSequence,
    verb: str = "plan",
    seen: int = 0,
    reached: bool = False,
) -> Plan:
    """Return a plan from simulations; there are no simulations if the goal is already reached."""
    least, n = (0, 0) if reached else (search.size(curve), search.safe_size(curve))
    sizes = grid_of_sizes(search.max_items)
    best = int(sizes[int(curve.least_at(sizes).argmax())]) if n is None else n
    relative = curve.relative_error(n, least=True) if n else 0.0
    of_least = curve.relative_error(least) if least else 0.0
    joined = joined_points(points)
    return Plan(
        n=n,
        n_error=(n or 0) * relative,
        least=least,
        least_error=(least or 0) * of_least,
        reached=1.0 if reached else float(curve.least_at([best])[0]),
        error=0.0 if reached else curve.error(best),
        highest=1.0 if reached else float(curve.most_at(sizes if n is None else [n]).max()),
        target=search.target,
        goal=search.goal.name,
        rope=rope,
        seen=seen,
        max_items=search.max_items,
        sizes=tuple(point.n for point in joined),
        shares=np.array([point.share for point in joined]),
        mc_errors=np.array([probability_error(point.share, point.simulated) for point in joined]),
        widths=np.array([point.width for point in joined]),
        n_simulations=sum(point.simulated for point in joined),
        names=world.names,
        metric=world.metric.name,
        metric_label=world.metric.label,
        curve=curve,
        findings=(*world.findings, *rope_findings(rope), *_too_coarse(curve.outlook, of_least)),
        signature=_signature(search, world, rope, seed, verb),
    )


def joined_points(points: Sequence[Point]) -> list[Point]:
    """Merge simulations of the same size; return them by increasing size."""
    by_size: dict[int, list[Point]] = {}
    for point in points:
        by_size.setdefault(point.n, []).append(point)
    return [
        Point(
            n=n,
            simulated=sum(point.simulated for point in group),
            reached=sum(point.reached for point in group),
            width=float(
                np.average(
                    [point.width for point in group], weights=[point.simulated for point in group]
                )
            ),
        )
        for n, group in sorted(by_size.items())
    ]


def _too_coarse(outlook: Outlook, relative: float) -> list[Finding]:
    if relative <= (_COARSE if outlook.items == "certain" else _COARSE_OF_RANGE):
        return []
    return [finding("plan_too_coarse", error=min(relative, 9.99))]


def _signature(
    search: Search, world: World, rope: Rope, seed: np.random.SeedSequence, verb: str
) -> str:
    parts = [
        f"outperform {__version__}",
        verb,
        f"metric={world.metric.name}",
        f"goal={search.goal.name}",
        f"target={search.target:g}",
        f"rope={rope}",
        *world.parts(),
        f"hdi={world.prob:g}",
        f"simulations={search.n_simulations}",
        f"draws={world.n_draws}",
        f"seed={seed_name(seed)}",
        f"numpy={np.__version__}",
    ]
    return " | ".join(parts)


def _check_size(n: int) -> int:
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
        raise UsageError(f"a number of items must be a positive whole number; got {n!r}")
    return int(n)


@written("a b n_pool n_proposed judge?")
class Stratum(NamedTuple):
    """All items of the pool with the same two predictions and the same judge rating.

    Parameters
    ----------
    a, b
        Predictions of A and of B; with verdicts, whether the judge rates A and B as right.
    n_pool, n_proposed
        Number of items in the pool, and the number of these to label.
    judge
        Class assigned by the judge, if there is a judge.
    """

    a: Label
    b: Label
    n_pool: int
    n_proposed: int
    judge: Label | None = None

    @property
    def agree(self) -> bool:
        """Whether both predictions are equal, or the judge rates both right or both wrong."""
        return self.a == self.b


@written(
    "names metric n_pool n_proposed n_apart n_proposed_apart strata items signature judge?=_judge",
    kind="proposal",
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Proposal(Tabular):
    """Items of a pool to label so that A − B is estimated precisely with few labels.

    Parameters
    ----------
    items
        Positions in the predictions of A, counted from 0, in labelling order. If you stop early,
        the sample is still fair: about the same share of every stratum is labelled.
    strata
        Every pair of predictions (with the judge's rating, if there is one), with its number of
        items in the pool and the number proposed.
    names
        Names of A and of B.
    predictions
        Predictions of both models for the whole pool, or the judge's verdicts on them.
    labels
        Possible classes, if passed.
    metric
        Metric whose difference is estimated.
    signature
        One line with everything needed to repeat the proposal.
    judge
        Class that the judge assigns to each item, if there is a judge.
    verdicts
        Whether ``predictions`` are a judge's verdicts, right or wrong.
    findings
        Findings about the rows.
    """

    items: IntArray = field(repr=False)
    strata: tuple[Stratum, ...]
    names: tuple[str, str]
    predictions: Mapping[str, ColumnLike]
    labels: tuple[Label, ...] | None
    metric: str
    signature: str
    judge: ColumnLike | None = None
    verdicts: bool = False
    findings: tuple[Finding, ...] = ()

    @property
    def n_pool(self) -> int:
        """Number of items in the pool."""
        return sum(stratum.n_pool for stratum in self.strata)

    @property
    def n_proposed(self) -> int:
        """Number of items to label."""
        return len(self.items)

    @property
    def n_apart(self) -> int:
        """Number of items in the pool on which the models differ."""
        return sum(stratum.n_pool for stratum in self.strata if not stratum.agree)

    @property
    def n_proposed_apart(self) -> int:
        """Number of items to label on which the models differ."""
        return sum(stratum.n_proposed for stratum in self.strata if not stratum.agree)

    @property
    def _judge(self) -> Literal["classes", "verdicts"] | None:
        """Kind of the judge's ratings: classes, or verdicts on the models."""
        if self.verdicts:
            return "verdicts"
        return None if self.judge is None else "classes"

    def outcomes(self, y_true: ColumnLike | ModelsLike) -> Outcomes:
        """Return the outcomes of the proposed items once all, or the first of them, are labelled.

        Parameters
        ----------
        y_true
            True labels of all ``items`` or of the first of them, in the same order. With verdicts,
            human labels: right or wrong, for each model by name.

        Examples
        --------
        >>> import outperform as op
        >>> new, old = [1, 1, 0, 0] * 25, [1, 0, 0, 0] * 25
        >>> proposal = op.propose(new, old, budget=40, names=("new", "old"), random_state=0)
        >>> y_true = [new[index] for index in proposal.items]  # somebody labels them
        >>> proposal.outcomes(y_true)
        Outcomes(n=40, models=('new', 'old'), labels=(0, 1), paired=True, cells=3, pool=100)
        """
        if self.verdicts:
            human = {name: self._in_pool(values) for name, values in named(y_true).items()}
            outcomes = Outcomes.from_judged(self.predictions, human=human, drawn="by_ratings")
        else:
            column = self._in_pool(y_true)
            outcomes = (
                Outcomes.from_pool(column, self.predictions, labels=self.labels)
                if self.judge is None
                else Outcomes.from_judged(
                    self.predictions,
                    human=column,
                    judge=self.judge,
                    labels=self.labels,
                    drawn="by_ratings",
                )
            )
        return replace(outcomes, findings=self.findings + outcomes.findings)

    def _in_pool(self, values: object) -> list[object]:
        """Return a label column for the whole pool; items that were not proposed have None."""
        n = len(values) if isinstance(values, Sized) else 0
        if not 0 < n <= len(self.items):
            raise DataError(
                f"y_true must be the labels of the {len(self.items)} proposed items, or of the "
                "first of them, in order; for other items use Outcomes.from_pool or from_judged"
            )
        labels: list[object] = np.asarray(unmasked(values), dtype=object).tolist()
        gaps = [i for i, value in enumerate(labels) if is_missing(value)]
        if gaps:
            raise DataError(
                f"{len(gaps)} of {n} proposed items have no label (the first is items[{gaps[0]}]); "
                "label them, or pass only those before the first"
            )
        column: list[object] = [None] * self.n_pool
        for index, value in zip(self.items[:n].tolist(), labels, strict=True):
            column[index] = value
        return column

    def table(self) -> Table:
        """Return one row per stratum, those with the most items to label first."""
        return proposal_table(self.to_dict())

    def _document(self) -> Document:
        return proposal_document(self.to_dict())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({proposal_headline(self.to_dict())})"
