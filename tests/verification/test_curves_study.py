"""The study of curves: its closed forms are those of its worlds, and its gates notice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.lazily import lazily
from verification import curves
from verification.curves import KINDS, WORLDS, Held

calibration_curve = lazily("sklearn.calibration.calibration_curve")
precision_recall_curve = lazily("sklearn.metrics.precision_recall_curve")
roc_curve = lazily("sklearn.metrics.roc_curve")

GRID = np.arange(5, 100, 10) / 100


@pytest.mark.parametrize("world", WORLDS[2::3], ids=lambda world: f"{world.n}")
def test_true_curves_are_those_of_very_many_items(world):
    truth, (_, said) = curves.simulate(replace(world, n=400_000), np.random.default_rng(0))
    false, hits, _ = roc_curve(truth, said)
    precision, recall, _ = precision_recall_curve(truth, said)
    gains = np.stack([np.where(truth, 1.0, -t / (1 - t)) * (said >= t) for t in GRID])
    in_bins = np.histogram(said, np.arange(11) / 10)[0]
    # Each with five standard errors, or more.
    large = {
        "roc": (np.interp(GRID, false, hits), 0.02),
        "precision_recall": (np.interp(GRID, recall[::-1], precision[::-1]), 0.02),
        "calibration": (calibration_curve(truth, said, n_bins=10)[0], 2.5 / np.sqrt(in_bins)),
        "net_benefit": (gains.mean(axis=1), 5 * gains.std(axis=1) / np.sqrt(400_000)),
    }
    for kind, (value, slack) in large.items():
        true = curves.truth_of(kind, GRID, distance=world.distances[1], prevalence=world.prevalence)
        assert (np.abs(value - true) <= slack).all(), kind


def found(covered, apart, *, world=WORLDS[0], n=500):
    """Test sets so many of which held the difference, and told the models apart."""
    noted = []
    for place in range(n):
        right = Held((True, True, True), (0.1, 0.1, 0.1), False)
        other = Held((True, True, place < covered * n), (0.1, 0.1, 0.2), place < apart * n)
        noted.append({kind: other if kind == "net_benefit" else right for kind in KINDS})
    return {world: noted}


def test_what_does_not_hold_is_named():
    assert curves.failures(found(0.95, 0.05)) == []
    (said,) = curves.failures(found(0.88, 0.05))
    assert "net_benefit" in said
    assert "88.0% of difference covered" in said
    (said,) = curves.failures(found(0.95, 0.1))
    assert "10.0% of equal models told apart" in said
    assert curves.failures(found(0.95, 0.5, world=WORLDS[2])) == []
    assert "| 100.0 ± 0.0 | 95.0 ± 1.0 | 5.0 ± 1.0 | 0.100 | 0.200 |" in curves.table(
        found(0.95, 0.05)
    )


def test_a_repetition_does_not_depend_on_those_before_it():
    world = WORLDS[0]
    assert curves.repeat(world, 0, 2)[1] == curves.repeat(world, 1, 2)[0]
    assert len(set(WORLDS)) == len(WORLDS) == 6
    assert sum(world.is_equal for world in WORLDS) == 3
