"""Convert the rows of a GROUP BY to outcomes: missing values, labels, findings."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from outperform._typing import AnyArray, FloatArray, IntArray
from outperform.data.build import of_columns
from outperform.data.checks import compare_values
from outperform.data.items import MOST_ITEMS
from outperform.data.labels import NO_LABEL, RIGHT_WORDS, Column, look_measured, read_column
from outperform.data.missing import UNDECLARED, MissingTexts
from outperform.data.outcomes import Outcomes
from outperform.data.pool import slice_column
from outperform.data.table import total
from outperform.errors import DataError, ResourceError, UsageError, either, param
from outperform.findings import Finding, finding, quoted
from outperform.io.engine import EngineFault
from outperform.io.tables import Where

MOST_CELLS = 5_000_000


class Coded(NamedTuple):
    """Column: distinct values, with None for missing values, and the code of each row."""

    values: list[Any]
    codes: IntArray  # (n_rows,)

    @property
    def missing(self) -> AnyArray:
        """Mask of rows without a value."""
        return np.array([value is None for value in self.values], dtype=bool)[self.codes]


class Grouped(NamedTuple):
    """Columns of equal length, and the number of items that each row represents."""

    columns: list[Coded]
    counts: AnyArray  # (n_rows,)


def coded(values: Sequence[object]) -> Coded:
    """Encode values: assign a code to each distinct value.

    Examples
    --------
    >>> coded(["b", None, "b"])
    Coded(values=['b', None], codes=array([0, 1, 0]))
    """
    index = {value: code for code, value in enumerate(dict.fromkeys(values))}
    codes = np.fromiter(map(index.__getitem__, values), dtype=np.int64, count=len(values))
    return Coded(list(index), codes)


def refuse_too_many(n_cells: int, name: str, *, groups: str | None = None) -> None:
    """Raise an error if a table has too many distinct combinations to contain only classes."""
    if n_cells > MOST_CELLS and groups is not None:
        raise ResourceError(
            f"{name} has more than {MOST_CELLS} different combinations of group, truth and "
            f"predictions; check that {groups!r} identifies groups, not items"
        )
    if n_cells > MOST_CELLS:
        raise ResourceError(
            f"{name} has more than {MOST_CELLS} different combinations of truth and predictions; "
            f"select the prediction columns with {param('models=')}"
        )


OnNull = Literal["raise", "drop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableQuery:
    """Roles of the columns of a table."""

    truth: str | None  # None if the model columns record right or wrong
    models: Mapping[str, str]  # column by model
    id: str | None = None
    keep: bool = False  # whether to fetch every row with its id
    where: Where = None
    count: str | None = None  # number of items that a row represents
    weight: str | None = None  # weight of each of these items
    by: tuple[str, ...] = ()
    groups: str | None = None
    named: bool = True  # whether the models were named; otherwise they are all other columns
    on_null: OnNull = "raise"
    missing: MissingTexts = UNDECLARED
    text_file: bool = False  # whether the table is CSV or TSV, in which all values are text

    @property
    def columns(self) -> tuple[str, ...]:
        """Label columns, starting with the truth if there is one."""
        return (*(() if self.truth is None else (self.truth,)), *self.models.values())

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns to count: labels, slices, then the group, weight and id of items."""
        optional = (self.groups, self.weight, self.id if self.keep else None)
        names = (name for name in optional if name is not None)
        return (*self.columns, *self.by, *names)

    @property
    def needed(self) -> tuple[str, ...]:
        """Columns without missing values: all counted columns except ids."""
        return self.keys[: -1 if self.keep else None]

    def keeping(self, n_rows: int) -> TableQuery:
        """Return the query, including ids if each row is an item and there are not too many."""
        is_small = self.count is None and n_rows <= MOST_ITEMS
        return replace(self, keep=True) if is_small and self.id is not None else self


Fault = Literal["missing", "strange"]
First = Callable[[str, Fault], str]
"""Function that locates the first faulty values of a column."""
# pandas writes booleans as 1.0 and 0.0 if values are missing.
SAYS_RIGHT = {**RIGHT_WORDS, "1": True, "1.0": True, "0": False, "0.0": False}
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][-+]?[0-9]+)?")


def decode(values: Sequence[Any], family: str, *, name: str) -> list[Any]:
    """Return the values of one column as Python values, with None if missing.

    Examples
    --------
    >>> decode(['"a"', "1", "null", None], "json", name="label")
    ['a', 1, None, None]
    """
    if family == "json":
        known = {value: _loaded(value, name) for value in dict.fromkeys(values)}
        return [known[value] for value in values]
    if family == "fractions":
        return [None if value is None or math.isnan(value) else value for value in values]
    return list(values)


def _loaded(value: str | None, name: str) -> Any:
    try:
        content = None if value is None else json.loads(value)
    except (ValueError, RecursionError) as error:  # the reader adds the line
        raise EngineFault(f"column {name!r} contains {str(value)[:60]}…: {error}") from error
    if isinstance(content, (list, dict)):
        raise DataError(
            f"column {name!r} contains {str(value)[:60]}; labels must be text, whole numbers or "
            "booleans"
        )
    return None if isinstance(content, float) and math.isnan(content) else content


def refuse_scores(
    columns: Mapping[str, Sequence[object]],
    truth: Sequence[object],
    *,
    name_of_truth: str | None = None,
) -> None:
    """Raise an error for columns of fractional numbers, unless the true classes are fractional too.

    ``name_of_truth`` is the name of the truth, if it is one of the columns.
    """
    classes = set(truth)
    for name, values in columns.items():
        distinct = {value for value in values if value is not None}
        if any(isinstance(value, float) and math.isinf(value) for value in distinct):
            raise DataError(f"column {name!r} contains an infinite number, which is not a label")
        fraction = min((value for value in distinct if _is_fraction(value)), key=str, default=None)
        if fraction is None or not all(_is_number(value) for value in distinct):
            continue
        if isinstance(fraction, float) or not distinct <= classes:
            if name == name_of_truth or _look_measured(classes, distinct):
                raise DataError(f"column {name!r} contains {fraction!r}, {NO_LABEL}")
            raise DataError(
                f"column {name!r} contains {fraction!r}, which looks like a score, not a label; "
                "convert scores to labels first, e.g. 1 if the score is 0.5 or more, else 0, or "
                "use a score metric such as roc_auc, or a regression metric: rmse, mae or r2"
            )


def refuse_no_models(
    labels: Mapping[str, Coded], counts: AnyArray, query: TableQuery, table: str
) -> None:
    """Raise an error for columns that are not predictions: ids, or columns without true labels."""
    (truth, actual), *models = labels.items()
    matches = {
        name: compare_values(column.values, column.codes, actual.values, counts)
        for name, column in models
    }
    ids = [name for name, match in matches.items() if match.may_be_ids]
    if query.named:
        ids = [name for name in ids if matches[name].look_like_ids]
        if ids:
            reason = matches[ids[0]].sentence(f"{ids[0]!r} has", repr(truth))
            raise UsageError(f"{reason}, which a model predicts; {_as_id(ids[0])}")
        _refuse_truth_of_ids(labels, counts)
        return
    unmatched = [name for name, match in matches.items() if name in ids or match.hold_no_label]
    if unmatched and len(unmatched) == len(matches) and not ids:
        raise UsageError(
            f"no label of {truth!r} occurs in any other column of {table}: {truth!r} contains "
            f"{_some(actual)} and {unmatched[0]!r} contains {_some(labels[unmatched[0]])}; pass "
            f"the column of true labels as {param('truth=')} and the prediction columns as "
            f"{param('models=')}"
        )
    remaining = [name for name in matches if name not in unmatched]
    if ids:
        reason = matches[ids[0]].sentence(f"{ids[0]!r} has", repr(truth))
        raise UsageError(name_models(table, f"{reason}; {_as_id(ids[0])}", remaining))
    if unmatched:
        examples = _some(labels[unmatched[0]])
        reason = f"{unmatched[0]!r} contains {examples}, none of which is a label of {truth!r}"
        raise UsageError(name_models(table, reason, remaining))


def _as_id(name: str) -> str:
    return f"if it identifies items, pass {param('id=', name)}"


def _refuse_truth_of_ids(labels: Mapping[str, Coded], counts: AnyArray) -> None:
    (truth, actual), *models = labels.items()
    predicted = [value for _, column in models for value in column.values]
    match = compare_values(actual.values, actual.codes, predicted, counts)
    if match.look_like_ids and not match.n_shared:
        raise UsageError(
            f"{truth!r} has {match.n_values:,} different values in {match.n_rows:,} rows, but no "
            f"model predicts any of them; predictions are {_some(models[0][1])}; pass the column "
            "of the true "
            f"labels as {param('truth=')}"
        )


def name_models(table: str, reason: str, remaining: Sequence[str]) -> str:
    """Return the message for an unsuitable column that was used because no model was named."""
    advice = param("models=", list(remaining)) if remaining else param("models=")
    return f"some other columns of {table} are not predictions: {reason}. Pass {advice}"


def _some(column: Coded) -> str:
    known = sorted({str(value) for value in column.values if value is not None})
    return quoted([text[:30] for text in known], most=3)


def as_right(column: Coded, counts: AnyArray, name: str, first: First) -> Coded:
    """Return a right/wrong column as booleans; the empty text is a missing value."""
    unknown = [code for code, value in enumerate(column.values) if not _says_right(value)]
    if unknown:
        value = min((column.values[code] for code in unknown), key=str)
        number = total(counts[np.isin(column.codes, unknown)])
        where = f"in {number} of {total(counts)} rows{first(name, 'strange')}"
        raise DataError(_not_right(name, value, where))
    return Coded([_right(value) for value in column.values], column.codes)


def _not_right(name: str, value: object, where: str) -> str:
    """Return the message for a value that is neither right nor wrong."""
    hint = (
        either(
            "if these are grades, read them with op.read_scores and compare metric='mean'",
            "if these are grades, compare them with --metric mean",
        )
        if not isinstance(value, str) or _DECIMAL.fullmatch(value)
        else (
            f"if these are predictions, pass the column of the true labels as {param('truth=')} "
            "instead"
        )
    )
    return (
        f"column {name!r} must contain true and false, 1 and 0, or pass and fail, for right and "
        f"wrong; got other values {where}, e.g. {str(value)[:60]!r}; {hint}"
    )


def _says_right(value: object) -> bool:
    try:
        _right(value)
    except ValueError:
        return False
    return True


def _right(value: object) -> bool | None:
    """Return whether a value means right, or None if it is missing.

    Examples
    --------
    >>> [_right(value) for value in (True, 0, 1.0, "TRUE", "fail", "1", "")]
    [True, False, True, True, False, True, None]
    """
    if value is None or value == "":
        return None
    if isinstance(value, (bool, int, float)) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.lower() in SAYS_RIGHT:
        return SAYS_RIGHT[value.lower()]
    raise ValueError(value)


def _look_measured(truth: set[object], predicted: set[object]) -> bool:
    """Return whether the truth may contain measurements, even if they are stored as text."""
    known = truth - {None}
    if not all(_is_number(value) for value in known):
        return False
    return look_measured(
        *([_as_number(value) for value in values] for values in (known, predicted))
    )


def _as_number(value: object) -> object:
    return _number(value) if isinstance(value, str) else value


def _is_number(value: object) -> bool:
    return not isinstance(value, str) or bool(_DECIMAL.fullmatch(value))


def _is_fraction(value: object) -> bool:
    if isinstance(value, str):
        return bool(_DECIMAL.fullmatch(value)) and not _number(value).is_integer()
    return isinstance(value, float) and not value.is_integer()


def _number(text: str) -> float:
    return float(text.replace(",", "."))  # many countries use a decimal comma: 0,73


def settle(
    grouped: Grouped,
    query: TableQuery,
    *,
    table: str,
    findings: Sequence[Finding] = (),
    first: First = lambda column, fault: "",
) -> Outcomes:
    """Return outcomes from counted rows, which have one column per key of the query.

    ``first`` locates the first value that is missing, or neither right nor wrong.
    """
    groups, weight, on_null = query.groups, query.weight, query.on_null
    if groups is not None:
        grouped = _without_empty(grouped, query.keys.index(groups), query)
    labels = dict(zip(query.columns, grouped.columns, strict=False))
    if query.truth is None:
        columns = [as_right(column, grouped.counts, name, first) for name, column in labels.items()]
        grouped = grouped._replace(columns=[*columns, *grouped.columns[len(columns) :]])
    else:
        refuse_scores(
            {name: column.values for name, column in labels.items()},
            grouped.columns[0].values,
            name_of_truth=query.truth,
        )
        refuse_no_models(labels, grouped.counts, query, table)
    refuse_too_many(len(grouped.counts), table, groups=groups)
    names = (*query.columns, *query.by)
    missing = {
        name: column.missing for name, column in zip(query.needed, grouped.columns, strict=False)
    }
    n_missing = {name: total(grouped.counts[rows]) for name, rows in missing.items() if rows.any()}
    n_missing = {name: number for name, number in n_missing.items() if number}
    number = total(grouped.counts)
    if n_missing and on_null == "raise":
        raise DataError(_refusal(n_missing, number, first, query))
    selected = np.flatnonzero(~np.any(list(missing.values()), axis=0) & (grouped.counts != 0))
    if not selected.size:
        raise DataError(f"{table} has no row with a value in each of {list(query.needed)}")
    complete = Grouped(
        [Coded(column.values, column.codes[selected]) for column in grouped.columns[: len(names)]],
        grouped.counts[selected],
    )
    extra = [
        Coded(column.values, column.codes[selected]) for column in grouped.columns[len(names) :]
    ]
    group_codes = importance = None
    ids = ids_of_rows(extra.pop()) if query.keep else None
    if groups is not None:
        group_codes = group_of_rows(extra[0], complete.counts, name=groups, table=table)
    if weight is not None:
        importance = weights_of_rows(extra[-1], complete.counts, name=weight, table=table)
    return to_outcomes(
        complete,
        models=tuple(query.models),
        by=query.by,
        groups=group_codes,
        importance=importance,
        ids=ids,
        correct=query.truth is None,
        missing=query.missing,
        findings=(
            *findings,
            *_dropped(table, n_missing, number - total(complete.counts), number),
        ),
    )


def _without_empty(grouped: Grouped, index: int, query: TableQuery) -> Grouped:
    """Return the counted rows with None in place of an empty group name."""
    column = grouped.columns[index]
    if query.missing.empty_is_label or "" not in column.values:
        return grouped
    values = [None if value == "" else value for value in column.values]
    columns = [*grouped.columns[:index], Coded(values, column.codes), *grouped.columns[index + 1 :]]
    return grouped._replace(columns=columns)


def group_of_rows(group: Coded, counts: AnyArray, *, name: str, table: str) -> IntArray:
    """Return the group code of each counted row; a missing group raises an error."""
    codes: dict[Any, int] = {}
    try:
        group_codes = [codes.setdefault(value, len(codes)) for value in group.values]
    except TypeError as error:
        raise DataError(
            f"{param('groups')} must be names or numbers; column {name!r} contains other values"
        ) from error
    without_group = np.array([value is None for value in group.values], dtype=bool)
    n_missing = total(counts[without_group[group.codes]])
    if n_missing:
        raise DataError(
            f"{n_missing} of {total(counts)} rows of {table} have no group in {name!r}; assign a "
            "separate group to each unrelated item"
        )
    return np.array(group_codes, dtype=np.int64)[group.codes]


def weights_of_rows(weight: Coded, counts: AnyArray, *, name: str, table: str) -> FloatArray:
    """Return the item weight of each counted row; an invalid weight raises an error."""
    numbers = np.array([_weight(value) for value in weight.values], dtype=np.float64)
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0))[weight.codes])
    if bad.size:
        value = weight.values[weight.codes[bad[0]]]
        raise DataError(
            "weights must be finite numbers of at least 0; column "
            f"{name!r} of {table} has {'nothing' if value is None else repr(value)} in "
            f"{total(counts[bad])} rows"
        )
    if not numbers[weight.codes].any():
        raise DataError(
            f"all weights in {name!r} of {table} are zero; at least one must be positive"
        )
    return numbers[weight.codes]


def ids_of_rows(ids: Coded) -> list[Any]:
    """Return the id of each row: an integer or a string."""
    plain = [value if isinstance(value, (int, str)) else str(value) for value in ids.values]
    return [plain[code] for code in ids.codes.tolist()]


def _weight(value: Any) -> float:
    try:
        return math.nan if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return math.nan


def to_outcomes(
    grouped: Grouped,
    *,
    models: Sequence[str],
    by: Sequence[str] = (),
    groups: IntArray | None = None,
    importance: FloatArray | None = None,
    ids: Sequence[Any] | None = None,
    correct: bool = False,
    missing: MissingTexts = UNDECLARED,
    findings: Sequence[Finding] = (),
) -> Outcomes:
    """Return outcomes from counted columns, including findings from reading.

    The first column is the truth or, with ``correct``, whether the first model was right.
    """
    names = ["truth", *(f"predictions of {model!r}" for model in models)]
    if correct:
        truth = Coded([True], np.zeros(len(grouped.counts), dtype=np.int64))
        grouped = grouped._replace(columns=[truth, *grouped.columns])
    fields = of_columns(
        tuple(models),
        [
            _column(column, read_column, name)
            for column, name in zip(grouped.columns, names, strict=False)
        ],
        counts=grouped.counts,
        importance=importance,
        by={
            name: _column(column, slice_column, name)
            for column, name in zip(grouped.columns[len(names) :], by, strict=True)
        },
        groups=groups,
        keep=ids is not None,
        ids=ids,
        missing=missing,
    )
    kind = {"kind": "correct"} if correct else {}
    return Outcomes(**{**fields, **kind, "findings": (*findings, *fields["findings"])})


def _column(column: Coded, read: Callable[..., Column], name: str) -> Column:
    """Return a counted column as a column of labels."""
    used, codes = np.unique(column.codes, return_inverse=True)
    distinct = read([_plain(column.values[code], read) for code in used], name=name)
    return replace(distinct, codes=distinct.codes[codes.ravel()])


def _plain(value: object, read: Callable[..., Column]) -> Any:
    # Days and times are converted to text, because they can also define slices.
    return value if read is read_column else str(value)


def _refusal(n_missing: Mapping[str, int], total: int, first: First, query: TableQuery) -> str:
    name = next(iter(n_missing))
    clauses = [f"{column!r} in {number}" for column, number in n_missing.items() if column != name]
    also = f"; also {', '.join(clauses)}" if clauses else ""
    roles = {query.groups: "group", query.weight: "weight"} | dict.fromkeys(query.by, "slice")
    is_label = query.truth is not None and name in query.columns
    return (
        f"column {name!r} has no value in {n_missing[name]} of {total} "
        f"rows{first(name, 'missing')}{also}. Fill in a {roles.get(name, 'class')}, or drop these "
        f"rows with {param('on_null=', 'drop')}"
        f"{or_label(query.text_file and is_label)}"
    )


def or_label(text_file: bool) -> str:
    """Return the hint for a text file in which an empty field is a label."""
    if not text_file:
        return ""
    return f"; if an empty field is a label, pass {param('empty_is_label=', True)}"


def _dropped(
    table: str, n_missing: Mapping[str, int], number: int, total: int
) -> tuple[Finding, ...]:
    if not n_missing:
        return ()
    columns = quoted(n_missing, most=None)
    return (finding("null_rows_dropped/rows", n=number, total=total, table=table, columns=columns),)
