"""Build the fields of ``Outcomes``: one function per constructor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import replace
from typing import Any

import numpy as np

from outperform._rows import count_rows, place_rows
from outperform._typing import AnyArray, ColumnLike, FloatArray, IntArray, Label
from outperform.data.checks import check_labels, named, refuse_ids, same_length
from outperform.data.items import keep_items
from outperform.data.label_sets import code_label_sets, is_matrix, prune_sets
from outperform.data.labels import (
    Column,
    align,
    align_rows,
    are_label_sets,
    check_label,
    label_findings,
    read_column,
    read_right,
    sort_labels,
    unify,
)
from outperform.data.missing import UNDECLARED, MissingTexts, label_findings_of
from outperform.data.pool import (
    Slices,
    count_pool,
    count_slices,
    labelled_rows,
    slice_column,
    slice_places,
)
from outperform.data.spans import check_tag_lengths, count_spans, read_tags, span_cells
from outperform.data.table import (
    Table,
    as_counts,
    group_codes,
    group_rows,
    read_confusions,
    read_weights,
    row_findings,
    truth_findings,
)
from outperform.data.tag_schemes import Scheme
from outperform.errors import DataError, UsageError, param
from outperform.findings import Finding

Fields = dict[str, Any]


def of_labels(
    y_true: object,
    predictions: object,
    *,
    labels: Sequence[Label] | None,
    weights: ColumnLike | None,
    by: Mapping[str, object] | None,
    groups: ColumnLike | None,
    ids: ColumnLike | None = None,
    missing: MissingTexts = UNDECLARED,
) -> Fields:
    """Count label arrays for the same items."""
    predictions = named(predictions)
    if are_label_sets(y_true):
        if by:
            raise UsageError(
                "slices need one label per item, but these items have several; remove "
                f"{param('by=')} and compare the outcomes of each slice separately"
            )
        _refuse_single(predictions)
        # Labels to average over are not column names, because a matrix has its own.
        known = None if is_matrix(y_true) else labels
        return of_label_sets(
            y_true,
            predictions,
            labels=known,
            weights=weights,
            groups=groups,
            ids=ids,
            missing=missing,
        )
    beside = {"groups": groups, "sample_weight": weights, "ids": ids, **_slices_beside(by)}
    rows = align(predictions, truth=y_true, beside=beside)
    columns = _columns("y_true", rows.truth, rows.models, missing)
    fields = of_columns(
        tuple(predictions),
        columns,
        missing=missing,
        importance=read_weights(rows.beside["sample_weight"], len(columns[0].codes)),
        labels=labels,
        by=_slice_columns(by, rows.beside),
        groups=rows.beside["groups"],
        keep=True,
        ids=rows.beside["ids"],
    )
    return _of_rows(fields, rows.findings)


def _of_rows(fields: Fields, findings: tuple[Finding, ...]) -> Fields:
    """Add findings about the rows, including one if rows look repeated."""
    repeated = row_findings(fields["tables"][0], kind=fields.get("kind", "classes"))
    return {**fields, "findings": findings + fields["findings"] + repeated}


def _refuse_single(predictions: Mapping[str, Any]) -> None:
    """Reject predictions with one label per item if the truth has label sets."""
    for name, values in predictions.items():
        plain = getattr(values, "ndim", 1) == 1 and isinstance(values, Sized)
        if plain and len(values) and not are_label_sets(values):
            raise DataError(
                f"y_true has a set of labels for each item, but the predictions of {name!r} have "
                "only one label each; pass sets, or an indicator matrix, for both"
            )


def of_label_sets(
    y_true: object,
    predictions: object,
    *,
    labels: Sequence[Label] | None,
    weights: ColumnLike | None,
    groups: ColumnLike | None,
    by: Mapping[str, object] | None = None,
    ids: ColumnLike | None = None,
    missing: MissingTexts = UNDECLARED,
) -> Fields:
    """Count items with several labels each."""
    predictions = named(predictions)
    beside = {"groups": groups, "sample_weight": weights, "ids": ids, **_slices_beside(by)}
    rows = align(predictions, truth=y_true, beside=beside)
    columns = {"y_true": rows.truth}
    columns |= {f"predictions of {m!r}": values for m, values in rows.models.items()}
    known, sets, codes = code_label_sets(
        columns, labels=None if labels is None else check_labels(labels)
    )
    importance = read_weights(rows.beside["sample_weight"], len(codes[0]))
    groups, n_sets, slices = rows.beside["groups"], len(sets), None
    if by:
        slices = _sliced(
            _columns_of(by, rows.beside, len(codes[0])),
            codes,
            n_labels=n_sets,
            counts=None,
            importance=importance,
            groups=groups,
        )
        table = slices.whole(n_labels=n_sets)
    else:
        table = _counted(codes, n_labels=n_sets, importance=importance, groups=groups)
    meant = [frozenset(known[code] for code in label_set) for label_set in sets]
    items = keep_items(
        tuple(predictions), meant, codes, table.cells, ids=rows.beside["ids"], weights=importance
    )
    tables, sets, slices = prune_sets((table,), sets, slices)
    about_labels = label_findings(known) + label_findings_of(
        known, tables, tuple(predictions), sets
    )
    fields = {
        "models": tuple(predictions),
        "labels": known,
        "tables": tables,
        "kind": "label_sets",
        "findings": missing.undeclared(about_labels),
        "sets": sets,
        "slices": slices,
        "_items": items,
    }
    return _of_rows(fields, rows.findings)


def of_pool(
    y_true: object,
    predictions: object,
    *,
    which: object,
    labels: Sequence[Label] | None,
) -> Fields:
    """Count the labelled items of a pool, and the pool itself."""
    predictions = named(predictions)
    if which is None:
        rows = align(predictions, truth=y_true, beside={})
    else:
        rows = align(predictions, beside={})
        labelled, moved = align_rows({"y_true": y_true, "which": which})
        y_true, which = labelled.values()
        rows = rows._replace(truth=y_true, findings=moved + rows.findings)
    predicted_columns = _pool_columns(rows.models)
    values, positions = labelled_rows(rows.truth, which, len(predicted_columns[0].codes))
    columns, findings = unify([read_column(values, name="y_true"), *predicted_columns])
    ordered = _known_labels(columns, labels)
    truth, *predicted = _coded(columns, ordered)
    table, pool = count_pool(truth, predicted, positions, n_labels=len(ordered))
    findings += label_findings(ordered) + label_findings_of(ordered, (table,), tuple(predictions))
    return {
        "models": tuple(predictions),
        "labels": ordered,
        "tables": (table,),
        "findings": rows.findings + findings,
        "pool": pool,
    }


def _pool_columns(predictions: Mapping[str, object]) -> list[Column]:
    """Read the predictions of two models for the same pool."""
    if len(predictions) != 2:
        raise UsageError(f"a pool needs two models' predictions; got {list(predictions)}")
    columns = [
        read_column(values, name=f"predictions of {m!r}") for m, values in predictions.items()
    ]
    same_length(columns)
    return columns


def code_columns(columns: Sequence[object], labels: tuple[Label, ...]) -> list[IntArray]:
    """Return columns that were already counted as codes of the given labels."""
    unified, _ = unify([read_column(column, name="labels") for column in columns])
    return _coded(unified, labels)


def _known_labels(columns: Sequence[Column], labels: Sequence[Label] | None) -> tuple[Label, ...]:
    """Return all labels in the columns, plus declared labels, in order."""
    known = {value for column in columns for value in column.values}
    if labels is not None:
        known |= set(check_labels(labels, like=known))
    return sort_labels(known)


def _coded(columns: Sequence[Column], labels: tuple[Label, ...]) -> list[IntArray]:
    """Return the code of every row's label among all labels."""
    code_of = {label: code for code, label in enumerate(labels)}
    return [
        np.array([code_of[value] for value in column.values], dtype=np.int64)[column.codes]
        for column in columns
    ]


def of_counts(
    truth: object,
    predictions: object,
    counts: object,
    *,
    labels: Sequence[Label] | None,
    by: Mapping[str, object] | None,
    groups: ColumnLike | None,
) -> Fields:
    """Build outcomes from a table of counts."""
    beside = {"groups": groups, "counts": counts, **_slices_beside(by)}
    rows = align(named(predictions), truth=truth, first="truth", beside=beside)
    columns = _columns("truth", rows.truth, rows.models)
    fields = of_columns(
        tuple(rows.models),
        columns,
        counts=_cell_counts(rows.beside["counts"], len(columns[0].codes)),
        labels=labels,
        by=_slice_columns(by, rows.beside),
        groups=rows.beside["groups"],
    )
    return _with_findings(fields, rows.findings)


def of_confusion(matrices: Mapping[str, object], *, labels: Sequence[Label] | None) -> Fields:
    """Build outcomes from one confusion matrix per model."""
    arrays = read_confusions(named(matrices))
    size = len(next(iter(arrays.values())))
    own_labels = tuple(range(size)) if labels is None else check_labels(labels)
    if len(own_labels) != size:
        raise DataError(f"{size} rows need {size} labels; got {len(own_labels)}")
    order = np.array([own_labels.index(label) for label in sort_labels(set(own_labels))])
    tables = []
    for array in arrays.values():
        ordered = array[np.ix_(order, order)]
        cells = np.argwhere(ordered != 0)
        tables.append(Table(cells, as_counts(ordered[tuple(cells.T)])))
    return {
        "models": tuple(arrays),
        "labels": tuple(own_labels[index] for index in order),
        "tables": tuple(tables),
        "findings": label_findings(own_labels)
        + label_findings_of(tuple(own_labels[index] for index in order), tables, tuple(arrays))
        + truth_findings(arrays),
    }


def of_correct(
    correct: object,
    *,
    groups: ColumnLike | None,
    weights: ColumnLike | None,
    by: Mapping[str, object] | None = None,
    ids: ColumnLike | None = None,
) -> Fields:
    """Count items for which only correctness is known."""
    beside = {"groups": groups, "sample_weight": weights, "ids": ids, **_slices_beside(by)}
    rows = align(named(correct), what="correct", beside=beside)
    columns = []
    for name, values in rows.models.items():
        columns.append(read_right(values, name=f"correct of {name!r}"))
    same_length(columns)
    truth = Column(
        name="truth", kind="bool", values=(False, True), codes=np.ones_like(columns[0].codes)
    )
    fields = of_columns(
        tuple(rows.models),
        [truth, *columns],
        by=_slice_columns(by, rows.beside),
        importance=read_weights(rows.beside["sample_weight"], len(truth.codes)),
        groups=rows.beside["groups"],
        keep=True,
        ids=rows.beside["ids"],
    )
    return _of_rows({**fields, "kind": "correct"}, rows.findings)


def of_spans(
    gold: object,
    predictions: Mapping[str, object],
    *,
    groups: ColumnLike | None,
    by: Mapping[str, object] | None = None,
    ids: ColumnLike | None = None,
) -> Fields:
    """Count exactly matching spans."""
    beside = {"groups": groups, "ids": ids, **_slices_beside(by)}
    rows = align(named(predictions), truth=gold, first="gold", what="spans", beside=beside)
    labels, table, items, spans = count_spans(
        rows.truth, rows.models, groups=rows.beside["groups"], ids=rows.beside["ids"]
    )
    fields = {**_of_spans(tuple(rows.models), labels, (table,)), "_items": items}
    if by:
        columns = _columns_of(by, rows.beside, len(rows.truth))
        fields["slices"] = _sliced(
            {
                name: replace(column, codes=column.codes[spans.document])
                for name, column in columns.items()
            },
            spans.codes,
            n_labels=len(labels) + 1,
            counts=None,
            importance=None,
            groups=spans.group,
        )
    return _of_rows(fields, rows.findings)


def of_tags(
    gold: object,
    predictions: Mapping[str, object],
    *,
    scheme: Scheme,
    strict: bool,
    groups: ColumnLike | None,
    by: Mapping[str, object] | None = None,
    ids: ColumnLike | None = None,
) -> Fields:
    """Convert tag sequences to spans and count them."""
    beside = {"groups": groups, "ids": ids, **_slices_beside(by)}
    rows = align(named(predictions), truth=gold, first="gold", what="tags", beside=beside)
    check_tag_lengths(rows.truth, rows.models)
    truth, *findings = read_tags(rows.truth, name="gold", scheme=scheme, strict=strict)
    spans = {}
    for model, tags in rows.models.items():
        spans[model], malformed = read_tags(
            tags, name=f"tags of {model!r}", scheme=scheme, strict=strict
        )
        findings.append(malformed)
    noticed = tuple(finding for finding in findings if finding is not None)
    aligned = None if by is None else {name: rows.beside[f"by[{name!r}]"] for name in by}
    known = {name: rows.beside[name] for name in ("groups", "ids")}
    fields = of_spans(truth, spans, **known, by=aligned)
    return _with_findings(fields, rows.findings + noticed)


def of_span_counts(truth: object, predictions: Mapping[str, object], counts: object) -> Fields:
    """Build outcomes from span counts, with None for "no span"."""
    rows = align(named(predictions), truth=truth, first="truth", beside={"counts": counts})
    columns = [_cells(rows.truth, "truth")]
    columns += [_cells(values, f"predictions of {m!r}") for m, values in rows.models.items()]
    if len({len(column) for column in columns}) != 1:
        raise DataError(
            "truth and predictions must have one value per cell; got "
            + ", ".join(str(len(column)) for column in columns)
        )
    weights = _cell_counts(rows.beside["counts"], len(columns[0]))
    labels, codes = span_cells(columns, lambda value: check_label(value, name="types"))
    table = Table(*count_rows(codes, n_labels=len(labels) + 1, weights=weights))
    return _with_findings(_of_spans(tuple(rows.models), labels, (table,)), rows.findings)


def of_tp_fp_fn(counts: Mapping[str, object], *, label: Label) -> Fields:
    """Build outcomes from each model's true positives, false positives and false negatives."""
    tables = []
    for model, triple in named(counts).items():
        tp, fp, fn = _triple(triple, model)
        cells = np.array([[0, 0], [0, 1], [1, 0]])
        weights = as_counts(np.array([tp, fn, fp], dtype=object))
        kept = np.flatnonzero(weights != 0)
        tables.append(Table(cells[kept], weights[kept]))
    if not any(table.n for table in tables):
        raise DataError("all counts are zero; at least one must be positive")
    return _of_spans(tuple(counts), (check_label(label, name="label"),), tuple(tables))


def _of_spans(
    models: tuple[str, ...], labels: tuple[Label, ...], tables: tuple[Table, ...]
) -> Fields:
    return {
        "models": models,
        "labels": labels,
        "tables": tables,
        "kind": "spans",
        "findings": label_findings(labels),
    }


def _cells(values: object, name: str) -> list[Any]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise DataError(f"{name} must be a list with one type, or None, per cell; got {values!r}")
    return list(values)


def _triple(triple: object, model: str) -> tuple[int, int, int]:
    values = as_counts(triple, name=f"counts of {model!r}")
    if values.shape != (3,):
        raise DataError(
            f"counts of {model!r} must be three numbers, (tp, fp, fn); got shape {values.shape}"
        )
    return values[0], values[1], values[2]


def _columns(
    first: str,
    truth: object,
    predictions: Mapping[str, object],
    missing: MissingTexts = UNDECLARED,
) -> list[Column]:
    columns = [read_column(truth, name=first, missing=missing)]
    for name, values in predictions.items():
        columns.append(read_column(values, name=f"predictions of {name!r}", missing=missing))
    return columns


def _cell_counts(counts: object, n_cells: int) -> AnyArray:
    weights = as_counts(counts)
    if weights.shape != (n_cells,):
        raise DataError(
            f"counts must have one value per cell, {n_cells} in all; got shape {weights.shape}"
        )
    if not weights.any():
        raise DataError("all counts are zero; at least one must be positive")
    return weights


def of_columns(
    models: tuple[str, ...],
    columns: Sequence[Column],
    *,
    counts: AnyArray | None = None,
    importance: FloatArray | None = None,
    labels: Sequence[Label] | None = None,
    by: Mapping[str, Column] | None = None,
    groups: Any = None,
    keep: bool = False,
    ids: object = None,
    missing: MissingTexts = UNDECLARED,
) -> Fields:
    """Count columns of labels (the truth first), optionally by slice or group.

    ``counts`` is the number of items per row and ``importance`` their weight. With ``keep``, every
    row is one item and is stored so that it can be listed later, by ``ids`` if given.
    """
    same_length([*columns, *(by or {}).values()])
    columns, findings = unify(columns)
    refuse_ids(columns, counts)
    ordered = _known_labels(columns, labels)
    codes = _coded(columns, ordered)
    slices = None
    if by:
        slices = _sliced(
            by, codes, n_labels=len(ordered), counts=counts, importance=importance, groups=groups
        )
        table = slices.whole(n_labels=len(ordered))
    else:
        table = _counted(
            codes, n_labels=len(ordered), counts=counts, importance=importance, groups=groups
        )
    return {
        "models": models,
        "labels": ordered,
        "tables": (table,),
        "findings": findings
        + missing.undeclared(
            label_findings(ordered) + label_findings_of(ordered, (table,), models)
        ),
        "slices": slices,
        "_items": keep_items(models, ordered, codes, table.cells, ids=ids, weights=importance)
        if keep
        else None,
    }


def _counted(
    codes: Sequence[IntArray],
    *,
    n_labels: int,
    counts: AnyArray | None = None,
    importance: FloatArray | None,
    groups: ColumnLike | None,
) -> Table:
    """Count rows of codes, separately for each group.

    Without groups, items with unequal importance each become a group. Importance is stored in the
    groups; the cells count items.
    """
    if groups is None and importance is None:
        return Table(*count_rows(codes, n_labels=n_labels, weights=counts))
    rows = np.stack(codes, axis=1)
    times: AnyArray = np.ones(len(rows), dtype=np.int64) if counts is None else counts
    group = np.arange(len(rows)) if groups is None else group_codes(groups, len(rows))[0]
    kept = np.flatnonzero(times if importance is None else (times != 0) & (importance != 0))
    rows, times, group = rows[kept], times[kept], group[kept]
    cells, sums = count_rows(list(rows.T), n_labels=n_labels, weights=times)
    names, group = np.unique(group, return_inverse=True)
    repeats = None
    if importance is not None:
        if groups is None:
            repeats, times = times, importance[kept]
        else:
            times = importance[kept] * times.astype(np.float64)
    together = group_rows(
        group,
        place_rows(rows.T, cells),
        n_groups=len(names),
        n_cells=len(cells),
        times=times,
        repeats=repeats,
    )
    return Table(cells, sums, together)


def _sliced(
    by: Mapping[str, Column],
    codes: Sequence[IntArray],
    *,
    n_labels: int,
    counts: AnyArray | None,
    importance: FloatArray | None,
    groups: ColumnLike | None,
) -> Slices:
    """Count rows of codes by slice and by group; a group may span slices."""
    if groups is None and importance is None:
        return count_slices(by, codes, n_labels=n_labels, weights=counts)
    n_rows = len(codes[0])
    zero = np.zeros(n_rows, dtype=bool)
    for amounts in (counts, importance):
        zero |= False if amounts is None else amounts == 0
    kept = np.flatnonzero(~zero)  # a slice with only zero counts is dropped
    keys, slice_codes = slice_places(by, kept)
    group = None if groups is None else group_codes(groups, n_rows)[0][kept]
    table = _counted(
        [slice_codes, *(column[kept] for column in codes)],
        n_labels=max(n_labels, len(keys)),
        counts=None if counts is None else counts[kept],
        importance=None if importance is None else importance[kept],
        groups=group,
    )
    return Slices(by=tuple(by), keys=keys, table=table)


def _slices_beside(by: Mapping[str, object] | None) -> dict[str, Any]:
    """Return the columns that define the slices, by name."""
    if by is not None and not isinstance(by, Mapping):
        raise UsageError(
            f"{param('by')} must be a mapping from names to columns, such as {{'day': …}}; got "
            f"{by!r}"
        )
    return {f"by[{name!r}]": values for name, values in (by or {}).items()}


def _columns_of(
    by: Mapping[str, object], aligned: Mapping[str, object], n_rows: int
) -> dict[str, Column]:
    """Return the slice columns, after checking their number of items or documents."""
    columns = _slice_columns(by, aligned)
    for name, column in columns.items():
        if len(column.codes) != n_rows:
            raise DataError(
                f"{param('by')} must have one value for each of {n_rows} rows; {name!r} has "
                f"{len(column.codes)}"
            )
    return columns


def _slice_columns(
    by: Mapping[str, object] | None, aligned: Mapping[str, object]
) -> dict[str, Column]:
    return {name: slice_column(aligned[f"by[{name!r}]"], name=f"by[{name!r}]") for name in by or {}}


def _with_findings(fields: Fields, findings: tuple[Finding, ...]) -> Fields:
    return {**fields, "findings": findings + fields["findings"]}
