"""What a counted item is worth: closed form, mixture and fixed correlations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import dblquad

import outperform as op
from outperform.errors import UsageError
from outperform.posterior.exact.share import Mixture
from tests.lazily import lazily
from tests.loops import each

beta = lazily("scipy.stats.beta")

WORTH = {
    1: 0.810930,
    2: 0.505343,
    3: 0.368802110327924,
    4: 0.290748,
    5: 0.240091,
    6: 0.204520,
    7: 0.178154,
}

FOLDS = [[40, 6, 10], [38, 7, 12], [41, 5, 9], [39, 8, 11], [37, 6, 13], [40, 7, 10]]
TP, FP = np.sum(FOLDS, axis=0)[:2]


def average(function, m):
    """Average a function of w over the uniform correlations, by scipy's double integral."""
    found = dblquad(
        lambda rho2, rho1: function(1 / (1 + rho1 + 2 * (m - 1) * rho2)),
        0.0,
        0.5,
        0.25,
        0.5,
        epsabs=1e-13,
        epsrel=1e-12,
    )[0]
    return 8 * found


@each(("m", "worth"), WORTH.items())
def test_the_average_is_the_known_one(m, worth):
    digits = 1e-14 if m == 3 else 5.1e-7
    assert op.results.Correlation("averaged").worth(m) == pytest.approx(worth, abs=digits)


@each("m", [1, 2, 3, 5, 7, 20, 1000])
def test_the_average_is_the_double_integral(m):
    assert op.results.Correlation("averaged").worth(m) == pytest.approx(
        average(float, m), rel=1e-11
    )


def test_the_average_for_three_repetitions_in_closed_form():
    closed = 7 * math.log(3.5) - 6 * math.log(3) - 5 * math.log(2.5) + 4 * math.log(2)
    assert op.results.Correlation().worth(3) == pytest.approx(closed, rel=1e-13)


@each("m", [1, 2, 3, 5, 7])
def test_the_nodes_of_the_mixture_average_to_the_same_worth(m):
    counting = op.results.Correlation("integrated").counting(m)
    assert counting.times == m
    assert sum(scale.share for scale in counting.scales) == pytest.approx(1.0, abs=1e-14)
    mean = sum(scale.share * scale.factor for scale in counting.scales)
    assert mean == pytest.approx(op.results.Correlation("averaged").worth(m), abs=1e-9)


@pytest.mark.parametrize("m", [1, 3])
def test_integrating_averages_the_posterior_and_not_the_worth(m):
    e = op.estimate_cv_counts(FOLDS[: 2 * m], metric="precision", correlation="integrated")
    assert isinstance(e.distribution, Mixture)
    tp, fp = np.sum(FOLDS[: 2 * m], axis=0)[:2]
    for t in (0.75, 0.82, 0.86, 0.93):
        expected = average(lambda w, t=t: beta.cdf(t, w * tp + 1, w * fp + 1), m)
        assert e.cdf(t) == pytest.approx(expected, abs=1e-9)
    plain = op.estimate_cv_counts(FOLDS[: 2 * m], metric="precision")
    assert abs(e.cdf(0.75) - plain.cdf(0.75)) > 1e-5
    assert e.sd > plain.sd


def test_draws_of_the_mixture_follow_it():
    e = op.estimate_cv_counts(FOLDS, correlation="integrated", n_draws=40_000, random_state=1)
    places = np.quantile(e.draws, [0.025, 0.25, 0.5, 0.75, 0.975])
    # Six standard errors of an empirical distribution function.
    assert e.cdf(places) == pytest.approx([0.025, 0.25, 0.5, 0.75, 0.975], abs=3 / 200)
    assert np.corrcoef(e.draws[:-1], e.draws[1:])[0, 1] == pytest.approx(0, abs=6 / 200)


@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_full_correlation_counts_one_fold_only(m):
    assert op.results.Correlation("full").worth(m) == 1 / (2 * m)
    assert op.results.Correlation.fixed(1, 1).worth(m) == pytest.approx(1 / (2 * m))


def test_fixed_correlations_are_taken_as_they_are():
    assert op.results.Correlation.fixed(0.2, 0.4).worth(3) == pytest.approx(1 / 2.8)
    assert op.results.Correlation.fixed(0, 0).worth(3) == 1.0
    (scale,) = op.results.Correlation.fixed(0.2, 0.4).counting(3).scales
    assert scale == (pytest.approx(1 / 2.8), 1.0)


def test_a_treatment_is_a_value():
    fixed = op.results.Correlation.fixed(0.2, 0.4)
    assert (
        op.results.Correlation.from_param((0.2, 0.4))
        == op.results.Correlation.from_param([0.2, 0.4])
        == fixed
    )
    assert len({fixed, op.results.Correlation.fixed(0.2, 0.4)}) == 1
    assert op.results.Correlation.from_param(fixed) is fixed
    assert op.results.Correlation.from_param("full") == op.results.Correlation("full")
    assert repr(fixed) == "Correlation.fixed(0.2, 0.4)"
    assert eval(repr(fixed), {"Correlation": op.results.Correlation}) == fixed
    assert repr(op.results.Correlation("full")) == "Correlation('full')"
    assert (str(fixed), str(op.results.Correlation())) == ("fixed(0.2, 0.4)", "averaged")


@each(
    ("wrong", "sentence"),
    [
        ("average", "unknown correlation 'average'; did you mean 'averaged'"),
        ("fixed", "only the correlation 'fixed' takes rho1 and rho2, and it needs both"),
        ((1.2, 0.3), "correlations must be between 0 and 1; got 1.2, 0.3"),
        ((-0.1, 0.3), "between 0 and 1"),
        ((float("nan"), 0.3), "between 0 and 1"),
        (("a", "b"), "between 0 and 1; got 'a', 'b'"),
        ((None, 0.3), "needs both"),
        ((0.1, 0.2, 0.3), r"a pair \(rho1, rho2\); got \(0.1, 0.2, 0.3\)"),
        (0.3, "correlation must be one of 'averaged', 'integrated', 'full'"),
        (None, "correlation must be one of"),
    ],
)
def test_what_is_no_correlation_is_refused(wrong, sentence):
    with pytest.raises(UsageError, match=sentence):
        op.results.Correlation.from_param(wrong)


def test_rho_belongs_to_fixed_only():
    with pytest.raises(UsageError, match="only the correlation 'fixed'"):
        op.results.Correlation("averaged", 0.1, 0.2)
    with pytest.raises(UsageError, match="needs both"):
        op.results.Correlation("fixed", 0.1)


@each("m", [0, -3, 1.5, True, "3", None])
@each("name", ["averaged", "integrated", "full"])
def test_repetitions_are_whole(name, m):
    for ask in (op.results.Correlation(name).worth, op.results.Correlation(name).counting):
        with pytest.raises(UsageError, match="whole number of repetitions, 1 or more"):
            ask(m)
