"""What is hoped for: one of the firm verdicts, any of them, or that a gate passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from outperform._typing import AnyArray, FloatArray
from outperform.decision import Decision, Interval, Rope, decide
from outperform.errors import UsageError, unknown_name

DECIDED = "decided"
NOT_WORSE = "not_worse"
_FIRM = tuple(one for one in Decision if one.decided)
_VERDICTS = (DECIDED, *(one.symbol for one in tuple(Decision)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A wanted verdict on an interval.

    Parameters
    ----------
    name
        How it was asked for: a sign, ``"decided"`` or ``"not_worse"``.
    wanted
        The verdicts that are as good as each other.
    rope
        The region that intervals are held against.
    greater_is_better
        Whether more of the metric is better.
    """

    name: str
    wanted: tuple[Decision, ...]
    rope: Rope
    greater_is_better: bool = True

    def reached(self, ends: FloatArray) -> AnyArray:
        """Return which intervals ``(2, n)`` reach the goal; one without ends does not.

        Parameters
        ----------
        ends
            Low and high ends.
        """
        low, high = ends
        if not all(one.decided for one in self.wanted):
            return np.array([self._verdict(*pair) in self.wanted for pair in ends.T], dtype=bool)
        where = {
            Decision.BETTER: low > self.rope.high,
            Decision.WORSE: high < self.rope.low,
            Decision.EQUIVALENT: (low >= self.rope.low) & (high <= self.rope.high),
        }
        sides = self.wanted if self.greater_is_better else [one.mirrored for one in self.wanted]
        reached: AnyArray = np.logical_or.reduce([where[one] for one in sides])
        return reached

    def _verdict(self, low: float, high: float) -> Decision:
        # The verdict does not look at the mass of the interval.
        hdi = Interval(low=low, high=high, prob=0.5)
        return decide(hdi, self.rope, greater_is_better=self.greater_is_better)


def wanted_verdict(goal: str | Decision, *, known: Sequence[str] = _VERDICTS) -> Decision | None:
    """Return the wanted verdict; None for any of the firm ones.

    Parameters
    ----------
    goal
        A verdict, its sign or its name, or ``"decided"``.
    known
        What is named if it is none of these.

    Examples
    --------
    >>> wanted_verdict("better"), wanted_verdict("decided")
    (<Decision.BETTER: '≫'>, None)
    """
    if isinstance(goal, Decision) or goal == DECIDED:
        return goal if isinstance(goal, Decision) else None
    for decision in Decision:
        if goal in (decision.symbol, decision.name, decision.name.lower()):
            return decision
    raise UsageError(unknown_name("goal", goal, known))


def any_verdict(
    goal: str | Decision, rope: Rope, *, greater_is_better: bool, name: str | None = None
) -> Goal:
    """Return the goal of any verdict, firm or leaning.

    Parameters
    ----------
    goal
        A verdict or ``"decided"``.
    rope
        The region of practical equivalence.
    greater_is_better
        Whether more of the metric is better.
    name
        How it was asked for; the sign by default.
    """
    one = wanted_verdict(goal)
    return Goal(
        name=name or (DECIDED if one is None else one.symbol),
        wanted=_FIRM if one is None else (one,),
        rope=rope,
        greater_is_better=greater_is_better,
    )


def firm_goal(goal: str | Decision, rope: Rope, *, greater_is_better: bool) -> Goal:
    """Return a goal that can be planned for: a firm verdict, or that nothing got worse.

    "Not worse" is ≫ against the edge of the ROPE on the worse side.

    Parameters
    ----------
    goal
        ``"decided"``, ``"≫"``, ``"≈"``, ``"≪"``, their names, or ``"not_worse"``.
    rope
        The region of practical equivalence.
    greater_is_better
        Whether more of the metric is better.

    Examples
    --------
    >>> firm_goal("not_worse", Rope.from_param(0.01), greater_is_better=True).rope.high
    -0.01
    """
    if goal == NOT_WORSE:
        edge = rope.low if greater_is_better else rope.high
        return any_verdict(
            Decision.BETTER,
            Rope(low=edge, high=edge),
            greater_is_better=greater_is_better,
            name=NOT_WORSE,
        )
    known = (DECIDED, NOT_WORSE, *(one.symbol for one in _FIRM))
    one = wanted_verdict(goal, known=known)
    if one is not None and not one.decided:
        raise UsageError(
            f"a plan is for a firm verdict: {', '.join(known)}; got {one.symbol!r}, "
            "which more documents make rarer"
        )
    found = any_verdict(DECIDED if one is None else one, rope, greater_is_better=greater_is_better)
    if found.wanted == (Decision.EQUIVALENT,) and rope.low == rope.high:
        raise UsageError("a ROPE without width never holds an interval; give rope= some width")
    return found


def judged_goal(edge: float, *, greater_is_better: bool) -> Goal:
    """Return the goal of a gate: the interval lies on one side of an edge.

    Parameters
    ----------
    edge
        The edge of the ROPE that decides.
    greater_is_better
        Whether more of the metric is better.
    """
    return any_verdict(DECIDED, Rope(low=edge, high=edge), greater_is_better=greater_is_better)
