"""Equal rows of numbers: find the distinct rows, count them, and look up their indices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from outperform._typing import AnyArray, FloatArray, IntArray

# Up to this number of possible keys, keys are integers, which sort and compare faster than bytes.
_MOST_KEYS = 2**62
# Up to this number of possible keys, a table of all keys is small.
_FEW_KEYS = 1 << 16


class Distinct(NamedTuple):
    """Distinct rows of a table, in lexicographic order.

    Parameters
    ----------
    first
        Index of the first occurrence of each distinct row.
    code
        Number of the distinct row that each row equals.
    """

    first: IntArray
    code: IntArray


def distinct_rows(rows: AnyArray) -> Distinct:
    """Return the distinct rows of a table ``(n_rows, n_columns)``.

    Examples
    --------
    >>> distinct = distinct_rows(np.array([[2, 0], [1, 5], [2, 0]]))
    >>> distinct.first.tolist(), distinct.code.tolist()
    ([1, 0], [1, 0, 1])
    """
    n_rows, n_columns = rows.shape
    if not n_columns:
        return Distinct(np.zeros(min(1, n_rows), dtype=np.int64), np.zeros(n_rows, dtype=np.int64))
    _, first, code = np.unique(_row_keys(rows), return_index=True, return_inverse=True)
    return Distinct(first, code.ravel())


def distinct_records(columns: Sequence[AnyArray]) -> Distinct:
    """Return the distinct rows of several tables side by side, each ``(n_rows, n_columns)``.

    They are ordered by the first column if it distinguishes all rows. Tables with mostly zeros are
    compared by their nonzero entries.
    """
    distinct = distinct_rows(columns[0][:, :1])
    if len(distinct.first) == len(columns[0]):
        return distinct
    return distinct_rows(np.concatenate([_packed(table) for table in columns], axis=1))


def _packed(rows: AnyArray) -> FloatArray:
    """Return rows that are equal if these are, as nonzero entries and their columns."""
    row, column = np.nonzero(rows)
    n_used = np.bincount(row, minlength=len(rows))
    width = int(n_used.max(initial=0))
    if 2 * width >= rows.shape[1]:
        return rows.astype(np.float64)
    entry = np.arange(len(row)) - np.repeat(np.cumsum(n_used) - n_used, n_used)
    packed = np.zeros((len(rows), 2 * width))
    packed[row, entry], packed[row, width + entry] = column + 1, rows[row, column]
    return packed


def count_rows(
    codes: Sequence[IntArray], *, n_labels: int, weights: AnyArray | None = None
) -> tuple[IntArray, AnyArray]:
    """Count equal rows of codes from 0 to ``n_labels``; cells come out in lexicographic order.

    Returns ``cells`` of shape ``(n_cells, n_columns)`` and their counts, none of them 0.
    """
    n_rows, n_columns = len(codes[0]), len(codes)
    n_keys = n_labels**n_columns
    if n_keys >= _MOST_KEYS:
        rows = np.stack(codes, axis=1)
        first, code = distinct_rows(rows)
        return _nonzero(rows[first], sum_by(code, weights, size=len(first)))
    keys = _numbers(n_rows, codes, [n_labels] * n_columns)
    # A dense count is faster than sorting if the table is not larger than the data.
    if weights is None and n_keys <= max(4 * n_rows, _FEW_KEYS):
        counts: AnyArray = np.bincount(keys, minlength=0)
        keys = np.flatnonzero(counts)
        counts = counts[keys]
    else:
        keys, code = np.unique(keys, return_inverse=True)
        keys, counts = _nonzero(keys, sum_by(code, weights, size=len(keys)))
    powers = n_labels ** np.arange(n_columns - 1, -1, -1, dtype=np.int64)
    return keys[:, None] // powers % n_labels, counts


def _nonzero(cells: IntArray, counts: AnyArray) -> tuple[IntArray, AnyArray]:
    nonzero = np.flatnonzero(counts != 0)
    return cells[nonzero], counts[nonzero]


def place_rows(columns: Sequence[IntArray] | IntArray, cells: IntArray) -> IntArray:
    """Return the index of each row of codes among distinct cells.

    Parameters
    ----------
    columns
        Columns of the rows, such as the transpose of a table of rows.
    cells
        Distinct rows that include all of these, ``(n_cells, n_columns)``.

    Examples
    --------
    >>> cells = np.array([[0, 2], [1, 1]])
    >>> place_rows(np.array([[1, 0, 1], [1, 2, 1]]), cells).tolist()
    [1, 0, 1]
    """
    spans = [
        1 + int(max(column.max(initial=0), known.max(initial=0)))
        for column, known in zip(columns, cells.T, strict=True)
    ]
    if prod(spans) >= _MOST_KEYS:
        known, keys = _as_bytes(cells), _as_bytes(np.column_stack(list(columns)))
    else:
        known = _numbers(len(cells), cells.T, spans)
        keys = _numbers(len(columns[0]), columns, spans)
    if prod(spans) <= max(4 * len(keys), _FEW_KEYS):
        index_by_key = np.full(prod(spans), -1, dtype=np.int32)
        index_by_key[known] = np.arange(len(cells), dtype=np.int32)
        indices: AnyArray = index_by_key[keys]
        unknown = bool((indices < 0).any())
    else:
        order = np.argsort(known, kind="stable")
        indices = np.searchsorted(known, keys, sorter=order)
        unknown = bool((indices == len(known)).any())
        if not unknown:
            indices = order[indices]
            unknown = bool((known[indices] != keys).any())
    if unknown:
        raise KeyError("a row is not among the cells")
    return indices


def sum_by(codes: IntArray, values: AnyArray | None, *, size: int) -> AnyArray:
    """Return the sum of the values of each code; None counts each row once.

    Sums of integers of any size are exact.

    Examples
    --------
    >>> sum_by(np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0]), size=3).tolist()
    [1.0, 0.0, 5.0]
    >>> sum_by(np.array([0, 0]), np.array([2**60, 1]), size=1).tolist()
    [1152921504606846977]
    """
    if values is None or values.dtype.kind == "f":
        return np.bincount(codes, values, minlength=size)
    sums = np.zeros(size, dtype=values.dtype)
    np.add.at(sums, codes, values)
    return sums


def _row_keys(rows: AnyArray) -> AnyArray:
    """Return one key per row: integers if they fit, otherwise bytes."""
    if rows.dtype == bool:
        rows = rows.view(np.uint8)
    if rows.shape[1] == 1:
        return rows[:, 0] + 0.0 if rows.dtype.kind == "f" else rows[:, 0]
    if rows.dtype.kind in "iu" and len(rows):
        lows = rows.min(axis=0)
        highs = rows.max(axis=0)
        spans = [1 + high - low for low, high in zip(lows.tolist(), highs.tolist(), strict=True)]
        if prod(spans) < _MOST_KEYS:
            columns = (column - low for column, low in zip(rows.T, lows, strict=True))
            return _numbers(len(rows), columns, spans)
    return _as_bytes(rows)


def _numbers(n_rows: int, columns: Iterable[IntArray], spans: Sequence[int]) -> IntArray:
    """Return rows of codes as integers, with each column as a digit."""
    keys = np.zeros(n_rows, dtype=np.int64)
    for column, span in zip(columns, spans, strict=True):
        keys *= span
        keys += column
    return keys


def _as_bytes(rows: AnyArray) -> AnyArray:
    """Return each row as bytes, which sort like the numbers.

    The sign bit and all bits of negative floats are inverted, and the highest byte comes first.
    """
    keys = rows
    if rows.dtype != np.uint8:
        if rows.dtype.kind == "f":
            bits = (rows + 0.0).astype(np.float64).view(np.int64)  # −0.0 becomes 0.0
            bits ^= (bits >> 63) & np.int64(2**63 - 1)
        else:
            bits = rows.astype(np.int64)
        keys = (np.ascontiguousarray(bits).view(np.uint64) ^ np.uint64(1 << 63)).astype(">u8")
    width = keys.dtype.itemsize * rows.shape[1]
    return np.ascontiguousarray(keys).view(np.dtype((np.void, width))).ravel()
