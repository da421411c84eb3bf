"""Costs: a mean over the cells of a table, aligned with the classes, like any other metric."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from outperform import metrics
from outperform.errors import UsageError
from outperform.metrics.custom import Costs
from tests.loops import each

PAIRS = {("fraud", "ok"): 100, ("ok", "fraud"): 5}


def test_it_is_the_mean_cost_of_an_item():
    rng = np.random.default_rng(0)
    matrix, tables = rng.normal(size=(4, 4)), rng.random((4, 4, 7))
    metric = metrics.cost(matrix)
    assert metric.needs == "confusion"
    by_hand = [(tables[:, :, i] * matrix).sum() / tables[:, :, i].sum() for i in range(7)]
    assert np.allclose(metric.evaluate(tables), by_hand, rtol=0, atol=1e-14)
    assert metric.evaluate(100 * tables) == pytest.approx(metric.evaluate(tables), abs=1e-13)


def test_errors_cost_one_each():
    confusion = np.array([[6.0, 2.0], [1.0, 7.0]])
    wrong = metrics.cost(1 - np.eye(2)).evaluate(confusion)
    right = metrics.get("accuracy").evaluate(metrics.Margins.from_confusion(confusion))
    assert float(wrong) == pytest.approx(1 - float(right), abs=1e-15)


def test_it_is_a_value_like_any_metric():
    one, same = (
        metrics.cost(PAIRS, unit="EUR"),
        metrics.cost(dict(reversed(PAIRS.items())), unit="EUR"),
    )
    assert one == same
    assert (
        len({one, same, metrics.cost(PAIRS, unit="USD"), metrics.utility(PAIRS, unit="EUR")}) == 3
    )
    assert pickle.loads(pickle.dumps(one)) == one
    assert metrics.get(one) is one
    assert one.costs.unit == "EUR"
    assert metrics.get("f1").costs is None


def test_bounds_are_those_of_the_matrix():
    assert metrics.cost([[0, 3], [-2, 1]]).bounds == (-2.0, 3.0)
    assert metrics.cost({("a", "b"): 7}).bounds == (0.0, 7.0)
    assert metrics.cost({("a", "b"): -7}).bounds == (-7.0, 0.0)
    huge = metrics.cost([[0, 1e12], [3e12, 0]])
    assert huge.evaluate(np.array([[0.0, 0.0], [0.1, 0.0]])) == 3e12


def test_words_have_the_unit():
    assert metrics.cost(PAIRS, unit="EUR").label == "cost (EUR per item)"
    assert metrics.utility(PAIRS, name="profit").label == "profit per item"
    assert metrics.utility(PAIRS).greater_is_better
    assert not metrics.cost(PAIRS).greater_is_better


def test_a_matrix_follows_its_labels():
    given = Costs.from_param([[0, 1, 2], [3, 0, 4], [5, 6, 0]], labels=["c", "a", "b"])
    found = given.aligned(("a", "b", "c"))
    assert found.labels == ("a", "b", "c")
    assert found.matrix == ((0, 4, 3), (6, 0, 5), (1, 2, 0))
    assert Costs.from_param([[0, 1], [2, 0]]).aligned(("x", "y")).matrix == ((0, 1), (2, 0))
    of_numpy = Costs.from_param([[0, 1], [2, 0]], labels=np.array([1, 0]))
    assert of_numpy.aligned((0, 1)).matrix == ((0, 2), (1, 0))


@pytest.mark.parametrize(
    ("costs", "labels", "words"),
    [
        (Costs.from_param(1 - np.eye(3)), ("a", "b"), "3×3, but there are 2 classes.*'a' and 'b'"),
        (Costs.from_param(1 - np.eye(2), labels="ab"), ("a", "z"), "the data also have 'z'"),
        (Costs.from_param(PAIRS), ("fraud", "good"), "unknown class 'ok'.*labels="),
        (Costs.from_param(1 - np.eye(2), labels=[0, 1]), (False, True), "also have False and True"),
    ],
)
def test_what_does_not_fit_the_classes_is_refused(costs, labels, words):
    with pytest.raises(UsageError, match=words):
        costs.aligned(labels)


@each(
    ("costs", "options", "words"),
    [
        ([[1, 2, 3], [4, 5, 6]], {}, r"square matrix.*\(2, 3\)"),
        ([[1]], {}, "square matrix"),
        ("cheap", {}, "square matrix of numbers"),
        ([[0, np.nan], [1, 0]], {}, "finite"),
        ([[2, 2], [2, 2]], {}, "equal"),
        ({}, {}, "equal"),
        ({"fraud": 3}, {}, r"by \(truth, prediction\)"),
        ({("a", "b"): "much"}, {}, "must be a number"),
        ({("a", "b"): np.inf}, {}, "finite"),
        (PAIRS, {"labels": ["fraud", "ok"]}, "remove labels="),
        ([[0, 1], [1, 0]], {"labels": ["x"]}, "different labels; got"),
        ([[0, 1], [1, 0]], {"labels": ["x", "x"]}, "different labels; got"),
        ([[0, 1], [1, 0]], {"unit": 3}, "unit must be text"),
        ([[0, 1], [1, 0]], {"unit": " "}, "unit must be text"),
    ],
)
def test_what_is_no_cost_is_refused(costs, options, words):
    with pytest.raises(UsageError, match=words):
        metrics.cost(costs, **options)
