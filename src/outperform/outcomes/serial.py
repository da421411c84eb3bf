"""Outcomes as plain values and back, with a schema version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from outperform._typing import FloatArray, IntArray, Label
from outperform.errors import DataError
from outperform.findings import Finding
from outperform.outcomes.counting import as_counts, count_rows
from outperform.outcomes.groups import Groups
from outperform.outcomes.label_sets import Sets
from outperform.outcomes.labels import check_label, sort_labels
from outperform.outcomes.pool import Pool
from outperform.outcomes.slices import Slices
from outperform.outcomes.table import Table, place_rows

if TYPE_CHECKING:
    from outperform.outcomes.outcomes import Outcomes

FORMAT = "outperform/outcomes"
SCHEMA = 1


def to_dict(outcomes: Outcomes) -> dict[str, Any]:
    """Return outcomes as JSON-able values; whole numbers stay whole."""
    plain = {
        "format": FORMAT,
        "schema": SCHEMA,
        "kind": outcomes.kind,
        "models": list(outcomes.models),
        "labels": list(outcomes.labels),
        "tables": [_table_to_dict(table) for table in outcomes.tables],
        "findings": [[one.name, one.level, one.message] for one in outcomes.findings],
    }
    if outcomes.kind == "label_sets":
        plain["sets"] = [list(one) for one in outcomes.sets]
    if outcomes.pool is not None:
        plain["pool"] = outcomes.pool.to_dict()
    return plain if outcomes.slices is None else {**plain, "slices": outcomes.slices.to_dict()}


def from_dict(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of outcomes from what :func:`to_dict` gave, checked."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise DataError(f"these are not outcomes: the field 'format' must be {FORMAT!r}")
    if data.get("schema") != SCHEMA:
        raise DataError(
            f"outcomes of schema {data.get('schema')!r} cannot be read; known: {SCHEMA}; if a "
            "newer outperform wrote them, update this one"
        )
    try:
        models = tuple(str(model) for model in data["models"])
        labels = tuple(check_label(label, name="labels") for label in data["labels"])
        kind = data["kind"]
        _check_names(models, labels, kind)
        sets = _sets(data["sets"], len(labels)) if kind == "label_sets" else ()
        n_codes = len(sets) if kind == "label_sets" else len(labels) + (kind == "spans")
        width = 1 + len(models) if len(data["tables"]) == 1 else 2
        tables = tuple(_table(table, n_codes, width) for table in data["tables"])
        if kind == "spans":
            _check_spans(tables, n_codes - 1)
        findings = tuple(Finding(*finding) for finding in data["findings"])
        slices = _slices(data.get("slices"), tables, n_codes)
        pool = _pool(data.get("pool"), tables, kind, n_codes)
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
        "slices": slices,
        "sets": sets,
        "pool": pool,
    }


def _slices(data: Mapping[str, Any] | None, tables: Sequence[Table], n_codes: int) -> Slices | None:
    """Put the slices back, and see that they add up to the whole."""
    if data is None:
        return None
    slices = Slices.from_dict(data, n_labels=n_codes, width=tables[0].cells.shape[1])
    whole = slices.whole(n_labels=n_codes)
    if (
        len(tables) != 1
        or not np.array_equal(whole.cells, tables[0].cells)
        or not np.array_equal(whole.counts, tables[0].counts)
    ):
        raise DataError("the slices do not add up to the whole")
    return slices


def _pool(
    data: Mapping[str, Any] | None, tables: Sequence[Table], kind: str, n_codes: int
) -> Pool | None:
    """Put the pool back, and see that the table could have been chosen from it."""
    if data is None:
        return None
    if len(tables) != 1 or kind != "classes" or tables[0].groups is not None:
        raise DataError("only paired classes without groups can come from a pool")
    return Pool.from_dict(data, tables[0], n_labels=n_codes)


def _table(data: Mapping[str, Any], n_labels: int, width: int) -> Table:
    cells = np.array(data["cells"], dtype=np.int64)
    if not cells.size:  # a model of which nothing was counted
        cells = cells.reshape(0, width)
    counts = as_counts(np.array(data["counts"], dtype=object))
    if cells.ndim != 2 or len(cells) != len(counts):
        raise DataError("every cell needs one count")
    if cells.size and (cells.min() < 0 or cells.max() >= n_labels):
        raise DataError("a cell names a class that is not in labels")
    table = Table(*count_rows(list(cells.T), n_labels=n_labels, weights=counts))
    return table if "groups" not in data else _with_groups(table, cells, data["groups"])


def _table_to_dict(table: Table) -> dict[str, Any]:
    # Effective counts stay as they are, so that equality sees them; they are not read back.
    plain = {"cells": table.cells.tolist(), "counts": table.counts.tolist()}
    if table.groups is None:
        return plain
    groups = {name: getattr(table.groups, name).tolist() for name in _GROUPS}
    if table.groups.weighted:
        groups["weights"] = groups.pop("times")
    return {**plain, "groups": groups}


_GROUPS = ("pattern", "cell", "times", "repeats")


def _with_groups(table: Table, cells: IntArray, data: Mapping[str, Any]) -> Table:
    """Put the groups back, and see that they hold just what the table counts."""
    weighted = "weights" in data
    wanted = [name for name in _GROUPS if name != "times" or not weighted]
    arrays = {name: as_counts(np.array(data[name], dtype=object)) for name in wanted}
    if weighted:
        arrays["times"] = _checked_weights(data["weights"])
    if len({len(arrays[name]) for name in _GROUPS[:3]}) != 1:
        raise DataError("every entry of a group needs a pattern, a cell and a number of times")
    groups = Groups(**arrays)
    if not groups.repeats.all() or not groups.times.all():
        raise DataError("a group that never occurred is no group")
    if (groups.cell >= len(cells)).any() or (groups.pattern >= len(groups.repeats)).any():
        raise DataError("a group names a cell or a pattern that is not there")
    groups = groups.moved(place_rows(cells, table.cells), n_cells=len(table.cells))
    if weighted:
        if (groups.held(n_cells=len(table.counts)) <= 0).any() or groups.n > table.n:
            raise DataError("the weights are not those of the documents that the table counts")
        return Table(table.cells, table.counts, groups)
    held = np.zeros(len(table.counts), dtype=object)
    np.add.at(held, groups.cell, groups.times * groups.repeats.astype(object)[groups.pattern])
    if (held != table.counts.astype(object)).any():
        raise DataError("the groups do not hold what the table counts")
    return Table(table.cells, table.counts, groups)


def _checked_weights(values: Sequence[Any]) -> FloatArray:
    weights = np.array(values, dtype=np.float64)
    if not np.isfinite(weights).all() or (weights <= 0).any():
        raise DataError("importance weights must be finite and above zero")
    return weights


def _check_spans(tables: Sequence[Table], outside: int) -> None:
    for table in tables:
        types = np.where(table.cells == outside, -1, table.cells)
        found = types.max(axis=1, initial=-1)
        if ((types != -1) & (types != found[:, None])).any() or (found == -1).any():
            raise DataError("each cell of spans must be of one type")


def _sets(data: Sequence[Sequence[int]], n_labels: int) -> Sets:
    """Put the label sets back, and see that they are sets of labels, in their order."""
    sets = tuple(tuple(int(label) for label in one) for one in data)
    if any(not 0 <= label < n_labels for one in sets for label in one):
        raise DataError("a set names a label that is not in labels")
    if sets != tuple(sorted({tuple(sorted(set(one))) for one in sets})):
        raise DataError("the label sets are not distinct sets in their order")
    return sets


def _check_names(models: Sequence[str], labels: Sequence[Label], kind: object) -> None:
    if len(set(models)) != len(models) or len(set(labels)) != len(labels):
        raise DataError("a model or a class is named twice")
    if labels != sort_labels(set(labels)):
        raise DataError("the classes are not in their order")
    if kind not in ("classes", "correct", "spans", "label_sets"):
        raise DataError(
            f"the kind must be 'classes', 'correct', 'spans' or 'label_sets'; got {kind!r}"
        )
