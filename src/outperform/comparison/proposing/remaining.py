"""What labels to come can still tell of a pool: never how far it is a sample itself.

With slopes g(y, a, b) of the difference by the counts of the pool and their mean ḡ_s in stratum s,
the variance that stays if the truth in every stratum is known is ``Σ N_s ḡ_s² − (Σ N_s ḡ_s)² / N``.
What is beyond it falls with the labels, as long as there are disagreements to be labelled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from outperform.comparison.question import Question
from outperform.comparison.slopes import cell_slopes


class Left(NamedTuple):
    """How many more labels tell something, and the share of the variance that stays."""

    most: int
    stays: float


def left_in_pool(question: Question, sd: float) -> Left | None:
    """Return what labels to come can tell if they are shared out as those that there are.

    None where all disagreements are labelled or none, or where the slopes are not known.
    """
    view, pool = question.view, question.view.pool
    assert pool is not None
    labelled = pool.labelled(view.tables[0], n_labels=view.n_classes).sum(axis=1)
    n_apart = labelled[pool.apart].sum()
    if n_apart == 0:
        return None
    times = pool.counts[pool.apart].astype(np.float64).sum() / n_apart
    most = int(min(labelled.sum() * times, pool.n) - labelled.sum())
    variance = _variance_of_pool(question)
    if most < 1 or variance is None:
        return None
    return Left(most, min(variance / sd**2, 1.0))


def _variance_of_pool(question: Question) -> float | None:
    """Return the variance of the difference if the truth in every stratum were known."""
    view, pool = question.view, question.view.pool
    assert pool is not None
    table = pool.weigh(view.tables[0], n_labels=view.n_classes)
    a, b = (cell_slopes(question, table, model) for model in range(2))
    if a is None or b is None or not np.isfinite(a - b).all():
        return None
    sums = np.zeros(len(pool.cells))  # of each stratum: N_s ḡ_s
    np.add.at(sums, pool.strata_of(table.cells[:, 1:]), table.counts * (a - b))
    sizes = pool.counts.astype(np.float64)
    return float((np.square(sums) / sizes).sum() - sums.sum() ** 2 / sizes.sum())
