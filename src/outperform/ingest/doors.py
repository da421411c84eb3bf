"""The table of sources: a new one is a way to tell it, a way to read it, and one line here."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from outperform.errors import UsageError
from outperform.ingest.databases import Database, count_database, known_database
from outperform.ingest.evaluations import read_evaluations
from outperform.ingest.files.counting import count
from outperform.ingest.files.dialect import Dialect
from outperform.ingest.files.finding import stem
from outperform.ingest.files.joining import Join, join
from outperform.ingest.files.opening import opened
from outperform.ingest.files.scan import listed
from outperform.ingest.frames import Frame, count_frame, known_frame
from outperform.ingest.request import Request, check_columns
from outperform.ingest.shards import holds_outcomes, read_shards
from outperform.outcomes import Outcomes
from outperform.outcomes.sources import row_findings, source_of

_FEW = 4  # files that a source names
_FILES = {"format", "separator", "quote", "header", "encoding", "verify"}
_TABLE = {"truth", "models", "correct", "id", "by", "where", "count", "weight", "groups", "on_null"}


class Door(NamedTuple):
    """One kind of source: how to tell it, how to read it, and what can be asked of it."""

    find: Callable[[Any, Request], Any]  # what is to be read, or None if it is something else
    read: Callable[[Any, Request], Outcomes]
    knows: set[str]
    sentence: str  # for arguments that it does not know

    def refuse_others(self, request: Request) -> None:
        """Refuse arguments that mean nothing here."""
        others = [name for name in request.given("progress") if name not in self.knows]
        if others:
            names = " and ".join(f"{name}=" for name in others)
            raise UsageError(self.sentence.format(names=names))


def read_by_door(source: Any, request: Request) -> Outcomes:
    """Read a source by the first door that knows it."""
    for door in DOORS:
        found = door.find(source, request)
        if found is not None:
            break
    door.refuse_others(request)
    seen = door.read(found, request)
    if seen.sources:  # which outcomes that were counted before know themselves
        return seen
    name = found.name if isinstance(found, (Database, Frame)) else _called(source)
    doubts = row_findings(seen.tables[0], kind=seen.kind) if request.weight is None else ()
    return replace(
        seen,
        sources=(source_of(seen, name),),
        findings=tuple(dict.fromkeys(seen.findings + doubts)),
    )


def _called(source: Any) -> str:
    """Return what to call files: as they were named, of many the first and the last."""
    if isinstance(source, Mapping):
        return _called(list(source.values()))
    if isinstance(source, (list, tuple)):
        names = [_called(one) for one in source]
        shown = names if len(names) <= _FEW else [names[0], "…", names[-1]]
        return ", ".join(shown)
    if isinstance(source, (str, os.PathLike)):
        # A name that is not UTF-8 comes with half characters, which JSON cannot hold.
        name = os.fspath(source).encode("utf-8", "backslashreplace").decode("utf-8")
        return "standard input" if name == "-" else name
    return "a stream"


def columns_of(source: Any, **dialect: Any) -> str | None:
    """Return the names of the columns of files for a message; None for what is read only once.

    Parameters
    ----------
    source
        A path, a folder or a pattern, as for :func:`outperform.read`.
    **dialect
        ``format``, ``separator``, ``quote``, ``header``, ``encoding`` and ``verify``, too.
    """
    if source == "-" or known_database(source, table=None, query=None) is not None:
        return None
    with opened({"": source}, [], Dialect(**dialect)) as tables:
        return listed(tables.tables[""].names)


# Logs of evaluations


def _logs(source: Any, request: Request) -> Any:
    return source if request.is_of_logs else None


def _read_logs(source: Any, request: Request) -> Outcomes:
    return read_evaluations(
        source,
        format=str(request.format),
        score=request.score,
        models=request.models,
        where=request.where,
        on_missing=request.on_missing,
        on_null=request.on_null,
        skip_failed=request.skip_failed,
    )


# Gold and a file per model


def _joined(source: Any, request: Request) -> tuple[Join, Any] | None:
    is_list = isinstance(source, (list, tuple)) and len(source) > 1
    of_files = isinstance(request.correct, str) and is_list
    is_join = request.label is not None or isinstance(source, Mapping) or of_files
    return (request.join(), source) if is_join else None


def _read_join(found: tuple[Join, Any], request: Request) -> Outcomes:
    asked, sources = found[0], _named(found[1], fewest=1 if found[0].correct else 2)
    named = (asked.id, asked.label, asked.truth, asked.groups)
    columns = [name for name in named if name is not None]
    # Which columns tell the separator is not the same for gold and for models.
    with opened(sources, [asked.id], request.dialect(columns), progress=request.progress) as tables:
        return tables.ask(lambda found, engine: join(found, asked, engine))


def _named(source: Any, *, fewest: int) -> Mapping[str, Any]:
    if isinstance(source, Mapping):
        for name in source:
            if not isinstance(name, str):
                raise UsageError(f"names of files must be text; got {name!r}")
        sources: Mapping[str, Any] = source
    elif isinstance(source, (list, tuple)):
        names = [stem(one) for one in source]
        if len(set(names)) != len(names):
            raise UsageError(
                f"files of the same name need names: {{'gold': …, 'bert': …}}; got {names}"
            )
        sources = dict(zip(names, source, strict=True))
    else:
        raise UsageError("label= is for a join: give gold and one file per model")
    if len(sources) < fewest:
        raise UsageError(f"a join needs gold and at least one model; got {list(sources)}")
    return sources


# Outcomes that were counted before


def _shards(source: Any, request: Request) -> Any:
    return source if request.truth is None and holds_outcomes(source) else None


def _read_shards(source: Any, request: Request) -> Outcomes:
    return read_shards(source, request.models)


# One table: of a database, in a frame, in files


def _database(source: Any, request: Request) -> Database | None:
    if request.models is not None:
        check_columns(request.models, "models")
    return known_database(source, table=request.table, query=request.query)


def _read_database(database: Database, request: Request) -> Outcomes:
    return count_database(database, request.of)


def _frame(source: Any, request: Request) -> Frame | None:
    is_path = isinstance(source, (str, os.PathLike, list, tuple))
    return None if is_path else known_frame(source)


def _read_frame(frame: Frame, request: Request) -> Outcomes:
    return count_frame(frame, request.of(frame))


def _files(source: Any, request: Request) -> Any:
    return source


def _read_files(source: Any, request: Request) -> Outcomes:
    named = request.models is not None or request.correct is not None
    dialect = request.dialect(request.wanted if named else None)
    with opened({"": source}, request.wanted, dialect, progress=request.progress) as tables:
        return tables.ask(lambda found, engine: count(found[""], request.of(found[""]), engine))


DOORS = (
    Door(
        _logs,
        _read_logs,
        {"format", "score", "models", "where", "on_missing", "on_null", "skip_failed"},
        "{names} cannot be asked of logs of evaluations, which know their own columns; choose "
        "with score=, models= and where=",
    ),
    Door(
        _joined,
        _read_join,
        {"id", "label", "correct", "truth", "groups", "on_missing", "on_null", *_FILES},
        "{names} can be given for one table; in a join every file is a model",
    ),
    Door(
        _shards,
        _read_shards,
        {"models"},
        "{names} must be asked before outcomes are counted",
    ),
    Door(
        _database,
        _read_database,
        {"table", "query", *_TABLE},
        "{names} are for files and logs, not for a database",
    ),
    Door(
        _frame,
        _read_frame,
        _TABLE,
        "{names} are for files and logs, not for a frame",
    ),
    Door(
        _files,
        _read_files,
        _TABLE | _FILES,
        "{names} is for joins or logs, not for one table; files are joined with id= and label=, "
        "and logs read with format='lm-eval' or format='inspect'",
    ),
)
