"""``read`` and ``read_scores``: outcomes and scores from files, frames, databases and logs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, TypedDict

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
from outperform.io.addresses import Option, Storage, called, masked
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
) -> Scores:
    r"""Read the scores of models from files; unlike labels, they have to come into memory.

    Parameters
    ----------
    source
        A path, a folder, a pattern, ``"-"`` for standard input, an open file, or a list of these
        with the same columns, as for :func:`read`; or logs of evaluations, with ``format``.
    models
        The columns of the scores, or columns by name of the model; of logs the models to keep.
    truth
        The column of the true labels; None for grades, which have no truth. Numbers that are not
        all whole are no labels but targets, for metrics of regression.
    id
        The column that names the items; no id may repeat.
    model
        With ``format="long"``, the column that names the model of each row.
    groups
        The column that names the group of each row, such as the item that was answered; of logs
        ``"task"``, or a field of their metadata, of which the same name in two tasks stands for two
        groups.
    score
        Of logs the score to read; the only one whose values are numbers by default. A key of a
        score that is a dictionary is ``"scorer.key"``; a mapping names one for each task. With
        ``format="long"``, its column.
    where
        The rows to keep: a value, or a list of them, for each column.
    on_missing
        Of logs what to do with items that not all models answered: ``"raise"``, or ``"drop"``
        them for all models, with a finding.
    on_null
        What to do with rows that lack a score, a truth or a group, and of logs with answers that
        have no score: ``"raise"``, or ``"drop"`` them for all models, with a finding.
    skip_failed
        Whether logs of evaluations that failed or were interrupted, and damaged ones, are left
        out, with a finding, instead of refused.
    latest
        If there are several logs of the same model and task, keep only the newest and add a
        finding; otherwise raise an error.
    format
        What the file is, whatever its name says; of logs as for :func:`read`, whose grades are
        paired on the item, several answers to one item being a group; ``"long"`` for a table with
        one row for each item and model.
    na_values, empty_is_label
        Which texts mean a missing value, and whether an empty field is a label, as for
        :func:`read`.
    dialect, storage_options
        How text files are written, and how a store is reached, as for :func:`read`.

    Examples
    --------
    >>> import io
    >>> import outperform as op
    >>> file = io.StringIO("item,gpt,llama\n1,7,6.5\n1,8,7\n2,3,4\n")
    >>> op.read_scores(file, models=["gpt", "llama"], groups="item")
    Scores(n=3, models=('gpt', 'llama'), groups=2)
    """
    start = perf_counter()
    given, source = source, open_source(source)
    storage = Storage.of(storage_options)
    missing = MissingTexts.from_param(na_values, empty_is_label)
    check_where(where)
    check_format(format)
    are_logs = format not in FORMATS if format is not None else recognized(source) is not None
    if isinstance(source, Mapping) and not are_logs:
        raise UsageError(
            f"read_scores reads one table with a column for each model, not a file for each; got "
            f"{', '.join(map(repr, source))}. Join the files on their id first, e.g. with pandas' "
            "merge, and give the columns to Scores.from_values or Scores.from_arrays; files that "
            "say right or wrong are joined by op.read(…, id=…, correct=…)"
        )
    if are_logs:
        columns: dict[str, Any] = {"id": id, "model": model, "dialect": dialect}
        if format == LONG:
            options = check_options(dialect)
            columns["dialect"] = Dialect(storage=storage, missing=missing, **options)
            _refuse_of_logs(truth=truth, skip_failed=skip_failed or None, latest=latest or None)
        else:
            declared = {"na_values": na_values, "empty_is_label": empty_is_label or None}
            _refuse_of_logs(truth=truth, **declared, **columns)
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
        given,
        score=score,
        model=model,
        on_missing=on_missing,
        skip_failed=skip_failed,
        latest=latest,
    )
    named = _named(models)
    names = [*named.values(), *(one for one in (truth, groups) if one is not None)]
    if len(set(names)) != len(names):
        raise UsageError(f"every column has one role; got {names}")
    wanted = [*names, *(() if id is None else (id,)), *(where or ())]
    options = check_options(dialect)
    asked = Dialect(
        format=format, columns=tuple(wanted), storage=storage, missing=missing, **options
    )

    needed = list(dict.fromkeys([*names, *(() if id is None else (id,))]))
    frame = None if isinstance(source, (str, os.PathLike, list, tuple)) else known_frame(source)
    if frame is not None:
        frame = replace(frame, name=called(given))
        for name in wanted:
            frame.column(name)
        if id is not None:
            refuse_repeated(frame, id, where)
        values = map(missing.without, fetch_columns(frame, needed, where=where))
        rows = dict(zip(needed, values, strict=True))
        rows, findings = _without_null(rows, names, frame.name, on_null)
    else:

        def ask(tables: Mapping[str, Table], engine: Engine) -> tuple[dict[str, list[Any]], Table]:
            if id is not None:
                refuse_repeated_ids(tables[""], id, where, engine)
            return fetch_rows(tables[""], needed, where, engine), tables[""]

        with opened({"": source}, wanted, asked) as tables:
            rows, table = tables.ask(ask)
            lone = len(table.scans) == 1 and where is None
            lines = table.scans[0].lines if lone else None
            rows, findings = _without_null(rows, names, table.name, on_null, lines)
    scores = {name: numbers_of(rows[column], column, source) for name, column in named.items()}
    grouped = None if groups is None else rows[groups]
    ids = None if id is None else group_by.ids_of_rows(group_by.coded(rows[id]))
    targets = None if truth is None else _targets(rows[truth])
    if truth is None:
        seen = Scores.from_values(scores, groups=grouped, ids=ids)
    elif targets is not None:
        seen = Scores.from_targets(targets, scores, groups=grouped, ids=ids)
    else:
        seen = Scores.from_arrays(rows[truth], scores, groups=grouped, ids=ids)
    log_time(start, lambda: _told(source, seen))
    seen = replace(seen, findings=findings + missing.undeclared(seen.findings))
    return replace(seen, sources=tuple(named.values()))


def _without_null(
    rows: dict[str, list[Any]],
    names: Sequence[str],
    table: str,
    on_null: OnNull,
    lines: Callable[[Sequence[int]], list[int]] | None = None,
) -> tuple[dict[str, list[Any]], tuple[Finding, ...]]:
    """Refuse rows that lack a value in one of some columns, or drop them and say so."""
    gone = {
        name: [row for row, value in enumerate(rows[name]) if is_missing(value)] for name in names
    }
    gone = {name: lost for name, lost in gone.items() if lost}
    if not gone:
        return rows, ()
    n_rows = len(rows[names[0]])
    if on_null == "raise":
        name = next(iter(gone))
        at = [row + 1 for row in gone[name][:3]]
        shown = named_rows(at, table, lines)
        more = [f"{other!r} in {len(lost)}" for other, lost in gone.items() if other != name]
        others = f"; also {', '.join(more)}" if more else ""
        raise DataError(
            f"column {name!r} has no value in {len(gone[name])} of {n_rows} rows{shown}{others}. "
            f"Give them a value, or leave these rows out with {param('on_null=', 'drop')}"
        )
    every = {row for lost in gone.values() for row in lost}
    if len(every) == n_rows:
        raise DataError(f"{table} has no row with a value in each of {list(names)}")
    kept = [row for row in range(n_rows) if row not in every]
    found = finding(
        "null_rows_dropped/rows",
        n=len(every),
        total=n_rows,
        table=table,
        columns=quoted(gone, most=None),
    )
    return {name: [values[row] for row in kept] for name, values in rows.items()}, (found,)


def _told(source: object, seen: Outcomes | Scores) -> str:
    """Return what was read as the log tells it, without the secrets of an address."""
    names = [one.name for one in seen.sources if isinstance(one, SourceFacts)]
    if not names:
        is_path = isinstance(source, (str, os.PathLike))
        names = [str(source) if is_path else type(source).__name__]
    counted = f" in {len(seen.tables[0].cells)} cells" if isinstance(seen, Outcomes) else ""
    name = ", ".join(map(masked, names))
    return f"read {name}: {seen.n} items{counted}, {len(seen.models)} models"


def read_rows(
    source: Source,
    columns: Sequence[str],
    *,
    if_there: Sequence[str] = (),
    missing: MissingTexts = UNDECLARED,
) -> dict[str, list[Any]]:
    """Return columns of files row by row, and of others those that there are.

    Parameters
    ----------
    source
        As for :func:`read_scores`.
    columns
        The columns that must be there.
    if_there
        Columns that need not be there.
    missing
        Which texts are missing values, which become None.
    """
    with opened({"": source}, [], Dialect()) as tables:
        there = tables.tables[""].names
    wanted = [*columns, *(name for name in if_there if name in there)]
    dialect = Dialect(columns=tuple(wanted), missing=missing)
    with opened({"": source}, wanted, dialect) as tables:
        return tables.ask(lambda found, engine: fetch_rows(found[""], wanted, None, engine))


def _refuse_of_logs(**given: Any) -> None:
    names = [name for name, value in given.items() if value is not None]
    if names:
        raise UsageError(
            f"{', '.join(map(param, names))} cannot be asked of logs of evaluations, which know "
            f"their own columns; choose with {param('models=')}, {param('score=')} and "
            f"{param('where=')}"
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
    """Refuse what only logs have, and say what to do with a table."""
    if not isinstance(source, (str, os.PathLike, list, tuple)) and known_frame(source) is not None:
        raise UsageError(
            "read_scores reads files; give the columns of a frame to op.Scores.from_values"
            "({'bert': frame['bert'], …}), or with the truth to op.Scores.from_arrays"
        )
    if score is not None:
        raise UsageError(
            f"{param('score=')} chooses a score of evaluation logs, read with "
            f"{param('format=', 'lm-eval', 'inspect')}. In a table name the column of each model, "
            f"{param('models=', ['bert', 'gpt'])}; if it has one row for each item and model, say "
            f"{param('format=', 'long')} and name its columns with {param('id=')}, "
            f"{param('model=')} and {param('score=')}"
        )
    if model is not None:
        raise UsageError(
            f"{param('model=')} names the column of the models in a table with one row for each "
            f"item and model, read with {param('format=', 'long')}"
        )
    if on_missing != "raise":
        raise UsageError(
            f"{param('on_missing=')} is for evaluation logs, read with "
            f"{param('format=', 'lm-eval', 'inspect')}; in a table drop rows that lack a score "
            f"with {param('on_null=', 'drop')}"
        )
    for name, asked in (("skip_failed", skip_failed), ("latest", latest)):
        if asked:
            raise UsageError(
                f"{param(f'{name}=')} is for evaluation logs, read with "
                f"{param('format=', 'lm-eval', 'inspect')}"
            )


def _named(models: object) -> dict[str, str]:
    if isinstance(models, (str, bytes)) or not isinstance(models, (Mapping, Sequence)):
        raise UsageError(
            f"{param('models')} must be a list of columns, e.g. ['bert', 'gpt']; got {models!r}"
        )
    named = dict(models) if isinstance(models, Mapping) else {name: name for name in models}
    if not named or not all(isinstance(one, str) for one in (*named, *named.values())):
        raise UsageError(
            f"{param('models')} must name at least one column, as text; got {models!r}"
        )
    return named


def numbers_of(values: list[Any], name: str, source: object) -> FloatArray:
    """Return scores as numbers; in CSV they come as text."""
    of = f" of {masked(str(source))}" if isinstance(source, (str, os.PathLike)) else ""
    found = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            found[row] = np.nan if is_missing(value) or value == "" else float(value)
        except (TypeError, ValueError):
            raise DataError(
                f"column {name!r}{of} must hold scores; row {row + 1} holds {value!r}"
            ) from None
    return found


def _targets(values: list[Any]) -> FloatArray | None:
    """Return a truth of numbers that are not all whole, and so no classes; None for any other."""
    try:
        found = np.array([float(value) for value in values])
    except (TypeError, ValueError):
        return None
    return None if (found == np.rint(found)).all() or np.isnan(found).any() else found


class Reading(TypedDict, total=False):
    """What else may be said of the rows of two models."""

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
    format: str | None
    dialect: DialectOptions | None
    storage_options: Mapping[str, Option] | None


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
    format: str | None = None,
    dialect: DialectOptions | None = None,
    storage_options: Mapping[str, Option] | None = None,
) -> Outcomes:
    r"""Count predictions in files, frames or databases; the rows themselves are never loaded.

    The files are CSV, TSV or JSON Lines, perhaps packed as ``.gz`` or ``.zst``, Parquet or Arrow,
    or folders of these; frames are those of pandas, polars, pyarrow, DuckDB and whatever else
    narwhals knows, eager or lazy, and data sets of Hugging Face.
    Either one table has the truth and a column per model, or there is a file of gold labels and
    one for each model, which are joined on an id. Where only right or wrong is known of each
    model, ``correct`` names these columns and there is no truth. In CSV and TSV every value is
    text, so that ``01`` and ``1`` are two classes, and an empty field is a missing value;
    everywhere else values keep their types.

    Parameters
    ----------
    source
        A path, a folder, a pattern such as ``"preds-*.parquet"``, each on this machine or in a
        store, ``"s3://bucket/preds/"``; ``"-"`` for standard input, an open file, or a list of
        these with the same columns. For a join, a mapping of names to files
        or a list of paths; gold is the one called ``gold``, ``truth``, ``ground_truth``,
        ``y_true``, ``labels`` or ``reference``, or named by ``truth``. Or a frame, or a database:
        the file of SQLite or DuckDB, or an address such as ``"postgresql://user@host/name"``. Or
        files of outcomes that ``outperform count`` or ``Outcomes.to_json`` wrote, which are added
        up; they need no ``truth``. Or logs of LLM evaluations, a file or folder for each model,
        with ``format``.
    truth
        The column of the true labels. For a join, the column that some files have them in, or the
        name of the file that is gold.
    models
        The columns of the predictions, or columns by name of the model; by default all others,
        which must then hold labels of the truth.
    correct
        Instead of ``truth`` and ``models``: the columns of one table that say right or wrong, one
        for each model, or columns by name of the model; for a join, the one column that says so
        in every file. Values are booleans, 1 and 0, or the texts ``true`` and ``false``.
    id
        The column that names the items: needed for a join; in one table, no id may repeat.
    model
        With ``format="long"``, the column that names the model of each row.
    label
        The column of the labels in every file of a join. With ``truth`` as well, a file that
        has both columns is a model, and all that have the truth must agree on it.
    score
        In logs of evaluations, the score that says right or wrong, such as ``"acc"``; by default
        the only one that does, or the tool's own. A key of a score that is a dictionary is
        ``"scorer.key"``; a mapping names one for each task, ``{"arc": "acc", "gsm8k": "exact"}``.
        With ``format="long"``, the column that says so.
    by
        The columns that divide the items into slices; see ``Outcomes.slices``. Of logs ``"task"``,
        or what they know of the items: fields of the metadata, of the document
        (lm-evaluation-harness), or variables (promptfoo).
    where
        The rows to keep: a value, or a list of them, for each column. Days and times are dates and
        datetimes, or texts such as ``"2026-11-30"``; a day keeps all times of it.
    count
        The column that says how many items a row stands for; one each by default.
    weight
        The column that says how much an item matters, such as one over the probability with
        which it was sampled; as ``sample_weight`` of :func:`compare`.
    groups
        The column that names the group of each item, such as its author or its prompt, if
        groups rather than items should get one weight each; of a join, a column of the gold
        file, or of the first file if none is gold. Where it is left out and a column that looks
        like one repeats, a finding says so. In logs, and in long tables with a column ``task``,
        the same name in two tasks stands for two groups.
    human
        If a judge gave the labels, or said right or wrong, a file in which people did so for some
        of the items: the same columns, matched by ``id``; see :meth:`Outcomes.from_judged`.
    drawn
        How people's items were drawn: ``"random"``, ``"by_ratings"``, or the column of ``human``
        that holds the probability that each item had of being labelled.
    never_true
        Classes that models may predict and that are meant never to be true, such as
        ``["refusal"]``; see :meth:`Outcomes.with_never_true`.
    table
        The table of a database, perhaps with its schema.
    query
        SQL SELECT to run instead of reading a table.
    on_missing
        What to do with ids that not all files have: ``"raise"``, or ``"drop"`` with a finding.
    on_null
        What to do with rows that lack a label, a slice, a group or a weight: ``"raise"``, or
        ``"drop"`` with a finding. NULL, None and NaN are missing values, and so is an empty field
        of CSV and TSV.
    na_values
        The texts that mean a missing value; all others are labels. By default texts such as
        ``NA``, ``nan`` and ``null`` are labels with a finding, which withholds the decision of a
        gate; ``[]`` declares that no text means a missing value.
    empty_is_label
        Whether an empty field of CSV and TSV is a label, the empty text. In formats with types
        the empty text is a label with a finding, which this declares away.
    skip_failed
        Whether logs of evaluations that failed or were interrupted, and damaged ones, are left
        out, with a finding, instead of refused.
    latest
        If there are several logs of the same model and task, keep only the newest and add a
        finding; otherwise raise an error.
    format
        ``"csv"``, ``"tsv"``, ``"jsonl"``, ``"parquet"`` or ``"arrow"``, if the name does not say
        it; ``"lm-eval"`` for samples logged by lm-evaluation-harness, ``"inspect"`` for logs and
        sample tables of inspect_ai, ``"promptfoo"``, ``"openai-evals"``, ``"pydantic-evals"``,
        ``"deepeval"`` or ``"helm"`` for what these write; ``"long"`` for a table with one row for
        each item and model. Logs whose names or first bytes leave no doubt are recognized, with a
        finding.
    dialect
        How text files are written, where it is not as usual: ``separator``, what stands between
        the columns, found out by default; ``quote``, what stands around values with separators in
        them, None if quotes are ordinary; ``header``, False if the first row names no columns,
        which are then ``"0"``, ``"1"``, …; ``encoding``, UTF-8 by default.
    storage_options
        How to reach ``s3://``, ``gs://`` or ``abfs://``: what pyarrow's file system takes, e.g.
        ``{"access_key": …, "secret_key": …, "region": …}``. By default what the machine knows.

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
        format=format,
        storage_options=Storage.of(storage_options),
        **check_options(dialect),
    )
    start = perf_counter()
    seen = read_source(source, request)
    log_time(start, lambda: _told(source, seen))
    if human is not None:
        seen = join_people(seen, human, id=id, truth=truth, drawn=drawn, missing=request.missing)
    elif drawn is not None:
        raise UsageError(
            f"{param('drawn=')} is about what people labelled; name their file with "
            f"{param('human=')}, or remove it"
        )
    return seen if never_true is None else seen.with_never_true(never_true)
