"""Tables of distributions that are used inside other integrals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from outperform.posterior.exact.f_score import OddsProduct, WeightedShare
from outperform.posterior.exact.share import Share
from outperform.posterior.exact.tabulated import tabulate
from tests.loops import each


@each(
    "shapes",
    [
        (81.0, 11.0, 0.2, 21.0, 0.8),
        (1.0, 1.0, 0.2, 1.0, 0.8),
        (0.5, 0.5, 0.2, 0.5, 0.8),
        (5.0, 1.0, 0.01, 1e5, 0.99),
        (8e4, 1e4, 0.2, 2e4, 0.8),
    ],
)
def test_a_table_says_the_same_as_what_it_was_made_from(shapes):
    exact = WeightedShare(*shapes)
    table = tabulate(exact)
    for level in (1e-12, 1e-3, 0.3, 0.9, 1 - 1e-6):
        value = exact.quantile(level)
        assert table.cdf(value) == pytest.approx(exact.cdf(value), rel=1e-12)
        assert table.sf(value) == pytest.approx(exact.sf(value), rel=1e-12)
    assert table.mean == pytest.approx(exact.mean, rel=1e-12)
    assert table.sd == pytest.approx(exact.sd, rel=1e-11)


def test_a_table_is_made_once():
    assert tabulate(WeightedShare(2.0, 1.0, 0.2, 1.0, 0.8)) is tabulate(
        WeightedShare(2.0, 1.0, 0.2, 1.0, 0.8)
    )


def test_false_positives_per_positive_of_flat_rates():
    """C = theta (1 - mu)/mu with both uniform: P(C < c) = c log(1 + 1/c) in closed form."""
    product = OddsProduct(Share(1.0, 1.0), Share(1.0, 1.0))
    table = tabulate(product)
    for ratio in (1e-9, 0.01, 1.0, 30.0, 1e6):
        x = ratio / (1 + ratio)
        assert table.cdf(x) == pytest.approx(ratio * math.log1p(1 / ratio), rel=1e-12)


@pytest.mark.parametrize(
    ("rate", "prevalence"), [((3.0, 86.0), (14.0, 88.0)), ((40.0, 60.0), (9e3, 2e3))]
)
def test_false_positives_per_positive_against_draws(rate, prevalence):
    rng = np.random.default_rng(10)
    n = 200_000
    theta, mu = rng.beta(*rate, n), rng.beta(*prevalence, n)
    draws = theta * (1 - mu) / mu
    product = OddsProduct(Share(*rate), Share(*prevalence))
    table = tabulate(product)
    for step in (-1.5, 0.0, 1.5):
        ratio = product.centre / (1 - product.centre) * math.exp(step * product.log_odds_spread)
        found = table.cdf(ratio / (1 + ratio))
        assert (draws < ratio).mean() == pytest.approx(found, abs=2 / math.sqrt(n))
        assert found + table.sf(ratio / (1 + ratio)) == pytest.approx(1.0, abs=1e-13)
