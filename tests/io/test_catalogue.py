"""The catalogue of bad input, as far as files and queries go: one number, one case or more.

Each case is read through the library and on the command line; the kind of error and the exit code
go together, and what is no error must say what it noticed.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outperform as op
from outperform.cli.main import main
from outperform.errors import DataError, ResourceError, UsageError
from outperform.io.count_tables import read_confusion

CODES = {UsageError: 2, DataError: 3, ResourceError: 5}
GOOD = "y,m\na,a\nb,a\na,b\n"
LOW, HIGH = -(2**63), 2**63 - 1


def parquet(**columns):
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def jsonl(*rows):
    return "".join(json.dumps({"y": y, "m": m}) + "\n" for y, m in rows)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One file, and what must become of it."""

    data: Any
    name: str = "a.csv"
    options: dict[str, Any] = field(default_factory=dict)
    error: type[Exception] | None = None
    words: tuple[str, ...] = ()
    counts: dict[tuple[Any, Any], int] | None = None
    findings: tuple[str, ...] = ()


def bad(data, *words, name="a.csv", error=DataError, **options):
    return Case(data=data, name=name, options=options, error=error, words=words)


def fine(data, counts, *findings, name="a.csv", **options):
    return Case(data=data, name=name, options=options, counts=counts, findings=findings)


PQ, JL = "a.parquet", "a.jsonl"
USUAL = {("a", "a"): 1, ("b", "a"): 1, ("a", "b"): 1}
NULL = pa.array(["a", None, "b"], pa.string())
TIMES = parquet(y=["a", "b"], m=["a", "a"], w=pa.array([255, 254], pa.uint8()))


def weights(*values, type_=None):
    return parquet(
        y=["a"] * len(values), m=["b"] * len(values), w=pa.array(values, type_ or pa.int64())
    )


CASES = {
    "01 nothing": bad("", "a.csv is empty (0 bytes)"),
    "01 nothing in Parquet": bad("", "a.parquet is empty", name=PQ),
    "02 a header": bad("y,m\n", "a.csv has no rows"),
    "02 no rows in Parquet": bad(
        parquet(y=pa.array([], pa.string()), m=pa.array([], pa.string())), "has no rows", name=PQ
    ),
    "03 no header, values repeated": bad("a,a\nb,b\n", "columns named 'a'", "header"),
    "03 no header": bad("ham,spam\nham,ham\n", "no column 'y'", "header", error=UsageError),
    "03 no header, and said so": fine(
        "a,a\nb,a\na,b\n", USUAL, truth="0", models=["1"], dialect={"header": False}
    ),
    "04 no such column": bad(
        "yy,m\na,a\n", "no column 'y' in a.csv; did you mean 'yy'?", error=UsageError
    ),
    "05 a name twice": bad("y,m,m\na,a,b\n", "2 columns named 'm'"),
    "05 a name twice in Parquet": bad(
        (lambda buffer: (pq.write_table(pa.table([["a"]] * 3, names=["y", "m", "m"]), buffer),
                         buffer.getvalue())[1])(io.BytesIO()),
        "2 columns named 'm'", name=PQ,
    ),
    "06 no truth in a row": bad(
        parquet(y=NULL, m=["a", "b", "b"]), "'y' has no value in 1 of 3 rows", "row 2", "drop",
        name=PQ,
    ),
    "06 left out, and said": fine(
        parquet(y=NULL, m=["a", "b", "b"]), {("a", "a"): 1, ("b", "b"): 1}, "null_rows_dropped",
        name=PQ, on_null="drop",
    ),
    "07 no prediction in a row": bad(
        jsonl(("a", "a"), ("b", None)), "'m' has no value in 1 of 2", "row 2", name=JL
    ),
    "07 no prediction, as a missing key": bad(
        '{"y": "a", "m": "a"}\n{"y": "b"}\n', "'m' has no value in 1 of 2", name=JL
    ),
    "08 not a number": bad(
        parquet(y=[1.0, float("nan")], m=[1.0, 2.0]), "'y' has no value", "row 2", name=PQ
    ),
    "08 infinite": bad(parquet(y=[1.0, 2.0], m=[1.0, float("inf")]), "'m'", "infinite", name=PQ),
    "09 fewer values in a row": bad("y,m\na,a\nb\n", "line 3 has 1: 'b'"),
    "16 nothing left": bad(
        "y,m,c\na,a,x\n", "no rows left after where", where={"c": "z"}
    ),
    "16 nothing left without labels": bad(
        parquet(y=pa.array([None], pa.string()), m=["a"]), "no row with a value", name=PQ,
        on_null="drop",
    ),
    "31 words that often mean missing": fine(
        "y,m\nNA,null\nNone,nan\n", {("NA", "null"): 1, ("None", "nan"): 1}
    ),
    "31 such words in Parquet": fine(
        parquet(y=["NA", "null"], m=["None", "nan"]), {("NA", "None"): 1, ("null", "nan"): 1},
        name=PQ,
    ),
    "32 a zero in front": fine(
        "y,m\n01,1\n1,1\n", {("01", "1"): 1, ("1", "1"): 1}, "near_duplicate_labels"
    ),
    "33 numbers and their text": fine(
        parquet(y=[1, 2], m=["1", "2"]), {(1, 1): 1, (2, 2): 1}, "labels_converted", name=PQ
    ),
    "33 numbers with and without a point": fine(
        parquet(y=[1, 2], m=[1.0, 2.0]), {(1, 1): 1, (2, 2): 1}, name=PQ
    ),
    "33 numbers and other text": bad(parquet(y=[1, 2], m=["01", "2"]), "'01'", name=PQ),
    "34 booleans and numbers": fine(
        parquet(y=[True, False], m=[1, 0]), {(1, 1): 1, (0, 0): 1}, name=PQ
    ),
    "34 booleans and words": bad(
        jsonl((True, "true"), (False, "false")), "True/False", name=JL
    ),
    "35 blanks and capitals": fine(
        "y,m\ncat, cat \ncat,Cat\n", {("cat", " cat "): 1, ("cat", "Cat"): 1},
        "near_duplicate_labels",
    ),
    "36 composed and decomposed": fine(
        "y,m\ncaf\u00e9,cafe\u0301\n", {("caf\u00e9", "cafe\u0301"): 1}, "near_duplicate_labels"
    ),
    "37 invisible characters": fine(
        "y,m\na\u202eb,a\u200bb\n", {("a\u202eb", "a\u200bb"): 1}
    ),
    "38 a picture, a long one, two lines": fine(
        f'y,m\n🙂,{"x" * 10_000}\n"a\nb",🙂\n', {("🙂", "x" * 10_000): 1, ("a\nb", "🙂"): 1}
    ),
    "39 the empty label": bad(
        "y,m\n,a\na,\n", "column 'y' has no value in 1 of 2 rows, the first in line 2"
    ),
    "40 scores": bad("y,m\n1,0.73\n0,0.2\n", "column 'm'", "looks like a score"),
    "40 scores in Parquet": bad(
        parquet(y=[1, 0], m=[0.73, 0.2]), "column 'm'", "looks like a score", name=PQ
    ),
    "41 probabilities": bad(
        parquet(y=[1, 0], m=[[0.3, 0.7], [0.6, 0.4]]), "'m'", "threshold", name=PQ,
        error=UsageError,
    ),
    "42 times": bad(
        parquet(y=pa.array([0], pa.timestamp("s")), m=["a"]), "'y'", "TIMESTAMP", name=PQ
    ),
    "42 lists": bad(jsonl(("a", ["a", "b"])), "'m' contains", name=JL),
    "42 structures": bad(parquet(y=["a"], m=[{"x": 1}]), "'m'", "STRUCT", name=PQ),
    "43 numbers and text in a column": bad(jsonl(("a", 1), ("a", "a")), "mixes", name=JL),
    "44 the ends of int64": fine(
        parquet(y=[LOW, HIGH], m=[HIGH, HIGH]), {(LOW, HIGH): 1, (HIGH, HIGH): 1}, name=PQ
    ),
    "45 a negative count": bad(weights(1, -5), "'w'", "-5", name=PQ, count="w"),
    "45 a count with a fraction": bad(
        "y,m,w\na,b,1.5\n", "'w'", "1.5", count="w"
    ),
    "46 a huge count": fine(weights(10**12), {("a", "b"): 10**12}, name=PQ, count="w"),
    "46 a count beyond the floats": fine(
        weights(2**53 + 1), {("a", "b"): 2**53 + 1}, name=PQ, count="w"
    ),
    "46 the largest count": fine(weights(HIGH), {("a", "b"): HIGH}, name=PQ, count="w"),
    "46 a huge count as text": fine(
        f"y,m,w\na,b,{HIGH}\n", {("a", "b"): HIGH}, count="w"
    ),
    "47 counts that add up to more": fine(
        weights(HIGH, HIGH), {("a", "b"): 2 * HIGH}, name=PQ, count="w"
    ),
    "48 narrow counts": fine(TIMES, {("a", "a"): 255, ("b", "a"): 254}, name=PQ, count="w"),
    "48 narrow counts that add up": fine(
        weights(*[250] * 40, type_=pa.uint8()), {("a", "b"): 10_000}, name=PQ, count="w"
    ),
    "50 a count that is no number": bad("y,m,w\na,b,many\n", "'w'", "many", count="w"),
    "51 no count at all": bad(weights(0, 0), "no row", name=PQ, count="w"),
    "51 an infinite count": bad(
        weights(1.0, float("inf"), type_=pa.float64()), "'w'", "inf", name=PQ, count="w"
    ),
    "51 a count that is missing": bad(weights(1, None), "'w'", "nothing", name=PQ, count="w"),
    "54 a byte order mark": fine("\ufeff" + GOOD, USUAL),
    "54 UTF-16": bad(GOOD.encode("utf-16"), "encoding", "utf-16"),
    "54 latin-1": bad(
        "y,m\na,a\ncaf\u00e9,a\n".encode("latin-1"), "line 3", "0xe9", "latin-1"
    ),
    "54 latin-1, and said so": fine(
        "y,m\ncaf\u00e9,a\n".encode("latin-1"),
        {("caf\u00e9", "a"): 1},
        dialect={"encoding": "latin-1"},
    ),
    "55 CRLF": fine(GOOD.replace("\n", "\r\n"), USUAL),
    "55 CR": fine(GOOD.replace("\n", "\r"), USUAL),
    "55 several kinds": fine("y,m\r\na,a\nb,a\ra,b\n", USUAL),
    "55 no end of the last line": fine(GOOD.rstrip("\n"), USUAL),
    "56 a ragged row": bad(GOOD + "a,b,c\n", "line 5 has 3: 'a,b,c'"),
    "56 an open quote": bad(GOOD + '"a,b\n', "line 5", "unclosed quote"),
    "56 a zero byte": bad(GOOD + "a,\0b\n", "zero byte in line 5"),
    "57 semicolons": fine(GOOD.replace(",", ";"), USUAL, "separator_detected"),
    "57 tabs": fine(GOOD.replace(",", "\t"), USUAL, "separator_detected"),
    "57 decimal commas": fine(
        "y;m;s\na;a;0,5\nb;a;0,7\na;b;0,1\n", USUAL, "separator_detected"
    ),
    "57 decimal commas as scores": bad("y;m\n1;0,73\n0;0,2\n", "column 'm'", "looks like a score"),
    "59 Parquet by another name": bad(parquet(y=["a"], m=["a"]), "really a parquet file"),
    "59 zip or xlsx": bad(b"PK\x03\x04" + bytes(60), "really a zip (or xlsx) file"),
    "59 xls": bad(b"\xd0\xcf\x11\xe0" + bytes(60), "really a xls file"),
    "59 Arrow by another name": bad(b"ARROW1\0\0" + bytes(60), "really an arrow file"),
    "59 text called Parquet": bad(GOOD, "should be a parquet file", name=PQ),
}  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(case):
    data = case.data.encode("utf-8") if isinstance(case.data, str) else case.data
    with open(case.name, "wb") as stream:
        stream.write(data)


def counts(seen):
    (table,) = seen.tables
    cells = [tuple(seen.labels[code] for code in cell) for cell in table.cells.tolist()]
    return Counter(dict(zip(cells, table.counts.tolist(), strict=True)))


def command(source, options):
    """Return the command that asks the same."""
    options = {"truth": "y", "models": ["m"], **options}
    options |= options.pop("dialect", {})
    (model,) = options.pop("models")
    words = ["estimate", *source, "--model", model, "--metric", "accuracy"]
    words += ["--draws", "500", "--seed", "1", "-f", "json"]
    for name, value in options.items():
        if name == "where":
            words += [part for pair in value.items() for part in ("--where", "=".join(pair))]
        elif name == "header":
            words.append("--no-header")
        else:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return words


def refused(capsys, words, code, told=()):
    """Run a command that must fail with one line."""
    start = time.monotonic()
    assert main(words) == code
    assert time.monotonic() - start < 5
    written = capsys.readouterr()
    assert written.out == ""
    assert re.fullmatch(r"outperform: \S.*\n", written.err), written.err
    for word in told:
        assert word in written.err


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.error])
def test_what_is_bad_is_refused_by_name(here, capsys, name):
    case = CASES[name]
    write(case)
    with pytest.raises(case.error) as caught:
        op.read(case.name, **{"truth": "y", "models": ["m"], **case.options})
    for word in case.words:
        assert word in str(caught.value)
    refused(capsys, command([case.name], case.options), CODES[case.error])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.error])
def test_what_is_odd_is_counted_and_told(here, capsys, name):
    case = CASES[name]
    write(case)
    seen = op.read(case.name, **{"truth": "y", "models": ["m"], **case.options})
    assert counts(seen) == Counter(case.counts)
    assert {one.name for one in seen.findings} >= set(case.findings)
    assert main(command([case.name], case.options)) == 0
    told = json.loads(capsys.readouterr().out)
    assert {one["name"] for one in told["findings"]} >= set(case.findings)


def test_every_row_that_concerns_files_is_here():
    rows = {int(name[:2]) for name in CASES}
    elsewhere = {10, 11, 12, 49, 52, 53, 58, 60}  # below
    models = set(range(13, 31)) - {16}  # of priors, draws, folds and the like
    assert rows | elsewhere == set(range(1, 61)) - models


# Joins


def join_files(here, **ids):
    for name, some in {"gold": "123456789", **ids}.items():
        lines = "".join(f"{one},{'ab'[int(one) % 2]}\n" for one in some)
        (here / f"{name}.csv").write_text(f"id,label\n{lines}")


JOIN = ["--id", "id", "--label", "label"]


@pytest.mark.parametrize(
    ("number", "ids", "words"),
    [
        (10, "12", ["bert.csv lacks 7 ids", "'3', '4', '5', '6', '7'"]),
        (10, "123456789".replace("9", "0"), ["lacks 1 ids", "has 1 ids", "'0'"]),
        (11, "1234567899", ["once in bert.csv", "'9' (2 times)"]),
    ],
)
def test_10_11_keys_that_are_missing_or_there_twice(here, capsys, number, ids, words):
    join_files(here, bert=ids)
    with pytest.raises(DataError) as caught:
        op.read(["gold.csv", "bert.csv"], id="id", label="label")
    assert all(word in str(caught.value) for word in words)
    words_of = ["estimate", "gold.csv", "bert.csv", *JOIN, "--metric", "accuracy"]
    refused(capsys, words_of, 3, words)


def test_12_rows_in_another_order_need_a_key(here, capsys):
    (here / "gold.csv").write_text("label\na\nb\n")
    (here / "bert.csv").write_text("label\nb\na\n")
    with pytest.raises(UsageError, match="joined on an id"):
        op.read(["gold.csv", "bert.csv"], label="label")
    refused(capsys, ["estimate", "gold.csv", "bert.csv", "--label", "label"], 2, ["--id"])
    # With the truth in each file, it must be the same for the same item.
    (here / "a.csv").write_text("id,y,label\n1,a,a\n2,b,b\n")
    (here / "b.csv").write_text("id,y,label\n2,a,b\n1,b,a\n")
    with pytest.raises(DataError, match="disagree on 'y' in 2 rows"):
        op.read({"a": "a.csv", "b": "b.csv"}, id="id", truth="y", label="label")


# Matrices


def test_49_matrices_that_are_not_square_or_in_another_order(here, capsys):
    (here / "a.csv").write_text(",ham,spam\nham,5,3\n")
    with pytest.raises(DataError, match="square"):
        read_confusion("a.csv")
    words = ["estimate", "a.csv", "--confusion", "--metric", "accuracy"]
    refused(capsys, words, 3, ["square"])
    (here / "b.csv").write_text(",spam,ham\nham,3,5\nspam,9,1\n")
    found = read_confusion("b.csv")
    assert found.counts.tolist() == [[5, 3], [1, 9]]
    assert [one.name for one in found.findings] == ["confusion_reordered"]


# Sizes


def test_52_a_hundred_thousand_classes_are_counted(here, capsys):
    n = 100_000
    (here / "a.csv").write_text("y,m\n" + "".join(f"c{k},c{(k + 1) % n}\n" for k in range(n)))
    seen = op.read("a.csv", truth="y", models=["m"])
    assert (seen.n, len(seen.labels)) == (n, n)


@pytest.mark.slow
def test_53_a_thousand_million_rows_are_counted_in_a_gigabyte(here):
    rows = 1_000_000
    table = pa.table({"y": ["ham", "spam"] * (rows // 2), "m": ["ham"] * rows})
    pq.write_table(table, "a.parquet")
    code = (
        "import resource, outperform as op\n"
        "seen = op.read(['a.parquet'] * 1_000, truth='y', models=['m'])\n"
        "print(seen.n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    n, most = map(int, found.stdout.split())
    assert n == 1_000 * rows
    assert most * (1 if sys.platform == "darwin" else 1024) < 1 << 30


@pytest.mark.parametrize("block", [b"\0", b"a", b'"a'])
def test_a_packed_bomb_of_one_line_takes_little_memory(here, block):
    """One line of 200 MB in a file of 200 kB must not be held as a whole."""
    with gzip.open("a.csv.gz", "wb") as stream:
        stream.write(b"y,m\na,a\n" + block[:1])
        for _ in range(200):
            stream.write(block[-1:] * (1 << 20))
    code = (
        "import resource, duckdb, outperform as op\n"
        "from outperform.errors import DataError\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    op.read('a.csv.gz', truth='y', models=['m'])\n"
        "except DataError as error:\n    print(str(error)[:99])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    told, more = found.stdout.splitlines()
    assert "line 3" in told
    assert int(more) * (1 if sys.platform == "darwin" else 1024) < 150 << 20


# What is no file


@pytest.mark.parametrize("what", ["folder", "pipe", "loop", "device"])
def test_58_what_is_no_file(here, capsys, what):
    source = "/dev/zero" if what == "device" else "a.csv"
    if what == "folder":
        os.mkdir(source)
    elif what == "pipe":
        os.mkfifo(source)
    elif what == "loop":
        os.symlink(source, source)
    start = time.monotonic()
    with pytest.raises(DataError, match=source):
        op.read(source, truth="y", models=["m"])
    assert time.monotonic() - start < 5
    refused(capsys, command([source], {}), 3, [source])


# Queries


def sqlite_file(path):
    pytest.importorskip("ibis")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE preds (y TEXT, m TEXT)")
        connection.execute("INSERT INTO preds VALUES ('a', 'a')")
        connection.commit()


def duckdb_file(path):
    with contextlib.closing(duckdb.connect(path)) as connection:
        connection.execute("CREATE TABLE preds AS SELECT 'a' AS y, 'a' AS m")


@pytest.mark.parametrize(("make", "name"), [(sqlite_file, "a.sqlite"), (duckdb_file, "a.duckdb")])
@pytest.mark.parametrize(
    ("query", "error", "word"),
    [
        ("SELECT * FROM preds WHERE false", DataError, "no rows"),
        ("SELECT y, m, y FROM preds", DataError, "2 columns named 'y'"),
        ("DROP TABLE preds", UsageError, "a single SELECT"),
        ("DELETE FROM preds", UsageError, "a single SELECT"),
        ("SELECT y, m FROM preds; DROP TABLE preds", UsageError, "a single SELECT"),
        ("SELECT y FROM preds", UsageError, "no column 'm'"),
    ],
)
def test_60_queries(here, capsys, make, name, query, error, word):
    make(name)
    before = (here / name).read_bytes()
    with pytest.raises(error, match=word):
        op.read(name, query=query, truth="y", models=["m"])
    refused(capsys, command([name], {"query": query}), CODES[error], [word])
    assert (here / name).read_bytes() == before
