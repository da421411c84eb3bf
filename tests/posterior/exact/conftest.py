"""Golden values in fifty-digit arithmetic, and what accuracy they demand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

REFERENCE = Path(__file__).parents[2] / "reference" / "closed.json"


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    return json.loads(REFERENCE.read_text())


@pytest.fixture(scope="session")
def demanded():
    """Relative accuracy that is asked for at a given sum of shapes."""

    def rtol(total: float) -> float:
        if total <= 3e5:
            return 1e-12
        return 1e-10 if total <= 3e9 else 1e-8

    return rtol


@pytest.fixture(scope="session")
def same_numbers():
    """Check tails, density and quantile of a distribution against one golden row."""

    def check(distribution: Any, row: dict[str, Any], rtol: float) -> None:
        value = row["value"]
        for name in ("cdf", "sf", "pdf"):
            found = getattr(distribution, name)(value)
            assert found == pytest.approx(float(row[name]), rel=rtol, abs=0.0), (name, row)
        level = float(row["cdf"])
        if level < 0.999:  # above, the float that stands for the level has not the digits
            scale = max(abs(value), 1e-2 * distribution.sd)
            assert distribution.quantile(level) == pytest.approx(value, rel=0.0, abs=rtol * scale)

    return check
