"""A result as a fragment of HTML for a notebook, light or dark."""

from __future__ import annotations

from outperform.present import facts as read
from outperform.present.escape import for_html
from outperform.present.facts import Facts
from outperform.present.formats import INERT, as_html
from outperform.present.gates import check_sentence, gate_findings, gate_headline, gate_table
from outperform.present.screen import NAME_LIMIT, comparison_details, estimate_details
from outperform.present.sentences import estimate_headline, headline
from outperform.present.summary import comparison_table, estimate_table
from outperform.present.table import Table

_QUIET = "opacity:0.75;font-size:90%"


def comparison_html(facts: Facts) -> str:
    """Return a comparison as a self-contained HTML fragment.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> a = {"name": "<b>", "observed": 0.7, "mean": 0.7, "sd": 0.1, "hdi": hdi}
    >>> c = {"names": ["<b>", "gpt"], "metric": "f1", "a": a, "b": a | {"name": "gpt"},
    ...      "observed": 0.2, "mean": 0.2, "sd": 0.05, "hdi": hdi, "n": 90, "exact": True,
    ...      "rope": {"low": -0.01, "high": 0.01}, "p_worse": 0.01, "p_equivalent": 0.01,
    ...      "p_better": 0.98, "decision": {"name": "BETTER", "symbol": "≫"}}
    >>> "<b>" in comparison_html(c)
    False
    """
    line = headline(facts, limit=NAME_LIMIT)
    return _fragment(line, comparison_table(facts), comparison_details(facts), facts)


def estimate_html(facts: Facts) -> str:
    """Return an estimate as a self-contained HTML fragment.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> facts = {"name": "bert", "metric": "f1", "observed": 0.2, "mean": 0.2, "sd": 0.05,
    ...          "hdi": hdi, "n": 90, "exact": True}
    >>> "bert: f1 0.2000" in estimate_html(facts)
    True
    """
    line = estimate_headline(facts, limit=NAME_LIMIT)
    return _fragment(line, estimate_table(facts), estimate_details(facts), facts)


def gate_html(facts: Facts) -> str:
    """Return a gate as a self-contained HTML fragment: judgement, checks, sentences, doubts.

    Examples
    --------
    >>> comparison = {"metric": "f1", "greater_is_better": True, "n": 900, "sd": 0.01,
    ...               "observed": 0.02, "mean": 0.025, "rope": {"low": -0.005, "high": 0.005},
    ...               "hdi": {"low": 0.02, "high": 0.03, "prob": 0.95}, "signature": "x",
    ...               "decision": {"symbol": "≫", "words": "better"}}
    >>> check = {"guard": False, "class": None, "require": "better", "judgement": "pass",
    ...          "edge": 0.005, "withheld": [], "more_documents": 0, "comparison": comparison}
    >>> facts = {"names": ["<b>", "old"], "judgement": "pass", "checks": [check]}
    >>> "<b>" in gate_html(facts), "Gate passed: &lt;b&gt; is better" in gate_html(facts)
    (False, True)
    """
    table, checks = gate_table(facts), facts["checks"]
    said = [for_html(check_sentence(facts, check)) for check in checks]
    said += [_finding(*found) for found in gate_findings(facts)]
    signatures = "<br>".join(for_html(check["comparison"]["signature"]) for check in checks)
    return "\n".join(
        [
            f"<div {INERT}>",
            f"<p><strong>{for_html(gate_headline(facts))}</strong></p>",
            as_html(table.columns, table.rows),
            *_list(said),
            f'<p style="{_QUIET}"><code>{signatures}</code></p>',
            "</div>",
        ]
    )


def _fragment(line: str, table: Table, details: list[tuple[str, str]], facts: Facts) -> str:
    parts = [
        f"<div {INERT}>",
        f"<p><strong>{for_html(line)}</strong></p>",
        as_html(table.columns, table.rows),
    ]
    said = [f"<em>{for_html(label)}</em>: {for_html(text)}" for label, text in details]
    said += [_finding(*found) for found in read.findings(facts)]
    parts += _list(said)
    if facts.get("signature"):
        parts.append(f'<p style="{_QUIET}"><code>{for_html(facts["signature"])}</code></p>')
    return "\n".join([*parts, "</div>"])


def _list(items: list[str]) -> list[str]:
    style = "list-style:none;padding-left:0.7em;margin:0.5em 0"
    return [f'<ul style="{style}">', *(f"<li>{item}</li>" for item in items), "</ul>"]


def _finding(level: str, message: str, name: str) -> str:
    return f"<strong>{for_html(level)}</strong>: {for_html(message)} [{for_html(name)}]"
