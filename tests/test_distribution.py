"""What is published, and how: the archives, the recipe, the version, the workflows."""

from __future__ import annotations

import importlib.util
import io
import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import outperform as op

ROOT = Path(__file__).parents[1]
SCRIPT = importlib.util.spec_from_file_location("check_dist", ROOT / "scripts/check_dist.py")
CHECK = importlib.util.module_from_spec(SCRIPT)
SCRIPT.loader.exec_module(CHECK)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github").rglob("*.yml"))
NAME = "outperform-0.1.0"
PACKAGE = {"__init__.py", *CHECK.MUST}
INFO = {f"{NAME}.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL", "licenses/LICENSE")}
WHEEL = {f"outperform/{name}": b"" for name in PACKAGE} | dict.fromkeys(INFO, b"")
SDIST = {f"src/outperform/{name}": b"" for name in PACKAGE} | {"PKG-INFO": b"", "README.md": b""}


def make_wheel(folder, files):
    path = folder / f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def make_sdist(folder, files):
    path = folder / f"{NAME}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{NAME}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def faults(path):
    return list(CHECK.faults(path, CHECK.contents(path), PACKAGE))


@pytest.mark.parametrize(("make", "files"), [(make_wheel, WHEEL), (make_sdist, SDIST)])
def test_the_package_alone_has_no_fault(tmp_path, make, files):
    assert faults(make(tmp_path, files)) == []


@pytest.mark.parametrize(
    ("make", "files"),
    [
        (make_wheel, {**WHEEL, "tests/test_x.py": b""}),
        (make_sdist, {**SDIST, "tests/test_x.py": b""}),
        (make_wheel, {**WHEEL, "outperform/__pycache__/x.pyc": b""}),
        (make_sdist, {**SDIST, "src/outperform/.DS_Store": b""}),
        (make_wheel, {**WHEEL, "outperform/__init__.py": b"HERE = '/home/me/outperform'"}),
        (make_wheel, {**WHEEL, "outperform/__init__.py": rb"HERE = 'C:\Users\me'"}),
        (make_sdist, {**SDIST, "PKG-INFO": str(ROOT).encode()}),
        (make_wheel, {name: b"" for name in WHEEL if "py.typed" not in name}),
        (make_sdist, {name: b"" for name in SDIST if "__init__" not in name}),
    ],
)
def test_a_planted_fault_is_found(tmp_path, make, files):
    assert len(faults(make(tmp_path, files))) == 1


def test_the_files_of_the_package_are_found():
    found = CHECK.of_package(ROOT)
    assert found >= CHECK.MUST | {"__init__.py"}
    assert not [name for name in found if "pycache" in name]


def test_recipe_and_citation_are_of_this_version():
    recipe = (ROOT / "conda/recipe.yaml").read_text(encoding="utf-8")
    assert f'version: "{op.__version__}"' in recipe
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {op.__version__}\n" in citation
    assert re.search(rf"^## {re.escape(op.__version__)}\b", read("CHANGELOG.md"), re.MULTILINE)


def test_the_recipe_needs_what_the_package_needs():
    needed = read("conda/recipe.yaml").partition("  run:\n")[2].partition("  run_constraints")[0]
    listed = {line.strip("- ").replace(" ", "") for line in needed.splitlines()}
    assert listed - {"python>=${{python_min}}", ""} == set(PROJECT["dependencies"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(path):
    used = re.findall(r"uses: (\S+)(.*)", path.read_text(encoding="utf-8"))
    for action, comment in used:
        own = action.startswith("./")
        assert own or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
        assert own or re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action


def test_workflows_call_verbs_that_there_are():
    verbs = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    calls = re.findall(r"(?:run: make |verbs?: )(.*)", "".join(map(_text, WORKFLOWS)))
    words = re.split(r"[\s,\[\]{}]+", " ".join(calls))
    asked = {word for word in words if re.fullmatch("[a-z-]+", word)}
    assert asked
    assert asked <= verbs


def _text(path):
    return path.read_text(encoding="utf-8")


def read(name):
    return _text(ROOT / name)
