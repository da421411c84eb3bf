"""The table of metrics of scores, and functions of one's own."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from outperform import metrics
from outperform.errors import UsageError
from outperform.metrics.custom import Called
from outperform.metrics.registry import get_labels
from outperform.metrics.weighted import Units
from tests.loops import each


def test_names_are_found_and_misspelt_ones_get_a_hint():
    assert metrics.get_score("roc_auc") is metrics.get_score("roc_auc")
    with pytest.raises(UsageError, match="did you mean 'roc_auc'"):
        metrics.get_score("rocauc")
    with pytest.raises(UsageError, match="a name, a Metric or a function"):
        metrics.get_score(3)


@each("name", metrics.score_names())
def test_they_are_no_metrics_of_labels(name):
    assert metrics.get(name) is metrics.get_score(name)
    with pytest.raises(UsageError, match="is computed from scores"):
        get_labels(name)
    with pytest.raises(UsageError, match="not from a table of counts"):
        metrics.get(name).evaluate(np.eye(2))


@each("name", metrics.score_names())
def test_metrics_are_values(name):
    metric = metrics.get_score(name)
    assert pickle.loads(pickle.dumps(metric)) == metric
    assert metrics.is_of_scores(metric)
    assert name not in metrics.names()
    losses = "log_loss brier_score mean_cost p50 p90 p95 p99 mae mse rmse poisson_deviance"
    loss = name in (*losses.split(), "wer", "cer", "ter", "brier_reliability")
    loss |= name.startswith("ece")
    assert metric.greater_is_better != loss


def test_a_function_of_three_arguments_reads_scores_and_one_of_a_table_does_not():
    assert metrics.is_of_scores(lambda y_true, score, weight: 0.0)
    assert metrics.is_of_scores(lambda y_true, score, weight, beta=2: 0.0)
    assert not metrics.is_of_scores(np.trace)
    assert not metrics.is_of_scores(lambda confusion: 0.0)
    assert not metrics.is_of_scores(dict)
    assert not metrics.is_of_scores(None)


def test_bounds_of_a_function_are_checked():
    for bounds in ((1, 0), "x", (1,)):
        with pytest.raises(UsageError, match="bounds must be"):
            metrics.from_score_function(lambda y, s, w: 0.0, bounds=bounds)
    with pytest.raises(UsageError, match="must be a function"):
        metrics.from_score_function(3)


def called(function, **more):
    given = {"truth": np.array([1, 0]), "score": np.array([0.2, 0.4]), "units": Units(2)}
    return Called(name="own", function=function, bounds=(0.0, 1.0), **(given | more)).worker()


def test_a_function_gets_weights_that_add_up_to_the_items():
    seen = []
    called(lambda y, s, w: float(seen.append(w) is None))(np.array([[1.0, 3.0], [2.0, 2.0]]))
    assert [weight.tolist() for weight in seen] == [[0.5, 1.5], [1.0, 1.0]]


def test_a_function_may_change_its_weights_but_not_the_data():
    def greedy(y, s, w):
        w *= 0
        return 0.5

    weights = np.ones((1, 2))
    assert called(greedy)(weights) == [0.5]
    assert weights.tolist() == [[1.0, 1.0]]
    with pytest.raises(ValueError, match="read-only"):
        called(lambda y, s, w: s.fill(0))(weights)


@pytest.mark.parametrize("answer", [np.nan, None, "x", np.ones(2)])
def test_a_function_must_return_a_number(answer):
    with pytest.raises(UsageError, match="must return one number"):
        called(lambda y, s, w: answer)(np.ones((1, 2)))


def test_a_function_must_keep_its_bounds():
    with pytest.raises(UsageError, match="within its bounds"):
        called(lambda y, s, w: 2.0)(np.ones((1, 2)))
