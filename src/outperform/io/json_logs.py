"""Logs that are JSON: documents and lines, what they must hold, and their answers as samples."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, overload

from outperform._files import parse, shown
from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.io.formats import PACKINGS, unpacked
from outperform.io.log_samples import (
    FailedLog,
    Item,
    Part,
    Samples,
    as_id,
    as_text,
    field_of,
    is_finite,
    is_near,
    is_path,
    logs_under,
)
from outperform.io.paths import stem
from outperform.io.tables import SEVERAL, Where

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
    """One graded answer of a model."""

    model: str
    id: object
    scores: Mapping[str, object]
    task: str = ""
    epoch: int = 1
    question: Mapping[str, object] = {}  # what was asked, in each form that the log has
    gold: Mapping[str, object] = {}  # what the answer should be
    prompt: Mapping[str, object] = {}  # what was sent to the model, which may depend on the model
    about: Mapping[str, object] = {}  # what else is known of the item, for slices and groups


class Log(NamedTuple):
    """What one log says: its answers, and when it was written, as a text that sorts."""

    rows: list[Row]
    when: str | None = None


class Reader(NamedTuple):
    """How the logs of one tool are found and read."""

    name: str
    what: str  # how its logs are called in a message
    is_log: Callable[[Path], bool]  # of a file in a folder, by its name
    read: Callable[[Path], Log]
    right: str | None = None  # the tool's own score that says right or wrong
    grade: str | None = None  # and that is a grade
    prefixes: tuple[str, ...] = ()  # that a score may be called with besides
    single: tuple[str, ...] = ()  # of which the answers of a log must have one value

    def score(self, asked: str) -> str:
        """Return a score as it is called here."""
        for prefix in self.prefixes:
            asked = asked.removeprefix(prefix)
        return asked


def read_json_logs(
    reader: Reader, parts: Sequence[Part], *, where: Where, fields: Sequence[str]
) -> tuple[list[tuple[Part, Samples]], list[FailedLog]]:
    """Read logs; those that are damaged or of evaluations that failed come back as such."""
    found: list[tuple[Part, Path, Log]] = []
    failed: list[FailedLog] = []
    for part in parts:
        if not is_path(part.source):
            raise UsageError(
                f"logs of {reader.name} are read from files or folders; got "
                f"{type(part.source).__name__}"
            )
        for path in logs_under(part.source, reader.is_log, what=reader.what):
            if not path.exists():
                raise UsageError(f"no file {os.fspath(path)!r}")
            try:
                found.append((part, path, reader.read(path)))
            except DataError as error:
                failed.append(FailedLog(os.fspath(path), part.model, str(error)))
    kept = _kept([row for *_, log in found for row in log.rows], where)
    return [
        (part, samples)
        for part, path, log in found
        for samples in _samples(reader, part, path, log, kept, fields)
    ], failed


def _kept(rows: Sequence[Row], where: Where) -> Callable[[Row], bool]:
    """Return which rows are asked for; a column that none of them has is refused."""
    wanted = {
        column: {str(one) for one in (value if isinstance(value, SEVERAL) else [value])}
        for column, value in (where or {}).items()
    }
    for column, values in wanted.items():
        known = dict.fromkeys(str(_told(row, column)) for row in rows)
        if rows and set(known) == {"None"}:
            names = dict.fromkeys(["task", *(name for row in rows for name in row.about)])
            raise UsageError(unknown_name("field of the logs", column, names))
        for value in sorted(values - known.keys()) if column == "task" and rows else ():
            raise UsageError(unknown_name("task", value, known))
    return lambda row: all(str(_told(row, name)) in values for name, values in wanted.items())


def _told(row: Row, name: str) -> object:
    return row.task if name == "task" else field_of(row.about, name)


def _samples(
    reader: Reader,
    part: Part,
    path: Path,
    log: Log,
    kept: Callable[[Row], bool],
    fields: Sequence[str],
) -> Iterator[Samples]:
    """Return the samples of each model and task in a log."""
    name = os.fspath(path)
    asked = [row for row in log.rows if kept(row)]
    for one in reader.single:
        values = sorted({str(row.about.get(one)) for row in asked})
        if len(values) > 1:
            raise UsageError(
                f"{name} has an answer for each {one} of {', '.join(map(repr, values))}; name one, "
                f"e.g. {param('where=', {one: values[0]})}"
            )
    by_model: dict[tuple[str, str], list[Row]] = {}
    for row in asked:
        by_model.setdefault((row.model, row.task), []).append(row)
    for (model, task), rows in by_model.items():
        names = dict.fromkeys(score for row in rows for score in row.scores)
        yield Samples(
            model=model,
            name=name,
            turn=part.turn,
            origin=reader.name,
            items=[Item(task, as_id(row.id, column="id", name=name)) for row in rows],
            epochs=[row.epoch for row in rows],
            scores={one: [row.scores.get(one) for row in rows] for one in names},
            questions=_texts([row.question for row in rows]),
            gold=_texts([row.gold for row in rows]),
            prompts=_texts([row.prompt for row in rows]),
            fields={one: [field_of(row.about, one) for row in rows] for one in fields},
            when=log.when,
        )


def _texts(rows: Sequence[Mapping[str, object]]) -> dict[str, list[str | None]]:
    """Return what rows say under each name as columns of text, without those that are empty."""
    columns = {
        name: [as_text(row.get(name)) for row in rows]
        for name in dict.fromkeys(name for row in rows for name in row)
    }
    return {name: values for name, values in columns.items() if set(values) != {None}}


# Files


def document(path: Path) -> object:
    """Return what a JSON file holds, which may be packed."""
    try:
        found: object = parse(_bytes(path).removeprefix(BOM_UTF8), constants=True)
        return found
    except DataError as error:
        raise DataError(
            f"{os.fspath(path)} is not a whole JSON file; was the evaluation cut off? {error}"
        ) from None


def lines(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Return the objects of a JSON Lines file, each with what to call its line in a message."""
    for number, line in enumerate(_bytes(path).removeprefix(BOM_UTF8).split(b"\n"), start=1):
        if not line.strip():
            continue
        place = f"{os.fspath(path)}, line {number}"
        try:
            found: object = parse(line, constants=True)
        except DataError as error:
            raise DataError(
                f"{place} is not a whole line of JSON; was the evaluation cut off? {error}"
            ) from None
        if not isinstance(found, dict):
            raise DataError(f"{place} must be an object; got {shown(found)}")
        yield place, found


def _bytes(path: Path) -> bytes:
    name = os.fspath(path)
    packing = PACKINGS.get(path.suffix.lower(), "")
    with unpacked(name, packing, name=name, at_once=True) as stream:
        found = stream.read()
    if not found.strip():
        raise DataError(f"{name} is empty")
    return found


# What is in them


@overload
def held(
    record: object, key: str, kind: type[dict[str, object]], *, place: str
) -> dict[str, object]: ...


@overload
def held(record: object, key: str, kind: type[list[object]], *, place: str) -> list[object]: ...


@overload
def held(record: object, key: str, kind: type[_Plain], *, place: str) -> _Plain: ...


def held(record: object, key: str, kind: type, *, place: str) -> object:
    """Return what a record holds under a key, with dots for nested ones, or refuse the record."""
    value = field_of(record, key)
    fits = isinstance(value, (int, float)) if kind is float else isinstance(value, kind)
    if not fits or (kind is not bool and isinstance(value, bool)):
        raise DataError(
            f"{place}: {key!r} must be {_WORDS[kind]}; got {shown(value)}. Is it a log of another "
            "kind, or damaged?"
        )
    if kind is float and not is_finite(value):
        raise DataError(f"{place}: {key!r} must be a finite number; got {shown(value)}")
    return value


@overload
def optional(
    record: object, key: str, kind: type[dict[str, object]], *, place: str
) -> dict[str, object] | None: ...


@overload
def optional(
    record: object, key: str, kind: type[list[object]], *, place: str
) -> list[object] | None: ...


@overload
def optional(record: object, key: str, kind: type[_Plain], *, place: str) -> _Plain | None: ...


def optional(record: object, key: str, kind: type[Any], *, place: str) -> object:
    """Return the same, or None if there is none."""
    return None if field_of(record, key) is None else held(record, key, kind, place=place)


def graded(record: object, key: str, *, place: str) -> float | bool | None:
    """Return a score: a number, a truth value, or None if it is missing; never another type."""
    value = field_of(record, key)
    if value is None or isinstance(value, bool):
        return value
    return float(held(record, key, float, place=place))


def refuse_other_total(
    place: str, what: str, told: object, found: float, *, within: float = 1e-9
) -> None:
    """Refuse a log whose own summary says something else than its answers."""
    if told is None:
        return
    if not is_near(told, found, within=within):
        raise DataError(
            f"{place} is damaged: it says {shown(told)} {what}, and its answers say {found:g}. Was "
            "it cut off or edited?"
        )


def model_of(path: Path, named: object) -> str:
    """Return the model that a log names, or else the name of its file."""
    return named if isinstance(named, str) and named else stem(path).removesuffix(".json")
