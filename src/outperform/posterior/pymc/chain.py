"""What a chain says of itself: did it converge, and what are its draws worth?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from outperform._optional import require
from outperform._typing import FloatArray

MOST_RHAT = 1.01
FEWEST_EFFECTIVE = 400
_TAILS = (0.05, 0.95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """ArviZ's diagnostics of one number's draws.

    Parameters
    ----------
    sampler
        How it was sampled, in words.
    n_draws
        How many draws there are, of all chains.
    rhat
        Rank-normalised split R-hat (Vehtari et al. 2021).
    ess
        The smaller one of the bulk and the tail effective sample size.
    mcse
        The Monte Carlo error of the mean.
    divergences
        How often NUTS lost its way; 0 for other samplers.

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
        """Whether nothing stands against its draws."""
        return not self.faults

    @property
    def faults(self) -> tuple[str, ...]:
        """What stands against its draws, in words."""
        found = []
        if not self.rhat <= MOST_RHAT:
            found.append(f"R-hat is {self.rhat:.3f}, above {MOST_RHAT}")
        if self.divergences:
            found.append(f"{self.divergences} draws diverged")
        if not self.ess >= FEWEST_EFFECTIVE:
            found.append(f"the draws are worth {self.ess:.0f}, below {FEWEST_EFFECTIVE}")
        return tuple(found)

    @property
    def n_effective(self) -> float:
        """How many independent draws these are worth; never more than there are."""
        return min(self.ess, float(self.n_draws))


def diagnose(draws: FloatArray, *, sampler: str, divergences: int) -> Chain:
    """Return the diagnostics of draws ``(n_chains, n_draws)``.

    Parameters
    ----------
    draws
        Of one number, one chain a row.
    sampler
        How it was sampled, in words.
    divergences
        How often NUTS lost its way.
    """
    if draws.min() == draws.max():  # such as a difference of equal classifiers: nothing to mix
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
    """Return how often NUTS lost its way after tuning; 0 for samplers that cannot say."""
    stats = getattr(trace, "sample_stats", None)
    if stats is None or "diverging" not in stats:
        return 0
    return int(np.asarray(stats["diverging"].values).sum())
