"""Samplers, chains and their diagnostics, and the choice of the PyMC model."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from outperform._json import Plain, written
from outperform._typing import AnyArray, FloatArray
from outperform.data.outcomes import Outcomes
from outperform.errors import ResourceError, UsageError, param, require, unknown_name
from outperform.posterior.base import Drawn, Prior, PriorModel, Sums, margins_of, product_rows
from outperform.posterior.dirichlet import dense_counts, unit_rows
from outperform.posterior.pymc.models import (
    hierarchical,
    learned,
    multi_label,
    paired,
    paired_hierarchical,
    unpaired,
)
from outperform.posterior.rng import n_workers


@dataclass(frozen=True, slots=True, kw_only=True)
class PyMC:
    """Settings of the engine ``"pymc"``.

    Parameters
    ----------
    sampler
        ``"nuts"`` from PyMC, ``"nutpie"`` or ``"numpyro"`` for the same algorithm in other
        libraries, or ``"metropolis"`` as in the papers.
    chains
        Number of chains. Fewer than four are not enough to check convergence.
    draws
        Draws kept per chain. Default: 2,000, or 12,500 for Metropolis. ``n_draws`` of
        :func:`compare` is the total over all chains.
    tune
        Initial draws discarded per chain. Default: 1,000, or 10,000 for Metropolis.
    target_accept
        Target acceptance rate of NUTS; closer to 1 means smaller steps.
    progress
        Whether to show a progress bar. Default: only in a terminal or notebook.

    Examples
    --------
    >>> print(PyMC(sampler="metropolis", chains=2))
    metropolis, 2 chains of 12500 after 10000
    """

    sampler: str = "nuts"
    chains: int = 4
    draws: int | None = None
    tune: int | None = None
    target_accept: float = 0.9
    progress: bool | None = None

    def __post_init__(self) -> None:
        if self.sampler not in SAMPLERS:
            raise UsageError(unknown_name("sampler", self.sampler, SAMPLERS))
        _check_whole("chains", self.chains, least=2)
        _check_whole("draws", self.draws, least=100)
        _check_whole("tune", self.tune, least=0)
        if not 0 < self.target_accept < 1:
            raise UsageError(
                f"target_accept must lie strictly between 0 and 1; got {self.target_accept!r}"
            )

    @property
    def draws_per_chain(self) -> int:
        """Number of draws kept per chain."""
        return SAMPLERS[self.sampler]["draws"] if self.draws is None else self.draws

    @property
    def tune_per_chain(self) -> int:
        """Number of draws discarded per chain."""
        return SAMPLERS[self.sampler]["tune"] if self.tune is None else self.tune

    @property
    def n_draws(self) -> int:
        """Total number of draws kept."""
        return self.chains * self.draws_per_chain

    def __str__(self) -> str:
        length = f"{self.draws_per_chain} after {self.tune_per_chain}"
        return f"{self.sampler}, {self.chains} chains of {length}"


SAMPLERS: Mapping[str, Mapping[str, int]] = {
    "nuts": {"draws": 2_000, "tune": 1_000},
    "metropolis": {"draws": 12_500, "tune": 10_000},
    "nutpie": {"draws": 2_000, "tune": 1_000},
    "numpyro": {"draws": 2_000, "tune": 1_000},
}


def _check_whole(name: str, value: Any, *, least: int) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UsageError(f"{name} must be an integer of at least {least}; got {value!r}")


MOST_RHAT = 1.01
FEWEST_EFFECTIVE = 400
_TAILS = (0.05, 0.95)


@written()
@dataclass(frozen=True, slots=True, kw_only=True)
class Chain(Plain):
    """ArviZ diagnostics of the draws of one quantity.

    Parameters
    ----------
    sampler
        Description of the sampler.
    n_draws
        Total number of draws over all chains.
    rhat
        Rank-normalised split R-hat (Vehtari et al. 2021).
    ess
        Smaller of the bulk and tail effective sample sizes.
    mcse
        Monte Carlo error of the mean.
    divergences
        Number of divergent transitions of NUTS; 0 for other samplers.

    Examples
    --------
    >>> chain = Chain(sampler="nuts", n_draws=4000, rhat=1.0, ess=2500.0, mcse=0.001, divergences=0)
    >>> chain.converged, chain.n_effective
    (True, 2500.0)
    """

    sampler: str
    n_draws: int
    rhat: float
    ess: float
    mcse: float
    divergences: int

    @property
    def converged(self) -> bool:
        """Whether the draws pass all checks."""
        return not self.faults

    @property
    def faults(self) -> tuple[str, ...]:
        """Descriptions of the failed checks."""
        failed = []
        if not self.rhat <= MOST_RHAT:
            failed.append(f"R-hat is {self.rhat:.3f}, above {MOST_RHAT}")
        if self.divergences:
            failed.append(f"{self.divergences} draws diverged")
        if not self.ess >= FEWEST_EFFECTIVE:
            failed.append(f"the effective sample size is {self.ess:.0f}, below {FEWEST_EFFECTIVE}")
        return tuple(failed)

    @property
    def n_effective(self) -> float:
        """Effective number of independent draws, at most the number of draws."""
        return min(self.ess, float(self.n_draws))


def diagnose(draws: FloatArray, *, sampler: str, divergences: int) -> Chain:
    """Return the diagnostics of draws ``(n_chains, n_draws)``.

    Parameters
    ----------
    draws
        Draws of one quantity, one chain per row.
    sampler
        Description of the sampler.
    divergences
        Number of divergent transitions of NUTS.
    """
    if (
        draws.min() == draws.max()
    ):  # constant draws, such as the difference between equal classifiers, need no mixing
        return Chain(
            sampler=sampler,
            n_draws=draws.size,
            rhat=1.0,
            ess=float(draws.size),
            mcse=0.0,
            divergences=divergences,
        )
    az = require("arviz", extra="pymc", purpose="diagnostics of a chain")
    sizes = az.ess(draws, method="bulk"), az.ess(draws, method="tail", prob=_TAILS)
    return Chain(
        sampler=sampler,
        n_draws=draws.size,
        rhat=float(az.rhat(draws)),
        ess=float(min(map(float, sizes))),
        mcse=np.asarray(az.mcse(draws, method="mean")).item(),  # ArviZ 0.2x: an array of one
        divergences=divergences,
    )


def count_divergences(trace: Any) -> int:
    """Return the number of divergences after tuning; 0 for samplers that do not report them."""
    stats = getattr(trace, "sample_stats", None)
    if stats is None or "diverging" not in stats:
        return 0
    return int(np.asarray(stats["diverging"].values).sum())


def sample(
    model: Any, engine: PyMC, *, seed: np.random.SeedSequence, n_jobs: int | None = None
) -> Any:
    """Return PyMC's trace: a ``DataTree``, or ``InferenceData`` in older versions.

    Parameters
    ----------
    model
        A PyMC model.
    engine
        Sampler settings.
    seed
        Seed of the draws.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.
    """
    pm = require("pymc", extra="pymc", purpose="engine='pymc'")
    how: dict[str, Any] = {
        "draws": engine.draws_per_chain,
        "tune": engine.tune_per_chain,
        "chains": engine.chains,
        "cores": min(n_workers(n_jobs), engine.chains),
        "random_seed": int(seed.generate_state(1)[0]),
        "progressbar": _shows(engine.progress),
        "compute_convergence_checks": False,  # reported as findings by diagnose
    }
    with model, _quiet():
        if engine.sampler != "nutpie":  # nutpie chooses its own
            how["initvals"] = _start(model)
        if engine.sampler == "metropolis":
            return pm.sample(step=pm.Metropolis(), **how)
        return pm.sample(
            nuts_sampler=_load(engine.sampler), target_accept=engine.target_accept, **how
        )


def _start(model: Any) -> dict[str, Any]:
    """Return the starting point of the chains, which each chain jitters.

    PyMC would start at the prior means, far from the posterior for most cells with many classes.
    """
    transforms = {rv.name: model.rvs_to_transforms.get(rv) for rv in model.free_RVs}
    return {
        name: transform.start
        for name, transform in transforms.items()
        if hasattr(transform, "start")
    }


def _load(name: str) -> str:
    """Return PyMC's name for a sampler after checking that it is installed."""
    if name == "nutpie":
        require("nutpie", extra="nutpie", purpose="sampler='nutpie'")
    if name == "numpyro":
        require("numpyro", extra="numpyro", purpose="sampler='numpyro'")
    return "pymc" if name == "nuts" else name


def _shows(progress: bool | None) -> bool:
    if progress is not None:
        return progress
    return "ipykernel" in sys.modules or sys.stderr.isatty()


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence PyMC's log and the internal warnings of its libraries."""
    log = logging.getLogger("pymc")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


CONFUSION = "confusion"
"""Name of the variable with the shares of items ``(classifier, truth, prediction)``."""


def confusions(posterior: Any, *, n_models: int, n_classes: int) -> list[Drawn]:
    """Return the draws of each model, with chains concatenated.

    Parameters
    ----------
    posterior
        Group ``posterior`` of a trace.
    n_models, n_classes
        Expected shape of the variable ``confusion``: ``(classifier, truth, prediction)``, or
        ``(classifier, label, truth, prediction)`` with one table of no and yes per label.
    """
    if CONFUSION not in posterior:
        raise UsageError(
            f"a PyMC model must have a variable {CONFUSION!r} of shape (classifier, truth, "
            "prediction) that sums to 1 for each classifier; add it as pm.Deterministic"
        )
    tables = np.asarray(posterior[CONFUSION].values, dtype=np.float64)
    tables = tables.reshape(-1, *tables.shape[2:])  # (n_draws, classifier, …)
    if tables.shape[1:] == (n_models, n_classes, n_classes):
        return [
            np.ascontiguousarray(np.moveaxis(tables[:, model], 0, -1)) for model in range(n_models)
        ]
    if tables.shape[1:] == (n_models, n_classes, 2, 2):
        return [_of_labels(np.moveaxis(tables[:, model], 0, -1)) for model in range(n_models)]
    raise UsageError(
        f"the variable {CONFUSION!r} must have shape {(n_models, n_classes, n_classes)}; "
        f"got {tables.shape[1:]}"
    )


def _of_labels(tables: FloatArray) -> Sums:
    """Return the sums for every label; ``tables`` is ``(label, truth, prediction, n_draws)``."""
    sums = [margins_of(table) for table in tables]
    stacked = (np.stack([table[part][1] for table in sums]) for part in range(3))
    return Sums(*stacked)


_MOST_CELLS = 1_000


def model_of(outcomes: Outcomes, *, prior: PriorModel) -> Any:
    """Return the PyMC model for these outcomes.

    Parameters
    ----------
    outcomes
        Outcomes of one or two models, paired or unpaired.
    prior
        Any prior except the bootstrap.
    """
    if outcomes.kind == "label_sets":
        return _model_of_labels(outcomes, prior)
    if outcomes.kind == "spans":
        raise UsageError("engine='pymc' has no model of spans; use engine='direct'")
    together = outcomes.paired and len(outcomes.models) == 2
    builders = _PAIRED if together else _APART
    builder = builders.get(prior.name) if prior.shapes is None else builders["uniform"]
    if builder is None:
        raise UsageError(
            f"engine='pymc' has no prior {prior.name!r}; use one of {', '.join(builders)}, "
            "or engine='direct'"
        )
    counts = dense_counts(outcomes) if together else _tables(outcomes)
    _check_size(counts.size)
    names: dict[str, Any] = {"classifiers": outcomes.models, "labels": outcomes.labels}
    return builder(_whole(counts), prior.shapes, names)


def _tables(outcomes: Outcomes) -> AnyArray:
    return np.stack([outcomes.confusion(name) for name in outcomes.models])


def _whole(counts: AnyArray) -> AnyArray:
    return np.asarray(np.rint(np.asarray(counts, dtype=np.float64)), dtype=np.int64)


def _check_size(n_cells: int) -> None:
    if n_cells > _MOST_CELLS:
        raise ResourceError(
            f"a chain over {n_cells:,} cells (the limit is {_MOST_CELLS:,}) would take hours; use "
            f"engine='direct', which draws independently, or {param('paired=', False)}"
        )


def _model_of_labels(outcomes: Outcomes, prior: PriorModel) -> Any:
    if (prior.shapes is None and prior.name != "unit") or not outcomes.paired:
        raise UsageError(
            "for paired label sets, engine='pymc' supports only the priors 'uniform', 'jeffreys' "
            "and 'unit'; use one of them, or engine='direct'"
        )
    counts = _whole(np.stack([dense_counts(outcomes.binarize(label)) for label in outcomes.labels]))
    _check_size(counts.size)
    n_models = len(outcomes.models)
    rows, prevalence = product_rows(unit_rows(2), n_models), np.ones(2)
    if prior.shapes is not None:
        rows = prior.shapes.row_shapes(2, n_models)
        prevalence = prior.shapes.prevalence_shapes(2)
    return multi_label(
        counts,
        rows=rows,
        prevalence=prevalence,
        classifiers=outcomes.models,
        labels=[str(label) for label in outcomes.labels],
    )


def _flat_paired(counts: AnyArray, prior: Prior, names: dict[str, Any]) -> Any:
    rows, prevalence = prior.row_shapes(len(counts), 2), prior.prevalence_shapes(len(counts))
    return paired(counts, rows=rows, prevalence=prevalence, **names)


def _flat_apart(counts: AnyArray, prior: Prior, names: dict[str, Any]) -> Any:
    n_classes = counts.shape[1]
    rows, prevalence = prior.row_shapes(n_classes, 1), prior.prevalence_shapes(n_classes)
    return unpaired(counts, rows=rows, prevalence=prevalence, **names)


def _learned(counts: AnyArray, prior: Prior | None, names: dict[str, Any]) -> Any:
    if counts.shape[1] == 2:  # two classes cannot share information
        return unpaired(counts, rows=unit_rows(2), **names)
    return learned(counts, **names)


# All priors that cover every cell have the same builder, whatever their concentrations.
Builder = Callable[[AnyArray, Any, dict[str, Any]], Any]

_PAIRED: dict[str, Builder] = {
    "uniform": _flat_paired,
    "unit": lambda counts, prior, names: paired(
        counts, rows=product_rows(unit_rows(len(counts)), 2), **names
    ),
    "hierarchical": lambda counts, prior, names: paired_hierarchical(counts, **names),
}
_APART: dict[str, Builder] = {
    "uniform": _flat_apart,
    "unit": lambda counts, prior, names: unpaired(counts, rows=unit_rows(counts.shape[1]), **names),
    "hierarchical": lambda counts, prior, names: hierarchical(counts, **names),
    "learned": _learned,
}
