"""Add up scores inside the engine: the moments and the most influential units of a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from outperform._typing import FloatArray
from outperform.data.moments import OWN, SHARED, SIZE, Kind, Moments, Term
from outperform.errors import DataError, param
from outperform.findings import Finding, finding, quoted
from outperform.io.columnar import Column
from outperform.io.engine import Engine
from outperform.io.group_by import OnNull
from outperform.io.tables import Query, Table, Where

# Rows beyond which scores are added up in the engine. With a million rows of two models, adding
# them up takes about a tenth of the time and a third of the memory of reading them.
MOST_ROWS = 1_000_000
# A row takes at least this many bytes of a text file.
_LEAST_BYTES = 4
# Rows that determine the origin, which affects rounding only.
_FIRST = 10_000
# Among this many units, the influence that one in so many exceeds; most of the others need not be
# looked at, unless the first units are unlike the rest.
_SAMPLED, _SHARE = 100_000, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumns:
    """Roles of the columns of a table of scores."""

    models: Mapping[str, str]  # column by model
    truth: str | None
    groups: str | None
    where: Where
    on_null: OnNull

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that are read, the models' first."""
        others = (name for name in (self.truth, self.groups) if name is not None)
        return (*self.models.values(), *others)


def are_many(table: Table, where: Where, engine: Engine) -> bool:
    """Return whether a table has more rows than are kept in memory."""
    size = sum(scan.file.size for scan in table.scans)
    if any(scan.is_text for scan in table.scans) and size < _LEAST_BYTES * MOST_ROWS:
        return False
    inner = table.select(table.names[:1], where=where)
    ((n_rows,),) = engine.fetch(f"SELECT count(*) FROM ({inner.sql})", inner.parameters)
    return int(n_rows) > MOST_ROWS


def holds_targets(table: Table, columns: ScoreColumns, engine: Engine) -> bool:
    """Return whether the truth consists of numbers that are not all integers."""
    if columns.truth is None:
        return False
    inner = table.select((columns.truth,), where=columns.where)
    number = as_number(Column("k0", table.family(columns.truth)))
    ((n_texts, n_fractions),) = engine.fetch(
        "SELECT count(*) FILTER (k0 IS NOT NULL AND y IS NULL), count(*) FILTER (y <> trunc(y)) "
        f"FROM (SELECT k0, {number} AS y FROM ({inner.sql}))",
        inner.parameters,
    )
    return bool(n_texts == 0 and n_fractions > 0)


def as_number(column: Column) -> str:
    """Return the SQL of a column as a number; NULL if it is none."""
    if column.family == "other":
        return "CAST(NULL AS DOUBLE)"
    cast = "TRY_CAST" if column.family in ("text", "json") else "CAST"
    text = column.as_text if column.family == "json" else column.expression
    return f"{cast}({text} AS DOUBLE)"


def add_up(
    table: Table, columns: ScoreColumns, engine: Engine, *, terms: Collection[str] | None = None
) -> tuple[Moments, tuple[Finding, ...]]:
    """Return the moments of a table's scores, and findings about rows that were dropped.

    Parameters
    ----------
    table, columns, engine
        The table, the roles of its columns, and the engine that reads it.
    terms
        Names of the terms to add up. None means all that this kind of scores has.
    """
    inner = table.select(columns.names, where=columns.where)
    families = {name: table.family(name) for name in columns.names}
    numbers = [*columns.models.values(), *(() if columns.truth is None else (columns.truth,))]
    parts = [
        f"{as_number(Column(f'k{index}', families[name]))} AS x{index}"
        for index, name in enumerate(numbers)
    ]
    if columns.groups is not None:
        parts.append(f"k{len(numbers)} AS g")
    rows = Query(sql=f"SELECT {', '.join(parts)} FROM ({inner.sql})", parameters=inner.parameters)
    summed = _Summed(
        kind="grades" if columns.truth is None else "targets",
        models=tuple(columns.models),
        rows=rows,
        grouped=columns.groups is not None,
        ask=engine.fetch,
        run=engine.scan,
        wanted=terms,
    )
    moments = summed.moments()
    if moments is not None:
        return moments, ()
    findings = _refuse_or_report(table, columns, inner, numbers, engine)
    known = " AND ".join(
        [
            *(f"x{index} IS NOT NULL AND NOT isnan(x{index})" for index in range(len(numbers))),
            *(() if columns.groups is None else ("g IS NOT NULL AND CAST(g AS VARCHAR) <> ''",)),
        ]
    )
    complete = Query(sql=f"SELECT * FROM ({rows.sql}) WHERE {known}", parameters=rows.parameters)
    moments = replace(summed, rows=complete).moments()
    if moments is None:
        raise DataError(f"{table.name} has no row with a value in each of {list(columns.names)}")
    return moments, findings


def _refuse_or_report(
    table: Table, columns: ScoreColumns, inner: Query, numbers: Sequence[str], engine: Engine
) -> tuple[Finding, ...]:
    """Raise an error for values that are no finite numbers, or report the rows without a value."""
    selected = ["count(*)"]
    for index, name in enumerate(columns.names):
        column = Column(f"k{index}", table.family(name))
        text = f"CAST(k{index} AS VARCHAR)"
        number = as_number(column)
        if name not in numbers:
            selected += [f"count(*) FILTER (k{index} IS NULL OR {text} = '')", "0", "0", "NULL"]
            continue
        missing = f"k{index} IS NULL OR {text} = '' OR coalesce(isnan({number}), false)"
        strange = f"{number} IS NULL AND NOT ({missing})"
        selected += [
            f"count(*) FILTER ({missing})",
            f"count(*) FILTER ({strange})",
            f"count(*) FILTER (isinf({number}))",
            f"min({text}) FILTER ({strange})",
        ]
    ((n_rows, *counts),) = engine.fetch(
        f"SELECT {', '.join(selected)} FROM ({inner.sql})", inner.parameters
    )
    if not n_rows:
        raise DataError(
            f"{table.name} has no rows" + (" left after where" if columns.where else "")
        )
    lost = {}
    for index, name in enumerate(columns.names):
        missing, strange, infinite, example = counts[4 * index : 4 * index + 4]
        if strange:
            raise DataError(
                f"column {name!r} of {table.name} must contain scores; got {example!r}, and in "
                f"{strange:,} of {n_rows:,} rows no number"
            )
        if infinite:
            raise DataError(
                f"column {name!r} of {table.name} contains infinite numbers in {infinite:,} of "
                f"{n_rows:,} rows; scores must be finite"
            )
        if missing:
            lost[name] = missing
    if not lost:
        return ()
    if columns.on_null == "raise":
        name, *others = lost
        also = (
            f"; also {', '.join(f'{name!r} in {lost[name]}' for name in others)}" if others else ""
        )
        raise DataError(
            f"column {name!r} has no value in {lost[name]} of {n_rows} rows of {table.name}{also}. "
            f"Give them a value, or drop these rows with {param('on_null=', 'drop')}"
        )
    some = " OR ".join(
        f"k{index} IS NULL OR CAST(k{index} AS VARCHAR) IN ('', 'nan', 'NaN')"
        for index in range(len(columns.names))
    )
    ((n_lost,),) = engine.fetch(
        f"SELECT count(*) FILTER ({some}) FROM ({inner.sql})", inner.parameters
    )
    report = finding(
        "null_rows_dropped/rows",
        n=n_lost,
        total=n_rows,
        table=table.name,
        columns=quoted(lost, most=None),
    )
    return (report,)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Summed:
    """Statements that add up rows: their numbers are x0, x1, … (the truth last), their group g."""

    kind: Kind
    models: tuple[str, ...]
    rows: Query
    grouped: bool
    ask: Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
    run: Callable[[str, Sequence[Any]], None]
    wanted: Collection[str] | None

    def moments(self) -> Moments | None:
        """Return the moments; None if some values are missing or no finite numbers."""
        origin = self._origin()
        if origin is None:
            return None
        terms = self._terms(origin)
        units = self._units(terms)
        whole = self._whole(units, terms, origin)
        if whole is None:
            return None
        columns = {term: f"t{index}" for index, term in enumerate(terms)}
        # A Poisson deviance of negative numbers is undefined.
        known = [term for term, total in zip(terms, whole.totals, strict=False) if total == total]
        whole = whole.keep((*known, SIZE))
        names = [columns[term] for term in known]
        return whole.listing(lambda n: self._largest(units, whole, names, n))

    def _origin(self) -> float | None:
        """Return a number near the grades or targets; None if there are no rows."""
        index = len(self.models) if self.kind == "targets" else 0
        ((mean,),) = self.ask(
            f"SELECT avg(x{index}) FROM (SELECT x{index} FROM ({self.rows.sql}) LIMIT {_FIRST})",
            self.rows.parameters,
        )
        return None if mean is None or not np.isfinite(mean) else float(np.float32(mean))

    def _terms(self, origin: float) -> dict[Term, str]:
        """Return the SQL of each term of a row, except its size."""
        if self.kind == "grades":
            return {
                ("value", model): f"(x{index} - {_literal(origin)})"
                for index, model in enumerate(self.models)
            }
        y, here = f"x{len(self.models)}", _literal(origin)
        away = f"({y} - {here})"
        sql: dict[Term, str] = {("target", None): away, ("target square", None): f"{away} * {away}"}
        for index, model in enumerate(self.models):
            p, r = f"x{index}", f"({y} - x{index})"
            deviance = (
                f"CASE WHEN {y} > 0 AND {p} > 0 THEN 2 * ({y} * ln({y} / {p}) - {y} + {p}) "
                f"WHEN {y} = 0 AND {p} > 0 THEN 2 * {p} END"
            )
            of_model = (r, f"{r} * {r}", f"{away} * {r}", f"abs{r}", deviance)
            sql |= {
                (name, model): expression
                for name, expression in zip(OWN["targets"], of_model, strict=True)
            }
        wanted = {*OWN["targets"], *SHARED["targets"]} if self.wanted is None else {*self.wanted}
        wanted |= {"residual", "target"}  # other terms are linear in them at another origin
        return {term: expression for term, expression in sql.items() if term[0] in wanted}

    def _units(self, terms: Mapping[Term, str]) -> Query:
        """Return a SELECT of units: terms t0, t1, …, size, and d0, … for pairs that differ."""
        pairs = [*combinations(range(len(self.models)), 2)]
        parts = [f"{expression} AS t{index}" for index, expression in enumerate(terms.values())]
        parts += [f"x{a} <> x{b} AS d{index}" for index, (a, b) in enumerate(pairs)]
        parts += [f"x{index}" for index in range(len(self.models))]
        if not self.grouped:
            return Query(
                sql=f"SELECT {', '.join(parts)} FROM ({self.rows.sql})",
                parameters=self.rows.parameters,
            )
        sums = [f"sum(t{index}) AS t{index}" for index in range(len(terms))]
        sums += [f"bool_or(d{index}) AS d{index}" for index in range(len(pairs))]
        sums += [f"min(x{m}) AS low{m}, max(x{m}) AS high{m}" for m in range(len(self.models))]
        sums += [f"count(t{index}) AS n{index}" for index in range(len(terms))]
        self.run(
            f"CREATE OR REPLACE TEMP TABLE units AS SELECT {', '.join(sums)}, "
            "CAST(count(*) AS DOUBLE) AS size, g IS NOT NULL AND CAST(g AS VARCHAR) <> '' AS known "
            f"FROM (SELECT {', '.join(parts)}, g FROM ({self.rows.sql})) GROUP BY g",
            self.rows.parameters,
        )
        return Query(sql="SELECT * FROM units")

    def _whole(self, units: Query, terms: Mapping[Term, str], origin: float) -> Moments | None:
        columns = [f"t{index}" for index in range(len(terms))]
        n_models, n_terms = len(self.models), len(columns)
        pairs = [*combinations(range(n_models), 2)]
        selected = ["count(*)", "sum(size)" if self.grouped else "count(*)"]
        for index in range(n_models):
            low, high = (f"low{index}", f"high{index}") if self.grouped else (f"x{index}",) * 2
            selected += [f"min({low})", f"max({high})"]
        selected += [f"count(*) FILTER (d{index})" for index in range(len(pairs))]
        selected += [f"sum(n{index})" if self.grouped else f"count(t{index})"
                  for index in range(n_terms)]  # fmt: skip
        selected += ["count(*) FILTER (known)" if self.grouped else "count(*)"]
        selected += [f"sum({column})" for column in columns]
        products = [(i, j) for i in range(n_terms) for j in range(i, n_terms)]
        selected += [f"sum({columns[i]} * {columns[j]})" for i, j in products]
        if self.grouped:
            selected += [f"sum({column} * size)" for column in columns] + ["sum(size * size)"]
        (row,) = self.ask(f"SELECT {', '.join(selected)} FROM ({units.sql})", units.parameters)
        n_units, n, *rest = row
        ends, rest = rest[: 2 * n_models], rest[2 * n_models :]
        differing, rest = rest[: len(pairs)], rest[len(pairs) :]
        defined, rest = rest[:n_terms], rest[n_terms:]
        known, rest = rest[0], rest[1:]
        sums, rest = rest[:n_terms], rest[n_terms:]
        must = [index for index, (name, _) in enumerate(terms) if name != "deviance"]
        if known != n_units or any(defined[index] != n for index in must):
            return None
        if not np.isfinite([*ends, *(sums[index] for index in must)]).all():
            return None
        totals = np.full(n_terms + 1, np.nan)
        matrix = np.full((n_terms + 1, n_terms + 1), np.nan)
        for index, value in enumerate(sums):
            totals[index] = value if defined[index] == n else np.nan
        totals[-1] = n
        for (i, j), value in zip(products, rest, strict=False):
            matrix[i, j] = matrix[j, i] = np.nan if value is None else value
        with_size = rest[len(products) :] if self.grouped else [*sums, n]
        matrix[-1, :] = matrix[:, -1] = [np.nan if value is None else value for value in with_size]
        apart = np.zeros((n_models, n_models), dtype=np.int64)
        for (a, b), value in zip(pairs, differing, strict=True):
            apart[a, b] = apart[b, a] = value
        return Moments(
            kind=self.kind,
            models=self.models,
            terms=(*terms, SIZE),
            origin=origin,
            grouped=self.grouped,
            n_units=int(n_units),
            totals=totals,
            products=matrix,
            heavy=np.empty((0, n_terms + 1)),
            low=np.array(ends[0::2], dtype=np.float64),
            high=np.array(ends[1::2], dtype=np.float64),
            apart=apart,
        )

    def _largest(
        self, units: Query, whole: Moments, columns: Sequence[str], n_listed: int
    ) -> FloatArray:
        """Return the terms of the most influential units, in an order that is always the same."""
        size = "size" if self.grouped else "1"
        functions = [
            " + ".join(
                f"{_literal(value)} * {column}"
                for value, column in zip(row, [*columns, size], strict=True)
                if value != 0
            )
            for row in whole.influences()
        ]
        if not functions:  # all units are equal
            return np.empty((0, len(whole.terms)))
        sizes = [f"abs({function})" for function in functions]
        influence = f"greatest({', '.join(sizes)})" if len(sizes) > 1 else sizes[0]
        listed = f"SELECT {', '.join([*columns, f'{size} AS size'])}, {influence} AS u FROM"
        ordered = f"ORDER BY {', '.join(['u DESC', *columns])} LIMIT {n_listed}"

        def ask(source: str) -> FloatArray:
            query = f"SELECT {', '.join([*columns, 'size'])} FROM ({listed} {source}) {ordered}"
            rows = self.ask(query, units.parameters)
            return np.array(rows, dtype=np.float64).reshape(-1, len(whole.terms))

        if whole.n_units > 4 * _SHARE * n_listed:
            # Without the filter, every row would be compared with the largest so far.
            rows = self.ask(
                f"SELECT u FROM ({listed} ({units.sql}) LIMIT {_SAMPLED}) ORDER BY u DESC LIMIT 1 "
                f"OFFSET {_SAMPLED // _SHARE}",
                units.parameters,
            )
            least = _literal(rows[0][0])
            tests = " OR ".join(f"{size} > {least}" for size in sizes)
            largest = ask(f"({units.sql}) WHERE {tests}")
            if len(largest) == n_listed:
                return largest
        return ask(f"({units.sql})")


def _literal(value: float) -> str:
    """Return a number as a literal that the engine reads as a double.

    Examples
    --------
    >>> _literal(0.1)
    '1.00000000000000006e-01'
    """
    return f"{value:.17e}"
