"""``gate``: one comparison, and one for each guard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack, overload

from outperform import metrics
from outperform._typing import Label, LabelsLike, Seed
from outperform.comparison.api import compare
from outperform.data.missing import UNDECLARED, MissingTexts
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.data.sources import made_serious
from outperform.decision.rope import Rope, RopeLike
from outperform.errors import UsageError, param
from outperform.gates.policy import PolicyLike, gate_suite
from outperform.gates.result import Check, Gate, Guard, GuardLike, settled
from outperform.gates.rule import Require, check_level, check_requirement
from outperform.inference.spec import OfTwo, declared, refuse_declared, two_models
from outperform.inference.suite import Suite
from outperform.inference.views import chosen_metric
from outperform.metrics.metric import MetricLike
from outperform.metrics.registry import get_labels
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import seed_sequence

DEFAULT_SEED = 0


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
        Whether to compare the models item by item. Ignored if the data are unpaired.
    n_draws
        How many draws to begin with, 20,000 by default. Where an end of the HDI is too near to
        the edge that decides, there are more, up to 16 times as many or a million; what then is
        still too near is undecided.
    random_state
        A whole number, a SeedSequence, a Generator, a RandomState, or None for another seed each
        time; every check uses it anew. The default is fixed, so that the same data get the same
        judgement.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.
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
        return gate_suite(y_true, candidate, baseline, **over, **shared)
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
