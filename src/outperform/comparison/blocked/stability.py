"""Do the repetitions differ more than the effective counts imply?

Every repetition tests every document once, so the noise of the test documents
is the same in all of them; what differs between repetitions is what training on
other halves did. With counts ``o`` of tp, fp and fn in repetition j, differences
of two models ``d`` where there are two, and means over the repetitions as bars,

    D = 1/(m − 1) · Σ_c Σ_j (d_jc − d̄_c)² / (ōᴬ_c + ōᴮ_c).

tp + fn is the same in every repetition, so the columns tp and fn together are the
binomial chi-square of tp, and fp is Poisson: independent repetitions would give
2 on average. The correlations that the effective counts assume multiply the variance of
a repetition by ``1 + ρ₁ − 2ρ₂``, one half on average whatever m is, so D = 1 is what the
formula takes for granted. Several classes are averaged over.
"""

from __future__ import annotations

import numpy as np

from outperform._typing import FloatArray
from outperform.comparison.blocked.correlation import Correlation
from outperform.comparison.blocked.folds import Folds
from outperform.comparison.question import Question
from outperform.findings import Finding


def stability_findings(
    question: Question, folds: Folds, correlation: Correlation
) -> tuple[Finding, ...]:
    """Return ``unstable_learner`` where the repetitions differ more than they should."""
    if folds.m < 2:
        return (
            Finding(
                "stability_unchecked",
                "warning",
                "One repetition cannot show whether the learners are stable; if training on "
                "another half would change them much, the interval is too narrow. Use m = 3.",
            ),
        )
    spread = spread_of_repetitions(folds.repetition_counts(question))
    # Whoever takes the counts to be worth less has allowed for more spread.
    limit = Correlation().worth(folds.m) / correlation.worth(folds.m)
    if spread <= limit:
        return ()
    verdict = ", so ≫ and ≪ are withheld" if len(folds.hits) == 2 else ""
    return (
        Finding(
            "unstable_learner",
            "serious",
            f"The repetitions differ by {spread / limit:.1f} times what the effective counts "
            "allow: training on another half changes what is predicted. The interval leaves that "
            f"out{verdict}.",
        ),
    )


def spread_of_repetitions(counts: FloatArray) -> float:
    """Return D of one model or of the difference of two, 1 being what the formula implies.

    ``counts  # (n_models, n_classes, 3, m)`` are tp, fp and fn.

    Examples
    --------
    >>> steady = np.array([[[[80, 80, 80], [10, 10, 10], [20, 20, 20]]]])
    >>> spread_of_repetitions(steady)
    0.0
    """
    difference = counts[0] - counts[1] if len(counts) == 2 else counts[0]
    expected = counts.mean(axis=3).sum(axis=0)  # (n_classes, 3)
    squares = np.square(difference - difference.mean(axis=2, keepdims=True)).sum(axis=2)
    seen = expected > 0
    n_classes, m = max(int(seen.any(axis=1).sum()), 1), counts.shape[3]
    return float((squares[seen] / expected[seen]).sum() / (n_classes * (m - 1)))
