"""``power``: simulated test sets against what is known of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import outperform as op
from outperform.errors import ResourceError, UsageError
from tests.loops import each

SAME = {"11": 0.7, "10": 0.05, "01": 0.05, "00": 0.2}
BETTER = {"11": 0.6, "10": 0.3, "01": 0.0, "00": 0.1}
REST = {"11": 0.1, "10": 0.0, "01": 0.0, "00": 0.9}
FEW = {"prevalence": 0.5, "n_simulations": 200, "n_draws": 1_000, "random_state": 1}


def test_more_items_have_more_power():
    found = op.power(
        theta_pos=BETTER, theta_neg=REST, sizes=[40, 100, 250], goal="≫", rope=0.05, **FEW
    )
    assert found.sizes == (40, 100, 250)
    assert found.power.shape == found.mcse.shape == (3,)
    assert found.power[0] < found.power[1] < found.power[2] <= 1
    assert found.power[2] > 0.95
    assert np.allclose(found.mcse, np.sqrt(found.power * (1 - found.power) / 200), atol=0.02)


def test_pairing_adds_power():
    theta = {"11": 0.55, "10": 0.25, "01": 0.1, "00": 0.1}
    asked = {
        "theta_pos": theta,
        "theta_neg": REST,
        "sizes": [400],
        "goal": "≫",
        "rope": 0.03,
        **FEW,
    }
    assert op.power(**asked).power[0] > op.power(paired=False, **asked).power[0] + 0.1


def test_equal_models_are_hardly_ever_called_different():
    asked = {"theta_pos": SAME, "theta_neg": REST, "sizes": [300], "rope": 0.01, **FEW}
    assert op.power(goal="≫", **asked).power[0] <= 0.04
    assert op.power(goal="≪", **asked).power[0] <= 0.04
    wide = op.power(**{**asked, "rope": 0.2}, goal="≈").power[0]
    assert wide > 0.95


def test_goals_are_symbols_names_or_any_firm_decision():
    few = {**FEW, "n_simulations": 100, "n_draws": 200}
    asked = {"theta_pos": BETTER, "theta_neg": REST, "sizes": [60], "rope": 0.05, **few}
    better = op.power(goal="≫", **asked)
    for goal in ("BETTER", "better", op.Decision.BETTER):
        assert op.power(goal=goal, **asked).power == better.power
    decided = op.power(goal="decided", **asked)
    parts = [op.power(goal=goal, **asked).power[0] for goal in "≫≈≪"]
    assert decided.power[0] == pytest.approx(sum(parts))
    for goal in "><~?":
        with pytest.raises(UsageError, match="must be a firm decision"):
            op.power(goal=goal, **asked)


def test_threads_and_seeds():
    asked = {
        "theta_pos": BETTER,
        "theta_neg": REST,
        "sizes": [80],
        "goal": "≫",
        "rope": 0.05,
        **FEW,
    }
    one = op.power(n_jobs=1, **asked)
    assert op.power(n_jobs=2, **asked).power == one.power
    assert "seed=1" in one.signature
    assert "paired" in one.signature


def test_the_metric_may_be_any_of_one_class():
    asked = {
        "theta_pos": BETTER,
        "theta_neg": REST,
        "sizes": [200],
        "goal": "≫",
        "rope": 0.05,
        **FEW,
    }
    assert op.power(metric="recall", **asked).power[0] > 0.9
    assert op.power(metric="specificity", **asked).power[0] < 0.05
    with pytest.raises(UsageError, match="single-class metric"):
        op.power(metric="accuracy", **asked)


def test_power_as_a_table():
    found = op.power(theta_pos=BETTER, theta_neg=REST, sizes=[50, 80], rope=0.05, goal="≫", **FEW)
    frame = found.to_frame()
    assert list(frame["n"]) == [50, 80]
    assert np.array_equal(frame["power"], found.power)
    assert "P(≫)" in str(found)


@each(
    ("change", "words"),
    [
        ({"theta_pos": {"11": 1.0}}, "theta_pos must be a mapping with the keys 11, 10, 01, 00"),
        ({"theta_neg": {**SAME, "00": 0.9}}, "theta_neg must sum to 1"),
        ({"theta_pos": {**SAME, "10": -0.1, "01": 0.2}}, "probability"),
        ({"theta_pos": [0.25] * 4}, "mapping"),
        ({"prevalence": 1.5}, "probability"),
        ({"prevalence": "half"}, "probability"),
        ({"prevalence": float("nan")}, "probability"),
        ({"sizes": [0]}, "sizes"),
        ({"sizes": [10.5]}, "sizes"),
        ({"sizes": ["many"]}, "sizes"),
        ({"sizes": [float("nan")]}, "sizes"),
        ({"sizes": 100}, "sizes must be a list"),
        ({"sizes": []}, "sizes must be a list"),
        ({"goal": "wins"}, "unknown goal 'wins'"),
        ({"n_simulations": 5}, "n_simulations must be"),
        ({"n_draws": 5}, "n_draws must be"),
        ({"hdi_prob": 95}, r"did you mean 0\.95"),
        ({"rope": "wide"}, "rope"),
    ],
)
def test_what_cannot_be_simulated_is_refused(change, words):
    asked = {"theta_pos": SAME, "theta_neg": REST, "sizes": [50], "rope": 0.05, **FEW}
    with pytest.raises(UsageError, match=words):
        op.power(**{**asked, **change})


def test_too_many_simulations_are_refused():
    with pytest.raises(ResourceError, match="the maximum is"):
        op.power(theta_pos=SAME, theta_neg=REST, sizes=[50], **{**FEW, "n_simulations": 10**12})


THETA = {"11": 0.55, "10": 0.25, "01": 0.1, "00": 0.1}
SELDOM = {"11": 0.1, "10": 0.05, "01": 0.05, "00": 0.8}


def pilot_of(n):
    """Return n items with the shares of THETA and SELDOM, four in ten of them positive."""
    shares = [0.4 * THETA[key] for key in THETA] + [0.6 * SELDOM[key] for key in THETA]
    answers = {"a": [1, 1, 0, 0] * 2, "b": [1, 0, 1, 0] * 2}
    counts = [round(n * share) for share in shares]
    return op.Outcomes.from_counts([1] * 4 + [0] * 4, answers, counts)


@pytest.mark.parametrize("paired", [True, False])
def test_a_pilot_without_doubt_is_the_world_of_its_probabilities(paired):
    few = {"n_simulations": 1_000, "n_draws": 1_000, "random_state": 1, "n_jobs": 1}
    asked = {"sizes": [400], "goal": "≫", "rope": 0.03, "prior": "uniform", "paired": paired, **few}
    known = op.power(theta_pos=THETA, theta_neg=SELDOM, prevalence=0.4, **asked)
    found = op.power(pilot_of(1_000_000), "a", "b", metric="f1", **asked)
    # 0.015 for the narrowest of 1,000 draws, 1.7% too narrow, which only a pilot's world mends.
    assert 0.2 < found.power[0] < 0.8
    assert abs(found.power - known.power)[0] < 4 * np.hypot(known.mcse, found.mcse)[0] + 0.015


def test_the_power_of_grades_is_that_of_a_z_test():
    rng, n_pilot, rope = np.random.default_rng(3), 4_000, 0.05
    b = rng.normal(7, 1, n_pilot)
    pilot = op.Scores.from_values({"a": b + rng.normal(0.2, 0.8, n_pilot), "b": b})
    sizes = np.array([150, 400])
    found = op.power(pilot, metric="mean", goal="≫", rope=rope, sizes=sizes, n_simulations=2_000,
                     random_state=1)  # fmt: skip
    difference = pilot.values[0] - pilot.values[1]
    mean, sd = difference.mean(), difference.std()
    # The pilot's posterior of the mean has variance sd²/n_pilot, the mean of a test set sd²/n.
    reach = ndtri(0.975) * sd / np.sqrt(sizes)
    right = ndtr((mean - rope - reach) / (sd * np.sqrt(1 / sizes + 1 / n_pilot)))
    assert 0.2 < right[0] < right[1] < 0.99
    assert np.all(np.abs(found.power - right) < 4 * found.mcse + 0.01)
    worse = op.power(pilot, "b", "a", metric="mean", goal="≪", rope=rope, sizes=sizes,
                     n_simulations=2_000, random_state=2)  # fmt: skip
    assert np.all(np.abs(worse.power - right) < 4 * worse.mcse + 0.01)


@pytest.mark.parametrize(
    ("pilot", "asked"),
    [
        (pilot_of(400), {"metric": "f1", "rope": 0.01}),
        (
            op.Scores.from_arrays(
                [0, 1] * 150,
                {
                    "a": np.random.default_rng(1).normal([0, 1.2] * 150),
                    "b": np.random.default_rng(2).normal([0, 0.5] * 150),
                },
            ),
            {"metric": "roc_auc", "rope": 0.02},
        ),
    ],
    ids=["labels", "scores"],
)
def test_a_plan_at_face_value_reaches_its_target_by_power_too(pilot, asked):
    asked = {**asked, "goal": "≫", "n_draws": 500, "random_state": 0, "n_jobs": 1}
    planned = op.plan(pilot=pilot, a="a", b="b", target=0.7, n_simulations=800, **asked)
    found = op.power(pilot, "a", "b", sizes=[planned.least], n_simulations=800, **asked)
    assert abs(found.power[0] - 0.7) < 4 * np.hypot(found.mcse[0], planned.error)


def test_a_pilot_may_be_words_or_a_suite_or_have_three_models():
    words = op.Outcomes.from_labels(
        ["ham", "spam"] * 40,
        {"a": ["ham", "spam"] * 40, "b": ["spam"] * 80, "c": ["ham"] * 80},
    )
    few = {"sizes": [30], "n_simulations": 100, "n_draws": 100, "random_state": 1, "rope": 0.05}
    found = op.power(words, "a", "b", metric="f1", pos_label="ham", goal="≫", **few)
    assert found.power[0] > 0.9
    assert "pilot=80" in found.signature
    tasks = op.Suite({"x": words, "y": words}, metrics="accuracy", ropes=0.05)
    few.pop("rope")
    assert op.power(tasks, "a", "c", goal="better", **few).power[0] > 0.9
    with pytest.raises(UsageError, match="the pilot has the models"):
        op.power(words, **few)


@each(
    ("given", "words"),
    [
        ({}, "exactly one scenario: pilot=, or theta_pos, theta_neg and prevalence; got none"),
        ({"pilot": pilot_of(400), "theta_pos": SAME}, "got a pilot and theta"),
        ({"a": "A", "theta_pos": SAME, "theta_neg": REST}, "got a pilot and theta"),
        ({"theta_pos": SAME}, "theta_pos, theta_neg and prevalence go together; pass all three"),
        ({"pilot": [1, 0]}, "pilot must be op.Outcomes, op.Scores or op.Suite; got list"),
        ({"pilot": op.Scores.from_values({"a": [1, 2], "b": [2, 3]})}, "scores need a metric"),
        (
            {"theta_pos": SAME, "theta_neg": REST, "prevalence": 0.5, "pos_label": 1},
            "pos_label= applies only to a pilot",
        ),
        (
            {"theta_pos": SAME, "theta_neg": REST, "prevalence": 0.5, "metric": "rmse"},
            "for a score metric, pass a pilot",
        ),
        ({"pilot": pilot_of(400).at_prevalence({0: 0.5, 1: 0.5})}, "^power uses the class"),
    ],
)
def test_there_is_one_world_and_it_fits_the_question(given, words):
    with pytest.raises(UsageError, match=words):
        op.power(sizes=[50], n_simulations=100, **given)
