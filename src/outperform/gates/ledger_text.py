"""The course of a ledger: its releases, and what was lost since the best of them."""

from __future__ import annotations

from outperform.display import numbers
from outperform.display.document import Document, Note, Rows
from outperform.display.facts import Facts
from outperform.display.formats import Column, text_column
from outperform.display.numbers import for_text
from outperform.display.pictures import span
from outperform.display.table import Table
from outperform.findings import counted

_PLACES, _LIMIT = 4, 40


def ledger_headline(facts: Facts) -> str:
    """Return what the decisions add up to, in one sentence.

    Examples
    --------
    >>> ledger_headline({"metric": "accuracy", "anchor": "v3", "released": "v9", "decisions": [],
    ...     "loss": {"mean": 0.004, "hdi": {"low": -0.001, "high": 0.009, "prob": 0.95}}})
    'The best release is v3; the latest, v9, has lost 0.0040 accuracy since then (95% HDI −0.0010 to +0.0090).'
    """  # noqa: E501
    if facts["anchor"] is None:
        return "No decision about two models is recorded."
    anchor, latest = (for_text(facts[name], limit=_LIMIT) for name in ("anchor", "released"))
    if anchor == latest:
        return f"The best release is the latest, {anchor}."
    loss, metric = facts["loss"], for_text(facts["metric"])
    hdi = loss["hdi"]
    interval = numbers.interval(hdi["low"], hdi["high"], _PLACES, sign=True)
    verb, size = ("lost", loss["mean"]) if loss["mean"] >= 0 else ("gained", -loss["mean"])
    return (
        f"The best release is {anchor}; the latest, {latest}, has {verb} {size:.{_PLACES}f} "
        f"{metric} since then ({numbers.percent(hdi['prob'])} HDI {interval})."
    )


def ledger_table(facts: Facts) -> Table:
    """Return one row per decision."""
    columns = (
        text_column("time"),
        text_column("candidate"),
        text_column("baseline"),
        text_column("status"),
        Column(key="difference", heading="difference", align="right"),
        Column(key="anchored", heading="since the best release", align="right"),
        Column(key="look", align="right"),
    )
    return Table(columns, tuple(_row(decision) for decision in facts["decisions"]))


def _row(decision: Facts) -> dict[str, object]:
    here = decision["since_anchor"]
    return {
        "time": decision["time"][:10],
        "candidate": for_text(decision["candidate"], limit=_LIMIT),
        "baseline": "–"
        if decision["baseline"] is None
        else for_text(decision["baseline"], limit=_LIMIT),
        "status": decision["status"],
        "difference": None
        if decision["baseline"] is None
        else f"{numbers.signed(decision['mean'], _PLACES)} ± {decision['sd']:.{_PLACES}f}",
        "anchored": None
        if here is None
        else f"{numbers.signed(here['mean'], _PLACES)} ± {here['sd']:.{_PLACES}f}",
        "look": str(decision["look"]),
    }


def ledger_document(facts: Facts) -> Document:
    """Return a ledger: the sentence, and a row with its interval per decision."""
    table, decisions = ledger_table(facts), facts["decisions"]
    return Document(
        headline=ledger_headline(facts),
        screen=[Rows(table=table, first=["candidate", "status", "anchored"], labels=["candidate"])],
        table=table,
        spans=[span(decision["since_anchor"] or decision["difference"]) for decision in decisions],
        zero=True,
        more=table,
        notes=[
            Note(
                "Differences have signs such that higher is better. The difference since the best "
                "release allows for the selection of candidates that passed."
            )
        ]
        if decisions
        else [],
        parts=[counted(len(decisions), "decisions")],
    )
