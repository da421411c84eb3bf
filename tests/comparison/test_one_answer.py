"""One model has one posterior, whichever verb asks and whatever stands beside it."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op

N_DRAWS = 4_000
SIZES = {2: 200, 3: 60, 5: 150, 20: 200, 50: 500}


def make(seed):
    """Return a truth, a model, one that is nearly the same, a worse one, and one that invents."""
    rng = np.random.default_rng(seed)
    n_classes = list(SIZES)[seed % len(SIZES)]
    n = SIZES[n_classes]
    shares = rng.dirichlet(np.full(n_classes, rng.choice([0.5, 2.0, 50.0])))
    truth = np.append(rng.choice(n_classes, n - 2, p=shares), [0, 1])

    def noisy(right):
        return np.where(rng.random(n) < right, truth, rng.integers(0, n_classes, n))

    a = noisy(rng.choice([0.3, 0.7, 0.97]))
    near = np.where(rng.random(n) < 0.97, a, truth)
    inventing = np.where(rng.random(n) < 0.1, n_classes + rng.integers(0, 9, n), noisy(0.6))
    return truth, a, near, noisy(0.5), inventing


# The first 15 have every number of classes with every metric.
@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 30))]
)
def test_every_verb_says_the_same_of_a_model(seed):
    truth, a, near, worse, inventing = make(seed)
    metric = ("accuracy", "f1_macro", "balanced_accuracy")[seed % 3]
    asked = {"metric": metric, "n_draws": N_DRAWS, "random_state": seed}
    alone = op.estimate(truth, a, **asked)
    asked["rope"] = 0.01
    beside = {
        "near": op.compare(truth, a, near, **asked).a,
        "worse": op.compare(truth, worse, a, **asked).b,
        "inventing": op.compare(truth, a, inventing, **asked).a,
        "rank": op.rank(truth, {"A": a, "B": near, "C": worse}, **asked)["A"].raw,
        "scorecard": op.scorecard(truth, a, worse, metrics=[metric], **without(asked, "metric"))[
            metric
        ].a,
    }
    # 0.1 of a posterior sd, and what chance does to the means and sds of as many draws.
    error = 4 * np.sqrt(2 / N_DRAWS)
    for name, one in beside.items():
        assert abs(one.mean - alone.mean) < (0.1 + error) * alone.sd, name
        assert one.sd == pytest.approx(alone.sd, rel=0.1 + error), name


def without(asked, name):
    return {key: value for key, value in asked.items() if key != name}
