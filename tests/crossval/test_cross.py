"""Two estimators by blocked cross-validation, held against fitting by hand."""

from __future__ import annotations

import json
import sys
from functools import cache

import joblib
import numpy as np
import pandas as pd
import pytest

import outperform as op
from outperform import progress
from outperform.comparison.estimators import class_names
from outperform.errors import DataError, MissingExtraError, OutperformError, UsageError
from tests.lazily import lazily
from tests.loops import each

clone = lazily("sklearn.base.clone")
LogisticRegression = lazily("sklearn.linear_model.LogisticRegression")
KFold = lazily("sklearn.model_selection.KFold")
LeaveOneOut = lazily("sklearn.model_selection.LeaveOneOut")
RepeatedStratifiedKFold = lazily("sklearn.model_selection.RepeatedStratifiedKFold")
StratifiedShuffleSplit = lazily("sklearn.model_selection.StratifiedShuffleSplit")
GaussianNB = lazily("sklearn.naive_bayes.GaussianNB")
make_pipeline = lazily("sklearn.pipeline.make_pipeline")
StandardScaler = lazily("sklearn.preprocessing.StandardScaler")

RNG = np.random.default_rng(7)
N = 240
Y = RNG.integers(0, 2, N)
X = RNG.normal(size=(N, 3)) + 0.9 * Y[:, None]
THREE = RNG.integers(0, 3, N)
X_THREE = RNG.normal(size=(N, 3)) + np.eye(3)[THREE]


@cache
def bayes():
    return GaussianNB()


@cache
def logistic():
    return LogisticRegression(C=0.01)


SETTINGS = {"random_state": 0, "n_jobs": 1, "rope": 0.01}


def cross(x=X, y=Y, **settings):
    return op.cross_compare(bayes(), logistic(), x, y, **{**SETTINGS, **settings})


def by_hand(x, y, splits):
    """Fit and predict without the package; returns truth and both predictions over all folds."""
    truth, a, b = [], [], []
    for train, test in splits:
        truth.append(y[test])
        a.append(clone(bayes()).fit(x[train], y[train]).predict(x[test]))
        b.append(clone(logistic()).fit(x[train], y[train]).predict(x[test]))
    return truth, a, b


@pytest.fixture(scope="module")
def result():
    return cross(cv=op.BlockedTwoFold(3, random_state=1))


@pytest.fixture(scope="module")
def fitted():
    return by_hand(X, Y, op.BlockedTwoFold(3, random_state=1).split(X, Y))


def test_the_paired_table_is_the_one_made_by_hand(result, fitted):
    truth, a, b = (np.concatenate(one) for one in fitted)
    expected = op.Outcomes.from_labels(truth, {"A": a, "B": b})
    assert result.spec.data.n == 3 * N
    assert result.n == N
    (seen,), (known,) = result.spec.data.tables, expected.tables
    assert seen.cells.tolist() == known.cells.tolist()
    assert seen.counts.tolist() == known.counts.tolist()
    assert [one.n for one in result.details.outcomes] == [N // 2] * 6


def test_its_posterior_is_that_of_effective_counts(result, fitted):
    truth, a, b = (np.concatenate(one) for one in fitted)
    w = op.results.Correlation().worth(3)
    # The paired model by hand: prevalence, and four pairs of answers in each class.
    generator, draws, shares = np.random.default_rng(5), 200_000, {}
    for label in (0, 1):
        counts = [
            np.sum((truth == label) & (a == left) & (b == right))
            for left in (0, 1)
            for right in (0, 1)
        ]
        shares[label] = generator.dirichlet(w * np.array(counts) + 1 / 4, draws).T
    mu = generator.beta(w * np.sum(truth == 1) + 1, w * np.sum(truth == 0) + 1, draws)
    f1 = []
    for right in ((2, 3), (1, 3)):  # what A and what B call positive
        tp = mu * shares[1][list(right)].sum(axis=0)
        fp = (1 - mu) * shares[0][list(right)].sum(axis=0)
        f1.append(2 * tp / (tp + fp + mu))
    difference = f1[0] - f1[1]
    error = result.sd * (1 / draws + 1 / result.draws.size) ** 0.5
    assert result.mean == pytest.approx(difference.mean(), abs=5 * error)
    assert result.sd == pytest.approx(difference.std(), rel=5 / (2 * result.draws.size) ** 0.5)


def test_recall_is_exact_and_scales_the_counts_of_compare(fitted):
    c = cross(cv=op.BlockedTwoFold(3, random_state=1), metric="recall")
    truth, a, b = (np.concatenate(one) for one in fitted)
    w = op.results.Correlation().worth(3)
    positive = truth == 1
    only_a = w * np.sum(positive & (a == 1) & (b == 0)) + 1 / 4
    only_b = w * np.sum(positive & (a == 0) & (b == 1)) + 1 / 4
    rest = w * np.sum(positive & (a == b)) + 1 / 2
    total = only_a + only_b + rest
    mean = (only_a - only_b) / total
    square = ((only_a + only_b) / total - mean**2) / (total + 1)
    assert c.exact
    assert c.mean == pytest.approx(mean, abs=1e-10)
    assert c.sd == pytest.approx(square**0.5, abs=1e-9)
    whole = op.compare(truth, a, b, metric="recall")
    assert c.sd == pytest.approx(whole.sd / w**0.5, rel=0.05)
    assert c.observed == pytest.approx(whole.observed)


def test_the_unpaired_one_is_the_papers_test_of_the_same_folds(result, fitted):
    rows = [
        [
            [
                int(np.sum((t == 1) & (p == 1))),
                int(np.sum((t == 0) & (p == 1))),
                int(np.sum((t == 1) & (p == 0))),
            ]
            for t, p in zip(fitted[0], predicted, strict=True)
        ]
        for predicted in fitted[1:]
    ]
    paper = op.compare_cv_counts(*rows, rope=0.01)
    other = result.details.unpaired
    assert isinstance(other.details, op.results.FoldDetails)
    assert (other.p_h0, other.p_h1) == (paper.p_h0, paper.p_h1)
    assert (other.mean, other.sd, other.hdi) == (paper.mean, paper.sd, paper.hdi)
    assert other.decision is paper.decision
    assert result.sd < other.sd


def test_the_callers_estimators_stay_unfitted(result):
    assert not hasattr(bayes(), "classes_")
    assert not hasattr(logistic(), "coef_")


@pytest.mark.parametrize(
    "backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)]
)  # processes of joblib take seconds to begin
def test_jobs_and_progress_do_not_change_the_answer(result, backend):
    told = []
    heard = progress.on_progress(lambda done, total: told.append((done, total)))
    with joblib.parallel_config(backend=backend), heard:
        two = cross(cv=op.BlockedTwoFold(3, random_state=1), n_jobs=2)
    assert told == [(done, 12) for done in range(1, 13)]
    assert np.array_equal(two.draws, result.draws)
    assert two.to_dict() == result.to_dict()


def test_the_seed_chooses_the_default_folds():
    one, two, other = (cross(random_state=seed) for seed in (3, 3, 4))
    assert one.details.folds.m == 3
    assert one.to_dict() == two.to_dict()
    assert one.details.folds.hits.tolist() != other.details.folds.hits.tolist()


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (X.tolist(), Y.tolist()),
        (pd.DataFrame(X, index=np.arange(N)[::-1]), pd.Series(Y, index=np.arange(N) + 7)),
        (X, list(map(int, Y))),
        (X, Y.astype(bool)),
    ],
)
def test_any_container_gives_the_same_numbers(result, x, y):
    other = cross(x, y, cv=op.BlockedTwoFold(3, random_state=1))
    assert other.mean == result.mean
    assert other.details.unpaired.p_h1 == result.details.unpaired.p_h1


def test_labels_may_be_words(result):
    words = np.where(Y == 1, "spam", "ham")
    c = cross(y=words, cv=op.BlockedTwoFold(3, random_state=1), pos_label="spam")
    assert c.observed == pytest.approx(result.observed)
    assert c.details.unpaired.p_h1 == pytest.approx(result.details.unpaired.p_h1)
    with pytest.raises(UsageError, match="pos_label='ham' or 'spam'"):
        cross(y=words)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_any_number_of_repetitions(m):
    c = cross(cv=op.BlockedTwoFold(m, random_state=1))
    assert (c.details.folds.m, c.n, len(c.details.outcomes)) == (m, N, 2 * m)


@pytest.mark.parametrize("metric", ["f1_macro", "accuracy", "f1_micro", "matthews_corrcoef"])
def test_several_classes(metric):
    c = cross(X_THREE, THREE, metric=metric)
    other = c.details.unpaired
    assert type(other.details) is op.results.FoldDetails
    assert other.spec.paired is False
    assert c.spec.paired is True
    assert other.observed == pytest.approx(c.observed)
    assert other.sd > c.sd
    assert c.details.folds.values(c.spec).shape == (2, 6)
    truth, a, _ = by_hand(X_THREE, THREE, _splits_of(c))
    whole = op.Outcomes.from_labels(np.concatenate(truth), {"A": np.concatenate(a)})
    assert op.estimate(whole, "A", metric=metric).observed == pytest.approx(c.a.observed)
    by_fold = [
        op.estimate(t, p, metric=metric, n_draws=100).observed
        for t, p in zip(truth, a, strict=True)
    ]
    assert c.details.folds.values(c.spec)[0] == pytest.approx(by_fold)


def _splits_of(result):
    """Return the folds that the default splitter of SETTINGS makes."""
    from outperform.crossval.cross import _SPLIT_STREAM
    from outperform.posterior.rng import child

    seed = child(result.seed, _SPLIT_STREAM)
    return op.BlockedTwoFold(3, random_state=seed).split(X_THREE, THREE)


def test_one_class_of_several_against_the_rest():
    c = cross(X_THREE, THREE, metric="f1", pos_label=2)
    assert c.details.unpaired.exact
    hits = c.details.folds.hits[0, 2].sum()
    predicted, actual = c.details.folds.predicted[0, 2].sum(), c.details.folds.actual[0, 2].sum()
    assert c.a.observed == pytest.approx(2 * hits / (predicted + actual))


def test_groups_stay_together():
    groups = np.repeat(np.arange(N // 3), 3)
    seen = []

    class Spy(op.BlockedTwoFold):
        def split(self, X, y=None, groups=None):
            seen.append(groups)
            return super().split(X, y, groups)

    c = cross(cv=Spy(3, random_state=0), groups=groups)
    assert seen[0] is groups
    assert c.n == N
    assert c.spec.n_groups == N // 3
    assert c.spec.prior.name == "bootstrap"
    with pytest.raises(DataError, match="groups must have one entry"):
        cross(groups=groups[:-1])


class Known:
    """Predicts what it was given for each item, whatever it is trained on."""

    def __init__(self, column):
        self.column = column

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, self.column]


def test_groups_widen_the_interval_as_they_do_in_a_test_set():
    rng = np.random.default_rng(5)
    author = np.repeat(np.arange(60), 10)
    y = rng.integers(0, 2, 600)
    good = rng.normal(size=(2, 60))[:, author] + rng.normal(size=(2, 600)) + 0.7
    answers = np.where(good > 0, y, 1 - y).T
    options = {"metric": "accuracy", "rope": 0.02, "n_draws": 8_000, "random_state": 1}
    crossed, tested = (
        [ask(None), ask(author)]
        for ask in (
            lambda groups: op.cross_compare(
                Known(0), Known(1), answers, y, groups=groups, n_jobs=1,
                cv=op.BlockedTwoFold(3, random_state=0), **options,
            ),
            lambda groups: op.compare(
                y, *answers.T, groups=groups, prior="bootstrap", **options
            ),
        )
    )  # fmt: skip
    ratio, expected = (two.sd / one.sd for one, two in (crossed, tested))
    assert expected > 1.5
    # Four sds, each with a Monte Carlo error of 1 / √(2 · 8,000); the prior of the first is light.
    assert ratio == pytest.approx(expected, rel=5 * 2 / np.sqrt(16_000) + 0.01)


@each(
    ("cv", "error", "sentence"),
    lambda: [
        (KFold(5), DataError, "even number of folds.*got 5"),
        (KFold(4), DataError, "fold 2 is not fold 1"),
        (
            RepeatedStratifiedKFold(n_splits=2, n_repeats=3, random_state=0),
            DataError,
            "training halves that share 60 ± 1 items",
        ),
        (StratifiedShuffleSplit(6, test_size=0.5, random_state=0), DataError, "fold 2 is not"),
        (LeaveOneOut(), DataError, "blocked cross-validation needs"),
        (
            5,
            UsageError,
            "cv must be a splitter such as op.BlockedTwoFold.*got 5; a label metric needs",
        ),
        ("blocked", UsageError, "cv must be a splitter"),
        (op.BlockedTwoFold, UsageError, "cv must be a splitter"),
        ([(np.arange(5), np.arange(5, 10))], UsageError, "got a list"),
    ],
)
def test_other_folds_are_refused(cv, error, sentence):
    with pytest.raises(error, match=sentence):
        cross(cv=cv)


def test_items_in_both_halves_are_refused():
    class Leaking(op.BlockedTwoFold):
        def split(self, X, y=None, groups=None):
            for train, test in super().split(X, y, groups):
                yield np.append(train, test[0]), test

    with pytest.raises(DataError, match="without common items"):
        cross(cv=Leaking(3, random_state=0))


@each(
    ("wrong", "error", "sentence"),
    [
        ({"y": Y[:-1]}, DataError, f"X has {N} items and y has {N - 1}"),
        ({"x": "text"}, DataError, "X must be a list"),
        ({"y": None}, DataError, "y must be a list"),
        ({"names": ("x", "x")}, UsageError, "two different names"),
        ({"n_jobs": 0}, UsageError, "n_jobs must be"),
        ({"metric": "f7_macr"}, UsageError, "unknown"),
        ({"metric": lambda c: c[..., 0, 0]}, UsageError, "use one of the named metrics"),
        ({"correlation": "none"}, UsageError, "unknown correlation"),
        ({"prior": "no"}, UsageError, "unknown prior"),
    ],
)
def test_wrong_arguments_are_refused(wrong, error, sentence):
    with pytest.raises(error, match=sentence):
        cross(**wrong)


@pytest.fixture
def counting():
    """Return a class that counts how often any copy of it is trained."""
    from sklearn.naive_bayes import GaussianNB

    class Counting(GaussianNB):
        fits = 0

        def fit(self, X, y):
            Counting.fits += 1
            return super().fit(X, y)

    return Counting


NAMED = np.array(["no", "yes"])[Y]


@each(
    "wrong",
    lambda: [
        {"metric": "acuracy"},
        {"metric": "roc_auc", "prior": "unit"},
        {"metric": "roc_auc", "labels": [0, 1]},
        {"metric": "roc_auc", "correlation": "full"},
        {"metric": "roc_auc", "scheme": "IOB2"},
        {"metric": "roc_auc", "cv": 3},
        {"metric": "roc_auc", "cv": LeaveOneOut()},
        {"metric": "roc_auc", "pos_label": 7},
        {"metric": "roc_auc", "y": NAMED},
        {"metric": "roc_auc", "y": THREE},
        {"metric": "roc_auc", "hdi_prob": 95},
        {"metric": "roc_auc", "n_draws": 10},
        {"metric": "roc_auc", "groups": [1, 2]},
        {"metric": "log_loss", "rope": None},
        {"metric": "rmse", "y": NAMED},
        {"metric": "wer"},
        {"metric": "mean"},
        {"metric": 3},
        {"metric": lambda c: c[..., 0, 0]},
        {"metric": "f1_samples"},
        {"metric": "f1", "y": NAMED},  # which class is positive?
        {"metric": "f1", "y": THREE},
        {"metric": "f1", "pos_label": "Yes", "y": NAMED},
        {"metric": "f1", "pos_label": 7},
        {"rope": -0.1},
        {"rope": "wide"},
        {"rope": 5},
        {"rope": (0.1, -0.1)},
        {"metric": op.metrics.cost([[0, 1], [5, 0]]), "rope": None},
        {"hdi_prob": 95},
        {"hdi_prob": "most"},
        {"prior": "jefreys"},
        {"prior": np.ones((5, 5))},
        {"prior": np.ones((2, 2, 2))},  # which the unpaired comparison cannot use
        {"prior": -1.0},
        {"prior": "unitt"},
        {"names": ("x", "x")},
        {"names": ("x",)},
        {"names": (1, 2)},
        {"cv": 5},
        {"cv": KFold(4)},
        {"n_draws": 10},
        {"n_draws": "many"},
        {"n_draws": 10**12},
        {"n_jobs": 0},
        {"n_jobs": 1.5},
        {"correlation": "none"},
        {"correlation": (2, 3)},
        {"random_state": "seed"},
        {"groups": [1, 2]},
        {"scheme": "IOB2"},
        {"scheme": "none"},
        {"y": [None, *Y[1:].tolist()]},
    ],
    ids=lambda wrong: ",".join(wrong),
)
def test_nothing_is_trained_before_every_argument_is_checked(wrong, counting):
    asked = {"x": X, "y": Y, "metric": "accuracy", **SETTINGS, **wrong}
    with pytest.raises(OutperformError):
        op.cross_compare(counting(), counting(), asked.pop("x"), asked.pop("y"), **asked)
    assert counting.fits == 0


def test_what_is_right_is_trained_once_for_each_fold(counting):
    op.cross_compare(
        counting(), counting(), X, NAMED, metric="f1", pos_label="yes", random_state=0, n_draws=100
    )
    assert counting.fits == 12  # and in this process, as no jobs were asked for


def test_names_are_those_of_the_classes():
    pipeline = make_pipeline(StandardScaler(), logistic())
    named = op.cross_compare(pipeline, bayes(), X, Y, **SETTINGS, n_draws=100)
    assert named.names == ("LogisticRegression", "GaussianNB")
    assert class_names(pipeline, logistic()) == ("A", "B")
    assert class_names(pipeline, make_pipeline(bayes())) == ("LogisticRegression", "GaussianNB")


def test_a_class_instead_of_an_estimator_is_refused():
    with pytest.raises(UsageError, match=r"B must be an estimator, not the class GaussianNB"):
        op.cross_compare(bayes(), type(bayes()), X, Y)


def test_predictions_of_another_length_are_refused():
    class Short:
        def fit(self, X, y): ...

        def predict(self, X):
            return [0] * (len(X) - 1)

    with pytest.raises(DataError, match="'Short'"):
        op.cross_compare(Short(), bayes(), X, Y, **SETTINGS)


def test_asking_again_keeps_the_class_and_the_fields(result):
    for other in (result.with_rope(0.05), result.with_metric("precision")):
        assert type(other.details) is op.results.CrossDetails
        assert type(other.details.unpaired.details) is op.results.FoldDetails
        assert other.details.outcomes is result.details.outcomes
        assert other.details.correlation == result.details.correlation
        assert other.rope == other.details.unpaired.rope
        assert other.metric == other.details.unpaired.metric
        assert " | cross_compare | " in other.signature
    fresh = cross(cv=op.BlockedTwoFold(3, random_state=1), metric="precision")
    assert result.with_metric("precision").to_dict() == fresh.to_dict()


def test_words_and_json(result):
    facts = json.loads(json.dumps(result.to_dict()))
    assert facts["unpaired"]["p_h1"] == result.details.unpaired.p_h1
    assert facts["folds"]["m"] == 3
    assert repr(result).startswith("Comparison(")
    assert "unpaired" in str(result)
    assert "cross_compare" in result.report()
    assert "| GaussianNB − LogisticRegression |" in result.to_markdown()
    assert "\\toprule" in result.to_latex()
    assert "<table" in result.to_html()


def test_equal_estimators_are_never_told_apart():
    c = op.cross_compare(bayes(), GaussianNB(), X, Y, **SETTINGS)
    assert c.observed == 0
    assert c.decision.symbol in ("≈", "?")
    assert "few_disagreements" in {finding.name for finding in c.findings}
    assert c.details.unpaired.p_h0 == pytest.approx(0.5, abs=1e-9)


def test_few_disagreements_are_counted_once_for_each_item(result):
    wider = op.cross_compare(LogisticRegression(C=1.0), LogisticRegression(C=0.3), X, Y, **SETTINGS)
    cells, counts = wider.spec.data.tables[0].cells, wider.spec.data.tables[0].counts
    apart = int(counts[cells[:, 1] != cells[:, 2]].sum())
    few = [one for one in wider.findings if one.name == "few_disagreements"]
    assert bool(few) == (apart < 30)
    assert all(f"on only {apart} item" in one.message for one in few)


class Lexicon:
    """Tags a token as a name if it was one more often than not in training."""

    def __init__(self, least=1):
        self.least = least

    def fit(self, X, y):
        self.seen_ = {}
        for tokens, tags in zip(X, y, strict=True):
            for token, tag in zip(tokens, tags, strict=True):
                self.seen_[token] = self.seen_.get(token, 0) + (1 if tag == "B-PER" else -1)

    def predict(self, X):
        return [
            ["B-PER" if self.seen_.get(token, 0) >= self.least else "O" for token in tokens]
            for tokens in X
        ]


@pytest.fixture(scope="module")
def tagged():
    rng = np.random.default_rng(11)
    names, words = [f"n{place}" for place in range(25)], [f"w{place}" for place in range(25)]
    tokens, tags = [], []
    for _ in range(120):
        is_name = rng.random(5) < 0.3
        row = [rng.choice(names if name else words) for name in is_name]
        tokens.append([str(token) for token in row])
        noisy = is_name ^ (rng.random(5) < 0.1)
        tags.append(["B-PER" if name else "O" for name in noisy])
    return tokens, tags


def test_taggers_are_compared_by_their_spans(tagged):
    tokens, tags = tagged
    cv = op.BlockedTwoFold(3, random_state=0)
    c = op.cross_compare(Lexicon(1), Lexicon(4), tokens, tags, cv=cv, scheme="IOB2", **SETTINGS)
    counts = np.zeros((2, 3, 6), dtype=int)
    for fold, (train, test) in enumerate(cv.split(tokens, tags)):
        for model, least in enumerate((1, 4)):
            tagger = Lexicon(least)
            tagger.fit([tokens[i] for i in train], [tags[i] for i in train])
            for i, guess in zip(test, tagger.predict([tokens[i] for i in test]), strict=True):
                for truth, tag in zip(tags[i], guess, strict=True):
                    pair = (truth == "B-PER", tag == "B-PER")
                    place = {(True, True): 0, (False, True): 1, (True, False): 2}.get(pair)
                    if place is not None:
                        counts[model, place, fold] += 1
    assert c.details.folds.triples(c.spec).tolist() == counts.tolist()
    paper = op.compare_cv_counts(counts[0].T, counts[1].T, rope=0.01)
    assert c.details.unpaired.p_h1 == paper.p_h1
    assert c.n == 120
    assert c.spec.prior.name == "bootstrap"
    assert c.observed == pytest.approx(paper.observed)


def test_groups_of_sentences_get_one_weight_each(tagged):
    tokens, tags = tagged
    groups = [f"d{place // 3}" for place in range(120)]
    c = op.cross_compare(
        Lexicon(1), Lexicon(4), tokens, tags, scheme="IOB2", groups=groups, **SETTINGS
    )
    assert c.n == 40
    few = op.cross_compare(
        Lexicon(1),
        Lexicon(4),
        tokens,
        tags,
        scheme="IOB2",
        groups=[f"d{place // 6}" for place in range(120)],
        **SETTINGS,
    )
    assert "few_groups" in {finding.name for finding in few.findings}


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(MissingExtraError, match="needs joblib; install it with"):
        cross()
