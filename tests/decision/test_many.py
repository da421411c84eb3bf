"""Many posteriors at once give what one at a time gives."""

from __future__ import annotations

import numpy as np
import pytest

from outperform.decision.hdi import narrowest, narrowest_rows
from outperform.decision.ranks import masses_rows
from outperform.decision.rope import Rope, masses_from_draws


def rows(n_draws=4_000):
    generator = np.random.default_rng(12)
    draws = np.stack(
        [
            generator.normal(0.0, 0.01, n_draws),
            generator.gamma(2.0, 0.02, n_draws) - 0.02,
            np.where(generator.random(n_draws) < 0.04, 0.0, generator.normal(-0.1, 0.02, n_draws)),
            np.zeros(n_draws),
        ]
    )
    return np.sort(draws, axis=1)


@pytest.mark.parametrize("prob", [0.5, 0.95])
def test_intervals_are_those_of_single_posteriors(prob):
    # So few draws that the fit of the single interval would have too few positions, or none.
    ordered = rows(500 if prob == 0.5 else 4_000)
    ends = narrowest_rows(ordered, prob)
    for place, row in enumerate(ordered):
        one, many = narrowest(row, prob), ends.interval(place, prob)
        for name in ("low", "high", "mcse_low", "mcse_high"):
            assert getattr(many, name) == pytest.approx(getattr(one, name), abs=1e-15)


@pytest.mark.parametrize("rope", [0.01, (-0.03, 0.0), 0.0])
def test_masses_are_those_of_single_posteriors(rope):
    ordered, region = rows(), Rope.from_param(rope)
    masses = masses_rows(ordered, region)
    for place, row in enumerate(ordered):
        one = masses_from_draws(row, region)
        for name in ("below", "inside", "above", "greater"):
            assert getattr(masses, name)[place] == pytest.approx(getattr(one, name), abs=1e-15)
