"""Credible intervals, and quantiles of draws with their Monte Carlo errors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import floor, log10
from typing import Literal, NamedTuple

import numpy as np

from outperform._json import written
from outperform._typing import FloatArray
from outperform.errors import UsageError, param


@written("low high prob mcse_low mcse_high")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Interval:
    """Credible interval.

    Parameters
    ----------
    low, high
        Ends of the interval.
    prob
        Posterior mass between the ends.
    mcse_low, mcse_high
        Monte Carlo standard errors of the ends; 0 if exact.
    kind
        Display name: ``"HDI"`` for the narrowest interval, ``"ETI"`` for the equal-tailed interval.
    signed
        Whether to print signs, as for intervals of differences.

    Examples
    --------
    >>> interval = Interval(low=-0.02, high=0.01, prob=0.95)
    >>> round(interval.midpoint, 3), 0.0 in interval
    (-0.005, True)
    >>> print(interval)
    95% interval −0.0200 to 0.0100
    """

    low: float
    high: float
    prob: float
    mcse_low: float = 0.0
    mcse_high: float = 0.0
    kind: Literal["HDI", "ETI", "interval"] = field(default="interval", compare=False)
    signed: bool = field(default=False, compare=False)

    @property
    def midpoint(self) -> float:
        """Midpoint of the ends."""
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        """Distance between the ends."""
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __neg__(self) -> Interval:
        """Return the interval of the negated quantity, such as B − A for A − B."""
        return replace(
            self,
            low=-self.high,
            high=-self.low,
            mcse_low=self.mcse_high,
            mcse_high=self.mcse_low,
        )

    def __str__(self) -> str:
        low, high = (self._format(end) for end in (self.low, self.high))
        return f"{100 * self.prob:.6g}% {self.kind} {low} to {high}"

    def _format(self, end: float) -> str:
        """Format an end with enough decimals for the width; zero has no sign."""
        narrow = 0 < self.width < 1
        digits = min(max(4, 2 - floor(log10(self.width))), 12) if narrow else 4
        rounded = round(end, digits) or 0.0
        text = f"{rounded:{'+' if self.signed and rounded else ''}.{digits}f}"
        return text.replace("-", "−")

    def __repr__(self) -> str:
        return f"Interval({self})"


def check_prob(prob: float) -> float:
    """Return a probability strictly between 0 and 1; raise an error otherwise."""
    number = isinstance(prob, (int, float, np.floating)) and not isinstance(prob, bool)
    if number and 1 < prob < 100:
        raise UsageError(
            f"{param('hdi_prob')} must lie between 0 and 1; got {prob}; did you mean "
            f"{prob / 100:g}?"
        )
    if not number or not 0 < prob < 1:
        raise UsageError(f"{param('hdi_prob')} must lie strictly between 0 and 1; got {prob!r}")
    return float(prob)


def equal_tailed(ordered: FloatArray, prob: float, n_effective: float | None = None) -> Interval:
    """Return the interval between two quantiles of sorted draws.

    The errors are those for ``n_effective`` independent draws. Default: all draws.

    Examples
    --------
    >>> eti = equal_tailed(np.linspace(0, 1, 1001), 0.9)
    >>> round(eti.low, 3), round(eti.high, 3)
    (0.05, 0.95)
    """
    eti = equal_tailed_rows(ordered[None], prob).interval(0, prob, "ETI")
    return less_sure(eti, ordered.size, n_effective)


class Ends(NamedTuple):
    """Intervals, one per row, with the Monte Carlo standard errors of their ends."""

    low: FloatArray
    high: FloatArray
    mcse_low: FloatArray
    mcse_high: FloatArray

    def interval(
        self, row: int, prob: float, kind: Literal["HDI", "ETI"] = "HDI", *, signed: bool = False
    ) -> Interval:
        """Return the interval of a row."""
        low, high, mcse_low, mcse_high = (float(column[row]) for column in self)
        return Interval(
            low=low,
            high=high,
            prob=prob,
            mcse_low=mcse_low,
            mcse_high=mcse_high,
            kind=kind,
            signed=signed,
        )


def equal_tailed_rows(ordered: FloatArray, prob: float) -> Ends:
    """Return the equal-tailed interval of each row of sorted draws ``(n_rows, n_draws)``.

    Examples
    --------
    >>> equal_tailed_rows(np.array([[0.0, 1.0, 2.0], [5.0, 6.0, 8.0]]), 0.5).high
    array([1.5, 7. ])
    """
    tail = (1 - prob) / 2
    low, high = np.full(len(ordered), tail), np.full(len(ordered), 1 - tail)
    return Ends(
        low=quantiles(ordered, low),
        high=quantiles(ordered, high),
        mcse_low=quantile_errors(ordered, low),
        mcse_high=quantile_errors(ordered, high),
    )


def less_sure(interval: Interval, n_draws: int, n_effective: float | None) -> Interval:
    """Scale the errors of independent draws to the effective number of draws."""
    if n_effective is None or n_effective == n_draws:
        return interval
    factor = (n_draws / n_effective) ** 0.5
    low, high = factor * interval.mcse_low, factor * interval.mcse_high
    return replace(interval, mcse_low=low, mcse_high=high)


def quantiles(ordered: FloatArray, levels: FloatArray) -> FloatArray:
    """Return one quantile per row of sorted draws ``(n_rows, n_draws)``.

    Examples
    --------
    >>> quantiles(np.array([[0.0, 1.0, 2.0], [5.0, 6.0, 8.0]]), np.array([0.5, 0.75]))
    array([1., 7.])
    """
    last = ordered.shape[1] - 1
    ranks = levels * last
    below = ranks.astype(np.int64)
    rows = np.arange(len(ordered))
    low, high = ordered[rows, below], ordered[rows, np.minimum(below + 1, last)]
    interpolated: FloatArray = low + (ranks - below) * (high - low)
    return interpolated


def quantile_errors(ordered: FloatArray, levels: FloatArray) -> FloatArray:
    """Return the standard error of each row's quantile: half its range within ±1 sd of its rank."""
    spread = np.sqrt(levels * (1 - levels) / ordered.shape[1])
    high = quantiles(ordered, np.minimum(levels + spread, 1.0))
    return (high - quantiles(ordered, np.maximum(levels - spread, 0.0))) / 2
