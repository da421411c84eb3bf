"""openai-evals: JSON Lines from the recorder, with a spec, events and a final report."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from outperform.errors import DataError
from outperform.io.logs.format import (
    Log,
    LogFormat,
    Row,
    check_total,
    get_optional,
    get_typed,
    read_json_lines,
)

_GRADES = ("match", "metrics")
_INPUTS = ("raw_sample", "sampling")  # the item as in the data, and the prompt sent to the model
_ROUNDING = 0.4  # tolerance for a rounded accuracy, in answers


def _read(path: Path) -> Log:
    name = os.fspath(path)
    spec: dict[str, object] | None = None
    report: dict[str, object] | None = None
    events: dict[int, tuple[str, dict[str, object]]] = {}
    for at, line in read_json_lines(path):
        if "spec" in line:
            if spec is not None:
                raise DataError(f"{at}: a second run starts here; keep one run per file")
            spec = get_typed(line, "spec", dict, at=at)
        elif "final_report" in line:
            report = get_typed(line, "final_report", dict, at=at)
        else:
            number = get_typed(line, "event_id", int, at=at)
            if number in events:
                raise DataError(f"{at}: event {number} occurs twice")
            events[number] = at, line
    if spec is None:
        raise DataError(f"{name}, line 1 is not a log of openai-evals: it has no 'spec'")
    if report is None:
        raise DataError(f"{name} has no final report; the evaluation is not finished")
    gap = next((k for k in range(len(events)) if k not in events), None)
    if gap is not None:
        after = events.get(gap - 1, (f"{name}, line 1",))[0]
        raise DataError(f"{name} is damaged: event {gap} is missing after {after.split(', ')[-1]}")
    first = f"{name}, line 1"
    model = ", ".join(map(str, get_typed(spec, "completion_fns", list, at=first)))
    rows = list(_rows(events.values(), model, get_typed(spec, "eval_name", str, at=first)))
    right = [row.scores["match.correct"] for row in rows if "match.correct" in row.scores]
    if not rows:
        raise DataError(f"{name} has no samples")
    if right and all(event["type"] != "metrics" for _, event in events.values()):
        share = right.count(True) / len(right)
        accuracy = get_optional(report, "accuracy", float, at=name)
        check_total(name, "accuracy", accuracy, share, within=_ROUNDING / len(right))
    return Log(rows, get_optional(spec, "created_at", str, at=first))


def _rows(events: Iterable[tuple[str, dict[str, object]]], model: str, task: str) -> Iterator[Row]:
    """Yield the graded answers for each sample; a sample without a grade has no score."""
    samples: dict[str, dict[str, list[dict[str, object]]]] = {}
    for at, event in events:
        events_by_kind = samples.setdefault(get_typed(event, "sample_id", str, at=at), {})
        kind = get_typed(event, "type", str, at=at)
        if kind in _INPUTS:
            events_by_kind.setdefault(kind, []).append(
                get_optional(event, "data", dict, at=at) or {}
            )
        if kind in _GRADES:
            data = get_typed(event, "data", dict, at=at)
            if kind == "match":
                get_typed(data, "correct", bool, at=at)
            events_by_kind.setdefault(kind, []).append(data)
    for sample, events_by_kind in samples.items():
        item, sent = ((events_by_kind.pop(kind, []) or [{}])[0] for kind in _INPUTS)
        prompt = sent.get("prompt")
        for k in range(max(map(len, events_by_kind.values()), default=1)):
            grades = {kind: data[k] for kind, data in events_by_kind.items() if k < len(data)}
            about = {key: value for data in grades.values() for key, value in data.items()}
            yield Row(
                model=model,
                id=sample,
                task=task,
                epoch=k + 1,
                scores={
                    f"{kind}.{key}": value
                    for kind, data in grades.items()
                    for key, value in data.items()
                    if isinstance(value, (bool, int, float))
                },
                question={"input": item.get("input")},
                gold={"expected": about.get("expected"), "ideal": item.get("ideal")},
                prompt={"messages" if isinstance(prompt, list) else "prompt": prompt},
                about=about,
            )


FORMAT = LogFormat(
    name="openai-evals",
    read=_read,
    files=("*.jsonl",),
    start=re.compile(rb'{"spec":\s*{"completion_fns":\s*\['),
    right="match.correct",
    prefixes=("data.",),
)
