"""Is what was measured off by more than chance? The gates of all studies ask here.

A bound is a bound of the truth, and what is measured strays about the truth: by 5 points
at 20 repetitions, by 0.7 at 1,000. So a gate closes only if, with a truth on the bound itself,
what was measured or worse had a probability below :data:`LEVEL`.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binom, chi2, norm, t

# Three standard errors of a normal. A truth inside the bounds hardly ever breaks them: of 1,000
# intervals that hold with 95%, the chance to break a bound of 92.5% is below 10⁻¹⁰.
LEVEL = float(norm.sf(3))
# So many repetitions stray by 0.2 points: what they say is held against the bound as it is.
MANY = 20_000


def share_error(share: float, n: int) -> float:
    """Return the standard error of a share of ``n`` repetitions.

    Examples
    --------
    >>> share_error(0.95, 1_900)
    0.005
    """
    return float(np.sqrt(share * (1 - share) / n))


def share_is_off(share: float, n: int, low: float = 0.0, high: float = 1.0) -> bool:
    """Return whether a share of ``n`` repetitions is outside the bounds beyond chance.

    The tail of the binomial distribution is exact. A bound of 92.5% is broken by 90.6% of 2,000
    repetitions, by 89.8% of 1,000, 87.3% of 300 and 65.0% of 20; one of 98% by 98.9% of 2,000, by
    99.3% of 1,000, and by nothing that 300 can show. Repetitions that count for several cases,
    which are averaged, stray less. From 20,000 on the share itself must keep within the bounds; of
    no repetitions nothing is said.

    Examples
    --------
    >>> share_is_off(0.90, 20, 0.925, 0.98), share_is_off(0.60, 20, 0.925, 0.98)
    (False, True)
    >>> share_is_off(0.90, 1_000, 0.925, 0.98), share_is_off(0.89, 1_000, 0.925, 0.98)
    (False, True)
    """
    if n >= MANY:
        return not low <= share <= high
    hits = np.round(share * n, 6)
    below = binom.cdf(np.ceil(hits), n, max(low, 0.0))
    above = binom.sf(np.floor(hits) - 1, n, min(high, 1.0))
    return n > 0 and bool(min(below, above) < LEVEL)


def spread_is_off(ratio: float, n: int, low: float, high: float) -> bool:
    """Return whether a standard deviation of ``n`` values, over what it should be, is off.

    The values are taken for normal, so that the ratio's square is a chi-square over its degrees
    of freedom. Beyond a bound it may be 7% at 1,000 values and 31% at 50.

    Examples
    --------
    >>> spread_is_off(1.3, 50, 0.9, 1.1), spread_is_off(1.3, 1_000, 0.9, 1.1)
    (False, True)
    """
    below = chi2.cdf((n - 1) * (ratio / low) ** 2, n - 1)
    above = chi2.sf((n - 1) * (ratio / high) ** 2, n - 1)
    return n > 1 and bool(min(below, above) < LEVEL)


def mean_is_off(mean: float, error: float, n: int, low: float, high: float) -> bool:
    """Return whether a mean of ``n`` values with this standard error is outside beyond chance.

    Student's distribution: the mean may be 3 errors beyond a bound, 3.4 at 20 values.

    Examples
    --------
    >>> mean_is_off(0.087, 0.0004, 20, 0.084, 0.086), mean_is_off(0.088, 0.0004, 20, 0.084, 0.086)
    (False, True)
    """
    beyond = max(low - mean, mean - high)
    return n > 1 and bool(beyond > 0 and t.sf(beyond / max(error, 1e-300), n - 1) < LEVEL)
