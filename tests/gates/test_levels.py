"""Level gates: one model against a threshold."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import outperform as op
from outperform.errors import UsageError
from outperform.gates.levels import Level, least_items, level_status, limits_of
from outperform.testing import assert_level

GUARD = op.results.Guard


def right(n, wrong=0, **kwargs):
    return op.Outcomes.from_correct({"new": [1] * (n - wrong) + [0] * wrong}, **kwargs)


def status(data, **asked):
    return op.gate(data, "new", metric="accuracy", **asked).status.value


@pytest.mark.parametrize(("n", "wrong"), [(20, 0), (20, 3), (400, 12), (50, 50)])
def test_limits_of_accuracy_contain_hdi_and_exact_limits(n, wrong):
    e = op.estimate(right(n, wrong), "new", metric="accuracy")
    exact = stats.binomtest(n - wrong, n).proportion_ci(0.95, method="exact")
    limits = limits_of(e)
    assert limits.low == pytest.approx(min(exact.low, e.hdi.low))
    assert limits.high == pytest.approx(max(exact.high, e.hdi.high))


@pytest.mark.parametrize("theta", [0.8, 0.9, 0.99])
@pytest.mark.parametrize("n", [20, 36, 200])
def test_model_on_the_level_passes_in_at_most_one_of_forty(theta, n):
    """Summed over every possible count; the same for failures."""
    chances = stats.binom.pmf(np.arange(n + 1), n, theta)
    passed = failed = 0.0
    for k, chance in enumerate(chances):
        if chance < 1e-9:
            continue
        e = op.estimate(right(n, n - k), "new", metric="accuracy", n_draws=100, random_state=0)
        answer = level_status(e, Level("at_least", theta)).value
        passed += chance * (answer == "pass")
        failed += chance * (answer == "fail")
    assert passed <= 0.025
    assert failed <= 0.025


def test_fewest_items_without_an_error():
    assert least_items(Level("at_least", 0.9), 0.95) == 36
    assert status(right(36), at_least=0.9) == "pass"
    assert status(right(35), at_least=0.9) == "undecided"
    assert status(right(29), at_least=0.9, hdi_prob=0.9) == "pass"
    assert status(right(28), at_least=0.9, hdi_prob=0.9) == "undecided"
    names = {finding.name for finding in op.gate(right(3), "new", at_least=0.9).findings}
    assert "level_out_of_reach" in names


def test_at_most_is_the_mirror_image():
    assert status(right(500, 20), at_most=0.9) == "fail"
    assert status(right(500, 480), at_most=0.1) == "pass"
    assert status(right(500, 20), at_least=0.9, at_most=0.99) == "pass"
    g = op.gate(right(500, 480), "new", at_most=0.1, metric="accuracy")
    assert "against_direction" in {finding.name for finding in g.findings}


def test_lower_is_better_needs_no_other_words():
    y = np.arange(300) % 2
    p = np.where(y == 1, 0.9, 0.1)
    scores = op.Scores.from_arrays(y, {"new": p})
    g = op.gate(scores, "new", metric="brier_score", at_most=0.2)
    assert g.status.value == "pass"
    assert op.gate(scores, "new", metric="brier_score", at_most=0.005).status.value != "pass"


def test_with_a_baseline_both_must_hold():
    rng = np.random.default_rng(1)
    old = rng.random(2000) < 0.7
    new = old | (rng.random(2000) < 0.2)
    data = op.Outcomes.from_correct({"new": new, "old": old})
    asked = {"metric": "accuracy", "n_draws": 2000}
    assert op.gate(data, "new", "old", **asked).passed
    assert op.gate(data, "new", "old", at_least=0.7, **asked).passed
    both = op.gate(data, "new", "old", at_least=0.9, **asked)
    assert [check.status.value for check in both.checks] == ["pass", "fail"]
    assert both.status.value == "fail"
    assert both.main.names == ("new", "old")
    assert both.levels[0].name == "new"


def test_clustered_items_without_an_error_count_as_groups():
    grouped = right(400, groups=np.repeat(np.arange(20), 20))
    assert status(right(400), at_least=0.95) == "pass"
    assert status(grouped, at_least=0.95) == "undecided"
    assert status(right(4000, groups=np.repeat(np.arange(200), 20)), at_least=0.95) == "pass"


def test_guards_suites_and_policies_take_levels():
    y = np.tile([0, 1], 300)
    new = y.copy()
    new[:20] = 1 - new[:20]
    data = op.Outcomes.from_labels(y, {"new": new, "old": y})
    g = op.gate(
        data, "new", at_least=0.9, metric="accuracy",
        guards=[GUARD(metric="recall", label=1, at_least=0.99)],
    )  # fmt: skip
    assert [check.status.value for check in g.checks] == ["pass", "fail"]
    suite = op.Suite({"x": data, "y": data}, metrics="accuracy")
    assert op.gate(suite, "new", at_least=0.9).passed
    assert len(op.gate(suite, "new", "old", at_least=0.9).checks) == 4
    policy = {"x": {"at_least": 0.9}, "y": {"at_least": 0.99}}
    assert op.gate(suite, "new", policy=policy).status.value == "fail"


def test_to_dict_and_texts_of_a_level():
    g = op.gate(right(500, 20), "new", at_least=0.9, metric="accuracy")
    facts = json.loads(json.dumps(g.to_dict()))
    assert facts["names"] == ["new"]
    assert facts["checks"][0]["require"] == "at_least"
    assert facts["checks"][0]["estimate"]["mean"] == g.levels[0].mean
    for text in (str(g), g.to_markdown(), g.to_latex(), g.to_html(), g.report()):
        assert "0.9" in text


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "needs a baseline, or a level"),
        ({"at_least": 90}, r"did you mean 0\.9"),
        ({"at_least": 1}, "perfect"),
        ({"at_least": "0.9"}, "must be a number"),
        ({"at_least": 0.9, "at_most": 0.8}, "must be below"),
        ({"at_least": 0.9, "rope": 0.01}, "rope= compares with a baseline"),
        ({"at_least": 0.9, "require": "better"}, "require= compares with a baseline"),
        ({"at_least": 0.9, "guards": [("recall", 1, 0.1)]}, "needs a baseline or a level"),
    ],
)
def test_wrong_levels_are_answered(asked, message):
    with pytest.raises(UsageError, match=message):
        op.gate(right(20), "new", metric="accuracy", **asked)


def test_assertion_of_a_level():
    assert assert_level(right(500, 20), "new", at_least=0.9, metric="accuracy").passed
    with pytest.raises(AssertionError, match="not enough evidence"):
        assert_level(right(500, 20), "new", at_least=0.95, metric="accuracy")
