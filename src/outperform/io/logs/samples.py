"""Samples of one model in one log; log files, and the interpretation of their values."""

from __future__ import annotations

import glob
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from outperform._files import INT64, parse, shown
from outperform.data.labels import RIGHT_WORDS
from outperform.errors import DataError, UsageError, param
from outperform.io.engine import EngineFault

LONG = "long"
"""Format of a table with one row per item and model; the caller names the columns."""


class Item(NamedTuple):
    """Item, identified by its task and its id within the task."""

    task: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Samples of one model in one log or table, as columns of equal length.

    Parameters
    ----------
    model
        Name of the model.
    name
        Name of the log in messages.
    turn
        Number of the run, if the caller passes several runs of a model.
    origin
        Format of the log; items of different formats cannot be compared.
    items
        Item of each sample.
    epochs
        Number of the answer to the item.
    questions
        Question of each item, by name of the form (hash or text) in which logs can be compared;
        None if the log has no question.
    gold
        Expected answer to each item, in the same way.
    prompts
        Text sent to the model, in the same way; it may depend on the model.
    scores
        Values of each score, by name.
    fields
        Values of each requested field, by name.
    when
        Time of writing, as sortable text, if known.
    """

    model: str
    name: str
    turn: int
    origin: str
    items: list[Item]
    epochs: list[int]
    scores: dict[str, list[Any]]
    questions: dict[str, list[str | None]] = field(default_factory=dict)
    gold: dict[str, list[str | None]] = field(default_factory=dict)
    prompts: dict[str, list[str | None]] = field(default_factory=dict)
    fields: dict[str, list[Any]] = field(default_factory=dict)
    when: str | None = None

    def by_task(self) -> dict[str, Samples]:
        """Return the samples of each task."""
        tasks = dict.fromkeys(item.task for item in self.items)
        if len(tasks) == 1:
            return dict.fromkeys(tasks, self)

        rows_of: dict[str, list[int]] = {task: [] for task in tasks}
        for row, item in enumerate(self.items):
            rows_of[item.task].append(row)
        return {task: self.rows(rows) for task, rows in rows_of.items()}

    def rows(self, rows: Sequence[int]) -> Samples:
        """Return the samples in some rows."""

        def only(values: list[Any]) -> list[Any]:
            return [values[row] for row in rows]

        def each(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
            return {name: only(values) for name, values in columns.items()}

        return replace(
            self,
            items=only(self.items),
            epochs=only(self.epochs),
            scores=each(self.scores),
            questions=each(self.questions),
            gold=each(self.gold),
            prompts=each(self.prompts),
            fields=each(self.fields),
        )


class FailedLog(NamedTuple):
    """Log that cannot be used, with its model (if known) and the reason."""

    name: str
    model: str | None
    reason: str  # a clause that begins with the name of the log


_RIGHT = {"C": True, "I": False, "N": False}  # correct, incorrect, no answer
_PARTLY_RIGHT = {"P": 0.5}


def as_grade(value: Any) -> float | None:
    """Return a score as a number, or None if it is missing.

    Non-numeric values raise ValueError.

    Examples
    --------
    >>> as_grade(7), as_grade("P"), as_grade("C"), as_grade(None)
    (7.0, 0.5, 1.0, None)
    """
    if isinstance(value, str):
        text = value.strip()
        known: dict[str, float] = {**_RIGHT, **_PARTLY_RIGHT, **RIGHT_WORDS}
        grade = known.get(text, known.get(text.lower()))
        value = text or None if grade is None else grade
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{shown(value)} is not a number") from None
    if math.isinf(number):
        raise ValueError(f"{shown(value)} is not finite")
    return None if math.isnan(number) else number


def is_right(value: object) -> bool | None:
    """Return whether a score means right, or None if it is missing.

    Any value other than right or wrong raises ValueError.

    Examples
    --------
    >>> is_right(1.0), is_right("I"), is_right("True"), is_right(None)
    (True, False, True, None)
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        if text in _RIGHT:
            return _RIGHT[text]
        if text.lower() in RIGHT_WORDS:
            return RIGHT_WORDS[text.lower()]
        try:
            return is_right(float(text))
        except ValueError:
            raise ValueError(f"{text!r} is neither right nor wrong") from None
    if isinstance(value, (bool, int, float)) and value in (0, 1):
        return bool(value)
    raise ValueError(f"{shown(value)} is neither right nor wrong")


def each_once(
    parse_one: Callable[[Any], float | None], values: Sequence[Any]
) -> list[float | None]:
    """Return the parsed values; equal values are parsed once.

    Examples
    --------
    >>> each_once(as_grade, ["C", "I", "C", 0.5])
    [1.0, 0.0, 1.0, 0.5]
    """
    try:
        known = {value: parse_one(value) for value in set(values)}
    except TypeError:  # lists and objects
        return [*map(parse_one, values)]
    return [known[value] for value in values]


def loaded(values: list[Any]) -> list[Any]:
    """Return the values of JSON strings; None stays None."""
    try:
        known = {
            value: None if value is None else parse(value, constants=True) for value in set(values)
        }
    except DataError as error:  # the reader adds the line
        raise EngineFault(f"a value cannot be read: {error}") from error
    return [known[value] for value in values]


def as_epoch(value: Any, *, name: str) -> int:
    """Return the number of an answer; raise ``DataError`` if it is not an integer."""
    try:
        number = int(value)
        is_valid = not isinstance(value, (bool, np.bool_)) and 0 <= number <= INT64
        if not is_valid or (not isinstance(value, str) and number != value):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise DataError(
            f"{name}: every 'epoch' must be a whole number; got {shown(value)}"
        ) from None
    return number


def is_finite(value: Any) -> bool:
    """Return whether a number is finite as a float."""
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer with too many digits
        return False


def is_near(reported: object, computed: float, *, within: float) -> bool:
    """Return whether a reported value is a number close to the computed one."""
    if not isinstance(reported, (int, float)) or not is_finite(reported):
        return False
    return abs(reported - computed) <= within * max(1, abs(computed))


def contradiction(
    at: str,
    what: str,
    reported: object,
    computed: str,
    *,
    summary: str = "it",
    parts: str = "answers",
) -> str:
    """Return the message for a log whose summary differs from its parts."""
    return (
        f"{at} is damaged: {summary} reports {shown(reported)} {what}, but its {parts} give "
        f"{computed}. Was it cut off or edited?"
    )


def as_id(value: object, *, column: str, name: str) -> str:
    """Return an id as text; raise ``DataError`` if it is neither a string nor an integer."""
    if value is None or value == "" or isinstance(value, (float, list, dict)):
        raise DataError(
            f"{name}: every sample needs an id in {column!r}, as text or an integer; got {value!r}"
        )
    return str(value)


def as_text(value: object) -> str | None:
    """Return a question or an expected answer as text that is the same in every log, or None.

    Examples
    --------
    >>> as_text({"b": 1, "a": [2]}), as_text("four"), as_text(4), as_text(None)
    ('{"a": [2], "b": 1}', 'four', '4', None)
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def as_texts(values: Sequence[object]) -> list[str | None]:
    """Return values as :func:`as_text` does."""
    return [value if type(value) is str else as_text(value) for value in values]


def field_of(record: object, name: str) -> object:
    """Return a field of a record, with dots for nested fields; None if it is missing.

    Examples
    --------
    >>> field_of({"source": {"book": "primer"}}, "source.book")
    'primer'
    """
    if not isinstance(record, Mapping):
        return None
    if name in record:
        return record[name]
    first, dot, remainder = name.partition(".")
    return field_of(record.get(first), remainder) if dot else None


class Part(NamedTuple):
    """Source, with the model name if the caller passed one, and the number of the run."""

    model: str | None
    turn: int
    source: Any


def parts_of(source: object) -> list[Part]:
    """Return the parts of a source: one per model, or several runs of one model.

    Examples
    --------
    >>> [part.turn for part in parts_of({"llama": ["monday", "tuesday"], "gpt": "friday"})]
    [0, 1, 0]
    """
    if not isinstance(source, Mapping):
        if isinstance(source, (list, tuple)) and not source:
            raise UsageError("the list of logs is empty; pass at least one log")
        logs = source if isinstance(source, (list, tuple)) else [source]
        return [Part(None, 0, log) for log in logs]
    parts: list[Part] = []
    for name, logs in source.items():
        if not isinstance(name, str):
            raise UsageError(f"model names must be text; got {name!r}")
        runs = list(logs) if isinstance(logs, (list, tuple)) else [logs]
        if not runs:
            raise UsageError(f"model {name!r} needs at least one log")
        parts += [Part(name, turn, run) for turn, run in enumerate(runs)]
    return parts


def is_path(source: object) -> bool:
    """Return whether a source is a path (not a frame or open file)."""
    return isinstance(source, (str, os.PathLike)) and source != "-"


def files_under(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder at any depth; links are followed, but not into cycles."""
    folders = [(folder, frozenset({os.path.realpath(folder)}))]
    while folders:
        path, above = folders.pop()
        with os.scandir(path) as entries:
            for entry in entries:
                if not entry.is_dir():
                    yield Path(entry.path)
                elif (real := os.path.realpath(entry.path)) not in above:
                    folders.append((Path(entry.path), above | {real}))


def logs_under(source: Any, is_log: Callable[[Path], bool], *, what: str) -> list[Path]:
    """Return the logs of a path, a pattern or a folder, sorted."""
    name = os.fspath(source)
    if glob.has_magic(name) and not os.path.lexists(name):
        paths = [Path(match) for match in sorted(glob.glob(name, recursive=True))]
        if not paths:
            raise UsageError(f"no file matches {name!r}")
    else:
        paths = [Path(name)]
    logs = []
    for path in paths:
        if not path.is_dir():
            logs.append(path)
            continue
        try:
            inside = sorted(file for file in files_under(path) if is_log(file) and file.is_file())
        except OSError as error:
            raise DataError(f"{error.filename} cannot be read: {error.strerror}") from None
        if not inside:
            raise UsageError(f"the folder {os.fspath(path)} contains no {what}")
        logs += inside
    return logs


def spread(scores: Mapping[str, list[object]]) -> dict[str, list[Any]]:
    """Return scores with each key of a dictionary as a separate score, ``scorer.key``.

    Examples
    --------
    >>> spread({"judge": [{"tone": 3, "right": 1}, None], "match": ["C", "I"]})
    {'judge.tone': [3, None], 'judge.right': [1, None], 'match': ['C', 'I']}
    """
    columns: dict[str, list[Any]] = {}
    for name, values in scores.items():
        keys = dict.fromkeys(key for value in values if isinstance(value, dict) for key in value)
        if not keys or any(
            isinstance(value, (str, int, float)) and value == value and value != ""
            for value in values
        ):
            columns[name] = values
        for key in keys:
            columns[f"{name}.{key}"] = [
                value.get(key) if isinstance(value, dict) else None for value in values
            ]
    return columns


def under_one_name(part: Part, samples: Sequence[Samples]) -> list[Samples]:
    """Give the samples of a part the caller's model name; they must be from one model."""
    if part.model is None:
        return list(samples)
    models = dict.fromkeys(log.model for log in samples)
    if len(models) > 1:
        raise UsageError(
            f"the logs passed as {part.model!r} contain the models {', '.join(map(repr, models))}; "
            f"omit the name and select models with {param('models=')}"
        )
    return [replace(log, model=part.model) for log in samples]
