"""pydantic-evals: a report written by EvaluationReportAdapter."""

from __future__ import annotations

import os
import re
from pathlib import Path

from outperform.errors import DataError
from outperform.io.logs.format import (
    Log,
    LogFormat,
    Row,
    get_optional,
    get_typed,
    model_name,
    read_json,
)
from outperform.io.logs.samples import field_of

_RUN = re.compile(r" \[(\d+)/\d+\]")


def _read(path: Path) -> Log:
    name = os.fspath(path)
    report = read_json(path)
    cases = get_typed(report, "cases", list, at=name)
    failures = get_optional(report, "failures", list, at=name) or []
    if not cases and not failures:
        raise DataError(f"{name} has no cases")
    model = model_name(path, field_of(report, "experiment_metadata.model"))
    task = get_optional(report, "dataset_name", str, at=name) or ""
    rows = []
    for number, case in enumerate([*cases, *failures], start=1):
        at = f"{name}, case {number}"
        case_name = get_typed(case, "name", str, at=at)
        source = get_optional(case, "source_case_name", str, at=at)
        run = None if source is None else _RUN.fullmatch(case_name.removeprefix(source))
        scores = {
            key: get_typed(result, "value", value_type, at=f"{at}, {key!r}")
            for kind, value_type in (("scores", float), ("assertions", bool))
            for key, result in (
                get_typed(case, kind, dict, at=at) if number <= len(cases) else {}
            ).items()
        }
        rows.append(
            Row(
                model=model,
                id=source or case_name,
                task=task,
                epoch=1 if run is None else int(run[1]),
                scores=scores,
                question={"inputs": field_of(case, "inputs")},
                gold={"expected_output": field_of(case, "expected_output")},
                about=get_optional(case, "metadata", dict, at=at) or {},
            )
        )
    return Log(rows)


FORMAT = LogFormat(
    name="pydantic-evals", read=_read, what="report, *.json", prefixes=("assertions.", "scores.")
)
