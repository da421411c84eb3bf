"""``cross_compare``: two estimators by cross-validation."""

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
from outperform.crossval.scores import compare_scores, summarize_scores
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

_SPLIT_STREAM = 2**31 + 1


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

    Clones of both are trained and tested on the same folds. For a metric of labels these are m×2
    blocked ones: what both predicted for the same items makes one paired table; every item was
    counted m times, so the table is scaled by w. ``details.unpaired`` holds the paper's
    comparison of the same folds.

    For a metric of scores, such as ROC AUC, log loss or RMSE, each fold gives one value a model,
    and these are compared as by :func:`compare_scores`, which knows that folds overlap.

    Every argument is checked before the first training.

    Parameters
    ----------
    estimator_a, estimator_b
        Anything with ``fit`` and ``predict``, for ROC AUC and the like ``decision_function`` or
        ``predict_proba``; they are cloned and stay as they are.
    X
        The items: an array, a frame or a list.
    y
        The true label of each item, or its number, its text or its list of tags (with ``scheme``).
    cv
        A splitter of m×2 blocked folds; ``BlockedTwoFold(3)`` by default. For a metric of scores
        any splitter whose folds differ by chance, or a number of folds, as scikit-learn takes it.
    metric
        As for :func:`compare`; of tags precision, recall, F1 and their averages over types.
    scheme
        Of tags: ``"IOB2"`` and so on, see :mod:`outperform.data.spans`.
    correlation
        Of folds of labels, as for :func:`bcv_compare`.
    rope
        The region of practical equivalence: a half-width or a pair. ±0.01 by default.
    hdi_prob
        Probability mass of the HDI.
    prior
        Of the paired comparison of labels, as for :func:`compare`.
    n_draws
        How many draws; 20,000 by default.
    random_state
        Of the draws, and of the folds where ``cv`` is left out.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it. Starting processes takes seconds, so several pay where training
        is slow.
    labels
        The classes averaged over; by default those that are ever true.
    pos_label
        The positive class of a binary metric.
    names
        What to call A and B; by default their classes, of a pipeline that of its last step, and
        ``"A"`` and ``"B"`` where these are the same.
    groups
        Which items belong together: they stay in one half, and each group rather than each
        item gets one weight. For a metric of scores the splitter must keep them together.

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
            told: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress, "methods": methods}
            said = predict_folds((estimator_a, estimator_b), X, y, splits, **told)
        return asking.compare(said, **design)
    m = check_blocked(splits, n, tolerance=_tolerance(groups, splitter))
    asked: dict[str, object] = {
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
        _rehearse(_count(y, splits, (truths, truths), **counted), rope, asked, seed)
        predicted = predict_folds(
            (estimator_a, estimator_b), X, y, splits, n_jobs=n_jobs, progress=progress
        )
        outcomes = _count(y, splits, predicted, **counted)
        spec, region = _ask(outcomes, rope, asked)
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


def _refuse_scored(metric: metrics.Metric, **given: object) -> None:
    """Refuse metrics of which nobody knows what they read, and what is for counted labels."""
    basis = metric.basis
    of_others = basis.read is None and basis.names not in ((), TARGETS)
    if not methods_for(metric) or of_others:
        raise UsageError(
            f"cross_compare does not know what {metric.name!r} reads of an estimator; give its "
            "value in each fold, e.g. from cross_val_score, to compare_scores"
        )
    for name, value in given.items():
        if value is not None:
            raise UsageError(
                f"{param(f'{name}=')} is for counted labels, and {metric.name!r} is a metric of "
                "scores; leave it out"
            )


@dataclass(frozen=True, kw_only=True)
class _ScoredFolds:
    """Folds, each of which a metric of scores is asked of."""

    metric: metrics.Metric
    y: object
    splits: Sequence[tuple[IntArray, IntArray]]
    names: tuple[str, str]
    pos_label: Label | None

    @cached_property
    def truth(self) -> tuple[IntArray, tuple[Label, ...]] | None:
        """The code of each item's class, and the classes; None where the truth is no class."""
        if self.metric.reads == "statistics":
            self._refuse_texts()
            return None
        return read_truth(_unindexed(self.y), None)[:2]

    def _refuse_texts(self) -> None:
        """Say which metrics take texts, if this one reads numbers."""
        values = np.asarray(_unindexed(self.y))
        if self.metric.basis.read is None and values.dtype.kind not in "biuf":
            odd = next((one for one in values.ravel().tolist() if isinstance(one, str)), None)
            if odd is not None:
                raise DataError(
                    f"{self.metric.name} reads numbers, and y contains {odd!r}; for classes use a "
                    f"metric of labels, e.g. {param('metric=', 'f1_macro')}"
                )

    @cached_property
    def whole(self) -> ScoreSpec:
        """What is asked, of all items."""
        return self._ask_knowing(np.arange(size_of(self.y, "y")))

    def rehearse(self, rope: RopeLike | None) -> Rope:
        """Ask as if both models knew the truth, to see before hours of training what is wrong."""
        region = Rope.from_param(rope, bounds=self.whole.metric.bounds)
        for fold, (train, test) in enumerate(self.splits, start=1):
            if self.truth is not None:
                codes, _ = self.truth
                if self.whole.positive is not None:
                    codes = np.equal(codes, self.whole.positive).astype(np.int64)
                if np.unique(codes[train]).size < np.unique(codes).size:
                    raise DataError(
                        f"fold {fold} trains on items of fewer classes than there are; stratify "
                        "the folds, e.g. by StratifiedKFold"
                    )
            try:
                values = _values(self._ask_knowing(test))
            except OutperformError as error:
                raise DataError(f"fold {fold}: {error}; or stratify the folds") from error
            if not np.isfinite(values).all():
                raise DataError(
                    f"{self.metric.name} of the {len(test)} test items of fold {fold} is not "
                    "defined; make larger folds"
                )
        return region

    def compare(self, said: Sequence[Sequence[object]], **design: Any) -> Comparison:
        """Compare the values that the folds have given what two models said of their items."""
        a, b = np.transpose(
            [
                _values(self._ask(test, [self._column(one[fold]) for one in said]))
                for fold, (_, test) in enumerate(self.splits)
            ]
        )
        mean = "mean" if self.metric.greater_is_better else "mean_cost"
        found = compare_scores(a, b, metric=mean, names=self.names, **design)
        assert isinstance(found.details, ScoreDetails)
        assert isinstance(found.spec, ScoreSpec)
        asked = self.whole.metric
        metric = replace(found.spec.metric, name=asked.name, label=asked.label, bounds=asked.bounds)
        return summarize_scores(
            replace(found.spec, metric=metric),
            found.details.drawn._replace(verb="cross_compare"),
            rope=found.rope,
            prob=found.hdi.prob,
            seed=found.seed,
            findings=found.details.noticed,
        )

    def _ask(self, test: IntArray, said: Sequence[object]) -> ScoreSpec:
        data = data_of(
            _unindexed(take(self.y, test)),
            dict(zip(self.names, said, strict=True)),
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

    def _column(self, said: object) -> object:
        """Return what the metric reads of what an estimator said."""
        if self.truth is None or not isinstance(said, Mapping):
            return _unindexed(said)
        labels, positive = self.truth[1], self.whole.positive
        ranks = self.metric.reads == "ranking"
        wanted = [labels[positive]] if ranks and positive is not None else labels
        lacking = [label for label in wanted if label not in said]
        if lacking:
            raise DataError(
                f"an estimator's classes_ must be those of y; {lacking[0]!r} is none of {[*said]}"
            )
        columns: list[FloatArray] = [said[label] for label in wanted]
        return columns[0] if ranks else np.stack(columns, axis=1)


def _values(spec: ScoreSpec) -> tuple[float, ...]:
    with np.errstate(invalid="ignore", divide="ignore"):  # few items may leave it undefined
        return spec.observed


def _ask(
    outcomes: Sequence[Outcomes], rope: RopeLike | None, asked: dict[str, Any]
) -> tuple[LabelSpec, Rope]:
    spec = make_spec(reduce(add, outcomes), **asked)
    _refuse_functions(spec)
    return spec, rope_for(spec, rope)


def _rehearse(
    outcomes: Sequence[Outcomes],
    rope: RopeLike | None,
    asked: dict[str, object],
    seed: np.random.SeedSequence,
) -> None:
    """Ask as if both models were always right, to see before hours of training what is wrong."""
    spec, _ = _ask(outcomes, rope, asked)
    if asked["prior"] is None:
        return
    # Whether an array fits the table shows when it is used, in the unpaired comparison too.
    engine.draw_view(spec, spec.view, Sampling(1, seed))
    if _folds(spec, outcomes).triples(spec) is None:
        alone, _ = _ask(outcomes, rope, {**asked, "paired": False})
        engine.draw_view(alone, alone.view, Sampling(1, seed))


def _size(x: object, y: object) -> int:
    n, n_y = size_of(x, "X"), size_of(y, "y")
    if n != n_y:
        raise DataError(f"X has {n} items and y has {n_y}; they must be the same items")
    return n


def _splitter(
    cv: object, y: object, scored: metrics.Metric | None, seed: np.random.SeedSequence
) -> object:
    """Return what makes the folds; a number of them only for a metric of scores."""
    of_classes = scored is None or scored.reads != "statistics"
    if cv is None:
        return BlockedTwoFold(3, stratify=of_classes, random_state=seed)
    if scored is None or isinstance(cv, bool) or not isinstance(cv, (int, np.integer)):
        return cv
    if cv < FEWEST_FOLDS:
        raise UsageError(f"cv must be {FEWEST_FOLDS} folds or more, or a splitter; got {cv}")
    selection = require("sklearn.model_selection", extra="sklearn", purpose="making folds")
    found: object = selection.check_cv(int(cv), y, classifier=of_classes)
    return found


def _splits(cv: object, x: object, y: object, groups: ColumnLike | None) -> list[tuple[Any, Any]]:
    if isinstance(cv, (str, bytes, type)) or not hasattr(cv, "split"):
        brief = isinstance(cv, (int, np.integer, str, type))
        came = repr(cv) if brief else f"a {type(cv).__name__}"
        why = (
            "; the folds of predicted labels must be blocked two-fold ones, because how far the "
            "counts of k folds correlate is not known. With a metric of scores, such as roc_auc, "
            f"cv={cv} is taken"
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
    """Let halves and shared parts differ by the largest group, which cannot be split."""
    if groups is None:
        return None
    if isinstance(cv, BlockedTwoFold):
        return float("inf")  # it has made them as equal as the groups allow
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
    found = []
    for fold, (_, test) in enumerate(splits):
        truth = _unindexed(take(y, test))
        answers = {name: _unindexed(predicted[model][fold]) for model, name in enumerate(names)}
        own = None if groups is None else _unindexed(take(groups, test))
        if scheme is None:
            found.append(Outcomes.from_labels(truth, answers, groups=own))
        else:
            found.append(Outcomes.from_tags(truth, answers, scheme=scheme, groups=own))
    labels = reduce(add, found).labels
    return tuple(one.with_labels(labels) for one in found)


def _unindexed(values: object) -> Any:
    """Forget the index of pandas: what an estimator predicts is in the order of its rows."""
    return values.reset_index(drop=True) if hasattr(values, "reset_index") else values


def _folds(spec: LabelSpec, outcomes: Sequence[Outcomes]) -> Folds:
    return folds_of_outcomes([one.with_labels(spec.data.labels) for one in outcomes])


def _refuse_functions(spec: LabelSpec) -> None:
    if spec.metric.needs == "confusion":
        raise UsageError(
            f"{spec.metric.name} reads the whole confusion matrix, of which folds keep the "
            "margins only; use one of the named metrics"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossDetails(FoldDetails):
    """The folds on which ``cross_compare`` compared two estimators; see :class:`FoldDetails`.

    Parameters
    ----------
    unpaired
        The same folds as the paper compares them: as if each model had its own items.
    outcomes
        What was seen in each fold.
    """

    unpaired: Comparison
    outcomes: tuple[Outcomes, ...]

    @property
    def verb(self) -> str:
        """The verb that makes such comparisons."""
        return "cross_compare"


class CrossComparison(FoldComparison):
    """A comparison of two estimators by the same folds, which asks again by these folds."""

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
    """Put the paper's unpaired comparison of the same folds beside the paired one."""
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
