"""The papers' signs: what is not firm leans by where the middle of the HDI lies."""

from __future__ import annotations

from outperform import Comparison, Decision
from outperform.decision.rope import firm_decision


def paper_sign(comparison: Comparison) -> str:
    """Return the sign that the papers print for a comparison.

    Firm signs are ours. Otherwise the papers print < or > by the side of the ROPE's midpoint that
    the HDI's midpoint is on, however little of the posterior lies there; ? stands for midpoints
    that are equal within Monte Carlo error, and for a decision that is withheld.
    """
    hdi, rope = comparison.hdi, comparison.rope
    if firm_decision(hdi, rope) is not None:  # firm, or withheld
        return comparison.decision.symbol
    lean = hdi.midpoint - rope.midpoint
    error = (hdi.mcse_low + hdi.mcse_high) / 2
    if abs(lean) <= max(error, 1e-12 * hdi.width):
        return Decision.UNDECIDED.symbol
    decision = Decision.LEANING_BETTER if lean > 0 else Decision.LEANING_WORSE
    better = comparison.spec.metric.greater_is_better
    return (decision if better else decision.mirrored).symbol
