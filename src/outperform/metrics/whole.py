"""Scores of the whole table, from its diagonal and its margins alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from outperform._typing import FloatArray
from outperform.metrics.averages import Rows
from outperform.metrics.margins import Margins, others
from outperform.metrics.scores import ratio, recall

# Below this share of differing pairs, 1 − Σ share² has lost two digits to
# cancellation, and the slower sums without a difference take over.
_UNEVEN = 1e-2


def accuracy(margins: Margins) -> FloatArray:
    """Return the share of the weight that lies on the diagonal."""
    return ratio(_sum(margins.hits), margins.total)


def balanced_accuracy(margins: Margins, rows: Rows = slice(None)) -> FloatArray:
    """Return the mean recall of the classes that occur in the truth, or of those chosen."""
    hits, actual = margins.hits[rows], margins.actual[rows]
    occurring = np.count_nonzero(actual, axis=0)
    return ratio(_sum(recall(hits, actual)), np.asarray(occurring, np.float64))


def matthews_corrcoef(margins: Margins) -> FloatArray:
    """Return the correlation of truth and prediction; 0 where either is constant.

    In shares of the total it is (Σ hits − Σ actual·predicted) /
    sqrt((1 − Σ actual²)(1 − Σ predicted²)).
    """
    total = margins.total
    actual, predicted = ratio(margins.actual, total), ratio(margins.predicted, total)
    spread_actual = 1.0 - _dot(actual, actual)
    spread_predicted = 1.0 - _dot(predicted, predicted)
    if np.any(np.minimum(spread_actual, spread_predicted) < _UNEVEN):
        return _matthews_of_uneven(margins)
    covariance = accuracy(margins) - _dot(actual, predicted)
    return ratio(covariance, np.sqrt(spread_actual * spread_predicted))


def cohen_kappa(margins: Margins) -> FloatArray:
    """Return 1 − disagreement / disagreement by chance; NaN where chance has none.

    Chance cannot disagree where truth and prediction are one and the same
    class throughout; scikit-learn answers NaN there, and so does this.
    """
    total = margins.total
    actual = ratio(margins.actual, total)
    by_chance = total - _dot(actual, margins.predicted)
    if np.any(by_chance <= _UNEVEN * total):
        by_chance = _dot(actual, others(margins.predicted))
    wrong = _sum(margins.missed)
    unknown = np.full_like(by_chance, np.nan)
    return np.asarray(1.0 - np.divide(wrong, by_chance, out=unknown, where=by_chance != 0.0))


def _matthews_of_uneven(margins: Margins) -> FloatArray:
    """Return the same number from Σ (tp·tn − fp·fn), each class against the rest.

    Only tn is a difference, and taken from the smaller of the two sums that
    contain it its error is at most a rounding of the denominator: the result
    is right to a few units in the last place however uneven the classes are.
    """
    total = _sum(margins.hits) + _sum(margins.missed)
    tp, fn, fp = (ratio(x, total) for x in (margins.hits, margins.missed, margins.spurious))
    actual, predicted = tp + fn, tp + fp
    not_actual, not_predicted = others(actual), others(predicted)
    tn = np.where(not_actual <= not_predicted, not_actual - fp, not_predicted - fn)
    spread = np.sqrt(_dot(actual, not_actual)) * np.sqrt(_dot(predicted, not_predicted))
    covariance = np.where(spread == 0.0, 0.0, _dot(tp, tn) - _dot(fp, fn))
    return ratio(covariance, spread)


def _sum(weights: FloatArray) -> FloatArray:
    return np.asarray(weights.sum(axis=0))


def _dot(left: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("i...,i...->...", left, right))


WHOLE_SCORES: dict[str, Callable[[Margins], FloatArray]] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "matthews_corrcoef": matthews_corrcoef,
    "cohen_kappa": cohen_kappa,
}
