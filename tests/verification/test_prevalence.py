"""The study of other shares in production: its worlds are what they say, its gates notice."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lazily import lazily
from verification import prevalence, prevalence_tables
from verification.prevalence import WORLDS, Held

f1_score = lazily("sklearn.metrics.f1_score")


@pytest.mark.parametrize("place", [0, 4, 10])
def test_the_true_difference_is_that_of_very_many_items(place):
    world = WORLDS[place]
    rng = np.random.default_rng(0)
    truth = rng.choice(len(world.shares), p=world.shares, size=400_000)
    values = []
    for rates in (world.a, world.b):
        uniform, edges = rng.random(truth.size), np.cumsum(rates, axis=1)
        predicted = (uniform[:, None] > edges[truth]).sum(axis=1)
        values.append(f1_score(truth, predicted, average="macro" if place == 10 else "binary"))
    assert prevalence.truth_of(world) == pytest.approx(values[0] - values[1], abs=0.012)


def test_coupled_predictions_keep_each_models_rates():
    a, b = np.array([0.7, 0.2, 0.1]), np.array([0.5, 0.1, 0.4])
    for shared in (0.0, 0.5, 1.0):
        joint = prevalence.couple(a, b, shared)
        np.testing.assert_allclose(joint.sum(axis=1), a)
        np.testing.assert_allclose(joint.sum(axis=0), b)
    assert np.trace(prevalence.couple(a, b, 1.0)) == pytest.approx(0.7)
    np.testing.assert_allclose(prevalence.couple(a, a, 1.0), np.diag(a), atol=1e-12)


def test_test_sets_are_balanced():
    for world in (WORLDS[0], WORLDS[10]):
        seen = prevalence.simulate(world, np.random.default_rng(0))
        actual = seen.margins("A").actual
        assert seen.n == world.n
        assert len(set(actual.tolist())) == 1


def test_every_gated_world_expects_at_least_ten_false_positives():
    for world in WORLDS:
        if world.gated and len(world.shares) == 2:
            assert min(world.a[0][1], world.b[0][1]) * world.n / 2 >= 10


def test_what_covers_too_rarely_or_too_often_fails():
    def found(share):
        held = [place < share * 2_000 for place in range(2_000)]
        return {WORLDS[0]: [Held(one, 0.1, False, False, True) for one in held]}

    assert prevalence_tables.failures(found(0.95)) == []
    assert "90.0% covered" in prevalence_tables.failures(found(0.90))[0]
    assert "99.5% covered" in prevalence_tables.failures(found(0.995))[0]
    assert "| 95.0 ± 0.5 |" in prevalence_tables.table(found(0.95))


def test_a_repetition_does_not_depend_on_those_before_it():
    world = WORLDS[0]
    assert prevalence.repeat(world, 0, 3)[2] == prevalence.repeat(world, 2, 3)[0]


def test_where_the_sign_turns_round_only_the_naive_decision_is_wrong():
    held = prevalence.repeat(WORLDS[4], 0, 20)
    assert sum(one.covered for one in held) >= 16
    assert not any(one.wrong for one in held)
    assert all(one.naive_wrong and not one.naive_covered for one in held)
