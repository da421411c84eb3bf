"""inspect_ai: the tables that ``inspect_ai.analysis.samples_df`` makes, as frames or files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from outperform.errors import DataError, UsageError
from outperform.ingest.evaluations.samples import Item, Samples, as_epoch, as_id, loaded
from outperform.ingest.evaluations.scores import spread
from outperform.ingest.evaluations.sources import Part, is_path
from outperform.ingest.files.dialect import Dialect
from outperform.ingest.files.opening import opened
from outperform.ingest.files.tables import Where
from outperform.ingest.frames import fetch_columns, known_frame

_PREFIX = "score_"
_BESIDE = ("_answer", "_explanation", "_metadata", "_reason")
_HINT = (
    "make the table with inspect_ai.analysis.samples_df(logs, columns=EvalTask + EvalModel + "
    "SampleSummary)"
)


def read_table(part: Part, *, score: str | None, where: Where) -> list[Samples]:
    """Return the samples of each model in a table."""
    frame = None if is_path(part.source) else known_frame(part.source)
    if frame is not None:
        wanted = _wanted(frame.names, score, frame.name)
        columns = fetch_columns(frame, wanted, where=where)
        return _by_model(part, frame.name, dict(zip(wanted, columns, strict=True)))
    with opened({"": part.source}, ("id",), Dialect()) as tables:
        return tables.ask(lambda found, engine: _of_file(part, found[""], engine, score, where))


def _of_file(part: Part, table: Any, engine: Any, score: str | None, where: Where) -> list[Samples]:
    wanted = _wanted(table.names, score, table.name)
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
    )


def _wanted(names: Sequence[str], score: str | None, table: str) -> list[str]:
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
    return ["id", *beside, *known]


def _by_model(part: Part, name: str, columns: dict[str, list[Any]]) -> list[Samples]:
    n_rows = len(columns["id"])
    if not n_rows:
        raise DataError(f"{name} has no rows that were asked for")
    models = [part.model] * n_rows
    if "model" in columns:
        models = [None if one is None else str(one) for one in columns["model"]]
    known = list(dict.fromkeys(models))
    if None in known or "" in known:
        raise UsageError(
            f"{name} does not say of which model the samples are; name it, {{'model': table}}, or "
            f"{_HINT}"
        )
    return [
        _samples(part, name, str(model), columns, [k for k in range(n_rows) if models[k] == model])
        for model in known
    ]


def _samples(
    part: Part, name: str, model: str, columns: dict[str, list[Any]], rows: list[int]
) -> Samples:
    def column(which: str, default: Any) -> list[Any]:
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
        documents=column("input", None),
        scores=spread(
            {
                one.removeprefix(_PREFIX): [_value(values[k]) for k in rows]
                for one, values in columns.items()
                if one.startswith(_PREFIX)
            }
        ),
    )


def _value(value: Any) -> Any:
    """Return a score; a dictionary stands in a table as the text of its JSON."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        with suppress(ValueError):
            return json.loads(value)
    return value
