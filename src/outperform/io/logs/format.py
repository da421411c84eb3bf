"""Formats of evaluation logs, and functions that read and check their files."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, overload

from outperform._files import parse, shown
from outperform.errors import DataError, OutperformError, UsageError, param, unknown_name
from outperform.io.compression import PACKINGS, unpacked
from outperform.io.engine import Engine
from outperform.io.formats import Dialect
from outperform.io.frames import Frame, fetch_columns, known_frame
from outperform.io.logs.samples import (
    FailedLog,
    Item,
    Part,
    Samples,
    as_id,
    as_texts,
    contradiction,
    field_of,
    is_finite,
    is_near,
    is_path,
    loaded,
    logs_under,
    under_one_name,
)
from outperform.io.paths import stem
from outperform.io.tables import SEVERAL, Table, Where, opened

_Plain = TypeVar("_Plain", str, bool, int, float)
_WORDS = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


class Row(NamedTuple):
    """Graded answer of a model.

    Attributes
    ----------
    model
        Name of the model.
    id
        Id of the item within its task: a string or an integer.
    scores
        Values of the scores by name: a number, True or False, or None if the score is missing.
    task
        Task or benchmark of the item.
    epoch
        Number of the answer to the item, from 1, if a model answers more than once.
    question
        Question, in each form that the log contains. If the logs of several models disagree, an
        error is raised.
    gold
        Expected answer, in the same way as ``question``.
    prompt
        Text sent to the model; a finding reports models with different prompts.
    about
        Additional fields of the item, for ``by=``, ``groups=`` and ``where=``.
    """

    model: str
    id: object
    scores: Mapping[str, object]
    task: str = ""
    epoch: int = 1
    question: Mapping[str, object] = {}
    gold: Mapping[str, object] = {}
    prompt: Mapping[str, object] = {}
    about: Mapping[str, object] = {}


class Log(NamedTuple):
    """Contents of one log.

    Attributes
    ----------
    rows
        Answers of one or several models.
    when
        Time of writing, as sortable text, for ``latest=``.
    """

    rows: list[Row]
    when: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFormat:
    """Log format of a tool: how to recognize, find and read its logs.

    Parameters
    ----------
    name
        Name of the format in ``format=`` and ``--read-as``.
    read
        Function that reads one file. For a damaged or unfinished log, it raises ``DataError`` with
        a message that starts with the file name.
    files
        File name patterns of logs in a folder; names may also end in ``.gz`` or ``.zst``.
    what
        Name of a log in messages. Default: "log", with the patterns.
    unmistakable
        File name patterns that identify the format without ``format=``.
    start
        Pattern in the first 200 bytes of a file that identifies the format without ``format=``.
    right, grade
        Names of the tool's score for right and wrong and of its score for grades: the defaults of
        ``score=``.
    prefixes
        Prefixes to remove from the name in ``score=``.
    single
        Fields of ``about`` that must have a single value per log, selected with ``where=``.
    """

    name: str
    read: Callable[[Path], Log] | None = None
    files: tuple[str, ...] = ("*.json",)
    what: str = ""
    unmistakable: tuple[str, ...] = ()
    start: re.Pattern[bytes] | None = None
    right: str | None = None
    grade: str | None = None
    prefixes: tuple[str, ...] = ()
    single: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.read is None and type(self) is LogFormat:
            raise UsageError(f"the format {self.name!r} needs read=, a function that reads a file")

    def is_log(self, path: Path) -> bool:
        """Return whether a file name is that of a log."""
        return any(
            fnmatchcase(path.name, f"{pattern}{packing}")
            for pattern in self.files
            for packing in ("", *PACKINGS)
        )

    def score(self, name: str) -> str:
        """Return the name of a score in the logs."""
        for prefix in self.prefixes:
            name = name.removeprefix(prefix)
        return name

    def logs_in(self, source: object) -> list[Path]:
        """Return the logs of a path, a pattern or a folder."""
        what = self.what or f"log, {' or '.join(self.files)}"
        return logs_under(source, self.is_log, what=what)

    def load(
        self, parts: Sequence[Part], *, score: str | None, where: Where, fields: Sequence[str]
    ) -> tuple[list[Samples], list[FailedLog]]:
        """Read logs; return the samples, and the logs that are damaged or failed."""
        logs: list[tuple[Part, str, Log]] = []
        failed: list[FailedLog] = []
        for part in parts:
            if not is_path(part.source):
                raise UsageError(
                    f"logs of {self.name} are read from files or folders; got "
                    f"{type(part.source).__name__}"
                )
            for path in self.logs_in(part.source):
                name = os.fspath(path)
                if not path.exists():
                    raise UsageError(f"no file {name!r}")
                try:
                    logs.append((part, name, self._read_checked(path)))
                except DataError as error:
                    failed.append(FailedLog(name, part.model, str(error)))
        is_selected = _selection([row for *_, log in logs for row in log.rows], where)
        samples = [
            (part, group)
            for part, name, log in logs
            for group in self._samples(part, name, log, is_selected, fields)
        ]
        return [
            group
            for part in parts
            for group in under_one_name(part, [group for owner, group in samples if owner is part])
        ], failed

    def _read_checked(self, path: Path) -> Log:
        """Read one file; for plug-ins, check the result and convert exceptions."""
        assert self.read is not None
        try:
            log = self.read(path)
        except OutperformError:
            raise
        except Exception as error:
            if self.read.__module__.startswith("outperform."):
                raise
            raise DataError(
                f"{os.fspath(path)} cannot be read as a log of {self.name}: "
                f"{type(error).__name__}: {error}"
            ) from error
        if not isinstance(log, Log) or not all(isinstance(row, Row) for row in log.rows):
            raise UsageError(f"the format {self.name!r} must read a Log of Rows; got {shown(log)}")
        return log

    def _samples(
        self,
        part: Part,
        name: str,
        log: Log,
        is_selected: Callable[[Row], bool],
        fields: Sequence[str],
    ) -> Iterator[Samples]:
        """Return the samples of each model and task in a log."""
        selected = [row for row in log.rows if is_selected(row)]
        for field in self.single:
            values = sorted({str(row.about.get(field)) for row in selected})
            if len(values) > 1:
                raise UsageError(
                    f"{name} has answers for several values of {field}, "
                    f"{', '.join(map(repr, values))}; select one, e.g. "
                    f"{param('where=', {field: 'none' if 'none' in values else values[0]})}"
                )
        by_model: dict[tuple[str, str], list[Row]] = {}
        for row in selected:
            by_model.setdefault((row.model, row.task), []).append(row)
        for (model, task), rows in by_model.items():
            scores = dict.fromkeys(score for row in rows for score in row.scores)
            yield Samples(
                model=model,
                name=name,
                turn=part.turn,
                origin=self.name,
                items=[Item(task, as_id(row.id, column="id", name=name)) for row in rows],
                epochs=[row.epoch for row in rows],
                scores={score: [row.scores.get(score) for row in rows] for score in scores},
                questions=_texts([row.question for row in rows]),
                gold=_texts([row.gold for row in rows]),
                prompts=_texts([row.prompt for row in rows]),
                fields={field: [field_of(row.about, field) for row in rows] for field in fields},
                when=log.when,
            )


def _selection(rows: Sequence[Row], where: Where) -> Callable[[Row], bool]:
    """Return a function that selects rows; a column missing from every row raises an error."""

    def value_of(row: Row, column: str) -> str:
        return str(row.task if column == "task" else field_of(row.about, column))

    selected = {
        column: {str(allowed) for allowed in (value if isinstance(value, SEVERAL) else [value])}
        for column, value in (where or {}).items()
    }
    for column, values in selected.items():
        known = dict.fromkeys(value_of(row, column) for row in rows)
        if rows and set(known) == {"None"}:
            names = dict.fromkeys(["task", *(name for row in rows for name in row.about)])
            raise UsageError(unknown_name("field of the logs", column, names))
        for value in sorted(values - known.keys()) if column == "task" and rows else ():
            raise UsageError(unknown_name("task", value, known))
    return lambda row: all(value_of(row, column) in values for column, values in selected.items())


def _texts(rows: Sequence[Mapping[str, object]]) -> dict[str, list[str | None]]:
    """Return the fields of all rows as text columns, without empty columns."""
    columns = {
        name: as_texts([row.get(name) for row in rows])
        for name in dict.fromkeys(name for row in rows for name in row)
    }
    return {name: values for name, values in columns.items() if set(values) != {None}}


# Files


def read_columns(
    source: Any,
    select: Callable[[Table | Frame], list[str]],
    named: Sequence[str],
    *,
    where: Where,
    dialect: Dialect | None = None,
) -> tuple[str, dict[str, list[Any]]]:
    """Return the display name and the selected columns of a table, frame or file."""
    dialect = dialect or Dialect()
    frame = None if is_path(source) else known_frame(source)
    if frame is not None:
        names = select(frame)
        columns = map(dialect.missing.without, fetch_columns(frame, names, where=where))
        return frame.name, dict(zip(names, columns, strict=True))

    def ask(tables: Mapping[str, Table], engine: Engine) -> tuple[str, dict[str, list[Any]]]:
        table = tables[""]
        names = select(table)
        query = table.select(names, where=where)
        rows = engine.fetch(query.sql, query.parameters)
        values = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
        return table.name, {
            name: loaded(column) if table.family(name) == "json" else column
            for name, column in zip(names, values, strict=True)
        }

    with opened({"": source}, named, dialect) as tables:
        return tables.ask(ask)


def read_json(path: Path) -> object:
    """Return the content of a JSON file.

    Parameters
    ----------
    path
        File, possibly compressed as ``.gz`` or ``.zst``. A truncated file, or a repeated key,
        raises ``DataError``.
    """
    try:
        content: object = parse(_bytes(path).removeprefix(BOM_UTF8), constants=True)
        return content
    except DataError as error:
        raise DataError(
            f"{os.fspath(path)} is not a complete JSON file; was the evaluation interrupted? "
            f"{error}"
        ) from None


def read_json_lines(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the objects of a JSON Lines file, each with its line as text for messages.

    Parameters
    ----------
    path
        File, possibly compressed as ``.gz`` or ``.zst``.
    """
    for number, line in enumerate(_bytes(path).removeprefix(BOM_UTF8).split(b"\n"), start=1):
        if not line.strip():
            continue
        at = f"{os.fspath(path)}, line {number}"
        try:
            record: object = parse(line, constants=True)
        except DataError as error:
            raise DataError(
                f"{at} is not a complete line of JSON; was the evaluation interrupted? {error}"
            ) from None
        if not isinstance(record, dict):
            raise DataError(f"{at} must be an object; got {shown(record)}")
        yield at, record


def _bytes(path: Path) -> bytes:
    name = os.fspath(path)
    packing = PACKINGS.get(path.suffix.lower(), "")
    with unpacked(name, packing, name=name, at_once=True) as stream:
        content = stream.read()
    if not content.strip():
        raise DataError(f"{name} is empty")
    return content


# Values


@overload
def get_typed(
    record: object, key: str, kind: type[dict[str, object]], *, at: str
) -> dict[str, object]: ...


@overload
def get_typed(record: object, key: str, kind: type[list[object]], *, at: str) -> list[object]: ...


@overload
def get_typed(record: object, key: str, kind: type[_Plain], *, at: str) -> _Plain: ...


def get_typed(record: object, key: str, kind: type, *, at: str) -> object:
    """Return the value of a key in a record; raise ``DataError`` if the type is wrong.

    Parameters
    ----------
    record
        JSON object.
    key
        Key, with dots for nested keys: ``"results.prompts"``.
    kind
        Required type of the value; for ``float``, any finite number.
    at
        Name of the record in messages: the file, and the position in it.

    Examples
    --------
    >>> get_typed({"test": {"score": 0.5}}, "test.score", float, at="run.json, test 1")
    0.5
    """
    value = field_of(record, key)
    fits = isinstance(value, (int, float)) if kind is float else isinstance(value, kind)
    if not fits or (kind is not bool and isinstance(value, bool)):
        raise DataError(
            f"{at}: {key!r} must be {_WORDS[kind]}; got {shown(value)}. Is the log damaged, or of "
            "another kind?"
        )
    if kind is float and not is_finite(value):
        raise DataError(f"{at}: {key!r} must be a finite number; got {shown(value)}")
    return value


@overload
def get_optional(
    record: object, key: str, kind: type[dict[str, object]], *, at: str
) -> dict[str, object] | None: ...


@overload
def get_optional(
    record: object, key: str, kind: type[list[object]], *, at: str
) -> list[object] | None: ...


@overload
def get_optional(record: object, key: str, kind: type[_Plain], *, at: str) -> _Plain | None: ...


def get_optional(record: object, key: str, kind: type[Any], *, at: str) -> object:
    """Return the value of a key in a record, or None if it is missing.

    Parameters
    ----------
    record, key, kind, at
        As for :func:`get_typed`.
    """
    return None if field_of(record, key) is None else get_typed(record, key, kind, at=at)


def get_score(record: object, key: str, *, at: str) -> float | bool | None:
    """Return a score: a number, True or False, or None if it is missing.

    Parameters
    ----------
    record, key, at
        As for :func:`get_typed`.
    """
    value = field_of(record, key)
    if value is None or isinstance(value, bool):
        return value
    return float(get_typed(record, key, float, at=at))


def check_total(
    at: str, what: str, reported: object, total: float, *, within: float = 1e-9
) -> None:
    """Raise ``DataError`` if the summary of a log contradicts its answers.

    Parameters
    ----------
    at
        Name of the log in messages.
    what
        Name of the total, such as ``"passed tests"``.
    reported
        Total in the summary, or None if there is none.
    total
        Total computed from the answers.
    within
        Largest allowed difference, as a share of the total.
    """
    if reported is not None and not is_near(reported, total, within=within):
        raise DataError(contradiction(at, what, reported, f"{total:g}"))


def model_name(path: Path, named: object) -> str:
    """Return the name of the model in a log, or the file name if there is none.

    Parameters
    ----------
    path
        The log.
    named
        Name of the model in the log, if it has any.
    """
    return named if isinstance(named, str) and named else stem(path).removesuffix(".json")
