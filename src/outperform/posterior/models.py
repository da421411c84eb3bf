"""The one table of models, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from outperform.errors import UsageError, unknown_name
from outperform.outcomes import Outcomes
from outperform.posterior.bootstrap import bootstrap
from outperform.posterior.flat import flat
from outperform.posterior.free import Free
from outperform.posterior.hierarchical import hierarchical
from outperform.posterior.priors import Prior
from outperform.posterior.protocol import Independent, Posterior
from outperform.posterior.strata import strata
from outperform.posterior.unit import unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A name, how to build its posterior, and what it can do."""

    name: str
    build: Callable[[Outcomes, Prior], Posterior]
    proper: bool = True
    pairs: bool = True
    takes_prior: bool = False


MODELS = {
    model.name: model
    for model in (
        Model(name="flat", build=flat, takes_prior=True),
        Model(name="unit", build=lambda outcomes, prior: unit(outcomes)),
        Model(name="hierarchical", build=lambda outcomes, prior: hierarchical(outcomes)),
        Model(name="free", build=lambda outcomes, prior: Free(outcomes), pairs=False),
        Model(name="bootstrap", build=lambda outcomes, prior: bootstrap(outcomes), proper=False),
        Model(name="strata", build=lambda outcomes, prior: strata(outcomes)),
    )
}


def _refuse_own(outcomes: Outcomes, prior: Prior) -> Posterior:
    raise UsageError("a model of your own is sampled; say engine='pymc'")


# What is known of a PyMC model that the user wrote: nothing of its prior.
OWN = Model(name="own", build=_refuse_own, proper=False)


def get_model(name: str) -> Model:
    """Return a model by name, or say which names there are.

    Examples
    --------
    >>> get_model("unit").proper
    True
    """
    if name not in MODELS:
        raise UsageError(unknown_name("model", name, MODELS))
    return MODELS[name]


def build_posterior(outcomes: Outcomes, *, model: Model, prior: Prior) -> Posterior:
    """Return the posterior of paired outcomes, or of each model's own table side by side."""
    if outcomes.paired:
        return model.build(outcomes, prior)
    alone = [outcomes.select([name]) for name in outcomes.models]
    return Independent([model.build(one, prior) for one in alone])
