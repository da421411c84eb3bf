"""Sentences and tables of a diagnosis."""

from __future__ import annotations

from typing import Any

from outperform.display.document import Command, Document, Note, Rows
from outperform.display.facts import Facts
from outperform.display.formats import count_column, text_column
from outperform.display.numbers import count, for_text
from outperform.display.table import Table

_MOST_COLUMNS = 30
_MOST_NAMES = 10
_MOST_CLASSES = 8


def diagnosis_headline(facts: Facts) -> str:
    """Return what the files are, in one sentence."""
    names = [for_text(name) for name in facts["sources"]]
    sources = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    verb = "contains" if len(names) == 1 else "contain"
    return f"{sources} {verb} {facts['what']}."


def _size(facts: Facts) -> str:
    """Return the number of rows, columns and classes, and how many rows were read."""
    rows, n_read, columns = facts["n_rows"], facts["n_seen"], len(facts["columns"])
    parts = []
    if n_read is None:
        parts += [] if rows is None else [f"{count(rows)} items"]
    elif rows is None:
        parts.append(f"only the first {count(n_read)} rows were read")
    elif rows == n_read:
        parts.append(f"{count(rows)} rows, all of which were read")
    else:
        parts.append(f"{count(rows)} rows, of which the first {count(n_read)} were read")
    parts += [f"{count(columns)} columns"] if columns else []
    return "; ".join([facts["format"], *parts])


def _listed(names: list[str], most: int) -> str:
    shown = ", ".join(for_text(str(name)) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def columns_table(facts: Facts) -> Table:
    """Return one row per column of the file."""
    rows: list[dict[str, Any]] = [
        {
            "column": for_text(column["name"]),
            "type": column["type"],
            "missing": column["n_missing"],
            "distinct": column["n_distinct"],
            "role": column["role"],
            "why": column["why"],
        }
        for column in facts["columns"]
    ]
    columns = (
        text_column("column"),
        text_column("type"),
        count_column("missing"),
        count_column("distinct"),
        text_column("role", "read as"),
        text_column("why", "because"),
    )
    return Table(columns, tuple(rows), title="Columns")


def proposals_table(facts: Facts) -> Table:
    """Return one row per question, with its command."""
    rows = [
        {key: suggestion[key] for key in ("question", "command", "python", "why")}
        for suggestion in facts["suggestions"]
    ]
    columns = (
        text_column("question"),
        text_column("command"),
        text_column("python", "in Python"),
        text_column("why", "assumes"),
    )
    return Table(columns, tuple(rows), title="What can be asked, the most likely first")


def _facts(facts: Facts) -> list[Note]:
    notes = [Note(_size(facts), "file")]
    if facts["models"]:
        notes.append(Note(_listed(facts["models"], _MOST_NAMES), "models"))
    if facts["classes"]:
        shares = [f"{row['label']} ({count(row['n'])})" for row in facts["classes"]]
        n_classes = facts["n_classes"]
        more = f" and {n_classes - _MOST_CLASSES} more" if n_classes > _MOST_CLASSES else ""
        notes.append(Note(", ".join(map(for_text, shares[:_MOST_CLASSES])) + more, "classes"))
    if facts["n_repeated_ids"]:
        notes.append(Note(f"{count(facts['n_repeated_ids'])} rows repeat an id", "repeats"))
    elif facts["n_repeated_rows"]:
        repeated = count(facts["n_repeated_rows"])
        notes.append(Note(f"{repeated} rows equal an earlier row", "repeats"))
    return notes


def diagnosis_document(facts: Facts) -> Document:
    """Return what the files are, their columns, and the commands."""
    table = columns_table(facts)
    short = Table(table.columns, table.rows[:_MOST_COLUMNS], title=table.title)
    n_more = len(table) - len(short)
    left = f"and {n_more} more columns" if n_more else ""
    screen = Rows(
        table=short, verbose=table, first=("column", "role", "why"), labels=("column",), left=left
    )
    about = _facts(facts)
    notes = list(facts["notes"])
    if not facts["suggestions"]:
        notes.insert(0, "These data alone answer no question.")
    headline = diagnosis_headline(facts)
    lines = Table(
        (text_column("fact"), text_column("value")),
        tuple({"fact": note.label, "value": note.text} for note in about),
    )
    return Document(
        headline=headline,
        lead=about,
        screen=(screen,) if facts["columns"] else (),
        table=table if facts["columns"] else lines,
        commands=[
            Command(row["question"], row["command"], row["why"]) for row in facts["suggestions"]
        ],
        notes=[*(Note(text) for text in notes), *(note._replace(screen="never") for note in about)],
        passage=(headline, table if facts["columns"] else lines),
        prose=[*(f"{note.label}: {note.text}" for note in about if facts["columns"]), *notes],
    )
