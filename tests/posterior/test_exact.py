"""Closed forms are found where there are any, and say what the draws say."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import Outcomes, Prior, metrics
from outperform.posterior import build_posterior, exact_difference, exact_value, get_model
from outperform.posterior.protocol import Sums

ONE_DIRICHLET = Prior(rows=1.0, prevalence=4.0)
# metric, model, prior, paired; all have an exact value, and those marked a difference too.
SHARES = [
    ("recall", "flat", Prior(), True, True),
    ("recall", "flat", Prior(), False, True),
    ("recall", "unit", Prior(), True, True),
    ("specificity", "flat", Prior(), True, True),
    ("specificity", "unit", Prior(), False, True),
    ("precision", "flat", ONE_DIRICHLET, True, False),
    ("precision", "unit", Prior(), False, True),
    ("f1", "flat", ONE_DIRICHLET, True, False),
    ("f1", "flat", Prior(), False, True),
    ("f1", "unit", Prior(), False, True),
    ("f1", "unit", Prior(), True, False),
    ("f2", "unit", Prior(), False, True),
    ("f0.5", "unit", Prior(), True, False),
    ("jaccard", "unit", Prior(), False, True),
    ("accuracy", "flat", ONE_DIRICHLET, True, True),
    ("accuracy", "unit", Prior(), True, True),
    ("f1_micro", "unit", Prior(), False, True),
    ("jaccard_micro", "unit", Prior(), False, True),
    ("recall_weighted", "unit", Prior(), True, True),
]


def build(seen, model, prior, paired):
    view = seen if paired else seen.unpair()
    return build_posterior(view, model=get_model(model), prior=prior)


def draw(posterior, metric, positive, seed=9, n_draws=20_000):
    drawn = posterior.worker("margins")(np.random.default_rng(seed), n_draws)
    classes = None if positive is None else (positive,)
    out = []
    for sums in drawn:
        assert isinstance(sums, Sums)
        out.append(metric.evaluate(metrics.Margins(**sums._asdict()), classes))
    return out


@pytest.mark.parametrize(("name", "model", "prior", "paired", "difference"), SHARES)
def test_closed_forms_agree_with_draws(binary, name, model, prior, paired, difference, moments):
    metric = metrics.get(name)
    positive = 1 if metric.average == "binary" else None
    posterior = build(binary, model, prior, paired)
    values = draw(posterior, metric, positive)
    for place in (0, 1):
        exact = exact_value(posterior, metric.share, model=place, positive=positive)
        moments(values[place], exact.mean, exact.sd)
        for level in (0.025, 0.5, 0.975):
            below = (values[place] <= exact.quantile(level)).mean()
            assert abs(below - level) < 4.5 * np.sqrt(level * (1 - level) / 20_000)
    found = exact_difference(posterior, metric.share, positive=positive, paired=paired)
    assert (found is not None) is difference
    if found is not None:
        apart = values[0] - values[1]
        moments(apart, found.mean, found.sd)
        for value in np.quantile(apart, [0.05, 0.5, 0.9]):
            level = found.cdf(float(value))
            assert abs((apart <= value).mean() - level) < 4.5 * 0.5 / np.sqrt(20_000)


def test_many_classes_have_the_same_forms(ternary, moments):
    for paired in (True, False):
        posterior = build(ternary, "unit", Prior(), paired)
        for name in ("accuracy", "f1_micro", "jaccard_micro"):
            metric = metrics.get(name)
            values = draw(posterior, metric, None)
            exact = exact_value(posterior, metric.share, model=0, positive=None)
            moments(values[0], exact.mean, exact.sd)


@pytest.mark.parametrize(
    ("name", "model", "prior", "paired"),
    [
        ("f1", "flat", Prior(), True),
        ("precision", "flat", Prior(), False),
        ("accuracy", "flat", Prior(), True),
        ("f1_macro", "unit", Prior(), True),
        ("balanced_accuracy", "unit", Prior(), True),
        ("accuracy", "hierarchical", Prior(), True),
        ("recall", "hierarchical", Prior(), False),
        ("recall", "free", Prior(), False),
        ("accuracy", "bootstrap", Prior(), True),
    ],
)
def test_where_there_is_no_closed_form_none_is_claimed(binary, name, model, prior, paired):
    metric = metrics.get(name)
    positive = 1 if metric.average == "binary" else None
    posterior = build(binary, model, prior, paired)
    assert exact_value(posterior, metric.share, model=0, positive=positive) is None
    assert exact_difference(posterior, metric.share, positive=positive, paired=paired) is None


def test_the_oracles_of_paired_recall():
    for (c10, c01, rest), p_greater, inside in (
        ((12, 5, 83), 0.951873779296875, 0.0495988855278),
        ((30, 10, 160), 0.9992747544929443, 0.00181629653991),
        ((0, 0, 50), 0.5, 0.412963218063),
        ((40, 40, 920), 0.5, 0.734823410325),
    ):
        seen = Outcomes.from_counts([1] * 3, {"a": [1, 0, 1], "b": [0, 1, 1]}, [c10, c01, rest])
        posterior = build(seen.with_labels([0]), "flat", Prior(), True)
        share = metrics.get("recall").share
        found = exact_difference(posterior, share, positive=1, paired=True)
        assert found.sf(0.0) == pytest.approx(p_greater, rel=1e-12)
        assert found.cdf(0.01) - found.cdf(-0.01) == pytest.approx(inside, rel=1e-10)
