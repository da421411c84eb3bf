"""``SuiteComparison`` and ``SuiteRanking``: results for the mean over tasks and for each task."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from outperform._json import written
from outperform._typing import Axes, FigureSize, FloatArray
from outperform.comparison.result import Comparison
from outperform.decision.intervals import Interval
from outperform.decision.rope import Decision, Rope, probability_error
from outperform.display.document import Document
from outperform.display.forest_figure import draw_forest, draw_ranking
from outperform.display.formats import latex_label
from outperform.display.sentences import headline
from outperform.display.table import Table
from outperform.errors import UsageError, unknown_name
from outperform.findings import Finding
from outperform.inference.suite import Difference, Scale, measure
from outperform.inference.summary import Summary
from outperform.ranking.result import Ranking
from outperform.results.base import Tabular
from outperform.suite.text import (
    comparison_document,
    rank_document,
    rank_headline,
    rank_table,
    rank_title,
    task_table,
)


@written(
    "task weight *comparison{metric n observed mean sd hdi rope p_worse p_equivalent p_better "
    "decision mc_errors} pooled findings=comparison.findings"
)
class TaskRow(NamedTuple):
    """The comparison on one task of a suite.

    Parameters
    ----------
    task
        Name of the task.
    weight
        Weight of the task.
    comparison
        Comparison on this task only.
    pooled
        Difference on this task, partially pooled with the other tasks.
    """

    task: str
    weight: float
    comparison: Comparison
    pooled: Difference


@written()
class RankedTask(NamedTuple):
    """Short form of the ranking on one task of a suite.

    Parameters
    ----------
    task
        Name of the task.
    weight
        Weight of the task.
    metric
        Metric of the task.
    n
        Number of items.
    leader, tied
        The best model, and all models that could still be best.
    means, mcse, observed
        Unpooled posterior mean of each model, its Monte Carlo error and the plug-in value.
    hdis
        Unpooled HDI of each model.
    decisions
        Decision on each model's difference from the leader of the task; None for the leader.
    """

    task: str
    weight: float
    metric: str
    n: int
    leader: str
    tied: tuple[str, ...]
    means: Mapping[str, float]
    mcse: Mapping[str, float]
    observed: Mapping[str, float]
    hdis: Mapping[str, Interval]
    decisions: Mapping[str, Decision | None]


@written(
    "names metric greater_is_better scale n n_draws=draws.size observed mean sd mcse hdi rope "
    "p_worse p_equivalent p_better p_greater decision mc_errors win_rate win_rate_mcse new_tasks "
    "tasks=_task_rows findings signature",
    kind="suite",
)
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SuiteComparison(Difference, Tabular):
    """A − B on the tasks of a suite; the main numbers are for the mean over these tasks.

    Parameters
    ----------
    names
        Names of A and of B.
    observed
        Plug-in value of the mean over tasks.
    scale
        Scale of the mean: ``"metric"`` or ``"rope"``.
    weights
        Weight of each task; they sum to 1.
    tasks
        Comparison on each task separately.
    pooled
        Difference on each task, partially pooled: the more alike the tasks are, the more it is
        shrunk toward the others.
    new_tasks
        Mean over tasks like these (the suite's tasks are treated as a sample of them); None if
        there are too few tasks.
    draws
        Draws of the mean over these tasks.
    findings
        Findings.
    signature
        One line with everything needed to repeat the computation.
    seed
        Seed of the draws.
    """

    names: tuple[str, str]
    observed: float
    scale: Scale
    weights: Mapping[str, float]
    tasks: Mapping[str, Comparison]
    pooled: Mapping[str, Difference]
    new_tasks: Difference | None
    draws: FloatArray = field(repr=False)
    findings: tuple[Finding, ...]
    signature: str
    seed: np.random.SeedSequence

    @property
    def n(self) -> int:
        """Total number of items of all tasks."""
        return sum(task.spec.n for task in self.tasks.values())

    @property
    def win_rate(self) -> float:
        """Probability that A is better on a task, as a weighted average over the tasks."""
        better = {
            name: task.p_greater if task.spec.metric.greater_is_better else 1 - task.p_greater
            for name, task in self.tasks.items()
        }
        return sum(self.weights[name] * share for name, share in better.items())

    @property
    def metric(self) -> str:
        """Name of the metric that is averaged over tasks."""
        labels = {task.spec.metric.label for task in self.tasks.values()}
        return measure(self.scale, labels, len(self.tasks))

    @property
    def greater_is_better(self) -> bool:
        """Whether greater means are better."""
        first = next(iter(self.tasks.values()))
        return self.scale == "rope" or first.spec.metric.greater_is_better

    @property
    def _task_rows(self) -> tuple[TaskRow, ...]:
        """The comparison on each task."""
        return tuple(
            TaskRow(name, self.weights[name], task, self.pooled[name])
            for name, task in self.tasks.items()
        )

    @property
    def win_rate_mcse(self) -> float:
        """Monte Carlo error of the win rate; the draws of tasks are independent."""
        errors = (
            self.weights[name] * task.mc_errors["p_greater"] for name, task in self.tasks.items()
        )
        return math.hypot(*errors)

    def table(self) -> Table:
        """Return one row per task, then the mean over them, then tasks like these."""
        return task_table(self.to_dict())

    def _document(self) -> Document:
        return comparison_document(self.to_dict(), self.draws)

    def _latex_label(self) -> str:
        return latex_label(*self.names, "suite")

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the intervals of every task, of the mean over them and of tasks like these.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        facts = self.to_dict()
        units = {row["task"]: row for row in facts["tasks"]} if self.scale == "metric" else {}
        rows = [{**row, "key": name} for name, row in units.items()]
        rows.append({**facts, "key": f"mean of {len(self.tasks)} tasks"})
        if facts["new_tasks"] is not None:
            rows.append({**facts["new_tasks"], "observed": None, "key": "tasks like these"})
        return draw_forest(
            rows,
            names=self.names,
            metric=facts["metric"],
            greater_is_better=facts["greater_is_better"],
            title=headline(facts, limit=24).partition(" (")[0],
            ax=ax,
            size=size,
        )

    def __repr__(self) -> str:
        return f"SuiteComparison({self.decision.symbol} {headline(self.to_dict())})"


@written(
    "name observed mean sd mcse hdi p_best p_rank p_practically_best p_best_new_tasks "
    "expected_rank mean_rank mean_rank_hdi win_rate borda regret mc_errors against_leader "
    "new_tasks tied"
)
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SuiteModel(Summary):
    """One model in a ranking on a suite.

    See :class:`Summary`.

    Parameters
    ----------
    name
        Name of the model.
    observed
        Plug-in value of the mean over tasks.
    mean, sd, mcse, hdi
        Mean over tasks, partially pooled with the other models as in :class:`Ranking`; on the ROPE
        scale, the difference from the average model.
    p_rank
        Probability of each rank by this mean, best rank first.
    expected_rank, expected_rank_mcse
        Mean of this rank, and its Monte Carlo error.
    mean_rank, mean_rank_mcse, mean_rank_hdi
        Rank on a task, averaged over the tasks, with its Monte Carlo error and interval.
    regret, regret_mcse
        Expected loss of choosing this model instead of the best one in each draw, and its Monte
        Carlo error.
    p_practically_best
        Probability that the model is not worse than the best by more than the ROPE.
    p_best_new_tasks
        Probability that the model is the best on tasks like these; None if there are few tasks.
    against_leader, new_tasks
        Differences from the leader on these tasks and on tasks like these, before pooling, as in
        :func:`compare`; None for the leader.
    tied
        Whether the model could still be best on these tasks: it is the leader, or it is not worse
        than the leader both before and after pooling.
    n_draws
        Number of draws on which the numbers are based.
    """

    name: str
    observed: float
    p_rank: FloatArray = field(repr=False)
    expected_rank: float
    expected_rank_mcse: float
    mean_rank: float
    mean_rank_mcse: float
    mean_rank_hdi: Interval
    regret: float
    regret_mcse: float
    p_practically_best: float
    p_best_new_tasks: float | None
    against_leader: Difference | None
    new_tasks: Difference | None
    tied: bool
    n_draws: int

    @property
    def n_models(self) -> int:
        """Number of models."""
        return self.p_rank.size

    @property
    def p_best(self) -> float:
        """Probability that the model has the best mean over these tasks."""
        return float(self.p_rank[0])

    @property
    def decision(self) -> Decision | None:
        """Decision on the difference from the leader; None for the leader."""
        return None if self.against_leader is None else self.against_leader.decision

    @property
    def win_rate(self) -> float:
        """Expected share of the other models that this model beats on a task."""
        return (self.n_models - self.mean_rank) / (self.n_models - 1)

    @property
    def borda(self) -> float:
        """Expected number of the other models that this model beats on a task."""
        return self.n_models - self.mean_rank

    @property
    def mc_errors(self) -> dict[str, float]:
        """Monte Carlo errors of the numbers, given the degree of pooling.

        The degree is learned from the same draws. If models are nearly equal, numbers can vary by
        two and a half times as much between seeds.
        """
        chances = {"p_best": self.p_best, "p_practically_best": self.p_practically_best}
        errors = {name: probability_error(p, self.n_draws) for name, p in chances.items()}
        if self.p_best_new_tasks is not None:  # the tasks' means add at most 2/π of the variance
            alone = probability_error(self.p_best_new_tasks, self.n_draws)
            errors["p_best_new_tasks"] = math.sqrt(1 + 2 / math.pi) * alone
        return {
            "mean": self.mcse,
            **errors,
            "expected_rank": self.expected_rank_mcse,
            "mean_rank": self.mean_rank_mcse,
            "win_rate": self.mean_rank_mcse / (self.n_models - 1),
            "borda": self.mean_rank_mcse,
            "regret": self.regret_mcse,
        }

    def __repr__(self) -> str:
        return f"SuiteModel({self.name}: P(best) {self.p_best:.3f}, win rate {self.win_rate:.3f})"


@written(
    "names metric greater_is_better scale n n_draws hdi_prob=leader.hdi.prob rope tied "
    "models=rows tasks=_task_rows findings signature",
    kind="suite_ranking",
)
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SuiteRanking(Tabular):
    """The joint posterior of many models on the tasks of a suite; the leader comes first.

    Parameters
    ----------
    rows
        One row per model; the best mean over these tasks comes first.
    rope
        Region of practical equivalence of the mean.
    scale
        Scale of the mean: ``"metric"`` or ``"rope"``.
    weights
        Weight of each task; they sum to 1.
    greater_is_better
        Whether greater means are better.
    tasks
        Ranking on each task separately.
    draws
        Joint draws of the means, ``(n_models, n_draws)``, partially pooled.
    findings
        Findings.
    signature
        One line with everything needed to repeat the computation.
    seed
        Seed of the draws.
    """

    rows: tuple[SuiteModel, ...]
    rope: Rope
    scale: Scale
    weights: Mapping[str, float]
    greater_is_better: bool
    tasks: Mapping[str, Ranking]
    draws: FloatArray = field(repr=False)
    findings: tuple[Finding, ...]
    signature: str
    seed: np.random.SeedSequence

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SuiteModel]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> SuiteModel:
        if name not in self.names:
            raise UsageError(unknown_name("model", name, self.names))
        return self.rows[self.names.index(name)]

    @property
    def names(self) -> tuple[str, ...]:
        """The models, starting with the leader."""
        return tuple(row.name for row in self.rows)

    @property
    def leader(self) -> SuiteModel:
        """The model with the best mean over these tasks."""
        return self.rows[0]

    @property
    def tied(self) -> tuple[str, ...]:
        """The models that could still be best on these tasks: the leader, and all not ruled out.

        A model is ruled out if it is worse than the leader (≪) and the HDI of the pooled difference
        also lies entirely on the worse side of the ROPE.
        """
        return tuple(row.name for row in self.rows if row.tied)

    @property
    def n(self) -> int:
        """Total number of items of all tasks."""
        return sum(task.n for task in self.tasks.values())

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.draws.shape[1])

    @property
    def metric(self) -> str:
        """Name of the metric that is averaged over tasks."""
        labels = {task.spec.metric.label for task in self.tasks.values()}
        return measure(self.scale, labels, len(self.tasks))

    @property
    def _task_rows(self) -> tuple[RankedTask, ...]:
        """Short form of the ranking on each task."""
        return tuple(
            RankedTask(
                task=name,
                weight=self.weights[name],
                metric=task.metric,
                n=task.n,
                leader=task.leader.name,
                tied=task.tied,
                means={row.name: row.raw.mean for row in task.rows},
                mcse={row.name: row.raw.mcse for row in task.rows},
                observed={row.name: row.observed for row in task.rows},
                hdis={row.name: row.raw.hdi for row in task.rows},
                decisions={row.name: row.decision for row in task.rows},
            )
            for name, task in self.tasks.items()
        )

    def table(self) -> Table:
        """Return one row per model, leader first."""
        return rank_table(self.to_dict())

    def _document(self) -> Document:
        return rank_document(self.to_dict())

    def _latex_label(self) -> str:
        return latex_label("rank", "suite")

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw each model's mean over tasks, and mark those that could still be best with a band.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        facts = self.to_dict()
        models = facts["models"]
        centred = ", difference from the average model" if self.scale == "rope" else ""
        return draw_ranking(
            [{**row, "decision": (row["against_leader"] or {}).get("decision")} for row in models],
            metric=facts["metric"] + centred,
            greater_is_better=self.greater_is_better,
            pooled=len(self.rows) > 2,
            title=rank_title(facts),
            ax=ax,
            size=size,
        )

    def plot_differences(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw every other model's difference from the leader, with its decision.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        facts = self.to_dict()
        return draw_forest(
            [
                {**row["against_leader"], "observed": None, "key": row["name"]}
                for row in facts["models"]
                if row["against_leader"] is not None
            ],
            names=("model", self.leader.name),
            metric=facts["metric"],
            greater_is_better=self.greater_is_better,
            title=rank_title(facts),
            ax=ax,
            size=size,
        )

    def __repr__(self) -> str:
        return f"SuiteRanking({rank_headline(self.to_dict())})"
