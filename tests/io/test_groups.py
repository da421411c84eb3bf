"""``groups=``: items that belong together, counted together by every engine."""

from __future__ import annotations

import datetime
import io
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import outperform as op
from outperform.errors import DataError, ResourceError, UsageError
from outperform.io import group_by
from tests.loops import each

ASKED = {"truth": "label", "models": ["old", "new"], "groups": "user_id"}


def table(n=400, n_users=37):
    rng = np.random.default_rng(1)
    truth = rng.choice(["a", "b", "c"], n)
    return pd.DataFrame(
        {
            "doc": np.arange(n),
            "user_id": rng.integers(0, n_users, n),
            "label": truth,
            "old": np.where(rng.random(n) < 0.6, truth, "a"),
            "new": np.where(rng.random(n) < 0.8, truth, "b"),
            "land": rng.choice(["DE", "FR"], n),
            "times": rng.integers(0, 4, n),
        }
    )


TABLE = table()


def expected(rows=TABLE, **options):
    """Return what counting in memory gives."""
    models = {name: rows[name] for name in ("old", "new")}
    return op.Outcomes.from_labels(rows["label"], models, groups=rows["user_id"], **options)


def sources(folder, frame=TABLE):
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_json(folder / "t.jsonl", orient="records", lines=True)
    frame.to_parquet(folder / "t.parquet")
    frame.to_feather(folder / "t.arrow")
    with duckdb.connect(str(folder / "t.duckdb")) as database:
        database.execute("CREATE TABLE preds AS SELECT * FROM frame")
    connection = sqlite3.connect(folder / "t.sqlite")
    frame.to_sql("preds", connection, index=False)
    connection.close()
    return {
        "csv": (str(folder / "t.csv"), {}),
        "jsonl": (str(folder / "t.jsonl"), {}),
        "parquet": (str(folder / "t.parquet"), {}),
        "arrow": (str(folder / "t.arrow"), {}),
        "duckdb": (str(folder / "t.duckdb"), {"table": "preds"}),
        "sqlite": (str(folder / "t.sqlite"), {"table": "preds"}),
        "pandas": (frame, {}),
        "polars": (pl.from_pandas(frame), {}),
        "lazy": (pl.from_pandas(frame).lazy(), {}),
        "pyarrow": (pl.from_pandas(frame).to_arrow(), {}),
        "relation": (duckdb.sql("SELECT * FROM frame"), {}),
    }


@each(
    "kind",
    [
        *("csv", "jsonl", "parquet", "arrow", "duckdb", "sqlite"),
        *("pandas", "polars", "lazy", "pyarrow", "relation"),
    ],
)
def test_every_source_gives_the_same_groups(tmp_path, kind):
    if kind == "sqlite":
        pytest.importorskip("ibis")
    source, options = sources(tmp_path)[kind]
    found = op.read(source, **ASKED, **options)
    assert found == expected()
    assert found.groups.n == TABLE["user_id"].nunique()
    assert found._repeated == ()


@each("kind", ["csv", "parquet", "pandas", "polars", "relation"])
def test_groups_go_with_weights_conditions_and_ids(tmp_path, kind):
    source, _ = sources(tmp_path)[kind]
    rows = TABLE.loc[TABLE.index.repeat(TABLE["times"])]
    assert op.read(source, id="doc", count="times", **ASKED) == expected(rows)
    weighed = op.read(source, weight="times", **ASKED)
    assert weighed == expected(sample_weight=TABLE["times"])
    kept = TABLE[TABLE["land"] == "DE"]
    assert op.read(source, where={"land": "DE"}, **ASKED) == expected(kept)
    some = [str(one) for one in range(5)]
    kept = TABLE[TABLE["user_id"] < 5]
    assert op.read(source, where={"user_id": some}, **ASKED) == expected(kept)


@each("kind", ["jsonl", "parquet", "pandas", "polars", "duckdb"])
def test_rows_without_a_label_are_left_out_of_their_groups(tmp_path, kind):
    frame = TABLE.copy()
    frame.loc[::7, "new"] = None
    source, options = sources(tmp_path, frame)[kind]
    found = op.read(source, on_null="drop", **ASKED, **options)
    kept = expected(frame.dropna())
    assert found.tables[0].counts.tolist() == kept.tables[0].counts.tolist()
    assert found.groups.n == kept.groups.n
    assert [one.name for one in found.findings] == ["null_rows_dropped"]
    with pytest.raises(DataError, match="column 'new' has no value"):
        op.read(source, **ASKED, **options)


@each("kind", ["csv", "jsonl", "parquet", "pandas", "polars", "duckdb"])
def test_rows_without_a_group_are_refused(tmp_path, kind):
    frame = TABLE.assign(user_id=TABLE["user_id"].astype("Int64"))
    frame.loc[:2, "user_id"] = pd.NA
    source, options = sources(tmp_path, frame)[kind]
    with pytest.raises(DataError, match=r"'user_id' has no value in 3 of 400 rows.* a group"):
        op.read(source, **ASKED, **options)
    seen = op.read(source, on_null="drop", **ASKED, **options)
    assert seen.n == 397
    assert "3 of 400 rows" in next(str(one) for one in seen.findings)


@pytest.mark.parametrize("kind", ["parquet", "pandas", "polars"])
def test_days_are_groups_too(tmp_path, kind):
    days = [datetime.date(2026, 1, 1 + user % 28) for user in TABLE["user_id"]]
    source, _ = sources(tmp_path, TABLE.assign(user_id=days))[kind]
    assert op.read(source, **ASKED).groups.n == TABLE["user_id"].mod(28).nunique()


def test_lists_are_no_groups(tmp_path):
    frame = TABLE.assign(user_id=[[one] for one in TABLE["user_id"]])
    frame.to_parquet(tmp_path / "lists.parquet")
    with pytest.raises(DataError, match="groups must be names or numbers"):
        op.read(str(tmp_path / "lists.parquet"), **ASKED)


def test_the_first_file_of_a_join_names_the_groups(tmp_path):
    gold = TABLE[["doc", "user_id", "label"]]
    gold.to_csv(tmp_path / "gold.csv", index=False)
    for name in ("old", "new"):
        file = TABLE[["doc", name]].rename(columns={name: "label"}).sample(frac=1, random_state=1)
        file.to_csv(tmp_path / f"{name}.csv", index=False)
    files = {name: tmp_path / f"{name}.csv" for name in ("gold", "old", "new")}
    assert op.read(files, id="doc", label="label", groups="user_id") == expected()
    with pytest.raises(UsageError, match=r"no column 'user' in .*gold.csv; did you mean 'user_id'"):
        op.read(files, id="doc", label="label", groups="user")
    gold.assign(user_id=gold["user_id"].where(gold["doc"] > 1)).to_csv(files["gold"], index=False)
    with pytest.raises(DataError, match=r"2 rows of .*gold.csv have no value in 'user_id'"):
        op.read(files, id="doc", label="label", groups="user_id")


def test_truth_and_group_may_stand_beside_the_first_models_labels(tmp_path):
    for name in ("old", "new"):
        TABLE.rename(columns={name: "said"}).to_parquet(tmp_path / f"{name}.parquet")
    files = {name: tmp_path / f"{name}.parquet" for name in ("old", "new")}
    found = op.read(files, id="doc", truth="label", label="said", groups="user_id")
    assert found == expected()


@each(
    ("options", "message"),
    [
        ({"groups": "user"}, "no column 'user'.*did you mean 'user_id'"),
        ({"groups": ["user_id"]}, "groups must be a column name"),
        ({"groups": "label"}, "every column has one role"),
        ({"groups": "new"}, "every column has one role"),
        ({"weight": "user_id"}, "every column has one role"),
    ],
)
def test_what_cannot_be_groups_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        op.read(TABLE, **{**ASKED, **options})


def test_groups_are_no_model_if_models_are_all_others():
    frame = TABLE[["user_id", "label", "old", "new"]]
    assert op.read(frame, truth="label", groups="user_id") == expected()


def test_what_was_counted_before_has_its_groups(tmp_path):
    path = tmp_path / "seen.json"
    path.write_text(expected().to_json(), "utf-8")
    assert op.read(path) == expected()
    with pytest.raises(UsageError, match="groups= cannot be used with counted outcomes"):
        op.read(path, groups="user_id")
    with pytest.raises(DataError, match="not a log of samples: its lines have no 'doc_id'"):
        op.read(path, groups="user_id", format="lm-eval")


@pytest.mark.parametrize("kind", ["csv", "pandas"])
def test_too_many_groups_are_refused(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(group_by, "MOST_CELLS", 50)
    source, _ = sources(tmp_path)[kind]
    message = "more than 50 different combinations of group, truth and predictions"
    with pytest.raises(ResourceError, match=message):
        op.read(source, **ASKED)


def test_numbers_and_text_of_json_are_other_groups():
    lines = [
        '{"u": 1, "y": "a", "m": "a"}',
        '{"u": 1.0, "y": "a", "m": "b"}',
        '{"u": "1", "y": "b", "m": "b"}',
    ]
    file = io.StringIO("\n".join(lines) + "\n")
    found = op.read(file, truth="y", models=["m"], groups="u", format="jsonl")
    assert found.groups.n == 2
