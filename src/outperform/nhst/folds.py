"""Tests on differences from cross-validation, one difference per fold."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtrc

from outperform._typing import FloatArray
from outperform.errors import DataError, UsageError
from outperform.nhst.items import TestResult, as_finite, as_scores, ratio, two_sided_t


def t_5x2(differences: ArrayLike) -> TestResult:
    r"""Run Dietterich's t-test on five repetitions of two-fold cross-validation.

    With :math:`d_{ij}` the differences A − B and
    :math:`s_i^2 = (d_{i1} - d_{i2})^2 / 2`,

    .. math:: t = \frac{d_{11}}{\sqrt{\tfrac{1}{5} \sum_i s_i^2}},

    with five degrees of freedom. The numerator is the difference of a single fold,
    so the result depends on the order of the folds; `f_5x2` does not.

    Parameters
    ----------
    differences
        Score of A minus score of B, shape (5, 2): one row per repetition.

    Returns
    -------
    result
        If the variance is 0 in every repetition, p is 1 for a zero numerator and 0 otherwise.

    References
    ----------
    Dietterich. Approximate Statistical Tests for Comparing Supervised
    Classification Learning Algorithms. Neural Computation 10(7), 1998.

    Examples
    --------
    >>> result = t_5x2([[3, 1], [2, 2], [1, 3], [2, 0], [4, 2]])
    >>> round(result.statistic, 4), round(result.p_value, 4)
    (2.3717, 0.0638)
    """
    d = _five_by_two(differences)
    statistic = ratio(float(d[0, 0]), math.sqrt(_variances(d).mean()))
    return TestResult(
        name="5×2 cross-validated t-test",
        statistic=statistic,
        p_value=two_sided_t(statistic, 5),
        n=d.size,
        degrees_of_freedom=(5.0,),
    )


def f_5x2(differences: ArrayLike) -> TestResult:
    r"""Run Alpaydın's F-test on five repetitions of two-fold cross-validation.

    With :math:`d_{ij}` the differences A − B and
    :math:`s_i^2 = (d_{i1} - d_{i2})^2 / 2`,

    .. math:: f = \frac{\sum_{ij} d_{ij}^2}{2 \sum_i s_i^2},

    with 10 and 5 degrees of freedom.

    Parameters
    ----------
    differences
        Score of A minus score of B, shape (5, 2): one row per repetition.

    Returns
    -------
    result
        If the variance is 0 in every repetition, p is 1 if all differences are zero, otherwise 0.

    References
    ----------
    Alpaydın. Combined 5×2 cv F Test for Comparing Supervised Classification
    Learning Algorithms. Neural Computation 11(8), 1999.

    Examples
    --------
    >>> result = f_5x2([[3, 1], [2, 2], [1, 3], [2, 0], [4, 2]])
    >>> result.statistic, round(result.p_value, 4)
    (3.25, 0.1027)
    """
    d = _five_by_two(differences)
    statistic = ratio(float((d**2).sum()), 2.0 * float(_variances(d).sum()))
    return TestResult(
        name="5×2 cross-validated F-test",
        statistic=statistic,
        p_value=0.0 if math.isinf(statistic) else float(fdtrc(10, 5, statistic)),
        n=d.size,
        degrees_of_freedom=(10.0, 5.0),
    )


def corrected_resampled_t(differences: ArrayLike, n_train: float, n_test: float) -> TestResult:
    r"""Run Nadeau and Bengio's t-test for folds whose training sets overlap.

    With :math:`d` the differences A − B on :math:`J` folds and :math:`s_d^2` their
    variance,

    .. math:: t = \frac{\bar d}{\sqrt{(1/J + n_{\mathrm{test}}/n_{\mathrm{train}})\, s_d^2}},

    with :math:`J - 1` degrees of freedom.

    Parameters
    ----------
    differences
        Score of A minus score of B, one value per fold, with all repetitions in one array.
    n_train
        Average number of training items per fold.
    n_test
        Average number of test items per fold.

    Returns
    -------
    result
        If all differences are equal, p is 1 if they are zero and 0 otherwise.

    References
    ----------
    Nadeau, Bengio. Inference for the Generalization Error. Machine Learning
    52, 2003.

    Examples
    --------
    >>> result = corrected_resampled_t([1, 2, 3, 2], n_train=300, n_test=100)
    >>> round(result.statistic, 4), round(result.p_value, 4)
    (3.2071, 0.0491)
    """
    d = as_scores(differences, "differences")
    if d.size < 2:
        raise DataError(f"the corrected resampled t-test needs at least two folds, got {d.size}")
    for name, size in (("n_train", n_train), ("n_test", n_test)):
        if not 0 < size < math.inf:
            raise UsageError(f"{name} must be a positive number of items, got {size!r}")
    variance = float(d.var(ddof=1)) if np.ptp(d) else 0.0
    statistic = ratio(float(d.mean()), math.sqrt((1 / d.size + n_test / n_train) * variance))
    return TestResult(
        name="corrected resampled t-test",
        statistic=statistic,
        p_value=two_sided_t(statistic, d.size - 1),
        n=d.size,
        degrees_of_freedom=(float(d.size - 1),),
    )


def _five_by_two(differences: ArrayLike) -> FloatArray:
    d = as_finite(differences, "differences")
    if d.shape != (5, 2):
        raise DataError(
            f"differences must have shape (5, 2), one row per repetition, got {d.shape}; "
            "for other schemes use corrected_resampled_t"
        )
    return d


def _variances(d: FloatArray) -> FloatArray:
    squares: FloatArray = (d[:, 0] - d[:, 1]) ** 2 / 2
    return squares
