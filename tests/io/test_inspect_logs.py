"""Logs of inspect_ai: questions as chat messages, scores as dictionaries, runs that did not end.

The logs in ``chat`` and ``stopped`` were written by inspect_ai 0.3.285; see
``evaluations/make_inspect_logs.py``, which also printed the accuracies and means below.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import outperform as op
from outperform.data.views import count_of
from outperform.errors import DataError, UsageError
from outperform.io.logs.inspect import _without_ids
from tests.loops import each

LOGS = Path(__file__).parent / "evaluations" / "inspect"
SMALL, LARGE = "mockllm/small", "mockllm/large"
# What inspect_ai printed.
ACCURACY = {SMALL: 0.5, LARGE: 5 / 6}
FLUENCY = {SMALL: 1.5, LARGE: 2.0}

SOURCES = {
    "eval": lambda: LOGS / "chat" / "eval",
    "json": lambda: LOGS / "chat" / "json",
    "csv": lambda: LOGS / "chat.csv",
    "parquet": lambda: LOGS / "chat.parquet",
    "pandas": lambda: pd.read_csv(LOGS / "chat.csv"),
    "polars": lambda: pl.read_parquet(LOGS / "chat.parquet"),
}


def read(source, **options):
    return op.read(source, format="inspect", **options)


def accuracies(seen):
    return {model: count_of(seen, model, "tp", positive=1) / seen.n for model in seen.models}


def stopped(status, kind):
    """Return the logs of a status, as the file itself or its journal says."""
    found = []
    for path in sorted((LOGS / "stopped").glob(f"*.{kind}")):
        with pytest.raises(DataError) as caught:
            read(path)
        if f"status '{status}'" in str(caught.value):
            found.append(path)
    return found


@pytest.fixture
def folder(tmp_path):
    """Two whole logs of one task, to which others are added."""
    shutil.copytree(LOGS / "chat" / "eval", tmp_path / "logs")
    return tmp_path / "logs"


# Chat messages


@pytest.mark.parametrize("kind", ["eval", "json"])
def test_messages_are_the_same_question_whatever_their_ids(kind):
    seen = read(SOURCES[kind](), score="match")
    assert seen.n == 6
    assert accuracies(seen) == pytest.approx(ACCURACY)


@pytest.mark.parametrize("change", ["content", "role"])
def test_messages_that_ask_something_else_are_refused(tmp_path, change):
    shutil.copytree(LOGS / "chat" / "json", tmp_path / "logs")
    path = next((tmp_path / "logs").iterdir())
    log = json.loads(path.read_text())
    log["samples"][3]["input"][1][change] = "assistant" if change == "role" else "Why?"
    path.write_text(json.dumps(log))
    with pytest.raises(DataError, match=r"different questions under the same id in 1 of 6 .*'q3'"):
        read(tmp_path / "logs", score="match")


def test_what_of_a_message_is_the_question():
    plain = [{"id": "a", "role": "user", "content": "Hi", "source": "input", "metadata": {"k": 1}}]
    parts = [{"id": "b", "role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    assert _without_ids(plain) == _without_ids(parts)
    images = [
        [{"role": "user", "content": [{"type": "image", "image": name, "internal": k}]}]
        for k, name in enumerate(["one.png", "one.png", "two.png"])
    ]
    one, same, other = map(_without_ids, images)
    assert one == same != other
    assert _without_ids("Hi") != _without_ids(plain)


# Scores that are dictionaries


@each("kind", SOURCES)
@each("score", ["multi.correct", "correct", "score_multi.correct"])
def test_a_key_of_a_score_is_a_score(kind, score):
    assert accuracies(read(SOURCES[kind](), score=score)) == pytest.approx(ACCURACY)


@each("kind", SOURCES)
def test_a_key_of_a_score_as_a_grade(kind):
    grades = op.read_scores(SOURCES[kind](), format="inspect", score="fluency")
    means = {m: v.mean() for m, v in zip(grades.models, grades.values, strict=True)}
    assert means == pytest.approx(FLUENCY)


@each("kind", SOURCES)
def test_names_of_scores_say_their_keys(kind):
    source = SOURCES[kind]()
    with pytest.raises(UsageError, match=r"'multi' matches several scores, 'multi\.fluency', '"):
        read(source, score="multi")
    with pytest.raises(UsageError, match=r"unknown score 'corect'.*multi\.fluency, multi\.correct"):
        read(source, score="corect")
    with pytest.raises(UsageError, match="several scores record right or wrong: 'm"):
        read(source)


def test_a_key_of_several_scorers_must_name_one():
    table = pd.read_csv(LOGS / "chat.csv")
    table["score_judge"] = table["score_multi"]
    with pytest.raises(UsageError, match=r"'multi\.correct', 'judge\.correct'; select one"):
        read(table, score="correct")
    assert accuracies(read(table, score="judge.correct")) == pytest.approx(ACCURACY)
    table["score_correct"] = "C"
    assert accuracies(read(table, score="correct")) == {SMALL: 1.0, LARGE: 1.0}


def test_a_sample_without_the_key():
    table = pd.read_csv(LOGS / "chat.csv")
    table.loc[0, "score_multi"] = '{"fluency": 1}'
    table.loc[1, "score_multi"] = None
    with pytest.raises(DataError, match=r"no 'multi\.correct' for 2 of 6"):
        read(table, score="correct")
    assert read(table, score="correct", on_null="drop").n == 4


# Runs that did not end


def test_real_logs_of_every_status_are_here():
    assert [len(stopped("error", kind)) for kind in ("eval", "json")] == [1, 1]
    assert [len(stopped("started", kind)) for kind in ("eval", "json")] == [1, 1]
    assert len(stopped("cancelled", "eval")) == 1


def test_failed_logs_are_named_with_their_status(folder):
    for path in (LOGS / "stopped").iterdir():
        shutil.copy(path, folder)
    with pytest.raises(DataError) as caught:
        read(folder, score="match")
    message = str(caught.value)
    assert "5 of 7 logs cannot be used" in message
    assert "skip_failed=True" in message
    for path in (LOGS / "stopped").iterdir():
        assert str(folder / path.name) in message
    for status in ("error' (RuntimeError('the endpoint is gone'))", "cancelled'", "started'"):
        assert f"has status '{status}" in message


def test_failed_logs_can_be_skipped(folder):
    for path in (LOGS / "stopped").iterdir():
        shutil.copy(path, folder)
    seen = read(folder, score="match", skip_failed=True)
    assert accuracies(seen) == pytest.approx(ACCURACY)
    (finding,) = seen.findings
    assert (finding.name, finding.level) == ("failed_logs_skipped", "warning")
    assert "5 of 7 logs were skipped" in finding.message
    assert "status 'cancelled'" in finding.message
    grades = op.read_scores(folder, format="inspect", score="fluency", skip_failed=True)
    assert [one.name for one in grades.findings] == ["failed_logs_skipped"]


def test_failed_logs_of_other_tasks_and_models_do_not_matter(folder):
    for path in (LOGS / "stopped").iterdir():
        shutil.copy(path, folder)
    seen = read(folder, score="match", where={"task_name": "arith"})
    assert (accuracies(seen), seen.findings) == (pytest.approx(ACCURACY), ())
    with pytest.raises(DataError, match=r"5 of 5 logs cannot be used.*repair the file$"):
        read(folder, where={"task_name": "mcq"}, skip_failed=True)
    for path in [
        *stopped("started", "eval"),
        *stopped("started", "json"),
        *stopped("cancelled", "eval"),
    ]:
        (folder / path.name).unlink()  # what is left is of the large model
    assert accuracies(read(folder, score="match", models=[SMALL])) == {SMALL: 0.5}
    with pytest.raises(DataError, match="2 of 4 logs cannot be used"):
        read(folder, score="match", models=[LARGE])


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_a_damaged_log_does_not_hide_the_others(folder, ending):
    name = f"2026-11-16T05-40-00-00-00_my-task_4Qzp5xhqNApDGugMNs3SsY.{ending}"
    (folder / name).write_bytes(b"{")
    with pytest.raises(DataError, match=r"1 of 3 logs cannot be used: .*my-task.*skip_failed"):
        read(folder, score="match")
    assert read(folder, score="match", skip_failed=True).n == 6
    assert read(folder, score="match", where={"task_name": "arith"}).findings == ()
    for asked in ("my_task", ["arith", "my/task"]):
        with pytest.raises(DataError, match="my-task"):
            read(folder, score="match", where={"task_name": asked})
    (folder / name).rename(folder / f"renamed.{ending}")
    with pytest.raises(DataError, match="renamed"):
        read(folder, score="match", where={"task_name": "arith"})


def test_a_file_that_is_not_there_is_never_skipped(tmp_path):
    with pytest.raises(UsageError, match="no file"):
        read([LOGS / "chat" / "eval", tmp_path / "gone.eval"], skip_failed=True)


# lm-evaluation-harness


def harness(folder, model, task, text):
    path = folder / model / f"samples_{task}_2026-01-01T00-00-00.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def samples(bits):
    rows = [
        {"doc_id": k, "filter": "none", "metrics": ["acc"], "acc": bit}
        for k, bit in enumerate(bits)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    "text", [samples([1, 1, 0])[:-30], "[" + samples([1]), '{"question": 1}\n']
)
def test_one_bad_log_of_lm_eval(tmp_path, text):
    for model, bits in (("small", [0, 1, 0]), ("large", [1, 1, 0])):
        harness(tmp_path, model, "arc", samples(bits))
    bad = harness(tmp_path, "broken", "arc", text)
    with pytest.raises(DataError, match=r"1 of 3 logs cannot .*skip_failed") as caught:
        op.read(tmp_path, format="lm-eval")
    assert str(bad) in str(caught.value)
    seen = op.read(tmp_path, format="lm-eval", skip_failed=True)
    assert accuracies(seen) == pytest.approx({"large": 2 / 3, "small": 1 / 3})
    assert [one.name for one in seen.findings] == ["failed_logs_skipped", "items_not_compared"]
    assert str(bad) in seen.findings[0].message
    assert op.read(tmp_path, format="lm-eval", models=["small", "large"]).n == 3


def test_skipping_is_for_logs(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("y,a,b\n1,1,0\n")
    with pytest.raises(UsageError, match="skip_failed= can be used with joins or logs"):
        op.read(path, truth="y", skip_failed=True)
    with pytest.raises(UsageError, match="skip_failed= is for evaluation logs"):
        op.read_scores(path, models=["a"], skip_failed=True)
