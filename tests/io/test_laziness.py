"""Whoever holds the rows plans the count: asked columns go in, and only the counts come out."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading

import duckdb
import pandas as pd
import polars as pl
import pytest

import outperform as op

ROWS = 50_000
READ = {"truth": "y", "models": ["m"], "where": {"land": "DE"}}
CELLS = 12


@pytest.fixture(scope="module")
def data():
    """Return a table with columns that nobody asks for; half of the rows are asked for."""
    rows = range(ROWS)
    return pd.DataFrame(
        {
            "y": [f"class {row % 3}" for row in rows],
            "m": [f"class {row % 4}" for row in rows],
            "land": ["DE" if row % 24 < 12 else "FR" for row in rows],
            "text": [f"document {row}" for row in rows],
        }
    )


def check(seen, data):
    wanted = data[data.land == "DE"]
    assert seen.n == len(wanted)
    assert seen.tables[0].counts.size == CELLS


def test_polars_reads_only_the_columns_and_rows_that_are_asked_for(data):
    pytest.importorskip("polars", minversion="1.30", reason="older ones panic at such a source")
    register_io_source = pytest.importorskip("polars.io.plugins").register_io_source
    table, asked = pl.from_pandas(data), []

    def source(with_columns, predicate, n_rows, batch_size):
        asked.append((set(with_columns), predicate is not None))
        for part in table.select(with_columns).iter_slices(1000):
            yield part if predicate is None else part.filter(predicate)

    check(op.read(register_io_source(source, schema=table.schema), **READ), data)
    assert asked == [({"y", "m", "land"}, True)]


def test_duckdb_groups_before_anything_is_fetched(data, tmp_path):
    path = tmp_path / "profile.json"
    connection = duckdb.connect()
    connection.register("data", data)
    connection.execute("CREATE TABLE t AS FROM data")
    connection.execute("SET enable_profiling = 'json'")
    connection.execute(f"SET profiling_output = '{path}'")
    check(op.read(connection.table("t"), **READ), data)
    connection.execute("SET enable_profiling = 'no_output'")
    shown = path.read_text(encoding="utf-8")
    assert "GROUP_BY" in shown
    assert "text" not in _projected(json.loads(shown))


def _projected(node):
    extra = node.get("extra_info") or {}
    own = extra.get("Projections", []) if isinstance(extra, dict) else []
    return [*([own] if isinstance(own, str) else own)] + [
        name for child in node.get("children", []) for name in _projected(child)
    ]


def test_a_table_of_ibis_is_grouped_by_its_database(data):
    ibis = pytest.importorskip("ibis")
    connection = sqlite3.connect(":memory:")
    data.to_sql("t", connection, index=False)
    table = ibis.sqlite.from_connection(connection).table("t")
    ran = []
    connection.set_trace_callback(ran.append)
    check(op.read(table, **READ), data)
    connection.set_trace_callback(None)
    selects = [one for one in ran if one.lstrip().upper().startswith("SELECT")]
    connection.close()
    assert len(selects) == 1
    assert "GROUP BY" in selects[0]
    assert '"text"' not in selects[0]


def test_dask_computes_the_counts_only(data, tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    from dask.callbacks import Callback

    sizes, lock = {}, threading.Lock()

    def note(key, result, graph, state, worker):
        if hasattr(result, "columns"):
            with lock:
                sizes[key] = len(result), set(result.columns)

    data.to_parquet(tmp_path / "a.parquet", row_group_size=ROWS // 8)
    frame = dask.read_parquet(tmp_path / "a.parquet", split_row_groups=1)
    with Callback(posttask=note):
        check(op.read(frame, **READ), data)
    # Rows never leave their partition.
    assert 0 < max(rows for rows, _ in sizes.values()) <= ROWS / 8
    assert not any("text" in columns for _, columns in sizes.values())


def test_spark_exchanges_and_collects_counts_only(data, tmp_path):
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    data.to_parquet(tmp_path / "a.parquet")
    check(op.read(session.read.parquet(str(tmp_path / "a.parquet")), **READ), data)
    ran = session._jsparkSession.sharedState().statusStore().executionsList()
    plan = ran.apply(ran.size() - 1).physicalPlanDescription()
    assert "ReadSchema: struct<y:string,m:string,land:string>" in plan
    assert plan.count("HashAggregate") >= 2  # before the exchange and after it
