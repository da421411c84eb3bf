"""The table of priors by name."""

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
"""A name, the shape of every cell or an array of shapes, a prior, or a PyMC model."""


def _dirichlet(prior: Prior) -> PriorModel:
    """Return a prior on every cell; one that is not ours by name goes by its repr."""
    ours = prior.name in _DIRICHLET and prior == Prior.from_param(prior.name)
    return PriorModel(name=str(prior.name) if ours else repr(prior), build=flat, shapes=prior)


_DIRICHLET = ("uniform", "jeffreys")
# Items that were chosen from a pool by their predictions have this one; nobody names it.
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
    """Return a prior by name, by its shapes, or the user's PyMC model as one.

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
        # Nothing is known of the prior in it.
        return PriorModel(name="own", build=_refuse_own, proper=False, own=prior)
    return _dirichlet(Prior.from_param(prior))


def dirichlet_shapes(prior: PriorLike | None) -> Prior:
    """Return the shapes that a prior has for every cell of two classes; None is ``"unit"``.

    Examples
    --------
    >>> dirichlet_shapes(None).row_shapes(2, 2)[0].ravel().tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    found = get_prior("unit" if prior is None else prior)
    if found.name == "unit":
        return Prior(rows=unit_rows(2))
    if found.shapes is None:
        raise UsageError(
            f"prior {found.name!r} has no shape for every cell; use 'unit', 'uniform', "
            "'jeffreys' or shapes of your own"
        )
    return found.shapes


def _refuse_own(outcomes: Outcomes) -> Tables:
    raise UsageError("a PyMC model is sampled; say engine='pymc'")
