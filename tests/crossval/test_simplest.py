"""The simplest configuration of a search that is not really worse than the best."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import DataError, UsageError

sklearn = pytest.importorskip("sklearn")
simplest = op.sklearn.simplest_equivalent


def results(scores, params, name="score"):
    rows = np.asarray(scores, dtype=float)
    return {"params": params} | {f"split{i}_test_{name}": one for i, one in enumerate(rows.T)}


def grid(name, values):
    return [{name: value} for value in values]


FOLDS = [[0.7, 0.71, 0.69, 0.7], [0.9, 0.91, 0.89, 0.9], [0.902, 0.911, 0.892, 0.901]]


def test_the_simplest_of_those_not_worse_is_chosen():
    assert simplest("accuracy", rope=0.02)(results(FOLDS, grid("svc__C", [0.1, 1, 10]))) == 1
    assert simplest("accuracy", rope=0.0005)(results(FOLDS, grid("svc__C", [0.1, 1, 10]))) == 2
    assert simplest("accuracy", rope=0.4)(results(FOLDS, grid("svc__C", [0.1, 1, 10]))) == 0


def test_the_rule_is_that_of_compare_cv_scores():
    rng = np.random.default_rng(0)
    scores = 0.8 + rng.normal(scale=0.02, size=(12, 5)) + rng.normal(scale=0.02, size=5)
    best = int(scores.mean(axis=1).argmax())
    worse = [
        op.compare_cv_scores(one, scores[best], folds=5, rope=0.02).p_worse if i != best else 0.0
        for i, one in enumerate(scores)
    ]
    enough = [i for i, one in enumerate(worse) if 1 - one >= 0.8]
    chosen = simplest("f1_macro", rope=0.02, prob=0.8)(results(scores, grid("C", range(1, 13))))
    assert chosen == min(enough)


def test_signs_functions_and_several_names():
    params = [{"a": 1, "b": 2}, {"a": 2, "b": 1}, {"a": 2, "b": 3}]
    seen = results(FOLDS, params)
    for simplicity, chosen in (
        ("a", 2), ("-a", 2), (["a", "b"], 1), (["a", "-b"], 2), (lambda one: -one["b"], 2)
    ):  # fmt: skip
        assert simplest("accuracy", rope=0.02, simplicity=simplicity)(seen) == chosen


def test_no_limit_is_the_most_complex():
    seen = results(FOLDS[1:], grid("max_depth", [None, 3]))
    assert simplest("accuracy", rope=0.02)(seen) == 1


@pytest.mark.parametrize("params", [grid("kernel", "abc"), [{"C": 1, "k": i} for i in "abc"]])
def test_unknown_simplicity_is_refused(params):
    with pytest.raises(UsageError, match="simplicity"):
        simplest("accuracy", rope=0.02)(results(FOLDS, params))


def test_failed_fits_and_other_scores():
    scores = np.array(FOLDS)
    scores[1, 0] = np.nan
    params = grid("C", [0.1, 1, 10])
    assert simplest("f1", rope=0.02)(results(scores, params, "f1")) == 2
    with pytest.raises(UsageError, match="known are f1"):
        simplest("auc", rope=0.02)(results(scores, params, "f1"))
    with pytest.raises(DataError, match="every fold"):
        simplest("f1", rope=0.02)(results(np.full((3, 4), np.nan), params, "f1"))


def test_scikit_learns_own_example_of_refit():
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline
    from sklearn.svm import LinearSVC

    X, y = load_digits(return_X_y=True)
    pipe = Pipeline([
        ("reduce_dim", PCA(random_state=42)), ("classify", LinearSVC(random_state=42, C=0.01))
    ])  # fmt: skip
    search = GridSearchCV(
        pipe,
        {"reduce_dim__n_components": [6, 10, 20, 30, 40]},
        cv=5,
        scoring="accuracy",
        refit=simplest("accuracy", rope=0.03),
    ).fit(X, y)
    means = search.cv_results_["mean_test_score"]
    chosen = search.best_index_
    assert search.best_params_["reduce_dim__n_components"] < 40
    assert means[chosen] > means.max() - 0.03
    assert chosen <= means.argmax()


def test_more_splits_than_folds_need_the_share_that_is_tested():
    rng = np.random.default_rng(4)
    best = 0.8 + rng.normal(scale=0.02, size=50)
    folds = np.vstack([best - 0.004 + rng.normal(scale=0.013, size=50), best])
    seen, asked = results(folds, grid("C", [1, 2])), {"rope": 0.01}
    # Of 50 folds, these scores would show that the simpler one is not worse.
    assert simplest("accuracy", test_share=1 / 50, **asked)(seen) == 0
    assert simplest("accuracy", test_share=0.2, **asked)(seen) == 1
    with pytest.warns(UserWarning, match=r"50 splits .* test_share=0.1 for repeated 10-fold"):
        assert simplest("accuracy", **asked)(seen) == 1
    ten = results(folds[:, :10], grid("C", [1, 2]))
    assert simplest("accuracy", **asked)(ten) == simplest("accuracy", test_share=0.1, **asked)(ten)


def test_scikit_learns_example_of_complexity_in_a_randomized_search():
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import RandomizedSearchCV, RepeatedStratifiedKFold
    from sklearn.pipeline import Pipeline

    X, y = load_digits(return_X_y=True)
    pipe = Pipeline([
        ("reduce_dim", PCA(random_state=42)),
        ("classify", LogisticRegression(random_state=42, C=0.01, max_iter=1_000)),
    ])  # fmt: skip
    search = RandomizedSearchCV(
        pipe,
        {"reduce_dim__n_components": [6, 8, 10, 15, 20, 25, 35, 45, 55]},
        n_iter=6,
        cv=RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0),
        scoring="accuracy",
        refit=simplest("accuracy", rope=0.04, test_share=1 / 4),
        random_state=0,
    ).fit(X[:900], y[:900])
    sizes = [one["reduce_dim__n_components"] for one in search.cv_results_["params"]]
    means = search.cv_results_["mean_test_score"]
    assert means[search.best_index_] > means.max() - 0.04
    assert sizes[search.best_index_] < sizes[means.argmax()]
    assert search.predict(X[900:1_000]).shape == (100,)
