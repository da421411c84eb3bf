"""Sentences and tables of a noise floor."""

from __future__ import annotations

from typing import Any

from outperform.display import facts as read
from outperform.display.document import Document, Note, Rows
from outperform.display.facts import Facts
from outperform.display.formats import count_column, number_column, text_column
from outperform.display.numbers import count, for_text, plain, rope
from outperform.display.table import Table

_MOST_ITEMS = 10

# Key, name in tables, and whether the number is a probability.
_NUMBERS = (
    ("flip_rate", "flip rate", True),
    ("icc", "ICC", False),
    ("score_sd", "sd of a run's score", False),
    ("trial_share", "share of the trials in its variance", True),
    ("smallest_effect", "smallest effect", False),
    ("p_gate_flips", "P(gate flips)", True),
    ("p_gate_passes", "P(gate passes)", True),
    ("p_gate_fails", "P(gate fails)", True),
)


def noise_headline(facts: Facts) -> str:
    """Return how often answers differ, and how often a gate changes by noise."""
    flips, gate = facts["flip_rate"], facts["p_gate_flips"]
    pair = "answers" if facts["binary"] else "grades"
    return (
        f"Two {pair} to the same item differ in {_share(flips['mean'])} of cases "
        f"({_interval(flips)}). If nothing changes but the candidate is run again, a gate with "
        f"ROPE {_rope(facts)} gives another result with probability {_share(gate['mean'])} "
        f"({_interval(gate)})."
    )


def _share(value: float) -> str:
    """Return a share in per cent, with a decimal below 10%.

    Examples
    --------
    >>> [_share(value) for value in (0.2355, 0.0178, 1.3e-7, 0.0, 1.0)]
    ['24%', '1.8%', '<0.1%', '0%', '100%']
    """
    if value >= 0.0995 or value == 0:
        return f"{value:.0%}"
    return f"{100 * value:.1f}%" if value >= 0.0005 else "<0.1%"


def _interval(summary: Facts) -> str:
    hdi = summary["hdi"]
    return f"{hdi['prob']:.0%} HDI {_share(hdi['low'])} to {_share(hdi['high'])}"


def _rope(facts: Facts) -> str:
    return rope(facts["rope"]["low"], facts["rope"]["high"])


def design_sentence(facts: Facts) -> str:
    """Return the smallest effect that this design can show."""
    effect, target = facts["smallest_effect"], facts["target"]
    trials = facts["n_trials"]
    each = "one answer" if trials == 1 else f"{trials} answers"
    return (
        f"With {count(facts['n'])} items and {each} per item and model, the smallest difference "
        f"that is declared better with {target:.0%} probability is {plain(effect['mean'])}. It "
        "assumes that the models differ by noise and by this effect only, so it is a lower limit."
    )


def variance_sentence(facts: Facts) -> str:
    """Return what more trials or more items would remove from the variance of a score."""
    share = facts["trial_share"]["mean"]
    return (
        f"Of the variance of a run's score, {_share(share)} comes from the trials and "
        f"{_share(1 - share)} from the choice of items. Twice the trials remove "
        f"{_share(share / 2)} of it and any number at most {_share(share)}; twice the items remove "
        "50%."
    )


def noise_table(facts: Facts) -> Table:
    """Return one row per number, with its interval and Monte Carlo error."""
    rows: list[dict[str, Any]] = [
        {
            "quantity": name,
            "mean": facts[key]["mean"],
            "sd": facts[key]["sd"],
            "hdi_low": facts[key]["hdi"]["low"],
            "hdi_high": facts[key]["hdi"]["high"],
            "mcse": facts[key]["mcse"],
        }
        for key, name, _ in _NUMBERS
    ]
    hdi = read.hdi_label(facts["flip_rate"])
    columns = (
        text_column("quantity"),
        number_column("mean"),
        number_column("sd"),
        number_column("hdi_low", f"{hdi} low"),
        number_column("hdi_high", "high"),
        number_column("mcse", "simulation error", 5),
    )
    return Table(columns, tuple(rows), title=f"Noise of {_runs(facts)}")


def flaky_table(facts: Facts) -> Table:
    """Return one row per item whose answers differ."""
    columns = (
        text_column("item"),
        count_column("n", "answers"),
        number_column("mean", "share right" if facts["binary"] else "mean", 2),
        number_column("flip_rate", "flip rate", 2),
    )
    rows = [
        {
            "item": for_text(row["id"]),
            "n": row["n"],
            "mean": row["mean"],
            "flip_rate": row["flip_rate"],
        }
        for row in facts["flaky"]
    ]
    return Table(columns, tuple(rows), title="Items whose answers differ, the least stable first")


def _runs(facts: Facts) -> str:
    n_runs = len(facts["runs"])
    runs = "1 run" if n_runs == 1 else f"{n_runs} runs"
    return f"{runs} on {count(facts['n'])} items, {count(facts['n_answers'])} answers"


def noise_document(facts: Facts) -> Document:
    """Return the headline, the numbers, the flaky items and the findings."""
    full = noise_table(facts)
    short = full.only([key for key in full.keys if key not in ("sd", "mcse")])
    flaky = flaky_table(facts)
    screen = [Rows(table=short, verbose=full, first=["quantity", "mean"], labels=["quantity"])]
    if facts["flaky"]:
        shown = Table(flaky.columns, flaky.rows[:_MOST_ITEMS], title=flaky.title)
        more = len(flaky) - len(shown)
        left = f"… and {count(more)} more; items() has all." if more else ""
        screen.append(Rows(table=shown, labels=["item"], left=left))
    return Document(
        headline=noise_headline(facts),
        lead=[Note(design_sentence(facts)), Note(variance_sentence(facts))],
        screen=screen,
        table=short,
        more=flaky if facts["flaky"] else full,
        findings=read.findings(facts),
        caption=_runs(facts),
        parts=(),
        method=_runs(facts),
        signature=for_text(facts["signature"]),
        terms=("rope",),
    )
