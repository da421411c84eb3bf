"""The study of label sets: its worlds are what they say, and its gates notice what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.lazily import lazily
from tests.loops import each
from verification import label_set_tables, label_sets
from verification.label_sets import APART, METRICS, SETTINGS, WORLDS, Held, SetWorld

accuracy_score = lazily("sklearn.metrics.accuracy_score")
f1_score = lazily("sklearn.metrics.f1_score")


def value(metric, truth, predicted):
    if metric == "accuracy":
        return accuracy_score(truth, predicted)
    return f1_score(truth, predicted, average=metric[3:], zero_division=0)


@pytest.mark.parametrize("place", [0, 3])
def test_the_true_difference_is_that_of_very_many_items(place):
    world = replace(WORLDS[place], n=100_000)
    y, a, b = label_sets.simulate(world, np.random.default_rng(0))
    for metric, wanted in label_sets.truth_of(world).items():
        found = value(metric, y, a) - value(metric, y, b)
        # The sd of such a difference is at most about 0.7 / √n; this is five of them.
        assert wanted == pytest.approx(found, abs=0.011), metric


def test_errors_of_an_item_go_together_as_far_as_they_should():
    def errors(together):
        world = SetWorld(n=20_000, together=together, alike=0.0)
        y, a, _ = label_sets.simulate(world, np.random.default_rng(1))
        return np.corrcoef((y ^ a)[:, 0], (y ^ a)[:, 1])[0, 1]

    assert errors(0.0) == pytest.approx(0, abs=0.035)
    assert errors(0.8) > 0.4


def test_there_are_enough_settings_and_what_is_gated_has_ten_of_everything():
    gated = [world for world, _ in SETTINGS if world.gated]
    assert len(gated) >= 12
    assert len(set(WORLDS)) == len(WORLDS)
    assert {world.n_labels for world in gated} >= {3, 20}
    for world in WORLDS:
        assert (world.fewest() >= 10) == world.gated
        _, a, b = label_sets.simulate(world, np.random.default_rng(0))
        assert (a != b).any(axis=1).sum() >= 10


def test_what_covers_too_rarely_or_too_often_fails():
    def found(share):
        held = [place < share * 2_000 for place in range(2_000)]
        size = len(METRICS)
        return {
            WORLDS[0]: [Held((one,) * size, (0.1,) * size, (one,) * len(APART), 50) for one in held]
        }

    assert label_set_tables.failures(found(0.95)) == []
    assert len(label_set_tables.failures(found(0.90))) == len(METRICS)
    assert "99.5% covered" in label_set_tables.failures(found(0.995))[0]
    assert "| 95.0 ± 0.5 |" in label_set_tables.table(found(0.95))


def test_a_repetition_does_not_depend_on_those_before_it():
    world = WORLDS[0]
    assert label_sets.repeat(world, 0, 3)[2] == label_sets.repeat(world, 2, 3)[0]


@pytest.mark.slow
@each("place", range(len(WORLDS)))
def test_intervals_hold_the_truth_as_often_as_they_say(place):
    world = WORLDS[place]
    if world.gated:  # four standard errors of 300 repetitions beyond the gates
        covered = np.mean([one.covered for one in label_sets.repeat(world, 0, 300)], axis=0)
        assert (covered >= 0.925 - 0.05).all()
