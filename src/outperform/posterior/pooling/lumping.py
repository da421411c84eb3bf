"""Rare cells are judged together: alone they would only tell how rare they are.

With many classes most cells of a slice occur in few other slices or in none. To a prior made
of the others each of them is a surprise, and all slices would seem to differ. How much slices
are alike is therefore learned from the common cells, each for itself, and from sums of the rare
ones: those in which both, only A, only B or neither is right, for each true class.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from outperform._typing import IntArray
from outperform.posterior.pooling.likelihood import Centre
from outperform.posterior.pooling.rows import SlicedRows, add_up, sum_by
from outperform.posterior.pooling.shrinkage import Shrinkage, shrink

_RARE = 30.0  # documents in all slices together


def shrink_answers(rows: SlicedRows, cells: IntArray) -> Shrinkage:
    """Learn from the lumped cells how much slices are alike, and apply it to all cells."""
    learned = shrink(lump(rows, cells))
    centres = tuple(Centre.of(rows, centre.worth) for centre in learned.centres)
    return replace(learned, rows=rows, centres=centres)


def lump(rows: SlicedRows, cells: IntArray) -> SlicedRows:
    """Add up the rare cells of each true class by who is right."""
    truth, a, b = cells.T
    common = sum_by(rows.cell, rows.count, size=rows.n_cells) >= _RARE
    right = 2 * (a == truth) + (b == truth)
    keys = np.stack([truth, common, np.where(common, np.arange(len(cells)), right)], axis=1)
    kept, lumps = np.unique(keys, axis=0, return_inverse=True)
    lumps = lumps.ravel()
    place, cell, count = add_up(rows.place, lumps[rows.cell], rows.count, n_cells=len(kept))
    return SlicedRows(
        n_slices=rows.n_slices,
        row=kept[:, 0],
        prior=sum_by(lumps, rows.prior, size=len(kept)),
        place=place,
        cell=cell,
        count=count,
    )
