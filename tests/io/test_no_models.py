"""Columns that are no model's: ids, countries, days, free text, and the truth that is none."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

import outperform as op
from outperform.data.checks import compare_values
from outperform.errors import DataError, UsageError

N = 300
RNG = np.random.default_rng(5)
CLASSES = np.array(["ham", "news", "spam"])
TRUTH = RNG.choice(CLASSES, N)


def predicted(right):
    return np.where(RNG.random(N) < right, TRUTH, RNG.choice(CLASSES, N))


TABLE = pd.DataFrame({"id": np.arange(N), "label": TRUTH, "bert": predicted(0.8),
                      "gpt": predicted(0.6)})  # fmt: skip
DAYS = pd.Series(pd.date_range("2026-01-01", periods=N))
UNIQUE = f"'id' has {N} different values in {N} rows and none is a label of 'label'"


@pytest.fixture(params=["frame", "polars", "csv", "parquet", "jsonl"])
def source(request, tmp_path):
    """Return a function that stores a table as one kind of source."""

    def store(table):
        path = tmp_path / f"preds.{request.param}"
        if request.param == "frame":
            return table
        if request.param == "polars":
            return pl.from_pandas(table)
        if request.param == "csv":
            table.to_csv(path, index=False)
        elif request.param == "parquet":
            table.to_parquet(path)
        else:
            table.to_json(path, orient="records", lines=True)
        return path

    return store


def test_an_id_that_nobody_named_is_no_model(source):
    with pytest.raises(UsageError) as caught:
        op.read(source(TABLE), truth="label")
    assert UNIQUE in str(caught.value)
    assert "pass id='id'" in str(caught.value)
    assert "models=['bert', 'gpt']" in str(caught.value)
    assert op.read(source(TABLE), truth="label", id="id").models == ("bert", "gpt")


def test_an_id_that_was_named_is_no_model_either(source):
    with pytest.raises(UsageError, match=f"{UNIQUE}, which a model predicts; .*pass id='id'"):
        op.read(source(TABLE), truth="label", models=["bert", "id"])


def test_ids_that_are_numbers_like_the_classes(source):
    codes = {name: one for one, name in enumerate(CLASSES)}
    table = TABLE.replace({name: codes for name in ("label", "bert", "gpt")})
    with pytest.raises(UsageError, match=f"{N} different values in {N} rows and 3 are labels"):
        op.read(source(table), truth="label")


def test_a_column_without_any_label_is_no_model(source):
    table = TABLE.assign(country=np.where(np.arange(N) % 2, "DE", "FR"))
    with pytest.raises(
        UsageError, match=r"'country' contains 'DE' and 'FR', none of which is a label of 'label'"
    ):
        op.read(source(table), truth="label", id="id")
    named = op.read(source(table), truth="label", id="id", models=["bert", "gpt"])
    assert named.models == ("bert", "gpt")
    sliced = op.read(source(table), truth="label", id="id", by="country")
    assert sliced.models == ("bert", "gpt")


def test_a_column_of_days_is_no_model(tmp_path):
    TABLE.assign(day=DAYS).to_parquet(tmp_path / "preds.parquet")
    told = r"'day' has type .*\. Pass models=\['bert', 'gpt'\]"
    for one in (TABLE.assign(day=DAYS), tmp_path / "preds.parquet"):
        with pytest.raises(UsageError, match=told):
            op.read(one, truth="label", id="id")


def test_an_id_is_no_truth(source):
    with pytest.raises(UsageError, match=r"'id' has 300 different values .* no model predicts any"):
        op.read(source(TABLE), truth="id", models=["bert", "gpt"])
    with pytest.raises(UsageError, match="no label of 'id' occurs in any other column"):
        op.read(source(TABLE), truth="id")


def test_arrays_that_are_ids_are_refused_at_once():
    start = time.process_time()
    n = 3_000
    truth = np.arange(n) % 20
    for verb in (
        lambda ids: op.compare(truth, ids, truth, metric="f1_macro"),
        lambda ids: op.rank(truth, {"id": ids, "m": truth}, metric="f1_macro"),
        lambda ids: op.Outcomes.from_labels(truth, {"id": ids}),
        lambda ids: op.Outcomes.from_counts(truth, {"id": ids}, np.ones(n, dtype=int)),
        lambda ids: op.compare(ids, truth % 2, truth % 3, metric="accuracy"),
    ):
        with pytest.raises(DataError, match="3,000 different values in 3,000 rows"):
            verb(np.arange(100_000, 100_000 + n))
    assert time.process_time() - start < 10


def test_many_classes_are_classes():
    classes = np.arange(2_000)
    truth = RNG.choice(classes, 20_000)
    guess = np.where(RNG.random(20_000) < 0.3, truth, RNG.choice(classes, 20_000))
    assert op.Outcomes.from_labels(truth, {"m": guess}).n_classes == 2_000


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6])
def test_free_text_beside_a_truth_of_free_text_is_read(source, share):
    answers = np.array([f"answer {k // 2}" for k in range(N)])
    texts = [answers[k] if k < share * N else f"the model says {k}" for k in range(N)]
    table = pd.DataFrame({"truth": answers, "llm": texts, "other": answers})
    seen = op.read(source(table), truth="truth", models=["llm", "other"])
    assert seen.n == N
    assert op.Outcomes.from_labels(answers, {"llm": texts}).n == N


def test_an_answer_in_many_is_free_text_and_is_read():
    texts = np.where(RNG.random(N) < 0.5, TRUTH, [f"I cannot say: {k}" for k in range(N)])
    assert op.read(TABLE.assign(llm=texts), truth="label", models=["llm"]).n == N


def test_few_rows_are_never_ids():
    few = pd.DataFrame({"label": list("abc"), "m": list("xyz")})
    assert op.read(few, truth="label", models=["m"]).n == 3


def test_values_are_compared_with_labels_by_their_text():
    found = compare_values([1, 2, None], np.array([0, 0, 1, 2]), ["1", "7"], None)
    assert found == (4, 2, 2, 1, 2)
    counted = compare_values([1, 2], np.array([0, 1]), ["1"], np.array([5, 7]))
    assert (counted.n_rows, counted.n_right) == (12, 5)
