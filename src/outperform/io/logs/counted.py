"""Counted logs: the scores, groups, tasks and epochs of evaluation logs, in one small file."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from outperform import _files
from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.io.logs.format import LogFormat, read_json
from outperform.io.logs.samples import FailedLog, Item, Part, Samples, under_one_name
from outperform.io.tables import SEVERAL, Where

COUNTED = "counted-logs"
LOGS = "outperform/logs"
_LONGEST = 64  # characters of a text that is stored; longer ones are stored as hashes
_HASHED = " (sha256)"  # end of the name of a column of hashes, which no log has
_TEXTS = ("questions", "gold", "prompts")
_PLACE = _files.whole()


def _columns(check: _files.Check = _PLACE) -> _files.Check:
    def check_all(value: Any, at: str) -> dict[str, object]:
        if not isinstance(value, dict):
            raise _files.refuse(at, "an object", value)
        return {str(name): check(inner, f"{at}.{name}") for name, inner in value.items()}

    return check_all


_FIELDS = _files.record(
    {
        "format": _files.one_of(LOGS),
        "schema": _files.whole(1, 1),
        "fields": _files.list_of(_files.text),
        "columns": _files.list_of(_files.as_list),
        "logs": _files.list_of(
            _files.record(
                {
                    "model": _files.text,
                    "name": _files.text,
                    "turn": _files.whole(),
                    "origin": _files.text,
                    "when": lambda value, at: None if value is None else _files.text(value, at),
                    "tasks": _PLACE,
                    "ids": _PLACE,
                    "epochs": _PLACE,
                    "scores": _columns(),
                    **{name: _columns() for name in (*_TEXTS, "fields")},
                }
            )
        ),
        "sha256": _files.digest,
    }
)


def counted_text(every: Sequence[Samples], fields: Sequence[str]) -> str:
    """Return samples as JSON; equal columns, such as the items of all models, are stored once.

    Parameters
    ----------
    every
        Samples of all logs.
    fields
        Names of the fields of items that the samples have.
    """
    index_of: dict[str, int] = {}

    def index(values: Sequence[object]) -> int:
        return index_of.setdefault(json.dumps(list(values), default=str), len(index_of))

    def texts(columns: Mapping[str, list[str | None]]) -> dict[str, int]:
        return {name: index(values) for name, values in map(_short, columns.items())}

    logs = [
        {
            "model": samples.model,
            "name": samples.name,
            "turn": samples.turn,
            "origin": samples.origin,
            "when": samples.when,
            "tasks": index([item.task for item in samples.items]),
            "ids": index([item.id for item in samples.items]),
            "epochs": index(samples.epochs),
            "scores": {name: index(values) for name, values in samples.scores.items()},
            "fields": {name: index(values) for name, values in samples.fields.items()},
            **{aspect: texts(getattr(samples, aspect)) for aspect in _TEXTS},
        }
        for samples in every
    ]
    content = {
        "format": LOGS,
        "schema": 1,
        "fields": list(fields),
        "columns": [json.loads(column) for column in index_of],
        "logs": logs,
    }
    signed = _files.signed(content)
    return json.dumps({**content, "sha256": signed["sha256"]}, separators=(",", ":"))


def _short(column: tuple[str, list[str | None]]) -> tuple[str, list[str | None]]:
    """Return a column of texts, as hashes if any is long, under a name that says so."""
    name, values = column
    if all(value is None or len(value) <= _LONGEST for value in values):
        return name, values
    return name + _HASHED, [None if value is None else _hash(value) for value in values]


def _hash(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted(LogFormat):
    def load(
        self, parts: Sequence[Part], *, score: str | None, where: Where, fields: Sequence[str]
    ) -> tuple[list[Samples], list[FailedLog]]:
        every: list[Samples] = []
        failed: list[FailedLog] = []
        for part in parts:
            of_part: list[Samples] = []
            for path in self.logs_in(part.source):
                try:
                    of_part += _read(path, part, where, fields)
                except DataError as error:
                    failed.append(FailedLog(os.fspath(path), part.model, str(error)))
            every += under_one_name(part, of_part)
        return every, failed


FORMAT = _Counted(
    name=COUNTED,
    what="file of counted logs, *.json or *.json.gz",
    start=re.compile(rb'{"format":"outperform/logs"'),
)


def _read(path: Path, part: Part, where: Where, fields: Sequence[str]) -> list[Samples]:
    name = os.fspath(path)
    if not path.exists():
        raise UsageError(f"no file {name!r}")
    plain = read_json(path)
    try:
        content = _FIELDS(plain, "")
        if not isinstance(plain, dict) or not _files.is_signed(plain):
            raise DataError("its content was changed: the checksum does not match")
        every = [_samples(log, content["columns"], part) for log in content["logs"]]
    except DataError as error:
        raise DataError(f"{name}: {error}") from error
    known = content["fields"]
    for field in fields:
        if field not in known:
            raise UsageError(
                f"{name} was counted without the field {field!r}; count the logs again with "
                f"{param('by=', field)}. It has {', '.join(map(repr, ('task', 'id', *known)))}"
            )
    selected = [_selected(samples, where, known) for samples in every]
    return [
        replace(samples, fields={field: samples.fields[field] for field in fields})
        for samples in selected
        if samples.items
    ]


def _samples(log: Mapping[str, Any], columns: Sequence[list[Any]], part: Part) -> Samples:
    def column(index: int) -> list[Any]:
        if index >= len(columns) or len(columns[index]) != n_items:
            raise DataError("a column is missing, or has another number of items")
        return columns[index]

    def named(aspect: str) -> dict[str, list[Any]]:
        return {name: column(index) for name, index in log[aspect].items()}

    if log["ids"] >= len(columns):
        raise DataError("a column is missing, or has another number of items")
    n_items = len(columns[log["ids"]])
    return Samples(
        model=log["model"],
        name=log["name"],
        turn=part.turn + log["turn"],
        origin=log["origin"],
        items=[*map(Item, column(log["tasks"]), column(log["ids"]))],
        epochs=column(log["epochs"]),
        scores=named("scores"),
        questions=named("questions"),
        gold=named("gold"),
        prompts=named("prompts"),
        fields=named("fields"),
        when=log["when"],
    )


def _selected(samples: Samples, where: Where, known: Sequence[str]) -> Samples:
    """Return the samples that satisfy the conditions."""
    for name, value in (where or {}).items():
        if name != "task" and name not in known:
            raise UsageError(unknown_name("field of the counted logs", name, ["task", *known]))
        allowed = {str(value) for value in (value if isinstance(value, SEVERAL) else [value])}
        values = [item.task for item in samples.items] if name == "task" else samples.fields[name]
        samples = samples.rows([row for row, value in enumerate(values) if str(value) in allowed])
    return samples
