"""The studies of plans: their worlds are what they say, and their gates notice what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from verification import more_data, plans, predicted
from verification.more_data import Predicted
from verification.plans import WORLDS, Project


def test_worlds_follow_the_prior_that_the_planner_is_given():
    generator = np.random.default_rng(0)
    drawn = np.array([plans.draw_world(plans.ALIKE, generator) for _ in range(4_000)])
    assert drawn.sum(axis=(1, 2, 3)) == pytest.approx(1)
    expected = 0.5 * plans.ALIKE / plans.ALIKE.sum(axis=(1, 2), keepdims=True)
    # Shares of about 0.3 with an sd of 0.06: five errors of the mean of 4,000.
    assert drawn.mean(axis=0) == pytest.approx(expected, abs=5 * 0.06 / np.sqrt(4_000))
    better = drawn[:, 1, 1].sum(axis=1) - drawn[:, 1, :, 1].sum(axis=1)
    assert abs(better.mean()) < 5 * better.std() / np.sqrt(4_000)


def test_items_are_those_of_the_world():
    world = plans.draw_world(plans.APART, np.random.default_rng(1))
    seen = plans.items(world, 100_000, np.random.default_rng(2))
    both, only_a, only_b, _ = seen.agreement(1)
    assert np.array([both, only_a, only_b]) / 100_000 == pytest.approx(
        [world[1, 1, 1], world[1, 1, 0], world[1, 0, 1]], abs=0.01
    )


def test_a_pilots_rates_are_taken_for_the_truth():
    world = next(one for one in WORLDS if one.certain)
    pilot = plans.items(plans.draw_world(plans.APART, np.random.default_rng(3)), 200,
                            np.random.default_rng(4))  # fmt: skip
    found = plans.planned(world, pilot, 0)
    assert "theta_pos=" in found.signature
    # The rates give the pilot's own observed difference.
    observed = op.compare(pilot, "A", "B", rope=0.05, n_draws=500, random_state=0).observed
    assert found.curve.outlook.mean == pytest.approx(observed, abs=0.005)


def test_a_project_does_not_depend_on_those_before_it():
    world = WORLDS[1]
    assert plans.repeat(world, 0, 2)[1] == plans.repeat(world, 1, 2)[0]
    assert len(set(WORLDS)) == len(WORLDS)


def test_what_does_not_hold_is_named():
    def found(share):
        made = [Project(100, place < 2_000 * share, 0.8) for place in range(2_000)]
        return {WORLDS[0]: [*made, Project(None, False, 0.4)]}

    assert plans.failures(found(0.8)) == []
    assert "0.700 reached" in plans.failures(found(0.7))[0]
    assert "| 2,001 | 0% | 100 | 80.0 ± 0.9 | 77 to 83 |" in plans.table(found(0.8))


def test_bins_of_what_was_predicted():
    one, two = more_data.bins([0.1, 0.15, 0.9, 1.0], [False, True, True, True])
    assert (one.n, one.predicted, one.realised) == (2, pytest.approx(0.125), 0.5)
    assert (two.n, two.realised) == (2, 1.0)


def test_comparisons_that_belong_together_are_worth_one():
    came = [True, True, True, False, False, False]
    alone = more_data.bins([0.5] * 6, came)[0].error
    (two,) = more_data.bins([0.5] * 6, came, ["a", "a", "a", "b", "b", "b"])
    assert alone == pytest.approx(np.sqrt(0.25 / 6))
    # Two groups, one all and one none: the sd of a mean of two coins.
    assert two.error == pytest.approx(np.sqrt(0.25 / 2))
    (none,) = more_data.bins([0.1] * 10, [False] * 10)
    assert none.error == 0.05


def test_worlds_of_futures_are_believed_as_they_say():
    uniform, knows, wrong = predicted.WORLDS
    assert [one.gated for one in predicted.WORLDS] == [True, True, False]
    assert np.all(uniform.prior.row_shapes(2, 2) == 1)
    assert np.array_equal(knows.prior.row_shapes(2, 2), predicted.NEWSGROUP)
    assert wrong.prior == op.Prior.from_param("uniform")
    assert predicted.repeat(knows, 0, 8)[-1] == predicted.repeat(knows, 4, 8)[-1]


def test_few_items_are_predicted_as_they_come():
    # Of five items, the uniform prior is worth more than they are.
    world = replace(predicted.WORLDS[0], quarter=5)
    with_prior = [
        predicted.predicted_and_came(world, np.random.default_rng([9, place]))
        for place in range(250)
    ]
    said, came = zip(*(one for one in with_prior if one is not None), strict=True)
    error = np.std(came) / np.sqrt(len(came))
    assert abs(np.mean(said) - np.mean(came)) < 4 * error  # 0.18; without the prior's worth 0.28


def test_forecasts_that_do_not_come_true_are_named():
    def found(came):
        return {predicted.WORLDS[0]: [(0.5, place < came) for place in range(1_000)]}

    assert predicted.failures(found(520)) == []
    assert "0.500 predicted, 0.600 came" in predicted.failures(found(600))[0]
    assert "| 1,000 | 50% | 52.0 ± 1.6 |" in predicted.table(found(520))


def test_what_was_not_predicted_is_named(tmp_path):
    def found(decided):
        return [
            Predicted(pair="a − b", group=str(place), theory=0.5, simulated=0.5,
                     decided=place < decided)
            for place in range(100)
        ]  # fmt: skip

    assert more_data.failures(found(52)) == []
    assert len(more_data.failures(found(80))) == 2
    assert "| printed | 100 | 50% | 52.0 ± 5.0 |" in more_data.table(found(52))
    (tmp_path / "stored.json").write_text(more_data.stored(found(52)), encoding="utf-8")
    assert '"printed"' in (tmp_path / "stored.json").read_text(encoding="utf-8")


def test_a_quarter_is_predicted_and_revealed():
    news = op.datasets.load_news20()
    part = np.random.default_rng(0).permutation(len(news.y_true))[:1_883]
    pair = more_data.PAIRS[4]
    found = more_data._predict(news, part, pair, "sci.med", simulate=False)
    assert found is not None
    assert 0 < found.theory < 1
    whole = more_data.compared(news, pair, "sci.med", None)
    assert whole.n == 7_532
    assert found.decided == whole.decision.decided
