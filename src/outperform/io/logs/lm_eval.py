"""lm-evaluation-harness: the JSON Lines written with ``--log_samples``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from outperform._files import shown
from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.io.engine import Engine
from outperform.io.formats import Dialect
from outperform.io.logs.format import LogFormat, read_json
from outperform.io.logs.samples import (
    FailedLog,
    Item,
    Part,
    Samples,
    as_grade,
    as_id,
    as_text,
    contradiction,
    field_of,
    is_near,
    is_path,
    loaded,
)
from outperform.io.paths import stem
from outperform.io.tables import SEVERAL, Table, Where, opened

_NAME = re.compile(
    r"samples_(?P<task>.+?)(?:_(?P<when>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?))?\.jsonl(?:\.gz|\.zst)?"
)
# Fields of a line that are not scores, needed because older versions do not list the scores.
_FIELDS = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash", "task_name",
}  # fmt: skip
_RANDOM = re.compile("[a-z0-9_]{8}")  # folder that lm_eval creates for a model without a name
_HASHES = ("doc_hash",)  # of the question
_GOLD = ("target", "target_hash")


class Log(NamedTuple):
    """Log file, with its model and task."""

    model: str
    turn: int
    task: str
    source: Any
    name: str
    when: str | None = None
    outer: str | None = None  # name of the parent of the logs' folder, if it may name the model


class _Lines(NamedTuple):
    """Lines of one log, as columns, and their filters."""

    filters: list[str] | None  # None if the lines have no filter
    ids: list[Any]
    questions: dict[str, list[str | None]]
    gold: dict[str, list[str | None]]
    scores: dict[str, list[Any]]
    fields: dict[str, list[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _LmEval(LogFormat):
    def is_log(self, path: Path) -> bool:
        return _NAME.fullmatch(path.name) is not None

    def load(
        self, parts: Sequence[Part], *, score: str | None, where: Where, fields: Sequence[str]
    ) -> tuple[list[Samples], list[FailedLog]]:
        """Read doc_id, hashes, target, scores and doc fields, but not prompts and answers.

        Questions are also read if a line has no question hash. Unreadable logs are returned as
        failed.
        """
        conditions = dict(where or {})
        logs = _with_run_names([log for part in parts for log in _logs(part)])
        if "task" in conditions:
            logs = _of_tasks(logs, conditions.pop("task"))
        are_files = all(is_path(log.source) for log in logs)  # a stream cannot be read twice
        read, failed = _read(logs, score, conditions or None, fields, with_doc=not are_files)
        if are_files and any(None in lines.questions.get("doc_hash", [None]) for _, lines in read):
            read, failed = _read(logs, score, conditions or None, fields, with_doc=True)
        _check_filters(read)
        if not conditions.keys() - {"filter"}:
            reasons = [_contradiction(log, lines) for log, lines in read]
            failed += [
                FailedLog(log.name, log.model, reason)
                for (log, _), reason in zip(read, reasons, strict=True)
                if reason
            ]
            read = [entry for entry, reason in zip(read, reasons, strict=True) if not reason]
        return [_samples(log, lines, conditions or None) for log, lines in read], failed


FORMAT = _LmEval(
    name="lm-eval",
    what="log of samples, samples_<task>_<time>.jsonl",
    unmistakable=("samples_*_????-??-??T*.jsonl",),
)


def _contradiction(log: Log, lines: _Lines) -> str | None:
    """Return how the results file next to a log contradicts its lines, or None."""
    if log.when is None or not is_path(log.source):
        return None
    path = Path(log.source).with_name(f"results_{log.when}.json")
    if not path.is_file():
        return None
    try:
        results = read_json(path)
    except DataError as error:
        return str(error)

    differs = partial(contradiction, log.name, summary=path.name, parts="lines")
    total = field_of(field_of(field_of(results, "n-samples"), log.task), "effective")
    if total is not None and total != len(lines.ids):
        return differs("samples", total, str(len(lines.ids)))
    means = field_of(field_of(results, "results"), log.task)
    for score, values in lines.scores.items():
        reported = field_of(means, f"{score},{(lines.filters or ['none'])[0]}")
        if reported is None or not _is_mean(results, log.task, score):
            continue
        try:
            grades = [grade for grade in map(as_grade, values) if grade is not None]
        except ValueError:
            continue
        if grades and not is_near(reported, sum(grades) / len(grades), within=1e-6):
            return differs(f"as the mean of {score!r}", reported, f"{sum(grades) / len(grades):g}")
    return None


def _is_mean(results: object, task: str, score: str) -> bool:
    """Return whether the score of a task is the plain mean over its documents."""
    listed = field_of(field_of(field_of(results, "configs"), task), "metric_list")
    for entry in listed if isinstance(listed, list) else ():
        if field_of(entry, "metric") == score and field_of(entry, "aggregation") is not None:
            return field_of(entry, "aggregation") == "mean"
    return score in ("acc", "acc_norm", "exact_match")


def _read(
    logs: Sequence[Log], score: str | None, where: Where, fields: Sequence[str], *, with_doc: bool
) -> tuple[list[tuple[Log, _Lines]], list[FailedLog]]:
    """Read all logs at once; if that fails, one by one, to report the faulty ones."""
    try:
        return list(zip(logs, _lines(logs, score, where, fields, with_doc), strict=True)), []
    except DataError as error:
        if len(logs) == 1:
            return [], [FailedLog(logs[0].name, logs[0].model, str(error))]
        if not all(is_path(log.source) for log in logs):
            raise  # a stream cannot be read twice
    parts = [_read([log], score, where, fields, with_doc=with_doc) for log in logs]
    return [entry for entries, _ in parts for entry in entries], [
        entry for _, failed in parts for entry in failed
    ]


def _lines(
    logs: Sequence[Log], score: str | None, where: Where, fields: Sequence[str], with_doc: bool
) -> list[_Lines]:
    for log in logs:
        _check_lines(log)
    sources = {str(index): log.source for index, log in enumerate(logs)}
    with opened(sources, ("doc_id",), Dialect(format="jsonl")) as tables:
        return tables.ask(
            lambda opened_tables, engine: [
                _lines_of(log, table, engine, score, where, fields, with_doc)
                for log, table in zip(logs, opened_tables.values(), strict=True)
            ]
        )


def _lines_of(
    log: Log,
    table: Table,
    engine: Engine,
    score: str | None,
    where: Where,
    fields: Sequence[str],
    with_doc: bool,
) -> _Lines:
    if "doc_id" not in table.names:
        raise DataError(
            f"{log.name} is not a log of samples: its lines have no 'doc_id'; pass the "
            "samples_*.jsonl files that lm_eval writes with --log_samples"
        )
    filters = _filters(table, where, engine)
    scores = _scores(log, table, score, where, engine)
    optional = [*_HASHES, *_GOLD, *(["doc"] if fields or with_doc else [])]
    names = ["doc_id", *(name for name in optional if name in table.names), *scores]
    query = table.select(names, where=where)
    rows = engine.fetch(query.sql, query.parameters)
    columns = [loaded(list(column)) for column in zip(*rows, strict=True)] or [[]] * len(names)
    known = dict(zip(names, columns, strict=True))

    def texts(which: Sequence[str]) -> dict[str, list[str | None]]:
        return {name: [as_text(value) for value in known[name]] for name in which if name in known}

    return _Lines(
        filters=filters,
        ids=known["doc_id"],
        questions=texts((*_HASHES, *(["doc"] if with_doc else []))),
        gold=texts(_GOLD),
        scores={name: known[name] for name in scores},
        fields={name: [field_of(value, name) for value in known.get("doc", [])] for name in fields},
    )


def _check_filters(read: Sequence[tuple[Log, _Lines]]) -> None:
    """Raise an error if a log, or the logs of one task, have several filters."""
    known: dict[str, tuple[str, str]] = {}
    every = [lines.filters or ["none"] for _, lines in read]
    for (log, _), names in zip(read, every, strict=True):
        if len(names) > 1:
            # Tasks without this filter would lose all lines.
            others = {listed[0]: None for listed in every if names[0] not in listed}
            keep = [names[0], *others] if others else names[0]
            raise UsageError(
                f"{log.name} has a line for each of the filters {', '.join(map(repr, names))}; "
                f"select one{' per task' if others else ''}, "
                f"e.g. {param('where=', {'filter': keep})}"
            )
        first, before = known.setdefault(log.task, (names[0], log.name))
        if first != names[0]:
            raise DataError(
                f"{log.name} has answers for the filter {names[0]!r}, but {before} answers for "
                f"{first!r}; keep one filter, e.g. with {param('where=', {'filter': first})}"
            )


def _samples(log: Log, lines: _Lines, where: Where) -> Samples:
    ids = lines.ids
    if not ids:
        raise DataError(f"{log.name} has no rows" + (" left after where" if where else ""))
    keys = [as_id(key, column="doc_id", name=log.name) for key in ids]
    if lines.filters is None and len(set(keys)) < len(keys):
        raise DataError(
            f"{log.name} has {len(keys)} lines for {len(set(keys))} items but does not name their "
            "filters, as with older versions of lm_eval; keep the lines of one filter, or evaluate "
            "with a newer version"
        )
    return Samples(
        model=log.model,
        name=log.name,
        turn=log.turn,
        origin="lm-eval",
        items=[Item(log.task, key) for key in keys],
        epochs=[1] * len(ids),
        questions=lines.questions,
        gold=lines.gold,
        scores=lines.scores,
        when=log.when,
        fields={name: values or [None] * len(ids) for name, values in lines.fields.items()},
    )


def _filters(table: Table, where: Where, engine: Engine) -> list[str] | None:
    """Return the filter of each answer; newer versions write one line per filter."""
    if "filter" not in table.names:
        return None
    query = table.select(("filter",), where=where)
    rows = engine.fetch(f"SELECT DISTINCT k0 FROM ({query.sql}) ORDER BY k0", query.parameters)
    return [str(name) for name in loaded([row[0] for row in rows])]


def _scores(
    log: Log, table: Table, score: str | None, where: Where, engine: Engine
) -> tuple[str, ...]:
    """Return the scores to read: the requested one, or all."""
    known = dict.fromkeys(name for name in table.names if name not in _FIELDS)
    if "metrics" in table.names:
        query = table.select(("metrics",), where=where)
        rows = engine.fetch(f"SELECT DISTINCT k0 FROM ({query.sql}) ORDER BY k0", query.parameters)
        lists = [names for names in loaded([row[0] for row in rows]) if names is not None]
        invalid = next((names for names in lists if not isinstance(names, list)), None)
        if invalid is not None:
            raise DataError(f"{log.name}: 'metrics' must be a list of names; got {shown(invalid)}")
        listed = [name for names in lists for name in names if isinstance(name, str)]
        known = dict.fromkeys(name for name in listed if name in table.names) or known
    if score is None:
        return tuple(known)
    if score not in known:
        raise UsageError(f"{log.name}: {unknown_name('score', score, known)}")
    return (score,)


# Files and folders


def _logs(part: Part) -> list[Log]:
    if not is_path(part.source):
        if part.model is None:
            raise UsageError("a stream has no name; pass the name of the model, {'llama': …}")
        return [Log(part.model, part.turn, "", part.source, f"the log of {part.model!r}")]
    paths = FORMAT.logs_in(part.source)
    folders = list(dict.fromkeys(os.fspath(path.parent) for path in paths))
    if part.model is not None and len(folders) > 1:
        raise UsageError(
            f"the logs passed as {part.model!r} are in several folders, one per model: "
            f"{', '.join(folders)}; omit the name and select models with {param('models=')}"
        )
    return [_log(part, path, _outer(part, path, folders)) for path in paths]


def _outer(part: Part, path: Path, folders: Sequence[str]) -> str | None:
    """Return the run folder if it contains only one model folder."""
    root = Path(os.path.abspath(part.source))
    if part.model is not None or not root.is_dir():
        return None
    inner = Path(os.path.abspath(path)).parent.relative_to(root).parts
    if len(inner) > 1:
        every = [Path(os.path.abspath(folder)).relative_to(root).parts for folder in folders]
        return inner[0] if [parts[:1] for parts in every].count(inner[:1]) == 1 else None
    return root.name if inner and len(folders) == 1 else None


def _with_run_names(logs: Sequence[Log]) -> list[Log]:
    """Name models after their run folders if the log folders have the same name.

    In the output folder, lm_eval creates a folder named after the model, or with a random name if
    the model has no name.
    """
    outer = {(log.model, log.outer) for log in logs}
    inner = [model for model, _ in outer]
    if any(name is None for _, name in outer) or len({name for _, name in outer}) < len(outer):
        return list(logs)
    runs = {(log.model, log.task): set[str | None]() for log in logs}
    for log in logs:
        runs[log.model, log.task].add(log.outer)
    random = all(_RANDOM.fullmatch(name) for name in inner) and 2 * sum(
        any(map(str.isdigit, name)) for name in inner
    ) >= len(inner)
    if not random and all(len(outers) == 1 for outers in runs.values()):
        return list(logs)
    return [log._replace(model=str(log.outer)) for log in logs]


def _log(part: Part, path: Path, outer: str | None) -> Log:
    """Return a file with its model, task and time, from its name and folder."""
    if path.name.startswith("results_"):
        raise UsageError(
            f"{os.fspath(path)} contains averages; pass the samples_*.jsonl files that lm_eval "
            "writes with --log_samples"
        )
    match = _NAME.fullmatch(path.name)
    folder = Path(os.path.abspath(path)).parent.name  # links are not resolved
    model = part.model or (stem(path) if match is None else folder)
    task = "" if match is None else match["task"]
    when = None if match is None else match["when"]
    name = os.fspath(path)
    return Log(model, part.turn, task, name, name, when, outer)


def _check_lines(log: Log) -> None:
    """Raise an error for a single list of all samples, as written by the oldest versions."""
    if not is_path(log.source) or not (path := Path(log.source)).is_file():
        return  # the reader reports the error
    with path.open("rb") as stream:
        if stream.read(64).lstrip()[:1] == b"[":
            raise DataError(
                f"{os.fspath(path)} is a single list, as written by lm_eval before 0.4.3; convert "
                f"it to one object per line, e.g. with: jq -c '.[]' {path.name}"
            )


def _of_tasks(logs: Sequence[Log], tasks: object) -> list[Log]:
    names = {str(task) for task in (tasks if isinstance(tasks, SEVERAL) else [tasks])}
    known = dict.fromkeys(log.task for log in logs)
    for name in sorted(names - known.keys()):
        raise UsageError(unknown_name("task", name, known))
    return [log for log in logs if log.task in names]
