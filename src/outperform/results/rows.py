"""Tables with one row per comparison, with the papers' columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from outperform._json import to_json
from outperform._typing import Label
from outperform.decision.bayes_factor import BayesFactor
from outperform.decision.rope import Decision
from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.document import Document, Note, Rows, legend
from outperform.display.formats import (
    Column,
    count_column,
    number_column,
    probability_column,
    signed_column,
    text_column,
)
from outperform.display.layout import joined_hdi, with_places
from outperform.display.numbers import for_text
from outperform.display.pictures import Span, tone
from outperform.display.table import Table
from outperform.errors import UsageError
from outperform.findings import counted, listed
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import Spec
from outperform.nhst import TestResult
from outperform.results.compared import Compared

_IN_TEXT = (
    "n_true", "sign_test_p", "observed", "mean", "sd", "hdi_low", "hdi_high", "p_below_zero",
    "p_equivalent", "p_above_zero", "log10_bf10", "decision", "flags",
)  # fmt: skip
_IN_CARD = ("decision", "mean", "hdi", "observed", "n_true")
_MOST_NAMED = 6
_LONGEST_NAME = 26
_FIRST = (
    "decision", "mean", "hdi", "flags", "observed", "n_true", "p_equivalent", "p_below_zero",
    "p_above_zero", "sd", "log10_bf10", "sign_test_p",
)  # fmt: skip
_VERBOSE = ("log10_bf10", "sign_test_p")
_PLACES = ("observed", "mean", "sd", "hdi_low", "hdi_high")
_SHORT_HEADINGS = {
    "sign_test_p": "sign p",
    "t_test_p": "t p",
    "hdi_low": "HDI low",
    "hdi_high": "HDI high",
    "flags": "findings",
}
_FLAGS = {
    "predictions_never_match": "a model never predicts a class that occurs in the truth",
    "spelled_otherwise": "a model predicts labels that may be true labels with a different "
    "spelling",
    "never_true_predictions": "the decision depends on predictions that are never true",
    "class_without_truth": "a class is never true",
    "monte_carlo_too_coarse": "another set of draws could change the decision",
    "sparse_cells": "fewer than 10 true positives, false negatives or false positives",
    "few_disagreements": "the models disagree too rarely",
    "prior_pull": "the mean is more than half a posterior sd from the observed value",
    "bayes_factor_is_a_bound": "the Bayes factor is a lower bound",
}


def full_table(what: str, keys: Sequence[Label], comparisons: Sequence[Compared]) -> Table:
    """Return all columns, with decisions and findings in words."""
    rows = [_row(what, *pair) for pair in zip(keys, comparisons, strict=True)]
    columns = _columns(what, comparisons)
    return Table(columns, tuple(rows), title=caption(what, comparisons))


def compact_table(full: Table, keys: Iterable[str] | None = None) -> Table:
    """Return the same rows with symbols instead of words, and their meanings as notes."""
    chosen = full if keys is None else full.only(keys)
    flags = [name for name in _FLAGS if _is_shown(name, chosen)]
    flagged = [[name for name in flags if name in (text or "")] for text in full["flags"]]
    used = [name for name in flags if any(name in names for names in flagged)]
    marks = dict(zip(used, "abcdefghi", strict=False))
    symbols = [words.partition(" ")[0] for words in full["decision"]]
    rows = tuple(
        {**row, "decision": symbol, "flags": " ".join(marks[name] for name in names) or None}
        for row, symbol, names in zip(full.rows, symbols, flagged, strict=True)
    )
    columns = tuple(
        replace(column, heading=_SHORT_HEADINGS.get(column.key, column.heading))
        for column in chosen.columns
    )
    meanings = ((d.symbol, d.words) for d in Decision if d.symbol in symbols)
    notes = [legend(meanings)] if "decision" in chosen.keys else []
    if "flags" in chosen.keys:
        notes += [f"{mark}: {_FLAGS[name]}" for name, mark in marks.items()]
    return Table(columns, rows, title=chosen.title, notes=tuple(notes))


def _headline(what: str, comparisons: Sequence[Compared]) -> str:
    """Return the number of comparisons with each decision."""
    first = comparisons[0]
    a, b = (for_text(name, limit=30) for name in first.names)
    counts = Counter(comparison.decision for comparison in comparisons)
    single = noun(what, first.spec)
    plural = f"{single}es" if single == "class" else f"{single}s"
    rows = counted(len(comparisons), plural, one=single)
    words = {Decision.BETTER: "better", Decision.WORSE: "worse", Decision.EQUIVALENT: "equivalent"}
    parts = [f"{word} in {counts[key]}" for key, word in words.items() if counts[key]]
    n_undecided = len(comparisons) - sum(counts[key] for key in words)
    parts += [f"undecided in {n_undecided}"] if n_undecided else []
    return f"{a} against {b} in {rows}: {', '.join(parts)}"


def document(what: str, full: Table, comparisons: Sequence[Compared]) -> Document:
    """Return the number of each decision, and one row per comparison with its interval.

    On a card, classes are sorted by the difference.
    """
    order = list(range(len(full)))
    if what == "class":
        order.sort(key=lambda index: comparisons[index].mean)
    ordered = replace(full, rows=tuple(full.rows[index] for index in order))
    described = caption(what, comparisons)
    table = joined_hdi(ordered, aligned=False).only([what, *_IN_CARD])
    n_decimals = max(numbers.decimals(comparison.sd, least=2) for comparison in comparisons)
    short = with_places(full, _PLACES, n_decimals)
    brief, verbose = (
        joined_hdi(
            compact_table(short, [what, *keys]), heading=f"{100 * comparisons[0].hdi.prob:g}% HDI"
        )
        for keys in ([key for key in _IN_TEXT if key not in _VERBOSE], _IN_TEXT)
    )
    return Document(
        headline=_headline(what, comparisons),
        lead=[Note(_measured(comparisons), card=False)],
        screen=[Rows(table=brief, verbose=verbose, first=[what, *_FIRST], labels=[what], indent=3)],
        table=replace(table, title=described),
        spans=[_span(comparisons[index]) for index in order],
        more=ordered,
        notes=[Note(text, screen="never") for text in _flag_notes(what, full, table)],
        caption=caption(what, comparisons, limit=30),
        method=described,
        terms=("rope", "hdi"),
    )


def _span(comparison: Compared) -> Span:
    return Span(
        low=comparison.hdi.low,
        high=comparison.hdi.high,
        mean=comparison.mean,
        observed=None if np.isnan(comparison.observed) else comparison.observed,
        rope=(comparison.rope.low, comparison.rope.high),
        tone=tone(comparison.decision.symbol),
    )


def _flag_notes(what: str, full: Table, table: Table) -> tuple[str, ...]:
    """Return each finding about single rows as a sentence, with the rows it concerns."""
    notes = []
    for name in filter(lambda flag: _is_shown(flag, table), _FLAGS):
        keys = [
            for_text(row[what], limit=_LONGEST_NAME)
            for row in full
            if name in str(row["flags"] or "")
        ]
        if keys:
            notes.append(f"{listed(keys, most=_MOST_NAMED)}: {_FLAGS[name]}.")
    return tuple(notes)


def caption(what: str, comparisons: Sequence[Compared], *, limit: int | None = None) -> str:
    """Return the caption: models, metric, data, prior, interval and ROPE."""
    first = comparisons[0]
    facts = to_json(first, "names *spec")
    metrics = _distinct(read.metric(to_json(c.spec)) for c in comparisons)
    measured = f" in {metrics[0]}" if what != "metric" and len(metrics) == 1 else ""
    pairing = _distinct("paired" if c.spec.paired else "unpaired" for c in comparisons)
    priors = _distinct(for_text(c.spec.prior.name) for c in comparisons)
    details = [
        " or ".join(pairing),
        f"prior{'s' if len(priors) > 1 else ''} {' and '.join(priors)}",
        _measured(comparisons),
    ]
    return (
        f"{read.difference(facts, limit=limit)}{measured} by {noun(what, first.spec)}, on "
        f"{read.sample(facts)} ({', '.join(details)})"
    )


def _measured(comparisons: Sequence[Compared]) -> str:
    """Return the interval and the ROPE, or every ROPE if they differ."""
    ropes = _distinct(read.rope_text(to_json(c, "rope")) for c in comparisons)
    return f"{100 * comparisons[0].hdi.prob:g}% HDI, ROPE {' and '.join(ropes)}"


def noun(what: str, spec: Spec) -> str:
    """Return the noun for a key: spans have types, label sets have labels, others classes."""
    nouns = {"spans": "type", "label_sets": "label"}
    return nouns.get(spec.data.kind, what) if what == "class" else what


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _is_shown(flag: str, table: Table) -> bool:
    return flag != "bayes_factor_is_a_bound" or "log10_bf10" in table.keys


def _columns(what: str, comparisons: Sequence[Compared]) -> tuple[Column, ...]:
    sampled = [c.draws.size for c in comparisons if not c.exact]
    n_draws = min(sampled, default=None)
    hdi = f"{100 * comparisons[0].hdi.prob:g}% HDI"
    return (
        text_column(what, noun(what, comparisons[0].spec)),
        count_column("n_true", "n"),
        Column(key="sign_test_p", heading="sign test p", write=_p_value, align="right"),
        Column(key="t_test_p", heading="t test p", write=_p_value, align="right"),
        signed_column("observed", "observed", 4),
        signed_column("mean", "mean", 4),
        number_column("sd", "sd", 4),
        number_column("log10_bf10", "log10 BF10", 2),
        probability_column("p_below_zero", "P(<0)", n_draws),
        probability_column("p_above_zero", "P(>0)", n_draws),
        probability_column("p_equivalent", "P(ROPE)", n_draws),
        signed_column("hdi_low", f"{hdi} low", 4),
        signed_column("hdi_high", "high", 4),
        text_column("decision"),
        text_column("flags", "findings"),
    )


def _p_value(value: float) -> str:
    return "<0.001" if value < 0.0005 else f"{value:.3f}"


def _row(what: str, key: Label, comparison: Compared) -> dict[str, Any]:
    factor = comparison.bayes_factor
    return {
        what: key if isinstance(key, str) else str(key),
        "n_true": _n_true(comparison.spec),
        **_p_values(comparison.spec),
        "observed": comparison.observed,
        "mean": comparison.mean,
        "sd": comparison.sd,
        "log10_bf10": None if factor is None else factor.log10_bf10,
        "p_below_zero": 1 - comparison.p_greater,
        "p_above_zero": comparison.p_greater,
        "p_equivalent": comparison.p_equivalent,
        "hdi_low": comparison.hdi.low,
        "hdi_high": comparison.hdi.high,
        "decision": f"{comparison.decision.symbol} {comparison.decision.words}",
        "flags": ", ".join(_flags(comparison, factor)) or None,
    }


def _flags(comparison: Compared, factor: BayesFactor | None) -> list[str]:
    """Return the names of findings that concern only this row."""
    flags = [finding.name for finding in comparison.findings if finding.name in _FLAGS]
    if factor is not None and factor.bound is not None:
        flags.append("bayes_factor_is_a_bound")
    return flags


def _n_true(spec: Spec) -> int:
    if isinstance(spec, ScoreSpec):
        return spec.n
    actual = spec.view.margins(spec.view.models[0])[1]
    if spec.data.kind == "spans":
        classes = slice(None) if spec.classes is None else list(spec.classes)
        return int(actual[classes].sum()) // spec.counting.times
    if spec.positive is None or spec.view.kind == "correct":
        return spec.n
    return int(actual[spec.positive]) // spec.counting.times


def mcnemar(spec: Spec, *, mid_p: bool) -> TestResult:
    """Return McNemar's test of equal accuracy, if both models labelled the same items."""
    from outperform import nhst

    if isinstance(spec, ScoreSpec) or spec.data.kind not in ("classes", "correct"):
        raise UsageError("McNemar's test needs one label per item from each model")
    if not spec.view.paired:
        raise UsageError(
            "McNemar's test needs both models' labels of the same items; for separate items, type "
            "op.nhst.welch_test(n, correct_a, correct_b)"
        )
    if spec.view.groups is not None:
        raise UsageError(
            "McNemar's test needs independent items, and these are in groups; for a test of group "
            "means, pass one difference per group to scipy.stats.ttest_1samp"
        )
    if spec.counting.times > 1 or spec.view_errors is not None or spec.data.pool is not None:
        raise UsageError(
            "McNemar's test needs a random sample with true labels and one prediction per item; "
            "use the interval of the comparison"
        )
    _, only_a, only_b, _ = spec.data.select(list(spec.view.models)).agreement()
    return nhst.mcnemar(only_a, only_b, mid_p=mid_p)


def _p_values(spec: Spec) -> dict[str, float | None]:
    """Return the s-test and the p-test on correctness, if the models share their items."""
    if isinstance(spec, ScoreSpec) or len(spec.view.models) != 2:
        return {"sign_test_p": None, "t_test_p": None}
    from outperform import nhst

    # These tests assume that the gold labels are right.
    if not spec.view.paired or spec.counting.times > 1 or spec.view_errors is not None:
        return {"sign_test_p": None, "t_test_p": None}
    both, only_a, only_b, neither = spec.view.agreement()
    if spec.view.groups is not None:
        return {"sign_test_p": None, "t_test_p": None}
    if spec.data.kind == "spans":  # accuracy would be a share of all spans, true or predicted
        return {"sign_test_p": nhst.sign_test(only_a, only_b).p_value, "t_test_p": None}
    n = both + only_a + only_b + neither
    t_test = nhst.welch_test(n, both + only_a, both + only_b).p_value if n > 1 else None
    return {"sign_test_p": nhst.sign_test(only_a, only_b).p_value, "t_test_p": t_test}
