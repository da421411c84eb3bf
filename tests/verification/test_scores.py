"""The study of scores: its worlds are what they say, and its gates notice what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.lazily import lazily
from tests.loops import each
from verification import score_tables, scores
from verification.scores import WORLDS, Interval, ScoreWorld

average_precision_score = lazily("sklearn.metrics.average_precision_score")
brier_score_loss = lazily("sklearn.metrics.brier_score_loss")
log_loss = lazily("sklearn.metrics.log_loss")
roc_auc_score = lazily("sklearn.metrics.roc_auc_score")

METRICS = {
    "roc_auc": roc_auc_score,
    "average_precision": average_precision_score,
    "log_loss": log_loss,
    "brier_score": brier_score_loss,
}


@pytest.mark.parametrize("metric", METRICS)
def test_the_true_difference_is_that_of_very_many_items(metric):
    world = ScoreWorld(metric=metric, n=400_000, prevalence=0.3)
    truth, drawn, _ = scores.simulate(world, np.random.default_rng(0))
    if metric in ("log_loss", "brier_score"):
        drawn = [
            scores.probability(score, distance, world.prevalence)
            for score, distance in zip(drawn, world.distances, strict=True)
        ]
    a, b = (METRICS[metric](truth, score) for score in drawn)
    # The sd of such a difference is about 0.6 / √n; this is five of them.
    assert scores.truth_of(world) == pytest.approx(a - b, abs=0.005)


def test_grades_of_an_item_go_together_and_models_share_what_is_hard():
    world = next(world for world in WORLDS if world.metric == "mean")
    _, grades, groups = scores.simulate(replace(world, n=8_000), np.random.default_rng(0))
    assert np.bincount(groups).tolist() == [4] * 2_000
    of_items = grades.reshape(2, -1, 4)
    within = of_items.var(axis=2, ddof=1).mean()
    assert within == pytest.approx(1, abs=0.06)
    assert np.corrcoef(of_items[0, :, 0], of_items[1, :, 0])[0, 1] == pytest.approx(0.4, abs=0.1)


def test_there_are_enough_settings_of_auc_and_all_are_gated():
    gated = [world for world in WORLDS if world.gated and world.metric == "roc_auc"]
    assert len(gated) >= 12
    assert len(set(WORLDS)) == len(WORLDS)


def test_what_covers_too_rarely_or_too_often_fails():
    def found(share):
        held = [place < share * 2_000 for place in range(2_000)]
        return {WORLDS[0]: [Interval(one, 0.1, True, 1.0) for one in held]}

    assert score_tables.failures(found(0.95)) == []
    assert "90.0% covered" in score_tables.failures(found(0.90))[0]
    assert "99.5% covered" in score_tables.failures(found(0.995))[0]
    assert "| 95.0 ± 0.5 |" in score_tables.table(found(0.95))


def test_a_repetition_does_not_depend_on_those_before_it():
    world = WORLDS[0]
    assert scores.repeat(world, 0, 3)[2] == scores.repeat(world, 2, 3)[0]


@pytest.mark.slow
@each("place", range(len(WORLDS)))
def test_intervals_hold_the_truth_as_often_as_they_say(place):
    world = WORLDS[place]
    intervals = scores.repeat(world, 0, 400)
    covered = np.mean([one.covered for one in intervals])
    ratios = [one.sd_ratio for one in intervals if one.sd_ratio is not None]
    if world.gated:  # four standard errors of 400 repetitions beyond the gates
        assert 0.925 - 0.044 <= covered <= 0.98 + 0.028
        assert not ratios or np.mean(ratios) == pytest.approx(1, abs=0.05)
