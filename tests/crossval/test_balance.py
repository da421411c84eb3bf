"""Dealing units to blocks: what agrees within one, and what agrees as well as it can."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from outperform.crossval.splitter import assign, group_units, item_units


def nothing(n):
    return sparse.csr_array((n, 0))


def table(found, codes, n_blocks):
    counts = np.zeros((n_blocks, codes.max() + 1))
    np.add.at(counts, (found, codes), 1)
    return counts


def sums(found, features, n_blocks):
    return np.stack([features[found == block].sum(axis=0) for block in range(n_blocks)])


def even(counts):
    return np.ptp(counts, axis=0).max() <= 1


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=8).filter(any),
    st.sampled_from([2, 4, 8, 12]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_sizes_and_classes_agree_within_one(class_counts, n_blocks, with_balance, seed):
    classes = np.repeat(np.arange(len(class_counts)), class_counts)
    rng = np.random.default_rng(seed)
    rng.shuffle(classes)
    features = rng.poisson(0.5, (len(classes), 3)) if with_balance else nothing(len(classes))
    units = item_units(classes, sparse.csr_array(features))
    found = assign(units, n_blocks, rng)
    assert ((found >= 0) & (found < n_blocks)).all()
    assert even(np.bincount(found, minlength=n_blocks))
    assert even(table(found, classes, n_blocks))


def test_a_class_that_rounds_cut_is_made_up_for():
    # Every class leaves three of four, so each round begins inside one and ends inside another.
    classes = np.repeat(np.arange(9), 3)
    features = sparse.csr_array(np.random.default_rng(5).random((27, 2)))
    for seed in range(50):
        found = assign(item_units(classes, features), 4, np.random.default_rng(seed))
        assert even(table(found, classes, 4))


def test_every_unit_may_come_to_every_block():
    units = item_units(np.repeat([0, 1], [5, 6]), nothing(11))
    found = [assign(units, 4, np.random.default_rng(seed)) for seed in range(400)]
    counts = table(np.concatenate(found), np.tile(np.arange(11), 400), 4)
    # Each cell is binomial with 400 trials; its probability is 1/4 by symmetry.
    assert abs(counts - 100).max() < 5 * np.sqrt(400 * 0.25 * 0.75)


@pytest.mark.parametrize("n_blocks", [2, 4, 12])
def test_counts_agree_far_better_than_at_random(n_blocks):
    rng = np.random.default_rng(1)
    features = rng.poisson([2.0, 0.5, 0.1], (1_000, 3))
    found = assign(item_units(np.zeros(1_000, int), sparse.csr_array(features)), n_blocks, rng)
    assert even(np.bincount(found))
    assert np.ptp(sums(found, features, n_blocks), axis=0).max() <= 2


def test_many_rare_units_at_once():
    rng = np.random.default_rng(2)
    features = sparse.csr_array(rng.random((2_000, 1_000)) * (rng.random((2_000, 1_000)) < 0.02))
    dealt = assign(item_units(np.zeros(2_000, int), features), 4, rng)
    at_random = rng.permutation(np.arange(2_000) % 4)
    dense = features.toarray()
    spread = [np.ptp(sums(found, dense, 4), axis=0).mean() for found in (dealt, at_random)]
    assert spread[0] < 0.8 * spread[1]


def test_equal_groups_are_dealt_equally_and_their_classes_well():
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(60), 10)
    classes = (rng.random(600) < rng.random(60)[groups]).astype(int)
    found = assign(group_units(groups, classes, nothing(600)), 4, rng)
    assert np.bincount(found).tolist() == [15] * 4
    assert np.ptp(table(found[groups], classes, 4), axis=0).max() <= 3


@pytest.mark.parametrize("large", [10, 1_000])
def test_one_large_group_is_made_up_for_by_many_small_ones(large):
    groups = np.concatenate([np.zeros(large, int), np.arange(1, 3 * large + 1)])
    units = group_units(groups, groups * 0, nothing(4 * large))
    found = assign(units, 4, np.random.default_rng(4))
    assert np.bincount(found[groups]).tolist() == [large] * 4


def test_groups_are_balanced_too():
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(80), rng.integers(1, 12, 80))
    features = rng.poisson(rng.gamma(1.0, 1.0, (80, 2))[groups])
    units = group_units(groups, groups * 0, sparse.csr_array(features))
    found = assign(units, 4, rng)[groups]
    assert np.ptp(np.bincount(found)) <= 3
    assert np.ptp(sums(found, features, 4), axis=0).max() <= 6


@given(st.lists(st.integers(1, 30), min_size=8, max_size=40), st.integers(0, 1_000))
def test_no_block_stays_without_a_group(sizes, seed):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    found = assign(
        group_units(groups, groups % 2, nothing(len(groups))), 8, np.random.default_rng(seed)
    )
    assert set(found) == set(range(8))


def test_a_million_items_of_two_classes_take_no_time():
    classes = np.random.default_rng(0).integers(0, 2, 1_000_000)
    start = time.process_time()
    found = assign(item_units(classes, nothing(1_000_000)), 4, np.random.default_rng(1))
    assert time.process_time() - start < 2
    assert even(table(found, classes, 4))
