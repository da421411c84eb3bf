"""A monitored experiment in words and tables: one line a look, and where it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from textwrap import wrap
from typing import Any

from outperform.present import facts as read
from outperform.present import numbers
from outperform.present.columns import (
    count_column,
    number_column,
    probability_column,
    signed_column,
    text_column,
)
from outperform.present.escape import for_text
from outperform.present.facts import Facts
from outperform.present.paragraphs import paragraph
from outperform.present.sentences import headline
from outperform.present.table import Table

WIDTH = 100
_LONGEST_KEY = 24
_IN_TEXT = ("look", "batch", "n", "mean", "hdi_low", "hdi_high", "bayes_factor", "decision", "stop")


def looks_table(facts: Facts) -> Table:
    """Return one row a look.

    Examples
    --------
    >>> look = {"number": 1, "key": "Mon", "n": 100, "observed": 0.02, "mean": 0.02, "sd": 0.01,
    ...         "hdi": {"low": 0.0, "high": 0.04, "prob": 0.95}, "width": 0.04, "p_worse": 0.0,
    ...         "p_equivalent": 0.3, "p_better": 0.7, "bayes_factor": None, "holds": True,
    ...         "decision": {"symbol": ">", "words": "leaning better, not decided"}}
    >>> table = looks_table({"names": ["bert", "gpt"], "looks": [look], "stopped": 1})
    >>> table["batch"], table["stop"]
    (('Mon',), ('stop',))
    """
    columns = (
        count_column("look"),
        text_column("batch"),
        count_column("n", "documents"),
        signed_column("observed"),
        signed_column("mean"),
        number_column("sd"),
        signed_column("hdi_low", "HDI low"),
        signed_column("hdi_high", "HDI high"),
        number_column("width"),
        probability_column("p_worse", "P(worse)"),
        probability_column("p_equivalent", "P(ROPE)"),
        probability_column("p_better", "P(better)"),
        number_column("log10_bf10", "log10 BF10", 2),
        text_column("bayes_factor", "Bayes factor"),
        text_column("decision", "verdict"),
        text_column("stop"),
    )
    rows = tuple(_row(look, facts) for look in facts["looks"])
    return Table(columns, rows, title=f"{read.difference(facts)}, look by look")


def _row(look: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    names = ("n", "observed", "mean", "sd", "width", "p_worse", "p_equivalent", "p_better")
    factor = look["bayes_factor"]
    return {
        "look": look["number"],
        "batch": for_text(look["key"]),
        **{name: look[name] for name in names},
        "hdi_low": look["hdi"]["low"],
        "hdi_high": look["hdi"]["high"],
        "log10_bf10": None if factor is None else factor["log10_bf10"],
        "bayes_factor": None if factor is None else numbers.bayes_factor(factor),
        "decision": f"{look['decision']['symbol']} {look['decision']['words']}",
        "stop": "stop" if look["number"] == facts["stopped"] else None,
    }


def look_line(look: Mapping[str, Any]) -> str:
    """Return one look as a line for a terminal.

    Examples
    --------
    >>> print(look_line({"number": 3, "key": "Wed", "n": 1200, "mean": 0.021, "sd": 0.008,
    ...     "hdi": {"low": 0.005, "high": 0.037, "prob": 0.95}, "bayes_factor": {"bf01": 0.2},
    ...     "decision": {"symbol": ">", "words": "leaning better, not decided"}}))
    look 3 (Wed): 1,200 documents, +0.0210, 95% HDI +0.0050 to +0.0370, BF10 = 5.00, > leaning better, not decided
    """  # noqa: E501
    digits, hdi, factor = numbers.decimals(look["sd"]), look["hdi"], look["bayes_factor"]
    parts = [
        f"{numbers.count(look['n'])} document{'' if look['n'] == 1 else 's'}",
        numbers.signed(look["mean"], digits),
        f"{numbers.percent(hdi['prob'])} HDI "
        f"{numbers.interval(hdi['low'], hdi['high'], digits, sign=True)}",
        *([] if factor is None else [numbers.bayes_factor(factor)]),
        f"{look['decision']['symbol']} {look['decision']['words']}",
    ]
    return f"look {look['number']} ({for_text(look['key'], limit=_LONGEST_KEY)}): " + ", ".join(
        parts
    )


def stop_words(stop: Mapping[str, Any]) -> str:
    """Return a rule to stop by in words.

    Examples
    --------
    >>> stop_words({"rule": "width", "at": 0.016}), stop_words({"rule": "verdict", "at": None})
    ('the HDI is at most 0.016 wide', 'the verdict is decided')
    """
    if stop["rule"] == "verdict":
        return "the verdict is decided"
    if stop["rule"] == "width":
        return (
            "the HDI is narrow" if stop["at"] is None else f"the HDI is at most {stop['at']:g} wide"
        )
    return f"the Bayes factor is at least {stop['at'] or 10:g} for or against the ROPE"


def monitor_headline(facts: Facts, *, limit: int | None = None) -> str:
    """Return how far it is and what it says.

    Examples
    --------
    >>> monitor_headline({"looks": [], "names": ["bert", "gpt"], "n_batches": 0})
    'bert − gpt: no batch has arrived'
    """
    if not facts["looks"]:
        arrived = "no batch has arrived" if not facts["n_batches"] else "no answer yet"
        return f"{read.difference(facts, limit=limit)}: {arrived}"
    return f"{_where(facts)}: {headline(facts['comparison'], limit=limit)}"


def _where(facts: Facts) -> str:
    """Say at which look the answer stands, and why."""
    if facts["stopped"] is not None:
        return f"stopped at look {facts['stopped']}, when {stop_words(facts['stop'])}"
    number = facts["looks"][-1]["number"]
    waiting = "" if facts["stop"] is None else f"; it stops when {stop_words(facts['stop'])}"
    return f"look {number}{waiting}"


def monitor_text(facts: Facts) -> str:
    """Return the headline, the looks and the doubts."""
    lines = wrap(monitor_headline(facts, limit=30), WIDTH)
    if facts["looks"]:
        lines += ["", *_brief(looks_table(facts)).to_text().splitlines()]
    for level, message, name in read.findings(facts):
        lines += wrap(f"{level}: {message} [{name}]", WIDTH, subsequent_indent="  ")
    return "\n".join(lines)


def _brief(table: Table) -> Table:
    rows = tuple(
        {
            **row,
            "batch": for_text(row["batch"], limit=_LONGEST_KEY),
            "decision": str(row["decision"]).partition(" ")[0],
        }
        for row in table.rows
    )
    return replace(table.only(_IN_TEXT), rows=rows, title=None)


def monitor_paragraph(facts: Facts) -> str:
    """Return how it was watched, and the comparison where it stopped, for a paper."""
    if not facts["looks"]:
        return f"{monitor_headline(facts)}."
    looks, stop = len(facts["looks"]), facts["stop"]
    told = f"{numbers.count(looks)} look{'' if looks == 1 else 's'}"
    if stop is None:
        told += " and no rule to stop"
    elif facts["stopped"] is None:
        told += f"; it was to stop when {stop_words(stop)}, which it is not yet"
    else:
        told += f"; it was to stop when {stop_words(stop)}, as it was at look {facts['stopped']}"
    watched = "Labels came in batches, and the comparison was looked at after each"
    return f"{watched}: {told}. {paragraph(facts['comparison'])}"
