"""A ranking as plain values, ready for JSON and for words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from outperform.comparison.ranks.pairs import Pair, above_diagonal
from outperform.comparison.summary import SCHEMA, finding_facts, interval_facts, question_facts
from outperform.decision import Decision

if TYPE_CHECKING:
    from outperform.comparison.ranks.result import RankedModel, Ranking


def ranking_facts(ranking: Ranking, *, pairs: bool = True) -> dict[str, Any]:
    """Return everything but the draws, with a schema version."""
    rope, question = ranking.rope, ranking.question
    return {
        "schema": SCHEMA,
        "kind": "ranking",
        "names": list(ranking.names),
        **question_facts(question),
        "paired": question.paired,
        "rope": {"low": rope.low, "high": rope.high, "default": rope.default},
        "hdi_prob": ranking.leader.hdi.prob,
        "n_draws": ranking.draws.shape[1],
        "leader": ranking.leader.name,
        "tied": list(ranking.tied),
        "p_missed": ranking.p_missed,
        "models": [_model_facts(row) for row in ranking.rows],
        "verdicts": [
            [None if decision is None else decision.symbol for decision in row]
            for row in ranking.verdicts
        ],
        **({"pairs": [pair_facts(one) for one in above_diagonal(ranking.pairs)]} if pairs else {}),
        "findings": finding_facts(ranking.findings),
        "signature": ranking.signature,
    }


def _model_facts(row: RankedModel) -> dict[str, Any]:
    return {
        "name": row.name,
        "observed": _number(row.observed),
        "mean": row.mean,
        "sd": row.sd,
        "mcse": row.mcse,
        "hdi": interval_facts(row.hdi),
        "p_best": row.p_best,
        "p_practically_best": row.p_practically_best,
        "p_rank": row.p_rank.tolist(),
        "expected_rank": row.expected_rank,
        "regret": row.regret,
        "errors": row.errors,
        "decision": None if row.decision is None else _decision_facts(row.decision),
        "tied": row.tied,
    }


def pair_facts(pair: Pair) -> dict[str, Any]:
    """Return one difference as plain values."""
    names = ("mean", "sd", "mcse", "p_worse", "p_equivalent", "p_better", "p_greater")
    return {
        "names": list(pair.names),
        "observed": _number(pair.observed),
        **{name: getattr(pair, name) for name in names},
        "hdi": interval_facts(pair.hdi),
        "decision": _decision_facts(pair.decision),
        "withheld": pair.withheld,
        "coarse": pair.coarse,
    }


def _decision_facts(decision: Decision) -> dict[str, str]:
    return {"name": decision.name, "symbol": decision.symbol, "words": decision.words}


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value
