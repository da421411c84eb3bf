"""The study of weights: its worlds are what they say, and its gates notice what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.lazily import lazily
from verification import weights
from verification.weights import WORLDS, Held, WeightWorld

accuracy_score = lazily("sklearn.metrics.accuracy_score")
f1_score = lazily("sklearn.metrics.f1_score")


@pytest.mark.parametrize(("metric", "function"), [("f1", f1_score), ("accuracy", accuracy_score)])
@pytest.mark.parametrize("group", [1, 4])
def test_the_true_difference_is_that_of_very_many_weighted_items(metric, function, group):
    world = WeightWorld(metric=metric, n=400_000, slant=3.0, group=group)
    truth, (a, b), weight, _ = weights.simulate(world, np.random.default_rng(0))
    seen = [function(truth, one, sample_weight=weight) for one in (a, b)]
    # The sd of such a difference is about 0.7 / √(effective groups); this is five of them.
    slack = 5 * 0.7 / np.sqrt(400_000 / group / 2)
    assert weights.truth_of(world) == pytest.approx(seen[0] - seen[1], abs=slack)
    assert weight.mean() == pytest.approx(1, abs=0.02)


def test_what_does_not_hold_is_named():
    def found(importance, frequency):
        n = 2_000
        rows = [(place < importance * n, place < frequency * n, False) for place in range(n)]
        return {WORLDS[0]: [Held(200.0, row, (0.1, 0.1, 0.1)) for row in rows]}

    assert weights.failures(found(0.95, 0.60)) == []
    assert "89.0% covered by importance" in weights.failures(found(0.89, 0.60))[0]
    assert "93.0% covered as frequencies" in weights.failures(found(0.95, 0.93))[0]
    assert "| 95.0 ± 0.5 | 60.0 ± 1.1 | 0.0 ± 0.0 |" in weights.table(found(0.95, 0.60))


def test_a_repetition_does_not_depend_on_those_before_it():
    world = WORLDS[0]
    assert weights.repeat(world, 0, 3)[2] == weights.repeat(world, 2, 3)[0]
    assert len(set(WORLDS)) == len(WORLDS)


def test_items_of_a_group_share_their_weight():
    world = next(world for world in WORLDS if world.group > 1)
    *_, weight, groups = weights.simulate(world, np.random.default_rng(1))
    assert np.bincount(groups).tolist() == [4] * 200
    assert all(len(set(weight[groups == group])) == 1 for group in range(200))
    assert weights.simulate(replace(world, group=1), np.random.default_rng(1))[3] is None
