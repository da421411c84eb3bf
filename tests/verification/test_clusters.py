"""The study of clusters: its worlds are what they say, and its gates notice what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lazily import lazily
from verification import clusters
from verification.clusters import CORRELATION, WORLDS, ClusterWorld, Hit

accuracy_score = lazily("sklearn.metrics.accuracy_score")
f1_score = lazily("sklearn.metrics.f1_score")
roc_auc_score = lazily("sklearn.metrics.roc_auc_score")

METRICS = {
    "accuracy": accuracy_score,
    "f1": f1_score,
    "f1_macro": lambda truth, found: f1_score(truth, found, average="macro"),
    "roc_auc": roc_auc_score,
}


def many(metric, sizes="even", n_clusters=20_000):
    world = ClusterWorld(n_clusters=n_clusters, sizes=sizes, metric=metric)
    return clusters.simulate(world, np.random.default_rng(0))


@pytest.mark.parametrize("metric", METRICS)
def test_the_true_difference_is_that_of_very_many_clusters(metric):
    truth, a, b, _ = many(metric)
    difference = METRICS[metric](truth, a) - METRICS[metric](truth, b)
    # The sd of such a difference is about 0.5 / √20,000; this is four of them.
    assert clusters.truth_of(metric) == pytest.approx(difference, abs=0.014)


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro", "roc_auc"])
def test_answers_in_a_cluster_are_correlated_as_they_should_be(metric):
    truth, a, b, cluster = many(metric)
    for found in (a, b):
        good = np.where(truth, found, -found) if metric == "roc_auc" else found == truth
        pairs = good.reshape(-1, 20)[:, :2].astype(float)
        assert np.corrcoef(pairs.T)[0, 1] == pytest.approx(CORRELATION, abs=0.03)
    assert np.bincount(cluster).tolist() == [20] * 20_000


def test_uneven_clusters_are_twenty_on_average():
    *_, cluster = many("accuracy", sizes="uneven")
    sizes = np.bincount(cluster)
    assert sizes.mean() == pytest.approx(20, abs=0.6)
    assert sizes.std() == pytest.approx(19.5, abs=1)


def test_what_is_promised_is_among_the_worlds():
    gated = [world for world in WORLDS if world.n_clusters == clusters.GATED]
    assert {(world.metric, world.sizes) for world in gated} == {
        (metric, sizes) for metric in METRICS for sizes in ("even", "uneven")
    }
    assert {world.n_clusters for world in WORLDS} == {10, 20, 50, 100}
    assert len(set(WORLDS)) == len(WORLDS)


def hits(held, ignoring, few=True):
    return [Hit(place < 20 * held, place < 20 * ignoring, few) for place in range(2_000)]


def test_what_covers_too_rarely_fails():
    even, uneven = (next(one for one in WORLDS if one.sizes == sizes) for sizes in clusters.LEAST)
    assert clusters.failures({even: hits(92, 69), uneven: hits(89, 69)}) == []
    assert "89.0% covered" in clusters.failures({even: hits(89, 60)})[0]
    assert "86.0% covered" in clusters.failures({uneven: hits(86, 60)})[0]
    assert "74.0% covered without groups" in clusters.failures({even: hits(95, 74)})[0]
    few = next(one for one in WORLDS if one.n_clusters == 20)
    assert clusters.failures({few: hits(80, 80)}) == []
    assert "was not always raised" in clusters.failures({few: hits(95, 50, few=False)})[0]
    assert "| 92.0 ± 0.6 | 69.0 ± 1.0 | 100.0 |" in clusters.table({even: hits(92, 69)})


def test_a_repetition_does_not_depend_on_those_before_it():
    world = WORLDS[-1]
    assert clusters.repeat(world, 0, 3)[2] == clusters.repeat(world, 2, 3)[0]


def test_scores_are_not_always_asked_without_groups():
    world = next(one for one in WORLDS if one.metric == "roc_auc")
    (late,) = clusters.repeat(world, 500, 501)
    assert late.held_ignoring is None
    assert all(one.ignores(500) for one in WORLDS if one.metric != "roc_auc")
    found = {world: [*hits(95, 60), late]}
    assert clusters.failures(found) == []
    assert " | 60.0 ± 1.1 |" in clusters.table(found)  # of two thousand


@pytest.mark.slow
@pytest.mark.parametrize("sizes", clusters.LEAST)
def test_intervals_hold_the_truth_only_with_groups(sizes):
    world = ClusterWorld(n_clusters=50, sizes=sizes, metric="accuracy")
    found = clusters.repeat(world, 0, 400)
    # Four standard errors of 400 repetitions beyond the gates.
    assert np.mean([hit.held for hit in found]) > clusters.LEAST[sizes] - 0.06
    assert np.mean([hit.held_ignoring for hit in found]) < 0.6
