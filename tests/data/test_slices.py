"""Slices: the same counts, divided; the whole is their sum, whatever is done to both."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import outperform as op
from outperform._files import signed
from outperform.data.views import emptied, scaled
from outperform.errors import DataError, UsageError
from tests.loops import each

rows = st.lists(
    st.tuples(
        st.sampled_from("xyz"), st.sampled_from("xyz"), st.sampled_from("xyz"),
        st.integers(8, 11), st.booleans(),
    ),
    min_size=1,
    max_size=40,
)  # fmt: skip


def seen(table, **options):
    truth, a, b, hour, mobile = map(list, zip(*table, strict=True))
    by = {"hour": hour, "mobile": mobile}
    return op.Outcomes.from_labels(truth, {"a": a, "b": b}, by=by, **options)


def plain(outcomes):
    """Return the counts as a Counter of labels."""
    (table,) = outcomes.tables
    return Counter(
        {
            tuple(outcomes.labels[code] for code in cell): count
            for cell, count in zip(table.cells.tolist(), table.counts.tolist(), strict=True)
        }
    )


@given(rows)
def test_each_slice_is_what_a_plain_counter_says(table):
    outcomes = seen(table)
    expected: dict[tuple[str, str], Counter] = {}
    for *labels, hour, mobile in table:
        expected.setdefault((str(hour), str(mobile)), Counter())[tuple(labels)] += 1
    assert set(outcomes.slices) == set(expected)
    for key, counts in expected.items():
        assert plain(outcomes.slice(*key)) == counts
    assert outcomes.slices.n.tolist() == [expected[key].total() for key in outcomes.slices]


@given(rows)
def test_the_whole_is_what_it_is_without_slices(table):
    truth, a, b, _, _ = map(list, zip(*table, strict=True))
    outcomes = seen(table)
    assert plain(outcomes) == plain(op.Outcomes.from_labels(truth, {"a": a, "b": b}))
    assert op.Outcomes.from_json(outcomes.to_json()) == outcomes


@given(rows, rows)
def test_slices_add_up_in_any_order(one, two):
    assert seen(one) + seen(two) == seen(one + two) == seen(two) + seen(one)


@given(rows, st.sampled_from("xyz"))
def test_slices_follow_the_whole(table, label):
    outcomes = seen([*table, ("x", "y", "z", 8, True)])
    for asked in (
        lambda one: one.binarize(label),
        lambda one: one.select(["b"]),
        lambda one: one.select(["b", "a"]),
        lambda one: one.with_labels(["w", "zz"]),
    ):
        moved = asked(outcomes)
        for key in outcomes.slices:
            assert plain(moved.slice(*key)) == plain(asked(outcomes.slice(*key)))


def test_counts_are_of_items_and_zero_brings_no_slice():
    outcomes = op.Outcomes.from_counts(
        [1, 1, 0], {"m": [1, 0, 0]}, [3, 2, 0], by={"day": ["mo", "mo", "tu"]}
    )
    assert list(outcomes.slices) == [("mo",)]
    assert outcomes.slices.n.tolist() == [5]
    counted = op.Outcomes.from_counts([1, 0], {"m": [1, 1]}, [10**20, 1], by={"day": [1, 2]})
    assert counted.slice(1).n == 10**20


def test_slices_that_mean_another_table_are_gone():
    outcomes = seen([("x", "y", "z", 8, True)])
    assert outcomes.unpair().slices is None
    assert scaled(outcomes, 0.5).slices is None
    assert emptied(outcomes).slices is None


@each(
    ("ask", "error", "message"),
    [
        (lambda one: one.slice("8"), UsageError, "one value for each of"),
        (lambda one: one.slice(8, "Tru"), UsageError, "did you mean '8, True'"),
        (lambda one: one.slice(8, True).slice(1), UsageError, "have no slices"),
        (lambda one: one + one.slice(8, True), UsageError, "with and without slices"),
        (lambda one: one + seen([("x", "y", "z", 8, True)]).slice(8, True), UsageError, "without"),
    ],
)
def test_what_is_refused(ask, error, message):
    with pytest.raises(error, match=message):
        ask(seen([("x", "y", "z", 8, True)]))


def test_other_columns_do_not_add_up():
    one = op.Outcomes.from_labels([1], {"m": [1]}, by={"day": [1]})
    two = op.Outcomes.from_labels([1], {"m": [1]}, by={"hour": [1]})
    with pytest.raises(UsageError, match="cannot be added"):
        one + two


def test_bad_columns_are_refused():
    with pytest.raises(DataError, match="missing"):
        op.Outcomes.from_labels([1, 0], {"m": [1, 0]}, by={"day": ["mo", None]})
    with pytest.raises(DataError, match="3"):
        op.Outcomes.from_labels([1, 0], {"m": [1, 0]}, by={"day": [1, 2, 3]})
    with pytest.raises(UsageError, match="mapping from names"):
        op.Outcomes.from_labels([1, 0], {"m": [1, 0]}, by=["mo", "tu"])


@each(
    ("field", "value"),
    [
        ("counts", [2, 1]),
        ("counts", [1]),
        ("keys", [["9"], ["8"]]),
        ("keys", [["8", "x"], ["9", "y"]]),
        ("cells", [[0, 0, 0], [2, 1, 1]]),
        ("cells", [[0, 0, 0], [1, 1, 2]]),
        ("cells", [[0, 0], [1, 1]]),
    ],
)
def test_damaged_slices_are_refused(field, value):
    data = json.loads(op.Outcomes.from_labels([0, 1], {"m": [0, 1]}, by={"hour": [8, 9]}).to_json())
    assert op.Outcomes.from_dict(data).slices.n.tolist() == [1, 1]
    data["slices"][field] = value
    with pytest.raises(DataError, match=r"slice|add up"):
        op.Outcomes.from_dict(signed(data))


def test_many_slices_are_counted_quickly():
    generator = np.random.default_rng(5)
    truth, a, b = generator.integers(0, 2, (3, 200_000))
    by = {
        "country": generator.integers(0, 100, 200_000),
        "day": generator.integers(0, 100, 200_000),
    }
    outcomes = op.Outcomes.from_labels(truth, {"a": a, "b": b}, by=by)
    assert len(outcomes.slices) == 10_000
    assert outcomes.slices.n.sum() == 200_000
