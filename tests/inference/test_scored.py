"""Comparisons of scores: closed forms, DeLong, symmetry, groups, and every way out."""

from __future__ import annotations

import json
from dataclasses import replace
from pkgutil import resolve_name

import numpy as np
import pytest

import outperform as op
from outperform.errors import DataError, ResourceError, UndefinedBayesFactorError, UsageError
from tests.lazily import lazily
from tests.loops import each
from verification.delong import delong

average_precision_score = lazily("sklearn.metrics.average_precision_score")
brier_score_loss = lazily("sklearn.metrics.brier_score_loss")
log_loss = lazily("sklearn.metrics.log_loss")
roc_auc_score = lazily("sklearn.metrics.roc_auc_score")

N_DRAWS = 4_000
SKLEARN = {
    "roc_auc": roc_auc_score,
    "average_precision": average_precision_score,
    "log_loss": log_loss,
    "neg_log_loss": lambda y, s: -log_loss(y, s),
    "brier_score": brier_score_loss,
    "neg_brier_score": lambda y, s: -brier_score_loss(y, s),
}


def scores(n, *, seed=0, share=0.4, gap=0.5):
    """Return truth and probabilities of two models that agree a lot; A is the better one."""
    generator = np.random.default_rng(seed)
    truth = (generator.random(n) < share).astype(int)
    hard = generator.normal(size=n)
    a, b = (
        1 / (1 + np.exp(-(2 * distance * (truth - 0.5) + hard + 0.5 * generator.normal(size=n))))
        for distance in (1 + gap, 1.0)
    )
    return truth, a, b


def compared(y, a, b, metric="roc_auc", **more):
    return op.compare(
        y, a, b, metric=metric, **({"rope": 0.01, "n_draws": N_DRAWS, "random_state": 1} | more)
    )


@each("metric", SKLEARN)
def test_observed_is_scikit_learns(metric):
    y, a, b = scores(700)
    c = compared(y, a, b, metric)
    assert c.a.observed == pytest.approx(SKLEARN[metric](y, a), abs=1e-12)
    assert c.b.observed == pytest.approx(SKLEARN[metric](y, b), abs=1e-12)
    assert c.observed == c.a.observed - c.b.observed
    assert c.spec.prior.name == "bootstrap"
    assert c.bayes_factor is None


@pytest.mark.parametrize("metric", ["log_loss", "brier_score", "mean"])
def test_weighted_means_have_the_moments_of_the_dirichlet(metric):
    y, a, b = scores(300)
    if metric == "mean":
        values = a - b
    elif metric == "brier_score":
        values = (a - y) ** 2 - (b - y) ** 2
    else:
        values = np.log(np.where(y, b, 1 - b)) - np.log(np.where(y, a, 1 - a))
    c = compared(None if metric == "mean" else y, a, b, metric, n_draws=40_000)
    sd = values.std() / np.sqrt(len(values) + 1)
    # Five Monte Carlo errors of a mean and of a standard deviation.
    assert c.mean == pytest.approx(values.mean(), abs=5 * sd / 200)
    assert c.sd == pytest.approx(sd, rel=5 / np.sqrt(2 * 40_000))


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_the_spread_of_auc_is_delongs(share):
    y, a, b = scores(1_500, share=share, seed=3)
    c = compared(y, a, b, n_draws=10_000)
    auc, covariance = delong(y == 1, np.stack([a, b]))
    assert (c.a.observed, c.b.observed) == pytest.approx(auc, abs=1e-12)
    error = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert c.sd == pytest.approx(error, rel=0.03)
    assert (c.a.sd, c.b.sd) == pytest.approx(np.sqrt(np.diag(covariance)), rel=0.03)
    # A pairing that was lost would show at once.
    apart = compared(y, a, b, paired=False, n_draws=10_000)
    assert apart.sd > 1.3 * error
    assert apart.sd == pytest.approx(np.sqrt(np.trace(covariance)), rel=0.03)
    assert not apart.spec.paired


def test_delong_itself_is_the_covariance_of_placements():
    y, a, b = scores(60, seed=9)
    a, b = np.round(a, 1), np.round(b, 1)
    wins = [
        (s[y == 1][:, None] > s[y == 0]) + 0.5 * (s[y == 1][:, None] == s[y == 0]) for s in (a, b)
    ]
    expected = np.cov([w.mean(axis=1) for w in wins]) / (y == 1).sum()
    expected = expected + np.cov([w.mean(axis=0) for w in wins]) / (y == 0).sum()
    auc, covariance = delong(y == 1, np.stack([a, b]))
    assert auc == pytest.approx([w.mean() for w in wins], abs=1e-12)
    assert covariance == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", "log_loss", "mean"])
def test_swapping_the_models_turns_the_answer(metric):
    y, a, b = scores(400)
    y = None if metric == "mean" else y
    ahead, behind = compared(y, a, b, metric), compared(y, b, a, metric)
    assert ahead.observed == pytest.approx(-behind.observed, abs=1e-14)
    error = 6 * np.hypot(ahead.mcse, behind.mcse)
    assert ahead.mean == pytest.approx(-behind.mean, abs=error)
    assert ahead.p_better == pytest.approx(behind.p_worse, abs=0.05)


def test_lower_is_better_where_it_is_a_loss():
    y, a, b = scores(3_000)
    loss, negative = compared(y, a, b, "log_loss"), compared(y, a, b, "neg_log_loss")
    assert loss.observed < 0 < negative.observed
    assert loss.decision is negative.decision is op.Decision.BETTER
    assert loss.draws == pytest.approx(-negative.draws, abs=1e-12)
    assert "where lower is better" in loss.report()
    assert op.gate(y, a, b, metric="log_loss", rope=0.01, n_draws=N_DRAWS).status.value == "pass"


def test_equal_rows_weigh_what_they_would_apart():
    generator = np.random.default_rng(5)
    n = 4_000
    item = generator.integers(1, 9, n)
    a, b = (np.clip(item + generator.integers(-1, 3, n), 1, 10) for _ in range(2))
    c = compared(None, a, b, "mean", rope=0.1, n_draws=40_000)
    assert c.spec.view.n_rows < 100
    sd = (a - b).std() / np.sqrt(n + 1)
    assert c.sd == pytest.approx(sd, rel=0.02)
    y = generator.integers(0, 2, n)
    merged = compared(y, a, b, n_draws=20_000)
    auc, covariance = delong(y == 1, np.stack([a, b]).astype(float))
    assert merged.a.observed == pytest.approx(auc[0], abs=1e-12)
    error = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert merged.sd == pytest.approx(error, rel=0.03)


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", "brier_score"])
def test_counts_are_repeated_items(metric):
    y, a, b = scores(300)
    times = np.random.default_rng(2).integers(1, 4, 300)
    seen = replace(op.Scores.from_arrays(y, {"a": a, "b": b}), counts=times)
    weighed = op.compare(seen, "a", "b", metric=metric, rope=0.01, n_draws=20_000, random_state=1)
    apart = compared(*(np.repeat(one, times) for one in (y, a, b)), metric, n_draws=20_000)
    assert weighed.n == apart.n
    assert weighed.observed == pytest.approx(apart.observed, abs=1e-12)
    assert weighed.sd == pytest.approx(apart.sd, rel=0.04)


def test_groups_get_one_weight_and_widen_the_interval():
    y, a, b = (np.repeat(one, 5) for one in scores(200))
    apart, together = compared(y, a, b), compared(y, a, b, groups=np.repeat(np.arange(200), 5))
    alone = compared(*scores(200))
    assert together.observed == pytest.approx(apart.observed, abs=1e-12)
    assert together.sd == pytest.approx(alone.sd, rel=0.06)
    assert apart.sd == pytest.approx(alone.sd / np.sqrt(5), rel=0.08)
    assert "groups=200" in together.signature


def test_repeated_samples_of_an_item_are_one_group():
    generator = np.random.default_rng(4)
    items = 150
    grades = generator.normal(size=(2, items, 1)) + 0.2 * generator.normal(size=(2, items, 4))
    seen = op.Scores.from_values(
        {"a": grades[0].ravel(), "b": grades[1].ravel()}, groups=np.repeat(np.arange(items), 4)
    )
    c = op.compare(seen, "a", "b", metric="mean", rope=0.1, n_draws=40_000, random_state=0)
    means = (grades[0] - grades[1]).mean(axis=1)
    assert c.sd == pytest.approx(means.std() / np.sqrt(items + 1), rel=0.02)


def test_draws_depend_on_the_seed_and_not_on_threads_or_the_order_of_rows():
    y, a, b = scores(3_000)
    first = compared(y, a, b, n_jobs=1)
    assert np.array_equal(first.draws, compared(y, a, b, n_jobs=2).draws)
    order = np.random.default_rng(0).permutation(3_000)
    assert first.draws == pytest.approx(compared(y[order], a[order], b[order]).draws, abs=1e-12)
    assert not np.array_equal(first.draws, compared(y, a, b, random_state=2).draws)


def test_a_scorecard_reads_all_metrics_off_the_same_weights():
    y, a, b = scores(500)
    card = op.scorecard(
        y, a, b, metrics=["roc_auc", "log_loss", "brier_score"], rope=0.02, n_draws=N_DRAWS,
        random_state=1,
    )  # fmt: skip
    alone = compared(y, a, b, "roc_auc", rope=0.02)
    assert np.array_equal(card["roc_auc"].draws, alone.draws)
    assert np.corrcoef(card["log_loss"].draws, card["brier_score"].draws)[0, 1] > 0.8
    assert "roc_auc" in str(card)
    assert len(card.to_frame()) == 3


def test_functions_of_ones_own_stand_beside_other_metrics():
    y, a, b = scores(100)
    own = op.metrics.from_score_function(
        lambda y_true, score, weight: np.average((score - y_true) ** 2, weights=weight),
        name="own", bounds=(0, 1), greater_is_better=False,
    )  # fmt: skip
    card = op.scorecard(y, a, b, metrics=["brier_score", own], n_draws=2_000, random_state=1)
    one, two = card
    assert one.observed == pytest.approx(two.observed, abs=1e-12)
    assert one.sd == pytest.approx(two.sd, rel=5 / np.sqrt(2_000))


def test_estimates_and_named_models():
    y, a, b = scores(500)
    seen = op.Scores.from_arrays(y, {"bert": a, "gpt": b})
    one = op.estimate(seen, "gpt", metric="roc_auc", n_draws=N_DRAWS, random_state=1)
    assert one.name == "gpt"
    assert one.observed == pytest.approx(roc_auc_score(y, b), abs=1e-12)
    assert "ROC AUC" in one.report()
    perfect = op.estimate(y, y + a, metric="average_precision", n_draws=N_DRAWS)
    assert perfect.draws.max() <= 1 == perfect.observed
    assert op.estimate(y, b, metric="roc_auc", n_draws=N_DRAWS, random_state=1).mean == one.mean
    c = op.compare(seen, "bert", "gpt", metric="roc_auc", rope=0.01, n_draws=N_DRAWS)
    assert c.names == ("bert", "gpt")
    for call, complaint in (
        (lambda: op.compare(seen, a, b, metric="roc_auc"), "pass the names of the models"),
        (lambda: op.compare(seen, "bert", "bert", metric="roc_auc"), "must differ"),
        (lambda: op.compare(seen, "bert", "gpt"), "name the metric of these scores"),
        (lambda: op.compare(seen, "bert", "gpt", metric="f1"), "'f1' is computed from labels"),
        (lambda: op.compare(seen, "bert", "gpt", metric="roc_auc", groups=y), "remove groups"),
        (lambda: op.estimate(seen, b, metric="roc_auc"), "pass the name of the model"),
        (
            lambda: op.estimate(seen, "gpt", metric=resolve_name("sklearn.metrics.roc_auc_score")),
            "must take y_true, score and",
        ),
        (lambda: op.estimate(seen, "gpt", metric=op.metrics.get("f1")), "'f1' is computed from"),
        (lambda: c.with_metric("recall"), "'recall' is computed from labels"),
    ):
        with pytest.raises(UsageError, match=complaint):
            call()


def test_every_way_out_works(tmp_path):
    y, a, b = scores(300)
    c = compared(y, a, b)
    json.dumps(c.to_dict())
    for text in (str(c), repr(c), c.report(), c.report(length="short"), c.to_markdown()):
        assert "ROC AUC" in text
    assert "roc" in c.to_latex()
    assert c.to_html().startswith("<")
    assert len(c.to_frame()) == len(c.to_polars()) == c.to_arrow().num_rows == 1
    for plot in (c.plot, c.plot_rope_curve, c.plot_models, c.a.plot):
        plot()
    assert c.with_rope(0.2).rope.high == 0.2
    assert c.with_metric("log_loss").metric == "log_loss"
    assert c.rope_curve()
    op.write_report(c, tmp_path / "report.html")
    assert "ROC AUC" in (tmp_path / "report.html").read_text(encoding="utf-8")
    for door in (c.by_class, c.plot_confusion):
        with pytest.raises(UsageError, match="scores, which have no confusion matrix"):
            door()
    for door in (c.bayes_factor_point_null, c.plot_bayes_factor):
        with pytest.raises(UndefinedBayesFactorError, match=r"is (improper|not proper)"):
            door()


def test_the_rope_must_be_given_where_the_metric_has_other_units():
    y, a, b = scores(200)
    more = {"rope": None}
    assert compared(y, a, b, "brier_score", **more).rope.default
    assert compared(None, a, b, "mean", **more).rope.high == 0.01
    for asked in (
        lambda: compared(y, a, b, "log_loss", **more),
        lambda: compared(None, 10 * a, 10 * b, "mean", **more),
        lambda: compared(y, a, b, lambda t, s, w: 0.5, **more),
    ):
        with pytest.raises(UsageError, match="no default ROPE"):
            asked()


def test_a_function_of_truth_score_and_weight():
    y, a, b = scores(60)
    labels = np.where(y, "spam", "ham")

    def auc(y_true, score, weight):
        return roc_auc_score(y_true == "spam", score, sample_weight=weight)

    c = compared(labels, a, b, auc, n_draws=300)
    assert c.metric == "auc"
    assert c.a.observed == pytest.approx(roc_auc_score(y, a), abs=1e-12)
    reference = compared(y, a, b, n_draws=4_000)
    assert c.sd == pytest.approx(reference.sd, rel=5 / np.sqrt(600))
    bounded = op.metrics.from_score_function(auc, bounds=(0, 1))
    assert compared(labels, a, b, bounded, rope=None, n_draws=100).rope.default


def test_several_classes_have_log_loss_and_brier_score():
    generator = np.random.default_rng(3)
    y = generator.integers(0, 3, 400)
    a, b = (generator.dirichlet(np.ones(3), 400) * 0.5 for _ in range(2))
    a[np.arange(400), y] += 0.5
    b[np.arange(400), y] += 0.5
    for metric in ("log_loss", "brier_score"):
        c = compared(y, a, b, metric, rope=0.05)
        expected = SKLEARN[metric](y, a)
        assert c.a.observed == pytest.approx(expected, abs=1e-12)
        assert c.spec.pos_label is None
    with pytest.raises(UsageError, match="no positive class"):
        compared(y, a, b, "log_loss", pos_label=1)
    with pytest.raises(UsageError, match="one class against the rest, but there are 3"):
        compared(y, a[:, 0], b[:, 0], "roc_auc")
    one = compared(y, a[:, 2], b[:, 2], "roc_auc", pos_label=2)
    assert one.a.observed == pytest.approx(roc_auc_score(y == 2, a[:, 2]), abs=1e-12)
    with pytest.raises(UsageError, match="pass the column of the positive class"):
        compared(y, a, b, "roc_auc", pos_label=2)


def test_two_columns_are_the_probabilities_of_both_classes():
    y, a, b = scores(200)
    both = [np.stack([1 - one, one], axis=1) for one in (a, b)]
    for metric in ("roc_auc", "log_loss"):
        found, expected = compared(y, *both, metric), compared(y, a, b, metric)
        assert found.observed == pytest.approx(expected.observed, abs=1e-12)


def test_the_positive_class_must_be_known():
    y, a, b = scores(100)
    names = np.where(y, "spam", "ham")
    with pytest.raises(UsageError, match="pos_label='ham' or 'spam'"):
        compared(names, a, b)
    assert compared(names, a, b, pos_label="spam").observed == compared(y, a, b).observed
    turned = compared(names, a, b, pos_label="ham")
    assert turned.observed == pytest.approx(-compared(y, a, b).observed, abs=1e-12)


@each(
    ("call", "error", "complaint"),
    [
        (lambda y, a: compared(y, a, 2 * a, "log_loss"), DataError, "probabilities from 0 to 1"),
        (lambda y, a: compared(y, a, a, "mean"), UsageError, "grades, which have no truth"),
        (lambda y, a: compared(None, a, a, "roc_auc"), UsageError, "needs the true labels"),
        (lambda y, a: compared(None, y, y, "f1"), UsageError, "y_true is None"),
        (lambda y, a: compared(y, a, a, "f1"), DataError, "score metric: roc_auc"),
        (lambda y, a: compared(y * 0, a, a, "roc_auc"), DataError, "no item is positive"),
        (
            lambda y, a: compared(y, a, a, prior="uniform"),
            UsageError,
            "prior 'uniform' is for labels",
        ),
        (lambda y, a: compared(None, a, a, "mean", pos_label=1), UsageError, "no positive class"),
        (
            lambda y, a: op.compare(
                op.Outcomes.from_labels(y, {"a": y, "b": y}), "a", "b", metric="roc_auc"
            ),
            UsageError,
            "computed from scores, but outcomes are label counts",
        ),
        (
            lambda y, a: compared(
                y, np.stack([a, a], axis=1), np.stack([a, a], axis=1), "log_loss"
            ),
            DataError,
            "must sum to 1",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, error, complaint):
    y, a, _ = scores(50)
    with pytest.raises(error, match=complaint):
        call(y, a)


def test_what_would_take_hours_is_refused_before_it_starts():
    y, a, b = scores(20_000)
    with pytest.raises(ResourceError, match=r"about \d+ hours; n_draws=\d+"):
        compared(y, a, b, n_draws=90_000_000)

    def slow(y_true, score, weight):
        import time

        time.sleep(0.01)
        return 0.5

    with pytest.raises(ResourceError, match="hours"):
        compared(y, a, b, slow, n_draws=1_000_000)


# Findings


def names_of(c):
    return {finding.name: finding.level for finding in c.findings}


def test_few_items_positives_and_groups_are_named():
    y, a, b = scores(200)
    assert not names_of(compared(y, a, b)).keys() & {"few_items", "few_groups", "tied_scores"}
    rare = (np.arange(200) < 6).astype(int)
    assert names_of(compared(rare, a, b))["few_of_a_class"] == "warning"
    assert names_of(compared(1 - rare, a, b))["few_of_a_class"] == "warning"
    found = names_of(compared(y, a, b, groups=np.arange(200) // 10))
    assert found["few_groups"] == "warning"
    assert names_of(compared([0, 1, 0, 1], a[:4], b[:4]))["few_items"] == "warning"


def test_ties_are_named_and_labels_given_as_scores_are_suspicious():
    y, a, b = scores(400)
    assert "tied_scores" not in names_of(compared(y, a, b))
    assert names_of(compared(y, np.round(a, 1), b))["tied_scores"] == "note"
    assert names_of(compared(y, a > 0.5, b > 0.5))["tied_scores"] == "warning"


def test_certainty_that_was_wrong_is_named():
    y, a, b = scores(100)
    a[np.flatnonzero(y)[0]] = 0.0
    c = compared(y, a, b, "log_loss")
    assert names_of(c)["certain_and_wrong"] == "warning"
    assert np.isfinite(c.a.mean)


def test_models_that_never_disagree_get_no_decision():
    y, a, _ = scores(300)
    for metric in ("roc_auc", "average_precision", "log_loss"):
        c = compared(y, a, a.copy(), metric)
        assert c.decision is op.Decision.UNDECIDED
        assert names_of(c)["few_disagreements"] == "serious"
    same_order = compared(y, a, a**3)
    assert same_order.observed == 0
    assert names_of(same_order)["few_disagreements"] == "serious"
    few = a.copy()
    few[:4] = 1 - few[:4]
    c = compared(None, a, few, "mean", rope=0.4)
    assert names_of(c)["few_disagreements"] == "serious"
