"""Levels: is one model's metric at least, or at most, a threshold?

The rule must err in at most ``(1 − prob) / 2`` of the tests of a model that lies exactly on the
threshold. An HDI does not: it is the narrowest interval, so without any error it ends at 1 and its
other end has the whole error probability, twice as much as allowed. The prior adds to it: with 20
of 20 right, 0.9 would be excluded, but a model of 0.9 gets that result in 12% of cases.

For k right of m, the probability of k or more at a share θ is the mass of Beta(k, m − k + 1) below
θ (Clopper and Pearson). So a posterior Beta(k, m − k) with one more wrong item gives a limit that
is never wrong too often. The rule applies this to every metric with two bounds: the posterior is
represented by the Beta distribution with its mean and sd, and one wrong item is added to it for the
lower limit, one right item for the upper limit. A proper prior has already added about half of one.
The HDI and the equal-tailed interval must agree as well.
"""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import special

from outperform._json import written
from outperform.decision.intervals import Interval
from outperform.errors import UsageError, param
from outperform.findings import Finding, finding
from outperform.gates.rule import (
    USUAL_PROB,
    GateStatus,
    sampling_findings,
    serious,
    undefined_finding,
)
from outperform.inference import engine
from outperform.inference.diagnostics import unseen_finding
from outperform.inference.disagreements import heavy_tail
from outperform.inference.question import ONCE
from outperform.inference.spec import LabelSpec, Spec
from outperform.inference.spelling import never_true
from outperform.inference.summary import chain_findings, summarize
from outperform.inference.thresholds import FEW_CARRYING, SAFE_ERRORS, VERY_SKEWED
from outperform.metrics.metric import Metric
from outperform.planning.goals import Outlook, judged_goal, prior_worth
from outperform.planning.more_data import Needed, needed_by
from outperform.results.estimate import Estimate, answer_one

Side = Literal["at_least", "at_most"]
Ends: TypeAlias = tuple[float, float]

_MOST_TIMES, _MOST_DRAWS, _MOST_ITEMS = 16, 1_000_000, 100


@written()
class Level(NamedTuple):
    """Threshold for one model's metric.

    Parameters
    ----------
    side
        ``"at_least"`` or ``"at_most"``.
    value
        The threshold, in the metric's units.
    """

    side: Side
    value: float

    def within(self, metric: Metric) -> Level:
        """Return the level; raise an error if the metric cannot reach it, or cannot miss it.

        Parameters
        ----------
        metric
            The metric.
        """
        # The bounds of grades are guessed from the data.
        if metric.bounds is None or metric.reads == "grade":
            return self
        low, high = metric.bounds
        if low < self.value < high:
            return self
        hint = "; no number of items can show that a model is perfect"
        if self.value not in (low, high):
            meant = high == 1 and 1 < self.value < 100
            hint = f"; did you mean {self.value / 100:g}?" if meant else ""
        raise UsageError(
            f"{param(f'{self.side}=')} must lie strictly between {low:g} and {high:g}, the bounds "
            f"of {metric.name}; got {self.value:g}{hint}"
        )


def levels_of(at_least: float | None = None, at_most: float | None = None) -> tuple[Level, ...]:
    """Return the requested levels, after checking that they are numbers and can both hold.

    Parameters
    ----------
    at_least, at_most
        Thresholds, or None.

    Examples
    --------
    >>> levels_of(at_least=0.9)
    (Level(side='at_least', value=0.9),)
    """
    levels: list[Level] = []
    sides: tuple[tuple[Side, float | None], ...] = (("at_least", at_least), ("at_most", at_most))
    for side, value in sides:
        if value is None:
            continue
        if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
            raise UsageError(f"{param(f'{side}=')} must be a number such as 0.9; got {value!r}")
        levels.append(Level(side, float(value)))
    if at_least is not None and at_most is not None and at_least >= at_most:
        raise UsageError(
            f"{param('at_least=')} must be below {param('at_most=')}; got {at_least:g} and "
            f"{at_most:g}"
        )
    return tuple(levels)


def limits_of(estimate: Estimate, prob: float | None = None) -> Interval:
    """Return the limits that a level must clear; see the module's first paragraphs.

    Parameters
    ----------
    estimate
        The model.
    prob
        Probability mass of the interval. Default: that of the estimate's HDI.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_correct({"new": [1] * 20})
    >>> e = op.estimate(seen, "new", metric="accuracy", random_state=0)
    >>> limits = limits_of(e)
    >>> print(round(e.hdi.low, 3), round(limits.low, 3), round(0.025 ** (1 / 20), 3))
    0.91 0.832 0.832
    """
    if prob is None:
        hdi, eti = estimate.hdi, estimate.eti
    else:
        ordered = np.sort(estimate.draws)
        numbers = summarize(ordered, estimate.distribution, prob, chain=estimate.chain)
        hdi, eti = numbers.hdi, numbers.eti
    low, high = min(hdi.low, eti.low), max(hdi.high, eti.high)
    bounds = estimate.spec.metric.bounds
    if bounds is not None and np.isfinite(bounds).all():
        honest = _with_one_more(estimate, bounds, (1 - hdi.prob) / 2)
        low, high = min(low, honest[0]), max(high, honest[1])
    return replace(
        hdi,
        low=low,
        high=high,
        mcse_low=max(hdi.mcse_low, eti.mcse_low),
        mcse_high=max(hdi.mcse_high, eti.mcse_high),
        kind="interval",
    )


def _with_one_more(estimate: Estimate, bounds: Ends, tail: float) -> Ends:
    """Return the limits with one wrong item added below, and one right item added above."""
    counted = _counts(estimate.spec, estimate.name)
    if counted is not None:
        right, wrong = counted
        low, high = _beta_limits((right, wrong + 1), (right + 1, wrong), tail)
        if estimate.metric == "f1":  # twice the Jaccard index, divided by one plus it
            low, high = 2 * low / (1 + low), 2 * high / (1 + high)
        return low, high
    bottom, width = bounds[0], bounds[1] - bounds[0]
    mean, sd = (estimate.mean - bottom) / width, estimate.sd / width
    size = _size(estimate, mean, sd)
    right, wrong = mean * size, (1 - mean) * size
    half = 0.5 if estimate.spec.prior.proper else 0.0
    low, high = _beta_limits(
        (right - half, wrong + 1 - half), (right + 1 - half, wrong - half), tail
    )
    return bottom + width * low, bottom + width * high


def _beta_limits(below: Ends, above: Ends, tail: float) -> Ends:
    """Return a low quantile of one Beta distribution, and a high quantile of another."""
    low = special.betaincinv(*below, tail) if min(below) > 0 else 0.0
    high = special.betaincinv(*above, 1 - tail) if min(above) > 0 else 1.0
    return float(low), float(high)


def _size(estimate: Estimate, mean: float, sd: float) -> float:
    """Return the number of items that a posterior is worth.

    It follows from the sd, unless fewer than ten units carry the result: these cannot show how much
    errors cluster, so a unit then counts as at most one item.
    """
    spec = estimate.spec
    size = math.inf if sd == 0 else mean * (1 - mean) / sd**2 - 1
    carrying = spec.n_carrying()
    if sd > 0 and (carrying is None or carrying >= FEW_CARRYING):
        return max(size, 0.0)
    units = float(spec.n if spec.n_even is None else spec.n_even)
    if sd == 0 and spec.metric.name not in _OF_ALL_ITEMS:
        return 0.0  # nothing shows how many items the metric depends on
    return max(min(size, units), 0.0)


_OF_ALL_ITEMS = ("accuracy", "mean", "mean_cost")


def _counts(spec: Spec, model: str) -> Ends | None:
    """Return right and wrong items if the metric is a share of independent items, else None."""
    if not isinstance(spec, LabelSpec) or spec.data.kind not in ("classes", "correct"):
        return None
    altered = (spec.prevalence, spec.label_errors, spec.pool, spec.n_groups, spec.n_effective)
    if any(part is not None for part in altered) or spec.counting != ONCE:
        return None
    if spec.metric.name == "accuracy":
        return _of_accuracy(spec)
    if spec.positive is None or spec.metric.name not in ("recall", "precision", "f1", "jaccard"):
        return None
    table, code = spec.view.confusion(model), spec.positive
    hits = float(table[code, code])
    missed, false = float(table[code].sum()) - hits, float(table[:, code].sum()) - hits
    wrong = {"recall": missed, "precision": false}.get(spec.metric.name, missed + false)
    return hits, wrong


def _of_accuracy(spec: LabelSpec) -> Ends:
    right = round(spec.observed[0] * spec.n)
    return float(right), float(spec.n - right)


def level_status(estimate: Estimate, level: Level, *, n_checks: int = 1) -> GateStatus:
    """Return whether a model reaches a level: pass, fail or undecided.

    Parameters
    ----------
    estimate
        The model.
    level
        The threshold.
    n_checks
        Number of checks that can each fail the gate; a failure is shown at a stricter level.
    """
    if near_end(estimate, level) or serious(level_findings(estimate, level)):
        return GateStatus.UNDECIDED
    status = _side(limits_of(estimate), level)
    if status is GateStatus.FAIL and n_checks > 1:
        stricter = limits_of(estimate, 1 - (1 - estimate.hdi.prob) / n_checks)
        if not _clear(stricter, level) or _side(stricter, level) is not GateStatus.FAIL:
            return GateStatus.UNDECIDED
    return status


def _side(limits: Interval, level: Level) -> GateStatus:
    reached, missed = GateStatus.PASS, GateStatus.FAIL
    if level.side == "at_most":
        reached, missed = missed, reached
    if limits.low > level.value:
        return reached
    return missed if limits.high < level.value else GateStatus.UNDECIDED


def _clear(limits: Interval, level: Level) -> bool:
    """Return whether other draws could not move an end of the limits across the level."""
    gaps = (limits.low - level.value, limits.high - level.value)
    errors = (limits.mcse_low, limits.mcse_high)
    return all(abs(gap) >= SAFE_ERRORS * error for gap, error in zip(gaps, errors, strict=True))


def near_end(estimate: Estimate, level: Level) -> Literal["low", "high"] | None:
    """Return the end that other draws could move across the level; the one that can fail first.

    Parameters
    ----------
    estimate
        The model.
    level
        The threshold.
    """
    limits = limits_of(estimate)
    if _clear(limits, level):
        return None
    ends: tuple[Literal["low", "high"], ...] = ("high", "low")
    for end in ends if level.side == "at_least" else reversed(ends):
        error = getattr(limits, f"mcse_{end}")
        if abs(getattr(limits, end) - level.value) < SAFE_ERRORS * error:
            return end
    return None


def least_items(level: Level, prob: float) -> int:
    """Return the number of items that show a level of a share if none of them is wrong.

    Without an error, the limit for m items is the m-th root of the error probability.

    Parameters
    ----------
    level
        A level of a share, between 0 and 1.
    prob
        Probability mass of the interval.

    Examples
    --------
    >>> least_items(Level("at_least", 0.9), 0.95), least_items(Level("at_least", 0.9), 0.9)
    (36, 29)
    """
    share = level.value if level.side == "at_least" else 1 - level.value
    needed = math.log((1 - prob) / 2) / math.log(share)
    return math.floor(needed) + 1


def level_findings(estimate: Estimate, level: Level) -> tuple[Finding, ...]:
    """Return the findings about a model, and about its use in a gate.

    Parameters
    ----------
    estimate
        The model.
    level
        The threshold.
    """
    spec, metric = estimate.spec, estimate.spec.metric
    findings: list[Finding] = []
    prob = estimate.hdi.prob
    if prob < USUAL_PROB:
        passing = (1 - prob) / 2
        findings.append(
            finding("lenient_level/level", prob=prob, passing=passing, usual=USUAL_PROB)
        )
    if not estimate.observed_defined:
        findings.append(undefined_finding(estimate.metric, [estimate.name]))
    else:
        findings += unseen_finding(spec)
    findings += sampling_findings(spec, estimate.findings)
    if estimate.chain is not None:
        findings += chain_findings([estimate.chain])
    if metric.bounds is None or not np.isfinite(metric.bounds).all():
        tail = heavy_tail(spec, (0,))
        if tail is not None and tail.skewness >= VERY_SKEWED:
            unit = "item" if spec.n_groups is None else "group"
            findings.append(
                finding("heavy_tails/gate", unit=unit, share=tail.share, metric=metric.label)
            )
    if alike := [prediction for prediction in never_true(spec) if prediction.like is not None]:
        status = _side(limits_of(estimate), level)
        if status is not GateStatus.PASS:
            findings.append(
                finding(
                    "spelled_otherwise/level",
                    model=estimate.name,
                    label=str(alike[0].label),
                    like=str(alike[0].like),
                    n=alike[0].n,
                )
            )
    if metric.greater_is_better is (level.side == "at_most"):
        findings.append(
            finding(
                "against_direction",
                better="higher" if metric.greater_is_better else "lower",
                metric=metric.label,
                side=level.side.replace("_", " "),
                value=level.value,
            )
        )
    findings += _out_of_reach(estimate, level)
    findings += _too_coarse(estimate, level)
    replaced = {item.name for item in findings}
    return (*(item for item in estimate.findings if item.name not in replaced), *findings)


def _out_of_reach(estimate: Estimate, level: Level) -> list[Finding]:
    """Return the finding about a test set too small to show the level even without an error."""
    spec = estimate.spec
    if spec.metric.name != "accuracy" or spec.pool is not None:
        return []
    n = math.floor(spec.n if spec.n_even is None else spec.n_even)
    needed = least_items(level, estimate.hdi.prob)
    if n >= needed:
        return []
    return [
        finding(
            "level_out_of_reach",
            n=n,
            units=spec.weighed,
            metric=spec.metric.label,
            side=level.side.replace("_", " "),
            value=level.value,
            needed=needed,
        )
    ]


def _too_coarse(estimate: Estimate, level: Level) -> list[Finding]:
    end = near_end(estimate, level)
    if end is None:
        return []
    limits = limits_of(estimate)
    fails = end == ("high" if level.side == "at_least" else "low")
    return [
        finding(
            "monte_carlo_too_coarse/level",
            level="serious" if fails else "warning",
            gap=abs(getattr(limits, end) - level.value),
            value=level.value,
            errors=SAFE_ERRORS,
            error=getattr(limits, f"mcse_{end}"),
            n_draws=estimate.draws.size,
        )
    ]


def settled_level(estimate: Estimate, level: Level, n_jobs: int | None) -> Estimate:
    """Return the estimate, with more draws if an end of its interval is close to the level.

    Parameters
    ----------
    estimate
        The model.
    level
        The threshold.
    n_jobs
        Number of parallel jobs.
    """
    n_draws = estimate.draws.size
    most = max(n_draws, min(_MOST_TIMES * n_draws, _MOST_DRAWS))
    while n_draws < most and (end := near_end(estimate, level)) and estimate.seed is not None:
        limits = limits_of(estimate)
        gap = abs(getattr(limits, end) - level.value)
        error = SAFE_ERRORS * getattr(limits, f"mcse_{end}")
        required = most if gap == 0 else min(n_draws * (error / gap) ** 2, most)
        n_draws = int(min(max(2 * n_draws, required), most))
        estimate = answer_one(
            estimate.spec,
            verb="estimate",
            prob=estimate.hdi.prob,
            n_draws=engine.check_draws(n_draws),
            seed=estimate.seed,
            n_jobs=n_jobs,
        )
    return estimate


def items_to_level(estimate: Estimate, level: Level) -> Needed | None:
    """Return the approximate number of further items that decide a level; None if unknown.

    Parameters
    ----------
    estimate
        The model.
    level
        The threshold.
    """
    spec = estimate.spec
    if level_status(estimate, level) is not GateStatus.UNDECIDED:
        return None
    if serious(level_findings(estimate, level)) or estimate.details is not None:
        return None
    if spec.counting != ONCE or spec.pool is not None or spec.metric.name == "judged_mean":
        return None
    limits = limits_of(estimate)
    outlook = Outlook(
        n=spec.n + prior_worth(spec),
        mean=estimate.mean - level.value,
        sd=estimate.sd,
        below=estimate.mean - limits.low,
        above=limits.high - estimate.mean,
        items="more",
    )
    if estimate.sd == 0:
        return None
    goal = judged_goal(0.0, greater_is_better=True)
    return needed_by(outlook, goal, max_items=_MOST_ITEMS * max(spec.n, 1))
