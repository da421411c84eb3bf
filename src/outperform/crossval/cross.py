"""``cross_compare``: two estimators by blocked cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from outperform import metrics
from outperform._typing import (
    ColumnLike,
    IntArray,
    Label,
    LabelsLike,
    MatrixLike,
    Progress,
    Seed,
    SupportsFitPredict,
    SupportsSplit,
    TagsLike,
)
from outperform.comparison.api import answer_spec, check_names
from outperform.crossval.api import Correlation, CorrelationLike, blocked, compare_counts
from outperform.crossval.folds import Folds, check_blocked, folds_of_outcomes
from outperform.crossval.splitter import BlockedTwoFold
from outperform.data.outcomes import Outcomes
from outperform.data.tag_schemes import SchemeLike
from outperform.decision.intervals import check_prob
from outperform.decision.rope import Rope, RopeLike
from outperform.errors import DataError, UsageError, require
from outperform.inference import engine
from outperform.inference.spec import LabelSpec, counted, make_label_spec, rope_for
from outperform.metrics.score_metric import MetricLike
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import child, n_workers, seed_sequence
from outperform.progress import in_steps
from outperform.results.base import CrossDetails
from outperform.results.comparison import Comparison


class Task(NamedTuple):
    """One training: which estimator, on which fold."""

    model: int
    fold: int


def predict_folds(
    estimators: Sequence[object],
    x: object,
    y: object,
    splits: Sequence[tuple[IntArray, IntArray]],
    *,
    n_jobs: int | None,
    progress: Progress | None,
) -> list[list[Any]]:
    """Return the predictions of each estimator on the test half of each fold."""
    joblib = require("joblib", extra="sklearn", purpose="training on several cores")
    clone = require("sklearn.base", extra="sklearn", purpose="copying estimators").clone
    tasks = [Task(model, fold) for fold in range(len(splits)) for model in range(len(estimators))]
    jobs = (
        joblib.delayed(_train)(
            task,
            clone(estimators[task.model], safe=False),
            take(x, splits[task.fold][0]),
            take(y, splits[task.fold][0]),
            take(x, splits[task.fold][1]),
        )
        for task in tasks
    )
    parallel = joblib.Parallel(n_jobs=n_workers(n_jobs), return_as="generator_unordered")
    found: list[list[Any]] = [[None] * len(splits) for _ in estimators]
    for done, (task, predicted) in enumerate(parallel(jobs), start=1):
        found[task.model][task.fold] = predicted
        if progress is not None:
            progress(done, len(tasks))
    return found


def _train(task: Task, estimator: Any, x_train: Any, y_train: Any, x_test: Any) -> tuple[Task, Any]:
    estimator.fit(x_train, y_train)
    return task, estimator.predict(x_test)


def check_estimator(estimator: object, name: str) -> None:
    """Refuse what cannot be trained."""
    if isinstance(estimator, type):
        raise UsageError(
            f"{name} must be an estimator, not the class {estimator.__name__}; "
            f"e.g. {estimator.__name__}()"
        )
    for method in ("fit", "predict"):
        if not callable(getattr(estimator, method, None)):
            kind = type(estimator).__name__
            raise UsageError(f"{name} must have fit and predict; {kind} has no {method}")


def size_of(data: object, name: str) -> int:
    """Return how many items there are."""
    shape = getattr(data, "shape", None)
    if shape:
        return int(shape[0])
    if shape == () or isinstance(data, (str, bytes, dict)) or not hasattr(data, "__len__"):
        raise DataError(f"{name} must be a list, an array or a frame of items")
    return len(data)


def check_jobs(n_jobs: int | None) -> None:
    """Refuse, before anything is trained, what would fail in the midst of it."""
    n_workers(n_jobs)


def take(data: Any, places: IntArray) -> object:
    """Return the items at some places, as the kind of container that they came in."""
    if hasattr(data, "iloc"):
        return data.iloc[places]
    if hasattr(data, "tocsr"):
        data = data.tocsr()  # not every sparse format can be indexed
    if hasattr(data, "shape"):
        return data[places]
    return [data[place] for place in np.asarray(places).tolist()]


_SPLIT_STREAM = 2**31 + 1


def cross_compare(
    estimator_a: SupportsFitPredict,
    estimator_b: SupportsFitPredict,
    X: MatrixLike | Sequence[object],
    y: LabelsLike | TagsLike,
    *,
    cv: SupportsSplit | None = None,
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
    """Compare two estimators, or taggers, by m×2 blocked cross-validation.

    Clones of both are trained on each half and tested on the other. What both
    predicted for the same items makes one paired table; every item was
    counted m times, so the table is scaled by w. ``details.unpaired`` holds the paper's
    comparison of the same folds. Every argument is checked before the first training.

    Parameters
    ----------
    estimator_a, estimator_b
        Anything with ``fit`` and ``predict``; they are cloned and stay as they are.
    X
        The items: an array, a frame or a list.
    y
        The true label of each item, or its list of tags (with ``scheme``).
    cv
        A splitter of m×2 blocked folds; ``BlockedTwoFold(3)`` by default.
    metric
        As for :func:`compare`; of tags precision, recall, F1 and their averages over types.
    scheme
        Of tags: ``"IOB2"`` and so on, see :mod:`outperform.data.spans`.
    correlation
        Of the folds, as for :func:`bcv_compare`.
    rope
        The region of practical equivalence: a half-width or a pair. ±0.01 by default.
    hdi_prob
        The mass of the interval.
    prior
        Of the paired comparison, as for :func:`compare`.
    n_draws
        How many draws; 20,000 by default.
    random_state
        Of the draws, and of the folds where ``cv`` is left out.
    n_jobs
        How much to do at a time: None means 1, as in scikit-learn, and -1 all cores that this
        process may use; the draws do not depend on it. Starting processes takes
        seconds, so several pay where training is slow.
    labels
        The classes averaged over; by default those that are ever true.
    pos_label
        The positive class of a binary metric.
    names
        What to call A and B; by default their classes, of a pipeline that of its last step, and
        ``"A"`` and ``"B"`` where these are the same.
    groups
        Which items belong together: they stay in one half, and each group rather than each
        item gets one weight.

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
    if metrics.is_of_scores(metric):
        raise UsageError(
            "cross_compare counts predicted labels, and this is a metric of scores; give the "
            "scores of the folds, e.g. from cross_val_score, to compare_scores"
        )
    chosen = ("A", "B") if names is None else check_names(names)
    for name, estimator in zip(chosen, (estimator_a, estimator_b), strict=True):
        check_estimator(estimator, name)
    if names is None:
        chosen = class_names(estimator_a, estimator_b)
    check_jobs(n_jobs)
    n, seed = _size(X, y), seed_sequence(random_state)
    treatment = Correlation.from_param(correlation)
    splitter = BlockedTwoFold(3, random_state=child(seed, _SPLIT_STREAM)) if cv is None else cv
    splits = _splits(splitter, X, y, groups)
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


def class_names(a: object, b: object) -> tuple[str, str]:
    """Return what two estimators are called after their classes."""
    names = [type(_last_step(one)).__name__ for one in (a, b)]
    return ("A", "B") if names[0] == names[1] else (names[0], names[1])


def _last_step(estimator: object) -> object:
    """Return the last step of a pipeline; any other estimator as it is."""
    steps = getattr(estimator, "steps", None)
    return steps[-1][-1] if isinstance(steps, list) and steps else estimator


def _ask(
    outcomes: Sequence[Outcomes], rope: RopeLike | None, asked: dict[str, Any]
) -> tuple[LabelSpec, Rope]:
    spec = make_label_spec(reduce(add, outcomes), **asked)
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
    engine.draw_view(spec, spec.view, n_draws=1, seed=seed)
    if _folds(spec, outcomes).triples(spec) is None:
        alone, _ = _ask(outcomes, rope, {**asked, "paired": False})
        engine.draw_view(alone, alone.view, n_draws=1, seed=seed)


def _size(x: object, y: object) -> int:
    n, n_y = size_of(x, "X"), size_of(y, "y")
    if n != n_y:
        raise DataError(f"X has {n} items and y has {n_y}; they must be the same items")
    return n


def _splits(cv: object, x: object, y: object, groups: ColumnLike | None) -> list[tuple[Any, Any]]:
    if isinstance(cv, (str, bytes, type)) or not hasattr(cv, "split"):
        brief = isinstance(cv, (int, np.integer, str, type))
        came = repr(cv) if brief else f"a {type(cv).__name__}"
        raise UsageError(f"cv must be a splitter such as op.BlockedTwoFold(3); got {came}")
    return list(cv.split(x, y, groups))


def _tolerance(groups: ColumnLike | None, cv: object) -> float | None:
    """Let halves and shared parts differ by the largest group, which cannot be split."""
    if groups is None:
        return None
    if isinstance(cv, BlockedTwoFold):
        return float("inf")  # it has made them as equal as the groups allow
    return float(np.unique(np.asarray(groups), return_counts=True)[1].max())


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
    return replace(paired, details=details)


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
    alone = make_label_spec(
        spec.data,
        metric=spec.metric,
        defaults=("unit", "unit"),
        counting=spec.counting,
        **{**spec.choices._asdict(), "paired": False},
    )
    return blocked(answer_spec(alone, verb="cross_compare", **settings), folds, correlation)
