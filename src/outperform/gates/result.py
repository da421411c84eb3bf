"""``Gate``: the checks that decide whether a candidate can replace a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from outperform._json import Plain, written
from outperform._typing import Label, Seed
from outperform.comparison.result import Comparison, answer_spec
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.decision.intervals import Interval
from outperform.decision.rope import RopeLike
from outperform.display.cards import Notebook
from outperform.display.document import Document
from outperform.display.layout import Page, plain
from outperform.errors import CallError, UsageError, param
from outperform.findings import Finding
from outperform.gates.levels import (
    Level,
    Side,
    items_to_level,
    level_findings,
    level_status,
    levels_of,
    limits_of,
    near_end,
    settled_level,
)
from outperform.gates.rule import (
    GateStatus,
    Require,
    claim_of,
    draws_to_settle,
    edge_of,
    fails_among,
    findings_of,
    items_to_judge,
    judge,
    serious,
    withheld,
)
from outperform.gates.text import (
    gate_document,
    gate_markdown,
    gate_sentences,
    gate_table,
)
from outperform.inference.engine import check_draws
from outperform.inference.spec import Spec, make_spec
from outperform.inference.summary import Summary
from outperform.inference.thresholds import SAFE_ERRORS
from outperform.metrics.metric import MetricLike
from outperform.planning.more_data import Needed
from outperform.posterior.rng import seed_sequence
from outperform.results.estimate import Estimate, answer_one

_MOST_TIMES, _MOST_DRAWS = 16, 1_000_000
# These findings show only that there is not enough evidence. Other serious findings show that
# something is wrong.
_SCARCE_EVIDENCE = ("few_disagreements",)

GuardLike: TypeAlias = "Guard | tuple[MetricLike, Label | None, RopeLike | None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Additional metric that must not get worse, or must reach a level.

    Parameters
    ----------
    metric
        As for :func:`compare`.
    label
        Class to compare with the rest; None for a metric over all classes.
    rope
        Region of practical equivalence. Default: ±0.01.
    at_least, at_most
        Thresholds for the candidate's own value. The guard is then compared with the baseline only
        if it also has a ROPE.

    Examples
    --------
    >>> Guard.from_param(("recall", "fraud", 0.02)).rope
    0.02
    >>> Guard(metric="recall", label="fraud", at_least=0.9).of_baseline
    False
    """

    metric: MetricLike
    label: Label | None = None
    rope: RopeLike | None = None
    at_least: float | None = None
    at_most: float | None = None

    @property
    def levels(self) -> tuple[Level, ...]:
        """Thresholds for the candidate's own value."""
        return levels_of(self.at_least, self.at_most)

    @property
    def of_baseline(self) -> bool:
        """Whether the candidate is compared with the baseline."""
        return self.rope is not None or not self.levels

    @classmethod
    def from_param(cls, guard: GuardLike) -> Guard:
        """Convert a guard, or a tuple of metric, class (or None) and ROPE.

        Parameters
        ----------
        guard
            A guard or a tuple.
        """
        if isinstance(guard, Guard):
            return guard
        if not isinstance(guard, tuple) or len(guard) != 3:
            raise UsageError(
                "a guard must be a Guard or a tuple of metric, class and ROPE such as "
                f"('recall', 'fraud', 0.02), with None for no class; got {guard!r}"
            )
        return cls(metric=guard[0], label=guard[1], rope=guard[2])


@written()
class TaskCheck(NamedTuple):
    """Additional fields of a check in a suite; see :class:`Check`.

    Parameters
    ----------
    task
        Name of a task in the suite.
    advisory
        Whether the check is only shown and never decides.
    n_checks
        Number of tasks that can fail the gate.
    """

    task: str
    advisory: bool
    n_checks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyCheck(Plain):
    """What every check of a gate has.

    Parameters
    ----------
    guard
        Guard that is checked; None for the main metric.
    task
        Task of the suite; None if the gate is not over a suite.
    advisory
        Whether the check is only shown and never decides.
    n_checks
        Number of tasks that can fail the gate. The level required for a failure is stricter by this
        factor, so additional tasks do not cause more wrong failures.
    """

    guard: Guard | None = None
    task: str | None = None
    advisory: bool = False
    n_checks: int = 1

    @property
    def status(self) -> GateStatus:
        """Result of the check: pass, fail or undecided."""
        raise NotImplementedError

    @property
    def needed(self) -> Needed | None:
        """Approximate number of further items needed to decide, as a range; None if decided.

        It is also None if the rest of a pool cannot decide it.
        """
        raise NotImplementedError

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings about the data and the result, and about their use in a gate."""
        raise NotImplementedError

    @property
    def answer(self) -> Comparison | Estimate | Contrast:
        """Comparison, estimate or contrast that is checked."""
        raise NotImplementedError

    @property
    def _title(self) -> str:
        """Task or metric, as in the repr of the gate."""
        return self.task or self.answer.metric

    @property
    def more_items(self) -> int | None:
        """Safe number of additional items; 0 if decided, None if unknown."""
        if self.status is not GateStatus.UNDECIDED:
            return 0
        needed = self.needed
        return None if needed is None else needed.n

    @property
    def guarded(self) -> bool:
        """Whether the check is of a guard and not of the main metric."""
        return self.guard is not None

    @property
    def withheld(self) -> tuple[str, ...]:
        """Names of serious findings; if there are any, the check is undecided."""
        return serious(self.findings)

    @property
    def _of_suite(self) -> TaskCheck | None:
        if self.task is None:
            return None
        return TaskCheck(self.task, self.advisory, self.n_checks)


@written(
    "guard=guarded class=guard.label require status=status.value edge more_items needed "
    "withheld near_edge findings comparison *_of_suite"
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Check(AnyCheck):
    """One comparison of a gate and its requirement.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    require
        ``"not_worse"`` or ``"better"``.
    """

    comparison: Comparison
    require: Require

    @property
    def answer(self) -> Comparison:
        """The comparison."""
        return self.comparison

    @property
    def status(self) -> GateStatus:
        """Result of the check: pass, fail or undecided."""
        status = judge(self.comparison, require=self.require)
        if status is GateStatus.FAIL and self.n_checks > 1:
            fails = fails_among(self.comparison, self.require, self.n_checks)
            return status if fails else GateStatus.UNDECIDED
        return status

    @property
    def needed(self) -> Needed | None:
        """Approximate number of further items needed to decide, as a range; None if decided.

        It is also None if the rest of a pool cannot decide it.
        """
        return items_to_judge(self.comparison, require=self.require)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings about the comparison, and about its use in a gate."""
        return findings_of(self.comparison, self.require)

    @property
    def edge(self) -> float:
        """Edge of the ROPE that the interval must clear."""
        return edge_of(self.comparison, self.require)

    @property
    def near_edge(self) -> bool:
        """Whether other draws could move the interval across that edge."""
        return claim_of(self.comparison, self.require).near_edge is not None


@written(
    "guard=guarded class=guard.label require=level.side status=status.value edge=level.value "
    "more_items needed withheld near_edge findings interval estimate *_of_suite"
)
@dataclass(frozen=True, slots=True, kw_only=True)
class LevelCheck(AnyCheck):
    """The candidate's own metric and the threshold that it must reach.

    Parameters
    ----------
    estimate
        Posterior of the candidate's metric.
    level
        The threshold.
    """

    estimate: Estimate
    level: Level

    @property
    def answer(self) -> Estimate:
        """The estimate."""
        return self.estimate

    @property
    def interval(self) -> Interval:
        """Interval that must lie beyond the threshold; at least as wide as the HDI.

        If there are few errors, it is wider, so a model that lies exactly on the threshold passes
        in at most half of the remaining probability.
        """
        return limits_of(self.estimate)

    @property
    def status(self) -> GateStatus:
        """Result of the check: pass, fail or undecided."""
        return level_status(self.estimate, self.level, n_checks=self.n_checks)

    @property
    def needed(self) -> Needed | None:
        """Approximate number of further items needed to decide, as a range; None if decided."""
        return items_to_level(self.estimate, self.level)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings about the estimate, and about its use in a gate."""
        return level_findings(self.estimate, self.level)

    @property
    def near_edge(self) -> bool:
        """Whether other draws could move the interval across the threshold."""
        return near_end(self.estimate, self.level) is not None


@written("metric metric_label greater_is_better n observed *_summary signature")
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contrast(Summary):
    """Posterior of candidate − anchor; for mean, sd and intervals see :class:`Summary`.

    Parameters
    ----------
    metric, metric_label
        Name of the metric, and its display name.
    greater_is_better
        Whether greater values of the metric are better.
    n
        Number of items of the latest decision.
    observed
        Observed difference; None if the differences of several releases were added up.
    signature
        Signature of the comparison.
    """

    metric: str
    metric_label: str
    greater_is_better: bool
    n: int
    observed: float | None
    signature: str


@written(
    "guard=guarded class=guard.label require=kind status=status.value edge more_items needed "
    "withheld near_edge findings anchor direct looks contrast *_of_suite"
)
@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorCheck(AnyCheck):
    """The candidate against the best model ever released.

    Parameters
    ----------
    anchor
        Name of that model.
    contrast
        Posterior of candidate − anchor, with the interval that must clear the budget.
    edge
        Difference that the interval must exceed; the largest loss that is allowed, with its sign.
    direct
        Whether both models answered these items. If not, the differences of the releases since the
        anchor were added up.
    looks
        Number of decisions on these items, including this one.
    noted
        Findings about the ledger and the comparison.
    """

    anchor: str
    contrast: Contrast
    edge: float
    direct: bool
    looks: int
    noted: tuple[Finding, ...] = ()

    @property
    def _title(self) -> str:
        """Metric, and what the candidate is compared with."""
        return f"{self.contrast.metric} against {self.anchor}"

    @property
    def kind(self) -> str:
        """``"anchor"``."""
        return "anchor"

    @property
    def answer(self) -> Contrast:
        """The contrast."""
        return self.contrast

    @property
    def status(self) -> GateStatus:
        """Result of the check: pass, fail or undecided."""
        if serious(self.noted) or self.near_edge:
            return GateStatus.UNDECIDED
        hdi, greater = self.contrast.hdi, self.contrast.greater_is_better
        if hdi.low > self.edge if greater else hdi.high < self.edge:
            return GateStatus.PASS
        lost = hdi.high < self.edge if greater else hdi.low > self.edge
        return GateStatus.FAIL if lost else GateStatus.UNDECIDED

    @property
    def needed(self) -> Needed | None:
        """None: the answers of the anchor to these items help more than further items."""
        return None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings about the ledger and the comparison."""
        return self.noted

    @property
    def near_edge(self) -> bool:
        """Whether other draws could move the interval across the edge."""
        hdi = self.contrast.hdi
        ends = ((hdi.low, hdi.mcse_low), (hdi.high, hdi.mcse_high))
        return any(abs(end - self.edge) < SAFE_ERRORS * error for end, error in ends)


@written("names status=status.value require checks findings", kind="gate")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Gate(Plain, Notebook):
    """Decision on whether the candidate can replace the baseline, or reaches a level.

    Parameters
    ----------
    checks
        The comparison with the baseline, then the levels, then the guards; for a suite, those of
        each task.
    """

    checks: tuple[Check | LevelCheck | AnchorCheck, ...]

    def __bool__(self) -> bool:
        """Raise an error, because an undecided gate is neither true nor false."""
        raise CallError("a gate is passed, failed or undecided; type gate.passed or gate.status")

    @property
    def names(self) -> tuple[str, ...]:
        """Candidate, and baseline if there is one."""
        compared = self._compared
        return compared[0].comparison.names if compared else (self.levels[0].name,)

    @property
    def _compared(self) -> list[Check]:
        return [check for check in self.checks if isinstance(check, Check)]

    @property
    def main(self) -> Comparison:
        """Comparison with the baseline in the main metric."""
        if compared := self._compared:
            return compared[0].comparison
        raise CallError(
            "this gate has no baseline, so it has no comparison; type gate.levels[0], the "
            "candidate's estimate"
        )

    @property
    def require(self) -> Require | Side:
        """Requirement on the main metric."""
        first = self.checks[0]
        return first.level.side if isinstance(first, LevelCheck) else self._compared[0].require

    @property
    def guards(self) -> tuple[Comparison, ...]:
        """Comparisons of the guards, in order."""
        return tuple(check.comparison for check in self._compared[1:])

    @property
    def levels(self) -> tuple[Estimate, ...]:
        """Estimates of the candidate that are compared with a level, in order."""
        return tuple(check.estimate for check in self.checks if isinstance(check, LevelCheck))

    @property
    def status(self) -> GateStatus:
        """Fail if any binding check fails; undecided if any other is undecided; otherwise pass."""
        statuses = [check.status for check in self.checks if not check.advisory]
        for status in (GateStatus.FAIL, GateStatus.UNDECIDED):
            if status in statuses:
                return status
        return GateStatus.PASS

    @property
    def passed(self) -> bool:
        """Whether every binding check passes."""
        return self.status is GateStatus.PASS

    @property
    def can_allow(self) -> bool:
        """Whether the gate is undecided only for lack of evidence, so it can be allowed.

        False if another serious finding makes a check undecided: something is wrong with the data,
        there are no data, or other draws might show that the candidate is worse.
        """
        binding = (check for check in self.checks if not check.advisory)
        wrong = [
            name for check in binding for name in check.withheld if name not in _SCARCE_EVIDENCE
        ]
        return self.status is GateStatus.UNDECIDED and not wrong

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of all checks, each once."""
        return tuple(dict.fromkeys(item for check in self.checks for item in check.findings))

    def report(self) -> str:
        """Return the result in one sentence per check."""
        return " ".join(gate_sentences(self.to_dict()))

    def to_markdown(self) -> str:
        """Return result, checks and findings in Markdown, for a job summary."""
        return gate_markdown(self.to_dict())

    def to_latex(self) -> str:
        """Return the checks as a LaTeX table."""
        return gate_table(self.to_dict()).to_latex()

    def _document(self) -> Document:
        return gate_document(self.to_dict())

    def to_html(self) -> str:
        """Return the result as HTML, for notebooks."""
        return self._document().html()

    def __str__(self) -> str:
        return plain(self._document().lines(Page(height=None)))

    def __repr__(self) -> str:
        checks = ", ".join(f"{check._title} {check.status.value}" for check in self.checks)
        return f"Gate({self.status.value}: {checks})"


def settled(comparison: Comparison, require: Require, n_jobs: int | None) -> Comparison:
    """Draw more until neither end of the HDI is too close to the deciding edge, up to a limit."""
    n_draws = comparison.draws.size
    most = max(n_draws, min(_MOST_TIMES * n_draws, _MOST_DRAWS))
    _check_edge(comparison, require)
    if withheld(comparison):
        return comparison
    while n_draws < most and (required := draws_to_settle(comparison, require)) > n_draws:
        n_draws = int(min(max(2 * n_draws, required), most))
        comparison = asked_again(comparison, comparison.spec, n_draws, n_jobs)
    return comparison


def asked_again(comparison: Comparison, spec: Spec, n_draws: int, n_jobs: int | None) -> Comparison:
    """Return the comparison of another question or number of draws, from the same seed.

    Parameters
    ----------
    comparison
        The comparison.
    spec
        The question.
    n_draws, n_jobs
        As for :func:`outperform.compare`.
    """
    return answer_spec(
        spec,
        rope=comparison.rope,
        prob=comparison.hdi.prob,
        n_draws=n_draws,
        seed=comparison.seed,
        n_jobs=n_jobs,
    )


def level_check(
    data: Outcomes | Scores,
    level: Level,
    *,
    hdi_prob: float,
    n_draws: int | None,
    random_state: Seed,
    n_jobs: int | None,
    guard: Guard | None = None,
    task: str | None = None,
    advisory: bool = False,
    n_checks: int = 1,
    paired: bool = True,
    **question: Any,
) -> LevelCheck:
    """Return the check of a level of the first model in the data.

    It does not depend on the other model, so ``paired`` is ignored.

    Parameters
    ----------
    data
        Outcomes or scores; the first model is the candidate.
    level
        The threshold.
    hdi_prob, n_draws, random_state, n_jobs, **asked
        As for :func:`outperform.estimate`.
    guard, task, advisory, n_checks
        As for :class:`LevelCheck`.
    paired
        Ignored.
    """
    spec = make_spec(data.select([data.models[0]]), paired=False, **question)
    level = level.within(spec.metric)
    estimate = answer_one(
        spec,
        verb="estimate",
        prob=hdi_prob,
        n_draws=check_draws(n_draws),
        seed=seed_sequence(random_state),
        n_jobs=n_jobs,
    )
    return LevelCheck(
        estimate=settled_level(estimate, level, n_jobs),
        level=level,
        guard=guard,
        task=task,
        advisory=advisory,
        n_checks=n_checks,
    )


def _check_edge(comparison: Comparison, require: Require) -> None:
    """Reject an edge that no difference can exceed, as the result would not depend on the data."""
    bounds, edge = comparison.spec.metric.bounds, edge_of(comparison, require)
    if bounds is not None and abs(edge) >= bounds[1] - bounds[0]:
        raise UsageError(
            f"{param('rope')} is too wide: no difference in {comparison.metric} can lie beyond "
            f"{edge:+g}, so every model would get the same result; set it in the metric's units, "
            "e.g. 0.01"
        )
