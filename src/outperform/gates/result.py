"""``Gate``: the checks that decide whether a candidate may replace a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from outperform._json import Plain, written
from outperform._typing import Label
from outperform.comparison.result import Comparison, answer_spec
from outperform.decision.rope import RopeLike
from outperform.display.cards import Notebook
from outperform.display.document import Document
from outperform.display.layout import Page, plain
from outperform.errors import UsageError, param
from outperform.findings import Finding
from outperform.gates.rule import (
    Judgement,
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
from outperform.metrics.metric import MetricLike
from outperform.planning.more_data import Needed

_MOST_TIMES, _MOST_DRAWS = 16, 1_000_000
# Too little evidence is what undecided means; other serious findings say that something is wrong.
_THIN = ("few_disagreements",)


GuardLike: TypeAlias = "Guard | tuple[MetricLike, Label | None, RopeLike | None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A metric that must not get worse, besides the one that the gate is about.

    Parameters
    ----------
    metric
        As for :func:`compare`.
    label
        The class it is about, against the rest; None for a metric of all classes.
    rope
        The region of practical equivalence; ±0.01 by default.

    Examples
    --------
    >>> Guard.from_param(("recall", "fraud", 0.02))
    Guard(metric='recall', label='fraud', rope=0.02)
    """

    metric: MetricLike
    label: Label | None = None
    rope: RopeLike | None = None

    @classmethod
    def from_param(cls, guard: GuardLike) -> Guard:
        """Take a guard, or a tuple of metric, class (or None) and ROPE.

        Parameters
        ----------
        guard
            What the user gave.
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
    """What a check of a suite has besides; see :class:`Check`.

    Parameters
    ----------
    task
        The task of a suite that it is about.
    advisory
        Whether it is only shown and never decides.
    n_checks
        How many tasks can fail the gate.
    """

    task: str
    advisory: bool
    n_checks: int


@written(
    "guard=guarded class=guard.label require judgement=judgement.value edge more_items needed "
    "withheld near_edge findings comparison *_of_suite"
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Plain):
    """One comparison of a gate and what is required of it.

    Parameters
    ----------
    comparison
        Candidate − baseline.
    require
        ``"not_worse"`` or ``"better"``.
    guard
        The guard that it answers; None for the main metric.
    task
        The task of a suite that it is about; None if the gate is not about a suite.
    advisory
        Whether it is only shown and never decides.
    n_checks
        How many tasks can fail the gate. A failure must hold at a level so much stricter, so that
        many tasks do not bring many wrong failures.
    """

    comparison: Comparison
    require: Require
    guard: Guard | None = None
    task: str | None = None
    advisory: bool = False
    n_checks: int = 1

    @property
    def judgement(self) -> Judgement:
        """Whether the requirement is met."""
        found = judge(self.comparison, require=self.require)
        if found is Judgement.FAIL and self.n_checks > 1:
            surely = fails_among(self.comparison, self.require, self.n_checks)
            return found if surely else Judgement.UNDECIDED
        return found

    @property
    def needed(self) -> Needed | None:
        """About how many more items would decide: a range; None if it is decided.

        None too if a pool has no more to tell.
        """
        return items_to_judge(self.comparison, require=self.require)

    @property
    def more_items(self) -> int | None:
        """How many more decide however little the models differ: 0 if decided, None if unknown."""
        if self.judgement is not Judgement.UNDECIDED:
            return 0
        return None if self.needed is None else self.needed.n

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings about the comparison, and about what follows from it here."""
        return findings_of(self.comparison, self.require)

    @property
    def guarded(self) -> bool:
        """Whether it is about a guard and not about the main metric."""
        return self.guard is not None

    @property
    def edge(self) -> float:
        """The edge of the ROPE that the interval must clear."""
        return edge_of(self.comparison, self.require)

    @property
    def near_edge(self) -> bool:
        """Whether other draws might move the interval over that edge."""
        return claim_of(self.comparison, self.require).near_edge is not None

    @property
    def _of_suite(self) -> TaskCheck | None:
        if self.task is None:
            return None
        return TaskCheck(self.task, self.advisory, self.n_checks)

    @property
    def withheld(self) -> tuple[str, ...]:
        """The serious findings, which withhold the judgement whatever the interval says."""
        return serious(self.findings)


@written("names=main.names judgement=judgement.value require checks findings", kind="gate")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Gate(Plain, Notebook):
    """Whether the candidate may replace the baseline, and why.

    Parameters
    ----------
    checks
        The main comparison, then one for each guard.
    """

    checks: tuple[Check, ...]

    @property
    def main(self) -> Comparison:
        """The comparison that the gate is about."""
        return self.checks[0].comparison

    @property
    def require(self) -> Require:
        """What is required of the main metric."""
        return self.checks[0].require

    @property
    def guards(self) -> tuple[Comparison, ...]:
        """The comparisons of the guards, in their order."""
        return tuple(check.comparison for check in self.checks[1:])

    @property
    def judgement(self) -> Judgement:
        """Fail if any check fails, else undecided if any is, else pass."""
        found = [check.judgement for check in self.checks if not check.advisory]
        for one in (Judgement.FAIL, Judgement.UNDECIDED):
            if one in found:
                return one
        return Judgement.PASS

    @property
    def passed(self) -> bool:
        """Whether every check passes."""
        return self.judgement is Judgement.PASS

    @property
    def allowable(self) -> bool:
        """Whether it is undecided for want of evidence only, which one may choose to allow.

        False where a serious finding withholds a judgement: something is wrong with the data, or
        there are none, or other draws might find the candidate worse.
        """
        deciding = (check for check in self.checks if not check.advisory)
        wrong = [name for check in deciding for name in check.withheld if name not in _THIN]
        return self.judgement is Judgement.UNDECIDED and not wrong

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all checks, each once."""
        return tuple(dict.fromkeys(one for check in self.checks for one in check.findings))

    def report(self) -> str:
        """Return the judgement in one sentence for each check."""
        return " ".join(gate_sentences(self.to_dict()))

    def to_markdown(self) -> str:
        """Return judgement, checks and findings in Markdown, as a job summary shows them."""
        return gate_markdown(self.to_dict())

    def to_latex(self) -> str:
        """Return the checks as a LaTeX table."""
        return gate_table(self.to_dict()).to_latex()

    def _document(self) -> Document:
        return gate_document(self.to_dict())

    def to_html(self) -> str:
        """Return the answer as HTML, as a notebook shows it."""
        return self._document().html()

    def __str__(self) -> str:
        return plain(self._document().lines(Page(height=None)))

    def __repr__(self) -> str:
        found = ", ".join(
            f"{check.task or check.comparison.metric} {check.judgement.value}"
            for check in self.checks
        )
        return f"Gate({self.judgement.value}: {found})"


def settled(found: Comparison, require: Require, n_jobs: int | None) -> Comparison:
    """Draw more until no end of the HDI is too near to the edge that decides, up to a limit."""
    n_draws = found.draws.size
    most = max(n_draws, min(_MOST_TIMES * n_draws, _MOST_DRAWS))
    _refuse_idle(found, require)
    if withheld(found):
        return found
    while n_draws < most and (wanted := draws_to_settle(found, require)) > n_draws:
        n_draws = int(min(max(2 * n_draws, wanted), most))
        found = answer_spec(
            found.spec,
            rope=found.rope,
            prob=found.hdi.prob,
            n_draws=n_draws,
            seed=found.seed,
            n_jobs=n_jobs,
        )
    return found


def _refuse_idle(found: Comparison, require: Require) -> None:
    """Refuse an edge that no difference can lie beyond: the answer would not depend on the data."""
    bounds, edge = found.spec.metric.bounds, edge_of(found, require)
    if bounds is not None and abs(edge) >= bounds[1] - bounds[0]:
        raise UsageError(
            f"{param('rope')} must leave room for a difference: none of {found.metric} can be "
            f"beyond {edge:+g}, so every model would get the same answer; give it in the metric's "
            "units, e.g. 0.01"
        )
