"""A gate as text, as a card, and for continuous integration: JUnit, annotations, JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.document import Document, Note, Rows
from outperform.display.facts import Facts
from outperform.display.formats import Column, text_column
from outperform.display.numbers import for_markdown, for_text, true_minus
from outperform.display.pictures import span
from outperform.display.sentences import more_items
from outperform.display.table import Table
from outperform.findings import counted, listed

_LIMIT = 40
_STREAM = re.compile(r"(\bseed=\d+)[.\d]*")
_FIRST = ("check", "status", "hdi", "difference", "rope", "observed", "decision")
# ROPE and observed value are drawn.
_IN_CARD = ("check", "status", "decision", "difference", "hdi")
_LEVELS = ("serious", "warning", "note")
_HEADS = {"pass": "Gate passed", "fail": "Gate failed", "undecided": "Gate undecided"}
_MARKS = {"pass": "✅", "fail": "❌", "undecided": "❔"}
_CLAUSES = {
    ("not_worse", "pass"): "{a} is not worse than {b} in {what}",
    ("not_worse", "fail"): "{a} is worse than {b} in {what}",
    ("not_worse", "undecided"): "not enough evidence to tell whether {a} is worse than {b} in "
    "{what}",
    ("better", "pass"): "{a} is better than {b} in {what}",
    ("better", "fail"): "{a} is not better than {b} in {what}",
    ("better", "undecided"): "not enough evidence to tell whether {a} is better than {b} in {what}",
}


def gate_headline(facts: Facts) -> str:
    """Return the result of a gate on one line.

    Examples
    --------
    >>> check = {"guard": False, "class": None, "require": "not_worse", "status": "pass",
    ...          "comparison": {"metric": "f1", "metric_label": "F1"}}
    >>> gate_headline({"names": ["new", "old"], "status": "pass", "checks": [check]})
    'Gate passed: new is not worse than old in F1.'
    """
    status, checks = facts["status"], facts["checks"]
    if "task" in checks[0]:
        return for_text(f"{_HEADS[status]}: {_tasks_clause(facts)}.")
    if status == "pass":
        n_guards = len(checks) - 1
        passing = ", and the guard passes" if n_guards == 1 else f", and {n_guards} guards pass"
        clauses = _clause(facts, checks[0]) + (passing if n_guards else "")
    else:
        concerned = [check for check in checks if check["status"] == status]
        clauses = "; ".join(_clause(facts, check) for check in concerned)
    return for_text(f"{_HEADS[status]}: {clauses}.")


def _tasks_clause(facts: Facts) -> str:
    """Return the number of binding tasks behind the result of a suite's gate, and their names."""
    a, b = read.names(facts, limit=_LIMIT)
    binding = [check for check in facts["checks"] if not check.get("advisory")]
    n, status = counted(len(binding), "tasks"), facts["status"]
    if status == "pass":
        return f"{a} passes against {b} on {'all ' if len(binding) > 1 else ''}{n}"
    concerned = [str(check["task"]) for check in binding if check["status"] == status]
    names = listed([for_text(task, limit=_LIMIT) for task in concerned], most=5)
    verb = "fails" if status == "fail" else "is undecided"
    return f"{a} against {b} {verb} on {len(concerned)} of {n}: {names}"


def check_name(check: Facts) -> str:
    """Return the metric of a check, with the class unless it is 1 or True.

    Examples
    --------
    >>> check_name({"class": "fraud", "comparison": {"metric": "recall"}})
    'recall of fraud'
    """
    comparison, label = check["comparison"], check["class"]
    if label is None and str(comparison.get("pos_label")) not in ("1", "True"):
        label = comparison.get("pos_label")
    name = read.metric(comparison, of=None if label is None else for_text(label, limit=_LIMIT))
    if "task" not in check:
        return name
    return f"{name} on {for_text(check['task'], limit=_LIMIT)}" + (
        ", advisory" if check["advisory"] else ""
    )


def check_sentence(facts: Facts, check: Facts) -> str:
    """Return the result of one check, its numbers, and what is needed to decide it.

    Examples
    --------
    >>> comparison = {"metric": "f1", "metric_label": "F1", "greater_is_better": True, "n": 900,
    ...               "sd": 0.01, "hdi": {"low": -0.002, "high": 0.03, "prob": 0.95},
    ...               "rope": {"low": -0.005, "high": 0.005}}
    >>> check = {"guard": False, "class": None, "require": "not_worse", "status": "pass",
    ...          "edge": -0.005, "withheld": [], "more_items": 0, "comparison": comparison}
    >>> print(check_sentence({"names": ["new", "old"]}, check))
    new is not worse than old in F1: the whole 95% HDI (−0.0020 to +0.0300) lies above −0.005,
    the lower edge of the ROPE.
    """
    text = _result_text(facts, check)
    # Other results begin with a model name, whose case is kept.
    return text[:1].upper() + text[1:] if check["status"] == "undecided" else text


def gate_sentences(facts: Facts) -> list[str]:
    """Return the result and a sentence for each check.

    Examples
    --------
    >>> comparison = {"metric": "f1", "greater_is_better": True, "n": 900, "sd": 0.01,
    ...               "hdi": {"low": 0.02, "high": 0.03, "prob": 0.95},
    ...               "rope": {"low": -0.005, "high": 0.005}}
    >>> check = {"guard": False, "class": None, "require": "better", "status": "pass",
    ...          "edge": 0.005, "withheld": [], "more_items": 0, "comparison": comparison}
    >>> facts = {"names": ["new", "old"], "status": "pass", "checks": [check, check]}
    >>> gate_sentences(facts)[0]
    'Gate passed: new is better than old in f1, and the guard passes.'
    >>> len(gate_sentences(facts)), len(gate_sentences(facts | {"checks": [check]}))
    (3, 1)
    """
    checks = facts["checks"]
    if len(checks) == 1:
        return [f"{_HEADS[facts['status']]}: {_result_text(facts, checks[0])}"]
    return [gate_headline(facts), *(check_sentence(facts, check) for check in checks)]


def gate_table(facts: Facts) -> Table:
    """Return one row per check: the difference, its HDI, the ROPE, the result."""
    prob = read.hdi_label(facts["checks"][0]["comparison"])
    columns = (
        text_column("check"),
        text_column("status"),
        Column(key="observed", align="right"),
        Column(key="difference", heading="mean", align="right"),
        Column(key="hdi", heading=prob),
        Column(key="rope", heading="ROPE"),
        text_column("decision"),
    )
    return Table(columns, tuple(_row(check) for check in facts["checks"]))


def gate_document(facts: Facts) -> Document:
    """Return a gate: result, checks with their intervals, sentences, findings."""
    checks = facts["checks"]
    comparisons, table = [check["comparison"] for check in checks], gate_table(facts)
    of_suite, measured = "task" in checks[0], _measured(checks)
    difference = f"The difference is {_difference(facts)}"
    notes = [
        Note(f"{difference}.", card=False),
        Note(f"{difference} ({measured}).", screen="never"),
    ]
    if of_suite:
        notes.append(Note(_rates(facts)))
    brief = _deciding(facts) if of_suite else checks
    notes += [
        Note(
            check_sentence(facts, check),
            screen="always" if any(check is shown for shown in brief) else "verbose",
            indent=2,
        )
        for check in checks
    ]
    signatures = [for_text(comparison["signature"]) for comparison in comparisons]
    sizes = counted(len(checks), "tasks") if of_suite else ", ".join(read.seen(comparisons[0])[:2])
    return Document(
        headline=gate_headline(facts),
        lead=[Note(measured, card=False)],
        screen=[Rows(table=table, first=_FIRST, labels=["check"])],
        table=table.only(_IN_CARD),
        spans=[span(comparison, rope=comparison["rope"]) for comparison in comparisons],
        more=table,
        notes=notes,
        findings=gate_findings(checks),
        parts=[sizes, *read.method(comparisons[0])[-1:]],
        # A suite shows the seed of all tasks, without the stream of its first task.
        signature=_STREAM.sub(r"\1", signatures[0]) if of_suite else signatures[0],
        signatures=signatures,
        terms=("rope", "hdi"),
    )


def _measured(checks: Sequence[Facts]) -> str:
    """Return the interval and the ROPE, or every ROPE if they differ."""
    ropes = dict.fromkeys(read.rope_text(check["comparison"]) for check in checks)
    return f"{read.hdi_label(checks[0]['comparison'])}, ROPE {' and '.join(ropes)}"


def _deciding(facts: Facts) -> list[Facts]:
    """Return the checks that keep a suite from passing."""
    if facts["status"] == "pass":
        return []
    same = [check for check in facts["checks"] if check["status"] == facts["status"]]
    return [check for check in same if not check["advisory"]]


def _rates(facts: Facts) -> str:
    """Return the largest error probabilities of a policy over several tasks."""
    first = facts["checks"][0]
    share = numbers.percent((1 - first["comparison"]["hdi"]["prob"]) / 2)
    return (
        "If the candidate is worse than allowed on some task, it wrongly passes with probability "
        f"at most {share}. If it is within the margin on every task, it wrongly fails with "
        f"probability at most {share}, over all {counted(first['n_checks'], 'binding tasks')}."
    )


def gate_markdown(facts: Facts) -> str:
    """Return a gate as GitHub Markdown, with text from the data escaped."""
    parts = [
        f"### {_MARKS[facts['status']]} {for_markdown(gate_headline(facts), inline=True)}",
        gate_table(facts).to_markdown(),
        f"The difference is {for_markdown(_difference(facts), inline=True)} "
        f"({for_markdown(_measured(facts['checks']), inline=True)}).",
        *([_rates(facts)] if "task" in facts["checks"][0] else []),
        _bullets(check_sentence(facts, check) for check in facts["checks"]),
    ]
    findings = [
        f"{level}: {message} [{name}]" for level, message, name in gate_findings(facts["checks"])
    ]
    if findings:
        parts.append(f"Findings:\n\n{_bullets(findings)}")
    signatures = "<br>".join(
        for_markdown(check["comparison"]["signature"], inline=True) for check in facts["checks"]
    )
    return "\n\n".join([*parts, f"<sub>{signatures}</sub>"])


def gate_findings(checks: Sequence[Facts]) -> list[tuple[str, str, str]]:
    """Return level, message and name of each finding without duplicates, most serious first.

    If only some checks have a finding, its message begins with the names of these checks.
    """
    checks_by_finding: dict[tuple[str, str, str], list[str]] = {}
    for check in checks:
        for finding in dict.fromkeys(read.findings(check)):
            checks_by_finding.setdefault(finding, []).append(check_name(check))
    findings = [
        (level, message if len(names) == len(checks) else f"{', '.join(names)}: {message}", name)
        for (level, message, name), names in checks_by_finding.items()
    ]
    return sorted(findings, key=lambda finding: _LEVELS.index(finding[0]))


def _result_text(facts: Facts, check: Facts) -> str:
    reason = _reason(check)
    if check["withheld"] and not check.get("near_edge"):
        reason = f"the decision is withheld ({', '.join(check['withheld'])})"
    return for_text(f"{_clause(facts, check)}: {reason}.{_more(check)}")


def _clause(facts: Facts, check: Facts) -> str:
    a, b = read.names(facts, limit=_LIMIT)
    clause = _CLAUSES[check["require"], check["status"]]
    return clause.format(a=a, b=b, what=check_name(check))


def _reason(check: Facts) -> str:
    comparison, status = check["comparison"], check["status"]
    places, hdi = read.digits(comparison), comparison["hdi"]
    interval = numbers.interval(hdi["low"], hdi["high"], places, sign=True)
    name = f"{read.hdi_label(comparison)} ({interval})"
    greater = comparison.get("greater_is_better", True)
    lower = (check["require"] == "not_worse") is greater
    edge = f"{_edge(check['edge'])}, the {'lower' if lower else 'upper'} edge of the ROPE"
    if check.get("near_edge"):
        return f"an end of the {name} is too close to {edge} for this number of draws"
    if status == "undecided" and _beyond(check):
        n_checks = check["n_checks"]
        level = numbers.percent(1 - (1 - hdi["prob"]) / n_checks)
        return (
            f"the {name} lies {'below' if greater else 'above'} {edge}, but the {level} HDI, "
            f"required for a failure among {n_checks} tasks, does not"
        )
    if status == "undecided":
        return f"the {name} contains {edge}"
    side = "above" if (status == "pass") is greater else "below"
    return f"the whole {name} lies {side} {edge}"


def _beyond(check: Facts) -> bool:
    """Return whether the task would fail on its own."""
    hdi, greater = check["comparison"]["hdi"], check["comparison"].get("greater_is_better", True)
    beyond = hdi["high"] < check["edge"] if greater else hdi["low"] > check["edge"]
    return "task" in check and beyond


def _edge(value: float) -> str:
    return f"{value:+.6g}".replace("-", "−") if value else "0"


def _more(check: Facts) -> str:
    needed = check.get("needed")
    return "" if needed is None else f" {more_items(needed, check['comparison'])}"


def _difference(facts: Facts) -> str:
    a, b = read.names(facts, limit=_LIMIT)
    directions: dict[str, list[str]] = {}
    for check in facts["checks"]:
        direction = read.direction(check["comparison"])
        if direction is not None:
            directions.setdefault(direction, []).append(check_name(check))
    ending = "".join(f"; {words} in {', '.join(names)}" for words, names in directions.items())
    return for_text(f"{a} − {b}{ending}")


def _row(check: Facts) -> dict[str, object]:
    comparison = check["comparison"]
    places, hdi, rope = read.digits(comparison), comparison["hdi"], comparison["rope"]
    observed, decision = comparison["observed"], comparison["decision"]
    return {
        "check": _short_name(check),
        "status": check["status"],
        "observed": None if observed is None else numbers.signed(observed, places),
        "difference": numbers.signed(comparison["mean"], places),
        "hdi": numbers.interval(hdi["low"], hdi["high"], places, sign=True),
        "rope": numbers.rope(rope["low"], rope["high"]),
        # Without ", not decided", because the gate may still pass.
        "decision": f"{decision['symbol']} {decision['words'].partition(',')[0]}",
    }


def _short_name(check: Facts) -> str:
    """Return the name of a check in a table; in a suite, the name of its task."""
    if "task" not in check:
        return check_name(check)
    return for_text(check["task"], limit=_LIMIT) + (", advisory" if check["advisory"] else "")


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {for_markdown(true_minus(line))}" for line in lines)
