"""What every test shares: the sizes of the hypothesis runs, and what one Python is enough for."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import outperform as op
from outperform.posterior import bootstrap

# Derandomised, so that a run of the suite is the same run everywhere.
settings.register_profile("default", max_examples=200, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=10_000, deadline=None, print_blob=True)
settings.load_profile("default")

# Folders and files of hostile input, odd surroundings, published tables and simulation studies:
# what they test does not depend on the version of Python, and they take most of the time.
ROBUSTNESS = (
    "cli/test_every_option.py",
    "cli/test_exit_codes.py",
    "cli/test_faults.py",
    "cli/test_hostile_gates.py",
    "io/test_atomic.py",
    "io/test_catalogue.py",
    "io/test_damaged.py",
    "io/test_databases.py",
    "io/test_differential.py",
    "io/test_frames.py",
    "io/test_hostile_names.py",
    "io/test_postgresql.py",
    "io/test_spark.py",
    "monitor/test_killed_writers.py",
    "report/test_browser.py",
    "report/test_hostile_labels.py",
    "papers",
    "test_bad_input.py",
    "verification",
)


def pytest_collection_modifyitems(items):
    """Mark every test of these folders and files."""
    marked = [Path(__file__).parent / name for name in ROBUSTNESS]
    for item in items:
        if any(place == item.path or place in item.path.parents for place in marked):
            item.add_marker(pytest.mark.robustness)


@pytest.fixture
def plain_weights(monkeypatch):
    """Weigh groups and label sets as if many of them carried the metric."""
    monkeypatch.setattr(bootstrap, "_MANY", 0.0)


@pytest.fixture
def hears_ctrl_c():
    """Hear SIGINT, which a process that was started in the background ignores."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def noisy(truth, rate, rng, n_classes):
    """Return predictions that are right with this rate."""
    wrong = rng.integers(0, n_classes, truth.size)
    return np.where(rng.random(truth.size) < rate, truth, wrong)


@pytest.fixture(scope="session")
def two():
    """400 items of the classes 0 and 1; A is better than B."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 400)
    return truth, noisy(truth, 0.9, rng, 2), noisy(truth, 0.6, rng, 2)


@pytest.fixture(scope="session")
def four():
    """800 items of four named classes; A is better than B."""
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
