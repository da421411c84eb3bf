"""One table: counted inside the engine, so that no row ever leaves it."""

from __future__ import annotations

import os
from typing import Any

from outperform.errors import DataError
from outperform.ingest import cells
from outperform.ingest.asked import Asked, not_counts
from outperform.ingest.belonging import MOST_BYTES, MOST_ROWS, Repeats, beside, candidates
from outperform.ingest.files.engine import Engine
from outperform.ingest.files.scan import Column, Scan
from outperform.ingest.files.tables import Table, Where, check_family, numbered
from outperform.ingest.grouped import Coded, Grouped, group
from outperform.outcomes import Outcomes

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


def count(table: Table, asked: Asked, engine: Engine) -> Outcomes:
    """Count equal rows of truth and predictions, and look whether ids beside them repeat."""
    seen = _count(table, asked, engine)
    size = sum(os.path.getsize(scan.file.path) for scan in table.scans)
    if asked.groups is not None or seen.n > MOST_ROWS or size > MOST_BYTES:
        return seen
    return beside(
        seen,
        asked,
        repeats=lambda: _repeats(table, asked, engine),
        count=lambda also: _count(table, also, engine),
    )


def _repeats(table: Table, asked: Asked, engine: Engine) -> dict[str, Repeats]:
    """Return how often the ids that nobody asked for occur."""
    families = {name: table.family(name) for name in table.names if table.is_alike(name)}
    names = candidates(families, asked)
    if not names:
        return {}
    inner = table.select(names, where=asked.where)
    distinct = ", ".join(f"count(DISTINCT k{place})" for place in range(len(names)))
    ((n_rows, *found),) = engine.fetch(
        f"SELECT count(*), {distinct} FROM ({inner.sql})", inner.parameters
    )
    return {name: Repeats(n_rows, values) for name, values in zip(names, found, strict=True)}


def _count(table: Table, asked: Asked, engine: Engine) -> Outcomes:
    """Count equal rows of truth and predictions."""
    for name in asked.columns:
        check_family(table, name)
    _refuse_fractions(table, asked, engine)
    if asked.id is not None:
        refuse_repeated_ids(table, asked.id, asked.where, engine)
    number = "count(*)" if asked.count is None else _summed(table, asked, engine)
    counts = () if asked.count is None else (asked.count,)
    inner = table.select((*asked.keys, *counts), where=asked.where)
    keys = [f"k{place}" for place in range(len(asked.keys))]
    found = group(f"({inner.sql})", inner.parameters, keys=keys, number=number, engine=engine)
    if not len(found.counts):
        raise DataError(f"{table.name} has no rows" + (" left after where" if asked.where else ""))
    columns = [
        Coded(cells.decode(one.values, table.family(name), name=name), one.codes)
        for one, name in zip(found.columns, asked.keys, strict=True)
    ]
    return cells.settle(
        Grouped(columns, found.counts),
        asked,
        table=table.name,
        findings=table.findings,
        first=lambda name, fault: _first_place(table, asked, name, fault, engine),
    )


def _first_place(table: Table, asked: Asked, name: str, fault: cells.Fault, engine: Engine) -> str:
    return next(
        (
            f", the first in row {row} of {scan.file.name} (counted from 1)"
            for scan in table.scans
            if (row := _first_row(scan, name, fault, asked, engine))
        ),
        "",
    )


def _first_row(
    scan: Scan, name: str, fault: cells.Fault, asked: Asked, engine: Engine
) -> int | None:
    inner = numbered(scan, name, asked.where)
    column = Column("k0", scan.column(name).family)
    empty = asked.truth is None
    test = is_missing(column, empty=empty) if fault == "missing" else is_strange(column)
    ((row,),) = engine.fetch(
        f"SELECT min(r) FROM ({inner.sql}) WHERE f AND ({test})", inner.parameters
    )
    return None if row is None else int(row)


def is_strange(column: Column) -> str:
    """Return the test for a value that is neither missing nor right nor wrong."""
    known = ", ".join(f"'{one}'" for one in ("", *cells.SAYS_RIGHT))
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


def _refuse_fractions(table: Table, asked: Asked, engine: Engine) -> None:
    """Look for scores before they are counted one by one."""
    names = [name for name in asked.columns if table.family(name) == "fractions"]
    if not names or asked.truth is None:
        return
    inner = table.select(names, where=asked.where)
    tests = ", ".join(
        f"any_value(k{place}) FILTER (WHERE isfinite(k{place}) AND k{place} <> trunc(k{place}))"
        for place in range(len(names))
    )
    (found,) = engine.fetch(f"SELECT {tests} FROM ({inner.sql})", inner.parameters)
    cells.refuse_scores(
        {name: [value] for name, value in zip(names, found, strict=True) if value is not None}, []
    )


def _summed(table: Table, asked: Asked, engine: Engine) -> str:
    """Return the expression that adds up the counts, once all of them are whole numbers."""
    name = str(asked.count)
    whole = _COUNTS.get(table.family(name))
    if whole is None or len({scan.column(name).family for scan in table.scans}) > 1:
        raise DataError(not_counts(name, table.name))
    inner = table.select((name,), where=asked.where)
    number, example = engine.fetch(
        f"SELECT count(*), CAST(any_value(k0) AS VARCHAR) FROM ({inner.sql}) "
        f"WHERE ({whole.format('k0')}) IS NULL",
        inner.parameters,
    )[0]
    if number:
        raise DataError(not_counts(name, table.name, number, example))
    return f"sum({whole.format(f'k{len(asked.keys)}')})"


def refuse_repeated_ids(table: Table, name: str, where: Where, engine: Engine) -> None:
    """Refuse documents that are there twice, or that have no id."""
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


def repeated_ids(table: str, column: str, surplus: int, examples: list[tuple[Any, ...]]) -> str:
    """Return the sentence for ids that occur more than once."""
    shown = ", ".join(f"{one!r} ({times} times)" for one, times in examples)
    return (
        f"every id must be in {table} once, but {surplus} rows repeat an id in {column!r}, "
        f"e.g. {shown}"
    )
