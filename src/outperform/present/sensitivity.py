"""One comparison under several priors, in words and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from textwrap import wrap
from typing import Any

from outperform.present import facts as read
from outperform.present import numbers
from outperform.present.columns import (
    Column,
    number_column,
    probability_column,
    signed_column,
    text_column,
)
from outperform.present.escape import for_text
from outperform.present.facts import Facts
from outperform.present.table import Table

WIDTH = 100
_LONGEST_KEY = 22
_SHORT = {"hdi_low": "HDI low", "hdi_high": "HDI high"}
_DOUBTS = {
    "pulls": "a mean is off what was observed by more than half a posterior sd",
    "coarse": "an end of the HDI is too near to an edge of the ROPE for so many draws",
    "few": "the models hardly ever disagree",
    "apart": "this changes more than the prior",
}


def sensitivity_headline(facts: Facts) -> str:
    """Return which priors say what, the comparison's own first.

    Examples
    --------
    >>> firm, open_ = {"symbol": "≫", "words": "better"}, {"symbol": ">", "words": "leaning"}
    >>> rows = [{"prior": "unit", "decision": firm}, {"prior": "flat", "decision": open_}]
    >>> sensitivity_headline({"rows": rows})
    'unit says ≫ better; flat says > leaning.'
    """
    said: dict[str, list[str]] = {}
    for row in facts["rows"]:
        verdict = f"{row['decision']['symbol']} {row['decision']['words']}"
        said.setdefault(verdict, []).append(for_text(row["prior"], limit=_LONGEST_KEY))
    ((first, names), *rest) = said.items()
    if len(facts["rows"]) == 1:
        return f"{names[0]} says {first}; there is no other prior to ask, only other ROPEs."
    if not rest:
        every = "Both" if len(names) == 2 else f"All {len(names)}"
        return f"{every} priors say {first}: {_listed(names)}."
    parts = [
        f"{_listed(names)} {'says' if len(names) == 1 else 'say'} {verdict}"
        for verdict, names in said.items()
    ]
    return "; ".join(parts) + "."


def sensitivity_table(facts: Facts) -> Table:
    """Return one row a prior, with words in them; what else there is to say stands below.

    Parameters
    ----------
    facts
        The facts of a sensitivity.
    """
    return Table(
        _columns(facts),
        tuple(_row(facts, row) for row in facts["rows"]),
        title=_caption(facts),
        notes=(*_notes(facts), *_legend(facts)),
    )


def sensitivity_page(facts: Facts) -> Table:
    """Return the same without words for verdicts, which stand below, narrow enough for a page.

    Parameters
    ----------
    facts
        The facts of a sensitivity.
    """
    full = sensitivity_table(facts)
    columns = tuple(
        replace(column, heading=_SHORT.get(column.key, column.heading))
        for column in full.columns
        if column.key != "decision"
    )
    return replace(full, columns=columns)


def sensitivity_text(facts: Facts) -> str:
    """Return the caption, the headline, the rows and the doubts, for a terminal.

    Parameters
    ----------
    facts
        The facts of a sensitivity.
    """
    page = sensitivity_page(facts)
    kept = [key for key in page.keys if key not in ("sd", "p_worse", "p_better")]
    cut = tuple({**row, "prior": for_text(row["prior"], limit=_LONGEST_KEY)} for row in page.rows)
    table = replace(page, rows=cut).only(kept)
    lines = [
        *wrap(_caption(facts, limit=30), WIDTH),
        "",
        *wrap(sensitivity_headline(facts), WIDTH),
        "",
        *replace(table, title=None, notes=()).to_text().splitlines(),
        "",
    ]
    for note in _legend(facts):
        lines += wrap(note, WIDTH)
    for note in _reasons(facts):
        lines += wrap(note, WIDTH, subsequent_indent="  ")
    for level, message, name in read.findings(facts):
        lines += wrap(f"{level}: {message} [{name}]", WIDTH, subsequent_indent="  ")
    lines += wrap(for_text(facts["signature"]), WIDTH, subsequent_indent="  ")
    return "\n".join(lines)


def _caption(facts: Facts, *, limit: int | None = None) -> str:
    first = facts["rows"][0]
    rope = numbers.rope(facts["rope"]["low"], facts["rope"]["high"])
    return (
        f"{read.difference(facts, limit=limit)} in {read.measure(facts)} by prior, on "
        f"{read.sample(facts)} ({'paired' if facts['paired'] else 'unpaired'}, "
        f"{read.hdi_label(first)}, ROPE {rope})"
    )


def _columns(facts: Facts) -> tuple[Column, ...]:
    rows = facts["rows"]
    digits = max(read.digits(row) for row in rows)
    n_draws = min((row["n_draws"] for row in rows if not row["exact"]), default=None)
    return (
        text_column("prior"),
        Column(key="own", write=_mark),
        signed_column("mean", digits=digits),
        number_column("sd", digits=digits),
        signed_column("hdi_low", f"{read.hdi_label(rows[0])} low", digits),
        signed_column("hdi_high", "high", digits),
        probability_column("p_worse", "P(worse)", n_draws),
        probability_column("p_equivalent", "P(ROPE)", n_draws),
        probability_column("p_better", "P(better)", n_draws),
        text_column("decision", "verdict"),
        *(text_column(_rope_key(rope), _rope_heading(facts, rope)) for rope in facts["ropes"]),
        text_column("doubts"),
    )


def _mark(own: bool) -> str:
    return "*" if own else "–"


def _rope_heading(facts: Facts, rope: Mapping[str, float]) -> str:
    """Return a ROPE, marked if it is the comparison's own."""
    ends = rope["low"], rope["high"]
    own = ends == (facts["rope"]["low"], facts["rope"]["high"])
    return numbers.rope(*ends) + (" *" if own else "")


def _rope_key(rope: Mapping[str, float]) -> str:
    low, high = rope["low"], rope["high"]
    return f"at_{high:.12g}" if low == -high else f"at_{low:.12g}_{high:.12g}"


def _row(facts: Facts, row: Mapping[str, Any]) -> dict[str, Any]:
    same = ("prior", "own", "mean", "sd", "p_worse", "p_equivalent", "p_better")
    return {
        **{key: row[key] for key in same},
        "hdi_low": row["hdi"]["low"],
        "hdi_high": row["hdi"]["high"],
        "decision": f"{row['decision']['symbol']} {row['decision']['words']}",
        **{
            _rope_key(rope): verdict["symbol"]
            for rope, verdict in zip(facts["ropes"], row["verdicts"], strict=True)
        },
        "doubts": ", ".join(_doubts(facts, row)) or None,
    }


def _doubts(facts: Facts, row: Mapping[str, Any]) -> list[str]:
    held = {
        "pulls": row["pulls"],
        "coarse": "monte_carlo_too_coarse" in row["findings"],
        "few": "few_disagreements" in row["findings"],
        "apart": row["prior"] in facts["apart"],
    }
    return [name for name, holds in held.items() if holds]


def _legend(facts: Facts) -> list[str]:
    """Return what the marks in the rows mean, and the symbols that stand for verdicts."""
    shown = [verdict for row in facts["rows"] for verdict in row["verdicts"]]
    known = dict.fromkeys((one["symbol"], one["words"]) for one in shown)
    marks = dict.fromkeys(mark for row in facts["rows"] for mark in _doubts(facts, row))
    doubts = [f"{mark}: {_DOUBTS[mark]}" for mark in marks]
    return [
        "* the comparison's own",
        "; ".join(f"{symbol} {meaning}" for symbol, meaning in known),
        *(["; ".join(doubts)] if doubts else []),
    ]


def _notes(facts: Facts) -> list[str]:
    """Return the headline, what was left out, and the doubts."""
    doubts = [message for _, message, _ in read.findings(facts)]
    return [sensitivity_headline(facts), *doubts, *_reasons(facts)]


def _reasons(facts: Facts) -> list[str]:
    """Say what was left out and what changes more than the prior, one line for each reason."""
    found = []
    for key, words in (("left_out", "left out"), ("apart", "more than another prior")):
        together: dict[str, list[str]] = {}
        for name, reason in facts[key].items():
            together.setdefault(reason, []).append(for_text(name, limit=_LONGEST_KEY))
        found += [f"{words}: {_listed(names)} ({for_text(why)})" for why, names in together.items()]
    return found


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else " and ".join([", ".join(names[:-1]), names[-1]])
