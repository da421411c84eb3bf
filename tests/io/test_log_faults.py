"""Every reader of evaluation logs against every fault: one table of what must be refused, and why.

A cell that does not apply says why instead.
"""

from __future__ import annotations

import copy
import csv
import gzip
import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

import outperform as op
from outperform.cli.main import main
from outperform.errors import DataError, OutperformError
from tests.loops import each

N = 40
ANSWERED = {0, 1, 4}
TASKS = {"alpha": 30, "beta": 24}  # passages of two tasks, both numbered from 0


def rights(model, task):
    chance = random.Random(f"{model} {task}")
    return [chance.random() < {"old": 0.6, "new": 0.7}[model] for _ in range(N)]


class Text(str):
    """A text that is written as it is."""


class Maker(NamedTuple):
    """How logs of one tool are written, and where in them is what."""

    write: Callable[..., dict[str, Any]]  # names of files, and what they hold
    items: Callable[[dict[str, Any]], list[dict[str, Any]]]  # what holds question and gold
    question: str
    gold: str
    score: str  # a key of JSON that holds a score
    numbers: dict[str, Callable[[dict[str, Any]], Any]]  # fields that hold numbers
    options: tuple[str, ...] = ()
    ending: str = ""


def lm_eval(model, task):
    lines = [
        {
            "doc_id": k,
            "doc": {"q": f"What is {k}?", "passage": k % TASKS[task]},
            "doc_hash": f"hash {k}",
            "target": f"is {k}",
            "target_hash": f"target {k}",
            "filter": "none",
            "metrics": ["acc"],
            "acc": float(right),
        }
        for k, right in enumerate(rights(model, task))
    ]
    mean = sum(rights(model, task)) / N
    results = {
        "results": {task: {"acc,none": mean}},
        "n-samples": {task: {"original": N, "effective": N}},
    }
    when = "2026-01-01T00-00-00.000001"
    return {
        f"{model}/samples_{task}_{when}.jsonl": lines,
        f"{model}/results_{when}.json" if task == "alpha" else f"{model}/none.txt": results,
    }


def inspect(model, task):
    samples = [
        {
            "id": str(k),
            "epoch": 1,
            "input": f"What is {k}?",
            "target": f"is {k}",
            "metadata": {"passage": k % TASKS[task]},
            "scores": {"match": {"value": "C" if right else "I"}},
        }
        for k, right in enumerate(rights(model, task))
    ]
    mean = sum(rights(model, task)) / N
    return {
        f"2026-01-01T00-00-00+00-00_{task}_{model}.json": {
            "status": "success",
            "invalidated": False,
            "eval": {"task": task, "model": model},
            "results": {
                "total_samples": N,
                "completed_samples": N,
                "scores": [
                    {
                        "name": "match",
                        "scorer": "match",
                        "metrics": {"accuracy": {"name": "accuracy", "value": mean}},
                    }
                ],
            },
            "samples": samples,
        }
    }


def inspect_eval(model, task):
    (found,) = inspect(model, task).values()
    samples = found.pop("samples")
    name = f"2026-01-01T00-00-00+00-00_{task}_{model}.eval"
    return {name: {"header.json": found, "summaries.json": samples}}


def promptfoo(model, task):
    results = [
        {
            "promptIdx": 0,
            "testIdx": k,
            "provider": {"id": model},
            "success": right,
            "score": float(right),
            "namedScores": {},
            "failureReason": 0 if right else 1,
            "gradingResult": {"pass": right, "score": float(right)},
            "vars": {"question": f"What is {k}?"},
            "testCase": {
                "assert": [{"type": "equals", "value": f"is {k}"}],
                "metadata": {"passage": k % TASKS[task]},
            },
        }
        for k, right in enumerate(rights(model, task))
    ]
    n_right = sum(rights(model, task))
    metrics = {"testPassCount": n_right, "testFailCount": N - n_right, "testErrorCount": 0}
    return {
        f"{model}.json": {
            "evalId": "eval-x",
            "results": {"prompts": [{"label": "ask", "metrics": metrics}], "results": results},
        }
    }


def openai_evals(model, task):
    events = [
        {
            "event_id": k,
            "sample_id": f"s{k}",
            "type": "match",
            "data": {
                "correct": right,
                "expected": f"is {k}",
                "passage": k % TASKS[task],
            },
        }
        for k, right in enumerate(rights(model, task))
    ]
    asked = [
        {
            "event_id": N + k,
            "sample_id": f"s{k}",
            "type": "raw_sample",
            "data": {"input": f"What is {k}?", "ideal": f"is {k}"},
        }
        for k in range(N)
    ]
    spec = {"completion_fns": [model], "eval_name": task}
    report = {"accuracy": sum(rights(model, task)) / N}
    return {
        f"{model} {task}.jsonl": [{"spec": spec}, {"final_report": report}, *events, *asked],
    }


def pydantic_evals(model, task):
    cases = [
        {
            "name": f"c{k}",
            "inputs": f"What is {k}?",
            "expected_output": f"is {k}",
            "metadata": {"passage": k % TASKS[task]},
            "scores": {"length": {"value": 1.5}},
            "assertions": {"right": {"value": right}},
        }
        for k, right in enumerate(rights(model, task))
    ]
    return {
        f"{model} {task}.json": {
            "cases": cases,
            "dataset_name": task,
            "experiment_metadata": {"model": model},
        }
    }


def deepeval(model, task):
    cases = [
        {
            "name": f"t{k}",
            "input": f"What is {k}?",
            "expectedOutput": f"is {k}",
            "success": right,
            "metricsData": [{"name": "Exact", "score": float(right), "success": right}],
            "metadata": {"passage": k % TASKS[task]},
        }
        for k, right in enumerate(rights(model, task))
    ]
    n_right = sum(rights(model, task))
    return {
        f"{model}/test_run_2026010{1 + list(TASKS).index(task)}_000000.json": {
            "testCases": cases,
            "testPassed": n_right,
            "testFailed": N - n_right,
            "hyperparameters": {"model": model},
            "datasetAlias": task,
            "metricsScores": [
                {"metric": "Exact", "scores": [float(one) for one in rights(model, task)]}
            ],
        }
    }


def helm(model, task):
    folder = f"{task},model={model}"
    stats = [
        {
            "instance_id": f"id{k}",
            "train_trial_index": 0,
            "stats": [
                {
                    "name": {"name": "exact_match", "split": "test"},
                    "count": 1,
                    "sum": float(right),
                    "mean": float(right),
                }
            ],
        }
        for k, right in enumerate(rights(model, task))
    ]
    states = [
        {
            "instance": {
                "id": f"id{k}",
                "input": {"text": f"What is {k}?"},
                "references": [{"output": {"text": f"is {k}"}, "tags": ["correct"]}],
                "passage": k % TASKS[task],
            }
        }
        for k in range(N)
    ]
    return {
        f"{folder}/per_instance_stats.json": stats,
        f"{folder}/run_spec.json": {
            "name": f"{task}:model={model}",
            "adapter_spec": {"model": model},
        },
        f"{folder}/scenario_state.json": {"request_states": states},
    }


def long(model, task):
    return {
        f"{model} {task}.csv": [
            {
                "id": f"{k}",
                "model": model,
                "score": int(right),
                "task": task,
                "epoch": 1,
                "question": f"What is {k}?",
                "expected": f"is {k}",
                "passage": k % TASKS[task],
            }
            for k, right in enumerate(rights(model, task))
        ]
    }


def first(files):
    return next(iter(files.values()))


LONG = ("--read-as", "long", "--id", "id", "--model-column", "model", "--score", "score")
MAKERS = {
    "lm-eval": Maker(
        lm_eval, first, "doc_hash", "target", "acc",
        {"score": lambda files: (first(files)[3], "acc"),
         "total": lambda files: (list(files.values())[1]["n-samples"]["alpha"], "effective")},
    ),
    "inspect json": Maker(
        inspect, lambda files: first(files)["samples"], "input", "target", "value",
        {"score": lambda files: (first(files)["samples"][3]["scores"]["match"], "value"),
         "epoch": lambda files: (first(files)["samples"][3], "epoch"),
         "total": lambda files: (first(files)["results"], "total_samples"),
         "completed": lambda files: (first(files)["results"], "completed_samples"),
         "accuracy": lambda files: (
             first(files)["results"]["scores"][0]["metrics"]["accuracy"], "value")},
        ("--read-as", "inspect"),
    ),
    "inspect eval": Maker(
        inspect_eval, lambda files: first(files)["summaries.json"], "input", "target", "value",
        {"score": lambda files: (first(files)["summaries.json"][3]["scores"]["match"], "value"),
         "epoch": lambda files: (first(files)["summaries.json"][3], "epoch"),
         "total": lambda files: (first(files)["header.json"]["results"], "total_samples")},
        ("--read-as", "inspect"),
    ),
    "promptfoo": Maker(
        promptfoo, lambda files: first(files)["results"]["results"], "vars", "testCase", "success",
        {"score": lambda files: (first(files)["results"]["results"][3], "score"),
         "number": lambda files: (first(files)["results"]["results"][3], "testIdx"),
         "total": lambda files: (
             first(files)["results"]["prompts"][0]["metrics"], "testPassCount")},
        ("--read-as", "promptfoo"),
    ),
    "openai-evals": Maker(
        openai_evals, lambda files: [one["data"] for one in first(files)[2 + N :]],
        "input", "ideal", "correct",
        {"score": lambda files: (first(files)[5]["data"], "correct"),
         "number": lambda files: (first(files)[5], "event_id"),
         "total": lambda files: (first(files)[1]["final_report"], "accuracy")},
        ("--read-as", "openai-evals"),
    ),
    "pydantic-evals": Maker(
        pydantic_evals, lambda files: first(files)["cases"], "inputs", "expected_output", "value",
        {"grade": lambda files: (first(files)["cases"][3]["scores"]["length"], "value")},
        ("--read-as", "pydantic-evals"),
    ),
    "deepeval": Maker(
        deepeval, lambda files: first(files)["testCases"], "input", "expectedOutput", "success",
        {"score": lambda files: (first(files)["testCases"][3]["metricsData"][0], "score"),
         "total": lambda files: (first(files), "testPassed"),
         "sum": lambda files: (first(files)["metricsScores"][0]["scores"], 3)},
        ("--read-as", "deepeval"),
    ),
    "helm": Maker(
        helm, lambda files: [
            one["instance"] for one in list(files.values())[2]["request_states"]
        ],
        "input", "references", "mean",
        {"score": lambda files: (first(files)[3]["stats"][0], "mean"),
         "sum": lambda files: (first(files)[3]["stats"][0], "sum"),
         "count": lambda files: (first(files)[3]["stats"][0], "count"),
         "trial": lambda files: (first(files)[3], "train_trial_index")},
        ("--read-as", "helm", "--score", "exact_match"),
    ),
    "long": Maker(
        long, first, "question", "expected", "",
        {"score": lambda files: (first(files)[3], "score"),
         "epoch": lambda files: (first(files)[3], "epoch")},
        LONG,
    ),
}  # fmt: skip


def as_bytes(name, found, twice=""):
    """Return the bytes of a file; a key may occur twice in its first object that has it."""

    def text(value):
        written = value if isinstance(value, Text) else json.dumps(value)
        return (
            re.sub(rf'("{twice}": )', rf'\g<1>0, "{twice}": ', written, count=1)
            if twice
            else (written)
        )

    if name.endswith(".csv"):
        stream = io.StringIO()
        writer = csv.DictWriter(stream, list(found[0]))
        writer.writeheader()
        writer.writerows(found)
        return stream.getvalue().encode()
    if name.endswith(".jsonl"):
        lines = [json.dumps(line) for line in found]
        if twice:
            number = next(k for k, line in enumerate(lines) if f'"{twice}": ' in line)
            lines[number] = text(Text(lines[number]))
        return ("\n".join(lines) + "\n").encode()
    if name.endswith(".eval"):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, value in found.items():
                twin = twice and member == "summaries.json"
                archive.writestr(member, text(value) if twin else json.dumps(value))
        return stream.getvalue()
    return text(found).encode()


def written(folder, kind, change=None, *, twice="", tasks=("alpha",), models=("old", "new")):
    """Write the logs of two models, those of the second with a fault."""
    maker = MAKERS[kind]
    for model in models:
        for task in tasks:
            files = copy.deepcopy(maker.write(model, task))
            faulty = model == "new"
            if change is not None and faulty:
                change(maker, files)
            for place, (name, found) in enumerate(files.items()):
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                twin = twice if faulty and place == 0 else ""
                path.write_bytes(as_bytes(name, found, twin))
    return folder


def gate(folder, kind, *more):
    options = MAKERS[kind].options
    if kind == "long":  # one file for each model
        sources = [str(path) for path in sorted(folder.glob("*.csv"))]
    else:
        sources = [str(folder)]
    asked = ("--candidate", "new", "--baseline", "old", "--rope", "0.3", "--draws", "200")
    return main(["gate", *sources, *asked, *options, *more])


# What is changed in the logs of the second model


def other_question(maker, files):
    for item in maker.items(files)[5:8]:
        value = item[maker.question]
        item[maker.question] = {key: "Why?" for key in value} if isinstance(value, dict) else "Why?"


def other_gold(maker, files):
    for item in maker.items(files)[5:8]:
        value = item[maker.gold]
        if isinstance(value, dict):  # a test of promptfoo
            value["assert"][0]["value"] = "another"
        else:
            item[maker.gold] = (
                [{"output": {"text": "another"}}] if maker.write is helm else "another"
            )


def set_number(field, value):
    def change(maker, files):
        record, key = maker.numbers[field](files)
        record[key] = value

    return change


def add_one(field):
    def change(maker, files):
        record, key = maker.numbers[field](files)
        record[key] += 1

    return change


def failed(maker, files):
    found = first(files)
    (found if "status" in found else found["header.json"])["status"] = "error"


def invalidated(maker, files):
    found = first(files)
    (found if "status" in found else found["header.json"])["invalidated"] = True


def invalid_sample(maker, files):
    maker.items(files)[3]["invalidation"] = {"reason": "a wrong key"}


def wrong_metric(maker, files):
    case = next(one for one in first(files)["testCases"] if one["success"])
    case["metricsData"][0]["success"] = False


def right_metric(maker, files):
    case = next(one for one in first(files)["testCases"] if not one["success"])
    case["metricsData"][0]["success"] = True


def reason_of_failure(maker, files):
    next(one for one in maker.items(files) if one["success"])["failureReason"] = 1


def no_report(maker, files):
    del first(files)[1]


def other_grading(maker, files):
    maker.items(files)[3]["gradingResult"]["pass"] = not maker.items(files)[3]["success"]


GOLD = "expect different answers under the same id in 3 of 40 samples, e.g. '?(5|6|t5|c5|s5|id5)"
QUESTION = "ask different questions under the same id in 3 of 40 samples, e.g. '?(5|6|t5|c5|s5|id5)"
NO_JSON = "not applicable: the table is CSV, which has no keys; JSON Lines are in test_files"
NOT_SAID = "not applicable: the tool writes nothing of the kind"
FAULTS = {
    "gold": (other_gold, dict.fromkeys(MAKERS, GOLD)),
    "question": (other_question, dict.fromkeys(MAKERS, QUESTION)),
    "total": (
        add_one("total"),
        dict.fromkeys(MAKERS, r"reports \d+(\.\d+)? .*, but its \w+ give \d")
        | {
            "pydantic-evals": f"{NOT_SAID}: a report holds its cases only",
            "helm": "not applicable: a statistic holds its own sum, see 'sum'",
            "long": "not applicable: a table holds no totals",
        },
    ),
    "sum": (
        add_one("sum"),
        {
            "deepeval": "as the sum of 'Exact', but its answers give",
            "helm": "as the mean, but its answers give",
        },
    ),
    "accuracy": (
        set_number("accuracy", 0.1),
        {"inspect json": "reports 0.1 as the accuracy of 'match'"},
    ),
    "completed": (add_one("completed"), {"inspect json": "reports 41 completed samples"}),
    "status": (
        failed,
        {"inspect json": "has status 'error'", "inspect eval": "has status 'error'"},
    ),
    "not finished": (no_report, {"openai-evals": "has no final report"}),
    "invalidated": (
        invalidated,
        dict.fromkeys(("inspect json", "inspect eval"), "has samples that were invalidated"),
    ),
    "an invalidated sample": (
        invalid_sample,
        dict.fromkeys(("inspect json", "inspect eval"), "samples that were invalidated, e.g. '3'"),
    ),
    "passed, a metric failed": (wrong_metric, {"deepeval": "it passed, but one of its metrics"}),
    "failed, all metrics passed": (right_metric, {"deepeval": "it failed, but all of its metrics"}),
    "a reason of failure": (
        reason_of_failure,
        {"promptfoo": "it is a success, but has a failure reason"},
    ),
    "another grading": (other_grading, {"promptfoo": "of 'gradingResult' has another value"}),
}
CELLS = [
    (fault, kind, said)
    for fault, (_, cells) in FAULTS.items()
    for kind, said in cells.items()
    if not said.startswith("not applicable")
]


@each("kind", MAKERS)
def test_logs_without_a_fault_are_read(tmp_path, kind, capsys):
    assert gate(written(tmp_path, kind), kind, "--format", "json") in ANSWERED
    told = json.loads(capsys.readouterr().out)
    assert "items_not_compared" not in json.dumps(told)


@each(("fault", "kind", "said"), CELLS, ids=[f"{fault} {kind}" for fault, kind, _ in CELLS])
def test_no_gate_passes_a_log_with_a_fault(tmp_path, capsys, fault, kind, said):
    change = FAULTS[fault][0]
    assert gate(written(tmp_path, kind, change), kind) == 3
    error = " ".join(capsys.readouterr().err.split())
    assert re.search(said, error), error
    assert "new" in error  # the file
    if fault in ("gold", "question"):
        assert "old" in error


TWICE = {**dict.fromkeys(MAKERS, "occurs twice"), "long": NO_JSON}


@each("kind", [kind for kind, said in TWICE.items() if said != NO_JSON])
def test_a_key_that_occurs_twice_is_refused(tmp_path, capsys, kind):
    assert gate(written(tmp_path, kind, twice=MAKERS[kind].score), kind) == 3
    error = " ".join(capsys.readouterr().err.split())
    assert f"the key '{MAKERS[kind].score}' occurs twice" in error
    assert "new" in error


# Numbers that are none

ODD = {
    "Infinity": float("inf"), "-Infinity": float("-inf"), "NaN": float("nan"),
    "digits": 10**400, "true": True, "text": "1", "null": None, "list": [], "object": {},
}  # fmt: skip
FIELDS = [(kind, field) for kind, maker in MAKERS.items() for field in maker.numbers]
SCORES = ("score", "grade", "sum", "epoch", "accuracy", "total")


def read_or_error(read, source, options):
    try:
        return read(source, **options)
    except OutperformError as error:
        return error


@each(("kind", "field"), FIELDS)
def test_what_is_no_number_is_refused_or_changes_nothing(tmp_path, kind, field):
    options = {"format": kind.split()[0]}
    if kind == "long":
        options |= {"id": "id", "model": "model", "score": "score"}
    elif field == "grade":
        options |= {"score": "length"}
    elif kind == "helm":
        options |= {"score": "exact_match"}
    elif (kind, field) == ("deepeval", "score"):
        options |= {"score": "Exact"}
    for number, (name, value) in enumerate(ODD.items()):
        folder = written(tmp_path / str(number), kind, set_number(field, value))
        source = sorted(folder.glob("*.csv")) if kind == "long" else folder
        for read in (op.read, op.read_scores):
            seen = read_or_error(read, source, options)
            if isinstance(seen, OutperformError):
                named = not isinstance(seen, DataError) or field not in SCORES
                assert named or "new" in str(seen), (name, str(seen))
                continue
            assert seen.n == N, name
            endless = name in ("Infinity", "-Infinity", "digits")
            assert not (endless and field in SCORES), (name, read)


def str_of(value):
    return str(value)[:5]


@each("kind", ["inspect json", "inspect eval", "long"])
@each("value", [1.5, float("inf"), 10**400, -1, "two", True], ids=str_of)
def test_an_epoch_is_a_whole_number(tmp_path, capsys, kind, value):
    if kind == "long" and value is True:
        pytest.skip("a column of text and truth values is text")
    assert gate(written(tmp_path, kind, set_number("epoch", value)), kind) == 3
    assert "every 'epoch' must be a whole number" in " ".join(capsys.readouterr().err.split())


# The same question in other forms


def test_questions_are_compared_across_kinds_of_logs(tmp_path, capsys):
    for name, change in (("same", None), ("gold", other_gold), ("question", other_question)):
        folder = tmp_path / name
        written(folder, "inspect json", models=("old",))
        written(folder, "inspect eval", change, models=("new",))
        code = gate(folder, "inspect json", "--format", "json")
        said = capsys.readouterr()
        assert code in (ANSWERED if change is None else {3})
        assert change is not None or "items_not_compared" not in said.out


def test_long_questions_and_pictures_are_compared_as_summaries_have_them(tmp_path):
    long_text = "x" * 6000
    short = "x" * 5120 + "...\n(content truncated)"
    picture = [{"type": "text", "text": long_text}, {"type": "image", "image": "data:1"}]
    cut = [{"type": "text", "text": short}, {"type": "text", "text": "(Image)"}]

    def ask(given):
        def change(maker, files):
            maker.items(files)[3]["input"] = given

        return change

    for number, (whole, summary) in enumerate(
        [
            (long_text, short),
            ([{"role": "user", "content": picture}], [{"role": "user", "content": cut}]),
        ]
    ):
        folder = tmp_path / str(number)
        written(folder / "a", "inspect eval", ask(summary), models=("new",))
        written(folder / "b", "inspect json", ask(whole), models=("new",))
        path = next((folder / "b").iterdir())
        path.write_text(path.read_text().replace('"model": "new"', '"model": "other"'))
        assert op.read(folder, format="inspect").n == N


def test_documents_are_compared_where_a_log_has_no_hash(tmp_path, capsys):
    def change(other, all_of_them=True):
        def without(maker, files):
            for line in first(files) if all_of_them else first(files)[3:4]:
                del line["doc_hash"]
                if other:
                    line["doc"]["q"] = "Why?"

        return without

    for number, (other, every) in enumerate([(False, True), (True, True), (True, False)]):
        code = gate(written(tmp_path / str(number), "lm-eval", change(other, every)), "lm-eval")
        assert code in ({3} if other else ANSWERED)
        error = " ".join(capsys.readouterr().err.split())
        assert not other or "ask different questions" in error
        assert not other or "What is" in error


def lost_question(maker, files):
    for item in maker.items(files):
        del item[maker.question]
        item.pop("doc", None)


@pytest.mark.parametrize("kind", ["lm-eval", "inspect json", "pydantic-evals", "deepeval"])
def test_what_cannot_be_compared_is_told(tmp_path, kind):
    folder = written(tmp_path, kind, lost_question)
    seen = op.read(folder, format=kind.split()[0])
    (found,) = (one for one in seen.findings if one.name == "items_not_compared")
    assert found.message.startswith(
        "For 40 of 40 items, one log contains the questions and another does not"
    )
    assert found.level == "warning"


def test_a_run_of_helm_without_its_questions_is_told(tmp_path):
    written(tmp_path, "helm")
    (tmp_path / "alpha,model=new" / "scenario_state.json").unlink()
    seen = op.read(tmp_path, format="helm", score="exact_match")
    assert [one.name for one in seen.findings] == ["items_not_compared"] * 2


def test_prompts_that_differ_are_told(tmp_path):
    def prompts(text):
        def change(maker, files):
            for event in first(files)[2 + N :]:
                event["type"], event["data"] = (
                    "sampling",
                    {"prompt": f"{text} {event['sample_id']}"},
                )

        return change

    for number, (text, told) in enumerate([("", False), ("Think.", True)]):
        folder = tmp_path / str(number)
        written(folder / "a", "openai-evals", prompts(text))
        old = folder / "a" / "old alpha.jsonl"
        lines = MAKERS["openai-evals"].write("old", "alpha")
        prompts("")(None, lines)
        old.write_bytes(as_bytes(old.name, first(lines)))
        seen = op.read(folder, format="openai-evals")
        assert ("prompts_differ" in [one.name for one in seen.findings]) is told


# Groups


GROUPED = {
    "promptfoo": "not applicable: promptfoo has no tasks",
    **{kind: "" for kind in MAKERS if kind != "promptfoo"},
}


@each("kind", [kind for kind, why in GROUPED.items() if not why])
def test_groups_of_two_tasks_are_kept_apart(tmp_path, kind):
    folder = written(tmp_path, kind, tasks=tuple(TASKS))
    options = {"format": kind.split()[0], "groups": "passage"}
    if kind == "long":
        options |= {"id": "id", "model": "model", "score": "score"}
    elif kind == "helm":
        options |= {"score": "exact_match"}
    source = sorted(folder.glob("*.csv")) if kind == "long" else folder
    seen = op.read(source, **options)
    assert (seen.n, seen.groups.n) == (2 * N, 30 + 24)
    (found,) = (one for one in seen.findings if one.name == "groups_kept_apart")
    assert "54 groups in all" in found.message
    assert "groups=54" in repr(op.read_scores(source, **options))


# Files that unpack to far more than they are


def bomb(path, method=zipfile.ZIP_DEFLATED, size=3000):
    header = {"status": "success", "eval": {"task": "alpha", "model": "new"}}
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("header.json", json.dumps(header))
        with archive.open("summaries.json", "w", force_zip64=True) as stream:
            for _ in range(size):
                stream.write(b" " * (1 << 20))
            stream.write(b"[]")


def test_an_archive_that_unpacks_to_far_more_is_refused_before_it_is(tmp_path, monkeypatch, capsys):
    written(tmp_path, "inspect eval")
    bomb(tmp_path / "2026-01-01T00-00-00+00-00_alpha_bomb.eval", size=300)

    def refuse(*_, **__):
        raise AssertionError("it was opened")

    opened = zipfile.ZipFile.open

    def only_header(archive, name, *more, **options):
        return (refuse if name == "summaries.json" and "bomb" in str(archive.filename) else opened)(
            archive, name, *more, **options
        )

    monkeypatch.setattr(zipfile.ZipFile, "open", only_header)
    assert gate(tmp_path, "inspect eval") == 3
    assert "unpacks to more than 256 MiB" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("packing", ["gz", "zst"])
def test_packed_logs_that_unpack_to_far_more_are_refused(tmp_path, monkeypatch, packing):
    from outperform.io import compression

    monkeypatch.setattr(compression, "_MOST_AT_ONCE", 1 << 20)
    monkeypatch.setattr(compression, "_MOST", 1 << 20)
    data = b" " * (1 << 24) + b"{}"
    packed = gzip.compress(data) if packing == "gz" else pa.compress(data, "zstd", asbytes=True)
    for kind, name in {
        "promptfoo": "a.json", "openai-evals": "a.jsonl", "pydantic-evals": "a.json",
        "deepeval": "a.json", "lm-eval": "samples_a_2026-01-01T00-00-00.jsonl",
    }.items():  # fmt: skip
        path = tmp_path / f"{name}.{packing}"
        path.write_bytes(packed)
        with pytest.raises(DataError, match=r"unpacks to more than \d+ MiB"):
            op.read({"new": path}, format=kind)


def test_an_archive_that_hides_its_size_is_refused(tmp_path, monkeypatch):
    from outperform.io import compression

    monkeypatch.setattr(compression, "_MOST_AT_ONCE", 1 << 20)
    path = tmp_path / "2026-01-01T00-00-00+00-00_alpha_bomb.eval"
    bomb(path, size=16)
    data = path.read_bytes()
    true = (16 * (1 << 20) + 2).to_bytes(4, "little")
    assert data.count(true)
    path.write_bytes(data.replace(true, (100).to_bytes(4, "little")))
    with pytest.raises(DataError, match=r"damaged|unpacks to more"):
        op.read(Path(path), format="inspect")


def test_the_same_texts_in_lines_of_tables(tmp_path):
    """Tables are refused too, also where keys differ only in case and the fault is far down."""
    rows = ['{"label": "x", "a": "x", "A": "y"}'] * 1200
    path = tmp_path / "a.jsonl"
    for fault in ('{"label": "x", "a": "x", "A": "y", "A": "x"}', '{"label": {"q": 1, "q": 2}}'):
        path.write_text("\n".join([*rows, fault]) + "\n")
        with pytest.raises(DataError, match=r"line 1201 .*occurs twice"):
            op.read(path, truth="label", models=["a", "A"])
    long_rows = [
        f'{{"id": "q{k}", "model": "{model}", "score": {k % 2}}}'
        for k in range(1200)
        for model in ("old", "new")
    ]
    path.write_text("\n".join([*long_rows, '{"id": "x", "model": "old", "score": 0, "score": 1}']))
    with pytest.raises(DataError, match=r"line 2401 .*occurs twice"):
        op.read(path, format="long", id="id", model="model", score="score")


def test_keys_of_storage_options_occur_once(tmp_path, capsys):
    path = tmp_path / "options.json"
    path.write_text('{"region": "a", "region": "b"}')
    asked = ["rank", "s3://bucket/a.csv", "--truth", "label", "--storage-options", str(path)]
    assert main(asked) == 2
    assert "a JSON file with one object" in " ".join(capsys.readouterr().err.split())


# Where logs of lm_eval lie, and how their models are called


def harness(folder, task="alpha", seed=0):
    """Write the log of one model as lm_eval does, with its results as indented JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(f"{folder.name} {seed}")
    right = [chance.random() < 0.6 for _ in range(N)]
    when = f"2026-01-01T00-00-0{seed}.000001"
    lines = lm_eval("old", "alpha")["old/samples_alpha_2026-01-01T00-00-00.000001.jsonl"]
    written_lines = [{**one, "acc": float(own)} for one, own in zip(lines, right, strict=True)]
    text = "".join(json.dumps(one) + "\n" for one in written_lines)
    (folder / f"samples_{task}_{when}.jsonl").write_text(text)
    results = {"results": {task: {"acc,none": sum(right) / N}}}
    (folder / f"results_{when}.json").write_text(json.dumps(results, indent=2))


LAYOUTS = {
    "random folders": (["m1/v6y749yf", "m2/ssxvlhs7", "m3/bzavogsk"], ("m1", "m2", "m3")),
    "one model, two runs": (["base/org__llama", "tuned/org__llama"], ("base", "tuned")),
    "named models": (["run1/gpt2", "run2/llama"], ("gpt2", "llama")),
    "random folders only": (["v6y749yf", "ssxvlhs7"], ("ssxvlhs7", "v6y749yf")),
    "several in one run": (["a/v6y749yf", "a/ssxvlhs7"], ("ssxvlhs7", "v6y749yf")),
    "deep": (["a/b/c/gpt2", "a/b/c/llama"], ("gpt2", "llama")),
    "deep and random": (["m1/b/v6y749yf", "m2/b/ssxvlhs7"], ("m1", "m2")),
}


@each("layout", LAYOUTS)
def test_logs_are_found_at_any_depth_and_their_models_named(tmp_path, capsys, layout):
    folders, models = LAYOUTS[layout]
    for one in folders:
        harness(tmp_path / one)
    seen = op.read(tmp_path)
    assert seen.models == models
    assert seen.findings[0].name == "logs_recognized"
    assert main(["rank", str(tmp_path), "--draws", "200", "--rope", "0.02"]) == 0


def test_a_run_is_called_after_the_folder_that_is_given(tmp_path):
    for name, inner in (("m1", "v6y749yf"), ("m2", "ssxvlhs7")):
        harness(tmp_path / name / inner)
    assert op.read([tmp_path / "m1", tmp_path / "m2"]).models == ("m1", "m2")
    inner = [tmp_path / "m1" / "v6y749yf", tmp_path / "m2" / "ssxvlhs7"]
    assert op.read(inner).models == ("v6y749yf", "ssxvlhs7")
    assert op.read(dict(zip("ab", inner, strict=True))).models == ("a", "b")


def test_tasks_of_one_model_in_several_folders_stay_together(tmp_path):
    for task in ("alpha", "beta"):
        harness(tmp_path / task / "gpt2", task)
    assert op.read(tmp_path).models == ("gpt2",)


def test_linked_folders_keep_their_names(tmp_path):
    for name, inner in (("a", "v6y749yf"), ("b", "ssxvlhs7")):
        harness(tmp_path / "runs" / name / inner)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "new").symlink_to(tmp_path / "runs" / "a" / "v6y749yf")
    (tmp_path / "models" / "old").symlink_to(tmp_path / "runs" / "b" / "ssxvlhs7")
    (tmp_path / "models" / "circle").symlink_to(tmp_path / "models")
    assert op.read(tmp_path / "models").models == ("new", "old")


def test_indented_json_is_called_what_it_is(tmp_path):
    harness(tmp_path)
    path = next(tmp_path.glob("results_*.json"))
    with pytest.raises(DataError, match="is one JSON value over several lines"):
        op.read(path, truth="label")


# What to type instead


def test_a_long_table_is_proposed(tmp_path, capsys):
    path = next(written(tmp_path, "long").glob("old*.csv"))
    assert (
        main(["rank", str(path), "--id", "id", "--model-column", "model", "--score", "score"]) == 2
    )
    assert "pass --read-as long" in " ".join(capsys.readouterr().err.split())


def test_a_model_may_be_meant_by_the_end_of_its_name(tmp_path, capsys):
    source = Path(__file__).parent / "evaluations" / "inspect" / "chat" / "eval"
    asked = ["--score", "match", "--a", "large", "--b", "mockllm/small", "--rope", "0.02"]
    assert main(["compare", str(source), *asked]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "unknown model 'large'; did you mean 'mockllm/large'?" in said


def test_two_summaries_in_one_archive_are_refused(tmp_path):
    written(tmp_path, "inspect eval")
    path = next(tmp_path.glob("*_new.eval"))
    better = [{**one, "scores": {"match": {"value": "C"}}} for one in inspect_samples()]
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("summaries.json", json.dumps(better))
    with pytest.raises(DataError, match=r"contains two summaries\.json"):
        op.read(tmp_path, format="inspect")


def inspect_samples():
    return first(inspect_eval("new", "alpha"))["summaries.json"]


def test_the_part_of_a_store_that_unpacks_to_far_more_is_refused(tmp_path, monkeypatch):
    from outperform.io import compression
    from outperform.io.counted_files import read_part

    monkeypatch.setattr(compression, "_MOST_AT_ONCE", 1 << 20)
    path = tmp_path / "mon.csv.jsonl.gz"
    path.write_bytes(gzip.compress(b" " * (1 << 24) + b"{}"))
    with pytest.raises(DataError, match=r"mon\.csv\.jsonl\.gz: it unpacks to more than"):
        read_part(path)
