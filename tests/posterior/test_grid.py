"""Quadrature on a grid that finds its place."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from outperform.posterior.hierarchical import (
    RisingFactorial,
    Term,
    grid_posterior,
    log_logistic,
    logistic,
)
from tests.lazily import lazily
from tests.loops import each

beta = lazily("scipy.stats.beta")


@pytest.mark.parametrize("counts", [[1, 1, 2], [0, 5, 5], [10**6, 3], [10**12, 10**12]])
def test_rising_factorials_keep_their_digits(counts):
    mpmath.mp.dps = 40
    alphas = [1e-4, 0.1, 0.5, 3.0]
    found = RisingFactorial(np.array(counts))(np.log(alphas))
    exact = [
        sum(mpmath.loggamma(c + mpmath.mpf(a)) - mpmath.loggamma(a) for c in counts if c)
        for a in alphas
    ]
    # Up to one constant, which does not matter to a posterior.
    shift = np.array([float(value - exact[0]) for value in exact])
    assert np.allclose(found - found[0], shift, rtol=1e-9, atol=1e-7)


def test_the_table_of_a_rising_factorial_is_the_function():
    function = RisingFactorial(np.array([1, 1, 4, 30, 400]))
    table = function.tabulated(-9.0, 2.0)
    places = np.random.default_rng(1).uniform(-9.0, 2.0, 500)
    assert np.allclose(table(places), function(places), atol=2e-6)
    step = 1e-5
    slope = (function(places + step) - function(places - step)) / (2 * step)
    assert np.allclose(function.slope(places), slope, rtol=1e-5, atol=1e-5)


def test_nothing_counted_is_nothing_added():
    function = RisingFactorial(np.array([0, 0]))
    assert not function(np.array([-3.0, 2.0])).any()
    assert function.tabulated(-1.0, 1.0) is function


def test_without_data_the_prior_is_uniform():
    grid = grid_posterior([], 1)
    assert grid.mean(logistic) == pytest.approx(0.5, abs=1e-9)
    assert grid.mean(lambda logit: logistic(logit) ** 2) == pytest.approx(1 / 3, abs=1e-6)


@each(("right", "wrong"), [(0, 0), (3, 1), (500, 0), (10**5, 10**3), (2, 10**6)])
def test_a_beta_posterior_is_found_wherever_it_is(right, wrong):
    terms = [
        Term(function=lambda x: right * x, log_alpha=lambda axes: log_logistic(axes[0])),
        Term(function=lambda x: wrong * x, log_alpha=lambda axes: log_logistic(-axes[0])),
    ]
    grid = grid_posterior(terms, 1)
    exact = beta(right + 1, wrong + 1)
    assert grid.mean(logistic) == pytest.approx(exact.mean(), rel=1e-6)
    spread = grid.mean(lambda logit: (logistic(logit) - exact.mean()) ** 2)
    assert np.sqrt(spread) == pytest.approx(exact.std(), rel=1e-3)


def test_two_axes_draw_what_they_say(moments):
    terms = [
        Term(function=lambda x: 20.0 * x, log_alpha=lambda axes: log_logistic(axes[0]), sign=1.0)
    ]
    grid = grid_posterior(terms, 2)
    first, second = grid.draw(np.random.default_rng(2), 40_000)
    moments(logistic(first), beta(21, 1).mean(), beta(21, 1).std())
    moments(logistic(second), 0.5, np.sqrt(1 / 12))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.03


def test_far_out_logistics_lose_nothing():
    far = np.array([-800.0, -40.0, 0.0, 40.0, 800.0])
    assert np.isfinite(log_logistic(far)).all()
    assert log_logistic(far)[0] == -800.0
