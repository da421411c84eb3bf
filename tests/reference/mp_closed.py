"""Independent reference values for the closed forms, in fifty digits.

Nothing here is shared with the package: tails of Beta variables are summed as series
or integrated directly, derived variables are conditioned on other parts than the
package conditions on, and all integrals are taken in the original coordinates by
Gauss-Legendre rules over pieces around the peak of the integrand. Arithmetic has fifty
digits; series and integrals are carried to about twenty-eight.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import mpmath as mp

mp.mp.dps = 50

Number = mp.mpf
Function = Callable[[Number], Number]

_MOST_TERMS = 4000
_SMALL = mp.mpf(10) ** -32


def log_beta(a: Number, b: Number) -> Number:
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


@lru_cache(maxsize=8)
def gauss(n: int) -> list[tuple[Number, Number]]:
    """Nodes and weights on (-1, 1), by Newton's method on the Legendre polynomials."""
    rule = []
    for i in range(n):
        x = mp.cos(mp.pi * (i + mp.mpf(3) / 4) / (n + mp.mpf(1) / 2))
        for _ in range(60):
            before, here = mp.mpf(1), x
            for k in range(2, n + 1):
                before, here = here, ((2 * k - 1) * x * here - (k - 1) * before) / k
            slope = n * (x * here - before) / (x * x - 1)
            step = here / slope
            x -= step
            if abs(step) < mp.mpf(10) ** -45:
                break
        rule.append((x, 2 / ((1 - x * x) * slope * slope)))
    return rule


def integrate(
    function: Function, low: Number, high: Number, *, n: int = 26, ends: int = 50
) -> Number:
    """Integrate a positive function with one peak and at worst power-law ends.

    ``ends`` pieces lead up to an end that holds mass, each a quarter of the one before.
    """
    edges = pieces(function, low, high, ends)
    total = mp.mpf(0)
    for left, right in pairwise(edges):
        middle, half = (left + right) / 2, (right - left) / 2
        total += half * mp.fsum(w * function(middle + half * x) for x, w in gauss(n))
    return total


def pieces(function: Function, low: Number, high: Number, ends: int) -> list[Number]:
    """Edges in growing distance from the peak, and in shrinking distance from the ends."""
    peak = summit(function, low, high)
    least = function(peak) * _SMALL
    scale = (high - low) / 4
    while scale > (high - low) * mp.mpf(10) ** -30:
        inner = [p for p in (peak - scale, peak + scale) if low < p < high]
        if inner and max(function(p) for p in inner) > function(peak) / 4:
            break
        scale /= 2
    edges = {peak}
    for sign, end in ((-1, low), (1, high)):
        edge, reach = peak, scale
        while abs(end - edge) > 2 * reach and function(edge) >= least:
            edge += sign * reach
            edges.add(edge)
            reach *= mp.mpf(3) / 2
        if function(edge) >= least and edge != end:
            room = end - edge
            for k in range(1, ends + 1):
                edges.add(end - room / mp.mpf(4) ** k)
                if k > 4 and function(end - room / mp.mpf(4) ** k) * abs(room) < least:
                    break
            edges.add(end)
    return sorted(edges)


def summit(function: Function, low: Number, high: Number) -> Number:
    """Where a function with one peak is highest, to a few digits of its width."""
    ratio = (mp.sqrt(5) - 1) / 2
    # on the log-odds scale, so that peaks next to an end are found as well
    here = lambda z: low + (high - low) / (1 + mp.exp(-z))  # noqa: E731
    value = lambda z: _log(function(here(z))) - 0  # noqa: E731
    grid = [mp.mpf(k) * 2 for k in range(-40, 41)]
    best = max(grid, key=value)
    left, right = best - 2, best + 2
    for _ in range(60):
        one, two = right - ratio * (right - left), left + ratio * (right - left)
        if value(one) > value(two):
            right = two
        else:
            left = one
    return here((left + right) / 2)


def _log(value: Number) -> Number:
    return mp.log(value) if value > 0 else mp.mpf("-1e30")


# --- one Beta variable ---------------------------------------------------------------


def beta_pdf(a: Number, b: Number, x: Number) -> Number:
    return mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - log_beta(a, b))


def beta_cdf(a: Number, b: Number, x: Number) -> Number:
    """The lower tail; below the mean with relative accuracy."""
    if x <= 0:
        return mp.mpf(0)
    if x >= 1:
        return mp.mpf(1)
    if x * (a + b) > a:
        return 1 - _lower(b, a, 1 - x)
    return _lower(a, b, x)


def beta_sf(a: Number, b: Number, x: Number) -> Number:
    return beta_cdf(b, a, 1 - x)


def _lower(a: Number, b: Number, x: Number) -> Number:
    """The lower tail below the mean: a series of positive terms, or an integral."""
    if a > 100 and 70 * (a * (a + b) * x) ** 2 > (_MOST_TERMS * (a - (a + b) * x + 1)) ** 2:
        return _lower_integral(a, b, x)  # the terms shrink too slowly
    edge = mp.exp(a * mp.log(x) + b * mp.log1p(-x) - log_beta(a, b)) / a
    term = total = mp.mpf(1)
    for k in range(_MOST_TERMS):
        term *= (a + b + k) * x / (a + 1 + k)
        total += term
        if term < total * _SMALL:
            return edge * total
    return _lower_integral(a, b, x)


def _lower_integral(a: Number, b: Number, x: Number) -> Number:
    density = lambda t: beta_pdf(a, b, t)  # noqa: E731
    slope = (a - 1) / x - (b - 1) / (1 - x)
    sd = mp.sqrt(x * (1 - x) / (a + b))
    step = 1 / (abs(slope) + 1 / sd)
    top = density(x)
    total, right, reach = mp.mpf(0), x, step
    while right > 0:
        left = max(right - reach, mp.mpf(0))
        middle, half = (left + right) / 2, (right - left) / 2
        total += half * mp.fsum(w * density(middle + half * g) for g, w in gauss(36))
        if left == 0 or density(left) < top * _SMALL:
            break
        right, reach = left, reach * mp.mpf(1.3)
    return total


# --- shares --------------------------------------------------------------------------


def share_place(t: Number, weight: Number) -> Number:
    """The Beta variable ``T/(T+R)`` at which ``T/(T+wR)`` is ``t``."""
    return weight * t / (weight * t + 1 - t)


def share_cdf(a: Number, b: Number, weight: Number, t: Number) -> Number:
    return beta_cdf(a, b, share_place(t, weight))


def share_sf(a: Number, b: Number, weight: Number, t: Number) -> Number:
    return beta_sf(a, b, share_place(t, weight))


def share_pdf(a: Number, b: Number, weight: Number, t: Number) -> Number:
    return beta_pdf(a, b, share_place(t, weight)) * weight / (weight * t + 1 - t) ** 2


def share_quantile(a: Number, b: Number, weight: Number, p: Number) -> Number:
    """By bisection and Newton's method on the smaller tail, over the log odds."""
    upper = p > mp.mpf(1) / 2
    if upper:
        y = _beta_quantile(b, a, 1 - p)
        return (1 - y) / (1 - y + weight * y)
    x = _beta_quantile(a, b, p)
    return x / (x + weight * (1 - x))


def _beta_quantile(a: Number, b: Number, p: Number) -> Number:
    """Newton's method; the log of the tail is concave over the log odds."""
    share = lambda z: 1 / (1 + mp.exp(-z))  # noqa: E731
    spread = mp.sqrt(1 / a + 1 / b)
    z = mp.log(a) - mp.log(b) + spread * mp.sqrt(2) * mp.erfinv(2 * p - 1)
    for _ in range(200):
        x = share(z)
        tail = beta_cdf(a, b, x)
        step = (mp.log(p) - mp.log(tail)) * tail / (beta_pdf(a, b, x) * x * (1 - x))
        step = max(min(step, 8 * spread + 8), -8 * spread - 8)
        z += step
        if abs(step) < mp.mpf(10) ** -14 * spread:  # the next step would be its square
            break
    return share(z)


def weighted_share_sf(
    a: Number, b1: Number, w1: Number, b2: Number, w2: Number, t: Number
) -> Number:
    """Conditional on the part of the first two gammas, not on that of the last two."""

    def function(x: Number) -> Number:
        room = x * (1 - t) - t * w1 * (1 - x)
        ratio = room / (t * w2)
        return beta_pdf(a, b1, x) * beta_cdf(b2, a + b1, ratio / (1 + ratio))

    least = t * w1 / (1 - t + t * w1)
    return integrate(function, least, mp.mpf(1))


def weighted_share_pdf(
    a: Number, b1: Number, w1: Number, b2: Number, w2: Number, t: Number
) -> Number:
    """The density of ``R2/(T+R1)`` at the edge, times how fast the edge moves."""

    def function(x: Number) -> Number:
        ratio = (x * (1 - t) - t * w1 * (1 - x)) / (t * w2)
        turn = x / (t * t * w2)
        place = ratio / (1 + ratio)
        return beta_pdf(a, b1, x) * beta_pdf(b2, a + b1, place) * turn / (1 + ratio) ** 2

    least = t * w1 / (1 - t + t * w1)
    return integrate(function, least, mp.mpf(1))


# --- differences ---------------------------------------------------------------------


def dirichlet_difference_sf(
    a1: Number, a2: Number, a3: Number, d: Number, *, ends: int = 50
) -> Number:
    """Conditional on the second share."""
    if d < 0:
        return 1 - dirichlet_difference_sf(a2, a1, a3, -d, ends=ends)

    def function(y: Number) -> Number:
        return beta_pdf(a2, a1 + a3, y) * beta_sf(a1, a3, (y + d) / (1 - y))

    return integrate(function, mp.mpf(0), (1 - d) / 2, ends=ends)


def dirichlet_difference_cdf(
    a1: Number, a2: Number, a3: Number, d: Number, *, ends: int = 50
) -> Number:
    """The lower tail with relative accuracy."""
    if d < 0:
        return dirichlet_difference_sf(a2, a1, a3, -d, ends=ends)

    def function(y: Number) -> Number:
        return beta_pdf(a2, a1 + a3, y) * beta_cdf(a1, a3, (y + d) / (1 - y))

    inner = integrate(function, mp.mpf(0), (1 - d) / 2, ends=ends)
    return inner + beta_sf(a2, a1 + a3, (1 - d) / 2)


def dirichlet_difference_pdf(
    a1: Number, a2: Number, a3: Number, d: Number, *, ends: int = 50
) -> Number:
    if d < 0:
        return dirichlet_difference_pdf(a2, a1, a3, -d, ends=ends)
    constant = mp.loggamma(a1 + a2 + a3) - mp.loggamma(a1) - mp.loggamma(a2) - mp.loggamma(a3)

    def function(y: Number) -> Number:
        rest = 1 - d - 2 * y
        logs = (a1 - 1) * mp.log(y + d) + (a2 - 1) * mp.log(y) + (a3 - 1) * mp.log(rest)
        return mp.exp(constant + logs)

    return integrate(function, mp.mpf(0), (1 - d) / 2, ends=ends)


def share_difference_sf(
    x: tuple[Number, ...], y: tuple[Number, ...], d: Number, *, ends: int = 50
) -> Number:
    """P(X - Y > d) for two shares ``(a, b, weight)``."""
    if d < 0:
        return 1 - share_difference_sf(y, x, -d, ends=ends)
    function = lambda t: share_pdf(*y, t) * share_sf(*x, t + d)  # noqa: E731
    return integrate(function, mp.mpf(0), 1 - d, ends=ends)


def share_difference_cdf(
    x: tuple[Number, ...], y: tuple[Number, ...], d: Number, *, ends: int = 50
) -> Number:
    """P(X - Y <= d) with relative accuracy."""
    if d < 0:
        return share_difference_sf(y, x, -d, ends=ends)
    function = lambda t: share_pdf(*y, t) * share_cdf(*x, t + d)  # noqa: E731
    return integrate(function, mp.mpf(0), 1 - d, ends=ends) + share_sf(*y, 1 - d)


def share_difference_pdf(
    x: tuple[Number, ...], y: tuple[Number, ...], d: Number, *, ends: int = 50
) -> Number:
    if d < 0:
        return share_difference_pdf(y, x, -d, ends=ends)
    function = lambda t: share_pdf(*y, t) * share_pdf(*x, t + d)  # noqa: E731
    return integrate(function, mp.mpf(0), 1 - d, ends=ends)


# --- F-beta with a prevalence of its own ---------------------------------------------


def flat_prior_f1_sf(t: Number) -> Number:
    """P(F1 > t) with all shapes 1, in closed form."""
    x = 2 * (1 - t) / t
    return t / (2 - t) * (x * x * mp.log1p(1 / x) + x - mp.log1p(x)) / 2


# --- Bayes factors by the ratio of the marginal likelihoods --------------------------


def paired_bf01(c10: int, c01: int, rest: int) -> Number:
    """Equal against unequal recall, prior Dirichlet(1, 1, 2), both likelihoods integrated."""
    prior = lambda p: 2 * p**0 * (1 - 2 * p)  # noqa: E731  Dirichlet density up to its constant
    likelihood = lambda p: p ** (c10 + c01) * (1 - 2 * p) ** rest  # noqa: E731
    half = mp.mpf(1) / 2
    null = integrate(lambda p: prior(p) * likelihood(p), mp.mpf(0), half)
    null /= integrate(prior, mp.mpf(0), half)
    shapes = (1 + c10, 1 + c01, 2 + rest)
    log_marginal = mp.fsum(mp.loggamma(a) for a in shapes) - mp.loggamma(sum(shapes))
    log_prior = mp.fsum(mp.loggamma(a) for a in (1, 1, 2)) - mp.loggamma(4)
    return null / mp.exp(log_marginal - log_prior)


def unpaired_f1_bf01(first: tuple[int, int], second: tuple[int, int]) -> Number:
    """Equal against unequal F1 for counts (tp, fp + fn), flat prior over (tp, fp, fn)."""
    prior = lambda t: share_pdf(mp.mpf(1), mp.mpf(2), mp.mpf(1) / 2, t)  # noqa: E731

    def likelihood(counts: tuple[int, int], t: Number) -> Number:
        x = share_place(t, mp.mpf(1) / 2)
        return x ** counts[0] * (1 - x) ** counts[1]

    zero, one = mp.mpf(0), mp.mpf(1)
    both = lambda t: likelihood(first, t) * likelihood(second, t)  # noqa: E731
    null = integrate(lambda t: prior(t) ** 2 * both(t), zero, one)
    null /= integrate(lambda t: prior(t) ** 2, zero, one)
    apart = [
        integrate(lambda t, counts=counts: prior(t) * likelihood(counts, t), zero, one)
        for counts in (first, second)
    ]
    return null / (apart[0] * apart[1])
