"""DeLong's standard error of a difference of two ROC AUCs, from midranks."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from outperform._typing import AnyArray, FloatArray


def delong(positive: AnyArray, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the AUC of each of some models and their covariance matrix.

    A positive's placement is the share of negatives below it, ties counting half, and a
    negative's is the share of positives above it; AUC is the mean of either kind, and its
    covariance is the sum of the two sample covariances of placements, each divided by
    the number of items of its kind.

    Parameters
    ----------
    positive
        Which items are positive.
    scores
        ``(n_models, n_items)``.
    """
    n_up, n_down = int(positive.sum()), int((~positive).sum())
    up, down = [], []
    for score in scores:
        among_all = rankdata(score)
        up.append((among_all[positive] - rankdata(score[positive])) / n_down)
        down.append(1 - (among_all[~positive] - rankdata(score[~positive])) / n_up)
    covariance = np.cov(up) / n_up + np.cov(down) / n_down
    return np.mean(up, axis=1), np.atleast_2d(covariance)
