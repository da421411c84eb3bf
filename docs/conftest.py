"""Pages whose examples need PyMC: run where it is installed, left out elsewhere."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

WITH_PYMC = ("how-to/arviz.md", "how-to/your-own-prior.md")
collect_ignore = [] if find_spec("pymc") and find_spec("arviz") else list(WITH_PYMC)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let PyMC and ArviZ warn about themselves."""
    pages = {Path(__file__).parent / page for page in WITH_PYMC}
    for item in items:
        if item.path in pages:
            item.add_marker(pytest.mark.filterwarnings("ignore"))
