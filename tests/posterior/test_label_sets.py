"""Posteriors of label sets: weights of items, and a table for each label."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.posterior.base import Prior, Sums
from outperform.posterior.bootstrap import ItemWeights, LabelByLabel, bootstrap
from outperform.posterior.dirichlet import flat, unit

RNG = np.random.default_rng(3)
Y = RNG.random((120, 3)) < [0.5, 0.3, 0.1]
MODELS = {f"m{place}": Y ^ (RNG.random(Y.shape) < 0.2) for place in range(7)}
N_DRAWS = 4_000


def drawn(posterior):
    return posterior.worker("margins")(np.random.default_rng(0), N_DRAWS)


def shares(n_models):
    chosen = dict(list(MODELS.items())[:n_models])
    return op.Outcomes.from_label_sets(Y, chosen)


@pytest.mark.parametrize("n_models", [1, 2, 7])
def test_weights_of_items_have_the_mean_and_covariance_of_a_dirichlet(n_models):
    posterior = bootstrap(shares(n_models))
    assert isinstance(posterior, ItemWeights)
    found = drawn(posterior)
    assert len(found) == n_models
    for sums, predicted in zip(found, MODELS.values(), strict=False):
        for weights, seen in zip(sums, (Y & predicted, Y, predicted), strict=True):
            assert weights.shape == (3, N_DRAWS)
            # Sums of Exp(1) weights: mean n, variance n, covariance the items in common.
            n = seen.sum(axis=0)
            assert weights.mean(axis=1) == pytest.approx(n, abs=5 * np.sqrt(n.max() / N_DRAWS))
            common = seen.T.astype(float) @ seen
            error = 5 * np.sqrt((common**2 + np.outer(n, n)) / N_DRAWS)
            assert (np.abs(np.cov(weights) - common) < error).all()


@pytest.mark.parametrize(
    ("build", "n_models", "mass"),
    [(lambda one: flat(one, Prior.from_param(None)), 2, 1), (unit, 2, 1), (unit, 7, 1)],
)
def test_labels_apart_are_shares_of_the_same_items(build, n_models, mass):
    posterior = build(shares(n_models))
    assert isinstance(posterior, LabelByLabel)
    for sums in drawn(posterior):
        assert isinstance(sums, Sums)
        assert (sums.hits <= sums.actual + 1e-12).all()
        assert (sums.actual <= 1).all()
        n = Y.sum(axis=0)
        wanted = (n + mass) / (len(Y) + 2 * mass)  # the mean of Beta(1 + n, 1 + rest)
        error = np.sqrt(wanted * (1 - wanted) / (len(Y) + 3) / N_DRAWS)
        assert (np.abs(sums.actual.mean(axis=1) - wanted) < 5 * error).all()
        # Independent labels: whatever the items share, their shares do not.
        off = np.corrcoef(sums.actual)[~np.eye(3, dtype=bool)]
        assert np.abs(off).max() < 5 / np.sqrt(N_DRAWS)
