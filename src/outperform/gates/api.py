"""``gate``: one comparison, and one for each guard."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, overload

from outperform import metrics
from outperform._typing import Label, LabelsLike, Seed
from outperform.comparison.api import answer_spec, compare, two_models
from outperform.data.missing import UNDECLARED, MissingTexts
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.data.sources import made_serious
from outperform.decision.rope import Rope, RopeLike
from outperform.display.cards import Card, Notebook, card_html
from outperform.display.layout import Line, Page, plain
from outperform.errors import UsageError, param
from outperform.findings import Finding
from outperform.gates.rule import (
    Judgement,
    Require,
    check_level,
    check_requirement,
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
    gate_card,
    gate_lines,
    gate_markdown,
    gate_sentences,
    gate_table,
)
from outperform.inference.spec import OfTwo, declared, refuse_declared
from outperform.inference.suite import Suite
from outperform.inference.summary import SCHEMA, finding_facts
from outperform.inference.views import chosen_metric
from outperform.metrics.metric import MetricLike
from outperform.metrics.registry import get_labels
from outperform.planning.power import Needed
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import seed_sequence
from outperform.results.base import verb as feature
from outperform.results.comparison import Comparison

if TYPE_CHECKING:
    from outperform.results.feature_schemas import CheckFacts, GateFacts
    from outperform.results.suite_schemas import TaskCheckFacts


DEFAULT_SEED = 0
_MOST_TIMES, _MOST_DRAWS = 16, 1_000_000
# Too little evidence is what undecided means; other serious findings say that something is wrong.
_THIN = ("few_disagreements",)


PolicyLike: TypeAlias = "Mapping[str, str | float] | str | os.PathLike[str]"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
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
    def withheld(self) -> tuple[str, ...]:
        """The serious findings, which withhold the judgement whatever the interval says."""
        return serious(self.findings)

    def to_dict(self) -> CheckFacts:
        """Return everything but the draws as plain values."""
        return {
            "guard": self.guard is not None,
            "class": None if self.guard is None else self.guard.label,
            "require": self.require,
            "judgement": self.judgement.value,
            "edge": edge_of(self.comparison, self.require),
            "more_items": self.more_items,
            "needed": None if self.needed is None else self.needed.to_dict(),
            "withheld": list(self.withheld),
            "near_edge": claim_of(self.comparison, self.require).near_edge is not None,
            "findings": finding_facts(self.findings),
            "comparison": self.comparison.to_dict(),
            **self._of_suite(),
        }

    def _of_suite(self) -> TaskCheckFacts:
        if self.task is None:
            return {}
        return {"task": self.task, "advisory": self.advisory, "n_checks": self.n_checks}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Gate(Notebook):
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

    def to_dict(self) -> GateFacts:
        """Return everything but the draws as plain values, with a schema version."""
        return {
            "schema": SCHEMA,
            "kind": "gate",
            "names": list(self.main.names),
            "judgement": self.judgement.value,
            "require": self.checks[0].require,
            "checks": [check.to_dict() for check in self.checks],
            "findings": finding_facts(self.findings),
        }

    def report(self) -> str:
        """Return the judgement in one sentence for each check."""
        return " ".join(gate_sentences(self.to_dict()))

    def to_markdown(self) -> str:
        """Return judgement, checks and findings in Markdown, as a job summary shows them."""
        return gate_markdown(self.to_dict())

    def to_latex(self) -> str:
        """Return the checks as a LaTeX table."""
        return gate_table(self.to_dict()).to_latex()

    def _card(self) -> Card:
        return gate_card(self.to_dict())

    def to_html(self) -> str:
        """Return the answer as HTML, as a notebook shows it."""
        return card_html(self._card())

    def _lines(self, page: Page) -> list[Line]:
        return gate_lines(self.to_dict(), page)

    def __str__(self) -> str:
        return plain(self._lines(Page(height=None)))

    def __repr__(self) -> str:
        found = ", ".join(
            f"{check.task or check.comparison.metric} {check.judgement.value}"
            for check in self.checks
        )
        return f"Gate({self.judgement.value}: {found})"


class _Asked(OfTwo, total=False):
    metric: MetricLike | None
    na_values: Sequence[str] | None
    empty_is_label: bool
    never_true: Sequence[Label] | None
    require: Require
    guards: Sequence[GuardLike]


@overload
def gate(
    y_true: Suite,
    candidate: str,
    baseline: str,
    *,
    policy: PolicyLike | None = None,
    **asked: Unpack[_Asked],
) -> Gate: ...


@overload
def gate(
    y_true: Outcomes | Scores, candidate: str, baseline: str, **asked: Unpack[_Asked]
) -> Gate: ...


@overload
def gate(
    y_true: LabelsLike | None,
    candidate: LabelsLike,
    baseline: LabelsLike,
    **asked: Unpack[_Asked],
) -> Gate: ...


def gate(
    y_true: Suite | Outcomes | Scores | LabelsLike | None,
    candidate: str | LabelsLike,
    baseline: str | LabelsLike,
    *,
    metric: MetricLike | None = None,
    rope: RopeLike | None = None,
    require: Require = "not_worse",
    guards: Sequence[GuardLike] = (),
    policy: PolicyLike | None = None,
    hdi_prob: float = 0.95,
    prior: PriorLike | None = None,
    paired: bool = True,
    n_draws: int | None = None,
    random_state: Seed = DEFAULT_SEED,
    n_jobs: int | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    na_values: Sequence[str] | None = None,
    empty_is_label: bool = False,
    never_true: Sequence[Label] | None = None,
) -> Gate:
    """Decide whether a candidate may replace a baseline.

    The difference is candidate − baseline. The gate passes if the whole HDI lies
    above the ROPE's lower edge, fails if it lies entirely below, and is undecided
    otherwise; where lower is better, it is the other way round.

    Parameters
    ----------
    y_true
        The true labels, or :class:`Outcomes` or :class:`Scores`, which know names, groups and
        weights. A :class:`Suite` has one check for each task.
    candidate, baseline
        Their predicted labels, or the names of two models in the outcomes.
    metric
        As for :func:`compare`.
    rope
        The region of practical equivalence: how much worse is not worse. ±0.01 by default.
    require
        ``"not_worse"``; or ``"better"``, which passes only if the whole HDI lies above the ROPE
        and fails if none of it does.
    guards
        Other things that must not get worse: :class:`Guard`, or tuples of metric, class (or
        None) and ROPE. Each is a comparison of its own.
    policy
        Of a suite, what is required on each task: a mapping, or a TOML file with a table
        ``[tasks]``. ``"not_worse"`` and ``"better"`` as for ``require``, which holds for tasks
        that are not named; a number, by how much the candidate may be worse; or ``"advisory"``,
        shown but never decisive.
    hdi_prob
        The mass of the interval, 0.5 or more: a candidate that is worse by the whole ROPE passes
        with probability ``(1 - hdi_prob) / 2``.
    prior
        As for :func:`compare`.
    paired
        Whether to use that the items are the same, where the data allow it.
    n_draws
        How many draws to begin with, 20,000 by default. Where an end of the HDI is too near to
        the edge that decides, there are more, up to 16 times as many or a million; what then is
        still too near is undecided.
    random_state
        A whole number, a SeedSequence, a Generator, a RandomState, or None for another seed each
        time; every check uses it anew. The default is fixed, so that the same data get the same
        judgement.
    n_jobs
        How much to do at a time: None means 1, as in scikit-learn, and -1 all cores that this
        process may use; the draws do not depend on it.
    labels
        The classes averaged over; by default those that are ever true.
    pos_label
        The positive class of binary metrics, and of guards that name no class.
    na_values, empty_is_label
        Of arrays, which texts mean a missing value, and whether the empty text is a label, as for
        :meth:`Outcomes.from_labels`. Labels that look missing and are not declared withhold the
        judgement.
    never_true
        Classes that models may predict and that are meant never to be true, such as
        ``["refusal"]``. Where the judgement depends on other predictions that are never true,
        the gate is undecided: they may be labels spelled otherwise.

    Examples
    --------
    >>> import outperform as op
    >>> news = op.datasets.load_news20()
    >>> seen = op.Outcomes.from_labels(news.y_true, news.predictions)
    >>> g = op.gate(seen, "nb_mult", "svm_l2", metric="accuracy", rope=0.005,
    ...             guards=[("recall", "sci.med", 0.02)], random_state=0)
    >>> g
    Gate(pass: accuracy pass, recall pass)
    >>> g.guards[0].decision
    <Decision.LEANING_BETTER: '>'>
    """
    shared: dict[str, Any] = {
        "hdi_prob": check_level(hdi_prob),
        "prior": prior,
        "paired": paired,
        "n_draws": n_draws,
        "random_state": seed_sequence(random_state),
        "n_jobs": n_jobs,
    }
    over: dict[str, Any] = {"labels": labels, "pos_label": pos_label}
    missing = MissingTexts.from_param(na_values, empty_is_label)
    if isinstance(y_true, (Suite, Outcomes, Scores)) and missing != UNDECLARED:
        raise UsageError(
            f"{param('na_values=')} and {param('empty_is_label=')} are about arrays of labels; "
            "these outcomes are counted already, so give them to op.read or Outcomes.from_labels"
        )
    if isinstance(y_true, Suite):
        if guards:
            raise UsageError(f"guards are for one task; a suite has {param('policy=')}")
        refuse_declared(never_true)
        over |= {"metric": metric, "rope": rope, "require": require, "policy": policy}
        found: Gate = feature("gate_suite")(y_true, candidate, baseline, **over, **shared)
        return found
    if policy is not None:
        raise UsageError(f"{param('policy=')} is for a suite of tasks; use {param('guards=')}")
    outcomes = two_models(
        y_true,
        candidate,
        baseline,
        ("candidate", "baseline"),
        labels,
        metric=metric,
        missing=missing,
    )
    outcomes = declared(outcomes, never_true)
    outcomes = replace(outcomes, findings=made_serious(outcomes.findings))
    check_requirement(require)
    metric = chosen_metric(outcomes, metric, labels=labels, pos_label=pos_label)
    asked = [
        replace(one, metric=chosen_metric(outcomes, one.metric, **over))
        for one in map(Guard.from_param, guards)
    ]
    _refuse_twins([Guard(metric=metric), *asked])
    for guard in asked:
        _refuse_wide(guard)
    new, old = outcomes.models
    first = compare(outcomes, new, old, metric=metric, rope=rope, **over, **shared)
    checks = [Check(comparison=settled(first, require, n_jobs), require=require)]
    for guard in asked:
        about = over if guard.label is None else {"pos_label": _one_class(guard)}
        guarded = compare(
            outcomes, new, old, metric=guard.metric, rope=guard.rope, **about, **shared
        )
        guarded = settled(guarded, "not_worse", n_jobs)
        checks.append(Check(comparison=guarded, require="not_worse", guard=guard))
    return Gate(checks=tuple(checks))


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


def _refuse_wide(guard: Guard) -> None:
    """Refuse a ROPE of a guard that any ROPE would be refused for, by the guard's name."""
    if guard.rope is not None:
        asked = metrics.get(guard.metric)
        of_class = "" if guard.label is None else f" of class {guard.label!r}"
        name = f"the ROPE of the guard {asked.name!r}{of_class},"
        Rope.from_param(guard.rope, bounds=asked.bounds, name=name)


def _one_class(guard: Guard) -> Label | None:
    asked = get_labels(guard.metric)
    if asked.average != "binary":
        raise UsageError(
            f"a guard on the class {guard.label!r} needs a metric of one class, such as recall, "
            f"precision or f1; got {asked.name!r}"
        )
    return guard.label


def _refuse_twins(guards: Sequence[Guard]) -> None:
    seen: set[tuple[metrics.Metric, str]] = set()
    for guard in guards:
        asked = metrics.get(guard.metric)
        # As text, because 1 and "1" are two classes; True and 1 are one.
        label = int(guard.label) if isinstance(guard.label, bool) else guard.label
        key = asked, repr(label)
        if key in seen:
            of_class = "" if guard.label is None else f" of class {guard.label!r}"
            raise UsageError(f"the gate asks for {asked.name!r}{of_class} twice; leave one out")
        seen.add(key)
