"""``compare``, ``estimate`` and ``from_datatree``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack, overload

from outperform._typing import ColumnLike, DataTree, Label, LabelsLike, OfRows, Seed
from outperform.comparison.result import Comparison, summarize_comparison
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.decision.intervals import check_prob
from outperform.decision.rope import (
    RopeLike,
)
from outperform.errors import UsageError
from outperform.inference import engine
from outperform.inference import engine as answering
from outperform.inference.question import Sampling
from outperform.inference.spec import (
    Data,
    OfAny,
    OfTwo,
    data_of,
    declared,
    draws_of,
    get_engine,
    make_spec,
    refuse_counted,
    refuse_declared,
    rope_for,
    selected,
    two_models,
)
from outperform.inference.suite import ScoreSuite, Suite
from outperform.metrics.metric import MetricLike
from outperform.posterior.base import PyMCModel
from outperform.posterior.pymc.sampling import PyMC
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import seed_sequence
from outperform.results.estimate import Estimate, answer_one

if TYPE_CHECKING:
    from outperform.suite.result import SuiteComparison


class _OfOne(OfAny, total=False):
    metric: MetricLike | None


class _OfOneArray(_OfOne, OfRows, total=False):
    name: str


class _OfTwo(OfTwo, total=False):
    metric: MetricLike | None
    engine: str | PyMC
    never_true: Sequence[Label] | None


class OfTwoArrays(_OfTwo, OfRows, total=False):
    """What else may be said of two columns of predictions."""

    names: tuple[str, str]


@overload
def estimate(y_true: Outcomes | Scores, prediction: str, **asked: Unpack[_OfOne]) -> Estimate: ...


@overload
def estimate(
    y_true: LabelsLike | None, prediction: LabelsLike, **asked: Unpack[_OfOneArray]
) -> Estimate: ...


def estimate(
    y_true: Outcomes | Scores | LabelsLike | None,
    prediction: str | LabelsLike,
    *,
    metric: MetricLike | None = None,
    hdi_prob: float = 0.95,
    prior: PriorLike | None = None,
    n_draws: int | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    name: str = "A",
    groups: ColumnLike | None = None,
    sample_weight: ColumnLike | None = None,
) -> Estimate:
    """Estimate one classifier's metric from its predictions.

    Parameters
    ----------
    y_true
        The true labels, or :class:`Outcomes`, or :class:`Scores`; None for graded answers.
    prediction
        The predicted labels, or the name of a model in the outcomes; for a metric of scores
        such as ``"roc_auc"``, its scores.
    metric
        By default F1 where the positive class is clear and macro-F1 where it is not. Else
        scikit-learn's scorer name, a metric object, or a function of a confusion array.
    hdi_prob
        Probability mass of the HDI.
    prior
        As for :func:`compare`, with the same defaults.
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
    name
        What to call the classifier; outcomes know its name.
    groups
        Group of each item, such as its author or prompt. Each group, not each item, is then one
        independent unit.
    sample_weight
        Weight of each item, as in scikit-learn. If a row represents several items, use
        :meth:`Outcomes.from_counts` instead.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_confusion({"spam": [[900, 20], [10, 70]]})
    >>> print(round(op.estimate(seen, "spam", metric="recall").mean, 4))
    0.8704
    """
    seen = _one_model(y_true, prediction, name, labels, sample_weight, groups, metric)
    prob, n_draws = check_prob(hdi_prob), engine.check_draws(n_draws)
    seed = seed_sequence(random_state)
    spec = make_spec(
        seen,
        metric=metric,
        prior=prior,
        paired=False,
        labels=labels,
        pos_label=pos_label,
    )
    return answer_one(spec, verb="estimate", prob=prob, n_draws=n_draws, seed=seed, n_jobs=n_jobs)


def _one_model(
    y_true: Outcomes | Scores | LabelsLike | None,
    prediction: str | LabelsLike,
    name: str,
    labels: Sequence[Label] | None,
    weights: ColumnLike | None,
    groups: ColumnLike | None,
    metric: MetricLike | None,
) -> Data:
    if isinstance(y_true, (Outcomes, Scores)):
        refuse_counted(groups=groups, sample_weight=weights)
        return selected(y_true, [prediction], verb="estimate")
    return data_of(
        y_true,
        {name: prediction},
        metric=metric,
        labels=labels,
        sample_weight=weights,
        groups=groups,
    )


@overload
def compare(y_true: ScoreSuite, a: str, b: str, **asked: Unpack[_OfTwo]) -> Comparison: ...  # type: ignore[overload-overlap]


@overload
def compare(y_true: Suite, a: str, b: str, **asked: Unpack[_OfTwo]) -> SuiteComparison: ...


@overload
def compare(y_true: Outcomes | Scores, a: str, b: str, **asked: Unpack[_OfTwo]) -> Comparison: ...


@overload
def compare(
    y_true: LabelsLike | None, a: LabelsLike, b: LabelsLike, **asked: Unpack[OfTwoArrays]
) -> Comparison: ...


def compare(
    y_true: Suite | Outcomes | Scores | LabelsLike | None,
    a: str | LabelsLike,
    b: str | LabelsLike,
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
    names: tuple[str, str] = ("A", "B"),
    groups: ColumnLike | None = None,
    sample_weight: ColumnLike | None = None,
    never_true: Sequence[Label] | None = None,
    engine: str | PyMC = "direct",
) -> Comparison | SuiteComparison:
    """Compare two classifiers on the same items.

    The difference is always A − B, in the metric's own units. Series and DataFrames are aligned by
    index; a mismatch raises an error. Arrays and lists are matched by position.

    Parameters
    ----------
    y_true
        The true labels, or :class:`Outcomes`, or :class:`Scores`; None for graded answers. If
        items have several labels, an indicator matrix, or a collection of labels for each. A
        :class:`Suite` has many tasks, each with its own metric and ROPE.
    a, b
        The predicted labels of A and of B, or the names of two models in the outcomes. For a
        metric of scores such as ``"roc_auc"`` or ``"log_loss"``, their scores; the columns of a
        frame of probabilities are called like the classes.
    metric
        By default F1 where the positive class is clear and macro-F1 where it is not. Else
        scikit-learn's scorer name, a metric object such as
        ``op.metrics.fbeta(2, average="macro")``, or a function of a confusion array, or of
        truth, score and weight.
    rope
        The region of practical equivalence: a half-width or a pair. ±0.01 by default.
    hdi_prob
        Probability mass of the HDI.
    prior
        The statistical assumption: ``"unit"``, ``"uniform"``, ``"jeffreys"``,
        ``"hierarchical"``, ``"learned"`` or ``"bootstrap"``, an array or a :class:`Prior`; by
        default unit for two classes and learned for more, or bootstrap where groups are known
        or averages of several labels an item are asked for. With engine ``"pymc"`` also a
        PyMC model of your own that has a variable ``confusion`` of shape (classifier, truth,
        prediction). Items chosen from a pool have a prior of their own, ``strata``.
    paired
        Whether to compare the models item by item. Ignored if the data are unpaired.
    n_draws
        Number of posterior draws. Default: 20,000 independent draws; with engine ``"pymc"``, the
        setting in :class:`PyMC`.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.
    labels
        The classes averaged over; by default those that are ever true. No row is dropped.
    pos_label
        The positive class of a binary metric.
    names
        Display names of A and B. Not needed for outcomes, which already name their models.
    groups
        Group of each item, such as its author or prompt. Each group, not each item, is then one
        independent unit.
    sample_weight
        Weight of each item, as in scikit-learn. If a row represents several items, use
        :meth:`Outcomes.from_counts` instead.
    never_true
        Classes that models may predict and that are meant never to be true, such as
        ``["refusal"]``; see :meth:`Outcomes.with_never_true`.
    engine
        ``"direct"``: independent draws and closed forms. ``"pymc"``: a Markov chain through
        the same model, written in PyMC; or :class:`PyMC` with its settings, such as
        ``op.PyMC(sampler="nutpie", chains=8)``.

    Examples
    --------
    >>> import outperform as op
    >>> news = op.datasets.load_news20()
    >>> c = op.compare(news.y_true, news.predictions["nb_mult"], news.predictions["svm_l2"],
    ...                metric="accuracy", rope=0.01, names=("nb_mult", "svm_l2"))
    >>> c.decision
    <Decision.BETTER: '≫'>
    >>> print(round(c.mean, 3), c.mcse < 1e-4)
    0.028 True
    """
    chosen = get_engine(engine)
    if isinstance(y_true, Suite):
        if chosen is not None:
            raise UsageError("engine 'pymc' compares one task at a time; use engine='direct'")
        refuse_declared(never_true)
        shared: dict[str, Any] = {
            "metric": metric,
            "rope": rope,
            "hdi_prob": hdi_prob,
            "prior": prior,
            "paired": paired,
            "n_draws": n_draws,
            "random_state": random_state,
            "n_jobs": n_jobs,
            "labels": labels,
            "pos_label": pos_label,
            "groups": groups,
            "sample_weight": sample_weight,
        }
        if isinstance(y_true, ScoreSuite):
            from outperform.crossval.api import compare_score_suite

            return compare_score_suite(y_true, a, b, **shared)
        from outperform.suite.api import compare_suite

        return compare_suite(y_true, a, b, **shared)
    data = two_models(
        y_true, a, b, names, labels, groups, metric=metric, sample_weight=sample_weight
    )
    data = declared(data, never_true)
    spec = make_spec(
        data,
        metric=metric,
        prior=prior,
        paired=paired,
        labels=labels,
        pos_label=pos_label,
        engine=chosen,
    )
    region, prob, seed = rope_for(spec, rope), check_prob(hdi_prob), seed_sequence(random_state)
    n_draws = answering.check_draws(draws_of(chosen) if n_draws is None else n_draws)
    (answered,) = answering.answer([spec], Sampling(n_draws, seed, n_jobs))
    return summarize_comparison(spec, answered, rope=region, prob=prob, seed=seed, verb="compare")


def from_datatree(
    tree: DataTree, *, metric: MetricLike | None = None, prior: PyMCModel | None = None
) -> Comparison:
    """Return the comparison that :meth:`Comparison.to_datatree` wrote; nothing is drawn again.

    Parameters
    ----------
    tree
        The whole tree, also after it was saved and loaded; or ``InferenceData`` of ArviZ 0.2x
        that was made of it.
    metric
        The metric, where it is a function or costs of your own, which no file holds.
    prior
        The PyMC model, where it was one.

    Examples
    --------
    >>> import outperform as op
    >>> c = op.compare([1, 1, 0, 0, 1], [1, 1, 0, 1, 1], [1, 0, 0, 1, 1], random_state=0)
    >>> tree = c.to_datatree()  # doctest: +SKIP
    >>> op.from_datatree(tree).mean == c.mean  # doctest: +SKIP
    True
    """
    from outperform.comparison.datatree import check_observed, read_tree

    spec, answer, rope, prob, seed = read_tree(tree, metric=metric, prior=prior)
    found = summarize_comparison(spec, answer, rope=rope, prob=prob, seed=seed)
    check_observed(found, tree)
    return found
