"""Folds from anywhere: those of a blocked design pass, the others are told why not."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.crossval.folds import check_blocked
from outperform.errors import DataError
from tests.lazily import lazily
from tests.loops import each

KFold = lazily("sklearn.model_selection.KFold")
RepeatedKFold = lazily("sklearn.model_selection.RepeatedKFold")
ShuffleSplit = lazily("sklearn.model_selection.ShuffleSplit")

N = 40


def folds(m=3, n=N):
    return list(op.BlockedTwoFold(m, random_state=1).split(range(n)))


def by_hand(*halves, n=8):
    """Return the folds of the given training halves."""
    for half in halves:
        rest = np.setdiff1d(np.arange(n), half)
        yield half, rest
        yield rest, half


@each("n", [40, 41, 42, 43])
@each("m", [1, 2, 3, 5, 12])
def test_blocked_folds_pass(m, n):
    assert check_blocked(folds(m, n), n) == m


def test_folds_by_hand_pass():
    assert check_blocked(list(by_hand([0, 1, 2, 3], [0, 1, 4, 5])), 8) == 2


def test_plain_two_folds_are_one_repetition():
    assert check_blocked(list(KFold(2).split(range(N))), N) == 1


def faults():
    good = folds()
    train, test = good[0]
    yield "an even number of folds.*got 5 folds", good[:5]
    yield "an even number of folds.*got 0 folds", []
    yield "without common items.*fold 1 share 1", [(np.append(train, test[0]), test), *good[1:]]
    yield "every item in one of the halves.*fold 1 lacks 1 of 40", [(train[1:], test), *good[1:]]
    yield r"pairs \(S, T\), \(T, S\).*fold 2 is not fold 1", [good[0], good[2], *good[2:]]
    yield r"fold 2 is not fold 1", list(KFold(4).split(range(N)))
    yield (
        r"fold 2 is not fold 1",
        list(ShuffleSplit(6, test_size=0.5, random_state=0).split(range(N))),
    )
    yield "halves of 4 ± 1 items.*2 and 6", list(by_hand([0, 1]))
    yield "different halves.*repetitions 1 and 3 have the same", good[:4] + good[:2]
    yield "different halves.*repetitions 1 and 2", [*good[:2], good[1], good[0]]
    yield "share 2 ± 1 items.*1 and 2 share 4", list(by_hand(range(4), range(5)))
    yield "each item once.*fold 1 repeats 1", [(np.append(train, train[0]), test), *good[1:]]
    yield "indices from 0 to 39.*fold 1 contains 40", [(np.append(train[1:], 40), test), *good[1:]]
    yield "indices from 0 to 39.*fold 1 contains -1", [(np.append(train[1:], -1), test), *good[1:]]
    yield "arrays of indices.*bool", [(np.ones(N, bool), test), *good[1:]]


@each(("said", "splits"), faults)
def test_faults_are_named_with_a_way_to_mend_them(said, splits):
    n = 8 if len(splits) and sum(map(len, splits[0])) == 8 else N
    with pytest.raises(DataError, match=rf"{said}.*op\.BlockedTwoFold"):
        check_blocked(splits, n)


def test_random_repetitions_share_too_much_or_too_little():
    splits = list(RepeatedKFold(n_splits=2, n_repeats=5, random_state=0).split(range(600)))
    with pytest.raises(DataError, match="share 150 ± 2 items"):
        check_blocked(splits, 600)


def test_the_tolerance_can_be_set():
    groups = np.repeat(np.arange(13), 7)
    splits = list(op.BlockedTwoFold(random_state=0).split(groups, None, groups))
    assert check_blocked(splits, len(groups), tolerance=7) == 3
    with pytest.raises(DataError, match=r"± 0\.5"):
        check_blocked(splits, len(groups), tolerance=0.5)
