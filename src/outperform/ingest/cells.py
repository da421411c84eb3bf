"""From the rows of a GROUP BY to outcomes: missing values, decoded labels, doubts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from outperform.errors import DataError, ResourceError
from outperform.findings import Finding
from outperform.outcomes import Outcomes

OnNull = Literal["refuse", "drop"]
MOST_CELLS = 2_000_000
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def decode(values: Sequence[Any], family: str, *, name: str) -> list[Any]:
    """Return the labels of one column as Python values; what is missing becomes None.

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
    found = None if value is None else json.loads(value)
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
                "scores into labels first, e.g. 1 if the score is 0.5 or more, else 0"
            )


def _is_number(value: Any) -> bool:
    return not isinstance(value, str) or bool(_DECIMAL.fullmatch(value))


def _is_fraction(value: Any) -> bool:
    if isinstance(value, str):
        return bool(_DECIMAL.fullmatch(value)) and not float(value).is_integer()
    return isinstance(value, float) and not value.is_integer()


def refuse_too_many(n_cells: int, name: str) -> None:
    """Refuse a table of outcomes that is no table of classes."""
    if n_cells > MOST_CELLS:
        raise ResourceError(
            f"{name} has more than {MOST_CELLS} different combinations of truth and predictions; "
            "are all of these columns labels? Name those of the models with models="
        )


def to_outcomes(
    truth: Sequence[Any],
    predictions: Mapping[str, Sequence[Any]],
    counts: Sequence[int],
    *,
    findings: Sequence[Finding],
) -> Outcomes:
    """Return outcomes from decoded columns, and put doubts about the reading beside them."""
    found = Outcomes.from_counts(truth, predictions, counts)
    return replace(found, findings=tuple(findings) + found.findings)


def settle(
    columns: Mapping[str, Sequence[Any]],
    counts: Sequence[int],
    *,
    models: Sequence[str],
    table: str,
    on_null: OnNull,
    findings: Sequence[Finding] = (),
    first: Callable[[str], str] = lambda column: "",
) -> Outcomes:
    """Return outcomes from what was counted: decoded columns, the truth first, and their counts.

    Where values are missing and must not be, ``first`` says where the first one of a column is.
    """
    refuse_scores(columns, next(iter(columns.values())))
    refuse_too_many(len(counts), table)
    lost = _missing(columns, counts)
    total = sum(counts)
    if lost and on_null == "refuse":
        raise DataError(_refusal(lost, total, first))
    rows = enumerate(zip(*columns.values(), strict=True))
    kept = [place for place, row in rows if None not in row and counts[place]]
    if not kept:
        raise DataError(f"{table} has no row with a value in each of {list(columns)}")
    left = sum(counts[place] for place in kept)
    truth, *predictions = ([values[place] for place in kept] for values in columns.values())
    return to_outcomes(
        truth,
        dict(zip(models, predictions, strict=True)),
        [counts[place] for place in kept],
        findings=(*findings, *_dropped(table, lost, total - left, total)),
    )


def _missing(columns: Mapping[str, Sequence[Any]], counts: Sequence[int]) -> dict[str, int]:
    """Return how many rows lack a value, by column."""
    lost = {
        name: sum(number for value, number in zip(values, counts, strict=True) if value is None)
        for name, values in columns.items()
    }
    return {name: number for name, number in lost.items() if number}


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
