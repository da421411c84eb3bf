"""``compare``, ``estimate`` and ``from_datatree``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack, overload

from outperform._typing import (
    ColumnLike,
    DataTree,
    Label,
    LabelsLike,
    OfColumns,
    OfRows,
    Seed,
    Source,
)
from outperform.comparison.result import Comparison, summarize_comparison
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.decision.intervals import check_prob
from outperform.decision.rope import (
    RopeLike,
)
from outperform.errors import UsageError, param
from outperform.inference import engine
from outperform.inference import engine as answering
from outperform.inference.processes import check_process, is_process
from outperform.inference.question import Candidates, Looks, Sampling
from outperform.inference.spec import (
    OfAny,
    OfTwo,
    check_names,
    declared,
    draws_of,
    get_engine,
    make_spec,
    refuse_declared,
    rope_for,
)
from outperform.inference.suite import ScoreSuite, Suite
from outperform.inputs.models import read_models, refuse_truth
from outperform.metrics.metric import MetricLike
from outperform.posterior.base import PyMCModel
from outperform.posterior.pymc.sampling import PyMC
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import seed_sequence
from outperform.results.estimate import Estimate, answer_one
from outperform.wrong_calls import explained

if TYPE_CHECKING:
    from outperform.suite.result import SuiteComparison


class _OfOne(OfAny, total=False):
    metric: MetricLike | None


class _OfOneArray(_OfOne, OfRows, total=False):
    name: str


class _OfOneColumn(_OfOne, OfColumns, total=False):
    pass


class _OfTwo(OfTwo, total=False):
    metric: MetricLike | None
    engine: str | PyMC
    chosen_from: Candidates | None
    looks: Looks
    never_true: Sequence[Label] | None


class OfTwoArrays(_OfTwo, OfRows, total=False):
    """Keyword arguments of :func:`compare` for two columns of predictions."""

    names: tuple[str, str]


class _OfTwoColumns(_OfTwo, OfColumns, total=False):
    pass


@overload
def estimate(y_true: Outcomes | Scores, prediction: str, **kwargs: Unpack[_OfOne]) -> Estimate: ...


@overload
def estimate(y_true: Source, prediction: str, **kwargs: Unpack[_OfOneColumn]) -> Estimate: ...


@overload
def estimate(
    y_true: LabelsLike | None, prediction: LabelsLike, **kwargs: Unpack[_OfOneArray]
) -> Estimate: ...


@explained
def estimate(
    y_true: Outcomes | Scores | Source | LabelsLike | None,
    prediction: str | LabelsLike,
    *,
    truth: str | None = None,
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
    """Estimate a model's metric from its predictions.

    Parameters
    ----------
    y_true
        True labels, or :class:`Outcomes`, or :class:`Scores`; None for graded answers. A frame or
        file needs ``truth``.
    prediction
        Predicted labels, or the name of a model in the outcomes or of a column in the frame. For a
        score-based metric such as ``"roc_auc"``, the model's scores.
    truth
        Column of the true labels, if ``y_true`` is a frame or file. Groups and weights are then
        names of columns too.
    metric
        Name of a scikit-learn scorer, a metric object, or a function of a confusion array.
        Default: F1 if the positive class is clear, macro-F1 otherwise.
    hdi_prob
        Probability mass of the HDI.
    prior
        As for :func:`compare`, with the same defaults.
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
    name
        Display name of the model. Not needed for outcomes, which already name their models.
    groups
        Group of each item, such as its author or prompt. Each group, not each item, is then one
        independent unit.
    sample_weight
        Weight of each item, as in scikit-learn. If a row represents several items, use
        :meth:`Outcomes.from_counts` instead.

    Examples
    --------
    >>> import outperform as op
    >>> outcomes = op.Outcomes.from_confusion({"spam": [[900, 20], [10, 70]]})
    >>> print(round(op.estimate(outcomes, "spam", metric="recall").mean, 4))
    0.8704
    """
    data = read_models(
        y_true,
        {name: prediction},
        verb="estimate",
        truth=truth,
        metric=metric,
        labels=labels,
        groups=groups,
        sample_weight=sample_weight,
    )
    prob, n_draws = check_prob(hdi_prob), engine.check_draws(n_draws)
    seed = seed_sequence(random_state)
    spec = make_spec(
        data,
        metric=metric,
        prior=prior,
        paired=False,
        labels=labels,
        pos_label=pos_label,
    )
    return answer_one(spec, verb="estimate", prob=prob, n_draws=n_draws, seed=seed, n_jobs=n_jobs)


@overload
def compare(y_true: ScoreSuite, a: str, b: str, **kwargs: Unpack[_OfTwo]) -> Comparison: ...  # type: ignore[overload-overlap]


@overload
def compare(y_true: Suite, a: str, b: str, **kwargs: Unpack[_OfTwo]) -> SuiteComparison: ...


@overload
def compare(y_true: Outcomes | Scores, a: str, b: str, **kwargs: Unpack[_OfTwo]) -> Comparison: ...


@overload
def compare(y_true: Source, a: str, b: str, **kwargs: Unpack[_OfTwoColumns]) -> Comparison: ...


@overload
def compare(
    y_true: LabelsLike | None, a: LabelsLike, b: LabelsLike, **kwargs: Unpack[OfTwoArrays]
) -> Comparison: ...


@explained
def compare(
    y_true: Suite | Outcomes | Scores | Source | LabelsLike | None,
    a: str | LabelsLike,
    b: str | LabelsLike,
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
    names: tuple[str, str] = ("A", "B"),
    groups: ColumnLike | None = None,
    sample_weight: ColumnLike | None = None,
    never_true: Sequence[Label] | None = None,
    engine: str | PyMC = "direct",
    chosen_from: Candidates | None = None,
    looks: Looks = "once",
) -> Comparison | SuiteComparison:
    """Compare two models on the same items.

    The difference is always A − B, in units of the metric. Series and DataFrames are aligned by
    index; a mismatch raises an error. Arrays and lists are matched by position.

    Parameters
    ----------
    y_true
        True labels, or :class:`Outcomes`, or :class:`Scores`; None for graded answers. If items
        have several labels, an indicator matrix or one collection of labels per item. A frame or
        file needs ``truth``. A :class:`Suite` has many tasks, each with its own metric and ROPE.
    a, b
        Predicted labels of A and of B, or the names of two models in the outcomes, or of two
        columns in the frame. For a score-based metric such as ``"roc_auc"`` or ``"log_loss"``,
        their scores; a DataFrame of probabilities has one column per class, named like the class.
    truth
        Column of the true labels, if ``y_true`` is a frame or file. Groups and weights are then
        names of columns too.
    metric
        Name of a scikit-learn scorer, a metric object such as ``op.metrics.fbeta(2,
        average="macro")``, a function of a confusion array, or a function of truth, score and
        weight. Default: F1 if the positive class is clear, macro-F1 otherwise.
    rope
        Region of practical equivalence: a half-width or a pair. Default: ±0.01.
    hdi_prob
        Probability mass of the HDI.
    prior
        Statistical assumption: ``"unit"``, ``"uniform"``, ``"jeffreys"``, ``"hierarchical"``,
        ``"learned"`` or ``"bootstrap"``, an array or a :class:`Prior`. Default: unit for two
        classes and learned for more; bootstrap if there are groups, or for averages over several
        labels per item. With engine ``"pymc"`` also your own PyMC model, with a variable
        ``confusion`` of shape (classifier, truth, prediction). Items selected from a pool always
        use the prior ``strata``.
    paired
        Whether to compare the models item by item. Ignored if the data are unpaired.
    n_draws
        Number of posterior draws. Default: 20,000 independent draws; with engine ``"pymc"``, the
        setting in :class:`PyMC`.
    random_state
        Integer, SeedSequence, Generator or RandomState. None chooses a random seed.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.
    labels
        Classes to average over. Default: those that occur as true labels. No row is dropped.
    pos_label
        Positive class of a binary metric.
    names
        Display names of A and B. Not needed for outcomes, which already name their models.
    groups
        Group of each item, such as its author or prompt. Each group, not each item, is then one
        independent unit.
    sample_weight
        Weight of each item, as in scikit-learn. If a row represents several items, use
        :meth:`Outcomes.from_counts` instead.
    never_true
        Classes that models can predict but that are never true by design, such as
        ``["refusal"]``; see :meth:`Outcomes.with_never_true`.
    engine
        ``"direct"``: independent draws and closed forms. ``"pymc"``: a Markov chain for the same
        model in PyMC; or :class:`PyMC` with settings, such as
        ``op.PyMC(sampler="nutpie", chains=8)``.
    chosen_from
        If A was chosen by its results on these items: the outcomes or scores of all candidates, or
        how many there were. The interval and the decision then account for the choice.
    looks
        ``"any"`` if you compare again whenever items arrive, and may stop because of the result:
        the interval is then valid at every look, and wider. ``"once"``: a single look.

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
    pymc, process = get_engine(engine), check_process(chosen_from, looks)
    if isinstance(y_true, Suite):
        if is_process(process):
            raise UsageError(
                f"{param('chosen_from')} and {param('looks')} apply to one task at a time; compare "
                "suite[task] instead of the suite"
            )
        refuse_truth(truth, "compare")
        if pymc is not None:
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
    name_a, name_b = check_names(names)
    data = read_models(
        y_true,
        {name_a: a, name_b: b},
        verb="compare",
        truth=truth,
        metric=metric,
        labels=labels,
        groups=groups,
        sample_weight=sample_weight,
    )
    data = declared(data, never_true)
    spec = make_spec(
        data,
        metric=metric,
        prior=prior,
        paired=paired,
        labels=labels,
        pos_label=pos_label,
        engine=pymc,
        **process,
    )
    region, prob, seed = rope_for(spec, rope), check_prob(hdi_prob), seed_sequence(random_state)
    n_draws = answering.check_draws(draws_of(pymc) if n_draws is None else n_draws)
    (answer,) = answering.answer([spec], Sampling(n_draws, seed, n_jobs))
    return summarize_comparison(spec, answer, rope=region, prob=prob, seed=seed, verb="compare")


def from_datatree(
    tree: DataTree, *, metric: MetricLike | None = None, prior: PyMCModel | None = None
) -> Comparison:
    """Restore a comparison from :meth:`Comparison.to_datatree`, without new draws.

    Parameters
    ----------
    tree
        The complete tree, possibly saved and loaded again, or ``InferenceData`` of ArviZ 0.2x made
        from it.
    metric
        The metric, if it is a user-defined function or costs, which a file cannot contain.
    prior
        The PyMC model, if it was used as the prior.

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
    comparison = summarize_comparison(spec, answer, rope=rope, prob=prob, seed=seed)
    check_observed(comparison, tree)
    return comparison
