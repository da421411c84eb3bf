"""Training on folds: copies are trained, containers stay what they are, progress is told."""

from __future__ import annotations

import sys
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from outperform.comparison.estimators import (
    check_estimator,
    check_jobs,
    predict_folds,
    size_of,
    take,
)
from outperform.errors import DataError, MissingExtraError, UsageError
from tests.loops import each

X = np.arange(8.0)[:, None]
Y = np.array([0, 0, 1, 1, 0, 1, 0, 1])
SPLITS = [
    (np.array([0, 1, 2, 3]), np.array([4, 5, 6, 7])),
    (np.array([4, 5, 6, 7]), np.array([0, 1, 2, 3])),
]


class Most:
    """Predicts the sum of the training labels, and counts its trainings; scikit-learn clones it."""

    trained: ClassVar[list] = []

    def __init__(self, shift=0):
        self.shift = shift

    def get_params(self, deep=True):
        return {"shift": self.shift}

    def fit(self, X, y):
        type(self).trained.append((id(self), len(X)))
        self.sum_ = int(np.sum(y)) + self.shift
        return self

    def predict(self, X):
        return np.full(len(X), self.sum_)


class Plain:
    """Has fit and predict, and nothing of scikit-learn."""

    def __init__(self):
        self.seen = []

    def fit(self, X, y):
        self.seen.append(len(X))

    def predict(self, X):
        return [len(self.seen)] * len(X)


def train(*estimators, **settings):
    settings = {"n_jobs": 1, "progress": None, **settings}
    return predict_folds(estimators, X, Y, SPLITS, **settings)


def test_clones_are_trained_on_every_fold_and_the_caller_keeps_his_own():
    Most.trained.clear()
    a, b = Most(), Most(shift=10)
    before = dict(vars(a)), dict(vars(b))
    found = train(a, b)
    assert (vars(a), vars(b)) == before
    assert len(Most.trained) == 4
    assert {id(a), id(b)}.isdisjoint(identity for identity, _ in Most.trained)
    assert {size for _, size in Most.trained} == {4}
    assert [fold.tolist() for fold in found[0]] == [[2] * 4, [2] * 4]
    assert [fold.tolist() for fold in found[1]] == [[12] * 4, [12] * 4]


def test_what_scikit_learn_cannot_clone_is_copied():
    one = Plain()
    found = train(one, one)
    assert one.seen == []
    # Each copy was trained once only.
    assert found == [[[1] * 4, [1] * 4]] * 2


@pytest.mark.parametrize("n_jobs", [1, 2, -1, None])
def test_any_number_of_jobs_finds_the_same(n_jobs):
    found = train(Most(), Most(shift=3), n_jobs=n_jobs)
    assert np.array(found).tolist() == [[[2] * 4] * 2, [[5] * 4] * 2]


def test_progress_is_told_after_every_training():
    told = []
    train(Most(), Most(), progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize("missing", ["joblib", "sklearn.base"])
def test_the_extra_is_named_where_it_is_missing(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=r'pip install "outperform\[sklearn\]"'):
        train(Most(), Most())


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (Most, r"A must be an estimator, not the class Most; e.g. Most\(\)"),
        (3, "A must have fit and predict; int has no fit"),
        (np.mean, "has no fit"),
        (None, "has no fit"),
    ],
)
def test_what_cannot_be_trained_is_refused(wrong, sentence):
    with pytest.raises(UsageError, match=sentence):
        check_estimator(wrong, "A")


@each("n_jobs", [0, -2, 1.5, "two", True])
def test_a_number_of_jobs_that_is_none_is_refused(n_jobs):
    with pytest.raises(UsageError, match="n_jobs must be None, -1 or a positive integer"):
        check_jobs(n_jobs)


@each(
    ("data", "taken"),
    [
        ([["a"], ["b", "c"], ["d"]], [["d"], ["a"]]),
        (("x", "y", "z"), ["z", "x"]),
        (np.array([1, 2, 3]), [3, 1]),
        (pd.Series([1, 2, 3], index=[2, 1, 0]), [3, 1]),
        (pl.Series([1, 2, 3]), [3, 1]),
    ],
)
def test_items_are_taken_by_their_place(data, taken):
    assert size_of(data, "X") == 3
    assert list(take(data, np.array([2, 0]))) == taken


@each("kind", ["csr", "csc", "coo", "lil"])
@each("make", ["matrix", "array"])
def test_rows_of_sparse_matrices_are_taken(kind, make):
    data = getattr(sparse, f"{kind}_{make}")(np.eye(3))
    assert size_of(data, "X") == 3
    assert take(data, np.array([2, 0])).toarray().tolist() == [[0, 0, 1], [1, 0, 0]]


def test_rows_of_frames_are_taken():
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=[5, 6, 7])
    assert take(frame, np.array([2, 0]))["a"].tolist() == [3, 1]
    assert take(pl.DataFrame(frame), np.array([2, 0]))["a"].to_list() == [3, 1]


@each("data", ["text", b"text", 3, None, np.array(3), {"a": [1]}, iter([1])])
def test_what_holds_no_items_is_refused(data):
    with pytest.raises(DataError, match="X must be a list, an array or a DataFrame of items"):
        size_of(data, "X")
