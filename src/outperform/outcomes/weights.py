"""Weights of rows: how much the item of each row matters."""

from __future__ import annotations

from typing import Any

import numpy as np

from outperform._typing import FloatArray
from outperform.errors import DataError
from outperform.findings import Finding


def read_weights(weights: Any, n_rows: int) -> FloatArray | None:
    """Return how much the item of each row matters, ``(n_rows,)``; None where all matter alike.

    Whole numbers are read like any others; rows that stand for several items are counts.

    Examples
    --------
    >>> read_weights([2, 0, 1], 3).tolist()
    [2.0, 0.0, 1.0]
    """
    return None if weights is None else _numbers(weights, n_rows)


def _numbers(weights: Any, n_rows: int) -> FloatArray:
    """Return weights as finite numbers, one a row, none below and not all of them zero."""
    try:
        given = np.asarray(weights)
        numbers = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"sample_weight must be numbers, one for each row: {error}") from error
    words = given.flat if given.dtype.kind == "O" else ()
    if given.dtype.kind not in "iufO" or any(isinstance(one, (str, bool)) for one in words):
        raise DataError("sample_weight must be numbers; got text or truth values")
    if numbers.shape != (n_rows,):
        raise DataError(f"sample_weight must have {n_rows} values; got shape {numbers.shape}")
    bad = np.flatnonzero(~np.isfinite(numbers) | (numbers < 0))
    if bad.size:
        what = "not be negative" if np.isfinite(numbers[bad[0]]) else "be finite"
        raise DataError(f"sample_weight must {what}; got {given[bad[0]]} in row {bad[0]}")
    if not numbers.any():
        raise DataError("sample_weight is zero everywhere; at least one item must count")
    with np.errstate(over="ignore"):
        sum_of_all = numbers.sum()
    if not np.isfinite(sum_of_all):
        raise DataError("sample_weight adds up to more than a float holds; divide it by its mean")
    return numbers


def effective_size(sizes: FloatArray, repeats: FloatArray | float = 1.0) -> float:
    """Return ``(Σ size)² / Σ size²``: how many of equal size these are worth.

    Examples
    --------
    >>> effective_size(np.array([1.0, 1.0, 2.0]))
    2.6666666666666665
    """
    most = float(sizes.max(initial=0.0))
    if most == 0.0:
        return 0.0
    shares = sizes / most  # so that no square is lost or too large
    return float((repeats * shares).sum()) ** 2 / float((repeats * np.square(shares)).sum())


def importance_finding(n_effective: float, n: int, unit: str) -> Finding:
    """Return what importance weights do: another target, fewer effective documents."""
    return Finding(
        "importance_weights",
        "note",
        "The metric is that of the weighted population; the effective sample size (Σw)²/Σw² is "
        f"{n_effective:,.1f} of {n:,} {unit}, and the interval is the wider for it. A row that "
        "stands for several items has a count, not a weight: Outcomes.from_counts, or count= of "
        "read.",
    )
