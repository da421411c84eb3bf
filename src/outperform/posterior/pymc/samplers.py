"""Samplers as values: which one walks, how many chains, for how long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outperform.errors import UsageError, unknown_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampler:
    """How PyMC samples.

    Parameters
    ----------
    name
        ``"nuts"``, PyMC's own; ``"nutpie"`` or ``"numpyro"``, the same algorithm in other
        libraries; ``"metropolis"``, what the papers used.
    n_draws
        Draws kept, of all chains together; by default 8,000, and 50,000 of Metropolis.
    n_chains
        How many chains; fewer than four say little about convergence.
    n_tune
        Draws thrown away at the beginning of each chain; by default 1,000, and 10,000 of
        Metropolis.
    target_accept
        How careful the steps of NUTS are; nearer to 1 means smaller steps.
    progress
        Whether to show a progress bar; by default on a terminal and in a notebook.

    Examples
    --------
    >>> Sampler.from_param("metropolis").draws_of_chain
    12500
    """

    name: str = "nuts"
    n_draws: int | None = None
    n_chains: int = 4
    n_tune: int | None = None
    target_accept: float = 0.9
    progress: bool | None = None

    def __post_init__(self) -> None:
        if self.name not in SAMPLERS:
            raise UsageError(unknown_name("sampler", self.name, SAMPLERS))
        _check_whole("n_chains", self.n_chains, least=2)
        _check_whole("n_draws", self.n_draws, least=100 * self.n_chains)
        _check_whole("n_tune", self.n_tune, least=0)
        if not 0 < self.target_accept < 1:
            raise UsageError(
                f"target_accept must lie strictly between 0 and 1; got {self.target_accept!r}"
            )

    @classmethod
    def from_param(cls, sampler: str | Sampler | None) -> Sampler:
        """Take a name or a sampler; None is NUTS.

        Parameters
        ----------
        sampler
            A name, or a sampler, which is returned as it is.
        """
        if isinstance(sampler, Sampler):
            return sampler
        if sampler is None or isinstance(sampler, str):
            return cls(name="nuts" if sampler is None else sampler)
        raise UsageError(f"sampler must be a name or op.Sampler(...); got {sampler!r}")

    @property
    def draws_of_chain(self) -> int:
        """How many draws each chain keeps."""
        total = SAMPLERS[self.name]["n_draws"] if self.n_draws is None else self.n_draws
        return -(-int(total) // self.n_chains)

    @property
    def tune_of_chain(self) -> int:
        """How many draws each chain throws away."""
        return int(SAMPLERS[self.name]["n_tune"] if self.n_tune is None else self.n_tune)

    def __str__(self) -> str:
        length = f"{self.draws_of_chain} after {self.tune_of_chain}"
        return f"{self.name}, {self.n_chains} chains of {length}"


SAMPLERS: Mapping[str, Mapping[str, int]] = {
    "nuts": {"n_draws": 8_000, "n_tune": 1_000},
    "metropolis": {"n_draws": 50_000, "n_tune": 10_000},
    "nutpie": {"n_draws": 8_000, "n_tune": 1_000},
    "numpyro": {"n_draws": 8_000, "n_tune": 1_000},
}


def _check_whole(name: str, value: Any, *, least: int) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UsageError(f"{name} must be a whole number of at least {least}; got {value!r}")
