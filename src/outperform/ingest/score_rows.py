"""``read_scores``: scores from files and logs, into memory, because scores do not add up."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from outperform._typing import FloatArray, Progress
from outperform.errors import DataError, UsageError, unknown_name
from outperform.ingest import cells
from outperform.ingest.cells import OnNull
from outperform.ingest.evaluations import FORMATS as LOGS
from outperform.ingest.evaluations import read_grades
from outperform.ingest.files.counting import refuse_repeated_ids
from outperform.ingest.files.dialect import FORMATS, Dialect
from outperform.ingest.files.engine import Engine
from outperform.ingest.files.joining import OnMissing
from outperform.ingest.files.opening import opened
from outperform.ingest.files.tables import Table, check_family, check_where
from outperform.ingest.frames import known_frame
from outperform.outcomes import Scores


def read_scores(
    source: Any,
    *,
    models: Sequence[str] | Mapping[str, str] | None = None,
    truth: str | None = None,
    id: str | None = None,
    groups: str | None = None,
    score: str | None = None,
    where: Mapping[str, Any] | None = None,
    on_missing: OnMissing = "refuse",
    on_null: OnNull = "refuse",
    skip_failed: bool = False,
    format: str | None = None,
    progress: Progress | None = None,
    **dialect: Any,
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
        The column of the true labels; None for grades, which have no truth.
    id
        The column that names the documents; no id may repeat.
    groups
        The column that names the group of each row, such as the item that was answered.
    score
        Of logs the score to read; the only one whose values are numbers by default. A key of a
        score that is a dictionary is ``"scorer.key"``.
    where
        The rows to keep: a value, or a list of them, for each column.
    on_missing, on_null
        Of logs what to do with items that not all models answered, and with answers that have
        no score: ``"refuse"``, or ``"drop"`` them for all models, with a finding.
    skip_failed
        Whether logs of evaluations that failed or were interrupted, and damaged ones, are left
        out, with a finding, instead of refused.
    format
        What the file is, whatever its name says; ``"lm-eval"`` or ``"inspect"`` for logs, whose
        grades are paired on the item, several answers to one item being a group.
    progress
        Called with how much is done, and with how much there is.
    **dialect
        ``separator``, ``quote``, ``header`` and ``encoding`` as for :func:`read`.

    Examples
    --------
    >>> import io
    >>> import outperform as op
    >>> file = io.StringIO("item,gpt,llama\n1,7,6.5\n1,8,7\n2,3,4\n")
    >>> op.read_scores(file, models=["gpt", "llama"], groups="item")
    Scores(n=3, models=('gpt', 'llama'), groups=2)
    """
    check_where(where)
    if isinstance(source, Mapping) and format not in LOGS:
        raise UsageError(
            f"read_scores reads one table with a column for each model, not a file for each; got "
            f"{', '.join(map(repr, source))}. Join the files on their id first, e.g. with pandas' "
            "merge, and give the columns to Scores.from_values or Scores.from_arrays; files that "
            "say right or wrong are joined by op.read(…, id=…, correct=…)"
        )
    if format in LOGS:
        _refuse_of_logs(truth=truth, id=id, groups=groups, **dialect)
        return read_grades(
            source,
            format=format,
            score=score,
            models=models,
            where=where,
            on_missing=on_missing,
            on_null=on_null,
            skip_failed=skip_failed,
        )
    _refuse_of_tables(
        source,
        format=format,
        score=score,
        on_missing=on_missing,
        on_null=on_null,
        skip_failed=skip_failed,
    )
    named = _named(models)
    columns = [*named.values(), *(one for one in (truth, groups) if one is not None)]
    if len(set(columns)) != len(columns):
        raise UsageError(f"every column has one role; got {columns}")
    wanted = [*columns, *(() if id is None else (id,)), *(where or ())]
    asked = replace(Dialect(format=format, **dialect), columns=tuple(wanted))

    def ask(found: Mapping[str, Table], engine: Engine) -> dict[str, list[Any]]:
        if id is not None:
            refuse_repeated_ids(found[""], id, where, engine)
        return _fetch(found[""], columns, where, engine)

    with opened({"": source}, wanted, asked, progress=progress) as tables:
        rows = tables.ask(ask)
    scores = {name: _numbers(rows[column], column) for name, column in named.items()}
    # In text files nothing is missing, so the empty text is no group either.
    grouped = None if groups is None else [None if one == "" else one for one in rows[groups]]
    if truth is None:
        seen = Scores.from_values(scores, groups=grouped)
    else:
        seen = Scores.from_arrays(rows[truth], scores, groups=grouped)
    return replace(seen, sources=tuple(named.values()))


def _refuse_of_logs(**given: Any) -> None:
    names = [name for name, value in given.items() if value is not None]
    if names:
        raise UsageError(
            f"{', '.join(names)} cannot be asked of logs of evaluations, which know their own "
            "columns; choose with models=, score= and where="
        )


def _refuse_of_tables(
    source: Any,
    *,
    format: str | None,
    score: str | None,
    on_missing: str,
    on_null: str,
    skip_failed: bool,
) -> None:
    """Refuse what only logs have, and say what to do with a table."""
    if format is not None and format not in FORMATS:
        raise UsageError(unknown_name("format", format, (*FORMATS, *LOGS)))
    if isinstance(source, Mapping):
        raise UsageError(
            "read_scores reads one table with a column of scores for each model, and a mapping of "
            "models to files only of logs, with format='lm-eval' or 'inspect'; join the files first"
        )
    if not isinstance(source, (str, os.PathLike, list, tuple)) and known_frame(source) is not None:
        raise UsageError(
            "read_scores reads files; give the columns of a frame to op.Scores.from_values"
            "({'bert': frame['bert'], …}), or with the truth to op.Scores.from_arrays"
        )
    if score is not None:
        raise UsageError(
            "score= chooses a score of evaluation logs, read with format='lm-eval' or 'inspect'. "
            "In a table name the column of each model, models=['bert', 'gpt']; if it has one row "
            "for each item and model, make it wide first, e.g. table.pivot(index='id', "
            "columns='model', values='score')"
        )
    for name, given in (("on_missing", on_missing), ("on_null", on_null)):
        if given != "refuse":
            raise UsageError(
                f"{name}= is for evaluation logs, read with format='lm-eval' or 'inspect'; in a "
                "table remove rows that lack a score first, e.g. with dropna()"
            )
    if skip_failed:
        raise UsageError(
            "skip_failed= is for evaluation logs, read with format='lm-eval' or 'inspect'"
        )


def _named(models: Any) -> dict[str, str]:
    if isinstance(models, (str, bytes)) or not isinstance(models, (Mapping, Sequence)):
        raise UsageError(f"models must be a list of columns, e.g. ['bert', 'gpt']; got {models!r}")
    named = dict(models) if isinstance(models, Mapping) else {name: name for name in models}
    if not named or not all(isinstance(one, str) for one in (*named, *named.values())):
        raise UsageError(f"models must name at least one column, as text; got {models!r}")
    return named


def _fetch(
    table: Table, columns: Sequence[str], where: Mapping[str, Any] | None, engine: Engine
) -> dict[str, list[Any]]:
    for name in columns:
        check_family(table, name)
    query = table.select(columns, where=where)
    rows = engine.fetch(query.sql, query.parameters)
    if not rows:
        raise DataError(f"{table.name} has no rows" + (" left after where" if where else ""))
    return {
        name: cells.decode(values, table.family(name), name=name)
        for name, values in zip(columns, map(list, zip(*rows, strict=True)), strict=True)
    }


def _numbers(values: list[Any], name: str) -> FloatArray:
    """Return scores as numbers; in CSV they come as text."""
    found = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            found[row] = np.nan if value is None or value == "" else float(value)
        except (TypeError, ValueError):
            raise DataError(
                f"column {name!r} must hold scores; row {row + 1} holds {value!r}"
            ) from None
    return found
