"""Logs of LLM evaluations: written by the real libraries, paired, refused and dropped.

The files under ``evaluations`` come from lm-evaluation-harness 0.4.13 and inspect_ai 0.3.285, run
on six or five questions with models that guess; what is not needed was cut out of them.
"""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import outperform as op
from outperform.data.views import count_of
from outperform.errors import DataError, UsageError
from outperform.io.logs.samples import is_right
from tests.loops import each

LOGS = Path(__file__).parent / "evaluations"
HARNESS, INSPECT = LOGS / "lm_eval", LOGS / "inspect"


def lm_eval(source=HARNESS / "two", **options):
    return op.read(source, format="lm-eval", **options)


def inspect(source=INSPECT / "epochs", **options):
    return op.read(source, format="inspect", **options)


def names(seen):
    return [finding.name for finding in seen.findings]


def right(seen, model):
    return count_of(seen, model, "tp", positive=1)


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def log_of(folder, model, task):
    (path,) = (folder / model).glob(f"samples_{task}_*.jsonl")
    return path


@pytest.fixture
def copied(tmp_path):
    """The multiple-choice logs of both models, to be damaged."""
    paths = {}
    for model in ("small", "large"):
        path = log_of(HARNESS / "two", model, "tiny_mc")
        paths[model] = tmp_path / model / path.name
        paths[model].parent.mkdir()
        shutil.copy(path, paths[model])
    return paths


# lm-evaluation-harness


def test_a_folder_of_models_is_paired_on_the_item():
    seen = lm_eval(where={"task": "tiny_mc"}, score="acc")
    assert seen.models == ("large", "small")
    assert (seen.n, seen.kind, seen.paired, seen.groups) == (6, "correct", True, None)
    small, large = (
        [row["acc"] for row in lines(log_of(HARNESS / "two", model, "tiny_mc"))]
        for model in ("small", "large")
    )
    assert seen == op.Outcomes.from_correct({"large": large, "small": small})


@pytest.mark.parametrize(("name", "share"), [("first", [2, 4]), ("flexible", [4, 5])])
def test_one_filter_is_taken(name, share):
    seen = lm_eval(where={"task": "tiny_gen", "filter": name})
    assert [right(seen, model) for model in ("large", "small")] == share


def test_a_log_with_several_filters_asks_for_one():
    with pytest.raises(UsageError, match=r"filters 'first', 'flexible'; select one, e\.g\. where="):
        lm_eval(where={"task": "tiny_gen"})


def test_tasks_with_other_filters_keep_theirs():
    hint = r"one per task, e\.g\. where=\{'filter': \['first', 'none'\]\}"
    with pytest.raises(UsageError, match=hint):
        lm_eval()


def test_several_scores_of_right_and_wrong_ask_for_one():
    with pytest.raises(UsageError, match="'acc', 'acc_norm'; select one with score="):
        lm_eval(where={"task": "tiny_mc"})
    with pytest.raises(UsageError, match="unknown score 'ac'; did you mean 'acc'"):
        lm_eval(where={"task": "tiny_mc"}, score="ac")


def test_several_tasks_are_put_under_each_other(copied, tmp_path):
    for model, path in copied.items():
        other = [{**row, "acc": 1 - row["acc"]} for row in lines(path)]
        write(tmp_path / model / "samples_other_2026-01-01T00-00-00.jsonl", other)
    seen = lm_eval(tmp_path, score="acc")
    assert seen.n == 12
    assert right(seen, "small") == 6
    assert lm_eval(tmp_path, score="acc", where={"task": ["other"]}).n == 6
    with pytest.raises(UsageError, match="unknown task 'othre'; did you mean 'other'"):
        lm_eval(tmp_path, score="acc", where={"task": "othre"})


def test_tasks_with_other_scores_are_read_apart():
    with pytest.raises(UsageError, match=r"samples_tiny_gen.*unknown score 'acc'"):
        lm_eval(where={"filter": ["none", "first"]}, score="acc")


@pytest.mark.parametrize("packing", ["", ".gz"])
def test_files_patterns_and_mappings(copied, tmp_path, packing):
    if packing:
        for model, path in copied.items():
            copied[model] = path.with_name(path.name + packing)
            copied[model].write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
    expected = lm_eval(where={"task": "tiny_mc"}, score="acc")
    found = [
        lm_eval([copied["large"], copied["small"]], score="acc"),
        lm_eval(f"{tmp_path}/*/samples_tiny_mc_*", score="acc"),
        lm_eval({"large": str(copied["large"]), "small": copied["small"].parent}, score="acc"),
    ]
    assert all(one == expected for one in found)
    named = lm_eval({"B": copied["large"], "A": copied["small"]}, score="acc")
    assert named.models == ("B", "A")


def test_models_are_chosen_and_named():
    seen = lm_eval(where={"task": "tiny_mc"}, score="acc", models={"S": "small"})
    assert seen.models == ("S",)
    kept = lm_eval(where={"task": "tiny_mc"}, score="acc", models=["small", "large"])
    assert kept.models == ("small", "large")
    with pytest.raises(UsageError, match="unknown model 'smal'; did you mean 'small'"):
        lm_eval(where={"task": "tiny_mc"}, score="acc", models=["smal"])
    with pytest.raises(UsageError, match="models must be a list of names"):
        lm_eval(where={"task": "tiny_mc"}, score="acc", models="small")


def test_open_files_need_a_name(copied):
    with copied["small"].open("rb") as stream:
        assert lm_eval({"small": stream}, score="acc").n == 6
    with copied["small"].open("rb") as stream, pytest.raises(UsageError, match="pass the name"):
        lm_eval(stream, score="acc")


def test_older_versions_log_neither_filter_nor_hash_nor_names_of_scores(tmp_path):
    paths = {}
    for model in ("small", "large"):
        rows = lines(log_of(HARNESS / "two", model, "tiny_mc"))
        for row in rows:
            for name in ("filter", "metrics", "doc_hash", "prompt_hash", "target_hash"):
                del row[name]
        paths[model] = write(tmp_path / f"{model}.jsonl", rows)
    assert lm_eval(list(paths.values()), score="acc").models == ("small", "large")
    expected = lm_eval(where={"task": "tiny_mc"}, score="acc", models=["small", "large"])
    assert lm_eval(paths, score="acc") == expected
    with pytest.raises(UsageError, match="'acc', 'acc_norm'"):
        lm_eval(paths)


def test_versions_that_log_every_filter_without_its_name(tmp_path):
    rows = lines(log_of(HARNESS / "two", "small", "tiny_gen"))
    for row in rows:
        del row["filter"], row["metrics"]
    path = write(tmp_path / "small" / "samples_tiny_gen_2024-07-01T00-00-00.000001.jsonl", rows)
    with pytest.raises(DataError, match=r"12 lines for 6 items but does not name their filt"):
        lm_eval(path)
    assert right(lm_eval(write(path, rows[:6])), "small") == 4


def test_the_oldest_versions_wrote_one_list(tmp_path):
    rows = lines(log_of(HARNESS / "two", "small", "tiny_mc"))
    path = tmp_path / "small_tiny_mc.jsonl"
    path.write_text(json.dumps(rows, indent=2), encoding="utf-8")
    with pytest.raises(DataError, match=r"is a single list, as written by lm_eval before 0\.4\.3"):
        lm_eval(path, score="acc")


def test_runs_that_are_listed_are_repeated_answers():
    runs = {name: [HARNESS / "two" / name, HARNESS / "again" / name] for name in ("small", "large")}
    ask = {"where": {"task": "tiny_mc"}, "score": "acc"}
    with pytest.raises(DataError, match=r"of 12 samples .*'large' lacks 2, e\.g\. '4', epoch 2"):
        lm_eval(runs, **ask)
    seen = lm_eval(runs, on_missing="drop", **ask)
    assert (seen.n, seen.groups.n) == (10, 6)
    assert names(seen) == ["unmatched_ids_dropped"]
    assert "'large' lacks 2" in seen.findings[0].message
    alone = lm_eval({"small": runs["small"]}, **ask)
    assert (alone.n, alone.groups.n) == (12, 6)
    assert right(alone, "small") == 3 + 2


def test_a_run_that_is_there_twice_is_refused(copied):
    path = copied["small"]
    shutil.copy(path, path.with_name("samples_tiny_mc_2027-01-01T00-00-00.000001.jsonl"))
    with pytest.raises(DataError, match=r"6 are repeated in .*'0' \(2 times\).*Keep one log"):
        lm_eval(path.parent, score="acc")


# What does not fit


def test_items_that_only_some_models_answered():
    ask = {"score": "acc", "where": {"task": "tiny_mc"}}
    with pytest.raises(DataError, match=r"of 6 items .*'large' lacks 2, e\.g\. '4', '5'\. .*drop"):
        lm_eval(HARNESS / "again", **ask)
    seen = lm_eval(HARNESS / "again", on_missing="drop", **ask)
    assert seen.n == 4
    assert names(seen) == ["unmatched_ids_dropped"]
    assert seen.findings[0].message.startswith("Only 4 items were answered by every model")


def test_no_item_in_common(copied):
    rows = lines(copied["small"])
    write(copied["small"], [{**row, "doc_id": f"x{k}"} for k, row in enumerate(rows)])
    with pytest.raises(DataError, match=r"no item was answered by all models: .*lacks 6.*, …"):
        lm_eval(copied, score="acc", on_missing="drop")


def test_another_version_of_the_items(copied):
    rows = lines(copied["small"])
    rows[3]["doc_hash"] = rows[4]["doc_hash"] = "f" * 64
    write(copied["small"], rows)
    message = "ask different questions under the same id in 2 of 6 samples, e.g. '3', '4'; .*vers"
    with pytest.raises(DataError, match=message):
        lm_eval(copied, score="acc")


def test_other_filters_in_other_logs(copied):
    write(copied["small"], [{**row, "filter": "strict"} for row in lines(copied["small"])])
    with pytest.raises(DataError, match=r"for the filter 'none', .*'strict'"):
        lm_eval(copied, score="acc")


def test_an_item_that_is_there_twice(copied):
    rows = lines(copied["small"])
    write(copied["small"], [*rows, rows[2]])
    with pytest.raises(DataError, match=r"'small' must occur once, but 1 are .*'2' \(2 times\)"):
        lm_eval(copied, score="acc")


def test_a_line_that_was_cut_off(copied):
    path = copied["small"]
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match="line 6 is not JSON"):
        lm_eval(copied, score="acc")


@pytest.mark.parametrize("value", [None, float("nan"), "gone"])
def test_a_sample_without_a_score(copied, value):
    rows = lines(copied["small"])
    rows[1]["acc"] = value
    if value == "gone":
        del rows[1]["acc"]
    write(copied["small"], rows)
    with pytest.raises(DataError, match=r"'small' has no 'acc' for 1 of 6 items, e\.g\. '1'"):
        lm_eval(copied, score="acc")
    seen = lm_eval(copied, score="acc", on_null="drop")
    assert seen.n == 5
    assert names(seen) == ["null_rows_dropped"]
    write(copied["small"], [{**row, "acc": None} for row in rows])
    with pytest.raises(DataError, match="no item was answered by all models: no sample is left"):
        lm_eval(copied, score="acc", on_null="drop")


@pytest.mark.parametrize("value", [0.73, 2, [1, 0], "P", {"a": 1}])
def test_a_score_in_between(copied, value):
    rows = lines(copied["small"])
    rows[1]["acc"] = value
    write(copied["small"], rows)
    with pytest.raises(
        DataError, match=r"for '1', which is neither right nor wrong.*op.read_scores"
    ):
        lm_eval(copied, score="acc")
    for row in rows:
        row["acc_norm"] = 0.5
    write(copied["small"], rows)
    with pytest.raises(DataError, match=r"values that are right.*Select one with score= to see"):
        lm_eval(copied)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda row: {**row, "doc_id": None}, "every sample needs an id in 'doc_id'"),
        (lambda row: {"id": row["doc_id"], "acc": 1}, "not a log of samples: its lines have no"),
    ],
)
def test_items_need_an_id(copied, damage, message):
    write(copied["small"], [damage(row) for row in lines(copied["small"])])
    with pytest.raises(DataError, match=message):
        lm_eval(copied, score="acc")


def test_what_is_no_log(tmp_path):
    with pytest.raises(UsageError, match=r"the folder .* contains no log of samples"):
        lm_eval(tmp_path)
    results = tmp_path / "results_2026-01-01T00-00-00.json"
    results.write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match="contains averages; pass the samples_"):
        lm_eval(results)
    with pytest.raises(UsageError, match="no file 'nowhere"):
        lm_eval("nowhere/samples_x.jsonl")
    with pytest.raises(UsageError, match="no file matches"):
        lm_eval(f"{tmp_path}/samples_*")
    with pytest.raises(UsageError, match="at least one"):
        lm_eval([])
    with pytest.raises(UsageError, match="at least one log"):
        lm_eval({"small": []})
    with pytest.raises(UsageError, match="model names must be text"):
        lm_eval({1: tmp_path})


def test_names_of_scores_are_no_sql(tmp_path):
    hostile = "acc') --; \"'"
    rows = [{"doc_id": k, hostile: k % 2, "metrics": [hostile]} for k in range(4)]
    path = write(tmp_path / "m.jsonl", rows)
    assert right(lm_eval(path), "m") == 2
    assert right(lm_eval(path, score=hostile), "m") == 2


def test_arguments_that_belong_to_tables():
    with pytest.raises(UsageError, match="truth= and id= cannot be used with evaluation logs"):
        lm_eval(truth="target", id="doc_id")
    with pytest.raises(UsageError, match="dialect= cannot be used with evaluation logs"):
        lm_eval(dialect={"separator": ";"})
    with pytest.raises(
        UsageError, match="score= can be used with a table with one row per item and model"
    ):
        op.read("x.csv", truth="y", score="acc")
    with pytest.raises(UsageError, match="unknown format 'lm_eval'; did you mean 'lm-eval'"):
        op.read("x", format="lm_eval")


# inspect_ai


def expected_epochs():
    table = pd.read_csv(INSPECT / "epochs.csv")
    rows = table.sort_values(["model", "id", "epoch"])
    bits = {model: (own["score_match"] == "C").tolist() for model, own in rows.groupby("model")}
    groups = rows[rows["model"] == "mockllm/small"]["id"].tolist()
    return op.Outcomes.from_correct(
        {name: bits[name] for name in ("mockllm/small", "mockllm/large")}, groups=groups
    )


SOURCES = {
    "logs": lambda: INSPECT / "epochs",
    "csv": lambda: INSPECT / "epochs.csv",
    "parquet": lambda: INSPECT / "epochs.parquet",
    "pandas": lambda: pd.read_parquet(INSPECT / "epochs.parquet"),
    "pyarrow types": lambda: pd.read_parquet(INSPECT / "epochs.parquet", dtype_backend="pyarrow"),
    "polars": lambda: pl.read_parquet(INSPECT / "epochs.parquet"),
    "lazy": lambda: pl.scan_parquet(INSPECT / "epochs.parquet"),
}


@each("kind", SOURCES)
@each("score", [None, "match", "score_match"])
def test_epochs_of_an_item_are_a_group(kind, score):
    models = ["mockllm/small", "mockllm/large"]
    seen = inspect(SOURCES[kind](), score=score, models=models)
    assert seen == expected_epochs()
    assert (seen.n, seen.groups.n) == (15, 5)


def test_json_lines_of_a_sample_table(tmp_path):
    table = pd.read_csv(INSPECT / "epochs.csv")
    table.to_json(tmp_path / "samples.jsonl", orient="records", lines=True)
    models = ["mockllm/small", "mockllm/large"]
    assert inspect(tmp_path / "samples.jsonl", models=models) == expected_epochs()


def test_archives_and_items_that_only_one_model_answered():
    with pytest.raises(DataError, match=r"'mockllm/large' lacks 1, e\.g\. 'q4'"):
        inspect(INSPECT / "once")
    seen = inspect(INSPECT / "once", on_missing="drop")
    assert (seen.n, seen.groups) == (4, None)


@pytest.mark.parametrize("source", [INSPECT / "failed", INSPECT / "failed.csv"])
def test_a_sample_on_which_the_evaluation_failed(source):
    with pytest.raises(DataError, match=r"'mockllm/small' has no 'match' for 1 of 5 .*'q2'.*fail"):
        inspect(source)
    seen = inspect(source, on_null="drop")
    assert (seen.n, names(seen)) == (4, ["null_rows_dropped"])


def test_models_in_separate_tables():
    table = pd.read_csv(INSPECT / "epochs.csv")
    small, large = (
        table[table["model"] == f"mockllm/{name}"].drop(columns="model")
        for name in ("small", "large")
    )
    seen = inspect({"mockllm/small": small, "mockllm/large": large})
    assert seen == expected_epochs()
    with pytest.raises(DataError, match=r"the model name of some.*EvalModel"):
        inspect(small)
    for several in (table, INSPECT / "epochs", INSPECT / "epochs.csv"):
        with pytest.raises(UsageError, match="passed as 'x' contain the models 'mockllm/"):
            inspect({"x": several})
    with pytest.raises(UsageError, match="passed as 'x' are in several folders"):
        lm_eval({"x": HARNESS / "two"})


def test_different_numbers_of_epochs(tmp_path):
    table = pd.read_csv(INSPECT / "epochs.csv")
    fewer = table[(table["model"] == "mockllm/large") | (table["epoch"] < 3)]
    with pytest.raises(DataError, match=r"'mockllm/small' lacks 5, .*'q0', epoch 3.*equally often"):
        inspect(fewer)
    kept, two = inspect(fewer, on_missing="drop"), inspect(table[table["epoch"] < 3])
    assert kept.tables[0].counts.tolist() == two.tables[0].counts.tolist()
    assert (kept.groups.n, names(kept)) == (5, ["unmatched_ids_dropped"])
    assert inspect(table, where={"epoch": 1}).groups is None


def test_rows_are_chosen_by_columns_and_logs_by_task():
    assert inspect(INSPECT / "epochs.csv", where={"id": ["q0", "q1"]}).n == 6
    assert inspect(INSPECT / "epochs", where={"task_name": "tiny"}).n == 15
    with pytest.raises(UsageError, match="no log is left"):
        inspect(INSPECT / "epochs", where={"task_name": "huge"})
    with pytest.raises(UsageError, match="select only 'task_name' in logs"):
        inspect(INSPECT / "epochs", where={"id": "q0"})


def test_an_id_that_stands_for_something_else():
    table = pd.read_csv(INSPECT / "epochs.csv")
    changed = (table["model"] == "mockllm/small") & (table["id"] == "q1")
    table.loc[changed, "input"] = "user:\nCapital of Italy?\n"
    with pytest.raises(DataError, match="ask different questions under the same id in 3 of 15"):
        inspect(table)


def test_the_same_epoch_twice():
    table = pd.read_csv(INSPECT / "epochs.csv")
    with pytest.raises(DataError, match=r"15 are repeated in the frame.*'q0', epoch 1 \(2 times\)"):
        inspect(pd.concat([table, table]))


def test_scores_in_between_and_unknown_ones():
    with pytest.raises(DataError, match=r"'overlap' is 0.*neither right nor wrong"):
        inspect(score="overlap")
    for source in (INSPECT / "epochs", INSPECT / "epochs.csv"):
        with pytest.raises(UsageError, match="unknown score 'matches'; did you mean 'match'"):
            inspect(source, score="matches")


def test_details_of_scores_are_no_scores():
    table = pd.read_csv(INSPECT / "epochs.csv")
    table["score_match_answer"] = 1
    assert inspect(table, models=["mockllm/small", "mockllm/large"]) == expected_epochs()


@pytest.mark.parametrize(
    ("columns", "message"),
    [(["id"], "no column 'id' of the samples"), (["score_match", "score_overlap"], "no column of")],
)
def test_tables_that_lack_columns(columns, message):
    with pytest.raises(DataError, match=f"{message}.*samples_df"):
        inspect(pd.read_csv(INSPECT / "epochs.csv").drop(columns=columns))


def test_a_table_without_rows_or_with_bad_epochs():
    table = pd.read_csv(INSPECT / "epochs.csv")
    with pytest.raises(DataError, match="has no rows"):
        inspect(table, where={"id": "q9"})
    with pytest.raises(DataError, match="every 'epoch' must be a whole number; got 'first'"):
        inspect(table.assign(epoch="first"))


def broken(tmp_path, text, name="log.json"):
    path = tmp_path / name
    path.write_bytes(text)
    return path


def test_damaged_logs(tmp_path):
    (archive,) = (INSPECT / "once" / "small").glob("*.eval")
    (whole,) = (INSPECT / "epochs" / "small").glob("*.json")
    data = archive.read_bytes()
    flipped = bytearray(data)
    flipped[80] ^= 0xFF
    for text, name, message in (
        (whole.read_bytes()[:-50], "cut.json", "not a whole JSON file; was the evaluation cut off"),
        (b"[]", "list.json", "not a log of inspect_ai"),
        (b'{"eval": {"task": "x"}, "samples": [1]}', "odd.json", "every sample must be an object"),
        (b'{"eval": {"task": "x"}, "samples": []}', "none.json", "has no samples"),
        (data[:-30], "cut.eval", "is a damaged .eval file"),
        (bytes(flipped), "flipped.eval", "is a damaged .eval file"),
        (b"PK\x05\x06" + bytes(18), "empty.eval", "the evaluation is not finished"),
    ):
        with pytest.raises(DataError, match=message):
            inspect(broken(tmp_path, text, name))
    for name in ("nowhere.json", "nowhere.eval"):
        with pytest.raises(UsageError, match="no file"):
            inspect(tmp_path / name)


def test_lists_of_logs_in_a_folder_are_no_logs(tmp_path):
    shutil.copytree(INSPECT / "epochs", tmp_path / "logs")
    (tmp_path / "logs" / "logs.json").write_text("{}", encoding="utf-8")
    assert inspect(tmp_path / "logs").n == 15


# What comes out


def test_outcomes_go_into_every_verb():
    seen = inspect(models=["mockllm/small", "mockllm/large"])
    c = op.compare(seen, *seen.models, metric="accuracy", rope=0.05, random_state=0)
    assert c.spec.prior.name == "bootstrap"
    assert "few_groups" in {finding.name for finding in c.findings}
    assert op.Outcomes.from_json(seen.to_json()) == seen


@each(
    ("value", "expected"),
    [
        (True, True), (np.float64(0.0), False), (1, True), ("C", True), ("N", False),
        ("false", False), ("YES", True), ("1.0", True), (" 0 ", False), ("", None),
    ],
)  # fmt: skip
def test_what_is_right(value, expected):
    assert is_right(value) is expected


@each("value", ["P", "c", 0.5, -1, "maybe", [1], float("inf")])
def test_what_is_neither_right_nor_wrong(value):
    with pytest.raises(ValueError, match="neither right nor wrong"):
        is_right(value)


# Grades


def graded(folder, marks, *, model="m"):
    rows = [
        {"doc_id": number, "filter": "none", "metrics": ["judge"], "judge": mark}
        for number, mark in enumerate(marks)
    ]
    return write(folder / model / "samples_chat_2026-01-01T00-00-00.jsonl", rows)


def test_right_and_wrong_as_grades_are_the_same_answers():
    counted, grades = (
        inspect(score="match"),
        op.read_scores(INSPECT / "epochs", format="inspect", score="match"),
    )
    assert grades.n == counted.n
    assert grades.n_groups == counted.groups.n
    for model, values in zip(grades.models, grades.values, strict=True):
        assert values.sum() == right(counted, model)


def test_marks_are_paired_on_the_item(tmp_path):
    graded(tmp_path, [7, 3.5, "9"], model="old")
    path = graded(tmp_path, [1, 2, 3], model="new")
    write(path, reversed(lines(path)))
    seen = op.read_scores(tmp_path, format="lm-eval", models=["new", "old"])
    assert [values.tolist() for values in seen.values] == [[1.0, 2.0, 3.0], [7.0, 3.5, 9.0]]
    assert seen.truth is None
    assert seen.n_groups is None


def test_several_answers_to_one_item_are_a_group(tmp_path):
    runs = [graded(tmp_path / run, [1, 2, 3]) for run in ("one", "two")]
    seen = op.read_scores({"m": runs, "k": runs}, format="lm-eval", score="judge")
    assert (seen.n, seen.n_groups) == (6, 3)


def test_grades_that_are_missing_or_no_numbers(tmp_path):
    for model, marks in (("full", [1, 2, 3]), ("gaps", [1, None, 3])):
        graded(tmp_path, marks, model=model)
    with pytest.raises(DataError, match="'gaps' has no 'judge' for 1 of 3 items"):
        op.read_scores(tmp_path, format="lm-eval")
    kept = op.read_scores(tmp_path, format="lm-eval", on_null="drop")
    assert kept.n == 2
    assert names(kept) == ["items_not_compared", "null_rows_dropped"]
    graded(tmp_path, [1, "good", 3], model="gaps")
    with pytest.raises(DataError, match="'judge' is 'good' for '1', which is not a finite"):
        op.read_scores(tmp_path, format="lm-eval", score="judge")


@pytest.mark.parametrize(
    "asked", [{"id": "doc_id"}, {"truth": "target"}, {"dialect": {"header": False}}]
)
def test_columns_cannot_be_asked_of_logs_of_grades(tmp_path, asked):
    graded(tmp_path, [1, 2])
    with pytest.raises(UsageError, match="whose columns are fixed"):
        op.read_scores(tmp_path, format="lm-eval", **asked)
