"""The built wheel in a fresh environment: the README's quick start and its three commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXTRAS = "cli,report,plot"
# What the README's reader brings: a test set and two fitted models.
BROUGHT = """
from types import SimpleNamespace
from outperform.datasets import load_news20
news = load_news20()
X_test, y_test = None, news.y_true
model_a = SimpleNamespace(predict=lambda X: news.predictions["svm_l1"])
model_b = SimpleNamespace(predict=lambda X: news.predictions["svm_l2"])
"""


def succeed(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return the wheel of these sources."""
    folder = tmp_path_factory.mktemp("dist")
    pip = [sys.executable, "-m", "pip"]
    succeed([*pip, "wheel", str(ROOT), "--no-deps", "--wheel-dir", str(folder)])
    return next(folder.glob("outperform-*.whl"))


def environment_with(requirement, folder):
    """Return the programs of a new environment in which only this is installed."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    succeed([programs / "python", "-m", "pip", "install", requirement])
    return programs


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Return the programs of an environment that has the wheel and its extras only."""
    return environment_with(f"{wheel}[{EXTRAS}]", tmp_path_factory.mktemp("installed") / "env")


def shell_lines(text):
    """Return the commands that a page shows."""
    blocks = re.findall(r"```shell\n(.*?)```", text, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.mark.slow
def test_the_readme_is_true_of_the_wheel(installed, tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [line for line in shell_lines(readme) if line.startswith("outperform ")]
    assert [shlex.split(line)[1] for line in commands] == ["example", "compare", "report"]
    shown = ""
    for line in commands:
        _, *arguments = shlex.split(line)
        shown += succeed([installed / "outperform", *arguments], cwd=tmp_path)
    assert shown.startswith("svm_l1 is worse than svm_l2: macro-averaged F1 lower by")
    assert (tmp_path / "report.html").stat().st_size > 10_000


@pytest.mark.slow
def test_the_quick_start_is_true_of_the_wheel(installed, tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = readme.partition("```python\n")[2].partition("```")[0]
    script = tmp_path / "quick.py"
    script.write_text(BROUGHT + first, encoding="utf-8")
    shown = succeed([installed / "python", script], cwd=tmp_path)
    assert shown.startswith("svm_l1 is worse than svm_l2")


@pytest.mark.slow
def test_without_extras_one_line_says_what_to_install(wheel, tmp_path):
    programs = environment_with(str(wheel), tmp_path / "env")
    assert succeed([programs / "outperform", "--version"]).startswith("outperform ")
    commands = [line.split()[0] for line in succeed([programs / "outperform"]).splitlines()[4:-2]]
    assert commands[0] == "compare"
    (tmp_path / "x.csv").write_text("y,a,b\nx,x,z\nz,z,z\n", encoding="utf-8")
    done = subprocess.run(
        [programs / "outperform", "compare", "x.csv"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (5, "")
    assert re.fullmatch(r'outperform: .*: pip install "outperform\[cli\]"\n', done.stderr)
