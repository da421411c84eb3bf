"""Tables of Delta and Iceberg: what was deleted is not counted."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import outperform as op
from outperform.errors import UsageError
from outperform.io.addresses import Storage
from outperform.io.request import Request
from outperform.io.store import update
from tests.io.object_store import KEY, SECRET, running

pa = pytest.importorskip("pyarrow")
ASKED: dict[str, Any] = {"truth": "label", "models": ["old", "new"]}


def rows(n: int, day: str) -> Any:
    return pa.table(
        {
            "id": [f"{day}-{number}" for number in range(n)],
            "day": [day] * n,
            "label": ["a" if number % 3 else "b" for number in range(n)],
            "old": ["a" if number % 2 else "b" for number in range(n)],
            "new": ["a"] * n,
            "other": [[1]] * n,
        }
    )


def write_delta(place: str, **options: Any) -> None:
    delta = pytest.importorskip("deltalake")
    delta.write_deltalake(place, rows(60, "mon"), partition_by=["day"], **options)
    delta.write_deltalake(place, rows(40, "tue"), mode="append", **options)
    delta.DeltaTable(place, **options).delete("id = 'tue-0' or id = 'mon-5'")


def refuse_update(source: str, folder: Path, kind: str, **asked: Any) -> None:
    """See that a folder of counts says what is true of a table, and takes none."""
    request = Request(**ASKED, **asked)
    told = f"is {kind}, whose files may contain deleted rows, .* omit update=, and write"
    with pytest.raises(UsageError, match=told):
        update(folder, [source], request, version="1")
    assert not folder.exists()


def test_deleted_rows_of_delta_are_not_counted(tmp_path: Path) -> None:
    place = tmp_path / "preds"
    write_delta(str(place))
    seen = op.read(place, **ASKED)
    assert seen.n == 98
    assert next(one.name for one in seen.findings) == "table_recognized"
    expected = pa.concat_tables([rows(60, "mon"), rows(40, "tue")]).to_pandas()
    expected = expected[~expected["id"].isin(["tue-0", "mon-5"])]
    frame = op.read(expected, **ASKED)
    for ours, theirs in zip(seen.tables, frame.tables, strict=True):
        assert ours.cells.tolist() == theirs.cells.tolist()
        assert ours.counts.tolist() == theirs.counts.tolist()
    assert op.read(place, **ASKED, where={"day": "tue"}).n == 39
    # The files still hold what was deleted, so neither they nor a folder above are taken.
    one = next(place.rglob("*.parquet"))
    for source in (f"{place}/**/*.parquet", tmp_path, f"{place}/day=*", place / "day=mon", one):
        with pytest.raises(UsageError, match=r"is a Delta table, .* pass the table itself"):
            op.read(source, **ASKED)
    refuse_update(str(place), tmp_path / "counts", "a Delta table")
    # A table that was opened is read at the version that it was opened at.
    delta = pytest.importorskip("deltalake")
    opened = op.read(delta.DeltaTable(str(place)), **ASKED)
    assert (opened.n, opened.confusion("old").tolist()) == (98, seen.confusion("old").tolist())
    assert op.read(delta.DeltaTable(str(place), version=0), **ASKED).n == 60
    assert op.read(place.as_uri(), **ASKED) == seen
    shutil.rmtree(place / "_delta_log")
    assert op.read(place, **ASKED).n > 98


def test_deleted_rows_of_iceberg_are_not_counted(tmp_path: Path) -> None:
    pytest.importorskip("pyiceberg")
    catalogues = pytest.importorskip("pyiceberg.catalog.sql")
    pytest.importorskip("sqlalchemy")
    catalogue = catalogues.SqlCatalog(
        "tests", uri=f"sqlite:///{tmp_path}/catalogue.db", warehouse=f"file://{tmp_path}"
    )
    catalogue.create_namespace("runs")
    every = rows(100, "mon")
    table = catalogue.create_table("runs.preds", schema=every.schema)
    table.append(every)
    table.delete("id == 'mon-5'")
    place = Path(table.location().removeprefix("file://"))
    catalogue.engine.dispose()
    seen = op.read(place, **ASKED)
    assert seen.n == 99
    assert next(one.name for one in seen.findings) == "table_recognized"
    newest = table.metadata_location.removeprefix("file://")
    assert op.read(newest, **ASKED) == seen
    assert op.read(table.metadata_location, **ASKED) == seen
    assert op.read(table, **ASKED) == seen
    refuse_update(str(place), tmp_path / "counts", "an Iceberg table")
    one = next(place.rglob("*.parquet"))
    for source in (f"{place}/**/*.parquet", place.parent, place / "data", one):
        with pytest.raises(UsageError, match=r"is an Iceberg table, .* pass the table itself"):
            op.read(source, **ASKED)


def test_delta_in_a_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with running("tables-of-tests") as store:
        place = "s3://tables-of-tests/preds"
        options = {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": store.url,
            "AWS_ALLOW_HTTP": "true",
        }
        write_delta(place, storage_options=options)
        assert op.read(place, **ASKED, storage_options=store.options).n == 98
        for source in (f"{place}/**/*.parquet", "s3://tables-of-tests"):
            with pytest.raises(UsageError, match="pass the table itself"):
                op.read(source, **ASKED, storage_options=store.options)
            with pytest.raises(UsageError, match="pass the table itself"):
                op.read(f"{place}/day=mon", **ASKED, storage_options=store.options)
        reaching = Storage.of(store.options)
        refuse_update(place, tmp_path / "counts", "a Delta table", storage_options=reaching)
        # By the variables of the machine alone.
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
            monkeypatch.setenv(name, options[name])
        monkeypatch.setenv("AWS_ENDPOINT_URL", store.url)
        assert op.read(place, **ASKED).n == 98
