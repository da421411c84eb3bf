"""Unpaired classifiers: the difference of two independent shares."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import betaln

from outperform.errors import UsageError
from outperform.posterior.exact.difference import IndependentDifference
from outperform.posterior.exact.f_score import WeightedShare
from outperform.posterior.exact.share import Share
from tests.loops import each


def f1(tp: int, fp: int, fn: int) -> Share:
    return Share(tp + 1.0, fp + fn + 2.0, 0.5)


def test_probability_that_one_f1_is_higher():
    difference = IndependentDifference(f1(80, 10, 20), f1(70, 15, 30))
    assert difference.sf(0.0) == pytest.approx(0.9683968614040892, rel=1e-14)


@pytest.mark.parametrize(
    ("first", "second", "bf01"),
    [
        ((80, 10, 20), (70, 15, 30), 1.469263448585988),
        ((800, 100, 200), (600, 100, 400), 1.71878294623671e-16),
    ],
)
def test_bayes_factors_of_unpaired_f1(first, second, bf01):
    prior = IndependentDifference(f1(0, 0, 0), f1(0, 0, 0)).pdf(0.0)
    assert prior == pytest.approx(16 / 15, rel=1e-14)
    posterior = IndependentDifference(f1(*first), f1(*second)).pdf(0.0)
    assert posterior / prior == pytest.approx(bf01, rel=1e-13)


def test_bayes_factors_are_ratios_of_marginal_likelihoods(golden):
    for row in golden["bayes_factors"]["unpaired"]:
        x, y = (Share(tp + 1.0, errors + 2.0, 0.5) for tp, errors in row["counts"])
        found = IndependentDifference(x, y).log_pdf(0.0) - math.log(16 / 15)
        assert found == pytest.approx(math.log(float(row["bf01"])), abs=1e-10)


def test_golden_values(golden, demanded, same_numbers):
    for row in golden["share_differences"]:
        difference = IndependentDifference(Share(*row["x"]), Share(*row["y"]))
        same_numbers(difference, row, demanded(sum(row["x"]) + sum(row["y"])))


def test_a_bayes_factor_beyond_the_range_of_floats_has_a_logarithm():
    # equal counts of a million on the two sides of one half: hundreds of sd apart
    x, y = Share(4e5, 6e5), Share(6e5, 4e5)
    difference = IndependentDifference(x, y)
    exact = float(betaln(1e6 - 1, 1e6 - 1) - 2 * betaln(4e5, 6e5))
    assert exact < -40_000
    assert difference.pdf(0.0) == 0.0
    assert difference.log_pdf(0.0) == pytest.approx(exact, rel=1e-12)


def test_a_finite_sum_for_whole_numbers():
    """P(X > Y) for Beta variables with a whole shape is a sum over the beta function."""
    a, b, c, d = 7, 5.5, 4, 9.25
    exact = math.fsum(
        math.exp(betaln(c + i, b + d) - math.log(b + i) - betaln(1 + i, b) - betaln(c, d))
        for i in range(a)
    )
    difference = IndependentDifference(Share(float(a), b), Share(float(c), d))
    assert difference.sf(0.0) == pytest.approx(exact, rel=1e-13)


def test_two_uniform_variables_make_a_triangle():
    triangle = IndependentDifference(Share(1.0, 1.0), Share(1.0, 1.0))
    for value in (-0.75, -0.1, 0.0, 0.3, 0.999):
        assert triangle.pdf(value) == pytest.approx(1 - abs(value), rel=1e-13)
        tail = (1 - abs(value)) ** 2 / 2
        assert (triangle.sf if value > 0 else triangle.cdf)(value) == pytest.approx(tail, rel=1e-13)
    assert (triangle.pdf(1.0), triangle.pdf(-1.0), triangle.pdf(2.0)) == (0.0, 0.0, 0.0)
    assert (triangle.cdf(-1.0), triangle.sf(-1.0), triangle.cdf(1.0)) == (0.0, 1.0, 1.0)
    assert triangle.mean == 0.0
    assert triangle.sd == pytest.approx(math.sqrt(1 / 6), rel=1e-15)
    assert triangle.quantile(0.5) == pytest.approx(0.0, abs=1e-15)


def test_the_two_orders_of_integration_agree():
    rng = np.random.default_rng(12)
    for _ in range(40):
        a, b, c, d = (float(s) for s in 10 ** rng.uniform(-0.2, 4, size=4))
        x, y = Share(a, b, float(rng.choice([1.0, 0.5]))), Share(c, d)
        if not 0.1 < x.spread / y.spread < 10:
            continue
        difference = IndependentDifference(x, y)
        value = min(abs(difference.mean + float(rng.uniform(-5, 5)) * difference.sd), 0.99)
        for upper in (True, False):
            one, two = difference._over_y(value, upper), difference._over_x(value, upper)
            assert one == pytest.approx(two, rel=3e-12, abs=1e-290)


@each("shape", [1e-300, 1e-6, 0.01, 0.3, 1.0, 50.0, 1e12])
def test_equals_are_even(shape):
    share = Share(shape, 2 * shape)
    assert IndependentDifference(share, share).sf(0.0) == pytest.approx(0.5, abs=1e-10)


def test_swapping_mirrors_everything():
    x, y = Share(30.0, 4.0, 0.5), WeightedShare(9.0, 3.0, 0.2, 5.0, 0.8)
    one, two = IndependentDifference(x, y), IndependentDifference(y, x)
    for value in (-0.1, 0.0, 0.2, 0.5):
        assert one.sf(value) == pytest.approx(two.cdf(-value), rel=1e-13)
        assert one.pdf(value) == pytest.approx(two.pdf(-value), rel=1e-13)
    assert one.mean == -two.mean


def test_differences_of_f_beta_against_gamma_draws():
    rng = np.random.default_rng(8)
    n = 400_000
    draws = []
    for top, one, two in ((9.0, 3.0, 5.0), (6.0, 4.0, 8.0)):
        t, r, s = (rng.gamma(shape, size=n) for shape in (top, one, two))
        draws.append(t / (t + 0.2 * r + 0.8 * s))
    exact = IndependentDifference(
        WeightedShare(9.0, 3.0, 0.2, 5.0, 0.8), WeightedShare(6.0, 4.0, 0.2, 8.0, 0.8)
    )
    delta = draws[0] - draws[1]
    for value in (-0.2, 0.0, 0.2):
        assert (delta > value).mean() == pytest.approx(exact.sf(value), abs=2 / math.sqrt(n))


def test_densities_that_have_no_bound():
    arcsine = Share(0.5, 0.5)
    difference = IndependentDifference(arcsine, arcsine)
    assert difference.pdf(0.0) == math.inf
    assert 0.3 < difference.pdf(1.0) < 0.33  # 1/pi


def test_only_distributions_between_zero_and_one_are_subtracted():
    with pytest.raises(UsageError, match="y must be a Share, WeightedShare or FlatFScore"):
        IndependentDifference(Share(1.0, 1.0), IndependentDifference(Share(1, 1), Share(1, 1)))


def test_next_to_certainty_the_distance_to_one_keeps_its_digits():
    # X always right but for one error in a trillion: X - Y <= d is Y >= 1 - d in effect
    x, y = Share(1e15, 1e-3), Share(1e5, 1.0)
    d = 1e-7
    exact = -math.expm1(1e5 * math.log1p(-d))
    assert IndependentDifference(x, y).cdf(d) == pytest.approx(exact, rel=1e-7)
    flat = IndependentDifference(Share(1e5, 1.0), Share(1e5, 1.0))
    # both errors are exponential of rate 1e5: symmetric Laplace tails
    assert flat.sf(3e-5) == pytest.approx(0.5 * math.exp(-3), rel=1e-4)
