"""Sentences about a result: what is known, how surely, and nothing beyond the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outperform.present import facts as read
from outperform.present import numbers
from outperform.present.escape import for_text
from outperform.present.facts import Facts

_VERDICTS = {
    "BETTER": "{a} is better than {b}",
    "LEANING_BETTER": "{a} against {b} is leaning better, not decided",
    "EQUIVALENT": "{a} and {b} are practically equivalent",
    "LEANING_WORSE": "{a} against {b} is leaning worse, not decided",
    "WORSE": "{a} is worse than {b}",
    "UNDECIDED": "{a} against {b} is undecided",
}
DECIDED = {"BETTER": "better", "EQUIVALENT": "equivalent", "WORSE": "worse"}
_TOWARDS = {"BETTER": 1, "LEANING_BETTER": 1, "WORSE": -1, "LEANING_WORSE": -1}
_METHODS = {"draws": "from draws", "exact": "exact", "kde": "from a kernel density"}


def verdict(facts: Facts, *, limit: int | None = None) -> str:
    """Return the verdict in words, with the models' names.

    Examples
    --------
    >>> verdict({"names": ["bert", "gpt"], "decision": {"name": "EQUIVALENT"}})
    'bert and gpt are practically equivalent'
    """
    a, b = read.names(facts, limit=limit)
    return _VERDICTS[facts["decision"]["name"]].format(a=a, b=b)


def headline(facts: Facts, *, limit: int | None = None) -> str:
    """Return the answer of a comparison on one line.

    Parameters
    ----------
    facts
        The facts of a comparison.
    limit
        The longest name of a model; longer ones end in an ellipsis.

    Examples
    --------
    >>> print(headline({
    ...     "names": ["bert", "gpt"], "metric": "f1", "metric_label": "F1", "mean": 0.0222,
    ...     "sd": 0.0076, "hdi": {"low": 0.0107, "high": 0.0371, "prob": 0.95},
    ...     "rope": {"low": -0.01, "high": 0.01}, "decision": {"name": "BETTER"}}))
    bert is better than gpt: F1 higher by 0.0222 (95% HDI +0.0107 to +0.0371), ROPE ±0.01.
    """
    rope = numbers.rope(facts["rope"]["low"], facts["rope"]["high"])
    line = (
        f"{verdict(facts, limit=limit)}: {read.metric(facts)} {_amount(facts)} "
        f"({read.hdi_label(facts)} {_hdi(facts, sign=True)}), ROPE {rope}."
    )
    return line + _doubt(facts)


def rope_curve_sentence(
    curve: Sequence[Mapping[str, Any]],
    *,
    rope: Mapping[str, Any] | None = None,
    words: bool = False,
) -> str:
    """Return the verdict for every width of the ROPE.

    Parameters
    ----------
    curve
        Stretches of half-widths with one verdict each, ``from`` and ``to``;
        for an asymmetric ROPE the stretches are multiples of it.
    rope
        The ROPE; symmetric if None.
    words
        Whether each symbol is followed by what it means.

    Examples
    --------
    >>> rope_curve_sentence([
    ...     {"decision": "BETTER", "symbol": "≫", "from": 0.0, "to": 0.006},
    ...     {"decision": "LEANING_BETTER", "symbol": ">", "from": 0.006, "to": 0.038},
    ...     {"decision": "EQUIVALENT", "symbol": "≈", "from": 0.038, "to": None}])
    '≫ up to ±0.006, undecided (>) to ±0.038, ≈ from there on'
    """
    stretches = [s for s in curve if s["to"] is None or s["to"] > s["from"]]
    if not any(stretch["decision"] in DECIDED for stretch in stretches):
        return "withheld for every width"  # a ROPE that is wide enough decides everything else
    scaled = rope is not None and rope["low"] != -rope["high"]
    parts = []
    for position, stretch in enumerate(stretches):
        where = "up to" if position == 0 else "to"
        if stretch["to"] is None:
            extent = "for every width" if position == 0 else "from there on"
        else:
            extent = f"{where} {_width(stretch['to'], scaled=scaled)}"
        parts.append(f"{_stretch_name(stretch, words=words)} {extent}")
    return ", ".join(parts)


def estimate_headline(facts: Facts, *, limit: int | None = None) -> str:
    """Return an estimate on one line.

    Examples
    --------
    >>> print(estimate_headline({
    ...     "name": "bert", "metric": "f1", "metric_label": "F1", "mean": 0.6023, "sd": 0.0055,
    ...     "observed": 0.6042, "hdi": {"low": 0.5915, "high": 0.613, "prob": 0.95}}))
    bert: F1 0.6023 (95% HDI 0.5915 to 0.6130), observed 0.6042.
    """
    places = read.digits(facts)
    line = (
        f"{for_text(facts['name'], limit=limit)}: {read.metric(facts)} "
        f"{numbers.plain(facts['mean'], places)} ({read.hdi_label(facts)} {_hdi(facts)})"
    )
    if facts.get("observed") is not None:
        line += f", observed {numbers.plain(facts['observed'], places)}"
    return line + "." + _doubt(facts)


def regret_text(facts: Facts, *, limit: int | None = None) -> str | None:
    """Return what either choice loses on average, where the metric is a cost.

    Examples
    --------
    >>> regret_text({"names": ["bert", "gpt"], "regret": {"a": 0.0012, "b": 0.075}, "sd": 0.01,
    ...              "costs": {"unit": "EUR"}})
    'choosing bert loses 0.0012 EUR per document on average, choosing gpt 0.0750'
    """
    if "costs" not in facts:
        return None
    (a, b), places = read.names(facts, limit=limit), read.digits(facts)
    lost_a, lost_b = (_lost(facts["regret"][one], places) for one in ("a", "b"))
    unit = facts["costs"].get("unit")
    per = "per document" if unit is None else f"{for_text(unit)} per document"
    return f"choosing {a} loses {lost_a} {per} on average, choosing {b} {lost_b}"


def _lost(amount: float, places: int) -> str:
    """Write a loss so that a small one is seen not to be none."""
    small = 0 < amount < 0.5 * 10**-places
    return f"{amount:.1g}" if small else numbers.plain(amount, places)


def bayes_factor_text(facts: Facts) -> str | None:
    """Return the Bayes factor with its null and method, or None if there is none.

    Examples
    --------
    >>> bayes_factor_text({"bayes_factor": {"bf01": 12.3, "kind": "interval", "method": "draws"}})
    'BF01 = 12.3 (interval null, from draws)'
    """
    factor = facts.get("bayes_factor")
    if factor is None:
        return None
    details = [f"{for_text(factor.get('kind', 'interval'))} null"]
    if factor.get("method") is not None:
        details.append(_METHODS.get(factor["method"], for_text(factor["method"])))
    text = f"{numbers.bayes_factor(factor)} ({', '.join(details)})"
    against = "bayes_factor_against_probability"
    if any(name == against for _, _, name in read.findings(facts, "note")):
        than = "less" if factor["bf01"] > 1 else "more"
        text += f", because even {than} lay in the ROPE before the data"
    return text


def _amount(facts: Facts) -> str:
    """Say by how much, with a direction only where the verdict has the same."""
    name, mean, places = facts["decision"]["name"], facts["mean"], read.digits(facts)
    direction = _TOWARDS.get(name, 0)
    if not facts.get("greater_is_better", True):
        direction = -direction
    about = "" if name in DECIDED else "an estimated "
    if direction * mean <= 0:
        return f"differs by {about}{numbers.signed(mean, places)}"
    return f"{'higher' if mean > 0 else 'lower'} by {about}{numbers.plain(abs(mean), places)}"


def _hdi(facts: Facts, *, sign: bool = False) -> str:
    hdi = facts["hdi"]
    return numbers.interval(hdi["low"], hdi["high"], read.digits(facts), sign=sign)


def _doubt(facts: Facts) -> str:
    serious = [name for _, _, name in read.findings(facts, "serious")]
    return f" Serious doubt: {', '.join(serious)}." if serious else ""


def _stretch_name(stretch: Mapping[str, Any], *, words: bool) -> str:
    symbol, decided = for_text(stretch["symbol"]), DECIDED.get(stretch["decision"])
    if decided is None:
        return f"undecided ({symbol})"
    return f"{symbol} ({decided})" if words else symbol


def _width(value: float, *, scaled: bool) -> str:
    text = f"{value:.{numbers.DIGITS}f}".rstrip("0").rstrip(".")
    if not text.strip("0"):
        text = f"{value:.2g}"
    return f"{text} times the given ROPE" if scaled else f"±{text}"
