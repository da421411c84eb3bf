"""Levels in order: weighted kappa and the mean absolute error against scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import outperform as op
from outperform import metrics
from outperform.errors import UsageError
from tests.lazily import lazily
from tests.loops import each

cohen_kappa_score = lazily("sklearn.metrics.cohen_kappa_score")
confusion_matrix = lazily("sklearn.metrics.confusion_matrix")
mean_absolute_error = lazily("sklearn.metrics.mean_absolute_error")


def levels(n=300, k=5, seed=0):
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, k, n)
    a, b = (
        np.clip(truth + generator.integers(-1, 2, n) * (generator.random(n) < share), 0, k - 1)
        for share in (0.4, 0.8)
    )
    return truth, a, b


@each("weights", ["linear", "quadratic"])
@each("k", [2, 3, 7])
def test_weighted_kappa_is_scikit_learns_by_any_weights(weights, k):
    truth, a, _ = levels(200, k)
    metric = metrics.cohen_kappa(weights=weights)
    for sample_weight in (np.ones(200), np.random.default_rng(1).exponential(size=200)):
        expected = cohen_kappa_score(truth, a, weights=weights, sample_weight=sample_weight)
        table = confusion_matrix(truth, a, sample_weight=sample_weight)
        assert float(metric.evaluate(table)) == pytest.approx(expected, abs=1e-12)


def test_all_tables_at_once_are_each_table_alone():
    tables = np.random.default_rng(0).exponential(size=(4, 4, 6))
    for name in ("cohen_kappa_linear", "cohen_kappa_quadratic", "ordinal_mae"):
        metric = metrics.get(name)
        apart = [float(metric.evaluate(tables[:, :, place])) for place in range(6)]
        assert metric.evaluate(tables) == pytest.approx(apart, abs=1e-14)


def test_the_mean_error_of_levels_is_scikit_learns():
    truth, a, b = levels()
    c = op.compare(truth, a, b, metric="ordinal_mae", rope=0.05, n_draws=500, random_state=0)
    assert c.a.observed == pytest.approx(mean_absolute_error(truth, a), abs=1e-12)
    assert c.decision.name == "BETTER"  # less is better
    assert c.mean < 0
    with pytest.raises(UsageError, match="rope"):
        op.compare(truth, a, b, metric="ordinal_mae")


@pytest.mark.parametrize("prior", [None, "bootstrap"])
@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_comparisons_take_weighted_kappa(weights, prior):
    truth, a, b = levels()
    metric = metrics.cohen_kappa(weights=weights)
    asked = {"rope": 0.01, "prior": prior, "n_draws": 1_000, "random_state": 0}
    c = op.compare(truth, a, b, metric=metric, **asked)
    assert c.b.observed == pytest.approx(cohen_kappa_score(truth, b, weights=weights), abs=1e-12)
    assert c.hdi.low < c.observed < c.hdi.high
    again = op.compare(truth, a, b, metric=metric.name, **asked)
    assert np.array_equal(again.draws, c.draws)
    if prior == "bootstrap":  # with no prior mass, the posterior mean is close to the plug-in
        assert c.mean == pytest.approx(c.observed, abs=4 * c.mcse + 2 / 300)


def test_text_has_no_order_of_its_own():
    words = np.array(["bad", "fair", "good"])
    truth, a, b = (words[one] for one in levels(100, 3))
    asked = {"metric": "cohen_kappa_linear", "rope": 0.01, "n_draws": 200}
    with pytest.raises(UsageError, match="only alphabetical order; list"):
        op.compare(truth, a, b, **asked)
    c = op.compare(truth, a, b, labels=["bad", "fair", "good"], **asked)
    expected = cohen_kappa_score(truth, a, weights="linear", labels=["bad", "fair", "good"])
    assert c.a.observed == pytest.approx(expected, abs=1e-12)
    turned = op.compare(truth, a, b, labels=["fair", "good", "bad"], **asked)
    expected = cohen_kappa_score(truth, a, weights="linear", labels=["fair", "good", "bad"])
    assert turned.a.observed == pytest.approx(expected, abs=1e-12)
    assert abs(turned.a.observed - c.a.observed) > 0.01
    with pytest.raises(UsageError, match="missing: 'good'"):
        op.compare(truth, a, b, labels=["bad", "fair"], **asked)


def test_names_and_objects_are_the_same_and_values():
    for weights in ("linear", "quadratic"):
        metric = metrics.cohen_kappa(weights=weights)
        assert metrics.get(f"cohen_kappa_{weights}") is metric
        assert pickle.loads(pickle.dumps(metric)) == metric
        metrics.check_name(metric.name)
    with pytest.raises(UsageError, match="unknown weights 'cubic'"):
        metrics.cohen_kappa(weights="cubic")
