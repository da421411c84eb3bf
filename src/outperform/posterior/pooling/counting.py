"""From outcomes with slices to the rows that the models have."""

from __future__ import annotations

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.errors import UsageError
from outperform.outcomes import Outcomes, Slices
from outperform.posterior.pooling.drawing import SlicesPosterior
from outperform.posterior.pooling.rows import SlicedRows, add_up
from outperform.posterior.priors import Prior, product_rows
from outperform.posterior.unit import unit_rows

MODELS = ("flat", "unit")

# With so few cells every one of them is drawn; with more, those that occurred anywhere.
_FEW_CELLS = 128


def pool_slices(outcomes: Outcomes, *, model: str, prior: Prior) -> SlicesPosterior:
    """Return the posterior of every slice of two paired models' outcomes.

    The base prior is that of model ``"flat"`` or ``"unit"``. With many classes the unit prior
    keeps to the cells that occurred in some slice, with mass 1 in each class as before.
    """
    slices = outcomes.slices
    if slices is None or len(outcomes.models) != 2:
        raise UsageError("slices are pooled for two models of outcomes that were divided with by=")
    if model not in MODELS:
        raise UsageError(f"slices know the models {' and '.join(map(repr, MODELS))}; got {model!r}")
    cells, shapes = _cells(slices, outcomes.n_classes, model=model, prior=prior)
    of_classes = (
        prior.prevalence_shapes(outcomes.n_classes)
        if model == "flat"
        else np.ones(outcomes.n_classes)
    )
    classes = np.arange(outcomes.n_classes)
    return SlicesPosterior(
        _rows(slices, classes[:, None], row=np.zeros_like(classes), prior=of_classes),
        _rows(slices, cells, row=cells[:, 0], prior=shapes),
        cells,
    )


def _cells(
    slices: Slices, n_classes: int, *, model: str, prior: Prior
) -> tuple[IntArray, FloatArray]:
    """Return the cells that are drawn, in order of their truth, and the prior of each."""
    if model == "flat" or n_classes**3 <= _FEW_CELLS:
        rows = (
            prior.row_shapes(n_classes, 2)
            if model == "flat"
            else product_rows(unit_rows(n_classes), 2)
        )
        return np.argwhere(np.ones(rows.shape, dtype=bool)), rows.ravel()
    cells = np.unique(slices.table.cells[:, 1:], axis=0)
    never = np.setdiff1d(np.arange(n_classes), cells[:, 0])
    cells = np.unique(
        np.concatenate([cells, *map(_unseen, never, [n_classes] * never.size)]), axis=0
    )
    own = unit_rows(n_classes)
    shapes = own[cells[:, 0], cells[:, 1]] * own[cells[:, 0], cells[:, 2]]
    mass = np.bincount(cells[:, 0], shapes, minlength=n_classes)
    return cells, shapes / mass[cells[:, 0]]


def _unseen(truth: int, n_classes: int) -> IntArray:
    """Return cells for a class that is nowhere true: right or wrong, each of two models."""
    other = (truth + 1) % n_classes
    return np.array([[truth, a, b] for a in (truth, other) for b in (truth, other)])


def _rows(slices: Slices, cells: IntArray, *, row: IntArray, prior: FloatArray) -> SlicedRows:
    """Add up the slices' counts to these cells, which are told apart by their first codes."""
    codes = slices.table.cells[:, 1 : 1 + cells.shape[1]]
    size = int(max(cells.max(), codes.max())) + 1
    powers = size ** np.arange(cells.shape[1] - 1, -1, -1, dtype=np.int64)
    order = cells @ powers
    place, cell, count = add_up(
        slices.table.cells[:, 0],
        np.searchsorted(order, codes @ powers),
        slices.table.counts.astype(np.float64),
        n_cells=len(cells),
    )
    return SlicedRows(
        n_slices=len(slices), row=row, prior=prior, place=place, cell=cell, count=count
    )
