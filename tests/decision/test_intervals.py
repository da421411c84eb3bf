"""Intervals as values, equal tails, and quantiles of draws."""

from __future__ import annotations

import numpy as np
import pytest

from outperform.decision.intervals import (
    Interval,
    check_prob,
    equal_tailed,
    quantile_errors,
    quantiles,
)
from outperform.errors import UsageError
from tests.lazily import lazily
from tests.loops import each

beta = lazily("scipy.stats.beta")


def test_the_error_of_the_equal_tailed_interval_is_honest():
    found = [
        equal_tailed(np.sort(beta(80, 8).rvs(20_000, random_state=seed)), 0.95)
        for seed in range(200)
    ]
    ends = np.array([(one.low, one.high) for one in found])
    errors = np.array([(one.mcse_low, one.mcse_high) for one in found])
    ratio = ends.std(axis=0, ddof=1) / errors.mean(axis=0)
    assert ((ratio > 0.85) & (ratio < 1.15)).all()
    bias = ends.mean(axis=0) - beta(80, 8).ppf([0.025, 0.975])
    assert (np.abs(bias) < 4.5 * ends.std(axis=0) / np.sqrt(200)).all()


def test_quantiles_are_those_of_numpy_row_by_row():
    ordered = np.sort(np.random.default_rng(3).normal(size=(40, 101)), axis=1)
    levels = np.append(np.random.default_rng(4).random(38), [0.0, 1.0])
    expected = [np.quantile(row, level) for row, level in zip(ordered, levels, strict=True)]
    assert quantiles(ordered, levels) == pytest.approx(expected, rel=1e-12)
    reach = np.sqrt(levels * (1 - levels) / 101)
    ends = np.clip([levels - reach, levels + reach], 0.0, 1.0).T
    spans = [np.ptp(np.quantile(row, both)) for row, both in zip(ordered, ends, strict=True)]
    assert quantile_errors(ordered, levels) == pytest.approx(np.array(spans) / 2, rel=1e-9)


def test_an_interval_is_a_value():
    interval = Interval(low=-0.02, high=0.04, prob=0.9)
    assert interval.midpoint == pytest.approx(0.01)
    assert interval.width == pytest.approx(0.06)
    assert -0.02 in interval
    assert 0.041 not in interval


@pytest.mark.parametrize("prob", [0.5, np.float64(0.95), np.float32(0.9), 0.999])
def test_probabilities_between_zero_and_one_are_taken(prob):
    assert check_prob(prob) == float(prob)


@each("prob", [0, 1, -0.1, 100, 101, float("nan"), "0.95", None, True])
def test_other_probabilities_are_refused(prob):
    with pytest.raises(UsageError, match="hdi_prob must lie"):
        check_prob(prob)


def test_percent_is_mended():
    with pytest.raises(UsageError, match=r"got 95; did you mean 0\.95\?"):
        check_prob(95)


@each(
    ("interval", "text"),
    [
        (Interval(low=0.0127, high=0.0321, prob=0.95, kind="HDI", signed=True),
         "95% HDI +0.0127 to +0.0321"),
        (Interval(low=-0.00001, high=0.5, prob=0.999, kind="ETI", signed=True),
         "99.9% ETI 0.0000 to +0.5000"),
        (Interval(low=0.6594, high=0.6801, prob=0.9, kind="HDI"), "90% HDI 0.6594 to 0.6801"),
        (Interval(low=0.50001, high=0.50009, prob=0.9), "90% interval 0.5000100 to 0.5000900"),
        (Interval(low=0.0, high=0.0, prob=0.9), "90% interval 0.0000 to 0.0000"),
    ],
)  # fmt: skip
def test_it_prints_on_one_line(interval, text):
    assert str(interval) == text
    assert repr(interval) == f"Interval({text})"


def test_what_it_is_called_does_not_make_it_another():
    plain = Interval(low=0.1, high=0.2, prob=0.95)
    named = Interval(low=0.1, high=0.2, prob=0.95, kind="HDI", signed=True)
    assert plain == named
    assert hash(plain) == hash(named)
