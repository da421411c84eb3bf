"""Tests on documents: who is right where (micro level)."""

from __future__ import annotations

import math

from outperform.errors import DataError
from outperform.nhst._input import as_count
from outperform.nhst._tails import fair_coin_cdf, ratio, two_sided_fair_coin, two_sided_t
from outperform.nhst.result import TestResult


def sign_test(a_only: int, b_only: int) -> TestResult:
    r"""Test equal accuracy on the documents where exactly one is right (s-test).

    With :math:`k` the smaller of the two counts and :math:`n` their sum,

    .. math:: p = \min\Bigl(1, 2 \sum_{i \le k} \binom{n}{i} 2^{-n}\Bigr).

    Parameters
    ----------
    a_only
        Documents that A has right and B wrong.
    b_only
        Documents that B has right and A wrong.

    Returns
    -------
    result
        The p-value is 1 where the two never differ.

    References
    ----------
    Yang, Liu. A Re-examination of Text Categorization Methods. SIGIR 1999.

    Examples
    --------
    >>> sign_test(7, 1).p_value
    0.0703125
    """
    return _sign_test("sign test", as_count(a_only, "a_only"), as_count(b_only, "b_only"))


def mcnemar(a_only: int, b_only: int, *, mid_p: bool = False) -> TestResult:
    r"""McNemar's exact test of equal accuracy on the same documents.

    The exact p-value is that of the sign test. The mid-p-value counts what is
    exactly as extreme as the data by half: with :math:`F` the distribution
    function of Binomial(n, 1/2) and :math:`k` the smaller count,
    :math:`F(k) + F(k-1)`, or :math:`1 - P(X = k)/2` for equal counts.

    Parameters
    ----------
    a_only
        Documents that A has right and B wrong.
    b_only
        Documents that B has right and A wrong.
    mid_p
        Whether to give the mid-p-value, which is less conservative.

    Returns
    -------
    result
        The p-value is 1 where the two never differ.

    References
    ----------
    Fagerland, Lydersen, Laake. The McNemar test for binary matched-pairs data.
    BMC Medical Research Methodology 13:91, 2013.

    Examples
    --------
    >>> mcnemar(7, 1).p_value, mcnemar(7, 1, mid_p=True).p_value
    (0.0703125, 0.0390625)
    """
    wins, losses = as_count(a_only, "a_only"), as_count(b_only, "b_only")
    if not mid_p:
        return _sign_test("McNemar's exact test", wins, losses)
    return TestResult(
        name="McNemar's mid-p test",
        statistic=float(wins),
        p_value=_mid_p(wins, losses),
        n=wins + losses,
    )


def welch_test(n: int, correct_a: int, correct_b: int) -> TestResult:
    r"""Welch's t-test of two accuracies, as if from separate documents (p-test).

    The t-test on the two vectors of 0 (wrong) and 1 (right), from their sums:
    with :math:`\hat p` the accuracies and
    :math:`s^2 = \hat p (1 - \hat p)\, n / (n - 1)`,

    .. math::

        t = \frac{\hat p_A - \hat p_B}{\sqrt{(s_A^2 + s_B^2) / n}}, \qquad
        \nu = (n - 1) \frac{(s_A^2 + s_B^2)^2}{s_A^4 + s_B^4}.

    It ignores that both answered the same documents, so it is less sensitive
    than the sign test; the papers print it.

    Parameters
    ----------
    n
        Documents, at least two.
    correct_a
        Documents that A has right.
    correct_b
        Documents that B has right.

    Returns
    -------
    result
        If neither vector varies, p is 1 for equal and 0 for different accuracies.

    References
    ----------
    Yang, Liu. A Re-examination of Text Categorization Methods. SIGIR 1999.

    Examples
    --------
    >>> round(welch_test(100, 80, 65).p_value, 4)
    0.0175
    """
    n = as_count(n, "n")
    if n < 2:
        raise DataError(f"the t-test needs at least two documents, got {n}; use sign_test")
    right_a = _checked_correct(correct_a, n, "correct_a")
    right_b = _checked_correct(correct_b, n, "correct_b")
    variance_a = right_a * (n - right_a) / (n * (n - 1))
    variance_b = right_b * (n - right_b) / (n * (n - 1))
    pooled = variance_a + variance_b
    statistic = ratio((right_a - right_b) / n, math.sqrt(pooled / n))
    freedom = (n - 1) * (pooled**2 / (variance_a**2 + variance_b**2) if pooled else 1.0)
    return TestResult(
        name="Welch's t-test",
        statistic=statistic,
        p_value=two_sided_t(statistic, freedom),
        n=n,
        degrees_of_freedom=(freedom,),
    )


def _sign_test(name: str, wins: int, losses: int) -> TestResult:
    return TestResult(
        name=name,
        statistic=float(wins),
        p_value=two_sided_fair_coin(wins, losses),
        n=wins + losses,
    )


def _mid_p(wins: int, losses: int) -> float:
    n, fewer = wins + losses, min(wins, losses)
    if n == 0:
        return 1.0
    if wins == losses:
        # P(X = n/2) = 2 F(n/2) - 1, since the two halves are alike.
        return 1.5 - fair_coin_cdf(fewer, n)
    return fair_coin_cdf(fewer, n) + fair_coin_cdf(fewer - 1, n)


def _checked_correct(value: int, n: int, name: str) -> int:
    correct = as_count(value, name)
    if correct > n:
        raise DataError(f"{name} must not exceed n, got {correct} of {n}")
    return correct
