from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

from outperform.errors import DataError, UsageError
from outperform.metrics.confusion import Margins, others
from tests.loops import each

TABLE = np.array([[8, 2, 0], [1, 5, 4], [0, 3, 7]])


def test_the_sums_of_a_hand_worked_table():
    margins = Margins.from_confusion(TABLE)
    assert margins.hits.tolist() == [8, 5, 7]
    assert margins.actual.tolist() == [10, 10, 10]
    assert margins.predicted.tolist() == [9, 10, 11]
    assert margins.missed.tolist() == [2, 5, 3]
    assert margins.spurious.tolist() == [1, 5, 4]
    assert margins.negatives.tolist() == [20, 20, 20]
    assert margins.total == 30
    assert margins.n_classes == 3


def test_sums_given_and_sums_counted_are_the_same():
    counted = Margins.from_confusion(TABLE)
    for dtype in (float, int, np.uint16, object):
        given = Margins(
            hits=counted.hits.astype(dtype),
            actual=counted.actual.astype(dtype),
            predicted=counted.predicted.astype(dtype),
        )
        for name in ("hits", "actual", "predicted", "missed", "spurious", "total"):
            assert getattr(given, name).dtype == np.float64
            assert np.array_equal(getattr(given, name), getattr(counted, name))


@pytest.mark.parametrize("shape", [(3, 3), (3, 3, 4), (3, 3, 4, 2)])
def test_further_axes_are_carried_along(rng, shape):
    table = rng.random(shape)
    margins = Margins.from_confusion(table)
    assert margins.hits.shape == margins.missed.shape == (3, *shape[2:])
    assert margins.total.shape == shape[2:]
    assert np.allclose(margins.actual, table.sum(axis=1), rtol=1e-14)
    assert np.allclose(margins.predicted, table.sum(axis=0), rtol=1e-14)


def test_small_integer_types_do_not_wrap():
    margins = Margins.from_confusion(np.full((2, 2), 255, dtype=np.uint8))
    assert margins.actual.tolist() == [510, 510]
    assert margins.total == 1020


def test_counts_beyond_64_bits_do_not_wrap():
    margins = Margins.from_confusion([[2**63 - 1, 2**63], [2**64, 10**30]])
    assert margins.total == float(2**63 - 1 + 2**63 + 2**64 + 10**30)


def test_misses_stay_exact_beside_a_huge_count():
    big = 10**18
    counted = Margins.from_confusion([[big, 3], [2, 5]])
    given = Margins(hits=[big, 5], actual=[big + 3, 7], predicted=[big + 2, 8])
    beyond = Margins(hits=[2**63, 5], actual=[2**63 + 3, 7], predicted=[2**63 + 2, 8])
    for margins in (counted, given, beyond):
        assert margins.missed.tolist() == [3, 2]
        assert margins.spurious.tolist() == [2, 3]


def test_whole_numbers_and_floats_may_be_mixed():
    margins = Margins(
        hits=np.array([True, False]), actual=np.array([2, 1]), predicted=np.array([1.5, 1.5])
    )
    assert margins.missed.tolist() == [1, 1]
    assert margins.spurious.tolist() == [0.5, 1.5]


def test_truth_values_count_as_ones():
    flags = np.array([True, False])
    margins = Margins(hits=flags, actual=np.array([True, True]), predicted=flags)
    assert margins.missed.tolist() == [0, 1]


def test_rounding_never_makes_a_negative_miss():
    hits = np.array([0.1 + 0.2])
    margins = Margins(hits=hits, actual=np.array([0.3]), predicted=np.array([0.3]))
    assert margins.missed.tolist() == margins.spurious.tolist() == [0.0]


def test_the_input_is_left_as_it_was():
    table = TABLE.astype(float)
    Margins.from_confusion(table)
    assert np.array_equal(table, TABLE)


def test_others_leaves_out_one_class_at_a_time(rng):
    weights = rng.random((6, 50)) ** 8
    expected = [np.delete(weights, k, axis=0).sum(axis=0) for k in range(6)]
    assert np.allclose(others(weights), expected, rtol=1e-14)


def test_others_of_a_class_that_holds_all_the_rest_of_the_digits():
    weights = np.array([3.0, 1e17, 1e-3, 0.25])
    assert others(weights)[1] == 3.251
    assert others(np.array([0.0, 5.0])).tolist() == [5.0, 0.0]
    assert others(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


def test_margins_cannot_be_changed_or_given_out_of_order():
    margins = Margins.from_confusion(TABLE)
    with pytest.raises(dataclasses.FrozenInstanceError):
        margins.hits = margins.actual
    with pytest.raises(TypeError, match="positional"):
        Margins(margins.hits, margins.actual, margins.predicted)


def test_margins_survive_pickling():
    margins = pickle.loads(pickle.dumps(Margins.from_confusion(TABLE)))
    assert margins.missed.tolist() == [2, 5, 3]


@each("shape", [(), (3,), (2, 3), (3, 2, 2), (0, 0)])
def test_a_table_must_be_square(shape):
    with pytest.raises(DataError, match=r"must be square.*got shape"):
        Margins.from_confusion(np.zeros(shape))


@pytest.mark.parametrize("table", [[["1", "2"], ["3", "4"]], [[1j, 2], [3, 4]]])
def test_a_table_must_hold_numbers(table):
    with pytest.raises(DataError, match="must be numbers"):
        Margins.from_confusion(table)


def test_a_count_that_no_float_can_hold_is_refused():
    with pytest.raises(DataError, match="must be finite numbers"):
        Margins.from_confusion([[10**400, 1], [1, 1]])


@pytest.mark.parametrize(("hits", "actual"), [([1, 2], [1, 2, 3]), (1, 1)])
def test_margins_must_have_one_shape(hits, actual):
    with pytest.raises(UsageError, match="must have the same shape, classes first"):
        Margins(hits=hits, actual=actual, predicted=actual)
