"""Samples: what one log says of one model; which score counts; where logs are found."""

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
from outperform.data.missing import UNDECLARED
from outperform.errors import DataError, UsageError, either, param, unknown_name
from outperform.io.engine import Engine, EngineFault
from outperform.io.formats import Dialect
from outperform.io.frames import fetch_columns, known_frame
from outperform.io.tables import Table, Where, opened


class Item(NamedTuple):
    """What was asked: the task, and the id of the item within it."""

    task: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """The samples of one model in one log or table, as columns of equal length.

    Parameters
    ----------
    model
        The name of the model.
    name
        What to call the log in a message.
    turn
        Which run it is, where the caller lists several of one model.
    origin
        What wrote the items; those of another origin cannot be compared.
    items
        What each sample answers.
    epochs
        Which answer to the item it is.
    questions
        What each item asks, in every form in which logs can be compared (a hash, a text), by name;
        None where the log does not say.
    gold
        The expected answer to each item, likewise.
    prompts
        What was sent to the model, which may depend on the model, likewise.
    scores
        The values of each score, by name.
    fields
        What else is known of each sample and was asked for, by name.
    when
        When the log was written, as a text that sorts, if it says so.
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
        return {task: self._of(task) if len(tasks) > 1 else self for task in tasks}

    def _of(self, task: str) -> Samples:
        rows = [k for k, item in enumerate(self.items) if item.task == task]

        def only(values: list[Any]) -> list[Any]:
            return [values[k] for k in rows]

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
    """A log that cannot be used, whose it is as far as that is known, and why."""

    name: str
    model: str | None
    reason: str  # a clause that starts with the name


_RIGHT = {"C": True, "I": False, "N": False}  # correct, incorrect, no answer
_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_PARTLY_RIGHT = {"P": 0.5}


def as_grade(value: Any) -> float | None:
    """Return a score as a number, or None if it is missing.

    Anything that is no number is a ValueError.

    Examples
    --------
    >>> as_grade(7), as_grade("P"), as_grade("C"), as_grade(None)
    (7.0, 0.5, 1.0, None)
    """
    if isinstance(value, str):
        text = value.strip()
        known: dict[str, float] = {**_RIGHT, **_PARTLY_RIGHT, **_WORDS}
        found = known.get(text, known.get(text.lower()))
        value = text or None if found is None else found
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{shown(value)} is no number") from None
    if math.isinf(number):
        raise ValueError(f"{shown(value)} is not finite")
    return None if math.isnan(number) else number


def is_right(value: object) -> bool | None:
    """Return whether a score says right or wrong, or None if it is missing.

    Anything in between is a ValueError.

    Examples
    --------
    >>> is_right(1.0), is_right("I"), is_right("True"), is_right(None)
    (True, False, True, None)
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return _of_text(value.strip())
    if isinstance(value, (bool, int, float)) and value in (0, 1):
        return bool(value)
    raise ValueError(f"{shown(value)} is neither right nor wrong")


def _of_text(value: str) -> bool | None:
    if not value:
        return None
    if value in _RIGHT:
        return _RIGHT[value]
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    try:
        return is_right(float(value))
    except ValueError:
        raise ValueError(f"{value!r} is neither right nor wrong") from None


def loaded(values: list[Any]) -> list[Any]:
    """Return what JSON texts say; a missing one stays None."""
    try:
        known = {
            value: None if value is None else parse(value, constants=True) for value in set(values)
        }
    except DataError as error:  # the reader knows in which line
        raise EngineFault(f"a value cannot be read: {error}") from error
    return [known[value] for value in values]


def as_epoch(value: Any, *, name: str) -> int:
    """Return which answer to an item a sample is, or refuse what is no whole number."""
    try:
        number = int(value)
        plain = not isinstance(value, (bool, np.bool_)) and 0 <= number <= INT64
        if not plain or (not isinstance(value, str) and number != value):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise DataError(
            f"{name}: every 'epoch' must be a whole number; got {shown(value)}"
        ) from None
    return number


def is_finite(value: Any) -> bool:
    """Return whether a number is one that a float holds."""
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of too many digits
        return False


def is_near(reported: object, own: float, *, within: float) -> bool:
    """Return whether what a log says is a number, and the one that its answers give."""
    if not isinstance(reported, (int, float)) or not is_finite(reported):
        return False
    return abs(reported - own) <= within * max(1, abs(own))


def as_id(value: object, *, column: str, name: str) -> str:
    """Return an id as text, or refuse what is none."""
    if value is None or value == "" or isinstance(value, (float, list, dict)):
        raise DataError(
            f"{name}: every sample needs an id in {column!r}, as text or a whole number; "
            f"got {value!r}"
        )
    return str(value)


def as_text(value: object) -> str | None:
    """Return a question or an expected answer as one text, the same in every log; None for none.

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


def field_of(record: object, name: str) -> object:
    """Return a field of a record, with dots in the names of nested ones; None if it has none.

    Examples
    --------
    >>> field_of({"source": {"book": "primer"}}, "source.book")
    'primer'
    """
    if not isinstance(record, Mapping):
        return None
    if name in record:
        return record[name]
    first, dot, rest = name.partition(".")
    return field_of(record.get(first), rest) if dot else None


class Part(NamedTuple):
    """One source: whose it is, if that is said, and which of several runs of the same model."""

    model: str | None
    turn: int
    source: Any


def parts_of(source: object) -> list[Part]:
    """Return the parts of a source: one per model, or several runs of one.

    Examples
    --------
    >>> [part.turn for part in parts_of({"llama": ["monday", "tuesday"], "gpt": "friday"})]
    [0, 1, 0]
    """
    if isinstance(source, Mapping):
        return [part for name, one in source.items() for part in _of_model(name, one)]
    if isinstance(source, (list, tuple)):
        if not source:
            raise UsageError("a list of logs must name at least one")
        return [Part(None, 0, one) for one in source]
    return [Part(None, 0, source)]


def _of_model(name: object, source: object) -> list[Part]:
    if not isinstance(name, str):
        raise UsageError(f"names of models must be text; got {name!r}")
    runs = list(source) if isinstance(source, (list, tuple)) else [source]
    if not runs:
        raise UsageError(f"model {name!r} needs at least one log")
    return [Part(name, turn, one) for turn, one in enumerate(runs)]


def is_path(source: object) -> bool:
    """Return whether a source is a path, and not a frame or an open file."""
    return isinstance(source, (str, os.PathLike)) and source != "-"


def files_under(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder at any depth, also in linked folders, but not in circles."""
    todo = [(folder, frozenset({os.path.realpath(folder)}))]
    while todo:
        path, above = todo.pop()
        with os.scandir(path) as entries:
            for entry in entries:
                if not entry.is_dir():
                    yield Path(entry.path)
                elif (real := os.path.realpath(entry.path)) not in above:
                    todo.append((Path(entry.path), above | {real}))


def logs_under(source: Any, is_log: Callable[[Path], bool], *, what: str) -> list[Path]:
    """Return the logs that a path, a pattern or a folder stands for, in order."""
    given = os.fspath(source)
    if glob.has_magic(given) and not os.path.lexists(given):
        paths = [Path(one) for one in sorted(glob.glob(given, recursive=True))]
        if not paths:
            raise UsageError(f"no file matches {given!r}")
    else:
        paths = [Path(given)]
    found = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        try:
            inside = sorted(one for one in files_under(path) if is_log(one) and one.is_file())
        except OSError as error:
            raise DataError(f"{error.filename} cannot be read: {error.strerror}") from None
        if not inside:
            raise UsageError(f"there is no {what} in the folder {os.fspath(path)}")
        found += inside
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What the values of a score are, and what to say of those that are not."""

    read: Callable[[Any], float | None]  # None where it is missing, else a ValueError
    says: str
    looks: str
    otherwise: Callable[[], str]


RIGHT = Kind(
    read=is_right,
    says="say right or wrong",
    looks="right or wrong (1 and 0, true and false, C and I)",
    otherwise=lambda: either(
        "which is neither right nor wrong. Compare the mean of such grades, read by "
        "op.read_scores, or decide what is good enough and count that with "
        "Outcomes.from_correct({'model': score >= 0.5, …})",
        "which is neither right nor wrong; compare the mean of such grades with --metric mean",
    ),
)
GRADE = Kind(
    read=as_grade,
    says="are grades",
    looks="grades, as numbers",
    otherwise=lambda: "which is no finite number",
)


def spread(scores: Mapping[str, list[object]]) -> dict[str, list[Any]]:
    """Give every key of scores that are dictionaries a name of its own, ``scorer.key``.

    Examples
    --------
    >>> spread({"judge": [{"tone": 3, "right": 1}, None], "match": ["C", "I"]})
    {'judge.tone': [3, None], 'judge.right': [1, None], 'match': ['C', 'I']}
    """
    found: dict[str, list[Any]] = {}
    for name, values in scores.items():
        keys = dict.fromkeys(key for one in values if isinstance(one, dict) for key in one)
        if not keys or any(_is_plain(one) for one in values):
            found[name] = values
        for key in keys:
            found[f"{name}.{key}"] = [
                one.get(key) if isinstance(one, dict) else None for one in values
            ]
    return found


def _is_plain(value: object) -> bool:
    return isinstance(value, (str, int, float)) and value == value and value != ""


def choose_score(every: Sequence[Samples], score: str | None, kind: Kind) -> str:
    """Return the score that was asked for, or the only one of its kind."""
    if score is not None:
        score = _full_name(every, score)
        for samples in every:
            if score not in samples.scores:
                raise UsageError(f"{samples.name}: {unknown_name('score', score, samples.scores)}")
            _refuse_others(samples, score, kind)
        return score
    shared = [name for name in every[0].scores if all(name in one.scores for one in every)]
    fitting = [name for name in shared if all(_is_of(one, name, kind) for one in every)]
    if kind is GRADE and len(fitting) > 1:  # right or wrong is a grade only where there is no other
        fitting = [one for one in fitting if not _is_of_truth(every, one)] or fitting
    if len(fitting) == 1:
        return fitting[0]
    tasks = sorted({item.task for samples in every for item in samples.items})
    each = param("score=", dict.fromkeys(tasks[:2], (*fitting, "acc")[0]))
    if fitting:
        own = either(f", or one for each task with {each}", "") if len(tasks) > 1 else ""
        shown = ", ".join(map(repr, fitting)) + f"; name one with {param('score=')}{own}"
        raise UsageError(f"several scores {kind.says}: {shown}")
    if len(shared) == 1:
        for samples in every:
            _refuse_others(samples, shared[0], kind)
    known = ", ".join(map(repr, dict.fromkeys(name for one in every for name in one.scores)))
    own = either(
        f"name that of each task, {each}",
        f"take each task by its own score with {param('by=', 'task')}",
    )
    which = f"{param('score=')} to see why it does not fit"
    raise DataError(
        f"there is no score that all logs have and whose values are {kind.looks}; they have "
        f"{known or 'none'}. "
        + (f"They are of {len(tasks)} tasks: {own}" if len(tasks) > 1 else f"Name one with {which}")
    )


def choose_by_task(
    every: Sequence[Samples], scores: Mapping[str, str], kind: Kind
) -> tuple[list[Samples], str]:
    """Return the samples of all tasks, each with the score that was asked of it, as one score."""
    parts = [(task, one) for samples in every for task, one in samples.by_task().items()]
    known = dict.fromkeys(task for task, _ in parts)
    for task in scores:
        if task not in known:
            raise UsageError(unknown_name("task", task, known))
    lacking = [task for task in known if task not in scores]
    if lacking:
        raise UsageError(
            f"{param('score=')} names no score of {', '.join(map(repr, lacking))}; name one for "
            f"each task, or leave tasks out with {param('where=')}"
        )
    chosen = {
        task: choose_score([one for of, one in parts if of == task], score, kind)
        for task, score in scores.items()
    }
    name = ", ".join(dict.fromkeys(chosen.values()))
    return [replace(one, scores={name: one.scores[chosen[task]]}) for task, one in parts], name


def _full_name(every: Sequence[Samples], score: str) -> str:
    """Return ``scorer.key`` for a key that only one scorer has; any other name as it is."""
    known = dict.fromkeys(name for samples in every for name in samples.scores)
    if score in known:
        return score
    keys = [name for name in known if name.partition(".")[2] == score]
    if len(keys) == 1:
        return keys[0]
    held = keys or [name for name in known if name.startswith(f"{score}.")]
    if held:
        shown = ", ".join(map(repr, held))
        raise UsageError(
            f"{score!r} stands for several scores, {shown}; name one with {param('score=')}"
        )
    return score


def _is_of(samples: Samples, score: str, kind: Kind) -> bool:
    try:
        found = {kind.read(value) for value in samples.scores[score]}
    except ValueError:
        return False
    return found != {None}


def _is_of_truth(every: Sequence[Samples], score: str) -> bool:
    values = (value for samples in every for value in samples.scores[score])
    return all(value is None or isinstance(value, bool) for value in values)


def _refuse_others(samples: Samples, score: str, kind: Kind) -> None:
    for item, value in zip(samples.items, samples.scores[score], strict=True):
        try:
            kind.read(value)
        except ValueError:
            raise DataError(
                f"{samples.name}: {score!r} is {shown(value)} for {item.id!r}, {kind.otherwise()}"
            ) from None


# Tables with one row for each item and model

LONG = "long"
_QUESTIONS = ("question", "question_hash", "doc_hash", "input")
_GOLD = (
    "truth", "gold", "target", "target_hash", "expected", "expected_answer", "expected_output",
    "reference",
)  # fmt: skip
"""Columns that must say the same of an item for every model, where a table has them."""


def read_long(
    part: Part,
    score: str | None,
    where: Where,
    fields: Sequence[str],
    *,
    id: str | None = None,
    model: str | None = None,
    dialect: Dialect | None = None,
) -> list[Samples]:
    """Return the samples of each model in a table that has one row for each item and model."""
    needed = {"id": id, "score": score} | ({} if part.model is not None else {"model": model})
    lacking = [param(f"{name}=") for name, column in needed.items() if column is None]
    if id is None or score is None or lacking:
        raise UsageError(
            "a table with one row for each item and model needs the names of its columns; give "
            f"{' and '.join(lacking)}"
        )
    asked = [one for one in (id, score, model, *fields) if one is not None]

    def wanted(names: Sequence[str]) -> list[str]:
        own = ("task", "epoch", *_QUESTIONS, *_GOLD)
        beside = [one for one in own if one in names and one not in asked]
        return [*dict.fromkeys(asked), *beside]

    frame = None if is_path(part.source) else known_frame(part.source)
    if frame is not None:
        for one in asked:
            frame.column(one)
        names = wanted(frame.names)
        missing = UNDECLARED if dialect is None else dialect.missing
        columns = map(missing.without, fetch_columns(frame, names, where=where))
        rows = dict(zip(names, columns, strict=True))
        return _long_samples(part, frame.name, rows, id, score, model, fields)

    def ask(found: Mapping[str, Table], engine: Engine) -> list[Samples]:
        table = found[""]
        names = wanted(table.names)
        for one in names:
            table.column(one)
        query = table.select(names, where=where)
        fetched = engine.fetch(query.sql, query.parameters)
        columns = [list(column) for column in zip(*fetched, strict=True)]
        rows = {
            one: loaded(values) if table.family(one) == "json" else values
            for one, values in zip(names, columns or [[] for _ in names], strict=True)
        }
        return _long_samples(part, table.name, rows, id, score, model, fields)

    with opened({"": part.source}, asked, dialect or Dialect()) as tables:
        return tables.ask(ask)


def _long_samples(
    part: Part,
    name: str,
    rows: Mapping[str, list[Any]],
    id: str,
    score: str,
    model: str | None,
    fields: Sequence[str],
) -> list[Samples]:
    n_rows = len(rows[id])
    if not n_rows:
        raise DataError(f"{name} has no rows that were asked for")
    owners = [part.model] * n_rows if model is None else rows[model]
    lost = next((k for k, one in enumerate(owners) if one is None or one == ""), None)
    if lost is not None:
        raise DataError(f"{name}: row {lost + 1} has no model in {model!r}")
    row = next((k for k, task in enumerate(rows.get("task", ())) if task is None), None)
    if row is not None:
        raise DataError(f"{name}: row {row + 1} has no value in 'task'")
    places: dict[str, list[int]] = {}
    for place, owner in enumerate(owners):
        places.setdefault(str(owner), []).append(place)
    tasks = [str(one) for one in rows.get("task", [""] * n_rows)]
    epochs = [as_epoch(one, name=name) for one in rows.get("epoch", [1] * n_rows)]
    return [
        Samples(
            model=owner,
            name=name,
            turn=part.turn,
            origin=LONG,
            items=[Item(tasks[k], as_id(rows[id][k], column=id, name=name)) for k in own],
            epochs=[epochs[k] for k in own],
            scores={score: [rows[score][k] for k in own]},
            questions={
                one: [as_text(rows[one][k]) for k in own]
                for one in _QUESTIONS
                if one in rows and one not in (id, score, model)
            },
            gold={
                one: [as_text(rows[one][k]) for k in own]
                for one in _GOLD
                if one in rows and one not in (id, score, model)
            },
            fields={one: [rows[one][k] for k in own] for one in fields},
        )
        for owner, own in places.items()
    ]
