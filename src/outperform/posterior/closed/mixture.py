"""A mixture of exact posteriors: what is left when a nuisance is averaged over."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from outperform._typing import Distribution
from outperform.errors import UsageError
from outperform.posterior.closed.inversion import LogDensity, invert
from outperform.posterior.closed.tails import density


@dataclass(frozen=True, slots=True)
class Mixture:
    """Distributions of one quantity, each holding with some probability.

    Parameters
    ----------
    parts
        The distributions, all on the same support.
    shares
        The probability of each; they sum to 1.

    Examples
    --------
    >>> from outperform.posterior.closed.share import Share
    >>> either = Mixture((Share(1.0, 1.0), Share(3.0, 1.0)), (0.5, 0.5))
    >>> either.cdf(0.5), either.mean
    (0.3125, 0.625)
    """

    parts: tuple[LogDensity, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.parts) != len(self.shares) or abs(sum(self.shares) - 1.0) > 1e-9:
            raise UsageError("every part of a mixture needs a share, and the shares sum to 1")

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest possible value."""
        return self.parts[0].support

    @property
    def mean(self) -> float:
        """The expected value."""
        return self._averaged(part.mean for part in self.parts)

    @property
    def sd(self) -> float:
        """The standard deviation, within the parts and between them."""
        mean = self.mean
        squares = (part.sd**2 + (part.mean - mean) ** 2 for part in self.parts)
        return math.sqrt(self._averaged(squares))

    def _averaged(self, values: Iterable[float]) -> float:
        return math.fsum(s * v for s, v in zip(self.shares, values, strict=True))

    def cdf(self, value: float) -> float:
        """Return the probability of at most ``value``."""
        return self._averaged(part.cdf(value) for part in self.parts)

    def sf(self, value: float) -> float:
        """Return the probability of more than ``value``."""
        return self._averaged(part.sf(value) for part in self.parts)

    def pdf(self, value: float) -> float:
        """Return the density at ``value``."""
        return density(self.log_pdf(value))

    def log_pdf(self, value: float) -> float:
        """Return the log of the density at ``value``."""
        logs = [part.log_pdf(value) for part in self.parts]
        with np.errstate(divide="ignore"):  # a part may have no share
            return float(np.logaddexp.reduce(np.log(self.shares) + logs))

    def quantile(self, probability: float) -> float:
        """Return the value that is not exceeded with the given probability."""
        return invert(self, probability)


def mix(parts: list[Distribution | None], shares: tuple[float, ...]) -> Distribution | None:
    """Return the mixture of distributions, or None if one of them has no closed form."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return known[0] if len(known) == 1 else Mixture(tuple(known), shares)  # type: ignore[arg-type]
