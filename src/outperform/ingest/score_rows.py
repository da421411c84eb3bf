"""``read_scores``: rows of scores from files, into memory, because scores do not add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from outperform._typing import FloatArray
from outperform.errors import DataError, UsageError
from outperform.ingest import cells
from outperform.ingest.files.counting import refuse_repeated_ids
from outperform.ingest.files.dialect import Dialect
from outperform.ingest.files.engine import Engine, Progress
from outperform.ingest.files.opening import opened
from outperform.ingest.files.tables import Table, check_family, check_where
from outperform.outcomes import Scores


def read_scores(
    source: Any,
    *,
    models: Sequence[str] | Mapping[str, str],
    truth: str | None = None,
    id: str | None = None,
    groups: str | None = None,
    where: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **dialect: Any,
) -> Scores:
    r"""Read the scores of models from files; unlike labels, they have to come into memory.

    Parameters
    ----------
    source
        A path, a folder, a pattern, ``"-"`` for standard input, an open file, or a list of these
        with the same columns, as for :func:`read`.
    models
        The columns of the scores, or columns by name of the model.
    truth
        The column of the true labels; None for grades, which have no truth.
    id
        The column that names the documents; no id may repeat.
    groups
        The column that names the group of each row, such as the item that was answered.
    where
        The rows to keep: a value, or a list of them, for each column.
    progress
        Called with how much is done, and with how much there is.
    **dialect
        ``format``, ``separator``, ``quote``, ``header`` and ``encoding`` as for :func:`read`.

    Examples
    --------
    >>> import io
    >>> import outperform as op
    >>> file = io.StringIO("item,gpt,llama\n1,7,6.5\n1,8,7\n2,3,4\n")
    >>> op.read_scores(file, models=["gpt", "llama"], groups="item")
    Scores(n=3, models=('gpt', 'llama'), groups=2)
    """
    check_where(where)
    named = _named(models)
    columns = [*named.values(), *(one for one in (truth, groups) if one is not None)]
    if len(set(columns)) != len(columns):
        raise UsageError(f"every column has one role; got {columns}")
    wanted = [*columns, *(() if id is None else (id,)), *(where or ())]
    asked = replace(Dialect(**dialect), columns=tuple(wanted))

    def ask(found: Mapping[str, Table], engine: Engine) -> dict[str, list[Any]]:
        if id is not None:
            refuse_repeated_ids(found[""], id, where, engine)
        return _fetch(found[""], columns, where, engine)

    with opened({"": source}, wanted, asked, progress=progress) as tables:
        rows = tables.ask(ask)
    scores = {name: _numbers(rows[column], column) for name, column in named.items()}
    grouped = None if groups is None else rows[groups]
    if truth is None:
        return Scores.from_values(scores, groups=grouped)
    return Scores.from_arrays(rows[truth], scores, groups=grouped)


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
