"""The map of the code names every module that one comparison runs."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

import numpy as np

import outperform as op

PACKAGE = Path(op.__file__).parent
ROOT = Path(__file__).parents[2]


def noisy(n_classes, n=300):
    """Return truth and the predictions of two models."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, n_classes, n)
    a, b = (
        np.where(rng.random(n) < right, truth, rng.integers(0, n_classes, n))
        for right in (0.8, 0.7)
    )
    return truth, a, b


def modules_run(ask):
    """Return the modules whose functions a call runs."""
    modules = set()

    def note(frame, event, arg):
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(PACKAGE):
            modules.add(file.relative_to(PACKAGE).as_posix())

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        ask()
    finally:
        sys.setprofile(before)
    return modules


def test_the_map_of_the_code_names_what_one_comparison_runs():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.partition("## One comparison, step by step")[2].partition("\n## ")[0]
    ask = partial(op.compare, *noisy(3), metric="f1_macro", rope=0.01, random_state=1)
    ask()  # what is loaded on first use is loaded
    modules = modules_run(ask)
    named = set(re.findall(r"`([\w/]+\.py)`", section)) | {
        f"inference/{one}" for one in re.findall(r"`(\w+_spec\.py)`", section)
    }
    assert modules <= named, sorted(modules - named)
