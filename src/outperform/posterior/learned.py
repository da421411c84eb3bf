"""Prior ``learned``: prevalence, recall and confusions, each learned over the classes.

Classes of one test set teach each other. How frequent classes are, how often a model is
right in a class, and how it spreads its errors over the other classes each come from a
distribution over classes whose parameters have priors of their own:

- the expected count of a class is ``λ_j = exp(x_j)`` with ``x_j`` from a generalised gamma
  on the log scale (location, scale, skew), and ``n_j ~ Poisson(λ_j)``, so that rare and
  unseen classes get the share that the counts of the others suggest;
- the recall of a model in a class is ``Beta(s η, s (1 − η))``;
- which wrong class, given an error, is ``Dirichlet(t / (M − 1), …)``.

Given ``(η, s, t)`` every row of one model's confusion matrix is conjugate, and a model's
posterior is a function of its own confusion matrix only: it is the same whatever model is
compared with it. Paired models share the gammas of the items that they were tried on, and
as much of the prior's mass as their errors are correlated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln, ndtr

from outperform._typing import FloatArray, IntArray
from outperform.data.outcomes import Outcomes
from outperform.errors import ResourceError
from outperform.posterior.base import (
    Drawn,
    Needs,
    NoClosedForms,
    Posterior,
    Scale,
    ScaledWorker,
    Sums,
    Worker,
    margins_of,
)
from outperform.posterior.dirichlet import unit
from outperform.posterior.hierarchical import (
    GridPosterior,
    RisingFactorial,
    Term,
    grid_posterior,
    log_logistic,
    logistic,
)
from outperform.posterior.rng import gamma_sums

# Recalls have at least the mass of Jeffreys' prior: with less, a model that made no error
# would be taken for one that makes none.
_LOG_MASS = (0.0, 16.0)
_LOG_SPREAD = (np.log(0.05), 16.0)
_LOGIT = (-14.0, 14.0)
# The logit of the recall may rise with the log of a class's count; a priori by less than 1/2.
_SLOPE = 0.5
_SLOPES = (-12.0, 12.0)
# So many groups of classes of similar size have a common place on that line.
_SIZES = 10
# The largest atoms of a Dirichlet over unseen errors; what they leave is spread evenly.
_STICKS = 4
# Up to so many classes every cell is drawn instead, which takes at most a third longer.
_FEW_CLASSES = 10
# No more of the prior's mass than this is shared, or equal models could not differ.
_MOST_SHARED = 0.98
_MOST_CONFUSION_CELLS = 1 << 14
_TINY = np.finfo(np.float64).tiny


def learned(outcomes: Outcomes) -> Posterior:
    """Return the posterior; two classes cannot teach each other and have Jeffreys rows."""
    return unit(outcomes) if outcomes.n_classes <= 2 else Learned(outcomes)


class Learned(NoClosedForms):
    """Posterior of three classes or more, for one model or several on the same items.

    Parameters
    ----------
    outcomes
        Paired outcomes of one model or several.
    """

    def __init__(self, outcomes: Outcomes) -> None:
        self.n_classes, self.n_models = outcomes.n_classes, len(outcomes.models)
        table = outcomes.tables[0]
        counts = table.counts.astype(np.float64)
        order = np.argsort(counts, kind="stable")
        self.counts, self.cells = counts[order], table.cells[order]
        actual = np.bincount(self.cells[:, 0], self.counts, minlength=self.n_classes)
        self.prevalence = LearnedPrevalence(actual)
        self.rows = [
            _Rows(self.cells[:, 0], self.cells[:, 1 + model], self.counts, self.n_classes)
            for model in range(self.n_models)
        ]
        self.shared = shared_errors(self.cells, self.counts)

    @property
    def n_gammas(self) -> int:
        """About how many random numbers one draw takes."""
        of_prior = self.n_classes * (3 + self.n_models * (4 + 2 * _STICKS))
        return int(self.counts.size + of_prior)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws prevalence, recall and errors of each model."""
        draw = self.scaled_worker(needs)
        return lambda generator, length: draw(generator, length, np.ones_like)

    def scaled_worker(self, needs: Needs) -> ScaledWorker:
        """Return a function that scales the true classes and keeps what happens within them."""
        if needs == "confusion" and self.n_classes**2 > _MOST_CONFUSION_CELLS:
            raise ResourceError(
                f"a function of the whole confusion matrix needs {self.n_classes**2:,} cells a "
                "draw; use one of the named metrics, which need three numbers a class"
            )
        add_up = self._adder()

        def draw(generator: np.random.Generator, length: int, scale: Scale) -> list[Drawn]:
            prevalence = self.prevalence.draw(generator, length)
            prevalence *= scale(prevalence)
            sums, start, found = add_up(generator, length), 0, []
            for rows, prior in zip(self.rows, self._priors(generator, length), strict=True):
                own = sums[start : start + rows.n_sums]
                start += rows.n_sums
                errors = rows.draw(generator, own, prior, prevalence)
                found.append(errors.read(generator, needs))
            return found

        return draw

    def _adder(self) -> Callable[[np.random.Generator, int], FloatArray]:
        from scipy.sparse import vstack

        matrix = vstack([rows.matrix for rows in self.rows]).tocsr()
        return gamma_sums(self.counts, lambda gammas: matrix @ gammas, n_models=self.n_models)

    def _priors(self, generator: np.random.Generator, length: int) -> list[_RowPrior]:
        """Draw each model's parameters, and the prior's weights of right and wrong given them.

        Both are correlated over models by the share of errors that models have in common;
        for each model alone they are what they would be without the others.
        """
        common = generator.standard_normal((3, length))
        right, wrong, spreads = [], [], []
        for rows in self.rows:
            own = generator.standard_normal((3, length))
            levels = ndtr(np.sqrt(self.shared) * common + np.sqrt(1 - self.shared) * own)
            # Any masses go together; alike ones share most of the prior's weights.
            levels[1] = ndtr(common[1])
            logit, log_mass, slope = rows.recall.at(levels)
            mean = logistic(logit + slope * rows.sizes[:, None])
            right.append(np.exp(log_mass) * mean)
            wrong.append(np.exp(log_mass) * (1.0 - mean))
            spreads.append(np.exp(rows.spread.draw(generator, length)[0]))
        both_right, both_wrong = (self.shared * np.min(of, axis=0) for of in (right, wrong))
        hits, misses = (generator.standard_gamma(of) for of in (both_right, both_wrong))
        return [
            _RowPrior(
                hits + generator.standard_gamma(right[model] - both_right),
                misses + generator.standard_gamma(wrong[model] - both_wrong),
                spreads[model],
            )
            for model in range(self.n_models)
        ]


def shared_errors(cells: IntArray, counts: FloatArray) -> float:
    """Return the mean correlation of models' errors over items, at least 0.

    Parameters
    ----------
    cells
        The truth and each model's prediction, ``(n_cells, 1 + n_models)``.
    counts
        How often each cell occurred.

    Examples
    --------
    >>> shared_errors(np.array([[0, 0, 0], [0, 1, 1]]), np.array([500.0, 500.0])) > 0.97
    True
    >>> shared_errors(np.array([[0, 0, 1], [0, 1, 0]]), np.array([500.0, 500.0]))
    0.0
    """
    n_models, n = cells.shape[1] - 1, counts.sum()
    if n_models == 1:
        return 0.0
    right = cells[:, 1:] == cells[:, :1]
    mean = (counts @ right + 0.5) / (n + 1)
    apart = right - mean
    covariance = (apart.T * counts) @ apart / (n + 2)
    sd = np.sqrt(mean * (1 - mean))
    correlation = covariance / np.outer(sd, sd)
    mean_off = (correlation.sum() - np.trace(correlation)) / (n_models * (n_models - 1))
    return float(np.clip(mean_off, 0.0, _MOST_SHARED))


@dataclass(frozen=True, slots=True)
class _RowPrior:
    """One model's prior weights of right and wrong, and the mass of the split of errors."""

    right: FloatArray  # (n_classes, n_draws)
    wrong: FloatArray  # (n_classes, n_draws)
    spread: FloatArray  # (n_draws,)


class _Rows:
    """What one model predicted in each class, as sums over cells, and what they teach."""

    def __init__(
        self, truth: IntArray, predicted: IntArray, counts: FloatArray, n_classes: int
    ) -> None:
        from scipy.sparse import csr_array

        self.n_classes = n_classes
        right = truth == predicted
        wrong = np.flatnonzero(~right)
        pairs, place = np.unique(truth[wrong] * n_classes + predicted[wrong], return_inverse=True)
        self.truth, self.predicted = np.divmod(pairs, n_classes)  # of each kind of error
        self.n_sums = n_classes + pairs.size
        into = truth.copy()
        into[wrong] = n_classes + place
        columns = np.arange(counts.size)
        shape = (self.n_sums, counts.size)
        self.matrix = csr_array((np.ones(counts.size), (into, columns)), shape=shape)
        kinds = np.arange(pairs.size)
        ones, shape = np.ones(pairs.size), (n_classes, pairs.size)
        self.to_truth = csr_array((ones, (self.truth, kinds)), shape=shape)
        self.to_predicted = csr_array((ones, (self.predicted, kinds)), shape=shape)
        seen = self.matrix @ counts
        hits, errors = seen[:n_classes], seen[n_classes:]
        self.n_wrong = self.to_truth @ errors
        self.sizes = class_sizes(hits + self.n_wrong)
        self.recall = recall_posterior(hits, self.n_wrong, self.sizes)
        self.spread = spread_posterior(errors, self.n_wrong, n_classes)

    def draw(
        self,
        generator: np.random.Generator,
        sums: FloatArray,
        prior: _RowPrior,
        prevalence: FloatArray,
    ) -> _Errors:
        """Return one model's hits and errors, given the gammas of its cells."""
        errors = sums[self.n_classes :]
        missed = self.to_truth @ errors
        right, wrong = sums[: self.n_classes] + prior.right, missed + prior.wrong
        hits = prevalence * (right / (right + wrong))
        # The split of the errors is independent of how many there are, so the weight of what
        # was seen, against the prior's, has a gamma of its own.
        seen = generator.standard_gamma(self.n_wrong[:, None], prevalence.shape)
        unseen = generator.standard_gamma(prior.spread, prevalence.shape)
        weight = (prevalence - hits) / np.maximum(seen + unseen, _TINY)
        factor = np.divide(weight * seen, missed, out=np.zeros_like(missed), where=missed > 0)
        errors *= factor[self.truth]
        return _Errors(self, hits, prevalence, errors, weight * unseen, prior.spread)


@dataclass(frozen=True, slots=True)
class _Errors:
    """One model's drawn hits, its errors of kinds that occurred, and those of unseen kinds."""

    rows: _Rows
    hits: FloatArray  # (n_classes, n_draws)
    actual: FloatArray  # (n_classes, n_draws)
    errors: FloatArray  # (n_kinds, n_draws)
    unseen: FloatArray  # (n_classes, n_draws)
    spread: FloatArray  # (n_draws,)

    def read(self, generator: np.random.Generator, needs: Needs) -> Drawn:
        """Return the margins or the confusion array."""
        n_classes, length = self.hits.shape
        truth, draws = np.arange(n_classes)[:, None], np.arange(length)
        confusion = needs == "confusion"
        if n_classes <= _FEW_CLASSES:
            others = 1.0 - np.eye(n_classes)[:, :, None]
            split = generator.standard_gamma(others * self.spread / (n_classes - 1))
            split *= (self.unseen / np.maximum(split.sum(axis=1), _TINY))[:, None]
            matrix = self._filled(split)
            return matrix if confusion else margins_of(matrix)
        n_places = n_classes**2 if confusion else n_classes
        places, masses, left = [], [], self.unseen
        for _ in range(_STICKS):
            taken = left * -np.expm1(np.log(generator.random(left.shape)) / self.spread)
            wrong = generator.integers(0, n_classes - 1, left.shape)
            wrong += wrong >= truth
            if confusion:
                wrong += truth * n_classes
            places.append((wrong * length + draws).ravel())
            masses.append(taken.ravel())
            left = left - taken
        sticks = np.bincount(
            np.concatenate(places), np.concatenate(masses), minlength=n_places * length
        ).reshape(n_places, length)
        even = left / (n_classes - 1)
        if not confusion:
            predicted = sticks + self.rows.to_predicted @ self.errors
            predicted += self.hits + even.sum(axis=0) - even
            return Sums(hits=self.hits, actual=self.actual, predicted=predicted)
        return self._filled(sticks.reshape(n_classes, n_classes, length) + even[:, None])

    def _filled(self, matrix: FloatArray) -> FloatArray:
        """Return the confusion array, given its errors of unseen kinds."""
        matrix[self.rows.truth, self.rows.predicted] += self.errors
        matrix[np.diag_indices(len(matrix))] = self.hits
        return matrix


def class_sizes(counts: FloatArray) -> FloatArray:
    """Return the log count of each class, about their mean; classes of similar size share one."""
    logs = np.log(counts + 1.0)
    order = np.argsort(logs, kind="stable")
    sizes = np.empty_like(logs)
    for group in np.array_split(order, min(_SIZES, counts.size)):
        sizes[group] = logs[group].mean()
    return _SLOPE * (sizes - sizes.mean())


def recall_posterior(right: FloatArray, wrong: FloatArray, sizes: FloatArray) -> GridPosterior:
    """Return the posterior of ``(logit η, log s, b)`` given what was right and wrong per class.

    The recall of class j is ``Beta(s η_j, s (1 − η_j))`` with ``logit η_j = logit η + b z_j``,
    where ``z_j`` is the size of the class, so
    ``log p = Σ_j log B(r_j + s η_j, w_j + s (1 − η_j)) − log B(s η_j, s (1 − η_j))``. The
    priors are uniform for η, logistic for b, and ``1 / (1 + s)²`` for the mass above 1.
    """
    both = Term(function=RisingFactorial(right + wrong), log_alpha=lambda at: at[1], sign=-1.0)
    terms = [both]
    for size in np.unique(sizes):
        alike = sizes == size
        terms += [
            _of_size(right[alike], float(size), 1.0),
            _of_size(wrong[alike], float(size), -1.0),
        ]
    return grid_posterior(terms, 3, box=(_LOGIT, _LOG_MASS, _SLOPES))


def _of_size(counts: FloatArray, size: float, sign: float) -> Term:
    """Return the part of classes of one size in which the model was right (1) or wrong (−1)."""
    return Term(
        function=RisingFactorial(counts),
        log_alpha=lambda at: at[1] + log_logistic(sign * (at[0] + size * at[2])),
    )


def spread_posterior(errors: FloatArray, n_wrong: FloatArray, n_classes: int) -> GridPosterior:
    """Return the posterior of ``log t`` given how often each kind of error occurred.

    ``log p = Σ_j [log Γ(t) − log Γ(t + w_j)] + Σ_jk [log Γ(c_jk + t / (M − 1)) −
    log Γ(t / (M − 1))]``, with the density ``1 / (1 + t)²``.
    """
    terms = [
        Term(function=RisingFactorial(errors), log_alpha=lambda at: at[0] - np.log(n_classes - 1)),
        Term(function=RisingFactorial(n_wrong), log_alpha=lambda at: at[0], sign=-1.0),
    ]
    return grid_posterior(terms, 1, box=(_LOG_SPREAD,))


# Log rates of classes with up to _LARGE items live on a grid; those of larger classes are
# nearly normal, and a gamma has their mode and curvature.
_LARGE = 200
_NEWTON = 4
_STEP = 0.05
_LOG_RATES = np.arange(np.log(1e-4), np.log(3.0 * _LARGE), _STEP)
_SCALES = np.exp(np.linspace(np.log(0.05), np.log(3.5), 15))
_SKEWS = np.linspace(-2.0, 2.0, 9)
_LOCATIONS = np.arange(-6.0, 3.01, 0.25)
# So many equally likely parameters stand for the whole posterior of them.
_NODES = 128
# Quantiles are tabulated over normal scores, in which they are smooth also in the tails.
_SCORES = np.linspace(-5.0, 5.0, 81)


class LearnedPrevalence:
    """Posterior of the class proportions, with a distribution of rates learned over classes.

    Parameters
    ----------
    counts
        The number of items of each class. If every class has items, the list of classes is
        taken to be those that were seen, and a class with none would not be on it.
    """

    def __init__(self, counts: FloatArray) -> None:
        self.counts = counts
        distinct, self.place, times = np.unique(counts, return_inverse=True, return_counts=True)
        small = distinct <= _LARGE
        self.n_small = int(small.sum())  # distinct counts are sorted
        likelihood = _poisson(distinct[small]) if counts.sum() else np.ones((1, _LOG_RATES.size))
        location, scale, skew, density = _parameters(counts)
        large, mode = distinct[~small], np.log(distinct[~small])
        logs = np.log(np.maximum(density @ likelihood.T, 1e-300)) @ times[small]
        value, slope, curvature = _log_density(mode, location, scale, skew)
        logs += (value + slope**2 / (large - curvature) / 2) @ times[~small]  # Laplace
        logs -= np.log1p(-curvature / large) @ times[~small] / 2
        if counts.min() > 0:
            unseen = density @ np.exp(-np.exp(_LOG_RATES))
            logs -= counts.size * np.log(np.maximum(1.0 - unseen, 1e-12))
        logs += np.log(scale / (1 + scale**2))  # half-Cauchy, on a logarithmic grid
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
        # Wilson and Hilferty's cube of a normal is a gamma to 1e-5 from 200 items on.
        rows = node, self.place[~is_small][:, None] - self.n_small
        shapes = self.large_shapes[rows]
        cube = 1 - 1 / (9 * shapes) + scores[~is_small] / (3 * np.sqrt(shapes))
        rates[~is_small] = self.large_modes[rows] * cube**3
        rates /= rates.sum(axis=0)
        return rates


def _poisson(counts: FloatArray) -> FloatArray:
    """Return the likelihood of each count at each log rate."""
    logs = counts[:, None] * _LOG_RATES - np.exp(_LOG_RATES) - gammaln(counts + 1)[:, None]
    likelihood: FloatArray = np.exp(logs)
    return likelihood


def _parameters(counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return location, scale and skew on a grid around the mean count, and their densities.

    Locations are whole steps of the log rates apart, so that one density for each scale and
    skew, shifted, serves all of them.
    """
    first = np.rint((np.log(max(float(counts.mean()), 0.5)) - _LOG_RATES[0]) / _STEP)
    shifts = (first + np.rint(_LOCATIONS / _STEP)).astype(np.int64)
    scales, skews = (axis.ravel() for axis in np.meshgrid(_SCALES, _SKEWS, indexing="ij"))
    offsets = _STEP * np.arange(-shifts.max(), _LOG_RATES.size - shifts.min())
    shape = np.exp(_log_density(offsets, np.zeros_like(scales), scales, skews)[0]) * _STEP
    windows = [shape[:, shifts.max() - shift :][:, : _LOG_RATES.size].copy() for shift in shifts]
    for shift, window in zip(shifts, windows, strict=True):
        window[:, 0] += _below((-0.5 - shift) * _STEP / scales, skews)  # all that is rarer
    return (
        np.repeat(_LOG_RATES[0] + _STEP * shifts, scales.size),
        np.tile(scales, shifts.size),
        np.tile(skews, shifts.size),
        np.concatenate(windows),
    )


def _log_density(
    at: FloatArray, location: FloatArray, scale: FloatArray, skew: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the log density of log rates and two derivatives, ``(n_parameters, n_at)`` each.

    Prentice's form of the generalised gamma: skew 0 is a log-normal rate, skew equal to the
    scale a gamma, skew −1 the inverse of an exponential, whose tail is Zipf's.
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
    return np.where(skew == 0, ndtr(standard), skewed)


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
