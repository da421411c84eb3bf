"""``cross_compare`` by metrics of scores, held against scikit-learn's scorers and the t by hand."""

from __future__ import annotations

import json
import pickle
from functools import cache

import joblib
import numpy as np
import pandas as pd
import pytest

import outperform as op
from outperform.crossval.folds import share_tested
from outperform.errors import DataError, UsageError
from tests.lazily import lazily
from tests.loops import each

student = lazily("scipy.stats.t")
clone = lazily("sklearn.base.clone")
IsolationForest = lazily("sklearn.ensemble.IsolationForest")
LinearRegression = lazily("sklearn.linear_model.LinearRegression")
LogisticRegression = lazily("sklearn.linear_model.LogisticRegression")
Ridge = lazily("sklearn.linear_model.Ridge")
average_precision_score = lazily("sklearn.metrics.average_precision_score")
roc_auc_score = lazily("sklearn.metrics.roc_auc_score")
GroupKFold = lazily("sklearn.model_selection.GroupKFold")
KFold = lazily("sklearn.model_selection.KFold")
LeaveOneOut = lazily("sklearn.model_selection.LeaveOneOut")
PredefinedSplit = lazily("sklearn.model_selection.PredefinedSplit")
RepeatedKFold = lazily("sklearn.model_selection.RepeatedKFold")
RepeatedStratifiedKFold = lazily("sklearn.model_selection.RepeatedStratifiedKFold")
ShuffleSplit = lazily("sklearn.model_selection.ShuffleSplit")
StratifiedKFold = lazily("sklearn.model_selection.StratifiedKFold")
StratifiedShuffleSplit = lazily("sklearn.model_selection.StratifiedShuffleSplit")
TimeSeriesSplit = lazily("sklearn.model_selection.TimeSeriesSplit")
cross_validate = lazily("sklearn.model_selection.cross_validate")
GaussianNB = lazily("sklearn.naive_bayes.GaussianNB")
make_pipeline = lazily("sklearn.pipeline.make_pipeline")
StandardScaler = lazily("sklearn.preprocessing.StandardScaler")
SVC = lazily("sklearn.svm.SVC")

RNG = np.random.default_rng(0)
Y, Y3 = RNG.integers(2, size=240), RNG.integers(3, size=240)
X = RNG.normal(size=(240, 6)) + 0.6 * Y[:, None]
X3 = RNG.normal(size=(240, 6)) + 0.8 * np.eye(6)[Y3]
XR = RNG.normal(size=(200, 5))
YR = XR @ RNG.uniform(0, 100, 5) + RNG.normal(0, 20, 200)
NAMED = np.array(["no", "yes"])[Y]
FEW = {"random_state": 0, "n_draws": 200}


@cache
def bayes():
    return GaussianNB()


@cache
def logistic():
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.01))


@cache
def repeated():
    return RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=1)


def scored(estimators, x, y, cv, scoring):
    """Return the scores of each fold by scikit-learn alone."""
    return [cross_validate(one, x, y, cv=cv, scoring=scoring)["test_score"] for one in estimators]


def assert_same(found, expected):
    assert found.mean == pytest.approx(expected.mean, abs=1e-12)
    assert found.sd == pytest.approx(expected.sd, abs=1e-12)
    assert found.hdi.low == pytest.approx(expected.hdi.low, abs=1e-12)
    assert found.hdi.high == pytest.approx(expected.hdi.high, abs=1e-12)
    assert found.p_better == pytest.approx(expected.p_better, abs=1e-10)
    assert found.a.observed == pytest.approx(expected.a.observed, abs=1e-12)
    assert found.decision is expected.decision


@each(
    ("cv", "design"),
    lambda: [
        (5, {"folds": 5}),
        (StratifiedKFold(8), {"folds": 8}),
        (repeated(), {"runs": 3}),
        (StratifiedShuffleSplit(7, test_size=0.25, random_state=2), {"test_share": 0.25}),
        # Of 120 + 60 items a fold tests a third, whatever it leaves out.
        (ShuffleSplit(9, train_size=0.5, test_size=0.25, random_state=3), {"test_share": 1 / 3}),
        (op.BlockedTwoFold(3, random_state=4), {"test_share": 0.5}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_folds_are_compared_as_scikit_learns_scores_are(cv, design):
    found = op.cross_compare(logistic(), bayes(), X, Y, cv=cv, metric="roc_auc", rope=0.01, **FEW)
    values = scored((logistic(), bayes()), X, Y, cv, "roc_auc")
    assert_same(found, op.compare_cv_scores(*values, rope=0.01, **design, **FEW))


@pytest.mark.parametrize(
    ("metric", "scoring"),
    [
        ("average_precision", "average_precision"),
        ("neg_log_loss", "neg_log_loss"),
        ("neg_brier_score", "neg_brier_score"),
    ],
)
def test_metrics_of_two_classes(metric, scoring):
    found = op.cross_compare(logistic(), bayes(), X, Y, cv=5, metric=metric, rope=0.01, **FEW)
    values = scored((logistic(), bayes()), X, Y, 5, scoring)
    assert_same(found, op.compare_cv_scores(*values, folds=5, rope=0.01, **FEW))


@pytest.mark.parametrize("metric", ["log_loss", "brier_score"])
def test_of_losses_less_is_better(metric):
    found = op.cross_compare(logistic(), bayes(), X, Y, cv=5, metric=metric, rope=0.01, **FEW)
    values = [-one for one in scored((logistic(), bayes()), X, Y, 5, f"neg_{metric}")]
    assert_same(found, op.compare_cv_scores(*values, folds=5, rope=0.01, metric="mean_cost", **FEW))


@pytest.mark.parametrize("metric", ["roc_auc_ovr", "neg_log_loss"])
def test_metrics_of_three_classes(metric):
    found = op.cross_compare(logistic(), bayes(), X3, Y3, cv=5, metric=metric, rope=0.01, **FEW)
    values = scored((logistic(), bayes()), X3, Y3, 5, metric)
    assert_same(found, op.compare_cv_scores(*values, folds=5, rope=0.01, **FEW))


@pytest.mark.parametrize(
    ("metric", "scoring", "sign"),
    [
        ("rmse", "neg_root_mean_squared_error", -1),
        ("mae", "neg_mean_absolute_error", -1),
        ("neg_mean_squared_error", "neg_mean_squared_error", 1),
        ("r2", "r2", 1),
    ],
)
def test_metrics_of_regression(metric, scoring, sign):
    cv = RepeatedKFold(n_splits=5, n_repeats=2, random_state=1)
    asked = {"rope": 0.2, **FEW}
    found = op.cross_compare(Ridge(20), LinearRegression(), XR, YR, cv=cv, metric=metric, **asked)
    values = [sign * one for one in scored((Ridge(20), LinearRegression()), XR, YR, cv, scoring)]
    mean = "mean" if sign > 0 else "mean_cost"
    assert_same(found, op.compare_cv_scores(*values, metric=mean, runs=2, **asked))


def test_the_interval_is_the_corrected_t_by_hand():
    found = op.cross_compare(
        logistic(), bayes(), X, Y, cv=repeated(), metric="roc_auc", rope=0.01, **FEW
    )
    differences = []
    for train, test in repeated().split(X, Y):
        a, b = (clone(one).fit(X[train], Y[train]) for one in (logistic(), bayes()))
        scores = a.decision_function(X[test]), b.predict_proba(X[test])[:, 1]
        differences.append(np.subtract(*(roc_auc_score(Y[test], one) for one in scores)))
    n, share = len(differences), 1 / 5
    scale = np.sqrt((1 / n + share / (1 - share)) * np.var(differences, ddof=1))
    ends = student(n - 1, np.mean(differences), scale).ppf([0.025, 0.975])
    assert (found.hdi.low, found.hdi.high) == pytest.approx(ends, abs=1e-12)


def by_hand(x, y, measure, *columns):
    """Return the mean over stratified folds of a function of test truth and scores, per model."""
    values = []
    for train, test in StratifiedKFold(5).split(x, y):
        fitted = [clone(one).fit(x[train], y[train]) for one, _ in columns]
        scores = [read(one, x[test]) for one, (_, read) in zip(fitted, columns, strict=True)]
        values.append([measure(y[test], one) for one in scores])
    return np.mean(values, axis=0)


@pytest.mark.parametrize(("label", "sign"), [("yes", 1), ("no", -1)])
def test_the_positive_class_may_be_any(label, sign):
    c = op.cross_compare(
        SVC(),
        bayes(),
        X,
        NAMED,
        pos_label=label,
        cv=5,
        metric="average_precision",
        rope=0.01,
        **FEW,
    )
    expected = by_hand(
        X,
        NAMED,
        lambda truth, score: average_precision_score(truth == label, score),
        (SVC(), lambda one, x: sign * one.decision_function(x)),
        (bayes(), lambda one, x: one.predict_proba(x)[:, int(label == "yes")]),
    )
    assert (c.a.observed, c.b.observed) == pytest.approx(expected, abs=1e-12)


def test_one_class_of_three_against_the_rest():
    c = op.cross_compare(
        logistic(), bayes(), X3, Y3, pos_label=2, cv=5, metric="roc_auc", rope=0.01, **FEW
    )
    expected = by_hand(
        X3,
        Y3,
        lambda truth, score: roc_auc_score(truth == 2, score),
        (logistic(), lambda one, x: one.decision_function(x)[:, 2]),
        (bayes(), lambda one, x: one.predict_proba(x)[:, 2]),
    )
    assert (c.a.observed, c.b.observed) == pytest.approx(expected, abs=1e-12)


def test_any_container_and_any_number_of_jobs_give_the_same():
    asked = {"cv": 5, "metric": "roc_auc", "rope": 0.01, **FEW}
    plain = op.cross_compare(logistic(), bayes(), X, Y, **asked)
    frame = pd.DataFrame(X, index=np.arange(240)[::-1])
    truth = pd.Series(Y, index=np.arange(240) + 7)
    with joblib.parallel_config(backend="threading"):
        other = op.cross_compare(logistic(), bayes(), frame, truth, n_jobs=2, **asked)
    assert plain.to_dict() == other.to_dict()
    assert not hasattr(bayes(), "classes_")


def test_the_default_folds_are_blocked_and_follow_the_seed():
    one, two, other = (
        op.cross_compare(
            logistic(), bayes(), X, Y, metric="roc_auc", random_state=seed, n_draws=200
        )
        for seed in (3, 3, 4)
    )
    assert one.details.datasets[0].n_folds == 6
    assert one.details.datasets[0].test_share == 0.5
    assert one.to_dict() == two.to_dict()
    assert one.mean != other.mean
    # A target that is measured is not stratified.
    c = op.cross_compare(Ridge(20), LinearRegression(), XR, YR, metric="rmse", rope=1, **FEW)
    assert c.details.datasets[0].n_folds == 6


def test_scores_without_classes_are_read_as_they_come():
    rng = np.random.default_rng(0)
    outlying = np.r_[rng.normal(size=(180, 2)), rng.normal(size=(20, 2), scale=9)]
    inlier = np.r_[np.ones(180, dtype=int), np.zeros(20, dtype=int)]
    forest = IsolationForest(random_state=0)
    c = op.cross_compare(
        forest, forest, outlying, inlier, cv=StratifiedKFold(4, shuffle=True, random_state=0),
        metric="roc_auc", **FEW,
    )  # fmt: skip
    assert c.a.observed > 0.9
    assert [one.name for one in c.findings if one.level == "serious"] == ["constant_folds"]


def test_texts_are_compared_by_their_words():
    class Says:
        def __init__(self, words):
            self.words = words

        def fit(self, X, y):
            return self

        def predict(self, X):
            return [" ".join(text.split()[: self.words]) for text in X]

    texts = [" ".join(["word"] * (2 + place % 5)) for place in range(60)]
    c = op.cross_compare(Says(4), Says(2), texts, texts, cv=5, metric="wer", rope=0.01, **FEW)
    rates = []
    for start in range(0, 60, 12):
        lengths = np.array([2 + place % 5 for place in range(start, start + 12)])
        rates.append([np.maximum(lengths - n, 0).sum() / lengths.sum() for n in (4, 2)])
    assert (c.a.observed, c.b.observed) == pytest.approx(np.mean(rates, axis=0))
    assert c.decision is op.Decision.BETTER


def test_the_result_says_how_it_was_made():
    c = op.cross_compare(
        logistic(), bayes(), X, Y, cv=repeated(), metric="roc_auc", rope=0.01, **FEW
    )
    assert c.names == ("LogisticRegression", "GaussianNB")
    assert c.metric == "roc_auc"
    assert c.spec.unit == "folds"
    assert "ROC AUC" in repr(c)
    assert "testing 20% of the items and correlated by as much" in " ".join(str(c).split())
    assert "Nadeau and Bengio" in c.report()
    for part in ("cross_compare", "metric=roc_auc", "prior=correlated t", "test_share=0.2"):
        assert f" | {part}" in c.signature
    facts = json.loads(json.dumps(c.to_dict()))
    assert facts["scores"]["datasets"][0]["n_folds"] == 15
    assert pickle.loads(pickle.dumps(c)).mean == c.mean


def test_asking_again():
    asked = {"cv": 5, "metric": "neg_log_loss", **FEW}
    c = op.cross_compare(logistic(), bayes(), X, Y, rope=0.01, **asked)
    assert (
        c.with_rope(0.5).to_dict()
        == op.cross_compare(logistic(), bayes(), X, Y, rope=0.5, **asked).to_dict()
    )
    with pytest.raises(UsageError, match=r"call cross_compare\(\) with scores of the other"):
        c.with_metric("roc_auc")
    with pytest.raises(UsageError, match="cross_compare compares several predictions"):
        c.item_table()


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@each(
    ("cv", "groups", "words"),
    lambda: [
        (TimeSeriesSplit(5), None, "random folds.*time-series.*create the folds with"),
        (TimeSeriesSplit(5, max_train_size=30), None, "time-series folds"),
        (PredefinedSplit(np.arange(200) % 3), None, "at least 4 folds; got 3"),
        (LeaveOneOut(), None, "at least two test items in every fold; fold 1 tests 1"),
        (PredefinedSplit(np.repeat([0, 1, 2, 3], [150, 20, 20, 10])), None, "similar size"),
        (KFold(5), np.arange(200) // 3, "common groups, as with GroupKFold; those of fold 1"),
        (GroupKFold(5), None, "cv cannot split these items: The 'groups'"),
        (3, None, "cv must be at least 4 folds, or a splitter; got 3"),
        (True, None, "cv must be a splitter"),
        ("five", None, "cv must be a splitter"),
        (KFold(5), np.arange(7), "cv cannot split these items: Found input"),
    ],
)
def test_folds_without_a_correction_are_refused(cv, groups, words):
    with pytest.raises((DataError, UsageError), match=words):
        op.cross_compare(
            Ridge(), LinearRegression(), XR, YR, cv=cv, groups=groups, metric="rmse", rope=1, **FEW
        )


class Fixed:
    """Tests the same items again and again, after training on others by chance."""

    def split(self, X, y=None, groups=None):
        for seed in range(6):
            yield 50 + np.random.default_rng(seed).permutation(150)[:100], np.arange(50)


class Leaking:
    """Trains on one item that it tests."""

    def split(self, X, y=None, groups=None):
        for train, test in KFold(5).split(X, y, groups):
            yield np.append(train, test[0]), test


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        (Fixed(), "test different items; two of these share 100%"),
        (Leaking(), "without common items"),
    ],
)
def test_folds_that_are_none_are_refused(cv, words):
    with pytest.raises(DataError, match=words):
        op.cross_compare(Ridge(), LinearRegression(), XR, YR, cv=cv, metric="rmse", rope=1, **FEW)


def test_groups_stay_together():
    groups = np.arange(200) // 4
    c = op.cross_compare(
        Ridge(20), LinearRegression(), XR, YR, cv=GroupKFold(5), groups=groups, metric="mae",
        rope=1, **FEW,
    )  # fmt: skip
    assert c.details.datasets[0].test_share == pytest.approx(0.2)


@each(
    ("wrong", "words"),
    lambda: [
        ({"metric": "mean"}, "cannot determine which estimator output 'mean' uses; pass its value"),
        ({"metric": lambda y, s, w: 0.0}, "to compare_cv_scores"),
        (
            {"prior": "unit"},
            "prior= applies to label metrics, but 'roc_auc' is a score metric",
        ),
        ({"correlation": "full"}, "correlation= applies to label metrics"),
        ({"metric": "log_loss", "rope": None}, "no default ROPE"),
        ({"y": np.sort(Y), "cv": KFold(5)}, "fold 1: roc_auc compares.*or stratify the folds"),
        (
            {"y": np.r_[1, np.zeros(239, int)], "cv": KFold(5)},
            "training items of fold 1 lack a class",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(wrong, words):
    asked = {"cv": 5, "metric": "roc_auc", "rope": 0.01, "y": Y, **FEW, **wrong}
    with pytest.raises((DataError, UsageError), match=words):
        op.cross_compare(logistic(), bayes(), X, asked.pop("y"), **asked)


def test_what_an_estimator_lacks_is_named():
    with pytest.raises(UsageError, match="A must have fit and predict_proba; SVC has no"):
        op.cross_compare(SVC(), bayes(), X, Y, metric="log_loss", rope=0.01)
    with pytest.raises(UsageError, match="B must have fit and decision_function or predict_proba"):
        op.cross_compare(SVC(), Ridge(), X, Y, metric="roc_auc")


def test_the_share_counts_the_items_of_a_fold():
    splits = list(ShuffleSplit(4, train_size=30, test_size=10, random_state=0).split(np.ones(100)))
    assert share_tested(splits, 100) == pytest.approx(0.25)
    with pytest.raises(DataError, match="groups must have one entry per item, 100 in all"):
        share_tested(splits, 100, np.arange(7))


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [lambda: 5, lambda: RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)],
    ids=["5", "4x5"],
)
def test_equal_learners_are_seldom_called_different(make):
    """Two learners that differ by which half of equally good features they see."""
    rng, times, missed, wrong = np.random.default_rng(1), 120, 0, 0
    asked = {"cv": make(), "metric": "roc_auc", "rope": 0.0, "n_draws": 100, "random_state": 0}
    for _ in range(times):
        y = rng.permutation(np.arange(120) % 2)
        x = rng.normal(size=(120, 8)) + 0.4 * y[:, None]
        one, other = (make_pipeline(Half(start), GaussianNB()) for start in (0, 4))
        c = op.cross_compare(one, other, x, y, names=("one", "other"), **asked)
        missed += not c.hdi.low <= 0 <= c.hdi.high
        wrong += c.decision.symbol in "≫≪"
    # The two features are equally good, so 95% intervals miss 0 in 5%, as far as ρ is right.
    print(f"missed {missed / times:.3f}, wrong {wrong / times:.3f}")
    assert missed / times < 0.05 + 4 * np.sqrt(0.05 * 0.95 / times)
    assert wrong == missed


class Half:
    """Keeps four features from some place on."""

    def __init__(self, start=0):
        self.start = start

    def get_params(self, deep=True):
        return {"start": self.start}

    def set_params(self, **params):
        self.start = params["start"]
        return self

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[:, self.start : self.start + 4]


@each(
    ("metric", "message"),
    [
        ("mse", "mse needs numbers, but y contains 'no'; for classes .*metric='f1_macro'"),
        ("ndcg@10", "metric 'ndcg@10' cannot read these items: ValueError"),
        ("win_rate", "cannot determine which estimator output 'win_rate' uses"),
        ("median", "cannot determine which estimator output 'median' uses"),
    ],
)
def test_metrics_that_cannot_read_text_labels_say_so(metric, message):
    X = np.arange(40.0)[:, None] % 7
    y = np.array(["no", "yes"])[np.arange(40) % 2]
    pair = LogisticRegression(), LogisticRegression(C=0.1)
    with pytest.raises((DataError, UsageError), match=message):
        op.cross_compare(*pair, X, y, metric=metric, rope=0.1)


def test_a_metric_of_texts_takes_no_numbers():
    X, y = np.arange(40.0)[:, None] % 7, np.arange(40) % 2
    pair = LogisticRegression(), LogisticRegression(C=0.1)
    with pytest.raises(DataError, match="must be texts"):
        op.cross_compare(*pair, X, y, metric="wer", rope=0.1)

    def split(references, texts):
        return np.array([[len(a.split()), 1] for a in references])

    how = op.metrics.Sums(basis=op.metrics.Basis(read=split), combine=lambda means: means[0])
    words = op.metrics.Metric(name="words", label="words", how=how, merge="terms")
    with pytest.raises(DataError, match=r"metric 'words' cannot read these items: .*'split'"):
        op.cross_compare(*pair, X, y, metric=words, rope=0.1)
