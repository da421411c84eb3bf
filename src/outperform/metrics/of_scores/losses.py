"""Metrics that are weighted means of one number a document: log loss, Brier score, grades."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.metrics.of_scores.prepared import Evaluate
from outperform.metrics.of_scores.units import Units

LEAST_PROBABILITY = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class WeightedMean:
    """Σ w · value / Σ w, as two sums over what is weighed.

    Examples
    --------
    >>> WeightedMean(np.array([1.0, 0.0, 4.0]), Units(3)).worker()(np.array([[1.0, 2.0, 1.0]]))
    array([1.25])
    """

    values: FloatArray  # (n_documents,)
    units: Units

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        top = self.units.sums(self.values)
        bottom = self.units.sums(np.ones(len(self.values)))

        def evaluate(weights: FloatArray) -> FloatArray:
            total: FloatArray = np.einsum("ij,j->i", weights, top)
            total /= np.einsum("ij,j->i", weights, bottom)
            return total

        return evaluate


def log_losses(truth: IntArray, probability: FloatArray) -> FloatArray:
    """Return −log of the probability given to what is true, clipped as in scikit-learn.

    Parameters
    ----------
    truth
        The column that is true of each document.
    probability
        ``(n_documents, n_classes)``; a row need not add up to more than rounding to 1.

    Examples
    --------
    >>> log_losses(np.array([1, 0]), np.array([[0.5, 0.5], [1.0, 0.0]])).round(3)
    array([0.693, 0.   ])
    """
    given = probability[np.arange(len(truth)), truth]
    losses: FloatArray = -np.log(np.clip(given, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))
    return losses


def brier_losses(truth: IntArray, probability: FloatArray) -> FloatArray:
    """Return the squared distance from the truth; half of it for two classes.

    Parameters
    ----------
    truth
        The column that is true of each document.
    probability
        ``(n_documents, n_classes)``.

    Examples
    --------
    >>> brier_losses(np.array([1]), np.array([[0.4, 0.6]])).round(3)
    array([0.16])
    """
    wanted = np.zeros_like(probability)
    wanted[np.arange(len(truth)), truth] = 1.0
    squares: FloatArray = np.square(probability - wanted).sum(axis=1)
    return squares / 2 if probability.shape[1] == 2 else squares
