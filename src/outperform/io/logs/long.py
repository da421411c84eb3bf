"""Tables with one row per item and model; the caller passes the column names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from outperform.errors import DataError, UsageError, param
from outperform.io.formats import Dialect
from outperform.io.frames import Frame
from outperform.io.logs.format import LogFormat, read_columns
from outperform.io.logs.samples import (
    LONG,
    FailedLog,
    Item,
    Part,
    Samples,
    as_epoch,
    as_id,
    as_text,
)
from outperform.io.tables import Table, Where

# Columns that, if present, must have the same value for all models of an item.
_QUESTIONS = ("question", "question_hash", "doc_hash", "input")
_GOLD = (
    "truth", "gold", "target", "target_hash", "expected", "expected_answer", "expected_output",
    "reference",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Long(LogFormat):
    def load(
        self,
        parts: Sequence[Part],
        *,
        score: str | None,
        where: Where,
        fields: Sequence[str],
        id: str | None = None,
        model: str | None = None,
        dialect: Dialect | None = None,
    ) -> tuple[list[Samples], list[FailedLog]]:
        columns = {"id": id, "score": score, "model": model}
        samples = [
            group for part in parts for group in _read(part, columns, where, fields, dialect)
        ]
        return samples, []


FORMAT = _Long(name=LONG)


def _read(
    part: Part,
    named: Mapping[str, str | None],
    where: Where,
    fields: Sequence[str],
    dialect: Dialect | None,
) -> list[Samples]:
    """Return the samples of each model in a table."""
    id, score, model = named["id"], named["score"], named["model"]
    missing_names = [
        param(f"{name}=")
        for name, column in named.items()
        if column is None and (name != "model" or part.model is None)
    ]
    if id is None or score is None or missing_names:
        raise UsageError(
            "a table with one row per item and model needs the names of its columns; pass "
            f"{' and '.join(missing_names)}"
        )
    requested = [name for name in (id, score, model, *fields) if name is not None]

    def select(table: Table | Frame) -> list[str]:
        known = ("task", "epoch", *_QUESTIONS, *_GOLD)
        extra = [name for name in known if name in table.names and name not in requested]
        names = [*dict.fromkeys(requested), *extra]
        for name in names:
            table.column(name)
        return names

    name, rows = read_columns(
        part.source, select, requested, where=where, dialect=dialect or Dialect()
    )
    n_rows = len(rows[id])
    if not n_rows:
        raise DataError(f"{name} has no rows for this request")
    owners = [part.model] * n_rows if model is None else rows[model]
    nameless = next((k for k, owner in enumerate(owners) if owner is None or owner == ""), None)
    if nameless is not None:
        raise DataError(f"{name}: row {nameless + 1} has no model in {model!r}")
    row = next((k for k, task in enumerate(rows.get("task", ())) if task is None), None)
    if row is not None:
        raise DataError(f"{name}: row {row + 1} has no value in 'task'")
    rows_by_model: dict[str, list[int]] = {}
    for row_number, owner in enumerate(owners):
        rows_by_model.setdefault(str(owner), []).append(row_number)
    tasks = [str(value) for value in rows.get("task", [""] * n_rows)]
    epochs = [as_epoch(value, name=name) for value in rows.get("epoch", [1] * n_rows)]
    return [
        Samples(
            model=owner,
            name=name,
            turn=part.turn,
            origin=LONG,
            items=[Item(tasks[k], as_id(rows[id][k], column=id, name=name)) for k in indices],
            epochs=[epochs[k] for k in indices],
            scores={score: [rows[score][k] for k in indices]},
            questions={
                column: [as_text(rows[column][k]) for k in indices]
                for column in _QUESTIONS
                if column in rows and column not in (id, score, model)
            },
            gold={
                column: [as_text(rows[column][k]) for k in indices]
                for column in _GOLD
                if column in rows and column not in (id, score, model)
            },
            fields={field: [rows[field][k] for k in indices] for field in fields},
        )
        for owner, indices in rows_by_model.items()
    ]
