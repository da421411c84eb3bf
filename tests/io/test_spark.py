"""Spark on a real cluster: the counts of DuckDB, whoever dies; and never fewer rows."""

from __future__ import annotations

import threading
import time

import duckdb
import pytest

import outperform as op
from outperform.errors import DataError
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
