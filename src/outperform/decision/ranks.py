"""Ranks and P(best) of many models, expected losses, and the masses of many posteriors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from outperform._json import written
from outperform._typing import AnyArray, Distribution, FloatArray
from outperform.decision.rope import Masses, Rope, mean_error, probability_error

_AT_ONCE = 1 << 20


def rank_probabilities(values: FloatArray, *, greater_is_better: bool = True) -> FloatArray:
    """Return P(model has rank r), ``(n_models, n_models)``, from ``(n_models, n_draws)``.

    Rank 1 is the best and comes first. Models with the same value in a draw share their ranks
    evenly, so every row and every column sums to 1.

    Examples
    --------
    >>> rank_probabilities(np.array([[0.9, 0.8], [0.7, 0.8], [0.1, 0.2]])).tolist()
    [[0.75, 0.25, 0.0], [0.25, 0.75, 0.0], [0.0, 0.0, 1.0]]
    """
    n_models, n_draws = values.shape
    length = max(1, _AT_ONCE // n_models)
    steps = np.zeros((n_models, n_models + 1))
    for start in range(0, n_draws, length):
        block = values[:, start : start + length].T
        steps += _steps(np.ascontiguousarray(-block if greater_is_better else block))
    sums = np.cumsum(steps, axis=1)[:, :-1]
    probabilities: FloatArray = np.clip(sums, 0.0, n_draws) / n_draws
    return probabilities


def _steps(rows: FloatArray) -> FloatArray:
    """Sum the increments of rank shares; the smallest value of each row has rank 1.

    A run of equal values adds 1 / length to each of its ranks: an increment before the run and a
    decrement after it.
    """
    n_models = rows.shape[1]
    order = np.argsort(rows, axis=1, kind="stable")
    first, last = _runs(np.take_along_axis(rows, order, axis=1))
    share = (1.0 / (1 + last - first)).ravel()
    size = n_models * (n_models + 1)
    up, down = (
        np.bincount((order * (n_models + 1) + position).ravel(), share, minlength=size)
        for position in (first, last + 1)
    )
    return np.asarray(up - down, dtype=np.float64).reshape(n_models, n_models + 1)


def _runs(ordered: FloatArray) -> tuple[AnyArray, AnyArray]:
    """Return the first and last position of the run of equal values at each position of a row."""
    positions = np.arange(ordered.shape[1])
    starts = np.ones(ordered.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=starts[:, 1:])
    stops = np.ones(ordered.shape, dtype=bool)
    stops[:, :-1] = starts[:, 1:]
    first = np.maximum.accumulate(np.where(starts, positions, 0), axis=1)
    ends = np.where(stops, positions, ordered.shape[1])
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    return first, last


class RankMoments(NamedTuple):
    """Expected rank of each model, counted from 1, and its Monte Carlo standard error."""

    mean: FloatArray
    mcse: FloatArray


def expected_ranks(probabilities: FloatArray, n_draws: int) -> RankMoments:
    """Return expected ranks from rank probabilities.

    A rank that is the same in all draws has the error of a probability of 0 in as many draws,
    because another draw could be one rank off.

    Examples
    --------
    >>> expected_ranks(np.array([[0.75, 0.25], [0.25, 0.75]]), 100).mean.tolist()
    [1.25, 1.75]
    """
    ranks = 1.0 + np.arange(probabilities.shape[1])
    mean = probabilities @ ranks
    variance = np.maximum(probabilities @ ranks**2 - mean**2, 0.0)
    least = rank_error(0.0, n_draws) if ranks.size > 1 else 0.0
    return RankMoments(mean=mean, mcse=np.maximum(np.sqrt(variance / n_draws), least))


def rank_error(sd: float, n_draws: int) -> float:
    """Return the Monte Carlo error of a mean rank, which is never 0.

    Examples
    --------
    >>> rank_error(0.5, 10_000), rank_error(0.0, 10_000) > 0
    (0.005, True)
    """
    return max(mean_error(sd, n_draws), probability_error(0.0, n_draws))


def losses(values: FloatArray, *, greater_is_better: bool = True) -> FloatArray:
    """Return the loss of each model relative to the best one in the same draw; never negative.

    Examples
    --------
    >>> losses(np.array([[0.75, 0.5], [0.5, 1.0]])).tolist()
    [[0.0, 0.5], [0.25, 0.0]]
    """
    if greater_is_better:
        return np.asarray(values.max(axis=0) - values)
    return np.asarray(values - values.min(axis=0))


def loss_errors(values: FloatArray, *, greater_is_better: bool = True) -> FloatArray:
    """Return the Monte Carlo errors of the mean losses of values ``(n_models, n_draws)``.

    A model that leads in every draw has no loss, but it could be behind in another draw. So its
    error is at least the error of a probability of 0 in as many draws, times the sd of the lead.

    Examples
    --------
    >>> errors = loss_errors(np.array([[0.9, 0.8, 0.9, 0.8], [0.5, 0.5, 0.4, 0.4]]))
    >>> bool(0 < errors[0] < errors[1])
    True
    """
    n_models, n_draws = values.shape
    if n_models == 1:
        return np.zeros(1)
    gains = values if greater_is_better else -values
    second, first = np.partition(gains, n_models - 2, axis=0)[-2:]
    errors = np.empty(n_models)
    for model, gain in enumerate(gains):
        lead = gain - np.where(gain == first, second, first)
        errors[model] = loss_error(np.maximum(-lead, 0.0), float(lead.std(ddof=1)), n_draws)
    return errors


def loss_error(lost: FloatArray, sd: float, n_draws: float) -> float:
    """Return the Monte Carlo error of a mean loss; ``sd`` is the sd of the signed lead."""
    drawn = mean_error(float(lost.std(ddof=1)), n_draws)
    return max(drawn, sd * probability_error(0.0, n_draws))


_NODES = 24
_FAR = math.sqrt(72.0)


@written("a b")
@dataclass(frozen=True, slots=True, kw_only=True)
class Regret:
    """Expected losses of choosing A and of choosing B, in units of the metric.

    Parameters
    ----------
    a
        E[max(0, loss of A against B)].
    b
        E[max(0, loss of B against A)].
    mcse_a, mcse_b
        Monte Carlo standard errors; 0 if exact.
    """

    a: float
    b: float
    mcse_a: float = 0.0
    mcse_b: float = 0.0


def regret_from_draws(
    draws: FloatArray, *, greater_is_better: bool = True, n_effective: float | None = None
) -> Regret:
    """Return the regrets from draws of A − B, given their effective number if dependent.

    Examples
    --------
    >>> regret = regret_from_draws(np.array([0.2, 0.2, 0.2, -0.2]))
    >>> round(regret.a, 4), round(regret.b, 4)
    (0.05, 0.15)
    """
    n = draws.size if n_effective is None else n_effective
    gains = draws if greater_is_better else -draws
    lost_a, lost_b = np.maximum(-gains, 0.0), np.maximum(gains, 0.0)
    sd = float(gains.std(ddof=1))
    return Regret(
        a=float(lost_a.mean()),
        b=float(lost_b.mean()),
        mcse_a=loss_error(lost_a, sd, n),
        mcse_b=loss_error(lost_b, sd, n),
    )


def regret_from_distribution(difference: Distribution, *, greater_is_better: bool = True) -> Regret:
    """Return the exact regrets from a closed form of A − B.

    E[δ₊] = ∫₀ P(δ > x) dx, and E[δ₊] − E[(−δ)₊] is the mean. The smaller of the two is integrated
    to keep its precision.
    """
    mean, (low, high) = difference.mean, difference.support
    reach = high if math.isinf(high) else _reach(abs(mean), difference.sd)
    if mean > 0:
        below = _integral(lambda x: difference.cdf(-x), min(-low, reach))
        above = below + mean
    else:
        above = _integral(difference.sf, min(high, reach))
        below = above - mean
    return Regret(a=below, b=above) if greater_is_better else Regret(a=above, b=below)


def _reach(mean: float, sd: float) -> float:
    """Return how far past zero to integrate: twice as far as a normal density takes to e⁻³⁶."""
    return 2.0 * (math.hypot(mean, _FAR * sd) - mean)


def _integral(tail: Callable[[float], float], stop: float) -> float:
    """Integrate a tail from zero; it is smooth and decreasing, so a few nodes are enough."""
    if stop <= 0:
        return 0.0
    if math.isinf(stop):  # the tail is heavier than a normal one
        from scipy.integrate import quad

        return float(quad(tail, 0.0, stop)[0])
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    values = [tail(float(x)) for x in (nodes + 1.0) * stop / 2.0]
    return float(weights @ np.array(values)) * stop / 2.0


class Spreads(NamedTuple):
    """Mean and sd of one posterior per row, with the Monte Carlo standard error of the sd."""

    mean: FloatArray
    sd: FloatArray
    sd_error: FloatArray


def spreads_rows(draws: FloatArray) -> Spreads:
    """Return mean and sd of each row of draws ``(n_rows, n_draws)``; see :func:`sd_error`.

    Examples
    --------
    >>> spreads_rows(np.array([[-1.0, 1.0, -2.0, 2.0] * 100])).sd_error.round(4)
    array([0.0237])
    """
    n = draws.shape[1]
    mean: FloatArray = draws.mean(axis=1)
    squares = np.square(draws - mean[:, None])
    variance = squares.mean(axis=1)
    error = np.divide(
        squares.std(axis=1),
        2.0 * np.sqrt(variance * n),
        out=np.zeros(len(draws)),
        where=variance > 0,
    )
    return Spreads(mean, np.sqrt(variance * n / (n - 1)), error)


class MassRows(NamedTuple):
    """Mass below, inside and above the ROPE, and above zero, for one posterior per row."""

    below: FloatArray
    inside: FloatArray
    above: FloatArray
    greater: FloatArray

    def row(self, index: int) -> Masses:
        """Return the masses of one posterior."""
        below, inside, above, greater = (float(column[index]) for column in self)
        return Masses(below=below, inside=inside, above=above, greater=greater)


def masses_rows(draws: FloatArray, rope: Rope) -> MassRows:
    """Return the masses of draws ``(n_rows, n_draws)``; a draw at 0 counts half for either side.

    Examples
    --------
    >>> masses_rows(np.array([[-0.2, 0.0, 0.005, 0.3]]), Rope.from_param(0.01)).greater
    array([0.625])
    """
    n = draws.shape[1]
    below, above = _count(draws < rope.low), _count(draws > rope.high)
    positive, negative = _count(draws > 0), _count(draws < 0)
    return MassRows(
        below=below / n,
        inside=(n - below - above) / n,
        above=above / n,
        greater=(positive + (n - negative - positive) / 2) / n,
    )


def _count(selected: AnyArray) -> FloatArray:
    return np.asarray(np.count_nonzero(selected, axis=1), dtype=np.float64)
