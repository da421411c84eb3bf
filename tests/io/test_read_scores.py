"""Rows of scores from files."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from tests.loops import each

TEXT = "id,y,a,b,item\n1,0,0.25,1e-3,x\n2,1,.5,3,x\n3,1,-1,2,y\n"


def read(text=TEXT, **asked):
    return op.read_scores(io.StringIO(text), **({"models": ["a", "b"]} | asked))


def test_text_becomes_numbers():
    seen = read(truth="y")
    assert seen.labels == ("0", "1")
    assert [values.tolist() for values in seen.values] == [[0.25, 0.5, -1.0], [0.001, 3.0, 2.0]]


def test_parquet_keeps_its_types(tmp_path):
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table({"y": [True, False], "m": [0.5, 0.1], "k": [3, 4]}), path)
    seen = op.read_scores(path, truth="y", models={"M": "m", "K": "k"})
    assert seen.models == ("M", "K")
    assert seen.labels == (False, True)
    assert seen.values[1].tolist() == [3, 4]


def test_groups_rows_and_ids():
    assert read(groups="item").n_groups == 2
    with pytest.raises(DataError, match="'item' has no value in 1 of 3 rows, the first in line 4"):
        read(TEXT.replace(",y\n", ",\n"), groups="item")
    assert read(where={"y": "1"}, id="id").n == 2
    assert np.array_equal(read(models=["b"]).values[0], [0.001, 3, 2])


@each(
    ("asked", "error", "complaint"),
    [
        ({"models": ["item"]}, DataError, "column 'item' must contain scores; got 'x' in row 1"),
        ({"models": "a"}, UsageError, "models must be a list"),
        ({"models": []}, UsageError, "at least one column"),
        ({"models": ["a"], "truth": "a"}, UsageError, "every column has one role"),
        ({"models": ["c"]}, UsageError, "'c'"),
        ({"where": {"y": "7"}}, DataError, "no rows left after where"),
        ({"id": "item"}, DataError, "item"),
        ({"text": "a,b\n1,\n2,3\n"}, DataError, "'b' has no value in 1 of 2 rows.* line 2"),
        ({"score": "a"}, UsageError, r"models=\['bert', 'gpt'\]; .* one row .*format='long'"),
        ({"on_missing": "drop"}, UsageError, "on_missing= is for evaluation logs.*on_null="),
        ({"format": "promptfu"}, UsageError, "unknown format 'promptfu'; did you mean 'promptfoo'"),
    ],
)
def test_what_cannot_be_read_is_refused(asked, error, complaint):
    with pytest.raises(error, match=complaint):
        read(**asked)


def test_mappings_and_frames_are_told_where_to_go():
    with pytest.raises(UsageError, match="Join the files on their id first"):
        op.read_scores({"a": "a.jsonl"}, models=["score"])
    with pytest.raises(UsageError, match=r"Scores\.from_values"):
        op.read_scores(pa.table({"a": [1.0]}), models=["a"])
