"""How probable each slice is if the others are its prior, for every κ of a grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from outperform._typing import FloatArray
from outperform.posterior.pooling.rows import SlicedRows, sum_by

# Each four times the one before: rates scatter half as much.
KAPPAS = np.array([0.0, *(2.0 ** np.arange(1, 17, 2)), np.inf])


class Centre(NamedTuple):
    """What slices are alike to: counts of other slices, for what these are worth.

    ``worth`` says how much a document counts, for each row that occurred in a slice;
    ``pooled`` are the counts that this makes, ``(n_cells,)``.
    """

    worth: FloatArray
    pooled: FloatArray

    @classmethod
    def of(cls, rows: SlicedRows, worth: FloatArray) -> Centre:
        """Add up the counts."""
        weighted = worth[rows.entry_row] * rows.count
        return cls(worth, sum_by(rows.cell, weighted, size=rows.n_cells))


def share_kept(kappa: FloatArray | float, total: FloatArray) -> FloatArray:
    """Return κ/(κ + N): what the others' counts are worth as a prior.

    Examples
    --------
    >>> share_kept(np.array([0.0, 100.0, np.inf]), np.array(100.0)).tolist()
    [0.0, 0.5, 1.0]
    """
    kappa, total = np.broadcast_arrays(kappa, total)
    endless = np.isinf(kappa)
    finite = np.where(endless, 1.0, kappa)
    bottom = finite + total
    kept = np.divide(finite, bottom, out=np.zeros(bottom.shape), where=bottom > 0)
    return np.where(endless, 1.0, kept)


def log_likelihoods(rows: SlicedRows, centre: Centre, kappas: FloatArray = KAPPAS) -> FloatArray:
    """Return the log likelihood of each slice under each κ, ``(n_slices, n_kappas)``.

    ``Σ_cells [logΓ(a + c) − logΓ(a)] − Σ_rows [logΓ(A + n) − logΓ(A)]``, the prior ``a`` made of
    the other slices only: what a slice shows must not be its own witness.
    """
    worth, pooled = centre
    others = pooled[rows.cell] - worth[rows.entry_row] * rows.count
    np.maximum(others, 0.0, out=others)
    row_pooled = sum_by(rows.row, pooled, size=rows.n_rows)
    totals = np.maximum(row_pooled[rows.row_row] - worth * rows.row_count, 0.0)
    prior, row_prior = rows.prior[rows.cell], rows.row_prior[rows.row_row]
    found = np.empty((rows.n_slices, len(kappas)))
    for place, kappa in enumerate(kappas):
        kept = share_kept(kappa, totals)
        cells = _log_rising(prior + kept[rows.entry_row] * others, rows.count)
        whole = _log_rising(row_prior + kept * totals, rows.row_count)
        found[:, place] = sum_by(rows.place, cells, size=rows.n_slices)
        found[:, place] -= sum_by(rows.row_place, whole, size=rows.n_slices)
    return found


def _log_rising(start: FloatArray, steps: FloatArray) -> FloatArray:
    """Return logΓ(a + c) − logΓ(a)."""
    rising: FloatArray = gammaln(start + steps) - gammaln(start)
    return rising


def posterior_shapes(rows: SlicedRows, centre: Centre, places: slice) -> FloatArray:
    """Return Dirichlet shapes of neighbouring slices, ``(n_slices, n_kappas, n_cells)``."""
    counts = rows.dense(places)
    worth = np.ones((len(counts), rows.n_rows))
    inside = slice(*np.searchsorted(rows.row_place, [places.start, places.stop]))
    worth[rows.row_place[inside] - places.start, rows.row_row[inside]] = centre.worth[inside]
    others = np.maximum(centre.pooled - worth[:, rows.row] * counts, 0.0)
    totals = np.add.reduceat(others, rows.row_starts, axis=1)  # (n_slices, n_rows)
    kept = share_kept(KAPPAS[:, None], totals[:, None, :])[:, :, rows.row]
    shapes: FloatArray = rows.prior + kept * others[:, None, :] + counts[:, None, :]
    return shapes
