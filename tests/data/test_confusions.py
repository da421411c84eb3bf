"""Confusion matrices, one per model: squares of whole numbers, rows the truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from outperform import Outcomes
from outperform.errors import DataError, UsageError
from tests.loops import each

A = [[5, 1, 0], [2, 8, 1], [0, 0, 3]]
B = [[6, 0, 0], [1, 7, 3], [0, 1, 2]]


def test_matrices_come_back_as_they_went_in():
    seen = Outcomes.from_confusion({"a": A, "b": B}, labels=["x", "y", "z"])
    assert seen.confusion("a").tolist() == A
    assert seen.confusion("b").tolist() == B
    assert not seen.paired
    assert seen.n == 20
    assert seen.findings == ()
    assert Outcomes.from_confusion({"a": A}).labels == (0, 1, 2)


def test_rows_follow_their_labels_into_canonical_order():
    seen = Outcomes.from_confusion({"a": A}, labels=["z", "x", "y"])
    assert seen.labels == ("x", "y", "z")
    assert seen.confusion("a").tolist() == [[8, 1, 2], [0, 3, 0], [1, 0, 5]]


def test_counts_of_any_size_are_kept():
    table = [[2**63, 1], [0, 2**64 + 1]]
    assert Outcomes.from_confusion({"a": table}).confusion("a").tolist() == table


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float64, object])
def test_arrays_of_any_type_are_taken(dtype):
    table = np.array([[250, 250], [250, 250]], dtype=dtype)
    assert Outcomes.from_confusion({"a": table}).n == 1000


@each(
    ("matrix", "words"),
    [
        ([[1, 2, 3], [4, 5, 6]], r"square.*\(2, 3\)"),
        ([1, 2], "square"),
        ([[1]], "at least two classes"),
        ([[1, 2], [3]], "rows of equal length"),
        ([[1, -2], [3, 4]], "negative.*-2"),
        ([[1, 2.5], [3, 4]], "integers.*2.5"),
        ([[1, np.nan], [3, 4]], "integers.*nan"),
        ([[1, np.inf], [3, 4]], "integers.*inf"),
        ([["1", "2"], ["3", "4"]], "integers"),
        ([[1, "x"], [3, 4]], "integers"),
        ([[1, None], [3, 4]], "integers.*None"),
        ([[0, 0], [0, 0]], "no items"),
    ],
)
def test_what_is_no_table_of_counts_is_refused_by_name(matrix, words):
    with pytest.raises(DataError, match=f"'bert'.*{words}|{words}.*'bert'"):
        Outcomes.from_confusion({"bert": matrix})


def test_sizes_and_labels_must_match():
    with pytest.raises(DataError, match=r"the same size.*'a': 3.*'b': 2"):
        Outcomes.from_confusion({"a": A, "b": [[1, 0], [0, 1]]})
    with pytest.raises(DataError, match="3 rows need 3 labels; got 2"):
        Outcomes.from_confusion({"a": A}, labels=["x", "y"])
    with pytest.raises(UsageError, match="distinct"):
        Outcomes.from_confusion({"a": A}, labels=["x", "y", "x"])
    with pytest.raises(UsageError, match="by model name"):
        Outcomes.from_confusion([A])


def test_frames_must_have_the_same_classes_in_rows_and_columns():
    frame = pd.DataFrame(A, index=list("xyz"), columns=list("xyz"))
    assert Outcomes.from_confusion({"a": frame}, labels=list("xyz")).n == 20
    # A crosstab of truth x, y, z against predictions x, y, w is square, and no confusion matrix.
    with pytest.raises(DataError, match=r"rows of 'a' and the columns of 'a'.*reindex"):
        Outcomes.from_confusion({"a": frame.set_axis(list("xyw"), axis=1)})
    with pytest.raises(DataError, match=r"columns of 'a' and the rows of 'b'.*same order"):
        Outcomes.from_confusion({"a": frame, "b": frame.loc[list("zyx"), list("zyx")]})


def test_a_transposed_matrix_and_another_order_raise_a_finding():
    turned = Outcomes.from_confusion({"a": A, "b": np.array(B).T})
    (finding,) = turned.findings
    assert finding.name == "tables_disagree_on_truth"
    assert "transposed" in finding.message
    order = [2, 0, 1]
    (finding,) = Outcomes.from_confusion({"a": A, "b": np.array(B)[np.ix_(order, order)]}).findings
    assert "different orders" in finding.message
    # Other items altogether are no reason for a finding.
    assert Outcomes.from_confusion({"a": A, "b": [[9, 1, 1], [0, 4, 0], [0, 0, 1]]}).findings == ()
