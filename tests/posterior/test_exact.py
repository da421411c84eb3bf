"""Closed forms are found where there are any, and say what the draws say."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import Outcomes, Prior, metrics
from outperform.posterior.base import Sums, build_posterior, exact_difference, exact_value
from outperform.posterior.registry import get_prior
from tests.loops import each

ONE_DIRICHLET = Prior(rows=1.0, prevalence=4.0)
# metric, prior, paired; all have an exact value, and those marked a difference too.
SHARES = [
    ("recall", Prior(), True, True),
    ("recall", Prior(), False, True),
    ("recall", "unit", True, True),
    ("specificity", Prior(), True, True),
    ("specificity", "unit", False, True),
    ("precision", ONE_DIRICHLET, True, False),
    ("precision", "unit", False, True),
    ("f1", ONE_DIRICHLET, True, False),
    ("f1", Prior(), False, True),
    ("f1", "unit", False, True),
    ("f1", "unit", True, False),
    ("f2", "unit", False, True),
    ("f0.5", "unit", True, False),
    ("jaccard", "unit", False, True),
    ("accuracy", ONE_DIRICHLET, True, True),
    ("accuracy", "unit", True, True),
    ("f1_micro", "unit", False, True),
    ("jaccard_micro", "unit", False, True),
    ("recall_weighted", "unit", True, True),
]


def build(seen, prior, paired):
    view = seen if paired else seen.unpair()
    return build_posterior(view, get_prior(prior))


def draw(posterior, metric, positive, seed=9, n_draws=20_000):
    drawn = posterior.worker("margins")(np.random.default_rng(seed), n_draws)
    classes = None if positive is None else (positive,)
    out = []
    for sums in drawn:
        assert isinstance(sums, Sums)
        out.append(metric.evaluate(metrics.Margins(**sums._asdict()), classes))
    return out


@each(("name", "prior", "paired", "difference"), SHARES)
def test_closed_forms_agree_with_draws(binary, name, prior, paired, difference, moments):
    metric = metrics.get(name)
    positive = 1 if metric.average == "binary" else None
    posterior = build(binary, prior, paired)
    values = draw(posterior, metric, positive)
    for place in (0, 1):
        exact = exact_value(
            posterior, metric.share_over(all_classes=True), model=place, positive=positive
        )
        moments(values[place], exact.mean, exact.sd)
        for level in (0.025, 0.5, 0.975):
            below = (values[place] <= exact.quantile(level)).mean()
            assert abs(below - level) < 4.5 * np.sqrt(level * (1 - level) / 20_000)
    found = exact_difference(
        posterior, metric.share_over(all_classes=True), positive=positive, paired=paired
    )
    assert (found is not None) is difference
    if found is not None:
        apart = values[0] - values[1]
        moments(apart, found.mean, found.sd)
        for value in np.quantile(apart, [0.05, 0.5, 0.9]):
            level = found.cdf(float(value))
            assert abs((apart <= value).mean() - level) < 4.5 * 0.5 / np.sqrt(20_000)


def test_many_classes_have_the_same_forms(ternary, moments):
    for paired in (True, False):
        posterior = build(ternary, "unit", paired)
        for name in ("accuracy", "f1_micro", "jaccard_micro"):
            metric = metrics.get(name)
            values = draw(posterior, metric, None)
            exact = exact_value(
                posterior, metric.share_over(all_classes=True), model=0, positive=None
            )
            moments(values[0], exact.mean, exact.sd)


@each(
    ("name", "prior", "paired"),
    [
        ("f1", Prior(), True),
        ("precision", Prior(), False),
        ("accuracy", Prior(), True),
        ("f1_macro", "unit", True),
        ("balanced_accuracy", "unit", True),
        ("accuracy", "hierarchical", True),
        ("recall", "hierarchical", False),
        ("accuracy", "bootstrap", True),
    ],
)
def test_where_there_is_no_closed_form_none_is_claimed(binary, name, prior, paired):
    metric = metrics.get(name)
    positive = 1 if metric.average == "binary" else None
    posterior = build(binary, prior, paired)
    assert (
        exact_value(posterior, metric.share_over(all_classes=True), model=0, positive=positive)
        is None
    )
    assert (
        exact_difference(
            posterior, metric.share_over(all_classes=True), positive=positive, paired=paired
        )
        is None
    )


def test_the_oracles_of_paired_recall():
    for (c10, c01, rest), p_greater, inside in (
        ((12, 5, 83), 0.951873779296875, 0.0495988855278),
        ((30, 10, 160), 0.9992747544929443, 0.00181629653991),
        ((0, 0, 50), 0.5, 0.412963218063),
        ((40, 40, 920), 0.5, 0.734823410325),
    ):
        seen = Outcomes.from_counts([1] * 3, {"a": [1, 0, 1], "b": [0, 1, 1]}, [c10, c01, rest])
        posterior = build(seen.with_labels([0]), "uniform", True)
        share = metrics.get("recall").share_over(all_classes=True)
        found = exact_difference(posterior, share, positive=1, paired=True)
        assert found.sf(0.0) == pytest.approx(p_greater, rel=1e-12)
        assert found.cdf(0.01) - found.cdf(-0.01) == pytest.approx(inside, rel=1e-10)
