"""``rank``: which of many models is best?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

from outperform._typing import ColumnLike, Label, LabelsLike, ModelsLike, OfRows, Seed
from outperform.data.checks import named
from outperform.data.labels import is_frame
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
    data_of,
    refuse_counted,
    rope_for,
)
from outperform.inference.suite import Suite
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

if TYPE_CHECKING:
    from outperform.suite.result import SuiteRanking


class _OfMany(OfTwo, total=False):
    metric: MetricLike | None


class _OfManyArrays(_OfMany, OfRows, total=False):
    pass


@overload
def rank(
    y_true: Suite, predictions: Iterable[str] | None = None, **asked: Unpack[_OfMany]
) -> SuiteRanking: ...


@overload
def rank(
    y_true: Outcomes | Scores, predictions: Iterable[str] | None = None, **asked: Unpack[_OfMany]
) -> Ranking: ...


@overload
def rank(
    y_true: LabelsLike | None, predictions: ModelsLike, **asked: Unpack[_OfManyArrays]
) -> Ranking: ...


def rank(
    y_true: Suite | Outcomes | Scores | LabelsLike | None,
    predictions: Iterable[str] | ModelsLike | None = None,
    *,
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
    """Rank many classifiers from one set of weights of the same items.

    Every draw gives all models a value at once, so what they share cancels in their
    differences. Three or more models are exchangeable beforehand: how far apart their true
    values are is learned from all of them, and the draws are pooled accordingly. So P(best)
    comes true about as often as it says over models that differ more or less, and the leader's
    value is not that of its luck. What the data say of each model alone is its ``raw``.

    Pooling makes probabilities and the order of the models, never a decision: the decision about
    two models is that of :func:`compare`. The leader was chosen on the same data, so a model that
    is worse than it (≪) could still be best; it is ruled out if the pooled difference agrees.

    Parameters
    ----------
    y_true
        The true labels, :class:`Outcomes` or :class:`Scores`; None where grades have no truth. Or
        a :class:`Suite` of many tasks, each with its own metric and ROPE.
    predictions
        The predicted labels, or scores, of each model: a mapping from names, or a frame with a
        column for each model. Of outcomes the names of the models to rank; all if None.
    metric
        By default F1 where the positive class is clear and macro-F1 where it is not. Else
        scikit-learn's scorer name, a metric object, or a function of a confusion array.
    rope
        The region of practical equivalence of every difference: a half-width or a pair.
        ±0.01 by default.
    hdi_prob
        The mass of the intervals.
    prior
        As for :func:`compare`, with the same defaults; of more than two paired models
        ``"unit"``, ``"learned"``, ``"bootstrap"`` or an array, the prior of the rows of one
        model's confusion matrix. For a model they do not depend on how many others there are.
    paired
        Whether to compare the models item by item. Ignored if the data are unpaired.
    n_draws
        How many draws; 20,000 by default.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.
    labels
        The classes averaged over; by default those that are ever true. No row is dropped.
    pos_label
        The positive class of a binary metric.
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
    seen = _models(
        y_true,
        predictions,
        metric=metric,
        labels=labels,
        sample_weight=sample_weight,
        groups=groups,
    )
    spec = make_joint_spec(
        seen,
        metric=metric,
        prior=prior,
        paired=paired,
        labels=labels,
        pos_label=pos_label,
    )
    prob, rope = check_prob(hdi_prob), rope_for(spec, rope)
    seed, draws = seed_sequence(random_state), check_many_draws(n_draws, len(seen.models))
    values, raw = joint_draws(spec, Sampling(draws, seed, n_jobs))
    return summarize_ranking(spec, values, raw, rope=rope, prob=prob, seed=seed, n_jobs=n_jobs)


def _models(
    y_true: Outcomes | Scores | LabelsLike | None,
    predictions: Iterable[str] | ModelsLike | None,
    *,
    groups: ColumnLike | None,
    sample_weight: ColumnLike | None,
    **columns: Any,
) -> Data:
    """Return what was seen of all models, in the order of their names.

    The order in which they were given then changes nothing at all, not even the draws.
    """
    rows: OfRows = {"groups": groups, "sample_weight": sample_weight}
    seen: Data
    names: tuple[str, ...]
    if isinstance(y_true, (Outcomes, Scores)):
        if isinstance(predictions, (str, Mapping)) or is_frame(predictions):
            raise UsageError("with outcomes, name the models, e.g. rank(outcomes, ['bert', 'gpt'])")
        refuse_counted(**rows)
        chosen = y_true.models if predictions is None else cast(Iterable[str], predictions)
        names, seen = tuple(chosen), y_true
    else:
        if not isinstance(predictions, Mapping) and not is_frame(predictions):
            raise UsageError(
                "give the predictions of each model by name, e.g. "
                "rank(y_true, {'bert': pred_1, 'gpt': pred_2}), or as a frame"
            )
        models = named(predictions)
        names = tuple(models)
        seen = data_of(y_true, models, **rows, **columns)
    if len(names) < 2:
        raise UsageError(f"a ranking needs at least two models; got {list(names)}")
    return seen.select(sorted(names))
