"""What every test shares: the sizes of the hypothesis runs, and what every Python has to show."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import outperform as op
from outperform.posterior import influence
from outperform.report import api

# Before matplotlib is loaded, and for processes of tests too.
os.environ["MPLBACKEND"] = "Agg"

# Derandomised, so that a run of the suite is the same run everywhere.
settings.register_profile("default", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=10_000, deadline=None, print_blob=True)
settings.load_profile("default")

# What may depend on the version of Python or of a library: how data come in and answers go
# out, and of most other rooms one file. The rest is the same everywhere and takes most of the time.
CORE = (
    "cli/test_commands.py",
    "cli/test_installed.py",
    "cli/test_watch.py",
    "comparison/test_compare.py",
    "crossval/test_training.py",
    "data",
    "datasets",
    "decision/test_hdi.py",
    "display/figures/test_posterior.py",
    "display/test_table.py",
    "gates/test_ci.py",
    "inference/test_scored.py",
    "io/test_arrow.py",
    "io/test_conll.py",
    "io/test_evaluations.py",
    "io/test_files.py",
    "io/test_folders.py",
    "io/test_frames.py",
    "io/test_inspect_logs.py",
    "io/test_interrupts.py",
    "io/test_join.py",
    "io/test_laziness.py",
    "io/test_shards.py",
    "io/test_tool_logs.py",
    "labelling/test_by_hand.py",
    "metrics/test_against_sklearn.py",
    "monitor/test_monitor.py",
    "nhst/test_items.py",
    "planning/test_by_hand.py",
    "posterior/test_rng.py",
    "ranking/test_by_hand.py",
    "reference",
    "report/test_writing.py",
    "results",
    "runs/test_by_hand.py",
    "slices/test_by_hand.py",
    "test_import_weight.py",
    "test_public_names.py",
    "test_surface.py",
    "testing",
)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect without a search for garbage: what is imported and collected stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items):
    """Mark every test of these folders and files."""
    here = Path(__file__).parent
    if absent := [name for name in CORE if not (here / name).exists()]:
        raise pytest.UsageError(f"CORE lists what is not there: {', '.join(absent)}")
    # As texts and once per file: comparing paths takes longer than collecting.
    core = tuple(f"{here / name}{'' if name.endswith('.py') else os.sep}" for name in CORE)
    is_core = {path: str(path).startswith(core) for path in {item.path for item in items}}
    for item in items:
        if is_core[item.path]:
            item.add_marker(pytest.mark.core)


@pytest.fixture
def plain_weights(monkeypatch):
    """Weigh groups and label sets as if many of them carried the metric."""
    monkeypatch.setattr(influence, "_MANY", 0.0)


@pytest.fixture
def few_positions(monkeypatch):
    """Give the slider of a report few positions, for tests of everything else on the page."""
    monkeypatch.setattr(api, "_POSITIONS", 8)


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
