"""Corpora that some tests read: not part of the checkout, so their tests are skipped without them.

They lie in the folder that ``OUTPERFORM_CORPORA`` names, or in ``shared/data`` beside the checkout.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).parents[2] / "shared" / "data"


def corpus(name: str) -> Path:
    """Return the path of a file or folder among the corpora, or skip the test."""
    path = Path(os.environ.get("OUTPERFORM_CORPORA") or BESIDE) / name
    if not path.exists():
        pytest.skip(f"no corpus {name}; name their folder in OUTPERFORM_CORPORA")
    return path
