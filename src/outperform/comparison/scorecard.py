"""``scorecard``: several metrics of two models from one set of draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Unpack, overload

from outperform._typing import ColumnLike, Label, LabelsLike, OfRows, Seed
from outperform.comparison.result import ComparisonTable, summarize_comparison
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.decision.intervals import check_prob
from outperform.decision.rope import Rope, RopeLike
from outperform.errors import UsageError, unknown_name
from outperform.inference import engine
from outperform.inference.engine import Answer
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec, adds_up
from outperform.inference.spec import OfAny, Spec, make_spec, rope_for, two_models
from outperform.metrics.metric import MetricLike
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import seed_sequence


class _OfCard(OfAny, total=False):
    rope: RopeLike | Mapping[str, RopeLike] | None
    paired: bool


class _OfArrays(_OfCard, OfRows, total=False):
    names: tuple[str, str]


@overload
def scorecard(
    y_true: Outcomes | Scores,
    a: str,
    b: str,
    *,
    metrics: Sequence[MetricLike],
    **asked: Unpack[_OfCard],
) -> ComparisonTable: ...


@overload
def scorecard(
    y_true: LabelsLike | None,
    a: LabelsLike,
    b: LabelsLike,
    *,
    metrics: Sequence[MetricLike],
    **asked: Unpack[_OfArrays],
) -> ComparisonTable: ...


def scorecard(
    y_true: Outcomes | Scores | LabelsLike | None,
    a: str | LabelsLike,
    b: str | LabelsLike,
    *,
    metrics: Sequence[MetricLike],
    rope: RopeLike | Mapping[str, RopeLike] | None = None,
    hdi_prob: float = 0.95,
    prior: PriorLike | None = None,
    paired: bool = True,
    n_draws: int | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    names: tuple[str, str] = ("A", "B"),
    groups: ColumnLike | None = None,
    sample_weight: ColumnLike | None = None,
) -> ComparisonTable:
    """Compare two classifiers in several metrics from one set of draws.

    Metrics that look at the same table under the same prior share every draw, and all metrics of
    the same scores do.

    Parameters
    ----------
    y_true
        The true labels, or :class:`Outcomes`, or :class:`Scores`; None for graded answers.
    a, b
        The predicted labels of A and of B, or the names of two models in the outcomes; for
        metrics of scores, their scores.
    metrics
        The metrics, as :func:`compare` takes them.
    rope
        The region of practical equivalence of every metric, or a mapping from the names of
        metrics; those that it does not name have the default.
    hdi_prob
        Probability mass of the HDI.
    prior
        As for :func:`compare`.
    paired
        Whether to use that the items are the same.
    n_draws
        How many draws; 20,000 by default.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.
    labels
        The classes averaged over; by default those that are ever true.
    pos_label
        The positive class of binary metrics.
    names
        What to call A and B.
    groups
        Group of each item, such as its author or prompt. Each group, not each item, is then one
        independent unit.
    sample_weight
        As for :func:`compare`.

    Examples
    --------
    >>> import outperform as op
    >>> news = op.datasets.load_news20()
    >>> card = op.scorecard(news.y_true, news.predictions["nb_mult"], news.predictions["svm_l2"],
    ...                     metrics=["accuracy", "f1_macro"], rope=0.01, random_state=0)
    >>> [c.decision.symbol for c in card]
    ['≫', '≫']
    """
    if isinstance(metrics, str) or not metrics:
        raise UsageError(f"metrics must be a list such as ['f1', 'recall']; got {metrics!r}")
    seen = two_models(
        y_true,
        a,
        b,
        names,
        labels,
        groups,
        metric=metrics[0],
        sample_weight=sample_weight,
    )
    prob, seed = check_prob(hdi_prob), seed_sequence(random_state)
    specs = [
        make_spec(
            seen,
            metric=metric,
            prior=prior,
            paired=paired,
            labels=labels,
            pos_label=pos_label,
        )
        for metric in metrics
    ]
    specs = _in_one_order(specs)
    ropes = _ropes(specs, rope)
    answers = _answer_together(specs, Sampling(engine.check_draws(n_draws), seed, n_jobs))
    found = tuple(
        summarize_comparison(spec, answered, rope=region, prob=prob, seed=seed)
        for spec, answered, region in zip(specs, answers, ropes, strict=True)
    )
    return ComparisonTable(
        what="metric", keys=tuple(spec.metric.name for spec in specs), comparisons=found
    )


def _ropes(
    specs: Sequence[Spec], rope: RopeLike | Mapping[str, RopeLike] | None
) -> tuple[Rope, ...]:
    if not isinstance(rope, Mapping):
        return tuple(rope_for(spec, rope) for spec in specs)
    names = [spec.metric.name for spec in specs]
    for name in rope:
        if name not in names:
            raise UsageError(unknown_name("metric", name, names))
    return tuple(rope_for(spec, rope.get(name)) for spec, name in zip(specs, names, strict=True))


def _in_one_order(specs: Sequence[Spec]) -> list[Spec]:
    """Return specs of scores that weigh the same items in the same order.

    Some metrics sort the rows or merge equal ones, and others need them as they came; a weight
    must be that of the same item for all.
    """
    of_scores = [one for one in specs if isinstance(one, ScoreSpec)]
    alike = len({adds_up(one.metric, one.data) for one in of_scores}) < 2
    if alike and all(one.view is not one.data for one in of_scores):
        return list(specs)
    return [
        replace(one, view=one.data, repeats=None) if isinstance(one, ScoreSpec) else one
        for one in specs
    ]


def _answer_together(
    specs: Sequence[Spec],
    sampling: Sampling,
) -> list[Answer]:
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, spec in enumerate(specs):
        groups.setdefault(spec.drawn_with, []).append(place)
    answers: dict[int, Answer] = {}
    for places in groups.values():
        together = [specs[place] for place in places]
        answered = engine.answer(together, sampling)
        answers.update(zip(places, answered, strict=True))
    return [answers[place] for place in range(len(specs))]
