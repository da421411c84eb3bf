"""The outlook in closed form: how probably more documents reach a goal, if all were normal.

The posterior of A − B from n documents has mean ``μ``, sd ``s`` and an interval from ``μ − l``
to ``μ + u``; what the prior is worth counts as documents. Every document tells as much as any
other, so from N documents the interval is ``√(n/N)`` times as wide. Where its middle will be is
not known:

- after ``m`` documents more, ``N = n + m``, the mean moves by what the sd loses,
  ``μ' ~ Normal(μ, s² − s² n/N) = Normal(μ, s² m/N)``;
- in a new test set of ``m`` documents, analysed alone, it varies about a truth that itself is
  known up to ``s``: ``μ' ~ Normal(μ, s² + s² n/m)``;
- in a world that is known for certain, only by what the sample adds: ``Normal(μ, s² n/m)``.

Labels of a pool tell nothing of how far the pool itself is a sample, so a share ``f`` of the
variance stays: ``s² (f + (1 − f) n/N)`` instead of ``s² n/N``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from outperform._typing import FloatArray
from outperform.comparison.planning.goals import Goal
from outperform.decision import Decision

Documents = Literal["more", "new", "certain"]
_GRID = 300
# Where nothing varies, the verdict is certain; this keeps the quotient defined.
_NO_SPREAD = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What is known of A − B now, and what documents to come would add.

    Parameters
    ----------
    n
        The number of documents behind it, the prior's worth among them.
    mean, sd
        Of A − B.
    below, above
        How far the interval reaches to either side of the mean.
    documents
        ``"more"`` are added to those that are there, ``"new"`` ones stand alone, and in a
        ``"certain"`` world the sd is that of n documents and the mean is the truth.
    stays
        The share of the variance that stays however many more there are.

    Examples
    --------
    >>> from outperform.comparison.planning.goals import firm_goal
    >>> from outperform.decision import Rope
    >>> now = Outlook(n=1_000, mean=0.02, sd=0.01, below=0.0196, above=0.0196, documents="more")
    >>> better = firm_goal("≫", Rope.from_param(0.01), greater_is_better=True)
    >>> now.probability(better, [1_000, 10_000, 10**9]).round(3).tolist()
    [0.293, 0.666, 0.841]
    """

    n: float
    mean: float
    sd: float
    below: float
    above: float
    documents: Documents
    stays: float = 0.0

    def probability(self, goal: Goal, sizes: ArrayLike) -> FloatArray:
        """Return how probably a goal is reached with so many documents to come.

        Parameters
        ----------
        goal
            The goal.
        sizes
            Numbers of documents.
        """
        low, high = goal.rope.low, goal.rope.high
        shrunk, spread = self._scales(sizes)
        above, below = high + shrunk * self.below, low - shrunk * self.above
        inside = low + shrunk * self.below, high - shrunk * self.above
        sums = {
            Decision.BETTER: ndtr((self.mean - above) / spread),
            Decision.WORSE: ndtr((below - self.mean) / spread),
            Decision.EQUIVALENT: np.maximum(
                ndtr((inside[1] - self.mean) / spread) - ndtr((inside[0] - self.mean) / spread), 0.0
            ),
        }
        if not goal.greater_is_better:
            sums = {one.mirrored: value for one, value in sums.items()}
        total: FloatArray = np.sum([sums[one] for one in goal.wanted], axis=0)
        return total

    def width(self, sizes: ArrayLike) -> FloatArray:
        """Return how wide the interval would be.

        Parameters
        ----------
        sizes
            Numbers of documents.
        """
        width: FloatArray = self.narrowing(sizes) * (self.below + self.above)
        return width

    def narrowing(self, sizes: ArrayLike) -> FloatArray:
        """Return the factor by which interval and sd are as wide as they are now.

        Parameters
        ----------
        sizes
            Numbers of documents.
        """
        return self._scales(sizes)[0]

    def _scales(self, sizes: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the factor of the interval's width, and the sd of where it will be."""
        more = np.asarray(sizes, dtype=np.float64)
        total = more + self.n if self.documents == "more" else more
        shrunk = np.sqrt(self.stays + (1.0 - self.stays) * self.n / total)
        variance = {
            "more": (1.0 - self.stays) * more / total,
            "new": 1.0 + self.n / total,
            "certain": self.n / total,
        }[self.documents]
        return shrunk, np.maximum(self.sd * np.sqrt(variance), _NO_SPREAD)


def first_size(
    curve: Callable[[FloatArray], FloatArray], target: float, *, most: int
) -> int | None:
    """Return the smallest number of documents at which a curve reaches a target; None if none.

    Parameters
    ----------
    curve
        From numbers of documents to probabilities.
    target
        The wanted probability.
    most
        No more documents than this are looked at.

    Examples
    --------
    >>> first_size(lambda n: 1 - 1 / n, 0.8, most=1_000), first_size(np.sin, 2.0, most=9)
    (5, None)
    """
    sizes = grid_of_sizes(most)
    reached = np.flatnonzero(curve(sizes) >= target)
    if not reached.size:
        return None
    place = int(reached[0])
    low, high = int(sizes[place - 1]) if place else 0, int(sizes[place])
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if curve(np.array([middle]))[0] >= target else (middle, high)
    return high


def grid_of_sizes(most: int) -> FloatArray:
    """Return whole numbers from 1 to the most, evenly far apart in their logarithms."""
    return np.unique(np.rint(np.geomspace(1, most, _GRID)))
