"""Recall, precision, accuracy, Jaccard and F1 against fifty digits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from outperform.errors import UsageError
from outperform.posterior.exact.share import Share


def test_every_size_count_and_level_of_the_grid(golden, demanded):
    """Quantiles of Beta(k + prior, n - k + prior) for n up to a trillion, and of F1."""
    assert len(golden["share_quantiles"]) > 400
    for row in golden["share_quantiles"]:
        share = Share(*row["shapes"])
        exact, found = float(row["quantile"]), share.quantile(row["level"])
        total = sum(row["shapes"][:2])
        if total > 3e9:
            assert abs(found - exact) <= 1e-3 * share.sd, row
        assert found == pytest.approx(exact, rel=demanded(total), abs=0.0), row


def test_tails_and_density_up_to_seven_standard_deviations(golden, demanded, same_numbers):
    for row in golden["share_values"]:
        same_numbers(Share(*row["shapes"]), row, demanded(sum(row["shapes"][:2])))


def test_weight_one_is_a_beta_distribution():
    share = Share(3.0, 2.0)
    assert share.cdf(0.3) == pytest.approx(0.3**3 * 4 - 0.3**4 * 3, rel=1e-14)
    assert share.pdf(0.3) == pytest.approx(12 * 0.3**2 * 0.7, rel=1e-14)
    assert share.mean == 0.6
    assert share.sd == pytest.approx(0.2, rel=1e-15)


@pytest.mark.parametrize("shapes", [(81.0, 32.0, 0.5), (0.5, 2.5, 0.5), (7.0, 1.0, 0.1)])
def test_moments_of_a_weighted_share_are_those_of_its_density(shapes):
    share = Share(*shapes)
    a, b, weight = shapes

    def mean_of(function):
        # over the quantile scale the density is 1, and nothing is singular
        return quad(lambda p: function(share.quantile(p)), 0, 1, epsabs=1e-9, limit=200)[0]

    mean = mean_of(lambda t: t)
    assert share.mean == pytest.approx(mean, abs=1e-7)
    assert share.sd == pytest.approx(math.sqrt(mean_of(lambda t: (t - mean) ** 2)), abs=1e-6)
    assert share.mean == pytest.approx(a / (a + weight * b), abs=3 / math.sqrt(a + b))


def test_moments_of_weight_one_from_the_integrals_are_the_closed_forms():
    from outperform.posterior.exact.quadrature import ratio_moments

    for a, b in ((3.0, 8.0), (0.5, 0.5), (4e5, 1.0), (1e12, 2e12), (1e-3, 1e-3), (1e-300, 2e-300)):
        mean, sd = ratio_moments(a, ((b, 1.0),))
        assert mean == pytest.approx(Share(a, b).mean, rel=1e-12)
        assert sd == pytest.approx(Share(a, b).sd, rel=1e-12 if a < 1e9 else 1e-9)


@pytest.mark.parametrize(
    ("share", "at_zero", "at_one"),
    [
        (Share(1.0, 3.0), 3.0, 0.0),
        (Share(1.0, 2.0, 0.5), 1.0, 0.0),
        (Share(2.0, 1.0, 0.5), 0.0, 4.0),
        (Share(0.5, 0.5), math.inf, math.inf),
    ],
)
def test_the_density_at_the_ends_is_its_limit(share, at_zero, at_one):
    assert share.pdf(0.0) == pytest.approx(at_zero, rel=1e-14)
    assert share.pdf(1.0) == pytest.approx(at_one, rel=1e-14)
    for end, inside in ((at_zero, 1e-12), (at_one, 1 - 1e-12)):
        if 0 < end < math.inf:
            assert share.pdf(inside) == pytest.approx(end, rel=1e-9)


def test_outside_the_support():
    share = Share(2.0, 3.0, 0.5)
    assert (share.cdf(-0.1), share.sf(-0.1), share.pdf(-0.1)) == (0.0, 1.0, 0.0)
    assert (share.cdf(1.0), share.sf(1.1), share.pdf(1.1)) == (1.0, 0.0, 0.0)
    assert (share.quantile(0.0), share.quantile(1.0)) == share.support


@pytest.mark.parametrize("probability", [-0.1, 1.5, math.nan])
def test_a_probability_must_be_one(probability):
    with pytest.raises(UsageError, match="between 0 and 1"):
        Share(1.0, 1.0).quantile(probability)


@pytest.mark.parametrize("shapes", [(0.0, 1.0), (1.0, -1.0), (math.nan, 1.0), (1.0, math.inf)])
def test_shapes_must_be_positive(shapes):
    with pytest.raises(UsageError, match="must be a positive finite number"):
        Share(*shapes)


def test_swapping_the_shapes_mirrors_the_distribution():
    share, mirror = Share(1_234.0, 567.0), Share(567.0, 1_234.0)
    for value in (0.6, 0.68, 0.7, 0.75):
        assert share.cdf(value) == pytest.approx(mirror.sf(1 - value), rel=1e-12)
        assert share.pdf(value) == pytest.approx(mirror.pdf(1 - value), rel=1e-12)


def test_the_density_is_the_slope_of_the_tail():
    rng = np.random.default_rng(20_240_501)
    for _ in range(40):
        a, b = 10 ** rng.uniform(-0.3, 4, size=2)
        share = Share(float(a), float(b), float(rng.choice([1.0, 0.5])))
        value = share.quantile(float(rng.uniform(0.05, 0.95)))
        step = 1e-5 * min(share.sd, value, 1 - value)
        slope = (share.cdf(value + step) - share.cdf(value - step)) / (2 * step)
        assert share.pdf(value) == pytest.approx(slope, rel=1e-6)
