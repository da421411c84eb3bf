"""From joint draws of all runs to numbers, a verdict and doubts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from outperform._typing import FloatArray
from outperform.comparison import checks, engine
from outperform.comparison.runs.checks import allow, pooling_finding, run_findings
from outperform.comparison.runs.drawing import RunDraws, of_these_runs
from outperform.comparison.runs.reading import Side
from outperform.comparison.runs.result import PooledRuns, RunComparison, RunEstimate, VarianceFrom
from outperform.comparison.scored import Asked
from outperform.comparison.summary import Summary, seed_name, sign, summarise
from outperform.decision import Rope, decide, masses_from_draws, narrowest
from outperform.findings import Finding
from outperform.posterior import Trained

_SHARE_LEVELS = (0.025, 0.975)


def conclude(
    question: Asked,
    drawn: RunDraws,
    sides: tuple[Side, Side],
    *,
    rope: Rope,
    prob: float,
    seed: np.random.SeedSequence,
) -> RunComparison:
    """Turn joint draws of all runs into a comparison of two models."""
    both, n_draws = drawn.difference, drawn.values.shape[1]
    signed = sign(
        "compare_runs", question, rope=str(rope), prob=prob, n_draws=n_draws, seed=seed_name(seed)
    )
    signature = f"{signed} | runs={sides[0].n}+{sides[1].n}"
    seen = engine.observed(question)
    a, b = (
        _estimate(question, side, own, seen, prob=prob, signature=signature)
        for side, own in zip(sides, (drawn.a, drawn.b), strict=True)
    )
    fixed = of_these_runs(drawn, sides)
    ordered = np.sort(both.means)
    numbers = summarise(ordered, None, prob, signed=True)
    pooled = _pool(question, fixed, rope, prob)
    decision = decide(numbers.hdi, rope, greater_is_better=question.metric.greater_is_better)
    decision, few = allow(question, sides, decision, numbers.hdi, rope)
    findings = (
        *checks.rope_findings(rope),
        *run_findings(question, sides),
        *pooling_finding(pooled, decision),
        *checks.table_findings(question),
        *_pulled(question, a, b, numbers),
        *([] if few is None else [few]),
        *checks.interval_findings(
            question,
            numbers.hdi,
            numbers.eti,
            rope,
            sampled=True,
            pair=(sides[0].places[0], sides[1].places[0]),
        ),
    )
    return RunComparison(
        question=question,
        a=a,
        b=b,
        observed=a.observed - b.observed,
        mean=numbers.mean,
        sd=numbers.sd,
        mcse=numbers.mcse,
        hdi=numbers.hdi,
        eti=numbers.eti,
        rope=rope,
        masses=masses_from_draws(ordered, rope),
        decision=decision,
        draws=both.means,
        distribution=None,
        findings=findings,
        signature=signature,
        seed=seed,
        drawn=drawn,
        sides=sides,
        variance_from=_divide(fixed, both.variances),
        pooled=pooled,
    )


def _estimate(
    question: Asked,
    side: Side,
    trained: Trained,
    seen: Sequence[float],
    *,
    prob: float,
    signature: str,
) -> RunEstimate:
    """Wrap the posterior of one model's mean over all runs."""
    numbers = summarise(np.sort(trained.means), None, prob)
    run_values = tuple(seen[place] for place in side.places)
    return RunEstimate(
        name=side.name,
        question=question,
        observed=float(np.mean(run_values)),
        mean=numbers.mean,
        sd=numbers.sd,
        mcse=numbers.mcse,
        hdi=numbers.hdi,
        eti=numbers.eti,
        draws=trained.means,
        distribution=None,
        findings=(),
        signature=signature,
        runs=side.runs,
        run_values=run_values,
    )


def _pool(question: Asked, fixed: FloatArray, rope: Rope, prob: float) -> PooledRuns:
    """Judge the difference of the means of these very runs."""
    ordered = np.sort(fixed)
    hdi = replace(narrowest(ordered, prob), kind="HDI", signed=True)
    return PooledRuns(
        sd=float(ordered.std(ddof=1)),
        hdi=hdi,
        decision=decide(hdi, rope, greater_is_better=question.metric.greater_is_better),
    )


def _divide(fixed: FloatArray, of_runs: FloatArray) -> VarianceFrom:
    """Return which part of the variance endless documents would leave."""
    documents = float(fixed.var(ddof=1))
    with np.errstate(invalid="ignore"):
        shares = np.nan_to_num(of_runs / (of_runs + documents))  # none of none is none
    low, high = np.quantile(shares, _SHARE_LEVELS)
    share = float(shares.mean())
    return VarianceFrom(test_set=1 - share, runs=share, runs_low=float(low), runs_high=float(high))


def _pulled(question: Asked, a: RunEstimate, b: RunEstimate, numbers: Summary) -> Iterator[Finding]:
    values = [(one.name, one.observed, one.mean, one.sd) for one in (a, b)]
    values.append(("the difference", a.observed - b.observed, numbers.mean, numbers.sd))
    return checks.pull_findings(question, values)
