"""Label sets: items with several labels or none, stored as codes for the sets that occur."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Sized
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from outperform._rows import distinct_rows, sum_by
from outperform._typing import AnyArray, IntArray, Label
from outperform.data.labels import (
    check_label,
    column_names,
    is_collection,
    is_frame,
    is_indicator,
    sort_labels,
)
from outperform.data.pool import Slices
from outperform.data.table import ClassCounts, Table
from outperform.errors import DataError, UsageError, param

Sets: TypeAlias = tuple[tuple[int, ...], ...]
"""Distinct sets in lexicographic order, each as the sorted codes of its labels."""


class SetColumn(NamedTuple):
    """One column: its possible labels, its distinct sets and one code per row."""

    labels: tuple[Label, ...]
    sets: Sets
    codes: IntArray  # (n_rows,) into sets


class Coded(NamedTuple):
    """Several columns with the same labels and sets."""

    labels: tuple[Label, ...]
    sets: Sets
    codes: list[IntArray]


def is_matrix(values: Any) -> bool:
    """Return whether a column of label sets is a matrix: dense, sparse, a frame or nested lists."""
    if hasattr(values, "tocsr") or is_frame(values) or getattr(values, "ndim", None) == 2:
        return True
    return _is_nested_indicator(values)


def read_label_sets(values: Any, *, name: str, labels: Sequence[Label] | None) -> SetColumn:
    """Read one column of label sets; ``labels`` names the columns of a matrix."""
    if hasattr(values, "tocsr"):
        return _read_sparse(values, name=name, labels=labels)
    if is_frame(values):
        own = _column_names(values, name=name)
        return _read_matrix(np.asarray(values), name=name, labels=own)
    if getattr(values, "ndim", None) == 2 or _is_nested_indicator(values):
        return _read_matrix(np.asarray(values), name=name, labels=labels)
    countable = hasattr(values, "__len__") and getattr(values, "ndim", 1) != 0
    if isinstance(values, (str, bytes)) or not countable:
        raise DataError(
            f"{name} must be an indicator matrix or one collection of labels per item; got "
            f"{type(values).__name__}"
        )
    return _read_collections(values, name=name)


def _is_nested_indicator(values: Any) -> bool:
    """Return whether nested lists are rows of a matrix, by the rule of scikit-learn."""
    if not isinstance(values, (list, tuple)) or not values:
        return False
    if not all(isinstance(row, (list, tuple)) for row in values):
        return False
    if len({len(row) for row in values}) != 1:
        return False
    if any(isinstance(cell, str) for row in values for cell in row):
        return False
    return is_indicator(np.asarray(values))


def _column_names(frame: Any, *, name: str) -> tuple[Label, ...]:
    own = column_names(frame, name=name)
    return tuple(check_label(label, name=f"columns of {name}") for label in own)


def _named(labels: Sequence[Label] | None, n_columns: int, *, name: str) -> tuple[Label, ...]:
    if labels is None:
        return tuple(range(n_columns))
    if len(labels) != n_columns:
        raise DataError(
            f"{name} has {n_columns} columns but there are {len(labels)} labels; labels must "
            "name every column, in column order"
        )
    return tuple(labels)


def _read_matrix(matrix: AnyArray, *, name: str, labels: Sequence[Label] | None) -> SetColumn:
    if matrix.ndim != 2 or matrix.dtype.kind not in "biufO" or not matrix.shape[1]:
        raise DataError(
            f"{name} must be a matrix with one column per label; got shape {matrix.shape} of "
            f"{matrix.dtype}"
        )
    ones = matrix == 1
    _refuse_others(matrix[~(ones | (matrix == 0))], name=name)
    known = _named(labels, matrix.shape[1], name=name)
    # Equal rows are identified by their bytes, with eight labels per byte.
    first, codes = distinct_rows(np.packbits(np.asarray(ones, dtype=bool), axis=1))
    rows, columns = np.nonzero(ones[first])
    sets = _cut(columns, np.searchsorted(rows, np.arange(1, len(first))))
    return _in_order(known, sets, codes)


def _cut(columns: IntArray, bounds: IntArray) -> list[tuple[int, ...]]:
    """Split the concatenated columns of all rows at the row boundaries."""
    every, ends = columns.tolist(), [0, *bounds.tolist(), len(columns)]
    return [tuple(every[start:stop]) for start, stop in pairwise(ends)]


def _read_sparse(matrix: Any, *, name: str, labels: Sequence[Label] | None) -> SetColumn:
    rows = matrix.tocsr().copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    _refuse_others(rows.data[rows.data != 1], name=name)
    known = _named(labels, rows.shape[1], name=name)
    rows.sort_indices()
    code_of: dict[tuple[int, ...], int] = {}
    cut = _cut(rows.indices, rows.indptr[1:-1])
    codes = [code_of.setdefault(label_set, len(code_of)) for label_set in cut]
    return _in_order(known, list(code_of), np.array(codes, dtype=np.int64))


def _refuse_others(others: AnyArray, *, name: str) -> None:
    if others.size:
        raise DataError(
            f"{name} must be 1 if an item has a label and 0 if not; it contains {others.flat[0]}. "
            "Convert probabilities to labels first, e.g. (proba >= 0.5).astype(int)"
        )


def _read_collections(values: Iterable[Any], *, name: str) -> SetColumn:
    codes: dict[tuple[type, Label], int] = {}
    code_of: dict[tuple[int, ...], int] = {}
    row_codes = []
    for row, item in enumerate(values):
        if not is_collection(item):
            raise DataError(
                f"{name} must be one collection of labels per item; row {row} (counted from 0) is "
                f"{item!r}. Use an empty set for no label and a set of one for a single label; "
                "split text first, e.g. text.split('|')"
            )
        own = [check_label(label, name=f"labels in row {row} of {name}") for label in item]
        read = sorted(codes.setdefault((type(label), label), len(codes)) for label in own)
        if len(set(read)) != len(read):
            raise DataError(f"{name} has a label twice in row {row} (counted from 0): {own}")
        row_codes.append(code_of.setdefault(tuple(read), len(code_of)))
    _refuse_mixture({kind for kind, _ in codes}, name=name)
    return _in_order(
        [label for _, label in codes], list(code_of), np.array(row_codes, dtype=np.int64)
    )


def _refuse_mixture(kinds: set[type], *, name: str) -> None:
    if len(kinds) > 1:
        shown = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise DataError(f"{name}: labels must be of one type; got {shown}")


def _in_order(
    labels: Sequence[Label], sets: Sequence[tuple[int, ...]], codes: IntArray
) -> SetColumn:
    """Sort the labels and the sets of their codes."""
    ordered = sort_labels(set(labels))
    if len(ordered) != len(labels):
        raise UsageError(f"{param('labels')} must be distinct; got {list(labels)}")
    code_of = {label: code for code, label in enumerate(ordered)}
    moved, new_codes = move_sets(sets, [code_of[label] for label in labels])
    return SetColumn(ordered, moved, new_codes[codes])


def move_sets(sets: Sequence[tuple[int, ...]], codes: Sequence[int]) -> tuple[Sets, IntArray]:
    """Recode every label (−1 drops it), and return the distinct sets and each set's new index.

    Examples
    --------
    >>> move_sets([(), (0,), (0, 1)], [-1, 0])
    (((), (0,)), array([0, 0, 1]))
    """
    moved = [
        tuple(sorted(codes[label] for label in label_set if codes[label] >= 0))
        for label_set in sets
    ]
    ordered = tuple(sorted(set(moved)))
    code_of = {label_set: code for code, label_set in enumerate(ordered)}
    return ordered, np.array([code_of[label_set] for label_set in moved], dtype=np.int64)


def join_sets(
    columns: Sequence[tuple[Sequence[Label], Sets]],
) -> tuple[tuple[Label, ...], Sets, list[IntArray]]:
    """Merge sets over different labels, and also return the new indices of each column's sets."""
    known = {label for labels, _ in columns for label in labels}
    _refuse_mixture({type(label) for labels, _ in columns for label in labels}, name="label sets")
    ordered = sort_labels(known)
    label_codes = {label: code for code, label in enumerate(ordered)}
    moved = [move_sets(sets, [label_codes[label] for label in labels]) for labels, sets in columns]
    union = tuple(sorted({label_set for sets, _ in moved for label_set in sets}))
    code_of = {label_set: code for code, label_set in enumerate(union)}
    row_codes = [
        np.array([code_of[label_set] for label_set in sets], dtype=np.int64)[at]
        for sets, at in moved
    ]
    return ordered, union, row_codes


def code_label_sets(columns: Mapping[str, Any], *, labels: Sequence[Label] | None) -> Coded:
    """Read columns of label sets (the truth first) with shared labels and sets.

    ``labels`` names the columns of matrices; with collections, it adds labels that never occur.
    """
    _refuse_tags([values for values in columns.values() if not is_matrix(values)])
    frames = [
        _column_names(values, name=name) for name, values in columns.items() if is_frame(values)
    ]
    names = frames[0] if labels is None and frames else labels  # by position, as in scikit-learn
    read = {
        name: read_label_sets(values, name=name, labels=names) for name, values in columns.items()
    }
    _refuse_other_columns(
        {name: column for name, column in read.items() if is_matrix(columns[name])}
    )
    (first, truth), *others = read.items()
    for name, column in others:
        if len(column.codes) != len(truth.codes):
            raise DataError(
                f"{first} has {len(truth.codes)} rows but {name} has {len(column.codes)}; both "
                "must list the same items in the same order"
            )
    if not len(truth.codes):
        raise DataError(f"{first} has no rows; at least one item is needed")
    known = [(column.labels, column.sets) for column in read.values()]
    ordered, union, new_codes = join_sets([*known, (() if labels is None else tuple(labels), ())])
    if not ordered:
        raise DataError("neither the truth nor the predictions contain any label")
    codes = [at[column.codes] for at, column in zip(new_codes, read.values(), strict=False)]
    return Coded(ordered, union, codes)


_TAG = re.compile("O|[BIELSUM](-.+)?")


def _refuse_tags(columns: Sequence[Iterable[Any]]) -> None:
    """Reject tag sequences, such as B-PER I-PER O, which look like lists of labels."""
    if not columns or not all(_may_be_tags(column) for column in columns):
        return
    tags = {tag for column in columns for row in column for tag in row}
    has_types = any("-" in tag for tag in tags)
    repeated = any(len(set(row)) != len(row) for column in columns for row in column)
    parallel = len({tuple(len(row) for row in column) for column in columns}) == 1
    if repeated or (has_types and (parallel or "O" in tags)) or (parallel and {"B", "O"} <= tags):
        raise UsageError(
            f"these look like tag sequences ({', '.join(sorted(tags)[:3])}), not sets of labels; "
            "count their spans with Outcomes.from_tags(gold, {'A': tags_a, 'B': tags_b}, "
            'scheme="IOB2") and compare those. If they are labels, pass sets: set(row)'
        )


def _may_be_tags(column: Iterable[Any]) -> bool:
    if not isinstance(column, Sized) or getattr(column, "ndim", 1) != 1:
        return False  # unreadable values raise an error when they are read
    return all(
        isinstance(row, (list, tuple, np.ndarray))
        and all(isinstance(tag, str) and _TAG.fullmatch(tag) for tag in row)
        for row in column
    )


def split_texts(texts: Sequence[Label], separator: str) -> SetColumn:
    """Return the labels listed in some texts, the sets of labels, and the set of each text.

    Examples
    --------
    >>> split_texts(["b|a", ""], "|").sets
    ((), (0, 1))
    """
    if not isinstance(separator, str) or not separator:
        raise UsageError(f"separator must be a text such as '|'; got {separator!r}")
    if not all(isinstance(text, str) for text in texts):
        raise DataError(f"only text can be split at {separator!r}; the classes are {texts[:3]}")
    read = _read_collections(
        [str(text).split(separator) if text else () for text in texts], name="the classes"
    )
    if "" in read.labels:
        raise DataError(
            f"a text has an empty label next to a separator {separator!r}; remove the extra "
            "separator"
        )
    return read


def _refuse_other_columns(matrices: Mapping[str, SetColumn]) -> None:
    """Reject matrices with different labels, because one of them may have lost a column."""
    for name, column in matrices.items():
        first, known = next((name, other.labels) for name, other in matrices.items())
        odd = sorted(set(known) ^ set(column.labels), key=str)
        if odd:
            raise DataError(
                f"{first} and {name} must have the same label columns; only one of them has "
                f"{odd[0]!r}"
            )


def prune_sets(
    tables: Sequence[Table], sets: Sets, slices: Slices | None = None
) -> tuple[tuple[Table, ...], Sets, Slices | None]:
    """Drop sets that occur in no table; slices are parts of these tables."""
    kept = np.unique(np.concatenate([table.cells.ravel() for table in tables]))
    if len(kept) == len(sets):
        return tuple(tables), sets, slices
    new_codes = np.zeros(len(sets), dtype=np.int64)
    new_codes[kept] = np.arange(len(kept))
    moved = tuple(table.recode(new_codes, n_labels=len(kept)) for table in tables)
    divided = None if slices is None else slices.recode(new_codes, n_labels=len(kept))
    return moved, tuple(sets[code] for code in kept), divided


class RowLabels(NamedTuple):
    """Labels of some rows: one entry per row and label."""

    row: IntArray  # (n_entries,) sorted
    label: IntArray  # (n_entries,) sorted within a row


def labels_of(sets: Sets, codes: IntArray) -> RowLabels:
    """Return the labels in the label sets that have these codes.

    Examples
    --------
    >>> labels_of(((), (0, 2)), np.array([1, 0, 1])).label.tolist()
    [0, 2, 0, 2]
    """
    sizes = np.array([len(label_set) for label_set in sets], dtype=np.int64)
    flat = np.array([label for label_set in sets for label in label_set], dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    n = sizes[codes]
    ends = np.cumsum(n)
    within = np.arange(int(n.sum())) - np.repeat(ends - n, n)
    return RowLabels(
        np.repeat(np.arange(len(codes)), n), flat[np.repeat(starts[codes], n) + within]
    )


def labels_in_both(first: RowLabels, second: RowLabels, *, n_labels: int) -> RowLabels:
    """Return the labels that two columns share in the same row."""
    left, right = (pairs.row * n_labels + pairs.label for pairs in (first, second))
    shared = np.intersect1d(left, right, assume_unique=True)
    return RowLabels(*np.divmod(shared, max(n_labels, 1)))


def label_margins(table: Table, sets: Sets, *, n_labels: int) -> ClassCounts:
    """Return hits, true counts and predicted counts of every label from one model's table."""
    actual, predicted = (labels_of(sets, codes) for codes in table.cells.T)
    hits = labels_in_both(actual, predicted, n_labels=n_labels)
    sums = []
    for pairs in (hits, actual, predicted):
        sums.append(sum_by(pairs.label, table.counts[pairs.row], size=n_labels))
    return ClassCounts(*sums)


def item_margins(table: Table, sets: Sets, *, model: int, n_labels: int) -> ClassCounts:
    """Return the numbers of true, predicted and correctly predicted labels per cell."""
    actual, predicted = (labels_of(sets, table.cells[:, column]) for column in (0, 1 + model))
    hits = labels_in_both(actual, predicted, n_labels=n_labels)
    n_cells = len(table.cells)
    return ClassCounts(
        *(np.bincount(pairs.row, minlength=n_cells) for pairs in (hits, actual, predicted))
    )
