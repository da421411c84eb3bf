"""Probabilities and moments from draws, each with its Monte Carlo error."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from outperform._typing import Distribution, FloatArray
from outperform.decision.rope import Rope


@dataclass(frozen=True, slots=True, kw_only=True)
class Masses:
    """Posterior mass below, inside and above the ROPE, and above zero."""

    below: float
    inside: float
    above: float
    greater: float


def masses_from_draws(ordered: FloatArray, rope: Rope) -> Masses:
    """Count sorted draws; a draw at zero counts half for either side.

    Examples
    --------
    >>> masses_from_draws(np.array([-0.2, 0.0, 0.005, 0.3]), Rope.from_param(0.01))
    Masses(below=0.25, inside=0.5, above=0.25, greater=0.625)
    """
    n = ordered.size
    below = int(np.searchsorted(ordered, rope.low, side="left"))
    above = n - int(np.searchsorted(ordered, rope.high, side="right"))
    negative = int(np.searchsorted(ordered, 0.0, side="left"))
    positive = n - int(np.searchsorted(ordered, 0.0, side="right"))
    return Masses(
        below=below / n,
        inside=(n - below - above) / n,
        above=above / n,
        greater=(positive + (n - negative - positive) / 2) / n,
    )


def masses_from_distribution(distribution: Distribution, rope: Rope) -> Masses:
    """Return the exact masses of a closed form."""
    below, above = distribution.cdf(rope.low), distribution.sf(rope.high)
    # Subtract in the tail that the ROPE lies in, so that tiny masses keep their digits.
    if distribution.mean > rope.high:
        inside = distribution.cdf(rope.high) - below
    elif distribution.mean < rope.low:
        inside = distribution.sf(rope.low) - above
    else:
        inside = 1 - below - above
    return Masses(below=below, inside=max(inside, 0.0), above=above, greater=distribution.sf(0.0))


def mean_error(sd: float, n_draws: float) -> float:
    """Return the Monte Carlo standard error of the mean of independent draws.

    Examples
    --------
    >>> mean_error(0.02, 10_000)
    0.0002
    """
    return sd / math.sqrt(n_draws)


def sd_error(draws: FloatArray, n_effective: float | None = None) -> float:
    """Return the Monte Carlo standard error of the standard deviation.

    The variance of ``s²`` is ``(μ₄ − σ⁴) / S``, whatever the distribution; S is the number
    of draws, or how many independent ones they are worth.

    Examples
    --------
    >>> round(sd_error(np.array([-1.0, 1.0, -2.0, 2.0] * 100)), 4)
    0.0237
    """
    worth = draws.size if n_effective is None else n_effective
    squares = np.square(draws - draws.mean())
    variance = float(squares.mean())
    if variance == 0.0:
        return 0.0
    return float(squares.std()) / (2.0 * math.sqrt(variance * worth))


def probability_error(probability: float, n_draws: float) -> float:
    """Return the Monte Carlo standard error of a probability.

    Half a draw is added on either side so that 0 out of S is not certain.

    Examples
    --------
    >>> round(probability_error(0.5, 10_000), 4), probability_error(0.0, 10_000) > 0
    (0.005, True)
    """
    smoothed = (probability * n_draws + 0.5) / (n_draws + 1)
    return float(np.sqrt(smoothed * (1 - smoothed) / n_draws))
