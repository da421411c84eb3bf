"""The rule of the gate: pass, fail, or cannot tell yet, and how many documents would tell."""

from __future__ import annotations

from enum import Enum
from typing import Literal, NamedTuple, get_args

from outperform.comparison.planning.goals import judged_goal
from outperform.comparison.planning.more import Needed, documents_needed
from outperform.comparison.result import Comparison
from outperform.errors import UsageError, unknown_name

Require = Literal["not_worse", "better"]


class Judgement(Enum):
    """What a gate says.

    Examples
    --------
    >>> Judgement.UNDECIDED.value
    'undecided'
    """

    PASS = "pass"
    FAIL = "fail"
    UNDECIDED = "undecided"


def judge(comparison: Comparison, *, require: Require = "not_worse") -> Judgement:
    """Return whether A may replace B: yes, no, or cannot tell yet.

    A requirement is a claim about the difference A − B: ``"not_worse"`` claims
    that it is no worse than the ROPE's edge on the worse side, ``"better"`` that
    it is beyond the edge on the better side. The gate passes if the whole HDI
    fulfils the claim, fails if the whole HDI contradicts it, and is undecided
    otherwise. So ``"not_worse"`` passes on ≫, ≈ and a > that reaches over the
    better edge only, and fails on ≪. ``"better"`` passes on ≫ and fails not on
    ≪ alone but on ≈ too: an HDI inside the ROPE says that the improvement is too
    small to matter, and more documents would only say so more firmly.

    A serious finding withholds the verdict, and so the judgement.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    require
        ``"not_worse"`` or ``"better"``.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_correct({"new": [1] * 90 + [0] * 10, "old": [1] * 60 + [0] * 40})
    >>> judge(op.compare(seen, "new", "old", metric="accuracy", rope=0.01))
    <Judgement.PASS: 'pass'>
    """
    claim = claim_of(comparison, require)
    if withheld(comparison):
        return Judgement.UNDECIDED
    if claim.low >= claim.edge if require == "not_worse" else claim.low > claim.edge:
        return Judgement.PASS
    if claim.high < claim.edge if require == "not_worse" else claim.high <= claim.edge:
        return Judgement.FAIL
    return Judgement.UNDECIDED


def withheld(comparison: Comparison) -> tuple[str, ...]:
    """Return the names of the findings that withhold the verdict.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    """
    return tuple(one.name for one in comparison.findings if one.level == "serious")


def documents_to_judge(comparison: Comparison, *, require: Require = "not_worse") -> Needed | None:
    """Return about how many more documents would probably let the gate pass or fail.

    The whole HDI must come to lie on one side of the edge, whichever. Where it will lie is as
    uncertain as the difference is now, so the answer comes with a probability.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    require
        ``"not_worse"`` or ``"better"``.

    Returns
    -------
    Needed or None
        None if it is decided, if a serious finding withholds the verdict, or where documents are
        not all that it waits for.
    """
    if judge(comparison, require=require) is not Judgement.UNDECIDED:
        return None
    better = comparison.question.metric.greater_is_better
    goal = judged_goal(edge_of(comparison, require), greater_is_better=better)
    return documents_needed(comparison, goal)


class Claim(NamedTuple):
    """Mean and HDI, turned so that more is better, and the edge they are held against."""

    low: float
    mean: float
    high: float
    edge: float
    error_low: float
    error_high: float


def claim_of(comparison: Comparison, require: Require) -> Claim:
    """Return what a requirement holds against what."""
    check_requirement(require)
    hdi, mean = comparison.hdi, comparison.mean
    edge = edge_of(comparison, require)
    if comparison.question.metric.greater_is_better:
        return Claim(hdi.low, mean, hdi.high, edge, hdi.mcse_low, hdi.mcse_high)
    return Claim(-hdi.high, -mean, -hdi.low, -edge, hdi.mcse_high, hdi.mcse_low)


def check_requirement(require: str) -> None:
    """Say which requirements there are, if this is none."""
    if require not in get_args(Require):
        raise UsageError(unknown_name("requirement", require, get_args(Require)))


def edge_of(comparison: Comparison, require: Require) -> float:
    """Return the edge of the ROPE that decides, in the metric's own units."""
    rope, greater = comparison.rope, comparison.question.metric.greater_is_better
    return rope.low if (require == "not_worse") is greater else rope.high
