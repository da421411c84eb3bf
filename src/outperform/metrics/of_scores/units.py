"""Which weight each document has: one of its own, or that of its group."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from outperform._typing import FloatArray, IntArray

Pick = Callable[[FloatArray], FloatArray]
"""From weights ``(n_draws, n_units)`` to those of some documents ``(n_draws, n_picked)``."""


class Units(NamedTuple):
    """What is weighed, and the weight that each document gets from it."""

    n: int
    unit: IntArray | None = None  # (n_documents,) the unit of each; None if it is its own
    times: FloatArray | None = None  # (n_documents,) how often a group holds it; None for once

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sum of the documents' values in each unit, ``(n_units,)``.

        Examples
        --------
        >>> Units(2, unit=np.array([0, 1, 0])).sums(np.array([1.0, 2.0, 3.0]))
        array([4., 2.])
        """
        times = values if self.times is None else values * self.times
        if self.unit is None:
            return times
        return np.asarray(np.bincount(self.unit, times, minlength=self.n), dtype=np.float64)

    def picker(self, documents: IntArray) -> Pick:
        """Return a function, with a buffer of its own, that reads off documents' weights.

        Examples
        --------
        >>> pick = Units(2, unit=np.array([0, 1, 0])).picker(np.array([2, 1]))
        >>> pick(np.array([[0.5, 2.0]]))
        array([[0.5, 2. ]])
        """
        places = documents if self.unit is None else self.unit[documents]
        times = None if self.times is None else self.times[documents]
        run = _as_slice(places)
        if run is not None and times is None:
            return lambda weights: weights[:, run]
        buffer = Buffer(len(places))

        def pick(weights: FloatArray) -> FloatArray:
            found = buffer.rows(len(weights))
            # The places are right; "clip" only spares the copy that "raise" would make.
            np.take(weights, places, axis=1, out=found, mode="clip")
            if times is not None:
                found *= times
            return found

        return pick


class Buffer:
    """Memory for blocks of draws that is taken once and used again."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._memory = np.zeros((0, width))

    def rows(self, length: int) -> FloatArray:
        """Return ``(length, width)`` with anything in it."""
        if len(self._memory) < length:
            self._memory = np.zeros((length, self.width))
        return self._memory[:length]


def _as_slice(places: IntArray) -> slice | None:
    """Return neighbouring places as a slice: reading these costs nothing."""
    if not len(places) or int(places[-1]) - int(places[0]) != len(places) - 1:
        return None
    return slice(int(places[0]), int(places[-1]) + 1) if (np.diff(places) == 1).all() else None
