"""The hook for Inspect, in real runs with its mock model; skipped where Inspect is not installed.

It was run with inspect_ai 0.3.285.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TASK = """
import sys
import types
import tiktoken  # its tables come from the network
tiktoken.get_encoding = lambda name: types.SimpleNamespace(
    encode=lambda text, **options: list(text.encode())
)
import outperform.inspect_ai  # the entry point, whether or not the package is installed
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import exact, mean, scorer, Score
from inspect_ai.solver import generate

@scorer(metrics=[mean()])
def length():
    async def score(state, target):
        return Score(value=len(state.output.completion))
    return score

def run(name, folder, every, n=40):
    answers = [str(k + 1) if k % every else "no" for k in range(n)]
    outputs = [ModelOutput.from_content("mockllm/model", answer) for answer in answers]
    return Task(
        name=name,
        dataset=[Sample(id=k, input=f"{k} + 1", target=str(k + 1)) for k in range(n)],
        solver=generate(),
        scorer=[exact(), length()],
    ), get_model("mockllm/model", custom_outputs=outputs, memoize=False), folder

name, folder, every, n = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
task, model, folder = run(name, folder, every, n)
eval(task, model=model, log_dir=folder, display="none", max_samples=1)
"""


def run(folder, *, into, every, n=40, **variables):
    """Run the task in a process of its own, and return what it prints."""
    pytest.importorskip("inspect_ai")
    script = folder / "task.py"
    script.write_text(TASK, encoding="utf-8")
    environment = {"PATH": "", "HOME": str(folder), "PYTHONPATH": str(ROOT / "src")}
    found = subprocess.run(
        [sys.executable, script, "sums", folder / into, str(every), str(n)],
        env=environment | variables,
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    return found.stdout + found.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspect")
    printed = run(folder, into="baseline", every=3)
    assert "outperform" not in printed
    assert "hooks" not in printed
    assert "Gate" not in printed
    return folder


def test_the_end_of_a_run_shows_the_decision(folder):
    printed = run(
        folder,
        into="new",
        every=20,
        OUTPERFORM_BASELINE="baseline",
        OUTPERFORM_SCORE="exact",
        OUTPERFORM_ROPE="0.02",
    )
    assert "mockllm/model, task sums, against baseline" in printed
    assert "Gate passed: candidate is not worse than baseline in accuracy" in printed
    assert "+0.3000" in printed  # observed: 38 of 40 against 26
    assert "±0.02" in printed


def test_grades_and_two_ends(folder):
    printed = run(
        folder,
        into="grades",
        every=2,
        OUTPERFORM_BASELINE="baseline",
        OUTPERFORM_SCORE="length",
        OUTPERFORM_METRIC="mean",
        OUTPERFORM_ROPE="-0.5,1",
    )
    assert "in mean" in printed
    assert "−0.5 to +1" in printed


def test_no_comparison_gives_a_reason(folder):
    named = {"OUTPERFORM_BASELINE": "baseline", "OUTPERFORM_SCORE": "exact"}
    printed = run(folder, into="short", every=20, n=30, **named)
    assert "There is no comparison: of 40 items that some model answered" in printed
    printed = run(folder, into="wide", every=20, OUTPERFORM_ROPE="wide", **named)
    assert "OUTPERFORM_ROPE must be a number such as 0.01" in printed


def test_inspect_finds_the_hook_by_its_entry_point():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["inspect_ai"] == {"outperform": "outperform.inspect_ai"}
