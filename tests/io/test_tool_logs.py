"""Logs of promptfoo, openai-evals, pydantic-evals, deepeval and HELM, held to their own reports.

The files come from promptfoo 0.121.20, evals 3.0.1.post1, pydantic-evals 2.62.0, deepeval 4.3.1 and
the classes of crfm-helm 0.5.16; ``make_tool_logs.py`` wrote them, and what the tools reported is in
``evaluations/reported``.
"""

from __future__ import annotations

import gzip
import json
import math
import shutil
from pathlib import Path

import pytest

import outperform as op
from outperform.data.views import count_of
from outperform.errors import DataError, UsageError
from outperform.io.logs.read import recognized
from tests.loops import each

LOGS = Path(__file__).parent / "evaluations"
FORMATS = {
    "promptfoo": "promptfoo/two",
    "openai-evals": "openai_evals/two",
    "pydantic-evals": "pydantic_evals/two",
    "deepeval": "deepeval/two",
    "helm": "helm/two",
}
OPTIONS = {"helm": {"score": "exact_match"}}


def reported(tool):
    return json.loads((LOGS / "reported" / f"{tool}.json").read_text("utf-8"))


def read(kind, path=None, **options):
    given = OPTIONS.get(kind, {}) | options
    return op.read(LOGS / (path or FORMATS[kind]), format=kind, **given)


def share(seen, model):
    (name,) = (one for one in seen.models if model in one)
    return count_of(seen, name, "tp", positive=1) / seen.n


def counts(seen):
    """Return how often each combination of right and wrong occurs."""
    (table,) = seen.tables
    return dict(zip(map(tuple, table.cells.tolist()), table.counts.tolist(), strict=True))


def names(seen):
    return [one.name for one in seen.findings]


def told(kind, model):
    """Return the accuracy that the tool itself reported."""
    found = reported(kind.replace("-", "_"))
    if kind == "promptfoo":
        return found["two"][["small", "large"].index(model)]["testPassCount"] / 210
    one = found[f"two/{model}"]
    if kind == "deepeval":
        return one["passed"] / one["n"]
    return one[{"openai-evals": "accuracy", "pydantic-evals": "assertions", "helm": "none"}[kind]]


@each("kind", FORMATS)
def test_accuracies_are_those_that_the_tool_reports(kind):
    seen = read(kind)
    assert (seen.n, seen.kind, seen.paired, len(seen.models)) == (210, "correct", True, 2)
    for model in ("small", "large"):
        assert share(seen, model) == pytest.approx(told(kind, model), abs=1e-12)


def test_every_format_gives_the_same_pairs():
    found = [read(kind) for kind in FORMATS]
    pairs = [counts(seen.select(sorted(seen.models))) for seen in found]
    assert all(one == pairs[0] for one in pairs)
    assert len(pairs[0]) == 4


@pytest.mark.parametrize(
    ("kind", "path", "score", "key"),
    [
        ("pydantic-evals", "pydantic_evals/two", "Length", ("scores", "Length")),
        ("pydantic-evals", "pydantic_evals/two", "scores.Length", ("scores", "Length")),
        ("helm", "helm/two", "num_output_characters", ("characters",)),
    ],
)
def test_grades_have_the_means_that_the_tool_reports(kind, path, score, key):
    seen = op.read_scores(LOGS / path, format=kind, score=score)
    for name in seen.models:
        one = reported(kind.replace("-", "_"))[f"two/{'small' if 'small' in name else 'large'}"]
        for part in key:
            one = one[part]
        assert op.estimate(seen, name, metric="mean", n_draws=500).observed == pytest.approx(one)


def test_the_standard_error_is_near_what_openai_evals_prints():
    # Its bootstrap takes half of the answers without replacement, which has the variance of the
    # mean of all of them, up to its own noise of 1000 repetitions.
    seen = read("openai-evals")
    for model in seen.models:
        p = share(seen, model)
        printed = reported("openai_evals")[f"two/{model}"]["boostrap_std"]
        assert printed == pytest.approx(math.sqrt(p * (1 - p) / 210), rel=0.12)


# Repeated answers, failures, slices


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("promptfoo", "promptfoo/again"),
        ("pydantic-evals", "pydantic_evals/again"),
        ("helm", "helm/again"),
    ],
)
def test_repeated_answers_are_a_group(kind, path):
    seen = read(kind, path)
    assert (seen.n, seen.groups.n) == (24, 12)
    found = reported(kind.replace("-", "_"))
    for place, model in enumerate(("small", "large")):
        if kind == "promptfoo":
            expected = found["again"][place]["testPassCount"] / 24
        else:
            expected = found[f"again/{model}"]["assertions" if "pydantic" in kind else "none"]
        assert share(seen, model) == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["promptfoo", "pydantic-evals", "deepeval"])
def test_an_item_on_which_the_evaluation_failed_is_named(kind):
    path = f"{kind.replace('-', '_')}/lost"
    said = r"'small' has no '.*' for 1 of 12 items, e\.g\. '(4|q3)', in .*json"
    with pytest.raises(DataError, match=said):
        read(kind, path)
    seen = read(kind, path, on_null="drop")
    assert seen.n == 11
    assert "null_rows_dropped" in names(seen)


@pytest.mark.parametrize("kind", ["promptfoo", "pydantic-evals", "deepeval", "helm"])
def test_items_are_divided_and_grouped_by_what_is_known_of_them(kind):
    field = "extra_data.topic" if kind == "helm" else "topic"
    by_topic = read(kind, by=field).slices
    assert [key[0] for key in by_topic] == ["differences", "products", "sums"]
    assert list(by_topic.n) == [70, 70, 70]
    assert read(kind, groups=field).groups.n == 3
    assert read(kind, where={field: ["sums", "products"]}).n == 140
    with pytest.raises(UsageError, match="unknown field of the logs 'topik'"):
        read(kind, where={"topik": "sums"})


def test_tasks_are_chosen_by_name():
    for kind, task in (("openai-evals", "sums.test.v1"), ("helm", "sums:kind=plus")):
        assert read(kind, where={"task": task}).n == 210
        with pytest.raises(UsageError, match=f"unknown task '{task}s'; did you mean '{task}'"):
            read(kind, where={"task": f"{task}s"})


def test_prompts_are_models_where_there_are_several():
    seen = read("promptfoo", "promptfoo/prompts")
    assert seen.models == ("small, A: {{question}}", "small, B: {{question}}")
    assert read("promptfoo", "promptfoo/prompts", models={"A": seen.models[0]}).models == ("A",)


def test_perturbations_of_helm_are_read_one_at_a_time():
    with pytest.raises(
        UsageError, match=r"several values of perturbation, 'lowercase', 'none'; select one"
    ):
        read("helm", "helm/perturbed")
    for one in ("none", "lowercase"):
        seen = read("helm", "helm/perturbed", where={"perturbation": one})
        assert share(seen, "small") == pytest.approx(reported("helm")["perturbed/small"][one])


@each(
    ("kind", "score", "same"),
    [
        ("openai-evals", "data.correct", "match.correct"),
        ("openai-evals", "correct", "match.correct"),
        ("promptfoo", "namedScores.exact", "exact"),
        ("pydantic-evals", "assertions.EqualsExpected", "EqualsExpected"),
        ("deepeval", "Exact.success", "success"),
    ],
)
def test_nested_scores_are_asked_as_they_are_called(kind, score, same):
    assert read(kind, score=score) == read(kind, score=same)


def test_models_are_named_by_the_caller():
    small, large = (
        LOGS / "pydantic_evals" / "two" / f"{one}.json.gz" for one in ("small", "large")
    )
    seen = op.read({"S": small, "L": large}, format="pydantic-evals")
    assert seen.models == ("S", "L")
    with pytest.raises(UsageError, match="contain the models 'small', 'large'"):
        op.read({"S": LOGS / "promptfoo" / "two"}, format="promptfoo")
    with pytest.raises(UsageError, match="read from files or folders"):
        op.read({"S": [1]}, format="promptfoo")
    with pytest.raises(UsageError, match="no file"):
        op.read("nothing.json", format="promptfoo")


# Recognized, the newest, a score for each task


def unpack(path, folder):
    found = folder / path.with_suffix("").name
    found.write_bytes(gzip.decompress(path.read_bytes()))
    return found


def test_logs_that_leave_no_doubt_are_recognized(tmp_path):
    path = unpack(LOGS / "promptfoo" / "two" / "out.json.gz", tmp_path)
    cases = {
        "promptfoo": path,
        "openai-evals": [
            LOGS / "openai_evals" / "two" / f"{one}.jsonl" for one in ("small", "large")
        ],
        "deepeval": LOGS / "deepeval" / "two",
        "helm": LOGS / "helm" / "two",
    }
    for kind, source in cases.items():
        assert recognized(source) == kind
        seen = op.read(source, **OPTIONS.get(kind, {}))
        assert seen.findings[0].name == "logs_recognized"
        assert kind in seen.findings[0].message
        assert seen.n == 210
    assert recognized(LOGS / "pydantic_evals" / "again" / "small.json") is None
    # Inspect's JSON has a name of its own, also where there is no *.eval.
    assert recognized(LOGS / "inspect" / "chat" / "json") == "inspect"
    seen = op.read(LOGS / "inspect" / "chat" / "json", score="match")
    assert seen.findings[0].name == "logs_recognized"
    (tmp_path / "2026-11-16_results.json").write_text("{}")
    assert recognized(tmp_path / "2026-11-16_results.json") is None


def again(source, target, change):
    """Write a log again, as another run of the same model."""
    text = source.read_text("utf-8")
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, "utf-8")


def test_the_newest_log_wins_where_that_is_asked(tmp_path):
    few = LOGS / "openai_evals" / "few"
    for one in ("small", "large"):
        shutil.copy(few / f"{one}.jsonl", tmp_path)
    year = {'"created_at": "2026-11-17 0': '"created_at": "2025-11-17 0'}
    wrong = {
        '"correct": true': '"correct": false',
        '"accuracy": 0.58': '"accuracy": 0.0, "was": 0.58',
    }
    again(few / "small.jsonl", tmp_path / "before.jsonl", year | wrong)
    with pytest.raises(DataError, match=r"'small' must occur once, .* the newest with latest=True"):
        op.read(tmp_path, format="openai-evals")
    seen = op.read(tmp_path, format="openai-evals", latest=True)
    assert share(seen, "small") == pytest.approx(reported("openai_evals")["few/small"]["accuracy"])
    (left,) = (one for one in seen.findings if one.name == "older_logs_skipped")
    assert "before.jsonl" in left.message
    grades = op.read_scores(tmp_path, format="openai-evals", latest=True)
    assert "older_logs_skipped" in names(grades)


def test_logs_that_do_not_say_when_are_not_guessed(tmp_path):
    for name in ("one", "two"):
        shutil.copytree(LOGS / "pydantic_evals" / "again", tmp_path / name)
    for name in ("one", "two"):
        path = tmp_path / name / "small.json"
        again(path, path, {'"experiment_metadata":null': '"experiment_metadata":{"model":"small"}'})
    with pytest.raises(DataError, match="do not show which is newest"):
        op.read(tmp_path, format="pydantic-evals", latest=True)


def test_the_newest_log_of_lm_eval_and_inspect(tmp_path):
    for one in ("small", "large"):
        source = next((LOGS / "lm_eval" / "two" / one).glob("samples_tiny_mc_*"))
        (tmp_path / one).mkdir()
        shutil.copy(source, tmp_path / one)
        flipped = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
        older = "".join(json.dumps({**line, "acc": 1 - line["acc"]}) + "\n" for line in flipped)
        (tmp_path / one / "samples_tiny_mc_2020-01-01T00-00-00.000001.jsonl").write_text(older)
    seen = op.read(tmp_path, score="acc", latest=True)
    alone = op.read(LOGS / "lm_eval" / "two", score="acc", where={"task": "tiny_mc"})
    assert [share(seen, one) for one in seen.models] == [share(alone, one) for one in seen.models]
    chat = tmp_path / "chat"
    shutil.copytree(LOGS / "inspect" / "chat" / "json", chat)
    expected = op.read(chat, format="inspect", score="match")
    for path in sorted(chat.iterdir()):
        log = json.loads(path.read_text("utf-8"))
        log["eval"]["created"] = "2020-01-01T00:00:00+00:00"
        del log["results"]  # which says what was right
        for sample in log["samples"]:
            sample["scores"]["match"]["value"] = "I"
        (chat / f"older-{path.name}").write_text(json.dumps(log), "utf-8")
    seen = op.read(chat, format="inspect", score="match", latest=True)
    assert counts(seen) == counts(expected)


def test_tasks_may_have_scores_of_their_own():
    where = {"filter": ["none", "first"]}
    harness = LOGS / "lm_eval" / "two"
    scores = {"tiny_mc": "acc_norm", "tiny_gen": "exact_match"}
    seen = op.read(harness, format="lm-eval", score=scores, where=where)
    parts = [
        op.read(harness, format="lm-eval", score=score, where={**where, "task": task})
        for task, score in scores.items()
    ]
    assert seen.n == sum(one.n for one in parts)
    for model in seen.models:
        right = [count_of(one, model, "tp", positive=1) for one in (seen, *parts)]
        assert right[0] == right[1] + right[2]
    assert op.read_scores(harness, format="lm-eval", score=scores, where=where).n == seen.n
    with pytest.raises(UsageError, match="has no score for 'tiny_gen'"):
        op.read(harness, format="lm-eval", score={"tiny_mc": "acc"}, where=where)
    with pytest.raises(UsageError, match="unknown task 'tiny'"):
        op.read(harness, format="lm-eval", score=scores | {"tiny": "acc"}, where=where)
    with pytest.raises(UsageError, match="one column of scores"):
        op.read("x.csv", format="long", id="id", model="m", score={"a": "b"})


# Refusals


def test_lines_are_named(tmp_path):
    source = (LOGS / "openai_evals" / "few" / "small.jsonl").read_text("utf-8")
    path = tmp_path / "small.jsonl"
    rows = source.splitlines()
    cases = {
        "line 6 is not a complete line": [*rows[:5], rows[5][:40], *rows[6:]],
        "line 6: 'correct' must be true or false": [
            *rows[:5], rows[5].replace("true", "1").replace("false", "0"), *rows[6:]
        ],
        "event 2 is missing after line 4": rows[:4] + rows[5:],
        "line 7: event 3 occurs twice": [*rows[:6], rows[5], *rows[6:]],
        "no final report": [rows[0], *rows[2:]],
        "line 1 is not a log of openai-evals": rows[1:],
        "reports 0.58.* accuracy, but its answers give": rows[:-2],
    }  # fmt: skip
    for said, lines in cases.items():
        path.write_text("\n".join(lines) + "\n", "utf-8")
        with pytest.raises(DataError, match=f"small.jsonl.*{said}"):
            op.read(path, format="openai-evals")


def test_summaries_must_agree_with_the_answers(tmp_path):
    found = json.loads(gzip.decompress((LOGS / "promptfoo/two/out.json.gz").read_bytes()))
    del found["results"]["results"][7]
    path = tmp_path / "out.json"
    path.write_text(json.dumps(found), "utf-8")
    with pytest.raises(DataError, match=r"out.json is damaged: it reports \d+ results of prompt 2"):
        op.read(path, format="promptfoo")


@each("kind", FORMATS)
def test_failed_logs_can_be_skipped(tmp_path, kind):
    shutil.copytree(LOGS / FORMATS[kind], tmp_path / "logs")
    bad = "per_instance_stats.json" if kind == "helm" else "bad.json"
    bad = "bad.jsonl" if kind == "openai-evals" else bad
    (tmp_path / "logs" / bad).write_text("{", "utf-8")
    with pytest.raises(DataError, match=r"1 of \d logs cannot be used.*skip_failed=True"):
        op.read(tmp_path / "logs", format=kind, **OPTIONS.get(kind, {}))
    seen = op.read(tmp_path / "logs", format=kind, skip_failed=True, **OPTIONS.get(kind, {}))
    assert seen.n == 210
    assert "failed_logs_skipped" in names(seen)
