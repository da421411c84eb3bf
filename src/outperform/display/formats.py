"""Table columns, and table formats: terminal, Markdown, CSV, LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, isnan
from typing import Any, Literal
from unicodedata import combining, east_asian_width

from outperform.display import numbers
from outperform.display.numbers import for_csv, for_latex, for_markdown, for_text
from outperform.errors import UsageError

Align = Literal["left", "right"]


def _as_text(value: object) -> str:
    return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Column of a table: the key and the format of its values.

    Parameters
    ----------
    key
        Key of the values in the rows, and column name in frames and CSV files.
    heading
        Displayed heading; the key if None.
    write
        Function that converts a value to text. Not called if the value is text.
    align
        Alignment of the cells.

    Examples
    --------
    >>> Column(key="n", heading="items", write=numbers.count, align="right").show(7532)
    '7,532'
    """

    key: str
    heading: str | None = None
    write: Callable[[Any], str] = _as_text
    align: Align = "left"

    @property
    def title(self) -> str:
        """Heading of the column."""
        return self.key if self.heading is None else self.heading

    def show(self, value: object) -> str:
        """Return a value as text, before any escaping."""
        if value is None:
            return "–"
        return str(value) if isinstance(value, str) else self.write(value)


def text_column(key: str, heading: str | None = None) -> Column:
    """Return a column of labels and other text.

    Examples
    --------
    >>> text_column("class").show("spam")
    'spam'
    """
    return Column(key=key, heading=heading)


def number_column(key: str, heading: str | None = None, digits: int = numbers.DIGITS) -> Column:
    """Return a column of numbers with a fixed number of decimals.

    Examples
    --------
    >>> number_column("sd").show(0.00761)
    '0.0076'
    """
    write = partial(numbers.plain, digits=digits)
    return Column(key=key, heading=heading, write=write, align="right")


def signed_column(key: str, heading: str | None = None, digits: int = numbers.DIGITS) -> Column:
    """Return a column of differences, each with its sign.

    Examples
    --------
    >>> signed_column("mean").show(0.0222)
    '+0.0222'
    """
    write = partial(numbers.signed, digits=digits)
    return Column(key=key, heading=heading, write=write, align="right")


def count_column(key: str, heading: str | None = None) -> Column:
    """Return a column of integers with thousands separators.

    Examples
    --------
    >>> count_column("n").show(18846)
    '18,846'
    """
    return Column(key=key, heading=heading, write=numbers.count, align="right")


def probability_column(key: str, heading: str | None = None, n_draws: int | None = None) -> Column:
    """Return a column of probabilities, exact ones or from ``n_draws`` draws.

    Examples
    --------
    >>> probability_column("p_better", n_draws=20_000).show(1.0)
    '>99.98%'
    """
    write = partial(numbers.probability, n_draws=n_draws)
    return Column(key=key, heading=heading, write=write, align="right")


LIMIT = 40
"""Maximum length of labels in displayed tables; longer labels are shortened."""

Rows = Sequence[Mapping[str, object]]

_CSV_SPECIAL = re.compile(r'[,"\r\n]|^\s|\s$')


def as_text(
    columns: Sequence[Column],
    rows: Rows,
    title: str | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return rows as an aligned table for a terminal.

    Examples
    --------
    >>> print(as_text([Column(key="n", align="right")], [{"n": 5}, {"n": 12}]))
     n
    --
     5
    12
    """
    heads, cells = _escaped(columns, rows, lambda text: for_text(text, limit=LIMIT))
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
    """Return rows as a GitHub table, with the title in bold above it.

    Examples
    --------
    >>> print(as_markdown([Column(key="n", align="right")], [{"n": 5}]))
    | n |
    | ---: |
    | 5 |
    """
    escape = partial(for_markdown, limit=LIMIT, inline=True)
    heads, cells = _escaped(columns, rows, escape)
    rule = ["---:" if column.align == "right" else ":---" for column in columns]
    lines = [] if title is None else [f"**{for_markdown(title, inline=True)}**", ""]
    lines.extend("| " + " | ".join(row) + " |" for row in [heads, rule, *cells])
    for note in notes:
        lines += ["", for_markdown(note)]
    return "\n".join(lines)


def as_csv(keys: Sequence[str], rows: Rows) -> str:
    r"""Return raw values as CSV, with formulas as text and numbers unchanged.

    Examples
    --------
    >>> as_csv(["class", "mean"], [{"class": "=1+1", "mean": -0.5}])
    "class,mean\n'=1+1,-0.5\n"
    """
    lines = [",".join(map(_csv_cell, keys))]
    lines.extend(",".join(_csv_cell(row[key]) for key in keys) for row in rows)
    return "\n".join(lines) + "\n"


def plain_value(value: object) -> object:
    """Return a cell as a plain Python value: text, number, boolean or None.

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
    """Return a cell for JSON, with NaN and infinity as text.

    Examples
    --------
    >>> json_value(0.5), json_value(float("nan")), json_value(float("-inf"))
    (0.5, 'NaN', '-Infinity')
    """
    if not isinstance(value, float) or isfinite(value):
        return value
    return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"


def uniform(values: Sequence[object]) -> list[Any]:
    """Return values converted to one type, as columnar frames require.

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
    """Return the number of terminal columns that text fills.

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


def _escaped(
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


def _csv_cell(value: object) -> str:
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = for_csv(value)
    # The standard writer does not quote a lone carriage return, which readers take as a row end.
    return '"' + text.replace('"', '""') + '"' if _CSV_SPECIAL.search(text) else text


_NUMBER = re.compile(r"[-−+]?[\d,]+(\.\d+)?")
_LABEL = re.compile(r"[A-Za-z0-9:._-]+")
_NOT_IN_LABEL = re.compile(r"[^a-z0-9]+")
# Text width of LaTeX's article class in points, the narrowest of the common classes.
_PAGE = 345.0
# Font sizes as a share of 10 points, with half the space between columns in points.
_TYPES = ((r"\small", 0.9, 6.0), (r"\footnotesize", 0.8, 4.0), (r"\scriptsize", 0.7, 3.0))
# The widths of a letter and of a wide sign in points, slightly overestimated.
_LETTER, _SIGN = 5.3, 8.0
_SIGNS = frozenset("+-−<>≫≪≈±%mwMW")


def as_latex(
    columns: Sequence[Column],
    rows: Rows,
    title: str | None = None,
    notes: Sequence[str] = (),
    *,
    label: str | None = None,
) -> str:
    r"""Return rows as a booktabs tabular, in a table environment if there is a title.

    Examples
    --------
    >>> print(as_latex([Column(key="n", align="right")], [{"n": 5}]))
    % needs \usepackage{booktabs}
    \begin{tabular}{@{}r@{}}
    \toprule
    n \\
    \midrule
    $5$ \\
    \bottomrule
    \end{tabular}
    """
    _check_label(label, title)
    tabular = _tabular(columns, rows)
    if title is None:
        return "\n".join([r"% needs \usepackage{booktabs}", *tabular])
    size, rotated = _fitting(columns, rows)
    environment = "sidewaystable" if rotated else "table"
    needs = "booktabs,rotating" if rotated else "booktabs"
    lines = [rf"% needs \usepackage{{{needs}}}", rf"\begin{{{environment}}}", r"\centering"]
    lines.append(rf"\caption{{{for_latex(title)}}}")
    if label is not None:
        lines.append(rf"\label{{{label}}}")
    lines += [r"\smallskip", *size, *tabular]
    if notes:
        lines += [r"\par\smallskip", r"\parbox{\linewidth}{\footnotesize\raggedright"]
        lines.append("\\\\\n".join(map(for_latex, notes)) + "}")
    return "\n".join([*lines, rf"\end{{{environment}}}"])


def latex_label(*parts: object) -> str:
    """Return a reference label made from parts such as names.

    Examples
    --------
    >>> latex_label("nb_mult", "svm_l2", "f1_macro")
    'tab:nb-mult-svm-l2-f1-macro'
    """
    words = [_NOT_IN_LABEL.sub("-", str(part).lower()[:LIMIT]).strip("-") for part in parts]
    return "tab:" + ("-".join(word for word in words if word) or "comparison")


def _check_label(label: str | None, title: str | None) -> None:
    if label is None:
        return
    if not isinstance(label, str) or not _LABEL.fullmatch(label):
        raise UsageError(
            "a LaTeX label must consist of letters, digits and : . _ -, such as "
            f"'tab:results'; got {label!r}"
        )
    if title is None:
        raise UsageError("a label needs a caption; pass one, or omit the label")


def _tabular(columns: Sequence[Column], rows: Rows) -> list[str]:
    heads = [for_latex(column.title, limit=LIMIT) for column in columns]
    cells = [[_cell(column, row[column.key]) for column in columns] for row in rows]
    alignment = "".join(column.align[0] for column in columns)
    return [
        rf"\begin{{tabular}}{{@{{}}{alignment}@{{}}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in cells),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _cell(column: Column, value: object) -> str:
    text = column.show(value)
    if not isinstance(value, str) and _NUMBER.fullmatch(text):
        return "$" + text.replace(",", "{,}").replace("−", "-") + "$"
    return for_latex(text, limit=LIMIT)


def _fitting(columns: Sequence[Column], rows: Rows) -> tuple[list[str], bool]:
    """Return the commands for a font size in which the table fits, and whether it is rotated."""
    width = sum(
        max(_width(text) for text in (c.title, *(c.show(row[c.key]) for row in rows)))
        for c in columns
    )
    if width + 12.0 * len(columns) <= _PAGE:
        return [], False
    for size, share, gap in _TYPES:
        if share * width + 2 * gap * len(columns) <= _PAGE:
            return _set(size, gap), False
    return _set(_TYPES[-1][0], 2.0), True


def _set(size: str, gap: float) -> list[str]:
    return [size, rf"\setlength{{\tabcolsep}}{{{gap:g}pt}}"]


def _width(text: str) -> float:
    return sum(_SIGN if letter in _SIGNS else _LETTER for letter in text[:LIMIT])
