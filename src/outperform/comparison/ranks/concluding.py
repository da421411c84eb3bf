"""From joint draws to rows in order, pairs, tied models and doubts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from outperform._typing import FloatArray
from outperform.comparison import checks, engine
from outperform.comparison.estimating import one_estimate
from outperform.comparison.ranks.checks import ranking_findings
from outperform.comparison.ranks.pairs import Matrix, all_pairs, in_order
from outperform.comparison.ranks.result import RankedModel, Ranking
from outperform.comparison.repeated import repeated_findings
from outperform.comparison.scored import Asked
from outperform.comparison.summary import seed_name, sign
from outperform.decision import (
    Decision,
    Rope,
    expected_ranks,
    losses,
    mean_error,
    rank_probabilities,
)
from outperform.findings import Finding


def conclude(
    question: Asked,
    values: FloatArray,
    *,
    rope: Rope,
    prob: float,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> Ranking:
    """Turn joint draws ``(n_models, n_draws)`` into a ranking."""
    observed = engine.observed(question)
    better, n_draws = question.metric.greater_is_better, values.shape[1]
    order = _best_first(question.view.models, values, better)
    pairs = all_pairs(question, values, observed, rope=rope, prob=prob, n_jobs=n_jobs)
    pairs = in_order(pairs, order)
    signed = sign(
        "rank", question, rope=str(rope), prob=prob, n_draws=n_draws, seed=seed_name(seed)
    )
    signature = f"{signed} | models={len(order)}"
    rows = _rows(
        question, values, order, pairs, observed=observed, rope=rope, prob=prob, signature=signature
    )
    pulled = [
        (row.name, row.observed, row.mean, row.sd) for row in sorted(rows, key=lambda row: row.name)
    ]
    findings = (
        *checks.rope_findings(rope),
        *checks.table_findings(question),
        *checks.pull_findings(question, pulled),
        *ranking_findings(question, pairs, n_draws=n_draws),
        *_of_the_first_two(question, order, pairs),
    )
    return Ranking(
        question=question,
        rows=rows,
        pairs=pairs,
        rope=rope,
        draws=values[order],
        findings=findings,
        signature=signature,
        seed=seed,
    )


def _of_the_first_two(question: Asked, order: Sequence[int], pairs: Matrix) -> Iterator[Finding]:
    """Yield what ids that repeat would do to the difference of the two best."""
    pair = pairs[0][1]
    if pair is not None:
        yield from repeated_findings(question, pair.sd, models=order[:2])


def _best_first(names: Sequence[str], values: FloatArray, better: bool) -> list[int]:
    """Order by the mean, which is the order of regret; names settle what is equal."""
    sign = -1.0 if better else 1.0
    means = sign * values.mean(axis=1)
    return sorted(range(len(names)), key=lambda place: (means[place], names[place]))


def _rows(
    question: Asked,
    values: FloatArray,
    order: Sequence[int],
    pairs: Matrix,
    *,
    observed: Sequence[float],
    rope: Rope,
    prob: float,
    signature: str,
) -> tuple[RankedModel, ...]:
    better, n_draws = question.metric.greater_is_better, values.shape[1]
    p_rank = rank_probabilities(values, greater_is_better=better)
    ranks = expected_ranks(p_rank, n_draws)
    lost = losses(values, greater_is_better=better)
    allowed = -rope.low if better else rope.high
    answered = engine.Answer(
        values=values, of_models=(None,) * len(order), of_difference=None
    )  # one source for all numbers, so that they agree with each other
    rows = []
    for place, model in enumerate(order):
        own: dict[str, Any] = {"observed": observed[model], "prob": prob, "signature": signature}
        against = pairs[place][0]
        decision = None if against is None else against.decision
        rows.append(
            RankedModel(
                estimate=one_estimate(question, answered, model, **own),
                p_rank=p_rank[model],
                expected_rank=float(ranks.mean[model]),
                expected_rank_mcse=float(ranks.mcse[model]),
                regret=float(lost[model].mean()),
                regret_mcse=mean_error(float(lost[model].std(ddof=1)), n_draws),
                p_practically_best=float((lost[model] <= allowed).mean()),
                decision=decision,
                tied=decision is not Decision.WORSE,
            )
        )
    return tuple(rows)
