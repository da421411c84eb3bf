"""Users' own metrics: functions of a confusion array, called and checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from outperform._typing import AnyArray, FloatArray
from outperform.errors import UsageError

ConfusionFunction: TypeAlias = Callable[[FloatArray], Any]


def call_each(function: ConfusionFunction, name: str, confusion: FloatArray) -> FloatArray:
    """Call the function once per table; it returns one number.

    Examples
    --------
    >>> call_each(np.trace, "trace", np.ones((2, 2, 3)))
    array([2., 2., 2.])
    """
    tables = confusion.reshape(*confusion.shape[:2], -1)
    values = np.empty(tables.shape[2])
    for i in range(len(values)):
        # A copy, so that a function that changes its argument harms nobody.
        answer = np.asarray(function(tables[:, :, i].copy()))
        if answer.ndim or answer.dtype.kind not in "biuf":
            raise UsageError(f"{_asked(name)} one number; it returned {_shown(answer)}")
        values[i] = answer
    _refuse_nan(name, values)
    return values.reshape(confusion.shape[2:])


def call_once(function: ConfusionFunction, name: str, confusion: FloatArray) -> FloatArray:
    """Call the function on all tables at once; it returns one number for each.

    Examples
    --------
    >>> call_once(lambda c: c[0, 0] + c[1, 1], "trace", np.ones((2, 2, 3)))
    array([2., 2., 2.])
    """
    tables = confusion.reshape(*confusion.shape[:2], -1).view()
    tables.flags.writeable = False
    answer = np.asarray(function(tables))
    if answer.shape != tables.shape[2:] or answer.dtype.kind not in "biuf":
        raise UsageError(
            f"{_asked(name)} an array of shape ({tables.shape[2]},), one number for each table "
            f"of its argument {tables.shape}, because it was declared vectorized; "
            f"it returned {_shown(answer)}"
        )
    values = answer.astype(np.float64)
    _refuse_nan(name, values)
    return values.reshape(confusion.shape[2:])


def check_bounds(name: str, values: FloatArray, bounds: tuple[float, float]) -> None:
    """Refuse values that lie outside the bounds by more than rounding."""
    low, high = bounds
    slack = 1e-9
    outside = (values < low - slack) | (values > high + slack)
    if np.any(outside):
        raise UsageError(
            f"{_asked(name)} numbers within its bounds ({low}, {high}); "
            f"it returned {float(values[outside].flat[0])!r}; widen bounds= or mend the function"
        )


def _asked(name: str) -> str:
    return f"the metric function {name!r} must return"


def _shown(answer: AnyArray) -> str:
    if answer.ndim:
        return f"an array of shape {answer.shape} and type {answer.dtype}"
    return f"{answer.item()!r}"


def _refuse_nan(name: str, values: FloatArray) -> None:
    n_nan = int(np.count_nonzero(np.isnan(values)))
    if n_nan:
        raise UsageError(
            f"{_asked(name)} a number for every table; it returned NaN for {n_nan} of "
            f"{values.size}; decide in the function what 0/0 is, for instance 0.0"
        )
