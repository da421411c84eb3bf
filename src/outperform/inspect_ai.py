"""Inspect: a hook that compares every run with a baseline log.

Inspect loads it by its entry point whenever it starts, so the rest is imported for a comparison.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from inspect_ai.hooks import Hooks, RunEnd, hooks

from outperform.errors import OutperformError, UsageError

if TYPE_CHECKING:
    from outperform.gates.result import Gate

__all__ = ["CompareWithBaseline"]

BASELINE, SCORE, METRIC, ROPE = (
    f"OUTPERFORM_{name}" for name in ("BASELINE", "SCORE", "METRIC", "ROPE")
)


class CompareWithBaseline(Hooks):
    """Print the decision about each task at the end of a run, if there is a baseline.

    The environment variable ``OUTPERFORM_BASELINE`` names the baseline's log, or the folder with
    its logs. ``OUTPERFORM_SCORE`` names the score, ``OUTPERFORM_METRIC`` the metric (``mean``
    compares the means of grades), and ``OUTPERFORM_ROPE`` the half-width of the ROPE.
    """

    def enabled(self) -> bool:
        """Return whether a baseline is named."""
        return bool(os.environ.get(BASELINE))

    async def on_run_end(self, data: RunEnd) -> None:
        """Compare each log of the run with the baseline.

        Parameters
        ----------
        data
            The run, with its logs.
        """
        for log in data.logs:
            print(f"\n{log.eval.model}, task {log.eval.task}, against {os.environ[BASELINE]}")  # noqa: T201
            try:
                print(_compared(log.location, log.eval.task))  # noqa: T201
            except OutperformError as error:
                print(f"There is no comparison: {error}")  # noqa: T201


# Inspect lists the hooks of every run, so without a baseline there is none.
if os.environ.get(BASELINE):
    hooks(
        name="compare_with_baseline", description=f"compares each task with {os.environ[BASELINE]}"
    )(CompareWithBaseline)


def _compared(log: str, task: str) -> Gate:
    """Return the gate of a log against the same task of the baseline."""
    from outperform.gates.api import gate
    from outperform.io.read import read, read_scores
    from outperform.metrics.registry import is_of_scores

    metric = os.environ.get(METRIC) or None
    read_logs: Any = read_scores if is_of_scores(metric) else read
    outcomes = read_logs(
        {"candidate": log, "baseline": os.environ[BASELINE]},
        format="inspect",
        score=os.environ.get(SCORE) or None,
        where={"task_name": task},
    )
    return gate(outcomes, "candidate", "baseline", metric=metric, rope=_rope())


def _rope() -> float | tuple[float, float] | None:
    text = os.environ.get(ROPE)
    if not text:
        return None
    try:
        ends = [float(end) for end in text.split(",")]
    except ValueError:
        ends = []
    if len(ends) not in (1, 2):
        raise UsageError(
            f"{ROPE} must be a number such as 0.01, or two such as -0.02,0.01; got {text!r}"
        )
    return ends[0] if len(ends) == 1 else (ends[0], ends[1])
