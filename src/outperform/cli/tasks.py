"""``--by``: items of several tasks, read as a suite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import outperform as op
from outperform.cli import options as o
from outperform.cli.exit_codes import shown
from outperform.cli.inputs import (
    Joined,
    Models,
    are_logs,
    asked_of_logs,
    chosen_models,
    declared,
    read_logs,
    read_table,
    refuse_never_true,
    rope_of,
)
from outperform.errors import UsageError, param

if TYPE_CHECKING:
    from outperform.data.outcomes import Outcomes
    from outperform.data.scores import Scores
    from outperform.inference.suite import Suite


PolicyFile = Annotated[
    Path | None,
    o.in_analysis(
        metavar="FILE",
        help="Per-task requirements, with --by: a TOML file with a table named tasks.",
    ),
]
Weights = Annotated[
    str | None,
    o.in_analysis(
        metavar="WEIGHTS",
        help="Task weights in the average over --by: equal, size, or e.g. arc=2,gsm8k=1.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """Options that divide items into tasks and average over the tasks."""

    by: o.ByTask = None
    weights: Weights = None

    def suite(
        self,
        files: list[str],
        models: Models,
        reading: Joined,
        metric: str | None,
        rope: str | None,
    ) -> Suite | None:
        """Return the tasks as a suite, or None without ``--by``."""
        if not self.by:
            if self.weights is not None:
                raise UsageError("--weights needs --by; pass both")
            return None
        weights = by_task(self.weights, _weight) or "equal"
        return read_suite(
            files,
            models,
            reading,
            self.by,
            metrics=by_task(metric),
            ropes=by_task(rope, rope_of),
            weights=weights,
        )


def _weight(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def read_suite(
    sources: Sequence[str],
    models: Models,
    reading: Joined,
    by: Sequence[str],
    **kwargs: Any,
) -> Suite:
    """Read tasks, from table columns or from the tasks of evaluation logs."""
    data: Outcomes | dict[str, Outcomes | Scores]
    if are_logs(sources, reading):
        refuse_never_true(reading.never_true)
        data = _read_task_logs(sources, reading, by)
    elif len(sources) == 1:
        data = declared(read_table(sources[0], models, reading, by), reading.never_true)
    else:
        raise UsageError(
            "--by needs one table or evaluation logs; put the files into one table with one row "
            "per item and model, and pass --read-as long with --id, --model-column and --score"
        )
    return chosen_models(op.Suite(data, **kwargs), models, ", ".join(sources))


def _read_task_logs(
    sources: Sequence[str], reading: Joined, by: Sequence[str]
) -> Outcomes | dict[str, Outcomes | Scores]:
    """Read the tasks of logs, each with its score, or groups of another field."""
    from outperform.io.logs.read import read_tasks

    if list(by) != ["task"] or reading.format == "long":
        return read_logs(op.read, sources, None, reading, by=list(by))
    keywords = {"format": None, **asked_of_logs(reading)}
    unexpected = [param(f"{name}=") for name in keywords if name not in _LOG_KEYWORDS]
    if unexpected:
        raise UsageError(f"{', '.join(unexpected)} cannot be used with evaluation logs; remove it")
    with shown("reading"):
        return read_tasks(sources[0] if len(sources) == 1 else list(sources), **keywords)


_LOG_KEYWORDS = (
    "format", "score", "where", "groups", "on_missing", "on_null", "skip_failed", "latest",
)  # fmt: skip


def by_task(text: str | None, read: Callable[[str], Any] = str) -> Any:
    """Parse one value for all tasks, or comma-separated task=value pairs."""
    if text is None or "=" not in text:
        return None if text is None else read(text)
    values: dict[str, Any] = {}
    for part in text.split(","):
        task, sign, value = part.rpartition("=")  # a task name may contain =
        if not sign or not task or task in values:
            raise UsageError(f"pass task=value once per task, separated by commas; got {text!r}")
        values[task] = read(value)
    return values
