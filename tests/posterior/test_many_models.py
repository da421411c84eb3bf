"""Weights of many models at once: errors only, near the cache, and the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.data.views import emptied
from outperform.posterior.dirichlet import _sticks, _tickets, sparse_unit
from outperform.posterior.gammas import gamma_sums
from outperform.posterior.sums import Errors, Margins, choose_tally


def outcomes(n_classes=4, n_models=5, n=300, seed=3):
    generator = np.random.default_rng(seed)
    y = generator.integers(n_classes, size=n)
    predictions = {
        f"m{k}": np.where(generator.random(n) < 0.7, y, generator.integers(n_classes, size=n))
        for k in range(n_models)
    }
    return op.Outcomes.from_labels(y, predictions)


@pytest.mark.parametrize("n_classes", [2, 3, 20, 300])
def test_errors_add_up_to_the_same_margins(n_classes):
    seen = outcomes(n_classes)
    cells = seen.tables[0].cells
    generator = np.random.default_rng(1)
    gammas = generator.standard_gamma(2.0, size=(len(cells), 7))
    masses = _sticks(generator, n_classes, 7)
    tickets = [_tickets(generator, rate, masses.shape) for rate in (0.5, 0.5, 0.2, 0.9, 0.5)]
    found = []
    for kind in (Margins, Errors):
        tally = kind(cells, n_classes)
        sums = tally.of_cells(gammas)
        tally.add_prior(sums, masses, tickets)
        found.append(tally.split(sums))
    for one, two in zip(*found, strict=True):
        for left, right in zip(one, two, strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-12)


def test_errors_are_for_many_models_and_counts_that_lose_nothing():
    cells = outcomes(3, 3).tables[0].cells
    assert type(choose_tally(cells, 3, "margins", largest=5.0)) is Errors
    assert type(choose_tally(cells, 3, "margins", largest=1e12)) is Margins
    assert type(choose_tally(cells[:, :3], 3, "margins", largest=5.0)) is Margins


def test_a_few_draws_at_a_time_are_gammas_too():
    shapes = np.repeat([1.0, 4.0], 20_000)
    draw = gamma_sums(shapes, lambda gammas: gammas[[0, -1]], n_models=3)
    drawn = draw(np.random.default_rng(5), 4_001)
    assert drawn.shape == (2, 4_001)
    for row, shape in zip(drawn, (1.0, 4.0), strict=True):
        assert abs(row.mean() - shape) < 5 * np.sqrt(shape / row.size)


def test_every_model_has_its_own_unit_prior():
    """Before any item each model's share of right answers is Beta(M/2, M/2)."""
    n_classes = 6
    posterior = sparse_unit(emptied(outcomes(n_classes)))
    drawn = posterior.worker("margins")(np.random.default_rng(6), 20_000)
    assert len(drawn) == 5
    shares = np.stack([sums.hits.sum(axis=0) / sums.actual.sum(axis=0) for sums in drawn])
    # The prior is a product: before any item no model knows of another.
    together = np.corrcoef(shares)[np.triu_indices(5, 1)]
    assert np.abs(together).max() < 5 / np.sqrt(20_000)
    for sums, right in zip(drawn, shares, strict=True):
        assert abs(right.mean() - 0.5) < 5 * right.std() / np.sqrt(right.size)
        assert right.var() == pytest.approx(0.25 / (n_classes + 1), rel=0.05)
        np.testing.assert_allclose(sums.predicted.sum(axis=0), sums.actual.sum(axis=0))
