"""Sign, McNemar and Welch against scipy.stats, exact fractions and large counts."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.errors import DataError
from outperform.nhst.items import mcnemar, sign_test, welch_test
from tests.lazily import lazily
from tests.loops import each

stats = lazily("scipy.stats")

counts = st.integers(0, 400)


@given(counts, counts)
def test_sign_test_is_the_binomial_test(a_only, b_only):
    ours = sign_test(a_only, b_only)
    if a_only + b_only:
        theirs = stats.binomtest(a_only, a_only + b_only).pvalue
        assert ours.p_value == pytest.approx(theirs, rel=1e-11)
    assert (ours.statistic, ours.n) == (a_only, a_only + b_only)


@given(counts, counts)
def test_exact_mcnemar_is_the_sign_test(a_only, b_only):
    assert mcnemar(a_only, b_only).p_value == sign_test(a_only, b_only).p_value


@pytest.mark.parametrize("test", [sign_test, mcnemar])
def test_nothing_discordant(test):
    assert test(0, 0).p_value == 1.0
    assert mcnemar(0, 0, mid_p=True).p_value == 1.0


@given(counts, counts)
def test_order_of_the_models_does_not_matter(a_only, b_only):
    assert sign_test(a_only, b_only).p_value == sign_test(b_only, a_only).p_value
    assert (
        mcnemar(a_only, b_only, mid_p=True).p_value == mcnemar(b_only, a_only, mid_p=True).p_value
    )


def mid_p_by_fractions(a_only, b_only):
    """P(more extreme) + P(as extreme) / 2, where extreme is the distance from n/2."""
    n, seen = a_only + b_only, abs(a_only - b_only)
    weights = {k: Fraction(math.comb(n, k), 2**n) for k in range(n + 1)}
    more = sum(w for k, w in weights.items() if abs(2 * k - n) > seen)
    same = sum(w for k, w in weights.items() if abs(2 * k - n) == seen)
    return more + same / 2


@given(st.integers(0, 60), st.integers(1, 60))
def test_mid_p_is_its_definition(a_only, b_only):
    assert mcnemar(a_only, b_only, mid_p=True).p_value == pytest.approx(
        float(mid_p_by_fractions(a_only, b_only)), rel=1e-12
    )


def test_published_mid_p_example():
    # Airway responsiveness of 21 children, 1 against 7 (Fagerland et al. 2013).
    assert mcnemar(1, 7).p_value == 18 / 256
    assert mcnemar(1, 7, mid_p=True).p_value == 10 / 256


def binomial_cdf_by_quadrature(k, n):
    with mpmath.workdps(40):
        a, b = mpmath.mpf(n - k), mpmath.mpf(k + 1)
        log_beta = mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
        step = 1 / (2 * mpmath.sqrt(n))
        nodes = [mpmath.mpf(1) / 2 - step * i for i in (12, 9, 7, 5, 4, 3, 2, 1.5, 1, 0.5, 0.25, 0)]
        return mpmath.quad(
            lambda x: mpmath.exp((a - 1) * mpmath.log(x) + (b - 1) * mpmath.log(1 - x) - log_beta),
            nodes,
        )


@each("n", [10**6, 10**9, 10**12])
@each("deviations", [0.5, 2, 5])
def test_sign_test_with_very_many_items(n, deviations):
    fewer = n // 2 - round(deviations * math.sqrt(n) / 2)
    exact = 2 * binomial_cdf_by_quadrature(fewer, n)
    assert sign_test(fewer, n - fewer).p_value == pytest.approx(float(exact), rel=1e-12)


def test_far_tail_underflows_to_zero_without_warning():
    assert sign_test(10**12, 0).p_value == 0.0


def test_equal_counts_of_any_size_have_p_one():
    for size in (1, 10, 10**6, 10**12):
        assert sign_test(size, size).p_value == 1.0


# scipy warns of constant vectors; their variance is exactly zero all the same.
@pytest.mark.filterwarnings("ignore:Precision loss")
@given(st.integers(2, 300), st.data())
def test_welch_from_counts_is_welch_on_the_vectors(n, data):
    correct_a, correct_b = (data.draw(st.integers(0, n)) for _ in range(2))
    ours = welch_test(n, correct_a, correct_b)
    if {correct_a, correct_b} <= {0, n}:
        assert ours.p_value == (1.0 if correct_a == correct_b else 0.0)
        return
    vectors = [np.repeat([1.0, 0.0], [c, n - c]) for c in (correct_a, correct_b)]
    theirs = stats.ttest_ind(*vectors, equal_var=False)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-12)
    assert ours.degrees_of_freedom[0] == pytest.approx(theirs.df, rel=1e-9)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-8)


def test_welch_without_any_variance():
    assert welch_test(50, 50, 50).p_value == 1.0
    assert welch_test(50, 0, 0).statistic == 0.0
    assert welch_test(50, 50, 0).p_value == 0.0
    assert welch_test(50, 0, 50).statistic == -math.inf


def test_welch_with_very_many_items_is_normal():
    n, difference = 10**12, 2_000_000
    result = welch_test(n, n // 2 + difference, n // 2)
    z = difference / n / math.sqrt(0.5 / n)
    assert result.statistic == pytest.approx(z, rel=1e-9)
    # Student's t with about 2e12 degrees of freedom: relative difference z^4/df.
    assert result.p_value == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-10)


@given(st.integers(2, 10**12), st.data())
def test_p_values_are_probabilities(n, data):
    a, b = (data.draw(st.integers(0, n)) for _ in range(2))
    for result in (sign_test(a, b), mcnemar(a, b, mid_p=True), welch_test(n, a, b)):
        assert 0.0 <= result.p_value <= 1.0
        assert type(result.p_value) is float


@pytest.mark.parametrize("bad", [1.5, "3", None])
def test_counts_must_be_whole(bad):
    with pytest.raises(DataError, match="a_only must be a whole number"):
        sign_test(bad, 3)


def test_impossible_counts():
    with pytest.raises(DataError, match="b_only must not be negative, got -1"):
        mcnemar(3, -1)
    with pytest.raises(DataError, match="correct_a must not exceed n, got 11 of 10"):
        welch_test(10, 11, 3)
    with pytest.raises(DataError, match="at least two items, got 1"):
        welch_test(1, 1, 0)


def test_numpy_integers_are_counts():
    assert sign_test(np.int64(7), np.uint8(1)).p_value == 0.0703125
