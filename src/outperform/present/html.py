"""A result as a fragment of HTML for a notebook, light or dark."""

from __future__ import annotations

from outperform.present import facts as read
from outperform.present.escape import for_html
from outperform.present.facts import Facts
from outperform.present.formats import INERT, as_html
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


def _fragment(line: str, table: Table, details: list[tuple[str, str]], facts: Facts) -> str:
    parts = [
        f"<div {INERT}>",
        f"<p><strong>{for_html(line)}</strong></p>",
        as_html(table.columns, table.rows),
    ]
    parts.append('<ul style="list-style:none;padding-left:0.7em;margin:0.5em 0">')
    parts.extend(f"<li><em>{for_html(k)}</em>: {for_html(v)}</li>" for k, v in details)
    parts.extend(
        f"<li><strong>{for_html(level)}</strong>: {for_html(message)} [{for_html(name)}]</li>"
        for level, message, name in read.findings(facts)
    )
    parts.append("</ul>")
    if facts.get("signature"):
        parts.append(f'<p style="{_QUIET}"><code>{for_html(facts["signature"])}</code></p>')
    return "\n".join([*parts, "</div>"])
