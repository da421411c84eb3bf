"""Tests on the scores of classes: one pair of numbers per class (macro level)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import FloatArray
from outperform.errors import DataError
from outperform.nhst._input import as_scores
from outperform.nhst._tails import ratio, two_sided_fair_coin, two_sided_t
from outperform.nhst.result import TestResult


def sign_test_over_classes(scores_a: ArrayLike, scores_b: ArrayLike) -> TestResult:
    """Sign test on the classes that A wins and those that B wins (S-test).

    Parameters
    ----------
    scores_a
        A's score, such as F1, in each class.
    scores_b
        B's score in the same classes, in the same order.

    Returns
    -------
    result
        Ties are dropped; where nothing else is left, p is 1.

    References
    ----------
    Yang, Liu. A Re-examination of Text Categorization Methods. SIGIR 1999.

    Examples
    --------
    >>> sign_test_over_classes([0.9, 0.8, 0.7, 0.6], [0.8, 0.6, 0.5, 0.6]).p_value
    0.25
    """
    differences = _differences(scores_a, scores_b)
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    return TestResult(
        name="sign test over classes",
        statistic=float(wins),
        p_value=two_sided_fair_coin(wins, losses),
        n=wins + losses,
    )


def paired_t_over_classes(scores_a: ArrayLike, scores_b: ArrayLike) -> TestResult:
    r"""Paired t-test on the scores of the classes (T-test).

    With :math:`d` the differences A − B in :math:`M` classes and :math:`s_d` their
    standard deviation, :math:`t = \bar d \sqrt M / s_d` with :math:`M - 1` degrees
    of freedom.

    Parameters
    ----------
    scores_a
        A's score, such as F1, in each class.
    scores_b
        B's score in the same classes, in the same order.

    Returns
    -------
    result
        If all differences are the same number, p is 1 for zero and 0 otherwise.

    References
    ----------
    Yang, Liu. A Re-examination of Text Categorization Methods. SIGIR 1999.

    Examples
    --------
    >>> round(paired_t_over_classes([0.9, 0.8, 0.7], [0.8, 0.6, 0.6]).p_value, 4)
    0.0572
    """
    differences = _differences(scores_a, scores_b)
    count = differences.size
    if count < 2:
        raise DataError(f"the paired t-test needs at least two classes, got {count}")
    spread = float(differences.std(ddof=1)) if np.ptp(differences) else 0.0
    statistic = ratio(float(differences.mean()), spread / math.sqrt(count))
    return TestResult(
        name="paired t-test over classes",
        statistic=statistic,
        p_value=two_sided_t(statistic, count - 1),
        n=count,
        degrees_of_freedom=(float(count - 1),),
    )


def _differences(scores_a: ArrayLike, scores_b: ArrayLike) -> FloatArray:
    a, b = as_scores(scores_a, "scores_a"), as_scores(scores_b, "scores_b")
    if a.size != b.size:
        raise DataError(
            f"scores_a and scores_b must cover the same classes, got {a.size} and {b.size} scores"
        )
    difference: FloatArray = a - b
    return difference
