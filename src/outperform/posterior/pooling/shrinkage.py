"""How much each slice is like the whole, learned from all slices together.

A slice's row of shapes is ``α₀ + κ/(κ + N) · m + c``: the base model's prior, what the
other slices show (counts ``m``, ``N`` together), and its own counts. At κ = ∞ that is the
pooled posterior (the slice is like the whole), at κ = 0 the slice on its own; in between
the rates of a slice scatter around the whole's as shares of κ documents do, and the whole
itself is known from N documents only: ``1/κ' = 1/κ + 1/N``.

No one κ serves all slices: learned from many equal ones it would bury the few that differ.
So κ has a distribution on a grid, learned from all slices by their Dirichlet-multinomial
likelihoods, and each slice has its own posterior over the grid. The others count in ``m``
for what they are worth, ``κ/(κ + n)`` of each document: a slice that is like the whole in
full, one that is not hardly at all, so that it cannot pull the whole after it.

Slices that stand out often do so in the same way, so there may be a second centre, which is
made of them and has a grid of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.pooling.likelihood import (
    KAPPAS,
    Centre,
    log_likelihoods,
    posterior_shapes,
    share_kept,
)
from outperform.posterior.pooling.rows import SlicedRows, sum_by
from outperform.posterior.pooling.weighing import LIKE_WHOLE, learn_weights, log_evidence

_ROUNDS = 10  # three or four do, unless slices differ wildly
_CHANGE = 0.01  # of a cell of a centre
_CLEARLY = 3.0  # nats: twenty times as probable
_FEWEST_HALVED = 5
_MUCH_SCATTER = 0.1
_HALVINGS = 3
_MOST_ALIKE = 128.0  # κ at the second centre: what stands out is never quite the same
_FEWEST_APART = 2.0  # slices that make a centre of their own


@dataclass(frozen=True, eq=False, kw_only=True)
class Shrinkage:
    """What was learned about one family of rows.

    Parameters
    ----------
    rows
        The counts.
    centres
        The whole and, if slices stand out alike, what these are like.
    weights
        The posterior of centre and κ in each slice, ``(n_slices, n_centres · n_kappas)``.
    evidence
        The log probability of all slices, each predicted by the others.
    """

    rows: SlicedRows
    centres: tuple[Centre, ...]
    weights: FloatArray
    evidence: float

    @property
    def like_whole(self) -> FloatArray:
        """The probability that a slice is like the whole, ``(n_slices,)``."""
        return self.weights[:, LIKE_WHOLE]

    @property
    def whole(self) -> FloatArray:
        """The shapes of the whole itself, ``(n_cells,)``."""
        shapes: FloatArray = self.rows.prior + self.centres[0].pooled
        return shapes

    def shapes(self, places: slice) -> FloatArray:
        """Return Dirichlet shapes of neighbouring slices under each centre and κ."""
        found = [posterior_shapes(self.rows, centre, places) for centre in self.centres]
        return np.concatenate(found, axis=1)


def shrink(rows: SlicedRows) -> Shrinkage:
    """Learn how much the slices are like the whole, from all of them.

    Where many slices stand out, the whole that all of them make is like none of them, and
    nobody would leave it. So the search then starts again from the half that agrees best. What
    predicts the slices best is kept.
    """
    best = _learn(rows, [np.ones(len(rows.row_place))])
    starts = []
    apart = _apart(best)
    if apart.sum() >= _FEWEST_APART:
        starts.append([best.centres[0].worth, apart[rows.row_place]])
    if rows.n_slices > _FEWEST_HALVED and _scatter(best) > _MUCH_SCATTER:
        half = _agreeing_half(rows)
        starts += [[half], [half, 1 - half]]
    for worths in starts:
        best = _better(best, _learn(rows, worths))
    return best if _is_larger_first(best) else _learn(rows, [c.worth for c in best.centres[::-1]])


def _is_larger_first(learned: Shrinkage) -> bool:
    """Return whether what is called the whole is what more documents are like."""
    sums = [centre.pooled.sum() for centre in learned.centres]
    return bool(sums[0] >= max(sums))


def _scatter(learned: Shrinkage) -> float:
    """Return what share of a document the others do not foretell, over all that occurred."""
    rows = learned.rows
    (worth,) = _worths(rows, learned.weights)
    return float(1 - np.average(worth, weights=rows.row_count))


def _apart(learned: Shrinkage) -> FloatArray:
    """Return the probability that a slice's own documents say more than the others do."""
    rows = learned.rows
    n = sum_by(rows.row_place, rows.row_count, size=rows.n_slices)
    apart: FloatArray = (learned.weights * (n[:, None] / 2 > KAPPAS)).sum(axis=1)
    return apart


def _better(one: Shrinkage, other: Shrinkage) -> Shrinkage:
    """Return the other if it predicts the slices clearly better."""
    return other if other.evidence > one.evidence + _CLEARLY else one


def _learn(rows: SlicedRows, worths: list[FloatArray]) -> Shrinkage:
    """Learn weights and centres in turn until the centres stay."""
    centres = [Centre.of(rows, worth) for worth in worths]
    for _ in range(_ROUNDS):
        logs = np.concatenate([log_likelihoods(rows, centre) for centre in centres], axis=1)
        logs[:, len(KAPPAS) :][:, np.tile(KAPPAS > _MOST_ALIKE, len(centres) - 1)] = -np.inf
        weights = learn_weights(logs)
        used = tuple(centres)
        centres = [Centre.of(rows, worth) for worth in _worths(rows, weights)]
        if all(map(_is_close, used, centres)):
            break
    return Shrinkage(rows=rows, centres=used, weights=weights, evidence=log_evidence(logs, weights))


def _is_close(one: Centre, other: Centre) -> bool:
    return np.allclose(one.pooled, other.pooled, rtol=_CHANGE, atol=_CHANGE)


def _worths(rows: SlicedRows, weights: FloatArray) -> list[FloatArray]:
    """Return ``E[κ/(κ + n)]`` for each centre and each row that occurred."""
    kept = share_kept(KAPPAS[:, None], rows.row_count)  # (n_kappas, n_rows that occurred)
    grids = weights.reshape(len(weights), -1, len(KAPPAS)).swapaxes(0, 1)
    return [np.einsum("ng,gn->n", grid[rows.row_place], kept) for grid in grids]


def _agreeing_half(rows: SlicedRows) -> FloatArray:
    """Return 1 for the slices whose own rates differ least from those of the half they are in."""
    worth = np.ones(len(rows.row_place))
    for _ in range(_HALVINGS):
        alone, whole = log_likelihoods(rows, Centre.of(rows, worth), KAPPAS[[0, -1]]).T
        kept = np.argsort(alone - whole, kind="stable")[: -(-rows.n_slices // 2)]
        worth = np.isin(rows.row_place, kept).astype(np.float64)
    return worth
