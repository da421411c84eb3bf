"""Findings: what a careful reader would doubt about many slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outperform.comparison.checks import rope_findings, table_findings
from outperform.comparison.question import Question
from outperform.comparison.sizes import FEW_DOCUMENTS
from outperform.decision import Rope
from outperform.findings import Finding
from outperform.slices.row import SliceRow

FEW_SLICES = 10


def slice_findings(
    question: Question, rows: Sequence[SliceRow], rope: Rope, n_draws: int
) -> Iterator[Finding]:
    """Yield doubts about the question, the table of the whole, and the slices."""
    yield from rope_findings(rope)
    yield from table_findings(question)
    if len(rows) < FEW_SLICES:
        yield Finding(
            "few_slices",
            "warning",
            f"How much slices differ is learned from {len(rows)} only, so each is pulled toward "
            "the others about as much as the prior says.",
        )
    small = sum(row.n < FEW_DOCUMENTS for row in rows)
    if small:
        yield Finding(
            "small_slices",
            "note",
            f"{small:,} of {len(rows):,} slices have fewer than {FEW_DOCUMENTS} documents; what is "
            "said of them is what the whole says.",
        )
    coarse = sum(row.coarse for row in rows)
    if coarse:
        yield Finding(
            "monte_carlo_too_coarse",
            "note",
            f"In {coarse:,} of {len(rows):,} slices an end of the HDI is so near an edge of the "
            f"ROPE that another {n_draws:,} draws might change the verdict; draw more with "
            "n_draws=.",
        )
