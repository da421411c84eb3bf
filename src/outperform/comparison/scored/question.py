"""A question about scores, made strict once: which metric, of which class, in which order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from outperform import metrics
from outperform._typing import AnyArray, FloatArray, Label
from outperform.comparison.question import ONCE, Counting, Given, Question
from outperform.comparison.scored.preparing import prepare
from outperform.comparison.scored.reading import check_kind, positive_code
from outperform.comparison.scored.standing import count_apart
from outperform.errors import UsageError
from outperform.findings import Finding
from outperform.metrics import ScoreMetric
from outperform.metrics.of_scores import Prepared, Ranking, Units
from outperform.metrics.of_scores.ranking import AreaUnderCurve, AveragePrecision
from outperform.outcomes import Scores
from outperform.outcomes.weights import effective_size, importance_finding
from outperform.posterior import Model, Prior, get_model


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreQuestion:
    """What is asked of which scores; everything in it has been checked.

    Parameters
    ----------
    seen
        The scores of the models in question, as they were given.
    view
        The same, in the order in which they are weighed.
    metric
        What was asked for.
    positive
        The code of the positive class, where the metric has one.
    pos_label
        Its label.
    given
        What the user chose.
    model
        The posterior's model: the bootstrap.
    prior
        Of no use here; every question has one.
    paired
        Whether the models are read off the same weights.
    findings
        Doubts that come from the question itself.
    """

    seen: Scores
    view: Scores
    metric: ScoreMetric
    positive: int | None
    pos_label: Label | None
    given: Given
    model: Model
    prior: Prior
    paired: bool
    findings: tuple[Finding, ...] = ()

    classes: None = None
    costs: None = None
    n_pool: None = None
    counting: Counting = ONCE

    @property
    def n(self) -> int:
        """The number of documents."""
        return self.seen.n

    @property
    def unit(self) -> str:
        """What the number of documents counts, in words."""
        return "items"

    @property
    def n_groups(self) -> int | None:
        """How many groups of documents get one weight each; None if every document gets one."""
        return self.seen.n_groups

    @cached_property
    def units(self) -> Units:
        """What is weighed."""
        view = self.view
        if view.n_groups is None:
            return Units(view.n_rows, None, view.weights)
        times = None if view.counts is None else view.counts.astype(np.float64)
        return Units(view.n_groups, view.group, times if view.weights is None else view.weights)

    @cached_property
    def n_effective(self) -> float | None:
        """What importance weights leave of the documents or groups; None without any."""
        if self.seen.weights is None:
            return None
        return effective_size(self.units.sums(np.ones(self.view.n_rows)))

    @property
    def rope_hint(self) -> str | None:
        """What to say of the size of a ROPE where there is no default; None where there is."""
        if self.metric.score == "log_loss":
            return (
                ", e.g. rope=0.01: a log loss lower by 0.01 gives what is true a probability that "
                "is 1% higher, as a geometric mean"
            )
        if self.metric.score == "brier_score" and self.metric.bounds[1] - self.metric.bounds[0] > 1:
            return ", e.g. rope=0.01; over several classes a Brier score runs from 0 to 2"
        if self.metric.score == "mean" and math.isinf(
            self.metric.bounds[1] - self.metric.bounds[0]
        ):
            low = min(array.min() for array in self.seen.values)
            high = max(array.max() for array in self.seen.values)
            hundredth = (high - low) / 100
            if hundredth > 0:
                return (
                    f" in the units of the scores; these run from {low:g} to {high:g}, and a "
                    f"hundredth of that is rope={hundredth:.2g}"
                )
        return None

    @property
    def shapes(self) -> FloatArray | None:
        """How many documents each unit stands for; None for one each."""
        view = self.view
        if view.n_groups is not None or view.counts is None:
            return None
        return view.counts.astype(np.float64)

    @cached_property
    def prepared(self) -> tuple[Prepared, ...]:
        """Each model's scores, sorted once or turned into losses."""
        return tuple(
            prepare(self.metric, self.view, place, positive=self.positive, units=self.units)
            for place in range(len(self.view.models))
        )

    @cached_property
    def rankings(self) -> tuple[Ranking, ...]:
        """Each model's ranking; none where the metric does not rank."""
        ranked = (AreaUnderCurve, AveragePrecision)
        return tuple(one.ranking for one in self.prepared if isinstance(one, ranked))

    def n_apart(self, pair: tuple[int, int]) -> int:
        """Count the documents, or groups, that set two models apart in the metric's eyes."""
        return count_apart(
            self.metric, self.view, pair, positive=self.positive, rankings=self.rankings
        )

    @property
    def is_positive(self) -> AnyArray:
        """Which rows are of the positive class."""
        assert self.view.truth is not None
        return np.asarray(self.view.truth == self.positive)


Asked: TypeAlias = Question | ScoreQuestion
"""A question about counted labels, or about scores."""


def counted(question: Asked) -> Question:
    """Return a question about counted labels as what it is, or say that scores have no classes."""
    if isinstance(question, Question):
        return question
    raise UsageError(
        f"{question.metric.name} is a metric of scores, which have no table of classes; compare "
        "labels for classes and confusion matrices"
    )


def ask_scores(
    scores: Scores,
    *,
    metric: Any,
    model: str | None,
    prior: Any,
    paired: bool,
    labels: Sequence[Label] | None,
    pos_label: Label | None,
) -> ScoreQuestion:
    """Check a question about scores and put them in order."""
    _refuse_model(model, prior)
    asked = metrics.get_score(metric)
    check_kind(scores, asked)
    positive = positive_code(scores, asked, pos_label)
    # A user's function gets the rows as they came; elsewhere equal ones may be one.
    view = scores if asked.function is not None else scores.arranged()
    question = ScoreQuestion(
        seen=scores,
        view=view,
        metric=replace(asked, bounds=_bounds(asked, scores)),
        positive=positive,
        pos_label=None if positive is None else scores.labels[positive],
        given=Given(
            model=model,
            prior=None,
            paired=paired,
            labels=None if labels is None else tuple(labels),
            pos_label=pos_label,
        ),
        model=get_model("bootstrap"),
        prior=Prior.from_param(None),
        paired=paired and len(scores.models) > 1,
        findings=scores.findings,
    )
    if question.n_effective is None:
        return question
    n, unit = (question.n, "documents") if scores.n_groups is None else (scores.n_groups, "groups")
    found = importance_finding(question.n_effective, n, unit)
    return replace(question, findings=(*scores.findings, found))


def _refuse_model(model: str | None, prior: Any) -> None:
    if model not in (None, "bootstrap"):
        get_model(str(model))  # says so if there is no such model
        raise UsageError(
            f"model {model!r} is for labels; scores are weighed document by document, "
            "so leave model out or use model='bootstrap'"
        )
    if prior is not None:
        raise UsageError("scores are weighed without a prior; leave prior out")


def _bounds(metric: ScoreMetric, scores: Scores) -> tuple[float, float]:
    """Return the metric's bounds on these data: grades from 0 to 1 have a mean from 0 to 1."""
    if metric.score == "mean":
        grades = scores.values
        within = all(one.min() >= 0 and one.max() <= 1 for one in grades)
        unit = (0.0, 1.0) if metric.sign > 0 else (-1.0, 0.0)
        return unit if within else metric.bounds
    if metric.score == "brier_score" and (scores.n_classes or 2) > 2:
        return metric.bounds[0] * 2, metric.bounds[1] * 2
    return metric.bounds
