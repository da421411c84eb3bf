"""inspect_ai: its logs, and the tables made from them."""

from __future__ import annotations

import json
import os
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from outperform.errors import DataError, UsageError
from outperform.io.formats import Dialect, unpack_zstd
from outperform.io.frames import fetch_columns, known_frame
from outperform.io.log_samples import (
    FailedLog,
    Item,
    Part,
    Samples,
    as_epoch,
    as_id,
    field_of,
    is_path,
    loaded,
    spread,
)
from outperform.io.tables import SEVERAL, Where, opened

ENDINGS = (".eval", ".json")
_LISTS = ("logs.json", "eval-set.json")  # which lie beside the logs and list them
# As inspect_ai names them by default: the time, the task, perhaps the model, an id.
_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[^_]*_[^_]+_")
_UNSAFE = re.compile("[_/:+]")  # which it replaces by - in names of files
_START = "_journal/start.json"
_OF_NO_QUESTION = {"id", "internal", "source", "metadata"}
_LONGEST = 100  # characters of an error to show
_ZSTD = 93  # which Python knows in archives from 3.14 on


def is_log(path: Path) -> bool:
    """Return whether a file in a folder is a log by its name."""
    return path.suffix.lower() in ENDINGS and path.name not in _LISTS


def read_log(
    part: Part, path: Path, *, where: Where, fields: Sequence[str] = ()
) -> Samples | FailedLog | None:
    """Return the samples of one log under its own name, or None if its task was not asked for.

    A log that is damaged, or of an evaluation that did not succeed, comes back as a failed one.
    """
    name = os.fspath(path)
    asked = _asked_tasks(where)
    is_archive = path.suffix.lower() == ".eval"
    try:
        header, samples = (_of_archive if is_archive else _of_json)(path)
        told = header.get("eval") if isinstance(header, dict) else None
        if not isinstance(told, dict):
            raise DataError(f"{name} is not a log of inspect_ai: it has no 'eval'")
    except DataError as error:
        other = asked is not None and not _may_be_of(path, asked)
        return None if other else FailedLog(name, part.model, str(error))
    task = str(told.get("task", "")).rpartition("/")[2]
    if asked is not None and task not in asked:
        return None
    failed = _failure(name, header, samples)
    if failed is not None:
        return FailedLog(name, part.model or str(told.get("model", "")), failed)
    found = _samples(part, name, "eval" if is_archive else "json", told, task, samples)
    metadata = [one.get("metadata") for one in samples]
    return replace(
        found,
        fields={name: [field_of(one, name) for one in metadata] for name in fields},
        when=_when(told.get("created")),
    )


def _when(created: object) -> str | None:
    """Return a time as text that sorts, whatever its zone."""
    try:
        found = datetime.fromisoformat(str(created)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return found.isoformat(timespec="microseconds")


def _failure(name: str, header: Mapping[str, object], samples: object) -> str | None:
    """Return why a log cannot be used, or None if it can."""
    status = header.get("status", "success")
    if status != "success":
        error = header.get("error")
        told = str(error.get("message", "")) if isinstance(error, dict) else ""
        return f"{name} has status {status!r}" + (f" ({_first_line(told)})" if told else "")
    if not isinstance(samples, list):
        return f"{name} is not a log of inspect_ai: it has no 'samples'"
    if not samples:
        return f"{name} has no samples"
    if not all(isinstance(one, dict) for one in samples):
        return f"{name} is damaged: every sample must be an object"
    if not all(isinstance(one.get("scores") or {}, dict) for one in samples):
        return f"{name} is damaged: 'scores' of every sample must be an object"
    return None


def _first_line(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _samples(
    part: Part, name: str, origin: str, told: Mapping[str, Any], task: str, samples: list[Any]
) -> Samples:
    scores = [one.get("scores") or {} for one in samples]
    names = dict.fromkeys(scorer for one in scores for scorer in one)
    return Samples(
        model=str(told.get("model", "")),
        name=name,
        turn=part.turn,
        origin=f"inspect {origin}",
        items=[Item(task, as_id(one.get("id"), column="id", name=name)) for one in samples],
        epochs=[as_epoch(one.get("epoch", 1), name=name) for one in samples],
        versions=[_asked_text(one.get("input")) for one in samples],
        scores=spread({scorer: [_value(one, scorer) for one in scores] for scorer in names}),
    )


def _asked_text(given: object) -> str:
    """Return what a sample asks, so that the same question gives the same text in every log.

    Messages have random ids; the role and the content are all that a model is asked.
    """
    if isinstance(given, list):
        given = [
            [one.get("role"), _content(one.get("content"))] if isinstance(one, dict) else one
            for one in given
        ]
    return json.dumps(given)


def _content(content: object) -> Any:
    """Return the parts of a message; one part of text is the same as the text itself."""
    if not isinstance(content, list):
        return content
    parts = [_part(one) if isinstance(one, dict) else one for one in content]
    return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts


def _part(part: Mapping[str, object]) -> Any:
    if part.get("type") == "text":
        return part.get("text")
    return {key: value for key, value in part.items() if key not in _OF_NO_QUESTION}


def _value(scores: Mapping[str, object], scorer: str) -> Any:
    found = scores.get(scorer)
    return found.get("value") if isinstance(found, dict) else found


def _asked_tasks(where: Where) -> set[str] | None:
    """Return the tasks that were asked for; None for all."""
    if not where:
        return None
    for column in where:
        if column != "task_name":
            raise UsageError(
                f"where can ask logs for 'task_name' only; got {column!r}. Make a table with "
                "inspect_ai.analysis.samples_df for other columns"
            )
    value = where["task_name"]
    return {str(one) for one in (value if isinstance(value, SEVERAL) else [value])}


def _may_be_of(path: Path, tasks: set[str]) -> bool:
    """Return whether a log that cannot be read may be of one of some tasks, by its name."""
    if _NAME.match(path.name) is None:
        return True
    return any(_UNSAFE.sub("-", task) in path.stem.split("_") for task in tasks)


# Bytes


def _of_json(path: Path) -> tuple[Any, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UsageError(f"no file {os.fspath(path)!r}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"{os.fspath(path)} is not a whole JSON file; was the evaluation cut off? {error}"
        ) from None
    return found, found.get("samples") if isinstance(found, dict) else None


def _of_archive(path: Path) -> tuple[Any, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if "header.json" not in names and _START in names:  # the header is written last
                return {**json.loads(_member(path, archive, _START)), "status": "started"}, None
            if "header.json" not in names or "summaries.json" not in names:
                raise DataError(
                    f"{os.fspath(path)} has no header and summaries; the evaluation is not finished"
                )
            header, summaries = (
                json.loads(_member(path, archive, one)) for one in ("header.json", "summaries.json")
            )
            return header, summaries
    except FileNotFoundError:
        raise UsageError(f"no file {os.fspath(path)!r}") from None
    except (OSError, EOFError, ValueError, RecursionError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{os.fspath(path)} is a damaged .eval file: {error}") from error


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """Return one file of an archive; zstd is unpacked here, because older Pythons do not."""
    told = archive.getinfo(name)
    if told.compress_type != _ZSTD:
        return archive.read(name)
    with open(path, "rb") as stream:
        stream.seek(told.header_offset)
        head = stream.read(30)
        length = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        stream.seek(length, os.SEEK_CUR)
        found = unpack_zstd(stream.read(told.compress_size))
    if zlib.crc32(found) != told.CRC:
        raise zipfile.BadZipFile(f"bad checksum of {name}")
    return found


_PREFIX, _METADATA = "score_", "metadata_"
_BESIDE = ("_answer", "_explanation", "_metadata", "_reason")
_HINT = (
    "make the table with inspect_ai.analysis.samples_df(logs, columns=EvalTask + EvalModel + "
    "SampleSummary)"
)


def read_table(
    part: Part, *, score: str | None, where: Where, fields: Sequence[str] = ()
) -> list[Samples]:
    """Return the samples of each model in a table."""
    frame = None if is_path(part.source) else known_frame(part.source)
    if frame is not None:
        wanted = _wanted(frame.names, score, frame.name, fields)
        columns = fetch_columns(frame, wanted, where=where)
        return _by_model(part, frame.name, dict(zip(wanted, columns, strict=True)), fields)
    with opened({"": part.source}, ("id",), Dialect()) as tables:
        return tables.ask(
            lambda found, engine: _of_file(part, found[""], engine, score, where, fields)
        )


def _of_file(
    part: Part,
    table: Any,
    engine: Any,
    score: str | None,
    where: Where,
    fields: Sequence[str],
) -> list[Samples]:
    wanted = _wanted(table.names, score, table.name, fields)
    query = table.select(wanted, where=where)
    rows = engine.fetch(query.sql, query.parameters)
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in wanted]
    return _by_model(
        part,
        table.name,
        {
            name: loaded(values) if table.family(name) == "json" else values
            for name, values in zip(wanted, columns, strict=True)
        },
        fields,
    )


def _wanted(
    names: Sequence[str], score: str | None, table: str, fields: Sequence[str]
) -> list[str]:
    """Return the columns to read."""
    if "id" not in names:
        raise DataError(f"{table} has no column 'id' of the samples; {_HINT}")
    known = [name for name in names if name.startswith(_PREFIX) and "_headline_" not in name]
    known = [
        one
        for one in known
        if not any(one.endswith(end) and one.removesuffix(end) in known for end in _BESIDE)
    ]
    if score is not None:
        # A key of a dictionary may be in any column, and is found when they are read.
        own = [name for name in known if f"{score}.".startswith(f"{name.removeprefix(_PREFIX)}.")]
        known = own or known
    if not known:
        raise DataError(f"{table} has no column of scores, score_<scorer>; {_HINT}")
    beside = [name for name in ("epoch", "model", "task_name", "input") if name in names]
    held = [f"{_METADATA}{name}" for name in fields if f"{_METADATA}{name}" in names]
    return ["id", *beside, *held, *known]


def _by_model(
    part: Part, name: str, columns: dict[str, list[object]], fields: Sequence[str]
) -> list[Samples]:
    n_rows = len(columns["id"])
    if not n_rows:
        raise DataError(f"{name} has no rows that were asked for")
    models = [part.model] * n_rows
    if "model" in columns:
        models = [None if one is None else str(one) for one in columns["model"]]
    known = list(dict.fromkeys(models))
    if None in known or "" in known:
        raise DataError(
            f"{name} does not say of which model the samples are; name it, {{'model': table}}, or "
            f"{_HINT}"
        )
    return [
        _table_samples(
            part,
            name,
            str(model),
            columns,
            [k for k in range(n_rows) if models[k] == model],
            fields,
        )
        for model in known
    ]


def _table_samples(
    part: Part,
    name: str,
    model: str,
    columns: dict[str, list[object]],
    rows: list[int],
    fields: Sequence[str],
) -> Samples:
    def column(which: str, default: object) -> list[Any]:
        values = columns.get(which)
        return [default if values is None or values[k] is None else values[k] for k in rows]

    tasks = column("task_name", "")
    return Samples(
        model=model,
        name=name,
        turn=part.turn,
        origin="inspect table",
        items=[
            Item(str(task), as_id(columns["id"][k], column="id", name=name))
            for k, task in zip(rows, tasks, strict=True)
        ],
        epochs=[as_epoch(one, name=name) for one in column("epoch", 1)],
        versions=column("input", None),
        scores=spread(
            {
                one.removeprefix(_PREFIX): [_table_value(values[k]) for k in rows]
                for one, values in columns.items()
                if one.startswith(_PREFIX)
            }
        ),
        fields={name: column(f"{_METADATA}{name}", None) for name in fields},
    )


def _table_value(value: object) -> Any:
    """Return a score; a dictionary stands in a table as the text of its JSON."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        with suppress(ValueError):
            return json.loads(value)
    return value
