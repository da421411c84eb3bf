"""What sets two models apart in the data, and which verdicts that allows."""

from __future__ import annotations

import numpy as np

from outperform._typing import AnyArray, IntArray
from outperform.comparison.documents import document_values
from outperform.comparison.matching import never_match
from outperform.comparison.question import Question
from outperform.comparison.scored import Asked, ScoreQuestion
from outperform.comparison.sizes import many, often
from outperform.decision import Decision, Interval, Rope
from outperform.findings import Finding
from outperform.outcomes import Outcomes, Scores
from outperform.outcomes.counting import total

FEW_DISAGREEMENTS = 10


def allow(
    question: Asked, decision: Decision, hdi: Interval, rope: Rope, pair: tuple[int, int] = (0, 1)
) -> tuple[Decision, Finding | None]:
    """Return the verdict as far as the data allow it, and ``few_disagreements`` if they are few."""
    if not decision.decided and is_tie(question, rope, pair):
        decision = Decision.UNDECIDED  # what leaning there is comes from the draws
    few = disagreement_finding(question, decision, hdi, pair)
    if any(never_match(question, place) for place in pair):
        return Decision.UNDECIDED, few
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
    apart = _disagreements(question, pair)
    equal = decision is Decision.EQUIVALENT
    # Without a prior nothing that was seen may move the difference, however often they disagree.
    still = equal and hdi.width == 0 and not question.model.proper
    if apart >= FEW_DISAGREEMENTS * question.counting.times and not still:
        return None
    expected = prior_disagreement(question)
    withheld = (equal and expected < 1) or (decision.decided and expected == 0)
    one, two = (question.seen.models[place] for place in pair)
    if are_same(question.seen, one, two):
        return _same(one, two, decision if withheld else None)
    on = f"{many(apart, _unit(question))} only{often(question.counting.times)}"
    if withheld:
        proper = question.model.proper
        more = "the prior hardly expects more" if proper else "there is no prior to expect more"
        why = (
            f"The models disagree on {on} and {more}, so the interval is too narrow to be believed"
        )
        if apart >= FEW_DISAGREEMENTS * question.counting.times:
            why = "The interval has no width, because no weights of the data move the difference"
        return Finding(
            "few_disagreements", "serious", f"{why}; the verdict {decision.symbol} is withheld."
        )
    few = f"The models disagree on {on}; the difference rests on these few."
    return Finding("few_disagreements", "warning", few if apart else _never(question))


def are_same(seen: Outcomes | Scores, one: str, two: str) -> bool:
    """Return whether two models gave the same answers, or the same scores, throughout."""
    i, j = seen.models.index(one), seen.models.index(two)
    if isinstance(seen, Scores):
        return np.array_equal(seen.values[i], seen.values[j])
    if not seen.paired:
        return False
    answers = seen.tables[0].cells[:, 1:] if seen.pool is None else seen.pool.cells
    return np.array_equal(answers[:, i], answers[:, j])


def _same(one: str, two: str, withheld: Decision | None) -> Finding:
    """Say that two columns are one and the same."""
    asked = f"{one} and {two} are identical on every item; did you pass the same column twice?"
    if withheld is None:
        rest = "The difference rests on the prior alone."
        return Finding("few_disagreements", "warning", f"{asked} {rest}")
    rest = f"The verdict {withheld.symbol} is withheld."
    return Finding("few_disagreements", "serious", f"{asked} {rest}")


def _unit(question: Asked) -> str:
    """Return what is weighed, which may be finer than what was given."""
    if isinstance(question, ScoreQuestion):
        return "documents" if question.n_groups is None else "groups"
    if question.view.pool is not None:
        return "labelled documents"
    if question.seen.kind != "spans":
        return "documents" if question.n_groups is None else "groups"
    return "spans" if question.view.groups is None else "sentences or documents"


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
