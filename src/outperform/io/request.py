"""The request of ``read``, and its reader: the first of ``SOURCE_TYPES`` that matches."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, get_args

from outperform.data.missing import MissingTexts
from outperform.data.outcomes import Outcomes
from outperform.data.views import with_source
from outperform.errors import OutperformError, UsageError, either, param, unknown_name
from outperform.io.addresses import STORES, Option, Storage, display_name
from outperform.io.catalogue import LOGS, SOURCES
from outperform.io.columnar import listed
from outperform.io.compression import PACKINGS
from outperform.io.count import count
from outperform.io.counted_files import holds_outcomes, read_shards
from outperform.io.databases import SCHEMES, Database, count_database, known_database
from outperform.io.databases import SUFFIXES as DATABASE_SUFFIXES
from outperform.io.formats import FORMATS, OPTIONS, Dialect, DialectOptions, check_options
from outperform.io.frames import Frame, count_frame, known_frame
from outperform.io.group_by import OnNull, TableQuery, name_models
from outperform.io.join import GOLD, Join, OnMissing, join
from outperform.io.logs.read import read_evaluations, recognized
from outperform.io.logs.samples import LONG
from outperform.io.paths import SUFFIXES, stem
from outperform.io.periods import Window
from outperform.io.sources import scheme_of
from outperform.io.tables import Table, Where, check_columns, check_where, opened

Models = Sequence[str] | Mapping[str, str] | None
Correct = str | Models


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Arguments of ``read`` other than the source."""

    truth: str | None = None
    models: Models = None
    correct: Correct = None
    id: str | None = None
    model: str | None = None
    label: str | None = None
    score: str | Mapping[str, str] | None = None
    by: str | Sequence[str] | None = None
    where: Where = None
    count: str | None = None
    weight: str | None = None
    groups: str | None = None
    table: str | None = None
    query: str | None = None
    on_missing: OnMissing = "raise"
    on_null: OnNull = "raise"
    skip_failed: bool = False
    latest: bool = False
    last: str | None = None
    since: str | date | None = None
    format: str | None = None
    separator: str | None = None
    quote: str | None = '"'
    header: bool = True
    encoding: str = "utf-8"
    storage_options: Storage | None = None
    na_values: Sequence[str] | None = None
    empty_is_label: bool = False

    def __post_init__(self) -> None:
        MissingTexts.from_param(self.na_values, self.empty_is_label)
        check_format(self.format)
        _check_choice("on_missing", self.on_missing, get_args(OnMissing))
        _check_choice("on_null", self.on_null, get_args(OnNull))
        check_where(self.where)
        self._check_correct()
        self._check_groups()
        if self.weight is not None and self.weight == self.count:
            raise UsageError(
                f"{self.weight!r} is passed as both {param('count=')}, the number of items per "
                f"row, and {param('weight=')}, the weight of an item; pass only one of them"
            )
        Window(last=self.last, since=self.since)
        self.dialect()

    @property
    def window(self) -> Window | None:
        """Days to read; None for all."""
        window = Window(last=self.last, since=self.since)
        return None if window == Window() else window

    def _check_correct(self) -> None:
        if self.correct is None:
            return
        if not isinstance(self.correct, str):
            check_columns(self.correct, "correct")
        others = [name for name in ("truth", "models", "label") if getattr(self, name) is not None]
        if others:
            names = " and ".join(param(f"{name}=") for name in others)
            raise UsageError(
                f"{param('correct=')} selects right/wrong columns, which need no truth or "
                f"predictions; omit {names}"
            )

    def _check_groups(self) -> None:
        if self.groups is None:
            return
        if not isinstance(self.groups, str):
            raise UsageError(
                f"{param('groups')} must be a column name, e.g. {param('groups=', 'user_id')}; got "
                f"{self.groups!r}"
            )
        named = (self.truth, self.label, self.count, self.weight, *self.columns_by_model.values())
        if self.groups in named:
            raise UsageError(
                f"every column has one role; {param('groups=', self.groups)} already has another"
            )

    @property
    def missing(self) -> MissingTexts:
        """Texts that mean a missing value."""
        return MissingTexts.from_param(self.na_values, self.empty_is_label)

    @property
    def is_of_logs(self) -> bool:
        """Whether ``format`` is a format of evaluation logs."""
        return self.format is not None and self.format not in FORMATS

    def arguments(self, *without: str) -> dict[str, Any]:
        """Return the arguments that differ from their defaults, by name."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in without and getattr(self, field.name) != field.default
        }

    def dialect(self, columns: Sequence[str] | None = None) -> Dialect:
        """Return the dialect in which to read files, with the columns to read."""
        return Dialect(
            format=None if self.is_of_logs else self.format,
            separator=self.separator,
            quote=self.quote,
            header=self.header,
            encoding=self.encoding,
            columns=None if columns is None else tuple(columns),
            storage=self.storage_options,
            missing=self.missing,
        )

    @property
    def slice_names(self) -> tuple[str, ...]:
        """Columns that define slices."""
        names = (self.by,) if isinstance(self.by, str) else self.by
        if names is None:
            return ()
        if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
            raise UsageError(
                f"{param('by')} must be column names, e.g. {param('by=', ['country'])}; got "
                f"{self.by!r}"
            )
        if not names or len(set(names)) != len(names):
            raise UsageError(f"{param('by')} must contain each column once; got {self.by!r}")
        return tuple(names)

    @property
    def columns_by_model(self) -> dict[str, str]:
        """Requested columns by model, of predictions or of right and wrong."""
        named = self.models if self.correct is None else self.correct
        if isinstance(named, Mapping):
            return dict(named)
        return {name: name for name in ([named] if isinstance(named, str) else named or ())}

    def _refuse_long(self, table: Table | Frame) -> None:
        """Raise an error if rows of several models would be read as rows of one model."""
        layout = LongLayout.of(table.names)
        if layout is None:
            return
        columns, model = list(self.columns_by_model.values()), layout.model
        is_pooled = self.correct is not None and len(columns) == 1 and model not in self.wanted
        of_scores = self.truth is not None and self.truth.lower() in _SCORE_COLUMNS
        if is_pooled or (of_scores and (not columns or {*columns} - {*table.names})):
            selected = either(f"where={{{model!r}: 'bert'}}", f"--where {model}=bert")
            raise UsageError(
                f"{table.name} {layout.advice}. To read the rows of one model: {selected}"
            )

    @property
    def wanted(self) -> list[str]:
        """Requested columns of one table."""
        models = self.columns_by_model.values()
        others = (self.truth, *models, self.id, self.count, self.weight, self.groups)
        named = [name for name in others if name is not None]
        return [*named, *self.slice_names, *(self.where or ())]

    def of(self, table: Table | Frame) -> TableQuery:
        """Return the roles of the columns of one table."""
        if self.correct is None:
            check_names(self.models, self.truth, table)
        self._refuse_long(table)
        for name in self.wanted:
            table.column(name)
        models = self.columns_by_model
        named = self.models is not None or self.correct is not None
        if not named:
            wanted = {*self.wanted}
            models = {name: name for name in table.names if name not in wanted}
            unsuitable = [name for name in models if table.column(name).family == "other"]
            if unsuitable:
                reason = f"{unsuitable[0]!r} has type {table.column(unsuitable[0]).type}"
                remaining = [name for name in models if name not in unsuitable]
                raise UsageError(name_models(table.name, reason, remaining))
        if not models:
            raise UsageError(f"{table.name} has no prediction columns besides {self.wanted}")
        return TableQuery(
            truth=self.truth,
            models=models,
            named=named,
            id=self.id,
            by=self.slice_names,
            where=self.where,
            count=self.count,
            weight=self.weight,
            groups=self.groups,
            on_null=self.on_null,
            missing=self.missing,
            text_file=isinstance(table, Table) and any(scan.is_text for scan in table.scans),
        )

    def join(self) -> Join:
        """Return the options for joining files."""
        label = self.label if self.correct is None else self.correct
        if self.id is None or label is None:
            raise UsageError(
                "files of several models are joined on an id: pass the columns as "
                f"{param('id=')} and {param('label=')}, or as {param('id=')} and "
                f"{param('correct=')} if they record right or wrong"
            )
        if not isinstance(label, str):
            raise UsageError(
                "files in a join must share one right/wrong column, e.g. "
                f"{param('correct=', 'correct')}; got {self.correct!r}"
            )
        return Join(
            id=self.id,
            label=label,
            truth=self.truth,
            correct=self.correct is not None,
            groups=self.groups,
            on_missing=self.on_missing,
            on_null=self.on_null,
            missing=self.missing,
        )


def check_names(models: Any, truth: str | None, table: Table | Frame) -> None:
    """Raise an error if the truth is missing, or if column names are invalid or repeated."""
    if truth is None:
        raise UsageError(_no_truth(table))
    if models is None:
        return
    check_columns(models, "models")
    columns = list(models.values() if isinstance(models, Mapping) else models)
    if truth in columns:
        models = ", ".join(map(repr, columns))
        raise UsageError(f"every column has one role; got the truth {truth!r} and models {models}")


def _no_truth(table: Table | Frame) -> str:
    """Return the message for a missing truth, with the columns of the table."""
    names = list(table.names)
    layout = LongLayout.of(names)
    if layout is not None:
        return f"{table.name} {layout.advice}. Columns: {listed(names)}"
    guess = true_column(names) or "label"
    known = probable_roles(names)
    if {*known} == {"id", "correct"}:
        id, right = known["id"], known["correct"]
        return (
            f"{table.name} has no true labels and only one column of right or wrong, {right!r}. "
            + either(
                "With one file per model, type op.read({'bert': 'bert.jsonl', 'gpt': 'gpt.jsonl'}, "
                f"id={id!r}, correct={right!r})",
                "With one file per model, list the files and pass both columns, e.g. outperform "
                f"rank bert.jsonl gpt.jsonl --id {id} --correct {right}",
            )
            + f". Columns: {listed(names)}"
        )
    own = known.get("label", guess)
    files = (
        f". With one file per model, pass {param('id=', known['id'])}, {param('label=', own)} and "
        f"{param('truth=', guess)}"
        if "id" in known and own != guess
        else ""
    )
    return (
        f"pass the column of the true labels, e.g. {param('truth=', guess)}; if the models' "
        f"columns record right or wrong, pass them as {param('correct=')} instead{files}. Columns "
        f"of {table.name}: {listed(names)}"
    )


def true_column(names: Sequence[str]) -> str | None:
    """Return the column that probably has the true labels, by its name; None if there is none.

    Examples
    --------
    >>> true_column(["id", "Gold_Label", "bert"]), true_column(["bert", "gpt"])
    ('Gold_Label', None)
    """
    by_lower = {name.lower().replace("-", "_").replace(" ", "_"): name for name in names}
    return next((by_lower[name] for name in _TRUE_COLUMNS if name in by_lower), None)


def probable_roles(names: Sequence[str]) -> dict[str, str]:
    """Return the columns that probably are the id, a prediction, and right or wrong, by role."""
    by_lower = {name.lower(): name for name in names}
    roles = {"id": _ITEM_COLUMNS, "label": _LABEL_COLUMNS, "correct": _SCORE_COLUMNS}
    columns = {
        role: next((by_lower[name] for name in known if name in by_lower), "")
        for role, known in roles.items()
    }
    return {role: name for role, name in columns.items() if name}


def probable_columns(source: str) -> dict[str, str]:
    """Return the columns of a file that probably have these roles: id, label, correct."""
    try:
        return probable_roles(column_names(source) or ())
    except (OutperformError, OSError):
        return {}


# Usual names of true labels, the most usual first.
_TRUE_COLUMNS = (
    *("label", *GOLD, "gold_label", "true_label", "true", "target", "y", "expected", "actual"),
    *("answer", "class", "category"),
)
# Usual column names of a table with one row per item and model, the most usual first.
_MODEL_COLUMNS = ("model", "model_name", "model_id", "system", "candidate", "variant")
_SCORE_COLUMNS = (
    *("correct", "is_correct", "score", "grade", "rating", "passed", "pass", "success", "right"),
    *("acc", "exact_match", "outcome", "result", "verdict"),
)
_LABEL_COLUMNS = ("prediction", "predicted", "pred", "y_pred", "predicted_label", "label")
_ITEM_COLUMNS = (
    *("id", "item_id", "item", "question_id", "question", "doc_id", "sample_id", "sample"),
    *("example_id", "example", "prompt_id", "prompt", "case_id", "case", "test_case", "instance"),
)


class LongLayout(NamedTuple):
    """Columns of a table that seems to have one row per item and model."""

    id: str
    model: str
    score: str

    @classmethod
    def of(cls, names: Sequence[str]) -> LongLayout | None:
        """Return the columns if their names are usual for such a table, else None.

        Examples
        --------
        >>> LongLayout.of(["model", "question", "correct"]).arguments
        "format='long', id='question', model='model', score='correct'"
        >>> LongLayout.of(["label", "bert", "gpt"])
        """
        by_name = {name.lower(): name for name in names}
        model, score, item = (
            next((by_name[name] for name in usual if name in by_name), None)
            for usual in (_MODEL_COLUMNS, _SCORE_COLUMNS, _ITEM_COLUMNS)
        )
        if model is None or score is None:
            return None
        return cls(id=item or "the item's id", model=model, score=score)

    @property
    def arguments(self) -> str:
        """Arguments that read the table, as typed."""
        columns = (param(f"{name}=", column) for name, column in self._asdict().items())
        return either(", ", " ").join([param("format=", LONG), *columns])

    @property
    def advice(self) -> str:
        """End of a message about the table."""
        return f"seems to have one row per item and model: pass {self.arguments}"


def check_format(name: str | None) -> None:
    """Raise an error for an unknown format, including plug-in formats in the check."""
    if name is not None and name not in FORMATS and name not in LOGS:
        raise UsageError(unknown_name("format", name, (*FORMATS, *LOGS.names())))


def _check_choice(parameter: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        raise UsageError(unknown_name(parameter, value, known))


_FILES = {"format", "separator", "quote", "header", "encoding", "storage_options"}
_NULLS = {"on_null", "na_values", "empty_is_label"}
_TABLE = {"truth", "models", "correct", "id", "by", "where", "count", "weight", "groups", *_NULLS}


class SourceType(NamedTuple):
    """Source type: how to recognize it, how to read it, and its arguments."""

    find: Callable[[Any, Request], Any]  # returns the object to read, or None
    read: Callable[[Any, Request], Outcomes]
    knows: set[str]
    refusal: Callable[[str], str]  # returns the message for unknown arguments

    def refuse_others(self, request: Request) -> None:
        """Raise an error for arguments that do not apply to this kind of source."""
        others = [name for name in request.arguments() if name not in self.knows]
        if others:
            spelled = dict.fromkeys("dialect" if name in OPTIONS else name for name in others)
            names = " and ".join(param(f"{name}=") for name in spelled)
            raise UsageError(self.refusal(names))


# Known without plug-ins: frame libraries, Python's own types, addresses, file endings.
_LIBRARIES = {
    *("builtins", "io", "_io", "gzip", "pandas", "polars", "pyarrow", "duckdb", "narwhals"),
    *("modin", "cudf", "dask", "ibis", "pyspark", "sqlframe"),
}
_SCHEMES = {*STORES, *SCHEMES}
_SUFFIXES = {"", *SUFFIXES, *PACKINGS, *DATABASE_SUFFIXES}


def open_source(source: Any) -> Any:
    """Open a source with the catalogue; return it unchanged if the catalogue has no opener.

    Plug-ins are tried only if no built-in reader supports the source.
    """
    if type(source) in (list, tuple):
        return type(source)(_open(part) if _is_path(part) else part for part in source)
    if type(source) is dict:
        return {name: _open(part) if _is_path(part) else part for name, part in source.items()}
    return _open(source)


def _is_path(source: object) -> bool:
    return isinstance(source, (str, os.PathLike)) and source != "-"


def _open(source: Any) -> Any:
    for name in SOURCES.built_in:
        if SOURCES.get(name).knows(source):
            return SOURCES.get(name).open_checked(source)
    if _is_path(source):
        scheme = scheme_of(source)
        known = (
            Path(source).suffix.lower() in _SUFFIXES
            if scheme is None
            else scheme.partition("+")[0] in _SCHEMES
        )
    else:
        known = hasattr(source, "read") or (type(source).__module__.partition(".")[0] in _LIBRARIES)
    for added in () if known else SOURCES.added():
        if added.knows(source):
            return added.open_checked(source)
    return source


def read_source(argument: object, request: Request) -> Outcomes:
    """Read a source with the first matching source type."""
    source = open_source(argument)
    for source_type in SOURCE_TYPES:
        content = source_type.find(source, request)
        if content is not None:
            break
    if isinstance(content, Frame) and _is_path(argument):
        content = replace(content, name=display_name(argument))
    source_type.refuse_others(request)
    outcomes = source_type.read(content, request)
    if outcomes.sources:  # previously counted outcomes already have sources
        return outcomes
    name = content.name if isinstance(content, (Database, Frame)) else display_name(source)
    return with_source(outcomes, name, weighted=request.weight is not None)


def column_names(
    source: object,
    *,
    format: str | None = None,
    dialect: DialectOptions | None = None,
    storage_options: Mapping[str, Option] | None = None,
) -> tuple[str, ...] | None:
    """Return the column names of files, or None if a source can be read only once.

    Parameters
    ----------
    source
        Path, folder or pattern, as in :func:`outperform.read`.
    format, dialect, storage_options
        As in :func:`outperform.read`.
    """
    source = open_source(source)
    frame = _frame(source, Request())
    if frame is not None:
        return tuple(frame.names)
    if source == "-" or known_database(source, table=None, query=None) is not None:
        return None
    storage = Storage.of(storage_options)
    file_dialect = Dialect(format=format, storage=storage, **check_options(dialect))
    with opened({"": source}, [], file_dialect) as tables:
        return tuple(tables.tables[""].names)


# Evaluation logs


def _logs(source: object, request: Request) -> Any:
    logs_format = request.is_of_logs or (request.format is None and recognized(source))
    return source if logs_format else None


def _read_logs(source: object, request: Request) -> Outcomes:
    long = {"id": request.id, "model": request.model, "dialect": request.dialect()}
    return read_evaluations(
        source,
        format=request.format,
        by=request.slice_names,
        groups=request.groups,
        score=request.score,
        models=request.models,
        where=request.where,
        on_missing=request.on_missing,
        on_null=request.on_null,
        skip_failed=request.skip_failed,
        latest=request.latest,
        **(long if request.format == LONG else {}),
    )


# A gold file and one file per model


def _joined(source: object, request: Request) -> tuple[Join, Any] | None:
    is_list = isinstance(source, (list, tuple)) and len(source) > 1
    of_files = isinstance(request.correct, str) and is_list
    is_join = request.label is not None or isinstance(source, Mapping) or of_files
    return (request.join(), source) if is_join else None


def _read_join(source: tuple[Join, object], request: Request) -> Outcomes:
    question, files = source
    sources = _named(files, fewest=1 if question.correct else 2)
    named = (question.id, question.label, question.truth, question.groups)
    columns = [name for name in named if name is not None]
    # Only the id is in all files, so the separator can be detected only from the id.
    with opened(sources, [question.id], request.dialect(columns)) as tables:
        return tables.ask(lambda tables_by_name, engine: join(tables_by_name, question, engine))


def _named(source: object, *, fewest: int) -> Mapping[str, Any]:
    if isinstance(source, Mapping):
        for name in source:
            if not isinstance(name, str):
                raise UsageError(f"file names must be text; got {name!r}")
        sources: Mapping[str, Any] = source
    elif isinstance(source, (list, tuple)):
        names = [stem(file) for file in source]
        if len(set(names)) != len(names):
            raise UsageError(
                f"file names must be unique, or passed as {{'gold': …, 'bert': …}}; got {names}"
            )
        sources = dict(zip(names, source, strict=True))
    else:
        raise UsageError(
            f"{param('label=')} is for a join: pass a gold file and one file per model"
        )
    if len(sources) < fewest:
        raise UsageError(f"a join needs a gold file and at least one model; got {list(sources)}")
    return sources


# Counted outcomes


def _shards(source: object, request: Request) -> Any:
    counted = request.truth is None and holds_outcomes(source, request.storage_options)
    return source if counted else None


# One table: in a database, a frame or files


def _database(source: object, request: Request) -> Database | None:
    if request.models is not None:
        check_columns(request.models, "models")
    return known_database(source, table=request.table, query=request.query)


def _frame(source: object, request: Request) -> Frame | None:
    is_path = isinstance(source, (str, os.PathLike, list, tuple))
    return None if is_path else known_frame(source)


def _read_files(source: object, request: Request) -> Outcomes:
    named = request.models is not None or request.correct is not None
    dialect = request.dialect(request.wanted if named else None)
    with opened({"": source}, request.wanted, dialect) as tables:
        return tables.ask(
            lambda by_name, engine: count(by_name[""], request.of(by_name[""]), engine)
        )


def _as_long(names: str) -> str:
    """Return the message for a model column without ``format="long"``; otherwise empty text."""
    if param("model=") not in names and param("score=") not in names:
        return ""
    return (
        f"{names} can be used with a table with one row per item and model; if this is one, pass "
        f"{param('format=', 'long')}"
    )


_OF_LOGS = {"score", "models", "where", "by", "groups", "on_missing", "on_null"}
SOURCE_TYPES = (
    SourceType(
        lambda source, request: source if request.format == LONG else None,
        _read_logs,
        {"id", "model", *_OF_LOGS, *_FILES, *_NULLS},
        lambda names: (
            f"{names} cannot be used with a table with one row per item and model, which records "
            f"right or wrong; pass its columns as {param('id=')}, {param('model=')} and "
            f"{param('score=')}"
        ),
    ),
    SourceType(
        _logs,
        _read_logs,
        {"format", "skip_failed", "latest", *_OF_LOGS},
        lambda names: (
            f"{names} cannot be used with evaluation logs, whose columns are fixed; use "
            f"{param('score=')}, {param('models=')} and {param('where=')}"
        ),
    ),
    SourceType(
        _joined,
        _read_join,
        {"id", "label", "correct", "truth", "groups", "on_missing", *_NULLS, *_FILES},
        lambda names: f"{names} can be used with one table; in a join every file is a model",
    ),
    SourceType(
        _shards,
        lambda source, request: read_shards(
            source,
            request.models,
            request.storage_options,
            by=request.slice_names,
            window=request.window,
        ),
        {"models", "storage_options", "by", "last", "since"},
        lambda names: f"{names} cannot be used with counted outcomes, only when they are counted",
    ),
    SourceType(
        _database,
        lambda database, request: count_database(database, request.of),
        {"table", "query", *_TABLE},
        lambda names: f"{names} can be used with files and logs, not with a database",
    ),
    SourceType(
        _frame,
        lambda frame, request: count_frame(frame, request.of(frame)),
        _TABLE,
        lambda names: (
            _as_long(names) or f"{names} can be used with files and logs, not with a frame"
        ),
    ),
    SourceType(
        lambda source, request: source,
        _read_files,
        _TABLE | _FILES,
        lambda names: (
            _as_long(names)
            or f"{names} can be used with joins or logs, not with one table; join files with "
            f"{param('id=')} and {param('label=')}, or read logs with {param('format=')}"
        ),
    ),
)
