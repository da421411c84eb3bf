"""The parts of a section that follow from the facts of one comparison."""

from __future__ import annotations

from dataclasses import dataclass

from outperform import present
from outperform.comparison import Comparison
from outperform.comparison.pictures import outline
from outperform.present import facts as read
from outperform.present import numbers
from outperform.present.escape import for_text
from outperform.present.facts import Facts
from outperform.present.figures.shapes import read_shape
from outperform.present.screen import comparison_details
from outperform.report.charts import HEIGHT, WIDTH, Curve, posterior_chart
from outperform.report.drawing import Moving, clean
from outperform.report.live import SHARES, Answer

__all__ = ["HEIGHT", "WIDTH"]

_CELL = 60
_SHORT = 24
_SUBJECT = 40
_LEFT_OUT = {"practically", "other ROPEs"}  # the page shows them elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table as text: headings, cells, and which columns are numbers."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One of the three percentages, and its part of the bar from 0 to 100."""

    name: str
    words: str
    text: str
    start: float
    width: float


def grid(table: present.Table) -> Grid:
    """Return a table as harmless text."""
    return Grid(
        headings=tuple(for_text(column.title) for column in table.columns),
        rows=tuple(
            tuple(for_text(column.show(row[column.key]), limit=_CELL) for column in table.columns)
            for row in table.rows
        ),
        right=tuple(column.align == "right" for column in table.columns),
    )


def numbers_grid(facts: Facts) -> Grid:
    """Return A, B and the difference."""
    return grid(present.comparison_table(facts))


def details(facts: Facts) -> tuple[tuple[str, str], ...]:
    """Return the smaller facts, as a screen has them."""
    found = comparison_details(facts)
    kept = [(label, text) for label, text in found if label not in _LEFT_OUT]
    # What follows, such as the Bayes factor, is for this ROPE wherever the slider stands.
    return (*kept[:1], ("ROPE as chosen", read.rope_text(facts)), *kept[1:])


def curve(facts: Facts) -> str:
    """Return the verdict for every width, in one line."""
    return present.rope_curve_sentence(facts["rope_curve"], rope=facts["rope"], words=True)


def paragraph(comparison: Comparison) -> str:
    """Return the paragraph for a paper without the signature, which has a line of its own."""
    text = comparison.report()
    return text.removesuffix(f"Method: {for_text(comparison.signature)}").rstrip()


def short_names(facts: Facts) -> tuple[str, str]:
    """Return the models' names, cut if they are long."""
    return read.names(facts, limit=_SHORT)


def shares(facts: Facts, now: Answer) -> tuple[Share, ...]:
    """Return worse, equivalent and better, side by side."""
    a, b = short_names(facts)
    words = {
        "worse": f"{a} is worse than {b}",
        "equivalent": "practically equivalent",
        "better": f"{a} is better than {b}",
    }
    found, start = [], 0.0
    for name, text, mass in zip(SHARES, now.percentages, now.masses, strict=True):
        width = 100 * round(mass, 4)
        found.append(Share(name=name, words=words[name], text=text, start=start, width=width))
        start += width
    return tuple(found)


def posterior(
    comparison: Comparison, facts: Facts, *, name: str
) -> tuple[str, tuple[float, float]]:
    """Return the picture of the posterior and the stretch that it shows."""
    shape = read_shape(outline(comparison.draws, comparison.distribution))
    rope, hdi, places = comparison.rope, comparison.hdi, read.digits(facts)
    domain = _domain(
        [shape.low, hdi.low, 1.4 * rope.low, 0.0], [shape.high, hdi.high, 1.4 * rope.high, 0.0]
    )
    low, high = (numbers.signed(end, places).replace("-", "−") for end in (hdi.low, hdi.high))
    chart = posterior_chart(
        Curve(
            grid=shape.grid,
            height=shape.height,
            step=shape.step,
            domain=domain,
            hdi=(hdi.low, hdi.high),
            ends=(low, high),
            mean=comparison.mean,
            subject=_subject(facts),
        )
    )
    moving = Moving(
        name=name,
        domain=domain,
        rope=(rope.low, rope.high),
        greater_is_better=comparison.question.metric.greater_is_better,
    )
    label = picture_words(facts) + present.headline(facts)
    return clean(chart, label=label, moving=moving), domain


def picture_words(facts: Facts) -> str:
    """Return what the picture shows, for those who do not see it; the headline follows."""
    return f"Posterior of {read.difference(facts)} in {read.metric(facts)}. "


def _subject(facts: Facts) -> str:
    way = read.direction(facts)
    difference = read.difference(facts, limit=_SHORT)
    return (
        f"{difference}, {for_text(read.metric(facts), limit=_SUBJECT)}{f', {way}' if way else ''}"
    )


def _domain(lows: list[float], highs: list[float]) -> tuple[float, float]:
    low, high = min(lows), max(highs)
    margin = 0.12 * (high - low)  # room for the numbers beside the interval
    return low - margin, high + margin
