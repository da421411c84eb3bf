"""Join a gold table and one table per model on an id, inside the engine."""

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
    """Table in a join, with its owner and the columns that it contributes."""

    owner: str
    table: Table
    truth: str | None
    prediction: str | None
    groups: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Contributed columns, starting with the truth."""
        return tuple(name for name in (self.truth, self.prediction) if name is not None)

    @property
    def stored(self) -> tuple[str, ...]:
        """Columns stored in the engine: the contributed columns, then the group."""
        return (*self.columns, *(() if self.groups is None else (self.groups,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """How to join tables: the id columns, and those of labels or of right or wrong."""

    id: str
    label: str
    truth: str | None
    correct: bool = False
    groups: str | None = None
    on_missing: OnMissing
    on_null: OnNull
    missing: MissingTexts = UNDECLARED


def join(tables: Mapping[str, Table], question: Join, engine: Engine) -> Outcomes:
    """Join on the id and count; a mismatch raises an error or becomes a finding."""
    sides = _take_sides(tables, question)
    findings = [finding for side in sides for finding in side.table.findings]
    engine.fetch("CREATE OR REPLACE TEMP TABLE gone (id VARCHAR)")
    for index, side in enumerate(sides):
        _store(index, side, question.id, engine)
        findings += _without_null(index, side, question, engine)
    findings += _without_unmatched(sides, question.on_missing, engine)
    _refuse_disagreement(sides, engine)
    return _outcomes(sides, _count(sides, engine), question, findings, engine)


def _take_sides(tables: Mapping[str, Table], question: Join) -> list[Side]:
    """Assign columns to tables; a gold-only table comes first."""
    label = question.label
    gold, truth = (None, None) if question.correct else _find_truth(tables, question)
    ordered = sorted(tables, key=lambda owner: owner != gold)
    sides = []
    for owner in ordered:
        truth_column = (
            truth if owner == gold or (truth != label and truth in tables[owner].names) else None
        )
        prediction = None if owner == gold else label
        sides.append(
            Side(owner=owner, table=tables[owner], truth=truth_column, prediction=prediction)
        )
    index = _truth_index(sides)
    sides[index] = replace(sides[index], groups=question.groups)
    for side in sides:
        for name in (question.id, *side.stored):
            side.table.scans[0].column(name)
    return sides


def _find_truth(tables: Mapping[str, Table], question: Join) -> tuple[str | None, str]:
    """Return the gold-only table, if any, and the column of the true labels.

    The order of the tables does not matter. A table is gold if it has a name such as gold, or if
    ``truth`` is its name or the name of one of its columns.
    """
    label, truth = question.label, question.truth
    gold_names = [owner for owner in tables if owner.lower() in GOLD]
    if truth is not None and truth in tables:
        return truth, truth if truth in tables[truth].names else label
    if truth is not None and truth != label:
        owners = [owner for owner, table in tables.items() if truth in table.names]
        if not owners:
            next(iter(tables.values())).column(truth)
        candidates = [
            owner for owner in owners if owner in gold_names or label not in tables[owner].names
        ]
        return next(iter(candidates), None), truth
    if len(gold_names) == 1:
        return gold_names[0], label
    names = ", ".join(map(repr, tables))
    if gold_names:
        listing = " and ".join(map(repr, gold_names))
        raise UsageError(
            f"{listing} both have gold file names; select one, e.g. "
            f"{param('truth=', gold_names[0])}"
        )
    raise UsageError(
        f"none of the files {names} is named gold, and a model's file is never used as gold. If "
        f"they record whether each model was right, pass that column: {param('correct=', label)}. "
        f"If one of them has the true labels, pass its name, e.g. "
        f"{param('truth=', next(iter(tables)))}, or name it 'gold'"
    )


def _truth_index(sides: Sequence[Side]) -> int:
    """Return the index of the first table that has a truth."""
    return next((index for index, side in enumerate(sides) if side.truth is not None), 0)


def _outcomes(
    sides: list[Side], grouped: Grouped, question: Join, findings: list[Finding], engine: Engine
) -> Outcomes:
    names = _brought(sides)
    owner = sides[_truth_index(sides)]
    first, groups = owner.table, owner.groups
    columns = [
        Coded(
            group_by.decode(column.values, sides[index].table.family(name), name=name), column.codes
        )
        for (index, name), column in zip(names, grouped.columns, strict=False)
    ]
    models = [sides[index].owner for index, _ in names[0 if question.correct else 1 :]]
    if question.correct:
        columns = [
            group_by.as_right(
                column, grouped.counts, name, partial(_first_ids, sides[index], index, engine)
            )
            for (index, name), column in zip(names, columns, strict=True)
        ]
    else:
        truth = columns[0].values
        group_by.refuse_scores({names[0][1]: truth}, truth, name_of_truth=names[0][1])
        group_by.refuse_scores(
            {model: column.values for model, column in zip(models, columns[1:], strict=True)}, truth
        )
        findings = [*findings, *_gold_findings(owner, truth)]
    refuse_too_many(len(grouped.counts), first.name, groups=groups)
    group_codes, extra = None, grouped.columns[len(columns) :]
    if groups is not None:
        group_names = group_by.decode(extra[0].values, first.family(groups), name=groups)
        group_codes = group_by.group_of_rows(
            Coded(group_names, extra[0].codes), grouped.counts, name=groups, table=first.name
        )
    has_ids = len(extra) > (groups is not None)
    return group_by.to_outcomes(
        Grouped(columns, grouped.counts),
        models=models,
        groups=group_codes,
        ids=group_by.ids_of_rows(extra[-1]) if has_ids else None,
        correct=question.correct,
        missing=question.missing,
        findings=findings,
    )


def _first_ids(side: Side, index: int, engine: Engine, name: str, fault: group_by.Fault) -> str:
    """Return the clause that lists ids with values that are neither right nor wrong."""
    column = Column(f"k{len(side.columns) - 1}", side.table.column(name).family)
    rows = engine.fetch(f"SELECT id FROM j{index} WHERE {is_strange(column)} ORDER BY id LIMIT 5")
    return f" of {side.table.name}, such as the ids {_listed_ids(rows)}"


def _gold_findings(gold: Side, truth: Sequence[object]) -> list[Finding]:
    """Return a finding if the true labels look like records of right or wrong."""
    if gold.prediction is not None:
        return []
    values = {str(value).lower() for value in truth}
    is_certain = str(gold.truth).lower() in _RIGHT_OR_WRONG and values <= {
        "true",
        "false",
        "0",
        "1",
    }
    if not is_certain and not values <= {"true", "false"}:
        return []
    return [
        finding(
            "right_or_wrong_as_gold",
            level="warning" if is_certain else "note",
            column=gold.truth,
            table=gold.table.name,
            labels=" or ".join(sorted(values)),
        )
    ]


def _brought(sides: list[Side]) -> list[tuple[int, str]]:
    """Return the table index and name of each column: the truth, then each model."""
    owner = _truth_index(sides)
    predictions = ((index, side.prediction) for index, side in enumerate(sides))
    columns = [(owner, sides[owner].truth), *predictions]
    return [(index, name) for index, name in columns if name is not None]


def _store(index: int, side: Side, id: str, engine: Engine) -> None:
    """Store the ids and labels of one table in the engine, and check that ids are unique."""
    for name in side.columns:
        check_family(side.table, name)
    query = side.table.select_with_id(id, side.stored)
    engine.scan(f"CREATE OR REPLACE TEMP TABLE j{index} AS {query.sql}", query.parameters)
    ((rows, known, distinct),) = engine.fetch(
        f"SELECT count(*), count(id), count(DISTINCT id) FROM j{index}"
    )
    name = side.table.name
    if not rows:
        raise DataError(f"{name} has no rows")
    if rows != known:
        raise DataError(f"{rows - known} of {rows} rows of {name} have no id in {id!r}")
    if rows != distinct:
        examples = engine.fetch(
            f"SELECT id, count(*) FROM j{index} GROUP BY id HAVING count(*) > 1 ORDER BY id LIMIT 5"
        )
        raise DataError(repeated_ids(name, id, rows - distinct, examples))


def _without_null(index: int, side: Side, question: Join, engine: Engine) -> list[Finding]:
    """Raise an error for rows without a label, or drop them with a finding."""
    tests = []
    for number, column in enumerate(side.stored):
        empty = not question.missing.empty_is_label if column == side.groups else question.correct
        tests.append(
            is_missing(Column(f"k{number}", side.table.column(column).family), empty=empty)
        )
    test = " OR ".join(tests)
    ((n_missing, *n_missing_by_column),) = engine.fetch(
        f"SELECT count(*), {', '.join(f'count(*) FILTER (WHERE {each})' for each in tests)} "
        f"FROM j{index} WHERE {test}"
    )
    if not n_missing:
        return []
    ids = _listed_ids(engine.fetch(f"SELECT id FROM j{index} WHERE {test} ORDER BY id LIMIT 5"))
    incomplete = [
        name for name, number in zip(side.stored, n_missing_by_column, strict=True) if number
    ]
    names = " or ".join(map(repr, incomplete))
    if question.on_null == "raise":
        text_file = any(scan.is_text for scan in side.table.scans) and not question.correct
        raise DataError(
            f"{n_missing} rows of {side.table.name} have no value in {names}, e.g. the ids {ids}. "
            f"Give them a {'group' if incomplete == [side.groups] else 'class'}, or drop these "
            f"rows with {param('on_null=', 'drop')}{group_by.or_label(text_file)}"
        )
    # The id is deleted from all tables, so it does not count as unmatched.
    engine.fetch(f"INSERT INTO gone SELECT id FROM j{index} WHERE {test}")
    rows = counted(n_missing, "rows")
    return [finding("null_rows_dropped/files", rows=rows, table=side.table.name, columns=names)]


def _without_unmatched(sides: list[Side], on_missing: OnMissing, engine: Engine) -> list[Finding]:
    """Raise an error for ids missing from some tables, or drop these ids with a finding."""
    for index in range(len(sides)):
        engine.fetch(f"DELETE FROM j{index} WHERE id IN (SELECT id FROM gone)")
    faults = []
    surpluses = 0
    for index, side in enumerate(sides[1:], 1):
        absent = _only_in(0, index, engine)
        surplus = _only_in(index, 0, engine)
        faults += [
            f"{side.table.name} {verb} {number} ids that {sides[0].table.name} {opposite}, "
            f"e.g. {ids}"
            for (number, ids), verb, opposite in (
                (absent, "lacks", "has"),
                (surplus, "has", "lacks"),
            )
            if number
        ]
        surpluses += surplus[0]
    if not faults:
        return []
    ((common, n_first),) = engine.fetch(
        f"SELECT (SELECT count(*) FROM {_joined(len(sides))}), (SELECT count(*) FROM j0)"
    )
    if not common:
        raise DataError("the files have no id in common: " + "; ".join(faults))
    if on_missing == "raise":
        raise DataError(
            "; ".join(faults)
            + f". Fix the files, or keep only the common ids with {param('on_missing=', 'drop')}"
        )
    return [
        finding(
            "unmatched_ids_dropped/files",
            common=common,
            n=n_first,
            first=sides[0].table.name,
            surplus=counted(surpluses, "ids"),
        )
    ]


def _only_in(first: int, second: int, engine: Engine) -> tuple[int, str]:
    query = f"FROM j{first} ANTI JOIN j{second} USING (id)"
    ((number,),) = engine.fetch(f"SELECT count(*) {query}")
    if not number:
        return 0, ""
    return number, _listed_ids(engine.fetch(f"SELECT id {query} ORDER BY id LIMIT 5"))


def _refuse_disagreement(sides: list[Side], engine: Engine) -> None:
    """Raise an error if tables disagree on the truth of an item."""
    first = _truth_index(sides)
    for index, side in enumerate(sides):
        if side.truth is None or index == first:
            continue
        query = (
            f"FROM j{first} JOIN j{index} USING (id) WHERE {_plain(sides[first], f'j{first}')} "
            f"IS DISTINCT FROM {_plain(side, f'j{index}')}"
        )
        ((number,),) = engine.fetch(f"SELECT count(*) {query}")
        if number:
            ids = _listed_ids(engine.fetch(f"SELECT id {query} ORDER BY id LIMIT 5"))
            raise DataError(
                f"{sides[first].table.name} and {side.table.name} disagree on {side.truth!r} in "
                f"{number} rows, e.g. the ids {ids}; check that their ids refer to the same items"
            )


def _plain(side: Side, table: str) -> str:
    if side.table.family(str(side.truth)) == "json":
        return f"(CAST({table}.k0 AS JSON) ->> '$')"
    return f"CAST({table}.k0 AS VARCHAR)"


def _joined(count: int) -> str:
    return "j0" + "".join(f" JOIN j{index} USING (id)" for index in range(1, count))


def _count(sides: list[Side], engine: Engine) -> Grouped:
    owner = _truth_index(sides)
    keys = [] if sides[owner].truth is None else [f"j{owner}.k0"]
    for index, side in enumerate(sides):
        if side.prediction is not None:
            keys.append(f"j{index}.k{len(side.columns) - 1}")
    if sides[owner].groups is not None:
        keys.append(f"j{owner}.k{len(sides[owner].columns)}")
    ((n_rows,),) = engine.fetch("SELECT count(*) FROM j0")
    if n_rows <= MOST_ITEMS:
        keys.append("id")
    grouped = group(_joined(len(sides)), (), keys=keys, number="count(*)", engine=engine)
    if not len(grouped.counts):
        raise DataError("no item remains that is in all files")
    return grouped


def _listed_ids(rows: list[tuple[object, ...]]) -> str:
    return ", ".join(repr(id) for (id,) in rows)


def fetch_rows(
    table: Table, columns: Sequence[str], where: Mapping[str, object] | None, engine: Engine
) -> dict[str, list[Any]]:
    """Return columns of a table, one value per row."""
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
    outcomes: Outcomes,
    human: Source,
    *,
    id: str | None,
    truth: str | None,
    drawn: str | None = None,
    missing: MissingTexts = UNDECLARED,
) -> Outcomes:
    """Combine a judge's labels for all items with human labels for some.

    Parameters
    ----------
    outcomes
        Outcomes from the judge, with its verdicts on each model or its classes as truth.
    human
        File with human labels in the same columns.
    id
        Item id column. Default: ``"id"``.
    truth
        Column of the classes.
    drawn
        How the human-labelled items were drawn: ``"random"``, ``"by_ratings"``, or the column of
        ``human`` with each item's probability of being labelled.
    missing
        Strings in ``human`` that represent a missing value.
    """
    is_correctness, key = outcomes.kind == "correct", id or "id"
    if not is_correctness and truth is None:
        raise UsageError(
            f"pass the column with the judge's and the human classes as {param('truth=')}"
        )
    columns = outcomes.models if is_correctness else (str(truth),)
    declared = drawn in get_args(Declared)
    chance = [] if drawn is None or declared else [drawn]
    needed = [key, *columns, *chance]
    dialect = Dialect(columns=tuple(needed), missing=missing)
    with opened({"": human}, needed, dialect) as tables:
        rows = tables.ask(
            lambda tables_by_name, engine: fetch_rows(tables_by_name[""], needed, None, engine)
        )
    labels: dict[str, list[object]] = {}
    for name in columns:
        try:
            labels[name] = (
                [is_right(value) for value in rows[name]] if is_correctness else rows[name]
            )
        except ValueError as error:
            raise DataError(f"{human}, column {name!r}: {error}") from None
    arguments = of_items(outcomes, rows[key], labels, chances=rows[chance[0]] if chance else None)
    if declared:
        arguments["drawn"] = drawn
    return Outcomes.from_judged(**arguments)
