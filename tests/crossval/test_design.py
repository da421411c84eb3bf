"""The orthogonal array: halves of blocks that meet in quarters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.crossval.folds import blocks, n_blocks
from tests.loops import each


def check_orthogonal(signs, m):
    order = len(signs)
    assert signs.shape == (order, m)
    assert set(np.unique(signs)) == {-1, 1}
    assert (signs.sum(axis=0) == 0).all()
    assert (signs.T @ signs == order * np.eye(m)).all()


def test_three_repetitions_are_the_table_of_the_paper():
    inside = [set(np.flatnonzero(column > 0) + 1) for column in blocks(3, 600).T]
    assert inside == [{1, 2}, {1, 3}, {2, 3}]


def test_one_repetition_has_two_blocks():
    assert blocks(1, 601).tolist() == [[1], [-1]]


@each("m", range(1, 131))
def test_columns_are_balanced_and_orthogonal(m):
    check_orthogonal(blocks(m, 601), m)


@pytest.mark.parametrize("m", [3, 7, 15])
def test_each_pair_of_signs_comes_equally_often(m):
    signs = blocks(m, 600)
    for left in range(m):
        for right in range(left):
            codes = 2 * (signs[:, left] > 0) + (signs[:, right] > 0)
            assert np.bincount(codes).tolist() == [len(signs) // 4] * 4


@each("m", range(1, 16))
def test_the_number_of_blocks_divides_six_hundred(m):
    assert 600 % n_blocks(m, 600) == 0


def test_orders_by_every_construction_and_the_first_that_none_reaches():
    reached = [n_blocks(order - 1, 1) for order in (2, 4, 8, 12, 20, 28, 36, 40, 48, 60)]
    assert reached == [2, 4, 8, 12, 20, 28, 36, 40, 48, 60]  # 28 and 36 are Paley's second kind
    assert n_blocks(51, 1) == 56  # 52 would need a field of 25 or 51 elements


@given(st.integers(1, 40), st.integers(1, 10_000))
def test_the_number_of_blocks_is_the_smallest_that_will_do(m, n):
    order, smallest = n_blocks(m, n), n_blocks(m, 1)
    assert m < order <= 4 * (m + 1)
    assert order == smallest or (n % order == 0 and n % smallest)
    check_orthogonal(blocks(m, n), m)
