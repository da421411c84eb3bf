"""``BlockedTwoFold``: what its folds promise, and how scikit-learn takes it."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import outperform as op
from bench.bench_halves import entity_counts, measure
from outperform.crossval.folds import check_blocked, n_blocks
from outperform.errors import DataError, UsageError
from tests.corpora import corpus
from tests.lazily import lazily
from tests.loops import each

sklearn = lazily("sklearn")
clone = lazily("sklearn.base.clone")
LogisticRegression = lazily("sklearn.linear_model.LogisticRegression")
GridSearchCV = lazily("sklearn.model_selection.GridSearchCV")
check_cv = lazily("sklearn.model_selection.check_cv")
cross_val_score = lazily("sklearn.model_selection.cross_val_score")
cross_validate = lazily("sklearn.model_selection.cross_validate")

RNG = np.random.default_rng(7)
LABELS = RNG.integers(0, 3, 600)
FEATURES = RNG.normal(size=(600, 2)) + LABELS[:, None]


def halves(splitter, n, y=None, groups=None):
    """Return the first training half of each repetition, checking that folds are what they say."""
    folds = list(splitter.split(np.zeros((n, 1)), y, groups))
    assert len(folds) == splitter.get_n_splits() == 2 * splitter.m
    for (train, test), (other_train, other_test) in zip(folds[::2], folds[1::2], strict=True):
        assert sorted([*train, *test]) == list(range(n))
        assert (train == other_test).all()
        assert (test == other_train).all()
    return [train for train, _ in folds[::2]]


def overlaps(found):
    return [np.intersect1d(left, right).size for left, right in combinations(found, 2)]


def same(left, right):
    pairs = zip(left, right, strict=True)
    return all((a[0] == b[0]).all() and (a[1] == b[1]).all() for a, b in pairs)


@each("m", range(1, 16))
def test_six_hundred_items_overlap_exactly(m):
    found = halves(op.BlockedTwoFold(m, random_state=m), 600, LABELS)
    assert {train.size for train in found} == {300}
    assert set(overlaps(found)) <= {150}


@each("m", range(1, 16))
def test_six_hundred_and_one_items_overlap_within_one_per_block(m):
    found = halves(op.BlockedTwoFold(m, random_state=m), 601)
    order = n_blocks(m, 601)
    assert all(abs(train.size - 300.5) < order / 2 for train in found)
    assert all(abs(shared - 150.25) < order / 4 for shared in overlaps(found))


@given(
    st.integers(1, 12),
    st.lists(st.integers(1, 40), min_size=1, max_size=5),
    st.integers(0, 2**32 - 1),
)
def test_any_size_with_any_classes(m, class_counts, seed):
    y = np.repeat(np.arange(len(class_counts)), class_counts)
    splitter = op.BlockedTwoFold(m, random_state=seed)
    if len(y) < n_blocks(m, len(y)):
        with pytest.raises(DataError, match=r"needs at least \d+ items"):
            splitter.split(y, y)
        return
    found = halves(splitter, len(y), y)
    order = n_blocks(m, len(y))
    for train in found:
        counts = np.bincount(y[train], minlength=len(class_counts))
        assert (abs(counts - np.array(class_counts) / 2) < order / 2).all()
    for left, right in combinations(found, 2):
        shared = np.bincount(y[np.intersect1d(left, right)], minlength=len(class_counts))
        assert (abs(shared - np.array(class_counts) / 4) < order / 4).all()
    assert check_blocked(list(splitter.split(y, y)), len(y)) == m


def test_an_integer_seed_gives_the_same_folds_at_each_call_and_none_gives_new_ones():
    fixed, free = op.BlockedTwoFold(random_state=3), op.BlockedTwoFold()
    assert same(fixed.split(FEATURES, LABELS), fixed.split(FEATURES, LABELS))
    assert not same(free.split(FEATURES, LABELS), free.split(FEATURES, LABELS))
    other = op.BlockedTwoFold(random_state=4)
    assert not same(fixed.split(FEATURES, LABELS), other.split(FEATURES, LABELS))


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.int64(5),
        lambda: np.random.SeedSequence(5),
        lambda: np.random.default_rng(5),
        lambda: np.random.RandomState(5),
    ],
)
def test_every_kind_of_random_state(make):
    one, other = (op.BlockedTwoFold(random_state=make()) for _ in range(2))
    assert same(one.split(FEATURES, LABELS), other.split(FEATURES, LABELS))


def test_the_labels_may_come_in_any_dress():
    words = np.array(["a", "b", "c"])[LABELS]
    splitter = op.BlockedTwoFold(random_state=1)
    expected = list(splitter.split(FEATURES, LABELS))
    for y in (LABELS.tolist(), LABELS.astype(float), LABELS[:, None], pd.Series(LABELS)):
        assert same(splitter.split(FEATURES, y), expected)
    for y in (words, words.tolist(), pd.Series(words).astype("category"), pl.Series(words)):
        for train in halves(splitter, 600, y):
            assert abs(np.bincount(LABELS[train]) - np.bincount(LABELS) / 2).max() <= 1
    assert len(halves(splitter, 600, LABELS == 0)) == 3


@each(
    "y",
    [
        [["O", "B-x"], ["O"]] * 10,
        [("O",), ("O", "O")] * 10,
        pd.Series([["O"], ["O", "O"]] * 10),
        np.eye(20, dtype=int),
        sparse.csr_array(np.eye(20, dtype=int)),
        pd.DataFrame({"x": [0, 1] * 10, "y": [1, 0] * 10}),
    ],
)
def test_tags_and_several_labels_leave_nothing_to_stratify_on(y):
    assert same(
        op.BlockedTwoFold(random_state=1).split(range(20), y),
        op.BlockedTwoFold(random_state=1).split(range(20)),
    )


def test_fractions_are_no_classes():
    with pytest.raises(DataError, match=r"got 0\.5.*stratify=False"):
        op.BlockedTwoFold().split(range(8), [0.5, 1.0] * 4)
    assert len(halves(op.BlockedTwoFold(stratify=False), 8, [0.5, 1.0] * 4)) == 3


def test_stratify_false_leaves_the_labels_alone():
    y = np.arange(600) % 2
    spread = [
        abs(y[train].sum() - 150)
        for seed in range(30)
        for train in halves(op.BlockedTwoFold(1, stratify=False, random_state=seed), 600, y)
    ]
    assert max(spread) > 5  # the sd is 6.1


def test_groups_are_never_split_and_classes_stay_alike():
    groups = np.repeat(np.arange(80), RNG.integers(2, 13, 80))
    n = len(groups)
    y = (RNG.random(n) < RNG.random(80)[groups]).astype(int)
    names = np.array([f"writer {code}" for code in range(80)])[groups]
    for train in halves(op.BlockedTwoFold(random_state=2), n, y, names):
        assert not set(groups[train]) & set(np.delete(groups, train))
        assert abs(train.size - n / 2) <= 2
        assert abs(y[train].sum() - y.sum() / 2) <= 3


@each("dress", [np.asarray, sparse.csr_array, sparse.coo_matrix, pd.DataFrame, pl.DataFrame, list])
def test_balance_in_any_dress(dress):
    counts = np.random.default_rng(1).poisson(1.0, (200, 4))
    plain = op.BlockedTwoFold(balance=counts, random_state=1)
    dressed = op.BlockedTwoFold(balance=dress(counts), random_state=1)
    assert same(plain.split(range(200)), dressed.split(range(200)))
    for train in halves(plain, 200):
        assert abs(2 * counts[train].sum(axis=0) - counts.sum(axis=0)).max() <= 4


def test_balance_may_be_one_column():
    lengths = np.arange(200)
    for train in halves(op.BlockedTwoFold(balance=lengths, random_state=1), 200):
        assert abs(2 * lengths[train].sum() - lengths.sum()) <= 2


@each(
    ("balance", "said"),
    [
        (np.ones((5, 2)), r"per item in X, 12 in all; got shape \(5, 2\)"),
        (-np.ones((12, 2)), "got -1"),
        (np.full((12, 2), np.nan), "got nan"),
        (np.full((12, 2), "x"), "must contain numbers"),
        (np.ones((12, 2, 2)), "one row per item"),
    ],
)
def test_bad_balance(balance, said):
    with pytest.raises(DataError, match=said):
        op.BlockedTwoFold(balance=balance).split(range(12))


@each("m", [0, -1, 2.0, True, "3", None])
def test_bad_m(m):
    with pytest.raises(UsageError, match="m must be a whole number of at least 1"):
        op.BlockedTwoFold(m)
    with pytest.raises(UsageError, match="m must be"):
        op.BlockedTwoFold().set_params(m=m)


def test_other_bad_arguments():
    with pytest.raises(UsageError, match="stratify must be True or False"):
        op.BlockedTwoFold(3, [0, 1])
    with pytest.raises(UsageError, match="did you mean 'random_state'"):
        op.BlockedTwoFold().set_params(random_sate=1)
    with pytest.raises(UsageError, match="random_state must be"):
        op.BlockedTwoFold(random_state="x").split(range(12))


@each(
    ("arguments", "said"),
    [
        ((range(3),), "m = 3 needs at least 4 items.*got 3"),
        ((range(12), None, [0, 1, 2] * 4), "m = 3 needs at least 4 groups.*got 3"),
        ((range(12), [0, 1]), "y must have one entry per item in X, 12 in all; got 2"),
        ((range(12), None, [0, 1]), "groups must have one entry"),
        ((range(12), ["a", None] * 6), "y has 6 missing"),
        (([],), "got none"),
        ((None,), "got NoneType"),
    ],
)
def test_bad_data(arguments, said):
    with pytest.raises(DataError, match=said):
        op.BlockedTwoFold().split(*arguments)


def test_parameters_can_be_read_set_cloned_and_pickled():
    counts = np.ones((600, 1))
    splitter = op.BlockedTwoFold(2, stratify=False, balance=counts, random_state=9)
    assert list(splitter.get_params()) == ["m", "stratify", "balance", "random_state"]
    for copied in (clone(splitter), pickle.loads(pickle.dumps(splitter)), copy.deepcopy(splitter)):
        assert same(copied.split(FEATURES, LABELS), splitter.split(FEATURES, LABELS))
    assert splitter.set_params(m=4) is splitter
    assert splitter.get_n_splits() == 8
    assert clone(op.BlockedTwoFold(random_state=np.random.default_rng(1))).m == 3


def test_the_repr_shows_what_was_chosen():
    assert repr(op.BlockedTwoFold()) == "BlockedTwoFold(m=3)"
    chosen = op.BlockedTwoFold(2, stratify=False, balance=np.ones((6, 2)), random_state=1)
    shape = "balance=<ndarray of shape (6, 2)>"
    assert repr(chosen) == f"BlockedTwoFold(m=2, stratify=False, {shape}, random_state=1)"


def test_scikit_learn_takes_it():
    splitter, model = op.BlockedTwoFold(3, random_state=1), LogisticRegression()
    assert check_cv(splitter, LABELS, classifier=True) is splitter
    scores = cross_validate(model, FEATURES, LABELS, cv=splitter)["test_score"]
    assert scores.shape == (6,)
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=splitter).fit(FEATURES, LABELS)
    assert search.n_splits_ == 6
    assert search.cv_results_["split5_test_score"][1] == scores[5]  # C = 1 is the default


@pytest.mark.parametrize("routing", [False, True])
def test_scikit_learn_hands_on_groups(routing):
    groups = np.arange(600) // 10
    splitter = op.BlockedTwoFold(2, random_state=1)
    with sklearn.config_context(enable_metadata_routing=routing):
        given = {"params": {"groups": groups}} if routing else {"groups": groups}
        scores = cross_val_score(LogisticRegression(), FEATURES, LABELS, cv=splitter, **given)
    folds = splitter.split(FEATURES, LABELS, groups)
    expected = [
        LogisticRegression().fit(FEATURES[a], LABELS[a]).score(FEATURES[b], LABELS[b])
        for a, b in folds
    ]
    assert scores.tolist() == expected


def test_halves_of_tweets_have_alike_entities():
    types, counts = entity_counts(corpus("wnut17/wnut17train.conll"))
    assert counts.shape == (3_394, 6)
    assert dict(zip(types, counts.sum(axis=0).tolist(), strict=True)) == {
        "corporation": 221,
        "creative-work": 140,
        "group": 264,
        "location": 548,
        "person": 660,
        "product": 142,
    }
    at_random, _, balanced = measure(counts, 20).values()
    # 200 seeds give 570 and 17 times; bench/bench_halves.py measures them.
    assert at_random[0] > 100 * balanced[0]
    assert at_random[1] > 10 * balanced[1]
