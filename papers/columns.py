"""The columns that both papers print of a comparison, read off ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outperform import Comparison
from papers.signs import paper_sign
from papers.tables import Column, Value

P_VALUES = (
    Column(key="sign_test_p", heading="sign p", part="p-values"),
    Column(key="t_test_p", heading="t p", part="p-values"),
)
POSTERIOR = (
    Column(key="mean", heading="mean", part="means"),
    Column(key="sd", heading="sd", part="sds"),
    Column(key="hdi_low", heading="HDI low", part="HDI ends"),
    Column(key="hdi_high", heading="HDI high", part="HDI ends"),
    Column(key="pct_below_zero", heading="% < 0", part="percentages", digits=1),
    Column(key="pct_above_zero", heading="% > 0", part="percentages", digits=1),
    Column(key="pct_in_rope", heading="% in ROPE", part="percentages", digits=1),
    Column(key="bf_sd", heading="BF_SD", part="Bayes factors"),
    Column(key="decision", heading="decision", part="decisions", digits=None),
)


def ours(comparison: Comparison) -> dict[str, Value]:
    """Return the posterior's columns of one comparison.

    The Bayes factor is the papers' own, from kernel density estimates.
    """
    return {
        "mean": comparison.mean,
        "sd": comparison.sd,
        "hdi_low": comparison.hdi.low,
        "hdi_high": comparison.hdi.high,
        "pct_below_zero": 100 * (1 - comparison.p_greater),
        "pct_above_zero": 100 * comparison.p_greater,
        "pct_in_rope": 100 * comparison.p_equivalent,
        "bf_sd": comparison.bayes_factor_point_null(method="kde").bf01,
        "decision": paper_sign(comparison),
    }


def printed(row: Mapping[str, Any]) -> dict[str, Value]:
    """Return the same columns of one published row."""
    low, high = row["hdi"]
    return {**row, "hdi_low": low, "hdi_high": high}


def flag(comparison: Comparison) -> str:
    """Return the finding that a decision near an edge of the ROPE carries."""
    names = [finding.name for finding in comparison.findings]
    return "monte_carlo_too_coarse" if "monte_carlo_too_coarse" in names else ""
