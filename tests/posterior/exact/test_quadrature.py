"""Integrals of peaked functions known by their logarithms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import betaln, gammaln

from outperform.posterior.exact.quadrature import log_integral, log_integrals
from tests.loops import each


@each(
    ("a", "b"),
    [(1.0, 1.0), (0.5, 0.5), (3.0, 200.0), (0.1, 9.0), (1e-3, 2.0), (1e-6, 1e-9), (40.0, 0.02)],
)
def test_beta_integrals_whatever_the_powers_at_the_ends(a, b):
    def log_function(left, right):
        return (a - 1) * np.log(left) + (b - 1) * np.log(right)

    found = log_integral(log_function, 1.0, slopes=(a, b))
    assert found == pytest.approx(float(betaln(a, b)), rel=1e-13, abs=1e-13)


@each("sd", [1.0, 1e-3, 1e-6])
@each("centre", [1e-4, 0.3, 0.999])
def test_a_bell_of_any_width_at_any_place(centre, sd):
    lower, upper = (-centre / sd, (1 - centre) / sd)

    def log_function(left, right):
        # from whichever end the centre is seen best
        gap = np.where(left < 0.5, left - centre, (1 - centre) - right)
        return -0.5 * (gap / sd) ** 2

    from math import erf, sqrt

    exact = sd * sqrt(math.pi / 2) * (erf(upper / sqrt(2)) - erf(lower / sqrt(2)))
    assert math.exp(log_integral(log_function, 1.0)) == pytest.approx(exact, rel=1e-9)


def test_an_integral_too_small_for_a_float_keeps_its_logarithm():
    n = 5e4

    def log_function(left, right):
        return n * (np.log(left) + np.log(right))

    exact = 2 * gammaln(n + 1) - gammaln(2 * n + 2)
    assert exact < -60_000
    assert log_integral(log_function, 1.0) == pytest.approx(float(exact), rel=1e-14)


def test_rows_are_integrated_as_if_alone():
    powers = np.array([0.5, 3.0, 80.0])
    width = np.array([1.0, 0.25, 2.0])

    def log_function(left, right):
        return (powers[:, None] - 1) * np.log(left)

    found = log_integrals(log_function, width, slopes=(0.5, 1.0), scale=np.ones(3))
    exact = powers * np.log(width) - np.log(powers)
    assert found == pytest.approx(exact, rel=1e-12, abs=1e-13)


def test_a_turn_close_to_an_end_is_seen_when_its_scale_is_given():
    turn = 1e-60

    def log_function(left, right):
        return -np.log(left + turn)  # the integral is log(1 + 1/turn)

    found = math.exp(log_integral(log_function, 1.0, scale=turn))
    assert found == pytest.approx(math.log1p(1 / turn), rel=1e-12)


def test_nothing_to_integrate_is_minus_infinity():
    assert log_integral(lambda left, right: np.full_like(left, -np.inf), 1.0) == -math.inf


def test_a_guide_that_is_only_roughly_right_does_no_harm():
    def log_function(left, right):
        return 99 * np.log(left) + 19 * np.log(right)

    def guide(left, right):
        return 90 * np.log(left) + 21 * np.log(right)

    found = log_integral(log_function, 1.0, guide=guide)
    assert found == pytest.approx(float(betaln(100.0, 20.0)), rel=1e-13)
