r"""Tables for LaTeX: booktabs, a type that fits the page, a caption and a label."""

from __future__ import annotations

import re
from collections.abc import Sequence

from outperform.errors import UsageError
from outperform.present.columns import Column
from outperform.present.escape import for_latex
from outperform.present.formats import LIMIT, Rows

_NUMBER = re.compile(r"[-+]?[\d,]+(\.\d+)?")
_LABEL = re.compile(r"[A-Za-z0-9:._-]+")
_NOT_IN_LABEL = re.compile(r"[^a-z0-9]+")
# The text of LaTeX's article is 345 points wide, the narrowest of the usual classes.
_PAGE = 345.0
# Size, its letters as a share of 10 points, and half the space between columns.
_TYPES = ((r"\small", 0.9, 6.0), (r"\footnotesize", 0.8, 4.0), (r"\scriptsize", 0.7, 3.0))
# Points of a letter and of a wide sign, a little more than they take.
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
    """Return a label for references from whatever the table is about.

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
            "a label of LaTeX must consist of letters, digits and : . _ -, such as "
            f"'tab:results'; got {label!r}"
        )
    if title is None:
        raise UsageError("a label needs a caption to number; give one, or leave the label out")


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
        return "$" + text.replace(",", "{,}") + "$"
    return for_latex(text, limit=LIMIT)


def _fitting(columns: Sequence[Column], rows: Rows) -> tuple[list[str], bool]:
    """Return the commands for a type in which the table fits, and whether it lies on its side."""
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
