"""Arrow files and streams: the counts of any other file, read batch by batch, damage refused."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from tests.loops import each

ROWS = pa.table(
    {
        "id": list(range(300)),
        "y": ["a", "b", "c"] * 100,
        "m": pa.array(["a", "b", "b"] * 100).dictionary_encode(),
        "score": pa.array(np.full(300, 0.5, np.float16)),
    }
)
COUNTS = [[100, 0, 0], [0, 100, 0], [0, 100, 0]]


def write_file(table, path, **options):
    with pa.ipc.new_file(path, table.schema, **options) as writer:
        writer.write_table(table, max_chunksize=70)


def write_stream(table, path):
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=70)


def write_polars(table, path):
    import polars as pl

    pl.from_arrow(table.drop(["score"])).write_ipc(path, compression="zstd")


def write_polars_stream(table, path):
    import polars as pl

    pl.from_arrow(table.drop(["score"])).write_ipc_stream(path, compression="lz4")


@each(
    ("name", "write"),
    [
        ("a.arrow", write_file),
        ("a.ipc", write_file),
        ("a.arrows", write_stream),
        ("a.arrow", write_stream),
        ("a.feather", feather.write_feather),
        ("without ending", write_file),
        ("without ending", write_stream),
        ("a.ipc", write_polars),
        ("a.ipc", write_polars_stream),
    ],
)
def test_files_and_streams_are_counted(tmp_path, name, write):
    write(ROWS, str(tmp_path / name))
    seen = op.read(tmp_path / name, truth="y", models=["m"], id="id")
    assert seen.confusion("m").tolist() == COUNTS
    assert op.read(tmp_path / name, truth="y", models=["m"], where={"id": [2, 3, 4]}).n == 3


def test_a_stream_can_come_from_anywhere(tmp_path):
    write_stream(ROWS, str(tmp_path / "a.arrows"))
    data = (tmp_path / "a.arrows").read_bytes()
    assert op.read(io.BytesIO(data), truth="y", models=["m"]).n == 300
    assert op.read(io.BytesIO(data), truth="y", models=["m"], format="arrow").n == 300


@each(
    ("values", "labels"),
    [
        (pa.array([1, 2, 2], pa.uint8()), (1, 2)),
        (pa.array([2**63 - 1, -(2**63), 0]), (-(2**63), 0, 2**63 - 1)),
        (pa.array([True, False, True]), (False, True)),
        (pa.array(["NA", "", "01"], pa.large_string()), ("", "01", "NA")),
        (pa.array(["x", "é", "x"], pa.string_view()), ("x", "é")),
        (pa.array([7, 8, 7]).dictionary_encode(), (7, 8)),
        (pa.array([1.0, 2.0, 2.0]), (1, 2)),
    ],
)
def test_values_keep_their_types(tmp_path, values, labels):
    write_file(pa.table({"y": values, "m": values}), str(tmp_path / "a.arrow"))
    assert op.read(tmp_path / "a.arrow", truth="y").labels == labels


def test_dictionaries_that_change_between_batches_are_read(tmp_path):
    parts = [pa.array(some).dictionary_encode() for some in (["a", "b"], ["b", "c"], ["c", "a"])]
    table = pa.table({"y": pa.chunked_array(parts), "m": pa.chunked_array(parts)})
    write_stream(table, str(tmp_path / "a.arrows"))
    seen = op.read(tmp_path / "a.arrows", truth="y", models=["m"])
    assert seen.confusion("m").diagonal().tolist() == [2, 2, 2]


def test_missing_labels_are_refused_with_their_first_row(tmp_path):
    table = pa.table({"y": ["a", "b", "a"], "m": ["a", None, "b"]})
    write_file(table, str(tmp_path / "a.arrow"))
    with pytest.raises(DataError, match=r"'m' has no value in 1 of 3 rows, the first in row 2"):
        op.read(tmp_path / "a.arrow", truth="y", models=["m"])
    assert op.read(tmp_path / "a.arrow", truth="y", models=["m"], on_null="drop").n == 2


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"models": ["score"]}, DataError, "'score' of .* has type halffloat"),
        ({"where": {"score": 1}}, DataError, "the engine does not support halffloat"),
        ({"models": ["mm"]}, UsageError, "did you mean 'm'"),
        ({"format": "csv"}, DataError, "is really an arrow file"),
    ],
)
def test_what_cannot_be_counted_is_refused(tmp_path, options, error, message):
    write_file(ROWS, str(tmp_path / "a.arrow"))
    with pytest.raises(error, match=message):
        op.read(tmp_path / "a.arrow", **{"truth": "y", "models": ["m"], **options})


def test_columns_of_one_name_are_refused(tmp_path):
    table = pa.table([pa.array(["a"])] * 3, names=["y", "m", "m"])
    write_file(table, str(tmp_path / "a.arrow"))
    with pytest.raises(DataError, match="2 columns named 'm'"):
        op.read(tmp_path / "a.arrow", truth="y", models=["m"])


@each(
    ("name", "data", "message"),
    [
        ("a.arrow", b"y,m\na,b\n", "should be an arrow file"),
        ("a.csv", b"ARROW1\0\0" + bytes(50), "is really an arrow file"),
        ("a.arrow", b"ARROW1\0\0" + bytes(50), "cannot be read as Arrow"),
        ("a.feather", b"FEA1" + bytes(50), "Feather .version 1."),
        ("a.arrow.gz", b"\x1f\x8b" + bytes(50), "compressed internally"),
        ("a.arrows", b"\xff\xff\xff\xff\0\0", "cannot be read"),
        ("a.arrows", b"\xff\xff\xff\xff\x10\0\0\0" + bytes(50), "has no end"),
    ],
)
def test_what_is_no_arrow_file_is_refused(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=message):
        op.read(tmp_path / name, truth="y", models=["m"])


@pytest.mark.parametrize("write", [write_file, write_stream])
def test_a_file_cut_anywhere_is_refused(tmp_path, write):
    path = tmp_path / "a.arrow"
    write(ROWS.select(["y", "m"]).slice(0, 160), str(path))
    data = path.read_bytes()
    for end in range(1, len(data), 61):
        path.write_bytes(data[:end])
        with pytest.raises(DataError):
            op.read(path, truth="y", models=["m"])


def test_a_column_name_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "a.arrow"
    feather.write_feather(pa.table({"y": [0, 1], "model": [0, 1]}), str(path))
    path.write_bytes(path.read_bytes().replace(b"model", b"mod\x84l"))
    with pytest.raises(DataError, match=r"a\.arrow cannot be read as Arrow; it may be damaged"):
        op.read(path, truth="y", models=["model"])


def test_offsets_beyond_the_end_are_refused(tmp_path):
    path = tmp_path / "a.arrow"
    write_file(pa.table({"y": ["aaaa", "bbbb"], "m": ["aaaa", "bbbb"]}), str(path))
    offsets = b"\0\0\0\0\x04\0\0\0\x08\0\0\0"
    data = path.read_bytes()
    assert data.count(offsets) == 2
    path.write_bytes(data.replace(offsets, b"\0\0\0\0\x04\0\0\0\xff\xff\xff\x7f", 1))
    with pytest.raises(DataError, match="cannot be read as Arrow; it may be damaged"):
        op.read(path, truth="y", models=["m"])


def test_a_large_file_is_not_loaded(tmp_path):
    """A file of 400 MB must be counted with much less memory than that."""
    path, rows = tmp_path / "a.arrow", 2_000_000
    batch = pa.record_batch(
        {"y": ["spam", "ham"] * 50_000, "m": ["ham", "ham"] * 50_000, "text": ["x" * 190] * 100_000}
    )
    with pa.ipc.new_file(str(path), batch.schema) as writer:
        for _ in range(rows // 100_000):
            writer.write_batch(batch)
    code = (
        "import resource, sys, outperform as op, pyarrow, duckdb\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "seen = op.read(sys.argv[1], truth='y', models=['m'])\n"
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(seen.n, after - before)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    n, more = map(int, found.stdout.split())
    unit = 1 if sys.platform == "darwin" else 1024
    assert n == rows
    assert more * unit < path.stat().st_size / 2
