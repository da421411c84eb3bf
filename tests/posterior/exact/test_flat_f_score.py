"""F-beta when the prevalence has shapes of its own: the uniform binary model."""

from __future__ import annotations

import math

import numpy as np
import pytest

from outperform.errors import UsageError
from outperform.posterior.exact.difference import IndependentDifference
from outperform.posterior.exact.f_score import FlatFScore, WeightedShare
from outperform.posterior.exact.share import Share
from tests.loops import each

PRIOR = FlatFScore((1.0, 1.0), (1.0, 1.0), (1.0, 1.0))


def prior_sf(t: float) -> float:
    x = 2 * (1 - t) / t
    return t / (2 - t) * (x * x * math.log1p(1 / x) + x - math.log1p(x)) / 2


@each("t", [1e-6, 0.01, 0.2, 0.5, 0.8, 0.97])
def test_before_data_there_is_a_closed_form(t):
    assert PRIOR.sf(t) == pytest.approx(prior_sf(t), rel=2e-13)


def test_prior_density_of_the_difference_at_zero():
    difference = IndependentDifference(PRIOR, PRIOR)
    assert difference.pdf(0.0) == pytest.approx(1.06806129307647, rel=1e-13)
    assert difference.sf(0.0) == pytest.approx(0.5, abs=1e-13)


@pytest.mark.parametrize(
    "counts", [(81.0, 21.0, 11.0, 301.0), (5.0, 1.0, 2.0, 2_000.0), (8e4, 2e4, 1e4, 3e5)]
)
def test_with_the_row_masses_for_prevalence_it_is_one_dirichlet(counts):
    tp, fn, fp, tn = counts
    prevalence = (tp + fn, fp + tn)
    f1 = FlatFScore((tp, fn), (fp, tn), prevalence)
    share = Share(tp, fn + fp, 0.5)
    f2 = FlatFScore((tp, fn), (fp, tn), prevalence, 2.0)
    weighted = WeightedShare(tp, fn, 0.8, fp, 0.2)
    for level in (1e-12, 1e-3, 0.3, 0.9):
        for one, two in ((f1, share), (f2, weighted)):
            value = two.quantile(level)
            assert one.cdf(value) == pytest.approx(two.cdf(value), rel=1e-12)
            assert one.sf(value) == pytest.approx(two.sf(value), rel=1e-12)
            assert one.pdf(value) == pytest.approx(two.pdf(value), rel=1e-12)
    assert f1.mean == pytest.approx(share.mean, rel=1e-12)
    assert f1.sd == pytest.approx(share.sd, rel=1e-11)
    assert f1.quantile(0.025) == pytest.approx(share.quantile(0.025), rel=1e-12)


def test_against_draws_of_the_model():
    rng = np.random.default_rng(9)
    n = 400_000
    mu, theta_pos, theta_neg = rng.beta(14, 88, n), rng.beta(9, 6, n), rng.beta(3, 86, n)
    tp, fp, fn = mu * theta_pos, (1 - mu) * theta_neg, mu * (1 - theta_pos)
    draws = 2 * tp / (2 * tp + fp + fn)
    exact = FlatFScore((9.0, 6.0), (3.0, 86.0), (14.0, 88.0))
    assert draws.mean() == pytest.approx(exact.mean, abs=4 * exact.sd / math.sqrt(n))
    assert draws.std() == pytest.approx(exact.sd, rel=4 / math.sqrt(n))
    for value in (0.4, 0.6, 0.7):
        assert (draws > value).mean() == pytest.approx(exact.sf(value), abs=2 / math.sqrt(n))


def test_the_order_of_integration_does_not_matter():
    score = FlatFScore((9.0, 6.0), (3.0, 86.0), (14.0, 88.0))
    for value in (0.3, 0.6, 0.8):
        for upper in (True, False):
            one = score._over_recall(value, 1 - value, upper)
            assert one == pytest.approx(score._over_ratio(value, 1 - value, upper), rel=1e-12)


def test_support_and_checks():
    assert (PRIOR.cdf(0.0), PRIOR.sf(1.0), PRIOR.pdf(1.5)) == (0.0, 0.0, 0.0)
    assert (PRIOR.quantile(0.0), PRIOR.quantile(1.0)) == PRIOR.support == (0.0, 1.0)
    with pytest.raises(UsageError, match=r"neg\[1\] must be a positive finite number"):
        FlatFScore((1.0, 1.0), (1.0, 0.0), (1.0, 1.0))
