"""From the rows of a GROUP BY to outcomes: missing values, decoded labels, doubts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from outperform._typing import AnyArray, IntArray
from outperform.errors import DataError
from outperform.findings import Finding
from outperform.ingest.files.engine import EngineFault
from outperform.ingest.grouped import Coded, Grouped, refuse_too_many
from outperform.outcomes import Outcomes
from outperform.outcomes.building import of_columns
from outperform.outcomes.counting import total
from outperform.outcomes.labels import Column, read_column
from outperform.outcomes.slices import slice_column

OnNull = Literal["refuse", "drop"]
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][-+]?[0-9]+)?")


def decode(values: Sequence[Any], family: str, *, name: str) -> list[Any]:
    """Return the values of one column as Python has them; what is missing becomes None.

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
        found = None if value is None else json.loads(value)
    except (ValueError, RecursionError) as error:  # the reader knows in which line
        raise EngineFault(f"column {name!r} holds {str(value)[:60]}…: {error}") from error
    if isinstance(found, (list, dict)):
        raise DataError(
            f"column {name!r} holds {str(value)[:60]}; labels must be text, whole numbers or "
            "booleans"
        )
    return None if isinstance(found, float) and math.isnan(found) else found


def refuse_scores(columns: Mapping[str, Sequence[Any]], truth: Sequence[Any]) -> None:
    """Refuse text that is all numbers with fractions, unless these are the true classes too."""
    classes = set(truth)
    for name, values in columns.items():
        distinct = {value for value in values if value is not None}
        if any(isinstance(one, float) and math.isinf(one) for one in distinct):
            raise DataError(f"column {name!r} holds an infinite number, which is no label")
        fraction = next((one for one in distinct if _is_fraction(one)), None)
        if fraction is None or not all(_is_number(one) for one in distinct):
            continue
        if isinstance(fraction, float) or not distinct <= classes:
            raise DataError(
                f"column {name!r} holds {fraction!r}, which looks like scores, not labels; turn "
                "scores into labels first, e.g. 1 if the score is 0.5 or more, else 0, or ask for "
                "a metric of scores such as roc_auc"
            )


def _is_number(value: Any) -> bool:
    return not isinstance(value, str) or bool(_DECIMAL.fullmatch(value))


def _is_fraction(value: Any) -> bool:
    if isinstance(value, str):
        return bool(_DECIMAL.fullmatch(value)) and not _number(value).is_integer()
    return isinstance(value, float) and not value.is_integer()


def _number(text: str) -> float:
    return float(text.replace(",", "."))  # half of the world writes 0,73


def settle(
    found: Grouped,
    names: Sequence[str],
    *,
    models: Sequence[str],
    table: str,
    on_null: OnNull,
    groups: str | None = None,
    findings: Sequence[Finding] = (),
    first: Callable[[str], str] = lambda column: "",
) -> Outcomes:
    """Return outcomes from what was counted: the truth, the models, then what divides them.

    ``names`` are those of the columns; that of the groups, if there is one, is the last. Where
    values are missing and must not be, ``first`` says where the first one of a column is.
    """
    labels = dict(zip(names[: 1 + len(models)], found.columns, strict=False))
    refuse_scores({name: one.values for name, one in labels.items()}, found.columns[0].values)
    refuse_too_many(len(found.counts), table, groups=groups)
    names = names if groups is None else names[:-1]
    missing = {name: one.missing for name, one in zip(names, found.columns, strict=False)}
    lost = {name: total(found.counts[rows]) for name, rows in missing.items() if rows.any()}
    lost = {name: number for name, number in lost.items() if number}
    number = total(found.counts)
    if lost and on_null == "refuse":
        raise DataError(_refusal(lost, number, first))
    kept = np.flatnonzero(~np.any(list(missing.values()), axis=0) & (found.counts != 0))
    if not kept.size:
        raise DataError(f"{table} has no row with a value in each of {list(names)}")
    left = Grouped(
        [Coded(one.values, one.codes[kept]) for one in found.columns[: len(names)]],
        found.counts[kept],
    )
    together = None
    if groups is not None:
        own = Coded(found.columns[-1].values, found.columns[-1].codes[kept])
        together = group_of_rows(own, left.counts, name=groups, table=table)
    return to_outcomes(
        left,
        models=models,
        by=names[1 + len(models) :],
        groups=together,
        findings=(*findings, *_dropped(table, lost, number - total(left.counts), number)),
    )


def group_of_rows(group: Coded, counts: AnyArray, *, name: str, table: str) -> IntArray:
    """Return a code for the group of each counted row, none of which may lack one.

    In text files nothing is missing, so the empty text is no group either.
    """
    codes: dict[Any, int] = {}
    try:
        places = [codes.setdefault(value, len(codes)) for value in group.values]
    except TypeError as error:
        raise DataError(f"groups must be names or numbers; column {name!r} holds others") from error
    nothing = np.array([value is None or value == "" for value in group.values], dtype=bool)
    lost = total(counts[nothing[group.codes]])
    if lost:
        raise DataError(
            f"{lost} of {total(counts)} rows of {table} have no group in {name!r}; one that "
            "belongs to no other needs a group of its own"
        )
    return np.array(places, dtype=np.int64)[group.codes]


def to_outcomes(
    found: Grouped,
    *,
    models: Sequence[str],
    by: Sequence[str] = (),
    groups: IntArray | None = None,
    findings: Sequence[Finding] = (),
) -> Outcomes:
    """Return outcomes from counted columns, and put doubts about the reading beside them."""
    names = ["truth", *(f"predictions of {model!r}" for model in models)]
    fields = of_columns(
        tuple(models),
        [_column(one, read_column, name) for one, name in zip(found.columns, names, strict=False)],
        weights=found.counts,
        by={
            name: _column(one, slice_column, name)
            for one, name in zip(found.columns[len(names) :], by, strict=True)
        },
        groups=groups,
    )
    return Outcomes(**{**fields, "findings": (*findings, *fields["findings"])})


def _column(found: Coded, read: Callable[..., Column], name: str) -> Column:
    """Return the column of labels that a counted column is."""
    used, codes = np.unique(found.codes, return_inverse=True)
    distinct = read([_plain(found.values[code], read) for code in used], name=name)
    return replace(distinct, codes=distinct.codes[codes.ravel()])


def _plain(value: Any, read: Callable[..., Column]) -> Any:
    # Days and times divide documents as well as words do.
    return value if read is read_column else str(value)


def _refusal(lost: Mapping[str, int], total: int, first: Callable[[str], str]) -> str:
    name = next(iter(lost))
    others = "; also " + ", ".join(map(repr, list(lost)[1:])) if len(lost) > 1 else ""
    return (
        f"column {name!r} has no value in {lost[name]} of {total} rows{first(name)}{others}. "
        'Give them a class, or leave these rows out with on_null="drop"'
    )


def _dropped(table: str, lost: Mapping[str, int], number: int, total: int) -> tuple[Finding, ...]:
    if not lost:
        return ()
    names = ", ".join(map(repr, lost))
    message = f"{number} of {total} rows of {table} have no value in {names} and are left out."
    return (Finding("null_rows_dropped", "warning", message),)
