"""Sums of weights: per class, per group, or as full confusion matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np

from outperform._typing import BoolArray, FloatArray, IntArray
from outperform.data.outcomes import Outcomes, n_codes
from outperform.data.table import Groups, Table
from outperform.errors import ResourceError
from outperform.posterior.base import (
    Drawn,
    Needs,
    NewTable,
    Scale,
    ScaledWorker,
    Shapes,
    Sums,
    TablesBase,
    Worker,
    cell_predictor,
)
from outperform.posterior.gammas import draw_gammas, fill_rows, gamma_sums, spread_factors

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_MOST_CONFUSION_CELLS = 1 << 14

# With at least this many models, summing only the errors is faster. Up to this count, subtracting
# them from the total loses no precision.
_MANY_MODELS = 3
_LARGEST_COUNT = 2.0**32

# Up to this many classes, looking up the class of a ticket is faster than computing it, and the
# table of all tickets, which grows with the square of this number, is small.
_TABULATED = 256


class Tally(Protocol):
    """Sums the weights of the observed cells and of the prior's sticks."""

    def of_cells(self, gammas: FloatArray) -> FloatArray:
        """Return sums over the observed cells."""

    def add_prior(self, sums: FloatArray, masses: FloatArray, tickets: Sequence[IntArray]) -> None:
        """Add the masses of the prior's sticks to the sums."""

    def split(self, sums: FloatArray) -> list[Drawn]:
        """Return the sums needed for each model."""


def _ticket_classes(n_classes: int) -> IntArray:
    """Return the class of each ticket, for each true class."""
    steps = np.maximum(np.arange(2 * (n_classes - 1)) - (n_classes - 2), 0)
    return (np.arange(n_classes)[:, None] + steps) % n_classes


def ticket_classes(ticket: IntArray) -> IntArray:
    """Return the class of each ticket ``(sticks, n_classes, n_draws)``.

    Examples
    --------
    >>> ticket_classes(np.array([[[0], [1], [2]], [[2], [3], [3]]]))[:, :, 0].tolist()
    [[0, 1, 0], [1, 0, 1]]
    """
    classes = np.empty(ticket.shape, dtype=np.int64)
    _read_tickets(ticket, ticket.shape[1], scale=1, out=classes)
    return classes


def _read_tickets(ticket: IntArray, n_classes: int, *, scale: int, out: IntArray) -> None:
    """Write ``scale`` times the class of each ticket ``(sticks, n_classes, n_draws)``."""
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


class Margins:
    """Sums weights into hits, actual and predicted counts for each class and model."""

    def __init__(self, cells: IntArray, n_classes: int) -> None:
        from scipy.sparse import csr_array

        self.n_classes, self.n_models = n_classes, cells.shape[1] - 1
        truth, cell_index = cells[:, 0], np.arange(len(cells))
        rows, columns = [truth], [cell_index]
        for model in range(self.n_models):
            predicted = cells[:, 1 + model]
            right = np.flatnonzero(predicted == truth)
            rows += [
                self._offset(model) + truth[right],
                self._offset(model) + n_classes + predicted,
            ]
            columns += [right, cell_index]
        row, column = np.concatenate(rows), np.concatenate(columns)
        shape = ((1 + 2 * self.n_models) * n_classes, len(cells))
        self.matrix = csr_array((np.ones(len(row)), (row, column)), shape=shape)

    def _offset(self, model: int) -> int:
        return (1 + 2 * model) * self.n_classes

    def of_cells(self, gammas: FloatArray) -> FloatArray:
        """Return sums over the observed cells."""
        sums: FloatArray = self.matrix @ gammas
        return sums

    def add_prior(self, sums: FloatArray, masses: FloatArray, tickets: Sequence[IntArray]) -> None:
        """Add the masses of the prior's sticks to the sums."""
        n_classes, length = masses.shape[1:]
        sums[:n_classes] += masses.sum(axis=0)
        draws = np.arange(length)
        indices = np.empty(masses.shape, dtype=np.int64)
        for model, ticket in enumerate(tickets):
            start = self._offset(model)
            hits = sums[start : start + n_classes]
            _read_tickets(ticket, n_classes, scale=length, out=indices)
            hits += np.einsum("stn,stn->tn", masses, ticket < n_classes - 1)
            indices += draws
            predicted = np.bincount(indices.ravel(), masses.ravel(), minlength=n_classes * length)
            sums[start + n_classes : start + 2 * n_classes] += predicted.reshape(n_classes, length)

    def split(self, sums: FloatArray) -> list[Drawn]:
        """Return the sums needed for each model."""
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


class Errors(Margins):
    """Sums only each model's errors: the missed and the spurious weight of each class.

    Ranked models are right most of the time, so this needs only a fraction of the additions. ``hits
    = actual − missed`` and ``predicted = hits + spurious``.
    """

    def __init__(self, cells: IntArray, n_classes: int) -> None:
        from scipy.sparse import csr_array

        self.n_classes, self.n_models = n_classes, cells.shape[1] - 1
        truth = cells[:, 0]
        rows, columns = [truth], [np.arange(len(cells))]
        for model in range(self.n_models):
            wrong = np.flatnonzero(cells[:, 1 + model] != truth)
            start = self._offset(model)
            rows += [start + truth[wrong], start + n_classes + cells[wrong, 1 + model]]
            columns += [wrong, wrong]
        row, column = np.concatenate(rows), np.concatenate(columns)
        shape = ((1 + 2 * self.n_models) * n_classes, len(cells))
        self.matrix = csr_array((np.ones(len(row)), (row, column)), shape=shape)

    def add_prior(self, sums: FloatArray, masses: FloatArray, tickets: Sequence[IntArray]) -> None:
        """Add the masses of the prior's sticks to the sums."""
        n_classes, length = masses.shape[1:]
        sums[:n_classes] += masses.sum(axis=0)
        draws = np.arange(length)
        indices = np.empty(masses.shape, dtype=np.int64)
        # A single look-up for all true classes: the offset of each class in the full table.
        known = _ticket_classes(n_classes).ravel() * length if n_classes <= _TABULATED else None
        firsts = (np.arange(n_classes) * 2 * (n_classes - 1))[:, None]
        for model, ticket in enumerate(tickets):
            start = self._offset(model)
            wrong = masses * (ticket >= n_classes - 1)
            sums[start : start + n_classes] += wrong.sum(axis=0)
            if known is None:
                _read_tickets(ticket, n_classes, scale=length, out=indices)
            else:
                np.take(known, ticket + firsts, out=indices, mode="clip")
            indices += draws
            spurious = np.bincount(indices.ravel(), wrong.ravel(), minlength=n_classes * length)
            sums[start + n_classes : start + 2 * n_classes] += spurious.reshape(n_classes, length)

    def split(self, sums: FloatArray) -> list[Drawn]:
        """Return the sums needed for each model."""
        n_classes = self.n_classes
        actual = sums[:n_classes]
        tables: list[Drawn] = []
        for start in map(self._offset, range(self.n_models)):
            missed, spurious = sums[start : start + 2 * n_classes].reshape(2, n_classes, -1)
            hits = np.maximum(actual - missed, 0.0)
            tables.append(Sums(hits=hits, actual=actual, predicted=hits + spurious))
        return tables


class Confusions:
    """Sums weights into a full confusion matrix per model, scaled to sum to 1."""

    def __init__(self, cells: IntArray, n_classes: int) -> None:
        from scipy.sparse import csr_array

        if n_classes**2 > _MOST_CONFUSION_CELLS:
            raise ResourceError(
                f"a function of the entire confusion matrix needs {n_classes**2:,} cells per "
                "draw; use one of the named metrics, which need three numbers per class"
            )
        self.n_classes, self.n_models = n_classes, cells.shape[1] - 1
        self.ticket_classes = _ticket_classes(n_classes)
        truth, cell_index = cells[:, 0], np.arange(len(cells))
        rows = [
            model * n_classes**2 + truth * n_classes + cells[:, 1 + model]
            for model in range(self.n_models)
        ]
        shape = (self.n_models * n_classes**2, len(cells))
        entries = (
            np.ones(len(cells) * self.n_models),
            (np.concatenate(rows), np.tile(cell_index, self.n_models)),
        )
        self.matrix = csr_array(entries, shape=shape)

    def of_cells(self, gammas: FloatArray) -> FloatArray:
        """Return sums over the observed cells."""
        sums: FloatArray = self.matrix @ gammas
        return sums

    def add_prior(self, sums: FloatArray, masses: FloatArray, tickets: Sequence[IntArray]) -> None:
        """Add the masses of the prior's sticks to the sums."""
        n_classes, length = masses.shape[1:]
        truth = np.arange(n_classes)[:, None]
        for model, ticket in enumerate(tickets):
            cell = truth * n_classes + self.ticket_classes[truth, ticket]
            index = cell * length + np.arange(length)
            added = np.bincount(index.ravel(), masses.ravel(), minlength=n_classes**2 * length)
            sums[model * n_classes**2 : (model + 1) * n_classes**2] += added.reshape(-1, length)

    def split(self, sums: FloatArray) -> list[Drawn]:
        """Return the sums needed for each model."""
        n_classes = self.n_classes
        stacked = sums.reshape(self.n_models, n_classes, n_classes, -1)
        return [matrix / matrix.sum(axis=(0, 1)) for matrix in stacked]


class RowSums:
    """Sums weights by true class, and multiplies the weights of each class by a factor."""

    def __init__(self, cells: IntArray, n_classes: int) -> None:
        from scipy.sparse import csr_array

        self.truth = cells[:, 0]
        cell_index = np.arange(len(cells))
        shape = (n_classes, len(cells))
        self.matrix = csr_array((np.ones(len(cells)), (self.truth, cell_index)), shape=shape)

    def of_cells(self, weights: FloatArray) -> FloatArray:
        """Return the sum for each true class, ``(n_classes, n_draws)``."""
        sums: FloatArray = self.matrix @ weights
        return sums

    def multiply(self, weights: FloatArray, factors: FloatArray) -> None:
        """Multiply the weights of cells by the factor of their true class, in place."""
        weights *= factors[self.truth]


def choose_tally(
    cells: IntArray, n_classes: int, needs: Needs, *, largest: float
) -> Margins | Confusions:
    """Return the fastest tally for the required sums, given the largest shape of a cell."""
    if needs == "confusion":
        return Confusions(cells, n_classes)
    many = cells.shape[1] - 1 >= _MANY_MODELS and largest <= _LARGEST_COUNT
    return (Errors if many else Margins)(cells, n_classes)


class LinearWeights(TablesBase):
    """Independent gammas, one per unit, and the cells of each unit.

    A unit is a cell, or a pattern of cells that occurs in groups. In the latter case, the sum of
    the Exp(1) weights of all groups with the pattern is Gamma(repeats).

    Parameters
    ----------
    outcomes
        Paired outcomes of one or more models; their codes and classes are used.
    cells
        Cells, ``(n_cells, 1 + n_models)``.
    shapes
        Gamma shape of each unit.
    matrix
        Count or weight of each cell in each unit, ``(n_cells, n_units)``; None if the units are the
        cells.
    """

    df: float | None = None
    """Degrees of freedom of the units' estimate of the spread; None if there are many units."""

    def __init__(
        self,
        outcomes: Outcomes,
        *,
        cells: IntArray,
        shapes: FloatArray,
        matrix: csr_array | None = None,
    ) -> None:
        self.n_models, self.n_classes = len(outcomes.models), outcomes.n_classes
        self.n_codes, self.outcomes = n_codes(outcomes), outcomes
        order = np.argsort(shapes, kind="stable")
        self.shapes = shapes[order]
        self.matrix = None if matrix is None else matrix[:, order]
        self.cells = cells if matrix is not None else cells[order]

    @property
    def n_gammas(self) -> int:
        """Number of gammas per draw."""
        return max(self.shapes.size, 1)

    @property
    def _spread(self) -> float:
        """Ratio of the largest to the smallest unit weight."""
        if self.matrix is None or not self.matrix.nnz:
            return 1.0
        return float(self.matrix.data.max() / self.matrix.data.min())

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws weights and adds them up for each model."""
        tally = self.tally(needs)
        matrix = tally.matrix if self.matrix is None else (tally.matrix @ self.matrix).tocsr()
        add_up = gamma_sums(
            self.shapes, lambda gammas: matrix @ gammas, n_models=self.n_models, df=self.df
        )

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            return [self.of_classes(drawn) for drawn in tally.split(add_up(generator, length))]

        return draw

    def widened(self, df: float | None) -> Self:
        """Return the same weights with these degrees of freedom; None if the units are many."""
        wider = copy(self)
        wider.df = df
        return wider

    def weights_worker(self) -> Callable[[np.random.Generator, int], FloatArray]:
        """Return a function that draws the weight of each cell, ``(n_cells, n_draws)``."""

        def draw(generator: np.random.Generator, length: int) -> FloatArray:
            gammas = np.empty((self.shapes.size, length))
            factors = None if self.df is None else spread_factors(generator, self.df, length)
            fill_rows(generator, self.shapes, gammas, factors)
            return gammas if self.matrix is None else self.matrix @ gammas

        return draw

    def predictor(self) -> NewTable:
        """Return a function that draws items from the cells, or draws entire groups."""
        if self.matrix is None:
            return cell_predictor(self)
        table = self.outcomes.tables[0]
        groups = table.groups
        assert groups is not None
        shapes = groups.repeats.astype(np.float64)

        def draw(generator: np.random.Generator, size: int) -> Table:
            weights = draw_gammas(generator, shapes)
            repeats = generator.multinomial(size, weights / weights.sum())
            drawn = replace(groups, repeats=repeats)
            if groups.weighted:  # every item is in one group, whatever its weight
                counts = np.zeros(len(table.cells), dtype=np.int64)
                np.add.at(counts, groups.cell, repeats[groups.pattern])
            else:
                counts = drawn.amounts(n_cells=len(table.cells)).astype(np.int64)
            return Table(table.cells, counts, drawn)

        return draw

    def tally(self, needs: Needs) -> Margins | Confusions:
        """Return the tally that sums the weights of cells."""
        largest = float(self.shapes.max(initial=0.0)) * self._spread
        return choose_tally(self.cells, self.n_codes, needs, largest=largest)

    def scaled_worker(self, needs: Needs) -> ScaledWorker:
        """Return a function that scales the true classes."""
        tally = self.tally(needs)
        rows, draw_weights = RowSums(self.cells, self.n_codes), self.weights_worker()

        def draw(generator: np.random.Generator, length: int, scale: Scale) -> list[Drawn]:
            weights = draw_weights(generator, length)
            rows.multiply(weights, scale(rows.of_cells(weights)))
            return tally.split(tally.of_cells(weights))

        return draw

    def of_classes(self, drawn: Drawn) -> Drawn:
        """Drop "no span", which is not a class."""
        if self.outcomes.kind != "spans" or not isinstance(drawn, Sums):
            return drawn
        return Sums(*(sums[: self.n_classes] for sums in drawn))


class DirichletCells(LinearWeights):
    """A single Dirichlet over listed cells, so sums of its cells have closed forms."""

    def part_shape(self, model: int, part: str, positive: int | None) -> float | None:
        """Return the gamma shape of a part."""
        truth, predicted = self.cells[:, 0], self.cells[:, 1 + model]
        is_true: BoolArray = truth == positive
        is_predicted: BoolArray = predicted == positive
        selected = {
            "tp": is_true & is_predicted,
            "fn": is_true & ~is_predicted,
            "fp": ~is_true & is_predicted,
        }[part]
        return float(self.shapes[selected].sum())

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return the shapes of found and missed spans of one type."""
        shapes = [self.part_shape(model, part, positive) for part in ("tp", "fn")]
        return None if shapes[0] is None or shapes[1] is None else (shapes[0], shapes[1])

    def agreement_shapes(self, truth: int | None) -> Shapes | None:
        """Return the shapes of four cells: found by both, by A only, by B only, and by neither."""
        if self.n_models != 2 or truth is None:
            return None
        actual = self.cells[:, 0]
        found_a: BoolArray = self.cells[:, 1] == actual
        found_b: BoolArray = self.cells[:, 2] == actual
        inside: BoolArray = actual == truth
        return Shapes(
            *(
                float(self.shapes[inside & in_a & in_b].sum())
                for in_a in (found_a, ~found_a)
                for in_b in (found_b, ~found_b)
            )
        )


def held_by(outcomes: Outcomes, groups: Groups) -> csr_array:
    """Return the count of each cell in each group pattern, ``(n_cells, n_patterns)``.

    An item of importance w is a group with w items in its cell, so it contributes w · Exp(1) to a
    draw.
    """
    from scipy.sparse import csr_array

    times = groups.times.astype(np.float64)
    if groups.weighted:  # the weights have an arbitrary scale, and rescaling prevents overflow
        times = times / times.max(initial=np.finfo(np.float64).tiny)
    return csr_array(
        (times, (groups.cell, groups.pattern)),
        shape=(len(outcomes.tables[0].cells), len(groups.repeats)),
    )


class PairSums(NamedTuple):
    """Cell weights of two models, summed by true class and prediction."""

    answers: FloatArray  # (n_draws, n_classes, 2 · n_classes), predictions of A before those of B
    hits: FloatArray  # (2, n_classes, n_draws)
    rows: FloatArray  # (n_classes, n_draws)

    @classmethod
    def of(cls, answers: FloatArray) -> PairSums:
        """Add up the rows."""
        size = answers.shape[1]
        apart = answers.reshape(-1, size, 2, size)
        hits = np.ascontiguousarray(np.einsum("dtmt->mtd", apart))
        return cls(answers, hits, np.ascontiguousarray(apart[:, :, 0].sum(axis=2).T))

    @classmethod
    def of_cells(cls, cells: IntArray, values: FloatArray, *, n_classes: int) -> PairSums:
        """Sum one value per cell, as if the values were a single draw."""
        answers = np.zeros((1, n_classes, 2 * n_classes))
        for model in range(2):
            np.add.at(answers[0], (cells[:, 0], model * n_classes + cells[:, 1 + model]), values)
        return cls.of(answers)

    def cut(self, draws: slice) -> PairSums:
        """Return some of the draws."""
        return PairSums(self.answers[draws], self.hits[..., draws], self.rows[:, draws])

    def add_margins(self, factors: FloatArray, out: FloatArray) -> None:
        """Add rows times factors ``(n_classes, n_draws)`` to both models' hits and predicted."""
        out[:, 0] += factors * self.hits
        weights = np.ascontiguousarray(factors.T)
        if len(self.answers) == 1:
            predicted = weights @ self.answers[0]
        else:
            predicted = (weights[:, None] @ self.answers)[:, 0]
        out[:, 1] += predicted.T.reshape(out[:, 1].shape)

    def add_confusion(self, factors: FloatArray, out: FloatArray) -> None:
        """Add rows times factors ``(n_classes, n_draws)`` to both models' confusion arrays."""
        size = len(factors)
        out += factors[:, None] * self.answers.reshape(-1, size, 2, size).transpose(2, 1, 3, 0)


class PatternSums(NamedTuple):
    """Cell weights of two models, summed by true class, prediction and pattern.

    Patterns are 0 if neither is right, 1 if only B is, 2 if only A is and 3 if both are.
    """

    wrong: FloatArray  # (2, n_draws, 2 · n_classes, n_classes): A's if B is right, else; B's
    rows: FloatArray  # (4, n_classes, n_draws)

    @classmethod
    def empty(cls, n_draws: int, n_classes: int) -> PatternSums:
        """Return empty sums."""
        wrong = np.zeros((2, n_draws, 2 * n_classes, n_classes))
        return cls(wrong, np.zeros((4, n_classes, n_draws)))

    def fill_row(self, row: int, answers: IntArray, gammas: Iterable[FloatArray]) -> None:
        """Add gammas of a true class one at a time, with the predictions of A and B."""
        size = self.rows.shape[1]
        sums = np.zeros((2, 2, size, self.rows.shape[2]))  # model, whether the other is wrong
        pairs: list[list[int]] = answers.tolist()
        for (a, b), values in zip(pairs, gammas, strict=True):
            self.rows[2 * (a == row) + (b == row), row] += values
            if a != row:
                sums[0, int(b != row), a] += values
            if b != row:
                sums[1, int(a != row), b] += values
        self.wrong[:, :, [row, size + row]] = sums.transpose(0, 3, 1, 2)

    def cut(self, draws: slice) -> PatternSums:
        """Return some of the draws."""
        return PatternSums(self.wrong[:, draws], self.rows[..., draws])

    def add_margins(self, factors: FloatArray, out: FloatArray) -> None:
        """Add rows times factors ``(4, n_classes, n_draws)`` to both models' hits and predicted."""
        for model, (only, other) in enumerate(((2, 1), (1, 2))):
            hits = factors[3] * self.rows[3] + factors[only] * self.rows[only]
            out[model, 0] += hits
            out[model, 1] += hits
            weights = np.ascontiguousarray(factors[[other, 0]].reshape(-1, factors.shape[2]).T)
            out[model, 1] += (weights[:, None] @ self.wrong[model])[:, 0].T

    def add_confusion(self, factors: FloatArray, out: FloatArray) -> None:
        """Add rows times factors ``(4, n_classes, n_draws)`` to both models' confusion arrays."""
        size = factors.shape[1]
        diagonal = np.arange(size)
        for model, (only, other) in enumerate(((2, 1), (1, 2))):
            hits = factors[3] * self.rows[3] + factors[only] * self.rows[only]
            out[model, diagonal, diagonal] += hits
            apart = self.wrong[model].reshape(-1, 2, size, size)
            out[model] += np.einsum("ptd,dpta->tad", factors[[other, 0]], apart)
