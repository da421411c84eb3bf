"""Regret: what a choice between two loses on average."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from outperform.decision.ranks import regret_from_distribution, regret_from_draws
from tests.loops import each


class Normal:
    """A normal difference, whose regret has a closed form."""

    support = (-math.inf, math.inf)

    def __init__(self, mean, sd):
        self.mean, self.sd = mean, sd

    def cdf(self, x):
        return float(ndtr((x - self.mean) / self.sd))

    def sf(self, x):
        return float(ndtr((self.mean - x) / self.sd))

    def loss(self):
        """E[max(0, −δ)] = sd φ(m) − mean Φ(−m), with m = mean / sd."""
        m = self.mean / self.sd
        return self.sd * math.exp(-m * m / 2) / math.sqrt(2 * math.pi) - self.mean * ndtr(-m)


@each("mean", [-3.0, -0.2, 0.0, 0.1, 1.0, 4.0])
@each("sd", [0.01, 1.0, 50.0])
def test_exact_regret_is_that_of_the_normal(mean, sd):
    normal = Normal(mean * sd, sd)
    found = regret_from_distribution(normal)
    assert found.a == pytest.approx(normal.loss(), rel=1e-9)
    assert found.b == pytest.approx(Normal(-mean * sd, sd).loss(), rel=1e-9)
    assert found.b - found.a == pytest.approx(normal.mean, abs=1e-12 * sd)
    assert (found.mcse_a, found.mcse_b) == (0.0, 0.0)


def test_where_less_is_better_the_two_change_places():
    up, down = (
        regret_from_distribution(Normal(0.3, 1), greater_is_better=g) for g in (True, False)
    )
    assert (up.a, up.b) == (down.b, down.a)
    draws = np.array([0.5, -0.1, 0.2, -0.4])
    up, down = (regret_from_draws(draws, greater_is_better=g) for g in (True, False))
    assert (up.a, up.b, up.mcse_a) == (down.b, down.a, down.mcse_b)


def test_draws_agree_within_their_error():
    draws = 0.5 + ndtri((np.arange(20_000) + 0.5) / 20_000)  # evenly through a normal
    found, exact = regret_from_draws(draws), Normal(0.5, 1.0)
    assert found.a == pytest.approx(exact.loss(), abs=found.mcse_a / 10)
    rng = np.random.default_rng(1)
    many = [regret_from_draws(0.5 + rng.normal(size=400)).a for _ in range(400)]
    # The reported error is the spread over seeds, which 400 of them give to 3.5%.
    errors = [regret_from_draws(0.5 + rng.normal(size=400)).mcse_a for _ in range(50)]
    assert np.mean(errors) == pytest.approx(np.std(many), rel=0.15)


def test_a_choice_that_cannot_be_wrong_loses_nothing():
    found = regret_from_draws(np.array([0.1, 0.2, 0.3]))
    assert (found.a, found.b) == (0.0, pytest.approx(0.2))
