"""inspect_ai: logs, and tables created from logs."""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from outperform._files import parse
from outperform.errors import DataError, UsageError
from outperform.io.compression import endless, limited, most_unpacked, unpack_zstd
from outperform.io.frames import Frame
from outperform.io.logs.format import LogFormat, read_columns
from outperform.io.logs.samples import (
    FailedLog,
    Item,
    Part,
    Samples,
    as_epoch,
    as_grade,
    as_id,
    as_text,
    contradiction,
    field_of,
    is_near,
    is_path,
    spread,
    under_one_name,
)
from outperform.io.tables import SEVERAL, Table, Where

_ENDINGS = (".eval", ".json")
_LISTS = ("logs.json", "eval-set.json")  # lists of logs in the same folder
# Default name of a log: the time, the task, sometimes the model, and an id.
_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[^_]*_[^_]+_")
_UNSAFE = re.compile("[_/:+]")  # replaced by - in file names
_START = "_journal/start.json"
_READ = ("header.json", "summaries.json")
_NOT_QUESTION = {"id", "internal", "source", "metadata"}
_MAX_ERROR = 100  # number of characters of an error to show
_ZSTD = 93  # compression type; zipfile supports it from Python 3.14 on


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inspect(LogFormat):
    def is_log(self, path: Path) -> bool:
        return path.suffix.lower() in _ENDINGS and path.name not in _LISTS

    def load(
        self, parts: Sequence[Part], *, score: str | None, where: Where, fields: Sequence[str]
    ) -> tuple[list[Samples], list[FailedLog]]:
        """Read logs, and tables created from logs."""
        samples: list[Samples] = []
        failed: list[FailedLog] = []
        for part in parts:
            part_samples: list[Samples] = []
            for source in self.logs_in(part.source) if is_path(part.source) else [part.source]:
                if not isinstance(source, Path) or source.suffix.lower() not in _ENDINGS:
                    table = part._replace(source=source)
                    part_samples += _read_table(table, score=score, where=where, fields=fields)
                    continue
                log = _read_log(part, source, where=where, fields=fields)
                if isinstance(log, FailedLog):
                    failed.append(log)
                elif log is not None:
                    part_samples.append(log)
            samples += under_one_name(part, part_samples)
        return samples, failed


FORMAT = _Inspect(
    name="inspect",
    what="log, *.eval or *.json",
    unmistakable=("*.eval", f"????-??-??T??-??-??[-+]*_*_{'?' * 22}.json"),
    prefixes=("score_",),
)


def _read_log(
    part: Part, path: Path, *, where: Where, fields: Sequence[str] = ()
) -> Samples | FailedLog | None:
    """Return the samples of one log, or None if its task is not requested.

    A log that is damaged, or whose evaluation failed, is returned as failed.
    """
    name = os.fspath(path)
    requested = _requested_tasks(where)
    is_archive = path.suffix.lower() == ".eval"
    try:
        header, samples = (_of_archive if is_archive else _of_json)(path)
        evaluation = header.get("eval") if isinstance(header, dict) else None
        if not isinstance(evaluation, dict):
            raise DataError(f"{name} is not a log of inspect_ai: it has no 'eval'")
    except DataError as error:
        is_other = requested is not None and not _may_be_of(path, requested)
        return None if is_other else FailedLog(name, part.model, str(error))
    task = str(evaluation.get("task", "")).rpartition("/")[2]
    if requested is not None and task not in requested:
        return None
    failed = _failure(name, header, samples)
    if failed is not None:
        return FailedLog(name, part.model or str(evaluation.get("model", "")), failed)
    read = _samples(part, name, evaluation, task, samples, summaries=is_archive)
    damage = _contradiction(name, header, samples, read)
    if damage is not None:
        return FailedLog(name, part.model or read.model, damage)
    metadata = [sample.get("metadata") for sample in samples]
    return replace(
        read,
        fields={name: [field_of(sample, name) for sample in metadata] for name in fields},
        when=_when(evaluation.get("created")),
    )


def _when(created: object) -> str | None:
    """Return a time in UTC as sortable text."""
    try:
        time = datetime.fromisoformat(str(created)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time.isoformat(timespec="microseconds")


def _failure(name: str, header: Mapping[str, object], samples: object) -> str | None:
    """Return why a log cannot be used, or None if it can."""
    status = header.get("status")
    if status not in ("success", None):
        error = header.get("error")
        message = str(error.get("message", "")) if isinstance(error, dict) else ""
        return f"{name} has status {status!r}" + (f" ({_first_line(message)})" if message else "")
    if header.get("invalidated"):
        return f"{name} has samples that were invalidated"
    if not isinstance(samples, list):
        return f"{name} is not a log of inspect_ai: it has no 'samples'"
    if not samples:
        return f"{name} has no samples"
    if not all(isinstance(sample, dict) for sample in samples):
        return f"{name} is damaged: every sample must be an object"
    if not all(isinstance(sample.get("scores") or {}, dict) for sample in samples):
        return f"{name} is damaged: 'scores' of every sample must be an object"
    if status is None:
        return f"{name} is damaged: it has no status"
    invalid = next((sample for sample in samples if sample.get("invalidation")), None)
    if invalid is not None:
        return f"{name} has samples that were invalidated, e.g. {invalid.get('id')!r}"
    return None


def _contradiction(
    name: str, header: Mapping[str, object], samples: Sequence[Mapping[str, Any]], read: Samples
) -> str | None:
    """Return how a log's summary contradicts its samples, or None."""
    results = header.get("results")
    if not isinstance(results, dict):
        return None

    differs = partial(contradiction, name, parts="samples")
    total, completed = results.get("total_samples"), results.get("completed_samples")
    if not results.get("early_stopping"):  # early stopping omits samples on purpose
        if total is not None and total != len(samples):
            return differs("samples in total", total, str(len(samples)))
        # A sample with an error can still have scores, so two counts are possible.
        counts = {
            sum(not entry.get("error") for entry in samples),
            sum(bool(entry.get("scores")) for entry in samples),
        }
        if completed is not None and all(completed != count for count in counts):
            return differs("completed samples", completed, str(max(counts)))
    scores = results.get("scores")
    for entry in scores if isinstance(scores, list) else ():
        for metric in _MEANS:
            reported = field_of(entry, f"metrics.{metric}.value")
            mean = None if reported is None else _mean_of(read, entry, metric)
            if mean is not None and not is_near(reported, mean, within=1e-6):
                return differs(f"as the {metric} of {entry.get('name')!r}", reported, f"{mean:g}")
    return None


_MEANS = ("accuracy", "mean")


def _mean_of(read: Samples, score: Mapping[str, Any], metric: str) -> float | None:
    """Return the mean of a score over samples, each of which is the mean of its epochs.

    Returns None if the log may contain a different mean: with another reducer, or if scorers may
    convert values to numbers differently.
    """
    name, scorer = score.get("name"), score.get("scorer")
    values = read.scores.get(f"{scorer}.{name}", read.scores.get(str(name)))
    if values is None or score.get("reducer") not in (None, "mean"):
        return None
    plain = [value for value in values if value is None or isinstance(value, (str, int, float))]
    if metric == "accuracy" and not all(value in _PLAIN for value in plain):
        return None
    by_item: dict[Item, list[float]] = {}
    for item, value in zip(read.items, values, strict=True):
        try:
            grade = as_grade(value)
        except ValueError:
            return None
        if grade is not None:
            by_item.setdefault(item, []).append(grade)
    means = [sum(grades) / len(grades) for grades in by_item.values()]
    return sum(means) / len(means) if means else None


_PLAIN = ("C", "I", "N", 0, 1, None)  # values that every accuracy metric interprets in the same way


def _first_line(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _MAX_ERROR else f"{line[:_MAX_ERROR]}…"


def _samples(
    part: Part,
    name: str,
    evaluation: Mapping[str, Any],
    task: str,
    samples: list[Any],
    *,
    summaries: bool,
) -> Samples:
    inputs = [sample.get("input") for sample in samples]
    targets = [_target(sample.get("target")) for sample in samples]
    questions = {"input": [_short(_without_ids(question, images=False)) for question in inputs]}
    gold = {"target": [_short(target) for target in targets]}
    if not summaries:
        # Messages have random ids, so only roles and contents must agree.
        questions["whole input"] = [as_text(_without_ids(question)) for question in inputs]
        gold["whole target"] = [as_text(target) for target in targets]
    questions[_IN_TABLES] = [_short(text) if isinstance(text, str) else None for text in inputs]
    scores = [sample.get("scores") or {} for sample in samples]

    def value(sample_scores: Mapping[str, object], scorer: str) -> Any:
        score = sample_scores.get(scorer)
        return score.get("value") if isinstance(score, dict) else score

    return Samples(
        model=str(evaluation.get("model", "")),
        name=name,
        turn=part.turn,
        origin="inspect",
        items=[Item(task, as_id(sample.get("id"), column="id", name=name)) for sample in samples],
        epochs=[as_epoch(sample.get("epoch", 1), name=name) for sample in samples],
        scores=spread(
            {
                scorer: [value(sample_scores, scorer) for sample_scores in scores]
                for scorer in dict.fromkeys(
                    scorer for sample_scores in scores for scorer in sample_scores
                )
            }
        ),
        questions=questions,
        gold=gold,
    )


_IN_TABLES = "input as text"


def _target(value: object) -> object:
    """Return the expected answer, with a list of strings joined by commas, as in tables."""
    if isinstance(value, list) and all(isinstance(answer, str) for answer in value):
        return ",".join(value)
    return value


_MAX_SUMMARY = 5120  # maximum number of characters of a text in the summaries of an .eval log
_CUT_OFF = "...\n(content truncated)"


def _short(value: Any) -> str | None:
    """Return a question or an expected answer, shortened as in the summaries of an .eval log."""
    return as_text(_shortened(value))


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return value.removesuffix(_CUT_OFF)[:_MAX_SUMMARY]
    if isinstance(value, list):
        return [_shortened(part) for part in value]
    return value


def _without_ids(question: object, *, images: bool = True) -> object:
    """Return a question that has only the roles and contents of its messages."""
    if isinstance(question, list):
        return [
            [message.get("role"), _content(message.get("content"), images)]
            if isinstance(message, dict)
            else message
            for message in question
        ]
    return question


def _content(content: object, images: bool) -> Any:
    """Return the parts of a message, or its text if that is the only part."""
    if not isinstance(content, list):
        return content
    parts = [_part(part, images) if isinstance(part, dict) else part for part in content]
    return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts


def _part(part: Mapping[str, object], images: bool) -> Any:
    if part.get("type") == "text":
        return part.get("text")
    if not images:  # as in summaries
        return f"({str(part.get('type')).capitalize()})"
    return {key: value for key, value in part.items() if key not in _NOT_QUESTION}


def _requested_tasks(where: Where) -> set[str] | None:
    """Return the requested tasks, or None for all."""
    if not where:
        return None
    for column in where:
        if column != "task_name":
            raise UsageError(
                f"where can select only 'task_name' in logs; got {column!r}. For other columns, "
                "make a table with inspect_ai.analysis.samples_df"
            )
    value = where["task_name"]
    return {str(task) for task in (value if isinstance(value, SEVERAL) else [value])}


def _may_be_of(path: Path, tasks: set[str]) -> bool:
    """Return whether, judging by its name, an unreadable log may belong to one of the tasks."""
    if _NAME.match(path.name) is None:
        return True
    return any(_UNSAFE.sub("-", task) in path.stem.split("_") for task in tasks)


# Bytes


def _of_json(path: Path) -> tuple[Any, Any]:
    try:
        content = parse(path.read_bytes().removeprefix(BOM_UTF8), constants=True)
    except FileNotFoundError:
        raise UsageError(f"no file {os.fspath(path)!r}") from None
    except (OSError, DataError) as error:
        raise DataError(
            f"{os.fspath(path)} is not a whole JSON file; was the evaluation cut off? {error}"
        ) from None
    return content, content.get("samples") if isinstance(content, dict) else None


def _of_archive(path: Path) -> tuple[Any, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if "header.json" not in names and _START in names:  # The header is written last.
                return {**_parsed(path, archive, _START), "status": "started"}, None
            if "header.json" not in names or "summaries.json" not in names:
                raise DataError(
                    f"{os.fspath(path)} has no header or summaries; the evaluation is not finished"
                )
            _check_members(path, archive)
            header, summaries = (_parsed(path, archive, part) for part in _READ)
            return header, summaries
    except FileNotFoundError:
        raise UsageError(f"no file {os.fspath(path)!r}") from None
    except (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{os.fspath(path)} is a damaged .eval file: {error}") from error


def _check_members(path: Path, archive: zipfile.ZipFile) -> None:
    """Raise an error if an archive contains two versions of a required file."""
    known: dict[str, int] = {}
    for member in archive.infolist():
        if member.filename in _READ and known.setdefault(member.filename, member.CRC) != member.CRC:
            raise DataError(
                f"{os.fspath(path)} is a damaged .eval file: it contains two {member.filename}"
            )


def _parsed(path: Path, archive: zipfile.ZipFile, name: str) -> Any:
    data = _member(path, archive, name)
    try:
        return parse(data, constants=True)
    except DataError as error:
        raise DataError(f"{os.fspath(path)} is a damaged .eval file: {name}: {error}") from error


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a file from an archive; zstd is unpacked here, as zipfile may not support it."""
    member = archive.getinfo(name)
    title = f"{name} in {os.fspath(path)}"
    size = min(member.compress_size, path.stat().st_size)
    most = most_unpacked(size, at_once=True)
    if member.file_size > most:
        raise endless(title, most, mend="convert it first, with inspect log convert --to json")
    if member.compress_type != _ZSTD:
        with archive.open(name) as stream:
            return limited(cast(BinaryIO, stream), most, name=title).read()
    with open(path, "rb") as stream:
        stream.seek(member.header_offset)
        head = stream.read(30)
        length = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        stream.seek(length, os.SEEK_CUR)
        unpacked = unpack_zstd(stream.read(size), most, name=title)
    if zlib.crc32(unpacked) != member.CRC:
        raise zipfile.BadZipFile(f"bad checksum of {name}")
    return unpacked


_PREFIX, _METADATA = "score_", "metadata_"
_NOT_SCORES = ("_answer", "_explanation", "_metadata", "_reason")
_HINT = (
    "make the table with inspect_ai.analysis.samples_df(logs, columns=EvalTask + EvalModel + "
    "SampleSummary)"
)


def _read_table(
    part: Part, *, score: str | None, where: Where, fields: Sequence[str] = ()
) -> list[Samples]:
    """Return the samples per model in a table."""
    name, columns = read_columns(
        part.source, lambda table: _columns(table, score, fields), ("id",), where=where
    )
    n_rows = len(columns["id"])
    if not n_rows:
        raise DataError(f"{name} has no rows for this request")
    models = [part.model] * n_rows
    if "model" in columns:
        models = [None if model is None else str(model) for model in columns["model"]]
    known = list(dict.fromkeys(models))
    if None in known or "" in known:
        raise DataError(
            f"{name} lacks the model name of some samples; pass the name, {{'model': table}}, "
            f"or {_HINT}"
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


def _columns(table: Table | Frame, score: str | None, fields: Sequence[str]) -> list[str]:
    """Return the columns to read."""
    names = table.names
    if "id" not in names:
        raise DataError(f"{table.name} has no column 'id' of the samples; {_HINT}")
    known = [name for name in names if name.startswith(_PREFIX) and "_headline_" not in name]
    known = [
        column
        for column in known
        if not any(
            column.endswith(end) and column.removesuffix(end) in known for end in _NOT_SCORES
        )
    ]
    if score is not None:
        # A dictionary key may be in any column, so without a match all columns are read.
        matches = [
            name for name in known if f"{score}.".startswith(f"{name.removeprefix(_PREFIX)}.")
        ]
        known = matches or known
    if not known:
        raise DataError(f"{table.name} has no column of scores, score_<scorer>; {_HINT}")
    described = ("epoch", "model", "task_name", "input", "target")
    present = [name for name in described if name in names]
    described_fields = [f"{_METADATA}{name}" for name in fields if f"{_METADATA}{name}" in names]
    return ["id", *present, *described_fields, *known]


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
        origin="inspect",
        items=[
            Item(str(task), as_id(columns["id"][k], column="id", name=name))
            for k, task in zip(rows, tasks, strict=True)
        ],
        epochs=[as_epoch(value, name=name) for value in column("epoch", 1)],
        questions={_IN_TABLES: [_short(value) for value in column("input", None)]},
        gold={"target": [_short(value) for value in column("target", None)]},
        scores=spread(
            {
                title.removeprefix(_PREFIX): [_table_value(values[k]) for k in rows]
                for title, values in columns.items()
                if title.startswith(_PREFIX)
            }
        ),
        fields={name: column(f"{_METADATA}{name}", None) for name in fields},
    )


def _table_value(value: object) -> Any:
    """Return a score; in tables, dictionaries are JSON strings."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        with suppress(DataError):
            return parse(value, constants=True)
    return value
