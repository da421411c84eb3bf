"""Priors ``uniform``, ``jeffreys`` and ``unit``: Dirichlet rows, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from outperform._rows import count_rows
from outperform._typing import BoolArray, FloatArray, IntArray
from outperform.data.outcomes import Outcomes
from outperform.data.table import Table
from outperform.data.views import count_of
from outperform.errors import DataError, ResourceError, param
from outperform.posterior.base import (
    Drawn,
    Needs,
    NewTable,
    Prior,
    Scale,
    ScaledWorker,
    Shapes,
    ShareForm,
    Tables,
    TablesBase,
    Worker,
    cell_predictor,
    draw_items_of,
    exact_value,
    margins_of,
    product_rows,
    share_of_right,
)
from outperform.posterior.bootstrap import LabelByLabel, flat_spans, unit_spans
from outperform.posterior.exact.share import Share
from outperform.posterior.gammas import draw_gammas, fill_proportions, fill_rows, gamma_sums
from outperform.posterior.rng import run_blocks
from outperform.posterior.sums import DirichletCells, RowSums, Tally, choose_tally, ticket_classes

_MOST_CELLS = 1 << 20

# The weight of a class with no items and almost no prior mass would underflow to zero. Its rates
# are ratios, so a floor keeps them defined.
_SMALLEST_PREVALENCE = 1e-250


T = TypeVar("T")


class DenseRows(TablesBase):
    """Posterior with ``μ ~ Dir(β + n)`` and, in each class, ``θ_j ~ Dir(α_j + c_j)``.

    Parameters
    ----------
    counts
        Count of each cell, ``(n_classes, n_classes, …)``: the true class, then each model's
        prediction.
    rows
        Prior concentrations, in the same shape.
    prevalence
        Prior concentrations ``(n_classes,)`` of the class proportions.
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
        """Number of gammas per draw."""
        return int(self.shapes.size + self.n_classes)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws weights and sums them for each model."""
        n_models = self.n_models
        return self._worker(
            lambda weights: [_read(weights, model, n_models, needs) for model in range(n_models)]
        )

    @property
    def cells(self) -> IntArray:
        """All combinations of a true class and the models' predictions."""
        return np.indices(self.shapes.shape).reshape(self.shapes.ndim, -1).T

    def weights_worker(self) -> Callable[[np.random.Generator, int], FloatArray]:
        """Return a function that draws all cells, ``(n_cells, n_draws)``."""
        return self._worker(lambda weights: weights.reshape(-1, weights.shape[2]))

    def predictor(self) -> NewTable:
        """Return a function that draws items from all cells."""
        return cell_predictor(self)

    def _worker(self, read: Callable[[FloatArray], T]) -> Callable[[np.random.Generator, int], T]:
        """Return a function that draws prevalence and rows separately and reads their product.

        It fills its own buffer.
        """
        n_classes = self.n_classes
        shapes = self.shapes.reshape(n_classes, -1)
        buffers: dict[int, tuple[FloatArray, FloatArray]] = {}

        def draw(generator: np.random.Generator, length: int) -> T:
            if length not in buffers:
                buffers[length] = (np.empty((n_classes, length)), np.empty((*shapes.shape, length)))
            prevalence, weights = buffers[length]
            fill_proportions(generator, self.prevalence, prevalence)
            np.maximum(prevalence, _SMALLEST_PREVALENCE, out=prevalence)
            for row in range(n_classes):
                fill_proportions(generator, shapes[row], weights[row], total=prevalence[row])
            return read(weights)

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
        is_class: BoolArray = np.arange(self.n_classes) == positive
        truth = is_class if part in ("tp", "fn") else ~is_class
        predicted = is_class if part in ("tp", "fp") else ~is_class
        return float(confusion[np.ix_(truth, predicted)].sum())

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return the shapes of right and wrong predictions in one true class."""
        row: FloatArray = self._confusion_shapes(model)[positive]
        return float(row[positive]), float(np.delete(row, positive).sum())

    def agreement_shapes(self, truth: int | None) -> Shapes | None:
        """Return the shapes for both, A only, B only and neither right."""
        if self.n_models != 2 or (truth is None and not self.one_dirichlet):
            return None
        classes = range(self.n_classes) if truth is None else [truth]
        cells = np.zeros(4)
        for actual in classes:
            joint: FloatArray = self.shapes[actual]
            both = joint[actual, actual]
            only_a = np.delete(joint[actual], actual).sum()
            only_b = np.delete(joint[:, actual], actual).sum()
            cells += [both, only_a, only_b, np.delete(np.delete(joint, actual, 0), actual, 1).sum()]
        return Shapes(*(float(shape) for shape in cells))

    def prevalence_shapes(self, positive: int) -> tuple[float, float] | None:
        """Return the shapes of one class and of the rest."""
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
            f"this prior draws all {n_cells:,} cells, more than the limit of {_MOST_CELLS:,}; use "
            f"{param('prior=', 'unit')}, which draws only the cells that occurred"
        )


def _check_proper(shapes: FloatArray, prevalence: FloatArray) -> None:
    if shapes.min() <= 0 or prevalence.min() <= 0:
        raise DataError(
            "a prior of 0 on a cell that never occurred is improper; use a positive prior for "
            f"every cell, e.g. {param('prior=', 'jeffreys')}, or use "
            f"{param('prior=', 'bootstrap')}"
        )


def draw_lumped(
    posterior: Tables,
    form: ShareForm | None,
    *,
    positive: int | None,
    paired: bool,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> FloatArray | None:
    """Draw a share's values ``(n_models, n_draws)``; return None if cells cannot be lumped."""
    if form is None:
        return None
    shapes = (_pair_shapes if paired else _own_shapes)(posterior, form, positive)
    if shapes is None:
        return None
    weight = form.rest[0][1]

    def fill(generator: np.random.Generator, out: FloatArray) -> None:
        tops = []
        for shape in shapes:
            cells = np.empty((shape.size, out.shape[1]))
            fill_proportions(generator, shape, cells)
            # Cells are (for, against), or (both, only A, only B, neither).
            tops += [cells[0]] if shape.size == 2 else [cells[0] + cells[1], cells[0] + cells[2]]
        for model, top in enumerate(tops):
            out[model] = top / (top + weight * (1.0 - top))

    return run_blocks(
        lambda: fill,
        n_values=posterior.n_models,
        n_draws=n_draws,
        n_gammas=sum(shape.size for shape in shapes),
        seed=seed,
        n_jobs=n_jobs,
    )


def _pair_shapes(
    posterior: Tables, form: ShareForm, positive: int | None
) -> list[FloatArray] | None:
    within = share_of_right(form, positive)
    if within is None or posterior.n_models != 2:
        return None
    agreement = posterior.agreement_shapes(within.row)
    return None if agreement is None else [np.array(agreement)]


def _own_shapes(
    posterior: Tables, form: ShareForm, positive: int | None
) -> list[FloatArray] | None:
    shares = [
        exact_value(posterior, form, model=model, positive=positive)
        for model in range(posterior.n_models)
    ]
    shapes = [np.array([share.a, share.b]) for share in shares if isinstance(share, Share)]
    return shapes if len(shapes) == len(shares) else None


# The last stick has a mass of 2⁻⁹ of one item.
_STICKS = 10

RightRates = Callable[[np.random.Generator, int], Sequence[FloatArray | float]]
"""Draw each model's prior probability of being right: one number overall, or one per draw."""


class SparseWeights(TablesBase):
    """Posterior whose prior has mass 1 in each class, split by a product of rows.

    Parameters
    ----------
    outcomes
        Paired outcomes of one or more models.
    right_rates
        Function that draws ``η``, the prior share on the diagonal, for each model.
    fixed_rate
        ``η`` if it is a known number, which makes closed forms possible.
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
        """Approximate number of random numbers per draw."""
        return int(self.counts.size + _STICKS * self.n_classes)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws weights and sums them for each model."""
        largest = float(self.counts.max(initial=0.0))
        return self.tallied(choose_tally(self.cells, self.n_classes, needs, largest=largest))

    def tallied(self, tally: Tally) -> Worker:
        """Return a function that draws weights and passes them to a tally."""
        add_up = gamma_sums(self.counts, tally.of_cells, n_models=self.n_models)

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            sums = add_up(generator, length)
            rates = self.right_rates(generator, length)
            masses = _sticks(generator, self.n_classes, length)
            tickets = [_tickets(generator, rate, masses.shape) for rate in rates]
            tally.add_prior(sums, masses, tickets)
            return tally.split(sums)

        return draw

    def predictor(self) -> NewTable:
        """Return a function that draws from the observed cells and the prior's sticks."""

        def draw(generator: np.random.Generator, size: int) -> Table:
            cells, masses = self.draw_sticks(generator)
            weights = np.concatenate([draw_gammas(generator, self.counts), masses])
            drawn = draw_items_of(np.concatenate([self.cells, cells]), generator, size, weights)
            columns = list(drawn.cells.T)
            return Table(*count_rows(columns, n_labels=self.n_classes, weights=drawn.counts))

        return draw

    def draw_sticks(self, generator: np.random.Generator) -> tuple[IntArray, FloatArray]:
        """Draw the prior measure once: cells ``(n_sticks, 1 + n_models)`` and their masses."""
        rates = self.right_rates(generator, 1)
        masses = _sticks(generator, self.n_classes, 1)
        truth = np.broadcast_to(np.arange(self.n_classes)[:, None], masses.shape)
        columns = [truth.ravel()]
        for rate in rates:
            columns.append(ticket_classes(_tickets(generator, rate, masses.shape)).ravel())
        return np.stack(columns, axis=1), masses.ravel()

    def scaled_worker(self, needs: Needs) -> ScaledWorker:
        """Return a function that scales the true classes, including the prior mass."""
        largest = float(self.counts.max(initial=0.0))
        tally = choose_tally(self.cells, self.n_classes, needs, largest=largest)
        rows = RowSums(self.cells, self.n_classes)

        def draw(generator: np.random.Generator, length: int, scale: Scale) -> list[Drawn]:
            gammas = np.empty((self.counts.size, length))
            fill_rows(generator, self.counts, gammas)
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
        """Return the gamma shape of a part if the split of the prior is known."""
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
        return count_of(self.outcomes, name, part, positive=positive) + prior  # type: ignore[arg-type]

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return the shapes of right and wrong predictions in one true class."""
        right = self.part_shape(model, "tp", positive)
        wrong = self.part_shape(model, "fn", positive)
        return None if right is None or wrong is None else (right, wrong)

    def agreement_shapes(self, truth: int | None) -> Shapes | None:
        """Return the shapes for both, A only, B only and neither right."""
        if self.fixed_rate is None or self.n_models != 2:
            return None
        right, classes = self.fixed_rate, self.n_classes if truth is None else 1
        prior = (right**2, right * (1 - right), right * (1 - right), (1 - right) ** 2)
        counts = self.outcomes.agreement(truth)
        return Shapes(*(count + classes * mass for count, mass in zip(counts, prior, strict=True)))


def _sticks(generator: np.random.Generator, n_classes: int, length: int) -> FloatArray:
    """Draw the prior mass of each class, broken into sticks ``(sticks, n_classes, n_draws)``."""
    masses = generator.random((_STICKS, n_classes, length))
    left = draw_gammas(generator, 1.0, (n_classes, length))
    for stick in range(_STICKS - 1):
        masses[stick] *= left
        left -= masses[stick]
    masses[-1] = left  # the last stick takes the remainder, so no mass is lost
    return masses


def _tickets(
    generator: np.random.Generator, rates: FloatArray | float, shape: tuple[int, ...]
) -> IntArray:
    """Draw the class of each stick: below ``n_classes - 1`` the true class, else another.

    Ticket ``n_classes - 1 + i`` means the i-th class after the true one, cyclically. At a rate of
    ½, all tickets are equally likely.
    """
    others = shape[1] - 1
    if isinstance(rates, float) and rates == 0.5:
        return generator.integers(0, 2 * others, size=shape, dtype=np.uint32)
    uniform = generator.random(shape)
    tickets = (uniform - rates) * (others / (1.0 - rates))
    np.clip(tickets, -1.0, others - 1, out=tickets)
    np.floor(tickets, out=tickets)
    tickets += others
    return tickets.astype(np.int64)


def flat(outcomes: Outcomes, prior: Prior) -> DenseRows | DirichletCells | LabelByLabel:
    """Return the posterior under an explicit prior on every cell.

    Zhang, Wang, Yilmaz, Wang and Zhou, SIGIR 2016, sections 3.1.1 and 3.1.2.
    """
    if outcomes.kind == "spans":
        return flat_spans(outcomes, prior)
    if outcomes.kind == "label_sets":
        return LabelByLabel(outcomes, lambda binary: flat(binary, prior))
    return DenseRows(
        dense_counts(outcomes),
        rows=prior.row_shapes(outcomes.n_classes, len(outcomes.models)),
        prevalence=prior.prevalence_shapes(outcomes.n_classes),
    )


RIGHT = 0.5

# With few cells, all of them can be drawn, and the draws are exactly Dirichlet.
_FEW_CELLS = 128


def unit_rows(n_classes: int, right: float = RIGHT) -> FloatArray:
    """Return rows of mass 1, with ``η`` on the diagonal and the remainder split evenly.

    Examples
    --------
    >>> unit_rows(3)[0].tolist()
    [0.5, 0.25, 0.25]
    """
    rows = np.full((n_classes, n_classes), (1 - right) / (n_classes - 1))
    np.fill_diagonal(rows, right)
    return rows


def unit(outcomes: Outcomes) -> DenseRows | SparseWeights | DirichletCells | LabelByLabel:
    """Return the posterior under the unit prior for one model or several paired models."""
    if outcomes.kind == "spans":
        return unit_spans(outcomes)
    if outcomes.kind == "label_sets":
        return LabelByLabel(outcomes, unit)
    n_classes, n_models = outcomes.n_classes, len(outcomes.models)
    if n_classes ** (1 + n_models) <= _FEW_CELLS:
        rows = product_rows(unit_rows(n_classes), n_models)
        return DenseRows(dense_counts(outcomes), rows=rows, prevalence=np.ones(n_classes))
    return sparse_unit(outcomes)


def sparse_unit(outcomes: Outcomes) -> SparseWeights:
    """Return the unit posterior drawn only from cells that occurred."""
    rates = [RIGHT] * len(outcomes.models)
    return SparseWeights(outcomes, right_rates=lambda generator, length: rates, fixed_rate=RIGHT)
