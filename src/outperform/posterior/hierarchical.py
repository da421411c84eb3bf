"""Grid posteriors: priors ``hierarchical`` and ``learned``, and the spread of models."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, digamma

from outperform._rows import distinct_rows
from outperform._typing import AnyArray, BoolArray, FloatArray, IntArray, SeedSequence
from outperform.data.outcomes import Outcomes
from outperform.errors import UsageError, param
from outperform.posterior.dirichlet import SparseWeights

# A logistic prior is below e^-40 outside ±40, so data cannot move a peak further out.
_WIDEST = 40.0
# Cells this many nats below the peak are dropped: less than 1e-13 of the mass; with three
# coordinates, where cells are wide, less than 1e-5.
_DEPTH = {1: 30.0, 2: 30.0, 3: 14.0}
_COARSE = {1: 25, 2: 25, 3: 13}
_FINE = {1: 2049, 2: 257, 3: 37}
_BOUNDS = {2: 2, 3: 7}
_KNOTS = 257

Function = Callable[[FloatArray], FloatArray]
LogAlpha = Callable[[Sequence[FloatArray]], FloatArray]


class RisingFactorial:
    """``Σ log Γ(c + α) / Γ(α)`` over many counts, up to a constant, as a function of log α.

    It is computed from ``-betaln(c, α)`` because differences of gammaln lose digits for large
    counts.
    """

    def __init__(self, counts: AnyArray) -> None:
        positive = counts[counts > 0].astype(np.float64)
        first, code = distinct_rows(positive[:, None])
        self.counts, self.multiplicity = positive[first], np.bincount(code)

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
        rise = np.diff(values)
        # The Hermite cubic between adjacent knots, in powers of t.
        cubic = slopes[:-1] + slopes[1:] - 2 * rise
        square = 3 * rise - 2 * slopes[:-1] - slopes[1:]

        def interpolate(log_alpha: FloatArray) -> FloatArray:
            t = (log_alpha - low) / step
            left = np.clip(t.astype(np.int64), 0, _KNOTS - 2)
            t -= left
            result: FloatArray = cubic.take(left)
            for power in (square, slopes, values):
                result *= t
                result += power.take(left)
            return result

        return interpolate


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """Term of a log density: ``sign · f(log α)`` with log α a function of the coordinates."""

    function: Function
    log_alpha: LogAlpha
    sign: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GridPosterior:
    """Density on a grid: nodes along each axis, and the probability of each cell."""

    axes: tuple[FloatArray, ...]
    probabilities: FloatArray  # (n_1,), (n_1, n_2) or (n_1, n_2, n_3), sums to 1

    def draw(self, generator: np.random.Generator, size: int) -> list[FloatArray]:
        """Draw coordinates: a cell by its probability, then a point within it."""
        cumulative = np.cumsum(self.probabilities.ravel())
        cells = np.searchsorted(cumulative, generator.random(size) * cumulative[-1], side="right")
        indices = np.unravel_index(cells, self.probabilities.shape)
        drawn = []
        for axis, index in zip(self.axes, indices, strict=True):
            step: float = axis[1] - axis[0]
            drawn.append(axis[index] + step * (generator.random(size) - 0.5))
        return drawn

    def at(self, levels: Sequence[FloatArray]) -> list[FloatArray]:
        """Return the coordinates at levels between 0 and 1, one row per axis.

        The first coordinate is a quantile; each later coordinate is a quantile given the previous
        ones. So uniform levels give draws, and correlated levels give correlated draws.
        """
        cumulative = np.concatenate([[0.0], np.cumsum(self.probabilities.ravel())])
        start, mass = np.zeros(len(levels[0])), np.full(len(levels[0]), cumulative[-1])
        points, inside = [], cumulative.size - 1
        for axis, level in zip(self.axes, levels, strict=True):
            inside //= axis.size  # number of cells that share this coordinate and the previous ones
            ends = cumulative[::inside]
            target = start + level * mass
            cell = np.clip(np.searchsorted(ends, target, side="right") - 1, 0, ends.size - 2)
            start, mass = ends[cell], ends[cell + 1] - ends[cell]
            within = np.divide(target - start, mass, out=np.zeros_like(mass), where=mass > 0)
            points.append(axis[cell % axis.size] + (axis[1] - axis[0]) * (within - 0.5))
        return points

    def mean(self, function: Callable[[FloatArray], FloatArray], *, axis: int = 0) -> float:
        """Return the expectation of a function of one coordinate."""
        others = tuple(other for other in range(len(self.axes)) if other != axis)
        marginal: FloatArray = self.probabilities.sum(axis=others)
        return float(marginal @ function(self.axes[axis]))


def grid_posterior(
    terms: Sequence[Term],
    n_axes: int,
    *,
    box: Sequence[tuple[float, float]] | None = None,
    log_prior: LogAlpha | None = None,
) -> GridPosterior:
    """Find the support of the density and tabulate it there.

    By default every coordinate has a logistic prior. It corresponds to a uniform ``η`` for ``logit
    η``, and to a mass with density ``1 / (1 + s)²`` for ``log s``. A box bounds the coordinates:
    entire grid cells, not only their centres, lie within it.
    """
    prior = _logistic_prior if log_prior is None else log_prior
    searched, bounded = terms, box is not None
    if box is None:
        box = [(-_WIDEST, _WIDEST)] * n_axes
    else:  # narrow enough to find the peak in a table
        searched = _tabulated(terms, [np.array(ends) for ends in box])
    for _ in range(12):
        axes = [np.linspace(low, high, _COARSE[n_axes]) for low, high in box]
        logs = _log_density(searched, axes, prior)
        smaller = _live_box(axes, logs)
        shrunk = any(
            (new[1] - new[0]) < 0.8 * (old[1] - old[0])
            for new, old in zip(smaller, box, strict=True)
        )
        box = smaller
        if not shrunk:
            break
    n_cells = _FINE[n_axes]
    margins = [(high - low) / n_cells / 2 if bounded else 0.0 for low, high in box]
    axes = [
        np.linspace(low + margin, high - margin, n_cells)
        for (low, high), margin in zip(box, margins, strict=True)
    ]
    logs = _log_density(_tabulated(terms, axes), axes, prior)
    density = np.exp(logs - logs.max())
    return GridPosterior(axes=tuple(axes), probabilities=density / density.sum())


def logistic(coordinate: FloatArray) -> FloatArray:
    """Return ``1 / (1 + e^-x)``, the inverse of logit."""
    return np.asarray(1.0 / (1.0 + np.exp(-coordinate)))


def log_logistic(coordinate: FloatArray) -> FloatArray:
    """Return the logarithm of the logistic function, accurate far out in the tails."""
    # NumPy's logaddexp gives the same values but takes three times as long.
    return np.asarray(np.minimum(coordinate, 0.0) - np.log1p(np.exp(-np.abs(coordinate))))


def _logistic_prior(mesh: Sequence[FloatArray]) -> FloatArray:
    total = np.zeros([1] * len(mesh))
    for coordinate in mesh:
        total = total + log_logistic(coordinate) + log_logistic(-coordinate)
    return total


def _log_density(
    terms: Sequence[Term], axes: Sequence[FloatArray], log_prior: LogAlpha
) -> FloatArray:
    mesh = np.meshgrid(*axes, indexing="ij", sparse=True)
    total = log_prior(mesh)
    for term in terms:
        total = total + term.sign * term.function(term.log_alpha(mesh))
    return total


def _live_box(axes: Sequence[FloatArray], logs: FloatArray) -> list[tuple[float, float]]:
    alive: BoolArray = logs > logs.max() - _DEPTH[len(axes)]
    box = []
    for dimension, axis in enumerate(axes):
        others = tuple(other for other in range(len(axes)) if other != dimension)
        inside = np.flatnonzero(alive.any(axis=others))
        first, last = max(inside[0] - 1, 0), min(inside[-1] + 1, axis.size - 1)
        box.append((float(axis[first]), float(axis[last])))
    return box


def _tabulated(terms: Sequence[Term], axes: Sequence[FloatArray]) -> list[Term]:
    if len(axes) == 1:
        return list(terms)
    ends = [np.linspace(axis[0], axis[-1], _BOUNDS[len(axes)]) for axis in axes]
    mesh = np.meshgrid(*ends, indexing="ij", sparse=True)
    out = []
    for term in terms:
        function = term.function
        if isinstance(function, RisingFactorial):
            # log α is monotone in two coordinates, so the corners bound it; with three, this is
            # nearly true.
            corners = term.log_alpha(mesh)
            slack = 0.2 * (len(axes) == 3)
            function = function.tabulated(
                float(corners.min()) - slack, float(corners.max()) + slack
            )
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
            "prior 'hierarchical' supports one model or a pair; for more models use "
            f"{param('prior=', 'unit')}, which needs no quadrature"
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


_TYPICAL = 1 / 16  # scale of the spread τ as an angle; about 0.05 for accuracies around 0.8
_SPREADS, _LEAST_SPREAD = 24, 0.05
_WIDE, _MOST_APART = 4.0, 8


class Population(NamedTuple):
    """Prior of the true values.

    The spread τ usually has a half-Cauchy prior. With probability ``share_near_zero`` it is
    half-normal instead, with scale ``near_zero`` times the error of a difference, so small that the
    data cannot distinguish it from zero. A member may be an outlier, for example a baseline, or one
    model that is better than many equal ones. With odds of ``stands_apart`` it has a separate wide
    prior, and the spread is that of the rest.
    """

    near_zero: float
    share_near_zero: float
    stands_apart: float


# Chosen by simulation: P(best) is calibrated whether models differ much or little, the leader of
# ten equal models has a P(best) of at most 0.2, and one better model among equals keeps most of its
# difference (`python -m verification best` and `rank`).
MODELS = Population(near_zero=0.15, share_near_zero=0.5, stands_apart=0.1)
# Used for slices and tasks, which are numerous and rarely equal.
PARTS = Population(near_zero=0.5, share_near_zero=0.2, stands_apart=0.02)
_FEWEST_POOLED = 3
_TWINS = 0.25  # of the largest error of a difference


def pool_models(
    values: FloatArray,
    *,
    generator: np.random.Generator,
    bounds: tuple[float, float] = (0.0, 1.0),
    n_items: float = 1.0,
) -> FloatArray:
    """Return joint draws ``(n_models, n_draws)`` for models that are exchangeable a priori.

    The models' true values are normal around an unknown centre, with a spread learned from all of
    them. A metric with finite bounds is pooled as an angle, the arc sine of a square root, because
    its error barely depends on the value and it is unbounded. With fewer than three kinds of
    models, the draws are returned unchanged: a single difference is not enough to learn a spread.

    Parameters
    ----------
    values
        Draws based only on each model's own data.
    generator
        Random generator for the contribution of the prior.
    bounds
        Bounds of the metric; they may be infinite.
    n_items
        Number of items, which sets the typical spread if the metric has no bounds.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> alike = 0.8 + rng.normal(scale=0.02, size=(5, 1)) + rng.normal(scale=0.02, size=(5, 4000))
    >>> pooled = pool_models(alike, generator=rng)
    >>> bool(np.ptp(pooled.mean(axis=1)) < 0.5 * np.ptp(alike.mean(axis=1)))
    True
    """
    # The models are sorted so that their order does not matter.
    order = np.argsort(values.mean(axis=1), kind="stable")
    low, high = bounds
    bounded = math.isfinite(high - low)
    known = values[order]
    if bounded:
        known = np.arcsin(np.sqrt(np.clip((known - low) / (high - low), 0.0, 1.0)))
    kinds = _kinds(np.cov(known))
    n_kinds = int(kinds.max()) + 1
    if n_kinds < _FEWEST_POOLED:
        return values
    groups = [np.flatnonzero(kinds == kind) for kind in range(n_kinds)]
    together = np.stack([known[group].mean(axis=0) for group in groups])
    covariance = np.cov(together)
    item = math.sqrt(n_items * float(np.median(np.diagonal(covariance))))
    spread = learn_spread(
        together.mean(axis=1),
        covariance,
        typical=_TYPICAL if bounded else 2 * _TYPICAL * item,
        population=MODELS,
    )
    moved = spread.pool(together, covariance, generator) - together
    known = known + moved[kinds]
    pooled = np.empty_like(values)
    pooled[order] = low + (high - low) * np.sin(known) ** 2 if bounded else known
    return np.clip(pooled, low, high, out=pooled)


def _kinds(covariance: FloatArray) -> IntArray:
    """Return the kind of each model, counted from 0; near duplicates have the same kind.

    The difference between near duplicates, such as two checkpoints, is known far more precisely
    than the others. Its small size says little about the spread of the models, and it is not
    shrunk.
    """
    variance = np.diagonal(covariance)
    apart = np.maximum(variance[:, None] + variance - 2 * covariance, 0.0)
    near = apart <= _TWINS**2 * apart.max()
    np.fill_diagonal(near, True)
    kinds = np.arange(len(variance))
    while True:
        least = np.where(near, kinds, len(kinds)).min(axis=1)
        if np.array_equal(least, kinds):
            return np.unique(kinds, return_inverse=True)[1].ravel()
        kinds = least


class Spread(NamedTuple):
    """Posterior of the spread: prior variances of the models, and their probabilities.

    ``variances`` is ``(n_settings, n_models)``; the weights sum to 1. Given the variances, the
    centre of the models is normal with mean ``centre`` and variance ``centre_variance``.
    """

    variances: FloatArray
    weights: FloatArray
    centre: FloatArray
    centre_variance: FloatArray

    def pool(
        self, values: FloatArray, covariance: FloatArray, generator: np.random.Generator
    ) -> FloatArray:
        """Draw from the posterior of the models by moving the draws ``(n_models, n_draws)``.

        With ``x`` from N(y, S) and ``p`` from the prior N(μ, T), the mixture ``G x + (1 − G) p``
        with ``G = T (S + T)⁻¹`` has the mean and the covariance of the posterior. As T grows, it
        approaches ``x``, whatever the shape of its distribution.
        """
        n_models, n_draws = values.shape
        ends = np.round(np.cumsum(self.weights) * n_draws).astype(np.int64)
        groups = np.split(generator.permutation(n_draws), ends[:-1])
        pooled = np.empty_like(values)
        for setting, columns in enumerate(groups):
            if not columns.size:
                continue
            variance = self.variances[setting]
            prior = self.centre[setting] + math.sqrt(
                self.centre_variance[setting]
            ) * generator.normal(size=columns.size)
            prior = prior + np.sqrt(variance)[:, None] * generator.normal(
                size=(n_models, columns.size)
            )
            off = np.linalg.solve(covariance + np.diag(variance), values[:, columns] - prior)
            pooled[:, columns] = prior + variance[:, None] * off
        return pooled


def learn_spread(
    means: FloatArray, covariance: FloatArray, *, typical: float, population: Population
) -> Spread:
    """Learn the spread of the true values of models, slices or tasks.

    A setting is a spread τ and a number of outliers, those furthest from the median. Its weight is
    its prior times the density of the means, N(μ, S + T), with a flat prior on the centre μ.
    """
    n_models = len(means)
    error = math.sqrt((np.trace(covariance) - covariance.mean(axis=0).sum()) / (n_models - 1))
    away = np.abs(means - np.median(means))
    top = max(4 * typical, 4 * error, 2 * float(np.ptp(means)))
    spreads = np.geomspace(_LEAST_SPREAD * error, top, _SPREADS)
    apart = np.argsort(-away, kind="stable")[: min((n_models - 1) // 2, _MOST_APART)]
    wide = max(_WIDE * typical, float(away.max()))
    base = np.repeat(spreads[:, None] ** 2, n_models, axis=1)
    errors = np.linalg.eigh(covariance)
    settings, logs = [], []
    for n_apart in range(len(apart) + 1):
        variances = base.copy()
        variances[:, apart[:n_apart]] += wide**2
        odds = n_apart * math.log(population.stands_apart / (1 - population.stands_apart))
        centres = _centres(means, *errors, spreads, outliers=apart[:n_apart], wide=wide)
        settings.append((variances, *centres))
        logs.append(_log_prior(spreads, error, typical, population) + odds)
    variances, evidence, centre, centre_variance = map(np.concatenate, zip(*settings, strict=True))
    log_weights = np.concatenate(logs) + evidence
    weights = np.exp(log_weights - log_weights.max())
    return Spread(variances, weights / weights.sum(), centre, centre_variance)


def _log_prior(
    spreads: FloatArray, error: float, typical: float, population: Population
) -> FloatArray:
    """Return the log mass of each spread, which represents its neighbourhood on the log scale."""
    near, share = population.near_zero * error, population.share_near_zero
    density = (1 - share) * 2 / (np.pi * typical * (1 + (spreads / typical) ** 2))
    density += share * math.sqrt(2 / np.pi) / near * np.exp(-((spreads / near) ** 2) / 2)
    widths = spreads * math.log(spreads[1] / spreads[0])
    widths[0] += spreads[0]  # the smallest spread also represents all smaller ones
    return np.asarray(np.log(density * widths))


def _centres(
    means: FloatArray,
    eigenvalues: FloatArray,
    eigenvectors: FloatArray,
    spreads: FloatArray,
    *,
    outliers: IntArray,
    wide: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the log evidence, and the mean and variance of the centre, for each spread.

    The means have covariance ``S + τ² + wide² E Eᵀ``, where the columns of E are those of the
    outliers. S is diagonal in its eigenvectors, and the outliers are a change of low rank, so a
    thousand models need one decomposition and not one inverse per setting.
    """
    middle = means.mean()
    # 1 and the means, as columns, with the middle subtracted so that few digits cancel.
    sides = eigenvectors.T @ np.stack([np.ones(len(means)), means - middle], axis=1)
    precision = 1 / (eigenvalues + spreads[:, None] ** 2)
    products = np.einsum("gm,mi,mj->gij", precision, sides, sides)
    log_determinant = -np.log(precision).sum(axis=1)
    if len(outliers):
        columns = eigenvectors[outliers].T
        inner = np.einsum("gm,mi,mj->gij", precision, columns, columns)
        inner += np.eye(len(outliers)) / wide**2
        shared = np.einsum("gm,mi,mj->gij", precision, columns, sides)
        products -= shared.transpose(0, 2, 1) @ np.linalg.solve(inner, shared)
        log_determinant += np.linalg.slogdet(wide**2 * inner)[1]
    centre_variance = 1 / products[:, 0, 0]
    centre = centre_variance * products[:, 0, 1]
    misfit = products[:, 1, 1] - centre * products[:, 0, 1]
    evidence = (np.log(centre_variance) - log_determinant - misfit) / 2
    return evidence, middle + centre, centre_variance


_FEWEST_POOLED = 3
_TYPICAL_SPREAD = 1 / 8  # as a fraction of the sd of a single item


def pool_normal(
    own: FloatArray, n: IntArray, seed: SeedSequence, *, together: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return pooled draws of slices and the probability that each slice is like the overall result.

    The slices' true values are normal around a centre, with a spread learned from all slices; a few
    may be outliers. The prior of the spread is scaled by the sd of a single item. Fewer than three
    slices are not enough to learn a spread, so their draws are unchanged.

    Parameters
    ----------
    own
        Draws based only on each slice's own items, ``(n_slices, n_draws)``.
    n
        Number of items or groups in each slice.
    seed
        Seed for the contribution of the prior.
    together
        Whether the draws are joint across slices; otherwise slices are independent.
    """
    if len(own) < _FEWEST_POOLED:
        return own, np.ones(len(own))
    variances = np.maximum(own.var(axis=1), np.finfo(np.float64).tiny)
    covariance = np.cov(own) if together else np.diag(variances)
    item = float(np.sqrt(np.median(n * variances)))
    spread = learn_spread(
        own.mean(axis=1), covariance, typical=_TYPICAL_SPREAD * item, population=PARTS
    )
    pooled = spread.pool(own, covariance, np.random.default_rng(seed))
    # A slice is alike if its own items cannot distinguish it from the overall result.
    return pooled, np.asarray(spread.weights @ (spread.variances < variances / 4))
