"""Label sets: read in any form, counted once, added up, written and read back."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import outperform as op
from outperform import Outcomes
from outperform._files import signed
from outperform.data.labels import are_label_sets
from outperform.data.views import in_weights, matches, only, stand_beside
from outperform.errors import DataError, UsageError
from tests.loops import each

RNG = np.random.default_rng(5)
Y, A, B = (RNG.random((60, 4)) < 0.4 for _ in range(3))
SEEN = Outcomes.from_label_sets(Y, {"a": A, "b": B})


def as_sets(matrix, kind=set):
    return [kind(np.flatnonzero(row).tolist()) for row in matrix]


FORMS = {
    "bool": lambda m: m,
    "int": lambda m: m.astype(np.int8),
    "float": lambda m: m.astype(np.float64),
    "lists": lambda m: m.astype(int).tolist(),
    "csr": lambda m: sp.csr_array(m.astype(int)),
    "coo": lambda m: sp.coo_matrix(m),
    "pandas": lambda m: pd.DataFrame(m.astype(int)),
    "sets": as_sets,
    "frozensets": lambda m: as_sets(m, frozenset),
    "tuples": lambda m: tuple(as_sets(m, tuple)),
    "lists of labels": lambda m: as_sets(m, list),
    "arrays of labels": lambda m: [np.flatnonzero(row) for row in m],
    "series of lists": lambda m: pd.Series(as_sets(m, list)),
}


@each("form", FORMS)
def test_every_form_gives_the_same_outcomes(form):
    make = FORMS[form]
    seen = Outcomes.from_label_sets(make(Y), {"a": make(A), "b": B})
    assert seen == SEEN
    assert are_label_sets(make(Y))
    assert Outcomes.from_labels(make(Y), {"a": make(A), "b": make(B)}) == SEEN


def test_counts_are_those_of_numpy():
    for name, predicted in (("a", A), ("b", B)):
        hits, actual, said = SEEN.margins(name)
        assert np.array_equal(hits, (Y & predicted).sum(axis=0))
        assert np.array_equal(actual, Y.sum(axis=0))
        assert np.array_equal(said, predicted.sum(axis=0))
    right = (Y == A).all(axis=1), (Y == B).all(axis=1)
    assert matches(SEEN) == Outcomes.from_correct({"a": right[0], "b": right[1]})
    assert SEEN.n == 60
    assert SEEN.n_classes == 4
    assert SEEN.kind == "label_sets"


@pytest.mark.parametrize("label", range(4))
def test_one_label_is_a_binary_table(label):
    binary = Outcomes.from_labels(Y[:, label], {"a": A[:, label], "b": B[:, label]})
    assert SEEN.binarize(label) == binary


def test_columns_have_names():
    names = ["d", "b", "c", "a"]
    seen = Outcomes.from_label_sets(Y, {"a": A}, labels=names)
    assert seen.labels == ("a", "b", "c", "d")
    assert seen.margins("a").actual.tolist() == Y.sum(axis=0)[[3, 1, 2, 0]].tolist()
    for frame in (pd.DataFrame(Y, columns=names), pl.DataFrame(Y, schema=names)):
        assert Outcomes.from_label_sets(frame, {"a": pd.DataFrame(A, columns=names)}) == seen
    # A frame's columns go by their names, not by their places.
    turned = pd.DataFrame(A[:, ::-1], columns=names[::-1])
    assert Outcomes.from_label_sets(pd.DataFrame(Y, columns=names), {"a": turned}) == seen


def test_labels_that_never_occur_count():
    assert Outcomes.from_label_sets([{"x"}], {"m": [{"x"}]}, labels=["y"]).labels == ("x", "y")
    empty = Outcomes.from_label_sets(np.zeros((3, 2), int), {"m": np.zeros((3, 2), int)})
    assert empty.labels == (0, 1)
    assert empty.sets == ((),)


def test_shards_add_up_whatever_labels_they_know():
    first = Outcomes.from_label_sets(as_sets(Y[:25, :3]), {"a": as_sets(A[:25, :3])})
    rest = Outcomes.from_label_sets(as_sets(Y[25:]), {"a": as_sets(A[25:])})
    cut = np.concatenate([np.pad(m[:25, :3], ((0, 0), (0, 1))) for m in (Y, A)], axis=1)
    y, a = np.concatenate([cut[:, :4], Y[25:]]), np.concatenate([cut[:, 4:], A[25:]])
    assert first + rest == rest + first == Outcomes.from_label_sets(y, {"a": a})


def test_shards_of_groups_add_up():
    groups = np.arange(60) // 4
    parts = [
        Outcomes.from_label_sets(Y[rows], {"a": A[rows]}, groups=groups[rows])
        for rows in (slice(0, 20), slice(20, 60))
    ]
    whole = Outcomes.from_label_sets(Y, {"a": A}, groups=groups)
    assert parts[0] + parts[1] == whole
    assert whole.groups.n == 15
    assert whole.n == 60
    assert whole.binarize(2) == Outcomes.from_labels(Y[:, 2], {"a": A[:, 2]}, groups=groups)


def test_the_order_of_items_means_nothing():
    order = np.random.default_rng(0).permutation(60)
    assert Outcomes.from_label_sets(Y[order], {"a": A[order], "b": B[order]}) == SEEN


GOLD = [["B-PER", "I-PER", "O"], ["O", "B-LOC"]]


@each(
    ("gold", "tags"),
    [
        (GOLD, [["B-PER", "O", "O"], ["O", "B-LOC"]]),
        (GOLD, [["B-PER", "O"], ["B-LOC"]]),  # no tag twice, other lengths, but there is an O
        ([["B-PER"], ["S-LOC", "B-X"]], [["B-PER"], ["B-LOC", "E-X"]]),  # of equal length
        ([["B", "I", "O"], ["O", "B"]], [["B", "O", "I"], ["B", "O"]]),
        ([["B", "M", "E", "S", "S"]], [["S", "B", "E", "B", "E"]]),
        (tuple(map(tuple, GOLD)), [np.array(row) for row in GOLD]),
    ],
)
def test_tags_are_no_label_sets(gold, tags):
    for door in (Outcomes.from_labels, Outcomes.from_label_sets):
        with pytest.raises(UsageError, match=r"tag sequences.*Outcomes\.from_tags.*\"IOB2\""):
            door(gold, {"m": tags})


@each("column", [3, None, "text", np.array("x"), iter([["O"]])])
def test_what_cannot_be_read_is_no_tags_either(column):
    with pytest.raises(DataError):
        Outcomes.from_label_sets(column, {"m": [["B-X", "O"]]})


def test_labels_that_only_look_like_tags_are_taken():
    assert Outcomes.from_labels([set(row) for row in GOLD], {"m": [{"O"}, {"O"}]}).n == 2
    sizes = [["S", "M"], ["L"]], [["S"], ["M", "L"]]
    assert Outcomes.from_labels(sizes[0], {"m": sizes[1]}).labels == ("L", "M", "S")
    odd = [["B-1", "S-2"], ["I-3"]], [["B-1"], ["I-3", "S-2"]]
    assert Outcomes.from_labels(odd[0], {"m": odd[1]}).n == 2
    assert Outcomes.from_labels([["B-1", "T-2"]], {"m": [["B-1", "T-3"]]}).n == 1
    matrix = pd.DataFrame([[1, 0], [0, 1]], columns=["B-PER", "O"])
    assert Outcomes.from_labels(matrix, {"m": matrix}).labels == ("B-PER", "O")


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float64", "int8[pyarrow]"])
def test_nullable_types_make_a_matrix_too(dtype):
    matrix = pd.DataFrame([[1, 0], [1, 1]], columns=["x", "y"])
    plain = Outcomes.from_labels(matrix, {"m": matrix})
    assert Outcomes.from_labels(matrix.astype(dtype), {"m": matrix.astype(dtype)}) == plain


def test_weights_are_importance():
    weights = np.random.default_rng(0).integers(0, 4, size=60)
    seen = Outcomes.from_label_sets(Y, {"a": A}, sample_weight=weights)
    kept = weights > 0
    assert (seen.n, seen.weighted) == (kept.sum(), True)
    assert seen.margins("a").actual.tolist() == Y[kept].sum(axis=0).tolist()
    assert in_weights(seen).margins("a").actual.tolist() == (weights @ Y).tolist()


def test_select_only_and_beside():
    assert SEEN.select(["b"]) == Outcomes.from_label_sets(Y, {"b": B})
    assert SEEN.select(["b", "a"]) == Outcomes.from_label_sets(Y, {"b": B, "a": A})
    names = [1, 3]
    kept = Outcomes.from_label_sets(Y[:, names], {"a": A[:, names], "b": B[:, names]}, labels=names)
    assert only(SEEN, [3, 1]) == kept
    beside = stand_beside(
        Outcomes.from_label_sets(Y[:, :2], {"a": A[:, :2]}), Outcomes.from_label_sets(Y, {"b": B})
    )
    assert np.array_equal(beside.margins("b").hits, SEEN.margins("b").hits)
    assert beside.margins("a").hits.tolist() == [*SEEN.margins("a").hits[:2], 0, 0]
    apart = SEEN.unpair()
    assert np.array_equal(apart.margins("b").hits, SEEN.margins("b").hits)
    assert apart.select(["a"]).n == 60


def test_json_and_back():
    grouped = Outcomes.from_label_sets(
        as_sets(Y, list), {"a": as_sets(A)}, groups=["x", "y", "z"] * 20
    )
    for seen in (SEEN, SEEN.unpair(), grouped):
        again = Outcomes.from_json(seen.to_json())
        assert again == seen
        assert again.sets == seen.sets


@each(
    "damage",
    [
        lambda d: d.pop("sets"),
        lambda d: d["sets"].pop(),
        lambda d: d["sets"].reverse(),
        lambda d: d["sets"].append([9]),
        lambda d: d["sets"].append([3, 3]),
        lambda d: d.update(kind="sets"),
    ],
)
def test_damaged_sets_are_refused(damage):
    data = json.loads(SEEN.to_json())
    damage(data)
    with pytest.raises(DataError, match=r"set|class"):
        Outcomes.from_dict(signed(data))


@each(
    ("y", "a", "sentence"),
    [
        ([{"x"}], ["x"], "row 0 .* is 'x'"),
        ([{"x"}], [None], "Use an empty set for no label and"),
        ([{"x"}], [["x", "x"]], "twice in row 0"),
        ([{"x"}], [{1.5}], "must be text"),
        ([{"x"}], [{1}], "of one type; got int and str"),
        ([{"x", 1}], [{1}], "of one type"),
        ([{"x"}, {"y"}], [{"x"}], "same items in the same order"),
        ([set()], [set()], "contain any label"),
        (np.eye(2), np.array([[0.2, 0.8], [0.4, 0.6]]), "Convert probabilities to labels"),
        (np.eye(2), sp.csr_array([[0.2, 0.8], [0.4, 0.6]]), "Convert probabilities to labels"),
        (np.eye(2), np.array([[np.nan, 1], [0, 1]]), "must be 1"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "no rows"),
        ("ab", [{"x"}], "indicator matrix or one collection"),
    ],
)
def test_what_cannot_be_sets_of_labels_is_refused(y, a, sentence):
    with pytest.raises(DataError, match=sentence):
        Outcomes.from_label_sets(y, {"m": a})


def test_matrices_have_the_same_columns():
    with pytest.raises(DataError, match=r"y_true and predictions of 'a' .* only one of them has 3"):
        Outcomes.from_label_sets(Y, {"a": A[:, :3]})
    frame = pd.DataFrame(Y, columns=[*"wxyz"])
    with pytest.raises(DataError, match="only one of them has 'v'"):
        Outcomes.from_label_sets(frame, {"a": pd.DataFrame(A, columns=[*"vxyz"])})
    # An array beside a frame has its columns in the frame's order.
    assert Outcomes.from_label_sets(frame, {"a": A}) == Outcomes.from_label_sets(
        Y, {"a": A}, labels=[*"wxyz"]
    )


@pytest.mark.parametrize("groups", [None, np.arange(60) // 4])
def test_texts_that_list_labels_are_split(groups):
    names = np.array([*"wxyz"])
    y, a, b = (["; ".join(names[row][::-1]) for row in matrix] for matrix in (Y, A, B))
    listed = Outcomes.from_labels(y, {"a": a, "b": b}, groups=groups)
    wanted = Outcomes.from_label_sets(Y, {"a": A, "b": B}, labels=[*"wxyz"], groups=groups)
    assert listed.split_labels("; ") == wanted
    assert "empty_label" in {one.name for one in listed.findings}


def test_what_lists_no_labels_is_not_split():
    numbers = Outcomes.from_labels([0, 1], {"m": [0, 1]})
    with pytest.raises(DataError, match="only text can be split"):
        numbers.split_labels("|")
    for text, sentence in (("a||b", "an empty label next to"), ("a|a", "twice")):
        with pytest.raises(DataError, match=sentence):
            Outcomes.from_labels([text], {"m": ["a"]}).split_labels("|")
    with pytest.raises(UsageError, match="separator must be"):
        Outcomes.from_labels(["a"], {"m": ["a"]}).split_labels("")
    with pytest.raises(UsageError, match="only classes"):
        SEEN.split_labels("|")


def test_names_must_fit():
    with pytest.raises(DataError, match="4 columns but there are 2 labels"):
        Outcomes.from_label_sets(Y, {"a": A}, labels=["x", "y"])
    with pytest.raises(UsageError, match="distinct"):
        Outcomes.from_label_sets(Y, {"a": A}, labels=["x", "y", "x", "z"])
    with pytest.raises(DataError, match="two columns named 'x'"):
        Outcomes.from_label_sets(pd.DataFrame(Y, columns=[*"xxyz"]), {"a": A})
    with pytest.raises(UsageError, match="unknown label"):
        only(SEEN, [7])


def test_what_label_sets_do_not_have():
    with pytest.raises(UsageError, match="no single confusion matrix"):
        SEEN.confusion("a")
    with pytest.raises(UsageError, match="this needs label sets"):
        matches(op.Outcomes.from_labels([0, 1], {"m": [0, 1]}))
    with pytest.raises(UsageError, match="cannot be added"):
        SEEN + op.Outcomes.from_labels([0, 1], {"a": [0, 1], "b": [0, 1]})
    with pytest.raises(UsageError, match="these items have several; remove"):
        Outcomes.from_labels(Y, {"a": A}, by={"day": [1] * 60})


@each(
    "values",
    [
        ["a", "b"],
        [0, 1, 1],
        np.array([0, 1]),
        np.array([[0], [1]]),  # a column of labels
        np.array([[0.2, 0.8]]),
        np.array([[2, 1], [0, 1]]),
        "ab",
        [],
        5,
    ],
)
def test_plain_labels_are_no_sets(values):
    assert not are_label_sets(values)
