"""Right or wrong of each model without a truth: a wide table, or a file a model joined on id."""

from __future__ import annotations

import io
import json
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from tests.loops import each

N = 400
RNG = np.random.default_rng(7)
BITS = {
    "a": RNG.random(N) < 0.8,
    "b": RNG.random(N) < 0.7,
    "c": RNG.random(N) < 0.5,
}
USERS = np.arange(N) // 4
EXPECTED = op.Outcomes.from_correct(BITS)


def same(seen, expected=EXPECTED):
    """Say whether two outcomes are the same kind, with the same models and counts."""
    assert (seen.kind, seen.n, seen.models) == ("correct", expected.n, expected.models)
    assert (seen.labels, seen.paired) == (expected.labels, expected.paired)
    left, right = seen.tables[0], expected.tables[0]
    assert left.cells.tolist() == right.cells.tolist()
    assert left.counts.tolist() == right.counts.tolist()


@pytest.fixture
def logs(tmp_path):
    """Return one JSON Lines file of right and wrong for each model, each in its own order."""
    paths = {}
    for place, (model, bits) in enumerate(BITS.items()):
        rows = [{"id": f"q{k}", "correct": bool(bit)} for k, bit in enumerate(bits)]
        paths[model] = tmp_path / f"m_{model}.jsonl"
        paths[model].write_text("\n".join(map(json.dumps, np.roll(rows, 7 * place).tolist())))
    return paths


def test_files_of_several_models_need_no_truth(logs):
    seen = op.read(logs, id="id", correct="correct")
    same(seen)
    assert seen.findings == ()
    found = op.compare(seen, "a", "b", metric="accuracy", rope=0.01, random_state=1)
    assert found.observed == pytest.approx(BITS["a"].mean() - BITS["b"].mean())


def test_the_order_of_the_files_changes_no_number(logs):
    turned = {name: logs[name] for name in ("c", "b", "a")}
    seen = op.read(turned, id="id", correct="correct")
    assert seen.models == ("c", "b", "a")
    same(seen.select(["a", "b", "c"]))


def test_a_list_of_files_is_a_join_if_one_column_is_named(logs):
    assert op.read(list(logs.values()), id="id", correct="correct").models == ("m_a", "m_b", "m_c")


def test_no_model_is_taken_for_gold(logs):
    with pytest.raises(UsageError, match="is named gold, and a model's file is never") as caught:
        op.read({name: logs[name] for name in "cba"}, id="id", label="correct")
    assert "correct='correct'" in str(caught.value)
    assert "truth='c'" in str(caught.value)


@each("name", ["gold", "Gold", "truth", "ground_truth", "y_true", "labels",
                                  "reference"])  # fmt: skip
def test_gold_is_the_file_that_is_called_so_wherever_it_stands(tmp_path, name):
    (tmp_path / "x.csv").write_text("id,label\n1,a\n2,b\n3,b\n")
    (tmp_path / "y.csv").write_text("id,label\n1,a\n2,b\n3,a\n")
    seen = op.read({"m": tmp_path / "y.csv", name: tmp_path / "x.csv"}, id="id", label="label")
    assert seen.models == ("m",)
    assert seen.confusion("m").tolist() == [[1, 0], [1, 1]]


def test_truth_names_the_gold_file(tmp_path):
    for name, labels in {"test": "abb", "bert": "aba", "gpt": "bbb"}.items():
        rows = "".join(f"{k},{label}\n" for k, label in enumerate(labels))
        (tmp_path / f"{name}.csv").write_text("id,label\n" + rows)
    files = [tmp_path / f"{name}.csv" for name in ("bert", "test", "gpt")]
    seen = op.read(files, id="id", label="label", truth="test")
    assert seen.models == ("bert", "gpt")
    assert seen.confusion("bert").tolist() == [[1, 0], [1, 1]]
    with pytest.raises(UsageError, match="no column 'tets' in"):
        op.read(files, id="id", label="label", truth="tets")


def test_two_files_called_gold_are_told_apart_by_truth(tmp_path):
    for name, labels in {"gold": "abb", "labels": "aba"}.items():
        rows = "".join(f"{k},{label}\n" for k, label in enumerate(labels))
        (tmp_path / f"{name}.csv").write_text("id,label\n" + rows)
    files = [tmp_path / "gold.csv", tmp_path / "labels.csv"]
    with pytest.raises(UsageError, match="'gold' and 'labels' both have gold file names"):
        op.read(files, id="id", label="label")
    assert op.read(files, id="id", label="label", truth="gold").models == ("labels",)


@each(
    ("column", "values", "level"),
    [
        ("correct", ["1", "0"], "warning"),
        ("correct", ["true", "false"], "warning"),
        ("label", ["true", "false"], "note"),
        ("label", ["1", "0"], None),
        ("correct", ["x", "y"], None),
    ],
)
def test_gold_that_says_right_or_wrong_is_noticed(tmp_path, column, values, level):
    for name in ("gold", "bert"):
        rows = "".join(f"{k},{values[k % 2]}\n" for k in range(6))
        (tmp_path / f"{name}.csv").write_text(f"id,{column}\n{rows}")
    seen = op.read([tmp_path / "gold.csv", tmp_path / "bert.csv"], id="id", label=column)
    found = [finding.level for finding in seen.findings if finding.name == "right_or_wrong_as_gold"]
    assert found == ([] if level is None else [level])


# One wide table


WIDE = pd.DataFrame({"q": np.arange(N), "user": USERS, **BITS})


@each(
    "values",
    [
        BITS,
        {name: bits.astype(int) for name, bits in BITS.items()},
        {name: bits.astype(float) for name, bits in BITS.items()},
        {name: np.where(bits, "true", "false") for name, bits in BITS.items()},
        {name: np.where(bits, "TRUE", "False") for name, bits in BITS.items()},
    ],
    ids=["booleans", "integers", "floats", "text", "TEXT"],
)
def test_a_wide_table_is_what_from_correct_gives(tmp_path, values):
    frame = pd.DataFrame(values)
    frame.to_csv(tmp_path / "wide.csv", index=False)
    frame.to_parquet(tmp_path / "wide.parquet")
    frame.to_json(tmp_path / "wide.jsonl", orient="records", lines=True)
    sources = [frame, pl.from_pandas(frame).lazy(), pa.Table.from_pandas(frame)]
    sources += [tmp_path / f"wide.{ending}" for ending in ("csv", "parquet", "jsonl")]
    for source in sources:
        same(op.read(source, correct=["a", "b", "c"]))


def test_databases_too(tmp_path):
    with duckdb.connect(tmp_path / "w.duckdb") as connection:
        connection.register("wide", WIDE)
        connection.execute("CREATE TABLE t AS FROM wide")
    same(op.read(tmp_path / "w.duckdb", table="t", correct=["a", "b", "c"]))
    connection = sqlite3.connect(tmp_path / "w.sqlite")
    WIDE.to_sql("t", connection, index=False)
    connection.close()
    same(op.read(tmp_path / "w.sqlite", table="t", correct=["a", "b", "c"]))


def test_models_are_called_as_one_likes_and_one_column_is_one_model():
    seen = op.read(WIDE, correct={"first": "a", "second": "c"})
    assert seen.models == ("first", "second")
    assert op.read(WIDE, correct="b").models == ("b",)


def test_groups_slices_weights_and_conditions_work_as_elsewhere(tmp_path, logs):
    wide = WIDE.assign(times=1 + WIDE["q"] % 3, country=np.where(WIDE["q"] % 2, "DE", "FR"))
    wide.to_csv(tmp_path / "wide.csv", index=False)
    for source in (wide, tmp_path / "wide.csv"):
        grouped = op.read(source, correct=["a", "b", "c"], groups="user", id="q")
        expected = op.Outcomes.from_correct(BITS, groups=USERS)
        same(grouped, expected)
        assert grouped.groups.n == expected.groups.n == N // 4
        weighed = op.read(source, correct=["a", "b", "c"], weight="times")
        same(weighed, op.Outcomes.from_correct(BITS, sample_weight=1 + np.arange(N) % 3))
        french = {name: bits[::2] for name, bits in BITS.items()}
        some = op.read(source, correct=["a", "b", "c"], where={"country": "FR"})
        same(some, op.Outcomes.from_correct(french))
        sliced = op.read(source, correct=["a", "b"], by="country")
        assert sliced.kind == "correct"
        rows = op.compare_slices(sliced, "a", "b", metric="accuracy", rope=0.01, random_state=1)
        assert {row.key: row.n for row in rows.rows} == {("DE",): N // 2, ("FR",): N // 2}
    with_user = WIDE[["q", "user", "a"]].rename(columns={"a": "ok"})
    with_user.to_csv(tmp_path / "a.csv", index=False)
    WIDE[["q", "b"]].rename(columns={"b": "ok"}).to_csv(tmp_path / "b.csv", index=False)
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    seen = op.read(files, id="q", correct="ok", groups="user")
    two = {name: BITS[name] for name in "ab"}
    same(seen, op.Outcomes.from_correct(two, groups=USERS))


def test_an_empty_value_is_missing(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("a,b\ntrue,false\n,true\nfalse,false\n")
    with pytest.raises(DataError, match=r"'a' has no value in 1 of 3 rows, the first in line 3 of"):
        op.read(path, correct=["a", "b"])
    seen = op.read(path, correct=["a", "b"], on_null="drop")
    assert (seen.n, seen.findings[0].name) == (2, "null_rows_dropped")
    (tmp_path / "x.csv").write_text("id,ok\n1,true\n2,\n")
    (tmp_path / "y.csv").write_text("id,ok\n2,true\n1,false\n")
    files = [tmp_path / "x.csv", tmp_path / "y.csv"]
    with pytest.raises(DataError, match=r"1 rows of .*x\.csv have no value .* ids '2'"):
        op.read(files, id="id", correct="ok")
    assert op.read(files, id="id", correct="ok", on_null="drop").n == 1


@pytest.mark.parametrize(
    ("value", "hint"),
    [("maybe", "truth="), ("0.5", "op.read_scores"), ("2", "op.read_scores"), ("spam", "truth=")],
)
def test_what_is_neither_right_nor_wrong_is_refused_with_its_place(tmp_path, value, hint):
    path = tmp_path / "wide.csv"
    path.write_text(f"a,b\ntrue,0\nfalse,1\ntrue,{value}\n")
    with pytest.raises(DataError) as caught:
        op.read(path, correct=["a", "b"])
    told = str(caught.value)
    assert "column 'b' must contain true and false, 1 and 0, or pass and fail" in told
    assert f"in 1 of 3 rows, the first in line 4 of {path}, e.g. '{value}'" in told
    assert hint in told
    frame = pd.DataFrame({"a": ["true", "false"], "b": ["1", value]})
    with pytest.raises(DataError, match=rf"column 'b' .* in 1 of 2 rows, e\.g\. '{value}'"):
        op.read(frame, correct=["a", "b"])
    for name in ("x", "y"):
        (tmp_path / f"{name}.csv").write_text(f"id,ok\n1,true\n2,{value}\n")
    with pytest.raises(DataError, match=r"in 1 of 2 rows of .*x\.csv, such as the ids '2', e\.g\."):
        op.read([tmp_path / "x.csv", tmp_path / "y.csv"], id="id", correct="ok")


@pytest.mark.parametrize(
    ("right", "wrong"), [("pass", "FAIL"), ("Passed", "failed"), ("correct", "incorrect")]
)
def test_words_for_right_and_wrong_are_read(tmp_path, right, wrong):
    path = tmp_path / "wide.csv"
    path.write_text(f"a,b\n{right},{wrong}\n{wrong},{wrong}\n{right},{right}\n")
    words = op.read(path, correct=["a", "b"])
    path.write_text("a,b\n1,0\n0,0\n1,1\n")
    assert words == op.read(path, correct=["a", "b"])


def test_grades_are_no_right_or_wrong(tmp_path):
    pq.write_table(pa.table({"a": [0.25, 1.0], "b": [1.0, 0.0]}), tmp_path / "w.parquet")
    with pytest.raises(DataError, match=r"column 'a' .* row 1 of .*'0\.25'; .*read_scores"):
        op.read(tmp_path / "w.parquet", correct=["a", "b"])


@each(
    ("options", "message"),
    [
        ({"correct": ["a", "b"], "truth": "c"}, "omit truth="),
        ({"correct": ["a"], "models": ["b"], "truth": "c"}, "omit truth= and models="),
        ({"correct": ["a", "a"]}, "every column has one role; got correct="),
        ({"correct": []}, "correct must contain at least one column"),
        ({"correct": 3}, "correct must be a list of columns"),
        ({"correct": ["a", "d"]}, "no column 'd' in"),
        ({"correct": ["a"], "groups": "a"}, "every column has one role"),
    ],
)
def test_what_cannot_be_asked_together_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        op.read(WIDE, **options)


def test_a_join_needs_an_id_and_one_column(logs):
    with pytest.raises(UsageError, match="id= and correct="):
        op.read(logs, correct="correct")
    with pytest.raises(UsageError, match=r"one right/wrong column, e\.g\. correct='correct'"):
        op.read(logs, id="id", correct=["a", "b"])
    with pytest.raises(DataError, match="lacks 1 ids"):
        op.read({**logs, "d": io.StringIO("id,correct\n" + "".join(
            f"q{k},true\n" for k in range(N - 1)))}, id="id", correct="correct")  # fmt: skip
