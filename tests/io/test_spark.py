"""Spark on a real cluster: the counts of other engines, whoever dies; and never fewer rows."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from datetime import date

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs
import pytest

import outperform as op
from outperform.errors import DataError
from outperform.io.addresses import Storage
from outperform.io.request import Request
from outperform.io.store import update
from tests.io import object_store
from tests.io.spark_cluster import kill, session, started

pytestmark = [
    pytest.mark.slow,
    # Of pyspark: that it has not been tried with this pandas; sockets that it leaves open.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
ROWS = 20_000_000
READ = {"truth": "label", "models": ["old", "new"]}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return a file of 20 million rows of 20 classes; the models are right nine times of ten."""
    path = tmp_path_factory.mktemp("spark") / "big.parquet"
    guess = "CASE WHEN hash(i, {0}) % 10 = 0 THEN hash(i, {0}) // 10 ELSE hash(i) END % 20"
    columns = {"label": "hash(i) % 20", "old": guess.format(1), "new": guess.format(2)}
    shown = ", ".join(f"'class ' || ({value}) AS {name}" for name, value in columns.items())
    duckdb.sql(
        f"COPY (SELECT {shown} FROM range({ROWS}) AS t(i)) TO '{path}' (ROW_GROUP_SIZE 200000)"
    )
    return path


@pytest.fixture(scope="module")
def expected(path):
    """Return what DuckDB counts."""
    seen = op.read(path, **READ)
    assert seen.n == ROWS
    return seen


@pytest.fixture(scope="module")
def cluster():
    """Return a master with two workers."""
    with started() as found:
        yield found


@pytest.fixture
def spark(cluster, request):
    """Return a session with two workers, whatever died before."""
    while len(cluster.workers) < 2:
        cluster.add_worker()
    with session(cluster, **getattr(request, "param", {})) as found:
        yield found


def in_mid_job(spark, action, *, busy=2):
    """Call an action in a thread, once tasks are done and so many executors are busy with others.

    Return the thread and what was seen at that moment.
    """
    tracker = spark.sparkContext.statusTracker()
    executors = spark.sparkContext._jsc.sc().statusTracker()
    seen = []

    def look():
        for stage in map(tracker.getStageInfo, tracker.getActiveStageIds()):
            running = [one.numRunningTasks() for one in executors.getExecutorInfos()]
            if stage and stage.numCompletedTasks and sum(map(bool, running)) >= busy:
                return stage.numCompletedTasks, stage.numTasks
        return None

    def watch():
        end = time.monotonic() + 300
        while time.monotonic() < end and not seen:
            if (found := look()) is not None:
                action()
                seen.append(found)
            time.sleep(0.02)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread, seen


def test_the_counts_are_those_of_duckdb(spark, path, expected):
    frame = spark.read.parquet(str(path))
    assert frame.rdd.getNumPartitions() >= 10
    assert op.read(frame, **READ) == expected


def test_a_worker_killed_in_mid_job_changes_nothing(cluster, spark, path, expected):
    before = set(cluster.executors())
    thread, seen = in_mid_job(spark, cluster.kill_worker)
    assert op.read(spark.read.parquet(str(path)), **READ) == expected
    thread.join()
    ((done, of),) = seen
    assert 0 < done < of
    assert len(cluster.workers) == 1
    assert len(before & set(cluster.executors())) == 1


def test_workers_that_are_all_killed_give_no_counts_until_others_come(
    cluster, spark, path, expected
):
    def kill_all():
        while cluster.workers:
            cluster.kill_worker()

    killer, seen = in_mid_job(spark, kill_all)
    found = []
    frame = spark.read.parquet(str(path))
    reader = threading.Thread(target=lambda: found.append(op.read(frame, **READ)))
    reader.start()
    killer.join()
    reader.join(timeout=10)
    assert seen
    assert not found  # Spark waits
    cluster.add_worker()
    reader.join(timeout=300)
    assert found == [expected]


def test_a_job_that_is_cancelled_for_want_of_workers_is_an_error(cluster, spark, path):
    def kill_all():
        while cluster.workers:
            cluster.kill_worker()
        time.sleep(3)
        spark.sparkContext.cancelAllJobs()

    thread, seen = in_mid_job(spark, kill_all)
    with pytest.raises(DataError, match="cancelled"):
        op.read(spark.read.parquet(str(path)), **READ)
    thread.join()
    assert seen


@pytest.mark.parametrize("spark", [{"spark.task.maxFailures": "1"}], indirect=True)
def test_executors_that_die_again_and_again_are_an_error(cluster, spark, path):
    is_over = threading.Event()

    def kill_executors():
        # Again, because the first time may fall between two tasks.
        while not is_over.wait(timeout=0.5):
            for pid in cluster.executors():
                kill(pid)

    thread, seen = in_mid_job(spark, kill_executors)
    try:
        with pytest.raises(DataError, match="cannot be counted"):
            op.read(spark.read.parquet(str(path)), **READ)
    finally:
        is_over.set()
        thread.join()
    assert seen


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_file_that_is_damaged_meanwhile_is_an_error(spark, path, tmp_path, damage):
    other = tmp_path / "part.parquet"
    other.write_bytes(path.read_bytes())
    frame = spark.read.parquet(str(other), str(path))
    assert frame.columns == ["label", "old", "new"]
    if damage == "cut":
        other.write_bytes(path.read_bytes()[:-1000])
    else:
        other.unlink()
    with pytest.raises(DataError, match=r"part\.parquet"):
        op.read(frame, **READ)


# One table in daily partitions, whoever wrote it and whoever counts it

COLUMNS = ("item", "country", "label", "old", "new", "holey", "day")
LABELS = ("spam", "ham", "", " spam", "NA", "None", "1", "é", "日本", "a=b/c")
QUESTIONS = {
    "all": {},
    "a day": {"where": {"day": "2026-11-02"}},
    "two days": {"where": {"day": [date(2026, 11, 1), date(2026, 11, 3)]}},
    "a country": {"where": {"country": "C=I/1"}},
    "by day": {"by": ["day"]},
    "by country and day": {"by": ["country", "day"], "where": {"day": date(2026, 11, 3)}},
    "ids": {"id": "item"},
    "holes": {"models": ["old", "holey"], "on_null": "drop"},
}


def daily_rows():
    """Return rows of three days; some predictions are missing, and days differ in their classes."""
    rng = random.Random(0)
    rows = []
    for number in range(3_000):
        day = rng.choice([1, 2, 2, 3, 3, 3])
        truth, other = rng.choices(LABELS[: 3 * day], k=2)
        old, new = (truth if rng.random() < right else other for right in (0.7, 0.8))
        holey = None if rng.random() < 0.1 else new
        country = rng.choice(["DE", "C=I/1", "FR"])
        rows.append((f"i{number}", country, truth, old, new, holey, date(2026, 11, day)))
    return rows


def write_with_pyarrow(rows, folder, spark):
    table = arrow_table(rows)
    days = ds.partitioning(pa.schema([("day", pa.string())]), flavor="hive")
    for number, part in enumerate((table[:1_000], table[1_000:])):
        ds.write_dataset(
            part, folder, format="parquet", partitioning=days,
            basename_template=f"{number}-{{i}}.parquet",
            existing_data_behavior="overwrite_or_ignore",
        )  # fmt: skip


def write_with_duckdb(rows, folder, spark):
    with duckdb.connect() as connection:
        connection.register("rows", arrow_table(rows))
        connection.execute(f"COPY rows TO '{folder}' (FORMAT parquet, PARTITION_BY (day))")


def write_with_spark(rows, folder, spark):
    types = ", ".join(f"{name} {'date' if name == 'day' else 'string'}" for name in COLUMNS)
    spark.createDataFrame(rows, types).repartition(3).write.partitionBy("day").parquet(str(folder))


def arrow_table(rows):
    columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    return pa.table({**columns, "day": [str(day) for day in columns["day"]]})


def cells(seen):
    """Return how often each combination of slices, truth and predictions occurred."""
    if seen.slices is None:
        (table,), keys = seen.tables, [()]
        codes = [[0, *cell] for cell in table.cells.tolist()]
    else:
        table, keys = seen.slices.table, seen.slices.keys
        codes = table.cells.tolist()
    named = [(*keys[first], *(seen.labels[one] for one in rest)) for first, *rest in codes]
    return Counter(dict(zip(named, table.counts.tolist(), strict=True)))


def plain_cells(rows, *, models=("old", "new"), where=None, by=(), **others):
    """Return the same from a plain look at the rows."""
    places = [COLUMNS.index(name) for name in (*by, "label", *models)]
    asked = {
        COLUMNS.index(name): {str(one) for one in (value if isinstance(value, list) else [value])}
        for name, value in (where or {}).items()
    }
    kept = (row for row in rows if all(str(row[place]) in some for place, some in asked.items()))
    found = ([row[place] for place in places] for row in kept)
    return Counter(tuple(str(one) for one in values) for values in found if None not in values)


@pytest.mark.parametrize("write", [write_with_pyarrow, write_with_duckdb, write_with_spark])
def test_engines_count_a_partitioned_table_alike_on_disk_and_in_a_store(write, spark, tmp_path):
    rows, folder = daily_rows(), tmp_path / "preds"
    write(rows, folder, spark)
    with object_store.running() as store:
        files = [one for one in folder.rglob("*.parquet") if not one.name.startswith(".")]
        for file in files:
            store.put(f"{write.__name__}/{file.relative_to(folder).as_posix()}", file.read_bytes())
        address = f"s3://{object_store.BUCKET}/{write.__name__}"  # servers share what is in them
        system = pyarrow.fs.S3FileSystem(**store.options)
        inside = address.removeprefix("s3://")
        there = {"storage_options": store.options}
        with duckdb.connect() as connection:
            pattern = f"{folder}/**/*.parquet"
            sources = {
                "files, by DuckDB": (folder, {}),
                "a relation of DuckDB": (
                    connection.read_parquet(pattern, hive_partitioning=True), {}
                ),
                "Spark": (spark.read.parquet(str(folder)), {}),
                "pyarrow": (ds.dataset(folder, partitioning="hive").to_table(), {}),
                "a store, by DuckDB": (address, there),
                "a store, by pyarrow": (
                    ds.dataset(inside, filesystem=system, partitioning="hive").to_table(), {}
                ),
            }  # fmt: skip
            for question, asked in QUESTIONS.items():
                asked = {**READ, **asked}
                found = {
                    name: op.read(source, **asked, **more)
                    for name, (source, more) in sources.items()
                }
                for name, source, options in (
                    ("parts of files", folder, None),
                    ("parts of a store", address, Storage.of(store.options)),
                ):
                    parts = tmp_path / f"{name}, {question}"
                    request = Request(**asked, storage_options=options)
                    update(parts, [str(source)], request, version="1")
                    found[name] = op.read(parts)
                expected = plain_cells(rows, **asked)
                assert expected
                for name, seen in found.items():
                    assert cells(seen) == expected, (question, name)
                    assert seen.n == expected.total(), (question, name)
                    if question != "holes":  # of which each names its source
                        assert seen == found["Spark"], (question, name)
