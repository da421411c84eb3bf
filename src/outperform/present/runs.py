"""Several training runs in words: how many, how far apart, and what their spread does."""

from __future__ import annotations

from outperform.present import facts as read
from outperform.present import numbers
from outperform.present.escape import for_text
from outperform.present.facts import Facts

NAME_LIMIT = 30
_MOST = 2 / 3  # from this share of the variance on, one source is the one to work on


def run_details(facts: Facts) -> list[tuple[str, str]]:
    """Return what a screen says of the runs, as pairs of label and text.

    Examples
    --------
    >>> own = {"name": "bert", "sd": 0.02, "runs": {"names": ["1", "2"], "observed": [0.8, 0.9],
    ...        "sd": 0.0707}}
    >>> hdi = {"low": -0.02, "high": 0.04, "prob": 0.95}
    >>> told = {"a": own, "b": own | {"name": "gpt"}, "sd": 0.01, "hdi": hdi, "runs": {
    ...     "variance_from": {"test_set": 0.1, "runs": 0.9, "runs_low": 0.7, "runs_high": 0.98},
    ...     "pooled": {"hdi": hdi, "decision": {"symbol": ">"}}}}
    >>> for label, text in run_details(told):
    ...     print(f"{label}: {text}")
    runs: 2 of bert, 0.8000 to 0.9000, sd 0.0707; 2 of gpt, 0.8000 to 0.9000, sd 0.0707
    variance: 90% from the runs (95% interval 70% to 98%), 10% from the test set
    pooled: > (95% HDI -0.0200 to +0.0400), as if training could give no other runs
    """
    return [
        ("runs", "; ".join(_counted(facts[side], limit=NAME_LIMIT) for side in ("a", "b"))),
        ("variance", _shares(facts)),
        ("pooled", f"{_pooled(facts)}, as if training could give no other runs"),
    ]


def run_sentences(facts: Facts) -> str:
    """Return what a paragraph says of the runs.

    Examples
    --------
    >>> own = {"name": "bert", "sd": 0.02, "runs": {"names": ["1", "2"], "observed": [0.8, 0.9],
    ...        "sd": 0.0707}}
    >>> hdi = {"low": -0.02, "high": 0.04, "prob": 0.95}
    >>> told = {"a": own, "b": own | {"name": "gpt"}, "sd": 0.01, "hdi": hdi, "runs": {
    ...     "variance_from": {"test_set": 0.1, "runs": 0.9, "runs_low": 0.7, "runs_high": 0.98},
    ...     "pooled": {"hdi": hdi, "decision": {"symbol": ">"}}}}
    >>> print(run_sentences(told).partition(". ")[2])
    About 90% of the variance (95% interval 70% to 98%) comes from the training runs and 10% from the choice of the test documents; more runs would narrow the interval most. Pooled, as if training could give no other runs, they would say > (95% HDI -0.0200 to +0.0400).
    """  # noqa: E501
    a, b = (_counted(facts[side]) for side in ("a", "b"))
    shares = facts["runs"]["variance_from"]
    low, high = (_percent(shares[end]) for end in ("runs_low", "runs_high"))
    return (
        f"The difference is that of the means over all runs that training could give, judged by "
        f"the runs that were seen: {a}; {b}. About {_percent(shares['runs'])} of the variance "
        f"(95% interval {low} to {high}) comes from the training runs and "
        f"{_percent(shares['test_set'])} from the choice of the test documents; {_advice(shares)} "
        f"would narrow the interval most. Pooled, as if training could give no other runs, they "
        f"would say {_pooled(facts)}."
    )


def _advice(shares: Facts) -> str:
    if shares["runs"] >= _MOST:
        return "more runs"
    return "more documents" if shares["test_set"] >= _MOST else "more of both"


def _counted(own: Facts, *, limit: int | None = None) -> str:
    runs, places = own["runs"], read.digits(own)
    seen = [value for value in runs["observed"] if value is not None]
    text = f"{len(runs['names'])} of {for_text(own['name'], limit=limit)}"
    if not seen or runs["sd"] is None:
        return text if not seen else f"{text}, {numbers.plain(seen[0], places)}"
    low, high = (numbers.plain(end, places) for end in (min(seen), max(seen)))
    return f"{text}, {low} to {high}, sd {numbers.plain(runs['sd'], places)}"


def _shares(facts: Facts) -> str:
    shares = facts["runs"]["variance_from"]
    low, high = (_percent(shares[end]) for end in ("runs_low", "runs_high"))
    return (
        f"{_percent(shares['runs'])} from the runs (95% interval {low} to {high}), "
        f"{_percent(shares['test_set'])} from the test set"
    )


def _pooled(facts: Facts) -> str:
    pooled, places = facts["runs"]["pooled"], read.digits(facts)
    low, high = (numbers.signed(pooled["hdi"][end], places) for end in ("low", "high"))
    return f"{pooled['decision']['symbol']} ({read.hdi_label(facts)} {low} to {high})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"
