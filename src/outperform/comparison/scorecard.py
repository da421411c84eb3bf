"""``scorecard``: several metrics of two models from one set of draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack, overload

from outperform._typing import ColumnLike, Label, LabelsLike, OfColumns, OfRows, Seed, Source
from outperform.comparison.result import ComparisonTable, summarize_comparison
from outperform.data.outcomes import Kind, Outcomes
from outperform.data.scores import Scores
from outperform.decision.intervals import check_prob
from outperform.decision.rope import Rope, RopeLike
from outperform.errors import UsageError, param, unknown_name
from outperform.inference import engine
from outperform.inference.engine import Answer
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec, adds_up
from outperform.inference.spec import (
    Data,
    OfAny,
    Spec,
    check_names,
    gets_all_classes,
    make_spec,
    rope_for,
)
from outperform.inputs.models import read_models
from outperform.metrics.metric import MetricLike
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import seed_sequence
from outperform.wrong_calls import explained


class _OfCard(OfAny, total=False):
    rope: RopeLike | Mapping[str, RopeLike] | None
    paired: bool
    metrics: Sequence[MetricLike] | None


class _OfArrays(_OfCard, OfRows, total=False):
    names: tuple[str, str]


class _CardOfColumns(_OfCard, OfColumns, total=False):
    pass


@overload
def scorecard(
    y_true: Outcomes | Scores, a: str, b: str, **kwargs: Unpack[_OfCard]
) -> ComparisonTable: ...


@overload
def scorecard(
    y_true: Source, a: str, b: str, **kwargs: Unpack[_CardOfColumns]
) -> ComparisonTable: ...


@overload
def scorecard(
    y_true: LabelsLike | None, a: LabelsLike, b: LabelsLike, **kwargs: Unpack[_OfArrays]
) -> ComparisonTable: ...


@explained
def scorecard(
    y_true: Outcomes | Scores | Source | LabelsLike | None,
    a: str | LabelsLike,
    b: str | LabelsLike,
    *,
    metrics: Sequence[MetricLike] | None = None,
    truth: str | None = None,
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
    """Compare two models in several metrics, using one set of draws.

    Metrics of the same table and prior share every draw, as do all metrics of the same scores.

    Parameters
    ----------
    y_true
        True labels, or :class:`Outcomes`, or :class:`Scores`; None for graded answers. A frame or
        file needs ``truth``.
    a, b
        Predicted labels of A and of B, or the names of two models in the outcomes, or of two
        columns in the frame. For score-based metrics, their scores.
    metrics
        The metrics, each as for :func:`compare`. Default for labels: accuracy, macro-F1 and
        Matthews' correlation; for label sets, micro-F1, macro-F1 and the mean F1 per item; for
        spans, precision, recall and F1; if only right or wrong is known, accuracy. Scores have no
        default.
    truth
        Column of the true labels, if ``y_true`` is a frame or file. Groups and weights are then
        names of columns too.
    rope
        Region of practical equivalence of every metric, or a mapping from metric names; metrics
        that are not in the mapping use the default.
    hdi_prob
        Probability mass of the HDI.
    prior
        As for :func:`compare`.
    paired
        Whether to compare the models item by item. Ignored if the data are unpaired.
    n_draws
        Number of posterior draws. Default: 20,000.
    random_state
        Integer, SeedSequence, Generator or RandomState. None chooses a random seed.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.
    labels
        Classes to average over. Default: those that occur as true labels.
    pos_label
        Positive class of binary metrics.
    names
        Display names of A and B. Not needed for outcomes, which already name their models.
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
    if isinstance(metrics, str) or (metrics is not None and not metrics):
        raise UsageError(f"metrics must be a list such as ['f1', 'recall']; got {metrics!r}")
    name_a, name_b = check_names(names)
    data = read_models(
        y_true,
        {name_a: a, name_b: b},
        verb="scorecard",
        truth=truth,
        metric=None if metrics is None else metrics[0],
        labels=labels,
        groups=groups,
        sample_weight=sample_weight,
    )
    metrics = default_metrics(data) if metrics is None else metrics
    prob, seed = check_prob(hdi_prob), seed_sequence(random_state)
    named = [not gets_all_classes(metric) for metric in metrics]
    specs = [
        make_spec(
            data,
            metric=metric,
            prior=prior,
            paired=paired,
            # They are for the other metrics of the scorecard.
            labels=None if own and any(named) else labels,
            pos_label=None if own and any(named) else pos_label,
        )
        for metric, own in zip(metrics, map(gets_all_classes, metrics), strict=True)
    ]
    specs = in_one_order(specs)
    ropes = _ropes(specs, rope)
    answers = _answer_together(specs, Sampling(engine.check_draws(n_draws), seed, n_jobs))
    comparisons = tuple(
        summarize_comparison(spec, answered, rope=region, prob=prob, seed=seed)
        for spec, answered, region in zip(specs, answers, ropes, strict=True)
    )
    return ComparisonTable(
        what="metric", keys=tuple(spec.metric.name for spec in specs), comparisons=comparisons
    )


_DEFAULT_METRICS: dict[Kind, tuple[str, ...]] = {
    "classes": ("accuracy", "f1_macro", "matthews_corrcoef"),
    "label_sets": ("f1_micro", "f1_macro", "f1_samples"),
    "spans": ("precision", "recall", "f1"),
    "correct": ("accuracy",),
}


def default_metrics(data: Data) -> tuple[str, ...]:
    """Return the default metrics of a scorecard of these data."""
    if isinstance(data, Scores):
        raise UsageError(
            f"scores have no default metrics; name them with "
            f"{param('metrics=', ['roc_auc', 'brier_score'])}"
        )
    return _DEFAULT_METRICS[data.kind]


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


def in_one_order(specs: Sequence[Spec]) -> list[Spec]:
    """Return specs whose score views have the same items in the same order.

    Some metrics sort the rows or merge equal rows, and others need the original rows. A weight must
    belong to the same item in all of them.
    """
    score_specs = [spec for spec in specs if isinstance(spec, ScoreSpec)]
    if score_specs and all(spec.moments is not None for spec in score_specs):
        return list(specs)
    alike = len({adds_up(spec.metric, spec.data) for spec in score_specs}) < 2
    if alike and all(spec.view is not spec.data for spec in score_specs):
        return list(specs)
    return [spec.by_rows if isinstance(spec, ScoreSpec) else spec for spec in specs]


def _answer_together(
    specs: Sequence[Spec],
    sampling: Sampling,
) -> list[Answer]:
    groups: dict[tuple[object, ...], list[int]] = {}
    for index, spec in enumerate(specs):
        groups.setdefault(spec.drawn_with, []).append(index)
    answers: dict[int, Answer] = {}
    for indices in groups.values():
        group = [specs[index] for index in indices]
        answers.update(zip(indices, engine.answer(group, sampling), strict=True))
    return [answers[index] for index in range(len(specs))]
