"""One table: counted inside the engine, so that no row ever leaves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from outperform.errors import DataError
from outperform.findings import Finding
from outperform.ingest import cells
from outperform.ingest.engine import Engine
from outperform.ingest.scan import Scan
from outperform.ingest.tables import Table, Where, check_family, numbered
from outperform.outcomes import Outcomes

OnNull = Literal["refuse", "drop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which columns of a table are what."""

    truth: str
    models: Mapping[str, str]  # column by model
    id: str | None = None
    where: Where = None
    on_null: OnNull = "refuse"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are counted, the truth first."""
        return (self.truth, *self.models.values())


def count(table: Table, asked: Asked, engine: Engine) -> Outcomes:
    """Count equal rows of truth and predictions."""
    for name in asked.columns:
        check_family(table, name)
    _refuse_fractions(table, asked, engine)
    if asked.id is not None:
        refuse_repeated_ids(table, asked.id, asked.where, engine)
    inner = table.select(asked.columns, where=asked.where)
    keys = ", ".join(f"k{place}" for place in range(len(asked.columns)))
    rows = engine.fetch(
        f"SELECT {keys}, count(*) FROM ({inner.sql}) GROUP BY {keys} LIMIT {cells.MOST_CELLS + 1}",
        inner.parameters,
    )
    if not rows:
        raise DataError(f"{table.name} has no rows" + (" left after where" if asked.where else ""))
    return _outcomes(table, asked, rows, engine)


def _outcomes(table: Table, asked: Asked, rows: list[tuple[Any, ...]], engine: Engine) -> Outcomes:
    *columns, counts = map(list, zip(*rows, strict=True))
    decoded = [
        cells.decode(values, table.family(name), name=name)
        for name, values in zip(asked.columns, columns, strict=True)
    ]
    by_column = dict(zip(asked.columns, decoded, strict=True))
    cells.refuse_scores(by_column, decoded[0])
    cells.refuse_too_many(len(rows), table.name)
    lost = _missing(by_column, counts)
    if lost and asked.on_null == "refuse":
        raise DataError(_refusal(table, asked, lost, sum(counts), engine))
    kept = [place for place, row in enumerate(zip(*decoded, strict=True)) if None not in row]
    if not kept:
        raise DataError(f"{table.name} has no row with a value in each of {list(asked.columns)}")
    total, left = sum(counts), sum(counts[place] for place in kept)
    kept_columns = [[values[place] for place in kept] for values in decoded]
    return cells.to_outcomes(
        kept_columns[0],
        dict(zip(asked.models, kept_columns[1:], strict=True)),
        [counts[place] for place in kept],
        findings=(*table.findings, *_dropped(table, lost, total - left, total)),
    )


def _missing(columns: Mapping[str, list[Any]], counts: list[int]) -> dict[str, int]:
    """Return how many rows lack a value, by column."""
    lost = {
        name: sum(number for value, number in zip(values, counts, strict=True) if value is None)
        for name, values in columns.items()
    }
    return {name: number for name, number in lost.items() if number}


def _refusal(
    table: Table, asked: Asked, lost: Mapping[str, int], total: int, engine: Engine
) -> str:
    name = next(iter(lost))
    others = "; also " + ", ".join(map(repr, list(lost)[1:])) if len(lost) > 1 else ""
    where = next(
        (
            f"row {row} of {scan.file.name} (counted from 1)"
            for scan in table.scans
            if (row := _first_missing(scan, name, asked.where, engine))
        ),
        table.name,
    )
    return (
        f"column {name!r} has no value in {lost[name]} of {total} rows, the first in {where}"
        f'{others}. Give them a class, or leave these rows out with on_null="drop"'
    )


def _first_missing(scan: Scan, name: str, where: Where, engine: Engine) -> int | None:
    inner = numbered(scan, name, where)
    tests = ["k0 IS NULL"]
    family = scan.column(name).family
    if family == "fractions":
        tests.append("isnan(k0)")
    if family == "json":
        tests.append("k0 IN ('null', 'NaN')")
    ((row,),) = engine.fetch(
        f"SELECT min(r) FROM ({inner.sql}) WHERE f AND ({' OR '.join(tests)})", inner.parameters
    )
    return None if row is None else int(row)


def _dropped(table: Table, lost: Mapping[str, int], number: int, total: int) -> tuple[Finding, ...]:
    if not lost:
        return ()
    names = ", ".join(map(repr, lost))
    message = f"{number} of {total} rows of {table.name} have no value in {names} and are left out."
    return (Finding("null_rows_dropped", "warning", message),)


def _refuse_fractions(table: Table, asked: Asked, engine: Engine) -> None:
    """Look for scores before they are counted one by one."""
    names = [name for name in asked.columns if table.family(name) == "fractions"]
    if not names:
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
