from __future__ import annotations

import functools
import re

import numpy as np
import pytest

from outperform import metrics
from outperform.errors import DataError, UsageError
from tests.loops import each

COUNTS = [[8, 2], [1, 5]]


def error_rate(confusion):
    return 1 - np.trace(confusion) / confusion.sum()


def error_rates(confusion):
    return 1 - np.einsum("ii...->...", confusion) / confusion.sum(axis=(0, 1))


def cost(confusion, *, miss=2.0):
    return (confusion[0, 1] + miss * confusion[1, 0]) / confusion.sum()


def test_a_function_sees_one_table_of_floats_at_a_time(draws):
    seen = []

    def record(confusion):
        seen.append(confusion)
        return 0.0

    metrics.from_function(record).evaluate(draws)
    assert len(seen) == draws.shape[2]
    assert all(table.flags.c_contiguous and table.dtype == np.float64 for table in seen)
    assert all(np.array_equal(seen[i], draws[:, :, i]) for i in range(len(seen)))


def test_rows_are_the_truth_and_counts_come_as_they_are():
    seen = []
    metrics.from_function(lambda c: seen.append(c.tolist()) or 1.0).evaluate(COUNTS)
    assert seen == [COUNTS]


def test_plain_and_vectorized_agree_with_the_table(draws):
    plain = metrics.from_function(error_rate).evaluate(draws)
    vectorized = metrics.from_function(error_rates, vectorized=True).evaluate(draws)
    accuracy = metrics.get("accuracy").evaluate(metrics.Margins.from_confusion(draws))
    assert np.allclose(plain, 1 - accuracy, rtol=0, atol=1e-14)
    assert np.allclose(vectorized, plain, rtol=0, atol=1e-14)


@each("trailing", [(), (1,), (6,), (2, 3), (0,)])
@each(("function", "vectorized"), [(error_rate, False), (error_rates, True)])
def test_the_trailing_shape_is_kept(draws, trailing, function, vectorized):
    table = draws[:, :, : int(np.prod(trailing))].reshape(5, 5, *trailing)
    value = metrics.from_function(function, vectorized=vectorized).evaluate(table)
    assert value.shape == trailing
    assert value.dtype == np.float64
    assert value.flags.c_contiguous


def test_a_vectorized_function_sees_all_tables_in_one_axis(draws):
    shapes = []

    def record(confusion):
        shapes.append(confusion.shape)
        return confusion[0, 0]

    metric = metrics.from_function(record, vectorized=True)
    metric.evaluate(COUNTS)
    metric.evaluate(draws.reshape(5, 5, 20, 15))
    assert shapes == [(2, 2, 1), (5, 5, 300)]


def test_a_function_that_changes_its_argument_harms_nobody(draws):
    def destructive(confusion):
        confusion /= 2
        return confusion.sum()

    before = draws.copy()
    metrics.from_function(destructive).evaluate(draws)
    assert np.array_equal(draws, before)
    with pytest.raises(ValueError, match="read-only"):
        metrics.from_function(destructive, vectorized=True).evaluate(draws)
    assert np.array_equal(draws, before)
    assert draws.flags.writeable


def test_the_answer_of_a_vectorized_function_may_be_a_view(draws):
    before = draws.copy()
    value = metrics.from_function(lambda c: c[0, 0], vectorized=True).evaluate(draws)
    value[...] = -1.0
    assert np.array_equal(draws, before)


@each("answer", [1, 0.25, True, np.float32(0.5), np.array(0.5), np.int8(1)])
def test_any_single_number_will_do(answer):
    assert metrics.from_function(lambda c: answer).evaluate(COUNTS) == float(answer)


@each(
    ("answer", "shown"),
    [
        (None, "it returned None"),
        ("0.5", "it returned '0.5'"),
        ([0.5], "it returned an array of shape (1,)"),
        (np.ones((2, 2)), "it returned an array of shape (2, 2)"),
        (0.5j, "it returned 0.5j"),
    ],
)
def test_anything_else_is_refused(answer, shown):
    def odd(confusion):
        return answer

    with pytest.raises(
        UsageError, match=re.escape("function 'odd' must return one number")
    ) as info:
        metrics.from_function(odd).evaluate(COUNTS)
    assert shown in str(info.value)


@each("answer", [0.5, np.ones(299), np.ones((300, 1)), ["a"] * 300, None])
def test_a_vectorized_function_returns_one_number_for_each_table(draws, answer):
    def odd(confusion):
        return answer

    message = r"function 'odd' must return an array of shape \(300,\).*vectorized; it returned"
    with pytest.raises(UsageError, match=message):
        metrics.from_function(odd, vectorized=True).evaluate(draws)


def test_not_a_number_is_refused_with_advice(draws):
    def lost(confusion):
        return np.nan if confusion[0, 0] > np.median(draws[0, 0]) else 1.0

    message = (
        r"function 'lost' must return a number for every table; it returned NaN for 150 of 300"
    )
    with pytest.raises(UsageError, match=message):
        metrics.from_function(lost).evaluate(draws)
    with pytest.raises(UsageError, match="NaN for 300 of 300; define 0/0 in the function"):
        metrics.from_function(lambda c: c[0, 0] * np.nan, vectorized=True).evaluate(draws)


@each("vectorized", [False, True])
@each("value", [1.5, -0.5, np.inf])
def test_values_outside_the_declared_bounds_are_refused(value, vectorized):
    def stray(confusion):
        return confusion[0, 0] * 0 + value

    metric = metrics.from_function(stray, bounds=(0, 1), vectorized=vectorized)
    with pytest.raises(UsageError, match=r"'stray' must return numbers within its bounds") as info:
        metric.evaluate(COUNTS)
    assert repr(value) in str(info.value)


def test_rounding_beyond_the_bounds_is_forgiven():
    metric = metrics.from_function(lambda c: 1 + 1e-12, bounds=(0, 1))
    assert metric.evaluate(COUNTS) == 1.0


def test_without_bounds_anything_goes():
    metric = metrics.from_function(lambda c: 1e6)
    assert metric.bounds == (-np.inf, np.inf)
    assert metric.evaluate(COUNTS) == 1e6


@pytest.mark.parametrize("bounds", [5, (1,), ("a", "b"), (0, 1, 2)])
def test_bounds_are_two_numbers(bounds):
    with pytest.raises(UsageError, match="bounds must be two numbers"):
        metrics.from_function(error_rate, bounds=bounds)


@pytest.mark.parametrize("bounds", [(1, 0), (1, 1), (np.nan, 1)])
def test_bounds_are_in_order(bounds):
    with pytest.raises(UsageError, match="bounds must be \\(low, high\\)"):
        metrics.from_function(error_rate, bounds=bounds)


def test_names():
    assert metrics.from_function(error_rate).name == "error_rate"
    assert metrics.from_function(error_rate, name="error").label == "error"
    assert metrics.from_function(lambda c: 0.0).name == "custom"
    assert metrics.from_function(functools.partial(cost, miss=3)).name == "partial"


def test_a_partial_function_is_evaluated():
    metric = metrics.from_function(functools.partial(cost, miss=4.0), greater_is_better=False)
    assert metric.evaluate(COUNTS) == pytest.approx(6 / 16)
    assert not metric.greater_is_better
    assert metric.share_over(all_classes=True) is None


def test_an_error_inside_the_function_comes_through():
    with pytest.raises(ZeroDivisionError):
        metrics.from_function(lambda c: 1 / 0).evaluate(COUNTS)


def test_a_function_takes_square_tables_and_no_classes():
    metric = metrics.from_function(error_rate)
    with pytest.raises(DataError, match="must be square"):
        metric.evaluate(np.ones((2, 3)))
    with pytest.raises(UsageError, match="error_rate uses the entire table, not a selection"):
        metric.evaluate(COUNTS, [1])
    assert metric.evaluate(COUNTS, [0, 1]) == metric.evaluate(COUNTS)
