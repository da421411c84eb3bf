"""How the slices spread over the grid: a mixture learned from all of them."""

from __future__ import annotations

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.pooling.likelihood import KAPPAS

LIKE_WHOLE = len(KAPPAS) - 1

# What is believed of the grid before any slice was seen, in slices: as much on "like the
# whole" as on everything else, so that two slices are neither one nor strangers.
_PRIOR_SLICES = 2.0

_STEPS = 400
_TOLERANCE = 1e-4  # of all slices


def learn_weights(logs: FloatArray) -> FloatArray:
    """Return each slice's posterior over the grid, whose distribution the others teach.

    A slice's prior on the grid is what the other slices expect: their weights and the
    prior's, ``r_sg ∝ (a_g + Σ_{t≠s} r_tg) · L_sg``. So few slices leave the grid uncertain.
    """
    likelihoods: FloatArray = np.exp(logs - logs.max(axis=1, keepdims=True))
    prior = np.full(logs.shape[1], 0.5 * _PRIOR_SLICES / (logs.shape[1] - 1))
    prior[LIKE_WHOLE] = 0.5 * _PRIOR_SLICES
    expected = prior + _learn_totals(likelihoods, prior)
    weights: FloatArray = likelihoods * expected
    weights /= weights.sum(axis=1, keepdims=True)
    for _ in range(_STEPS):
        total = weights.sum(axis=0)
        weights = (prior + total - weights) * likelihoods
        weights /= weights.sum(axis=1, keepdims=True)
        if np.abs(weights.sum(axis=0) - total).max() < _TOLERANCE * len(logs):
            break
    return weights


def _learn_totals(likelihoods: FloatArray, prior: FloatArray) -> FloatArray:
    """Return the slices' weights added up, by expectation maximisation: a start for the above."""
    total = np.zeros_like(prior)
    for _ in range(_STEPS):
        expected = prior + total
        updated = expected * ((1.0 / (likelihoods @ expected)) @ likelihoods)
        moved = np.abs(updated - total).max()
        total = updated
        if moved < _TOLERANCE * len(likelihoods):
            break
    return total


def log_evidence(logs: FloatArray, weights: FloatArray) -> float:
    """Return the log probability of all slices, each predicted by the others."""
    highest = logs.max(axis=1)
    predicted = np.exp(logs - highest[:, None]) @ weights.mean(axis=0)
    return float((highest + np.log(predicted)).sum())
