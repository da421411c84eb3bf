"""Tables written for a terminal or as Markdown: published, ours and the difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from papers.tables import Column, Row, Table, Value, difference

Format = Literal["text", "markdown"]
SUMMARY_MARK = "<!-- summary -->"


def write_table(table: Table, form: Format) -> str:
    """Return one table with its heading and the time that it took."""
    took = f"Took {table.seconds:.1f} s, {table.cpu_seconds:.1f} s of processor time."
    lines = list(_lines(table))
    if form == "markdown":
        heading = f"### {table.name}"
        return "\n".join([heading, "", table.title, took, "", *_markdown(lines), ""])
    underline = "=" * len(table.name)
    return "\n".join([table.name, underline, table.title, took, "", *_text(lines), ""])


def write_summary(tables: Sequence[Table], form: Format) -> str:
    """Return one line a table: how many cells are as printed, and the largest differences."""
    lines = []
    for table in tables:
        parts = table.agreement()
        equal, cells = (sum(getattr(part, key) for part in parts) for key in ("equal", "cells"))
        took = f"Took {table.seconds:.1f} s, {table.cpu_seconds:.1f} s of processor time"
        found = "; ".join(map(str, parts))
        lines.append(f"{table.name}: {equal} of {cells} cells as printed: {found}. {took}.")
    if form == "markdown":
        return "\n".join([SUMMARY_MARK, "", *(f"- {line}" for line in lines), ""])
    return "\n".join(["Summary", "=======", *lines, ""])


def _lines(table: Table) -> Iterator[list[str]]:
    """Yield the heading and three lines a row."""
    flagged = any(column.digits is None for column in table.columns)
    heads = [column.heading for column in table.columns]
    yield [table.stub, "", *heads, *(["flag"] if flagged else [])]
    for row in table.rows:
        published = [
            _shown(row.published[c.key], c.digits) if c.printed else "" for c in table.columns
        ]
        more = [
            _shown(row.ours[c.key], None if c.digits is None else c.digits + 1)
            for c in table.columns
        ]
        off = [_off(column, row) if column.printed else "" for column in table.columns]
        for label, kind, cells, flag in (
            (row.label, "published", published, ""),
            ("", "ours", more, row.flag),
            ("", "difference", off, ""),
        ):
            yield [label, kind, *cells, *([flag] if flagged else [])]


def _shown(value: Value, digits: int | None) -> str:
    return value if isinstance(value, str) else _number(f"{value:.{digits}f}")


def _number(text: str) -> str:
    """Return a number with a proper minus; what rounds to zero has no sign."""
    return (text if text.strip("+-0.") else text.lstrip("+-")).replace("-", "−")


def _off(column: Column, row: Row) -> str:
    found = difference(column, row)
    if found is None:
        return "same" if row.published[column.key] == row.ours[column.key] else "other"
    return _number(f"{found:+.{(column.digits or 0) + 1}f}")


def _text(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    written = ["  ".join(_aligned(line, widths)).rstrip() for line in lines]
    return [written[0], "  ".join("-" * width for width in widths), *written[1:]]


def _aligned(line: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """Yield the label and the kind on the left, everything else on the right."""
    for place, (cell, width) in enumerate(zip(line, widths, strict=True)):
        yield cell.ljust(width) if place < 2 else cell.rjust(width)


def _markdown(lines: Sequence[Sequence[str]]) -> list[str]:
    rule = [":---" if place < 2 else "---:" for place in range(len(lines[0]))]
    return ["| " + " | ".join(line) + " |" for line in (lines[0], rule, *lines[1:])]
