"""The same comparison under every prior and with every ROPE."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from outperform.data.prevalence import LabelErrorsLike
from outperform.decision.rope import Decision, Rope, RopeLike
from outperform.errors import OutperformError, ResourceError, UsageError, param
from outperform.findings import Finding, finding
from outperform.inference.spec import LabelSpec, Spec, again, counted, rope_for
from outperform.posterior.base import PriorModel
from outperform.posterior.pymc.sampling import PyMC
from outperform.posterior.registry import PRIORS, get_prior
from outperform.posterior.rng import counted_steps
from outperform.progress import in_steps
from outperform.results.compared import Comparable, Compared
from outperform.results.details import ScoreDetails
from outperform.sensitivity.fragility import fragility
from outperform.sensitivity.result import Sensitivity, dependence_findings, more_than_prior


class Choice(NamedTuple):
    """A prior, and the PyMC settings for sampling it, if any."""

    prior: PriorModel
    engine: PyMC | None = None


_USUAL = {
    Choice(PRIORS[name]): name
    for name in ("learned", "uniform", "jeffreys", "unit", "hierarchical", "bootstrap")
}


def usual_choices(spec: Spec) -> dict[Choice, str]:
    """Return the priors that are always tried; scores have none."""
    if not isinstance(spec, LabelSpec):
        return {}
    few = spec.view.n_classes <= 2  # here "learned" equals "unit"
    return {choice: name for choice, name in _USUAL.items() if not (few and name == "learned")}


def own_choice(spec: Spec) -> Choice:
    """Return the prior and chain of a comparison."""
    return Choice(spec.prior, spec.choices.engine)


def name_of(choice: Choice) -> str:
    """Return the default name of a prior and its chain."""
    name = _USUAL.get(Choice(choice.prior), choice.prior.name)
    return name if choice.engine is None else f"{name} (pymc)"


def given_choices(priors: Mapping[str, Any] | None, engine: PyMC | None) -> dict[Choice, str]:
    """Return the user's priors with distinct names; PyMC models get the engine."""
    if priors is None:
        return {}
    if not isinstance(priors, Mapping):
        raise UsageError(
            "priors must be a mapping from names to priors, such as "
            f"{{'strong': 2.0, 'learned': 'learned'}}; got {priors!r}"
        )
    choices: dict[Choice, str] = {}
    for name, value in priors.items():
        prior = get_prior(value)
        choice = Choice(prior, None if prior.own is None else engine or PyMC())
        if choice in choices:
            raise UsageError(
                f"priors {choices[choice]!r} and {name!r} are the same; remove one of them"
            )
        choices[choice] = str(name)
    return choices


_SUBJECT = re.compile(r"""^[Pp]rior ('[^']*'|"[^"]*") """)
_TIMES = (0.5, 1.0, 2.0, 4.0)
_MOST_GAMMAS = 200_000_000  # about 15 seconds
_MOST_DRAWS = 20_000  # so about twenty comparisons take a second


def sensitivity(
    comparison: Comparable,
    *,
    priors: Mapping[str, object] | None,
    ropes: Sequence[RopeLike] | None,
    label_errors: Sequence[LabelErrorsLike] | None = None,
) -> Sensitivity[Comparable]:
    """Repeat a comparison under other priors, ROPEs and label errors, its own first."""
    if isinstance(comparison.details, ScoreDetails):
        raise UsageError("fold scores have only one prior; use with_rope() for other ROPEs")
    all_ropes, rates = _ropes(comparison, ropes), _rates(label_errors)
    named = given_choices(priors, comparison.spec.choices.engine)
    first = own_choice(comparison.spec)
    usual = {
        choice: name
        for choice, name in usual_choices(comparison.spec).items()
        if choice != first and choice not in named
    }
    comparisons = {named.pop(first, name_of(first)): comparison}
    _refuse_twice(named.values(), [*comparisons, *usual.values()])
    # Some comparisons have incomplete specs.
    spec = again(comparison.spec, prior=first.prior, engine=first.engine)
    with in_steps() as progress:
        finish = counted_steps(progress, len(usual) + len(named) + len(rates))
        left_out = _add_usual(comparisons, spec, usual, finish)
        apart = _add_named(comparisons, spec, named, finish)
        apart |= _add_rates(comparisons, rates, finish)
    return Sensitivity(
        priors=tuple(comparisons),
        comparisons=tuple(comparisons.values()),
        ropes=all_ropes,
        decisions=tuple(_decisions(each, all_ropes) for each in comparisons.values()),
        left_out=left_out,
        apart=apart,
        findings=(*dependence_findings(comparisons, apart), *_fragility(comparison)),
    )


def _add_usual(
    comparisons: dict[str, Comparable],
    original: Spec,
    usual: Mapping[Choice, str],
    finish: Callable[[], None],
) -> dict[str, str]:
    """Add comparisons that change only the prior; return why other priors were skipped."""
    comparison, left_out = next(iter(comparisons.values())), {}
    if not isinstance(comparison.spec, LabelSpec):
        return {"every prior": "scores use the bootstrap, without a prior"}
    for choice, name in usual.items():
        try:
            _refuse_long(comparison, choice)
            spec = again(comparison.spec, prior=choice.prior, engine=choice.engine)
            changed = more_than_prior(original, spec)
            if changed is None:
                comparisons[name] = comparison._ask(
                    spec, rope=comparison.rope, seed=comparison.seed
                )
            else:
                left_out[name] = _reason(changed)
        except OutperformError as error:
            left_out[name] = _reason(str(error))
        finish()
    return left_out


def _reason(message: str) -> str:
    """Return a message without its advice and without the name of the prior."""
    text = _SUBJECT.sub("it ", message.partition(";")[0])
    return text[:1].lower() + text[1:]


def _add_named(
    comparisons: dict[str, Comparable],
    original: Spec,
    named: Mapping[Choice, str],
    finish: Callable[[], None],
) -> dict[str, str]:
    """Add the user's priors; return other changes that they make, if any."""
    comparison, apart = next(iter(comparisons.values())), {}
    for choice, name in named.items():
        spec, comparisons[name] = _ask_named(comparison, choice, name)
        changed = more_than_prior(original, spec)
        if changed is not None:
            apart[name] = _reason(changed)
        finish()
    return apart


def _rates(label_errors: Sequence[LabelErrorsLike] | None) -> Sequence[LabelErrorsLike]:
    if label_errors is None:
        return ()
    if isinstance(label_errors, (str, bytes)) or not isinstance(label_errors, Sequence):
        raise UsageError(
            f"{param('label_errors')} must be a list such as [0.01, 0.03]; got {label_errors!r}"
        )
    return label_errors


def _add_rates(
    comparisons: dict[str, Comparable], rates: Sequence[LabelErrorsLike], finish: Callable[[], None]
) -> dict[str, str]:
    """Add comparisons with wrong gold labels, which change more than the prior."""
    comparison, apart = next(iter(comparisons.values())), {}
    for rate in rates:
        changed = comparison.with_label_errors(rate)
        errors = counted(changed.spec).data._label_errors
        name = f"wrong labels: {'0%' if errors is None else errors}"
        comparisons[name], apart[name] = changed, "it assumes wrong gold labels"
        finish()
    return apart


def _fragility(comparison: Compared) -> Iterator[Finding]:
    """Yield the number of wrong gold labels that changes the decision, if quick to compute."""
    quick = isinstance(comparison.spec, LabelSpec) and comparison.spec.view.n_classes <= 2
    if not quick or comparison.draws.size > _MOST_DRAWS:
        return
    try:
        yield finding("wrong_labels", sentence=fragility(comparison).headline)
    except OutperformError:
        return  # undefined for groups, pools, folds and some others


def _ask_named(comparison: Comparable, choice: Choice, name: str) -> tuple[Spec, Comparable]:
    """Repeat a comparison under a user's prior; errors contain the name of the prior."""
    try:
        spec = again(comparison.spec, prior=choice.prior, engine=choice.engine)
        return spec, comparison._ask(spec, rope=comparison.rope, seed=comparison.seed)
    except OutperformError as error:
        raise type(error)(f"prior {name!r}: {error}") from error


def _refuse_twice(names: Iterable[str], used: Sequence[str]) -> None:
    for name in names:
        if name in used:
            raise UsageError(f"another prior is already named {name!r}; choose a different name")


def _refuse_long(comparison: Compared, choice: Choice) -> None:
    """Reject a prior on all table cells if drawing it would take minutes."""
    spec = comparison.spec
    if choice.prior.shapes is None or not isinstance(spec, LabelSpec):
        return
    if spec.view.kind in ("spans", "label_sets"):
        return
    n_cells = spec.view.n_classes ** (3 if spec.paired else 2)
    if n_cells * comparison.draws.size > _MOST_GAMMAS:
        raise ResourceError(
            f"drawing its {n_cells:,} cells {comparison.draws.size:,} times is slow; to include "
            f"it anyway, add it to {param('priors=')}"
        )


def _ropes(comparison: Compared, ropes: Sequence[RopeLike] | None) -> tuple[Rope, ...]:
    """Return the ROPEs, including that of the comparison, from the narrowest to the widest."""
    if ropes is None:
        all_ropes = _usual_ropes(comparison)
    elif isinstance(ropes, (str, bytes)) or not isinstance(ropes, Sequence):
        raise UsageError(f"ropes must be a list such as [0.005, 0.02]; got {ropes!r}")
    else:
        all_ropes = [rope_for(comparison.spec, rope) for rope in ropes]
    by_ends = {(rope.low, rope.high): rope for rope in [*all_ropes, comparison.rope]}
    return tuple(sorted(by_ends.values(), key=lambda rope: (rope.high - rope.low, rope.low)))


def _usual_ropes(comparison: Compared) -> list[Rope]:
    """Return the multiples of the comparison's ROPE that its metric allows."""
    bounds, usual = comparison.spec.metric.bounds, []
    widest = float("inf") if bounds is None else bounds[1] - bounds[0]
    for times in _TIMES:
        low, high = comparison.rope.low * times, comparison.rope.high * times
        if max(abs(low), abs(high)) <= widest:
            usual.append(Rope(low=low, high=high))
    return usual


def _decisions(comparison: Compared, ropes: Sequence[Rope]) -> tuple[Decision, ...]:
    return tuple(
        comparison.decision
        if (rope.low, rope.high) == (comparison.rope.low, comparison.rope.high)
        else comparison.with_rope(rope).decision
        for rope in ropes
    )
