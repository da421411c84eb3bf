"""Parts of notebooks and pages: tables, findings, collapsible sections, term definitions."""

from __future__ import annotations

import re
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from outperform import wrong_calls
from outperform.display.colours import with_colours
from outperform.display.formats import LIMIT, Column, display_width
from outperform.display.numbers import for_text, true_minus
from outperform.display.pictures import (
    Html,
    Span,
    element,
    joined,
    spans_html,
    tone,
)
from outperform.errors import CallError


@cache
def glossary() -> Mapping[str, Mapping[str, Any]]:
    """Return the glossary, by key."""
    text = files("outperform.display").joinpath("glossary.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def findings_explained() -> Mapping[str, str]:
    """Return the meaning of every finding and the recommended action, by name."""
    text = files("outperform.display").joinpath("explained.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def marked_terms() -> Mapping[str, str]:
    """Return the terms that have tooltips on pages, with their definitions."""
    return {term["marked"]: term["text"] for term in glossary().values() if "marked" in term}


def explained(text: str) -> Html:
    """Return text with a tooltip on every term that has a definition.

    Examples
    --------
    >>> explained("95% HDI")[:20]
    '95% <abbr title="The'
    """
    terms = marked_terms()
    parts, end = [], 0
    for match in re.finditer("|".join(map(re.escape, terms)), text):
        term = match.group()
        parts += [text[end : match.start()], element("abbr", term, title=terms[term])]
        end = match.end()
    return joined([*parts, text[end:]])


def mark(decision: str) -> Html:
    """Return a decision in a few words, after a coloured square."""
    brief = decision.removesuffix(", not decided")
    square = element("span", class_=f"op-mark op-{tone(decision)}", aria_hidden="true")
    return element("span", square, brief, title=None if brief == decision else decision)


# Tables


_SCROLLS = 12  # tables with more rows scroll
_LONG = 16  # longer names wrap
_TITLE = 200  # longer names are shortened in a title too


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
    """Return rows as a scrolling table with a fixed heading and first column.

    Parameters
    ----------
    columns, rows
        The columns and rows.
    title
        Caption above the table.
    notes
        Lines below the table.
    spans
        One interval per row, drawn in a separate column.
    zero
        Whether the intervals are differences.
    leads
        Number of columns before the intervals.
    label
        Accessible name of the scrolling region.

    Examples
    --------
    >>> table_html([Column(key="n")], [{"n": "<b>"}]).count("&lt;b&gt;</th>")
    1
    """
    axis, drawn = spans_html(spans, zero=zero) if spans else (None, [])
    heads = [
        element("th", explained(for_text(c.title, limit=LIMIT)), scope="col", class_=_side(c))
        for c in columns
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
    return _scrolling(table, len(rows), notes=notes, label=label)


_GATE_SYMBOLS = {"pass": "✓", "fail": "✗", "undecided": "?"}
_NUMERIC = re.compile(r"[-+<>]?[\d.,]+( to [-+]?[\d.,]+)?")


def _side(column: Column) -> str | None:
    if column.key == "hdi":  # the text may need two lines on a narrow screen
        return "op-r op-hdi"
    return "op-r" if column.align == "right" else None


def _name_class(text: str, *others: str | None) -> str:
    """Return the classes of a name, which has several lines if it is long.

    Short names have a class too, so the markup does not depend on a label.
    """
    width = "op-long" if display_width(text) > _LONG else "op-short"
    return " ".join(filter(None, (*others, width)))


def _cell(column: Column, value: object, *, first: bool) -> Html:
    text = for_text(column.show(value), limit=LIMIT)
    if first:
        # The title has the whole name, also if it is not shortened: markup must not depend on it.
        whole = for_text(column.show(value), limit=_TITLE)
        sides = _name_class(text, _side(column))
        return element("th", text, scope="row", class_=sides, title=whole)
    if column.key == "decision" and isinstance(value, str):
        return element("td", mark(for_text(value)))
    if column.key == "status":  # without a colour, because colours represent decisions
        return element("td", f"{_GATE_SYMBOLS[text]} {text}")
    if not isinstance(value, str) or _NUMERIC.fullmatch(text):
        text = true_minus(text)
    return element("td", text, class_=_side(column))


class GridCell(NamedTuple):
    """A two-line cell: a number after a square in the colour of its decision, and a detail.

    Parameters
    ----------
    text
        The number.
    detail
        Text below it.
    decision
        Decision on it; empty if there is none.
    strong
        Whether it is bold.
    """

    text: str
    detail: str
    decision: str = ""
    strong: bool = False

    def html(self) -> Html:
        """Return it as a cell of a table."""
        text = true_minus(self.text)
        symbol = f" {self.decision.partition(' ')[0]}" if self.decision else ""
        square = element("span", class_=f"op-mark op-{tone(self.decision)}", aria_hidden="true")
        return element(
            "td",
            square if self.decision else None,
            element("b", text) if self.strong else text,
            symbol or None,
            element("br"),
            element("span", true_minus(self.detail), class_="op-quiet"),
            class_="op-r",
            title=self.decision or None,
        )


def grid_html(
    heads: Sequence[str],
    rows: Sequence[tuple[str, str, Sequence[GridCell]]],
    *,
    notes: Sequence[str] = (),
    label: str,
) -> Html:
    """Return a table of two-line cells, which scrolls with its heading and first column fixed.

    Parameters
    ----------
    heads
        Heading of the first column, then of each other column.
    rows
        For each row its name, a detail below it, and its cells.
    notes
        Lines below the table.
    label
        Accessible name of the scrolling region.

    Examples
    --------
    >>> rows = [("arc", "900 items", [GridCell("0.7", "0.6 to 0.8", "≪ worse")])]
    >>> str(grid_html(["task", "gpt"], rows, label="Tasks")).count("op-worse")
    1
    """
    first, *others = heads
    columns = [element("th", for_text(first), scope="col")]
    columns += [
        element("th", for_text(name, limit=LIMIT), scope="col", class_="op-r") for name in others
    ]
    lines = [
        element(
            "tr",
            element(
                "th",
                for_text(name, limit=LIMIT),
                element("br"),
                element("span", for_text(detail, limit=LIMIT), class_="op-quiet op-wrap"),
                scope="row",
                class_=_name_class(max(name, detail, key=display_width)),
            ),
            *(cell.html() for cell in cells),
        )
        for name, detail, cells in rows
    ]
    table = element(
        "table",
        element("thead", element("tr", *columns)),
        element("tbody", *lines),
        class_="op-table",
    )
    return _scrolling(table, len(rows), notes=notes, label=label)


def _scrolling(table: Html, n_rows: int, *, notes: Sequence[str], label: str) -> Html:
    """Return a table in a box that scrolls, and the notes below it."""
    tall = " op-tall" if n_rows > _SCROLLS else ""
    box = element(
        "div", table, class_=f"op-scroll{tall}", tabindex="0", role="region",
        aria_label=for_text(label),
    )  # fmt: skip
    below = [element("p", true_minus(for_text(note)), class_="op-quiet") for note in notes]
    return joined([box, *below])


# Notebooks


class Notebook(wrong_calls.Answering, ABC):
    """Mixin with notebook output in every format."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __init_subclass__(cls, **kwargs: object) -> None:
            """Wrap public methods, so a wrong call raises an error with the correct call."""
            super().__init_subclass__(**kwargs)
            for name, value in list(vars(cls).items()):
                is_method = isinstance(value, FunctionType) and not name.startswith("_")
                # With slots, the dataclass decorator creates the class twice.
                if is_method and not hasattr(value, "__wrapped__"):
                    setattr(cls, name, wrong_calls.explained(value))

        def __getitem__(self, name: object) -> object:
            """Raise an error that suggests the attribute for a key."""
            if name in dir(self):
                raise CallError(f"numbers of a result are attributes: type .{name}")
            if isinstance(name, str):
                raise CallError(wrong_calls.unknown_attribute(self, name))
            raise CallError("numbers of a result are attributes, such as .mean; type dir(result)")

        def __float__(self) -> float:
            """Raise an error that suggests the number to use."""
            raise CallError("a result is not a number; type result.mean or result.observed")

    @abstractmethod
    def to_html(self) -> str:
        """Return the result as HTML, for notebooks."""

    @abstractmethod
    def to_markdown(self) -> str:
        """Return the result as Markdown."""

    @abstractmethod
    def to_latex(self) -> str:
        """Return the result for LaTeX."""

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
        # IPython treats an empty list like no condition.
        requested = set(include or writers) - set(exclude or ())
        return {kind: write() for kind, write in writers.items() if kind in requested}


# Parts of cards and pages


def fragment(*content: str | None) -> Html:
    """Return content as one styled element that uses the colours of the page."""
    # Otherwise MathJax in notebooks would typeset text between dollar signs in a label.
    return element(
        "div",
        element("style", Html(style())),
        *content,
        class_="outperform op-card tex2jax_ignore mathjax_ignore",
    )


@cache
def style() -> str:
    """Return the style sheet of cards, for a page and for a notebook."""
    text = files("outperform.display").joinpath("card.css").read_text(encoding="utf-8")
    return with_colours(text.replace("\r\n", "\n"))


def shares_html(shares: tuple[str, str, str]) -> Html:
    """Return the three probabilities side by side."""
    names = ("worse", "equivalent", "better")
    parts = [
        element(
            "span",
            element("span", class_=f"op-mark op-{name}", aria_hidden="true"),
            f"{name} ",
            element("b", text),
        )
        for name, text in zip(names, shares, strict=True)
    ]
    return element("p", Html("\n".join(parts)), class_="op-shares")


def folded(summary: str, *content: str | None, opened: bool = False) -> Html:
    """Return content under a summary line that expands it."""
    return element("details", element("summary", summary), *content, class_="op-fold", open=opened)


def finding_item(level: str, message: str, name: str) -> Html:
    """Return a finding as an item of a list."""
    parts = element("strong", level), f" {true_minus(message)} ", element("code", name)
    return element("li", *parts, class_=f"op-{level}")


_FEW_FINDINGS = 3  # a card shows this many in full
_OF_JUDGES = ("judged", "judge_bias")


def folded_findings(findings: Sequence[tuple[str, str, str]]) -> Html | None:
    """Return all findings; if there are many, each note is folded into one line.

    Notes about a judge are not folded, because the result depends on its correction.
    """
    if not findings:
        return None
    few = len(findings) <= _FEW_FINDINGS
    lines = [
        element(
            "details",
            element(
                "summary",
                element("strong", level),
                f" {true_minus(message)} ",
                element("code", name),
            ),
            class_=f"op-finding op-{level}",
            open=few or level != "note" or name in _OF_JUDGES,
        )
        for level, message, name in findings
    ]
    return element("div", *lines, class_="op-findings", role="group", aria_label="findings")


def details_html(details: Sequence[tuple[str, str]]) -> Html:
    """Return the details as a list of labels and texts."""
    pairs = [
        element("div", element("dt", explained(label)), element("dd", text))
        for label, text in details
    ]
    return element("dl", *pairs, class_="op-details")
