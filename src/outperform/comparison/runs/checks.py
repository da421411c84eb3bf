"""Findings: what a careful reader would doubt about a comparison of training runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import TYPE_CHECKING

from outperform.comparison import disagreements
from outperform.comparison.matching import never_match
from outperform.comparison.runs.reading import Side
from outperform.comparison.scored import Asked
from outperform.decision import Decision, Interval, Rope
from outperform.findings import Finding

if TYPE_CHECKING:
    from outperform.comparison.runs.result import PooledRuns

FEW_RUNS = 5


def run_findings(question: Asked, sides: tuple[Side, Side]) -> Iterator[Finding]:
    """Yield doubts about how many runs there are and whether they are runs at all."""
    few = [side for side in sides if 1 < side.n < FEW_RUNS and not side.deterministic]
    if few:
        counted = " and ".join(f"{side.n} runs of {side.name}" for side in few)
        yield Finding(
            "few_runs",
            "warning",
            f"There are only {counted}; so few hardly tell how far runs spread, and the interval "
            f"is wide for that reason. Give at least {FEW_RUNS} runs of each model.",
        )
    for side in sides:
        if side.n == 1:
            yield Finding(
                "single_run",
                "warning",
                f"There is one run of {side.name}, so how far its runs spread is unknown; the "
                "comparison is with this very run, not with what training it again would give.",
            )
        elif side.deterministic:
            yield Finding(
                "identical_runs",
                "note",
                f"All {side.n} runs of {side.name} give the same answers; its training is taken "
                "to be deterministic.",
            )
        else:
            yield from _repeated(question, side)


def _repeated(question: Asked, side: Side) -> Iterator[Finding]:
    twice = [
        pair for pair in combinations(side.runs, 2) if disagreements.are_same(question.seen, *pair)
    ]
    if twice:
        yield Finding(
            "repeated_run",
            "warning",
            f"{' and '.join(twice[0])} give the same answers; if one run was entered twice, the "
            "interval is too narrow.",
        )


def pooling_finding(pooled: PooledRuns, decision: Decision) -> Iterator[Finding]:
    """Yield what pooling the runs would have decided, where their spread does not allow it."""
    said = pooled.decision
    if said in (Decision.BETTER, Decision.WORSE) and decision is not said:
        yield Finding(
            "runs_not_pooled",
            "note",
            f"Pooled, as if training could give no other runs, the verdict would be {said.symbol} "
            f"({said.words}); the spread of the runs does not allow it.",
        )


def allow(
    question: Asked, sides: tuple[Side, Side], decision: Decision, hdi: Interval, rope: Rope
) -> tuple[Decision, Finding | None]:
    """Return the verdict as far as the data allow it, and ``few_disagreements`` if they are few."""
    if not decision.decided and is_tie(question, sides, rope):
        decision = Decision.UNDECIDED  # what leaning there is comes from the draws
    few = disagreement_finding(question, sides, decision, hdi)
    if any(never_match(question, place) for side in sides for place in side.places):
        return Decision.UNDECIDED, few
    return disagreements.unless_serious(decision, few), few


def is_tie(question: Asked, sides: tuple[Side, Side], rope: Rope) -> bool:
    """Return whether both models have the same runs, so that the posterior is symmetric."""
    a, b = sides
    return a.n == b.n and all(
        disagreements.is_tie(question, rope, pair) for pair in zip(a.places, b.places, strict=True)
    )


def disagreement_finding(
    question: Asked, sides: tuple[Side, Side], decision: Decision, hdi: Interval
) -> Finding | None:
    """Return ``few_disagreements`` if no run of A is told apart from any run of B by many."""
    found, (a, b) = None, sides
    for pair in product(dict.fromkeys(a.places), dict.fromkeys(b.places)):
        found = disagreements.disagreement_finding(question, decision, hdi, pair)
        if found is None:
            return None
    return found
