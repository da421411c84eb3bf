"""Rows of codes into cells, exactly, whatever the size of the counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from outperform._rows import count_rows
from outperform.data.table import as_counts, total
from outperform.errors import DataError
from tests.loops import each

BIG = 2**63 - 1


def test_counts_stay_int64_while_their_sum_fits():
    counts = as_counts([BIG - 1, 1])
    assert counts.dtype == np.int64
    assert total(counts) == BIG


@each("values", [[BIG, 1], [2**63], [2**64], [10**30, 1], [BIG] * 5])
def test_counts_become_python_integers_where_their_sum_needs_more(values):
    counts = as_counts(values)
    assert counts.dtype == object
    assert counts.tolist() == values
    assert total(counts) == sum(values)


@each("dtype", [np.uint8, np.int8, np.uint16, np.int32, np.uint64, np.float32])
def test_narrow_types_never_wrap(dtype):
    values = np.array([127, 127, 127], dtype=dtype)
    assert total(as_counts(values)) == 381
    assert as_counts(values).dtype == np.int64


def test_uint8_near_255_and_uint64_near_its_end():
    assert total(as_counts(np.full(300, 255, dtype=np.uint8))) == 76_500
    top = np.array([2**64 - 1, 2**64 - 1], dtype=np.uint64)
    assert total(as_counts(top)) == 2 * (2**64 - 1)


def test_whole_numbers_beside_a_float_keep_every_digit():
    assert as_counts([2**53 + 1, 1.0]).tolist() == [2**53 + 1, 1]
    assert as_counts([[2**60 + 1, 1.0], [0, 3]]).tolist() == [[2**60 + 1, 1], [0, 3]]


def test_a_float_array_of_whole_numbers_is_taken():
    assert as_counts(np.array([3.0, 0.0, 1e15])).tolist() == [3, 0, 10**15]


@each(
    ("values", "words"),
    [
        ([1, -2], "negative.*-2"),
        ([1.5, 2], "integers.*1.5"),
        ([1, float("nan")], "integers.*nan"),
        (np.array([1.0, np.inf]), "integers.*inf"),
        (["3", "4"], "integers"),
        ([1, None], "integers.*None"),
        ([1, "x"], "integers"),
        ([True, False], "integers.*bool"),
        ([1, True, 2**70], "integers.*True"),
        ([[1], [2, 3]], "rows of equal length"),
    ],
)
def test_what_is_no_count_is_refused_by_name_and_value(values, words):
    with pytest.raises(DataError, match=words) as caught:
        as_counts(values, name="votes")
    assert str(caught.value).startswith("votes")


@each("weighted", [False, True])
@each(("n_labels", "n_columns"), [(2, 1), (3, 3), (300, 2), (40_000, 5)])
def test_rows_are_counted_as_a_counter_counts_them(n_labels, n_columns, weighted):
    rng = np.random.default_rng(n_labels + n_columns)
    rows = rng.integers(0, min(n_labels, 4), size=(500, n_columns))
    rows[::7] = n_labels - 1
    weights = rng.integers(0, 4, size=500) if weighted else None
    cells, counts = count_rows(list(rows.T), n_labels=n_labels, weights=weights)

    expected: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(rows.tolist(), [1] * 500 if weights is None else weights, strict=True):
        expected[tuple(row)] += int(weight)
    expected = Counter({cell: count for cell, count in expected.items() if count})
    assert dict(zip(map(tuple, cells.tolist()), counts.tolist(), strict=True)) == expected
    assert cells.tolist() == sorted(cells.tolist())


def test_weights_of_any_size_add_up():
    codes = [np.array([0, 1, 0])]
    _, counts = count_rows(codes, n_labels=2, weights=as_counts([2**63, 1, 2**63]))
    assert counts.tolist() == [2**64, 1]
