"""Several tables: gold and one per model, joined on an id inside the engine, loudly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from outperform.errors import DataError
from outperform.findings import Finding
from outperform.ingest import cells
from outperform.ingest.cells import OnNull
from outperform.ingest.files.counting import repeated_ids
from outperform.ingest.files.engine import Engine
from outperform.ingest.files.tables import Table, check_family
from outperform.ingest.grouped import Coded, Grouped, group, refuse_too_many
from outperform.outcomes import Outcomes

OnMissing = Literal["refuse", "drop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One table of a join: whose it is, and which columns it brings."""

    owner: str
    table: Table
    truth: str | None
    prediction: str | None
    groups: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it brings, the truth first."""
        return tuple(name for name in (self.truth, self.prediction) if name is not None)

    @property
    def stored(self) -> tuple[str, ...]:
        """The columns that go into the engine: what it brings, then the group."""
        return (*self.columns, *(() if self.groups is None else (self.groups,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """How tables are joined."""

    id: str
    label: str
    truth: str | None
    groups: str | None = None
    on_missing: OnMissing
    on_null: OnNull


def join(tables: Mapping[str, Table], asked: Join, engine: Engine) -> Outcomes:
    """Join on the id, refuse what does not fit, and count."""
    sides = _take_sides(tables, asked)
    findings = [finding for side in sides for finding in side.table.findings]
    engine.fetch("CREATE OR REPLACE TEMP TABLE gone (id VARCHAR)")
    for place, side in enumerate(sides):
        _store(place, side, asked.id, engine)
        findings += _without_null(place, side, asked.on_null, engine)
    findings += _without_unmatched(sides, asked.on_missing, engine)
    _refuse_disagreement(sides, engine)
    return _outcomes(sides, _count(sides, engine), findings)


def _take_sides(tables: Mapping[str, Table], asked: Join) -> list[Side]:
    """Decide who brings the truth: the first table, and every other that has its column."""
    (owner, first), *others = tables.items()
    truth, label = asked.truth or asked.label, asked.label
    is_model = truth != label and label in first.names
    prediction = label if is_model else None
    sides = [
        Side(owner=owner, table=first, truth=truth, prediction=prediction, groups=asked.groups)
    ]
    for owner, table in others:
        also = truth if truth != label and truth in table.names else None
        sides.append(Side(owner=owner, table=table, truth=also, prediction=label))
    for side in sides:
        for name in (asked.id, *side.stored):
            side.table.scans[0].column(name)
    return sides


def _outcomes(sides: list[Side], found: Grouped, findings: list[Finding]) -> Outcomes:
    names = _brought(sides)
    first, groups = sides[0].table, sides[0].groups
    columns = [
        Coded(cells.decode(one.values, sides[place].table.family(name), name=name), one.codes)
        for (place, name), one in zip(names, found.columns, strict=False)
    ]
    truth = columns[0].values
    owners = [sides[place].owner for place, _ in names[1:]]
    cells.refuse_scores({names[0][1]: truth}, truth)
    cells.refuse_scores(
        {owner: one.values for owner, one in zip(owners, columns[1:], strict=True)}, truth
    )
    refuse_too_many(len(found.counts), first.name, groups=groups)
    together = None
    if groups is not None:
        own = cells.decode(found.columns[-1].values, first.family(groups), name=groups)
        together = cells.group_of_rows(
            Coded(own, found.columns[-1].codes), found.counts, name=groups, table=first.name
        )
    return cells.to_outcomes(
        Grouped(columns, found.counts), models=owners, groups=together, findings=findings
    )


def _brought(sides: list[Side]) -> list[tuple[int, str]]:
    """Return whose column is which: the truth, then each model's."""
    predictions = ((place, side.prediction) for place, side in enumerate(sides))
    every = [(0, sides[0].truth), *predictions]
    return [(place, name) for place, name in every if name is not None]


def _store(place: int, side: Side, id: str, engine: Engine) -> None:
    """Put id and labels of one table into the engine, and see that ids are ids."""
    for name in side.columns:
        check_family(side.table, name)
    query = side.table.select_with_id(id, side.stored)
    engine.scan(f"CREATE OR REPLACE TEMP TABLE j{place} AS {query.sql}", query.parameters)
    ((rows, known, distinct),) = engine.fetch(
        f"SELECT count(*), count(id), count(DISTINCT id) FROM j{place}"
    )
    name = side.table.name
    if not rows:
        raise DataError(f"{name} has no rows")
    if rows != known:
        raise DataError(f"{rows - known} of {rows} rows of {name} have no id in {id!r}")
    if rows != distinct:
        examples = engine.fetch(
            f"SELECT id, count(*) FROM j{place} GROUP BY id HAVING count(*) > 1 ORDER BY id LIMIT 5"
        )
        raise DataError(repeated_ids(name, id, rows - distinct, examples))


def _without_null(place: int, side: Side, on_null: OnNull, engine: Engine) -> list[Finding]:
    """Refuse rows without a label, or leave them out and say so."""
    tests = []
    for number, column in enumerate(side.columns):
        tests.append(f"k{number} IS NULL")
        if side.table.family(column) == "fractions":
            tests.append(f"isnan(k{number})")
        if side.table.family(column) == "json":
            tests.append(f"k{number} IN ('null', 'NaN')")
    test = " OR ".join(tests)
    ((lost,),) = engine.fetch(f"SELECT count(*) FROM j{place} WHERE {test}")
    if not lost:
        return []
    ids = _shown(engine.fetch(f"SELECT id FROM j{place} WHERE {test} ORDER BY id LIMIT 5"))
    names = " or ".join(map(repr, side.columns))
    if on_null == "refuse":
        raise DataError(
            f"{lost} rows of {side.table.name} have no value in {names}, e.g. of the ids {ids}. "
            'Give them a class, or leave these rows out with on_null="drop"'
        )
    message = f"{lost} rows of {side.table.name} have no value in {names} and are left out."
    # The id goes from all tables, so that it is not taken for one that is missing.
    engine.fetch(f"INSERT INTO gone SELECT id FROM j{place} WHERE {test}")
    return [Finding("null_rows_dropped", "warning", message)]


def _without_unmatched(sides: list[Side], on_missing: OnMissing, engine: Engine) -> list[Finding]:
    """Refuse ids that not all tables have, or count how many are left out."""
    for place in range(len(sides)):
        engine.fetch(f"DELETE FROM j{place} WHERE id IN (SELECT id FROM gone)")
    faults = []
    surpluses = 0
    for place, side in enumerate(sides[1:], 1):
        lacking = _only_in(0, place, engine)
        surplus = _only_in(place, 0, engine)
        faults += [
            f"{side.table.name} {verb} {number} ids that {sides[0].table.name} {other}, e.g. {ids}"
            for (number, ids), verb, other in (
                (lacking, "lacks", "has"),
                (surplus, "has", "lacks"),
            )
            if number
        ]
        surpluses += surplus[0]
    if not faults:
        return []
    ((common, first),) = engine.fetch(
        f"SELECT (SELECT count(*) FROM {_joined(len(sides))}), (SELECT count(*) FROM j0)"
    )
    if not common:
        raise DataError("the files have no id in common: " + "; ".join(faults))
    if on_missing == "refuse":
        raise DataError(
            "; ".join(faults) + '. Mend the files, or keep the common ids with on_missing="drop"'
        )
    message = (
        f"{common} ids are in all files; {first - common} others of {sides[0].table.name} and "
        f"{surpluses} ids that it lacks are left out."
    )
    return [Finding("unmatched_ids_dropped", "warning", message)]


def _only_in(one: int, other: int, engine: Engine) -> tuple[int, str]:
    query = f"FROM j{one} ANTI JOIN j{other} USING (id)"
    ((number,),) = engine.fetch(f"SELECT count(*) {query}")
    if not number:
        return 0, ""
    return number, _shown(engine.fetch(f"SELECT id {query} ORDER BY id LIMIT 5"))


def _refuse_disagreement(sides: list[Side], engine: Engine) -> None:
    """Refuse tables that do not agree on the truth of the same document."""
    left = _plain(sides[0], "j0")
    for place, side in enumerate(sides[1:], 1):
        if side.truth is None:
            continue
        query = (
            f"FROM j0 JOIN j{place} USING (id) "
            f"WHERE {left} IS DISTINCT FROM {_plain(side, f'j{place}')}"
        )
        ((number,),) = engine.fetch(f"SELECT count(*) {query}")
        if number:
            ids = _shown(engine.fetch(f"SELECT id {query} ORDER BY id LIMIT 5"))
            raise DataError(
                f"{sides[0].table.name} and {side.table.name} disagree on {side.truth!r} in "
                f"{number} rows, e.g. of the ids {ids}; they must be of the same documents"
            )


def _plain(side: Side, table: str) -> str:
    if side.table.family(str(side.truth)) == "json":
        return f"(CAST({table}.k0 AS JSON) ->> '$')"
    return f"CAST({table}.k0 AS VARCHAR)"


def _joined(count: int) -> str:
    return "j0" + "".join(f" JOIN j{place} USING (id)" for place in range(1, count))


def _count(sides: list[Side], engine: Engine) -> Grouped:
    keys = ["j0.k0"]
    for place, side in enumerate(sides):
        if side.prediction is not None:
            keys.append(f"j{place}.k{len(side.columns) - 1}")
    if sides[0].groups is not None:
        keys.append(f"j0.k{len(sides[0].columns)}")
    found = group(_joined(len(sides)), (), keys=keys, number="count(*)", engine=engine)
    if not len(found.counts):
        raise DataError("no document is left in all files")
    return found


def _shown(rows: list[tuple[Any, ...]]) -> str:
    return ", ".join(repr(one) for (one,) in rows)
