"""The formats of a table: terminal, Markdown, HTML, CSV; LaTeX has a module of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import isfinite, isnan
from typing import Any
from unicodedata import combining, east_asian_width

from outperform.present.columns import Column
from outperform.present.escape import for_csv, for_html, for_markdown, for_text

LIMIT = 40
"""Longer labels are cut in tables, and only there."""

Rows = Sequence[Mapping[str, object]]

_CSV_SPECIAL = re.compile(r'[,"\r\n]|^\s|\s$')
_CELL_STYLE = "padding:0.15em 0.7em;border:0;background:none;"
# MathJax in notebooks would otherwise typeset whatever a label puts between dollars.
INERT = 'class="outperform tex2jax_ignore mathjax_ignore"'


def as_text(
    columns: Sequence[Column],
    rows: Rows,
    title: str | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return rows aligned for a terminal.

    Examples
    --------
    >>> print(as_text([Column(key="n", align="right")], [{"n": 5}, {"n": 12}]))
     n
    --
     5
    12
    """
    heads, cells = _shown(columns, rows, lambda text: for_text(text, limit=LIMIT))
    widths = [max(map(display_width, column)) for column in zip(heads, *cells, strict=True)]
    lines = [] if title is None else [for_text(title), ""]
    lines.append(_aligned(columns, heads, widths))
    lines.append("  ".join("-" * width for width in widths))
    lines.extend(_aligned(columns, row, widths) for row in cells)
    return "\n".join([*lines, *([""] if notes else []), *map(for_text, notes)])


def as_markdown(
    columns: Sequence[Column],
    rows: Rows,
    title: str | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return rows as a GitHub table, the title in bold above it.

    Examples
    --------
    >>> print(as_markdown([Column(key="n", align="right")], [{"n": 5}]))
    | n |
    | ---: |
    | 5 |
    """
    heads, cells = _shown(columns, rows, lambda text: for_markdown(text, limit=LIMIT, inline=True))
    rule = ["---:" if column.align == "right" else ":---" for column in columns]
    lines = [] if title is None else [f"**{for_markdown(title, inline=True)}**", ""]
    lines.extend("| " + " | ".join(row) + " |" for row in [heads, rule, *cells])
    for note in notes:
        lines += ["", for_markdown(note)]
    return "\n".join(lines)


def as_html(
    columns: Sequence[Column],
    rows: Rows,
    title: str | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return rows as one table element that takes the colours of the page around it.

    Examples
    --------
    >>> as_html([Column(key="n")], [{"n": "<b>"}]).count("&lt;b&gt;")
    1
    """
    heads, cells = _shown(columns, rows, lambda text: for_html(text, limit=LIMIT))
    rule = "border-bottom:1px solid;"
    head = "".join(
        f'<th scope="col" style="{_CELL_STYLE}{rule}text-align:{c.align}">{text}</th>'
        for c, text in zip(columns, heads, strict=True)
    )
    body = "\n".join(f"<tr>{_html_cells(columns, row)}</tr>" for row in cells)
    caption = "" if title is None else f"<caption>{for_html(title)}</caption>\n"
    foot = "<br>".join(map(for_html, notes))
    if notes:
        cell = f'<td colspan="{len(columns)}" style="{_CELL_STYLE}">{foot}</td>'
        foot = f"<tfoot><tr>{cell}</tr></tfoot>\n"
    return (
        f'<table {INERT} style="border-collapse:collapse;color:inherit">\n{caption}'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n{foot}</table>"
    )


def as_csv(keys: Sequence[str], rows: Rows) -> str:
    r"""Return raw values as CSV; numbers stay numbers, formulas become text.

    Examples
    --------
    >>> as_csv(["class", "mean"], [{"class": "=1+1", "mean": -0.5}])
    "class,mean\n'=1+1,-0.5\n"
    """
    lines = [",".join(map(_csv_cell, keys))]
    lines.extend(",".join(_csv_cell(row[key]) for key in keys) for row in rows)
    return "\n".join(lines) + "\n"


def plain_value(value: object) -> object:
    """Return a cell as a plain Python value: text, number, truth value or None.

    Examples
    --------
    >>> import numpy as np
    >>> plain_value(np.float64(0.5))
    0.5
    """
    item = getattr(value, "item", None)
    if callable(item):
        value = item()
    return value if value is None or isinstance(value, str | int | float) else str(value)


def json_value(value: object) -> object:
    """Return a cell as JSON can hold it, which has no NaN and no infinity.

    Examples
    --------
    >>> json_value(0.5), json_value(float("nan")), json_value(float("-inf"))
    (0.5, 'NaN', '-Infinity')
    """
    if not isinstance(value, float) or isfinite(value):
        return value
    return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"


def uniform(values: Sequence[Any]) -> list[Any]:
    """Return values of one type, as columnar frames want them.

    Examples
    --------
    >>> uniform([1, 2.5, None]), uniform(["spam", 7])
    ([1.0, 2.5, None], ['spam', '7'])
    """
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2:
        return list(values)
    kind: type = float if kinds == {int, float} else str
    return [None if value is None else kind(value) for value in values]


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    Examples
    --------
    >>> display_width("spam"), display_width("迷惑")
    (4, 4)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if combining(c) or c in "\ufe0e\ufe0f" else 2 if east_asian_width(c) in "WF" else 1
        for c in text
    )


def _shown(
    columns: Sequence[Column], rows: Rows, escape: Callable[[str], str]
) -> tuple[list[str], list[list[str]]]:
    heads = [escape(column.title) for column in columns]
    cells = [[escape(column.show(row[column.key])) for column in columns] for row in rows]
    return heads, cells


def _aligned(columns: Sequence[Column], cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = []
    for column, cell, width in zip(columns, cells, widths, strict=True):
        gap = " " * (width - display_width(cell))
        padded.append(gap + cell if column.align == "right" else cell + gap)
    return "  ".join(padded).rstrip()


def _html_cells(columns: Sequence[Column], cells: Sequence[str]) -> str:
    return "".join(
        f'<td style="{_CELL_STYLE}text-align:{column.align}">{cell}</td>'
        for column, cell in zip(columns, cells, strict=True)
    )


def _csv_cell(value: object) -> str:
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = for_csv(value)
    # The standard writer leaves a lone carriage return unquoted, which ends a row for readers.
    return '"' + text.replace('"', '""') + '"' if _CSV_SPECIAL.search(text) else text
