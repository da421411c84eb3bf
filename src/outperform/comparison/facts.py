"""A comparison as plain values, ready for JSON and for words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from outperform.comparison.factors import factor_facts
from outperform.comparison.planning.more import needed_to_decide
from outperform.comparison.summary import (
    SCHEMA,
    chain_facts,
    finding_facts,
    interval_facts,
    question_facts,
)

if TYPE_CHECKING:
    from outperform.comparison.result import Comparison


def comparison_facts(c: Comparison) -> dict[str, Any]:
    """Return everything but the draws, with a schema version."""
    lost, needed, factor = c.regret, needed_to_decide(c), c.bayes_factor
    return {
        "schema": SCHEMA,
        "kind": "comparison",
        "names": list(c.names),
        **question_facts(c.question),
        "paired": c.question.paired,
        "observed": None if np.isnan(c.observed) else c.observed,
        "observed_defined": c.a.observed_defined and c.b.observed_defined,
        "mean": c.mean,
        "sd": c.sd,
        "mcse": c.mcse,
        "hdi": interval_facts(c.hdi),
        "eti": interval_facts(c.eti),
        "rope": {"low": c.rope.low, "high": c.rope.high, "default": c.rope.default},
        "p_worse": c.p_worse,
        "p_equivalent": c.p_equivalent,
        "p_better": c.p_better,
        "p_greater": c.p_greater,
        "regret": {"a": lost.a, "b": lost.b},
        "errors": c.errors,
        "n_draws": c.draws.size,
        **chain_facts(c.chain),
        "exact": c.exact,
        "decision": {
            "name": c.decision.name,
            "symbol": c.decision.symbol,
            "words": c.decision.words,
        },
        "rope_curve": [
            {
                "decision": step.decision.name,
                "symbol": step.decision.symbol,
                "from": step.start,
                "to": step.stop,
            }
            for step in c.rope_curve()
        ],
        **({} if needed is None else {"needed": needed._asdict()}),
        "bayes_factor": factor_facts(factor),
        "a": c.a.to_dict(),
        "b": c.b.to_dict(),
        "findings": finding_facts(c.findings + (() if factor is None else factor.findings)),
        "signature": c.signature,
    }


def headline_facts(c: Comparison) -> dict[str, Any]:
    """Return what the one line needs: no Bayes factor, which may have to be drawn."""
    return {
        "names": list(c.names),
        **question_facts(c.question),
        "mean": c.mean,
        "sd": c.sd,
        "hdi": interval_facts(c.hdi),
        "rope": {"low": c.rope.low, "high": c.rope.high},
        "decision": {"name": c.decision.name, "symbol": c.decision.symbol},
        "findings": finding_facts(c.findings),
    }
