"""A gate over the tasks of a suite: what is required on each, and one judgement.

The gate passes if every task passes that may decide. A task that is truly worse by its margin
passes with probability at most half of ``1 − hdi_prob``, and all must pass, so many tasks make a
wrong pass no more probable. Each task may fail the gate, so a failure must hold at a level that is
stricter by the number of tasks; a wrong failure then is no more probable than with one task.
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
    """What is required on one task: how, by how much it may be worse, and whether it decides."""

    require: Require
    margin: float | None = None
    advisory: bool = False

    @classmethod
    def from_param(cls, task: str, rule: object, default: Require) -> Rule:
        """Take a requirement, a margin, or ``"advisory"``."""
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
            f"the policy of {task!r} must be 'not_worse', 'better', 'advisory', or by how much it "
            f"may be worse, e.g. 0.02; got {rule!r}"
        )


def rules_of(suite: Suite, policy: PolicyLike | None, default: Require) -> dict[str, Rule]:
    """Return the rule of every task; a policy may name only tasks that are there."""
    given = read_policy(policy) if isinstance(policy, (str, os.PathLike)) else dict(policy or {})
    for task in given:
        if task not in suite.tasks:
            raise UsageError(unknown_name("task", task, suite.tasks))
    rules = {task: Rule.from_param(task, given.get(task, default), default) for task in suite}
    if all(rule.advisory for rule in rules.values()):
        raise UsageError("every task in the policy is advisory; at least one must be binding")
    return rules


def read_policy(path: str | os.PathLike[str]) -> dict[str, object]:
    """Read a policy from a TOML file: a table ``[tasks]`` and nothing else."""
    try:
        found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no policy file {os.fspath(path)!r}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{os.fspath(path)} is no TOML: {error}") from error
    tasks = found.pop("tasks", None)
    if not isinstance(tasks, Mapping) or found:
        odd = f"; got {', '.join(map(repr, found))}" if found else ""
        raise DataError(
            f"{os.fspath(path)} must have one table, [tasks], with lines such as "
            f"arc = 'not_worse'{odd}"
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
    **asked: Any,
) -> Gate:
    """Judge every task by its rule."""
    check_requirement(require)
    rules = rules_of(suite, policy, require)
    found = compare_suite(_withholding(suite), candidate, baseline, n_jobs=n_jobs, **asked)
    n_deciding = sum(not rule.advisory for rule in rules.values())
    checks = []
    where = f" in {os.fspath(policy)}" if isinstance(policy, (str, os.PathLike)) else ""
    for task, rule in rules.items():
        own = _within(found.tasks[task], rule.margin, f"the policy's margin of {task!r}{where},")
        checks.append(
            Check(
                comparison=settled(own, rule.require, n_jobs),
                require=rule.require,
                task=task,
                advisory=rule.advisory,
                n_checks=n_deciding,
            )
        )
    return Gate(checks=tuple(checks))


def _withholding(suite: Suite) -> Suite:
    """Return the suite with findings that are serious in a gate."""
    if isinstance(suite, ScoreSuite):  # which has no items, and so no labels
        return suite
    tasks = {
        name: replace(data, findings=made_serious(data.findings))
        for name, data in suite.tasks.items()
    }
    return suite.of_tasks(tasks)


def _within(own: Comparison, margin: float | None, name: str) -> Comparison:
    """Return the comparison with a ROPE that reaches as far down as the candidate may be worse."""
    if margin is None:
        return own
    rope_for(own.spec, margin, name)  # refuses what it refuses as a ROPE
    rope = own.rope
    if own.spec.metric.greater_is_better:
        return own.with_rope(replace(rope, low=-margin, high=max(rope.high, 0.0), default=False))
    return own.with_rope(replace(rope, low=min(rope.low, 0.0), high=margin, default=False))
