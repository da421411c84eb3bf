"""Rows of Dirichlet cells, every cell drawn: for few classes or an explicit prior."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from outperform._typing import FloatArray
from outperform.errors import DataError, ResourceError
from outperform.outcomes import Outcomes
from outperform.posterior.gammas import fill_proportions, runs
from outperform.posterior.protocol import Drawn, Needs, Shapes, Worker, margins_of

_MOST_CELLS = 1 << 20

# A class without documents and almost no prior mass would underflow to zero
# weight; its rates are ratios, so a floor keeps them defined.
_SMALLEST_PREVALENCE = 1e-250


class DenseRows:
    """Posterior with ``μ ~ Dir(β + n)`` and, in each class, ``θ_j ~ Dir(α_j + c_j)``.

    Parameters
    ----------
    counts
        How often each cell occurred, ``(n_classes, n_classes, …)``: the truth,
        then each model's prediction.
    rows
        Prior shapes of the same form.
    prevalence
        Prior shapes ``(n_classes,)`` of the class proportions.
    """

    def __init__(self, counts: FloatArray, *, rows: FloatArray, prevalence: FloatArray) -> None:
        self.n_classes, self.n_models = counts.shape[0], counts.ndim - 1
        self.shapes: FloatArray = counts + rows  # (n_classes, n_classes, …)
        sums = counts.reshape(self.n_classes, -1).sum(axis=1)
        self.prevalence = sums + prevalence  # (n_classes,)
        _check_proper(self.shapes, self.prevalence)
        mass = rows.reshape(self.n_classes, -1).sum(axis=1)
        self.one_dirichlet = bool(np.allclose(mass, prevalence, rtol=1e-12, atol=0.0))

    @property
    def n_gammas(self) -> int:
        """How many gammas one draw takes."""
        return int(self.shapes.size + self.n_classes)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws weights and adds them up for each model."""
        n_models, draw_cells = self.n_models, self.cell_worker()

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            weights = draw_cells(generator, length)
            return [_read(weights, model, n_models, needs) for model in range(n_models)]

        return draw

    def cell_worker(self) -> Callable[[np.random.Generator, int], FloatArray]:
        """Return a function that draws prevalence and rows apart and multiplies them.

        It fills a buffer of its own, of shape ``(n_classes, cells of a class, n_draws)``.
        """
        n_classes = self.n_classes
        shapes = self.shapes.reshape(n_classes, -1)
        pieces = [runs(row) for row in shapes]
        prevalence_pieces = runs(self.prevalence)
        buffers: dict[int, tuple[FloatArray, FloatArray]] = {}

        def draw(generator: np.random.Generator, length: int) -> FloatArray:
            if length not in buffers:
                buffers[length] = (np.empty((n_classes, length)), np.empty((*shapes.shape, length)))
            prevalence, weights = buffers[length]
            fill_proportions(generator, self.prevalence, prevalence_pieces, prevalence)
            np.maximum(prevalence, _SMALLEST_PREVALENCE, out=prevalence)
            for row in range(n_classes):
                fill_proportions(
                    generator, shapes[row], pieces[row], weights[row], total=prevalence[row]
                )
            return weights

        return draw

    def part_shape(self, model: int, part: str, positive: int | None) -> float | None:
        """Return the gamma shape of a part if all cells are one Dirichlet."""
        if not self.one_dirichlet:
            return None
        right = np.eye(self.n_classes, dtype=bool)
        confusion = self._confusion_shapes(model)
        if part in ("correct", "wrong"):
            return float(confusion[right if part == "correct" else ~right].sum())
        assert positive is not None
        is_class = np.arange(self.n_classes) == positive
        truth = is_class if part in ("tp", "fn") else ~is_class
        predicted = is_class if part in ("tp", "fp") else ~is_class
        return float(confusion[np.ix_(truth, predicted)].sum())

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return the shapes of right and wrong in one true class."""
        row = self._confusion_shapes(model)[positive]
        return float(row[positive]), float(np.delete(row, positive).sum())

    def agreement_shapes(self, truth: int | None) -> Shapes | None:
        """Return the shapes of both, A only, B only and neither right."""
        if self.n_models != 2 or (truth is None and not self.one_dirichlet):
            return None
        classes = range(self.n_classes) if truth is None else [truth]
        found = np.zeros(4)
        for actual in classes:
            joint = self.shapes[actual]
            both = joint[actual, actual]
            only_a = np.delete(joint[actual], actual).sum()
            only_b = np.delete(joint[:, actual], actual).sum()
            found += [both, only_a, only_b, np.delete(np.delete(joint, actual, 0), actual, 1).sum()]
        return Shapes(*(float(shape) for shape in found))

    def prevalence_shapes(self, positive: int) -> tuple[float, float] | None:
        """Return the shapes of a class and of the rest."""
        rest = np.delete(self.prevalence, positive).sum()
        return float(self.prevalence[positive]), float(rest)

    def _confusion_shapes(self, model: int) -> FloatArray:
        others = tuple(1 + other for other in range(self.n_models) if other != model)
        shapes: FloatArray = self.shapes.sum(axis=others)
        return shapes


def _read(weights: FloatArray, model: int, n_models: int, needs: Needs) -> Drawn:
    n_classes, _, length = weights.shape
    joint = weights.reshape((n_classes,) * (1 + n_models) + (length,))
    others = tuple(1 + other for other in range(n_models) if other != model)
    confusion = joint.sum(axis=others) if others else joint
    return confusion if needs == "confusion" else margins_of(confusion)


def dense_counts(outcomes: Outcomes) -> FloatArray:
    """Return the joint table as a full array ``(n_classes, n_classes, …)``."""
    table = outcomes.tables[0]
    _check_size(outcomes.n_classes ** table.cells.shape[1])
    counts = np.zeros((outcomes.n_classes,) * table.cells.shape[1])
    counts[tuple(table.cells.T)] = table.counts.astype(np.float64)
    return counts


def _check_size(n_cells: int) -> None:
    if n_cells > _MOST_CELLS:
        raise ResourceError(
            f"this model draws every one of {n_cells:,} cells, more than {_MOST_CELLS:,}; "
            "use model='unit', which needs only the cells that occurred"
        )


def _check_proper(shapes: FloatArray, prevalence: FloatArray) -> None:
    if shapes.min() <= 0 or prevalence.min() <= 0:
        raise DataError(
            "a prior of 0 on a cell that never occurred is improper; "
            "give every cell a positive prior, e.g. prior='jeffreys', or use model='bootstrap'"
        )
