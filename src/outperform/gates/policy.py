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
from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.gates.levels import Level, Side, levels_of
from outperform.gates.result import AnchorCheck, Check, Gate, LevelCheck, level_check, settled
from outperform.gates.rule import Require, check_requirement
from outperform.inference.spec import rope_for
from outperform.inference.suite import ScoreSuite, Suite, shared_question
from outperform.posterior.rng import child
from outperform.suite.api import compare_suite

ADVISORY = "advisory"
_LEVEL_STREAM = 1 << 30

PolicyLike: TypeAlias = "Mapping[str, str | float | Mapping[str, float]] | str | os.PathLike[str]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Requirement on one task, its margin, its levels, and whether it is only advisory."""

    require: Require
    margin: float | None = None
    levels: tuple[Level, ...] = ()
    advisory: bool = False

    @classmethod
    def from_param(
        cls, task: str, rule: object, default: Require, levels: tuple[Level, ...] = ()
    ) -> Rule:
        """Convert a requirement, a margin, a level, or ``"advisory"``."""
        if isinstance(rule, str) and rule == ADVISORY:
            return cls(require=default, levels=levels, advisory=True)
        if isinstance(rule, str) and rule in get_args(Require):
            return cls(require=rule, levels=levels)  # type: ignore[arg-type]
        if isinstance(rule, Mapping) and rule and set(rule) <= set(get_args(Side)):
            try:
                return cls(
                    require=default, levels=levels_of(rule.get("at_least"), rule.get("at_most"))
                )
            except UsageError as error:
                raise UsageError(f"the policy of {task!r}: {error}") from error
        if (
            isinstance(rule, (int, float))
            and not isinstance(rule, bool)
            and 0 <= rule < float("inf")
        ):
            return cls(require="not_worse", margin=float(rule), levels=levels)
        raise UsageError(
            f"the policy of {task!r} must be 'not_worse', 'better', 'advisory', a margin such as "
            f"0.02, or a level such as {{at_least = 0.9}}; got {rule!r}"
        )


def rules_of(
    suite: Suite, policy: PolicyLike | None, default: Require, levels: tuple[Level, ...] = ()
) -> dict[str, Rule]:
    """Return the rule of every task. A policy may name only tasks of the suite."""
    by_task: dict[str, object] = (
        read_policy(policy) if isinstance(policy, (str, os.PathLike)) else dict(policy or {})
    )
    for task in by_task:
        if task not in suite.tasks:
            raise UsageError(unknown_name("task", task, suite.tasks))
    rules = {
        task: Rule.from_param(task, by_task.get(task, default), default, levels) for task in suite
    }
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
    levels: tuple[Level, ...],
    n_jobs: int | None,
    **kwargs: Any,
) -> Gate:
    """Check every task against its rule: the baseline, if there is one, and its levels."""
    check_requirement(require)
    rules = rules_of(suite, policy, require, levels)
    source = f" in {os.fspath(policy)}" if isinstance(policy, (str, os.PathLike)) else ""
    if baseline is None:
        _check_without_baseline(rules, require, kwargs)
    suite = _withholding(suite)
    compared: Mapping[str, Comparison] = {}
    if baseline is not None:
        compared = compare_suite(suite, candidate, baseline, n_jobs=n_jobs, **kwargs).tasks
    # Each comparison and each level can fail the gate.
    n_binding = sum(
        len(rule.levels) + (baseline is not None) for rule in rules.values() if not rule.advisory
    )
    checks: list[Check | LevelCheck | AnchorCheck] = []
    for task, rule in rules.items():
        shared: dict[str, Any] = {
            "task": task,
            "advisory": rule.advisory,
            "n_checks": n_binding,
        }
        if baseline is not None:
            name = f"the policy's margin for {task!r}{source},"
            comparison = _with_margin(compared[task], rule.margin, name)
            comparison = settled(comparison, rule.require, n_jobs)
            checks.append(Check(comparison=comparison, require=rule.require, **shared))
        checks += [
            _level_of_task(suite, candidate, level, n_jobs=n_jobs, **kwargs, **shared)
            for level in rule.levels
        ]
    return Gate(checks=tuple(checks))


def _check_without_baseline(
    rules: Mapping[str, Rule], require: Require, kwargs: Mapping[str, Any]
) -> None:
    """Raise an error if a task has no level, or a rule needs a baseline."""
    if kwargs.get("rope") is not None or require != "not_worse":
        named = param("rope=") if require == "not_worse" else param("require=")
        raise UsageError(f"{named} compares with a baseline; pass the old model, or remove it")
    for task, rule in rules.items():
        if not rule.levels or rule.margin is not None or rule.require != require:
            raise UsageError(
                f"task {task!r} needs a baseline, or a level: pass the old model, or "
                f"{param('at_least=', 0.9)}"
            )


def _level_of_task(
    suite: Suite, candidate: object, level: Level, *, task: str, **kwargs: Any
) -> LevelCheck:
    """Return the check of a level on one task, with a random stream of its own."""
    if isinstance(suite, ScoreSuite):
        raise UsageError(
            f"a level needs the items of every task; {param('Suite.from_scores', False)} has only "
            "scores"
        )
    if not isinstance(candidate, str) or candidate not in suite.models:
        raise UsageError(unknown_name("model", str(candidate), suite.models))
    question = {**kwargs, **shared_question(kwargs)}
    for name in ("rope", "labels", "groups", "sample_weight"):
        question.pop(name, None)
    # The comparisons of the tasks use the streams 0, 1, ….
    stream = child(question["random_state"], _LEVEL_STREAM + sorted(suite.tasks).index(task))
    question |= {"metric": suite.metrics[task], "random_state": stream}
    try:
        return level_check(suite.tasks[task].select([candidate]), level, task=task, **question)
    except UsageError as error:
        raise UsageError(f"task {task!r}: {error}") from error


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
