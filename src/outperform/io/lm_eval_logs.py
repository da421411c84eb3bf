"""lm-evaluation-harness: the JSON Lines that ``--log_samples`` writes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.io.engine import Engine
from outperform.io.formats import Dialect
from outperform.io.log_samples import (
    FailedLog,
    Item,
    Part,
    Samples,
    as_id,
    field_of,
    is_path,
    loaded,
    logs_under,
)
from outperform.io.paths import stem
from outperform.io.tables import SEVERAL, Table, Where, opened

_NAME = re.compile(
    r"samples_(?P<task>.+?)(?:_(?P<when>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?))?\.jsonl(?:\.gz|\.zst)?"
)
# What every line has besides its scores; older versions have no list of these.
_FIELDS = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash", "task_name",
}  # fmt: skip


class Log(NamedTuple):
    """One file: whose it is, of which task."""

    model: str
    turn: int
    task: str
    source: Any
    name: str
    when: str | None = None


class _Lines(NamedTuple):
    """What is read of one log: the filters that its lines name, their ids, hashes and scores."""

    filters: list[str] | None  # None where the lines name none
    ids: list[Any]
    hashes: list[Any] | None
    scores: dict[str, list[Any]]
    fields: dict[str, list[Any]]


def read_lm_eval(
    parts: Sequence[Part], *, score: str | None, where: Where, fields: Sequence[str] = ()
) -> tuple[list[Samples], list[FailedLog]]:
    """Read doc_id, doc_hash, scores and fields of doc; questions and answers stay in the files.

    Logs that cannot be read come back as failed ones.
    """
    given = dict(where or {})
    logs = [log for part in parts for log in _logs(part)]
    if "task" in given:
        logs = _of_tasks(logs, given.pop("task"))
    found, failed = _read(logs, score, given or None, fields)
    _refuse_other_filters(found)
    return [_samples(log, lines, given or None) for log, lines in found], failed


def _read(
    logs: Sequence[Log], score: str | None, where: Where, fields: Sequence[str]
) -> tuple[list[tuple[Log, _Lines]], list[FailedLog]]:
    """Read all logs together, and one by one if that fails, to see which of them is bad."""
    try:
        return list(zip(logs, _lines(logs, score, where, fields), strict=True)), []
    except DataError as error:
        if len(logs) == 1:
            return [], [FailedLog(logs[0].name, logs[0].model, str(error))]
        if not all(is_path(log.source) for log in logs):
            raise  # a stream cannot be read twice
    parts = [_read([log], score, where, fields) for log in logs]
    return [one for found, _ in parts for one in found], [
        one for _, failed in parts for one in failed
    ]


def _lines(
    logs: Sequence[Log], score: str | None, where: Where, fields: Sequence[str]
) -> list[_Lines]:
    for log in logs:
        _refuse_list(log)
    sources = {str(place): log.source for place, log in enumerate(logs)}
    with opened(sources, ("doc_id",), Dialect(format="jsonl")) as tables:
        return tables.ask(
            lambda found, engine: [
                _lines_of(log, table, engine, score, where, fields)
                for log, table in zip(logs, found.values(), strict=True)
            ]
        )


def _lines_of(
    log: Log,
    table: Table,
    engine: Engine,
    score: str | None,
    where: Where,
    fields: Sequence[str],
) -> _Lines:
    if "doc_id" not in table.names:
        raise DataError(
            f"{log.name}: its lines have no 'doc_id', so it is no log of samples; give the "
            "samples_*.jsonl files that lm_eval writes with --log_samples"
        )
    filters = _filters(table, where, engine)
    scores = _scores(log, table, score, where, engine)
    hashed = ["doc_hash"] if "doc_hash" in table.names else []
    asked = ["doc"] if fields and "doc" in table.names else []
    query = table.select(("doc_id", *hashed, *asked, *scores), where=where)
    rows = engine.fetch(query.sql, query.parameters)
    width = 1 + len(hashed) + len(asked) + len(scores)
    columns = [loaded(list(column)) for column in zip(*rows, strict=True)] or [[]] * width
    return _Lines(
        filters=filters,
        ids=columns[0],
        hashes=columns[1] if hashed else None,
        scores=dict(zip(scores, columns[width - len(scores) :], strict=True)),
        fields={
            name: [field_of(one, name) for one in columns[1 + len(hashed)]] if asked else []
            for name in fields
        },
    )


def _refuse_other_filters(found: Sequence[tuple[Log, _Lines]]) -> None:
    """Refuse logs with lines of several filters, and logs of one task with different ones."""
    known: dict[str, tuple[str, str]] = {}
    every = [lines.filters or ["none"] for _, lines in found]
    for (log, _), names in zip(found, every, strict=True):
        if len(names) > 1:
            # Tasks without this filter would lose all their lines.
            others = {one[0]: None for one in every if names[0] not in one}
            keep = [names[0], *others] if others else names[0]
            raise UsageError(
                f"{log.name} has a line for each of the filters {', '.join(map(repr, names))}; "
                f"name one{' for each task' if others else ''}, "
                f"e.g. {param('where=', {'filter': keep})}"
            )
        first, before = known.setdefault(log.task, (names[0], log.name))
        if first != names[0]:
            raise DataError(
                f"{log.name} has the answers as the filter {names[0]!r} took them, {before} as "
                f"{first!r} did; keep one filter, e.g. with {param('where=', {'filter': first})}"
            )


def _samples(log: Log, lines: _Lines, where: Where) -> Samples:
    ids = lines.ids
    if not ids:
        raise DataError(f"{log.name} has no rows" + (" left after where" if where else ""))
    keys = [as_id(one, column="doc_id", name=log.name) for one in ids]
    if lines.filters is None and len(set(keys)) < len(keys):
        raise DataError(
            f"{log.name} has {len(keys)} lines for {len(set(keys))} items and does not "
            "say of which filter they are, as older versions of lm_eval do not; keep the lines of "
            "one filter, or evaluate with a newer version"
        )
    return Samples(
        model=log.model,
        name=log.name,
        turn=log.turn,
        origin="lm-eval",
        items=[Item(log.task, one) for one in keys],
        epochs=[1] * len(ids),
        versions=lines.hashes or [None] * len(ids),
        scores=lines.scores,
        when=log.when,
        fields={name: values or [None] * len(ids) for name, values in lines.fields.items()},
    )


def _filters(table: Table, where: Where, engine: Engine) -> list[str] | None:
    """Return the filters of the answers, of which newer versions log one line each."""
    if "filter" not in table.names:
        return None
    query = table.select(("filter",), where=where)
    rows = engine.fetch(f"SELECT DISTINCT k0 FROM ({query.sql}) ORDER BY k0", query.parameters)
    return [str(name) for name in loaded([row[0] for row in rows])]


def _scores(
    log: Log, table: Table, score: str | None, where: Where, engine: Engine
) -> tuple[str, ...]:
    """Return the scores to read: the one that was asked for, or all that there are."""
    known = dict.fromkeys(name for name in table.names if name not in _FIELDS)
    if "metrics" in table.names:
        query = table.select(("metrics",), where=where)
        rows = engine.fetch(f"SELECT DISTINCT k0 FROM ({query.sql}) ORDER BY k0", query.parameters)
        listed = [name for (one,) in rows if one is not None for name in json.loads(one)]
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
            raise UsageError("name the model, {'llama': …}, because a stream has no name")
        return [Log(part.model, part.turn, "", part.source, f"the log of {part.model!r}")]
    paths = logs_under(
        part.source,
        lambda path: _NAME.fullmatch(path.name) is not None,
        what="log of samples, samples_<task>_<time>.jsonl,",
    )
    folders = list(dict.fromkeys(os.fspath(path.parent) for path in paths))
    if part.model is not None and len(folders) > 1:
        raise UsageError(
            f"what is given as {part.model!r} lies in several folders, one for each model: "
            f"{', '.join(folders)}; leave the name out and choose with {param('models=')}"
        )
    return [_log(part, path) for path in paths]


def _log(part: Part, path: Path) -> Log:
    """Return a file with what its name and its folder say."""
    if path.name.startswith("results_"):
        raise UsageError(
            f"{os.fspath(path)} holds averages; give the samples_*.jsonl files that lm_eval writes "
            "with --log_samples"
        )
    found = _NAME.fullmatch(path.name)
    folder = path.resolve().parent.name
    own = stem(path) if found is None else folder
    task = "" if found is None else found["task"]
    when = None if found is None else found["when"]
    return Log(part.model or own, part.turn, task, os.fspath(path), os.fspath(path), when)


def _refuse_list(log: Log) -> None:
    """Refuse one list of all samples, which the oldest versions wrote under the same ending."""
    if not is_path(log.source) or not (path := Path(log.source)).is_file():
        return  # whoever opens it says why
    with path.open("rb") as stream:
        if stream.read(64).lstrip()[:1] == b"[":
            raise DataError(
                f"{os.fspath(path)} is one list, as lm_eval before 0.4.3 wrote it; write one "
                f"object a line, e.g. with: jq -c '.[]' {path.name}"
            )


def _of_tasks(logs: Sequence[Log], wanted: object) -> list[Log]:
    names = {str(one) for one in (wanted if isinstance(wanted, SEVERAL) else [wanted])}
    known = dict.fromkeys(log.task for log in logs)
    for name in sorted(names - known.keys()):
        raise UsageError(unknown_name("task", name, known))
    return [log for log in logs if log.task in names]
