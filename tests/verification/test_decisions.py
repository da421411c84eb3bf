"""The study of decisions: its populations, its tests, and that wrong decisions fail it."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import nhst
from tests.lazily import lazily
from tests.loops import each
from verification import decisions
from verification.decisions import Decided, DecisionWorld

permutation_test = lazily("scipy.stats.permutation_test")
ttest_rel = lazily("scipy.stats.ttest_rel")
reference = lazily("sklearn.metrics")

Y, A, B = decisions.CELLS.T
SCORES = {"accuracy": reference.accuracy_score, "f1": reference.f1_score}


@each("world", decisions.WORLDS, ids=lambda world: world.name)
def test_the_population_has_the_true_difference(world):
    shares = decisions.population(world)
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)
    score = SCORES[world.metric]
    apart = score(Y, A, sample_weight=shares) - score(Y, B, sample_weight=shares)
    assert apart == pytest.approx(world.truth, abs=1e-9)
    if world.metric == "accuracy":
        assert decisions.discordance_of(world) == pytest.approx(world.discordance)


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_differences_are_those_of_scikit_learn(metric):
    counts = np.array([[30, 4, 7, 2, 1, 6, 3, 9], [5, 0, 1, 0, 0, 2, 0, 3]], dtype=float)
    score = SCORES[metric]
    expected = [score(Y, A, sample_weight=n) - score(Y, B, sample_weight=n) for n in counts]
    assert decisions.difference(counts, metric) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_the_permutation_test_is_that_of_scipy(metric):
    counts = np.array([20, 2, 5, 3, 2, 3, 8, 15])
    y, a, b = (np.repeat(one, counts) for one in (Y, A, B))

    def score(said, axis):
        right = (said == y).sum(axis=axis)
        hits = (said & y).sum(axis=axis)
        return right / y.size if metric == "accuracy" else hits / (hits + (y.size - right) / 2)

    expected = permutation_test(
        (a, b),
        lambda one, two, axis: score(one, axis) - score(two, axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=1_000,
        rng=np.random.default_rng(2),
    ).pvalue
    found = decisions.permutation_p(counts, metric, np.random.default_rng(1))
    # Two shares of 1,000 shuffles each.
    assert found == pytest.approx(expected, abs=4 * np.sqrt(2 * expected * (1 - expected) / 1_000))


@pytest.mark.parametrize("wins", [3, 9, 13])
def test_the_tests_of_accuracy_are_those_of_the_field(wins):
    counts = np.array([30, 5, wins - 2, 4, 3, 0, 2, 40])
    a, b = (np.repeat(one == Y, counts) for one in (A, B))
    exact = nhst.mcnemar(int((a & ~b).sum()), int((b & ~a).sum())).p_value
    expected = [exact <= 0.05, ttest_rel(a.astype(int), b.astype(int)).pvalue <= 0.05]
    assert decisions.tests_of_accuracy(counts) == expected


def test_test_sets_without_disagreement_reject_nothing():
    assert decisions.tests_of_accuracy(np.array([50, 0, 0, 0, 0, 0, 0, 50])) == [False, False]


def test_decisions_that_are_wrong_too_often_fail():
    edge = DecisionWorld(metric="accuracy", n=1_000, truth=0.02, discordance=0.2)
    equal = DecisionWorld(metric="f1", n=1_000, truth=0.0)

    def made(world, symbol, n_wrong, n_rejected=50):
        return {
            world: [
                Decided(symbol if k < n_wrong else ">", (k < n_rejected, None, None, False, False))
                for k in range(1_000)
            ]
        }

    assert decisions.failures(made(edge, "≈", 30) | made(equal, "≫", 10)) == []
    assert "false ≈" in decisions.failures(made(edge, "≈", 80))[0]
    assert "false ≫" in decisions.failures(made(equal, "≫", 25))[0]
    assert decisions.failures(made(equal, "≈", 900)) == []
    assert "HDI without 0" in decisions.failures(made(equal, "≈", 0, n_rejected=120))[0]
    beyond = DecisionWorld(metric="accuracy", n=1_000, truth=0.04, discordance=0.2)
    assert decisions.failures(made(beyond, "≫", 900)) == []
    assert "false ≪" in decisions.failures(made(beyond, "≪", 80))[0]
    # So few items differ that nothing is promised.
    sparse = DecisionWorld(metric="accuracy", n=100, truth=0.02, discordance=0.06)
    assert decisions.failures(made(sparse, "≈", 500)) == []


def test_the_table_has_a_row_for_each_world():
    world = decisions.WORLDS[-1]
    found = decisions.repeat(world, 0, 3)
    assert decisions.repeat(world, 1, 3) == found[1:]
    text = decisions.table({world: found})
    assert "| f1 | 5,000 | 5% | +0.04 |" in text
    assert "3 test sets a row" in text
    assert "errors are 28.9 at most, and 10.6 near 3.5%" in text  # √(p (1 − p) / 3)
