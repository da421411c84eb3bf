"""Choose what to count in one table, and count it inside the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from outperform._typing import AnyArray
from outperform.data.outcomes import Outcomes, RepeatedId
from outperform.data.table import as_counts
from outperform.errors import DataError, OutperformError, param
from outperform.findings import listed
from outperform.io import group_by
from outperform.io.columnar import Column, Scan, names_an_owner
from outperform.io.engine import Engine
from outperform.io.group_by import Coded, Grouped, TableQuery, coded
from outperform.io.tables import Table, Where, check_family, numbered


def not_counts(name: str, table: str, number: int = 0, example: object = None) -> str:
    """Return the message for a column that cannot be counts."""
    value = "nothing" if example is None else repr(example)
    return (
        f"counts must be whole numbers of at least 0, the number of items per row; column "
        f"{name!r} of {table} "
        + (f"has {value} in {number} rows" if number else "has other values")
        + f"; if it contains item weights, pass {param('weight=', name)}"
    )


# Each check rescans the data, so large data are not checked for repeated ids.
MOST_ROWS = 250_000
MOST_BYTES = 128 << 20
_LEAST_VALUES = 10  # columns with fewer distinct values are categories
_LEAST_SIZE = 1.05  # items per distinct value, on average
_MOST_COLUMNS = 3


class Repeats(NamedTuple):
    """Numbers of rows and of distinct values in a column."""

    n_rows: int
    n_values: int

    @property
    def looks_like_groups(self) -> bool:
        """Whether values repeat and are not just a few categories."""
        often = self.n_rows >= _LEAST_SIZE * self.n_values
        return self.n_values >= _LEAST_VALUES and often


def candidates(families: Mapping[str, str], query: TableQuery) -> list[str]:
    """Return the columns to check: unused so far, named like groups, with id-like values."""
    used = {*query.keys, query.id, query.count}
    return [
        name
        for name, family in families.items()
        if family in ("text", "whole numbers", "json") and name not in used and names_an_owner(name)
    ]


def beside(
    outcomes: Outcomes,
    query: TableQuery,
    *,
    repeats: Callable[[], Mapping[str, Repeats]],
    count: Callable[[TableQuery], Outcomes],
) -> Outcomes:
    """Return outcomes that record the columns with repeated ids, fewest distinct ids first.

    This check was not requested, so it must not stop reading. Columns that cannot be read or that
    have missing values are skipped.
    """
    repeated = []
    with suppress(OutperformError):
        known = {name: column for name, column in repeats().items() if column.looks_like_groups}
        coarsest = sorted(known, key=lambda name: known[name].n_values)[:_MOST_COLUMNS]
        for name in coarsest:
            with suppress(DataError):
                grouped = count(replace(query, groups=name, id=None, by=()))
                numbers = known[name]._asdict()
                if grouped.n != outcomes.n:  # rows without a group were dropped
                    continue
                repeated.append(RepeatedId(column=name, outcomes=grouped, **numbers))
    return replace(outcomes, _repeated=tuple(repeated)) if repeated else outcomes


# A direct cast would round text such as "1.5".
_DIGITS = "CASE WHEN regexp_full_match({0}, '[0-9]+') THEN TRY_CAST({0} AS HUGEINT) END"
_COUNTS = {
    "text": _DIGITS,
    "json": _DIGITS,
    "whole numbers": "CASE WHEN {0} >= 0 THEN CAST({0} AS HUGEINT) END",
    "fractions": (
        "CASE WHEN isfinite({0}) AND {0} >= 0 AND {0} = trunc({0}) THEN CAST({0} AS HUGEINT) END"
    ),
}


class NoRows(DataError):
    """Error raised for a table without rows to count."""


def count(table: Table, query: TableQuery, engine: Engine) -> Outcomes:
    """Count equal rows of truth and predictions, and check whether other id columns repeat."""
    outcomes = count_rows(table, query, engine)
    size = sum(scan.file.size for scan in table.scans)
    if query.groups is not None or outcomes.n > MOST_ROWS or size > MOST_BYTES:
        return outcomes
    return beside(
        outcomes,
        query,
        repeats=lambda: _repeats(table, query, engine),
        count=lambda grouped_query: count_rows(table, grouped_query, engine),
    )


def _repeats(table: Table, query: TableQuery, engine: Engine) -> dict[str, Repeats]:
    """Return the repeats of id columns that have no role in the query."""
    families = {name: table.family(name) for name in table.names if table.is_alike(name)}
    names = candidates(families, query)
    if not names:
        return {}
    inner = table.select(names, where=query.where)
    distinct = ", ".join(f"count(DISTINCT k{index})" for index in range(len(names)))
    ((n_rows, *distinct_values),) = engine.fetch(
        f"SELECT count(*), {distinct} FROM ({inner.sql})", inner.parameters
    )
    return {
        name: Repeats(n_rows, values) for name, values in zip(names, distinct_values, strict=True)
    }


def count_rows(table: Table, query: TableQuery, engine: Engine) -> Outcomes:
    """Count equal rows of truth and predictions."""
    for name in query.columns:
        check_family(table, name)
    _refuse_fractions(table, query, engine)
    if query.id is not None:
        query = query.keeping(refuse_repeated_ids(table, query.id, query.where, engine))
    number = "count(*)" if query.count is None else _summed(table, query, engine)
    counts = () if query.count is None else (query.count,)
    inner = table.select((*query.keys, *counts), where=query.where)
    keys = [f"k{index}" for index in range(len(query.keys))]
    grouped = group(f"({inner.sql})", inner.parameters, keys=keys, number=number, engine=engine)
    if not len(grouped.counts):
        raise NoRows(f"{table.name} has no rows" + (" left after where" if query.where else ""))
    columns = [
        Coded(group_by.decode(column.values, table.family(name), name=name), column.codes)
        for column, name in zip(grouped.columns, query.keys, strict=True)
    ]
    return group_by.settle(
        Grouped(columns, grouped.counts),
        query,
        table=table.name,
        findings=table.findings,
        first=lambda name, fault: _first_place(table, query, name, fault, engine),
    )


_FEW = 20_000  # number of combinations up to which fetching values is faster than fetching codes
_PLAIN = {bool, int, str, type(None)}


def group(
    source: str, parameters: Sequence[object], *, keys: Sequence[str], number: str, engine: Engine
) -> Grouped:
    """Count equal rows of a FROM clause inside the engine; many rows are returned as codes."""
    named = ", ".join(f"{key} AS g{index}" for index, key in enumerate(keys))
    engine.scan(
        f"CREATE OR REPLACE TEMP TABLE grouped AS SELECT {named}, {number} AS n FROM {source} "
        f"GROUP BY {', '.join(keys)} LIMIT {group_by.MOST_CELLS + 1}",
        parameters,
    )
    return _few_groups(engine) or _coded_groups(len(keys), engine)


def _few_groups(engine: Engine) -> Grouped | None:
    """Return the counted rows; None if there are many, or if NumPy and Python values differ."""
    ((number,),) = engine.fetch("SELECT count(*) FROM grouped")
    if number > _FEW:
        return None
    *columns, counts = engine.fetch_arrays("SELECT * FROM grouped").values()
    values = [column.tolist() for column in columns if column.dtype.kind in "biuO"]
    if counts.dtype != np.int64 or len(values) < len(columns):
        return None
    if not {*map(type, chain.from_iterable(values))} <= _PLAIN:
        return None
    return Grouped([coded(column) for column in values], as_counts(counts))


def _coded_groups(n_keys: int, engine: Engine) -> Grouped:
    values, joins = [], []
    for index in range(n_keys):
        engine.fetch(
            f"CREATE OR REPLACE TEMP TABLE v{index} AS SELECT value, row_number() OVER () - 1 AS "
            f"code FROM (SELECT DISTINCT g{index} AS value FROM grouped)"
        )
        rows = engine.fetch(f"SELECT value FROM v{index} ORDER BY code")
        values.append([value for (value,) in rows])
        joins.append(f"JOIN v{index} ON g{index} IS NOT DISTINCT FROM v{index}.value")
    codes = ", ".join(f"v{index}.code AS c{index}" for index in range(n_keys))
    # Sums may exceed NumPy integers, so large sums are returned as text.
    arrays = engine.fetch_arrays(
        f"SELECT {codes}, CASE WHEN n < {2**62} THEN CAST(n AS BIGINT) END AS n, "
        f"CASE WHEN n >= {2**62} THEN CAST(n AS VARCHAR) END AS wide FROM grouped {' '.join(joins)}"
    )
    columns = [Coded(labels, arrays[f"c{index}"]) for index, labels in enumerate(values)]
    return Grouped(columns, _counts(arrays["n"], arrays["wide"]))


def _counts(narrow: AnyArray, wide: AnyArray) -> AnyArray:
    if not np.ma.is_masked(narrow):
        return as_counts(np.asarray(narrow))
    texts = [None if count is np.ma.masked else count for count in wide]
    pairs = zip(narrow.tolist(), texts, strict=True)
    return as_counts([count if text is None else int(text) for count, text in pairs])


def _first_place(
    table: Table, query: TableQuery, name: str, fault: group_by.Fault, engine: Engine
) -> str:
    return next(
        (
            named_rows(rows, scan.file.name, scan.lines)
            for scan in table.scans
            if (rows := _first_rows(scan, name, fault, query, engine))
        ),
        "",
    )


_MOST_NAMED = 3  # rows


def named_rows(
    rows: Sequence[int], table: str, lines: Callable[[Sequence[int]], list[int]] | None = None
) -> str:
    """Return the clause that lists the first rows, by line number if the file has lines.

    Examples
    --------
    >>> named_rows([2, 5], "preds.parquet")
    ', the first in rows 2 and 5 of preds.parquet (counted from 1)'
    """
    line_numbers = [] if lines is None else lines(rows)
    unit, numbers = ("line", line_numbers) if line_numbers else ("row", rows)
    several = "s" if len(numbers) > 1 else ""
    note = "" if line_numbers else " (counted from 1)"
    return f", the first in {unit}{several} {listed(map(str, numbers))} of {table}{note}"


def _first_rows(
    scan: Scan, name: str, fault: group_by.Fault, query: TableQuery, engine: Engine
) -> list[int]:
    inner = numbered(scan, name, query.where)
    column = Column("k0", scan.column(name).family)
    empty = query.truth is None or name == query.groups
    test = is_missing(column, empty=empty) if fault == "missing" else is_strange(column)
    rows = engine.fetch(
        f"SELECT r FROM ({inner.sql}) WHERE f AND ({test}) ORDER BY r LIMIT {_MOST_NAMED}",
        inner.parameters,
    )
    return [int(row) for (row,) in rows]


def is_strange(column: Column) -> str:
    """Return the SQL test for values that are not missing, right or wrong."""
    texts = ", ".join(f"'{text}'" for text in ("", *group_by.SAYS_RIGHT))
    return f"lower({column.as_text}) NOT IN ({texts}) AND NOT ({is_missing(column, empty=True)})"


def is_missing(column: Column, *, empty: bool) -> str:
    """Return the SQL test for a missing value; with ``empty``, empty text counts as missing."""
    tests = [f"{column.expression} IS NULL"]
    if column.family == "fractions":
        tests.append(f"isnan({column.expression})")
    if column.family == "json":
        tests.append(f"{column.expression} IN ('null', 'NaN')")
    if empty and column.family in ("text", "json"):
        tests.append(f"{column.as_text} = ''")
    return " OR ".join(tests)


def _refuse_fractions(table: Table, query: TableQuery, engine: Engine) -> None:
    """Raise an error for scores before they are counted as labels."""
    names = [name for name in query.columns if table.family(name) == "fractions"]
    if not names or query.truth is None:
        return
    inner = table.select(names, where=query.where)
    tests = ", ".join(
        f"any_value(k{index}) FILTER (WHERE isfinite(k{index}) AND k{index} <> trunc(k{index}))"
        for index in range(len(names))
    )
    (examples,) = engine.fetch(f"SELECT {tests} FROM ({inner.sql})", inner.parameters)
    group_by.refuse_scores(
        {name: [value] for name, value in zip(names, examples, strict=True) if value is not None},
        [],
        name_of_truth=query.truth,
    )


def _summed(table: Table, query: TableQuery, engine: Engine) -> str:
    """Return the SQL sum of the counts, after checking that all are integers."""
    name = str(query.count)
    cast = _COUNTS.get(table.family(name))
    if cast is None or len({scan.column(name).family for scan in table.scans}) > 1:
        raise DataError(not_counts(name, table.name))
    inner = table.select((name,), where=query.where)
    number, example = engine.fetch(
        f"SELECT count(*), CAST(any_value(k0) AS VARCHAR) FROM ({inner.sql}) "
        f"WHERE ({cast.format('k0')}) IS NULL",
        inner.parameters,
    )[0]
    if number:
        raise DataError(not_counts(name, table.name, number, example))
    return f"sum({cast.format(f'k{len(query.keys)}')})"


def refuse_repeated_ids(table: Table, name: str, where: Where, engine: Engine) -> int:
    """Return the number of items; a missing or repeated id raises an error."""
    inner = table.select((name,), where=where)
    ((rows, known, distinct),) = engine.fetch(
        f"SELECT count(*), count(k0), count(DISTINCT k0) FROM ({inner.sql})", inner.parameters
    )
    if rows != known:
        raise DataError(f"{rows - known} of {rows} rows of {table.name} have no id in {name!r}")
    if known != distinct:
        examples = engine.fetch(
            f"SELECT CAST(k0 AS VARCHAR), count(*) FROM ({inner.sql}) GROUP BY 1 "
            "HAVING count(*) > 1 ORDER BY 1 LIMIT 5",
            inner.parameters,
        )
        raise DataError(repeated_ids(table.name, name, rows - distinct, examples))
    return int(rows)


def repeated_ids(table: str, column: str, surplus: int, examples: list[tuple[object, ...]]) -> str:
    """Return the message for ids that occur more than once."""
    listing = ", ".join(f"{id!r} ({times} times)" for id, times in examples)
    return (
        f"every id must occur once in {table}, but {surplus} rows repeat an id in {column!r}, "
        f"e.g. {listing}"
    )
