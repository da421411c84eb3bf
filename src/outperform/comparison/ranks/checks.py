"""Findings: what a careful reader would doubt about a ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outperform.comparison.checks import SAFE_ERRORS
from outperform.comparison.disagreements import are_same
from outperform.comparison.ranks.pairs import Matrix, Pair, above_diagonal
from outperform.comparison.scored import Asked
from outperform.findings import Finding


def ranking_findings(question: Asked, pairs: Matrix, *, n_draws: int) -> Iterator[Finding]:
    """Yield doubts about pairs and about who leads."""
    every = list(above_diagonal(pairs))
    same = [p for p in every if not p.observed and are_same(question.seen, *p.names)]
    if same:
        yield Finding(
            "few_disagreements",
            "serious" if any(pair.withheld for pair in same) else "warning",
            f"{_share(len(same), len(every))} are identical on every item ({_named(same)}); did "
            "you pass the same column twice?",
        )
    withheld = [pair for pair in every if pair.withheld and pair not in same]
    if withheld:
        yield Finding(
            "few_disagreements",
            "serious",
            f"{_share(len(withheld), len(every))} hardly ever disagree ({_named(withheld)}), so "
            "the interval is too narrow to be believed; the verdict of these is withheld.",
        )
    coarse = [pair for pair in every if pair.coarse]
    if coarse:
        yield Finding(
            "monte_carlo_too_coarse",
            "note",
            f"In {_share(len(coarse), len(every))} an end of the HDI is so near an edge of the "
            f"ROPE ({_named(coarse)}) that another {n_draws:,} draws might change the verdict; "
            "draw more with n_draws=.",
        )
    second = pairs[0][1]
    assert second is not None
    if abs(second.mean) < SAFE_ERRORS * second.mcse:
        yield Finding(
            "monte_carlo_too_coarse",
            "note",
            f"The means of {second.names[0]} and {second.names[1]} are {abs(second.mean):.2g} "
            f"apart, within {SAFE_ERRORS:g} Monte Carlo errors ({second.mcse:.2g}); which of them "
            "comes first may be the draws' doing.",
        )


def _share(found: int, n_pairs: int) -> str:
    return f"{found:,} of {n_pairs:,} pairs"


def _named(pairs: Sequence[Pair]) -> str:
    shown = "; ".join(" and ".join(pair.names) for pair in pairs[:3])
    return shown if len(pairs) <= 3 else f"{shown}; and {len(pairs) - 3:,} more"
