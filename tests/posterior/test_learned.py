"""Prior learned: diagonal share and mass learned, by an independent integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, gammaln

from outperform import Outcomes
from outperform.datasets import load_news20
from outperform.errors import UsageError
from outperform.posterior.hierarchical import Free, logistic, mass_posterior

COUNTS = np.array([[14.0, 3.0, 2.0], [2.0, 7.0, 0.0], [0.0, 2.0, 4.0]])


@pytest.fixture(scope="module")
def brute_force():
    """Return η, s and their joint posterior on a wide, dense grid."""
    logit, log_mass = np.meshgrid(
        np.linspace(-16, 16, 401), np.linspace(-16, 16, 401), indexing="ij"
    )
    eta, mass = expit(logit), np.exp(log_mass)
    log = np.log(eta) + np.log1p(-eta) + log_mass - 2 * np.log1p(mass)
    for truth, predicted in np.ndindex(3, 3):
        omega = mass * eta if truth == predicted else mass * (1 - eta) / 2
        log = log + gammaln(COUNTS[truth, predicted] + omega) - gammaln(omega)
    for truth in range(3):
        log = log + gammaln(mass) - gammaln(mass + COUNTS[truth].sum())
    weights = np.exp(log - log.max())
    return eta, mass, weights / weights.sum()


def test_the_grid_has_the_moments_of_brute_force(brute_force):
    eta, mass, weights = brute_force
    grid = mass_posterior(COUNTS)
    assert grid.mean(logistic) == pytest.approx((weights * eta).sum(), rel=1e-4)
    shrunk = (weights * mass / (1 + mass)).sum()
    assert grid.mean(logistic, axis=1) == pytest.approx(shrunk, rel=1e-4)


def test_cells_have_the_mean_and_sd_of_the_mixture(brute_force, confusions, moments):
    eta, mass, weights = brute_force
    seen = Outcomes.from_confusion({"m": COUNTS.astype(int)})
    (drawn,) = confusions(Free(seen.select(["m"])), 40_000)
    prevalence = drawn.sum(axis=1)
    n = COUNTS.sum(axis=1)
    for truth, predicted in np.ndindex(3, 3):
        omega = mass * eta if truth == predicted else mass * (1 - eta) / 2
        share = (COUNTS[truth, predicted] + omega) / (n[truth] + mass)
        second = share * (COUNTS[truth, predicted] + omega + 1) / (n[truth] + mass + 1)
        mean = (weights * share).sum()
        sd = np.sqrt((weights * second).sum() - mean**2)
        moments(drawn[truth, predicted] / prevalence[truth], mean, sd)
    for truth in range(3):
        share = (n[truth] + 1) / (n.sum() + 3)
        moments(prevalence[truth], share, np.sqrt(share * (1 - share) / (n.sum() + 4)))


def test_it_serves_one_model_and_has_no_closed_form(ternary):
    with pytest.raises(UsageError, match=r"one model.*prior='unit'"):
        Free(ternary)
    posterior = Free(ternary.select(["a"]))
    assert posterior.part_shape(0, "correct", None) is None
    assert posterior.row_shapes(0, 1) is None
    assert posterior.agreement_shapes(None) is None


def test_extreme_tables_are_finite(confusions):
    for table in ([[1, 0], [0, 0]], [[0, 1], [1, 0]], [[10**9, 0], [0, 1]], [[5, 0], [0, 5]]):
        (drawn,) = confusions(Free(Outcomes.from_confusion({"m": table})), 500)
        assert np.isfinite(drawn).all()
        assert np.allclose(drawn.sum(axis=(0, 1)), 1.0)


def test_news20_learns_its_own_mass():
    news = load_news20()
    seen = Outcomes.from_labels(news.y_true, news.predictions)
    shares, masses = [], []
    for model in seen.models:
        grid = mass_posterior(seen.confusion(model).astype(float))
        shares.append(grid.mean(logistic))
        masses.append(grid.mean(np.exp, axis=1))
    assert (round(min(shares), 2), round(max(shares), 2)) == (0.53, 0.65)
    assert 22 < min(masses) < 24
    assert 49 < max(masses) < 53
