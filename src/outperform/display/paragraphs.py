"""Paragraphs for a paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, get_args

from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.facts import Facts
from outperform.display.numbers import for_text, true_minus
from outperform.display.sentences import (
    DECIDED,
    bayes_factor_text,
    decision_words,
    more_items,
    regret_text,
    rope_curve_sentence,
)
from outperform.errors import UsageError

NAME_LIMIT = 30
_MOST = 2 / 3  # if a source causes at least this share of the variance, reduce it first


def run_details(facts: Facts) -> list[tuple[str, str]]:
    """Return the screen output about the runs, as pairs of label and text.

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
    pooled: > (95% HDI −0.0200 to +0.0400), treating these runs as the only possible ones
    """
    return [
        ("runs", "; ".join(_counted(facts[side], limit=NAME_LIMIT) for side in ("a", "b"))),
        ("variance", _shares(facts)),
        ("pooled", f"{_pooled(facts)}, treating these runs as the only possible ones"),
    ]


def run_sentences(facts: Facts) -> str:
    """Return the sentences about the runs in a paragraph.

    Examples
    --------
    >>> own = {"name": "bert", "sd": 0.02, "runs": {"names": ["1", "2"], "observed": [0.8, 0.9],
    ...        "sd": 0.0707}}
    >>> hdi = {"low": -0.02, "high": 0.04, "prob": 0.95}
    >>> told = {"a": own, "b": own | {"name": "gpt"}, "sd": 0.01, "hdi": hdi, "runs": {
    ...     "variance_from": {"test_set": 0.1, "runs": 0.9, "runs_low": 0.7, "runs_high": 0.98},
    ...     "pooled": {"hdi": hdi, "decision": {"symbol": ">"}}}}
    >>> print(run_sentences(told).partition(". ")[2])
    About 90% of the variance (95% interval 70% to 98%) comes from the training runs and 10% from
    the choice of the test items; more runs would narrow the interval most. Pooled, treating these
    runs as the only possible ones, the decision would be > (95% HDI −0.0200 to +0.0400).
    """
    a, b = (_counted(facts[side]) for side in ("a", "b"))
    shares = facts["runs"]["variance_from"]
    low, high = (_percent(shares[end]) for end in ("runs_low", "runs_high"))
    return (
        "The difference is between the models' means over all possible training runs, estimated "
        f"from these runs: {a}; {b}. About {_percent(shares['runs'])} of the variance "
        f"(95% interval {low} to {high}) comes from the training runs and "
        f"{_percent(shares['test_set'])} from the choice of the test items; {_advice(shares)} "
        "would narrow the interval most. Pooled, treating these runs as the only possible ones, "
        f"the decision would be {_pooled(facts)}."
    )


def _advice(shares: Facts) -> str:
    if shares["runs"] >= _MOST:
        return "more runs"
    return "more items" if shares["test_set"] >= _MOST else "more of both"


def _counted(model: Facts, *, limit: int | None = None) -> str:
    runs, decimals = model["runs"], read.digits(model)
    values = [value for value in runs["observed"] if value is not None]
    text = f"{len(runs['names'])} of {for_text(model['name'], limit=limit)}"
    if not values or runs["sd"] is None:
        return text if not values else f"{text}, {numbers.plain(values[0], decimals)}"
    low, high = (numbers.plain(end, decimals) for end in (min(values), max(values)))
    return f"{text}, {low} to {high}, sd {numbers.plain(runs['sd'], decimals)}"


def _shares(facts: Facts) -> str:
    shares = facts["runs"]["variance_from"]
    low, high = (_percent(shares[end]) for end in ("runs_low", "runs_high"))
    return (
        f"{_percent(shares['runs'])} from the runs (95% interval {low} to {high}), "
        f"{_percent(shares['test_set'])} from the test set"
    )


def _pooled(facts: Facts) -> str:
    pooled, decimals = facts["runs"]["pooled"], read.digits(facts)
    low, high = (numbers.signed(pooled["hdi"][end], decimals) for end in ("low", "high"))
    return f"{pooled['decision']['symbol']} ({read.hdi_label(facts)} {low} to {high})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


Length: TypeAlias = Literal["short", "medium", "long"]

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
_CAVEATS = {"serious": "Serious caveat: ", "warning": "Caveat: ", "note": "Note: "}
# The paragraph has separate sentences for these.
_IN_OTHER_SENTENCES = ("default_rope", "likelier_hypothesis", "runs_not_pooled")
_OF_FACTOR = ("bayes_factor_against_probability", "bayes_factor_is_a_bound")


def paragraph(facts: Facts, *, length: Length = "medium") -> str:
    """Return the result of a comparison as a paragraph for a paper.

    The order is estimate, interval, direction, practical significance, evidence, caveats,
    method. Only the long form includes the evidence, a Bayes factor. The short form also
    omits the direction, notes and the signature.

    Parameters
    ----------
    facts
        The facts of a comparison.
    length
        ``"short"``, ``"medium"`` or ``"long"``.

    Examples
    --------
    >>> told = {
    ...     "names": ["bert", "gpt"], "metric": "f1", "metric_label": "F1", "mean": 0.0222,
    ...     "sd": 0.0076, "hdi": {"low": 0.0107, "high": 0.0371, "prob": 0.95}, "n": 900,
    ...     "rope": {"low": -0.01, "high": 0.01}, "p_worse": 0.0, "p_equivalent": 0.021,
    ...     "p_better": 0.979, "p_greater": 0.998, "exact": True,
    ...     "decision": {"name": "BETTER", "symbol": "≫"}}
    >>> print(paragraph(told).partition(".")[0])
    The difference is bert − gpt in F1, on 900 items (exact)
    >>> print(paragraph(told, length="short").partition(" (95%")[0])
    On 900 items, the posterior mean of bert − gpt in F1 is +0.0222
    """
    if _check_length(length) == "short":
        text = _probabilities(facts)
        shares = "" if _is_withheld(facts) else text[:1].upper() + text[1:]
        parts = [_in_short(facts), _decision(facts), shares, _runs(facts), _findings(facts)]
        return _joined(parts)
    regret = regret_text(facts)
    return _joined(
        [
            _estimate(facts),
            _interval(facts),
            _direction(facts),
            _practical(facts),
            "" if regret is None else f"If the other model is better, {regret}.",
            _curve(facts) if facts.get("rope_curve") else "",
            more_items(facts["needed"], facts) if facts.get("needed") is not None else "",
            _evidence(facts) if length == "long" else "",
            _runs(facts),
            _scores(facts),
            f"Without pairing: {read.unpaired(facts)}." if "unpaired" in facts else "",
            _bayes_test(facts),
            _findings(facts, notes=True, without=() if length == "long" else _OF_FACTOR),
            _signature(facts),
        ]
    )


def estimate_paragraph(facts: Facts, *, length: Length = "medium") -> str:
    """Return an estimate as a paragraph: estimate, interval, caveats, method.

    Parameters
    ----------
    facts
        The facts of an estimate.
    length
        ``"short"``; ``"medium"`` and ``"long"`` are the same.

    Examples
    --------
    >>> told = {
    ...     "name": "bert", "metric": "f1", "metric_label": "F1", "mean": 0.6023, "sd": 0.0055,
    ...     "observed": 0.6042, "hdi": {"low": 0.5915, "high": 0.613, "prob": 0.95}}
    >>> print(estimate_paragraph(told).partition(")")[0])
    The posterior mean of bert's F1 is 0.6023 (sd 0.0055; observed 0.6042
    """
    subject = f"{for_text(facts['name'])}'s {read.measure(facts)}"
    if _check_length(length) == "short":
        return _joined([_in_short(facts, subject=subject), _findings(facts)])
    sample, how = _sample(facts), ", ".join(read.method(facts))
    where = f"{sample} ({how})" if sample and how else sample
    return _joined(
        [
            f"The posterior mean of {subject}{where} is {_mean_and_spread(facts)}.",
            _interval(facts, sign=False),
            _findings(facts, notes=True),
            _signature(facts),
        ]
    )


def _check_length(length: str) -> str:
    if length not in get_args(Length):
        raise UsageError(f"length must be 'short', 'medium' or 'long'; got {length!r}")
    return length


def _joined(sentences: Iterable[str]) -> str:
    return true_minus(" ".join(sentence for sentence in sentences if sentence))


# The sample and the estimate


def _sample(facts: Facts) -> str:
    """Return the sample and the folds, as the end of a clause."""
    sample = read.sample(facts)
    parts = [f" on {sample}"] if sample else []
    if "folds" in facts:
        parts.append(f" by {read.design(facts)}")
    return "".join(parts)


def _estimate(facts: Facts) -> str:
    direction = read.direction(facts)
    better = f", where {direction}" if direction else ""
    sample, how = _sample(facts), ", ".join(read.method(facts))
    where = f",{sample}" if sample else ""
    return (
        f"The difference is {read.difference(facts)} in {read.measure(facts)}{better}{where}"
        f"{f' ({how})' if how else ''}. Its posterior mean is {_mean_and_spread(facts, sign=True)}."
    )


def _in_short(facts: Facts, *, subject: str | None = None) -> str:
    """Return the sample, the mean and the interval in one sentence."""
    decimals = read.digits(facts)
    direction = read.direction(facts)
    better = f", where {direction}," if direction else ""
    sign = subject is None
    write = numbers.signed if sign else numbers.plain
    what = f"{read.difference(facts)} in {read.measure(facts)}" if subject is None else subject
    sample = _sample(facts).strip()
    start = f"{sample[:1].upper()}{sample[1:]}, the" if sample else "The"
    level = numbers.percent(facts["hdi"]["prob"])
    name = "interval" if read.is_adjusted(facts) else "highest-density interval, HDI,"
    details = [f"{level} {name} {_ends(facts, sign=sign)}"]
    details.append(", ".join(read.method(facts)))
    return (
        f"{start} posterior mean of {what}{better} is {write(facts['mean'], decimals)} "
        f"({'; '.join(part for part in details if part)})."
    )


def _mean_and_spread(facts: Facts, *, sign: bool = False) -> str:
    decimals = read.digits(facts)
    write = numbers.signed if sign else numbers.plain
    extras = [f"sd {numbers.plain(facts['sd'], decimals)}"]
    if facts.get("observed") is not None:
        extras.append(f"observed {write(facts['observed'], decimals)}")
    if facts.get("mcse"):
        extras.append(f"Monte Carlo error {facts['mcse']:.2g}")
    return f"{write(facts['mean'], decimals)} ({'; '.join(extras)})"


def _ends(facts: Facts, *, sign: bool) -> str:
    hdi = facts["hdi"]
    return numbers.interval(hdi["low"], hdi["high"], read.digits(facts), sign=sign)


def _interval(facts: Facts, *, sign: bool = True) -> str:
    level = numbers.percent(facts["hdi"]["prob"])
    ends = _ends(facts, sign=sign)
    if read.is_adjusted(facts):
        return f"The {level} interval runs from {ends}. {read.process_sentence(facts)}".rstrip()
    return f"The {level} highest-density interval (HDI) runs from {ends}."


# Direction and practical significance


def _probability(facts: Facts, key: str) -> str:
    return _in_words(read.probability(facts, key))


def _in_words(text: str) -> str:
    return text.replace("<", "below ").replace(">", "above ")


def _direction(facts: Facts) -> str:
    if facts.get("p_greater") is None:
        return ""
    a, b = read.names(facts)
    return (
        f"The probability that {a} has a higher {read.metric(facts)} than {b} (a difference above "
        f"zero) is {_probability(facts, 'p_greater')}."
    )


def _practical(facts: Facts) -> str:
    shares = _probabilities(facts)
    symbol = for_text(facts["decision"]["symbol"])
    words = decision_words(facts)
    if facts["decision"]["name"] == "EQUIVALENT":
        words += f" for a ROPE of {numbers.rope(facts['rope']['low'], facts['rope']['high'])}"
    return (
        f"With a region of practical equivalence (ROPE) of {read.rope_text(facts)}, {shares} "
        f"The {_interval_name(facts)} {_position(facts)}{_withheld(facts)}. "
        f"Decision ({symbol}): {words}.{_reasons(facts)}"
    )


def _decision(facts: Facts) -> str:
    symbol = for_text(facts["decision"]["symbol"])
    return (
        f"For a region of practical equivalence (ROPE) of {read.rope_text(facts)}, "
        f"{decision_words(facts)} ({symbol}): the {_interval_name(facts)} "
        f"{_position(facts)}{_withheld(facts)}.{_reasons(facts)}"
    )


def _interval_name(facts: Facts) -> str:
    return "interval" if read.is_adjusted(facts) else "HDI"


def _probabilities(facts: Facts) -> str:
    a, b = read.names(facts)
    worse, equivalent, better = map(_in_words, read.shares(facts).values())
    return (
        f"the probabilities that {a} is practically worse than, equivalent to and better than {b} "
        f"are {worse}, {equivalent} and {better}."
    )


def _position(facts: Facts) -> str:
    low, high = facts["hdi"]["low"], facts["hdi"]["high"]
    rope_low, rope_high = facts["rope"]["low"], facts["rope"]["high"]
    if rope_low <= low and high <= rope_high:
        return "lies entirely inside the ROPE"
    if low > rope_high:
        return "lies entirely above the ROPE"
    if high < rope_low:
        return "lies entirely below the ROPE"
    if low < rope_low and high > rope_high:
        return "contains both edges of the ROPE"
    return f"contains the {'lower' if low < rope_low else 'upper'} edge of the ROPE"


def _is_withheld(facts: Facts) -> bool:
    """Return text if the interval would decide but the decision is withheld."""
    decided = _position(facts).startswith("lies")
    return decided and facts["decision"]["name"] not in DECIDED


def _withheld(facts: Facts) -> str:
    return ", but the decision is withheld" if _is_withheld(facts) else ""


def _reasons(facts: Facts) -> str:
    """Return why the decision is withheld."""
    if not _is_withheld(facts):
        return ""
    return "".join(f" {message}" for _, message, _ in read.findings(facts, "serious"))


def _curve(facts: Facts) -> str:
    curve = rope_curve_sentence(facts["rope_curve"], rope=facts["rope"], words=True)
    return f"With other ROPE widths, the decision is: {curve}."


# Evidence


def _evidence(facts: Facts) -> str:
    text = bayes_factor_text(facts)
    if text is None:
        return ""
    factor = facts["bayes_factor"]
    nulls = _NULLS.get(factor.get("kind", "interval"))
    direction, relation, *values = numbers.bayes_factor(factor).split(" ")
    if nulls is None or not values:
        return f"Bayes factor: {text}."
    more = {"=": "", ">": "more than ", "<": "less than "}[relation]
    claim = nulls[0] if direction == "BF01" else nulls[1]
    return f"The data multiply the odds {claim} by {more}{values[0]}: {text}."


def _runs(facts: Facts) -> str:
    return run_sentences(facts) if "runs" in facts else ""


def _scores(facts: Facts) -> str:
    if "scores" not in facts:
        return ""
    scores = facts["scores"]
    source = "Nadeau and Bengio 2003" if scores["datasets"] else "Benavoli et al. 2014"
    text = f"The data are {read.resampling(facts)} ({source})."
    if scores["next_dataset"] is None:
        return text
    if scores["datasets"]:
        text += (
            " Differences between data sets follow a t distribution around the difference "
            "reported here (Corani et al. 2017)."
        )
    a, b = read.names(facts)
    return (
        f"{text} On another data set like these, the probabilities for {a} against {b} are: "
        f"{read.next_dataset(facts)}."
    )


def _bayes_test(facts: Facts) -> str:
    if "p_h1" not in facts:
        return ""
    a, b = read.names(facts)
    test = facts.get("unpaired", facts)
    h0, h1 = (_probability(test, key) for key in ("p_h0", "p_h1"))
    return (
        f"The Bayes test of Wang and Li (2019), which is unpaired, gives a probability of {h0} "
        f"to H0 ({b} is no better than {a}) and of {h1} to H1 ({b} is better), and accepts the "
        f"more probable, {for_text(test['accepted'])}. The decision above does not use this test."
    )


# Findings and method


def _findings(facts: Facts, *, notes: bool = False, without: Sequence[str] = ()) -> str:
    levels = ["serious", "warning", *(["note"] if notes else [])]
    if "rope" in facts and _is_withheld(facts):
        levels.remove("serious")  # they are the reasons for withholding
    return " ".join(
        f"{_CAVEATS[level]}{message}"
        for level, message, name in read.findings(facts, *levels)
        if name not in _IN_OTHER_SENTENCES and name not in without
    )


def _signature(facts: Facts) -> str:
    return f"Method: {for_text(facts['signature'])}" if facts.get("signature") else ""
