"""The sections of the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from outperform._typing import FloatArray
from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.facts import Facts
from outperform.display.figure_style import read_shape
from outperform.display.numbers import for_text
from outperform.display.screen import comparison_details
from outperform.display.sentences import comparison_table, headline, rope_curve_sentence
from outperform.display.table import Table
from outperform.inference.spec import counted
from outperform.inference.views import of_one_class
from outperform.report.charts import Curve, Moving, Row, clean, forest_chart, posterior_chart
from outperform.report.slider import SHARES, Answer
from outperform.results.comparison import Comparison
from outperform.results.facts import outline

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


def grid(table: Table) -> Grid:
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
    return grid(comparison_table(facts))


def details(facts: Facts) -> tuple[tuple[str, str], ...]:
    """Return the smaller facts, as a screen has them."""
    found = comparison_details(facts)
    kept = [(label, text) for label, text in found if label not in _LEFT_OUT]
    # What follows, such as the Bayes factor, is for this ROPE wherever the slider stands.
    return (*kept[:1], ("ROPE as chosen", read.rope_text(facts)), *kept[1:])


def curve(facts: Facts) -> str:
    """Return the decision for every width, in one line."""
    return rope_curve_sentence(facts["rope_curve"], rope=facts["rope"], words=True)


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
        greater_is_better=comparison.spec.metric.greater_is_better,
    )
    label = picture_words(facts) + headline(facts)
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


_MOST_CLASSES = 60
_LABEL = 34
_COLUMNS = ("class", "n_true", "observed", "mean", "hdi_low", "hdi_high", "decision", "flags")


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """The classes of one comparison."""

    metric: str
    picture: str
    table: Grid
    data: dict[str, Any]


def class_part(comparison: Comparison) -> Classes | None:
    """Return the classes, where the comparison is about more than one."""
    if not _has_classes(comparison):
        return None
    by_class = comparison.by_class()
    table = by_class.table()
    columns = tuple(column for column in table.columns if column.key in _COLUMNS)
    first = by_class.comparisons[0]
    metric = for_text(first.spec.metric.label)
    a, b = (for_text(name, limit=24) for name in comparison.names)
    return Classes(
        metric=metric,
        picture=forest(
            [str(key) for key in by_class.keys],
            by_class.comparisons,
            subject=f"{a} − {b}, {for_text(metric, limit=40)}",
            label=f"One interval for each of {len(by_class)} classes; the table has the numbers",
        ),
        table=grid(Table(columns, tuple(_brief(table.rows, by_class.comparisons)))),
        data=table.to_dict(),
    )


def brief_decision(comparison: Comparison) -> str:
    """Return the symbol and as few words as say it."""
    decision = comparison.decision
    return f"{decision.symbol} {decision.words.removesuffix(', not decided')}"


def _brief(
    rows: Sequence[Mapping[str, object]], comparisons: Sequence[Comparison]
) -> Iterator[dict[str, object]]:
    for row, comparison in zip(rows, comparisons, strict=True):
        flags = str(row["flags"] or "").replace("_", " ")
        yield {**row, "decision": brief_decision(comparison), "flags": flags or None}


def _has_classes(comparison: Comparison) -> bool:
    if comparison.spec.data.kind == "scores" or comparison.spec.costs is not None:
        return False
    seen = counted(comparison.spec).data
    fewest = 2 if seen.kind in ("spans", "label_sets") else 3
    asked_for_one = comparison.spec.pos_label is not None or seen.kind == "correct"
    if asked_for_one or not fewest <= seen.n_classes <= _MOST_CLASSES:
        return False
    # A metric of one's own may have other units than the F1 of a class; its ROPE fits only it.
    rope, bounds = comparison.rope, of_one_class(counted(comparison.spec).metric).bounds
    return bounds is not None and max(abs(rope.low), abs(rope.high)) <= bounds[1] - bounds[0]


def forest(
    labels: Sequence[str], comparisons: Sequence[Comparison], *, subject: str, label: str
) -> str:
    """Return one interval for each comparison."""
    rows = [
        Row(
            label=for_text(name, limit=_LABEL),
            low=one.hdi.low,
            high=one.hdi.high,
            mean=one.mean,
            observed=None if np.isnan(one.observed) else one.observed,
            rope=(one.rope.low, one.rope.high),
            decision=one.decision.name,
            words=brief_decision(one),
        )
        for name, one in zip(labels, comparisons, strict=True)
    ]
    return clean(forest_chart(rows, subject=subject), label=label)


_LARGEST_MATRIX = 25
_LONGEST_LIST = 20
_SHADES = 4
_NAME = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One difference, and whom it speaks for: ``a1`` to ``a4``, ``b1`` to ``b4``, or nobody."""

    text: str
    shade: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """The differences as a matrix, or the largest of them as a list."""

    labels: tuple[str, ...]
    matrix: tuple[tuple[Cell, ...], ...]
    largest: tuple[tuple[str, str, str, str, str], ...]  # truth, predicted, A, B, A − B
    n_different: int


def confusion_differences(comparison: Comparison) -> Differences | None:
    """Return A − B in every cell of the confusion matrix; None where only right is known."""
    if comparison.spec.data.kind in ("correct", "scores", "label_sets"):
        return None
    seen = counted(comparison.spec).data
    if seen.kind == "correct":
        return None
    names = [*seen.labels, *(["(no span)"] if seen.kind == "spans" else [])]
    labels = tuple(for_text(name, limit=_NAME) for name in names)
    a, b = (np.asarray(matrix, dtype=np.float64) for matrix in comparison.confusions())
    whole = len(labels) <= _LARGEST_MATRIX
    return Differences(
        labels=labels,
        matrix=_matrix(a - b) if whole else (),
        largest=() if whole else _largest(labels, a, b),
        n_different=int(np.count_nonzero(a - b)),
    )


def _matrix(difference: FloatArray) -> tuple[tuple[Cell, ...], ...]:
    top = float(np.abs(difference).max())
    return tuple(
        tuple(_cell(value, row == column, top) for column, value in enumerate(values))
        for row, values in enumerate(difference.tolist())
    )


def _cell(value: float, right: bool, top: float) -> Cell:
    if value == 0:
        return Cell(text="0", shade="none")
    level = int(np.ceil(_SHADES * np.sqrt(abs(value) / top)))
    return Cell(text=_signed(value), shade=f"{'a' if (value > 0) is right else 'b'}{level}")


def _signed(value: float) -> str:
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return sign + numbers.count(abs(value))


def _largest(
    labels: tuple[str, ...], a: FloatArray, b: FloatArray
) -> tuple[tuple[str, str, str, str, str], ...]:
    difference = a - b
    order = np.argsort(-np.abs(difference), axis=None, kind="stable")[:_LONGEST_LIST]
    places = [divmod(int(place), len(labels)) for place in order]
    return tuple(
        (
            labels[row],
            labels[column],
            numbers.count(float(a[row, column])),
            numbers.count(float(b[row, column])),
            _signed(float(difference[row, column])),
        )
        for row, column in places
        if difference[row, column] != 0
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One comparison in the overview."""

    name: str
    heading: str
    decision: str
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
        subject=_overview_subject(comparisons),
        label=f"One interval for each of {len(lines)} comparisons; the table has the numbers",
    )
    return Overview(picture=picture, lines=tuple(lines))


def _line(name: str, heading: str, comparison: Comparison, facts: Facts) -> Line:
    places, hdi = read.digits(facts), facts["hdi"]
    return Line(
        name=name,
        heading=heading,
        decision=brief_decision(comparison),
        cells=(
            numbers.signed(facts["mean"], places),
            numbers.interval(hdi["low"], hdi["high"], places, sign=True),
            numbers.rope(facts["rope"]["low"], facts["rope"]["high"]),
            *(read.probability(facts, f"p_{word}") for word in ("worse", "equivalent", "better")),
        ),
    )


def _overview_subject(comparisons: Sequence[Comparison]) -> str:
    first = comparisons[0]
    if any(one.names != first.names for one in comparisons):
        return "difference, the first model minus the second"
    return " − ".join(for_text(name, limit=24) for name in first.names)
