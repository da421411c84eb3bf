"""promptfoo: the output of ``promptfoo eval -o FILE.json``, with the results of all providers."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
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
    read_json,
)
from outperform.io.logs.samples import as_text, field_of

_ERROR = 2  # failure reason: a provider error, not an assertion
_MAX_LABEL = 40  # characters of the prompt label in a model name


def _read(path: Path) -> Log:
    name = os.fspath(path)
    report = read_json(path)
    columns = get_typed(report, "results.prompts", list, at=name)
    labels = [get_typed(column, "label", str, at=name) for column in columns]
    results = get_typed(report, "results.results", list, at=name)
    if not results:
        raise DataError(f"{name} has no results")
    rows: list[tuple[int, int, Row]] = []
    counts: Counter[tuple[int, str]] = Counter()
    for number, result in enumerate(results, start=1):
        at = f"{name}, result {number}"
        column = get_typed(result, "promptIdx", int, at=at)
        if not 0 <= column < len(columns):
            raise DataError(f"{at}: 'promptIdx' is {column}, but there is no such prompt")
        scores, outcome = _scores(result, at)
        counts[column, outcome] += 1
        model = get_optional(result, "provider.label", str, at=at)
        model = model or get_typed(result, "provider.id", str, at=at)
        variables = get_optional(result, "vars", dict, at=at) or {}
        metadata = get_optional(result, "testCase.metadata", dict, at=at) or {}
        row = Row(
            model=model if len(set(labels)) == 1 else f"{model}, {_short(labels, column)}",
            id=as_text([variables, field_of(result, "testCase.assert")]),
            scores=scores,
            question={"vars": variables},
            gold={"assert": field_of(result, "testCase.assert")},
            about={**metadata, **variables, "prompt": labels[column]},
        )
        rows.append((get_typed(result, "testIdx", int, at=at), column, row))
    for column, prompt in enumerate(columns):
        for outcome in ("Pass", "Fail", "Error"):
            total = get_optional(prompt, f"metrics.test{outcome}Count", int, at=name)
            what = f"results of prompt {column + 1} as {outcome.lower()}"
            check_total(name, what, total, counts[column, outcome])
    return Log(_numbered(rows), get_optional(report, "results.timestamp", str, at=name))


def _scores(result: object, at: str) -> tuple[dict[str, object], str]:
    """Return the scores of one result, and its outcome: Pass, Fail or Error."""
    right = get_typed(result, "success", bool, at=at)
    score = get_typed(result, "score", float, at=at)
    named = get_optional(result, "namedScores", dict, at=at) or {}
    reason = get_optional(result, "failureReason", int, at=at)
    if reason == _ERROR:
        return dict.fromkeys(("success", "score", *named)), "Error"
    if right and reason:
        raise DataError(f"{at} is damaged: it is a success, but has a failure reason, {reason}")
    grading = get_optional(result, "gradingResult", dict, at=at) or {}
    copies = {"pass": right, "score": score, "namedScores": named}
    for key, value in copies.items():
        if key in grading and grading[key] != value:
            raise DataError(f"{at} is damaged: {key!r} of 'gradingResult' has another value")
    scores = {key: get_score(named, key, at=at) for key in named}
    return {"success": right, "score": score, **scores}, "Pass" if right else "Fail"


def _short(labels: Sequence[str], column: int) -> str:
    """Return the label of a prompt, or its number if the label is the full prompt."""
    label = labels[column]
    return label if len(label) <= _MAX_LABEL and label.isprintable() else f"prompt {column + 1}"


def _numbered(rows: Sequence[tuple[int, int, Row]]) -> list[Row]:
    """Return the answers with test numbers as ids; repeated runs have the same number."""
    tests: dict[object, int] = {}
    times: Counter[tuple[int, object]] = Counter()
    numbered = []
    for _, column, row in sorted(rows, key=lambda entry: entry[:2]):
        times[column, row.id] += 1
        number = tests.setdefault(row.id, len(tests) + 1)
        numbered.append(row._replace(id=number, epoch=times[column, row.id]))
    return numbered


FORMAT = LogFormat(
    name="promptfoo",
    read=_read,
    what="file of results, *.json",
    start=re.compile(rb'\s*{\s*"evalId":\s*"eval-[^"]*",\s*"results":\s*{'),
    right="success",
    grade="score",
    prefixes=("namedScores.", "gradingResult."),
)
