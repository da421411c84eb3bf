"""Answers of models from columns of a frame or file, or from evaluation logs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from outperform import metrics
from outperform._missing import is_missing
from outperform._typing import FloatArray
from outperform.data.labels import frame_columns, is_file, is_frame
from outperform.data.missing import MissingTexts
from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.inference.spec import Data, data_of
from outperform.io.frames import fetch_columns, known_frame
from outperform.io.group_by import or_label
from outperform.io.logs.read import recognized
from outperform.io.read import numbers_of, read, read_repeated, read_rows, read_sums
from outperform.io.request import LongLayout, column_names
from outperform.metrics.added_up import stored_rows
from outperform.metrics.metric import MetricLike


def is_logs(value: object) -> bool:
    """Return whether a value is evaluation logs: one path, a list of them, or one per run."""
    parts = list(value.values()) if isinstance(value, Mapping) else value
    parts = list(parts) if isinstance(parts, (list, tuple)) else [parts]
    return bool(parts) and all(is_file(part) for part in parts) and recognized(value) is not None


def read_logs(source: Any) -> Data:
    """Return logs as outcomes if their answers are right or wrong, otherwise as scores."""
    return read_repeated(source)


def read_named(
    source: Any,
    models: list[str] | None,
    *,
    verb: str,
    truth: str | None,
    metric: MetricLike | None,
    missing: MissingTexts,
    groups: Any,
    sample_weight: Any,
) -> Data:
    """Return the data from columns of a frame or file.

    Parameters
    ----------
    source
        Frame or file.
    models
        Columns of the answers; None for all other columns.
    verb
        Function that the user called, for messages.
    truth
        Column of the true labels or targets, if any.
    metric
        The metric, which decides whether the columns are labels or numbers.
    missing
        Texts that represent a missing label.
    groups, sample_weight
        Columns of groups and of weights, if any.
    """
    for name, column in {"groups": groups, "sample_weight": sample_weight}.items():
        if column is not None and not isinstance(column, str):
            raise UsageError(f"with a frame or file, {param(f'{name}=')} is the name of a column")
    if models is not None:
        _refuse_repeated(models)
    if metric is None or not metrics.is_of_scores(metric):
        metrics.check_name(metric, metrics.names)
        if truth is None:
            _refuse_long(column_names(source) or (), source, verb, models)
            raise _without_truth(source, verb, models)
        return read(
            source,
            truth=truth,
            models=models,
            groups=groups,
            weight=sample_weight,
            na_values=missing.na_values,
            empty_is_label=missing.empty_is_label,
        )
    others = [name for name in (truth, groups, sample_weight) if name is not None]
    if models is None:
        columns = read_columns(source, None, missing=missing)
        _refuse_long(columns, source, verb, None, metric)
        models = [name for name in columns if name not in others]
        _refuse_texts(columns, models, metric, verb)
    else:
        try:
            summed = stored_rows(metrics.get_score(metric)) is not None and sample_weight is None
            if summed and isinstance(source, (str, os.PathLike)):
                sums = read_sums(source, models, truth=truth, groups=groups, missing=missing)
                if sums is not None:
                    return sums
            columns = read_columns(source, [*models, *others], missing=missing)
        except UsageError:  # no such column: the models may be values of a column instead
            if not hasattr(source, "read"):  # an open file has been read by now
                names = column_names(source) or ()
                _refuse_long(names, source, verb, models, metric)
            raise
    return scores_of_columns(
        columns, models, source, truth=truth, metric=metric, groups=groups, weight=sample_weight
    )


def _refuse_texts(
    columns: Mapping[str, list[Any]], models: list[str], metric: MetricLike, verb: str
) -> None:
    """Raise an error if some of the other columns are not scores."""
    basis = _basis(metric)
    texts = [name for name in models if any(isinstance(value, str) for value in columns[name])]
    if texts and len(texts) < len(models) and (basis is None or basis.read is None):
        scores = [name for name in models if name not in texts]
        raise UsageError(
            f"not all other columns are scores: {', '.join(map(repr, texts))} contain text; name "
            f"the models, e.g. {verb}(data, {scores})"
        )


def _refuse_repeated(models: Sequence[str]) -> None:
    if len(set(models)) != len(models):
        raise UsageError(f"the models must differ; got {', '.join(map(repr, models))}")


def _without_truth(source: Any, verb: str, models: Sequence[str] | None) -> UsageError:
    named = ", ".join(map(repr, ["bert", "gpt"] if models is None else models))
    return UsageError(
        f"a frame or file needs the column of the true labels: {verb}(data, {named}, "
        f"truth='label'). If the columns record whether a model was right, read them first: "
        f"op.read(data, correct=[{named}]). If they contain scores or grades, pass metric='mean'"
    )


def _refuse_long(
    names: Iterable[str],
    source: Any,
    verb: str,
    models: Sequence[str] | None,
    metric: MetricLike | None = None,
) -> None:
    """Raise an error with the calls to type if a table seems to have one row per item and model."""
    layout = LongLayout.of(list(names))
    if layout is None:
        return
    name = repr(str(source)) if isinstance(source, (str, os.PathLike)) else "data"
    listed = ", ".join(map(repr, models or ()))
    passed = ["data", *([f"[{listed}]" if verb == "rank" else listed] if models else [])]
    passed += [] if metric is None else [f"metric={metric!r}"]
    reader = "read" if metric is None else "read_scores"
    raise UsageError(
        f"this table seems to have one row per item and model: type data = op.{reader}({name}, "
        f"{layout.arguments}), then {verb}({', '.join(passed)})"
    )


def scores_of_columns(
    columns: Mapping[str, list[Any]],
    models: Sequence[str],
    source: object,
    *,
    truth: str | None,
    metric: MetricLike | None,
    groups: str | None = None,
    weight: str | None = None,
) -> Data:
    """Return the data of columns, converted to numbers if the metric needs numbers."""
    numbers: set[str] = set() if weight is None else {weight}
    basis = _basis(metric)
    if basis is None or basis.read is None:  # other metrics use texts, rankings or masks
        numbers |= set(models)
        if basis is not None and basis.reads == "statistics" and truth is not None:
            numbers.add(truth)
    rows: dict[str, list[Any] | FloatArray] = {
        name: numbers_of(values, name, source) if name in numbers else values
        for name, values in columns.items()
    }
    return data_of(
        None if truth is None else rows[truth],
        {name: rows[name] for name in models},
        metric=metric,
        labels=None,
        sample_weight=None if weight is None else rows[weight],
        groups=None if groups is None else rows[groups],
    )


def _basis(metric: MetricLike | None) -> metrics.Basis | None:
    """Return the input kind of a score metric; None for a function of rows, which uses numbers."""
    return None if metric is None or callable(metric) else metrics.get_score(metric).basis


def read_columns(
    source: Any, names: Sequence[str] | None, *, missing: MissingTexts
) -> dict[str, list[Any]]:
    """Return columns of a frame or file as lists; a missing value raises an error.

    Parameters
    ----------
    source
        Frame or file.
    names
        Columns to return; None for all columns.
    missing
        Texts that represent a missing value.
    """
    if is_file(source):
        rows = read_rows(source, names, missing=missing)
    else:
        # is_frame would make a lazy frame resolve its schema.
        in_memory = hasattr(source, "__len__") and is_frame(source)
        columns = _lists(source, names) if in_memory else _collected(source, names)
        rows = {name: missing.without(values) for name, values in columns.items()}
    for name, values in rows.items():
        empty = [row for row, value in enumerate(values, 1) if is_missing(value)]
        if empty:
            raise DataError(
                f"column {name!r} has no value in {len(empty)} of {len(values)} rows, the "
                f"first in row {empty[0]} (counted from 1); drop these rows, or fill in a value"
                + (or_label(text_file=True) if is_file(source) else "")
            )
    return rows


def _collected(source: Any, names: Sequence[str] | None) -> dict[str, list[Any]]:
    frame = known_frame(source)
    if frame is None:
        raise UsageError(f"a frame or file is needed; got {type(source).__name__}")
    names = list(frame.columns) if names is None else names
    for name in names:
        frame.column(name)
    return dict(zip(names, fetch_columns(frame, names), strict=True))


def _lists(frame: object, names: Sequence[str] | None) -> dict[str, list[Any]]:
    columns = frame_columns(frame, name="source")
    for name in columns if names is None else names:
        if name not in columns:
            raise UsageError(unknown_name("column", name, map(str, columns)))
    # Arrow scalars are neither text nor numbers.
    return {
        name: columns[name].to_pylist()
        if hasattr(columns[name], "to_pylist")
        else list(columns[name])
        for name in (columns if names is None else names)
    }
