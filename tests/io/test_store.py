"""Folders of counts that grow: what is new is counted once, and nothing twice."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import outperform as op
from outperform import _files
from outperform.errors import DataError, UsageError
from outperform.io import store
from outperform.io.addresses import Storage
from outperform.io.counted_files import part_file
from outperform.io.request import Request

pytest.importorskip("duckdb")
LABELS = ("ham", "news", "spam")


def day(path, seed, n=60, labels=LABELS):
    """Write rows that follow from the seed, and return them."""
    source = random.Random(seed)
    rows = [tuple(source.choice(labels) for _ in range(3)) for _ in range(n + seed)]
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["label,old,new", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return rows


def counted(rows):
    truth, old, new = map(list, zip(*rows, strict=True))
    return op.Outcomes.from_labels(truth, {"old": old, "new": new})


def update(folder, *sources, recount=(), verify=False, **asked):
    request = Request(**{"truth": "label", "models": ["old", "new"]} | asked)
    found = store.update(
        folder, [str(one) for one in sources], request, version="1", recount=recount, verify=verify
    )
    return [part.name for part in found.counted]


def asked_of(storage, folder, *sources, **asked):
    return update(folder, *sources, storage_options=storage, **asked)


@pytest.fixture
def days(tmp_path):
    """Return a folder of three days, the folder of their counts, and all rows."""
    rows = [row for k, name in enumerate("abc") for row in day(tmp_path / "in" / f"{name}.csv", k)]
    assert update(tmp_path / "out", tmp_path / "in") == ["a.csv", "b.csv", "c.csv"]
    return tmp_path / "in", tmp_path / "out", rows


def test_only_what_is_new_is_counted_and_the_sum_is_that_of_all_rows(days):
    source, folder, rows = days
    assert op.read(folder) == counted(rows)
    assert update(folder, source) == []
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    rows += day(source / "d.csv", 4)
    assert update(folder, source) == ["d.csv"]
    after = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert {**after, **before} == after
    assert op.read(folder) == counted(rows)
    assert op.read(source, truth="label", models=["old", "new"]) == counted(rows)


def test_what_was_counted_is_not_opened_again(days, monkeypatch):
    source, folder, _ = days
    opened = []
    monkeypatch.setattr(store, "_hash", lambda file, folder: opened.append(file.name))
    assert update(folder, source) == []
    assert opened == []


def test_a_part_knows_where_it_came_from(days):
    source, folder, rows = days
    first, outcomes = gzip.decompress((folder / "b.csv.jsonl.gz").read_bytes()).split(b"\n")
    told = json.loads(first)
    ((name, size, marker, digest),) = told["files"]
    assert (told["name"], told["source"], told["items"]) == ("b.csv", str(source / "b.csv"), 61)
    stat = (source / "b.csv").stat()
    times = f"{stat.st_mtime_ns}:{stat.st_ino}:{stat.st_ctime_ns}"
    assert (name, size, marker) == ("b.csv", stat.st_size, times)
    assert digest.startswith("blake2b:")
    assert told["time"][:2] == "20"
    assert told["version"] == "1"
    assert op.Outcomes.from_json(outcomes) == counted(rows[60:121])
    assert told["outcomes"] == json.loads(outcomes)["sha256"]
    (known,) = op.read(folder / "b.csv.jsonl.gz").sources
    assert known.name == str(source / "b.csv")


def test_files_folders_and_patterns_name_a_partition_alike(days, monkeypatch):
    source, folder, _ = days
    assert update(folder, source / "*.csv") == []
    assert update(folder, *sorted(source.iterdir())) == []
    monkeypatch.chdir(source)
    assert update(folder, "a.csv", "b.csv") == []
    assert update(folder, "*.csv") == []
    assert update(folder, ".") == []


def test_a_hive_partition_is_all_its_files(tmp_path):
    rows = []
    for number, (one, two) in enumerate((("1", "DE"), ("1", "FR"), ("2", "DE"))):
        for part in range(2):
            place = tmp_path / "in" / f"day={one}" / f"country={two}" / f"{part}.csv"
            rows += day(place, 2 * number + part)
    folder = tmp_path / "out"
    assert update(folder, tmp_path / "in" / "day=1") == ["day=1/country=DE", "day=1/country=FR"]
    assert update(folder, tmp_path / "in" / "day=*" / "*" / "*.csv") == ["day=2/country=DE"]
    assert update(folder, tmp_path / "in") == []
    assert op.read(folder) == counted(rows)
    rows += day(tmp_path / "in" / "day=2" / "country=DE" / "2.csv", 9)
    with pytest.raises(DataError, match=r"'day=2/country=DE' has changed .*\(3 files"):
        update(folder, tmp_path / "in")
    update(folder, tmp_path / "in", recount=["day=2/country=DE"])
    assert op.read(folder) == counted(rows)


def test_slices_by_what_folders_tell_add_up(tmp_path):
    for number in range(3):
        day(tmp_path / "in" / f"day={number}" / "a.csv", number)
    update(tmp_path / "out", tmp_path / "in", by="day")
    whole = op.read(tmp_path / "in", truth="label", models=["old", "new"], by="day")
    assert op.read(tmp_path / "out") == whole


@pytest.mark.parametrize("where", ["in/d.csv", "in/sub/a.csv", "elsewhere/d.csv"])
def test_the_same_bytes_under_another_name_are_refused(days, tmp_path, where):
    source, folder, rows = days
    copy = tmp_path / where
    copy.parent.mkdir(exist_ok=True)
    shutil.copy(source / "b.csv", copy)
    told = (
        rf"{copy} contains the same bytes as {source / 'b.csv'}, which was counted at .* as 'b.csv'"
    )
    with pytest.raises(DataError, match=told):
        update(folder, copy if "else" in where else source)
    assert op.read(folder) == counted(rows)


def test_two_new_files_of_the_same_bytes_are_refused(days):
    source, folder, rows = days
    extra = day(source / "d.csv", 7)
    shutil.copy(source / "d.csv", source / "e.csv")
    with pytest.raises(DataError, match=r"e\.csv contains the same bytes as .*d\.csv"):
        update(folder, source)
    assert op.read(folder) == counted(rows + extra)


def test_one_file_of_a_partition_that_was_counted_is_refused(tmp_path):
    for part in range(2):
        day(tmp_path / "in" / "day=1" / f"{part}.csv", part)
    update(tmp_path / "out", tmp_path / "in")
    shutil.copy(tmp_path / "in" / "day=1" / "1.csv", tmp_path / "x.csv")
    with pytest.raises(DataError, match=r"x\.csv contains the same bytes as .*day=1/1\.csv"):
        update(tmp_path / "out", tmp_path / "x.csv")
    shutil.copytree(tmp_path / "in" / "day=1", tmp_path / "new" / "day=2")
    shutil.copy(tmp_path / "in" / "day=1" / "1.csv", tmp_path / "new" / "day=2" / "2.csv")
    with pytest.raises(
        DataError, match=r"1\.csv and 2\.csv in the partition 'day=2' contain the same"
    ):
        update(tmp_path / "other", tmp_path / "new")


def test_two_updates_that_did_not_see_each_other_are_found_when_read(days, tmp_path):
    source, folder, _ = days
    shutil.copy(source / "b.csv", tmp_path / "x.csv")
    update(tmp_path / "other", tmp_path / "x.csv")
    shutil.copy(tmp_path / "other" / "x.csv.jsonl.gz", folder)
    with pytest.raises(
        DataError, match=r"b\.csv\.jsonl\.gz and .*x\.csv\.jsonl\.gz both include the bytes of"
    ):
        op.read(folder)


def test_an_update_that_was_overtaken_takes_what_is_there(days, monkeypatch):
    source, folder, rows = days
    rows += day(source / "d.csv", 7)
    held = store._Counting._outcomes
    overtaken = []

    def slower(self, partition, engine):
        if not overtaken:
            overtaken.append(partition.name)
            update(folder, source)
        return held(self, partition, engine)

    monkeypatch.setattr(store._Counting, "_outcomes", slower)
    assert update(folder, source) == overtaken == ["d.csv"]
    assert op.read(folder) == counted(rows)


def test_a_changed_partition_is_refused_until_it_is_counted_again(days):
    source, folder, rows = days
    new = day(source / "b.csv", 30)
    day(source / "d.csv", 4)
    told = r"'b\.csv' has changed since it was .* and is now .*bytes\).* with recount='b\.csv'"
    with pytest.raises(DataError, match=told):
        update(folder, source)
    assert not (folder / "d.csv.jsonl.gz").exists()
    (source / "d.csv").unlink()
    with pytest.raises(UsageError, match=r"unknown partition 'b\.cvs'; did you mean 'b\.csv'"):
        update(folder, source, recount=["b.cvs"])
    assert update(folder, source, recount=["b.csv"]) == ["b.csv"]
    assert op.read(folder) == counted(rows[:60] + new + rows[121:])


def test_a_file_that_was_only_touched_did_not_change(days):
    source, folder, rows = days
    os.utime(source / "b.csv", (1, 1))
    assert update(folder, source) == []
    assert op.read(folder) == counted(rows)


def test_a_touched_file_is_hashed_once(days, monkeypatch):
    source, folder, rows = days
    os.utime(source / "b.csv", (1, 1))
    hashed = []
    real = store._hash
    monkeypatch.setattr(store, "_hash", lambda *given: hashed.append(given) or real(*given))
    for _ in range(3):
        assert update(folder, source) == []
    assert len(hashed) == 1
    assert op.read(folder) == counted(rows)


def test_a_file_rewritten_with_its_size_and_time_changed(days):
    source, folder, _ = days
    path = source / "b.csv"
    before = path.stat()
    path.write_bytes(path.read_bytes()[:-2] + b"x\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    now = path.stat()
    assert (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    with pytest.raises(DataError, match=r"'b\.csv' has changed since it was counted"):
        update(folder, source)


def test_verify_hashes_every_file(days, monkeypatch):
    source, folder, _ = days
    path = source / "b.csv"
    # As on a machine whose times cannot be trusted.
    monkeypatch.setattr(store, "_is_untouched", lambda *given: True)
    day(path, 30)
    assert update(folder, source) == []
    with pytest.raises(DataError, match=r"'b\.csv' has changed since it was counted"):
        update(folder, source, verify=True)


def test_an_edited_part_is_noticed_by_the_next_update(days):
    source, folder, _ = days
    path = next(folder.glob("b.csv*.gz"))
    line, text = gzip.decompress(path.read_bytes()).split(b"\n", 1)
    for edited in (text.replace(b"1", b"2", 1), text[:-80], b"", text + b" "):
        path.write_bytes(gzip.compress(line + b"\n" + edited))
        with pytest.raises(DataError, match="the outcomes do not match the first line"):
            update(folder, source)


def test_a_file_that_has_gone_is_named(days):
    source, folder, _ = days
    request = Request(truth="label", models=["old", "new"])

    def named(*sources):
        found = store.update(folder, [str(one) for one in sources], request, version="1")
        return [str(one) for one in found.findings]

    assert named(source) == []
    (source / "a.csv").unlink()
    (told,) = named(source)
    assert told.startswith(
        f"warning: Files that were counted no longer exist: {source / 'a.csv'}. "
    )
    assert f"delete {folder / 'a.csv.jsonl.gz'}." in told
    # Whoever names other files does not say that all are there.
    assert named(source / "b.csv") == named(f"{source}/b*.csv") == []


def test_a_file_that_has_gone_stays_counted(days):
    source, folder, rows = days
    (source / "a.csv").unlink()
    assert update(folder, source) == []
    assert op.read(folder) == counted(rows)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"truth": "old", "models": ["new"]}, "counted with truth='label'"),
        ({"models": ["old"]}, r"with models=\['new', 'old'\], but this request is with models="),
        ({"models": {"old": "new", "new": "old"}}, "models="),
        ({"where": {"label": "ham"}}, "without where, but this request is with where="),
        ({"by": "label"}, "by="),
        ({"on_null": "drop"}, "without on_null, but this request is with on_null='drop'"),
        ({"encoding": "latin-1"}, "encoding"),
    ],
)
def test_another_question_is_refused(days, other, told):
    source, folder, rows = days
    with pytest.raises(UsageError, match=f"contains counts of another request: .*{told}"):
        update(folder, source, **other)
    assert op.read(folder) == counted(rows)


def test_the_order_of_models_and_conditions_is_no_other_question(tmp_path):
    day(tmp_path / "a.csv", 1)
    kept = {"label": ["ham", "spam"]}
    update(tmp_path / "out", tmp_path / "a.csv", where=kept)
    again = {"models": ["new", "old"], "where": {"label": ("spam", "ham")}}
    assert update(tmp_path / "out", tmp_path / "a.csv", **again) == []


def test_a_partition_without_rows_is_a_part_of_no_items(tmp_path):
    rows = day(tmp_path / "in" / "a.csv", 1, labels=LABELS)
    day(tmp_path / "in" / "b.csv", 2, labels=("news", "spam"))
    update(tmp_path / "out", tmp_path / "in", where={"label": "ham"})
    assert update(tmp_path / "out", tmp_path / "in", where={"label": "ham"}) == []
    assert op.read(tmp_path / "out") == counted([row for row in rows if row[0] == "ham"])
    update(tmp_path / "none", tmp_path / "in", where={"label": "eggs"})
    with pytest.raises(DataError, match="contain no items"):
        op.read(tmp_path / "none")


def test_a_part_that_would_not_add_up_is_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"label": "ham", "old": "ham", "new": "ham"}\n')
    (tmp_path / "b.jsonl").write_text('{"label": 1, "old": 1, "new": 0}\n')
    (tmp_path / "c.jsonl").write_text('{"label": "ham", "old": "ham"}\n')
    folder = tmp_path / "out"
    asked = {"models": None}
    update(folder, tmp_path / "a.jsonl", **asked)
    with pytest.raises(
        DataError, match=r"whole numbers in the partition 'b\.jsonl' and text in 'a"
    ):
        update(folder, tmp_path / "b.jsonl", **asked)
    with pytest.raises(DataError, match=r"'c\.jsonl' has the models \['old'\], but 'a\.jsonl'"):
        update(folder, tmp_path / "c.jsonl", **asked)
    assert op.read(folder).n == 1


@pytest.mark.parametrize("name", ["Mon.csv", "mon.CSV", "jour é/тест (1).csv", "x" * 190 + ".csv"])
def test_any_name_of_a_file_names_a_part(tmp_path, name):
    rows = day(tmp_path / "in" / name, 3)
    assert update(tmp_path / "out", tmp_path / "in") == [name]
    assert update(tmp_path / "out", tmp_path / "in") == []
    assert op.read(tmp_path / "out") == counted(rows)


def test_names_that_differ_in_case_are_two_files_anywhere():
    assert part_file("a.csv").lower() != part_file("A.csv").lower()
    assert part_file("a/b.csv").lower() != part_file("a%2Fb.csv").lower()


def test_two_files_that_would_have_one_name_are_refused(tmp_path):
    for number, name in enumerate("xy"):
        day(tmp_path / name / "a.csv", number)
    with pytest.raises(
        UsageError, match=r"x/a\.csv and .*y/a\.csv would both become the partition"
    ):
        update(tmp_path / "out", tmp_path / "x" / "a.csv", tmp_path / "y" / "a.csv")
    assert update(tmp_path / "out", tmp_path / "?" / "a.csv") == ["x/a.csv", "y/a.csv"]
    with pytest.raises(UsageError, match=r"a\.csv occurs 2 times"):
        update(tmp_path / "more", tmp_path / "x" / "a.csv", tmp_path / "x" / "a.csv")


def test_other_encodings_and_packed_files_are_counted(tmp_path):
    place = tmp_path / "in"
    rows = day(place / "a.csv", 1, labels=("é", "à"))
    (place / "a.csv").write_bytes((place / "a.csv").read_text("utf-8").encode("latin-1"))
    rows += day(place / "b.csv", 2, labels=("é", "ü"))
    text = (place / "b.csv").read_text("utf-8").encode("latin-1")
    (place / "b.csv").unlink()
    (place / "b.csv.gz").write_bytes(gzip.compress(text))
    assert update(tmp_path / "out", place, encoding="latin-1") == ["a.csv", "b.csv.gz"]
    assert op.read(tmp_path / "out") == counted(rows)


@pytest.mark.parametrize("source", ["-", "postgresql://host/name"])
def test_what_has_no_partitions_is_refused(tmp_path, source):
    with pytest.raises(UsageError, match="only the files of one table can be counted by partition"):
        update(tmp_path / "out", source, **({"table": "t"} if ":" in source else {}))
    assert not (tmp_path / "out").exists()


def test_a_folder_of_other_files_is_refused(days, tmp_path):
    source, folder, _ = days
    with pytest.raises(UsageError, match=r"already has other files, such as a\.csv"):
        update(source, tmp_path / "in" / "a.csv")
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match=r"notes\.txt does not belong to these counts"):
        update(folder, source)


def repacked(path, change):
    path.write_bytes(gzip.compress(change(gzip.decompress(path.read_bytes()))))


DAMAGES = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-30]),
    "empty": lambda path: path.write_bytes(b""),
    "first line": lambda path: repacked(path, lambda data: data.replace(b"61", b"62", 1)),
    "counts": lambda path: repacked(path, lambda data: data.replace(b"[0,0,0]", b"[0,0,1]", 1)),
    "no counts": lambda path: repacked(path, lambda data: data.partition(b"\n")[0] + b"\n"),
    "others": lambda path: repacked(
        path,
        lambda data: (
            data.partition(b"\n")[0]
            + b"\n"
            + gzip.decompress(path.with_name("a.csv.jsonl.gz").read_bytes()).partition(b"\n")[2]
        ),
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_part_is_named(days, damage):
    _, folder, _ = days
    DAMAGES[damage](folder / "b.csv.jsonl.gz")
    with pytest.raises(DataError, match=r"b\.csv\.jsonl\.gz"):
        op.read(folder)


@pytest.mark.parametrize("damage", ["empty", "first line"])
def test_a_damaged_part_stops_an_update(days, damage):
    source, folder, _ = days
    DAMAGES[damage](folder / "b.csv.jsonl.gz")
    with pytest.raises(DataError, match=r"b\.csv\.jsonl\.gz"):
        update(folder, source)


def test_a_part_under_another_name_and_a_changed_question_are_refused(days):
    source, folder, _ = days
    (folder / "b.csv.jsonl.gz").rename(folder / "x.csv.jsonl.gz")
    with pytest.raises(DataError, match=r"x\.csv\.jsonl\.gz: it contains the part 'b\.csv'"):
        update(folder, source)
    path = folder / "_store.json"
    path.write_text(path.read_text().replace("label", "lable"))
    with pytest.raises(DataError, match=r"_store\.json: its content was changed"):
        update(folder, source)


def test_parts_of_two_questions_do_not_add_up(days, tmp_path):
    _, folder, _ = days
    day(tmp_path / "d.csv", 5)
    update(tmp_path / "other", tmp_path / "d.csv", where={"label": "ham"})
    shutil.copy(tmp_path / "other" / "d.csv.jsonl.gz", folder)
    with pytest.raises(DataError, match="counted for different questions"):
        op.read(folder)


# Updates that are killed


def let_run(folder, source, *words):
    script = Path(__file__).with_name("updaters.py")
    done = subprocess.run(
        [sys.executable, str(script), str(folder), str(source), *map(str, words)],
        capture_output=True,
        text=True,
        timeout=1_200,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def faults(folder, source, parts):
    """Return what is wrong with a folder after a kill, and after the next update."""
    found = []
    there = sorted(folder.glob("*.jsonl.gz")) if folder.exists() else []
    try:
        for path in there:
            if op.read(path) != parts[path.name.removesuffix(".jsonl.gz")]:
                found.append(f"{path} is another part")
        update(folder, source)
        whole = list(parts.values())
        if op.read(folder) != sum(whole[1:], start=whole[0]):
            found.append(f"{folder} does not add up")
    except DataError as error:
        found.append(str(error))
    return found


@pytest.fixture
def halves(tmp_path):
    """Return a folder of four days, and what each counts."""
    names = [f"{name}.csv" for name in "abcd"]
    rows = {name: day(tmp_path / "in" / name, seed) for seed, name in enumerate(names)}
    return tmp_path / "in", {name: counted(some) for name, some in rows.items()}


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")


@needs_fork
@pytest.mark.parametrize("number", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_an_update_killed_before_a_call_of_the_system_goes_on(tmp_path, halves, number):
    source, parts = halves
    calls, killed = map(int, let_run(tmp_path / "out", source, "calls", number))
    assert killed == min(number, calls)
    assert calls > 30
    points = [path for path in (tmp_path / "out").iterdir() if path.name.isdecimal()]
    assert [fault for one in points for fault in faults(one, source, parts)] == []


@needs_fork
def test_parts_written_in_halves_are_found(tmp_path, halves, monkeypatch):
    source, parts = halves
    let_run(tmp_path / "out", source, "calls", 20, "halves")
    points = [path for path in (tmp_path / "out").iterdir() if path.name.isdecimal()]
    assert [fault for one in points for fault in faults(one, source, parts)] != []


@needs_fork
@pytest.mark.slow
def test_an_update_killed_two_hundred_times_at_random_moments_goes_on(tmp_path, halves):
    source, parts = halves
    assert let_run(tmp_path / "out", source, "moments", 200, 20_261_117) == ["200"]
    points = [path for path in (tmp_path / "out").iterdir() if path.name.isdecimal()]
    assert len(points) > 20
    assert [fault for one in points for fault in faults(one, source, parts)] == []


def test_an_update_writes_one_file_for_each_part(days, monkeypatch):
    """No more is forced to disk than each part and its name."""
    source, folder, _ = days
    made = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda one: made.append(one) or real(one))
    day(source / "d.csv", 9)
    update(folder, source)
    assert len(made) == 2
    assert _files.PART not in "".join(path.name for path in folder.iterdir())


# Files in an object store


@pytest.fixture(scope="module")
def bucket():
    """Start a server of objects on this machine."""
    object_store = pytest.importorskip("tests.io.object_store")
    with object_store.running() as found:
        yield found


def test_objects_are_counted_as_files_are(bucket, tmp_path):
    rows, places = [], []
    update = partial(asked_of, Storage.of(bucket.options))
    for number in range(3):
        path = tmp_path / "in" / f"day={number}" / "a.csv"
        rows += day(path, number)
        places.append(bucket.put(f"preds/day={number}/a.csv", path.read_bytes()))
    root, folder = places[0].removesuffix("/day=0/a.csv"), tmp_path / "out"
    assert update(folder, places[0]) == ["day=0"]
    assert update(folder, f"{root}/day=*/a.csv") == ["day=1", "day=2"]
    for again in (root, f"{root}/", f"{root}/day=1"):
        assert update(folder, again) == []
    assert op.read(folder) == counted(rows)
    assert bucket.options["secret_key"] not in (folder / "_store.json").read_text()
    assert [one.name for one in op.read(folder).sources] == [
        f"{root}/day={number}" for number in range(3)
    ]
    copy = bucket.put("preds/day=9/b.csv", (tmp_path / "in" / "day=1" / "a.csv").read_bytes())
    with pytest.raises(
        DataError, match=f"{root}/day=9 contains the same bytes as {root}/day=1, which"
    ):
        update(folder, copy)
    with pytest.raises(DataError, match=rf"in/day=3 contains the same bytes as {root}/day=2"):
        update(folder, shutil.move(tmp_path / "in" / "day=2", tmp_path / "in" / "day=3"))


def test_a_changed_object_is_refused_and_slices_know_its_folders(bucket, tmp_path):
    rows = day(tmp_path / "a.csv", 3)
    update = partial(asked_of, Storage.of(bucket.options))
    address = bucket.put("sliced/day=1/a.csv", (tmp_path / "a.csv").read_bytes())
    root = address.removesuffix("/day=1/a.csv")
    update(tmp_path / "out", root, by="day")
    assert [tuple(key) for key in op.read(tmp_path / "out").slices.keys] == [("1",)]
    rows = day(tmp_path / "a.csv", 8)
    bucket.put("sliced/day=1/a.csv", (tmp_path / "a.csv").read_bytes())
    with pytest.raises(DataError, match="'day=1' has changed since it was counted"):
        update(tmp_path / "out", root, by="day")
    update(tmp_path / "out", root, by="day", recount=["day=1"])
    assert op.read(tmp_path / "out").n == len(rows)
    with pytest.raises(UsageError, match="no file"):
        update(tmp_path / "none", f"{root}/nothing.csv")
