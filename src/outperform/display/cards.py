"""What notebooks and pages are made of: tables, findings, folds, and what words mean."""

from __future__ import annotations

import re
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from outperform.display.colours import with_colours
from outperform.display.formats import LIMIT, Column
from outperform.display.numbers import for_text, true_minus
from outperform.display.pictures import (
    Html,
    Span,
    element,
    joined,
    spans_html,
    tone,
)


@cache
def glossary() -> Mapping[str, Mapping[str, Any]]:
    """Return what the words mean, by their key."""
    text = files("outperform.display").joinpath("glossary.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def findings_explained() -> Mapping[str, str]:
    """Return what every finding means and what to do, by its name."""
    text = files("outperform.display").joinpath("explained.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def marked_terms() -> Mapping[str, str]:
    """Return the words that pages explain where they stand, and what they mean."""
    return {one["marked"]: one["text"] for one in glossary().values() if "marked" in one}


def explained(text: str) -> Html:
    """Return text with a tooltip on every term that has an explanation.

    Examples
    --------
    >>> explained("95% HDI")[:20]
    '95% <abbr title="The'
    """
    terms = marked_terms()
    parts, end = [], 0
    for found in re.finditer("|".join(map(re.escape, terms)), text):
        term = found.group()
        parts += [text[end : found.start()], element("abbr", term, title=terms[term])]
        end = found.end()
    return joined([*parts, text[end:]])


def mark(decision: str) -> Html:
    """Return a decision in few words behind a square in its colour."""
    brief = decision.removesuffix(", not decided")
    square = element("span", class_=f"op-mark op-{tone(decision)}", aria_hidden="true")
    return element("span", square, brief, title=None if brief == decision else decision)


# Tables


_SCROLLS = 12  # rows; more of them scroll


def table_html(
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, object]],
    *,
    title: str | None = None,
    notes: Sequence[str] = (),
    spans: Sequence[Span] = (),
    zero: bool = True,
    leads: int = 1,
    label: str = "table",
) -> Html:
    """Return rows as a table that scrolls under its heading and beside its first column.

    Parameters
    ----------
    columns, rows
        What is shown.
    title
        What stands above it.
    notes
        What stands below it.
    spans
        One interval a row, drawn in a column of its own.
    zero
        Whether the intervals are differences.
    leads
        How many columns stand before the intervals.
    label
        What the region that scrolls is called.

    Examples
    --------
    >>> table_html([Column(key="n")], [{"n": "<b>"}]).count("&lt;b&gt;")
    1
    """
    axis, drawn = spans_html(spans, zero=zero) if spans else (None, [])
    heads = [
        element("th", explained(for_text(one.title, limit=LIMIT)), scope="col", class_=_side(one))
        for one in columns
    ]
    lines = []
    for position, row in enumerate(rows):
        cells = [_cell(column, row[column.key], first=not k) for k, column in enumerate(columns)]
        if drawn:
            cells.insert(leads, element("td", drawn[position], class_="op-span"))
        lines.append(element("tr", *cells))
    if axis is not None:
        heads.insert(
            leads, element("th", axis, scope="col", class_="op-span", aria_label="interval")
        )
    table = element(
        "table",
        element("caption", for_text(title)) if title else None,
        element("thead", element("tr", *heads)),
        element("tbody", *lines),
        class_="op-table",
    )
    tall = " op-tall" if len(rows) > _SCROLLS else ""
    box = element(
        "div", table, class_=f"op-scroll{tall}", tabindex="0", role="region",
        aria_label=for_text(label),
    )  # fmt: skip
    below = [element("p", true_minus(for_text(note)), class_="op-quiet") for note in notes]
    return joined([box, *below])


_JUDGED = {"pass": "✓", "fail": "✗", "undecided": "?"}
_NUMERIC = re.compile(r"[-+<>]?[\d.,]+( to [-+]?[\d.,]+)?")


def _side(column: Column) -> str | None:
    if column.key == "hdi":  # may take two lines on a narrow screen
        return "op-r op-hdi"
    return "op-r" if column.align == "right" else None


def _cell(column: Column, value: object, *, first: bool) -> Html:
    text = for_text(column.show(value), limit=LIMIT)
    if first:
        return element("th", text, scope="row", class_=_side(column))
    if column.key == "decision" and isinstance(value, str):
        return element("td", mark(for_text(value)))
    if column.key == "judgement":  # colours are those of decisions
        return element("td", f"{_JUDGED[text]} {text}")
    shown = text if isinstance(value, str) and not _NUMERIC.fullmatch(text) else true_minus(text)
    return element("td", shown, class_=_side(column))


# Notebooks


class Notebook(ABC):
    """What a notebook shows: each kind of document takes the form that it can show."""

    __slots__ = ()

    @abstractmethod
    def to_html(self) -> str:
        """Return the answer as HTML, as a notebook shows it."""

    @abstractmethod
    def to_markdown(self) -> str:
        """Return the answer in Markdown."""

    @abstractmethod
    def to_latex(self) -> str:
        """Return the answer for LaTeX."""

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> dict[str, str]:
        writers = {
            "text/plain": self.__repr__,
            "text/html": self.to_html,
            "text/markdown": self.to_markdown,
            "text/latex": self.to_latex,
        }
        # IPython takes an empty list for no condition, too.
        wanted = set(include or writers) - set(exclude or ())
        return {kind: write() for kind, write in writers.items() if kind in wanted}


# What cards and pages are made of


def fragment(*content: str | None) -> Html:
    """Return content as one element that brings its style and takes the colours of the page."""
    # MathJax in notebooks would otherwise typeset whatever a label puts between dollars.
    return element(
        "div",
        element("style", Html(style())),
        *content,
        class_="outperform op-card tex2jax_ignore mathjax_ignore",
    )


@cache
def style() -> str:
    """Return the style of cards, as a page and a notebook have it."""
    text = files("outperform.display").joinpath("card.css").read_text(encoding="utf-8")
    return with_colours(text.replace("\r\n", "\n"))


def shares_html(shares: tuple[str, str, str]) -> Html:
    """Return the three probabilities side by side."""
    names = ("worse", "equivalent", "better")
    return element(
        "p",
        *(
            element(
                "span",
                element("span", class_=f"op-mark op-{name}", aria_hidden="true"),
                f"{name} ",
                element("b", text),
            )
            for name, text in zip(names, shares, strict=True)
        ),
        class_="op-shares",
    )


def folded(summary: str, *content: str | None, opened: bool = False) -> Html:
    """Return content behind a line that opens it."""
    return element("details", element("summary", summary), *content, class_="op-fold", open=opened)


def finding_item(level: str, message: str, name: str) -> Html:
    """Return a finding as an item of a list."""
    said = element("strong", level), f" {message} ", element("code", name)
    return element("li", *said, class_=f"op-{level}")


def folded_findings(findings: Sequence[tuple[str, str, str]]) -> Html | None:
    """Return each finding; a note takes one line, which opens."""
    if not findings:
        return None
    lines = [
        element(
            "details",
            element("summary", element("strong", level), f" {message} ", element("code", name)),
            class_=f"op-finding op-{level}",
            open=level != "note",
        )
        for level, message, name in findings
    ]
    return element("div", *lines, class_="op-findings", role="group", aria_label="findings")


def details_html(details: Sequence[tuple[str, str]]) -> Html:
    """Return the smaller facts as a list of labels and texts."""
    pairs = [
        element("div", element("dt", explained(label)), element("dd", text))
        for label, text in details
    ]
    return element("dl", *pairs, class_="op-details")
