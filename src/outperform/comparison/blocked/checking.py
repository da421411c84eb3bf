"""Are these folds the ones that a blocked cross-validation needs?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from outperform._typing import IntArray
from outperform.comparison.blocked.design import n_blocks
from outperform.errors import DataError

Mask = NDArray[np.bool_]

_MEND = "make the folds with op.BlockedTwoFold"


def check_blocked(
    splits: Sequence[tuple[Any, Any]], n: int, *, tolerance: float | None = None
) -> int:
    """Return the number of repetitions, or refuse folds that are not those of a blocked design.

    Folds come in pairs ``(S, T)``, ``(T, S)`` of two halves, and every two training halves
    share a quarter of the items.

    Parameters
    ----------
    splits
        Training and test indices of each fold.
    n
        The number of items.
    tolerance
        By how many items a half may differ from ``n / 2`` and a shared part from ``n / 4``.
        None allows one item for each block that makes them up. With groups, whose sizes
        cannot be chosen, pass the size of the largest one.

    Examples
    --------
    >>> check_blocked([([0, 1], [2, 3]), ([2, 3], [0, 1])], 4)
    1
    """
    if not len(splits) or len(splits) % 2:
        _refuse("an even number of folds, two for each repetition", f"got {len(splits)} folds")
    m = len(splits) // 2
    halves = [_half(splits[2 * index], splits[2 * index + 1], n, index) for index in range(m)]
    order = n_blocks(m, n)
    _check_sizes(halves, n, order / 2 if tolerance is None else tolerance)
    _check_overlaps(halves, n, order / 4 if tolerance is None else tolerance)
    return m


def _refuse(must: str, came: str) -> NoReturn:
    raise DataError(f"blocked cross-validation needs {must}; {came}. To mend it, {_MEND}")


def _half(first: tuple[Any, Any], second: tuple[Any, Any], n: int, index: int) -> Mask:
    """Return where the first training half of a repetition lies."""
    name = f"fold {2 * index + 1}"
    train, test = _mask(first[0], n, name), _mask(first[1], n, name)
    shared = np.count_nonzero(train & test)
    if shared:
        _refuse(
            "training and test halves without common items",
            f"those of {name} share {shared}",
        )
    outside = n - np.count_nonzero(train | test)
    if outside:
        _refuse("every item in one half or the other", f"{name} leaves out {outside} of {n}")
    after = f"fold {2 * index + 2}"
    again = _mask(second[0], n, after), _mask(second[1], n, after)
    if (again[0] != test).any() or (again[1] != train).any():
        _refuse(
            "folds in pairs (S, T), (T, S)",
            f"{after} is not {name} with training and test exchanged",
        )
    return train


def _mask(indices: Any, n: int, name: str) -> Mask:
    array: IntArray = np.asarray(indices)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        _refuse("arrays of indices", f"{name} holds {array.dtype} of shape {array.shape}")
    if array.size and not (array.min() >= 0 and array.max() < n):
        wrong = array[(array < 0) | (array >= n)][0]
        _refuse(f"indices from 0 to {n - 1}", f"{name} holds {wrong}")
    mask = np.zeros(n, dtype=np.bool_)
    mask[array.astype(np.int64)] = True
    twice = array.size - np.count_nonzero(mask)
    if twice:
        _refuse("each item once in a half", f"{name} repeats {twice}")
    return mask


def _check_sizes(halves: Sequence[Mask], n: int, tolerance: float) -> None:
    for index, half in enumerate(halves):
        size = np.count_nonzero(half)
        if abs(size - n / 2) > tolerance:
            _refuse(
                f"halves of {n / 2:g} items, give or take {tolerance:g}",
                f"those of repetition {index + 1} have {size} and {n - size}",
            )


def _check_overlaps(halves: Sequence[Mask], n: int, tolerance: float) -> None:
    for (one, left), (other, right) in combinations(enumerate(halves, 1), 2):
        shared = np.count_nonzero(left & right)
        if (left == right).all() or (left != right).all():
            _refuse("different halves", f"repetitions {one} and {other} have the same two")
        if abs(shared - n / 4) > tolerance:
            _refuse(
                f"training halves that share {n / 4:g} items, give or take {tolerance:g}",
                f"those of repetitions {one} and {other} share {shared}",
            )
