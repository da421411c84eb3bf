"""One comparison under every prior and at every ROPE."""

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
    """A prior, and the chain that answers for it, if one does."""

    prior: PriorModel
    engine: PyMC | None = None


_USUAL = {
    Choice(PRIORS[name]): name
    for name in ("learned", "uniform", "jeffreys", "unit", "hierarchical", "bootstrap")
}


def usual_choices(spec: Spec) -> dict[Choice, str]:
    """Return what is asked without being named: nothing of scores, which have no prior."""
    if not isinstance(spec, LabelSpec):
        return {}
    few = spec.view.n_classes <= 2  # where "learned" is "unit"
    return {choice: name for choice, name in _USUAL.items() if not (few and name == "learned")}


def own_choice(spec: Spec) -> Choice:
    """Return what a comparison was made with."""
    return Choice(spec.prior, spec.choices.engine)


def name_of(choice: Choice) -> str:
    """Return what to call a choice that nobody named."""
    name = _USUAL.get(Choice(choice.prior), choice.prior.name)
    return name if choice.engine is None else f"{name} (pymc)"


def given_choices(priors: Mapping[str, Any] | None, engine: PyMC | None) -> dict[Choice, str]:
    """Return the user's choices with their names, each once; PyMC models get the engine."""
    if priors is None:
        return {}
    if not isinstance(priors, Mapping):
        raise UsageError(
            "priors must map names to priors, such as {'strong': 2.0, 'learned': 'learned'}; "
            f"got {priors!r}"
        )
    found: dict[Choice, str] = {}
    for name, value in priors.items():
        prior = get_prior(value)
        choice = Choice(prior, None if prior.own is None else engine or PyMC())
        if choice in found:
            raise UsageError(f"priors {found[choice]!r} and {name!r} are the same; leave one out")
        found[choice] = str(name)
    return found


_SUBJECT = re.compile(r"""^[Pp]rior ('[^']*'|"[^"]*") """)
_TIMES = (0.5, 1.0, 2.0, 4.0)
_MOST_GAMMAS = 200_000_000  # a quarter of a minute
_MOST_DRAWS = 20_000  # to ask some twenty times in a second


def sensitivity(
    own: Comparable,
    *,
    priors: Mapping[str, object] | None,
    ropes: Sequence[RopeLike] | None,
    label_errors: Sequence[LabelErrorsLike] | None = None,
) -> Sensitivity[Comparable]:
    """Ask a comparison again under other priors, ROPEs and label errors; its own come first."""
    if isinstance(own.details, ScoreDetails):
        raise UsageError("scores of folds have one prior; use with_rope() for other ROPEs")
    wanted, rates = _ropes(own, ropes), _rates(label_errors)
    named = given_choices(priors, own.spec.choices.engine)
    first = own_choice(own.spec)
    usual = {
        choice: name
        for choice, name in usual_choices(own.spec).items()
        if choice != first and choice not in named
    }
    found = {named.pop(first, name_of(first)): own}
    _refuse_twice(named.values(), [*found, *usual.values()])
    # Some comparisons know better than their specs.
    asked = again(own.spec, prior=first.prior, engine=first.engine)
    with in_steps() as progress:
        finish = counted_steps(progress, len(usual) + len(named) + len(rates))
        left_out = _add_usual(found, asked, usual, finish)
        apart = _add_named(found, asked, named, finish)
        apart |= _add_rates(found, rates, finish)
    return Sensitivity(
        priors=tuple(found),
        comparisons=tuple(found.values()),
        ropes=wanted,
        decisions=tuple(_decisions(one, wanted) for one in found.values()),
        left_out=left_out,
        apart=apart,
        findings=(*dependence_findings(found, apart), *_fragility(own)),
    )


def _add_usual(
    found: dict[str, Comparable],
    asked: Spec,
    usual: Mapping[Choice, str],
    finish: Callable[[], None],
) -> dict[str, str]:
    """Add what can be asked and changes nothing but the prior; return why the rest was not."""
    own, left_out = next(iter(found.values())), {}
    if not isinstance(own.spec, LabelSpec):
        return {"every prior": "scores are weighed without one"}
    for choice, name in usual.items():
        try:
            _refuse_long(own, choice)
            spec = again(own.spec, prior=choice.prior, engine=choice.engine)
            changed = more_than_prior(asked, spec)
            if changed is None:
                found[name] = own._ask(spec, rope=own.rope, seed=own.seed)
            else:
                left_out[name] = _reason(changed)
        except OutperformError as error:
            left_out[name] = _reason(str(error))
        finish()
    return left_out


def _reason(message: str) -> str:
    """Return what is wrong without the advice, in words that several priors can share."""
    said = _SUBJECT.sub("it ", message.partition(";")[0])
    return said[:1].lower() + said[1:]


def _add_named(
    found: dict[str, Comparable],
    asked: Spec,
    named: Mapping[Choice, str],
    finish: Callable[[], None],
) -> dict[str, str]:
    """Add what the user named; return what it changes besides the prior, where it does."""
    own, apart = next(iter(found.values())), {}
    for choice, name in named.items():
        spec, found[name] = _ask_named(own, choice, name)
        changed = more_than_prior(asked, spec)
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
    found: dict[str, Comparable], rates: Sequence[LabelErrorsLike], finish: Callable[[], None]
) -> dict[str, str]:
    """Add the comparison with wrong gold labels, with its own prior; return that it is more."""
    own, apart = next(iter(found.values())), {}
    for one in rates:
        again = own.with_label_errors(one)
        taken = counted(again.spec).data._label_errors
        name = f"wrong labels: {'0%' if taken is None else taken}"
        found[name], apart[name] = again, "gold labels are taken to be wrong"
        finish()
    return apart


def _fragility(own: Compared) -> Iterator[Finding]:
    """Yield how many wrong gold labels would change the decision, where that is quickly known."""
    quick = isinstance(own.spec, LabelSpec) and own.spec.view.n_classes <= 2
    if not quick or own.draws.size > _MOST_DRAWS:
        return
    try:
        yield finding("wrong_labels", sentence=fragility(own).headline)
    except OutperformError:
        return  # groups, pools, folds and whatever else has no such number


def _ask_named(own: Comparable, choice: Choice, name: str) -> tuple[Spec, Comparable]:
    """Ask under a prior that the user named; what goes wrong goes wrong under that name."""
    try:
        spec = again(own.spec, prior=choice.prior, engine=choice.engine)
        return spec, own._ask(spec, rope=own.rope, seed=own.seed)
    except OutperformError as error:
        raise type(error)(f"prior {name!r}: {error}") from error


def _refuse_twice(names: Iterable[str], taken: Sequence[str]) -> None:
    for name in names:
        if name in taken:
            raise UsageError(f"{name!r} is the name of another prior; call yours something else")


def _refuse_long(own: Compared, choice: Choice) -> None:
    """Refuse to draw a cell for each pair of predictions where that takes minutes."""
    spec = own.spec
    if choice.prior.shapes is None or not isinstance(spec, LabelSpec):
        return
    if spec.view.kind in ("spans", "label_sets"):
        return
    n_cells = spec.view.n_classes ** (3 if spec.paired else 2)
    if n_cells * own.draws.size > _MOST_GAMMAS:
        raise ResourceError(
            f"its {n_cells:,} cells take long to draw {own.draws.size:,} times; name it to ask it"
        )


def _ropes(own: Compared, ropes: Sequence[RopeLike] | None) -> tuple[Rope, ...]:
    """Return the ROPEs, the comparison's own among them, from the narrowest to the widest."""
    if ropes is None:
        found = _usual_ropes(own)
    elif isinstance(ropes, (str, bytes)) or not isinstance(ropes, Sequence):
        raise UsageError(f"ropes must be a list such as [0.005, 0.02]; got {ropes!r}")
    else:
        found = [rope_for(own.spec, rope) for rope in ropes]
    by_ends = {(rope.low, rope.high): rope for rope in [*found, own.rope]}
    return tuple(sorted(by_ends.values(), key=lambda rope: (rope.high - rope.low, rope.low)))


def _usual_ropes(own: Compared) -> list[Rope]:
    """Return the multiples of the comparison's own ROPE that its metric allows."""
    bounds, found = own.spec.metric.bounds, []
    widest = float("inf") if bounds is None else bounds[1] - bounds[0]
    for times in _TIMES:
        low, high = own.rope.low * times, own.rope.high * times
        if max(abs(low), abs(high)) <= widest:
            found.append(Rope(low=low, high=high))
    return found


def _decisions(one: Compared, ropes: Sequence[Rope]) -> tuple[Decision, ...]:
    return tuple(
        one.decision
        if (rope.low, rope.high) == (one.rope.low, one.rope.high)
        else one.with_rope(rope).decision
        for rope in ropes
    )
