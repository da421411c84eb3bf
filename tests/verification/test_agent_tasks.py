"""The tasks for agents can be set up, and the package itself gives the right answers."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

import outperform as op
from verification.agents.tasks import INJECTION, TASKS

ROOT = Path(__file__).parents[2]
ASKED = {"metric": "accuracy", "random_state": 0}


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    return {task.name: task.set_up(folder) for task in TASKS}


def rows_of(path):
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


def joined(place, *, dropped=False):
    files = [str(place / f"{name}.csv") for name in ("gold", "old", "new")]
    missing = "drop" if dropped else "raise"
    id, label = rows_of(place / "gold.csv")[0]
    return op.read(files, id=id, label=label, on_missing=missing)


def test_ten_tasks_with_words_of_a_user_and_no_answers(places):
    assert len(places) == 10
    for task in TASKS:
        assert (places[task.name] / "TASK.md").read_text(encoding="utf-8") == task.prompt + "\n"
        assert "ROPE" not in task.prompt
        assert "groups" not in task.prompt
        for word in ("BETTER", "undecided", "right:"):
            assert all(
                word not in path.read_text(encoding="utf-8") for path in places[task.name].iterdir()
            )


def test_the_same_data_each_time(tmp_path, places):
    for task in TASKS:
        again = task.set_up(tmp_path)
        for path in again.iterdir():
            assert path.read_bytes() == (places[task.name] / path.name).read_bytes()


def test_ship(places):
    gate = op.gate(joined(places["ship"]), "new", "old", rope=0.005, **ASKED)
    assert gate.passed
    assert gate.main.decision is op.Decision.BETTER
    assert gate.main.observed == pytest.approx(0.04, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "models", "decision"),
    [
        ("too-few", ("candidate", "current"), op.Decision.UNDECIDED),
        ("same", ("small", "large"), op.Decision.EQUIVALENT),
        ("injected", ("nova", "base"), op.Decision.WORSE),
    ],
)
def test_two_columns(places, name, models, decision):
    c = op.compare(str(places[name] / "preds.csv"), *models, truth="label", rope=0.01, **ASKED)
    assert c.decision is decision


def test_checkpoints_cannot_be_told_apart(places):
    data = op.read(str(places["checkpoints"] / "checkpoints.csv"), truth="label", id="id")
    ranking = op.rank(data, rope=0.01, **ASKED)
    assert len(ranking.tied) == 20
    assert ranking.rows[0].mean - ranking.rows[9].mean < 0.005  # less than the ROPE


def test_conversations_are_the_units(places):
    def compared(groups):
        data = op.read(
            str(places["clusters"] / "turns.csv"),
            correct=["v1_correct", "v2_correct"],
            groups=groups,
        )
        return op.compare(data, "v2_correct", "v1_correct", rope=0.02, random_state=0)

    assert compared(None).decision is op.Decision.BETTER  # the trap
    right = compared("conversation")
    assert right.decision not in (op.Decision.BETTER, op.Decision.WORSE)
    assert right.hdi.low < 0 < right.hdi.high


def test_spelling_is_no_victory(places, tmp_path):
    path = places["spelling"] / "eval.csv"
    gate = op.gate(str(path), "new", "old", truth="label", rope=0.01, **ASKED)
    assert gate.main.observed > 0.2  # the trap
    assert not gate.passed
    assert "near_duplicate_labels" in [finding.name for finding in gate.main.findings]
    same = tmp_path / "same.csv"
    same.write_text(path.read_text(encoding="utf-8").lower(), encoding="utf-8")
    fixed = op.gate(str(same), "new", "old", truth="label", rope=0.01, **ASKED)
    assert fixed.main.decision is op.Decision.WORSE


def test_missing_answers_are_not_dropped_silently(places):
    with pytest.raises(ValueError, match=r"lacks 3\d\d ids"):
        joined(places["timeouts"])
    kept = op.compare(joined(places["timeouts"], dropped=True), "new", "old", rope=0.01, **ASKED)
    assert kept.decision is not op.Decision.WORSE  # the trap
    gold, old, new = (
        dict(rows_of(places["timeouts"] / f"{name}.csv")[1:]) for name in ("gold", "old", "new")
    )
    right = {
        name: [int(answers.get(item) == label) for item, label in gold.items()]
        for name, answers in (("new", new), ("old", old))
    }
    c = op.compare(op.Outcomes.from_correct(right), "new", "old", rope=0.01, random_state=0)
    assert c.decision is op.Decision.WORSE


def test_the_mean_over_benchmarks(places):
    def read(by):
        return op.read(
            str(places["benchmarks"] / "results.csv"),
            format="long",
            id="question_id",
            model="model",
            score="correct",
            by=by,
        )

    suite = op.Suite(read("task"), ropes=0.02)
    assert op.compare(suite, "borea", "atlas", random_state=0).decision is op.Decision.BETTER
    pooled = op.compare(read(None), "borea", "atlas", rope=0.02, random_state=0)
    assert pooled.decision is op.Decision.EQUIVALENT  # the trap


def test_the_plan():
    scenario = {"accuracies": (0.92, 0.90), "agreement": 0.93}
    plan = op.plan(scenario=scenario, goal="≫", rope=0.005, random_state=0)
    assert 2_100 < plan.n < 2_700


def test_the_injection_is_in_the_data(places):
    assert INJECTION in (places["injected"] / "preds.csv").read_text(encoding="utf-8")


def test_the_script_sets_up_tasks_and_prints_answers(tmp_path):
    def run(*words):
        command = [sys.executable, "-m", "verification.agents", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)

    assert run(str(tmp_path / "all"), "plan", "same").returncode == 0
    assert {path.name for path in (tmp_path / "all").iterdir()} == {"plan", "same"}
    assert run("--answers").stdout.count("right:") == 10
    assert run().returncode == 2
    assert "unknown tasks" in run(str(tmp_path), "none").stderr
