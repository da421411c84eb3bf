"""``gate``: one comparison for the main metric and one per guard."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack, overload

from outperform import metrics
from outperform._typing import ColumnLike, Label, LabelsLike, Seed, Source
from outperform.comparison.api import compare
from outperform.data.missing import UNDECLARED, MissingTexts
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.data.sources import made_serious
from outperform.decision.rope import Rope, RopeLike
from outperform.errors import UsageError, param
from outperform.gates.anchor import with_ledger
from outperform.gates.ledger import Ledger, ledger_of
from outperform.gates.levels import Level, levels_of
from outperform.gates.policy import PolicyLike, gate_suite
from outperform.gates.result import (
    AnchorCheck,
    Check,
    Gate,
    Guard,
    GuardLike,
    LevelCheck,
    asked_again,
    level_check,
    settled,
)
from outperform.gates.rule import Require, check_level, check_requirement
from outperform.inference.processes import check_process, chosen_by_another, is_process
from outperform.inference.question import Candidates
from outperform.inference.spec import OfTwo, declared, refuse_counted, refuse_declared
from outperform.inference.suite import Suite
from outperform.inference.views import chosen_metric
from outperform.inputs.models import read_models, refuse_truth
from outperform.metrics.metric import MetricLike
from outperform.metrics.registry import get_labels
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import seed_sequence
from outperform.wrong_calls import explained

DEFAULT_SEED = 0


class _GateKwargs(OfTwo, total=False):
    metric: MetricLike | None
    na_values: Sequence[str] | None
    empty_is_label: bool
    never_true: Sequence[Label] | None
    at_least: float | None
    at_most: float | None
    ledger: Ledger | str | os.PathLike[str] | None
    require: Require
    guards: Sequence[GuardLike]
    chosen_from: Candidates | None
    anytime: bool


class _GateOfRows(_GateKwargs, total=False):
    groups: ColumnLike | None
    sample_weight: ColumnLike | None


class _GateOfColumns(_GateOfRows, total=False):
    truth: str | None


@overload
def gate(
    y_true: Suite,
    candidate: str,
    baseline: str | None = None,
    *,
    policy: PolicyLike | None = None,
    **kwargs: Unpack[_GateKwargs],
) -> Gate: ...


@overload
def gate(
    y_true: Outcomes | Scores,
    candidate: str,
    baseline: str | None = None,
    **kwargs: Unpack[_GateKwargs],
) -> Gate: ...


@overload
def gate(
    y_true: Source,
    candidate: str,
    baseline: str | None = None,
    **kwargs: Unpack[_GateOfColumns],
) -> Gate: ...


@overload
def gate(
    y_true: LabelsLike | None,
    candidate: LabelsLike,
    baseline: LabelsLike | None = None,
    **kwargs: Unpack[_GateOfRows],
) -> Gate: ...


@explained
def gate(
    y_true: Suite | Outcomes | Scores | Source | LabelsLike | None,
    candidate: str | LabelsLike,
    baseline: str | LabelsLike | None = None,
    *,
    truth: str | None = None,
    metric: MetricLike | None = None,
    rope: RopeLike | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
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
    groups: ColumnLike | None = None,
    sample_weight: ColumnLike | None = None,
    chosen_from: Candidates | None = None,
    anytime: bool = False,
) -> Gate:
    """Decide whether a candidate can replace a baseline, or reaches a level.

    The difference is candidate − baseline. The gate passes if the whole HDI lies above the lower
    edge of the ROPE, fails if the whole HDI lies below that edge, and is undecided otherwise. If
    lower values of the metric are better, the sides and edges are reversed.

    With ``at_least`` or ``at_most``, the candidate's own metric must lie beyond a threshold, and
    the baseline is optional. With both a baseline and a level, both must hold.

    Parameters
    ----------
    y_true
        True labels, or :class:`Outcomes` or :class:`Scores`, which include names, groups and
        weights. A frame or file needs ``truth``. A :class:`Suite` has one check per task.
    candidate, baseline
        Predicted labels, or the names of two models in the outcomes, or of two columns in the
        frame.
    truth
        Column of the true labels, if ``y_true`` is a frame or file.
    metric
        As for :func:`compare`.
    rope
        Region of practical equivalence: a candidate whose difference lies in it is not worse.
        Default: ±0.01.
    at_least, at_most
        Thresholds for the candidate's own metric, in its units, whichever direction is better. The
        check passes if the whole interval lies beyond the threshold, fails if it lies on the other
        side, and is undecided otherwise. A model that lies exactly on the threshold passes with
        probability at most ``(1 - hdi_prob) / 2``, so the interval is wider than the HDI if there
        are few errors.
    ledger
        A :class:`Ledger` or its file, which records the decision. The candidate must then also be
        close to the best model ever released, and the gate counts the looks at these items.
    require
        ``"not_worse"`` or ``"better"``. ``"better"`` passes only if the whole HDI lies above the
        ROPE, and fails if no part of it does.
    guards
        Additional metrics that must not get worse: :class:`Guard`, or tuples of metric, class
        (or None) and ROPE. Each is a separate comparison. A guard with ``at_least`` or ``at_most``
        requires a level instead.
    policy
        Requirement on each task of a suite: a mapping, or a TOML file with a ``[tasks]`` table.
        ``"not_worse"`` or ``"better"``, as for ``require``, which applies to all other tasks; a
        number, the amount by which the candidate may be worse; a mapping such as
        ``{"at_least": 0.9}``, a level that replaces the gate's; or ``"advisory"``, shown but never
        decisive.
    hdi_prob
        Probability mass of the HDI, 0.5 or more. A candidate that is worse by exactly the ROPE's
        half-width passes with probability ``(1 - hdi_prob) / 2``.
    prior
        As for :func:`compare`.
    paired
        Whether to compare the models item by item. Ignored if the data are unpaired.
    n_draws
        Initial number of draws. Default: 20,000. If an end of the HDI is too close to the deciding
        edge, more are drawn, up to 16 times as many or a million. If it is still too close then,
        the gate is undecided.
    random_state
        An integer, a SeedSequence, a Generator, a RandomState, or None for a new seed each time.
        Every check uses the same seed. The default is fixed, so the same data give the same result.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.
    labels
        Classes to average over. Default: those that occur in the truth.
    pos_label
        Positive class of binary metrics, and of guards without a class.
    na_values, empty_is_label
        For arrays, frames and files: strings that mark a missing value, and whether the empty
        string is a label, as for :meth:`Outcomes.from_labels`. If labels look like missing values
        but are not declared, the gate is undecided.
    never_true
        Classes that models may predict but that are intentionally never true, such as
        ``["refusal"]``. If the result depends on other predictions that are never true, the gate is
        undecided, because they may be true labels in a different spelling.
    groups, sample_weight
        As for :func:`compare`: what the items belong to, and their importance weights.
    chosen_from
        As for :func:`compare`: all candidates, or how many there were, if this one was chosen by
        its results on these items. Of k candidates, each has the k-th part of the error
        probability of a level. The main metric is taken to have chosen it, so the intervals of
        guards are widened at both ends.
    anytime
        Whether the gate is asked again as items arrive, until it passes or fails. Its intervals
        are then valid at every look, as in :func:`compare` with ``looks="any"``, and wider.

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
    >>> op.gate(seen, "svm_l2", at_least=0.6, metric="accuracy")
    Gate(pass: accuracy pass)
    """
    shared: dict[str, Any] = {
        "hdi_prob": check_level(hdi_prob),
        "prior": prior,
        "paired": paired,
        "n_draws": n_draws,
        "random_state": seed_sequence(random_state),
        "n_jobs": n_jobs,
    }
    process = check_process(chosen_from, "any" if anytime else "once")
    if is_process(process):
        _check_process_of(y_true, baseline, at_least, at_most, guards, anytime=anytime)
    over: dict[str, Any] = {"labels": labels, "pos_label": pos_label}
    missing = MissingTexts.from_param(na_values, empty_is_label)
    if isinstance(y_true, (Suite, Outcomes, Scores)) and missing != UNDECLARED:
        raise UsageError(
            f"{param('na_values=')} and {param('empty_is_label=')} apply only to label arrays, "
            "but these outcomes are already counted; pass them to op.read or Outcomes.from_labels"
        )
    if isinstance(y_true, Suite):
        refuse_truth(truth, "gate")
        if ledger is not None:
            raise UsageError(f"{param('ledger=')} records a single task; remove it for a suite")
        if guards:
            raise UsageError(f"guards apply to a single task; for a suite, use {param('policy=')}")
        refuse_declared(never_true)
        refuse_counted(groups=groups, sample_weight=sample_weight)
        over |= {"metric": metric, "rope": rope, "require": require, "policy": policy}
        over |= {"levels": levels_of(at_least, at_most)}
        return gate_suite(y_true, candidate, baseline, **over, **shared)
    if policy is not None:
        raise UsageError(f"{param('policy=')} applies only to a suite; use {param('guards=')}")
    levels = levels_of(at_least, at_most)
    book = ledger_of(ledger)
    models = {"candidate": candidate} | ({} if baseline is None else {"baseline": baseline})
    checked_guards = tuple(map(Guard.from_param, guards))
    if baseline is None:
        _check_alone(levels, rope, require, checked_guards)
    outcomes = read_models(
        y_true,
        models,
        verb="gate",
        truth=truth,
        metric=metric,
        labels=labels,
        groups=groups,
        sample_weight=sample_weight,
        missing=missing,
    )
    outcomes = declared(outcomes, never_true)
    outcomes = replace(outcomes, findings=made_serious(outcomes.findings))
    check_requirement(require)
    metric = chosen_metric(outcomes, metric, labels=labels, pos_label=pos_label)
    checked = [
        replace(guard, metric=chosen_metric(outcomes, guard.metric, **over))
        for guard in checked_guards
    ]
    _check_unique([Guard(metric=metric), *checked])
    for guard in checked:
        _check_rope(guard)
    checks: list[Check | LevelCheck | AnchorCheck] = []
    for part in (None, *checked):
        about = over if part is None or part.label is None else {"pos_label": _class_of(part)}
        about = {"metric": metric if part is None else part.metric, **about}
        if baseline is not None and (part is None or part.of_baseline):
            new, old = outcomes.models
            region = rope if part is None else part.rope
            compared = compare(outcomes, new, old, rope=region, **about, **shared, **process)
            if part is not None and compared.selection is not None:
                spec = chosen_by_another(compared.spec)
                compared = asked_again(compared, spec, compared.draws.size, n_jobs)
            wanted: Require = require if part is None else "not_worse"
            compared = settled(compared, wanted, n_jobs)
            checks.append(Check(comparison=compared, require=wanted, guard=part))
        for level in levels if part is None else part.levels:
            checked_at = {"hdi_prob": _prob_of_level(shared["hdi_prob"], chosen_from)}
            question = {**about, **shared, **checked_at}
            checks.append(level_check(outcomes, level, guard=part, **question))
    gate = Gate(checks=tuple(checks))
    if book is None:
        return gate
    answered = y_true if isinstance(y_true, (Outcomes, Scores)) else outcomes
    about = {"metric": metric, **over, **shared, **process}
    return with_ledger(gate, book, answered, require=require, **about)


def _check_process_of(
    y_true: object,
    baseline: object,
    at_least: float | None,
    at_most: float | None,
    guards: Sequence[GuardLike],
    *,
    anytime: bool,
) -> None:
    """Raise an error if not every check of the gate can take the process into account."""
    named = f"{param('chosen_from=')} and {param('anytime=')}"
    if isinstance(y_true, Suite):
        raise UsageError(f"{named} apply to one task at a time; gate suite[task] instead")
    levels = at_least is not None or at_most is not None
    if anytime and (
        baseline is None or levels or any(Guard.from_param(guard).levels for guard in guards)
    ):
        raise UsageError(
            f"{param('anytime=')} applies to comparisons with a baseline, not to levels; remove "
            "the levels, or gate them separately"
        )


def _prob_of_level(prob: float, chosen_from: Candidates | None) -> float:
    """Return the mass of a level's interval for a model that was chosen from k candidates.

    By the union bound, the chosen one of k models passes by chance at most k times as often as a
    given one, so each has the k-th part of the error probability.
    """
    if chosen_from is None:
        return prob
    k = len(chosen_from.models) if isinstance(chosen_from, (Outcomes, Scores)) else chosen_from
    return 1 - (1 - prob) / k


def _check_alone(
    levels: Sequence[Level], rope: object, require: Require, guards: Sequence[Guard]
) -> None:
    """Raise an error if a gate without a baseline has no level, or needs a baseline."""
    if not levels:
        raise UsageError(
            "a gate needs a baseline, or a level: type gate(y_true, pred_new, pred_old), or pass "
            f"{param('at_least=', 0.9)}"
        )
    if rope is not None or require != "not_worse":
        named = param("rope=") if rope is not None else param("require=")
        raise UsageError(f"{named} compares with a baseline; pass the old model, or remove it")
    for guard in guards:
        if guard.of_baseline:
            raise UsageError(
                f"the guard {metrics.get(guard.metric).name!r} needs a baseline or a level; pass "
                f"the old model, or {param('at_least=', 0.9)} in the guard"
            )


def _check_rope(guard: Guard) -> None:
    """Raise an error that names the guard if its ROPE is invalid."""
    if guard.rope is not None:
        metric = metrics.get(guard.metric)
        of_class = "" if guard.label is None else f" of class {guard.label!r}"
        name = f"the ROPE of the guard {metric.name!r}{of_class},"
        Rope.from_param(guard.rope, bounds=metric.bounds, name=name)


def _class_of(guard: Guard) -> Label | None:
    metric = get_labels(guard.metric)
    if metric.average != "binary":
        raise UsageError(
            f"the guard on class {guard.label!r} needs a metric of one class, such as recall, "
            f"precision or f1; got {metric.name!r}"
        )
    return guard.label


def _check_unique(guards: Sequence[Guard]) -> None:
    keys: set[tuple[metrics.Metric, str]] = set()
    for guard in guards:
        metric = metrics.get(guard.metric)
        # Compared as text, because 1 and "1" are different classes but True and 1 are the same.
        label = int(guard.label) if isinstance(guard.label, bool) else guard.label
        key = metric, repr(label)
        if key in keys:
            of_class = "" if guard.label is None else f" of class {guard.label!r}"
            raise UsageError(f"the gate has {metric.name!r}{of_class} twice; remove one")
        keys.add(key)
