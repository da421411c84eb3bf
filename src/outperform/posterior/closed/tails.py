"""Tail probabilities as expectations, each side computed for itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.closed.quadrature import LogFunction, log_integral
from outperform.posterior.closed.unit_interval import UnitInterval

Place: TypeAlias = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
"""Distances from the ends of an interval to a point ``x`` and ``1 - x``."""


def log_expected(
    outer: UnitInterval,
    outer_place: Place,
    inner: LogFunction,
    guide: LogFunction,
    inner_place: Place,
    width: float,
    slopes: tuple[float, float],
    scale: float = 1.0,
) -> float:
    """Return the log of the mean of ``exp(inner)`` over the part of ``outer`` in an interval.

    Parameters
    ----------
    outer
        The distribution that the mean is over.
    outer_place
        Where its points lie, given the distances from the ends of the interval.
    inner
        The log of a tail of another distribution.
    guide
        About the same, quickly.
    inner_place
        Where that is evaluated.
    width
        Length of the interval.
    slopes
        Powers of the whole at the two ends of the interval.
    scale
        The shortest relative distance from an end at which anything happens.
    """

    def log_function(left: FloatArray, right: FloatArray) -> FloatArray:
        place = outer_place(left, right)
        return outer.log_density(*place) + inner(*inner_place(left, right))

    def log_guide(left: FloatArray, right: FloatArray) -> FloatArray:
        place = outer_place(left, right)
        return outer.guide_density(*place) + guide(*inner_place(left, right))

    return log_integral(log_function, width, slopes=slopes, guide=log_guide, scale=scale)


def one_tail(
    direct: Callable[[float, bool], float], value: float, centre: float, *, upper: bool
) -> float:
    """Return one tail from the side that is cheap to trust.

    The smaller tail is integrated for itself, the larger one is what is left.

    Parameters
    ----------
    direct
        Integrates the upper (True) or the lower (False) tail at a value.
    value
        Where the tail begins.
    centre
        About the mean.
    upper
        Which tail is asked for.
    """
    if (value >= centre) == upper:
        return direct(value, upper)
    other = direct(value, not upper)
    return 1.0 - other if other <= 0.75 else direct(value, upper)


def density(log_density: float) -> float:
    """Return a density from its logarithm, infinite where a float cannot hold it.

    Examples
    --------
    >>> density(0.0)
    1.0
    """
    return math.exp(log_density) if log_density < 709.0 else math.inf


def plus_tail(log_part: float, closed: UnitInterval, x: float, y: float, *, upper: bool) -> float:
    """Return ``exp(log_part)`` plus a tail, which is left out where it adds nothing.

    Parameters
    ----------
    log_part
        The log of what was integrated.
    closed
        The distribution whose tail is added.
    x, y
        Where the tail begins, and its distance to 1.
    upper
        Which tail.
    """
    place = np.array([x]), np.array([y])
    with np.errstate(divide="ignore"):
        about = closed.guide_upper(*place) if upper else closed.guide_lower(*place)
        if float(about[0]) < log_part - 50.0:
            return math.exp(log_part)
        log_tail = closed.log_upper(*place) if upper else closed.log_lower(*place)
    return math.exp(log_part) + math.exp(float(log_tail[0]))
