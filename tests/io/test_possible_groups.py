"""Columns that nobody asked for and that may name what items belong to."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq

import outperform as op
from outperform.io.columnar import names_an_owner
from outperform.io.count import Repeats
from tests.loops import each

ASKED = {"truth": "label", "models": ["old", "new"]}
N = 300


def table(**columns):
    rng = np.random.default_rng(2)
    truth = rng.choice(["a", "b"], N)
    models = {name: np.where(rng.random(N) < 0.7, truth, "a") for name in ("old", "new")}
    return pd.DataFrame({"label": truth, **models, **columns})


USERS = np.arange(N) % 30


def found(source, **options):
    return [one.column for one in op.read(source, **ASKED, **options)._repeated]


@each(
    "name",
    [
        *("user_id", "userId", "UserID", "userid", "USER", "author", "Author", "doc_id", "docid"),
        *("patient", "subject", "session_id", "conversation", "prompt_id", "group", "item"),
        *("template", "query_id", "question", "id", "uuid", "sentence-id", "parent.id"),
    ],
)
def test_these_name_an_owner(name):
    assert names_an_owner(name)


@each(
    "name",
    [
        *("valid", "paid", "android", "score", "text", "label", "country", "class_id", "model_id"),
        *("run_id", "lang_id", "authors_note", "idea", "width", "length", "", "__", "grid"),
    ],
)
def test_these_do_not(name):
    assert not names_an_owner(name)


@each(
    ("n_rows", "n_values", "expected"),
    [(100, 100, False), (105, 100, True), (104, 100, False), (100, 9, False), (100, 10, True)],
)
def test_ids_repeat_and_are_no_categories(n_rows, n_values, expected):
    assert Repeats(n_rows, n_values).looks_like_groups is expected


@each("kind", ["csv", "jsonl", "parquet", "pandas", "polars", "pyarrow"])
def test_outcomes_remember_what_groups_would_be(tmp_path, kind):
    frame = table(user_id=USERS)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "t.parquet")
    frames = {"pandas": frame, "polars": pl.from_pandas(frame)}
    frames["pyarrow"] = frames["polars"].to_arrow()
    source = frames.get(kind, str(tmp_path / f"t.{kind}"))
    seen = op.read(source, **ASKED)
    (one,) = seen._repeated
    assert (one.column, one.n_values, one.n_rows) == ("user_id", 30, N)
    assert one.outcomes == op.read(source, groups="user_id", **ASKED)
    assert seen.groups is None
    assert seen == op.Outcomes.from_labels(frame["label"], {m: frame[m] for m in ("old", "new")})


def test_conditions_and_counts_hold_there_too():
    frame = table(user_id=USERS, land=np.arange(N) % 2, times=1 + np.arange(N) % 3)
    seen = op.read(frame, where={"land": 0}, count="times", **ASKED)
    (one,) = seen._repeated
    assert (one.n_values, one.n_rows) == (15, 150)
    assert one.outcomes.n == seen.n == frame["times"][::2].sum()


def test_columns_with_another_role_are_not_looked_at():
    frame = table(user_id=USERS, item=USERS // 2)
    assert found(frame) == ["item", "user_id"]
    assert found(frame, groups="item") == []
    assert found(frame, by="item") == ["user_id"]
    assert found(frame.assign(item=1), count="item") == ["user_id"]
    renamed = frame.rename(columns={"old": "query", "new": "prompt", "label": "subject"})
    seen = op.read(renamed, truth="subject", models=["query", "prompt"])
    assert [one.column for one in seen._repeated] == ["item", "user_id"]


def test_what_does_not_repeat_or_is_no_id_is_not_remembered():
    columns = {
        "doc_id": np.arange(N),  # once each
        "session": np.arange(N) % 9,  # a category
        "user_id": USERS / 7,  # fractions
        "author": pd.Series(USERS).where(USERS > 0),  # something is missing
        "patient": [None if one == 0 else str(one) for one in USERS],
        "height": USERS,
    }
    assert found(table(**columns)) == []


def test_of_many_columns_the_coarsest_are_kept():
    names = ("user", "author", "item", "query", "prompt")
    frame = table(**{name: np.arange(N) % (10 + 5 * k) for k, name in enumerate(names)})
    assert found(frame) == ["user", "author", "item"]


def test_plans_databases_and_large_data_are_not_looked_at(tmp_path, monkeypatch):
    frame = table(user_id=USERS)
    assert found(pl.from_pandas(frame).lazy()) == []
    assert found(duckdb.sql("SELECT * FROM frame")) == []
    with duckdb.connect(str(tmp_path / "t.duckdb")) as database:
        database.execute("CREATE TABLE preds AS SELECT * FROM frame")
    assert found(str(tmp_path / "t.duckdb"), table="preds") == []
    frame.to_csv(tmp_path / "t.csv", index=False)
    for module in ("outperform.io.count", "outperform.io.frames"):
        monkeypatch.setattr(f"{module}.MOST_ROWS", N - 1)
    assert found(frame) == []
    assert found(str(tmp_path / "t.csv")) == []


def test_large_files_are_read_once(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    table(user_id=USERS).to_csv(path, index=False)
    assert found(str(path)) == ["user_id"]
    monkeypatch.setattr("outperform.io.count.MOST_BYTES", path.stat().st_size - 1)
    assert found(str(path), where={"label": "a"}) == []


def test_files_that_differ_in_an_id_that_nobody_asked_for_are_counted(tmp_path):
    table(user_id=USERS).to_parquet(tmp_path / "1.parquet")
    table(user_id=[f"u{one}" for one in USERS]).to_parquet(tmp_path / "2.parquet")
    assert found(str(tmp_path)) == []
    assert op.read(str(tmp_path), **ASKED).n == 2 * N
    lines = table(user_id=USERS)
    lines.to_json(tmp_path / "1.jsonl", orient="records", lines=True)
    lines.drop(columns="user_id").to_json(tmp_path / "2.jsonl", orient="records", lines=True)
    assert found([str(tmp_path / f"{one}.jsonl") for one in (1, 2)]) == []


def test_a_damaged_column_that_nobody_asked_for_is_none_of_our_business(tmp_path):
    path = tmp_path / "t.parquet"
    frame = table(user_id=[f"user {one}" for one in USERS])
    frame.to_parquet(path, compression="zstd", use_dictionary=False)
    assert found(str(path)) == ["user_id"]
    (chunk,) = (
        group.column(place)
        for group in [pq.read_metadata(path).row_group(0)]
        for place in range(group.num_columns)
        if group.column(place).path_in_schema == "user_id"
    )
    data = bytearray(path.read_bytes())
    first = chunk.data_page_offset + 20
    data[first : first + 30] = bytes(255 - one for one in data[first : first + 30])
    path.write_bytes(data)
    assert found(str(path)) == []
    assert op.read(str(path), **ASKED).n == N


def test_objects_that_cannot_be_told_apart_do_not_stop_the_reading():
    frame = table(user_id=pd.Series([[one] for one in USERS], dtype=object))
    assert found(frame) == []
