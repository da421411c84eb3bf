"""A plan in words: how many documents, how probably, and what was simulated."""

from __future__ import annotations

from outperform.present import facts as read
from outperform.present import numbers
from outperform.present.columns import count_column, number_column
from outperform.present.escape import for_text
from outperform.present.facts import Facts
from outperform.present.screen import wrapped
from outperform.present.table import Table

_MARGIN = 14


def plan_headline(facts: Facts) -> str:
    """Return the answer of a plan on one line.

    Examples
    --------
    >>> told = {"names": ["bert", "gpt"], "metric": "f1", "metric_label": "F1", "goal": "≫",
    ...         "target": 0.8, "n": 1834, "n_error": 31.0, "reached": 0.8, "error": 0.008,
    ...         "seen": 0, "most": 1_000_000}
    >>> print(plan_headline(told))
    1,834 ± 31 documents: ≫ with a probability of 80%.
    >>> print(plan_headline(told | {"n": None, "reached": 0.634}))
    Not reachable: ≫ with a probability of at most 63%, however many documents up to 1,000,000.
    """
    goal = _goal(facts)
    more = " more" if facts["seen"] else ""
    if facts["n"] is None:
        return (
            f"Not reachable: {goal} with a probability of at most {_percent(facts['reached'])}, "
            f"however many{more} documents up to {numbers.count(facts['most'])}."
        )
    if facts["n"] == 0:
        return f"No more documents are needed: {goal} already."
    error = f" ± {numbers.count(round(facts['n_error']))}" if round(facts["n_error"]) else ""
    return (
        f"{numbers.count(facts['n'])}{error}{more} documents: {goal} with a probability of "
        f"{_percent(facts['reached'])}."
    )


def plan_paragraph(facts: Facts) -> str:
    """Return a plan as a paragraph: the number, what it is for, and how it was found."""
    a, b = read.names(facts)
    rope = read.rope_text(facts)
    parts = [
        f"The comparison of {a} and {b} in {read.metric(facts)}, with a region of practical "
        f"equivalence (ROPE) of {rope}, is to be {_in_words(facts)}. {plan_headline(facts)}"
    ]
    if facts["seen"]:
        parts.append(f"{numbers.count(facts['seen'])} documents are there already and count.")
    if facts["width"] is not None:
        parts.append(
            f"The interval would then be {facts['width']:.3g} wide on average, and a difference of "
            f"{facts['detectable']:.3g} would be found better with a probability of "
            f"{numbers.percent(facts['target'])} by models that disagree as often as these."
        )
    parts.append(
        f"{numbers.count(facts['n_simulations'])} test sets of {len(facts['sizes'])} sizes were "
        "simulated."
    )
    parts += [f"{message}" for _, message, _ in read.findings(facts, "serious", "warning")]
    return " ".join([*parts, f"Method: {for_text(facts['signature'])}"])


def plan_table(facts: Facts) -> Table:
    """Return one row for each size that was simulated."""
    rows = [
        {"n": n, "share": share, "error": error, "width": width}
        for n, share, error, width in zip(
            facts["sizes"], facts["shares"], facts["errors"], facts["widths"], strict=True
        )
    ]
    columns = (
        count_column("n", "more documents" if facts["seen"] else "documents"),
        number_column("share", f"P({for_text(facts['goal'])})", 3),
        number_column("error", "simulation error", 3),
        number_column("width", "interval width", 4),
    )
    return Table(columns, tuple(rows), title=f"Probability of {_goal(facts)}")


def plan_text(facts: Facts) -> str:
    """Return a plan for a terminal."""
    a, b = read.names(facts, limit=30)
    details = [
        ("difference", f"{a} − {b} in {read.metric(facts)}; ROPE {read.rope_text(facts)}"),
    ]
    if facts["seen"]:
        details.append(("there are", f"{numbers.count(facts['seen'])} documents, which count"))
    if facts["width"] is not None:
        details.append(("interval", f"{facts['width']:.3g} wide at that size, on average"))
        found = f"{facts['detectable']:.3g} is found better as probably as that, at that size"
        details.append(("detectable", found))
    lines = [*wrapped(plan_headline(facts)), "", *plan_table(facts).to_text().splitlines(), ""]
    for label, text in details:
        lines += wrapped(f"{label:<{_MARGIN}}{text}", indent=_MARGIN)
    for level, message, name in read.findings(facts):
        lines += wrapped(f"{level}: {message} [{name}]", indent=2)
    return "\n".join([*lines, *wrapped(for_text(facts["signature"]), indent=2)])


_WORDS = {
    "decided": "decided, whichever way",
    "not_worse": "not worse",
    "≫": "≫ (better)",
    "≈": "≈ (practically equivalent)",
    "≪": "≪ (worse)",
}


def _in_words(facts: Facts) -> str:
    return _WORDS.get(facts["goal"], for_text(facts["goal"]))


def _goal(facts: Facts) -> str:
    return for_text(facts["goal"]).replace("_", " ")


def _percent(probability: float) -> str:
    near = 0.005 <= probability < 0.995
    return f"{100 * probability:.0f}%" if near else numbers.probability(probability)
