"""The same random tables through every reader: the counts of a plain counter, each time."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import random
import sqlite3
from collections import Counter
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outperform as op
from outperform.io import count, engine
from tests.loops import each

NAMES = ("y", "m", "k")
LABELS = (
    *("a", "b", "spam", "A", " a", "a "),
    *("", "NA", "null", "None", "nan", "NULL", "true", "True"),
    *("1", "01", "001", "1e5", "-1", "+1", "0x1", "١"),
    *(",", ";", "\t", "|", "a,b", '"', '""', 'say "x"', "'", "\\", '\\"', "\\N"),
    *("\n", "a\nb", "\r", "a\r\nb", " ", "  "),
    *("é", "e\u0301", "日本", "🙂", "\u202e", "\u200b", "\ufeff", "ß", "ſ", "\x01", "\x1f", "\x7f"),
    *("=1+1", "#", "# a", "//", "{}", "[1]", '{"y": 1}', "$1", "?", "%", "a=b", "x" * 200),
)


def table(seed):
    """Return a random table: few or many classes, few or many rows, likely and odd labels."""
    rng = random.Random(seed)
    labels = rng.sample(LABELS, rng.choice([1, 2, 3, 5, 12]))
    return [tuple(rng.choices(labels, k=3)) for _ in range(rng.choice([1, 2, 7, 40, 300]))]


def counts(seen):
    (found,) = seen.tables
    cells = [tuple(seen.labels[code] for code in cell) for cell in found.cells.tolist()]
    return Counter(dict(zip(cells, found.counts.tolist(), strict=True)))


def oracle(rows):
    """Return the counts as the csv module and a counter have them."""
    header, *found = csv.reader(io.StringIO(as_csv(rows), newline=""))
    assert header == list(NAMES)
    return Counter(map(tuple, found))


def read(source, **options):
    return counts(op.read(source, truth="y", models=["m", "k"], empty_is_label=True, **options))


def columns(rows):
    return dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))


# As text


def as_csv(rows, **options):
    out = io.StringIO(newline="")
    csv.writer(out, **options).writerows([NAMES, *rows])
    return out.getvalue()


def as_jsonl(rows):
    return "".join(
        json.dumps(dict(zip(NAMES, row, strict=True)), ensure_ascii=False) + "\n" for row in rows
    )


def text_file(name, write, pack=lambda data: data):
    def through(rows, folder):
        (folder / name).write_bytes(pack(write(rows).encode("utf-8")))
        return read(folder / name)

    return through


def zstd(data):
    return pa.compress(data, "zstd", asbytes=True)


def stream(rows, folder):
    return read(io.BytesIO(as_csv(rows).encode("utf-8")), format="csv")


def several(rows, folder):
    half = len(rows) // 2
    parts = [part for part in (rows[:half], rows[half:]) if part]
    for number, part in enumerate(parts):
        (folder / f"part-{number}.csv").write_bytes(as_csv(part).encode("utf-8"))
    return read(str(folder / "part-*.csv"))


def partitioned(rows, folder):
    """Write one file for each true label, which only the name of its folder tells."""
    for number, truth in enumerate({row[0] for row in rows}):
        inside = folder / "parts" / f"y={encoded(truth)}" / f"n={number}"
        inside.mkdir(parents=True)
        some = columns([row for row in rows if row[0] == truth])
        pq.write_table(pa.table({"m": some["m"], "k": some["k"]}), inside / "a.parquet")
    return read(folder / "parts")


def encoded(label):
    """Return a label as a name of a folder."""
    return quote(label, safe="")


def parquet(rows, folder):
    pq.write_table(pa.table(columns(rows)), folder / "a.parquet", row_group_size=50)
    return read(folder / "a.parquet")


def arrow(name, opener):
    def through(rows, folder):
        data = pa.table(columns(rows))
        with opener(str(folder / name), data.schema) as writer:
            writer.write_table(data, max_chunksize=64)
        return read(folder / name)

    return through


def frame(make):
    return lambda rows, folder: read(make(columns(rows)))


def relation(data):
    return duckdb.from_arrow(pa.table(data))


# Databases and lists


def sqlite_file(rows, folder):
    pytest.importorskip("ibis")
    path = folder / "a.sqlite"
    path.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        fill(connection, rows)
        connection.commit()
    return read(path, table="preds")


def duckdb_file(rows, folder):
    path = folder / "a.duckdb"
    path.unlink(missing_ok=True)
    with contextlib.closing(duckdb.connect(str(path))) as connection:
        fill(connection, rows)
    return read(path, query="SELECT * FROM preds")


def fill(connection, rows):
    connection.execute("CREATE TABLE preds (y TEXT, m TEXT, k TEXT)")
    connection.executemany("INSERT INTO preds VALUES (?, ?, ?)", rows)


def lists(rows, folder):
    truth, m, k = zip(*rows, strict=True)
    return counts(op.Outcomes.from_labels(list(truth), {"m": list(m), "k": list(k)}))


READERS = {
    "csv": text_file("a.csv", as_csv),
    "csv, all quoted": text_file("b.csv", lambda rows: as_csv(rows, quoting=csv.QUOTE_ALL)),
    # All quoted, because older Pythons leave a lone carriage return bare where lines end in \n.
    "csv, short lines": text_file(
        "c.csv", lambda rows: as_csv(rows, lineterminator="\n", quoting=csv.QUOTE_ALL)
    ),
    "csv, semicolons": text_file("d.csv", lambda rows: as_csv(rows, delimiter=";")),
    "tsv": text_file("a.tsv", lambda rows: as_csv(rows, delimiter="\t")),
    "csv.gz": text_file("a.csv.gz", as_csv, gzip.compress),
    "csv.zst": text_file("a.csv.zst", as_csv, zstd),
    "jsonl": text_file("a.jsonl", as_jsonl),
    "jsonl.gz": text_file("a.jsonl.gz", as_jsonl, gzip.compress),
    "jsonl.zst": text_file("a.jsonl.zst", as_jsonl, zstd),
    "a stream": stream,
    "several files": several,
    "a partitioned folder": partitioned,
    "parquet": parquet,
    "arrow file": arrow("a.arrow", pa.ipc.new_file),
    "arrow stream": arrow("a.arrows", pa.ipc.new_stream),
    "pandas": frame(pd.DataFrame),
    "pandas objects": frame(lambda data: pd.DataFrame(data, dtype=object)),
    "polars": frame(pl.DataFrame),
    "polars lazy": frame(pl.LazyFrame),
    "pyarrow": frame(pa.table),
    "duckdb relation": frame(relation),
    "sqlite": sqlite_file,
    "duckdb file": duckdb_file,
    "lists": lists,
}


def differences(seeds, readers):
    """Return tables and readers that do not agree with the counter."""
    found = []
    for seed in seeds:
        rows = table(seed)
        expected = oracle(rows)
        assert expected == Counter(rows)
        for name in readers(seed):
            with TemporaryDirectory() as folder:
                if READERS[name](rows, Path(folder)) != expected:
                    found.append((seed, name))
    return found


def some(seed):
    """Return five of the readers, so that all have their turn."""
    return random.Random(seed).sample(list(READERS), 5)


@pytest.mark.parametrize("start", [0, 20])
def test_random_tables_have_the_same_counts(start):
    assert differences(range(start, start + 20), some) == []


@pytest.mark.slow
@each("reader", READERS)
def test_a_thousand_random_tables_have_the_same_counts_through_every_reader(reader):
    assert differences(range(1_000), lambda seed: [reader]) == []


# Few combinations come from the engine as they are, many as codes


VALUES = {
    "text": ["a", "b", "a", "", "é", "a", "b", "NA"],
    "whole": [1, 2, 1, -5, 7, 1, 2, 2**62],
    "unsigned": [1, 2, 1, 5, 7, 1, 2, 2**64 - 1],
    "huge": [1, 2, 1, 5, 2**70, 1, 2, 2**70 + 1],
    "bools": [True, False, True, True, False, True, False, True],
    "days": [date(2026, 11, day) for day in (1, 2, 1, 3, 3, 1, 2, 2)],
    "moments": [1, 2, 1, 3, 3, 1, 2, 2],
}
TYPES = {
    "text": "VARCHAR", "whole": "BIGINT", "unsigned": "UBIGINT", "huge": "HUGEINT",
    "bools": "BOOLEAN", "days": "DATE", "moments": "TIMESTAMP_NS",
}  # fmt: skip


@each("missing", [False, True])
@each("name", VALUES)
def test_few_and_many_combinations_are_fetched_alike(name, missing, monkeypatch):
    values = [*VALUES[name], *([None] if missing else [])]
    cast = "make_timestamp_ns(?)" if name == "moments" else f"?::VARCHAR::{TYPES[name]}"
    found = []
    with engine.workspace() as folder, engine.start([], folder=folder) as started:
        started.fetch(f"CREATE TABLE t (v {TYPES[name]})")
        for one in values:
            started.fetch(f"INSERT INTO t VALUES ({cast})", [one])
        for few in (count._FEW, 0):
            monkeypatch.setattr(count, "_FEW", few)
            grouped = count.group("t", (), keys=["v"], number="count(*)", engine=started)
            (column,) = grouped.columns
            plain = [column.values[code] for code in column.codes.tolist()]
            found.append(dict(zip(map(repr, plain), grouped.counts.tolist(), strict=True)))
    assert found[0] == found[1]
    if name != "moments":
        assert found[0] == dict(Counter(map(repr, values)))
