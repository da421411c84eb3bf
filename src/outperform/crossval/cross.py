"""``cross_compare``: compare two estimators by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from outperform import metrics
from outperform._typing import (
    ColumnLike,
    FloatArray,
    IntArray,
    Label,
    LabelsLike,
    MatrixLike,
    Seed,
    SupportsFitPredict,
    SupportsSplit,
    TagsLike,
)
from outperform.comparison.estimators import (
    check_estimator,
    check_jobs,
    class_names,
    methods_for,
    predict_folds,
    size_of,
    take,
)
from outperform.comparison.result import Comparison, answer_spec
from outperform.crossval.api import FoldComparison, blocked, compare_counts
from outperform.crossval.folds import (
    FEWEST_FOLDS,
    check_blocked,
    folds_of_outcomes,
    share_tested,
)
from outperform.crossval.scores import compare_cv_scores, summarize_scores
from outperform.crossval.splitter import BlockedTwoFold
from outperform.data.outcomes import Outcomes
from outperform.data.score_columns import read_truth
from outperform.data.table import group_codes
from outperform.data.tag_schemes import SchemeLike
from outperform.decision.intervals import check_prob
from outperform.decision.rope import Rope, RopeLike
from outperform.errors import DataError, OutperformError, UsageError, param, require
from outperform.inference import engine
from outperform.inference.engine import Answer
from outperform.inference.folds import Correlation, CorrelationLike, Folds
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import (
    LabelSpec,
    Spec,
    again,
    check_names,
    counted,
    data_of,
    make_spec,
    rope_for,
)
from outperform.inference.spelling import AsRight
from outperform.metrics.metric import MetricLike
from outperform.metrics.sums import TARGETS
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import child, seed_sequence
from outperform.progress import in_steps
from outperform.results.details import FoldDetails, ScoreDetails
from outperform.wrong_calls import explained

_SPLIT_STREAM = 2**31 + 1


@explained
def cross_compare(
    estimator_a: SupportsFitPredict,
    estimator_b: SupportsFitPredict,
    X: MatrixLike | Sequence[object],
    y: LabelsLike | TagsLike,
    *,
    cv: SupportsSplit | int | None = None,
    metric: MetricLike = "f1",
    scheme: SchemeLike | None = None,
    correlation: CorrelationLike = "averaged",
    rope: RopeLike | None = None,
    hdi_prob: float = 0.95,
    prior: PriorLike | None = None,
    n_draws: int | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    names: tuple[str, str] | None = None,
    groups: ColumnLike | None = None,
) -> Comparison:
    """Compare two estimators, or taggers, by cross-validation.

    Clones of both are trained and tested on the same folds. For a label metric these are m×2
    blocked folds: both models' predictions for the same items form one paired table. Every item is
    counted m times, so the table is scaled by w. ``details.unpaired`` contains the paper's
    comparison of the same folds.

    For a score metric, such as ROC AUC, log loss or RMSE, each fold gives one value per model.
    These values are compared as in :func:`compare_cv_scores`, which accounts for overlapping
    training sets.

    All arguments are checked before training starts.

    Parameters
    ----------
    estimator_a, estimator_b
        Objects with ``fit`` and ``predict``; for score metrics, with ``decision_function`` or
        ``predict_proba``. They are cloned and not changed.
    X
        Items: an array, a frame or a list.
    y
        True label, number, text or list of tags (with ``scheme``) of each item.
    cv
        Splitter of m×2 blocked folds. Default: ``BlockedTwoFold(3)``. For a score metric, any
        splitter that assigns items to folds at random, or a number of folds, as in scikit-learn.
    metric
        As for :func:`compare`. With tags: precision, recall, F1 and their averages over types.
    scheme
        Tag scheme, such as ``"IOB2"``; see :mod:`outperform.data.spans`.
    correlation
        Correlation of folds for a label metric, as for :func:`compare_cv_counts`.
    rope
        Region of practical equivalence: a half-width or a pair. Default: ±0.01.
    hdi_prob
        Probability mass of the HDI.
    prior
        Prior of the paired label comparison, as for :func:`compare`.
    n_draws
        Number of draws. Default: 20,000.
    random_state
        Seed of the draws, and of the folds if ``cv`` is None.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it. Starting processes takes seconds, so several jobs are faster
        only if training is slow.
    labels
        Classes to average over. Default: all that are ever true.
    pos_label
        Positive class of a binary metric.
    names
        Display names of A and B. Default: the class names (for a pipeline, of its last step), or
        ``"A"`` and ``"B"`` if these are the same.
    groups
        Group of each item. A group is never split between halves, and each group, not each item, is
        one independent unit. For a score metric, the splitter must not split groups.

    Examples
    --------
    >>> import outperform as op
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    >>> c = op.cross_compare(GaussianNB(), tree, X, y, metric="f1", rope=0.01, random_state=0,
    ...                      names=("bayes", "stump"), n_jobs=1)
    >>> c.details.folds.m, c.sd < c.details.unpaired.sd
    (3, True)
    """
    methods, scored = methods_for(metric), None
    if metrics.is_of_scores(metric):
        scored = metrics.get_score(metric)
        other = None if correlation == "averaged" else correlation
        _refuse_scored(scored, scheme=scheme, prior=prior, labels=labels, correlation=other)
    chosen = ("A", "B") if names is None else check_names(names)
    for name, estimator in zip(chosen, (estimator_a, estimator_b), strict=True):
        check_estimator(estimator, name, methods)
    if names is None:
        chosen = class_names(estimator_a, estimator_b)
    check_jobs(n_jobs)
    n, seed = _size(X, y), seed_sequence(random_state)
    treatment = Correlation.from_param(correlation)
    splitter = _splitter(cv, y, scored, child(seed, _SPLIT_STREAM))
    splits = _splits(splitter, X, y, groups)
    if scored is not None:
        asking = _ScoredFolds(metric=scored, y=y, splits=splits, names=chosen, pos_label=pos_label)
        design: dict[str, Any] = {
            "test_share": share_tested(splits, n, groups),
            "rope": asking.rehearse(rope),
            "hdi_prob": check_prob(hdi_prob),
            "n_draws": engine.check_draws(n_draws),
            "random_state": seed,
        }
        with in_steps() as progress:
            settings: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress, "methods": methods}
            scores = predict_folds((estimator_a, estimator_b), X, y, splits, **settings)
        return asking.compare(scores, **design)
    m = check_blocked(splits, n, tolerance=_tolerance(groups, splitter))
    kwargs: dict[str, object] = {
        "metric": metric,
        "defaults": ("unit", "unit"),
        "prior": prior,
        "paired": True,
        "labels": labels,
        "pos_label": pos_label,
        "counting": treatment.counting(m),
    }
    counted: dict[str, Any] = {"names": chosen, "scheme": scheme, "groups": groups}
    prob, n_draws = check_prob(hdi_prob), engine.check_draws(n_draws)
    truths = [take(y, test) for _, test in splits]
    with in_steps() as progress:
        _rehearse(_count(y, splits, (truths, truths), **counted), rope, kwargs, seed)
        predicted = predict_folds(
            (estimator_a, estimator_b), X, y, splits, n_jobs=n_jobs, progress=progress
        )
        outcomes = _count(y, splits, predicted, **counted)
        spec, region = _ask(outcomes, rope, kwargs)
        plain = answer_spec(
            spec,
            rope=region,
            prob=prob,
            n_draws=n_draws,
            seed=seed,
            n_jobs=n_jobs,
            verb="cross_compare",
        )
        folds = _folds(spec, outcomes)
        return beside_unpaired(blocked(plain, folds, treatment), folds, treatment, outcomes)


def _refuse_scored(metric: metrics.Metric, **arguments: object) -> None:
    """Raise an error for metrics that use unknown columns, and for label arguments."""
    basis = metric.basis
    of_others = basis.read is None and basis.names not in ((), TARGETS)
    if not methods_for(metric) or of_others:
        raise UsageError(
            f"cross_compare cannot determine which estimator output {metric.name!r} uses; pass "
            "its value in each fold, e.g. from cross_val_score, to compare_cv_scores"
        )
    for name, value in arguments.items():
        if value is not None:
            raise UsageError(
                f"{param(f'{name}=')} applies to label metrics, but {metric.name!r} is a score "
                "metric; remove it"
            )


@dataclass(frozen=True, kw_only=True)
class _ScoredFolds:
    """Folds, each with one value of a score metric per model."""

    metric: metrics.Metric
    y: object
    splits: Sequence[tuple[IntArray, IntArray]]
    names: tuple[str, str]
    pos_label: Label | None

    @cached_property
    def truth(self) -> tuple[IntArray, tuple[Label, ...]] | None:
        """The class code of each item, and the classes; None if y does not contain classes."""
        if self.metric.reads == "statistics":
            self._refuse_texts()
            return None
        return read_truth(_unindexed(self.y), None)[:2]

    def _refuse_texts(self) -> None:
        """Raise an error if the metric needs numbers and y contains text."""
        values = np.asarray(_unindexed(self.y))
        if self.metric.basis.read is None and values.dtype.kind not in "biuf":
            text = next(
                (value for value in values.ravel().tolist() if isinstance(value, str)), None
            )
            if text is not None:
                raise DataError(
                    f"{self.metric.name} needs numbers, but y contains {text!r}; for classes use "
                    f"a label metric, e.g. {param('metric=', 'f1_macro')}"
                )

    @cached_property
    def overall(self) -> ScoreSpec:
        """Spec for all items."""
        return self._ask_knowing(np.arange(size_of(self.y, "y")))

    def rehearse(self, rope: RopeLike | None) -> Rope:
        """Compare two perfect models, so that errors appear before hours of training."""
        region = Rope.from_param(rope, bounds=self.overall.metric.bounds)
        for fold, (train, test) in enumerate(self.splits, start=1):
            if self.truth is not None:
                codes, _ = self.truth
                if self.overall.positive is not None:
                    codes = np.equal(codes, self.overall.positive).astype(np.int64)
                if np.unique(codes[train]).size < np.unique(codes).size:
                    raise DataError(
                        f"the training items of fold {fold} lack a class; stratify the folds, "
                        "e.g. with StratifiedKFold"
                    )
            try:
                values = _values(self._ask_knowing(test))
            except OutperformError as error:
                raise DataError(f"fold {fold}: {error}, or stratify the folds") from error
            if not np.isfinite(values).all():
                raise DataError(
                    f"{self.metric.name} of the {len(test)} test items of fold {fold} is "
                    "undefined; use larger folds"
                )
        return region

    def compare(self, scores: Sequence[Sequence[object]], **design: Any) -> Comparison:
        """Compare the metric values of the folds, from the scores of both models."""
        a, b = np.transpose(
            [
                _values(
                    self._ask(test, [self._column(model_scores[fold]) for model_scores in scores])
                )
                for fold, (_, test) in enumerate(self.splits)
            ]
        )
        mean = "mean" if self.metric.greater_is_better else "mean_cost"
        comparison = compare_cv_scores(a, b, metric=mean, names=self.names, **design)
        assert isinstance(comparison.details, ScoreDetails)
        assert isinstance(comparison.spec, ScoreSpec)
        measured = self.overall.metric
        metric = replace(
            comparison.spec.metric, name=measured.name, label=measured.label, bounds=measured.bounds
        )
        return summarize_scores(
            replace(comparison.spec, metric=metric),
            comparison.details.drawn._replace(verb="cross_compare"),
            rope=comparison.rope,
            prob=comparison.hdi.prob,
            seed=comparison.seed,
            findings=comparison.details.noticed,
        )

    def _ask(self, test: IntArray, columns: Sequence[object]) -> ScoreSpec:
        data = data_of(
            _unindexed(take(self.y, test)),
            dict(zip(self.names, columns, strict=True)),
            metric=self.metric,
            labels=None if self.truth is None else self.truth[1],
            sample_weight=None,
            groups=None,
        )
        spec = make_spec(data, metric=self.metric, pos_label=self.pos_label)
        assert isinstance(spec, ScoreSpec)
        return spec

    def _ask_knowing(self, test: IntArray) -> ScoreSpec:
        known: object = _unindexed(take(self.y, test))
        if self.truth is not None:
            codes, labels = self.truth
            ranks = self.metric.reads == "ranking"
            known = codes[test].astype(np.float64) if ranks else np.eye(len(labels))[codes[test]]
        return self._ask(test, [known, known])

    def _column(self, scores: object) -> object:
        """Return the estimator output that the metric uses."""
        if self.truth is None or not isinstance(scores, Mapping):
            return _unindexed(scores)
        labels, positive = self.truth[1], self.overall.positive
        ranks = self.metric.reads == "ranking"
        required = [labels[positive]] if ranks and positive is not None else labels
        missing = [label for label in required if label not in scores]
        if missing:
            raise DataError(
                f"an estimator's classes_ must be the classes in y; {missing[0]!r} is not in "
                f"{[*scores]}"
            )
        columns: list[FloatArray] = [scores[label] for label in required]
        return columns[0] if ranks else np.stack(columns, axis=1)


def _values(spec: ScoreSpec) -> tuple[float, ...]:
    # the metric may be undefined with few items
    with np.errstate(invalid="ignore", divide="ignore"):
        return spec.observed


def _ask(
    outcomes: Sequence[Outcomes], rope: RopeLike | None, kwargs: dict[str, Any]
) -> tuple[LabelSpec, Rope]:
    spec = make_spec(reduce(add, outcomes), **kwargs)
    _refuse_functions(spec)
    return spec, rope_for(spec, rope)


def _rehearse(
    outcomes: Sequence[Outcomes],
    rope: RopeLike | None,
    kwargs: dict[str, object],
    seed: np.random.SeedSequence,
) -> None:
    """Compare two perfect models, so that errors appear before hours of training."""
    spec, _ = _ask(outcomes, rope, kwargs)
    if kwargs["prior"] is None:
        return
    # An array prior is checked against the table when it is used, also without pairing.
    engine.draw_view(spec, spec.view, Sampling(1, seed))
    if _folds(spec, outcomes).triples(spec) is None:
        alone, _ = _ask(outcomes, rope, {**kwargs, "paired": False})
        engine.draw_view(alone, alone.view, Sampling(1, seed))


def _size(x: object, y: object) -> int:
    n, n_y = size_of(x, "X"), size_of(y, "y")
    if n != n_y:
        raise DataError(f"X has {n} items and y has {n_y}; both must have the same items")
    return n


def _splitter(
    cv: object, y: object, scored: metrics.Metric | None, seed: np.random.SeedSequence
) -> object:
    """Return the splitter; a number of folds is allowed only for a score metric."""
    of_classes = scored is None or scored.reads != "statistics"
    if cv is None:
        return BlockedTwoFold(3, stratify=of_classes, random_state=seed)
    if scored is None or isinstance(cv, bool) or not isinstance(cv, (int, np.integer)):
        return cv
    if cv < FEWEST_FOLDS:
        raise UsageError(f"cv must be at least {FEWEST_FOLDS} folds, or a splitter; got {cv}")
    selection = require("sklearn.model_selection", extra="sklearn", purpose="making folds")
    folds: object = selection.check_cv(int(cv), y, classifier=of_classes)
    return folds


def _splits(cv: object, x: object, y: object, groups: ColumnLike | None) -> list[tuple[Any, Any]]:
    if isinstance(cv, (str, bytes, type)) or not hasattr(cv, "split"):
        brief = isinstance(cv, (int, np.integer, str, type))
        came = repr(cv) if brief else f"a {type(cv).__name__}"
        why = (
            "; a label metric needs blocked two-fold cross-validation, because the correlation of "
            "counts from k folds is unknown. With a score metric, such as roc_auc, "
            f"cv={cv} is valid"
            if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
            else ""
        )
        raise UsageError(f"cv must be a splitter such as op.BlockedTwoFold(3); got {came}{why}")
    try:
        return list(cv.split(x, y, groups))
    except ValueError as error:
        if isinstance(error, OutperformError):
            raise
        raise DataError(f"cv cannot split these items: {error}") from error


def _tolerance(groups: ColumnLike | None, cv: object) -> float | None:
    """Return the tolerance for groups: the size of the largest group, which cannot be split."""
    if groups is None:
        return None
    if isinstance(cv, BlockedTwoFold):
        return float("inf")  # the halves are as equal as the groups allow
    codes, _ = group_codes(groups, len(groups))  # type: ignore[arg-type]
    return float(np.bincount(codes).max())


def _count(
    y: object,
    splits: Sequence[tuple[object, Any]],
    predicted: Sequence[Sequence[object]],
    *,
    names: tuple[str, str],
    scheme: Any,
    groups: ColumnLike | None,
) -> tuple[Outcomes, ...]:
    fold_outcomes = []
    for fold, (_, test) in enumerate(splits):
        truth = _unindexed(take(y, test))
        answers = {name: _unindexed(predicted[model][fold]) for model, name in enumerate(names)}
        fold_groups = None if groups is None else _unindexed(take(groups, test))
        if scheme is None:
            fold_outcomes.append(Outcomes.from_labels(truth, answers, groups=fold_groups))
        else:
            fold_outcomes.append(
                Outcomes.from_tags(truth, answers, scheme=scheme, groups=fold_groups)
            )
    labels = reduce(add, fold_outcomes).labels
    return tuple(outcomes.with_labels(labels) for outcomes in fold_outcomes)


def _unindexed(values: object) -> Any:
    """Drop the pandas index, because predictions are in row order."""
    return values.reset_index(drop=True) if hasattr(values, "reset_index") else values


def _folds(spec: LabelSpec, outcomes: Sequence[Outcomes]) -> Folds:
    return folds_of_outcomes([fold.with_labels(spec.data.labels) for fold in outcomes])


def _refuse_functions(spec: LabelSpec) -> None:
    if spec.metric.needs == "confusion":
        raise UsageError(
            f"{spec.metric.name} needs the full confusion matrix, but folds contain only its "
            "margins; use one of the named metrics"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossDetails(FoldDetails):
    """Folds on which ``cross_compare`` compared two estimators; see :class:`FoldDetails`.

    Parameters
    ----------
    unpaired
        The paper's comparison of the same folds, which treats the models as unpaired.
    outcomes
        Outcomes of each fold.
    """

    unpaired: Comparison
    outcomes: tuple[Outcomes, ...]

    @property
    def verb(self) -> str:
        """Name of the function that returns such comparisons."""
        return "cross_compare"


class CrossComparison(FoldComparison):
    """Comparison of two estimators; derived comparisons use the same folds."""

    __slots__ = ()
    details: CrossDetails

    @property
    def _unpaired(self) -> Comparison:
        return self.details.unpaired

    def _conclude(
        self,
        spec: Spec,
        answer: Answer,
        *,
        rope: Rope,
        seed: np.random.SeedSequence,
        as_right: tuple[AsRight, ...] | None = None,
    ) -> Comparison:
        plain = Comparison._conclude(self, spec, answer, rope=rope, seed=seed, as_right=as_right)
        known = self.details
        paired = blocked(plain, known.folds, known.correlation)
        return beside_unpaired(paired, known.folds, known.correlation, known.outcomes)


def beside_unpaired(
    paired: Comparison,
    folds: Folds,
    correlation: Correlation,
    outcomes: tuple[Outcomes, ...],
) -> Comparison:
    """Add the paper's unpaired comparison on the same folds to the paired one."""
    details = CrossDetails(
        folds=folds,
        correlation=correlation,
        unpaired=_unpaired(paired, folds, correlation),
        outcomes=outcomes,
    )
    return CrossComparison._from(paired, details=details)


def _unpaired(paired: Comparison, folds: Folds, correlation: Correlation) -> Comparison:
    spec = counted(paired.spec)
    settings: dict[str, Any] = {
        "rope": paired.rope,
        "prob": paired.hdi.prob,
        "n_draws": paired.draws.size,
        "seed": child(paired.seed, _SPLIT_STREAM + 1),
        "n_jobs": -1,
    }
    triples = folds.triples(spec)
    if triples is not None:
        return compare_counts(
            dict(zip(paired.names, triples, strict=True)),
            metric=spec.measured,
            correlation=correlation,
            prior=None,
            **settings,
        )
    alone = again(spec, defaults=("unit", "unit"), paired=False)
    return blocked(answer_spec(alone, verb="cross_compare", **settings), folds, correlation)
