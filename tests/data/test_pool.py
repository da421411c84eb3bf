"""Outcomes of items chosen from a pool: counted, moved, added, written and refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outperform as op
from outperform._files import signed
from outperform.data.views import in_weights, scaled
from outperform.errors import DataError, UsageError
from tests.loops import each

A = ["x", "x", "y", "y", "x", "z", "x", "y"]
B = ["x", "y", "y", "x", "x", "z", "x", "y"]


def seen(**options):
    given = {"which": [1, 3, 0, 7], **options}
    return op.Outcomes.from_pool(["y", "y", "x", "z"], {"A": A, "B": B}, **given)


def strata(outcomes):
    labels = outcomes.labels
    rows = zip(outcomes.pool.cells.tolist(), outcomes.pool.counts.tolist(), strict=True)
    return {(labels[a], labels[b]): n for (a, b), n in rows}


def test_labels_and_pool_are_counted_apart():
    found = seen()
    assert (found.n, found.pool.n, found.labels) == (4, 8, ("x", "y", "z"))
    assert strata(found) == {
        ("x", "x"): 3,
        ("x", "y"): 1,
        ("y", "x"): 1,
        ("y", "y"): 2,
        ("z", "z"): 1,
    }
    assert found.confusion("A").tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 0]]


def test_a_column_with_gaps_says_the_same():
    column = [None] * 8
    for place, label in zip([1, 3, 0, 7], ["y", "y", "x", "z"], strict=True):
        column[place] = label
    assert op.Outcomes.from_pool(column, {"A": A, "B": B}) == seen()
    numbers = np.array([np.nan, 1.0, 0.0])
    found = op.Outcomes.from_pool(numbers, {"A": [1, 1, 0], "B": [0, 1, 0]})
    assert (found.n, found.labels) == (2, (0, 1))


def test_labelled_items_stand_for_those_with_the_same_predictions():
    weighed = in_weights(seen())
    assert weighed.pool is None
    # (x, x) was labelled once and occurs three times, (y, y) once and twice, (z, z) never
    assert weighed.confusion("A").tolist() == [[3, 0, 0], [1, 1, 0], [0, 2, 0]]
    assert weighed.confusion("B").tolist() == [[3, 0, 0], [1, 1, 0], [0, 2, 0]]


def test_models_change_places_with_their_strata():
    turned = seen().select(["B", "A"])
    assert strata(turned)[("y", "x")] == 1
    assert turned.confusion("A").tolist() == seen().confusion("A").tolist()
    assert turned.select(["A", "B"]) == seen()


def test_new_classes_move_the_strata():
    more = seen().with_labels(["a", "y"])
    assert more.labels == ("a", "x", "y", "z")
    assert strata(more) == strata(seen())


def test_it_goes_through_json():
    text = seen().to_json()
    again = op.Outcomes.from_json(text)
    assert again == seen()
    assert strata(again) == strata(seen())
    assert seen() != op.Outcomes.from_counts(["y"], {"A": ["x"], "B": ["y"]}, [1])


@each(
    ("change", "match"),
    [
        (lambda pool: pool["counts"].__setitem__(0, 0), "needs a count"),
        (lambda pool: pool["counts"].pop(), "needs a count"),
        (lambda pool: pool["cells"].__setitem__(0, [0, 7]), "not in labels"),
        (lambda pool: pool.update(cells=[[0]], counts=[9]), "prediction of each model"),
        (lambda pool: pool.update(cells=[[2, 2]], counts=[9]), "that does not occur in the pool"),
        (lambda pool: pool.pop("cells"), "damaged"),
    ],
)
def test_damaged_pools_are_noticed(change, match):
    data = json.loads(seen().to_json())
    change(data["pool"])
    with pytest.raises(DataError, match=match):
        op.Outcomes.from_dict(signed(data))


def test_more_labels_than_items_are_noticed():
    data = json.loads(seen().to_json())
    data["tables"][0]["counts"][0] = 4  # of three items
    with pytest.raises(
        DataError, match=r"4 items .* are labelled but the pool contains only 3 of them"
    ):
        op.Outcomes.from_dict(signed(data))


def test_disjoint_pools_add_up():
    other = op.Outcomes.from_pool(["w"], {"A": ["w", "x"], "B": ["x", "x"]}, which=[0])
    both = seen() + other
    assert (both.n, both.pool.n, both.labels) == (5, 10, ("w", "x", "y", "z"))
    assert strata(both)[("x", "x")] == 4
    assert strata(both)[("w", "x")] == 1


def test_one_pool_does_not_add_up_with_itself():
    with pytest.raises(UsageError, match="count twice"):
        _ = seen() + seen()
    with pytest.raises(UsageError, match="count twice"):
        _ = seen() + seen().select(["B", "A"])
    plain = op.Outcomes.from_labels(["x"], {"A": ["x"], "B": ["y"]})
    with pytest.raises(UsageError, match="cannot be added to others"):
        _ = seen() + plain


def test_what_would_forget_the_strata_is_refused():
    for forget in (
        lambda: seen().unpair(),
        lambda: seen().binarize("x"),
        lambda: seen().select(["A"]),
        lambda: seen().split_labels("|"),
        lambda: scaled(seen(), 0.5),
    ):
        with pytest.raises(UsageError, match="chosen from a pool"):
            forget()


@each(
    ("options", "match"),
    [
        ({"which": [1, 3, 0]}, "index of each of the 4"),
        ({"which": [1, 3, 0, 8]}, "between 0 and 7"),
        ({"which": [1, 3, 0, -1]}, "between 0 and 7"),
        ({"which": [1, 3, 0, 1]}, "twice"),
        ({"which": [1.0, 3.0, 0.0, 2.0]}, "integers"),
        ({"which": None}, "4 values but the pool has 8"),
    ],
)
def test_places_that_cannot_be_are_refused(options, match):
    with pytest.raises(DataError, match=match):
        seen(**options)


def test_a_pool_has_two_models_of_the_same_items():
    with pytest.raises(UsageError, match="two models"):
        op.Outcomes.from_pool(["x"], {"A": A}, which=[0])
    with pytest.raises(DataError, match="same items"):
        op.Outcomes.from_pool(["x"], {"A": A, "B": B[:-1]}, which=[0])


def test_what_was_read_is_put_beside_its_pool():
    which = [1, 3, 0, 7]
    chosen = {"A": [A[k] for k in which], "B": [B[k] for k in which]}
    read = op.Outcomes.from_labels(["y", "y", "x", "z"], chosen)
    pool = op.Outcomes.from_labels(A, {"B": B})  # A's predictions as truth
    assert read.in_pool(pool) == seen()
    with pytest.raises(UsageError, match="'A' as truth and 'B' as its only model"):
        read.in_pool(op.Outcomes.from_labels(A, {"C": B}))
    with pytest.raises(UsageError, match="one"):
        seen().in_pool(pool)
    with pytest.raises(UsageError, match="without groups"):
        op.Outcomes.from_labels(A, {"A": A, "B": B}, groups=A).in_pool(pool)
    with pytest.raises(DataError, match="each item can be labelled only once"):
        (read + read + read + read).in_pool(pool)
