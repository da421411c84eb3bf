"""``compare_cv_counts`` and ``estimate_cv_counts``: comparisons and estimates from fold counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from outperform._typing import AnyArray, FloatArray, MatrixLike, Seed
from outperform.comparison.result import Comparison, answer_spec
from outperform.crossval.folds import (
    check_same_gold,
    folds_of_counts,
    read_folds,
    repeated_rows,
)
from outperform.crossval.scores import compare_cv_scores
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.decision.intervals import check_prob
from outperform.decision.rope import Rope, RopeLike
from outperform.errors import UsageError, unknown_name
from outperform.findings import Finding, finding
from outperform.inference import engine
from outperform.inference.engine import Answer
from outperform.inference.folds import SCORES_OF_COUNTS, Correlation, CorrelationLike, Folds
from outperform.inference.spec import LabelSpec, Spec, check_names, counted, make_spec
from outperform.inference.spelling import AsRight
from outperform.inference.suite import ScoreSuite, shared_question
from outperform.metrics.metric import Metric, MetricLike
from outperform.metrics.registry import get_labels
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import seed_sequence
from outperform.results.base import withhold
from outperform.results.details import FoldDetails
from outperform.results.estimate import Estimate, answer_one
from outperform.wrong_calls import explained


def stability_findings(
    spec: LabelSpec, folds: Folds, correlation: Correlation
) -> tuple[Finding, ...]:
    """Return ``unstable_learner`` if repetitions vary more than the correlation implies."""
    if folds.m < 2:
        return (finding("stability_unchecked"),)
    spread = spread_of_repetitions(folds.repetition_counts(spec))
    # With a correlation that makes the counts worth less, a larger spread is expected.
    limit = Correlation().worth(folds.m) / correlation.worth(folds.m)
    if spread <= limit:
        return ()
    is_comparison = len(folds.hits) == 2
    return (
        finding(
            "unstable_learner/comparison" if is_comparison else "unstable_learner/estimate",
            times=spread / limit,
        ),
    )


def spread_of_repetitions(counts: FloatArray) -> float:
    """Return D of one model or of the difference between two; the formula implies D = 1.

    ``counts # (n_models, n_classes, 3, m)`` contains tp, fp and fn.

    Examples
    --------
    >>> steady = np.array([[[[80, 80, 80], [10, 10, 10], [20, 20, 20]]]])
    >>> spread_of_repetitions(steady)
    0.0
    """
    difference: FloatArray = counts[0] - counts[1] if len(counts) == 2 else counts[0]
    expected: FloatArray = counts.mean(axis=3).sum(axis=0)  # (n_classes, 3)
    squares: FloatArray = np.square(difference - difference.mean(axis=2, keepdims=True)).sum(axis=2)
    occurring = expected > 0
    n_classes, m = max(int(occurring.any(axis=1).sum()), 1), counts.shape[3]
    return float((squares[occurring] / expected[occurring]).sum() / (n_classes * (m - 1)))


class FoldComparison(Comparison):
    """Comparison from fold counts; derived comparisons use the same folds."""

    __slots__ = ()
    details: FoldDetails

    @property
    def _folds(self) -> FoldDetails:
        return self.details

    def _conclude(
        self,
        spec: Spec,
        answer: Answer,
        *,
        rope: Rope,
        seed: np.random.SeedSequence,
        as_right: tuple[AsRight, ...] | None = None,
    ) -> Comparison:
        # The spread of the folds does not depend on the metric.
        spec = replace(spec, findings=self.spec.findings)
        plain = Comparison._conclude(self, spec, answer, rope=rope, seed=seed, as_right=as_right)
        return blocked(plain, self.details.folds, self.details.correlation)


def blocked(plain: Comparison, folds: Folds, correlation: Correlation) -> Comparison:
    """Add the folds to a comparison, and withhold ≫ and ≪ if the folds vary too much."""
    unstable = stability_findings(counted(plain.spec), folds, correlation)
    return FoldComparison._from(
        plain,
        decision=withhold(plain.decision, plain.hdi, unstable),
        findings=(*unstable, *plain.findings, finding("likelier_hypothesis")),
        details=FoldDetails(folds=folds, correlation=correlation),
    )


def blocked_estimate(plain: Estimate, folds: Folds, correlation: Correlation) -> Estimate:
    """Add the folds to an estimate."""
    unstable = stability_findings(counted(plain.spec), folds, correlation)
    return replace(
        plain,
        findings=(*unstable, *plain.findings),
        details=FoldDetails(folds=folds, correlation=correlation),
    )


@explained
def compare_cv_counts(
    folds_a: MatrixLike,
    folds_b: MatrixLike,
    *,
    metric: MetricLike = "f1",
    counts: str = "tp_fp_fn",
    correlation: CorrelationLike = "averaged",
    rope: RopeLike | None = None,
    hdi_prob: float = 0.95,
    prior: PriorLike | None = None,
    n_draws: int | None = None,
    random_state: Seed = None,
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:
    """Compare two models from the fold counts of m×2 blocked cross-validation.

    Every item is tested once in each of m repetitions, so the summed counts are worth ``w`` times
    as many independent counts. For each model, precision and recall are then Beta distributed, and
    F1 is ``2 / (2 + X)`` with a beta-prime ``X``. The difference is computed by quadrature, without
    draws. The decision comes from the HDI and the ROPE. The paper's probabilities are ``p_h0`` and
    ``p_h1`` (H₁: B is better).

    Parameters
    ----------
    folds_a, folds_b
        Counts of A and B, two rows per repetition: ``(S₁,T₁), (T₁,S₁), (S₂,T₂), …``.
    metric
        ``"precision"``, ``"recall"``, ``"f1"``, ``"jaccard"`` or another F-beta.
    counts
        Meaning of the columns: ``"tp_fp_fn"`` or ``"gold_predicted_correct"``.
    correlation
        Correlation of the folds: ``"averaged"`` (the paper's w), ``"integrated"`` (a mixture over
        ρ₁ and ρ₂), ``"full"`` (w = 1/2m), a pair ``(rho1, rho2)``, or a :class:`Correlation`.
    rope
        Region of practical equivalence: a half-width or a pair. Default: ±0.01.
    hdi_prob
        Probability mass of the HDI.
    prior
        λ, the prior count of true positives, false positives and false negatives: a number,
        ``"uniform"`` (1, the default), ``"jeffreys"`` (one half), ``"unit"`` or ``"bootstrap"``.
    n_draws
        Number of draws to store in addition to the exact results.
    random_state
        Integer, SeedSequence, Generator or RandomState. None chooses a random seed.
    names
        Display names of A and B.

    References
    ----------
    Wang and Li, "Bayes Test of Precision, Recall, and F1 Measure for Comparison of Two
    Natural Language Processing Models", ACL 2019.

    Examples
    --------
    >>> import outperform as op
    >>> a = [[80, 10, 20], [78, 12, 22], [81, 9, 19], [77, 11, 23], [80, 10, 20], [79, 12, 21]]
    >>> b = [[82, 11, 18], [80, 12, 20], [83, 10, 17], [79, 12, 21], [84, 9, 16], [80, 11, 20]]
    >>> c = op.compare_cv_counts(a, b, metric="f1", rope=0.01)
    >>> print(round(c.p_h1, 4), c.accepted, c.decision.symbol)
    0.6751 H1 ?
    """
    names = check_names(names)
    read = [
        read_folds(rows, counts=counts, name=name)
        for rows, name in zip((folds_a, folds_b), names, strict=True)
    ]
    check_same_gold(read[0], read[1], names)
    measured, counted = get_labels(metric), dict(zip(names, read, strict=True))
    return compare_counts(
        counted,
        metric=measured,
        correlation=Correlation.from_param(correlation),
        prior=prior,
        rope=Rope.from_param(rope, bounds=measured.bounds),
        prob=check_prob(hdi_prob),
        n_draws=n_draws,
        seed=seed_sequence(random_state),
        n_jobs=-1,
        findings=_repeated(counted),
    )


def compare_counts(
    counted: Mapping[str, AnyArray],
    *,
    metric: Metric,
    correlation: Correlation,
    prior: PriorLike | None,
    rope: Rope,
    prob: float,
    n_draws: Any,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    findings: tuple[Finding, ...] = (),
) -> Comparison:
    """Compare two models, unpaired, from each fold's tp, fp and fn, ``(3, 2m)``."""
    folds = folds_of_counts(np.stack(list(counted.values())))
    plain = answer_spec(
        _ask(counted, metric, prior, correlation, folds, findings),
        rope=rope,
        prob=prob,
        n_draws=n_draws,
        seed=seed,
        n_jobs=n_jobs,
        verb="compare_cv_counts",
    )
    return blocked(plain, folds, correlation)


@explained
def estimate_cv_counts(
    folds: MatrixLike,
    *,
    metric: MetricLike = "f1",
    counts: str = "tp_fp_fn",
    correlation: CorrelationLike = "averaged",
    hdi_prob: float = 0.95,
    prior: PriorLike | None = None,
    n_draws: int | None = None,
    random_state: Seed = None,
    name: str = "A",
) -> Estimate:
    """Estimate one model's metric from the counts of m×2 blocked cross-validation.

    Parameters
    ----------
    folds
        Counts, two rows per repetition.
    metric
        ``"precision"``, ``"recall"``, ``"f1"``, ``"jaccard"`` or another F-beta.
    counts
        Meaning of the columns: ``"tp_fp_fn"`` or ``"gold_predicted_correct"``.
    correlation
        Correlation of the folds, as for :func:`compare_cv_counts`.
    hdi_prob
        Probability mass of both intervals, ``hdi`` and the equal-tailed ``eti``.
    prior
        λ, the prior count of true positives, false positives and false negatives: a number,
        ``"uniform"`` (1, the default), ``"jeffreys"`` (one half), ``"unit"`` or ``"bootstrap"``.
    n_draws
        Number of draws to store in addition to the exact results.
    random_state
        Integer, SeedSequence, Generator or RandomState. None chooses a random seed.
    name
        Display name of the model.

    Examples
    --------
    >>> import outperform as op
    >>> e = op.estimate_cv_counts([[80, 10, 20], [78, 12, 22]], metric="f1", correlation="full")
    >>> print(round(e.eti.low, 4), round(e.eti.high, 4))
    0.7616 0.8775
    """
    read = read_folds(folds, counts=counts, name=name)
    treatment, counted = Correlation.from_param(correlation), folds_of_counts(read[None])
    alone = {name: read}
    spec = _ask(alone, get_labels(metric), prior, treatment, counted, _repeated(alone))
    plain = answer_one(
        spec,
        verb="estimate_cv_counts",
        prob=check_prob(hdi_prob),
        n_draws=engine.check_draws(n_draws),
        seed=seed_sequence(random_state),
        n_jobs=-1,
    )
    return blocked_estimate(plain, counted, treatment)


def _repeated(counted: Mapping[str, AnyArray]) -> tuple[Finding, ...]:
    """Return findings about rows that were possibly entered twice."""
    return tuple(
        finding for name, counts in counted.items() for finding in repeated_rows(counts, name)
    )


def _ask(
    counted: Mapping[str, AnyArray],
    metric: Metric,
    prior: PriorLike | None,
    correlation: Correlation,
    folds: Folds,
    findings: tuple[Finding, ...],
) -> LabelSpec:
    if metric.score not in SCORES_OF_COUNTS or metric.average != "binary":
        raise UsageError(
            "fold counts of tp, fp and fn need the metric precision, recall, f1, jaccard or "
            f"another F-beta; got {metric.name!r}"
        )
    sums = {name: counts.sum(axis=1) for name, counts in counted.items()}
    spec = make_spec(
        Outcomes.from_tp_fp_fn(sums),
        metric=metric,
        prior="uniform" if prior is None else prior,
        paired=False,
        counting=correlation.counting(folds.m),
    )
    # Fold counts do not show whether they count items or spans.
    others = tuple(finding for finding in spec.findings if finding.name != "independent_spans")
    return replace(spec, findings=findings + others)


def compare_score_suite(suite: ScoreSuite, a: object, b: object, **kwargs: Any) -> Comparison:
    """Compare two models of a suite of scores, as ``compare_cv_scores`` does."""
    shared = shared_question(kwargs)
    if shared != {"prior": None, "paired": True, "pos_label": None}:
        raise UsageError(
            "fold scores use their own prior and are always paired; remove prior, "
            "paired, labels and pos_label"
        )
    for model in (a, b):
        if not isinstance(model, str) or model not in suite.models:
            raise UsageError(unknown_name("model", model, suite.models))
    of_a, of_b = (
        {
            key: task.values[suite.models.index(model)]
            for key, task in suite.tasks.items()
            if isinstance(task, Scores)  # All of them are numbers.
        }
        for model in (a, b)
    )
    settings = {name: kwargs[name] for name in ("hdi_prob", "n_draws", "random_state")}
    return compare_cv_scores(of_a, of_b, names=(str(a), str(b)), **suite.design, **settings)
