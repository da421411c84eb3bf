"""Frames of every library: the same counts as a plain counter, and what is refused."""

from __future__ import annotations

import datetime
import decimal
import io
import math
import os
import shutil
import sqlite3
from collections import Counter
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outperform as op
from outperform.errors import DataError, ResourceError, UsageError
from outperform.io import group_by

FEW = settings.default.max_examples // 8
FEWER = settings.default.max_examples // 25  # where every example is read from every source
CONNECTION = duckdb.connect()
ROWS = [("a", "b"), ("b", "b"), ("a", "a"), ("a", "b"), ("c", "a")]


def counts(seen):
    """Return outcomes as a counter of rows, the truth first."""
    (table,) = seen.tables
    pairs = zip(table.cells.tolist(), table.counts.tolist(), strict=True)
    return Counter({tuple(seen.labels[one] for one in cell): number for cell, number in pairs})


def names(seen):
    return [finding.name for finding in seen.findings]


def columns(rows, header=("y", "m")):
    return {
        name: list(values) for name, values in zip(header, zip(*rows, strict=True), strict=True)
    }


def duckdb_relation(data):
    table = pa.table(data)
    return CONNECTION.from_arrow(table)


def dask_frame(data):
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(pd.DataFrame(data), npartitions=2)


def modin_frame(data):
    os.environ.setdefault("MODIN_ENGINE", "Python")
    return pytest.importorskip("modin.pandas").DataFrame(data)


def spark_frame(data):
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    return session.createDataFrame(list(zip(*data.values(), strict=True)), list(data))


def hugging_face(data):
    return pytest.importorskip("datasets").Dataset.from_dict(data)


OPEN: list[sqlite3.Connection] = []


@pytest.fixture(autouse=True)
def closed():
    """Close the databases that a test opened."""
    yield
    while OPEN:
        OPEN.pop().close()


def ibis_table(data):
    ibis = pytest.importorskip("ibis")
    connection = sqlite3.connect(":memory:")
    OPEN.append(connection)
    pd.DataFrame(data).to_sql("t", connection, index=False)
    return ibis.sqlite.from_connection(connection).table("t")


LIGHT = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda data: pd.DataFrame(data, dtype=object),
    "pandas nullable": lambda data: pd.DataFrame(data).convert_dtypes(),
    "pandas arrow": lambda data: pd.DataFrame(data).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": duckdb_relation,
}
HEAVY = {
    "dask": dask_frame,
    "modin": modin_frame,
    "pyspark": spark_frame,
    "ibis": ibis_table,
    "hugging face": hugging_face,
}
TYPED = [kind for kind in LIGHT if kind != "pandas objects"]
# Modin warns of what does not concern a count, such as the order of its rows.
heavy = [
    pytest.param(kind, marks=pytest.mark.filterwarnings("ignore") if kind == "modin" else ())
    for kind in HEAVY
]
light = pytest.mark.parametrize("kind", LIGHT)
every = pytest.mark.parametrize("kind", [*LIGHT, *heavy])
typed = pytest.mark.parametrize("kind", [*TYPED, *heavy])


def frame(kind, data):
    return (LIGHT | HEAVY)[kind](data)


# What is counted


@every
@pytest.mark.parametrize(
    "rows",
    [ROWS, [(1, 2), (2, 2), (1, 1), (1, 2)], [(True, False), (True, True), (True, False)]],
    ids=["text", "whole numbers", "booleans"],
)
def test_every_frame_gives_the_counts_with_labels_of_their_type(kind, rows):
    if kind == "ibis" and rows[0] == (True, False):
        pytest.skip("SQLite has no booleans")
    seen = op.read(frame(kind, columns(rows)), truth="y", models=["m"])
    assert counts(seen) == Counter(rows)
    assert {type(label) for label in seen.labels} == {type(rows[0][0])}
    assert names(seen) == []


LABELS = {
    "text": st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3),
    "whole numbers": st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2),
    "booleans": st.booleans(),
}


@pytest.mark.parametrize("family", LABELS)
@settings(max_examples=FEW)
@given(data=st.data())
def test_all_doors_agree_with_a_plain_counter(family, data):
    label = st.sampled_from(data.draw(st.lists(LABELS[family], min_size=1, max_size=4)))
    rows = data.draw(st.lists(st.tuples(label, label, label), min_size=1, max_size=30))
    table = columns(rows, ("y", "m", "k"))
    expected = Counter(rows)
    for kind in LIGHT:
        assert counts(op.read(frame(kind, table), truth="y", models=["m", "k"])) == expected, kind
    arrays = {name: np.array(values, dtype=object) for name, values in table.items()}
    for source in (table, arrays):
        models = {"m": source["m"], "k": source["k"]}
        assert counts(op.Outcomes.from_labels(source["y"], models)) == expected
    parquet = io.BytesIO()
    pq.write_table(pa.table(table), parquet)
    parquet.seek(0)
    assert counts(op.read(parquet, truth="y", models=["m", "k"])) == expected
    comma = io.StringIO()
    pd.DataFrame(table).to_csv(comma, index=False, quoting=1, lineterminator="\n")
    comma.seek(0)
    read = counts(
        op.read(
            comma,
            truth="y",
            models=["m", "k"],
            format="csv",
            empty_is_label=True,
            dialect={"separator": ","},
        )
    )
    if family == "text":
        assert read == expected
    else:
        assert read == Counter(tuple(map(str, row)) for row in rows)


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series(["b", "a", "b"], dtype=pd.CategoricalDtype(["z", "b", "a"], ordered=True)),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pl.Series(["b", "a", "b"], dtype=pl.Enum(["z", "b", "a"])),
        pa.chunked_array([pa.array(part).dictionary_encode() for part in (["b"], ["a", "b"])]),
    ],
    ids=["pandas", "pandas ordered", "polars", "polars enum", "pyarrow"],
)
def test_categories_are_read_as_their_text(labels):
    kind = type(labels).__module__.partition(".")[0]
    table = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[kind]
    seen = op.read(table({"y": labels, "m": ["a", "a", "b"]}), truth="y", models=["m"])
    assert counts(seen) == {("b", "a"): 1, ("a", "a"): 1, ("b", "b"): 1}


def test_enums_of_duckdb_are_read_as_their_text():
    relation = duckdb.connect().sql("SELECT 'a'::ENUM('a', 'b') AS y, 'b' AS m")
    assert counts(op.read(relation, truth="y")) == {("a", "b"): 1}


def test_whole_numbers_of_more_than_64_bits_stay_exact():
    relation = duckdb.connect().sql(f"SELECT {2**70 + 1}::HUGEINT AS y, {2**70}::HUGEINT AS m")
    assert op.read(relation, truth="y").labels == (2**70, 2**70 + 1)


@light
def test_whole_numbers_written_as_fractions_are_whole_numbers(kind):
    seen = op.read(frame(kind, {"y": [1.0, 2.0], "m": [1, 1]}), truth="y", models=["m"])
    assert counts(seen) == {(1, 1): 1, (2, 1): 1}


@every
def test_models_can_be_renamed_and_default_to_all_other_columns(kind):
    data = {"id": [1, 2], "y": ["a", "b"], "m": ["a", "a"], "k": ["b", "b"]}
    assert op.read(frame(kind, data), truth="y", id="id").models == ("m", "k")
    seen = op.read(frame(kind, data), truth="y", models={"BERT": "m"})
    assert (seen.models, seen.n) == (("BERT",), 2)


@typed
@pytest.mark.parametrize(
    ("where", "n"),
    [
        ({"land": "DE"}, 2),
        ({"land": ["DE", "FR"], "year": 2026}, 2),
        ({"year": "2026"}, 2),
        ({"year": [2025.0, 2026]}, 3),
    ],
)
def test_where_keeps_the_rows_that_are_asked_for(kind, where, n):
    data = {**columns(ROWS[:3]), "land": ["DE", "DE", "FR"], "year": [2025, 2026, 2026]}
    assert op.read(frame(kind, data), truth="y", models=["m"], where=where).n == n


def test_where_can_ask_for_what_is_missing():
    data = {**columns(ROWS[:3]), "land": ["DE", None, "FR"], "good": [True, False, None]}
    for kind in LIGHT:
        table = frame(kind, data)
        assert op.read(table, truth="y", models=["m"], where={"land": ["DE", None]}).n == 2, kind
        for word in ("None", "nan"):
            with pytest.raises(DataError, match="no rows left after where"):
                op.read(table, truth="y", models=["m"], where={"land": word})
    assert op.read(pl.DataFrame(data), truth="y", models=["m"], where={"good": True}).n == 1


@typed
def test_counts_say_how_many_items_a_row_stands_for(kind):
    data = {**columns(ROWS), "w": [3, 0, 1, 4, 0]}
    seen = op.read(frame(kind, data), truth="y", models=["m"], count="w")
    assert counts(seen) == {("a", "b"): 7, ("a", "a"): 1}


@settings(max_examples=FEWER)
@given(rows=st.lists(st.tuples(*[st.sampled_from("ab")] * 2, st.integers(0, 5)), min_size=1))
def test_a_count_is_as_good_as_so_many_rows(rows):
    expected = Counter()
    for y, m, weight in rows:
        expected[y, m] += weight
    data = columns(rows, ("y", "m", "w"))
    parquet, comma = io.BytesIO(), io.StringIO()
    pq.write_table(pa.table(data), parquet)
    pd.DataFrame(data).to_csv(comma, index=False)
    parquet.seek(0)
    comma.seek(0)
    for source in (*(frame(kind, data) for kind in TYPED), parquet, comma):
        if not expected.total():
            with pytest.raises(DataError, match="no row"):
                op.read(source, truth="y", models=["m"], count="w")
        else:
            assert counts(op.read(source, truth="y", models=["m"], count="w")) == +expected


@pytest.mark.parametrize("kind", [*TYPED, "parquet", "csv"])
def test_weights_say_how_much_an_item_matters(kind):
    data = {**columns(ROWS), "w": [4.0, 1.0, 4.0, 4.0, 0.0], "n": [2, 1, 1, 1, 1]}
    source = frame(kind, data) if kind in TYPED else io.BytesIO()
    if kind == "parquet":
        pq.write_table(pa.table(data), source)
    elif kind == "csv":
        source.write(pd.DataFrame(data).to_csv(index=False).encode())
    if kind not in TYPED:
        source.seek(0)
    seen = op.read(source, truth="y", models=["m"], weight="w", count="n")
    rows = [ROWS[0], *ROWS]
    expected = op.Outcomes.from_labels(
        [y for y, _ in rows], {"m": [m for _, m in rows]}, sample_weight=[4, 4, 1, 4, 4, 0]
    )
    assert replace(seen, findings=()) == expected
    assert (seen.n, seen.weighted, seen.groups.n) == (5, True, 5)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, -2.0], "at least 0.*'w'.* -2.0 in 1 rows"),
        ([1.0, math.inf], "finite.* inf in 1 rows"),
        ([1.0, None], "'w' has no value in 1 of 2 rows.* a weight"),
        (["1", "much"], "'much' in 1 rows"),
        ([True, True], "True in 2 rows"),
        ([0.0, 0.0], "are zero"),
    ],
)
def test_weights_that_are_none_are_refused(weights, words):
    data = {"y": ["a", "b"], "m": ["a", "a"], "w": weights}
    with pytest.raises(DataError, match=words):
        op.read(pl.DataFrame(data), truth="y", models=["m"], weight="w")
    with pytest.raises(UsageError, match="pass only one of them"):
        op.read(pl.DataFrame(data), truth="y", models=["m"], weight="w", count="w")


def test_nan_is_no_count():
    table = pa.table({"y": ["a", "b"], "m": ["a", "a"], "w": [1.0, math.nan]})
    with pytest.raises(DataError, match="has nan in 1 rows"):
        op.read(table, truth="y", models=["m"], count="w")


def test_large_counts_are_exact():
    data = {"y": ["a", "b"], "m": ["a", "a"], "w": [2**62 + 1, 2**61 + 1]}
    for kind in TYPED:
        seen = op.read(frame(kind, data), truth="y", models=["m"], count="w")
        assert counts(seen) == {("a", "a"): 2**62 + 1, ("b", "a"): 2**61 + 1}, kind


def test_names_of_columns_may_be_anything(tmp_path):
    odd = ['a"b', "a'b", "a.b", "a b", "select", "n", "k0", "w", "é", ";--", "read", "columns"]
    data = {name: ["x", "z"] for name in odd}
    for kind in LIGHT:
        if kind == "duckdb" and duckdb.__version__ < "2":
            continue  # see the next test
        for truth in odd:
            seen = op.read(frame(kind, data), truth=truth)
            assert (seen.n, len(seen.models)) == (2, len(odd) - 1), (kind, truth)


@pytest.mark.parametrize("name", ['"y"', "t.y"])
def test_names_that_an_old_duckdb_takes_for_others_are_refused(monkeypatch, name):
    monkeypatch.setattr(duckdb, "__version__", "1.5.6")
    table = frame("duckdb", {"y": ["a", "b"], "m": ["a", "b"], name: ["b", "b"]})
    with pytest.raises(DataError, match=r"rename the column, or install duckdb 2\.0"):
        op.read(table, truth=name, models=["m"])
    assert op.read(table, truth="y", models=["m"]).n == 2


def test_a_lazy_frame_is_counted_where_it_lies(tmp_path):
    pl.DataFrame(columns(ROWS)).write_parquet(tmp_path / "a.parquet")
    plan = pl.scan_parquet(tmp_path / "a.parquet").filter(pl.col("y") != "c")
    assert op.read(plan, truth="y", models=["m"]).n == 4


def test_frames_are_not_changed():
    table = pd.DataFrame(columns(ROWS))
    before = table.copy()
    op.read(table, truth="y", models=["m"], where={"y": "a"})
    pd.testing.assert_frame_equal(table, before)


# What is refused


@light
def test_missing_labels_are_refused_with_their_number_or_left_out_with_a_finding(kind):
    table = frame(kind, {"y": ["a", "b", "a", "b"], "m": ["a", None, "b", None]})
    with pytest.raises(DataError, match="'m' has no value in 2 of 4 rows"):
        op.read(table, truth="y", models=["m"])
    seen = op.read(table, truth="y", models=["m"], on_null="drop")
    assert counts(seen) == {("a", "a"): 1, ("a", "b"): 1}
    assert names(seen) == ["null_rows_dropped"]
    assert "2 of 4 rows from the frame" in seen.findings[0].message


@light
def test_nan_is_a_missing_label(kind):
    if kind == "pandas objects":
        pytest.skip("objects of several types are refused")
    table = frame(kind, {"y": [1.0, float("nan"), 2.0], "m": [1, 2, 2]})
    with pytest.raises(DataError, match="'y' has no value in 1 of 3 rows"):
        op.read(table, truth="y", models=["m"])


@light
@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"y": [0, 1], "m": [0.25, 0.75]}, "looks like a score|objects of type float"),
        ({"y": [0.0, 1.0], "m": [0.0, float("inf")]}, "infinite|objects of type float"),
        ({"y": [[1], [2]], "m": [1, 2]}, "labels must be"),
        ({"y": [datetime.datetime(2026, 1, 1)] * 2, "m": [1, 2]}, "labels must be|of type"),
        ({"y": [b"a", b"b"], "m": [b"a", b"b"]}, "labels must be|of type"),
        ({"y": [decimal.Decimal("0.5")] * 2, "m": [1, 2]}, "is not a label|of type"),
        ({"y": [], "m": []}, "no rows|labels must be|of type"),
        ({"y": ["a", "b"], "m": [True, False]}, "True/False"),
    ],
    ids=["scores", "infinite", "lists", "dates", "bytes", "decimals", "nothing", "two kinds"],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # convert_dtypes of inf
def test_what_cannot_be_labels_is_refused(kind, data, message):
    with pytest.raises(DataError, match=message):
        op.read(frame(kind, data), truth="y", models=["m"])


def test_probabilities_are_refused_with_a_way_out():
    table = pl.DataFrame({"y": [0, 1], "m": [[0.2, 0.8], [0.5, 0.5]]})
    with pytest.raises(UsageError, match="most probable class"):
        op.read(table, truth="y", models=["m"])


@pytest.mark.parametrize(
    "values",
    [["a", 1, "b"], [1, True, 0], ["a"] * 200 + [1, True], [(1,), (2,)], [1, "1"]],
)
def test_objects_of_several_types_are_refused(values):
    table = pd.DataFrame({"y": pd.Series(values, dtype=object), "m": "a"})
    with pytest.raises(DataError, match="objects of type"):
        op.read(table, truth="y", models=["m"])


@every
def test_a_missing_column_is_named_with_the_nearest_one(kind):
    with pytest.raises(UsageError, match="no column 'labell' in the frame; did you mean 'label'"):
        op.read(frame(kind, {"label": ["a"], "m": ["a"]}), truth="labell", models=["m"])


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([[1, 2, 3]], columns=["y", "m", "m"]),
        pa.Table.from_arrays([pa.array([1])] * 3, names=["y", "m", "m"]),
        duckdb.connect().sql("SELECT 1 AS y, 2 AS m, 3 AS m"),
    ],
    ids=["pandas", "pyarrow", "duckdb"],
)
def test_names_that_occur_twice_are_refused(table):
    with pytest.raises(DataError, match="must be unique"):
        op.read(table, truth="y", models=["m"])


def test_columns_without_a_name_are_refused():
    with pytest.raises(DataError, match="must be text; got 0"):
        op.read(pd.DataFrame([[1, 2]]), truth="0", models=["1"])


@light
def test_ids_that_repeat_are_refused(kind):
    data = {**columns(ROWS[:3]), "id": ["u", "v", "u"]}
    with pytest.raises(DataError, match=r"1 rows repeat an id in 'id'.* 'u'"):
        op.read(frame(kind, data), truth="y", models=["m"], id="id")
    data["id"] = ["u", "v", None]
    with pytest.raises(DataError, match="1 rows of the frame have no id"):
        op.read(frame(kind, data), truth="y", models=["m"], id="id")


@light
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 2], r"has -1(\.0)? in 1 rows"),
        ([1.0, 2.5, 2.0], "has 2.5 in 1 rows"),
        ([1, None, 2], "has nothing in 1 rows"),
        (["1", "2", "3"], "has other values"),
        ([0, 0, 0], "no rows"),
        ([2**62, 2**62, 2**62], "64 bits"),
    ],
)
def test_counts_that_are_none_are_refused(kind, weights, message):
    if kind == "pandas objects":
        message = "has other values"
    table = frame(kind, {**columns(ROWS[:3]), "w": weights})
    with pytest.raises(DataError, match=message):
        op.read(table, truth="y", models=["m"], count="w")


@pytest.mark.parametrize("weights", [["1", "-1"], ["1", "1.5"], ["1", ""], ["1", "x"]])
def test_counts_of_files_that_are_none_are_refused(weights):
    rows = "".join(f"a,a,{weight}\n" for weight in weights)
    with pytest.raises(DataError, match="whole numbers of at least 0"):
        op.read(io.StringIO("y,m,w\n" + rows), truth="y", models=["m"], count="w")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dialect": {"separator": ";"}}, "can be used with files"),
        ({"table": "t"}, "are for databases"),
        ({"query": "SELECT 1"}, "are for databases"),
        ({"where": {"d": "January"}}, "contains days|filter the frame"),
        ({"where": {"m": True}}, "compare it with text"),
        ({"models": ["d"], "where": {"y": "?"}}, "labels must be"),
        ({"weight": "v"}, "no column 'v'"),
        ({"label": "y", "id": "m"}, "one table"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    data = {**columns(ROWS[:2]), "d": [datetime.date(2026, 1, 1)] * 2}
    with pytest.raises((UsageError, DataError), match=message):
        op.read(pl.DataFrame(data), **{"truth": "y", "models": ["m"], **options})


@every
def test_nothing_left_is_refused(kind):
    with pytest.raises(DataError, match="no rows left after where"):
        op.read(frame(kind, columns(ROWS)), truth="y", models=["m"], where={"y": "?"})


@pytest.mark.parametrize("source", [[pl.DataFrame({"y": [1]})], pl.Series([1]), object(), 3])
def test_what_is_no_frame_is_refused(source):
    with pytest.raises(UsageError, match="a source must be"):
        op.read(source, truth="y", models=["m"])


def test_frames_are_joined_before_they_are_read():
    one = pl.DataFrame({"id": [1], "y": [1]})
    with pytest.raises(UsageError, match="join or concatenate frames before"):
        op.read({"gold": one, "m": one}, id="id", label="y")


def test_too_many_cells_are_refused(monkeypatch):
    monkeypatch.setattr(group_by, "MOST_CELLS", 3)
    with pytest.raises(ResourceError, match="more than 3"):
        op.read(pl.DataFrame({"y": range(9), "m": range(9)}), truth="y", models=["m"])


def test_what_a_library_raises_is_told_in_one_line(tmp_path):
    pl.DataFrame(columns(ROWS)).write_parquet(tmp_path / "a.parquet")
    plan = pl.scan_parquet(tmp_path / "a.parquet")
    broken = plan.with_columns(pl.col("y").cast(pl.Int64))
    with pytest.raises(DataError, match="the frame cannot be counted") as caught:
        op.read(broken, truth="y", models=["m"])
    assert "\n" not in str(caught.value)


# Data sets of Hugging Face


def dataset(n=12):
    """Return truths, one of them unknown, and predictions whose classes are numbered otherwise."""
    datasets = pytest.importorskip("datasets")
    features = {
        "y": datasets.ClassLabel(names=["no", "yes"]),
        "m": datasets.ClassLabel(names=["yes", "no"]),
        "k": datasets.Value("int64"),
        "score": datasets.Value("float64"),
        "other": datasets.Value("float64"),
    }
    data = {
        "y": [-1, *(i % 2 for i in range(1, n))],
        "m": [i % 3 % 2 for i in range(n)],
        "k": [i % 2 for i in range(n)],
        "score": [i % 5 / 4 for i in range(n)],
        "other": [i % 7 / 6 for i in range(n)],
    }
    return datasets.Dataset.from_dict(data, features=datasets.Features(features))


def named_rows(rows):
    """Return the classes of some rows by name, as the features say."""
    return Counter((["no", "yes"][i % 2], ["yes", "no"][i % 3 % 2]) for i in rows)


def test_rows_of_a_dataset_are_those_selected_and_classes_go_by_name():
    every = dataset()
    chosen = [7, 3, 3, 11, 2]
    cases = {
        "selected": (every.select(chosen), chosen),
        "filtered": (every.filter(lambda row: row["k"] == 1), range(1, 12, 2)),
        "in another order": (every.select(range(11, 0, -1)), range(1, 12)),
        "formatted": (every.select(chosen).with_format("numpy", columns=["k"]), chosen),
    }
    for seen, rows in cases.values():
        assert counts(op.read(seen, truth="y", models=["m"])) == named_rows(rows)
    ordered = op.Outcomes.from_labels(["yes"] * 5, every.select(chosen).select_columns(["m"]))
    assert ordered == op.Outcomes.from_labels(
        ["yes"] * 5, {"m": [["yes", "no"][i % 3 % 2] for i in chosen]}
    )


def test_a_dataset_with_unknown_classes_is_refused_as_missing_values_are():
    with pytest.raises(DataError, match="'y' has no value in 1 of 12 rows"):
        op.read(dataset(), truth="y", models=["m"])
    assert op.read(dataset(), truth="y", models=["m"], on_null="drop").n == 11


def test_slices_of_a_dataset_are_those_of_its_frame():
    seen = dataset(60).select(range(1, 60))
    frame = seen.to_pandas()
    for name in ("y", "m"):
        frame[name] = [seen.features[name].int2str(code) for code in seen[name]]
    asked = {"rope": 0.01, "random_state": 0}
    labels = {"truth": "y", "a": "m", "b": "b", "by": "k", "metric": "accuracy"}
    found = op.compare_slices(seen.add_column("b", frame["y"].tolist()), **labels, **asked)
    assert facts(found) == facts(op.compare_slices(frame.assign(b=frame["y"]), **labels, **asked))
    scores = {"truth": "k", "a": "score", "b": "other", "by": "m", "metric": "roc_auc"}
    expected = facts(op.compare_slices(frame, **scores, **asked))
    for source in (seen, pa.Table.from_pandas(frame)):
        assert facts(op.compare_slices(source, **scores, **asked)) == expected


def facts(found):
    return found.to_frame().to_dict("list")


def test_splits_and_streams_are_refused():
    datasets = pytest.importorskip("datasets")
    splits = datasets.DatasetDict({"dev": dataset(), "test": dataset()})
    for ask in (op.read, op.read_scores):
        with pytest.raises(UsageError, match=r"choose a split, e\.g\. data\['dev'\]"):
            ask(splits, truth="y", models=["m"])
    with pytest.raises(UsageError, match="streaming=False"):
        op.read(dataset().to_iterable_dataset(), truth="y", models=["m"])
    with pytest.raises(UsageError, match="from_arrays"):
        op.read_scores(dataset(), truth="y", models=["score"])
