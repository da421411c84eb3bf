"""Every door that takes a margin refuses the same ones, and a gate refuses a lenient level."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError
from outperform.testing import assert_not_worse
from tests.loops import each

rng = np.random.default_rng(5)
N = 240
TRUTH = rng.integers(0, 2, N)
OLD = np.where(rng.random(N) < 0.9, TRUTH, 1 - TRUTH)
NEW = np.where(rng.random(N) < 0.6, TRUTH, 1 - TRUTH)
SEEN = op.Outcomes.from_labels(TRUTH, {"new": NEW, "old": OLD})
PLACES = np.repeat(["a", "b", "c"], N // 3)
TASKS = {
    name: op.Outcomes.from_labels(
        TRUTH[name == PLACES], {"new": NEW[name == PLACES], "old": OLD[name == PLACES]}
    )
    for name in "abc"
}
ASKED = {"metric": "accuracy", "n_draws": 200, "random_state": 0}


def suite(**asked):
    return op.Suite(TASKS, metrics="accuracy", **asked)


def policy_file(rope, tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text("[tasks]\n" + "".join(f"{name} = {rope}\n" for name in "abc"))
    return op.gate(suite(), "new", "old", policy=path, n_draws=200)


def monitor(rope, tmp_path):
    watched = op.Monitor(tmp_path / "m", "new", "old", rope=rope, metric="accuracy", n_draws=200)
    watched.add(SEEN, key=1)
    return watched.latest


DOORS = {
    "compare": lambda rope, _: op.compare(SEEN, "new", "old", rope=rope, **ASKED),
    "compare, a Rope": lambda rope, _: op.compare(
        SEEN, "new", "old", rope=op.Rope(low=-rope, high=rope), **ASKED
    ),
    "scorecard": lambda rope, _: op.scorecard(
        SEEN, "new", "old", metrics=["accuracy"], rope=rope, n_draws=200
    ),
    "rank": lambda rope, _: op.rank(SEEN, rope=rope, **ASKED),
    "slices": lambda rope, _: op.compare_slices(
        op.Outcomes.from_labels(TRUTH, {"new": NEW, "old": OLD}, by={"place": PLACES}),
        "new", "old", rope=rope, **ASKED,
    ),
    "plan": lambda rope, _: op.plan(
        pilot=SEEN, a="new", b="old", rope=rope, n_simulations=200, **ASKED
    ),
    "runs": lambda rope, _: op.compare_runs(
        TRUTH, [NEW, NEW], [OLD, OLD], rope=rope, **ASKED
    ),
    "Monitor": monitor,
    "gate": lambda rope, _: op.gate(SEEN, "new", "old", rope=rope, **ASKED),
    "gate, a Rope": lambda rope, _: op.gate(
        SEEN, "new", "old", rope=op.Rope(low=-rope, high=rope), **ASKED
    ),
    "guard": lambda rope, _: op.gate(
        SEEN, "new", "old", rope=0.01, guards=[("recall", 1, rope)], **ASKED
    ),
    "assertion": lambda rope, _: assert_not_worse(SEEN, "new", "old", rope=rope, **ASKED),
    "suite, one for all": lambda rope, _: op.gate(suite(ropes=rope), "new", "old", n_draws=200),
    "suite, of a task": lambda rope, _: op.compare(
        suite(ropes={"a": rope, "b": 0.01, "c": 0.01}), "new", "old", n_draws=200
    ),
    "policy": lambda rope, _: op.gate(
        suite(), "new", "old", policy={"b": rope}, n_draws=200
    ),
    "policy file": policy_file,
}  # fmt: skip


@each("rope", [0.5, 0.9, 1.0, 2.0, 50.0])
@each("door", DOORS)
def test_a_margin_that_takes_in_nearly_every_difference_is_refused(door, rope, tmp_path):
    with pytest.raises(UsageError, match=rf"did you mean {rope / 100:g}\?"):
        DOORS[door](rope, tmp_path)


@each("door", [name for name in DOORS if name != "assertion"])
def test_a_usual_margin_is_taken(door, tmp_path):
    DOORS[door](0.05, tmp_path)


def test_a_refusal_names_the_policy_and_the_task(tmp_path):
    with pytest.raises(UsageError, match=r"the policy's margin for 'a' in \S*policy\.toml, 0\.5 "):
        policy_file(0.5, tmp_path)
    with pytest.raises(UsageError, match=r"the policy's margin for 'b', 0\.9 "):
        DOORS["policy"](0.9, tmp_path)
    with pytest.raises(UsageError, match=r"the ROPE of the guard .recall. of class 1, 0\.5 "):
        DOORS["guard"](0.5, tmp_path)


LEVELS = {
    "gate": lambda prob, _: op.gate(SEEN, "new", "old", rope=0.01, hdi_prob=prob, **ASKED),
    "suite": lambda prob, _: op.gate(suite(), "new", "old", hdi_prob=prob, n_draws=200),
    "monitor": lambda prob, path: op.Monitor(path / "m", "new", "old", hdi_prob=prob),
}


@each("door", LEVELS)
@each(("prob", "meant"), [(0.01, "0.99"), (0.05, "0.95"), (0.49, "0.95")])
def test_a_level_at_which_nearly_anything_passes_is_refused(door, prob, meant, tmp_path):
    with pytest.raises(UsageError, match=rf"0\.5 or more.*did you mean {meant}\?"):
        LEVELS[door](prob, tmp_path)


@pytest.mark.parametrize(("prob", "named"), [(0.5, True), (0.79, True), (0.8, False)])
def test_a_lenient_level_is_a_finding(prob, named):
    gate = op.gate(SEEN, "new", "old", rope=0.01, hdi_prob=prob, **ASKED)
    lenient = [one for one in gate.findings if one.name == "lenient_level"]
    assert [one.level for one in lenient] == ["warning"] * named
    assert not named or f"passes in {(1 - prob) / 2:.0%} of cases" in lenient[0].message
