"""The mean over all runs that training could give, from the runs that it gave.

Let μ be the mean of a metric over all runs, on all documents there could be, and let runs
be normal around it with variance σ². On a test set, run r gets μ + its training + luck with
the documents + what only run r makes of them. The last part has a variance v, which draws of
all runs from the same weights of the documents show: it is what sets the draws of the runs
apart from each other. The variance s² between the R runs on the test set therefore estimates
T = σ² + v, not σ². With Jeffreys's prior 1/T, and T ≥ v,

    (R − 1) s² / T ~ χ² with R − 1 degrees of freedom, cut at T = v.

The mean of the drawn runs carries the luck with the documents and v / R already, so what is
added to it has the variance (T − v) / R: nothing is counted twice. With endless documents v
is zero and μ is Student's t around the mean of the runs with the scale s / √R; where all
runs are the same, nothing is added.

Of a difference A − B the same is said of T_A / R_A + T_B / R_B, with Welch's and
Satterthwaite's degrees of freedom. Drawing T_A and T_B apart, the Behrens–Fisher posterior,
gives wider intervals and half as many false verdicts as it says; one variance for both gives
too many where the runs of one model spread much farther.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammainc, gammaincinv, ndtr, ndtri

from outperform._typing import FloatArray


class Trained(NamedTuple):
    """Draws of a mean over all runs, and of the variance that training again gives it."""

    means: FloatArray  # (n_draws,)
    variances: FloatArray  # (n_draws,)


class Spread(NamedTuple):
    """What runs show of the variance of their mean.

    s² / R, how much of it comes from the documents, v / R, and its degrees of freedom.
    """

    between: float
    noise: float
    degrees: float


def draw_mean(
    values: FloatArray, *, bounds: tuple[float, float], seed: np.random.SeedSequence
) -> Trained:
    """Draw the mean of a metric over all runs that training could give.

    Parameters
    ----------
    values
        Draws of the metric of each run from the same weights, ``(n_runs, n_draws)``.
    bounds
        The least and the greatest value of the metric.
    seed
        Of the draws.

    Examples
    --------
    >>> drawn = np.array([[0.80], [0.82], [0.84]]).repeat(20_000, axis=1)
    >>> found = draw_mean(drawn, bounds=(0.0, 1.0), seed=np.random.SeedSequence(1))
    >>> print(round(float(np.median(found.means)), 3), round(float(found.means.std()), 3))
    0.82 0.026
    """
    most = _most(bounds) / len(values)
    return _draw(values.mean(axis=0), spread_of(values), most=most, bounds=bounds, seed=seed)


def draw_mean_difference(
    a: FloatArray, b: FloatArray, *, bounds: tuple[float, float], seed: np.random.SeedSequence
) -> Trained:
    """Draw A − B of the means over all runs that training could give.

    Parameters
    ----------
    a, b
        Draws of the metric of each run of A and of B, all from the same weights.
    bounds
        The least and the greatest value of the metric.
    seed
        Of the draws.

    Examples
    --------
    >>> a = np.array([[0.80], [0.82], [0.84]]).repeat(20_000, axis=1)
    >>> found = draw_mean_difference(a, a, bounds=(0.0, 1.0), seed=np.random.SeedSequence(1))
    >>> low, high = np.quantile(found.means, [0.025, 0.975])
    >>> print(round(float(low), 3), round(float(high), 3))  # ±2.776 · 0.02 · √(2 / 3)
    -0.045 0.044
    """
    width = bounds[1] - bounds[0]
    return _draw(
        a.mean(axis=0) - b.mean(axis=0),
        _both(spread_of(a), spread_of(b)),
        most=_most(bounds) * (1 / len(a) + 1 / len(b)),
        bounds=(-width, width),
        seed=seed,
    )


def spread_of(values: FloatArray) -> Spread:
    """Return what runs show of the variance of their mean; nothing if there is but one.

    Parameters
    ----------
    values
        Draws of the metric of each run from the same weights, ``(n_runs, n_draws)``.

    Examples
    --------
    >>> spread = spread_of(np.array([[0.8, 0.9], [0.7, 0.8]]))
    >>> print(round(spread.between, 6), round(spread.noise, 6), spread.degrees)
    0.0025 0.0 1
    """
    n_runs = len(values)
    if n_runs == 1:
        return Spread(between=0.0, noise=0.0, degrees=1)
    apart = values - values.mean(axis=0)
    noise = float(apart.var(axis=1, ddof=1).sum()) / (n_runs - 1)
    between = float(values.mean(axis=1).var(ddof=1))
    return Spread(between=between / n_runs, noise=noise / n_runs, degrees=n_runs - 1)


def _both(a: Spread, b: Spread) -> Spread:
    """Return the spread of a difference, with Satterthwaite's degrees of freedom."""
    # The variance of a mean is not below that of its noise, whatever the runs show.
    q_a, q_b = (max(one.between, one.noise) for one in (a, b))
    error = q_a**2 / a.degrees + q_b**2 / b.degrees
    return Spread(
        between=a.between + b.between,
        noise=a.noise + b.noise,
        degrees=(q_a + q_b) ** 2 / error if error else 1.0,
    )


def _most(bounds: tuple[float, float]) -> float:
    """Return the greatest variance of numbers within bounds."""
    return ((bounds[1] - bounds[0]) / 2) ** 2


def _draw(
    centre: FloatArray,
    spread: Spread,
    *,
    most: float,
    bounds: tuple[float, float],
    seed: np.random.SeedSequence,
) -> Trained:
    chi, normal = np.random.Generator(np.random.SFC64(seed)).random((2, centre.size))
    variances = _variances(spread, most=most, levels=chi)
    means = _normal_within(centre, np.sqrt(variances), bounds, levels=normal)
    return Trained(means, variances)


def _variances(spread: Spread, *, most: float, levels: FloatArray) -> FloatArray:
    """Return draws of a scaled inverse χ² above its noise, without the noise."""
    half, scale = spread.degrees / 2, spread.degrees * spread.between / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = scale / np.array([spread.noise + most, spread.noise])
        least, greatest = gammainc(half, ends)
        # Runs that vary much less than their noise leave no room for a spread of their own.
        if not greatest > least:
            return np.zeros_like(levels)
        total = scale / gammaincinv(half, least + levels * (greatest - least))
    variances: FloatArray = np.clip(total - spread.noise, 0.0, most)
    return variances


def _normal_within(
    centre: FloatArray, sd: FloatArray, bounds: tuple[float, float], *, levels: FloatArray
) -> FloatArray:
    """Return normal draws cut to the bounds, by the inverse of their distribution."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (ndtr((end - centre) / sd) for end in bounds)
        drawn = centre + sd * ndtri(low + levels * (high - low))
    found: FloatArray = np.where(sd > 0, np.clip(drawn, *bounds), centre)
    return found
