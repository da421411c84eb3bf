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
from scripts import measure_extras
from tests.loops import each

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


@each(
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


def test_pages_for_agents_are_in_both_archives(tmp_path):
    pages = {"how-to/agents.md"}
    inside = {**WHEEL, "outperform/agents/docs/how-to/agents.md": b""}
    beside = {**SDIST, "docs/how-to/agents.md": b""}
    for make, files, bare in ((make_wheel, inside, WHEEL), (make_sdist, beside, SDIST)):
        for known, held, n in ((pages, files, 0), (pages, bare, 1), (set(), files, 1)):
            path = make(tmp_path, held)
            assert len([*CHECK.faults(path, CHECK.contents(path), PACKAGE, known)]) == n
    assert CHECK.pages_of(ROOT) >= pages


def test_the_files_of_the_package_are_found():
    found = CHECK.of_package(ROOT)
    assert found >= CHECK.MUST | {"__init__.py"}
    assert not [name for name in found if "pycache" in name]


def test_recipe_and_citation_are_of_this_version():
    recipe = (ROOT / "conda/recipe.yaml").read_text(encoding="utf-8")
    assert f'version: "{op.__version__}"' in recipe
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {op.__version__}\n" in citation


def test_the_changelog_has_this_version_or_says_that_it_will_be_released():
    text = read("CHANGELOG.md")
    sections = re.findall(r"^## (\S+)", text, re.MULTILINE)
    assert len(set(sections)) == len(sections)
    intro = " ".join(text.partition("\n## ")[0].split())
    assert (
        op.__version__ in [one.strip(",") for one in sections]
        or f'"Unreleased" will be {op.__version__}.' in intro
    )


def test_every_line_of_the_changelog_stands_there_once():
    lines = [line for line in read("CHANGELOG.md").splitlines() if len(line) > 20]
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize(
    ("changelog", "faults"),
    [
        ("# Changelog\n\n## Unreleased\n\n## 1.2.3, 2027-01-02\n\n- New.\n", 0),
        ("# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.2.3\n\n- Old.\n", 1),
        ("# Changelog\n\n## Unreleased\n\n- New.\n", 2),
        ("# Changelog\n\n## Unreleased\n\n## 1.2.3\n\n", 1),
    ],
)
def test_a_tag_needs_notes_and_leaves_none_behind(changelog, faults):
    assert len(CHECK.notes_faults("1.2.3", changelog)) == faults


def test_nothing_is_left_to_fill_in():
    for name in ("SECURITY.md", "CONTRIBUTING.md", "CITATION.cff", "README.md"):
        assert "OWNER" not in read(name), name


def test_the_recipe_constrains_only_what_the_package_has_as_an_extra():
    constrained = (
        read("conda/recipe.yaml").partition("  run_constraints:\n")[2].partition("\n\n")[0]
    )
    extras = " ".join(one for group in PROJECT["optional-dependencies"].values() for one in group)
    for line in constrained.splitlines():
        name = line.split()[1].removesuffix("-base").removeprefix("python-")
        assert name in extras, name


def test_the_recipe_needs_what_the_package_needs():
    needed = read("conda/recipe.yaml").partition("  run:\n")[2].partition("  run_constraints")[0]
    listed = {line.strip("- ").replace(" ", "") for line in needed.splitlines()}
    assert listed - {"python>=${{python_min}}", ""} == set(PROJECT["dependencies"])


@each("path", WORKFLOWS, ids=lambda path: path.name)
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


def test_every_extra_has_its_weight_in_the_docs():
    rows = measure_extras.table(
        measure_extras.Installed(frozenset({"numpy"}), 100_000_000),
        [("plot", measure_extras.Installed(frozenset({"numpy", "matplotlib"}), 130_400_000))],
    ).splitlines()
    assert rows[0] == "| extra | MB | packages |"
    assert rows[2:] == ["| none | 100 | 1 |", "| `plot` | +30 | +1 |"]
    weights = read("docs/how-to/install.md").partition(rows[0])[2]
    assert re.findall(r"^\| `(\w+)` \| \+\d+ \| \+\d+ \|$", weights, re.MULTILINE) == [
        *PROJECT["optional-dependencies"]
    ]
