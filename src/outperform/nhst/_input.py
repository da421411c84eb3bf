"""Checks of the counts and scores that the tests take."""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import FloatArray
from outperform.errors import DataError


def as_count(value: int, name: str) -> int:
    """Return a whole number of documents as a Python integer.

    Examples
    --------
    >>> as_count(np.int64(3), "n")
    3
    """
    try:
        count = operator.index(value)
    except TypeError:
        raise DataError(
            f"{name} must be a whole number, got {value!r}; "
            "these tests count documents and have no weighted form"
        ) from None
    if count < 0:
        raise DataError(f"{name} must not be negative, got {count}")
    return count


def as_scores(values: ArrayLike, name: str) -> FloatArray:
    """Return a line of finite numbers.

    Examples
    --------
    >>> as_scores([0.5, 1], "scores_a")
    array([0.5, 1. ])
    """
    scores = as_finite(values, name)
    if scores.ndim != 1:
        raise DataError(
            f"{name} must have one dimension, got shape {scores.shape}; flatten it with .ravel()"
        )
    return scores


def as_finite(values: ArrayLike, name: str) -> FloatArray:
    """Return an array of finite numbers of any shape.

    Examples
    --------
    >>> as_finite([[0, 1]], "differences").shape
    (1, 2)
    """
    try:
        given = np.asarray(values)
        # Text that looks like numbers is a mistake in the caller's data, not a score.
        if given.dtype.kind not in "iufO":
            raise TypeError(f"got dtype {given.dtype}")
        numbers = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be an array of numbers: {error}") from None
    if not np.isfinite(numbers).all():
        bad = int((~np.isfinite(numbers)).sum())
        raise DataError(
            f"{name} must be finite, got {bad} of {numbers.size} that are not; "
            "leave out, for A and B alike, what has no score"
        )
    return numbers
