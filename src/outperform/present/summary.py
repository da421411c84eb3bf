"""Results as tables: the small one on a screen, and one row for each of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from outperform.errors import UsageError
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
from outperform.present.formats import LIMIT
from outperform.present.sentences import verdict
from outperform.present.table import Table


def comparison_table(facts: Facts) -> Table:
    """Return A, B and their difference: observed, mean, sd and HDI.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> a = {"name": "bert", "observed": 0.7, "mean": 0.7, "sd": 0.1, "hdi": hdi}
    >>> b = {"name": "gpt", "observed": 0.5, "mean": 0.5, "sd": 0.1, "hdi": hdi}
    >>> c = {"names": ["bert", "gpt"], "metric": "f1", "a": a, "b": b,
    ...      "observed": 0.2, "mean": 0.2, "sd": 0.1, "hdi": hdi}
    >>> comparison_table(c)["model"]
    ('bert', 'gpt', 'bert − gpt')
    """
    a, b = facts["names"]
    rows = [
        _row(a, facts["a"]),
        _row(b, facts["b"]),
        _row(_difference_name(facts), facts),
    ]
    return Table(_columns(facts, read.digits(facts)), tuple(rows), title=read.metric(facts))


def estimate_table(facts: Facts) -> Table:
    """Return one model's observed value, mean, sd and HDI.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> facts = {"name": "bert", "metric": "f1", "observed": 0.2, "mean": 0.2, "sd": 0.05,
    ...          "hdi": hdi}
    >>> estimate_table(facts)["hdi_high"]
    (0.3,)
    """
    row = _row(facts["name"], facts)
    return Table(_columns(facts, read.digits(facts)), (row,), title=read.metric(facts))


def comparison_caption(facts: Facts) -> str:
    """Return what the table of a comparison shows, with which ROPE, model and verdict.

    Examples
    --------
    >>> comparison_caption({"names": ["bert", "gpt"], "metric": "f1", "n": 90, "model": "flat",
    ...     "hdi": {"low": 0.1, "high": 0.3, "prob": 0.95}, "rope": {"low": -0.01, "high": 0.01},
    ...     "decision": {"name": "BETTER", "symbol": "≫"}})
    'bert, gpt and their difference in f1 on 90 items (model flat), with 95% HDIs. For a ROPE of
    ±0.01, bert is better than gpt (≫).'
    """
    a, b = read.names(facts)
    rope = numbers.rope(facts["rope"]["low"], facts["rope"]["high"])
    return (
        f"{a}, {b} and their difference in {_seen(facts)}, with {read.hdi_label(facts)}s. For a "
        f"ROPE of {rope}, {verdict(facts)} ({facts['decision']['symbol']})."
    )


def estimate_caption(facts: Facts) -> str:
    """Return what the table of an estimate shows, and with which model.

    Examples
    --------
    >>> estimate_caption({"name": "bert", "metric": "f1", "n": 90, "model": "free",
    ...     "hdi": {"low": 0.1, "high": 0.3, "prob": 0.95}})
    "bert's f1 on 90 items (model free), with its 95% HDI."
    """
    return f"{for_text(facts['name'])}'s {_seen(facts)}, with its {read.hdi_label(facts)}."


def captioned(table: Table, caption: str | None) -> Table:
    """Return a table with another title, if one is given.

    Examples
    --------
    >>> table = captioned(Table((text_column("class"),), ()), "By class")
    >>> table.title, captioned(table, None).title
    ('By class', 'By class')
    """
    return table if caption is None else replace(table, title=caption)


def results_table(results: Sequence[Facts], *, title: str | None = None) -> Table:
    """Return one row for each of several comparisons.

    Parameters
    ----------
    results
        The facts of the comparisons, of one or of many metrics.
    title
        What the table shows.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> c = {"names": ["bert", "gpt"], "metric": "f1", "observed": 0.2, "mean": 0.2, "sd": 0.1,
    ...      "hdi": hdi, "rope": {"low": -0.01, "high": 0.01}, "p_worse": 0.01,
    ...      "p_equivalent": 0.01, "p_better": 0.98, "p_greater": 0.985, "exact": True,
    ...      "decision": {"name": "BETTER", "symbol": "≫", "words": "better"}}
    >>> results_table([c])["verdict"]
    ('≫ better',)
    """
    if not results:
        raise UsageError("a table of results needs at least one result, but none came")
    digits = max(map(read.digits, results))
    drawn = [n for n in map(read.draws_behind, results) if n is not None]
    columns = _result_columns(digits, min(drawn, default=None))
    return Table(columns, tuple(map(_result_row, results)), title=title)


def _seen(facts: Facts) -> str:
    """Name the metric, what it was measured on and how."""
    sample, how = read.sample(facts), ", ".join(read.method(facts))
    folds = f" by {read.design(facts)}" if "folds" in facts else ""
    on = f" on {sample}" if sample else ""
    return f"{read.measure(facts)}{on}{folds}" + (f" ({how})" if how else "")


def _difference_name(facts: Facts) -> str:
    """Name the difference so that a table which cuts long labels still shows both models."""
    whole = read.difference(facts)
    return whole if len(whole) <= LIMIT else read.difference(facts, limit=(LIMIT - 3) // 2)


def _columns(facts: Facts, digits: int) -> tuple[Column, ...]:
    label = read.hdi_label(facts)
    return (
        text_column("model", "model"),
        number_column("observed", "observed", digits),
        number_column("mean", "mean", digits),
        number_column("sd", "sd", digits),
        number_column("hdi_low", f"{label} low", digits),
        number_column("hdi_high", "high", digits),
    )


def _defined(facts: Facts) -> bool:
    return bool(facts.get("observed_defined", True))


def _row(name: object, facts: Facts) -> dict[str, object]:
    return {
        "model": name,
        "observed": facts.get("observed") if _defined(facts) else numbers.UNDEFINED,
        "mean": facts["mean"],
        "sd": facts["sd"],
        "hdi_low": facts["hdi"]["low"],
        "hdi_high": facts["hdi"]["high"],
    }


def _result_columns(digits: int, n_draws: int | None) -> tuple[Column, ...]:
    return (
        text_column("a", "A"),
        text_column("b", "B"),
        text_column("metric"),
        text_column("verdict"),
        signed_column("observed", "observed A − B", digits),
        signed_column("mean", "mean A − B", digits),
        number_column("sd", "sd", digits),
        signed_column("hdi_low", "HDI low", digits),
        signed_column("hdi_high", "HDI high", digits),
        number_column("hdi_prob", "HDI mass", 2),
        signed_column("rope_low", "ROPE low", digits),
        signed_column("rope_high", "ROPE high", digits),
        probability_column("p_worse", "P(worse)", n_draws),
        probability_column("p_equivalent", "P(equivalent)", n_draws),
        probability_column("p_better", "P(better)", n_draws),
        probability_column("p_greater", "P(A > B)", n_draws),
        number_column("log10_bf10", "log10 BF10", 2),
    )


def _result_row(facts: Facts) -> Mapping[str, object]:
    a, b = facts["names"]
    decision, factor = facts["decision"], facts.get("bayes_factor") or {}
    return {
        **_row("", facts),
        "observed": facts.get("observed"),  # a number or nothing, because frames calculate
        "a": a,
        "b": b,
        "metric": facts["metric"],
        "verdict": f"{decision['symbol']} {decision['words']}",
        "hdi_prob": facts["hdi"]["prob"],
        "rope_low": facts["rope"]["low"],
        "rope_high": facts["rope"]["high"],
        "p_worse": facts["p_worse"],
        "p_equivalent": facts["p_equivalent"],
        "p_better": facts["p_better"],
        "p_greater": facts.get("p_greater"),
        "log10_bf10": factor.get("log10_bf10"),
    }
