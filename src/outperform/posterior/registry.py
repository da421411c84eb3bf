"""Table of priors by name."""

from __future__ import annotations

from typing import TypeAlias

from numpy.typing import ArrayLike

from outperform.data.outcomes import Outcomes
from outperform.errors import UsageError, unknown_name
from outperform.posterior.base import Prior, PriorModel, PyMCModel, Tables
from outperform.posterior.bootstrap import bootstrap
from outperform.posterior.dirichlet import flat, unit, unit_rows
from outperform.posterior.hierarchical import hierarchical
from outperform.posterior.learned import learned
from outperform.posterior.strata import strata

PriorLike: TypeAlias = str | ArrayLike | Prior | PyMCModel
"""A name, one concentration for all cells, an array of concentrations, a prior or a PyMC model."""


def _dirichlet(prior: Prior) -> PriorModel:
    """Return a prior that covers every cell; a custom prior is named by its repr."""
    ours = prior.name in _DIRICHLET and prior == Prior.from_param(prior.name)
    return PriorModel(name=str(prior.name) if ours else repr(prior), build=flat, shapes=prior)


_DIRICHLET = ("uniform", "jeffreys")
# Items selected from a pool by their predictions always use this prior; it cannot be chosen by
# name.
STRATA = PriorModel(name="strata", build=strata)
PRIORS = {
    prior.name: prior
    for prior in (
        PriorModel(name="unit", build=unit),
        *(_dirichlet(Prior.from_param(name)) for name in _DIRICHLET),
        PriorModel(name="hierarchical", build=hierarchical),
        PriorModel(name="learned", build=learned, lists=True),
        PriorModel(name="bootstrap", build=bootstrap, proper=False),
    )
}


def get_prior(prior: PriorLike | PriorModel) -> PriorModel:
    """Return a prior from its name, its concentrations, or the user's PyMC model.

    Examples
    --------
    >>> get_prior("unit").proper, get_prior([[2, 1], [1, 2]]).name
    (True, 'Prior(rows=<array 2x2>, prevalence=1)')
    """
    if isinstance(prior, PriorModel):
        return prior
    if isinstance(prior, str):
        if prior not in PRIORS:
            raise UsageError(unknown_name("prior", prior, PRIORS))
        return PRIORS[prior]
    if isinstance(prior, PyMCModel):
        # The prior inside the user's model is unknown.
        return PriorModel(name="own", build=_refuse_own, proper=False, own=prior)
    return _dirichlet(Prior.from_param(prior))


def dirichlet_shapes(prior: PriorLike | None) -> Prior:
    """Return the concentrations of a prior for every cell of two classes; None is ``"unit"``.

    Examples
    --------
    >>> dirichlet_shapes(None).row_shapes(2, 2)[0].ravel().tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    named = get_prior("unit" if prior is None else prior)
    if named.name == "unit":
        return Prior(rows=unit_rows(2))
    if named.shapes is None:
        raise UsageError(
            f"prior {named.name!r} has no concentration for every cell; use 'unit', 'uniform', "
            "'jeffreys' or custom concentrations"
        )
    return named.shapes


def _refuse_own(outcomes: Outcomes) -> Tables:
    raise UsageError("a PyMC model must be sampled; pass engine='pymc'")
