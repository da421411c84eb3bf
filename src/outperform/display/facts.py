"""What a result says, as plain values."""

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
    """Return the names of the two models, A and B, as harmless text.

    Examples
    --------
    >>> names({"names": ["bert", ""]})
    ('bert', '(empty)')
    """
    a, b = facts["names"]
    return for_text(a, limit=limit), for_text(b, limit=limit)


def difference(facts: Facts, *, limit: int | None = None) -> str:
    """Return what was subtracted from what.

    Examples
    --------
    >>> difference({"names": ["bert", "gpt"]})
    'bert − gpt'
    """
    return " − ".join(names(facts, limit=limit))


def metric(facts: Facts, *, of: str | None = None) -> str:
    """Return the metric in words, of a class if one is named.

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
    """Return which way is better, where the name of the metric does not say it; else None.

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
    """Return the name of the interval with its mass.

    Examples
    --------
    >>> hdi_label({"hdi": {"low": 0.1, "high": 0.2, "prob": 0.95}})
    '95% HDI'
    """
    return f"{numbers.percent(facts['hdi']['prob'])} HDI"


def rope_text(facts: Facts) -> str:
    """Return the region of practical equivalence, and whether it is the default.

    Examples
    --------
    >>> rope_text({"rope": {"low": -0.01, "high": 0.01, "default": True}})
    '±0.01 (default)'
    """
    rope = facts["rope"]
    text = numbers.rope(rope["low"], rope["high"])
    return text + " (default)" if rope.get("default") else text


def digits(facts: Facts, *, least: int = numbers.DIGITS) -> int:
    """Return how many decimals the result needs, at least so many unless it exceeds one unit.

    So many that the standard deviation shows, and that an end of the HDI which
    differs from an end of the ROPE is seen to differ.

    Examples
    --------
    >>> digits({"sd": 0.0076, "hdi": {"low": 0.010004, "high": 0.04},
    ...         "rope": {"low": -0.01, "high": 0.01}})
    6
    """
    places = numbers.decimals(facts.get("sd"), least=least)
    rope = facts.get("rope")
    if rope is None:
        return places
    ends = [(facts["hdi"][i], rope[j]) for i in ("low", "high") for j in ("low", "high")]
    most = places + 4
    while places < most and any(x != y and round(x - y, places) == 0 for x, y in ends):
        places += 1
    return places


def probability(facts: Facts, key: str) -> str:
    """Return one of the result's probabilities, exact or from its draws.

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
    written = numbers.shares([facts[f"p_{word}"] for word in words], draws_behind(facts))
    return dict(zip(words, written, strict=True))


def draws_behind(facts: Facts) -> int | None:
    """Return how many independent draws the probabilities rest on; None if they are exact.

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
    """Return level, message and name of each finding, the gravest first.

    Examples
    --------
    >>> findings({"findings": [{"name": "x", "level": "note", "message": "So."}]}, "warning")
    []
    """
    wanted = [level for level in _LEVELS if not levels or level in levels]
    return [
        (level, for_text(finding["message"]), for_text(finding["name"]))
        for level in wanted
        for finding in facts.get("findings") or ()
        if finding["level"] == level
    ]


def data(facts: Facts) -> str:
    """Return in a few words what was seen and under which prior it was read.

    Examples
    --------
    >>> data({"n": 7532, "n_classes": 20, "paired": True, "prior": "unit", "n_draws": 20_000})
    '7,532 items, 20 classes, paired, prior unit, 20,000 draws'
    """
    return ", ".join(seen(facts) + method(facts))


def seen(facts: Facts) -> list[str]:
    """Return what was seen in a few words each.

    Examples
    --------
    >>> seen({"n": 7532, "n_classes": 2, "pos_label": "spam"})
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
    """Return what was seen, as part of a sentence; nothing if it is not known.

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
    seen = between.join(_sizes(facts))
    if facts.get("label_errors"):
        return f"{seen}, wrong gold labels: {label_errors(facts)}"
    return f"{seen}, re-weighted to {prevalence(facts)}" if facts.get("prevalence") else seen


def label_errors(facts: Facts) -> str:
    """Return how many gold labels are taken to be wrong, of all or of the named classes.

    Examples
    --------
    >>> label_errors({"label_errors": {"classes": ["fraud"], "rates": [0.1], "same": False}})
    '10% of fraud'
    """
    given = facts["label_errors"]
    if given["same"]:
        return f"{100 * given['rates'][0]:.3g}%"
    named = [
        f"{100 * rate:.3g}% of {for_text(label, limit=30)}"
        for label, rate in zip(given["classes"], given["rates"], strict=True)
    ]
    return listed(named if len(named) <= _MOST_SHARES else [f"those of {len(named)} classes"])


def prevalence(facts: Facts) -> str:
    """Return the class proportions that replace those of the data, the named ones or how many.

    Examples
    --------
    >>> prevalence({"prevalence": {"classes": ["fraud", "ok"], "shares": [0.02, 0.98],
    ...                            "source": "counts", "n_counted": 1_000}})
    'fraud 0.02 and ok 0.98 (1,000 counted)'
    >>> prevalence({"prevalence": {"classes": ["fraud"], "shares": [0.02],
    ...                            "source": "distribution"}})
    'about fraud 0.02'
    """
    given = facts["prevalence"]
    named = [
        f"{for_text(label, limit=30)} {share:.3g}"
        for label, share in zip(given["classes"], given["shares"], strict=True)
    ]
    if len(named) > _MOST_SHARES:
        named = [f"the given shares of {len(named)} classes"]
    about = "about " if given["source"] == "distribution" else ""
    n_counted = given.get("n_counted")
    behind = "" if n_counted is None else f" ({numbers.count(n_counted)} counted)"
    return about + listed(named) + behind


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
    if facts.get("exact"):
        parts.append("exact")
    elif facts.get("n_draws") is not None:
        parts.append(counted(facts["n_draws"], "draws"))
    return parts


def positive(facts: Facts, *, limit: int | None = None) -> str:
    """Return the class that a metric of one class is about, the type of spans, or the label.

    Examples
    --------
    >>> positive({"pos_label": "spam"}), positive({"pos_label": "PER", "n_types": 3})
    ('positive class spam', 'type PER')
    """
    noun = "type" if facts.get("n_types") else "positive class"
    noun = "label" if facts.get("n_labels") else noun
    return f"{noun} {for_text(facts['pos_label'], limit=limit)}"


def measure(facts: Facts) -> str:
    """Return the metric and the class it is about, unless that is called 1 or True.

    Examples
    --------
    >>> measure({"metric": "f1", "metric_label": "F1", "pos_label": "spam"})
    'F1 (positive class spam)'
    """
    label = facts.get("pos_label")
    named = facts.get("n_types") or facts.get("n_labels")
    if label is None or (str(label) in ("1", "True") and not named):
        return metric(facts)
    return f"{metric(facts)} ({positive(facts)})"


def folds(facts: Facts) -> str:
    """Return the design of a blocked cross-validation.

    Examples
    --------
    >>> folds({"folds": {"m": 3, "correlation": "averaged", "worth": 0.368802}})
    '3×2 blocked cross-validation; as folds overlap, each count weighs 0.369 (correlation averaged)'
    """
    folds = facts["folds"]
    return (
        f"{folds['m']}×2 blocked cross-validation; as folds overlap, each count weighs "
        f"{folds['worth']:.3g} (correlation {for_text(folds['correlation'])})"
    )


def design(facts: Facts) -> str:
    """Return the folds of a blocked cross-validation and what a count is worth.

    Examples
    --------
    >>> design({"folds": {"m": 3, "correlation": "averaged", "worth": 0.368802}})
    '3×2 blocked cross-validation, counts worth 0.369 each'
    """
    folds = facts["folds"]
    return f"{folds['m']}×2 blocked cross-validation, counts worth {folds['worth']:.3g} each"


def resampling(facts: Facts) -> str:
    """Return which folds the scores come from, and how far they correlate.

    Examples
    --------
    >>> resampling({"scores": {"datasets": [{"test_share": 0.1}], "next_dataset": None}})
    'scores of folds that test 10% of the items each and correlate by as much'
    >>> resampling({"scores": {"datasets": [{"test_share": 0.1}, {"test_share": 0.2}]}})
    'scores of folds on 2 data sets that test 10% to 20% of the items each and correlate by as much'
    """
    datasets = facts["scores"]["datasets"]
    if not datasets:
        return "one score of each model on each data set; the difference is their pseudo-median"
    shares = sorted({one["test_share"] for one in datasets})
    on = f" on {numbers.count(len(datasets))} data sets" if len(datasets) > 1 else ""
    tested = " to ".join(dict.fromkeys(f"{100 * one:.3g}%" for one in (shares[0], shares[-1])))
    return f"scores of folds{on} that test {tested} of the items each and correlate by as much"


def next_dataset(facts: Facts) -> str:
    """Return the three probabilities on one more data set.

    Examples
    --------
    >>> next_dataset({"scores": {"next_dataset": {"p_worse": 0.1, "p_equivalent": 0.2,
    ...     "p_better": 0.7, "mcse_p": 0.001}}})
    'worse 10.0%, equivalent 20.0%, better 70.0%'
    """
    found = facts["scores"]["next_dataset"]
    return ", ".join(
        f"{word} {100 * found['p_' + word]:.1f}%" for word in ("worse", "equivalent", "better")
    )


def bayes_test(facts: Facts) -> str:
    """Return the probabilities of the paper's hypotheses and which one its rule accepts.

    The paper does not pair, so what it would say is in the unpaired part where there is one.

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
    """Return what the same data say if every model had items of its own.

    Examples
    --------
    >>> hdi = {"low": -0.02, "high": 0.04, "prob": 0.95}
    >>> unpaired({"sd": 0.01, "hdi": hdi,
    ...           "unpaired": {"mean": 0.01, "hdi": hdi, "decision": {"symbol": ">"}}})
    '> +0.0100 (95% HDI −0.0200 to +0.0400)'
    """
    other, places = facts["unpaired"], digits(facts)
    low, high = (numbers.signed(other["hdi"][end], places) for end in ("low", "high"))
    mean = numbers.signed(other["mean"], places)
    return f"{other['decision']['symbol']} {mean} ({hdi_label(facts)} {low} to {high})"


def _sizes(facts: Facts) -> list[str]:
    parts = []
    if facts.get("n") is not None:
        groups = facts.get("n_groups")
        come = "" if groups is None else f" from {counted(groups, 'groups')}"
        behind = come + _worth(facts) + _chosen(facts)
        parts.append(counted(facts["n"], facts.get("unit") or "items") + behind)
    if facts.get("n_classes") is not None:
        parts.append(counted(facts["n_classes"], "classes", one="class") + _averaged(facts))
    if (facts.get("n_types") or 1) > 1:
        parts.append(f"{numbers.count(facts['n_types'])} types of spans{_averaged(facts)}")
    if facts.get("n_labels") is not None:
        parts.append(counted(facts["n_labels"], "labels") + _averaged(facts))
    return parts


def _averaged(facts: Facts) -> str:
    """Say which classes an average is over."""
    over = facts.get("averaged_over")
    if over is None:
        return ""
    n = facts.get("n_classes") or facts.get("n_types") or facts.get("n_labels")
    which = "those" if over["n"] == n else f"the {numbers.count(over['n'])}"
    return f", averaged over {which} in {'the truth' if over['by'] == 'truth' else 'labels'}"


def _worth(facts: Facts) -> str:
    """Say what importance weights leave of the items."""
    worth = facts.get("n_effective")
    return "" if worth is None else f" (weighted, worth {worth:,.1f})"


def _chosen(facts: Facts) -> str:
    """Say what pool the items were chosen from by their predictions."""
    pool = facts.get("n_pool")
    return "" if pool is None else f" chosen from a pool of {numbers.count(pool)}"
