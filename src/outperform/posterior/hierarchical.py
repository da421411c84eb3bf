"""Priors ``hierarchical`` and ``learned``: hyperparameters by quadrature on a grid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import betaln, digamma

from outperform._typing import AnyArray, BoolArray, FloatArray
from outperform.data.outcomes import Outcomes
from outperform.errors import UsageError, param
from outperform.posterior.base import Drawn, Needs, NoClosedForms, Worker, margins_of
from outperform.posterior.dirichlet import SparseWeights, dense_counts
from outperform.posterior.rng import fill_proportions, log_gammas, runs

# A logistic prior falls below e^-40 outside ±40; no data can move a peak further out.
_WIDEST = 40.0
# What lies this many nats below the peak is left out: less than 1e-13 of the mass.
_DEPTH = 30.0
_COARSE = 25
_FINE = {1: 2049, 2: 257}
_KNOTS = 257

Function = Callable[[FloatArray], FloatArray]
LogAlpha = Callable[[Sequence[FloatArray]], FloatArray]


class RisingFactorial:
    """``Σ log Γ(c + α) / Γ(α)`` over many counts, up to a constant, as a function of log α.

    Written with ``-betaln(c, α)``: differences of gammaln lose digits for
    large counts.
    """

    def __init__(self, counts: AnyArray) -> None:
        positive = counts[counts > 0].astype(np.float64)
        self.counts, self.multiplicity = np.unique(positive, return_counts=True)

    def __call__(self, log_alpha: FloatArray) -> FloatArray:
        """Return the sum at each log α."""
        values = np.zeros(np.shape(log_alpha))
        alpha = np.exp(log_alpha)
        for count, times in zip(self.counts, self.multiplicity, strict=True):
            values -= times * betaln(count, alpha)
        return values

    def slope(self, log_alpha: FloatArray) -> FloatArray:
        """Return the derivative with respect to log α."""
        values = np.zeros(np.shape(log_alpha))
        alpha = np.exp(log_alpha)
        for count, times in zip(self.counts, self.multiplicity, strict=True):
            values += times * alpha * (digamma(count + alpha) - digamma(alpha))
        return values

    def tabulated(self, low: float, high: float) -> Function:
        """Return a cubic Hermite interpolant on ``[low, high]``, for large grids."""
        knots = np.linspace(low, high, _KNOTS)
        step: float = knots[1] - knots[0]
        if not self.counts.size or step == 0:
            return self
        values, slopes = self(knots), self.slope(knots) * step

        def interpolate(log_alpha: FloatArray) -> FloatArray:
            place = (log_alpha - low) / step
            left = np.clip(place.astype(np.int64), 0, _KNOTS - 2)
            t = place - left
            rise = values[left + 1] - values[left]
            # Hermite's cubic, in powers of t.
            cubic = slopes[left] + slopes[left + 1] - 2 * rise
            square = 3 * rise - 2 * slopes[left] - slopes[left + 1]
            result: FloatArray = values[left] + t * (slopes[left] + t * (square + t * cubic))
            return result

        return interpolate


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One part of a log density: ``sign · f(log α)`` with log α a function of the coordinates."""

    function: Function
    log_alpha: LogAlpha
    sign: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GridPosterior:
    """A density on a grid: nodes along each axis and the probability of each cell."""

    axes: tuple[FloatArray, ...]
    probabilities: FloatArray  # (n_1,) or (n_1, n_2), sums to 1

    def draw(self, generator: np.random.Generator, size: int) -> list[FloatArray]:
        """Draw coordinates: a cell by its probability, then a place within it."""
        cumulative = np.cumsum(self.probabilities.ravel())
        cells = np.searchsorted(cumulative, generator.random(size) * cumulative[-1], side="right")
        indices = np.unravel_index(cells, self.probabilities.shape)
        drawn = []
        for axis, index in zip(self.axes, indices, strict=True):
            step: float = axis[1] - axis[0]
            drawn.append(axis[index] + step * (generator.random(size) - 0.5))
        return drawn

    def mean(self, function: Callable[[FloatArray], FloatArray], *, axis: int = 0) -> float:
        """Return the expectation of a function of one coordinate."""
        others = tuple(other for other in range(len(self.axes)) if other != axis)
        marginal: FloatArray = self.probabilities.sum(axis=others)
        return float(marginal @ function(self.axes[axis]))


def grid_posterior(terms: Sequence[Term], n_axes: int) -> GridPosterior:
    """Find where the density lives and tabulate it there.

    Every coordinate has a logistic prior, which is what a uniform ``η`` is in
    ``logit η`` and what a mass with density ``1 / (1 + s)²`` is in ``log s``.
    """
    box = [(-_WIDEST, _WIDEST)] * n_axes
    for _ in range(12):
        axes = [np.linspace(low, high, _COARSE) for low, high in box]
        logs = _log_density(terms, axes)
        smaller = _live_box(axes, logs)
        shrunk = any(
            (new[1] - new[0]) < 0.8 * (old[1] - old[0])
            for new, old in zip(smaller, box, strict=True)
        )
        box = smaller
        if not shrunk:
            break
    axes = [np.linspace(low, high, _FINE[n_axes]) for low, high in box]
    logs = _log_density(_tabulated(terms, axes), axes)
    density: FloatArray = np.exp(logs - logs.max())
    return GridPosterior(axes=tuple(axes), probabilities=density / density.sum())


def logistic(coordinate: FloatArray) -> FloatArray:
    """Return ``1 / (1 + e^-x)``, the inverse of logit."""
    value: FloatArray = 1.0 / (1.0 + np.exp(-coordinate))
    return value


def log_logistic(coordinate: FloatArray) -> FloatArray:
    """Return the logarithm of the logistic function, also far out."""
    value: FloatArray = -np.logaddexp(0.0, -coordinate)
    return value


def _log_density(terms: Sequence[Term], axes: Sequence[FloatArray]) -> FloatArray:
    mesh = np.meshgrid(*axes, indexing="ij", sparse=True)
    total = np.zeros([axis.size for axis in axes])
    for coordinate in mesh:
        total = total + log_logistic(coordinate) + log_logistic(-coordinate)
    for term in terms:
        total = total + term.sign * term.function(term.log_alpha(mesh))
    return total


def _live_box(axes: Sequence[FloatArray], logs: FloatArray) -> list[tuple[float, float]]:
    alive: BoolArray = logs > logs.max() - _DEPTH
    box = []
    for place, axis in enumerate(axes):
        others = tuple(other for other in range(len(axes)) if other != place)
        inside = np.flatnonzero(alive.any(axis=others))
        first, last = max(inside[0] - 1, 0), min(inside[-1] + 1, axis.size - 1)
        box.append((float(axis[first]), float(axis[last])))
    return box


def _tabulated(terms: Sequence[Term], axes: Sequence[FloatArray]) -> list[Term]:
    if len(axes) == 1:
        return list(terms)
    mesh = np.meshgrid(*(axis[[0, -1]] for axis in axes), indexing="ij", sparse=True)
    out = []
    for term in terms:
        function = term.function
        if isinstance(function, RisingFactorial):
            # log α is monotone in each coordinate, so the corners bound it.
            corners = term.log_alpha(mesh)
            function = function.tabulated(float(corners.min()), float(corners.max()))
        out.append(Term(function=function, log_alpha=term.log_alpha, sign=term.sign))
    return out


def hierarchical(outcomes: Outcomes) -> SparseWeights:
    """Return the posterior with learned ``η``, for one model or a pair.

    Zhang, Wang, Zhao and Wang, ICDM 2015.
    """
    grid = eta_posterior(outcomes)

    def right_rates(generator: np.random.Generator, length: int) -> list[FloatArray]:
        return [logistic(logits) for logits in grid.draw(generator, length)]

    return SparseWeights(outcomes, right_rates=right_rates)


def eta_posterior(outcomes: Outcomes) -> GridPosterior:
    """Return the posterior of ``logit η`` of each model.

    ``log p(η | C) = Σ log Γ(c + α) − log Γ(α)`` over the cells that occurred,
    where ``α`` is the product over models of ``η`` for a right prediction and
    ``(1 − η) / (M − 1)`` for a wrong one.
    """
    n_models = len(outcomes.models)
    if n_models > 2:
        raise UsageError(
            f"prior 'hierarchical' serves one model or a pair; use {param('prior=', 'unit')}, "
            "which needs no quadrature, for more"
        )
    table = outcomes.tables[0]
    right = table.cells[:, 1:] == table.cells[:, :1]  # (n_cells, n_models)
    terms = []
    for pattern in product((True, False), repeat=n_models):
        inside = (right == np.array(pattern)).all(axis=1)
        terms.append(
            Term(
                function=RisingFactorial(table.counts[inside]),
                log_alpha=_log_prior_cell(pattern, outcomes.n_classes),
            )
        )
    return grid_posterior(terms, n_models)


def _log_prior_cell(pattern: Sequence[bool], n_classes: int) -> LogAlpha:
    def log_alpha(logits: Sequence[FloatArray]) -> FloatArray:
        total: FloatArray = np.zeros(())
        for is_right, logit in zip(pattern, logits, strict=True):
            share = (
                log_logistic(logit) if is_right else log_logistic(-logit) - np.log(n_classes - 1)
            )
            total = total + share
        return total

    return log_alpha


class Free(NoClosedForms):
    """Posterior of one model with learned diagonal share and learned prior mass."""

    n_models = 1

    def __init__(self, outcomes: Outcomes) -> None:
        if len(outcomes.models) != 1:
            raise UsageError(
                f"prior 'learned' serves one model; use {param('prior=', 'unit')} to pair several"
            )
        self.n_classes = outcomes.n_classes
        self.counts = dense_counts(outcomes)  # (n_classes, n_classes)
        self.grid = mass_posterior(self.counts)

    @property
    def n_gammas(self) -> int:
        """How many gammas one draw takes."""
        return self.counts.size + self.n_classes

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws η and s, then prevalence and rows given them."""
        n_classes = self.n_classes
        prevalence_shapes = self.counts.sum(axis=1) + 1.0
        pieces = runs(prevalence_shapes)

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            logit, log_mass = self.grid.draw(generator, length)
            mass, right = np.exp(log_mass), logistic(logit)
            on, off = mass * right, mass * (1 - right) / (n_classes - 1)
            prevalence = np.empty((n_classes, length))
            fill_proportions(generator, prevalence_shapes, pieces, prevalence)
            confusion = np.empty((n_classes, n_classes, length))
            for row in range(n_classes):
                shapes = self.counts[row][:, None] + off
                shapes[row] = self.counts[row, row] + on
                confusion[row] = _row(generator, shapes) * prevalence[row]
            return [confusion if needs == "confusion" else margins_of(confusion)]

        return draw


def _row(generator: np.random.Generator, shapes: FloatArray) -> FloatArray:
    # Tiny shapes occur wherever the mass is small, so every row is drawn by its logarithms.
    logs = log_gammas(generator, shapes, shapes.shape)
    logs -= logs.max(axis=0)
    weights = np.exp(logs, out=logs)
    weights /= weights.sum(axis=0)
    return weights


def mass_posterior(counts: FloatArray) -> GridPosterior:
    """Return the posterior of ``(logit η, log s)``.

    ``log p = Σ_j [log Γ(s) − log Γ(s + n_j)] + Σ_jk [log Γ(c_jk + ω_jk) − log Γ(ω_jk)]``.
    """
    n_classes = len(counts)
    diagonal = np.eye(n_classes, dtype=bool)

    def on(axes: Sequence[FloatArray]) -> FloatArray:
        return axes[1] + log_logistic(axes[0])

    def off(axes: Sequence[FloatArray]) -> FloatArray:
        share: FloatArray = axes[1] + log_logistic(-axes[0]) - np.log(n_classes - 1)
        return share

    terms = [
        Term(function=RisingFactorial(counts[diagonal]), log_alpha=on),
        Term(function=RisingFactorial(counts[~diagonal]), log_alpha=off),
        Term(
            function=RisingFactorial(counts.sum(axis=1)), log_alpha=lambda axes: axes[1], sign=-1.0
        ),
    ]
    return grid_posterior(terms, 2)
