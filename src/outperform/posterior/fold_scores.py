r"""Posteriors of a mean difference, from fold scores on one or more data sets.

A fold's difference :math:`x_j` of A and B on one data set has mean :math:`\delta` and variance
:math:`\sigma^2`; any two folds have correlation :math:`\rho`, the share of the items that each fold
tests, because their training sets overlap (Nadeau and Bengio 2003). With :math:`\bar x` the mean
and :math:`S` the sum of squares of :math:`n` differences around it, the likelihood has the exponent

.. math::

    Q(\delta) = \frac{S}{1 - \rho} + \frac{(\bar x - \delta)^2}{\kappa}, \qquad
    \kappa = \frac{1 + (n - 1) \rho}{n},

over :math:`-2 \sigma^2`: :math:`\bar x` is normal with variance :math:`\kappa \sigma^2`.

*One data set.* With the prior :math:`1 / \sigma` the posterior of :math:`\delta` is Student's t
with :math:`n - 1` degrees of freedom around :math:`\bar x`. Its squared scale is :math:`\kappa S /
((1 - \rho)(n - 1)) = (1/n + \rho / (1 - \rho))\, s^2`.

*Several data sets* (Corani, Benavoli, Demšar, Mangili and Zaffalon 2017). :math:`\delta_i \sim
t_\nu(\delta_0, \sigma_0)`; :math:`\delta_0, \sigma_0, \sigma_i` are uniform and :math:`\nu - 1 \sim
\Gamma(\alpha, \beta)`, with :math:`\alpha` and :math:`\beta` uniform too. The t is a normal with
variance :math:`\sigma_0^2 / \lambda_i` with :math:`\lambda_i \sim \Gamma(\nu/2, \nu/2)`, so a Gibbs
sampler has three blocks, each of which draws from a joint conditional:

1. :math:`\sigma_0, \delta_0, \delta \mid \lambda, \sigma`. Without the :math:`\delta_i` the
   :math:`\bar x_i` are normal around :math:`\delta_0` with variance :math:`\kappa_i \sigma_i^2 +
   \sigma_0^2 / \lambda_i`. Without :math:`\delta_0` too, :math:`\sigma_0` is one-dimensional and
   gets Metropolis steps; given :math:`\sigma_0`, :math:`\delta_0` is a truncated normal, and the
   :math:`\delta_i` are normal. So :math:`\sigma_0` can go to zero without being held back by the
   :math:`\delta_i`.
2. :math:`\nu, \lambda \mid \delta, \delta_0, \sigma_0`. Without the :math:`\lambda_i`,
   :math:`\nu` has a t likelihood and gets Metropolis steps; then the :math:`\lambda_i` are gamma.
   3. :math:`\sigma_i^{-2} \mid \delta_i` is gamma with shape :math:`(n_i - 1)/2` and rate
   :math:`Q_i / 2`, truncated at the bound of :math:`\sigma_i`.

*One score for each of several data sets* (Benavoli, Corani, Mangili, Zaffalon and Ruggeri 2014).
The distribution of differences over data sets is a Dirichlet process: a draw puts weights
:math:`\mathrm{Dir}(1/2, 1, \ldots, 1)` on zero (the prior) and on the observed differences. Its
pseudo-median is the median of the mean of two data sets, the quantity that the signed-rank test
concerns.

With such weights, a mean varies by only :math:`\sqrt{(n-1)/(n+1)}` of its standard error
:math:`s/\sqrt n` and never leaves the range of the data, so intervals from few data sets are too
narrow. The distance between a drawn pseudo-median and the observed one is therefore multiplied by
:math:`\sqrt{(n+1)/(n-1)}\,\sqrt{(n-1)/\chi^2_{n-1}}`, which gives the mean of normal differences a
Student's t distribution. The prior's zero is excluded from this: with few data sets it would pull
the result toward no difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import gammaln, ndtr, ndtri, stdtr, stdtrit

from outperform._typing import BoolArray, FloatArray
from outperform.posterior.gammas import draw_gammas
from outperform.posterior.pymc.sampling import Chain

# As in baycomp: bounds for α and β, and for σ₀ and σᵢ in standard deviations.
_ALPHA, _BETA, _WIDEST = (1.0, 2.0), (0.01, 0.1), 1_000.0
_CHAINS, _TUNE, _STEPS = 32, 150, 6
# Chains stop at this number of draws even if they have not converged.
MOST_DRAWS = 160_000
_TAILS = (0.05, 0.95)
_PRIOR_MASS, _AT_ONCE = 0.5, 1 << 21

_LogDensity: TypeAlias = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class StudentT:
    """Student's t distribution with a location and more than two degrees of freedom.

    Examples
    --------
    >>> t = StudentT(location=0.02, scale=0.01, df=9)
    >>> print(round(t.sf(0.0), 4), round(t.quantile(0.975), 4))
    0.9617 0.0426
    """

    location: float
    scale: float
    df: float

    @property
    def mean(self) -> float:
        """The mean."""
        return self.location

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return self.scale * math.sqrt(self.df / (self.df - 2))

    @property
    def support(self) -> tuple[float, float]:
        """The real line."""
        return -math.inf, math.inf

    def cdf(self, value: float) -> float:
        """Return the probability of at most a value."""
        return float(stdtr(self.df, (value - self.location) / self.scale))

    def sf(self, value: float) -> float:
        """Return the probability of more than a value."""
        return float(stdtr(self.df, (self.location - value) / self.scale))

    def pdf(self, value: float) -> float:
        """Return the density at a value."""
        z = (value - self.location) / self.scale
        return float(np.exp(_log_t(np.array(z), np.array(self.df)))) / self.scale

    def quantile(self, probability: float) -> float:
        """Return the quantile at a probability."""
        return self.location + self.scale * float(stdtrit(self.df, probability))


def _log_t(z: FloatArray, df: FloatArray) -> FloatArray:
    half: FloatArray = df / 2
    constant = gammaln(half + 0.5) - gammaln(half) - 0.5 * np.log(math.pi * df)
    density: FloatArray = constant - (half + 0.5) * np.log1p(z**2 / df)
    return density


class FoldScores(NamedTuple):
    """Scores of A and of B in the folds of one data set."""

    values: FloatArray  # (2, n)
    share: float  # share of the items that each fold tests

    @property
    def n(self) -> int:
        """The number of folds."""
        return len(self.values[0])

    @property
    def differences(self) -> FloatArray:
        """A − B in each fold; scores that differ only by rounding count as equal."""
        differences: FloatArray = self.values[0] - self.values[1]
        size = np.abs(self.values).max()
        differences = np.where(np.abs(differences) < 1e-12 * size, 0.0, differences)
        same = bool(np.ptp(differences) <= 1e-12 * size)
        return np.full(self.n, differences.mean()) if same else differences

    @property
    def kappa(self) -> float:
        """Ratio of the variance of the mean of all folds to that of one fold."""
        return (1 + (self.n - 1) * self.share) / self.n

    @property
    def factor(self) -> float:
        """Nadeau and Bengio's factor for the variance of the folds."""
        return 1 / self.n + self.share / (1 - self.share)


def t_of_mean(values: FloatArray, folds: FoldScores) -> StudentT | None:
    """Return the correlated t for the mean of one number per fold; None if the folds do not vary.

    Examples
    --------
    >>> folds = FoldScores(np.array([[3.0, 1.0, 2.0, 4.0], [1.0, 2.0, 0.0, 1.0]]), share=0.25)
    >>> t_of_mean(folds.differences, folds)
    StudentT(location=1.5, scale=1.322875655532295, df=3)
    """
    if np.ptp(values) == 0:
        return None
    scale = math.sqrt(folds.factor * float(values.var(ddof=1)))
    return StudentT(location=float(values.mean()), scale=scale, df=folds.n - 1)


def draw_means(folds: FoldScores, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw the means of A and B ``(2, n_draws)`` from a joint t that implies the t of A − B."""
    centred: FloatArray = folds.values - folds.values.mean(axis=1, keepdims=True)
    # This square root of the covariance exists even if scores are constant or perfectly correlated.
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    root = left * sizes * math.sqrt(folds.factor / (folds.n - 1))
    chi2 = rng.chisquare(folds.n - 1, n_draws) / (folds.n - 1)
    drawn: FloatArray = root @ rng.standard_normal((2, n_draws)) / np.sqrt(chi2)
    means: FloatArray = folds.values.mean(axis=1)[:, None] + drawn
    return means


class HierarchicalDraws(NamedTuple):
    """Draws of the hierarchical model, one chain per row."""

    centre: FloatArray  # (n_chains, n_draws), δ₀
    spread: FloatArray  # (n_chains, n_draws), σ₀
    nu: FloatArray  # (n_chains, n_draws)
    differences: FloatArray  # (n_chains, n_draws, n_datasets), δᵢ

    def next_masses(self, low: float, high: float) -> FloatArray:
        """Return the t's mass below, within and above an interval, ``(3, n_chains, n_draws)``."""
        below = stdtr(self.nu, (low - self.centre) / self.spread)
        above = stdtr(self.nu, (self.centre - high) / self.spread)
        return np.stack([below, np.maximum(1 - below - above, 0.0), above])

    def next_draws(self, rng: np.random.Generator) -> FloatArray:
        """Draw the difference on one more data set, ``(n_chains, n_draws)``."""
        drawn: FloatArray = self.centre + self.spread * rng.standard_t(self.nu)
        return drawn


class _Data(NamedTuple):
    """Statistics of each data set, and the bounds of the uniform priors."""

    n: FloatArray
    mean: FloatArray
    squares: FloatArray  # S / (1 − ρ)
    kappa: FloatArray
    most_centre: float
    most_spread: float
    most_sigma: float


class _State(NamedTuple):
    spread: FloatArray  # (n_chains,)
    nu: FloatArray  # (n_chains,)
    precision: FloatArray  # (n_chains, n_datasets), λ
    sigma: FloatArray  # (n_chains, n_datasets)


def draw_hierarchical(
    datasets: Sequence[FoldScores], n_draws: int, rng: np.random.Generator
) -> HierarchicalDraws:
    """Draw at least the requested number from the hierarchical model, in chains of equal length.

    Chains are doubled in length until there are enough draws of δ₀, or ``MOST_DRAWS`` draws. A data
    set with constant folds gets the smallest variance among the others.
    """
    deltas = [dataset.differences for dataset in datasets]
    scale = float(np.mean([delta.std() for delta in deltas]))
    data = _prepare(datasets, [delta / scale for delta in deltas])
    n_kept = -(-n_draws // _CHAINS)
    state = _start(data, rng)
    for _ in range(_TUNE):
        state, *_ = _sweep(data, state, rng)
    drawn, state = _continue(data, state, n_kept, rng)
    while 2 * drawn.centre.size <= MOST_DRAWS and not diagnose_many(drawn.centre).converged:
        more, state = _continue(data, state, drawn.centre.shape[1], rng)
        pairs = zip(drawn, more, strict=True)
        drawn = HierarchicalDraws(*(np.concatenate(pair, axis=1) for pair in pairs))
    return HierarchicalDraws(
        drawn.centre * scale, drawn.spread * scale, drawn.nu, drawn.differences * scale
    )


def _continue(
    data: _Data, state: _State, n_kept: int, rng: np.random.Generator
) -> tuple[HierarchicalDraws, _State]:
    """Continue each chain by a number of draws, and also return the final states."""
    centres, spreads, nus = (np.empty((_CHAINS, n_kept)) for _ in range(3))
    differences = np.empty((_CHAINS, n_kept, data.n.size))
    for column in range(n_kept):
        state, centre, delta = _sweep(data, state, rng)
        centres[:, column], spreads[:, column], nus[:, column] = centre, state.spread, state.nu
        differences[:, column] = delta
    return HierarchicalDraws(centres, spreads, nus, differences), state


def _prepare(datasets: Sequence[FoldScores], deltas: Sequence[FloatArray]) -> _Data:
    n = np.array([dataset.n for dataset in datasets], dtype=np.float64)
    mean = np.array([delta.mean() for delta in deltas])
    sd = np.array([delta.std() for delta in deltas])
    sd = np.where(sd > 0, sd, sd[sd > 0].min())
    within, among = float(sd.mean()), float(mean.std())
    return _Data(
        n=n,
        mean=mean,
        squares=n * sd**2 / (1 - np.array([dataset.share for dataset in datasets])),
        kappa=np.array([dataset.kappa for dataset in datasets]),
        most_centre=float(max(np.abs(delta).max() for delta in deltas)),
        most_spread=_WIDEST * (among if among > 0 else within),
        most_sigma=_WIDEST * within,
    )


def _start(data: _Data, rng: np.random.Generator) -> _State:
    """Return overdispersed initial states of the chains."""
    shape = _CHAINS, data.n.size
    sigma = np.sqrt(data.squares / data.n) * np.exp(0.5 * rng.standard_normal(shape))
    wide = float(np.sqrt(data.mean.var() + (data.kappa * data.squares / data.n).mean()))
    return _State(
        spread=np.minimum(wide * np.exp(rng.standard_normal(_CHAINS)), data.most_spread / 2),
        nu=1 + np.exp(rng.uniform(0, 4, _CHAINS)),
        precision=np.ones(shape),
        sigma=np.minimum(sigma, data.most_sigma / 2),
    )


def _sweep(
    data: _Data, state: _State, rng: np.random.Generator
) -> tuple[_State, FloatArray, FloatArray]:
    """Update all blocks once, and also return δ₀ and δ."""
    error: FloatArray = data.kappa * state.sigma**2  # (n_chains, n_datasets)
    inverse: FloatArray = 1 / state.precision

    def log_spread(log: FloatArray) -> FloatArray:
        spread = np.exp(log)
        m, v, density = _centre_given(data, error + spread[:, None] ** 2 * inverse)
        low, high = _cut(data, m, v)
        inside = spread < data.most_spread
        log_spreads: FloatArray = np.where(inside, density + np.log(high - low) + log, -np.inf)
        return log_spreads

    spread = np.exp(_metropolis(np.log(state.spread), log_spread, rng))
    m, v, _ = _centre_given(data, error + spread[:, None] ** 2 * inverse)
    low, high = _cut(data, m, v)
    centre: FloatArray = m + np.sqrt(v) * ndtri(low + (high - low) * rng.random(_CHAINS))
    centre = np.clip(centre, -data.most_centre, data.most_centre)
    of_data, of_prior = 1 / error, state.precision / spread[:, None] ** 2
    both = of_data + of_prior
    delta: FloatArray = (of_data * data.mean + of_prior * centre[:, None]) / both
    delta += rng.standard_normal(delta.shape) / np.sqrt(both)

    z2: FloatArray = ((delta - centre[:, None]) / spread[:, None]) ** 2

    def log_nu(log: FloatArray) -> FloatArray:
        nu = 1 + np.exp(log)
        density: FloatArray = data.n.size * (
            gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu)
        ) - (nu + 1) / 2 * np.log1p(z2 / nu[:, None]).sum(axis=1)
        return density + _log_prior_nu(log)

    nu = 1 + np.exp(_metropolis(np.log(state.nu - 1), log_nu, rng))
    shape = (nu[:, None] + 1) / 2
    precision = draw_gammas(rng, shape, z2.shape) * 2 / (nu[:, None] + z2)
    rate: FloatArray = (data.squares + (data.mean - delta) ** 2 / data.kappa) / 2
    sigma = np.sqrt(rate / draw_gammas(rng, (data.n - 1) / 2, rate.shape))
    while (wide := sigma > data.most_sigma).any():
        shapes = np.broadcast_to((data.n - 1) / 2, rate.shape)[wide]
        sigma[wide] = np.sqrt(rate[wide] / draw_gammas(rng, shapes))
    return _State(spread, nu, precision, sigma), centre, delta


def _centre_given(data: _Data, variance: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean and variance of δ₀ given the means' variances, and the means' density."""
    weight: FloatArray = 1 / variance
    v: FloatArray = 1 / weight.sum(axis=1)
    m: FloatArray = v * (weight * data.mean).sum(axis=1)
    squares = (weight * (data.mean - m[:, None]) ** 2).sum(axis=1)
    density: FloatArray = 0.5 * (np.log(v) - np.log(variance).sum(axis=1) - squares)
    return m, v, density


def _cut(data: _Data, m: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the normal's mass below the lower and below the upper bound of δ₀."""
    sd = np.sqrt(v)
    return ndtr((-data.most_centre - m) / sd), ndtr((data.most_centre - m) / sd)


def _metropolis(
    start: FloatArray, log_density: _LogDensity, rng: np.random.Generator
) -> FloatArray:
    """Take a few random steps of increasing size, independently in each chain."""
    current, here = start, log_density(start)
    for _ in range(_STEPS):
        jump = np.exp(rng.uniform(-2.5, 1.0, start.size)) * rng.standard_normal(start.size)
        proposed = log_density(current + jump)
        accepted: BoolArray = np.log(rng.random(start.size)) < proposed - here
        current, here = (
            np.where(accepted, current + jump, current),
            np.where(accepted, proposed, here),
        )
    return current


@cache
def _nu_grid() -> tuple[FloatArray, FloatArray]:
    """Return the prior log density of log(ν − 1) on a grid, with α and β integrated out."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    alpha, beta = (low + (high - low) * (nodes + 1) / 2 for low, high in (_ALPHA, _BETA))
    log = np.linspace(-14.0, 10.0, 2_401)
    of_alpha = weights / 2 * np.exp(-gammaln(alpha))
    powers = np.log(beta[:, None]) + log  # (n_beta, n_grid)
    inner = np.tensordot(of_alpha, np.exp(alpha[:, None, None] * powers), axes=1)
    density = (weights[:, None] / 2 * inner * np.exp(-beta[:, None] * np.exp(log))).sum(axis=0)
    return log, np.log(np.maximum(density, 1e-300))


def _log_prior_nu(log: FloatArray) -> FloatArray:
    return np.interp(log, *_nu_grid(), left=-np.inf, right=-np.inf)


class RankWeights(NamedTuple):
    """Draws of the weights of the prior's zero and of the data sets' differences."""

    points: FloatArray  # (1 + n_datasets,)
    weights: FloatArray  # (n_draws, 1 + n_datasets)
    widening: FloatArray  # (n_draws,), factor for the distance from the observed value
    medians: FloatArray  # (n_draws,), pseudo-medians of the data sets, widened

    @property
    def own(self) -> FloatArray:
        """Weights of the data sets, excluding the prior's zero, ``(n_draws, n_datasets)``."""
        shares: FloatArray = self.weights[:, 1:]
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def pair_masses(self, low: float, high: float) -> FloatArray:
        """Return the masses of the mean of two data sets, ``(3, n_draws)``."""
        means: FloatArray = (self.points[:, None] + self.points) / 2
        below, above = (
            ((self.weights @ _heaviside(side)) * self.weights).sum(axis=1)
            for side in (low - means, means - high)
        )
        return np.stack([below, 1 - below - above, above])

    def next_points(self) -> FloatArray:
        """Return possible differences on a new data set in every draw, ``(n_draws, n_datasets)``.

        Each is a drawn pseudo-median plus a data set's distance from the observed pseudo-median,
        widened likewise.
        """
        n = self.points.size - 1
        # The widening for a mean contains n + 1, from its weights; for a single value it is n
        # instead.
        factor = self.widening * math.sqrt(n / (n + 1))
        apart = self.points[1:] - pseudo_median(self.points[1:])
        points: FloatArray = self.medians[:, None] + factor[:, None] * apart
        return points

    def next_masses(self, low: float, high: float) -> FloatArray:
        """Return the masses of one more data set below, within and above, ``(3, n_draws)``."""
        points, own = self.next_points(), self.own
        below, above = (
            (own * _heaviside(side)).sum(axis=1) for side in (low - points, points - high)
        )
        return np.stack([below, 1 - below - above, above])


def _heaviside(values: FloatArray) -> FloatArray:
    return np.heaviside(values, 0.5)


def pseudo_median(values: FloatArray) -> float:
    """Return the median of the means of all pairs of values, including each value with itself.

    Examples
    --------
    >>> pseudo_median(np.array([0.0, 1.0, 2.0, 9.0]))
    1.8333333333333333
    """
    return float(_pseudo_medians(values, np.full((1, values.size), 1 / values.size))[0])


def _pseudo_medians(points: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the median of the mean of two points for every row of weights.

    Half of a mean's mass counts as below it and half as above it, with linear interpolation between
    two means. Otherwise a draw could take only a few values.
    """
    i, j = np.triu_indices(points.size)
    means: FloatArray = (points[i] + points[j]) / 2
    order = np.argsort(means)
    i, j, means = i[order], j[order], means[order]
    # Means that differ only by rounding are merged; otherwise the order of ties would matter.
    apart = np.diff(means) > 1e-12 * np.abs(points).max()
    firsts = np.flatnonzero(np.concatenate([[True], apart]))
    means = means[firsts]
    twice = np.where(i == j, 1.0, 2.0)
    medians = np.empty(len(weights))
    step = max(1, _AT_ONCE // i.size)
    for start in range(0, len(medians), step):
        block = weights[start : start + step]
        masses = np.add.reduceat(twice * block[:, i] * block[:, j], firsts, axis=1)
        middles = np.cumsum(masses, axis=1) - masses / 2
        rows = np.arange(len(block))
        after = np.argmax(middles >= 0.5, axis=1)
        # If one point outweighs all others, the midpoint of its mass (first or last) is already
        # past one half.
        after = np.where(middles[:, -1] < 0.5, means.size - 1, after)
        before = np.maximum(after - 1, 0)
        low, high = middles[rows, before], middles[rows, after]
        gap = np.where(high > low, high - low, 1.0)
        share = np.clip((0.5 - low) / gap, 0.0, 1.0)
        medians[start : start + step] = means[before] + share * (means[after] - means[before])
    return medians


def draw_ranks(differences: FloatArray, n_draws: int, rng: np.random.Generator) -> RankWeights:
    """Draw the Dirichlet process's weights, and pseudo-medians widened for n data sets."""
    n, points = differences.size, np.concatenate([[0.0], differences])
    gammas = draw_gammas(rng, 1.0, (n_draws, points.size))
    gammas[:, 0] = draw_gammas(rng, _PRIOR_MASS, n_draws)
    weights = gammas / gammas.sum(axis=1, keepdims=True)
    widening = np.sqrt((n + 1) / rng.chisquare(n - 1, n_draws))
    drawn = RankWeights(points, weights, widening, np.empty(0))
    middle = pseudo_median(differences)
    medians = middle + widening * (_pseudo_medians(differences, drawn.own) - middle)
    return drawn._replace(medians=medians)


def mean_with_error(draws: FloatArray) -> tuple[float, float]:
    """Return the mean of chains, one per row, and its Monte Carlo error from half-chain means."""
    halves = _halves(draws).mean(axis=1)
    return float(draws.mean()), float(halves.std(ddof=1)) / math.sqrt(halves.size)


def diagnose_many(draws: FloatArray) -> Chain:
    """Return the diagnostics of many chains, one per row, from half-chain means.

    No autocorrelations are needed: with many chains, the spread of the half-chain means gives the
    error of a mean. R-hat is the rank-normalised split version, computed for the draws and for
    their distance from the median.
    """
    _, mcse = mean_with_error(draws)
    scores = _normal_scores(draws)
    folded = _normal_scores(np.abs(draws - np.median(draws)))
    tails = [draws <= np.quantile(draws, level) for level in _TAILS]
    return Chain(
        sampler=f"Gibbs, {len(draws)} chains of {draws.shape[1]} after {_TUNE}",
        n_draws=draws.size,
        rhat=max(_rhat(scores), _rhat(folded)),
        ess=min(_ess(np.asarray(series, dtype=np.float64)) for series in (scores, *tails)),
        mcse=mcse,
        divergences=0,
    )


def _halves(draws: FloatArray) -> FloatArray:
    n = draws.shape[1] // 2
    return np.concatenate([draws[:, :n], draws[:, -n:]])


def _normal_scores(draws: FloatArray) -> FloatArray:
    ranks = np.empty(draws.size)
    ranks[np.argsort(draws, axis=None)] = np.arange(1, draws.size + 1)
    scores: FloatArray = ndtri((ranks - 0.375) / (draws.size + 0.25))
    return scores.reshape(draws.shape)


def _rhat(draws: FloatArray) -> float:
    halves = _halves(draws)
    within, n = float(halves.var(axis=1, ddof=1).mean()), halves.shape[1]
    return math.sqrt((n - 1) / n + float(halves.mean(axis=1).var(ddof=1)) / within)


def _ess(draws: FloatArray) -> float:
    _, error = mean_with_error(draws)
    return float(draws.var()) / error**2 if error > 0 else float(draws.size)
