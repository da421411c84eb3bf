"""Sign and t-test over classes against scipy.stats."""

from __future__ import annotations

import math

import numpy as np
import pytest

from outperform.errors import DataError
from outperform.nhst.items import paired_t_over_classes, sign_test, sign_test_over_classes
from tests.lazily import lazily

stats = lazily("scipy.stats")


@pytest.mark.parametrize("classes", [2, 5, 20, 200])
def test_paired_t_is_scipys(classes):
    a, b = np.random.default_rng(classes).random((2, classes))
    ours, theirs = paired_t_over_classes(a, b), stats.ttest_rel(a, b)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-11)
    assert ours.degrees_of_freedom == (classes - 1,)


def test_ties_are_dropped():
    a, b = [0.5, 0.6, 0.7, 0.8, 0.9], [0.5, 0.5, 0.6, 0.9, 0.9]
    result = sign_test_over_classes(a, b)
    assert (result.statistic, result.n) == (2, 3)
    assert result.p_value == sign_test(2, 1).p_value == 1.0


def test_only_ties():
    assert sign_test_over_classes([0.5, 0.5], [0.5, 0.5]).p_value == 1.0
    assert sign_test_over_classes([], []).p_value == 1.0
    assert paired_t_over_classes([0.5, 0.7], [0.5, 0.7]).p_value == 1.0


def test_the_same_difference_everywhere():
    result = paired_t_over_classes([0.75, 0.5, 0.25], [0.5, 0.25, 0.0])
    assert (result.statistic, result.p_value) == (math.inf, 0.0)


def test_exchanging_the_models_changes_the_sign_only():
    a, b = np.random.default_rng(1).random((2, 20))
    there, back = paired_t_over_classes(a, b), paired_t_over_classes(b, a)
    assert there.statistic == -back.statistic
    assert there.p_value == back.p_value
    assert sign_test_over_classes(a, b).p_value == sign_test_over_classes(b, a).p_value


@pytest.mark.parametrize("test", [sign_test_over_classes, paired_t_over_classes])
def test_bad_scores(test):
    with pytest.raises(DataError, match="same classes, got 2 and 3"):
        test([0.1, 0.2], [0.1, 0.2, 0.3])
    with pytest.raises(DataError, match="scores_b must be finite, got 1 of 2"):
        test([0.1, 0.2], [0.1, math.nan])
    with pytest.raises(DataError, match=r"one dimension, got shape \(1, 2\)"):
        test([[0.1, 0.2]], [[0.1, 0.2]])
    with pytest.raises(DataError, match="scores_a must be an array of numbers"):
        test(["0.1", "0.2"], [0.1, 0.2])


def test_one_class_has_no_spread():
    with pytest.raises(DataError, match="at least two classes, got 1"):
        paired_t_over_classes([0.5], [0.4])
