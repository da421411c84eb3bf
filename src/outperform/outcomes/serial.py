"""Outcomes as plain values and back, with a schema version and a checksum."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from outperform import _json as read
from outperform._typing import AnyArray, IntArray, Label
from outperform.errors import DataError
from outperform.findings import Finding, Level
from outperform.outcomes.counting import as_counts, count_rows
from outperform.outcomes.groups import Groups
from outperform.outcomes.label_sets import Sets
from outperform.outcomes.labels import sort_labels
from outperform.outcomes.pool import Pool
from outperform.outcomes.slices import Slices
from outperform.outcomes.sources import DOUBLED, Source
from outperform.outcomes.table import Table, place_rows

if TYPE_CHECKING:
    from outperform.outcomes.outcomes import Outcomes

FORMAT = "outperform/outcomes"
SCHEMA = 2
_KINDS = ("classes", "correct", "spans", "label_sets")
_HUGE = 10**4000  # what Python still turns into digits
_NAME = re.compile("[a-z][a-z0-9_]*")

# The fields of a file, and what each must be.


def _label(value: Any, at: str) -> Label:
    if type(value) is bool:
        return value
    return read.text(value, at) if type(value) is str else read.whole(-_HUGE, _HUGE)(value, at)


def _finding(value: Any, at: str) -> Finding:
    name, level, message = read.row_of(read.text, read.one_of(*get_args(Level)), read.text)(
        value, at
    )
    if not _NAME.fullmatch(name):
        raise read.refuse(f"{at}[0]", "the name of a finding", name)
    if level == "serious" and name not in DOUBLED:
        raise DataError(
            f"{at}: what withholds a verdict is found when outcomes are compared, so a file cannot "
            f"bring along a serious finding {name!r}"
        )
    return Finding(name, level, message)


_COUNTS = read.wholes(high=read.MOST)
_CELLS = {"cells": read.codes, "counts": _COUNTS}
_GROUPS = read.record(
    {"pattern": read.wholes(), "cell": read.wholes(), "repeats": _COUNTS},
    {"times": read.wholes(), "weights": read.fractions},
)
_OUTCOMES = read.record(
    {
        "format": read.one_of(FORMAT),
        "schema": read.whole(SCHEMA, SCHEMA),
        "kind": read.one_of(*_KINDS),
        "models": read.list_of(read.text),
        "labels": read.list_of(_label),
        "tables": read.list_of(read.record(_CELLS, {"groups": _GROUPS})),
        "findings": read.list_of(_finding),
        "sources": read.list_of(
            read.record(
                {
                    "name": read.text,
                    "n": read.whole(),
                    "sha256": read.digest,
                    "telling": read.truth_value,
                }
            )
        ),
        "sha256": read.digest,
    },
    {
        "sets": read.list_of(read.wholes()),
        "pool": read.record(_CELLS),
        "slices": read.record(
            {
                "by": read.list_of(read.text),
                "keys": read.list_of(read.list_of(read.text)),
                **_CELLS,
            }
        ),
    },
)


def content(outcomes: Outcomes) -> dict[str, Any]:
    """Return what was seen as JSON-able values, without where it came from."""
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


def to_dict(outcomes: Outcomes) -> dict[str, Any]:
    """Return outcomes as JSON-able values with a checksum; whole numbers stay whole."""
    sources = sorted(outcomes.origins, key=lambda one: (one.name, one.sha256))
    return read.signed({**content(outcomes), "sources": [one.to_dict() for one in sources]})


def from_dict(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of outcomes from what :func:`to_dict` gave, checked."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise DataError(f"these are not outcomes: the field 'format' must be {FORMAT!r}")
    schema = data.get("schema")
    if type(schema) is not int or schema != SCHEMA:
        raise DataError(
            f"outcomes of schema {read.shown(schema)} cannot be read; known: {SCHEMA}; if a newer "
            "outperform wrote them, update this one, and if an older one did, count again"
        )
    try:
        found = _OUTCOMES(data, "")
        if not read.is_signed(data):
            raise DataError("their content does not fit their checksum, so they were changed")
        return _fields(**found)
    except DataError as error:
        raise DataError(f"these outcomes are damaged: {error}") from error


def _fields(
    *,
    kind: str,
    models: list[str],
    labels: list[Label],
    tables: list[dict[str, Any]],
    findings: list[Finding],
    sources: list[dict[str, Any]],
    sets: list[IntArray] | None = None,
    pool: dict[str, Any] | None = None,
    slices: dict[str, Any] | None = None,
    **_: Any,
) -> dict[str, Any]:
    """Return the fields of outcomes, and see that they fit each other."""
    _check_names(models, labels)
    if (sets is not None) != (kind == "label_sets"):
        raise DataError(f"the field sets is for the kind 'label_sets', and this is {kind!r}")
    known = () if sets is None else _sets(sets, len(labels))
    n_codes = len(known) if sets is not None else len(labels) + (kind == "spans")
    paired = len(tables) == 1
    if not paired and len(tables) != len(models):
        raise DataError(f"tables and models do not match: {len(tables)} and {len(models)}")
    width = 1 + len(models) if paired else 2
    counted = tuple(_table(**table, n_labels=n_codes, width=width) for table in tables)
    if len({table.groups is None for table in counted}) != 1:
        raise DataError("all tables must have groups, or none")
    if kind == "spans":
        _check_spans(counted, n_codes - 1)
    return {
        "models": tuple(models),
        "labels": tuple(labels),
        "tables": counted,
        "kind": kind,
        "findings": tuple(findings),
        "slices": None if slices is None else _slices(slices, counted, n_codes),
        "sets": known,
        "pool": None if pool is None else _pool(pool, counted, kind, n_codes),
        "sources": tuple(Source(**one) for one in sources),
    }


def _slices(data: Mapping[str, Any], tables: Sequence[Table], n_codes: int) -> Slices:
    """Put the slices back, and see that they add up to the whole."""
    slices = Slices.from_dict(data, n_labels=n_codes, width=tables[0].cells.shape[1])
    whole = slices.whole(n_labels=n_codes)
    if (
        len(tables) != 1
        or not np.array_equal(whole.cells, tables[0].cells)
        or not np.array_equal(whole.counts, tables[0].counts)
    ):
        raise DataError("the slices do not add up to the whole")
    return slices


def _pool(data: Mapping[str, Any], tables: Sequence[Table], kind: str, n_codes: int) -> Pool:
    """Put the pool back, and see that the table could have been chosen from it."""
    if len(tables) != 1 or kind != "classes" or tables[0].groups is not None:
        raise DataError("only paired classes without groups can come from a pool")
    return Pool.from_dict(data, tables[0], n_labels=n_codes)


def _table(
    *,
    cells: IntArray,
    counts: AnyArray,
    n_labels: int,
    width: int,
    groups: Mapping[str, Any] | None = None,
) -> Table:
    if not len(cells):  # a model of which nothing was counted
        cells = cells.reshape(0, width)
    if cells.shape != (len(counts), width):
        raise DataError(
            f"every cell needs one count and {width} codes; got {len(cells)} cells of "
            f"{cells.shape[1]} codes and {len(counts)} counts: tables and models do not match"
        )
    if cells.max(initial=0) >= max(n_labels, 1):
        raise DataError("a cell names a class that is not in labels")
    table = Table(*count_rows(list(cells.T), n_labels=n_labels, weights=as_counts(counts)))
    if len(table.cells) != len(cells):
        raise DataError("a cell occurs twice, or its count is zero")
    return table if groups is None else _with_groups(table, cells, groups)


def _table_to_dict(table: Table) -> dict[str, Any]:
    # Effective counts stay as they are, so that equality sees them; they are not read back.
    plain = {"cells": table.cells.tolist(), "counts": table.counts.tolist()}
    if table.groups is None:
        return plain
    names = ("pattern", "cell", "times", "repeats")
    groups = {name: getattr(table.groups, name).tolist() for name in names}
    if table.groups.weighted:
        groups["weights"] = groups.pop("times")
    return {**plain, "groups": groups}


def _with_groups(table: Table, cells: IntArray, data: Mapping[str, Any]) -> Table:
    """Put the groups back, and see that they hold just what the table counts."""
    weighted = "weights" in data
    if weighted == ("times" in data):
        raise DataError("groups must have one of the fields times and weights")
    times = data["weights"] if weighted else as_counts(data["times"])
    pattern, cell, repeats = data["pattern"], data["cell"], as_counts(data["repeats"])
    if not len(pattern) == len(cell) == len(times):
        raise DataError("every entry of a group needs a pattern, a cell and a number of times")
    if not repeats.all() or not times.all():
        raise DataError("a group that never occurred is no group")
    if cell.max(initial=-1) >= len(cells) or pattern.max(initial=-1) >= len(repeats):
        raise DataError("a group names a cell or a pattern that is not there")
    groups = Groups(pattern=pattern, cell=cell, times=times, repeats=repeats)
    groups = groups.moved(place_rows(cells, table.cells), n_cells=len(table.cells))
    if weighted:
        held = groups.held(n_cells=len(table.counts))
        if not ((held > 0) & np.isfinite(held)).all() or groups.n > table.n:
            raise DataError("the weights are not those of the items that the table counts")
        return Table(table.cells, table.counts, groups)
    sums = np.zeros(len(table.counts), dtype=object)
    repeated = groups.repeats.astype(object)[groups.pattern]
    np.add.at(sums, groups.cell, groups.times.astype(object) * repeated)
    if (sums != table.counts.astype(object)).any():
        raise DataError("the groups do not hold what the table counts")
    return Table(table.cells, table.counts, groups)


def _check_spans(tables: Sequence[Table], outside: int) -> None:
    for table in tables:
        types = np.where(table.cells == outside, -1, table.cells)
        found = types.max(axis=1, initial=-1)
        if ((types != -1) & (types != found[:, None])).any() or (found == -1).any():
            raise DataError("each cell of spans must be of one type")


def _sets(data: Sequence[IntArray], n_labels: int) -> Sets:
    """Put the label sets back, and see that they are sets of labels, in their order."""
    sets = tuple(tuple(one.tolist()) for one in data)
    if any(label >= n_labels for one in sets for label in one):
        raise DataError("a set names a label that is not in labels")
    if sets != tuple(sorted({tuple(sorted(set(one))) for one in sets})):
        raise DataError("the label sets are not distinct sets in their order")
    return sets


def _check_names(models: Sequence[str], labels: Sequence[Label]) -> None:
    if len(set(map(type, labels))) > 1:
        raise DataError("the classes must be of one type")
    if len(set(models)) != len(models) or len(set(labels)) != len(labels):
        raise DataError("a model or a class is named twice")
    if tuple(labels) != sort_labels(set(labels)):
        raise DataError("the classes are not in their order")
