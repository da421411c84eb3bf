"""Gammas added up by a fixed matrix: one weight a cell, or one weight a group of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.outcomes import Groups, Outcomes
from outperform.posterior.gammas import fill_gammas, gamma_sums, runs
from outperform.posterior.protocol import (
    Drawn,
    Needs,
    NoClosedForms,
    Scale,
    ScaledWorker,
    Shapes,
    Sums,
    Worker,
)
from outperform.posterior.tally import Confusions, Margins, RowSums, choose_tally

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class LinearWeights(NoClosedForms):
    """Independent gammas, one for each unit, and what each unit holds.

    A unit is a cell, or a pattern of cells that were seen together: then the
    sum of as many Exp(1) weights as groups show the pattern is Gamma(repeats).

    Parameters
    ----------
    outcomes
        Paired outcomes of one model or several; their codes and classes.
    cells
        The cells, ``(n_cells, 1 + n_models)``.
    shapes
        The gamma shape of each unit.
    held
        How often each unit holds each cell, or how much weight of it,
        ``(n_cells, n_units)``; None if the units are the cells.
    """

    def __init__(
        self,
        outcomes: Outcomes,
        *,
        cells: IntArray,
        shapes: FloatArray,
        held: csr_array | None = None,
    ) -> None:
        self.n_models, self.n_classes = len(outcomes.models), outcomes.n_classes
        self.n_codes, self.outcomes = outcomes.n_codes, outcomes
        order = np.argsort(shapes, kind="stable")
        self.shapes = shapes[order]
        self.held = None if held is None else held[:, order]
        self.cells = cells if held is not None else cells[order]

    @property
    def n_gammas(self) -> int:
        """How many gammas one draw takes."""
        return max(self.shapes.size, 1)

    @property
    def _spread(self) -> float:
        """How many times the least weight that a unit brings the greatest is."""
        if self.held is None or not self.held.nnz:
            return 1.0
        return float(self.held.data.max() / self.held.data.min())

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws weights and adds them up for each model."""
        tally = self.tally(needs)
        matrix = tally.matrix if self.held is None else (tally.matrix @ self.held).tocsr()
        add_up = gamma_sums(self.shapes, lambda gammas: matrix @ gammas, n_models=self.n_models)

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            return [self._of_classes(drawn) for drawn in tally.split(add_up(generator, length))]

        return draw

    def tally(self, needs: Needs) -> Margins | Confusions:
        """Return what adds the weights of cells up."""
        largest = float(self.shapes.max(initial=0.0)) * self._spread
        return choose_tally(self.cells, self.n_codes, needs, largest=largest)

    def scaled_worker(self, needs: Needs) -> ScaledWorker:
        """Return a function that scales the true classes."""
        tally = self.tally(needs)
        rows, pieces = RowSums(self.cells, self.n_codes), runs(self.shapes)

        def draw(generator: np.random.Generator, length: int, scale: Scale) -> list[Drawn]:
            gammas = np.empty((self.shapes.size, length))
            fill_gammas(generator, pieces, gammas)
            weights = gammas if self.held is None else self.held @ gammas
            rows.multiply(weights, scale(rows.of_cells(weights)))
            return tally.split(tally.of_cells(weights))

        return draw

    def _of_classes(self, drawn: Drawn) -> Drawn:
        """Leave "no span" out: it is no class."""
        if self.outcomes.kind != "spans" or not isinstance(drawn, Sums):
            return drawn
        return Sums(*(sums[: self.n_classes] for sums in drawn))


class DirichletCells(LinearWeights):
    """One Dirichlet over listed cells: sums of its cells have closed forms."""

    def part_shape(self, model: int, part: str, positive: int | None) -> float | None:
        """Return the gamma shape of a part."""
        truth, predicted = self.cells[:, 0], self.cells[:, 1 + model]
        is_true, is_predicted = truth == positive, predicted == positive
        selected = {
            "tp": is_true & is_predicted,
            "fn": is_true & ~is_predicted,
            "fp": ~is_true & is_predicted,
        }[part]
        return float(self.shapes[selected].sum())

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return the shapes of found and missed among spans of one type."""
        shapes = [self.part_shape(model, part, positive) for part in ("tp", "fn")]
        return None if shapes[0] is None or shapes[1] is None else (shapes[0], shapes[1])

    def agreement_shapes(self, truth: int | None) -> Shapes | None:
        """Return the shapes of found by both, A only, B only and neither."""
        if self.n_models != 2 or truth is None:
            return None
        actual, a, b = self.cells.T
        found_a, found_b = a == actual, b == actual
        inside = actual == truth
        return Shapes(
            *(
                float(self.shapes[inside & one & two].sum())
                for one in (found_a, ~found_a)
                for two in (found_b, ~found_b)
            )
        )


def held_by(outcomes: Outcomes, groups: Groups) -> csr_array:
    """Return how often each pattern of groups holds each cell, ``(n_cells, n_patterns)``.

    A document of importance w is a group that holds its cell w times: its part of a draw is
    w · Exp(1).
    """
    from scipy.sparse import csr_array

    times = groups.times.astype(np.float64)
    if groups.weighted:  # their scale means nothing, and so it cannot overflow
        times = times / times.max(initial=np.finfo(np.float64).tiny)
    return csr_array(
        (times, (groups.cell, groups.pattern)),
        shape=(len(outcomes.tables[0].cells), len(groups.repeats)),
    )
