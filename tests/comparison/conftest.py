"""Small data for whole comparisons."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op


def noisy(truth, rate, rng, n_classes):
    """Return predictions that are right with this rate."""
    wrong = rng.integers(0, n_classes, truth.size)
    return np.where(rng.random(truth.size) < rate, truth, wrong)


@pytest.fixture(scope="session")
def two():
    """400 documents of the classes 0 and 1; A is better than B."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 400)
    return truth, noisy(truth, 0.9, rng, 2), noisy(truth, 0.6, rng, 2)


@pytest.fixture(scope="session")
def four():
    """800 documents of four named classes; A is better than B."""
    rng = np.random.default_rng(4)
    names = np.array(["ham", "jam", "lamb", "spam"])
    truth = rng.integers(0, 4, 800)
    a, b = noisy(truth, 0.8, rng, 4), noisy(truth, 0.65, rng, 4)
    return names[truth], names[a], names[b]


@pytest.fixture(scope="session")
def names():
    """The names of a result's findings."""
    return lambda result: [finding.name for finding in result.findings]


@pytest.fixture(scope="session")
def table():
    """Make paired outcomes of two classes from the counts of 11, 10, 01, 00 in each class."""

    def make(positive, negative):
        cells = [(1, 1), (1, 0), (0, 1), (0, 0)] * 2
        truth = [1] * 4 + [0] * 4
        a, b = zip(*cells, strict=True)
        counts = [*positive, *negative]
        return op.Outcomes.from_counts(truth, {"a": a, "b": b}, counts, labels=[0, 1])

    return make
