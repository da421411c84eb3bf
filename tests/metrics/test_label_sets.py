"""Metrics of label sets: a value for each item."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from outperform import metrics
from outperform.errors import UsageError
from outperform.metrics.metric import Averaged
from tests.loops import each

# An item with two labels of which one is found, beside a false alarm; one without any.
SIZES = metrics.Margins(hits=[1, 0, 0, 2], actual=[2, 0, 1, 2], predicted=[2, 0, 0, 2])
BY_HAND = {
    "f1_samples": [0.5, 0, 0, 1],
    "precision_samples": [0.5, 0, 0, 1],
    "recall_samples": [0.5, 0, 0, 1],
    "jaccard_samples": [1 / 3, 0, 0, 1],
    "hamming_loss": [0.5, 0, 0.25, 0],
}


def test_values_by_hand():
    assert list(BY_HAND) == metrics.set_names()
    for name, wanted in BY_HAND.items():
        found = metrics.get(name).of_items(SIZES, n_labels=4)
        assert found == pytest.approx(wanted), name
    two = metrics.get("f2_samples").of_items(SIZES, n_labels=4)
    assert two == pytest.approx([0.5, 0, 0, 1])


@each("name", metrics.set_names())
def test_each_is_a_value_of_its_own(name):
    metric = metrics.get(name)
    assert metric == pickle.loads(pickle.dumps(metric))
    assert metric.name == name
    assert metric.per_item
    assert metric.bounds == (0.0, 1.0)
    assert metric.greater_is_better == (name != "hamming_loss")
    assert metric.how.parts is None
    assert name not in metrics.names()
    with pytest.raises(UsageError, match="several labels"):
        metric.evaluate(SIZES)


def test_names_and_their_kin():
    assert metrics.fbeta(2, average="samples") == metrics.get("f2_samples")
    assert metrics.get("f0.5_samples").label == "samples-averaged F0.5"
    assert not metrics.get("f1_macro").per_item
    with pytest.raises(UsageError, match="not a mean over items"):
        metrics.get("f1_macro").of_items(SIZES, n_labels=4)
    with pytest.raises(UsageError, match="did you mean 'f1_samples'"):
        metrics.get("f1_sample")
    with pytest.raises(UsageError, match="unknown score 'specificity'"):
        Averaged("specificity", "samples")
    assert np.isfinite(metrics.get("f1_samples").of_items(SIZES, n_labels=1)).all()
