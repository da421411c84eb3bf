"""Mean and standard deviation of a ratio of weighted sums of gammas."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.closed.quadrature import log_integral


@lru_cache(maxsize=1024)
def ratio_moments(a: float, rest: tuple[tuple[float, float], ...]) -> tuple[float, float]:
    """Return mean and sd of ``T / (T + Z)``, ``Z`` the sum of ``w R`` over ``rest``.

    With ``M(s) = E exp(-s (T + Z))`` the mean is the integral of ``E_s[T] M(s)`` and the
    variance that of ``s E_s[((1 - m) T - m Z)^2] M(s)``, where ``E_s`` has every gamma
    shrunk by ``1 + w s``. All integrands are positive, so that nothing cancels.

    Parameters
    ----------
    a
        Shape of ``T``.
    rest
        Shape of ``R`` and weight ``w``, one pair each.

    Examples
    --------
    >>> mean, sd = ratio_moments(1.0, ((1.0, 1.0),))
    >>> round(mean, 12), round(sd ** 2, 12)
    (0.5, 0.083333333333)
    """
    parts = ((a, 1.0), *rest)
    total = math.fsum(shape for shape, _ in parts)

    def log_mean(left: FloatArray, right: FloatArray) -> FloatArray:
        s = left / right
        return _log_tilt(parts, s) + math.log(a) - np.log1p(s) - 2.0 * np.log(right)

    mean = math.exp(log_integral(log_mean, 1.0, slopes=(1.0, total)))
    signs = (1.0 - mean, *(-mean * weight for _, weight in rest))

    def log_spread(left: FloatArray, right: FloatArray) -> FloatArray:
        s = left / right
        first, second = np.zeros_like(s), np.zeros_like(s)
        for (shape, weight), sign in zip(parts, signs, strict=True):
            # times 1 + s, so that nothing underflows far out
            shrunk = sign * (1.0 + s) / (1.0 + weight * s)
            first += shape * shrunk
            second += shape * shrunk * shrunk
        log_square = np.log(first * first + second) - 2.0 * np.log1p(s)
        return _log_tilt(parts, s) + log_square + np.log(s / (right * right))

    variance = math.exp(log_integral(log_spread, 1.0, slopes=(2.0, total)))
    return mean, math.sqrt(variance)


def _log_tilt(parts: tuple[tuple[float, float], ...], s: FloatArray) -> FloatArray:
    result = np.zeros_like(s)
    for shape, weight in parts:
        result -= shape * np.log1p(weight * s)
    return result
