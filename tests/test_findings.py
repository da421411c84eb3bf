"""The table of findings: every call fills in what its template asks for."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import outperform as op
from outperform import findings
from outperform.findings import TEMPLATES, Finding, clauses, counted, finding, listed, quoted
from tests.loops import each

PACKAGE = Path(op.__file__).parent
SOURCES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "findings.py"]


def calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
            yield node


def keys(node: ast.expr) -> list[str]:
    """Return the texts that an argument may be: one, or one of two."""
    if isinstance(node, ast.IfExp):
        return keys(node.body) + keys(node.orelse)
    assert isinstance(node, ast.Constant), f"line {node.lineno}: a finding is named by a literal"
    return [node.value]


def call_faults(source: str) -> list[str]:
    """Return what is wrong with the findings that a module builds."""
    tree = ast.parse(source)
    faults = [f"line {one.lineno}: build it from the table" for one in calls(tree, "Finding")]
    for call in calls(tree, "finding"):
        (name,) = call.args
        given = {word.arg for word in call.keywords} - {"level"}
        levels = [word.value for word in call.keywords if word.arg == "level"]
        for key in keys(name):
            if key not in TEMPLATES:
                faults.append(f"line {call.lineno}: {key} is not in the table")
            elif given != TEMPLATES[key].fields:
                faults.append(f"line {call.lineno}: {key} takes {sorted(TEMPLATES[key].fields)}")
            elif levels and set(keys(levels[0])) != set(TEMPLATES[key].levels):
                faults.append(f"line {call.lineno}: {key} is {TEMPLATES[key].levels}")
    return faults


@each("path", SOURCES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_every_call_fills_in_its_template(path):
    assert call_faults(path.read_text(encoding="utf-8")) == []


def test_every_template_is_used():
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES]
    used = {key for tree in trees for call in calls(tree, "finding") for key in keys(call.args[0])}
    assert used == set(TEMPLATES)


@each(
    ("source", "fault"),
    [
        ('finding("few_grops", n=1, least=2)', "not in the table"),
        ('finding("few_groups/size", n=1)', "takes"),
        ('finding("few_groups/size", n=1, least=2, most=3)', "takes"),
        ('finding("zero_width_rope" if x else "default_rope")', "takes"),
        ('finding("right_or_wrong_as_gold", level="serious", column=1, table=1, labels=1)', "is ("),
        ('Finding("few_groups", "note", "Few.")', "from the table"),
    ],
)
def test_a_planted_fault_is_caught(source, fault):
    (found,) = call_faults(source)
    assert fault in found


def test_the_whole_table_is_read():
    rows = [row for row in findings.TABLE.splitlines() if row[:1] not in (" ", "#")]
    assert [row.partition(":")[0] for row in rows] == list(TEMPLATES)


@each("key", TEMPLATES)
def test_a_template_is_a_sentence_of_known_levels(key):
    template = TEMPLATES[key]
    assert set(template.levels) <= {"note", "warning", "serious"}
    assert template.text[-1] in ".?}"
    assert not any(word in template.text for word in ("document", "verdict", "doubt"))


def test_variants_are_mended_alike():
    parameter: dict[str, str | None] = {}
    for one in TEMPLATES.values():
        assert parameter.setdefault(one.name, one.parameter) == one.parameter


def parameters() -> set[str]:
    """Return the names of the arguments of everything public."""
    found = set()
    for public in op.__all__:
        owner = getattr(op, public)
        members = [owner]
        if inspect.isclass(owner):
            members += [member for _, member in inspect.getmembers(owner, callable)]
        for one in members:
            if inspect.isroutine(one) or inspect.isclass(one):
                try:
                    found |= set(inspect.signature(one).parameters)
                except ValueError:  # built in, without a signature
                    continue
    return found


def test_what_mends_a_finding_is_a_parameter():
    assert {one.parameter for one in TEMPLATES.values() if one.parameter} - parameters() == set()


def test_a_finding_is_built_from_the_table():
    found = finding("default_rope", rope="±0.01")
    message = "No ROPE was given; using the default, ±0.01. Set one that fits your problem."
    assert found == Finding("default_rope", "note", message, "rope")
    with pytest.raises(AttributeError):
        found.level = "serious"


@pytest.mark.parametrize(
    ("key", "fields", "error"),
    [
        ("default_rop", {"rope": 1}, KeyError),
        ("default_rope", {}, TypeError),
        ("default_rope", {"rope": 1, "width": 2}, TypeError),
        ("default_rope", {"rope": 1, "level": "serious"}, ValueError),
    ],
)
def test_what_the_table_does_not_know_is_refused(key, fields, error):
    with pytest.raises(error, match="default_rop"):
        finding(key, **fields)


def test_a_level_is_one_of_the_template():
    fields = {"what": "set of spans", "times": 3}
    assert finding("repeated_rows", **fields).level == "warning"
    assert finding("repeated_rows", level="serious", **fields).level == "serious"


def test_a_stored_finding_is_the_same_again():
    found = finding("zero_width_rope")
    assert findings.restored(found.name, found.level, found.message) == found
    assert findings.restored("of_another_version", "note", "So.").parameter is None


def test_numbers_and_nouns():
    assert counted(1, "sentences or documents") == "1 sentence or document"
    assert counted(0, "items") == "0 items"
    assert counted(1234.5, "items") == "1,234.5 items"


def test_lists_of_words():
    assert listed([]) == clauses([]) == ""
    assert listed(["a"]) == clauses(["a"], most=1) == "a"
    assert listed("abc", most=3) == "a, b and c"
    assert listed("ab" * 1_000, most=1) == "a and 1,999 more"
    assert clauses("abc", most=2) == "a; b; and 1 more"
    assert quoted(["é", True]) == "'é' and True"
    assert quoted(["é"], escaped=True) == r"'\xe9'"
