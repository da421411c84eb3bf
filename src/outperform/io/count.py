"""What to count in one table, and its count inside the engine."""

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
    """Return the sentence for a column that cannot be counts."""
    shown = "nothing" if example is None else repr(example)
    return (
        f"counts say how many items a row stands for: whole numbers, none below 0; column "
        f"{name!r} of {table} "
        + (f"has {shown} in {number} rows" if number else "has others")
        + f"; if it says how much an item matters, give {param('weight=', name)}"
    )


# A look costs another pass, so large data are not looked at.
MOST_ROWS = 250_000
MOST_BYTES = 128 << 20
_LEAST_VALUES = 10  # fewer are a category
_LEAST_SIZE = 1.05  # items a value, on average
_MOST_COLUMNS = 3


class Repeats(NamedTuple):
    """How many rows a column has, and how many different values."""

    n_rows: int
    n_values: int

    @property
    def looks_like_groups(self) -> bool:
        """Whether values repeat and are more than a few categories."""
        often = self.n_rows >= _LEAST_SIZE * self.n_values
        return self.n_values >= _LEAST_VALUES and often


def candidates(families: Mapping[str, str], query: TableQuery) -> list[str]:
    """Return the columns to look at: called like an owner, of ids, and without another role."""
    taken = {*query.keys, query.id, query.count}
    return [
        name
        for name, family in families.items()
        if family in ("text", "whole numbers", "json")
        and name not in taken
        and names_an_owner(name)
    ]


def beside(
    seen: Outcomes,
    query: TableQuery,
    *,
    repeats: Callable[[], Mapping[str, Repeats]],
    count: Callable[[TableQuery], Outcomes],
) -> Outcomes:
    """Return outcomes that remember the columns that repeat, the coarsest first.

    What nobody asked for must not stop the reading: a column in which something is missing, or
    that cannot be read, names no groups.
    """
    found = []
    with suppress(OutperformError):
        known = {name: one for name, one in repeats().items() if one.looks_like_groups}
        coarsest = sorted(known, key=lambda name: known[name].n_values)[:_MOST_COLUMNS]
        for name in coarsest:
            with suppress(DataError):
                together = count(replace(query, groups=name, id=None, by=()))
                numbers = known[name]._asdict()
                if together.n != seen.n:  # rows without a group were dropped
                    continue
                found.append(RepeatedId(column=name, outcomes=together, **numbers))
    return replace(seen, _repeated=tuple(found)) if found else seen


# Text such as "1.5" would be rounded if it were cast as it is.
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
    """There is nothing to count."""


def count(table: Table, query: TableQuery, engine: Engine) -> Outcomes:
    """Count equal rows of truth and predictions, and look whether ids beside them repeat."""
    seen = count_rows(table, query, engine)
    size = sum(scan.file.size for scan in table.scans)
    if query.groups is not None or seen.n > MOST_ROWS or size > MOST_BYTES:
        return seen
    return beside(
        seen,
        query,
        repeats=lambda: _repeats(table, query, engine),
        count=lambda also: count_rows(table, also, engine),
    )


def _repeats(table: Table, query: TableQuery, engine: Engine) -> dict[str, Repeats]:
    """Return how often the ids that nobody asked for occur."""
    families = {name: table.family(name) for name in table.names if table.is_alike(name)}
    names = candidates(families, query)
    if not names:
        return {}
    inner = table.select(names, where=query.where)
    distinct = ", ".join(f"count(DISTINCT k{place})" for place in range(len(names)))
    ((n_rows, *found),) = engine.fetch(
        f"SELECT count(*), {distinct} FROM ({inner.sql})", inner.parameters
    )
    return {name: Repeats(n_rows, values) for name, values in zip(names, found, strict=True)}


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
    keys = [f"k{place}" for place in range(len(query.keys))]
    found = group(f"({inner.sql})", inner.parameters, keys=keys, number=number, engine=engine)
    if not len(found.counts):
        raise NoRows(f"{table.name} has no rows" + (" left after where" if query.where else ""))
    columns = [
        Coded(group_by.decode(one.values, table.family(name), name=name), one.codes)
        for one, name in zip(found.columns, query.keys, strict=True)
    ]
    return group_by.settle(
        Grouped(columns, found.counts),
        query,
        table=table.name,
        findings=table.findings,
        first=lambda name, fault: _first_place(table, query, name, fault, engine),
    )


_FEW = 20_000  # combinations that are fetched as they are, which is quicker than by codes
_PLAIN = {bool, int, str, type(None)}


def group(
    source: str, parameters: Sequence[object], *, keys: Sequence[str], number: str, engine: Engine
) -> Grouped:
    """Count equal rows of a FROM clause inside the engine; many come as codes instead of values."""
    named = ", ".join(f"{key} AS g{place}" for place, key in enumerate(keys))
    engine.scan(
        f"CREATE OR REPLACE TEMP TABLE grouped AS SELECT {named}, {number} AS n FROM {source} "
        f"GROUP BY {', '.join(keys)} LIMIT {group_by.MOST_CELLS + 1}",
        parameters,
    )
    return _few_groups(engine) or _coded_groups(len(keys), engine)


def _few_groups(engine: Engine) -> Grouped | None:
    """Return what was counted; None if it is much, or other values in NumPy than in Python."""
    ((number,),) = engine.fetch("SELECT count(*) FROM grouped")
    if number > _FEW:
        return None
    *columns, counts = engine.fetch_arrays("SELECT * FROM grouped").values()
    values = [column.tolist() for column in columns if column.dtype.kind in "biuO"]
    if counts.dtype != np.int64 or len(values) < len(columns):
        return None
    if not {*map(type, chain.from_iterable(values))} <= _PLAIN:
        return None
    return Grouped([coded(one) for one in values], as_counts(counts))


def _coded_groups(n_keys: int, engine: Engine) -> Grouped:
    values, joins = [], []
    for place in range(n_keys):
        engine.fetch(
            f"CREATE OR REPLACE TEMP TABLE v{place} AS SELECT value, row_number() OVER () - 1 AS "
            f"code FROM (SELECT DISTINCT g{place} AS value FROM grouped)"
        )
        values.append([one for (one,) in engine.fetch(f"SELECT value FROM v{place} ORDER BY code")])
        joins.append(f"JOIN v{place} ON g{place} IS NOT DISTINCT FROM v{place}.value")
    codes = ", ".join(f"v{place}.code AS c{place}" for place in range(n_keys))
    # Sums of weights are wider than any type of numpy, so they come as text.
    arrays = engine.fetch_arrays(
        f"SELECT {codes}, CASE WHEN n < {2**62} THEN CAST(n AS BIGINT) END AS n, "
        f"CASE WHEN n >= {2**62} THEN CAST(n AS VARCHAR) END AS wide FROM grouped {' '.join(joins)}"
    )
    columns = [Coded(one, arrays[f"c{place}"]) for place, one in enumerate(values)]
    return Grouped(columns, _counts(arrays["n"], arrays["wide"]))


def _counts(narrow: AnyArray, wide: AnyArray) -> AnyArray:
    if not np.ma.is_masked(narrow):
        return as_counts(np.asarray(narrow))
    texts = [None if one is np.ma.masked else one for one in wide]
    pairs = zip(narrow.tolist(), texts, strict=True)
    return as_counts([one if text is None else int(text) for one, text in pairs])


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
    """Say which rows come first, by their lines if the file has lines.

    Examples
    --------
    >>> named_rows([2, 5], "preds.parquet")
    ', the first in rows 2 and 5 of preds.parquet (counted from 1)'
    """
    at = [] if lines is None else lines(rows)
    what, numbers, how = ("line", at, "") if at else ("row", rows, " (counted from 1)")
    several = "s" if len(numbers) > 1 else ""
    return f", the first in {what}{several} {listed(map(str, numbers))} of {table}{how}"


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
    """Return the test for a value that is neither missing nor right nor wrong."""
    known = ", ".join(f"'{one}'" for one in ("", *group_by.SAYS_RIGHT))
    return f"lower({column.as_text}) NOT IN ({known}) AND NOT ({is_missing(column, empty=True)})"


def is_missing(column: Column, *, empty: bool) -> str:
    """Return the test for a missing value, the empty text among these if that is no class."""
    tests = [f"{column.expression} IS NULL"]
    if column.family == "fractions":
        tests.append(f"isnan({column.expression})")
    if column.family == "json":
        tests.append(f"{column.expression} IN ('null', 'NaN')")
    if empty and column.family in ("text", "json"):
        tests.append(f"{column.as_text} = ''")
    return " OR ".join(tests)


def _refuse_fractions(table: Table, query: TableQuery, engine: Engine) -> None:
    """Look for scores before they are counted one by one."""
    names = [name for name in query.columns if table.family(name) == "fractions"]
    if not names or query.truth is None:
        return
    inner = table.select(names, where=query.where)
    tests = ", ".join(
        f"any_value(k{place}) FILTER (WHERE isfinite(k{place}) AND k{place} <> trunc(k{place}))"
        for place in range(len(names))
    )
    (found,) = engine.fetch(f"SELECT {tests} FROM ({inner.sql})", inner.parameters)
    group_by.refuse_scores(
        {name: [value] for name, value in zip(names, found, strict=True) if value is not None},
        [],
        name_of_truth=query.truth,
    )


def _summed(table: Table, query: TableQuery, engine: Engine) -> str:
    """Return the expression that adds up the counts, once all of them are whole numbers."""
    name = str(query.count)
    whole = _COUNTS.get(table.family(name))
    if whole is None or len({scan.column(name).family for scan in table.scans}) > 1:
        raise DataError(not_counts(name, table.name))
    inner = table.select((name,), where=query.where)
    number, example = engine.fetch(
        f"SELECT count(*), CAST(any_value(k0) AS VARCHAR) FROM ({inner.sql}) "
        f"WHERE ({whole.format('k0')}) IS NULL",
        inner.parameters,
    )[0]
    if number:
        raise DataError(not_counts(name, table.name, number, example))
    return f"sum({whole.format(f'k{len(query.keys)}')})"


def refuse_repeated_ids(table: Table, name: str, where: Where, engine: Engine) -> int:
    """Refuse items that are there twice, or that have no id; return how many there are."""
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
    """Return the sentence for ids that occur more than once."""
    shown = ", ".join(f"{one!r} ({times} times)" for one, times in examples)
    return (
        f"every id must be in {table} once, but {surplus} rows repeat an id in {column!r}, "
        f"e.g. {shown}"
    )
