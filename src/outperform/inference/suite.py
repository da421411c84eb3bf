"""``Suite``: many tasks, each with its metric and its ROPE, and their mean."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy import special

from outperform._json import written
from outperform._missing import unmasked
from outperform._typing import FloatArray, ModelsLike
from outperform.data.checks import named
from outperform.data.outcomes import Outcomes
from outperform.data.pool import slice_column
from outperform.data.scores import Scores
from outperform.decision.rope import Decision, Rope, RopeLike
from outperform.errors import UsageError, param, unknown_name
from outperform.findings import quoted
from outperform.inference.spec import Data, Spec, rope_for
from outperform.inference.summary import Summary
from outperform.metrics.metric import MetricLike
from outperform.wrong_calls import Answering, explained

Scale = Literal["metric", "rope"]
Weighting = Literal["equal", "size"]


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Suite(Answering):
    """A set of tasks on which the same models were evaluated.

    Each task has its own items, metric, size and ROPE. :func:`compare`, :func:`rank` and
    :func:`gate` accept a suite instead of outcomes.

    Parameters
    ----------
    tasks
        Data of each task, by name: :class:`Outcomes` or :class:`Scores` of the same models. Or
        outcomes with slices; each slice is then a task.
    metrics
        Metric of every task, or a mapping from tasks to metrics. Default, also for tasks missing
        from the mapping: as for :func:`compare`.
    ropes
        Region of practical equivalence of every task, or a mapping from tasks to regions. Default,
        also for tasks missing from the mapping: ±0.01.
    weights
        Weights of the mean over tasks: ``"equal"``, ``"size"`` (by the number of items), or a
        mapping from tasks to weights.
    scale
        Scale of the mean: ``"metric"``, the differences themselves, or ``"rope"``, each difference
        in half-widths of its task's ROPE, with higher better. Default: ``"metric"`` if all tasks
        have the same bounds and direction, otherwise ``"rope"``.

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

    @explained
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
            "metrics": _by_task(metrics, parts),
            "ropes": _by_task(ropes, parts),
            "weights": _weights(weights, parts),
            "scale": scale,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_scores(
        cls,
        table: ModelsLike,
        *,
        by: str | None = None,
        metric: Literal["mean", "mean_cost"] = "mean",
        rope: RopeLike | None = None,
        folds: int | None = None,
        runs: int | None = None,
        test_share: float | None = None,
    ) -> ScoreSuite:
        """Return data sets with known scores but no items, for :func:`compare`.

        Parameters
        ----------
        table
            One column of scores per model, and one row per data set or per fold.
        by
            Column with the data set of each row. Default: all rows are folds of one data set.
        metric, rope, folds, runs, test_share
            As for :func:`compare_cv_scores`, which computes the result.

        Examples
        --------
        >>> import outperform as op
        >>> a, b = [0.81, 0.72, 0.9, 0.6, 0.76], [0.7, 0.6, 0.81, 0.5, 0.67]
        >>> table = {"data": list("vwxyz"), "A": a, "B": b}
        >>> op.compare(op.Suite.from_scores(table, by="data"), "A", "B", random_state=0).decision
        <Decision.BETTER: '≫'>
        """
        columns = {name: np.asarray(unmasked(values)) for name, values in named(table).items()}
        if by is not None and by not in columns:
            raise UsageError(unknown_name("column", by, columns))
        if by is not None:
            refuse_seed_names([by])
            slice_column(
                columns[by], name=f"column {by!r}"
            )  # raises an error if a data set has no name
        keys = (columns.pop(by) if by else np.zeros(len(next(iter(columns.values()))))).astype(str)
        tasks = {
            key: Scores.from_values({name: values[keys == key] for name, values in columns.items()})
            for key in dict.fromkeys(keys.tolist())
        }
        suite = ScoreSuite(tasks, metrics=metric, ropes=rope)
        design = {
            "metric": metric,
            "rope": rope,
            "folds": folds,
            "runs": runs,
            "test_share": test_share,
        }
        object.__setattr__(suite, "design", design)
        return suite

    @property
    def models(self) -> tuple[str, ...]:
        """Models, in the order of the first task."""
        return next(iter(self.tasks.values())).models

    @property
    def n(self) -> int:
        """Total number of items of all tasks."""
        return sum(data.n for data in self.tasks.values())

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
            Names of the models, in the new order.
        """
        return self.of_tasks({name: data.select(list(models)) for name, data in self.tasks.items()})

    def of_tasks(self, tasks: Mapping[str, Data]) -> Suite:
        """Return a suite with other data and the same settings.

        Parameters
        ----------
        tasks
            Data of every task.
        """
        settings = {name: getattr(self, name) for name in ("metrics", "ropes", "weights", "scale")}
        return Suite(tasks, **settings)

    def __repr__(self) -> str:
        many = f"{len(self.models)} models: {', '.join(self.models)}"
        return f"Suite({len(self)} task{'s' * (len(self) > 1)}, {many})"


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class ScoreSuite(Suite):
    """Data sets with known scores but no items; see :meth:`Suite.from_scores`."""

    design: Mapping[str, Any]  # further arguments of compare_cv_scores

    def select(self, models: Sequence[str]) -> Suite:
        """Reject functions that need items; comparing two models does not."""
        raise UsageError(
            "fold and data-set scores only support comparing two models; to rank, gate or plan, "
            "build a Suite from the Outcomes or Scores of the items of each data set"
        )


_SEED_NAME = re.compile(r"(random.?)?(seed|run|fold|split|trial|repeat|repetition)s?\W*_?\d*", re.I)


def refuse_seed_names(names: Iterable[str]) -> None:
    """Reject names of data sets that look like seeds or folds, e.g. ``seed_1``.

    Parameters
    ----------
    names
        Names of the data sets, or of their column.
    """
    names = list(names)
    if names and all(_SEED_NAME.fullmatch(name) for name in names):
        raise UsageError(
            f"{names[0]!r} is not the name of a data set; pass the folds of a data set as one "
            "vector with folds=, and the predictions of several seeds to compare_runs"
        )


class Question(NamedTuple):
    """Question about one task."""

    task: str
    spec: Spec
    rope: Rope


def questions(suite: Suite, make: Callable[..., Spec], **arguments: Any) -> tuple[Question, ...]:
    """Check the question about every task; ``make`` creates the spec of one task."""
    made = []
    for name, data in suite.tasks.items():
        try:
            spec = make(data, metric=suite.metrics[name], **arguments)
            rope = rope_for(spec, suite.ropes[name])
        except UsageError as error:
            raise UsageError(f"task {name!r}: {error}") from error
        made.append(Question(name, spec, rope))
    return tuple(made)


class Average(NamedTuple):
    """How the tasks are averaged: weights that sum to 1, and the unit of each task.

    A value of a task is divided by its unit; if the mean is in ROPEs, units are negative for
    metrics for which lower is better, so higher is always better.
    """

    scale: Scale
    weights: FloatArray
    units: FloatArray
    rope: Rope
    greater_is_better: bool
    bounds: tuple[float, float]

    def mean(self, values: Sequence[FloatArray]) -> FloatArray:
        """Return the weighted mean over tasks of values, one array per task."""
        factors = self.weights / self.units
        return np.asarray(sum(f * draws for f, draws in zip(factors, values, strict=True)))


def average(suite: Suite, questions: Sequence[Question]) -> Average:
    """Return how the tasks are averaged."""
    weights = np.array([suite.weights[question.task] for question in questions])
    ways = {
        (question.spec.metric.bounds, question.spec.metric.greater_is_better)
        for question in questions
    }
    scale: Scale = suite.scale or ("metric" if len(ways) == 1 else "rope")
    ropes = [question.rope for question in questions]
    if scale == "metric":
        if len({way for _, way in ways}) > 1:
            raise UsageError(
                "higher is better on some tasks and lower on others, so their differences cannot "
                f"be averaged; use {param('scale=', 'rope')}"
            )
        low, high = (float(weights @ [getattr(rope, end) for rope in ropes]) for end in _ENDS)
        return Average(
            scale=scale,
            weights=weights,
            units=np.ones(len(questions)),
            rope=replace(ropes[0], low=low, high=high, default=all(r.default for r in ropes)),
            greater_is_better=questions[0].spec.metric.greater_is_better,
            bounds=next(iter(ways))[0] if len(ways) == 1 else (-np.inf, np.inf),
        )
    flat = [question.task for question in questions if question.rope.low == question.rope.high]
    if flat:
        raise UsageError(
            f"the ROPE of {quoted(flat)} has zero width, so it cannot serve as a unit; widen it, "
            f"or use {param('scale=', 'metric')}"
        )
    signs = np.array(
        [1.0 if question.spec.metric.greater_is_better else -1.0 for question in questions]
    )
    halves = np.array([(rope.high - rope.low) / 2 for rope in ropes])
    return Average(
        scale=scale,
        weights=weights,
        units=signs * halves,
        rope=replace(ropes[0], low=-1.0, high=1.0, default=False),
        greater_is_better=True,
        bounds=(-np.inf, np.inf),
    )


_ENDS = ("low", "high")


def shared_question(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments common to all tasks; metric and ROPE come from the suite."""
    for name in ("metric", "rope", "labels", "groups", "sample_weight"):
        if arguments.get(name) is not None:
            where = {"metric": "metrics=", "rope": "ropes="}.get(name)
            how = f"pass {param(where)} to Suite" if where else "it belongs to each task's outcomes"
            raise UsageError(f"a suite has several tasks; remove {param(f'{name}=')}, {how}")
    return {name: arguments[name] for name in ("prior", "paired", "pos_label")}


def _parts(tasks: Mapping[str, Data] | Outcomes) -> dict[str, Data]:
    """Return the data of each task, with models in the order of the first task."""
    parts: dict[str, Data]
    if isinstance(tasks, Outcomes):
        if tasks.slices is None:
            raise UsageError(
                f"these outcomes have no slices; read them with {param('by=', 'task')}, or pass a "
                "mapping from tasks to outcomes"
            )
        parts = {", ".join(map(str, key)): tasks.slice(*key) for key in tasks.slices}
    elif isinstance(tasks, Mapping):
        parts = dict(tasks)
    else:
        raise UsageError(
            "tasks must be a mapping from names to outcomes or scores, e.g. {'arc': outcomes}; "
            f"got {type(tasks).__name__}"
        )
    if not parts:
        raise UsageError("a suite must have at least one task; got none")
    for name, data in parts.items():
        if not isinstance(name, str) or not isinstance(data, (Outcomes, Scores)):
            raise UsageError(
                f"every task must be Outcomes or Scores; got {type(data).__name__} for {name!r}"
            )
    first, models = next((name, data.models) for name, data in parts.items())
    for name, data in parts.items():
        if odd := sorted({*models} ^ {*data.models}):
            raise UsageError(
                f"every task must have the same models, but {quoted(odd)} "
                f"{'is' if len(odd) == 1 else 'are'} in only one of {first!r} and {name!r}; "
                "select the models that all tasks have"
            )
    return {
        name: data if data.models == models else data.select(list(models))
        for name, data in parts.items()
    }


def _by_task(setting: Any, tasks: Mapping[str, Data]) -> dict[str, Any]:
    """Return one value per task; None, the default, for tasks missing from the mapping."""
    if not isinstance(setting, Mapping):
        return dict.fromkeys(tasks, setting)
    for name in setting:
        if name not in tasks:
            raise UsageError(unknown_name("task", name, tasks))
    return {name: setting.get(name) for name in tasks}


def _weights(
    weighting: Weighting | Mapping[str, float], tasks: Mapping[str, Data]
) -> dict[str, float]:
    """Return weights that sum to 1."""
    weights: dict[str, float]
    if isinstance(weighting, Mapping):
        weights = _by_task(weighting, tasks)
        lacking = [name for name in tasks if name not in weighting]
        if lacking:
            raise UsageError(
                f"{param('weights')} must include every task; missing: {quoted(lacking)}"
            )
    elif weighting in get_args(Weighting):
        weights = {
            name: float(data.n) if weighting == "size" else 1.0 for name, data in tasks.items()
        }
    else:
        raise UsageError(unknown_name("weighting", weighting, get_args(Weighting)))
    values = np.array(list(weights.values()), dtype=np.float64)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise UsageError(f"{param('weights')} must be positive numbers; got {dict(weights)!r}")
    return dict(zip(weights, (values / values.sum()).tolist(), strict=True))


# A difference over tasks

FEWEST_TASKS = 4
LEAST_SCALE = 1e-12


@written("mean sd mcse hdi rope p_worse p_equivalent p_better p_greater decision mc_errors")
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Difference(Summary):
    """Summary of the posterior of a difference; see :class:`Summary`.

    Parameters
    ----------
    rope
        The region of practical equivalence.
    p_worse, p_equivalent, p_better
        Probabilities that A is worse than B by more than the ROPE, that the difference is inside
        it, and that A is better.
    p_greater
        Probability that A − B is above zero.
    decision
        The decision.
    mc_errors
        Monte Carlo errors of the mean, the sd and each probability.
    """

    rope: Rope
    p_worse: float
    p_equivalent: float
    p_better: float
    p_greater: float
    decision: Decision
    mc_errors: Mapping[str, float]

    def __repr__(self) -> str:
        mean = f"{self.mean:+.4f}".replace("-", "−")
        return f"Difference({self.decision.symbol} {mean}, {self.hdi})"


def freedom_of(weights: FloatArray) -> float:
    """Return the degrees of freedom of a number of tasks, fewer for unequal weights."""
    return float(1 / (weights @ weights)) - 1


def is_enough(weights: FloatArray) -> bool:
    """Return whether the tasks are enough to estimate how much tasks vary; the sd must exist."""
    return freedom_of(weights) > FEWEST_TASKS - 1 - 1e-9


class Law(NamedTuple):
    """Student t distribution; normal if the degrees of freedom are infinite."""

    centre: float
    scale: float
    freedom: float

    @property
    def sd(self) -> float:
        """Standard deviation."""
        wide = self.freedom / (self.freedom - 2) if math.isfinite(self.freedom) else 1.0
        return self.scale * math.sqrt(wide)

    def quantile(self, p: float) -> float:
        """Return the quantile at ``p``."""
        normal = math.isinf(self.freedom)
        unit = special.ndtri(p) if normal else special.stdtrit(self.freedom, p)
        return self.centre + self.scale * float(unit)

    def cdf(self, value: float) -> float:
        """Return the probability below a value."""
        off = (value - self.centre) / max(self.scale, LEAST_SCALE)
        probability = (
            special.ndtr(off) if math.isinf(self.freedom) else special.stdtr(self.freedom, off)
        )
        return float(probability)

    def sf(self, value: float) -> float:
        """Return the probability above a value."""
        return self._replace(centre=-self.centre).cdf(-value)


# Prior weight of the exchangeability of models in tasks, and variances relative to the observed
# one.
_FURTHER, _VARIANCES = np.geomspace(1, 1_000, 10), np.exp(np.linspace(-6, 6, 97))


def contrast_draws(
    pull: FloatArray, freedom: float, n_draws: int, rng: np.random.Generator
) -> FloatArray:
    r"""Draw the deviations of the models' differences, ``(n_models, n_draws)``.

    The covariance of the differences has an inverse Wishart prior around :math:`s^2 I`, as for
    exchangeable models, with the weight of ``k`` further tasks; :math:`s` is flat on the log scale,
    and so is ``k`` over the grid. Both are learned. Given them the differences have a multivariate
    t distribution. For two models it is the t of :func:`new_tasks`, whatever ``k``.

    Parameters
    ----------
    pull
        One row per task; ``pull.T @ pull`` is the covariance of the models' means.
    freedom
        Degrees of freedom of the covariance.
    """
    n_free = pull.shape[1] - 1
    sums, axes = np.linalg.eigh(freedom * pull.T @ pull)
    sums, axes = np.maximum(sums[1:], 0.0), axes[:, 1:]  # minus the common direction of all models
    typical = max(float(sums.mean()) / freedom, LEAST_SCALE**2)
    k, variance = (
        grid.ravel() for grid in np.meshgrid(_FURTHER, typical * _VARIANCES, indexing="ij")
    )
    prior = n_free + 1 + k  # degrees of freedom; the mean of the covariance is ``variance``
    shapes = (k * variance)[:, None] + sums
    logs = prior * n_free * np.log(k * variance) - (prior + freedom) * np.log(shapes).sum(axis=1)
    logs = logs / 2 + special.multigammaln((prior + freedom) / 2, n_free)
    logs -= special.multigammaln(prior / 2, n_free)
    chances = np.exp(logs - logs.max())
    cells = rng.choice(k.size, size=n_draws, p=chances / chances.sum())
    chi = rng.chisquare(k[cells] + freedom + 2)
    off = rng.normal(size=(n_draws, n_free)) * np.sqrt(shapes[cells] / chi[:, None])
    return np.asarray(axes @ off.T)


def measure(scale: Scale, metrics: set[str], n_tasks: int) -> str:
    """Describe the quantity averaged over tasks."""
    what = next(iter(metrics)) if len(metrics) == 1 and scale == "metric" else "difference"
    if scale == "rope":
        what = "difference in ROPEs"
    return f"mean {what} over {n_tasks} tasks"
