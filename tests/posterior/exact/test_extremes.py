"""No shape, however small or large, makes a number that is none."""

from __future__ import annotations

import itertools
import math

import pytest

from outperform.posterior.exact.difference import DirichletDifference, IndependentDifference
from outperform.posterior.exact.f_score import WeightedShare
from outperform.posterior.exact.share import Share
from tests.loops import each

SHAPES = (1e-300, 1e-12, 1e-3, 0.5, 30.0, 1e12)
VALUES = (1e-300, 1e-9, 0.3, 0.9, 1 - 1e-15)


def check(distribution, values):
    for value in values:
        below, above = distribution.cdf(value), distribution.sf(value)
        assert 0.0 <= below <= 1.0
        assert 0.0 <= above <= 1.0
        assert below + above == pytest.approx(1.0, abs=1e-9)
        assert distribution.pdf(value) >= 0.0
    assert math.isfinite(distribution.mean)
    assert math.isfinite(distribution.sd)
    lowest, highest = distribution.support
    for level in (1e-12, 0.5, 1 - 1e-12):
        assert lowest <= distribution.quantile(level) <= highest


@each("weight", [1.0, 0.5])
@each("a", SHAPES)
def test_shares(a, weight):
    for b in SHAPES:
        check(Share(a, b, weight), VALUES)


@each("a1", SHAPES)
def test_dirichlet_differences(a1):
    for a2, a3 in itertools.product((1e-300, 0.5, 1e12), (0.0, 1e-300, 30.0)):
        check(DirichletDifference(a1, a2, a3), (-0.9, -1e-9, 0.0, 1e-9, 0.3))


@pytest.mark.parametrize("a", [1e-300, 0.5, 1e12])
def test_independent_differences(a):
    for b, c in itertools.product((1e-300, 0.5, 1e12), repeat=2):
        check(IndependentDifference(Share(a, b), Share(c, 2.0, 0.5)), (-0.3, 0.0, 1e-9, 0.9))


@pytest.mark.parametrize("a", [1e-300, 0.5, 1e12])
def test_weighted_shares(a):
    for b1, b2 in itertools.product((1e-300, 0.5, 1e12), repeat=2):
        check(WeightedShare(a, b1, 0.2, b2, 0.8), (1e-9, 0.3, 0.999))


def test_whole_numbers_are_taken_for_floats():
    assert Share(81, 32, 0.5).cdf(0.8) == Share(81.0, 32.0, 0.5).cdf(0.8)
    assert DirichletDifference(3, 2, 0).cdf(0.1) == DirichletDifference(3.0, 2.0, 0.0).cdf(0.1)
