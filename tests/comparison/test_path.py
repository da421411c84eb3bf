"""How far one comparison walks: the modules that run, and the frames above the first gamma."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import outperform as op

PACKAGE = Path(op.__file__).parent
# Four of a closed form for two classes, or three of a prior that is learned; the items that are
# kept, and the log.
MOST_MODULES = 28
MOST_FRAMES = {2: 10, 5: 12}  # a learned prior first sees how correlated the models are
GAMMAS = ("fill_gammas", "gamma_sums", "log_gammas")


def noisy(n_classes, n=300):
    """Return truth and the predictions of two models."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, n_classes, n)
    a, b = (
        np.where(rng.random(n) < right, truth, rng.integers(0, n_classes, n))
        for right in (0.8, 0.7)
    )
    return truth, a, b


@pytest.mark.parametrize("n_classes", [2, 5])
def test_one_comparison_takes_a_short_way(n_classes):
    data = noisy(n_classes)
    op.compare(*data, random_state=1)  # what is loaded on first use is loaded
    modules, frames = set(), []

    def note(frame, event, arg):
        file = Path(frame.f_code.co_filename)
        if event != "call" or not file.is_relative_to(PACKAGE):
            return
        modules.add(file)
        if not frames and frame.f_code.co_name in GAMMAS:
            while frame is not None:
                if Path(frame.f_code.co_filename).is_relative_to(PACKAGE):
                    frames.append(frame.f_code.co_qualname)
                frame = frame.f_back

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        op.compare(*data, random_state=1)
    finally:
        sys.setprofile(before)
    assert len(modules) <= MOST_MODULES, sorted(modules)
    assert 0 < len(frames) <= MOST_FRAMES[n_classes], frames
