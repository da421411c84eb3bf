"""The same intervals, masses and verdicts for many posteriors at once, one a row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from outperform._typing import AnyArray, FloatArray
from outperform.decision.intervals import SHORTEST_NOISE, Interval
from outperform.decision.rope import Rope


class Ends(NamedTuple):
    """Narrowest intervals, one a row, and the Monte Carlo errors of their ends."""

    low: FloatArray
    high: FloatArray
    mcse_low: FloatArray
    mcse_high: FloatArray

    def interval(self, row: int, prob: float) -> Interval:
        """Return one of them as a value."""
        low, high, mcse_low, mcse_high = (float(column[row]) for column in self)
        return Interval(
            low=low,
            high=high,
            prob=prob,
            mcse_low=mcse_low,
            mcse_high=mcse_high,
            kind="HDI",
            signed=True,
        )


def narrowest_rows(ordered: FloatArray, prob: float) -> Ends:
    """Return the narrowest interval of each row of sorted draws ``(n_rows, n_draws)``.

    The plain sample version, as one comparison of so few draws takes it.

    Examples
    --------
    >>> narrowest_rows(np.array([[0.0, 5.0, 5.1, 5.2]]), 0.75).low
    array([5.])
    """
    n = ordered.shape[1]
    span = min(int(np.ceil(prob * n)), n) - 1
    start = (ordered[:, span:] - ordered[:, : n - span]).argmin(axis=1)
    rows = np.arange(len(ordered))
    return Ends(
        low=ordered[rows, start],
        high=ordered[rows, start + span],
        mcse_low=SHORTEST_NOISE * _quantile_errors(ordered, start / n),
        mcse_high=SHORTEST_NOISE * _quantile_errors(ordered, (start + span) / n),
    )


def _quantile_errors(ordered: FloatArray, levels: FloatArray) -> FloatArray:
    spread = np.sqrt(levels * (1 - levels) / ordered.shape[1])
    high = _quantiles(ordered, np.minimum(levels + spread, 1.0))
    return (high - _quantiles(ordered, np.maximum(levels - spread, 0.0))) / 2


def _quantiles(ordered: FloatArray, levels: FloatArray) -> FloatArray:
    last = ordered.shape[1] - 1
    ranks = levels * last
    below = ranks.astype(np.int64)
    rows = np.arange(len(ordered))
    low, high = ordered[rows, below], ordered[rows, np.minimum(below + 1, last)]
    quantiles: FloatArray = low + (ranks - below) * (high - low)
    return quantiles


class Spreads(NamedTuple):
    """Mean and sd, one posterior a row, and the Monte Carlo error of the sd."""

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
    mean = draws.mean(axis=1)
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
    """Mass below, inside and above the ROPE, and above zero, one posterior a row."""

    below: FloatArray
    inside: FloatArray
    above: FloatArray
    greater: FloatArray


def masses_rows(draws: FloatArray, rope: Rope) -> MassRows:
    """Count the draws ``(n_rows, n_draws)``; a draw at zero counts half for either side.

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
