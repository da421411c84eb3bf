"""Databases in files: the same counts as a plain counter, and nothing is written."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outperform as op
from outperform.errors import DataError, OutperformError, UsageError
from tests.io.payloads import PAYLOADS, attempts

FEW = settings.default.max_examples // 20
ROWS = [("a", "b", 2), ("b", "b", 1), ("a", "a", 3), ("a", "b", 1), ("c", "a", 1)]
COUNTS = Counter((y, m) for y, m, _ in ROWS)


def counts(seen):
    """Return outcomes of one model as a counter of (truth, prediction)."""
    (table,) = seen.tables
    pairs = zip(table.cells.tolist(), table.counts.tolist(), strict=True)
    return Counter({tuple(seen.labels[one] for one in cell): number for cell, number in pairs})


def sqlite_file(folder):
    pytest.importorskip("ibis")
    path = folder / "a.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        _fill(connection, "?")
        connection.commit()
    return path


def duckdb_file(folder):
    path = folder / "a.duckdb"
    with contextlib.closing(duckdb.connect(str(path))) as connection:
        _fill(connection, "?")
    return path


def _fill(connection, mark):
    connection.execute('CREATE TABLE preds (y TEXT, m TEXT, w INTEGER, "o""dd;--" TEXT)')
    for y, m, w in ROWS:
        marks = ", ".join([mark] * 4)
        connection.execute(f"INSERT INTO preds VALUES ({marks})", (y, m, w, "x"))
    connection.execute("CREATE TABLE hollow (y TEXT, m TEXT)")


FILES = {"sqlite": sqlite_file, "duckdb": duckdb_file}


@pytest.fixture(params=FILES)
def path(request, tmp_path):
    """Return the file of a small database."""
    return FILES[request.param](tmp_path)


def test_a_table_is_counted(path):
    assert counts(op.read(path, table="preds", truth="y", models=["m"])) == COUNTS
    address = f"{path.suffix[1:]}://{path}"
    assert counts(op.read(address, table="preds", truth="y", models=["m"])) == COUNTS


LABELS = {
    "TEXT": st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3),
    "BIGINT": st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2),
}


@pytest.mark.parametrize("type_", LABELS)
@pytest.mark.parametrize("kind", FILES)
@settings(max_examples=FEW)
@given(data=st.data())
def test_any_table_gives_the_counts_of_a_plain_counter(kind, type_, data):
    if kind == "sqlite":
        pytest.importorskip("ibis")
    label = st.sampled_from(data.draw(st.lists(LABELS[type_], min_size=1, max_size=4)))
    rows = data.draw(st.lists(st.tuples(label, label), min_size=1, max_size=20))
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/a.{kind}"
        connect = sqlite3.connect if kind == "sqlite" else duckdb.connect
        with contextlib.closing(connect(path)) as connection:
            connection.execute(f"CREATE TABLE t (y {type_}, m {type_})")
            connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
            if kind == "sqlite":
                connection.commit()
        assert counts(op.read(path, table="t", truth="y", models=["m"])) == Counter(rows)


def test_a_query_is_counted(path):
    query = "SELECT y AS truth, m FROM preds WHERE y <> 'c'; -- all but one"
    seen = op.read(str(path), query=query, truth="truth", models={"BERT": "m"})
    assert (seen.n, seen.models) == (4, ("BERT",))


def test_where_counts_and_ids(path):
    read = {"table": "preds", "truth": "y", "models": ["m"]}
    assert op.read(path, **read, count="w").n == 8
    assert op.read(path, **read, where={"y": ["a", "'; DROP TABLE preds; --"], "w": 1}).n == 1
    with pytest.raises(DataError, match="repeat an id"):
        op.read(path, **read, id="w")


def test_names_are_quoted(path):
    asked = {"table": "preds", "truth": "y", "models": ['o"dd;--'], "where": {'o"dd;--': "x"}}
    if path.suffix == ".duckdb" and duckdb.__version__ < "2":
        with pytest.raises(DataError, match=r"install duckdb 2\.0"):
            op.read(path, **asked)
        return
    assert op.read(path, **asked).n == 5


def test_a_query_may_name_its_columns_anew(path):
    query = "WITH t(m, y) AS (SELECT y, m FROM preds) SELECT y, m FROM t"
    seen = op.read(path, query=query, truth="y", models=["m"])
    assert counts(seen) == Counter({(m, y): n for (y, m), n in COUNTS.items()})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, UsageError, "tables: 'hollow', 'preds'"),
        ({"table": "perds"}, UsageError, "did you mean 'preds'"),
        ({"table": 'x"; DROP TABLE preds; --'}, UsageError, "unknown table"),
        ({"table": "hollow"}, DataError, "has no rows"),
        ({"query": "SELECT y, m FROM preds WHERE y = '?'"}, DataError, "has no rows"),
        ({"query": "SELECT y, m, w AS m FROM preds"}, DataError, "2 columns named 'm'"),
        ({"query": "SELECT *, 'a' AS m FROM preds"}, DataError, "2 columns named 'm'"),
        ({"query": "SELECT y FROM preds"}, UsageError, "no column 'm'"),
        ({"query": "SELECT nonsense FROM preds"}, DataError, "cannot be read"),
        ({"query": "SELECT y, m FROM preds", "table": "preds"}, UsageError, "not both"),
        ({"query": " "}, UsageError, "must be text"),
        ({"table": "preds", "format": "csv"}, UsageError, "can be used with files"),
    ],
)
def test_what_is_refused(path, options, error, message):
    with pytest.raises(error, match=message):
        op.read(path, truth="y", models=["m"], **options)


@pytest.mark.parametrize(
    "query",
    [
        "DROP TABLE preds",
        "DELETE FROM preds",
        "UPDATE preds SET y = 'a'",
        "INSERT INTO preds SELECT * FROM preds",
        "CREATE TABLE x AS SELECT * FROM preds",
        "SELECT y, m FROM preds; DROP TABLE preds",
        "WITH gone AS (DELETE FROM preds RETURNING *) SELECT y, m FROM gone",
        "ATTACH 'x.db' AS x",
        "PRAGMA user_version = 7",
        "SELECT y, m INTO x FROM preds",
        "EXPLAIN SELECT y, m FROM preds",
        "SET memory_limit = '1GB'",
        "VACUUM",
        "not SQL at all",
    ],
)
def test_only_one_select_is_run_and_nothing_is_written(path, query):
    before = hashlib.sha256(path.read_bytes()).digest()
    with pytest.raises(OutperformError):
        op.read(path, query=query, truth="y", models=["m"])
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "share",
    [pytest.param(5, id="some places"), pytest.param(1, id="every place", marks=pytest.mark.slow)],
)
def test_no_payload_changes_a_byte(path, share):
    """Of the places for a payload every fifth is tried, the next payload beginning at the next."""
    connect = sqlite3.connect if path.suffix == ".sqlite" else duckdb.connect
    with contextlib.closing(connect(str(path))) as connection:
        connection.execute("CREATE TABLE odd (y TEXT, m TEXT)")
        connection.executemany("INSERT INTO odd VALUES (?, 'a')", [(one,) for one in PAYLOADS])
        if path.suffix == ".sqlite":
            connection.commit()
    before = hashlib.sha256(path.read_bytes()).digest()
    for number, payload in enumerate(PAYLOADS):
        for options in attempts(payload)[number % share :: share]:
            with contextlib.suppress(OutperformError):
                op.read(path, **options)
        seen = op.read(path, table="odd", truth="y", models=["m"], where={"y": payload})
        assert counts(seen) == {(payload, "a"): 1}
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert not Path("/tmp/outperform-was-here").exists()


def test_a_query_of_duckdb_reaches_no_file(tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("y,m\na,a\n")
    with pytest.raises(DataError, match="disabled"):
        op.read(duckdb_file(tmp_path), query=f"FROM read_csv('{other}')", truth="y", models=["m"])


@pytest.mark.parametrize(
    ("create", "message"),
    [
        ("y INTEGER, m TEXT", "is declared as whole numbers but contains values of type text"),
        ("y, m TEXT", "is declared as whole numbers but contains values of type text"),
        ("y REAL, m TEXT", "is declared as fractions but contains values of type text"),
    ],
)
def test_loose_types_of_sqlite_are_refused(tmp_path, create, message):
    pytest.importorskip("ibis")
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute(f"CREATE TABLE t ({create})")
        connection.execute("INSERT INTO t VALUES (1, 'a'), ('b', 'b')")
        connection.commit()
    with pytest.raises(DataError, match=message):
        op.read(tmp_path / "a.db", table="t", truth="y", models=["m"])


@pytest.mark.parametrize("damage", ["empty", "text", "cut"])
def test_a_damaged_database_is_refused(path, damage):
    data = path.read_bytes()
    path.write_bytes({"empty": b"", "text": b"y,m\na,a\n", "cut": data[: len(data) // 2]}[damage])
    with pytest.raises(DataError):
        op.read(path, table="preds", truth="y", models=["m"])


def test_a_locked_database_is_refused(tmp_path):
    path = sqlite_file(tmp_path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DataError, match="locked"):
            op.read(path, table="preds", truth="y", models=["m"])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nowhere.db", "no file"),
        ("sqlite:///nowhere.db", "no file"),
        ("https://me:canary@host/a.csv", "kind of database 'https'"),
        ("postgressql://me:canary@host/a", "did you mean 'postgresql'"),
    ],
)
def test_no_such_database(source, message):
    with pytest.raises(UsageError, match=message) as caught:
        op.read(source, table="t", truth="y", models=["m"])
    assert "canary" not in str(caught.value)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("y,m\na,a\n")
    with pytest.raises(DataError, match="neither a SQLite nor a DuckDB database"):
        op.read(tmp_path / "a.csv", table="t", truth="y", models=["m"])
