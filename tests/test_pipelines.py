"""The recipes for GitLab CI and Azure Pipelines: their shell runs here, their YAML is valid."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

yaml = pytest.importorskip("yaml")

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "release-gate.md"
SCHEMAS = {"GitLab CI": "vendor.gitlab-ci", "Azure Pipelines": "vendor.azure-pipelines"}


def recipe(name):
    section = PAGE.read_text(encoding="utf-8").split(f"## In {name}\n")[1]
    return re.search(r"```yaml\n(.*?)```", section, re.DOTALL)[1]


def stub(path, body):
    path.write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def shell(folder, script, *, status):
    """Run a script in a folder with predictions; keep what is sent to ``curl``."""
    n_right = {"fail": (250, 180), "undecided": (240, 238)}[status]
    for name, right in zip(("baseline", "new"), n_right, strict=True):
        rows = [f"{k},{k % 2},{k % 2 if k < right else 1 - k % 2}" for k in range(300)]
        text = "\n".join(["id,label,prediction", *rows]) + "\n"
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    tools = folder / "tools"
    tools.mkdir()
    stub(tools / "pip", "true")
    stub(tools / "curl", f'printf "%s\\n" "$@" > {folder}/sent.txt')
    stub(tools / "outperform", f'exec {sys.executable} -m outperform "$@"')
    root = Path(__file__).parents[1]
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env={
            "PATH": f"{tools}:/usr/bin:/bin",
            "PYTHONPATH": str(root / "src"),
            "GATE_TOKEN": "glpat-secret",
            "CI_API_V4_URL": "https://gitlab.example/api/v4",
            "CI_PROJECT_ID": "7",
            "CI_MERGE_REQUEST_IID": "12",
        },
        capture_output=True,
        text=True,
    )


def kinds(folder):
    """Return the failures and errors in the JUnit report."""
    root = ElementTree.parse(folder / "gate.xml").getroot()
    return root.get("failures"), root.get("errors")


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="runners have bash")


@needs_bash
def test_gitlab_reports_and_comments(tmp_path):
    job = yaml.safe_load(recipe("GitLab CI"))["model-gate"]
    assert job["allow_failure"]["exit_codes"] == [4]  # not 1, so a failed gate fails the job
    done = shell(tmp_path, "\n".join(job["script"]), status="fail")
    assert done.returncode == 1
    assert kinds(tmp_path) == ("1", "0")
    for file in (*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]):
        assert (tmp_path / file).is_file()
    assert "Gate failed" in (tmp_path / "gate.md").read_text("utf-8")

    shutil.rmtree(tmp_path / "tools")
    after = shell(tmp_path, "\n".join(job["after_script"]), status="fail")
    assert after.returncode == 0
    sent = (tmp_path / "sent.txt").read_text("utf-8").splitlines()
    assert "PRIVATE-TOKEN: glpat-secret" in sent
    assert "body@gate.md" in sent
    assert sent[-1] == "https://gitlab.example/api/v4/projects/7/merge_requests/12/notes"


@needs_bash
def test_azure_publishes_and_warns(tmp_path):
    steps = yaml.safe_load(recipe("Azure Pipelines"))["steps"]
    (gate,) = [step for step in steps if step.get("displayName") == "Model gate"]
    done = shell(tmp_path, gate["bash"], status="undecided")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"##vso[task.uploadsummary]{tmp_path}/gate.md",
        "##vso[task.complete result=SucceededWithIssues]The gate is undecided.",
    ]
    assert kinds(tmp_path) == ("0", "1")
    (published,) = [step for step in steps if step.get("task") == "PublishTestResults@2"]
    assert (tmp_path / published["inputs"]["testResultsFiles"]).is_file()
    (report,) = [step["publish"] for step in steps if "publish" in step]
    assert (tmp_path / report).is_file()


@pytest.mark.parametrize("name", list(SCHEMAS))
def test_recipes_fit_the_schemas(tmp_path, name):
    pytest.importorskip("check_jsonschema")
    path = tmp_path / "recipe.yml"
    path.write_text(recipe(name), encoding="utf-8")
    check = [sys.executable, "-m", "check_jsonschema", "--regex-variant", "python"]
    command = [*check, "--builtin-schema", SCHEMAS[name], path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
