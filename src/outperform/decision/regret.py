"""The expected loss of a choice between two: what it falls short of the other, on average."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from outperform._typing import Distribution, FloatArray
from outperform.decision.probabilities import mean_error

_NODES = 24
_FAR = math.sqrt(72.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Regret:
    """What choosing A, and what choosing B, loses on average, in the metric's own units.

    Parameters
    ----------
    a
        E[max(0, how much worse A is than B)].
    b
        E[max(0, how much worse B is than A)].
    mcse_a, mcse_b
        Their Monte Carlo errors; 0 if exact.
    """

    a: float
    b: float
    mcse_a: float = 0.0
    mcse_b: float = 0.0


def regret_from_draws(
    draws: FloatArray, *, greater_is_better: bool = True, n_effective: float | None = None
) -> Regret:
    """Return the regrets from draws of A − B, which may be worth fewer independent ones.

    Examples
    --------
    >>> found = regret_from_draws(np.array([0.2, 0.2, 0.2, -0.2]))
    >>> round(found.a, 4), round(found.b, 4)
    (0.05, 0.15)
    """
    worth = draws.size if n_effective is None else n_effective
    gains = draws if greater_is_better else -draws
    lost_a, lost_b = np.maximum(-gains, 0.0), np.maximum(gains, 0.0)
    return Regret(
        a=float(lost_a.mean()),
        b=float(lost_b.mean()),
        mcse_a=mean_error(float(lost_a.std(ddof=1)), worth),
        mcse_b=mean_error(float(lost_b.std(ddof=1)), worth),
    )


def regret_from_distribution(difference: Distribution, *, greater_is_better: bool = True) -> Regret:
    """Return the exact regrets of a closed form of A − B.

    E[δ₊] = ∫₀ P(δ > x) dx, and E[δ₊] − E[(−δ)₊] is the mean, so the smaller of the two is
    integrated and keeps its digits.
    """
    mean, (low, high) = difference.mean, difference.support
    reach = _reach(abs(mean), difference.sd)
    if mean > 0:
        below = _integral(lambda x: difference.cdf(-x), min(-low, reach))
        above = below + mean
    else:
        above = _integral(difference.sf, min(high, reach))
        below = above - mean
    return Regret(a=below, b=above) if greater_is_better else Regret(a=above, b=below)


def _reach(mean: float, sd: float) -> float:
    """Return how far beyond zero there is anything: twice as far as a normal has e⁻³⁶ of it."""
    return 2.0 * (math.hypot(mean, _FAR * sd) - mean)


def _integral(tail: Callable[[float], float], stop: float) -> float:
    """Integrate a tail from zero on; it is smooth and falls, so few nodes do."""
    if stop <= 0:
        return 0.0
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    values = [tail(float(x)) for x in (nodes + 1.0) * stop / 2.0]
    return float(weights @ np.array(values)) * stop / 2.0
