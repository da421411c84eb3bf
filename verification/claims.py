"""Are reported probabilities kept? What is claimed with 70% must happen in 70% of cases."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from outperform import Rope
from outperform._typing import FloatArray
from outperform.decision import masses_from_draws

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


def judge_claims(claimed: FloatArray, happened: FloatArray) -> dict[str, float]:
    """Test whether claims are right on the whole, and not too bold or too timid."""
    variance = np.maximum(claimed * (1 - claimed), _LEAST)
    miss, boldness = happened - claimed, claimed - 0.5
    level = miss.sum() / np.sqrt(variance.sum())
    slope = (miss * boldness).sum() / np.sqrt((boldness**2 * variance).sum())
    return {"level": float(2 * norm.sf(abs(level))), "slope": float(2 * norm.sf(abs(slope)))}
