"""Outcomes as plain values and back, with a schema version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from outperform._typing import Label
from outperform.errors import DataError
from outperform.findings import Finding
from outperform.outcomes.counting import as_counts, count_rows
from outperform.outcomes.labels import check_label, sort_labels
from outperform.outcomes.table import Table

if TYPE_CHECKING:
    from outperform.outcomes.outcomes import Outcomes

FORMAT = "outperform/outcomes"
SCHEMA = 1


def to_dict(outcomes: Outcomes) -> dict[str, Any]:
    """Return outcomes as JSON-able values; whole numbers stay whole."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "kind": outcomes.kind,
        "models": list(outcomes.models),
        "labels": list(outcomes.labels),
        "tables": [
            {"cells": table.cells.tolist(), "counts": [int(count) for count in table.counts]}
            for table in outcomes.tables
        ],
        "findings": [[one.name, one.level, one.message] for one in outcomes.findings],
    }


def from_dict(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of outcomes from what :func:`to_dict` gave, checked."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise DataError(f"these are not outcomes: the field 'format' must be {FORMAT!r}")
    if data.get("schema") != SCHEMA:
        raise DataError(
            f"outcomes of schema {data.get('schema')!r} cannot be read; known: {SCHEMA}"
        )
    try:
        models = tuple(str(model) for model in data["models"])
        labels = tuple(check_label(label, name="labels") for label in data["labels"])
        tables = tuple(_table(table, len(labels)) for table in data["tables"])
        findings = tuple(Finding(*finding) for finding in data["findings"])
        kind = data["kind"]
        _check_names(models, labels, kind)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"these outcomes are damaged: {error}") from error
    widths = {table.cells.shape[1] - 1 for table in tables}
    if not (len(tables) == 1 and widths == {len(models)}) and not (
        len(tables) == len(models) and widths == {1}
    ):
        raise DataError("these outcomes are damaged: tables and models do not match")
    return {
        "models": models,
        "labels": labels,
        "tables": tables,
        "kind": kind,
        "findings": findings,
    }


def _table(data: Mapping[str, Any], n_labels: int) -> Table:
    cells = np.array(data["cells"], dtype=np.int64)
    counts = as_counts(np.array(data["counts"], dtype=object))
    if cells.ndim != 2 or len(cells) != len(counts):
        raise DataError("every cell needs one count")
    if cells.min() < 0 or cells.max() >= n_labels:
        raise DataError("a cell names a class that is not in labels")
    return Table(*count_rows(list(cells.T), n_labels=n_labels, weights=counts))


def _check_names(models: Sequence[str], labels: Sequence[Label], kind: object) -> None:
    if len(set(models)) != len(models) or len(set(labels)) != len(labels):
        raise DataError("a model or a class is named twice")
    if labels != sort_labels(set(labels)):
        raise DataError("the classes are not in their order")
    if kind not in ("classes", "correct"):
        raise DataError(f"the kind must be 'classes' or 'correct'; got {kind!r}")
