"""The priors that a comparison is asked under: the models' own, and the user's by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from outperform.comparison.engines import EXACT, Engine, get_engine, is_pymc_model
from outperform.comparison.question import Question
from outperform.comparison.scored import Asked
from outperform.errors import UsageError, unknown_name
from outperform.posterior import MODELS, OWN, Prior, Sampler

_UNIFORM, _JEFFREYS = Prior.from_param("uniform"), Prior.from_param("jeffreys")
_NAMED = ("uniform", "jeffreys")


class Choice(NamedTuple):
    """A model, its prior if it takes one, and what answers for it."""

    model: str
    prior: Prior | None = None
    engine: Engine = EXACT


_USUAL = {
    Choice("flat", _UNIFORM): "flat uniform",
    Choice("flat", _JEFFREYS): "flat Jeffreys",
    Choice("unit"): "unit",
    Choice("hierarchical"): "hierarchical",
    Choice("bootstrap"): "bootstrap",
}


def usual_choices(question: Asked) -> dict[Choice, str]:
    """Return what is asked without being named: nothing of scores, which have no prior."""
    if not isinstance(question, Question):
        return {}
    free = {} if question.paired else {Choice("free"): "free"}
    return {**_USUAL, **free}


def own_choice(question: Asked) -> Choice:
    """Return what a comparison was made with."""
    model = question.model
    prior = question.prior if model.takes_prior else None
    return Choice(model.name, prior, question.given.engine)


def name_of(choice: Choice) -> str:
    """Return what to call a choice that nobody named."""
    exact = choice._replace(engine=EXACT)
    if exact in _USUAL or choice.prior is None:
        name = _USUAL.get(exact, choice.model)
    else:
        name = f"{choice.model} {choice.prior!r}"
    return name if choice == exact else f"{name} ({choice.engine.name})"


def given_choices(priors: Mapping[str, Any] | None, sampler: Sampler | None) -> dict[Choice, str]:
    """Return the user's choices with their names, each once; PyMC models get the sampler."""
    if priors is None:
        return {}
    if not isinstance(priors, Mapping):
        raise UsageError(
            "priors must map names to priors or models, such as {'strong': 2.0, 'free': 'free'}; "
            f"got {priors!r}"
        )
    found: dict[Choice, str] = {}
    for name, value in priors.items():
        choice = _read(value, sampler)
        if choice in found:
            raise UsageError(f"priors {found[choice]!r} and {name!r} are the same; leave one out")
        found[choice] = str(name)
    return found


def _read(value: Any, sampler: Sampler | None) -> Choice:
    if is_pymc_model(value):
        return Choice(OWN.name, engine=get_engine("pymc", sampler, value))
    if isinstance(value, str) and value not in _NAMED:
        if value not in MODELS:
            raise UsageError(unknown_name("prior or model", value, [*_NAMED, *MODELS]))
        return Choice(value, _UNIFORM if MODELS[value].takes_prior else None)
    return Choice("flat", Prior.from_param(value))
