"""The rule of the gate: pass, fail, or cannot tell yet."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from typing import Literal, NamedTuple, get_args

import numpy as np

from outperform.comparison.result import Comparison
from outperform.decision.intervals import check_prob
from outperform.errors import UsageError, param, unknown_name
from outperform.findings import Finding, finding
from outperform.inference.diagnostics import SAFE_ERRORS, unseen_finding
from outperform.inference.judges import drawn_of, is_judged
from outperform.inference.spelling import SPELLED, spelling_finding
from outperform.inference.summary import summarize
from outperform.planning.goals import judged_goal
from outperform.planning.more_data import Needed, items_needed

TOO_COARSE = "monte_carlo_too_coarse"
# A candidate that is worse by the whole ROPE passes with probability (1 − prob) / 2: one in four at
# the least, one in ten at what is usual at the least.
_LEAST_PROB, _USUAL_PROB = 0.5, 0.8
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
    small to matter, and more items would only say so more firmly.

    A serious finding withholds the judgement. So does an end of the HDI that is too near to the
    edge for so many draws: other draws might judge otherwise.

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
    if claim.near_edge or serious(findings_of(comparison, require)):
        return Judgement.UNDECIDED
    return _side(claim, require)


def _side(claim: Claim, require: Require) -> Judgement:
    """Return what the interval says, whatever the findings."""
    if claim.low >= claim.edge if require == "not_worse" else claim.low > claim.edge:
        return Judgement.PASS
    if claim.high < claim.edge if require == "not_worse" else claim.high <= claim.edge:
        return Judgement.FAIL
    return Judgement.UNDECIDED


def fails_among(comparison: Comparison, require: Require, n_checks: int) -> bool:
    """Return whether a failure holds where so many checks may each fail.

    The HDI of mass 1 − (1 − prob) / n_checks must lie beyond the edge, clear of Monte Carlo error.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    require
        ``"not_worse"`` or ``"better"``.
    n_checks
        How many checks there are.
    """
    prob = 1 - (1 - comparison.hdi.prob) / n_checks
    hdi = summarize(np.sort(comparison.draws), comparison.distribution, prob).hdi
    claim = claim_of(replace(comparison, hdi=hdi), require)
    return claim.high + SAFE_ERRORS * claim.error_high < claim.edge


def findings_of(comparison: Comparison, require: Require) -> tuple[Finding, ...]:
    """Return the findings about a comparison and about what a requirement makes of it.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    require
        ``"not_worse"`` or ``"better"``.
    """
    coarse = tuple(_too_coarse(comparison, require))
    # The finding about the edge that decides says more than the one about any edge.
    spelled = tuple(_spelled(comparison, require))
    undefined = tuple(_unobserved(comparison))
    unseen = () if undefined else tuple(unseen_finding(comparison.spec))
    drawn = tuple(_drawn_unknown(comparison))
    replaced = {one.name for one in (*coarse, *spelled, *unseen, *drawn)}
    told = [one for one in comparison.findings if one.name not in replaced]
    return (
        *told,
        *_lenient(comparison),
        *spelled,
        *unseen,
        *drawn,
        *undefined,
        *_against_data(comparison, require),
        *coarse,
    )


def check_level(hdi_prob: float) -> float:
    """Return the mass of a gate's HDI; one with which nearly anything passes is refused.

    Parameters
    ----------
    hdi_prob
        What the user gave.

    Examples
    --------
    >>> check_level(0.9)
    0.9
    >>> check_level(0.05)
    Traceback (most recent call last):
    ...
    outperform.errors.UsageError: hdi_prob of a gate must be 0.5 or more: with 0.05 a candidate that
    is worse by the whole ROPE passes in 48% of cases; did you mean 0.95?
    """
    prob = check_prob(hdi_prob)
    if prob < _LEAST_PROB:
        meant = 1 - prob if prob <= 1 - _USUAL_PROB else 0.95
        raise UsageError(
            f"{param('hdi_prob')} of a gate must be {_LEAST_PROB:g} or more: with {prob:g} a "
            f"candidate that is worse by the whole ROPE passes in {(1 - prob) / 2:.0%} of cases; "
            f"did you mean {meant:g}?"
        )
    return prob


def _lenient(comparison: Comparison) -> Iterator[Finding]:
    """Yield the finding about an HDI so narrow that it lets a worse candidate pass."""
    prob = comparison.hdi.prob
    if prob < _USUAL_PROB:
        yield finding("lenient_level", prob=prob, passing=(1 - prob) / 2, usual=_USUAL_PROB)


def withheld(comparison: Comparison) -> tuple[str, ...]:
    """Return the names of the findings that withhold the decision.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    """
    return serious(comparison.findings)


def serious(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Return the names of the serious ones among findings.

    Parameters
    ----------
    findings
        Findings of any level.
    """
    return tuple(one.name for one in findings if one.level == "serious")


def _unobserved(comparison: Comparison) -> Iterator[Finding]:
    """Yield the finding about a metric that nothing in the data defines."""
    empty = [one.name for one in (comparison.a, comparison.b) if not one.observed_defined]
    if empty:
        yield finding("nothing_observed", metric=comparison.metric, models=" and of ".join(empty))


def _drawn_unknown(comparison: Comparison) -> Iterator[Finding]:
    """Yield why no gate opens by a judge: nobody declared which items people labelled, or too few.

    Labels that follow complaints need not show in the judge's ratings, so that these being even
    proves nothing.
    """
    named = {one.name: one for one in comparison.findings}
    if few := named.get("few_effective_labels"):
        yield replace(few, level="serious")
    if not is_judged(comparison.spec) or drawn_of(comparison.spec) is not None:
        return
    if uneven := named.get("chosen_by_ratings"):
        yield replace(uneven, level="serious")
    else:
        yield finding("sampling_undeclared", mend=param("drawn="))


def _spelled(comparison: Comparison, require: Require) -> Iterator[Finding]:
    """Yield the finding about a judgement that depends on predictions that are never true.

    There it is serious whatever these look like: a gate must not open because labels are spelled
    otherwise. What withholds the decision of the comparison is among its findings.
    """
    if any(one.name == SPELLED for one in comparison.findings if one.level == "serious"):
        return
    judged = _clearly(comparison, require)
    for answer in comparison._as_right:
        other = _clearly(replace(comparison, hdi=answer.hdi), require)
        if answer.withheld(comparison.rope):
            other = Judgement.UNDECIDED
        if other is not judged:
            change = f"the gate would be {_STATES[other]} instead of {_STATES[judged]}"
            yield spelling_finding(answer, change, in_gate=True)
            return


_STATES = {
    Judgement.PASS: "passed",
    Judgement.FAIL: "failed",
    Judgement.UNDECIDED: "undecided",
}


def _clearly(comparison: Comparison, require: Require) -> Judgement:
    """Return what an interval says that is not too near to the edge."""
    claim = claim_of(comparison, require)
    return Judgement.UNDECIDED if claim.near_edge else _side(claim, require)


def _against_data(comparison: Comparison, require: Require) -> Iterator[Finding]:
    """Yield the finding about an interval on the other side of the edge than what was observed."""
    claim = claim_of(comparison, require)
    greater = comparison.spec.metric.greater_is_better
    seen = comparison.observed if greater else -comparison.observed
    said = _side(claim, require)
    if (said is Judgement.PASS and seen < claim.edge) or (
        said is Judgement.FAIL and seen > claim.edge
    ):
        yield finding("prior_decides", observed=comparison.observed)


def _too_coarse(comparison: Comparison, require: Require) -> Iterator[Finding]:
    """Yield the finding about an end that other draws might put on the other side of the edge.

    It is serious where a failure is at stake, which nobody allows by allowing undecided.
    """
    claim = claim_of(comparison, require)
    if claim.near_edge is None:
        return
    end, error = getattr(claim, claim.near_edge), getattr(claim, f"error_{claim.near_edge}")
    yield finding(
        "monte_carlo_too_coarse/gate",
        level="serious" if claim.near_edge == "high" else "warning",
        gap=abs(end - claim.edge),
        errors=SAFE_ERRORS,
        error=error,
        n_draws=comparison.draws.size,
    )


def draws_to_settle(comparison: Comparison, require: Require) -> float:
    """Return about how many draws would keep the ends of the HDI clear of the edge.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    require
        ``"not_worse"`` or ``"better"``.

    Returns
    -------
    float
        As many as there are if they do; infinity if an end lies on the edge.
    """
    claim, n_draws = claim_of(comparison, require), comparison.draws.size
    if claim.near_edge is None:
        return n_draws
    end, error = getattr(claim, claim.near_edge), getattr(claim, f"error_{claim.near_edge}")
    gap = abs(end - claim.edge)
    return math.inf if gap == 0 else n_draws * (SAFE_ERRORS * error / gap) ** 2


def items_to_judge(comparison: Comparison, *, require: Require = "not_worse") -> Needed | None:
    """Return about how many more items would probably let the gate pass or fail.

    The whole HDI must come to lie on one side of the edge, whichever. Where it will lie is as
    uncertain as the difference is now, so the answer is a range: from the number that is enough
    if the data are taken at face value to the one that is enough however little such models
    differ.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    require
        ``"not_worse"`` or ``"better"``.

    Returns
    -------
    Needed or None
        None if it is decided, if a serious finding withholds the decision, or where items are
        not all that it waits for.
    """
    if judge(comparison, require=require) is not Judgement.UNDECIDED:
        return None
    if serious(findings_of(comparison, require)):
        return None
    better = comparison.spec.metric.greater_is_better
    goal = judged_goal(edge_of(comparison, require), greater_is_better=better)
    return items_needed(comparison, goal)


class Claim(NamedTuple):
    """Mean and HDI, turned so that more is better, and the edge they are held against."""

    low: float
    mean: float
    high: float
    edge: float
    error_low: float
    error_high: float

    @property
    def near_edge(self) -> Literal["low", "high"] | None:
        """The end that draws cannot tell from the edge; the high one, which fails, if both."""
        if abs(self.high - self.edge) < SAFE_ERRORS * self.error_high:
            return "high"
        return "low" if abs(self.low - self.edge) < SAFE_ERRORS * self.error_low else None


def claim_of(comparison: Comparison, require: Require) -> Claim:
    """Return what a requirement holds against what."""
    check_requirement(require)
    hdi, mean = comparison.hdi, comparison.mean
    edge = edge_of(comparison, require)
    if comparison.spec.metric.greater_is_better:
        return Claim(hdi.low, mean, hdi.high, edge, hdi.mcse_low, hdi.mcse_high)
    return Claim(-hdi.high, -mean, -hdi.low, -edge, hdi.mcse_high, hdi.mcse_low)


def check_requirement(require: str) -> None:
    """Say which requirements there are, if this is none."""
    if require not in get_args(Require):
        raise UsageError(unknown_name("requirement", require, get_args(Require)))


def edge_of(comparison: Comparison, require: Require) -> float:
    """Return the edge of the ROPE that decides, in the metric's own units."""
    rope, greater = comparison.rope, comparison.spec.metric.greater_is_better
    return rope.low if (require == "not_worse") is greater else rope.high
