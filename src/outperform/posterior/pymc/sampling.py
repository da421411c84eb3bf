"""Run a PyMC model through a sampler; PyMC 5 and 6 alike."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from outperform._optional import require
from outperform.posterior.pymc.samplers import Sampler


def sample(
    model: Any, sampler: Sampler, *, seed: np.random.SeedSequence, n_jobs: int | None = None
) -> Any:
    """Return PyMC's trace: a ``DataTree``, or ``InferenceData`` of older versions.

    Parameters
    ----------
    model
        A PyMC model.
    sampler
        How to sample it.
    seed
        Where the randomness comes from.
    n_jobs
        How many chains at a time; None leaves it to PyMC.
    """
    pm = require("pymc", extra="pymc", purpose="engine='pymc'")
    how: dict[str, Any] = {
        "draws": sampler.draws_of_chain,
        "tune": sampler.tune_of_chain,
        "chains": sampler.n_chains,
        "cores": None if n_jobs in (None, -1) else n_jobs,
        "random_seed": int(seed.generate_state(1)[0]),
        "progressbar": _shows(sampler.progress),
        "compute_convergence_checks": False,  # diagnose says it, as findings
    }
    with model, _quiet():
        if sampler.name != "nutpie":  # which finds its own
            how["initvals"] = _start(model)
        if sampler.name == "metropolis":
            return pm.sample(step=pm.Metropolis(), **how)
        return pm.sample(
            nuts_sampler=_load(sampler.name), target_accept=sampler.target_accept, **how
        )


def _start(model: Any) -> dict[str, Any]:
    """Return where the chains begin, each somewhere around it.

    PyMC would begin at the prior's means, where most cells of many classes never are.
    """
    transforms = {rv.name: model.rvs_to_transforms.get(rv) for rv in model.free_RVs}
    return {name: one.start for name, one in transforms.items() if hasattr(one, "start")}


def _load(name: str) -> str:
    """Return what PyMC calls a sampler, which must be installed."""
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
    """Keep PyMC's log and its libraries' warnings about themselves off the screen."""
    log = logging.getLogger("pymc")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)
