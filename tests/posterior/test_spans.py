"""Bare counts of spans: the seven cells, their closed forms, and draws against numpy's own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import beta as beta_function
from scipy.special import betainc, gammaln

import outperform as op
from outperform import Outcomes
from outperform.data.views import emptied, scaled
from outperform.errors import UsageError
from outperform.posterior.base import Prior
from outperform.posterior.bootstrap import flat_spans, unit_spans
from outperform.posterior.exact.difference import DirichletDifference
from outperform.posterior.exact.share import Share

SEVEN = [70, 8, 5, 17, 6, 4, 3]  # found by both, A, B, neither; spurious by both, A, B
MORE = [30, 2, 4, 9, 1, 0, 5]
N_DRAWS = 40_000


def seven(counts=SEVEN, kind="X"):
    return Outcomes.from_span_counts(
        [kind] * 4 + [None] * 3,
        {
            "A": [kind, kind, None, None, kind, kind, None],
            "B": [kind, None, kind, None, kind, None, kind],
        },
        counts,
    )


def two_types():
    return seven() + seven(MORE, "Y")


def ask(seen, metric, **options):
    asked = {"prior": "uniform", "random_state": 3, "n_draws": N_DRAWS} | options
    return op.compare(seen, "A", "B", metric=metric, **asked)


# One model, or two apart


@pytest.fixture
def apart():
    return Outcomes.from_tp_fp_fn({"A": (80, 10, 20), "B": (70, 15, 30)})


@pytest.mark.parametrize(
    ("metric", "for_it", "against"), [("precision", 81, 11), ("recall", 81, 21)]
)
def test_precision_and_recall_are_beta(apart, metric, for_it, against):
    exact = op.estimate(apart, "A", metric=metric, prior="uniform").distribution
    assert exact == Share(for_it, against)
    for value in (0.7, 0.8, 0.9):
        assert exact.cdf(value) == pytest.approx(betainc(for_it, against, value), rel=1e-12)


def test_f1_is_two_over_two_plus_beta_prime(apart):
    from scipy.stats import betaprime

    exact = op.estimate(apart, "A", metric="f1", prior="uniform").distribution
    for value in (0.7, 0.8, 0.84, 0.9):
        # F1 = 2 / (2 + X) is below a value where X is above 2 / value - 2
        expected = betaprime.sf(2 / value - 2, 10 + 20 + 2, 80 + 1)
        assert exact.cdf(value) == pytest.approx(expected, rel=1e-10)


def test_unpaired_f1_of_the_design(apart):
    c = ask(apart, "f1", rope=0.01)
    assert c.exact
    assert c.p_greater == pytest.approx(0.9683968614040892, rel=1e-12)
    assert c.bayes_factor_point_null().bf01 == pytest.approx(1.469263448585988, rel=1e-12)
    assert c.spec.prior.name == "uniform"


def test_the_prior_is_one_in_every_cell_and_can_be_chosen(apart):
    jeffreys = op.estimate(apart, "A", metric="precision", prior="jeffreys").distribution
    assert jeffreys == Share(80.5, 10.5)
    assert op.estimate(apart, "A", metric="recall", prior=2.0).distribution == Share(82, 22)
    assert op.estimate(apart, "A", metric="jaccard", prior=1).distribution == Share(81, 32)


@pytest.mark.parametrize("prior", [[[1.0, 1.0], [1.0, 1.0]], 0.0])
def test_a_prior_that_is_not_one_number_is_refused(apart, prior):
    with pytest.raises(UsageError):
        op.estimate(apart, "A", prior=prior)


def test_a_matrix_prior_is_refused_in_words(apart):
    with pytest.raises(
        UsageError, match="the prior for spans must be one positive number, used for every"
    ):
        op.estimate(apart, "A", prior=[[1.0, 1.0], [1.0, 1.0]])


# Seven cells


def test_recall_differs_by_a_known_dirichlet():
    c = ask(seven(), "recall")
    assert c.exact
    assert c.distribution == DirichletDifference(9.0, 6.0, 71.0 + 18.0)
    # mean and variance of θ10 − θ01 under one Dirichlet
    shapes = np.array([9.0, 6.0, 89.0])
    total = shapes.sum()
    assert c.mean == pytest.approx((9 - 6) / total, rel=1e-12)
    variance = ((9 + 6) / total - ((9 - 6) / total) ** 2) / (total + 1)
    assert c.sd == pytest.approx(variance**0.5, rel=1e-10)


def density_at_zero(a, b, c):
    """Return the density of θ₁ − θ₂ at zero under Dir(a, b, c)."""
    log_norm = gammaln(a + b + c) - gammaln(a) - gammaln(b) - gammaln(c)
    return np.exp(log_norm) * 0.5 ** (a + b - 1) * beta_function(a + b - 1, c)


def test_the_point_null_of_paired_recall():
    expected = density_at_zero(9, 6, 89) / density_at_zero(1, 1, 2)
    assert ask(seven(), "recall").bayes_factor_point_null().bf01 == pytest.approx(
        expected, rel=1e-10
    )


def test_the_point_null_of_paired_f1_has_no_closed_form():
    with pytest.raises(op.errors.UndefinedBayesFactorError, match="no closed form"):
        ask(seven(), "f1").bayes_factor_point_null()


def dirichlet(counts, shape, rng):
    """Draw the seven cells of each type at once, with numpy's own Dirichlet."""
    cells = rng.dirichlet(np.concatenate(counts) + shape, size=N_DRAWS).T
    return cells.reshape(len(counts), 7, -1)


def scores(cells):
    """Return tp, fn and fp of both models for each type."""
    both, only_a, only_b, neither, false_both, false_a, false_b = np.moveaxis(cells, 1, 0)
    a = both + only_a, only_b + neither, false_both + false_a
    b = both + only_b, only_a + neither, false_both + false_b
    return a, b


def f1(tp, fn, fp):
    return 2 * tp / (2 * tp + fn + fp)


def precision(tp, fn, fp):
    return tp / (tp + fp)


@pytest.mark.parametrize(("metric", "score"), [("f1", f1), ("precision", precision)])
@pytest.mark.parametrize(("prior", "shape"), [("uniform", 1.0), ("unit", 0.25)])
def test_draws_of_seven_cells_are_numpys(same, metric, score, prior, shape):
    a, b = scores(dirichlet([np.array(SEVEN)], shape, np.random.default_rng(11)))
    c = ask(seven(), metric, prior=prior)
    same(c.draws, (score(*a) - score(*b))[0])
    same(c.a.draws, score(*a)[0])


@pytest.mark.parametrize(("prior", "shape"), [(None, 0.25), ("uniform", 1.0)])
def test_draws_of_several_types_are_numpys(same, prior, shape):
    counts = [np.array(SEVEN), np.array(MORE)]
    a, b = scores(dirichlet(counts, shape, np.random.default_rng(12)))
    seen = two_types()
    c = ask(seen, "f1_macro", prior=prior)
    assert c.spec.prior.name == (prior or "unit")
    same(c.draws, (f1(*a) - f1(*b)).mean(axis=0))
    weights = (a[0] + a[1]) / (a[0] + a[1]).sum(axis=0)
    weighted = ask(seen, "f1_weighted", prior=prior)
    same(weighted.draws, ((f1(*a) - f1(*b)) * weights).sum(axis=0))


def test_a_planted_fault_would_be_seen(same):
    # Draws of the two models apart, as if nothing were shared, are not these.
    rng = np.random.default_rng(13)
    a, _ = scores(dirichlet([np.array(SEVEN)], 1.0, rng))
    _, b = scores(dirichlet([np.array(SEVEN)], 1.0, rng))
    with pytest.raises(AssertionError):
        same(ask(seven(), "f1", prior="uniform").draws, (f1(*a) - f1(*b))[0])


def test_micro_over_types_is_the_pooled_table(same):
    pooled = seven([one + other for one, other in zip(SEVEN, MORE, strict=True)])
    c = ask(two_types(), "f1_micro")
    assert c.spec.prior.name == "uniform"
    same(c.draws, ask(pooled, "f1").draws)
    assert c.a.observed == ask(pooled, "f1").a.observed


def test_unit_gives_each_model_half_a_span_in_each_cell():
    posterior = unit_spans(seven())
    assert posterior.shapes.sum() == sum(SEVEN) + 7 / 4
    for model, (tp, fn, fp) in enumerate([(78, 22, 10), (75, 25, 9)]):
        shapes = [posterior.part_shape(model, part, 0) for part in ("tp", "fn", "fp")]
        assert shapes == [tp + 0.5, fn + 0.5, fp + 0.5]
    alone = unit_spans(seven().select(["A"]))
    assert alone.part_shape(0, "tp", 0) == 78.5


def test_shapes_of_agreement():
    posterior = flat_spans(seven(), Prior.from_param(1.0))
    assert posterior.agreement_shapes(0) == (71.0, 9.0, 6.0, 18.0)
    assert posterior.agreement_shapes(None) is None
    assert posterior.row_shapes(0, 0) == (80.0, 24.0)


def test_scaled_counts_scale_the_shapes():
    posterior = flat_spans(scaled(seven(), 0.5), Prior.from_param(1.0))
    assert posterior.part_shape(0, "tp", 0) == 0.5 * 78 + 2
    assert posterior.part_shape(0, "fp", 0) == 0.5 * 10 + 2


def test_spans_found_by_neither_model_stay_in_the_prior():
    # With nothing counted, P(recall of A > recall of B) is one half.
    empty = emptied(seven())
    posterior = flat_spans(empty, Prior.from_param(1.0))
    assert posterior.agreement_shapes(0) == (1.0, 1.0, 1.0, 1.0)


# Words


@pytest.mark.parametrize("prior", ["learned", "hierarchical"])
def test_models_that_are_not_for_spans(prior):
    words = f"prior '{prior}' does not support spans; use one of bootstrap, uniform, jeffreys, unit"
    with pytest.raises(UsageError, match=words):
        ask(seven(), "f1", prior=prior)


def test_bare_counts_are_a_finding():
    for prior in (None, "unit", "bootstrap"):
        findings = {one.name: one.level for one in ask(seven(), "f1", prior=prior).findings}
        assert findings["independent_spans"] == "warning"
