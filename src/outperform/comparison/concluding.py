"""From draws and closed forms to numbers, a verdict and doubts."""

from __future__ import annotations

import numpy as np

from outperform.comparison import checks, disagreements, engine
from outperform.comparison.engines import chain_findings
from outperform.comparison.estimating import one_estimate
from outperform.comparison.repeated import repeated_findings
from outperform.comparison.result import Comparison
from outperform.comparison.scored import Asked
from outperform.comparison.summary import seed_name, sign, summarise
from outperform.decision import (
    Decision,
    Rope,
    decide,
    masses_from_distribution,
    masses_from_draws,
)


def conclude(
    question: Asked,
    answered: engine.Answer,
    *,
    rope: Rope,
    prob: float,
    seed: np.random.SeedSequence,
    verb: str = "compare",
) -> Comparison:
    """Turn draws and closed forms into numbers, a verdict and doubts."""
    n_draws = answered.values.shape[1]
    signature = sign(
        verb, question, rope=str(rope), prob=prob, n_draws=n_draws, seed=seed_name(seed)
    )
    a, b = (
        one_estimate(question, answered, place, observed=seen, prob=prob, signature=signature)
        for place, seen in enumerate(engine.observed(question))
    )
    draws = answered.values[0] - answered.values[1]
    ordered, exact = np.sort(draws), answered.of_difference
    chain = answered.chains[-1] if answered.chains else None
    numbers = summarise(ordered, exact, prob, signed=True, chain=chain)
    decision = decide(numbers.hdi, rope, greater_is_better=question.metric.greater_is_better)
    decision, few = disagreements.allow(question, decision, numbers.hdi, rope)
    if not all(one.converged for one in answered.chains):
        decision = Decision.UNDECIDED
    values = [(one.name, one.observed, one.mean, one.sd) for one in (a, b)]
    values.append(("the difference", a.observed - b.observed, numbers.mean, numbers.sd))
    findings = (
        *checks.rope_findings(rope),
        *chain_findings(answered.chains),
        *checks.table_findings(question),
        *checks.pull_findings(question, values),
        *([] if few is None else [few]),
        *checks.interval_findings(question, numbers.hdi, numbers.eti, rope, sampled=exact is None),
        *repeated_findings(question, numbers.sd),
    )
    return Comparison(
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
        masses=(
            masses_from_draws(ordered, rope)
            if exact is None
            else masses_from_distribution(exact, rope)
        ),
        decision=decision,
        draws=draws,
        distribution=exact,
        findings=findings,
        signature=signature,
        seed=seed,
        chain=chain,
    )
