"""Checks of draws against what is known of them, and small tables to draw from."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import Outcomes
from outperform.posterior.base import draw_values

# Each comparison of a mean, an sd or a whole distribution raises a false alarm
# less than once in 10⁵; seeds are fixed, so it does so never or always.
SIGMAS = 4.5
LEAST_P = 1e-5


def check_moments(draws, mean, sd):
    """Fail unless mean and sd of draws agree with theirs within Monte Carlo error."""
    n = draws.size
    assert np.isfinite(draws).all()
    assert abs(draws.mean() - mean) <= SIGMAS * sd / np.sqrt(n) + 1e-12
    spread = draws - draws.mean()
    error = np.sqrt(max((spread**4).mean() - (spread**2).mean() ** 2, 0.0) / n)
    assert abs(spread.var(ddof=1) - sd**2) <= SIGMAS * error + 1e-12


def check_distribution(draws, cdf):
    """Fail unless draws follow a distribution function (Kolmogorov and Smirnov)."""
    from scipy.stats import kstest

    assert kstest(draws, cdf).pvalue > LEAST_P


def check_same(left, right):
    """Fail unless two samples come from one distribution."""
    from scipy.stats import ks_2samp

    assert ks_2samp(left, right).pvalue > LEAST_P
    error = np.hypot(left.std() / np.sqrt(left.size), right.std() / np.sqrt(right.size))
    assert abs(left.mean() - right.mean()) <= SIGMAS * error
    ratio = left.std() / right.std()
    assert abs(np.log(ratio)) <= SIGMAS * np.sqrt(1 / left.size + 1 / right.size)


def draw_confusions(posterior, n_draws=20_000, seed=1):
    """Draw one confusion array (n_classes, n_classes, n_draws) per model."""
    n_classes = posterior.n_classes
    size = n_classes**2

    def evaluate(drawn, out):
        for model, confusion in enumerate(drawn):
            out[model * size : (model + 1) * size] = confusion.reshape(size, -1)

    values = draw_values(
        posterior,
        evaluate,
        needs="confusion",
        n_values=posterior.n_models * size,
        n_draws=n_draws,
        seed=np.random.SeedSequence(seed),
        n_jobs=1,
    )
    return values.reshape(posterior.n_models, n_classes, n_classes, n_draws)


def draw_margins(posterior, n_draws=20_000, seed=1):
    """Draw hits, actual and predicted (n_models, 3, n_classes, n_draws), scaled to sum to 1."""
    worker = posterior.worker("margins")
    drawn = worker(np.random.default_rng(seed), n_draws)
    return np.stack([np.stack(one) / one.actual.sum(axis=0) for one in drawn])


@pytest.fixture(scope="session")
def moments():
    return check_moments


@pytest.fixture(scope="session")
def follows():
    return check_distribution


@pytest.fixture(scope="session")
def same():
    return check_same


@pytest.fixture(scope="session")
def confusions():
    return draw_confusions


@pytest.fixture(scope="session")
def margins():
    return draw_margins


@pytest.fixture(scope="session")
def binary():
    """Two classes, two models: (truth, a, b) and how often."""
    cells = [
        (1, 1, 1, 40), (1, 1, 0, 12), (1, 0, 1, 5), (1, 0, 0, 8),
        (0, 0, 0, 90), (0, 1, 0, 9), (0, 0, 1, 4), (0, 1, 1, 3),
    ]  # fmt: skip
    truth, a, b, counts = zip(*cells, strict=True)
    return Outcomes.from_counts(truth, {"a": a, "b": b}, counts)


@pytest.fixture(scope="session")
def ternary():
    """Three classes, two models, most cells empty."""
    cells = [
        (0, 0, 0, 14), (0, 0, 1, 3), (0, 2, 0, 2), (1, 1, 1, 6), (1, 1, 0, 1),
        (1, 0, 2, 2), (2, 2, 2, 3), (2, 1, 2, 1), (2, 1, 1, 1),
    ]  # fmt: skip
    truth, a, b, counts = zip(*cells, strict=True)
    return Outcomes.from_counts(truth, {"a": a, "b": b}, counts)
