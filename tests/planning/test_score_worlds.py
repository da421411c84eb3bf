"""Plans for scores against test sets that are drawn and compared one by one."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.decision.rope import probability_error
from outperform.errors import UsageError

N = 90
SIMULATED = 250
SIGMAS = 4.0


def pilots():
    rng = np.random.default_rng(5)
    target, two = rng.normal(10, 3, N), rng.integers(0, 2, N)
    return {
        "rmse": (
            op.Scores.from_targets(
                target,
                {"A": target + rng.normal(0, 1, N), "B": target + rng.normal(0, 1.4, N)},
            ),
            0.05,
        ),
        "mean": (op.Scores.from_values({"A": rng.gamma(1, 1.5, N), "B": rng.gamma(1, 1, N)}), 0.1),
        "roc_auc": (
            op.Scores.from_arrays(
                two, {"A": two + rng.normal(0, 0.8, N), "B": two + rng.normal(0, 1.8, N)}
            ),
            0.02,
        ),
        "median": (
            op.Scores.from_values({"A": rng.normal(8, 1, N), "B": rng.normal(7, 1, N)}),
            0.1,
        ),
    }


PILOTS = pilots()


def share_decided(pilot, metric, rope, n, *, more=False):
    """Draw worlds from the posterior of the pilot, items from these, and compare."""
    rng = np.random.default_rng(11)
    decided = 0
    for place in range(SIMULATED):
        rows = rng.choice(N, n, p=rng.dirichlet(np.ones(N)))
        seen = pilot._take(np.concatenate([np.arange(N), rows]) if more else rows)
        found = op.compare(
            seen, "A", "B", metric=metric, rope=rope, n_draws=1_000, random_state=place
        )
        decided += found.decision.decided
    return decided / SIMULATED


def is_met(share, plan):
    """Return whether so many decide as the plan expects if the pilot is taken at face value."""
    error = np.hypot(probability_error(share, SIMULATED), plan.error)
    return abs(share - plan.probability(plan.least)) < SIGMAS * error


@pytest.mark.parametrize(
    "metric",
    ["rmse", "mean", *(pytest.param(one, marks=pytest.mark.slow) for one in ("roc_auc", "median"))],
)
def test_what_a_plan_promises_is_met(metric):
    pilot, rope = PILOTS[metric]
    plan = op.plan(
        pilot=pilot, metric=metric, rope=rope, target=0.7, n_simulations=1_500, random_state=1
    )
    assert plan.reachable
    assert is_met(share_decided(pilot, metric, rope, plan.least), plan)
    # The test would notice a plan that asks for a quarter of the items.
    assert not is_met(share_decided(pilot, metric, rope, max(plan.least // 4, 10)), plan)


def test_what_more_data_promise_is_met():
    rng = np.random.default_rng(3)
    pilot = op.Scores.from_values({"A": rng.normal(7.2, 1, N), "B": rng.normal(7, 1, N)})
    seen = op.compare(pilot, "A", "B", metric="mean", rope=0.1, random_state=1)
    plan = seen.more_data(target=0.6, n_simulations=1_500, random_state=1)
    assert plan.seen == N
    assert is_met(share_decided(pilot, "mean", 0.1, plan.least, more=True), plan)


def test_groups_are_drawn_whole():
    rng = np.random.default_rng(4)
    own, group = rng.normal(0, 2, 60), np.repeat(np.arange(60), 4)
    scores = {name: own[group] + rng.normal(up, 0.3, 240) for name, up in (("A", 0.1), ("B", 0))}
    scores["A"] = scores["A"] + rng.normal(0, 0.6, 60)[group]
    asked = {"metric": "mean", "rope": 0.05, "random_state": 1, "n_simulations": 1_000}
    whole = op.plan(pilot=op.Scores.from_values(scores, groups=group), **asked)
    apart = op.plan(pilot=op.Scores.from_values(scores), **asked)
    assert whole.n > 2 * apart.n  # items of a group say little more than one of them


def test_a_plan_does_not_depend_on_threads_and_knows_its_seed():
    pilot, rope = PILOTS["mean"]
    asked = {"metric": "mean", "rope": rope, "n_simulations": 200, "random_state": 7}
    one, two = (op.plan(pilot=pilot, n_jobs=n_jobs, **asked) for n_jobs in (1, 2))
    assert one.n == two.n
    assert "prior=bootstrap" in one.signature


def test_scores_need_a_metric():
    with pytest.raises(UsageError, match="metric"):
        op.plan(pilot=op.Scores.from_arrays([1, 0], {"A": [0.2, 0.3], "B": [0.1, 0.7]}))
