"""Bayes factors: odds over odds, densities over densities, and their limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from outperform.decision.bayes_factor import (
    BayesFactor,
    Inside,
    bayes_factor_point_null,
    interval_null,
    point_null_kde,
)
from outperform.errors import UndefinedBayesFactorError
from tests.lazily import lazily
from tests.loops import each

norm = lazily("scipy.stats.norm")


class Density:
    """A closed form of which only the density at zero is asked."""

    def __init__(self, at_zero):
        self.at_zero = at_zero

    def pdf(self, value):
        assert value == 0.0
        return self.at_zero


def test_the_interval_null_is_odds_over_odds():
    found = interval_null(Inside(inside=0.9, outside=0.1), Inside(inside=0.25, outside=0.75))
    assert found.bf01 == pytest.approx(27.0)
    assert found.bf10 == pytest.approx(1 / 27)
    assert found.log10_bf10 == pytest.approx(-math.log10(27))
    assert (found.kind, found.method, found.bound, found.mcse) == ("interval", "exact", None, 0.0)


@each(
    ("before", "after", "says"),
    [
        (0.01, 0.03, "favours equivalence, because the data raised"),
        (0.90, 0.60, "favours a difference, because the data lowered"),
        (0.01, 0.60, None),  # the factor and the probability agree
        (0.60, 0.10, None),
        (0.90, 0.95, None),
        (0.10, 0.05, None),
    ],
)
def test_a_factor_that_favours_the_less_probable_explains_itself(before, after, says):
    posterior, prior = (Inside(inside=one, outside=1 - one) for one in (after, before))
    found = interval_null(posterior, prior)
    assert ((found.bf01 > 1) is (after > 0.5)) is (says is None)
    if says is None:
        assert not found.findings
    else:
        (said,) = found.findings
        assert (said.name, said.level) == ("bayes_factor_against_probability", "note")
        assert says in said.message
        assert f"from {100 * before:.3g}% in the prior to {100 * after:.3g}%" in said.message


def test_a_factor_within_its_errors_favours_nothing():
    posterior, prior = (
        Inside(inside=0.02, outside=0.98, n_draws=100),
        Inside(inside=0.019, outside=0.981),
    )
    assert interval_null(posterior, prior).bf01 > 1
    assert not interval_null(posterior, prior).findings
    assert interval_null(Inside(inside=0.02, outside=0.98), prior).findings


def test_tiny_odds_keep_their_digits():
    found = interval_null(Inside(inside=1e-200, outside=1.0), Inside(inside=0.5, outside=0.5))
    assert found.log_bf01 == pytest.approx(-200 * math.log(10))
    assert found.bf10 == pytest.approx(1e200)


@pytest.mark.parametrize(
    ("inside", "bound", "sign"), [(0.0, "upper", -1), (1.0, "lower", 1)], ids=["none", "all"]
)
def test_draws_that_are_all_on_one_side_give_a_bound(inside, bound, sign):
    posterior = Inside(inside=inside, outside=1 - inside, n_draws=3_000)
    found = interval_null(posterior, Inside(inside=0.5, outside=0.5))
    assert (found.bound, found.method) == (bound, "draws")
    assert found.log_bf01 == pytest.approx(sign * math.log(999))


@pytest.mark.parametrize("inside", [0.0, 1.0])
def test_exact_odds_beyond_the_floats_give_a_bound_and_stay_finite(inside):
    posterior = Inside(inside=inside, outside=1 - inside)
    found = interval_null(posterior, Inside(inside=0.5, outside=0.5))
    assert math.isfinite(found.log_bf01)
    assert found.bound == ("upper" if inside == 0 else "lower")
    assert abs(found.log10_bf10) == pytest.approx(300)


def test_a_prior_that_rules_the_rope_out_has_no_factor():
    posterior = Inside(inside=0.5, outside=0.5)
    assert interval_null(posterior, Inside(inside=0.0, outside=1.0)) is None
    assert interval_null(posterior, Inside(inside=1.0, outside=0.0)) is None


def test_the_error_of_a_sampled_factor_is_honest():
    rng = np.random.default_rng(5)
    prior = Inside(inside=0.1, outside=0.9)
    logs, errors = [], []
    for count in rng.binomial(5_000, 0.03, size=1_000):
        share = count / 5_000
        found = interval_null(Inside(inside=share, outside=1 - share, n_draws=5_000), prior)
        logs.append(found.log_bf01)
        errors.append(found.mcse)
    assert np.std(logs) / np.mean(errors) == pytest.approx(1.0, abs=0.1)


def test_both_errors_count():
    sampled = Inside(inside=0.2, outside=0.8, n_draws=1_000)
    exact = Inside(inside=0.2, outside=0.8)
    one = interval_null(sampled, exact).mcse
    assert interval_null(exact, sampled).mcse == pytest.approx(one)
    assert interval_null(sampled, sampled).mcse == pytest.approx(one * math.sqrt(2))


@each("log", [-800.0, -3.0, 0.0, 3.0, 800.0])
def test_either_direction_is_the_inverse_of_the_other(log):
    found = BayesFactor(log_bf01=log, kind="interval", method="exact")
    if abs(log) < 700:
        assert found.bf01 * found.bf10 == pytest.approx(1.0)
    assert found.log10_bf10 == pytest.approx(-log / math.log(10))
    assert {found.bf01, found.bf10} >= ({math.inf} if abs(log) == 800 else set())


def test_the_point_null_is_a_ratio_of_densities():
    found = bayes_factor_point_null(Density(3.0), Density(1.5))
    assert found.bf01 == pytest.approx(2.0)
    assert (found.kind, found.method) == ("point", "exact")


@pytest.mark.parametrize("prior", [math.inf, math.nan, 0.0])
def test_a_prior_density_that_is_no_number_has_no_factor(prior):
    with pytest.raises(UndefinedBayesFactorError, match="interval null"):
        bayes_factor_point_null(Density(1.0), Density(prior))


def test_without_a_closed_form_the_point_null_is_refused():
    for pair in ((None, Density(1.0)), (Density(1.0), None)):
        with pytest.raises(UndefinedBayesFactorError, match=r"no closed form.*interval null"):
            bayes_factor_point_null(*pair)


def test_the_kernel_estimate_is_near_where_it_can_be_and_says_what_it_is():
    rng = np.random.default_rng(6)
    posterior, prior = rng.normal(0.1, 0.1, 20_000), rng.normal(0.0, 0.5, 20_000)
    found = point_null_kde(posterior, prior)
    exact = norm.pdf(0, 0.1, 0.1) / norm.pdf(0, 0, 0.5)
    assert found.bf01 == pytest.approx(exact, rel=0.1)
    assert found.method == "kde"
    assert [one.name for one in found.findings] == ["kde_bayes_factor"]


def test_the_kernel_estimate_refuses_a_spike():
    rng = np.random.default_rng(6)
    with pytest.raises(UndefinedBayesFactorError, match="all draws"):
        point_null_kde(np.zeros(100), rng.normal(size=100))


def test_the_kernel_estimate_far_out_in_the_tail_is_a_bound():
    rng = np.random.default_rng(6)
    found = point_null_kde(rng.normal(5.0, 0.01, 5_000), rng.normal(size=5_000))
    assert math.isfinite(found.log_bf01)
    assert found.bound == "upper"


@each(
    ("log_bf01", "bound", "text"),
    [
        (0.0, None, "BF01 = 1"),
        (3.0, None, "BF01 = 20.1"),
        (-8.4, "upper", "BF10 > 4.44e+03"),
        (-8.4, "lower", "BF10 < 4.45e+03"),
        (8.4, "lower", "BF01 > 4.44e+03"),
        (-3000.0, "upper", "BF10 > 1e+1302"),
    ],
)
def test_it_prints_on_one_line(log_bf01, bound, text):
    found = BayesFactor(log_bf01=log_bf01, kind="interval", method="draws", bound=bound)
    assert str(found) == f"{text} (interval null, from draws)"
    assert repr(found) == f"BayesFactor({found})"
