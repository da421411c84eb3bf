"""Findings: what a careful reader would doubt about a result, worked out from it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from outperform import metrics
from outperform._typing import IntArray
from outperform.comparison import disagreements, engine
from outperform.comparison.documents import undefined_findings
from outperform.comparison.matching import matching_findings
from outperform.comparison.prevalence.checks import prevalence_findings
from outperform.comparison.proposing.checks import pool_findings
from outperform.comparison.question import Question
from outperform.comparison.scored import Asked, ScoreQuestion
from outperform.comparison.scored.checks import score_findings
from outperform.comparison.sizes import FEW_DOCUMENTS, FEW_GROUPS, many, often, unit_findings
from outperform.decision import Decision, Interval, Rope, decide, margin
from outperform.findings import Finding

_MOST_NAMED = 6
# A verdict closer to an edge than this many Monte Carlo errors may be the draws' doing.
# The error of an HDI end is itself known to about a third only: four true errors may
# be reported as six.
SAFE_ERRORS = 6.0


def table_findings(question: Asked) -> Iterator[Finding]:
    """Yield doubts about the table itself: empty classes, sparse cells, few documents."""
    if isinstance(question, ScoreQuestion):
        yield from score_findings(question)
        return
    yield from question.findings
    yield from matching_findings(question)
    if question.n < FEW_DOCUMENTS:
        counted = "documents" if question.unit == "items" else question.unit
        proper = question.model.proper
        told = "; the prior speaks louder than the data." if proper else " to weigh."
        yield Finding(
            "few_documents",
            "warning",
            f"There {'is' if question.n == 1 else 'are'} only {many(question.n, counted)}{told}",
        )
    groups = question.view.groups
    n_groups = FEW_GROUPS if groups is None else groups.n_even / question.counting.times
    weighted = question.n_groups is None and question.seen.weighted
    yield from unit_findings(n_groups, weighted=weighted)
    yield from pool_findings(question)
    yield from _class_findings(question)
    yield from _undefined(question)
    if question.measured.per_document:
        yield from undefined_findings(question)
    if question.positive is not None and question.view.kind != "correct":
        yield from _cell_findings(question)
    yield from prevalence_findings(question)


def _class_findings(question: Question) -> Iterator[Finding]:
    if question.view.kind == "correct" or question.measured.per_document:
        return
    margins = {model: question.view.margins(model) for model in question.view.models}
    actual = np.minimum.reduce([one[1] for one in margins.values()])
    empty = np.flatnonzero(actual == 0)
    if question.classes is not None and question.measured.over_classes:
        left_out = np.setdiff1d(empty, question.classes)
        empty = np.intersect1d(empty, question.classes)
        if question.given.labels is None and left_out.size:
            yield left_out_finding(question, left_out)
    if empty.size:
        yield Finding(
            "class_without_truth",
            "warning",
            _without_truth(question, empty),
        )
    for place, (model, (_, truth, predicted)) in enumerate(margins.items()):
        never = predicted == 0
        if question.view.pool is not None:  # others than the labelled ones are predicted too
            never[question.view.pool.cells[:, place]] = False
        silent = np.flatnonzero(never & (truth > 0))
        if silent.size:
            yield Finding(
                "class_never_predicted",
                "warning",
                f"{model} never predicts {_silent(question, silent)}; its precision there is "
                f"undefined in the data (0 by convention) and {_known(question)}.",
            )
    few = np.flatnonzero((actual > 0) & (actual < FEW_DOCUMENTS * question.counting.times))
    if question.positive is None and few.size:
        yield Finding(
            "sparse_classes",
            "warning",
            _sparse(question, few.size),
        )


def _undefined(question: Question) -> Iterator[Finding]:
    """Yield ``undefined_in_data`` where a metric of the whole table is 0/0 as observed."""
    values = zip(question.view.models, engine.observed(question), strict=True)
    unknown = [model for model, value in values if np.isnan(value)]
    known = "rests on the prior" if question.model.proper else "is unknown"
    if unknown and question.placed is not None:
        why = "a class that has a share in prevalence= is never true"
    else:
        why = "truth and predictions are one and the same class throughout"
    if unknown:
        yield Finding(
            "undefined_in_data",
            "warning",
            f"The observed {question.metric.name} of {_several(unknown, ', ')} is 0/0 (NaN): "
            f"{why}; what is said of it {known}.",
        )
    if question.measured.score != "matthews_corrcoef":
        return
    for model in question.view.models:
        _, actual, predicted = question.view.margins(model)
        one_sided = [
            what
            for what, counts in (("the truth is", actual), ("its predictions are", predicted))
            if np.count_nonzero(counts) == 1
        ]
        if one_sided:
            yield Finding(
                "undefined_in_data",
                "warning",
                f"The observed {question.metric.name} of {model} is 0/0, because "
                f"{' and '.join(one_sided)} one class throughout; it counts as 0, as in "
                "scikit-learn.",
            )


def left_out_finding(question: Question, codes: IntArray) -> Finding:
    """Return what is said of classes that are never true, so that no average runs over them."""
    it = "it" if codes.size == 1 else "them"
    what = f"{_never_true(question, codes)}, so the average leaves {it} out"
    ours, theirs = engine.observed(question), _over_predicted(question)
    if all(abs(one - other) < 1e-12 for one, other in zip(ours, theirs, strict=True)):
        return Finding("class_without_truth", "note", f"{what}.")
    named = zip(question.view.models, theirs, strict=True)
    values = _several([f"{value:.4f} for {model}" for model, value in named], ", ")
    return Finding(
        "predicted_never_true",
        "warning",
        f"{what}, and predicting {it} is an error like any other. {_WHO_ELSE[question.seen.kind]} "
        f"would average over {it} too, as 0, and say {values}; labels= decides what is averaged "
        "over.",
    )


_WHO_ELSE = {
    "classes": "scikit-learn without labels=",
    "label_sets": "scikit-learn without labels=",
    "spans": "seqeval",
}


def _over_predicted(question: Question) -> list[float]:
    """Return each model's value with the classes that it predicts, true or not, averaged over."""
    found, view = [], question.view.in_weights()
    for model in view.models:
        margins = metrics.Margins(**view.margins(model)._asdict())
        classes = np.flatnonzero((margins.actual > 0) | (margins.predicted > 0))
        if view.kind == "label_sets":  # labels are the columns of a matrix, and all of them count
            classes = np.arange(view.n_classes)
        found.append(float(question.measured.evaluate(margins, classes)))
    return found


def _cell_findings(question: Question) -> Iterator[Finding]:
    sparse = []
    for model in question.view.models:
        for part in ("tp", "fn", "fp"):
            count = question.view.part(model, part, positive=question.positive)
            if count < FEW_DOCUMENTS * question.counting.times:
                noun = _PARTS[part] if count == 1 else f"{_PARTS[part]}s"
                sparse.append(f"{model} has {count} {noun}")
    if sparse:
        yield Finding(
            "sparse_cells",
            "warning",
            f"Sparse cells: {_several(sparse)}{often(question.counting.times)}. Intervals may "
            "cover less often than they say.",
        )


def _without_truth(question: Question, empty: IntArray) -> str:
    """Say which classes, or types of spans, are never true, and what that leaves of them."""
    it = "it" if empty.size == 1 else "them"
    rest = f"what is said of {it} rests on the prior only"
    if not question.model.proper:
        rest = f"nothing is known of {it}"
    if question.seen.kind != "spans" or question.positive is None:
        return f"{_never_true(question, empty)}; {rest}."
    label = question.pos_label
    asked = "There is no true span" if label is None else f"No true span is of type {label!r}"
    return f"{asked}; {rest}."


def _never_true(question: Question, codes: IntArray) -> str:
    """Name classes, or types of spans, that are never true."""
    if question.seen.kind == "spans":
        return f"No true span is of type {_names(question.view.labels, codes)}"
    return f"{_classes(question, codes)} never true"


def _silent(question: Question, codes: IntArray) -> str:
    """Name what a model never predicts."""
    if question.positive is None or question.view.n_classes > 2:
        return _names(question.view.labels, codes)
    if question.seen.kind == "spans":
        label = question.pos_label
        return "a span" if label is None else f"a span of type {label!r}"
    return "the positive class" if question.positive in codes else "the negative class"


def _known(question: Question) -> str:
    """Say where knowledge comes from of what never occurred."""
    return "rests on the prior" if question.model.proper else "nothing is known of it"


def _sparse(question: Question, n_few: int) -> str:
    """Say how many classes, or types of spans, are rare, and what averages then rest on."""
    nouns, seen = _NOUNS.get(question.view.kind, ("classes", "documents"))
    rest = "lean on the prior" if question.model.proper else f"rest on few {seen}"
    return (
        f"{n_few} of {question.view.n_classes} {nouns} have fewer than {FEW_DOCUMENTS} {seen}; "
        f"averages over {nouns} {rest}."
    )


_NOUNS = {"spans": ("types", "true spans"), "label_sets": ("labels", "documents")}


def _several(items: list[str], between: str = "; ") -> str:
    """Return what a reader can take in of a list; two models never have more."""
    shown = between.join(items[:_MOST_NAMED])
    left = len(items) - _MOST_NAMED
    return shown if left <= 0 else f"{shown}{between}and {left:,} more"


_PARTS = {"tp": "true positive", "fn": "false negative", "fp": "false positive"}


def _classes(question: Question, codes: IntArray) -> str:
    if question.positive is not None and question.view.n_classes <= 2:
        side = "The positive class" if question.positive in codes else "The negative class"
        return f"{side} is"
    one, many = ("Label", "Labels") if question.view.kind == "label_sets" else ("Class", "Classes")
    verb = one if codes.size == 1 else many
    return f"{verb} {_names(question.view.labels, codes)} {'is' if codes.size == 1 else 'are'}"


def _names(labels: tuple[object, ...], codes: IntArray) -> str:
    shown = ", ".join(repr(labels[code]) for code in codes[:5])
    return shown if codes.size <= 5 else f"{shown} and {codes.size - 5} more"


def pull_findings(
    question: Asked, values: list[tuple[str, float, float, float]]
) -> Iterator[Finding]:
    """Yield ``prior_pull`` where a posterior mean is far from the observed value.

    ``values`` holds (what, observed, mean, sd). The bootstrap has no prior that could pull.
    """
    if question.model.name == "bootstrap":
        return
    pulled = [
        f"{what} (observed {seen:.4f}, posterior mean {mean:.4f})"
        for what, seen, mean, sd in values
        if is_pulled(seen, mean, sd)
    ]
    if pulled:
        proper = question.model.proper
        what = "The prior pulls by" if proper else "The mean is off what was observed by"
        yield Finding(
            "prior_pull",
            "warning",
            f"{what} more than half a posterior sd: {_several(pulled)}.",
        )
    elif (
        isinstance(question, Question)
        and question.model.name == "flat"
        and question.view.n_classes > 3
        and question.view.kind != "label_sets"
    ):
        spans = question.seen.kind == "spans"
        nouns, other = ("types", "'unit'") if spans else ("classes", "'unit' or 'free'")
        yield Finding(
            "prior_pull",
            "warning",
            f"Every cell of {question.view.n_classes} {nouns} has a prior of its own, which "
            f"outweighs the data of small {nouns}; use model={other}.",
        )


def is_pulled(observed: float, mean: float, sd: float) -> bool:
    """Return whether a posterior mean is more than half a posterior sd off what was observed."""
    return abs(mean - observed) > 0.5 * sd


def rope_findings(rope: Rope) -> Iterator[Finding]:
    """Yield what a reader should know about the ROPE."""
    if rope.default:
        yield Finding(
            "default_rope",
            "note",
            f"The ROPE of {rope} is the default; choose your own.",
        )
    if rope.low == rope.high:
        yield Finding(
            "zero_width_rope",
            "warning",
            "The ROPE has no width, so the models can never be called equivalent.",
        )


def interval_findings(
    question: Asked,
    hdi: Interval,
    eti: Interval,
    rope: Rope,
    *,
    sampled: bool,
    pair: tuple[int, int] = (0, 1),
) -> Iterator[Finding]:
    """Yield doubts about a verdict: near an edge, or another one with equal tails."""
    gap, error = margin(hdi, rope)
    if sampled and gap < SAFE_ERRORS * error:
        yield Finding(
            "monte_carlo_too_coarse",
            "warning",
            f"An end of the HDI is {gap:.2g} from an edge of the ROPE, within {SAFE_ERRORS:g} "
            f"Monte Carlo errors ({error:.2g}); draw more with n_draws= to settle the verdict.",
        )
    lean, blur = abs(hdi.midpoint - rope.midpoint), (hdi.mcse_low + hdi.mcse_high) / 2
    better = question.metric.greater_is_better
    by_hdi = decide(hdi, rope, greater_is_better=better)
    by_eti = decide(eti, rope, greater_is_better=better)
    near = sampled and not by_hdi.decided and lean < SAFE_ERRORS * blur
    if near and not disagreements.is_tie(question, rope, pair):
        yield Finding(
            "monte_carlo_too_coarse",
            "note",
            f"The midpoints of HDI and ROPE are {lean:.2g} apart, within {SAFE_ERRORS:g} Monte "
            f"Carlo errors ({blur:.2g}); which way the verdict leans may be the draws' doing.",
        )
    if by_hdi is not by_eti and Decision.UNDECIDED not in (by_hdi, by_eti):
        yield Finding(
            "hdi_and_equal_tails_disagree",
            "note",
            f"With the equal-tailed interval ({eti.low:.4f} to {eti.high:.4f}) the verdict would "
            f"be {by_eti.symbol} ({by_eti.words}).",
        )
