"""Rows behind outcomes: what keeps them, what they cost, and what leaves them alone."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import outperform as op
from outperform.data import items as kept
from outperform.errors import DataError, UsageError
from tests.loops import each

RNG = np.random.default_rng(7)
N = 60
FRAME = pd.DataFrame(
    {
        "id": [f"q{k}" for k in range(N)],
        "label": RNG.choice(["a", "b", "c"], N),
        "x": RNG.choice(["a", "b", "c"], N),
        "y": RNG.choice(["a", "b", "c"], N),
    }
)


def rows_of(outcomes: op.Outcomes) -> dict[object, tuple[object, ...]]:
    items = outcomes._items
    assert items is not None
    cells = [tuple(items.values[code] for code in cell) for cell in items.cells.tolist()]
    return {name: cells[place] for name, place in zip(items.names, items.cell, strict=True)}


EXPECTED = {row.id: (row.label, row.x, row.y) for row in FRAME.itertuples()}


def test_arrays_keep_rows_in_four_bytes_each():
    seen = op.Outcomes.from_labels(FRAME["label"], FRAME[["x", "y"]])
    assert rows_of(seen) == dict(enumerate(EXPECTED.values()))
    assert seen._items.cell.dtype == np.int32
    assert seen._items.ids is None
    named = op.Outcomes.from_labels(FRAME["label"], FRAME[["x", "y"]], ids=FRAME["id"])
    assert rows_of(named) == EXPECTED


def test_rows_change_neither_equality_nor_json():
    plain = op.Outcomes.from_labels(FRAME["label"], FRAME[["x", "y"]])
    named = op.Outcomes.from_labels(FRAME["label"], FRAME[["x", "y"]], ids=FRAME["id"])
    assert plain == named == replace(plain, _items=None)
    assert plain.to_json() == named.to_json()
    assert "items" not in json.loads(named.to_json())


def test_many_classes_are_found_by_search():
    truth = RNG.integers(0, 500, 2_000)
    a, b = np.where(RNG.random((2, 2_000)) < 0.7, truth, RNG.integers(0, 500, (2, 2_000)))
    seen = op.Outcomes.from_labels(truth, {"a": a, "b": b})
    assert list(rows_of(seen).values()) == list(zip(truth, a, b, strict=True))


def test_rows_follow_models_labels_and_sums():
    names = FRAME["id"]
    seen = op.Outcomes.from_labels(FRAME["label"], FRAME[["x", "y"]], ids=names)
    later = op.Outcomes.from_labels(
        ["z", "a"], {"y": ["a", "z"], "x": ["z", "z"]}, ids=["late", "later"]
    )
    both = (seen + later).with_labels(["more"]).select(["y", "x"])
    assert rows_of(both) == EXPECTED | {"late": ("z", "z", "a"), "later": ("a", "z", "z")}
    c = op.compare(both, "y", "x", metric="accuracy", n_draws=100)
    found = {one.id: (one.truth, one.a, one.b) for one in c.item_table(which="all")}
    assert found == {name: (t, y, x) for name, (t, x, y) in rows_of(both).items()}
    assert (seen + replace(later, _items=None))._items is None


def test_rows_follow_binarize_and_split_labels():
    seen = op.Outcomes.from_labels(FRAME["label"], FRAME[["x", "y"]], ids=FRAME["id"])
    c = op.compare(seen.binarize("a"), "x", "y", metric="f1", n_draws=100)
    same = op.compare(seen, "x", "y", metric="f1", pos_label="a", n_draws=100)
    flips = {one.id: one.influence for one in same.item_table(which="all")}
    assert {one.id: one.influence for one in c.item_table(which="all")} == pytest.approx(flips)
    texts = op.Outcomes.from_labels(["a|b", "a"] * 9, {"x": ["a", "a"] * 9, "y": ["a|b", ""] * 9})
    found = op.compare(
        texts.split_labels("|"), "x", "y", metric="f1_macro", n_draws=100
    ).item_table()
    assert len(found) == 18


@each("kind", ["csv", "jsonl", "parquet", "pandas", "polars", "lazy"])
def test_sources_with_an_id_keep_rows_and_others_do_not(kind, tmp_path):
    path = tmp_path / f"p.{kind}"
    frame = pl.from_pandas(FRAME)
    match kind:
        case "csv":
            frame.write_csv(path)
        case "jsonl":
            frame.write_ndjson(path)
        case "parquet":
            frame.write_parquet(path)
    source = {"pandas": FRAME, "polars": frame, "lazy": frame.lazy()}.get(kind, path)
    seen = op.read(source, truth="label", models=["x", "y"], id="id")
    assert rows_of(seen) == EXPECTED
    without = op.read(source, truth="label", models=["x", "y"])
    assert without._items is None
    assert seen == without


def test_a_join_keeps_ids_also_with_groups(tmp_path):
    for name, column in (("gold", "label"), ("x", "x"), ("y", "y")):
        own = FRAME[["id", column]].rename(columns={column: "label"})
        own.assign(who=FRAME.index // 3).to_csv(tmp_path / f"{name}.csv", index=False)
    paths = [tmp_path / f"{name}.csv" for name in ("gold", "x", "y")]
    assert rows_of(op.read(paths, id="id", label="label")) == EXPECTED
    grouped = op.read(paths, id="id", label="label", groups="who")
    assert rows_of(grouped) == EXPECTED
    assert grouped.groups.n == N // 3


def test_groups_weights_slices_and_dropped_rows_beside_an_id():
    frame = FRAME.assign(who=FRAME.index // 3, w=1.5, day="mon")
    for more in ({"groups": "who"}, {"weight": "w"}, {"by": "day"}):
        seen = op.read(frame, truth="label", models=["x", "y"], id="id", **more)
        assert rows_of(seen) == EXPECTED
    frame.loc[3, "x"] = None
    seen = op.read(frame, truth="label", models=["x", "y"], id="id", on_null="drop")
    assert rows_of(seen) == {name: row for name, row in EXPECTED.items() if name != "q3"}
    counted = op.read(FRAME.assign(n=2), truth="label", models=["x", "y"], id="id", count="n")
    assert counted._items is None


def test_long_tables_keep_ids_of_tasks_and_of_repeated_answers():
    rows = [
        {"id": f"i{item}", "model": model, "score": (item + turn + (model == "x")) % 2,
         "task": "t1" if item % 2 else "t2", "epoch": turn}
        for item in range(6) for model in ("x", "y") for turn in (1, 2)
    ]  # fmt: skip
    asked = {"format": "long", "id": "id", "model": "model", "score": "score"}
    seen = op.read(pd.DataFrame(rows), **asked)
    assert sorted(rows_of(seen))[:2] == ["t1/i1#1", "t1/i1#2"]
    grades = op.read_scores(
        pd.DataFrame(rows), format="long", id="id", model="model", score="score"
    )
    assert grades.ids.tolist() == seen._items.names


def test_too_many_rows_are_counted_and_not_kept(monkeypatch):
    monkeypatch.setattr(kept, "MOST_ITEMS", 10)
    assert op.Outcomes.from_labels(FRAME["label"], FRAME[["x", "y"]])._items is None


@each(
    ("ids", "error", "said"),
    [
        (["a", "a", "b"], DataError, "unique"),
        (["a", None, "b"], DataError, "text or an integer"),
        ([1.5, 2, 3], DataError, "text or an integer"),
        (["a", "b"], DataError, "got 2 for 3 items"),
        ("abc", UsageError, "list"),
    ],
)
def test_bad_ids_are_refused(ids, error, said):
    with pytest.raises(error, match=said):
        op.Outcomes.from_labels([1, 0, 1], {"m": [1, 1, 1]}, ids=ids)
    with pytest.raises(error, match=said):
        op.Scores.from_values({"m": [1, 1, 1]}, ids=ids)


def test_ids_are_aligned_by_index_as_other_columns_are():
    truth = pd.Series(["a", "b", "a"], index=[7, 8, 9])
    ids = pd.Series(["n", "m", "l"], index=[9, 8, 7])
    seen = op.Outcomes.from_labels(truth, {"m": truth}, ids=ids)
    assert seen._items.names == ["l", "m", "n"]
