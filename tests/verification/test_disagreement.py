"""The study of chosen labels: its worlds are what they say, its gates notice."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lazily import lazily
from tests.loops import each
from verification import disagreement, disagreement_tables
from verification.disagreement import WORLDS, Held

f1_score = lazily("sklearn.metrics.f1_score")
recall_score = lazily("sklearn.metrics.recall_score")


@each("world", WORLDS, ids=lambda one: f"{one.name}, {one.metric}")
def test_the_models_say_the_same_nine_times_out_of_ten(world):
    table = disagreement.joint(world)
    assert table.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(table.sum(axis=(1, 2)), world.shares)
    same = np.arange(world.n_classes)
    assert table[:, same, same].sum() == pytest.approx(0.9, abs=0.005)


@pytest.mark.parametrize("place", [2, 7, 10, 11])
def test_the_true_difference_is_that_of_very_many_items(place):
    world = WORLDS[place]
    table, rng = disagreement.joint(world), np.random.default_rng(0)
    drawn = rng.choice(table.size, size=300_000, p=table.ravel())
    truth, a, b = np.unravel_index(drawn, table.shape)
    score = recall_score if world.metric == "recall" else f1_score
    chosen = {"average": "macro"}
    if world.positive is not None:
        chosen |= {"labels": [world.positive]}
    values = [score(truth, one, **chosen) for one in (a, b)]
    assert disagreement.truth_of(world) == pytest.approx(values[0] - values[1], abs=0.02)


def test_a_repetition_does_not_depend_on_those_before_it():
    world = WORLDS[1]
    assert disagreement.repeat(world, 0, 3)[2] == disagreement.repeat(world, 2, 3)[0]


def test_what_covers_too_rarely_or_is_too_wide_fails():
    def found(share, width=0.02):
        held = [place < share * 2_000 for place in range(2_000)]
        return {WORLDS[0]: [Held(one, width, True, 0.04, False) for one in held]}

    assert disagreement_tables.failures(found(0.95)) == []
    assert "90.0% covered" in disagreement_tables.failures(found(0.90))[0]
    assert "99.0% covered" in disagreement_tables.failures(found(0.99))[0]
    assert "worth 1.92 times" in disagreement_tables.failures(found(0.95, width=0.05))[0]
    assert "| 12.0 |" in disagreement_tables.table(found(0.95))


def test_a_third_of_the_labels_says_more_and_the_naive_reading_is_wrong():
    held = disagreement.repeat(WORLDS[2], 0, 12)
    assert sum(one.covered for one in held) >= 9
    assert np.mean([one.width for one in held]) < np.mean([one.random_width for one in held])
    assert not any(one.naive_covered for one in held)
