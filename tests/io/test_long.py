"""Tables with one row for each item and model, and what else logs know of their items."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import outperform as op
from outperform.data.views import count_of
from outperform.errors import DataError, UsageError
from tests.loops import each

LOGS = Path(__file__).parent / "evaluations"
COLUMNS = {"id": "question_id", "model": "model", "score": "score"}


def rows_of(n=40, models=("bert", "gpt"), seed=0):
    rng = np.random.default_rng(seed)
    return [
        {
            "question_id": f"q{k}",
            "model": model,
            "score": int(rng.random() < 0.7),
            "task": "arc" if k % 2 else "gsm8k",
            "author": f"a{k // 4}",
        }
        for model in models
        for k in range(n)
    ]


def right(rows, model):
    return sum(row["score"] for row in rows if row["model"] == model)


def long(source, **options):
    return op.read(source, format="long", **{**COLUMNS, **options})


def written(tmp_path, rows, kind):
    frame = pd.DataFrame(rows)
    path = tmp_path / f"answers.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    return path


@each("kind", ["csv", "jsonl", "parquet", "pandas", "polars"])
def test_every_table_gives_the_same_outcomes(tmp_path, kind):
    rows = rows_of()
    shuffled = [rows[k] for k in np.random.default_rng(1).permutation(len(rows))]
    frames = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
    source = frames[kind](shuffled) if kind in frames else written(tmp_path, shuffled, kind)
    seen = long(source, models=["bert", "gpt"])
    by_hand = {
        model: [row["score"] == 1 for row in rows if row["model"] == model]
        for model in ("bert", "gpt")
    }
    assert seen.kind == "correct"
    assert seen.n == 40
    for model in seen.models:
        assert count_of(seen, model, "tp", positive=1) == right(rows, model)
    wide = op.Outcomes.from_correct(by_hand)
    asked = {"metric": "accuracy", "rope": 0.02, "random_state": 0}
    assert (
        op.compare(seen, "bert", "gpt", **asked).hdi == op.compare(wide, "bert", "gpt", **asked).hdi
    )


def test_items_are_paired_by_task_and_id(tmp_path):
    rows = rows_of()
    for row in rows:
        row["question_id"] = row["question_id"][:2]  # which repeats between tasks, and within
    with pytest.raises(DataError, match="number repeated answers in a column 'epoch'"):
        long(written(tmp_path, rows, "csv"))
    for row, number in zip(rows, [k // 2 for k in range(40)] * 2, strict=True):
        row["question_id"] = f"q{number}"
    seen = long(written(tmp_path, rows, "csv"))
    assert seen.n == 40


def test_slices_and_groups(tmp_path):
    rows = rows_of()
    path = written(tmp_path, rows, "jsonl")
    seen = long(path, by="task")
    assert [tuple(key) for key in seen.slices] == [("arc",), ("gsm8k",)]
    arc = [row for row in rows if row["task"] == "arc"]
    assert count_of(seen.slice("arc"), "bert", "tp", positive=1) == right(arc, "bert")
    found = op.compare_slices(seen, "bert", "gpt", metric="accuracy", rope=0.05, random_state=0)
    assert len(found) == 2
    grouped = long(path, groups="author")
    assert grouped.groups is not None
    # Ten authors in each of two tasks.
    assert op.compare(grouped, "bert", "gpt", random_state=0).spec.n_groups == 20
    assert "groups_kept_apart" in [one.name for one in grouped.findings]
    plain = [{"subject": row.pop("task"), **row} for row in rows_of()]
    for row in plain:
        row["question_id"] = f"{row['subject']} {row['question_id']}"
    grouped = long(written(tmp_path, plain, "csv"), groups="author")
    assert op.compare(grouped, "bert", "gpt", random_state=0).spec.n_groups == 10


def test_epochs_are_groups(tmp_path):
    rows = [{**row, "epoch": epoch} for epoch in (1, 2) for row in rows_of(seed=epoch)]
    seen = long(written(tmp_path, rows, "csv"))
    assert seen.n == 80
    assert seen.groups is not None
    by_task = long(written(tmp_path, rows, "csv"), by="task")
    assert [by_task.slice(*key).groups.n for key in by_task.slices] == [20, 20]


def test_grades_are_scores(tmp_path):
    rows = [{**row, "score": 7.5 * row["score"]} for row in rows_of()]
    path = written(tmp_path, rows, "csv")
    with pytest.raises(DataError, match="neither right nor wrong"):
        long(path)
    seen = op.read_scores(path, format="long", groups="author", **COLUMNS)
    assert seen.models == ("bert", "gpt")
    c = op.compare(seen, "bert", "gpt", metric="mean", rope=0.1, random_state=0)
    assert c.a.observed == pytest.approx(right(rows, "bert") / 40)


@each(
    ("change", "options", "said"),
    [
        ({}, {"id": None}, r"pass id="),
        ({}, {"model": None}, r"pass model="),
        ({}, {"score": None, "id": None}, r"pass id= and score="),
        ({}, {"id": "question"}, r"question_id"),
        ({}, {"by": "topic"}, r"topic"),
        ({}, {"truth": "task"}, r"truth= cannot be used with a table with one row"),
        ({"model": ""}, {}, r"row \d+ has no model"),
        ({"question_id": ""}, {}, r"every sample needs an id in 'question_id'"),
        ({"score": "maybe"}, {}, r"'maybe' for 'q3', which is neither right nor wrong"),
        ({"score": ""}, {}, r"'bert' has no 'score' for 1 of 40 items, e\.g\. 'q3'"),
        ({"model": "bart"}, {}, r"'bart' lacks 39"),
        ({"author": "x"}, {"groups": "author"}, r"'author' of 'q3' is"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, change, options, said):
    rows = rows_of()
    rows[3] |= change
    with pytest.raises((UsageError, DataError), match=said):
        long(written(tmp_path, rows, "csv"), **options)


def test_a_table_a_model_needs_no_column_of_models(tmp_path):
    rows = rows_of()
    paths = {}
    for model in ("bert", "gpt"):
        own = [row for row in rows if row["model"] == model]
        paths[model] = written(tmp_path, own, "csv").rename(tmp_path / f"{model}.csv")
    seen = op.read(paths, format="long", id="question_id", score="score")
    assert [count_of(seen, model, "tp", positive=1) for model in seen.models] == [
        right(rows, model) for model in seen.models
    ]


def documents(tmp_path):
    """Copy logs of lm-evaluation-harness for two tasks, with a passage in every document."""
    folder = LOGS / "lm_eval" / "two"
    for path in folder.rglob("samples_tiny_mc_*.jsonl"):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for number, line in enumerate(lines):
            line["doc"] = {"passage": number // 2}
        target = tmp_path / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        for task in ("tiny_mc", "tiny_two"):
            own = target.with_name(target.name.replace("tiny_mc", task))
            own.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return tmp_path


def test_logs_are_divided_by_task(tmp_path):
    folder = documents(tmp_path)
    seen = op.read(folder, format="lm-eval", score="acc", by="task")
    assert seen.n == 12
    assert [key[0] for key in seen.slices] == ["tiny_mc", "tiny_two"]
    for task in ("tiny_mc", "tiny_two"):
        alone = op.read(folder, format="lm-eval", score="acc", where={"task": task})
        for model in seen.models:
            assert count_of(seen.slice(task), model, "tp", positive=1) == count_of(
                alone, model, "tp", positive=1
            )


def changed_logs(tmp_path, change):
    """Copy the chat logs of inspect_ai with metadata in every sample."""
    for path in sorted((LOGS / "inspect" / "chat" / "json").glob("*.json")):
        log = json.loads(path.read_text("utf-8"))
        for number, sample in enumerate(log["samples"]):
            sample["metadata"] = change(number, log)
        (tmp_path / path.name).write_text(json.dumps(log), "utf-8")
    return tmp_path


def test_metadata_of_inspect_are_groups_and_slices(tmp_path):
    def metadata(number, log):
        return {"source": {"book": "ab"[number % 2]}}

    folder = changed_logs(tmp_path, metadata)
    grouped = op.read(folder, format="inspect", score="match", groups="source.book")
    assert grouped.groups is not None
    seen = op.read(folder, format="inspect", score="match", by="source.book")
    assert [key[0] for key in seen.slices] == ["a", "b"]
    with pytest.raises(DataError, match="have no 'page'"):
        op.read(folder, format="inspect", score="match", by="page")
    with pytest.raises(DataError, match="must be a text or a number"):
        op.read(folder, format="inspect", score="match", by="source")


def test_metadata_must_agree(tmp_path):
    folder = changed_logs(tmp_path, lambda number, log: {"book": log["eval"]["model"]})
    with pytest.raises(DataError, match="must be the same for every model"):
        op.read(folder, format="inspect", score="match", groups="book")


def test_fields_of_documents_are_groups(tmp_path):
    seen = op.read(documents(tmp_path), format="lm-eval", score="acc", groups="passage")
    assert op.compare(seen, *seen.models, random_state=0).spec.n_groups == 6  # 3 of each task


def test_two_models_of_one_file_are_named_and_not_the_file_twice(tmp_path):
    path = tmp_path / "answers.csv"
    asked = {"format": "long", "id": "id", "model": "model", "score": "score"}

    def write(column):
        rows = [f"q{k},{model},1,{model}" for model in ("new", "old") for k in range(3)]
        path.write_text("\n".join([f"id,model,score,{column}", *rows]) + "\n")

    write("question")
    message = r"'old' in .*answers.csv and 'new' ask different questions under the same id"
    with pytest.raises(DataError, match=message):
        op.read(path, **asked)
    write("topic")
    with pytest.raises(DataError, match=r"'topic' of 'q0' is 'old' for 'old' in .* for 'new'; it"):
        op.read(path, **asked, groups="topic")
