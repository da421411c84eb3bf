"""A gate for continuous integration: JUnit, annotations, summary and JSON, whatever the labels."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

import outperform as op
from outperform.gates.ci import gate_annotations, gate_json, gate_junit
from tests.loops import each

HOSTILE = [
    "line\nbreak",
    "::set-output name=x::y",
    "a\n::error::owned",
    "a\r\n::add-mask::b",
    "##[error]owned",
    "##vso[task.setvariable]x",
    "100%0A::error::x",
    "a|b|c",
    "[click](http://evil.example)",
    "![x](http://evil.example/x.png)",
    "http://evil.example",
    "@everyone",
    "<script>alert(1)</script>",
    "</sub><img src=x onerror=alert(1)>",
    "]]><failure/>",
    '"quoted" & <tagged>',
    "\x1b[31mred\x1b]8;;http://evil.example\x07",
    "\x00\x01\x08\x9b",
    "\u202egnp.exe\u2066",
    "\ufffe\uffff",
    "`code` **bold** _it_",
    "# heading",
    "--",
    "x" * 10_000,
    "",
    " ",
]


def gated(label="fraud", *, new="new", old="old", statuses=("pass", "fail", "undecided")):
    """Return a gate whose checks are so judged, with a label and names that may be hostile."""
    truth = [label] * 400 + ["other"] * 600
    right = {
        "pass": (["other"] * 20 + [label] * 380, ["other"] * 20 + [label] * 380),
        "fail": (["other"] * 200 + [label] * 200, [label] * 400),
        "undecided": (
            ["other"] * 44 + [label] * 356,
            [label] * 36 + ["other"] * 40 + [label] * 324,
        ),
    }
    checks = []
    for status in statuses:
        mine, theirs = right[status]
        seen = op.Outcomes.from_labels(
            truth,
            {new: mine + ["other"] * 600, old: theirs + ["other"] * 600},
            na_values=[],
            empty_is_label=True,
        )
        found = op.gate(
            seen,
            new,
            old,
            metric="accuracy",
            rope=0.01,
            guards=[op.results.Guard(metric="recall", label=label, rope=0.03)],
            random_state=0,
        )
        checks.append(found.checks[1])
    gate = op.results.Gate(checks=tuple(checks))
    assert [check.status.value for check in gate.checks] == list(statuses)
    return gate


@pytest.fixture(scope="module")
def gate():
    return gated()


def test_junit_has_the_usual_structure(gate):
    root = ElementTree.fromstring(gate_junit(gate))
    assert root.tag == "testsuites"
    (suite,) = root
    assert suite.tag == "testsuite"
    for element in (root, suite):
        counts = {name: element.get(name) for name in ("tests", "failures", "errors", "skipped")}
        assert counts == {"tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
        assert float(element.get("time")) == 0
    cases = list(suite)
    assert {case.tag for case in cases} == {"testcase"}
    assert all(case.get("classname") and case.get("name") for case in cases)
    assert [[inner.tag for inner in case] for case in cases] == [
        ["system-out"],
        ["failure", "system-out"],
        ["error", "system-out"],
    ]
    failure = cases[1][0]
    assert failure.get("type") == "outperform.fail"
    assert failure.get("message") == failure.text
    assert failure.text.startswith("new is worse than old in recall of fraud: the whole 95% HDI")


def test_where_undecided_is_allowed_junit_skips_it(gate):
    root = ElementTree.fromstring(gate_junit(gate, allow_undecided=True))
    assert (root.get("errors"), root.get("skipped")) == ("0", "1")
    (skipped,) = root.iter("skipped")
    assert skipped.get("message").startswith("Not enough evidence to tell whether new is worse")
    assert "type" not in skipped.attrib


def test_annotations_are_one_line_each(gate):
    lines = gate_annotations(gate).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::notice", "::error", "::warning"]
    assert "title=Gate recall of fraud%3A fail::new is worse than old" in lines[1]
    assert "95%25 HDI" in lines[1]


COMMAND = re.compile(r"::(notice|warning|error) title=([^:,\n\r]*)::([^\n\r]*)")


@each("label", HOSTILE)
def test_hostile_labels_are_text_and_nothing_else(label):
    mixed = gated(label, new=f"new {label}", old=f"{label} old", statuses=("fail",))
    for line in gate_annotations(mixed).split("\n"):
        assert COMMAND.fullmatch(line)
        assert "%0A::" not in line.replace("%25", "")
    root = ElementTree.fromstring(gate_junit(mixed))
    assert [one.tag for one in root.iter()] == [
        "testsuites", "testsuite", "testcase", "failure", "system-out",
    ]  # fmt: skip
    for text in (str(mixed), mixed.to_markdown(), gate_annotations(mixed), gate_junit(mixed)):
        refuse_what_is_obeyed(text)
    assert_harmless_markdown(mixed.to_markdown())


def refuse_what_is_obeyed(text):
    """Refuse what a terminal or a build log would take for more than text."""
    assert not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text
    )
    assert "##[" not in text
    assert "##vso[" not in text
    for line in text.split("\n"):
        assert not line.lstrip().startswith("::") or COMMAND.fullmatch(line)


def assert_harmless_markdown(text):
    lines = text.split("\n")
    table = [line for line in lines if line.startswith("|")]
    assert {line.count("|") for line in table} == {8}
    bare = re.sub(r"\\.", "", text)
    assert not re.search(r"<(?!br>|/?sub>)", bare)
    assert not re.search(r"\]\(", bare)
    assert "://" not in bare
    assert not re.search(r"@\w", bare)
    assert sum(line.startswith("#") for line in lines) == 1


@each("label", HOSTILE)
def test_json_keeps_labels_as_they_are_and_obeys_nothing(label):
    text = gate_json(gated(label, statuses=("pass",)))
    assert json.loads(text)["checks"][0]["class"] == label
    refuse_what_is_obeyed(text)
    text.encode("utf-8")


def test_findings_are_in_every_format():
    truth, new, old = ["a", "b"] * 4, ["a", "b"] * 4, ["a", "a"] * 4
    found = op.gate(truth, new, old, metric="accuracy", random_state=0)
    names = {finding.name for finding in found.findings}
    assert "few_items" in names
    for text in (str(found), gate_junit(found)):
        assert all(f"[{name}]" in text for name in names)
    assert all(name.replace("_", r"\_") in found.to_markdown() for name in names)
