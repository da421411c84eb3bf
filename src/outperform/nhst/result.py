"""What a significance test says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """The statistic and the two-sided p-value of one test of "no difference".

    Parameters
    ----------
    name
        The test, for people.
    statistic
        The test statistic, positive where A is ahead in the t-tests; for the
        sign tests and McNemar's test the number of wins of A.
    p_value
        The probability of a statistic at least as extreme if A and B were equal.
    n
        How many observations the test used: documents, documents on which
        exactly one is right, classes without ties, or folds.
    degrees_of_freedom
        None, one (t) or two (F) numbers.

    Examples
    --------
    >>> print(TestResult(name="sign test", statistic=12, p_value=0.1434631, n=17))
    sign test: p = 0.1435 (statistic 12, n = 17)
    """

    # The name begins like a test case; pytest must not collect it as one.
    __test__ = False

    name: str
    statistic: float
    p_value: float
    n: int
    degrees_of_freedom: tuple[float, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}: p = {self.p_value:.4g} (statistic {self.statistic:.6g}, n = {self.n})"
