"""What every test shares: the sizes of the hypothesis runs, and what one Python is enough for."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import settings

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
    "ingest/test_atomic.py",
    "ingest/test_baseline.py",
    "ingest/test_catalogue.py",
    "ingest/test_damaged.py",
    "ingest/test_databases.py",
    "ingest/test_differential.py",
    "ingest/test_frames.py",
    "ingest/test_hostile_names.py",
    "ingest/test_postgresql.py",
    "ingest/test_spark.py",
    "monitor/test_killed_writers.py",
    "report/test_browser.py",
    "report/test_hostile_labels.py",
    "reproduce",
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
def hears_ctrl_c():
    """Hear SIGINT, which a process that was started in the background ignores."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
