"""The narrowest interval of an exact distribution."""

from __future__ import annotations

import math

import pytest

from outperform.decision.hdi import exact_hdi
from outperform.errors import UsageError
from outperform.posterior.exact.difference import DirichletDifference, IndependentDifference
from outperform.posterior.exact.f_score import FlatFScore, WeightedShare
from outperform.posterior.exact.share import Share
from tests.loops import each

INSIDE = [
    Share(81.0, 32.0, 0.5),
    Share(2.0, 2.0),
    Share(1.5, 50.0),
    Share(1.01, 1_000.0),
    Share(30.0, 1.5),
    Share(1e5, 3e5),
    Share(4e11, 6e11),
    DirichletDifference(13.0, 6.0, 85.0),
    DirichletDifference(1.0, 1.0, 2.0),
    DirichletDifference(41.0, 41.0, 922.0),
    DirichletDifference(300.0, 1.0, 2.0),
    DirichletDifference(0.5, 0.5, 1.0),
    DirichletDifference(1.0, 1.0, 1e5),
    DirichletDifference(1e9, 2e9, 1e10),
    IndependentDifference(Share(81.0, 32.0, 0.5), Share(71.0, 47.0, 0.5)),
    IndependentDifference(Share(1.0, 1.0), Share(1.0, 1.0)),
    IndependentDifference(Share(1e5, 1.0), Share(1e5, 3.0)),
    WeightedShare(81.0, 11.0, 0.2, 21.0, 0.8),
    FlatFScore((81.0, 21.0), (11.0, 301.0), (51.0, 151.0)),
]


@each("prob", [0.5, 0.95, 0.999])
@each("distribution", INSIDE, ids=repr)
def test_mass_and_equal_density(distribution, prob):
    low, high = exact_hdi(distribution, prob)
    assert 1 - distribution.cdf(low) - distribution.sf(high) == pytest.approx(prob, abs=1e-10)
    assert distribution.pdf(low) == pytest.approx(distribution.pdf(high), rel=1e-8)
    middle = distribution.pdf((low + high) / 2)
    assert middle > distribution.pdf(low)


@each("prob", [0.5, 0.95, 0.999])
@each(
    ("distribution", "end"),
    [
        (Share(1.0, 5.0), 0.0),
        (Share(1.0, 4.0, 0.5), 0.0),
        (Share(0.5, 3.0), 0.0),
        (Share(0.5, 1.0), 0.0),
        (Share(5.0, 1.0), 1.0),
        (Share(1_001.0, 1.0), 1.0),
        (Share(0.999, 0.5), 1.0),
        (DirichletDifference(3.0, 1.0, 0.0), 1.0),
        (DirichletDifference(1.0, 3.0, 0.0), -1.0),
    ],
    ids=repr,
)
def test_a_density_highest_at_an_end_has_its_interval_there(distribution, end, prob):
    low, high = exact_hdi(distribution, prob)
    assert end in (low, high)
    assert 1 - distribution.cdf(low) - distribution.sf(high) == pytest.approx(prob, abs=1e-10)
    inner = high if end == low else low
    assert distribution.pdf(end) >= distribution.pdf(inner)


def test_an_end_that_no_float_separates_from_the_edge_is_on_it():
    # equal densities would need an upper end within 1e-16 of 1
    share = Share(30.0, 1.2)
    low, high = exact_hdi(share, 0.999)
    assert high == 1.0
    assert low == pytest.approx(share.quantile(0.001), rel=1e-14)


def test_a_mass_within_one_float_of_the_edge_has_an_interval_of_no_width():
    assert exact_hdi(Share(1e26, 3.0), 0.95) == (1.0, 1.0)


def test_a_mode_inside_does_not_draw_the_interval_from_a_higher_edge():
    # F1 before data: the density rises from 1 at 0 before it falls to 0 at 1
    share = Share(1.0, 2.0, 0.5)
    assert exact_hdi(share, 0.95) == (0.0, pytest.approx(share.quantile(0.95), rel=1e-14))
    low, high = exact_hdi(share, 0.5)
    assert low > 0.2
    assert share.pdf(low) == pytest.approx(share.pdf(high), rel=1e-8)


@each("distribution", INSIDE[:9], ids=repr)
def test_no_shifted_interval_is_narrower(distribution):
    low, high = exact_hdi(distribution, 0.9)
    place = distribution.cdf(low)
    for shift in (-0.01, -1e-4, 1e-4, 0.01):
        p = min(max(place + shift, 0.0), 0.1)
        width = distribution.quantile(p + 0.9) - distribution.quantile(p)
        assert width >= (high - low) * (1 - 1e-12)


@pytest.mark.parametrize("shape", [1.0, 0.5])
def test_where_no_interval_is_narrower_it_is_equal_tailed(shape):
    """A uniform or symmetric U-shaped density."""
    share = Share(shape, shape)
    low, high = exact_hdi(share, 0.9)
    assert low == pytest.approx(share.quantile(0.05), rel=1e-14)
    assert high == pytest.approx(share.quantile(0.95), rel=1e-14)


def test_a_lopsided_u_has_its_interval_at_the_heavier_end():
    share = Share(0.5, 0.9)
    low, high = exact_hdi(share, 0.9)
    assert low == 0.0
    assert high == pytest.approx(share.quantile(0.9), rel=1e-12)
    assert high - low < 1 - share.quantile(0.1)


def test_the_mirrored_distribution_has_the_mirrored_interval():
    low, high = exact_hdi(DirichletDifference(13.0, 6.0, 85.0), 0.95)
    mirrored = exact_hdi(DirichletDifference(6.0, 13.0, 85.0), 0.95)
    assert mirrored == pytest.approx((-high, -low), rel=1e-8)


def test_wider_probabilities_give_nested_intervals():
    difference = IndependentDifference(Share(81.0, 32.0, 0.5), Share(71.0, 47.0, 0.5))
    inner_low, inner_high = exact_hdi(difference, 0.95)
    low, high = exact_hdi(difference, 0.99)
    assert low < inner_low < inner_high < high


def test_at_a_trillion_counts_the_ends_are_as_good_as_floats_allow():
    # the spacing of floats below 1 is 1e-16, which is 5e-5 of this posterior's sd
    share = Share(1e12, 5.0)
    low, high = exact_hdi(share, 0.95)
    assert 1 - share.cdf(low) - share.sf(high) == pytest.approx(0.95, abs=1e-4)


class TwoBumps:
    """An even mixture of two uniform pieces, one twice as dense: no simple shape."""

    support = (0.0, 1.0)
    mean = 0.5
    sd = math.sqrt(0.09)

    def pdf(self, value):
        if 0.1 <= value <= 0.35:
            return 2.0
        return 1.0 if 0.45 <= value <= 0.95 else 0.0

    def cdf(self, value):
        return 2 * min(max(value - 0.1, 0.0), 0.25) + min(max(value - 0.45, 0.0), 0.5)

    def sf(self, value):
        return 1 - self.cdf(value)

    def quantile(self, probability):
        if probability <= 0.5:
            return 0.1 + probability / 2
        return 0.45 + (probability - 0.5)


def test_a_density_of_no_simple_shape_is_searched():
    low, high = exact_hdi(TwoBumps(), 0.4)
    assert high - low == pytest.approx(0.2, rel=1e-6)
    assert 0.1 <= low < high <= 0.35 + 1e-9


@pytest.mark.parametrize("prob", [0.0, 1.0, 95, -0.1])
def test_the_probability_is_checked(prob):
    with pytest.raises(UsageError, match="hdi_prob must lie"):
        exact_hdi(Share(1.0, 1.0), prob)
