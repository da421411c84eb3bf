"""Damaged files: cut off, bits turned round, children that crash; never other counts in silence."""

from __future__ import annotations

import io
import os
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outperform as op
from outperform.errors import DataError, MissingExtra, OutperformError, ResourceError, UsageError
from outperform.ingest import isolating
from outperform.ingest.files.pages import read_chunks, walk_pages
from outperform.ingest.isolating import Question, ask
from verification import damaged
from verification.damaged import PLANS, WRITERS, chosen_bits, counts, flips, sample

OPTIONS = {"truth": "y", "models": ["old", "new"]}


def flipped(data, *bits):
    found = bytearray(data)
    for bit in bits:
        found[bit // 8] ^= 1 << bit % 8
    return bytes(found)


def bodies(data):
    """Return where the pages are, without their headers."""
    stream = io.BytesIO(data)
    return [page for chunk in read_chunks(stream) for page in chunk.pages(stream)]


@pytest.fixture(params=WRITERS)
def writer(request):
    return request.param


# Cut off


def refuse_cuts(path, data, ends, **options):
    for end in ends:
        path.write_bytes(data[:end])
        with pytest.raises(DataError, match=path.name):
            op.read(path, **OPTIONS, **options)


def test_a_file_that_is_cut_off_is_refused(tmp_path, writer):
    data = sample(writer, checksums=True)
    ends = [*range(0, len(data) - 20, len(data) // 25), *range(len(data) - 20, len(data), 3)]
    refuse_cuts(tmp_path / "a.parquet", data, ends)
    refuse_cuts(tmp_path / "a.parquet", data, ends[::3], verify=True)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"verify": True}])
def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path, writer, options):
    data = sample(writer, checksums=True)
    refuse_cuts(tmp_path / "a.parquet", data, range(len(data)), **options)


# Bits turned round


@pytest.mark.parametrize("plan", PLANS)
def test_a_turned_bit_never_harms_the_caller(writer, plan):
    found = flips(writer, plan, chosen_bits(writer, plan, 35))
    assert len(found) == 35
    assert damaged.failures(found) == []
    if plan == "checked":
        assert {one.fate for one in found if one.place == "pages"} == {"refused"}


@pytest.mark.slow
@pytest.mark.parametrize("plan", PLANS)
def test_ten_thousand_turned_bits_never_harm_the_caller(writer, plan):
    found = flips(writer, plan, chosen_bits(writer, plan, 3_334))
    assert len(found) == 3_334
    assert damaged.failures(found) == []
    undetected = sum(one.fate == "other" for one in found)
    assert (undetected == 0) == (plan == "checked")


def test_a_footer_on_which_pyarrow_gives_up_is_refused(writer):
    """A column that is suddenly required has statistics that pyarrow aborts on, if asked for."""
    data = sample(writer, checksums=True)
    place = data.index(b"\x15\x0c%\x02") + 3  # text, and optional
    (found,) = flips(writer, "checked", [8 * place + 1])
    assert (found.place, found.fate) == ("footer", "refused"), found.found


def test_every_page_is_compared_with_its_checksum(tmp_path, writer):
    data = sample(writer, checksums=True)
    path = tmp_path / "a.parquet"
    for page in bodies(data):
        path.write_bytes(flipped(data, 8 * ((page.body + page.end) // 2)))
        with pytest.raises(DataError, match=r"a\.parquet cannot be read as Parquet"):
            op.read(path, **OPTIONS, verify=True)


def test_columns_that_are_not_asked_for_are_not_read(tmp_path):
    data = sample("bare", checksums=True)
    last = bodies(data)[-1]
    path = tmp_path / "a.parquet"
    path.write_bytes(flipped(data, 8 * last.body + 40))
    assert op.read(path, truth="y", models=["old"], verify=True).n == damaged.ROWS
    with pytest.raises(DataError):
        op.read(path, truth="y", verify=True)


# What verify does with sound files


def test_a_verified_file_has_the_counts_of_any_other(tmp_path, writer):
    for name, checksums in (("with", True), ("without", False)):
        (tmp_path / f"{name}.parquet").write_bytes(sample(writer, checksums=checksums))
    plain = op.read(tmp_path / "with.parquet", **OPTIONS)
    verified = op.read(tmp_path / "with.parquet", **OPTIONS, verify=True)
    without = op.read(tmp_path / "without.parquet", **OPTIONS, verify=True)
    assert counts(plain) == counts(verified) == counts(without)
    assert plain.findings == verified.findings == ()
    assert [one.name for one in without.findings] == ["no_page_checksums"]


def test_values_keep_their_types_when_verified(tmp_path):
    table = pa.table(
        {
            "y": pa.array([1, 2, 2]),
            "m": pa.array([1, 2, 2], pa.uint8()),
            "c": pa.array(["a", "b", "b"]).dictionary_encode(),
            "b": [True, False, True],
            "f": [1.0, 2.0, 2.0],
            "m.x": [0, 0, 0],
            "s": [{"x": 1}] * 3,
        }
    )
    pq.write_table(table, tmp_path / "a.parquet", write_page_checksum=True)
    for options in ({"models": ["m", "f"]}, {"models": ["m"], "where": {"b": True}}):
        plain = op.read(tmp_path / "a.parquet", truth="y", **options)
        assert op.read(tmp_path / "a.parquet", truth="y", **options, verify=True) == plain
    assert op.read(tmp_path / "a.parquet", truth="y", models=["m.x"], verify=True).n == 3
    with pytest.raises(DataError, match=r"'s' of .* is of type STRUCT"):
        op.read(tmp_path / "a.parquet", truth="y", models=["s"], verify=True)


@pytest.mark.parametrize("kind", ["polars", "duckdb", "pandas"])
def test_files_of_other_writers_are_verified(tmp_path, kind):
    path = tmp_path / "a.parquet"
    columns = {
        "y": ["a", "b", "c"] * 5_000,
        "m": ["a", "b", "b"] * 5_000,
        "l": [[0.5, 1.0]] * 15_000,
    }
    frame = pytest.importorskip("polars").DataFrame(columns)
    if kind == "polars":
        frame.write_parquet(path, row_group_size=1_000)
    elif kind == "pandas":
        frame.to_pandas().to_parquet(path, write_page_checksum=True)
    else:
        import duckdb

        duckdb.from_arrow(frame.to_arrow()).to_parquet(str(path))
    seen = op.read(path, truth="y", models=["m"], verify=True)
    assert seen == op.read(path, truth="y", models=["m"]) or seen.findings
    assert seen.confusion("m").tolist() == [[5_000, 0, 0], [0, 5_000, 0], [0, 5_000, 0]]
    with path.open("rb") as stream:
        assert walk_pages(stream, None).pages > 3


def test_pages_with_and_without_checksums_are_told_apart():
    found = [walk_pages(io.BytesIO(sample("bare", checksums=one)), None) for one in (True, False)]
    assert found[0].with_checksum == found[0].pages == found[1].pages == 3
    assert found[1].with_checksum == 0


def test_a_page_that_lost_its_checksum_is_noticed(tmp_path):
    data = sample("bare", checksums=True)
    page = bodies(data)[1]
    # The field before the last one is the checksum: 0x15 and a number; after it comes 0x1c. The
    # same bytes can say at length that the field after is number 5, and no checksum is left.
    place = data.rindex(b"\x1c", page.start, data.index(b"\x15", page.start + 12))
    first = data.rindex(b"\x15", page.start, place)
    long_five = b"\x0c\x8a" + b"\x80" * (place - first - 2) + b"\x00"
    changed = data[:first] + long_five + data[place + 1 :]
    assert len(changed) == len(data)
    with pytest.raises(ValueError, match="1 of 3 pages have lost their checksum"):
        walk_pages(io.BytesIO(changed), None)
    (tmp_path / "a.parquet").write_bytes(changed)
    with pytest.raises(DataError, match="lost their checksum"):
        op.read(tmp_path / "a.parquet", **OPTIONS, verify=True)
    assert op.read(tmp_path / "a.parquet", **OPTIONS).n == damaged.ROWS


@pytest.mark.parametrize("source", ["a.csv", "a.jsonl", "a.arrow"])
def test_only_parquet_files_are_verified(tmp_path, source):
    path = tmp_path / source
    table = pa.table({"y": ["a"], "m": ["a"]})
    if source == "a.arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        path.write_text("y,m\na,a\n" if source == "a.csv" else '{"y": "a", "m": "a"}\n')
    with pytest.raises(UsageError, match="verify is for Parquet files"):
        op.read(path, truth="y", models=["m"], verify=True)


def test_verify_is_for_files():
    with pytest.raises(UsageError, match="verify= are for files"):
        op.read(pa.table({"y": ["a"], "m": ["a"]}), truth="y", verify=True)
    with pytest.raises(UsageError, match="verify must be True or False"):
        op.read("a.parquet", truth="y", verify="yes")


# In another process


def test_an_isolated_file_has_the_counts_of_any_other(tmp_path):
    (tmp_path / "a.csv").write_text("id,y,m,k\n1,a,a,x\n2,,b,x\n3,01,b,z\n")
    for options in ({}, {"where": {"k": {"x"}}, "id": "id", "models": {"new": "m"}}):
        options = {"truth": "y", "models": ["m"], **options}
        plain = op.read(tmp_path / "a.csv", **options)
        isolated = op.read(tmp_path / "a.csv", **options, isolate=True)
        assert isolated == plain
        assert isolated.findings == plain.findings


def test_isolated_files_are_joined(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, label in (("gold", "a"), ("bert", "b")):
        (tmp_path / f"{name}.csv").write_text(f"id,label\n1,{label}\n")
    files = {"gold": "gold.csv", "bert": tmp_path / "bert.csv"}
    assert op.read(files, id="id", label="label", isolate=30).models == ("bert",)


@pytest.mark.parametrize(
    ("text", "options", "error", "message"),
    [
        ("y,m\na,a\n", {"truth": "yy"}, UsageError, r"no column 'yy' in .*a\.csv"),
        ("y,m\na\n", {}, DataError, r"a\.csv: every row must have 2 values"),
        ("y,m\na,a\n", {"models": "m"}, UsageError, "models must be a list of columns"),
    ],
)
def test_errors_come_back_as_what_they_are(tmp_path, text, options, error, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(error, match=message):
        op.read(tmp_path / "a.csv", **{"truth": "y", "models": ["m"], **options}, isolate=True)


@pytest.mark.parametrize(
    "source", ["-", io.StringIO("y,m\na,a\n"), pa.table({"y": ["a"]}), None, 3]
)
def test_only_paths_can_be_isolated(source):
    with pytest.raises(UsageError, match="neither streams nor frames"):
        op.read(source, truth="y", isolate=True)


@pytest.mark.parametrize("isolate", ["yes", 0, -1, float("nan"), float("inf"), None])
def test_isolate_is_yes_or_no_or_seconds(isolate):
    with pytest.raises(UsageError, match="isolate must be True, False or the seconds"):
        op.read("a.csv", truth="y", isolate=isolate)


def test_what_takes_too_long_is_ended(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,m\n" + "a,b\n" * 4_000_000)
    start = time.monotonic()
    with pytest.raises(DataError, match=r"a\.csv took longer than 0\.02 s"):
        op.read(path, truth="y", models=["m"], isolate=0.02)
    assert time.monotonic() - start < 20


CRASHES = {
    "signal 11": "import ctypes; ctypes.string_at(0)",
    "signal 6": "import os; os.abort()",
    "signal 9": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "exit code 7": "import os; os._exit(7)",
}


@pytest.fixture
def sabotage(tmp_path, monkeypatch):
    """Return a way to make children do something else when they read bad.csv."""

    def sabotage(code):
        program = (
            "import outperform.ingest.reading as room\n"
            "read = room.read\n"
            "def trap(source, **options):\n"
            f"    if source.endswith('bad.csv'): {code}\n"
            "    return read(source, **options)\n"
            "room.read = trap\n"
        )
        monkeypatch.setattr(isolating, "_PROGRAM", program + isolating._PROGRAM)

    for name in ("good", "bad", "fine"):
        (tmp_path / f"{name}.csv").write_text("y,m\na,a\n")
    return sabotage


@pytest.mark.parametrize("how", CRASHES)
def test_a_crash_is_told_and_those_after_it_are_read(tmp_path, sabotage, how):
    sabotage(CRASHES[how])
    options = {"truth": "y", "models": ["m"]}
    with pytest.raises(DataError, match=rf"bad\.csv ended with {how}.*; it is damaged"):
        op.read(tmp_path / "bad.csv", **options, isolate=True)
    names = ["good", "bad", "fine"]
    found = ask([Question(str(tmp_path / f"{name}.csv"), options) for name in names])
    assert [isinstance(one, OutperformError) for one in found] == [one == "bad" for one in names]


def test_a_crash_tells_no_password():
    found = isolating._crash(Question("postgresql://me:secret@host/db", {}), -11, 1.0)
    assert "postgresql://me:***@host/db ended with signal 11" in str(found)


def test_a_hang_is_ended(tmp_path, sabotage):
    sabotage("import time; time.sleep(1000)")
    with pytest.raises(DataError, match=r"bad\.csv took longer than 0\.5 s"):
        op.read(tmp_path / "bad.csv", truth="y", isolate=0.5)


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory by what Linux tells")
def test_too_much_memory_is_refused(tmp_path, sabotage):
    sabotage("bytearray(6 << 30)")
    with pytest.raises(ResourceError, match="more memory than is allowed"):
        op.read(tmp_path / "bad.csv", truth="y", isolate=True)


def test_what_a_library_prints_is_no_answer(tmp_path, sabotage):
    sabotage("import os; os.write(1, b'hello'); print('hello')")
    assert op.read(tmp_path / "bad.csv", truth="y", models=["m"], isolate=True).n == 1


def test_an_unknown_error_is_told_in_words(tmp_path, sabotage):
    sabotage("raise KeyError('what')")
    with pytest.raises(DataError, match="cannot be read: KeyError"):
        op.read(tmp_path / "bad.csv", truth="y", isolate=True)


def test_a_missing_extra_stays_one(tmp_path, sabotage):
    sabotage("from outperform._optional import require; require('nothing', extra='x', purpose='y')")
    with pytest.raises(MissingExtra, match="needs nothing"):
        op.read(tmp_path / "bad.csv", truth="y", isolate=True)


def test_a_module_in_the_folder_of_the_data_is_not_run(tmp_path, monkeypatch):
    (tmp_path / "duckdb.py").write_text("raise SystemExit('run from the folder of the data')")
    (tmp_path / "a.csv").write_text("y,m\na,a\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one not in ("", os.curdir)])
    assert op.read("a.csv", truth="y", models=["m"], isolate=True).n == 1
