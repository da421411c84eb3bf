"""The study of judges: PPI++ by its formula, and intervals that hold or do not."""

from __future__ import annotations

import numpy as np
import pytest

from verification import judges


def test_ppi_is_least_in_its_weight():
    """The tuned weight has the least variance of all weights, by brute force."""
    items = judges.draw_items("fair", "accuracy", 2_000, np.random.default_rng(0))
    n, (a, b), (ja, jb) = 300, items.models, items.judged
    low, high = judges.ppi(items, n)
    gold, near, far = (a - b)[:n], (ja - jb)[:n], (ja - jb)[n:]
    weights = np.linspace(0, 1, 1_001)
    variances = [far.var() * w**2 / len(far) + (gold - w * near).var() / n for w in weights]
    best = int(np.argmin(variances))
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(variances[best]), rel=1e-3)
    mean = weights[best] * far.mean() + (gold - weights[best] * near).mean()
    assert (low + high) / 2 == pytest.approx(mean, abs=0.002)


def test_a_world_that_does_not_hold_is_named():
    world = judges.WORLDS[1]
    held = judges.Held(covered=(1.0,) * 4, width=(0.1, 0.2, 0.1, 0.1))
    missed = judges.Held(covered=(0.0,) * 4, width=(0.1, 0.2, 0.1, 0.1))
    assert judges.failures({world: [held] * 95 + [missed] * 5}) == []
    assert "80.0% covered" in judges.failures({world: [held] * 80 + [missed] * 20})[0]
    assert "| 400 | yes |" in judges.table({world: [held]})


@pytest.mark.parametrize(
    "place", [1, *(pytest.param(place, marks=pytest.mark.slow) for place in (19, 34, 49))]
)
def test_a_few_repetitions(place):
    found = judges.repeat(judges.WORLDS[place], 0, 10)
    assert sum(one.covered[0] for one in found) >= 7


def test_a_judge_lenient_to_one_model_alone_never_holds_the_truth():
    lenient = judges.repeat(judges.WORLDS[5], 0, 10)
    assert sum(one.covered[2] for one in lenient) == 0


@pytest.mark.parametrize(
    ("task", "kind", "n", "low", "high"),
    [
        ("accuracy", "fair", 100, 0.01522, 0.15310),
        ("accuracy", "lenient to A", 300, 0.02230, 0.10475),
        ("mean grade", "likes length", 50, 0.00117, 0.51508),
        ("mean grade", "near random", 300, 0.06296, 0.38090),
    ],
)
def test_ppi_is_that_of_its_authors(task, kind, n, low, high):
    """What ``ppi_mean_ci`` of ppi-python 0.2.3 says of the same items."""
    place = [("accuracy", 100), ("accuracy", 300), ("mean grade", 50), ("mean grade", 300)]
    rng = np.random.default_rng([1, place.index((task, n))])
    ends = judges.ppi(judges.draw_items(kind, task, 2_000, rng), n)
    assert ends == pytest.approx((low, high), abs=5e-5)
