"""How many more documents a verdict would probably take, in a sentence."""

from __future__ import annotations

from outperform.present import numbers
from outperform.present.escape import for_text
from outperform.present.facts import Facts


def more_documents(needed: Facts, facts: Facts) -> str:
    """Return in a sentence how many more documents would probably decide.

    Parameters
    ----------
    needed
        ``n``, how many more, or None where even ``most`` are not enough; and ``probability``.
    facts
        The facts of the comparison.

    Examples
    --------
    >>> print(more_documents({"n": 2312, "probability": 0.8, "most": 90_000}, {"n": 900}))
    About 2,400 more documents, beside the 900 that there are, would probably decide it (80%).
    >>> print(more_documents({"n": None, "probability": 0.431, "most": 90_000}, {"n": 900}))
    Even 90,000 more documents, beside the 900 that there are, would decide it with a probability
    of 43% only.
    """
    unit = facts.get("unit") or "items"
    noun = "documents" if unit == "items" else for_text(unit)
    if "n_pool" in facts:
        noun = "labelled documents of the pool"
    beside = f"more {noun}, beside the {numbers.count(facts['n'])} that there are,"
    chance = f"{100 * needed['probability']:.0f}%"
    if needed["n"] is None:
        most = numbers.count(numbers.two_figures(needed["most"]))
        return f"Even {most} {beside} would decide it with a probability of {chance} only."
    return (
        f"About {numbers.count(numbers.two_figures(needed['n']))} {beside} would probably decide "
        f"it ({chance})."
    )
