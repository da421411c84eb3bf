"""Findings about scores: few documents, few positives, ties, certainty that was wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from outperform.comparison.scored.preparing import probabilities
from outperform.comparison.scored.question import ScoreQuestion
from outperform.comparison.scored.standing import documents_of, tied_share
from outperform.comparison.sizes import FEW_DOCUMENTS, FEW_GROUPS, unit_findings
from outperform.findings import Finding
from outperform.metrics.of_scores.losses import LEAST_PROBABILITY
from outperform.outcomes.weights import effective_size

# What a column is called where less is better; a plural counts too.
_COSTS = {
    "latency", "time", "duration", "ms", "second", "cost", "price", "token", "loss", "error",
}  # fmt: skip
# Ties are worth a word from this share of pairs on; from the second one they are suspicious.
_SOME_TIES, _MANY_TIES = 0.01, 0.1


def score_findings(question: ScoreQuestion) -> Iterator[Finding]:
    """Yield doubts about the scores themselves."""
    yield from question.findings
    if question.n < FEW_DOCUMENTS:
        yield Finding(
            "few_documents", "warning", f"There are only {question.n} documents to weigh."
        )
    n_even = _even_groups(question)
    yield from unit_findings(n_even, weighted=question.n_groups is None)
    if question.metric.reads == "ranking":
        yield from _few_of_a_class(question)
        yield from _ties(question)
    if question.metric.score == "log_loss":
        yield from _clipped(question)
    if question.metric.name == "mean" and len(question.seen.models) > 1:
        yield from _higher_is_better(question)


def _higher_is_better(question: ScoreQuestion) -> Iterator[Finding]:
    """Say which way is better where the scores may be costs."""
    costs = [name for name in (*question.seen.sources, *question.seen.models) if _is_a_cost(name)]
    if not costs and question.metric.bounds == (0.0, 1.0):
        return
    seen = f"{costs[0]!r} sounds like a cost" if costs else "the scores are not all from 0 to 1"
    yield Finding(
        "higher_is_better",
        "note",
        f"Metric 'mean' takes a higher score as better, and {seen}. If lower is better, as for a "
        "latency or a price, ask for 'mean_cost', or for its negative, 'neg_mean'.",
    )


def _is_a_cost(name: str) -> bool:
    words = re.findall("[a-z]+", re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower())
    return any(word in _COSTS or word.removesuffix("s") in _COSTS for word in words)


def _even_groups(question: ScoreQuestion) -> float:
    """Return how many groups of equal size they are worth: (Σ size)² / Σ size²."""
    if question.n_effective is not None:
        return question.n_effective
    if question.n_groups is None:
        return FEW_GROUPS
    return effective_size(question.units.sums(np.ones(question.view.n_rows)))


def _few_of_a_class(question: ScoreQuestion) -> Iterator[Finding]:
    counts = documents_of(question.view)
    positive = counts[question.is_positive].sum()
    few = {"positive": int(positive), "negative": int(counts.sum() - positive)}
    few = {side: n for side, n in few.items() if n < FEW_DOCUMENTS}
    if few:
        shown = " and ".join(f"{n} {side}" for side, n in few.items())
        yield Finding(
            "few_of_a_class",
            "warning",
            f"There are only {shown} documents; {question.metric.label} rests on these few, and "
            "intervals may cover less often than they say.",
        )


def _ties(question: ScoreQuestion) -> Iterator[Finding]:
    tied = {
        name: tied_share(ranking, question.view)
        for name, ranking in zip(question.view.models, question.rankings, strict=True)
    }
    tied = {name: share for name, share in tied.items() if share >= _SOME_TIES}
    if not tied:
        return
    shown = "; ".join(f"{name} {100 * share:.0f}%" for name, share in tied.items())
    text = f"Pairs of a positive and a negative document with the same score: {shown}."
    if max(tied.values()) < _MANY_TIES:
        yield Finding("tied_scores", "note", text)
        return
    yield Finding(
        "tied_scores",
        "warning",
        f"{text} Labels or rounded numbers rank hardly anything; give the scores themselves.",
    )


def _clipped(question: ScoreQuestion) -> Iterator[Finding]:
    for place, name in enumerate(question.view.models):
        truth, given = probabilities(question.view, place, question.positive)
        zero = given[np.arange(len(truth)), truth] < LEAST_PROBABILITY
        n = int(documents_of(question.view)[zero].sum())
        if n:
            yield Finding(
                "certain_and_wrong",
                "warning",
                f"{name} gave what is true a probability of 0 on {n} "
                f"{'document' if n == 1 else 'documents'}; each is counted as a log loss of "
                f"{-np.log(LEAST_PROBABILITY):.0f}, as in scikit-learn, where it is infinite.",
            )
