"""An agent reads files of the server's folder, and nothing else, however it names the others."""

from __future__ import annotations

import os
import sqlite3

import duckdb
import pytest

from outperform.agents.places import Places
from outperform.errors import UsageError
from tests.loops import each

CSV = "label,old,new\ny,y,n\nn,n,n\n"


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.csv").write_text(CSV)
    return folder


@pytest.fixture
def root(tmp_path, outside):
    folder = tmp_path / "root"
    (folder / "days" / "day=1").mkdir(parents=True)
    (folder / "preds.csv").write_text(CSV)
    (folder / "days" / "day=1" / "a.csv").write_text(CSV)
    (folder / "-dash.csv").write_text(CSV)
    (folder / "link.csv").symlink_to(outside / "secret.csv")
    (folder / "inner.csv").symlink_to(folder / "preds.csv")
    (folder / "folder").symlink_to(outside)
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "mixed").mkdir()
    (folder / "mixed" / "good.csv").write_text(CSV)
    (folder / "mixed" / "bad.csv").symlink_to(outside / "secret.csv")
    (folder / "hop").mkdir()
    (folder / "hop" / "next").symlink_to(folder / "mixed")
    (folder / "s3:").mkdir()
    (folder / "s3:" / "bucket").write_text(CSV)
    return folder.resolve()


def check(root, source, roots=None):
    return Places(root, roots).checked(source)


@each(
    ("source", "found"),
    [
        ("preds.csv", "preds.csv"),
        ("./preds.csv", "preds.csv"),
        ("inner.csv", "inner.csv"),
        ("days", "days"),
        ("*/*/a.csv", "days/day=1/a.csv"),
        ("-dash.csv", "./-dash.csv"),
        (["preds.csv", "inner.csv"], ["preds.csv", "inner.csv"]),
        ({"gold": "preds.csv", "bert": "inner.csv"}, {"gold": "preds.csv", "bert": "inner.csv"}),
    ],
)
def test_what_lies_inside_is_read_by_its_name(root, source, found):
    assert check(root, source) == found


def test_absolute_path_inside_becomes_relative(root):
    assert check(root, str(root / "days" / "day=1" / "a.csv")) == "days/day=1/a.csv"


@each(
    "source",
    [
        "/etc/passwd",
        "/etc/nothing-of-this-name",
        "../outside/secret.csv",
        "days/../../outside/secret.csv",
        "..\\outside\\secret.csv",
        "link.csv",
        "folder",
        "folder/secret.csv",
        "folder/nothing-of-this-name.csv",
        "folder/*.csv",
        "**/secret.csv",
        "mixed",
        "mixed/*.csv",
        "hop",
        "loop",
        "~/.ssh/id_rsa",
        "-",
        "",
        "preds.csv\0",
        "file:///etc/passwd",
        "FILE:/etc/passwd",
        "http://127.0.0.1/preds.csv",
        "s3://bucket/preds.csv",
        "s3:/bucket",
        "postgresql://me:hunter2@host/db",
        "sqlite:///preds.db",
        "host=localhost password=hunter2",
        "/dev/zero",
        "/proc/self/environ",
        ["preds.csv", "/etc/passwd"],
        {"gold": "preds.csv", "bert": "folder/secret.csv"},
        [["preds.csv"]],
        3,
        None,
    ],
)
def test_what_lies_outside_is_refused(root, source):
    with pytest.raises(UsageError) as error:
        check(root, source)
    assert "hunter2" not in str(error.value)


def test_message_does_not_tell_whether_a_file_outside_exists(root):
    messages = set()
    for name in ("secret.csv", "nothing.csv"):
        with pytest.raises(UsageError) as error:
            check(root, f"folder/{name}")
        messages.add(str(error.value).replace(name, ""))
    assert len(messages) == 1


def test_absolute_path_through_a_link_to_the_folder(root, tmp_path):
    (tmp_path / "alias").symlink_to(root)
    assert check(root, str(tmp_path / "alias" / "preds.csv")) == "preds.csv"


def test_roots_of_the_client_narrow_the_folder(root):
    roots = (root / "days",)
    assert check(root, "days/day=1/a.csv", roots) == "days/day=1/a.csv"
    with pytest.raises(UsageError, match="roots"):
        check(root, "preds.csv", roots)
    with pytest.raises(UsageError, match="roots"):
        check(root, "preds.csv", ())


def test_databases_and_lakes_refer_to_other_files(root, outside):
    with sqlite3.connect(root / "a.csv") as connection:
        connection.execute("create table t (label text)")
    connection.close()
    view = duckdb.connect(str(root / "b.dat"))
    view.execute(f"create view v as select * from read_csv('{outside / 'secret.csv'}')")
    view.close()
    (root / "lake" / "_delta_log").mkdir(parents=True)
    for name in ("a.csv", "b.dat", "lake"):
        with pytest.raises(UsageError, match=r"can refer to other files"):
            check(root, name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_not_waited_for(root):
    os.mkfifo(root / "pipe.csv")
    with pytest.raises(UsageError, match="not a regular file"):
        check(root, "pipe.csv")


def test_a_wrong_name_gets_a_suggestion(root):
    with pytest.raises(UsageError, match=r"did you mean 'preds.csv'"):
        check(root, "pred.csv")
    with pytest.raises(UsageError, match="no file matches"):
        check(root, "*.parquet")
