"""Weights for the cells that occurred, plus the prior's own random measure.

``Gamma(count + α) = Gamma(count) + Gamma(α)``, independent. So the cells that
occurred get ``Gamma(count)``, and in each true class the prior of mass 1 is
drawn as a random measure of its own: an Exp(1) broken into sticks, each stick
laid on predictions drawn from the product of the models' prior rows. No tiny
shapes, and no work for the cells that never occurred.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.errors import ResourceError
from outperform.outcomes import Outcomes
from outperform.posterior.gammas import fill_gammas, runs
from outperform.posterior.protocol import Drawn, Needs, Shapes, Sums, Worker

# The mass that the last stick collects is 2 to the power -9 of one document.
_STICKS = 10

_MOST_CONFUSION_CELLS = 1 << 14

# Up to so many classes looking a ticket up is faster than working out what it means,
# and the table of all tickets, which grows with the square, is small.
_TABULATED = 256

RightRates = Callable[[np.random.Generator, int], Sequence[FloatArray | float]]
"""Draw each model's prior probability of being right: a number or one per draw."""


class Tally(Protocol):
    """Adds up the weights of cells that occurred and of the prior's sticks."""

    def of_cells(self, gammas: FloatArray) -> FloatArray:
        """Return sums over the cells that occurred."""

    def add_prior(self, sums: FloatArray, masses: FloatArray, tickets: Sequence[IntArray]) -> None:
        """Add the prior's sticks to the sums."""

    def split(self, sums: FloatArray) -> list[Drawn]:
        """Return what each model needs of the sums."""


class SparseWeights:
    """Posterior whose prior has mass 1 (or 0) in each class, split by a product of rows.

    Parameters
    ----------
    outcomes
        Paired outcomes of one model or several.
    right_rates
        Draws ``η`` for each model: its prior share on the diagonal. None
        leaves the prior out altogether (the Bayesian bootstrap).
    fixed_rate
        ``η`` where it is one known number, which makes closed forms possible.
    """

    def __init__(
        self,
        outcomes: Outcomes,
        *,
        right_rates: RightRates | None,
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
        prior = 0 if self.right_rates is None else _STICKS * self.n_classes
        return max(self.counts.size + prior, 1)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws weights and adds them up for each model."""
        return self.tallied(
            (_Margins if needs == "margins" else _Confusions)(self.cells, self.n_classes)
        )

    def tallied(self, tally: Tally) -> Worker:
        """Return a function that draws weights and hands them to a tally."""
        pieces = runs(self.counts)
        buffers: dict[int, FloatArray] = {}

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            if length not in buffers:
                buffers[length] = np.empty((self.counts.size, length))
            gammas = buffers[length]
            fill_gammas(generator, pieces, gammas)
            sums = tally.of_cells(gammas)
            if self.right_rates is not None:
                rates = self.right_rates(generator, length)
                masses = _sticks(generator, self.n_classes, length)
                tickets = [_tickets(generator, rate, masses.shape) for rate in rates]
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

    def prevalence_shapes(self, positive: int) -> tuple[float, float] | None:
        """Return None: prevalence has no prior apart from its rows'."""
        return None

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


def _ticket_classes(n_classes: int) -> IntArray:
    """Return the class that each ticket means, for each true class."""
    steps = np.maximum(np.arange(2 * (n_classes - 1)) - (n_classes - 2), 0)
    return (np.arange(n_classes)[:, None] + steps) % n_classes


def _read_tickets(ticket: IntArray, n_classes: int, *, scale: int, out: IntArray) -> None:
    """Write ``scale`` times the class that each ticket ``(sticks, n_classes, n_draws)`` means."""
    if n_classes <= _TABULATED:
        classes = _ticket_classes(n_classes) * scale
        for truth in range(n_classes):
            np.take(classes[truth], ticket[:, truth], out=out[:, truth], mode="clip")
        return
    np.copyto(out, ticket, casting="unsafe")
    out -= n_classes - 2
    np.maximum(out, 0, out=out)
    out += np.arange(n_classes)[:, None]
    out -= n_classes * (out >= n_classes)
    out *= scale


class _Margins:
    """Adds weights up to hits, actual and predicted of each class and model."""

    def __init__(self, cells: IntArray, n_classes: int) -> None:
        from scipy.sparse import csr_array

        self.n_classes, self.n_models = n_classes, cells.shape[1] - 1
        truth, places = cells[:, 0], np.arange(len(cells))
        rows, columns = [truth], [places]
        for model in range(self.n_models):
            predicted = cells[:, 1 + model]
            right = np.flatnonzero(predicted == truth)
            rows += [
                self._offset(model) + truth[right],
                self._offset(model) + n_classes + predicted,
            ]
            columns += [right, places]
        row, column = np.concatenate(rows), np.concatenate(columns)
        shape = ((1 + 2 * self.n_models) * n_classes, len(cells))
        self.matrix = csr_array((np.ones(len(row)), (row, column)), shape=shape)

    def _offset(self, model: int) -> int:
        return (1 + 2 * model) * self.n_classes

    def of_cells(self, gammas: FloatArray) -> FloatArray:
        sums: FloatArray = self.matrix @ gammas
        return sums

    def add_prior(self, sums: FloatArray, masses: FloatArray, tickets: Sequence[IntArray]) -> None:
        n_classes, length = masses.shape[1:]
        sums[:n_classes] += masses.sum(axis=0)
        draws = np.arange(length)
        places = np.empty(masses.shape, dtype=np.int64)
        for model, ticket in enumerate(tickets):
            start = self._offset(model)
            hits = sums[start : start + n_classes]
            _read_tickets(ticket, n_classes, scale=length, out=places)
            hits += np.einsum("stn,stn->tn", masses, ticket < n_classes - 1)
            places += draws
            predicted = np.bincount(places.ravel(), masses.ravel(), minlength=n_classes * length)
            sums[start + n_classes : start + 2 * n_classes] += predicted.reshape(n_classes, length)

    def split(self, sums: FloatArray) -> list[Drawn]:
        n_classes = self.n_classes
        actual = sums[:n_classes]
        return [
            Sums(
                hits=sums[start : start + n_classes],
                actual=actual,
                predicted=sums[start + n_classes : start + 2 * n_classes],
            )
            for start in map(self._offset, range(self.n_models))
        ]


class _Confusions:
    """Adds weights up to a full confusion matrix per model, scaled to sum to 1."""

    def __init__(self, cells: IntArray, n_classes: int) -> None:
        from scipy.sparse import csr_array

        if n_classes**2 > _MOST_CONFUSION_CELLS:
            raise ResourceError(
                f"a function of the whole confusion matrix needs {n_classes**2:,} cells a draw; "
                "use one of the named metrics, which need three numbers a class"
            )
        self.n_classes, self.n_models = n_classes, cells.shape[1] - 1
        self.ticket_classes = _ticket_classes(n_classes)
        truth, places = cells[:, 0], np.arange(len(cells))
        rows = [
            model * n_classes**2 + truth * n_classes + cells[:, 1 + model]
            for model in range(self.n_models)
        ]
        shape = (self.n_models * n_classes**2, len(cells))
        entries = (
            np.ones(len(cells) * self.n_models),
            (np.concatenate(rows), np.tile(places, self.n_models)),
        )
        self.matrix = csr_array(entries, shape=shape)

    def of_cells(self, gammas: FloatArray) -> FloatArray:
        sums: FloatArray = self.matrix @ gammas
        return sums

    def add_prior(self, sums: FloatArray, masses: FloatArray, tickets: Sequence[IntArray]) -> None:
        n_classes, length = masses.shape[1:]
        truth = np.arange(n_classes)[:, None]
        for model, ticket in enumerate(tickets):
            cell = truth * n_classes + self.ticket_classes[truth, ticket]
            place = cell * length + np.arange(length)
            added = np.bincount(place.ravel(), masses.ravel(), minlength=n_classes**2 * length)
            sums[model * n_classes**2 : (model + 1) * n_classes**2] += added.reshape(-1, length)

    def split(self, sums: FloatArray) -> list[Drawn]:
        n_classes = self.n_classes
        stacked = sums.reshape(self.n_models, n_classes, n_classes, -1)
        return [matrix / matrix.sum(axis=(0, 1)) for matrix in stacked]
