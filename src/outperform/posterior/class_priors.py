"""Hierarchical components over classes: class proportions, recalls and the spread of errors.

They make up the prior ``learned``; see :mod:`outperform.posterior.learned`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln, ndtr

from outperform._rows import distinct_rows
from outperform._typing import FloatArray, IntArray
from outperform.posterior.hierarchical import (
    GridPosterior,
    RisingFactorial,
    Term,
    grid_posterior,
    log_logistic,
)

# Recalls have at least the mass of Jeffreys' prior. With less, a model without observed errors
# would be treated as perfect.
_LOG_MASS = (0.0, 16.0)
_MASSES = np.linspace(*_LOG_MASS, 129)
_BOX = ((-12.0, 12.0), _LOG_MASS, (-12.0, 12.0))
_LOG_SPREAD = (float(np.log(0.05)), 16.0)
_SPREAD_DEPTH = 20.0
_SPREADS = 129
_ROUNDED = 0.002
# Errors can be spread evenly over all classes, or fall mostly on frequent ones.
_POWERS = np.linspace(0.0, 1.25, 6)
# The logit of the recall may rise with the log of the class count; a priori, the slope is below
# 1/2.
_SLOPE = 0.5
# Classes of similar size are binned into this many groups; a group shares a point on that line.
_SIZES = 10
# Mean ½ and mass 1, fixed for practical purposes.
_JEFFREYS = GridPosterior(axes=(np.array([0.0, 1e-9]),) * 3, probabilities=np.full((2,) * 3, 1 / 8))


def class_sizes(counts: FloatArray) -> FloatArray:
    """Return the centred log count of each class; classes of similar size share one value."""
    logs = np.log(counts + 1.0)
    order = np.argsort(logs, kind="stable")
    sizes = np.empty_like(logs)
    for group in np.array_split(order, min(_SIZES, counts.size)):
        sizes[group] = logs[group].mean()
    return np.asarray(_SLOPE * (sizes - sizes.mean()))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallPosterior:
    """Posterior of ``(logit η, log s, b)``: mean, mass and slope in class size of the recalls.

    The larger the mass of the recalls, the more precisely their mean is known. So the grid for mean
    and slope is scaled by their precision at each mass.

    Parameters
    ----------
    grid
        Grid of ``(t, log s, u)`` with ``logit η = center + t · width(s)`` and ``b = u · width(s) /
        sd``.
    center, sd
        Pooled logit and spread of the class sizes.
    widths
        Width at each of ``_MASSES``.
    """

    grid: GridPosterior
    center: float
    sd: float
    widths: FloatArray

    def at(self, levels: Sequence[FloatArray]) -> list[FloatArray]:
        """Return the coordinates at levels between 0 and 1; see :meth:`GridPosterior.at`."""
        return self.coordinates(*self.grid.at(levels))

    def draw(self, generator: np.random.Generator, size: int) -> list[FloatArray]:
        """Draw the coordinates."""
        return self.coordinates(*self.grid.draw(generator, size))

    def coordinates(
        self, mean: FloatArray, log_mass: FloatArray, slope: FloatArray
    ) -> list[FloatArray]:
        """Return ``(logit η, log s, b)`` at coordinates of the grid."""
        width = np.interp(log_mass, _MASSES, self.widths)
        return [self.center + mean * width, log_mass, slope * width / self.sd]


def recall_posterior(right: FloatArray, wrong: FloatArray, sizes: FloatArray) -> RecallPosterior:
    """Return the posterior of ``(logit η, log s, b)`` given right and wrong counts per class.

    The recall of class j is ``Beta(s η_j, s (1 − η_j))`` with ``logit η_j = logit η + b z_j``,
    where ``z_j`` is the size of the class, so ``log p = Σ_j log B(r_j + s η_j, w_j + s (1 − η_j)) −
    log B(s η_j, s (1 − η_j))``. The priors are uniform for η, logistic for b, and ``1 / (1 + s)²``
    for the mass above 1. With two classes, the rows are those of prior "unit".
    """
    counts = right + wrong
    share = (right.sum() + 0.5) / (counts.sum() + 1.0)
    mass = np.exp(_MASSES)[:, None]
    # Precision of the logit of the mean: from the data, and roughly from its prior.
    known = share * (1 - share) * (counts * (1 + mass) / (counts + mass)).sum(axis=1) + 0.3
    recall = RecallPosterior(
        grid=_JEFFREYS,
        center=float(np.log(share / (1 - share))) if right.size > 2 else 0.0,
        sd=float(sizes.std()) or 1.0,
        widths=known**-0.5,
    )
    if right.size <= 2:
        return recall
    terms = [Term(function=RisingFactorial(counts), log_alpha=lambda at: at[1], sign=-1.0)]
    for size in np.unique(sizes).tolist():
        for numbers, side in ((right, 1.0), (wrong, -1.0)):
            at_size = partial(_log_alpha, recall, side=side, size=size)
            terms.append(Term(function=RisingFactorial(numbers[sizes == size]), log_alpha=at_size))
    grid = grid_posterior(terms, 3, box=_BOX, log_prior=partial(_log_prior, recall))
    return replace(recall, grid=grid)


def _log_alpha(
    recall: RecallPosterior, at: Sequence[FloatArray], *, side: float, size: float
) -> FloatArray:
    logit, log_mass, slope = recall.coordinates(*at)
    return log_mass + log_logistic(side * (logit + size * slope))


def _log_prior(recall: RecallPosterior, at: Sequence[FloatArray]) -> FloatArray:
    total = sum(
        log_logistic(coordinate) + log_logistic(-coordinate)
        for coordinate in recall.coordinates(*at)
    )
    return total + 2 * np.log(np.interp(at[1], _MASSES, recall.widths))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadPosterior:
    """Posterior of the error split's mass and of its dependence on class frequency.

    Parameters
    ----------
    log_masses
        Nodes of ``log t``.
    probabilities
        Probability of each power and node, ``(n_powers, n_masses)``.
    bases
        Probability of each possible wrong prediction, ``(n_powers, n_possible)``.
    """

    log_masses: FloatArray
    probabilities: FloatArray
    bases: FloatArray

    def draw(self, generator: np.random.Generator, size: int) -> tuple[FloatArray, IntArray]:
        """Draw masses and the index of each one's power."""
        below = np.cumsum(self.probabilities)
        cell = np.searchsorted(below, generator.random(size) * below[-1])
        power, node = np.divmod(np.minimum(cell, below.size - 1), self.log_masses.size)
        step = self.log_masses[1] - self.log_masses[0]
        return np.exp(self.log_masses[node] + step * (generator.random(size) - 0.5)), power


def spread_posterior(
    errors: FloatArray, truth: IntArray, predicted: IntArray, counts: FloatArray
) -> SpreadPosterior:
    """Return the posterior of the error split given the count of each kind of error.

    In class j, errors are ``Dirichlet(t g_jk)`` over the other possible predictions k, with ``g_jk
    ∝ (n_k + ½)^γ``: uniform if the power γ is 0, proportional to class frequency if it is 1. Then
    ``log p = Σ_j [log Γ(t) − log Γ(t + w_j)] + Σ_jk [log Γ(c_jk + t g_jk) − log Γ(t g_jk)]``, with
    the density ``1 / (1 + t)²`` above 0.05, and all powers equally likely.

    Parameters
    ----------
    errors, truth, predicted
        Count of each kind of error, and the indices of its classes among the possible classes.
    counts
        Number of items of each possible prediction; 0 for classes that do not exist.
    """
    bases = (counts + 0.5) ** _POWERS[:, None]
    bases /= bases.sum(axis=1, keepdims=True)
    kinds = [_alike(errors, base[predicted] / (1.0 - base[truth])) for base in bases]
    n_wrong = np.bincount(truth, errors, minlength=1)

    def log_density(nodes: FloatArray) -> FloatArray:
        mass = np.exp(nodes)[:, None]
        rows = (gammaln(mass) - gammaln(mass + n_wrong)).sum(axis=1)
        rows += nodes - 2 * np.log1p(mass[:, 0])
        log_sums = [
            (gammaln(count + mass * base) - gammaln(mass * base)) @ times
            for count, base, times in kinds
        ]
        logs: FloatArray = rows + np.stack(log_sums)
        return logs

    nodes = np.linspace(*_LOG_SPREAD, 41)
    logs = log_density(nodes)
    alive = np.flatnonzero((logs > logs.max() - _SPREAD_DEPTH).any(axis=0))
    low, high = nodes[max(alive[0] - 1, 0)], nodes[min(alive[-1] + 1, nodes.size - 1)]
    half = (high - low) / _SPREADS / 2
    nodes = np.linspace(low + half, high - half, _SPREADS)
    logs = log_density(nodes)
    density = np.exp(logs - logs.max())
    return SpreadPosterior(log_masses=nodes, probabilities=density / density.sum(), bases=bases)


def _alike(counts: FloatArray, bases: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return distinct rounded counts and bases, and their multiplicities."""
    rounded = np.rint(np.log(bases) / _ROUNDED)
    first, code = distinct_rows(np.stack([rounded, counts], axis=1))
    return counts[first], np.exp(_ROUNDED * rounded[first]), np.bincount(code).astype(np.float64)


# Log rates of classes with up to _LARGE items are on a grid; those of larger classes are nearly
# normal, approximated by a gamma with the same mode and curvature.
_LARGE = 200
_NEWTON = 4
_STEP = 0.05
_LOG_RATES = np.arange(np.log(1e-4), np.log(3.0 * _LARGE), _STEP)
# The grid ranges from nearly equal classes to a few classes with almost all items. A small scale
# with a skew of −4 is a truncated Zipf law: no class is much rarer than the rarest observed one.
_SCALES = np.exp(np.linspace(np.log(0.1), np.log(3.5), 14))
_SKEWS = np.linspace(-4.0, 2.0, 13)
_LOCATIONS = np.concatenate(
    [np.arange(-6.0, -2.6, 0.25), np.arange(-2.5, 1.0, 0.1), np.arange(1.0, 3.01, 0.25)]
)
# Products of two numbers above e^-340 are normal; arithmetic with subnormal numbers is far slower.
_LOG_TINY = -340.0
# The posterior is represented by this many equally likely parameter values.
_NODES = 128
# Quantiles are tabulated over normal scores, where they are smooth even in the tails.
_SCORES = np.linspace(-5.0, 5.0, 81)


class LearnedPrevalence:
    """Posterior of the class proportions, with a distribution of rates learned across classes.

    Parameters
    ----------
    counts
        Number of items of each class. If every class has items, the list is assumed to contain only
        the classes that were observed.
    """

    def __init__(self, counts: FloatArray) -> None:
        self.counts = counts
        distinct, self.place = np.unique(counts, return_inverse=True)
        times = np.bincount(self.place)
        small = distinct <= _LARGE
        self.n_small = int(small.sum())  # distinct counts are sorted
        likelihood = _poisson(distinct[small]) if counts.sum() else np.ones((1, _LOG_RATES.size))
        location, scale, skew, density = _parameters(_steps(float(counts.mean())))
        large, mode = distinct[~small], np.log(distinct[~small])
        logs: FloatArray = np.log(np.maximum(density @ likelihood.T, 1e-300)) @ times[small]
        value, slope, curvature = _log_density(mode, location, scale, skew)
        logs += (value + slope**2 / (large - curvature) / 2) @ times[~small]  # Laplace
        logs -= np.log1p(-curvature / large) @ times[~small] / 2
        if counts.min() > 0:
            unseen = density @ np.exp(-np.exp(_LOG_RATES))
            logs -= counts.size * np.log(np.maximum(1.0 - unseen, 1e-12))
        logs += np.log(scale / (1 + scale**2))  # half-Cauchy, on a logarithmic grid
        logs += np.repeat(np.log(np.gradient(_LOCATIONS)), logs.size // _LOCATIONS.size)
        below = np.cumsum(np.exp(logs - logs.max()))
        nodes = np.searchsorted(below, (np.arange(_NODES) + 0.5) / _NODES * below[-1])
        self.tables = _quantiles(density[nodes], likelihood)  # (_NODES, n_small, n_scores)
        for _ in range(_NEWTON):
            _, slope, curvature = _log_density(mode, location[nodes], scale[nodes], skew[nodes])
            mode = mode + (large - np.exp(mode) + slope) / (np.exp(mode) - curvature)
        self.large_modes, self.large_shapes = np.exp(mode), np.exp(mode) - curvature

    def draw(self, generator: np.random.Generator, length: int) -> FloatArray:
        """Return class proportions ``(n_classes, length)``."""
        scores = generator.standard_normal((self.counts.size, length))
        rates = np.empty_like(scores)
        node = generator.integers(0, _NODES, length)
        is_small = self.place < self.n_small
        rows = (node * self.n_small + self.place[is_small][:, None]) * _SCORES.size
        at = np.clip((scores[is_small] - _SCORES[0]) / (_SCORES[1] - _SCORES[0]), 0, None)
        left = np.minimum(at.astype(np.int64), _SCORES.size - 2)
        flat, rows = self.tables.reshape(-1), rows + left
        low = flat[rows]
        rates[is_small] = np.exp(low + np.minimum(at - left, 1.0) * (flat[rows + 1] - low))
        # From 200 items on, Wilson and Hilferty's cube of a normal equals a gamma to 1e-5.
        large = self.place[~is_small][:, None] - self.n_small
        shapes = self.large_shapes[node, large]
        cube = 1 - 1 / (9 * shapes) + scores[~is_small] / (3 * np.sqrt(shapes))
        rates[~is_small] = self.large_modes[node, large] * cube**3
        rates /= rates.sum(axis=0)
        return rates


def _poisson(counts: FloatArray) -> FloatArray:
    """Return the likelihood of each count at each log rate."""
    logs = counts[:, None] * _LOG_RATES - np.exp(_LOG_RATES) - gammaln(counts + 1)[:, None]
    return _exp(logs)


def _exp(logs: FloatArray) -> FloatArray:
    """Return exponentials, or 0 if products of two would be too small for fast arithmetic."""
    return np.asarray(np.where(logs > _LOG_TINY, np.exp(logs), 0.0))


def _steps(mean: float) -> int:
    """Return the number of grid steps from the first log rate to the mean count."""
    return int(np.rint((np.log(max(mean, 0.5)) - _LOG_RATES[0]) / _STEP))


@lru_cache(maxsize=1)  # 27 MB, shared by test sets of the same size, as in slices and simulations
def _parameters(middle: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return location, scale and skew on a grid around a log rate, and their densities.

    Locations differ by whole grid steps, so a single density per scale and skew is shifted to all
    of them.
    """
    shifts = (middle + np.rint(_LOCATIONS / _STEP)).astype(np.int64)
    scales, skews = (axis.ravel() for axis in np.meshgrid(_SCALES, _SKEWS, indexing="ij"))
    offsets = _STEP * np.arange(-shifts.max(), _LOG_RATES.size - shifts.min())
    shape = _exp(_log_density(offsets, 0 * scales, scales, skews)[0]) * _STEP
    most = int(shifts.max())
    windows = [shape[:, most - shift :][:, : _LOG_RATES.size].copy() for shift in shifts]
    for shift, window in zip(shifts, windows, strict=True):
        window[:, 0] += _below((-0.5 - shift) * _STEP / scales, skews)  # all rarer classes
    location = np.repeat(_LOG_RATES[0] + _STEP * shifts, scales.size)
    scale, skew = np.tile(scales, shifts.size), np.tile(skews, shifts.size)
    density = np.concatenate(windows)
    for shared in (location, scale, skew, density):
        shared.flags.writeable = False
    return location, scale, skew, density


def _log_density(
    at: FloatArray, location: FloatArray, scale: FloatArray, skew: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the log density of log rates and two derivatives, ``(n_parameters, n_at)`` each.

    Prentice's form of the generalised gamma: skew 0 gives a log-normal rate, skew equal to the
    scale a gamma, and skew −1 the inverse of an exponential, which has a Zipf tail.
    """
    location, scale, skew = location[:, None], scale[:, None], skew[:, None]
    standard = (at - location) / scale
    safe = np.where(skew == 0, 1.0, skew)
    tilted = np.minimum(skew * standard, 300.0)
    bent, shape = np.exp(tilted), safe**-2
    skewed = np.log(np.abs(safe)) - gammaln(shape) + shape * (np.log(shape) + tilted - bent)
    normal = -0.5 * standard**2 - 0.5 * np.log(2 * np.pi)
    density: FloatArray = np.where(skew == 0, normal, skewed) - np.log(scale)
    slope: FloatArray = np.where(skew == 0, -standard, (1 - bent) / safe) / scale
    return density, slope, -bent / scale**2


def _below(standard: FloatArray, skew: FloatArray) -> FloatArray:
    """Return the distribution function of standardised log rates."""
    shape = np.where(skew == 0, 1.0, skew) ** -2
    at = shape * np.exp(np.minimum(skew * standard, 300.0))
    skewed = np.where(skew > 0, gammainc(shape, at), gammaincc(shape, at))
    return np.asarray(np.where(skew == 0, ndtr(standard), skewed))


def _quantiles(density: FloatArray, likelihood: FloatArray) -> FloatArray:
    """Return log rates at each normal score, ``(n_parameters, n_counts, n_scores)``."""
    mass = density[:, None, :] * likelihood
    cumulative = np.cumsum(mass, axis=2)
    cumulative /= cumulative[:, :, -1:]
    edges = _LOG_RATES + _STEP / 2
    wanted = ndtr(_SCORES)
    tables = np.empty((*mass.shape[:2], _SCORES.size))
    for index in np.ndindex(*mass.shape[:2]):
        tables[index] = np.interp(wanted, cumulative[index], edges)
    return tables
