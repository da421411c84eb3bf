"""Several comparisons at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from outperform.comparison import Comparison
from outperform.present import facts as read
from outperform.present import numbers
from outperform.present.escape import for_text
from outperform.present.facts import Facts
from outperform.report.classes import brief_verdict, forest


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One comparison in the overview."""

    name: str
    heading: str
    verdict: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All comparisons as a forest and a table."""

    picture: str
    lines: tuple[Line, ...]


def make_overview(
    headings: Sequence[str], comparisons: Sequence[Comparison], data: Sequence[Facts]
) -> Overview:
    """Return the overview of several comparisons."""
    lines = [
        _line(f"c{place}", heading, one, facts)
        for place, (heading, one, facts) in enumerate(
            zip(headings, comparisons, data, strict=True), start=1
        )
    ]
    picture = forest(
        headings,
        comparisons,
        subject=_subject(comparisons),
        label=f"One interval for each of {len(lines)} comparisons; the table has the numbers",
    )
    return Overview(picture=picture, lines=tuple(lines))


def _line(name: str, heading: str, comparison: Comparison, facts: Facts) -> Line:
    places, hdi = read.digits(facts), facts["hdi"]
    return Line(
        name=name,
        heading=heading,
        verdict=brief_verdict(comparison),
        cells=(
            numbers.signed(facts["mean"], places),
            numbers.interval(hdi["low"], hdi["high"], places, sign=True),
            numbers.rope(facts["rope"]["low"], facts["rope"]["high"]),
            *(read.probability(facts, f"p_{word}") for word in ("worse", "equivalent", "better")),
        ),
    )


def _subject(comparisons: Sequence[Comparison]) -> str:
    first = comparisons[0]
    if any(one.names != first.names for one in comparisons):
        return "difference, the first model minus the second"
    return " − ".join(for_text(name, limit=24) for name in first.names)
