"""``Plan``: the sample size, how surely, and the curve behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from outperform import __version__
from outperform._typing import Axes, FigureSize, FloatArray
from outperform.decision.rope import Rope, probability_error
from outperform.display.cards import Card
from outperform.display.layout import Line, Page
from outperform.display.table import Table
from outperform.errors import UsageError
from outperform.findings import Finding, finding
from outperform.inference.diagnostics import rope_findings
from outperform.inference.summary import SCHEMA, finding_facts, rope_facts, seed_name
from outperform.planning.goals import World, grid_of_sizes
from outperform.planning.sample_size import Curve, Point, Search
from outperform.planning.text import (
    plan_card,
    plan_headline,
    plan_lines,
    plan_paragraph,
    plan_table,
    plot_plan,
)
from outperform.results.base import Tabular

if TYPE_CHECKING:
    from outperform.results.feature_schemas import PlanFacts


# A simulation error of n above this share of it is worth a finding.
_COARSE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Plan(Tabular):
    """The number of items at which the wanted decision comes with the wanted probability.

    Parameters
    ----------
    n
        That number; None if no number up to ``most`` is enough. Of a comparison that could go
        on, how many more; 0 if it is decided.
    n_error
        Its simulation error.
    reached, error
        The probability of the goal at n, and its simulation error; if n is None, the largest
        probability of all.
    target
        The wanted probability.
    goal
        The wanted decision.
    rope
        The region of practical equivalence.
    seen
        How many items are there already and will be analysed with the new ones.
    most
        No larger number was considered.
    sizes, shares, errors, widths
        What was simulated: numbers of items, the share of test sets that reached the goal,
        its simulation error, and the mean width of their intervals.
    n_simulations
        How many test sets were simulated in all.
    names
        The names of A and of B.
    metric, metric_label
        What they are compared in, and that in words.
    curve
        Normal theory corrected by the simulations: the probability at any size.
    findings
        Findings.
    signature
        What makes the result repeatable.
    """

    n: int | None
    n_error: float
    reached: float
    error: float
    target: float
    goal: str
    rope: Rope
    seen: int
    most: int
    sizes: tuple[int, ...]
    shares: FloatArray
    errors: FloatArray
    widths: FloatArray
    n_simulations: int
    names: tuple[str, str]
    metric: str
    metric_label: str
    curve: Curve = field(repr=False)
    findings: tuple[Finding, ...]
    signature: str

    @property
    def reachable(self) -> bool:
        """Whether some number of items is enough."""
        return self.n is not None

    def probability(self, n: int) -> float:
        """Return how probably n items reach the goal.

        Parameters
        ----------
        n
            A number of items, on top of those that are there already.
        """
        return float(self.curve.at([_check_size(n)])[0])

    def width(self, n: int) -> float:
        """Return the expected width of the interval.

        Parameters
        ----------
        n
            A number of items, on top of those that are there already.
        """
        return float(self.curve.width([_check_size(n)])[0])

    def detectable(self, n: int) -> float:
        """Return the smallest difference that is found better with the target's probability.

        The interval has to clear the ROPE and ends as far from its middle as in this world, and
        its middle varies by one sd: ``edge + reach + Φ⁻¹(target) · sd``. Models that disagree as
        often as these are meant.

        Parameters
        ----------
        n
            A number of items, on top of those that are there already.
        """
        outlook = self.curve.outlook
        shrunk = outlook.narrowing(_check_size(n))
        up = self.curve.goal.greater_is_better
        edge, reach = (self.rope.high, outlook.below) if up else (-self.rope.low, outlook.above)
        sd = outlook.sd * shrunk
        return float(edge + self.curve.widening * reach * shrunk + ndtri(self.target) * sd)

    def to_dict(self) -> PlanFacts:
        """Return everything as plain values, with a schema version."""
        n = self.n or None
        return {
            "schema": SCHEMA,
            "kind": "plan",
            "names": list(self.names),
            "metric": self.metric,
            "metric_label": self.metric_label,
            "goal": self.goal,
            "target": self.target,
            "rope": rope_facts(self.rope),
            "n": self.n,
            "n_error": self.n_error,
            "reached": self.reached,
            "error": self.error,
            "seen": self.seen,
            "most": self.most,
            "width": None if n is None else self.width(n),
            "detectable": None if n is None else self.detectable(n),
            "sizes": list(self.sizes),
            "shares": self.shares.tolist(),
            "errors": self.errors.tolist(),
            "widths": [None if np.isnan(one) else one for one in self.widths.tolist()],
            "n_simulations": self.n_simulations,
            "findings": finding_facts(self.findings),
            "signature": self.signature,
        }

    def report(self) -> str:
        """Return a paragraph for a paper or a grant: how many items, and how that was found."""
        return plan_paragraph(self.to_dict())

    def table(self) -> Table:
        """Return one row a simulated size."""
        return plan_table(self.to_dict())

    def plot(
        self, ax: Axes | None = None, *, label: str | None = None, size: FigureSize = "text"
    ) -> Axes:
        """Draw the curve, what was simulated, and where it reaches the target.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        label
            What to write at the end of the curve.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        sizes = self._shown_sizes()
        return plot_plan(
            sizes, self.curve.at(sizes), facts=self.to_dict(), label=label, ax=ax, size=size
        )

    def _shown_sizes(self) -> FloatArray:
        near = max(self.sizes, default=4) if self.n is None else max(2 * self.n, 4)
        return np.linspace(0, min(near, self.most), 201)[1:]

    def _card(self) -> Card:
        sizes = self._shown_sizes()
        return plan_card(sizes, self.curve.at(sizes), self.to_dict())

    def _lines(self, page: Page) -> list[Line]:
        return plan_lines(self.to_dict(), page)

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
    """Turn what was simulated into an answer; nothing need be, where the goal is reached."""
    n = 0 if reached else search.size(curve)
    found = _best(curve, search.most) if n is None else n
    relative = curve.relative_error(n) if n else 0.0
    joined = joined_points(points)
    return Plan(
        n=n,
        n_error=(n or 0) * relative,
        reached=1.0 if reached else float(curve.at([found])[0]),
        error=0.0 if reached else curve.error(found),
        target=search.target,
        goal=search.goal.name,
        rope=rope,
        seen=seen,
        most=search.most,
        sizes=tuple(point.n for point in joined),
        shares=np.array([point.share for point in joined]),
        errors=np.array([probability_error(point.share, point.simulated) for point in joined]),
        widths=np.array([point.width for point in joined]),
        n_simulations=sum(point.simulated for point in joined),
        names=world.names,
        metric=world.metric.name,
        metric_label=world.metric.label,
        curve=curve,
        findings=(*world.findings, *rope_findings(rope), *_too_coarse(n, relative)),
        signature=_signature(search, world, rope, seed, verb),
    )


def _best(curve: Curve, most: int) -> int:
    sizes = grid_of_sizes(most)
    return int(sizes[int(curve.at(sizes).argmax())])


def joined_points(points: Sequence[Point]) -> list[Point]:
    """Add up what was simulated at equal sizes, the smallest first."""
    by_size: dict[int, list[Point]] = {}
    for point in points:
        by_size.setdefault(point.n, []).append(point)
    return [
        Point(
            n=n,
            simulated=sum(one.simulated for one in group),
            reached=sum(one.reached for one in group),
            width=float(
                np.average([one.width for one in group], weights=[one.simulated for one in group])
            ),
        )
        for n, group in sorted(by_size.items())
    ]


def _too_coarse(n: int | None, relative: float) -> list[Finding]:
    if not n or relative <= _COARSE:
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
