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
_FIRST = ("check", "status", "required", "hdi", "difference", "rope", "observed", "decision")
# ROPE and observed value are drawn.
_IN_CARD = ("check", "status", "required", "decision", "difference", "hdi")
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
    ("anchor", "pass"): "{a} is not worse than {anchor}, the best release, by more than {edge} in "
    "{what}",
    (
        "anchor",
        "fail",
    ): "{a} is worse than {anchor}, the best release, by more than {edge} in {what}",
    ("anchor", "undecided"): "not enough evidence to tell whether {a} is worse than {anchor}, the "
    "best release, by more than {edge} in {what}",
    ("at_least", "pass"): "{a} has {what} above {edge}",
    ("at_least", "fail"): "{a} has {what} below {edge}",
    ("at_least", "undecided"): "not enough evidence to tell whether {a} has {what} above {edge}",
    ("at_most", "pass"): "{a} has {what} below {edge}",
    ("at_most", "fail"): "{a} has {what} above {edge}",
    ("at_most", "undecided"): "not enough evidence to tell whether {a} has {what} below {edge}",
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
        main = [check for check in checks if not check["guard"]] or checks[:1]
        n_guards = len(checks) - len(main)
        passing = ", and the guard passes" if n_guards == 1 else f", and {n_guards} guards pass"
        clauses = "; ".join(_clause(facts, check) for check in main)
        clauses += passing if n_guards else ""
    else:
        concerned = [check for check in checks if check["status"] == status]
        clauses = "; ".join(_clause(facts, check) for check in concerned)
    return for_text(f"{_HEADS[status]}: {clauses}.")


def _tasks_clause(facts: Facts) -> str:
    """Return the number of binding tasks behind the result of a suite's gate, and their names."""
    a, *rest = _names(facts)
    binding = [check for check in facts["checks"] if not check.get("advisory")]
    tasks = dict.fromkeys(str(check["task"]) for check in binding)
    n, status = counted(len(tasks), "tasks"), facts["status"]
    against = f" against {rest[0]}" if rest else ""
    if status == "pass":
        return f"{a} passes{against} on {'all ' if len(tasks) > 1 else ''}{n}"
    concerned = dict.fromkeys(str(task["task"]) for task in binding if task["status"] == status)
    names = listed([for_text(task, limit=_LIMIT) for task in concerned], most=5)
    verb = "fails" if status == "fail" else "is undecided"
    return f"{a}{against} {verb} on {len(concerned)} of {n}: {names}"


def answer(check: Facts) -> Facts:
    """Return the comparison of a check, or the estimate that it compares with a level.

    Parameters
    ----------
    check
        The check.
    """
    key = next(key for key in ("estimate", "contrast", "comparison") if key in check)
    facts: Facts = check[key]
    return facts


def _names(facts: Facts) -> list[str]:
    """Return the candidate, and the baseline if there is one, as escaped text."""
    return [for_text(name, limit=_LIMIT) for name in facts["names"]]


def check_name(check: Facts) -> str:
    """Return the metric of a check, with the class unless it is 1 or True.

    Examples
    --------
    >>> check_name({"class": "fraud", "comparison": {"metric": "recall"}})
    'recall of fraud'
    """
    comparison, label = answer(check), check["class"]
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
    >>> checks = [check, check | {"guard": True}]
    >>> facts = {"names": ["new", "old"], "status": "pass", "checks": checks}
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
    """Return one row per check: the difference, its interval, the ROPE, the result.

    The heading of the intervals has their name and probability if all are the same. Otherwise,
    each interval has its own.
    """
    names = dict.fromkeys(map(_interval_name, facts["checks"]))
    heading = next(iter(names)) if len(names) == 1 else "interval"
    compared = any("comparison" in check for check in facts["checks"])
    all_compared = all("comparison" in check for check in facts["checks"])
    columns = (
        text_column("check"),
        text_column("status"),
        Column(key="observed", align="right"),
        Column(key="difference", heading="mean", align="right"),
        Column(key="hdi", heading=heading),
        *([Column(key="rope", heading="ROPE")] if compared else []),
        *([text_column("decision")] if compared else []),
        *([] if all_compared else [text_column("required")]),
    )
    rows = [_row(check) for check in facts["checks"]]
    if len(names) > 1:
        for row, check in zip(rows, facts["checks"], strict=True):
            row["hdi"] = f"{row['hdi']} ({_interval_name(check)})"
    return Table(columns, tuple(rows))


def _interval_name(check: Facts) -> str:
    """Return the name of the interval of a check, with its probability."""
    if "contrast" in check:
        return f"{numbers.percent(check['contrast']['hdi']['prob'])} interval"
    return read.hdi_label(answer(check))


def gate_document(facts: Facts) -> Document:
    """Return a gate: result, checks with their intervals, sentences, findings."""
    checks = facts["checks"]
    comparisons, table = [answer(check) for check in checks], gate_table(facts)
    of_suite, measured = "task" in checks[0], _measured(checks)
    notes = []
    if difference := _difference(facts):
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
    n_tasks = len({check.get("task") for check in checks})
    sizes = (
        counted(n_tasks, "tasks") if of_suite else ", ".join(read.sample_parts(comparisons[0])[:2])
    )
    return Document(
        headline=gate_headline(facts),
        lead=[Note(measured, card=False)],
        screen=[
            Rows(table=table, first=[key for key in _FIRST if key in table.keys], labels=["check"])
        ],
        table=table.only([key for key in _IN_CARD if key in table.keys]),
        spans=[span(comparison, rope=comparison.get("rope")) for comparison in comparisons],
        more=table,
        notes=notes,
        findings=gate_findings(checks),
        parts=[
            sizes,
            *filter(None, [read.process(comparisons[0])]),
            *read.method(comparisons[0])[-1:],
        ],
        # A suite shows the seed of all tasks, without the stream of its first task.
        signature=_STREAM.sub(r"\1", signatures[0]) if of_suite else signatures[0],
        signatures=signatures,
        terms=("rope", "hdi"),
    )


def _measured(checks: Sequence[Facts]) -> str:
    """Return the interval and the ROPE, or every ROPE if they differ."""
    interval = " and ".join(dict.fromkeys(map(_interval_name, checks)))
    compared = [check["comparison"] for check in checks if "comparison" in check]
    ropes = dict.fromkeys(map(read.rope_text, compared))
    return f"{interval}, ROPE {' and '.join(ropes)}" if ropes else interval


def _deciding(facts: Facts) -> list[Facts]:
    """Return the checks that keep a suite from passing."""
    if facts["status"] == "pass":
        return []
    same = [check for check in facts["checks"] if check["status"] == facts["status"]]
    return [check for check in same if not check["advisory"]]


def _rates(facts: Facts) -> str:
    """Return the largest error probabilities of a policy over several tasks."""
    first = facts["checks"][0]
    share = numbers.percent((1 - answer(first)["hdi"]["prob"]) / 2)
    has_levels = any("estimate" in check for check in facts["checks"])
    what = "binding checks" if has_levels else "binding tasks"
    allowed = "all requirements hold" if has_levels else "it is within the margin on every task"
    missed = (
        "If some requirement does not hold, the candidate"
        if has_levels
        else "If the candidate is worse than allowed on some task, it"
    )
    return (
        f"{missed} wrongly passes with probability at most {share}. If {allowed}, it wrongly "
        f"fails with probability at most {share}, over all {counted(first['n_checks'], what)}."
    )


def gate_markdown(facts: Facts) -> str:
    """Return a gate as GitHub Markdown, with text from the data escaped."""
    parts = [
        f"### {_MARKS[facts['status']]} {for_markdown(gate_headline(facts), inline=True)}",
        gate_table(facts).to_markdown(),
        *(
            [
                f"{for_markdown(difference, inline=True)} "
                f"({for_markdown(_measured(facts['checks']), inline=True)})."
            ]
            if (difference := _difference(facts))
            else []
        ),
        *([_rates(facts)] if "task" in facts["checks"][0] else []),
        _bullets(check_sentence(facts, check) for check in facts["checks"]),
    ]
    findings = [
        f"{level}: {message} [{name}]" for level, message, name in gate_findings(facts["checks"])
    ]
    if findings:
        parts.append(f"Findings:\n\n{_bullets(findings)}")
    signatures = "<br>".join(
        for_markdown(answer(check)["signature"], inline=True) for check in facts["checks"]
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
    a, b = (*_names(facts), "")[:2]
    clause = _CLAUSES[check["require"], check["status"]]
    edge = f"{check.get('edge', 0.0):.6g}"
    if "contrast" in check:
        anchor, edge = for_text(check["anchor"], limit=_LIMIT), f"{abs(check['edge']):.6g}"
        return clause.format(a=a, anchor=anchor, what=check_name(check), edge=edge)
    return clause.format(a=a, b=b, what=check_name(check), edge=edge)


def _reason(check: Facts) -> str:
    if "estimate" in check:
        return _reason_of_level(check)
    if "contrast" in check:
        return _reason_of_anchor(check)
    comparison, status = check["comparison"], check["status"]
    decimals, hdi = read.digits(comparison), comparison["hdi"]
    interval = numbers.interval(hdi["low"], hdi["high"], decimals, sign=True)
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


def _reason_of_anchor(check: Facts) -> str:
    """Return why the candidate is close to the anchor, or not, or undecided."""
    contrast, hdi, status = check["contrast"], check["contrast"]["hdi"], check["status"]
    decimals = read.digits({**contrast, "rope": {"low": check["edge"], "high": check["edge"]}})
    name = f"{_interval_name(check)} ({_interval(hdi, decimals)})"
    how = "" if check["direct"] else ", of the differences added up since then,"
    if status == "undecided":
        return f"the {name}{how} contains {_edge(check['edge'])}"
    side = "above" if (status == "pass") is contrast["greater_is_better"] else "below"
    return f"the whole {name}{how} lies {side} {_edge(check['edge'])}"


def _interval(hdi: Facts, decimals: int) -> str:
    return numbers.interval(hdi["low"], hdi["high"], decimals, sign=True)


def _reason_of_level(check: Facts) -> str:
    """Return why a level is reached, missed or undecided."""
    estimate, status, interval = check["estimate"], check["status"], check["interval"]
    hdi, level, at_least = estimate["hdi"], check["edge"], check["require"] == "at_least"
    decimals = read.digits({**estimate, "rope": {"low": level, "high": level}})
    wide = numbers.interval(interval["low"], interval["high"], decimals, sign=False)
    edge = f"{level:.6g}".replace("-", "−")
    name = f"{numbers.percent(interval['prob'])} interval ({wide})"
    if check.get("near_edge"):
        return f"an end of the {name} is too close to {edge} for this number of draws"
    if status != "undecided":
        side = "above" if (status == "pass") is at_least else "below"
        return f"the whole {name} lies {side} {edge}"
    beyond = interval["high"] < level if at_least else interval["low"] > level
    if beyond:
        share = numbers.percent(1 - (1 - interval["prob"]) / check["n_checks"])
        return (
            f"the {name} lies {'below' if at_least else 'above'} {edge}, but the {share} interval, "
            f"required for a failure among {check['n_checks']} checks, does not"
        )
    reached = hdi["low"] > level if at_least else hdi["high"] < level
    if reached:
        tail = numbers.percent((1 - interval["prob"]) / 2)
        narrow = numbers.interval(hdi["low"], hdi["high"], decimals, sign=False)
        return (
            f"the {read.hdi_label(estimate)} ({narrow}) lies {'above' if at_least else 'below'} "
            f"{edge}, but a model of exactly {edge} would get this result in more than {tail} of "
            f"such test sets (limits {wide})"
        )
    return f"the {name} contains {edge}"


def _beyond(check: Facts) -> bool:
    """Return whether the task would fail on its own."""
    hdi, greater = check["comparison"]["hdi"], check["comparison"].get("greater_is_better", True)
    beyond = hdi["high"] < check["edge"] if greater else hdi["low"] > check["edge"]
    return "task" in check and beyond


def _edge(value: float) -> str:
    return f"{value:+.6g}".replace("-", "−") if value else "0"


def _more(check: Facts) -> str:
    needed = check.get("needed")
    return "" if needed is None else f" {more_items(needed, answer(check))}"


def _difference(facts: Facts) -> str:
    """Return the definition of the difference; empty without a baseline."""
    if len(facts["names"]) == 1:
        return ""
    a, b = _names(facts)
    directions: dict[str, list[str]] = {}
    for check in facts["checks"]:
        direction = read.direction(check["comparison"]) if "comparison" in check else None
        if direction is not None:
            directions.setdefault(direction, []).append(check_name(check))
    ending = "".join(f"; {words} in {', '.join(names)}" for words, names in directions.items())
    return for_text(f"The difference is {a} − {b}{ending}")


def _row(check: Facts) -> dict[str, object]:
    result, is_level = answer(check), "estimate" in check
    is_anchor = "contrast" in check
    decimals, hdi, observed = read.digits(result), result["hdi"], result["observed"]
    row: dict[str, object] = {
        "check": _short_name(check),
        "status": check["status"],
        "observed": None if observed is None else _number(observed, decimals, signed=not is_level),
        "difference": _number(result["mean"], decimals, signed=not is_level),
        "hdi": numbers.interval(hdi["low"], hdi["high"], decimals, sign=not is_level),
    }
    if is_level:
        return row | {"rope": None, "decision": None, "required": _required(check)}
    if is_anchor:
        edge = f"{'above' if result['greater_is_better'] else 'below'} {_edge(check['edge'])}"
        return row | {"rope": None, "decision": None, "required": edge}
    rope, decision = result["rope"], result["decision"]
    return row | {
        "rope": numbers.rope(rope["low"], rope["high"]),
        # Without ", not decided", because the gate may still pass.
        "decision": f"{decision['symbol']} {decision['words'].partition(',')[0]}",
        "required": check["require"].replace("_", " "),
    }


def _number(value: float, decimals: int, *, signed: bool) -> str:
    return numbers.signed(value, decimals) if signed else f"{value:.{decimals}f}".replace("-", "−")


def _required(check: Facts) -> str:
    edge = f"{check['edge']:.6g}".replace("-", "−")
    return f"{check['require'].replace('_', ' ')} {edge}"


def _short_name(check: Facts) -> str:
    """Return the name of a check in a table; in a suite, the name of its task."""
    if "contrast" in check:
        return f"{check_name(check)}, against {for_text(check['anchor'], limit=_LIMIT)}"
    if "task" not in check:
        return check_name(check)
    return for_text(check["task"], limit=_LIMIT) + (", advisory" if check["advisory"] else "")


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {for_markdown(true_minus(line))}" for line in lines)
