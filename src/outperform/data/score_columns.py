"""Columns of scores and statistics, read and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from outperform._missing import is_missing, unmasked
from outperform._rows import count_rows, distinct_rows
from outperform._typing import AnyArray, FloatArray, IntArray, Label
from outperform.data.checks import check_labels
from outperform.data.drawn import read_chances
from outperform.data.labels import (
    Column,
    Rows,
    align,
    column_names,
    frame_columns,
    is_frame,
    label_findings,
    only_column,
    read_column,
    sort_labels,
    unify,
)
from outperform.data.missing import label_findings_of
from outperform.data.table import Table
from outperform.errors import DataError, ResourceError, param
from outperform.findings import Finding, listed


def read_scores(columns: Mapping[str, object]) -> dict[str, FloatArray]:
    """Return the scores of each model, ``(n,)`` or ``(n, n_classes)``, with equal lengths."""
    arrays = {name: _read(values, name=f"scores of {name!r}") for name, values in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} has {n}" for name, n in lengths.items())
        raise DataError(f"{param('models')} must score the same items in the same order; {shown}")
    if not min(lengths.values()):
        raise DataError("there are no scores; at least one item is needed")
    return arrays


def read_values(columns: Mapping[str, object]) -> dict[str, FloatArray]:
    """Return one number per item for each model."""
    arrays = read_scores(
        {name: only_column(values, name=f"values of {name!r}") for name, values in columns.items()}
    )
    for name, array in arrays.items():
        if array.ndim != 1:
            raise DataError(
                f"values of {name!r} must be one number per item; got shape {array.shape}"
            )
    return arrays


def _read(values: object, *, name: str) -> FloatArray:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise DataError(f"{name} must be one number per item; got {type(values).__name__}")
    array = _as_floats(values, name)
    if array.ndim not in (1, 2):
        raise DataError(
            f"{name} must be one number per item, or one per class; got shape {array.shape}"
        )
    finite = np.isfinite(array)
    bad = np.flatnonzero(~(finite if array.ndim == 1 else finite.all(axis=1)))
    if bad.size:
        raise DataError(
            f"{name} has {bad.size} missing or infinite score(s), the first in row {bad[0]} "
            "(counted from 0); drop those rows for all models, or replace the missing scores"
        )
    array.setflags(write=False)
    return array


def _as_floats(values: object, name: str) -> FloatArray:
    try:
        array: AnyArray = np.asarray(unmasked(values))
    except ValueError as error:
        raise DataError(f"{name} must have the same number of values for every item") from error
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.kind == "O" and not any(isinstance(value, (str, bytes)) for value in array.flat):
        try:
            return np.array([_number(value) for value in array.flat], dtype=np.float64).reshape(
                array.shape
            )
        except (TypeError, ValueError):
            pass
    raise DataError(f"{name} must be numbers; got values of type {array.dtype}")


def _number(value: Any) -> float:
    return float("nan") if is_missing(value) else float(value)


def read_truth(y_true: Any, labels: Any) -> tuple[IntArray, tuple[Label, ...], tuple[Finding, ...]]:
    """Return the code of the true class of each item, the classes, and findings.

    The classes are sorted or in the given order, which is the order of the probability columns.
    """
    columns, findings = unify([read_column(y_true, name="y_true")])
    column: Column = columns[0]
    if not column.codes.size:
        raise DataError("y_true has no rows; at least one item is needed")
    known = {column.values[code] for code in np.unique(column.codes)}
    if column.kind == "bool" or known in ({0}, {1}):
        known = {False, True} if column.kind == "bool" else {0, 1}
    ordered = sort_labels(known)
    if labels is not None:
        ordered = check_labels(labels, like=known)
        if not known <= set(ordered):
            missing = ", ".join(repr(label) for label in sort_labels(known - set(ordered)))
            raise DataError(f"{param('labels')} must include every class; y_true has {missing}")
    code_of = {label: code for code, label in enumerate(ordered)}
    codes = np.array([code_of.get(value, -1) for value in column.values], dtype=np.int64)
    return codes[column.codes], ordered, findings


def truth_texts(labels: Sequence[Label], codes: IntArray) -> tuple[Finding, ...]:
    """Return findings about true labels that may be missing values."""
    table = Table(*count_rows([codes], n_labels=int(codes.max(initial=0)) + 1))
    return label_findings(labels) + label_findings_of(labels, (table,), ())


def in_class_order(values: Any, labels: Sequence[Label], *, name: str) -> Any:
    """Return a matrix with one column per class, in the order of the classes.

    The columns of a frame are matched by name. Columns without names (pandas numbers them 0, 1, …,
    unless these are classes) must already be in this order.
    """
    if not is_frame(values) or values.shape[1] == 1:
        return only_column(values, name=name)
    names, matrix = column_names(values, name=name), np.asarray(values)
    known = {label if label in names else str(label): label for label in labels}
    if set(known) == set(names):
        return matrix[:, [names.index(label) for label in known]]
    if names == list(range(len(names))):
        return matrix
    shown = ", ".join(repr(label) for label in labels)
    spare = [label for label in names if label not in known]
    lacking = [label for label in known if label not in names]
    odd = f"has {spare[0]!r}" if spare else f"lacks {lacking[0]!r}"
    raise DataError(
        f"the columns of {name} must be named after the classes, {shown}, but it {odd}. Rename "
        f"them, list classes that never occur in {param('labels=')}, or pass .to_numpy() for "
        "columns in the order of the classes"
    )


def read_statistics(
    statistics: Mapping[str, object], columns: Sequence[str], beside: Mapping[str, object]
) -> tuple[dict[str, FloatArray], tuple[str, ...], Rows]:
    """Return each model's statistics with one row per item, their names, and the rows.

    Columns of mappings and frames are matched by name, and rows by index if they have one.
    """
    by_model = {model: _by_column(values) for model, values in statistics.items()}
    flat = {
        f"{model}: {name}": values
        for model, each in by_model.items()
        for name, values in each.items()
    }
    rows = align(flat, what="statistics", beside=beside)
    first = next(iter(by_model.values()))
    names = tuple(columns or (name for name in first if name is not None))
    aligned: dict[str, object] = rows.models
    arrays = read_scores(
        {
            model: _stacked({name: aligned[f"{model}: {name}"] for name in each}, model, names)
            for model, each in by_model.items()
        }
    )
    widths = {array.shape[1] for array in arrays.values()}
    if len(widths) > 1 or (names and {len(names)} != widths):
        shown = ", ".join(f"{name!r} has {array.shape[1]}" for name, array in arrays.items())
        wanted = f" named {', '.join(names)}" if names else ", the same number for every model"
        raise DataError(f"statistics must be columns{wanted}; {shown}")
    return arrays, names, rows


def _by_column(values: object) -> dict[str | None, object]:
    """Return the columns of a mapping or a frame by name; anything else under the name None."""
    if isinstance(values, Mapping):
        return dict(values)
    columns = frame_columns(values, name="a frame of statistics") if is_frame(values) else {}
    return columns if columns and all(isinstance(name, str) for name in columns) else {None: values}


def _stacked(values: Mapping[str | None, object], model: str, columns: Sequence[str]) -> AnyArray:
    """Return the statistics of one model, one row per item, with columns in this order."""
    if None not in values:
        if set(values) != set(columns):
            raise DataError(
                f"every model must have the same statistics; {model!r} has "
                f"{', '.join(map(str, values))}, but the first model or {param('columns')} has "
                f"{', '.join(columns) or 'no named columns'}"
            )
        return np.stack(
            [*read_scores({column: values[column] for column in columns}).values()], axis=1
        )
    array = _as_floats(values[None], f"statistics of {model!r}")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or not array.shape[1]:
        raise DataError(
            f"statistics of {model!r} must have one row per item and one column per statistic; "
            f"got shape {array.shape}"
        )
    return array


VOTES = ("first", "second", "points of the first", "order is known", "model", "models")
"""Statistics of a vote."""
_MOST_NUMBERS = 3e8


def read_votes(columns: Mapping[str, object], *, tie: str, ordered: bool) -> dict[str, FloatArray]:
    """Return the votes for each model: codes of both, points of the first, and its own code."""
    first, second, winner = (read_column(values, name=name) for name, values in columns.items())
    for column in (first, second, winner):
        if column.kind != "text":
            raise DataError(f"{column.name} must be names of models; got {column.kind}s")
        if len(column.codes) != len(first.codes):
            raise DataError(
                f"first has {len(first.codes):,} rows but {column.name} has "
                f"{len(column.codes):,}; both must list the same votes in the same order"
            )
    if not first.codes.size:
        raise DataError("there are no votes; at least one is needed")
    names = tuple(sorted(str(value) for value in {*first.values, *second.values}))
    if tie in names:
        raise DataError(
            f"a model is named {tie!r}; pass another word for a tie with {param('tie=')}"
        )
    code_of = {name: code for code, name in enumerate(names)} | {tie: -1}
    left, right, won = (
        np.array([code_of.get(str(value), -2) for value in column.values])[column.codes]
        for column in (first, second, winner)
    )
    for wrong, what in (
        (left == right, "compares a model with itself"),
        (
            (won != left) & (won != right) & (won != -1),
            f"has a winner that is neither of its two models nor {tie!r}",
        ),
    ):
        rows = np.flatnonzero(wrong)
        if rows.size:
            raise DataError(
                f"the vote in row {rows[0]} (counted from 0) {what}; {rows.size:,} votes do"
            )
    if len(left) * (1.5 * len(names) ** 2 + 2) > _MOST_NUMBERS:
        raise ResourceError(
            f"{len(left):,} votes on {len(names)} models need more memory than is available; drop "
            "models with few votes"
        )
    points = np.where(won == -1, 0.5, won == left)
    votes = {}
    for code, name in enumerate(names):
        constant = np.broadcast_to([ordered, code, len(names)], (len(left), 3))
        votes[name] = np.column_stack([left, right, points, constant]).astype(np.float64)
        votes[name].setflags(write=False)
    return votes


GRADES = ("judge", "judge of all models", "human", "looked")
"""Statistics of an item graded by a judge, and possibly by people."""
_FEWEST = 5  # fewest items to fit a plane


def read_grades(
    judged: Mapping[str, object], human: Mapping[str, object], *, chances: object = None
) -> dict[str, FloatArray]:
    """Return each model's grades: by the judge, by people (or 0), and whether people graded.

    If the probabilities of being graded are known, the last column is the item's weight: the
    inverse of its probability.
    """
    if set(human) != set(judged):
        raise DataError(
            f"judged and human must have the same models; got {list(judged)} and {list(human)}"
        )
    grades = read_values(judged)
    people = {
        model: _as_floats(
            only_column(human[model], name=f"human {model!r}"), f"human grades of {model!r}"
        )
        for model in judged
    }
    shapes = {array.shape for array in (*grades.values(), *people.values())}
    if len(shapes) > 1 or len(next(iter(shapes))) > 1:
        raise DataError(
            "judged and human must have one grade per item and model, NaN in human for ungraded "
            f"items; got arrays of shapes {', '.join(map(str, sorted(shapes)))}"
        )
    graded = ~np.isnan(np.stack([*people.values()]))
    torn, n_seen = np.flatnonzero(graded.any(axis=0) != graded.all(axis=0)), int(graded[0].sum())
    if torn.size:
        raise DataError(
            f"{torn.size:,} items have human grades for some models only (first: row {torn[0]}); "
            "grade an item for every model, or use NaN for all of them"
        )
    if n_seen < _FEWEST:
        raise DataError(
            f"people graded {n_seen} items, but correcting the judge needs at least {_FEWEST}, "
            "drawn at random"
        )
    looked = graded[0].astype(np.float64)
    if chances is not None:
        looked[graded[0]] = 1.0 / read_chances(chances, graded[0])[graded[0]]
    by_model, overall = {}, np.mean([*grades.values()], axis=0)
    for model, own in people.items():
        read_scores({f"human {model}": own[graded[0]]})  # rejects infinite values
        known = np.where(graded[0], own, 0.0)
        by_model[model] = np.column_stack([grades[model], overall, known, looked])
    return by_model


def joined(first: AnyArray | None, second: AnyArray | None) -> AnyArray | None:
    """Return both parts of a column; None if one is missing."""
    return None if first is None or second is None else np.concatenate([first, second])


def joined_counts(
    first: AnyArray | None, second: AnyArray | None, lengths: tuple[int, int]
) -> AnyArray | None:
    """Return both parts; if only one of them has the column, items of the other count once."""
    if first is None and second is None:
        return None
    parts = (first, second)
    return np.concatenate(
        [np.ones(n) if own is None else own for own, n in zip(parts, lengths, strict=True)]
    )


def refuse_unconnected(votes: FloatArray, names: Sequence[str]) -> None:
    """Reject votes from which the strength of some models cannot be estimated."""
    n, (left, right) = len(names), votes[:, :2].astype(np.int64).T
    points = votes[:, 2]
    beat = np.zeros((n, n), dtype=bool)
    beat[left[points > 0], right[points > 0]] = True
    beat[right[points < 1], left[points < 1]] = True
    reach = beat | np.eye(n, dtype=bool)
    for _ in range(n.bit_length()):  # chains of wins, whose length doubles each time
        reach = reach @ reach
    mutual = reach & reach.T  # models that beat each other through such chains
    parts = mutual[distinct_rows(mutual).first]
    for own in parts[np.argsort(parts.sum(axis=1), kind="stable")] if len(parts) > 1 else ():
        sides = {"won or tied": beat[own][:, ~own].any(), "lost or tied": beat[~own][:, own].any()}
        lacking = [what for what, present in sides.items() if not present]
        if lacking:
            raise DataError(
                f"{listed(repr(names[code]) for code in np.flatnonzero(own).tolist())} never "
                f"{' nor '.join(lacking)} against the others, so the difference in strength is "
                "unbounded; collect votes that link them, or drop the votes on one side"
            )
    if votes[0, 3]:
        pairs = np.stack([left, right], axis=1)
        pairs = pairs[distinct_rows(pairs).first]
        design = np.zeros((len(pairs), n + 1))
        design[np.arange(len(pairs)), pairs[:, 0]] = 1
        design[np.arange(len(pairs)), pairs[:, 1]] = -1
        design[:, -1] = 1
        if np.linalg.matrix_rank(design) < n:
            raise DataError(
                "every vote lists the models in the same order, so position bias cannot be "
                "separated from a preference for one model; if the order is random or "
                f"meaningless, pass {param('ordered=', False)}"
            )
