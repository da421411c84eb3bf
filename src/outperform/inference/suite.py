"""``Suite``: many tasks, each with its metric and its ROPE, and how they are averaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from outperform._typing import FloatArray
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.decision.rope import Rope, RopeLike
from outperform.errors import UsageError, param, unknown_name
from outperform.findings import quoted
from outperform.inference.spec import Data, Spec, rope_for
from outperform.metrics.score_registry import MetricLike

Scale = Literal["metric", "rope"]
Weighting = Literal["equal", "size"]


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Suite:
    """Many tasks on which the same models were evaluated, asked together.

    Each task has its own items, metric, size and ROPE. :func:`compare`, :func:`rank` and
    :func:`gate` take a suite where they take outcomes.

    Parameters
    ----------
    tasks
        What was seen on each task, by its name: :class:`Outcomes` or :class:`Scores` of the same
        models. Or outcomes with slices, each slice being a task.
    metrics
        The metric of every task, or a mapping from tasks to metrics. By default as for
        :func:`compare`.
    ropes
        The region of practical equivalence of every task, or a mapping from tasks to regions.
        ±0.01 by default.
    weights
        How the mean over tasks is taken: ``"equal"``, ``"size"`` (by the number of items), or a
        mapping from tasks to weights.
    scale
        What the mean is a mean of: ``"metric"``, the differences themselves, or ``"rope"``, each
        difference in half-widths of its task's ROPE, more being better. By default ``"metric"``
        where all tasks have the same bounds and direction, and ``"rope"`` elsewhere.

    Examples
    --------
    >>> import outperform as op
    >>> arc = op.Outcomes.from_correct({"bert": [1] * 70 + [0] * 30, "gpt": [1] * 90 + [0] * 10})
    >>> gsm = op.Outcomes.from_correct({"bert": [1] * 50 + [0] * 50, "gpt": [1] * 60 + [0] * 40})
    >>> suite = op.Suite({"arc": arc, "gsm8k": gsm}, metrics="accuracy", ropes=0.01)
    >>> suite
    Suite(2 tasks, 2 models: bert, gpt)
    >>> op.compare(suite, "gpt", "bert", random_state=0).decision
    <Decision.BETTER: '≫'>
    """

    tasks: Mapping[str, Data]
    metrics: Mapping[str, MetricLike | None]
    ropes: Mapping[str, RopeLike | None]
    weights: Mapping[str, float]
    scale: Scale | None

    def __init__(
        self,
        tasks: Mapping[str, Data] | Outcomes,
        *,
        metrics: MetricLike | Mapping[str, MetricLike] | None = None,
        ropes: RopeLike | Mapping[str, RopeLike] | None = None,
        weights: Weighting | Mapping[str, float] = "equal",
        scale: Scale | None = None,
    ) -> None:
        parts = _parts(tasks)
        if scale is not None and scale not in get_args(Scale):
            raise UsageError(unknown_name("scale", scale, get_args(Scale)))
        fields: dict[str, Any] = {
            "tasks": parts,
            "metrics": _by_task(metrics, parts, "metrics"),
            "ropes": _by_task(ropes, parts, "ropes"),
            "weights": _weights(weights, parts),
            "scale": scale,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order of the first task."""
        return next(iter(self.tasks.values())).models

    @property
    def n(self) -> int:
        """The number of items of all tasks together."""
        return sum(one.n for one in self.tasks.values())

    def __len__(self) -> int:
        return len(self.tasks)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tasks)

    def __getitem__(self, task: str) -> Data:
        if task not in self.tasks:
            raise UsageError(unknown_name("task", task, self.tasks))
        return self.tasks[task]

    def select(self, models: Sequence[str]) -> Suite:
        """Return the same tasks with some of the models.

        Parameters
        ----------
        models
            Their names, in the order wanted.
        """
        chosen = {name: one.select(list(models)) for name, one in self.tasks.items()}
        return Suite(chosen, **self._asked())

    def _asked(self) -> dict[str, Any]:
        return {
            "metrics": self.metrics,
            "ropes": self.ropes,
            "weights": self.weights,
            "scale": self.scale,
        }

    def __repr__(self) -> str:
        many = f"{len(self.models)} models: {', '.join(self.models)}"
        return f"Suite({len(self)} task{'s' * (len(self) > 1)}, {many})"


class Question(NamedTuple):
    """What is asked of one task."""

    task: str
    spec: Spec
    rope: Rope


def questions(suite: Suite, make: Callable[..., Spec], **asked: Any) -> tuple[Question, ...]:
    """Check what is asked of every task; ``make`` makes the spec of one."""
    found = []
    for name, data in suite.tasks.items():
        try:
            spec = make(data, metric=suite.metrics[name], **asked)
            rope = rope_for(spec, suite.ropes[name])
        except UsageError as error:
            raise UsageError(f"task {name!r}: {error}") from error
        found.append(Question(name, spec, rope))
    return tuple(found)


class Average(NamedTuple):
    """How the tasks' values become one: weights that sum to 1, and the unit of each task.

    A value of a task is divided by its unit; units are negative where less is better and the
    mean is in ROPEs, so that more is better.
    """

    scale: Scale
    weights: FloatArray
    units: FloatArray
    rope: Rope
    greater_is_better: bool
    bounds: tuple[float, float]

    def mean(self, values: Sequence[FloatArray]) -> FloatArray:
        """Return the weighted mean over tasks of values, one array a task."""
        factors = self.weights / self.units
        return np.asarray(sum(f * one for f, one in zip(factors, values, strict=True)))


def measure(scale: Scale, metrics: set[str], n_tasks: int) -> str:
    """Return what the mean over tasks is of, in words."""
    what = next(iter(metrics)) if len(metrics) == 1 and scale == "metric" else "difference"
    if scale == "rope":
        what = "difference in ROPEs"
    return f"mean {what} over {n_tasks} tasks"


def average(suite: Suite, asked: Sequence[Question]) -> Average:
    """Return how the mean over tasks is taken."""
    weights = np.array([suite.weights[one.task] for one in asked])
    ways = {(one.spec.metric.bounds, one.spec.metric.greater_is_better) for one in asked}
    scale: Scale = suite.scale or ("metric" if len(ways) == 1 else "rope")
    ropes = [one.rope for one in asked]
    if scale == "metric":
        if len({way for _, way in ways}) > 1:
            raise UsageError(
                "more is better on some tasks and less on others, so their differences have no "
                f"mean; use {param('scale=', 'rope')}"
            )
        low, high = (float(weights @ [getattr(rope, end) for rope in ropes]) for end in _ENDS)
        return Average(
            scale=scale,
            weights=weights,
            units=np.ones(len(asked)),
            rope=replace(ropes[0], low=low, high=high, default=all(r.default for r in ropes)),
            greater_is_better=asked[0].spec.metric.greater_is_better,
            bounds=next(iter(ways))[0] if len(ways) == 1 else (-np.inf, np.inf),
        )
    flat = [one.task for one in asked if one.rope.low == one.rope.high]
    if flat:
        raise UsageError(
            f"the ROPE of {quoted(flat)} has no width, so nothing can be measured in it; give it "
            f"one, or use {param('scale=', 'metric')}"
        )
    signs = np.array([1.0 if one.spec.metric.greater_is_better else -1.0 for one in asked])
    halves = np.array([(rope.high - rope.low) / 2 for rope in ropes])
    default = all(rope.default for rope in ropes)
    return Average(
        scale=scale,
        weights=weights,
        units=signs * halves,
        rope=replace(ropes[0], low=-1.0, high=1.0, default=default),
        greater_is_better=True,
        bounds=(-np.inf, np.inf),
    )


_ENDS = ("low", "high")


def shared_question(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what all tasks are asked alike; metric and ROPE are the suite's own."""
    for name in ("metric", "rope", "labels", "groups", "sample_weight"):
        if asked.get(name) is not None:
            where = {"metric": "metrics=", "rope": "ropes="}.get(name)
            how = f"give {param(where)} to Suite" if where else "it belongs to each task's outcomes"
            raise UsageError(f"a suite has several tasks; leave {param(f'{name}=')} out, {how}")
    return {**dict.fromkeys(("labels",)), **{k: asked[k] for k in ("prior", "paired", "pos_label")}}


def _parts(tasks: Mapping[str, Data] | Outcomes) -> dict[str, Data]:
    """Return what was seen on each task, the models of all in the order of the first."""
    found: dict[str, Data]
    if isinstance(tasks, Outcomes):
        if tasks.slices is None:
            raise UsageError(
                "these outcomes have no slices; read them with "
                f"{param('by=', 'task')}, or give a mapping from tasks to outcomes"
            )
        found = {", ".join(map(str, key)): tasks.slice(*key) for key in tasks.slices}
    elif isinstance(tasks, Mapping):
        found = dict(tasks)
    else:
        raise UsageError(
            "a suite is a mapping from tasks to outcomes or scores, e.g. {'arc': outcomes}; got "
            f"{type(tasks).__name__}"
        )
    if not found:
        raise UsageError("a suite must have at least one task; got none")
    for name, one in found.items():
        if not isinstance(name, str) or not isinstance(one, (Outcomes, Scores)):
            raise UsageError(
                "a suite is a mapping from names of tasks to Outcomes or Scores; got "
                f"{type(one).__name__} under {name!r}"
            )
    first, models = next((name, one.models) for name, one in found.items())
    for name, one in found.items():
        if odd := sorted({*models} ^ {*one.models}):
            raise UsageError(
                f"every task must have the same models, but {quoted(odd)} "
                f"{'is' if len(odd) == 1 else 'are'} in only one of {first!r} and {name!r}; "
                "select the models that all tasks have"
            )
    return {
        name: one if one.models == models else one.select(list(models))
        for name, one in found.items()
    }


def _by_task(given: Any, tasks: Mapping[str, Data], what: str) -> dict[str, Any]:
    """Return one value for each task; a mapping must name every task and no other."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(tasks, given)
    for name in given:
        if name not in tasks:
            raise UsageError(unknown_name("task", name, tasks))
    lacking = [name for name in tasks if name not in given]
    if lacking:
        raise UsageError(f"{param(what)} must name every task; it lacks {quoted(lacking)}")
    return {name: given[name] for name in tasks}


def _weights(given: Weighting | Mapping[str, float], tasks: Mapping[str, Data]) -> dict[str, float]:
    """Return weights that sum to 1."""
    found: dict[str, float]
    if isinstance(given, Mapping):
        found = _by_task(dict(given), tasks, "weights")
    elif given in get_args(Weighting):
        found = {name: float(one.n) if given == "size" else 1.0 for name, one in tasks.items()}
    else:
        raise UsageError(unknown_name("weighting", given, get_args(Weighting)))
    values = np.array(list(found.values()), dtype=np.float64)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise UsageError(f"{param('weights')} must be positive numbers; got {dict(found)!r}")
    return dict(zip(found, (values / values.sum()).tolist(), strict=True))
