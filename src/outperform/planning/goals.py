"""Goals, the probability by normal theory that more items reach them, and the scenario protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from outperform import metrics
from outperform._typing import AnyArray, FloatArray
from outperform.decision.rope import Decision, Rope
from outperform.errors import UsageError, param, unknown_name
from outperform.findings import Finding
from outperform.inference.spec import Spec, counted
from outperform.metrics.metric import MetricLike
from outperform.metrics.registry import get_labels

DECIDED = "decided"
NOT_WORSE = "not_worse"
_FIRM = tuple(decision for decision in Decision if decision.decided)
_DECISIONS = (DECIDED, *(decision.symbol for decision in _FIRM))


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Decisions to reach, expressed as a condition on intervals.

    Parameters
    ----------
    name
        Name from the user: a sign, ``"decided"`` or ``"not_worse"``.
    wanted
        Decisions that reach the goal.
    rope
        Region of practical equivalence used for the decision.
    greater_is_better
        Whether greater values of the metric are better.
    """

    name: str
    wanted: tuple[Decision, ...]
    rope: Rope
    greater_is_better: bool = True

    def reached(self, ends: FloatArray) -> AnyArray:
        """Return a mask of the intervals ``(2, n)`` that reach the goal; NaN ends never do.

        Parameters
        ----------
        ends
            Lower and upper ends.
        """
        low, high = ends
        where = {
            Decision.BETTER: low > self.rope.high,
            Decision.WORSE: high < self.rope.low,
            Decision.EQUIVALENT: (low >= self.rope.low) & (high <= self.rope.high),
        }
        sides = (
            self.wanted
            if self.greater_is_better
            else [decision.mirrored for decision in self.wanted]
        )
        reached: AnyArray = np.logical_or.reduce([where[decision] for decision in sides])
        return reached


def wanted_decision(goal: str | Decision, *, known: Sequence[str] = _DECISIONS) -> Decision | None:
    """Return the decision that a goal names; None for any firm decision.

    Parameters
    ----------
    goal
        A decision, its sign or its name, or ``"decided"``.
    known
        Valid goals, for the error message.

    Examples
    --------
    >>> wanted_decision("better"), wanted_decision("decided")
    (<Decision.BETTER: '≫'>, None)
    """
    if isinstance(goal, Decision) or goal == DECIDED:
        return goal if isinstance(goal, Decision) else None
    for decision in Decision:
        if goal in (decision.symbol, decision.name, decision.name.lower()):
            return decision
    raise UsageError(unknown_name("goal", goal, known))


def any_decision(
    goal: str | Decision, rope: Rope, *, greater_is_better: bool, name: str | None = None
) -> Goal:
    """Return the goal of a firm decision.

    Parameters
    ----------
    goal
        A decision or ``"decided"``.
    rope
        Region of practical equivalence.
    greater_is_better
        Whether greater values of the metric are better.
    name
        Name of the goal. Default: the sign of the decision.
    """
    decision = wanted_decision(goal)
    if decision is not None and not decision.decided:
        firm = ", ".join((DECIDED, *(decision.symbol for decision in _FIRM)))
        raise UsageError(
            f"{param('goal')} must be a firm decision: {firm}; got {decision.symbol!r}, which "
            "becomes rarer with more items"
        )
    return Goal(
        name=name or (DECIDED if decision is None else decision.symbol),
        wanted=_FIRM if decision is None else (decision,),
        rope=rope,
        greater_is_better=greater_is_better,
    )


def firm_goal(goal: str | Decision, rope: Rope, *, greater_is_better: bool) -> Goal:
    """Return the goal of a plan: a firm decision or "not worse".

    "Not worse" is ≫ with the ROPE reduced to its edge on the worse side.

    Parameters
    ----------
    goal
        ``"decided"``, ``"≫"``, ``"≈"``, ``"≪"``, their names, or ``"not_worse"``.
    rope
        Region of practical equivalence.
    greater_is_better
        Whether greater values of the metric are better.

    Examples
    --------
    >>> firm_goal("not_worse", Rope.from_param(0.01), greater_is_better=True).rope.high
    -0.01
    """
    if goal == NOT_WORSE:
        edge = rope.low if greater_is_better else rope.high
        return any_decision(
            Decision.BETTER,
            Rope(low=edge, high=edge),
            greater_is_better=greater_is_better,
            name=NOT_WORSE,
        )
    known = (DECIDED, NOT_WORSE, *(decision.symbol for decision in _FIRM))
    decision = wanted_decision(goal, known=known)
    if decision is not None and not decision.decided:
        raise UsageError(
            f"{param('goal')} must be a firm decision: {', '.join(known)}; got "
            f"{decision.symbol!r}, which becomes rarer with more items"
        )
    firm = any_decision(
        DECIDED if decision is None else decision, rope, greater_is_better=greater_is_better
    )
    if firm.wanted == (Decision.EQUIVALENT,) and rope.low == rope.high:
        raise UsageError(
            "no interval fits in a ROPE of width 0, so ≈ cannot be reached; set a wider "
            f"{param('rope=')}"
        )
    return firm


def judged_goal(edge: float, *, greater_is_better: bool) -> Goal:
    """Return the goal of a gate: the whole interval lies on one side of an edge.

    Parameters
    ----------
    edge
        Edge of the ROPE that decides.
    greater_is_better
        Whether greater values of the metric are better.
    """
    return any_decision(DECIDED, Rope(low=edge, high=edge), greater_is_better=greater_is_better)


Items = Literal["more", "new", "certain"]
_GRID = 300
# Avoids division by zero if nothing varies, when the decision is certain.
_NO_SPREAD = 1e-300
# Assumed scatters τ of true differences around 0, in units of the sd of A − B. The last one takes
# the data at face value.
_SCATTER = np.array([0.0, *np.geomspace(0.1, 6.0, 11), np.inf])
# A scatter is ruled out if its likelihood is below this share of the largest: the limit of a
# likelihood ratio test at the level 0.05, exp(−1.92).
_PLAUSIBLE = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Current posterior of A − B, and its predicted interval with more items.

    The mean of A − B takes the data at face value: it assumes that all differences were equally
    probable a priori. Models that are compared usually differ little, so the true difference is
    probably smaller than the observed one, and more so if the data were chosen because they look
    good. The data cannot show by how much. So there are two predictions: one at face value, and the
    least probability over all scatters τ of true differences N(0, τ²) that the data do not rule
    out. τ is used only for prediction; the predicted interval ignores it.

    Parameters
    ----------
    n
        Number of items behind the posterior, including the number that the prior is worth.
    mean, sd
        Mean and sd of A − B.
    below, above
        Distances from the mean to the ends of the interval.
    items
        ``"more"`` if the items are added to the existing ones, ``"new"`` if they are analysed
        without them. In a ``"certain"`` scenario the mean is the true difference, and the sd is the
        one with n items.
    stays
        Share of the variance that remains however many items are added.

    Examples
    --------
    >>> from outperform.planning.goals import firm_goal
    >>> from outperform.decision.rope import Rope
    >>> now = Outlook(n=1_000, mean=0.02, sd=0.01, below=0.0196, above=0.0196, items="more")
    >>> better = firm_goal("≫", Rope.from_param(0.01), greater_is_better=True)
    >>> now.probability(better, [1_000, 10_000, 10**9]).round(3).tolist()
    [0.293, 0.666, 0.841]
    >>> now.least_probability(better, [1_000, 10_000, 10**9]).round(3).tolist()
    [0.003, 0.0, 0.0]
    """

    n: float
    mean: float
    sd: float
    below: float
    above: float
    items: Items
    stays: float = 0.0

    def probability(self, goal: Goal, sizes: ArrayLike) -> FloatArray:
        """Return the probability of a goal at each size, taking the data at face value.

        Parameters
        ----------
        goal
            Goal to reach.
        sizes
            Numbers of items.
        """
        at_face_value: FloatArray = self._probabilities(goal, sizes, np.array([np.inf]))[0]
        return at_face_value

    def least_probability(self, goal: Goal, sizes: ArrayLike) -> FloatArray:
        """Return the lowest probability of a goal at each size, over all plausible scatters.

        Parameters
        ----------
        goal
            Goal to reach.
        sizes
            Numbers of items.
        """
        least: FloatArray = self._probabilities(goal, sizes, self._scatters()).min(axis=0)
        return least

    def most_probability(self, goal: Goal, sizes: ArrayLike) -> FloatArray:
        """Return the highest probability of a goal at each size, over all plausible scatters.

        Parameters
        ----------
        goal
            Goal to reach.
        sizes
            Numbers of items.
        """
        most: FloatArray = self._probabilities(goal, sizes, self._scatters()).max(axis=0)
        return most

    def _scatters(self) -> FloatArray:
        """Return the scatters that the data do not rule out, in units of the sd."""
        if self.items == "certain" or self.sd <= 0:
            return _SCATTER[-1:]
        z, variance = self.mean / self.sd, 1.0 + np.square(_SCATTER[:-1])
        log_likelihood = -(z**2) / (2 * variance) - np.log(variance) / 2
        best = max(1.0, z**2)
        floor = -(z**2) / (2 * best) - np.log(best) / 2 + np.log(_PLAUSIBLE)
        return np.append(_SCATTER[:-1][log_likelihood >= floor], np.inf)

    def _probabilities(self, goal: Goal, sizes: ArrayLike, scatters: FloatArray) -> FloatArray:
        """Return the probability of a goal for each scatter and size."""
        low, high = goal.rope.low, goal.rope.high
        mean, shrunk, spread = self._future(sizes, scatters)
        above, below = high + shrunk * self.below, low - shrunk * self.above
        inside = low + shrunk * self.below, high - shrunk * self.above
        sums = {
            Decision.BETTER: ndtr((mean - above) / spread),
            Decision.WORSE: ndtr((below - mean) / spread),
            Decision.EQUIVALENT: np.maximum(
                ndtr((inside[1] - mean) / spread) - ndtr((inside[0] - mean) / spread), 0.0
            ),
        }
        if not goal.greater_is_better:
            sums = {decision.mirrored: value for decision, value in sums.items()}
        total: FloatArray = np.sum([sums[decision] for decision in goal.wanted], axis=0)
        return total

    def width(self, sizes: ArrayLike) -> FloatArray:
        """Return the predicted width of the interval.

        Parameters
        ----------
        sizes
            Numbers of items.
        """
        width: FloatArray = self.narrowing(sizes) * (self.below + self.above)
        return width

    def narrowing(self, sizes: ArrayLike) -> FloatArray:
        """Return the predicted width of interval and sd as a share of the current width.

        Parameters
        ----------
        sizes
            Numbers of items.
        """
        total = self._total(np.asarray(sizes, dtype=np.float64))
        factor: FloatArray = np.sqrt(self.stays + (1.0 - self.stays) * self.n / total)
        return factor

    def _total(self, more: FloatArray) -> FloatArray:
        total: FloatArray = more + self.n if self.items == "more" else more
        return total

    def _future(
        self, sizes: ArrayLike, scatters: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mean and sd of the future interval's midpoint, and the width factor.

        The items measure θ, the true difference plus the error that remains. Given the data and a
        scatter, θ is normal with mean κ·mean and variance κ·s², κ = (τ² + stays) / (τ² + 1) in
        units of the sd, and m future items measure it with variance s²·n/m.
        """
        more = np.asarray(sizes, dtype=np.float64)
        total = self._total(more)
        varies = self.sd**2 * (1.0 - self.stays)
        if self.items == "certain":
            middle = np.broadcast_to(self.mean, (scatters.size, *more.shape))
            variance = np.broadcast_to(varies * self.n / more, middle.shape)
        else:
            wide = np.isinf(scatters)
            square = np.square(np.where(wide, 1.0, scatters))
            shrinkage = np.where(wide, 1.0, (square + self.stays) / (square + 1.0))
            shrinkage = shrinkage.reshape(-1, *[1] * more.ndim)
            weight = more / total
            middle = self.mean * (1.0 - weight + weight * shrinkage)
            variance = varies * weight * (weight * shrinkage + weight * self.n / more)
        return middle, self.narrowing(more), np.maximum(np.sqrt(variance), _NO_SPREAD)


class World(Protocol):
    """A scenario from which test sets are simulated."""

    @property
    def metric(self) -> metrics.Metric:
        """Metric of the comparison."""

    @property
    def names(self) -> tuple[str, str]:
        """Names of A and of B."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings about the scenario."""

    @property
    def n_draws(self) -> int:
        """Draws of each simulated posterior."""

    @property
    def prob(self) -> float:
        """Probability mass of the HDI."""

    def simulate(
        self, size: int, n_simulations: int, seed: np.random.SeedSequence, *, n_jobs: int | None
    ) -> FloatArray:
        """Return the HDI ends ``(2, n_simulations)``; NaN if the decision is withheld."""

    def outlook(self, seed: np.random.SeedSequence) -> Outlook:
        """Return the normal-theory prediction."""

    def parts(self) -> list[str]:
        """Return the parts of a signature that describe the scenario and its analysis."""


def first_size(
    curve: Callable[[FloatArray], FloatArray], target: float, *, max_items: int
) -> int | None:
    """Return the smallest number of items at which a curve reaches a target; None if there is none.

    Parameters
    ----------
    curve
        Function from numbers of items to probabilities.
    target
        Probability to reach.
    max_items
        Largest number of items considered.

    Examples
    --------
    >>> first_size(lambda n: 1 - 1 / n, 0.8, max_items=1_000), first_size(np.sin, 2.0, max_items=9)
    (5, None)
    """
    sizes = grid_of_sizes(max_items)
    reached = np.flatnonzero(curve(sizes) >= target)
    if not reached.size:
        return None
    index = int(reached[0])
    low, high = int(sizes[index - 1]) if index else 0, int(sizes[index])
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if curve(np.array([middle]))[0] >= target else (middle, high)
    return high


def grid_of_sizes(max_items: int) -> FloatArray:
    """Return integers from 1 to ``max_items``, evenly spaced on a logarithmic scale."""
    return np.unique(np.rint(np.geomspace(1, max_items, _GRID)))


def prior_worth(spec: Spec) -> float:
    """Return the number of items that a prior is worth: the sum of its concentrations.

    Priors whose rows have mass 1 are worth one item per class. The bootstrap is worth none, and
    the prior of a pool's strata is not counted.

    Parameters
    ----------
    spec
        Spec of the comparison.
    """
    prior = spec.prior
    if not prior.proper or spec.pool is not None or spec.view.kind not in ("classes", "correct"):
        return 0.0
    view = counted(spec).view
    if prior.shapes is None:
        return float(view.n_classes)
    n_models = len(view.models) if view.paired else 1
    return float(prior.shapes.row_shapes(view.n_classes, n_models).sum())


_OUTCOMES = ("11", "10", "01", "00")


def binary_metric(metric: MetricLike) -> metrics.Metric:
    """Return a single-class metric; other metrics raise an error."""
    if metrics.is_of_scores(metric):
        raise UsageError(
            "outcome probabilities apply to labels of two classes; for a score metric, pass a pilot"
        )
    measured = get_labels(metric)
    if measured.average != "binary":
        raise UsageError(
            "outcome probabilities of two classes need a single-class metric such as 'f1'; for "
            f"{measured.name!r}, pass a pilot"
        )
    return measured


def check_theta(theta_pos: Mapping[str, float], theta_neg: Mapping[str, float]) -> FloatArray:
    """Return the outcome probabilities ``(2, 4)`` of negative and of positive items."""
    return np.array([_theta(theta_neg, "theta_neg"), _theta(theta_pos, "theta_pos")])


def _theta(theta: Mapping[str, float], name: str) -> list[float]:
    if not isinstance(theta, Mapping) or set(theta) != set(_OUTCOMES):
        raise UsageError(
            f"{param(name)} must be a mapping with the keys {', '.join(_OUTCOMES)}; got {theta!r}"
        )
    values = [check_probability(theta[key]) for key in _OUTCOMES]
    if abs(sum(values) - 1) > 1e-9:
        raise UsageError(
            f"the probabilities in {param(name)} must sum to 1; they sum to {sum(values):g}"
        )
    return values


def check_probability(value: object) -> float:
    """Return a number from 0 to 1; anything else raises an error."""
    if not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise UsageError(f"a probability must lie between 0 and 1; got {value!r}")
    return float(value)
