"""Values as functions of sums over units: what is observed, and what each unit moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from outperform._typing import AnyArray, FloatArray
from outperform.data.table import effective_size
from outperform.posterior.tails import Tail, tail_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# So many sums are held at once while each unit is left out in turn.
_AT_ONCE = 1 << 20
# What is left of a sum by rounding alone.
_ROUNDING = 1e-12
# So many units that carry a value know its spread to within a few per cent.
_MANY = 30.0


class PlugIn(NamedTuple):
    """Values as a function of sums over units, at the sums of all units.

    Parameters
    ----------
    sums
        The sums of all units, ``(n_sums, 1)``, or of several data sets side by side; whole numbers
        may be of any size.
    evaluate
        From sums ``(n_sums, k)`` to values ``(n_values, k)``; NaN where there is none.

    Examples
    --------
    >>> PlugIn(np.array([[2.0], [3.0]]), lambda sums: sums[:1] / sums[1:]).observed.round(3)
    array([[0.667]])
    """

    sums: AnyArray
    evaluate: Callable[[FloatArray], FloatArray]

    @property
    def observed(self) -> FloatArray:
        """The values of the data, ``(n_values, 1)``, or of each data set."""
        return self.evaluate(self.sums)

    def without(
        self, held: csr_array | FloatArray, amounts: FloatArray | float = 1.0
    ) -> FloatArray:
        """Return the values without each of several parts of the data, ``(n_values, n_parts)``.

        The sums without a part are those of all less its own, so nothing is counted again.

        Parameters
        ----------
        held
            What each part adds to the sums, ``(n_sums, n_parts)``.
        amounts
            How much of each part is taken away.

        Examples
        --------
        >>> held = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])  # right and all, of three units
        >>> share = PlugIn(held.sum(axis=1, keepdims=True), lambda sums: sums[:1] / sums[1:])
        >>> share.without(held).tolist()
        [[0.5, 1.0, 0.5]]
        """
        from scipy.sparse import csc_array

        whole, columns = self.sums.astype(np.float64), csc_array(held)
        amounts = np.broadcast_to(amounts, columns.shape[1])
        least = _ROUNDING * np.abs(whole)
        length = max(1, _AT_ONCE // max(len(whole), 1))
        parts = []
        for start in range(0, max(columns.shape[1], 1), length):
            some = slice(start, start + length)
            left = whole - columns[:, some].toarray() * amounts[some]
            left[np.abs(left) < least] = 0.0
            with np.errstate(invalid="ignore", divide="ignore"):  # without it there may be none
                parts.append(self.evaluate(left))
        return np.concatenate(parts, axis=1)

    def influence(self, held: csr_array | FloatArray, repeats: FloatArray) -> Influence:
        """Return how far each unit moves each value: the mean without one less that without it.

        Parameters
        ----------
        held
            What one unit of each kind adds to each sum, ``(n_sums, n_kinds)``.
        repeats
            How many units there are of each kind; less than one is one that is worth less.

        Examples
        --------
        >>> held = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
        >>> share = PlugIn(held.sum(axis=1, keepdims=True), lambda sums: sums[:1] / sums[1:])
        >>> share.influence(held, np.ones(3)).moved.round(3).tolist()
        [[0.167, -0.333, 0.167]]
        """
        without = self.without(held, np.minimum(repeats, 1.0))
        units = np.where(repeats > 0, np.maximum(repeats, 1.0), 0.0)
        known = ~np.isnan(without)
        sums = np.where(known, without, 0.0) @ units
        mean = sums / np.maximum(known @ units, np.finfo(np.float64).tiny)
        return Influence(mean[:, None] - without, units)


class Influence(NamedTuple):
    """How far each unit, such as a group, moves the value of each model.

    Parameters
    ----------
    moved
        ``(n_models, n_kinds)``; NaN where a value needs the unit to be defined.
    repeats
        How many units there are of each kind.
    """

    moved: FloatArray
    repeats: FloatArray

    def effective(self, models: Sequence[int] | None = None) -> float:
        """Return ``(Σ u²)² / Σ u⁴``: how many units carry the value of one model.

        Of two models u is what moves their difference, of several what moves them apart.

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
        """Return the tail of what moves one model, or the difference of two; None if not known."""
        moved = self.moved[list(models)]
        if np.isnan(moved).any():
            return None
        return tail_of(moved[0] if len(moved) == 1 else moved[0] - moved[1], self.repeats)

    def df(self, times: int = 1) -> float | None:
        """Return how well the units, each counted so often, know the spread; None where well."""
        return known_spread(self.effective() / times)


def known_spread(n: float) -> float | None:
    """Return how well so many even units know the spread, as degrees of freedom; None where well.

    Examples
    --------
    >>> known_spread(12.5), known_spread(200.0)
    (12.5, None)
    """
    return max(n, 1.0) if 0 < n < _MANY else None
