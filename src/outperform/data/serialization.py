"""Conversion of outcomes and scores to plain values and back, with schema version and checksum."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final, Literal, NamedTuple, cast, get_args

import numpy as np

from outperform import _files as read
from outperform._json import to_json, written
from outperform._rows import count_rows, place_rows, sum_by
from outperform._typing import AnyArray, IntArray, Label
from outperform.data.checks import check_labels
from outperform.data.drawn import DRAWN
from outperform.data.judged import Judged
from outperform.data.label_sets import Sets
from outperform.data.labels import sort_labels
from outperform.data.pool import Pool, Slices
from outperform.data.prevalence import Prevalence
from outperform.data.scores import Scores
from outperform.data.sources import BATCHES, GATED, Source
from outperform.data.table import Groups, Table, as_counts
from outperform.errors import DataError, UsageError
from outperform.findings import Finding, Level, restored

FORMAT: Final = "outperform/outcomes"
SCHEMA = 2
_KINDS = ("classes", "correct", "spans", "label_sets")
_HUGE = 10**4000  # limit of Python for converting integers to text
_NAME = re.compile("[a-z][a-z0-9_]*")

# Arrays are too large to check element by element in Python


def _wholes(*, low: int = 0, high: int = read.INT64) -> read.Check:
    """Convert a list of integers to an array: int64, or Python integers if one needs more."""

    def check(value: Any, at: str) -> AnyArray:
        _refuse_others(read.as_list(value, at), at, low, high)
        most = max(value, default=0)
        return np.array(value, dtype=np.int64 if most <= read.INT64 else object)

    return check


def _codes(value: Any, at: str) -> IntArray:
    """Convert rows of codes to an array ``(n_rows, n_columns)``; it has no columns without rows."""
    for index, row in enumerate(read.as_list(value, at)):
        if type(row) is not list or len(row) != len(value[0]):
            raise read.refuse(f"{at}[{index}]", "a list of the same length as the first", row)
    if value:
        _refuse_others(list(chain.from_iterable(value)), at, 0, read.INT64)
    return np.array(value, dtype=np.int64).reshape(len(value), len(value[0]) if value else 0)


def _fractions(value: object, at: str) -> AnyArray:
    """Convert a list of finite positive numbers to an array of float64."""
    for index, number in enumerate(read.as_list(value, at)):
        if type(number) not in (float, int) or not 0 < number <= 1e308:
            raise read.refuse(f"element {index} of {at}", "a finite positive number", number)
    array = np.array(value, dtype=np.float64)
    with np.errstate(over="ignore"):
        if not np.isfinite(array.sum()):
            raise DataError(f"{at} must sum to a finite number")
    return array


def _amounts(value: object, at: str) -> AnyArray:
    """Convert a list of finite non-negative numbers to an array of float64."""
    for index, number in enumerate(read.as_list(value, at)):
        if type(number) not in (float, int) or not 0 <= number <= read.INT64:
            raise read.refuse(f"element {index} of {at}", "a non-negative number", number)
    return np.array(value, dtype=np.float64)


def _refuse_others(values: list[Any], at: str, low: int, high: int) -> None:
    whole = set(map(type, values)) <= {int}
    if whole and (not values or (low <= min(values) and max(values) <= high)):
        return
    index, bad = next(
        (index, number)
        for index, number in enumerate(values)
        if type(number) is not int or not low <= number <= high
    )
    raise read.refuse(
        f"element {index} of {at}", f"an integer from {low} to {read.limit(high)}", bad
    )


# Fields of a file and their types.


def _label(value: object, at: str) -> Label:
    if type(value) is bool:
        return value
    return read.text(value, at) if type(value) is str else read.whole(-_HUGE, _HUGE)(value, at)


def _finding(value: object, at: str) -> Finding:
    name, level, message = read.row_of(read.text, read.one_of(*get_args(Level)), read.text)(
        value, at
    )
    if not _NAME.fullmatch(name):
        raise read.refuse(f"{at}[0]", "the name of a finding", name)
    if level == "serious" and name not in (*GATED, *BATCHES):
        raise DataError(
            f"{at}: serious findings arise from a comparison; a file cannot contain the serious "
            f"finding {name!r}"
        )
    return restored(name, level, message)


_COUNTS = _wholes(high=read.MOST)
_CELLS = {"cells": _codes, "counts": _COUNTS}
_GROUPS = read.record(
    {"pattern": _wholes(), "cell": _wholes(), "repeats": _COUNTS},
    {"times": _wholes(), "weights": _fractions},
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
        "sets": read.list_of(_wholes()),
        "never_true": read.list_of(_label),
        "pool": read.record(
            _CELLS,
            {
                "people": read.record(_CELLS),
                "drawn": read.one_of(*DRAWN),
                "chances": read.record(
                    {**_CELLS, "probabilities": _fractions}, {"expected": _amounts}
                ),
            },
        ),
        "prevalence": read.record(
            {"labels": read.list_of(_label), "shares": _fractions},
            {"shapes": _fractions},
        ),
        "slices": read.record(
            {
                "by": read.list_of(read.text),
                "keys": read.list_of(read.list_of(read.text)),
                **_CELLS,
            },
            {"groups": _GROUPS},
        ),
    },
)


def _values(value: Any, at: str) -> AnyArray:
    """Convert one number per row, or rows of equal length, to an array of float64."""
    rows = read.as_list(value, at)
    nested = set(map(type, rows)) == {list}
    flat = list(chain.from_iterable(rows)) if nested else rows
    bad = [number for number in flat if type(number) not in (float, int)]
    if bad or (nested and len(set(map(len, rows))) > 1):
        raise read.refuse(at, "one number per row, or rows of equal length", *(bad or [rows])[:1])
    return np.array(rows, dtype=np.float64)


SCORES: Final = "outperform/scores"
_SCORES = read.record(
    {
        "format": read.one_of(SCORES),
        "schema": read.whole(1, 1),
        "models": read.list_of(read.text),
        "labels": read.list_of(_label),
        "values": read.list_of(_values),
        "findings": read.list_of(_finding),
        "sha256": read.digest,
    },
    {
        "truth": _wholes(),
        "counts": _COUNTS,
        "weights": _fractions,
        "ids": read.list_of(_label),
        "columns": read.list_of(read.text),
        "voted_on": read.list_of(read.text),
        "drawn": read.one_of("random", "probabilities"),
    },
)


def scores_to_json(scores: Scores) -> str:
    """Return scores as JSON with a checksum; numbers are restored exactly."""
    if scores.group is not None:
        raise UsageError(
            "scores with groups cannot be stored in parts, because a group may continue in the "
            "next part; keep the columns, and build Scores from all rows"
        )
    plain: dict[str, object] = {
        "format": SCORES,
        "schema": 1,
        "models": list(scores.models),
        "labels": list(scores.labels),
        "values": [values.tolist() for values in scores.values],
        "findings": [[finding.name, finding.level, finding.message] for finding in scores.findings],
    }
    for name in ("truth", "counts", "weights", "ids"):
        column: AnyArray | None = getattr(scores, name)
        if column is not None:
            plain[name] = column.tolist()
    if scores.columns is not None:
        plain["columns"] = list(scores.columns)
    if scores.voted_on:
        plain["voted_on"] = list(scores.voted_on)
    if scores.drawn is not None:
        plain["drawn"] = scores.drawn
    return read.signed_text(plain)[0]


def _signed(check: read.Check, data: Mapping[str, object]) -> dict[str, Any]:
    """Return the checked fields of a file whose checksum matches its content."""
    fields: dict[str, Any] = check(data, "")
    if not read.is_signed(data):
        raise DataError("the checksum does not match, so the content was changed")
    return fields


def scores_from_dict(data: Mapping[str, object]) -> dict[str, Any]:
    """Return the checked fields of scores from the output of :func:`scores_to_json`."""
    try:
        fields = _signed(_SCORES, data)
        _fit(**fields)
    except DataError as error:
        raise DataError(f"these scores are damaged: {error}") from error
    ids = fields.get("ids")
    return {
        "models": tuple(fields["models"]),
        "labels": tuple(fields["labels"]),
        "truth": fields.get("truth"),
        "values": tuple(fields["values"]),
        "counts": fields.get("counts"),
        "weights": fields.get("weights"),
        "findings": tuple(fields["findings"]),
        "ids": None if ids is None else np.array(ids),
        "columns": tuple(fields["columns"]) if "columns" in fields else None,
        "voted_on": tuple(fields.get("voted_on", ())),
        "drawn": fields.get("drawn"),
    }


def _fit(
    *,
    models: list[str],
    labels: list[Label],
    values: list[AnyArray],
    columns: list[str] | None = None,
    truth: IntArray | None = None,
    **others: Any,
) -> None:
    """Check that the fields of scores are consistent."""
    _check_names(models, labels)
    beside = (truth, *(others.get(name) for name in ("counts", "weights", "ids")))
    rows = {len(array) for array in (*values, *beside) if array is not None}
    if len(values) != len(models) or len(rows) != 1 or rows == {0}:
        raise DataError(
            "every row needs a value for each model, and all columns must have the same length"
        )
    if truth is not None and truth.max() >= len(labels):
        raise DataError("a row names a class that is not in labels")
    if columns and any(array.shape[1:] != (len(columns),) for array in values):
        raise DataError("every statistic needs one name")


CONTENT = "format schema kind models labels tables findings sets? pool? slices?"
UNSIGNED = f"{CONTENT} sources prevalence? never_true?"


@written(f"{UNSIGNED} sha256")
class StoredOutcomes(NamedTuple):
    """Stored form of outcomes.

    Parameters
    ----------
    kind, models, labels
        As in :class:`Outcomes`.
    tables
        One table for all models if they are paired, else one per model.
    findings
        Name, level and message of each finding.
    sets
        Labels of each set, as codes, if items have several labels.
    pool, slices, prevalence, never_true
        As in :class:`Outcomes`, if present.
    sources
        Sources of the counts.
    sha256
        Checksum of all other fields.
    """

    kind: Literal["classes", "correct", "spans", "label_sets"]
    models: tuple[str, ...]
    labels: tuple[Label, ...]
    tables: tuple[Table, ...]
    findings: tuple[tuple[str, Level, str], ...]
    sets: tuple[tuple[int, ...], ...] | None
    pool: Pool | Judged | None
    slices: Slices | None
    sources: tuple[Source, ...]
    prevalence: Prevalence | None
    never_true: tuple[Label, ...] | None
    sha256: str = ""

    @property
    def format(self) -> Literal["outperform/outcomes"]:
        """Name of the format."""
        return FORMAT

    @property
    def schema(self) -> int:
        """Version of the format."""
        return SCHEMA


def from_dict(data: Mapping[str, object]) -> dict[str, Any]:
    """Return the checked fields of outcomes from the output of :func:`to_dict`."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise DataError(f"these are not outcomes: the field 'format' must be {FORMAT!r}")
    schema = data.get("schema")
    if type(schema) is not int or schema != SCHEMA:
        raise DataError(
            f"outcomes of schema {read.shown(schema)} cannot be read (known: {SCHEMA}); if a "
            "newer version of outperform wrote them, upgrade; if an older one did, count again"
        )
    try:
        return _fields(**_signed(_OUTCOMES, data))
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
    prevalence: dict[str, Any] | None = None,
    never_true: Sequence[Label] = (),
    **_: Any,
) -> dict[str, Any]:
    """Return the fields of outcomes after checking that they are consistent."""
    _check_names(models, labels)
    if (sets is not None) != (kind == "label_sets"):
        raise DataError(
            "the field 'sets' must be present if and only if the kind is 'label_sets'; got kind "
            f"{kind!r}"
        )
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
    if prevalence is not None and kind != "classes":
        raise DataError("only outcomes of classes can have other class proportions")
    return {
        "models": tuple(models),
        "labels": tuple(labels),
        "tables": counted,
        "kind": kind,
        "findings": tuple(findings),
        "slices": None if slices is None else _slices(slices, counted, n_codes),
        "sets": known,
        "pool": None if pool is None else _pool(pool, counted, kind, n_codes),
        "sources": tuple(Source(**source) for source in sources),
        "prevalence": None if prevalence is None else Prevalence.from_dict(prevalence, labels),
        "never_true": check_labels(never_true, like=set(labels), name="never_true")
        if never_true
        else (),
    }


def _slices(data: Mapping[str, object], tables: Sequence[Table], n_codes: int) -> Slices:
    """Restore the slices, and check that they add up to the total."""
    slices = Slices.from_dict(data, n_labels=n_codes, width=tables[0].cells.shape[1])
    groups = cast("Mapping[str, Any] | None", data.get("groups"))
    if groups is not None:
        table = _with_groups(slices.table, cast("IntArray", data["cells"]), groups)
        slices = replace(slices, table=table)
    whole = slices.whole(n_labels=n_codes)
    if len(tables) != 1 or to_json(_occurring(whole)) != to_json(_occurring(tables[0])):
        raise DataError("the slices do not add up to the total")
    return slices


def _occurring(table: Table) -> Table:
    """Return a table without its empty groups, such as sentences without spans."""
    groups = table.groups
    return table if groups is None else replace(table, groups=groups.occurring())


def _pool(data: Mapping[str, object], tables: Sequence[Table], kind: str, n_codes: int) -> Pool:
    """Restore the pool, and check that the table could be a selection from it."""
    judged = "people" in data
    kinds = ("classes", "correct") if judged else ("classes",)
    if len(tables) != 1 or kind not in kinds or tables[0].groups is not None:
        raise DataError("a pool needs paired outcomes of classes without groups")
    if judged:
        return Judged.from_dict(data, tables[0], n_labels=n_codes)
    return Pool.from_dict(data, tables[0], n_labels=n_codes)


def _table(
    *,
    cells: IntArray,
    counts: AnyArray,
    n_labels: int,
    width: int,
    groups: Mapping[str, object] | None = None,
) -> Table:
    if not len(cells):  # a model without counts
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


def _with_groups(table: Table, cells: IntArray, data: Mapping[str, Any]) -> Table:
    """Restore the groups, and check that they add up to the table."""
    weighted = "weights" in data
    if weighted == ("times" in data):
        raise DataError("groups must have either the field 'times' or the field 'weights'")
    times = data["weights"] if weighted else as_counts(data["times"])
    pattern, cell, repeats = data["pattern"], data["cell"], as_counts(data["repeats"])
    if not len(pattern) == len(cell) == len(times):
        raise DataError("every entry of a group needs a pattern, a cell and a count")
    if not repeats.all() or not times.all():
        raise DataError("a group must occur at least once")
    if cell.max(initial=-1) >= len(cells) or pattern.max(initial=-1) >= len(repeats):
        raise DataError("a group names a cell or a pattern that does not exist")
    groups = Groups(pattern=pattern, cell=cell, times=times, repeats=repeats)
    groups = groups.moved(place_rows(cells.T, table.cells), n_cells=len(table.cells))
    if weighted:
        per_cell = groups.amounts(n_cells=len(table.counts))
        if not ((per_cell > 0) & np.isfinite(per_cell)).all() or groups.n > table.n:
            raise DataError("the weights do not match the items in the table")
        return Table(table.cells, table.counts, groups)
    amounts = groups.times.astype(object) * groups.repeats.astype(object)[groups.pattern]
    sums = sum_by(groups.cell, amounts, size=len(table.counts))
    if (sums != table.counts.astype(object)).any():
        raise DataError("the groups do not add up to the table")
    return Table(table.cells, table.counts, groups)


def _check_spans(tables: Sequence[Table], outside: int) -> None:
    for table in tables:
        types = np.where(table.cells == outside, -1, table.cells)
        span_type: IntArray = types.max(axis=1, initial=-1)
        if ((types != -1) & (types != span_type[:, None])).any() or (span_type == -1).any():
            raise DataError("each cell of spans must have one type")


def _sets(data: Sequence[IntArray], n_labels: int) -> Sets:
    """Restore the label sets, and check that they are sorted."""
    sets = tuple(tuple(codes.tolist()) for codes in data)
    if any(label >= n_labels for codes in sets for label in codes):
        raise DataError("a set names a label that is not in labels")
    if sets != tuple(sorted({tuple(sorted(set(codes))) for codes in sets})):
        raise DataError("the label sets are not distinct and sorted")
    return sets


def _check_names(models: Sequence[str], labels: Sequence[Label]) -> None:
    if len(set(map(type, labels))) > 1:
        raise DataError("the classes must be of one type")
    if len(set(models)) != len(models) or len(set(labels)) != len(labels):
        raise DataError("a model or a class occurs twice")
    if tuple(labels) != sort_labels(set(labels)):
        raise DataError("the classes are not sorted")
