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
_DECIDED = {"BETTER": "better", "EQUIVALENT": "equivalent", "WORSE": "worse"}
_TOWARDS = {"BETTER": 1, "LEANING_BETTER": 1, "WORSE": -1, "LEANING_WORSE": -1}
_NULLS = {
    "interval": (
        "that the difference lies inside the ROPE rather than outside it",
        "that the difference lies outside the ROPE rather than inside it",
    ),
    "point": (
        "that there is no difference rather than some difference",
        "that there is some difference rather than none",
    ),
}
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


def paragraph(facts: Facts) -> str:
    """Return the answer of a comparison as a paragraph for a paper.

    In this order: estimate, interval, direction, practical significance,
    evidence, caveats, method.

    Examples
    --------
    >>> text = paragraph({
    ...     "names": ["bert", "gpt"], "metric": "f1", "metric_label": "F1", "mean": 0.0222,
    ...     "sd": 0.0076, "hdi": {"low": 0.0107, "high": 0.0371, "prob": 0.95},
    ...     "rope": {"low": -0.01, "high": 0.01}, "p_worse": 0.0, "p_equivalent": 0.021,
    ...     "p_better": 0.979, "p_greater": 0.998, "exact": True,
    ...     "decision": {"name": "BETTER", "symbol": "≫"}})
    >>> print(text.partition(".")[0])
    The difference is bert − gpt in F1
    """
    return " ".join(
        sentence
        for sentence in (
            _estimate_sentence(facts),
            _interval_sentence(facts),
            _direction_sentence(facts),
            _practical_sentence(facts),
            _curve_sentence(facts),
            _evidence_sentence(facts),
            _caveats_sentence(facts),
            _method_sentence(facts),
        )
        if sentence
    )


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


def estimate_paragraph(facts: Facts) -> str:
    """Return an estimate as a paragraph: estimate, interval, caveats, method.

    Examples
    --------
    >>> text = estimate_paragraph({
    ...     "name": "bert", "metric": "f1", "metric_label": "F1", "mean": 0.6023, "sd": 0.0055,
    ...     "observed": 0.6042, "hdi": {"low": 0.5915, "high": 0.613, "prob": 0.95}})
    >>> print(text.partition(")")[0])
    The posterior mean of bert's F1 is 0.6023 (sd 0.0055; observed 0.6042
    """
    subject = f"{for_text(facts['name'])}'s {read.metric(facts)}"
    sentences = [
        f"The posterior mean of {subject} is {_mean_and_spread(facts)}.",
        _interval_sentence(facts, sign=False),
        _caveats_sentence(facts),
        _method_sentence(facts),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


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
    return f"{numbers.bayes_factor(factor)} ({', '.join(details)})"


def _amount(facts: Facts) -> str:
    """Say by how much, with a direction only where the verdict has the same."""
    name, mean, places = facts["decision"]["name"], facts["mean"], read.digits(facts)
    direction = _TOWARDS.get(name, 0)
    if not facts.get("greater_is_better", True):
        direction = -direction
    about = "" if name in _DECIDED else "an estimated "
    if direction * mean <= 0:
        return f"differs by {about}{numbers.signed(mean, places)}"
    return f"{'higher' if mean > 0 else 'lower'} by {about}{numbers.plain(abs(mean), places)}"


def _hdi(facts: Facts, *, sign: bool = False) -> str:
    hdi = facts["hdi"]
    return numbers.interval(hdi["low"], hdi["high"], read.digits(facts), sign=sign)


def _spoken(facts: Facts, key: str) -> str:
    text = read.probability(facts, key)
    return text.replace("<", "below ").replace(">", "above ")


def _doubt(facts: Facts) -> str:
    serious = [name for _, _, name in read.findings(facts, "serious")]
    return f" Serious doubt: {', '.join(serious)}." if serious else ""


def _estimate_sentence(facts: Facts) -> str:
    lower = "" if facts.get("greater_is_better", True) else ", where lower is better"
    return (
        f"The difference is {read.difference(facts)} in {read.metric(facts)}{lower}. "
        f"Its posterior mean is {_mean_and_spread(facts, sign=True)}."
    )


def _mean_and_spread(facts: Facts, *, sign: bool = False) -> str:
    places = read.digits(facts)
    write = numbers.signed if sign else numbers.plain
    extras = [f"sd {numbers.plain(facts['sd'], places)}"]
    if facts.get("observed") is not None:
        extras.append(f"observed {write(facts['observed'], places)}")
    if facts.get("mcse"):
        extras.append(f"Monte Carlo error {facts['mcse']:.2g}")
    return f"{write(facts['mean'], places)} ({'; '.join(extras)})"


def _interval_sentence(facts: Facts, *, sign: bool = True) -> str:
    level = numbers.percent(facts["hdi"]["prob"])
    return f"The {level} highest-density interval (HDI) runs from {_hdi(facts, sign=sign)}."


def _direction_sentence(facts: Facts) -> str:
    if facts.get("p_greater") is None:
        return ""
    a, b = read.names(facts)
    return (
        f"The probability that the difference is above zero, that is, that {a} has a higher "
        f"{read.metric(facts)} than {b}, is {_spoken(facts, 'p_greater')}."
    )


def _practical_sentence(facts: Facts) -> str:
    a, b = read.names(facts)
    worse, equivalent, better = (
        _spoken(facts, key) for key in ("p_worse", "p_equivalent", "p_better")
    )
    symbol = for_text(facts["decision"]["symbol"])
    return (
        f"With a region of practical equivalence (ROPE) of {read.rope_text(facts)}, {a} is "
        f"practically worse than {b} with probability {worse}, practically equivalent with "
        f"{equivalent} and practically better with {better}. The HDI {_position(facts)}. "
        f"Verdict ({symbol}): {verdict(facts)}."
    )


def _position(facts: Facts) -> str:
    low, high = facts["hdi"]["low"], facts["hdi"]["high"]
    rope_low, rope_high = facts["rope"]["low"], facts["rope"]["high"]
    if rope_low <= low and high <= rope_high:
        return "lies entirely inside the ROPE"
    if low >= rope_high:
        return "lies entirely above the ROPE"
    if high <= rope_low:
        return "lies entirely below the ROPE"
    if low < rope_low and high > rope_high:
        return "reaches beyond both edges of the ROPE"
    return f"reaches over the {'lower' if low < rope_low else 'upper'} edge of the ROPE"


def _curve_sentence(facts: Facts) -> str:
    if not facts.get("rope_curve"):
        return ""
    curve = rope_curve_sentence(facts["rope_curve"], rope=facts["rope"], words=True)
    return f"For other widths of the ROPE the verdict is: {curve}."


def _evidence_sentence(facts: Facts) -> str:
    text = bayes_factor_text(facts)
    if text is None:
        return ""
    factor = facts["bayes_factor"]
    nulls = _NULLS.get(factor.get("kind", "interval"))
    direction, relation, *rest = numbers.bayes_factor(factor).split(" ")
    if nulls is None or not rest:
        return f"Bayes factor: {text}."
    more = {"=": "", ">": "more than ", "<": "less than "}[relation]
    claim = nulls[0] if direction == "BF01" else nulls[1]
    return f"The data multiply the odds {claim} by {more}{rest[0]}: {text}."


def _caveats_sentence(facts: Facts) -> str:
    return " ".join(
        f"{'Serious caveat' if level == 'serious' else 'Caveat'}: {message}"
        for level, message, _ in read.findings(facts, "serious", "warning")
    )


def _method_sentence(facts: Facts) -> str:
    return f"Method: {for_text(facts['signature'])}" if facts.get("signature") else ""


def _stretch_name(stretch: Mapping[str, Any], *, words: bool) -> str:
    symbol, decided = for_text(stretch["symbol"]), _DECIDED.get(stretch["decision"])
    if decided is None:
        return f"undecided ({symbol})"
    return f"{symbol} ({decided})" if words else symbol


def _width(value: float, *, scaled: bool) -> str:
    text = f"{value:.{numbers.DIGITS}f}".rstrip("0").rstrip(".")
    if not text.strip("0"):
        text = f"{value:.2g}"
    return f"{text} times the given ROPE" if scaled else f"±{text}"
