from __future__ import annotations

import math
import re

import numpy as np
import pytest

from outperform import metrics
from outperform.errors import UsageError
from tests.loops import each


def test_every_name_gives_the_metric_of_that_name():
    names = metrics.names()
    assert len(names) == len(set(names)) == 28
    for name in names:
        assert metrics.get(name).name == name
        assert metrics.get(metrics.get(name)) is metrics.get(name)


def test_the_list_of_names_is_a_copy():
    metrics.names().clear()
    assert metrics.names()


@each("average", ["binary", "micro", "macro", "weighted"])
@each("beta", [0.5, 1, 1.0, 2, 0.1234567890123, 1e-5, 1e22, np.float64(3), 10])
def test_f_beta_is_found_again_by_its_name(beta, average):
    metric = metrics.fbeta(beta, average=average)
    assert metrics.get(metric.name) == metric
    assert metric.beta == beta
    assert type(metric.beta) is float


def test_names_of_f_beta():
    assert metrics.fbeta(1) == metrics.get("f1")
    assert (
        metrics.fbeta(1.0, average="macro") == metrics.get("f1_macro") == metrics.get("f1.0_macro")
    )
    assert metrics.fbeta(2, average="macro").name == "f2_macro"
    assert metrics.fbeta(0.5).name == "f0.5"
    assert metrics.fbeta(0.5).label == "F0.5"


@each("beta", [0, -1, math.inf, math.nan, "2", None, True, 1j])
def test_beta_must_be_a_positive_number(beta):
    with pytest.raises(UsageError, match="beta must be a positive number; got"):
        metrics.fbeta(beta)


@pytest.mark.parametrize("average", ["sample", "marco", None])
def test_f_beta_knows_its_averages(average):
    with pytest.raises(UsageError, match=f"unknown average '{average}'"):
        metrics.fbeta(2, average=average)


@each(
    ("name", "hint"),
    [
        ("f1macro", "did you mean 'f1_macro'?"),
        ("acuracy", "did you mean 'accuracy'?"),
        ("mathews_corrcoef", "did you mean 'matthews_corrcoef'?"),
        ("f1_example", "unknown metric 'f1_example'"),
        ("f0", "unknown metric 'f0'"),
        ("f1e999", "unknown metric 'f1e999'"),
        ("f2_binary", "unknown metric 'f2_binary'"),
        ("f-1", "unknown metric 'f-1'"),
        ("", "unknown metric ''"),
        ("zzz", "Known: accuracy, balanced_accuracy"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(name, hint):
    with pytest.raises(UsageError, match=re.escape(hint)):
        metrics.get(name)


@pytest.mark.parametrize("metric", [3, None, ["f1"]])
def test_a_metric_is_a_name_a_metric_or_a_function(metric):
    with pytest.raises(UsageError, match="a metric must be a name, a Metric or a function"):
        metrics.get(metric)


def test_a_callable_is_wrapped():
    assert metrics.get(np.trace) == metrics.from_function(np.trace)
    assert metrics.get(np.trace).evaluate([[1, 2], [3, 4]]) == 5.0


def test_functions_of_labels_are_pointed_to_their_names():
    from sklearn.metrics import f1_score, make_scorer

    for function in (f1_score, make_scorer(f1_score)):
        with pytest.raises(UsageError, match=r"takes labels, not a confusion array.*f1_macro"):
            metrics.from_function(function)


def test_what_is_not_a_function_cannot_become_a_metric():
    with pytest.raises(UsageError, match="must be a function of a confusion array; got str"):
        metrics.from_function("f1")
