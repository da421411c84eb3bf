"""Mixtures: against their parts, numerical integration and simulation."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from outperform.errors import UsageError
from outperform.posterior.exact.difference import DirichletDifference, IndependentDifference
from outperform.posterior.exact.share import Mixture, Share, mix

MIXTURES = {
    "shares": Mixture((Share(20.0, 5.0), Share(8.0, 12.0), Share(2.5, 2.0, 0.5)), (0.5, 0.3, 0.2)),
    "one": Mixture((Share(3.0, 4.0),), (1.0,)),
    "differences": Mixture(
        (
            IndependentDifference(Share(81.0, 32.0, 0.5), Share(71.0, 47.0, 0.5)),
            IndependentDifference(Share(41.0, 16.0, 0.5), Share(36.0, 24.0, 0.5)),
        ),
        (0.25, 0.75),
    ),
    "paired": Mixture(
        (DirichletDifference(9.0, 6.0, 89.0), DirichletDifference(5.0, 3.5, 45.0)), (0.6, 0.4)
    ),
}


@pytest.fixture(params=MIXTURES)
def mixture(request):
    return MIXTURES[request.param]


def integral(function, mixture, low, high):
    """Integrate piecewise, between the quantiles of the parts."""
    cuts = {one.quantile(p) for one in mixture.parts for p in (1e-6, 0.1, 0.5, 0.9, 1 - 1e-6)}
    edges = [low, *sorted(cut for cut in cuts if low < cut < high), high]
    return math.fsum(
        quad(function, left, right, epsabs=1e-13, epsrel=1e-11, limit=200)[0]
        for left, right in pairwise(edges)
    )


def test_the_density_integrates_to_the_distribution(mixture):
    low, high = mixture.support
    for p in (0.01, 0.3, 0.5, 0.9):
        value = mixture.quantile(p)
        assert integral(mixture.pdf, mixture, low, value) == pytest.approx(p, abs=1e-9)
    assert integral(mixture.pdf, mixture, low, high) == pytest.approx(1.0, abs=1e-9)


def test_mean_and_sd_are_those_of_the_density(mixture):
    low, high = mixture.support
    mean = integral(lambda t: t * mixture.pdf(t), mixture, low, high)
    assert mixture.mean == pytest.approx(mean, abs=1e-9)
    square = integral(lambda t: (t - mean) ** 2 * mixture.pdf(t), mixture, low, high)
    assert mixture.sd == pytest.approx(math.sqrt(square), rel=1e-7)


@pytest.mark.parametrize("p", [1e-9, 0.025, 0.5, 0.8, 0.975, 1 - 1e-9])
def test_the_quantile_inverts_the_distribution(mixture, p):
    value = mixture.quantile(p)
    tail, target = (mixture.cdf, p) if p <= 0.5 else (mixture.sf, 1 - p)
    assert tail(value) == pytest.approx(target, rel=1e-10)
    assert mixture.cdf(value) + mixture.sf(value) == pytest.approx(1.0, abs=1e-13)


def test_the_ends(mixture):
    low, high = mixture.support
    assert (mixture.quantile(0.0), mixture.quantile(1.0)) == (low, high)
    assert (mixture.cdf(low), mixture.sf(high)) == (0.0, 0.0)
    assert (mixture.cdf(high), mixture.sf(low)) == pytest.approx((1.0, 1.0))
    assert mixture.pdf(high + 0.5) == 0.0
    assert mixture.log_pdf(low - 0.5) == -math.inf


def test_parts_far_apart_leave_a_gap():
    # The median lies in the middle of nothing, where Newton's method finds no slope.
    apart = Mixture((Share(1e5, 9e5), Share(9e5, 1e5)), (0.5, 0.5))
    assert apart.quantile(0.25) == pytest.approx(Share(1e5, 9e5).quantile(0.5), rel=1e-10)
    assert apart.quantile(0.75) == pytest.approx(Share(9e5, 1e5).quantile(0.5), rel=1e-10)
    assert apart.cdf(apart.quantile(0.5)) == pytest.approx(0.5, abs=1e-12)
    assert apart.sd == pytest.approx(0.4, rel=1e-3)


def test_draws_follow_it(follows):
    mixture = MIXTURES["shares"]
    rng = np.random.default_rng(14)
    part = rng.choice(3, p=mixture.shares, size=20_000)
    a, b, weight = (
        np.array([getattr(one, name) for one in mixture.parts])[part]
        for name in ("a", "b", "weight")
    )
    top, rest = rng.standard_gamma(a), rng.standard_gamma(b)
    follows(top / (top + weight * rest), np.vectorize(mixture.cdf))


def test_a_mixture_of_one_distribution_with_itself_is_it():
    share = Share(7.0, 3.0)
    twice = Mixture((share, share), (0.3, 0.7))
    for value in (0.2, 0.6, 0.95):
        assert twice.cdf(value) == pytest.approx(share.cdf(value), rel=1e-14)
        assert twice.log_pdf(value) == pytest.approx(share.log_pdf(value), rel=1e-14)
    assert (twice.mean, twice.sd) == pytest.approx((share.mean, share.sd), rel=1e-14)


def test_mix_gives_up_where_a_part_has_no_closed_form():
    share = Share(7.0, 3.0)
    assert mix([share, None], (0.5, 0.5)) is None
    assert mix([share], (1.0,)) is share
    assert mix([share, Share(1.0, 1.0)], (0.5, 0.5)).mean == pytest.approx(0.6)


@pytest.mark.parametrize("shares", [(0.5, 0.4), (1.0,), (0.5, 0.5, 0.0)])
def test_shares_that_do_not_fit_are_refused(shares):
    with pytest.raises(UsageError, match="every part of a mixture needs a share"):
        Mixture((Share(1.0, 1.0), Share(2.0, 1.0)), shares)


def test_a_part_without_a_share_does_not_count():
    one = Mixture((Share(3.0, 4.0), Share(30.0, 4.0)), (1.0, 0.0))
    assert one.log_pdf(0.3) == pytest.approx(Share(3.0, 4.0).log_pdf(0.3), rel=1e-14)
