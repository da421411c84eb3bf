"""Answers that do not depend on threads or the order of rows, and the test of all drawn values."""

from __future__ import annotations

import numpy as np
import pytest

from verification.answers.bytes import CASES, KNOWN, failures
from verification.answers.pooled import Averages, distances, kind_of, planted, properties_of

FAST = ("binary/f1", "three/learned", "groups", "sets/f1_macro", "scores/roc_auc", "slices", "rank")
SPREAD = 0.0158  # of the sd of 2,000 draws, as a share of it


@pytest.mark.parametrize("name", FAST)
def test_answers_are_the_same_bytes_with_more_threads_and_in_another_order(name):
    assert failures(name, orders=(11,)) == []


def test_what_is_known_to_change_is_a_case():
    assert set(KNOWN) <= set(CASES)


def pooled(factor=1.0):
    """Return how many averages of made-up values are beyond their limits."""
    rng = np.random.default_rng(5)
    drawn = {"mean": [0.1, 0.02, 0.1], "sd": [1.0, SPREAD, 1.0], "p_better": [0.5, 0.01, 0.5]}
    averages = Averages(10)
    for seed in range(10):
        for number in range(60):
            facts = {
                path: rng.normal(middle, spread) for path, (middle, spread, _) in drawn.items()
            }
            name = f"compare/binary/f1/{'groups' if number % 3 else 'plain'}/{number}"
            averages.add(seed, name, planted(facts, factor), drawn)
    return averages.report()


def test_values_around_their_middles_are_within_the_limits_and_sds_2_per_cent_off_are_not():
    assert pooled() == 0
    assert pooled(factor=0.98) > 0


def test_the_width_of_an_interval_stands_for_its_ends():
    drawn = {"hdi/low": [0.1, 0.03, 0.1], "hdi/high": [0.5, 0.04, 0.5], "x/0": [1.0, 0.1, 1.0]}
    jumped = {"hdi/low": 0.3, "hdi/high": 0.7, "x/0": 9.0}
    assert list(distances(jumped, drawn)) == [("HDI width", pytest.approx(0.0))]


def test_a_call_has_the_properties_that_its_name_tells_of():
    assert kind_of("models/A/p_rank/2") == "p_rank"
    assert kind_of("mcse") is None
    assert properties_of("compare/binary/f1/groups") == ["groups"]
    assert properties_of("nothing/known") == ["plain"]
