"""Fold counts, and checks of the cross-validation design."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from math import isqrt
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from outperform._typing import AnyArray, ColumnLike, FloatArray, IntArray
from outperform.data.outcomes import Outcomes
from outperform.data.table import as_counts, group_codes
from outperform.errors import DataError, UsageError, unknown_name
from outperform.findings import Finding, finding, listed
from outperform.inference.folds import Folds

COUNTS = ("tp_fp_fn", "gold_predicted_correct")


def read_folds(rows: object, *, counts: str, name: str) -> AnyArray:
    """Return tp, fp and fn of each fold, ``(3, 2m)``; invalid rows raise an error."""
    if counts not in COUNTS:
        raise UsageError(unknown_name("counts", counts, COUNTS))
    table = as_counts(rows, name=f"folds of {name}")
    if table.ndim != 2 or table.shape[1] != 3:
        raise DataError(
            f"folds of {name} must have three columns, {counts.replace('_', ', ')}, and one row "
            f"per fold; got shape {table.shape}"
        )
    if len(table) % 2 or not len(table):
        raise DataError(
            f"folds of {name} must have two rows per repetition of two-fold cross-validation; "
            f"got {len(table)}"
        )
    if counts == "gold_predicted_correct":
        table = _from_gold(table, name)
    tp, fp, fn = table[:, 0], table[:, 1], table[:, 2]
    _check_repetitions(tp + fn, name)
    return np.stack([tp, fp, fn])


def _from_gold(table: AnyArray, name: str) -> AnyArray:
    gold, predicted, correct = table[:, 0], table[:, 1], table[:, 2]
    bad = np.flatnonzero((correct > gold) | (correct > predicted))
    if bad.size:
        row = int(bad[0])
        raise DataError(
            f"folds of {name}, row {row + 1}: {correct[row]} correct cannot be more than "
            f"{gold[row]} gold or {predicted[row]} predicted; the columns are gold, predicted, "
            "correct"
        )
    return np.stack([correct, predicted - correct, gold - correct], axis=1)


def _check_repetitions(gold: AnyArray, name: str) -> None:
    """Check that the two folds of every repetition together contain all gold items."""
    totals: AnyArray = gold[0::2] + gold[1::2]
    for repetition, total in enumerate(totals):
        if total != totals[0]:
            raise DataError(
                f"folds of {name}: repetition {repetition + 1} (rows {2 * repetition + 1} and "
                f"{2 * repetition + 2}) has {total} gold items, repetition 1 has {totals[0]}; "
                "the two halves of every repetition must contain every gold item (tp + fn) once"
            )


def check_same_gold(a: AnyArray, b: AnyArray, names: tuple[str, str]) -> None:
    """Raise an error if two models were not tested on the same folds."""
    if a.shape != b.shape:
        raise DataError(
            f"{names[0]} has {a.shape[1]} folds and {names[1]} has {b.shape[1]}; both models must "
            "be tested on the same folds"
        )
    gold_a: AnyArray = a[0] + a[2]
    gold_b: AnyArray = b[0] + b[2]
    differing = np.flatnonzero(gold_a != gold_b)
    if differing.size:
        row = int(differing[0])
        raise DataError(
            f"row {row + 1}: {names[0]} was tested on {gold_a[row]} gold items and {names[1]} on "
            f"{gold_b[row]}; both models must be tested on the same folds in the same order"
        )


def repeated_rows(counts: AnyArray, name: str) -> tuple[Finding, ...]:
    """Return a finding if two folds of a model have exactly the same counts."""
    rows = [tuple(row) for row in counts.T.tolist()]
    twice = [row for row in dict.fromkeys(rows) if rows.count(row) > 1]
    if not twice:
        return ()
    repeated = listed(str(number) for number, row in enumerate(rows, 1) if row == twice[0])
    return (finding("repeated_fold", model=name, rows=repeated),)


def folds_of_counts(counts: AnyArray) -> Folds:
    """Return the folds with counts tp, fp and fn, ``(n_models, 3, 2m)``."""
    tp, fp, fn = np.moveaxis(counts, 1, 0)[:, :, None, :]
    return Folds(hits=tp, actual=tp + fn, predicted=tp + fp)


def folds_of_outcomes(outcomes: list[Outcomes]) -> Folds:
    """Return the folds of outcomes that have the same models and classes."""
    sums = [
        [fold_outcomes.margins(model) for fold_outcomes in outcomes] for model in outcomes[0].models
    ]  # (n_models, 2m)
    return Folds(
        **{
            name: np.stack(
                [np.stack([getattr(fold, name) for fold in model], axis=-1) for model in sums]
            )
            for name in ("hits", "actual", "predicted")
        }
    )


def blocks(m: int, n: int) -> IntArray:
    """Return the signs ``(n_blocks, m)`` of a blocked design: +1 if a block belongs to the half.

    Each column has as many +1 as −1, and any two columns have each pair of signs ``n_blocks / 4``
    times, so two training halves share a quarter of the blocks. If several numbers of blocks are
    possible, a divisor of ``n`` is preferred, which makes the blocks equal.

    Examples
    --------
    >>> blocks(3, 600)
    array([[ 1,  1, -1],
           [ 1, -1,  1],
           [-1,  1,  1],
           [-1, -1, -1]])
    """
    signs = _hadamard(n_blocks(m, n))
    signs = signs * signs[:, :1]  # the first column is constant
    signs = signs[:, 1:] * -signs[-1, 1:]  # the last block is never in the first half
    columns = np.lexsort(-signs[::-1])
    return signs[:, columns[:m]]


def n_blocks(m: int, n: int) -> int:
    """Return the number of blocks for ``m`` repetitions on ``n`` units.

    This is the smallest order above ``m`` that divides ``n``, unless it is much larger than the
    smallest order, because more blocks mean fewer items of each class per block.

    Examples
    --------
    >>> n_blocks(3, 600), n_blocks(15, 600), n_blocks(15, 601)
    (4, 20, 16)
    """
    orders = [order for order in range(m + 1, 4 * (m + 1) + 1) if _is_order(order)]
    return next((order for order in orders if n % order == 0), orders[0])


@cache
def _is_order(order: int) -> bool:
    """Return whether one of the constructions gives a Hadamard matrix of this order."""
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
    """Return the Paley matrix of quadratic residues modulo a prime, bordered with ones."""
    residue = np.full(q, -1)
    residue[np.arange(1, q) ** 2 % q] = 1
    residue[0] = 0
    index = np.arange(q)
    matrix = np.zeros((q + 1, q + 1), dtype=np.int64)
    matrix[0, 1:] = 1
    matrix[1:, 0] = left
    matrix[1:, 1:] = residue[index[:, None] - index]
    return matrix


Mask = NDArray[np.bool_]


class _Design(NamedTuple):
    """Cross-validation design, with instructions for creating its folds."""

    name: str
    fix: str


_BLOCKED = _Design("blocked cross-validation", "create the folds with op.BlockedTwoFold")
_RANDOM = _Design(
    "the corrected t of cross-validation",
    "create the folds with cv=5, a shuffled or stratified scikit-learn splitter, or "
    "op.BlockedTwoFold",
)
FEWEST_FOLDS = 4  # with fewer folds the posterior has no standard deviation
# Limit of the ratio of the largest training set to the smallest.
_MOST_UNEQUAL = 2


def share_tested(
    splits: Sequence[tuple[object, object]], n: int, groups: ColumnLike | None = None
) -> float:
    """Return the share of items that a fold tests; unsuitable folds raise an error.

    Nadeau and Bengio's correction applies to random folds: training sets have about the same size,
    and two test sets share no items, or as many as expected by chance.

    Parameters
    ----------
    splits
        Training and test indices of each fold.
    n
        Number of items.
    groups
        Group of each item.

    Examples
    --------
    >>> everything = np.arange(8)
    >>> share_tested([(np.delete(everything, [i, i + 1]), [i, i + 1]) for i in (0, 2, 4, 6)], 8)
    0.25
    """
    if len(splits) < FEWEST_FOLDS:
        _refuse(f"at least {FEWEST_FOLDS} folds", f"got {len(splits)}", _RANDOM)
    codes: IntArray | None = None
    if groups is not None:
        codes = group_codes(groups, len(groups))[0]  # type: ignore[arg-type]
    if codes is not None and len(codes) != n:
        raise DataError(f"groups must have one entry per item, {n} in all; got {len(codes)}")
    train: Mask = np.zeros((len(splits), n), dtype=np.bool_)
    test = np.zeros_like(train)
    units: IntArray = np.arange(n) if codes is None else codes
    for index, (learnt, tested) in enumerate(splits):
        name = f"fold {index + 1}"
        train[index], test[index] = _mask(learnt, n, name, _RANDOM), _mask(tested, n, name, _RANDOM)
        shared = np.intersect1d(units[train[index]], units[test[index]]).size
        if shared:
            what = "items" if codes is None else "groups, as with GroupKFold"
            came = f"those of {name} share {shared}"
            _refuse(f"training and test sets without common {what}", came, _RANDOM)
    _check_chance(train, test)
    sizes: FloatArray = test.sum(axis=1, dtype=np.float64)
    both: FloatArray = (train | test).sum(axis=1, dtype=np.float64)
    return float(np.mean(sizes / both))


def _check_chance(train: Mask, test: Mask) -> None:
    """Raise an error if folds ``(n_folds, n_items)`` are ordered in time or share test items."""
    learnt: IntArray = train.sum(axis=1)
    tested: IntArray = test.sum(axis=1)
    smallest, least, most = int(tested.min()), int(learnt.min()), int(learnt.max())
    if smallest < 2:  # many metrics are undefined or behave differently for a single item
        came = f"fold {int(tested.argmin()) + 1} tests {smallest}"
        _refuse("at least two test items in every fold", came, _RANDOM)
    last: IntArray = train.shape[1] - 1 - train[:, ::-1].argmax(axis=1)
    if bool((last < test.argmax(axis=1)).all()):
        came = "these train only on items before their test items, like time-series folds"
        _refuse("random folds", came, _RANDOM)
    if most > _MOST_UNEQUAL * least:
        _refuse("training sets of similar size", f"these have {least} to {most} items", _RANDOM)
    times: FloatArray = test.sum(axis=0, dtype=np.float64)
    # Mean share of a test set that another fold also tests.
    common = float(times @ (times - 1)) / (len(test) - 1) / float(times.sum())
    if common > (1 + float(tested.mean()) / float((tested + learnt).mean())) / 2:
        came = f"two of these share {common:.0%} of their test items"
        _refuse("folds that test different items", came, _RANDOM)


def check_blocked(
    splits: Sequence[tuple[object, object]], n: int, *, tolerance: float | None = None
) -> int:
    """Return the number of repetitions; folds that are not blocked raise an error.

    Folds are pairs ``(S, T)``, ``(T, S)`` of two halves, and any two training halves share a
    quarter of the items.

    Parameters
    ----------
    splits
        Training and test indices of each fold.
    n
        Number of items.
    tolerance
        Largest deviation of a half from ``n / 2`` and of a shared part from ``n / 4``, in items.
        Default: one item per block. With groups, which cannot be split, pass the size of the
        largest group.

    Examples
    --------
    >>> check_blocked([([0, 1], [2, 3]), ([2, 3], [0, 1])], 4)
    1
    """
    if not len(splits) or len(splits) % 2:
        _refuse("an even number of folds, two per repetition", f"got {len(splits)} folds")
    m = len(splits) // 2
    halves = [_half(splits[2 * index], splits[2 * index + 1], n, index) for index in range(m)]
    order = n_blocks(m, n)
    _check_sizes(halves, n, order / 2 if tolerance is None else tolerance)
    _check_overlaps(halves, n, order / 4 if tolerance is None else tolerance)
    return m


def _refuse(must: str, came: str, design: _Design = _BLOCKED) -> NoReturn:
    raise DataError(f"{design.name} needs {must}; {came}. To fix it, {design.fix}")


def _half(first: tuple[object, object], second: tuple[object, object], n: int, index: int) -> Mask:
    """Return a mask of the first training half of a repetition."""
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
        _refuse("every item in one of the halves", f"{name} lacks {outside} of {n}")
    after = f"fold {2 * index + 2}"
    again = _mask(second[0], n, after), _mask(second[1], n, after)
    if (again[0] != test).any() or (again[1] != train).any():
        _refuse(
            "folds in pairs (S, T), (T, S)",
            f"{after} is not {name} with training and test swapped",
        )
    return train


def _mask(indices: object, n: int, name: str, design: _Design = _BLOCKED) -> Mask:
    array: IntArray = np.asarray(indices)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        _refuse("arrays of indices", f"{name} has {array.dtype} of shape {array.shape}", design)
    if array.size and not (array.min() >= 0 and array.max() < n):
        wrong = array[(array < 0) | (array >= n)][0]
        _refuse(f"indices from 0 to {n - 1}", f"{name} contains {wrong}", design)
    mask = np.zeros(n, dtype=np.bool_)
    mask[array.astype(np.int64)] = True
    twice = array.size - np.count_nonzero(mask)
    if twice:
        _refuse("each item once in a half", f"{name} repeats {twice}", design)
    return mask


def _check_sizes(halves: Sequence[Mask], n: int, tolerance: float) -> None:
    for index, half in enumerate(halves):
        size = np.count_nonzero(half)
        if abs(size - n / 2) > tolerance:
            _refuse(
                f"halves of {n / 2:g} ± {tolerance:g} items",
                f"those of repetition {index + 1} have {size} and {n - size}",
            )


def _check_overlaps(halves: Sequence[Mask], n: int, tolerance: float) -> None:
    for (first, left), (second, right) in combinations(enumerate(halves, 1), 2):
        shared = np.count_nonzero(left & right)
        if (left == right).all() or (left != right).all():
            _refuse("different halves", f"repetitions {first} and {second} have the same two")
        if abs(shared - n / 4) > tolerance:
            _refuse(
                f"training halves that share {n / 4:g} ± {tolerance:g} items",
                f"those of repetitions {first} and {second} share {shared}",
            )
