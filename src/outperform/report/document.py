"""What the page shows, as plain text and pictures: one section for each comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from outperform.comparison import Comparison
from outperform.present.escape import for_text
from outperform.report import parts
from outperform.report.citing import bibtex
from outperform.report.classes import Classes, class_part
from outperform.report.confusion import Differences, confusion_differences
from outperform.report.live import Answer, answer_everywhere
from outperform.report.overview import Overview, make_overview

SCHEMA = 1
_POSITIONS = 200
_POSITIONS_OF_ALL = 1_200
_FEWEST_POSITIONS = 50
_MOST_WITH_CLASSES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One comparison on the page."""

    name: str
    heading: str
    now: Answer
    last: int
    chosen: int
    symmetric: bool
    shares: tuple[parts.Share, ...]
    picture: str
    numbers: parts.Grid
    details: tuple[tuple[str, str], ...]
    curve: str
    classes: Classes | None
    differences: Differences | None
    models: tuple[str, str]
    paragraph: str
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Everything on the page."""

    title: str
    overview: Overview | None
    sections: tuple[Section, ...]
    bibtex: str
    data: dict[str, Any]
    live: list[dict[str, Any]]


def make_document(
    comparisons: Sequence[Comparison],
    *,
    by: str | None,
    keys: Sequence[object],
    title: str | None,
) -> Document:
    """Work out everything that the page shows."""
    many = len(comparisons) > 1
    share = _POSITIONS_OF_ALL // len(comparisons)
    most = min(_POSITIONS, max(_FEWEST_POSITIONS, share))
    headings = [_heading(by, key, one) for key, one in zip(keys, comparisons, strict=True)]
    shown: set[object] = set()
    sections, data, live = [], [], []
    for place, (heading, one) in enumerate(zip(headings, comparisons, strict=True), start=1):
        with_classes = by != "class" and len(comparisons) <= _MOST_WITH_CLASSES
        section, facts, answers = _section(
            f"c{place}", heading, one, most=most, with_classes=with_classes, shown=shown
        )
        sections.append(section)
        data.append(facts)
        live.append(answers)
    return Document(
        title=_title(comparisons) if title is None else for_text(title),
        overview=make_overview(headings, comparisons, data) if many else None,
        sections=tuple(sections),
        bibtex=bibtex(comparisons),
        data={"schema": SCHEMA, "kind": "report", "by": by, "comparisons": data},
        live=live,
    )


def _section(
    name: str,
    heading: str,
    comparison: Comparison,
    *,
    most: int,
    with_classes: bool,
    shown: set[object],
) -> tuple[Section, dict[str, Any], dict[str, Any]]:
    facts = comparison.to_dict()
    live = answer_everywhere(comparison, facts, most=most)
    picture, domain = parts.posterior(comparison, facts, name=name)
    classes = class_part(comparison) if with_classes else None
    # Comparisons of the same models on the same data differ in the same places.
    seen = id(comparison.question.seen), comparison.names
    differences = None if seen in shown else confusion_differences(comparison)
    shown.add(seen)
    section = Section(
        name=name,
        heading=heading,
        now=live.now,
        last=len(live.answers) - 1,
        chosen=live.chosen,
        symmetric=comparison.rope.symmetric,
        shares=parts.shares(facts, live.now),
        picture=picture,
        numbers=parts.numbers_grid(facts),
        details=parts.details(facts),
        curve=parts.curve(facts),
        classes=classes,
        differences=differences,
        models=parts.short_names(facts),
        paragraph=parts.paragraph(comparison),
        signature=for_text(comparison.signature),
    )
    more = {} if classes is None else {"classes": classes.data}
    moving = {
        "name": name,
        "picture": parts.picture_words(facts),
        "domain": domain,
        "width": parts.WIDTH,
        "height": parts.HEIGHT,
    }
    return section, {**facts, **more}, {**moving, **live.packed()}


def _heading(by: str | None, key: object, comparison: Comparison) -> str:
    if by is not None:
        return f"{by} {for_text(key)}"
    a, b = map(for_text, comparison.names)
    return f"{a} against {b}, {for_text(comparison.question.metric.label)}"


def _title(comparisons: Sequence[Comparison]) -> str:
    first = comparisons[0]
    if len(comparisons) == 1:
        return _heading(None, None, first)
    if any(one.names != first.names for one in comparisons):
        return f"{len(comparisons)} comparisons"
    a, b = map(for_text, first.names)
    return f"{a} against {b}, {len(comparisons)} comparisons"
