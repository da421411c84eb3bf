"""Gammas and proportions, down to shapes of 1e-300."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma, polygamma

from outperform.posterior.gammas import draw_gammas, fill_proportions, fill_rows, log_gammas
from tests.lazily import lazily
from tests.loops import each

beta = lazily("scipy.stats.beta")
gamma = lazily("scipy.stats.gamma")


@pytest.mark.parametrize(
    "shapes", [[2.0, 2.0, 1.0, 2.0], [1.0, 1.0], [0.0, 0.5], []], ids=["runs", "ones", "none", "no"]
)
def test_rows_are_the_bytes_of_gammas_drawn_one_by_one(shapes):
    shapes = np.array(shapes)
    out = np.empty((shapes.size, 50))
    fill_rows(np.random.default_rng(4), shapes, out)
    expected = np.random.default_rng(4).standard_gamma(shapes[:, None], out.shape)
    assert out.tobytes() == expected.tobytes()


@pytest.mark.parametrize("shapes", [1.0, 0.7, np.array([[1.0], [3.0]])], ids=str)
def test_arrays_are_the_bytes_of_numpy(shapes):
    drawn = draw_gammas(np.random.default_rng(4), shapes, (2, 50))
    assert drawn.tobytes() == np.random.default_rng(4).standard_gamma(shapes, (2, 50)).tobytes()


def test_factors_multiply_the_shapes_of_each_draw():
    shapes, factors, out = np.array([2.0, 3.0]), np.array([0.5, 1.0, 2.0]), np.empty((2, 3))
    fill_rows(np.random.default_rng(4), shapes, out, factors)
    expected = np.random.default_rng(4).standard_gamma(np.outer(shapes, factors))
    assert out.tobytes() == expected.tobytes()


def test_gammas_have_the_shape_of_their_run(follows):
    shapes = np.array([0.5, 0.5, 0.0, 7.25])
    out = np.full((4, 20_000), np.nan)
    fill_rows(np.random.default_rng(1), shapes, out)
    for row in (0, 1, 3):
        follows(out[row], gamma(shapes[row]).cdf)
    assert not out[2].any()


@each("shape", [1e-300, 1e-30, 1e-6, 1e-3, 0.3, 1.0, 25.0])
def test_logarithms_have_the_moments_of_a_log_gamma(shape, moments):
    logs = log_gammas(np.random.default_rng(2), np.full((1, 1), shape), (1, 20_000))[0]
    # ψ(a) = ψ(a + 1) − 1/a and ψ′(a) = ψ′(a + 1) + 1/a²; times a both are finite for every a.
    mean = shape * digamma(shape + 1) - 1
    moments(logs * shape, mean, np.sqrt(1 + shape**2 * polygamma(1, shape + 1)))


def draw_proportions(shapes, n_draws=20_000, seed=3):
    shapes = np.array(shapes)
    out = np.empty((shapes.size, n_draws))
    fill_proportions(np.random.default_rng(seed), shapes, out)
    return out


@pytest.mark.parametrize("shapes", [[1.0, 1.0], [0.5, 3.0, 9.0], [1e-4, 2.0, 0.5], [1e6, 1.0]])
def test_proportions_are_dirichlet(shapes, follows):
    out = draw_proportions(shapes)
    assert np.allclose(out.sum(axis=0), 1.0, atol=1e-12)
    for row, shape in enumerate(shapes):
        if shape >= 0.5:  # below, a float64 cannot hold most of the draws
            follows(out[row], beta(shape, sum(shapes) - shape).cdf)


@pytest.mark.parametrize("shape", [1e-300, 1e-100, 1e-6, 1e-3])
def test_tiny_shapes_give_proportions_without_nan(shape):
    out = draw_proportions([shape, shape, 2 * shape])
    assert np.isfinite(out).all()
    assert np.allclose(out.sum(axis=0), 1.0)
    # In the limit one cell takes all, each as often as its share of the mass.
    for row, share in enumerate((0.25, 0.25, 0.5)):
        error = np.sqrt(share * (1 - share) / out.shape[1])
        assert abs(out[row].mean() - share) < 4.5 * error


def test_tiny_shapes_beside_large_ones_take_nothing():
    out = draw_proportions([1e-300, 5.0])
    assert np.isfinite(out).all()
    assert np.allclose(out[1], 1.0, rtol=1e-15)
