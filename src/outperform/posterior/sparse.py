"""Weights for the cells that occurred, plus the prior's own random measure.

``Gamma(count + α) = Gamma(count) + Gamma(α)``, independent. So the cells that
occurred get ``Gamma(count)``, and in each true class the prior of mass 1 is
drawn as a random measure of its own: an Exp(1) broken into sticks, each stick
laid on predictions drawn from the product of the models' prior rows. No tiny
shapes, and no work for the cells that never occurred.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.outcomes import Outcomes
from outperform.posterior.gammas import fill_gammas, gamma_sums, runs
from outperform.posterior.protocol import (
    Drawn,
    Needs,
    NoClosedForms,
    Scale,
    ScaledWorker,
    Shapes,
    Worker,
)
from outperform.posterior.tally import RowSums, Tally, choose_tally, ticket_classes

# The mass that the last stick collects is 2 to the power -9 of one document.
_STICKS = 10

RightRates = Callable[[np.random.Generator, int], Sequence[FloatArray | float]]
"""Draw each model's prior probability of being right: a number or one per draw."""


class SparseWeights(NoClosedForms):
    """Posterior whose prior has mass 1 in each class, split by a product of rows.

    Parameters
    ----------
    outcomes
        Paired outcomes of one model or several.
    right_rates
        Draws ``η`` for each model: its prior share on the diagonal.
    fixed_rate
        ``η`` where it is one known number, which makes closed forms possible.
    """

    def __init__(
        self,
        outcomes: Outcomes,
        *,
        right_rates: RightRates,
        fixed_rate: float | None = None,
    ) -> None:
        self.outcomes = outcomes
        self.n_classes, self.n_models = outcomes.n_classes, len(outcomes.models)
        self.right_rates, self.fixed_rate = right_rates, fixed_rate
        table = outcomes.tables[0]
        counts = table.counts.astype(np.float64)
        order = np.argsort(counts, kind="stable")
        self.cells = table.cells[order]  # (n_cells, 1 + n_models)
        self.counts = counts[order]

    @property
    def n_gammas(self) -> int:
        """About how many random numbers one draw takes."""
        return int(self.counts.size + _STICKS * self.n_classes)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws weights and adds them up for each model."""
        largest = float(self.counts.max(initial=0.0))
        return self.tallied(choose_tally(self.cells, self.n_classes, needs, largest=largest))

    def tallied(self, tally: Tally) -> Worker:
        """Return a function that draws weights and hands them to a tally."""
        add_up = gamma_sums(self.counts, tally.of_cells, n_models=self.n_models)

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            sums = add_up(generator, length)
            rates = self.right_rates(generator, length)
            masses = _sticks(generator, self.n_classes, length)
            tickets = [_tickets(generator, rate, masses.shape) for rate in rates]
            tally.add_prior(sums, masses, tickets)
            return tally.split(sums)

        return draw

    def draw_sticks(self, generator: np.random.Generator) -> tuple[IntArray, FloatArray]:
        """Draw the prior's measure once: cells ``(n_sticks, 1 + n_models)`` and their masses."""
        rates = self.right_rates(generator, 1)
        masses = _sticks(generator, self.n_classes, 1)
        truth = np.broadcast_to(np.arange(self.n_classes)[:, None], masses.shape)
        columns = [truth.ravel()]
        for rate in rates:
            columns.append(ticket_classes(_tickets(generator, rate, masses.shape)).ravel())
        return np.stack(columns, axis=1), masses.ravel()

    def scaled_worker(self, needs: Needs) -> ScaledWorker:
        """Return a function that scales the true classes, the prior's mass with them."""
        largest = float(self.counts.max(initial=0.0))
        tally = choose_tally(self.cells, self.n_classes, needs, largest=largest)
        rows, pieces = RowSums(self.cells, self.n_classes), runs(self.counts)

        def draw(generator: np.random.Generator, length: int, scale: Scale) -> list[Drawn]:
            gammas = np.empty((self.counts.size, length))
            fill_gammas(generator, pieces, gammas)
            rates = self.right_rates(generator, length)
            masses = _sticks(generator, self.n_classes, length)
            tickets = [_tickets(generator, rate, masses.shape) for rate in rates]
            factors = scale(rows.of_cells(gammas) + masses.sum(axis=0))
            rows.multiply(gammas, factors)
            masses *= factors
            sums = tally.of_cells(gammas)
            tally.add_prior(sums, masses, tickets)
            return tally.split(sums)

        return draw

    def part_shape(self, model: int, part: str, positive: int | None) -> float | None:
        """Return the gamma shape of a part, if the prior's split is known."""
        if self.fixed_rate is None:
            return None
        right, n_classes = self.fixed_rate, self.n_classes
        prior = {
            "tp": right,
            "fn": 1 - right,
            "fp": 1 - right,
            "tn": n_classes - 1 - (1 - right),
            "correct": n_classes * right,
            "wrong": n_classes * (1 - right),
        }[part]
        name = self.outcomes.models[model]
        return self.outcomes.part(name, part, positive=positive) + prior  # type: ignore[arg-type]

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return the shapes of right and wrong in one true class."""
        right = self.part_shape(model, "tp", positive)
        wrong = self.part_shape(model, "fn", positive)
        return None if right is None or wrong is None else (right, wrong)

    def agreement_shapes(self, truth: int | None) -> Shapes | None:
        """Return the shapes of both, A only, B only and neither right."""
        if self.fixed_rate is None or self.n_models != 2:
            return None
        right, classes = self.fixed_rate, self.n_classes if truth is None else 1
        prior = (right**2, right * (1 - right), right * (1 - right), (1 - right) ** 2)
        seen = self.outcomes.agreement(truth)
        return Shapes(*(count + classes * mass for count, mass in zip(seen, prior, strict=True)))


def _sticks(generator: np.random.Generator, n_classes: int, length: int) -> FloatArray:
    """Draw the prior mass of each class, broken into sticks ``(sticks, n_classes, n_draws)``."""
    masses = generator.random((_STICKS, n_classes, length))
    left = generator.standard_exponential((n_classes, length))
    for stick in range(_STICKS - 1):
        masses[stick] *= left
        left -= masses[stick]
    masses[-1] = left  # the last stick takes what is left: no mass is lost
    return masses


def _tickets(
    generator: np.random.Generator, rates: FloatArray | float, shape: tuple[int, ...]
) -> IntArray:
    """Draw where sticks fall: below ``n_classes - 1`` on the true class, else on another.

    Ticket ``n_classes - 1 + i`` stands for the i-th class after the true one,
    cyclically. At a rate of one half all tickets are equally likely.
    """
    others = shape[1] - 1
    if isinstance(rates, float) and rates == 0.5:
        return generator.integers(0, 2 * others, size=shape, dtype=np.uint32)
    uniform = generator.random(shape)
    places = (uniform - rates) * (others / (1.0 - rates))
    np.clip(places, -1.0, others - 1, out=places)
    np.floor(places, out=places)
    places += others
    return places.astype(np.int64)
