"""Scores of single classes, with scikit-learn's rule that 0/0 is 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from outperform._typing import FloatArray

Sums: TypeAlias = Literal["hits", "actual", "predicted", "missed", "spurious", "negatives"]


def precision(hits: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return tp / (tp + fp) of each class; 0 where nothing was predicted."""
    return ratio(hits, predicted)


def recall(hits: FloatArray, actual: FloatArray) -> FloatArray:
    """Return tp / (tp + fn) of each class; 0 where there is nothing to find."""
    return ratio(hits, actual)


def specificity(spurious: FloatArray, negatives: FloatArray) -> FloatArray:
    """Return tn / (tn + fp) of each class; 0 where there is no other class."""
    return ratio(negatives - spurious, negatives)


def fbeta(
    hits: FloatArray, actual: FloatArray, predicted: FloatArray, *, beta: float
) -> FloatArray:
    """Return (1+β²) tp / ((1+β²) tp + β² fn + fp) of each class; 0 for 0/0."""
    if beta == 1.0:
        bottom = actual + predicted
        bottom *= 0.5
    else:
        bottom = actual * miss_weight(beta)
        bottom += predicted * miss_weight(1.0 / beta)
    return ratio(hits, bottom)


def miss_weight(beta: float) -> float:
    """Return β²/(1+β²), the weight of a miss where a false alarm has 1/(1+β²).

    Examples
    --------
    >>> miss_weight(2.0)
    0.8
    """
    inverse = 1.0 / beta
    return 1.0 / (1.0 + inverse * inverse)


def jaccard(hits: FloatArray, actual: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return tp / (tp + fp + fn) of each class; 0 for 0/0."""
    bottom = actual + predicted
    bottom -= hits
    return ratio(hits, bottom)


def informedness(
    hits: FloatArray, actual: FloatArray, spurious: FloatArray, negatives: FloatArray
) -> FloatArray:
    """Return recall + specificity − 1 of each class; 0 where either is 0/0."""
    value = ratio(hits, actual)
    value -= ratio(spurious, negatives)
    undefined = (actual == 0.0) | (negatives == 0.0)
    return np.where(undefined, 0.0, value) if undefined.any() else value


def hamming_loss(missed: FloatArray, spurious: FloatArray, *, n_labels: int) -> FloatArray:
    """Return the share of the labels that are wrong: missed, or there without reason."""
    return np.asarray((missed + spurious) / n_labels)


def ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Divide, with 0 for 0/0; the top must be 0 where the bottom is.

    Examples
    --------
    >>> ratio(np.array([0.0, 1.0]), np.array([0.0, 4.0]))
    array([0.  , 0.25])
    """
    empty = bottom == 0.0
    if empty.any():
        bottom = np.where(empty, 1.0, bottom)
    return top / bottom


@dataclass(frozen=True, slots=True)
class ClassScore:
    """A function and the sums that it takes, in the order of its arguments."""

    function: Callable[..., FloatArray]
    sums: tuple[Sums, ...]


CLASS_SCORES: dict[str, ClassScore] = {
    "precision": ClassScore(precision, ("hits", "predicted")),
    "recall": ClassScore(recall, ("hits", "actual")),
    "specificity": ClassScore(specificity, ("spurious", "negatives")),
    "fbeta": ClassScore(fbeta, ("hits", "actual", "predicted")),
    "jaccard": ClassScore(jaccard, ("hits", "actual", "predicted")),
    "informedness": ClassScore(informedness, ("hits", "actual", "spurious", "negatives")),
}

SET_SCORES: dict[str, ClassScore] = {
    **{name: CLASS_SCORES[name] for name in ("precision", "recall", "fbeta", "jaccard")},
    "hamming_loss": ClassScore(hamming_loss, ("missed", "spurious")),
}
"""Scores of a document's set of labels, by how many labels it has and is given."""
