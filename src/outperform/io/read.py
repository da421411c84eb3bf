"""``read`` and ``read_scores``: outcomes and scores from files, frames, databases and logs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from time import perf_counter
from typing import Any, Literal, TypedDict

import numpy as np

from outperform._missing import is_missing
from outperform._typing import FloatArray, Label, Source, Where
from outperform.data.missing import UNDECLARED, MissingTexts
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.data.sources import Source as SourceFacts
from outperform.errors import DataError, UsageError, param
from outperform.findings import Finding, finding, quoted
from outperform.io import group_by
from outperform.io.added_up import ScoreColumns, add_up, are_many, holds_targets
from outperform.io.addresses import Option, Storage, display_name, masked
from outperform.io.count import named_rows, refuse_repeated_ids
from outperform.io.engine import Engine
from outperform.io.formats import FORMATS, Dialect, DialectOptions, check_options
from outperform.io.frames import fetch_columns, known_frame, refuse_repeated
from outperform.io.group_by import OnNull
from outperform.io.join import OnMissing, fetch_rows, join_people
from outperform.io.logs.read import read_grades, recognized
from outperform.io.logs.samples import LONG
from outperform.io.request import Request, check_format, open_source, read_source
from outperform.io.tables import Table, check_where, opened
from outperform.progress import log_time
from outperform.wrong_calls import explained


@explained
def read_scores(
    source: Source,
    *,
    models: Sequence[str] | Mapping[str, str] | None = None,
    truth: str | None = None,
    id: str | None = None,
    model: str | None = None,
    groups: str | None = None,
    score: str | Mapping[str, str] | None = None,
    where: Where | None = None,
    on_missing: OnMissing = "raise",
    on_null: OnNull = "raise",
    skip_failed: bool = False,
    latest: bool = False,
    format: str | None = None,
    na_values: Sequence[str] | None = None,
    empty_is_label: bool = False,
    dialect: DialectOptions | None = None,
    storage_options: Mapping[str, Option] | None = None,
    keep: Keep | None = None,
) -> Scores:
    r"""Read the scores of models from files: their rows or, if there are very many, their sums.

    Parameters
    ----------
    source
        Path, folder, pattern, ``"-"`` for standard input, open file, or a list of these with the
        same columns, as in :func:`read`; or evaluation logs, together with ``format``.
    models
        Columns of the scores, or columns by model name; in logs, the models to keep.
    truth
        Column of the true labels; None for grades, which have no truth. If some numbers are not
        integers, they are regression targets, not labels.
    id
        Item id column. Repeated ids raise an error.
    model
        With ``format="long"``, the column of model names.
    groups
        Column of the group of each row, such as the item that was answered; in logs, ``"task"`` or
        a metadata field. In logs, the same name in two tasks means two groups.
    score
        In logs, the score to read. Default: the only numeric one. ``"scorer.key"`` selects one key
        of a dictionary score; a mapping selects a score per task. With ``format="long"``, the
        column of the scores.
    where
        Rows to keep: a value, or a list of values, per column.
    on_missing
        In logs, what to do with items that some models did not answer: ``"raise"``, or ``"drop"``
        them for all models, with a finding.
    on_null
        What to do with rows without a score, truth or group, and with log entries without a score:
        ``"raise"``, or ``"drop"`` them for all models, with a finding.
    skip_failed
        Whether to skip, with a finding, evaluation logs that are damaged, or whose evaluation
        failed or was interrupted; otherwise they raise an error.
    latest
        If there are several logs of the same model and task, keep only the newest and add a
        finding; otherwise raise an error.
    format
        Format of the file, regardless of its name. For logs as in :func:`read`; grades are paired
        by item, and several answers to one item form a group. ``"long"`` is for a table with one
        row per item and model.
    na_values, empty_is_label
        Texts that represent a missing value, and whether an empty field is a label, as in
        :func:`read`.
    dialect, storage_options
        Format details of text files, and connection options of a store, as in :func:`read`.
    keep
        ``"rows"`` loads all rows into memory. ``"sums"`` adds up grades, or targets and
        predictions, where they are stored: metrics of sums such as ``mean`` or ``rmse`` need no
        more. Default: the sums of files of more than a million rows of grades or targets, otherwise
        the rows.

    Examples
    --------
    >>> import io
    >>> import outperform as op
    >>> file = io.StringIO("item,gpt,llama\n1,7,6.5\n1,8,7\n2,3,4\n")
    >>> op.read_scores(file, models=["gpt", "llama"], groups="item")
    Scores(n=3, models=('gpt', 'llama'), groups=2)
    """
    start = perf_counter()
    argument, source = source, open_source(source)
    storage = Storage.of(storage_options)
    missing = MissingTexts.from_param(na_values, empty_is_label)
    check_where(where)
    check_format(format)
    are_logs = format not in FORMATS if format is not None else recognized(source) is not None
    if isinstance(source, Mapping) and not are_logs:
        raise UsageError(
            f"read_scores reads one table with one column per model, not one file per model; got "
            f"{', '.join(map(repr, source))}. Join the files on their id first, e.g. with pandas' "
            "merge, and pass the columns to Scores.from_values or Scores.from_arrays; to join "
            "files of right or wrong, use op.read(…, id=…, correct=…)"
        )
    if are_logs:
        columns: dict[str, Any] = {"id": id, "model": model, "dialect": dialect}
        if format == LONG:
            options = check_options(dialect)
            columns["dialect"] = Dialect(storage=storage, missing=missing, **options)
            _refuse_of_logs(truth=truth, skip_failed=skip_failed or None, latest=latest or None)
        else:
            declared = {"na_values": na_values, "empty_is_label": empty_is_label or None}
            _refuse_of_logs(truth=truth, keep=keep, **declared, **columns)
            columns = {}
        return read_grades(
            source,
            **columns,
            format=format,
            groups=groups,
            score=score,
            models=models,
            where=where,
            on_missing=on_missing,
            on_null=on_null,
            skip_failed=skip_failed,
            latest=latest,
        )
    _refuse_of_tables(
        argument,
        score=score,
        model=model,
        on_missing=on_missing,
        skip_failed=skip_failed,
        latest=latest,
    )
    named = _columns_by_model(models)
    names = [*named.values(), *(column for column in (truth, groups) if column is not None)]
    if len(set(names)) != len(names):
        raise UsageError(f"every column has one role; got {names}")
    columns_to_open = [*names, *(() if id is None else (id,)), *(where or ())]
    options = check_options(dialect)
    file_dialect = Dialect(
        format=format, columns=tuple(columns_to_open), storage=storage, missing=missing, **options
    )

    needed = list(dict.fromkeys([*names, *(() if id is None else (id,))]))
    frame = None if isinstance(source, (str, os.PathLike, list, tuple)) else known_frame(source)
    if frame is not None:
        frame = replace(frame, name=display_name(argument))
        for name in columns_to_open:
            frame.column(name)
        if id is not None:
            refuse_repeated(frame, id, where)
        values = map(missing.without, fetch_columns(frame, needed, where=where))
        rows = dict(zip(needed, values, strict=True))
        rows, findings = _without_null(rows, names, frame.name, on_null)
    else:
        roles = ScoreColumns(models=named, truth=truth, groups=groups, where=where, on_null=on_null)

        def ask(
            tables: Mapping[str, Table], engine: Engine
        ) -> tuple[dict[str, list[Any]] | Scores, Table]:
            if id is not None:
                refuse_repeated_ids(tables[""], id, where, engine)
            sums = _added_up(tables[""], roles, engine, keep)
            if sums is not None:
                return sums, tables[""]
            return fetch_rows(tables[""], needed, where, engine), tables[""]

        with opened({"": source}, columns_to_open, file_dialect) as tables:
            read_all, table = tables.ask(ask)
            if isinstance(read_all, Scores):
                log_time(start, lambda: _log_line(source, read_all))
                return read_all
            rows = read_all
            is_one_file = len(table.scans) == 1 and where is None
            lines = table.scans[0].lines if is_one_file else None
            rows, findings = _without_null(rows, names, table.name, on_null, lines)
    scores = {name: numbers_of(rows[column], column, source) for name, column in named.items()}
    group_values = None if groups is None else rows[groups]
    ids = None if id is None else group_by.ids_of_rows(group_by.coded(rows[id]))
    targets = None if truth is None else _targets(rows[truth])
    if truth is None:
        result = Scores.from_values(scores, groups=group_values, ids=ids)
    elif targets is not None:
        result = Scores.from_targets(targets, scores, groups=group_values, ids=ids)
    else:
        result = Scores.from_arrays(rows[truth], scores, groups=group_values, ids=ids)
    log_time(start, lambda: _log_line(source, result))
    result = replace(result, findings=findings + missing.undeclared(result.findings))
    return replace(result, sources=tuple(named.values()))


Keep = Literal["rows", "sums"]


def _added_up(
    table: Table, columns: ScoreColumns, engine: Engine, keep: Keep | None
) -> Scores | None:
    """Return scores that the engine added up; None if their rows are to be kept."""
    if keep == "rows" or (keep is None and not are_many(table, columns.where, engine)):
        return None
    if columns.truth is not None and not holds_targets(table, columns, engine):
        if keep is None:
            return None
        raise UsageError(
            f"{param('keep=', 'sums')} is for grades, and for targets that are not all integers; "
            f"the true labels in {columns.truth!r} are classes, so read the rows"
        )
    moments, findings = add_up(table, columns, engine)
    sources = tuple(columns.models.values())
    return Scores._of_moments(moments, findings=(*table.findings, *findings), sources=sources)


def read_sums(
    source: str | os.PathLike[str],
    models: Sequence[str],
    *,
    truth: str | None,
    groups: str | None,
    missing: MissingTexts,
) -> Scores | None:
    """Return scores of a file that the engine added up; None if it has too few rows for that."""
    roles = ScoreColumns(
        models={name: name for name in models},
        truth=truth,
        groups=groups,
        where=None,
        on_null="raise",
    )
    dialect = Dialect(columns=roles.names, missing=missing)
    with opened({"": source}, roles.names, dialect) as tables:
        return tables.ask(lambda by_name, engine: _added_up(by_name[""], roles, engine, None))


def _without_null(
    rows: dict[str, list[Any]],
    names: Sequence[str],
    table: str,
    on_null: OnNull,
    lines: Callable[[Sequence[int]], list[int]] | None = None,
) -> tuple[dict[str, list[Any]], tuple[Finding, ...]]:
    """Raise an error for rows without a value in some column, or drop them with a finding."""
    lost = {
        name: [row for row, value in enumerate(rows[name]) if is_missing(value)] for name in names
    }
    lost = {name: indices for name, indices in lost.items() if indices}
    if not lost:
        return rows, ()
    n_rows = len(rows[names[0]])
    if on_null == "raise":
        name = next(iter(lost))
        first = named_rows([row + 1 for row in lost[name][:3]], table, lines)
        others = [
            f"{other!r} in {len(indices)}" for other, indices in lost.items() if other != name
        ]
        also = f"; also {', '.join(others)}" if others else ""
        raise DataError(
            f"column {name!r} has no value in {len(lost[name])} of {n_rows} rows{first}{also}. "
            f"Give them a value, or drop these rows with {param('on_null=', 'drop')}"
        )
    dropped = {row for indices in lost.values() for row in indices}
    if len(dropped) == n_rows:
        raise DataError(f"{table} has no row with a value in each of {list(names)}")
    complete = [row for row in range(n_rows) if row not in dropped]
    report = finding(
        "null_rows_dropped/rows",
        n=len(dropped),
        total=n_rows,
        table=table,
        columns=quoted(lost, most=None),
    )
    return {name: [values[row] for row in complete] for name, values in rows.items()}, (report,)


def _log_line(source: object, result: Outcomes | Scores) -> str:
    """Return the log line about the data that were read, without secrets of an address."""
    names = [part.name for part in result.sources if isinstance(part, SourceFacts)]
    if not names:
        is_path = isinstance(source, (str, os.PathLike))
        names = [str(source) if is_path else type(source).__name__]
    cells = f" in {len(result.tables[0].cells)} cells" if isinstance(result, Outcomes) else ""
    name = ", ".join(map(masked, names))
    return f"read {name}: {result.n} items{cells}, {len(result.models)} models"


def read_rows(
    source: Source,
    columns: Sequence[str] | None,
    *,
    if_there: Sequence[str] = (),
    missing: MissingTexts = UNDECLARED,
) -> dict[str, list[Any]]:
    """Return columns of files, one value per row.

    Parameters
    ----------
    source
        As in :func:`read_scores`.
    columns
        Columns that must exist; None for all columns.
    if_there
        Optional columns.
    missing
        Texts that represent a missing value; they become None.
    """
    with opened({"": source}, [], Dialect()) as tables:
        available = tables.tables[""].names
    columns = available if columns is None else columns
    requested = [*columns, *(name for name in if_there if name in available)]
    dialect = Dialect(columns=tuple(requested), missing=missing)
    with opened({"": source}, requested, dialect) as tables:
        return tables.ask(
            lambda tables_by_name, engine: fetch_rows(tables_by_name[""], requested, None, engine)
        )


def _refuse_of_logs(**arguments: Any) -> None:
    names = [name for name, value in arguments.items() if value is not None]
    if names:
        raise UsageError(
            f"{', '.join(map(param, names))} cannot be used with evaluation logs, whose columns "
            f"are fixed; use {param('models=')}, {param('score=')} and {param('where=')}"
        )


def _refuse_of_tables(
    source: object,
    *,
    score: str | Mapping[str, str] | None,
    model: str | None,
    on_missing: str,
    skip_failed: bool,
    latest: bool,
) -> None:
    """Reject log-only arguments, and explain what to do with a table."""
    if not isinstance(source, (str, os.PathLike, list, tuple)) and known_frame(source) is not None:
        raise UsageError(
            "read_scores reads files; pass the columns of a frame to op.Scores.from_values"
            "({'bert': frame['bert'], …}), or with a truth to op.Scores.from_arrays"
        )
    if score is not None:
        raise UsageError(
            f"{param('score=')} selects a score of evaluation logs, read with "
            f"{param('format=', 'lm-eval', 'inspect')}. For a table, pass the column of each "
            f"model, {param('models=', ['bert', 'gpt'])}; if it has one row per item and model, "
            f"pass {param('format=', 'long')} and its columns as {param('id=')}, "
            f"{param('model=')} and {param('score=')}"
        )
    if model is not None:
        raise UsageError(
            f"{param('model=')} is the column of the models in a table with one row per item and "
            f"model, read with {param('format=', 'long')}"
        )
    if on_missing != "raise":
        raise UsageError(
            f"{param('on_missing=')} is for evaluation logs, read with "
            f"{param('format=', 'lm-eval', 'inspect')}; in a table, drop rows without a score "
            f"with {param('on_null=', 'drop')}"
        )
    for name, value in (("skip_failed", skip_failed), ("latest", latest)):
        if value:
            raise UsageError(
                f"{param(f'{name}=')} is for evaluation logs, read with "
                f"{param('format=', 'lm-eval', 'inspect')}"
            )


def _columns_by_model(models: object) -> dict[str, str]:
    if isinstance(models, (str, bytes)) or not isinstance(models, (Mapping, Sequence)):
        raise UsageError(
            f"{param('models')} must be a list of columns, e.g. ['bert', 'gpt']; got {models!r}"
        )
    columns = dict(models) if isinstance(models, Mapping) else {name: name for name in models}
    if not columns or not all(isinstance(name, str) for name in (*columns, *columns.values())):
        raise UsageError(
            f"{param('models')} must contain at least one column name, as text; got {models!r}"
        )
    return columns


def numbers_of(values: list[Any], name: str, source: object) -> FloatArray:
    """Return scores as numbers; CSV files contain them as text."""
    origin = f" of {masked(str(source))}" if isinstance(source, (str, os.PathLike)) else ""
    scores = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            scores[row] = np.nan if is_missing(value) or value == "" else float(value)
        except (TypeError, ValueError):
            raise DataError(
                f"column {name!r}{origin} must contain scores; got {value!r} in row {row + 1}"
            ) from None
    return scores


def _targets(values: list[Any]) -> FloatArray | None:
    """Return a truth of numbers that are not all integers; None for classes."""
    try:
        targets = np.array([float(value) for value in values])
    except (TypeError, ValueError):
        return None
    return None if (targets == np.rint(targets)).all() or np.isnan(targets).any() else targets


class Reading(TypedDict, total=False):
    """Additional options for reading the rows of two models."""

    id: str | None
    model: str | None
    label: str | None
    score: str | Mapping[str, str] | None
    where: Where | None
    count: str | None
    weight: str | None
    groups: str | None
    table: str | None
    query: str | None
    on_missing: OnMissing
    on_null: OnNull
    na_values: Sequence[str] | None
    empty_is_label: bool
    skip_failed: bool
    latest: bool
    last: str | None
    since: str | date | None
    format: str | None
    dialect: DialectOptions | None
    storage_options: Mapping[str, Option] | None


@explained
def read(
    source: Source,
    *,
    truth: str | None = None,
    models: Sequence[str] | Mapping[str, str] | None = None,
    correct: str | Sequence[str] | Mapping[str, str] | None = None,
    id: str | None = None,
    model: str | None = None,
    label: str | None = None,
    score: str | Mapping[str, str] | None = None,
    by: str | Sequence[str] | None = None,
    where: Where | None = None,
    count: str | None = None,
    weight: str | None = None,
    groups: str | None = None,
    human: Source | None = None,
    drawn: str | None = None,
    never_true: Sequence[Label] | None = None,
    table: str | None = None,
    query: str | None = None,
    on_missing: OnMissing = "raise",
    on_null: OnNull = "raise",
    na_values: Sequence[str] | None = None,
    empty_is_label: bool = False,
    skip_failed: bool = False,
    latest: bool = False,
    last: str | None = None,
    since: str | date | None = None,
    format: str | None = None,
    dialect: DialectOptions | None = None,
    storage_options: Mapping[str, Option] | None = None,
) -> Outcomes:
    r"""Count predictions in files, frames or databases, without loading the rows.

    Files are CSV, TSV or JSON Lines (plain, ``.gz`` or ``.zst``), Parquet, Arrow, or folders of
    these. Frames can be eager or lazy frames from pandas, polars, pyarrow, DuckDB or any other
    library supported by narwhals, or Hugging Face data sets. Either one table contains the truth
    and one column per model, or a file of gold labels and one file per model are joined on an id.
    If the data only record whether each model was right, pass these columns as ``correct`` and no
    truth. In CSV and TSV every value is text, so ``01`` and ``1`` are different classes, and an
    empty field is a missing value. In all other formats values keep their types.

    Parameters
    ----------
    source
        Path, folder, or pattern such as ``"preds-*.parquet"``, on this machine or in an object
        store, ``"s3://bucket/preds/"``; ``"-"`` for standard input; an open file; or a list of
        these with the same columns. For a join, a mapping of names to files or a list of paths;
        gold is the file named ``gold``, ``truth``, ``ground_truth``, ``y_true``, ``labels`` or
        ``reference``, or selected by ``truth``. Or a frame, or a database: a SQLite or DuckDB
        file, or an address such as ``"postgresql://user@host/name"``. Or files of outcomes from
        ``outperform count`` or ``Outcomes.to_json``, which are added up and need no ``truth``. Or
        LLM evaluation logs, a file or folder per model, with ``format``.
    truth
        Column of the true labels. For a join, the column in the files that have true labels, or the
        name of the gold file.
    models
        Columns of the predictions, or columns by model name. Default: all other columns, which
        must then contain labels of the truth.
    correct
        Instead of ``truth`` and ``models``: the columns of one table that record right or wrong,
        one per model, or columns by model name; for a join, the one such column of every file.
        Values are booleans, 1 and 0, or the strings ``true`` and ``false``.
    id
        Item id column. Required for a join; in one table, repeated ids raise an error.
    model
        With ``format="long"``, the column of model names.
    label
        Column of the labels in every file of a join. If ``truth`` is passed as well, a file with
        both columns is a model, and all files with the truth must agree on it.
    score
        In evaluation logs, the score that records right or wrong, such as ``"acc"``. Default: the
        only such score, or the tool's default. ``"scorer.key"`` selects one key of a dictionary
        score; a mapping selects a score per task, ``{"arc": "acc", "gsm8k": "exact"}``. With
        ``format="long"``, the column of right or wrong.
    by
        Columns that define slices; see ``Outcomes.slices``. In logs, ``"task"`` or a property of
        the items: fields of the metadata, of the document (lm-evaluation-harness), or variables
        (promptfoo).
    where
        Rows to keep: a value, or a list of values, per column. Days and times are dates and
        datetimes, or strings such as ``"2026-11-30"``; a day keeps all times of that day.
    count
        Column with the number of items each row represents. Default: one item per row.
    weight
        Column of item weights, such as one over the sampling probability; as ``sample_weight`` of
        :func:`compare`.
    groups
        Column of the group of each item, such as its author or prompt; each group, not each item,
        is then one independent unit. For a join, a column of the gold file, or of the first file
        if none is gold. If it is omitted and a column that looks like groups repeats, a finding
        reports this. In logs, and in long tables with a column ``task``, the same name in two
        tasks means two groups.
    human
        If a judge assigned the labels or verdicts, a file with human labels or verdicts for some of
        the items, in the same columns, matched by ``id``; see :meth:`Outcomes.from_judged`.
    drawn
        How the human-labelled items were drawn: ``"random"``, ``"by_ratings"``, or the column of
        ``human`` with each item's probability of being labelled.
    never_true
        Classes that models may predict but that are never true by design, such as
        ``["refusal"]``; see :meth:`Outcomes.with_never_true`.
    table
        Table of a database, optionally with its schema.
    query
        SQL SELECT to run instead of reading a table.
    on_missing
        What to do with ids that some files lack: ``"raise"``, or ``"drop"`` with a finding.
    on_null
        What to do with rows without a label, slice, group or weight: ``"raise"``, or ``"drop"``
        with a finding. NULL, None and NaN are missing values; in CSV and TSV, empty fields are too.
    na_values
        Strings that represent a missing value; all others are labels. By default, strings such as
        ``NA``, ``nan`` and ``null`` are labels with a finding, which withholds the decision of a
        gate; ``[]`` declares that there are none.
    empty_is_label
        Whether an empty field in CSV and TSV is a label (the empty text). In typed formats, an
        empty text is a label with a finding; this option removes the finding.
    skip_failed
        Whether to skip, with a finding, evaluation logs that are damaged, or whose evaluation
        failed or was interrupted; otherwise they raise an error.
    latest
        If there are several logs of the same model and task, keep only the newest and add a
        finding; otherwise raise an error.
    last
        For counts by day, such as a folder that ``count --update`` fills: how many days to read,
        such as ``"7d"``, ``"4w"`` or ``"1m"`` (30 days), back from the newest day in the folder.
    since
        For counts by day: the first day to read, such as ``"2026-09-01"``.
    format
        ``"csv"``, ``"tsv"``, ``"jsonl"``, ``"parquet"`` or ``"arrow"``, if the file name does not
        show it; ``"lm-eval"`` for samples logged by lm-evaluation-harness, ``"inspect"`` for logs
        and sample tables of inspect_ai, ``"promptfoo"``, ``"openai-evals"``,
        ``"pydantic-evals"``, ``"deepeval"`` or ``"helm"`` for the output of these tools;
        ``"long"`` for a table with one row per item and model. Logs with unambiguous names or
        first bytes are recognized, with a finding.
    dialect
        Format details of text files, if unusual: ``separator`` between columns, detected by
        default; ``quote`` around values that contain separators, None if quotes are ordinary
        characters; ``header``, False if the first row is data, so the columns are named ``"0"``,
        ``"1"``, …; ``encoding``, UTF-8 by default.
    storage_options
        Connection options for ``s3://``, ``gs://`` or ``abfs://``, passed to pyarrow's file system,
        e.g. ``{"access_key": …, "secret_key": …, "region": …}``. Default: the machine's settings.

    Examples
    --------
    >>> import io
    >>> import outperform as op
    >>> file = io.StringIO("label,old,new\nspam,ham,spam\nham,ham,ham\nspam,spam,spam\n")
    >>> op.read(file, truth="label", models=["old", "new"])
    Outcomes(n=3, models=('old', 'new'), labels=('ham', 'spam'), paired=True, cells=3)
    >>> file = io.StringIO("question,bert,gpt\n1,true,false\n2,true,true\n3,false,true\n")
    >>> op.read(file, correct=["bert", "gpt"]).kind
    'correct'
    """
    request = Request(
        truth=truth,
        models=models,
        correct=correct,
        id=id,
        model=model,
        label=label,
        score=score,
        by=by,
        where=where,
        count=count,
        weight=weight,
        groups=groups,
        table=table,
        query=query,
        on_missing=on_missing,
        on_null=on_null,
        na_values=na_values,
        empty_is_label=empty_is_label,
        skip_failed=skip_failed,
        latest=latest,
        last=last,
        since=since,
        format=format,
        storage_options=Storage.of(storage_options),
        **check_options(dialect),
    )
    start = perf_counter()
    outcomes = read_source(source, request)
    log_time(start, lambda: _log_line(source, outcomes))
    if human is not None:
        outcomes = join_people(
            outcomes, human, id=id, truth=truth, drawn=drawn, missing=request.missing
        )
    elif drawn is not None:
        raise UsageError(
            f"{param('drawn=')} describes human labels; pass their file as {param('human=')}, or "
            f"remove {param('drawn=')}"
        )
    return outcomes if never_true is None else outcomes.with_never_true(never_true)


def read_repeated(source: Any, **options: Any) -> Outcomes | Scores:
    """Return logs as outcomes if their answers are right or wrong, otherwise as scores.

    Parameters
    ----------
    source
        Logs, or logs by run name.
    **options
        Options of :func:`outperform.read` for logs.
    """
    try:
        return read(source, **options)
    except (DataError, UsageError) as error:
        try:
            return read_scores(source, **options)
        except (DataError, UsageError):
            raise error from None
