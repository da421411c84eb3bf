"""Metrics of sums as functions of terms that were added up where the rows are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import FloatArray
from outperform.metrics import sums
from outperform.metrics.metric import Basis, Combine, Metric, Sums, Terms
from outperform.metrics.sums import Pinball

Row: TypeAlias = Mapping[str, float]
"""Coefficients of stored terms; a metric's summand is their linear combination."""

_ROWS: dict[tuple[str, Terms | None], tuple[Row, ...]] = {
    ("grade", None): ({"value": 1.0},),
    ("statistics", sums.MSE.basis.terms): ({"square": 1.0},),
    ("statistics", sums.MAE.basis.terms): ({"absolute": 1.0},),
    ("statistics", sums.POISSON.basis.terms): ({"deviance": 1.0},),
    ("statistics", sums.R2.basis.terms): (
        {"residual": 1.0},
        {"square": 1.0},
        {"target": 1.0},
        {"target square": 1.0},
    ),
    # With the prediction p = y − r: p² = y² − 2yr + r², and yp = y² − yr.
    ("statistics", sums.CORRELATION.basis.terms): (
        {"target": 1.0},
        {"target": 1.0, "residual": -1.0},
        {"target square": 1.0},
        {"target square": 1.0, "product": -2.0, "square": 1.0},
        {"target square": 1.0, "product": -1.0},
    ),
}


def stored_rows(metric: Metric) -> tuple[Row, ...] | None:
    """Return a metric's summands as combinations of stored terms; None if they are not stored.

    Examples
    --------
    >>> from outperform import metrics
    >>> stored_rows(metrics.get("rmse"))
    ({'square': 1.0},)
    """
    how = metric.how
    if not isinstance(how, Sums) or how.own or how.of_data is not None:
        return None
    if isinstance(how.basis.terms, Pinball):
        # max(αr, (α − 1)r) = |r|/2 + (α − ½)r
        return ({"absolute": 0.5, "residual": how.basis.terms.alpha - 0.5},)
    if how.basis.reads == "statistics" and how.basis.terms is None:
        return None
    return _ROWS.get((how.basis.reads, how.basis.terms))


@dataclass(frozen=True, slots=True)
class Combined:
    """Linear combinations of the terms of a unit; the last is its number of rows."""

    matrix: tuple[tuple[float, ...], ...]

    def __call__(self, units: FloatArray) -> FloatArray:
        """Return ``(n_units, n_summands)`` from ``(n_units, n_terms)``."""
        return np.asarray(units @ np.array(self.matrix).T)


@dataclass(frozen=True, slots=True)
class PerRow:
    """Function of means over rows, from means over units of sums and of the number of rows."""

    combine: Combine

    def __call__(self, means: FloatArray) -> ArrayLike:
        """Return one value per draw."""
        return self.combine(means[:-1] / means[-1:])


def of_terms(
    metric: Metric, rows: tuple[Row, ...], terms: tuple[str, ...], origin: float
) -> Metric:
    """Return the same metric as a function of stored terms, whose last is the number of rows."""
    assert isinstance(metric.how, Sums)
    matrix = [[row.get(term, 0.0) for term in terms] for row in rows]
    for row, values in zip(rows, matrix, strict=True):
        values[-1] += origin * row.get("value", 0.0)
    matrix.append([0.0] * (len(terms) - 1) + [1.0])
    basis = Basis(names=terms, terms=Combined(tuple(map(tuple, matrix))))
    combine = PerRow(metric.how.combine)
    return replace(metric, how=replace(metric.how, basis=basis, combine=combine))
