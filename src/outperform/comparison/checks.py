"""Findings: what a careful reader would doubt about a result, worked out from it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from outperform._typing import AnyArray, IntArray
from outperform.comparison.documents import document_values, undefined_findings
from outperform.comparison.prevalence.checks import prevalence_findings
from outperform.comparison.proposing.checks import pool_findings
from outperform.comparison.question import Question
from outperform.comparison.scored import Asked, ScoreQuestion
from outperform.comparison.scored.checks import score_findings
from outperform.comparison.sizes import FEW_DOCUMENTS, FEW_GROUPS, unit_findings
from outperform.decision import Decision, Interval, Rope, decide, margin
from outperform.findings import Finding
from outperform.outcomes.counting import total

FEW_DISAGREEMENTS = 10
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
    if question.n < FEW_DOCUMENTS:
        counted = "documents" if question.unit == "items" else question.unit
        proper = question.model.proper
        told = "; the prior speaks louder than the data." if proper else " to weigh."
        yield Finding(
            "few_documents",
            "warning",
            f"There {'is' if question.n == 1 else 'are'} only {_many(question.n, counted)}{told}",
        )
    groups = question.view.groups
    n_groups = FEW_GROUPS if groups is None else groups.n_even / question.counting.times
    weighted = question.n_groups is None and question.seen.weighted
    yield from unit_findings(n_groups, weighted=weighted)
    yield from pool_findings(question)
    yield from _class_findings(question)
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
            f"Sparse cells: {_several(sparse)}{_often(question)}. Intervals may cover less often "
            "than they say.",
        )


def _without_truth(question: Question, empty: IntArray) -> str:
    """Say which classes, or types of spans, are never true, and what that leaves of them."""
    it = "it" if empty.size == 1 else "them"
    rest = f"what is said of {it} rests on the prior only"
    if not question.model.proper:
        rest = f"nothing is known of {it}"
    if question.seen.kind != "spans":
        return f"{_classes(question, empty)} never true; {rest}."
    if question.positive is None:
        return f"No true span is of type {_names(question.view.labels, empty)}; {rest}."
    label = question.pos_label
    asked = "There is no true span" if label is None else f"No true span is of type {label!r}"
    return f"{asked}; {rest}."


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


def _many(number: int, nouns: str) -> str:
    """Return a number and what it counts; one of them in the singular."""
    one = " or ".join(noun.removesuffix("s") for noun in nouns.split(" or "))
    return f"{number} {one if number == 1 else nouns}"


def _unit(question: Asked) -> str:
    """Return what is weighed, which may be finer than what was given."""
    if isinstance(question, ScoreQuestion):
        return "documents" if question.n_groups is None else "groups"
    if question.view.pool is not None:
        return "labelled documents"
    if question.seen.kind != "spans":
        return "documents" if question.n_groups is None else "groups"
    return "spans" if question.view.groups is None else "sentences or documents"


def _often(question: Asked) -> str:
    """Say how often every document was counted, where that was more than once."""
    times = question.counting.times
    return "" if times == 1 else f" (every document counted {times} times)"


def _several(items: list[str]) -> str:
    """Return what a reader can take in of a list; two models never have more."""
    shown = "; ".join(items[:_MOST_NAMED])
    left = len(items) - _MOST_NAMED
    return shown if left <= 0 else f"{shown}; and {left:,} more"


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

    ``values`` holds (what, observed, mean, sd).
    """
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
    if near and not is_tie(question, rope, pair):
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


def allow(
    question: Asked, decision: Decision, hdi: Interval, rope: Rope, pair: tuple[int, int] = (0, 1)
) -> tuple[Decision, Finding | None]:
    """Return the verdict as far as the data allow it, and ``few_disagreements`` if they are few."""
    if not decision.decided and is_tie(question, rope, pair):
        decision = Decision.UNDECIDED  # what leaning there is comes from the draws
    few = disagreement_finding(question, decision, hdi, pair)
    return unless_serious(decision, few), few


def unless_serious(decision: Decision, few: Finding | None) -> Decision:
    """Return the verdict, undecided if it rests on too few disagreements."""
    serious = few is not None and few.level == "serious"
    return Decision.UNDECIDED if serious else decision


def disagreement_finding(
    question: Asked, decision: Decision, hdi: Interval, pair: tuple[int, int] = (0, 1)
) -> Finding | None:
    """Return ``few_disagreements`` if the data hardly tell two of the models apart.

    It is serious, and ≈ is withheld, where the prior gives disagreement less
    than one document in each direction: then an interval of no width would say
    ≈ whatever the number of documents. Without any prior a single disagreement
    already puts all draws on one side of zero, so ≫ and ≪ are withheld too.
    """
    if not question.paired:
        return None
    # Without a prior an interval has no width where nothing that was seen moves the metric.
    no_width = hdi.width == 0 and not question.model.proper
    apart = 0 if no_width else _disagreements(question, pair)
    if apart >= FEW_DISAGREEMENTS * question.counting.times:
        return None
    on, expected = f"{_many(apart, _unit(question))} only", prior_disagreement(question)
    on += _often(question)
    equal = decision is Decision.EQUIVALENT and expected < 1
    if equal or (decision.decided and expected == 0):
        proper = question.model.proper
        more = "the prior hardly expects more" if proper else "there is no prior to expect more"
        return Finding(
            "few_disagreements",
            "serious",
            f"The models disagree on {on} and {more}, so the interval is too narrow to be "
            f"believed; the verdict {decision.symbol} is withheld.",
        )
    few = f"The models disagree on {on}; the difference rests on these few."
    return Finding("few_disagreements", "warning", few if apart else _never(question))


def _never(question: Asked) -> str:
    """Say that nothing that was seen tells the models apart."""
    pool = None if isinstance(question, ScoreQuestion) else question.view.pool
    if pool is not None and pool.apart.any():
        return "No labelled document tells the models apart; the difference rests on the prior."
    return "The models never disagree; the difference rests on the prior alone."


def is_tie(question: Asked, rope: Rope, pair: tuple[int, int] = (0, 1)) -> bool:
    """Return whether nothing sets A apart from B, so that the posterior is symmetric."""
    if isinstance(question, ScoreQuestion):
        return rope.symmetric and question.n_apart(pair) == 0
    if not rope.symmetric or question.prior.rows.ndim == 3:
        return False
    if question.view.pool is not None:
        predicted = question.view.pool.cells
        return bool((predicted[:, pair[0]] == predicted[:, pair[1]]).all())
    if question.paired:
        _, a, b = _cells_of(question, pair)
        return bool((a == b).all())
    tables = question.view.unpair().in_weights().tables
    one, two = (tables[place] for place in pair)
    return np.array_equal(one.cells, two.cells) and np.array_equal(one.counts, two.counts)


def _cells_of(question: Question, pair: tuple[int, int]) -> tuple[IntArray, IntArray, IntArray]:
    """Return the truth and the predictions of two models, cell by cell."""
    cells = question.view.tables[0].cells
    return cells[:, 0], cells[:, 1 + pair[0]], cells[:, 1 + pair[1]]


def _disagreements(question: Asked, pair: tuple[int, int]) -> int:
    """Count the documents on which two models differ as far as the metric can see."""
    if isinstance(question, ScoreQuestion):
        return question.n_apart(pair)
    table = question.view.tables[0]
    if question.view.kind == "label_sets":
        apart = _sets_apart(question, pair)
        return table.sum_where(apart) if table.groups is None else table.groups.with_any(apart)
    truth, a, b = _cells_of(question, pair)
    metric, form = question.measured, question.share
    apart = a != b
    if question.positive is not None:
        apart = (a == question.positive) != (b == question.positive)
    if metric.score in _SEES_RIGHT_OR_WRONG or (form is not None and form.top == "correct"):
        apart = (a == truth) != (b == truth)
    if question.costs is not None:
        costs = np.array(question.costs.matrix)
        apart = costs[truth, a] != costs[truth, b]
    if question.positive is not None and metric.score in _SEES_ONE_TRUTH:
        apart &= (truth == question.positive) == _SEES_ONE_TRUTH[metric.score]
    return table.sum_where(apart) if table.groups is None else table.groups.with_any(apart)


def _sets_apart(question: Question, pair: tuple[int, int]) -> AnyArray:
    """Return the cells in which two models' label sets differ as far as the metric can see."""
    view = question.view
    if question.measured.per_document:
        one, two = document_values(question, pair)
        return np.asarray(one != two)
    truth, a, b = _cells_of(question, pair)
    if question.measured.score != "recall":
        return np.asarray(a != b)
    sets = [frozenset(one) for one in view.sets]
    rows = zip(truth.tolist(), a.tolist(), b.tolist(), strict=True)
    found = [sets[t] & sets[one] != sets[t] & sets[two] for t, one, two in rows]
    return np.array(found, dtype=bool)


_SEES_RIGHT_OR_WRONG = ("accuracy", "recall", "balanced_accuracy")
# Recall looks at documents of the class only, specificity at the others only.
_SEES_ONE_TRUTH = {"recall": True, "specificity": False}


def prior_disagreement(question: Asked) -> float:
    """Return how many documents the prior lets only A get right, over all classes."""
    if isinstance(question, ScoreQuestion) or question.model.name == "bootstrap":
        return 0.0
    pool = question.view.pool
    if pool is not None:  # how often they disagree is known from the pool, if they do
        return float(total(pool.counts[pool.apart]) >= FEW_DISAGREEMENTS)
    n_classes = question.view.n_classes
    if question.view.kind == "label_sets":  # a table of two classes for each label
        rows = question.prior.row_shapes(2, 2)
        each = float(rows[0, 0, 1] + rows[1, 1, 0]) if question.model.name == "flat" else 0.5
        return n_classes * each
    if question.seen.kind == "spans":  # what only A finds, and what only B makes up
        shape = float(question.prior.rows) if question.model.name == "flat" else 0.25
        return 2 * shape * n_classes
    if question.model.name == "flat":
        rows = question.prior.row_shapes(n_classes, 2)
        return float(
            sum(rows[truth, truth].sum() - rows[truth, truth, truth] for truth in range(n_classes))
        )
    return n_classes / 4  # mass 1 a class, half of it right, independently
