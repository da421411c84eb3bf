"""The Bayes test of blocked cross-validation, from the counts of the folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from outperform import metrics
from outperform._typing import AnyArray, Seed
from outperform.comparison import engine
from outperform.comparison.blocked.correlation import Correlation
from outperform.comparison.blocked.folds import (
    SCORES_OF_COUNTS,
    Folds,
    check_same_gold,
    folds_of_counts,
    read_folds,
    repeated_rows,
)
from outperform.comparison.blocked.result import (
    BlockedComparison,
    BlockedEstimate,
    blocked,
    blocked_estimate,
)
from outperform.comparison.comparing import answer_question, check_names
from outperform.comparison.estimating import answer_one
from outperform.comparison.question import Question, ask
from outperform.decision import Rope, check_prob
from outperform.errors import UsageError
from outperform.findings import Finding
from outperform.metrics import Metric
from outperform.outcomes import Outcomes
from outperform.posterior import seed_sequence


def bcv_compare(
    folds_a: Any,
    folds_b: Any,
    *,
    metric: Any = "f1",
    counts: str = "tp_fp_fn",
    correlation: Any = "averaged",
    rope: Any = None,
    hdi_prob: float = 0.95,
    prior: Any = None,
    n_draws: int = 20_000,
    random_state: Seed = None,
    names: tuple[str, str] = ("A", "B"),
) -> BlockedComparison:
    """Compare two models by the counts of m×2 blocked cross-validation.

    Every document is tested once in each of m repetitions, so the summed counts
    are worth ``w`` times as many independent ones. Precision and recall then are
    Beta distributed and F1 is ``2 / (2 + X)`` with ``X`` beta-prime, for each model
    by itself; the difference comes from quadrature, without draws. The verdict is
    that of interval and ROPE; the paper's probabilities are ``p_h0`` and ``p_h1``
    (H₁: B is better).

    Parameters
    ----------
    folds_a, folds_b
        The counts of A and of B: two rows for each repetition, ``(S₁,T₁), (T₁,S₁), (S₂,T₂), …``.
    metric
        ``"precision"``, ``"recall"``, ``"f1"``, ``"jaccard"`` or another F-beta.
    counts
        What the columns are: ``"tp_fp_fn"`` or ``"gold_predicted_correct"``.
    correlation
        Of the folds: ``"averaged"`` (the paper's w), ``"integrated"`` (a mixture over ρ₁ and ρ₂),
        ``"full"`` (w = 1/2m), a pair ``(rho1, rho2)``, or a :class:`Correlation`.
    rope
        The region of practical equivalence: a half-width or a pair. ±0.01 by default.
    hdi_prob
        The mass of the interval.
    prior
        λ, the prior count of true positives, false positives and false negatives; 1 by default.
    n_draws
        How many draws to keep beside the exact numbers.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    names
        What to call A and B.

    References
    ----------
    Wang and Li, "Bayes Test of Precision, Recall, and F1 Measure for Comparison of Two
    Natural Language Processing Models", ACL 2019.

    Examples
    --------
    >>> import outperform as op
    >>> a = [[80, 10, 20], [78, 12, 22], [81, 9, 19], [77, 11, 23], [80, 10, 20], [79, 12, 21]]
    >>> b = [[82, 11, 18], [80, 12, 20], [83, 10, 17], [79, 12, 21], [84, 9, 16], [80, 11, 20]]
    >>> c = op.bcv_compare(a, b, metric="f1", rope=0.01)
    >>> print(round(c.p_h1, 4), c.accepted, c.decision.symbol)
    0.6751 H1 <
    """
    names = check_names(names)
    read = [
        read_folds(rows, counts=counts, name=name)
        for rows, name in zip((folds_a, folds_b), names, strict=True)
    ]
    check_same_gold(read[0], read[1], names)
    asked, counted = metrics.get(metric), dict(zip(names, read, strict=True))
    return compare_counts(
        counted,
        metric=asked,
        correlation=Correlation.from_param(correlation),
        prior=prior,
        rope=Rope.from_param(rope, bounds=asked.bounds),
        prob=check_prob(hdi_prob),
        n_draws=n_draws,
        seed=seed_sequence(random_state),
        n_jobs=None,
        doubts=_repeated(counted),
    )


def compare_counts(
    counted: Mapping[str, AnyArray],
    *,
    metric: Metric,
    correlation: Correlation,
    prior: Any,
    rope: Rope,
    prob: float,
    n_draws: Any,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    doubts: tuple[Finding, ...] = (),
) -> BlockedComparison:
    """Compare two models by tp, fp and fn of each fold, ``(3, 2m)``, each on its own."""
    folds = folds_of_counts(np.stack(list(counted.values())))
    plain = answer_question(
        _ask(counted, metric, prior, correlation, folds, doubts),
        rope=rope,
        prob=prob,
        n_draws=n_draws,
        seed=seed,
        n_jobs=n_jobs,
        verb="bcv_compare",
    )
    return blocked(plain, folds, correlation)


def bcv_estimate(
    folds: Any,
    *,
    metric: Any = "f1",
    counts: str = "tp_fp_fn",
    correlation: Any = "averaged",
    hdi_prob: float = 0.95,
    prior: Any = None,
    n_draws: int = 20_000,
    random_state: Seed = None,
    name: str = "A",
) -> BlockedEstimate:
    """Estimate one model's metric from the counts of m×2 blocked cross-validation.

    Parameters
    ----------
    folds
        The counts: two rows for each repetition.
    metric
        ``"precision"``, ``"recall"``, ``"f1"``, ``"jaccard"`` or another F-beta.
    counts
        What the columns are: ``"tp_fp_fn"`` or ``"gold_predicted_correct"``.
    correlation
        Of the folds, as for :func:`bcv_compare`.
    hdi_prob
        The mass of both intervals, ``hdi`` and the equal-tailed ``eti``.
    prior
        λ, the prior count of true positives, false positives and false negatives; 1 by default.
    n_draws
        How many draws to keep beside the exact numbers.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    name
        What to call the model.

    Examples
    --------
    >>> import outperform as op
    >>> e = op.bcv_estimate([[80, 10, 20], [78, 12, 22]], metric="f1", correlation="full")
    >>> print(round(e.eti.low, 4), round(e.eti.high, 4))
    0.7616 0.8775
    """
    read = read_folds(folds, counts=counts, name=name)
    treatment, counted = Correlation.from_param(correlation), folds_of_counts(read[None])
    alone = {name: read}
    question = _ask(alone, metrics.get(metric), prior, treatment, counted, _repeated(alone))
    plain = answer_one(
        question,
        verb="bcv_estimate",
        prob=check_prob(hdi_prob),
        n_draws=engine.check_draws(n_draws),
        seed=seed_sequence(random_state),
        n_jobs=None,
    )
    return blocked_estimate(plain, counted, treatment)


def _repeated(counted: Mapping[str, AnyArray]) -> tuple[Finding, ...]:
    """Return doubts about rows that somebody may have entered twice."""
    return tuple(one for name, counts in counted.items() for one in repeated_rows(counts, name))


def _ask(
    counted: Mapping[str, AnyArray],
    asked: Metric,
    prior: Any,
    correlation: Correlation,
    folds: Folds,
    doubts: tuple[Finding, ...],
) -> Question:
    if asked.score not in SCORES_OF_COUNTS or asked.average != "binary":
        raise UsageError(
            f"counts of true positives, false positives and false negatives tell precision, "
            f"recall, f1, jaccard or another F-beta; got {asked.name!r}"
        )
    sums = {name: counts.sum(axis=1) for name, counts in counted.items()}
    question = ask(
        Outcomes.from_tp_fp_fn(sums),
        metric=asked,
        model="flat",
        default_model="flat",
        prior=prior,
        paired=False,
        labels=None,
        pos_label=None,
        counting=correlation.counting(folds.m),
    )
    # Counts of folds may be of documents or of spans; which, nobody has said.
    kept = tuple(one for one in question.findings if one.name != "independent_spans")
    return replace(question, findings=doubts + kept)
