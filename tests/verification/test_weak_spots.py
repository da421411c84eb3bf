"""The study of weak spots: its truths, its gates, and that every question can be asked."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lazily import lazily
from verification import weak_spots as study

cohen_kappa_score = lazily("sklearn.metrics.cohen_kappa_score")

QUIET = study.Hit(held=True, wrong=False, warned=False, levels=(True, True))
MISSED = study.Hit(held=False, wrong=True, warned=False, levels=(False, False))
WARNED = study.Hit(held=False, wrong=True, warned=True, levels=(False, False))
GATED, STATED = study.WORLDS[0], study.WORLDS[-1]


def test_true_kappa_is_that_of_a_large_sample():
    generator = np.random.default_rng(0)
    shares, rows = np.array(study._UNEVEN), study._neighbours(0.7, 0.5)
    truth = generator.choice(5, 200_000, p=shares)
    (predicted,) = study._predicted(generator, truth, [rows], 0.5)
    expected = cohen_kappa_score(truth, predicted, weights="quadratic")
    assert study._kappa(shares, rows) == pytest.approx(expected, abs=0.01)


def test_true_f1_is_that_of_its_rates():
    # 90 of 100 positives are found, and 50 of 1,000 negatives.
    assert study._f1(0.9, 0.05, 100 / 1_100) == pytest.approx(2 * 90 / (2 * 90 + 10 + 50))


def test_what_is_warned_of_or_stated_wrongly_need_not_hold():
    assert study.failures({GATED: [QUIET] * 90 + [WARNED] * 60}) == []
    assert study.failures({STATED: [MISSED] * 100}) == []


def test_what_is_not_warned_of_must_hold_and_be_right():
    failures = study.failures({GATED: [QUIET] * 70 + [MISSED] * 30})
    assert len(failures) == 4  # the difference, each model, and decisions
    assert "quadratic kappa" in study.table({GATED: [QUIET] * 70 + [MISSED] * 30})


@pytest.mark.parametrize("asked", ["pool", "ratio"])
def test_a_repetition_is_the_same_again(asked):
    world = next(one for one in study.WORLDS if one.asked == asked)
    assert study.repeat(world, 3, 4) == study.repeat(world, 3, 4)
