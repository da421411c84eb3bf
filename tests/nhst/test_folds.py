"""Fold tests against hand-worked values and scipy.stats distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from outperform.errors import DataError, UsageError
from outperform.nhst.folds import corrected_resampled_t, f_5x2, t_5x2
from tests.lazily import lazily

stats = lazily("scipy.stats")

# By hand: s_i^2 = 2, 0, 2, 2, 2 with sum 8; the squares of all ten sum to 52.
BY_HAND = [[3, 1], [2, 2], [1, 3], [2, 0], [4, 2]]


def test_t_5x2_by_hand():
    result = t_5x2(BY_HAND)
    assert result.statistic == pytest.approx(3 / math.sqrt(8 / 5), rel=1e-15)
    assert result.p_value == pytest.approx(2 * stats.t.sf(3 / math.sqrt(1.6), 5), rel=1e-12)
    assert result.degrees_of_freedom == (5.0,)


def test_t_5x2_closed_form_of_the_p_value():
    # For five degrees of freedom P(|T| < t) = 2/pi (x + sin x (cos x + 2/3 cos^3 x)),
    # x = arctan(t / sqrt 5).
    result = t_5x2(BY_HAND)
    x = math.atan(result.statistic / math.sqrt(5))
    inside = 2 / math.pi * (x + math.sin(x) * (math.cos(x) + 2 / 3 * math.cos(x) ** 3))
    assert result.p_value == pytest.approx(1 - inside, rel=1e-12)


def test_f_5x2_by_hand():
    result = f_5x2(BY_HAND)
    assert result.statistic == 52 / 16
    assert result.p_value == pytest.approx(stats.f.sf(3.25, 10, 5), rel=1e-12)
    assert result.degrees_of_freedom == (10.0, 5.0)


def test_variances_are_deviations_from_the_mean_of_each_repetition():
    d = np.random.default_rng(5).normal(0.01, 0.02, (5, 2))
    variances = ((d - d.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    assert t_5x2(d).statistic == pytest.approx(d[0, 0] / math.sqrt(variances.mean()), rel=1e-12)
    assert f_5x2(d).statistic == pytest.approx((d**2).sum() / (2 * variances.sum()), rel=1e-12)


def test_f_5x2_does_not_depend_on_the_order_of_folds_but_t_5x2_does():
    d = np.array(BY_HAND)
    turned = d[::-1, ::-1]
    assert f_5x2(turned).p_value == f_5x2(d).p_value
    assert t_5x2(turned).p_value != t_5x2(d).p_value


def test_units_do_not_matter():
    for test in (t_5x2, f_5x2, lambda d: corrected_resampled_t(np.ravel(d), 90, 10)):
        assert test(np.array(BY_HAND) / 64).p_value == test(BY_HAND).p_value


def test_corrected_resampled_t_by_hand():
    # mean 2, variance 2/3, factor 1/4 + 1/3.
    result = corrected_resampled_t([1, 2, 3, 2], n_train=300, n_test=100)
    t = 2 / math.sqrt((1 / 4 + 1 / 3) * 2 / 3)
    assert result.statistic == pytest.approx(t, rel=1e-14)
    assert result.p_value == pytest.approx(2 * stats.t.sf(t, 3), rel=1e-12)
    assert result.degrees_of_freedom == (3.0,)


def test_corrected_resampled_t_without_correction_is_the_one_sample_t():
    d = np.random.default_rng(7).normal(0.01, 0.03, 30)
    ours, theirs = corrected_resampled_t(d, 10**15, 1), stats.ttest_1samp(d, 0.0)
    # The correction left over, 1e-15, is beside 1/30.
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-11)


def test_correction_is_conservative():
    d = np.random.default_rng(8).normal(0.02, 0.03, 10)
    assert corrected_resampled_t(d, 90, 10).p_value > stats.ttest_1samp(d, 0.0).pvalue


def test_no_variance():
    zeros, ones = np.zeros((5, 2)), np.ones((5, 2))
    for test in (t_5x2, f_5x2):
        assert test(zeros).p_value == 1.0
        assert test(ones).p_value == 0.0
        assert test(ones).statistic == math.inf
    assert corrected_resampled_t(zeros.ravel(), 90, 10).p_value == 1.0
    assert corrected_resampled_t(-ones.ravel(), 90, 10).statistic == -math.inf


@pytest.mark.parametrize("test", [t_5x2, f_5x2])
def test_shape_of_the_differences(test):
    with pytest.raises(DataError, match=r"shape \(5, 2\).*got \(2, 5\)"):
        test(np.ones((2, 5)))
    with pytest.raises(DataError, match="must be finite, got 1 of 10"):
        test([[1, math.inf], *BY_HAND[1:]])


def test_bad_arguments_of_the_corrected_test():
    with pytest.raises(DataError, match="at least two folds, got 1"):
        corrected_resampled_t([0.1], 90, 10)
    with pytest.raises(UsageError, match="n_train must be a positive number of items, got 0"):
        corrected_resampled_t([0.1, 0.2], 0, 10)
    with pytest.raises(UsageError, match="n_test must be a positive"):
        corrected_resampled_t([0.1, 0.2], 90, math.nan)
