"""Identities that hold for every table, and every metric in one go."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from outperform import metrics
from tests.loops import each

NAMES = [*metrics.names(), "f2_macro", "f0.5", "f3_weighted"]
ROUNDING = 1e-14


def classes_of(metric, one=1):
    return np.array([one]) if metric.average == "binary" else None


def evaluate(name, table, one=1):
    metric = metrics.get(name)
    return metric.evaluate(metrics.Margins.from_confusion(table), classes_of(metric, one))


def many(random_table, rng, n=400):
    return [random_table(rng, int(n_classes)) for n_classes in rng.integers(2, 12, size=n)]


def test_a_hand_worked_table():
    table = [[8, 2], [1, 5]]
    expected = {
        "accuracy": 13 / 16,
        "balanced_accuracy": (8 / 10 + 5 / 6) / 2,
        "precision": 5 / 7,
        "recall": 5 / 6,
        "specificity": 8 / 10,
        "f1": 10 / 13,
        "f1_macro": (16 / 19 + 10 / 13) / 2,
        "f1_weighted": (10 * 16 / 19 + 6 * 10 / 13) / 16,
        "jaccard": 5 / 8,
        "jaccard_micro": 13 / 19,
        "informedness": 5 / 6 + 8 / 10 - 1,
        "matthews_corrcoef": (8 * 5 - 2 * 1) / np.sqrt(10 * 6 * 9 * 7),
        "cohen_kappa": 1 - 3 * 16 / (10 * 7 + 6 * 9),
        "f2_macro": (5 * 8 / (5 * 8 + 4 * 2 + 1) + 5 * 5 / (5 * 5 + 4 * 1 + 2)) / 2,
    }
    for name, value in expected.items():
        assert evaluate(name, table) == pytest.approx(value, abs=ROUNDING), name


@each("name", NAMES)
def test_draws_at_once_equal_draws_one_by_one(name, draws):
    one_by_one = [evaluate(name, draws[:, :, i]) for i in range(draws.shape[2])]
    assert np.allclose(evaluate(name, draws), one_by_one, rtol=0, atol=ROUNDING)


@each("name", NAMES)
@each("trailing", [(), (300,), (20, 15), (3, 0)])
def test_results_are_contiguous_floats_of_the_trailing_shape(name, trailing, draws):
    size = int(np.prod(trailing))
    table = np.asfortranarray(draws[:, :, :size].reshape(5, 5, *trailing))
    before = table.copy()
    value = evaluate(name, table)
    assert isinstance(value, np.ndarray)
    assert value.shape == trailing
    assert value.dtype == np.float64
    assert value.flags.c_contiguous
    assert value.flags.writeable
    assert np.array_equal(table, before)


@each("name", NAMES)
def test_margins_are_left_as_they_were(name, draws):
    margins = metrics.Margins.from_confusion(draws)
    before = [a.copy() for a in (margins.hits, margins.actual, margins.predicted, margins.missed)]
    metric = metrics.get(name)
    metric.evaluate(margins, classes_of(metric))[...] = -5.0
    after = (margins.hits, margins.actual, margins.predicted, margins.missed)
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


@each("name", NAMES)
def test_values_stay_within_the_bounds(name, random_table, rng, draws):
    low, high = metrics.get(name).bounds
    for table in [*many(random_table, rng), draws]:
        value = evaluate(name, table)
        undefined = np.isnan(value)
        if name == "cohen_kappa" and undefined.any():
            assert np.count_nonzero(table) == np.count_nonzero(np.diag(table)) == 1
        else:
            assert not undefined.any()
            assert value.min() >= low
            assert value.max() <= high


@each("name", NAMES)
def test_bounds_hold_though_sums_in_another_order_differ_in_the_last_digit(name, rng):
    hits = rng.random((3, 2000))
    nudged = np.nextafter(hits, rng.choice([0.0, 1.0], size=hits.shape))
    metric = metrics.get(name)
    margins = metrics.Margins(hits=hits, actual=nudged, predicted=nudged)
    value = metric.evaluate(margins, classes_of(metric))
    assert np.all(value <= metric.bounds[1])
    assert np.allclose(value, 1.0, atol=1e-12)


@each("name", [n for n in NAMES if metrics.get(n).average != "binary"])
def test_renaming_the_classes_changes_nothing(name, random_table, rng):
    for table in many(random_table, rng):
        order = rng.permutation(len(table))
        again = evaluate(name, table[np.ix_(order, order)])
        assert np.allclose(again, evaluate(name, table), rtol=0, atol=ROUNDING, equal_nan=True)


@each("name", [n for n in NAMES if metrics.get(n).average == "binary"])
def test_a_class_keeps_its_value_under_another_number(name, random_table, rng):
    for table in many(random_table, rng):
        order = rng.permutation(len(table))
        again = evaluate(name, table[np.ix_(order, order)], one=int(np.flatnonzero(order == 1)[0]))
        assert again == pytest.approx(float(evaluate(name, table)), abs=ROUNDING)


@each("name", NAMES)
def test_counts_and_proportions_give_the_same(name, random_table, rng):
    for table in many(random_table, rng):
        again = evaluate(name, table / table.sum())
        assert np.allclose(again, evaluate(name, table), rtol=0, atol=ROUNDING, equal_nan=True)


@each("name", NAMES)
@each("scale", [1e-200, 1e200])
def test_no_product_of_weights_leaves_the_floats(name, scale, draws):
    assert np.allclose(evaluate(name, draws * scale), evaluate(name, draws), rtol=0, atol=1e-13)


@each("name", ["f1", "f1_macro", "jaccard", "jaccard_macro", "matthews_corrcoef", "cohen_kappa"])
def test_symmetric_metrics_do_not_mind_who_is_the_truth(name, random_table, rng):
    for table in many(random_table, rng):
        again = evaluate(name, table.T)
        assert np.allclose(again, evaluate(name, table), rtol=0, atol=ROUNDING, equal_nan=True)


def test_precision_is_the_recall_of_the_exchanged_table(random_table, rng):
    for table in many(random_table, rng):
        for average in ("", "_micro", "_macro"):
            assert evaluate(f"precision{average}", table) == pytest.approx(
                float(evaluate(f"recall{average}", table.T)), abs=ROUNDING
            )


def test_f1_lies_between_precision_and_recall(random_table, rng, draws):
    for table in [*many(random_table, rng), draws]:
        precision, recall, f1 = (evaluate(n, table) for n in ("precision", "recall", "f1"))
        assert np.all(f1 <= np.maximum(precision, recall) + ROUNDING)
        assert np.all(f1 >= np.minimum(precision, recall) - ROUNDING)


@each("name", ["precision_micro", "recall_micro", "f1_micro", "f2_micro", "recall_weighted"])
def test_micro_averages_over_all_classes_are_accuracy(name, random_table, rng):
    for table in many(random_table, rng):
        assert evaluate(name, table) == pytest.approx(
            float(evaluate("accuracy", table)), abs=ROUNDING
        )


def test_micro_informedness_is_accuracy_beyond_uniform_guessing(draws):
    accuracy = evaluate("accuracy", draws)
    assert np.allclose(evaluate("informedness_micro", draws), (5 * accuracy - 1) / 4, atol=ROUNDING)


def test_a_beta_near_the_ends_is_precision_or_recall(draws):
    for beta, name in ((1e-200, "precision"), (1e200, "recall")):
        metric = metrics.fbeta(beta)
        value = metric.evaluate(metrics.Margins.from_confusion(draws), [1])
        assert np.allclose(value, evaluate(name, draws), rtol=0, atol=ROUNDING)


def test_zero_over_zero_is_zero():
    nothing_of_class_1 = [[4, 0, 1], [0, 0, 0], [2, 0, 3]]
    for name in ("precision", "recall", "f1", "f2", "jaccard", "informedness"):
        assert evaluate(name, nothing_of_class_1) == 0.0
    assert evaluate("specificity", [[3]], one=0) == 0.0
    assert evaluate("matthews_corrcoef", [[3, 0], [4, 0]]) == 0.0
    assert evaluate("matthews_corrcoef", [[3, 4], [0, 0]]) == 0.0
    assert evaluate("balanced_accuracy", nothing_of_class_1) == pytest.approx((4 / 5 + 3 / 5) / 2)
    assert evaluate("f1_macro", nothing_of_class_1) == pytest.approx((8 / 11 + 0 + 6 / 9) / 3)


def test_informedness_says_nothing_where_one_side_is_missing():
    assert evaluate("informedness", [[5, 3], [0, 0]], one=1) == 0.0
    assert evaluate("informedness", [[5, 3], [0, 0]], one=0) == 0.0


def test_kappa_is_not_a_number_where_chance_cannot_disagree():
    assert np.isnan(evaluate("cohen_kappa", [[5, 0], [0, 0]]))
    assert evaluate("cohen_kappa", [[0, 5], [0, 0]]) == 0.0
    table = np.stack([[[5, 0], [0, 0]], [[5, 1], [1, 5]]], axis=-1)
    assert np.isnan(evaluate("cohen_kappa", table)).tolist() == [True, False]


@each("name", NAMES)
def test_an_empty_table_scores_nothing(name):
    value = evaluate(name, np.zeros((3, 3)))
    assert np.isnan(value) if name == "cohen_kappa" else value == 0.0


def test_weights_of_zero_leave_the_plain_mean():
    table = [[0, 0, 0], [0, 0, 0], [2, 1, 7]]
    margins = metrics.Margins.from_confusion(table)
    value = metrics.get("specificity_weighted").evaluate(margins, [0, 1])
    assert value == pytest.approx((8 / 10 + 9 / 10) / 2)


def test_weighing_differs_from_table_to_table():
    empty, full = [[0, 0], [0, 4]], [[3, 1], [0, 4]]
    margins = metrics.Margins.from_confusion(np.stack([empty, full], axis=-1))
    value = metrics.get("f1_weighted").evaluate(margins, [0])
    assert np.allclose(value, [0.0, 6 / 7], atol=ROUNDING)


def test_matthews_by_both_roads(draws):
    from outperform.metrics.confusion import _matthews_of_uneven

    margins = metrics.Margins.from_confusion(draws)
    plain = metrics.get("matthews_corrcoef").evaluate(margins)
    assert np.allclose(_matthews_of_uneven(margins), plain, rtol=0, atol=ROUNDING)


def test_matthews_of_a_constant_truth_is_zero_in_spite_of_rounding():
    hits = np.array([0.3, 0.0])
    predicted = np.array([np.nextafter(0.3, 1.0), 0.7])
    margins = metrics.Margins(hits=hits, actual=np.array([1.0, 0.0]), predicted=predicted)
    assert metrics.get("matthews_corrcoef").evaluate(margins) == 0.0


@pytest.mark.parametrize("name", ["matthews_corrcoef", "cohen_kappa"])
def test_one_uneven_table_among_even_ones_does_not_disturb_them(name, draws):
    uneven = np.zeros((5, 5, 1))
    uneven[0, 0], uneven[1, 1], uneven[0, 1] = 1e18, 5.0, 2.0
    together = evaluate(name, np.concatenate([draws, uneven], axis=-1))
    assert np.allclose(together[:-1], evaluate(name, draws), rtol=0, atol=1e-13)
    assert together[-1] == evaluate(name, uneven)[0]


def test_chosen_classes_in_any_order(draws):
    margins = metrics.Margins.from_confusion(draws)
    for name, size in itertools.product(("f1_macro", "f1_micro", "informedness_weighted"), (2, 5)):
        metric = metrics.get(name)
        there, back = np.arange(size), np.arange(size)[::-1]
        assert np.allclose(
            metric.evaluate(margins, there), metric.evaluate(margins, back), atol=ROUNDING
        )


def test_one_chosen_class_is_the_binary_value(draws):
    margins = metrics.Margins.from_confusion(draws)
    for family in ("precision", "recall", "specificity", "f1", "jaccard", "informedness"):
        binary = metrics.get(family).evaluate(margins, [2])
        for average in ("micro", "macro", "weighted"):
            value = metrics.get(f"{family}_{average}").evaluate(margins, [2])
            assert np.allclose(value, binary, rtol=0, atol=ROUNDING)
