"""``rank``: find the best of many models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack, overload

from outperform._typing import (
    ColumnLike,
    Label,
    LabelsLike,
    ModelsLike,
    OfColumns,
    OfRows,
    Seed,
    Source,
)
from outperform.data.checks import named
from outperform.data.labels import is_frame, is_source
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.decision.intervals import check_prob
from outperform.decision.rope import (
    RopeLike,
)
from outperform.errors import UsageError
from outperform.inference.question import Sampling
from outperform.inference.spec import (
    Data,
    OfTwo,
    rope_for,
)
from outperform.inference.suite import Suite
from outperform.inputs.models import read_models, refuse_truth
from outperform.metrics.metric import MetricLike
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import seed_sequence
from outperform.ranking.result import (
    Ranking,
    check_many_draws,
    joint_draws,
    make_joint_spec,
    summarize_ranking,
)
from outperform.wrong_calls import explained

if TYPE_CHECKING:
    from outperform.suite.result import SuiteRanking


class _OfMany(OfTwo, total=False):
    metric: MetricLike | None


class _OfManyArrays(_OfMany, OfRows, total=False):
    pass


class _OfManyColumns(_OfMany, OfColumns, total=False):
    pass


@overload
def rank(
    y_true: Suite, predictions: Iterable[str] | None = None, **kwargs: Unpack[_OfMany]
) -> SuiteRanking: ...


@overload
def rank(
    y_true: Outcomes | Scores, predictions: Iterable[str] | None = None, **kwargs: Unpack[_OfMany]
) -> Ranking: ...


@overload
def rank(
    y_true: Source, predictions: Iterable[str] | None = None, **kwargs: Unpack[_OfManyColumns]
) -> Ranking: ...


@overload
def rank(
    y_true: LabelsLike | None, predictions: ModelsLike, **kwargs: Unpack[_OfManyArrays]
) -> Ranking: ...


@explained
def rank(
    y_true: Suite | Outcomes | Scores | Source | LabelsLike | None,
    predictions: Iterable[str] | ModelsLike | None = None,
    *,
    truth: str | None = None,
    metric: MetricLike | None = None,
    rope: RopeLike | None = None,
    hdi_prob: float = 0.95,
    prior: PriorLike | None = None,
    paired: bool = True,
    n_draws: int | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    groups: ColumnLike | None = None,
    sample_weight: ColumnLike | None = None,
) -> Ranking | SuiteRanking:
    """Rank many models from their joint posterior on the same items.

    Each draw uses the same item weights for all models, so shared luck cancels in their
    differences. With three or more models, the prior is exchangeable: the spread of their true
    values is estimated from all models, and the draws are pooled accordingly. So P(best) is
    calibrated whether the models differ a lot or a little, and the leader's estimate is corrected
    for the luck of coming first. Each model's unpooled posterior is available as ``raw``.

    Pooling affects probabilities and the order of the models, but never a decision: the decision on
    two models is the same as in :func:`compare`. The leader was chosen on the same data, so a model
    that is worse than the leader (≪) could still be best. It is ruled out only if the pooled
    difference agrees.

    Parameters
    ----------
    y_true
        True labels, :class:`Outcomes` or :class:`Scores`; None for graded answers. A frame or file
        needs ``truth``. A :class:`Suite` has many tasks, each with its own metric and ROPE.
    predictions
        Predicted labels, or scores, of each model: a mapping from names, or a DataFrame with one
        column per model. With outcomes, a frame or a file, the names of the models to rank; all
        if None.
    truth
        Column of the true labels, if ``y_true`` is a frame or file. Groups and weights are then
        names of columns too.
    metric
        Name of a scikit-learn scorer, a metric object, or a function of a confusion array.
        Default: F1 if the positive class is clear, macro-F1 otherwise.
    rope
        Region of practical equivalence of every difference: a half-width or a pair.
        Default: ±0.01.
    hdi_prob
        Probability mass of the HDIs.
    prior
        As for :func:`compare`, with the same defaults. For more than two paired models,
        ``"unit"``, ``"learned"``, ``"bootstrap"`` or an array: the prior of the rows of one
        model's confusion matrix, which does not depend on the number of models.
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
        Classes to average over. Default: those that occur as true labels. No row is dropped.
    pos_label
        Positive class of a binary metric.
    groups
        Group of each item, such as its author or prompt. Each group, not each item, is then one
        independent unit.
    sample_weight
        Weight of each item, as in scikit-learn. If a row represents several items, use
        :meth:`Outcomes.from_counts` instead.

    Examples
    --------
    >>> import outperform as op
    >>> news = op.datasets.load_news20()
    >>> ranking = op.rank(news.y_true, news.predictions, metric="f1_macro", rope=0.01,
    ...                   random_state=1)
    >>> ranking.names
    ('nb_mult', 'svm_l2', 'svm_l1', 'nb_bern')
    >>> ranking.tied
    ('nb_mult',)
    """
    if isinstance(y_true, Suite):
        refuse_truth(truth, "rank")
        from outperform.suite.api import rank_suite

        return rank_suite(
            y_true,
            predictions,
            metric=metric,
            rope=rope,
            hdi_prob=hdi_prob,
            prior=prior,
            paired=paired,
            n_draws=n_draws,
            random_state=random_state,
            n_jobs=n_jobs,
            labels=labels,
            pos_label=pos_label,
            groups=groups,
            sample_weight=sample_weight,
        )
    data = _models(
        y_true,
        predictions,
        truth=truth,
        metric=metric,
        labels=labels,
        sample_weight=sample_weight,
        groups=groups,
    )
    spec = make_joint_spec(
        data,
        metric=metric,
        prior=prior,
        paired=paired,
        labels=labels,
        pos_label=pos_label,
    )
    prob, rope = check_prob(hdi_prob), rope_for(spec, rope)
    seed, draws = seed_sequence(random_state), check_many_draws(n_draws, len(data.models))
    values, raw = joint_draws(spec, Sampling(draws, seed, n_jobs))
    return summarize_ranking(spec, values, raw, rope=rope, prob=prob, seed=seed, n_jobs=n_jobs)


def _models(
    y_true: Any,
    predictions: Any,
    *,
    truth: str | None,
    **options: Any,
) -> Data:
    """Return the data of all models, sorted by name.

    The result, down to the draws, then does not depend on the order of the arguments.
    """
    by_name = truth is not None or isinstance(y_true, (Outcomes, Scores))
    models: Mapping[str, Any] | None
    if isinstance(predictions, Mapping) or is_frame(predictions):
        if by_name:
            kind = "a frame or file" if truth is not None else "outcomes"
            raise UsageError(
                f"with {kind}, pass model names, e.g. rank({kind.split()[-1]}, ['bert', 'gpt'])"
            )
        models = named(predictions)
    elif predictions is None or not (by_name or is_source(y_true)):
        models = None
    else:
        if isinstance(predictions, str):
            raise UsageError(
                f"pass model names as a list, e.g. rank(data, ['bert', 'gpt']); got {predictions!r}"
            )
        names = list(predictions)
        if len(set(names)) != len(names):
            raise UsageError(f"each model must be listed once; got {names}")
        models = {str(name): name for name in names}
    data = read_models(y_true, models, verb="rank", truth=truth, **options)
    if len(data.models) < 2:
        raise UsageError(f"a ranking needs at least two models; got {list(data.models)}")
    return data.select(sorted(data.models))
