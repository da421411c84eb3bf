"""``compare`` and ``estimate``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack, overload

import numpy as np

from outperform._typing import ColumnLike, Label, LabelsLike, OfRows, Seed
from outperform.data.missing import UNDECLARED, MissingTexts
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.data.sources import batches_differ
from outperform.decision.intervals import check_prob
from outperform.decision.rope import (
    Decision,
    Rope,
    RopeLike,
    decide,
    masses_of,
)
from outperform.errors import UsageError
from outperform.findings import Finding, is_serious
from outperform.inference import diagnostics, disagreements, engine
from outperform.inference import engine as answering
from outperform.inference.changes import uneven_findings
from outperform.inference.disagreements import repeated_findings
from outperform.inference.engine import Answer
from outperform.inference.spec import (
    Data,
    LabelSpec,
    OfTwo,
    Question,
    Spec,
    data_of,
    declared,
    draws_of,
    get_engine,
    make_spec,
    refuse_counted,
    refuse_declared,
    rope_for,
    selected,
)
from outperform.inference.spelling import (
    AsRight,
    ask_as_right,
    interpret_two,
    spelling_findings,
    unless_told,
)
from outperform.inference.suite import ScoreSuite, Suite
from outperform.inference.summary import chain_findings, n_effective, seed_name, sign, summarize
from outperform.metrics.metric import MetricLike
from outperform.posterior.pymc.sampling import PyMC
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import seed_sequence
from outperform.results.base import verb as feature
from outperform.results.comparison import Comparison
from outperform.results.estimate import Estimate

if TYPE_CHECKING:
    from outperform.suite.result import SuiteComparison


class _OfOne(Question, total=False):
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
        The mass of the interval.
    prior
        As for :func:`compare`, with the same defaults.
    n_draws
        How many draws; 20,000 by default.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        How much to do at a time: None means 1, as in scikit-learn, and -1 all cores that this
        process may use; the draws do not depend on it.
    labels
        The classes averaged over; by default those that are ever true. No row is dropped.
    pos_label
        The positive class of a binary metric.
    name
        What to call the classifier; outcomes know its name.
    groups
        The group of each item, such as its author or its prompt, if groups rather than
        items should get one weight each.
    sample_weight
        How much the item of each row matters, as in scikit-learn. Rows that stand for several
        items are counts: :meth:`Outcomes.from_counts`.

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


def answer_one(
    spec: Spec,
    *,
    verb: str,
    prob: float,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> Estimate:
    """Draw, and conclude on one model."""
    (answered,) = engine.answer([spec], n_draws=n_draws, seed=seed, n_jobs=n_jobs)
    signature = sign(verb, spec, rope=None, prob=prob, n_draws=n_draws, seed=seed_name(seed))
    (seen,) = engine.observed(spec)
    return one_estimate(
        spec,
        answered,
        0,
        observed=seen,
        prob=prob,
        signature=signature,
        checked=True,
        seed=seed,
    )


def one_estimate(
    spec: Spec,
    answered: Answer,
    place: int,
    *,
    observed: float,
    prob: float,
    signature: str,
    checked: bool = False,
    seed: np.random.SeedSequence | None = None,
) -> Estimate:
    """Wrap one model's posterior; findings are worked out only where it stands alone."""
    draws, exact = answered.values[place], answered.of_models[place]
    chain = answered.chains[place] if answered.chains else None
    numbers = summarize(np.sort(draws), exact, prob, chain=chain)
    name = spec.data.models[place]
    findings: tuple[Finding, ...] = ()
    if checked:
        pulled = {name: (observed, numbers.mean, numbers.sd)}
        findings = (
            *diagnostics.table_findings(spec),
            *diagnostics.pull_findings(spec, pulled),
            *repeated_findings(spec, numbers.sd, models=(place,)),
        )
    return Estimate(
        name=name,
        spec=spec,
        observed=observed,
        mean=numbers.mean,
        sd=numbers.sd,
        mcse=numbers.mcse,
        hdi=numbers.hdi,
        eti=numbers.eti,
        draws=draws,
        distribution=exact,
        findings=findings,
        signature=signature,
        chain=chain,
        seed=seed,
    )


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


def summarize_comparison(
    spec: Spec,
    answered: Answer,
    *,
    rope: Rope,
    prob: float,
    seed: np.random.SeedSequence,
    verb: str = "compare",
    as_right: tuple[AsRight, ...] | None = None,
) -> Comparison:
    """Turn draws and closed forms into numbers, a decision and findings.

    ``as_right`` is what would be said if predictions that are never true were right, where that
    is known from another ROPE.
    """
    n_draws = answered.values.shape[1]
    signature = sign(verb, spec, rope=str(rope), prob=prob, n_draws=n_draws, seed=seed_name(seed))
    a, b = (
        one_estimate(spec, answered, place, observed=seen, prob=prob, signature=signature)
        for place, seen in enumerate(engine.observed(spec))
    )
    draws = answered.values[0] - answered.values[1]
    ordered, exact = np.sort(draws), answered.of_difference
    chain = answered.chains[-1] if answered.chains else None
    numbers = summarize(ordered, exact, prob, signed=True, chain=chain)
    masses = masses_of(ordered if exact is None else exact, rope)
    worth = n_effective(ordered, chain) if exact is None else None
    decision = decide(numbers.hdi, rope, masses, greater_is_better=spec.metric.greater_is_better)
    decision, few = disagreements.allow(spec, decision, numbers.hdi)
    if not all(one.converged for one in answered.chains):
        decision = Decision.UNDECIDED
    if as_right is None:
        interpret = interpret_two(prob=prob, n_draws=n_draws, seed=seed)
        as_right = ask_as_right(spec, interpret)
    spelled = tuple(spelling_findings(decision, as_right, rope))
    if is_serious(spelled) or batches_differ(spec.data.findings):
        decision = Decision.UNDECIDED
    stated = isinstance(spec, LabelSpec) and spec.view_errors is not None
    uneven = uneven_findings(spec, decision, numbers.hdi, rope) if stated else ()
    levels = {one.name: (one.observed, one.mean, one.sd) for one in (a, b)}
    difference = (a.observed - b.observed, numbers.mean, numbers.sd)
    findings = (
        *diagnostics.rope_findings(rope),
        *chain_findings(answered.chains),
        *unless_told(diagnostics.table_findings(spec), spelled),
        *spelled,
        *diagnostics.pull_findings(spec, levels, difference),
        *([] if few is None else [few]),
        *diagnostics.interval_findings(spec, numbers, rope, masses, n_draws=worth),
        *uneven,
        *repeated_findings(spec, numbers.sd),
    )
    return Comparison(
        spec=spec,
        a=a,
        b=b,
        observed=a.observed - b.observed,
        mean=numbers.mean,
        sd=numbers.sd,
        mcse=numbers.mcse,
        hdi=numbers.hdi,
        eti=numbers.eti,
        rope=rope,
        _masses=masses,
        decision=decision,
        draws=draws,
        distribution=exact,
        findings=findings,
        signature=signature,
        seed=seed,
        chain=chain,
        _as_right=as_right,
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

    The difference is always A − B, in the metric's own units. Series and frames with an index are
    aligned by it, and what does not align is refused; arrays and lists go by position.

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
        The mass of the interval.
    prior
        The statistical assumption: ``"unit"``, ``"uniform"``, ``"jeffreys"``,
        ``"hierarchical"``, ``"learned"`` or ``"bootstrap"``, an array or a :class:`Prior`; by
        default unit for two classes and learned for more, or bootstrap where groups are known
        or averages of several labels an item are asked for. With engine ``"pymc"`` also a
        PyMC model of your own that has a variable ``confusion`` of shape (classifier, truth,
        prediction). Items chosen from a pool have a prior of their own, ``strata``.
    paired
        Whether to use that the items are the same, where the data allow it.
    n_draws
        How many draws. By default 20,000 independent ones; chains draw what :class:`PyMC` says.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        How much to do at a time: None means 1, as in scikit-learn, and -1 all cores that this
        process may use; the draws do not depend on it.
    labels
        The classes averaged over; by default those that are ever true. No row is dropped.
    pos_label
        The positive class of a binary metric.
    names
        What to call A and B; outcomes know their names.
    groups
        The group of each item, such as its author or its prompt, if groups rather than
        items should get one weight each.
    sample_weight
        How much the item of each row matters, as in scikit-learn. Rows that stand for several
        items are counts: :meth:`Outcomes.from_counts`.
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
        found: SuiteComparison = feature(y_true._compared_by)(
            y_true,
            a,
            b,
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
        return found
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
    (answered,) = answering.answer([spec], n_draws=n_draws, seed=seed, n_jobs=n_jobs)
    return summarize_comparison(spec, answered, rope=region, prob=prob, seed=seed, verb="compare")


def answer_spec(
    spec: Spec,
    *,
    rope: Rope,
    prob: float,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    verb: str = "compare",
) -> Comparison:
    """Draw, and conclude."""
    (answered,) = answering.answer(
        [spec], n_draws=answering.check_draws(n_draws), seed=seed, n_jobs=n_jobs
    )
    return summarize_comparison(spec, answered, rope=rope, prob=prob, seed=seed, verb=verb)


def two_models(
    y_true: Outcomes | Scores | LabelsLike | None,
    a: str | LabelsLike,
    b: str | LabelsLike,
    names: tuple[str, str],
    labels: Sequence[Label] | None,
    groups: ColumnLike | None = None,
    *,
    metric: MetricLike | None = None,
    sample_weight: ColumnLike | None = None,
    missing: MissingTexts = UNDECLARED,
) -> Data:
    """Return what was seen of two models, counted, kept as scores, or selected."""
    if isinstance(y_true, (Outcomes, Scores)):
        refuse_counted(groups=groups, sample_weight=sample_weight)
        return selected(y_true, [a, b], verb="compare")
    name_a, name_b = check_names(names)
    return data_of(
        y_true,
        {name_a: a, name_b: b},
        metric=metric,
        labels=labels,
        sample_weight=sample_weight,
        groups=groups,
        missing=missing,
    )


def check_names(names: tuple[str, str]) -> tuple[str, str]:
    """Return the names of A and of B, or say that they must differ."""
    if not isinstance(names, Sequence) or len(names) != 2 or names[0] == names[1]:
        raise UsageError(f"names must be two different names; got {names!r}")
    return names[0], names[1]
