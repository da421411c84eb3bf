"""Are ranks uniform? Four tests that see different faults, and Holm's correction.

A chi-square test sees bumps, a simultaneous band on the distribution function
sees slow drifts, and the mean and variance of the normal scores see small
shifts and small errors of scale, which the other two miss.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtri
from scipy.stats import binom, chi2, norm

from outperform._typing import FloatArray, IntArray

N_DRAWS = 1023
N_RANKS = N_DRAWS + 1
N_BINS = 32

# Where the band is read; fixed before any data are seen.
_POINTS = np.arange(1, N_BINS) / N_BINS
# Pointwise levels at which the band's own p-value is tabulated.
_LEVELS = np.logspace(-9, -0.5, 24)


class PValues(NamedTuple):
    """One p-value per test."""

    chi_square: float
    ecdf_band: float
    mean_score: float
    variance_score: float


def judge(ranks: IntArray, generator: np.random.Generator) -> PValues:
    """Test whether ranks from 0 to 1023 are uniform."""
    mean, variance = _score_tests(ranks, generator)
    return PValues(_chi_square(ranks), _ecdf_band(ranks), mean, variance)


def rank(values: FloatArray, generator: np.random.Generator) -> IntArray:
    """Return the rank of the first column among the others; ties are broken at random.

    ``values`` has shape ``(n_simulations, 1 + n_draws)``, the truth first.
    """
    truth, draws = values[:, :1], values[:, 1:]
    below = (draws < truth).sum(axis=1)
    ties = (draws == truth).sum(axis=1)
    ranks: IntArray = below + generator.integers(0, ties + 1)
    return ranks


def rank_of_level(levels: FloatArray) -> IntArray:
    """Return levels between 0 and 1 as ranks, so that the same tests judge them."""
    return np.minimum(levels * N_RANKS, N_DRAWS).astype(np.int64)


def holm(p_values: FloatArray) -> FloatArray:
    """Return Holm's adjusted p-values, in the order given."""
    order = np.argsort(p_values)
    raised = p_values[order] * np.arange(p_values.size, 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return adjusted


def _chi_square(ranks: IntArray) -> float:
    seen = np.bincount(ranks * N_BINS // N_RANKS, minlength=N_BINS)
    expected = ranks.size / N_BINS
    return float(chi2.sf(((seen - expected) ** 2 / expected).sum(), N_BINS - 1))


def _score_tests(ranks: IntArray, generator: np.random.Generator) -> tuple[float, float]:
    # Spread evenly within its step, a uniform rank is a uniform number to the letter.
    scores = ndtri((ranks + generator.random(ranks.size)) / N_RANKS)
    n = ranks.size
    mean = 2 * norm.sf(abs(scores.mean()) * np.sqrt(n))
    spread = (n - 1) * scores.var(ddof=1)
    variance = 2 * min(chi2.sf(spread, n - 1), chi2.cdf(spread, n - 1))
    return float(mean), float(min(variance, 1.0))


# The band of Säilynoja, Bürkner and Vehtari (2022): the distribution function
# of uniform ranks is binomial at each point, and the smallest of the pointwise
# p-values has a distribution of its own, found by a recursion from point to point.


def _ecdf_band(ranks: IntArray) -> float:
    n = ranks.size
    below = (ranks[:, None] < _POINTS * N_RANKS).sum(axis=0)
    tails = np.minimum(binom.cdf(below, n, _POINTS), binom.sf(below - 1, n, _POINTS))
    return _band_p_value(n, 2 * float(tails.min()))


def _band_p_value(n: int, smallest: float) -> float:
    if smallest < _LEVELS[0]:
        return smallest * _POINTS.size  # Bonferroni's bound
    if smallest > _LEVELS[-1]:
        return 1.0
    return float(np.exp(np.interp(np.log(smallest), np.log(_LEVELS), _log_outside(n))))


@lru_cache(maxsize=8)
def _log_outside(n: int) -> FloatArray:
    return np.log([1 - _stays_inside(n, level) for level in _LEVELS])


def _stays_inside(n: int, level: float) -> float:
    """Return the probability that no pointwise p-value is ``level`` or less."""
    low = binom.ppf(level / 2, n, _POINTS)
    low += 2 * binom.cdf(low, n, _POINTS) <= level
    high = binom.isf(level / 2, n, _POINTS)
    high += 2 * binom.sf(high, n, _POINTS) > level
    log_factorial = gammaln(np.arange(n + 1) + 1.0)
    states, mass, place = np.zeros(1, dtype=np.int64), np.ones(1), 0.0
    for point, first, last in zip(_POINTS, low, high, strict=True):
        following = np.arange(int(first), int(last) + 1)
        share = (point - place) / (1 - place)
        mass = mass @ _steps(states, following, n, share, log_factorial)
        states, place = following, point
    return float(mass.sum())


def _steps(
    states: IntArray, following: IntArray, n: int, share: float, log_factorial: FloatArray
) -> FloatArray:
    """Return binomial probabilities of going from each state to each following one."""
    left = n - states[:, None]
    gain = following[None, :] - states[:, None]
    possible = (gain >= 0) & (gain <= left)
    gain = np.where(possible, gain, 0)
    logs = log_factorial[left] - log_factorial[gain] - log_factorial[left - gain]
    logs += gain * np.log(share) + (left - gain) * np.log1p(-share)
    return np.where(possible, np.exp(logs), 0.0)
