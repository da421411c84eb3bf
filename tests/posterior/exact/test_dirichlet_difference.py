"""Paired recall and accuracy: the difference of two shares of one Dirichlet."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from outperform.errors import UsageError
from outperform.posterior.exact.difference import DirichletDifference
from outperform.posterior.exact.share import Share
from tests.loops import each

ORACLES = [
    ((12, 5, 83), 1.620900472005208, 0.951873779296875, 0.0495988855278),
    ((30, 10, 160), 0.0521671267003209, 0.9992747544929443, 0.00181629653991),
    ((0, 0, 50), 17.66666666666667, 0.5, 0.412963218063),
    ((40, 40, 920), 29.73155413674298, 0.5, 0.734823410325),
]


@pytest.mark.parametrize(("counts", "bf01", "p_greater", "p_inside"), ORACLES)
def test_oracles_of_paired_recall(counts, bf01, p_greater, p_inside):
    c10, c01, rest = counts
    difference = DirichletDifference(1.0 + c10, 1.0 + c01, 2.0 + rest)
    prior = DirichletDifference(1.0, 1.0, 2.0)
    assert prior.pdf(0.0) == pytest.approx(1.5, rel=1e-15)
    assert difference.pdf(0.0) / prior.pdf(0.0) == pytest.approx(bf01, rel=1e-14)
    assert difference.sf(0.0) == pytest.approx(p_greater, rel=1e-14)
    inside = 1 - difference.cdf(-0.01) - difference.sf(0.01)
    assert inside == pytest.approx(p_inside, rel=1e-11)  # as many digits as it is given with


def test_golden_values(golden, demanded, same_numbers):
    for row in golden["dirichlet_differences"]:
        same_numbers(DirichletDifference(*row["shapes"]), row, demanded(sum(row["shapes"])))


def test_bayes_factors_are_ratios_of_marginal_likelihoods(golden):
    for row in golden["bayes_factors"]["paired"]:
        c10, c01, rest = row["counts"]
        log_density = DirichletDifference(1.0 + c10, 1.0 + c01, 2.0 + rest).log_pdf(0.0)
        exact = math.log(float(row["bf01"]))
        assert log_density - math.log(1.5) == pytest.approx(exact, abs=1e-10)


def test_the_density_at_zero_is_the_limit_of_the_integral():
    difference = DirichletDifference(41.0, 41.0, 922.0)
    assert difference.pdf(1e-12) == pytest.approx(difference.pdf(0.0), rel=1e-12)


def test_without_a_rest_it_is_a_stretched_beta():
    difference, share = DirichletDifference(7.0, 4.0, 0.0), Share(7.0, 4.0)
    for value in (-0.4, 0.0, 0.3):
        assert difference.cdf(value) == share.cdf((1 + value) / 2)
        assert difference.pdf(value) == pytest.approx(share.pdf((1 + value) / 2) / 2, rel=1e-15)
    assert difference.mean == pytest.approx(2 * share.mean - 1, rel=1e-14)
    assert difference.sd == pytest.approx(2 * share.sd, rel=1e-14)
    assert difference.quantile(0.1) == pytest.approx(2 * share.quantile(0.1) - 1, rel=1e-12)


def test_a_vanishing_rest_is_no_rest():
    with_rest, without = DirichletDifference(7.0, 4.0, 1e-300), DirichletDifference(7.0, 4.0, 0.0)
    for value in (-0.4, 0.1, 0.3, 0.9):
        assert with_rest.cdf(value) == pytest.approx(without.cdf(value), rel=1e-12)


def test_moments_against_the_definition():
    a1, a2, a3 = 5.0, 2.0, 9.0
    n = a1 + a2 + a3
    exact = DirichletDifference(a1, a2, a3)
    variance = (a1 * (n - a1) + a2 * (n - a2) + 2 * a1 * a2) / (n * n * (n + 1))
    assert exact.mean == (a1 - a2) / n
    assert exact.sd == pytest.approx(math.sqrt(variance), rel=1e-14)


def test_the_two_orders_of_integration_agree():
    """Over the split first or over the sum first: different integrands, one number."""
    rng = np.random.default_rng(11)
    for _ in range(40):
        shapes = [float(s) for s in 10 ** rng.uniform(-0.5, 4, size=3)]
        difference = DirichletDifference(*shapes)
        value = min(abs(difference.mean + float(rng.uniform(-5, 5)) * difference.sd), 0.99)
        for upper in (True, False):
            one = difference._over_split(value, upper)
            two = difference._over_sum(value, upper)
            assert one == pytest.approx(two, rel=3e-12, abs=1e-290)


positive = st.floats(min_value=1e-3, max_value=1e7)


# Each of the two numbers is right to 1e-12, so they may be twice that apart: at the mean one road
# takes the upper tail and the other the lower one.
@settings(max_examples=60, deadline=None, derandomize=True)
@example(a1=63886.0, a2=0.5, a3=1.0, z=0.0)
@given(a1=positive, a2=positive, a3=positive, z=st.floats(min_value=-8, max_value=8))
def test_swapping_the_shares_mirrors_everything(a1, a2, a3, z):
    difference, mirror = DirichletDifference(a1, a2, a3), DirichletDifference(a2, a1, a3)
    value = min(max(difference.mean + z * difference.sd, -1.0), 1.0)
    assert difference.cdf(value) == pytest.approx(mirror.sf(-value), rel=2e-12, abs=1e-300)
    assert difference.cdf(value) + difference.sf(value) == pytest.approx(1.0, abs=1e-11)
    assert difference.pdf(value) == pytest.approx(mirror.pdf(-value), rel=2e-12)


def test_the_ends():
    flat = DirichletDifference(1.0, 1.0, 1.0)  # density 1 - |d|
    assert flat.pdf(0.25) == pytest.approx(0.75, rel=1e-14)
    assert (flat.pdf(1.0), flat.pdf(-1.0), flat.pdf(1.5)) == (0.0, 0.0, 0.0)
    assert (flat.cdf(-1.0), flat.sf(-1.0), flat.cdf(1.0), flat.sf(2.0)) == (0.0, 1.0, 1.0, 0.0)
    assert (flat.quantile(0.0), flat.quantile(1.0)) == flat.support
    steep = DirichletDifference(3.0, 0.5, 0.5)
    assert steep.pdf(1.0) == pytest.approx(steep.pdf(1 - 1e-9), rel=1e-6)
    assert DirichletDifference(0.4, 0.6, 1.0).pdf(0.0) == math.inf
    assert DirichletDifference(1.0, 0.2, 0.3).pdf(1.0) == math.inf


def test_shapes_are_checked():
    with pytest.raises(UsageError, match="a2 must be a positive finite number"):
        DirichletDifference(1.0, 0.0, 2.0)
    with pytest.raises(UsageError, match="a3 must be a positive finite number"):
        DirichletDifference(1.0, 1.0, -2.0)


@each("t", [1e-9, 0.01, 0.1, 0.6, 0.999])
def test_shapes_of_one_half_have_an_elementary_form(t):
    # S is uniform and 2U - 1 a cosine, so the density is arccosh(1/t)/pi.
    d = DirichletDifference(0.5, 0.5, 1.0)
    arc = math.acosh(1 / t)
    assert d.pdf(t) == pytest.approx(arc / math.pi, rel=1e-12)
    upper = (math.acos(t) - t * arc) / math.pi
    assert d.sf(t) == pytest.approx(upper, rel=1e-12 if t < 0.9 else 1e-9)
    assert d.cdf(-t) == pytest.approx(d.sf(t), rel=1e-12)
