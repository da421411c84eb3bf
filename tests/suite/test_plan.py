"""Plans for a suite: the numbers of tasks, the promised probability, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

import outperform as op
from outperform.errors import UsageError
from verification.suites import intervals

JOINT = np.array([0.55, 0.15, 0.10, 0.20])  # both, only A, only B, neither


def task(n: int, rng: np.random.Generator) -> op.Outcomes:
    counts = rng.multinomial(n, JOINT)
    bits = {"a": np.repeat([1, 1, 0, 0], counts), "b": np.repeat([1, 0, 1, 0], counts)}
    return op.Outcomes.from_correct(bits)


def pilot(n: int = 50_000, n_tasks: int = 4) -> op.Suite:
    rng = np.random.default_rng(1)
    sizes = [n * (1 + place) for place in range(n_tasks)]
    tasks = {f"t{place}": task(size, rng) for place, size in enumerate(sizes)}
    return op.Suite(tasks, metrics="accuracy", ropes=0.01)


@pytest.fixture(scope="module")
def planned():
    return op.plan(
        pilot=pilot(), a="a", b="b", goal="≫", n_simulations=400, n_draws=500, random_state=0
    )


def test_a_pilot_that_knows_all_needs_what_a_z_test_needs(planned):
    # Task t has the share s_t of n items, so the mean of T tasks has variance σ² Σ 1/s_t / T² / n.
    shares = np.arange(1, 5) / 10
    variance = (0.25 - 0.05**2) * (1 / shares).sum() / 16
    right = (ndtri(0.975) + ndtri(0.8)) ** 2 * variance / 0.04**2
    assert abs(np.log(planned.n / right)) < 4 * planned.n_error / planned.n + 0.03


def test_tasks_grow_by_one_factor(planned):
    assert list(planned.tasks) == ["t0", "t1", "t2", "t3"]
    assert planned.tasks["t3"] == pytest.approx(4 * planned.tasks["t0"], abs=3)
    assert sum(planned.tasks.values()) == pytest.approx(planned.n, abs=2)
    assert planned.to_dict()["tasks"] == planned.tasks
    assert "t0 " in str(planned)
    assert "over 4 tasks" in planned.report()


def test_the_promise_is_kept_by_suites_drawn_and_compared_apart(planned):
    rng, reached, repetitions = np.random.default_rng(3), 0, 120
    for number in range(repetitions):
        drawn = {name: task(n, rng) for name, n in planned.tasks.items()}
        suite = op.Suite(drawn, metrics="accuracy", ropes=0.01)
        fixed, _ = intervals(suite, seed=number)  # as op.compare has it
        reached += fixed.low > 0.01
    error = np.sqrt(0.8 * 0.2 / repetitions + planned.error**2)
    assert reached / repetitions == pytest.approx(planned.reached, abs=3 * error)


def test_what_is_refused():
    suite = pilot(n=50)
    with pytest.raises(UsageError, match="metrics="):
        op.plan(pilot=suite, a="a", b="b", metric="accuracy")
    scores = op.Scores.from_values({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.5, 2.0]})
    graded = op.Suite({"notes": scores}, metrics="mean", ropes=0.5)
    with pytest.raises(UsageError, match="score tasks cannot be planned"):
        op.plan(pilot=graded, a="a", b="b")


@pytest.mark.parametrize("target", [0.8, 0.9])
def test_the_headline_has_the_target(target):
    found = op.plan(
        pilot=pilot(200),
        a="a",
        b="b",
        target=target,
        n_simulations=100,
        n_draws=500,
        random_state=0,
    )
    assert f"(target: {target:.0%})" in repr(found)
