"""``power``: simulated test sets against what is known of them."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import ResourceError, UsageError

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


def test_goals_are_symbols_names_or_any_decision():
    few = {**FEW, "n_simulations": 100, "n_draws": 200}
    asked = {"theta_pos": BETTER, "theta_neg": REST, "sizes": [60], "rope": 0.05, **few}
    better = op.power(goal="≫", **asked)
    for goal in ("BETTER", "better", op.Decision.BETTER):
        assert op.power(goal=goal, **asked).power == better.power
    decided = op.power(goal="decided", **asked)
    parts = [op.power(goal=goal, **asked).power[0] for goal in "≫≈≪"]
    assert decided.power[0] == pytest.approx(sum(parts))
    every = sum(op.power(goal=goal, **asked).power[0] for goal in "≫>≈<≪?")
    assert every == pytest.approx(1.0)


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
    with pytest.raises(UsageError, match="metric of one class"):
        op.power(metric="accuracy", **asked)


def test_power_as_a_table():
    found = op.power(theta_pos=BETTER, theta_neg=REST, sizes=[50, 80], rope=0.05, goal="≫", **FEW)
    frame = found.to_frame()
    assert list(frame["n"]) == [50, 80]
    assert np.array_equal(frame["power"], found.power)
    assert "P(≫)" in str(found)


@pytest.mark.parametrize(
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
    with pytest.raises(ResourceError, match="allowed"):
        op.power(theta_pos=SAME, theta_neg=REST, sizes=[50], **{**FEW, "n_simulations": 10**12})
