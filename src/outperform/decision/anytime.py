"""Intervals that contain the true value at every look, however many there are.

A confidence sequence of level α is a sequence of intervals, one per sample size, that all contain
the true value with probability 1 − α. So it does not matter how often somebody looks, or why they
stop. There are two of them here.

*Betting* (:func:`betting_interval`), for means of bounded values, is valid from the first item.
Against the claim that the mean is m, a bet on more multiplies the stake by 1 + s (x − m) / (m −
low) for each item of value x, for some s from 0 to 1. This factor is never negative and, if the
mean is m, 1 on average. So the capital is a nonnegative martingale, and by Ville's inequality it
ever reaches 2/α with probability α/2 at most. The interval contains each m against which neither
this bet nor the bet on less has reached 2/α. A fixed mixture of many s is again such a bet. Its
capital depends only on how often each value occurred and not on the order of the items, and it
falls as m grows, so the end of the interval is found by bisection (Waudby-Smith and Ramdas, 2024,
with a mixture in place of a strategy).

*Asymptotic* (:func:`widening`), for every metric: mean ± k(n) · sd. Averaged over a normal prior of
scale ρ on the drift, the likelihood ratio of Brownian motion is a martingale, and by Ville's
inequality it stays below 1/α at all times if |S| < √((n + 1/ρ²) log((n ρ² + 1) / α²)). A plug-in
estimate is a sum of influences up to a vanishing remainder, so dividing by n gives

    k(n)² = (n ρ² + 1) / (n ρ²) · log((n ρ² + 1) / α²)

in units of the standard error (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, 2024). With m = n
ρ², k² is smallest if log((m + 1) / α²) = m, that is m = −W₋₁(−α²/e) − 1, and is then m + 1. ρ must
not depend on the data; it is set so that the interval is narrowest at ``NARROWEST_AT`` units.
"""

from __future__ import annotations

import numpy as np
from scipy.special import lambertw, logsumexp

from outperform._typing import AnyArray, FloatArray

NARROWEST_AT = 1_000
_STAKES = np.geomspace(0.003, 0.95, 48)
_HALVINGS = 60


def widening(n: AnyArray | float, prob: float) -> FloatArray:
    """Return k(n), the half-width of the asymptotic sequence in units of the standard error.

    Parameters
    ----------
    n
        Number of independent units.
    prob
        Probability that all intervals contain the true value.

    Examples
    --------
    >>> widening(np.array([20, 100, 1_000, 10_000]), 0.95).round(2)
    array([6.6 , 3.82, 3.04, 3.25])
    """
    square = (1 - prob) ** 2
    best = float(-lambertw(-square / np.e, -1).real - 1)
    times = best * np.asarray(n, dtype=np.float64) / NARROWEST_AT
    return np.asarray(np.sqrt((times + 1) / times * np.log((times + 1) / square)))


def log_capital(
    values: FloatArray, counts: AnyArray, mean: AnyArray | float, low: float
) -> FloatArray:
    """Return the log capital of a bet that the mean is larger, which started with 1.

    Parameters
    ----------
    values
        Distinct values ``(n_values,)``.
    counts
        How often each value occurred, ``(..., n_values)``.
    mean
        Claimed mean above ``low``; one number, or one for each row of counts.
    low
        Smallest possible value.

    Examples
    --------
    >>> wins = log_capital(np.array([-1.0, 0.0, 1.0]), np.array([10, 70, 20]), 0.0, -1.0)
    >>> bool(wins > 0)
    True
    """
    claimed = np.asarray(mean, dtype=np.float64)[..., None]
    edges = (values - claimed) / (claimed - low)  # (..., n_values)
    growth = np.log1p(_STAKES[:, None] * edges[..., None, :])  # (..., n_stakes, n_values)
    sums = np.asarray(counts, dtype=np.float64)
    # One claimed mean for all rows needs a single product.
    logs = sums @ growth.T if growth.ndim == 2 else (growth @ sums[..., None])[..., 0]
    return np.asarray(logsumexp(logs, axis=-1) - np.log(_STAKES.size))


def betting_interval(
    values: FloatArray, counts: AnyArray, *, bounds: tuple[float, float], prob: float
) -> tuple[float, float]:
    """Return the interval of a mean of bounded values, valid at every number of items.

    Parameters
    ----------
    values, counts
        Distinct values, and how often each occurred.
    bounds
        Smallest and largest possible value.
    prob
        Probability that all intervals contain the true mean.

    Examples
    --------
    >>> values = np.array([-1.0, 0.0, 1.0])
    >>> low, high = betting_interval(values, np.array([20, 920, 60]), bounds=(-1, 1), prob=0.95)
    >>> round(low, 3), round(high, 3)
    (0.011, 0.072)
    """
    low, high = bounds
    limit = np.log(2 / (1 - prob))
    sums = np.asarray(counts)
    ends = []
    for sign, least in ((1.0, low), (-1.0, -high)):
        own = sign * values
        outside, inside = least, float(own @ sums / sums.sum())
        for _ in range(_HALVINGS):
            middle = (outside + inside) / 2
            if middle <= least:  # all values equal the bound
                break
            if log_capital(own, sums, middle, least) >= limit:
                outside = middle
            else:
                inside = middle
        ends.append(sign * outside)
    return ends[0], ends[1]
