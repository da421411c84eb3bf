"""deepeval: test runs from the results folder."""

from __future__ import annotations

import os
import re
from pathlib import Path

from outperform.errors import DataError
from outperform.io.logs.format import (
    Log,
    LogFormat,
    Row,
    check_total,
    get_optional,
    get_score,
    get_typed,
    model_name,
    read_json,
)
from outperform.io.logs.samples import field_of

_EXPECTED = ("expectedOutput", "expectedOutcome", "expectedTools")
_STAMP = re.compile(r"test_run_(\d{8}_\d{6})")


def _read(path: Path) -> Log:
    name = os.fspath(path)
    run = read_json(path)
    cases = [
        *get_typed(run, "testCases", list, at=name),
        *(get_optional(run, "conversationalTestCases", list, at=name) or []),
    ]
    if not cases:
        raise DataError(f"{name} has no test cases")
    model = model_name(path, field_of(run, "hyperparameters.model"))
    task = get_optional(run, "datasetAlias", str, at=name) or ""
    rows = []
    passed = []
    scores: dict[str, list[float]] = {}
    for number, case in enumerate(cases, start=1):
        at = f"{name}, test case {number}"
        right = get_optional(case, "success", bool, at=at)
        passed.append(right)
        case_scores: dict[str, object] = {"success": right}
        verdicts = []
        for metric in get_optional(case, "metricsData", list, at=at) or []:
            metric_name = get_typed(metric, "name", str, at=at)
            if metric_name in case_scores:
                raise DataError(
                    f"{at}: the metric {metric_name!r} occurs twice; give each a unique name"
                )
            score = get_score(metric, "score", at=at)
            case_scores[metric_name] = score
            verdict = get_optional(metric, "success", bool, at=at)
            case_scores[f"{metric_name}.success"] = verdict
            if not get_optional(metric, "flaky", bool, at=at):  # a flaky failure may be ignored
                verdicts.append(verdict)
            if score is None:  # the metric itself failed, so it has no result
                case_scores |= {"success": None, f"{metric_name}.success": None}
            else:
                scores.setdefault(metric_name, []).append(score)
        if get_optional(case, "flaky", bool, at=at):
            verdicts = []
        if right and False in verdicts:
            raise DataError(f"{at} is damaged: it passed, but one of its metrics failed")
        if right is False and verdicts and set(verdicts) == {True}:
            raise DataError(f"{at} is damaged: it failed, but all of its metrics passed")
        rows.append(
            Row(
                model=model,
                id=get_typed(case, "name", str, at=at),
                task=task,
                scores=case_scores,
                question={key: field_of(case, key) for key in ("input", "scenario")},
                gold={key: field_of(case, key) for key in _EXPECTED},
                about=get_optional(case, "metadata", dict, at=at) or {},
            )
        )
    check_total(name, "passed tests", field_of(run, "testPassed"), passed.count(True))
    check_total(name, "failed tests", field_of(run, "testFailed"), passed.count(False))
    if not any(field_of(case, "trace") for case in cases):  # parts of traces also have scores
        for entry in get_typed(run, "metricsScores", list, at=name):
            metric_name = get_typed(entry, "metric", str, at=name)
            values = {
                str(k): value for k, value in enumerate(get_typed(entry, "scores", list, at=name))
            }
            total = sum(
                get_typed(values, key, float, at=f"{name}, {metric_name!r}") for key in values
            )
            computed = sum(scores.get(metric_name, ()))
            check_total(name, f"as the sum of {metric_name!r}", total, computed)
    stamp = _STAMP.match(path.name)
    return Log(rows, stamp and stamp[1])


FORMAT = LogFormat(
    name="deepeval",
    read=_read,
    what="test run, *.json",
    unmistakable=("test_run_????????_??????.json",),
    right="success",
)
