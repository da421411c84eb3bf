"""``--by``: the items of several tasks, read as a suite."""

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
    o.in_question(
        metavar="FILE",
        help="What is required on each task of --by: TOML with a table called tasks.",
    ),
]
Weights = Annotated[
    str | None,
    o.in_question(
        metavar="WEIGHTS",
        help="How tasks of --by are averaged: equal, size, or task=weight with commas.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """Whether the items are of several tasks, and how these are averaged."""

    by: o.By = None
    weights: Weights = None

    def suite(
        self,
        files: list[str],
        models: Models,
        reading: Joined,
        metric: str | None,
        rope: str | None,
    ) -> Suite | None:
        """Return the tasks as a suite; None if nothing divides the items."""
        if not self.by:
            if self.weights is not None:
                raise UsageError("--weights is for the tasks of --by, which is not given")
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
    **asked: Any,
) -> Suite:
    """Read tasks: what a column, or the task of a log, divides the items into."""
    seen: Outcomes | dict[str, Outcomes | Scores]
    if are_logs(sources, reading):
        refuse_never_true(reading.never_true)
        seen = _read_task_logs(sources, reading, by)
    elif len(sources) == 1:
        seen = declared(read_table(sources[0], models, reading, by), reading.never_true)
    else:
        raise UsageError("--by divides the items of one table, or of evaluation logs")
    return chosen_models(op.Suite(seen, **asked), models, ", ".join(sources))


def _read_task_logs(
    sources: Sequence[str], reading: Joined, by: Sequence[str]
) -> Outcomes | dict[str, Outcomes | Scores]:
    """Read the tasks of logs, each by its own score; or what another field divides them into."""
    from outperform.io.logs.read import read_tasks

    if list(by) != ["task"] or reading.format == "long":
        return read_logs(op.read, sources, None, reading, by=list(by))
    asked = {"format": None, **asked_of_logs(reading)}
    odd = [param(f"{name}=") for name in asked if name not in _OF_LOGS]
    if odd:
        raise UsageError(f"logs have no {', '.join(odd)}; leave it out")
    with shown("reading"):
        return read_tasks(sources[0] if len(sources) == 1 else list(sources), **asked)


_OF_LOGS = (
    "format", "score", "where", "groups", "on_missing", "on_null", "skip_failed", "latest",
)  # fmt: skip


def by_task(text: str | None, read: Callable[[str], Any] = str) -> Any:
    """Read one value for all tasks, or task=value with commas between."""
    if text is None or "=" not in text:
        return None if text is None else read(text)
    values: dict[str, Any] = {}
    for part in text.split(","):
        task, sign, value = part.rpartition("=")  # a task may have = in its name
        if not sign or not task or task in values:
            raise UsageError(f"give task=value for each task once, with commas; got {text!r}")
        values[task] = read(value)
    return values
