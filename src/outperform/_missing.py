"""Missing values: None, NaN, NaT, NA and masked values."""

from __future__ import annotations

from typing import Any

import numpy as np

from outperform._typing import AnyArray


def unmasked(values: Any) -> Any:
    """Return a masked array with None for masked values, and anything else unchanged.

    NumPy drops the mask when an array is converted, so masked values would be counted.

    Examples
    --------
    >>> unmasked(np.ma.array([1, 2, 3], mask=[False, True, False])).tolist()
    [1, None, 3]
    """
    if isinstance(values, (list, tuple)) and any(value is np.ma.masked for value in values):
        return [None if value is np.ma.masked else value for value in values]
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return values.data
    plain: AnyArray = values.data.astype(object)
    plain[np.ma.getmaskarray(values)] = None
    return plain


def is_missing(value: object) -> bool:
    """Return whether a value is missing: None, NaN, NaT, NA or masked.

    Examples
    --------
    >>> from decimal import Decimal
    >>> [is_missing(v) for v in (None, float("nan"), Decimal("NaN"), np.datetime64("NaT"), 0)]
    [True, True, True, True, False]
    """
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (str, bytes, bool, int)):
        return False
    if getattr(value, "is_valid", True) is False:  # an Arrow scalar
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # arrays, and signalling NaN of decimals
        return type(value).__name__ == "Decimal"
