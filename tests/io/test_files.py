"""Files of every kind: hand-worked counts, and those that are refused."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import sys
from collections import Counter

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outperform as op
from outperform.errors import DataError, OutperformError, ResourceError, UsageError
from outperform.io import engine, group_by
from outperform.io.count_tables import read_confusion, read_confusions
from outperform.progress import on_progress
from tests.loops import each

FEW = settings.default.max_examples // 8
TABLE = [("spam", "ham"), ("ham", "ham"), ("spam", "spam"), ("spam", "ham")]
COUNTS = Counter(TABLE)
NOTHING = pa.array([], pa.string())


@pytest.fixture
def read(tmp_path):
    """Return a reader of bytes or text that are put into a file first."""

    def read(name, data, **options):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
        return op.read(path, **{"truth": "y", "models": ["m"], **options})

    return read


def counts(seen):
    """Return outcomes of one model as a counter of (truth, prediction)."""
    (table,) = seen.tables
    return Counter(
        {
            (seen.labels[true], seen.labels[predicted]): number
            for (true, predicted), number in zip(
                table.cells.tolist(), table.counts.tolist(), strict=True
            )
        }
    )


def names(seen):
    return [finding.name for finding in seen.findings]


def packed(data):
    # Without the time of day, so that the tests have the same names in every process.
    return gzip.compress(data, mtime=0)


def as_csv(rows, separator=",", end="\n"):
    return end.join(separator.join(row) for row in [("y", "m"), *rows]) + end


def as_jsonl(rows):
    return "".join(json.dumps({"y": y, "m": m}) + "\n" for y, m in rows)


def as_parquet(**columns):
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


# What is read


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", as_csv(TABLE)),
        ("a.CSV", as_csv(TABLE)),
        ("a.tsv", as_csv(TABLE, "\t")),
        ("a.csv", as_csv(TABLE, end="\r\n")),
        ("a.csv", as_csv(TABLE, end="\r")),
        ("a.csv", as_csv(TABLE).rstrip()),
        ("a.csv", as_csv(TABLE).replace("\n", "\r\n", 2)),
        ("a.csv", as_csv(TABLE).replace("\n", "\r", 2)),
        ("a.csv", as_csv(TABLE).replace("\n", "\n\n")),
        ("a.csv", "\n\n" + as_csv(TABLE)),
        ("a.csv", "\ufeff" + as_csv(TABLE)),
        ("a.csv", as_csv([(f'"{y}"', f'"{m}"') for y, m in TABLE])),
        ("a.csv.gz", packed(as_csv(TABLE).encode())),
        ("a.csv.zst", pa.compress(as_csv(TABLE).encode(), "zstd", asbytes=True)),
        ("a.jsonl", as_jsonl(TABLE)),
        ("a.jsonl", "\ufeff" + as_jsonl(TABLE)),
        ("a.ndjson", as_jsonl(TABLE).replace("\n", "\r\n\r\n")),
        ("a.jsonl.gz", packed(as_jsonl(TABLE).encode())),
        ("a.jsonl.zst", pa.compress(as_jsonl(TABLE).encode(), "zstd", asbytes=True)),
        ("a.parquet", as_parquet(y=[y for y, _ in TABLE], m=[m for _, m in TABLE])),
        ("without ending", as_csv(TABLE)),
        ("without ending", as_jsonl(TABLE)),
        ("without ending", packed(as_jsonl(TABLE).encode())),
        ("without ending", as_parquet(y=[y for y, _ in TABLE], m=[m for _, m in TABLE])),
        ("a.txt", as_csv(TABLE, "\t")),
    ],
)
def test_every_kind_of_file_gives_the_same_counts(read, name, data):
    assert counts(read(name, data)) == COUNTS


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "cp1252", "utf-8-sig"])
def test_other_encodings_are_read_if_they_are_named(read, encoding):
    data = as_csv([("café", "thé")]).encode(encoding)
    assert counts(read("a.csv", data, dialect={"encoding": encoding})) == {("café", "thé"): 1}


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_another_separator_is_found_and_said(read, separator):
    seen = read("a.csv", as_csv(TABLE, separator))
    assert counts(seen) == COUNTS
    assert names(seen) == ["separator_detected"]
    told = read("a.csv", as_csv(TABLE, separator), dialect={"separator": separator})
    assert counts(told) == COUNTS
    assert names(told) == []


def test_a_separator_inside_of_values_is_not_taken_for_one(read):
    seen = read("a.csv", "y;m;note\na;b;x, y, z, w\n")
    assert counts(seen) == {("a", "b"): 1}


def test_every_value_of_a_csv_file_is_text(read):
    rows = [("01", "1"), ("NA", "null"), ("nan", "None"), ("", "true"), ("1.0", "TRUE")]
    seen = read("a.csv", as_csv(rows), empty_is_label=True)
    assert counts(seen) == Counter(rows)
    assert names(seen) == ["near_duplicate_labels", "looks_missing"]


@pytest.mark.parametrize(
    "label",
    ["emoji 😀", "x" * 10_000, "two\nlines", "two\r\nlines", ' "q" ', "a,b", "\u202eabc", "'"],
)
def test_odd_labels_are_kept_as_they_are(read, label):
    out = io.StringIO()
    csv.writer(out).writerows([("y", "m"), (label, "b"), ("b", label)])
    for name, data in (
        ("a.csv", out.getvalue()),
        ("a.jsonl", as_jsonl([(label, "b"), ("b", label)])),
        ("a.parquet", as_parquet(y=[label, "b"], m=["b", label])),
    ):
        assert counts(read(name, data)) == {(label, "b"): 1, ("b", label): 1}


def test_quotes_can_be_ordinary_characters(read):
    seen = read("a.tsv", 'y\tm\n"a\tb\n', dialect={"quote": None})
    assert counts(seen) == {('"a', "b"): 1}


def test_a_file_without_a_header_has_numbered_columns(read):
    seen = read("a.csv", "a,b\nc,d\n", dialect={"header": False}, truth="0", models=["1"])
    assert counts(seen) == {("a", "b"): 1, ("c", "d"): 1}


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (pa.array([1, 2, 2], pa.int8()), (1, 2)),
        (pa.array([-(2**63), 2**63 - 1, 0]), (-(2**63), 0, 2**63 - 1)),
        (pa.array([2**64 - 1, 0, 0], pa.uint64()), (0, 2**64 - 1)),
        (pa.array([True, False, True]), (False, True)),
        (pa.array(["1", "01", ""]), ("", "01", "1")),
        (pa.array(["a", "b", "a"]).dictionary_encode(), ("a", "b")),
        (pa.array([1.0, 2.0, 2.0]), (1, 2)),
    ],
)
def test_values_of_a_parquet_file_keep_their_types(read, values, labels):
    seen = read("a.parquet", as_parquet(y=values, m=values))
    assert seen.labels == labels
    assert [type(label) for label in seen.labels] == [type(label) for label in labels]


@pytest.mark.parametrize(
    ("rows", "labels"),
    [([(1, 2)], (1, 2)), ([(True, False)], (False, True)), ([(10**30, 1)], (1, 10**30))],
)
def test_values_of_json_lines_keep_their_types(read, rows, labels):
    assert read("a.jsonl", as_jsonl(rows)).labels == labels


def test_numbers_and_the_same_numbers_as_text_are_one_class_with_a_finding(read):
    seen = read("a.jsonl", as_jsonl([(1, "1"), (2, "1")]))
    assert seen.labels == (1, 2)
    assert names(seen) == ["labels_converted"]


def test_several_files_are_put_under_each_other(tmp_path):
    (tmp_path / "p-1.csv").write_text("y,m\na,b\n")
    (tmp_path / "p-2.csv").write_text("m,y\na,b\n")
    (tmp_path / "p-3.jsonl").write_text('{"y": "a", "m": "a"}\n')
    expected = {("a", "b"): 1, ("b", "a"): 1}
    assert counts(op.read(str(tmp_path / "p-*.csv"), truth="y", models=["m"])) == expected
    paths = [tmp_path / "p-1.csv", tmp_path / "p-2.csv"]
    assert counts(op.read(paths, truth="y", models=["m"])) == expected


def test_files_of_other_columns_are_refused(tmp_path):
    (tmp_path / "p-1.csv").write_text("y,m\na,b\n")
    (tmp_path / "p-2.csv").write_text("y,m,n\na,b,c\n")
    with pytest.raises(DataError, match=r"same columns.*p-1\.csv.*p-2\.csv.*'n'"):
        op.read(str(tmp_path / "p-*.csv"), truth="y", models=["m"])


def test_files_that_disagree_on_types_are_refused(tmp_path):
    (tmp_path / "p-1.parquet").write_bytes(as_parquet(y=[1], m=[1]))
    (tmp_path / "p-2.parquet").write_bytes(as_parquet(y=["1"], m=["1"]))
    with pytest.raises(DataError, match=r"'y' contains whole numbers in .* and text in"):
        op.read(str(tmp_path / "p-*.parquet"), truth="y", models=["m"])


@pytest.mark.parametrize("data", [as_csv(TABLE), as_jsonl(TABLE)])
def test_streams_are_read(data):
    for stream in (io.StringIO(data), io.BytesIO(packed(data.encode()))):
        assert counts(op.read(stream, truth="y", models=["m"])) == COUNTS


def test_standard_input_is_read(monkeypatch):
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BytesIO(as_csv(TABLE).encode()), encoding="utf-8")
    )
    assert counts(op.read("-", truth="y", models=["m"])) == COUNTS


def test_models_can_be_renamed_or_left_to_be_found(read):
    data = "id,y,m1,m2\n1,a,a,b\n2,b,b,b\n"
    assert read("a.csv", data, models={"BERT": "m1", "truth": "m2"}).models == ("BERT", "truth")
    assert read("a.csv", data, models=None, id="id").models == ("m1", "m2")


@pytest.mark.parametrize(
    ("where", "n"),
    [
        ({"c": "DE"}, 2),
        ({"c": ["DE", "FR"]}, 3),
        ({"c": "DE", "year": 2025}, 1),
        ({"c": "DE", "year": ["2025", "2026"]}, 2),
        ({"c": "x' OR '1'='1"}, 0),
        ({"c": []}, 0),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_rows_are_chosen_by_values(read, where, n, kind):
    columns = {
        "y": list("abab"),
        "m": list("aabb"),
        "c": ["DE", "FR", "DE", "IT"],
        "year": [2025, 2025, 2026, 2026],
    }
    rows = list(zip(*columns.values(), strict=True))
    data = {
        "csv": "y,m,c,year\n" + "".join(",".join(map(str, row)) + "\n" for row in rows),
        "jsonl": "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows),
        "parquet": as_parquet(**columns),
    }[kind]
    if n:
        assert read(f"a.{kind}", data, where=where).n == n
    else:
        with pytest.raises(DataError, match="no rows left after where"):
            read(f"a.{kind}", data, where=where)


# What is missing


MISSING = {
    "a.jsonl": '{"y": 1, "m": 1}\n{"y": 1, "m": null}\n{"y": 2}\n{"y": 1, "m": 2}\n',
    "a.parquet": as_parquet(y=[1, 1, 2, 1], m=[1, None, None, 2]),
    "b.parquet": as_parquet(y=[1, 1, 2, 1], m=pa.array([1.0, float("nan"), None, 2.0])),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_labels_are_refused_with_their_first_row(read, name):
    words = r"'m' has no value in 2 of 4 rows, the first in rows 2 and 3 of"
    with pytest.raises(DataError, match=words):
        read(name, MISSING[name])


@pytest.mark.parametrize("name", MISSING)
def test_missing_labels_are_dropped_and_counted_if_asked(read, name):
    seen = read(name, MISSING[name], on_null="drop")
    assert counts(seen) == {(1, 1): 1, (1, 2): 1}
    dropped = next(finding for finding in seen.findings if finding.name == "null_rows_dropped")
    assert dropped.level == "warning"
    assert dropped.message.startswith("Dropped 2 of 4 rows")


def test_the_row_of_a_missing_label_is_that_of_the_file_whatever_is_chosen(read):
    data = as_parquet(y=[1, 1, 1], m=[None, 1, None], c=["x", "y", "y"])
    with pytest.raises(DataError, match=r"1 of 2 rows, the first in row 3 of"):
        read("a.parquet", data, where={"c": "y"})


def test_nothing_left_is_refused(read):
    with pytest.raises(DataError, match="no row with a value"):
        read("a.parquet", as_parquet(y=["a"], m=pa.array([None], pa.string())), on_null="drop")


# What is refused


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.csv", "", r"a\.csv is empty"),
        ("a.jsonl", "", r"a\.jsonl is empty"),
        ("a.csv.gz", packed(b""), "no rows"),
        ("a.csv", "y,m\n", "no rows"),
        ("a.csv", "\n\n", "no rows"),
        ("a.jsonl", "\n", "no rows"),
        (
            "a.parquet",
            as_parquet(y=pa.array([], pa.string()), m=pa.array([], pa.string())),
            "no rows",
        ),
        ("a.csv", "y,m,y\na,b,c\n", r"2 columns named 'y'.*'header': False"),
        ("a.csv", "y,m\na,b\nc\n", r"line 3 has 1: 'c'"),
        ("a.csv", "y,m\na,b\n\nc,d,e\n", r"line 4 has 3: 'c,d,e'"),
        ("a.csv", "y,m\na,b\nc,d,\n", r"line 3 has 3: 'c,d,'"),
        ("a.csv", 'y,m\na,b\nc,d,""\n', r"line 3 has 3: 'c,d,'"),
        ("a.csv", 'y,m\n"a",b\nc,d,', r"line 3 has 3"),
        ("a.csv", 'y,m\na,b\n"c\nd,e\n', r"begins on line 3 has an unclosed quote"),
        ("a.csv", 'y,m\na,b\n"c"d,e\n', r"line 3: text follows a closing quote"),
        ("a.csv", "y,m\na,b\nc\0,d\n", r"zero byte in line 3"),
        (
            "a.csv",
            "y,m\na,b\ncaf\xe9,d\n".encode("latin-1"),
            r"line 3 has the invalid byte 0xe9.*latin-1",
        ),
        ("a.csv", as_csv(TABLE).encode("utf-16"), r"'encoding': 'utf-16'"),
        ("a.csv", as_csv(TABLE).encode("utf-16-le"), r"'encoding': 'utf-16'"),
        ("a.jsonl", as_jsonl(TABLE).encode("utf-16"), r"'encoding': 'utf-16'"),
        ("a.jsonl", '{"y": "é", "m": 1}'.encode("latin-1"), r"line 1 has the invalid byte 0xe9"),
        ("a.jsonl", '{"y": 1, "m": 1}\n{"y": 1,\n', r"line 2 is not JSON"),
        ("a.jsonl", '{"y": 1, "m": 1}\n[1]\n', r"got '\[1\]' in line 2"),
        ("a.jsonl", '{"y": 1, "m": 1, "m": 2}\n', r"line 1 is not JSON: the key 'm' occurs twice"),
        ("a.json", '[{"y": 1, "m": 1}]', "one object per line"),
        ("a.jsonl", '{"y": 1, "m": [1]}\n', r"'m' contains \[1\]"),
        ("a.jsonl", '{"y": 1, "m": "x"}\n{"y": 1, "m": 1}\n', "mixes labels"),
        ("a.jsonl", '{"y": 1, "m": Infinity}\n', "infinite"),
        ("a.csv", as_parquet(y=[1], m=[1]), "really a parquet file"),
        ("a.csv", b"PK\x03\x04rest", r"really a zip \(or xlsx\) file"),
        ("a.csv", packed(b"y,m\n1,1\n"), r"really a gzip file; rename it to \.gz"),
        ("a.csv.gz", b"y,m\n1,1\n", "should be a gzip file"),
        ("a.csv.gz", packed(as_csv(TABLE * 99).encode())[:-9], "damaged gzip"),
        ("a.csv.zst", b"y,m\n1,1\n", "should be a zstd file"),
        ("a.parquet", b"y,m\n1,1\n", "should be a parquet file"),
        ("a.parquet", b"PAR1" + b"\0" * 40 + b"PAR1", "cannot be read as Parquet"),
        ("a.parquet", as_parquet(y=[1] * 99, m=[1] * 99)[:-9], "cannot be read as Parquet"),
        ("a.parquet", as_parquet(y=[0.5], m=[1]), r"'y' contains 0\.5, which is not a label.*rmse"),
        ("a.parquet", as_parquet(y=[1], m=[float("inf")]), "infinite"),
        ("a.csv", "y,m\n1,0.73\n0,0.1\n", r"'m' contains '0\.\d+', which looks like a score"),
        ("a.parquet", as_parquet(y=pa.array([0], pa.timestamp("s")), m=[1]), "TIMESTAMP"),
        ("a.parquet", as_parquet(y=[b"a"], m=[1]), "BLOB"),
        ("a.parquet", as_parquet(y=[True], m=["yes"]), "True/False"),
        ("a.parquet", as_parquet(y=[1], m=["x"]), "contains text"),
    ],
)
def test_bad_data_are_refused_by_name(read, name, data, message):
    with pytest.raises(DataError, match=message) as caught:
        read(name, data)
    assert "duckdb" not in str(caught.value).lower()


def test_a_damaged_check_sum_of_gzip_is_noticed(read):
    data = bytearray(packed(as_csv(TABLE).encode()))
    data[-8] ^= 1
    with pytest.raises(DataError, match="damaged gzip"):
        read("a.csv.gz", bytes(data))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truth": "Y"}, r"no column 'Y' in .*a\.csv; did you mean 'y'\? Columns: 'y', 'm'"),
        ({"truth": "label"}, r"no column 'label'.*'header': False"),
        ({"truth": None}, "pass the column of the true labels"),
        ({"models": "m"}, r"\['bert', 'gpt'\]"),
        ({"models": []}, "at least one"),
        ({"models": ["m", "m"]}, "one role"),
        ({"models": ["y"]}, "one role"),
        ({"models": ["n"]}, "no column 'n'"),
        ({"where": {"n": 1}}, "no column 'n'"),
        ({"where": "n = 1"}, "values to keep"),
        ({"where": {"m": {}}}, "got dict"),
        ({"where": {"m": True}}, "contains text"),
        ({"id": "n"}, "no column 'n'"),
        ({"label": "m"}, "id= and label="),
        ({"label": "m", "id": "y"}, "with one table"),
        ({"on_null": "ignore"}, "unknown on_null"),
        ({"on_missing": "ignore"}, "unknown on_missing"),
        ({"format": "xlsx"}, "unknown format"),
        ({"dialect": {"separator": ", "}}, "one character"),
        ({"dialect": {"quote": "ab"}}, "one character"),
        ({"dialect": {"header": 1}}, "header must be"),
        ({"dialect": {"encoding": "klingon"}}, "unknown encoding"),
        ({"dialect": {"delimiter": ";"}}, "unknown part of dialect 'delimiter'"),
        ({"dialect": ";"}, "dialect must be a mapping"),
    ],
)
def test_bad_arguments_are_refused(read, options, message):
    with pytest.raises(UsageError, match=message):
        read("a.csv", as_csv(TABLE), **options)


def test_probabilities_are_told_from_labels(read):
    with pytest.raises(UsageError, match="probabilities"):
        read("a.parquet", as_parquet(y=[1], m=[[0.2, 0.8]]))


def test_fractions_that_are_the_true_classes_are_labels(read):
    assert read("a.csv", "y,m\n3.5,4.5\n4.5,4.5\n").labels == ("3.5", "4.5")


def test_repeated_items_are_refused(read):
    data = "doc,y,m\na,x,x\nb,x,x\na,x,x\n"
    with pytest.raises(DataError, match=r"1 rows repeat an id in 'doc', e\.g\. 'a' \(2 times\)"):
        read("a.csv", data, id="doc")
    assert read("a.csv", data).n == 3


def test_what_is_no_table_of_classes_is_refused(read, monkeypatch):
    monkeypatch.setattr(group_by, "MOST_CELLS", 5)
    with pytest.raises(ResourceError, match="more than 5 different combinations"):
        read("a.csv", as_csv([(f"a{row}", "b") for row in range(7)]))
    with pytest.raises(DataError, match="scores"):
        read("a.csv", as_csv([("1", f"0.{row}1") for row in range(7)]))


@pytest.mark.parametrize("what", ["folder", "pipe", "loop", "device"])
def test_what_is_no_file_is_refused_at_once(tmp_path, what):
    path = tmp_path / "a.csv"
    if what == "folder":
        path.mkdir()
    elif sys.platform == "win32":
        pytest.skip("there are only files and folders")
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "loop":
        path.symlink_to(path)
    else:
        path = "/dev/zero"
    with pytest.raises(DataError):
        op.read(path, truth="y", models=["m"])


def test_a_file_that_is_not_there_is_refused_with_the_nearest_name(tmp_path):
    (tmp_path / "preds.csv").write_text("y,m\na,b\n")
    with pytest.raises(UsageError, match=r"did you mean 'preds\.csv'"):
        op.read(tmp_path / "perds.csv", truth="y")
    with pytest.raises(UsageError, match="no file matches"):
        op.read(str(tmp_path / "*.tsv"), truth="y")


@pytest.mark.parametrize("source", [3, None, [], {"gold": "a.csv"}])
def test_what_is_no_source_is_refused(source):
    with pytest.raises(UsageError):
        op.read(source, truth="y")


def test_a_file_that_changes_meanwhile_is_refused(tmp_path):
    from outperform.io.formats import Dialect
    from outperform.io.paths import find_files

    path = tmp_path / "a.csv"
    path.write_text("y,m\na,b\n")
    (file,) = find_files(path, Dialect(), folder=str(tmp_path))
    file.refuse_changes()
    path.write_text("y,m\na,b\nc,d\n")
    with pytest.raises(DataError, match="changed while it was read"):
        file.refuse_changes()


def test_counts_are_those_of_many_rows_across_blocks(tmp_path):
    rng = np.random.default_rng(1)
    classes = np.array(["a", "b,c", 'd"e', "f\ng", ""])
    rows = classes[rng.integers(0, 5, size=(300_000, 2))]
    with open(tmp_path / "a.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(("y", "m"))
        writer.writerows(rows.tolist())
    seen = op.read(tmp_path / "a.csv", truth="y", models=["m"], empty_is_label=True)
    assert counts(seen) == Counter(map(tuple, rows.tolist()))


# Against a counter written with Python's csv and json modules only


def counted_csv(data, separator=","):
    """Count a CSV file, or raise if there is anything odd about it."""
    text = data.decode("utf-8-sig")
    if "\0" in text:
        raise ValueError("zero byte")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    header, *rows = [row for row in reader if row]
    if len(set(header)) != len(header) or any(len(row) != len(header) for row in rows):
        raise ValueError("ragged")
    y, m = header.index("y"), header.index("m")
    return Counter((row[y], row[m]) for row in rows)


def outcome(path, **options):
    """Return the counts of a file, or None where it was refused with a typed error."""
    try:
        return counts(op.read(path, truth="y", models=["m"], empty_is_label=True, **options))
    except OutperformError:
        return None


PIECES = [",", '"', '""', "\n", "\r\n", "\r", " ", "a", "b", "'", "\\", "#", "\t", ";", "1", "é"]
PIECES += ["NA", "\u2028", "\ufeff", "\x85", "\x1c", "\0"]
HEADERS = [
    "y,m\n",
    "y,m\r\n",
    "m,y\r",
    '"y","m"\n',
    "\ufeffy,m\n",
    "z,y,m\n",
    "\ny,m\n",
    '"y\n",y,m\n',
]
VALUES = st.text(st.sampled_from(["a", "b", " ", ",", '"', "\n", "\r", "é", "0", "\t"]), max_size=4)
ROWS = st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=30)


@settings(max_examples=2 * FEW)
@given(head=st.sampled_from(HEADERS), body=st.lists(st.sampled_from(PIECES), max_size=25))
def test_any_text_gives_the_counts_of_the_csv_module_or_is_refused(tmp_path_factory, head, body):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    data = (head + "".join(body)).encode("utf-8")
    path.write_bytes(data)
    found = outcome(path)
    if found is not None:
        assert found == counted_csv(data)


@settings(max_examples=FEW)
@given(rows=ROWS, kind=st.sampled_from(["csv", "tsv", "jsonl", "parquet"]), pack=st.booleans())
def test_random_tables_give_the_same_counts_through_every_reader(
    tmp_path_factory, rows, kind, pack
):
    truth, predicted = map(list, zip(*rows, strict=True))
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t" if kind == "tsv" else ",")
    writer.writerows([("y", "m"), *rows])
    data = {
        "csv": out.getvalue().encode(),
        "tsv": out.getvalue().encode(),
        "jsonl": as_jsonl(rows).encode(),
        "parquet": as_parquet(y=truth, m=predicted),
    }[kind]
    pack = pack and kind != "parquet"
    path = tmp_path_factory.getbasetemp() / f"random.{kind}{'.gz' * pack}"
    path.write_bytes(packed(data) if pack else data)
    assert outcome(path) == Counter(rows)


NUMBERS = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=30
)


@settings(max_examples=FEW // 2)
@given(rows=NUMBERS, kind=st.sampled_from(["jsonl", "parquet"]))
def test_random_numbers_stay_numbers(tmp_path_factory, rows, kind):
    truth, predicted = map(list, zip(*rows, strict=True))
    data = as_jsonl(rows).encode() if kind == "jsonl" else as_parquet(y=truth, m=predicted)
    path = tmp_path_factory.getbasetemp() / f"numbers.{kind}"
    path.write_bytes(data)
    assert outcome(path) == Counter(rows)


def test_a_parquet_file_cut_anywhere_is_refused(tmp_path):
    data = as_parquet(y=["a", "b"] * 50, m=["a", "a"] * 50)
    path = tmp_path / "a.parquet"
    for end in np.linspace(1, len(data) - 1, 40, dtype=int):
        path.write_bytes(data[:end])
        with pytest.raises(DataError):
            op.read(path, truth="y", models=["m"])


# Confusion matrices


def test_confusion_matrices_are_joined_by_name_of_class(tmp_path):
    (tmp_path / "old.csv").write_text(",ham,spam\nham,50,3\nspam,7,40\n")
    (tmp_path / "new.csv").write_text("truth;spam;ham\nham;4;49\nspam;45;2\n")
    seen = read_confusions({name: tmp_path / f"{name}.csv" for name in ("old", "new")})
    assert seen.confusion("old").tolist() == [[50, 3], [7, 40]]
    assert seen.confusion("new").tolist() == [[49, 4], [2, 45]]
    assert "confusion_reordered" in names(seen)


def test_a_count_of_any_size_is_kept():
    found = read_confusion(io.StringIO(f",a\na,{2**63 + 1}\n"))
    assert found.counts.tolist() == [[2**63 + 1]]


@each(
    ("data", "message"),
    [
        (",a,b\na,1,2\n", "square; got 1 rows and 2 columns"),
        (",a,b\na,1,2\nc,3,4\n", "same classes.*'b', 'c'"),
        (",a,a\na,1,2\nb,3,4\n", "'a' occurs twice in the first row"),
        (",a,b\na,1,2\nb,3,4.5\n", "got '4.5' for the true class 'b' and the predicted class 'b'"),
        (",a,b\na,1,-2\nb,3,4\n", "got '-2'"),
        (",a,b\na,1,nan\nb,3,4\n", "got 'nan'"),
        (",a,b\na,1\nb,3,4\n", "line 2 has 2"),
    ],
)
def test_bad_confusion_matrices_are_refused(data, message):
    with pytest.raises(DataError, match=message):
        read_confusion(io.StringIO(data))


def test_confusion_matrices_of_other_classes_are_refused():
    one, two = io.StringIO(",a\na,1\n"), io.StringIO(",b\nb,1\n")
    with pytest.raises(DataError, match="same classes"):
        read_confusions({"one": one, "two": two})


def test_progress_goes_up_to_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "_EVERY", 0.002)
    path = str(tmp_path / "many.parquet")
    rows = "SELECT 'c' || i % 50 AS y, 'c' || i % 49 AS m FROM range(1_000_000) t(i)"
    duckdb.sql(rows).write_parquet(path)
    seen = []
    with on_progress(lambda *now: seen.append(now)):
        found = op.read([path] * 8, truth="y", models=["m"])
    assert found.n == 8_000_000
    assert seen
    assert all(0 < done <= total == 100 for done, total in seen)
    assert seen == sorted(seen)
