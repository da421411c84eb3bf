"""Names of columns, models and files that try to be more than names."""

from __future__ import annotations

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outperform as op
from outperform.errors import OutperformError
from outperform.io.engine import EngineFault, start
from tests.loops import each

NAMES = [
    'a"b',
    '"',
    '""',
    "'",
    "''",
    "a'b",
    "a`b",
    "a;b",
    "; DROP TABLE t; --",
    '"; DROP TABLE t; --',
    "'; DROP TABLE t; --",
    "x'); COPY (SELECT 1) TO 'stolen.csv'; --",
    "\") FROM read_csv('/etc/passwd') --",
    "' UNION SELECT content FROM read_text('/etc/passwd') --",
    "$1",
    "?",
    ":name",
    "%s",
    "{0}",
    "*",
    "COLUMNS(*)",
    "c0",
    "k0",
    "rowid",
    "filename",
    "file_row_number",
    "count(*)",
    "select",
    "NULL",
    "/*",
    "--",
    "\\",
    "a\\",
    "a b",
    "a/b~c",
    "a.b",
    "[0]",
    "é\u202e😀",
    "LABEL",
    "x" * 500,
    "../../etc/passwd",
    "<script>",
]


def tables(name):
    """Return a table whose prediction column has the name, as CSV, JSON Lines and Parquet."""
    return {"doc": ["1", "2", "3"], "label": ["a", "b", "a"], name: ["a", "a", "a"]}


def write(folder, kind, columns):
    path = folder / f"preds.{kind}"
    rows = list(zip(*columns.values(), strict=True))
    if kind == "csv":
        with open(path, "w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([tuple(columns), *rows])
    elif kind == "jsonl":
        lines = (json.dumps(dict(zip(columns, row, strict=True))) for row in rows)
        path.write_text("\n".join(lines), encoding="utf-8")
    else:
        pq.write_table(pa.table(columns), path)
    return path


@each("kind", ["csv", "jsonl", "parquet"])
@each("name", NAMES)
def test_any_name_of_a_column_is_only_a_name(tmp_path, monkeypatch, kind, name):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, kind, tables(name))
    before = path.read_bytes()
    seen = op.read(path, truth="label", models=[name], id="doc", where={name: "a"})
    assert seen.models == (name,)
    assert seen.confusion(name).tolist() == [[2, 0], [1, 0]]
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == before


@each("name", NAMES)
def test_any_name_of_a_file_is_only_a_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    safe = "".join("_" if letter == "/" else letter for letter in name)[:200]
    (tmp_path / "decoy.csv").write_text("label,m\nz,z\n")
    path = tmp_path / f"{safe}.csv"
    path.write_text("label,m\na,a\nb,a\n", encoding="utf-8")
    seen = op.read(path, truth="label", models=["m"])
    assert seen.confusion("m").tolist() == [[1, 0], [1, 0]]
    assert {one.name for one in tmp_path.iterdir()} == {path.name, "decoy.csv"}


@each("name", NAMES)
def test_a_name_that_is_not_there_is_refused_in_words(tmp_path, name):
    path = write(tmp_path, "csv", tables("m"))
    with pytest.raises(OutperformError):
        op.read(path, truth="label", models=[name])
    with pytest.raises(OutperformError):
        op.read(tmp_path / "no" / name, truth="label", models=["m"])


@each("name", ["nul\0.csv", "http://example.org/a.csv", "s3://b/a.csv", "~", ""])
def test_what_is_not_on_this_disk_is_refused(name):
    with pytest.raises(OutperformError):
        op.read(name, truth="label", models=["m"])


def test_a_folder_that_looks_like_a_column_adds_none(tmp_path):
    folder = tmp_path / "label=z"
    folder.mkdir()
    path = write(folder, "parquet", tables("m"))
    assert op.read(path, truth="label", models=["m"]).labels == ("a", "b")


@each(
    "statement",
    [
        "SELECT * FROM read_csv('{outside}')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '{outside}'",
        "SELECT * FROM glob('/*')",
        "COPY (SELECT 1) TO '{outside}'",
        "ATTACH '{outside}.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET memory_limit = '100GB'",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SELECT * FROM read_csv('https://example.org/a.csv')",
    ],
)
def test_the_engine_reaches_nothing_else(tmp_path, statement):
    (tmp_path / "private").mkdir()
    outside = tmp_path / "outside.csv"
    outside.write_text("a,b\n1,2\n")
    given = tmp_path / "given.csv"
    given.write_text("a,b\n1,2\n")
    with start([str(given)], folder=str(tmp_path / "private")) as engine:
        assert engine.fetch("SELECT count(*) FROM read_csv(?)", [str(given)]) == [(1,)]
        with pytest.raises(EngineFault):
            engine.fetch(statement.format(outside=outside))
    assert outside.read_text() == "a,b\n1,2\n"
    assert len(list(tmp_path.iterdir())) == 3
