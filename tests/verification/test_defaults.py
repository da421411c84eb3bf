"""The study of the default prior: its populations, its metrics, its tables."""

from __future__ import annotations

import numpy as np
import pytest

from outperform.posterior.base import Sums
from tests.lazily import lazily
from verification import defaults

sk = lazily("sklearn.metrics")


@pytest.mark.parametrize("world", [defaults.WORLDS[0], defaults.WORLDS[9], defaults.WORLDS[35]])
def test_true_values_are_those_of_very_many_items(world):
    n = 200_000
    many = defaults.replace(world, n=n)
    columns = defaults.draw_items(many, 3, np.random.default_rng(world.n_classes))
    truth = defaults.true_values(world, 3)
    for model in (0, 1):
        y, predicted = columns[0], columns[1 + model]
        seen = [
            sk.accuracy_score(y, predicted),
            sk.balanced_accuracy_score(y, predicted),
            sk.f1_score(y, predicted, average="macro"),
            sk.matthews_corrcoef(y, predicted),
        ]
        # The least class has 1 / (M H_M) of the items: a few hundred.
        assert seen == pytest.approx(truth[model], abs=0.02)


def test_metrics_of_margins_are_scikit_learns():
    rng = np.random.default_rng(1)
    y, predicted = rng.integers(0, 4, (2, 300))
    confusion = sk.confusion_matrix(y, predicted).astype(float)
    sums = Sums(
        *(
            one[:, None]
            for one in (np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0))
        )
    )
    expected = [
        sk.accuracy_score(y, predicted),
        sk.balanced_accuracy_score(y, predicted),
        sk.f1_score(y, predicted, average="macro"),
        sk.matthews_corrcoef(y, predicted),
    ]
    assert defaults.values_of(sums)[:, 0] == pytest.approx(expected)


def test_a_world_that_never_covers_fails():
    world = defaults.WORLDS[9]
    held = defaults.repeat(world, 0, 2)
    tables = defaults.tables({world: held})
    assert set(tables) == {"defaults_differences.md", "defaults_levels.md", "guards.md"}
    assert world.name in tables["defaults_levels.md"]
    zero = np.zeros(len(defaults.METRICS))
    never = [defaults.replace(one, differences=zero, levels=zero) for one in held] * 20
    assert len(defaults.failures({world: never})) >= 8


def test_a_guard_is_counted_where_coverage_is_poor_and_where_it_is_good():
    def held(difference, raised):
        names = frozenset({"prior_pull"} if raised else ())
        answer = defaults.Answer(difference, True, 0.0, 0.0, names, raised)
        zero = np.zeros(len(defaults.METRICS))
        return defaults.Held(zero, zero, {"learned": answer, "percentile": answer})

    poor, good = defaults.WORLDS[:2]
    found = {
        poor: [held(False, raised) for raised in (True, True, True, False)],
        good: [held(True, raised) for raised in (True, False)],
    }
    assert defaults.guarded(found, "prior_pull", "difference") == ([0.75], [0.5])
    assert defaults.guarded(found, "prior_pull", "level") == ([], [0.75, 0.5])
    assert (
        "| `prior_pull` | difference | 1 | 75.0 | 1 | 50.0 |" in defaults.tables(found)["guards.md"]
    )
