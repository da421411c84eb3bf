"""Gate over the tasks of a suite: a requirement on each task, and one result.

The gate passes if every binding task passes. A task that is truly worse by its margin passes with
probability at most half of ``1 − hdi_prob``. All must pass, so many tasks do not make a wrong pass
more probable. Each task can fail the gate, so a failure must be shown at a level that is stricter
by a factor of the number of tasks. A wrong failure is then no more probable than with one task.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, get_args

from outperform.comparison.result import Comparison
from outperform.data.sources import made_serious
from outperform.errors import DataError, UsageError, unknown_name
from outperform.gates.result import Check, Gate, settled
from outperform.gates.rule import Require, check_requirement
from outperform.inference.spec import rope_for
from outperform.inference.suite import ScoreSuite, Suite
from outperform.suite.api import compare_suite

ADVISORY = "advisory"

PolicyLike: TypeAlias = "Mapping[str, str | float] | str | os.PathLike[str]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Requirement on one task, its margin, and whether it is only advisory."""

    require: Require
    margin: float | None = None
    advisory: bool = False

    @classmethod
    def from_param(cls, task: str, rule: object, default: Require) -> Rule:
        """Convert a requirement, a margin, or ``"advisory"``."""
        if rule == ADVISORY:
            return cls(require=default, advisory=True)
        if isinstance(rule, str) and rule in get_args(Require):
            return cls(require=rule)  # type: ignore[arg-type]
        if (
            isinstance(rule, (int, float))
            and not isinstance(rule, bool)
            and 0 <= rule < float("inf")
        ):
            return cls(require="not_worse", margin=float(rule))
        raise UsageError(
            f"the policy of {task!r} must be 'not_worse', 'better', 'advisory', or a margin such "
            f"as 0.02; got {rule!r}"
        )


def rules_of(suite: Suite, policy: PolicyLike | None, default: Require) -> dict[str, Rule]:
    """Return the rule of every task. A policy may name only tasks of the suite."""
    by_task = read_policy(policy) if isinstance(policy, (str, os.PathLike)) else dict(policy or {})
    for task in by_task:
        if task not in suite.tasks:
            raise UsageError(unknown_name("task", task, suite.tasks))
    rules = {task: Rule.from_param(task, by_task.get(task, default), default) for task in suite}
    if all(rule.advisory for rule in rules.values()):
        raise UsageError("every task in the policy is advisory; at least one must be binding")
    return rules


def read_policy(path: str | os.PathLike[str]) -> dict[str, object]:
    """Read a policy from a TOML file that contains only a ``[tasks]`` table."""
    try:
        contents = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"the policy file {os.fspath(path)!r} does not exist") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{os.fspath(path)} is not valid TOML: {error}") from error
    tasks = contents.pop("tasks", None)
    if not isinstance(tasks, Mapping) or contents:
        got = f"; got {', '.join(map(repr, contents))}" if contents else ""
        raise DataError(
            f"{os.fspath(path)} must have one table, [tasks], with lines such as "
            f"arc = 'not_worse'{got}"
        )
    return dict(tasks)


def gate_suite(
    suite: Suite,
    candidate: object,
    baseline: object,
    *,
    policy: PolicyLike | None,
    require: Require,
    n_jobs: int | None,
    **kwargs: Any,
) -> Gate:
    """Check every task against its rule."""
    check_requirement(require)
    rules = rules_of(suite, policy, require)
    compared = compare_suite(_withholding(suite), candidate, baseline, n_jobs=n_jobs, **kwargs)
    n_binding = sum(not rule.advisory for rule in rules.values())
    checks = []
    source = f" in {os.fspath(policy)}" if isinstance(policy, (str, os.PathLike)) else ""
    for task, rule in rules.items():
        name = f"the policy's margin for {task!r}{source},"
        comparison = _with_margin(compared.tasks[task], rule.margin, name)
        checks.append(
            Check(
                comparison=settled(comparison, rule.require, n_jobs),
                require=rule.require,
                task=task,
                advisory=rule.advisory,
                n_checks=n_binding,
            )
        )
    return Gate(checks=tuple(checks))


def _withholding(suite: Suite) -> Suite:
    """Return the suite, with findings raised to serious if they are serious in a gate."""
    if isinstance(suite, ScoreSuite):  # It has no items, so it has no labels.
        return suite
    tasks = {
        name: replace(data, findings=made_serious(data.findings))
        for name, data in suite.tasks.items()
    }
    return suite.of_tasks(tasks)


def _with_margin(comparison: Comparison, margin: float | None, name: str) -> Comparison:
    """Return the comparison with the margin as the edge of the ROPE on the worse side."""
    if margin is None:
        return comparison
    rope_for(comparison.spec, margin, name)  # A margin must be valid as a ROPE.
    rope = comparison.rope
    if comparison.spec.metric.greater_is_better:
        rope = replace(rope, low=-margin, high=max(rope.high, 0.0), default=False)
    else:
        rope = replace(rope, low=min(rope.low, 0.0), high=margin, default=False)
    return comparison.with_rope(rope)
