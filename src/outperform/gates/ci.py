"""A gate for continuous integration: JUnit XML, workflow commands, outputs, JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from xml.etree import ElementTree

from outperform.display.facts import Facts
from outperform.display.numbers import for_json, for_text
from outperform.gates.result import Gate, LevelCheck
from outperform.gates.text import answer, check_name, check_sentence, gate_findings

_COMMANDS = {"pass": "notice", "undecided": "warning", "fail": "error"}


def gate_junit(gate: Gate, *, allow_undecided: bool = False) -> str:
    """Return a gate as JUnit XML, with one test case per check.

    A check that fails is a failure. An undecided check is an error, which test reports do
    not show as passed. If undecided is allowed, it is skipped, so the report agrees with
    the exit code.

    Parameters
    ----------
    gate
        The gate.
    allow_undecided
        Whether an undecided gate lets the run pass. With a serious finding it never does.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_correct({"new": [1] * 90 + [0] * 10, "old": [1] * 60 + [0] * 40})
    >>> print(gate_junit(op.gate(seen, "new", "old", metric="accuracy")).splitlines()[1])
    <testsuites name="outperform" tests="1" failures="0" errors="0" skipped="0" time="0">
    """
    facts = gate.to_dict()
    skipped = allow_undecided and (gate.can_allow or gate.status.value == "fail")
    marks = {"fail": "failure", "undecided": "skipped" if skipped else "error"}
    tags = [_tag(check, marks) for check in facts["checks"]]
    totals = {
        "tests": str(len(tags)),
        "failures": str(tags.count("failure")),
        "errors": str(tags.count("error")),
        "skipped": str(tags.count("skipped")),
        "time": "0",
    }
    root = ElementTree.Element("testsuites", {"name": "outperform", **totals})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "outperform gate", **totals})
    for check, tag in zip(facts["checks"], tags, strict=True):
        _test_case(suite, facts, check, tag)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode")


def _tag(check: Facts, marks: Mapping[str, str]) -> str | None:
    tag = marks.get(check["status"])
    return "skipped" if tag is not None and check.get("advisory") else tag


def _test_case(suite: ElementTree.Element, facts: Facts, check: Facts, tag: str | None) -> None:
    names = {"classname": "outperform.gate", "name": check_name(check), "time": "0"}
    case = ElementTree.SubElement(suite, "testcase", names)
    sentence = check_sentence(facts, check)
    if tag is not None:
        attributes = {"message": sentence}
        if tag != "skipped":
            attributes["type"] = f"outperform.{check['status']}"
        inner = ElementTree.SubElement(case, tag, attributes)
        inner.text = sentence if tag != "skipped" else None
    lines = [str(line) for line in _findings(check)]
    output = ElementTree.SubElement(case, "system-out")
    output.text = "\n".join([sentence, *lines, for_text(answer(check)["signature"])])


def _findings(check: Facts) -> list[str]:
    findings = gate_findings([check])
    return [f"{level}: {message} [{name}]" for level, message, name in findings]


def gate_annotations(gate: Gate) -> str:
    """Return a gate as GitHub Actions workflow commands, one line per check.

    Parameters
    ----------
    gate
        The gate.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_correct({"new": [1] * 90 + [0] * 10, "old": [1] * 60 + [0] * 40})
    >>> print(gate_annotations(op.gate(seen, "new", "old", metric="accuracy"))[:41])
    ::notice title=Gate accuracy%3A pass::new
    """
    facts = gate.to_dict()
    lines = []
    for check in facts["checks"]:
        title = f"Gate {check_name(check)}: {check['status']}"
        message = check_sentence(facts, check)
        command = "notice" if check.get("advisory") else _COMMANDS[check["status"]]
        lines.append(f"::{command} title={_property(title)}::{_message(message)}")
    return "\n".join(lines)


def gate_outputs(gate: Gate) -> str:
    """Return a gate as step outputs of GitHub Actions: fixed words and numbers only.

    A gate over tasks has a result but no single difference; one without a baseline has an estimate
    instead.

    Parameters
    ----------
    gate
        The gate.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_correct({"new": [1] * 90 + [0] * 10, "old": [1] * 60 + [0] * 40})
    >>> print(gate_outputs(op.gate(seen, "new", "old", metric="accuracy")))
    status=pass
    decision=better
    difference=0.297...
    hdi_low=0.208...
    hdi_high=0.387...
    """
    outputs: dict[str, str | float] = {"status": gate.status.value}
    first = gate.checks[0]
    if first.task is None and isinstance(first, LevelCheck):
        outputs |= {
            "estimate": first.estimate.mean,
            "hdi_low": first.estimate.hdi.low,
            "hdi_high": first.estimate.hdi.high,
        }
    elif first.task is None:
        main = gate.main
        outputs |= {
            "decision": main.decision.name.lower(),
            "difference": main.mean,
            "hdi_low": main.hdi.low,
            "hdi_high": main.hdi.high,
        }
    return "\n".join(f"{name}={value}" for name, value in outputs.items())


def gate_json(gate: Gate) -> str:
    """Return a gate as JSON that is safe to print into a build log.

    Parameters
    ----------
    gate
        The gate.
    """
    return for_json(json.dumps(gate.to_dict(), ensure_ascii=False, indent=2, default=str))


def _message(text: str) -> str:
    """Escape text so that it stays inside one workflow command."""
    return for_text(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
