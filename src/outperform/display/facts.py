"""Text for the plain values of a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from outperform.display import numbers
from outperform.display.numbers import for_text
from outperform.findings import counted, listed

Facts: TypeAlias = Mapping[str, Any]

_MOST_SHARES = 4
_LEVELS = ("serious", "warning", "note")


def names(facts: Facts, *, limit: int | None = None) -> tuple[str, str]:
    """Return the names of models A and B as escaped text.

    Examples
    --------
    >>> names({"names": ["bert", ""]})
    ('bert', '(empty)')
    """
    a, b = facts["names"]
    return for_text(a, limit=limit), for_text(b, limit=limit)


def difference(facts: Facts, *, limit: int | None = None) -> str:
    """Return the difference as a formula.

    Examples
    --------
    >>> difference({"names": ["bert", "gpt"]})
    'bert − gpt'
    """
    return " − ".join(names(facts, limit=limit))


def metric(facts: Facts, *, of: str | None = None) -> str:
    """Return the metric in words, with its class if given.

    Examples
    --------
    >>> metric({"metric": "f1_macro", "metric_label": "macro-averaged F1"})
    'macro-averaged F1'
    >>> metric({"metric": "f1", "prevalence": {"classes": ["fraud"]}}, of="fraud")
    'f1 of fraud at production prevalence'
    """
    name = for_text(facts.get("metric_label") or facts["metric"])
    name = name if of is None else f"{name} of {of}"
    if facts.get("label_errors"):
        name = f"{name} without label errors"
    return f"{name} at production prevalence" if facts.get("prevalence") else name


def direction(facts: Facts) -> str | None:
    """Return which direction is better, or None if the metric's name shows it.

    Examples
    --------
    >>> direction({"metric": "log_loss", "greater_is_better": False})
    'lower is better'
    >>> direction({"metric": "mean"})
    'higher is better'
    >>> direction({"metric": "f1"})
    """
    if not facts.get("greater_is_better", True):
        return "lower is better"
    return "higher is better" if facts["metric"] == "mean" else None


def hdi_label(facts: Facts) -> str:
    """Return the name of the interval, including its mass.

    Examples
    --------
    >>> hdi_label({"hdi": {"low": 0.1, "high": 0.2, "prob": 0.95}})
    '95% HDI'

    An interval that accounts for a choice or for repeated looks is not a highest density interval.

    >>> hdi_label({"hdi": {"low": 0.1, "high": 0.2, "prob": 0.95}, "selection": {"n": 20}})
    '95% interval'
    """
    name = "interval" if is_adjusted(facts) else "HDI"
    return f"{numbers.percent(facts['hdi']['prob'])} {name}"


def is_adjusted(facts: Facts) -> bool:
    """Return whether the interval accounts for a choice among candidates or for repeated looks.

    Examples
    --------
    >>> is_adjusted({"any_look": None}), is_adjusted({"selection": {"n": 20}})
    (False, True)
    """
    return facts.get("selection") is not None or facts.get("any_look") is not None


def process(facts: Facts) -> str:
    """Return what the interval accounts for, in a few words; empty if there is nothing.

    Examples
    --------
    >>> process({"selection": {"n": 20, "is_best": True}})
    'best of 20 candidates'
    >>> process({"any_look": {"rule": "betting"}})
    'valid at every look'
    """
    selection = facts.get("selection")
    if selection is not None:
        n = counted(selection["n"], "candidates")
        return f"best of {n}" if selection["is_best"] else f"one of {n}"
    if facts.get("any_look") is None:
        return ""
    return "valid at every look" if facts["any_look"].get("holds", True) else "too few to look"


def process_sentence(facts: Facts) -> str:
    """Return what the interval accounts for, and the HDI without it; empty if there is nothing.

    Examples
    --------
    >>> hdi = {"low": 0.01, "high": 0.05, "prob": 0.95}
    >>> facts = {"names": ["bert", "gpt"], "sd": 0.01, "hdi": hdi | {"low": 0.0}}
    >>> print(process_sentence(facts | {"selection": {
    ...     "n": 20, "correlation": "unknown", "is_best": True, "unadjusted": hdi}}))
    The difference accounts for bert being the best of 20 candidates; as the only one, its 95% HDI
    would be +0.0100 to +0.0500.
    >>> print(process_sentence(facts | {"any_look": {
    ...     "rule": "betting", "holds": True, "unadjusted": hdi}}))
    The interval is valid at every look; for a single look the 95% HDI would be +0.0100 to +0.0500.
    """
    adjusted = facts.get("selection") or facts.get("any_look")
    if adjusted is None:
        return ""
    plain, decimals = adjusted["unadjusted"], digits(facts)
    ends = numbers.interval(plain["low"], plain["high"], decimals, sign=True)
    level = f"{numbers.percent(plain['prob'])} HDI would be {ends}."
    if facts.get("selection") is None:
        if not adjusted["holds"]:
            return f"The interval is not valid yet; for a single look the {level}"
        return f"The interval is valid at every look; for a single look the {level}"
    a, n = names(facts)[0], counted(adjusted["n"], "candidates")
    if adjusted["n"] == 1:
        return ""
    how = f"the best of {n}" if adjusted["is_best"] else f"chosen from {n} in any way"
    return f"The difference accounts for {a} being {how}; as the only one, its {level}"


def rope_text(facts: Facts) -> str:
    """Return the region of practical equivalence, marked if it is the default.

    Examples
    --------
    >>> rope_text({"rope": {"low": -0.01, "high": 0.01, "default": True}})
    '±0.01 (default)'
    """
    rope = facts["rope"]
    text = numbers.rope(rope["low"], rope["high"])
    return text + " (default)" if rope.get("default") else text


def digits(facts: Facts, *, least: int = numbers.DIGITS) -> int:
    """Return the number of decimals: at least ``least`` unless the sd exceeds one unit.

    The standard deviation needs two figures, and an HDI end that differs from a ROPE end must also
    look different.

    Examples
    --------
    >>> digits({"sd": 0.0076, "hdi": {"low": 0.010004, "high": 0.04},
    ...         "rope": {"low": -0.01, "high": 0.01}})
    6
    """
    decimals = numbers.decimals(facts.get("sd"), least=least)
    rope = facts.get("rope")
    if rope is None:
        return decimals
    ends = [(facts["hdi"][i], rope[j]) for i in ("low", "high") for j in ("low", "high")]
    most = decimals + 4
    while decimals < most and any(x != y and round(x - y, decimals) == 0 for x, y in ends):
        decimals += 1
    return decimals


def probability(facts: Facts, key: str) -> str:
    """Return a probability of the result as text, exact or from draws.

    Examples
    --------
    >>> probability({"p_better": 1.0, "n_draws": 20_000, "exact": False}, "p_better")
    '>99.98%'
    """
    return numbers.probability(facts[key], n_draws=draws_behind(facts))


def shares(facts: Facts) -> dict[str, str]:
    """Return the probabilities of worse, equivalent and better, which sum to 100%.

    Examples
    --------
    >>> shares({"p_worse": 0.0027, "p_equivalent": 0.1611, "p_better": 0.8362, "n_draws": 20_000})
    {'worse': '0.3%', 'equivalent': '16.1%', 'better': '83.6%'}
    """
    words = ("worse", "equivalent", "better")
    texts = numbers.shares([facts[f"p_{word}"] for word in words], draws_behind(facts))
    return dict(zip(words, texts, strict=True))


def draws_behind(facts: Facts) -> int | None:
    """Return the number of independent draws behind the probabilities; None if they are exact.

    Examples
    --------
    >>> draws_behind({"n_draws": 20_000, "exact": True}) is None
    True
    """
    if facts.get("exact"):
        return None
    chain = facts.get("chain")
    return facts.get("n_draws") if chain is None else int(min(chain["ess"], chain["n_draws"]))


def findings(facts: Facts, *levels: str) -> list[tuple[str, str, str]]:
    """Return level, message and name of each finding, most serious first.

    Examples
    --------
    >>> findings({"findings": [{"name": "x", "level": "note", "message": "So."}]}, "warning")
    []
    """
    selected = [level for level in _LEVELS if not levels or level in levels]
    return [
        (level, for_text(finding["message"]), for_text(finding["name"]))
        for level in selected
        for finding in facts.get("findings") or ()
        if finding["level"] == level
    ]


def data(facts: Facts) -> str:
    """Return the sample, prior and draws in a few words.

    Examples
    --------
    >>> data({"n": 7532, "n_classes": 20, "paired": True, "prior": "unit", "n_draws": 20_000})
    '7,532 items, 20 classes, paired, prior unit, 20,000 draws'
    """
    return ", ".join(sample_parts(facts) + method(facts))


def sample_parts(facts: Facts) -> list[str]:
    """Return the parts of the sample in a few words each.

    Examples
    --------
    >>> sample_parts({"n": 7532, "n_classes": 2, "pos_label": "spam"})
    ['7,532 items', '2 classes', 'positive class spam']
    """
    parts = [*_sizes(facts)]
    if facts.get("pos_label") is not None:
        parts.append(positive(facts, limit=40))
    if facts.get("prevalence"):
        parts.append(f"re-weighted to {prevalence(facts)}")
    if facts.get("label_errors"):
        parts.append(f"wrong gold labels: {label_errors(facts)}")
    return parts


def sample(facts: Facts) -> str:
    """Return the sample as part of a sentence; empty if unknown.

    Examples
    --------
    >>> sample({"n": 300, "unit": "sentences or documents", "n_types": 3})
    '300 sentences or documents with 3 types of spans'
    >>> sample({"n": 1000, "n_groups": 50, "n_classes": 2})
    '1,000 items from 50 groups in 2 classes'
    >>> sample({"n": 400, "n_pool": 10_000, "n_classes": 2})
    '400 items chosen from a pool of 10,000 in 2 classes'
    """
    between = " with " if facts.get("n_types") or facts.get("n_labels") else " in "
    text = between.join(_sizes(facts))
    if facts.get("label_errors"):
        return f"{text}, wrong gold labels: {label_errors(facts)}"
    return f"{text}, re-weighted to {prevalence(facts)}" if facts.get("prevalence") else text


def label_errors(facts: Facts) -> str:
    """Return the assumed share of wrong gold labels, overall or for some classes.

    Examples
    --------
    >>> label_errors({"label_errors": {"classes": ["fraud"], "rates": [0.1], "same": False}})
    '10% of fraud'
    """
    errors = facts["label_errors"]
    if errors["same"]:
        return f"{100 * errors['rates'][0]:.3g}%"
    texts = [
        f"{100 * rate:.3g}% of {for_text(label, limit=30)}"
        for label, rate in zip(errors["classes"], errors["rates"], strict=True)
    ]
    return listed(texts if len(texts) <= _MOST_SHARES else [f"rates of {len(texts)} classes"])


def prevalence(facts: Facts) -> str:
    """Return the class proportions that replace those of the data, or their number.

    Examples
    --------
    >>> prevalence({"prevalence": {"classes": ["fraud", "ok"], "shares": [0.02, 0.98],
    ...                            "source": "counts", "n_counted": 1_000}})
    'fraud 0.02 and ok 0.98 (1,000 counted)'
    >>> prevalence({"prevalence": {"classes": ["fraud"], "shares": [0.02],
    ...                            "source": "distribution"}})
    'about fraud 0.02'
    """
    target = facts["prevalence"]
    texts = [
        f"{for_text(label, limit=30)} {share:.3g}"
        for label, share in zip(target["classes"], target["shares"], strict=True)
    ]
    if len(texts) > _MOST_SHARES:
        texts = [f"the given shares of {len(texts)} classes"]
    about = "about " if target["source"] == "distribution" else ""
    n_counted = target.get("n_counted")
    counts = "" if n_counted is None else f" ({numbers.count(n_counted)} counted)"
    return about + listed(texts) + counts


def method(facts: Facts) -> list[str]:
    """Return pairing, prior and draws in a few words each.

    Examples
    --------
    >>> method({"paired": True, "prior": "unit", "n_draws": 20_000})
    ['paired', 'prior unit', '20,000 draws']
    """
    parts = []
    if facts.get("paired") is not None:
        parts.append("paired" if facts["paired"] else "unpaired")
    if facts.get("prior") is not None:
        prior = for_text(facts["prior"])
        parts.append(prior if prior.startswith("Prior(") else f"prior {prior}")
    if process(facts):
        parts.append(process(facts))
    if facts.get("exact"):
        parts.append("exact")
    elif facts.get("n_draws") is not None:
        parts.append(counted(facts["n_draws"], "draws"))
    return parts


def positive(facts: Facts, *, limit: int | None = None) -> str:
    """Return the positive class, span type or label of a single-class metric.

    Examples
    --------
    >>> positive({"pos_label": "spam"}), positive({"pos_label": "PER", "n_types": 3})
    ('positive class spam', 'type PER')
    """
    noun = "type" if facts.get("n_types") else "positive class"
    noun = "label" if facts.get("n_labels") else noun
    return f"{noun} {for_text(facts['pos_label'], limit=limit)}"


def measure(facts: Facts) -> str:
    """Return the metric with its positive class unless that is 1 or True.

    Examples
    --------
    >>> measure({"metric": "f1", "metric_label": "F1", "pos_label": "spam"})
    'F1 (positive class spam)'
    """
    label = facts.get("pos_label")
    has_names = facts.get("n_types") or facts.get("n_labels")
    if label is None or (str(label) in ("1", "True") and not has_names):
        return metric(facts)
    return f"{metric(facts)} ({positive(facts)})"


def folds(facts: Facts) -> str:
    """Return the design of a blocked cross-validation.

    Examples
    --------
    >>> folds({"folds": {"m": 3, "correlation": "averaged", "worth": 0.368802}})
    '3×2 blocked cross-validation; as folds overlap, each count has weight 0.369 (correlation
    averaged)'
    """
    folds = facts["folds"]
    return (
        f"{folds['m']}×2 blocked cross-validation; as folds overlap, each count has weight "
        f"{folds['worth']:.3g} (correlation {for_text(folds['correlation'])})"
    )


def design(facts: Facts) -> str:
    """Return the folds of a blocked cross-validation and the weight of each count.

    Examples
    --------
    >>> design({"folds": {"m": 3, "correlation": "averaged", "worth": 0.368802}})
    '3×2 blocked cross-validation, counts worth 0.369 each'
    """
    folds = facts["folds"]
    return f"{folds['m']}×2 blocked cross-validation, counts worth {folds['worth']:.3g} each"


def resampling(facts: Facts) -> str:
    """Return the folds of the scores, and their correlation.

    Examples
    --------
    >>> resampling({"scores": {"datasets": [{"test_share": 0.1}], "next_dataset": None}})
    'fold scores, each fold testing 10% of the items and correlated by as much'
    >>> resampling({"scores": {"datasets": [{"test_share": 0.1}, {"test_share": 0.2}]}})
    'fold scores on 2 data sets, each fold testing 10% to 20% of the items and correlated by as
    much'
    """
    datasets = facts["scores"]["datasets"]
    if not datasets:
        return "one score of each model on each data set; the difference is their pseudo-median"
    shares = sorted({dataset["test_share"] for dataset in datasets})
    on = f" on {numbers.count(len(datasets))} data sets" if len(datasets) > 1 else ""
    ends = (f"{100 * share:.3g}%" for share in (shares[0], shares[-1]))
    tested = " to ".join(dict.fromkeys(ends))
    return f"fold scores{on}, each fold testing {tested} of the items and correlated by as much"


def next_dataset(facts: Facts) -> str:
    """Return the three probabilities on one more data set.

    Examples
    --------
    >>> next_dataset({"scores": {"next_dataset": {"p_worse": 0.1, "p_equivalent": 0.2,
    ...     "p_better": 0.7, "mcse_p": 0.001}}})
    'worse 10.0%, equivalent 20.0%, better 70.0%'
    """
    dataset = facts["scores"]["next_dataset"]
    return ", ".join(
        f"{word} {100 * dataset['p_' + word]:.1f}%" for word in ("worse", "equivalent", "better")
    )


def bayes_test(facts: Facts) -> str:
    """Return the probabilities of the paper's hypotheses, and the accepted hypothesis.

    The paper's test is unpaired, so the unpaired result is used if there is one.

    Examples
    --------
    >>> bayes_test({"names": ["IOB2", "IOBES"], "p_h0": 0.3, "p_h1": 0.7, "accepted": "H1",
    ...             "exact": True})
    'P(H0) 30.00%, P(H1: IOBES is better) 70.00%, accept H1'
    """
    test, (_, b) = facts.get("unpaired", facts), names(facts, limit=30)
    return (
        f"P(H0) {probability(test, 'p_h0')}, P(H1: {b} is better) {probability(test, 'p_h1')}, "
        f"accept {test['accepted']}"
    )


def unpaired(facts: Facts) -> str:
    """Return the result for the same data without pairing.

    Examples
    --------
    >>> hdi = {"low": -0.02, "high": 0.04, "prob": 0.95}
    >>> unpaired({"sd": 0.01, "hdi": hdi,
    ...           "unpaired": {"mean": 0.01, "hdi": hdi, "decision": {"symbol": ">"}}})
    '> +0.0100 (95% HDI −0.0200 to +0.0400)'
    """
    other, decimals = facts["unpaired"], digits(facts)
    low, high = (numbers.signed(other["hdi"][end], decimals) for end in ("low", "high"))
    mean = numbers.signed(other["mean"], decimals)
    return f"{other['decision']['symbol']} {mean} ({hdi_label(facts)} {low} to {high})"


def _sizes(facts: Facts) -> list[str]:
    parts = []
    if facts.get("n") is not None:
        groups = facts.get("n_groups")
        origin = "" if groups is None else f" from {counted(groups, 'groups')}"
        size = counted(facts["n"], facts.get("unit") or "items")
        parts.append(size + origin + _worth(facts) + _pool(facts))
    if facts.get("n_classes") is not None:
        parts.append(counted(facts["n_classes"], "classes", one="class") + _averaged(facts))
    if (facts.get("n_types") or 1) > 1:
        parts.append(f"{numbers.count(facts['n_types'])} types of spans{_averaged(facts)}")
    if facts.get("n_labels") is not None:
        parts.append(counted(facts["n_labels"], "labels") + _averaged(facts))
    return parts


def _averaged(facts: Facts) -> str:
    """Return the classes that the metric is averaged over."""
    over = facts.get("averaged_over")
    if over is None:
        return ""
    n = facts.get("n_classes") or facts.get("n_types") or facts.get("n_labels")
    which = "those" if over["n"] == n else f"the {numbers.count(over['n'])}"
    return f", averaged over {which} in {'the truth' if over['by'] == 'truth' else 'labels'}"


def _worth(facts: Facts) -> str:
    """Return the effective sample size with importance weights."""
    worth = facts.get("n_effective")
    return "" if worth is None else f" (weighted, worth {worth:,.1f})"


def _pool(facts: Facts) -> str:
    """Return the pool from which the items were chosen by the models' predictions."""
    pool = facts.get("n_pool")
    return "" if pool is None else f" chosen from a pool of {numbers.count(pool)}"
