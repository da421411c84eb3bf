"""lm-evaluation-harness: the JSON Lines that ``--log_samples`` writes, one file a task."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from outperform.errors import DataError, UsageError, unknown_name
from outperform.ingest.evaluations.samples import Item, Samples, as_id, loaded
from outperform.ingest.evaluations.sources import Part, is_path, logs_under
from outperform.ingest.files.dialect import Dialect
from outperform.ingest.files.engine import Engine
from outperform.ingest.files.finding import stem
from outperform.ingest.files.opening import opened
from outperform.ingest.files.tables import SEVERAL, Table, Where

_NAME = re.compile(
    r"samples_(?P<task>.+?)(?:_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)?\.jsonl(?:\.gz|\.zst)?"
)
# What every line has beside its scores; older versions have no list of these.
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


def read_lm_eval(parts: Sequence[Part], *, score: str | None, where: Where) -> list[Samples]:
    """Read doc_id, doc_hash and scores; documents and answers stay in the files."""
    given = dict(where or {})
    logs = [log for part in parts for log in _logs(part)]
    if "task" in given:
        logs = _of_tasks(logs, given.pop("task"))
    sources = {str(place): log.source for place, log in enumerate(logs)}
    with opened(sources, ("doc_id",), Dialect(format="jsonl")) as tables:
        return tables.ask(lambda found, engine: _read(logs, found, engine, score, given or None))


def _read(
    logs: Sequence[Log],
    tables: Mapping[str, Table],
    engine: Engine,
    score: str | None,
    where: Where,
) -> list[Samples]:
    filters: dict[str, tuple[str, str]] = {}
    found = []
    for log, table in zip(logs, tables.values(), strict=True):
        if "doc_id" not in table.names:
            raise DataError(
                f"{log.name}: its lines have no 'doc_id', so it is no log of samples; give the "
                "samples_*.jsonl files that lm_eval writes with --log_samples"
            )
        name = _filter(log, table, where, engine)
        first, before = filters.setdefault(log.task, (name, log.name))
        if first != name:
            raise DataError(
                f"{log.name} has the answers as the filter {name!r} took them, {before} as "
                f"{first!r} did; keep one filter with where={{'filter': …}}"
            )
        found.append(_samples(log, table, _scores(log, table, score, where, engine), where, engine))
    return found


def _samples(
    log: Log, table: Table, scores: Sequence[str], where: Where, engine: Engine
) -> Samples:
    hashed = ["doc_hash"] if "doc_hash" in table.names else []
    query = table.select(("doc_id", *hashed, *scores), where=where)
    rows = engine.fetch(query.sql, query.parameters)
    if not rows:
        raise DataError(f"{log.name} has no rows" + (" left after where" if where else ""))
    ids, *columns = (loaded(list(column)) for column in zip(*rows, strict=True))
    if "filter" not in table.names and len(set(map(str, ids))) < len(ids):
        raise DataError(
            f"{log.name} has {len(ids)} lines for {len(set(map(str, ids)))} documents and does not "
            "say of which filter they are, as older versions of lm_eval do not; keep the lines of "
            "one filter, or evaluate with a newer version"
        )
    documents = columns.pop(0) if hashed else [None] * len(ids)
    return Samples(
        model=log.model,
        name=log.name,
        turn=log.turn,
        origin="lm-eval",
        items=[Item(log.task, as_id(one, column="doc_id", name=log.name)) for one in ids],
        epochs=[1] * len(ids),
        documents=documents,
        scores=dict(zip(scores, columns, strict=True)),
    )


def _filter(log: Log, table: Table, where: Where, engine: Engine) -> str:
    """Return the filter of the answers, of which newer versions log one line each."""
    if "filter" not in table.names:
        return "none"
    query = table.select(("filter",), where=where)
    rows = engine.fetch(f"SELECT DISTINCT k0 FROM ({query.sql}) ORDER BY k0", query.parameters)
    names = [str(name) for name in loaded([row[0] for row in rows])]
    if len(names) > 1:
        raise UsageError(
            f"{log.name} has a line for each of the filters {', '.join(map(repr, names))}; name "
            f"one, e.g. where={{'filter': {names[0]!r}}}"
        )
    return names[0] if names else "none"


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
            f"{', '.join(folders)}; leave the name out and choose with models="
        )
    return [_log(part, path) for path in paths]


def _log(part: Part, path: Path) -> Log:
    """Return a file with what its name and its folder say."""
    if path.name.startswith("results_"):
        raise UsageError(
            f"{os.fspath(path)} holds averages; give the samples_*.jsonl files that lm_eval writes "
            "with --log_samples"
        )
    _refuse_list(path)
    found = _NAME.fullmatch(path.name)
    folder = path.resolve().parent.name
    own = stem(path) if found is None else folder
    task = "" if found is None else found["task"]
    return Log(part.model or own, part.turn, task, os.fspath(path), os.fspath(path))


def _refuse_list(path: Path) -> None:
    """Refuse one list of all samples, which the oldest versions wrote under the same ending."""
    if not path.is_file():
        return  # whoever opens it says why
    with path.open("rb") as stream:
        if stream.read(64).lstrip()[:1] == b"[":
            raise DataError(
                f"{os.fspath(path)} is one list, as lm_eval before 0.4.3 wrote it; write one "
                f"object a line, e.g. with: jq -c '.[]' {path.name}"
            )


def _of_tasks(logs: Sequence[Log], wanted: Any) -> list[Log]:
    names = {str(one) for one in (wanted if isinstance(wanted, SEVERAL) else [wanted])}
    known = dict.fromkeys(log.task for log in logs)
    for name in sorted(names - known.keys()):
        raise UsageError(unknown_name("task", name, known))
    return [log for log in logs if log.task in names]
