"""Which blocks make up which training half: orthogonal columns of Hadamard matrices."""

from __future__ import annotations

from functools import cache
from math import isqrt

import numpy as np

from outperform._typing import IntArray


def blocks(m: int, n: int) -> IntArray:
    """Return the signs ``(n_blocks, m)`` of a blocked design: +1 where a block is in the half.

    Each column has as many +1 as −1, and each two columns have each pair of
    signs ``n_blocks / 4`` times, so that two training halves share a quarter of
    the blocks. Where several numbers of blocks would do, one that divides ``n``
    makes the blocks equal.

    Examples
    --------
    >>> blocks(3, 600)
    array([[ 1,  1, -1],
           [ 1, -1,  1],
           [-1,  1,  1],
           [-1, -1, -1]])
    """
    signs = _hadamard(n_blocks(m, n))
    signs = signs * signs[:, :1]  # the first column is constant and makes no halves
    signs = signs[:, 1:] * -signs[-1, 1:]  # the last block is never in the first half
    columns = np.lexsort(-signs[::-1])
    return signs[:, columns[:m]]


def n_blocks(m: int, n: int) -> int:
    """Return the number of blocks for ``m`` repetitions on ``n`` units.

    That is the smallest order above ``m`` that divides ``n``, unless it is far
    larger than the smallest one of all: more blocks leave less of each class in
    every block.

    Examples
    --------
    >>> n_blocks(3, 600), n_blocks(15, 600), n_blocks(15, 601)
    (4, 20, 16)
    """
    orders = [order for order in range(m + 1, 4 * (m + 1) + 1) if _is_order(order)]
    return next((order for order in orders if n % order == 0), orders[0])


@cache
def _is_order(order: int) -> bool:
    """Say whether one of the constructions gives a Hadamard matrix of this order."""
    if order in (1, 2):
        return True
    if order % 4:
        return False
    return _is_prime(order - 1) or _is_paley_two(order) or _is_order(order // 2)


def _is_paley_two(order: int) -> bool:
    q = order // 2 - 1
    return q % 4 == 1 and _is_prime(q)


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % factor for factor in range(2, isqrt(number) + 1))


def _hadamard(order: int) -> IntArray:
    if order == 1:
        return np.ones((1, 1), dtype=np.int64)
    pair = np.array([[1, 1], [1, -1]])
    if order == 2 or _is_order(order // 2):
        return np.kron(pair, _hadamard(order // 2))
    if _is_prime(order - 1):
        return _bordered(order - 1, -1) + np.eye(order, dtype=np.int64)
    other = np.array([[1, -1], [-1, -1]])
    return np.kron(_bordered(order // 2 - 1, 1), pair) + np.kron(
        np.eye(order // 2, dtype=np.int64), other
    )


def _bordered(q: int, left: int) -> IntArray:
    """Return Paley's matrix of quadratic residues modulo a prime, with a border of ones."""
    residue = np.full(q, -1)
    residue[np.arange(1, q) ** 2 % q] = 1
    residue[0] = 0
    index = np.arange(q)
    matrix = np.zeros((q + 1, q + 1), dtype=np.int64)
    matrix[0, 1:] = 1
    matrix[1:, 0] = left
    matrix[1:, 1:] = residue[index[:, None] - index]
    return matrix
