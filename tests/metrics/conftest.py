"""Random confusion tables of every kind that metrics have to survive."""

from __future__ import annotations

import numpy as np
import pytest


def make_table(rng, n_classes):
    """Return one table: dense, sparse, skilled, with empty classes, or degenerate."""
    shape = (n_classes, n_classes)
    kind = rng.integers(7)
    table = rng.poisson(rng.choice([0.5, 3.0, 40.0]), size=shape)
    if kind == 1:
        table *= rng.random(shape) < 2 / n_classes
    elif kind == 2:
        table += np.diag(rng.poisson(30 * rng.random(n_classes) ** 3 * n_classes))
    elif kind == 3:
        table[rng.random(n_classes) < 0.4] = 0
        table[:, rng.random(n_classes) < 0.4] = 0
    elif kind == 4:
        table = np.diag(np.diag(table)) if rng.random() < 0.5 else table - np.diag(np.diag(table))
    elif kind == 5:
        table = np.zeros(shape, dtype=int)
        table[tuple(rng.integers(n_classes, size=(2, rng.integers(1, 3))))] = rng.integers(1, 9)
    if not table.any():
        table[0, rng.integers(n_classes)] = 1
    return table / table.sum() if kind == 6 else table


@pytest.fixture
def rng():
    return np.random.default_rng(20_240_607)


@pytest.fixture
def random_table():
    return make_table


@pytest.fixture
def draws(rng):
    """Posterior-like proportions, shape (5, 5, 300)."""
    return rng.dirichlet(0.4 + 3 * np.eye(5).ravel(), size=300).T.reshape(5, 5, 300)
