"""The log density of a Beta variable at any count."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from outperform.posterior.exact.beta import (
    deviance,
    log1p_minus,
    log_peak,
    log_power,
    rough_deviance,
    stirling_error,
)
from tests.loops import each


@each("shape", [1e-300, 1e-20, 1e-3, 0.5, 1.0, 9.99, 10.0, 123.4, 1e5, 1e12])
def test_stirling_error_is_what_stirling_leaves(shape):
    with mp.workdps(60):
        z = mp.mpf(shape)
        exact = mp.loggamma(z) - (z - 0.5) * mp.log(z) + z - mp.log(2 * mp.pi) / 2
    assert stirling_error(shape) == pytest.approx(float(exact), rel=2e-14, abs=2e-16)


@each("value", [-0.4, -0.1, -1e-8, 1e-12, 1e-3, 0.25, 0.4])
def test_log1p_minus_has_all_its_digits(value):
    with mp.workdps(60):
        exact = mp.log1p(mp.mpf(value)) - mp.mpf(value)
    assert float(log1p_minus(np.array([value]))[0]) == pytest.approx(float(exact), rel=1e-15)


def test_log1p_minus_takes_as_many_terms_as_its_largest_argument_needs():
    together = log1p_minus(np.array([1e-6, 0.4]))
    apart = [float(log1p_minus(np.array([v]))[0]) for v in (1e-6, 0.4)]
    assert together == pytest.approx(apart, rel=1e-15)


def test_deviance_vanishes_at_the_mean_and_is_negative_elsewhere():
    x = np.linspace(0.01, 0.99, 99)
    values = deviance(30.0, 70.0, x, 1.0 - x)
    assert np.argmax(values) == 29
    assert abs(values[29]) < 1e-25
    assert (np.delete(values, 29) < 0).all()


def test_deviance_near_and_far_from_the_mean_join():
    # |b x - a y| = 0.4 min(a, b) is where the series gives way to logarithms
    a, b = 40.0, 60.0
    edge = (a + 0.4 * a) / (a + b)
    x = np.array([edge * (1 - 1e-9), edge * (1 + 1e-9)])
    near, far = deviance(a, b, x, 1.0 - x)
    slope = a / edge - b / (1 - edge)
    assert far - near == pytest.approx(slope * 2e-9 * edge, rel=1e-4)


def test_the_rough_deviance_is_the_same_function():
    x = np.linspace(0.01, 0.99, 50)
    exact = deviance(12.0, 3.0, x, 1.0 - x)
    assert rough_deviance(12.0, 3.0, x, 1.0 - x) == pytest.approx(exact, abs=1e-12)


@each(
    ("a", "b", "x"),
    [
        (1e-300, 1.0, 0.5),
        (1e-300, 1e-300, 0.25),
        (0.5, 0.5, 1e-30),
        (3.0, 1e12, 5e-12),
        (1e5, 1e5, 0.503),
        (4e8, 6e8, 0.40001),
    ],
)
def test_log_power_against_fifty_digits(a, b, x):
    with mp.workdps(50):
        ma, mb, mx = mp.mpf(a), mp.mpf(b), mp.mpf(x)
        exact = ma * mp.log(mx) + mb * mp.log1p(-mx)
        exact -= mp.loggamma(ma) + mp.loggamma(mb) - mp.loggamma(ma + mb)
    found = float(log_power(a, b, np.array([x]), np.array([1.0 - x]))[0])
    assert found == pytest.approx(float(exact), rel=1e-13, abs=1e-11)


def test_the_peak_of_a_dirichlet_is_that_of_its_pieces():
    # Dirichlet(a, b, c) = Beta(a + b, c) for the sum times Beta(a, b) for the split
    whole = log_peak(3.0, 4.0, 5.0)
    assert whole == pytest.approx(log_peak(7.0, 5.0) + log_peak(3.0, 4.0), rel=1e-14)
    assert math.exp(log_peak(1.0, 1.0)) == pytest.approx(0.25, rel=1e-15)
