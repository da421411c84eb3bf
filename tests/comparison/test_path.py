"""How far one comparison walks: the modules that run, and the frames above the first gamma."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import outperform as op

PACKAGE = Path(op.__file__).parent
ROOT = Path(__file__).parents[2]
# Four of a closed form for two classes, or three of a prior that is learned; the items that are
# kept, the log, and whether people drew the items of a judge as declared; the modules of the two
# results, which hold how draws become one.
MOST_MODULES = 38
MOST_FRAMES = {2: 11, 3: 12, 5: 12}  # a learned prior first sees how correlated the models are
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


def trace(ask):
    """Return the modules whose functions a call runs, and the frames above the first gamma."""
    modules, frames = set(), []

    def note(frame, event, arg):
        file = Path(frame.f_code.co_filename)
        if event != "call" or not file.is_relative_to(PACKAGE):
            return
        modules.add(file.relative_to(PACKAGE).as_posix())
        if not frames and frame.f_code.co_name in GAMMAS:
            while frame is not None:
                if Path(frame.f_code.co_filename).is_relative_to(PACKAGE):
                    frames.append(frame.f_code.co_qualname)
                frame = frame.f_back

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        ask()
    finally:
        sys.setprofile(before)
    return modules, frames


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_one_comparison_takes_a_short_way(n_classes, metric):
    data = noisy(n_classes)
    ask = partial(op.compare, *data, metric=metric, rope=0.01, random_state=1)
    ask()  # what is loaded on first use is loaded
    modules, frames = trace(ask)
    assert len(modules) <= MOST_MODULES, sorted(modules)
    assert 0 < len(frames) <= MOST_FRAMES[n_classes], frames


def test_the_map_of_the_code_names_what_one_comparison_runs():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.partition("## One comparison, step by step")[2].partition("\n## ")[0]
    ask = partial(op.compare, *noisy(3), metric="f1_macro", rope=0.01, random_state=1)
    ask()
    modules, _ = trace(ask)
    assert f"calls functions of {len(modules)} modules" in section
    named = set(re.findall(r"`([\w/]+\.py)`", section)) | {
        f"inference/{one}" for one in re.findall(r"`(\w+_spec\.py)`", section)
    }
    assert modules <= named, sorted(modules - named)
