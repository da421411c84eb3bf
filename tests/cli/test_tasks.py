"""Many tasks on the command line: logs and tables, metrics by task, and a policy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import outperform as op
from outperform.cli.main import main

TASKS = ("arc", "gsm8k", "hella", "mmlu", "notes")
MODELS = {"large": 0.8, "small": 0.6, "tiny": 0.55}


def asked(capsys, *words):
    code = main([str(word) for word in words])
    told = capsys.readouterr()
    return code, told.out if code in (0, 1, 4) else told.err


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """Write logs of five tasks, one of which has grades, and a table of the other four."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    table = [["id", "task", *MODELS]]
    for task in TASKS:
        hard = rng.random(150)
        bits = {
            model: (np.where(rng.random(150) < 0.6, hard, rng.random(150)) < share).astype(int)
            for model, share in MODELS.items()
        }
        for model, own in bits.items():
            folder = Path("logs", model)
            folder.mkdir(parents=True, exist_ok=True)
            graded = task == "notes"
            key, values = ("grade", 5.5 + 3 * own + hard) if graded else ("acc", own)
            rows = [{"doc_id": k, key: value} for k, value in enumerate(values.tolist())]
            path = folder / f"samples_{task}_2026-01-01T00-00-00.000001.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        if task != "notes":
            for k in range(150):
                table.append([f"{task}-{k}", task, *(str(own[k]) for own in bits.values())])
    Path("table.csv").write_text("\n".join(map(",".join, table)) + "\n", "utf-8")


COLUMNS = [word for model in MODELS for word in ("--correct", model)]
FOUR = ["--where", "task=arc", "--where", "task=gsm8k", "--where", "task=hella", "--where", "task=mmlu"]  # fmt: skip # noqa: E501
FEW = ["--draws", "1000", "--format", "json"]


def test_logs_and_a_table_say_the_same(logs, capsys):
    words = ["--by", "task", "--a", "large", "--b", "small", "--rope", "0.01", *FEW]
    code, told = asked(capsys, "compare", "logs", *FOUR, *words)
    other, same = asked(capsys, "compare", "table.csv", *COLUMNS, *words)
    assert code == other == 0
    told, same = json.loads(told), json.loads(same)
    assert told["kind"] == "suite"
    assert told["mean"] == pytest.approx(same["mean"])
    assert [one["task"] for one in told["tasks"]] == list(TASKS[:4])


def test_a_folder_of_mixed_tasks_is_ranked_in_one_command(logs, capsys):
    code, told = asked(capsys, "rank", "logs", "--by", "task", "--rope", _ropes(), *FEW)
    assert code == 0
    facts = json.loads(told)
    assert (facts["kind"], facts["scale"], facts["names"][0]) == ("suite_ranking", "rope", "large")
    metrics = {one["task"]: one["metric"] for one in facts["tasks"]}
    assert metrics == {**dict.fromkeys(TASKS[:4], "accuracy"), "notes": "mean"}


def test_mixed_tasks_without_by_are_told_of_it(logs, capsys):
    code, told = asked(capsys, "rank", "logs")
    assert code == 3
    assert "The logs have 5 tasks: compare each task by its score with --by task" in told


def test_tasks_without_a_rope_have_the_default(logs, capsys):
    words = ["--by", "task", "--rope", "arc=0.02,gsm8k=0.02", *FEW]
    code, told = asked(capsys, "rank", "table.csv", *COLUMNS, *words)
    assert code == 0
    messages = [one["message"] for one in json.loads(told)["findings"]]
    assert (
        "No ROPE was given for hella and mmlu; using the default, ±0.01. "
        "Set one that fits your problem."
    ) in messages


def test_a_line_without_an_id_is_bad_data(logs, capsys):
    path = Path("logs", "tiny", "samples_arc_2026-01-01T00-00-00.000001.jsonl")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    del lines[3]["doc_id"], lines[9]["doc_id"]
    path.write_text("".join(json.dumps(row) + "\n" for row in lines), "utf-8")
    code, told = asked(capsys, "rank", "logs", "--by", "task", "--rope", _ropes())
    assert code == 3
    assert "every sample needs an id in 'doc_id'" in " ".join(told.split())


def _ropes() -> str:
    return ",".join(f"{task}={0.3 if task == 'notes' else 0.02}" for task in TASKS)


def test_by_hand(logs, capsys):
    words = ["--by", "task", "--a", "large", "--b", "tiny", "--rope", "0.01", "--weights", "size"]
    _, told = asked(capsys, "compare", "table.csv", *COLUMNS, *words, "--seed", "0", *FEW)
    seen = op.read("table.csv", correct=list(MODELS), by=["task"])
    suite = op.Suite(seen, ropes=0.01, weights="size")
    found = op.compare(suite, "large", "tiny", n_draws=1_000, random_state=0)
    assert json.loads(told)["mean"] == pytest.approx(found.mean)


@pytest.mark.parametrize(
    ("policy", "candidate", "code"),
    [
        ('[tasks]\narc = "advisory"\n', "large", 0),
        ("", "tiny", 3),
        ("[tasks]\narc = 0.9\n", "tiny", 2),
    ],
)
def test_a_gate_with_a_policy(logs, capsys, policy, candidate, code):
    Path("policy.toml").write_text(policy, "utf-8")
    other = "small" if candidate == "large" else "large"
    names = ["--candidate", candidate, "--baseline", other]
    words = ["table.csv", *COLUMNS, *names, "--by", "task", "--policy", "policy.toml"]
    found, told = asked(capsys, "gate", *words, "--rope", "0.01", "--draws", "1000")
    assert found == code
    assert ("Gate passed: large passes against small on all 3 tasks." in told) == (code == 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "table.csv", *COLUMNS, "--a", "large", "--b", "small", "--weights", "size"],
         "--weights needs --by"),
        (["gate", "table.csv", *COLUMNS, "--candidate", "large", "--baseline", "small",
          "--policy", "p.toml"], "--policy needs --by"),
        (["rank", "table.csv", *COLUMNS, "--by", "task", "--weights", "arc=1"],
         "must include every"),
        (["rank", "table.csv", *COLUMNS, "--by", "task", "--rope", "arc=0.01,x"], "task=value"),
        (["rank", "logs", "--by", "task", "--truth", "label"], "--truth cannot be used"),
        (["rank", "table.csv", "table.csv", "--by", "task"], "one table or evaluation logs"),
        (["rank", "table.csv", *COLUMNS, "--by", "task", "--labels", "1"], "to a single task"),
        (["compare", "table.csv", *COLUMNS, "--a", "large", "--b", "tiny", "--by", "task",
          "--items", "x.csv"], "--items and --p-value apply to a single task"),
    ],
)  # fmt: skip
def test_what_is_refused(logs, capsys, words, message):
    code, told = asked(capsys, *words)
    assert code == 2
    assert message in " ".join(told.split())
