"""Ctrl-C ends a count at once, whoever counts, and nothing is written."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import outperform as op
from outperform.cli import app
from outperform.cli.main import main
from outperform.errors import DataError
from outperform.progress import on_progress

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="sends signals to itself"),
    pytest.mark.usefixtures("hears_ctrl_c"),
]

ROWS = "SELECT i % 3 AS label, i % 2 AS old, i * 7 % 3 AS new FROM range({}) AS t(i)"
COLUMNS: dict[str, Any] = {"truth": "label", "models": ["old", "new"]}
MANY = 400  # times two million rows: half a minute or more
SOON = 10.0  # seconds after the signal, on a machine that others use as well


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("interrupts") / "preds.parquet"
    duckdb.sql(f"COPY ({ROWS.format(2_000_000)}) TO '{path}' (FORMAT parquet)")
    assert op.read(path, **COLUMNS).n == 2_000_000  # and what is imported once is imported
    return str(path)


class Signal:
    """A signal to this process, after a while or from a progress that is called while it counts."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        self.number = number
        self.sent: float | None = None

    def after(self, seconds: float) -> None:
        self.timer = threading.Timer(seconds, self.send)
        self.timer.daemon = True
        self.timer.start()

    def once_counting(self, done: int, total: int) -> None:
        if self.sent is None:
            self.sent = 0.0
            self.after(0.05)

    def send(self) -> None:
        self.sent = time.monotonic()
        os.kill(os.getpid(), self.number)

    def ends(self, count: Callable[[], object], error: type[BaseException]) -> None:
        try:
            with pytest.raises(error):
                count()
        finally:
            self.timer.cancel()  # or it would end another test
        assert self.sent
        assert time.monotonic() - self.sent < SOON


def count(source: object, progress: Callable[[int, int], None], **columns: Any) -> op.Outcomes:
    with on_progress(progress):
        return op.read(source, **columns)


def test_an_interrupt_ends_a_count_of_files(table: str) -> None:
    ctrl_c = Signal()
    ctrl_c.ends(
        lambda: count([table] * MANY, ctrl_c.once_counting, **COLUMNS),
        KeyboardInterrupt,
    )


def test_an_interrupt_ends_a_join(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    query = "SELECT i AS id, i % 3 AS label FROM range(6000000) AS t(i)"
    duckdb.sql(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    ctrl_c = Signal()
    sources = {"gold": path, "old": path, "new": path}
    ctrl_c.ends(
        lambda: count(sources, ctrl_c.once_counting, id="id", label="label"),
        KeyboardInterrupt,
    )


def test_an_interrupt_ends_a_count_of_arrow_batches(table: str, tmp_path: Path) -> None:
    """The batches are made by Python while the engine asks for them."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "preds.arrow"
    rows = parquet.read_table(table).slice(0, 500_000)
    with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_file(sink, rows.schema) as out:
        out.write_table(rows, max_chunksize=10_000)
    ctrl_c = Signal()
    ctrl_c.after(0.3)
    ctrl_c.ends(lambda: op.read([path] * 1_000, **COLUMNS), KeyboardInterrupt)


def test_what_a_handler_raises_comes_through(table: str) -> None:
    class TooLateError(Exception):
        pass

    def handler(number: int, frame: object) -> None:
        raise TooLateError

    alarm = Signal(signal.SIGUSR1)
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        alarm.ends(lambda: count([table] * MANY, alarm.once_counting, **COLUMNS), TooLateError)
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_an_error_of_progress_ends_the_count(table: str) -> None:
    def progress(done: int, total: int) -> None:
        raise ZeroDivisionError

    started = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        count([table] * MANY, progress, **COLUMNS)
    assert time.monotonic() - started < 20


def test_an_interrupt_ends_the_command_and_writes_nothing(
    table: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "preds"
    folder.mkdir()
    for number in range(MANY):
        (folder / f"{number}.parquet").symlink_to(table)
    out = tmp_path / "out"
    out.mkdir()
    ctrl_c = Signal()
    monkeypatch.setattr(app, "shown", lambda what: on_progress(ctrl_c.once_counting))
    options = [
        "--truth",
        "label",
        "--model",
        "old",
        "--model",
        "new",
        "-o",
        str(out / "counts.json"),
    ]
    assert main(["count", str(folder), *options]) == 130
    assert ctrl_c.sent
    assert time.monotonic() - ctrl_c.sent < SOON
    assert list(out.iterdir()) == []
    assert capsys.readouterr().err == "outperform: interrupted\n"


def test_an_interrupt_ends_a_database_of_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "preds.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE VIEW preds AS {ROWS.format(10**10)}")
        connection.execute(f"CREATE TABLE few AS {ROWS.format(6)}")
    op.read(path, table="few", **COLUMNS)
    ctrl_c = Signal()
    ctrl_c.after(0.4)
    ctrl_c.ends(lambda: op.read(path, table="preds", **COLUMNS), KeyboardInterrupt)


def test_an_interrupt_ends_a_database_of_sqlite(tmp_path: Path) -> None:
    pytest.importorskip("ibis")
    path = tmp_path / "preds.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE few (label INTEGER, old INTEGER, new INTEGER)")
    connection.execute("INSERT INTO few VALUES (0, 1, 0), (1, 1, 1)")
    connection.commit()
    connection.close()
    assert op.read(path, table="few", **COLUMNS).n == 2
    ctrl_c = Signal()
    ctrl_c.after(0.4)
    query = (
        "WITH RECURSIVE t(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM t WHERE i < 1000000000) "
        "SELECT CAST(i % 3 AS INTEGER) AS label, CAST(i % 2 AS INTEGER) AS old, "
        "CAST(i % 2 AS INTEGER) AS new FROM t"
    )
    ctrl_c.ends(lambda: op.read(path, query=query, **COLUMNS), KeyboardInterrupt)


def test_an_interrupt_comes_through_a_lazy_frame(table: str) -> None:
    """How soon is polars' own affair."""
    polars = pytest.importorskip("polars")
    op.read(polars.scan_parquet(table), **COLUMNS)
    Signal().after(0.1)
    with pytest.raises(KeyboardInterrupt):
        op.read(polars.scan_parquet([table] * 50), **COLUMNS)


def test_an_interrupted_relation_is_no_fault_of_the_data() -> None:
    """Of a relation that is not ours DuckDB itself says when it looks at signals."""
    connection = duckdb.connect()
    op.read(connection.sql(ROWS.format(6)), **COLUMNS)
    ctrl_c = Signal()
    ctrl_c.after(0.05)
    reads = (op.read(connection.sql(ROWS.format(200_000)), **COLUMNS) for _ in range(1_000))
    with pytest.raises(KeyboardInterrupt):
        list(reads)


def test_a_fault_is_still_explained(table: str, tmp_path: Path) -> None:
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(Path(table).read_bytes()[:-40])
    with pytest.raises(DataError, match="cut"):
        op.read(cut, **COLUMNS)
