"""Values as functions of sums over units: observed values, and the influence of each unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from outperform._typing import AnyArray, BoolArray, FloatArray
from outperform.data.table import effective_size
from outperform.posterior.tails import Tail, tail_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Number of sums in memory at once while each unit is dropped in turn.
_AT_ONCE = 1 << 20
# A relative remainder this small is due to rounding.
_ROUNDING = 1e-12
# With this many effective units, the spread is estimated to within a few per cent.
_MANY = 30.0


class PlugIn(NamedTuple):
    """Values as a function of sums over units, evaluated for all units.

    Parameters
    ----------
    sums
        Sums over all units, ``(n_sums, 1)``, or over several data sets side by side. Integers may
        have any size.
    evaluate
        Function from sums ``(n_sums, k)`` to values ``(n_values, k)``; NaN if undefined.

    Examples
    --------
    >>> PlugIn(np.array([[2.0], [3.0]]), lambda sums: sums[:1] / sums[1:]).observed.round(3)
    array([[0.667]])
    """

    sums: AnyArray
    evaluate: Callable[[FloatArray], FloatArray]

    @property
    def observed(self) -> FloatArray:
        """Observed values, ``(n_values, 1)``, or those of each data set."""
        return self.evaluate(self.sums)

    def without(
        self, terms: csr_array | FloatArray, amounts: FloatArray | float = 1.0
    ) -> FloatArray:
        """Return the values if each part of the data is dropped in turn, ``(n_values, n_parts)``.

        Each part's sums are subtracted from the total, so nothing is counted again.

        Parameters
        ----------
        terms
            Contribution of each part to the sums, ``(n_sums, n_parts)``.
        amounts
            Fraction of each part to drop.

        Examples
        --------
        >>> terms = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])  # right and all, of three units
        >>> share = PlugIn(terms.sum(axis=1, keepdims=True), lambda sums: sums[:1] / sums[1:])
        >>> share.without(terms).tolist()
        [[0.5, 1.0, 0.5]]
        """
        from scipy.sparse import csc_array

        whole, columns = self.sums.astype(np.float64), csc_array(terms)
        amounts = np.broadcast_to(amounts, columns.shape[1])
        least = _ROUNDING * np.abs(whole)
        length = max(1, _AT_ONCE // max(len(whole), 1))
        parts = []
        for start in range(0, max(columns.shape[1], 1), length):
            some = slice(start, start + length)
            left = whole - columns[:, some].toarray() * amounts[some]
            left[np.abs(left) < least] = 0.0
            with np.errstate(invalid="ignore", divide="ignore"):  # without it there may be no items
                parts.append(self.evaluate(left))
        return np.concatenate(parts, axis=1)

    def influence(self, terms: csr_array | FloatArray, repeats: FloatArray) -> Influence:
        """Return the influence of each unit on each value, relative to the mean over units.

        Parameters
        ----------
        terms
            Contribution of one unit of each kind to each sum, ``(n_sums, n_kinds)``.
        repeats
            Number of units of each kind. A number below 1 means one unit with less weight.

        Examples
        --------
        >>> terms = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
        >>> share = PlugIn(terms.sum(axis=1, keepdims=True), lambda sums: sums[:1] / sums[1:])
        >>> share.influence(terms, np.ones(3)).moved.round(3).tolist()
        [[0.167, -0.333, 0.167]]
        """
        without = self.without(terms, np.minimum(repeats, 1.0))
        units = np.where(repeats > 0, np.maximum(repeats, 1.0), 0.0)
        known = ~np.isnan(without)
        sums = np.where(known, without, 0.0) @ units
        mean = sums / np.maximum(known @ units, np.finfo(np.float64).tiny)
        return Influence(mean[:, None] - without, units)


class Influence(NamedTuple):
    """Influence of each unit (an item or a group) on the value of each model.

    Parameters
    ----------
    moved
        ``(n_models, n_kinds)``; NaN if the value is undefined without the unit.
    repeats
        Number of units of each kind.
    listed
        Mask of the units that are listed one by one; the others represent many. None means all.
    """

    moved: FloatArray
    repeats: FloatArray
    listed: BoolArray | None = None

    def effective(self, models: Sequence[int] | None = None) -> float:
        """Return ``(Σ u²)² / Σ u⁴``, the effective number of units behind one model's value.

        For two models, u is the influence on their difference; for more, on their deviations.

        Examples
        --------
        >>> moved = np.array([[0.1, -0.1, 0.1, 0.0], [0.0, 0.0, 0.0, 0.0]])
        >>> round(Influence(moved, np.ones(4)).effective(), 6)
        3.0
        """
        moved = self.moved if models is None else self.moved[list(models)]
        if np.isnan(moved).any():
            return 1.0
        if len(moved) > 1:
            moved = moved - moved.mean(axis=0)
        return effective_size(np.square(moved).sum(axis=0), self.repeats)

    def tail(self, models: Sequence[int]) -> Tail | None:
        """Return the tail of the influence on a model or on a difference; None if unknown."""
        moved = self.moved[list(models)]
        if np.isnan(moved).any():
            return None
        difference = moved[0] if len(moved) == 1 else moved[0] - moved[1]
        return tail_of(difference, self.repeats, self.listed)

    def df(self, times: int = 1) -> float | None:
        """Return the spread's degrees of freedom, with units counted ``times``; None if many."""
        return known_spread(self.effective() / times)


def known_spread(n: float) -> float | None:
    """Return the degrees of freedom of a spread estimated from n equal units; None if n is large.

    Examples
    --------
    >>> known_spread(12.5), known_spread(200.0)
    (12.5, None)
    """
    return max(n, 1.0) if 0 < n < _MANY else None
