"""The Bayes test from counts of folds, held against scipy and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

import outperform as op
from outperform.errors import UsageError
from tests.lazily import lazily
from tests.loops import each

beta = lazily("scipy.stats.beta")
betaprime = lazily("scipy.stats.betaprime")

A = [
    [80, 10, 20],
    [78, 12, 22],
    [81, 9, 19],
    [77, 11, 23],
    [79, 10, 21],
    [78, 13, 22],
    [80, 8, 20],
    [79, 12, 21],
    [82, 11, 18],
    [76, 10, 24],
]
B = [
    [82, 11, 18],
    [80, 12, 20],
    [83, 10, 17],
    [79, 12, 21],
    [84, 9, 16],
    [80, 11, 20],
    [81, 9, 19],
    [82, 13, 18],
    [80, 10, 20],
    [81, 12, 19],
]
WORTH = {1: 0.8109302162163288, 2: 0.505343, 3: 0.368802110327924, 5: 0.240091}
METRICS = ("precision", "recall", "f1", "jaccard")

# The published fold counts of named entities, IOB2 and IOBES: gold, predicted, correct.
NER = {
    "IOB2": [
        [11629, 11322, 10297],
        [11870, 11428, 10423],
        [11718, 11370, 10333],
        [11781, 11402, 10347],
        [11684, 11264, 10276],
        [11815, 11494, 10424],
    ],
    "IOBES": [
        [11629, 11329, 10326],
        [11870, 11440, 10429],
        [11718, 11357, 10354],
        [11781, 11386, 10339],
        [11684, 11269, 10270],
        [11815, 11481, 10447],
    ],
}


class Oracle:
    """Density, distribution and quantiles of a metric by scipy.stats."""

    def __init__(self, metric, rows, worth, prior=1.0):
        tp, fp, fn = worth * np.sum(rows, axis=0)
        self.f1 = metric == "f1"
        if self.f1:
            self.law = betaprime(fp + fn + 2 * prior, tp + prior)
        else:
            against = {"precision": fp, "recall": fn, "jaccard": fp + fn + prior}[metric]
            self.law = beta(tp + prior, against + prior)

    def pdf(self, t):
        return self.law.pdf(2 / t - 2) * 2 / t**2 if self.f1 else self.law.pdf(t)

    def cdf(self, t):
        return self.law.sf(2 / t - 2) if self.f1 else self.law.cdf(t)

    def ppf(self, p):
        return 2 / (2 + self.law.isf(p)) if self.f1 else self.law.ppf(p)


def worth(m):
    return op.results.Correlation().worth(m)


@each("m", [1, 2, 3, 5])
@each("metric", METRICS)
def test_one_model_has_the_density_of_scipy(metric, m):
    e = op.estimate_cv_counts(A[: 2 * m], metric=metric)
    known = Oracle(metric, A[: 2 * m], worth(m))
    assert worth(m) == pytest.approx(WORTH[m], abs=5.1e-7)
    t = np.linspace(0.6, 0.98, 15)
    assert e.pdf(t) == pytest.approx(known.pdf(t), rel=1e-10, abs=1e-300)
    assert e.cdf(t) == pytest.approx(known.cdf(t), rel=1e-10, abs=1e-15)
    for p in (0.001, 0.025, 0.5, 0.975):
        assert e.distribution.quantile(p) == pytest.approx(known.ppf(p), abs=1e-10)
    assert (e.eti.low, e.eti.high) == pytest.approx(known.ppf([0.025, 0.975]), abs=1e-10)
    assert e.exact
    assert e.mcse == 0


def test_the_density_takes_values_and_arrays():
    e = op.estimate_cv_counts(A[:2])
    assert round(e.pdf(0.8), 3) == round(float(e.pdf([0.8])[0]), 3)
    assert e.pdf([[0.7, 0.8]]).shape == (1, 2)
    assert e.cdf([]).shape == (0,)
    assert e.pdf([-1.0, 2.0]).tolist() == [0.0, 0.0]
    assert e.cdf([-1.0, 0.0, 1.0, 2.0]).tolist() == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize("metric", METRICS)
def test_the_hdi_is_narrower_than_equal_tails_and_as_high_at_both_ends(metric):
    e = op.estimate_cv_counts(A[:6], metric=metric, hdi_prob=0.9)
    assert e.cdf(e.hdi.high) - e.cdf(e.hdi.low) == pytest.approx(0.9, abs=1e-9)
    assert e.pdf(e.hdi.low) == pytest.approx(e.pdf(e.hdi.high), rel=1e-4)
    assert e.hdi.width < e.eti.width


@pytest.mark.parametrize("prior", [0.5, 3.0])
def test_the_prior_counts_true_positives_false_positives_and_false_negatives(prior):
    e = op.estimate_cv_counts(A[:6], metric="f1", prior=prior)
    known = Oracle("f1", A[:6], worth(3), prior)
    assert e.eti.low == pytest.approx(known.ppf(0.025), abs=1e-10)


@each("m", [1, 2, 3, 5])
@each("metric", METRICS)
def test_the_probability_that_b_is_better_is_the_integral(metric, m):
    c = op.compare_cv_counts(A[: 2 * m], B[: 2 * m], metric=metric)
    a, b = (Oracle(metric, rows[: 2 * m], worth(m)) for rows in (A, B))
    h1 = quad(lambda t: b.pdf(t) * a.cdf(t), 1e-9, 1 - 1e-12, epsabs=1e-12, limit=500)[0]
    assert c.p_h1 == pytest.approx(h1, abs=1e-8)
    assert c.p_h0 + c.p_h1 == pytest.approx(1.0, abs=1e-12)
    assert c.exact
    assert c.mcse == 0


def test_the_probability_that_b_is_better_is_that_of_a_simulation():
    generator = np.random.default_rng(3)
    n = 400_000
    values = []
    for rows in (A[:6], B[:6]):
        tp, fp, fn = worth(3) * np.sum(rows, axis=0)
        weights = generator.gamma([tp + 1, fp + 1, fn + 1], size=(n, 3)).T
        values.append(2 * weights[0] / (2 * weights[0] + weights[1] + weights[2]))
    c = op.compare_cv_counts(A[:6], B[:6])
    # Five standard errors of a share.
    assert c.p_h1 == pytest.approx(np.mean(values[1] > values[0]), abs=5 * 0.5 / n**0.5)
    difference = values[0] - values[1]
    assert c.mean == pytest.approx(difference.mean(), abs=5 * c.sd / n**0.5)
    assert c.sd == pytest.approx(difference.std(), rel=5 / (2 * n) ** 0.5)


@pytest.mark.parametrize(
    ("metric", "h1"), [("precision", 0.6799), ("recall", 0.6274), ("f1", 0.6998)]
)
def test_published_counts_of_named_entities(metric, h1):
    c = op.compare_cv_counts(*NER.values(), metric=metric, counts="gold_predicted_correct")
    assert c.p_h1 == pytest.approx(h1, abs=5e-5)
    assert c.accepted == "H1"
    assert not c.decision.decided or c.decision.symbol == "≈"


def test_both_kinds_of_counts_give_the_same_answer():
    gold = [[[tp + fn, tp + fp, tp] for tp, fp, fn in rows] for rows in (A[:6], B[:6])]
    one = op.compare_cv_counts(A[:6], B[:6], random_state=1)
    two = op.compare_cv_counts(*gold, counts="gold_predicted_correct", random_state=1)
    assert one.to_dict() == two.to_dict()
    assert np.array_equal(one.draws, two.draws)


@each("correlation", ["averaged", "integrated", "full", (0.1, 0.3)])
@each("metric", ["precision", "f1"])
def test_exchanging_a_and_b_mirrors_everything(metric, correlation):
    settings = {"metric": metric, "correlation": correlation, "rope": 0.02}
    one = op.compare_cv_counts(A[:6], B[:6], names=("x", "y"), **settings)
    two = op.compare_cv_counts(B[:6], A[:6], names=("y", "x"), **settings)
    tiny = 1e-9
    assert two.p_h1 == pytest.approx(one.p_h0, abs=tiny)
    assert two.mean == pytest.approx(-one.mean, abs=tiny)
    assert two.sd == pytest.approx(one.sd, abs=tiny)
    assert (two.eti.low, two.eti.high) == pytest.approx((-one.eti.high, -one.eti.low), abs=tiny)
    assert (two.hdi.low, two.hdi.high) == pytest.approx((-one.hdi.high, -one.hdi.low), abs=1e-7)
    assert (two.p_worse, two.p_better) == pytest.approx((one.p_better, one.p_worse), abs=tiny)
    assert two.decision is one.decision.mirrored
    assert {one.accepted, two.accepted} == {"H0", "H1"}
    assert (two.a.mean, two.b.mean) == (one.b.mean, one.a.mean)


def test_equal_models_are_a_coin_toss_for_the_paper_and_undecided_for_the_decision():
    c = op.compare_cv_counts(A[:6], A[:6], rope=0.01)
    assert c.p_h0 == pytest.approx(0.5, abs=1e-12)
    assert c.decision.symbol == "?"
    assert "likelier_hypothesis" in {finding.name for finding in c.findings}


def test_less_worth_gives_wider_intervals():
    widths = [
        op.compare_cv_counts(A[:6], B[:6], correlation=one).hdi.width
        for one in ((0.0, 0.25), "averaged", (0.5, 0.5), "full")
    ]
    assert widths == sorted(widths)


def test_the_same_seed_gives_the_same_draws():
    one, two = (op.compare_cv_counts(A[:6], B[:6], random_state=5) for _ in range(2))
    other = op.compare_cv_counts(A[:6], B[:6], random_state=6)
    assert np.array_equal(one.draws, two.draws)
    assert not np.array_equal(one.draws, other.draws)
    assert one.hdi == other.hdi


@pytest.mark.parametrize("correlation", ["averaged", "integrated"])
def test_draws_follow_the_exact_difference(correlation):
    n = 40_000
    c = op.compare_cv_counts(A[:6], B[:6], correlation=correlation, n_draws=n, random_state=2)
    assert c.draws.shape == (n,)
    assert c.draws.mean() == pytest.approx(c.mean, abs=5 * c.sd / n**0.5)
    assert np.mean(c.draws > 0) == pytest.approx(c.p_greater, abs=5 * 0.5 / n**0.5)


def test_few_draws_are_spread_over_the_mixture():
    assert (
        op.compare_cv_counts(A[:6], B[:6], correlation="integrated", n_draws=100).draws.size == 100
    )


@pytest.mark.parametrize("scale", [10**6, 10**17])
def test_many_counts_are_no_trouble(scale):
    rows = [[[value * scale for value in row] for row in folds[:6]] for folds in (A, B)]
    c = op.compare_cv_counts(*rows)
    assert c.mean == pytest.approx(c.observed, rel=1e-6)
    assert 0 < c.sd < 1e-4


@each("metric", ["accuracy", "f1_macro", "f1_micro", "matthews_corrcoef", "specificity"])
def test_metrics_that_need_more_than_the_counts_are_refused(metric):
    sentence = "need the metric precision, recall, f1, jaccard or another F-beta; got"
    with pytest.raises(UsageError, match=sentence):
        op.compare_cv_counts(A[:6], B[:6], metric=metric)
    with pytest.raises(UsageError, match=sentence):
        op.estimate_cv_counts(A[:6], metric=metric)


def test_another_f_beta_is_one_of_them():
    c = op.compare_cv_counts(A[:6], B[:6], metric=op.metrics.fbeta(2))
    assert c.exact
    assert c.metric == "f2"


@each(
    ("wrong", "sentence"),
    [
        ({"names": ("x", "x")}, "two different names"),
        ({"names": ("x", "y", "z")}, "two different names"),
        ({"names": (1, 2)}, "must be text"),
        ({"hdi_prob": 95}, "hdi_prob must lie between 0 and 1"),
        ({"n_draws": 5}, "n_draws must be a whole number of at least 100"),
        ({"rope": "wide"}, "rope must be"),
        ({"random_state": "x"}, "random_state must be"),
        ({"prior": -1.0}, "prior"),
        ({"prior": [[1, 1], [1, 1]]}, "one positive number, used for every cell"),
        ({"correlation": "none"}, "unknown correlation"),
    ],
)
def test_wrong_arguments_are_refused(wrong, sentence):
    with pytest.raises(UsageError, match=sentence):
        op.compare_cv_counts(A[:6], B[:6], **wrong)


def test_spans_are_not_assumed():
    found = {finding.name for finding in op.compare_cv_counts(A[:6], B[:6]).findings}
    assert "independent_spans" not in found
    assert "unpaired_outcomes" not in found


def test_few_counts_are_measured_by_one_repetition():
    rows = [[9, 4, 3], [8, 3, 4], [9, 4, 3], [8, 3, 4], [8, 4, 4], [9, 3, 3]]
    (finding,) = [one for one in op.estimate_cv_counts(rows).findings if one.name == "sparse_cells"]
    assert "21 false negatives" in finding.message
    assert "counted 3 times" in finding.message
    many = np.array(A[:6])
    assert "sparse_cells" not in {one.name for one in op.estimate_cv_counts(many).findings}
