"""Rule of the gate: pass, fail or undecided."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import Literal, NamedTuple, get_args

import numpy as np

from outperform.comparison.result import Comparison
from outperform.decision.intervals import check_prob
from outperform.errors import UsageError, param, unknown_name
from outperform.findings import Finding, finding
from outperform.inference.diagnostics import unseen_finding
from outperform.inference.judges import drawn_of, is_judged
from outperform.inference.spec import Spec
from outperform.inference.spelling import SPELLED, spelling_finding
from outperform.inference.summary import summarize
from outperform.inference.thresholds import SAFE_ERRORS
from outperform.planning.goals import judged_goal
from outperform.planning.more_data import Needed, items_needed

TOO_COARSE = "monte_carlo_too_coarse"
# A candidate that is worse by exactly the ROPE's half-width passes with probability (1 − prob) / 2:
# at most one in four at the minimum, and at most one in ten at the usual minimum.
_MIN_PROB, USUAL_PROB = 0.5, 0.8
Require = Literal["not_worse", "better"]


class GateStatus(Enum):
    """Result of a gate.

    Examples
    --------
    >>> GateStatus.UNDECIDED.value
    'undecided'
    """

    PASS = "pass"
    FAIL = "fail"
    UNDECIDED = "undecided"


def judge(comparison: Comparison, *, require: Require = "not_worse") -> GateStatus:
    """Return whether A can replace B: pass, fail, or undecided.

    A requirement is a claim about the difference A − B: ``"not_worse"`` means that it is above the
    ROPE's edge on the worse side, ``"better"`` that it is beyond the edge on the better side. The
    gate passes if the whole HDI satisfies the claim, fails if the whole HDI contradicts it, and is
    undecided otherwise. So ``"not_worse"`` passes on ≫, on ≈, and on > if the HDI contains only the
    better edge. It fails on ≪. ``"better"`` passes on ≫ and fails on ≪ and on ≈: an HDI inside the
    ROPE shows that the improvement is too small to matter, and more items would only confirm it.

    A serious finding makes the gate undecided. The gate is also undecided if an end of the HDI is
    too close to the edge for this number of draws, because other draws could give a different
    result.

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
    <GateStatus.PASS: 'pass'>
    """
    claim = claim_of(comparison, require)
    if claim.near_edge or serious(findings_of(comparison, require)):
        return GateStatus.UNDECIDED
    return _side(claim, require)


def _side(claim: Claim, require: Require) -> GateStatus:
    """Return the result of the interval alone, regardless of findings."""
    if claim.low >= claim.edge if require == "not_worse" else claim.low > claim.edge:
        return GateStatus.PASS
    if claim.high < claim.edge if require == "not_worse" else claim.high <= claim.edge:
        return GateStatus.FAIL
    return GateStatus.UNDECIDED


def fails_among(comparison: Comparison, require: Require, n_checks: int) -> bool:
    """Return whether a failure is still one if each of several checks can fail the gate.

    The HDI of mass 1 − (1 − prob) / n_checks must lie beyond the edge by more than Monte Carlo
    error.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    require
        ``"not_worse"`` or ``"better"``.
    n_checks
        Number of checks.
    """
    prob = 1 - (1 - comparison.hdi.prob) / n_checks
    hdi = summarize(np.sort(comparison.draws), comparison.distribution, prob).hdi
    claim = claim_of(replace(comparison, hdi=hdi), require)
    return claim.high + SAFE_ERRORS * claim.error_high < claim.edge


def findings_of(comparison: Comparison, require: Require) -> tuple[Finding, ...]:
    """Return the findings about a comparison and its result under a requirement.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    require
        ``"not_worse"`` or ``"better"``.
    """
    coarse = tuple(_too_coarse(comparison, require))
    # The finding about the deciding edge replaces the one about any edge.
    spelling = tuple(_spelling(comparison, require))
    undefined = tuple(_unobserved(comparison))
    unseen = () if undefined else tuple(unseen_finding(comparison.spec))
    drawn = tuple(sampling_findings(comparison.spec, comparison.findings))
    replaced = {item.name for item in (*coarse, *spelling, *unseen, *drawn)}
    return (
        *(item for item in comparison.findings if item.name not in replaced),
        *_lenient(comparison),
        *spelling,
        *unseen,
        *drawn,
        *undefined,
        *_against_data(comparison, require),
        *coarse,
    )


def check_level(hdi_prob: float) -> float:
    """Return the HDI mass of a gate; a mass that is too small raises an error.

    Parameters
    ----------
    hdi_prob
        Probability mass of the HDI.

    Examples
    --------
    >>> check_level(0.9)
    0.9
    >>> check_level(0.05)
    Traceback (most recent call last):
    ...
    outperform.errors.UsageError: hdi_prob of a gate must be 0.5 or more; with 0.05 a candidate that
    is worse by the half-width of the ROPE passes in 48% of cases (did you mean 0.95?)
    """
    prob = check_prob(hdi_prob)
    if prob < _MIN_PROB:
        meant = 1 - prob if prob <= 1 - USUAL_PROB else 0.95
        raise UsageError(
            f"{param('hdi_prob')} of a gate must be {_MIN_PROB:g} or more; with {prob:g} a "
            "candidate that is worse by the half-width of the ROPE passes in "
            f"{(1 - prob) / 2:.0%} of cases (did you mean {meant:g}?)"
        )
    return prob


def _lenient(comparison: Comparison) -> Iterator[Finding]:
    """Yield the finding about an HDI mass so low that a worse candidate often passes."""
    prob = comparison.hdi.prob
    if prob < USUAL_PROB:
        yield finding("lenient_level/rope", prob=prob, passing=(1 - prob) / 2, usual=USUAL_PROB)


def withheld(comparison: Comparison) -> tuple[str, ...]:
    """Return the names of the findings that withhold the decision.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    """
    return serious(comparison.findings)


def serious(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Return the names of the serious findings.

    Parameters
    ----------
    findings
        Findings of any level.
    """
    return tuple(item.name for item in findings if item.level == "serious")


def _unobserved(comparison: Comparison) -> Iterator[Finding]:
    """Yield the finding about a metric that no item in the data defines."""
    models = (comparison.a, comparison.b)
    empty = [model.name for model in models if not model.observed_defined]
    if empty:
        yield undefined_finding(comparison.metric, empty)


def undefined_finding(metric: str, models: Sequence[str]) -> Finding:
    """Return the finding about models for which no item defines the metric.

    Parameters
    ----------
    metric
        Name of the metric.
    models
        Names of the models.
    """
    return finding("nothing_observed", metric=metric, models=" and of ".join(models))


def sampling_findings(spec: Spec, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield findings that keep a judge-based gate from passing: undeclared sampling, few labels.

    If items were labelled because of complaints, the judge's ratings need not show it, so an even
    mix of ratings proves nothing.

    Parameters
    ----------
    spec
        The question.
    findings
        Findings about its result.
    """
    named = {item.name: item for item in findings}
    if few := named.get("few_effective_labels"):
        yield replace(few, level="serious")
    if not is_judged(spec) or drawn_of(spec) is not None:
        return
    if uneven := named.get("chosen_by_ratings"):
        yield replace(uneven, level="serious")
    else:
        yield finding("sampling_undeclared", mend=param("drawn="))


def _spelling(comparison: Comparison, require: Require) -> Iterator[Finding]:
    """Yield the finding about a result that depends on never-true predictions.

    In a gate it is always serious, because a spelling must not make a gate pass. If it withholds
    the decision of the comparison, the comparison has the finding already.
    """
    if any(item.name == SPELLED for item in comparison.findings if item.level == "serious"):
        return
    status = _clear_side(comparison, require)
    for answer in comparison._as_right:
        other = _clear_side(replace(comparison, hdi=answer.hdi), require)
        if answer.withheld(comparison.rope):
            other = GateStatus.UNDECIDED
        if other is not status:
            change = f"the gate would be {_STATES[other]} instead of {_STATES[status]}"
            yield spelling_finding(answer, change, in_gate=True)
            return


_STATES = {
    GateStatus.PASS: "passed",
    GateStatus.FAIL: "failed",
    GateStatus.UNDECIDED: "undecided",
}


def _clear_side(comparison: Comparison, require: Require) -> GateStatus:
    """Return the result of the interval; undecided if an end is too close to the edge."""
    claim = claim_of(comparison, require)
    return GateStatus.UNDECIDED if claim.near_edge else _side(claim, require)


def _against_data(comparison: Comparison, require: Require) -> Iterator[Finding]:
    """Yield the finding about an interval and an observed value on opposite sides of the edge."""
    claim = claim_of(comparison, require)
    greater = comparison.spec.metric.greater_is_better
    observed = comparison.observed if greater else -comparison.observed
    side = _side(claim, require)
    if (side is GateStatus.PASS and observed < claim.edge) or (
        side is GateStatus.FAIL and observed > claim.edge
    ):
        yield finding("prior_decides", observed=comparison.observed)


def _too_coarse(comparison: Comparison, require: Require) -> Iterator[Finding]:
    """Yield the finding about an end that other draws could move across the edge.

    It is serious if the gate might fail, because allowing undecided must not allow a failure.
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
    """Return the approximate number of draws needed to separate the HDI ends from the edge.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    require
        ``"not_worse"`` or ``"better"``.

    Returns
    -------
    float
        The current number if it is enough; infinity if an end lies on the edge.
    """
    claim, n_draws = claim_of(comparison, require), comparison.draws.size
    if claim.near_edge is None:
        return n_draws
    end, error = getattr(claim, claim.near_edge), getattr(claim, f"error_{claim.near_edge}")
    gap = abs(end - claim.edge)
    return math.inf if gap == 0 else n_draws * (SAFE_ERRORS * error / gap) ** 2


def items_to_judge(comparison: Comparison, *, require: Require = "not_worse") -> Needed | None:
    """Return the approximate number of additional items needed to pass or fail.

    The whole HDI must end up on one side of the edge. Its future position is as uncertain as the
    difference is now, so the result is a range, from the number that is enough if the data are
    taken at face value to the number that is enough even if such models differ little.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    require
        ``"not_worse"`` or ``"better"``.

    Returns
    -------
    Needed or None
        None if the gate is decided, if a serious finding makes it undecided, or if items alone
        would not decide it.
    """
    if judge(comparison, require=require) is not GateStatus.UNDECIDED:
        return None
    if serious(findings_of(comparison, require)):
        return None
    better = comparison.spec.metric.greater_is_better
    goal = judged_goal(edge_of(comparison, require), greater_is_better=better)
    return items_needed(comparison, goal)


class Claim(NamedTuple):
    """Mean, HDI and deciding edge, with signs such that higher is better."""

    low: float
    mean: float
    high: float
    edge: float
    error_low: float
    error_high: float

    @property
    def near_edge(self) -> Literal["low", "high"] | None:
        """End too close to the edge for the draws; if both, the high one, which can fail."""
        if abs(self.high - self.edge) < SAFE_ERRORS * self.error_high:
            return "high"
        return "low" if abs(self.low - self.edge) < SAFE_ERRORS * self.error_low else None


def claim_of(comparison: Comparison, require: Require) -> Claim:
    """Return the mean, the HDI and the edge that a requirement compares."""
    check_requirement(require)
    hdi, mean = comparison.hdi, comparison.mean
    edge = edge_of(comparison, require)
    if comparison.spec.metric.greater_is_better:
        return Claim(hdi.low, mean, hdi.high, edge, hdi.mcse_low, hdi.mcse_high)
    return Claim(-hdi.high, -mean, -hdi.low, -edge, hdi.mcse_high, hdi.mcse_low)


def check_requirement(require: str) -> None:
    """Raise an error unless this is a requirement."""
    if require not in get_args(Require):
        raise UsageError(unknown_name("requirement", require, get_args(Require)))


def edge_of(comparison: Comparison, require: Require) -> float:
    """Return the deciding edge of the ROPE, in the metric's units."""
    rope, greater = comparison.rope, comparison.spec.metric.greater_is_better
    return rope.low if (require == "not_worse") is greater else rope.high
