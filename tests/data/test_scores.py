"""Scores as they come: what is kept, what is refused, and what may be merged."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import outperform as op
from outperform.data.checks import code_of
from outperform.errors import DataError, UsageError
from outperform.inference.score_views import arranged
from tests.loops import each


def test_arrays_lists_and_series_are_read_alike():
    y, s = [0, 1, 1], [0.1, 0.7, 0.3]
    for wrap in (list, np.array, pd.Series, pl.Series, tuple):
        seen = op.Scores.from_arrays(wrap(y), {"a": wrap(s)})
        assert seen.labels == (0, 1)
        assert seen.truth.tolist() == y
        assert seen.values[0].tolist() == s


def test_what_is_known_of_scores():
    seen = op.Scores.from_arrays(
        ["ham", "spam", "ham"], {"a": [1, 2, 3], "b": [3, 2, 1]}, groups=[7, 7, 9]
    )
    assert (seen.n, seen.n_rows, seen.n_classes, seen.n_groups) == (3, 3, 2, 2)
    assert repr(seen) == "Scores(n=3, models=('a', 'b'), labels=('ham', 'spam'), groups=2)"
    assert seen.select(["b"]).values[0].tolist() == [3, 2, 1]
    assert code_of(seen, "spam") == 1
    with pytest.raises(UsageError, match="unknown class 'span'; did you mean 'spam'"):
        code_of(seen, "span")
    with pytest.raises(UsageError, match="unknown model 'c'"):
        seen.select(["c"])
    with pytest.raises(ValueError, match="read-only"):
        seen.values[0][0] = 5.0


@each(
    ("values", "complaint"),
    [
        (["0.5", "0.7"], "must be"),
        ("ab", "one number per item"),
        ([0.5, None], "1 missing or infinite"),
        ([np.inf, 0.1], "first in row 0"),
        (pd.array([0.5, None], dtype="Float64"), "missing"),
        (np.zeros((2, 2, 2)), "got shape"),
        ([0.5], "y_true has 2 rows but the scores have 1"),
        ([], "no scores"),
        ([[0.1], [0.2, 0.3]], "the same number of values for every item"),
        ([[0.1, 0.2, 0.7]] * 2, "one column for each of the 2 classes"),
    ],
)
def test_what_is_no_score_is_refused(values, complaint):
    with pytest.raises(DataError, match=complaint):
        op.Scores.from_arrays([0, 1], {"a": values})


def test_models_must_score_the_same_items():
    with pytest.raises(DataError, match="'a' has 2, 'b' has 3"):
        op.Scores.from_values({"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(DataError, match="one number per item"):
        op.Scores.from_values({"a": [[1, 2]]})
    with pytest.raises(UsageError, match="by model name"):
        op.Scores.from_values([1, 2])


def test_labels_give_the_order_of_columns_and_must_name_all():
    probabilities = [[0.2, 0.3, 0.5], [1, 0, 0]]
    seen = op.Scores.from_arrays(["b", "a"], {"m": probabilities}, labels=["c", "b", "a"])
    assert seen.labels == ("c", "b", "a")
    assert seen.truth.tolist() == [1, 2]
    with pytest.raises(DataError, match="y_true has 'b'"):
        op.Scores.from_arrays(["b", "a"], {"m": [0, 1]}, labels=["a", "c"])


def test_a_truth_of_one_class_still_has_two():
    assert op.Scores.from_arrays([1, 1], {"m": [0.3, 0.2]}).labels == (0, 1)
    assert op.Scores.from_arrays([True], {"m": [0.3]}).labels == (False, True)


def test_items_of_no_weight_are_dropped():
    seen = op.Scores.from_values({"m": [1, 2, 3]}, sample_weight=[2, 0, 3], groups=["x", "y", "z"])
    assert (seen.n, seen.n_rows, seen.n_groups) == (2, 2, 2)


def test_equal_rows_are_merged_where_there_are_many():
    generator = np.random.default_rng(0)
    truth, a, b = (generator.integers(0, k, 5_000) for k in (2, 3, 4))
    seen = op.Scores.from_arrays(truth, {"a": a, "b": b})
    merged = arranged(seen)
    assert merged.n_rows == 24
    assert merged.n == seen.n
    rows = np.stack([merged.truth, *merged.values], axis=1)
    for row, count in zip(rows, merged.counts, strict=True):
        assert count == ((truth == row[0]) & (a == row[1]) & (b == row[2])).sum()


def test_scores_that_differ_or_stand_in_groups_are_only_sorted():
    generator = np.random.default_rng(0)
    truth, score = generator.integers(0, 2, 500), generator.normal(size=500)
    seen = op.Scores.from_arrays(truth, {"a": score})
    again = arranged(seen)
    assert again.counts is None
    assert again.n_rows == 500
    assert (np.diff(again.truth) >= 0).all()
    for code in (0, 1):
        assert (np.diff(again.values[0][again.truth == code]) <= 0).all()
    grouped = arranged(op.Scores.from_values({"a": truth}, groups=np.arange(500) // 2))
    assert grouped.n_rows == 500
