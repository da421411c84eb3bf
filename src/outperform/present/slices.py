"""Many slices in words and tables: how many are called, and the most concerning first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Any

from outperform.present import facts as read
from outperform.present import numbers
from outperform.present.columns import (
    Column,
    count_column,
    number_column,
    probability_column,
    signed_column,
    text_column,
)
from outperform.present.escape import for_text
from outperform.present.facts import Facts
from outperform.present.sentences import headline
from outperform.present.table import Table

WIDTH = 100
_LONGEST_KEY = 24
_IN_TEXT = ("n", "observed", "mean", "hdi_low", "hdi_high", "p_worse", "like_whole", "decision")
_SHORT = {"hdi_low": "HDI low", "hdi_high": "HDI high", "like_whole": "like whole"}
_OWN = (
    "n", "observed_a", "observed_b", "observed", "mean", "sd", "hdi_low", "hdi_high", "p_worse",
    "p_equivalent", "p_better", "p_greater", "like_whole", "decision",
)  # fmt: skip


def slices_table(facts: Facts, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return one row a slice, in the order given.

    Examples
    --------
    >>> row = {"key": ["DE"], "n": 200, "observed_a": 0.8, "observed_b": 0.9, "observed": -0.1,
    ...        "mean": -0.09, "sd": 0.02, "hdi": {"low": -0.13, "high": -0.05, "prob": 0.95},
    ...        "p_worse": 1.0, "p_equivalent": 0.0, "p_better": 0.0, "p_greater": 0.0,
    ...        "like_whole": 0.01, "decision": {"name": "WORSE", "symbol": "≪", "words": "worse"}}
    >>> facts = {"by": ["country"], "names": ["bert", "gpt"], "n_draws": 4000, "hdi_prob": 0.95}
    >>> slices_table(facts, [row])["country"]
    ('DE',)
    """
    keys = _key_names(facts["by"])
    found = tuple(
        {
            **dict(zip(keys, row["key"], strict=True)),
            **{name: row.get(name) for name in _OWN},
            "hdi_low": row["hdi"]["low"],
            "hdi_high": row["hdi"]["high"],
            "decision": f"{row['decision']['symbol']} {row['decision']['words']}",
        }
        for row in rows
    )
    return Table(_columns(facts, keys), found, title=_caption(facts))


def _key_names(by: Sequence[str]) -> list[str]:
    """Name the columns of the slices so that they differ from the others."""
    return [f"by_{name}" if name in _OWN else name for name in by]


def _columns(facts: Facts, keys: Sequence[str]) -> tuple[Column, ...]:
    a, b = read.names(facts)
    n_draws, hdi = facts["n_draws"], f"{numbers.percent(facts['hdi_prob'])} HDI"
    return (
        *(text_column(key, for_text(key)) for key in keys),
        count_column("n"),
        number_column("observed_a", a),
        number_column("observed_b", b),
        signed_column("observed"),
        signed_column("mean"),
        number_column("sd"),
        signed_column("hdi_low", f"{hdi} low"),
        signed_column("hdi_high", "high"),
        probability_column("p_worse", "P(worse)", n_draws),
        probability_column("p_equivalent", "P(ROPE)", n_draws),
        probability_column("p_better", "P(better)", n_draws),
        probability_column("p_greater", "P(>0)", n_draws),
        probability_column("like_whole", "P(like the whole)"),
        text_column("decision", "verdict"),
    )


def _caption(facts: Facts, *, limit: int | None = None) -> str:
    if "metric" not in facts:
        return read.difference(facts, limit=limit)
    by = " and ".join(for_text(name, limit=limit) for name in facts["by"])
    rope = numbers.rope(facts["rope"]["low"], facts["rope"]["high"])
    return (
        f"{read.difference(facts, limit=limit)} in {read.metric(facts)} by {by}, "
        f"{numbers.count(facts['n_slices'])} slices of {read.sample(facts)} (paired, model "
        f"{facts['model']}, pulled toward the whole, {numbers.percent(facts['hdi_prob'])} HDI, "
        f"ROPE {rope})"
    )


def slices_headline(facts: Facts, *, limit: int | None = None) -> str:
    """Return how many slices are called, and how many of these calls are probably wrong.

    Examples
    --------
    >>> counts = {"WORSE": 12, "BETTER": 0, "EQUIVALENT": 9_000}
    >>> print(slices_headline({"names": ["bert", "gpt"], "n_slices": 10_000, "counts": counts,
    ...                        "expected_wrong": 0.31}))
    bert is worse than gpt in 12 of 10,000 slices, better in none, practically equivalent in 9,000; the other 988 are not decided. Of the 12 called better or worse about 0.31 are expected to be wrong.
    """  # noqa: E501
    a, b = read.names(facts, limit=limit)
    total = facts["n_slices"]
    worse, better, equal = (facts["counts"][name] for name in ("WORSE", "BETTER", "EQUIVALENT"))
    open_, called = total - worse - better - equal, worse + better
    line = (
        f"{a} is worse than {b} in {_many(worse)} of {numbers.count(total)} "
        f"slice{'' if total == 1 else 's'}, better in {_many(better)}, practically equivalent in "
        f"{_many(equal)}"
    )
    line += f"; the other {numbers.count(open_)} {_are(open_)} not decided." if open_ else "."
    if called:
        wrong = facts["expected_wrong"]
        about = "fewer than 0.01 are" if wrong < 0.01 else f"about {wrong:.2g} are"
        line += f" Of the {numbers.count(called)} called better or worse {about} expected to be "
        line += "wrong."
    return line


def _many(count: int) -> str:
    return numbers.count(count) if count else "none"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def slices_text(facts: Facts, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the caption, the headline, the whole, the rows given, and the doubts."""
    full = slices_table(facts, rows)
    keys = _key_names(facts["by"])
    table = full.only([*keys, *_IN_TEXT])
    columns = tuple(
        replace(column, heading=_SHORT.get(column.key, column.heading)) for column in table.columns
    )
    cut = tuple(
        {
            **row,
            **{key: for_text(row[key], limit=_LONGEST_KEY) for key in keys},
            "decision": str(row["decision"]).partition(" ")[0],
        }
        for row in full.rows
    )
    left = facts["n_slices"] - len(rows)
    lines = [
        *wrap(_caption(facts, limit=30), WIDTH),
        "",
        *wrap(slices_headline(facts, limit=30), WIDTH),
        *wrap(f"The whole: {headline(facts['whole'], limit=30)}", WIDTH),
        "",
        *replace(table, columns=columns, rows=cut, title=None).to_text().splitlines(),
        *([f"and {numbers.count(left)} more"] if left else []),
        *wrap(_legend(rows), WIDTH),
    ]
    for level, message, name in read.findings(facts):
        lines += wrap(f"{level}: {message} [{name}]", WIDTH, subsequent_indent="  ")
    lines += wrap(for_text(facts["signature"]), WIDTH, subsequent_indent="  ")
    return "\n".join(lines)


def _legend(rows: Sequence[Mapping[str, Any]]) -> str:
    known = dict.fromkeys((row["decision"]["symbol"], row["decision"]["words"]) for row in rows)
    return "; ".join(f"{symbol} {words}" for symbol, words in known)
