from __future__ import annotations

import itertools

import numpy as np
import pytest

from outperform.display.figure_style import read_shape
from outperform.errors import UsageError
from tests.loops import each

DRAWS = np.random.default_rng(5).normal(0.0, 1.0, 20_000)


def area(shape):
    return float(np.trapezoid(shape.height, shape.grid))


@each(
    "draws",
    [DRAWS, DRAWS[:300], np.round(DRAWS[:2_000]), np.zeros(9), np.array([0.1, 0.2, 0.3])],
    ids=["many", "some", "few_values", "equal", "three"],
)
def test_a_density_integrates_to_one(draws):
    assert area(read_shape(draws)) == pytest.approx(1, abs=1e-9)


def test_many_draws_are_the_density_that_they_come_from():
    shape = read_shape(DRAWS)
    # The kernel lowers the top by h² / 2 = 0.8%; two standard errors of its height are 3%.
    assert shape.top == pytest.approx(1 / np.sqrt(2 * np.pi), rel=0.04)


def test_parts_cover_the_whole():
    shape = read_shape(DRAWS)
    edges = [-np.inf, -0.51234, 0.25678, np.inf]
    parts = [shape.between(low, high) for low, high in itertools.pairwise(edges)]
    assert sum(map(area, parts)) == pytest.approx(1, abs=1e-9)
    assert (parts[1].grid[0], parts[1].grid[-1]) == (-0.51234, 0.25678)
    assert area(shape.between(50, 60)) == 0


def test_a_complaint_names_the_draws():
    with pytest.raises(UsageError, match=r"draws of B must be .*\(2, 1\)"):
        read_shape([[1.0], [2.0]], name="draws of B")
