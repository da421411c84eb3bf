"""F-beta under a Dirichlet over true positives, false positives and false negatives."""

from __future__ import annotations

import math

import numpy as np
import pytest

from outperform.errors import UsageError
from outperform.posterior.exact.f_score import WeightedShare
from outperform.posterior.exact.share import Share


def test_golden_values(golden, demanded, same_numbers):
    for row in golden["weighted_shares"]:
        a, b1, _, b2, _ = row["shapes"]
        same_numbers(WeightedShare(*row["shapes"]), row, demanded(a + b1 + b2))


@pytest.mark.parametrize("value", [0.01, 0.7, 0.84, 0.99])
def test_equal_weights_are_a_plain_share(value):
    share, weighted = Share(81.0, 32.0, 0.5), WeightedShare(81.0, 11.0, 0.5, 21.0, 0.5)
    assert weighted.cdf(value) == share.cdf(value)
    assert weighted.pdf(value) == pytest.approx(share.pdf(value), rel=1e-14)
    assert weighted.quantile(0.3) == share.quantile(0.3)
    assert weighted.mean == pytest.approx(share.mean, rel=1e-14)
    assert weighted.sd == pytest.approx(share.sd, rel=1e-13)


def test_nearly_equal_weights_are_nearly_a_plain_share():
    share = Share(81.0, 32.0, 0.5)
    weighted = WeightedShare(81.0, 11.0, 0.5, 21.0, 0.5 * (1 + 1e-12))
    assert weighted.cdf(0.8) == pytest.approx(share.cdf(0.8), rel=1e-10)
    assert weighted.pdf(0.8) == pytest.approx(share.pdf(0.8), rel=1e-10)


def test_the_order_of_the_two_kinds_does_not_matter():
    one, two = WeightedShare(7.0, 2.0, 0.2, 30.0, 0.8), WeightedShare(7.0, 30.0, 0.8, 2.0, 0.2)
    for value in (0.05, 0.25, 0.6):
        assert one.sf(value) == pytest.approx(two.sf(value), rel=1e-13)
        assert one.pdf(value) == pytest.approx(two.pdf(value), rel=1e-13)


def test_moments_and_tails_against_gamma_draws():
    rng = np.random.default_rng(7)
    n = 400_000
    top, one, two = (rng.gamma(shape, size=n) for shape in (9.0, 3.0, 5.0))
    draws = top / (top + 0.2 * one + 0.8 * two)
    exact = WeightedShare(9.0, 3.0, 0.2, 5.0, 0.8)
    assert draws.mean() == pytest.approx(exact.mean, abs=4 * exact.sd / math.sqrt(n))
    assert draws.std() == pytest.approx(exact.sd, rel=4 / math.sqrt(n))
    assert (draws < 0.6).mean() == pytest.approx(exact.cdf(0.6), abs=4 * 0.5 / math.sqrt(n))


def test_quantiles_invert_the_tails():
    f2 = WeightedShare(81.0, 11.0, 0.2, 21.0, 0.8)
    for level in (1e-12, 0.025, 0.5):
        assert f2.cdf(f2.quantile(level)) == pytest.approx(level, rel=1e-11)
    assert f2.sf(f2.quantile(0.975)) == pytest.approx(0.025, rel=1e-11)


def test_the_density_at_the_ends():
    flat = WeightedShare(1.0, 1.0, 0.2, 1.0, 0.8)
    assert flat.pdf(0.0) == pytest.approx(1.0, rel=1e-15)  # b1 w1 + b2 w2
    assert flat.pdf(1e-12) == pytest.approx(flat.pdf(0.0), rel=1e-9)
    assert flat.pdf(1.0) == 0.0
    half = WeightedShare(2.0, 0.5, 0.2, 0.5, 0.8)
    assert half.pdf(1.0) == pytest.approx(half.pdf(1 - 1e-12), rel=1e-9)


def test_weights_must_be_positive():
    with pytest.raises(UsageError, match="w2 must be a positive finite number"):
        WeightedShare(1.0, 1.0, 0.5, 1.0, 0.0)
