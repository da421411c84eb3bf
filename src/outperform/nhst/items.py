"""Tests on items and classes, and the result class of all tests."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincc, stdtr

from outperform._missing import is_missing, unmasked
from outperform._typing import FloatArray
from outperform.errors import DataError
from outperform.wrong_calls import explained


def as_count(value: int, name: str) -> int:
    """Return a number of items as a Python integer.

    Examples
    --------
    >>> as_count(np.int64(3), "n")
    3
    """
    try:
        count = operator.index(value)
    except TypeError:
        if np.ndim(value):
            raise DataError(
                f"{name} must be a count, not an array; a_only is the number of items that only A "
                "got right, ((pred_a == y_true) & (pred_b != y_true)).sum()"
            ) from None
        raise DataError(
            f"{name} must be a whole number, got {value!r}; "
            "these tests count items and have no weighted form"
        ) from None
    if count < 0:
        raise DataError(f"{name} must not be negative, got {count}")
    return count


def as_scores(values: ArrayLike, name: str) -> FloatArray:
    """Return a one-dimensional array of finite numbers.

    Examples
    --------
    >>> as_scores([0.5, 1], "scores_a")
    array([0.5, 1. ])
    """
    scores = as_finite(values, name)
    if scores.ndim != 1:
        raise DataError(
            f"{name} must have one dimension, got shape {scores.shape}; flatten it with .ravel()"
        )
    return scores


def as_finite(values: ArrayLike, name: str) -> FloatArray:
    """Return an array of finite numbers of any shape.

    Examples
    --------
    >>> as_finite([[0, 1]], "differences").shape
    (1, 2)
    """
    try:
        array = np.asarray(unmasked(values))
        # Numeric strings are an error in the caller's data, not scores.
        if array.dtype.kind not in "iufO":
            raise TypeError(f"got dtype {array.dtype}")
        if array.dtype.kind == "O":  # a missing time would be converted to a large number
            cells = [math.nan if is_missing(value) else value for value in array.flat]
            array = np.array(cells, dtype=object).reshape(array.shape)
        numbers = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be an array of numbers: {error}") from None
    if not np.isfinite(numbers).all():
        bad = int((~np.isfinite(numbers)).sum())
        raise DataError(
            f"{name} must be finite, got {bad} of {numbers.size} values that are not; drop them "
            "for both A and B"
        )
    return numbers


def fair_coin_cdf(heads: int, n: int) -> float:
    """Return P(X <= heads) for X ~ Binomial(n, 1/2).

    The incomplete beta function accepts counts of any size, whereas ``scipy.special.bdtr`` limits n
    to 32 bits. The complement ``betaincc`` is accurate; before scipy 1.17, ``betainc`` itself is
    off by 2e-5 at 10^12 items.

    Examples
    --------
    >>> fair_coin_cdf(1, 3)
    0.5
    """
    if heads < 0:
        return 0.0
    if heads >= n:
        return 1.0
    return float(betaincc(heads + 1, n - heads, 0.5))


def two_sided_fair_coin(wins: int, losses: int) -> float:
    """Return the two-sided exact p-value of a fair coin: both tails, at most 1.

    Examples
    --------
    >>> two_sided_fair_coin(0, 3)
    0.25
    """
    return min(1.0, 2.0 * fair_coin_cdf(min(wins, losses), wins + losses))


def two_sided_t(statistic: float, degrees_of_freedom: float) -> float:
    """Return P(|T| >= |statistic|) for Student's t.

    Examples
    --------
    >>> round(two_sided_t(1.0, 1.0), 12)
    0.5
    """
    if math.isinf(statistic):
        return 0.0
    return float(2.0 * stdtr(degrees_of_freedom, -abs(statistic)))


def ratio(numerator: float, denominator: float) -> float:
    """Divide, with 0/0 = 0 (no difference) and x/0 = ±inf (no uncertainty).

    Examples
    --------
    >>> ratio(0.0, 0.0), ratio(-0.1, 0.0)
    (0.0, -inf)
    """
    if numerator == 0.0:
        return 0.0
    if denominator == 0.0:
        return math.copysign(math.inf, numerator)
    return numerator / denominator


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """Statistic and two-sided p-value of a test of "no difference".

    Parameters
    ----------
    name
        Display name of the test.
    statistic
        Test statistic. In t-tests it is positive if A is ahead; in sign tests and McNemar's test it
        is the number of wins of A.
    p_value
        Probability of a statistic at least as extreme if A and B were equal.
    n
        Number of observations: items, items on which exactly one model is right, classes that are
        not ties, or folds.
    degrees_of_freedom
        Empty, one number (t) or two numbers (F).

    Examples
    --------
    >>> print(TestResult(name="sign test", statistic=12, p_value=0.1434631, n=17))
    sign test: p = 0.1435 (statistic 12, n = 17)
    """

    # Keeps pytest from collecting this class because of its name.
    __test__ = False

    name: str
    statistic: float
    p_value: float
    n: int
    degrees_of_freedom: tuple[float, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}: p = {self.p_value:.4g} (statistic {self.statistic:.6g}, n = {self.n})"


def sign_test(a_only: int, b_only: int) -> TestResult:
    r"""Test for equal accuracy, using the items that exactly one model gets right (s-test).

    With :math:`k` the smaller of the two counts and :math:`n` their sum,

    .. math:: p = \min\Bigl(1, 2 \sum_{i \le k} \binom{n}{i} 2^{-n}\Bigr).

    Parameters
    ----------
    a_only
        Number of items that A gets right and B wrong.
    b_only
        Number of items that B gets right and A wrong.

    Returns
    -------
    result
        The p-value is 1 if the models never differ.

    References
    ----------
    Yang, Liu. A Re-examination of Text Categorization Methods. SIGIR 1999.

    Examples
    --------
    >>> sign_test(7, 1).p_value
    0.0703125
    """
    return _sign_test("sign test", as_count(a_only, "a_only"), as_count(b_only, "b_only"))


@explained
def mcnemar(a_only: int, b_only: int, *, mid_p: bool = False) -> TestResult:
    r"""Run McNemar's exact test of equal accuracy on the same items.

    The exact p-value equals that of the sign test. The mid-p-value gives half weight to results
    exactly as extreme as the data: with :math:`F` the distribution function of Binomial(n, 1/2) and
    :math:`k` the smaller count, :math:`F(k) + F(k-1)`, or :math:`1 - P(X = k)/2` for equal counts.

    Parameters
    ----------
    a_only
        Number of items that A gets right and B wrong.
    b_only
        Number of items that B gets right and A wrong.
    mid_p
        Whether to return the mid-p-value, which is less conservative.

    Returns
    -------
    result
        The p-value is 1 if the models never differ.

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
    r"""Run Welch's t-test of two accuracies, ignoring that the items are the same (p-test).

    This is the t-test on two vectors of 0 (wrong) and 1 (right), computed from their sums: with
    :math:`\hat p` the accuracies and :math:`s^2 = \hat p (1 - \hat p)\, n / (n - 1)`,

    .. math::

        t = \frac{\hat p{}_A - \hat p{}_B}{\sqrt{(s_A^2 + s_B^2) / n}}, \qquad
        \nu = (n - 1) \frac{(s_A^2 + s_B^2)^2}{s_A^4 + s_B^4}.

    It ignores the pairing of the items, so it is less sensitive than the sign test. It is included
    because the papers report it.

    Parameters
    ----------
    n
        Number of items, at least two.
    correct_a
        Number of items that A gets right.
    correct_b
        Number of items that B gets right.

    Returns
    -------
    result
        If both vectors are constant, p is 1 for equal and 0 for different accuracies.

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
        raise DataError(f"the t-test needs at least two items, got {n}; use sign_test")
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
        # P(X = n/2) = 2 F(n/2) - 1 by symmetry.
        return 1.5 - fair_coin_cdf(fewer, n)
    return fair_coin_cdf(fewer, n) + fair_coin_cdf(fewer - 1, n)


def _checked_correct(value: int, n: int, name: str) -> int:
    correct = as_count(value, name)
    if correct > n:
        raise DataError(f"{name} must not exceed n, got {correct} of {n}")
    return correct


def sign_test_over_classes(scores_a: ArrayLike, scores_b: ArrayLike) -> TestResult:
    """Run a sign test on the number of classes that each model wins (S-test).

    Parameters
    ----------
    scores_a
        Score of A, such as F1, in each class.
    scores_b
        Score of B in the same classes, in the same order.

    Returns
    -------
    result
        Ties are dropped; if all classes are ties, p is 1.

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
    r"""Run a paired t-test on class scores (T-test).

    With :math:`d` the differences A − B in :math:`M` classes and :math:`s_d` their
    standard deviation, :math:`t = \bar d \sqrt M / s_d` with :math:`M - 1` degrees
    of freedom.

    Parameters
    ----------
    scores_a
        Score of A, such as F1, in each class.
    scores_b
        Score of B in the same classes, in the same order.

    Returns
    -------
    result
        If all differences are equal, p is 1 if they are zero and 0 otherwise.

    References
    ----------
    Yang, Liu. A Re-examination of Text Categorization Methods. SIGIR 1999.

    Examples
    --------
    >>> round(paired_t_over_classes([0.9, 0.8, 0.7], [0.8, 0.6, 0.6]).p_value, 4)
    0.0572
    """
    differences = _differences(scores_a, scores_b)
    n_classes = differences.size
    if n_classes < 2:
        raise DataError(f"the paired t-test needs at least two classes, got {n_classes}")
    spread = float(differences.std(ddof=1)) if np.ptp(differences) else 0.0
    statistic = ratio(float(differences.mean()), spread / math.sqrt(n_classes))
    return TestResult(
        name="paired t-test over classes",
        statistic=statistic,
        p_value=two_sided_t(statistic, n_classes - 1),
        n=n_classes,
        degrees_of_freedom=(float(n_classes - 1),),
    )


def _differences(scores_a: ArrayLike, scores_b: ArrayLike) -> FloatArray:
    a, b = as_scores(scores_a, "scores_a"), as_scores(scores_b, "scores_b")
    if a.size != b.size:
        raise DataError(
            f"scores_a and scores_b must cover the same classes, got {a.size} and {b.size} scores"
        )
    difference: FloatArray = a - b
    return difference
