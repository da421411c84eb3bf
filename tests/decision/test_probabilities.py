"""Masses of draws and of closed forms, and the errors of what is counted."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import Rope
from outperform.decision.rope import (
    masses_from_distribution,
    masses_from_draws,
    mean_error,
    probability_error,
    sd_error,
)
from tests.lazily import lazily
from tests.loops import each

norm = lazily("scipy.stats.norm")

ROPE = Rope.from_param(0.01)


class Normal:
    """A closed form of the simplest kind."""

    support = (-np.inf, np.inf)

    def __init__(self, mean, sd):
        self.mean, self.sd = mean, sd

    def cdf(self, value):
        return float(norm.cdf(value, self.mean, self.sd))

    def sf(self, value):
        return float(norm.sf(value, self.mean, self.sd))


def test_draws_on_the_edges_are_inside_and_zeros_count_half():
    ordered = np.array([-0.02, -0.01, 0.0, 0.0, 0.01, 0.0100001])
    found = masses_from_draws(ordered, ROPE)
    assert (found.below, found.inside, found.above) == (1 / 6, 4 / 6, 1 / 6)
    assert found.greater == (2 + 1) / 6


def test_masses_of_draws_sum_to_one_whatever_the_rope():
    ordered = np.sort(np.random.default_rng(1).normal(scale=0.02, size=997))
    for rope in (0, 0.01, 1, (-0.5, -0.4), (0.001, 0.0011)):
        found = masses_from_draws(ordered, Rope.from_param(rope, bounds=None))
        assert found.below + found.inside + found.above == pytest.approx(1, abs=1e-12)


@each("mean", [-0.3, -0.02, 0.0, 0.004, 0.02, 0.3])
def test_masses_of_a_closed_form_keep_their_digits_in_either_tail(mean):
    exact = Normal(mean, 0.01)
    found = masses_from_distribution(exact, ROPE)
    assert found.below + found.inside + found.above == pytest.approx(1, abs=1e-12)
    far = abs(mean)
    tail = norm.sf((far - 0.01) / 0.01) - norm.sf((far + 0.01) / 0.01)
    assert found.inside == pytest.approx(tail, rel=1e-9)
    assert found.greater == pytest.approx(norm.cdf(mean / 0.01), rel=1e-12)


def test_errors_of_means_and_probabilities_are_honest():
    rng = np.random.default_rng(3)
    draws = rng.gamma(2.0, size=(2_000, 400))
    reported = np.mean([mean_error(float(row.std(ddof=1)), row.size) for row in draws])
    assert draws.mean(axis=1).std() / reported == pytest.approx(1.0, abs=0.07)
    reported = np.mean([sd_error(row) for row in draws])
    assert draws.std(axis=1).std() / reported == pytest.approx(1.0, abs=0.07)
    counts = (draws < 1.0).mean(axis=1)
    reported = np.mean([probability_error(float(p), 400) for p in counts])
    assert counts.std() / reported == pytest.approx(1.0, abs=0.07)


def test_no_draw_at_all_is_not_certain():
    assert 0 < probability_error(0.0, 1_000) < 3 / 1_000
    assert probability_error(0.0, 1_000) == pytest.approx(probability_error(1.0, 1_000))
