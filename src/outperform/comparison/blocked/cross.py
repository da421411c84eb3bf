"""``cross_compare``: two estimators by blocked cross-validation, paired and as the paper has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from outperform._typing import Label, Progress, Seed
from outperform.comparison import engine
from outperform.comparison.blocked.bayes_test import compare_counts
from outperform.comparison.blocked.checking import check_blocked
from outperform.comparison.blocked.correlation import Correlation
from outperform.comparison.blocked.folds import Folds, folds_of_outcomes
from outperform.comparison.blocked.result import BlockedComparison, blocked
from outperform.comparison.blocked.splitter import BlockedTwoFold
from outperform.comparison.blocked.training import (
    check_estimator,
    check_jobs,
    predict_folds,
    size_of,
    take,
)
from outperform.comparison.comparing import answer_question, check_names
from outperform.comparison.question import Question, ask, rope_for
from outperform.comparison.result import Comparison
from outperform.comparison.scored import Asked
from outperform.comparison.summary import interval_facts
from outperform.decision import Rope, check_prob
from outperform.errors import DataError, UsageError
from outperform.outcomes import Outcomes
from outperform.posterior import child, seed_sequence

_SPLIT_STREAM = 2**31 + 1


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class CrossComparison(BlockedComparison):
    """Two estimators compared on the same folds, paired; see :class:`BlockedComparison`.

    Parameters
    ----------
    unpaired
        The same folds as the paper compares them: as if each model had its own documents.
    outcomes
        What was seen in each fold.
    """

    verb: ClassVar[str] = "cross_compare"

    unpaired: BlockedComparison
    outcomes: tuple[Outcomes, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the draws as plain values, with a schema version."""
        other = self.unpaired
        return {
            **BlockedComparison.to_dict(self),
            "unpaired": {
                "mean": other.mean,
                "sd": other.sd,
                "hdi": interval_facts(other.hdi),
                "decision": {"name": other.decision.name, "symbol": other.decision.symbol},
                "p_h0": other.p_h0,
                "p_h1": other.p_h1,
                "accepted": other.accepted,
                "exact": other.exact,
                "n_draws": other.draws.size,
                "signature": other.signature,
            },
        }

    def _conclude(
        self,
        question: Asked,
        answered: engine.Answer,
        rope: Rope,
        seed: np.random.SeedSequence,
    ) -> CrossComparison:
        plain = Comparison._conclude(self, question, answered, rope, seed)
        paired = blocked(plain, self.folds, self.correlation)
        return _beside(paired, self.outcomes, self.correlation)


def cross_compare(
    estimator_a: Any,
    estimator_b: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    metric: Any = "f1",
    scheme: Any = None,
    correlation: Any = "averaged",
    rope: Any = None,
    hdi_prob: float = 0.95,
    prior: Any = None,
    model: str | None = None,
    n_draws: int = 20_000,
    random_state: Seed = None,
    n_jobs: int | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    names: tuple[str, str] = ("A", "B"),
    groups: Any = None,
    progress: Progress | None = None,
) -> CrossComparison:
    """Compare two estimators, or taggers, by m×2 blocked cross-validation.

    Clones of both are trained on each half and tested on the other. What both
    predicted for the same documents makes one paired table; every document was
    counted m times, so the table is scaled by w. ``unpaired`` holds the paper's
    comparison of the same folds.

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
        Of tags: ``"IOB2"`` and so on, see :mod:`outperform.schemes`.
    correlation
        Of the folds, as for :func:`bcv_compare`.
    rope
        The region of practical equivalence: a half-width or a pair. ±0.01 by default.
    hdi_prob
        The mass of the interval.
    prior, model
        Of the paired comparison, as for :func:`compare`.
    n_draws
        How many draws.
    random_state
        Of the draws, and of the folds where ``cv`` is left out.
    n_jobs
        How many trainings at once; None uses all cores.
    labels
        The classes averaged over.
    pos_label
        The positive class of a binary metric.
    names
        What to call A and B.
    groups
        Which items belong together: they stay in one half, and each group rather than each
        item gets one weight.
    progress
        Called with how many trainings are done and how many there are.

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
    >>> c.folds.m, c.sd < c.unpaired.sd
    (3, True)
    """
    names = check_names(names)
    for name, estimator in zip(names, (estimator_a, estimator_b), strict=True):
        check_estimator(estimator, name)
    check_jobs(n_jobs, progress)
    n, seed = _size(X, y), seed_sequence(random_state)
    treatment = Correlation.from_param(correlation)
    splitter = BlockedTwoFold(3, random_state=child(seed, _SPLIT_STREAM)) if cv is None else cv
    splits = _splits(splitter, X, y, groups)
    m = check_blocked(splits, n, tolerance=_tolerance(groups, splitter))
    predicted = predict_folds(
        (estimator_a, estimator_b), X, y, splits, n_jobs=n_jobs, progress=progress
    )
    outcomes = _count(y, splits, predicted, names=names, scheme=scheme, groups=groups)
    question = ask(
        reduce(add, outcomes),
        metric=metric,
        model=model,
        default_model="unit",
        prior=prior,
        paired=True,
        labels=labels,
        pos_label=pos_label,
        counting=treatment.counting(m),
    )
    _refuse_functions(question)
    plain = answer_question(
        question,
        rope=rope_for(question, rope),
        prob=check_prob(hdi_prob),
        n_draws=n_draws,
        seed=seed,
        n_jobs=None,
        verb="cross_compare",
    )
    return _beside(blocked(plain, _folds(question, outcomes), treatment), outcomes, treatment)


def _size(x: Any, y: Any) -> int:
    n, n_y = size_of(x, "X"), size_of(y, "y")
    if n != n_y:
        raise DataError(f"X has {n} items and y has {n_y}; they must be the same items")
    return n


def _splits(cv: Any, x: Any, y: Any, groups: Any) -> list[tuple[Any, Any]]:
    if isinstance(cv, (str, bytes, type)) or not hasattr(cv, "split"):
        brief = isinstance(cv, (int, np.integer, str, type))
        came = repr(cv) if brief else f"a {type(cv).__name__}"
        raise UsageError(f"cv must be a splitter such as op.BlockedTwoFold(3); got {came}")
    return list(cv.split(x, y, groups))


def _tolerance(groups: Any, cv: Any) -> float | None:
    """Let halves and shared parts differ by the largest group, which cannot be split."""
    if groups is None:
        return None
    if isinstance(cv, BlockedTwoFold):
        return float("inf")  # it has made them as equal as the groups allow
    return float(np.unique(np.asarray(groups), return_counts=True)[1].max())


def _count(
    y: Any,
    splits: Sequence[tuple[Any, Any]],
    predicted: Sequence[Sequence[Any]],
    *,
    names: tuple[str, str],
    scheme: Any,
    groups: Any,
) -> tuple[Outcomes, ...]:
    found = []
    for fold, (_, test) in enumerate(splits):
        truth = take(y, test)
        answers = {name: predicted[model][fold] for model, name in enumerate(names)}
        own = None if groups is None else take(groups, test)
        if scheme is None:
            found.append(Outcomes.from_labels(truth, answers, groups=own))
        else:
            found.append(Outcomes.from_tags(truth, answers, scheme=scheme, groups=own))
    labels = reduce(add, found).labels
    return tuple(one.with_labels(labels) for one in found)


def _folds(question: Question, outcomes: Sequence[Outcomes]) -> Folds:
    return folds_of_outcomes([one.with_labels(question.seen.labels) for one in outcomes])


def _refuse_functions(question: Question) -> None:
    if question.metric.needs == "confusion":
        raise UsageError(
            f"{question.metric.name} reads the whole confusion matrix, of which folds keep the "
            "margins only; use one of the named metrics"
        )


def _beside(
    paired: BlockedComparison, outcomes: tuple[Outcomes, ...], correlation: Correlation
) -> CrossComparison:
    """Put the paper's unpaired comparison of the same folds beside the paired one."""
    return CrossComparison(
        **{field.name: getattr(paired, field.name) for field in fields(BlockedComparison)},
        unpaired=_unpaired(paired, correlation),
        outcomes=outcomes,
    )


def _unpaired(paired: BlockedComparison, correlation: Correlation) -> BlockedComparison:
    question = paired.counted
    settings: dict[str, Any] = {
        "rope": paired.rope,
        "prob": paired.hdi.prob,
        "n_draws": paired.draws.size,
        "seed": child(paired.seed, _SPLIT_STREAM + 1),
        "n_jobs": None,
    }
    triples = paired.folds.triples(question)
    if triples is not None:
        return compare_counts(
            dict(zip(paired.names, triples, strict=True)),
            metric=question.measured,
            correlation=correlation,
            prior=None,
            **settings,
        )
    alone = ask(
        question.seen,
        metric=question.metric,
        default_model="unit",
        counting=question.counting,
        **{**question.given._asdict(), "paired": False},
    )
    return blocked(
        answer_question(alone, verb="cross_compare", **settings), paired.folds, correlation
    )
