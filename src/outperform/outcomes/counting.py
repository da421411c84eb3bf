"""Counting: rows of codes into sparse cells, in integers of any size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from outperform._typing import AnyArray, IntArray
from outperform.errors import DataError

_INT64_MAX = 2**63 - 1


def as_counts(values: Any, *, name: str = "counts") -> AnyArray:
    """Return counts as int64, or as Python integers where their sum needs more.

    Examples
    --------
    >>> as_counts([3, 2.0]).tolist()
    [3, 2]
    """
    array = _as_array(values, name=name)
    if array.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(array) | (array != np.floor(array)))
        if bad.size:
            raise DataError(f"{name} must be whole numbers; got {array.flat[bad[0]].item()!r}")
        array = np.array([int(value) for value in array.flat], dtype=object).reshape(array.shape)
    if array.dtype.kind == "O":
        array = _as_python_integers(array, name=name)
    elif array.dtype.kind not in "iu":
        raise DataError(f"{name} must be whole numbers; got values of type {array.dtype}")
    if array.size and array.min() < 0:
        raise DataError(f"{name} must not be negative; got {array.min()}")
    if total(array) > _INT64_MAX:
        return array.astype(object)
    return array.astype(np.int64)


def _as_array(values: Any, *, name: str) -> AnyArray:
    try:
        array = np.asarray(values)
        if array.dtype.kind == "f" and not isinstance(values, np.ndarray):
            # Beside one float numpy rounds a list's whole numbers from 2⁵³ on.
            array = np.array(values, dtype=object)
    except ValueError as error:
        raise DataError(f"{name} must be a table of numbers with rows of one length") from error
    return array


def _as_python_integers(array: AnyArray, *, name: str) -> AnyArray:
    out = np.empty(array.shape, dtype=object)
    for place, value in enumerate(array.flat):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole and not (isinstance(value, float) and value.is_integer()):
            raise DataError(f"{name} must be whole numbers; got {value!r}")
        out.flat[place] = int(value)
    return out


def total(counts: AnyArray) -> int:
    """Return the exact sum, whatever its size; effective counts, which are floats, add as such."""
    if counts.dtype.kind == "f":
        return counts.sum()  # type: ignore[no-any-return]
    if counts.dtype == object or (counts.size and int(counts.max()) > _INT64_MAX // counts.size):
        return sum(int(value) for value in counts.flat)
    return int(counts.sum(dtype=np.uint64 if counts.dtype.kind == "u" else np.int64))


def count_rows(
    codes: Sequence[IntArray], *, n_labels: int, weights: AnyArray | None = None
) -> tuple[IntArray, AnyArray]:
    """Count equal rows of codes; cells come out in lexicographic order.

    Returns ``cells`` of shape ``(n_cells, n_columns)`` and their counts.
    """
    n_rows, n_columns = len(codes[0]), len(codes)
    if n_labels**n_columns < 2**62:
        keys = np.zeros(n_rows, dtype=np.int64)
        for column in codes:
            keys *= n_labels
            keys += column
        distinct, counts = _count_keys(keys, n_labels**n_columns, weights)
        powers = n_labels ** np.arange(n_columns - 1, -1, -1, dtype=np.int64)
        return distinct[:, None] // powers % n_labels, counts
    rows = np.stack(codes, axis=1)
    cells, inverse = np.unique(rows, axis=0, return_inverse=True)
    counts = _sum_by(inverse, len(cells), weights)
    return _nonzero(cells, counts)


def _count_keys(keys: IntArray, n_keys: int, weights: AnyArray | None) -> tuple[IntArray, AnyArray]:
    # A dense count is faster than sorting while the table is no larger than the data.
    if weights is None and n_keys <= max(4 * keys.size, 1 << 16):
        dense = np.bincount(keys, minlength=0)
        distinct = np.flatnonzero(dense)
        return distinct, dense[distinct]
    distinct, inverse = np.unique(keys, return_inverse=True)
    return _nonzero(distinct, _sum_by(inverse, distinct.size, weights))


def _sum_by(inverse: IntArray, size: int, weights: AnyArray | None) -> AnyArray:
    if weights is None:
        return np.bincount(inverse, minlength=size)
    counts = np.zeros(size, dtype=weights.dtype)
    np.add.at(counts, inverse, weights)
    return counts


def _nonzero(cells: IntArray, counts: AnyArray) -> tuple[IntArray, AnyArray]:
    kept = np.flatnonzero(counts != 0)
    return cells[kept], counts[kept]
