"""Counts of folds: read, checked, and refused with a sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import outperform as op
from outperform.crossval.folds import folds_of_counts, read_folds, repeated_rows
from outperform.errors import DataError, UsageError
from tests.loops import each

ROWS = [[80, 10, 20], [78, 12, 22], [81, 9, 19], [77, 11, 23]]
OTHER = [[82, 11, 18], [80, 12, 20], [83, 10, 17], [79, 12, 21]]


def as_gold(rows):
    return [[tp + fn, tp + fp, tp] for tp, fp, fn in rows]


def read(rows, counts="tp_fp_fn"):
    return read_folds(rows, counts=counts, name="A")


@each(
    "rows",
    [
        ROWS,
        tuple(map(tuple, ROWS)),
        np.array(ROWS),
        np.array(ROWS, dtype=np.uint8),
        np.array(ROWS, dtype=np.float64),
        np.array(ROWS, dtype=object),
        pd.DataFrame(ROWS, columns=["tp", "fp", "fn"]),
        pd.DataFrame(ROWS, index=list("wxyz")),
    ],
)
def test_tables_of_all_kinds_are_read(rows):
    assert read(rows).tolist() == np.transpose(ROWS).tolist()


def test_both_kinds_of_counts_say_the_same():
    assert read(as_gold(ROWS), "gold_predicted_correct").tolist() == read(ROWS).tolist()


def test_counts_of_any_size_stay_exact():
    big = [[10**20 + 1, 10**18, 3], [10**20 + 2, 10**18, 2]]
    assert read(big).tolist() == np.transpose(np.array(big, dtype=object)).tolist()


@each(
    ("rows", "sentence"),
    [
        ([[-1, 10, 20], ROWS[1]], "folds of A must not be negative; got -1"),
        ([[80.5, 10, 20], ROWS[1]], "folds of A must be integers; got 80.5"),
        ([[float("nan"), 10, 20], ROWS[1]], "integers; got nan"),
        (np.array([[np.inf, 10, 20], ROWS[1]]), "integers"),
        ([[None, 10, 20], ROWS[1]], "integers; got None"),
        ([["80", 10, 20], ROWS[1]], "integers; got values of type"),
        (np.ones((2, 3), dtype=bool), "integers; got values of type bool"),
        ("folds", "integers"),
        (None, "integers; got None"),
        ([80, 10, 20], r"three columns, tp, fp, fn, and one row per fold; got shape \(3,\)"),
        ([ROWS], r"got shape \(1, 4, 3\)"),
        ([[80, 10], [78, 12]], r"got shape \(2, 2\)"),
        ([[80, 10, 20], [78, 12]], "rows of equal length"),
        (ROWS[:3], "two rows per repetition of two-fold cross-validation; got 3"),
        (ROWS[:1], "two rows per repetition"),
        ([], "one row per fold"),
        (np.zeros((0, 3), dtype=int), "two rows per repetition.*got 0"),
        (
            [*ROWS[:3], [77, 11, 24]],
            r"repetition 2 \(rows 3 and 4\) has 201 gold items, repetition 1 has 200",
        ),
    ],
)
def test_what_is_no_table_of_folds_is_refused(rows, sentence):
    with pytest.raises(DataError, match=sentence):
        read(rows)
    with pytest.raises(DataError, match=sentence):
        op.compare_cv_counts(rows, OTHER)
    with pytest.raises(DataError, match=sentence):
        op.estimate_cv_counts(rows)


@pytest.mark.parametrize("row", [[90, 100, 95], [100, 90, 95]])
def test_more_correct_than_there_are_is_refused(row):
    with pytest.raises(DataError, match=r"row 2: 95 correct .* the columns are"):
        read([[100, 90, 80], row], "gold_predicted_correct")


@pytest.mark.parametrize("counts", ["gold", "tp,fp,fn", None, 3])
def test_unknown_counts_are_refused(counts):
    with pytest.raises(UsageError, match=r"unknown counts.*tp_fp_fn, gold_predicted_correct"):
        read(ROWS, counts)


def test_both_models_must_have_had_the_same_folds():
    with pytest.raises(DataError, match="bert has 4 folds and gpt has 2"):
        op.compare_cv_counts(ROWS, OTHER[:2], names=("bert", "gpt"))
    moved = [OTHER[0], OTHER[1], [84, 10, 17], [78, 12, 21]]
    with pytest.raises(DataError, match="row 3: A was tested on 100 gold items and B on 101"):
        op.compare_cv_counts(ROWS, moved)


def test_a_repeated_row_is_a_finding():
    rows = np.transpose([[80, 10, 20], [78, 12, 22], [80, 10, 20], [78, 12, 22]])
    (finding,) = repeated_rows(rows, "bert")
    assert (finding.name, finding.level) == ("repeated_fold", "warning")
    assert "folds of bert in rows 1 and 3 have the same counts" in finding.message
    assert repeated_rows(np.transpose(ROWS), "bert") == ()


def test_a_repeated_row_is_told_of_the_model_that_has_it():
    twice = [OTHER[0], OTHER[1], OTHER[0], OTHER[1]]
    found = op.compare_cv_counts(ROWS, twice, names=("bert", "gpt")).findings
    assert ["gpt" in one.message for one in found if one.name == "repeated_fold"] == [True]


def test_folds_know_their_margins_and_repetitions():
    folds = folds_of_counts(np.stack([read(ROWS), read(OTHER)]))
    assert folds.m == 2
    assert folds.hits.shape == folds.actual.shape == folds.predicted.shape == (2, 1, 4)
    assert folds.actual[0, 0].tolist() == [tp + fn for tp, _, fn in ROWS]
    assert folds.predicted[1, 0].tolist() == [tp + fp for tp, fp, _ in OTHER]


def test_folds_know_the_metric_of_each_fold_and_repetition():
    c = op.compare_cv_counts(ROWS, OTHER, metric="f1")
    by_fold = [[2 * tp / (2 * tp + fp + fn) for tp, fp, fn in rows] for rows in (ROWS, OTHER)]
    assert c.details.folds.values(c.spec) == pytest.approx(np.array(by_fold))
    pairs = np.array([ROWS, OTHER]).reshape(2, 2, 2, 3).sum(axis=2)
    whole = 2 * pairs[..., 0] / (2 * pairs[..., 0] + pairs[..., 1] + pairs[..., 2])
    assert c.details.folds.repetitions(c.spec) == pytest.approx(whole)
    assert c.details.folds.triples(c.spec).tolist() == [
        np.transpose(ROWS).tolist(),
        np.transpose(OTHER).tolist(),
    ]
