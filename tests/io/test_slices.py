"""``by=``: slices counted in one pass by every engine."""

from __future__ import annotations

import datetime

import duckdb
import pandas as pd
import polars as pl
import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from tests.loops import each

TABLE = {
    "label": ["a", "b", "a", "b", "a"],
    "old": ["a", "a", "b", "b", "a"],
    "new": ["a", "b", "a", "b", "b"],
    "country": ["DE", "DE", "FR", "FR", "DE"],
    "hour": [9, 10, 9, 9, 9],
}
EXPECTED = op.Outcomes.from_labels(
    TABLE["label"],
    {name: TABLE[name] for name in ("old", "new")},
    by={name: TABLE[name] for name in ("country", "hour")},
)


def sources(folder):
    frame = pd.DataFrame(TABLE)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_json(folder / "t.jsonl", orient="records", lines=True)
    frame.to_parquet(folder / "t.parquet")
    connection = duckdb.connect(str(folder / "t.duckdb"))
    connection.execute("CREATE TABLE preds AS SELECT * FROM frame")
    connection.close()
    return {
        "csv": (str(folder / "t.csv"), {}),
        "jsonl": (str(folder / "t.jsonl"), {}),
        "parquet": (str(folder / "t.parquet"), {}),
        "duckdb": (str(folder / "t.duckdb"), {"table": "preds"}),
        "pandas": (frame, {}),
        "polars": (pl.LazyFrame(TABLE), {}),
        "pyarrow": (pl.DataFrame(TABLE).to_arrow(), {}),
        "relation": (duckdb.sql("SELECT * FROM frame"), {}),
    }


@each("kind", ["csv", "jsonl", "parquet", "duckdb", "pandas", "polars", "pyarrow", "relation"])
def test_every_source_gives_the_same_slices(tmp_path, kind):
    source, options = sources(tmp_path)[kind]
    asked = {"truth": "label", "models": ["old", "new"], **options}
    found = op.read(source, by=["country", "hour"], **asked)
    assert found == EXPECTED
    assert found.slice("DE", 9).n == 2
    assert op.read(source, by="country", **asked).slices.n.tolist() == [3, 2]


def test_columns_that_divide_are_no_models():
    found = op.read(pd.DataFrame(TABLE), truth="label", by=["country", "hour"])
    assert found.models == ("old", "new")


def test_where_and_counts_hold_in_slices():
    frame = pd.DataFrame(TABLE).assign(times=[1, 2, 3, 4, 5])
    found = op.read(
        frame, truth="label", models=["old"], by="country", count="times", where={"hour": 9}
    )
    assert found.slices.n.tolist() == [6, 7]


@pytest.mark.parametrize("kind", ["parquet", "pandas"])
def test_days_and_fractions_divide_as_well_as_words(tmp_path, kind):
    days = [datetime.date(2026, 1, day) for day in (1, 2, 1, 1, 2)]
    frame = pd.DataFrame(TABLE).assign(day=days, share=[0.5, 0.25, 0.5, 0.5, 0.25])
    frame.to_parquet(tmp_path / "t.parquet")
    source = frame if kind == "pandas" else str(tmp_path / "t.parquet")
    found = op.read(source, truth="label", models=["old"], by=["day", "share"])
    assert list(found.slices) == [("2026-01-01", "0.5"), ("2026-01-02", "0.25")]


@pytest.mark.parametrize("kind", ["csv", "pandas"])
def test_a_missing_value_is_refused_or_dropped_by_count(tmp_path, kind):
    frame = pd.DataFrame(TABLE).assign(country=["DE", None, "FR", "FR", "DE"])
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    source = frame if kind == "pandas" else str(tmp_path / "t.jsonl")
    with pytest.raises(DataError, match="'country' has no value in 1 of 5 rows"):
        op.read(source, truth="label", models=["old"], by="country")
    found = op.read(source, truth="label", models=["old"], by="country", on_null="drop")
    assert found.n == 4
    assert [one.name for one in found.findings] == ["null_rows_dropped"]


@each(
    ("by", "message"),
    [
        (["cuntry"], "did you mean 'country'"),
        ([], "each column once"),
        (["hour", "hour"], "each column once"),
        (3, "must be column names"),
        ([3], "must be column names"),
    ],
)
def test_bad_names_are_refused(by, message):
    with pytest.raises(UsageError, match=message):
        op.read(pd.DataFrame(TABLE), truth="label", models=["old"], by=by)


def test_a_join_has_no_slices(tmp_path):
    pd.DataFrame({"id": [1], "label": ["a"]}).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame({"id": [1], "label": ["a"]}).to_csv(tmp_path / "b.csv", index=False)
    paths = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    with pytest.raises(UsageError, match="by= can be used with one table"):
        op.read(paths, id="id", label="label", by="id")
