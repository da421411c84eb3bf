"""Days and times in ``where``: the same question to every source keeps the same rows."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta, timezone

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outperform as op
from outperform.cli.main import main as run
from outperform.errors import UsageError
from outperform.io.request import Request
from outperform.io.store import update
from tests.io import object_store, postgres_server
from tests.loops import each

START = datetime(2026, 10, 31, 18)
READ = {"truth": "label", "models": ["old"]}
# Every four hours, the last one a microsecond before midnight; a row without any day or time.
TIMES = [
    *(START + timedelta(hours=4 * step) for step in range(14)),
    datetime(2026, 11, 2, 23, 59, 59, 999_999),
    datetime(9999, 12, 31),
    None,
]
DATA = {
    "day": [None if one is None else one.date() for one in TIMES],
    "at": TIMES,
    "zoned": [None if one is None else one.replace(tzinfo=UTC) for one in TIMES],
    "label": ["a" if step % 3 else "b" for step in range(len(TIMES))],
    "old": ["a" if step % 2 else "b" for step in range(len(TIMES))],
}
TABLE = pa.table(DATA)
BERLIN = timezone(timedelta(hours=1))
NOON = datetime(2026, 11, 1, 14)
QUESTIONS = {
    "a day": {"day": date(2026, 11, 1)},
    "a day as text": {"day": "2026-11-01"},
    "several days": {"day": [date(2026, 11, 1), "2026-11-02", date(2020, 1, 1)]},
    "a day or none": {"day": [date(2026, 11, 2), None]},
    "the last of all days": {"day": date.max},
    "a time": {"at": NOON},
    "a time as text": {"at": "2026-11-01 14:00:00"},
    "a time of pandas": {"at": pd.Timestamp(NOON)},
    "the whole day": {"at": date(2026, 11, 1)},
    "the whole day as text": {"at": "2026-11-02"},
    "days, times and none": {"at": [date(2026, 10, 31), NOON, None]},
    "the whole of the last day": {"at": date.max},
    "a moment": {"zoned": NOON.replace(tzinfo=UTC)},
    "a moment elsewhere": {"zoned": datetime(2026, 11, 1, 15, tzinfo=BERLIN)},
    "a moment as text": {"zoned": "2026-11-01T14:00:00Z"},
    "two columns": {"day": date(2026, 11, 1), "at": [NOON, START]},
}


def expected(where):
    """Return how many rows a plain look at each of them keeps."""

    def keeps(name, value, asked):
        moments = [datetime.fromisoformat(one) if isinstance(one, str) else one for one in asked]
        whole = [
            (isinstance(one, str) and len(one) == 10) or type(one) is date or name == "day"
            for one in asked
        ]
        return any(
            value is moment
            or (value is not None and moment is not None and all_day and day(value) == day(moment))
            or (not all_day and value == moment)
            for moment, all_day in zip(moments, whole, strict=True)
        )

    def day(one):
        return one.date() if isinstance(one, datetime) else one

    return sum(
        all(
            keeps(name, DATA[name][row], value if isinstance(value, list) else [value])
            for name, value in where.items()
        )
        for row in range(len(TIMES))
    )


def other_units():
    """Return the table with other units, and in another zone."""
    kept = TABLE.slice(0, len(TIMES) - 2)  # nanoseconds end in 2262
    others = {
        "at": pa.array(kept["at"].to_pylist(), pa.timestamp("ns")),
        "zoned": pa.array(kept["zoned"].to_pylist(), pa.timestamp("ns", "Europe/Berlin")),
    }
    for name, column in others.items():
        kept = kept.set_column(kept.column_names.index(name), name, column)
    return kept


def parquet(folder):
    pq.write_table(TABLE, folder / "a.parquet")
    return folder / "a.parquet", {}


def csv_file(folder):
    pd.DataFrame({**DATA, "day": as_text("day")}).to_csv(folder / "a.csv", index=False)
    return folder / "a.csv", {}


def json_lines(folder):
    frame = pd.DataFrame({**DATA, "day": as_text("day")}).drop(columns=["at", "zoned"])
    frame.to_json(folder / "a.jsonl", orient="records", lines=True)
    return folder / "a.jsonl", {}


def as_text(name):
    return [None if one is None else one.isoformat() for one in DATA[name]]


def hive(folder):
    every = TABLE.append_column("text", pa.array(as_text("day")))
    for text in set(as_text("day")):
        inside = folder / "parts" / f"day={text or '__HIVE_DEFAULT_PARTITION__'}"
        inside.mkdir(parents=True)
        mask = pa.compute.fill_null(pa.compute.equal(every["text"], text), text is None)
        some = every.filter(mask) if text else every.filter(every["text"].is_null())
        pq.write_table(some.drop_columns(["day", "text"]), inside / "a.parquet")
    return folder / "parts", {}


def arrow_file(folder):
    with pa.ipc.new_file(str(folder / "a.arrow"), TABLE.schema) as writer:
        writer.write_table(TABLE)
    return folder / "a.arrow", {}


def duckdb_file(folder):
    with closing(duckdb.connect(str(folder / "a.duckdb"))) as connection:
        connection.register("given", TABLE)
        connection.execute("CREATE TABLE preds AS FROM given")
    return folder / "a.duckdb", {"table": "preds"}


def delta(folder):
    pytest.importorskip("deltalake").write_deltalake(str(folder / "lake"), TABLE)
    return folder / "lake", {}


def spark(folder):
    from tests.io.test_frames import spark_frame

    frame = spark_frame({"n": [0]})
    types = "day date, at timestamp_ntz, zoned timestamp, label string, old string"
    return frame.sparkSession.createDataFrame(list(zip(*DATA.values(), strict=True)), types), {}


def ibis_table(folder):
    ibis = pytest.importorskip("ibis")
    return ibis.memtable(TABLE), {}


def hugging_face(folder):
    return pytest.importorskip("datasets").Dataset(TABLE), {}


SOURCES = {
    "parquet": parquet,
    "csv": csv_file,
    "jsonl": json_lines,
    "hive": hive,
    "arrow file": arrow_file,
    "duckdb file": duckdb_file,
    "delta": delta,
    "pyarrow": lambda folder: (TABLE, {}),
    "pandas": lambda folder: (TABLE.to_pandas(), {}),
    "pandas of Arrow": lambda folder: (TABLE.to_pandas(types_mapper=pd.ArrowDtype), {}),
    "polars": lambda folder: (pl.from_arrow(TABLE), {}),
    "polars lazy": lambda folder: (pl.from_arrow(TABLE).lazy(), {}),
    "duckdb relation": lambda folder: (duckdb.from_arrow(TABLE), {}),
    "ibis": ibis_table,
    "hugging face": hugging_face,
    "spark": spark,
}
OF_TEXT = {"csv", "jsonl"}  # whose days are text, and times too


@pytest.fixture(scope="module")
def server():
    """Return a server of PostgreSQL that holds the table."""
    with postgres_server.started() as found:
        with found.connect() as connection:
            connection.execute(
                "CREATE TABLE preds (day date, at timestamp, zoned timestamptz, label text, "
                "old text)"
            )
            rows = zip(*DATA.values(), strict=True)
            with connection.cursor() as cursor:
                cursor.executemany("INSERT INTO preds VALUES (%s, %s, %s, %s, %s)", list(rows))
        yield found


@pytest.fixture(scope="module")
def store():
    """Return a store that holds the table."""
    with object_store.running("days-of-tests") as found:
        body = pa.BufferOutputStream()
        pq.write_table(TABLE, body)
        found.client.put_object(
            Bucket="days-of-tests", Key="a.parquet", Body=body.getvalue().to_pybytes()
        )
        yield found


def kept(source, options, where):
    return op.read(source, **READ, **options, where=where).n


def differences(source, options, questions=QUESTIONS):
    """Return the questions with another answer than a plain look at the rows."""
    found = {name: kept(source, options, where) for name, where in questions.items()}
    return {
        name: (number, expected(questions[name]))
        for name, number in found.items()
        if number != expected(questions[name])
    }


def test_the_plain_look_is_right():
    numbers = {name: expected(where) for name, where in QUESTIONS.items()}
    assert numbers["a day"] == numbers["the whole day"] == 6
    assert numbers["several days"] == 13  # of the second, six and the last microsecond
    assert numbers["a time"] == numbers["a moment"] == numbers["a moment elsewhere"] == 1
    assert numbers["a day or none"] == 8
    assert numbers["days, times and none"] == 4
    assert numbers["the last of all days"] == numbers["the whole of the last day"] == 1


@each("kind", SOURCES)
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_every_source_keeps_the_same_rows(kind, tmp_path):
    source, options = SOURCES[kind](tmp_path)
    of_days = {name: one for name, one in QUESTIONS.items() if set(one) == {"day"}}
    if kind == "csv":
        del of_days["a day or none"]  # nothing is missing in text
    asked = of_days if kind in OF_TEXT else QUESTIONS
    assert differences(source, options, asked) == {}


def test_a_table_and_a_query_of_postgresql_keep_the_same_rows(server):
    assert differences(server.address, {"table": "preds"}) == {}
    assert differences(server.address, {"query": "SELECT * FROM preds"}) == {}


def test_a_store_keeps_the_same_rows(store):
    options = {"storage_options": store.options}
    assert differences("s3://days-of-tests/a.parquet", options) == {}


@each("kind", ["parquet", "pyarrow", "pandas", "polars", "duckdb"])
def test_nanoseconds_and_other_zones_keep_the_same_rows(kind, tmp_path):
    table = other_units()
    pq.write_table(table, tmp_path / "a.parquet")
    source = {
        "parquet": lambda: tmp_path / "a.parquet",
        "pyarrow": lambda: table,
        "pandas": table.to_pandas,
        "polars": lambda: pl.from_arrow(table),
        "duckdb": lambda: duckdb.from_arrow(table),
    }[kind]()
    asked = {
        name: where
        for name, where in QUESTIONS.items()
        # Of nanoseconds with a zone, narwhals does not know what DuckDB calls them.
        if not any(
            one in name for one in ("last", "none", "moment" if kind == "duckdb" else "last")
        )
    }
    assert differences(source, {}, asked) == {}


def test_a_nanosecond_more_is_another_time():
    later = np.array([NOON, NOON], dtype="M8[ns]") + np.array([0, 1], dtype="m8[ns]")
    table = pa.table({"at": later, "label": ["a", "b"], "old": ["a", "b"]})
    for source in (table, table.to_pandas(), pl.from_arrow(table), duckdb.from_arrow(table)):
        assert op.read(source, **READ, where={"at": NOON}).n == 1


# What is refused, whoever holds the rows


REFUSED = {
    "a time for days": ({"day": NOON}, "'day' contains days"),
    "a zone where there is none": ({"at": NOON.replace(tzinfo=UTC)}, "'at' contains times, so"),
    "no zone where there is one": ({"zoned": NOON}, "'zoned' contains times with a time zone"),
    "a day where there are zones": ({"zoned": date(2026, 11, 1)}, "create a column of days first"),
    "no day": ({"day": "1 November"}, "2026-11-30; got '1 November'"),
    "a number": ({"day": 20_261_101}, "'day' contains days"),
    "a time for text": ({"label": NOON}, "'label' contains text"),
}


@each("question", REFUSED)
@each("kind", [one for one in SOURCES if one not in {*OF_TEXT, "hive"}])
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_what_a_column_cannot_hold_is_refused(kind, question, tmp_path):
    source, options = SOURCES[kind](tmp_path)
    where, told = REFUSED[question]
    with pytest.raises(UsageError, match=told):
        op.read(source, **READ, **options, where=where)


def test_postgresql_refuses_the_same(server):
    for where, told in REFUSED.values():
        with pytest.raises(UsageError, match=told):
            op.read(server.address, **READ, table="preds", where=where)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "hive"])
def test_text_is_compared_with_days_but_not_with_times(kind, tmp_path):
    source, options = SOURCES[kind](tmp_path)
    with pytest.raises(UsageError, match="'day' contains text, so where cannot compare it"):
        op.read(source, **READ, **options, where={"day": NOON})


def test_numbers_are_not_compared_with_days(tmp_path):
    table = pa.table({"n": [1, 2], "label": ["a", "b"], "old": ["a", "b"]})
    pq.write_table(table, tmp_path / "a.parquet")
    for source in (table, tmp_path / "a.parquet"):
        with pytest.raises(UsageError, match="'n' contains whole numbers, so where cannot compare"):
            op.read(source, **READ, where={"n": date(2026, 11, 1)})


def test_objects_that_are_not_all_days_are_refused():
    mixed = pd.DataFrame({**DATA, "day": [NOON, *DATA["day"][1:]]}, dtype=object)
    with pytest.raises(UsageError, match="filter the frame"):
        op.read(mixed, **READ, where={"day": date(2026, 11, 1)})


def test_sqlite_has_no_days(tmp_path):
    ibis = pytest.importorskip("ibis")
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as connection:
        connection.execute("CREATE TABLE preds (day DATE, label TEXT, old TEXT)")
        columns = ("label", "old")
        rows = list(zip(as_text("day"), *(DATA[one] for one in columns), strict=True))
        connection.executemany("INSERT INTO preds VALUES (?, ?, ?)", rows)
        connection.commit()
        where = {"day": date(2026, 11, 1)}
        query = "SELECT CAST(day AS TEXT) AS day, label, old FROM preds"
        path = tmp_path / "a.sqlite"
        for source, options in (
            (path, {"table": "preds"}),
            (ibis.sqlite.from_connection(connection).table("preds"), {}),
        ):
            with pytest.raises(UsageError, match=r"SQLite has no date types.*CAST\(day AS"):
                op.read(source, **READ, **options, where=where)
        assert op.read(path, **READ, query=query, where=where).n == expected(where)


@pytest.mark.parametrize("value", [pd.NaT, pd.Timestamp("2026-11-01 00:00:00.000000001")])
def test_times_that_python_does_not_have_are_refused(value):
    with pytest.raises(UsageError, match="to the microsecond"):
        op.read(TABLE, **READ, where={"at": value})


def test_the_command_line_takes_days(tmp_path, capsys):
    for kind in ("parquet", "csv", "hive"):
        folder = tmp_path / kind
        folder.mkdir()
        path, _ = SOURCES[kind](folder)
        command = ["count", str(path), "--truth", "label", "--model", "old", "-o"]
        code = run([*command, str(folder / "out.json"), "--where", "day=2026-11-01"])
        assert code == 0, capsys.readouterr().err
        assert op.read(folder / "out.json").n == 6
    path, _ = parquet(tmp_path)
    command = ["count", str(path), "--truth", "label", "--model", "old"]
    assert run([*command, "--where", "zoned=2026-11-01"]) == 2
    assert "create a column of days first" in capsys.readouterr().err


def test_a_folder_of_counts_knows_days(tmp_path):
    path, _ = parquet(tmp_path)
    counted = []
    for days in ([date(2026, 11, 2), date(2026, 11, 1)], ["2026-11-01", "2026-11-02"]):
        request = Request(**READ, where={"day": days})
        found = update(tmp_path / "out", [str(path)], request, version="1", recount=())
        counted.append([part.name for part in found.counted])
    assert counted == [["a.parquet"], []]
