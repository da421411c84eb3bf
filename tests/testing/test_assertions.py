"""Assertions for pytest: what raises, what warns, what is returned."""

from __future__ import annotations

import subprocess
import sys

import pytest

import outperform as op
from outperform.errors import UsageError
from outperform.testing import assert_better, assert_not_worse


@pytest.fixture(scope="module")
def seen():
    """Outcomes of a good, a middling and a bad model, and of one much like the middling."""
    right = {"good": 95, "middling": 80, "alike": 81, "bad": 50}
    return op.Outcomes.from_correct(
        {name: [1] * count * 5 + [0] * (100 - count) * 5 for name, count in right.items()}
    )


def test_a_better_candidate_passes_and_the_gate_comes_back(seen):
    found = assert_not_worse(seen, "good", "middling", metric="accuracy", rope=0.01)
    assert found.passed
    assert found.main.mean > 0.1
    assert assert_better(seen, "good", "middling", metric="accuracy", rope=0.01).passed


def test_a_worse_candidate_raises_with_the_numbers(seen):
    with pytest.raises(AssertionError) as raised:
        assert_not_worse(seen, "bad", "good", metric="accuracy", rope=0.01, random_state=0)
    assert str(raised.value).startswith(
        "Gate failed: bad is worse than good in accuracy: the whole "
    )
    assert "95% HDI" in str(raised.value)
    assert "below −0.01, the lower edge of the ROPE" in str(raised.value)


def test_not_worse_is_not_better(seen):
    assert_not_worse(seen, "alike", "middling", metric="accuracy", rope=0.05)
    with pytest.raises(AssertionError, match="alike is not better than middling in accuracy"):
        assert_better(seen, "alike", "middling", metric="accuracy", rope=0.05)


def test_arrays_and_names():
    truth, new, old = ["x", "y"] * 100, ["x", "y"] * 100, ["x", "x"] * 100
    asked = {"metric": "f1", "pos_label": "x", "rope": 0.01}
    assert assert_not_worse(truth, new, old, **asked).main.names == ("candidate", "baseline")
    seen = op.Outcomes.from_labels(truth, {"v2": new, "v1": old})
    assert assert_not_worse(seen, "v2", "v1", **asked).main.names == ("v2", "v1")
    with pytest.raises(AssertionError, match="v1 is worse than v2 in F1"):
        assert_not_worse(seen, "v1", "v2", **asked)


def test_a_guard_raises_too(seen):
    truth = ["fraud"] * 100 + ["ham"] * 900
    new, old = ["ham"] * 50 + ["fraud"] * 50 + ["ham"] * 900, ["fraud"] * 200 + ["ham"] * 800
    assert_not_worse(truth, new, old, metric="accuracy", rope=0.01)
    with pytest.raises(AssertionError, match="worse than baseline in recall of fraud"):
        assert_not_worse(
            truth, new, old, metric="accuracy", rope=0.01, guards=[("recall", "fraud", 0.02)]
        )


class TestUndecided:
    def question(self, seen):
        return (seen, "middling", "alike"), {"metric": "accuracy", "rope": 0.005}

    def test_it_fails_unless_told_otherwise(self, seen):
        models, asked = self.question(seen)
        with pytest.raises(AssertionError, match="Gate undecided: not enough evidence to tell"):
            assert_not_worse(*models, **asked)

    def test_it_may_warn(self, seen):
        models, asked = self.question(seen)
        with pytest.warns(UserWarning, match="more items") as caught:
            found = assert_not_worse(*models, **asked, undecided="warn")
        assert found.status is op.results.GateStatus.UNDECIDED
        assert caught[0].filename == __file__

    def test_it_may_pass(self, seen):
        models, asked = self.question(seen)
        found = assert_not_worse(*models, **asked, undecided="pass")
        assert found.status is op.results.GateStatus.UNDECIDED

    def test_a_failure_fails_all_the_same(self, seen):
        with pytest.raises(AssertionError):
            assert_not_worse(seen, "bad", "good", metric="accuracy", undecided="pass")


def test_bad_arguments_are_usage_errors(seen):
    with pytest.raises(UsageError, match="unknown value of undecided 'maybe'"):
        assert_not_worse(seen, "good", "bad", metric="accuracy", undecided="maybe")
    with pytest.raises(UsageError, match="require is not a parameter here"):
        assert_not_worse(seen, "good", "bad", metric="accuracy", require="better")


def test_importing_it_costs_no_numpy():
    code = "import sys, outperform.testing; print('numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
