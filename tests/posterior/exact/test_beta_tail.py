"""Tails and quantiles of a Beta variable with relative accuracy."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy.special import betainc

from outperform.posterior.exact.beta import beta_quantile, lower_tail, upper_tail
from tests.loops import each


def tail_by_series(a: float, b: float, x: mp.mpf) -> mp.mpf:
    """The lower tail, summed from positive terms."""
    edge = mp.exp(a * mp.log(x) + b * mp.log1p(-x) - mp.log(mp.beta(a, b))) / a
    term = total = mp.mpf(1)
    k = 0
    while term > total * mp.mpf(10) ** -30:
        term *= (a + b + k) * x / (a + 1 + k)
        total += term
        k += 1
    return edge * total


@each(
    ("a", "b", "x"),
    [
        (0.5, 700.0, 1e-4),
        (999.0, 2.0, 0.99),
        (2.0, 5_000.0, 1e-5),  # scipy's own range
        (12.0, 5_000.0, 1e-3),
        (2e4, 3e4, 0.39),  # by cumulants
        (2e4, 3e4, 0.3999),
        (2.5e4, 1.5e4, 0.61),
    ],
)
def test_the_lower_tail_below_the_mean(a, b, x):
    with mp.workdps(40):
        exact = tail_by_series(mp.mpf(a), mp.mpf(b), mp.mpf(x))
    found = float(lower_tail(a, b, np.array([x]), np.array([1.0 - x]))[0])
    assert found == pytest.approx(float(exact), rel=3e-13)


@each(
    ("a", "b", "y"),
    [
        (1e5, 0.5, 3e-5),
        (1e5, 1.0, 5e-5),
        (1e9, 3.0, 1e-8),
        (1e12, 40.0, 7e-11),
        (1e12, 600.0, 6.9e-10),
    ],
)
def test_the_lower_tail_where_only_the_distance_to_one_has_digits(a, b, y):
    # the same as the upper tail of Beta(b, a) at y: complement of a series in y
    with mp.workdps(40):
        exact = 1 - tail_by_series(mp.mpf(b), mp.mpf(a), mp.mpf(y))
    found = float(lower_tail(a, b, np.array([1.0 - y]), np.array([y]))[0])
    assert found == pytest.approx(float(exact), rel=1e-12)


def test_all_ranges_at_once_are_the_same_as_one_by_one():
    for a, b in ((1_500.0, 3.0), (3.0, 1_500.0), (2e4, 2e4), (700.0, 700.0), (0.02, 3_000.0)):
        x = np.array([1e-6, 1e-3, 0.2, 0.49, 0.51, 0.9, 0.999, 1 - 1e-6])
        y = np.array([1 - 1e-6, 0.999, 0.8, 0.51, 0.49, 0.1, 1e-3, 1e-6])
        together = lower_tail(a, b, x, y)
        apart = [float(lower_tail(a, b, x[i : i + 1], y[i : i + 1])[0]) for i in range(len(x))]
        assert together == pytest.approx(apart, rel=1e-15, abs=0.0)
        assert lower_tail(a, b, x.reshape(2, 4), y.reshape(2, 4)).ravel() == pytest.approx(apart)


@each(("a", "b"), [(0.01, 0.3), (3.0, 40.0), (800.0, 900.0), (1.0, 1e6), (2e4, 5e6), (1e12, 1e12)])
def test_both_tails_add_up(a, b):
    odds = a / b * np.exp(np.linspace(-3, 3, 25) * np.sqrt(1 / a + 1 / b))
    x, y = odds / (1 + odds), 1 / (1 + odds)
    total = lower_tail(a, b, x, y) + upper_tail(a, b, x, y)
    assert total == pytest.approx(np.ones(25), abs=1e-14)


def test_the_reason_for_all_this_scipy_alone_is_wrong_at_a_trillion():
    # half a trillion of each: at one sd below the mean the tail is nearly normal
    a = b = 5e11
    x = 0.5 - 0.5e-6
    exact = 0.158655253931457  # Phi(-1), to within 1e-12 at these counts
    found = float(lower_tail(a, b, np.array([x]), np.array([1.0 - x]))[0])
    assert found == pytest.approx(exact, rel=1e-9)
    assert abs(float(betainc(a, b, x)) / exact - 1) > abs(found / exact - 1)


@each("level", [1e-290, 1e-12, 0.01, 0.5, 0.97])
@each(("a", "b"), [(0.3, 7.0), (1.0, 1.0), (1e3, 1e9), (1e9, 1e3), (1_000.0, 0.5), (1e12, 1e12)])
def test_the_quantile_inverts_the_tail(a, b, level):
    x, y = beta_quantile(a, b, level)
    back = float(lower_tail(a, b, np.array([x]), np.array([y]))[0])
    # a relative step in the odds changes the tail by at most about z sqrt(n) times as much
    assert back == pytest.approx(level, rel=1e-9 if max(a, b) > 1e8 else 3e-12)
    assert x + y == pytest.approx(1.0, abs=1e-15)


def test_quantiles_that_no_float_can_hold_are_the_ends():
    assert beta_quantile(1e-300, 1.0, 0.5) == (0.0, 1.0)
    assert beta_quantile(1e12, 1e-300, 0.01) == (1.0, 0.0)
    x, y = beta_quantile(1e-300, 1e-300, 0.5)
    assert 0.0 <= x <= 1.0
    assert x + y == pytest.approx(1.0)
