"""Sentences and small tables about a result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.facts import Facts
from outperform.display.formats import (
    LIMIT,
    Column,
    number_column,
    probability_column,
    signed_column,
    text_column,
)
from outperform.display.numbers import for_text
from outperform.display.table import Table
from outperform.errors import UsageError

_DECISIONS = {
    "BETTER": "{a} is better than {b}",
    "LEANING_BETTER": "{a} against {b} is leaning better, not decided",
    "EQUIVALENT": "{a} and {b} are practically equivalent",
    "LEANING_EQUIVALENT": "{a} and {b} are probably equivalent, not decided",
    "LEANING_WORSE": "{a} against {b} is leaning worse, not decided",
    "WORSE": "{a} is worse than {b}",
    "UNDECIDED": "{a} against {b} is undecided",
}
DECIDED = {"BETTER": "better", "EQUIVALENT": "equivalent", "WORSE": "worse"}
_OPEN = {
    "LEANING_BETTER": "Undecided, leaning towards {a}",
    "LEANING_EQUIVALENT": "Undecided, {a} and {b} are probably equivalent",
    "LEANING_WORSE": "Undecided, leaning towards {b}",
    "UNDECIDED": "Undecided between {a} and {b}",
}
_SURE, _PROBABLE = 0.95, 0.75
NUMBERS = ("observed", "mean", "sd")
"""Columns that tables of comparisons and estimates show next to the HDI."""
_TOWARDS = {"BETTER": 1, "LEANING_BETTER": 1, "WORSE": -1, "LEANING_WORSE": -1}
_METHODS = {"draws": "from draws", "exact": "exact", "kde": "from a kernel density"}


def decision_words(facts: Facts, *, limit: int | None = None) -> str:
    """Return the decision in words, with the models' names.

    Examples
    --------
    >>> decision_words({"names": ["bert", "gpt"], "decision": {"name": "EQUIVALENT"}})
    'bert and gpt are practically equivalent'
    """
    a, b = read.names(facts, limit=limit)
    return _DECISIONS[facts["decision"]["name"]].format(a=a, b=b)


def answer(facts: Facts, *, limit: int | None = None) -> str:
    """Return which model is better, in plain words.

    Examples
    --------
    >>> answer({"names": ["bert", "gpt"], "decision": {"name": "LEANING_WORSE"}})
    'Undecided, leaning towards gpt'
    >>> answer({"names": ["bert", "gpt"], "decision": {"name": "LEANING_EQUIVALENT"}})
    'Undecided, bert and gpt are probably equivalent'
    >>> answer({"names": ["bert", "gpt"], "decision": {"name": "UNDECIDED"}})
    'Undecided between bert and gpt'
    """
    a, b = read.names(facts, limit=limit)
    name = facts["decision"]["name"]
    return _OPEN.get(name, _DECISIONS[name]).format(a=a, b=b)


def best_words(p_best: float) -> str:
    """Return, in words, how probable it is that the leader is best.

    Examples
    --------
    >>> best_words(0.97), best_words(0.8), best_words(0.5)
    ('is best', 'is probably best', 'looks best')
    """
    if p_best >= _SURE:
        return "is best"
    return "is probably best" if p_best >= _PROBABLE else "looks best"


def headline(facts: Facts, *, limit: int | None = None) -> str:
    """Return the result of a comparison on one line.

    Parameters
    ----------
    facts
        The facts of a comparison.
    limit
        Maximum length of a model's name; longer names end in an ellipsis.

    Examples
    --------
    >>> print(headline({
    ...     "names": ["bert", "gpt"], "metric": "f1", "metric_label": "F1", "mean": 0.0222,
    ...     "sd": 0.0076, "hdi": {"low": 0.0107, "high": 0.0371, "prob": 0.95},
    ...     "rope": {"low": -0.01, "high": 0.01}, "decision": {"name": "BETTER"}}))
    bert is better than gpt: F1 higher by 0.0222 (95% HDI +0.0107 to +0.0371), ROPE ±0.01.
    """
    line = (
        f"{answer(facts, limit=limit)}: {amount(facts, limit=limit)} "
        f"({read.hdi_label(facts)} {_hdi(facts, sign=True)}), ROPE {read.rope_text(facts)}."
    )
    return line + _serious(facts)


def after_colon(sentence: str) -> str:
    """Return a headline to follow a colon, in lower case unless it begins with a name.

    Examples
    --------
    >>> after_colon("Undecided between a and b"), after_colon("Bert is better than gpt")
    ('undecided between a and b', 'Bert is better than gpt')
    """
    is_name = not sentence.startswith(("Undecided between ", "Undecided, "))
    return sentence if is_name else f"u{sentence[1:]}"


def rope_curve_sentence(
    curve: Sequence[Mapping[str, Any]],
    *,
    rope: Mapping[str, Any] | None = None,
    words: bool = False,
) -> str:
    """Return the decision for each width of the ROPE.

    Parameters
    ----------
    curve
        Ranges of half-widths with one decision each, ``from`` and ``to``; multiples of the ROPE
        if it is asymmetric.
    rope
        The ROPE; symmetric if None.
    words
        Whether to add its meaning to each symbol.

    Examples
    --------
    >>> rope_curve_sentence([
    ...     {"decision": "BETTER", "symbol": "≫", "from": 0.0, "to": 0.006},
    ...     {"decision": "LEANING_BETTER", "symbol": ">", "from": 0.006, "to": 0.038},
    ...     {"decision": "EQUIVALENT", "symbol": "≈", "from": 0.038, "to": None}])
    '≫ up to ±0.006, undecided to ±0.038, ≈ from there on'
    """
    stretches = _merged(curve)
    if not any(stretch["decision"] in DECIDED for stretch in stretches):
        return "withheld for every width"  # otherwise a ROPE that is wide enough decides
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
    decimals = read.digits(facts)
    line = (
        f"{for_text(facts['name'], limit=limit)}: {read.metric(facts)} "
        f"{numbers.plain(facts['mean'], decimals)} ({read.hdi_label(facts)} {_hdi(facts)})"
    )
    if facts.get("observed") is not None:
        line += f", observed {numbers.plain(facts['observed'], decimals)}"
    return line + "." + _serious(facts)


def regret_text(facts: Facts, *, limit: int | None = None) -> str | None:
    """Return the expected loss of each choice if the metric is a cost.

    Examples
    --------
    >>> regret_text({"names": ["bert", "gpt"], "regret": {"a": 0.0012, "b": 0.075}, "sd": 0.01,
    ...              "costs": {"unit": "EUR"}})
    'choosing bert loses 0.0012 EUR per item on average, choosing gpt 0.0750'
    """
    if "costs" not in facts:
        return None
    (a, b), decimals = read.names(facts, limit=limit), read.digits(facts)
    lost_a, lost_b = (_lost(facts["regret"][model], decimals) for model in ("a", "b"))
    unit = facts["costs"].get("unit")
    per = "per item" if unit is None else f"{for_text(unit)} per item"
    return f"choosing {a} loses {lost_a} {per} on average, choosing {b} {lost_b}"


def _lost(amount: float, decimals: int) -> str:
    """Write a loss so that a small loss does not look like 0."""
    small = 0 < amount < 0.5 * 10**-decimals
    return f"{amount:.1g}" if small else numbers.plain(amount, decimals)


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
        compared = "smaller" if factor["bf01"] > 1 else "larger"
        text += f", because the prior probability of the ROPE is even {compared}"
    return text


def amount(
    facts: Facts,
    *,
    limit: int | None = None,
    decimals: int | None = None,
    metric: str | None = None,
    signed: Callable[[float, int], str] = numbers.signed,
) -> str:
    """Return the size of the difference, with a direction only if the decision agrees with it.

    Examples
    --------
    >>> facts = {"names": ["bert", "gpt"], "metric": "f1", "mean": -0.0105, "sd": 0.009,
    ...          "hdi": {"low": -0.03, "high": 0.01}, "rope": {"low": -0.01, "high": 0.01}}
    >>> amount(facts | {"decision": {"name": "WORSE"}})
    'f1 lower by 0.0105'
    >>> amount(facts | {"decision": {"name": "LEANING_WORSE"}})
    "bert's f1 is about 0.0105 lower"
    """
    name, mean = facts["decision"]["name"], facts["mean"]
    decimals = read.digits(facts) if decimals is None else decimals
    what = read.metric(facts) if metric is None else metric
    direction = _TOWARDS.get(name, 0)
    if not facts.get("greater_is_better", True):
        direction = -direction
    if direction * mean <= 0:
        return f"{what} differs by {'' if name in DECIDED else 'about '}{signed(mean, decimals)}"
    side, size = "higher" if mean > 0 else "lower", numbers.plain(abs(mean), decimals)
    if name in DECIDED:
        return f"{what} {side} by {size}"
    return f"{read.names(facts, limit=limit)[0]}'s {what} is about {size} {side}"


def _hdi(facts: Facts, *, sign: bool = False) -> str:
    hdi = facts["hdi"]
    return numbers.interval(hdi["low"], hdi["high"], read.digits(facts), sign=sign)


def _serious(facts: Facts) -> str:
    serious = [name for _, _, name in read.findings(facts, "serious")]
    return f" Serious finding: {', '.join(serious)}." if serious else ""


def _merged(curve: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return ranges of positive width, with adjacent undecided ranges merged."""
    merged: list[Mapping[str, Any]] = []
    for step in curve:
        if step["to"] is not None and step["to"] <= step["from"]:
            continue
        if merged and merged[-1]["decision"] not in DECIDED and step["decision"] not in DECIDED:
            merged[-1] = {**merged[-1], "to": step["to"]}
        else:
            merged.append(step)
    return merged


def _stretch_name(stretch: Mapping[str, Any], *, words: bool) -> str:
    symbol, decided = for_text(stretch["symbol"]), DECIDED.get(stretch["decision"])
    if decided is None:
        return "undecided"
    return f"{symbol} ({decided})" if words else symbol


def _width(value: float, *, scaled: bool) -> str:
    text = f"{value:.{numbers.DIGITS}f}".rstrip("0").rstrip(".")
    if not text.strip("0"):
        text = f"{value:.2g}"
    return f"{text} times the given ROPE" if scaled else f"±{text}"


def comparison_table(facts: Facts) -> Table:
    """Return rows for A, B and their difference: observed, mean, sd and HDI.

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
    rope = f", ROPE {read.rope_text(facts)}" if "rope" in facts else ""
    title = f"{read.metric(facts)}{rope}"
    return Table(_columns(facts, read.digits(facts)), tuple(rows), title=title)


def estimate_table(facts: Facts) -> Table:
    """Return a row with one model's observed value, mean, sd and HDI.

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
    """Return the caption of a comparison's table, with ROPE, prior and decision.

    Examples
    --------
    >>> comparison_caption({"names": ["bert", "gpt"], "metric": "f1", "n": 90, "prior": "uniform",
    ...     "hdi": {"low": 0.1, "high": 0.3, "prob": 0.95}, "rope": {"low": -0.01, "high": 0.01},
    ...     "decision": {"name": "BETTER", "symbol": "≫"}})
    'bert, gpt and their difference in f1 on 90 items (prior uniform), with 95% HDIs. For a ROPE of
    ±0.01, bert is better than gpt (≫).'
    """
    a, b = read.names(facts)
    return (
        f"{a}, {b} and their difference in {_seen(facts)}, with {read.hdi_label(facts)}s. For a "
        f"ROPE of {read.rope_text(facts)}, {decision_words(facts)} "
        f"({facts['decision']['symbol']})."
    )


def estimate_caption(facts: Facts) -> str:
    """Return the caption of an estimate's table, with the prior.

    Examples
    --------
    >>> estimate_caption({"name": "bert", "metric": "f1", "n": 90, "prior": "learned",
    ...     "hdi": {"low": 0.1, "high": 0.3, "prob": 0.95}})
    "bert's f1 on 90 items (prior learned), with its 95% HDI."
    """
    return f"{for_text(facts['name'])}'s {_seen(facts)}, with its {read.hdi_label(facts)}."


def captioned(table: Table, caption: str | None) -> Table:
    """Return a table with the caption as title, if there is one.

    Examples
    --------
    >>> table = captioned(Table((text_column("class"),), ()), "By class")
    >>> table.title, captioned(table, None).title
    ('By class', 'By class')
    """
    return table if caption is None else replace(table, title=caption)


def results_table(results: Sequence[Facts], *, title: str | None = None) -> Table:
    """Return one row per comparison.

    Parameters
    ----------
    results
        The facts of the comparisons, in the same or different metrics.
    title
        Title of the table.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> c = {"names": ["bert", "gpt"], "metric": "f1", "observed": 0.2, "mean": 0.2, "sd": 0.1,
    ...      "hdi": hdi, "rope": {"low": -0.01, "high": 0.01}, "p_worse": 0.01,
    ...      "p_equivalent": 0.01, "p_better": 0.98, "p_greater": 0.985, "exact": True,
    ...      "decision": {"name": "BETTER", "symbol": "≫", "words": "better"}}
    >>> results_table([c])["decision"]
    ('≫ better',)
    """
    if not results:
        raise UsageError("a table of results needs at least one result; got none")
    digits = max(map(read.digits, results))
    drawn = [n for n in map(read.draws_behind, results) if n is not None]
    columns = _result_columns(digits, min(drawn, default=None))
    return Table(columns, tuple(map(_result_row, results)), title=title)


def _seen(facts: Facts) -> str:
    """Return the metric, the sample and the method."""
    sample, how = read.sample(facts), ", ".join(read.method(facts))
    folds = f" by {read.design(facts)}" if "folds" in facts else ""
    on = f" on {sample}" if sample else ""
    return f"{read.measure(facts)}{on}{folds}" + (f" ({how})" if how else "")


def _difference_name(facts: Facts) -> str:
    """Return the difference so that both models are visible even if labels are shortened."""
    full = read.difference(facts)
    return full if len(full) <= LIMIT else read.difference(facts, limit=(LIMIT - 3) // 2)


def _columns(facts: Facts, digits: int) -> tuple[Column, ...]:
    label = read.hdi_label(facts)
    return (
        text_column("model", "model"),
        *(number_column(key, key, digits) for key in NUMBERS),
        number_column("hdi_low", f"{label} low", digits),
        number_column("hdi_high", "high", digits),
    )


def _row(name: object, facts: Facts) -> dict[str, object]:
    undefined = {} if facts.get("observed_defined", True) else {"observed": numbers.UNDEFINED}
    return {
        "model": name,
        **{key: facts.get(key) for key in NUMBERS},
        **undefined,
        "hdi_low": facts["hdi"]["low"],
        "hdi_high": facts["hdi"]["high"],
    }


def _result_columns(digits: int, n_draws: int | None) -> tuple[Column, ...]:
    return (
        text_column("a", "A"),
        text_column("b", "B"),
        text_column("metric"),
        text_column("decision"),
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
        "observed": facts.get("observed"),  # a number or None, so frames can compute with it
        "a": a,
        "b": b,
        "metric": facts["metric"],
        "decision": f"{decision['symbol']} {decision['words']}",
        "hdi_prob": facts["hdi"]["prob"],
        "rope_low": facts["rope"]["low"],
        "rope_high": facts["rope"]["high"],
        "p_worse": facts["p_worse"],
        "p_equivalent": facts["p_equivalent"],
        "p_better": facts["p_better"],
        "p_greater": facts.get("p_greater"),
        "log10_bf10": factor.get("log10_bf10"),
    }


def more_items(needed: Facts, facts: Facts) -> str:
    """Return a sentence on how many more items would probably be enough for a decision.

    Parameters
    ----------
    needed
        ``least``, the number if the data are taken at face value, and ``n``, the number that is
        enough even if such models differ little; None if ``max_items`` is not enough.
    facts
        The facts of the comparison.

    Examples
    --------
    >>> print(more_items({"n": 9_420, "least": 2312, "max_items": 90_000}, {"n": 900}))
    Between 2,400 and 9,500 more items, on top of the 900 so far, would probably decide it.
    >>> print(more_items({"n": None, "least": 2312, "max_items": 90_000}, {"n": 900}))
    About 2,400 more items, on top of the 900 so far, may decide it, but even 90,000 may not
    be enough.
    >>> print(more_items({"n": None, "least": None, "max_items": 90_000}, {"n": 900}))
    Even 90,000 more items, on top of the 900 so far, may not decide it.
    """
    unit = facts.get("unit") or "items"
    noun = "items" if unit == "items" else for_text(unit)
    if "n_pool" in facts:
        noun = "labelled items of the pool"
    more = f"more {noun}, on top of the {numbers.count(facts['n'])} so far,"
    least, n, max_items = (
        None if number is None else numbers.count(numbers.two_figures(number))
        for number in (needed["least"], needed["n"], needed["max_items"])
    )
    if least is None:
        return f"Even {max_items} {more} may not decide it."
    if n is None:
        return f"About {least} {more} may decide it, but even {max_items} may not be enough."
    if n == least:
        return f"About {n} {more} would probably decide it."
    return f"Between {least} and {n} {more} would probably decide it."
