"""Tail probabilities of the null distributions, without ``scipy.stats``."""

from __future__ import annotations

import math

from scipy.special import betainc, stdtr


def fair_coin_cdf(heads: int, n: int) -> float:
    """Return P(X <= heads) for X ~ Binomial(n, 1/2).

    The incomplete beta function takes counts of any size; the binomial function
    of ``scipy.special`` holds n in 32 bits.

    Examples
    --------
    >>> fair_coin_cdf(1, 3)
    0.5
    """
    if heads < 0:
        return 0.0
    if heads >= n:
        return 1.0
    return float(betainc(n - heads, heads + 1, 0.5))


def two_sided_fair_coin(wins: int, losses: int) -> float:
    """Return the two-sided exact p-value of a fair coin: both tails, at most 1.

    Examples
    --------
    >>> two_sided_fair_coin(0, 3)
    0.25
    """
    return min(1.0, 2.0 * fair_coin_cdf(min(wins, losses), wins + losses))


def two_sided_t(statistic: float, degrees_of_freedom: float) -> float:
    """Return P(|T| >= |statistic|) for Student's t.

    Examples
    --------
    >>> round(two_sided_t(1.0, 1.0), 12)
    0.5
    """
    if math.isinf(statistic):
        return 0.0
    return float(2.0 * stdtr(degrees_of_freedom, -abs(statistic)))


def ratio(numerator: float, denominator: float) -> float:
    """Divide, with 0/0 = 0 (no difference) and x/0 = ±inf (no doubt left).

    Examples
    --------
    >>> ratio(0.0, 0.0), ratio(-0.1, 0.0)
    (0.0, -inf)
    """
    if numerator == 0.0:
        return 0.0
    if denominator == 0.0:
        return math.copysign(math.inf, numerator)
    return numerator / denominator
