"""What every test shares: the sizes of the hypothesis runs."""

from __future__ import annotations

from hypothesis import settings

# Derandomised, so that a run of the suite is the same run everywhere.
settings.register_profile("default", max_examples=200, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=10_000, deadline=None, print_blob=True)
settings.load_profile("default")
