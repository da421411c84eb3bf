"""The gate over many tasks: rules, margins, advisory tasks, and how often it is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from outperform.gates.ci import gate_annotations, gate_junit, gate_outputs
from outperform.gates.policy import Rule, read_policy
from outperform.gates.rule import fails_among
from outperform.inference.summary import summarize
from outperform.results import GateStatus
from tests.loops import each


def task(n: int, only_new: int, only_old: int) -> op.Outcomes:
    both = n - only_new - only_old
    new = [1] * both + [1] * only_new + [0] * only_old
    old = [1] * both + [0] * only_new + [1] * only_old
    return op.Outcomes.from_correct({"new": new, "old": old})


SAFE, WORSE, OPEN = task(2_000, 40, 40), task(1_000, 10, 120), task(200, 20, 24)


def gate(tasks, **asked):
    suite = op.Suite(tasks, metrics="accuracy", ropes=0.02)
    return op.gate(suite, "new", "old", n_draws=4_000, **asked)


def test_all_must_pass():
    assert gate({"a": SAFE, "b": SAFE}).status is GateStatus.PASS
    assert gate({"a": SAFE, "b": OPEN}).status is GateStatus.UNDECIDED
    assert gate({"a": SAFE, "b": WORSE, "c": OPEN}).status is GateStatus.FAIL


def test_an_advisory_task_is_shown_and_never_decides():
    found = gate({"a": SAFE, "b": WORSE}, policy={"b": "advisory"})
    assert found.status is GateStatus.PASS
    assert found.checks[1].status is GateStatus.FAIL
    assert "b, advisory" in str(found)
    cases = ElementTree.fromstring(gate_junit(found)).iter("testcase")
    assert [case.find("failure") is None for case in cases] == [True, True]
    commands = [line.split()[0] for line in gate_annotations(found).splitlines()]
    assert commands == ["::notice", "::notice"]
    assert gate_outputs(found) == "status=pass"  # no task's difference is that of all


def test_a_margin_is_how_much_worse_it_may_be():
    assert gate({"a": WORSE}, policy={"a": 0.2}).status is GateStatus.PASS
    assert gate({"a": WORSE}, policy={"a": 0.05}).status is GateStatus.FAIL
    edge = gate({"a": WORSE}, policy={"a": 0.05}).checks[0].to_dict()["edge"]
    assert edge == -0.05


def test_better_may_be_required_of_one_task():
    assert gate({"a": SAFE, "b": SAFE}, policy={"b": "better"}).status is not GateStatus.PASS


def test_more_tasks_need_a_surer_failure():
    """A task that fails alone by a hair is undecided among twenty."""
    near = task(1_000, 20, 60)
    alone = gate({"a": near}).checks[0]
    assert alone.status is GateStatus.FAIL
    many = gate({"a": near, **{f"t{place}": SAFE for place in range(19)}})
    assert many.checks[0].status is GateStatus.UNDECIDED
    assert "99.75% HDI, required for a failure among 20 tasks" in many.report()


def test_the_level_of_a_failure_is_shared_among_the_tasks():
    comparison = gate({"a": WORSE}).checks[0].comparison
    for n_checks in (1, 5, 50):
        prob = 1 - 0.05 / n_checks
        hdi = summarize(np.sort(comparison.draws), comparison.distribution, prob).hdi
        assert fails_among(comparison, "not_worse", n_checks) == (hdi.high < -0.02)


def test_a_policy_file(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text('[tasks]\na = "advisory"\nb = 0.2\n', encoding="utf-8")
    assert read_policy(path) == {"a": "advisory", "b": 0.2}
    assert gate({"a": OPEN, "b": WORSE}, policy=path).passed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tasks", "is not valid TOML"),
        ("", r"one table, \[tasks\]"),
        ("[tasks]\na=1\n[other]\n", "got 'other'"),
        ("tasks = 3", r"one table, \[tasks\]"),
    ],
)
def test_a_bad_policy_file_is_refused(tmp_path, text, message):
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_policy(path)


@each(
    ("policy", "message"),
    [
        ({"nope": "advisory"}, "unknown task 'nope'"),
        ({"a": "maybe"}, "policy of 'a' must be"),
        ({"a": -0.1}, "policy of 'a' must be"),
        ({"a": True}, "policy of 'a' must be"),
        ({"a": float("nan")}, "policy of 'a' must be"),
        ({"a": "advisory"}, "at least one must be binding"),
        ("no-such-file.toml", "does not exist"),
    ],
)
def test_a_bad_policy_is_refused(policy, message):
    with pytest.raises(UsageError, match=message):
        gate({"a": SAFE}, policy=policy)


def test_guards_and_policies_do_not_mix():
    with pytest.raises(UsageError, match="guards apply to a single task"):
        gate({"a": SAFE}, guards=[("accuracy", None, 0.01)])
    with pytest.raises(UsageError, match="applies only to a suite"):
        op.gate(SAFE, "new", "old", metric="accuracy", policy={"a": 0.1})


def test_rules():
    assert Rule.from_param("a", 0, "better") == Rule(require="not_worse", margin=0.0)
    assert Rule.from_param("a", "advisory", "better") == Rule(require="better", advisory=True)


def test_facts_are_plain():
    found = gate({"a": SAFE, "b": OPEN})
    checks = json.loads(json.dumps(found.to_dict()))["checks"]
    assert [(one["task"], one["advisory"], one["n_checks"]) for one in checks] == [
        ("a", False, 2),
        ("b", False, 2),
    ]
    assert replace(found.checks[0], advisory=True).to_dict()["advisory"]
