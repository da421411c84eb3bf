"""Readers of what promptfoo, openai-evals, pydantic-evals, deepeval and HELM write."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from outperform.errors import DataError
from outperform.io.formats import FileFormat
from outperform.io.json_logs import (
    Log,
    Reader,
    Row,
    document,
    graded,
    held,
    lines,
    model_of,
    optional,
    refuse_other_total,
)
from outperform.io.log_samples import as_text, field_of

# promptfoo: `promptfoo eval -o FILE.json`, one document with the results of all providers


_ERROR = 2  # a failure that is not of an assertion: the provider gave no answer
_LABEL = 40  # characters of a prompt that may stand in the name of a model


def _read_promptfoo(path: Path) -> Log:
    name = os.fspath(path)
    found = document(path)
    columns = held(found, "results.prompts", list, place=name)
    labels = [held(one, "label", str, place=name) for one in columns]
    results = held(found, "results.results", list, place=name)
    if not results:
        raise DataError(f"{name} has no results")
    rows: list[tuple[int, int, Row]] = []
    counts: Counter[tuple[int, str]] = Counter()
    for number, one in enumerate(results, start=1):
        place = f"{name}, result {number}"
        column = held(one, "promptIdx", int, place=place)
        if not 0 <= column < len(columns):
            raise DataError(f"{place}: there is no prompt {column}, its 'promptIdx'")
        scores, outcome = _promptfoo_scores(one, place)
        counts[column, outcome] += 1
        model = optional(one, "provider.label", str, place=place)
        model = model or held(one, "provider.id", str, place=place)
        asked = optional(one, "vars", dict, place=place) or {}
        metadata = optional(one, "testCase.metadata", dict, place=place) or {}
        row = Row(
            model=model if len(set(labels)) == 1 else f"{model}, {_short(labels, column)}",
            id=as_text([asked, field_of(one, "testCase.assert")]),
            scores=scores,
            question={"vars": asked},
            gold={"assert": field_of(one, "testCase.assert")},
            about={**metadata, **asked, "prompt": labels[column]},
        )
        rows.append((held(one, "testIdx", int, place=place), column, row))
    for column, one in enumerate(columns):
        for outcome in ("Pass", "Fail", "Error"):
            told = optional(one, f"metrics.test{outcome}Count", int, place=name)
            what = f"results of prompt {column + 1} as {outcome.lower()}"
            refuse_other_total(name, what, told, counts[column, outcome])
    return Log(_numbered(rows), optional(found, "results.timestamp", str, place=name))


def _promptfoo_scores(result: object, place: str) -> tuple[dict[str, object], str]:
    """Return the scores of one result, and whether it passed, failed, or has none for an error."""
    right = held(result, "success", bool, place=place)
    score = held(result, "score", float, place=place)
    named = optional(result, "namedScores", dict, place=place) or {}
    reason = optional(result, "failureReason", int, place=place)
    if reason == _ERROR:
        return dict.fromkeys(("success", "score", *named)), "Error"
    if right and reason:
        raise DataError(
            f"{place} is damaged: it is a success, and has the reason of a failure, {reason}"
        )
    graded_as = optional(result, "gradingResult", dict, place=place) or {}
    again = {"pass": right, "score": score, "namedScores": named}
    for key, value in again.items():
        if key in graded_as and graded_as[key] != value:
            raise DataError(f"{place} is damaged: {key!r} of 'gradingResult' says something else")
    scores = {key: graded(named, key, place=place) for key in named}
    return {"success": right, "score": score, **scores}, "Pass" if right else "Fail"


def _short(labels: Sequence[str], column: int) -> str:
    """Return the label of a prompt, which is its text if nobody gave it one."""
    label = labels[column]
    return label if len(label) <= _LABEL and label.isprintable() else f"prompt {column + 1}"


def _numbered(rows: Sequence[tuple[int, int, Row]]) -> list[Row]:
    """Return the answers with numbers of the tests; one that is run again is the same test."""
    tests: dict[object, int] = {}
    times: Counter[tuple[int, object]] = Counter()
    found = []
    for _, column, row in sorted(rows, key=lambda one: one[:2]):
        times[column, row.id] += 1
        number = tests.setdefault(row.id, len(tests) + 1)
        found.append(row._replace(id=number, epoch=times[column, row.id]))
    return found


# openai-evals: the lines of its recorder, a spec, events, and a final report


_GRADES = ("match", "metrics")
_ASKED = ("raw_sample", "sampling")  # the item as the data have it, and what the model was sent
_NEAR = 0.4  # of the least that one answer changes an accuracy, which may be rounded


def _read_openai_evals(path: Path) -> Log:
    name = os.fspath(path)
    spec: dict[str, object] | None = None
    report: dict[str, object] | None = None
    events: dict[int, tuple[str, dict[str, object]]] = {}
    for place, line in lines(path):
        if "spec" in line:
            if spec is not None:
                raise DataError(f"{place}: a second run starts; keep one run in a file")
            spec = held(line, "spec", dict, place=place)
        elif "final_report" in line:
            report = held(line, "final_report", dict, place=place)
        else:
            number = held(line, "event_id", int, place=place)
            if number in events:
                raise DataError(f"{place}: event {number} is there twice")
            events[number] = place, line
    if spec is None:
        raise DataError(f"{name}, line 1 is no log of openai-evals: it has no 'spec'")
    if report is None:
        raise DataError(f"{name} has no final report; the evaluation is not finished")
    lost = next((k for k in range(len(events)) if k not in events), None)
    if lost is not None:
        after = events.get(lost - 1, (f"{name}, line 1",))[0]
        raise DataError(f"{name} is damaged: event {lost} is missing after {after.split(', ')[-1]}")
    first = f"{name}, line 1"
    model = ", ".join(map(str, held(spec, "completion_fns", list, place=first)))
    rows = list(_event_rows(events.values(), model, held(spec, "eval_name", str, place=first)))
    right = [row.scores["match.correct"] for row in rows if "match.correct" in row.scores]
    if not rows:
        raise DataError(f"{name} has no samples")
    if right and all(event["type"] != "metrics" for _, event in events.values()):
        share = right.count(True) / len(right)
        told = optional(report, "accuracy", float, place=name)
        refuse_other_total(name, "accuracy", told, share, within=_NEAR / len(right))
    return Log(rows, optional(spec, "created_at", str, place=first))


def _event_rows(
    events: Iterable[tuple[str, dict[str, object]]], model: str, task: str
) -> Iterator[Row]:
    """Return what each sample scored; a sample without a grade has no score."""
    samples: dict[str, dict[str, list[dict[str, object]]]] = {}
    for place, event in events:
        own = samples.setdefault(held(event, "sample_id", str, place=place), {})
        kind = held(event, "type", str, place=place)
        if kind in _ASKED:
            own.setdefault(kind, []).append(optional(event, "data", dict, place=place) or {})
        if kind in _GRADES:
            data = held(event, "data", dict, place=place)
            if kind == "match":
                held(data, "correct", bool, place=place)
            own.setdefault(kind, []).append(data)
    for sample, own in samples.items():
        item, sent = ((own.pop(kind, []) or [{}])[0] for kind in _ASKED)
        prompt = sent.get("prompt")
        for k in range(max(map(len, own.values()), default=1)):
            found = {kind: one[k] for kind, one in own.items() if k < len(one)}
            about = {key: value for data in found.values() for key, value in data.items()}
            yield Row(
                model=model,
                id=sample,
                task=task,
                epoch=k + 1,
                scores={
                    f"{kind}.{key}": value
                    for kind, data in found.items()
                    for key, value in data.items()
                    if isinstance(value, (bool, int, float))
                },
                question={"input": item.get("input")},
                gold={"expected": about.get("expected"), "ideal": item.get("ideal")},
                prompt={"messages" if isinstance(prompt, list) else "prompt": prompt},
                about=about,
            )


# pydantic-evals: a report, as EvaluationReportAdapter writes it


_RUN = re.compile(r" \[(\d+)/\d+\]")


def _read_pydantic_evals(path: Path) -> Log:
    name = os.fspath(path)
    found = document(path)
    cases = held(found, "cases", list, place=name)
    failures = optional(found, "failures", list, place=name) or []
    if not cases and not failures:
        raise DataError(f"{name} has no cases")
    model = model_of(path, field_of(found, "experiment_metadata.model"))
    task = optional(found, "dataset_name", str, place=name) or ""
    rows = []
    for number, case in enumerate([*cases, *failures], start=1):
        place = f"{name}, case {number}"
        called = held(case, "name", str, place=place)
        source = optional(case, "source_case_name", str, place=place)
        run = None if source is None else _RUN.fullmatch(called.removeprefix(source))
        scores = {
            key: held(result, "value", of, place=f"{place}, {key!r}")
            for kind, of in (("scores", float), ("assertions", bool))
            for key, result in (
                held(case, kind, dict, place=place) if number <= len(cases) else {}
            ).items()
        }
        rows.append(
            Row(
                model=model,
                id=source or called,
                task=task,
                epoch=1 if run is None else int(run[1]),
                scores=scores,
                question={"inputs": field_of(case, "inputs")},
                gold={"expected_output": field_of(case, "expected_output")},
                about=optional(case, "metadata", dict, place=place) or {},
            )
        )
    return Log(rows)


# deepeval: a test run, as it writes it to its results folder


_EXPECTED = ("expectedOutput", "expectedOutcome", "expectedTools")
_STAMP = re.compile(r"test_run_(\d{8}_\d{6})")


def _read_deepeval(path: Path) -> Log:
    name = os.fspath(path)
    found = document(path)
    cases = [
        *held(found, "testCases", list, place=name),
        *(optional(found, "conversationalTestCases", list, place=name) or []),
    ]
    if not cases:
        raise DataError(f"{name} has no test cases")
    model = model_of(path, field_of(found, "hyperparameters.model"))
    task = optional(found, "datasetAlias", str, place=name) or ""
    rows = []
    passed = []
    scores: dict[str, list[float]] = {}
    for number, case in enumerate(cases, start=1):
        place = f"{name}, test case {number}"
        right = optional(case, "success", bool, place=place)
        passed.append(right)
        own: dict[str, object] = {"success": right}
        verdicts = []
        for metric in optional(case, "metricsData", list, place=place) or []:
            called = held(metric, "name", str, place=place)
            if called in own:
                raise DataError(f"{place}: the metric {called!r} is there twice; give each a name")
            score = graded(metric, "score", place=place)
            own[called] = score
            verdict = optional(metric, "success", bool, place=place)
            own[f"{called}.success"] = verdict
            if not optional(metric, "flaky", bool, place=place):  # whose failures may not count
                verdicts.append(verdict)
            if score is None:  # the metric failed, which says nothing of the answer
                own |= {"success": None, f"{called}.success": None}
            else:
                scores.setdefault(called, []).append(score)
        if optional(case, "flaky", bool, place=place):
            verdicts = []
        if right and False in verdicts:
            raise DataError(f"{place} is damaged: it passed, and one of its metrics failed")
        if right is False and verdicts and set(verdicts) == {True}:
            raise DataError(f"{place} is damaged: it failed, and all of its metrics passed")
        rows.append(
            Row(
                model=model,
                id=held(case, "name", str, place=place),
                task=task,
                scores=own,
                question={key: field_of(case, key) for key in ("input", "scenario")},
                gold={key: field_of(case, key) for key in _EXPECTED},
                about=optional(case, "metadata", dict, place=place) or {},
            )
        )
    refuse_other_total(name, "passed tests", field_of(found, "testPassed"), passed.count(True))
    refuse_other_total(name, "failed tests", field_of(found, "testFailed"), passed.count(False))
    if not any(field_of(case, "trace") for case in cases):  # whose parts are scored too
        for one in held(found, "metricsScores", list, place=name):
            called = held(one, "metric", str, place=name)
            told = {str(k): value for k, value in enumerate(held(one, "scores", list, place=name))}
            total = sum(held(told, key, float, place=f"{name}, {called!r}") for key in told)
            found_again = sum(scores.get(called, ()))
            refuse_other_total(name, f"as the sum of {called!r}", total, found_again)
    stamp = _STAMP.match(path.name)
    return Log(rows, stamp and stamp[1])


# HELM: the folder of a run, with run_spec.json and per_instance_stats.json


_INSTANCES = "per_instance_stats.json"
_OF_MODEL = re.compile(r"(?<=[:,])model(?:_deployment)?=[^,]*,?")


def _read_helm(path: Path) -> Log:
    name = os.fspath(path)
    spec = document(path.with_name("run_spec.json"))
    of_spec = os.fspath(path.with_name("run_spec.json"))
    model = held(spec, "adapter_spec.model", str, place=of_spec)
    task = _OF_MODEL.sub("", held(spec, "name", str, place=of_spec)).rstrip(":,")
    instances = _instances(path.with_name("scenario_state.json"))
    found = document(path)
    if not isinstance(found, list) or not found:
        raise DataError(f"{name} must be a list of instances; is it damaged?")
    scores: dict[tuple[str, str, int], dict[str, object]] = {}
    splits: dict[tuple[str, str, int], str] = {}
    for number, one in enumerate(found, start=1):
        place = f"{name}, entry {number}"
        key = (
            held(one, "instance_id", str, place=place),
            optional(one, "perturbation.name", str, place=place) or "none",
            held(one, "train_trial_index", int, place=place),
        )
        own = scores.setdefault(key, {})
        for stat in held(one, "stats", list, place=place):
            called = held(stat, "name.name", str, place=place)
            if called in own:  # every metric has entries of its own, but none has two
                raise DataError(f"{place}: {called!r} of {key[0]!r} is there twice")
            own[called] = _mean(stat, f"{place}, {called!r}")
            splits[key] = optional(stat, "name.split", str, place=place) or "none"
    return Log(
        [
            Row(
                model=model,
                id=key[0],
                task=task,
                epoch=key[2] + 1,
                scores=own,
                question={"input": field_of(instances.get(key[:2]), "input.text")},
                gold={"references": field_of(instances.get(key[:2]), "references")},
                about={
                    **instances.get(key[:2], {}),
                    "perturbation": key[1],
                    "split": splits.get(key),
                },
            )
            for key, own in scores.items()
        ]
    )


def _mean(stat: object, place: str) -> float | None:
    """Return the mean of a statistic, which its sum and its count must give as well."""
    count = held(stat, "count", int, place=place)
    held(stat, "count", float, place=place)  # which no float may be too small for
    if not count:
        return None
    mean, total = (held(stat, key, float, place=place) for key in ("mean", "sum"))
    refuse_other_total(place, "as the mean", mean, total / count)
    return float(mean)


def _instances(path: Path) -> dict[tuple[str, str], dict[str, object]]:
    """Return what was asked, by id and perturbation, if it was kept."""
    if not path.is_file():
        return {}
    place = os.fspath(path)
    found = {}
    for one in held(document(path), "request_states", list, place=place):
        instance = held(one, "instance", dict, place=place)
        perturbation = optional(instance, "perturbation.name", str, place=place) or "none"
        found[held(instance, "id", str, place=place), perturbation] = instance
    return found


def _ends(*endings: str) -> Callable[[Path], bool]:
    every = tuple(f"{end}{packing}" for end in endings for packing in ("", ".gz", ".zst"))
    return lambda path: path.name.endswith(every)


READERS = {
    one.name: one
    for one in (
        Reader(
            name=FileFormat.PROMPTFOO,
            what="file of results, *.json,",
            is_log=_ends(".json"),
            read=_read_promptfoo,
            right="success",
            grade="score",
            prefixes=("namedScores.", "gradingResult."),
        ),
        Reader(
            name=FileFormat.OPENAI_EVALS,
            what="log, *.jsonl,",
            is_log=_ends(".jsonl"),
            read=_read_openai_evals,
            right="match.correct",
            prefixes=("data.",),
        ),
        Reader(
            name=FileFormat.PYDANTIC_EVALS,
            what="report, *.json,",
            is_log=_ends(".json"),
            read=_read_pydantic_evals,
            prefixes=("assertions.", "scores."),
        ),
        Reader(
            name=FileFormat.DEEPEVAL,
            what="test run, *.json,",
            is_log=_ends(".json"),
            read=_read_deepeval,
            right="success",
        ),
        Reader(
            name=FileFormat.HELM,
            what=f"run, a folder with {_INSTANCES},",
            is_log=lambda path: path.name == _INSTANCES,
            read=_read_helm,
            single=("perturbation", "split"),
        ),
    )
}
