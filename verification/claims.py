"""Are reported probabilities kept? What is claimed with 70% must happen in 70% of cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.stats import norm

from outperform import Rope
from outperform._typing import FloatArray, IntArray
from outperform.decision.ranks import rank_probabilities
from outperform.decision.rope import masses_from_draws
from verification.worlds import NAMES

RankClaim = Callable[[FloatArray], FloatArray]
"""From draws ``(n_models, n_draws)`` to P(model has rank r), ``(n_models, n_models)``."""

ROPE = Rope.from_param(0.05)

# A probability from 1,023 draws can claim no more certainty than this.
_LEAST = 1 / 1024


def claims(values: FloatArray) -> dict[str, FloatArray]:
    """Return claimed probability and whether it happened, ``(2, n_simulations)`` each.

    ``values`` has shape ``(n_simulations, 1 + n_draws)``, the truth first.
    """
    masses = [masses_from_draws(np.sort(draws), ROPE) for draws in values[:, 1:]]
    truth = values[:, 0]
    inside = (truth >= ROPE.low) & (truth <= ROPE.high)
    greater = (truth > 0) + 0.5 * (truth == 0)
    return {
        "P(d > 0)": np.stack([[mass.greater for mass in masses], greater]),
        "P(ROPE)": np.stack([[mass.inside for mass in masses], inside]),
    }


def models_of(values: Mapping[str, FloatArray], metric: str) -> FloatArray:
    """Return one metric of all models, ``(n_simulations, n_models, 1 + n_draws)``."""
    found = [values[f"{metric} {name}"] for name in NAMES if f"{metric} {name}" in values]
    return np.stack(found, axis=1)


def rank_claims(values: FloatArray, claim: RankClaim) -> dict[str, FloatArray]:
    """Return claimed probabilities of ranks and whether they came true, as in :func:`claims`.

    ``values`` has shape ``(n_simulations, n_models, 1 + n_draws)``, the truth first. The leader
    is the model with the greatest mean, which is the one that a ranking names first.
    """
    claimed = np.stack([claim(one[:, 1:]) for one in values])
    true = np.stack([rank_probabilities(one[:, :1]) for one in values])
    every, leader = np.arange(len(values)), values[:, :, 1:].mean(axis=2).argmax(axis=1)
    found = {
        f"P(rank {place + 1} of A)": np.stack([claimed[:, 0, place], true[:, 0, place]])
        for place in range(values.shape[1])
    }
    found["P(best) of the leader"] = np.stack([claimed[every, leader, 0], true[every, leader, 0]])
    return found


def joint_claims(values: FloatArray, counts: Sequence[Sequence[IntArray]]) -> dict[str, FloatArray]:
    """Return how probable it is that A and B are off to the side that the data suggest.

    Both accuracies are held against those seen. Where the items that A gets right are
    mostly those that B gets right, both should be off to the same side, else to opposite ones;
    weights that are not shared know neither. ``values`` is as in :func:`rank_claims`.
    """
    sides = []
    for one, (table,) in zip(values, counts, strict=True):
        seen = np.nonzero(table)
        times = table[seen]
        a, b = (seen[0] == seen[model] for model in (1, 2))
        means = (times @ a / times.sum(), times @ b / times.sum())
        with_each_other = times @ ((a - means[0]) * (b - means[1]))
        off = (one[0] - means[0]) * (one[1] - means[1])
        sides.append((off if with_each_other >= 0 else -off) > 0)
    found = np.array(sides)
    return {"P(A and B off as seen)": np.stack([found[:, 1:].mean(axis=1), found[:, 0]])}


def judge_claims(claimed: FloatArray, happened: FloatArray) -> dict[str, float]:
    """Test whether claims are right on the whole, and not too bold or too timid."""
    variance = np.maximum(claimed * (1 - claimed), _LEAST)
    miss, boldness = happened - claimed, claimed - 0.5
    level = miss.sum() / np.sqrt(variance.sum())
    slope = (miss * boldness).sum() / np.sqrt((boldness**2 * variance).sum())
    return {"level": float(2 * norm.sf(abs(level))), "slope": float(2 * norm.sf(abs(slope)))}
