"""Join gold and one table per model on an id inside the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

from outperform._typing import Source
from outperform.data.drawn import Declared
from outperform.data.items import MOST_ITEMS
from outperform.data.missing import UNDECLARED, MissingTexts
from outperform.data.outcomes import Outcomes
from outperform.data.views import of_items
from outperform.errors import DataError, UsageError, param
from outperform.findings import Finding, counted, finding
from outperform.io import group_by
from outperform.io.columnar import Column
from outperform.io.count import group, is_missing, is_strange, repeated_ids
from outperform.io.engine import Engine
from outperform.io.formats import Dialect
from outperform.io.group_by import Coded, Grouped, OnNull, refuse_too_many
from outperform.io.logs.samples import is_right
from outperform.io.tables import Table, check_family, opened

OnMissing = Literal["raise", "drop"]
GOLD = ("gold", "truth", "ground_truth", "y_true", "labels", "reference")
_RIGHT_OR_WRONG = {"acc", "correct", "exact_match", "is_correct", "pass", "passed", "right"}


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
    """How tables are joined: what each has for a label, or whether it says right or wrong."""

    id: str
    label: str
    truth: str | None
    correct: bool = False
    groups: str | None = None
    on_missing: OnMissing
    on_null: OnNull
    missing: MissingTexts = UNDECLARED


def join(tables: Mapping[str, Table], wanted: Join, engine: Engine) -> Outcomes:
    """Join on the id, refuse what does not fit, and count."""
    sides = _take_sides(tables, wanted)
    findings = [finding for side in sides for finding in side.table.findings]
    engine.fetch("CREATE OR REPLACE TEMP TABLE gone (id VARCHAR)")
    for place, side in enumerate(sides):
        _store(place, side, wanted.id, engine)
        findings += _without_null(place, side, wanted, engine)
    findings += _without_unmatched(sides, wanted.on_missing, engine)
    _refuse_disagreement(sides, engine)
    return _outcomes(sides, _count(sides, engine), wanted, findings, engine)


def _take_sides(tables: Mapping[str, Table], wanted: Join) -> list[Side]:
    """Decide who brings what; a table that is gold alone comes first."""
    label = wanted.label
    gold, truth = (None, None) if wanted.correct else _find_truth(tables, wanted)
    ordered = sorted(tables, key=lambda owner: owner != gold)
    sides = []
    for owner in ordered:
        brings = (
            truth if owner == gold or (truth != label and truth in tables[owner].names) else None
        )
        prediction = None if owner == gold else label
        sides.append(Side(owner=owner, table=tables[owner], truth=brings, prediction=prediction))
    place = _truth_place(sides)
    sides[place] = replace(sides[place], groups=wanted.groups)
    for side in sides:
        for name in (wanted.id, *side.stored):
            side.table.scans[0].column(name)
    return sides


def _find_truth(tables: Mapping[str, Table], wanted: Join) -> tuple[str | None, str]:
    """Return which table is gold and no model, if one is, and the column of the true labels.

    No table is taken for gold because of its place: it is called so, or ``truth`` names it, or
    ``truth`` names a column that it has.
    """
    label, truth = wanted.label, wanted.truth
    called = [owner for owner in tables if owner.lower() in GOLD]
    if truth is not None and truth in tables:
        return truth, truth if truth in tables[truth].names else label
    if truth is not None and truth != label:
        having = [owner for owner, table in tables.items() if truth in table.names]
        if not having:
            next(iter(tables.values())).column(truth)
        alone = [one for one in having if one in called or label not in tables[one].names]
        return next(iter(alone), None), truth
    if len(called) == 1:
        return called[0], label
    names = ", ".join(map(repr, tables))
    if called:
        shown = " and ".join(map(repr, called))
        raise UsageError(
            f"{shown} are both called gold; say which is, e.g. {param('truth=', called[0])}"
        )
    raise UsageError(
        f"none of the files {names} is called gold, and a model's file is never taken for it. If "
        f"they say whether each model was right, name that column: {param('correct=', label)}. If "
        f"one of them has the true labels, name it, e.g. {param('truth=', next(iter(tables)))}, or "
        "call it 'gold'"
    )


def _truth_place(sides: Sequence[Side]) -> int:
    """Return whose truth counts: that of the first that has it."""
    return next((place for place, side in enumerate(sides) if side.truth is not None), 0)


def _outcomes(
    sides: list[Side], found: Grouped, wanted: Join, findings: list[Finding], engine: Engine
) -> Outcomes:
    names = _brought(sides)
    owner = sides[_truth_place(sides)]
    first, groups = owner.table, owner.groups
    columns = [
        Coded(group_by.decode(one.values, sides[place].table.family(name), name=name), one.codes)
        for (place, name), one in zip(names, found.columns, strict=False)
    ]
    models = [sides[place].owner for place, _ in names[0 if wanted.correct else 1 :]]
    if wanted.correct:
        columns = [
            group_by.as_right(
                one, found.counts, name, partial(_first_ids, sides[place], place, engine)
            )
            for (place, name), one in zip(names, columns, strict=True)
        ]
    else:
        truth = columns[0].values
        group_by.refuse_scores({names[0][1]: truth}, truth, name_of_truth=names[0][1])
        group_by.refuse_scores(
            {model: one.values for model, one in zip(models, columns[1:], strict=True)}, truth
        )
        findings = [*findings, *_gold_findings(owner, truth)]
    refuse_too_many(len(found.counts), first.name, groups=groups)
    together, others = None, found.columns[len(columns) :]
    if groups is not None:
        own = group_by.decode(others[0].values, first.family(groups), name=groups)
        together = group_by.group_of_rows(
            Coded(own, others[0].codes), found.counts, name=groups, table=first.name
        )
    kept = len(others) > (groups is not None)
    return group_by.to_outcomes(
        Grouped(columns, found.counts),
        models=models,
        groups=together,
        ids=group_by.ids_of_rows(others[-1]) if kept else None,
        correct=wanted.correct,
        missing=wanted.missing,
        findings=findings,
    )


def _first_ids(side: Side, place: int, engine: Engine, name: str, fault: group_by.Fault) -> str:
    """Say which ids have values that are neither right nor wrong."""
    column = Column(f"k{len(side.columns) - 1}", side.table.column(name).family)
    rows = engine.fetch(f"SELECT id FROM j{place} WHERE {is_strange(column)} ORDER BY id LIMIT 5")
    return f" of {side.table.name}, as for the ids {_shown(rows)}"


def _gold_findings(gold: Side, truth: Sequence[object]) -> list[Finding]:
    """Say so if the true labels look like whether a model was right."""
    if gold.prediction is not None:
        return []
    said = {str(one).lower() for one in truth}
    named = str(gold.truth).lower() in _RIGHT_OR_WRONG and said <= {"true", "false", "0", "1"}
    if not named and not said <= {"true", "false"}:
        return []
    return [
        finding(
            "right_or_wrong_as_gold",
            level="warning" if named else "note",
            column=gold.truth,
            table=gold.table.name,
            labels=" or ".join(sorted(said)),
        )
    ]


def _brought(sides: list[Side]) -> list[tuple[int, str]]:
    """Return whose column is which: the truth, then each model's."""
    owner = _truth_place(sides)
    predictions = ((place, side.prediction) for place, side in enumerate(sides))
    every = [(owner, sides[owner].truth), *predictions]
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


def _without_null(place: int, side: Side, wanted: Join, engine: Engine) -> list[Finding]:
    """Refuse rows without a label, or leave them out and say so."""
    tests = []
    for number, column in enumerate(side.stored):
        empty = not wanted.missing.empty_is_label if column == side.groups else wanted.correct
        tests.append(
            is_missing(Column(f"k{number}", side.table.column(column).family), empty=empty)
        )
    test = " OR ".join(tests)
    ((lost, *each),) = engine.fetch(
        f"SELECT count(*), {', '.join(f'count(*) FILTER (WHERE {one})' for one in tests)} "
        f"FROM j{place} WHERE {test}"
    )
    if not lost:
        return []
    ids = _shown(engine.fetch(f"SELECT id FROM j{place} WHERE {test} ORDER BY id LIMIT 5"))
    lacking = [name for name, number in zip(side.stored, each, strict=True) if number]
    names = " or ".join(map(repr, lacking))
    if wanted.on_null == "raise":
        text_file = any(scan.is_text for scan in side.table.scans) and not wanted.correct
        raise DataError(
            f"{lost} rows of {side.table.name} have no value in {names}, e.g. of the ids {ids}. "
            f"Give them a {'group' if lacking == [side.groups] else 'class'}, or leave these rows "
            f"out with {param('on_null=', 'drop')}{group_by.or_label(text_file)}"
        )
    # The id goes from all tables, so that it is not taken for one that is missing.
    engine.fetch(f"INSERT INTO gone SELECT id FROM j{place} WHERE {test}")
    rows = counted(lost, "rows")
    return [finding("null_rows_dropped/files", rows=rows, table=side.table.name, columns=names)]


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
    if on_missing == "raise":
        raise DataError(
            "; ".join(faults)
            + f". Mend the files, or keep the common ids with {param('on_missing=', 'drop')}"
        )
    return [
        finding(
            "unmatched_ids_dropped/files",
            common=common,
            n=first,
            first=sides[0].table.name,
            surplus=counted(surpluses, "ids"),
        )
    ]


def _only_in(one: int, other: int, engine: Engine) -> tuple[int, str]:
    query = f"FROM j{one} ANTI JOIN j{other} USING (id)"
    ((number,),) = engine.fetch(f"SELECT count(*) {query}")
    if not number:
        return 0, ""
    return number, _shown(engine.fetch(f"SELECT id {query} ORDER BY id LIMIT 5"))


def _refuse_disagreement(sides: list[Side], engine: Engine) -> None:
    """Refuse tables that do not agree on the truth of the same item."""
    first = _truth_place(sides)
    for place, side in enumerate(sides):
        if side.truth is None or place == first:
            continue
        query = (
            f"FROM j{first} JOIN j{place} USING (id) WHERE {_plain(sides[first], f'j{first}')} "
            f"IS DISTINCT FROM {_plain(side, f'j{place}')}"
        )
        ((number,),) = engine.fetch(f"SELECT count(*) {query}")
        if number:
            ids = _shown(engine.fetch(f"SELECT id {query} ORDER BY id LIMIT 5"))
            raise DataError(
                f"{sides[first].table.name} and {side.table.name} disagree on {side.truth!r} in "
                f"{number} rows, e.g. of the ids {ids}; they must be of the same items"
            )


def _plain(side: Side, table: str) -> str:
    if side.table.family(str(side.truth)) == "json":
        return f"(CAST({table}.k0 AS JSON) ->> '$')"
    return f"CAST({table}.k0 AS VARCHAR)"


def _joined(count: int) -> str:
    return "j0" + "".join(f" JOIN j{place} USING (id)" for place in range(1, count))


def _count(sides: list[Side], engine: Engine) -> Grouped:
    owner = _truth_place(sides)
    keys = [] if sides[owner].truth is None else [f"j{owner}.k0"]
    for place, side in enumerate(sides):
        if side.prediction is not None:
            keys.append(f"j{place}.k{len(side.columns) - 1}")
    if sides[owner].groups is not None:
        keys.append(f"j{owner}.k{len(sides[owner].columns)}")
    ((n_rows,),) = engine.fetch("SELECT count(*) FROM j0")
    if n_rows <= MOST_ITEMS:
        keys.append("id")
    found = group(_joined(len(sides)), (), keys=keys, number="count(*)", engine=engine)
    if not len(found.counts):
        raise DataError("no item is left in all files")
    return found


def _shown(rows: list[tuple[object, ...]]) -> str:
    return ", ".join(repr(one) for (one,) in rows)


def fetch_rows(
    table: Table, columns: Sequence[str], where: Mapping[str, object] | None, engine: Engine
) -> dict[str, list[Any]]:
    """Return columns of a table row by row."""
    for name in columns:
        check_family(table, name)
    query = table.select(columns, where=where)
    rows = engine.fetch(query.sql, query.parameters)
    if not rows:
        raise DataError(f"{table.name} has no rows" + (" left after where" if where else ""))
    return {
        name: group_by.decode(values, table.family(name), name=name)
        for name, values in zip(columns, map(list, zip(*rows, strict=True)), strict=True)
    }


def join_people(
    seen: Outcomes,
    human: Source,
    *,
    id: str | None,
    truth: str | None,
    drawn: str | None = None,
    missing: MissingTexts = UNDECLARED,
) -> Outcomes:
    """Return what a judge says of all items together with what people say of some.

    Parameters
    ----------
    seen
        By the judge: right or wrong of each model, or with its classes as truth.
    human
        A file in which people do the same.
    id
        The column that names the items; ``"id"`` by default.
    truth
        The column of the classes.
    drawn
        How people's items were drawn: ``"random"``, ``"by_ratings"``, or the column of their file
        that holds each item's probability of being labelled.
    missing
        Which texts of their file are missing values.
    """
    bits, key = seen.kind == "correct", id or "id"
    if not bits and truth is None:
        raise UsageError(
            f"name the column of the classes, by the judge and by people, with {param('truth=')}"
        )
    columns = seen.models if bits else (str(truth),)
    declared = drawn in get_args(Declared)
    chance = [] if drawn is None or declared else [drawn]
    needed = [key, *columns, *chance]
    dialect = Dialect(columns=tuple(needed), missing=missing)
    with opened({"": human}, needed, dialect) as tables:
        rows = tables.ask(lambda found, own: fetch_rows(found[""], needed, None, own))
    said: dict[str, list[object]] = {}
    for name in columns:
        try:
            said[name] = [is_right(one) for one in rows[name]] if bits else rows[name]
        except ValueError as error:
            raise DataError(f"{human}, column {name!r}: {error}") from None
    asked = of_items(seen, rows[key], said, chances=rows[chance[0]] if chance else None)
    if declared:
        asked["drawn"] = drawn
    return Outcomes.from_judged(**asked)
