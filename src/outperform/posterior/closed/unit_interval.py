"""What all exact distributions between 0 and 1 have in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from outperform._typing import FloatArray
from outperform.errors import UsageError


class UnitInterval(ABC):
    """A distribution on (0, 1) that can be evaluated at many points at once.

    Points are given as ``x`` and ``y = 1 - x``, because next to 1 only ``y`` still has
    all its digits.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def ends(self) -> tuple[float, float]:
        """Powers ``s`` of the density ``distance^(s - 1)`` at 0 and at 1."""

    @property
    @abstractmethod
    def centre(self) -> float:
        """About the mean, quickly."""

    @property
    @abstractmethod
    def spread(self) -> float:
        """About the standard deviation, quickly."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """The expected value."""

    @property
    @abstractmethod
    def sd(self) -> float:
        """The standard deviation."""

    @abstractmethod
    def cdf(self, value: float) -> float:
        """Return the probability of at most ``value``."""

    @abstractmethod
    def sf(self, value: float) -> float:
        """Return the probability of more than ``value``."""

    @abstractmethod
    def log_density(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the density."""

    @abstractmethod
    def log_lower(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the probability below."""

    @abstractmethod
    def log_upper(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the probability above."""

    @abstractmethod
    def guide_density(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return about the log of the density, quickly."""

    @abstractmethod
    def guide_lower(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return about the log of the probability below, quickly."""

    @abstractmethod
    def guide_upper(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return about the log of the probability above, quickly."""

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest possible value."""
        return 0.0, 1.0


class PointWise(ABC):
    """A distribution on (0, 1) every value of which costs an integral of its own."""

    __slots__ = ()

    @property
    @abstractmethod
    def ends(self) -> tuple[float, float]:
        """Powers ``s`` of the density ``distance^(s - 1)`` at 0 and at 1."""

    @property
    @abstractmethod
    def centre(self) -> float:
        """About the mean."""

    @property
    @abstractmethod
    def log_odds_spread(self) -> float:
        """About the standard deviation of the log odds."""

    @property
    @abstractmethod
    def precision(self) -> float:
        """Relative error that rounding alone can cause."""

    @abstractmethod
    def log_densities(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log of the density at each ``x``, where ``y`` is ``1 - x``."""


def positive(**values: float) -> None:
    """Refuse parameters that are not positive finite numbers.

    Examples
    --------
    >>> positive(a=1.0, b=0.5)
    """
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0.0):
            raise UsageError(
                f"{name} must be a positive finite number, got {value!r}; "
                "add prior mass to cells that were not seen"
            )


def one_point(value: float) -> tuple[FloatArray, FloatArray]:
    """Return a point and its distance to 1 as arrays of length 1."""
    return np.array([value]), np.array([1.0 - value])


def check_probability(probability: float) -> float:
    """Return the probability, or say what it must be.

    Examples
    --------
    >>> check_probability(0.5)
    0.5
    """
    if not 0.0 <= probability <= 1.0:
        raise UsageError(f"probability must lie between 0 and 1, got {probability!r}")
    return probability
