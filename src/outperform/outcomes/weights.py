"""Weights of rows: how many documents a row stands for, or how much its document matters."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from outperform._typing import AnyArray, FloatArray
from outperform.errors import DataError, UsageError, unknown_name
from outperform.findings import Finding
from outperform.outcomes.counting import as_counts

WeightKind: TypeAlias = Literal["frequency", "importance"]


class RowWeights(NamedTuple):
    """What the weights of rows mean; at most one of the two arrays is there."""

    counts: AnyArray | None = None  # (n_rows,) how many documents each row stands for
    importance: FloatArray | None = None  # (n_rows,) how much the document of each row matters
    findings: tuple[Finding, ...] = ()


def read_weights(weights: Any, kind: WeightKind | None, n_rows: int) -> RowWeights:
    """Read weights as what they are said to be; else whole numbers are frequencies.

    Examples
    --------
    >>> read_weights([2, 0, 1], None, 3).counts.tolist()
    [2, 0, 1]
    >>> read_weights([2, 0.5, 1], None, 3).importance.tolist()
    [2.0, 0.5, 1.0]
    """
    if kind is not None and kind not in get_args(WeightKind):
        raise UsageError(unknown_name("weight_kind", kind, get_args(WeightKind)))
    if weights is None:
        if kind is not None:
            raise UsageError(f"weight_kind is {kind!r}, but there are no weights; sample_weight=")
        return RowWeights()
    numbers = _numbers(weights, n_rows)
    if kind is None:
        # From 2⁵³ on every float is whole, whatever it was meant to be.
        rounded = np.asarray(weights).dtype.kind == "f" and numbers.max() >= 2.0**53
        whole = not rounded and bool((numbers == np.floor(numbers)).all())
        kind = "frequency" if whole else "importance"
    if kind == "importance":
        return RowWeights(importance=numbers)
    counts = as_counts(weights, name="sample_weight")
    return RowWeights(counts=counts, findings=(FREQUENCY,))


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
        raise DataError("sample_weight is zero everywhere; at least one document must count")
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


FREQUENCY = Finding(
    "frequency_weights",
    "note",
    "The weights are frequencies: a row of weight w is w documents, and all of them are evidence. "
    "Were they importance weights, a row would stay one document and the interval would be wider; "
    "say so with weight_kind='importance'.",
)


def importance_finding(n_effective: float, n: int, unit: str) -> Finding:
    """Return what importance weights do: another target, fewer effective documents."""
    return Finding(
        "importance_weights",
        "note",
        "The metric is that of the weighted population; the effective sample size (Σw)²/Σw² is "
        f"{n_effective:,.1f} of {n:,} {unit}, and the interval is the wider for it. Were the "
        "weights frequencies, a row of weight w would be w documents: whole numbers, with "
        "weight_kind='frequency'.",
    )
