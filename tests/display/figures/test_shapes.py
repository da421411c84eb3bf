from __future__ import annotations

import numpy as np
import pytest

from outperform.display.figure_style import read_shape
from outperform.errors import UsageError

DRAWS = np.random.default_rng(5).normal(0.0, 1.0, 20_000)


def area(shape):
    return float((np.diff(shape.grid) * shape.height[:-1]).sum())


def test_all_draws_but_one_in_a_thousand_are_under_the_histogram():
    # Of 20,000 normal draws, the outer 10 on either side are left out.
    assert area(read_shape(DRAWS)) == pytest.approx(0.999, abs=2e-4)


def test_a_window_holds_the_share_of_the_draws_that_lie_in_it():
    shape = read_shape(DRAWS, window=(-0.5, 0.25))
    assert (shape.low, shape.high) == (-0.5, 0.25)
    inside = ((DRAWS >= -0.5) & (DRAWS <= 0.25)).mean()
    assert area(shape) == pytest.approx(inside, abs=1e-12)


def test_a_complaint_names_the_draws():
    with pytest.raises(UsageError, match=r"draws of B must be .*\(2, 1\)"):
        read_shape([[1.0], [2.0]], name="draws of B")
