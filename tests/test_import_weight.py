"""A library that others embed stays light: what ``import outperform`` may cost."""

from __future__ import annotations

import os
import subprocess
import sys

HEAVY = ("pandas", "matplotlib", "sklearn", "duckdb", "pymc", "scipy.stats")
FOUNDATION = "import numpy, scipy.special, narwhals"
MOST = 1.3
ROUNDS = 5

LOADED = f"import sys; print([name for name in {HEAVY!r} if name in sys.modules])"


def run(code: str) -> str:
    """Run code in a fresh interpreter with one thread, and return what it prints."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def seconds(statement: str) -> float:
    """Return the processor time of one import, which a busy machine changes little."""
    clock = "time.process_time()"
    return float(run(f"import time; start = {clock}; {statement}; print({clock} - start)"))


def test_the_import_loads_nothing_heavy():
    assert run(f"import outperform; {LOADED}") == "[]"


def test_touching_every_public_name_loads_nothing_heavy():
    touch = "[getattr(outperform, name) for name in getattr(outperform, '__all__', ())]"
    assert run(f"import outperform; {touch}; {LOADED}") == "[]"


def test_the_import_costs_little_more_than_its_foundation():
    foundation, package = zip(
        *((seconds(FOUNDATION), seconds("import outperform")) for _ in range(ROUNDS)), strict=True
    )
    assert min(package) <= MOST * min(foundation)
