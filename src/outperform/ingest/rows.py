"""Rows as arrays, for what must be paired document by document later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from outperform._typing import AnyArray
from outperform.errors import DataError
from outperform.ingest import cells
from outperform.ingest.files.counting import refuse_repeated_ids
from outperform.ingest.files.dialect import Dialect
from outperform.ingest.files.engine import Engine
from outperform.ingest.files.opening import opened
from outperform.ingest.files.tables import Table, check_family


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """The documents of one model, in the order of the file.

    Attributes
    ----------
    ids
        What names each document, as text.
    truth
        The true labels.
    predictions
        The predicted ones.
    """

    ids: AnyArray
    truth: AnyArray
    predictions: AnyArray


def read_rows(source: Any, *, id: str, truth: str, model: str, **dialect: Any) -> Rows:
    r"""Return ids, true labels and one model's predictions as arrays.

    Parameters
    ----------
    source
        As for :func:`outperform.read`.
    id
        The column that names the documents; no id may repeat.
    truth
        The column of the true labels.
    model
        The column of the predictions.
    **dialect
        ``format``, ``separator``, ``quote``, ``header`` and ``encoding`` as for
        :func:`outperform.read`.

    Examples
    --------
    >>> import io
    >>> rows = read_rows(io.StringIO("doc,y,m\na,1,1\nb,0,1\n"), id="doc", truth="y", model="m")
    >>> rows.ids.tolist(), rows.predictions.tolist()
    (['a', 'b'], ['1', '1'])
    """
    wanted = [id, truth, model]
    with opened({"": source}, wanted, Dialect(**dialect)) as tables:
        return tables.ask(lambda found, engine: _rows(found[""], id, (truth, model), engine))


def _rows(table: Table, id: str, columns: tuple[str, str], engine: Engine) -> Rows:
    for name in columns:
        check_family(table, name)
    refuse_repeated_ids(table, id, None, engine)
    query = table.select_with_id(id, columns)
    rows = engine.fetch(query.sql, query.parameters)
    if not rows:
        raise DataError(f"{table.name} has no rows")
    ids, *values = map(list, zip(*rows, strict=True))
    truth, predictions = (
        _labels(cells.decode(column, table.family(name), name=name), name, table.name)
        for name, column in zip(columns, values, strict=True)
    )
    return Rows(ids=_array(ids), truth=truth, predictions=predictions)


def _labels(values: list[Any], name: str, table: str) -> AnyArray:
    cells.refuse_scores({name: values}, [])
    lost = [row for row, value in enumerate(values, 1) if value is None]
    if lost:
        raise DataError(
            f"column {name!r} has no value in {len(lost)} of {len(values)} rows, the first in row "
            f"{lost[0]} of {table} (counted from 1); give them a class"
        )
    return _array(values)


def _array(values: list[Any]) -> AnyArray:
    # As objects, so that text keeps its length and whole numbers theirs.
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
