from __future__ import annotations

import dataclasses
import pickle
import re

import numpy as np
import pytest

from outperform import metrics
from outperform.errors import UsageError
from outperform.metrics.metric import Averaged
from tests.loops import each

MARGINS = metrics.Margins.from_confusion([[8, 2, 0], [1, 5, 4], [0, 3, 7]])
ALL = [*map(metrics.get, metrics.names()), metrics.fbeta(2, average="macro")]


def error_rate(confusion):
    return 1 - np.trace(confusion) / confusion.sum()


@each("metric", [*ALL, metrics.from_function(error_rate)], ids=lambda m: m.name)
def test_a_metric_is_a_value(metric):
    again = pickle.loads(pickle.dumps(metric))
    assert again == metric
    assert hash(again) == hash(metric)
    assert {metric: 1}[again] == 1
    assert dataclasses.replace(metric) == metric


def test_metrics_differ_from_each_other():
    assert len(set(ALL)) == len(ALL)
    assert metrics.fbeta(2) != metrics.fbeta(3)
    assert metrics.from_function(error_rate) != metrics.from_function(error_rate, vectorized=True)


def test_a_metric_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        metrics.get("f1").name = "mine"


def test_labels_are_words_for_people():
    words = {name: metrics.get(name).label for name in metrics.names()}
    assert words["f1_macro"] == "macro-averaged F1"
    assert words["jaccard_weighted"] == "prevalence-weighted Jaccard index"
    assert metrics.fbeta(0.5, average="micro").label == "micro-averaged F0.5"
    assert len(set(words.values())) == len(words)
    assert not any("_" in word for word in words.values())


def test_what_a_metric_needs():
    assert {metric.needs for metric in ALL} == {"margins"}
    assert metrics.from_function(error_rate).needs == "confusion"


def test_all_metrics_of_the_table_rise_with_quality():
    perfect = metrics.Margins.from_confusion(np.diag([3, 4, 5]))
    wrong = metrics.Margins.from_confusion(np.roll(np.diag([4, 4, 4]), 1, axis=0))
    for metric in ALL:
        classes = [0] if metric.average == "binary" else None
        assert metric.greater_is_better
        assert metric.evaluate(perfect, classes) == metric.bounds[1] == 1.0
        assert metric.evaluate(wrong, classes) < 0.6


@each("name", ["f1", "recall", "f2"])
@each("classes", [None, [0, 1], [0, 1, 2]])
def test_a_binary_metric_needs_one_class(name, classes):
    message = f"{name} is computed for a single class: .*exactly one.*{name}_macro"
    with pytest.raises(UsageError, match=message):
        metrics.get(name).evaluate(MARGINS, classes)


@each(
    ("classes", "message"),
    [
        ([], "at least one"),
        ([[0]], "list of class numbers"),
        (0, "list of class numbers"),
        ([0.0], "list of class numbers"),
        ([True, False, True], "list of class numbers"),
        (["a"], "list of class numbers"),
        ([3], "between 0 and 2 in a table of 3 classes; got [3]"),
        ([-1], "between 0 and 2"),
        ([1, 1], "must be distinct; got [1, 1]"),
    ],
)
def test_classes_must_be_distinct_numbers_of_classes(classes, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        metrics.get("f1_macro").evaluate(MARGINS, classes)


@pytest.mark.parametrize("classes", [[1], [0, 2], None])
def test_balanced_accuracy_is_the_mean_recall_of_the_chosen_classes(classes):
    recalls = metrics.get("recall_macro").evaluate(MARGINS, classes)
    assert metrics.get("balanced_accuracy").evaluate(MARGINS, classes) == pytest.approx(recalls)


@each("name", ["accuracy", "matthews_corrcoef", "cohen_kappa"])
@each("classes", [[1], [0, 1]])
def test_a_score_of_the_whole_table_takes_no_choice_of_classes(name, classes):
    with pytest.raises(UsageError, match=f"{name} uses the entire table"):
        metrics.get(name).evaluate(MARGINS, classes)


def test_all_classes_are_no_choice():
    accuracy = metrics.get("accuracy")
    assert accuracy.evaluate(MARGINS, np.array([2, 0, 1])) == accuracy.evaluate(MARGINS)
    f1 = metrics.get("f1_macro")
    assert f1.evaluate(MARGINS, np.array([2, 0, 1])) == f1.evaluate(MARGINS)


def test_margins_and_confusion_arrays_are_told_apart():
    with pytest.raises(UsageError, match=r"f1_macro is evaluated on Margins.*from_confusion"):
        metrics.get("f1_macro").evaluate(np.eye(2))
    with pytest.raises(UsageError, match="error_rate needs the confusion array"):
        metrics.from_function(error_rate).evaluate(MARGINS)


@each(
    ("fields", "message"),
    [
        ({"score": "accuracy", "average": "mean"}, "unknown average 'mean'"),
        ({"score": "acuracy"}, "unknown score 'acuracy'; did you mean 'accuracy'?"),
        ({"score": "recall"}, "unknown score 'recall'"),
        ({"score": "accuracy", "average": "macro"}, "unknown score 'accuracy'"),
        ({"score": "fbeta", "average": "macro"}, "beta is required"),
        ({"score": "recall", "average": "macro", "beta": 2.0}, "beta is required"),
    ],
)
def test_a_metric_that_cannot_be_is_refused(fields, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        Averaged(**fields)


@pytest.mark.parametrize("bounds", [(1.0, 0.0), (float("nan"), 0.0)])
def test_bounds_are_a_lower_and_an_upper_value(bounds):
    with pytest.raises(UsageError, match="bounds must be"):
        dataclasses.replace(metrics.get("accuracy"), bounds=bounds)


def test_which_items_a_metric_lets_be_merged():
    every = {name: metrics.get(name) for name in (*metrics.names(), *metrics.score_names())}
    never = [name for name, metric in every.items() if metric.merge == "never"]
    assert never == ["ece_debiased"]
    assert metrics.brier_part("reliability", debiased=True).merge == "never"
    assert metrics.from_score_function(lambda y, s, w: 0.0).merge == "never"
    assert {name for name, metric in every.items() if metric.merge == "rows"} == {
        name for name, metric in every.items() if isinstance(metric.how, metrics.Order)
    } - {"ece_debiased"}
