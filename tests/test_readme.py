"""The README's code and the tutorials' commands print what is shown.

After a change of the answer that is meant::

    UPDATE_GOLDEN=1 python -m pytest tests/test_readme.py
"""

from __future__ import annotations

import io
import os
import re
import shlex
import tomllib
from contextlib import chdir, redirect_stdout
from pathlib import Path

import pytest
from _pytest.doctest import _get_checker, get_optionflags

from outperform.cli.main import main
from outperform.explanations import SITE

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
INDEX = ROOT / "docs/index.md"
REPOSITORY = "https://github.com/outperform/outperform/blob/main/"
RAW = "https://raw.githubusercontent.com/outperform/outperform/main/"
WITH_COMMANDS = ["docs/tutorial/release-engineer.md"]


def blocks(language: str, text: str) -> list[str]:
    """Return the fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def paste(text: str) -> str:
    """Return what the Python blocks of a page print, one after the other."""
    given: dict[str, object] = {}
    with redirect_stdout(io.StringIO()) as shown:
        for block in blocks("python", text):
            exec(block, given)
    return shown.getvalue()


def equal(got: str, want: str, flags: int) -> bool:
    return bool(_get_checker().check_output(want, got, flags))


def run(command: str, status: int) -> tuple[str, int]:
    """Return what a command of a page prints, and its exit code."""
    program, *arguments = shlex.split(command)
    if program == "outperform":
        with redirect_stdout(io.StringIO()) as shown:
            status = main(arguments)
        return shown.getvalue(), status
    if program == "head":
        _, n, path = arguments
        lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
        return "".join(lines[: int(n)]), 0
    assert command == "echo $?"
    return f"{status}\n", 0


def type_in(console: str) -> str:
    """Return a console block with what its commands print today."""
    typed, status = "", 0
    for line in console.splitlines():
        if line.startswith("$ "):
            shown, status = run(line[2:], status)
            typed += f"{line}\n{mask(shown)}"
    return typed


def mask(text: str) -> str:
    """Leave out the versions of this environment."""
    return re.sub(r"(?<=outperform )[\d.]+|(?<=numpy=)[\d.]+", "...", text)


@pytest.fixture(scope="module")
def readme() -> str:
    return README.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def printed(readme: str) -> str:
    return paste(readme)


def test_the_code_has_no_prompts_and_prints_what_is_shown(readme, printed, request):
    (shown,) = blocks("text", readme)
    if os.environ.get("UPDATE_GOLDEN"):
        readme = readme.replace(shown, f"{mask(printed).rstrip()}\n")
        README.write_text(readme, encoding="utf-8")
        index = INDEX.read_text(encoding="utf-8").replace(shown, *blocks("text", readme))
        INDEX.write_text(index, encoding="utf-8")
        (shown,) = blocks("text", readme)
    assert ">>>" not in readme
    assert equal(printed, shown, get_optionflags(request.config))
    other = shown.replace("worse", "better", 1)
    assert not equal(printed, other, get_optionflags(request.config))


def test_the_first_page_of_the_docs_shows_the_same():
    readme, index = README.read_text(encoding="utf-8"), INDEX.read_text(encoding="utf-8")
    assert blocks("python", index) == blocks("python", readme)
    assert blocks("text", index) == blocks("text", readme)


def test_links_are_whole_and_lead_to_files(readme):
    links = re.findall(r'\]\(([^)#]+)|(?:src|srcset)="([^"]+)"', readme)
    for link in (one or other for one, other in links):
        assert link.startswith("https://")
        for base in (REPOSITORY, RAW):
            assert not link.startswith(base) or (ROOT / link.removeprefix(base)).is_file()
        if link.startswith(SITE):
            page = link.removeprefix(SITE).removesuffix(".html") or "index"
            # Generated parts are included in pages; docs/coverage_map.py writes one of the pages.
            written = page == "coverage-map" or (ROOT / "docs" / f"{page}.md").is_file()
            assert written, link
            assert "_generated" not in page
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]["Documentation"] == SITE
    assert project["urls"]["Repository"] == REPOSITORY.removesuffix("/blob/main/")
    assert f"Python {project['requires-python'].removeprefix('>=')} or newer" in readme


def test_the_commands_agree_with_the_code(readme, printed, tmp_path):
    commands = [line for block in blocks("shell", readme) for line in block.splitlines()]
    ours = [shlex.split(line)[1:] for line in commands if line.startswith("outperform ")]
    assert [first for first, *_ in ours] == ["example", "compare", "report"]
    with chdir(tmp_path), redirect_stdout(io.StringIO()) as shown:
        assert [main(arguments) for arguments in ours] == [0, 0, 0]
    answer = "svm_l1 is worse than svm_l2"
    assert answer in printed
    assert answer in shown.getvalue()
    assert answer in (tmp_path / "report.html").read_text(encoding="utf-8")
    _, compare, report = ours
    assert report[1:] == [*compare[1:], "-o", "report.html"]


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_the_commands_of_a_page_print_what_is_shown(name, tmp_path, request):
    text = (ROOT / name).read_text(encoding="utf-8")
    shown = blocks("console", text)
    with chdir(tmp_path):
        typed = [type_in(block) for block in shown]
    if os.environ.get("UPDATE_GOLDEN"):
        for old, new in zip(shown, typed, strict=True):
            text = text.replace(old, new)
        (ROOT / name).write_text(text, encoding="utf-8")
        shown = typed
    for old, new in zip(shown, typed, strict=True):
        assert equal(new, old, get_optionflags(request.config)), new
