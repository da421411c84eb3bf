"""Importance weights: the weighted metric, as uncertain as the effective sample size says."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError
from outperform.posterior.bootstrap import bootstrap
from tests.lazily import lazily
from tests.loops import each

sk = lazily("sklearn.metrics")

N = 400
FEW = {"rope": 0.01, "n_draws": 4_000, "random_state": 7}


def items(n=N, n_classes=2, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    a, b = (
        np.where(rng.random(n) < share, truth, rng.integers(0, n_classes, n))
        for share in (0.75, 0.6)
    )
    return truth, a, b, rng.lognormal(size=n)


def by_hand(values, weights, n_draws=4_000, groups=None, seed=3):
    """Return a plain weighted Bayesian bootstrap of a weighted mean."""
    rng = np.random.default_rng(seed)
    units = np.arange(len(values)) if groups is None else np.asarray(groups)
    e = rng.standard_exponential((n_draws, units.max() + 1))[:, units] * weights
    return (e * values).sum(axis=1) / e.sum(axis=1)


def assert_same_distribution(one, other):
    """Two samples: means and sds within five Monte Carlo errors, quantiles by Kolmogorov."""
    from scipy.stats import ks_2samp

    error = np.hypot(one.std() / np.sqrt(one.size), other.std() / np.sqrt(other.size))
    assert abs(one.mean() - other.mean()) < 5 * error
    assert one.std() == pytest.approx(other.std(), rel=5 / np.sqrt(one.size))
    assert ks_2samp(one, other).pvalue > 1e-4


def names_of(result):
    return {finding.name for finding in result.findings}


# What the weights mean is said


def test_what_weights_mean_is_always_said():
    truth, a, b, weights = items()
    by_importance = op.compare(truth, a, b, sample_weight=weights, **FEW)
    assert "importance_weights" in names_of(by_importance)
    assert by_importance.n == N
    shown = next(one for one in by_importance.findings if one.name == "importance_weights")
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert f"is {effective:.1f} of 400 items" in shown.message
    assert by_importance.to_dict()["n_effective"] == pytest.approx(effective, rel=1e-12)
    assert f"(weighted, worth {effective:.1f})" in by_importance.report()
    assert "importance_weights" not in names_of(op.compare(truth, a, b, **FEW))


@pytest.mark.parametrize("number", [int, float])
def test_whether_weights_are_whole_changes_nothing(number):
    truth, a, b, _ = items()
    weights = np.where(np.arange(N) % 3, 10, 1).astype(number)  # 1 / probability of 1/10 and 1
    whole = op.compare(truth, a, b, sample_weight=weights, **FEW)
    nearly = op.compare(truth, a, b, sample_weight=1.000001 * weights, **FEW)
    assert np.allclose(whole.draws, nearly.draws, rtol=0, atol=1e-12)
    assert (whole.n, whole.spec.prior.name) == (N, "bootstrap")
    # One weight that is not whole, and the rest stays what it was.
    almost = weights + np.eye(1, N)[0] * 1e-9
    other = op.compare(truth, a, b, sample_weight=almost, **FEW)
    assert other.sd == pytest.approx(whole.sd, rel=0.05)
    # As so many items, the same numbers claim an interval that is far too narrow.
    counted = op.Outcomes.from_counts(truth, {"A": a, "B": b}, weights)
    assert whole.sd > 2 * op.compare(counted, "A", "B", prior="bootstrap", **FEW).sd


@pytest.mark.parametrize("prior", ["uniform", "unit", "hierarchical", "learned"])
def test_models_that_count_items_refuse_importance(prior):
    truth, a, b, weights = items(40)
    with pytest.raises(UsageError, match="does not support importance weights"):
        op.compare(truth, a, b, sample_weight=weights, prior=prior)
    with pytest.raises(UsageError, match="does not support importance weights"):
        op.compare(truth, a, b, sample_weight=weights, prior="jeffreys")


def test_outcomes_and_scores_have_their_weights_already():
    truth, a, b, weights = items(40)
    seen = op.Outcomes.from_labels(truth, {"a": a, "b": b}, sample_weight=weights)
    with pytest.raises(UsageError, match="remove sample_weight"):
        op.compare(seen, "a", "b", sample_weight=weights)
    with pytest.raises(UsageError, match="remove sample_weight"):
        op.rank(seen, sample_weight=weights)


def test_few_effective_items_are_a_warning():
    truth, a, b, _ = items()
    heavy = np.ones(N)
    heavy[:3] = 500.0
    c = op.compare(truth, a, b, sample_weight=heavy, **FEW)
    assert names_of(c) >= {"few_effective_items"}
    assert "few_groups" not in names_of(c)


def test_disagreements_are_counted_in_items():
    truth, _, _, _ = items()
    a, b = truth.copy(), truth.copy()
    a[:9] = 1 - a[:9]
    weights = np.full(N, 0.5)
    weights[:9] = 100.5
    c = op.compare(truth, a, b, metric="accuracy", sample_weight=weights, **FEW)
    found = next(one for one in c.findings if one.name == "few_disagreements")
    assert "disagree on only 9 items" in found.message
    assert c.decision.symbol == "?" or not c.decision.decided


# The numbers


@each("metric", op.metrics.names())
def test_observed_is_that_of_scikit_learn(metric):
    if metric.startswith(("specificity", "informedness")):
        pytest.skip("scikit-learn has none")
    n_classes = 2 if op.metrics.get(metric).average == "binary" else 4
    truth, a, _, weights = items(n_classes=n_classes)
    e = op.estimate(truth, a, metric=metric, sample_weight=weights, n_draws=100)
    assert e.observed == pytest.approx(
        reference(metric)(truth, a, sample_weight=weights), abs=1e-12
    )


def reference(metric):
    own = {"accuracy": "accuracy_score", "cohen_kappa": "cohen_kappa_score"}
    kept = ("balanced_accuracy", "matthews_corrcoef")
    if metric in own or metric in kept:
        return getattr(sk, own.get(metric, metric.replace("_accuracy", "_accuracy_score")))
    name, _, average = metric.partition("_")
    return lambda *arrays, **given: getattr(sk, f"{name}_score")(
        *arrays, average=average or "binary", zero_division=0, **given
    )


def test_the_spread_is_that_of_the_sandwich():
    truth, a, b, weights = items(n=2_000)
    c = op.compare(truth, a, b, metric="accuracy", sample_weight=weights, **FEW)
    x = (a == truth).astype(float) - (b == truth)
    mean = np.average(x, weights=weights)
    sandwich = np.sqrt((weights**2 * (x - mean) ** 2).sum()) / weights.sum()
    # Linearised, so right to the order of one effective item, and 4,000 draws.
    slack = 1 / np.sqrt(c.spec.n_effective) + 4 / np.sqrt(2 * 4_000)
    assert c.sd == pytest.approx(sandwich, rel=slack)
    assert c.mean == pytest.approx(mean, abs=5 * c.mcse + sandwich / 30)


@pytest.mark.usefixtures("plain_weights")
@pytest.mark.parametrize("with_groups", [False, True])
def test_it_is_the_plain_weighted_bootstrap(with_groups):
    truth, a, b, weights = items(n=60)
    groups = np.arange(60) // 3 if with_groups else None
    c = op.compare(truth, a, b, metric="accuracy", sample_weight=weights, groups=groups, **FEW)
    x = (a == truth).astype(float) - (b == truth)
    assert_same_distribution(c.draws, by_hand(x, weights, groups=groups))


def test_a_bootstrap_with_the_weights_squared_is_seen_to_differ():
    # The test above would not be worth much if this passed.
    truth, a, b, weights = items(n=60)
    c = op.compare(truth, a, b, metric="accuracy", sample_weight=weights, **FEW)
    x = (a == truth).astype(float) - (b == truth)
    with pytest.raises(AssertionError):
        assert_same_distribution(c.draws, by_hand(x, weights**2))


def test_the_scale_of_the_weights_means_nothing():
    truth, a, b, weights = items()
    results = [
        op.compare(truth, a, b, metric="f1", sample_weight=factor * weights, **FEW)
        for factor in (1.0, 7.3, 1e-290, 1e290)
    ]
    for one, other in pairwise(results):
        assert np.allclose(one.draws, other.draws, rtol=0, atol=1e-12)
        assert one.observed == pytest.approx(other.observed, abs=1e-12)
        assert one.spec.n_effective == pytest.approx(other.spec.n_effective, rel=1e-12)


def test_equal_weights_are_no_weights():
    truth, a, b, _ = items(n=80, n_classes=3)
    weighed = op.compare(truth, a, b, sample_weight=[2] * 80, metric="f1_macro", **FEW)
    plain = op.compare(truth, a, b, prior="bootstrap", metric="f1_macro", **FEW)
    assert weighed.observed == pytest.approx(plain.observed, abs=1e-14)
    assert weighed.spec.n_effective == pytest.approx(80, rel=1e-12)
    # Patterns of equal cells are the cells, so even the draws are the same.
    assert np.allclose(np.sort(weighed.draws), np.sort(plain.draws), atol=1e-12)


def test_twice_the_weight_is_not_two_items():
    truth, a, b, _ = items(n=100)
    once = op.compare(truth, a, b, metric="accuracy", prior="bootstrap", **FEW)
    rows = np.repeat(np.arange(100), 2)
    given = {"metric": "accuracy", "prior": "bootstrap", **FEW}
    repeated = op.compare(truth[rows], a[rows], b[rows], **given)
    counted = op.Outcomes.from_counts(truth, {"A": a, "B": b}, [2] * 100)
    frequent = op.compare(counted, "A", "B", **given)
    assert np.array_equal(repeated.draws, frequent.draws)
    important = op.compare(truth, a, b, sample_weight=[2] * 100, **given)
    assert important.sd == pytest.approx(once.sd, rel=0.05)
    assert frequent.sd == pytest.approx(once.sd / np.sqrt(2), rel=0.06)


def test_weights_of_very_different_size_lose_no_digits():
    truth, a, b, _ = items(n=50)
    models = {"a": a, "b": b, "c": truth}  # three models are added up by their errors
    weights = np.where(np.arange(50) < 25, 1e-14, 1e6)
    seen = op.Outcomes.from_labels(truth, models, sample_weight=weights)
    posterior = bootstrap(seen)
    assert posterior._spread == pytest.approx(1e20)
    r = op.rank(seen, metric="recall", rope=0.01, n_draws=1_000, random_state=1)
    light = op.rank(truth[25:], {k: v[25:] for k, v in models.items()}, metric="recall",
                    prior="bootstrap", rope=0.01, n_draws=1_000, random_state=1)  # fmt: skip
    for name in models:
        assert r[name].observed == pytest.approx(light[name].observed, abs=1e-9)
        # Before pooling: weights that are known to spread widely are pooled more.
        assert r[name].raw.mean == pytest.approx(light[name].raw.mean, abs=0.03)


# Every verb, and scores


def test_every_verb_takes_weights():
    truth, a, b, weights = items(n=120)
    given = {"sample_weight": weights, "n_draws": 200}
    weighed = op.Outcomes.from_labels(truth, {"a": a, "b": b}, sample_weight=weights)
    results = [
        op.compare(truth, a, b, **given),
        op.estimate(truth, a, **given),
        op.rank(truth, {"a": a, "b": b, "c": truth}, **given),
        op.scorecard(truth, a, b, metrics=["f1", "recall"], **given)["recall"],
        op.gate(weighed, "a", "b", n_draws=200).main,
        op.compare(truth, a, b, **given).by_class()[1],
        op.compare(truth, a, b, **given).with_metric("accuracy"),
        op.compare(truth, a, b, paired=False, **given),
    ]
    for result in results:
        assert "importance_weights" in names_of(result)
        assert "effective=" in result.signature


@pytest.mark.usefixtures("plain_weights")  # a function is widened by the number of items
@pytest.mark.parametrize(
    ("metric", "function"),
    [
        ("roc_auc", sk.roc_auc_score),
        ("average_precision", sk.average_precision_score),
        ("log_loss", sk.log_loss),
        ("brier_score", sk.brier_score_loss),
    ],
)
def test_scores_are_weighed_as_in_scikit_learn(metric, function):
    truth, _, _, weights = items()
    a, b = np.random.default_rng(5).random((2, N)).round(2)
    c = op.compare(truth, a, b, metric=metric, sample_weight=weights, **FEW)
    expected = [function(truth, score, sample_weight=weights) for score in (a, b)]
    assert [c.a.observed, c.b.observed] == pytest.approx(expected, abs=1e-9)
    assert "importance_weights" in names_of(c)
    own = op.compare(
        truth,
        a,
        b,
        metric=op.metrics.from_score_function(lambda y, s, w: function(y, s, sample_weight=w)),
        sample_weight=weights,
        **{**FEW, "n_draws": 200},
    )
    assert own.observed == pytest.approx(c.observed, abs=1e-9)
    assert own.sd == pytest.approx(c.sd, rel=0.25)


@pytest.mark.usefixtures("plain_weights")
@pytest.mark.parametrize("with_groups", [False, True])
def test_grades_are_the_plain_weighted_bootstrap(with_groups):
    rng = np.random.default_rng(11)
    a, b, weights = rng.normal(size=60), rng.normal(size=60), rng.lognormal(size=60)
    groups = np.arange(60) // 3 if with_groups else None
    c = op.compare(None, a, b, metric="mean", sample_weight=weights, groups=groups, **FEW)
    assert_same_distribution(c.draws, by_hand(a - b, weights, groups=groups))


def test_rankings_of_scores_are_weighed_too():
    truth, _, _, weights = items(n=120)
    scores = dict(zip("abc", np.random.default_rng(5).random((3, 120)), strict=True))
    given = {"metric": "roc_auc", "rope": 0.01, "n_draws": 200, "sample_weight": weights}
    r = op.rank(truth, scores, **given)
    assert "importance_weights" in names_of(r)
    expected = sk.roc_auc_score(truth, scores["a"], sample_weight=weights)
    assert r["a"].observed == pytest.approx(expected, abs=1e-12)


def test_equal_scores_of_unequal_weight_are_not_merged():
    truth, _, _, weights = items()
    a, b = np.random.default_rng(5).random((2, N)).round(0)
    c = op.compare(truth, a, b, metric="roc_auc", sample_weight=weights, **FEW)
    assert c.spec.view.n_rows == N
    expected = sk.roc_auc_score(truth, a, sample_weight=weights)
    assert c.a.observed == pytest.approx(expected, abs=1e-12)
