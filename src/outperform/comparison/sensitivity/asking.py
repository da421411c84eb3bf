"""One comparison asked again under every prior, and judged at every ROPE."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outperform._typing import Progress
from outperform.comparison.question import Question, rope_for
from outperform.comparison.scored import Asked
from outperform.comparison.scored.asking import ask_any
from outperform.comparison.sensitivity.checks import dependence_findings, more_than_prior
from outperform.comparison.sensitivity.priors import (
    Choice,
    given_choices,
    name_of,
    own_choice,
    usual_choices,
)
from outperform.comparison.sensitivity.result import Sensitivity
from outperform.decision import Decision, Rope
from outperform.errors import OutperformError, ResourceError, UsageError
from outperform.posterior import counted_steps

if TYPE_CHECKING:
    from outperform.comparison.result import Comparison

_SUBJECT = re.compile(r"^[Mm]odel '\w+' ")
_TIMES = (0.5, 1.0, 2.0, 4.0)
_MOST_GAMMAS = 200_000_000  # a quarter of a minute


def sensitivity(
    own: Comparison,
    *,
    priors: Mapping[str, Any] | None,
    ropes: Sequence[Any] | None,
    progress: Progress | None = None,
) -> Sensitivity:
    """Ask a comparison again under other priors and ROPEs; its own come first."""
    wanted = _ropes(own, ropes)
    named = given_choices(priors, own.question.given.engine.sampler)
    first = own_choice(own.question)
    usual = {
        choice: name
        for choice, name in usual_choices(own.question).items()
        if choice != first and choice not in named
    }
    found = {named.pop(first, name_of(first)): own}
    _refuse_twice(named.values(), [*found, *usual.values()])
    asked = _ask(own, first)  # some comparisons know better than their questions
    finish = counted_steps(progress, len(usual) + len(named))
    left_out = _add_usual(found, asked, usual, finish)
    apart = _add_named(found, asked, named, finish)
    return Sensitivity(
        priors=tuple(found),
        comparisons=tuple(found.values()),
        ropes=wanted,
        verdicts=tuple(_verdicts(one, wanted) for one in found.values()),
        left_out=left_out,
        apart=apart,
        findings=tuple(dependence_findings(found, apart)),
    )


def _add_usual(
    found: dict[str, Comparison],
    asked: Asked,
    usual: Mapping[Choice, str],
    finish: Callable[[], None],
) -> dict[str, str]:
    """Add what can be asked and changes nothing but the prior; return why the rest was not."""
    own, left_out = next(iter(found.values())), {}
    if not isinstance(own.question, Question):
        return {"every prior": "scores are weighed without one"}
    for choice, name in usual.items():
        try:
            _refuse_long(own, choice)
            question = _ask(own, choice)
            changed = more_than_prior(asked, question)
            if changed is None:
                found[name] = own.ask_also(question, rope=own.rope, seed=own.seed)
            else:
                left_out[name] = _reason(changed)
        except OutperformError as error:
            left_out[name] = _reason(str(error))
        finish()
    return left_out


def _reason(message: str) -> str:
    """Return what is wrong without the advice, in words that several models can share."""
    said = _SUBJECT.sub("it ", message.partition(";")[0])
    return said[:1].lower() + said[1:]


def _add_named(
    found: dict[str, Comparison],
    asked: Asked,
    named: Mapping[Choice, str],
    finish: Callable[[], None],
) -> dict[str, str]:
    """Add what the user named; return what it changes besides the prior, where it does."""
    own, apart = next(iter(found.values())), {}
    for choice, name in named.items():
        question, found[name] = _ask_named(own, choice, name)
        changed = more_than_prior(asked, question)
        if changed is not None:
            apart[name] = _reason(changed)
        finish()
    return apart


def _ask(own: Comparison, choice: Choice) -> Asked:
    """Ask what the comparison asked, with its pairing, of another model."""
    question = own.question
    given = question.given._asdict()
    paired = question.given.paired and question.model.pairs
    model = None if choice.engine.own is not None else choice.model
    changed = {
        "model": model,
        "prior": choice.prior,
        "paired": paired,
        "engine": choice.engine,
    }
    return ask_any(
        question.seen,
        metric=question.metric,
        default_model="unit",
        counting=question.counting,
        **{**given, **changed},
    )


def _ask_named(own: Comparison, choice: Choice, name: str) -> tuple[Asked, Comparison]:
    """Ask under a prior that the user named; what goes wrong goes wrong under that name."""
    try:
        question = _ask(own, choice)
        return question, own.ask_also(question, rope=own.rope, seed=own.seed)
    except OutperformError as error:
        raise type(error)(f"prior {name!r}: {error}") from error


def _refuse_twice(names: Iterable[str], taken: Sequence[str]) -> None:
    for name in names:
        if name in taken:
            raise UsageError(f"{name!r} is the name of another prior; call yours something else")


def _refuse_long(own: Comparison, choice: Choice) -> None:
    """Refuse to draw a cell for each pair of predictions where that takes minutes."""
    question = own.question
    if choice.model != "flat" or not isinstance(question, Question):
        return
    if question.view.kind in ("spans", "label_sets"):
        return
    n_cells = question.view.n_classes ** (3 if question.paired else 2)
    if n_cells * own.draws.size > _MOST_GAMMAS:
        raise ResourceError(
            f"its {n_cells:,} cells take long to draw {own.draws.size:,} times; name it to ask it"
        )


def _ropes(own: Comparison, ropes: Sequence[Any] | None) -> tuple[Rope, ...]:
    """Return the ROPEs, the comparison's own among them, from the narrowest to the widest."""
    if ropes is None:
        found = _usual_ropes(own)
    elif isinstance(ropes, (str, bytes)) or not isinstance(ropes, Sequence):
        raise UsageError(f"ropes must be a list such as [0.005, 0.02]; got {ropes!r}")
    else:
        found = [rope_for(own.question, rope) for rope in ropes]
    by_ends = {(rope.low, rope.high): rope for rope in [*found, own.rope]}
    return tuple(sorted(by_ends.values(), key=lambda rope: (rope.high - rope.low, rope.low)))


def _usual_ropes(own: Comparison) -> list[Rope]:
    """Return the multiples of the comparison's own ROPE that its metric allows."""
    bounds, found = own.question.metric.bounds, []
    widest = float("inf") if bounds is None else bounds[1] - bounds[0]
    for times in _TIMES:
        low, high = own.rope.low * times, own.rope.high * times
        if max(abs(low), abs(high)) <= widest:
            found.append(Rope(low=low, high=high))
    return found


def _verdicts(one: Comparison, ropes: Sequence[Rope]) -> tuple[Decision, ...]:
    return tuple(
        one.decision
        if (rope.low, rope.high) == (one.rope.low, one.rope.high)
        else one.with_rope(rope).decision
        for rope in ropes
    )
