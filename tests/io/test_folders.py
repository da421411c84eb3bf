"""Folders: the files in them, and the columns in their names."""

from __future__ import annotations

import gzip
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from tests.loops import each


def put(path, text="y,m\na,a\nb,a\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        header, *rows = [line.split(",") for line in text.split()]
        pq.write_table(pa.table(dict(zip(header, zip(*rows, strict=True), strict=True))), path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)


def read(folder, **options):
    return op.read(folder, **{"truth": "y", "models": ["m"], **options})


@pytest.fixture(params=["csv", "parquet"])
def preds(tmp_path, request):
    """Return a folder of four files in two countries and three days."""
    root = tmp_path / "preds"
    ending = request.param
    put(root / "country=DE" / "day=2026-01-01" / f"part-0.{ending}")
    put(root / "country=DE" / "day=2026-01-01" / f"part-1.{ending}", "y,m\nc,c\n")
    put(root / "country=DE" / "day=2026-01-02" / f"part-0.{ending}", "y,m\nb,b\n")
    put(root / "country=FR" / "day=__HIVE_DEFAULT_PARTITION__" / f"part-0.{ending}", "y,m\na,b\n")
    (root / "_SUCCESS").touch()
    (root / ".part-0.crc").touch()
    (root / "country=DE" / "_temporary").mkdir()
    (root / "country=DE" / "_temporary" / "half.csv").write_text("y,m\nz,z\n")
    return root


def test_all_files_below_are_counted_and_what_is_hidden_is_not(preds):
    seen = read(preds)
    assert seen.confusion("m").tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert read(str(preds) + os.sep) == seen


@pytest.mark.parametrize(
    ("where", "n"),
    [
        ({"country": "DE"}, 4),
        ({"country": ["DE", "FR"]}, 5),
        ({"country": "DE", "day": "2026-01-02"}, 1),
        ({"day": None}, 1),
        ({"day": [None, "2026-01-02"]}, 2),
        ({"country": "DE", "y": "b"}, 2),
    ],
)
def test_rows_are_chosen_by_what_the_folders_say(preds, where, n):
    assert read(preds, where=where).n == n


def test_nothing_left_is_refused(preds):
    with pytest.raises(DataError, match="no rows left after where"):
        read(preds, where={"country": "IT"})
    with pytest.raises(UsageError, match="contains text"):
        read(preds, where={"country": True})
    with pytest.raises(UsageError, match=r"no column 'contry' .* did you mean 'country'"):
        read(preds, where={"contry": "DE"})


def test_a_column_of_the_folders_is_like_any_other(preds):
    seen = read(preds, models=["m", "country"])
    assert seen.models == ("m", "country")
    assert seen.labels == ("DE", "FR", "a", "b", "c")
    assert seen.n == 5


def test_a_column_of_the_folders_divides_the_items(preds):
    seen = read(preds, by=["country"])
    assert (seen.slice("DE").n, seen.slice("FR").n) == (4, 1)
    assert seen.slices.n.tolist() == [4, 1]


def test_a_column_of_the_folders_is_no_model_unless_asked(preds):
    assert read(preds, models=None).models == ("m",)


def test_missing_values_of_the_folders_are_refused_or_left_out(preds):
    with pytest.raises(
        DataError, match=r"'day' has no value in 1 of 5 rows, the first in (row 1|line 2) of"
    ):
        read(preds, models=["m", "day"])
    assert read(preds, models=["m", "day"], on_null="drop").n == 4


def test_a_folder_alone_adds_no_column_of_its_own_name(preds):
    assert read(preds / "country=DE").n == 4
    with pytest.raises(UsageError, match="no column 'country'"):
        read(preds / "country=DE", where={"country": "DE"})


def test_folders_are_joined_like_files(tmp_path):
    for owner, label in (("gold", "a"), ("bert", "b")):
        put(tmp_path / owner / "k=1" / "x.csv", f"id,label\n1,{label}\n")
        put(tmp_path / owner / "k=2" / "x.csv", f"id,label\n2,{label}\n")
    seen = op.read([tmp_path / "gold", tmp_path / "bert"], id="id", label="label")
    assert (seen.n, seen.models) == (2, ("bert",))


def test_names_are_decoded_as_they_were_encoded(tmp_path):
    put(tmp_path / "my%20city=S%C3%A3o%2FPaulo%3D" / "a.csv")
    assert read(tmp_path, where={"my city": "São/Paulo="}).n == 2


@each("value", ["'); DROP TABLE x; --", "?", "$1", "*", "[a]", "a\nb", "{x}"])
def test_any_name_of_a_folder_is_only_a_name(tmp_path, value):
    put(tmp_path / f"k={value}" / "a.csv")
    put(tmp_path / "k=other" / "a.parquet".replace("parquet", "csv"))
    assert read(tmp_path, where={"k": value}).n == 2
    assert value in read(tmp_path, models=["k"]).labels


def test_a_column_of_the_file_comes_before_that_of_the_folder(tmp_path):
    put(tmp_path / "k=1" / "a.csv", "y,m,k\na,a,2\n")
    assert read(tmp_path, where={"k": "2"}).n == 1


def test_packed_files_of_one_kind_are_one_kind(tmp_path):
    put(tmp_path / "a.csv")
    put(tmp_path / "b.csv.gz")
    assert read(tmp_path).n == 4


def test_a_linked_folder_is_followed_and_a_loop_refused(tmp_path):
    put(tmp_path / "far" / "a.csv")
    (tmp_path / "preds").mkdir()
    (tmp_path / "preds" / "link").symlink_to(tmp_path / "far")
    assert read(tmp_path / "preds").n == 2
    (tmp_path / "far" / "back").symlink_to(tmp_path / "preds")
    with pytest.raises(DataError, match="contains itself"):
        read(tmp_path / "preds")


@each(
    ("files", "message"),
    [
        ([], "has no files"),
        (["_SUCCESS", ".hidden.csv"], "has no files"),
        (["a.csv", "b.tsv"], r"of one kind, but .*a\.csv is csv and .*b\.tsv is tsv"),
        (["a.csv", "notes.md"], r"the name of .*notes\.md does not show what kind"),
        (["k=1/a.csv", "b.csv"], r"must name the same columns"),
        (["k=1/j=2/a.csv", "j=1/k=2/b.csv"], r"\['k', 'j'\]|\['j', 'k'\]"),
        (["k=1/k=2/a.csv"], "must name a different column"),
        (["=1/a.csv"], "must name a different column"),
    ],
)
def test_folders_that_cannot_be_counted_are_refused(tmp_path, files, message):
    for name in files:
        put(tmp_path / name)
    with pytest.raises(DataError, match=message):
        read(tmp_path)


def test_a_format_says_what_all_files_are(tmp_path):
    put(tmp_path / "part-00000")
    put(tmp_path / "part-00001.txt")
    assert read(tmp_path, format="csv").n == 4


def test_files_of_other_columns_are_refused(tmp_path):
    put(tmp_path / "a.csv")
    put(tmp_path / "b.csv", "y,n\na,a\n")
    with pytest.raises(DataError, match="do not share"):
        read(tmp_path)


def test_a_damaged_file_among_sound_ones_is_named(tmp_path):
    for name in "abc":
        put(tmp_path / f"{name}.parquet")
    data = (tmp_path / "b.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(data[:60] + bytes(20) + data[80:])
    with pytest.raises(DataError, match=r"b\.parquet"):
        read(tmp_path)
    (tmp_path / "b.parquet").write_bytes(data[:-20])
    with pytest.raises(DataError, match=r"b\.parquet"):
        read(tmp_path)


def test_an_empty_file_among_sound_ones_is_named(tmp_path):
    put(tmp_path / "a.csv")
    (tmp_path / "b.csv").touch()
    with pytest.raises(DataError, match=r"b\.csv is empty"):
        read(tmp_path)


def test_thousands_of_files_are_one_statement(tmp_path):
    """Two thousand files in their partitions: about a second, where one by one took nine."""
    put(tmp_path / "k=0" / "a.parquet")
    for k in range(1, 2_000):
        (tmp_path / f"k={k}").mkdir()
        os.link(tmp_path / "k=0" / "a.parquet", tmp_path / f"k={k}" / "a.parquet")
    assert read(tmp_path).n == 4_000
    assert read(tmp_path, where={"k": ["3", "5", "7"]}).n == 6
