"""Files that are deep, wide, endless or strangely named: counted, or refused with a reason."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import random
import sys
import time
from pathlib import Path

import pytest

import outperform as op
from outperform.cli.main import main
from outperform.errors import DataError, OutperformError, ResourceError, UsageError
from outperform.io import compression
from outperform.io.columnar import refuse_twins
from tests.loops import each

READ = {"truth": "label", "models": ["old", "new"]}
OPTIONS = ["--truth", "label", "--model", "old", "--model", "new"]
ROW = '{"label":"a","old":"a","new":"b"}\n'
BEYOND = 1_100  # rows, more than are looked at for keys


# JSON Lines beyond the rows that are looked at


def behind(tmp_path: Path, line: str) -> Path:
    path = tmp_path / "preds.jsonl"
    path.write_bytes((ROW * BEYOND + line + "\n" + ROW).encode("utf-8", "surrogatepass"))
    return path


def with_label(value: str) -> str:
    return f'{{"label":{value},"old":"a","new":"b"}}'


@each(
    ("line", "message"),
    [
        (with_label("[" * 100_000 + "]" * 100_000), r"jsonl: line 1101 is nested too deeply"),
        (
            with_label('{"a":' * 50_000 + "1" + "}" * 50_000),
            r"jsonl: line 1101 is nested too deeply",
        ),
        (with_label("9" * 5_000), r"jsonl: line 1101 has a number of more than 4300 digits"),
        (with_label(str(2**70)), "mixes labels of types int and text"),
        (with_label(str(10**400)), "mixes labels of types int and text"),
        (with_label("1e400"), "infinite number"),
        (with_label("-Infinity"), "infinite number"),
        (with_label("NaN"), "no value in 1 of 1102 rows, the first in row 1101"),
        (with_label('"\\ud800"'), r"preds.jsonl.*surrogate"),
        (with_label('{"a": 1}'), "labels must be text"),
        ('{"label":"x","label":"y","old":"a","new":"b"}', "line 1101.*'label' occurs twice"),
        ('{"Label":"x","old":"a","new":"b"}', "no value in 1 of 1102 rows"),
        ('["a","a","b"]', "in line 1101"),
        ("3", "got '3' in line 1101"),
        ("null", "no value in 1 of 1102 rows"),
        ("\ufeff" + ROW.strip(), "line 1101 is not JSON"),
        (ROW.strip() + ROW.strip(), "line 1101 is not JSON"),
        ('{"label":"a","old"', "line 1101 is not JSON"),
        ("\udcff" + ROW.strip(), "must be text in UTF-8, but line 1101"),
    ],
)
def test_a_bad_line_is_refused_with_its_place(tmp_path, capsys, line, message):
    path = behind(tmp_path, line)
    with pytest.raises(DataError, match=message):
        op.read(path, **READ)
    assert main(["count", str(path), *OPTIONS]) == 3
    assert capsys.readouterr().err.startswith("outperform: ")


def test_keys_that_differ_in_case_are_different_keys(tmp_path):
    for line in (
        '{"label":"x","Label":"y","old":"a","new":"b"}',
        '{"LABEL":"y","label":"x","old":"a","new":"b"}',
    ):
        seen = op.read(behind(tmp_path, line), **READ)
        assert (seen.n, seen.labels) == (BEYOND + 2, ("a", "b", "x"))


def test_what_is_not_asked_for_may_be_anything(tmp_path):
    for value in ("[" * 100_000 + "]" * 100_000, "9" * 5_000, "1e400"):
        line = ROW.strip()[:-1] + f',"more":{value}}}'
        assert op.read(behind(tmp_path, line), **READ).n == BEYOND + 2
    assert op.read(behind(tmp_path, "  "), **READ).n == BEYOND + 1


def test_half_a_character_is_no_key(tmp_path):
    path = tmp_path / "preds.jsonl"
    path.write_text('{"\\ud800":1,' + ROW[1:], encoding="utf-8")
    with pytest.raises(DataError, match="half of a surrogate pair"):
        op.read(path, **READ)


# Many columns


def wide(path: Path, number: int) -> Path:
    """Write three rows of many columns."""
    row = {**{f"column_{place}": "v" for place in range(number)}, **json.loads(ROW)}
    if path.suffix == ".csv":
        path.write_text(
            "".join(",".join(one) + "\n" for one in (row, *[row.values()] * 3)), encoding="utf-8"
        )
    elif path.suffix == ".jsonl":
        path.write_text((json.dumps(row) + "\n") * 3, encoding="utf-8")
    else:
        pyarrow = pytest.importorskip("pyarrow")
        table = pyarrow.table({name: [value] * 3 for name, value in row.items()})
        if path.suffix == ".arrow":
            with pyarrow.ipc.new_file(str(path), table.schema) as out:
                out.write_table(table)
        else:
            import pyarrow.parquet

            pyarrow.parquet.write_table(table, path)
    return path


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow"])
def test_time_grows_as_the_number_of_columns_does(tmp_path, kind):
    """Four times the columns took twelve times as long when it grew with the square.

    The shortest of three readings is what the reading needs; what is longer waited for others.
    """
    assert op.read(wide(tmp_path / f"few.{kind}", 1), **READ).n == 3
    shortest = {}
    for number in (4_000, 16_000):
        path = wide(tmp_path / f"many-{number}.{kind}", number)
        seconds = []
        for _ in range(3):
            started = time.process_time()
            assert op.read(path, **READ).n == 3
            seconds.append(time.process_time() - started)
        shortest[number] = min(seconds)
    assert shortest[16_000] < 8 * shortest[4_000]


def test_ids_that_repeat_are_seen_among_many_columns(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    others = ", ".join(f"1 AS c{place}" for place in range(1_200))
    path = tmp_path / "preds.parquet"
    duckdb.sql(
        f"COPY (SELECT 'a' AS label, 'a' AS old, 'b' AS new, i % 20 AS user_id, {others} "
        f"FROM range(60) AS t(i)) TO '{path}' (FORMAT parquet)"
    )
    assert [one.column for one in op.read(path, **READ)._repeated] == ["user_id"]
    assert op.read(path, truth="c7", models=["c3"]).labels == (1,)


def test_names_that_occur_twice_are_found_at_once():
    names = [f"column_{place}" for place in range(100_000)]
    started = time.process_time()
    refuse_twins(names, "preds.csv")
    with pytest.raises(DataError, match="2 columns named 'column_7'"):
        refuse_twins([*names, "column_7"], "preds.csv")
    assert time.process_time() - started < 5  # it was minutes


# Names and encodings


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="names are UTF-8 there")
def test_a_name_need_not_be_utf8(tmp_path, capsys):
    name = os.path.join(os.fsencode(tmp_path), b"ok\xff.csv")
    with open(name, "wb") as stream:
        stream.write(b"label;old;new\na;a;b\nb;b;b\n")
    path = os.fsdecode(name)
    seen = op.read(path, **READ)
    assert seen.n == 2
    assert "ok\\xff.csv" in seen.findings[0].message
    assert op.read(tmp_path, **READ).n == 2
    assert op.read(os.fsdecode(os.path.join(os.fsencode(tmp_path), b"*.csv")), **READ).n == 2
    assert main(["count", path, *OPTIONS]) == 0
    json.loads(capsys.readouterr().out)
    os.truncate(name, 0)
    with pytest.raises(DataError, match="empty"):
        op.read(path, **READ)


@each(
    "encoding",
    [
        *("rot13", "hex", "base64", "zlib", "bz2", "quopri", "uu", "idna", "punycode"),
        *("undefined", "nonsense", "", "a\0b", 7, None),
    ],
)
def test_an_encoding_must_be_one_of_text(tmp_path, encoding):
    path = tmp_path / "preds.csv"
    path.write_text("label,old,new\na,a,b\n", encoding="utf-8")
    with pytest.raises(UsageError, match="encoding"):
        op.read(path, dialect={"encoding": encoding}, **READ)
    if encoding == "rot13":
        assert main(["count", str(path), *OPTIONS, "--encoding", encoding]) == 2


# Room


@pytest.mark.parametrize("options", [{}, {"dialect": {"encoding": "latin-1"}}, {"stream": True}])
def test_a_full_temporary_folder_is_not_the_fault_of_the_data(tmp_path, options):
    resource = pytest.importorskip("resource")
    path = tmp_path / "preds.csv"
    # Blanks beside quotes, so that the file is written anew.
    path.write_text("label,old,new\n" + 'a, "a",b\n' * 50_000, encoding="utf-8")
    source = path.open("rb") if options.pop("stream", False) else path
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(ResourceError, match="temporary folder"):
            op.read(source, **READ, **options)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        if source is not path:
            source.close()


@each("name", ["preds.csv.gz", "preds.jsonl.gz", "preds.csv.zst"])
@each("options", [{}, {"dialect": {"encoding": "latin-1"}}])
def test_what_unpacks_to_far_more_than_data_do_is_refused(tmp_path, monkeypatch, name, options):
    monkeypatch.setattr(compression, "_MOST", 1 << 20)
    line = ROW if "jsonl" in name else "a,a,b\n"
    text = ("" if "jsonl" in name else "label,old,new\n") + line * (2_000_000 // len(line))
    path = tmp_path / name
    if name.endswith("gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        pyarrow = pytest.importorskip("pyarrow")
        with pyarrow.output_stream(str(path), compression="zstd") as stream:
            stream.write(text.encode())
    with pytest.raises(DataError, match=r"unpacks to more than 1 MiB.*unpack it before"):
        op.read(path, **READ, **options)
    monkeypatch.undo()
    assert op.read(path, **READ, **options).n == 2_000_000 // len(line)


# Anything


def _strange(random_: random.Random) -> str:
    """Return a value of JSON, or what only looks like one."""
    depth = random_.choice([1, 50, 900, 5_000])
    return random_.choice(
        [
            "[" * depth + "]" * random_.choice([depth, depth - 1]),
            '{"k":' * depth + "0" + "}" * depth,
            "9" * random_.choice([1, 20, 400, 5_000]),
            f"1e{random_.choice([2, 308, 309, 10**9])}",
            random_.choice(
                ['"\\ud800"', '"\\u0000"', '"\x00"', '"\ufeff"', '"é"', '"' + "x" * 9_999]
            ),
            random_.choice(["NaN", "-Infinity", "null", "true", "", "nul", "'a'", "0x1", "01"]),
        ]
    )


@each("seed", range(24))
def test_whatever_a_file_holds_the_error_is_one_of_ours(tmp_path, seed):
    random_ = random.Random(seed)
    kind = random_.choice(["jsonl", "csv"])
    before = random_.choice([0, 1, 999, 1_000, 1_001, 2_500])
    width = random_.choice([0, 1, 300])
    others = {f"c{place}": "v" for place in range(width)}
    rows = [{"label": "a", "old": "a", "new": "b", **others}] * (before + 3)
    if kind == "jsonl":
        lines = [json.dumps(row) for row in rows]
        key = random_.choice(["label", "new", "more", "Label", "\\ud800"])
        lines[before] = lines[before][:-1] + f',"{key}":{_strange(random_)}}}'
        if random_.random() < 0.5:
            lines[before] = lines[before].replace('"label": "a"', f'"label": {_strange(random_)}')
    else:
        lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
        lines[before + 1] = random_.choice([_strange(random_), lines[1] + _strange(random_)])
    path = tmp_path / f"preds.{kind}"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with contextlib.suppress(OutperformError):
        assert before + 2 <= op.read(path, **READ).n <= before + 4
