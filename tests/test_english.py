"""Mannerisms that the text of the package and its documentation must not contain."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [
    *(
        path
        for path in sorted((ROOT / "src").rglob("*"))
        if path.suffix in {".py", ".toml", ".txt", ".html"} and "__pycache__" not in path.parts
    ),
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "ARCHITECTURE", "CONTRIBUTING")),
]
# A pattern, and the words to write instead.
MANNERISMS = [
    (r"cannot be told", "not enough evidence to tell, undecided"),
    (r"\b(?:column|file|row|line) a model\b", "one column per model"),
    (r"\b(?:labels|columns|scores) an item\b", "labels per item"),
    (r"\bthe whole (?:says|shows)\b", "the overall result shows"),
    (r"\bfor want of\b", "no value in"),
    (r"\brests? on\b", "comes from, depends on"),
    (r"\bspeaks? (?:for|against)\b", "favours"),
    (r"\bnobody looked\b", "unlabelled"),
    (r"\bholds? the truth\b", "contains the true value"),
    (r"\bgo(?:es)? wrong together\b", "errors cluster"),
    (r"\bas well as possible\b", "as closely as possible"),
    (r"\bfalls? short of\b", "is below"),
]
# Words that do not say what a variable contains: name the row, column, index, label or result.
VAGUE = {
    *("asked", "called", "found", "given", "gone", "held", "one", "place", "places", "said"),
    *("seen", "taken", "there", "told", "two"),
}
# Modules with public names that stay.
KEYWORDS = ("findings.py", "planning/result.py", "results/details.py", "comparison/coverage.py")


@pytest.mark.parametrize(("pattern", "instead"), MANNERISMS)
def test_texts_without_mannerism(pattern, instead):
    words = re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}: {match[0]!r}"
        for path in FILES
        for match in words.finditer(path.read_text(encoding="utf-8"))
    ]
    assert not found, f"write {instead!r}: {found}"


def test_variables_are_named_for_their_contents():
    source = ROOT / "src" / "outperform"
    vague = [
        f"{path.relative_to(source)}:{node.lineno}: {name}"
        for path in sorted(source.rglob("*.py"))
        if not path.relative_to(source).as_posix().startswith(KEYWORDS)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (name := bound_name(node)) in VAGUE
    ]
    assert not vague


def bound_name(node):
    match node:
        case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.FunctionDef(name=name):
            return name
    return None
