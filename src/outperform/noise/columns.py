"""Columns that are no runs, such as ids: a run's answers look like those of the other runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from outperform._typing import FloatArray
from outperform.data.checks import compare_values
from outperform.data.labels import RIGHT_WORDS
from outperform.errors import UsageError, either, param
from outperform.findings import quoted

_ENOUGH = 10  # With fewer items, grades can be distinct, and right or wrong, by chance.


def as_number(value: Any) -> float:
    """Return an answer as a number, with right and wrong as 1 and 0; NaN if it is none.

    Examples
    --------
    >>> as_number("pass"), as_number("0.5"), as_number("q17")
    (1.0, 0.5, nan)
    """
    known = RIGHT_WORDS.get(value.strip().lower(), value) if isinstance(value, str) else value
    try:
        return float(known)
    except (TypeError, ValueError):
        return math.nan


def refuse_no_runs(
    columns: Mapping[str, Sequence[Any]],
    *,
    truth: str | None = None,
    labels: Sequence[Any] = (),
    source: Literal["columns", "data", "arrays"] = "columns",
) -> None:
    """Raise an error if a column is not a run like the others: an id, a cost, a length.

    If some columns are right or wrong, a run does not have a different number for most items.
    Otherwise it contains grades, which do not count the items, and lie among those of the others.

    Parameters
    ----------
    columns
        The answers of each column, one per item.
    truth, labels
        Name and values of the column of true labels, if the answers are labels.
    source
        Where they come from, which decides what to type instead.
    """
    if len(columns) < 2 or min(map(len, columns.values())) < _ENOUGH:
        return
    reasons = _reasons(columns) if truth is None else _unlike_labels(columns, truth, labels)
    if not reasons or len(reasons) == len(columns):
        return
    name, reason = next(iter(reasons.items()))
    kept = [column for column in columns if column not in reasons]
    advice = f"pass only {quoted(kept)}"
    if source != "arrays":
        advice = f"pass {param('models=', kept)}"
        python = f", and ids={name!r} if it identifies the items" if source == "columns" else ""
        advice += either(python, f", and {param('id=', name)} if it identifies the items")
    raise UsageError(
        f"no runs were named, so {quoted([*columns])} were taken as runs, but {name!r} {reason}; "
        f"{advice}"
    )


def _unlike_labels(
    columns: Mapping[str, Sequence[Any]], truth: str, labels: Sequence[Any]
) -> dict[str, str]:
    """Return why columns contain no labels."""
    reasons: dict[str, str] = {}
    for name, own in columns.items():
        codes_of = {value: code for code, value in enumerate(dict.fromkeys(own))}
        codes = np.array([codes_of[value] for value in own])
        likeness = compare_values([*codes_of], codes, labels, None)
        if likeness.look_like_ids:
            reasons[name] = likeness.sentence("has", repr(truth))
    return reasons


def _reasons(columns: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """Return why columns contain neither right and wrong answers nor grades like the others."""
    values = {name: np.array([as_number(value) for value in row]) for name, row in columns.items()}
    binary = [name for name, own in values.items() if np.isin(own, (0.0, 1.0)).all()]
    return {
        name: reason
        for name, row in columns.items()
        if (reason := _reason(name, row, values, binary)) is not None
    }


def _reason(
    name: str,
    column: Sequence[Any],
    values: Mapping[str, FloatArray],
    binary: Sequence[str],
) -> str | None:
    """Return why a column is not a run; None if it may be one."""
    own, n_values = values[name], len({str(value) for value in column})
    distinct = n_values == len(own)
    content = f"has {n_values:,} different values in {len(own):,} rows"
    if np.isnan(own).mean() > 0.5:
        return f"{content}, none a number" if distinct else None
    if binary:
        beyond = ~((own >= 0) & (own <= 1))
        graded = n_values > len(own) / 2 and not np.isin(own, (0.0, 1.0)).mean() > 0.5
        if beyond.mean() > 0.5 or graded:
            return f"{content}, while {quoted(binary)} contain only right and wrong answers"
        return None
    if not distinct or not (own == np.floor(own)).all():
        return None
    if np.ptp(own) == len(own) - 1:
        return f"{content}, which count them"
    others = np.concatenate(
        [other_values for other, other_values in values.items() if other != name]
    )
    beyond = (own < np.nanmin(others)) | (own > np.nanmax(others))
    if beyond.mean() > 0.5:
        return f"{content}, most of them beyond those of the others"
    return None
