"""``read``: from files, frames and databases to outcomes, counted where the rows are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from outperform.errors import UsageError, unknown_name
from outperform.ingest.cells import OnNull
from outperform.ingest.counting import Asked, count
from outperform.ingest.databases import Database, count_database, known_database
from outperform.ingest.dialect import Dialect
from outperform.ingest.files import stem
from outperform.ingest.frames import Frame, count_frame, known_frame
from outperform.ingest.joining import Join, OnMissing, join
from outperform.ingest.opening import opened
from outperform.ingest.tables import Table, check_where
from outperform.outcomes import Outcomes


def read(
    source: Any,
    *,
    truth: str | None = None,
    models: Sequence[str] | Mapping[str, str] | None = None,
    id: str | None = None,
    label: str | None = None,
    where: Mapping[str, Any] | None = None,
    weight: str | None = None,
    table: str | None = None,
    query: str | None = None,
    on_missing: OnMissing = "refuse",
    on_null: OnNull = "refuse",
    format: str | None = None,
    separator: str | None = None,
    quote: str | None = '"',
    header: bool = True,
    encoding: str = "utf-8",
) -> Outcomes:
    r"""Count predictions in files, frames or databases; the rows themselves are never loaded.

    The files are CSV, TSV, JSON Lines or Parquet, perhaps packed as ``.gz`` or ``.zst``; frames
    are those of pandas, polars, pyarrow, DuckDB and whatever else narwhals knows, eager or lazy.
    Either one table has the truth and a column per model, or there is a file of gold labels and
    one for each model, which are joined on an id. In CSV and TSV every value is text, so that
    ``01``, ``1``, ``NA`` and the empty text are four classes; everywhere else values keep their
    types.

    Parameters
    ----------
    source
        A path, a pattern such as ``"preds-*.parquet"``, ``"-"`` for standard input, an open
        file, or a list of these with the same columns. For a join, a mapping of names to files
        or a list of paths, gold first. Or a frame, or a database: the file of SQLite or DuckDB,
        or an address such as ``"postgresql://user@host/name"``.
    truth
        The column of the true labels.
    models
        The columns of the predictions, or columns by name of the model; by default all others.
    id
        The column that names the documents: needed for a join; in one table, no id may repeat.
    label
        The column of the labels in every file of a join. With ``truth`` as well, files that
        have both columns must agree on the truth, and the first may be a model too.
    where
        The rows to keep: a value, or a list of them, for each column.
    weight
        The column that says how many documents a row stands for; one each by default.
    table
        The table of a database, perhaps with its schema.
    query
        A SELECT of a database, instead of a table.
    on_missing
        What to do with ids that not all files have: ``"refuse"``, or ``"drop"`` with a finding.
    on_null
        What to do with rows that have no label: ``"refuse"``, or ``"drop"`` with a finding.
    format
        ``"csv"``, ``"tsv"``, ``"jsonl"`` or ``"parquet"``, if the name does not say it.
    separator
        What stands between the columns of a CSV file; found out by default.
    quote
        What stands around values with separators in them; None if quotes are ordinary.
    header
        Whether the first row names the columns; if not they are ``"0"``, ``"1"``, …
    encoding
        How text files are encoded.

    Examples
    --------
    >>> import io
    >>> import outperform as op
    >>> file = io.StringIO("label,old,new\nspam,ham,spam\nham,ham,ham\nspam,spam,spam\n")
    >>> op.read(file, truth="label", models=["old", "new"])
    Outcomes(n=3, models=('old', 'new'), labels=('ham', 'spam'), paired=True, cells=3)
    """
    dialect = Dialect(
        format=format, separator=separator, quote=quote, header=header, encoding=encoding
    )
    _check_choice("on_missing", on_missing, get_args(OnMissing))
    _check_choice("on_null", on_null, get_args(OnNull))
    check_where(where)
    if label is not None or isinstance(source, Mapping):
        _refuse_table_arguments(
            id=id, label=label, models=models, where=where, weight=weight, table=table, query=query
        )
        asked = Join(
            id=str(id), label=str(label), truth=truth, on_missing=on_missing, on_null=on_null
        )
        return _read_join(_named(source), dialect, asked)
    if truth is None:
        raise UsageError("name the column of the true labels, e.g. truth='label'")
    _check_names(models, truth)
    request = _Request(
        truth=truth, models=models, id=id, where=where, weight=weight, on_null=on_null
    )
    database = known_database(source, table=table, query=query)
    if database is not None:
        return _read_database(database, dialect, request)
    frame = None if isinstance(source, (str, os.PathLike, list, tuple)) else known_frame(source)
    if frame is not None:
        return _read_frame(frame, dialect, request)
    return _read_table(source, dialect, request)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What was asked of one table before its columns are known."""

    truth: str
    models: Sequence[str] | Mapping[str, str] | None
    id: str | None
    where: Mapping[str, Any] | None
    weight: str | None
    on_null: OnNull

    @property
    def wanted(self) -> list[str]:
        """The columns that were named."""
        models = self.models.values() if isinstance(self.models, Mapping) else self.models or ()
        others = (name for name in (self.id, self.weight) if name is not None)
        return [self.truth, *models, *others, *(self.where or ())]

    def of(self, table: Table | Frame) -> Asked:
        """Return the columns of a table that were asked for."""
        for name in self.wanted:
            table.column(name)
        if isinstance(self.models, Mapping):
            models = dict(self.models)
        else:
            rest = [name for name in table.names if name not in self.wanted]
            models = {name: name for name in (rest if self.models is None else self.models)}
        if not models:
            raise UsageError(f"{table.name} has no column of predictions beside {self.wanted}")
        return Asked(
            truth=self.truth,
            models=models,
            id=self.id,
            where=self.where,
            weight=self.weight,
            on_null=self.on_null,
        )


def _read_frame(frame: Frame, dialect: Dialect, request: _Request) -> Outcomes:
    _refuse_dialect(dialect)
    return count_frame(frame, request.of(frame))


def _read_database(database: Database, dialect: Dialect, request: _Request) -> Outcomes:
    _refuse_dialect(dialect)
    return count_database(database, request.of)


def _read_table(source: Any, dialect: Dialect, request: _Request) -> Outcomes:
    with opened({"": source}, request.wanted, dialect) as tables:
        return tables.ask(lambda found, engine: count(found[""], request.of(found[""]), engine))


def _refuse_dialect(dialect: Dialect) -> None:
    if dialect != Dialect():
        raise UsageError("format, separator, quote, header and encoding are for files")


def _read_join(sources: Mapping[str, Any], dialect: Dialect, asked: Join) -> Outcomes:
    # Which columns tell the separator is not the same for gold and for models.
    with opened(sources, [asked.id], dialect) as tables:
        return tables.ask(lambda found, engine: join(found, asked, engine))


def _named(source: Any) -> Mapping[str, Any]:
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
    if len(sources) < 2:
        raise UsageError(f"a join needs gold and at least one model; got {list(sources)}")
    return sources


def _refuse_table_arguments(*, id: Any, label: Any, **others: Any) -> None:
    if id is None or label is None:
        raise UsageError(
            "files of several models are joined on an id: name the columns with id= and label="
        )
    given = [f"{name}=" for name, value in others.items() if value is not None]
    if given:
        raise UsageError(
            f"{' and '.join(given)} can be given for one table; in a join every file is a model"
        )


def _check_names(models: Any, truth: str) -> None:
    if models is None:
        return
    if isinstance(models, (str, bytes)) or not isinstance(models, (Mapping, Sequence)):
        raise UsageError(f"models must be a list of columns, e.g. ['bert', 'gpt']; got {models!r}")
    columns = list(models.values() if isinstance(models, Mapping) else models)
    if not columns or not all(isinstance(name, str) for name in (*columns, *models)):
        raise UsageError(f"models must name at least one column, as text; got {models!r}")
    if len(set(columns)) != len(columns) or truth in columns:
        raise UsageError(f"every column has one role; got truth={truth!r} and models={columns}")


def _check_choice(what: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        raise UsageError(unknown_name(what, value, known))
