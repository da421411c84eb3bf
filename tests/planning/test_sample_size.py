"""The search: worlds whose curve is known, so that the right answer is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from outperform import metrics
from outperform.decision.rope import Rope
from outperform.errors import UsageError
from outperform.planning.goals import Outlook, firm_goal
from outperform.planning.sample_size import Point, Search, check_max_items, check_target, fit
from tests.loops import each

ROPE = Rope.from_param(0.01)
Z = float(ndtri(0.975))


class NormalWorld:
    """Estimates are normal with a known sd; what theory believes of it may be wrong."""

    metric, names, findings, n_draws, prob = metrics.get("accuracy"), ("A", "B"), (), 0, 0.95

    def __init__(self, mean, sd, *, believed=None):
        self.mean, self.sd = mean, sd
        self.believed = believed or (mean, sd)
        self.simulated = 0

    def outlook(self, seed):
        mean, sd = self.believed
        return Outlook(n=1, mean=mean, sd=sd, below=Z * sd, above=Z * sd, items="certain")

    def simulate(self, size, n_simulations, seed, *, n_jobs):
        self.simulated += n_simulations
        generator = np.random.default_rng(seed)
        centre = generator.normal(self.mean, self.sd / np.sqrt(size), n_simulations)
        return centre + np.array([[-1], [1]]) * Z * self.sd / np.sqrt(size)

    def parts(self):
        return []


def search(goal="≫", **changes):
    settings = {"target": 0.8, "max_items": 10**6, "n_simulations": 4_000, "n_jobs": 1} | changes
    return Search(goal=firm_goal(goal, ROPE, greater_is_better=True), **settings)


def size_of(mean, sd, target=0.8):
    return (Z + ndtri(target)) ** 2 * sd**2 / (mean - 0.01) ** 2


@each("believed", [None, (0.05, 0.6), (0.03, 0.3), (0.02, 0.2)])
@each("target", [0.5, 0.8, 0.95])
def test_the_size_is_found_within_its_error_even_where_theory_is_wrong(believed, target):
    world, asked = NormalWorld(0.04, 0.4, believed=believed), search(target=target)
    curve, _ = asked.run(world, np.random.SeedSequence(3))
    n, right = asked.size(curve), size_of(0.04, 0.4, target)
    error = curve.relative_error(n)
    assert error < 0.035
    assert abs(np.log(n / right)) < 4 * error
    assert world.simulated <= 4_000 * 1.2


@each("believed", [0.004, 0.04, 4.0, 40.0])
@each("goal", ["≫", "≈"])
def test_theory_that_is_grossly_wrong_is_moved(goal, believed):
    # An sd that is a hundred times too small promises the goal at a ten-thousandth of n.
    mean = 0.04 if goal == "≫" else 0.0
    world, asked = NormalWorld(mean, 0.4, believed=(mean, believed)), search(goal)
    curve, _ = asked.run(world, np.random.SeedSequence(5))
    n = asked.size(curve)
    right = size_of(0.04, 0.4) if goal == "≫" else ((Z + ndtri(0.9)) * 0.4 / 0.01) ** 2
    assert abs(np.log(n / right)) < 4 * curve.relative_error(n) + 0.01
    assert curve.relative_error(n) < 0.05


def test_errors_are_those_of_repeated_searches():
    right, found, errors = size_of(0.04, 0.4), [], []
    for seed in range(60):
        asked = search(n_simulations=600)
        curve, _ = asked.run(NormalWorld(0.04, 0.4), np.random.SeedSequence(seed))
        found.append(np.log(asked.size(curve) / right))
        errors.append(curve.relative_error(asked.size(curve)))
    spread, said = float(np.std(found)), float(np.mean(errors))
    assert abs(np.mean(found)) < 4 * spread / np.sqrt(60)
    assert 0.7 < spread / said < 1.35  # the sd of 60 has an error of 9%


def test_a_precise_answer_ends_the_search():
    easy = NormalWorld(0.04, 0.4)
    search(n_simulations=100_000).run(easy, np.random.SeedSequence(0))
    assert easy.simulated < 40_000


def test_what_cannot_be_reached_is_not():
    asked = search(n_simulations=1_000)
    curve, _ = asked.run(NormalWorld(0.005, 0.4), np.random.SeedSequence(1))
    assert asked.size(curve) is None
    assert curve.at([10, 10**6]).max() < 0.06
    equal = search("≈", n_simulations=2_000)
    curve, _ = equal.run(NormalWorld(0.0, 0.4), np.random.SeedSequence(1))
    # Two-sided: the middle stays within the ROPE less the reach.
    right = ((Z + ndtri(0.9)) * 0.4 / 0.01) ** 2
    n = equal.size(curve)
    assert abs(np.log(n / right)) < 4 * curve.relative_error(n) + 0.01


def test_widths_correct_theory():
    world = NormalWorld(0.04, 0.4, believed=(0.04, 0.5))
    asked = search(n_simulations=1_000)
    curve, _ = asked.run(world, np.random.SeedSequence(2))
    assert float(curve.width(100)) == pytest.approx(2 * Z * 0.4 / 10, rel=1e-6)


def test_the_fit_is_theory_where_nothing_says_otherwise():
    world = NormalWorld(0.04, 0.4)
    outlook, goal = world.outlook(None), search().goal
    n = round(size_of(0.04, 0.4))
    share = float(outlook.probability(goal, n))
    points = [Point(n=n, simulated=10_000, reached=round(10_000 * share), width=0.1)]
    curve = fit(outlook, goal, 0.8, points)
    assert abs(curve.shift) < 0.005
    assert abs(curve.tilt) < 0.01


@each("target", [0, 1, 80, "high", None])
def test_a_target_is_a_probability(target):
    with pytest.raises(UsageError, match="target must lie"):
        check_target(target)


@pytest.mark.parametrize("number", [1, 10.5, 10**12, "many"])
def test_the_largest_test_set_is_a_number_of_items(number):
    with pytest.raises(UsageError, match="max_items must be"):
        check_max_items(number)
